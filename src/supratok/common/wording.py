"""The words for progress that people read: phases, facts, amounts, times."""

from __future__ import annotations

from collections.abc import Mapping

# What people read beside the name of a phase, or for the name of a fact; events keep the names.
_PHASES = {
    "pieces": "of words",
    "runs": "neighbouring words",
    "stretches": "text between boundaries",
    "traditional": "merges inside words",
    "multiword": "phrases",
    "spans": "words in a row",
    "neighbours": "of each phrase",
    "expressions": "counting spans",
    "surgery": "spans for tokens",
    "uses": "of each token",
    "refining": "swapping tokens",
}
_FACTS = {
    "crossover": "merges before phrases begin",
    "displaced": "tokens given up",
}


def glossed(phase: str | None) -> str:
    """The name of a phase with what it means, if the name does not say it."""
    meaning = _PHASES.get(str(phase))
    return f"{phase} ({meaning})" if meaning else str(phase)


def facts_line(facts: Mapping[str, object]) -> str:
    """The results of a phase: words 680,155, documents 1,250."""
    shown = ((_FACTS.get(name, name.replace("_", " ")), value) for name, value in facts.items())
    return ", ".join(f"{name} {_number(value)}" for name, value in shown)


def duration(seconds: float) -> str:
    """12.3 s, 3:05 min, 1:02:03 h."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"


def amount(value: float, unit: str) -> str:
    if unit in ("B", "bytes"):
        return f"{value / 1e6:,.1f} MB"
    return f"{value:,.0f} {unit}".rstrip()


def _number(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
