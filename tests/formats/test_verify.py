"""`verify` sees every difference, and its exit code says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from supratok import Tokenizer
from supratok.cli.main import main
from supratok.formats.gguf.llama_cpp import open_vocabulary, tiny_model
from supratok.formats.hostile import hostile_texts
from supratok.formats.peer import open_any
from supratok.formats.verify import verify
from texts import small_tokenizer as small


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small("merges", special_tokens=("</s>",)).export(tmp_path / "x", eos="</s>")
    return tmp_path / "x"


def test_all_runtimes_agree(folder: Path) -> None:
    found = verify(folder, ["the cat", "in New York ▁"])
    assert found.good and not found.missing
    names = [row.runtime for row in found.rows]
    assert names[:4] == ["supratok", "tokenizers", "transformers", "sentencepiece"]
    assert names[4] in ("xllamacpp", "llama-cpp-python")
    assert found.rows[0].texts == found.rows[1].texts > 1000
    held = found.rows[3]
    assert held.left_out > 1 and held.texts + held.left_out == found.rows[0].texts
    assert found.rows[0].tokens == found.rows[1].tokens > 10_000


def break_merges(folder: Path) -> None:
    path = folder / "tokenizer.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["model"]["merges"].reverse()
    path.write_text(json.dumps(document), encoding="utf-8")


def test_a_difference_is_seen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    break_merges(folder)
    found = verify(folder)
    different = {row.runtime: row.different for row in found.rows}
    assert different["tokenizers"] > 10 and different["transformers"] > 10
    assert different["supratok"] == different["sentencepiece"] == 0
    assert not found.good and "tokenizers" in found.problem()
    assert main(["verify", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert "ids differ" in out and "differently" in err


def test_lost_text_is_seen(folder: Path) -> None:
    path = folder / "tokenizer.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["decoder"] = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    path.write_text(json.dumps(document), encoding="utf-8")
    rows = {row.runtime: row for row in verify(folder, runtimes=["tokenizers"]).rows}
    assert rows["tokenizers"].lost > 10 and rows["tokenizers"].different == 0
    assert set(rows) == {"supratok", "tokenizers"}


def test_a_limit_in_the_file_is_seen(folder: Path) -> None:
    """`verify` loads a file as its program does; `open_any` ignores the limits for a model."""
    path = folder / "tokenizer.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["truncation"] = {
        "direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0,
    }  # fmt: skip
    path.write_text(json.dumps(document), encoding="utf-8")
    rows = {row.runtime: row for row in verify(folder, runtimes=["tokenizers"]).rows}
    assert rows["tokenizers"].different > 10 and rows["tokenizers"].lost > 10
    text = "in New York as well as in the low"
    assert open_any(path).encode(text) == Tokenizer.load(folder).encode(text)


def test_a_folder_without_ours_compares_the_others(folder: Path) -> None:
    (folder / "supratok.json").unlink()
    assert verify(folder).rows[0].runtime == "tokenizers"
    (folder / "tokenizer.json").unlink()
    found = verify(folder, ["▁", "a"])
    assert found.good and found.rows[0].runtime == "sentencepiece"
    break_nothing = verify(folder, runtimes=["sentencepiece"])
    assert [row.runtime for row in break_nothing.rows] == ["sentencepiece"]


def test_nothing_to_verify(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no tokenizer files"):
        verify(tmp_path)
    with pytest.raises(ValueError, match="no folder"):
        verify(tmp_path / "nowhere")


def test_a_runtime_that_is_not_installed_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "transformers" else found(name)
    )
    assert main(["verify", str(folder)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    hint = 'transformers is not installed: pip install "transformers>=4.46"'
    assert f"transformers did not run: {hint}" in said


def test_the_command_reads_files(folder: Path, tmp_path: Path, capsys: Any) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat\nin New York\nlow\n", encoding="utf-8")
    base = verify(folder, runtimes=["tokenizers"]).rows[0].texts
    for options, texts in (([], 3), (["--limit", "2"], 2)):
        command = ["verify", str(folder), str(text), "--runtime", "tokenizers", "--json", *options]
        assert main(command) == 0
        assert json.loads(capsys.readouterr().out)["runtimes"][0]["texts"] == base + texts
    assert main(["verify", str(folder), str(tmp_path / "misspelt.txt")]) == 1


def test_the_export_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small("fewest", special_tokens=("</s>",)).save(tmp_path / "my.json")
    (tmp_path / "chat.jinja").write_text("{{ messages[0]['content'] }}</s>")
    command = ["export", str(tmp_path / "my.json"), str(tmp_path / "out"), "--eos", "</s>"]
    assert main([*command, "--chat-template", str(tmp_path / "chat.jinja")]) == 0
    said = capsys.readouterr().out
    assert "tokenizer.model" in said and "gguf was left out: under the rule" in said
    config = json.loads((tmp_path / "out" / "tokenizer_config.json").read_text())
    assert config["chat_template"].endswith("</s>") and config["eos_token"] == "</s>"
    assert main([*command, "--json", "--format", "huggingface"]) == 1  # tokenizer.model is there
    (tmp_path / "out" / "tokenizer.model").unlink()
    assert main([*command, "--json", "--format", "huggingface"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"][1]["different"] == 0
    assert main(["export", str(tmp_path / "my.json"), str(tmp_path / "y"), "--bos", "<s>"]) == 1
    assert "is an ordinary token" in capsys.readouterr().err and not (tmp_path / "y").exists()


def test_hostile_text_is_the_same_each_time_and_covers_its_kinds() -> None:
    tokenizer = small("merges", special_tokens=("<|x|>",))
    texts = hostile_texts(tokenizer.texts, ["<|x|>"])
    assert texts == hostile_texts(tokenizer.texts, ["<|x|>"])
    assert "<|x|>" in texts and "" in texts and any("<0x41>" in text for text in texts)
    assert max(map(len, texts)) >= 100_000
    known = set(tokenizer.texts)
    assert sum(bool(set(text) - known) for text in texts) > 100
    assert sum(text in texts for text in (token * 3 for token in tokenizer.texts)) > 100
    assert len(hostile_texts([], [])) > 100


def test_a_folder_is_a_tokenizer(folder: Path, tmp_path: Path, capsys: Any) -> None:
    assert Tokenizer.load(folder).vocab_size == 900
    text = tmp_path / "text.txt"
    text.write_text("the cat in New York", encoding="utf-8")
    assert main(["count", str(folder), str(text), "--json"]) == 0
    ours = json.loads(capsys.readouterr().out)["total"]["tokens"]
    (folder / "supratok.json").unlink()
    assert main(["count", str(folder), str(text), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"]["tokens"] == ours
    assert main(["count", str(tmp_path), str(text)]) == 1
    assert "a folder without a tokenizer" in capsys.readouterr().err


def test_the_graft_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = small("merges", special_tokens=("</s>",))
    tokenizer.export(tmp_path / "x", ["gguf"])
    tiny_model(tmp_path / "model.gguf", tmp_path / "x" / "tokenizer.gguf", "gpt2")
    ours, out = str(tmp_path / "x" / "supratok.json"), tmp_path / "out.gguf"
    command = ["graft", str(tmp_path / "model.gguf"), ours, "--out", str(out)]
    assert main([*command, "--eos", "</s>"]) == 0
    with open_vocabulary(out) as runtime:
        assert runtime.encode_batch(["the cat"]) == [tokenizer.encode("the cat")]
    assert main([*command, "--eos", "<eos>"]) == 1
    assert "no special token" in capsys.readouterr().err


def test_the_import_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = small("fewest", special_tokens=("</s>",))
    tokenizer.export(tmp_path / "x", ["huggingface", "sentencepiece"])
    for path in (tmp_path / "x", tmp_path / "x" / "tokenizer.model"):
        assert main(["import", str(path), "--out", str(tmp_path / "back.json")]) == 0
        back = Tokenizer.load(tmp_path / "back.json")
        assert back.encode("the cat in New York") == tokenizer.encode("the cat in New York")
    assert "literal U+2581" in capsys.readouterr().err
    assert main(["import", str(tmp_path), "--out", str(tmp_path / "back.json")]) == 1


def test_a_limit_below_zero_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(folder), "--limit", "-1"]) == 1
    assert "--limit=-1: must be at least 0" in capsys.readouterr().err
