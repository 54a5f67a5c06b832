"""Training from end to end, and encoding.

    documents -> split, curate -> learn_words -> learn_phrases -> prune -> tokens -> encode

Tokens are in rank order: the alphabet, then the traditional joins, then the phrases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence

from ..corpus.split import digest, held_out_half, is_held_out
from ..recipe import Recipe
from ..tokenizer import Token
from .curation import curate
from .merges import (
    Join,
    Symbol,
    Words,
    encode_by_fewest,
    encode_by_merges,
    learnt_size,
    merge_loop,
    ranks_of,
    segment,
)
from .no_curriculum import learn_at_once
from .phrases import learn_phrases
from .scripts import cut_at_rare, rare_bigrams, script_changes
from .words import count_words, cut_at_unknown, digits, may_be_token

BYTES = 256  # Each byte has an id, for characters outside the alphabet.
ROUNDS = 4  # Choice: more rounds of pruning gain less than 0.1%.
# Choice: a use in held-out text, scaled to the size of the training text, counts this much.
HELD_OUT_WEIGHT = 0.1


# --- Training


def train(
    documents: Sequence[str],
    recipe: Recipe,
    languages: Mapping[str, str] | None = None,
    target: Sequence[str] = (),
) -> list[Token]:
    """The tokens, in rank order. `languages` names the language of some documents; `target` is the
    half of a target text that decides."""
    for name in ("expressions", "refine"):
        if getattr(recipe, name):
            raise ValueError(f"the reference does not cover {name}; take it out of the recipe")
    training, held_out = split(documents, recipe)
    words = count_words(training, by_class=recipe.scripts is not None)
    characters = Counter(char for text in training for char in text)
    alphabet = choose_alphabet(characters, recipe.character_coverage, recipe.names)
    tokens = [Token(char, characters[char], "alphabet") for char in alphabet]
    room = learnt_size(recipe) - len(recipe.special_tokens) - BYTES - len(alphabet)

    if recipe.curriculum:
        changes = script_changes(training, languages or {}, recipe.scripts)
        joins, _ = learn_words(words + changes, alphabet, room, recipe)
        keep, phrases, uses = learn_phrases(training, Words(alphabet, joins, room), recipe)
        tokens += [Token(join.text, join.count, "traditional") for join in joins[:keep]]
        # How often each token occurs in the words, to which `uses` adds the phrases.
        for symbol, use in learn_words(words + changes, alphabet, keep, recipe)[1].items():
            uses["".join(symbol)] += use
        ranks = ranks_of([token.text for token in tokens])
        for word, change in changes.items():  # The text itself has not changed.
            for piece in encode_by_merges(word, ranks):
                uses[piece] -= change
        tokens += [Token(join.text, join.count, "multiword") for join in phrases]
    else:
        learnt, uses = learn_at_once(training, alphabet, room, recipe)
        tokens += learnt

    size = recipe.vocab_size - len(recipe.special_tokens) - BYTES
    if recipe.segmentation == "merges" or len(tokens) <= size:
        return tokens[:size]
    return prune(tokens, uses, size, training, held_out, target, recipe.target_share)


def split(documents: Sequence[str], recipe: Recipe) -> tuple[list[str], list[str]]:
    """The documents to train on, and those held out. Where none is left to train on, all are."""
    held_out = [text for text in documents if is_held_out(digest(text))]
    kept = curate(documents, recipe.curation)
    training = [text for text in kept if not is_held_out(digest(text))]
    return (training, held_out) if training else (list(documents), [])


def choose_alphabet(characters: Counter[str], coverage: float, names: Container[str]) -> list[str]:
    """The most frequent characters that make up the coverage, without NUL and reserved names."""
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
) -> tuple[list[Join], Counter[Symbol]]:
    """The traditional pass: BPE inside words. The joins, and the uses of symbols after them."""
    rare = rare_bigrams(words, recipe.scripts)
    sequences: Counter[tuple[str, ...]] = Counter()
    for word, count in words.items():
        for part in cut_at_rare(word, rare):
            for piece in cut_at_unknown(part, alphabet):
                sequences[tuple(piece)] += count

    def may_join(left: Symbol, right: Symbol) -> bool:
        text = "".join(left + right)
        return digits(text) <= recipe.boundaries.max_digits and may_be_token(text, recipe)

    return merge_loop(sequences, merges, recipe.min_count, may_join)


def prune(
    tokens: list[Token],
    uses: Counter[str],
    size: int,
    training: list[str],
    held_out: list[str],
    target: Sequence[str] = (),
    share: float = 0.0,
) -> list[Token]:
    """Drop the least useful tokens, in rounds. A token saves its uses times the tokens that its
    text would take without it, less one. When it goes, its uses pass to those tokens. The uses in a
    target, as large as the other text, are the share `share` of all."""
    sample = held_out_half(held_out, measuring=False)
    characters = sum(map(len, training))
    scale = characters / max(1, sum(map(len, sample)))
    target_scale = (1 + HELD_OUT_WEIGHT) * characters / max(1, sum(map(len, target)))
    kept, alphabet = list(tokens), sum(token.born == "alphabet" for token in tokens)
    for round in range(1, ROUNDS + 1):
        texts = {token.text for token in kept}
        seen = Counter(piece for text in sample for piece in encode_by_fewest(text, texts))
        wanted = Counter(piece for text in target for piece in encode_by_fewest(text, texts))
        utility = {
            text: (
                (1 - share) * (uses[text] + HELD_OUT_WEIGHT * scale * seen[text])
                + share * target_scale * wanted[text]
            )
            * (len(encode_by_fewest(text, texts - {text})) - 1)
            for text in texts
        }
        ordered = sorted(kept[alphabet:], key=lambda token: -utility[token.text])
        dropped = ordered[round_size(len(tokens), size, round) - alphabet :]
        kept = [token for token in kept if token not in dropped]
        texts = {token.text for token in kept}
        for token in dropped:
            for piece in encode_by_fewest(token.text, texts):
                uses[piece] += uses[token.text]
    return kept


def round_size(start: int, end: int, round: int) -> int:
    """How many tokens a round leaves: each round drops the same share."""
    return max(end, int(start * (end / start) ** (round / ROUNDS) + 0.5))


# --- Encoding


def encode(text: str, tokens: Sequence[Token], recipe: Recipe) -> list[int]:
    """The ids of a text: special tokens have the first, then the bytes, then the tokens."""
    ranks = ranks_of([token.text for token in tokens])
    first = len(recipe.special_tokens)
    ids: list[int] = []
    for piece in segment(text, ranks, recipe):
        if piece in ranks:
            ids.append(first + BYTES + ranks[piece])
        else:  # a character outside the alphabet
            ids += [first + byte for byte in piece.encode()]
    return ids
