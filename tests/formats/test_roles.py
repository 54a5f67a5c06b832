"""Exports with special tokens that the tokenizer lacks, and without some packages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from transformers import AutoTokenizer

from supratok import Tokenizer
from supratok.cli.main import main
from supratok.common.packages import package
from supratok.formats.export import export
from supratok.formats.gguf.fields import read_header
from supratok.formats.gguf.llama_cpp import open_vocabulary
from supratok.formats.listing import Roles
from texts import small_tokenizer as small

TEXT = "the cats in New York, naïve 日本 </s> <0x41>"
ROLES = {"bos": "<|begin|>", "eos": "</s>", "pad": "<pad>", "unk": "<unk>"}
ALL = ["huggingface", "sentencepiece", "gguf"]


@pytest.fixture(scope="module", params=["merges", "fewest"])
def exported(request: Any, tmp_path_factory: Any) -> tuple[Tokenizer, Path, dict[str, int]]:
    """A tokenizer without special tokens, exported with four."""
    tokenizer = small(request.param)
    folder = tmp_path_factory.mktemp("roles") / request.param
    done = tokenizer.export(folder, ALL, **ROLES)
    assert done.verification.good and not done.left_out
    return tokenizer, folder, done.added


def test_missing_roles_are_added_at_the_end(exported: tuple[Tokenizer, Path, Any]) -> None:
    tokenizer, folder, added = exported
    size = tokenizer.vocab_size
    assert added == {"<|begin|>": size, "</s>": size + 1, "<pad>": size + 2, "<unk>": size + 3}
    ours = Tokenizer.load(folder)
    assert ours.special_tokens == added and ours.vocab_size == size + 4
    assert [ours.token_text(id) for id in range(size)] == list(
        map(tokenizer.token_text, range(size))
    )
    assert ours.encode(TEXT) == tokenizer.encode(TEXT)


def test_every_format_has_the_added_roles(exported: tuple[Tokenizer, Path, Any]) -> None:
    tokenizer, folder, added = exported
    opened = AutoTokenizer.from_pretrained(folder)
    assert [opened.bos_token_id, opened.eos_token_id, opened.pad_token_id, opened.unk_token_id] == [
        *added.values()
    ]
    crate = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert crate.token_to_id("</s>") == added["</s>"]
    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
    assert [model.bos_id(), model.eos_id(), model.pad_id(), model.unk_id()] == [*added.values()]
    assert model.encode(TEXT) == tokenizer.encode(TEXT)
    fields = read_header(folder / "tokenizer.gguf").fields
    assert fields["tokenizer.ggml.eos_token_id"].value == added["</s>"]
    with open_vocabulary(folder / "tokenizer.gguf") as llama:
        assert list(llama.encode_batch([TEXT])[0]) == tokenizer.encode(TEXT)


def test_padding_works_with_a_pad_token(exported: tuple[Tokenizer, Path, Any]) -> None:
    tokenizer, folder, added = exported
    batch = AutoTokenizer.from_pretrained(folder)(["the cats in New York", "the"], padding=True)
    first, second = batch["input_ids"]
    assert first == tokenizer.encode("the cats in New York")
    wanted = tokenizer.encode("the")
    assert second == wanted + [added["<pad>"]] * (len(first) - len(wanted))


def test_special_tokens_in_plain_text_are_ids_there_and_text_here(
    exported: tuple[Tokenizer, Path, Any],
) -> None:
    """As docs/exports.md and the help of export say."""
    tokenizer, folder, added = exported
    opened, ours = AutoTokenizer.from_pretrained(folder), Tokenizer.load(folder)
    assert added["</s>"] in opened("a</s>")["input_ids"]
    assert opened("a</s>")["input_ids"] == ours.encode("a</s>", allow_special=True)
    plain = tokenizer.encode("a</s>")
    assert plain == ours.encode("a</s>") == opened("a</s>", split_special_tokens=True)["input_ids"]
    always = AutoTokenizer.from_pretrained(folder, split_special_tokens=True)
    assert always("a</s>")["input_ids"] == plain


def test_roles_that_are_there_are_used_and_the_others_added(tmp_path: Path) -> None:
    tokenizer = small("merges", special_tokens=("</s>",))
    done = tokenizer.export(tmp_path / "x", "huggingface", eos="</s>", pad="</s>", bos="<|begin|>")
    assert done.added == {"<|begin|>": tokenizer.vocab_size}
    assert AutoTokenizer.from_pretrained(tmp_path / "x").pad_token_id == 0


@pytest.mark.parametrize(
    ("role", "why"),
    [
        ("the", "eos='the' is an ordinary token of this tokenizer, with the id"),
        ("<0x41>", "eos='<0x41>' is an ordinary token"),
        ("", "eos='': must be the text of a special token"),
        ("\udcff", "must be the text"),
        (5, "eos=5: must be the text"),
    ],
)
def test_roles_that_cannot_be_added(role: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=why):
        small("merges").export(tmp_path / "x", eos=role)
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_it_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small("merges").save(tmp_path / "my.json")
    command = ["export", str(tmp_path / "my.json"), str(tmp_path / "x"), "--format", "huggingface"]
    assert main([*command, "--eos", "</s>"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "added </s> as id 900" in said
    assert "no padding token, so padding=True fails in transformers: pass --pad" in said
    assert main([*command, "--eos", "</s>", "--pad", "<pad>", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["added"] == {"</s>": 900, "<pad>": 901}
    assert Tokenizer.load(tmp_path / "x").special_tokens["<pad>"] == 901


# --- Packages --------------------------------------------------------------------------------


def hide(monkeypatch: pytest.MonkeyPatch, *hidden: str) -> None:
    """As if these packages were not installed."""
    for name in list(sys.modules):
        if name.startswith((*hidden, "sentencepiece")):
            monkeypatch.delitem(sys.modules, name)
    for name in hidden:
        monkeypatch.setitem(sys.modules, name, None)


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """sentencepiece is installed, but protobuf, which its module imports, is not."""
    hide(monkeypatch, "google")
    with pytest.raises(ImportError, match=r"'protobuf', .*pip install .*protobuf>="):
        package("sentencepiece.sentencepiece_model_pb2", "export")
    with pytest.raises(ImportError, match="'nowhere'"):
        package("nowhere.at.all", "export")


def test_formats_without_their_packages_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = small("merges")
    hide(monkeypatch, "google")
    done = export(tokenizer, tmp_path / "x")
    assert "protobuf" in done.left_out["sentencepiece"]
    assert any("protobuf" in note and "pip install" in note for note in done.notes())
    assert {"tokenizer.json", "tokenizer.gguf"} <= set(done.files)
    assert "tokenizer.model" not in done.files


def test_a_format_that_is_asked_for_needs_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error before any work: the tokenizer is never asked."""
    hide(monkeypatch, "gguf")
    nothing: Any = None
    with pytest.raises(ImportError, match=r"'gguf': pip install"):
        export(nothing, tmp_path / "x", ["huggingface", "gguf"], Roles())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("hidden", "command"),
    [
        ("gguf", ["graft", "no.gguf", "no.json", "--out", "out.gguf"]),
        ("tokenizers", ["extend", "--base", "no", "--add", "5", "no.txt", "--out", "out"]),
        ("google", ["import", "some.model", "--out", "out.json"]),
    ],
)
def test_commands_name_the_package_before_they_start(
    hidden: str,
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The files of the command do not exist, or are no tokenizer."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.model").write_bytes(b"\n\0")
    hide(monkeypatch, hidden)
    assert main(command) == 1
    said = capsys.readouterr().err
    assert "pip install" in said and ("protobuf" if hidden == "google" else hidden) in said
    assert [path.name for path in tmp_path.iterdir()] == ["some.model"]
