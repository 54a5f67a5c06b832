"""A patched `transformers` gives what it gives unpatched, and is fast for our tokenizers alone."""

from __future__ import annotations

import copy
import gc
import json
import multiprocessing
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import transformers
from compared import facts, outcome
from tokenizers import AddedToken
from transformers import AutoTokenizer

import supratok
from supratok.common.packages import is_installed
from supratok.formats.huggingface.document import Document
from supratok.runtimes.patch import NotTakenWarning
from supratok.runtimes.taken import Taken
from texts import HOSTILE, PIECES, small_tokenizer

ROLES = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "add_bos": True, "add_eos": True}
WORDS = [*PIECES, "ᚠ", "🝮ᚠ", "<pad>", "</s>", "<mask>", "[X]", "[XY]", "Y]", "foo", "<", "s>",
         "<0x41>", "☃", " ", ""]  # fmt: skip
ADDED = ["<mask>", "[X]", "[XY]", "Y]", "foo", "New York", "s>", "☃"]
CHAT = "{% for m in messages %}<s>{{ m['content'] }}</s>{% endfor %}"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both rules with special tokens around each text; `cutting` needs a pre-tokenizer."""
    where = tmp_path_factory.mktemp("patched")
    special, made = ("<s>", "</s>", "<pad>"), {}
    for name, rule, roles in (
        ("merges", "merges", ROLES | {"chat_template": CHAT}),
        ("fewest", "fewest", ROLES),
        ("bare", "merges", {"pad": "<pad>"}),
        ("cutting", "fewest", ROLES | {"unk": "<☃unk>"}),
    ):
        made[name] = where / name
        small_tokenizer(rule, special_tokens=special).export(where / name, ["huggingface"], **roles)
    return made


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    transformers.logging.set_verbosity_error()
    yield
    supratok.unpatch_transformers()


def opened(folder: Path) -> Any:
    """Of this version's usual class, as the folder says."""
    return AutoTokenizer.from_pretrained(folder)


def both(folder: Path) -> tuple[Any, Any]:
    """The tokenizer without the patch and with it."""
    supratok.unpatch_transformers()
    plain = opened(folder)
    supratok.patch_transformers()
    patched = opened(folder)
    assert is_taken(patched) and not is_taken(plain)
    return plain, patched


def is_taken(tokenizer: Any) -> bool:
    return "_supratok" in tokenizer._tokenizer.__dict__


