"""`supratok merge`: add counts files up.

supratok merge part-*.counts --out all.counts
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ..common.progress import make_progress
from ..counts import merge_counts
from .common import check_writable, output_name
from .estimate import note

NOTES = "The files must count different text in the same way; memory does not grow with them."


def add_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("files", nargs="+", metavar="FILES", help="counts files of `supratok tally`")
    add("--out", type=Path, required=True, metavar="PATH", help="counts file to write")
    add("--quiet", action="store_true", help="show nothing but errors")


def run(args: argparse.Namespace) -> None:
    check_writable(args.out, args.files)
    began = time.monotonic()
    with make_progress(not args.quiet) as shown:
        about = merge_counts([Path(name) for name in args.files], args.out, shown)
    if not args.quiet:
        seconds = time.monotonic() - began
        note(
            f"{about.kind}: {len(args.files)} files added up in {seconds:.1f} s, written to"
            f" {output_name(args.out)}"
        )
