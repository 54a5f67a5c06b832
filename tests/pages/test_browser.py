"""The pages in a real browser: typing, comparing, keyboard, dark mode, narrow screens, axe."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import faults
from peers import make_hugging_face, make_ours
from supratok import Tokenizer
from supratok.formats.peer import open_any

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect

TEXT = "one of the most in New York as well as in order to"
NewPage = Callable[..., Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tokenizers")
    make_ours(folder / "ours.json")
    make_hugging_face(folder / "plain.json")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """A running playground of ours and of another program's tokenizer."""
    names = [str(folder / name) for name in ("ours.json", "plain.json")]
    command = [sys.executable, "-m", "supratok", "play", *names, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        found = re.search(r"http://\S+", running.stdout.readline())
        assert found
        yield found[0]
        running.terminate()
        assert running.wait(timeout=20) == 143


@pytest.fixture
def new_page(chromium: Any, address: str) -> Iterator[NewPage]:
    """Pages whose every request goes to the playground, and that complain about nothing."""
    contexts, asked, said = [], list[str](), list[str]()

    def made(where: str | None = None, **options: Any) -> Any:
        context = chromium.new_context(**({"viewport": {"width": 1280, "height": 800}} | options))
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
        page.goto(where or address)
        return page

    yield made
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith((address, "data:", "file:"))] == []
    assert said == []


def typed(page: Any, text: str) -> Any:
    """The page, when the counts of this text are on it."""
    page.get_by_label("Type or paste a text").fill(text)
    expect(page.locator("#status")).to_contain_text(f"{len(text):,} characters", timeout=20_000)
    return page


def counts(page: Any) -> list[str]:
    found = page.locator(".count output").all_text_contents()
    assert isinstance(found, list)
    return found


# --- Typing and comparing


def test_typing_shows_tokens_counts_and_costs(new_page: NewPage, folder: Path) -> None:
    page = new_page()
    page.get_by_label("Type or paste a text").fill("")
    page.get_by_label("Type or paste a text").press_sequentially(TEXT)
    ours, plain = (open_any(folder / name) for name in ("ours.json", "plain.json"))
    ids = [ours.encode(TEXT), plain.encode(TEXT)]
    expect(page.locator(".count output").first).to_have_text(str(len(ids[0])))
    expect(page.locator(".count output").last).to_have_text(str(len(ids[1])))
    chips = page.locator(".card").first.locator(".tokens .k")
    expect(chips).to_have_count(len(ids[0]))
    shown = [int(chip.get_attribute("data-i")) for chip in chips.all()]
    assert shown == ids[0]
    expect(page.locator(".versus").first).to_contain_text("% fewer than B")
    expect(page.locator(".versus").last).to_have_text("the most tokens")
    page.get_by_label("Price per million tokens").fill("1000000")
    expect(page.locator(".cost output").first).to_have_text(str(len(ids[0])))
    assert "".join(page.locator(".card").first.locator(".t").all_text_contents()) == TEXT


def test_letters_stand_beside_colours(new_page: NewPage, folder: Path) -> None:
    page = typed(new_page(), TEXT)
    tokenizer = Tokenizer.load(folder / "ours.json")
    letters = page.locator(".card").first.locator(".k sub").all_text_contents()
    assert letters == [piece.born[0] for piece in tokenizer.explain(TEXT)]
    assert "m" in letters
    assert set(page.locator(".card").last.locator(".k sub").all_text_contents()) <= {"w", "p", "b"}
    expect(page.locator(".legend li[data-born=multiword]")).to_be_visible()


def test_blanks_and_ids_on_demand(new_page: NewPage) -> None:
    page = typed(new_page(), TEXT)
    expect(page.locator(".tokens .id").first).to_be_hidden()
    page.get_by_label("Show ids").check()
    expect(page.locator(".tokens .id").first).to_be_visible()
    sign = "getComputedStyle(document.querySelector('.tokens .space'), '::before').content"
    assert page.evaluate(sign) == "none"
    page.get_by_label("Show blanks").check()
    assert page.evaluate(sign) == '"·"'


