"""From an empty folder and an empty environment to a model that generates: run it, and write it up.

    python tools/first_minutes.py --write docs/first-minutes.md     # what readers see
    python tools/first_minutes.py --borrow                          # what CI runs

Builds the wheel (or takes --wheel), makes an environment in which no compiler is on the path,
installs the wheel there and runs `STEPS` as a user would type them. Any command that fails stops
the script, and so does a model that does not end its text with the token that `export --eos` named.
With --borrow the step that installs torch and transformers takes them from the environment that
runs this script: it saves a gigabyte, and changes nothing else.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# All that the commands may call. No compiler is among them.
TOOLS = ("bash", "cat", "head", "ls", "wc", "uname", "ldd", "sed")
INSTALL_MODELS = "pip install torch transformers"

MODEL = """\
import torch
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

tokenizer = AutoTokenizer.from_pretrained("my-model")
end = tokenizer.eos_token_id
texts = open("my.txt", encoding="utf-8").read().split("\\n\\n")
ids = [id for text in texts for id in [*tokenizer(text).input_ids, end]]
windows = torch.tensor(ids[: len(ids) // 64 * 64]).view(-1, 64)

torch.manual_seed(0)
config = GPT2Config(
    vocab_size=len(tokenizer),
    n_layer=2,
    n_head=4,
    n_embd=96,
    n_positions=512,
    bos_token_id=end,
    eos_token_id=end,
)
model = GPT2LMHeadModel(config)
optimiser = torch.optim.AdamW(model.parameters(), lr=4e-3)
for step in range(300):
    batch = windows[torch.randint(len(windows), (8,))]
    loss = model(batch, labels=batch).loss
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    if step % 100 == 99:
        print(f"step {step + 1}: loss {loss:.2f}")

prompt = tokenizer("This function returns", return_tensors="pt")
made = model.generate(
    **prompt, do_sample=True, max_new_tokens=400, pad_token_id=tokenizer.pad_token_id
)[0]
print(tokenizer.decode(made))
print("stopped at", repr(tokenizer.decode(made[-1])))
assert made[-1] == end, "the model did not stop"
"""


class Step(NamedTuple):
    before: str  # a sentence for the reader
    command: str
    file: str = ""  # a file that the command needs, shown before it
    text: str = ""


STEPS = [
    Step(
        "An empty folder, an environment of its own, and the wheel. No compiler is needed.",
        "pip install {wheel}",
    ),
    Step("What is installed, and what more there could be:", "supratok doctor"),
    Step(
        "Your own text. Here it is the documentation inside Python's standard library; a blank line"
        " ends a document.",
        "wc my.txt && head -n 3 my.txt",
    ),
    Step("Train:", "supratok train my.txt --vocab-size 4000 --out my.json"),
    Step(
        "Look at what it does:",
        "echo 'If the file does not exist, an exception is raised.' | supratok encode my.json"
        " --tokens",
    ),
    Step(
        "Export. A role that names a special token which the tokenizer lacks adds it, after all"
        " other ids:",
        "supratok export my.json my-model --eos '</s>' --pad '<pad>'",
    ),
    Step("Models need two more packages:", INSTALL_MODELS),
    Step(
        "Load the folder with `transformers`, train a tiny model, let it generate. It stops at the"
        " end-of-text token:",
        "python model.py",
        "model.py",
        MODEL,
    ),
]


class Place:
    """The empty folder, and the environment in it."""

    def __init__(self, folder: Path, borrow: bool) -> None:
        self.folder, self._borrow = folder, borrow
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
        self._tools = folder / "tools"
        self._tools.mkdir()
        for name in TOOLS:
            if found := shutil.which(name):
                (self._tools / name).symlink_to(found)

    def run(self, command: str) -> str:
        """What a terminal of 100 columns would show."""
        if command == INSTALL_MODELS and self._borrow:
            self._lend()
            return ""
        network = ("PIP_", "SSL_", "HTTP", "http", "REQUESTS_")
        kept = {name: value for name, value in os.environ.items() if name.startswith(network)}
        path = f"{self.folder / 'env' / 'bin'}{os.pathsep}{self._tools}"
        env = kept | {"PATH": path, "HOME": str(self.folder), "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
        env |= {"OMP_NUM_THREADS": "1"}  # torch's threads would wait busily for a core
        env |= {"PIP_QUIET": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=env, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"$ {command}\n{done.stdout}\nexit code {done.returncode}")
        return done.stdout.replace(str(self.folder), "~")

    def _lend(self) -> None:
        """Put the packages of this script's environment after those of the new one."""
        (packages,) = (self.folder / "env").glob("lib/python*/site-packages")
        (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")


def write_text(place: Place) -> None:
    """my.txt: two megabytes of prose, by the code of the demo in the installed wheel."""
    code = (
        "import sysconfig; from pathlib import Path; from supratok.cli.demo_text import read;"
        "text = '\\n\\n'.join(read(Path(sysconfig.get_path('stdlib'))).training);"
        "Path('my.txt').write_text(text[:2_000_000], encoding='utf-8')"
    )
    place.run(f'python -c "{code}"')


def transcript(place: Place, wheel: Path) -> Iterator[str]:
    shutil.copy(wheel, place.folder)
    for step in STEPS:
        command = step.command.replace("{wheel}", wheel.name)
        if "my.txt" in command and not (place.folder / "my.txt").exists():
            write_text(place)
        yield f"{step.before}\n"
        if step.file:
            (place.folder / step.file).write_text(step.text, encoding="utf-8")
            yield f"```python\n# {step.file}\n{step.text}```\n"
        output = place.run(command)
        yield f"```console\n$ {command}\n{output}```\n"


def page(lines: list[str], borrow: bool) -> str:
    borrowed = ", torch taken from another environment" if borrow else ""
    return "\n".join([
        "# The first minutes\n",
        "From an empty folder to a model that generates with your own tokenizer. A script made this"
        " page by running every command"
        f" (`python tools/first_minutes.py --write docs/first-minutes.md`; Python"
        f" {platform.python_version()}, {platform.system()} {platform.machine()}{borrowed},"
        f" {datetime.date.today()}); CI runs it too.\n",
        *lines,
        "Next: [which recipe, which size?](choosing.md), [exports](exports.md),"
        " [training on phrases](models.md).\n",
    ])  # fmt: skip


def build(folder: Path) -> Path:
    """The wheel of this checkout."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", folder, ROOT], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="From an empty folder to a model that generates.")
    parser.add_argument("--wheel", type=Path, help="the wheel to install (default: build it)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the transcript here")
    parser.add_argument("--borrow", action="store_true", help="do not install torch again")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="first-minutes-") as name:
        folder = Path(name).resolve()
        (folder / "wheel").mkdir()
        wheel = args.wheel or build(folder / "wheel")
        (folder / "empty").mkdir()
        place, lines = Place(folder / "empty", args.borrow), []
        for line in transcript(place, wheel):
            print(line)
            lines.append(line)
    if args.write:
        args.write.write_text(page(lines, args.borrow), encoding="utf-8")


if __name__ == "__main__":
    main()
