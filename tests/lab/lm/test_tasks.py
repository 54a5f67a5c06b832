"""Measures on models: likelihood of endings, questions, accuracy, samples."""

from __future__ import annotations

import csv
import io
import json
import math
import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

import supratok
from bases import byte_level
from supratok.formats.peer import open_any
from supratok.lab.lm import generation
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.generation import (
    common_words,
    distinct,
    distinct_together,
    first_words,
    sample,
)
from supratok.lab.lm.likelihood import Score, boundary_share, continuations, cut_questions, endings
from supratok.lab.lm.model import Decoder, Shape, new_decoder
from supratok.lab.lm.tasks import (
    Item,
    accuracy,
    chosen,
    compared,
    hellaswag,
    is_right,
    mmlu,
    questions,
)
from texts import PIECES, any_text

TEXTS = [
    f"The cat sat on the mat in New York as well as in New Jersey, {number} times. " * 4
    for number in range(60)
]


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module", params=["merges", "fewest", "huggingface"])
def coder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Coder:
    """Over vocabularies with phrases, and over one of words that is written in bytes."""
    path = tmp_path_factory.mktemp("lm") / "tokenizer.json"
    if request.param == "huggingface":
        path.write_text(byte_level().to_str(), encoding="utf-8")
    else:
        recipe = supratok.Recipe(vocab_size=500, screen=None, segmentation=request.param)
        supratok.train(TEXTS, recipe).save(path)
    return Coder(open_any(path))


@pytest.fixture(scope="module")
def phrases(tmp_path_factory: pytest.TempPathFactory) -> Coder:
    path = tmp_path_factory.mktemp("lm") / "supratok.json"
    supratok.train(TEXTS, supratok.Recipe(vocab_size=500, screen=None)).save(path)
    return Coder(open_any(path))


def model_of(coder: Coder, context: int = 64) -> Decoder:
    """Random weights, large enough that it treats no two tokens alike."""
    model = new_decoder(Shape(coder.rows, layers=2, width=32, context=context), seed=1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4.0)
    return model


def likelihoods(model: Decoder, coder: Coder, text: str) -> list[float]:
    """The slow twin: token by token, each from all logits."""
    ids = coder.encode(text).tolist()
    found = []
    for place, id in enumerate(ids):
        seen = torch.tensor([[coder.end, *ids[:place]][-model.shape.context :]])
        with torch.no_grad():
            logits = model(seen)[0, -1] @ model.table.T
        found.append(float(logits.log_softmax(dim=0)[id]))
    return found


# --- Likelihood


def test_a_token_over_the_boundary_is_scored_as_a_whole(phrases: Coder) -> None:
    context, ending = "The cat sat on", " the mat"
    spanning = phrases.peer.token_strings(context + ending)
    assert any(context.endswith(" on") and " on the" in token for token in spanning), spanning
    score = continuations(model_of(phrases), phrases, [(context, ending)], "cpu")[0]
    assert score.inside
    wanted = likelihoods(model_of(phrases), phrases, context + ending)
    before, reach = 0, 0
    for token in spanning:  # those that end in the context
        reach += len(token)
        before += reach <= len(context)
    assert score.tokens == len(wanted) - before
    assert score.nats == pytest.approx(sum(wanted[before:]), abs=1e-4)
    assert (score.characters, score.bytes, score.cut) == (7, 7, 0)


def test_endings_of_a_context_are_scored_from_the_same_place(phrases: Coder) -> None:
    """Scores differ as the joined texts do, with any tokens over the boundary."""
    question = ("The cat sat on", [" the mat", " New York", "t", ""])
    model = model_of(phrases)
    found = endings(model, phrases, [question], "cpu")[0]
    assert {score.inside for score in found} == {True, False}
    whole = [sum(likelihoods(model, phrases, question[0] + ending)) for ending in question[1]]
    for score, wanted in zip(found, whole, strict=True):
        assert score.nats - found[0].nats == pytest.approx(wanted - whole[0], abs=1e-3)


