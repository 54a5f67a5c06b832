"""Extending a tokenizer changes no old id and no old encoding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bases import BASES, documents, hostile_text, tokenizers
from supratok import Recipe, train
from supratok.cli.main import main
from supratok.corpus.split import digest, is_held_out
from supratok.extending import Extension, extend, glue
from supratok.extending.base import open_base
from supratok.formats.huggingface.document import load
from supratok.recipe import Boundaries
from supratok.reference.merges import merge_loop
from supratok.reference.phrases import count_runs, may_join
from supratok.reference.words import split_words

ADD = 60
HAS_PHRASES = ("whole", "supratok")  # so there is less to gain


def extended(document: dict[str, Any], folder: Path, **options: Any) -> Extension:
    base = folder / "tokenizer.json"
    base.write_text(json.dumps(document), encoding="utf-8")
    values: dict[str, Any] = {"add": ADD, "min_count": 5, "progress": False} | options
    return extend(base, documents(), out=folder / "out", **values)


@cache
def made(name: str) -> tuple[Any, Any, Extension]:
    """The base, the longer tokenizer and the extension; cached."""
    import tempfile

    document = BASES[name]()
    with tempfile.TemporaryDirectory() as folder:
        extension = extended(document, Path(folder))
        new = tokenizers.Tokenizer.from_file(str(Path(folder, "out", "tokenizer.json")))
    return load(document), new, extension


def ids(tokenizer: Any, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


names = pytest.mark.parametrize("name", BASES)


@names
@settings(max_examples=50)
@given(text=hostile_text)
def test_every_text_encodes_as_before_but_for_new_tokens(name: str, text: str) -> None:
    base, new, extension = made(name)
    for special_is_text in (False, True):
        base.encode_special_tokens = new.encode_special_tokens = special_is_text
        assert extension.expand(ids(new, text)) == ids(base, text)


@names
def test_natural_text_gets_shorter(name: str) -> None:
    base, new, extension = made(name)
    texts = documents(seed=8)
    before = [ids(base, text) for text in texts]
    after = [ids(new, text) for text in texts]
    assert [extension.expand(some) for some in after] == before
    share = sum(map(len, after)) / sum(map(len, before))
    assert share < (0.995 if name in HAS_PHRASES else 0.85), share
    assert [new.decode(some) for some in after] == [base.decode(some) for some in before]


@names
def test_old_ids_stay_and_new_ones_follow(name: str) -> None:
    base, new, extension = made(name)
    old = base.get_vocab()
    assert all(new.token_to_id(token) == id for token, id in old.items())
    assert len(extension.tokens) == ADD or name in HAS_PHRASES
    first = max(old.values()) + 1
    assert [token.id for token in extension.tokens] == list(range(first, extension.vocab_size))
    assert extension.first_new_id == first


@names
def test_each_new_token_encodes_to_itself(name: str) -> None:
    _, new, extension = made(name)
    for token in extension.tokens:
        assert len(token.parts) >= 2
        # After a digit no space is put before it; some marks want a space after them, some none.
        assert any(token.id in ids(new, f"1{token.text}{end}") for end in ("", " 1")), token


@pytest.mark.parametrize("name", ["gpt2", "o200k"])
def test_it_learns_what_the_plain_loop_learns(name: str, tmp_path: Path) -> None:
    extension = extended(BASES[name](), tmp_path, add=25, min_documents=1)
    base = open_base(tmp_path / "tokenizer.json")
    recipe = Recipe(vocab_size=999, boundaries=Boundaries(numbers_in_phrases=False))
    training = [text for text in documents() if not is_held_out(digest(text))]
    texts = [glue.as_counted(base.run, text) for text in training]
    words = Counter(word for text in texts for word in split_words(text))
    units = set(base.units([word for word, count in words.items() if count >= 5]))
    runs = count_runs(texts, units, recipe)
    joins, _ = merge_loop(runs, 35, 5, may_join(recipe))
    plain = list(dict.fromkeys(join.text for join in joins))[:25]
    assert [token.text for token in extension.tokens] == plain


def test_words_that_go_on_are_not_taken_for_words(tmp_path: Path) -> None:
    """In o200k's expression "don't" is one piece, so " I don" would never be used."""
    texts = ["and I don't know, e.g. what I don't see"] * 50 + documents()
    base = tmp_path / "tokenizer.json"
    for name, has in (("o200k", False), ("gpt2", True)):
        base.write_text(json.dumps(BASES[name]()), encoding="utf-8")
        extension = extend(base, texts, 400, tmp_path / name, min_count=5, progress=False)
        learnt = {token.text for token in extension.tokens}
        assert (" I don" in learnt) == has
        assert not any(text.endswith(" e.") for text in learnt)


