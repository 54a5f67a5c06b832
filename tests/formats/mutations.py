"""Damaged and hostile tokenizer files, the same for the same seed, each read in a worker process.

    python mutations.py huggingface 0 2224 folder      # prints one line of JSON a file

`count(kind, first, last, folder)` runs such workers: a file that takes longer than `DEADLINE` is a
hang, and a worker may not use more than `MEMORY`. A file is either read, and then usable, or
refused with one line that names it.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import random
import resource
import selectors
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import bases
import peers
from supratok import Recipe, Tokenizer, train
from supratok.extending.base import open_base
from supratok.formats.huggingface.write import tokenizer_json
from supratok.formats.listing import listing_of
from supratok.formats.peer import open_any
from supratok.formats.sentencepiece.write import write as write_model
from supratok.tokenizer.ids import Layout

DEADLINE = 120.0  # seconds a file, on a busy machine
MEMORY = 3 << 30  # bytes of addresses, beside those of the packages
TEXT = "One of the most in New York, as well as naïve 日本 😀.\n\n  It is [REF] not.</s>"

# --- Mutations of JSON -------------------------------------------------------------------------

_DEEP = "a deep list"  # stands for a list nested so deeply that json.dumps cannot write it
_STRINGS = [
    "", "\0", "\ud800", "\udfff x", "x" * 5000, "▁" * 70_000, "é", "<0x41>", "</s>", " ", "\n",
    "a b", "BPE", "Unigram", "WordPiece", "Sequence", "\U0010ffff", "merges", "1", "🙂", _DEEP,
]  # fmt: skip
_NUMBERS = [
    0, 1, -1, 2, 255, 256, 2**16, 2**23, 2**31 - 1, 2**31, 2**32, 2**53, 2**63, 2**64, 10**30,
    -(10**30), 10**4000, 0.5, -0.5, 1e308, 1e-320, float("inf"), float("-inf"), float("nan"),
]  # fmt: skip
_VALUES: list[Any] = [None, True, False, [], {}, [[]], {"": None}, [1, "a", None], {"type": "BPE"}]


def mutated(document: Any, chance: random.Random) -> Any:
    """The document with one to three things changed, anywhere in it."""
    document = copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        holder, key = _place(document, chance)
        _change(document, holder, key, chance)
    return document


def _place(document: Any, chance: random.Random) -> tuple[Any, Any]:
    """A list or an object, and a key of it: more often near the top, where the structure is."""
    holder: Any = document
    while True:
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = chance.choice(keys)
        inner = holder[key]
        if not isinstance(inner, (dict, list)) or not inner or chance.random() < 0.25:
            return holder, key
        holder = inner


def _change(document: Any, holder: Any, key: Any, chance: random.Random) -> None:
    value = holder[key]
    change = chance.randrange(9)
    if change == 0 and len(holder) > 1:
        del holder[key]
    elif change == 1:
        holder[key] = copy.deepcopy(chance.choice(_VALUES))
    elif change == 2:
        holder[key] = chance.choice(_NUMBERS)
    elif change == 3:
        holder[key] = chance.choice(_STRINGS)
    elif change == 4:
        _duplicate(holder, key, chance)
    elif change == 5 and isinstance(value, list):
        cut = chance.randrange(len(value) + 1)
        holder[key] = chance.choice((value[:cut], value[cut:], value * 2, value[::-1]))
    elif change == 6:
        holder[key] = [value] if chance.random() < 0.5 else {"type": value}
    elif change == 7:
        other, place = _place(document, chance)
        holder[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(value)
    else:
        holder[key] = _altered(value, chance)


def _duplicate(holder: Any, key: Any, chance: random.Random) -> None:
    if isinstance(holder, list):
        holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    else:
        holder[f"{key}{chance.choice(('2', '', ' ', 'x' * 100))}"] = copy.deepcopy(holder[key])


def _altered(value: Any, chance: random.Random) -> Any:
    """A value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.choice((-1, 1, -(2**40), 10**6, 10**9))
    if isinstance(value, float):
        return -value
    if isinstance(value, str):
        return chance.choice((value * 2, value[1:], value + " ", value.upper(), value[::-1]))
    return None


def written(document: Any) -> str:
    return json.dumps(document).replace(f'"{_DEEP}"', "[" * 5000 + "]" * 5000)


