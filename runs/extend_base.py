"""The base of extend_model.py: texts, a tokenizer of plain BPE, and a small model over it.

    ground = Ground(args)
    ground.base                 # the folder of the base, as transformers opens it; made once
    ground.extended             # the folder that `supratok extend` writes

The base learns from one half of the documents, and training continues on the other half: what a
model regains, it must not owe to text that it has read before.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from extend_lm import new_model, teach
from rows import ENGLISH, Figures, first_documents, identity, located
from supratok.common.files import write_whole
from supratok.common.packages import package
from supratok.corpus import open_corpus
from supratok.corpus.split import digest, is_for_measuring, is_held_out
from supratok.extending import Extension, extend
from supratok.formats.peer import open_any
from supratok.lab.baselines import Documents, trained
from supratok.lab.lm.coder import Coder, Ids
from supratok.lab.lm.saving import END
from supratok.lab.lm.stream import Stream
from supratok.lab.lm.training import Plan
from supratok.lab.lm.validation import device_of

BPE = "BPE-Bytes-GPT4o"
_CHARACTERS = 12  # of a token, at most, so that no text is read twice
_CONTEXT = 1024  # of a given model, at most
_CONFIG = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": END, "eos_token": END}


class Ground:
    """What all rows share: the texts, the base, the extended tokenizer."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.whole = located(args.corpus, ENGLISH)
        self.corpus = first_documents(self.whole, args.documents, args.out)
        self.device = device_of(args.device)

    # --- Texts

    @functools.cached_property
    def texts(self) -> dict[str, list[str]]:
        """`base`: what the base reads; `more`: what training continues on; `held out`: for the
        figures. The other half of what is held out is for choosing among starts."""
        found: dict[str, list[str]] = {"base": [], "more": [], "held out": [], "deciding": []}
        for text in open_corpus(self.corpus):
            code = digest(text)
            if is_held_out(code):
                found["held out" if is_for_measuring(code) else "deciding"].append(text)
            else:
                found["base" if len(found["base"]) <= len(found["more"]) else "more"].append(text)
        enough = _CHARACTERS * max(self.args.sample, *self.args.budgets)
        limits = {"held out": self.args.measured, "more": enough}
        return found | {name: _first(found[name], limit) for name, limit in limits.items()}

    # --- The base

    @functools.cached_property
    def asked(self) -> Figures:
        """All that decides the base."""
        asked: Figures = {"corpus": identity(self.whole), "documents": self.args.documents}
        if self.args.model:
            return {**asked, "model": str(self.args.model)}
        plan = asdict(self.plan)
        return {
            **asked, "size": self.args.size, "shape": list(self.args.shape),
            "untied": self.args.untied, "plan": plan,
        }  # fmt: skip

    @property
    def plan(self) -> Plan:
        """How the base is trained."""
        return Plan(tokens=self.args.tokens, batch=self.args.batch, rate=self.args.rate)

    @functools.cached_property
    def context(self) -> int:
        """Tokens that a model reads at once; of a given one, no more than it has positions for."""
        if not self.args.model:
            return int(self.args.shape[2])
        config = package("transformers", "lm").AutoConfig.from_pretrained(self.base)
        return min(_CONTEXT, getattr(config, "max_position_embeddings", None) or _CONTEXT)

    @functools.cached_property
    def base(self) -> Path:
        """The folder of the base: the one that is given, or one made now."""
        if self.args.model:
            return Path(self.args.model)
        folder = Path(self.args.out, f"base-{_key(self.asked)}")
        if not (folder / "config.json").exists():
            self._make(folder)
        return folder

    def _make(self, folder: Path) -> None:
        print(f"{folder}: training the base ...", flush=True)
        peer = trained(BPE, Documents(self.corpus), self.args.size, self.args.cache)
        tokenizer = package("tokenizers", "lm").Tokenizer.from_file(str(peer.path))
        tokenizer.add_special_tokens([END])
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "tokenizer.json", tokenizer.to_str())
        write_whole(folder / "tokenizer_config.json", json.dumps(_CONFIG))
        coder = self.coder(folder)
        model = new_model(coder, self.args.shape, self.args.untied, self.plan.seed)
        stream = Stream(coder.encode_all(self.texts["base"]), coder.end, self.plan.seed)
        teach(model, self.plan, stream, self.context, self.device)
        model.cpu().save_pretrained(folder)

    def coder(self, folder: Path) -> Coder:
        """The tokenizer of a folder, with the model's token that ends documents."""
        if not self.args.model:
            return Coder(open_any(folder))
        config = json.loads((self.base / "config.json").read_text(encoding="utf-8"))
        tokenizer = package("tokenizers", "lm").Tokenizer.from_file(str(folder / "tokenizer.json"))
        return Coder(open_any(folder), tokenizer.id_to_token(config["eos_token_id"]))

    def model(self) -> Any:
        """The base's model, opened anew, in float32 for training."""
        transformers = package("transformers", "lm")
        return transformers.AutoModelForCausalLM.from_pretrained(self.base, dtype="float32")

    # --- The extension

    @functools.cached_property
    def extended(self) -> Path:
        """The folder of the extended tokenizer."""
        folder = Path(self.args.out, f"extended-{self.args.add}-{_key(self.asked)}")
        if not folder.exists():
            print(f"{folder}: learning {self.args.add:,} phrases ...", flush=True)
            extend(self.base, self.corpus, self.args.add, folder, progress=False)
        return folder

    @functools.cached_property
    def extension(self) -> Extension:
        return Extension.load(self.extended)

    @functools.cached_property
    def longer(self) -> dict[bool, list[Ids]]:
        """The text that training continues on, in the base's tokens and in those of the extended
        tokenizer (True)."""
        return {
            new: self.coder(self.extended if new else self.base).encode_all(self.texts["more"])
            for new in (False, True)
        }

    def density(self, extended: bool) -> float:
        """Characters per token of the text that training continues on, ends of documents
        included."""
        tokens = sum(len(ids) + 1 for ids in self.longer[extended])
        return sum(map(len, self.texts["more"])) / tokens

    @functools.cached_property
    def sample(self) -> list[list[int]]:
        """The first training texts, in ids of the extended tokenizer."""
        found: list[list[int]] = []
        left = self.args.sample
        for ids in self.longer[True]:
            if left > 0 and len(ids):
                found.append(ids[:left].tolist())
                left -= len(found[-1])
        return found


def _first(texts: list[str], characters: int) -> list[str]:
    """Whole texts, by their digests, up to so many characters."""
    found, size = [], 0
    for text in sorted(texts, key=digest):
        if size >= characters:
            break
        found.append(text)
        size += len(text)
    return found


def _key(asked: Figures) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]
