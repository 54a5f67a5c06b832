"""`supratok doctor`: what is installed, what is missing, and whether the base works."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from commands import good
from supratok import Tokenizer, __version__
from supratok.cli import doctor
from supratok.cli.main import main
from supratok.common.packages import EXTRAS


def facts(capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, Any]:
    assert main(["doctor", "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_as_a_user_runs_it() -> None:
    said = good("doctor").decode()
    for part in (f"supratok {__version__} in ", "Python 3.", "cores: ", "memory: ", " free\n"):
        assert part in said
    for extra, gives in EXTRAS.items():
        assert f"{extra}: " in said and gives in said
    assert said.endswith("self-test: training, encoding and decoding work\n")


def test_facts(capsys: pytest.CaptureFixture[str]) -> None:
    found = facts(capsys)
    assert found["cores"] >= 1 and found["disk_free"] > 0
    assert found["packages"].keys() == {"numpy", "rich", "zstandard"}
    assert all(found["packages"].values())
    assert found["extras"].keys() == EXTRAS.keys()
    assert found["problem"] == ""


def test_a_missing_package_and_the_command_that_installs_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    parquet = facts(capsys)["extras"]["parquet"]
    assert parquet["missing"] == ["pyarrow"]
    assert parquet["install"] == 'pip install "pyarrow>=14"'
    assert main(["doctor"]) == 0  # the base works
    said = capsys.readouterr().out
    assert "parquet: missing; for corpora in .parquet files\n  missing: pyarrow\n  pip" in said


def test_a_base_that_does_not_work_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tokenizer, "decode", lambda self, ids: "?")
    assert "another text" in facts(capsys, code=1)["problem"]
    monkeypatch.setattr(doctor, "train", lambda *_, **__: 1 / 0)
    assert "ZeroDivisionError" in facts(capsys, code=1)["problem"]
