"""Claim: one thread encodes faster than every other encoder on PyPI, with the same ids.

    pip install tokenizers sentencepiece tiktoken fastokens gigatoken kitoken splintr-rs \\
        iree-tokenizer tokie bpe-openai rs-bpe                # in an environment of their own
    python runs/encoders.py mine.json --peers PYTHON --before PYTHON

Each vocabulary is a file of `Tokenizer.save`, which is exported for the others, or a vocabulary of
others (`o200k_base.tiktoken`, `tokenizer.json`), which supratok imports where its rules can express
it. Texts that training never saw. The first call after loading, in a fresh process on one core, all
programs in turn; as one text, and line by line to lists. `--before` names the Python of another
supratok, `--peers` that of the others. A program that is not installed there has no row.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median

import numpy as np

from programs import PROGRAMS
from rows import Figures, Rows, claim, command, held_out, identity, located, options, write_table
from supratok import Tokenizer
from supratok.corpus import open_corpus
from supratok.lab.measure.texts import read_text
from supratok.lab.report.tables import Table

SCRIPT = Path(__file__).with_name("programs.py")
BEFORE = {"before, arrays": "supratok, arrays", "before": "supratok"}
NAMES = ["supratok, arrays", "supratok", *BEFORE, *list(PROGRAMS)[2:]]
MOST = 5_000_000  # bytes of a text
LIMIT = 120  # seconds of a measurement
FORMS = {"text": "one text", "lines": "by line to lists"}
BY_LINE = ("English", "Chinese", "code")
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


# --- Texts


def english(data: Path) -> Iterator[str]:
    for name in ("valid", "test"):
        yield read_text(data / f"test/wikitext103/wiki.{name}.raw")
    for name, key in (("bbc/bbc", "text"), ("lambada/lambada", "context")):
        if (path := data / f"test/{name}.jsonl.zst").exists():
            yield from open_corpus(path, text_key=key)


def of_language(data: Path, code: str) -> Iterator[str]:
    """What training holds out of this file: it learns nothing from it."""
    for measuring in (True, False):
        yield from held_out(data / f"train/ml/{code}.jsonl.zst", measuring=measuring)


def python_sources(data: Path) -> Iterator[str]:
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        yield read_text(path)


TEXTS: dict[str, Callable[[Path], Iterable[str]]] = {
    "English": english,
    "Chinese": functools.partial(of_language, code="zh"),
    "Thai": functools.partial(of_language, code="th"),
    "code": python_sources,
    "one letter": lambda data: ["a" * 1_000_000],
    "random bytes": lambda data: [random.Random(5).randbytes(1_000_000).decode("latin-1")],
}


def text_file(name: str, data: Path, folder: Path, most: int) -> Path:
    path = folder / f"{name}, {most}.txt"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        whole = "\n".join(TEXTS[name](data)).encode()[:most]
        path.write_bytes(whole.decode(errors="ignore").encode())
    return path


# --- Measuring


def vocabulary_of(path: Path, out: Path) -> Path:
    """What the programs read: a file of others, or our tokenizer exported to a folder."""
    if path.suffix == ".tiktoken" or "model" in json.loads(read_text(path)):
        return path
    folder = out / f"{path.stem}-{identity(path)[:8]}"
    if not folder.exists():
        Tokenizer.load(path).export(folder, ["huggingface", "sentencepiece"])
    return folder


def measure(
    python: str, program: str, vocabulary: Path, text: Path, by_line: bool, wanted: Path
) -> Figures:
    """What `programs.py` answers, and how many ids differ from those in the file `wanted`, which
    the first program writes."""
    out = wanted.with_suffix(".ids")
    given = {"program": BEFORE.get(program, program), "vocabulary": str(vocabulary.resolve()),
             "text": str(text), "by_line": by_line, "out": str(out)}  # fmt: skip
    apart = {"PYTHONPATH"} if python != sys.executable else set()
    environment = {key: value for key, value in os.environ.items() if key not in apart}
    try:
        done = subprocess.run(
            [python, str(SCRIPT), json.dumps(given)],
            env={**environment, **ONE_THREAD}, capture_output=True, text=True, timeout=LIMIT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"failed": f"over {LIMIT} s"}
    if done.returncode:
        return {"failed": f"ended with status {done.returncode}"}
    figures: Figures = json.loads(done.stdout)
    if "seconds" in figures:
        out.replace(out if wanted.exists() else wanted)
        figures["differ"] = differing(wanted, out) if out.exists() else 0
    return figures


def differing(one: Path, other: Path) -> int:
    """How many ids differ, at least: those that one file has more often than the other."""
    first, second = (np.fromfile(path, dtype=np.uint32) for path in (one, other))
    if np.array_equal(first, second):
        return 0
    size = int(max(first.max(initial=0), second.max(initial=0))) + 1
    gap = np.bincount(first, minlength=size) - np.bincount(second, minlength=size)
    return max(1, int(np.abs(gap).sum()) // 2)


Turns = dict[str, list[Figures]]  # by program


def cells(turns: Turns, size: int) -> dict[str, str]:
    """Of each program in MB/s: the median, lowest and highest; and whether its ids differ."""
    found = {}
    for name, runs in turns.items():
        if failed := [run["failed"] for run in runs if "failed" in run]:
            found[name] = failed[0]
            continue
        speeds = sorted(size / 1e6 / run["seconds"] for run in runs)
        middle, low, high = map(rounded, (median(speeds), speeds[0], speeds[-1]))
        found[name] = f"{middle} ({low}-{high})"
        if wrong := max(run["differ"] for run in runs):
            found[name] += f" differs: {wrong:,}"
    return found


def rounded(speed: float) -> str:
    return f"{speed:.3g}" if speed < 100 else f"{speed:,.0f}"


class Programs:
    """Measures in turn, each figure once; remembers which program refuses which vocabulary."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._rows, self._args = Rows(args.out, args.again), args
        self.about = self._rows.about
        self.refused: dict[tuple[str, str], str] = {}  # why, by vocabulary and program
        self.versions: dict[str, str] = {}

    def python(self, name: str) -> str:
        chosen = self._args.before if name in BEFORE else self._args.peers
        return sys.executable if name.startswith("supratok") else str(chosen or sys.executable)

    def notes(self, vocabulary: Path) -> list[str]:
        refused = self.refused.items()
        return [
            ", ".join(f"{name} {version}" for name, version in self.versions.items()),
            *(f"{name}: {why}" for (where, name), why in refused if where == vocabulary.name),
        ]

    def turns(self, vocabulary: Path, text: Path, form: str) -> Turns:
        names = [name for name in self._args.only if (vocabulary.name, name) not in self.refused]
        found: Turns = {name: [] for name in names}
        for turn in range(self._args.repeats):
            for name in names:
                asked = {
                    "row": f"{name}, {vocabulary.name}, {text.stem}, {form}, turn {turn + 1}",
                    "python": self.python(name), "text": identity(text), "script": identity(SCRIPT),
                }  # fmt: skip
                wanted = f"{vocabulary.name}, {text.stem}, {form}, {identity(text)[:8]}.wanted"
                call = functools.partial(
                    measure, self.python(name), name, vocabulary, text, form == "lines",
                    self._args.out / "ids" / wanted,
                )  # fmt: skip
                found[name].append(self._rows.get(asked, call))
        for name in names:
            if why := found[name][0].get("refused"):
                self.refused[vocabulary.name, name] = why
                del found[name]
            elif version := found[name][0].get("version"):
                self.versions[name.split(",")[0]] = version
        return found


