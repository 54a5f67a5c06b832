"""`supratok report`: one page of the tables and pictures of runs, to send to a colleague.

supratok report build/runs --out report.html --title 'Our corpus, November'

The page needs neither network nor script: see `lab/report/page.py`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..lab.report.page import find, page
from .common import check_writable


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted; nothing is written")
    add = command.add_argument
    add("files", nargs="+", metavar="FOLDER", help="the folder of one run or of several")
    add(
        "--out",
        type=Path,
        required=True,
        metavar="PATH",
        help="the page to write, such as report.html",
    )
    add(
        "--title",
        metavar="TEXT",
        help="the title of the page (default: that of the table, if there is one)",
    )


def run(args: argparse.Namespace) -> None:
    check_writable(args.out)
    sections = find([Path(name) for name in args.files])
    args.out.write_text(page(sections, args.title), encoding="utf-8", newline="\n")
    tables, pictures = len(sections), sum(len(section.pictures) for section in sections)
    print(f"{args.out}: tables: {tables}, pictures: {pictures}", file=sys.stderr)
