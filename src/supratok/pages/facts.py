"""The facts of a tokenizer: what `supratok inspect` prints and what the pages show.

    facts = describe(tokenizer, usage=None, top=10)
    facts["born"]["multiword"]       # {"tokens": 13906, "share": 0.278}
    facts["lengths"]["2"]            # the number of tokens of two characters
    script_of("日本")                # "Han"

`inspect`, its page and the playground take their figures from here, so they say the same. Given
the use of each token in a corpus, shares of use and the number of tokens that are hardly used come
along.
"""

from __future__ import annotations

import functools
import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common import _core
from ..tokenizer import Token, Tokenizer

Usage = NDArray[np.int64]  # by id, how often a text uses it

_LENGTHS = (*range(1, 13), 16, 24)  # the last length, in characters, of each class of tokens
_WORDS = (1, 2, 3, 4)
_USES = {"never": 0, "1 to 9 times": 9, "10 to 99 times": 99}  # the last count of each class
_OFTEN = "100 times or more"
NO_LETTERS, OTHER_LETTERS, MIXED = "no letters", "other scripts", "several scripts"
# Scripts that Unicode calls otherwise, by the first word of the name of a letter.
_SCRIPTS = {
    "CJK": "Han", "IDEOGRAPHIC": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana",
    "HENTAIGANA": "Kana", "NKO": "N'Ko", "NEW": "New Tai Lue", "OL": "Ol Chiki",
}  # fmt: skip
_FORMS = ("HALFWIDTH", "FULLWIDTH")  # which name the form of a letter before its script


def describe(
    tokenizer: Tokenizer, usage: Usage | None, top: int, characters: int = 0
) -> dict[str, Any]:
    """All facts; `characters` is the length of the corpus whose use is given."""
    entries, ids = tokenizer.vocabulary, tokenizer.ids
    crossing = crossing_of(tokenizer)
    whole = dict(zip(tokenizer.entry_ids, entries, strict=True))
    phrases = [whole[id] for id in crossing]
    learnt = [token for token in entries if token.born != "alphabet"]
    facts = {
        "vocab_size": tokenizer.vocab_size,
        "recipe": tokenizer.recipe.to_dict(),
        "characters_per_token": held_out_density(tokenizer.report),
        "born": {
            name: _share(some, usage, len(ids)) for name, some in ids_by_birth(tokenizer).items()
        },
        "crossing": _share(crossing, usage, len(ids)),
        "longest": _longest(learnt, top),
        "longest_phrases": _longest(phrases, top),
        "most_used": _most_used(tokenizer, usage, top, learnt, ids),
        "phrases": _most_used(tokenizer, usage, top, phrases, crossing),
        "lengths": _classes([len(token.text) for token in entries], _LENGTHS),
        "words": tokens_by_words(tokenizer),
        "scripts": most_first(map(script_of, tokenizer.texts)),
        "report": tokenizer.report,
    }
    return facts if usage is None else facts | {"corpus": _used(usage, ids, characters)}


def held_out_density(report: Mapping[str, Any]) -> float | None:
    """Characters per token of the held-out text, if the report has them."""
    found = report.get("held_out")
    if not isinstance(found, Mapping):
        return None
    characters, tokens = found.get("characters"), found.get("tokens")
    if not isinstance(characters, int) or not isinstance(tokens, int) or tokens < 1:
        return None
    return characters / tokens


def ids_by_birth(tokenizer: Tokenizer) -> dict[str, list[int]]:
    """The ids that each pass made, passes in the order of their first id."""
    births: dict[str, list[int]] = {}
    for id in tokenizer.ids:
        births.setdefault(tokenizer.birth(id), []).append(id)
    return births


def words_of(tokenizer: Tokenizer) -> list[int]:
    """Of each token of the vocabulary, how many words it has, as the recipe cuts words."""
    by_class = tokenizer.recipe.scripts is not None
    return [len(_core.split_words(text, by_class)) for text in tokenizer.texts]


