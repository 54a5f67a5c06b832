"""Language models: the paper's model, its loss, its stream, and training that can be resumed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import supratok
from supratok.formats.peer import Named, open_any
from supratok.formats.runtime import Ours
from supratok.lab.lm import loss as loss_module
from supratok.lab.lm import stream as stream_module
from supratok.lab.lm.bits import bits_per_character, token_nats
from supratok.lab.lm.coder import Coder, Ids, without_phrases
from supratok.lab.lm.energy import Meter
from supratok.lab.lm.experiment import Setting, figures, learn, matched
from supratok.lab.lm.loss import mean_loss, token_losses
from supratok.lab.lm.model import Decoder, Shape, new_decoder
from supratok.lab.lm.parts import Sharing, Splitting, phrase_parts
from supratok.lab.lm.seeds import _beyond, paired
from supratok.lab.lm.stream import Stream
from supratok.lab.lm.training import CHECKPOINT, Plan, train_model

TEXTS = [
    f"The cat sat on the mat in New York as well as in Paris, {number} times. " * 4
    for number in range(60)
]
TINY = {"layers": 2, "width": 32, "context": 16}


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def coder(tmp_path_factory: pytest.TempPathFactory) -> Coder:
    """Over a vocabulary that holds phrases."""
    path = tmp_path_factory.mktemp("lm") / "supratok.json"
    supratok.train(TEXTS, supratok.Recipe(vocab_size=400, screen=None)).save(path)
    return Coder(open_any(path))


# --- The model


@pytest.mark.parametrize(
    ("layers", "width", "count"), [(12, 768, 282_450_432), (24, 1024, 565_504_000)]
)
def test_as_many_parameters_as_in_the_paper(layers: int, width: int, count: int) -> None:
    shape = Shape(256_000, layers, width)
    assert shape.parameters == count
    with torch.device("meta"):
        assert sum(weight.numel() for weight in Decoder(shape).parameters()) == count


def test_the_same_seed_gives_the_same_model() -> None:
    ids = torch.arange(12).view(1, 12)
    first, again, other = (new_decoder(Shape(50, **TINY), seed)(ids) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_no_token_sees_what_comes_after_it() -> None:
    model = new_decoder(Shape(50, **TINY), 0)
    ids = torch.arange(12).view(1, 12)
    changed = ids.clone()
    changed[0, 8:] = 49
    assert torch.allclose(model(ids)[0, :8], model(changed)[0, :8], atol=1e-6)
    assert not torch.allclose(model(ids)[0, 8:], model(changed)[0, 8:])


def test_a_text_longer_than_the_context_is_refused() -> None:
    with pytest.raises(ValueError, match="17 tokens: the model has 16 positions"):
        new_decoder(Shape(50, **TINY), 0)(torch.zeros(1, 17, dtype=torch.long))


# --- The loss


@given(st.integers(1, 40), st.integers(2, 30), st.integers(1, 200), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_the_loss_in_parts_is_the_plain_one(places: int, rows: int, room: int, seed: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    hidden = torch.randn(places, 8, generator=chance, requires_grad=True)
    table = torch.randn(rows, 8, generator=chance, requires_grad=True)
    targets = torch.randint(0, rows, (places,), generator=chance)
    plain = torch.nn.functional.cross_entropy(hidden @ table.T, targets)
    before, loss_module._ROOM = loss_module._ROOM, room
    try:
        ours = mean_loss(hidden, table, targets)
        each = token_losses(hidden, table, targets)
    finally:
        loss_module._ROOM = before
    assert torch.allclose(ours, plain, atol=1e-5)
    assert torch.allclose(each.mean(), plain, atol=1e-5)
    expected = torch.autograd.grad(plain * 3, (hidden, table))
    for found, right in zip(torch.autograd.grad(ours * 3, (hidden, table)), expected, strict=True):
        assert torch.allclose(found, right, atol=1e-5)


# --- The stream


def test_the_stream_leaves_nothing_out_and_repeats_itself() -> None:
    documents = [np.arange(start, start + 7, dtype=np.int32) for start in range(0, 70, 7)]
    stream = Stream(documents, end=99, seed=3)
    batches = stream.batches(size=2, length=6)
    read = np.concatenate([next(batches)[:, :-1].ravel() for _ in range(24)])
    rounds = [np.concatenate(list(stream.round(number))).tolist() for number in range(4)]
    assert read.tolist() == [id for ids in rounds for id in ids][: len(read)]
    assert sorted(rounds[0]) == sorted([*range(70), *[99] * 10])
    assert rounds[0] != rounds[1]
    assert stream.tokens == 80


def test_a_rewrite_gets_its_place_in_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "_PORTION", 4)
    places: list[int] = []

    def rewrite(ids: Ids, place: int, chance: np.random.Generator) -> Ids:
        places.extend(range(place, place + len(ids)))
        return np.repeat(ids, 2)

    stream = Stream([np.arange(5, dtype=np.int32)], end=5, rewrite=rewrite)
    batches = stream.batches(size=1, length=5)
    read = np.concatenate([next(batches)[0, :-1] for _ in range(6)])
    assert read.tolist() == np.repeat([*range(6), *range(6)], 2).tolist()
    assert places[:12] == list(range(12))


def test_the_last_token_of_a_window_begins_the_next() -> None:
    batch = next(Stream([np.arange(50, dtype=np.int32)], end=50).batches(size=3, length=5))
    assert batch.tolist() == [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8], [8, 9, 10, 11, 12]]


def test_skipping_is_reading() -> None:
    stream = Stream([np.arange(23, dtype=np.int32)], end=23, seed=1)
    slow, fast = stream.batches(2, 4), stream.batches(2, 4, skip=9)
    for _ in range(9):
        next(slow)
    assert next(slow).tolist() == next(fast).tolist()


def test_an_end_that_is_text_is_refused() -> None:
    with pytest.raises(ValueError, match="id 9 in the text, and documents end with it"):
        Stream([np.array([3, 9], dtype=np.int32)], end=9)
    Stream([np.array([3, 9], dtype=np.int32)], end=7)  # a token of the vocabulary


def test_ids_with_holes_are_refused() -> None:
    @dataclass
    class Holes:
        name: str = "holes"
        vocab_size: int = 7

        def encode(self, text: str) -> list[int]:
            return [3, 9]

        def decode(self, ids: list[int]) -> str:
            return ""

        def token_strings(self, text: str) -> list[str]:
            return []

    with pytest.raises(ValueError, match="id 9 in the text, where holes has 8 ids"):
        Coder(Holes()).encode("x")


def test_documents_end_with_the_tokens_own_end() -> None:
    """Newcomer 4: an exported end-of-text id must be the one that training sees."""
    recipe = supratok.Recipe(vocab_size=400, special_tokens=("</s>", "<END>"))
    tokenizer = supratok.train(TEXTS, recipe, progress=False)
    coder = Coder(Ours("ours", tokenizer))
    assert coder.end == tokenizer.special_tokens["</s>"] == 0
    assert coder.size == tokenizer.vocab_size
    assert Coder(Named("other", coder.peer), "<END>").end == 1
    assert next(iter(Stream(coder.encode_all(["a"]), coder.end).round(0)))[-1] == 0
    with pytest.raises(ValueError, match="end_token='<eos>': ours has no such special token"):
        _ = Coder(coder.peer, "<eos>").end
    added = tokenizer.with_special_tokens(["<|endoftext|>"])
    assert Coder(Ours("added", added)).end == tokenizer.vocab_size


def test_a_stream_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="every document is empty"):
        Stream([np.array([], dtype=np.int32)], end=0)


# --- Phrases and their words


def test_parts_are_the_words_of_phrases(coder: Coder) -> None:
    parts = phrase_parts(coder)
    assert len(parts.phrases) > 5
    spell = coder.peer.token_text  # type: ignore[attr-defined]
    for id in parts.phrases.tolist():
        assert "".join(map(spell, parts.of(id))) == spell(id)
        assert not any(len(spell(part).split()) > 1 for part in parts.of(id))
    assert parts.of(coder.end) == [coder.end]


@given(st.floats(0, 1), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_splitting_never_changes_the_text(coder: Coder, share: float, seed: int) -> None:
    parts = phrase_parts(coder)
    ids = coder.encode(TEXTS[seed % len(TEXTS)])
    found = Splitting(parts, share)(ids, 0, np.random.default_rng(seed))
    assert coder.peer.decode(found.tolist()) == coder.peer.decode(ids.tolist())
    if share == 0:
        assert found.tolist() == ids.tolist()
    if share == 1:
        assert len(found) == len(ids) + Splitting(parts, share).longer([ids], 1)
        assert found.tolist() == [part for id in ids.tolist() for part in parts.of(id)]


def test_splitting_fades(coder: Coder) -> None:
    """To nothing at its end, and with as many more tokens as `longer` expects."""
    parts = phrase_parts(coder)
    ids = np.tile(np.concatenate(coder.encode_all(TEXTS)), 20)
    budget, until = len(ids), round(len(ids) * 0.6)
    fading = Splitting(parts, 0.5, until)
    whole = fading(ids, 0, np.random.default_rng(0))
    expected = fading.longer([ids], budget)
    assert expected == pytest.approx(0.5 * 0.3 * (parts.counts[ids] - 1).sum(), rel=1e-9)
    assert len(whole) - len(ids) == pytest.approx(expected, rel=0.1)
    assert whole[-(budget - until) :].tolist() == ids[until:].tolist()
    assert fading(ids, until, np.random.default_rng(0)).tolist() == ids.tolist()
    early = fading(ids[:until], 0, np.random.default_rng(1))
    late = fading(ids[:until], until // 2, np.random.default_rng(1))
    assert len(ids[:until]) < len(late) < len(early)
    with pytest.raises(ValueError, match="until=0"):
        Splitting(parts, 0.5, 0)


def test_splitting_keeps_a_rest(coder: Coder) -> None:
    """It falls as before until it is the rest; before `since` there is no rest."""
    parts = phrase_parts(coder)
    places = np.arange(100)
    plain = Splitting(parts, 1.0, 40).share_at(places)
    assert Splitting(parts, 1.0, 40, 0.3).share_at(places).tolist() == [
        max(share, 0.3) for share in plain.tolist()
    ]
    late = Splitting(parts, 1.0, 40, 0.1, since=80)
    assert late.share_at(places)[:80].tolist() == plain[:80].tolist()
    assert late.share_at(places)[80:].tolist() == [0.1] * 20
    ids = np.tile(np.concatenate(coder.encode_all(TEXTS)), 20)
    some = Splitting(parts, 1.0, round(len(ids) * 0.4), 0.1, since=round(len(ids) * 0.8))
    expected = some.longer([ids], len(ids))
    assert expected == pytest.approx((0.2 + 0.02) * (parts.counts[ids] - 1).sum(), rel=1e-3)
    assert len(some(ids, 0, np.random.default_rng(0))) - len(ids) == pytest.approx(
        expected, rel=0.1
    )
    with pytest.raises(ValueError, match="rest=2"):
        Splitting(parts, 0.5, rest=2.0)


@pytest.mark.parametrize("composed", [False, True])
def test_sharing_adds_the_mean_of_the_words(coder: Coder, composed: bool) -> None:
    """Matrices start as the identity, so composing starts as sharing."""
    parts = phrase_parts(coder)
    sharing, table = Sharing(parts, 8, composed), torch.randn(coder.rows, 8)
    full = sharing.full(table)
    for id in range(coder.rows):
        mean = table[parts.of(id)].mean(dim=0) if parts.counts[id] > 1 else 0.0
        assert torch.allclose(full[id], table[id] + mean, atol=1e-6)
    started = table.clone()
    sharing.start(started, own=False)
    phrase = int(parts.phrases[0])
    assert torch.allclose(started[phrase], table[parts.of(phrase)].mean(dim=0), atol=1e-6)
    sharing.start(started, own=True)
    assert not started[phrase].any()


def test_composing_treats_the_first_word_unlike_the_last(coder: Coder) -> None:
    parts = phrase_parts(coder)
    sharing, table = Sharing(parts, 4, composed=True), torch.randn(coder.rows, 4)
    first, middle, last = (torch.randn(4, 4) for _ in range(3))
    with torch.no_grad():
        for name, matrix in {"first": first, "middle": middle, "last": last}.items():
            sharing.get_parameter(name).copy_(matrix)
        full = sharing.full(table)
    assert max(parts.counts) > 2
    for id in parts.phrases.tolist():
        words = table[parts.of(id)]
        mapped = [
            word @ (first if place == 0 else last if place == len(words) - 1 else middle)
            for place, word in enumerate(words)
        ]
        expected = table[id] + torch.stack(mapped).mean(dim=0)
        assert torch.allclose(full[id], expected, atol=1e-5)


def test_without_their_own_rows_phrases_are_their_words_alone(coder: Coder) -> None:
    parts = phrase_parts(coder)
    sharing = Sharing(parts, 4, composed=True)
    table = torch.randn(coder.rows, 4, requires_grad=True)
    phrases = torch.from_numpy(parts.phrases)
    full = sharing.full(table, own=False)
    (full * torch.randn(full.shape)).sum().backward()
    assert torch.allclose(full[phrases], sharing.full(table)[phrases] - table[phrases], atol=1e-6)
    assert table.grad is not None and not table.grad[phrases].any()
    words = torch.tensor(sorted({word for id in parts.phrases.tolist() for word in parts.of(id)}))
    assert table.grad[words].all()


# --- Training


@pytest.mark.parametrize("own_from", [0.0, 0.5, 1.0])
def test_own_rows_of_phrases_learn_late(
    coder: Coder, own_from: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are zeros until then; from the first step on without the option."""
    parts, moved, full = phrase_parts(coder), [], Sharing.full

    def watched(self: Sharing, table: torch.Tensor, own: bool = True) -> torch.Tensor:
        moved.append(bool(table[torch.from_numpy(parts.phrases)].any()))
        return full(self, table, own)

    monkeypatch.setattr(Sharing, "full", watched)
    plan = Plan(tokens=4 * 16 * 20, batch=4, rate=3e-3)
    setting = Setting(plan, **TINY, phrases="composed", own_from=own_from)
    learn(setting, coder, coder.encode_all(TEXTS), "cpu")
    still = round(20 * own_from) + 1  # the step that moves them has seen zeros
    assert len(moved) == 21  # 20 steps, and once to fold them
    assert moved == [False] * still + [True] * (21 - still)


