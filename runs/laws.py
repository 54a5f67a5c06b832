"""Claim: the laws of docs/boundaries.md hold: no violation in a million cases, both rules.

    python runs/laws.py

Random vocabularies of a few tokens (the families of `made_up.py`), some with ids of any order, with
ties, with tokens that hold characters outside the alphabet. A case is one law on one text: what the
core says, against `supratok.reference.boundaries`, which tries every continuation that is shorter
than the longest token. Encoding itself is compared with the plain rules by ids.py.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from made_up import FAMILIES, LETTERS, OTHERS
from rows import Figures, Rows, claim, code, command, identity, options, write_table
from supratok import Recipe, Token, Tokenizer
from supratok.common import _core
from supratok.lab.report.tables import Table
from supratok.reference import boundaries as plain
from supratok.reference.words import split_words
from supratok.tokenizer import Cover
from supratok.tokenizer.ids import Layout

RULES = ("merges", "fewest")
LONGEST = 4  # characters of a token: a text of a few has some hundred continuations
TEXTS = 8  # of each vocabulary and rule
SCRIPTS = (Path(__file__), Path(__file__).with_name("made_up.py"))


class Case:
    """A tokenizer, a text, and continuations that show everything."""

    def __init__(self, rng: random.Random, one: Tokenizer, chars: str, text: str) -> None:
        self.rng, self.one, self.chars, self.text = rng, one, chars, text
        self.ids = one.encode(text)
        self.ordinary = [*one._ids.bytes, *one._ids.entries]
        data = {id: one.decode_bytes([id]) for id in one.ids}
        self.rule = plain.Rule(one.encode, data.__getitem__, list(one._ids.bytes))
        self.with_special = self.rule._replace(
            encode=functools.partial(one.encode, allow_special=True)
        )
        inside = {*"".join(one.texts)}
        self.after = plain.continuations(
            "".join(sorted(inside)) + next(char for char in chars if char not in inside),
            max(map(len, one.texts)) - 1,
        )

    def some_text(self) -> str:
        return "".join(self.rng.choices(self.chars, k=self.rng.randint(0, 8)))


# --- The laws: whether each holds


def stable(case: Case) -> bool:
    ids, rest = case.one.stable(case.text)
    return ids == plain.stable(case.rule, case.text, case.after) and (
        case.one.decode(ids) + rest == case.text
    )


def one_cover(case: Case) -> bool:
    """The covers are those of all continuations, and so are their next ids."""
    found = case.one.covers(case.text)
    expected = plain.covers(case.rule, case.text, case.after)
    if [(tuple(ids), rest) for ids, rest in found] != list(expected):
        return False
    next_ids = [set(case.one.may_come(cover).tolist()) for cover in found]
    first, *others = expected.values()
    return first <= next_ids[0] and next_ids[1:] == others


def long_continuations(case: Case) -> bool:
    covers = {(tuple(ids), rest) for ids, rest in case.one.covers(case.text)}
    cover, id = plain.cover_of(case.rule, case.text, case.some_text() + case.some_text())
    return cover in covers and (
        id is None or id in case.one.may_come(Cover(list(cover[0]), cover[1]))
    )


def patches(case: Case) -> bool:
    return patched(case, case.text + case.some_text(), allow_special=False)


def patched(case: Case, text: str, allow_special: bool) -> bool:
    stream, ids = case.one.encode_stream(allow_special=allow_special), list[int]()
    cuts = sorted(case.rng.choices(range(len(text) + 1), k=case.rng.randint(0, 8)))
    for start, end in itertools.pairwise([0, *cuts, len(text)]):
        keep, fresh = stream.append(text[start:end])
        if keep > len(ids):
            return False
        ids[keep:] = fresh
        if ids != case.one.encode(text[:end], allow_special=allow_special):
            return False
    return ids == stream.ids


def canonical(case: Case) -> bool:
    """Encodings side by side, and with ids changed."""
    return judged(case, case.rule, case.ids + case.one.encode(case.some_text()))


def judged(case: Case, rule: plain.Rule, ids: list[int]) -> bool:
    for _ in range(case.rng.randint(0, 2)):
        at = case.rng.randint(0, len(ids))
        ids[at : at + case.rng.randint(0, 1)] = [case.rng.choice(case.ordinary)]
    return case.one.is_canonical(ids) == plain.is_canonical(rule, ids) and (
        case.one.canonical_prefix(ids) == plain.canonical_prefix(rule, ids)
    )


def next_ids(case: Case) -> bool:
    """All tokens and some bytes, maybe behind a part of a character."""
    char = next(iter({*case.chars} - {*"".join(case.one.texts)}))
    part = char.encode()[: case.rng.choice([0, 0, 1, 2, 3])]
    part = part if len(part) < len(char.encode()) else b""
    ids = case.ids + [case.rule.bytes[byte] for byte in part]
    some = [*case.one.entry_ids, *case.rng.sample(case.rule.bytes, 8)]
    some += [case.rule.bytes[byte] for byte in char.encode()]
    mask = case.one.next_mask(ids)
    return all(mask[id] == plain.may_come_next(case.rule, ids, id) for id in some)


def pairs(case: Case) -> bool:
    more = case.some_text()
    return case.one.encode_pair(case.text, more) == plain.pair(case.rule, case.text, more)


def pieces(case: Case) -> bool:
    most = case.rng.randint(4, 7)
    return case.one.split(case.text, most) == plain.split(case.rule, case.text, most)


def special_tokens(case: Case) -> bool:
    """Written in a text, they end one text and begin another; the same holds between them."""
    one, rule = case.one, case.with_special
    ((name, special),) = one.special_tokens.items()
    parts = [case.some_text() for _ in range(case.rng.randint(0, 2))]
    text, more = name.join([*parts, case.text]), case.rng.choice(["", name]) + case.some_text()
    ids, rest = one.stable(text, allow_special=True)
    covers = [(tuple(ids), rest) for ids, rest in one.covers(text, allow_special=True)]
    whole = one.encode(text, allow_special=True)
    mask = one.next_mask(whole)
    some = [*one.entry_ids, *case.rng.sample(case.rule.bytes, 2)]
    return (
        ids == plain.stable(rule, text, case.after)
        and one.decode(ids) + rest == text
        and covers == list(plain.covers(rule, text, case.after))
        and one.encode_pair(text, more, allow_special=True) == plain.pair(rule, text, more)
        and patched(case, text + more, allow_special=True)
        and judged(case, rule, [*one.encode(text + more, allow_special=True)])
        and mask[special]
        and all(mask[id] == plain.may_come_next(rule, whole, id) for id in some)
    )


def words_and_dropout(case: Case) -> bool:
    one, seed = case.one, case.rng.randint(0, 99)
    words = one.encode(case.text, words_only=True)
    some = one.encode(case.text, dropout=0.5, seed=seed)
    phrases = {
        id for id in some if id in one.entry_ids and len(split_words(one.token_text(id))) > 1
    }
    return (
        one.encode(case.text, dropout=1, seed=seed) == words
        and one.decode(words) == one.decode(some) == case.text
        and phrases <= set(case.ids)
    )


LAWS: dict[str, Callable[[Case], bool]] = {
    "stable ids are those that all continuations share": stable,
    "each continuation is in one cover, each cover has one; next ids": one_cover,
    "long continuations fall in a cover": long_continuations,
    "patches give the encoding of the whole": patches,
    "canonical ids, and how many": canonical,
    "the mask of next ids": next_ids,
    "pairs": pairs,
    "pieces of at most n tokens": pieces,
    "all of these with special tokens": special_tokens,
    "dropout ends at words only, and keeps the text": words_and_dropout,
}


# --- Vocabularies


def made_tokenizer(rng: random.Random, rule: Any) -> tuple[Tokenizer, str]:
    """A tokenizer, and the characters of its texts, some of them outside its alphabet."""
    third = rng.choice(["", " ", " ", rng.choice(OTHERS)])
    alphabet = [*rng.sample(LETTERS, rng.randint(1, 2)), *third]
    known, foreign = list(alphabet), rng.sample(sorted({*OTHERS} - {*third}), 2)
    if rule == "fewest" and rng.random() < 0.15:
        known.append(foreign[0])  # in tokens, and not in the alphabet
    make = FAMILIES[rng.choice(list(FAMILIES))]
    made = make(rng, "".join(known), rng.choice([5, 12, 25, 60]))
    texts = alphabet + [text for text in dict.fromkeys(made) if 1 < len(text) <= LONGEST]
    tied: list[int] = []
    if rule == "merges":
        tied = ties(rng, texts, len(alphabet))
        while any(states := _core.Encoder(
            texts, [1] * len(texts), fewest=False, first_id=0, tied=tied
        ).states().tolist()):  # fmt: skip
            texts = [text for text, state in zip(texts, states, strict=True) if not state]
            tied = []
    layout = None
    if tied or rng.random() < 0.2:
        ids = rng.sample(range(600), 257 + len(texts))
        layout = Layout((ids[0],), tuple(ids[1:257]), tuple(ids[257:]), tuple(tied))
    recipe = Recipe(vocab_size=600, segmentation=rule, special_tokens=("<s>",))
    tokens = [Token(text, 0, "imported") for text in texts]
    return Tokenizer(tokens, recipe, None, layout), "".join([*known * 3, *foreign])


def ties(rng: random.Random, texts: list[str], alphabet: int) -> list[int]:
    """Some entries get the rank of the one before, which must not be longer."""
    if rng.random() < 0.8:
        return []
    return [
        place
        for place in range(alphabet + 1, len(texts))
        if len(texts[place - 1].encode()) <= len(texts[place].encode()) and rng.random() < 0.5
    ]


# --- Checking


def check_all(numbers: range) -> Figures:
    """By rule and law, the cases and the violations; the numbers of the vocabularies that fail."""
    cases, wrong, failed = Counter[str](), Counter[str](), list[str]()
    for number, rule in itertools.product(numbers, RULES):
        rng = random.Random(f"{number} {rule}")
        one, chars = made_tokenizer(rng, rule)
        for _ in range(TEXTS):
            text = "".join(rng.choices([*chars, *one.texts], k=rng.randint(0, 6)))[:12]
            case = Case(rng, one, chars, text)
            for name, holds in LAWS.items():
                cases[f"{rule} | {name}"] += 1
                if not holds(case):
                    wrong[f"{rule} | {name}"] += 1
                    failed.append(f"{number} {rule} {name}")
    return {"cases": dict(cases), "wrong": dict(wrong), "failed": failed}


def shared(pool: ProcessPoolExecutor, numbers: range) -> Figures:
    """The same by the processes of a pool."""
    found = [job.result() for job in [pool.submit(check_all, numbers[i::4]) for i in range(4)]]
    sums = {
        part: dict(sum((Counter(one[part]) for one in found), Counter[str]()))
        for part in ("cases", "wrong")
    }
    return {**sums, "failed": [name for one in found for name in one["failed"]]}


def main(arguments: list[str] | None = None) -> None:
    parser = options("The laws of the ends of texts, against brute force.", "laws")
    add = parser.add_argument
    add("--vocabularies", type=int, default=7_000, help="how many (default: 7,000)")
    add("--portion", type=int, default=500, help="vocabularies of a row (default: 500)")
    add("--processes", type=int, default=2, help="default: 2")
    args = parser.parse_args(arguments)
    rows = Rows(args.out, args.again)
    cases, wrong, failed = Counter[str](), Counter[str](), list[str]()
    with ProcessPoolExecutor(args.processes, mp_context=get_context("spawn")) as pool:
        for first in range(0, args.vocabularies, args.portion):
            numbers = range(first, min(first + args.portion, args.vocabularies))
            asked = {
                "row": f"vocabularies {first} to {numbers[-1]}",
                "program": [code(("reference",)), *map(identity, SCRIPTS)],
            }
            figures = rows.get(asked, functools.partial(shared, pool, numbers))
            cases.update(figures["cases"])
            wrong.update(figures["wrong"])
            failed += figures["failed"]
    lines = [
        [*name.split(" | "), f"{count:,}", f"{wrong[name]:,}"] for name, count in cases.items()
    ]
    lines.append(["both", "all laws", f"{sum(cases.values()):,}", f"{sum(wrong.values()):,}"])
    notes = [
        f"failed: {', '.join(failed[:20]) or 'none'}",
        rows.about(),
        command("laws", arguments),
    ]
    head = ["rule", "law", "cases", "violations"]
    write_table(args.out, Table("Laws at the ends of texts", claim(__doc__), head, lines, notes))


if __name__ == "__main__":
    main()
