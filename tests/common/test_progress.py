"""Progress as silence, bars or events, a few times a second at most."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from supratok.common.bars import Bars
from supratok.common.progress import Events, Progress, make_progress
from supratok.common.wording import duration


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def events(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_phase_as_events(clock: Clock) -> None:
    stream = io.StringIO()
    with Events(stream) as shown:
        shown.start("words", total=200, unit="B")
        clock.now += 10
        shown.at(50)
        clock.now += 2
        shown.end(words=680_155, share=np.float64(0.5), most=np.int64(7))
    position = {"phase": "words", "total": 200, "unit": "B"}
    assert events(stream) == [
        {"event": "start", **position, "done": 0, "seconds": 0, "eta": None},
        {"event": "progress", **position, "done": 50, "seconds": 10, "eta": 30},
        {"event": "end", **position, "done": 50, "seconds": 12, "eta": 36}
        | {"words": 680_155, "share": 0.5, "most": 7},
    ]


def test_a_note_is_shown_with_the_next_position(clock: Clock) -> None:
    stream, screen = io.StringIO(), io.StringIO()
    for shown in (Events(stream), Bars(Console(file=screen, width=200))):
        shown.start("trials", total=4, unit="trials")
        shown.note("best 0.12")
        clock.now += 10
        shown.at(1)
        shown.start("others")
        shown.end()
    notes = [event.get("note") for event in events(stream)]
    assert notes == [None, "best 0.12", "best 0.12", None, None]
    assert "trials: 25% 1 trials, 10.0 s, about 30.0 s left; best 0.12\n" in screen.getvalue()


def test_events_come_five_times_a_second_and_the_last_always(clock: Clock) -> None:
    stream = io.StringIO()
    shown = Events(stream)
    shown.start("merges", total=1000)
    for done in range(1, 1001):
        clock.now += 0.001
        shown.at(done)
    shown.end()
    seen = [event["done"] for event in events(stream) if event["event"] == "progress"]
    assert (seen[0], seen[-1]) == (1, 1000)
    assert 5 <= len(seen) <= 7


def test_a_total_may_become_known_late(clock: Clock) -> None:
    stream = io.StringIO()
    shown = Events(stream)
    shown.start("runs")
    clock.now += 1
    shown.at(1)
    clock.now += 1
    shown.at(2, total=8)
    unknown, known = events(stream)[1:]
    assert (unknown["total"], unknown["eta"]) == (None, None)
    assert (known["total"], known["eta"]) == (8, 6)


def test_an_open_phase_ends_when_the_next_starts(clock: Clock) -> None:
    stream = io.StringIO()
    shown = Events(stream)
    shown.start("first")
    shown.start("second")
    shown.end()
    shown.end()  # once is enough
    assert [(event["event"], event["phase"]) for event in events(stream)] == [
        ("start", "first"),
        ("end", "first"),
        ("start", "second"),
        ("end", "second"),
    ]


def test_without_a_terminal_bars_are_plain_lines(clock: Clock) -> None:
    stream = io.StringIO()
    with Bars(Console(file=stream, width=40)) as shown:
        shown.start("words [a]", total=4e6, unit="B")
        shown.at(1e6)
        clock.now += 10
        shown.at(2e6)
        clock.now += 5
        shown.at(3e6)
        clock.now += 50
        shown.end(words=680_155, crossover=0.55, rule="fewest")
        shown.start("measuring")
        shown.end()
    assert stream.getvalue().splitlines() == [
        "words [a] ...",
        "words [a]: 50% 2.0 MB, 10.0 s, about 10.0 s left",
        "words [a]: 1:05 min; words 680,155, merges before phrases begin 0.55, rule fewest",
        "measuring ...",
        "measuring: 0.0 s",
    ]


def test_on_a_terminal_finished_phases_stay_with_their_facts() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120, color_system=None)
    with Bars(console) as shown:
        shown.start("words", total=100, unit="words")
        shown.at(30)
        shown.end(words=680_155)
        shown.start("measuring")  # of unknown length
        shown.end(tokens=3)
        shown.start("merges", total=100, unit="merges")
        shown.at(25)
    screen = stream.getvalue().rpartition("\x1b[2Kwords")[2]  # the last drawing
    words, measuring, merges = screen.splitlines()[:3]
    assert "100%" in words and "words 680,155" in words
    assert "100%" in measuring and "tokens 3" in measuring
    assert "25%" in merges and "25 merges" in merges
    assert stream.getvalue().rstrip().endswith("\x1b[?25h")  # the cursor is back


def test_closing_twice_or_before_any_phase_is_no_error() -> None:
    for shown in (Progress(), Bars(Console(file=io.StringIO())), Events(io.StringIO())):
        shown.close()
        shown.start("words")
        shown.close()
        shown.close()


def test_make_progress() -> None:
    mine = Events(io.StringIO())
    assert make_progress(mine) is mine
    assert isinstance(make_progress(True), Bars)
    assert type(make_progress(False)) is Progress


def test_times_read_like_times() -> None:
    assert [duration(seconds) for seconds in (0, 59.94, 65, 3723)] == [
        "0.0 s",
        "59.9 s",
        "1:05 min",
        "1:02:03 h",
    ]


def test_at_is_cheap() -> None:
    """The limit is loose, since machines are shared."""
    shown = Events(io.StringIO())
    shown.start("merges", total=100_000)
    before = time.perf_counter()
    for done in range(100_000):
        shown.at(done)
    assert time.perf_counter() - before < 1.0


def test_people_read_what_a_phase_means_and_programs_its_name(clock: Clock) -> None:
    screen, stream = io.StringIO(), io.StringIO()
    for shown in (Bars(Console(file=screen, width=120)), Events(stream)):
        shown.start("runs")
        shown.end(runs=3)
        shown.start("surgery")
        shown.end(displaced=2, characters_per_token=3.5)
    assert screen.getvalue().splitlines() == [
        "runs (neighbouring words) ...",
        "runs: 0.0 s; runs 3",
        "surgery (spans for tokens) ...",
        "surgery: 0.0 s; tokens given up 2, characters per token 3.5",
    ]
    ends = [event for event in events(stream) if event["event"] == "end"]
    assert [event["phase"] for event in ends] == ["runs", "surgery"]
    assert ends[1]["displaced"] == 2 and ends[1]["characters_per_token"] == 3.5


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_bar_keeps_to_the_width_of_the_terminal(width: int) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=width, color_system=None)
    with Bars(console) as shown:
        shown.start("traditional", total=100, unit="merges")
        shown.at(30)
    drawn = [line for line in stream.getvalue().replace("\x1b", "\n").splitlines() if "%" in line]
    assert drawn and all("traditional" in line and "30%" in line for line in drawn[-1:])
    assert max(map(len, drawn)) <= width + len("[2K")