def tokens_by_words(tokenizer: Tokenizer) -> dict[str, int]:
    """How many tokens have one word, two words, ..."""
    return _classes(words_of(tokenizer), _WORDS)


def crossing_of(tokenizer: Tokenizer) -> list[int]:
    """The ids of the tokens that cross a word boundary."""
    words = zip(tokenizer.entry_ids, words_of(tokenizer), strict=True)
    return [id for id, count in words if count > 1]


def _share(ids: list[int], usage: Usage | None, size: int) -> dict[str, float]:
    """The share of these ids in the vocabulary and, given a corpus, in its tokens."""
    facts = {"tokens": len(ids), "share": len(ids) / size}
    if usage is not None:
        facts["use"] = float(usage[ids].sum() / max(1, usage.sum()))
    return facts


def _longest(tokens: Iterable[Token], top: int) -> list[str]:
    return sorted((token.text for token in tokens), key=lambda text: (-len(text), text))[:top]


def _most_used(
    tokenizer: Tokenizer, usage: Usage | None, top: int, tokens: list[Token], ids: list[int]
) -> dict[str, Any]:
    """The tokens with the highest counts in training or, given a corpus, the ids it uses most."""
    if usage is None:
        best = sorted(tokens, key=lambda token: -token.count)[:top]
        return {"by": "count at birth", "tokens": [(token.text, token.count) for token in best]}
    chosen = sorted(ids, key=lambda id: (-int(usage[id]), id))[:top]
    return {"by": "use", "tokens": [(tokenizer.token_text(id), int(usage[id])) for id in chosen]}


def _classes(values: Sequence[int], lasts: Sequence[int]) -> dict[str, int]:
    """How many values there are in each class, told by the last value of each: _classes([2, 9],
    [1, 4]) is {"1": 0, "2 to 4": 1, "5 or more": 1}."""
    bounds = itertools.pairwise((0, *lasts))
    names = [
        str(last) if last - before == 1 else f"{before + 1} to {last}" for before, last in bounds
    ]
    names.append(f"{lasts[-1] + 1} or more")
    counts = np.bincount(np.searchsorted(lasts, values).astype(np.int64), minlength=len(names))
    return dict(zip(names, counts.tolist(), strict=True))


def most_first(names: Iterable[str]) -> dict[str, int]:
    """How often each name comes, the most frequent first."""
    return dict(sorted(Counter(names).items(), key=lambda one: (-one[1], one[0])))


def script_of(text: str) -> str:
    """The script of the letters of a token.

    >>> script_of(" New York"), script_of("日本"), script_of("12")
    ('Latin', 'Han', 'no letters')
    """
    found = {script for script in map(_script, text) if script}
    return NO_LETTERS if not found else found.pop() if len(found) == 1 else MIXED


@functools.cache
def _script(char: str) -> str:
    """As Unicode names the letter: "LATIN SMALL LETTER A" is Latin. Empty for what is no letter,
    and for letters of all scripts, such as the micro sign."""
    if not _core.char_class(char)[1]:
        return ""
    first, *more = unicodedata.name(char, "?").split()
    word = (more[0] if first in _FORMS else first).partition("-")[0]
    # A Python older than the core's table of characters may not know a letter.
    return OTHER_LETTERS if word == "?" else _SCRIPTS.get(word, word.capitalize())


def _used(usage: Usage, ids: list[int], characters: int) -> dict[str, Any]:
    """What a corpus uses: its tokens, and how many ids it uses how often."""
    places = np.searchsorted(list(_USES.values()), usage[ids])
    counts = np.bincount(places, minlength=len(_USES) + 1).tolist()
    tokens = int(usage.sum())
    return {
        "characters": characters,
        "tokens": tokens,
        "characters_per_token": characters / tokens if tokens else None,
        "uses": dict(zip([*_USES, _OFTEN], counts, strict=True)),
    }
