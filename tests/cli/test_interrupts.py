"""Ctrl-C at any moment: one line, exit code 130, no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Sends Ctrl-C to itself when a module is about to be imported, and runs the command as the script
# that pip installs does.
SCRIPT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores Ctrl-C
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = {argv!r}
from supratok.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    "module",
    [
        "supratok.corpus",
        "supratok.common._core",
        "supratok.tokenizer",
        "supratok.cli",
        "supratok.cli.main",
        "argparse",
        "supratok.cli.needs",
        "supratok.cli.inspect",
        "rich",
        "rich.console",
        "numpy",
    ],
)
def test_ctrl_c_while_a_module_is_imported(module: str, tmp_path: Path) -> None:
    argv = [str(tmp_path / "bin" / "supratok"), "inspect", "absent.json"]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(module=module, argv=argv)],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == b"interrupted\n"
    assert (done.returncode, done.stdout) == (130, b"")


def test_the_library_leaves_the_signal_alone() -> None:
    code = "import signal; before = signal.getsignal(2); import supratok"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print(signal.getsignal(2) is before)"],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == b"True\n"


def test_an_ignored_ctrl_c_stays_ignored(tmp_path: Path) -> None:
    """Shells start programs in the background that way."""
    code = (
        "import signal, sys; signal.signal(2, signal.SIG_IGN); sys.argv = ['supratok', '--version']"
        "\ntry:\n import supratok.cli.main as m; m.main()\n"
        "finally: print(signal.getsignal(2) is signal.SIG_IGN)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=True, cwd=tmp_path
    )
    assert done.stdout.endswith(b"True\n")
