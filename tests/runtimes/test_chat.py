"""Conversations turn by turn have the ids of the whole, and sampled ids those of their text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import supratok
from supratok import Tokenizer
from supratok.reference import boundaries as plain
from texts import small_tokenizer
from tiny_models import gpt2, torch, transformers
from vocabularies import RULES, rule_of

pytestmark = pytest.mark.usefixtures("one_thread")
CHATML = """\
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}"""
# Its turns end with text: what comes next may join it.
PLAIN = """\
{%- for message in messages %}{{ message.role }}: {{ message.content }} {% endfor %}"""
TALK = [
    {"role": "the", "content": "Is it in New York?"},
    {"role": "cats", "content": "as well as in"},
    {"role": "the", "content": ". The cat"},
    {"role": "cats", "content": "New York🙂"},
]


def exported(folder: Path, rule: str, template: str) -> tuple[Tokenizer, Any]:
    ours = small_tokenizer(rule, special_tokens=("<|im_start|>", "<|im_end|>"))
    ours.export(folder, ["huggingface"], chat_template=template, eos="<|im_end|>")
    return Tokenizer.load(folder), transformers.AutoTokenizer.from_pretrained(folder)


def ids_of(theirs: Any, talk: list[dict[str, str]]) -> list[int]:
    return list(theirs.apply_chat_template(talk, tokenize=True, return_dict=False))


def turns(theirs: Any) -> list[str]:
    """The text that each turn adds."""
    texts = ["", *(theirs.apply_chat_template(TALK[: size + 1], tokenize=False)
                   for size in range(len(TALK)))]  # fmt: skip
    pairs = list(zip(texts, texts[1:], strict=False))
    assert all(after.startswith(before) for before, after in pairs)
    return [after[len(before) :] for before, after in pairs]


@pytest.mark.parametrize("rule", RULES)
def test_turns_that_end_with_a_special_token(tmp_path: Path, rule: str) -> None:
    ours, theirs = exported(tmp_path, rule, CHATML)
    added = list[int]()
    for size, turn in enumerate(turns(theirs), start=1):
        added += ours.encode(turn, allow_special=True)
        assert added == ids_of(theirs, TALK[:size])
        assert added == ours.encode("".join(turns(theirs)[:size]), allow_special=True)
        assert ours.is_canonical(added)


@pytest.mark.parametrize("rule", RULES)
def test_turns_that_end_with_text(tmp_path: Path, rule: str) -> None:
    """Ids of turns side by side are wrong; a stream says which ids to take back, and the stable
    ids are those that need not be read again."""
    ours, theirs = exported(tmp_path, rule, PLAIN)
    stream, added, kept, text, taken_back = ours.encode_stream(), list[int](), list[int](), "", 0
    for size, turn in enumerate(turns(theirs), start=1):
        stable = ours.stable(text).ids
        patch = stream.append(turn)
        assert patch.keep >= len(stable)
        taken_back += len(kept) - patch.keep
        kept[patch.keep :] = patch.ids
        added += ours.encode(turn)
        text += turn
        assert kept == ours.encode(text) == ids_of(theirs, TALK[:size])
        assert kept[: len(stable)] == stable
    assert taken_back > 0 and added != kept and not ours.is_canonical(added)
    assert ours.canonical_prefix(added) < len(added)


@pytest.mark.parametrize("rule", RULES)
def test_sampled_ids_that_drifted_are_found_and_located(rule: str) -> None:
    """For training on samples: the place where they left what `encode` gives."""
    tokenizer = small_tokenizer(rule, special_tokens=("</s>",))
    model, oracle, drifted = gpt2(tokenizer), rule_of(tokenizer), 0
    torch.manual_seed(0)
    start = torch.zeros((40, 1), dtype=torch.long)
    options: dict[str, Any] = {"do_sample": True, "top_k": 0, "max_new_tokens": 12}
    ones = torch.ones_like(start)
    for row in model.generate(start, attention_mask=ones, **options)[:, 1:].tolist():
        ids = [id for id in row[: row.index(0) if 0 in row else None] if id < tokenizer.vocab_size]
        good = tokenizer.canonical_prefix(ids)
        assert good == plain.canonical_prefix(oracle, ids)
        drifted += good < len(ids)
    assert drifted > 10
    masked = supratok.CanonicalLogits(tokenizer)
    for row in model.generate(start, attention_mask=ones, logits_processor=[masked], **options):
        ids = row[1:].tolist()
        assert (
            tokenizer.canonical_prefix(ids[: ids.index(0) if 0 in ids else None])
            >= len(ids[: ids.index(0) if 0 in ids else None]) - 3
        )  # the bytes of half a character