def test_odd_texts_come_through(new_page: NewPage) -> None:
    page = new_page()
    for text in ("😀 naïve 日本\n\n\tend\n", "<img src=x onerror=alert(1)>", "\u202eabc", ""):
        page.get_by_label("Type or paste a text").fill(text)
        expected = f"{len(text)} characters, {len(text.encode())} bytes"
        expect(page.locator("#status")).to_contain_text(expected)
    assert page.locator(".tokens img").count() == 0
    expect(page.locator("#problem")).to_be_hidden()


# --- Links between text and tokens


def test_a_token_is_linked_to_the_text_and_to_the_other_tokenizer(new_page: NewPage) -> None:
    page = typed(new_page(), f"😀 {TEXT}")
    chip = page.locator(".card").first.locator(".k", has_text="New York").first
    chip.hover()
    linked = page.locator(".card").last.locator(".k.linked .t").all_text_contents()
    assert chip.locator(".t").text_content() in "".join(linked)
    expect(page.locator(".mirror mark")).to_have_text(chip.locator(".t").text_content())
    expect(page.locator("#detail")).to_contain_text(f"{chip.get_attribute('data-i')}")
    expect(page.locator("#detail .tree li").first).to_be_visible()
    page.locator("h1").hover()
    expect(page.locator("#detail .hint")).to_be_visible()
    chip.click()
    page.get_by_role("button", name="Select in the text").click()
    selected = "(() => { const s = document.querySelector('#source');"
    selected += " return s.value.slice(s.selectionStart, s.selectionEnd); })()"
    assert page.evaluate(selected) == chip.locator(".t").text_content()


def test_the_caret_marks_its_token(new_page: NewPage) -> None:
    page = typed(new_page(), TEXT)
    page.get_by_label("Type or paste a text").press("Control+Home")
    page.get_by_label("Type or paste a text").press("ArrowRight")
    expect(page.locator(".card").first.locator(".k").first).to_have_class(re.compile("caret"))


def test_tokens_by_keyboard(new_page: NewPage) -> None:
    page = typed(new_page(), TEXT)
    page.locator("#price").focus()
    page.keyboard.press("Tab")
    first = page.locator(".card").first.locator(".k").first
    expect(first).to_be_focused()
    page.keyboard.press("ArrowRight")
    second = page.locator(".card").first.locator(".k").nth(1)
    expect(second).to_be_focused()
    expect(page.locator("#detail")).to_contain_text(f"{second.get_attribute('data-i')}")
    page.keyboard.press("Enter")
    expect(second).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(page.locator(".card").first.locator(".k").last).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".pinned")).to_have_count(0)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    below = page.locator(".k:focus")
    assert below.bounding_box()["y"] > first.bounding_box()["y"]
    page.keyboard.press("ArrowUp")
    expect(first).to_be_focused()


# --- Where to cut, the vocabulary, the training


def test_where_a_prompt_could_be_cut(new_page: NewPage, folder: Path) -> None:
    page = typed(new_page(), "one of the most in New")
    tokenizer = Tokenizer.load(folder / "ours.json")
    covers = tokenizer.covers("one of the most in New")
    expect(page.locator(".cut").first.locator("li")).to_have_count(len(covers))
    stable = len(tokenizer.stable("one of the most in New").ids)
    expect(page.locator(".cut").first).to_contain_text(f"{stable} token")
    expect(page.locator(".cut").last).to_contain_text("supratok import")


def test_searching_the_vocabulary(new_page: NewPage, folder: Path) -> None:
    page = new_page()
    page.get_by_role("tab", name="Vocabulary").click()
    size = Tokenizer.load(folder / "ours.json").vocab_size
    expect(page.locator("#found")).to_contain_text(f"{size} tokens;")
    page.get_by_label("Search").fill("york")
    page.get_by_label("Phrases only").check()
    expect(page.locator("#found")).to_contain_text(f"of {size} tokens")
    rows = page.locator("#rows tr")
    assert rows.count() > 0
    assert all("York" in row.text_content() for row in rows.all())
    page.get_by_label("Search").fill("")
    page.get_by_label("Phrases only").uncheck()
    page.get_by_label("Sort").select_option("longest")
    expect(page.locator("#page")).to_contain_text("page 1 of")
    sizes = page.locator("#rows td:nth-child(4)")
    expect(sizes.first).not_to_have_text("1")
    lengths = [int(cell) for cell in sizes.all_text_contents()]
    assert lengths == sorted(lengths, reverse=True)
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#page")).to_contain_text("page 2 of")
    page.get_by_label("Tokenizer").select_option("1")
    plain = open_any(folder / "plain.json").vocab_size
    expect(page.locator("#found")).to_contain_text(f"{plain:,} tokens;")