def test_a_supratok_file_is_extended(tmp_path: Path) -> None:
    recipe = Recipe(vocab_size=420, special_tokens=("<|end|>",))
    train(documents(), recipe, progress=False).save(tmp_path / "my.json")
    extension = extend(tmp_path / "my.json", documents(), 10, tmp_path / "out", progress=False)
    assert extension.first_new_id == 420
    fewest = replace(recipe, segmentation="fewest")
    train(documents(), fewest, progress=False).save(tmp_path / "my.json")
    with pytest.raises(ValueError, match=r"its model is Unigram.*segmentation='merges'"):
        extend(tmp_path / "my.json", documents(), 10, tmp_path / "more", progress=False)


def test_the_result_does_not_depend_on_threads(tmp_path: Path) -> None:
    results = []
    for threads in (1, 4):
        folder = tmp_path / str(threads)
        folder.mkdir()
        extended(BASES["metaspace"](), folder, threads=threads)
        results.append((folder / "out" / "tokenizer.json").read_bytes())
    assert results[0] == results[1]


def test_words_that_no_merge_makes_stay_out_of_runs(tmp_path: Path) -> None:
    document = BASES["o200k"]()
    vocab = document["model"]["vocab"]
    unmade = "Ġzyx"  # as one word it is this token, and inside a run it would be letters
    vocab[unmade] = len(vocab)
    extension = extended(document, tmp_path)
    new = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    for text in (" one of the zyx of the", " zyx", "a zyx, and zyxw of the most zyx. of"):
        assert extension.expand(ids(new, text)) == ids(load(document), text)
    assert vocab[unmade] in ids(new, " of the zyx of the")


def test_careful_phrases_stay_inside_a_sentence(tmp_path: Path) -> None:
    extension = extended(BASES["gpt2"](), tmp_path, boundaries=Boundaries.careful())
    assert not any(mark in token.text for token in extension.tokens for mark in (". ", ": "))
    assert any(", " in token.text for token in extension.tokens)


# --- The folder ------------------------------------------------------------------------------


def test_the_folder_says_what_was_added(tmp_path: Path) -> None:
    extension = extended(BASES["llama3"](), tmp_path)
    assert Extension.load(tmp_path / "out") == extension
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "supratok_extension.json", "tokenizer.json", "tokenizer_config.json",
    ]  # fmt: skip
    held_out = extension.report["held_out"]
    assert held_out["tokens"] < held_out["tokens_before"]


