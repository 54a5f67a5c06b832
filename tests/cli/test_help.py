"""Every argument of every command says what it is, and what happens without it."""

from __future__ import annotations

import argparse

import pytest

from supratok.cli.completion import command_parsers
from supratok.cli.main import VERBS

ARGUMENTS = [
    pytest.param(action, id=f"{verb} {'/'.join(action.option_strings) or action.dest}")
    for verb, command in command_parsers().items()
    for action in command._actions
]


def test_every_verb_is_walked() -> None:
    assert command_parsers().keys() == VERBS.keys()
    assert len(ARGUMENTS) > 150


@pytest.mark.parametrize("action", ARGUMENTS)
def test_an_argument_has_help_with_its_default(action: argparse.Action) -> None:
    said = action.help or ""
    assert len(said.split()) >= 2, "say what it is"
    assert not said.endswith("."), "no full stop: argparse's own help has none"
    optional = action.option_strings and action.nargs != 0 and not action.required
    assert not optional or "(default: " in said, "name the default"
    default = action.default
    if optional and default is not None and not isinstance(default, list):
        shown = f"{default:,}" if isinstance(default, int) else str(default)
        assert f"(default: {shown}" in said or f"(default: {default}" in said
