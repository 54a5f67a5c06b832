"""Claim: no id differs from the plain rule, nor from the encoder of another commit.

    python runs/ids.py --before /path/to/other/environment/bin/python

Random and adversarial vocabularies (`made_up.py`), both rules, about a hundred texts each. Every
text is encoded alone, then again in a batch to arrays, counted, and here and there on several
threads at once. The plain rule is written here once more, faster than in `supratok.reference`,
which checks it on one text of each vocabulary. `--before` names the Python of an environment with
another supratok. The number of a vocabulary decides it and its texts, whatever the processes.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import json
import random
import subprocess
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from made_up import FAMILIES, OUTSIDE, Vocabulary, made_texts, made_vocabulary, settled
from rows import Figures, Rows, claim, code, command, identity, options, write_table
from supratok.common import _core
from supratok.lab.report.tables import Table
from supratok.reference.merges import encode_by_fewest, encode_by_merges

HEAD = [
    "vocabularies", "rule", "number", "entries", "strings", "bytes", "ids", "differ from the rule",
    "differ from before", "differ as arrays, in batches, on threads",
]  # fmt: skip
RULES = ("merges", "fewest")
NEVER = 1 << 30
SCRIPTS = (Path(__file__), Path(__file__).with_name("made_up.py"))
ANSWERS = """
import json, sys
try:
    from supratok.common import _core
except ImportError:
    from supratok import _core
for line in sys.stdin:
    given, texts = json.loads(line)
    core = _core.Encoder(**given)
    print(json.dumps([core.encode(text) for text in texts]), flush=True)
"""


# --- The rules


class Plain:
    """Both rules over characters, in Python."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.ranks = vocabulary.ranks()
        known = set(vocabulary.alphabet)
        # A character outside the alphabet never joins.
        self.joins = {entry: rank for entry, rank in self.ranks.items() if known.issuperset(entry)}
        self.sizes: dict[str, list[int]] = {}  # of the entries by their last two characters
        for entry in sorted(self.ranks, key=len, reverse=True):
            if len(entry) not in (sizes := self.sizes.setdefault(entry[-2:], [])):
                sizes.append(len(entry))
        first = vocabulary.first_id
        numbers = vocabulary.ids or range(first, first + 256 + len(self.ranks))
        self.ids = dict(zip(self.ranks, ([id] for id in numbers[256:]), strict=True))
        self.bytes = numbers[:256]

    def numbered(self, pieces: list[str]) -> list[int]:
        found = self.ids.get
        ids = [found(piece) or [self.bytes[b] for b in piece.encode()] for piece in pieces]
        return list(itertools.chain.from_iterable(ids))

    def merges(self, text: str) -> list[str]:
        """Join the lowest rank, leftmost first."""
        if len(text) > 300:
            return self.long_merges(text)
        rank, pieces = self.joins.get, list(text)
        ranks = [rank(left + right, NEVER) for left, right in itertools.pairwise(pieces)]
        while ranks and (lowest := min(ranks)) != NEVER:
            at = ranks.index(lowest)
            pieces[at] += pieces.pop(at + 1)
            del ranks[at]
            if at:
                ranks[at - 1] = rank(pieces[at - 1] + pieces[at], NEVER)
            if at < len(ranks):
                ranks[at] = rank(pieces[at] + pieces[at + 1], NEVER)
        return pieces

    def long_merges(self, text: str) -> list[str]:
        """The same with a heap of joins, some of which are stale when they come up."""
        rank, pieces = self.joins.get, list(text)
        after, before = list(range(1, len(text) + 1)), list(range(-1, len(text) - 1))
        heap = [
            (found, place, pieces[place] + pieces[place + 1])
            for place in range(len(text) - 1)
            if (found := rank(pieces[place] + pieces[place + 1])) is not None
        ]
        heapq.heapify(heap)
        while heap:
            _, place, joined = heapq.heappop(heap)
            right = after[place]
            if right == len(text) or not pieces[place] or pieces[place] + pieces[right] != joined:
                continue
            pieces[place], pieces[right] = joined, ""
            after[place] = end = after[right]
            if end < len(text):
                before[end] = place
            for left, next_ in ((before[place], place), (place, end)):
                if left < 0 or next_ == len(text):
                    continue
                joined = pieces[left] + pieces[next_]
                if (found := rank(joined)) is not None:
                    heapq.heappush(heap, (found, left, joined))
        return [piece for piece in pieces if piece]

    def fewest(self, text: str) -> list[str]:
        """The fewest tokens; of equals, at each end the longest last token."""
        entries, least, starts = self.ranks, [0], [0]
        for end, char in enumerate(text, start=1):
            best, start = least[-1] + (1 if char in entries else len(char.encode())), end - 1
            for size in reversed(self.sizes.get(text[max(0, end - 2) : end], ())):
                # The longest comes last, and wins where it is as good.
                if size <= end and least[-size] < best and text[end - size : end] in entries:
                    best, start = least[-size] + 1, end - size
            least.append(best)
            starts.append(start)
        pieces, end = [], len(text)
        while end:
            pieces.append(text[starts[end] : end])
            end = starts[end]
        return pieces[::-1]

    def by_reference(self, text: str, rule: str) -> list[str]:
        if rule == "merges":
            return encode_by_merges(text, self.ranks)
        return encode_by_fewest(text, set(self.ranks))


