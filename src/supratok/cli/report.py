"""`supratok report`: one page of the tables and pictures of runs, to send to a colleague.

supratok report build/runs --out report.html --title 'Our corpus, November'

The page needs neither network nor script: see `lab/report/page.py`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..common.files import write_whole
from ..lab.report.page import find, page
from ..lab.report.tables import NAME
from .common import check_writable, output_name


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
    folders = [Path(name) for name in args.files]
    read = (path for folder in folders for kind in (NAME, "*.svg") for path in folder.rglob(kind))
    check_writable(args.out, read)
    sections = find(folders)
    write_whole(args.out, page(sections, args.title))
    tables, pictures = len(sections), sum(len(section.pictures) for section in sections)
    print(f"{output_name(args.out)}: tables: {tables}, pictures: {pictures}", file=sys.stderr)
