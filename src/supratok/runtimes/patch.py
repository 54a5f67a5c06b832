"""Make `transformers` encode by our core, with the same results.

    supratok.patch_transformers()
    tokenizer = AutoTokenizer.from_pretrained("my-model")    # a folder that `export` wrote

A tokenizer that is loaded from now on is taken if our encoder provably gives its ids; it stays the
same `tokenizers.Tokenizer`, and only its methods that encode look first for our encoder. Whatever
is not plain goes to the original method.
"""

from __future__ import annotations

import functools
import os
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..common.packages import package
from ..tokenizer.file import FILE

_NAME = "_supratok"  # of our encoder, in the tokenizer's __dict__
_lock = threading.Lock()
_originals: list[tuple[type, str, Any]] = []  # what the patch replaced
_patch = object()  # this patch: what an earlier one took may have changed since


class NotTakenWarning(UserWarning):
    """A tokenizer that supratok exported encodes without our core; its results are the same."""


def patch_transformers() -> None:
    """Tokenizers that `transformers` loads from now on encode by supratok's core, where it gives
    the same ids: those that `Tokenizer.export` wrote, and others of the same kind. Everything they
    return stays the same. `unpatch_transformers` undoes it.

    >>> supratok.patch_transformers()      # doctest: +SKIP
    >>> tokenizer = AutoTokenizer.from_pretrained("my-model")      # doctest: +SKIP
    """
    transformers = package("transformers", "verify")
    inner = package("tokenizers", "verify").Tokenizer
    global _patch
    with _lock:
        if _originals:
            return
        _patch = object()
        _replace(transformers.PreTrainedTokenizerFast, "__init__", _loading)
        _replace(inner, "__setstate__", _copying)
        for name, call in (("encode", _encode), ("encode_batch", _encode_batch)):
            _replace(inner, name, functools.partial(_encoding, call))
        for name in ("add_tokens", "add_special_tokens"):
            _replace(inner, name, _adding)
        for name in ("train", "train_from_iterator"):
            _replace(inner, name, _changing)
        model = inner.__dict__["model"]
        setter = _changing(lambda tokenizer, value: model.__set__(tokenizer, value))
        _replace(inner, "model", lambda _: property(model.__get__, setter, doc=model.__doc__))


def unpatch_transformers() -> None:
    """Undo `patch_transformers`: all tokenizers encode by themselves again."""
    with _lock:
        while _originals:
            owner, name, original = _originals.pop()
            setattr(owner, name, original)


def _replace(owner: type, name: str, wrapped: Callable[[Any], Any]) -> None:
    original = owner.__dict__[name]
    _originals.append((owner, name, original))
    setattr(owner, name, wrapped(original))


# --- Taking a tokenizer


def _take(tokenizer: Any, file: str | os.PathLike[str] | None = None, state: bytes = b"") -> None:
    """Give a `tokenizers.Tokenizer` our encoder, if it is of the right kind. `file`: where it comes
    from; beside one of ours, a refusal is worth a warning."""
    from .model import Refused, model_of
    from .taken import Taken

    try:
        tokenizer.__dict__[_NAME] = Taken(model_of(tokenizer, state), _patch)
    except Refused as why:
        tokenizer.__dict__.pop(_NAME, None)
        if file is not None and Path(file).with_name(FILE).exists():
            _say(f"{file}: supratok does not encode for it: {why}")


def _say(text: str) -> None:
    warnings.warn(f"{text}; its results are the same, only slower", NotTakenWarning, stacklevel=4)


def _loading(original: Any) -> Any:
    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **options: Any) -> None:
        file = options.get("tokenizer_file")
        original(self, *args, **options)
        _take(self._tokenizer, file)

    return __init__


def _copying(original: Any) -> Any:
    """Copies and pickles hold the JSON alone; they are taken anew."""

    @functools.wraps(original)
    def __setstate__(self: Any, state: Any) -> Any:
        result = original(self, state)
        _take(self, state=state if isinstance(state, bytes) else b"")
        return result

    return __setstate__


def _changing(original: Any) -> Any:
    """A call that changes the model: from then on the tokenizer encodes by itself."""

    @functools.wraps(original)
    def change(self: Any, *args: Any, **options: Any) -> Any:
        self.__dict__.pop(_NAME, None)
        return original(self, *args, **options)

    return change


def _adding(original: Any) -> Any:
    @functools.wraps(original)
    def add(self: Any, *args: Any, **options: Any) -> Any:
        result = original(self, *args, **options)
        if taken := self.__dict__.get(_NAME):
            taken.forget_added()
        return result

    return add


# --- Encoding


def _encoding(call: Callable[..., Any], original: Any) -> Any:
    @functools.wraps(original)
    def encode(self: Any, *args: Any, **options: Any) -> Any:
        taken = self.__dict__.get(_NAME)
        if taken is None or taken.patch is not _patch:
            return original(self, *args, **options)
        try:
            made = call(taken, self, *args, **options)
        except (TypeError, UnicodeEncodeError):  # the original says what is wrong
            made = None
        except ValueError as why:
            self.__dict__.pop(_NAME, None)
            _say(f"supratok no longer encodes for this tokenizer: {why}")
            made = None
        return original(self, *args, **options) if made is None else made

    return encode


def _encode(
    taken: Any, tokenizer: Any, sequence: Any, pair: Any = None, is_pretokenized: bool = False,
    add_special_tokens: bool = True,
) -> Any:  # fmt: skip
    if pair is None and type(sequence[0] if is_pretokenized and sequence else sequence) is not str:
        return None  # two texts are no text
    texts = sequence if pair is None else (sequence, pair)
    made = taken.encode(tokenizer, [texts], is_pretokenized, add_special_tokens)
    return None if made is None else made[0]


def _encode_batch(
    taken: Any, tokenizer: Any, input: Any, is_pretokenized: bool = False,
    add_special_tokens: bool = True,
) -> Any:  # fmt: skip
    return taken.encode(tokenizer, input, is_pretokenized, add_special_tokens)
