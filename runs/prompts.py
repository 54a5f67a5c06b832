"""Claim: exact at prompt boundaries costs a few positions a prompt, and changes a model's answers.

    python runs/prompts.py my-model --device cuda

HellaSwag and LAMBADA on a folder that `supratok.lab.lm.saving.save_folder` wrote, in four ways:

- exact: `supratok.logprobs`, and what `supratok.generate` writes without sampling;
- one token back, as `transformers` heals (but prompts are not stripped): without the last token of
  the prompt. To score, its text is encoded again with the ending; to generate, the ids that begin
  with its text get a bonus of 10 (and it itself of 1 more), for one step;
- cut by count, as lm-evaluation-harness scores: the ids of the joined text behind as many as the
  context has;
- nothing: prompt and ending encoded apart; generation from the ids of the prompt.

LAMBADA is right if the text that the model writes begins with the last word. Each task stands as a
whole, then by whether a token crosses the end of the prompt. Then the cost: the positions that a
model reads for all covers, beyond those of the prompt's ids, and the time to the first token beside
plain `generate`, on HellaSwag's contexts and on texts cut anywhere. After `begin` the first token
is known if one crosses the end of the prompt; `generate` adds one more step in any case. SuperBPE's
tokens stand in their order, by our rule and without its pattern, in a random model of the same
shape.
"""

from __future__ import annotations

import bisect
import itertools
import json
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
import zstandard
from numpy.typing import NDArray

import supratok
from rows import claim, command, located, options, write_table
from supratok import Recipe, Token, Tokenizer
from supratok.formats.huggingface.document import bytes_of_letters
from supratok.lab.lm.tasks import Item, Right, compared, hellaswag, json_lines
from supratok.lab.measure.bootstrap import interval
from supratok.lab.report.tables import NOTHING, Table
from supratok.runtimes.chances import Prompt, start_of_text
from supratok.runtimes.reading import Tree, longest, read
from supratok.runtimes.scoring import scores

HELLASWAG = "test/hellaswag/hellaswag_val.jsonl.zst"
LAMBADA = "test/lambada/lambada.jsonl.zst"
SUPERBPE = "tokenizers/superbpe_200k_t80K.tokenizer.json.zst"
ACCURACY = [
    "task", "way", "items", "right", "95%", "less than exact", "95%", "p",
    "bits of the right ending", "more than exact", "95%",
]  # fmt: skip
Bits = dict[str, NDArray[np.float64]]  # by way: of the right ending of each item
COST = [
    "vocabulary", "prompts", "number", "covers", "more positions", "p95", "max",
    "plain, ms", "begin, ms", "exact, ms", "times",
]  # fmt: skip
WORD = 10  # tokens to generate for a word
TABLES = ["accuracy", "cost"]


