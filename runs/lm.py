"""What the scripts share that train language models: texts, tokenizers, rows, the cells of tables.

    args = model_options("Bits per character.", "ladder", 32_000, (6, 384), 2e-3).parse_args()
    models = Models(args)
    rows = models.rows_of([Job("default", 32_000, Setting(Plan(tokens=20_000_000), 6, 384))])

Everything is done where a script is started: tokenizers that are missing are trained (on any
machine), then models (on a GPU, where there is one). The two may be done on different machines:
`--tokenizers` is a folder of finished ones to take along, made by `--prepare`, and `rows.jsonl` of
`--out` holds the figures to bring back; `--finished` makes the table of them and computes nothing.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import zstandard

from rows import ENGLISH, Figures, Rows, first_documents, located, options, read_whole
from supratok import Recipe, train
from supratok.common.files import whole_file
from supratok.corpus import open_corpus
from supratok.corpus.split import digest, is_for_measuring, is_held_out
from supratok.formats.peer import open_any
from supratok.lab.baselines import BASELINES, Documents, trained
from supratok.lab.lm.coder import Coder, Ids
from supratok.lab.lm.energy import Meter
from supratok.lab.lm.experiment import Setting, figures, learn
from supratok.lab.lm.model import CONTEXT
from supratok.lab.lm.parts import Splitting, phrase_parts
from supratok.lab.lm.saving import save_folder
from supratok.lab.lm.training import REVISION, Plan
from supratok.lab.lm.validation import device_of
from supratok.lab.measure.bootstrap import Difference, difference
from supratok.lab.measure.figures import articles
from supratok.lab.report.tables import NOTHING
from supratok.recipe import Boundaries, Curation, Screen

BPE = "BPE-Bytes-GPT4o"  # lossless, and what others are held against


def _screen(**changes: Any) -> Screen:
    return Screen(**{"min_pmi": 0.0, "min_count": 2, "min_documents": 10, **changes})


# What is asked of a tokenizer: ours by its recipe, others by their names in BASELINES.
RECIPES: dict[str, Callable[[int], Recipe]] = {
    "default": lambda size: Recipe(vocab_size=size),
    "default, fewest": lambda size: Recipe(vocab_size=size, segmentation="fewest"),
    "dense": Recipe.dense,
    "paper": Recipe.paper,
    "plain": lambda size: Recipe(vocab_size=size, crossover=1.0),
    "price 3": lambda size: Recipe(vocab_size=size, phrase_price=3.0),
    "price 10": lambda size: Recipe(vocab_size=size, phrase_price=10.0),
    "PMI 2": lambda size: Recipe(vocab_size=size, screen=_screen(min_pmi=2.0)),
    "PMI 4": lambda size: Recipe(vocab_size=size, screen=_screen(min_pmi=4.0)),
    "300 documents": lambda size: Recipe(vocab_size=size, screen=_screen(min_documents=300)),
    "boundary 5": lambda size: Recipe(vocab_size=size, screen=_screen(min_boundary_entropy=5.0)),
    "boundary 6.5": lambda size: Recipe(vocab_size=size, screen=_screen(min_boundary_entropy=6.5)),
    "whole words": lambda size: Recipe(vocab_size=size, boundaries=Boundaries(whole_words=True)),
    "careful": lambda size: Recipe(vocab_size=size, boundaries=Boundaries.careful()),
    "without curriculum": lambda size: Recipe(vocab_size=size, curriculum=False),
    "with entropy filtering": lambda size: Recipe(vocab_size=size, curation=Curation()),
}
More = Callable[[Any, Coder, str], Figures]  # what else is measured: of a model, on a device
_CHARACTERS = 1_500_000  # of each half of the held-out documents


def model_options(
    description: str, name: str, size: int, shape: tuple[int, int], rate: float
) -> argparse.ArgumentParser:
    """The options of all scripts, and those of models: by default with so many tokens in the
    vocabulary, layers and width."""
    parser = options(description, name)
    add = parser.add_argument
    add("--size", type=int, default=size, help="of the vocabularies")
    add("--shape", type=int, nargs=3, default=[*shape, CONTEXT], help="layers, width, context")
    add("--rate", type=float, default=rate, help="of learning, at its highest")
    add("--warm-up", type=float, default=Plan.warm_up, help="share of the steps")
    add("--batch", type=int, default=32, help="windows of a step")
    add("--device", default="auto", help="cuda where there is one, unless said")
    add("--seeds", type=int, nargs="+", default=None, help="of weights and of the order of texts")
    add("--tokenizers", type=Path, default=Path("build/tokenizers"), help="where they are kept")
    add("--cache", type=Path, default=Path("build/baselines"), help="where trained baselines are")
    add("--prepare", action="store_true", help="train the tokenizers that are missing, no models")
    add("--finished", action="store_true", help="a table of the finished rows; compute nothing")
    add("--save", type=Path, help="a folder to write the models to, as GPT-2 for transformers")
    return parser


@runtime_checkable
class Preparing(Protocol):
    """What can be prepared for a tokenizer before there is a model."""

    def prepare(self, coder: Coder) -> object: ...


@dataclass(frozen=True)
class Job:
    """One model: a tokenizer, and how to learn."""

    name: str
    size: int
    setting: Setting


# How training is helped: see supratok.lab.lm.parts.
HELPS: dict[str, dict[str, Any]] = {
    "split 10%": {"splitting": 0.1},
    "split 30%": {"splitting": 0.3},
    "mean": {"phrases": "mean"},
    "shared": {"phrases": "shared"},
    "composed": {"phrases": "composed"},
    "shared, split 10%": {"phrases": "shared", "splitting": 0.1},
    "shared, split 30% fading": {"phrases": "shared", "splitting": 0.3, "fading": 0.8},
    "composed, split 30% fading": {"phrases": "composed", "splitting": 0.3, "fading": 0.8},
    "composed, split all fading": {"phrases": "composed", "splitting": 1.0, "fading": 0.8},
    "composed, words first": {"phrases": "composed", "splitting": 1.0, "fading": 0.4},
}
BEST_HELP = "composed, words first"  # what runs/variants.py found
_UNHELPED = {"splitting": 0.0, "fading": 0.0, "phrases": "chance"}


def row_name(text: str) -> str:
    """An option's value: a tokenizer, and after a + how training is helped."""
    name, plus, help = text.partition(" + ")
    if name not in RECIPES and name not in BASELINES:
        raise argparse.ArgumentTypeError(
            f"{name!r}: choose one of {', '.join([*RECIPES, *BASELINES])}"
        )
    if plus and help not in HELPS:
        raise argparse.ArgumentTypeError(f"{help!r}: choose one of {', '.join(HELPS)}")
    return text


