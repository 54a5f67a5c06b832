"""What is asked of training: `Recipe`, and inside it `Boundaries`, what a token may never cross.

A recipe is set before any text is seen, stays unchanged, and is saved inside the tokenizer. Taking
something out, for an ablation, is one `replace`:

    from dataclasses import replace
    plain_bpe = replace(Recipe(vocab_size=32_000), crossover=1.0)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar, get_args

Segmentation = Literal["merges", "fewest"]


@dataclass(frozen=True, kw_only=True)
class Boundaries:
    """Which neighbours may share a token. The rules hold in the vocabulary: no token that breaks
    them is ever made, so encoding needs no pre-tokenizer.

    Always: a newline, other whitespace and control characters share a token only with their own
    kind, apart from the one space that a word carries in front.
    """

    max_words: int = 5  # letters or digits in a row; punctuation is free
    max_bytes: int = 64
    max_digits: int = 3  # in a row
    cross_sentence: bool = True  # ". The"
    cross_colon: bool = True  # "note: the"
    numbers_in_phrases: bool = True  # " of 10"
    one_script: bool = True  # Chinese characters and kana are one script

    def __post_init__(self) -> None:
        for name in ("max_words", "max_bytes", "max_digits"):
            _check_at_least(self, name, 1)

    @classmethod
    def open(cls) -> Boundaries:
        """The default: phrases may run over a sentence end, a colon or a number."""
        return cls()

    @classmethod
    def careful(cls) -> Boundaries:
        """Phrases stay inside a sentence, stop at `: ` (where prompts and dialogues turn) and hold
        no numbers."""
        return cls(cross_sentence=False, cross_colon=False, numbers_in_phrases=False)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides the result, besides the text."""

    vocab_size: int
    segmentation: Segmentation = "merges"
    boundaries: Boundaries = field(default_factory=Boundaries)
    # Choice: rarer characters are written as bytes. 1.0 keeps every character seen.
    character_coverage: float = 0.9999
    # Choice: a pair seen once is no evidence.
    min_count: int = 2
    # The share of the vocabulary at which words give way to phrases. None: where a further merge
    # inside words and a further phrase save the same number of tokens (parity of marginal gain).
    # 1.0 is plain BPE; 0.78125 is SuperBPE's transition (Appendix C).
    crossover: float | None = None
    # Choice: `fewest` learns this many times vocab_size and drops what it can best do without.
    oversize: float = 2.0
    # Special tokens, such as "<|endoftext|>": never made from ordinary text.
    special_tokens: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.segmentation not in get_args(Segmentation):
            raise ValueError(
                f"segmentation={self.segmentation!r}: choose one of {get_args(Segmentation)}"
            )
        _check_at_least(self, "vocab_size", 257)  # the bytes, and one character at least
        _check_at_least(self, "min_count", 1)
        _check_at_least(self, "oversize", 1.0)
        if not 0.0 < self.character_coverage <= 1.0:
            raise ValueError(
                f"character_coverage={self.character_coverage}: a share above 0, at most 1"
            )
        if self.crossover is not None and not 0.0 <= self.crossover <= 1.0:
            raise ValueError(f"crossover={self.crossover}: a share from 0 to 1, or None for parity")
        object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        if len(set(self.special_tokens)) < len(self.special_tokens) or "" in self.special_tokens:
            raise ValueError(
                f"special_tokens={self.special_tokens}: each must be new and not empty"
            )

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; `from_dict` reads it back."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """The recipe of these values; an unknown name is an error, never ignored."""
        values = dict(values)
        if isinstance(values.get("boundaries"), Mapping):
            values["boundaries"] = _from_mapping(Boundaries, values["boundaries"])
        return _from_mapping(cls, values)


T = TypeVar("T")


def _from_mapping(cls: type[T], values: Mapping[str, Any]) -> T:
    known = [f.name for f in fields(cls)]  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            raise ValueError(
                f"unknown {cls.__name__} option {name!r}; known are {', '.join(known)}"
            )
    return cls(**values)


def _check_at_least(options: object, name: str, least: float) -> None:
    value = getattr(options, name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= least:
        raise ValueError(f"{name}={value!r}: must be a number of at least {least}")