class Counting:
    """How many calls our encoder answered."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answered = 0
        original = Taken.encode

        def encode(*args: Any, **options: Any) -> Any:
            made = original(*args, **options)
            self.answered += made is not None
            return made

        monkeypatch.setattr(Taken, "encode", encode)


def some_text(rng: random.Random) -> str:
    return "".join(rng.choice(WORDS) + rng.choice(["", " ", ""]) for _ in range(rng.randint(0, 14)))


def some_inputs(rng: random.Random, words: bool) -> list[Any]:
    def make() -> Any:
        return [some_text(rng) for _ in range(rng.randint(1, 3))] if words else some_text(rng)

    count = rng.randint(1, 4)
    kinds: list[Callable[[], list[Any]]] = [
        lambda: [make()],
        lambda: [make(), make()],
        lambda: [[make() for _ in range(count)]],
        lambda: [[make() for _ in range(count)], [make() for _ in range(count)]],
    ]
    return rng.choice(kinds)()


def some_options(rng: random.Random, words: bool) -> dict[str, Any]:
    options = {
        "is_split_into_words": words,
        "add_special_tokens": rng.random() < 0.7,
        "padding": rng.choice([False, True, "max_length"]),
        "truncation": rng.choice([False, True, "longest_first", "only_first", "only_second"]),
        "max_length": rng.choice([None, 3, 5, 8, 12, 20, 30]),
        "stride": rng.choice([0, 0, 0, 1, 2]),
        "pad_to_multiple_of": rng.choice([None, None, 4, 8]),
        "return_overflowing_tokens": rng.random() < 0.3,
        "return_length": rng.random() < 0.2,
    }
    for name in ("offsets_mapping", "special_tokens_mask", "token_type_ids", "attention_mask"):
        options[f"return_{name}"] = rng.random() < 0.5
    return options | ({"split_special_tokens": True} if rng.random() < 0.3 else {})


@pytest.mark.parametrize("name", ["merges", "fewest", "bare", "cutting"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.filterwarnings("ignore:`max_length` is ignored")
def test_every_call_gives_the_same(
    folders: dict[str, Path], name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random texts, pairs, batches and words; all options; tokens added on the way."""
    rng, counting = random.Random(seed), Counting(monkeypatch)
    for number in range(240):
        if number % 60 == 0:
            pair = both(folders[name])
        if rng.random() < 0.04:
            flags = {
                flag: rng.random() < 0.1 for flag in ("lstrip", "rstrip", "single_word", "special")
            }
            token = AddedToken(rng.choice(ADDED), normalized=rng.random() < 0.5, **flags)
            special = rng.random() < 0.5
            for tokenizer in pair:
                tokenizer.add_tokens([token], special_tokens=special)
        for tokenizer in pair:
            tokenizer.padding_side = ("left", "right")[number % 2]
            tokenizer.truncation_side = ("left", "right")[number // 2 % 2]
        words = rng.random() < 0.2
        inputs, options = some_inputs(rng, words), some_options(rng, words)
        plain, patched = (outcome(one, *inputs, **options) for one in pair)
        assert patched == plain, (inputs, options)
    assert is_taken(pair[1])
    assert counting.answered > 100


@pytest.mark.parametrize("name", ["merges", "fewest", "cutting"])
def test_hostile_texts_give_the_same(folders: dict[str, Path], name: str) -> None:
    plain, patched = both(folders[name])
    for text in [*HOSTILE, *(a + b for a in HOSTILE for b in ("", " <s>", "🝮"))]:
        assert outcome(patched, text) == outcome(plain, text)


def test_the_inner_tokenizer_gives_the_same(folders: dict[str, Path]) -> None:
    """Calls of `tokenizers` itself, on the tokenizer inside."""
    plain, patched = (one.backend_tokenizer for one in both(folders["merges"]))
    assert type(patched) is tokenizers.Tokenizer
    calls: list[Callable[[Any], Any]] = [
        lambda one: one.encode("the cats <s>"),
        lambda one: one.encode("the cats", "in New York", add_special_tokens=False),
        lambda one: one.encode(["the", "cats"], ["in"], is_pretokenized=True),
        lambda one: one.encode_batch([("a", "b"), "c"])[0],
        lambda one: one.encode_batch_fast([("a <s>", "b"), "c"])[0],  # never ours
    ]
    for call in calls:
        made = call(patched)
        assert isinstance(made, tokenizers.Encoding)
        assert facts(made) == facts(call(plain))
        assert repr(made) == repr(call(plain))
        again = pickle.loads(pickle.dumps(call(patched)))
        assert type(again) is tokenizers.Encoding and facts(again) == facts(made)
    assert plain.encode_batch([]) == patched.encode_batch([]) == []


def test_an_encoding_can_be_changed(folders: dict[str, Path]) -> None:
    encodings = [
        one.backend_tokenizer.encode("the cats in New York") for one in both(folders["bare"])
    ]
    for encoding in encodings:
        encoding.truncate(3, stride=1)
        encoding.pad(12, pad_id=7, pad_token="<pad>")
    assert facts(encodings[0]) == facts(encodings[1])


WRONG = [None, 5, ["a", None], [("a", "b", "c")], [["a"]], ["a", "b"], [["a", "b"]], ["a", b"b"],
         "\ud800"]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_are_the_same(folders: dict[str, Path], wrong: Any) -> None:
    plain, patched = both(folders["merges"])
    assert outcome(patched, wrong) == outcome(plain, wrong)
    plain, patched = plain.backend_tokenizer, patched.backend_tokenizer
    for name in ("encode", "encode_batch"):
        assert outcome(getattr(patched, name), wrong) == outcome(getattr(plain, name), wrong)
    assert "_supratok" in patched.__dict__


def test_the_rest_of_a_tokenizer_is_the_same(folders: dict[str, Path], tmp_path: Path) -> None:
    pair = both(folders["merges"])
    calls: list[Callable[[Any], Any]] = [
        lambda one: one.tokenize("the cats in <s> 🝮"),
        lambda one: one.convert_tokens_to_ids(one.tokenize("the cats")),
        lambda one: one.convert_ids_to_tokens(one("the cats")["input_ids"]),
        lambda one: one.decode(one.encode("the cats in 🝮"), skip_special_tokens=True),
        lambda one: one.batch_decode(one(["a", "b c"])["input_ids"]),
        *(
            lambda one, kind=kind: one(["a", "b c"], padding=True, return_tensors=kind)[
                "input_ids"
            ].tolist()
            for kind in ("pt", "np")
            if kind == "np" or is_installed("torch")
        ),
        lambda one: one.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False),
        lambda one: one.encode(one.apply_chat_template([{"content": "hi"}], tokenize=False)),
        lambda one: one.pad({"input_ids": [1, 2]}, padding="max_length", max_length=4)["input_ids"],
        lambda one: (len(one), one.get_vocab(), one.vocab_size, one.all_special_tokens),
    ]
    for call in calls:
        assert call(pair[0]) == call(pair[1])
    for number, one in enumerate(pair):
        one.save_pretrained(tmp_path / str(number))
    names = {path.name for path in (tmp_path / "0").iterdir()}
    for name in names:
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "1" / name).read_bytes()
    assert names == {path.name for path in (tmp_path / "1").iterdir()}


