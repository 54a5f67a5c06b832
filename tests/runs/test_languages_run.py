"""The scripts of runs/ about languages and a sentence make their tables and keep their rows."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path
from string import ascii_letters

import numpy as np
import pytest

from run_scripts import SIZE, script
from supratok import Recipe, Tokenizer, train
from supratok.corpus import open_corpus
from supratok.corpus.curate import chance, digest
from supratok.formats.peer import open_any
from supratok.lab.bench import Bench, Entry
from supratok.lab.measure.counts import count
from supratok.lab.measure.figures import figures, paired, parity, parity_intervals
from supratok.lab.report.tables import Table, figure, read
from texts import multilingual, prose, write_corpus

LANGUAGES = ("en", "de", "tr")
SENTENCES = 30


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like SUPRATOK_DATA, of made-up text; each language has accents."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("train/ml", "test/flores200"):
        (folder / name).mkdir(parents=True)
    write_corpus(folder / "train/en100k.jsonl.zst", [*prose(1, 90), ascii_letters])
    for seed, code in enumerate(LANGUAGES):
        pairs = zip(prose(seed, 200), multilingual(seed, 200), strict=True)
        texts = [f"{one} Ünïcödé {other}" for one, other in pairs]
        write_corpus(folder / f"train/ml/{code}.jsonl.zst", [*texts[SENTENCES:], "Too short."])
        lines = "".join(" ".join(text.split()) + "\n" for text in texts[:SENTENCES])
        (folder / f"test/flores200/{code}.devtest").write_text(lines, encoding="utf-8")
    return folder


Call = Callable[..., tuple[Table, str]]


@pytest.fixture
def call(
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Call:
    """Runs a script; gives its table, and its messages."""
    monkeypatch.setenv("SUPRATOK_DATA", str(data))

    def run(name: str, *arguments: object) -> tuple[Table, str]:
        script(name).main(["--out", str(tmp_path / "out"), *map(str, arguments)])
        said, table = capsys.readouterr(), read(tmp_path / "out")
        assert said.out == table.markdown() == (tmp_path / "out/table.md").read_text("utf-8")
        assert all((tmp_path / "out" / name).exists() for name in table.pictures)
        return table, said.err

    return run


# --- Table 6


@pytest.mark.slow
def test_flores(call: Call, data: Path, tmp_path: Path) -> None:
    given = ("--sizes", SIZE, "--languages", *LANGUAGES, "--only", "default")
    table, said = call("flores", *given)
    assert "default 600 ...\n" in said
    labels = [line[:2] for line in table.lines]
    assert labels == [
        ["Germanic", "English"], ["Germanic", "German"], ["Germanic", "mean"],
        ["Agglutinative", "Turkish"], ["3 languages", "mean"],
        ["parity", "tokens, worst over best"], ["parity", "tokens, Gini"],
        ["parity", "tokens, coefficient of variation"],
        ["parity", "tokens, other languages over English"],
    ]  # fmt: skip
    assert table.head[2:5] == ["default", "default, gain", "BPE-Standard-NFD"]
    assert table.lines[0][5:] == ["5.43", "3.93", "+38.2%"]
    check_figures(table, data, tmp_path / "out")
    assert call("flores", *given) == (table, "")  # nothing is computed twice
    with pytest.raises(SystemExit):
        call("flores", "--languages", "xx")


def check_figures(table: Table, data: Path, out: Path) -> None:
    """Compute each figure again from the tokenizers, by the measures of the lab."""
    ours = open_any(next(out.glob(f"default-{SIZE}-*.json")))
    theirs = open_any(next((out / "baselines").glob("BPE-Standard-NFD-*/tokenizer.json")))
    tokens, gains = {}, []
    for code, line in zip(LANGUAGES, (table.lines[0], table.lines[1], table.lines[3]), strict=True):
        lines = (data / f"test/flores200/{code}.devtest").read_text("utf-8").splitlines()
        assert any(unicodedata.normalize("NFD", text) != text for text in lines)
        mine, other = count(ours, lines), count(theirs, lines)
        for cell, found in ((line[2], figures(mine)), (line[4], figures(other))):
            low, high = found["characters_per_token_interval"]
            value = sum(map(len, lines)) / found["tokens"]
            assert cell == f"{value:.3f} ±{(high - low) / 2:.3f}"
        gain = paired(mine, other)
        assert line[3] == f"{gain.value:+.1%} ±{(gain.high - gain.low) / 2:.1%}"
        tokens[code] = mine.tokens
        gains.append(gain.value)
    assert table.lines[4][3].startswith(f"{np.mean(gains):+.1%} ±")
    alike = parity({code: int(values.sum()) for code, values in tokens.items()})
    values, intervals = (alike.worst_over_best, alike.gini), parity_intervals(tokens)
    for line, value, (low, high) in zip(table.lines[5:7], values, intervals, strict=True):
        assert line[2] == f"{value:.3f} ±{(high - low) / 2:.3f}" and line[3] == "-"
    english, *others = (int(values.sum()) for values in tokens.values())
    mean = sum([english, *others]) / 3
    spread = np.sqrt(sum((one - mean) ** 2 for one in (english, *others)) / 3)
    assert table.lines[7][2].startswith(f"{spread / mean:.3f} ±")
    assert table.lines[8][2].startswith(f"{sum(others) / 2 / english:.3f} ±")


def test_the_papers_averages() -> None:
    flores = script("flores")
    assert [f"{value:.3g}" for value in flores.papers(list(flores.PAPER))] == [
        "4.39", "3.18", "0.349",
    ]  # fmt: skip
    gains = [flores.papers(list(group))[2] for group in flores.GROUPS.values()]
    assert gains == pytest.approx([0.43, 0.39, 0.34, 0.15, 0.48], abs=0.006)  # as in its text
    assert list(flores.NAMES) == list(flores.PAPER) == list(script("composition").PAPER)


@pytest.mark.slow
def test_sentences_must_be_the_same_in_all_languages(
    call: Call, data: Path, tmp_path: Path
) -> None:
    for code, lines in (("en", "One.\nTwo.\n"), ("de", "Eins.\n")):
        (tmp_path / f"{code}.devtest").write_text(lines)
    with pytest.raises(SystemExit, match="'en': 2, 'de': 1"):
        call("flores", "--test", tmp_path, "--languages", "en", "de")


def test_rows_of_one_name_on_other_texts_keep_their_counts(data: Path, tmp_path: Path) -> None:
    """A run on the first documents, then one on all: the rows of the first are unchanged."""
    paths = [data / f"train/ml/{code}.jsonl.zst" for code in LANGUAGES]
    entry = Entry("BPE-Bytes-GPT4o", 400)
    some, every = (
        Bench(corpus, tmp_path, tests={"one": ["a text of the test"] * 3})
        for corpus in (paths[:1], paths)
    )
    before = some.row(entry).counts["one"].usage
    every.row(entry)
    assert np.array_equal(some.row(entry).counts["one"].usage, before)


# --- Parity by choice


def test_parity(call: Call, data: Path, tmp_path: Path) -> None:
    given = ("--sizes", SIZE, "--languages", *LANGUAGES, "--rounds", 1)
    table, said = call("parity", *given)
    assert said.count(" ...\n") == 2
    assert [line[0] for line in table.lines[:4]] == [
        "English", "German", "Turkish", "tokens, worst over best",
    ]  # fmt: skip
    weights = check_tokens(table, data, tmp_path / "out")
    assert [line[1] for line in table.lines[:3]] == ["1.00"] * 3
    assert [line[3] for line in table.lines[:3]] == [f"{weight:.2f}" for weight in weights]
    changes = [line for line in table.lines if "change" in line[0]]
    assert len(changes) == 2 and all(line[2] == "+0.0%" for line in changes)
    by_language = [figure(line[6]) or 0.0 for line in table.lines[:3]]
    assert figure(changes[1][4]) == pytest.approx(np.mean(by_language), abs=0.11)
    assert any("first half of the sentences" in note for note in table.notes)
    assert call("parity", *given) == (table, "")


def check_tokens(table: Table, data: Path, out: Path) -> list[float]:
    """Train round 0 again: its tokens over the mean on the second half; the weights that the first
    half gives to round 1."""
    parity = script("parity")
    paths = [data / f"train/ml/{code}.jsonl.zst" for code in LANGUAGES]
    plain = train(paths, Recipe(vocab_size=SIZE, phrase_price=1.5), progress=False)
    halves = []
    for code in LANGUAGES:
        lines = (data / f"test/flores200/{code}.devtest").read_text("utf-8").splitlines()
        halves.append([plain.count(text) for text in lines])
    first, second = (
        [sum(tokens[part]) for tokens in halves]
        for part in (slice(SENTENCES // 2), slice(SENTENCES // 2, None))
    )
    for line, tokens, path in zip(table.lines, second, paths, strict=False):
        assert line[2].startswith(f"{tokens / np.mean(second):.3f} ±")
        documents = script("rows").held_out(path)
        assert line[5] == f"{sum(map(len, documents)) / sum(map(plain.count, documents)):.3f}"
    assert table.lines[3][2].startswith(f"{max(second) / min(second):.3f} ±")
    assert first != second
    given = dict(zip(LANGUAGES, first, strict=True))
    return list(parity.next_weights(dict.fromkeys(LANGUAGES, 1.0), given, 6.0).values())


def test_weights_of_languages(data: Path, tmp_path: Path) -> None:
    parity = script("parity")
    weights = parity.next_weights({"en": 1.0, "tr": 1.0}, {"en": 90, "tr": 110}, 1.0)
    assert weights == {"en": 0.9, "tr": 1.1}
    # The next round starts from these; equal tokens change nothing.
    assert parity.next_weights(weights, {"en": 100, "tr": 100}, 6.0) == weights
    assert parity.next_weights(weights, {"en": 1, "tr": 100}, 6.0)["en"] == parity.LEAST
    path = data / "train/ml/tr.jsonl.zst"
    with open_corpus(path) as corpus:
        texts = list(corpus)
    assert parity.weighted(path, 3.0, tmp_path) == [path] * 3
    *copies, rest = parity.weighted(path, 2.3, tmp_path)
    assert copies == [path] * 2
    with open_corpus(rest) as corpus:
        part = list(corpus)
    assert part == [text for text in texts if chance(digest(text)) < 0.3 * 2**64]
    assert 0.15 < len(part) / len(texts) < 0.45


# --- Table E1


def test_composition(call: Call, data: Path) -> None:
    given = ("--languages", *LANGUAGES)
    table, said = call("composition", *given)
    assert said.count(" ...\n") == 3
    assert [line[0] for line in table.lines] == ["English", "German", "Turkish", "in all"]
    assert table.lines[0][6:] == ["8,000", "276,019", "5,680,850", "20.6"]
    for line in table.lines[:3]:
        assert line[1:3] == ["170", "1"]
    for column in (*range(1, 5), *range(6, 9)):
        parts = [figure(line[column]) for line in table.lines]
        assert None not in parts and parts[3] == sum(part or 0 for part in parts[:3])
    assert call("composition", *given) == (table, "")
    part, said = call("composition", *given, "--documents", 20)
    assert said and part.lines[0][1:3] == ["20", "0"]


def test_the_papers_composition_adds_up() -> None:
    composition = script("composition")
    nothing = dict.fromkeys(("documents", "left_out", "sentences", "words"), 0)
    total = composition.lines_of(dict.fromkeys(composition.PAPER, nothing))[-1]
    assert total[6:9] == ["112,000", "3,564,531", "61,412,348"]


# --- The figure


def test_sentence(call: Call, tmp_path: Path) -> None:
    sentence = script("sentence")
    given = ("--sizes", 400, "--cache", tmp_path / "cache", "--only", "BPE-Standard", "default")
    table, said = call("sentence", *given)
    assert said.count(" ...\n") == 2
    names = [line[1] for line in table.lines]
    assert names == ["BPE-Standard", "default", "the paper's BPE", "the paper's SupraTok"]
    assert [line[3] for line in table.lines] == ["14", "9", "14", "9"]
    assert [line[5] for line in table.lines] == ["no", "yes", "-", "-"] and table.aside == [0]
    default = table.lines[1]
    assert default[6].count("[") == int(default[2])
    assert default[6][1:-1].replace("] [", "").replace("␣", " ") == sentence.SENTENCE
    assert "[in]" in table.lines[2][6] and "[New␣York]" in table.lines[3][6]
    assert call("sentence", *given) == (table, "")


@pytest.mark.slow
def test_sentence_of_a_finished_file(
    call: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call("sentence", "--sizes", 400, "--only", "default")
    file = tmp_path / "mine.json"
    Tokenizer.load(tmp_path / "out/default-400.json").save(file)
    table, _ = call("sentence", "--sizes", 400, "--only", "default", file)
    ours, mine = table.lines[:2]
    assert mine[1] == "mine.json" and mine[6] == ours[6]
    with pytest.raises(SystemExit):
        script("sentence").main(["--out", str(tmp_path), "--only", "nothing.json"])
    assert "neither a file nor a known tokenizer" in capsys.readouterr().err