def job(row: str, args: argparse.Namespace, tokens: int, seed: int) -> Job:
    """Of a row, called as in `row_name`."""
    name, _, help = row.partition(" + ")
    plan = Plan(
        tokens=tokens, batch=args.batch, rate=args.rate, warm_up=args.warm_up, seed=seed
    )  # fmt: skip
    return Job(name, args.size, Setting(plan, *args.shape, **(HELPS[help] if help else {})))


def called(one: Job) -> str:
    """A row's name, from its job."""
    help = {name: getattr(one.setting, name) for name in _UNHELPED}
    for name, changes in HELPS.items():
        if _UNHELPED | changes == help:
            return f"{one.name} + {name}"
    return one.name


def settings(name: str, size: int) -> Figures:
    """What a tokenizer is made by. A screen that asks nothing of boundaries reads as it did before
    it could: tokenizers and models made then are found again."""
    if name in BASELINES:
        return dict(BASELINES[name].settings)
    found = RECIPES[name](size).to_dict()
    if found["screen"] and not found["screen"]["min_boundary_entropy"]:
        del found["screen"]["min_boundary_entropy"]
    return found


class Texts:
    """The documents to learn from, and those to measure on. The half of the held-out ones that
    decides is for choosing a recipe; the other half and WikiText-103 are for the figures."""

    def __init__(self, corpus: Path, wikitext: Path) -> None:
        self.learn: list[str] = []
        halves: dict[bool, list[str]] = {True: [], False: []}
        texts = list(open_corpus(corpus))
        for text in texts:
            code = digest(text)
            (halves[is_for_measuring(code)] if is_held_out(code) else self.learn).append(text)
        known = Documents(texts).facts
        self.facts: Figures = {name: known[name] for name in ("sha256", "documents")}
        self.characters = sum(map(len, self.learn))
        self.tests = {
            "deciding": _first(halves[False]),
            "held out": _first(halves[True]),
            "WikiText-103 validation": articles(read_whole(str(wikitext / "wiki.valid.raw"))),
            "WikiText-103 test": articles(read_whole(str(wikitext / "wiki.test.raw"))),
        }


