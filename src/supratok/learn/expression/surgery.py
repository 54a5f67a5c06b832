"""Leaf surgery (paper 3.3, Appendix A): spans replace tokens that are worth less.

Under `merges` a token is made of two others, so only a leaf may go: a token that no other is made
of. A span that is now encoded as t1 t2 t3 needs the chain t1t2, t1t2t3, so it pays for two places.
Under `fewest` every learnt token is a leaf and a span needs one place.

An accepted span changes the encoding of others and the worth of tokens. So there are rounds: in a
round each join of two neighbouring tokens belongs to one span; other spans that need the join wait
for the next round, with the new tokenizer.

Why the tokens still encode to themselves: new tokens rank last, so they join only where all old
joins are done, and of any blocks that t1...tl have formed, the first and the next make a prefix of
the chain. No other token is made of a leaf, so nothing else changes when it goes.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...common import _core
from ...recipe import Expressions
from ...tokenizer import BYTES, Token, encoder_of_tokens
from .deciding import Deciding
from .score import Figures, gain, net, priority, utility
from .uses import Encoded

# Choice: at 100k tokens of English the rounds end by themselves after 5 or 6.
ROUNDS = 8


@dataclass(frozen=True)
class Candidates:
    """The spans that may get a place, a row each; counts and documents are those of A(s)."""

    texts: list[str]
    training_counts: NDArray[np.int64]
    held_out_counts: Figures
    held_out_documents: Figures
    counts: Figures
    documents: Figures
    scores: Figures  # S(s)


@dataclass
class Usage:
    """The text in which tokens are counted: held-out text, mixed with training text by
    `training_share`.

    `scale` is the size of the held-out text in units of the training text."""

    held_out: Deciding
    threads: int
    training_share: float = 0.0
    scale: float = 0.0


@dataclass
class Surgery:
    """The vocabulary that changes, and what has happened to it."""

    tokens: list[Token]
    uses: NDArray[np.float64]  # of each token in the training text; zeros without training_share
    alphabet: int
    size: int  # the most tokens there may be
    fewest: bool
    options: Expressions
    usage: Usage
    gone: set[str] = field(default_factory=set)  # displaced texts: they do not come back
    facts: Counter[str] = field(default_factory=Counter)

    def encoder(self) -> _core.Encoder:
        return encoder_of_tokens(self.tokens, self.fewest)

    def run(self, candidates: Candidates) -> list[Token]:
        """Rounds until one accepts nothing; the tokens after them."""
        waiting = np.arange(len(candidates.texts))
        for number in range(ROUNDS):
            round = _Round(self, candidates, waiting)
            accepted = round.accept()
            if number == 0:
                self.facts["held_out_tokens_before"] = round.held_out_tokens
            if not accepted:
                break
            round.close()
            waiting = np.setdiff1d(waiting, accepted)
            self.facts["rounds"] += 1
            self.facts["accepted"] += len(accepted)
        encoder = self.encoder()
        if encoder.states().any():
            bad = self.tokens[int(np.flatnonzero(encoder.states())[0])].text
            raise AssertionError(f"after the surgery {bad!r} does not encode to itself")
        used = encoder.usage(self.usage.held_out.texts, self.usage.threads)
        self.facts["held_out_tokens_after"] = int(used.sum())
        return self.tokens

    def report(self) -> dict[str, int]:
        names = (
            "accepted", "intermediates", "displaced", "rounds",
            "held_out_tokens_before", "held_out_tokens_after",
        )  # fmt: skip
        return {name: self.facts[name] for name in names}


class _Round:
    """One round: the leaves by rising price, and the spans by falling priority."""

    def __init__(self, surgery: Surgery, candidates: Candidates, waiting: NDArray[np.intp]) -> None:
        self._surgery, self._candidates = surgery, candidates
        encoder = surgery.encoder()
        encoded = Encoded.of(encoder, surgery.usage.held_out, surgery.usage.threads)
        self.held_out_tokens = len(encoded)
        self._price_tokens(encoded)
        self._find_leaves(encoder)
        self._free = surgery.size - len(surgery.tokens)
        waits = [i for i in waiting.tolist() if candidates.texts[i] not in surgery.gone]
        texts = [candidates.texts[i] for i in waits]
        ids = encoder.encode_batch(texts, surgery.usage.threads, False)
        pieces = [[int(id) - BYTES for id in row] for row in ids]
        self._pieces = {i: row for i, row in zip(waits, pieces, strict=True) if len(row) > 1}
        self._gains = self._find_gains(encoded)
        self._known = {token.text for token in surgery.tokens}
        self._claimed: set[tuple[int, int]] = set()
        self._displaced: set[int] = set()
        self._new: list[Token] = []
        self._new_uses: list[float] = []

    # --- Leaves

    def _price_tokens(self, text: Encoded) -> None:
        """U(m) of every token."""
        surgery, usage = self._surgery, self._surgery.usage
        counts, documents = (part[BYTES:] for part in text.uses(BYTES + len(surgery.tokens)))
        share = usage.training_share
        training = surgery.uses * usage.scale
        # Choice: a use in the training text is a document of its own, up to all documents.
        in_documents = np.minimum(training, len(usage.held_out.texts))
        self._prices = utility(
            (1 - share) * counts + share * training,
            (1 - share) * documents + share * in_documents,
            surgery.options,
        )

    def _find_leaves(self, encoder: _core.Encoder) -> None:
        """A heap of the leaves, cheapest first; of equals the one that ranks last."""
        surgery = self._surgery
        learnt = range(surgery.alphabet, len(surgery.tokens))
        self._parts = {} if surgery.fewest else {place: encoder.parts(place) for place in learnt}
        self._needed = Counter(part for parts in self._parts.values() for part in parts or ())
        self._leaves = [
            (float(self._prices[place]), -place) for place in learnt if self._is_leaf(place)
        ]
        heapq.heapify(self._leaves)

    def _is_leaf(self, place: int) -> bool:
        """Invariant: accepted spans stay, so the rounds end."""
        surgery = self._surgery
        return (
            place >= surgery.alphabet
            and not self._needed[place]
            and surgery.tokens[place].born != "expression"
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
        surgery = self._surgery
        self._displaced.add(place)
        self._needed[place] += 1  # no longer a leaf
        for part in self._parts.get(place) or ():
            surgery.uses[part] += surgery.uses[place]

    # --- Spans

    def accept(self) -> list[int]:
        """The spans accepted, by falling priority.

        Invariant: in a round leaves only become fewer, so an earlier priority is never too low: the
        best span is the one that is still first when its priority is computed again."""
        candidates, options = self._candidates, self._surgery.options
        queue = [
            (-priority(gained, candidates.scores[i], options), len(candidates.texts[i]),
             candidates.texts[i], i)
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
            now = -priority(worth, candidates.scores[i], options)
            if worth > 0 and queue and (now, length, text) > queue[0][:3]:
                heapq.heappush(queue, (now, length, text, i))
            elif worth > 0:
                self._add(i, leaves)
                accepted.append(i)
        return accepted

    def _find_gains(self, text: Encoded) -> dict[int, float]:
        """A(s) of the spans that may deserve a place."""
        candidates, options = self._candidates, self._surgery.options
        places = np.array(list(self._pieces), dtype=np.intp)
        tokens = np.array([len(pieces) for pieces in self._pieces.values()], dtype=np.int64)
        counts, documents = candidates.counts[places], candidates.documents[places]
        if options.in_place:
            sequences = [[piece + BYTES for piece in row] for row in self._pieces.values()]
            used, used_in = text.uses_of_sequences(sequences)
            counts = counts * used / _not_0(candidates.held_out_counts[places])
            documents = documents * used_in / _not_0(candidates.held_out_documents[places])
        gains = gain(counts, documents, tokens, options)
        return dict(zip(places.tolist(), gains.tolist(), strict=True))

    def _leaves_for(self, i: int) -> list[int] | None:
        """The leaves that would go for a span; None if it cannot join or is surely worth less."""
        pieces = self._pieces[i]
        if self._gains[i] <= self._at_least(i):
            return None
        if not self._may_join(self._candidates.texts[i], pieces):
            return None
        return self._cheapest(self._places(i), pieces)

    def _at_least(self, i: int) -> float:
        """The least cost of a span: all its places at the price of the cheapest leaf."""
        return self._places(i) * self._leaves[0][0] if self._leaves else 0.0

    def _places(self, i: int) -> int:
        """How many leaves must go for a span."""
        needed = 1 if self._surgery.fewest else len(self._pieces[i]) - 1
        return max(0, needed - self._free)

    def _may_join(self, text: str, pieces: list[int]) -> bool:
        """Whether the pieces are present and free in this round, and the chain is new."""
        if any(piece in self._displaced for piece in pieces):
            return False
        if any(pair in self._claimed for pair in zip(pieces, pieces[1:], strict=False)):
            return False
        return not any(prefix in self._known for prefix in self._chain(text, pieces))

    def _chain(self, text: str, pieces: list[int]) -> list[str]:
        """The tokens a span needs: " New" " York" " City" -> " New York", " New York City"."""
        if self._surgery.fewest:
            return [text]
        chain = [self._surgery.tokens[pieces[0]].text]
        for piece in pieces[1:]:
            chain.append(chain[-1] + self._surgery.tokens[piece].text)
        return chain[1:]

    def _add(self, i: int, leaves: list[int]) -> None:
        surgery, count = self._surgery, int(self._candidates.training_counts[i])
        pieces = self._pieces[i]
        chain = self._chain(self._candidates.texts[i], pieces)
        self._free = max(0, self._free - len(chain))
        for leaf in leaves:
            self._displace(leaf)
        for piece in pieces:
            self._needed[piece] += 1
            surgery.uses[piece] = max(0.0, surgery.uses[piece] - count)
        self._claimed.update(zip(pieces, pieces[1:], strict=False))
        self._known.update(chain)
        self._new += [Token(text, count, "expression") for text in chain]
        self._new_uses += [0.0] * (len(chain) - 1) + [float(count)]
        surgery.facts["intermediates"] += len(chain) - 1

    def close(self) -> None:
        """Remove the displaced tokens; the new tokens rank last."""
        surgery = self._surgery
        stays = [place for place in range(len(surgery.tokens)) if place not in self._displaced]
        surgery.gone.update(surgery.tokens[place].text for place in self._displaced)
        surgery.tokens = [surgery.tokens[place] for place in stays] + self._new
        surgery.uses = np.append(surgery.uses[stays], self._new_uses)
        surgery.facts["displaced"] += len(self._displaced)


def _not_0(counts: Figures) -> Figures:
    return np.where(counts > 0, counts, 1.0)
