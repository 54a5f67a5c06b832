"""Write a tokenizer for other programs.

    tokenizer.export("my-model", eos="</s>")    # or: supratok export my.json my-model --eos '</s>'

writes the files that `transformers`, vLLM, SentencePiece and llama.cpp open, and `supratok.json`,
which loses nothing. `export` first writes them to another folder, where every installed runtime
reads them (`verify`). It moves them into place only if all ids agree and all texts come back.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..common.packages import install_hint
from ..tokenizer import Tokenizer
from ..tokenizer.file import FILE
from .gguf import write as gguf
from .huggingface import write as huggingface
from .listing import Listing, Roles, listing_of
from .sentencepiece import write as sentencepiece
from .verify import Verification, verify

# The files of each format, and the package that writes them.
FORMATS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "huggingface": (("tokenizer.json", "tokenizer_config.json"), None),
    "sentencepiece": (("tokenizer.model",), "sentencepiece"),
    "gguf": (("tokenizer.gguf",), "gguf"),
}
NO_BYTES = (
    "under the rule `fewest`, llama.cpp prints the bytes that a model generates as private"
    " characters; name the format gguf to write it anyway"
)


@dataclass
class Exported:
    folder: Path
    files: list[str]
    left_out: dict[str, str]  # formats not written, with the reason
    verification: Verification


def export(
    tokenizer: Tokenizer,
    folder: str | os.PathLike[str],
    formats: Iterable[str] | None = None,
    roles: Roles | None = None,
) -> Exported:
    """Write these formats, or all that fit this tokenizer; see `Tokenizer.export`."""
    target = Path(folder)
    chosen, left_out = _choose(tokenizer, formats)
    listing = listing_of(tokenizer, roles)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as beside:
        made = Path(beside)
        tokenizer.save(made / FILE)
        for name in list(chosen):
            try:
                _write(name, made, tokenizer, listing)
            except ValueError as error:  # this format cannot hold the vocabulary
                if formats is not None:
                    raise
                left_out[name] = str(error)
                chosen.remove(name)
        files = _files(chosen)
        _refuse_stale(target, files)
        verification = verify(made)
        if not verification.good:
            raise ValueError(
                f"{folder} was not written, because a runtime disagrees: {verification.problem()};"
                " please report this, with the tokenizer and these versions"
            )
        target.mkdir(exist_ok=True)
        for file in files:
            (made / file).replace(target / file)
    verification.folder = str(folder)
    return Exported(target, files, left_out, verification)


def _choose(
    tokenizer: Tokenizer, formats: Iterable[str] | None
) -> tuple[list[str], dict[str, str]]:
    """The formats to write, and those left out with the reason."""
    if formats is not None:
        chosen = list(dict.fromkeys([formats] if isinstance(formats, str) else formats))
        for name in chosen:
            if name not in FORMATS:
                raise ValueError(f"format {name!r}: not one of {', '.join(FORMATS)}")
        return chosen, {}
    left_out: dict[str, str] = {}
    for name, (_, package) in FORMATS.items():
        if package is not None and importlib.util.find_spec(package) is None:
            left_out[name] = f"{package} is not installed: {install_hint('export', package)}"
    if tokenizer.recipe.segmentation == "fewest":
        left_out["gguf"] = NO_BYTES
    return [name for name in FORMATS if name not in left_out], left_out


def _files(formats: list[str]) -> list[str]:
    return [FILE, *(file for name in formats for file in FORMATS[name][0])]


def _refuse_stale(folder: Path, files: list[str]) -> None:
    """Refuse to leave a file of an earlier export: it would give other ids."""
    for name, (theirs, _) in FORMATS.items():
        stale = next((file for file in theirs if (folder / file).exists()), None)
        if stale is not None and stale not in files:
            raise ValueError(
                f"{folder / stale} exists and would disagree with this export; remove it, or"
                f" export the format {name} as well"
            )


def _write(name: str, folder: Path, tokenizer: Tokenizer, listing: Listing) -> None:
    if name == "huggingface":
        huggingface.write(folder, tokenizer, listing)
    elif name == "sentencepiece":
        sentencepiece.write(folder / "tokenizer.model", listing)
    else:
        gguf.write_vocabulary(folder / "tokenizer.gguf", listing)
