"""Texts that no token may have, because some runtime would read them as something else.

In most formats a text has one id, so a token with the text `<0x41>` or `</s>` would be the byte or
the special token. llama.cpp goes further: it joins two neighbours into any token that has their
joined text, special or not, so a vocabulary with `<s>` must not hold both `<s` and `>`; and it
reads some texts as the end of a turn wherever it finds them.

    reserved(["<s>"]) >= {"<s>", "<s", "s>", "<0x41>", "<|im_end|>"}
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator


def byte_name(byte: int) -> str:
    """How people and other programs write a byte token: <0xE2>."""
    return f"<0x{byte:02X}>"


BYTE_NAMES = frozenset(map(byte_name, range(256)))

# llama.cpp reads these as the end of a turn or as a part of a template: it stops generating there,
# or cuts the token out of texts before it applies any rule.
_CONTROL = """
</s> <eos> <EOT> _<EOT> [EOT] [EOS] [PAD] <PAD> <PRE> <SUF> <MID> ▁<PRE> ▁<SUF> ▁<MID> <REPO> [e~[
<turn|> <|tool_response> <end_of_turn> <end_of_utterance> <reponame> <|eot_id|> <|im_end|> <|end|>
<|return|> <|call|> <|flush|> <|calls|> <|endoftext|> <|end_of_text|> <|eom_id|> <|channel|>
<|message|> <|start|> <|constrain|> <fim-prefix> <fim-suffix> <fim-middle> <fim-pad> <fim-repo>
<fim_prefix> <fim_suffix> <fim_middle> <fim_pad> <|fim_prefix|> <|fim_suffix|> <|fim_middle|>
<|fim_pad|> <|fim_repo|> <|repo_name|> <|file_sep|> <|prefix|> <|suffix|> <|middle|> <|code_prefix|>
<|code_suffix|> <|code_middle|> <｜end▁of▁sentence｜> <｜fim▁begin｜> <｜fim▁hole｜> <｜fim▁end｜>
"""
CONTROL_NAMES = frozenset(_CONTROL.split())

# Special tokens that end a document, under the names that tokenizers usually have for them.
END_NAMES = ("<|endoftext|>", "</s>", "<eos>", "<|end_of_text|>", "<|eos|>", "[EOS]")


def reserved(special_tokens: Iterable[str]) -> frozenset[str]:
    """All reserved texts of a tokenizer with these special tokens."""
    specials = {part for text in special_tokens for part in _with_halves(text)}
    return _always() | specials


@functools.cache
def _always() -> frozenset[str]:
    halves = {part for name in BYTE_NAMES for part in _with_halves(name)}
    return CONTROL_NAMES | {name.replace("▁", " ") for name in CONTROL_NAMES} | halves


def _with_halves(name: str) -> Iterator[str]:
    """A name and enough of its parts that no cut in two has a token on both sides (a single
    character always is a token). It reserves ends rather than beginnings: `</` is worth more than
    `s>`."""
    yield name
    if len(name) > 2:
        yield name[:-1]
        yield from (name[start:] for start in range(1, len(name) - 1))
