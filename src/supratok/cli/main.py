"""The command `supratok`: the table of its verbs, the parser, errors and exit codes.

Each verb has a module with `add_arguments(command)` and `run(args)`, and perhaps `NOTES` for the
end of its help. `main` imports it only if the command line names the verb. Results go to standard
output, as UTF-8 on any terminal; progress and notes go to standard error.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Collection
from typing import Any

from ..common.interrupts import INTERRUPTED, raise_again

EXIT_CODES = (
    "Exit codes: 0 success, 1 error, 2 wrong usage, 130 interrupted (Ctrl-C), 141 broken pipe,"
    " 143 terminated."
)

VERBS = {
    "train": "learn a tokenizer from text",
    "encode": "convert text to ids",
    "decode": "convert ids back to text, byte for byte",
    "count": "count the tokens of files",
    "tally": "count what training needs from a part of the text, into a file",
    "merge": "add the files of tally up",
    "tokenize": "write a corpus as files of ids that trainers read",
    "play": "try tokenizers on a page in the browser, as you type",
    "show": "show the tokens of a text, in the terminal or on a page to send around",
    "inspect": "show the recipe, the tokens and the training of a tokenizer",
    "compare": "compare tokenizers on a file",
    "boundaries": "tell how often prompts end inside tokens, and what it takes to be exact",
    "curate": "sort documents by entropy and keep a share of them",
    "mine": "list the phrases of a corpus whose words belong together",
    "prune": "drop the least useful tokens of a tokenizer",
    "refine": "swap tokens for others that save more",
    "export": "write a folder for transformers, SentencePiece and llama.cpp",
    "verify": "check that every installed runtime gives the same ids",
    "graft": "replace the tokenizer of a GGUF model by ours",
    "import": "convert a tokenizer of another program, with its ids",
    "extend": "add phrases as new tokens to a Hugging Face tokenizer",
    "bench": "train and measure tokenizers on your corpus",
    "tune": "search for the recipe with the best score on your corpus",
    "report": "collect the tables and pictures of runs in one page",
    "doctor": "check the installation: versions, extras, cores, memory",
    "completion": "print the script that completes commands in your shell",
}
_MODULES = {"import": "importing"}  # the others have the name of their verb


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    args = argparse.Namespace(interrupted="interrupted")
    if argv is None:  # the command itself, and not a program that calls it
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # removes temporary files first
    try:
        raise_again()
        _parse(sys.argv[1:] if argv is None else argv, args)
        _run(args)
        sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        return _stop(args.interrupted, INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 141
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return _stop(f"supratok: error: {what}", 1)
    except MemoryError as error:
        why = f" ({error})" if str(error) else ""
        return _stop(f"supratok: error: not enough memory{why}; use less text or fewer threads", 1)
    except (ValueError, ImportError) as error:
        return _stop(f"supratok: error: {' '.join(str(error).split())}", 1)


def _run(args: argparse.Namespace) -> None:
    from .needs import check_needs

    check_needs(args.verb, args)
    args.run(args)


def _stop(line: str, code: int) -> int:
    print(line, file=sys.stderr)
    return code


def _parse(argv: list[str], args: argparse.Namespace) -> None:
    """Files may also follow options, which argparse alone refuses: encode T --lines F."""
    if argv[:1] == ["help"]:
        argv = [*argv[1:2], "--help"]
    verb = next((word for word in argv if not word.startswith("-")), None)
    parser = parser_of([verb])
    if not argv:
        parser.print_help(sys.stderr)
        parser.exit(2)
    if verb is not None and verb not in VERBS:
        parser.error(_unknown(verb))
    _, rest = parser.parse_known_args(argv, args)
    if rest and ("files" not in args or any(word.startswith("-") and word != "-" for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        args.files += rest


def _unknown(verb: str) -> str:
    import difflib

    near = difflib.get_close_matches(verb, VERBS, n=1)
    meant = f"did you mean {near[0]}?" if near else "`supratok --help` lists the commands"
    return f"there is no command {verb!r}; {meant}"


def parser_of(chosen: Collection[str | None]) -> argparse.ArgumentParser:
    """All verbs with their help; only the chosen ones with their arguments, which are slow to
    import."""
    parser = argparse.ArgumentParser(
        prog="supratok",
        description="Tokenizers whose tokens cross word boundaries. `supratok COMMAND --help`"
        " describes a command.",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for verb, what in VERBS.items():
        command = commands.add_parser(
            verb, help=what, description=f"{what[0].upper()}{what[1:]}.", epilog=EXIT_CODES
        )
        if verb in chosen:
            module = importlib.import_module(f".{_MODULES.get(verb, verb)}", __package__)
            if notes := getattr(module, "NOTES", ""):
                command.epilog = f"{notes} {EXIT_CODES}"
            command.set_defaults(run=module.run, verb=verb, interrupted="interrupted")
            module.add_arguments(command)
    return parser


class _Version(argparse.Action):
    """Like argparse's action "version", but looks the version up only when asked."""

    def __init__(self, option_strings: list[str], dest: str, help: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from .. import __version__

        print(f"supratok {__version__}")
        parser.exit()
