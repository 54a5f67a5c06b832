"""lm-evaluation-harness with exact scores: the model `supratok`.

    python -m supratok.runtimes lm_eval --model supratok --model_args pretrained=my-model \\
        --tasks hellaswag

or, in Python, `import supratok.runtimes.harness` before `lm_eval.simple_evaluate(model="supratok",
...)`. `my-model` is a folder with a model and its tokenizer, as for the harness's model `hf`. It
needs `pip install "lm-eval[hf]"`.

| request | here |
| --- | --- |
| loglikelihood | exact at both ends (scoring.py); greedy: what `generate` writes without sampling |
| generate_until | begins exactly (prompts.py) |
| loglikelihood_rolling | the harness's own: the ids of whole documents |

Every text starts after the token that starts texts, or else the one that ends them, as the harness
itself does where a context is empty.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lm_eval.api.registry import register_model
from lm_eval.models.huggingface import HFLM

from ..tokenizer import Tokenizer
from ..tokenizer.file import FILE
from .prompts import generate
from .reading import Tensor, torch
from .scoring import scores

_AUTO = 16  # prompts at once, where the harness would try


@register_model("supratok")
class SupratokLM(HFLM):
    """The harness's model for `transformers`, over a supratok tokenizer. Its arguments are those of
    `hf`; `canonical=False` scores by the model's own probabilities (see `supratok.logprobs`)."""

    def __init__(self, pretrained: Any, canonical: bool = True, **options: Any) -> None:
        super().__init__(pretrained, **options)
        if self.backend != "causal":
            raise ValueError(f"{pretrained}: exact scores are for causal language models alone")
        self._ours = open_tokenizer(options.get("tokenizer") or pretrained)
        self._canonical = canonical
        self._bos = [] if self.prefix_token_id is None else [self.prefix_token_id]
        self._start = "".join(self._ours.id_to_token(id) or "" for id in self._bos)

    def loglikelihood(
        self, requests: list[Any], disable_tqdm: bool = False
    ) -> list[tuple[float, bool]]:
        """Of pairs of a context and a continuation."""
        pairs = [(self._without_start(context), more) for context, more in _arguments(requests)]
        found = scores(self.model, self._ours, pairs, batch_size=self._at_once,
                       context=self.max_length, **self._options)  # fmt: skip
        answers = [(score.logprob, score.greedy) for score in found]
        for request, answer in zip(requests, answers, strict=True):
            self.cache_hook.add_partial("loglikelihood", request.args, answer)
        return answers

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """What follows each context, up to a text that ends it."""
        order = sorted(range(len(requests)), key=lambda place: self._kind(requests[place]))
        answers = [""] * len(requests)
        for first in range(0, len(order), self._at_once):
            batch = order[first : first + self._at_once]
            kinds = [repr(requests[place].args[1]) for place in batch]
            for kind in dict.fromkeys(kinds):
                some = [place for place, its in zip(batch, kinds, strict=True) if its == kind]
                made = self._generate([requests[place].args for place in some])
                for place, text in zip(some, made, strict=True):
                    answers[place] = text
                    self.cache_hook.add_partial("generate_until", requests[place].args, text)
        return answers

    def _generate(self, some: list[tuple[str, dict[str, Any]]]) -> list[str]:
        options = dict(some[0][1])
        until = options.pop("until", None) or []
        until = [until] if isinstance(until, str) else until
        size = options.pop("max_gen_toks", self.max_gen_toks)
        heat = options.pop("temperature", 0.0)
        sample = options.pop("do_sample", heat > 0)
        made = generate(
            self.model,
            self._ours,
            [self._without_start(context) for context, _ in some],
            sample=sample,
            temperature=heat if heat > 0 else 1.0,
            context=self.max_length - size,
            max_new_tokens=size,
            stopping_criteria=[_Until(self._ours, until)],
            **self._options,
            **options,
        )
        return [_before(text, until) for text in made]

    @property
    def _options(self) -> dict[str, Any]:
        return {"canonical": self._canonical, "bos": self._bos, "allow_special": True}

    @property
    def _at_once(self) -> int:
        return self.batch_size if isinstance(self.batch_size, int) else _AUTO

    def _without_start(self, context: str) -> str:
        """The start of a text is put before every context; some tasks write it too."""
        return context.removeprefix(self._start)

    def _kind(self, request: Any) -> tuple[str, int]:
        context, options = request.args
        return repr(options), -len(context)


class _Until:
    """Stops rows in which one of these texts was written."""

    def __init__(self, tokenizer: Tokenizer, until: list[str]) -> None:
        self._tokenizer, self._until = tokenizer, until
        self._width: int | None = None

    def __call__(self, ids: Tensor, scores: Any, **_: Any) -> Tensor:
        if self._width is None:
            self._width = ids.shape[1] - 1
        known = self._tokenizer.vocab_size
        rows = [[id for id in row if id < known] for row in ids[:, self._width :].tolist()]
        texts = self._tokenizer.decode_batch(rows)
        done = [any(end in text for end in self._until) for text in texts]
        return torch.tensor(done, device=ids.device)


def _before(text: str, until: Iterable[str]) -> str:
    for end in filter(None, until):
        text = text.split(end)[0]
    return text


def _arguments(requests: list[Any]) -> list[tuple[str, str]]:
    return [request.args for request in requests]


def open_tokenizer(folder: Any) -> Tokenizer:
    """Of a folder that `Tokenizer.export` wrote, or of another program's tokenizer.json."""
    if not isinstance(folder, (str, os.PathLike)) or not Path(folder).exists():
        raise ValueError(
            f"tokenizer={folder!r}: pass the folder of the tokenizer, on this machine, as"
            " tokenizer=... (or as pretrained=..., with the model)"
        )
    path = Path(folder)
    ours = path.is_file() or (path / FILE).exists()
    return Tokenizer.load(path) if ours else Tokenizer.from_huggingface(path)
