import os

import pytest


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test writes hundreds of shards, and the machine does not lose its power."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
