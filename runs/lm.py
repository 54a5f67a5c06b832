"""Train models over tokenizers of one corpus, and keep their figures as rows.

    models = Models(args)                               # of lm_jobs.model_options
    rows = models.rows_of([Job("default", 32_000, Setting(Plan(tokens=20_000_000), 6, 384))])

A script trains the tokenizers that are missing, then the models, on a GPU where there is one. These
can be two machines: `--prepare` trains the tokenizers only, and prints their characters per token;
`--tokenizers` names their folder on the machine with the GPU, and `rows.jsonl` of `--out` holds the
figures to copy back; `--finished` makes the table from it and trains nothing.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import zstandard

from lm_jobs import RECIPES, Job, row_name, setting_key, settings
from rows import ENGLISH, Figures, Rows, first_documents, located
from supratok import train
from supratok.common.files import whole_file
from supratok.corpus import open_corpus
from supratok.corpus.split import digest, is_for_measuring, is_held_out
from supratok.formats.peer import open_any
from supratok.lab.baselines import BASELINES, Documents, trained
from supratok.lab.lm.coder import Coder, Ids, without_phrases
from supratok.lab.lm.energy import Meter
from supratok.lab.lm.experiment import figures, learn
from supratok.lab.lm.parts import Splitting, phrase_parts
from supratok.lab.lm.saving import save_folder
from supratok.lab.lm.tasks import json_lines
from supratok.lab.lm.training import REVISION
from supratok.lab.lm.validation import device_of
from supratok.lab.measure.figures import articles
from supratok.lab.measure.spelling import natural
from supratok.lab.measure.texts import read_text

VALIDATION = "WikiText-103 validation"
WORDS_ONLY = ", words only"  # after the name of a text: encoded without phrases
_CHARACTERS = 1_500_000  # of each half of the held-out documents
More = Callable[[Any, Coder, str], Figures]  # further measures of a model, on a device


@runtime_checkable
class Preparing(Protocol):
    """Further measures that can prepare for a tokenizer while its model still trains."""

    def prepare(self, coder: Coder) -> object: ...


# --- Texts


class Texts:
    """The documents to train on and the texts to measure on. One half of the held-out documents is
    for choosing recipes ("deciding"); the other half and the other texts are for the figures."""

    def __init__(self, corpus: Path, wikitext: Path) -> None:
        self.learn: list[str] = []
        halves: dict[bool, list[str]] = {True: [], False: []}
        texts = list(open_corpus(corpus))
        for text in texts:
            code = digest(text)
            (halves[is_for_measuring(code)] if is_held_out(code) else self.learn).append(text)
        known = Documents(texts).facts
        validation = articles(read_text(wikitext / "wiki.valid.raw"))
        self.facts: Figures = {name: known[name] for name in ("sha256", "documents")}
        self.characters = sum(map(len, self.learn))
        self.tests = {
            "deciding": _first(halves[False]),
            "held out": _first(halves[True]),
            VALIDATION: validation,
            f"{VALIDATION}, natural spelling": [natural(text) for text in validation],
            "WikiText-103 test": articles(read_text(wikitext / "wiki.test.raw")),
            **_other_tests(wikitext.parent),
        }


def _first(texts: Sequence[str]) -> list[str]:
    found, size = [], 0
    for text in sorted(texts, key=digest):
        found.append(text)
        size += len(text)
        if size > _CHARACTERS:
            break
    return found


def _other_tests(folder: Path) -> dict[str, list[str]]:
    """Texts of other domains, where the data folder has them. They are not part of a row's key:
    rows made before them stay valid and lack their figures."""
    bbc, lambada = folder / "bbc/bbc.jsonl.zst", folder / "lambada/lambada.jsonl.zst"
    found = {}
    if bbc.exists():
        found["BBC"] = list(open_corpus(bbc))
    if lambada.exists():
        rows = json_lines(lambada)
        found["LAMBADA"] = [f"{row['context']} {row['continuation']}" for row in rows]
    return found


# --- Rows


class Models:
    """Models over tokenizers of one corpus, each trained and measured once."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.corpus = located(args.corpus, ENGLISH)
        self.wikitext = located(args.test, "test/wikitext103")
        self.rows = Rows(args.out, args.again)
        self._pool = ThreadPoolExecutor(1)
        self._encoded: dict[Path, Future[list[Ids]]] = {}

    @functools.cached_property
    def texts(self) -> Texts:
        """Of the first documents only, where --documents says so."""
        return Texts(
            first_documents(self.corpus, self.args.documents, self.args.out), self.wikitext
        )

    @functools.cached_property
    def device(self) -> str:
        return device_of(self.args.device)

    # --- Tokenizers

    def file(self, name: str, size: int) -> Path:
        """The file of a tokenizer; its name holds a digest of all that decides its content."""
        asked = json.dumps([name, size, settings(name, size), self.texts.facts], sort_keys=True)
        key = hashlib.sha256(asked.encode()).hexdigest()[:12]
        file_name = f"{name.replace(', ', '-').replace(' ', '-')}-{size}-{key}.zst"
        path: Path = self.args.tokenizers / file_name
        return path

    def tokenizer(self, name: str, size: int) -> Path:
        """The file of a tokenizer, trained if it does not exist."""
        path = self.file(name, size)
        if not path.exists():
            print(f"{name} {size:,}: training ...", flush=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                file.write(
                    zstandard.compress(self._trained(name, size, path.with_suffix(".json")), 19)
                )
        return path

    def _trained(self, name: str, size: int, plain: Path) -> bytes:
        corpus = first_documents(self.corpus, self.args.documents, self.args.out)
        if name in BASELINES:
            return trained(name, Documents(corpus), size, self.args.cache).path.read_bytes()
        train(corpus, RECIPES[name](size), self.args.threads, progress=False).save(plain)
        data = plain.read_bytes()
        plain.unlink()
        return data

    def densities(self, name: str, size: int) -> str:
        """Characters per token of the texts to measure on."""
        coder = self.coder(name, size)
        found = {
            test: sum(map(len, texts)) / sum(map(len, coder.encode_all(texts)))
            for test, texts in self.texts.tests.items()
        }
        each = ", ".join(f"{test} {density:.3f}" for test, density in found.items())
        return f"characters per token: {each}"

    def coder(self, name: str, size: int) -> Coder:
        return Coder(open_any(self.tokenizer(name, size)))

    def encoded(self, name: str, size: int) -> Future[list[Ids]]:
        """The documents in these tokens, encoded in the background. Those of the two tokenizers
        asked for last are kept."""
        path = self.tokenizer(name, size)
        if path not in self._encoded:
            for old in list(self._encoded)[:-1]:
                del self._encoded[old]
            coder = Coder(open_any(path))
            self._encoded[path] = self._pool.submit(coder.encode_all, self.texts.learn)
        return self._encoded[path]

    # --- Models

    def rows_of(self, jobs: Sequence[Job], more: More | None = None) -> dict[Job, Figures]:
        """The figures of models, trained one after the other. While one trains, the text of the
        next is encoded. With --finished, only those of finished rows."""
        if self.args.prepare:
            for name, size in dict.fromkeys((job.name, job.size) for job in jobs):
                print(f"{name} {size:,}: {self.densities(name, size)}", flush=True)
            raise SystemExit(f"{self.args.tokenizers}: all tokenizers are trained")
        self._check_tests()  # before hours of training
        wanted = [job for job in jobs if not self.args.finished or self.is_done(job, more)]
        missing = [job for job in wanted if not self.is_done(job, more)]
        found = {}
        for job in wanted:
            for coming in missing[missing.index(job) :][:2] if job in missing else ():
                self.encoded(coming.name, coming.size)
            found[job] = self.rows.get(
                self._asked(job, more), functools.partial(self._computed, job, more)
            )
        return found

    def is_done(self, job: Job, more: More | None = None) -> bool:
        return self.rows.has(self._asked(job, more))

    def _asked(self, job: Job, more: More | None) -> Figures:
        """The key of a row. Invariant: a change here makes finished rows unfindable."""
        name, size, setting = job.name, job.size, job.setting
        return {
            "row": f"{name} {size:,}, {setting},"
            f" {setting.plan.tokens / 1e6:g} M tokens, seed {setting.plan.seed}",
            "code": f"lm {REVISION}",  # the same on every machine
            "tokenizer": [name, size, self.file(name, size).name],
            "corpus": self.texts.facts,
            "setting": setting_key(setting),
            "more": more.__name__ if more else "",
        }

    def _computed(self, job: Job, more: More | None) -> Figures:
        coder = self.coder(job.name, job.size)
        if isinstance(more, Preparing):
            more.prepare(coder)
        documents = self.encoded(job.name, job.size).result()
        with Meter() as meter:
            trained = learn(job.setting, coder, documents, self.device)
        if self.args.save:
            save_folder(self.args.save / _folder(job), trained.model, coder)
        tokens: float = round_of(documents)
        if job.setting.splitting:
            splitter = job.setting.splitter(phrase_parts(coder))
            tokens += splitter.longer(documents, trained.tokens)
        found = {
            "parameters": trained.model.shape.parameters,
            "tokens": trained.tokens,
            "round": tokens,
            "characters": trained.tokens / tokens * self.texts.characters,
            "seconds": trained.seconds,
            "all_seconds": meter.spent.seconds,
            "kilowatt_hours": meter.spent.kilowatt_hours,
            "carbon": meter.spent.carbon,
            "device": _device_name(self.device),
            "curve": trained.curve,
            "tests": self._measured(trained.model, coder),
        }
        if more is not None:
            found.update(more(trained.model, coder, self.device))
        return found

    def _check_tests(self) -> None:
        for name in self.args.tests or ():
            if name.removesuffix(WORDS_ONLY) not in self.texts.tests:
                known = ", ".join(self.texts.tests)
                raise SystemExit(f"--tests {name!r}: choose among {known}")

    def _measured(self, model: Any, coder: Coder) -> Figures:
        """The figures on the texts of --tests. Without it: on all, as encoded."""
        texts = self.texts.tests
        wanted = self.args.tests or list(texts)
        whole = {name: texts[name] for name in wanted if not name.endswith(WORDS_ONLY)}
        words = {
            name: texts[name.removesuffix(WORDS_ONLY)]
            for name in wanted if name.endswith(WORDS_ONLY)
        }  # fmt: skip
        return {
            **figures(model, coder, whole, self.device),
            **figures(model, without_phrases(coder), words, self.device),
        }

    def density(self, job: Job, row: Figures) -> Callable[[float], float]:
        """Characters per token of the training stream, by the number of tokens read before."""
        if not job.setting.splitting:
            return lambda _: float(row["characters"] / row["tokens"])
        splitter = job.setting.splitter(phrase_parts(self.coder(job.name, job.size)))
        documents = self.encoded(job.name, job.size).result()
        whole, more = round_of(documents), Splitting(splitter.parts, 1.0).longer(documents, 1)

        def at(read: float) -> float:
            share = float(splitter.share_at(np.array([read]))[0])
            return self.texts.characters / (whole + share * more)

        return at


def round_of(documents: Sequence[Ids]) -> int:
    """The number of tokens of all documents, with the token that ends each."""
    return sum(len(ids) + 1 for ids in documents)


def _folder(job: Job) -> str:
    """The folder of a saved model: default-composed-words-first-32000-6L-384d-32M-seed-0."""
    plan = job.setting.plan
    name = f"{row_name(job)} {job.size} {job.setting} {plan.tokens / 1e6:g}M seed {plan.seed}"
    return re.sub(r"[^\w.%]+", "-", name)


def _device_name(device: str) -> str:
    import torch

    return str(torch.cuda.get_device_name()) if device.startswith("cuda") else "processor"
