"""From what a file says to a `Tokenizer`: shared by all formats.

The rule `merges` knows one rank for a token; other programs may have one for each pair that makes
it. But of these pairs only one ever occurs. Inside the place where a token will stand, nothing but
its own joins happens until it is there, in the order they have when its text stands alone. So we
form each token alone, by the other program's rule, taken literally, and see what it is joined from
last. Tokens that are not formed from their own text are formed from no text: they are spare.

A token must not rank before its parts here, and it does there now and then: runs of spaces are
often listed longest first. Then it is made as soon as its parts are, so it may as well have their
rank, if it does not matter in which order that happens (see `_refuse_disorder`):

    "    ": 1st rank, "   ": 2nd, "  ": 3rd    two spaces join; at once a third; at once a fourth
    all three tied                             the same, since the leftmost join comes first
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..common import _core
from ..common.reserved import byte_name
from ..recipe import Boundaries, Recipe, Segmentation
from ..tokenizer import BYTES, Token, Tokenizer
from ..tokenizer.ids import Layout

# The rank of a join, the lower the earlier; infinity if there is none.
Rank = Callable[[str, str], float]
Parts = tuple[str, str]
# Where other programs lose text and this one does not, so that ids differ.
LITERAL_SPACE = "a literal U+2581 is kept, and not read as a space"
SPACE_FIRST = "a space at the beginning of a text is kept, beside the one that is put there"
AS_IT_IS = "it cannot be imported; `supratok compare` can use it as it is"


@dataclass
class Found:
    """What a file holds, in our terms: texts have spaces, not U+2581."""

    name: str  # of the file
    format: str
    pieces: dict[str, int] = field(default_factory=dict)  # what text may be encoded with
    bytes: list[int] = field(default_factory=list)
    special: dict[str, int] = field(default_factory=dict)
    always: dict[str, int] = field(default_factory=dict)
    spare: dict[str, int] = field(default_factory=dict)
    prefix: bool = False
    differences: list[str] = field(default_factory=list)

    def refuse(self, why: str, remedy: str) -> ValueError:
        return ValueError(f"{self.name}: {why}; {remedy}")

    def take_bytes(self, ids: Mapping[str, int]) -> None:
        """The ids of the bytes, by their names."""
        missing = next((b for b in range(BYTES) if byte_name(b) not in ids), None)
        if missing is not None:
            raise self.refuse(
                f"it has no token for the byte {byte_name(missing)}, so text would be lost",
                "only tokenizers with byte fallback can be imported",
            )
        self.bytes = [ids[byte_name(byte)] for byte in range(BYTES)]


def by_merges(found: Found, rank: Rank) -> Tokenizer:
    """The tokenizer that joins by these ranks."""
    alphabet = _set_apart(found)
    formed = {text: formed_from(text, rank) for text in found.pieces if len(text) > 1}
    parts = {text: pair for text, pair in formed.items() if pair}
    _need_characters(found, parts, alphabet)
    shared = _shared_ranks(found, parts, rank)
    size = {text: len(text.encode()) for text in parts}
    order = sorted(parts, key=lambda text: (shared[text], size[text], found.pieces[text]))
    texts = alphabet + order
    first = len(alphabet)
    ranks = [shared[text] for text in order]
    tied = [first + i for i in range(1, len(order)) if ranks[i] == ranks[i - 1]]
    _check_parts(found, texts, tied, parts)
    return _tokenizer(found, texts, "merges", tied)


def by_fewest(found: Found) -> Tokenizer:
    """The tokenizer that takes the fewest tokens."""
    alphabet = _set_apart(found)
    longer = sorted((t for t in found.pieces if len(t) > 1), key=lambda t: found.pieces[t])
    _need_characters(found, longer, alphabet)
    return _tokenizer(found, alphabet + longer, "fewest", [])


def one_score(found: Found, scores: dict[str, float]) -> float:
    """The score of all pieces, which must be one, so that the best sum is the fewest pieces."""
    values = sorted(set(scores.values())) or [-1.0]
    if len(values) > 1:
        raise found.refuse(
            f"its scores differ (from {values[0]:g} to {values[-1]:g}): it chooses pieces by"
            " probability, where the rule here is to take as few as possible",
            AS_IT_IS,
        )
    if not (values[0] < 0 and values[0].is_integer()):
        raise found.refuse(
            f"all its scores are {values[0]:g}, and sums of them are exact only for whole negative"
            " numbers",
            "set all to -1, which means the same",
        )
    return values[0]


def formed_from(text: str, rank: Rank) -> Parts | None:
    """The two parts that are joined last if a text becomes one token, else None."""
    parts = list(text)
    ranks = [rank(left, right) for left, right in zip(parts, parts[1:], strict=False)]
    while len(parts) > 2:
        lowest = min(ranks)
        if lowest == math.inf:
            return None
        at = ranks.index(lowest)  # the leftmost
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
        del ranks[at]
        for place in (at - 1, at):
            if 0 <= place < len(ranks):
                ranks[place] = rank(parts[place], parts[place + 1])
    return (parts[0], parts[1]) if ranks[0] < math.inf else None


def _set_apart(found: Found) -> list[str]:
    """The characters among the pieces. Pieces that hold a text which is cut out before can never be
    made: they become spare."""
    cuts: list[str] = []  # those that hold no other
    for cut in sorted(found.always, key=len):
        if not any(other in cut for other in cuts):
            cuts.append(cut)
    for text in [text for text in found.pieces if any(cut in text for cut in cuts)]:
        found.spare[text] = found.pieces.pop(text)
    return sorted((t for t in found.pieces if len(t) == 1), key=lambda t: found.pieces[t])


def _need_characters(found: Found, longer: Iterable[str], alphabet: list[str]) -> None:
    known = set(alphabet)
    for text in longer:
        if not known.issuperset(text):
            missing = next(char for char in text if char not in known)
            raise found.refuse(
                f"the token {text!r} holds the character {missing!r}, which is no token itself, and"
                " here every token begins as characters",
                AS_IT_IS,
            )


def _shared_ranks(found: Found, parts: Mapping[str, Parts], rank: Rank) -> dict[str, float]:
    """The rank of each token, or of its parts if one of them has a later one."""
    own = {text: rank(*pair) for text, pair in parts.items()}
    shared: defaultdict[str, float] = defaultdict(lambda: -math.inf)  # of characters
    for text in sorted(parts, key=len):
        left, right = parts[text]
        shared[text] = max(own[text], shared[left], shared[right])
    late = {shared[text] for text in parts if own[text] < shared[text]}
    for both in late:
        _refuse_disorder(found, {t: own[t] for t in parts if shared[t] == both}, both, parts)
    return shared


def _refuse_disorder(
    found: Found, group: dict[str, float], last: float, parts: Mapping[str, Parts]
) -> None:
    """Whether tokens of this rank may be tied, though some of their own ranks are earlier.

    When it is their turn, all that can be joined are the ones of the last rank, leftmost first; as
    soon as one stands there, so can the others that it is part of. Taking the leftmost is the same
    as taking the earliest if a token joins with what is before it rather than what is after it."""
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    for text, own in group.items():
        left, right = parts[text]
        if own == last and (left in group or right in group):
            raise _out_of_order(found, text)
        if left in group:
            after[left] = min(own, after.get(left, math.inf))
        if right in group:
            before[right] = max(own, before.get(right, -math.inf))
    for text in before.keys() & after.keys():
        if before[text] > after[text]:
            raise _out_of_order(found, text)


def _out_of_order(found: Found, text: str) -> ValueError:
    return found.refuse(
        f"tokens around {text!r} rank before those that they are made from, in a way that no order"
        " of tokens gives",
        AS_IT_IS,
    )


def _check_parts(
    found: Found, texts: list[str], tied: list[int], parts: Mapping[str, Parts]
) -> None:
    """The core must come to the same parts: then it encodes every text alike."""
    core = _core.Encoder(texts, [1] * len(texts), fewest=False, first_id=0, tied=tied)
    for entry, text in enumerate(texts):
        pair = core.parts(entry)
        ours = None if pair is None else (texts[pair[0]], texts[pair[1]])
        if ours != parts.get(text):
            raise found.refuse(
                f"the token {text!r} is made of {parts.get(text)} there and of {ours} here",
                "it cannot be imported; please report this",
            )


def _tokenizer(
    found: Found, texts: list[str], segmentation: Segmentation, tied: list[int]
) -> Tokenizer:
    used = set(texts)
    spare = found.spare | {t: id for t, id in found.pieces.items() if t not in used}
    layout = Layout(
        special=tuple(found.special.values()),
        bytes=tuple(found.bytes),
        entries=tuple(found.pieces[text] for text in texts),
        tied=tuple(tied),
        always=found.always,
        spare=spare,
        prefix=found.prefix,
    )
    tokens = [Token(t, 0, "alphabet" if len(t) == 1 else "imported") for t in texts]
    facts: dict[str, Any] = {"from": found.name, "format": found.format, "spare": len(spare)}
    facts["differences"] = found.differences
    recipe = replace(_recipe(layout.size, segmentation, texts), special_tokens=tuple(found.special))
    return Tokenizer(tokens, recipe, {"imported": facts}, layout)


def _recipe(vocab_size: int, segmentation: Segmentation, texts: list[str]) -> Recipe:
    """One that promises nothing of the tokens: nobody knows by which rules they were learnt."""
    longest = max((len(text.encode()) for text in texts), default=1)
    return Recipe(
        vocab_size=vocab_size,
        segmentation=segmentation,
        boundaries=Boundaries(
            max_words=longest, max_bytes=longest, max_digits=longest, one_script=False
        ),
        screen=None,
        scripts=None,
        character_coverage=1.0,
        min_count=1,
    )