@settings(max_examples=25)
@given(
    context=st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
    given_endings=st.lists(st.one_of(st.sampled_from(PIECES), any_text), min_size=1, max_size=4),
)
@example(context="New York", given_endings=["\u0301" * 210])  # two tokens each, of bytes
def test_scores_are_those_of_the_joined_texts(
    coder: Coder, context: str, given_endings: list[str]
) -> None:
    model = model_of(coder, context=2_000)  # more than is ever drawn: nothing is cut off
    wanted_endings = [" " + ending for ending in given_endings]
    found = endings(model, coder, [(context, wanted_endings)], "cpu")[0]
    cuts = cut_questions(coder, [(context, wanted_endings)])[0]
    for ending, score, cut in zip(wanted_endings, found, cuts, strict=True):
        single = likelihoods(model, coder, context + ending)
        assert score.nats == pytest.approx(sum(single[cut.start :]), abs=2e-3)
        assert coder.encode(context + ending).tolist() == cut.ids.tolist()
        assert len(coder.peer.decode(cut.ids[: cut.start].tolist())) <= len(context)
    assert len({tuple(cut.ids[: cut.start].tolist()) for cut in cuts}) == 1


@settings(max_examples=50)
@given(context=any_text, ending=any_text)
def test_the_first_token_scored_is_the_first_that_reaches_into_the_ending(
    phrases: Coder, context: str, ending: str
) -> None:
    """Checked by offsets, which only our tokenizers give."""
    tokenizer = phrases.peer.tokenizer  # type: ignore[attr-defined]
    cut = cut_questions(phrases, [(context, [ending])])[0][0]
    _, offsets = tokenizer.encode_with_offsets(context + ending)
    reaching = [place for place, (_, end) in enumerate(offsets) if end > len(context)]
    assert cut.start == min(reaching, default=len(offsets))
    assert cut.inside == any(start < len(context) < end for start, end in offsets)


def test_without_a_token_over_the_boundary_it_is_the_usual_rule(phrases: Coder) -> None:
    context, ending = "The cat sat.", "?!"
    model = model_of(phrases)
    score = continuations(model, phrases, [(context, ending)], "cpu")[0]
    known = phrases.encode(context)
    assert not score.inside and score.tokens == len(phrases.encode(ending))
    wanted = likelihoods(model, phrases, context + ending)[len(known) :]
    assert score.nats == pytest.approx(sum(wanted), abs=1e-4)


def test_long_contexts_lose_their_beginning_and_long_endings_are_refused(phrases: Coder) -> None:
    model = model_of(phrases, context=8)
    context, ending = "?".join("abcdefghijklmn"), "?!"
    score = continuations(model, phrases, [(context, ending)], "cpu")[0]
    assert score.cut == len(phrases.encode(context + ending)) - 8 > 0
    ids = phrases.encode(context + ending).tolist()[-9:]
    with torch.no_grad():
        logits = (model(torch.tensor([ids[:-1]]))[0] @ model.table.T).log_softmax(dim=1)
    wanted = sum(float(logits[place - 1, ids[place]]) for place in (7, 8))
    assert score.nats == pytest.approx(wanted, abs=1e-4)
    with pytest.raises(ValueError, match="the model has 8 positions"):
        continuations(model, phrases, [("", "?!" * 20)], "cpu")


