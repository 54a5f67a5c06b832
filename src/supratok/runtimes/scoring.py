"""How likely a model finds a continuation of a prompt: exact at both ends.

    logprob(model, tokenizer, "in New", " York")

The usual way cuts the ids of the joined text where the prompt ends, or encodes the two apart. Where
a token spans that place, the model then reads ids that no text has. Here a score is the ratio of
two probabilities of texts: P(prompt + continuation) / P(prompt), see chances.py. Scores of several
continuations of a prompt can be compared, and are those of the text alone, wherever its tokens end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..tokenizer import Tokenizer
from ..tokenizer.boundaries import Cover
from .chances import Chances, Prompt, all_chances, start_of_text
from .masks import Masks
from .reading import Ids, torch


class Score(NamedTuple):
    """`greedy`: whether the continuation is what the model writes if it always takes the likeliest:
    cover, then ids."""

    logprob: float
    greedy: bool


def logprob(
    model: Any, tokenizer: Tokenizer, prompt: str, continuation: str, **options: Any
) -> float:
    """The natural logarithm of the probability that a text which begins with the prompt goes on
    with the continuation. The options are those of `logprobs`.

    >>> supratok.logprob(model, tokenizer, "in New", " York")      # doctest: +SKIP
    -1.25
    """
    return logprobs(model, tokenizer, [(prompt, continuation)], **options)[0]


def logprobs(
    model: Any,
    tokenizer: Tokenizer,
    pairs: Iterable[tuple[str, str]],
    *,
    canonical: bool = True,
    bos: Sequence[int] | None = None,
    allow_special: bool = False,
    context: int | None = None,
    batch_size: int = 8,
) -> list[float]:
    """The same of pairs of a prompt and a continuation. Continuations of one prompt are read
    together.

    `canonical`: the model restricted to sequences that `encode` gives; False for its own
    probabilities, summed over such sequences alone. `bos`: ids before each prompt (default: the
    model's own start of text, if the tokenizer has that special token). `allow_special`: special
    tokens written in the texts become their ids. `context`: how many positions the model has; of
    longer texts it reads the end. `batch_size`: prompts read at once."""
    found = scores(
        model, tokenizer, pairs, canonical=canonical, bos=bos, allow_special=allow_special,
        context=context, batch_size=batch_size,
    )  # fmt: skip
    return [score.logprob for score in found]


def scores(
    model: Any,
    tokenizer: Tokenizer,
    pairs: Iterable[tuple[str, str]],
    *,
    canonical: bool = True,
    bos: Sequence[int] | None = None,
    allow_special: bool = False,
    context: int | None = None,
    batch_size: int = 8,
) -> list[Score]:
    """The options of `logprobs`."""
    start, masks = start_of_text(model, tokenizer, bos), Masks(tokenizer) if canonical else None
    asked: dict[str, dict[str, Score | None]] = {}
    pairs = list(pairs)
    for prompt, continuation in pairs:
        asked.setdefault(prompt, {})[continuation] = None
    # Prompts of similar lengths together: less padding.
    texts = sorted(asked, key=len, reverse=True)
    for first in range(0, len(texts), batch_size):
        some = texts[first : first + batch_size]
        prompts = [Prompt(tokenizer, text, allow_special) for text in some]
        joined = [
            {more: _joined(prompt, more, allow_special) for more in asked[prompt.text]}
            for prompt in prompts
        ]
        wanted = [
            (prompt, [*prompt.covers, *(cover for covers in mores.values() for cover in covers)])
            for prompt, mores in zip(prompts, joined, strict=True)
        ]
        read, _ = all_chances(model, wanted, start, masks=masks, context=context)
        for text, mores, chances in zip(some, joined, read, strict=True):
            asked[text] = dict(zip(mores, _scores(chances, list(mores.values())), strict=True))
    return [asked[prompt][continuation] for prompt, continuation in pairs]  # type: ignore[misc]


def _joined(prompt: Prompt, more: str, allow_special: bool) -> list[Cover]:
    """The covers of the joined text; they begin with the prompt's stable ids."""
    covers = prompt.tokenizer.covers(prompt.text + more, allow_special=allow_special)
    size = len(prompt.stable)
    if any(cover.ids[:size] != prompt.stable for cover in covers):
        raise ValueError(
            f"a special token spans the end of the prompt {prompt.text[-40:]!r}: write it wholly"
            " in the prompt or in the continuation"
        )
    return covers


def _scores(chances: Chances, joined: Sequence[Sequence[Cover]]) -> list[Score]:
    """Of each continuation, by the covers of the joined text."""
    groups = [chances.prompt.covers, *joined]
    each = iter(chances.covers([cover for covers in groups for cover in covers]))
    whole, *totals = (_total([next(each) for _ in covers]) for covers in groups)
    node = likeliest(chances)
    return [
        Score(total - whole, _is_greedy(chances, node, covers))
        for total, covers in zip(totals, joined, strict=True)
    ]


def _total(chances: list[float]) -> float:
    """The logarithm of the sum of probabilities."""
    return float(torch.tensor(chances, dtype=torch.float64).logsumexp(0))


def _is_greedy(chances: Chances, node: Ids, joined: Sequence[Cover]) -> bool:
    """Follow the likeliest ids from a node while they are on the way to the joined text."""
    while not _spells(chances, node, joined):
        if all(chances.prompt.tail(cover)[: len(node)] != node for cover in joined):
            return False
        node = (*node, chances.best[node])
    return True


def _spells(chances: Chances, node: Ids, joined: Sequence[Cover]) -> bool:
    """Whether the text up to a node begins with the joined text."""
    for cover in joined:
        tail = chances.prompt.tail(cover)
        if not cover.rest and tail == node:
            return True
        if cover.rest and node and node[:-1] == tail and node[-1] in chances.crossing(cover):
            return True
    return False


def likeliest(chances: Chances) -> Ids:
    """The ids of the likeliest cover of a prompt behind the stable ones, and of the likeliest token
    that crosses its end."""
    covers = chances.prompt.covers
    values = chances.covers(covers)
    best = covers[values.index(max(values))]
    tail = chances.prompt.tail(best)
    if not best.rest:
        return tail
    ids = chances.crossing(best)
    return (*tail, int(ids[chances.next(tail)[ids].argmax()]))
