"""The baselines one by one: settings, losses, cost, and how to train each.

The settings are those of the paper's Appendix C. Where it is silent, a comment names our choice.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...common.files import whole_file, write_whole
from ...common.progress import Progress
from ...corpus import Source, open_corpus
from ...formats.patterns import O200K
from . import boundless, stock, superbpe

Facts = dict[str, Any]


# --- A baseline ------------------------------------------------------------------------------


class Documents:
    """The documents of a corpus, or the first of them; can be iterated many times."""

    def __init__(self, source: Source, first: int | None = None) -> None:
        self._corpus, self._first = open_corpus(source), first
        self.progress = Progress()  # shows how far the reading is

    def __iter__(self) -> Iterator[str]:
        for text in itertools.islice(self._corpus, self._first):
            self.progress.at(self._corpus.bytes_read, self._corpus.bytes_total)
            yield text

    @functools.cached_property
    def facts(self) -> Facts:
        """The number of documents and bytes and a digest, by one reading."""
        digest, documents, size = hashlib.sha256(), 0, 0
        for text in self:
            data = text.encode()
            digest.update(len(data).to_bytes(8, "little") + data)
            documents, size = documents + 1, size + len(data)
        return {"sha256": digest.hexdigest(), "documents": documents, "bytes": size}


@dataclass(frozen=True)
class Job:
    """A training: its documents, vocabulary size and output."""

    documents: Documents
    vocab_size: int
    file: Path
    shared: Path  # a file for intermediate results that several sizes share


@dataclass(frozen=True)
class Cost:
    """The cost of training, for `baselines.estimate`. Measured on two cores of a shared machine, on
    5,000 English documents (11.9 MB) at 8,000 and 16,000 tokens and 20,000 documents (47.8 MB) at
    16,000 and 64,000; rounded up. Includes both readings of baselines that read twice."""

    seconds_per_megabyte: float
    seconds_per_thousand_tokens: float
    bytes_per_byte: float  # of memory for a byte of text, beyond that of the program


@dataclass(frozen=True)
class Baseline:
    """One way to learn a tokenizer, which depends on `settings`, the corpus and the size only.
    `loses`: what decoding does not restore, if anything."""

    name: str
    settings: Mapping[str, Any]
    train: Callable[[Job, Mapping[str, Any]], Facts]  # writes the file
    cost: Cost
    loses: str = ""
    file: str = "tokenizer.json"
    packages: tuple[str, ...] = ("tokenizers",)
    note: str = ""
    in_paper: bool = True

    @property
    def lossy(self) -> bool:
        return bool(self.loses)


# --- Training --------------------------------------------------------------------------------


def _bpe_standard(job: Job, settings: Mapping[str, Any]) -> Facts:
    tokenizer, extra = stock.bpe_standard(job.documents, job.vocab_size, settings["nfd"])
    return {**_save(tokenizer, job), "seconds_apart": extra}


def _wordpiece(job: Job, settings: Mapping[str, Any]) -> Facts:
    tokenizer, extra = stock.wordpiece(job.documents, job.vocab_size)
    return {**_save(tokenizer, job), "seconds_apart": extra}


def _byte_bpe(job: Job, settings: Mapping[str, Any]) -> Facts:
    return _save(stock.byte_bpe(job.documents, job.vocab_size, settings["pattern"]), job)


def _save(tokenizer: Any, job: Job) -> Facts:
    write_whole(job.file, tokenizer.to_str())
    return {}


def _sentencepiece(job: Job, settings: Mapping[str, Any]) -> Facts:
    model, facts = stock.sentencepiece(job.documents, job.vocab_size, settings)
    with whole_file(job.file) as file:
        file.write(model)
    return dict(facts)


def _superbpe(job: Job, settings: Mapping[str, Any]) -> Facts:
    by_line = settings["by_line"]
    wanted = superbpe.inherited(job.vocab_size, settings["transition"])
    kept: Facts = json.loads(job.shared.read_text()) if job.shared.exists() else {"asked": -1}
    if kept["asked"] < wanted:  # fewer merges are the beginning of more
        began = time.monotonic()
        merges = superbpe.stage_1(job.documents, wanted, by_line)
        kept = {"asked": wanted, "seconds": time.monotonic() - began, "merges": merges}
        write_whole(job.shared, json.dumps(kept))
        spent = 0.0
    else:
        spent = kept["seconds"]
    merges = [(left, right) for left, right in kept["merges"][:wanted]]
    merges = superbpe.stage_2(job.documents, merges, job.vocab_size, by_line)
    return {**_save(superbpe.as_tokenizer(merges), job), "seconds_before": spent}


def _boundless(job: Job, settings: Mapping[str, Any]) -> Facts:
    document = boundless.boundless(job.documents, job.vocab_size)
    write_whole(job.file, json.dumps(document, ensure_ascii=False))
    return {"supermerges": len(document["supermerges"])}


# --- All baselines ---------------------------------------------------------------------------

_SENTENCEPIECE = {  # Appendix C, for all three
    "character_coverage": 0.9995,
    "shuffle_input_sentence": False,
    "normalization_rule_name": "nmt_nfkc",
    "pad_id": 0,
    "unk_id": 1,
    "bos_id": 2,
    "eos_id": 3,
    # Choice: the paper is silent on the rest. These are the package's defaults, fixed here so that
    # another version changes nothing. SentencePiece gets texts line by line, as from a file.
    "max_sentence_length": 4192,  # bytes; longer lines are left out
    "max_sentencepiece_length": 16,  # characters of a token, which is short for phrases
    "num_threads": 16,  # it affects the sums of the unigram model
    "byte_fallback": False,
    "split_digits": False,
    "hard_vocab_limit": True,
}
_SP_LOSES = (
    "normalises (NFKC; spaces and line ends become single spaces); characters beyond the 0.9995"
    " most frequent are unknown"
)
_WORDS_LOSES = "drops spaces and line ends; unseen characters are unknown"
_BERT_LOSES = (
    "drops case, accents, spaces and line ends; unseen characters and words over 100 characters are"
    " unknown"
)


def _standard(name: str, nfd: bool, loses: str) -> Baseline:
    # Choice: the paper is silent on special tokens (here one, [UNK]), the minimum frequency of a
    # pair (0) and the size of the alphabet (unlimited).
    settings = {"nfd": nfd, "end_of_word_suffix": "</w>", "pre_tokenizer": "Whitespace"}
    return Baseline(name, settings, _bpe_standard, Cost(0.5, 0.05, 5), loses)


def _with_sentencepiece(name: str, cost: Cost, note: str = "", **more: object) -> Baseline:
    return Baseline(
        name,
        {**_SENTENCEPIECE, **more},
        _sentencepiece,
        cost,
        _SP_LOSES,
        "tokenizer.model",
        ("sentencepiece",),
        note,
    )


def _super(
    name: str,
    note: str = "",
    *,
    by_line: bool = True,
    transition: float = superbpe.TRANSITION,
    in_paper: bool = False,
) -> Baseline:
    # Choice: the paper is silent on the alphabet. Here it has all 256 bytes (the authors take those
    # of the corpus), so that decoding restores every text. Lines are the authors'.
    settings = {
        "by_line": by_line,
        "transition": transition,
        "stage_1": superbpe.STAGE_1,
        "stage_2": superbpe.STAGE_2,
        "most_words": superbpe.MOST_WORDS,
        "never": ":Ġ",
        "revision": 1,  # of our program: raise it when the tokens change
    }
    return Baseline(name, settings, _superbpe, Cost(1.0, 0.1, 17), note=note, in_paper=in_paper)


_ALL = [
    _standard("BPE-Standard", False, _WORDS_LOSES),
    _standard(  # as in the multilingual benchmark
        "BPE-Standard-NFD", True, _WORDS_LOSES + "; composed characters come back decomposed"
    ),
    Baseline(
        "WordPiece-BERT",
        # Choice: the paper is silent on special tokens (here one, [UNK]) and the longest word (the
        # default, 100 characters).
        {
            "normalizer": "NFD, Lowercase, StripAccents",
            "pre_tokenizer": "BertPreTokenizer",
            "continuing_subword_prefix": "##",
        },
        _wordpiece,
        Cost(0.5, 0.05, 5),
        _BERT_LOSES,
    ),
    _with_sentencepiece(
        "Unigram-SentencePiece", Cost(2.5, 0.1, 28), model_type="unigram", split_by_whitespace=True
    ),
    _with_sentencepiece(
        "SentencePiece-BPE", Cost(0.3, 0.1, 10), model_type="bpe", split_by_whitespace=True
    ),
    _with_sentencepiece(
        "SP-BPE-CrossBoundary",
        Cost(3, 1, 40),  # 238 MB at 100,000: 612 s beside other programs, 9.0 GB
        "takes every line as one word and needs about 40 bytes of memory for a byte of text; with"
        " less memory, train it on the first documents only, and say so",
        model_type="bpe",
        split_by_whitespace=False,
        treat_whitespace_as_suffix=False,
        train_extremely_large_corpus=True,
    ),
    _super("SuperBPE", in_paper=True),
    _super(
        "SuperBPE-Documents",
        "as SuperBPE, but learns from whole documents: its tokens may cross line ends",
        by_line=False,
    ),
    _super("SuperBPE-Early", "as SuperBPE, with phrases after 40%", transition=superbpe.EARLY),
    _super("SuperBPE-Late", "as SuperBPE, with phrases after 90%", transition=superbpe.LATE),
    Baseline("BPE-Bytes-GPT4o", {"pattern": O200K}, _byte_bpe, Cost(0.4, 0.05, 6), in_paper=False),
    Baseline(
        "BoundlessBPE",
        {"pattern": O200K, "deletions": False, "revision": 1},
        _boundless,
        Cost(1.2, 0.6, 14),
        file="boundless.json",
        note="encodes in Python",
        in_paper=False,
    ),
]
BASELINES: dict[str, Baseline] = {baseline.name: baseline for baseline in _ALL}