def test_batches_do_not_matter(phrases: Coder, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(phrases)
    pairs = [(TEXTS[0][:length], TEXTS[0][length : length + 9]) for length in range(0, 90, 7)]
    together = continuations(model, phrases, pairs, "cpu")
    apart = [continuations(model, phrases, [pair], "cpu")[0] for pair in pairs]
    monkeypatch.setattr("supratok.lab.lm.likelihood._AT_ONCE", {False: 30})
    for found in (apart, continuations(model, phrases, pairs, "cpu")):
        assert [score.tokens for score in found] == [score.tokens for score in together]
        assert np.allclose([s.nats for s in found], [s.nats for s in together], atol=1e-4)
    assert 0 < boundary_share(phrases, pairs) < 1
    assert boundary_share(phrases, pairs) == sum(s.inside for s in together) / len(pairs)


def test_nothing_is_compiled_for_it(phrases: Coder) -> None:
    """Training compiles blocks for one shape; here each batch has another."""

    def refuse(*_: object) -> None:
        raise AssertionError("compiled")

    plain, model = model_of(phrases), model_of(phrases)
    for block in model.blocks:
        block.compile(backend=refuse)
    pair = ("The cat", " sat")
    assert continuations(model, phrases, [pair], "cpu") == continuations(
        plain, phrases, [pair], "cpu"
    )
    assert sample(model, phrases, ["The"], 3) == sample(plain, phrases, ["The"], 3)


# --- HellaSwag and MMLU


def test_hellaswag_is_written_as_the_harness_does(tmp_path: Path) -> None:
    rows = [
        {"activity_label": "Tea", "ctx": 'She said "no." He left. the man in Rome',
         "endings": ["sits.", "[step] runs [title] far."], "label": 1},
        {"activity_label": "How", "ctx": "Cook [title] Now  eat. It is done.",
         "endings": ["a\u2028b", "c"], "label": "0"},
    ]  # fmt: skip
    path = tmp_path / "items.jsonl.zst"
    path.write_bytes(zstandard.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    assert hellaswag(path) == [
        Item('Tea: She said "no." He left. The man in rome', (" sits.", "  runs. far."), 1),
        Item("How: Cook. Now eat. It is done.", (" a\u2028b", " c"), 0),
    ]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two subjects, in the form of the published archive."""
    path = tmp_path_factory.mktemp("mmlu") / "mmlu.tar.zst"
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as file:
        for split, count in (("dev", 5), ("test", 3)):
            for subject in ("folk_lore", "art"):
                text = io.StringIO(newline="")
                rows = csv.writer(text, lineterminator="\n")
                for number in range(count):
                    question = f" Which, of {number}\nin {subject}?" + " cat" * 9 * number
                    rows.writerow(
                        [question, "one", 'a "two"', "3, or so", "four", "ABCD"[number % 4]]
                    )
                content = text.getvalue().encode()
                member = tarfile.TarInfo(f"data/{split}/{subject}_{split}.csv")
                member.size = len(content)
                file.addfile(member, io.BytesIO(content))
    path.write_bytes(zstandard.compress(whole.getvalue()))
    return path


def test_mmlu_is_written_as_the_harness_does(archive: Path, phrases: Coder) -> None:
    letters = mmlu(archive, phrases, room=10_000, shots=1)
    assert len(letters) == 6 and letters[4].label == 1
    listed = 'A. one\nB. a "two"\nC. 3, or so\nD. four\nAnswer:'
    assert letters[3].context == (
        "The following are multiple choice questions (with answers) about folk lore.\n\n"
        f"Which, of 0\nin folk_lore?\n{listed} A\n\nWhich, of 0\nin folk_lore?\n{listed}"
    )
    assert letters[3].endings == (" A", " B", " C", " D")
    texts = mmlu(archive, phrases, room=10_000, shots=1, full_text=True)
    assert texts[0].context == (
        "The following are questions (with answers) about art.\n\n"
        "Question: Which, of 0\nin art?\nAnswer: one\n\nQuestion: Which, of 0\nin art?\nAnswer:"
    )
    assert texts[0].endings == (" one", ' a "two"', " 3, or so", " four")


def test_examples_are_left_out_until_all_fits(archive: Path, phrases: Coder) -> None:
    def length(item: Item) -> int:
        return max(len(phrases.encode(item.context + ending)) for ending in item.endings)

    all_of_them = mmlu(archive, phrases, room=10_000)
    room = sorted(map(length, all_of_them))[2] - 1
    found = mmlu(archive, phrases, room)
    assert {item.left_out for item in found} > {0} and max(map(length, found)) <= room
    for whole, item in zip(all_of_them, found, strict=True):
        assert (item.left_out == 0) == (length(whole) <= room)
        assert item.context.count("Answer:") == 6 - item.left_out
        assert item.context.endswith(whole.context.split("\n\n")[-1])
    assert {item.left_out for item in mmlu(archive, phrases, room=1)} == {5}


def test_mmlu_says_what_is_wrong(archive: Path, phrases: Coder, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shots=6: each subject has 5"):
        mmlu(archive, phrases, 100, shots=6)
    with pytest.raises(ValueError, match="split='train': not in"):
        mmlu(archive, phrases, 100, split="train")
    with tarfile.open(tmp_path / "empty.tar", "w"):
        pass
    with pytest.raises(ValueError, match=r"no files such as dev/anatomy_dev\.csv"):
        mmlu(tmp_path / "empty.tar", phrases, 100)


# --- Accuracy


def score(nats: float, characters: int) -> Score:
    return Score(nats, 1, characters, 2 * characters if characters > 5 else characters, False, 0)


def test_the_likeliest_ending_is_chosen() -> None:
    scores = [score(-6.0, 2), score(-7.0, 7), score(-6.0, 2)]
    assert [chosen(scores, by) for by in ("whole", "characters", "bytes")] == [0, 1, 1]
    items = [Item("", ("", "", ""), 1)] * 2
    assert is_right(items, [scores, scores], "characters").tolist() == [True, True]
    assert is_right(items, [scores, scores]).tolist() == [False, False]


def test_a_model_finds_the_ending_it_learnt(phrases: Coder) -> None:
    """From text to answer, with a model trained on one text."""
    model = new_decoder(Shape(phrases.rows, layers=1, width=32, context=32), seed=0)
    text = "The cat sat on the mat in New York"
    ids = torch.tensor([[phrases.end, *phrases.encode(text).tolist()]])
    learning = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(40):
        logits = model(ids[:, :-1]) @ model.table.T
        loss = torch.nn.functional.cross_entropy(logits[0], ids[0, 1:])
        learning.zero_grad()
        loss.backward()
        learning.step()
    items = [Item("The cat sat on", (" the dog", " the mat in New Jersey", text[14:]), 2)]
    found = endings(model, phrases, questions(items), "cpu")
    assert is_right(items, found).all() and is_right(items, found, "characters").all()


@given(items=st.integers(1, 3000), share=st.floats(0, 1))
def test_wilson_intervals(items: int, share: float) -> None:
    """At their ends the found share is exactly 1.96 deviations away."""
    right = np.arange(items) < round(share * items)
    found = accuracy(right)
    low, high = found.interval
    assert 0 <= low <= found.share <= high <= 1
    for end in (low, high):
        if 1e-9 < end < 1 - 1e-9:
            distance = abs(found.share - end) / math.sqrt(end * (1 - end) / items)
            assert distance == pytest.approx(1.959964, rel=1e-4)
    assert found.at_chance == (low <= 0.25 <= high)


def test_chance_is_called_chance() -> None:
    assert accuracy(np.arange(1000) < 260).at_chance
    assert not accuracy(np.arange(1000) < 290).at_chance
    assert accuracy(np.arange(1000) < 500, chance=0.5).at_chance
    with pytest.raises(ValueError, match="no items"):
        accuracy(np.array([], dtype=np.bool_))


def test_two_models_on_the_same_items() -> None:
    first = np.array([True] * 60 + [False] * 40)
    second = np.array([True] * 50 + [False] * 48 + [True] * 2)
    found = compared(first, second)
    assert (found.first_only, found.second_only) == (10, 2)
    assert found.difference == pytest.approx(0.08)
    assert found.p == pytest.approx(2 * (1 + 12 + 66) / 2**12)  # by hand
    assert found.interval.low < 0.08 < found.interval.high
    assert compared(first, first).p == 1.0
    swapped = compared(second, first)
    assert swapped.difference == -found.difference and swapped.p == found.p
    with pytest.raises(ValueError, match="100 and 99 items"):
        compared(first, second[1:])


# --- Samples


def test_samples_are_the_same_in_any_batch_and_of_the_length_asked_for(
    coder: Coder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawing only the likeliest token gives the sample of the slow twin."""
    model, prompts = model_of(coder), ["", "The cat", "in New York as well as", "日本"]
    monkeypatch.setattr(generation, "_AT_ONCE", 3)
    found = sample(model, coder, prompts, 12, top_k=1)
    for prompt, text in zip(prompts, found, strict=True):
        ids = [coder.end, *coder.encode(prompt).tolist()]
        known = len(ids)
        for _ in range(12):
            with torch.no_grad():
                logits = model(torch.tensor([ids]))[0, -1] @ model.table.T
            ids.append(int(logits[: coder.end].argmax()))
        whole = coder.peer.decode(ids[1:])
        assert whole[len(coder.peer.decode(ids[1:known])) :] == text


def test_samples_follow_the_probabilities(phrases: Coder) -> None:
    model = model_of(phrases)
    with torch.no_grad():
        logits = model(torch.tensor([[phrases.end]]))[0, -1] @ model.table.T
    temperature = 2.0
    wanted = (logits[: phrases.end] / temperature).softmax(dim=0).numpy()
    found = sample(model, phrases, [""] * 4000, 1, temperature=temperature)
    assert found == sample(model, phrases, [""] * 4000, 1, temperature=temperature)
    assert found != sample(model, phrases, [""] * 4000, 1, temperature=temperature, seed=1)
    tokenizer = phrases.peer.tokenizer  # type: ignore[attr-defined]
    for id in np.argsort(-wanted)[:5]:
        text = tokenizer.decode([int(id)])
        same = [i for i in range(phrases.end) if tokenizer.decode([i]) == text]
        share = sum(one == text for one in found) / 4000
        assert share == pytest.approx(float(wanted[same].sum()), abs=0.03)


def test_samples_fill_the_context_and_no_more(phrases: Coder) -> None:
    model = model_of(phrases, context=16)
    assert len(sample(model, phrases, ["?!" * 40, "a"], 16)) == 2
    for wrong in ({"tokens": 17}, {"tokens": 0}, {"temperature": 0.0}, {"top_k": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}="):
            sample(model, phrases, ["a"], **{"tokens": 9, **wrong})  # type: ignore[arg-type]


def test_distinct_runs_of_words() -> None:
    texts = ["a b a b", "c  d\ne", ""]
    assert distinct(texts, 1) == pytest.approx((2 / 4 + 1) / 2)
    assert distinct(texts, 2) == pytest.approx((2 / 3 + 1) / 2)
    assert distinct_together(["a b a b", "a b"], 2) == pytest.approx(2 / 4)
    assert distinct([""], 3) == distinct_together([], 3) == 0.0


def test_longer_texts_repeat_more_so_all_are_cut_alike() -> None:
    chance = np.random.default_rng(0)
    long = [" ".join(map(str, chance.integers(90, size=150))) for _ in range(50)]
    short = [" ".join(map(str, chance.integers(90, size=100))) for _ in range(49)] + ["1"]
    assert distinct(short, 1) > distinct(long, 1) + 0.05
    words = common_words([long, short])
    assert words == 100
    cut = first_words(long, words), first_words(short, words)
    assert (len(cut[0]), len(cut[1])) == (50, 49)
    assert distinct(cut[0], 1) == pytest.approx(distinct(cut[1], 1), abs=0.03)
