"""SuperBPE for the sweep, kept in a folder for one corpus. The algorithm is `supratok.lab`'s.

    python runs/baselines.py superbpe --vocab-size 100000 --cache build/baselines

Here SuperBPE learns from whole documents (its authors give it lines), which only helps it. A result
is kept under --cache and not computed again. Stage 2 takes minutes and a few GB at 237 MB.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenizers import Tokenizer

from rows import ENGLISH, identity, located
from supratok.corpus import open_corpus
from supratok.lab.superbpe import as_tokenizer, inherited, merges_of, stage_1, stage_2

_TIMES = "times.json"


def superbpe(documents: Iterable[str], vocab_size: int, cache: Path) -> Tokenizer:
    """Both stages; `documents` are read once for each. Tokens may cross the ends of lines."""
    kept = cache / f"superbpe-4words-{vocab_size}.json"
    if not kept.exists():
        merges = _stage_1(documents, cache)[: inherited(vocab_size)]
        with _timed(cache, str(vocab_size)):
            merges = stage_2(documents, merges, vocab_size, by_line=False)
        _save(as_tokenizer(merges), kept)
    return Tokenizer.from_file(str(kept))


def seconds_of(cache: Path, vocab_size: int) -> float | None:
    """What both stages took when they were computed; None if nobody looked at the clock."""
    kept = cache / _TIMES
    times = json.loads(kept.read_text()) if kept.exists() else {}
    if "stage 1" not in times or str(vocab_size) not in times:
        return None
    return float(times["stage 1"] + times[str(vocab_size)])


def mark(sha256: str, documents: int | None = None, on: str = "all") -> str:
    """The name of a corpus in a cache: "0125ef..., all documents, learnt from training"."""
    return f"{sha256}, {documents or 'all'} documents, learnt from {on}"


def check_cache(cache: Path, corpus: str) -> None:
    """What is kept there was learnt from this corpus (see `mark`), or the run ends. An empty cache
    is made and marked."""
    file = cache / "corpus.txt"
    cache.mkdir(parents=True, exist_ok=True)
    if not file.exists() and not list(cache.glob("superbpe-*.json")):
        file.write_text(corpus + "\n")
    found = file.read_text().strip() if file.exists() else "nobody knows what"
    if found != corpus:
        raise SystemExit(
            f"{cache}: made from {found!r}, not from {corpus!r}; pass another --cache, or write the"
            f" latter into {file} if you know better"
        )


@contextlib.contextmanager
def _timed(cache: Path, what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    kept = cache / _TIMES
    times = json.loads(kept.read_text()) if kept.exists() else {}
    kept.write_text(json.dumps({**times, what: round(time.monotonic() - began, 1)}))


def _save(tokenizer: Tokenizer, path: Path) -> None:
    """The file appears whole or not at all: a run that is stopped leaves no half of one."""
    unfinished = path.with_suffix(".part")
    tokenizer.save(str(unfinished))
    unfinished.rename(path)


def _stage_1(documents: Iterable[str], cache: Path) -> list[tuple[str, str]]:
    """Learnt once for all sizes: a smaller one is its beginning."""
    kept = cache / "superbpe-stage1.json"
    if not kept.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with _timed(cache, "stage 1"):
            merges = stage_1(documents, 260_000, by_line=False)
        _save(as_tokenizer(merges), kept)
    return merges_of(json.loads(kept.read_text(encoding="utf-8")))


def characters_per_token(tokenizer: Tokenizer, text: str) -> float:
    """Of the text as one: SuperBPE's tokens may cross the end of a line."""
    return len(text) / max(1, len(tokenizer.encode(text, add_special_tokens=False).ids))


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a baseline and keep it.")
    parser.add_argument("name", choices=["superbpe"])
    parser.add_argument("--vocab-size", type=int, nargs="+", required=True)
    parser.add_argument("--cache", type=Path, default=Path("build/baselines"))
    parser.add_argument("--corpus", type=Path, help="en100k of SUPRATOK_DATA, unless said")
    args = parser.parse_args()
    source = located(args.corpus, ENGLISH)
    check_cache(args.cache, mark(identity(source)))
    for size in args.vocab_size:
        began = time.monotonic()
        tokenizer = superbpe(open_corpus(source), size, args.cache)
        print(f"{size:,}: {tokenizer.get_vocab_size():,} tokens, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
