"""`Vocabulary`: the tokens of a tokenizer, their ids and where they come from."""

from __future__ import annotations

import functools

from ..recipe import Recipe
from .ids import Layout, Names, house_layout
from .token import Columns, Token


class Vocabulary:
    """The part of a `Tokenizer` that answers questions about its tokens; it encodes nothing."""

    def __init__(self, columns: Columns, recipe: Recipe, layout: Layout | None) -> None:
        self._columns = columns
        self._texts, self._counts, self._births = columns
        self.recipe: Recipe = recipe  # what was asked for
        self.layout: Layout | None = layout  # the ids of another program; None: the house order
        if layout:
            layout.check(len(recipe.special_tokens), len(self._texts))
        self._ids = layout or house_layout(len(recipe.special_tokens), len(self._texts))
        special = zip(recipe.special_tokens, self._ids.special, strict=True)
        self.special_tokens: dict[str, int] = dict(special)  # by name, their ids
        self._names = Names(self._ids, self.special_tokens, self._texts, self._births)

    @functools.cached_property
    def vocabulary(self) -> tuple[Token, ...]:
        """The alphabet and the tokens, in rank order."""
        return tuple(map(Token, self._texts, self._counts, self._births))

    @property
    def texts(self) -> list[str]:
        """The texts of the alphabet and the tokens, in rank order."""
        return list(self._texts)

    @property
    def vocab_size(self) -> int:
        """Special tokens, bytes, alphabet and tokens together: ids are below this."""
        return self._ids.size

    def __len__(self) -> int:
        """The same as `vocab_size`."""
        return self.vocab_size

    def __contains__(self, token: object) -> bool:
        """Whether a text is a token: " New York" in tokenizer."""
        return token in self._names.ids

    def get_vocab(self) -> dict[str, int]:
        """The id of each token, in the order of ids; a byte symbol is written <0xE2>."""
        return dict(self._names.ids)

    def token_to_id(self, token: str) -> int | None:
        """The id of a token, None if there is no such token."""
        return self._names.ids.get(token)

    def id_to_token(self, id: int) -> str | None:
        """The text of an id as in `token_text`, None if no token has it."""
        return self._names.texts.get(id)

    def token_text(self, id: int) -> str:
        """The text of one id; a byte symbol is written <0xE2>."""
        text = self._names.texts.get(id)
        if text is None:
            raise self._unknown(id)
        return text

    @property
    def ids(self) -> list[int]:
        """Every id that has a token; in the house order, all below vocab_size."""
        return sorted(self._names.texts)

    @property
    def entry_ids(self) -> list[int]:
        """The ids of the vocabulary, in rank order."""
        return list(self._ids.entries)

    def birth(self, id: int) -> str:
        """The origin of an id: the pass of training, "byte", "special"; in tokenizers of other
        programs also "imported", "always" (cut out first), "spare" (in no encoding)."""
        self.token_text(id)
        return self._names.birth(id)

    def _unknown(self, id: int) -> ValueError:
        return ValueError(f"no token has the id {id}; ids go from 0 to {self.vocab_size - 1}")
