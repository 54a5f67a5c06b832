"""What mkdocs cannot do by itself: pages that are made at build time, and links out of docs/.

    on_files       adds commands.md (every command and option, from the parser itself) and the
                   pages that live outside docs/: CONTRIBUTING.md, CHANGELOG.md, runs/README.md
    on_config      leaves pages of other branches out of the nav while their file is missing
    on_page_markdown   turns links to files of the checkout into links to those pages, or text

mkdocs.yml names this file. So the reference of the command is never older than the command.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from supratok.cli.main import EXIT_CODES, VERBS, parser_of

ROOT = Path(__file__).resolve().parent.parent
# Files outside docs/ that are pages of the site.
OUTSIDE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "runs/README.md": "runs.md",
}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, "commands.md", content=commands_page()))
    for source, name in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        text = linked(text, Path(source).parent)
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    return markdown if page.file.generated_by else linked(markdown, Path("docs"))


def linked(markdown: str, folder: Path) -> str:
    """The text of a page in `folder` of the checkout, with links that hold in the site."""

    def link(found: re.Match[str]) -> str:
        words, to, anchor = found[1], found[2], found[3] or ""
        target = (ROOT / folder / to).resolve()
        name = target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else ""
        if name in OUTSIDE:
            return f"[{words}]({OUTSIDE[name]}{anchor})"
        if name.startswith("docs/"):
            return f"[{words}]({name.removeprefix('docs/')}{anchor})"
        if target.exists():  # source code, which the site does not hold
            return words if "`" in words else f"`{words}`"
        return found[0]  # mkdocs will say that it leads nowhere

    return LINK.sub(link, markdown)


# --- The reference of the command


def commands_page() -> str:
    """Every command with its options and defaults, as its own help has them."""
    parser = parser_of(VERBS)
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    lines = [
        "# Every command and option\n",
        "This page is made from the program itself when the site is built. `supratok COMMAND"
        " --help` prints the same. [The command](command.md) says what holds for all of them.\n",
        EXIT_CODES + "\n",
        "| command | |\n| --- | --- |",
        *(f"| [`{verb}`](#{verb}) | {what} |" for verb, what in VERBS.items()),
        "",
    ]
    for verb, command in commands.choices.items():
        lines += command_section(verb, command)
    return "\n".join(lines)


def command_section(verb: str, command: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## {verb}\n"
    yield f"{command.description}\n"
    usage = command.format_usage().removeprefix("usage: ").strip()
    usage = re.sub(r"\n\s+", "\n    ", usage)
    yield f"```text\n{usage}\n```\n"
    rows = [row for action in command._actions if (row := option_row(action, command))]
    yield "| argument | meaning |\n| --- | --- |"
    yield from rows
    yield ""
    if notes := (command.epilog or "").removesuffix(EXIT_CODES).strip():
        yield f"{plain(notes)}\n"


def option_row(action: argparse.Action, command: argparse.ArgumentParser) -> str:
    """A row of the table: how it is written, what it means, its default."""
    if action.help == argparse.SUPPRESS or "--help" in action.option_strings:
        return ""
    formatter = command._get_formatter()
    written = formatter._format_action_invocation(action)
    meaning = formatter._expand_help(action) if action.help else ""
    default = action.default
    shown = default not in (None, False, argparse.SUPPRESS, []) and "default" not in meaning
    if shown and action.option_strings:
        given = " ".join(map(str, default)) if isinstance(default, list | tuple) else str(default)
        meaning += f" (default: `{given}`)"
    return f"| `{written.replace('|', chr(92) + '|')}` | {plain(meaning)} |"


def plain(text: str) -> str:
    """Help is plain text: what Markdown would take for HTML or a table is escaped."""
    kept = re.split(r"(`[^`]*`)", " ".join(text.split()))
    escaped = [
        part if part.startswith("`") else re.sub(r"([<*_\[\]])", r"\\\1", part) for part in kept
    ]
    return "".join(escaped).replace("|", "\\|")
