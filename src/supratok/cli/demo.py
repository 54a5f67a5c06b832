"""make demo: learn from the text that every Python installation holds, and look at the result.

Nothing is downloaded. The text is Python's own documentation: the topics of `help()`, and the
docstrings and comments of the standard library, about 3 MB of English prose on programming.
What people watch while they wait goes to standard error, the result to standard output.
"""

from __future__ import annotations

import argparse
import ast
import inspect
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
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from pydoc_data.topics import topics
from typing import NamedTuple

from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.rule import Rule
from rich.text import Text

from .. import Recipe, Tokenizer, train
from ..common import _core
from ..common.progress import make_progress
from ..corpus.split import digest, is_held_out
from .show import coloured, new_table


class Result(NamedTuple):
    """A tokenizer, and the seconds it took to learn it."""

    name: str
    tokenizer: Tokenizer
    seconds: float


def main(argv: list[str] | None = None, stdlib: Path | None = None) -> None:
    """Read, learn, save and show. `stdlib` is another folder of Python files to read."""
    parser = argparse.ArgumentParser(prog="python -m supratok.demo", description=__doc__)
    parser.add_argument("--vocab-size", type=int, default=16_000, metavar="N")
    parser.add_argument("--threads", type=int, metavar="N", help="all cores, unless said")
    parser.add_argument("--out", type=Path, metavar="PATH", help="where to save the tokenizer")
    args = parser.parse_args(argv)
    if args.out and not args.out.parent.is_dir():
        parser.error(f"--out {args.out}: there is no folder {args.out.parent}; make it first")
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
    show_next(console, *save(args.out, results, prose))


def learn(prose: Prose, ours: Recipe, threads: int | None) -> list[Result]:
    """Plain BPE and both our rules, from the same text."""
    recipes = {
        "plain BPE": replace(ours, crossover=1.0),  # no phrase, ever
        "ours, merges": ours,
        "ours, fewest": replace(ours, segmentation="fewest"),
    }
    wait, results = Console(stderr=True, highlight=False), []
    for name, recipe in recipes.items():
        wait.print(f"\n[bold]{name}[/], {recipe.vocab_size:,} tokens")
        began = time.monotonic()
        tokenizer = train(prose.training, recipe, threads=threads)
        results.append(Result(name, tokenizer, time.monotonic() - began))
    return results


# --- Reading: from Python's files to documents of prose


@dataclass
class Prose:
    """What was read. `unseen` is kept for the comparison at the end.

    Training sets aside one twentieth of the documents by itself, but `fewest` looks at these to
    choose its tokens. `unseen` is the next twentieth by hash, which nothing looks at."""

    training: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    files: int = 0
    skipped: int = 0  # files that do not parse

    def add(self, text: str) -> None:
        code = digest(text)
        unseen = is_held_out(code, 0.10) and not is_held_out(code, 0.05)
        (self.unseen if unseen else self.training).append(text)


def read(stdlib: Path) -> Prose:
    """The topics of `help()`, and the docstrings and comments of the Python files in a folder.

    A document is a topic, a docstring or a block of comments, of at least 60 characters. Of
    paragraphs that are repeated, such as licences, the first is kept."""
    prose, known = Prose(), set[str]()
    paths = [path for path in sorted(stdlib.rglob("*.py")) if not _within(path, stdlib, "packages")]
    with make_progress(True) as progress:
        progress.start("reading", len(paths), "files")
        for prose.files, path in enumerate([None, *paths]):
            try:
                blocks = _blocks(path, stdlib) if path else list(topics.values())
            except (SyntaxError, ValueError):
                prose.skipped += 1
                continue
            for block in blocks:
                new = [text for text in paragraphs(block) if text not in known]
                known.update(new)
                if len(text := "\n\n".join(new)) >= 60:
                    prose.add(text)
            progress.at(prose.files)
        progress.end(documents=len(prose.training) + len(prose.unseen))
    return prose


def _within(path: Path, stdlib: Path, what: str) -> bool:
    """Whether a folder on the way is named so, or ends so: test, idle_test, but not unittest."""
    folders = path.relative_to(stdlib).parts[:-1]
    return any(re.search(rf"(?:^|[-_]){what}$", name) for name in folders)


