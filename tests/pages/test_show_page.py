"""The page that stands alone, and the commands `show` and `play`."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import signal
import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from commands import COMMAND, good, refused, run
from peers import TEXT, make_hugging_face, make_ours
from supratok import Tokenizer
from supratok.pages.card import cards_of, our_card
from supratok.pages.page import SHOWN, assets, show_page
from texts import HOSTILE, small_tokenizer

TOKENIZER = small_tokenizer("merges", seed=5)
CARDS = cards_of([our_card("a.json", TOKENIZER)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("show")
    make_ours(folder / "ours.json")
    make_hugging_face(folder / "plain.json")
    return folder


def ids_on(page: str) -> list[int]:
    return [int(id) for id in re.findall(r'data-i="(\d+)"', page)]


# --- The page


@pytest.mark.parametrize("text", HOSTILE)
def test_the_page_holds_the_tokens_of_the_text(text: str) -> None:
    page = show_page(CARDS, text)
    assert ids_on(page) == TOKENIZER.encode(text)
    assert f"<output>{TOKENIZER.count(text):,}</output>" in page
    assert show_page(CARDS, text) == page  # the same bytes


def test_the_page_loads_nothing_and_runs_one_script() -> None:
    page = show_page(CARDS, "in New York </script><script>alert(1)</script>")
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert found
    policy = html.unescape(found[1])
    scripts = re.findall(r"<script type=\"module\">(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1 and page.count("<script") == 2  # the other one is data
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", page)
    assert not re.search(r"^(?:import|export) ", scripts[0], re.MULTILINE)
    data = re.search(r'id="facts">(.*?)</script>', page, re.DOTALL)
    assert data and json.loads(data[1])["cards"][0]["letter"] == "A"


def test_a_long_text_is_counted_whole_shown_in_part_and_says_so() -> None:
    text = "New York as well as " * 5_000
    page = show_page(CARDS, text)
    assert f"tokens those of its first {SHOWN:,} characters" in page
    assert f"<output>{TOKENIZER.count(text):,}</output>" in page
    ids, offsets = TOKENIZER.encode_with_offsets(text)
    begun = sum(start < SHOWN for start, _ in offsets)
    assert ids_on(page) == ids[:begun]


def test_every_asset_is_in_the_package() -> None:
    assert all(content for content, _ in assets().values())


# --- show


def test_show_prints_tokens(folder: Path) -> None:
    said = good("show", folder / "ours.json", folder / "plain.json", "--text", "in New York")
    tokens = Tokenizer.load(folder / "ours.json").tokens("in New York")
    first, line, *_ = said.decode().splitlines()
    assert first.startswith(f"A ours.json: {len(tokens)} token") and line == "|".join(tokens)
    assert b"B plain.json: " in said


def test_show_reads_a_file_and_standard_input(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    from_file = good("show", folder / "ours.json", "--file", tmp_path / "a.txt")
    assert good("show", folder / "ours.json", stdin=TEXT.encode()) == from_file


def test_show_writes_a_page(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    names = [folder / "ours.json", folder / "plain.json"]
    good("show", *names, "--text", TEXT, "--html", out, "--title", "A <title>")
    page = out.read_text("utf-8")
    assert "<title>A &lt;title&gt;</title>" in page and str(folder) not in page
    assert good("show", *names, "--text", TEXT, "--html", "-", "--title", "A <title>") == (
        page.encode()
    )


def test_show_never_writes_over_what_it_reads(folder: Path, tmp_path: Path) -> None:
    ours, text = folder / "ours.json", tmp_path / "a.txt"
    text.write_text("in New York", encoding="utf-8")
    before = ours.read_bytes()
    assert "also read" in refused("show", ours, "--text", "a", "--html", ours)
    assert "also read" in refused("show", ours, "--file", text, "--html", text)
    assert ours.read_bytes() == before and text.read_text("utf-8") == "in New York"
    missing = tmp_path / "none" / "page.html"
    assert "none" in refused("show", ours, "--text", "a", "--html", missing)


def test_show_refuses_what_is_no_text(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\xff")
    said = refused("show", folder / "ours.json", "--file", tmp_path / "a.txt")
    assert "byte offset 1" in said
    assert "no.json" in refused("show", tmp_path / "no.json", "--text", "a")


# --- play


def test_play_serves_until_ctrl_c(folder: Path) -> None:
    command = [*COMMAND, "play", str(folder / "ours.json"), "--no-browser", "--price", "3"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout and running.stderr
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", running.stdout.readline())
        assert found
        page = httpx.get(found[0])
        assert page.status_code == 200 and 'value="3"' in page.text
        asked = httpx.post(f"{found[0]}api/text", json={"text": "in New York"}).json()
        ids = Tokenizer.load(folder / "ours.json").encode("in New York")
        assert [row[0] for row in asked["cards"][0]["spans"]] == ids
        assert httpx.get(re.sub(r"[^/]+/$", "", found[0])).status_code == 403
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=20) == 130
        said = running.stderr.read()
        assert said.endswith("the playground has ended\n") and "Traceback" not in said


def test_play_counts_the_use_in_files(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("in New York\n\nin New York", encoding="utf-8")
    names = [str(folder / "ours.json"), str(folder / "plain.json")]
    command = [*COMMAND, "play", *names, "--no-browser", "--corpus", str(tmp_path / "a.txt")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        found = re.search(r"http://\S+", running.stdout.readline())
        assert found
        for card in (0, 1):
            question = {"card": card, "sort": "use"}
            rows = httpx.post(f"{found[0]}api/vocabulary", json=question).json()["rows"]
            assert rows[0]["use"] >= 2
        running.terminate()


def test_play_refuses_before_it_starts(folder: Path, tmp_path: Path) -> None:
    ours = folder / "ours.json"
    assert "no.json" in refused("play", tmp_path / "no.json")
    assert "--price" in refused("play", ours, "--price", "-1")
    assert "--port 70000" in refused("play", ours, "--port", "70000")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = refused("play", ours, "--port", taken.getsockname()[1])
    assert "another program uses it" in said
    assert run("play", ours, "--port", "x").returncode == 2
