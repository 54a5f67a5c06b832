"""Which neighbouring words may share a token, and the scripts without spaces between words."""

from __future__ import annotations

from ..common import _core
from ..recipe import Recipe

# Choice: the scripts without spaces, by a letter of each. Chinese characters and kana are one (一);
# then Thai, Lao, Khmer, Myanmar, Tibetan, Tai Le (and Tham, Viet), New Tai Lue, Balinese, Javanese.
UNSPACED = tuple(sorted({_core.char_class(char)[1] for char in "一กກកကཀᥐᦀᬅꦄ"}))

# Choice: the marks that end a sentence. Chinese and Japanese ones always do; those of other scripts
# (the last three are Devanagari and Arabic) do so before a space: "3.5" ends none. Closing marks
# may come in between: he said "No." Then
_STOPS = "。！？｡"
_SPACED_STOPS = ".!?…।؟۔"
_CLOSING = "\"')]}’”»」』）"


def joints(recipe: Recipe) -> _core.Joints:
    """Which neighbouring words may share a token: not the last word of a sentence and the first of
    the next, nor words on both sides of a colon and a space or of any punctuation and a space,
    unless the recipe says so."""
    rules = recipe.boundaries
    return _core.Joints(
        by_class=recipe.scripts is not None,
        numbers=rules.numbers_in_phrases,
        marks=rules.cross_punctuation,
        stops="" if rules.cross_sentence else _STOPS,
        spaced_stops="" if rules.cross_sentence else _SPACED_STOPS,
        closing=_CLOSING,
        spaced_ends="" if rules.cross_colon else ":",
    )
