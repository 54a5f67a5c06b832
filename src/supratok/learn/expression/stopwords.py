"""Stopwords, which carry little meaning: "of", "the", "would".

This list has the English ones by part of speech. For other languages the corpus decides: in every
language its most frequent words are function words, so they count as stopwords too. In an English
corpus the two lists nearly coincide. A script without spaces has clauses instead of words, which
are rarely among the most frequent, so it has hardly any stopwords.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from ..words import Kind, kind_of

# Choice: 100 words are about half of an English text; the hundredth is still a function word. A
# small corpus has few words, and not many of them are function words.
MOST_FREQUENT = 100
MOST_SHARE = 0.02

_LISTED = (
    # Articles, determiners, quantifiers
    " a an the this that these those each every either neither both all any some no none such"
    " same other another few many more most much several less own only enough"
    # Pronouns
    " i me my mine myself you your yours yourself yourselves he him his himself she her hers"
    " herself it its itself we us our ours ourselves they them their theirs themselves one"
    " who whom whose which what whoever whatever whichever"
    # Prepositions
    " of in on at by for with without within from to into onto upon about above across after"
    " against along among around as before behind below beneath beside between beyond down during"
    " except inside near off out outside over past per since than through throughout till toward"
    " towards under until up via"
    # Conjunctions
    " and or but nor so yet if because although though unless while whereas whether"
    # Auxiliaries
    " be am is are was were been being have has had having do does did doing done can could may"
    " might must shall should will would ought cannot"
    # Adverbs of place, time, degree and negation
    " not never here there where when why how then thus hence very too also just again ever"
    " further once now still even rather quite"
    # Parts after an apostrophe, and before n't
    " s t d ll m re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn"
    " shouldn"
)
ENGLISH = frozenset(_LISTED.split())


def bare(word: str) -> str:
    """The form in which words are compared: without the leading space, case folded."""
    return word.strip(" ").casefold()


def is_letters(word: str) -> bool:
    """Whether a word, as `_core.split_words` cuts them, is made of letters (and marks on them)."""
    return kind_of(word) == Kind.LETTER


def stopwords(words: list[str], counts: NDArray[np.int64]) -> frozenset[str]:
    """The English ones and the most frequent bare words of a table, which lists its words by
    falling count; of equals the lower code point."""
    frequent: Counter[str] = Counter()
    # A frequent bare word has a frequent spelling: with a space, a capital, or both.
    # Choice: read far more spellings than needed.
    for word, count in zip(words[: 100 * MOST_FREQUENT], counts.tolist(), strict=False):
        if is_letters(word):
            frequent[bare(word)] += count
    order = sorted(frequent, key=lambda word: (-frequent[word], word))
    most = min(MOST_FREQUENT, int(MOST_SHARE * len(order)))
    return ENGLISH | frozenset(order[:most])
