"""`Recipe`: every option of training; and its parts, such as `Boundaries`, the rules for tokens.

A recipe is fixed before training reads any text, and saved in the tokenizer. An ablation is one
`replace`:

    from dataclasses import replace
    plain_bpe = replace(Recipe(vocab_size=32_000), crossover=1.0)
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from .common.options import check_types, from_mapping, to_toml
from .common.reserved import BYTE_NAMES, reserved

Segmentation = Literal["merges", "fewest"]
# Choice: three quarters of what phrases can save; see `Recipe.saving`.
SAVING = 0.75
# Choice: room for phrases beside the words; a few hundred MB of text fill it (docs/choosing.md).
VOCAB_SIZE = 64_000
# Choice: a target text is a fifth of all evidence: most of the gain on it, for little loss on other
# text (docs/target.md).
TARGET_SHARE = 0.2
# Choice: rounds of refinement by a target, for a recipe that no target could change.
TARGET_ROUNDS = 2


@dataclass(frozen=True, kw_only=True)
class Boundaries:
    """Which neighbours may share a token. Training makes no token that breaks these rules, so
    encoding needs no pre-tokenizer.

    Fixed rules: whitespace (with newlines) and control characters share a token only with their own
    kind, except for the one space in front of a word. No token mixes a newline with text.
    """

    max_words: int = 5  # words of letters or digits; punctuation does not count
    # Phrases consist of whole words. Otherwise (and always in scripts without spaces, where a word
    # is a stretch of text) a phrase may begin or end with a piece of a word.
    whole_words: bool = False
    max_bytes: int = 64
    max_digits: int = 3  # in a row
    cross_sentence: bool = True  # ". The"
    cross_colon: bool = True  # "note: the"
    cross_punctuation: bool = True  # any punctuation and a space: ", and", ") of"
    numbers_in_phrases: bool = True  # " of 10"
    one_script: bool = True  # Chinese characters and kana are one script

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("max_words", "max_bytes", "max_digits"):
            _check_at_least(self, name, 1)

    @classmethod
    def open(cls) -> Boundaries:
        """The default: phrases may cross a sentence end, a colon or a number."""
        return cls()

    @classmethod
    def careful(cls) -> Boundaries:
        """Phrases stay inside a sentence, stop at `: ` (which separates the turns of prompts and
        dialogues) and contain no numbers."""
        return cls(cross_sentence=False, cross_colon=False, numbers_in_phrases=False)

    @classmethod
    def clauses(cls) -> Boundaries:
        """Phrases end at punctuation, so a prompt that ends with a full stop or a comma does not
        end inside a token. They may contain numbers."""
        return cls(cross_punctuation=False)


@dataclass(frozen=True, kw_only=True)
class Curation:
    """Paper 3.2: sort documents into three bins by the entropy of their character bigrams, and keep
    a share of each bin."""

    low: float = 3.0  # Paper 3.2: low entropy is below this, in bits
    high: float = 4.5  # Paper 3.2: high entropy is above this; the rest is medium
    keep: tuple[float, float, float] = (0.10, 0.50, 0.90)  # Paper 3.2: of low, medium and high
    # Choice: `low` and `high` may be shares of the documents (0.05 and 0.25, say) instead of bits.
    # By the paper's formula nearly every document lies above 4.5 bits (docs/log.md).
    by_quantile: bool = False

    def __post_init__(self) -> None:
        check_types(self)
        object.__setattr__(self, "keep", tuple(self.keep))
        if len(self.keep) != 3 or not all(0.0 <= share <= 1.0 for share in self.keep):
            raise ValueError(f"keep={self.keep}: three shares from 0 to 1, of low, medium and high")
        most = 1.0 if self.by_quantile else math.inf
        if not 0.0 <= self.low <= self.high <= most:
            raise ValueError(
                f"low={self.low}, high={self.high}: needs 0 <= low <= high"
                + (
                    " <= 1, as they are shares of the documents"
                    if self.by_quantile
                    else ", in bits"
                )
            )


@dataclass(frozen=True, kw_only=True)
class Seeds:
    """Paper 3.3: phrases that hold together. The multiword pass accepts them without the screen."""

    min_words: int = 2  # Paper 3.3
    max_words: int = 6  # Paper 3.3
    min_pmi: float = 2.0  # Paper 3.3, in bits
    min_npmi: float = -1.0  # Choice: off; the range for n words is -1 (never together) to n - 1
    min_count: int = 100  # Paper 3.3
    # Choice, for the paper's overlap control: drop a phrase if this share of its occurrences lies
    # inside one longer chosen phrase, or if it and a chosen phrase are windows of one text
    # (learn/seeds.py).
    overlap: float = 0.9

    def __post_init__(self) -> None:
        check_types(self)
        _check_at_least(self, "min_words", 2)
        _check_at_least(self, "max_words", self.min_words)
        _check_at_least(self, "min_count", 1)
        _check_at_least(self, "min_npmi", -1.0)
        if not 0.0 < self.overlap <= 1.0:
            raise ValueError(f"overlap={self.overlap}: a share above 0, at most 1")

    def up_to(self, words: int) -> Seeds:
        """The same options, for phrases of at most `words` words."""
        most = max(2, min(self.max_words, words))
        return dataclasses.replace(self, min_words=min(self.min_words, most), max_words=most)


@dataclass(frozen=True, kw_only=True)
class Screen:
    """The conditions for two neighbours to join in the multiword pass; seeds are exempt."""

    min_pmi: float = 5.0  # Paper 3.5, in bits
    min_count: int = 5  # Paper 3.5
    min_documents: int = 1  # Choice: off; a phrase of one document is of use in no other
    # Choice: off. The least entropy, in bits, of the tokens before a phrase and of those after it.
    min_boundary_entropy: float = 0.0

    def __post_init__(self) -> None:
        check_types(self)
        _check_at_least(self, "min_count", 1)
        _check_at_least(self, "min_documents", 1)
        _check_at_least(self, "min_boundary_entropy", 0)


@dataclass(frozen=True, kw_only=True)
class Scripts:
    """Paper 3.4 and Appendix E: rules for some scripts and languages. `scripts=None` cuts words at
    whitespace alone, in every script."""

    # Appendix E: in scripts without spaces, a bigram of characters seen less often is a boundary.
    gate: int = 50
    # Appendix E: the number of suffixes to mine for each of Turkish and Finnish.
    suffixes: int = 200
    # Choice: in this share of the occurrences of a word its stem and suffix do not join. The paper
    # gives no weight; every weight tried costs compression (docs/log.md), so the rule is off.
    suffix_weight: float = 0.0
    # Choice: Arabic words that differ only in hamza pool this share of their counts. It is off for
    # the same reason.
    hamza: float = 0.0

    def __post_init__(self) -> None:
        check_types(self)
        _check_at_least(self, "gate", 0)
        _check_at_least(self, "suffixes", 0)
        for name in ("suffix_weight", "hamza"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name}={getattr(self, name)}: a share from 0 to 1")

    @property
    def weighs_suffixes(self) -> bool:
        return self.suffixes > 0 and self.suffix_weight > 0


@dataclass(frozen=True, kw_only=True)
class Expressions:
    """Paper 3.3 and Appendix A: the score of a span of words, the rejections, and the worth at
    which a span displaces other tokens."""

    max_words: int = 5
    # Hard rejections.
    min_count: int = 3
    min_pmi: float = 4.4
    min_boundary_gate: float = 0.18
    max_stopwords: float = 0.75  # rejected from this share on
    min_score: float = 0.40  # rejected up to this score
    # Gates: sigmoids of boundary entropy and of NPMI.
    boundary_anchor: float = 1.15
    boundary_slope: float = 1.75
    npmi_anchor: float = 0.22
    npmi_slope: float = 6.0
    # Bonuses and penalties.
    specificity: float = 0.14
    connection: float = 0.50
    stop_floor: float = 0.30
    stop_weight: float = 0.78
    stop_power: float = 1.35
    length: float = 0.08
    content: float = 0.04
    content_from: float = 5.0  # mean letters a word
    long_surface: int = 42  # characters
    long_penalty: float = 0.88
    # The held-out gain.
    document_gain: float = 0.60
    training_gain: float = 0.18
    unseen_factor: float = 0.45  # for the score of a span that held-out text lacks
    # Leaf surgery.
    utility_documents: float = 0.35
    priority_score: float = 0.03
    # Choice: counts in the training text, scaled down to the size of the held-out text, replace
    # this share of the counts in held-out text. 0 is the paper; but held-out text is small, and
    # tokens chosen by it alone fit its accidents (docs/log.md).
    training_share: float = 0.0
    # Choice: A(s) counts a span only where its own tokens occur in the encoded text. The paper
    # counts its words everywhere, also inside other phrases.
    in_place: bool = False

    def __post_init__(self) -> None:
        check_types(self)
        _check_at_least(self, "max_words", 2)
        _check_at_least(self, "min_count", 1)
        if not 0.0 <= self.training_share <= 1.0:
            raise ValueError(f"training_share={self.training_share}: a share from 0 to 1")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that decides the result, except the text."""

    # Special tokens, bytes, alphabet and learnt tokens together.
    vocab_size: int = VOCAB_SIZE
    segmentation: Segmentation = "merges"
    boundaries: Boundaries = field(default_factory=Boundaries)
    # The components of the paper; None (or False) switches one off.
    curation: Curation | None = None
    seeds: Seeds | None = None
    curriculum: bool = True  # words before phrases; without, all merges compete from the start
    # Choice: at least as often as by chance, in at least 10 documents. docs/results.md has the
    # trade-off.
    screen: Screen | None = field(
        default_factory=lambda: Screen(min_pmi=0.0, min_count=2, min_documents=10)
    )
    scripts: Scripts | None = field(default_factory=Scripts)
    expressions: Expressions | None = None
    # Choice: rarer characters become bytes. 1.0 keeps every character of the training text.
    character_coverage: float = 0.9999
    # Choice: a pair seen once is no evidence.
    min_count: int = 2
    # The share of the vocabulary at which words give way to phrases. None: where a further merge
    # inside words and a further phrase save the same number of tokens (parity of marginal gain).
    # 1.0 is plain BPE; 0.78125 is SuperBPE's transition (Appendix C).
    crossover: float | None = None
    # Choice: of the tokens that phrases could save, the share to save. Below 1 the rarest phrases
    # give their places back to words: models learn the common ones better. With three quarters and
    # the training aids, models took no more bits than over BPE (docs/frontier.md).
    saving: float = SAVING
    # Another way to say it, instead of `saving`: at parity a phrase must save this many times as
    # much as the next merge inside words.
    phrase_price: float | None = None
    # Choice: `fewest` learns this many times vocab_size and drops the least useful tokens.
    oversize: float = 2.0
    # Choice: rounds of surgery at the end, in which pairs of tokens take the places of tokens that
    # save less (learn/refine.py). Each reads the documents three times; two rounds gain nearly all.
    refine: int = 0
    # The share of a target text in all evidence, where pruning, surgery and refinement choose
    # tokens (learn/target.py); 0: there is no target.
    target_share: float = 0.0
    # Special tokens, such as "<|endoftext|>": ordinary text never encodes to them.
    special_tokens: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_types(self)
        if self.segmentation not in get_args(Segmentation):
            raise ValueError(
                f"segmentation={self.segmentation!r}: choose one of {get_args(Segmentation)}"
            )
        _check_at_least(self, "vocab_size", 257)  # the bytes, and one character at least
        _check_at_least(self, "min_count", 1)
        _check_at_least(self, "oversize", 1.0)
        _check_at_least(self, "refine", 0)
        self._check_price()
        if not 0.0 < self.character_coverage <= 1.0:
            raise ValueError(
                f"character_coverage={self.character_coverage}: a share above 0, at most 1"
            )
        if self.crossover is not None and not 0.0 <= self.crossover <= 1.0:
            raise ValueError(f"crossover={self.crossover}: a share from 0 to 1, or None for parity")
        if not 0.0 <= self.target_share <= 1.0:
            raise ValueError(f"target_share={self.target_share}: a share from 0 to 1")
        object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        if len(set(self.special_tokens)) < len(self.special_tokens) or "" in self.special_tokens:
            raise ValueError(
                f"special_tokens={self.special_tokens}: each must be new and not empty"
            )
        if bytes_too := sorted(BYTE_NAMES.intersection(self.special_tokens)):
            raise ValueError(f"special_tokens={bytes_too}: the names of bytes; choose others")

    def _check_price(self) -> None:
        if not 0.0 <= self.saving <= 1.0:
            raise ValueError(f"saving={self.saving}: a share from 0 to 1")
        if self.phrase_price is None:
            return
        _check_at_least(self, "phrase_price", 1.0)
        if self.saving != SAVING:
            raise ValueError(
                f"saving={self.saving}, phrase_price={self.phrase_price}: two ways to say how many"
                " phrases to keep; set phrase_price to None, or leave out saving"
            )

    @property
    def fixed_price(self) -> float | None:
        """The price of a phrase, if it is known before training. Phrases that save all they can
        have a price of 1."""
        return 1.0 if self.phrase_price is None and self.saving == 1.0 else self.phrase_price

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """Texts that no token may have; see common/reserved.py."""
        return reserved(self.special_tokens)

    @property
    def learnt_size(self) -> int:
        """The size of the vocabulary that training learns before it prunes."""
        fewest = self.segmentation == "fewest"
        return int(self.vocab_size * self.oversize) if fewest else self.vocab_size

    def for_target(self) -> Recipe:
        """This recipe with a target: its share, or the default; and refinement, if no other pass
        could weigh the target."""
        weighs = (
            self.refine > 0
            or (self.segmentation == "fewest" and self.oversize > 1)
            or (self.expressions is not None and self.crossover != 1.0)
        )
        return dataclasses.replace(
            self,
            target_share=self.target_share or TARGET_SHARE,
            refine=self.refine if weighs else TARGET_ROUNDS,
        )

    def room(self, size: int) -> int:
        """How many of `size` ids are left for the alphabet and learnt tokens: all but special
        tokens and bytes."""
        return size - len(self.special_tokens) - len(BYTE_NAMES)

    @classmethod
    def paper(cls, vocab_size: int = VOCAB_SIZE, **changes: Any) -> Recipe:
        """The paper's method with the paper's constants; the parts' defaults are the paper's."""
        paper = cls(
            vocab_size=vocab_size,
            boundaries=Boundaries(whole_words=True),
            phrase_price=1.0,
            curation=Curation(),  # Paper 3.2
            seeds=Seeds(),  # Paper 3.3
            screen=Screen(),  # Paper 3.5
            scripts=Scripts(gate=50, suffixes=200, suffix_weight=0.25, hamza=0.25),  # Appendix E
            expressions=Expressions(),  # Appendix A
        )
        return dataclasses.replace(paper, **changes)

    @classmethod
    def dense(cls, vocab_size: int = VOCAB_SIZE, **changes: Any) -> Recipe:
        """The most compressive: the fewest tokens. Training is slow, and language models find its
        rare phrases harder."""
        dense = cls(
            vocab_size=vocab_size,
            segmentation="fewest",
            boundaries=Boundaries(max_digits=4),  # a year is a token
            screen=None,
            phrase_price=1.0,
            refine=3,
        )
        return dataclasses.replace(dense, **changes)

    @classmethod
    def balanced(cls, vocab_size: int = VOCAB_SIZE, **changes: Any) -> Recipe:
        """Nearly all of the saving that `merges` allow. The default of version 0.1."""
        return dataclasses.replace(cls(vocab_size=vocab_size, phrase_price=1.5), **changes)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; `from_dict` reads it back. What is not in use is left out, so files
        of older recipes stay as they were."""
        values = dataclasses.asdict(self)
        if not self.target_share:
            del values["target_share"]
        if self.boundaries.cross_punctuation:
            del values["boundaries"]["cross_punctuation"]
        del values["phrase_price" if self.phrase_price is None else "saving"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """The recipe of these values; an unknown name is an error. `False` switches a component
        off, as None does."""
        return from_mapping(cls, {name: _part(name, value) for name, value in values.items()})

    def to_toml(self) -> str:
        """As the text of a file that `from_toml` reads back."""
        values = self.to_dict()
        if self.crossover is None:
            values["crossover"] = "parity"
        return to_toml({name: False if value is None else value for name, value in values.items()})

    @classmethod
    def from_preset(cls, name: str, vocab_size: int = VOCAB_SIZE, **changes: Any) -> Recipe:
        """A recipe of `PRESETS` by name, with changes. A mapping changes single values of a
        component: `curation={"low": 2.5}`."""
        if name not in PRESETS:
            raise ValueError(f"preset={name!r}: choose one of {', '.join(PRESETS)}")
        recipe = PRESETS[name](vocab_size)
        if "saving" in changes:  # instead of the preset's price
            changes = {"phrase_price": None} | changes
        parts = {key: _part(key, value, recipe) for key, value in changes.items()}
        return from_mapping(cls, parts, recipe)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], **changes: Any) -> Recipe:
        """The recipe of a TOML file; `changes` override it.

        preset = "paper"          # or default, balanced, dense
        vocab_size = 100_000
        curation = false          # switches this component off
        [seeds]
        min_count = 50            # the rest of the component stays
        """
        try:
            values = tomllib.loads(Path(path).read_text(encoding="utf-8")) | changes
            return cls.from_preset(values.pop("preset", "default"), **values)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error


_PARTS: dict[str, type] = {
    "boundaries": Boundaries,
    "curation": Curation,
    "seeds": Seeds,
    "screen": Screen,
    "scripts": Scripts,
    "expressions": Expressions,
}


# The recipes that have a name: PRESETS["paper"](100_000).
PRESETS: dict[str, Callable[[int], Recipe]] = {
    "default": lambda vocab_size: Recipe(vocab_size=vocab_size),
    "balanced": Recipe.balanced,
    "dense": Recipe.dense,
    "paper": Recipe.paper,
}


def _part(name: str, value: object, base: Recipe | None = None) -> object:
    """The component that a mapping describes, as changes of that of `base` if there is one; any
    other value itself."""
    if name not in _PARTS:
        return None if name == "crossover" and value == "parity" else value
    if value is False and name != "boundaries":
        return None
    if not isinstance(value, Mapping):
        return value
    try:
        return from_mapping(_PARTS[name], value, getattr(base, name, None))
    except ValueError as error:
        raise ValueError(f"[{name}] {error}") from error


def _check_at_least(options: object, name: str, least: float) -> None:
    value = getattr(options, name)
    if not value >= least:  # also refuses NaN
        raise ValueError(f"{name}={value!r}: must be a number of at least {least}")
