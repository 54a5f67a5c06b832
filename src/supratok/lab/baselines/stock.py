"""The baselines that a stock package trains: `tokenizers` and SentencePiece.

`tokenizers` gets whole texts; SentencePiece gets lines, as from a file.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...common.packages import package

UNKNOWN = "[UNK]"


def tokenizers() -> Any:
    return package("tokenizers", "lab")


# --- tokenizers ------------------------------------------------------------------------------


def bpe_standard(texts: Iterable[str], vocab_size: int, nfd: bool = False) -> tuple[Any, float]:
    """BPE over words and punctuation, without spaces; and the extra seconds of `_train_twice`."""
    own = tokenizers()
    tokenizer = own.Tokenizer(own.models.BPE(unk_token=UNKNOWN, end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = own.pre_tokenizers.Whitespace()
    if nfd:
        tokenizer.normalizer = own.normalizers.NFD()
    tokenizer.decoder = own.decoders.BPEDecoder(suffix="</w>")
    trainer, options = own.trainers.BpeTrainer, {"end_of_word_suffix": "</w>"}
    return _train_twice(tokenizer, trainer, options, texts, vocab_size)


def wordpiece(texts: Iterable[str], vocab_size: int) -> tuple[Any, float]:
    """WordPiece as in BERT, uncased: without case, accents and spaces; and the extra seconds of
    `_train_twice`."""
    own = tokenizers()
    tokenizer = own.Tokenizer(own.models.WordPiece(unk_token=UNKNOWN))
    normalizers = own.normalizers
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
    )
    tokenizer.pre_tokenizer = own.pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = own.decoders.WordPiece(prefix="##")
    trainer, options = own.trainers.WordPieceTrainer, {"continuing_subword_prefix": "##"}
    return _train_twice(tokenizer, trainer, options, texts, vocab_size)


def byte_bpe(texts: Iterable[str], vocab_size: int, pattern: str, by_line: bool = False) -> Any:
    """BPE over the bytes of the pieces of a pattern; decoding restores every text. `by_line`: learn
    as if each line were a text."""
    own = tokenizers()
    tokenizer = own.Tokenizer(own.models.BPE())
    tokenizer.pre_tokenizer = splitter(pattern, by_line)
    tokenizer.decoder = own.decoders.ByteLevel()
    trainer = own.trainers.BpeTrainer(
        vocab_size=vocab_size,
        initial_alphabet=own.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.pre_tokenizer = splitter(pattern)
    return tokenizer


def splitter(pattern: str, by_line: bool = False) -> Any:
    """Split after each line end (`by_line`), split by a pattern, and write bytes as letters."""
    own = tokenizers()
    lines = own.pre_tokenizers.Split("\n", "merged_with_previous")
    return own.pre_tokenizers.Sequence(
        [
            *([lines] if by_line else []),
            own.pre_tokenizers.Split(own.Regex(pattern), "isolated"),
            own.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def _train_twice(
    tokenizer: Any, trainer: Any, options: dict[str, str], texts: Iterable[str], vocab_size: int
) -> tuple[Any, float]:
    """Train so that the same texts give the same file; also return the extra seconds this takes.

    The package numbers marked characters ("e</w>", "##e") in the order of a hash table, which
    differs from run to run, and of equally frequent pairs takes the one with the smaller numbers:
    two runs differ. So a first training finds the characters, and a second one gets the marked ones
    in order, as special tokens; the result lists them as ordinary tokens. The extra seconds are
    those of the first training.
    """
    began = time.monotonic()
    mark = next(iter(options.values()))
    tokenizer.train_from_iterator(
        texts, trainer(vocab_size=1, special_tokens=[UNKNOWN], show_progress=False, **options)
    )
    marked = sorted(token for token in tokenizer.get_vocab() if mark in token and token != mark)
    extra = time.monotonic() - began
    tokenizer.train_from_iterator(
        texts,
        trainer(
            vocab_size=vocab_size,
            special_tokens=[UNKNOWN, *marked],
            show_progress=False,
            **options,
        ),
    )
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = document["added_tokens"][:1]
    return tokenizers().Tokenizer.from_str(json.dumps(document)), extra


# --- SentencePiece ---------------------------------------------------------------------------


class Lines:
    """The lines of texts, and the number of those that SentencePiece drops as too long."""

    def __init__(self, texts: Iterable[str], longest: int) -> None:
        self._texts, self._longest = texts, longest
        self.lines = self.dropped = self.bytes_dropped = 0

    def __iter__(self) -> Iterator[str]:
        for text in self._texts:
            for line in filter(None, text.split("\n")):
                self.lines += 1
                size = len(line.encode())
                if size > self._longest:
                    self.dropped += 1
                    self.bytes_dropped += size
                yield line


def sentencepiece(
    texts: Iterable[str], vocab_size: int, settings: Mapping[str, Any]
) -> tuple[bytes, dict[str, int]]:
    """A model, and the number of lines and bytes that it dropped."""
    trainer = package("sentencepiece", "lab").SentencePieceTrainer
    lines = Lines(texts, settings["max_sentence_length"])
    model = io.BytesIO()
    try:
        trainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            vocab_size=vocab_size,
            minloglevel=3,
            **settings,
        )
    except RuntimeError as error:
        raise ValueError(
            f"SentencePiece cannot learn {vocab_size:,} tokens from this corpus ({error}); choose"
            " another vocabulary size, or give it more text"
        ) from error
    left_out = {"lines_dropped": lines.dropped, "bytes_dropped": lines.bytes_dropped}
    return model.getvalue(), {"lines": lines.lines, **left_out}