def main(arguments: list[str] | None = None) -> None:
    parser = options("Exact prompts, token healing and nothing, on one model.", "prompts")
    parser.add_argument("folder", type=Path, help="a folder that save_folder wrote")
    parser.add_argument("--lambada", type=Path, help="default: from SUPRATOK_DATA")
    parser.add_argument("--superbpe", type=Path, help="default: from SUPRATOK_DATA")
    parser.add_argument("--items", type=int, metavar="N", help="the first N items (default: all)")
    parser.add_argument("--timed", type=int, default=200, metavar="N", help="prompts to time (200)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES)
    parser.add_argument("--batch", type=int, default=16, help="prompts at once (default: 16)")
    args = parser.parse_args(arguments)
    items = hellaswag(located(args.test, HELLASWAG))[: args.items]
    passages = json_lines(located(args.lambada, LAMBADA))[: args.items]
    pairs = [(row["context"], f" {row['continuation'].strip()}") for row in passages]
    model = transformers.AutoModelForCausalLM.from_pretrained(args.folder).to(args.device).eval()
    ways = Ways(model, Tokenizer.load(args.folder), args.batch)
    notes = [
        f"{args.folder.name}: {sum(p.numel() for p in model.parameters()):,} weights,"
        f" {ways.tokenizer!r}; {args.device}; transformers {transformers.__version__}, torch"
        f" {torch.__version__}; intervals by bootstrap over items, p by McNemar's test",
        command("prompts", arguments),
    ]
    if "accuracy" in args.tables:
        lines = accuracies(ways, items, pairs)
        table = Table("Accuracy at prompt boundaries", claim(__doc__), ACCURACY, lines, notes)
        write_table(_folder(args.out / "accuracy"), table)
    if "cost" in args.tables:
        lines = costs("ours", model, ways.tokenizer, items, args.timed)
        theirs = superbpe(located(args.superbpe, SUPERBPE))
        lines += costs("SuperBPE, 80k", random_like(model, theirs), theirs, items, args.timed)
        table = Table("The cost of exact prompts", claim(__doc__), COST, lines, notes)
        write_table(_folder(args.out / "cost"), table)


def accuracies(
    ways: Ways, items: Sequence[Item], pairs: Sequence[tuple[str, str]]
) -> list[list[str]]:
    """The lines of both tasks."""
    endings = [(item.context, item.endings[item.label]) for item in items]
    lines = grouped_lines("HellaSwag, by characters", *ways.hellaswag(items), ways.crosses(endings))
    return lines + grouped_lines("LAMBADA, greedy", *ways.lambada(pairs), ways.crosses(pairs))


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


# --- Accuracy


class Ways:
    """The ways to score and to generate, on one model."""

    def __init__(self, model: Any, tokenizer: Tokenizer, batch: int) -> None:
        self.model, self.tokenizer, self.batch = model, tokenizer, batch
        self.start = start_of_text(model, tokenizer, None)
        self.room = int(model.config.max_position_embeddings)

    def hellaswag(self, items: Sequence[Item]) -> tuple[dict[str, Right], Bits]:
        """By way: whether each item's likeliest ending, by its score per character, is right; and
        the bits of the right one."""
        found = self._scores([(item.context, end) for item in items for end in item.endings])
        firsts = itertools.accumulate((len(item.endings) for item in items[:-1]), initial=0)
        places = [first + item.label for first, item in zip(firsts, items, strict=True)]
        bits = {way: [values[place] for place in places] for way, values in found.items()}
        right = {way: _chosen(items, values) for way, values in found.items()}
        return right, _in_bits(bits)

    def lambada(self, pairs: Sequence[tuple[str, str]]) -> tuple[dict[str, Right], Bits]:
        """By way: whether what is written without sampling begins with the last word, and the bits
        of that word."""
        exact = scores(self.model, self.tokenizer, pairs, batch_size=self.batch, context=self.room)
        texts = [context for context, _ in pairs]
        plain = [self.tokenizer.encode(text) for text in texts]
        right = {"exact": [score.greedy for score in exact]}
        written = {"one token back": self._healed(texts), "nothing": self._written(plain)}
        for way, found in written.items():
            right[way] = [
                text.startswith(word) for text, (_, word) in zip(found, pairs, strict=True)
            ]
        bits = _in_bits(self._scores(pairs))
        return {way: np.array(values, dtype=np.bool_) for way, values in right.items()}, bits

    def crosses(self, pairs: Sequence[tuple[str, str]]) -> Right:
        """Whether a token of both texts together crosses the end of the first."""
        found = [self.tokenizer.encode_pair(one, two).inside for one, two in pairs]
        return np.array(found, dtype=np.bool_)

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> dict[str, list[float]]:
        """By way: the log-probability of each ending behind its context."""
        exact = scores(self.model, self.tokenizer, pairs, batch_size=self.batch, context=self.room)
        encode = self.tokenizer.encode
        cuts: dict[str, Callable[[str, str], tuple[list[int], list[int]]]] = {
            "one token back": self._one_back,
            "cut by count": lambda one, two: _by_count(encode(one), encode(one + two)),
            "nothing": lambda one, two: (encode(one), encode(two)),
        }
        given = {way: self._given([cut(*pair) for pair in pairs]) for way, cut in cuts.items()}
        return {"exact": [score.logprob for score in exact], **given}

    def _one_back(self, context: str, ending: str) -> tuple[list[int], list[int]]:
        ids = self.tokenizer.encode(context)
        back = self.tokenizer.decode_bytes(ids[-1:]).decode(errors="ignore")
        return ids[:-1], self.tokenizer.encode(back + ending)

    def _given(self, cuts: Sequence[tuple[list[int], list[int]]]) -> list[float]:
        """The log-probabilities of ids, each given those before."""
        found = list[float]()
        for some in _portions(cuts, 4 * self.batch):
            trees = []
            for before, ids in some:
                base = [*self.start, *before][-max(1, self.room - len(ids)) :]
                trees.append(Tree(base, [tuple(ids[:size]) for size in range(len(ids))]))
            for (_, ids), reading in zip(some, read(self.model, trees)[0], strict=True):
                rows = torch.stack([reading.after(tuple(ids[:size])) for size in range(len(ids))])
                steps = rows.float().log_softmax(1)
                wanted = torch.tensor(ids, device=steps.device)[:, None]
                found.append(float(steps.gather(1, wanted).sum()))
        return found

    def _written(
        self, prompts: Sequence[list[int]], bonus: Callable[[int], list[int]] | None = None
    ) -> list[str]:
        """What plain `generate` writes behind these ids; `bonus`: by number of a prompt, the ids
        that get the bonus of healing, the original one last."""
        found = list[str]()
        for numbers in _portions(range(len(prompts)), self.batch):
            rows = [[*self.start, *prompts[number]][-(self.room - WORD) :] for number in numbers]
            width, pad = max(map(len, rows)), (self.start or [0])[0]
            ids = torch.tensor([[pad] * (width - len(row)) + row for row in rows])
            mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
            once = _Once([bonus(number) if bonus else [] for number in numbers])
            out = self.model.generate(
                ids.to(self.model.device), attention_mask=mask.to(self.model.device),
                do_sample=False, max_new_tokens=WORD, pad_token_id=pad, logits_processor=[once],
            )  # fmt: skip
            found += self.tokenizer.decode_batch(out[:, width:].cpu(), skip_special_tokens=True)
        return found

    def _healed(self, texts: Sequence[str]) -> list[str]:
        """What `generate` writes behind each text, one token back; if no other token begins with
        that one, as it is."""
        begins, given = _Begins(self.tokenizer), [self.tokenizer.encode(text) for text in texts]
        ends = [self.tokenizer.decode_bytes(ids[-1:]) for ids in given]
        found = [begins.with_text(end) for end in ends]
        back = [len(ids) > 1 for ids in found]
        shown = [ids[:-1] if cut else ids for ids, cut in zip(given, back, strict=True)]
        written = self._written(
            shown, lambda number: [*found[number], given[number][-1]] if back[number] else []
        )
        after = []
        for end, cut, text in zip(ends, back, written, strict=True):
            whole = end.decode(errors="ignore") if cut else ""
            after.append(text[len(whole) :] if text.startswith(whole) else "")
        return after


class _Begins:
    """The ids whose text begins with a text."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._texts = sorted((tokenizer.decode_bytes([id]), id) for id in tokenizer.ids)

    def with_text(self, text: bytes) -> list[int]:
        first = bisect.bisect_left(self._texts, (text, -1))
        found = []
        for data, id in self._texts[first:]:
            if not data.startswith(text):
                break
            found.append(id)
        return found


class _Once:
    """A logits processor for the first step: by row, the ids that get 10; the last one gets 1."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self._rows = rows

    def __call__(self, ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        rows, self._rows = self._rows, ()
        for row, chosen in enumerate(rows):
            if chosen:
                logits[row, torch.tensor(chosen[:-1], device=logits.device)] += 10.0
                logits[row, chosen[-1]] += 1.0
        return logits


def _by_count(context: list[int], joined: list[int]) -> tuple[list[int], list[int]]:
    return context, joined[len(context) :] or joined[-1:]


def _chosen(items: Sequence[Item], values: Sequence[float]) -> Right:
    rest, right = iter(values), []
    for item in items:
        each = [next(rest) / max(1, len(ending.lstrip())) for ending in item.endings]
        right.append(each.index(max(each)) == item.label)
    return np.array(right, dtype=np.bool_)


def _in_bits(found: dict[str, list[float]]) -> Bits:
    return {way: -np.array(values) / math.log(2) for way, values in found.items()}


def grouped_lines(task: str, ways: dict[str, Right], bits: Bits, crosses: Right) -> list[list[str]]:
    """Lines for all items, for those whose right ending begins inside a token, and for the rest.
    A group of one item has none: there is no interval."""
    lines = accuracy_lines(task, ways, bits)
    for name, some in (("a token crosses", crosses), ("no token crosses", ~crosses)):
        if some.sum() > 1:
            right = {way: values[some] for way, values in ways.items()}
            part = {way: values[some] for way, values in bits.items()}
            lines += accuracy_lines(f"{task}: {name}", right, part)
    return lines


def accuracy_lines(task: str, ways: dict[str, Right], bits: Bits) -> list[list[str]]:
    """A line for each way: how many are right, and the mean bits of the right endings."""
    lines = []
    for way in bits:
        size = len(bits[way])
        cells = _right_cells(ways, way) if way in ways else [NOTHING] * 5
        lines.append([task, way, f"{size:,}", *cells, *_bit_cells(bits, way)])
    return lines


def _right_cells(ways: dict[str, Right], way: str) -> list[str]:
    right, exact = ways[way], ways["exact"]
    low, high = interval(right, np.ones(len(right)))
    cells = [f"{right.mean():.2%}", f"{low:.2%} to {high:.2%}"]
    if way == "exact":
        return [*cells, *[NOTHING] * 3]
    found = compared(exact, right)
    low, high = found.interval
    return [*cells, f"{found.difference:+.2%}", f"{low:+.2%} to {high:+.2%}", f"{found.p:.3f}"]


def _bit_cells(bits: Bits, way: str) -> list[str]:
    """One token back has no bits of the ending: it scores the end of the prompt with it."""
    if way == "one token back":
        return [NOTHING] * 3
    mean = f"{bits[way].mean():.3f}"
    if way == "exact":
        return [mean, NOTHING, NOTHING]
    more = bits[way] - bits["exact"]
    low, high = interval(more, np.ones(len(more)))
    return [mean, f"{more.mean():+.3f}", f"{low:+.3f} to {high:+.3f}"]


# --- Cost


def costs(
    name: str, model: Any, tokenizer: Tokenizer, items: Sequence[Item], timed: int
) -> list[list[str]]:
    rng = random.Random(0)
    whole = [item.context + item.endings[item.label] for item in items]
    cut = [text[: rng.randint(1, len(text))] for text in whole]
    kinds = {"HellaSwag's contexts": [item.context for item in items], "texts cut anywhere": cut}
    return [[name, kind, *_cost(model, tokenizer, texts, timed)] for kind, texts in kinds.items()]


def _cost(model: Any, tokenizer: Tokenizer, texts: Sequence[str], timed: int) -> list[str]:
    prompts = [Prompt(tokenizer, text, False) for text in texts]
    more = np.array([more_positions(prompt) for prompt in prompts])
    covers = np.mean([len(prompt.covers) for prompt in prompts])
    plain, begun, exact = times(model, tokenizer, texts[:timed])
    return [
        f"{len(texts):,}", f"{covers:.2f}", f"{more.mean():.2f}",
        f"{np.quantile(more, 0.95):.0f}", f"{more.max()}",
        f"{1000 * plain:.1f}", f"{1000 * begun:.1f}", f"{1000 * exact:.1f}", f"{exact / plain:.2f}",
    ]  # fmt: skip


def more_positions(prompt: Prompt) -> int:
    """What a model reads for the ids of all covers, the common ones once, beyond the ids of the
    prompt."""
    rows = longest(prompt.tail(cover) for cover in prompt.covers)
    plain = prompt.tail(prompt.covers[0])
    return sum(map(len, rows)) - len(plain)


def times(model: Any, tokenizer: Tokenizer, texts: Sequence[str]) -> list[float]:
    """The median times of one token by plain `generate`, of `begin`, and of `supratok.generate`."""
    start = start_of_text(model, tokenizer, None)

    def plain(text: str) -> None:
        ids = torch.tensor([[*start, *tokenizer.encode(text)]], device=model.device)
        model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False,
                       max_new_tokens=1, pad_token_id=start[0]).tolist()  # fmt: skip

    def begun(text: str) -> None:
        supratok.begin(model, tokenizer, [text], sample=False)

    def exact(text: str) -> None:
        supratok.generate(model, tokenizer, [text], sample=False, max_new_tokens=1)

    found: dict[Any, list[float]] = {plain: [], begun: [], exact: []}
    for text in (*texts[:3], *texts):  # the first ones warm up
        for way, seconds in found.items():
            began = time.perf_counter()
            way(text)
            seconds.append(time.perf_counter() - began)
    return [statistics.median(seconds[3:]) for seconds in found.values()]


def superbpe(path: Path) -> Tokenizer:
    """Its tokens of whole characters, in their order; the alphabet comes first."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(data).read()
    texts, vocab = list[str](), json.loads(data)["model"]["vocab"]
    for letters in sorted(vocab, key=vocab.__getitem__):
        try:
            texts.append(bytes_of_letters(letters).decode())
        except UnicodeDecodeError:
            continue
    alphabet = dict.fromkeys(char for text in texts for char in text)
    tokens = [Token(char, 0, "alphabet") for char in alphabet]
    tokens += [Token(text, 0, "imported") for text in texts if len(text) > 1]
    recipe = Recipe(vocab_size=len(tokens) + 257, special_tokens=("<|endoftext|>",))
    return Tokenizer(tokens, recipe)


def random_like(model: Any, tokenizer: Tokenizer) -> Any:
    """A model of the same shape over another vocabulary, with random weights."""
    end = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), 0)
    config = type(model.config).from_dict(
        {**model.config.to_dict(), **end, "vocab_size": tokenizer.vocab_size}
    )
    return type(model)(config).to(model.device).eval()


def _portions(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


if __name__ == "__main__":
    main()
