"""Summarise how a tokenizer was trained, in one line a pass.

    traditional: 55,000 merges inside 680,155 words; the next would save 812
    multiword: 44,600 phrases accepted of 190,211 candidates (1,200 screened); the last saves 811
    held out: 6.078 characters per token

A pass that the tokenizer's report lacks has no line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..common import _core
from ..pages.facts import held_out_density
from ..tokenizer import Token, Tokenizer
from ..train import shortfall
from .draw import quoted

Facts = Mapping[str, Any]


def summary_of(tokenizer: Tokenizer) -> Iterator[str]:
    """All passes in the order of training, then each later `prune` and `refine`."""
    report = tokenizer.report
    passes: Facts = report.get("passes", {})
    reworks = report.get("afterwards", [])
    later = {name for rework in reworks for name in rework["passes"]}
    if "documents" in report:
        if reason := shortfall(tokenizer.recipe, tokenizer.vocab_size):
            yield f"warning: {reason}"
        yield _documents(report)
    first = {name: facts for name, facts in passes.items() if name not in later}
    yield from _lines(first | {name: report[name] for name in ("crossover",) if name in report})
    for rework in reworks:
        yield from _rework(passes, rework)
    if phrases := _phrases(tokenizer.vocabulary):
        yield f"phrases: {' '.join(map(quoted, phrases))}"
    if (density := held_out_density(report)) is not None:
        yield f"held out: {density:.3f} characters per token"
    if not reworks:  # the summary of a rework has its own
        yield from _target(report)
    yield from _skipped(report)


def summary_of_rework(tokenizer: Tokenizer) -> Iterator[str]:
    """The latest `prune` or `refine` of a finished tokenizer, and its effect on held-out text."""
    rework = tokenizer.report["afterwards"][-1]
    yield from _rework(tokenizer.report["passes"], rework)
    yield from _skipped(rework)


def _rework(passes: Facts, rework: Facts) -> Iterator[str]:
    yield "reworked with " + _documents(rework)
    yield from _lines({name: passes[name] for name in rework["passes"]})
    if held_out := rework.get("held_out"):
        before, after = _ratio(held_out, "tokens_before"), _ratio(held_out, "tokens")
        yield f"held out: {before} characters per token before, {after} after"
    yield from _target(rework)


def _ratio(held_out: Facts, tokens: str) -> str:
    return f"{held_out['characters'] / max(1, held_out[tokens]):.3f}"


def _target(report: Facts) -> Iterator[str]:
    """The gain on the half of a target that decided nothing, and the loss elsewhere."""
    facts: Facts = report.get("target", {})
    if facts:
        deciding = facts["deciding"]
        yield (
            f"target: {deciding['documents']:,} documents, {deciding['characters']:,} characters,"
            f" decided with the training text, as {facts['share']:.0%} of all evidence"
        )
    for name, where in (("measuring", "its other half"), ("held_out", "held out")):
        if found := facts.get(name):
            change = found["tokens_without"] / max(1, found["tokens"]) - 1
            yield (
                f"target: {where}: {_ratio(found, 'tokens')} characters per token,"
                f" {_ratio(found, 'tokens_without')} without the target ({change:+.1%})"
            )


def _lines(passes: Facts) -> Iterator[str]:
    """The lines of passes, by kind in the order of training; within a kind, oldest first."""
    seeds = passes.get("multiword", {}).get("seeds")
    for kind, summarise in _PASSES.items():
        for name, facts in [*passes.items(), ("seeds", seeds)]:
            if name.split()[0] == kind and facts is not None:
                yield from (f"{kind}: {line}" for line in summarise(facts))


def _documents(report: Facts) -> str:
    line = f"documents: {report['documents']:,}, {report['held_out_documents']:,} held out"
    return f"{line}; {report['characters']:,} characters to learn from"


def _curation(facts: Facts) -> Iterator[str]:
    bins = facts["bins"]
    kept = sum(one["kept"] for one in bins.values())
    shares = (f"{name} {one['kept']:,} of {one['documents']:,}" for name, one in bins.items())
    yield f"{kept:,} documents kept; {', '.join(shares)}"


def _scripts(facts: Facts) -> Iterator[str]:
    gate = facts.get("bigrams", {})
    if gate.get("kept") or gate.get("gated"):
        kept, rare, cuts = gate["kept"], gate["gated"], gate["cuts"]
        yield f"without spaces: {kept:,} bigrams join, {rare:,} rare ones cut {cuts:,} times"
    for language, suffixes in facts.get("suffixes", {}).items():
        documents = facts["documents"].get(language, 0)
        yield f"{language}: {documents:,} documents; suffixes {' '.join(suffixes[:8])}"
    if facts.get("hamza_groups"):
        yield f"hamza: {facts['hamza_groups']:,} groups of Arabic words pooled"


def _seeds(facts: Facts) -> Iterator[str]:
    chosen, candidates = (sum(facts[name].values()) for name in ("chosen", "candidates"))
    yield f"{chosen:,} phrases to begin with, of {candidates:,} candidates{_rejected(facts)}"


def _traditional(facts: Facts) -> Iterator[str]:
    yield (
        f"{facts['merges']:,} merges inside {facts['words']:,} words;"
        f" the next would save {facts['next_count']:,}"
    )


def _multiword(facts: Facts) -> Iterator[str]:
    line = f"{facts['accepted']:,} phrases accepted"
    if "candidates" in facts:
        line += f" of {facts['candidates']:,} candidates"
    rejected = [
        f"{facts[name]:,} {what}"
        for name, what in (
            ("screened", "screened out: their words do not belong together"),
            ("too_few_documents", "in too few documents"),
            ("blurred_boundaries", "with blurred boundaries: parts of longer phrases"),
        )
        if facts.get(name)
    ]
    line += f" ({', '.join(rejected)})" if rejected else ""
    yield f"{line}; the last saves {facts['last_count']:,}"
    if "saving" in facts:
        yield f"phrases save {facts['saving']:.0%} of the tokens that they could (--saving)"


def _crossover(share: float) -> Iterator[str]:
    yield f"words give way to phrases at {share:.1%} of the vocabulary"


def _pruning(facts: Facts) -> Iterator[str]:
    yield f"{facts['dropped']:,} of {facts['candidates']:,} tokens dropped"


def _expression(facts: Facts) -> Iterator[str]:
    if not facts:
        yield "skipped: no held-out text to decide by"
        return
    yield (
        f"{facts['accepted']:,} spans accepted of {facts['candidates']:,} candidates,"
        f" {facts['displaced']:,} tokens gave way to them{_rejected(facts)}"
    )
    yield _held_out_tokens(facts)


def _refinement(rounds: Sequence[Facts]) -> Iterator[str]:
    for number, facts in enumerate(rounds, 1):
        kept = "" if facts["kept"] else "; no gain, so undone"
        yield (
            f"round {number}: {facts['accepted']:,} swaps of {facts['candidates']:,} candidates;"
            f" {_held_out_tokens(facts)}{kept}"
        )


def _held_out_tokens(facts: Facts) -> str:
    before, after = facts["held_out_tokens_before"], facts["held_out_tokens_after"]
    line = f"held-out tokens {before:,} to {after:,}"
    if "target_tokens_after" in facts:
        before, after = facts["target_tokens_before"], facts["target_tokens_after"]
        line += f", the target's {before:,} to {after:,}"
    return line


def _rejected(facts: Facts) -> str:
    reasons = [f"{reason} {count:,}" for reason, count in facts["rejected"].items() if count]
    return f"; rejected: {', '.join(reasons)}" if reasons else ""


_PASSES: dict[str, Callable[[Any], Iterator[str]]] = {
    "curation": _curation,
    "scripts": _scripts,
    "seeds": _seeds,
    "traditional": _traditional,
    "multiword": _multiword,
    "crossover": _crossover,
    "pruning": _pruning,
    "expression": _expression,
    "refinement": _refinement,
}


def _skipped(report: Facts) -> Iterator[str]:
    if skipped := report.get("skipped"):
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in skipped.items())
        yield f"skipped records: {sum(skipped.values()):,} ({reasons})"


def _phrases(vocabulary: Sequence[Token]) -> list[str]:
    """The two commonest phrases of each length in words, of letters only."""
    found: dict[int, list[str]] = {}
    for token in sorted(vocabulary, key=lambda token: -token.count):
        words = _core.split_words(token.text) if token.born in ("multiword", "expression") else []
        if words and all(word.strip().isalpha() for word in words):
            found.setdefault(len(words), []).append(token.text)
    return [text for _, texts in sorted(found.items()) for text in texts[:2]]
