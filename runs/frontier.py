"""Claim: with training aids phrases cost a model about no bits, and save it tokens.

    python runs/frontier.py
    python runs/frontier.py more/rows.jsonl --on "WikiText-103 test"

Bits per character against characters per token, from finished rows of language models (`--rows`,
and files that you name): no model is trained. A row is compared with BPE of the same seed; several
runs of one seed count as their mean. Rows at other budgets, of other sizes and with other aids stay
out, and the picture leaves out tokenizers with a single seed.
"""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import zstandard

from rows import ROOT, Figures, claim, command, options, write_table
from supratok.lab.baselines import BASELINES
from supratok.lab.report.frontier import Place, frontier, mean
from supratok.lab.report.tables import NOTHING, Table

BPE, TESTS = "BPE-Bytes-GPT4o", ("held out", "WikiText-103 test", "BBC", "LAMBADA")
# The price of a phrase, from many phrases to few: one setting of one method. In the picture the
# mark of the default is beside that of price 10, and they have one label.
PRICES = {
    "balanced": "price 1.5 (balanced)", "price 3": "price 3", "price 10": "default, price 10",
    "default": "", "price 30": "price 30",
}  # fmt: skip
ORDER = [
    BPE, "plain", *PRICES, "saving 0.85, not across punctuation", "boundary 5", "balanced, fewest",
    "SuperBPE", "SuperBPE-Early", "SuperBPE-Late",
]  # fmt: skip
_NONE = {"splitting": 0.0, "fading": 0.0, "phrases": "chance"}
_BOTH = {"splitting": 1.0, "fading": 0.4, "phrases": "composed"}
# What the table should have and needs a GPU for.
WANTED = [("plain", False)]  # it has no phrases to aid
WANTED += [(name, aided) for name in ORDER[2:] for aided in (False, True)]
SEEDS = 3


@dataclass
class Measured:
    """The models of one tokenizer with or without aids: for each seed the tests of its runs."""

    seeds: dict[int, list[Figures]] = field(default_factory=lambda: defaultdict(list))

    def bits(self, test: str) -> dict[int, float]:
        """By seed: the mean of its runs, of those that have the test."""
        found = {}
        for seed, runs in sorted(self.seeds.items()):
            if values := [run[test]["bits_per_character"] for run in runs if test in run]:
                found[seed] = mean(values)
        return found

    def density(self, test: str) -> float | None:
        """Characters per token."""
        known = (run[test]["characters_per_token"] for runs in self.seeds.values() for run in runs
                 if test in run)  # fmt: skip
        return next(known, None)


Key = tuple[str, bool]  # tokenizer, with aids


