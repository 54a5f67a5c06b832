"""The model of a `tokenizers.Tokenizer`, as our encoder: taken only if it provably gives the same
ids.

A BPE is ours if each token has one merge and our core makes each token from the parts that its
merge lists, in the same order of ranks: then only these joins ever happen (see `Tokenizer.merges`).
A Unigram is the rule `fewest` if all its tokens have one score and no other name can win against
its own characters.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import weakref
from typing import Any

from ..common import _core
from ..common.reserved import byte_name

# What a Python program may set on a model in place; each changes the ids.
_TRAITS = (
    "dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges", "byte_fallback",
)  # fmt: skip
_LARGEST = 1 << 30  # no score and no length comes near it
_models: weakref.WeakValueDictionary[bytes, Model] = weakref.WeakValueDictionary()


class Refused(ValueError):
    """A tokenizer that our encoder does not take, with the reason."""


def model_of(tokenizer: Any, state: bytes = b"") -> Model:
    """The encoder for this `tokenizers.Tokenizer`. `state`: its whole JSON, where it is at hand:
    models that were taken before are then found by it."""
    model = tokenizer.model
    if type(model).__name__ not in ("BPE", "Unigram"):
        raise Refused("its model is not a BPE or a Unigram")
    steps = (state_of(tokenizer.normalizer), state_of(tokenizer.pre_tokenizer))
    isolated, prefix = _isolated(steps[1]), _prefix(steps[0])
    begin = state.find(b'"model":{"type":"')
    known = _models.get(_key(state[begin + len(b'"model":') : -1], steps)) if begin > 0 else None
    if known is not None:
        return known
    data = bytes(model.__getstate__())
    key = _key(data, steps)
    found = _models.get(key)
    if found is None:
        found = _models[key] = Model(json.loads(data), isolated, prefix)
        found.guard = _guard(tokenizer)
    return found


class Model:
    """An encoder of texts without special tokens, and what `tokenizers` says of each token."""

    guard: tuple[Any, ...]  # see `still_fits`

    def __init__(self, document: dict[str, Any], isolated: str, prefix: str) -> None:
        if not document.get("byte_fallback"):
            raise Refused("it has no byte fallback")
        self._fewest = document["type"] == "Unigram"
        read = _unigram if self._fewest else _bpe
        ids, texts = read(document, isolated)
        self.prefix = prefix
        self._isolated = re.compile(f"([{re.escape(isolated)}])") if isolated else None
        self._names = {id: text for text, id in ids.items()}
        self._bytes = {_id_of(ids, byte_name(byte)) for byte in range(256)}
        names = itertools.chain(map(byte_name, range(256)), texts)
        try:
            self._core = _core.Encoder(
                texts,
                range(len(texts), 0, -1),
                fewest=self._fewest,
                first_id=0,
                ids=[_id_of(ids, name) for name in names],
            )
        except ValueError as error:
            raise Refused(str(error)) from error
        wrong = self._core.first_bad()
        if wrong is not None:
            raise Refused(f"its token {texts[wrong]!r} forms from no other tokens")
        if not self._fewest:
            self._check_merges(document["merges"], texts)

    def _check_merges(self, merges: list[Any], texts: list[str]) -> None:
        """Refuse a token that the core makes from other parts than its merge lists."""
        parts = self._core.parts
        for number, merge in enumerate(merges, len(texts) - len(merges)):
            own = parts(number)
            if own is None or [texts[own[0]], texts[own[1]]] != _pair(merge):
                raise Refused(f"its token {texts[number]!r} is made from other parts")

    def still_fits(self, tokenizer: Any) -> bool:
        """Whether nothing was set on the tokenizer that changes the ids."""
        return self.guard == _guard(tokenizer)

    def encode(self, texts: list[str], threads: int) -> Any:
        """The ids of each text, as lists."""
        if self.prefix:
            texts = [self.prefix + text if text else text for text in texts]
        if len(texts) == 1:
            return [self._core.encode(texts[0])]
        return self._core.encode_batch(texts, threads, False)

    def names(self, ids: list[int]) -> list[str]:
        """The texts of ids in the vocabulary."""
        return list(map(self._names.__getitem__, ids))

    def spans(self, text: str) -> tuple[list[tuple[int, int]], list[int]]:
        """The characters that each token of a text covers, as `tokenizers` says, and the word that
        it is in; the pre-tokenizer cuts words, and no token crosses a cut."""
        if not self._isolated:
            spans = self._spans(text)
            return spans, [0] * len(spans)
        found, words, place = list[tuple[int, int]](), list[int](), 0
        for number, word in enumerate(filter(None, self._isolated.split(text))):
            spans = self._spans(word)
            found += [(place + start, place + end) for start, end in spans]
            words += [number] * len(spans)
            place += len(word)
        return found, words

    def _spans(self, word: str) -> list[tuple[int, int]]:
        """The bytes of one character cover it; in a Unigram, those of all such neighbours cover
        them all. A prefix covers the first character."""
        ids, spans = self._core.encode_with_offsets(self.prefix + word)
        if self.prefix:
            spans = [(max(0, start - 1), max(1, end - 1)) for start, end in spans]
        if not self._fewest or self._bytes.isdisjoint(ids):
            return spans
        found = list[tuple[int, int]]()
        pairs = zip((id in self._bytes for id in ids), spans, strict=True)
        for is_byte, some in itertools.groupby(pairs, lambda pair: pair[0]):
            own = [span for _, span in some]
            found += [(own[0][0], own[-1][1])] * len(own) if is_byte else own
        return found


# --- The steps before the model


def state_of(part: Any) -> bytes:
    """A step of a tokenizer as JSON; empty if there is none."""
    return b"" if part is None else bytes(part.__getstate__())


def _prefix(normalizer: bytes) -> str:
    """The space that a normalizer puts before each stretch of text."""
    if not normalizer:
        return ""
    if json.loads(normalizer) != {"type": "Prepend", "prepend": " "}:
        raise Refused("it has a normalizer, which changes text before encoding")
    return " "


def _isolated(pre_tokenizer: bytes) -> str:
    """The characters that a pre-tokenizer cuts out on their own."""
    if not pre_tokenizer:
        return ""
    step = json.loads(pre_tokenizer)
    pattern = (step.get("pattern") or {}).get("Regex", "")
    one = r"(?:\\[^0-9A-Za-z]|[^\\.^$*+?{}\[\]()|])"
    if (
        step["type"] != "Split"
        or step.get("behavior") != "Isolated"
        or step.get("invert")
        or not re.fullmatch(rf"{one}(?:\|{one})*", pattern, re.DOTALL)
    ):
        raise Refused("it cuts text by a pre-tokenizer before encoding")
    return "".join(char[-1] for char in re.findall(one, pattern, re.DOTALL))


def _guard(tokenizer: Any) -> tuple[Any, ...]:
    model = tokenizer.model
    return (
        type(model),
        *(getattr(model, name, None) for name in _TRAITS),
        tokenizer.get_vocab_size(with_added_tokens=False),
        state_of(tokenizer.normalizer),
        state_of(tokenizer.pre_tokenizer),
    )


def _key(model: bytes, steps: tuple[bytes, bytes]) -> bytes:
    return hashlib.sha256(b"\0".join((*steps, model))).digest()


# --- The two models


def _bpe(document: dict[str, Any], isolated: str) -> tuple[dict[str, int], list[str]]:
    """The id of each text, and the texts in rank order."""
    for name in _TRAITS[:-1]:
        if document.get(name):
            raise Refused(f"its BPE has {name}={document[name]!r}")
    ids: dict[str, int] = document["vocab"]
    merged = ["".join(_pair(merge)) for merge in document["merges"]]
    if len(set(merged)) < len(merged):
        raise Refused("some of its tokens have more than one merge")
    texts = [text for text in ids if len(text) == 1] + merged
    _refuse_isolated(texts, isolated)
    return ids, texts


def _pair(merge: Any) -> list[str]:
    """A merge, which older files write as one string."""
    return merge.split(" ") if isinstance(merge, str) else list(merge)


def _unigram(document: dict[str, Any], isolated: str) -> tuple[dict[str, int], list[str]]:
    rows = [(str(text), float(score)) for text, score in document["vocab"]]
    ids = {text: id for id, (text, _) in enumerate(rows)}
    best = max(score for _, score in rows)
    if not (-_LARGEST < best < 0 and best.is_integer()) or len(ids) < len(rows):
        raise Refused("the scores of its tokens are not one whole negative number")
    texts = sorted((text for text, score in rows if score == best), key=lambda t: len(t) > 1)
    alphabet = {text for text in texts if len(text) == 1}
    _refuse_isolated(texts, isolated)
    for text, score in rows:
        if score == best:
            strange = set(text) - alphabet
        else:  # a name: its characters win, or it is cut
            strange = set(text) - alphabet - set(isolated)
            strange |= {text} if score >= best * len(text) or len(text) < 2 else set()
        if strange:
            raise Refused(f"its token {text!r} (score {score:g}) is not made of others")
    return ids, texts


def _refuse_isolated(texts: list[str], isolated: str) -> None:
    if isolated and (wrong := next((t for t in texts if set(t) & set(isolated)), None)):
        raise Refused(f"its pre-tokenizer cuts its token {wrong!r}")


def _id_of(ids: dict[str, int], text: str) -> int:
    if text not in ids:
        raise Refused(f"{text!r} has no id")
    return ids[text]