def test_a_base_folder_goes_with_it_but_for_what_would_disagree(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "tokenizer.json").write_text(json.dumps(BASES["metaspace"]()), encoding="utf-8")
    config = {
        "tokenizer_class": "GPT2Tokenizer", "eos_token": "<|end|>", "vocab_file": "vocab.json",
        "auto_map": {"AutoTokenizer": "custom.py"},
    }  # fmt: skip
    (base / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    for name in ("vocab.json", "merges.txt", "chat_template.jinja", "model.safetensors"):
        (base / name).write_text("as it was", encoding="utf-8")
    extension = extend(base, documents(), 20, tmp_path / "out", progress=False)
    assert extension.report["left_out"] == ["vocab.json", "merges.txt"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "supratok_extension.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja",
    }  # fmt: skip
    written = json.loads((tmp_path / "out" / "tokenizer_config.json").read_text())
    assert written == {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|end|>"}


def test_a_folder_in_use_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious.txt").write_text("mine")
    with pytest.raises(ValueError, match="exists and is not an empty folder; name a new"):
        extended(BASES["metaspace"](), tmp_path)
    with pytest.raises(ValueError, match="cannot write in the folder"):
        extend(tmp_path / "tokenizer.json", documents(), 9, tmp_path / "no" / "where")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "tokenizer.json"]


# --- What cannot be extended -----------------------------------------------------------------


def _changed(change: Callable[[dict[str, Any]], object], name: str = "gpt2") -> dict[str, Any]:
    document = BASES[name]()
    change(document)
    return document


REFUSED = {
    "its model is WordPiece": lambda d: d.update(model={"type": "WordPiece", "vocab": {}}),
    "its model is Unigram": lambda d: d.update(model={"type": "Unigram", "vocab": []}),
    "end_of_word_suffix='</w>'": lambda d: d["model"].update(end_of_word_suffix="</w>"),
    "dropout=0.1": lambda d: d["model"].update(dropout=0.1),
    "its token 'a t' crosses words": lambda d: d["model"]["vocab"].update({"aĠt": 9999}),
    r"its token '.*,' crosses words": lambda d: d["model"]["vocab"].update({"©,": 9999}),
    "its pre-tokenizer .Whitespace. cuts": lambda d: d.update(pre_tokenizer={"type": "Whitespace"}),
    "in a way that supratok does not know": lambda d: d.update(
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [{"type": "Whitespace"}, d["pre_tokenizer"]],
        }
    ),
    "which does not keep plain words whole": lambda d: d.update(
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": r"\s|\p{L}{1,2}|."}, "behavior": "Isolated",
                 "invert": False},
                d["pre_tokenizer"] | {"use_regex": False},
            ],
        }
    ),
    "its added token '€' is one character": lambda d: d["added_tokens"].append(
        d["added_tokens"][0] | {"content": "€", "id": 9999}
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_exact_is_refused(message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        extended(_changed(REFUSED[message]), tmp_path)
    assert not (tmp_path / "out").exists()


def test_metaspace_with_tokens_over_the_cuts_is_refused(tmp_path: Path) -> None:
    document = _changed(lambda d: d["model"]["vocab"].update({"▁▁": 9999}), "metaspace, cut")
    with pytest.raises(ValueError, match="its token '▁▁' crosses words"):
        extended(document, tmp_path)


def test_metaspace_whose_words_no_merge_need_make_is_refused(tmp_path: Path) -> None:
    document = _changed(lambda d: d["model"].update(ignore_merges=True), "metaspace, cut")
    with pytest.raises(ValueError, match="even if no merges make them"):
        extended(document, tmp_path)


def test_errors_name_the_file_and_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"no tokenizer.json in this folder; open it with Auto"):
        open_base(tmp_path / "empty")
    (tmp_path / "wrong.json").write_text("[]")
    with pytest.raises(ValueError, match=r"wrong.json: not a tokenizer.json"):
        open_base(tmp_path / "wrong.json")
    with pytest.raises(ValueError, match="add=0: must be at least 1"):
        extended(BASES["gpt2"](), tmp_path, add=0)
    with pytest.raises(ValueError, match="no phrase occurs 99999 times"):
        extended(BASES["gpt2"](), tmp_path, min_count=99999)


# --- The command -----------------------------------------------------------------------------


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "base.json").write_text(json.dumps(BASES["metaspace"]()), encoding="utf-8")
    lines = (json.dumps({"text": text}) for text in documents())
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = ["extend", "--base", f"{tmp_path}/base.json", "--add", "30", "--out"]
    assert main([*command, f"{tmp_path}/out", f"{tmp_path}/corpus.jsonl"]) == 0
    printed = capsys.readouterr().err
    assert "30 new tokens" in printed and "% fewer" in printed
    assert len(Extension.load(tmp_path / "out").tokens) == 30
    assert main([*command, f"{tmp_path}/out", f"{tmp_path}/corpus.jsonl"]) == 1
    assert "exists and is not an empty folder" in capsys.readouterr().err
    asked = [*command, f"{tmp_path}/more", f"{tmp_path}/corpus.jsonl", "--add", "9999", "--json"]
    assert main(asked) == 0
    done = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert done["event"] == "done" and 30 < done["added"] < 9999


@settings(max_examples=30)
@given(st.integers(1, 40))
def test_expand_is_what_the_map_says(number: int) -> None:
    _, _, extension = made("gpt2")
    token = extension.tokens[number]
    assert extension.expand([1, token.id, 2]) == [1, *token.parts, 2]


FULL = """
import json, resource, sys
from bases import documents
from supratok.extending import extend
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    extend(sys.argv[1], documents(), 20, sys.argv[2], min_count=5, progress=False)
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [1000, 9000])
def test_a_full_disk_leaves_nothing(limit: int, tmp_path: Path) -> None:
    """Each file larger than the limit fails, as it does on a full disk."""
    base, out = tmp_path / "tokenizer.json", tmp_path / "out"
    base.write_text(json.dumps(BASES["whole"]()), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", FULL, base, out, str(limit)],
        capture_output=True, text=True, check=True, timeout=100,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert str(out) in done.stdout and "nothing was written" in done.stdout
    assert list(tmp_path.iterdir()) == [base]
