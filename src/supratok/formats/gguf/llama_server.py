"""xllamacpp's server, in a process of its own: `python llama_server.py MODEL.gguf`.

It prints its address, and lives until its standard input ends. Of its own because llama.cpp ends
the process when it meets a file it thinks impossible, and because the server of xllamacpp
2026.10.11549, when it is stopped, now and then waits for ever.
"""

from __future__ import annotations

import os
import sys

import xllamacpp


def serve(model: str) -> None:
    options = xllamacpp.CommonParams()
    options.model.path = model
    options.hostnames = ["127.0.0.1"]  # this machine alone
    options.port = 0  # any free one
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
