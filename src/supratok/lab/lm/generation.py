"""Sample text from a model, and measure how varied it is.

    texts = sample(model, coder, [""] * 1000, tokens=100, seed=0, device="cuda")
    distinct(texts, 2)                                  # paper, Table 11

Distinct-n is the share of runs of n words in a text that are not repetitions. To compare it between
tokenizers, make two things equal:

- The unit: count words, since tokens differ between tokenizers.
- The length: a longer text repeats more, whoever wrote it, and 100 tokens with phrases are longer
  than 100 tokens of words. So cut all texts to the same number of words first:

    words = common_words([ours, theirs])                # as many as nearly all texts have
    distinct(first_words(ours, words), 2), distinct(first_words(theirs, words), 2)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from .coder import Coder
from .model import Decoder
from .precision import hidden_states

_AT_ONCE = 256  # texts

# --- Sampling


def sample(
    model: Decoder,
    coder: Coder,
    prompts: Sequence[str],
    tokens: int = 100,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int = 0,
    device: torch.device | str = "cpu",
) -> list[str]:
    """`tokens` tokens after each prompt, as text. `top_k`: draw from the likeliest k tokens only.
    The end of a document is never drawn, so all samples have the same number of tokens.

    The model reads each prompt after the token that ends documents, and without its beginning if
    the context has no room for it."""
    room = model.shape.context - tokens + 1
    if tokens < 1 or room < 1:
        raise ValueError(f"tokens={tokens}: 1 to {model.shape.context}, the model's context")
    if temperature <= 0:
        raise ValueError(f"temperature={temperature}: must be above 0; near 0 draws the likeliest")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k={top_k}: must be at least 1")
    draw = _Draw(coder, temperature, top_k, torch.Generator(device).manual_seed(seed))
    coded = [[coder.end, *ids.tolist()][-room:] for ids in coder.encode_all(prompts)]
    made: list[list[int]] = []
    for start in range(0, len(coded), _AT_ONCE):
        made += _continued(model, coded[start : start + _AT_ONCE], tokens, draw, device)
    return [_text_after(coder, *pair) for pair in zip(coded, made, strict=True)]


class _Draw:
    """Draws a token of the vocabulary by its probability."""

    def __init__(
        self, coder: Coder, temperature: float, top_k: int | None, chance: torch.Generator
    ) -> None:
        self._end, self._size = coder.end, coder.peer.vocab_size
        self._temperature, self._chance = temperature, chance
        self._top = top_k if top_k is not None and top_k < self._size else None

    def __call__(self, logits: Tensor) -> Tensor:
        """`logits` has a row for each text. The end of documents is no text, and neither are the
        columns after the vocabulary."""
        logits = logits[:, : self._size] / self._temperature
        if self._end < self._size:
            logits[:, self._end] = -torch.inf
        if self._top is not None:
            least = logits.topk(self._top).values[:, -1:]
            logits = logits.masked_fill(logits < least, -torch.inf)
        return torch.multinomial(logits.softmax(dim=1), 1, generator=self._chance)[:, 0]


@torch.no_grad()
def _continued(
    model: Decoder, prompts: list[list[int]], tokens: int, draw: _Draw, device: torch.device | str
) -> list[list[int]]:
    """Ids that follow each prompt. The model reads all texts again for each token: simple, and on a
    GPU fast enough for samples of a few hundred tokens. Shorter texts are padded at the end, where
    no token attends."""
    lengths = torch.tensor([len(ids) for ids in prompts], device=device)
    longest = max(len(ids) for ids in prompts)
    table = np.zeros((len(prompts), longest + tokens), dtype=np.int64)
    for row, ids in enumerate(prompts):
        table[row, : len(ids)] = ids
    texts, rows = torch.from_numpy(table).to(device), torch.arange(len(prompts), device=device)
    for step in range(tokens):
        hidden = hidden_states(model, texts[:, : longest + step])[rows, lengths + step - 1]
        texts[rows, lengths + step] = draw(hidden.float() @ model.table.T)
    return [
        ids[length : length + tokens]
        for ids, length in zip(texts.tolist(), lengths.tolist(), strict=True)
    ]


def _text_after(coder: Coder, prompt: list[int], made: list[int]) -> str:
    known = [id for id in prompt if id != coder.end]
    return coder.peer.decode(known + made)[len(coder.peer.decode(known)) :]


# --- Variety


def distinct(texts: Sequence[str], n: int) -> float:
    """The share of different runs of n words in a text, averaged over texts of at least n words."""
    runs = [list(_runs(text, n)) for text in texts]
    shares = [len(set(some)) / len(some) for some in runs if some]
    return sum(shares) / len(shares) if shares else 0.0


def distinct_together(texts: Sequence[str], n: int) -> float:
    """The same over all texts together, as Li et al. (2016) define it: a run that two texts share
    counts as a repetition too."""
    runs = [run for text in texts for run in _runs(text, n)]
    return len(set(runs)) / len(runs) if runs else 0.0


def _runs(text: str, n: int) -> Iterator[tuple[str, ...]]:
    words = text.split()
    return zip(*(words[start:] for start in range(n)), strict=False)


def common_words(groups: Sequence[Sequence[str]], share: float = 0.95) -> int:
    """The number of words that this share of the texts reach, in every group."""
    counts = [sorted((len(text.split()) for text in texts), reverse=True) for texts in groups]
    return min(some[max(0, int(share * len(some)) - 1)] for some in counts)


def first_words(texts: Sequence[str], words: int) -> list[str]:
    """Each text cut to this many words; shorter texts are left out."""
    cut = [text.split()[:words] for text in texts]
    return [" ".join(some) for some in cut if len(some) == words]
