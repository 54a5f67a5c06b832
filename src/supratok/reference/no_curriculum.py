"""Training without the curriculum: BPE over stretches of text, merges inside words and across them
from the start. It exists for comparison."""

from __future__ import annotations

from collections import Counter

from ..recipe import Recipe
from ..tokenizer import Token
from .merges import Join, Symbol, merge_loop, reachable
from .words import cut_at_unknown, digits, may_be_token, may_neighbour, split_words


def learn_at_once(
    training: list[str], alphabet: list[str], room: int, recipe: Recipe
) -> tuple[list[Token], Counter[str]]:
    """The tokens behind the alphabet, and how often each occurs in the stretches. A token of one
    word is born "traditional", one of several "multiword"."""
    rules, by_class = recipe.boundaries, recipe.scripts is not None
    sequences: Counter[tuple[str, ...]] = Counter()
    for stretch in stretches(training, recipe):
        for piece in cut_at_unknown(stretch, alphabet):
            sequences[tuple(piece)] += 1

    def may_join(left: Symbol, right: Symbol) -> bool:
        text = "".join(left + right)
        fits = digits(text) <= rules.max_digits and text.count(" ") <= rules.max_words
        return fits and may_be_token(text, recipe)

    merges = room
    while True:
        learnt, uses = merge_loop(sequences, merges, recipe.min_count, may_join)
        new: dict[str, Join] = {}
        for join in learnt:
            new.setdefault(join.text, join)
        usable = reachable(list(new), alphabet, recipe)
        if len(usable) >= room or len(learnt) < merges:
            break
        merges += room - len(usable)
    tokens = []
    for text in usable[:room]:
        one_word = len(split_words(text, by_class)) == 1
        tokens.append(Token(text, new[text].count, "traditional" if one_word else "multiword"))
    return tokens, Counter({"".join(symbol): use for symbol, use in uses.items()})


def stretches(training: list[str], recipe: Recipe) -> list[str]:
    """Neighbouring words that may all share a token, as one text."""
    rules, by_class = recipe.boundaries, recipe.scripts is not None
    found: list[str] = []
    for text in training:
        before = ""
        for word in split_words(text, by_class):
            if before and may_neighbour(before, word, rules, by_class):
                found[-1] += word
            else:
                found.append(word)
            before = word
    return found
