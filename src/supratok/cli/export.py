"""`supratok export`: write a folder for transformers, vLLM, SentencePiece and llama.cpp.

supratok export my.json my-model --eos '</s>' --pad '<pad>'
supratok export my.json my-model --format huggingface --chat-template chat.jinja
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from pathlib import Path

from ..common.files import refuse_overwriting_in
from ..formats.export import FORMATS, export
from ..formats.listing import Roles
from ..tokenizer import Tokenizer
from ..tokenizer.file import FILE
from .common import TOKENIZER, files_read, print_line
from .show import new_console
from .verify import show_verification


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    add("tokenizer", metavar="TOKENIZER", help=TOKENIZER)
    add("folder", metavar="FOLDER", help="the folder to write to; other files in it stay")
    add(
        "--format",
        action="append",
        choices=list(FORMATS),
        help="a format to write; may be repeated (default: all that apply)",
    )
    add_role_arguments(command)
    add("--json", action="store_true", help="print JSON (default: a table)")


def add_role_arguments(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    for role, what in (
        ("bos", "begins a text"),
        ("eos", "ends a text"),
        ("pad", "fills up a batch"),
        ("unk", "means unknown text, which never occurs"),
    ):
        add(f"--{role}", metavar="T", help=f"the special token that {what} (default: none)")
    add("--add-bos", action="store_true", help="put bos before each text")
    add("--add-eos", action="store_true", help="put eos after each text")
    add("--chat-template", type=Path, metavar="FILE", help="a Jinja template (default: none)")


def roles_of(args: argparse.Namespace) -> Roles:
    given = {role: getattr(args, role) for role in ("bos", "eos", "pad", "unk")}
    template = args.chat_template.read_text(encoding="utf-8") if args.chat_template else None
    return Roles(**given, add_bos=args.add_bos, add_eos=args.add_eos, chat_template=template)


def run(args: argparse.Namespace) -> None:
    began = time.monotonic()
    written = [FILE, *(name for names, _ in FORMATS.values() for name in names)]
    read = files_read(files=[args.tokenizer, args.chat_template])
    refuse_overwriting_in(Path(args.folder), written, read)
    done = export(Tokenizer.load(args.tokenizer), args.folder, args.format, roles_of(args))
    seconds = round(time.monotonic() - began, 2)
    if args.json:
        facts = {"files": done.files, "left_out": done.left_out, "seconds": seconds}
        rows = [dataclasses.asdict(row) for row in done.verification.rows]
        missing = done.verification.missing
        print_line(
            json.dumps({"folder": args.folder, **facts, "verified": rows, "missing": missing})
        )
        return
    console = new_console()
    console.print(f"{args.folder}: {', '.join(done.files)} in {seconds:,.1f} s")
    for name, reason in done.left_out.items():
        console.print(f"{name} was left out: {reason}")
    show_verification(done.verification)
