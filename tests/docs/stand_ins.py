"""Stand-ins for the files that the pages name: small, and of the right kind.

`place(page, folder)` puts into the folder each file that the commands of the page read. A file that
the page makes itself (`--out my.json`) is not put there, so that a page that forgets it fails.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path

from docs_pages import ROOT, blocks_of

import peers
from bases import BASES
from bases import documents as base_documents
from supratok import Recipe, Tokenizer, train
from supratok.counts import About, word_rows, write_counts
from texts import multilingual, prose, write_corpus

ENDS = {"bos_token_id": 0, "eos_token_id": 0}
PROGRAM = """
import sys
from transformers import AutoTokenizer
assert sys.argv[1:] == ["--model", "my-model"]
assert "_supratok" in AutoTokenizer.from_pretrained("my-model")._tokenizer.__dict__
"""


@functools.cache
def tokenizer() -> Tokenizer:
    recipe = Recipe(vocab_size=600, special_tokens=("</s>", "<pad>"))
    return train(prose(4, 300), recipe, progress=False)


def text(path: Path) -> None:
    path.write_text("\n\n".join(prose(4, 600)), encoding="utf-8")


def corpus(folder: Path) -> None:
    folder.mkdir()
    write_corpus(folder / "a.jsonl.zst", prose(1, 200) + base_documents())
    write_corpus(folder / "b.jsonl.zst", prose(2, 200))


def tickets(folder: Path) -> None:
    folder.mkdir()
    jsonl(folder / "a.jsonl")


def languages(folder: Path) -> None:
    folder.mkdir()
    for seed, code in enumerate(("de", "tr", "zh")):
        write_corpus(folder / f"{code}.jsonl.zst", multilingual(seed, 200) + prose(seed, 200))


def lines(folder: Path) -> None:
    folder.mkdir()
    for code in ("de", "tr", "zh"):
        (folder / f"{code}.txt").write_text("\n".join(multilingual(9, 20)), encoding="utf-8")


def base(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(BASES["gpt2"]()), encoding="utf-8")


def gpt2(folder: Path) -> None:
    """A tokenizer like GPT-2's, and a model of one layer over it."""
    import transformers

    base(folder / "tokenizer.json")
    config = transformers.GPT2Config(vocab_size=557, n_embd=16, n_layer=1, n_head=2, **ENDS)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)


def llama(folder: Path) -> None:
    tokenizer().export(folder, ["sentencepiece"])


def gguf(path: Path) -> None:
    from supratok.formats.gguf.llama_cpp import tiny_model

    tokenizer().export(path.parent / "before", ["gguf"])
    tiny_model(path, path.parent / "before" / "tokenizer.gguf", "gpt2")


def converter(folder: Path) -> None:
    """The one class of llama.cpp's converter that the page names."""
    folder.mkdir()
    (folder / "base.py").write_text("class TextModel:\n    pass\n", encoding="utf-8")


def counts(folder: Path) -> None:
    folder.mkdir()
    for number in range(3):
        about = About("words", "f", {f"digest{number}": f"shard{number}"}, {"documents": 1})
        rows = {"words.rows": word_rows([("hello", number + 1)])}
        write_counts(folder / f"{number}.counts", about, rows)


def spark(folder: Path) -> None:
    folder.mkdir()
    (folder / "part-0").write_text(" world\t3\nhello\t2\n", encoding="utf-8")


def data(folder: Path) -> None:
    """A folder like SUPRATOK_DATA."""
    for name in ("train", "test/wikitext103"):
        (folder / name).mkdir(parents=True)
    write_corpus(folder / "train/en100k.jsonl.zst", prose(1, 400))
    for file, texts in (("valid", prose(1, 430)[400:]), ("test", prose(1, 460)[430:])):
        wiki = "".join(f" = Title {number} = \n\n {text} \n" for number, text in enumerate(texts))
        (folder / f"test/wikitext103/wiki.{file}.raw").write_text(wiki, encoding="utf-8")


def jsonl(path: Path) -> None:
    records = [json.dumps({"text": text}) + "\n" for text in prose(6, 50)]
    path.write_text("".join(records), encoding="utf-8")


STAND_INS: dict[str, Callable[[Path], object]] = {
    "my.txt": text,
    "text.txt": text,
    "book.txt": text,
    "plain.json": lambda path: tokenizer().save(path),
    "my.json": lambda path: tokenizer().save(path),
    "my-model": lambda path: tokenizer().export(path, ["huggingface"], eos="</s>", pad="<pad>"),
    "my_program": lambda path: path.with_suffix(".py").write_text(PROGRAM, encoding="utf-8"),
    "corpus": corpus,
    "tickets": tickets,
    "part-1.jsonl.zst": lambda path: write_corpus(path, prose(3, 300)),
    "prompts.jsonl": jsonl,
    "tokenizer.json": base,
    "other/tokenizer.json": base,
    "o200k_base.tiktoken": peers.make_tiktoken,
    "gpt2": gpt2,
    "llama/tokenizer.model": lambda path: llama(path.parent),
    "converted.gguf": gguf,
    "conversion.base": lambda path: converter(path.with_name("conversion")),
    "shards": counts,
    "spark-output": spark,
    "ml": languages,
    "flores": lines,
    "data": data,
    "runs": lambda path: path.symlink_to(ROOT / "runs"),
}
# Names that the words around a block promise, as code before the first block.
BEFORE = {
    "extend-models.md": """
texts = ["We met in New York as well as in Paris."] * 50
""",
    "models.md": """
from transformers import GPT2Config
from supratok.formats.peer import open_any
from supratok.lab.lm.coder import Coder
texts = ["We met in New York as well as in Paris."] * 200
_coder = Coder(open_any("my-model"))
_ends = {"bos_token_id": _coder.end, "eos_token_id": _coder.end}
config = GPT2Config(vocab_size=_coder.rows, n_embd=16, n_layer=1, n_head=2, **_ends)
budget, batch, context = 4_096, 8, 32
""",
    "tokenize.md": """
from supratok.cli.main import main as _main
for _form in ("megatron", "parquet"):
    _command = ["tokenize", "my.json", "corpus", "--output-format", _form, "--out"]
    assert _main([*_command, f"shards-{_form}", "--quiet"]) == 0
""",
}


def place(page: Path, folder: Path) -> None:
    blocks = [block for block in blocks_of(page) if block.language in ("sh", "python")]
    shown = "\n".join(block.text for block in blocks)
    for name, make in STAND_INS.items():
        word = re.escape(name)
        makes = rf"(?:--out|export \S+|mkdir) {word}(?!\S)"
        if re.search(rf"(?<![\w./-]){word}(?![\w-]|\.\w)", shown) and not re.search(makes, shown):
            (folder / name).parent.mkdir(exist_ok=True)
            make(folder / name)
