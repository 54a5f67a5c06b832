"""Claim: the exported `tokenizer.json` gives our ids in JavaScript.

    python runs/javascript.py FOLDER ... --package tokenizers.js

FOLDER is an export with `huggingface`; `--package` is a copy of the package @huggingface/tokenizers
that has `dist/tokenizers.mjs`; `--node` is the program that runs it. The first lines of each file
of train/ml and hostile texts, encoded and decoded by both; those of more than `--longest`
characters are left out, because its Unigram takes minutes for them.
"""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from rows import Figures, Rows, claim, command, identity, located, options, write_table
from supratok import Tokenizer
from supratok.corpus import open_corpus
from supratok.formats.hostile import hostile_texts
from supratok.lab.report.tables import Table

HEAD = [
    "export",
    "rule",
    "package",
    "texts",
    "tokens",
    "ids differ",
    "all characters known",
    "text lost",
    "first that differs",
]
READER = """
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [code, folder] = process.argv.slice(-2);
const { Tokenizer } = await import(code);
const read = (name) => JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
const tokenizer = new Tokenizer(read("tokenizer.json"), read("tokenizer_config.json"));
for await (const line of createInterface({ input: process.stdin })) {
  const { ids } = tokenizer.encode(JSON.parse(line), { add_special_tokens: false });
  const text = ids.length ? tokenizer.decode(ids, { clean_up_tokenization_spaces: false }) : "";
  console.log(JSON.stringify([ids, text]));
}
"""


def lines(files: list[Path], each: int) -> Iterator[str]:
    for path in files:
        with open_corpus(path) as corpus:
            some = (line for text in corpus for line in text.split("\n") if line)
            yield from itertools.islice(some, each)


def measure(
    node: str, package: Path, folder: Path, files: list[Path], each: int, longest: int
) -> Figures:
    tokenizer = Tokenizer.load(folder)
    specials = list(tokenizer.special_tokens)
    texts = [*lines(files, each), *hostile_texts(tokenizer.texts, specials)]
    texts = [text for text in texts if len(text) <= longest]
    answers = read_by(node, package, folder, texts)
    wanted = tokenizer.encode_batch(texts)
    wrong = [t for t, (ids, _), one in zip(texts, answers, wanted, strict=True) if ids != one]
    lost = [text for text, (_, back) in zip(texts, answers, strict=True) if back != text]
    alphabet = {text for text in tokenizer.texts if len(text) == 1}
    about = json.loads((package / "package.json").read_text(encoding="utf-8"))
    return {
        "rule": tokenizer.recipe.segmentation, "package": f"{about['name']} {about['version']}",
        "texts": len(texts), "tokens": sum(map(len, wanted)),
        "differ": len(wrong), "known": sum(alphabet.issuperset(text) for text in wrong),
        "lost": len(lost), "first": (wrong or lost or [""])[0][:40],
    }  # fmt: skip


def read_by(
    node: str, package: Path, folder: Path, texts: list[str]
) -> list[tuple[list[int], str]]:
    """The ids of each text by JavaScript, and the text that they decode to."""
    code = str((package / "dist/tokenizers.mjs").resolve())
    done = subprocess.run(
        [node, "--input-type=module", "--eval", READER, code, str(folder.resolve())],
        input="".join(json.dumps(text) + "\n" for text in texts),
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{node} failed on {folder}")
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def main(arguments: list[str] | None = None) -> None:
    parser = options("The ids of exports in JavaScript.", "javascript")
    add = parser.add_argument
    add("exports", type=Path, nargs="+", metavar="FOLDER")
    add("--node", default="node", help="default: node")
    add("--package", type=Path, required=True, metavar="FOLDER", help="@huggingface/tokenizers")
    add("--lines", type=int, default=500, help="lines of each file (default: 500)")
    add("--longest", type=int, default=2000, help="characters of a text (default: 2,000)")
    args = parser.parse_args(arguments)
    files = sorted(located(args.corpus, "train/ml").glob("*.jsonl.zst"))
    rows, table = Rows(args.out, args.again), []
    for folder in args.exports:
        asked = {
            "row": folder.name, "export": identity(folder / "tokenizer.json"),
            "lines": args.lines, "longest": args.longest, "script": identity(Path(__file__)),
            "files": [identity(file) for file in files],
            "package": identity(args.package / "package.json"),
        }  # fmt: skip
        found = rows.get(
            asked,
            lambda folder=folder: measure(  # type: ignore[misc]
                args.node, args.package, folder, files, args.lines, args.longest
            ),
        )
        keys = ("texts", "tokens", "differ", "known", "lost")
        table.append([folder.name, found["rule"], found["package"],
                      *(f"{found[key]:,}" for key in keys), repr(found["first"])])  # fmt: skip
    notes = [
        f"the first {args.lines:,} lines of each of {len(files)} files, and hostile texts,"
        f" of at most {args.longest:,} characters",
        rows.about(),
        command("javascript", arguments),
    ]
    write_table(args.out, Table("Ids in JavaScript", claim(__doc__), HEAD, table, notes))


if __name__ == "__main__":
    main()
