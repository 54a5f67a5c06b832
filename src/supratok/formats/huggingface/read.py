"""Read Hugging Face's `tokenizer.json`: BPE and Unigram with byte fallback, as in Llama 2 and
Gemma, and the files that SupraTok exports.

Its BPE joins listed pairs, ours joins by the joined text; see `assemble`. Its Unigram with equal
scores is our rule `fewest`. Added tokens marked as special become special tokens; the others are
cut out of every text first. `encode` ignores the post-processor, which puts tokens around a text.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
from pathlib import Path

from ...common.reserved import BYTE_NAMES
from ...tokenizer import Tokenizer
from ...tokenizer.inputs import find_file, naming, parse_object, read_file
from ..assemble import NOT_IMPORTED, Vocabulary, by_fewest, by_merges, one_score
from ..check import check_import
from ..listing import SPACE
from .document import Document, check_document, model_type, pair_of, whole
from .run import HuggingFace
from .steps import Steps, read_steps, refuse_cuts


def read_huggingface(path: str | os.PathLike[str]) -> Tokenizer:
    """The tokenizer of a `tokenizer.json`, or of a folder that holds one."""
    file = find_file(path, "tokenizer.json")
    with naming(file):
        return _read(file)


def _read(file: Path) -> Tokenizer:
    document = _parse(read_file(file))
    vocab = Vocabulary(str(file), "huggingface")
    before = read_steps(vocab, document)
    kind = model_type(document)
    if kind == "BPE":
        tokenizer = _read_bpe(vocab, document, before)
    elif kind == "Unigram":
        tokenizer = _read_unigram(vocab, document, before)
    else:
        raise vocab.refuse(f"its model is {kind}; supratok reads BPE and Unigram", NOT_IMPORTED)
    refuse_cuts(vocab, tokenizer, before)
    if importlib.util.find_spec("tokenizers"):
        _check(tokenizer, vocab, document)
    return tokenizer


def _parse(data: bytes) -> Document:
    try:
        document = parse_object(data)
    except ValueError as error:
        raise ValueError(
            f"not a tokenizer.json, it has no model: {error}; download it again"
        ) from error
    if document.get("model") is None:
        raise ValueError("not a tokenizer.json, it has no model; pass one that has")
    check_document(document)
    return document


def _check(tokenizer: Tokenizer, vocab: Vocabulary, document: Document) -> None:
    """In `tokenizers`, by the parts that decide the ids; the others may be anything."""
    parts = ("added_tokens", "normalizer", "pre_tokenizer", "model")
    kept = whole({name: document[name] for name in parts if document.get(name) is not None})
    runtime = HuggingFace(vocab.name, json.dumps(kept).encode())
    for text, id in tokenizer.special_tokens.items():
        if runtime.id_of(text) != id:
            raise vocab.refuse(
                f"it says that its special token {text!r} has the id {id}, but tokenizers gives it"
                f" the id {runtime.id_of(text)}",
                "correct its added_tokens",
            )
    check_import(tokenizer, vocab, runtime)


# --- Added tokens ----------------------------------------------------------------------------


def _take_added(vocab: Vocabulary, document: Document, before: Steps, ids: dict[str, int]) -> None:
    for token in document.get("added_tokens") or []:
        text, id = token["content"], token["id"]
        if ids.get(text, id) != id:
            raise vocab.refuse(
                f"its token {text!r} has the ids {id} and {ids[text]}", "correct its added_tokens"
            )
        if token["special"]:
            vocab.special[text] = id
        elif before.replaces and SPACE in text and not token["normalized"]:
            continue  # it matches only a literal U+2581
        else:
            vocab.always[_cut_out(vocab, token, before)] = id


def _cut_out(vocab: Vocabulary, token: Document, before: Steps) -> str:
    options = [name for name in ("single_word", "lstrip", "rstrip") if token[name]]
    if options:
        raise vocab.refuse(
            f"its added token {token['content']!r} depends on its neighbours"
            f" ({', '.join(options)})",
            "set this to false, or mark the token as special",
        )
    if before.prefix:
        raise vocab.refuse(
            "it puts a space before each stretch of text beside its added token"
            f" {token['content']!r}, and decoding cannot tell this space from others",
            "import its tokenizer.model with from_sentencepiece, or mark the token as special",
        )
    text = str(token["content"])
    return text.replace(SPACE, " ") if before.replaces else text


# --- The models ------------------------------------------------------------------------------


def _take_vocabulary(
    vocab: Vocabulary, document: Document, before: Steps, ids: dict[str, int]
) -> None:
    """Sort the ids: bytes, special tokens, texts to cut out; the rest are pieces."""
    if not document["model"].get("byte_fallback"):
        raise vocab.refuse(
            "it has no byte fallback, so it loses rare characters",
            "import a tokenizer with byte_fallback",
        )
    vocab.take_bytes(ids)
    _take_added(vocab, document, before, ids)
    unknown = document["model"].get("unk_token")
    if unknown in ids and unknown not in vocab.always and unknown not in BYTE_NAMES:
        vocab.special.setdefault(unknown, ids[unknown])
    taken = {*vocab.special.values(), *vocab.always.values(), *vocab.bytes}
    for text, id in ids.items():
        if id not in taken:
            vocab.pieces[before.text(text)] = id


def _read_bpe(vocab: Vocabulary, document: Document, before: Steps) -> Tokenizer:
    model = document["model"]
    for option in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges"):
        if model.get(option):
            raise vocab.refuse(f"its BPE has {option}={model[option]!r}", NOT_IMPORTED)
    _take_vocabulary(vocab, document, before, model["vocab"])
    places: dict[tuple[str, str], int] = {}
    for place, merge in enumerate(model["merges"]):
        left, right = pair_of(merge)
        if not BYTE_NAMES.isdisjoint((left, right, left + right)):
            raise vocab.refuse(f"its merge of {left!r} and {right!r} joins bytes", NOT_IMPORTED)
        places[before.text(left), before.text(right)] = place
    _refuse_made_names(vocab, places)
    return by_merges(vocab, lambda left, right: places.get((left, right), math.inf))


def _refuse_made_names(vocab: Vocabulary, places: dict[tuple[str, str], int]) -> None:
    """Merges must not make a special token: ordinary text would become one."""
    for left, right in places:
        if left + right in vocab.special or left in vocab.special or right in vocab.special:
            raise vocab.refuse(
                f"its merge of {left!r} and {right!r} makes or holds a special token, which"
                " supratok never makes from ordinary text",
                NOT_IMPORTED,
            )


def _read_unigram(vocab: Vocabulary, document: Document, before: Steps) -> Tokenizer:
    model = document["model"]
    rows = [(text, float(score)) for text, score in model["vocab"]]
    ids = {text: id for id, (text, _) in enumerate(rows)}
    unknown = model.get("unk_id")
    if unknown is not None:
        if unknown >= len(rows):
            raise ValueError(f"its unk_id is {unknown}, and it has {len(rows)} pieces")
        model = model | {"unk_token": rows[unknown][0]}
    _take_vocabulary(vocab, document | {"model": model}, before, ids)
    scores = {before.text(text): score for text, score in rows}
    score = one_score(vocab, {text: scores[text] for text in vocab.pieces})
    _refuse_likely(vocab, scores, score, before)
    return by_fewest(vocab)


def _refuse_likely(
    vocab: Vocabulary, scores: dict[str, float], score: float, before: Steps
) -> None:
    """A Unigram also finds the names of bytes and special tokens in a text. Each name must score
    worse than its characters one by one, or hold a character that is cut out."""
    for text in scores:
        if text in vocab.pieces or text in vocab.always:
            continue
        plain = all(char in vocab.pieces for char in text)
        if before.isolated.isdisjoint(text) and not (plain and scores[text] < score * len(text)):
            raise vocab.refuse(
                f"it may take the text {text!r} for the token of this name, which supratok makes"
                " from no text",
                f"give that token a score below {score * len(text):g}, and its characters tokens",
            )
