"""Claim: patched by supratok, transformers returns the same for every text, and sooner.

    python runs/patched.py

For each rule, train a tokenizer on the files of train/ml and export it. Then `AutoTokenizer` opens
the folder without the patch and with it, and both encode the first lines of these files in each of
the ways below. `--tokenizer FILE` takes finished tokenizers instead.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from exports import RULES, lines, trained_file
from rows import (
    WIKITEXT,
    Figures,
    Rows,
    claim,
    code,
    command,
    identity,
    located,
    options,
    write_table,
)
from supratok import Tokenizer, patch_transformers, unpatch_transformers
from supratok.common.packages import package
from supratok.lab.report.tables import Table

ROLES = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "add_bos": True, "add_eos": True}
BATCH, TURNS = 1000, 5
PROGRAMS = ("transformers", "tokenizers")
# How a batch is encoded; all at once with the columns that the call asks for.
WAYS: dict[str, Callable[[Any, list[str]], Any]] = {
    "ids": lambda one, texts: one(texts),
    "padding": lambda one, texts: one(texts, padding=True, pad_to_multiple_of=8),
    "truncation": lambda one, texts: one(
        texts, truncation=True, max_length=24, stride=4, padding="max_length",
        return_overflowing_tokens=True, return_offsets_mapping=True,
    ),
    "pairs": lambda one, texts: one(
        texts, texts[::-1], truncation="longest_first", max_length=48, padding=True,
        return_token_type_ids=True, return_special_tokens_mask=True,
    ),
    "offsets": lambda one, texts: one(
        texts, return_offsets_mapping=True, return_special_tokens_mask=True
    ),
    "special tokens": lambda one, texts: one(
        [f"<s>{text[:9]}<mask>{text[9:]}</s> [X]" for text in texts], return_offsets_mapping=True
    ),
    "as text": lambda one, texts: one(
        [f"<s>{text}</s>" for text in texts], split_special_tokens=True, add_special_tokens=False
    ),
    "words": lambda one, texts: one(
        [text.split(" ") for text in texts], is_split_into_words=True, return_offsets_mapping=True
    ),
}  # fmt: skip
COLUMNS = ("tokens", "word_ids", "sequence_ids")
HEAD = [
    "rule", "vocabulary", "lines", *WAYS, "by line", "patched", "document", "patched",
]  # fmt: skip


def opened(folder: Path, patched: bool) -> Any:
    """As `AutoTokenizer` opens the folder, with two tokens added."""
    (patch_transformers if patched else unpatch_transformers)()
    tokenizer = package("transformers", "verify").AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["[X]"])
    tokenizer.add_special_tokens({"mask_token": "<mask>"})
    return tokenizer


def batches(texts: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(itertools.islice(texts, BATCH)):
        yield batch


def differing(plain: Any, patched: Any) -> int:
    """How many encodings of a batch differ in anything; of the first ten, columns that no call
    returns are compared too."""
    if plain.keys() != patched.keys() or len(plain["input_ids"]) != len(patched["input_ids"]):
        return len(plain["input_ids"])
    rows = [zip(*(batch[name] for name in plain), strict=True) for batch in (plain, patched)]
    wrong = {number for number, (a, b) in enumerate(zip(*rows, strict=True)) if a != b}
    for number in range(min(10, len(plain["input_ids"]))):
        a, b = plain.encodings[number], patched.encodings[number]
        if any(getattr(a, name) != getattr(b, name) for name in COLUMNS):
            wrong.add(number)
    return len(wrong)


def speed(tokenizers: dict[str, Any], texts: Any, size: int) -> dict[str, float]:
    """Megabytes a second of both, in turns; the best of each."""
    best = dict.fromkeys(tokenizers, float("inf"))
    for _, (name, tokenizer) in itertools.product(range(TURNS), tokenizers.items()):
        began = time.perf_counter()
        tokenizer(texts)
        best[name] = min(best[name], time.perf_counter() - began)
    return {name: size / seconds / 1e6 for name, seconds in best.items()}


def measure(folder: Path, files: list[Path], each: int, document: Path) -> Figures:
    both = {"plain": opened(folder, False), "patched": opened(folder, True)}
    different, count, size = dict.fromkeys(WAYS, 0), 0, 0
    for batch in batches(lines(files, each)):
        for name, way in WAYS.items():
            different[name] += differing(*(way(one, batch) for one in both.values()))
        count, size = count + len(batch), size + sum(len(text.encode()) for text in batch)
    some = list(lines(files, max(1, BATCH // len(files))))
    text = document.read_text("utf-8")[:1_000_000]
    figures = {
        "versions": [
            package(name, "verify").__version__ for name in ("transformers", "tokenizers")
        ],
        "lines": count,
        "bytes": size,
        "different": different,
        "by_line": speed(both, some, sum(len(one.encode()) for one in some)),
        "by_document": speed(both, text, len(text.encode())),
    }
    unpatch_transformers()
    return figures


def table_line(tokenizer: Tokenizer, figures: Figures) -> list[str]:
    speeds = [figures[kind] for kind in ("by_line", "by_document")]
    return [
        tokenizer.recipe.segmentation,
        f"{tokenizer.vocab_size:,}",
        f"{figures['lines']:,}",
        *(f"{figures['different'][name]:,}" for name in WAYS),
        *(f"{value[who]:.2f}" for value in speeds for who in ("plain", "patched")),
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = options("transformers with the patch and without it.", "patched", 100_000)
    parser.add_argument("--only", nargs="+", choices=RULES, default=RULES, metavar="RULE")
    parser.add_argument("--lines", type=int, default=12_500, help="of each file (default: 12,500)")
    parser.add_argument(
        "--tokenizer", type=Path, nargs="+", help="finished ones, not to be trained"
    )
    args = parser.parse_args(arguments)
    corpora = sorted(located(args.corpus, "train/ml").glob("*.jsonl.zst"))
    document = located(args.test, WIKITEXT)
    rows, cells, versions = Rows(args.out, args.again), [], ""
    for path in args.tokenizer or [trained_file(args, rule, corpora) for rule in args.only]:
        asked = {
            "row": path.stem,
            "tokenizer": identity(path),
            "files": [identity(file) for file in (*corpora, document)],
            "lines": args.lines,
            "ways": list(WAYS),
            "program": code(("runtimes",)),
        }
        tokenizer, folder = Tokenizer.load(path), args.out / path.stem
        if not folder.exists():
            tokenizer.export(folder, ["huggingface"], **ROLES)
        compute = functools.partial(measure, folder, corpora, args.lines, document)
        figures = rows.get(asked, compute)
        cells.append(table_line(tokenizer, figures))
        versions = "transformers {}, tokenizers {}".format(*figures["versions"])
    notes = [
        f"the first {args.lines:,} lines of each of {len(corpora)} files; the columns name how they"
        " are encoded, and count those that differ in anything",
        f"{versions}; speed in MB/s, unpatched and patched in turns, the best of {TURNS}: lines by"
        f" {BATCH:,}, and one document of 1 MB",
        rows.about(),
        command("patched", arguments),
    ]
    write_table(args.out, Table("transformers, patched", claim(__doc__), HEAD, cells, notes))


if __name__ == "__main__":
    main()
