"""`supratok report`: the tables and pictures of runs as one page, to be sent to a colleague.

supratok report build/runs --out report.html --title 'Our corpus, November'

The page needs neither network nor script: see lab/report.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..lab.report.page import find, page
from .common import check_writable


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    add("files", nargs="+", metavar="FOLDER", help="of a run, or of several runs")
    add("--out", type=Path, required=True, metavar="PATH", help="the page to write: report.html")
    add("--title", metavar="TEXT", help="at the top of the page")


def run(args: argparse.Namespace) -> None:
    check_writable(args.out)
    sections = find([Path(name) for name in args.files])
    args.out.write_text(page(sections, args.title), encoding="utf-8", newline="\n")
    tables, pictures = len(sections), sum(len(section.pictures) for section in sections)
    print(f"{args.out}: tables: {tables}, pictures: {pictures}", file=sys.stderr)
