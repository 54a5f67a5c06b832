"""llama.cpp, as it reads the tokenizer of a GGUF file.

    with open_vocabulary("tokenizer.gguf") as runtime:
        runtime.encode_batch(["in New York"])      # [[268, 275, 297, 288]]

PyPI has llama.cpp in two packages: `llama-cpp-python`, which compiles it at installation, and
`xllamacpp`, which comes compiled, but offers only a server that needs a whole model. For that
server we write the smallest model that loads, with random weights, around the tokenizer.
"""

from __future__ import annotations

import ctypes
import http.client
import importlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from ...common.packages import install_hint, package
from ...corpus.batches import batches
from ..listing import SPACE
from ..runtime import Runtime
from .fields import read_header
from .write import copy_fields

WIDTH = 32  # of the smallest model
AT_ONCE = 1_000_000  # characters a request
SEPARATOR = 2**31 - 1  # no id: it separates texts in a request, and in its answer


class LlamaCpp(Runtime):
    """Both packages share the limits of llama.cpp."""

    def __init__(self, path: str | Path) -> None:
        self.name = str(path)
        tensors, fields = read_header(path)
        self._has_model = tensors > 0
        tokens, model, prefix = (
            fields[name].value if (name := f"tokenizer.ggml.{part}") in fields else None
            for part in ("tokens", "model", "add_space_prefix")
        )
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise ValueError(f"{path}: a GGUF file without a tokenizer; convert it again")
        best_path = model == "t5"
        self._prefix = prefix is True
        self._alphabet = {token for token in tokens if len(token) == 1} if best_path else None

    def can_hold(self, text: str) -> bool:
        """It reads U+2581 as a space, and under `fewest` a row of NULs as one."""
        return SPACE not in text and (self._alphabet is None or "\0\0" not in text)

    def can_return(self, text: str) -> bool:
        """It also prints the space that it puts before a text, and under `fewest` it prints bytes
        as private characters: see characters.py."""
        known = self._alphabet is None or self._alphabet.issuperset(text.replace(" ", SPACE))
        return known and not self._prefix


def open_vocabulary(path: str | Path) -> InProcess | Served:
    """The tokenizer of a GGUF file, run by the package that is installed."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file; write one with `supratok export`")
    if importlib.util.find_spec("llama_cpp") is not None:
        return InProcess(path)
    if importlib.util.find_spec("xllamacpp") is not None:
        return Served(path)
    raise ImportError(
        f"reading GGUF tokenizers needs llama.cpp: {install_hint('verify', 'xllamacpp')}, or"
        " pip install llama-cpp-python, which compiles it"
    )


class InProcess(LlamaCpp):
    """Through llama-cpp-python, which opens a tokenizer without a model.

    Its `detokenize` has room for 32 bytes a token and cuts longer ones, so we call llama.cpp's."""

    program = "llama-cpp-python"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._library = importlib.import_module("llama_cpp")
        self._silence = self._library.llama_log_callback(lambda *_: None)
        self._library.llama_log_set(self._silence, ctypes.c_void_p(0))
        options = self._library.llama_model_default_params()
        options.vocab_only = True
        self._model = self._library.llama_model_load_from_file(str(path).encode(), options)
        if not self._model:
            raise ValueError(f"{path}: llama.cpp cannot read this file")
        self._vocabulary = self._library.llama_model_get_vocab(self._model)

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[list[int]]:
        return [self._encode(text.encode()) for text in texts]

    def _encode(self, text: bytes) -> list[int]:
        room = len(text) + 2  # no token is shorter than a byte; llama.cpp may add two
        ids = (ctypes.c_int32 * room)()
        count = self._library.llama_tokenize(
            self._vocabulary, text, len(text), ids, room, False, False
        )
        return list(ids[:count])

    def decode(self, ids: list[int]) -> str:
        given = (ctypes.c_int32 * len(ids))(*ids)

        def fill(room: int) -> tuple[int, bytes]:
            text = ctypes.create_string_buffer(room)
            size = self._library.llama_detokenize(
                self._vocabulary, given, len(ids), text, room, False, True
            )
            return size, text.raw

        size, text = fill(64 * len(ids) + 1)
        if size < 0:
            size, text = fill(-size)
        return text[:size].decode("utf-8", "replace")

    def close(self) -> None:
        self._library.llama_model_free(self._model)


