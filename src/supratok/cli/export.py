"""`supratok export`: a folder that transformers, vLLM, SentencePiece and llama.cpp open.

supratok export my.json my-model --eos '</s>' --pad '<pad>'
supratok export my.json my-model --format huggingface --chat-template chat.jinja
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from pathlib import Path

from ..formats.export import FORMATS, export
from ..formats.listing import Roles
from ..tokenizer import Tokenizer
from .common import put
from .show import new_console
from .verify import show_verification


def add_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="interrupted, nothing was written")
    add = command.add_argument
    add("tokenizer", metavar="TOKENIZER", help="a supratok file")
    add("folder", metavar="FOLDER", help="to write to; other files in it stay")
    add(
        "--format",
        action="append",
        choices=list(FORMATS),
        help="may be repeated; all that apply, unless said",
    )
    role_options(command)
    add("--json", action="store_true", help="the result as JSON")


def role_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    for role, what in (
        ("bos", "begins a text"),
        ("eos", "ends a text"),
        ("pad", "fills up a batch"),
        ("unk", "stands for the unknown, which does not occur"),
    ):
        add(f"--{role}", metavar="T", help=f"the special token that {what}")
    add("--add-bos", action="store_true", help="put bos before each text")
    add("--add-eos", action="store_true", help="put eos after each text")
    add("--chat-template", type=Path, metavar="FILE", help="in Jinja, as transformers reads it")


def roles_of(args: argparse.Namespace) -> Roles:
    given = {role: getattr(args, role) for role in ("bos", "eos", "pad", "unk")}
    template = args.chat_template.read_text(encoding="utf-8") if args.chat_template else None
    return Roles(**given, add_bos=args.add_bos, add_eos=args.add_eos, chat_template=template)


def run(args: argparse.Namespace) -> None:
    began = time.monotonic()
    done = export(Tokenizer.load(args.tokenizer), args.folder, args.format, roles_of(args))
    seconds = round(time.monotonic() - began, 2)
    if args.json:
        facts = {"files": done.files, "left_out": done.left_out, "seconds": seconds}
        rows = [dataclasses.asdict(row) for row in done.verification.rows]
        missing = done.verification.missing
        put(json.dumps({"folder": args.folder, **facts, "verified": rows, "missing": missing}))
        return
    console = new_console()
    console.print(f"{args.folder}: {', '.join(done.files)} in {seconds:,.1f} s")
    for name, reason in done.left_out.items():
        console.print(f"{name} was left out: {reason}")
    show_verification(done.verification)
