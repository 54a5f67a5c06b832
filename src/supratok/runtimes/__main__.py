"""Run another Python program with the patch of `transformers`, as with `python -m`:

python -m supratok.runtimes lm_eval --model supratok --model_args pretrained=my-model ...

lm-evaluation-harness also gets the model `supratok`, whose scores are exact (harness.py).
"""

from __future__ import annotations

import importlib
import runpy
import sys

from .patch import patch_transformers


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("usage: python -m supratok.runtimes MODULE [ARGUMENTS]")
    patch_transformers()
    del sys.argv[0]
    if sys.argv[0].split(".")[0] == "lm_eval":
        importlib.import_module("supratok.runtimes.harness")  # which registers itself
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
