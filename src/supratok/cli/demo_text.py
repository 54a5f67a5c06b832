"""The text of the demo: English prose from the files of every Python installation."""

from __future__ import annotations

import ast
import inspect
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from pydoc_data.topics import topics

from ..common.progress import make_progress
from ..corpus.split import digest, is_held_out


@dataclass
class Prose:
    """The documents, split into `training` and `unseen`.

    Training holds out one twentieth of its documents, but `fewest` chooses its tokens by them.
    `unseen` is the next twentieth by hash, which training never reads."""

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

    A document is a topic, a docstring or a block of comments, of at least 60 characters. A
    paragraph that occurs again, such as a licence, is dropped."""
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
    """Whether a folder on the path has this name or ends with it: test, idle_test, not unittest."""
    folders = path.relative_to(stdlib).parts[:-1]
    return any(re.search(rf"(?:^|[-_]){what}$", name) for name in folders)


def _blocks(path: Path, stdlib: Path) -> list[str]:
    """The comments and docstrings of a file, which it parses and never imports.

    Choice: of tests, the comments only; parsing them takes longer than all the rest."""
    with tokenize.open(path) as file:
        source = file.read()
    comments = re.findall(r"^[ \t]*#.*(?:\n[ \t]*#.*)*", source, re.MULTILINE)
    blocks = [re.sub(r"^[ \t]*#+", "", block, flags=re.MULTILINE) for block in comments]
    if not _within(path, stdlib, "tests?"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as deprecated escapes
            nodes = ast.walk(ast.parse(source))
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        defined = (node for node in nodes if isinstance(node, kinds))
        blocks += [text for node in defined if (text := ast.get_docstring(node))]
    return blocks


# Words that prose needs and code does not: no keyword of Python is among them.
_ENGLISH = re.compile(
    r"\b(?:a|all|also|an|any|are|at|be|by|can|does|has|have|it|its|of|on|only|see|should|that"
    r"|the|there|these|this|to|used?|was|we|when|which|will|you)\b",
    re.IGNORECASE,
)


def paragraphs(block: str) -> Iterator[str]:
    r"""The paragraphs of English prose, each in one line; each item of a list has its own line.

    Drops examples (from ">>>" to the blank line), lines of code, tables and drawings, and
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
