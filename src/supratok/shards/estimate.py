"""What tokenizing takes, roughly: samples of the corpus are read, encoded and written to memory."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..corpus import open_corpus
from .encoding import Coding
from .make import Run

_FILES = 16  # that samples are taken from, spread over the corpus
_CHARACTERS = 1_000_000  # of a sample


class Estimate(NamedTuple):
    documents: float
    tokens: float
    bytes: float  # of the shards
    seconds: float


def estimate(run: Run, threads: int) -> Estimate:
    """Of a corpus of files: as good as the beginnings of some files stand for the whole."""
    corpus = run.plan["corpus"]
    if corpus is None:
        raise ValueError("standard input and texts have no size to estimate from; pass files")
    began, coding = time.monotonic(), run.coding(threads)
    step = -(-len(corpus) // _FILES)
    # Of each sample: documents, tokens, bytes written, bytes read.
    samples = [_sample(row["file"], run, coding) for row in corpus[::step]]
    *found, read = np.sum(samples, axis=0).tolist()
    times = sum(row["bytes"] for row in corpus) / max(read, 1)
    return Estimate(*(value * times for value in (*found, time.monotonic() - began)))


def _sample(file: str, run: Run, coding: Coding) -> tuple[int, int, int, int]:
    texts: list[str] = []
    size = 0
    with open_corpus(Path(file), **run.plan["reading"]) as corpus:
        for text in corpus:
            texts.append(text)
            size += len(text)
            if size >= _CHARACTERS:
                break
        read = corpus.bytes_read
    if not texts:
        return 0, 0, 0, read
    ids, lengths = coding.encode(texts)
    files: list[Any] = [io.BytesIO() for _ in run.writer.suffixes]
    outputs: list[BinaryIO] = list(files)
    writer = run.writer(outputs, coding.dtype)
    writer.add(ids, lengths)
    writer.finish()
    return len(texts), len(ids), sum(file.tell() for file in files), read
