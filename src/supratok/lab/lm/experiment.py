"""One model from text to figures: the step that runs/ repeats for every tokenizer.

    setting = Setting(plan=Plan(tokens=50_000_000), layers=12, width=768)
    trained = learn(setting, coder, coder.encode_all(texts), "cuda")
    figures(trained.model, coder, {"test": articles}, "cuda")

Three budgets can be called fair (`matched`). At equal tokens, as in the paper, the denser tokenizer
reads more text for the same computation. At equal text it reads the same and computes less. At
equal computation the height of the embedding table counts too.
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
from .training import Plan, TrainedModel, train_model

Phrases = Literal["chance", "mean", "shared", "composed"]
Protocol = Literal["tokens", "text", "compute"]


@dataclass(frozen=True)
class Setting:
    """How to train a model over any tokenizer. The last six fields are training aids: `parts`."""

    plan: Plan
    layers: int = 12
    width: int = 768
    context: int = CONTEXT
    splitting: float = 0.0  # how often the model reads a phrase as its words
    # Splitting falls to nothing when the model has read this share of the budget, counted in tokens
    # before splitting; 0: it does not fall.
    fading: float = 0.0
    # How the embeddings of phrases start (chance, mean), or how they are shared with those of words
    # throughout training (shared, composed).
    phrases: Phrases = "chance"
    # Tried, and off: splitting is never below `rest` once the model has read the share `rest_from`
    # of the budget; rows of shared phrases of their own learn from the share `own_from` on.
    rest: float = 0.0
    rest_from: float = 0.0
    own_from: float = 0.0

    def __post_init__(self) -> None:
        if self.phrases not in get_args(Phrases):
            raise ValueError(f"phrases={self.phrases!r}: choose one of {get_args(Phrases)}")
        for name in ("fading", "rest_from", "own_from"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name}={getattr(self, name)}: a share of the budget, 0 to 1")
        if self.rest and not self.splitting:
            raise ValueError(f"rest={self.rest}: what remains of splitting; set splitting above 0")
        if self.own_from and self.phrases not in ("shared", "composed"):
            raise ValueError(f"own_from={self.own_from}: set phrases to 'shared' or 'composed'")

    def __str__(self) -> str:
        return f"{self.layers}L-{self.width}d"

    def shape(self, coder: Coder) -> Shape:
        return Shape(coder.rows, self.layers, self.width, self.context)

    def splitter(self, parts: Parts) -> Splitting:
        """Splits the phrases of the stream, where `splitting` is above 0."""
        until = max(1, round(self.plan.tokens * self.fading)) if self.fading else None
        since = round(self.plan.tokens * self.rest_from)
        return Splitting(parts, self.splitting, until, self.rest, since)


def learn(
    setting: Setting,
    coder: Coder,
    documents: Sequence[Ids],
    device: torch.device | str,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> TrainedModel:
    """Train a model on documents that the coder has encoded."""
    plan, splitter, sharing = setting.plan, None, None
    model = new_decoder(setting.shape(coder), plan.seed).to(device)
    if setting.splitting or setting.phrases != "chance":
        parts = phrase_parts(coder)
        splitter = setting.splitter(parts) if setting.splitting else None
        if setting.phrases != "chance":
            composed = setting.phrases == "composed"
            shared = Sharing(parts, setting.width, composed, setting.own_from).to(device)
            shared.start(model.table.data, own=setting.phrases != "mean")
            sharing = shared if setting.phrases != "mean" else None
    stream = Stream(documents, coder.end, plan.seed, splitter)
    return train_model(
        model, plan, stream, device, sharing=sharing, folder=folder, progress=progress
    )


def matched(
    plan: Plan,
    protocol: Protocol,
    *,
    tokens: tuple[int, int] | None = None,
    shapes: tuple[Shape, Shape] | None = None,
) -> Plan:
    """`plan` is that of a first tokenizer; the result is the fair plan for a second one. Equal text
    needs the `tokens` of one round of the text, equal computation the `shapes` of the models: of
    the first, then of the second."""
    if protocol not in get_args(Protocol):
        raise ValueError(f"protocol={protocol!r}: choose one of {get_args(Protocol)}")
    share = 1.0
    if protocol == "text":
        if tokens is None:
            raise ValueError("protocol='text': pass the tokens of one round of the text")
        share = tokens[1] / tokens[0]
    elif protocol == "compute":
        if shapes is None:
            raise ValueError("protocol='compute': pass the shapes of the two models")
        share = shapes[0].operations / shapes[1].operations
    return replace(plan, tokens=round(plan.tokens * share))


def figures(
    model: Decoder, coder: Coder, tests: Mapping[str, Sequence[str]], device: torch.device | str
) -> dict[str, Any]:
    """For each test: bits per character, and the nats and characters of each text."""
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