def test_a_model_learns_and_its_bits_fall(coder: Coder) -> None:
    coded = coder.encode_all(TEXTS)
    untrained = new_decoder(Shape(coder.rows, **TINY), 0)
    before = bits_per_character(untrained, coder, TEXTS[:3], "cpu")
    setting = Setting(Plan(tokens=20_000, batch=8, rate=5e-3), **TINY)  # type: ignore[arg-type]
    trained = learn(setting, coder, coded, "cpu")
    after = bits_per_character(trained.model, coder, TEXTS[:3], "cpu")
    assert after.per_character < 0.5 * before.per_character
    assert trained.curve[-1][0] == trained.tokens <= 20_000
    assert trained.curve[-1][1] < trained.curve[0][1]


def test_bfloat16_on_a_processor_learns_nearly_the_same(coder: Coder) -> None:
    coded = coder.encode_all(TEXTS)
    plans = [Plan(tokens=20_000, batch=8, rate=5e-3, bfloat16=narrow) for narrow in (False, True)]
    wide, narrow = (learn(Setting(plan, **TINY), coder, coded, "cpu") for plan in plans)  # type: ignore[arg-type]
    assert wide.curve != narrow.curve
    assert narrow.curve[-1][1] == pytest.approx(wide.curve[-1][1], rel=0.1)
    assert all(weight.dtype == torch.float32 for weight in narrow.model.parameters())


