"""The measurements. Each function runs in a fresh process and answers in JSON:

    python benches/workers.py NAME '{"argument": ...}'

So the peak of memory is its own, and a first call is truly the first. Clocks include reading the
corpus; they exclude starting Python, imports, loading and saving a tokenizer. Only the functions
that measure `tokenizers` import it, so that it never counts as our memory.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy

import supratok
from supratok.corpus import open_corpus
from supratok.lab.measure.cost import peak_bytes
from supratok.lab.measure.texts import read_text, write_first

WARM_CALLS = 3
BATCH_BYTES = 20_000_000
CALLS = 20_000  # of short texts


def seconds(work: Callable[[], object]) -> float:
    """The time of one call, without freeing its result."""
    start = perf_counter()
    made = work()
    took = perf_counter() - start
    del made
    return took


# --- The setting


def surroundings() -> dict[str, str]:
    """Date, machine and versions, for the header."""
    import tokenizers

    from supratok.lab.measure.rows import cpu_model

    now = datetime.datetime.now(datetime.UTC)
    return {
        "date": now.isoformat(timespec="minutes"),
        "machine": f"{cpu_model()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at start",
        "versions": f"supratok {supratok.__version__}, tokenizers {tokenizers.__version__},"
        f" numpy {numpy.__version__}, Python {platform.python_version()}",
    }


def take(corpus: str, documents: int, out: str) -> None:
    """Write the first documents of a corpus to a file."""
    write_first(Path(corpus), documents, Path(out))


def describe(corpus: str) -> dict[str, int]:
    """The size of a corpus; `bytes` of its UTF-8."""
    sizes = [(len(text), len(text.encode())) for text in open_corpus(corpus)]
    characters, utf8 = (sum(column) for column in zip(*sizes, strict=True))
    return {"documents": len(sizes), "characters": characters, "bytes": utf8}


# --- Training


def train(corpus: str, recipe: dict[str, Any], out: str, times: int = 1) -> dict[str, Any]:
    """Ours, on all cores, over the corpus `times` times in a row, as one stream."""
    start = perf_counter()
    tokenizer = supratok.train(
        [Path(corpus)] * times, supratok.Recipe.from_dict(recipe), progress=False
    )
    took = {"seconds": perf_counter() - start, "peak": peak_bytes()}
    tokenizer.save(out)
    return took


def train_standard(corpus: str, vocab_size: int) -> dict[str, Any]:
    """`tokenizers`, on all cores: BPE-Standard as Appendix C of the paper defines it."""
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.trainers import BpeTrainer

    start = perf_counter()
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = Whitespace()
    trainer = BpeTrainer(
        vocab_size=vocab_size, end_of_word_suffix="</w>", special_tokens=[], show_progress=False
    )
    tokenizer.train_from_iterator(open_corpus(corpus), trainer)
    return {
        "seconds": perf_counter() - start,
        "peak": peak_bytes(),
        "vocab_size": tokenizer.get_vocab_size(),
    }


def compression(tokenizer: str, test: str) -> dict[str, float]:
    """Characters per token: of the test file as one text, and of the held-out documents."""
    ours = supratok.Tokenizer.load(tokenizer)
    text = read_text(test)
    held_out = ours.report.get("held_out", {"characters": math.nan, "tokens": 1})  # a tiny corpus
    return {
        "test": len(text) / ours.count(text),
        "held_out": held_out["characters"] / held_out["tokens"],
        "crossover": ours.report["crossover"],
    }


# --- Encoding


def make_twin(tokenizer: str, test: str, out: str) -> dict[str, Any]:
    """Write the same vocabulary with the same ids as a `tokenizers` file. Check that it gives the
    same ids on the test file, as one text and by line."""
    from tokenizers import Tokenizer

    ours = supratok.Tokenizer.load(tokenizer)
    twin = Tokenizer(twin_model(ours))
    twin.save(out)
    text = read_text(test)
    for part in [text, *lines(text)]:
        if twin.encode(part).ids != ours.encode(part):
            raise SystemExit(f"{tokenizer}: `tokenizers` gives other ids on {part[:80]!r}...")
    return {"bytes": len(text.encode()), "lines": len(lines(text))}


def twin_model(ours: supratok.Tokenizer) -> Any:
    """`merges` is a `BPE` with one pair a token; `fewest` is a `Unigram` with equal scores. Neither
    normalises or pre-tokenizes, and both write unknown characters as bytes."""
    from tokenizers.models import BPE, Unigram

    names = [ours.token_text(id) for id in range(ours.vocab_size)]
    if ours.recipe.segmentation == "fewest":
        scores = [(name, -1.0) for name in [*names, "<no such token>"]]
        return Unigram(scores, unk_id=len(names), byte_fallback=True)
    parts = (ours._core.parts(entry) for entry in range(len(ours.vocabulary)))
    merges = [
        (ours.vocabulary[left].text, ours.vocabulary[right].text)
        for left, right in filter(None, parts)
    ]
    return BPE({name: id for id, name in enumerate(names)}, merges, byte_fallback=True)


def lines(text: str) -> list[str]:
    """The non-empty lines."""
    return [line for line in text.split("\n") if line]


def encode(tokenizer: str, test: str, by_line: bool) -> dict[str, Any]:
    """Ours: the first call, and the calls after it. One text becomes an array, lines become
    lists."""
    ours = supratok.Tokenizer.load(tokenizer)
    if by_line:
        return cold_and_warm(ours.encode, test, by_line)
    return cold_and_warm(lambda text: ours.encode(text, numpy=True), test, by_line)


def encode_twin(tokenizer: str, test: str, by_line: bool) -> dict[str, Any]:
    """The same by `tokenizers`."""
    from tokenizers import Tokenizer

    twin = Tokenizer.from_file(tokenizer)
    return cold_and_warm(lambda text: twin.encode(text).ids, test, by_line)


def cold_and_warm(encode_one: Callable[[str], object], test: str, by_line: bool) -> dict[str, Any]:
    text = read_text(test)
    parts = lines(text) if by_line else [text]
    took = [seconds(lambda: [encode_one(part) for part in parts]) for _ in range(1 + WARM_CALLS)]
    return {"cold": took[0], "warm": sorted(took[1:])[WARM_CALLS // 2]}


def batch(tokenizer: str, corpus: str, arrays: bool, threads: int, repeats: int) -> dict[str, Any]:
    """`encode_batch` over the first documents with one thread and with several, in turn."""
    ours = supratok.Tokenizer.load(tokenizer)
    texts = list(first_bytes(corpus, BATCH_BYTES))

    def once(threads: int) -> dict[str, float]:
        if arrays:
            return {"seconds": seconds(lambda: ours.encode_batch(texts, threads, numpy=True))}
        return {"seconds": seconds(lambda: ours.encode_batch(texts, threads))}

    once(threads)
    pairs = [(once(1), once(threads)) for _ in range(repeats)]
    one, many = zip(*pairs, strict=True)
    return {"one": one, "many": many, "bytes": sum(len(text.encode()) for text in texts)}


def latency(program: str, tokenizer: str, twin: str, test: str) -> dict[str, float]:
    """Microseconds to encode 20 characters to a list, by texts from all over the test file."""
    text = read_text(test)
    places = range(0, len(text) - 20, max(1, len(text) // CALLS))
    texts = [part for place in places if (part := text[place : place + 20]).isascii()]
    ours = supratok.Tokenizer.load(tokenizer)
    encode = short_encoder(program, ours, twin)
    ids, took = [], []
    for part in texts:
        start = perf_counter()
        some = encode(part)
        took.append(perf_counter() - start)
        ids.append(some)
    if program != "tiktoken" and ids != list(map(ours.encode, texts)):
        raise SystemExit(f"{program} gives other ids")
    p50, p99 = numpy.quantile(took, [0.5, 0.99]) * 1e6
    return {"p50": float(p50), "p99": float(p99)}


def short_encoder(program: str, ours: supratok.Tokenizer, twin: str) -> Callable[[str], list[int]]:
    """From text to a list of ids. `tiktoken` joins bytes, so that its own ids are ranks."""
    if program == "supratok":
        return ours.encode
    if program == "tokenizers":
        from tokenizers import Tokenizer

        other = Tokenizer.from_file(twin)
        return lambda text: list(other.encode(text).ids)
    import tiktoken

    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [token.text.encode() for token in ours.vocabulary]
    ranks = {token: rank for rank, token in enumerate(dict.fromkeys(tokens))}
    made = tiktoken.Encoding("", pat_str=r"(?s:.+)", mergeable_ranks=ranks, special_tokens={})
    encode: Callable[[str], list[int]] = made.encode_ordinary
    return encode


def loading(program: str, file: str) -> dict[str, float]:
    """Seconds to read the file of a tokenizer, and by how much the peak of memory grows."""
    load: Callable[[str], object] = supratok.Tokenizer.load
    if program == "tokenizers":
        from tokenizers import Tokenizer

        load = Tokenizer.from_file
    before, start = peak_bytes(), perf_counter()
    made = load(file)
    took = {"seconds": perf_counter() - start, "peak": max(1, peak_bytes() - before)}
    del made
    return took


def first_bytes(corpus: str, size: int) -> Iterator[str]:
    """The first documents of a corpus, up to this many bytes."""
    for text in open_corpus(corpus):
        size -= len(text.encode())
        if size < 0:
            return
        yield text


WORKERS: dict[str, Callable[..., Any]] = {
    worker.__name__: worker
    for worker in (
        surroundings, take, describe, train, train_standard, compression, make_twin, encode,
        encode_twin, batch, latency, loading,
    )
}  # fmt: skip

if __name__ == "__main__":
    print(json.dumps(WORKERS[sys.argv[1]](**json.loads(sys.argv[2]))))