def resealed(document: Any) -> Any:
    """One of our own documents, with the checksum of its new content."""
    if isinstance(document, dict):
        layout = ("layout",) if document.get("version") == 2 else ()
        body = {name: document.get(name) for name in ("recipe", "report", "tokens", *layout)}
        text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        text = text.replace(f'"{_DEEP}"', "[" * 5000 + "]" * 5000)
        document["sha256"] = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return document


# --- Mutations of bytes and of protocol buffers --------------------------------------------------


def flipped(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, removed, repeated or put in."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 50))):
        at = chance.randrange(len(changed) or 1)
        size = chance.choice((1, 1, 4, 100))
        if chance.random() < 0.6:
            changed[at : at + 1] = bytes([chance.randrange(256)])
        else:
            changed[at : at + size] = chance.choice((b"", bytes(changed[at:] * 2)[:size] * 2))
    return bytes(
        changed[: chance.randrange(len(changed) + 1)] if chance.random() < 0.1 else changed
    )


def mutated_model(data: bytes, chance: random.Random) -> bytes:
    """A SentencePiece model with one to three things changed."""
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto.FromString(data)
    for _ in range(chance.choice((1, 1, 2, 3))):
        if chance.random() < 0.5 and model.pieces:
            _change_piece(model, chance)
        else:
            _change_field(
                chance.choice((model.trainer_spec, model.normalizer_spec, model.denormalizer_spec)),
                chance,
            )
    written = model.SerializeToString()
    return flipped(written, chance) if chance.random() < 0.3 else written


def _change_piece(model: Any, chance: random.Random) -> None:
    piece = chance.choice(model.pieces)
    change = chance.randrange(6)
    if change == 0:
        model.pieces.remove(piece)
    elif change == 1:
        model.pieces.add().CopyFrom(piece)
    elif change == 2:
        piece.type = chance.randrange(1, 7)
    elif change == 3:
        piece.score = chance.choice((0.0, -1.0, float("nan"), float("inf"), -3e38, 1e-40))
    elif change == 4:
        text = chance.choice(_STRINGS)
        piece.piece = text.encode(errors="replace").decode()
    else:
        del model.pieces[chance.randrange(len(model.pieces)) :]


def _change_field(spec: Any, chance: random.Random) -> None:
    field = chance.choice(spec.DESCRIPTOR.fields)
    with contextlib.suppress(TypeError, ValueError, AttributeError):
        value: Any = chance.choice(
            (True, False, 0, 1, -1, 2**31 - 1, 0.5, "x", "x" * 999, b"\xff" * 99)
        )
        if field.is_repeated:
            getattr(spec, field.name).extend([value])
        else:
            setattr(spec, field.name, value)


# --- Files to damage -----------------------------------------------------------------------------


def _ours(rule: Any, special: tuple[str, ...] = ()) -> Tokenizer:
    recipe = Recipe(vocab_size=330, segmentation=rule, special_tokens=special)
    return train(peers.documents(), recipe, progress=False)


def _laid_out() -> Tokenizer:
    """With a layout: texts that are cut out, spare ones, ids in another order, special tokens."""
    plain = _ours("merges", ("</s>",))
    entries = len(plain.texts)
    layout = Layout(
        special=(entries + 256,),
        bytes=tuple(range(entries, entries + 256)),
        entries=tuple(range(entries)),
        always={"[REF]": entries + 257, "\n\n": entries + 258},
        spare={"zz": entries + 300},
        prefix=True,
    )
    recipe = replace(plain.recipe, vocab_size=layout.size)
    laid = Tokenizer(plain.vocabulary, recipe, plain.report, layout)
    return laid.with_special_tokens(["<pad>"])


def _originals(kind: str, folder: Path) -> list[Any]:
    """What is damaged."""
    if kind == "ours":
        made = []
        for tokenizer in (_ours("merges"), _ours("fewest", ("</s>", "<pad>")), _laid_out()):
            tokenizer.save(folder / "good.json")
            made.append(json.loads((folder / "good.json").read_text(encoding="utf-8")))
        return made
    if kind == "huggingface":
        ours = [_ours("merges"), _ours("fewest", ("</s>",))]
        shapes = [bases.BASES[name]() for name in ("llama2", "gemma", "gpt2", "whole")]
        return [tokenizer_json(one, listing_of(one)) for one in ours] + shapes
    if kind == "sentencepiece":
        peers.make_sentencepiece(folder / "bpe.model")
        write_model(folder / "fewest.model", listing_of(_ours("fewest", ("</s>",))))
        return [(folder / f"{name}.model").read_bytes() for name in ("bpe", "fewest")]
    peers.make_tiktoken(folder / "good.tiktoken")
    return [(folder / "good.tiktoken").read_bytes()]


def cases(kind: str, folder: Path) -> Callable[[int], tuple[str, bytes]]:
    """A function from a seed to the name and the content of a damaged file."""
    name = {
        "ours": "my.json",
        "huggingface": "tokenizer.json",
        "sentencepiece": "tokenizer.model",
        "tiktoken": "some.tiktoken",
    }[kind]
    originals = _originals(kind, folder)

    def case(seed: int) -> tuple[str, bytes]:
        chance = random.Random(f"{kind} {seed}")
        original = originals[seed % len(originals)]
        if kind == "sentencepiece":
            return name, mutated_model(original, chance)
        if kind == "tiktoken":
            return name, flipped(original, chance)
        if seed % 10 == 9:
            return name, flipped(json.dumps(original).encode(), chance)
        changed = mutated(original, chance)
        return name, written(resealed(changed) if kind == "ours" else changed).encode()

    return case


# --- Reading them --------------------------------------------------------------------------------

READERS: dict[str, list[Callable[[Path], Any]]] = {
    "ours": [Tokenizer.load],
    "huggingface": [Tokenizer.from_huggingface, open_any],
    "sentencepiece": [Tokenizer.from_sentencepiece, open_any],
    "tiktoken": [open_any],
}


def outcome(read: Callable[[Path], Any], path: Path) -> str:
    """ "read", "refused", or what was wrong: an error that is not clean, or text that is lost."""
    try:
        found = read(path)
        if isinstance(found, Tokenizer):
            for text in (TEXT, "", " ", "a\0b" * 100):
                if found.decode(found.encode(text)) != text:
                    return f"text was lost: {text!r}"
            found.explain(TEXT)
            found.decode(found.ids)
        elif hasattr(found, "encode"):
            found.decode(found.encode(TEXT))
        return "read"
    except ValueError as error:
        said = str(error)
        clean = type(error) is ValueError and said.startswith(str(path)) and len(said) < 5000
        if clean and said.isprintable() and "did not foresee" not in said:
            return "refused"
        return f"{type(error).__name__}: {said}"[:500]
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:500]


