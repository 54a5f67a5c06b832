"""Every kind of tokenizer opens behind one interface, and can be measured."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from peers import MAKERS, TEXT, documents, make_ours, make_sentencepiece
from supratok import Tokenizer
from supratok.formats.measure import measure, total
from supratok.formats.peer import Locating, Peer, open_any
from supratok.formats.runtime import offsets_of

kinds = pytest.mark.parametrize("kind", MAKERS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokenizers")


@pytest.fixture
def make(folder: Path) -> Callable[[str], Path]:
    """The file of a kind, made once."""

    def made(kind: str) -> Path:
        path = folder / kind
        if not path.exists():
            MAKERS[kind](path)
        return path

    return made


@kinds
def test_every_kind_gives_the_text_back(kind: str, make: Callable[[str], Path]) -> None:
    peer = open_any(make(kind))
    assert peer.name.startswith(str(make(kind)))
    ids = peer.encode(TEXT)
    assert all(0 <= id < peer.vocab_size for id in ids)
    assert peer.decode(ids) == TEXT
    assert len(peer.token_strings(TEXT)) == len(ids)


@kinds
def test_the_strings_of_plain_text_are_the_text(kind: str, make: Callable[[str], Path]) -> None:
    text = "in New York as well as in the school"
    assert "".join(open_any(make(kind)).token_strings(text)) == text


def borders(peer: Peer, text: str) -> set[int]:
    """Where a token ends, by decoding every beginning of the ids."""
    ids = peer.encode(text)
    begun = {peer.decode(ids[:size]) for size in range(len(ids) + 1)}
    return {place for place in range(len(text) + 1) if text[:place] in begun}


def check_offsets(peer: Locating, text: str) -> None:
    ids, offsets = peer.encode_with_offsets(text)
    assert ids == peer.encode(text) and len(offsets) == len(ids)
    assert [end for _, end in offsets] == sorted(end for _, end in offsets)
    assert all(start < end for start, end in offsets)
    inner = {place for start, end in offsets for place in range(start + 1, end)}
    assert set(range(len(text) + 1)) - inner == borders(peer, text)


@kinds
def test_offsets_say_where_tokens_end(kind: str, make: Callable[[str], Path]) -> None:
    peer = open_any(make(kind))
    for text in [TEXT, "  it is  not\n\n", "日本語", "é 😀x", "", "x"]:
        check_offsets(peer, text)


def test_offsets_of_bytes_and_of_trimmed_tokens(tmp_path: Path) -> None:
    """SentencePiece's way of bytes in a tokenizer.json, and a package that leaves out spaces."""
    pytest.importorskip("tokenizers")
    make_ours(tmp_path / "ours.json")
    Tokenizer.load(tmp_path / "ours.json").export(tmp_path / "folder", formats=["huggingface"])
    check_offsets(open_any(tmp_path / "folder" / "tokenizer.json"), TEXT)
    MAKERS["tokenizer.json"](tmp_path / "trimmed.json")
    document = json.loads((tmp_path / "trimmed.json").read_text(encoding="utf-8"))
    trimming = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    document["post_processor"] = {**trimming, "use_regex": True}
    (tmp_path / "trimmed.json").write_text(json.dumps(document), encoding="utf-8")
    check_offsets(open_any(tmp_path / "trimmed.json"), TEXT)


def test_offsets_in_a_text_that_sentencepiece_changes(tmp_path: Path) -> None:
    """It puts a space before the text, and drops others."""
    make_sentencepiece(tmp_path / "m", add_dummy_prefix=True, remove_extra_whitespaces=True)
    peer, text = open_any(tmp_path / "m"), "  New  York é in "
    _, offsets = peer.encode_with_offsets(text)
    found = [text[start:end] for start, end in offsets]
    assert peer.token_strings(text) == [" New", " York", " ", "<0xC3>", "<0xA9>", " in"]
    assert [part.strip() for part in found] == ["New", "York", "", "é", "é", "in"]


def test_offsets_of_tokens_with_parts_of_characters() -> None:
    one, two = "é".encode()
    tokens = [b"a" + bytes([one]), bytes([two]) + b"b", b"", b"c"]
    assert offsets_of(tokens) == [(0, 2), (1, 3), (3, 3), (3, 4)]


@kinds
def test_every_kind_may_be_packed_and_called_anything(
    kind: str, make: Callable[[str], Path], tmp_path: Path
) -> None:
    data = make(kind).read_bytes()
    packed = tmp_path / "something.zst"
    pack = zstandard.ZstdCompressor().compress
    packed.write_bytes(pack(data[:100]) + pack(data[100:]))  # in two frames
    assert open_any(packed).encode(TEXT) == open_any(make(kind)).encode(TEXT)


