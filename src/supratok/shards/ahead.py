"""Run an iterator in a thread of its own, a few items ahead of whoever takes them.

for batch in ahead(read(files)):       # the next batch is being read
    encode(batch)
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")

_DEPTH = 2  # items that wait: one is taken while the next is made


def ahead(items: Generator[T, None, None]) -> Generator[T, None, None]:
    """The same items, in order. An exception of the iterator comes out where its item would have.
    Closing this generator ends the thread, and closes the iterator."""
    ready: queue.Queue[T | _End] = queue.Queue(_DEPTH)
    stopped = threading.Event()

    def work() -> None:
        end = _End()
        try:
            with contextlib.closing(items):
                for item in items:
                    if stopped.is_set():
                        return
                    ready.put(item)
        except BaseException as error:
            end = _End(error)
        ready.put(end)

    thread = threading.Thread(target=work, name="supratok-ahead", daemon=True)
    thread.start()
    try:
        while not isinstance(item := ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        while thread.is_alive():  # it may wait to put an item that nobody takes
            with contextlib.suppress(queue.Empty):
                ready.get(timeout=0.02)
        thread.join()


class _End:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
