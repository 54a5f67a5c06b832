"""Who may ask: a key in the address, a `Host` that is this machine, no foreign page.

    app = Guard(app, key="bK3...", hosts={"127.0.0.1:8000", "localhost:8000"})

The playground listens on this machine alone, but any page in the same browser can send requests to
it. So every address begins with a key that only the terminal showed; the name that the browser
called must be this machine's (a foreign name that leads here is DNS rebinding); and what a foreign
page sends, which the browser marks, is refused. Answers may not be framed, cached or sniffed, and
their pages load nothing from elsewhere.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Collection
from typing import Any

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

Scope = dict[str, Any]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Any, Send], Awaitable[None]]


class Guard:
    """An ASGI application around another one, which sees only addresses behind the key."""

    def __init__(self, app: App, key: str, hosts: Collection[str], any_address: bool) -> None:
        self._app, self._key = app, key.encode()
        self._hosts, self._any_address = frozenset(hosts), any_address

    async def __call__(self, scope: Scope, receive: Any, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # such as a web socket
            return
        found = self._refusal(scope)
        if found:
            await _refuse(send, *found)
            return
        inner = scope["path"][len(self._key) + 1 :]
        await self._app(scope | {"path": inner, "raw_path": inner.encode()}, receive, _with(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the sentence, if the request is refused."""
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in headers and name in (b"host", b"origin"):
                return 400, "the request has two headers of one name"
            headers[name] = value
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if not self._knows(host):
            return 421, "this name is not the playground's; open the address in the terminal"
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        if not secrets.compare_digest(first.encode(), self._key):
            return 403, "the key is missing or wrong; open the address in the terminal"
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if origin and origin != f"http://{host}":
            return 403, "another page may not ask the playground"
        site = headers.get(b"sec-fetch-site", b"none")
        if rest and site not in (b"none", b"same-origin"):  # links to the page itself may come
            return 403, "another page may not ask the playground"
        return None

    def _knows(self, host: str) -> bool:
        """Whether a browser that called this name means this machine. A number is no name that
        someone else could lead here."""
        if host in self._hosts:
            return True
        return self._any_address and _is_address(host.rpartition(":")[0] or host)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _with(send: Send) -> Send:
    """Adds the headers to each answer."""
    added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = message | {"headers": [*message.get("headers", []), *added]}
        await send(message)

    return sending


async def _refuse(send: Send, status: int, why: str) -> None:
    body = f"{why}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"),
               (b"content-length", str(len(body)).encode())]  # fmt: skip
    guarded = _with(send)
    await guarded({"type": "http.response.start", "status": status, "headers": headers})
    await guarded({"type": "http.response.body", "body": body})
