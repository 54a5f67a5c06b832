"""make demo: train on Python's own documentation and show the result.

It downloads nothing. The text is the topics of `help()` and the docstrings and comments of the
standard library, about 3 MB of English prose on programming. Progress goes to standard error, the
result to standard output; the last of it is a page to open in a browser.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import resource
import shlex
import shutil
import sys
import sysconfig
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.rule import Rule
from rich.text import Text

from .. import Recipe, Tokenizer, train
from ..common import _core
from ..common.files import write_whole
from ..common.packages import install_hint, is_installed
from .demo_text import Prose, read
from .draw import coloured, new_table, print_table

SENTENCE = (
    "If the file does not exist, an exception is raised; otherwise the contents of the file are"
    " returned as a list of strings, and the file is closed at the end of the with statement."
)


class Result(NamedTuple):
    """A tokenizer, and how long its training took."""

    name: str
    tokenizer: Tokenizer
    seconds: float


def main(argv: list[str] | None = None, stdlib: Path | None = None) -> None:
    """Read, train, save and show. `stdlib` is another folder of Python files to read."""
    parser = argparse.ArgumentParser(prog="python -m supratok.cli.demo", description=__doc__)
    add = parser.add_argument
    add(
        "--vocab-size",
        type=int,
        default=16_000,
        metavar="N",
        help="number of tokens (default: 16000)",
    )
    add("--threads", type=int, metavar="N", help="number of threads (default: all cores)")
    add(
        "--out",
        type=Path,
        metavar="PATH",
        help="the file to write (default: build/demo.json, or in a temporary folder)",
    )
    add("--play", action="store_true", help="start the playground at the end")
    args = parser.parse_args(argv)
    if args.out and not args.out.parent.is_dir():
        parser.error(f"--out {args.out}: there is no folder {args.out.parent}; create it first")
    try:
        recipe = Recipe(vocab_size=args.vocab_size)
        prose = read(stdlib or Path(sysconfig.get_paths()["stdlib"]))
        before = _peak()
        results = learn(prose, recipe, args.threads)
    except ValueError as error:  # in the options
        parser.error(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    console = _console()
    show_reading(console, prose, results, before)
    show_phrases(console, results[1].tokenizer, prose)
    show_sentence(console, results)
    show_unseen(console, results, prose)
    saved = save(args.out, results, prose)
    show_next(console, *saved)
    show_page_hint(console, save_page(saved[0], results), saved[0], saved[1])
    if args.play:
        play(saved[0], saved[1])


def learn(prose: Prose, ours: Recipe, threads: int | None) -> list[Result]:
    """Train plain BPE and both our rules on the same text."""
    recipes = {
        "plain BPE": replace(ours, crossover=1.0),  # no phrases
        "ours, merges": ours,
        "ours, fewest": replace(ours, segmentation="fewest"),
    }
    errors, results = Console(stderr=True, highlight=False), []
    for name, recipe in recipes.items():
        errors.print(f"\n[bold]{name}[/], {recipe.vocab_size:,} tokens")
        began = time.monotonic()
        tokenizer = train(prose.training, recipe, threads=threads)
        results.append(Result(name, tokenizer, time.monotonic() - began))
    return results


# --- Showing the result


def _console() -> Console:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for terminals without "·"
    return Console(width=min(Console().width, 80), emoji=False, highlight=False)


def _part(console: Console, number: int, title: str) -> None:
    console.print("", Rule(f"[bold]{number}  {title}[/]", align="left", style="dim"))


def _peak() -> str:
    """The peak of this process's memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kB on Linux, bytes on macOS
    return f"{peak / (1e6 if sys.platform == 'darwin' else 1e6 / 1024):.0f} MB"


def show_reading(console: Console, prose: Prose, results: list[Result], before: str) -> None:
    """The size of the text, and the time and memory of training."""
    _part(console, 1, "Training on Python's own documentation")
    texts = prose.training + prose.unseen
    console.print(
        f"[bold]{len(''.join(texts).encode()) / 1e6:.1f} MB of English prose[/] in {len(texts):,}"
        f" documents: the topics of help(), and the docstrings and comments of {prose.files:,}"
        f" Python files ({prose.skipped} of them do not parse).\n"
    )
    for name, tokenizer, seconds in results:
        console.print(f"{name}: {tokenizer.vocab_size:,} tokens learnt in [bold]{seconds:.1f} s[/]")
    console.print(
        f"memory: at most [bold]{_peak()}[/] for the whole process ({before} before training)"
    )


def show_phrases(console: Console, tokenizer: Tokenizer, prose: Prose) -> None:
    """The most used phrases, by their number of words."""
    words = [_core.split_words(token.text) for token in tokenizer.vocabulary]
    uses = tokenizer.usage(prose.training)[-len(words) :].tolist()
    _part(console, 2, "The phrases it found")
    console.print(
        f"[bold]{sum(len(split) > 1 for split in words):,} of {tokenizer.vocab_size:,} tokens cross"
        " a word boundary.[/] The most used of at least ten characters, letters only (· is the"
        " space in front, the number counts uses):"
    )
    for size in range(2, 6):
        found = [
            (-count, re.sub("^ ", "·", "".join(split)))
            for split, count in zip(words, uses, strict=True)
            if len(split) == size and re.fullmatch("[A-Za-z ]{10,}", "".join(split))
        ]
        cells = [f"[cyan]{text}[/] [dim]{-count}[/]" for count, text in sorted(found)[:12]]
        console.print(f"\n[bold]{size} words[/]", Columns(cells, padding=(0, 2), equal=True))


