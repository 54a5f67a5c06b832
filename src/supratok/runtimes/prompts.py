"""Begin to generate from a prompt, exactly, also where it ends inside a phrase.

    supratok.generate(model, tokenizer, ["We met in New"], max_new_tokens=20)

A model over phrases never sees ` New` before ` York` where ` New York` is a token. So the end of a
prompt is not encoded and taken for granted: `begin` draws one of the covers of the prompt by its
probability (chances.py) and, if the prompt ends inside a token, this token. From there plain
generation goes on. A text that is made so is drawn from the model's distribution of texts, given
that it begins with the prompt: covers exclude each other, so to draw a cover and then go on is to
draw from all texts that begin so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..common.packages import package
from ..tokenizer import Tokenizer
from ..tokenizer.boundaries import Cover
from .chances import Chances, Prompt, all_chances, start_of_text
from .masks import Masks
from .processors import CanonicalLogits
from .reading import Tensor, torch


class Begin(NamedTuple):
    """How a text begins: `ids` are what the model goes on from, the start of a text included;
    `text` is their text without that start. It begins with the prompt, and is longer if the last
    token crosses the prompt's end."""

    ids: list[int]
    text: str
    logprob: float  # of this beginning among all of the prompt
    cover: Cover


def begin(
    model: Any,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    *,
    sample: bool = True,
    temperature: float = 1.0,
    generator: Any = None,
    canonical: bool = True,
    bos: Sequence[int] | None = None,
    allow_special: bool = False,
    context: int | None = None,
) -> list[Begin]:
    """Where generation starts for each prompt: one of its covers, drawn by its probability, and
    the token that crosses the prompt's end, if one does. With `sample=False`, the likeliest cover
    and its likeliest token. `model`: a causal language model of `transformers`.

    `temperature` is that of the generation that follows; `generator` is one of torch. The other
    options are those of `logprobs`."""
    if isinstance(prompts, str):
        raise TypeError(f"prompts must be a list of texts, not a str ({prompts[:40]!r})")
    if not temperature > 0:
        raise ValueError(f"temperature={temperature}: must be above 0; for the best, sample=False")
    start = start_of_text(model, tokenizer, bos)
    asked = [Prompt(tokenizer, text, allow_special) for text in prompts]
    if not asked:
        return []
    found = all_chances(
        model,
        [(prompt, prompt.covers) for prompt in asked],
        start,
        masks=Masks(tokenizer) if canonical else None,
        temperature=temperature,
        context=context,
    )
    pick = _Pick(sample, generator)
    return [_begin(chances, start, pick) for chances in found]


class _Pick(NamedTuple):
    """Choose one of several log-probabilities: by chance, or the highest."""

    sample: bool
    generator: Any

    def __call__(self, chances: Tensor) -> tuple[int, float]:
        """Its place, and the logarithm of its share."""
        shares = chances.double().log_softmax(0)
        if not self.sample:
            place = int(shares.argmax())
        else:
            device = self.generator.device if self.generator is not None else "cpu"
            drawn = torch.multinomial(shares.exp().to(device), 1, generator=self.generator)
            place = int(drawn)
        return place, float(shares[place])


def _begin(chances: Chances, start: list[int], pick: _Pick) -> Begin:
    prompt = chances.prompt
    place, share = pick(torch.tensor([chances.cover(cover) for cover in prompt.covers]))
    cover = prompt.covers[place]
    if not cover.rest:
        return Begin([*start, *cover.ids], prompt.text, share, cover)
    ids = chances.crossing(cover)
    place, more = pick(chances.next(prompt.tail(cover))[ids])
    whole = [*cover.ids, int(ids[place])]
    return Begin([*start, *whole], prompt.tokenizer.decode(whole), share + more, cover)


def generate(
    model: Any,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    *,
    sample: bool = True,
    temperature: float = 1.0,
    canonical: bool = True,
    bos: Sequence[int] | None = None,
    allow_special: bool = False,
    context: int | None = None,
    **options: Any,
) -> list[str]:
    """What the model writes after each prompt: `begin`, then `model.generate`, which gets all other
    options, such as max_new_tokens. Special tokens are left out of what it returns.

    With `canonical` each step is restricted to ids that `encode` could give (`CanonicalLogits`).
    `context`: of longer beginnings the model reads the end. For several texts of one prompt, pass
    it several times: each has a beginning of its own."""
    for name, remedy in (
        ("do_sample", "pass sample=..."),
        ("num_return_sequences", "pass the prompt several times"),
    ):
        if name in options:
            raise TypeError(f"{name} is not an option here; {remedy}")
    begun = begin(
        model, tokenizer, prompts, sample=sample, temperature=temperature, canonical=canonical,
        bos=bos, allow_special=allow_special, context=context,
    )  # fmt: skip
    if not begun:
        return []
    rows = [one.ids if context is None else one.ids[-context:] for one in begun]
    made = _go_on(model, tokenizer, rows, canonical, _sampling(sample, temperature) | options)
    fresh = tokenizer.decode_batch(made, skip_special_tokens=True)
    return [
        one.text[len(prompt) :] + more
        for prompt, one, more in zip(prompts, begun, fresh, strict=True)
    ]


def _sampling(sample: bool, temperature: float) -> dict[str, Any]:
    """All ids, whatever the defaults of `transformers` leave out."""
    return (
        {"do_sample": True, "temperature": temperature, "top_k": 0}
        if sample
        else {"do_sample": False}
    )


def _go_on(
    model: Any, tokenizer: Tokenizer, rows: list[list[int]], canonical: bool, options: Any
) -> list[list[int]]:
    """The ids behind each row, up to the end of a text."""
    transformers = package("transformers", "lm")
    width = max(map(len, rows))
    pad = _padding(model, tokenizer)
    ids = torch.tensor([[pad] * (width - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
    given = list(options.pop("logits_processor", None) or [])
    if canonical:
        given.insert(0, CanonicalLogits(tokenizer, [width - len(row) for row in rows]))
    out = model.generate(
        input_ids=ids.to(model.device),
        attention_mask=mask.to(model.device),
        logits_processor=transformers.LogitsProcessorList(given),
        pad_token_id=pad,
        **options,
    )
    sequences = out if isinstance(out, torch.Tensor) else out.sequences
    known = tokenizer.vocab_size
    return [[id for id in row if id < known] for row in sequences[:, width:].tolist()]


def _padding(model: Any, tokenizer: Tokenizer) -> int:
    """The id before shorter rows and behind finished ones: one that leaves no text."""
    config = getattr(model, "generation_config", None)
    ends = getattr(config, "eos_token_id", None)
    wanted = [getattr(config, "pad_token_id", None), *(ends if isinstance(ends, list) else [ends])]
    special = list(tokenizer.special_tokens.values())
    return next((id for id in wanted if id in special), special[0] if special else 0)
