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

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..common.packages import package
from ..tokenizer import Tokenizer
from ..tokenizer.boundaries import Cover
from .chances import Chances, Prompt, all_chances, start_of_text
from .masks import Masks
from .processors import CanonicalLogits
from .reading import Kept, Tensor, padded, torch


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
    found, _ = _begin_all(
        model, tokenizer, prompts, _Pick(sample, generator), temperature=temperature,
        canonical=canonical, bos=bos, allow_special=allow_special, context=context,
    )  # fmt: skip
    return [one for one, _ in found]


def _begin_all(
    model: Any,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    pick: _Pick,
    *,
    temperature: float,
    canonical: bool,
    bos: Sequence[int] | None,
    allow_special: bool,
    context: int | None,
    keep: bool = False,
) -> tuple[list[tuple[Begin, list[int]]], Kept | None]:
    """The beginnings, the rows from which the model goes on, and its cache."""
    if isinstance(prompts, str):
        raise TypeError(f"prompts must be a list of texts, not a str ({prompts[:40]!r})")
    if not temperature > 0:
        raise ValueError(f"temperature={temperature}: must be above 0; for the best, sample=False")
    start = start_of_text(model, tokenizer, bos)
    asked = [Prompt(tokenizer, text, allow_special) for text in prompts]
    if not asked:
        return [], None
    chances, kept = all_chances(
        model,
        [(prompt, prompt.covers) for prompt in asked],
        start,
        masks=Masks(tokenizer) if canonical else None,
        temperature=temperature,
        context=context,
        keep=keep,
    )
    return [_begin(one, start, pick) for one in chances], kept


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


def _begin(chances: Chances, start: list[int], pick: _Pick) -> tuple[Begin, list[int]]:
    prompt = chances.prompt
    place, share = pick(torch.tensor(chances.covers(prompt.covers), dtype=torch.float64))
    cover = prompt.covers[place]
    ids, text, tail = list(cover.ids), prompt.text, prompt.tail(cover)
    if cover.rest:
        may = chances.crossing(cover)
        place, more = pick(chances.next(tail)[may])
        ids, share = [*ids, int(may[place])], share + more
        text = prompt.tokenizer.decode(ids)
    row = [*chances.base, *ids[len(prompt.stable) :]]
    return Begin([*start, *ids], text, share, cover), row


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
    begun, kept = _begin_all(
        model, tokenizer, prompts, _Pick(sample, None), temperature=temperature,
        canonical=canonical, bos=bos, allow_special=allow_special, context=context,
        keep=_goes_on(model, options),
    )  # fmt: skip
    if not begun:
        return []
    rows = [row for _, row in begun]
    if canonical:
        given = options.get("logits_processor") or []
        options["logits_processor"] = [CanonicalLogits(tokenizer, rows), *given]
    made = _go_on(model, tokenizer, rows, kept, _sampling(sample, temperature) | options)
    fresh = tokenizer.decode_batch(made, skip_special_tokens=True)
    return [
        one.text[len(prompt) :] + more
        for prompt, (one, _), more in zip(prompts, begun, fresh, strict=True)
    ]


def _goes_on(model: Any, options: Mapping[str, Any]) -> bool:
    """Whether generation can take the cache over: each row stays one row."""
    config = getattr(model, "generation_config", None)
    wanted = {"num_beams", "use_cache", "past_key_values", "cache_implementation"}
    beams, special = getattr(config, "num_beams", 1), getattr(config, "cache_implementation", None)
    return beams in (None, 1) and special is None and not wanted & options.keys()


def _sampling(sample: bool, temperature: float) -> dict[str, Any]:
    """All ids, whatever the defaults of `transformers` leave out."""
    return (
        {"do_sample": True, "temperature": temperature, "top_k": 0}
        if sample
        else {"do_sample": False}
    )


def _go_on(
    model: Any, tokenizer: Tokenizer, rows: list[list[int]], kept: Kept | None, options: Any
) -> list[list[int]]:
    """The ids behind each row, up to the end of a text."""
    transformers = package("transformers", "lm")
    if kept is None:
        ids, mask = padded(rows, model.device, left=True)
    else:
        options = {"past_key_values": kept.cache} | options
        ids, mask = _behind(kept, rows, model.device)
    pad, ends = _padding(model, tokenizer), _ends(model, options)
    given = options.pop("logits_processor", None) or []
    out = model.generate(
        input_ids=ids.masked_fill(mask == 0, pad),
        attention_mask=mask,
        logits_processor=transformers.LogitsProcessorList(given),
        pad_token_id=pad,
        **options,
    )
    sequences = out if isinstance(out, torch.Tensor) else out.sequences
    known = range(tokenizer.vocab_size)
    return [
        [id for id in itertools.takewhile(lambda id: id not in ends, row) if id in known]
        for row in sequences[:, ids.shape[1] :].tolist()
    ]


def _behind(kept: Kept, rows: list[list[int]], device: Any) -> tuple[Tensor, Tensor]:
    """The columns of the cache, masked where a row has other ids, and then the ids that it has not:
    one at least, since the model must read something."""
    ids, mask = padded(kept.rows, device, left=True)
    fresh = []
    for place, (known, row) in enumerate(zip(kept.rows, rows, strict=True)):
        pairs = enumerate(zip(known, row[:-1], strict=False))
        alike = next((at for at, (one, two) in pairs if one != two), min(len(known), len(row) - 1))
        mask[place, mask.shape[1] - len(known) + alike :] = 0
        fresh.append(row[alike:])
    more, real = padded(fresh, device, left=True)
    return torch.cat([ids, more], dim=1), torch.cat([mask, real], dim=1)


def _ends(model: Any, options: Mapping[str, Any]) -> set[int]:
    """The ids that end a text; behind them is padding."""
    config = getattr(model, "generation_config", None)
    given = options.get("eos_token_id", getattr(config, "eos_token_id", None))
    return set(given) if isinstance(given, list) else {given}


def _padding(model: Any, tokenizer: Tokenizer) -> int:
    """The id before shorter rows and behind finished ones: one that the tokenizer knows."""
    config = getattr(model, "generation_config", None)
    pad: Any = getattr(config, "pad_token_id", None)
    special = list(tokenizer.special_tokens.values())
    return int(pad) if pad in special else (special or [0])[0]
