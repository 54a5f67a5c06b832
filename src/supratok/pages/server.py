"""The playground's server: a page, a fixed table of assets, and four questions about tokenizers.

    app = make_app(cards, key="bK3...", hosts={"127.0.0.1:8000"})

    GET  /KEY/               the page
    GET  /KEY/play.js        an asset: one of a table, never a path of the machine
    POST /KEY/api/text       a text: its counts, and the tokens of a window
    POST /KEY/api/cuts       a text: where it could be cut
    POST /KEY/api/token      an id: what the token is made of
    POST /KEY/api/vocabulary a query: a page of the vocabulary

Texts travel in the body of a request, where no log sees them. A body has a bound, encoding runs in
a few threads, and an error is JSON with one sentence.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from ..common.packages import package
from .card import Card
from .cuts import cuts
from .guard import App, Guard
from .page import assets, play_page
from .tokens import WINDOW, Encoded, clamp, encode, window
from .tree import Tree
from .vocabulary import SORTS, Listing, Query

MOST_BYTES = 8 << 20  # of the body of a request
_AT_ONCE = 2  # encodings
_TEXTS = 2  # kept with their tokens: the pages of one text ask for it again and again
_SECONDS = 20  # for a body to arrive, and for a place among those at once


class Refused(Exception):
    """A request that gets an error: its status and the sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Playground:
    """What the server knows: tokenizers, their vocabularies, the texts of last time."""

    def __init__(self, cards: Sequence[Card], uses: Sequence[Any] = ()) -> None:
        self.cards = list(cards)
        self.trees = [Tree(card) for card in cards]
        self.listings = [
            Listing(card, uses[place] if uses else None) for place, card in enumerate(cards)
        ]
        self._encoded: OrderedDict[bytes, list[Encoded]] = OrderedDict()

    def text(self, asked: dict[str, Any]) -> dict[str, Any]:
        text = _text(asked)
        encoded = self._all(text)
        first, last = clamp(_whole(asked, "from", 0), len(text))
        shown = zip(self.cards, encoded, strict=True)
        return {
            "characters": len(text),
            "bytes": len(text.encode()),
            "from": first,
            "to": last,
            "window": WINDOW,
            "cards": [window(card, one, first, last) for card, one in shown],
        }

    def cuts(self, asked: dict[str, Any]) -> dict[str, Any]:
        text = _text(asked)
        return {"cards": [cuts(card, text) for card in self.cards]}

    def token(self, asked: dict[str, Any]) -> dict[str, Any]:
        tree, id = self.trees[self._place(asked)], _whole(asked, "id", 0)
        if not tree.card.text(id):
            raise Refused(404, f"no token has the id {id}")
        return {"tokens": tree.around([id]), "joined": tree.joined}

    def vocabulary(self, asked: dict[str, Any]) -> dict[str, Any]:
        listing = self.listings[self._place(asked)]
        sort = _short(asked, "sort") or "id"
        if sort not in SORTS:
            raise Refused(400, f"sort={sort!r}: must be one of {', '.join(SORTS)}")
        query = Query(
            text=_short(asked, "text"),
            born=_short(asked, "born"),
            script=_short(asked, "script"),
            phrases=asked.get("phrases") is True,
            sort=sort,
            page=_whole(asked, "page", 0),
        )
        return listing.find(query)

    def _place(self, asked: dict[str, Any]) -> int:
        place = _whole(asked, "card", 0)
        if place not in range(len(self.cards)):
            raise Refused(404, f"there is no tokenizer {place}")
        return place

    def _all(self, text: str) -> list[Encoded]:
        """The tokens of a text by each tokenizer; those of the last texts are kept."""
        key = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
        found = self._encoded.pop(key, None) or [encode(card, text) for card in self.cards]
        self._encoded[key] = found
        while len(self._encoded) > _TEXTS:
            self._encoded.popitem(last=False)
        return found


# --- What is asked ---------------------------------------------------------------------------


def _text(asked: dict[str, Any]) -> str:
    text = asked.get("text")
    if not isinstance(text, str):
        raise Refused(400, "text: must be a string")
    return text


def _short(asked: dict[str, Any], name: str) -> str:
    value = asked.get(name, "")
    if not isinstance(value, str) or len(value) > 200:
        raise Refused(400, f"{name}: must be a string of at most 200 characters")
    return value


def _whole(asked: dict[str, Any], name: str, default: int) -> int:
    value = asked.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 53:
        raise Refused(400, f"{name}: must be a whole number from 0 on")
    return value


# --- The application -------------------------------------------------------------------------

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def make_app(
    playground: Playground,
    key: str,
    hosts: Collection[str],
    any_address: bool = False,
    **page: Any,
) -> App:
    """The ASGI application. `page`: what else `play_page` takes."""
    starlette = package("starlette.applications", "play")
    routing = package("starlette.routing", "play")
    responses = package("starlette.responses", "play")
    html = play_page(playground.cards, **page)
    routes = [routing.Route("/", _fixed(responses, html, "text/html"), methods=["GET"])]
    for name, (content, kind) in assets().items():
        routes.append(routing.Route(f"/{name}", _fixed(responses, content, kind), methods=["GET"]))
    limit = asyncio.Semaphore(_AT_ONCE)
    answers: dict[str, Answer] = {
        "text": playground.text,
        "cuts": playground.cuts,
        "token": playground.token,
        "vocabulary": playground.vocabulary,
    }
    for name, answer in answers.items():
        endpoint = _endpoint(responses, answer, limit)
        routes.append(routing.Route(f"/api/{name}", endpoint, methods=["POST"]))
    app = starlette.Starlette(routes=routes)
    app.router.redirect_slashes = False
    return Guard(app, key, hosts, any_address)


def _fixed(responses: Any, content: str, kind: str) -> Callable[[Any], Awaitable[Any]]:
    async def endpoint(request: Any) -> Any:
        return responses.Response(content, media_type=kind)

    return endpoint


def _endpoint(
    responses: Any, answer: Answer, limit: asyncio.Semaphore
) -> Callable[[Any], Awaitable[Any]]:
    async def endpoint(request: Any) -> Any:
        try:
            async with asyncio.timeout(_SECONDS):
                asked = _parsed(await _body(request))
                await limit.acquire()
            try:
                found = await asyncio.to_thread(answer, asked)
            finally:
                limit.release()
            body = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
            return responses.Response(body, media_type="application/json")
        except TimeoutError:
            return _error(responses, 503, "the playground is busy; try again")
        except Refused as error:
            return _error(responses, error.status, str(error))
        except (ValueError, MemoryError) as error:
            why = " ".join(str(error).split()) or "not enough memory for this text"
            return _error(responses, 400, why)

    return endpoint


def _error(responses: Any, status: int, why: str) -> Any:
    return responses.JSONResponse({"error": why}, status_code=status)


async def _body(request: Any) -> bytes:
    """The body of a request, up to the bound."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415, "send JSON")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise Refused(413, f"the text is too long: {MOST_BYTES >> 20} MB at most")
    return bytes(body)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "the request is not JSON") from error
    if not isinstance(asked, dict):
        raise Refused(400, "the request must be a JSON object")
    return asked
