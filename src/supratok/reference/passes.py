"""Words, phrases and pruning, slow and plain: the tests' oracle and the reader's text.

Not covered, and refused by `train`: curation, the expression pass, refinement. These have slow
twins of their own in the tests.

Everything here is written for the eye. Each step recounts from scratch; nothing is incremental, no
table is pruned, no thread is used. On any text and any other recipe `reference.train` must learn
exactly what `supratok.train` learns, and `encode` must give the ids of `Tokenizer.encode`; where
they differ, this file is the specification.

    train(["low lower", "low low"], recipe)   ->   [Token("o", ...), ..., Token("low", ...), ...]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence

from ..common import _core
from ..corpus.split import HeldOut, digest, is_for_measuring, is_held_out
from ..learn.prune import HELD_OUT_WEIGHT, ROUNDS, round_size
from ..recipe import Recipe
from ..tokenizer import BYTES, Token
from .parts import (
    NUMBER,
    Join,
    Symbols,
    encode_by_fewest,
    encode_by_merges,
    learn,
    learnt_size,
    may_neighbour,
    script_of,
    split_words,
)
from .phrases import learn_phrases
from .scripts import cut_at, rare_bigrams, script_changes

# --- Training


def train(
    documents: Sequence[str], recipe: Recipe, languages: Mapping[str, str] | None = None
) -> list[Token]:
    """The tokens, in rank order. `languages` names the language of some documents."""
    for name in ("curation", "expressions", "refine"):
        if getattr(recipe, name):
            raise ValueError(f"the reference does not cover {name}; take it out of the recipe")
    training = [text for text in documents if not is_held_out(digest(text))]
    held_out = [text for text in documents if is_held_out(digest(text))]
    if not training:
        training, held_out = held_out, []
    by_class = recipe.scripts is not None
    words = Counter(word for text in training for word in split_words(text, by_class))
    characters: Counter[str] = Counter()
    for word, count in words.items():
        for char in word:
            characters[char] += count
    alphabet = choose_alphabet(characters, recipe.character_coverage, recipe.names)
    size = recipe.vocab_size - len(recipe.special_tokens) - BYTES
    room = learnt_size(recipe) - len(recipe.special_tokens) - BYTES - len(alphabet)

    if not recipe.curriculum:
        tokens, uses = learn_at_once(training, alphabet, characters, room, recipe)
        if recipe.segmentation == "merges" or len(tokens) <= size:
            return tokens[:size]
        return prune(tokens, uses, len(alphabet), size, training, held_out)

    seen = script_changes(training, languages or {}, recipe.scripts) + words
    traditional = learn_words(seen, alphabet, room, recipe)[0]
    keep, multiword, word_uses = learn_phrases(training, alphabet, traditional, room, recipe)
    tokens = [Token(char, characters[char], "alphabet") for char in alphabet]
    tokens += [Token(join.text, join.count, "traditional") for join in traditional[:keep]]
    tokens += [Token(join.text, join.count, "multiword") for join in multiword]
    if recipe.segmentation == "merges" or len(tokens) <= size:
        return tokens[:size]

    uses = word_uses
    for sequence, weight in learn_words(seen, alphabet, keep, recipe)[1].items():
        for symbol in sequence if len(sequence) > 1 or len(sequence[0]) > 1 else ():
            uses[symbol] += weight
    ranks = {token.text: rank for rank, token in enumerate(tokens[: len(alphabet) + keep])}
    for word in words.keys() | seen.keys():  # as the text has it, not as it was seen
        for piece in encode_by_merges(word, ranks) if words[word] != seen[word] else ():
            uses[piece] += words[word] - seen[word]
    return prune(tokens, uses, len(alphabet), size, training, held_out)


def choose_alphabet(characters: Counter[str], coverage: float, names: Container[str]) -> list[str]:
    """The most frequent characters, until they cover the share asked for; NUL and names of special
    tokens are none."""
    total, covered = sum(characters.values()), 0
    alphabet: list[str] = []
    for char in sorted(characters, key=lambda char: (-characters[char], char)):
        if covered >= coverage * total:
            break
        alphabet.append(char)
        covered += characters[char]
    return [char for char in alphabet if char != "\0" and char not in names]


def learn_words(
    words: Counter[str], alphabet: list[str], merges: int, recipe: Recipe
) -> tuple[list[Join], Counter[Symbols]]:
    """The traditional pass. A character outside the alphabet cuts its word in two."""
    rules, known = recipe.boundaries, set(alphabet)
    sequences: Counter[Symbols] = Counter()
    rare = rare_bigrams(words, recipe.scripts)
    for word, count in words.items():
        for part in cut_at(word, rare):
            spaced = "".join(char if char in known else "\0 cut" for char in part)
            for piece in spaced.split("\0 cut"):
                if piece:
                    sequences[tuple(piece)] += count

    def may_join(left: str, right: str) -> bool:
        text = left + right
        digits = sum(_core.char_class(char)[0] == NUMBER for char in text)
        return (
            len(text.encode()) <= rules.max_bytes
            and digits <= rules.max_digits
            and text not in recipe.names
        )

    return learn(sequences, merges, recipe.min_count, may_join)


def learn_at_once(
    training: list[str],
    alphabet: list[str],
    characters: Counter[str],
    room: int,
    recipe: Recipe,
) -> tuple[list[Token], Counter[str]]:
    """Without the curriculum: BPE over stretches of text, all merges at once. The tokens and their
    uses."""
    rules, by_class, known = recipe.boundaries, recipe.scripts is not None, set(alphabet)
    sequences: Counter[Symbols] = Counter()
    for text in training:
        stretch, before = "", ""
        for word in [*split_words(text, by_class), "\n"]:
            if stretch and not may_neighbour(before, word, rules, by_class):
                for piece in "".join(c if c in known else "\0 cut" for c in stretch).split(
                    "\0 cut"
                ):
                    sequences[tuple(piece)] += bool(piece)
                stretch = ""
            stretch, before = stretch + word, word

    def may_join(left: str, right: str) -> bool:
        text = left + right
        scripts = {script_of(left), script_of(right)} - {0}
        return (
            len(text.encode()) <= rules.max_bytes
            and sum(_core.char_class(char)[0] == NUMBER for char in text) <= rules.max_digits
            and text.count(" ") <= rules.max_words
            and text not in recipe.names
            and (len(scripts) < 2 or not rules.one_script or not by_class)
        )

    sequences = Counter({row: count for row, count in sequences.items() if len(row) > 1})
    merges = room
    while True:
        learnt, after = learn(sequences, merges, recipe.min_count, may_join)
        new: dict[str, Join] = {}
        for join in learnt:
            new.setdefault(join.text, join)
        ranks = {text: rank for rank, text in enumerate([*alphabet, *new])}
        chosen = [
            join
            for text, join in new.items()
            if recipe.segmentation == "fewest" or encode_by_merges(text, ranks) == [text]
        ]
        if len(chosen) >= room or len(learnt) < merges:
            break
        merges += room - len(chosen)
    tokens = [Token(char, characters[char], "alphabet") for char in alphabet]
    for join in chosen[:room]:
        one_word = len(split_words(join.text, by_class)) == 1
        tokens.append(Token(join.text, join.count, "traditional" if one_word else "multiword"))
    uses: Counter[str] = Counter()
    for sequence, weight in after.items():
        for symbol in sequence:
            uses[symbol] += weight
    return tokens, uses


def prune(
    tokens: list[Token],
    uses: Counter[str],
    alphabet: int,
    size: int,
    training: list[str],
    held_out: list[str],
) -> list[Token]:
    """Drop the least useful tokens, in rounds; their uses pass to what replaces them."""
    sample = HeldOut()
    for text in held_out:
        if not is_for_measuring(digest(text)):
            sample.add(text, digest(text))
    scale = sum(map(len, training)) / max(1, sum(map(len, sample.documents)))
    use = {token.text: uses[token.text] for token in tokens}
    start, kept = len(tokens), list(tokens)
    for round in range(1, ROUNDS + 1):
        texts = {token.text for token in kept}
        seen = Counter(
            piece for text in sample.documents for piece in encode_by_fewest(text, texts)
        )
        utility = {
            text: (use[text] + HELD_OUT_WEIGHT * scale * seen[text])
            * (float(len(encode_by_fewest(text, texts - {text}))) - 1)
            for text in texts
        }
        rest = sorted(kept[alphabet:], key=lambda t: (-utility[t.text], tokens.index(t)))
        stay = set(rest[: round_size(start, size, round) - alphabet])
        gone = [token for token in rest if token not in stay]
        kept = kept[:alphabet] + [token for token in kept[alphabet:] if token in stay]
        texts = {token.text for token in kept}
        for token in gone:
            for piece in encode_by_fewest(token.text, texts):
                use[piece] += use[token.text]
    return kept


# --- Encoding


def encode(text: str, tokens: Sequence[Token], recipe: Recipe) -> list[int]:
    """The ids of a text."""
    ranks = {token.text: rank for rank, token in enumerate(tokens)}
    if recipe.segmentation == "merges":
        pieces = encode_by_merges(text, ranks)
    else:
        pieces = encode_by_fewest(text, set(ranks))
    first = len(recipe.special_tokens)
    ids: list[int] = []
    for piece in pieces:
        if piece in ranks:
            ids.append(first + BYTES + ranks[piece])
        else:  # a character outside the alphabet: its bytes
            ids += [first + byte for byte in piece.encode()]
    return ids
