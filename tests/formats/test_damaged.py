"""Damaged and hostile files: read, or refused with one line that names the file. No hang, no crash,
bounded memory; see mutations.py."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mutations
import pytest
import zstandard

import bases
import peers
from commands import refused
from supratok import Recipe, Tokenizer, train
from supratok.common.shapes import check_shape
from supratok.extending import Extension, extend
from supratok.formats.gguf.fields import read_header
from supratok.formats.peer import open_any
from supratok.formats.verify import verify
from supratok.tokenizer.inputs import MOST_BYTES, naming, parse_object, read_file
from texts import small_tokenizer as small

KINDS = {"ours": 20_000, "huggingface": 2224, "sentencepiece": 3000, "tiktoken": 1000}


@pytest.mark.parametrize("kind", KINDS)
def test_some_mutations(kind: str, tmp_path: Path) -> None:
    counts, wrong = mutations.count(kind, 0, 150, tmp_path)
    assert not wrong, "\n".join(wrong)
    assert counts["refused"] > 50 and counts["read"] > 0


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_mutations(kind: str, tmp_path: Path) -> None:
    counts, wrong = mutations.count(kind, 1000, 1000 + KINDS[kind], tmp_path)
    assert not wrong, "\n".join(wrong)
    assert counts.total() >= KINDS[kind]


def test_a_worker_that_hangs_or_crashes_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutations, "DEADLINE", 0.01)
    counts, wrong = mutations.count("tiktoken", 0, 1, tmp_path)
    assert counts == {"wrong": 1} and wrong == ["tiktoken 0 worker: it hung"]
    monkeypatch.setattr(mutations, "DEADLINE", 100.0)
    counts, wrong = mutations.count("unknown", 0, 1, tmp_path)
    assert wrong == ["unknown 0 worker: it ended with the code 1"]


# --- Shapes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shape", "why"),
    [
        ([1], {"a": int}, "the document must be an object, not [1]"),
        ({}, {"a": int}, "the document has no 'a', which must be a whole number"),
        ({"a": None}, {"a": int}, "the document has no 'a'"),
        ({"a": True}, {"a": int}, "a must be a whole number, not True"),
        ({"a": 1}, {"a": str}, "a must be a string, not 1"),
        ({"a": {"b": [1, "x"]}}, {"a": {"b": [int]}}, "a.b[1] must be a whole number, not 'x'"),
        (
            {"a": {"b": 9}},
            {"a": {str: range(3)}},
            "a['b'] must be a whole number from 0 to 2, not 9",
        ),
        ([["x", 1], ["y"]], [(str, int)], "[1] must be a list of 2, not ['y']"),
        ([["x", 1], ["y", "z"]], [(str, int)], "[1][1] must be a whole number, not 'z'"),
        ([float("nan")], [float], "[0] must be a number, not nan"),
        ([10**400], [float], "[0] must be a number"),
    ],
)
def test_shapes(value: Any, shape: Any, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        check_shape(value, shape)


def test_shapes_that_fit() -> None:
    def tree() -> Any:
        return {"name": str, "inner?": [tree]}

    check_shape({"name": "a", "inner": [{"name": "b"}, {"name": "c", "inner": None}]}, tree)
    with pytest.raises(ValueError, match=r"inner\[1\].inner\[0\] has no 'name'"):
        check_shape({"name": "a", "inner": [{"name": "b"}, {"name": "c", "inner": [{}]}]}, tree)
    check_shape(
        {"a": 1, "b": "anything", "c": [[1, 2.5], [3, -1]]}, {"a": int, "c": [(int, float)]}
    )


# --- Reading -----------------------------------------------------------------------------------


def test_bombs_are_refused(tmp_path: Path) -> None:
    """20 GiB of spaces in 2 MB: no more than the bound is unpacked."""
    frame = zstandard.ZstdCompressor(level=1).compress(b" " * (1 << 26))
    path = tmp_path / "tokenizer.json.zst"
    path.write_bytes(frame * 320)
    assert path.stat().st_size < 4e6
    readers: list[Callable[[Path], Any]] = [open_any, Tokenizer.load]
    for read in readers:
        tracemalloc.start()
        with pytest.raises(ValueError, match="more than 256 MiB") as caught:
            read(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert str(caught.value).startswith(str(path)) and peak < 3 * MOST_BYTES


def test_packed_files_of_several_frames(tmp_path: Path) -> None:
    path = tmp_path / "x.zst"
    data = [bytes(range(256)) * 50, b"", b"end"]
    path.write_bytes(b"".join(map(zstandard.compress, data)))
    assert read_file(path) == b"".join(data)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ValueError, match="a damaged archive"):
        read_file(path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "nested more than 100 levels"),
        ('{"a": ' * 500 + "1" + "}" * 500, "nested more than 100 levels"),
        ("[]", "not a JSON object"),
        ('{"a": ' + "9" * 5000 + "}", "not JSON"),
        ('{"a": "\\ud800"}', "lone surrogate"),
        ('{"\\udfff": 1}', "lone surrogate"),
    ],
)
def test_json_that_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_object(text.encode())


def test_pairs_of_surrogates_are_characters() -> None:
    assert parse_object(b'{"a": "\\ud83d\\ude00"}') == {"a": "😀"}


def test_errors_name_the_file_in_one_line() -> None:
    for error in (ValueError("a\nb"), KeyError("x"), RecursionError()):
        with pytest.raises(ValueError, match=r"^my\.json: ") as caught, naming("my.json"):
            raise error
        assert str(caught.value).isprintable()
    with pytest.raises(FileNotFoundError), naming("my.json"):
        raise FileNotFoundError("my.json")
    with pytest.raises(KeyboardInterrupt), naming("my.json"):
        raise KeyboardInterrupt
    with pytest.raises(MemoryError), naming("my.json"):  # the file may well be whole
        raise MemoryError


def test_load_says_which_function_reads_the_file(tmp_path: Path) -> None:
    peers.make_hugging_face(tmp_path / "tokenizer.json")
    peers.make_sentencepiece(tmp_path / "tokenizer.model")
    for name, reader in (("json", "from_huggingface"), ("model", "from_sentencepiece")):
        with pytest.raises(ValueError, match=rf"tokenizer\.{name}: not a .*Tokenizer\.{reader}"):
            Tokenizer.load(tmp_path / f"tokenizer.{name}")


def test_load_takes_exported_folders_and_packed_files(tmp_path: Path) -> None:
    tokenizer = small("merges")
    tokenizer.export(tmp_path / "x", "huggingface")
    packed = tmp_path / "my.json.zst"
    packed.write_bytes(zstandard.compress((tmp_path / "x" / "supratok.json").read_bytes()))
    for path in (tmp_path / "x", packed):
        assert Tokenizer.load(path).texts == tokenizer.texts


def test_a_damaged_packed_file_is_named_as_given(tmp_path: Path) -> None:
    """And not by a temporary copy."""
    path = tmp_path / "my.json.zst"
    path.write_bytes(zstandard.compress(b'{"format": "supratok", "version": 1}'))
    with pytest.raises(ValueError, match="the checksum does not match") as caught:
        open_any(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_pieces_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    peers.make_sentencepiece(path)
    path.write_bytes(path.read_bytes().replace("▁time".encode(), b"\xe2\x96\x81t\xffme", 1))
    with pytest.raises(ValueError, match=r"tokenizer\.model: piece \d+ is no UTF-8 text"):
        Tokenizer.from_sentencepiece(path)


def test_long_tokens_are_refused(tmp_path: Path) -> None:
    """The time of an encoding grows with the longest token."""
    document = bases.BASES["whole"]()
    document["model"]["vocab"]["x" * 5000] = 5000
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="longer than 4,096 characters"):
        Tokenizer.from_huggingface(tmp_path)


# --- The commands ------------------------------------------------------------------------------


def damaged(path: Path) -> Path:
    document = bases.BASES["gpt2"]()
    document["model"]["vocab"]["the"] = "one"
    path.write_text(json.dumps(document))
    return path


def test_commands_refuse_damaged_files(tmp_path: Path) -> None:
    base, out = damaged(tmp_path / "tokenizer.json"), tmp_path / "out"
    (tmp_path / "c.txt").write_text("a text\n")
    why = "model.vocab['the'] must be a whole number from 0 to 8,388,607, not 'one'"
    assert f"{base}: {why}" in refused("import", base, "--out", out)
    assert why in refused("extend", "--base", base, "--add", 5, tmp_path / "c.txt", "--out", out)
    assert "tokenizer.json: not a supratok" in refused("export", base, out)
    (tmp_path / "my.json").write_text('{"format": "supratok", "version": 1, "sha256": 5}')
    for command in (("export", tmp_path / "my.json", out), ("inspect", tmp_path / "my.json")):
        assert f"{tmp_path / 'my.json'}: the checksum does not match" in refused(*command)
    assert not out.exists()


def test_verify_names_the_file_that_is_damaged(tmp_path: Path) -> None:
    small("merges").export(tmp_path / "x")
    for name in ("tokenizer.model", "tokenizer.gguf", "tokenizer.json", "supratok.json"):
        good = (tmp_path / "x" / name).read_bytes()
        (tmp_path / "x" / name).write_bytes(good[: len(good) // 2])
        with pytest.raises(ValueError, match=re.escape(name)):
            verify(tmp_path / "x")
        (tmp_path / "x" / name).write_bytes(good)


def test_gguf_without_a_model_or_a_tokenizer(tmp_path: Path) -> None:
    small("merges", special_tokens=("</s>",)).save(tmp_path / "my.json")
    empty = tmp_path / "x.gguf"
    empty.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    assert read_header(empty).fields == {}
    said = refused("graft", empty, tmp_path / "my.json", "--out", tmp_path / "y.gguf")
    assert f"{empty}: a GGUF file without an architecture" in said
    empty.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + b"\xff" * 16)
    said = refused("graft", empty, tmp_path / "my.json", "--out", tmp_path / "y.gguf")
    assert "a damaged GGUF file" in said and not (tmp_path / "y.gguf").exists()


def test_extend_refuses_a_damaged_config_before_it_learns(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "tokenizer.json").write_text(json.dumps(bases.BASES["whole"]()))
    (base / "tokenizer_config.json").write_text("[]")

    def never() -> Any:
        raise AssertionError("it read the corpus")
        yield

    with pytest.raises(ValueError, match=r"tokenizer_config\.json: not a JSON object"):
        extend(base, never(), 5, tmp_path / "out", progress=False)


def test_extensions_that_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "supratok_extension.json"
    for text in ("[]", "{}", '{"base": 5}', "{" * 9000):
        path.write_text(text)
        with pytest.raises(ValueError, match="not written by `supratok extend`"):
            Extension.load(tmp_path)


def test_what_is_saved_can_be_loaded(tmp_path: Path) -> None:
    """The checks refuse no file of ours: the longest tokens, large counts, all passes."""
    texts = ["=" * 3000 + " " + "日本" * 100] * 40
    recipe = Recipe.dense(400)
    tokenizer = train(texts, recipe, progress=False)
    tokenizer.save(tmp_path / "my.json")
    assert Tokenizer.load(tmp_path / "my.json").vocabulary == tokenizer.vocabulary
