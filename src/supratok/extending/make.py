"""Add phrases as new tokens to a Hugging Face tokenizer; all of its ids stay.

    extension = extend("gpt2-folder", "corpus/*.jsonl.zst", add=20_000, out="longer")
    tokenizer = AutoTokenizer.from_pretrained("longer")
    start_embeddings(model, "longer")        # each new row is the mean of the rows it replaces

The promise: expand each new id and you get the base's encoding, for any text. So text without
phrases encodes as before.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..common.packages import package
from ..common.progress import Progress, make_progress
from ..corpus import Source, open_corpus
from ..formats.huggingface.document import Document
from ..recipe import Boundaries, Recipe, Screen
from ..tokenizer import usable_threads
from .base import Base, open_base
from .check import compare, hostile
from .extension import Extension, NewToken, check_folder, config_of, stale_files, write
from .learn import Learnt, learn


def extend(
    base: str | os.PathLike[str],
    documents_or_paths: Source,
    add: int,
    out: str | os.PathLike[str],
    *,
    boundaries: Boundaries | None = None,
    min_count: int = 10,
    min_documents: int = 10,
    threads: int | None = None,
    progress: bool | Progress = True,
    **reading: Any,
) -> Extension:
    """Learn up to `add` phrases from the documents, and write the longer tokenizer to the folder
    `out`, which must be new or empty.

    `base` is a folder with a tokenizer.json, such a file, or a supratok file. A phrase occurs
    `min_count` times, in `min_documents` documents (in a small corpus: one of a hundred), and keeps
    to the `boundaries`: how many words and bytes it may have, and whether it may cross the end of a
    sentence or a colon. No phrase holds a number. `reading`: see `open_corpus`."""
    package("tokenizers", "extend")  # or an error before any work
    if add < 1:
        raise ValueError(f"add={add}: must be at least 1")
    check_folder(Path(out))
    opened, workers = open_base(base), usable_threads(threads)
    config_of(opened)  # a damaged one fails now
    screen = Screen(min_pmi=0.0, min_count=1, min_documents=min_documents)
    rules = replace(boundaries or Boundaries(), numbers_in_phrases=False)
    recipe = Recipe(vocab_size=1 << 20, boundaries=rules, screen=screen, min_count=min_count)
    with open_corpus(documents_or_paths, **reading) as corpus, make_progress(progress) as shown:
        learnt = learn(opened, corpus, add, recipe, workers, shown)
        if not learnt.merges:
            raise ValueError(
                f"no phrase occurs {min_count} times; pass more text, or lower min_count"
            )
        document = opened.with_merges(learnt.merges)
        extension = _extension(opened, document, learnt)
        shown.start("checking")
        compare(opened, document, extension, hostile(opened, extension))
        held_out = compare(opened, document, extension, learnt.split.measuring_texts())
        shown.end(**held_out)
    report = _report(learnt, held_out)
    extension = replace(extension, report=report | {"left_out": stale_files(opened)})
    write(Path(out), opened, document, extension)
    return extension


def _extension(base: Base, document: Document, learnt: Learnt) -> Extension:
    """The new tokens, each with the base ids of its two parts."""
    vocab = document["model"]["vocab"]
    tokens: dict[str, NewToken] = {}

    def parts(text: str) -> list[int]:
        return tokens[text].parts if text in tokens else [vocab[base.spell(text)]]

    for (left, right), count in zip(learnt.merges, learnt.counts, strict=True):
        text = left + right
        if text in tokens:
            tokens[text] = replace(tokens[text], count=tokens[text].count + count)
        else:
            id = vocab[base.spell(text)]
            tokens[text] = NewToken(id, text, parts(left) + parts(right), count)
    versions = {"supratok": __version__, "tokenizers": package("tokenizers", "extend").__version__}
    size = base.first_new_id
    return Extension(base.name, size, list(tokens.values()), versions=versions)


def _report(learnt: Learnt, held_out: dict[str, int]) -> dict[str, Any]:
    totals = learnt.split.totals
    report = learnt.report | {
        "documents": totals.documents,
        "held_out_documents": totals.held_out_documents,
        "characters": totals.characters,
        "skipped": totals.skipped,
    }
    return report | {"held_out": held_out} if held_out["tokens"] else report
