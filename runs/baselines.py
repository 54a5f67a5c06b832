"""The two baselines of this folder, on stock `tokenizers`: BPE-Standard and SuperBPE (Appendix C).

    python runs/baselines.py superbpe --vocab-size 100000 --cache build/baselines

SuperBPE is trained as its authors do, in two stages: BPE inside the pieces of a stage-1 pattern;
then BPE goes on from those tokens over text that is cut by the stage-2 pattern alone. Stock
`tokenizers` cannot go on from given merges, so in stage 2 each stage-1 token is a character of
its own. The authors' cap of four words and their rule for colons are not in the stock trainer and
are left out, which only helps SuperBPE's compression.

A result is kept under --cache, a folder for one corpus, and not computed again. Stage 2 takes
minutes and a few GB at 237 MB.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from rows import ENGLISH, identity, located
from supratok.corpus import open_corpus

TRANSITION = 0.78125  # Appendix C: the share of merges inherited from stage 1
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
STAGE_1 = (  # the authors' settings: GPT-4o's pattern without contractions
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
STAGE_2 = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
_FIRST = 0x20000  # the character of stage-1 token 0
_TIMES = "times.json"


def bpe_standard(documents: Iterable[str], vocab_size: int) -> Tokenizer:
    """Appendix C: whitespace is thrown away, so this one is not lossless."""
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=["[UNK]"],
        end_of_word_suffix="</w>",
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    return tokenizer


def superbpe(documents: Iterable[str], vocab_size: int, cache: Path) -> Tokenizer:
    """Both stages; `documents` are read once for each."""
    kept = cache / f"superbpe-{vocab_size}.json"
    if not kept.exists():
        merges = _stage_1(documents, cache)[: int(vocab_size * TRANSITION)]
        with _timed(cache, str(vocab_size)):
            merges = _stage_2(documents, merges, vocab_size)
        _save(_byte_level(merges, STAGE_2), kept)
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
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = _splitter(STAGE_1)
        trainer = trainers.BpeTrainer(
            vocab_size=260_000,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        cache.mkdir(parents=True, exist_ok=True)
        with _timed(cache, "stage 1"):
            tokenizer.train_from_iterator(documents, trainer)
        _save(tokenizer, kept)
    return _merges(kept.read_text(encoding="utf-8"))


def _stage_2(
    documents: Iterable[str], merges: list[tuple[str, str]], vocab_size: int
) -> list[tuple[str, str]]:
    stage_1 = _byte_level(merges, STAGE_2)
    vocabulary = stage_1.get_vocab()
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Split("\n", "removed")
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        initial_alphabet=[chr(_FIRST + id) for id in vocabulary.values()],
        limit_alphabet=len(vocabulary),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_as_characters(documents, stage_1), trainer)
    text_of = {chr(_FIRST + id): text for text, id in vocabulary.items()}
    learnt = [
        ("".join(map(text_of.__getitem__, left)), "".join(map(text_of.__getitem__, right)))
        for left, right in _merges(tokenizer.to_str())
    ]
    return merges + learnt


def _as_characters(documents: Iterable[str], stage_1: Tokenizer) -> Iterator[str]:
    """Each document with its stage-1 tokens as characters, a line for each piece of stage 2."""
    batch: list[str] = []
    for text in documents:
        batch.append(text)
        if len(batch) == 2000:
            yield from map(_line, stage_1.encode_batch(batch))
            batch.clear()
    yield from map(_line, stage_1.encode_batch(batch))


def _line(encoding: Any) -> str:
    parts: list[str] = []
    last = None
    for id, piece in zip(encoding.ids, encoding.word_ids, strict=True):
        if last is not None and piece != last:
            parts.append("\n")
        parts.append(chr(_FIRST + id))
        last = piece
    return "".join(parts)


def _splitter(pattern: str) -> pre_tokenizers.Sequence:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def _byte_level(merges: list[tuple[str, str]], pattern: str) -> Tokenizer:
    vocabulary = {byte: id for id, byte in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    for left, right in merges:
        vocabulary.setdefault(left + right, len(vocabulary))
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = _splitter(pattern)
    return tokenizer


def _merges(model: str) -> list[tuple[str, str]]:
    """Of a tokenizer.json: a pair is a list, or in older ones a string with a space."""
    pairs = json.loads(model)["model"]["merges"]
    return [tuple(pair if isinstance(pair, list) else pair.split(" ")) for pair in pairs]


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