def test_copies_and_pickles_are_taken(folders: dict[str, Path]) -> None:
    plain, patched = both(folders["merges"])
    patched.add_tokens(["<mask>"])
    plain.add_tokens(["<mask>"])
    text = "the cats <mask> in New York"
    for made in (copy.deepcopy(patched), copy.copy(patched), pickle.loads(pickle.dumps(patched))):
        assert is_taken(made)
        assert made(text)["input_ids"] == plain(text)["input_ids"]
    data = pickle.dumps(patched)
    supratok.unpatch_transformers()
    assert pickle.loads(data)(text)["input_ids"] == plain(text)["input_ids"]


def _ids(arguments: tuple[Any, str]) -> list[int]:
    tokenizer, text = arguments
    ids: list[int] = tokenizer(text)["input_ids"]
    return ids


def test_threads_and_processes(folders: dict[str, Path]) -> None:
    plain, patched = both(folders["merges"])
    texts = ["the cats in New York " * number for number in range(40)]
    expected = [plain(text)["input_ids"] for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: _ids((patched, text)), texts)) == expected
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        found = processes.map(_ids, [(patched, text) for text in texts[:3]])
    assert found == expected[:3]


# --- Which tokenizers are taken


def changed(folder: Path, target: Path, change: Callable[[Document], Any]) -> Path:
    """A copy of an exported folder with another tokenizer.json."""
    target.mkdir()
    for path in folder.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    document = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    change(document)
    (target / "tokenizer.json").write_text(json.dumps(document), "utf-8")
    return target