# --- Checking


@functools.cache
def other(python: str) -> subprocess.Popen[str]:
    """A process of the other environment, which answers lines of JSON."""
    command = [python, "-I", "-c", ANSWERS]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ids_before(python: str, given: dict[str, Any], texts: list[str]) -> list[list[int]]:
    process = other(python)
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps([given, texts]) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise SystemExit(f"{python}: the other encoder failed on {given!r}")
    found: list[list[int]] = json.loads(answer)
    return found


def forms_differ(core: _core.Encoder, texts: list[str], ids: list[list[int]], hard: bool) -> int:
    """How many texts get other ids from a warm encoder as arrays, in a batch, when counted, or,
    with `hard`, as long texts on four threads at once."""
    arrays = core.encode_batch(texts[::-1], 2, arrays=True)
    wrong: int = sum(
        np.asarray(array).tolist() != one or core.count(text) != len(one)
        for text, array, one in zip(texts, reversed(arrays), ids, strict=True)
    )
    if hard:
        size = 9 + 5000 // (1 + sum(map(len, texts)) // len(texts))  # texts in a long one
        long = ["".join(texts[i : i + size]) for i in range(0, len(texts), size)] * 40
        with ThreadPoolExecutor(4) as pool:
            alone = [array.tolist() for array in pool.map(core.encode_array, long)]
        wrong += sum(a != b for a, b in zip(alone, core.encode_batch(long, 4, False), strict=True))
        wrong += sum(a != core.encode(text) for text, a in zip(long, alone, strict=True))
    return wrong


def check(
    number: int, rules: list[str], texts: int, before: str | None
) -> tuple[str, dict[str, Counter[str]]]:
    """The family of a vocabulary, and by rule what was compared."""
    found: dict[str, Counter[str]] = {}
    for rule in rules:
        rng = random.Random(number)
        raw = made_vocabulary(rng, number)
        vocabulary = settled(raw, rule, rng)
        given = vocabulary.arguments(fewest=rule == "fewest")
        core = _core.Encoder(**given)
        strings, plain = made_texts(rng, vocabulary, texts, number), Plain(vocabulary)
        ids = [core.encode(text) for text in strings]
        cut = plain.merges if rule == "merges" else plain.fewest
        expected = [plain.numbered(cut(text)) for text in strings]
        short = next(text for text in strings if len(text) < 200)
        if cut(short) != plain.by_reference(short, rule):
            raise SystemExit(f"vocabulary {number}: runs/ids.py has the rule {rule} wrong")
        theirs = ids_before(before, given, strings) if before else ids
        found[rule] = Counter({
            "number": 1, "entries": len(vocabulary.ranks()), "strings": len(strings),
            "bytes": sum(len(text.encode()) for text in strings), "ids": sum(map(len, ids)),
            "rule": sum(a != b for a, b in zip(ids, expected, strict=True)),
            "before": sum(a != b for a, b in zip(ids, theirs, strict=True)),
            "forms": forms_differ(core, strings, ids, hard=number % 100 == 0),
        })  # fmt: skip
    return raw.family, found