@pytest.mark.parametrize("phrases", ["mean", "shared", "composed"])
def test_models_trained_with_aids_end_as_plain_ones(coder: Coder, phrases: str) -> None:
    """Training writes shared embeddings into the table: the model alone gives the figures."""
    plan = Plan(tokens=10_000, batch=8, rate=5e-3)
    setting = Setting(plan, **TINY, splitting=0.2, fading=0.8, phrases=phrases)  # type: ignore[arg-type]
    trained = learn(setting, coder, coder.encode_all(TEXTS), "cpu")
    found = figures(trained.model, coder, {"some": TEXTS[:2]}, "cpu")["some"]
    assert found["bits_per_character"] < 1.5
    assert abs(trained.curve[-1][1] - np.log(found["perplexity"])) < 1.0


@pytest.mark.parametrize("aided", [False, True])
def test_a_run_that_was_stopped_ends_as_it_would_have(
    coder: Coder, tmp_path: Path, aided: bool
) -> None:
    parts = phrase_parts(coder)
    assert len(parts.phrases)
    splitting = Splitting(parts, 0.5, 3_000) if aided else None
    stream = Stream(coder.encode_all(TEXTS), coder.end, 5, splitting)
    plan = Plan(tokens=4_000, batch=4, at_once=2, rate=3e-3, seed=5)

    def model(seed: int) -> Decoder:
        return new_decoder(Shape(coder.rows, **TINY), seed)

    def sharing() -> Sharing | None:
        return Sharing(parts, TINY["width"], composed=True) if aided else None

    whole = train_model(model(5), plan, stream, sharing=sharing())

    def stop(tokens: int, loss: float) -> None:
        if tokens > 2_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_model(
            model(5), plan, stream, sharing=sharing(), folder=tmp_path, every=0.0, watch=stop
        )
    again = train_model(model(6), plan, stream, sharing=sharing(), folder=tmp_path)
    for first, second in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert torch.allclose(first, second, atol=1e-6)
    assert [tokens for tokens, _ in again.curve] == [tokens for tokens, _ in whole.curve]
    other = Plan(tokens=8_000, batch=4, rate=3e-3, seed=5)
    late = Sharing(parts, TINY["width"], composed=True, late=0.5)
    for asked, beside in ((other, sharing()), (plan, Sharing(parts, TINY["width"])), (plan, late)):
        with pytest.raises(ValueError, match=f"{CHECKPOINT}: a run of another plan"):
            train_model(model(5), asked, stream, sharing=beside, folder=tmp_path)


