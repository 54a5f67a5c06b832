"""What a counts file says about itself, and which files add up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT, VERSION = "supratok-counts", 1

Totals = Mapping[str, "int | Totals"]


@dataclass(frozen=True)
class About:
    """The member `about.json` of a counts file.

    `fingerprint` stands for all that decides the counts, such as the recipe. `sources` are the
    pieces of the corpus that were counted: an identity, such as a digest, and a name for people.
    `totals` add up, also inside of each other; `facts` must be equal.
    """

    kind: str
    fingerprint: str
    sources: Mapping[str, str]
    totals: Totals = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.sources:
            raise ValueError("sources={}: name what was counted, so that nothing is counted twice")

    def to_json(self) -> str:
        values = {"format": FORMAT, "version": VERSION, **vars(self)}
        return json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: bytes, path: Path) -> About:
        try:
            values = json.loads(text)
            found, version = values.pop("format"), values.pop("version")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}: no counts file (about.json: {error})") from error
        if found != FORMAT or version != VERSION:
            raise ValueError(
                f"{path}: {found} of version {version!r}; this supratok reads {FORMAT} of version"
                f" {VERSION}: make the file again, or use the supratok that made it"
            )
        try:
            return cls(**values)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: about.json: {error}") from error


def merged_about(abouts: Sequence[tuple[Path, About]]) -> About:
    """The sum. Raises if the files do not add up, naming two of them and what differs."""
    first_path, first = abouts[0]
    sources: dict[str, str] = {}
    found_in: dict[str, Path] = {}
    totals: Totals = {}
    for path, about in abouts:
        for what in ("kind", "fingerprint", "facts"):
            _refuse_other(what, first_path, getattr(first, what), path, getattr(about, what))
        for identity, name in about.sources.items():
            if identity in sources:
                raise ValueError(
                    f"{found_in[identity]} and {path} both count {name}, which would count its"
                    " text twice; leave one of them out"
                )
            found_in[identity] = path
        sources |= about.sources
        totals = added(totals, about.totals)
    return About(first.kind, first.fingerprint, dict(sorted(sources.items())), totals, first.facts)


def _refuse_other(what: str, first_path: Path, first: Any, path: Path, other: Any) -> None:
    if isinstance(first, Mapping):  # name the one fact that differs
        keys = [k for k in sorted({*first, *other}) if first.get(k) != other.get(k)]
        if keys:
            what, first, other = keys[0], first.get(keys[0]), other.get(keys[0])
    if first != other:
        raise ValueError(
            f"{first_path} and {path} do not add up: {what} {first!r} and {other!r}; count both"
            " in the same way"
        )


def added(one: Totals, other: Totals) -> Totals:
    """The sum of totals; what one of them lacks is 0 there."""
    total: dict[str, int | Totals] = {**one}
    for name, value in other.items():
        before = total.get(name, {} if isinstance(value, Mapping) else 0)
        if isinstance(value, Mapping) != isinstance(before, Mapping):
            raise ValueError(f"totals {name!r}: {before!r} and {value!r} do not add up")
        if isinstance(value, Mapping):
            assert isinstance(before, Mapping)
            total[name] = added(before, value)
        else:
            assert isinstance(before, int)
            total[name] = before + value
    return total
