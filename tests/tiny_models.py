"""Models of one layer over vocabularies of a few tokens, and all their texts by enumeration."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import pytest

from supratok import Tokenizer
from supratok.reference import boundaries as plain
from vocabularies import made, rule_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TOKENS = ["ab", " a", "a b", "b a", "aba", " ab", "ba b"]
FOREIGN = "é"  # outside the alphabet: two bytes


def tiny_tokenizer(rule: str) -> Tokenizer:
    return made(TOKENS, rule)


def gpt2(tokenizer: Tokenizer, seed: int = 0, **options: Any) -> Any:
    """Its probabilities are far from even, so that each cover matters."""
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=tokenizer.vocab_size + 5, n_positions=64, n_embd=32, n_layer=1, n_head=2,
        bos_token_id=0, eos_token_id=0, pad_token_id=0, initializer_range=0.4, **options,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config).eval()


def llama(tokenizer: Tokenizer, seed: int = 0) -> Any:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=tokenizer.vocab_size + 5, max_position_embeddings=64, hidden_size=32,
        intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        bos_token_id=0, eos_token_id=0, pad_token_id=0, initializer_range=0.4,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).eval()


def mistral(tokenizer: Tokenizer, seed: int = 0) -> Any:
    """It looks back at five ids only, and its cache holds no more."""
    torch.manual_seed(seed)
    config = transformers.MistralConfig(
        vocab_size=tokenizer.vocab_size + 5, max_position_embeddings=64, hidden_size=32,
        intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        sliding_window=5, bos_token_id=0, eos_token_id=0, pad_token_id=0, initializer_range=0.4,
    )  # fmt: skip
    return transformers.MistralForCausalLM(config).eval()


def used_ids(tokenizer: Tokenizer) -> list[int]:
    """Of the tokens, of the special token and of the bytes of one foreign character."""
    first = tokenizer._ids.bytes
    return sorted({0, *(first[byte] for byte in FOREIGN.encode()), *tokenizer._ids.entries})


def narrow(model: Any, ids: list[int]) -> Any:
    """The model with no other ids, so that all its texts can be listed."""
    others = torch.ones(model.config.vocab_size, dtype=torch.bool)
    others[ids] = False
    original = model.forward

    @functools.wraps(original)
    def forward(*args: Any, **options: Any) -> Any:
        out = original(*args, **options)
        out.logits = out.logits.masked_fill(others, -1e4)
        return out

    model.forward = forward
    return model.double()


class Enumeration:
    """The probability of each canonical sequence of ids up to a number of bytes, one by one, by the
    plain rule: what may come next is found by encoding."""

    def __init__(self, model: Any, tokenizer: Tokenizer, size: int, canonical: bool) -> None:
        self.rule, self.ids, self.canonical = rule_of(tokenizer), used_ids(tokenizer), canonical
        self.nodes: dict[tuple[int, ...], float] = {(): 1.0}
        level: list[tuple[int, ...]] = [()]
        while level := [ids for ids in level if 0 not in ids and len(self.text(ids)) < size]:
            with torch.inference_mode():
                rows = torch.tensor([[0, *ids] for ids in level])
                steps = model(rows, attention_mask=torch.ones_like(rows)).logits[:, -1].softmax(1)
            level = [
                more
                for ids, step in zip(level, steps, strict=True)
                for more in self._go_on(ids, step)
            ]

    def _go_on(self, ids: tuple[int, ...], step: Any) -> list[tuple[int, ...]]:
        may = [id for id in self.ids if id == 0 or plain.may_come_next(self.rule, list(ids), id)]
        every = float(step[may].sum()) if self.canonical else 1.0
        for id in may:
            self.nodes[*ids, id] = self.nodes[ids] * float(step[id]) / every
        return [(*ids, id) for id in may]

    def text(self, ids: tuple[int, ...]) -> bytes:
        return b"".join(map(self.rule.bytes_of, filter(None, ids)))

    @functools.cached_property
    def probability(self) -> dict[str, float]:
        """Of all texts that begin so: by the ids that are just enough."""
        found: dict[str, float] = {}
        for text, chances in self.beginnings.items():
            found[text] = sum(chances.values())
        return found

    @functools.cached_property
    def beginnings(self) -> dict[str, dict[tuple[int, ...], float]]:
        """By text: the sequences whose text begins with it, and without their last id does not."""
        found: dict[str, dict[tuple[int, ...], float]] = {"": {(): 1.0}}
        for ids, chance in self.nodes.items():
            data = self.text(ids)
            for size in range(len(self.text(ids[:-1])) + 1, len(data) + 1):
                if size == len(data) or data[size] & 0xC0 != 0x80:  # whole characters
                    with contextlib.suppress(UnicodeDecodeError):
                        found.setdefault(data[:size].decode(), {})[ids] = chance
        return found