def test_views_by_keyboard_and_after_a_reload(new_page: NewPage) -> None:
    page = new_page()
    page.get_by_role("tab", name="Text").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#view-vocabulary")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#view-training")).to_be_visible()
    expect(page.get_by_role("tab", name="Training")).to_be_focused()
    page.reload()
    expect(page.locator("#view-training")).to_be_visible()
    expect(page.locator("#view-training")).to_contain_text("Pass by pass")
    expect(page.locator("#view-training")).to_contain_text("another program wrote it")
    expect(page.locator("#view-text")).to_be_hidden()


def test_a_reload_keeps_the_text(new_page: NewPage) -> None:
    page = typed(new_page(), "kept in New York")
    page.reload()
    expect(page.locator("#status")).to_contain_text("16 characters")
    assert page.get_by_label("Type or paste a text").input_value() == "kept in New York"


# --- A megabyte

LONGEST = """() => { window.longest = 0; let last = performance.now();
  const tick = () => { const now = performance.now(); longest = Math.max(longest, now - last);
    last = now; setTimeout(tick, 10); }; tick(); }"""


PASTE = """(text) => { const data = new DataTransfer(); data.setData("text/plain", text);
  const field = document.querySelector("textarea"); field.focus();
  const event = new ClipboardEvent("paste", {clipboardData: data, cancelable: true});
  if (field.dispatchEvent(event)) field.setRangeText(text); }"""


def field_alone(new_page: NewPage, text: str) -> float:
    """The longest pause, in milliseconds, of a page with nothing but the field."""
    page = new_page("data:text/html,<textarea style='width:400px;height:300px'></textarea>")
    page.evaluate(LONGEST)
    page.evaluate(PASTE, text)
    page.wait_for_function("() => new Promise((done) => setTimeout(() => done(true), 100))")
    return float(page.evaluate("longest"))


def test_a_megabyte_does_not_freeze_the_page(new_page: NewPage, folder: Path) -> None:
    page = typed(new_page(), "")
    text = (TEXT + ". It is not the state of the world\n") * 11_800
    assert len(text) > 1_000_000
    own = field_alone(new_page, text)  # what the browser itself takes for the field
    page.evaluate(LONGEST)
    page.evaluate(PASTE, text)
    status = page.locator("#status")
    expect(status).to_contain_text(f"{len(text):,} characters", timeout=20_000)
    ours = Tokenizer.load(folder / "ours.json")
    assert counts(page)[0] == f"{ours.count(text):,}"
    assert page.evaluate("longest") - own < 1000
    assert page.locator(".tokens .k").count() < 10_000
    expect(page.locator("#pager")).to_be_visible()
    expect(page.locator("#pager p")).to_contain_text(f"to {len(text):,} of", timeout=20_000)
    page.locator("#pager input").press("Home")
    expect(page.locator("#pager p")).to_contain_text(" 1 to 3,000 of", timeout=20_000)
    page.get_by_role("button", name="Later").click()
    expect(page.locator("#pager p")).to_contain_text("3,001 to 6,000", timeout=20_000)
    page.get_by_label("Type or paste a text").press("Control+End")
    page.keyboard.type("life")
    expect(status).to_contain_text(f"{len(text) + 4:,} characters", timeout=20_000)
    assert counts(page)[0] == f"{ours.count(text + 'life'):,}"
    expect(page.locator("#pager p")).to_contain_text(f"to {len(text) + 4:,} of", timeout=20_000)
    expect(page.locator(".card").first.locator(".k").last).to_contain_text("life")
    assert page.evaluate("longest") - own < 1000