def main(arguments: list[str] | None = None) -> None:
    parser = options("Encoding, beside other encoders.", "encoders")
    add = parser.add_argument
    add("vocabularies", type=Path, nargs="+", metavar="VOCABULARY")
    add("--only", nargs="+", choices=NAMES, default=NAMES, metavar="PROGRAM")
    add("--texts", nargs="+", choices=TEXTS, default=list(TEXTS), metavar="TEXT")
    add("--most", type=int, default=MOST, help="bytes of a text (default: 5,000,000)")
    add("--repeats", type=int, default=3, help="turns (default: 3)")
    add("--before", type=Path, metavar="PYTHON", help="an environment with another supratok")
    add("--peers", type=Path, metavar="PYTHON", help="an environment with the other programs")
    args = parser.parse_args(arguments)
    data = located(args.test, "").resolve()
    files = {n: text_file(n, data, args.out / "texts", args.most) for n in args.texts}
    args.only = [name for name in args.only if args.before or name not in BEFORE]
    (args.out / "ids").mkdir(parents=True, exist_ok=True)
    programs, load = Programs(args), f"load {os.getloadavg()[0]:.1f} at the start"
    for path in args.vocabularies:
        vocabulary = vocabulary_of(path, args.out)
        for form in FORMS:
            some = {name: files[name] for name in files if form == "text" or name in BY_LINE}
            head, lines = ["program", *some], panel(programs, vocabulary, some, form)
            notes = [
                ", ".join(
                    f"{name} {file.stat().st_size / 1e6:.1f} MB" for name, file in some.items()
                ),
                f"MB in a second of one core, median (lowest-highest) of {args.repeats} turns;"
                " differs: so many ids, at least, from the first row",
                *programs.notes(vocabulary),
                f"{programs.about()}; {load}",
                command("encoders", arguments),
            ]
            folder = args.out / f"{path.stem}-{form}"
            folder.mkdir(exist_ok=True)
            title = f"{path.stem}, {FORMS[form]}"
            write_table(folder, Table(title, claim(__doc__), head, lines, notes))


def panel(
    programs: Programs, vocabulary: Path, files: dict[str, Path], form: str
) -> list[list[str]]:
    """A line of each program that takes the vocabulary, a column of each text."""
    columns = [
        cells(programs.turns(vocabulary, file, form), file.stat().st_size)
        for file in files.values()
    ]
    return [[name, *(column[name] for column in columns)] for name in columns[-1]]


if __name__ == "__main__":
    main()