def set_in(*path: Any, to: Any) -> Callable[[Document], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = to

    return change


def swap_merges(document: Document) -> None:
    merges = document["model"]["merges"]
    merges[0], merges[-1] = merges[-1], merges[0]


def other_parts(document: Document) -> None:
    """Another pair makes the last token of three characters."""
    merges, vocab = document["model"]["merges"], document["model"]["vocab"]
    place = max(n for n, (a, b) in enumerate(merges) if len(b) == 2 and a + b[0] in vocab)
    left, right = merges[place]
    merges[place] = [left + right[0], right[1]]


CHANGES = {
    "normalizer": ("merges", set_in("normalizer", to={"type": "NFC"}), "a normalizer"),
    "words": ("merges", set_in("pre_tokenizer", to={"type": "WhitespaceSplit"}), "pre-tokenizer"),
    "dropout": ("merges", set_in("model", "dropout", to=0.5), "dropout=0.5"),
    "whole": ("merges", set_in("model", "ignore_merges", to=True), "ignore_merges=True"),
    "no bytes": ("merges", set_in("model", "byte_fallback", to=False), "no byte fallback"),
    "order": ("merges", swap_merges, "its token"),
    "parts": ("merges", other_parts, "is made from other parts"),
    "scores": ("fewest", set_in("model", "vocab", 400, 1, to=-1.5), "score -1.5"),
    "name": ("fewest", set_in("model", "vocab", 0, 1, to=-2.0), "score -2"),
    "no fallback": ("fewest", set_in("model", "byte_fallback", to=False), "no byte fallback"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_would_differ_is_not_taken(
    folders: dict[str, Path], name: str, tmp_path: Path
) -> None:
    base, change, why = CHANGES[name]
    folder = changed(folders[base], tmp_path / "changed", change)
    plain = opened(folder)
    supratok.patch_transformers()
    with pytest.warns(NotTakenWarning, match=why):
        patched = opened(folder)
    assert not is_taken(patched)
    if name != "dropout":
        assert outcome(patched, "the cats 🝮") == outcome(plain, "the cats 🝮")
    (folder / "supratok.json").unlink()  # of others we do not speak
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_taken(opened(folder))


def test_a_folder_without_our_file_is_taken(folders: dict[str, Path], tmp_path: Path) -> None:
    """As a cache of the hub holds it."""
    folder = changed(folders["merges"], tmp_path / "hub", lambda document: None)
    (folder / "supratok.json").unlink()
    both(folder)


CHANGED_LATER: dict[str, Callable[[Any], Any]] = {
    "normalizer": lambda one: setattr(one, "normalizer", tokenizers.normalizers.Lowercase()),
    "pre-tokenizer": lambda one: setattr(
        one, "pre_tokenizer", tokenizers.pre_tokenizers.Whitespace()
    ),
    "model": lambda one: setattr(one.model, "ignore_merges", True),
    "post-processor": lambda one: setattr(
        one, "post_processor", tokenizers.processors.ByteLevel(trim_offsets=True)
    ),
    "template": lambda one: setattr(
        one, "post_processor", tokenizers.processors.TemplateProcessing(single="$A $A")
    ),
}


@pytest.mark.parametrize("what", CHANGED_LATER)
def test_a_change_that_we_do_not_know_is_told(folders: dict[str, Path], what: str) -> None:
    pair = both(folders["merges"])
    for one in pair:
        CHANGED_LATER[what](one.backend_tokenizer)
    text = "The Cats in New York"
    with pytest.warns(NotTakenWarning, match="no longer encodes"):
        patched = outcome(pair[1], text)
    assert patched == outcome(pair[0], text) and not is_taken(pair[1])


def test_another_model_is_not_ours(folders: dict[str, Path]) -> None:
    plain, patched = both(folders["merges"])
    for one in (plain, patched):
        one.backend_tokenizer.model = opened(folders["fewest"]).backend_tokenizer.model
    assert not is_taken(patched)
    assert outcome(patched, "the cats") == outcome(plain, "the cats")


def test_other_settings_are_followed(folders: dict[str, Path]) -> None:
    pair = both(folders["merges"])
    processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A:1 </s>:2", pair="$B:3 <s> $A:0", special_tokens=[("<s>", 3), ("</s>", 4)]
    )
    for one in pair:
        one.backend_tokenizer.post_processor = processor
    for inputs in (["the cats"], ["the cats", "in New York"]):
        for special in (True, False):
            plain, patched = (
                outcome(one, *inputs, add_special_tokens=special, max_length=4, truncation=True,
                        return_token_type_ids=True)
                for one in pair
            )  # fmt: skip
            assert plain == patched
    assert is_taken(pair[1])


def test_the_patch_is_undone_and_done_again(folders: dict[str, Path]) -> None:
    inner = tokenizers.Tokenizer
    before = dict(inner.__dict__), transformers.PreTrainedTokenizerFast.__init__
    _, patched = both(folders["merges"])
    supratok.patch_transformers()  # twice is once
    supratok.unpatch_transformers()
    supratok.unpatch_transformers()
    assert (dict(inner.__dict__), transformers.PreTrainedTokenizerFast.__init__) == before
    encoding = patched.backend_tokenizer.encode("the cats")
    assert type(encoding) is tokenizers.Encoding
    patched.add_tokens(["cats"])
    ids = patched("the cats")["input_ids"]
    supratok.patch_transformers()
    assert patched("the cats")["input_ids"] == ids


def test_tokenizers_are_freed(folders: dict[str, Path]) -> None:
    """The encoder that a tokenizer holds does not hold the tokenizer, which no one could free."""
    from supratok.runtimes import model

    _, patched = both(folders["bare"])
    patched("the cats")
    del patched
    gc.collect()
    assert len(model._models) == 0


def test_importing_supratok_imports_none_of_them() -> None:
    code = "import sys, supratok; supratok.patch_transformers; "
    code += "assert not {'transformers', 'tokenizers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
