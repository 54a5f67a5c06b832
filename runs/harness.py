"""Claim: lm-evaluation-harness gives our scores for a saved model, where no token spans a boundary.

    pip install lm-eval
    python runs/harness.py my-model --items 1000

HellaSwag on a folder that `supratok.lab.lm.saving.save_folder` wrote, by the harness and by
`supratok.lab.lm`. Nothing is downloaded: the script writes the items to a file and a task for it.

The harness encodes the context and the joined text. As the ending it takes the tokens of the joined
text after as many tokens as the context has. This is right where the context's tokens begin the
joined text. Where a token spans the boundary, the model reads the context's tokens and then tokens
that do not continue them: the scores are not those of the text.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rows import claim, command, located, options, write_table
from supratok.lab.lm.coder import Coder
from supratok.lab.lm.likelihood import Score, cut_questions, endings
from supratok.lab.lm.saving import load_folder
from supratok.lab.lm.tasks import By, Item, chosen, hellaswag, questions
from supratok.lab.report.tables import NOTHING, Table

HELLASWAG = "test/hellaswag/hellaswag_val.jsonl.zst"
HEAD = [
    "items", "number", "scores alike", "largest difference (nats)", "same answer",
    "same by characters", "right: ours", "right: harness", "by characters: ours",
    "by characters: harness",
]  # fmt: skip
ALIKE = 0.01  # nats


def main(arguments: list[str] | None = None) -> None:
    parser = options("Score a saved model with lm-evaluation-harness and with ours.", "harness")
    parser.add_argument("folder", type=Path, help="a folder that save_folder wrote")
    parser.add_argument("--items", type=int, metavar="N", help="the first N items (default: all)")
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args(arguments)
    items = hellaswag(located(args.test, HELLASWAG))[: args.items]
    model, coder = load_folder(args.folder)
    ours = endings(model.to(args.device), coder, questions(items), args.device)
    theirs = by_harness(args.folder, items, args.device)
    args.out.mkdir(parents=True, exist_ok=True)
    both = Compared(items, ours, theirs)
    lines = [both.of(name, numbers) for name, numbers in kinds(coder, items).items()]
    notes = [
        f"{args.folder.name}: {model.shape}, {coder.end:,} tokens; {len(items):,} items of"
        f" HellaSwag; lm_eval {importlib.metadata.version('lm_eval')}",
        f"scores alike: all endings of an item within {ALIKE} nats; one ending with a token over"
        " the boundary puts its item into that row",
        command("harness", arguments),
    ]
    table = Table("HellaSwag by lm-evaluation-harness", claim(__doc__), HEAD, lines, notes)
    write_table(args.out, table)


# --- The harness


def by_harness(folder: Path, items: Sequence[Item], device: str) -> list[list[float]]:
    """The harness's log-likelihoods of all endings, by a task made of the same texts."""
    end = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))["eos_token"]
    with tempfile.TemporaryDirectory() as beside:
        os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": beside}
        evaluator = _package("lm_eval.evaluator")
        with contextlib.redirect_stdout(sys.stderr):
            found = evaluator.simple_evaluate(
                model="hf",
                model_args={"pretrained": str(folder), "dtype": "float32"},
                tasks=[task(Path(beside), items, end)],
                device=device,
                batch_size=16,
                bootstrap_iters=0,
            )
    samples = sorted(found["samples"]["hellaswag_joined"], key=lambda sample: sample["doc_id"])
    return [[float(value[0]) for value in sample["filtered_resps"]] for sample in samples]


def task(folder: Path, items: Sequence[Item], end: str) -> dict[str, Any]:
    """The harness's own HellaSwag with another file; it puts a space before each ending. Each text
    starts after the token that ends documents, as in training."""
    file = folder / "items.jsonl"
    rows = [
        {"query": end + item.context, "choices": [text[1:] for text in item.endings],
         "label": item.label}
        for item in items
    ]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    metrics = [
        {"metric": name, "aggregation": "mean", "higher_is_better": True}
        for name in ("acc", "acc_norm")
    ]
    return {
        "task": "hellaswag_joined",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"validation": str(file)}},
        "validation_split": "validation",
        "output_type": "multiple_choice",
        "doc_to_text": "{{query}}",
        "doc_to_choice": "choices",
        "doc_to_target": "label",
        "metric_list": metrics,
    }


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SystemExit(f"this needs the harness ({error}): pip install lm-eval") from error


# --- Side by side


def kinds(coder: Coder, items: Sequence[Item]) -> dict[str, list[int]]:
    """The items, sorted by what happens at the boundary between context and ending."""
    contexts = coder.encode_all(item.context for item in items)
    names = ("no token spans the boundary", "the context is read otherwise", "a token spans it")
    found: dict[str, list[int]] = {"all": list(range(len(items))), **{name: [] for name in names}}
    for number, cuts in enumerate(cut_questions(coder, questions(items))):
        begins = contexts[number].tolist()
        same = all(cut.ids[: len(begins)].tolist() == begins for cut in cuts)
        found[names[2 if any(cut.inside for cut in cuts) else 0 if same else 1]].append(number)
    return found


@dataclass(frozen=True)
class Compared:
    items: Sequence[Item]
    ours: Sequence[Sequence[Score]]
    theirs: Sequence[Sequence[float]]

    def of(self, name: str, numbers: Sequence[int]) -> list[str]:
        """A line of the table for these items."""
        if not numbers:
            return [name, "0", *[NOTHING] * (len(HEAD) - 2)]
        away = np.array([self._distance(number) for number in numbers])
        whole, long = self._answers(numbers, "whole"), self._answers(numbers, "characters")
        labels = np.array([self.items[number].label for number in numbers])
        same = [f"{(one == two).mean():.1%}" for one, two in (whole, long)]
        right = [f"{(found == labels).mean():.1%}" for found in (*whole, *long)]
        alike = f"{(away <= ALIKE).mean():.1%}"
        return [name, f"{len(numbers):,}", alike, f"{away.max():.4f}", *same, *right]

    def _distance(self, number: int) -> float:
        """How far the scores differ, without a constant that all endings share: only differences
        between endings decide, and our scores may start some tokens earlier."""
        ours = np.array([score.nats for score in self.ours[number]])
        apart = np.array(self.theirs[number]) - ours
        return float(np.ptp(apart))

    def _answers(self, numbers: Sequence[int], by: By) -> tuple[Any, Any]:
        """Our answers and theirs."""
        ours = [chosen(self.ours[number], by) for number in numbers]
        return np.array(ours), np.array([self._their_answer(number, by) for number in numbers])

    def _their_answer(self, number: int, by: By) -> int:
        sizes = [1 if by == "whole" else score.characters for score in self.ours[number]]
        return int(np.argmax(np.array(self.theirs[number]) / np.array(sizes)))


if __name__ == "__main__":
    main()
