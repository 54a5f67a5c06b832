"""Leaf surgery (paper 3.3, Appendix A): spans take the places of tokens that are worth less.

Under `merges` a token is made of two others, so only a leaf may go: a token that no other is made
of. A span that is now encoded as t1 t2 t3 needs the chain t1t2, t1t2t3, so it pays for two places.
Under `fewest` every learnt token is a leaf and a span needs one place.

Accepting a span changes how others are encoded and what tokens are worth. So it goes in rounds: in
a round each join of two neighbouring tokens belongs to one span; whatever else wants it waits, and
is looked at again with the new tokenizer.

Why the tokens still encode to themselves: new tokens rank last, so they join only where all old
joins are done, and whatever two blocks of t1...tl have formed, the first and the next make a prefix
of the chain. A leaf is in no other token's making, so nothing else changes when it goes.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...common import _core
from ...recipe import Expressions
from ...tokenizer import BYTES, Token, encoder_of_tokens
from .score import Figures, gain, net, priority, utility
from .uses import Encoded

# Choice: at 100k tokens of English the rounds end by themselves after 5 or 6.
ROUNDS = 8


@dataclass(frozen=True)
class Patients:
    """The spans that ask for a place, a row each; counts and documents are those of A(s)."""

    texts: list[str]
    training_counts: NDArray[np.int64]
    held_out_counts: Figures
    held_out_documents: Figures
    counts: Figures
    documents: Figures
    scores: Figures  # S(s)


@dataclass
class Evidence:
    """How often tokens are used: in held-out text, mixed with training text by `training_share`.

    `scale` is the size of the held-out text in units of the training text."""

    held_out: list[str]
    threads: int
    training_share: float = 0.0
    scale: float = 0.0


@dataclass
class Ward:
    """The vocabulary under the knife."""

    tokens: list[Token]
    uses: NDArray[np.float64]  # of each token in the training text; zeros where nobody asks
    alphabet: int
    size: int  # the most tokens there may be
    fewest: bool
    options: Expressions
    evidence: Evidence
    gone: set[str] = field(default_factory=set)  # texts that were displaced: they do not come back
    facts: Counter[str] = field(default_factory=Counter)

    def encoder(self) -> _core.Encoder:
        return encoder_of_tokens(self.tokens, self.fewest)


def operate(ward: Ward, patients: Patients) -> list[Token]:
    """Rounds of surgery until a round accepts nothing; the tokens of `ward` are replaced."""
    waiting = np.arange(len(patients.texts))
    for number in range(ROUNDS):
        operation = _Round(ward, patients, waiting)
        accepted = operation.accept()
        if number == 0:
            ward.facts["held_out_tokens_before"] = operation.held_out_tokens
        if not accepted:
            break
        operation.close()
        waiting = np.setdiff1d(waiting, accepted)
        ward.facts["rounds"] += 1
        ward.facts["accepted"] += len(accepted)
    encoder = ward.encoder()
    if encoder.states().any():
        bad = ward.tokens[int(np.flatnonzero(encoder.states())[0])].text
        raise AssertionError(f"after the surgery {bad!r} does not encode to itself")
    ward.facts["held_out_tokens_after"] = int(
        encoder.usage(ward.evidence.held_out, ward.evidence.threads).sum()
    )
    return ward.tokens


class _Round:
    """One round: the leaves with their prices, and the spans by falling priority."""

    def __init__(self, ward: Ward, patients: Patients, waiting: NDArray[np.intp]) -> None:
        self._ward, self._patients = ward, patients
        encoder = ward.encoder()
        encoded = Encoded.of(encoder, ward.evidence.held_out, ward.evidence.threads)
        self.held_out_tokens = len(encoded)
        self._price_tokens(encoded)
        self._find_leaves(encoder)
        self._free = ward.size - len(ward.tokens)
        waits = [i for i in waiting.tolist() if patients.texts[i] not in ward.gone]
        ids = encoder.encode_batch([patients.texts[i] for i in waits], ward.evidence.threads, False)
        pieces = [[int(id) - BYTES for id in row] for row in ids]
        self._pieces = {i: row for i, row in zip(waits, pieces, strict=True) if len(row) > 1}
        self._gains = self._find_gains(encoded)
        self._known = {token.text for token in ward.tokens}
        self._claimed: set[tuple[int, int]] = set()
        self._displaced: set[int] = set()
        self._new: list[Token] = []
        self._new_uses: list[float] = []

    # --- Leaves

    def _price_tokens(self, text: Encoded) -> None:
        """U(m) of every token."""
        ward, evidence = self._ward, self._ward.evidence
        counts, documents = (part[BYTES:] for part in text.uses(BYTES + len(ward.tokens)))
        share = evidence.training_share
        training = ward.uses * evidence.scale
        # Choice: a use in the training text is a document of its own, up to all documents.
        in_documents = np.minimum(training, len(evidence.held_out))
        self._prices = utility(
            (1 - share) * counts + share * training,
            (1 - share) * documents + share * in_documents,
            ward.options,
        )

    def _find_leaves(self, encoder: _core.Encoder) -> None:
        """A heap of the leaves, cheapest first; of equals the one that ranks last."""
        ward = self._ward
        learnt = range(ward.alphabet, len(ward.tokens))
        self._parts = {} if ward.fewest else {place: encoder.parts(place) for place in learnt}
        self._needed = Counter(part for parts in self._parts.values() for part in parts or ())
        self._leaves = [
            (float(self._prices[place]), -place) for place in learnt if self._is_leaf(place)
        ]
        heapq.heapify(self._leaves)

    def _is_leaf(self, place: int) -> bool:
        """Invariant: what was accepted stays, so that rounds come to an end."""
        ward = self._ward
        return (
            place >= ward.alphabet
            and not self._needed[place]
            and ward.tokens[place].born != "expression"
        )

    def _cheapest(self, wanted: int, pieces: list[int]) -> list[int] | None:
        """The cheapest leaves, none of them among `pieces`; None if there are not so many."""
        found: list[int] = []
        aside = []
        while self._leaves and len(found) < wanted:
            price, negative = heapq.heappop(self._leaves)
            if not self._is_leaf(-negative):
                continue
            aside.append((price, negative))
            if -negative not in pieces:
                found.append(-negative)
        for leaf in aside:
            heapq.heappush(self._leaves, leaf)
        return found if len(found) == wanted else None

    def _displace(self, place: int) -> None:
        """A leaf goes; its uses pass to its parts, which may be leaves from the next round on."""
        ward = self._ward
        self._displaced.add(place)
        self._needed[place] += 1  # no longer in question
        for part in self._parts.get(place) or ():
            ward.uses[part] += ward.uses[place]

    # --- Spans

    def accept(self) -> list[int]:
        """The spans accepted, by falling priority.

        Invariant: in a round leaves only become fewer, so a priority computed earlier is never too
        low: the best span is the one that is still first after it was computed again."""
        patients, options = self._patients, self._ward.options
        queue = [
            (-priority(gained, patients.scores[i], options), len(patients.texts[i]),
             patients.texts[i], i)
            for i, gained in self._gains.items()
            if gained > self._at_least(i)
        ]  # fmt: skip
        heapq.heapify(queue)
        accepted = []
        while queue:
            _, length, text, i = heapq.heappop(queue)
            leaves = self._leaves_for(i)
            if leaves is None:
                continue
            worth = net(self._gains[i], [float(self._prices[leaf]) for leaf in leaves])
            now = -priority(worth, patients.scores[i], options)
            if worth > 0 and queue and (now, length, text) > queue[0][:3]:
                heapq.heappush(queue, (now, length, text, i))
            elif worth > 0:
                self._add(i, leaves)
                accepted.append(i)
        return accepted

    def _find_gains(self, text: Encoded) -> dict[int, float]:
        """A(s) of the spans that could be worth a place."""
        patients, options = self._patients, self._ward.options
        places = np.array(list(self._pieces), dtype=np.intp)
        tokens = np.array([len(pieces) for pieces in self._pieces.values()], dtype=np.int64)
        counts, documents = patients.counts[places], patients.documents[places]
        if options.in_place:
            sequences = [[piece + BYTES for piece in row] for row in self._pieces.values()]
            used, used_in = text.uses_of_sequences(sequences)
            counts = counts * used / np.maximum(1, patients.held_out_counts[places])
            documents = documents * used_in / np.maximum(1, patients.held_out_documents[places])
        gains = gain(counts, documents, tokens, options)
        return dict(zip(places.tolist(), gains.tolist(), strict=True))

    def _leaves_for(self, i: int) -> list[int] | None:
        """The leaves that would go for a span; None if it cannot be or is surely not worth it."""
        pieces = self._pieces[i]
        if self._gains[i] <= self._at_least(i):
            return None
        if not self._may_join(self._patients.texts[i], pieces):
            return None
        return self._cheapest(self._places(i), pieces)

    def _at_least(self, i: int) -> float:
        """What a span surely costs: all its places at the price of the cheapest leaf."""
        return self._places(i) * self._leaves[0][0] if self._leaves else 0.0

    def _places(self, i: int) -> int:
        """How many leaves must go for a span."""
        needed = 1 if self._ward.fewest else len(self._pieces[i]) - 1
        return max(0, needed - self._free)

    def _may_join(self, text: str, pieces: list[int]) -> bool:
        """Whether the pieces are still there and free in this round, and the chain is new."""
        if any(piece in self._displaced for piece in pieces):
            return False
        if any(pair in self._claimed for pair in zip(pieces, pieces[1:], strict=False)):
            return False
        return not any(prefix in self._known for prefix in self._chain(text, pieces))

    def _chain(self, text: str, pieces: list[int]) -> list[str]:
        """The tokens a span needs: " New" " York" " City" -> " New York", " New York City"."""
        if self._ward.fewest:
            return [text]
        chain = [self._ward.tokens[pieces[0]].text]
        for piece in pieces[1:]:
            chain.append(chain[-1] + self._ward.tokens[piece].text)
        return chain[1:]

    def _add(self, i: int, leaves: list[int]) -> None:
        ward, count = self._ward, int(self._patients.training_counts[i])
        pieces = self._pieces[i]
        chain = self._chain(self._patients.texts[i], pieces)
        self._free = max(0, self._free - len(chain))
        for leaf in leaves:
            self._displace(leaf)
        for piece in pieces:
            self._needed[piece] += 1
            ward.uses[piece] = max(0.0, ward.uses[piece] - count)
        self._claimed.update(zip(pieces, pieces[1:], strict=False))
        self._known.update(chain)
        self._new += [Token(text, count, "expression") for text in chain]
        self._new_uses += [0.0] * (len(chain) - 1) + [float(count)]
        ward.facts["intermediates"] += len(chain) - 1

    def close(self) -> None:
        """Take out what was displaced; the new tokens rank last."""
        ward = self._ward
        stays = [place for place in range(len(ward.tokens)) if place not in self._displaced]
        ward.gone.update(ward.tokens[place].text for place in self._displaced)
        ward.tokens = [ward.tokens[place] for place in stays] + self._new
        ward.uses = np.append(ward.uses[stays], self._new_uses)
        ward.facts["displaced"] += len(self._displaced)


def report(ward: Ward) -> dict[str, Any]:
    names = (
        "accepted", "intermediates", "displaced", "rounds",
        "held_out_tokens_before", "held_out_tokens_after",
    )  # fmt: skip
    return {name: ward.facts[name] for name in names}
