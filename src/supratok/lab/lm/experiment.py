"""One model from text to figures: what the scripts in runs/ repeat for every tokenizer.

    setting = Setting(plan=Plan(tokens=50_000_000), layers=12, width=768)
    learnt = learn(setting, coder, coder.encode_all(texts), "cuda")
    figures(learnt.model, coder, {"test": articles}, "cuda")

Which budget is fair is a question with three answers (`matched`). With the same number of tokens,
as in the paper, the denser tokenizer reads more text for the same computation. With the same text
it reads the same and computes less. With the same computation the size of the table counts too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import torch

from ...common.progress import Progress
from .bits import bits_per_character
from .coder import Coder, Ids
from .model import CONTEXT, Decoder, Shape, new_decoder
from .parts import Parts, Sharing, Splitting, phrase_parts
from .stream import Stream
from .training import Learnt, Plan, train_model

Phrases = Literal["chance", "mean", "shared", "composed"]
Protocol = Literal["tokens", "text", "compute"]


@dataclass(frozen=True)
class Setting:
    """How a model learns, whatever its tokenizer. See `parts` for the last three."""

    plan: Plan
    layers: int = 12
    width: int = 768
    context: int = CONTEXT
    splitting: float = 0.0  # how often a phrase is read as its words
    # To nothing, when as many tokens as this share of the budget are read, as the tokenizer writes
    # them; 0: it does not fade.
    fading: float = 0.0
    phrases: Phrases = "chance"  # how the embeddings of phrases begin, or are shared all along

    def __post_init__(self) -> None:
        if self.phrases not in get_args(Phrases):
            raise ValueError(f"phrases={self.phrases!r}: choose one of {get_args(Phrases)}")
        if not 0.0 <= self.fading <= 1.0:
            raise ValueError(f"fading={self.fading}: a share of the budget, from 0 to 1")

    def __str__(self) -> str:
        return f"{self.layers}L-{self.width}d"

    def shape(self, coder: Coder) -> Shape:
        return Shape(coder.rows, self.layers, self.width, self.context)

    def change(self, parts: Parts) -> Splitting:
        """What is done to the stream, if phrases are split."""
        until = max(1, round(self.plan.tokens * self.fading)) if self.fading else None
        return Splitting(parts, self.splitting, until)


def learn(
    setting: Setting,
    coder: Coder,
    documents: Sequence[Ids],
    device: torch.device | str,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Learnt:
    """A model of the coder's tokens, from documents that it has encoded."""
    plan, change, sharing = setting.plan, None, None
    model = new_decoder(setting.shape(coder), plan.seed).to(device)
    if setting.splitting or setting.phrases != "chance":
        parts = phrase_parts(coder)
        change = setting.change(parts) if setting.splitting else None
        if setting.phrases != "chance":
            shared = Sharing(parts, setting.width, setting.phrases == "composed").to(device)
            shared.start(model.table.data, own=setting.phrases != "mean")
            sharing = shared if setting.phrases != "mean" else None
    stream = Stream(documents, coder.end, plan.seed, change)
    return train_model(
        model, plan, stream, device, sharing=sharing, folder=folder, progress=progress
    )


def matched(
    plan: Plan,
    protocol: Protocol,
    shapes: tuple[Shape, Shape],
    tokens: tuple[int, int],
) -> Plan:
    """The plan for a tokenizer that is fair to another, whose plan this is. `shapes` and `tokens`
    of one round of the text: of the other, then of its own."""
    if protocol not in get_args(Protocol):
        raise ValueError(f"protocol={protocol!r}: choose one of {get_args(Protocol)}")
    share = 1.0
    if protocol == "text":
        share = tokens[1] / tokens[0]
    elif protocol == "compute":
        share = shapes[0].operations / shapes[1].operations
    return replace(plan, tokens=round(plan.tokens * share))


def figures(
    model: Decoder, coder: Coder, tests: Mapping[str, Sequence[str]], device: torch.device | str
) -> dict[str, Any]:
    """Of each test: bits per character, and what they are made of, text by text."""
    found = {}
    for name, texts in tests.items():
        bits = bits_per_character(model, coder, texts, device)
        found[name] = {
            "bits_per_character": bits.per_character,
            "perplexity": bits.perplexity,
            "tokens_per_text": bits.tokens_per_text,
            "characters_per_token": sum(bits.characters) / max(1, sum(bits.tokens)),
            "nats": [round(value, 4) for value in bits.nats],
            "characters": list(bits.characters),
        }
    return found
