"""llama.cpp gives our ids, for a tokenizer alone and for models of both classes with our tokenizer.

No text here holds U+2581: llama.cpp reads it as a space.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import supratok
from supratok import Recipe, Tokenizer
from supratok.formats.gguf import write as export
from supratok.formats.gguf.fields import read_header
from supratok.formats.gguf.llama_cpp import open_vocabulary, tiny_model
from supratok.formats.gguf.write import graft, write_vocabulary
from supratok.formats.listing import Listing, Roles, listing_of
from supratok.formats.runtime import Runtime
from supratok.tokenizer import Token
from texts import HOSTILE, corpus, multilingual, prose

gguf = pytest.importorskip("gguf")

SPECIAL = ("<|bos|>", "<|eos|>", "<|pad|>", "<|unk|>")
ROLES = Roles(*SPECIAL)
TEXTS = [
    *HOSTILE, *corpus(9, 100), *prose(8, 50), *multilingual(7, 100),
    "<0x41>", "<0xE2><0x96><0x81>", "<s> </s>", "<|endoftext|>", "<|eos|><|im_end|> [PAD]",
    "unused 3", "é🙃\x07", "a\x00b", "\r", "\r\n\r\n", "  \t \n\n \t", "\ue0c3\U000f00c3",
    "aa" * 301 + " " * 99,
]  # fmt: skip
TEXTS = [text.replace("▁", "_") for text in TEXTS]
LONG = "New York as well as the cat of 2024 🙂 " * 30_000  # 1 MB

without_space_sign = st.characters(exclude_categories=["Cs"], exclude_characters="▁")


def learnt(rule: Literal["merges", "fewest"]) -> Tokenizer:
    texts = [text.replace("▁", "_") for text in corpus(1, 200) + prose(2) + multilingual(3)]
    recipe = Recipe(vocab_size=900, segmentation=rule, special_tokens=SPECIAL)
    return supratok.train(texts, recipe, progress=False)


@pytest.fixture(scope="module")
def merges() -> Tokenizer:
    return learnt("merges")


@pytest.fixture(scope="module")
def fewest() -> Tokenizer:
    return learnt("fewest")


def written(path: Path, tokenizer: Tokenizer) -> Path:
    write_vocabulary(path, listing_of(tokenizer, ROLES))
    return path


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory, merges: Tokenizer) -> Path:
    return written(tmp_path_factory.mktemp("merges") / "a.gguf", merges)


def opened(path: Path) -> Runtime:
    if not (importlib.util.find_spec("llama_cpp") or importlib.util.find_spec("xllamacpp")):
        pytest.skip("llama.cpp is not installed")
    return open_vocabulary(path)


@pytest.fixture(scope="module")
def runtime(vocabulary: Path) -> Iterator[Runtime]:
    with opened(vocabulary) as found:
        yield found


@pytest.fixture(scope="module")
def runtime_of_fewest(
    tmp_path_factory: pytest.TempPathFactory, fewest: Tokenizer
) -> Iterator[Runtime]:
    path = written(tmp_path_factory.mktemp("fewest") / "a.gguf", fewest)
    with opened(path) as found:
        yield found


# --- The same ids ----------------------------------------------------------------------------


def test_merges(runtime: Runtime, merges: Tokenizer) -> None:
    ids = runtime.encode_batch(TEXTS)
    assert ids == merges.encode_batch(TEXTS)
    assert list(map(runtime.decode, ids)) == TEXTS


def test_fewest(runtime_of_fewest: Runtime, fewest: Tokenizer) -> None:
    ids = runtime_of_fewest.encode_batch(TEXTS)
    assert ids == fewest.encode_batch(TEXTS)
    known = [text for text in TEXTS if all(id >= 260 for id in fewest.encode(text))]
    assert len(known) > 200
    assert list(map(runtime_of_fewest.decode, fewest.encode_batch(known))) == known


def test_a_long_line(
    runtime: Runtime, runtime_of_fewest: Runtime, merges: Tokenizer, fewest: Tokenizer
) -> None:
    for one, tokenizer in ((runtime, merges), (runtime_of_fewest, fewest)):
        ids = one.encode_batch(["a", LONG, "", "b"])
        assert ids == tokenizer.encode_batch(["a", LONG, "", "b"])
    assert runtime.decode(merges.encode(LONG)) == LONG


@given(text=st.text(without_space_sign) | st.text(alphabet="aab \nNYork", max_size=60))
def test_any_text(runtime: Runtime, merges: Tokenizer, text: str) -> None:
    ids = runtime.encode_batch([text, "", text])
    assert ids == [merges.encode(text), [], merges.encode(text)]
    assert list(map(runtime.decode, ids)) == [text, "", text]


@given(text=st.text(without_space_sign) | st.text(alphabet="aab \nNYork", max_size=60))
def test_any_text_by_fewest(runtime_of_fewest: Runtime, fewest: Tokenizer, text: str) -> None:
    text = text.replace("\0\0", "\0")  # llama.cpp takes a run of unknown characters for one
    assert "\0\0" in text or runtime_of_fewest.encode_batch([text]) == [fewest.encode(text)]


def test_a_byte_that_is_generated_by_fewest(runtime_of_fewest: Runtime, fewest: Tokenizer) -> None:
    """The loss: llama.cpp prints each byte as a private character."""
    text = runtime_of_fewest.decode(fewest.encode("a🙃b"))
    assert text == "a" + "".join(chr(0xE000 + byte) for byte in "🙃".encode()) + "b"


# --- Models ----------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_graft(tmp_path: Path, merges: Tokenizer, architecture: Any) -> None:
    """A model converted with another tokenizer, with spare rows."""
    other = supratok.train(prose(5), Recipe(vocab_size=1100), progress=False)
    write_vocabulary(tmp_path / "other.gguf", listing_of(other))
    tiny_model(tmp_path / "model.gguf", tmp_path / "other.gguf", architecture)
    graft(tmp_path / "model.gguf", tmp_path / "mine.gguf", listing_of(merges, ROLES))
    assert other.vocab_size > 20 + merges.vocab_size
    before, after = (gguf.GGUFReader(tmp_path / name) for name in ("model.gguf", "mine.gguf"))
    assert kept(before) == kept(after)
    assert len(after.get_field("tokenizer.ggml.tokens").data) == other.vocab_size
    with opened(tmp_path / "mine.gguf") as runtime:
        assert runtime.encode_batch(TEXTS) == merges.encode_batch(TEXTS)
        assert list(map(runtime.decode, merges.encode_batch(TEXTS))) == TEXTS


def kept(reader: Any) -> tuple[dict[str, Any], list[Any]]:
    """Everything but the tokenizer."""
    fields = {
        name: field.contents()
        for name, field in reader.fields.items()
        if not name.startswith(("tokenizer.", "GGUF."))
    }
    return fields, [(t.name, t.tensor_type, t.data.tobytes()) for t in reader.tensors]


def test_graft_refuses_a_model_that_is_too_small(
    tmp_path: Path, merges: Tokenizer, vocabulary: Path
) -> None:
    small = supratok.train(["a b"] * 9, Recipe(vocab_size=260), progress=False)
    write_vocabulary(tmp_path / "small.gguf", listing_of(small))
    tiny_model(tmp_path / "model.gguf", tmp_path / "small.gguf")
    with pytest.raises(ValueError, match=r"\d+ rows, too few for the \d+ tokens"):
        graft(tmp_path / "model.gguf", tmp_path / "mine.gguf", listing_of(merges))
    with pytest.raises(ValueError, match=r"no tensor 'token_embd.weight'"):
        graft(vocabulary, tmp_path / "mine.gguf", listing_of(merges))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.gguf", "small.gguf"]


def test_a_refused_file_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_text("old")
    with pytest.raises(ValueError, match="control token"):
        write_vocabulary(tmp_path / "a.gguf", made_of(CHAIN))
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


# --- What the file says ----------------------------------------------------------------------


def fields(path: Path) -> dict[str, Any]:
    return {
        name.removeprefix("tokenizer.ggml."): field.contents()
        for name, field in gguf.GGUFReader(path).fields.items()
    }


def test_roles_and_template(tmp_path: Path, merges: Tokenizer) -> None:
    path = tmp_path / "a.gguf"
    roles = Roles(*SPECIAL, add_bos=True, add_eos=True, chat_template="{{ x }}")
    write_vocabulary(path, listing_of(merges, roles))
    found = fields(path)
    ids = [found[f"{role}_token_id"] for role in ("bos", "eos", "padding", "unknown")]
    assert ids == [0, 1, 2, 3]
    assert found["add_bos_token"] and found["add_eos_token"]
    assert found["tokenizer.chat_template"] == "{{ x }}"
    assert found["token_type"][:5] == [3, 3, 3, 2, 6]


def test_no_role_falls_to_a_token_of_texts(tmp_path: Path, merges: Tokenizer) -> None:
    write_vocabulary(tmp_path / "a.gguf", listing_of(merges))
    found = fields(tmp_path / "a.gguf")
    for role in ("bos", "eos", "unknown"):
        assert found["tokens"][found[f"{role}_token_id"]] == "<0xFF>"
    assert not found["add_bos_token"] and not found["add_eos_token"]
    assert "padding_token_id" not in found and "tokenizer.chat_template" not in found


def test_what_ends_generation(tmp_path: Path, merges: Tokenizer) -> None:
    """llama.cpp says so itself, for every id."""
    library = pytest.importorskip("llama_cpp")
    for roles, expected in ((Roles(), [4 + 0xFF]), (ROLES, [1])):
        write_vocabulary(tmp_path / "a.gguf", listing_of(merges, roles))
        with opened(tmp_path / "a.gguf") as runtime:
            words = runtime._vocabulary  # type: ignore[attr-defined]
            ends = [id for id in range(merges.vocab_size) if library.llama_vocab_is_eog(words, id)]
        assert ends == expected


def test_metadata_is_read_as_the_package_reads_it(tmp_path: Path, fewest: Tokenizer) -> None:
    roles = Roles(*SPECIAL, add_bos=True, chat_template="{{ x }} 日本")
    write_vocabulary(tmp_path / "a.gguf", listing_of(fewest, roles))
    tiny_model(tmp_path / "model.gguf", tmp_path / "a.gguf")
    for path, tensors in ((tmp_path / "a.gguf", 0), (tmp_path / "model.gguf", 11)):
        reader = gguf.GGUFReader(path)
        found = read_header(path)
        assert found.tensors == len(reader.tensors) == tensors
        names = [name for name in reader.fields if not name.startswith("GGUF.")]
        assert list(found.fields) == names
        for name in names:
            types = [found.fields[name].type, found.fields[name].inner]
            assert found.fields[name].value == reader.fields[name].contents()
            assert [one for one in types if one is not None] == reader.fields[name].types
    whole = (tmp_path / "a.gguf").read_bytes()
    for end in (3, 24, 100, len(whole) - 5):
        (tmp_path / "cut.gguf").write_bytes(whole[:end])
        with pytest.raises(ValueError, match="GGUF file"):
            read_header(tmp_path / "cut.gguf")


# --- What is refused -------------------------------------------------------------------------


def made_of(texts: list[str], special: tuple[str, ...] = ()) -> Listing:
    """A tokenizer by merges with these tokens, after the characters they need."""
    characters = sorted({character for text in texts for character in text} | {"a"})
    tokens = [Token(text, 1, "alphabet") for text in characters]
    tokens += [Token(text, 1, "traditional") for text in texts if len(text) > 1]
    return listing_of(
        Tokenizer(tokens, Recipe(vocab_size=999, segmentation="merges", special_tokens=special))
    )


CHAIN = ["</", "</s", "</s>"]
HEX = ["<0", "<0x", "1>", "41>"]


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        (made_of(CHAIN), r"ordinary text that reads '</s>', which llama.cpp takes for a control"),
        (made_of(["a\0"]), r"NUL character, at which llama.cpp ends"),
        (made_of(["a▁", "a▁b"], ("a b",)), r"tokens 0 and \d+ are both written 'a b'"),
        (made_of(["s>"], ("<s>",)), r"token 0 reads '<s>', .* of the text '<' \+ 's>'"),
        (made_of(HEX), r"reads '<0x41>', .* of the text '<0x' \+ '41>'"),
        (made_of([], ("¤",)), r"token 0 reads '¤', .* of the text '¤'"),
        (made_of([], ("¤1",)), r"token 0 reads '¤1'"),
    ],
)
def test_refusals(tmp_path: Path, listing: Listing, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_vocabulary(tmp_path / "a.gguf", listing)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("texts", "special", "text"),
    [(["s>"], ("<s>",), "<s>"), ([], ("¤",), "a¤a"), (HEX, (), "<0x41>")],
)
def test_refusals_are_needed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    texts: list[str],
    special: tuple[str, ...],
    text: str,
) -> None:
    """Without them, llama.cpp makes a special token or a byte of ordinary text."""
    listing = made_of(texts, special)
    monkeypatch.setattr(export, "_refuse_misreadings", lambda *_: None)
    write_vocabulary(tmp_path / "a.gguf", listing)
    with opened(tmp_path / "a.gguf") as runtime:
        (ids,) = runtime.encode_batch([text])
    assert any(id < len(special) or listing.rows[id].text == "<0x41>" for id in ids)


def test_special_tokens_that_no_text_makes_are_fine(tmp_path: Path) -> None:
    listing = made_of(["s>", "<|", "|>", "t|>"], ("<|endoftext|>", "<s >", "</s>"))
    write_vocabulary(tmp_path / "a.gguf", listing)
    with opened(tmp_path / "a.gguf") as runtime:
        for ids in runtime.encode_batch(["<|endoftext|>", "<s >", "</s>", "<|text|>"]):
            assert all(id >= 3 for id in ids)


# --- Errors of the runtime -------------------------------------------------------------------


def test_errors(tmp_path: Path, runtime: Runtime) -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        runtime.encode_batch(["a\ud800"])
    with pytest.raises(FileNotFoundError, match="no such file; write one"):
        open_vocabulary(tmp_path / "nothing.gguf")
    (tmp_path / "text.gguf").write_text("text")
    with pytest.raises(ValueError, match=r"text.gguf: no GGUF file"):
        open_vocabulary(tmp_path / "text.gguf")
    assert runtime.encode_batch([]) == []


def test_packages_that_are_missing(
    tmp_path: Path, vocabulary: Path, merges: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(ImportError, match=r"'gguf': pip install \"gguf>="):
        write_vocabulary(tmp_path / "a.gguf", listing_of(merges))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"pip install \"xllamacpp.*llama-cpp-python"):
        open_vocabulary(vocabulary)
