"""From a corpus and options to the text that training reads: here, or on a cluster."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..common.progress import Progress
from ..common.sizes import parse_size
from ..corpus import Corpus
from ..corpus.curate import find_thresholds
from ..recipe import Recipe
from .local import Keeping, LocalText
from .reading import Room
from .text import TrainingText, refuse_rereading
from .work import Work

ENGINES = ("local", "ray")
# Choice: without a limit, a table that takes more goes on in temporary files, which costs little.
_TABLE = 1 << 29
_LEAST = 512_000_000  # the program, the sketches of pairs and the smallest useful tables


def shares_of(memory: int | str | None) -> tuple[int, int]:
    """How many bytes of memory the documents may take, and how many a table."""
    if memory is None:
        return Keeping.documents, _TABLE
    most = parse_size(memory, "memory")
    if most < _LEAST:
        raise ValueError(f"memory={memory!r}: training needs at least {_LEAST // 10**6} MB")
    # Choice: a quarter for a table, of which two may be there at a time; the merge loop and what it
    # is made from take the most of the rest.
    return most // 16, most // 4


@contextlib.contextmanager
def keeping_for(
    memory: int | str | None, threads: int, folder: Path | None = None, *, reread: bool = False
) -> Iterator[Keeping]:
    """How documents and tables share the memory; files go to `folder`, or to a temporary one."""
    with contextlib.ExitStack() as stack:
        if folder is None:
            name = stack.enter_context(tempfile.TemporaryDirectory(prefix="supratok-"))
        else:
            name = str(folder)
        documents, table = shares_of(memory)
        yield Keeping(documents, Room(table, name, threads), reread)


@contextlib.contextmanager
def open_text(
    corpus: Corpus,
    recipe: Recipe,
    options: Mapping[str, Any],
    threads: int,
    progress: Progress,
    *,
    hold_out: float,
    memory: int | str | None = None,
    work: str | os.PathLike[str] | None = None,
    keep_work: bool = False,
    reread: bool = False,
    engine: str = "local",
    address: str | None = None,
    target: str | None = None,
) -> Iterator[TrainingText]:
    """The training text of a corpus that was opened with these options. `target`: the identity of
    the target text, since it decides too."""
    if engine not in ENGINES:
        raise ValueError(f"engine={engine!r}: must be one of {', '.join(ENGINES)}")
    if engine == "ray":
        if work is not None:
            raise ValueError("work: the engine 'ray' keeps no work; leave it out")
        from .ray import RayText, start_ray
        from .tally import parts_of

        refuse_rereading(recipe)
        start_ray(address)
        curation = recipe.curation and find_thresholds(corpus, recipe.curation, threads, progress)
        corpus.find_sample(threads, progress)
        with keeping_for(memory, threads) as keeping:
            parts = parts_of(corpus, options, curation, hold_out)
            yield RayText(parts, progress, room=keeping.tables)
        return
    if address is not None:
        raise ValueError(f"address={address!r}: only the engine 'ray' has one; pass engine='ray'")
    if work is None:
        with keeping_for(memory, threads, reread=reread) as keeping:
            yield LocalText(
                corpus, recipe.curation, threads, progress, hold_out=hold_out, keeping=keeping
            )
        return
    if reread:
        raise ValueError("reread with work: the work folder keeps the documents; choose one")
    files = {str(name): known for name, *known in corpus.identity()}
    run = {
        "recipe": recipe.to_dict(),
        "files": files,
        "order": list(files),
        "reading": {name: value for name, value in options.items() if value is not None},
        "hold_out": hold_out,
        **({} if target is None else {"target": target}),
    }
    with Work(Path(work), run) as kept, keeping_for(memory, threads, Path(work)) as keeping:
        yield LocalText(
            corpus, recipe.curation, threads, progress,
            hold_out=hold_out, keeping=keeping, work=kept,
        )  # fmt: skip
        if not keep_work:
            kept.clear()
