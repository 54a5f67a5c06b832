"""Run another Python program with the patch of `transformers`, as with `python -m`:

python -m supratok.runtimes lm_eval --model hf --model_args pretrained=my-model ...
"""

from __future__ import annotations

import runpy
import sys

from .patch import patch_transformers


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("usage: python -m supratok.runtimes MODULE [ARGUMENTS]")
    patch_transformers()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