def check_all(numbers: range, rules: list[str], texts: int, before: str | None) -> Figures:
    """What `check` finds, summed by family and rule; the numbers of vocabularies that differ."""
    sums = {
        f"{family} | {rule}": Counter[str]() for family in (*FAMILIES, OUTSIDE) for rule in RULES
    }
    differ = []
    for number in numbers:
        family, found = check(number, rules, texts, before)
        for rule, counts in found.items():
            sums[f"{family} | {rule}"] += counts
            if counts["rule"] or counts["before"] or counts["forms"]:
                differ.append(f"{number} {rule}")
    return {"sums": {name: dict(counts) for name, counts in sums.items()}, "differ": differ}


def shared(
    pool: ProcessPoolExecutor, numbers: range, rules: list[str], texts: int, before: str | None
) -> Figures:
    """The same by the processes of a pool."""
    jobs = [pool.submit(check_all, numbers[i::8], rules, texts, before) for i in range(8)]
    found = [job.result() for job in jobs]
    sums = {name: Counter[str]() for name in found[0]["sums"]}
    for name in sums:
        for one in found:
            sums[name] += Counter(one["sums"][name])
    return {"sums": sums, "differ": [name for one in found for name in one["differ"]]}


def main(arguments: list[str] | None = None) -> None:
    parser = options("Ids beside the plain rule and another commit.", "ids")
    add = parser.add_argument
    add("--vocabularies", type=int, default=100_000, help="how many (default: 100,000)")
    add("--texts", type=int, default=100, help="texts of each and each rule (default: 100)")
    add("--rules", nargs="+", choices=RULES, default=list(RULES), help="default: both")
    add("--portion", type=int, default=1000, help="vocabularies of a row (default: 1000)")
    add("--processes", type=int, default=2, help="default: 2")
    add("--before", type=Path, metavar="PYTHON", help="an environment with another supratok")
    args = parser.parse_args(arguments)
    rows = Rows(args.out, args.again)
    before = str(args.before) if args.before else None
    total: dict[str, Counter[str]] = {}
    differ: list[str] = []
    with ProcessPoolExecutor(args.processes, mp_context=get_context("spawn")) as pool:
        for first in range(0, args.vocabularies, args.portion):
            numbers = range(first, min(first + args.portion, args.vocabularies))
            asked = {
                "row": f"vocabularies {first} to {numbers[-1]}",
                "rules": args.rules,
                "texts": args.texts,
                "before": before,
                "program": [code(("reference",)), *map(identity, SCRIPTS)],
            }
            figures = rows.get(
                asked, functools.partial(shared, pool, numbers, args.rules, args.texts, before)
            )
            differ += figures["differ"]
            for name, counts in figures["sums"].items():
                total.setdefault(name, Counter()).update(counts)
    notes = [
        f"vocabularies that differ: {', '.join(differ[:20]) or 'none'}",
        f"before: {before or 'not compared'}",
        rows.about(),
        command("ids", arguments),
    ]
    lines = [line_of(name, counts, before) for name, counts in total.items() if counts["number"]]
    write_table(args.out, Table("Ids that differ", claim(__doc__), HEAD, lines, notes))


def line_of(name: str, counts: Counter[str], before: str | None) -> list[str]:
    keys = ("number", "entries", "strings", "bytes", "ids", "rule", "before", "forms")
    cells = [f"{counts[key]:,}" for key in keys]
    cells[6] = cells[6] if before else "-"
    return [*name.split(" | "), *cells]


if __name__ == "__main__":
    main()
