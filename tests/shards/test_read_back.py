"""The programs that shards are made for read them: every id is that of `Tokenizer.encode`."""

from __future__ import annotations

import itertools
import json
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made import documents, expected, flat, tokenizer, write_jsonl

import supratok
from supratok import Recipe, Tokenizer, train
from supratok.shards.formats import Parquet

pytestmark = pytest.mark.usefixtures("no_waiting_for_the_disk")

TEXTS = [*documents(11, 120), "x", "in New York " * 400, *documents(12, 40, longest=2)]
IDS = expected(TEXTS)


def made(folder: Path, form: str, **options: Any) -> list[Path]:
    """Shards of the texts, without their suffixes, in order."""
    corpus = write_jsonl(folder / "c.jsonl", TEXTS)
    options = {"shard_tokens": 3000, "progress": False} | options
    manifest = supratok.tokenize(corpus, tokenizer(), folder / "out", output_format=form, **options)
    names = [shard["files"][0]["file"] for shard in manifest["shards"]]
    assert len(names) > 2
    return [(folder / "out" / name).with_suffix("") for name in names]


def test_numpy_maps_them(tmp_path: Path) -> None:
    shards = made(tmp_path, "numpy")
    ids = np.concatenate([np.memmap(f"{shard}.bin", np.uint16, "r") for shard in shards])
    assert ids.tolist() == list(itertools.chain(*IDS))
    # Batches as nanoGPT takes them, and the documents that OLMo finds between the ends.
    torch = pytest.importorskip("torch")
    block = torch.from_numpy(ids[5:69].astype(np.int64))
    assert tokenizer().decode(block) == tokenizer().decode(ids[5:69].tolist())
    ends = np.flatnonzero(ids == tokenizer().special_tokens["<|endoftext|>"]) + 1
    assert [part.tolist() for part in np.split(ids, ends)[:-1]] == IDS


@pytest.mark.parametrize("mapped", [True, False])
def test_megatron_reads_them(mapped: bool, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its missing extras
        indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset")
    found = []
    for shard in made(tmp_path, "megatron"):
        dataset = indexed.IndexedDataset(str(shard), mmap=mapped)
        found += [dataset[place].tolist() for place in range(len(dataset))]
        assert dataset.document_indices.tolist() == list(range(len(dataset) + 1))
        assert dataset.sequence_lengths.tolist() == [len(ids) for ids in found[-len(dataset) :]]
        assert dataset[0].dtype == np.uint16 and indexed.IndexedDataset.exists(str(shard))
        assert indexed.DType.optimal_dtype(tokenizer().vocab_size) is np.uint16
    assert found == IDS


def test_the_index_of_megatron(tmp_path: Path) -> None:
    """Its bytes, without that program."""
    (shard, *_) = made(tmp_path, "megatron")
    data = shard.with_suffix(".idx").read_bytes()
    magic, version, code, count, borders = struct.unpack_from("<9sQBQQ", data)
    assert (magic, version, code, borders) == (b"MMIDIDX\0\0", 1, 8, count + 1)
    lengths = np.frombuffer(data, "<i4", count, 34)
    begins = np.frombuffer(data, "<i8", count, 34 + 4 * count)
    numbers = np.frombuffer(data, "<i8", count + 1, 34 + 12 * count)
    assert len(data) == 34 + 12 * count + 8 * (count + 1)
    ids = np.fromfile(f"{shard}.bin", "<u2")
    assert numbers.tolist() == list(range(count + 1))
    for place in range(count):
        first = begins[place] // 2
        assert ids[first : first + lengths[place]].tolist() == IDS[place]


def test_arrow_and_datasets_read_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(Parquet, "_GROUP", 700)
    shards = made(tmp_path, "parquet")
    files = [f"{shard}.parquet" for shard in shards]
    tables = [parquet.read_table(file) for file in files]
    assert [ids for table in tables for ids in table["input_ids"].to_pylist()] == IDS
    assert str(tables[0].schema.field("input_ids").type).startswith("list<")
    groups = parquet.ParquetFile(files[0]).metadata
    assert groups.num_row_groups > 2 and groups.num_rows == len(tables[0])
    datasets = pytest.importorskip("datasets")
    cache = str(tmp_path / "cache")
    loaded = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=cache)
    assert loaded["input_ids"][:] == IDS and loaded.column_names == ["input_ids"]
    assert loaded.features["input_ids"].feature.dtype == "int32"
    streamed = datasets.load_dataset("parquet", data_files=files, split="train", streaming=True)
    assert [row["input_ids"] for row in streamed] == IDS


def large() -> Tokenizer:
    """A tokenizer with an id that 16 bits do not hold."""
    texts = ["".join(map(chr, range(0x4E00, 0x4E00 + 300)))]
    small = train(texts, Recipe(vocab_size=600), progress=False)
    return small.with_special_tokens(f"<{number}>" for number in range(66_000))


@pytest.mark.parametrize(("form", "dtype"), [("numpy", "uint32"), ("megatron", "int32")])
def test_large_vocabularies(form: str, dtype: str, tmp_path: Path) -> None:
    coder, eos = large(), "<65999>"
    manifest = supratok.tokenize(
        ["a", "b"], coder, tmp_path / "out", output_format=form, eos=eos, progress=False
    )
    assert manifest["dtype"] == dtype
    end = coder.special_tokens[eos]
    assert end > 1 << 16
    expected = [*coder.encode("a"), end, *coder.encode("b"), end]
    assert flat(manifest, tmp_path / "out") == [expected]
    held = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert held["eos"] == {"token": eos, "id": end}
    if form == "megatron":
        assert (tmp_path / "out" / "shard-00000.idx").read_bytes()[17] == 4