@kinds
def test_the_measure_of_every_kind(kind: str, make: Callable[[str], Path]) -> None:
    peer = open_any(make(kind))
    found = measure(peer, [TEXT, "two"])
    assert found.tokens == len(peer.encode(TEXT)) + len(peer.encode("two"))
    assert found.characters == len(TEXT) + 3
    assert found.bytes == len(TEXT.encode()) + 3
    assert found.characters_per_token == pytest.approx(found.characters / found.tokens)
    assert found.bytes_per_token == pytest.approx(found.bytes / found.tokens)
    assert found.lossless is True
    assert found.megabytes_per_second is not None and found.megabytes_per_second > 0


def test_phrases_save_tokens(make: Callable[[str], Path]) -> None:
    """The purpose of it all: the same text, a similar vocabulary size, fewer tokens."""
    text = documents(seed=8)[0]
    ours, bpe = (open_any(make(kind)) for kind in ("supratok.json", "tokenizer.json"))
    assert len(ours.encode(text)) < 0.8 * len(bpe.encode(text))


def test_special_tokens_in_a_text_are_text(make: Callable[[str], Path]) -> None:
    peer = open_any(make("tokenizer.json"))
    assert len(peer.encode("<|end|>")) > 1
    assert peer.decode(peer.encode("a<|end|>b")) == "a<|end|>b"


def test_a_tokenizer_that_loses_text_is_detected() -> None:
    class Lossy:
        name = "lossy"
        vocab_size = 1

        def encode(self, text: str) -> list[int]:
            return [0] * len(text.split())

        def decode(self, ids: list[int]) -> str:
            return " ".join("x" for _ in ids)

        def token_strings(self, text: str) -> list[str]:
            return text.split()

    peer: Peer = Lossy()
    assert measure(peer, ["x x"]).lossless is True
    assert measure(peer, ["x x", "x  x", "x"]).lossless is False
    assert measure(peer, ["x  x"], check=False).lossless is None


def test_nothing_to_measure() -> None:
    found = total([measure(_Nothing(), [])])
    assert (found.tokens, found.characters_per_token, found.bytes_per_token) == (0, None, None)
    assert found.megabytes_per_second is None


class _Nothing:
    name = "nothing"
    vocab_size = 0

    def encode(self, text: str) -> list[int]:
        return []

    def decode(self, ids: list[int]) -> str:
        return ""

    def token_strings(self, text: str) -> list[str]:
        return []


def test_part_of_a_character_is_shown_as_bytes(make: Callable[[str], Path]) -> None:
    assert open_any(make("tiny.tiktoken")).token_strings("é the") == ["<0xC3>", "<0xA9>", " the"]


@pytest.mark.parametrize(
    ("ranks", "split"),
    [(300, "gpt2"), (100_256, "cl100k"), (151_643, "cl100k"), (199_998, "o200k")],
)
def test_the_split_of_a_tiktoken_file_follows_its_size(
    ranks: int, split: str, tmp_path: Path
) -> None:
    pytest.importorskip("tiktoken")
    tokens = [bytes([byte]) for byte in range(256)] + [b"DO", b"on", b"Don"]
    tokens += [b"\xff%d" % number for number in range(ranks - len(tokens))]
    lines = [b"%s %d" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens)]
    path = tmp_path / "t.tiktoken"
    path.write_bytes(b"\n".join(lines))
    peer = open_any(path)
    assert peer.name.endswith(f"({split} split)")
    assert peer.vocab_size == ranks
    text = "DON'T  stop at 12345 /\n\n x"
    assert peer.decode(peer.encode(text)) == text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b"{not json", "it begins like JSON"),
        (b'{"a": 1}', "not a tokenizer.json"),
        (b"\x00\x01garbage", "nor a SentencePiece model"),
        (b"YQ== 0\nYg==\n", "line 2: not a token in base64"),
        (b"YQ== 0\nY!== 1\n", "line 2: not a token in base64"),
        (b"YQ== 0\n", "the byte 0x00 has no rank"),
    ],
)
def test_what_is_no_tokenizer_is_refused(data: bytes, why: str, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    pytest.importorskip("sentencepiece")
    path = tmp_path / "it"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=why) as refused:
        open_any(path)
    assert str(path) in str(refused.value)


def test_a_damaged_archive_is_refused(make: Callable[[str], Path], tmp_path: Path) -> None:
    packed = zstandard.ZstdCompressor().compress(make("tiny.tiktoken").read_bytes())
    path = tmp_path / "t.tiktoken.zst"
    for data, why in ((packed[:-20], "its end is missing"), (b"x" * 50, "damaged archive")):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=why):
            open_any(path)


def test_a_changed_file_of_ours_is_refused(make: Callable[[str], Path], tmp_path: Path) -> None:
    document = json.loads(make("supratok.json").read_text(encoding="utf-8"))
    document["tokens"].pop()
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ValueError, match="checksum"):
        open_any(path)


@pytest.mark.parametrize("kind", ["tokenizer.json", "tokenizer.model", "tiny.tiktoken"])
def test_a_missing_package_is_named_with_its_remedy(
    kind: str, make: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, names = make(kind), {"tokenizer.json": "tokenizers", "tokenizer.model": "sentencepiece"}
    missing = names.get(kind, "tiktoken")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf'the package \'{missing}\': pip install "{missing}>='):
        open_any(path)