def test_gradients_in_two_goes_are_those_in_one(coder: Coder) -> None:
    stream = Stream(coder.encode_all(TEXTS), coder.end)
    weights = []
    for at_once in (None, 2):
        plan = Plan(tokens=320, batch=4, at_once=at_once, rate=1e-3)
        trained = train_model(new_decoder(Shape(coder.rows, **TINY), 0), plan, stream)
        weights.append(torch.cat([weight.flatten() for weight in trained.model.parameters()]))
    assert torch.allclose(*weights, atol=1e-5)


def test_the_rate_rises_and_falls() -> None:
    plan = Plan(tokens=1, rate=1.0, warm_up=0.1, last_rate=0.1)
    rates = [plan.rate_at(step, 100) for step in range(100)]
    assert rates[9] == 1.0 == max(rates)
    assert rates[0] == pytest.approx(0.1)
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert rates[-1] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    "wrong", [{"tokens": 0}, {"tokens": 1, "rate": 0.0}, {"tokens": 1, "batch": 3, "at_once": 2}]
)
def test_a_plan_that_cannot_be_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must"):
        Plan(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"fading": 1.5}, {"fading": -0.1}, {"phrases": "none"}, {"rest_from": 2.0},
        {"own_from": 0.4}, {"rest": 0.1},
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        Setting(Plan(tokens=1), **wrong)


