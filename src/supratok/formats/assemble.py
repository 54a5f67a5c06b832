"""From the vocabulary of a file to a `Tokenizer`: shared by all formats that we read.

The rule `merges` has one rank for a token; other programs may have one for each pair that makes
it. But only one of these pairs ever occurs: inside the place that a token will fill, only its own
joins happen, in the order they have when its text is alone. So we form each token alone, by the
other program's rule taken literally, and note which two parts are joined last. A token that its own
text does not form, no text forms: it is spare.

Here a token must not rank before its parts. In other programs it sometimes does: runs of spaces are
often listed longest first. Such a token forms as soon as its parts exist, so it may as well have
their rank, if the order among the tied ones does not matter (see `_refuse_disorder`):

    "    ": 1st rank, "   ": 2nd, "  ": 3rd    two spaces join; at once a third; at once a fourth
    all three tied                             the same, since the leftmost join comes first
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..common import _core
from ..common.reserved import byte_name
from ..recipe import Boundaries, Recipe, Segmentation
from ..tokenizer import BYTES, Token, Tokenizer
from ..tokenizer.ids import Layout

# The rank of a join: the lowest comes first, infinity never.
Rank = Callable[[str, str], float]
Parts = tuple[str, str]
# Where ids differ because the other program loses text and we do not. Saved in the report.
LITERAL_SPACE = "a literal U+2581 is kept, and not read as a space"
SPACE_FIRST = "a space at the beginning of a text is kept, beside the one that is put there"
NOT_IMPORTED = "it cannot be imported; `supratok compare` can still measure it"


@dataclass
class Vocabulary:
    """The contents of a file, sorted. Texts have spaces, not U+2581."""

    name: str  # the path of the file
    format: str
    pieces: dict[str, int] = field(default_factory=dict)  # ordinary tokens
    bytes: list[int] = field(default_factory=list)
    special: dict[str, int] = field(default_factory=dict)
    always: dict[str, int] = field(default_factory=dict)  # cut out of every text first
    spare: dict[str, int] = field(default_factory=dict)  # no text makes them
    prefix: bool = False  # a space is put before each text
    differences: list[str] = field(default_factory=list)

    def refuse(self, why: str, remedy: str) -> ValueError:
        return ValueError(f"{self.name}: {why}; {remedy}")

    def take_bytes(self, ids: Mapping[str, int]) -> None:
        """Find the ids of the 256 bytes by their names, such as <0x41>."""
        missing = next((b for b in range(BYTES) if byte_name(b) not in ids), None)
        if missing is not None:
            raise self.refuse(
                f"it has no token for the byte {byte_name(missing)}, so it would lose text",
                "import a tokenizer with byte fallback",
            )
        self.bytes = [ids[byte_name(byte)] for byte in range(BYTES)]


def by_merges(vocab: Vocabulary, rank: Rank) -> Tokenizer:
    """The tokenizer that joins by these ranks."""
    alphabet = _set_apart(vocab)
    formed = {text: formed_from(text, rank) for text in vocab.pieces if len(text) > 1}
    parts = {text: pair for text, pair in formed.items() if pair}
    _need_characters(vocab, parts, alphabet)
    shared = _shared_ranks(vocab, parts, rank)
    size = {text: len(text.encode()) for text in parts}
    order = sorted(parts, key=lambda text: (shared[text], size[text], vocab.pieces[text]))
    texts = alphabet + order
    first = len(alphabet)
    ranks = [shared[text] for text in order]
    tied = [first + i for i in range(1, len(order)) if ranks[i] == ranks[i - 1]]
    _check_parts(vocab, texts, tied, parts)
    return _tokenizer(vocab, texts, "merges", tied)


def by_fewest(vocab: Vocabulary) -> Tokenizer:
    """The tokenizer that takes the fewest tokens."""
    alphabet = _set_apart(vocab)
    longer = sorted((t for t in vocab.pieces if len(t) > 1), key=lambda t: vocab.pieces[t])
    _need_characters(vocab, longer, alphabet)
    return _tokenizer(vocab, alphabet + longer, "fewest", [])


def one_score(vocab: Vocabulary, scores: dict[str, float]) -> float:
    """The score that all pieces share: then the best sum is the fewest pieces."""
    values = sorted(set(scores.values())) or [-1.0]
    if len(values) > 1:
        raise vocab.refuse(
            f"its scores differ (from {values[0]:g} to {values[-1]:g}): it chooses pieces by"
            " probability, and the rule `fewest` takes as few as possible",
            NOT_IMPORTED,
        )
    if not (values[0] < 0 and values[0].is_integer()):
        raise vocab.refuse(
            f"all its scores are {values[0]:g}, and sums of them are exact only for whole negative"
            " numbers",
            "set all to -1, which means the same",
        )
    return values[0]


def formed_from(text: str, rank: Rank) -> Parts | None:
    """The two parts that join last to make this text one token; None if they never do."""
    parts = dict(enumerate(text))  # by the place where each begins
    after = {place: place + 1 for place in parts}
    before = {place + 1: place for place in parts}
    joins: list[tuple[float, int]] = []  # a heap: the lowest rank first, then the leftmost

    def consider(place: int) -> None:
        if place in parts and after[place] in parts:
            order = rank(parts[place], parts[after[place]])
            if order < math.inf:
                heapq.heappush(joins, (order, place))

    for place in parts:
        consider(place)
    while joins:
        order, place = heapq.heappop(joins)
        right = after.get(place, -1)
        if place not in parts or right not in parts or rank(parts[place], parts[right]) != order:
            continue  # one of the two has joined another
        if len(parts) == 2:
            return parts[place], parts[right]
        parts[place] += parts.pop(right)
        after[place] = after.pop(right)
        before[after[place]] = place
        consider(before.get(place, -1))
        consider(place)
    return None


def _set_apart(vocab: Vocabulary) -> list[str]:
    """The characters among the pieces. A piece that holds a text of `always` can never form, since
    that text is cut out first: it becomes spare."""
    lengths = sorted(set(map(len, vocab.always)))

    def is_cut(text: str) -> bool:
        return any(
            text[start : start + length] in vocab.always
            for length in lengths
            for start in range(len(text) - length + 1)
        )

    for text in [text for text in vocab.pieces if is_cut(text)] if lengths else []:
        vocab.spare[text] = vocab.pieces.pop(text)
    return sorted((t for t in vocab.pieces if len(t) == 1), key=lambda t: vocab.pieces[t])


def _need_characters(vocab: Vocabulary, longer: Iterable[str], alphabet: list[str]) -> None:
    known = set(alphabet)
    for text in longer:
        if not known.issuperset(text):
            missing = next(char for char in text if char not in known)
            raise vocab.refuse(
                f"the token {text!r} holds the character {missing!r}, which is no token itself, and"
                " supratok makes every token from characters",
                NOT_IMPORTED,
            )


def _shared_ranks(vocab: Vocabulary, parts: Mapping[str, Parts], rank: Rank) -> dict[str, float]:
    """The rank of each token, or that of its parts if one of them ranks later."""
    own = {text: rank(*pair) for text, pair in parts.items()}
    shared: defaultdict[str, float] = defaultdict(lambda: -math.inf)  # of characters
    for text in sorted(parts, key=len):
        left, right = parts[text]
        shared[text] = max(own[text], shared[left], shared[right])
    late = {shared[text] for text in parts if own[text] < shared[text]}
    for both in late:
        _refuse_disorder(vocab, {t: own[t] for t in parts if shared[t] == both}, both, parts)
    return shared


def _refuse_disorder(
    vocab: Vocabulary, group: dict[str, float], last: float, parts: Mapping[str, Parts]
) -> None:
    """Refuse tokens that may not be tied at this last rank, though some rank earlier themselves.

    At first only tokens of the last rank can form, leftmost first. As soon as one exists, the
    tokens that contain it can form too. Taking the leftmost of these equals taking the earliest if
    a token joins with its left neighbour before it joins with its right one."""
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    for text, own in group.items():
        left, right = parts[text]
        if own == last and (left in group or right in group):
            raise _out_of_order(vocab, text)
        if left in group:
            after[left] = min(own, after.get(left, math.inf))
        if right in group:
            before[right] = max(own, before.get(right, -math.inf))
    for text in before.keys() & after.keys():
        if before[text] > after[text]:
            raise _out_of_order(vocab, text)


def _out_of_order(vocab: Vocabulary, text: str) -> ValueError:
    return vocab.refuse(
        f"tokens around {text!r} rank before those that they are made from, and no order of tokens"
        " gives the same joins",
        NOT_IMPORTED,
    )


def _check_parts(
    vocab: Vocabulary, texts: list[str], tied: list[int], parts: Mapping[str, Parts]
) -> None:
    """Invariant: the core forms each token from the same parts, so it encodes every text alike."""
    core = _core.Encoder(texts, [1] * len(texts), fewest=False, first_id=0, tied=tied)
    for entry, text in enumerate(texts):
        pair = core.parts(entry)
        ours = None if pair is None else (texts[pair[0]], texts[pair[1]])
        if ours != parts.get(text):
            raise vocab.refuse(
                f"it makes the token {text!r} from {parts.get(text)}, and supratok from {ours}",
                "it cannot be imported; please report this",
            )


def _tokenizer(
    vocab: Vocabulary, texts: list[str], segmentation: Segmentation, tied: list[int]
) -> Tokenizer:
    used = set(texts)
    spare = vocab.spare | {t: id for t, id in vocab.pieces.items() if t not in used}
    layout = Layout(
        special=tuple(vocab.special.values()),
        bytes=tuple(vocab.bytes),
        entries=tuple(vocab.pieces[text] for text in texts),
        tied=tuple(tied),
        always=vocab.always,
        spare=spare,
        prefix=vocab.prefix,
    )
    tokens = [Token(t, 0, "alphabet" if len(t) == 1 else "imported") for t in texts]
    facts: dict[str, Any] = {
        "from": Path(vocab.name).name,
        "format": vocab.format,
        "spare": len(spare),
    }
    facts["differences"] = vocab.differences
    recipe = replace(_recipe(layout.size, segmentation, texts), special_tokens=tuple(vocab.special))
    return Tokenizer(tokens, recipe, {"imported": facts}, layout)


def _recipe(vocab_size: int, segmentation: Segmentation, texts: list[str]) -> Recipe:
    """A recipe without limits: the file does not say by which rules its tokens were learnt."""
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
