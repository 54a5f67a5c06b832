"""The whole algorithm, slow and plain: the tests' oracle and the reader's text.

Everything here is written for the eye. Each step recounts from scratch; nothing is incremental, no
table is pruned, no thread is used. On any text and recipe `reference.train` must learn exactly what
`supratok.train` learns, and `encode` must give the ids of `Tokenizer.encode`; where they differ,
this file is the specification.

    train(["low lower", "low low"], recipe)   ->   [Token("o", ...), ..., Token("low", ...), ...]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from . import _core
from .heldout import HeldOut, digest, is_for_measuring, is_held_out
from .prune import HELD_OUT_WEIGHT, ROUNDS, round_size
from .recipe import Boundaries, Recipe
from .reference_scripts import cut_at, rare_bigrams, script_changes
from .tokenizer import BYTES, Token

LETTER, PUNCT, NUMBER, SPACE, NEWLINE, CONTROL, EXTEND = range(7)  # as in core/text.hpp

Symbols = tuple[str, ...]

# --- Words and runs


def split_words(text: str, by_class: bool = True) -> list[str]:
    """Cut a text where the class or the script of its characters changes; or, not by class, only
    where whitespace or control characters begin or end.

    A space goes to the word after it; a combining mark to the character before it. Newlines are
    whitespace like any other.

    >>> split_words("Hello, big  world")
    ['Hello', ',', ' big', ' ', ' world']
    >>> split_words("Hello, big  world", by_class=False)
    ['Hello,', ' big', ' ', ' world']
    """
    words: list[str] = []
    kind, script = -1, 0
    for place, char in enumerate(text):
        char_kind, char_script = _core.char_class(char)
        char_kind = SPACE if char_kind == NEWLINE else char_kind
        if not by_class and _leads_word(char):
            char_kind, char_script = LETTER, 0
        if words and words[-1] == " " and kind == SPACE and _leads_word(char):
            kind, script = (LETTER if char_kind == EXTEND else char_kind), char_script
            words[-1] += char
            continue
        last_space = char == " " and place + 1 < len(text) and _leads_word(text[place + 1])
        if char_kind == EXTEND:
            same = bool(words) and kind <= NUMBER
            char_kind = kind if same else LETTER
        else:
            same = char_kind == kind and (0 in (script, char_script) or script == char_script)
        if same and not last_space:
            words[-1] += char
            script = script or char_script
        else:
            words.append(char)
            kind, script = char_kind, char_script
    return words


def _leads_word(char: str) -> bool:
    return _core.char_class(char)[0] in (LETTER, PUNCT, NUMBER, EXTEND)


def kind_of(word: str, by_class: bool = True) -> int:
    """The class of a word: that of its first character, the space before it aside."""
    bare = word[1:] if word[0] == " " and len(word) > 1 and _leads_word(word[1]) else word
    kind = _core.char_class(bare[0])[0]
    return LETTER if kind == EXTEND or (kind <= NUMBER and not by_class) else kind


def script_of(text: str) -> int:
    """The first script in a text that is not common to all; 0 if there is none."""
    return next((s for s in (_core.char_class(char)[1] for char in text) if s), 0)


def may_neighbour(left: str, right: str, rules: Boundaries, by_class: bool = True) -> bool:
    """Whether two neighbouring words may ever share a token."""
    kinds = {kind_of(left), kind_of(right)}
    if not kinds <= {LETTER, PUNCT, NUMBER}:
        return False
    if not by_class:  # a word may hold them all
        kinds = {_core.char_class(char)[0] for char in left + right}
    if NUMBER in kinds and not rules.numbers_in_phrases:
        return False
    spaced = right[0] == " "
    if not rules.cross_colon and spaced and left[-1] == ":":
        return False
    if not rules.cross_sentence and (kind_of(left) == PUNCT or not by_class):
        bare = left.rstrip("\"')]}’”»」』）")
        if bare and (bare[-1] in "。！？｡" or (spaced and bare[-1] in ".!?…।؟۔")):
            return False
    return True


def count_runs(
    documents: Iterable[str], known: set[str], rules: Boundaries, by_class: bool
) -> Counter[Symbols]:
    """The longest sequences of known words that may all neighbour each other."""
    runs: Counter[Symbols] = Counter()
    for text in documents:
        run: list[str] = []
        for word in split_words(text, by_class):
            if run and not (word in known and may_neighbour(run[-1], word, rules, by_class)):
                runs[tuple(run)] += 1
                run = []
            if word in known:
                run.append(word)
        runs[tuple(run)] += 1
    return runs


# --- The merge loop


class Join(NamedTuple):
    """One step of the merge loop: what was joined, and how often it stood there."""

    left: str
    right: str
    count: int  # type: ignore[assignment]  # and not the method of tuples

    @property
    def text(self) -> str:
        return self.left + self.right


def learn(
    sequences: Counter[Symbols],
    merges: int,
    min_count: int,
    may_join: Callable[[str, str], bool],
) -> tuple[list[Join], Counter[Symbols]]:
    """Join the most frequent pair of neighbours, again and again.

    Ties go to the shorter text, then to code-point order, then to the shorter left part. Returns
    the joins, and the sequences as they then are."""
    learnt: list[Join] = []
    while len(learnt) < merges:
        pairs: Counter[tuple[str, str]] = Counter()
        for sequence, weight in sequences.items():
            for left, right in zip(sequence, sequence[1:], strict=False):
                pairs[left, right] += weight
        allowed = [
            Join(*pair, count)
            for pair, count in pairs.items()
            if count >= min_count and may_join(*pair)
        ]
        if not allowed:
            break
        best = min(
            allowed, key=lambda j: (-j.count, len(j.text.encode()), j.text, len(j.left.encode()))
        )
        learnt.append(best)
        joined: Counter[Symbols] = Counter()
        for sequence, weight in sequences.items():
            joined[join(sequence, (best.left, best.right))] += weight
        sequences = joined
    return learnt, sequences


def join(sequence: Symbols, pair: tuple[str, str]) -> Symbols:
    """Replace a pair by its joined text, leftmost first."""
    out: list[str] = []
    place = 0
    while place < len(sequence):
        if sequence[place : place + 2] == pair:
            out.append(pair[0] + pair[1])
            place += 2
        else:
            out.append(sequence[place])
            place += 1
    return tuple(out)


# --- Training


def train(
    documents: Sequence[str], recipe: Recipe, languages: Mapping[str, str] | None = None
) -> list[Token]:
    """The tokens, in rank order. `languages` names the language of some documents."""
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
    alphabet = choose_alphabet(characters, recipe.character_coverage)
    size = recipe.vocab_size - len(recipe.special_tokens) - BYTES
    room = learnt_size(recipe) - len(recipe.special_tokens) - BYTES - len(alphabet)

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


def learnt_size(recipe: Recipe) -> int:
    """How large a vocabulary is learnt, before any pruning."""
    fewest = recipe.segmentation == "fewest"
    return int(recipe.vocab_size * recipe.oversize) if fewest else recipe.vocab_size


def choose_alphabet(characters: Counter[str], coverage: float) -> list[str]:
    """The most frequent characters, until they cover the share asked for."""
    total, covered = sum(characters.values()), 0
    alphabet: list[str] = []
    for char in sorted(characters, key=lambda char: (-characters[char], char)):
        if covered >= coverage * total:
            break
        alphabet.append(char)
        covered += characters[char]
    return alphabet


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
        return len(text.encode()) <= rules.max_bytes and digits <= rules.max_digits

    return learn(sequences, merges, recipe.min_count, may_join)


def learn_phrases(
    training: list[str], alphabet: list[str], traditional: list[Join], room: int, recipe: Recipe
) -> tuple[int, list[Join], Counter[str]]:
    """The multiword pass: the traditional merges to keep, the phrases that take the rest of the
    room, and how both changed the uses of complete words and phrases in the runs."""
    rules, wanted, by_class = recipe.boundaries, None, recipe.scripts is not None
    if recipe.crossover is not None:
        wanted = min(int(recipe.crossover * learnt_size(recipe)), room, len(traditional))
    usable = alphabet + [join.text for join in traditional[:wanted]]
    complete = {text for text in usable if len(split_words(text, by_class)) == 1}
    runs = count_runs(training, complete, rules, by_class)
    runs = Counter({run: count for run, count in runs.items() if len(run) > 1})

    def may_join(left: str, right: str) -> bool:
        text = left + right
        words = split_words(text, by_class)
        counted = sum(kind_of(word, by_class) in (LETTER, NUMBER) for word in words)
        scripts = {script_of(left), script_of(right)} - {0} if by_class else set()
        return (
            len(text.encode()) <= rules.max_bytes
            and counted <= rules.max_words
            and (len(scripts) < 2 or not rules.one_script)
        )

    if recipe.crossover == 1.0:
        return len(traditional), [], Counter()
    merges = room
    while True:
        learnt, after = learn(runs, merges, recipe.min_count, may_join)
        keep = parity(traditional, learnt, room) if wanted is None else wanted
        base = alphabet + [join.text for join in traditional[:keep]]
        chosen = usable_phrases(learnt, base, recipe)[: room - keep]
        if keep + len(chosen) >= room or len(learnt) < merges:
            break
        merges += room  # some could not be used: look further

    uses: Counter[str] = Counter()
    for sign, counted_runs in ((-1, runs), (1, after)):
        for sequence, weight in counted_runs.items():
            for symbol in sequence:
                uses[symbol] += sign * weight
    for join in reversed(learnt):  # what was not chosen goes back to its parts
        if join not in chosen:
            use = uses.pop(join.text)
            uses[join.left] += use
            uses[join.right] += use
    return keep, chosen, uses


def parity(traditional: list[Join], multiword: list[Join], room: int) -> int:
    """How many traditional merges to keep: up to where the next saves no more than the last of the
    phrases that take the rest of the room."""
    for keep in range(room):
        next_word = traditional[keep].count if keep < len(traditional) else 0
        place = room - keep - 1
        last_phrase = multiword[place].count if place < len(multiword) else 0
        if next_word <= last_phrase:
            return min(keep, len(traditional))
    return min(room, len(traditional))


def usable_phrases(learnt: list[Join], base: list[str], recipe: Recipe) -> list[Join]:
    """Those made of tokens, new, and, under the merges rule, encoding to themselves."""
    known, new, by_class = set(base), dict[str, Join](), recipe.scripts is not None
    for join in learnt:
        words = split_words(join.text, by_class)
        if join.text not in known and all(word in known for word in words):
            new.setdefault(join.text, join)
    if recipe.segmentation == "fewest":
        return list(new.values())
    ranks = {text: rank for rank, text in enumerate([*base, *new])}
    return [join for text, join in new.items() if encode_by_merges(text, ranks) == [text]]


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


def encode_by_merges(text: str, ranks: dict[str, int]) -> list[str]:
    """Join the neighbours whose joined text has the lowest rank, leftmost first, until none has."""
    pieces = list(text)
    while True:
        joins = [
            (ranks[left + right], place)
            for place, (left, right) in enumerate(zip(pieces, pieces[1:], strict=False))
            if left in ranks and right in ranks and left + right in ranks
        ]
        if not joins:
            return pieces
        _, place = min(joins)
        pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]


def encode_by_fewest(text: str, tokens: set[str]) -> list[str]:
    """The fewest tokens; of equals, at each end the longest last token."""
    best: list[tuple[int, int]] = [(0, 0)]  # by end: the number of tokens, the last one's start
    longest = max(map(len, tokens), default=1)
    for end in range(1, len(text) + 1):
        starts = range(max(0, end - longest), end)
        fits = [start for start in starts if text[start:end] in tokens]
        if not fits:  # an unknown character
            fits = [end - 1]
        best.append(min((best[start][0] + 1, start) for start in fits))
    pieces: list[str] = []
    end = len(text)
    while end:
        start = best[end][1]
        pieces.append(text[start:end])
        end = start
    return pieces[::-1]
