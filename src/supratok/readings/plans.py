"""Readings as files, to be sent to where the text is.

A plan is a ZIP archive like a counts file (docs/counts.md): `plan.json` holds the kind of reading
and its plain values, `<name>.npy.zst` its arrays.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zstandard

from ..common.files import whole_file
from ..common.options import from_mapping
from ..recipe import Curation
from .reading import Reading
from .runs import Pieces, Runs, Stretches
from .uses import Neighbours, Usage

FORMAT = 1
KINDS: dict[str, type[Reading[Any]]] = {
    kind.__name__: kind
    for kind in (
        Pieces,
        Runs,
        Usage,
        Neighbours,
        Stretches,
    )
}

# What a file that is no plan leads to.
_DAMAGE = (
    zipfile.BadZipFile, zstandard.ZstdError, NotImplementedError, EOFError, OSError, ValueError,
    TypeError, LookupError,
)  # fmt: skip


def fingerprint(reading: Reading[Any]) -> str:
    """The SHA-256 of all that decides what a reading counts."""
    values, arrays = _parts(reading)
    hash = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        hash.update(name.encode())
        hash.update(np.ascontiguousarray(array).data)
    return hash.hexdigest()


class SplitRule(NamedTuple):
    """Which documents train: curation has its thresholds in bits."""

    curation: Curation | None
    hold_out: float


def write_plan(path: Path, reading: Reading[Any], rule: SplitRule) -> None:
    with whole_file(path) as file:
        file.write(pack(reading, rule))


def pack(reading: Reading[Any], rule: SplitRule) -> bytes:
    values, arrays = _parts(reading)
    values["split"] = [rule.curation and dataclasses.asdict(rule.curation), rule.hold_out]
    packer, out = zstandard.ZstdCompressor(level=1), io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("plan.json", packer.compress(json.dumps(values).encode()))
        for name, array in sorted(arrays.items()):
            data = io.BytesIO()
            np.save(data, array, allow_pickle=False)
            archive.writestr(f"{name}.npy.zst", packer.compress(data.getbuffer()))
    return out.getvalue()


def unpack(data: bytes, name: str = "the plan") -> tuple[Reading[Any], SplitRule]:
    """The reading of a plan, and its rule; a damaged one is refused."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacker = zstandard.ZstdDecompressor()
            values = json.loads(unpacker.decompress(archive.read("plan.json")))
            for member in archive.namelist():
                if member.endswith(".npy.zst"):
                    raw = unpacker.decompress(archive.read(member))
                    values[member.removesuffix(".npy.zst")] = np.load(
                        io.BytesIO(raw), allow_pickle=False
                    )
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']}, and this program reads {FORMAT}")
        curation, hold_out = values["split"]
        rule = SplitRule(curation and from_mapping(Curation, curation), hold_out)
        return KINDS[values["reading"]].of_plan(values), rule
    except _DAMAGE as error:
        raise ValueError(f"{name}: not a plan of supratok, or damaged ({error})") from error


def read_plan(path: Path) -> tuple[Reading[Any], SplitRule]:
    return unpack(path.read_bytes(), str(path))


def _parts(reading: Reading[Any]) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    plan = {"format": FORMAT, "reading": type(reading).__name__, **reading.plan()}
    arrays = {name: value for name, value in plan.items() if isinstance(value, np.ndarray)}
    return {name: value for name, value in plan.items() if name not in arrays}, arrays