class Served(LlamaCpp):
    """Through xllamacpp's server, which only this machine can reach. It serves a file that has a
    model unchanged; around a tokenizer alone we write one."""

    program = "xllamacpp"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._folder = tempfile.TemporaryDirectory()
        try:
            self._process = self._start(Path(path))
        except BaseException:
            self._folder.cleanup()
            raise
        address = urllib.parse.urlparse(self._address(path))
        self._connection = http.client.HTTPConnection(str(address.hostname), address.port)

    def _start(self, path: Path) -> subprocess.Popen[str]:
        if not self._has_model:
            path, vocabulary = Path(self._folder.name) / "tiny.gguf", path
            tiny_model(path, vocabulary)
        script = Path(__file__).with_name("llama_server.py")
        with open(Path(self._folder.name) / "log.txt", "wb") as log:
            return subprocess.Popen(
                [sys.executable, "-P", script, path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def _address(self, path: str | Path) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("http://"):
                return line.strip()
        log = (Path(self._folder.name) / "log.txt").read_text(errors="replace")
        self._end()
        raise ValueError(f"{path}: llama.cpp cannot read this file; it says: {log[-1000:].strip()}")

    def encode_batch(self, texts: list[str], threads: int | None = None) -> list[list[int]]:
        return [ids for some in batches(texts, AT_ONCE) for ids in self._encode(some)]

    def _encode(self, texts: list[str]) -> Iterator[list[int]]:
        content = [part for text in texts for part in (text, SEPARATOR)]
        body = {"content": content, "add_special": False, "parse_special": False}
        ids: list[int] = []
        for id in self._ask("/tokenize", body)["tokens"]:
            if id != SEPARATOR:
                ids.append(id)
            else:
                yield ids
                ids = []

    def decode(self, ids: list[int]) -> str:
        return str(self._ask("/detokenize", {"tokens": ids})["content"])

    def _ask(self, path: str, body: Any) -> Any:
        data = json.dumps(body, ensure_ascii=False).encode()
        try:
            status, text = self._send(path, data)
        except ConnectionError:  # the server closes connections that are idle for some seconds
            self._connection.close()
            status, text = self._send(path, data)
        if status != 200:
            raise ValueError(f"llama.cpp refused the request: {text.decode('utf-8', 'replace')}")
        return json.loads(text)

    def _send(self, path: str, data: bytes) -> tuple[int, bytes]:
        self._connection.request("POST", path, data, {"Content-Type": "application/json"})
        with self._connection.getresponse() as answer:
            return answer.status, answer.read()

    def close(self) -> None:
        self._connection.close()
        self._end()

    def _end(self) -> None:
        self._process.communicate()  # it exits at the end of its input
        self._folder.cleanup()


# --- The smallest model ----------------------------------------------------------------------

Architecture = Literal["llama", "gpt2"]

_SHAPES: dict[Architecture, dict[str, tuple[int, ...]]] = {
    "llama": {
        "output_norm.weight": (WIDTH,),
        **{f"blk.0.{part}_norm.weight": (WIDTH,) for part in ("attn", "ffn")},
        **{
            f"blk.0.{part}.weight": (WIDTH, WIDTH)
            for part in ("attn_q", "attn_k", "attn_v", "attn_output")
        },
        **{f"blk.0.{part}.weight": (WIDTH, WIDTH) for part in ("ffn_gate", "ffn_up", "ffn_down")},
    },
    "gpt2": {
        "position_embd.weight": (WIDTH, WIDTH),
        **{f"output_norm.{kind}": (WIDTH,) for kind in ("weight", "bias")},
        **{f"blk.0.{part}_norm.{kind}": (WIDTH,)
           for part in ("attn", "ffn") for kind in ("weight", "bias")},
        "blk.0.attn_qkv.weight": (3 * WIDTH, WIDTH),
        "blk.0.attn_qkv.bias": (3 * WIDTH,),
        **{f"blk.0.{part}.weight": (WIDTH, WIDTH)
           for part in ("attn_output", "ffn_up", "ffn_down")},
        **{f"blk.0.{part}.bias": (WIDTH,) for part in ("attn_output", "ffn_up", "ffn_down")},
    },
}  # fmt: skip


def tiny_model(
    path: str | Path, vocabulary: str | Path, architecture: Architecture = "llama"
) -> None:
    """Write a model that llama.cpp loads: one layer with random weights, and the tokenizer of the
    GGUF file `vocabulary`."""
    import numpy as np

    fields = read_header(vocabulary).fields
    writer = package("gguf", "export").GGUFWriter(path, architecture)
    writer.add_context_length(WIDTH)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(1)
    writer.add_layer_norm_eps(1e-5)
    writer.add_layer_norm_rms_eps(1e-5)
    copy_fields(fields, writer, lambda name: name.startswith("tokenizer."))
    size = len(fields["tokenizer.ggml.tokens"].value)
    random = np.random.default_rng(0)
    for name, shape in {"token_embd.weight": (size, WIDTH), **_SHAPES[architecture]}.items():
        writer.add_tensor(name, random.normal(0, 0.02, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