def _blocks(path: Path, stdlib: Path) -> list[str]:
    """The comments and docstrings of a file, which is parsed and never imported.

    Choice: of tests, the comments alone; to parse them takes longer than all the rest."""
    with tokenize.open(path) as file:
        source = file.read()
    comments = re.findall(r"^[ \t]*#.*(?:\n[ \t]*#.*)*", source, re.MULTILINE)
    blocks = [re.sub(r"^[ \t]*#+", "", block, flags=re.MULTILINE) for block in comments]
    if not _within(path, stdlib, "tests?"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old spellings are not our concern
            nodes = ast.walk(ast.parse(source))
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        defined = (node for node in nodes if isinstance(node, kinds))
        blocks += [text for node in defined if (text := ast.get_docstring(node))]
    return blocks


# What prose cannot do without, and code can: no keyword of Python is among these.
_ENGLISH = re.compile(
    r"\b(?:a|all|also|an|any|are|at|be|by|can|does|has|have|it|its|of|on|only|see|should|that"
    r"|the|there|these|this|to|used?|was|we|when|which|will|you)\b",
    re.IGNORECASE,
)


def paragraphs(block: str) -> Iterator[str]:
    r"""The paragraphs of English prose, each in one line; only the items of a list start a new one.

    Left out are examples (from ">>>" to the blank line), lines of code, tables and drawings, and
    paragraphs with less than one common English word in twelve.

    >>> list(paragraphs("Close the file\n  at once.\n\n>>> f.close()\n\nx = y\n=====\n"))
    ['Close the file at once.']
    """
    for part in re.split(r"\n\s*\n", inspect.cleandoc(block)):
        text = re.split(r"^\s*>>>", part, maxsplit=1, flags=re.MULTILINE)[0]
        lines = (" ".join(line.split()) for line in text.splitlines())
        text = "\n".join(line for line in lines if _is_words(line))
        text = re.sub(r"\n(?!(?:[-*]|\d+[.)]) )", " ", text)
        words = len(re.findall(r"[^\W\d]+", text))
        if words >= 3 and 12 * len(_ENGLISH.findall(text)) >= words:
            yield text


def _is_words(line: str) -> bool:
    signs = sum(not (c.isalnum() or c == " ") for c in line)
    return line[:1] not in ("", "|", "+") and signs <= 3 + 0.15 * len(line)


# --- Showing what came of it


def _console() -> Console:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # where "·" cannot be shown
    return Console(width=min(Console().width, 80), emoji=False, highlight=False)


def _part(console: Console, number: int, title: str) -> None:
    console.print("", Rule(f"[bold]{number}  {title}[/]", align="left", style="dim"))


def _peak() -> str:
    """The most memory this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kB on Linux, bytes on macOS
    return f"{peak / (1e6 if sys.platform == 'darwin' else 1e6 / 1024):.0f} MB"


def show_reading(console: Console, prose: Prose, results: list[Result], before: str) -> None:
    """What was read, and what learning took."""
    _part(console, 1, "Python's own documentation, read and learnt")
    texts = prose.training + prose.unseen
    console.print(
        f"[bold]{len(''.join(texts).encode()) / 1e6:.1f} MB of English prose[/] in {len(texts):,}"
        f" documents: the topics of help(), and the docstrings and comments of {prose.files:,}"
        f" Python files ({prose.skipped} of them do not parse).\n"
    )
    for name, tokenizer, seconds in results:
        console.print(f"{name}: {tokenizer.vocab_size:,} tokens learnt in [bold]{seconds:.1f} s[/]")
    console.print(
        f"memory: at most [bold]{_peak()}[/] for this whole process, Python and the text and all"
        f" three trainings ({before} before these)"
    )


def show_phrases(console: Console, tokenizer: Tokenizer, prose: Prose) -> None:
    """The phrases used most, by their number of words."""
    words = [_core.split_words(token.text) for token in tokenizer.vocabulary]
    uses = tokenizer.usage(prose.training)[-len(words) :].tolist()
    _part(console, 2, "The phrases it found")
    console.print(
        f"[bold]{sum(len(split) > 1 for split in words):,} of {tokenizer.vocab_size:,} tokens cross"
        " a word boundary.[/] Used most, of those with letters alone and at least ten characters"
        " (· is the space in front, the number how often):"
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
    """One sentence, split by plain BPE and by ours."""
    sentence = (
        "If the file does not exist, an exception is raised; otherwise the contents of the file are"
        " returned as a list of strings, and the file is closed at the end of the with statement."
    )
    _part(console, 3, "One sentence, split by both")
    colours = console.color_system is not None and not console.no_color
    for name, tokenizer, _ in results[:2]:
        tokens = tokenizer.tokens(sentence)
        console.print(f"\n[bold]{name}: {len(tokens)} tokens[/]")
        console.print(coloured(tokens, colours))


def show_unseen(console: Console, results: list[Result], prose: Prose) -> None:
    """Characters per token on documents that training never saw, each decoded and compared."""
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
    console.print(table)
    console.print(f"Decoding gave back each of the {len(prose.unseen):,} documents unchanged.")


def save(out: Path | None, results: list[Result], prose: Prose) -> tuple[Path, Path, Path]:
    """Our tokenizer and, beside it, plain BPE and the unseen text, to compare them on.

    Without a wish: in the folder `build` if there is one here, else in a temporary one."""
    folder = "build" if os.path.isdir("build") else ""
    out = out or Path(folder or tempfile.mkdtemp(prefix="supratok-"), "demo.json")
    plain, unseen = out.with_suffix(".plain.json"), out.with_suffix(".unseen.jsonl")
    results[1].tokenizer.save(out)
    results[0].tokenizer.save(plain)
    lines = (json.dumps({"text": text}) + "\n" for text in prose.unseen)
    unseen.write_text("".join(lines), encoding="utf-8")
    return out, plain, unseen


def show_next(console: Console, ours: Path, plain: Path, unseen: Path) -> None:
    """What to run next: on the files of the demo, and on one's own."""
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
    _part(console, 5, "Your turn: look at it, then train on your own files")
    for title, code in ((f"Saved as {ours}. In a shell:", shell), ("In Python:", python)):
        console.print(f"\n[bold]{escape(title)}[/]", soft_wrap=True)
        console.print(Text(code, style="cyan"), soft_wrap=True)


def _command() -> str:
    """How to call supratok from here: by its name, by its path, or as a module."""
    if shutil.which("supratok"):
        return "supratok"
    beside = Path(sys.executable).with_name("supratok")
    if beside.is_relative_to(Path.cwd()):
        beside = beside.relative_to(Path.cwd())
    return shlex.quote(str(beside)) if beside.exists() else f"{sys.executable} -m supratok"


if __name__ == "__main__":
    main()
