"""xllamacpp's server, in a separate process: `python llama_server.py MODEL.gguf`.

It prints its address and runs until its standard input ends. It needs a separate process because
llama.cpp aborts on some files, and because the server of xllamacpp 2026.10.11549 sometimes hangs
when it is stopped.
"""

from __future__ import annotations

import os
import sys

import xllamacpp


def serve(model: str) -> None:
    options = xllamacpp.CommonParams()
    options.model.path = model
    options.hostnames = ["127.0.0.1"]  # this machine only
    options.port = 0  # any free port
    options.n_ctx = 32
    options.n_parallel = 1
    options.warmup = False
    options.ui = False
    options.verbosity = 0
    server = xllamacpp.Server(options)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
