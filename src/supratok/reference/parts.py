"""The parts of the reference: words, runs, the merge loop, both segmentation rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..common import _core
from ..learn.words import UNSPACED
from ..recipe import Boundaries, Recipe

LETTER, PUNCT, NUMBER, SPACE, NEWLINE, CONTROL, EXTEND = range(7)  # as in core/text.hpp

Symbols = tuple[str, ...]

# --- Words and runs


def split_words(text: str, by_class: bool = True) -> list[str]:
    """Cut a text where the class or the script of its characters changes; or, not by class, only
    where whitespace or control characters begin or end.

    A space goes to the word after it; a combining mark to the character before it. Newlines are
    whitespace like any other.

    >>> split_words("Hello, big  world")
    ['Hello', ',', ' big', ' ', ' world']
    >>> split_words("Hello, big  world", by_class=False)
    ['Hello,', ' big', ' ', ' world']
    """
    words: list[str] = []
    kind, script = -1, 0
    for place, char in enumerate(text):
        char_kind, char_script = _core.char_class(char)
        char_kind = SPACE if char_kind == NEWLINE else char_kind
        if not by_class and _leads_word(char):
            char_kind, char_script = LETTER, 0
        if words and words[-1] == " " and kind == SPACE and _leads_word(char):
            kind, script = (LETTER if char_kind == EXTEND else char_kind), char_script
            words[-1] += char
            continue
        last_space = char == " " and place + 1 < len(text) and _leads_word(text[place + 1])
        if char_kind == EXTEND:
            same = bool(words) and kind <= NUMBER
            char_kind = kind if same else LETTER
        else:
            same = char_kind == kind and (0 in (script, char_script) or script == char_script)
        if same and not last_space:
            words[-1] += char
            script = script or char_script
        else:
            words.append(char)
            kind, script = char_kind, char_script
    return words


def _leads_word(char: str) -> bool:
    return _core.char_class(char)[0] in (LETTER, PUNCT, NUMBER, EXTEND)


def kind_of(word: str, by_class: bool = True) -> int:
    """The class of a word: that of its first character, the space before it aside."""
    bare = word[1:] if word[0] == " " and len(word) > 1 and _leads_word(word[1]) else word
    kind = _core.char_class(bare[0])[0]
    return LETTER if kind == EXTEND or (kind <= NUMBER and not by_class) else kind


def script_of(text: str) -> int:
    """The first script in a text that is not common to all; 0 if there is none."""
    return next((s for s in (_core.char_class(char)[1] for char in text) if s), 0)


def may_neighbour(left: str, right: str, rules: Boundaries, by_class: bool = True) -> bool:
    """Whether two neighbouring words may ever share a token."""
    kinds = {kind_of(left), kind_of(right)}
    if not kinds <= {LETTER, PUNCT, NUMBER}:
        return False
    if not by_class:  # a word may hold them all
        kinds = {_core.char_class(char)[0] for char in left + right}
    if NUMBER in kinds and not rules.numbers_in_phrases:
        return False
    spaced = right[0] == " "
    if not rules.cross_colon and spaced and left[-1] == ":":
        return False
    if not rules.cross_sentence and (kind_of(left) == PUNCT or not by_class):
        bare = left.rstrip("\"')]}’”»」』）")
        if bare and (bare[-1] in "。！？｡" or (spaced and bare[-1] in ".!?…।؟۔")):
            return False
    return True


def count_runs(
    documents: Iterable[str], known: set[str], recipe: Recipe, ranks: dict[str, int] | None = None
) -> Counter[Symbols]:
    """The longest sequences of known words that may all neighbour each other. With `ranks`, words
    that are not known stand in their pieces, in some scripts or in all."""
    rules, by_class = recipe.boundaries, recipe.scripts is not None
    runs: Counter[Symbols] = Counter()
    for text in documents:
        run: list[str] = []
        before = ""
        for word in split_words(text, by_class):
            cut_up = ranks is not None and (
                not rules.whole_words or word_script(word, by_class) in UNSPACED
            )
            pieces = [word] if word in known or not cut_up else encode_by_merges(word, ranks or {})
            if run and not may_neighbour(before, word, rules, by_class):
                runs[tuple(run)] += 1
                run = []
            for piece in pieces:
                if piece in known and kind_of(word, by_class) in (LETTER, PUNCT, NUMBER):
                    run.append(piece)
                else:
                    runs[tuple(run)] += 1
                    run = []
            before = word
        runs[tuple(run)] += 1
    return runs


def word_script(word: str, by_class: bool) -> int:
    return script_of(word) if by_class else 0


# --- The merge loop


class Join(NamedTuple):
    """One step of the merge loop: what was joined, and how often it stood there."""

    left: str
    right: str
    count: int  # type: ignore[assignment]  # and not the method of tuples

    @property
    def text(self) -> str:
        return self.left + self.right


def learn(
    sequences: Counter[Symbols],
    merges: int,
    min_count: int,
    may_join: Callable[[str, str], bool],
    admits: Callable[[str, str, int], bool] = lambda left, right, count: True,
) -> tuple[list[Join], Counter[Symbols]]:
    """Join the most frequent pair of neighbours, again and again.

    Ties go to the shorter text, then to code-point order, then to the shorter left part. A pair
    that `admits` refuses when it first appears is never joined. Returns the joins, and the
    sequences as they then are."""
    learnt: list[Join] = []
    admitted: dict[tuple[str, str], bool] = {}
    while len(learnt) < merges:
        pairs: Counter[tuple[str, str]] = Counter()
        for sequence, weight in sequences.items():
            for left, right in zip(sequence, sequence[1:], strict=False):
                pairs[left, right] += weight
        allowed = [
            Join(*pair, count)
            for pair, count in pairs.items()
            if count >= min_count and may_join(*pair)
            if admitted.setdefault(pair, admits(*pair, count))
        ]
        if not allowed:
            break
        best = min(
            allowed, key=lambda j: (-j.count, len(j.text.encode()), j.text, len(j.left.encode()))
        )
        learnt.append(best)
        joined: Counter[Symbols] = Counter()
        for sequence, weight in sequences.items():
            joined[join(sequence, (best.left, best.right))] += weight
        sequences = joined
    return learnt, sequences


def join(sequence: Symbols, pair: tuple[str, str]) -> Symbols:
    """Replace a pair by its joined text, leftmost first."""
    out: list[str] = []
    place = 0
    while place < len(sequence):
        if sequence[place : place + 2] == pair:
            out.append(pair[0] + pair[1])
            place += 2
        else:
            out.append(sequence[place])
            place += 1
    return tuple(out)


def learnt_size(recipe: Recipe) -> int:
    """How large a vocabulary is learnt, before any pruning."""
    fewest = recipe.segmentation == "fewest"
    return int(recipe.vocab_size * recipe.oversize) if fewest else recipe.vocab_size


# --- Encoding


def encode_by_merges(text: str, ranks: dict[str, int]) -> list[str]:
    """Join the neighbours whose joined text has the lowest rank, leftmost first, until none has."""
    pieces = list(text)
    while True:
        joins = [
            (ranks[left + right], place)
            for place, (left, right) in enumerate(zip(pieces, pieces[1:], strict=False))
            if left in ranks and right in ranks and left + right in ranks
        ]
        if not joins:
            return pieces
        _, place = min(joins)
        pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]


def encode_by_fewest(text: str, tokens: set[str]) -> list[str]:
    """The fewest tokens; of equals, at each end the longest last token."""
    best: list[tuple[int, int]] = [(0, 0)]  # by end: the number of tokens, the last one's start
    longest = max(map(len, tokens), default=1)
    for end in range(1, len(text) + 1):
        starts = range(max(0, end - longest), end)
        fits = [start for start in starts if text[start:end] in tokens]
        if not fits:  # an unknown character
            fits = [end - 1]
        best.append(min((best[start][0] + 1, start) for start in fits))
    pieces: list[str] = []
    end = len(text)
    while end:
        start = best[end][1]
        pieces.append(text[start:end])
        end = start
    return pieces[::-1]