def test_a_refusal_is_said_in_words(chromium: Any, address: str) -> None:
    """Not nine real megabytes: the field of a browser alone takes minutes for such a line."""
    context = chromium.new_context()  # of its own: the browser logs the refusal as an error
    page = context.new_page()
    refusal = {"status": 413, "json": {"error": "the text is too long: 8 MB at most"}}
    page.route("**/api/text", lambda route: route.fulfill(**refusal))
    page.goto(address)
    expect(page.get_by_role("alert")).to_have_text("The text is too long: 8 MB at most")
    page.unroute("**/api/text")
    page.get_by_label("Type or paste a text").fill("in New York")
    expect(page.locator("#status")).to_contain_text("11 characters")
    expect(page.locator("#problem")).to_be_hidden()
    context.close()


# --- Everyone


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["text", "vocabulary", "training"])
def test_axe_finds_nothing(view: str, scheme: str, new_page: NewPage, address: str) -> None:
    page = new_page(f"{address}#{view}", color_scheme=scheme)
    if view == "text":
        typed(page, f"{TEXT}\n\n日本 😀")
        expect(page.locator(".cut li").first).to_be_visible()
        page.locator(".card").first.locator(".k", has_text="New York").first.click()
        expect(page.locator("#detail .tree")).to_be_visible()
    if view == "vocabulary":
        expect(page.locator("#rows tr").first).to_be_visible()
    assert faults(page) == []


@pytest.mark.parametrize("view", ["text", "vocabulary", "training"])
def test_a_narrow_screen_needs_no_scrolling_sideways(
    view: str, new_page: NewPage, address: str
) -> None:
    narrow = {"width": 320, "height": 640}
    page = new_page(f"{address}#{view}", viewport=narrow)
    if view == "text":
        typed(page, TEXT)
        expect(page.locator(".cut li").first).to_be_visible()
    if view == "vocabulary":
        expect(page.locator("#rows tr").first).to_be_visible()
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0
    assert faults(page) == []


def test_a_tap_on_a_narrow_screen_opens_and_closes_the_token(new_page: NewPage) -> None:
    page = typed(new_page(viewport={"width": 380, "height": 700}), TEXT)
    page.locator(".card").first.locator(".k").first.click()
    expect(page.locator("#detail.floating")).to_be_in_viewport()
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#detail.floating")).to_have_count(0)


def test_the_dark_page_is_dark(new_page: NewPage) -> None:
    page = new_page(color_scheme="dark")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", ground))) < 60


# --- The page that stands alone


@pytest.fixture(scope="module")
def alone(folder: Path) -> str:
    names = [folder / "ours.json", folder / "plain.json"]
    command: list[str | Path] = [sys.executable, "-m", "supratok", "show", *names]
    command += ["--html", folder / "page.html"]
    text = f"{TEXT}\n\n日本 😀 <b>&amp;</b>\n"
    subprocess.run([*command, "--text", text], check=True, capture_output=True)
    return (folder / "page.html").as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_alone_by_mouse_keyboard_and_axe(
    scheme: str, new_page: NewPage, alone: str
) -> None:
    page = new_page(alone, color_scheme=scheme)
    chip = page.locator(".card").first.locator(".k", has_text="New York").first
    chip.click()
    expect(page.locator("#detail .tree")).to_be_visible()
    expect(page.locator("#detail")).to_contain_text(f"{chip.get_attribute('data-i')}")
    assert page.locator(".card").last.locator(".linked").count() > 0
    page.keyboard.press("ArrowRight")
    expect(chip).not_to_be_focused()
    page.keyboard.press("Escape")
    assert faults(page) == []
    page.get_by_label("Show ids").check()
    expect(page.locator(".tokens .id").first).to_be_visible()


def test_the_page_alone_without_script(new_page: NewPage, alone: str, folder: Path) -> None:
    page = new_page(alone, java_script_enabled=False, viewport={"width": 320, "height": 640})
    ids = open_any(folder / "ours.json").encode(f"{TEXT}\n\n日本 😀 <b>&amp;</b>\n")
    chips = page.locator(".card").first.locator(".k")
    expect(chips).to_have_count(len(ids))
    assert f"id {ids[0]}," in chips.first.get_attribute("title")
    page.get_by_label("Show ids").check()
    expect(page.locator(".tokens .id").first).to_be_visible()
    expect(page.locator("#detail")).to_be_hidden()
