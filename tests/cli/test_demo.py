"""The demo: which text it reads, and that it runs from the first line to the last."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from supratok import Tokenizer
from supratok.cli import demo, demo_text
from supratok.cli.main import main
from supratok.corpus import open_corpus
from supratok.corpus.split import digest, is_held_out

STDLIB = Path(sysconfig.get_paths()["stdlib"])
LICENCE = "# You may use this file for any purpose that is allowed by the law of the land."
LONG = "This docstring is long enough to be one of the documents of the demo, which need sixty."


@pytest.fixture
def no_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_text, "topics", {})


def write(folder: Path, **files: str) -> None:
    for name, source in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")


def documents(folder: Path) -> list[str]:
    prose = demo_text.read(folder)
    return sorted(prose.training + prose.unseen)


# --- Paragraphs


def test_wrapped_lines_are_joined_and_paragraphs_kept_apart() -> None:
    text = """Return the list of
        all the names.

        The order of the names
        is that of the file.
        """
    joined = ["Return the list of all the names.", "The order of the names is that of the file."]
    assert list(demo_text.paragraphs(text)) == joined


def test_items_of_a_list_keep_their_lines() -> None:
    text = "There are two of them:\n\n- the first of\n  the two\n- and the other one"
    assert list(demo_text.paragraphs(text))[1] == "- the first of the two\n- and the other one"


def test_examples_are_dropped_up_to_the_blank_line() -> None:
    text = """
    This adds a number to the total:
    >>> for number in the_list:
    ...     add(number)
    this is the output of it

    And this is the end of the story.
    """
    kept = ["This adds a number to the total:", "And this is the end of the story."]
    assert list(demo_text.paragraphs(text)) == kept


@pytest.mark.parametrize(
    "block",
    [
        "for name in names:\n    print(name, end='')",
        "if not expression: raise AssertionError",
        'assert_stmt ::= "assert" expression ["," expression]',
        "+-------+-------+\n| the a | the b |\n+=======+=======+",
        "/-----\\  ~~~~>  /-----\\",
        "****************",
        "",
    ],
)
def test_code_tables_and_drawings_are_no_prose(block: str) -> None:
    assert list(demo_text.paragraphs(block)) == []


def test_a_line_of_code_inside_prose_is_dropped_alone() -> None:
    text = "The value of the name\nx[(i+1)*2] = {'a': -1}\nis then used by the caller."
    assert list(demo_text.paragraphs(text)) == ["The value of the name is then used by the caller."]


# --- Files


@pytest.mark.usefixtures("no_topics")
def test_documents_are_docstrings_and_comment_blocks(tmp_path: Path) -> None:
    write(
        tmp_path,
        module=f'"""Module. {LONG}"""\n'
        f'class A:\n    """Class. {LONG}"""\n    async def f(self):\n        """Method. {LONG}"""\n'
        "x = 1  # after code, so it is the remark of a line and no block of prose by itself\n"
        "# This comment goes over two lines,\n# and the two of them are one document of the demo.\n"
        '"""Only a string, in spite of what it says, that is not the docstring of anything."""\n',
        short='"""The short one."""\n',
    )
    comment = "This comment goes over two lines, and the two of them are one document of the demo."
    found = [f"{kind}. {LONG}" for kind in ("Class", "Method", "Module")]
    assert documents(tmp_path) == [*found, comment]


@pytest.mark.usefixtures("no_topics")
def test_repeated_paragraphs_are_kept_once(tmp_path: Path) -> None:
    source = f'{LICENCE}\n#\n# This is the file number %d, and it is the only one.\n"""{LONG}"""'
    write(tmp_path, a=source % 1, b=source % 2, c=f'"""{LONG}"""')
    text = "\n".join(documents(tmp_path))
    assert text.count("You may use") == text.count(LONG) == text.count("file number 1") == 1


@pytest.mark.usefixtures("no_topics")
def test_files_are_never_run_and_bad_ones_counted(tmp_path: Path) -> None:
    write(tmp_path, run=f'"""{LONG}"""\nraise SystemExit', bad="def (:", nul="x\0")
    (tmp_path / "latin.py").write_bytes(b'"""caf\xe9 of the world"""')
    prose = demo_text.read(tmp_path)
    assert (prose.files, prose.skipped) == (4, 3)
    assert prose.training + prose.unseen == [LONG]


@pytest.mark.usefixtures("no_topics")
def test_packages_are_left_out_and_tests_give_comments_only(tmp_path: Path) -> None:
    inside = f'"""Docstring. {LONG}"""\n# Comment. {LONG}\n'
    write(tmp_path, **{"site-packages__pip__a": inside, "test__b": inside})
    assert documents(tmp_path) == [f"Comment. {LONG}"]
    write(tmp_path, unittest__c=inside)
    assert documents(tmp_path) == [f"Comment. {LONG}", f"Docstring. {LONG}"]


def test_unseen_documents_are_not_those_that_training_prunes_by() -> None:
    prose = demo_text.read(STDLIB / "json")
    assert prose.unseen
    assert not any(is_held_out(digest(text)) for text in prose.unseen)
    assert any(is_held_out(digest(text)) for text in prose.training)
    assert demo_text.read(STDLIB / "json") == prose


# --- All of it


def test_the_demo_runs_and_prints_its_six_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    demo.main(["--vocab-size", "2500", "--threads", "2"], stdlib=STDLIB / "email")
    out = capsys.readouterr().out
    places = [out.index(f"\n{number}  ") for number in range(1, 7)]
    assert places == sorted(places)
    assert "MB of English prose" in out and "cross a word" in out
    ours = out.split("ours, merges: ")[2]  # the sentence, with bars in place of colours
    assert "| of the| " in ours
    assert "documents unchanged" in out
    assert "supratok train my/*.jsonl --vocab-size 32000 --out my.json" in out
    tokenizer = Tokenizer.load("build/demo.json")
    assert tokenizer.vocab_size == 2500
    assert Tokenizer.load("build/demo.plain.json").report["passes"]["multiword"]["accepted"] == 0
    with open_corpus(Path("build/demo.unseen.jsonl")) as unseen:
        assert f"each of the {len(list(unseen)):,} documents" in out
    commands, code = out.split("In a shell:\n")[1].split("\nIn Python:\n")
    *hints, training = (line.split("supratok ")[1].split() for line in commands.split("\n") if line)
    assert [hint[0] for hint in hints] == ["inspect", "count", "compare"]
    assert training[0] == "train"
    assert [main(hint) for hint in hints] == [0, 0, 0]
    code, browser = code.split("\n6  ")
    assert Path("build/demo.html").resolve().as_uri() in browser.replace("\n", "")
    page = Path("build/demo.html").read_text("utf-8")
    assert all(name in page for name in ("plain BPE", "ours, merges", "ours, fewest"))
    assert "supratok play build/demo.json build/demo.plain.json" in browser
    *shown, last = code.strip().splitlines()
    exec("\n".join(shown), {})
    assert last.startswith("mine = supratok.train(") and compile(last, "demo", "exec")


def test_without_the_packages_of_pages_the_demo_says_how_to_install_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "is_installed", lambda name: name != "jinja2")
    page = demo.save_page(tmp_path / "demo.json", [])
    demo.show_page_hint(demo._console(), page, tmp_path / "demo.json", tmp_path / "plain.json")
    said = " ".join(capsys.readouterr().out.split())
    assert page is None and "pip install" in said and "jinja2" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options", [["--vocab-size", "3"], ["--threads", "0"], ["--out", "not/there/demo.json"]]
)
@pytest.mark.usefixtures("no_topics")
def test_bad_options_are_refused(options: list[str], tmp_path: Path) -> None:
    write(tmp_path, a=f'"""{LONG}"""')
    with pytest.raises(SystemExit, match="2"):
        demo.main(options, stdlib=tmp_path)
