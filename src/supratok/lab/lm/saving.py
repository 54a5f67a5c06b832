"""Save a model and its tokenizer as a folder that `transformers` opens, and load it again.

    save_folder("my-model", model, coder)
    pipeline("text-generation", "my-model")
    model, coder = load_folder("my-model")

To `transformers` the model is a GPT-2: the weights get its names, and the matrices are transposed.
The embedding table is written whole: `vocab_size` of `config.json` counts its rows, and
`generation_config.json` forbids the unused rows after the vocabulary. The tokenizer has a special
token whose id is the one that ends documents; if it lacks one, it gets <|endoftext|>.

`coder.json` is the original tokenizer, without an added token, for `load_folder`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save
from torch import Tensor

from ...common.files import whole_file, write_whole
from ...common.packages import package
from ...formats.peer import Spelling, open_any
from ...tokenizer import Tokenizer
from .coder import Coder, bare
from .model import Decoder, Shape

END = "<|endoftext|>"
CODER = "coder.json"
_WEIGHTS = "model.safetensors"

# The parts of a block: our name and GPT-2's.
_PARTS = {
    "norm_1": "ln_1",
    "attention.into": "attn.c_attn",
    "attention.out": "attn.c_proj",
    "norm_2": "ln_2",
    "wide": "mlp.c_fc",
    "narrow": "mlp.c_proj",
}


def save_folder(folder: str | os.PathLike[str], model: Decoder, coder: Coder) -> None:
    """The tokenizer must be a supratok file or a Hugging Face `tokenizer.json`."""
    if model.shape.rows != coder.rows:
        raise ValueError(
            f"the model has {model.shape.rows} embeddings and the tokenizer needs {coder.rows};"
            " pass the tokenizer that the model was trained with"
        )
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    _save_tokenizer(target, coder)
    _write(target / "config.json", _config(model.shape, coder))
    _write(target / "generation_config.json", _generation(model.shape, coder))
    with whole_file(target / _WEIGHTS) as file:
        file.write(save(_renamed(model), metadata={"format": "pt"}))


def load_folder(folder: str | os.PathLike[str]) -> tuple[Decoder, Coder]:
    """A folder that `save_folder` wrote; the model is on the CPU."""
    source = Path(folder)
    if not (source / CODER).exists():
        raise ValueError(f"{folder} has no {CODER}: pass a folder that save_folder wrote")
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    shape = Shape(config["vocab_size"], config["n_layer"], config["n_embd"], config["n_positions"])
    model = Decoder(shape)
    weights = load_file(str(source / _WEIGHTS))
    names = _names(shape)
    model.load_state_dict({ours: _turned(ours, weights[name]) for ours, name in names.items()})
    coder = Coder(open_any(source / CODER))
    if coder.end != config["eos_token_id"] and isinstance(coder.peer, Spelling):
        coder = Coder(coder.peer, coder.peer.token_text(config["eos_token_id"]))
    return model, coder


# --- The model


def _names(shape: Shape) -> dict[str, str]:
    """GPT-2's names of the weights, by ours."""
    names = {"table": "transformer.wte.weight", "positions": "transformer.wpe.weight"}
    parts = [("norm", "transformer.ln_f")]
    for block in range(shape.layers):
        parts += [
            (f"blocks.{block}.{ours}", f"transformer.h.{block}.{theirs}")
            for ours, theirs in _PARTS.items()
        ]
    kinds = ("weight", "bias")
    return names | {f"{ours}.{kind}": f"{name}.{kind}" for ours, name in parts for kind in kinds}


def _renamed(model: Decoder) -> dict[str, Tensor]:
    weights = {name: weight.detach().cpu() for name, weight in model.named_parameters()}
    return {name: _turned(ours, weights[ours]) for ours, name in _names(model.shape).items()}


def _turned(name: str, weight: Tensor) -> Tensor:
    """GPT-2 stores the matrices of a block transposed."""
    inside = name.startswith("blocks.") and weight.dim() == 2
    return weight.T.contiguous() if inside else weight


def _config(shape: Shape, coder: Coder) -> dict[str, Any]:
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": shape.rows,
        "n_positions": shape.context,
        "n_embd": shape.width,
        "n_layer": shape.layers,
        "n_head": shape.heads,
        "activation_function": "gelu_new",  # the tanh form
        "layer_norm_epsilon": 1e-5,
        **dict.fromkeys(("attn_pdrop", "embd_pdrop", "resid_pdrop"), 0.0),
        "tie_word_embeddings": True,
        "bos_token_id": coder.end,
        "eos_token_id": coder.end,
        "dtype": "float32",
        "rows_in_use": coder.size,  # of vocab_size: the rest is padding
    }


def _generation(shape: Shape, coder: Coder) -> dict[str, Any]:
    unused = list(range(coder.size, shape.rows))
    ids = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), coder.end)
    return {**ids, **({"suppress_tokens": unused} if unused else {})}


# --- The tokenizer


def _save_tokenizer(folder: Path, coder: Coder) -> None:
    """Save it twice: unchanged, and with a token that ends documents."""
    peer = bare(coder.peer)
    tokenizer = getattr(peer, "tokenizer", None)
    if isinstance(tokenizer, Tokenizer):
        _save_ours(folder, tokenizer, coder.end)
    elif hasattr(peer, "document"):
        _save_theirs(folder, peer.document(), coder.end)
    else:
        raise ValueError(
            f"{peer.name}: transformers cannot open a tokenizer of this kind; save models over"
            " supratok files or Hugging Face tokenizer.json only"
        )


def _save_ours(folder: Path, tokenizer: Tokenizer, end: int) -> None:
    whole, name = tokenizer, tokenizer.id_to_token(end)
    if name is None:
        name = _free_name(tokenizer.get_vocab())
        whole = tokenizer.with_special_tokens([name])
        _refuse_holes(whole.special_tokens, name, end)
    whole.export(folder, ["huggingface"], bos=name, eos=name)
    tokenizer.save(folder / CODER)


def _save_theirs(folder: Path, document: str, end: int) -> None:
    tokenizer = package("tokenizers", "lm").Tokenizer.from_str(document)
    name = tokenizer.id_to_token(end)
    if name is None:
        name = _free_name(tokenizer.get_vocab())
        tokenizer.add_special_tokens([name])
        _refuse_holes(tokenizer.get_vocab(), name, end)
    write_whole(folder / "tokenizer.json", tokenizer.to_str())
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": name,
        "eos_token": name,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 10**30,  # how transformers writes "no limit"
    }
    _write(folder / "tokenizer_config.json", config)
    write_whole(folder / CODER, document)


def _free_name(taken: Any) -> str:
    """<|endoftext|>, in as many angle brackets as the vocabulary requires."""
    name = END
    while name in taken:
        name = f"<{name}>"
    return name


def _refuse_holes(ids: dict[str, int], name: str, end: int) -> None:
    """The token that ends documents must have the last id."""
    if ids[name] != end or max(ids.values()) != end:
        raise ValueError(
            f"{name} would get the id {ids[name]}, but the model ends documents with {end} and the"
            f" last id is {max(ids.values())}: this tokenizer's ids have holes; renumber its tokens"
        )


def _write(path: Path, document: dict[str, Any]) -> None:
    write_whole(path, json.dumps(document, indent=2) + "\n")
