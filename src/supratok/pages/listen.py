"""Listen on a port and serve the playground until Ctrl-C.

with listening("127.0.0.1", 0) as (socket, port):
    serve(app, socket)
"""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Iterator
from typing import Any

from ..common.packages import package
from .guard import App

LOOPBACK = "127.0.0.1"
_REMEDIES = {
    errno.EADDRINUSE: "another program uses it; choose another port, or leave --port out",
    errno.EACCES: "only administrators may use it; choose a port above 1023",
    errno.EADDRNOTAVAIL: "this machine has no such address",
}


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[tuple[socket.socket, int]]:
    """A socket, and its port: with port 0 one that is free."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as made:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((host, port))
            made.listen(64)
            yield made, made.getsockname()[1]
    except socket.gaierror as error:
        raise ValueError(f"--host {host}: this machine has no such address") from error
    except OSError as error:
        if error.errno not in _REMEDIES:
            raise
        why = _REMEDIES[error.errno]
        raise ValueError(f"cannot listen on {host}, port {port}: {why}") from error
    except OverflowError as error:
        raise ValueError(f"--port {port}: must be from 0 to 65535") from error


def names_of(host: str, port: int) -> set[str]:
    """What a browser may call this server, as in the header `Host`."""
    names = {host, "localhost", LOOPBACK} if host == LOOPBACK else {host, socket.gethostname()}
    written = {f"[{name}]" if ":" in name else name for name in names}
    return {f"{name.lower()}:{port}" for name in written} | (written if port == 80 else set())


def serve(app: App, made: socket.socket) -> None:
    """Until Ctrl-C, which it raises again."""
    uvicorn = package("uvicorn", "play")
    settings: dict[str, Any] = {
        "log_level": "error",
        "access_log": False,
        "server_header": False,
        "lifespan": "off",
        "ws": "none",
        "limit_concurrency": 64,
        "h11_max_incomplete_event_size": 16_384,  # bytes of all headers
        "timeout_keep_alive": 5,
        "timeout_graceful_shutdown": 2,
    }
    uvicorn.Server(uvicorn.Config(app, http="h11", **settings)).run(sockets=[made])
