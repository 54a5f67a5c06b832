"""Exports: the real runtimes read our files, give our ids, and return the text."""

from __future__ import annotations

import json
import logging
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers.decoders import DecodeStream
from transformers import AutoTokenizer

from supratok import Recipe, Tokenizer, train
from supratok.formats.export import export
from supratok.formats.huggingface import write as huggingface
from supratok.formats.listing import Kind, Roles, listing_of, swap_spaces
from supratok.formats.sentencepiece import write as sentencepiece_file
from supratok.tokenizer import Token
from texts import HOSTILE, any_text, tight_text
from texts import small_tokenizer as small

SPECIALS = ("<s>", "</s>", "<pad>", "<unk>", "<|im_start|>", "<|im_end|>")
ROLES: dict[str, Any] = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "unk": "<unk>"}
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
RULES = ("merges", "fewest")


@pytest.fixture(scope="module", params=RULES)
def exported(request: Any, tmp_path_factory: Any) -> tuple[Tokenizer, Path]:
    tokenizer = small(request.param, special_tokens=SPECIALS)
    folder = tmp_path_factory.mktemp("out") / request.param
    tokenizer.export(folder, ["huggingface", "sentencepiece"], chat_template=TEMPLATE, **ROLES)
    return tokenizer, folder


# --- Hugging Face ----------------------------------------------------------------------------


