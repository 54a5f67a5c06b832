"""What the documentation shows and these tests do not run: the one table, with the reason of each.

The key is the page and the beginning of the line. What is here is still checked as far as it goes:
options by the real parser, targets of the Makefile, entry points; Python by its compiler.
"""

from __future__ import annotations

BUILDS = "it builds the checkout again; CI itself calls it"
INDEX = "it installs from a package index"
SERVES = "it serves until Ctrl-C; tests/pages runs it in a browser"

COMMANDS = {
    ("README.md", "pip install ."): BUILDS,
    ("README.md", "make demo"): BUILDS,
    ("README.md", "make test"): BUILDS,
    ("CONTRIBUTING.md", "git clone"): "it needs the address of a checkout",
    ("CONTRIBUTING.md", "make test"): BUILDS,
    ("CONTRIBUTING.md", "make lint"): BUILDS,
    ("index.md", "pip install ."): BUILDS,
    ("play.md", "pip install"): BUILDS,
    ("target.md", "supratok prune"): (
        "its sizes need a large corpus; tests/learn/test_target.py prunes with a target"
    ),
    ("README.md", "supratok play"): SERVES,
    ("play.md", "supratok play"): SERVES,
    ("command.md", "supratok bench"): "it takes minutes; tests/lab/test_bench.py runs it",
    ("command.md", "supratok tune"): "it takes minutes; tests/lab/test_tuning.py runs it",
    ("command.md", "supratok report"): "it takes what bench and tune make; see there",
    ("frontier.md", "python runs/ladder.py"): "it needs a GPU; tests/runs/test_lm_run.py runs it",
    ("first-minutes.md", "$ pip install supratok-"): INDEX,
    ("first-minutes.md", "$ pip install torch"): INDEX,
    ("boundaries-model.md", "python -m supratok.runtimes lm_eval"): (
        "the harness fetches its tasks; tests/runtimes/test_lm_eval.py runs the model"
    ),
    ("runtimes.md", "vllm serve"): (
        "the engine needs a GPU; tests/runtimes/test_vllm.py runs the rest"
    ),
    ("scale.md", "supratok train s3://"): (
        "it needs a bucket and a cluster; tests/readings/test_ray.py runs Ray,"
        " tests/corpus/test_remote.py an address"
    ),
}  # fmt: skip

# Pages whose blocks run elsewhere, all of them.
ELSEWHERE = {
    "first-minutes.md": "tools/first_minutes.py makes this page; tests/test_release.py runs it",
}

# Blocks of Python that need a package which `dev` has on Linux alone; they run where it is.
PACKAGES = {("tokenize.md", "from megatron.core"): "megatron.core"}