def read_rows(path: Path) -> Iterator[Figures]:
    """The rows of a file, packed or not."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)) as packed:
            data = packed.read()
    yield from map(json.loads, data.decode().splitlines())


def key_of(row: Figures, tokens: int, shape: Sequence[int]) -> Key | None:
    """The tokenizer of a row and whether it has aids; None if it is of another experiment."""
    setting = dict(row["asked"]["setting"])
    plan = setting.pop("plan")
    if plan["tokens"] != tokens or [setting.pop("layers"), setting.pop("width")] != list(shape):
        return None
    setting.pop("context")
    if setting not in (_NONE, _BOTH):
        return None
    return row["asked"]["row"].rsplit(", seed", 1)[0].rpartition(" 50,000")[0], setting == _BOTH


def gathered(paths: Sequence[Path], tokens: int, shape: Sequence[int]) -> dict[Key, Measured]:
    found: dict[Key, Measured] = defaultdict(Measured)
    for path in paths:
        for row in read_rows(path):
            if key := key_of(row, tokens, shape):
                seed = row["asked"]["setting"]["plan"]["seed"]
                found[key].seeds[seed].append(row["figures"]["tests"])
    return found


def over(one: Measured, base: Measured, test: str) -> tuple[float, ...]:
    """How many per cent more bits than BPE of the same seed."""
    own, theirs = one.bits(test), base.bits(test)
    return tuple(100 * (own[seed] / theirs[seed] - 1) for seed in own if seed in theirs)


# --- The table


def cells(one: Measured, base: Measured, test: str) -> list[str]:
    """Characters per token, and bits over BPE: the mean, and the seeds in brackets."""
    density, more = one.density(test), over(one, base, test)
    if density is None:
        return [NOTHING, NOTHING]
    if one is base or not more:
        return [f"{density:.3f}", NOTHING]
    seeds = f" ({', '.join(f'{value:+.2f}' for value in more)})" if len(more) > 1 else ""
    return [f"{density:.3f}", f"{mean(more):+.2f}%{seeds}"]


def lines_of(found: dict[Key, Measured]) -> list[list[str]]:
    base = found[BPE, False]
    lines = []
    for name, aided in sorted(found, key=lambda key: (_place(key[0]), key[1])):
        one = found[name, aided]
        row = [name, "both" if aided else "none", ", ".join(map(str, sorted(one.seeds)))]
        lines.append(row + [cell for test in TESTS for cell in cells(one, base, test)])
    return lines


def _place(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


def missing(found: dict[Key, Measured]) -> list[str]:
    """What needs a GPU: rows that are not there, or with fewer seeds than the others."""
    lacks = []
    for name, aided in WANTED:
        have = len(found[name, aided].seeds) if (name, aided) in found else 0
        if have < SEEDS:
            aids = "both aids" if aided else "no aids"
            lacks.append(f"{name}, {aids}: {have} of {SEEDS} seeds")
    return lacks


def drawn(found: dict[Key, Measured], test: str) -> str:
    base = found[BPE, False]
    places = {}
    for name in sorted({name for name, _ in found} - {BPE}, key=_place):
        plain, aided = (
            over(found[name, kind], base, test) if (name, kind) in found else ()
            for kind in (False, True)
        )  # fmt: skip
        one = found[name, (name, True) in found]
        density = one.density(test)
        if density is not None and max(len(plain), len(aided)) > 1:  # one seed says little
            places[name] = Place(density, plain, aided)
    return frontier(
        places,
        base=Place(base.density(test) or 0.0),
        title=f"Bits per character over BPE, against characters per token: {test}",
        labels=PRICES,
        ours=[name for name in places if name not in BASELINES],
        joined=[name for name in PRICES if name in places and places[name].aided],
    )


def main(arguments: list[str] | None = None) -> None:
    parser = options("Bits per character against characters per token.", "frontier")
    add = parser.add_argument
    add("more", type=Path, nargs="*", help="further files of finished rows")
    add("--rows", type=Path, default=ROOT / "runs/finished", help="folder of finished rows")
    add("--tokens", type=int, default=100_000_000, help="the budget (default: 100,000,000)")
    add("--shape", type=int, nargs=2, default=[12, 768], metavar=("LAYERS", "WIDTH"))
    add("--on", choices=TESTS, default=TESTS[0], help="the text of the picture")
    args = parser.parse_args(arguments)
    paths = [*sorted(args.rows.glob("*.jsonl*")), *args.more]
    found = gathered(paths, args.tokens, args.shape)
    if (BPE, False) not in found:
        raise SystemExit(f"{args.rows}: no row of {BPE} at {args.tokens:,} tokens to compare with")
    args.out.mkdir(parents=True, exist_ok=True)
    head = ["tokenizer", "training aids", "seeds"]
    head += [cell for test in TESTS for cell in (f"{test} C/T", f"{test} bits over BPE")]
    layers, width = args.shape
    notes = [
        f"{layers}L-{width}d, {args.tokens / 1e6:g} M tokens, vocabularies of 50,000; rows of"
        f" {', '.join(path.name for path in paths)}",
        f"bits over BPE: per character, over {BPE} of the same seed; the mean, in brackets the"
        " seeds; seeds of WikiText-103 differ by up to 2%, so single seeds there decide nothing",
        "missing, for want of time on a GPU: " + "; ".join(missing(found)),
        command("frontier", arguments),
    ]
    table = Table("The frontier", claim(__doc__), head, lines_of(found), notes)
    write_table(args.out, table, {"frontier.svg": drawn(found, args.on)})


if __name__ == "__main__":
    main()
