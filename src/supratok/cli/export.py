"""`supratok export`: write a folder for transformers, vLLM, SentencePiece and llama.cpp.

supratok export my.json my-model --eos '</s>' --pad '<pad>'       # adds those that are missing
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
from .common import TOKENIZER, files_in, print_line
from .draw import new_console
from .verify import show_verification

NOTES = (
    "If the tokenizer lacks a special token that you name, export adds it after the last id; all"
    " other ids stay. Other programs read a special token inside plain text as its id, where"
    " supratok reads it as text; in transformers, split_special_tokens=True does the same. The"
    " formats sentencepiece and gguf need the extra export; `supratok doctor` says what is missing."
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    add("tokenizer", metavar="TOKENIZER", help=TOKENIZER)
    add("folder", metavar="FOLDER", help="the folder to write, new or not; other files in it stay")
    add(
        "--format",
        action="append",
        choices=list(FORMATS),
        help="a format to write; may be repeated (default: all that fit and whose packages are"
        " installed)",
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
    for role, where in (("bos", "before"), ("eos", "after")):
        add(
            f"--add-{role}",
            action="store_true",
            help=f"put the token of --{role} {where} each text (default: no)",
        )
    add("--chat-template", type=Path, metavar="FILE", help="a Jinja template (default: none)")


def roles_of(args: argparse.Namespace) -> Roles:
    given = {role: getattr(args, role) for role in ("bos", "eos", "pad", "unk")}
    template = _template(args.chat_template) if args.chat_template else None
    return Roles(**given, add_bos=args.add_bos, add_eos=args.add_eos, chat_template=template)


def _template(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text ({error}); save it as UTF-8") from error


def run(args: argparse.Namespace) -> None:
    began = time.monotonic()
    written = [FILE, *(name for names, _ in FORMATS.values() for name in names)]
    read = files_in([args.tokenizer, args.chat_template])
    refuse_overwriting_in(Path(args.folder), written, read)
    roles = roles_of(args)
    done = export(Tokenizer.load(args.tokenizer), args.folder, args.format, roles)
    seconds = round(time.monotonic() - began, 2)
    if args.json:
        facts = {"files": done.files, "added": done.added, "left_out": done.left_out}
        rows = [dataclasses.asdict(row) for row in done.verification.rows]
        missing = done.verification.missing
        more = {"seconds": seconds, "verified": rows, "missing": missing}
        print_line(json.dumps({"folder": args.folder, **facts, **more}))
        return
    console = new_console()
    console.print(f"{args.folder}: {', '.join(done.files)} in {seconds:,.1f} s")
    for note in done.notes():
        console.print(note)
    show_verification(done.verification)
