"""Work in other threads, while the caller goes on.

behind(read(files), write)         # the caller reads, another thread writes what was read
for ids in ahead(encode(texts)):   # the next ids are made while these are used

Two items wait at most between two threads. Exceptions pass, both ways. The caller of `behind` alone
reads, since only the main thread is interrupted by Ctrl-C while it waits for a slow source; the
threads wait for nobody else.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Generator, Iterator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_DEPTH = 2


class _End:
    """After the last item; with the error, if one ended the work."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


_Queue: TypeAlias = "queue.Queue[T | _End]"


def _taken(ready: _Queue[T]) -> Generator[T, None, None]:
    while not isinstance(item := ready.get(), _End):
        yield item
    if item.error is not None:
        raise item.error


def _put(ready: _Queue[T], item: T | _End, unwanted: threading.Event) -> None:
    """Wait for room, as long as anybody wants the item."""
    while not unwanted.is_set():
        with contextlib.suppress(queue.Full):
            ready.put(item, timeout=0.1)
            return


def _feed(items: Generator[T, None, None], ready: _Queue[T], unwanted: threading.Event) -> None:
    """Make the items and put them, then the end."""
    end = _End()
    try:
        with contextlib.closing(items):
            for item in items:
                _put(ready, item, unwanted)
                if unwanted.is_set():
                    break
    except BaseException as error:
        end = _End(error)
    _put(ready, end, unwanted)


def ahead(items: Generator[T, None, None]) -> Generator[T, None, None]:
    """The same items, made by another thread. Closing this generator ends that thread."""
    ready: _Queue[T] = queue.Queue(_DEPTH)
    unwanted = threading.Event()
    thread = threading.Thread(target=_feed, args=(items, ready, unwanted))
    thread.start()
    try:
        yield from _taken(ready)
    finally:
        unwanted.set()
        thread.join()


def behind(items: Generator[T, None, None], work: Callable[[Iterator[T]], R]) -> R:
    """The result of work(items) in another thread, where this thread makes the items."""
    ready: _Queue[T] = queue.Queue(_DEPTH)
    ended = threading.Event()
    results: list[R] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work(_taken(ready)))
        except BaseException as error:
            errors.append(error)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    _feed(items, ready, ended)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
