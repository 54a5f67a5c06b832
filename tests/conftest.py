"""Machines are shared and noisy: no example of a property test fails for being slow, and models
take one thread (`pytestmark = pytest.mark.usefixtures("one_thread")`)."""

import os
import signal

import pytest
from hypothesis import settings

from browser import chromium, page_of

__all__ = ["chromium", "page_of"]  # fixtures

# The core reports what it leaks at exit, for tests alone. It reads this when it loads.
os.environ["SUPRATOK_LEAK_WARNINGS"] = "1"

# A background job ignores Ctrl-C, and so would the commands that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("supratok", deadline=None)
settings.load_profile("supratok")


@pytest.fixture(scope="module")
def one_thread() -> None:
    import torch  # which most tests do without

    torch.set_num_threads(1)


@pytest.fixture
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that write hundreds of files: the machine does not lose its power."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
