"""`supratok.tokenize`: which document goes where, and that no id is lost or changed."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from made import EOS, contents, documents, expected, flat, tokenizer, write_jsonl

import supratok
from supratok import CorpusError
from supratok.corpus import open_corpus
from supratok.shards import encoding
from supratok.shards.check import check
from supratok.shards.formats import FORMATS, Megatron, Numpy, Parquet

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")


def tokenize(source: Any, out: Path, **options: Any) -> dict[str, Any]:
    return supratok.tokenize(source, tokenizer(), out, progress=False, **options)


def test_the_ids_are_those_of_encode(tmp_path: Path) -> None:
    texts = documents(1, 200)
    files = [write_jsonl(tmp_path / f"{n}.jsonl", texts[n * 50 : n * 50 + 50]) for n in range(4)]
    manifest = tokenize(files, tmp_path / "out")
    (ids,) = flat(manifest, tmp_path / "out")
    assert ids == list(itertools.chain(*expected(texts)))
    assert manifest["documents"] == 200 and manifest["tokens"] == len(ids)
    assert manifest["dtype"] == "uint16" and manifest["bytes"] == 2 * len(ids)
    assert manifest["eos"] == {"token": EOS, "id": 0}
    assert sorted(contents(tmp_path / "out")) == ["manifest.json", "shard-00000.bin"]
    assert json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8")) == manifest
    assert check(tmp_path / "out", progress=False) == manifest


def greedy(ids: list[list[int]], most: int) -> list[list[int]]:
    """The shards as the documentation describes them."""
    shards: list[list[int]] = []
    for some in ids:
        if shards and len(shards[-1]) + len(some) <= most:
            shards[-1] += some
        else:
            shards.append(list(some))
    return shards


@given(
    texts=st.lists(st.sampled_from(["", "a", "in New York", "x" * 40, "as well as " * 30])),
    most=st.integers(1, 60),
    batch=st.integers(1, 200),
)
def test_shards_hold_whole_documents_and_no_more_than_fit(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], most: int, batch: int
) -> None:
    out = tmp_path_factory.mktemp("out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_BATCH", batch)
        if not any(texts):
            with pytest.raises(CorpusError, match="the corpus is empty"):
                tokenize(texts, out, shard_tokens=most)
            return
        manifest = tokenize(texts, out, shard_tokens=most)
    assert flat(manifest, out) == greedy(expected(texts), most)


@pytest.mark.parametrize("form", FORMATS)
def test_threads_and_batches_change_no_byte(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(Parquet, "_GROUP", 500)
    corpus = write_jsonl(tmp_path / "c.jsonl", documents(2, 300))
    options: dict[str, Any] = {"output_format": form, "shard_tokens": 1700}
    tokenize(corpus, tmp_path / "1", **options, threads=1)
    first = contents(tmp_path / "1")
    assert len(first) > 3
    for number, batch in enumerate((1, 1000, 5000), 2):
        monkeypatch.setattr(encoding, "_BATCH", batch)
        tokenize(corpus, tmp_path / str(number), **options, threads=number)
        assert contents(tmp_path / str(number)) == first


# --- The end of documents


def test_the_end_of_documents(tmp_path: Path) -> None:
    texts = documents(3, 20)
    for number, (eos, end) in enumerate({"<pad>": "<pad>", False: None, True: EOS}.items()):
        manifest = tokenize(texts, tmp_path / str(number), eos=eos)
        (ids,) = flat(manifest, tmp_path / str(number))
        assert ids == list(itertools.chain(*expected(texts, end=end)))
    assert manifest["eos"]["token"] == EOS


@pytest.mark.parametrize(
    ("special", "eos", "message"),
    [
        (["<pad>"], True, r"no special token that ends documents \(it has <pad>\): name one with"),
        (
            ["<pad>"],
            "</s>",
            r"eos='</s>': the tokenizer has no such special token \(it has <",
        ),
        (["<pad>"], "in", "eos='in': the tokenizer has no such special token"),
    ],
)
def test_an_unknown_end_is_refused(
    special: list[str], eos: str | bool, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        supratok.tokenize(["a"], tokenizer(*special), tmp_path / "out", eos=eos)
    assert not (tmp_path / "out").exists()


# --- Sources


def test_any_source(tmp_path: Path) -> None:
    texts = documents(4, 30)
    sources: list[Any] = [texts, iter(texts), [{"text": text} for text in texts]]
    for number, source in enumerate(sources):
        manifest = tokenize(source, tmp_path / str(number))
        assert flat(manifest, tmp_path / str(number)) == [list(itertools.chain(*expected(texts)))]
        assert manifest["corpus"] is None


def test_files_at_addresses(tmp_path: Path) -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    texts = documents(6, 40)
    for number, name in enumerate("ab"):
        lines = (json.dumps({"text": text}) + "\n" for text in texts[number * 20 :][:20])
        memory.pipe(f"/shards-test/{name}.jsonl", "".join(lines).encode())
    try:
        manifest = tokenize("memory://shards-test/*.jsonl", tmp_path / "out", by_file=True)
        assert manifest["groups"] == ["a", "b"]
        found = list(itertools.chain(*flat(manifest, tmp_path / "out")))
        assert found == list(itertools.chain(*expected(texts)))
        assert tokenize("memory://shards-test/*.jsonl", tmp_path / "out", by_file=True) == manifest
        memory.pipe("/shards-test/b.jsonl", b'{"text": "a"}')
        with pytest.raises(ValueError, match=r"b\.jsonl has 13 bytes, and had"):
            tokenize("memory://shards-test/*.jsonl", tmp_path / "out", by_file=True)
    finally:
        memory.rm("/shards-test", recursive=True)


ODD = [
    b'{"text": "in New York"}', b'{"text": "a", "b": [1, {"text": "no"}]}', b'{"te\\u0078t": "c"}',
    b'{"text": "\\ud83d\\ude00 \\n \\u00e9"}', b'{"text": ""}', b"", b"   ", b"nonsense", b"[1]",
    b'{"text": 5}', b'{"text": "\xff"}', b'{"text": "\\ud800"}', b'{"text": "d"}\r', b'{"b": 1}',
    '{"text": "日本 <|endoftext|>"}'.encode(), b'{"text": "e", "text": "f"}', b'{"text": NaN}',
]  # fmt: skip


@given(lines=st.lists(st.sampled_from(ODD), max_size=30), newline=st.booleans())
def test_the_core_reads_lines_as_python_does(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], newline: bool
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    path = folder / "c.jsonl"
    path.write_bytes(b"\n".join([b'{"text": "first"}', *lines]) + b"\n" * newline)
    with open_corpus(path, skip_bad=True) as corpus:
        texts, skipped = list(corpus), dict(corpus.skipped)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_BATCH", 30)
        manifest = tokenize(path, folder / "out", skip_bad=True)
    assert flat(manifest, folder / "out") == [list(itertools.chain(*expected(texts)))]
    assert manifest["skipped"] == dict(sorted(skipped.items()))


def test_lines_that_are_too_long_and_archives_that_end_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("corpus.readers", "corpus.lines", "shards.encoding"):
        monkeypatch.setattr(f"supratok.{module}.LONGEST_RECORD", 100_000)
    long = json.dumps({"text": "x" * 200_000}).encode()
    lines = [b'{"text": "a"}', long, b'{"text": "b"}', b"nonsense", long, b'{"text": "c"}']
    data = b"\n".join(lines * 20)
    (tmp_path / "c.jsonl").write_bytes(data)
    (tmp_path / "d.jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress(data)[:-9])
    for name in ("c.jsonl", "d.jsonl.zst"):
        with open_corpus(tmp_path / name, skip_bad=True) as corpus:
            texts, skipped = list(corpus), dict(corpus.skipped)
        manifest = tokenize(tmp_path / name, tmp_path / f"out-{name}", skip_bad=True)
        found = list(itertools.chain(*flat(manifest, tmp_path / f"out-{name}")))
        assert found == list(itertools.chain(*expected(texts)))
        assert manifest["skipped"] == dict(sorted(skipped.items()))
        with pytest.raises(CorpusError, match=f"{name}, line 2: "):
            tokenize(tmp_path / name, tmp_path / f"bad-{name}")


def test_bad_records(tmp_path: Path) -> None:
    lines = ['{"text": "a"}', "nonsense", '{"text": "b"}', '{"other": 1}']
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(CorpusError, match="line 2"):
        tokenize(path, tmp_path / "out")
    # No shard was written, so that nothing stands against another option.
    manifest = tokenize(path, tmp_path / "out", skip_bad=True)
    assert manifest["documents"] == 2 and sum(manifest["skipped"].values()) == 2


def test_a_file_at_a_time(tmp_path: Path) -> None:
    texts = documents(5, 90)
    names = ["a/x.jsonl", "b.txt.jsonl", "c.jsonl"]
    files = [
        write_jsonl(tmp_path / name, texts[n * 30 : n * 30 + 30]) for n, name in enumerate(names)
    ]
    (tmp_path / "empty.jsonl").touch()
    manifest = tokenize(
        [*files, tmp_path / "empty.jsonl"], tmp_path / "out", by_file=True, shard_tokens=400
    )
    assert manifest["groups"] == ["x", "b.txt", "c", "empty"]
    shards = [greedy(expected(texts[n * 30 : n * 30 + 30]), 400) for n in range(3)]
    assert flat(manifest, tmp_path / "out") == list(itertools.chain(*shards))
    found = sorted(path.name for path in (tmp_path / "out").glob("x-*"))
    assert found == [f"x-{number:05}.bin" for number in range(len(shards[0]))]
    alike = [files[0], write_jsonl(tmp_path / "X.jsonl", ["a"])]
    assert tokenize(alike, tmp_path / "two", by_file=True)["groups"] == ["00000-x", "00001-X"]
    with pytest.raises(CorpusError, match="by_file needs files"):
        tokenize(texts, tmp_path / "three", by_file=True)


# --- Options


def test_the_type_of_ids() -> None:
    sizes = (65_499, 65_500, 1 << 16, (1 << 16) + 1)
    assert [Numpy.dtype(size) for size in sizes] == ["uint16", "uint16", "uint16", "uint32"]
    assert [Megatron.dtype(size) for size in sizes] == ["uint16", "int32", "int32", "int32"]
    assert Parquet.dtype(5) == "int32"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shard_tokens": 0}, "shard_tokens=0: must be at least 1"),
        ({"output_format": "tfrecord"}, "output_format='tfrecord': must be one of numpy, megatron"),
        ({"threads": 0}, "threads=0: must be at least 1"),
        ({"format": "pdf"}, "pdf"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        tokenize(["a"], tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
