"""Search, filter and sort the vocabulary of a tokenizer, a page at a time.

    listing = Listing(card)
    listing.find(Query(text="new", phrases=True, sort="longest"))["rows"]

Use is the count of a token when it was made, or how often files use it, if counts are given.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .card import Card, mark, safe
from .facts import crossing_of, most_first, script_of

ROWS = 100  # of a page
SORTS = ("id", "longest", "use", "text")
SYMBOLS = "bytes and special tokens"  # written as names, which are not their text


@dataclass(frozen=True)
class Query:
    """What to list. Empty texts and False ask for everything."""

    text: str = ""
    born: str = ""
    script: str = ""
    phrases: bool = False
    sort: str = "id"
    page: int = 0


class Listing:
    """The vocabulary of a card in columns; made when it is first looked at."""

    def __init__(self, card: Card, uses: NDArray[np.int64] | None = None) -> None:
        self.card = card
        self._uses = uses
        self.counted = (
            "The count is the use in the files given"
            if uses is not None
            else ("The count is that of training, when a token was made")
        )

    def find(self, query: Query) -> dict[str, Any]:
        """A page of rows, the number of all that match, and what there is to filter by."""
        places = self._order(query.sort)
        places = places[self._matches(query)[places]]
        last = max(0, (len(places) - 1) // ROWS)
        page = max(0, min(query.page, last))
        rows = [self._row(place) for place in places[page * ROWS : (page + 1) * ROWS].tolist()]
        return {"rows": rows, "total": len(places), "page": page, "pages": last + 1, **self.facets}

    def _row(self, place: int) -> dict[str, Any]:
        born = self._births[place]
        return {
            "id": self._ids[place],
            "text": safe(self._texts[place]),
            "born": born,
            "letter": mark(born)[0],
            "characters": len(self._texts[place]),
            "script": self._scripts[place],
            "use": int(self._counts[place]) if self.has_uses else None,
        }

    def _matches(self, query: Query) -> NDArray[np.bool]:
        found = np.ones(len(self._ids), dtype=bool)
        if query.text:
            sought = query.text.casefold()
            found &= np.array([sought in text for text in self._folded], dtype=bool)
        if query.born:
            found &= np.array([born == query.born for born in self._births], dtype=bool)
        if query.script:
            found &= np.array([script == query.script for script in self._scripts], dtype=bool)
        if query.phrases:
            found &= self._crossing
        return found

    @functools.lru_cache(maxsize=8)  # noqa: B019, as long as the page
    def _order(self, sort: str) -> NDArray[np.int64]:
        places = np.arange(len(self._ids))
        if sort == "longest":
            return np.argsort([-len(text) for text in self._texts], kind="stable")
        if sort == "use":
            return np.argsort(-self._counts, kind="stable")
        if sort == "text":
            return np.array(sorted(places.tolist(), key=self._texts.__getitem__), dtype=np.int64)
        return places

    # --- Columns

    @functools.cached_property
    def _ids(self) -> list[int]:
        ours = self.card.ours
        if ours is not None:
            return ours.ids
        return [id for id in range(self.card.vocab_size) if self.card.text(id)]

    @functools.cached_property
    def _texts(self) -> list[str]:
        return [self.card.text(id) for id in self._ids]

    @functools.cached_property
    def _folded(self) -> list[str]:
        return [text.casefold() for text in self._texts]

    @functools.cached_property
    def _births(self) -> list[str]:
        return [self.card.born(id) for id in self._ids]

    @functools.cached_property
    def _scripts(self) -> list[str]:
        texts = zip(self._ids, self._texts, strict=True)
        return [SYMBOLS if id in self._symbols else script_of(text) for id, text in texts]

    @functools.cached_property
    def _symbols(self) -> set[int]:
        if self.card.ours is not None:
            return set(self._ids) - set(self.card.ours.entry_ids)
        births = zip(self._ids, self._births, strict=True)
        return {id for id, born in births if born == "byte"}

    @functools.cached_property
    def _crossing(self) -> NDArray[np.bool]:
        """Which tokens cross a word boundary; of other programs, which have words on both sides of
        a blank."""
        ours = self.card.ours
        if ours is None:
            return np.array([born == "phrase" for born in self._births], dtype=bool)
        return np.isin(self._ids, crossing_of(ours))

    @property
    def has_uses(self) -> bool:
        return self._uses is not None or bool(self.card.counts)

    @functools.cached_property
    def _counts(self) -> NDArray[np.int64]:
        if self._uses is not None:
            return self._uses[self._ids]
        return np.array([self.card.counts.get(id, 0) for id in self._ids], dtype=np.int64)

    @functools.cached_property
    def facets(self) -> dict[str, Any]:
        """What there is to filter by, with the number of tokens of each."""
        return {
            "size": len(self._ids),
            "births": dict(Counter(self._births)),
            "scripts": most_first(self._scripts),
            "phrases": int(self._crossing.sum()),
            "use": self.counted if self.has_uses else None,
        }