# --- Measuring


def test_without_phrases_a_coder_writes_the_same_text_in_words(coder: Coder) -> None:
    words = without_phrases(coder)
    assert (words.end, words.rows) == (coder.end, coder.rows)
    phrases = set(phrase_parts(coder).phrases.tolist())
    for whole, split in zip(coder.encode_all(TEXTS), words.encode_all(TEXTS), strict=True):
        assert phrases & set(whole.tolist()) and not phrases & set(split.tolist())
        assert words.peer.decode(split.tolist()) == coder.peer.decode(whole.tolist())
    other = Coder(Named("another", _Bytes()))
    assert without_phrases(other) is other


class _Bytes:
    """A tokenizer of another program."""

    name, vocab_size = "bytes", 256

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode()

    def token_strings(self, text: str) -> list[str]:
        return list(text)


def test_bits_of_long_texts_are_those_of_a_plain_sum(coder: Coder) -> None:
    """Each token once, with at least half a context before it. Here: one window for each token."""
    model = new_decoder(Shape(coder.rows, **TINY), 0)
    text = "".join(TEXTS[:5])
    ids = [coder.end, *coder.encode(text).tolist()]
    assert len(ids) > 3 * 16
    nats = []
    for place in range(1, len(ids)):
        last = max(0, (place - 1 - 16) // 8 + 1) * 8 if place > 16 else 0
        window = torch.tensor([ids[last:place]])
        logits = model(window)[0, -1] @ model.table.T
        nats.append(-float(torch.log_softmax(logits.detach().double(), 0)[ids[place]]))
    assert token_nats(model, coder, ["", text], "cpu")[1] == pytest.approx(nats, rel=1e-4)
    found = bits_per_character(model, coder, [text, "", TEXTS[1]], "cpu")
    assert found.nats[0] == pytest.approx(sum(nats), rel=1e-4)
    assert found.nats[1] == 0.0
    assert found.tokens == (len(ids) - 1, 0, len(coder.encode(TEXTS[1])))
    assert found.characters == (len(text), 0, len(TEXTS[1]))


def test_a_matched_plan_is_fair(coder: Coder) -> None:
    plan, wide, slim = Plan(tokens=1_000), Shape(512, **TINY), Shape(256, **TINY)
    assert matched(plan, "tokens", tokens=(100, 80), shapes=(slim, wide)).tokens == 1_000
    assert matched(plan, "text", tokens=(100, 80), shapes=(slim, wide)).tokens == 800
    less = matched(plan, "compute", tokens=(100, 80), shapes=(slim, wide)).tokens
    assert less * wide.operations == pytest.approx(1_000 * slim.operations, rel=1e-3)
    with pytest.raises(ValueError, match="protocol='time'"):
        matched(plan, "time")  # type: ignore[arg-type]
    for protocol, missing in (("text", "tokens"), ("compute", "shapes")):
        with pytest.raises(ValueError, match=f"protocol='{protocol}': pass the {missing}"):
            matched(plan, protocol)  # type: ignore[arg-type]


def test_seconds_are_measured_where_no_card_reports_its_power(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("supratok.lab.lm.energy._ASK", ["no such program"])
    with Meter() as meter:
        pass
    assert meter.spent.seconds >= 0
    assert meter.spent.kilowatt_hours is None is meter.spent.carbon


def test_power_is_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = ["sh", "-c", "for i in 1 2 3 4; do sleep 0.1; echo 360; done"]
    monkeypatch.setattr("supratok.lab.lm.energy._ASK", ask)
    with Meter() as meter:
        import time

        time.sleep(0.7)
    kilowatt_hours = meter.spent.kilowatt_hours
    assert kilowatt_hours is not None
    assert 0.3 < kilowatt_hours * 1e4 < 0.7  # about 0.4 s at 360 W


# --- Seeds


@pytest.mark.parametrize(
    ("t", "seeds", "p"),
    [(1.0, 2, 0.5), (12.7062, 2, 0.05), (4.30265, 3, 0.05), (2.22814, 11, 0.05)],
)
def test_student_has_the_values_of_the_tables(t: float, seeds: int, p: float) -> None:
    assert _beyond(t, seeds) == pytest.approx(p, rel=1e-3)


def test_the_effect_of_a_seed_on_both_cancels() -> None:
    found = paired([1.0, 2.0, 3.0], [0.5, 1.4, 2.5])
    assert found.mean == pytest.approx(1.6 / 3)
    assert found.p < 0.01
    assert paired([1.0, 2.0], [1.0, 2.0]).p == 1.0
    with pytest.raises(ValueError, match="1 and 1 seeds"):
        paired([1.0], [2.0])
