"""The optional packages that a command line needs, so that it fails before its work, not after.

What a command finds out from the content of files, such as the format of a tokenizer, it checks
itself when it opens them, which it does first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from ..common.packages import require

Needs = Iterator[tuple[str, str]]  # the extra, and a package of it


def check_needs(verb: str, args: argparse.Namespace) -> None:
    """Raise an ImportError that names every missing package and the command that installs them."""
    if verb in _NEEDS:
        needed = list(dict.fromkeys(_NEEDS[verb](args)))
        for extra in dict.fromkeys(extra for extra, _ in needed):
            require(extra, *(name for other, name in needed if other == extra))


def _bench(args: argparse.Namespace) -> Needs:
    from ..lab.baselines import BASELINES

    if args.estimate:
        return
    for name in args.tokenizers:
        if name in BASELINES:
            yield from (("lab", package) for package in BASELINES[name].packages)
    if len(set(args.sizes)) > 1:
        yield "lab", "matplotlib"  # a picture over the sizes
    yield "lab", "jinja2"  # the report


def _curate(args: argparse.Namespace) -> Needs:
    if args.picture:
        yield "lab", "matplotlib"


def _export(args: argparse.Namespace) -> Needs:
    for name in args.format or []:
        if name == "sentencepiece":
            yield "export", "sentencepiece"
            yield "export", "protobuf"
        if name == "gguf":
            yield "export", "gguf"


def _extend(args: argparse.Namespace) -> Needs:
    yield "extend", "tokenizers"


def _graft(args: argparse.Namespace) -> Needs:
    yield "export", "gguf"


def _inspect(args: argparse.Namespace) -> Needs:
    if args.html is not None:
        yield "play", "jinja2"


def _play(args: argparse.Namespace) -> Needs:
    yield from (("play", name) for name in ("starlette", "uvicorn", "jinja2"))


def _report(args: argparse.Namespace) -> Needs:
    yield "lab", "jinja2"


def _show(args: argparse.Namespace) -> Needs:
    if args.html is not None:
        yield "play", "jinja2"


def _tokenize(args: argparse.Namespace) -> Needs:
    if args.output_format == "parquet":
        yield "parquet", "pyarrow"


def _tune(args: argparse.Namespace) -> Needs:
    yield from (("lm", name) for name in ("torch", "optuna", "filelock", "tokenizers"))
    yield "lm", "matplotlib"  # pictures of the search
    yield "lm", "jinja2"  # the report


_NEEDS: dict[str, Callable[[argparse.Namespace], Needs]] = {
    "bench": _bench,
    "curate": _curate,
    "export": _export,
    "extend": _extend,
    "graft": _graft,
    "inspect": _inspect,
    "play": _play,
    "report": _report,
    "show": _show,
    "tokenize": _tokenize,
    "tune": _tune,
}