def show_sentence(console: Console, results: list[Result]) -> None:
    """The tokens of one sentence under plain BPE and under ours."""
    _part(console, 3, "One sentence in both")
    colours = console.color_system is not None and not console.no_color
    for name, tokenizer, _ in results[:2]:
        tokens = tokenizer.tokens(SENTENCE)
        console.print(f"\n[bold]{name}: {len(tokens)} tokens[/]")
        console.print(coloured(tokens, colours))


def show_unseen(console: Console, results: list[Result], prose: Prose) -> None:
    """Characters per token on unseen documents; decodes each and compares it."""
    table = new_table("", "tokens", "characters per token", "tokens saved")
    characters, counts = sum(map(len, prose.unseen)), list[int]()
    for name, tokenizer, _ in results:
        ids = tokenizer.encode_batch(prose.unseen)
        if [tokenizer.decode(row) for row in ids] != prose.unseen:
            raise AssertionError(f"{name}: decoding changed a document")
        counts.append(sum(map(len, ids)))
        ratio = f"[bold]{characters / counts[-1]:.2f}[/]"
        saved = f"{1 - counts[-1] / counts[0]:.1%}" if counts[1:] else "-"
        table.add_row(name, f"{counts[-1]:,}", ratio, saved)
    _part(console, 4, "Text that training never saw")
    print_table(console, table)
    console.print(f"Decoding gave back each of the {len(prose.unseen):,} documents unchanged.")


def save(out: Path | None, results: list[Result], prose: Prose) -> tuple[Path, Path, Path]:
    """Save our tokenizer, plain BPE and the unseen text next to each other.

    By default in the folder `build` if it exists here, else in a temporary one."""
    folder = "build" if os.path.isdir("build") else ""
    out = out or Path(folder or tempfile.mkdtemp(prefix="supratok-"), "demo.json")
    plain, unseen = out.with_suffix(".plain.json"), out.with_suffix(".unseen.jsonl")
    results[1].tokenizer.save(out)
    results[0].tokenizer.save(plain)
    lines = (json.dumps({"text": text}) + "\n" for text in prose.unseen)
    unseen.write_text("".join(lines), encoding="utf-8")
    return out, plain, unseen


def show_next(console: Console, ours: Path, plain: Path, unseen: Path) -> None:
    """Commands to run next, on the files of the demo and on your own."""
    supratok = _command()
    a, b, c = (shlex.quote(str(path)) for path in (ours, plain, unseen))
    shell = f"""\
{supratok} inspect {a}
{supratok} count {a} {c}
{supratok} compare {c} {b} {a}
{supratok} train my/*.jsonl --vocab-size 32000 --out my.json"""
    python = f"""\
import supratok
tokenizer = supratok.Tokenizer.load({json.dumps(str(ours))})
print(tokenizer.tokens("if the file does not exist"))
ids = tokenizer.encode("if the file does not exist")
assert tokenizer.decode(ids) == "if the file does not exist"
mine = supratok.train("my/*.jsonl", supratok.Recipe(vocab_size=32_000))"""
    _part(console, 5, "Your turn: inspect it, then train on your own files")
    for title, code in ((f"Saved as {ours}. In a shell:", shell), ("In Python:", python)):
        console.print(f"\n[bold]{escape(title)}[/]", soft_wrap=True)
        console.print(Text(code, style="cyan"), soft_wrap=True)


def save_page(ours: Path, results: list[Result]) -> Path | None:
    """The sentence by all tokenizers, as a page that stands alone; None without the package that
    it takes."""
    from ..pages.card import cards_of, our_card

    if not is_installed("jinja2"):
        return None
    from ..pages.page import show_page

    cards = cards_of(our_card(name, tokenizer) for name, tokenizer, _ in reversed(results))
    page = ours.with_suffix(".html")
    write_whole(page, show_page(cards, SENTENCE, "One sentence in three tokenizers"))
    return page


def show_page_hint(console: Console, page: Path | None, ours: Path, plain: Path) -> None:
    """How to open the page, and how to start the playground."""
    _part(console, 6, "See it in a browser")
    if page is None:
        needed = ("starlette", "uvicorn", "jinja2")
        hint = install_hint("play", *(name for name in needed if not is_installed(name)))
        console.print(f"[bold]A page and the playground need more packages:[/] {escape(hint)}")
        return
    console.print("[bold]The sentence by all three, as a page; open it in a browser:[/]")
    console.print(Text(page.resolve().as_uri(), style="cyan"), soft_wrap=True)
    console.print("\n[bold]The playground, to type yourself; or `make demo PLAY=1`:[/]")
    a, b = (shlex.quote(str(path)) for path in (ours, plain))
    console.print(Text(f"{_command()} play {a} {b}", style="cyan"), soft_wrap=True)


def play(ours: Path, plain: Path) -> None:
    """The playground, until Ctrl-C."""
    from .main import main as command

    sys.stdout.flush()
    sys.exit(command(["play", str(ours), str(plain)]))


def _command() -> str:
    """How to run supratok from here: by its name, by its path, or as a module."""
    if shutil.which("supratok"):
        return "supratok"
    beside = Path(sys.executable).with_name("supratok")
    if beside.is_relative_to(Path.cwd()):
        beside = beside.relative_to(Path.cwd())
    return shlex.quote(str(beside)) if beside.exists() else f"{sys.executable} -m supratok"


if __name__ == "__main__":
    main()
