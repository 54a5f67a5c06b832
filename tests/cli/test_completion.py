"""`supratok completion`: real shells complete with it, where they are installed."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from commands import good
from supratok.cli.completion import bash, command_parsers, fish, options_of, zsh
from supratok.cli.main import VERBS


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    return {shell: good("completion", shell).decode() for shell in ("bash", "zsh", "fish")}


def completed(script: str, *words: str) -> list[str]:
    """What bash proposes for the last word."""
    line = " ".join(map(shlex.quote, ["supratok", *words]))
    code = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _supratok\n"
    done = subprocess.run(
        ["bash", "--norc", "-c", code + 'printf "%s\\n" "${COMPREPLY[@]}"'],
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode().split()


def test_bash_completes(scripts: dict[str, str]) -> None:
    script = scripts["bash"]
    assert completed(script, "") == [*VERBS, "help", "--help", "--version"]
    assert completed(script, "com") == ["compare", "completion"]
    assert completed(script, "help", "tr") == ["train"]
    assert completed(script, "train", "--pre") == ["--preset"]
    assert completed(script, "train", "c.txt", "--preset", "d") == ["default", "dense"]
    assert completed(script, "completion", "") == ["bash", "zsh", "fish"]
    # No proposals of ours: bash proposes file names.
    assert completed(script, "train", "") == []
    assert completed(script, "train", "--out", "") == []
    assert completed(script, "nonsense", "") == []


def test_bash_knows_every_option_of_every_verb(scripts: dict[str, str]) -> None:
    for verb, command in command_parsers().items():
        flags = [flag for option in options_of(command) for flag in option.flags]
        assert completed(scripts["bash"], verb, "-") == flags


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_accepts_its_script(shell: str, scripts: dict[str, str], tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(scripts[shell], encoding="utf-8")
    subprocess.run([shell, "-n", path], check=True, timeout=30)


def test_zsh_has_a_specification_of_every_option(scripts: dict[str, str]) -> None:
    """By its words: each option as --flag[help]:value:choices."""
    cases = scripts["zsh"].partition('case "$verb" in')[2].partition("    esac")[0]
    for verb, command in command_parsers().items():
        case = cases.partition(f"    {verb})\n")[2].partition("        ;;")[0]
        first, *words, last = shlex.split(case.replace("\\\n", " "))
        assert first == "_arguments" and last.startswith("*:")
        options = [(option, flag) for option in options_of(command) for flag in option.flags]
        assert len(words) == len(options)
        for word, (option, flag) in zip(words, options, strict=True):
            assert word.removeprefix("*").startswith(f"{flag}[")
            said, _, value = word.partition("[")[2].rpartition("]")
            assert "]" not in said.replace("\\]", "") and ":" not in said.replace("\\:", "")
            assert bool(value) == option.takes
            if option.choices:
                assert value == f":value:({' '.join(option.choices)})"


def fish_words(line: str) -> list[str]:
    """As fish reads it: in single quotes, a backslash stands before a quote and itself only."""
    words = re.findall(r"'((?:[^'\\]|\\['\\])*)'|(\S+)", line)
    return [re.sub(r"\\(['\\])", r"\1", quoted) if quoted else bare for quoted, bare in words]


def test_fish_has_a_line_for_every_option(scripts: dict[str, str]) -> None:
    lines = [fish_words(line) for line in scripts["fish"].splitlines()[1:]]
    assert all(line[:4] == ["complete", "-c", "supratok", "-n"] for line in lines)
    for verb, command in command_parsers().items():
        own = [line for line in lines if line[4] == f"__fish_seen_subcommand_from {verb}"]
        assert len(own) == len(options_of(command))
        for line, option in zip(own, options_of(command), strict=True):
            for flag in option.flags:
                assert line[line.index("-l" if flag.startswith("--") else "-s") + 1] == flag.lstrip(
                    "-"
                )
            assert ("-x" in line or "-r" in line) == bool(
                option.choices or (option.flags and option.takes)
            )
            assert line[-2] == "-d" and line[-1] == option.help
    verbs = [line[line.index("-a") + 1] for line in lines if line[4] == "__fish_use_subcommand"
             and "-a" in line]  # fmt: skip
    assert verbs == list(VERBS)


def test_a_help_with_signs_of_the_shell_does_no_harm() -> None:
    command = argparse.ArgumentParser()
    command.add_argument("--odd", help='it\'s [a]: "b" `touch x` $(touch y) \\ 100%%')
    commands = {"train": options_of(command)}
    assert completed(bash(commands), "train", "--o") == ["--odd"]
    assert r"it'\''s \[a\]\: " in zsh(commands)
    assert "it\\'s [a]: " in fish(commands) and " \\\\ 100%'" in fish(commands)
