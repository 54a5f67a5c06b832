"""Claim: `dense` is within a few per cent of the best vocabulary that its rules allow.

    python runs/bound.py
    python runs/bound.py --samples 250000 --every 2400 600
    python runs/bound.py --samples 16000000 --every 2400 --whole --only dense balanced --no-any

Trains on a sample of the corpus and measures on the same sample, beside a lower bound on the tokens
that any vocabulary of as many learnt tokens takes there (`supratok.lab.measure.bound`). There are
four bounds, by which strings may be tokens: any string, those that the rules of `dense` allow,
those inside our words, those inside the pieces of GPT-4o's pattern. Each tokenizer stands beside
the bound of its own kind. A bound holds for the sample alone: it says nothing about other text.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rows import (
    ENGLISH,
    Figures,
    Rows,
    claim,
    command,
    first_documents,
    identity,
    located,
    options,
    write_table,
)
from supratok import Recipe, train
from supratok.common import _core
from supratok.common.files import write_whole
from supratok.corpus import open_corpus
from supratok.corpus.batches import batches
from supratok.corpus.split import digest, is_held_out
from supratok.formats.patterns import O200K
from supratok.lab.baselines import Documents, trained
from supratok.lab.baselines.stock import splitter
from supratok.lab.measure.bound import Bound, lower_bound
from supratok.lab.measure.counts import count
from supratok.lab.measure.spans import Text, find_spans
from supratok.lab.report.tables import NOTHING, Table
from supratok.tokenizer import BYTES, usable_threads

DENSE, BALANCED = "dense", "balanced"
PLAIN, SUPER, BPE = "BPE inside our words", "SuperBPE", "BPE-Bytes-GPT4o"
ANY, RULES, WORDS, PIECES = "any string", "the rules of dense", "inside our words", "inside pieces"
# Each tokenizer, and the bound of its kind.
KINDS = {DENSE: RULES, BALANCED: RULES, SUPER: ANY, PLAIN: WORDS, BPE: PIECES}
LONGEST_DOCUMENT = 20_000  # so that no document is a large part of a sample
HEAD = [
    "sample", "learnt tokens", "bytes a token", "tokenizer", "C/T", "strings of the bound",
    "C/T at most", "tokens over the bound", "C/T at most, any string",
]  # fmt: skip


class Sample:
    """The first ASCII documents of a corpus, up to so many bytes. In ASCII a byte is a character,
    so all tokenizers have the same single characters."""

    def __init__(self, corpus: Path, size: int, folder: Path) -> None:
        self.documents = list(_first(corpus, size))
        self.learnt = [text for text in self.documents if not is_held_out(digest(text))]
        self.alphabet = len(set("".join(self.learnt)))
        self.size = sum(map(len, self.learnt))
        self.name = f"{size / 1e6:g} MB"
        self.file, self.learnt_file = folder / f"{size}.jsonl", folder / f"{size}-learnt.jsonl"
        for path, texts in ((self.file, self.documents), (self.learnt_file, self.learnt)):
            write_whole(path, "".join(json.dumps({"text": text}) + "\n" for text in texts))

    def text(self, kind: str) -> Text:
        """The text of a bound."""
        if kind == ANY:
            return Text.of(self.learnt)
        if kind == RULES:
            return Text.within(self.learnt, Recipe.dense().boundaries)
        if kind == WORDS:
            return Text.of(Counter(w for t in self.learnt for w in _core.split_words(t, True)))
        cut = splitter(O200K).pre_tokenize_str
        places = ((text, *place) for text in self.learnt for _, place in cut(text))
        return Text.of(Counter(text[start:end] for text, start, end in places))


def _first(corpus: Path, size: int) -> Iterator[str]:
    for text in open_corpus(corpus):
        if size <= 0:
            return
        if text.isascii() and len(text) <= LONGEST_DOCUMENT:
            size -= len(text)
            yield text


class Whole:
    """The whole corpus as words and their counts: what is inside words repeats, so the bound of
    BPE takes no sample. The characters of all scripts are in the alphabet."""

    def __init__(self, corpus: Path, threads: int | None) -> None:
        self.corpus, self.threads = corpus, usable_threads(threads)

    def learnt(self) -> Iterator[str]:
        return (text for text in open_corpus(self.corpus) if not is_held_out(digest(text)))

    @functools.cached_property
    def words(self) -> dict[str, int]:
        table = _core.WordTable(1)
        for batch in batches(self.learnt()):
            table.count(batch, self.threads)
        texts, counts = table.rows()
        return dict(zip(texts, counts.tolist(), strict=True))

    def figures(self, tokens: int, rounds: int) -> Figures:
        """The bound, and the tokens of BPE inside our words."""
        text = Text.of(self.words)
        bound = bound_of(text, tokens, rounds)
        alphabet = len(set("".join(self.words)) - {"\0"})
        recipe = Recipe(
            vocab_size=BYTES + alphabet + tokens, crossover=1.0, character_coverage=1.0
        )  # fmt: skip
        tokenizer = train(self.corpus, recipe, self.threads, progress=False)
        used = sum(
            int(tokenizer.usage(batch, self.threads).sum()) for batch in batches(self.learnt())
        )
        return {**_facts(bound), "size": text.size, "words": len(self.words), "used": used,
                "learnt": tokenizer.vocab_size - BYTES - alphabet}  # fmt: skip


def whole_line(whole: Whole, tokens: int, rows: Rows, rounds: int) -> list[str]:
    found = rows.get(
        {"row": f"whole corpus, {tokens:,}", "corpus": identity(whole.corpus), "rounds": rounds},
        lambda: whole.figures(tokens, rounds),
    )
    return [
        f"{found['size'] / 1e6:.0f} MB, all", f"{tokens:,}", f"{found['size'] // tokens:,}",
        PLAIN + _short(found, tokens), f"{found['size'] / found['used']:.3f}", WORDS,
        f"{found['size'] / found['tokens']:.3f}", f"{found['used'] / found['tokens'] - 1:+.1%}",
        NOTHING,
    ]  # fmt: skip


def _short(found: Figures, tokens: int) -> str:
    return "" if found["learnt"] == tokens else f" ({found['learnt']:,} learnt)"


# --- Rows


def bound_of(text: Text, tokens: int, rounds: int) -> Bound:
    """The bound. Strings that save too little to be in the vocabulary are left out; if the first
    guess of how little was too high, again with more strings. (A margin close to the guess comes
    from the guess: on 1 MB with a token for 600 bytes such a bound was 0.9% too low.)"""
    least = text.size // tokens // 30
    while True:
        found = lower_bound(find_spans(text, least), tokens, rounds)
        if found.margin > 1.1 * least or least == 0:
            return found
        least //= 2


def recipe_of(name: str, sample: Sample, tokens: int) -> Recipe:
    """A recipe of ours, with all characters in the alphabet and so many learnt tokens."""
    size = BYTES + sample.alphabet + tokens
    base = {
        DENSE: Recipe.dense(size), BALANCED: Recipe.balanced(size),
        PLAIN: Recipe(vocab_size=size, crossover=1.0),
    }  # fmt: skip
    return replace(base[name], character_coverage=1.0)


def tokens_of(name: str, sample: Sample, tokens: int, args: argparse.Namespace) -> Figures:
    """Train a tokenizer on the sample; its tokens on what it learnt from."""
    if name in (SUPER, BPE):
        peer = trained(name, Documents(sample.learnt_file), BYTES + tokens, args.out / "baselines")
        counts = count(peer, sample.learnt, args.threads)
        return {"tokens": int(counts.tokens.sum()), "learnt": counts.vocab_size - BYTES}
    recipe = recipe_of(name, sample, tokens)
    tokenizer = train(sample.file, recipe, args.threads, progress=False)
    used = int(tokenizer.usage(sample.learnt, args.threads).sum())
    return {"tokens": used, "learnt": tokenizer.vocab_size - BYTES - sample.alphabet}


def lines_of(sample: Sample, every: int, rows: Rows, args: argparse.Namespace) -> list[list[str]]:
    """The lines of one sample and one number of tokens: one for each tokenizer."""
    tokens = sample.size // every
    asked = {"corpus": identity(located(args.corpus, ENGLISH)), "sample": sample.name,
             "tokens": tokens}  # fmt: skip
    bounds = {
        kind: rows.get(
            {**asked, "row": f"bound, {kind}, {sample.name}, {tokens:,}", "rounds": args.rounds},
            lambda kind=kind: _facts(bound_of(sample.text(kind), tokens, args.rounds)),  # type: ignore[misc]
        )["tokens"]
        for kind in dict.fromkeys([*(KINDS[name] for name in args.only), *([ANY] * args.any)])
    }
    lines = []
    for name in args.only:
        kind = KINDS[name]
        found = rows.get(
            {**asked, "row": f"{name}, {sample.name}, {tokens:,}"},
            lambda name=name: tokens_of(name, sample, tokens, args),  # type: ignore[misc]
        )
        lines.append([
            sample.name, f"{tokens:,}", f"{every:,}", name + _short(found, tokens),
            f"{sample.size / found['tokens']:.3f}", kind, f"{sample.size / bounds[kind]:.3f}",
            f"{found['tokens'] / bounds[kind] - 1:+.1%}",
            f"{sample.size / bounds[ANY]:.3f}" if ANY in bounds else NOTHING,
        ])  # fmt: skip
    return lines


def _facts(found: Bound) -> Figures:
    return {"tokens": found.tokens, "margin": found.margin}


def main(arguments: list[str] | None = None) -> None:
    parser = options("How far a vocabulary is from the best possible.", "bound")
    add = parser.add_argument
    add("--samples", type=int, nargs="*", default=[250_000, 1_000_000, 4_000_000], metavar="BYTES")
    add("--every", type=int, nargs="+", default=[2_400, 600, 150], metavar="BYTES",
        help="a learnt token for so many bytes (100,000 on 238 MB: 2,400)")  # fmt: skip
    add("--only", nargs="+", choices=KINDS, default=list(KINDS), metavar="ROW",
        help=f"of {', '.join(KINDS)}")  # fmt: skip
    add("--no-any", dest="any", action="store_false", help="no bound for any string, if no row"
        " needs it: the longest part of a large sample")  # fmt: skip
    add("--whole", type=int, nargs="*", default=[32_000, 128_000], metavar="TOKENS",
        help="also all words of the corpus, or of --documents, for so many tokens")  # fmt: skip
    add("--rounds", type=int, default=400, help="of the search for a bound (default: 400)")
    args = parser.parse_args(arguments)
    corpus, rows = located(args.corpus, ENGLISH), Rows(args.out, args.again)
    samples = [Sample(corpus, size, args.out) for size in args.samples]
    lines = [
        line
        for sample in samples
        for every in args.every
        for line in lines_of(sample, every, rows, args)
    ]
    whole = Whole(first_documents(corpus, args.documents, args.out), args.threads)
    lines += [whole_line(whole, tokens, rows, args.rounds) for tokens in args.whole]
    notes = [
        f"samples: the first ASCII documents of {corpus.name} (SHA-256 {identity(corpus)[:12]}), of"
        f" at most {LONGEST_DOCUMENT:,} characters, less those that training holds out:"
        f" {', '.join(f'{s.name}: {s.size:,} characters' for s in samples)}",
        "C/T: characters per token on the text that was learnt from, so larger than on other text;"
        " bytes and characters of the alphabet do not count as learnt tokens",
        "tokens over the bound: how many more than the least that is possible, at most; the bound"
        " is that of a linear relaxation, so the true distance may be smaller",
        rows.about(),
        command("bound", arguments),
    ]
    table = Table("How far is the end?", claim(__doc__), HEAD, lines, notes, grouped=True)
    write_table(args.out, table)


if __name__ == "__main__":
    main()
