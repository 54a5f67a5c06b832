"""`supratok completion`: print the script that completes commands, options and values with Tab.

source <(supratok completion bash)                    # in ~/.bashrc
source <(supratok completion zsh)                     # in ~/.zshrc, after compinit
supratok completion fish > ~/.config/fish/completions/supratok.fish

The script is made from the parsers of the command itself, and runs nothing of supratok.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .common import print_line
from .main import VERBS, parser_of

_FILES = {"FILE", "FILES", "FOLDER", "MODEL", "PATH", "TOKENIZER"}  # metavars that mean paths


class Option(NamedTuple):
    """An option, or a positional argument, which has no flags."""

    flags: tuple[str, ...]
    help: str
    takes: bool  # a value
    choices: tuple[str, ...]
    files: bool  # the value is a path
    repeats: bool


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.description = (
        "Print the script that completes commands in your shell. To use it:\n\n"
        "  source <(supratok completion bash)      in ~/.bashrc\n"
        "  source <(supratok completion zsh)       in ~/.zshrc, after compinit\n"
        "  supratok completion fish > ~/.config/fish/completions/supratok.fish"
    )
    command.add_argument("shell", choices=list(_SCRIPTS), help="the shell to write the script for")


def run(args: argparse.Namespace) -> None:
    commands = {verb: options_of(command) for verb, command in command_parsers().items()}
    print_line(_SCRIPTS[args.shell](commands))


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each verb with all its arguments. argparse has no public way to ask for it."""
    parser = parser_of(VERBS)
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return dict(commands.choices)


def options_of(command: argparse.ArgumentParser) -> list[Option]:
    return [_option(action) for action in command._actions]


def _option(action: argparse.Action) -> Option:
    names = action.metavar if isinstance(action.metavar, tuple) else (action.metavar or "",)
    return Option(
        flags=tuple(action.option_strings),
        help=" ".join(((action.help or "") % vars(action)).split()),
        takes=action.nargs != 0,
        choices=tuple(map(str, action.choices or ())),
        files=action.type is Path or any(name.split(".")[0] in _FILES for name in names),
        repeats=isinstance(action, argparse._AppendAction) or action.nargs in ("+", "*"),
    )


Commands = dict[str, list[Option]]


# --- bash: without a proposal of ours it completes file names ----------------------------------

_BASH = """\
# Completion of supratok for bash: source <(supratok completion bash)
_supratok() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    local verb="" word words=""
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$word" in
        -* | help) ;;
        *) verb="$word"; break ;;
        esac
    done
    case "$verb" in
    "") words="{verbs} help --help --version" ;;
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o bashdefault -o default -F _supratok supratok"""


def bash(commands: Commands) -> str:
    return _BASH.format(verbs=" ".join(commands), cases="\n".join(_bash_cases(commands)))


def _bash_cases(commands: Commands) -> Iterator[str]:
    for verb, options in commands.items():
        yield f"    {verb})"
        yield '        case "$previous" in'
        taking = [option for option in options if option.flags and option.takes]
        for option in taking:
            if option.choices:
                words = " ".join(option.choices)
                yield f'        {" | ".join(option.flags)}) words="{words}" ;;'
        if others := [flag for option in taking if not option.choices for flag in option.flags]:
            yield f"        {' | '.join(others)}) ;;"
        flags = " ".join(flag for option in options for flag in option.flags)
        values = " ".join(word for o in options if not o.flags for word in o.choices)
        yield f'        *) [[ "$current" == -* ]] && words="{flags}" || words="{values}" ;;'
        yield "        esac ;;"


# --- zsh ---------------------------------------------------------------------------------------

_ZSH = """\
#compdef supratok
# Completion of supratok for zsh: source <(supratok completion zsh), after compinit
_supratok() {{
    local -a commands
    commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe 'command' commands
        return
    fi
    local verb="$words[2]"
    shift words
    (( CURRENT-- ))
    case "$verb" in
{cases}
    esac
}}
if [ "$funcstack[1]" = "_supratok" ]; then
    _supratok "$@"
else
    compdef _supratok supratok
fi"""


def zsh(commands: Commands) -> str:
    shown = "\n".join(f"        {_quoted(f'{verb}:{what}')}" for verb, what in VERBS.items())
    return _ZSH.format(commands=shown, cases="\n".join(_zsh_cases(commands)))


def _zsh_cases(commands: Commands) -> Iterator[str]:
    for verb, options in commands.items():
        yield f"    {verb})"
        yield "        _arguments \\"
        lines = [_quoted(_zsh_spec(option, flag)) for option in options for flag in option.flags]
        values = [word for option in options if not option.flags for word in option.choices]
        rest = f"*:value:({' '.join(values)})" if values else "*:file:_files"
        yield " \\\n".join(f"            {line}" for line in [*lines, _quoted(rest)])
        yield "        ;;"


def _zsh_spec(option: Option, flag: str) -> str:
    """--preset[start from this recipe]:value:(default dense paper)"""
    said = re.sub(r"([\[\]:\\])", r"\\\1", option.help)
    spec = f"{'*' if option.repeats else ''}{flag}[{said}]"
    if not option.takes:
        return spec
    if option.choices:
        return f"{spec}:value:({' '.join(option.choices)})"
    return f"{spec}:value:{'_files' if option.files else ' '}"


# --- fish --------------------------------------------------------------------------------------


def fish(commands: Commands) -> str:
    lines = ["# Completion of supratok for fish, for ~/.config/fish/completions/supratok.fish"]
    for flag, said in (("help", "show the help and exit"), ("version", "print the version")):
        lines.append(f"complete -c supratok -n __fish_use_subcommand -f -l {flag} -d {_fish(said)}")
    for verb, options in commands.items():
        said = _fish(VERBS[verb])
        lines.append(f"complete -c supratok -n __fish_use_subcommand -f -a {verb} -d {said}")
        when = f"complete -c supratok -n '__fish_seen_subcommand_from {verb}'"
        lines += [f"{when}{_fish_option(option)}" for option in options]
    return "\n".join(lines)


def _fish_option(option: Option) -> str:
    names = "".join(
        f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" for flag in option.flags
    )
    if option.choices:
        value = f" -x -a {_fish(' '.join(option.choices))}"
    elif option.flags and option.takes:
        value = " -r -F" if option.files else " -x"
    else:
        value = "" if option.flags else " -F"
    return f"{names}{value} -d {_fish(option.help)}"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


_SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}