def _first(texts: Sequence[str]) -> list[str]:
    found, size = [], 0
    for text in sorted(texts, key=digest):
        found.append(text)
        size += len(text)
        if size > _CHARACTERS:
            break
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
        self._coded: dict[Path, Future[list[Ids]]] = {}

    @functools.cached_property
    def texts(self) -> Texts:
        """Cut down to the first documents, where the options say so, before they are read."""
        return Texts(
            first_documents(self.corpus, self.args.documents, self.args.out), self.wikitext
        )

    @functools.cached_property
    def device(self) -> str:
        return device_of(self.args.device)

    # --- Tokenizers

    def file(self, name: str, size: int) -> Path:
        """Where this tokenizer is kept: a name for all that it depends on."""
        asked = json.dumps([name, size, settings(name, size), self.texts.facts], sort_keys=True)
        key = hashlib.sha256(asked.encode()).hexdigest()[:12]
        file_name = f"{name.replace(', ', '-').replace(' ', '-')}-{size}-{key}.zst"
        path: Path = self.args.tokenizers / file_name
        return path

    def tokenizer(self, name: str, size: int) -> Path:
        """The file of this tokenizer, which is trained unless it is there."""
        path = self.file(name, size)
        if not path.exists():
            print(f"{name} {size:,}: training ...", flush=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                file.write(
                    zstandard.compress(self._made(name, size, path.with_suffix(".json")), 19)
                )
        return path

    def _made(self, name: str, size: int, plain: Path) -> bytes:
        corpus = first_documents(self.corpus, self.args.documents, self.args.out)
        if name in BASELINES:
            return trained(name, Documents(corpus), size, self.args.cache).path.read_bytes()
        train(corpus, RECIPES[name](size), self.args.threads, progress=False).save(plain)
        data = plain.read_bytes()
        plain.unlink()
        return data

    def coder(self, name: str, size: int) -> Coder:
        return Coder(open_any(self.tokenizer(name, size)))

    def ahead(self, name: str, size: int) -> Future[list[Ids]]:
        """The documents in these tokens, encoded while something else is done."""
        path = self.tokenizer(name, size)
        if path not in self._coded:
            for old in list(self._coded)[:-1]:  # what was needed before the last
                del self._coded[old]
            coder = Coder(open_any(path))
            self._coded[path] = self._pool.submit(coder.encode_all, self.texts.learn)
        return self._coded[path]

    # --- Models

    def rows_of(self, jobs: Sequence[Job], more: More | None = None) -> dict[Job, Figures]:
        """The figures of models, one after the other; while one learns, the text of the next is
        encoded. Where only finished ones are wanted, the others are left out."""
        if self.args.prepare:
            for job in jobs:
                self.tokenizer(job.name, job.size)
            raise SystemExit(f"{self.args.tokenizers}: the tokenizers are there")
        wanted = [job for job in jobs if not self.args.finished or self.is_done(job, more)]
        missing = [job for job in wanted if not self.is_done(job, more)]
        found = {}
        for job in wanted:
            for coming in missing[missing.index(job) :][:2] if job in missing else ():
                self.ahead(coming.name, coming.size)
            found[job] = self.rows.get(
                self._asked(job, more), functools.partial(self._computed, job, more)
            )
        return found

    def is_done(self, job: Job, more: More | None = None) -> bool:
        return self.rows.has(self._asked(job, more))

    def _asked(self, job: Job, more: More | None) -> Figures:
        name, size, setting = job.name, job.size, job.setting
        return {
            "row": f"{name} {size:,}, {setting},"
            f" {setting.plan.tokens / 1e6:g} M tokens, seed {setting.plan.seed}",
            "code": f"lm {REVISION}",  # the same on every machine
            "tokenizer": [name, size, self.file(name, size).name],
            "corpus": self.texts.facts,
            "setting": asdict(setting),
            "more": more.__name__ if more else "",
        }

    def _computed(self, job: Job, more: More | None) -> Figures:
        coder = self.coder(job.name, job.size)
        if isinstance(more, Preparing):  # while the model learns
            more.prepare(coder)
        documents = self.ahead(job.name, job.size).result()
        with Meter() as meter:
            learnt = learn(job.setting, coder, documents, self.device)
        if self.args.save:
            save_folder(self.args.save / _folder(job), learnt.model, coder)
        tokens: float = round_of(documents)
        if job.setting.splitting:
            change = job.setting.change(phrase_parts(coder))
            tokens += change.longer(documents, learnt.tokens)
        found = {
            "parameters": learnt.model.shape.parameters,
            "tokens": learnt.tokens,
            "round": tokens,
            "characters": learnt.tokens / tokens * self.texts.characters,
            "seconds": learnt.seconds,
            "all_seconds": meter.spent.seconds,
            "kilowatt_hours": meter.spent.kilowatt_hours,
            "carbon": meter.spent.carbon,
            "device": _called(self.device),
            "curve": learnt.curve,
            "tests": figures(learnt.model, coder, self.texts.tests, self.device),
        }
        if more is not None:
            found.update(more(learnt.model, coder, self.device))
        return found

    def density(self, job: Job, row: Figures) -> Callable[[float], float]:
        """Characters of a token of the stream, by how many were read before it."""
        if not job.setting.splitting:
            return lambda _: float(row["characters"] / row["tokens"])
        change = job.setting.change(phrase_parts(self.coder(job.name, job.size)))
        documents = self.ahead(job.name, job.size).result()
        whole, more = round_of(documents), Splitting(change.parts, 1.0).longer(documents, 1)

        def at(read: float) -> float:
            share = float(change.share_at(np.array([read]))[0])
            return self.texts.characters / (whole + share * more)

        return at


def _folder(job: Job) -> str:
    """What a saved model is called: default-composed-words-first-32000-6L-384d-32M-seed-0."""
    plan = job.setting.plan
    name = f"{called(job)} {job.size} {job.setting} {plan.tokens / 1e6:g}M seed {plan.seed}"
    return re.sub(r"[^\w.%]+", "-", name)


def _called(device: str) -> str:
    import torch

    return str(torch.cuda.get_device_name()) if device.startswith("cuda") else "processor"


def round_of(documents: Sequence[Ids]) -> int:
    """How many tokens it takes to read all documents once, with their ends."""
    return sum(len(ids) + 1 for ids in documents)


# --- Cells


def bits(row: Figures, test: str) -> float:
    return float(row["tests"][test]["bits_per_character"])


def against(row: Figures, other: Figures, test: str) -> Difference:
    """How many more bits a model takes than another for the same texts, paired."""
    return mean_against([row], [other], test)


def mean_against(rows: Sequence[Figures], others: Sequence[Figures], test: str) -> Difference:
    """The same for several seeds each: of the means, text by text."""
    means = [
        [
            sum(values) / len(values)
            for values in zip(*(row["tests"][test]["nats"] for row in some), strict=True)
        ]
        for some in (others, rows)
    ]
    return difference(means[0], means[1])  # which tells how much more the second has


def compared(row: Figures, base: Figures | None, tests: Sequence[str]) -> list[str]:
    """Of each test two cells: the bits, and how many more than the base has."""
    cells = []
    for test in tests:
        more = told(against(row, base, test)) if base and base is not row else NOTHING
        cells += [f"{bits(row, test):.4f}", more]
    return cells


def told(found: Difference) -> str:
    """+1.2% (+0.9% to +1.5%); fewer bits are better."""
    return f"{found.value:+.2%} ({found.low:+.2%} to {found.high:+.2%})"


def spread(values: Sequence[float], form: str = ".4f") -> str:
    """The mean, and where there are several, the standard deviation."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return format(mean, form)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return f"{mean:{form}} ± {deviation:{form}}"


def notes(models: Models, found: Sequence[Figures]) -> list[str]:
    """What models learnt from, what is compared, and on what machines."""
    return [
        f"documents learnt from: {len(models.texts.learn):,} of {models.texts.facts['documents']:,}"
        f" ({models.texts.characters / 1e6:,.0f} M characters), SHA-256"
        f" {models.texts.facts['sha256'][:12]}; the rest is held out, half to decide by, half to"
        " measure on",
        "over: how many more bits for the same texts; in brackets 95% intervals by bootstrap over"
        " documents, which say nothing about other seeds",
        f"device: {', '.join(dict.fromkeys(row['device'] for row in found))};"
        f" {models.rows.about()}",
    ]