def test_auto_tokenizer_opens_it_without_a_warning(
    exported: tuple[Tokenizer, Path], caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    _, folder = exported
    caplog.set_level(logging.DEBUG, logger="transformers")
    opened = AutoTokenizer.from_pretrained(folder)
    opened("New York")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert capfd.readouterr() == ("", "")
    assert opened.bos_token == "<s>" and opened.eos_token_id == 1
    assert opened.pad_token_id == 2 and opened.unk_token_id == 3


@given(st.one_of(any_text, tight_text, st.sampled_from(HOSTILE)))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_transformers_has_our_ids_and_returns_the_text(text: str) -> None:
    for rule in RULES:
        tokenizer, opened = _opened(rule)
        ids = opened(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        assert ids == tokenizer.encode(text)
        assert opened.decode(ids) == text


_OPEN: dict[str, tuple[Tokenizer, Any]] = {}


def _opened(rule: str) -> tuple[Tokenizer, Any]:
    if rule not in _OPEN:
        tokenizer = small(rule, special_tokens=SPECIALS)
        document = huggingface.tokenizer_json(tokenizer, listing_of(tokenizer))
        backend = tokenizers.Tokenizer.from_str(json.dumps(document))
        from transformers import PreTrainedTokenizerFast

        _OPEN[rule] = tokenizer, PreTrainedTokenizerFast(tokenizer_object=backend)
    return _OPEN[rule]


@pytest.mark.parametrize(
    "text", ["▁ ▁▁", " a  b\n\n\tc ", "🙂❤\ufe0f", "日本語です。", "ʼЯка", "\0"]
)
def test_text_comes_back_unchanged(exported: tuple[Tokenizer, Path], text: str) -> None:
    opened = AutoTokenizer.from_pretrained(exported[1])
    assert opened.decode(opened(text)["input_ids"]) == text


def test_special_tokens_in_a_text_are_found_as_ours_are_when_allowed(
    exported: tuple[Tokenizer, Path],
) -> None:
    tokenizer, folder = exported
    opened = AutoTokenizer.from_pretrained(folder)
    text = "<s>New York</s> <s >in the <|im_start|><pad>cat"
    assert opened(text)["input_ids"] == tokenizer.encode(text, allow_special=True)
    assert opened.decode(opened(text)["input_ids"], skip_special_tokens=True) == (
        "New York <s >in the cat"
    )


def test_chat_template(exported: tuple[Tokenizer, Path]) -> None:
    tokenizer, folder = exported
    opened = AutoTokenizer.from_pretrained(folder)
    chat = [{"role": "user", "content": "the cat in New York"}]
    said = opened.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    assert said == ("<|im_start|>user\nthe cat in New York<|im_end|>\n<|im_start|>assistant\n")
    ids = opened.apply_chat_template(chat, add_generation_prompt=True)["input_ids"]
    assert ids == tokenizer.encode(said, allow_special=True)


def test_batches_padding_truncation_and_offsets(exported: tuple[Tokenizer, Path]) -> None:
    tokenizer, folder = exported
    opened = AutoTokenizer.from_pretrained(folder)
    texts = ["the cat in New York as well as the cats of the 日本語", "low", ""]
    batch = opened(texts, padding=True)
    wanted = tokenizer.encode_batch(texts)
    for ids, mask, alone in zip(batch["input_ids"], batch["attention_mask"], wanted, strict=True):
        assert [id for id, real in zip(ids, mask, strict=True) if real] == alone
        assert set(ids[len(alone) :]) <= {2} and len(ids) == len(wanted[0])
    assert opened(texts[0], truncation=True, max_length=3)["input_ids"] == wanted[0][:3]
    offsets = opened(texts[0], return_offsets_mapping=True)["offset_mapping"]
    assert [tuple(pair) for pair in offsets] == tokenizer.encode_with_offsets(texts[0])[1]


def test_bos_and_eos_around_each_text(tmp_path: Path) -> None:
    tokenizer = small("merges", special_tokens=SPECIALS)
    tokenizer.export(tmp_path / "x", "huggingface", **ROLES, add_bos=True, add_eos=True)
    opened = AutoTokenizer.from_pretrained(tmp_path / "x")
    one, two = tokenizer.encode("the cat"), tokenizer.encode("low")
    assert opened("the cat")["input_ids"] == [0, *one, 1]
    assert opened("the cat", "low")["input_ids"] == [0, *one, 1, 0, *two, 1]
    assert opened("the cat", add_special_tokens=False)["input_ids"] == one


def test_text_streams_out_token_by_token(exported: tuple[Tokenizer, Path]) -> None:
    """As vLLM and TGI stream it: a character outside the alphabet appears with its last byte."""
    tokenizer, folder = exported
    opened = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    text = "the cat \U0001fae0 in  New York\n▁日本語"
    stream = DecodeStream(skip_special_tokens=False)
    parts = [stream.step(opened, id) or "" for id in tokenizer.encode(text)]
    assert "".join(parts) == text and "\ufffd" not in parts


@pytest.mark.parametrize("rule", RULES)
def test_names_of_bytes_are_text_even_where_their_characters_are_unknown(rule: Any) -> None:
    """A Unigram finds every entry in a text, names too: none of "<0x41>" is in this alphabet."""
    tokenizer = train(["abab abab cd"] * 20, Recipe(vocab_size=300, segmentation=rule,
                      special_tokens=("[X]",)), progress=False)  # fmt: skip
    document = huggingface.tokenizer_json(tokenizer, listing_of(tokenizer))
    opened = tokenizers.Tokenizer.from_str(json.dumps(document))
    opened.encode_special_tokens = True
    for text in ("<0x41>", "ab<0x0A>ab", "<0x", "[X]ab[X", "ab<<0x41>>", "0x41", "4<0x411>"):
        assert opened.encode(text).ids == tokenizer.encode(text)
        assert opened.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("seed", range(6))
def test_random_vocabularies(seed: int) -> None:
    """Any tokens that encode to themselves, not only those that training makes."""
    rng = random.Random(seed)
    rule = RULES[seed % 2]
    tokenizer = random_tokenizer(rng, rule)
    listing = listing_of(tokenizer)
    opened = tokenizers.Tokenizer.from_str(
        json.dumps(huggingface.tokenizer_json(tokenizer, listing))
    )
    processor = _processor(tokenizer)
    for _ in range(300):
        text = "".join(rng.choices("aab c", k=rng.randint(0, 30)))
        wanted = tokenizer.encode(text)
        assert opened.encode(text).ids == wanted
        assert processor.encode(text) == wanted


def random_tokenizer(rng: random.Random, rule: Any) -> Tokenizer:
    texts = list("ab c")
    recipe = Recipe(vocab_size=2000, segmentation=rule)
    for _ in range(60):
        text = rng.choice(texts) + rng.choice(texts)
        tokens = [Token(one, 1, "alphabet" if len(one) == 1 else "traditional") for one in texts]
        try:
            Tokenizer([*tokens, Token(text, 1, "traditional")], recipe)
        except ValueError:  # a token that could never be used
            continue
        if text not in texts:
            texts.append(text)
    tokens = [Token(one, 1, "alphabet" if len(one) == 1 else "traditional") for one in texts]
    return Tokenizer(tokens, recipe)


# --- SentencePiece ---------------------------------------------------------------------------


def _processor(tokenizer: Tokenizer) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.model")
        sentencepiece_file.write(path, listing_of(tokenizer))
        return sentencepiece.SentencePieceProcessor(model_file=str(path))


@given(st.one_of(any_text, tight_text, st.sampled_from(HOSTILE)))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_sentencepiece_has_our_ids(text: str) -> None:
    text = text.replace("▁", "_")  # SentencePiece reads one as a space
    for rule in RULES:
        if rule not in _PROCESSORS:
            tokenizer = small(rule)
            _PROCESSORS[rule] = tokenizer, _processor(tokenizer)
        tokenizer, processor = _PROCESSORS[rule]
        assert processor.encode(text) == tokenizer.encode(text)
        assert processor.decode(tokenizer.encode(text)) == text


_PROCESSORS: dict[str, tuple[Tokenizer, Any]] = {}


def test_sentencepiece_roles_and_offsets(exported: tuple[Tokenizer, Path]) -> None:
    tokenizer, folder = exported
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
    assert processor.vocab_size() == tokenizer.vocab_size
    assert [processor.bos_id(), processor.eos_id(), processor.pad_id(), processor.unk_id()] == [
        0, 1, 2, 3,
    ]  # fmt: skip
    text = "the cat in New York 日本語 as well as"
    pieces = _with_offsets(processor, text)
    ids, offsets = tokenizer.encode_with_offsets(text)
    assert [piece.id for piece in pieces] == ids
    assert [piece.surface for piece in pieces] == [text[start:end] for start, end in offsets]
    ends = [0, *(len(text[:end].encode()) for _, end in offsets)]
    assert [piece.begin for piece in pieces] == ends[:-1]
    assert [piece.end for piece in pieces] == ends[1:]


def _with_offsets(processor: Any, text: str) -> Any:
    """`encode_as_immutable_proto`, or its successor in 0.2.2."""
    try:
        return processor.encode_as_immutable_proto(text).pieces
    except (AttributeError, ValueError):  # 0.2.3 has it no more
        return processor.encode(text, return_type="proto").pieces


def test_sentencepiece_gets_an_unknown_piece_behind_the_last_id(tmp_path: Path) -> None:
    tokenizer = small("merges", special_tokens=("<unk>",))  # there, but in no role
    processor = _processor(tokenizer)
    assert processor.unk_id() == tokenizer.vocab_size
    assert processor.id_to_piece(processor.unk_id()) == "<unk0>"
    assert processor.is_control(0)


def test_a_literal_lower_block_is_written_as_what_no_text_holds() -> None:
    assert swap_spaces(" a▁") == "▁a "
    recipe = Recipe(vocab_size=700, segmentation="merges")
    tokenizer = train(["▁▁ the cat ▁▁ the"] * 30, recipe, progress=False)
    assert any("▁" in text for text in tokenizer.texts)
    processor = _processor(tokenizer)
    assert processor.encode("the cat the") == tokenizer.encode("the cat the")
    document = huggingface.tokenizer_json(tokenizer, listing_of(tokenizer))
    opened = tokenizers.Tokenizer.from_str(json.dumps(document))
    assert opened.decode(opened.encode("▁▁ ▁ the▁").ids) == "▁▁ ▁ the▁"


def test_nul_is_always_a_byte() -> None:
    tokenizer = train(["a\0b a\0b c"] * 30, Recipe(vocab_size=300), progress=False)
    assert not any("\0" in text for text in tokenizer.texts)
    assert _processor(tokenizer).encode("a\0b") == tokenizer.encode("a\0b")


def test_an_alphabet_with_nul_is_refused(tmp_path: Path) -> None:
    tokenizer = Tokenizer([Token("\0", 1, "alphabet")], Recipe(vocab_size=300))
    with pytest.raises(ValueError, match="NUL"):
        sentencepiece_file.write(tmp_path / "tokenizer.model", listing_of(tokenizer))


# --- The listing -----------------------------------------------------------------------------


def test_a_listing_has_a_row_for_each_id() -> None:
    tokenizer = small("merges", special_tokens=SPECIALS)
    listing = listing_of(tokenizer, Roles(unk="<unk>"))
    assert [row.text for row in listing.rows] == [
        tokenizer.token_text(id) for id in range(tokenizer.vocab_size)
    ]
    kinds = [row.kind for row in listing.rows]
    assert kinds[:4] == [Kind.CONTROL] * 3 + [Kind.UNKNOWN]
    assert kinds.count(Kind.BYTE) == 256
    assert listing.id_of("unk") == 3 and listing.id_of("bos") is None


def test_a_role_must_be_a_special_token() -> None:
    tokenizer = small("merges", special_tokens=("</s>",))
    with pytest.raises(ValueError, match=r"bos='<s>' is no special token .* has '</s>'"):
        listing_of(tokenizer, Roles(bos="<s>"))
    with pytest.raises(ValueError, match="add_eos needs a special token to add"):
        Roles(add_eos=True)


def test_a_token_that_reads_like_a_name_is_refused() -> None:
    texts = [*"<0x41>", "<0", "<0x", "<0x4", "<0x41", "<0x41>"]
    tokens = [Token(text, 1, "alphabet" if len(text) == 1 else "traditional") for text in texts]
    unique = list({token.text: token for token in tokens}.values())
    with pytest.raises(ValueError, match="'<0x41>', which is also the name of a byte"):
        listing_of(Tokenizer(unique, Recipe(vocab_size=400)))


# --- The files -------------------------------------------------------------------------------


def test_the_folder_holds_ours_too(exported: tuple[Tokenizer, Path]) -> None:
    tokenizer, folder = exported
    ours = Tokenizer.load(folder / "supratok.json")
    assert ours.vocabulary == tokenizer.vocabulary and ours.recipe == tokenizer.recipe
    assert sorted(path.name for path in folder.iterdir()) == [
        "supratok.json", "tokenizer.json", "tokenizer.model", "tokenizer_config.json",
    ]  # fmt: skip


def test_the_same_bytes_each_time(tmp_path: Path) -> None:
    tokenizer = small("fewest", special_tokens=SPECIALS)
    one = export(tokenizer, tmp_path / "one")
    two = export(replace_recipe(tokenizer), tmp_path / "two")
    assert one.files == two.files
    for file in one.files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def replace_recipe(tokenizer: Tokenizer) -> Tokenizer:
    """An equal tokenizer, built again."""
    return Tokenizer(tokenizer.vocabulary, replace(tokenizer.recipe), tokenizer.report)