def work(kind: str, first: int, last: int, folder: Path) -> None:
    case = cases(kind, folder)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    print(json.dumps("ready"), flush=True)
    for seed in range(first, last):
        name, data = case(seed)
        path = folder / name
        path.write_bytes(data)
        readers = READERS[kind]
        if kind == "huggingface" and seed % 25 == 0:
            readers = [*readers, open_base]  # it tries thousands of texts
        found = {read.__name__: outcome(read, path) for read in readers}
        print(json.dumps([seed, found]), flush=True)


def count(kind: str, first: int, last: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """The outcomes of these seeds, and those that are neither "read" nor "refused"."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    while first < last:
        for seed, found in _lines(kind, first, last, folder):
            first = seed + 1
            for reader, result in found.items():
                counts[result if result in ("read", "refused") else "wrong"] += 1
                if result not in ("read", "refused"):
                    wrong.append(f"{kind} {seed} {reader}: {result}")
    return counts, wrong


def _lines(kind: str, first: int, last: int, folder: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of one worker; the last may say that it hung or crashed."""
    paths = [str(Path(__file__).parents[1]), *sys.path]
    process = subprocess.Popen(
        [sys.executable, __file__, kind, str(first), str(last), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert process.stdout is not None
    with process, selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        seed = first
        while waiting.select(DEADLINE):
            line = process.stdout.readline()
            if not line:
                break
            if isinstance(told := json.loads(line), list):
                yield told[0], told[1]
                seed = told[0] + 1
        else:
            process.kill()
        if seed < last:
            code = process.wait()
            yield seed, {"worker": "it hung" if code == -9 else f"it ended with the code {code}"}


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
