"""`tokenize`: write a corpus as shards of ids for trainers, all at once or in several runs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..common.progress import Progress, make_progress
from ..common.threads import usable_threads
from ..corpus import Corpus, Source, open_corpus
from ..readings.open import ENGINES
from ..tokenizer import Tokenizer
from .encoding import Coding
from .folder import Folder
from .formats import Writer, writer_of
from .group import Group, write_group
from .plan import FORMAT, VERSION, end_token, fingerprint, group_names, stamps
from .ray import write_on_ray

SHARD_TOKENS = 100_000_000


def tokenize(
    documents_or_paths: Source,
    tokenizer: Tokenizer,
    out: str | os.PathLike[str],
    *,
    output_format: str = "numpy",
    eos: str | bool = True,
    shard_tokens: int = SHARD_TOKENS,
    by_file: bool = False,
    restart: bool = False,
    threads: int | None = None,
    progress: bool | Progress = True,
    engine: str = "local",
    address: str | None = None,
    format: str = "auto",
    text_key: str = "text",
    whole_files: bool = False,
    skip_bad: bool = False,
) -> dict[str, Any]:
    """Encode a corpus and write it to the folder `out` as shards that trainers read.

        manifest = supratok.tokenize("corpus/*.jsonl.zst", tokenizer, "shards")

    `output_format` is "numpy" (flat files for numpy.memmap: nanoGPT, OLMo), "megatron"
    (Megatron-LM's indexed dataset) or "parquet" (for `datasets`). After each document comes the
    special token `eos`; with True the one that the tokenizer has under a usual name, with False
    none. Special tokens in a text are text.

    A shard has whole documents and at most `shard_tokens` ids; a longer document is a shard of its
    own. `by_file` begins new shards with each file, under its name. The bytes depend on the corpus,
    the tokenizer and these options alone, not on `threads`.

    With `engine="ray"` and `by_file`, each file is a task of the Ray cluster at `address`, or of
    one that starts here; all its machines must see the corpus and `out` under the same names.

    The same call continues what was interrupted. If the corpus, the tokenizer or an option has
    changed, it raises a ValueError; with `restart` it removes the shards and begins again. The
    corpus and the last four options are those of `train`.

    Returns the manifest, which is also written to manifest.json: the documents, tokens and bytes of
    all shards, and their checksums.
    """
    reading: dict[str, Any] = {
        "format": format,
        "text_key": text_key,
        "whole_files": whole_files,
        "skip_bad": skip_bad,
    }
    if engine not in ENGINES or (engine == "local" and address is not None):
        raise ValueError(
            f"engine={engine!r}, address={address!r}: the engine is one of {', '.join(ENGINES)},"
            " and only ray has an address"
        )
    if engine == "ray" and not by_file:
        raise ValueError("engine='ray': its tasks are whole files; pass by_file=True / --by-file")
    source = documents_or_paths
    if isinstance(source, Iterator):
        source = _Single(source)
    with open_corpus(source, **reading) as corpus:
        files, total = corpus.files, corpus.bytes_total
        run = Run(tokenizer, output_format, eos, shard_tokens, by_file, files, reading)
        coding = run.coding(usable_threads(threads))
        folder = Folder(Path(out))
        with folder.locked(), make_progress(progress) as shown:
            done = folder.begin(run.plan, restart)
            if done is None:
                shown.start("tokenizing", total, "B")
                groups = run.groups(source)
                if engine == "ray":
                    states = write_on_ray(groups, coding, folder, shown, address)
                else:
                    states = _write_groups(groups, coding, folder, shown)
                done = run.plan | _summary(states, corpus)
                folder.finish(done)
                shown.end(documents=done["documents"], tokens=done["tokens"])
            return done


class Run:
    """What a call asks for, checked: its plan, and the groups of shards to write."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        output_format: str,
        eos: str | bool,
        shard_tokens: int,
        by_file: bool,
        files: list[str],
        reading: dict[str, Any],
    ) -> None:
        if shard_tokens < 1:
            raise ValueError(f"shard_tokens={shard_tokens}: must be at least 1")
        self.writer: type[Writer] = writer_of(output_format)
        self._tokenizer, self._files, self._reading = tokenizer, files, reading
        size = tokenizer.vocab_size
        self.plan: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "output_format": output_format,
            "dtype": self.writer.dtype(size),
            "tokenizer": {"sha256": fingerprint(tokenizer), "vocab_size": size},
            "eos": end_token(tokenizer, eos),
            "shard_tokens": shard_tokens,
            "by_file": by_file,
            "reading": reading,
            "corpus": stamps(files),
            "groups": group_names(files, by_file),
        }

    def coding(self, threads: int) -> Coding:
        end = self.plan["eos"]
        return Coding(self._tokenizer, end and end["id"], self.plan["dtype"], threads)

    def groups(self, source: Source) -> list[Group]:
        """The groups of shards, each of which may be written on its own. `source` is read if it has
        no files."""
        inputs: list[Source] = [Path(name) for name in self._files] or [source]
        names, size = self.plan["groups"], self.plan["shard_tokens"]
        parts = [inputs] if not self.plan["by_file"] else [[one] for one in inputs]
        return [
            Group(name, part, self._reading, self.writer, self.plan["dtype"], size)
            for name, part in zip(names, parts, strict=True)
        ]


def _write_groups(
    groups: list[Group], coding: Coding, folder: Folder, progress: Progress
) -> Iterator[dict[str, Any]]:
    before = 0
    for group in groups:
        latest = before

        def at(done: int, before: int = before) -> None:
            nonlocal latest
            latest = before + done
            progress.at(latest)

        yield write_group(group, coding, folder, at)
        before = latest


def _summary(states: Iterable[dict[str, Any]], corpus: Corpus) -> dict[str, Any]:
    """The part of the manifest that is known at the end. Refuses a corpus without a document."""
    from .. import __version__

    shards: list[dict[str, Any]] = []
    skipped = Counter[str]()
    for state in states:
        shards += state["shards"]
        for counts in state["skipped"].values():
            skipped.update(counts)
    if not shards:
        corpus.skipped.update(skipped)
        corpus.refuse_empty()
    return {
        "supratok": __version__,
        "documents": sum(shard["documents"] for shard in shards),
        "tokens": sum(shard["tokens"] for shard in shards),
        "bytes": sum(file["bytes"] for shard in shards for file in shard["files"]),
        "skipped": dict(sorted(skipped.items())),
        "shards": shards,
    }


class _Single:
    """An iterator that is read once: a corpus keeps a copy of those it may have to read again."""

    def __init__(self, items: Iterator[object]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[object]:
        return self._items
