"""Words: how a text is cut into them, and which of them may share a token.

    "Hello, big  world\\n"   ->   "Hello"  ","  " big"  " "  " world"  "\\n"

Most functions take `by_class`: whether words are cut where the class or the script of characters
changes (paper 3.4). A recipe without `scripts` cuts at whitespace and controls alone:

    "Hello, big  world\\n"   ->   "Hello,"  " big"  " "  " world"  "\\n"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..common._core import char_class
from ..recipe import Boundaries, Recipe

# Paper 3.4: five supercategories, by Unicode's general categories L, P and S, N, Z, C. Newlines and
# marks (M, and the joiners U+200C and U+200D) are classes of their own here.
LETTER, PUNCT, NUMBER, SPACE, NEWLINE, CONTROL, EXTEND = range(7)
TEXT = (LETTER, PUNCT, NUMBER)  # Words of these classes may be part of a phrase.
SPOKEN = (LETTER, NUMBER)  # These count as words of a phrase; punctuation is free.


def class_of(char: str) -> int:
    return char_class(char)[0]


def script_of(text: str) -> int:
    """The first script in a text that is not common to all; 0 if there is none."""
    return next((script for script in (char_class(char)[1] for char in text) if script), 0)


# Choice: the scripts without spaces, by a letter of each. Chinese characters and kana are one (一);
# then Thai, Lao, Khmer, Myanmar, Tibetan, Tai Le (and Tham, Viet), New Tai Lue, Balinese, Javanese.
UNSPACED = {script_of(char) for char in "一กກកကཀᥐᦀᬅꦄ"}


def split_words(text: str, by_class: bool = True) -> list[str]:
    """Cut a text into words, which add up to the text.

    >>> split_words("Hello, big  world")
    ['Hello', ',', ' big', ' ', ' world']
    """
    words: list[str] = []
    start = 0
    while start < len(text):
        end = _end_of_word(text, start, by_class)
        words.append(text[start:end])
        start = end
    return words


def _end_of_word(text: str, start: int, by_class: bool) -> int:
    """Where the word ends that begins at `start`.

    One space goes to the word after it, also the last of several. A mark goes to the character
    before it. Newlines are whitespace like any other."""
    if _is_leading_space(text, start):
        start += 1
    kind, script = kind_of(text[start], by_class), script_of(text[start])
    for place in range(start + 1, len(text)):
        char = text[place]
        if class_of(char) == EXTEND and kind in TEXT:
            continue
        if kind_of(char, by_class) != kind or (kind == SPACE and _is_leading_space(text, place)):
            return place
        if by_class and script and script_of(char) not in (0, script):
            return place
        script = script or script_of(char)
    return len(text)


def _is_leading_space(text: str, place: int) -> bool:
    """Whether this is a space that belongs to the word after it."""
    after = text[place + 1 : place + 2]
    return text[place] == " " and after != "" and kind_of(after) in TEXT


def kind_of(word: str, by_class: bool = True) -> int:
    """The class of a word: that of its first character behind the leading space. A mark counts as a
    letter, and a newline as a space. If words are not cut by class, all text counts as letters."""
    kind = class_of(word[1] if _is_leading_space(word, 0) else word[0])
    if kind == EXTEND or (kind in TEXT and not by_class):
        return LETTER
    return SPACE if kind == NEWLINE else kind


def count_words(texts: list[str], by_class: bool) -> Counter[str]:
    return Counter(word for text in texts for word in split_words(text, by_class))


def cut_at_unknown(text: str, alphabet: Iterable[str]) -> list[str]:
    """The stretches of a text between characters outside the alphabet (such as NUL)."""
    known = set(alphabet)
    stretches = "".join(char if char in known else "\0" for char in text).split("\0")
    return [stretch for stretch in stretches if stretch]


# Choice: marks that end a sentence, with or without a space after them, and marks that close it.
STOPS, STOPS_BEFORE_SPACE, CLOSING = "。！？｡", ".!?…।؟۔", "\"')]}’”»」』）"


def may_neighbour(left: str, right: str, rules: Boundaries, by_class: bool = True) -> bool:
    """Whether two neighbouring words may ever share a token."""
    if kind_of(left) not in TEXT or kind_of(right) not in TEXT:
        return False
    spaced = right[0] == " "
    if not rules.numbers_in_phrases:
        # A word that is cut at whitespace may hold digits anywhere.
        kinds = {kind_of(left), kind_of(right)} if by_class else set(map(class_of, left + right))
        if NUMBER in kinds:
            return False
    if not rules.cross_colon and spaced and left[-1] == ":":
        return False
    is_mark = (kind_of(left) if by_class else class_of(left[-1])) == PUNCT
    if not rules.cross_punctuation and spaced and is_mark:
        return False
    if not rules.cross_sentence and (kind_of(left) == PUNCT or not by_class):
        last = left.rstrip(CLOSING)[-1:]
        if last and (last in STOPS or (spaced and last in STOPS_BEFORE_SPACE)):
            return False
    return True


def may_be_token(text: str, recipe: Recipe) -> bool:
    """Whether a text is small enough, of one script, and no reserved name. The limits on words and
    digits depend on the pass."""
    rules = recipe.boundaries
    one_script = rules.one_script and recipe.scripts is not None
    return (
        len(text.encode()) <= rules.max_bytes
        and text not in recipe.names
        and not (one_script and len({script_of(char) for char in text} - {0}) > 1)
    )


def digits(text: str) -> int:
    return sum(class_of(char) == NUMBER for char in text)
