"""The probability that a model's text begins with a given text, exactly.

A model gives probabilities of ids. A text that ends inside a phrase is the beginning of several
sequences of ids: with the token ` New York` the text `in New` goes on behind `in| New`, or with the
next token behind `in`. These are the covers of the text (`Tokenizer.covers`), and each continuation
falls in exactly one of them. So

    P(text) = sum over its covers of P(ids of the cover) * P(next id is in may_come(cover))

where the last factor is 1 for the cover with an empty rest: there the text is whole, and whatever
follows continues it, the end included.

P(id | ids) is the model's, restricted to what `encode` can give: an id that may not come next
(`Tokenizer.next_mask`) has probability 0, and the others are divided by their sum. With
`canonical=False` it is the model's own, and sequences that `encode` never gives are left out of the
sum: the result is too small by their probability. `temperature` divides the logits first.

All covers of a text begin with its stable ids. These are a common factor, which cancels out
wherever a probability is given a prompt; so only the few ids behind them are ever looked at.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..tokenizer import Tokenizer
from ..tokenizer.boundaries import Cover
from .masks import Masks
from .reading import Ids, Kept, Reading, Tensor, Tree, read, torch


class Prompt:
    """The covers of a text, and the ids that they have in common."""

    def __init__(self, tokenizer: Tokenizer, text: str, allow_special: bool) -> None:
        self.tokenizer, self.text = tokenizer, text
        self.covers = tokenizer.covers(text, allow_special=allow_special)
        shortest = min((cover.ids for cover in self.covers), key=len)
        self.stable = shortest
        for cover in self.covers:
            self.stable = _alike(self.stable, cover.ids)

    def tail(self, cover: Cover) -> Ids:
        """The ids of a cover behind the stable ones; also of covers of a longer text."""
        return tuple(cover.ids[len(self.stable) :])

    def nodes(self, covers: Iterable[Cover]) -> list[Ids]:
        """Where the covers' probabilities are read off: before each id, and before what crosses the
        end of the text."""
        tails = [(self.tail(cover), bool(cover.rest)) for cover in covers]
        found = [tail[:size] for tail, more in tails for size in range(len(tail) + more)]
        return sorted({(), *found})


def _alike(one: list[int], other: list[int]) -> list[int]:
    size = next((at for at, pair in enumerate(zip(one, other, strict=False))
                 if pair[0] != pair[1]), min(len(one), len(other)))  # fmt: skip
    return one[:size]


class Chances:
    """Log-probabilities behind the stable ids of a prompt, at its nodes."""

    def __init__(
        self,
        prompt: Prompt,
        tree: Tree,
        reading: Reading,
        masks: Masks | None,
        heat: float,
    ) -> None:
        self.prompt, self.base = prompt, list(tree.base)
        nodes = tree.endings
        self._rows = {node: row for row, node in enumerate(nodes)}
        logits = torch.stack([reading.after(node) for node in nodes])
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32)) / heat
        if masks is not None:
            before = [[*prompt.stable, *node] for node in nodes]
            may = [masks.after(ids, row) for ids, row in zip(before, logits, strict=True)]
            logits = logits.masked_fill(~torch.stack(may), -math.inf)
        self._table = logits.log_softmax(1)
        self._crossing: dict[tuple[Ids, str], Tensor] = {}

    def next(self, node: Ids) -> Tensor:
        """Of each id behind a node."""
        return self._table[self._rows[node]]

    def crossing(self, cover: Cover) -> Tensor:
        """The ids that may come behind a cover with a rest."""
        key = self.prompt.tail(cover), cover.rest
        if key not in self._crossing:
            ids = torch.from_numpy(self.prompt.tokenizer.may_come(cover))
            self._crossing[key] = ids.to(self._table.device)
        return self._crossing[key]

    @functools.cached_property
    def best(self) -> dict[Ids, int]:
        """The likeliest id behind each node."""
        return dict(zip(self._rows, self._table.argmax(1).tolist(), strict=True))

    def covers(self, covers: Sequence[Cover]) -> list[float]:
        """That the ids behind the stable ones are those of each cover. All are read off at once: a
        GPU waits for each look from outside."""
        places = list[tuple[int, int]]()  # rows of the table, and ids
        ends = []  # what crosses the end of the text
        for cover in covers:
            tail = self.prompt.tail(cover)
            places += [(self._rows[tail[:size]], id) for size, id in enumerate(tail)]
            if cover.rest:
                ends.append(self.next(tail)[self.crossing(cover)].logsumexp(0)[None])
        rows, ids = torch.tensor(places, dtype=torch.long).view(-1, 2).T.to(self._table.device)
        read = iter(torch.cat([self._table[rows, ids], *ends]).tolist())
        found = [sum(next(read) for _ in self.prompt.tail(cover)) for cover in covers]
        return [value + (next(read) if cover.rest else 0.0)
                for value, cover in zip(found, covers, strict=True)]  # fmt: skip


def all_chances(
    model: Any,
    prompts: Sequence[tuple[Prompt, Sequence[Cover]]],
    bos: Sequence[int],
    *,
    masks: Masks | None,
    temperature: float = 1.0,
    context: int | None = None,
    keep: bool = False,
) -> tuple[list[Chances], Kept | None]:
    """Of each prompt at the nodes of these covers; the model reads them all together. Without
    masks, the model's own probabilities. `keep`: see `read`."""
    nodes = [prompt.nodes(covers) for prompt, covers in prompts]
    trees = [
        Tree(_base(prompt, bos, context and context - max(map(len, some))), some)
        for (prompt, _), some in zip(prompts, nodes, strict=True)
    ]
    with torch.no_grad():
        readings, kept = read(model, trees, keep)
        rows = zip(prompts, trees, readings, strict=True)
        found = [Chances(one, tree, of, masks, temperature) for (one, _), tree, of in rows]
    return found, kept


def _base(prompt: Prompt, bos: Sequence[int], room: int | None) -> list[int]:
    """What the model reads first; the last of it, if not all fits."""
    base = [*bos, *prompt.stable]
    if not base:
        raise ValueError(
            f"the text {prompt.text[:40]!r} may begin with several tokens, and a model says nothing"
            " before the first: pass bos=[id] with the id that starts a text"
        )
    if room is None:
        return base
    if room < 1:
        raise ValueError("the text behind the prompt does not fit into the model's context")
    return base[-room:]


def start_of_text(model: Any, tokenizer: Tokenizer, bos: Sequence[int] | None) -> list[int]:
    """The ids before every prompt: those given, or the model's token that starts a text, if the
    tokenizer has it as a special token."""
    if bos is not None:
        return list(bos)
    known = getattr(getattr(model, "config", None), "bos_token_id", None)
    return [known] if known in set(tokenizer.special_tokens.values()) else []
