"""`supratok play`: a page on this machine to see tokenization as one types.

supratok play my.json
supratok play my.json plain.json o200k_base.tiktoken --price 2.50
"""

from __future__ import annotations

import argparse
import math
import secrets
import sys
import webbrowser

from ..pages.card import Card, open_cards
from ..pages.listen import LOOPBACK, listening, names_of, serve
from ..pages.server import Playground, make_app
from ..tokenizer.inputs import naming
from .common import ANY_TOKENIZER, add_reading_arguments
from .summary import summary_of
from .uses import uses_in

NOTES = "The page is for you alone: its address holds a key, and nothing leaves this machine."


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(interrupted="the playground has ended")
    add = command.add_argument
    add("files", nargs="+", metavar="TOKENIZER", help=ANY_TOKENIZER)
    add("--port", type=int, default=0, metavar="N", help="the port (default: 0, one that is free)")
    add(
        "--host",
        default=LOOPBACK,
        metavar="ADDRESS",
        help="listen on another address of this machine, such as 0.0.0.0 for all of them: then"
        f" others in the network can reach the page (default: {LOOPBACK}, this machine alone)",
    )
    add("--no-browser", action="store_true", help="only print the address")
    add(
        "--price",
        type=float,
        default=2.5,
        metavar="PRICE",
        help="the price of a million tokens, to begin with (default: 2.5)",
    )
    add(
        "--corpus",
        nargs="+",
        metavar="FILES",
        help="sort the vocabulary by how often these files use each token (default: by the counts"
        " of training)",
    )
    add_reading_arguments(command)


def run(args: argparse.Namespace) -> None:
    if not (math.isfinite(args.price) and args.price >= 0):
        raise ValueError(f"--price {args.price}: must be 0 or more")
    cards = open_cards(args.files)
    summaries = [_summary(card, path) for card, path in zip(cards, args.files, strict=True)]
    uses = uses_in(args, [card.peer for card in cards])[0] if args.corpus else []
    playground = Playground(cards, uses)
    key = secrets.token_urlsafe(24)
    with listening(args.host, args.port) as (socket, port):
        names = names_of(args.host, port)
        app = make_app(
            playground, key, names, args.host != LOOPBACK, summaries=summaries, price=args.price
        )
        address = f"http://{args.host if ':' not in args.host else f'[{args.host}]'}:{port}/{key}/"
        _announce(address, args)
        serve(app, socket)


def _summary(card: Card, path: str) -> list[str]:
    """The passes of the training in words; the report of a damaged file may hold anything."""
    with naming(path):
        return list(summary_of(card.ours)) if card.ours else []


def _announce(address: str, args: argparse.Namespace) -> None:
    print(f"The playground is at {address}", flush=True)
    print("Ctrl-C ends it.", file=sys.stderr)
    if args.host != LOOPBACK:
        print(
            f"warning: --host {args.host}: whoever in the network learns this address can use the"
            " page, and read what is sent, since it is not encrypted",
            file=sys.stderr,
        )
    if not args.no_browser and sys.stdout.isatty():
        webbrowser.open(address)
