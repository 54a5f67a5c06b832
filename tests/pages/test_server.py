"""The playground's server: its answers, and all that it refuses."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from supratok.pages import server, tokens
from supratok.pages.card import cards_of, our_card
from supratok.pages.guard import HEADERS
from supratok.pages.listen import listening, names_of
from supratok.pages.server import Playground, make_app
from supratok.pages.tokens import WINDOW
from texts import HOSTILE, small_tokenizer

KEY, HOST = "a-key-of-this-test", "127.0.0.1:8123"
TOKENIZERS = [small_tokenizer("merges", seed=5), small_tokenizer("fewest", seed=5)]
HOME = f"http://{HOST}/{KEY}/"


class Client:
    """Asks the application without a network."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def request(self, method: str, address: str = HOME, **options: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)
            async with httpx.AsyncClient(transport=transport) as client:
                return await client.request(method, address, **options)

        return asyncio.run(asked())

    def get(self, address: str = HOME, **options: Any) -> httpx.Response:
        return self.request("GET", address, **options)

    def ask(self, name: str, **question: Any) -> httpx.Response:
        return self.request("POST", f"{HOME}api/{name}", json=question)

    def send(self, body: bytes, kind: str = "application/json") -> httpx.Response:
        headers = {"content-type": kind}
        return self.request("POST", f"{HOME}api/text", content=body, headers=headers)


def new_client() -> Client:
    cards = cards_of([our_card("a.json", TOKENIZERS[0]), our_card("b.json", TOKENIZERS[1])])
    return Client(make_app(Playground(cards), KEY, {HOST}))


@pytest.fixture
def client() -> Client:
    return new_client()


def why(answer: httpx.Response) -> str:
    said = answer.json()["error"]
    assert isinstance(said, str)
    return said


# --- Answers


@pytest.mark.parametrize("text", HOSTILE)
def test_the_tokens_of_a_text(text: str, client: Client) -> None:
    answer = client.ask("text", text=text).json()
    assert answer["characters"] == len(text) and answer["bytes"] == len(text.encode())
    for facts, tokenizer in zip(answer["cards"], TOKENIZERS, strict=True):
        assert [row[0] for row in facts["spans"]] == tokenizer.encode(text)


def test_a_megabyte_is_counted_whole_and_shown_in_part(client: Client) -> None:
    text = "New York as well as climate change. " * 30_000
    answer = client.ask("text", text=text, **{"from": 500_000}).json()
    assert (answer["from"], answer["to"]) == (500_000, 500_000 + WINDOW)
    for facts, tokenizer in zip(answer["cards"], TOKENIZERS, strict=True):
        assert facts["count"] == tokenizer.count(text)
        assert 0 < len(facts["spans"]) <= WINDOW
        ids, offsets = tokenizer.encode_with_offsets(text)
        first = facts["first"]
        assert facts["spans"][0] == [ids[first], *offsets[first]]


def test_cuts_tokens_and_vocabulary(client: Client) -> None:
    cuts = client.ask("cuts", text="New York").json()["cards"]
    assert [facts["ids"] for facts in cuts] == [
        len(tokenizer.stable("New York").ids) for tokenizer in TOKENIZERS
    ]
    id = TOKENIZERS[0].token_to_id("New York") or TOKENIZERS[0].encode("New York")[0]
    told = client.ask("token", card=0, id=id).json()
    assert told["joined"] and str(id) in told["tokens"]
    listed = client.ask("vocabulary", card=1, text="new", sort="longest").json()
    assert listed["rows"] and all("new" in row["text"].lower() for row in listed["rows"])


def test_texts_of_last_time_are_kept_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    real = tokens.encode

    def counted(card: Any, text: str) -> Any:
        calls.append(text)
        return real(card, text)

    monkeypatch.setattr(server, "encode", counted)
    playground = Playground(cards_of([our_card("a.json", TOKENIZERS[0])]))
    for text in ("a", "a", "b", "c", "c", "a"):
        playground.text({"text": text})
    assert calls == ["a", "b", "c", "a"]
    assert len(playground._encoded) == 2


# --- The page


def test_the_page_and_its_assets_load_nothing_from_elsewhere(client: Client) -> None:
    page = client.get()
    assert page.status_code == 200 and page.headers["content-type"] == "text/html; charset=utf-8"
    named = {"look.css", "chips.css", "play.css", "play.js", "vocabulary.js", "chips.js"}
    for name in named:
        asset = client.get(HOME + name)
        assert asset.status_code == 200
        kind = "text/css" if name.endswith("css") else "text/javascript"
        assert asset.headers["content-type"].startswith(kind)
        assert "http" not in asset.text
    assert "http:" not in page.text.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in page.text and "style=" not in page.text and "onclick" not in page.text


def test_a_token_with_markup_does_no_harm() -> None:
    from vocabularies import made

    evil = "</script><img src=x onerror=alert(1)>"
    tokenizer = made([evil], "fewest", alphabet="".join(sorted(set(evil))))
    cards = cards_of([our_card("<b>evil</b>.json", tokenizer)])
    page = Client(make_app(Playground(cards), KEY, {HOST})).get().text
    assert "<b>evil" not in page and "<img" not in page


def test_every_answer_has_the_headers(client: Client) -> None:
    answers = [
        client.get(),
        client.get(f"{HOME}nothing"),
        client.get(f"http://{HOST}/wrong/"),
        client.ask("text", text="a"),
        client.send(b"{"),
    ]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in HEADERS["content-security-policy"]


# --- What is refused


@pytest.mark.parametrize("path", ["/", "/play.js", "/wrong/", f"/{KEY}x/", f"/{KEY[:-1]}/", "//"])
def test_without_the_key_there_is_nothing(path: str, client: Client) -> None:
    answer = client.get(f"http://{HOST}{path}")
    assert answer.status_code == 403 and "key" in answer.text and KEY not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:1", "", "10.0.0.1:8123"]
)
def test_another_name_that_leads_here_is_refused(host: str, client: Client) -> None:
    assert client.get(headers={"host": host}).status_code == 421


def test_asked_for_all_addresses_numbers_are_fine_and_names_are_not() -> None:
    cards = cards_of([our_card("a.json", TOKENIZERS[0])])
    app = make_app(Playground(cards), KEY, names_of("0.0.0.0", 8123), any_address=True)
    wide = Client(app)
    assert wide.get(headers={"host": "192.168.1.7:8123"}).status_code == 200
    assert wide.get(headers={"host": "[fe80::1]:8123"}).status_code == 200
    assert wide.get(headers={"host": "evil.example:8123"}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://{HOST}"])
def test_another_page_may_not_ask(origin: str, client: Client) -> None:
    headers = {"origin": origin, "content-type": "application/json"}
    answer = client.request("POST", f"{HOME}api/text", content=b'{"text":""}', headers=headers)
    assert answer.status_code == 403
    same = headers | {"origin": f"http://{HOST}"}
    good = client.request("POST", f"{HOME}api/text", content=b'{"text":""}', headers=same)
    assert good.status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_the_browser_marks_as_foreign_is_refused(site: str, client: Client) -> None:
    headers = {"sec-fetch-site": site}
    assert client.get(f"{HOME}play.js", headers=headers).status_code == 403
    assert client.get(headers=headers).status_code == 200  # a link to the page itself


def test_two_hosts_are_refused(client: Client) -> None:
    headers = [("host", HOST), ("host", "evil.example")]
    assert client.get(headers=headers).status_code in (400, 421)


@pytest.mark.parametrize(
    "path",
    [
        "../../../../etc/passwd", "..%2f..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd",
        "/etc/passwd", "api/../../etc/passwd", "server.py", "play.html", "assets/play.js",
        "api/", "play.js/", "play.js%00", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_no_path_leads_to_a_file(path: str, client: Client) -> None:
    answer = client.get(httpx.URL(HOME).copy_with(raw_path=f"/{KEY}/{path}".encode()))  # type: ignore[arg-type]
    assert answer.status_code in (403, 404, 405)
    assert "root:" not in answer.text and "import" not in answer.text


def test_the_wrong_method(client: Client) -> None:
    assert client.get(f"{HOME}api/text").status_code == 405
    assert client.request("POST").status_code == 405
    assert client.request("DELETE", f"{HOME}play.js").status_code == 405


def test_a_body_that_is_too_large(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_BYTES", 1 << 20)
    fits = json.dumps({"text": "a" * (1 << 20)}).encode()
    assert client.send(fits[: 1 << 20]).status_code == 400  # not cut, but no JSON any more
    answer = client.send(fits)
    assert answer.status_code == 413 and "1 MB at most" in why(answer)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "object"),
        (b'"text"', "object"),
        (b"{}", "text: must be a string"),
        (b'{"text": 3}', "text: must be a string"),
        (b'{"text": "a\\ud800"}', "lone surrogate"),
        (b'{"text": "a", "from": -1}', "from: must be a whole number"),
        (b'{"text": "a", "from": 1.5}', "from: must be a whole number"),
        (b'{"text": "a", "from": 1e400}', "from: must be a whole number"),
        (b'{"text": "a", "from": 99999999999999999999}', "from: must be a whole number"),
        (b'{"text": "a", "from": true}', "from: must be a whole number"),
    ],
)
def test_what_is_no_question(body: bytes, said: str, client: Client) -> None:
    answer = client.send(body)
    assert answer.status_code == 400 and said in why(answer)


def test_only_json(client: Client) -> None:
    """A form of a foreign page can send plain text without asking; JSON it cannot."""
    assert client.send(b'{"text":"a"}', "text/plain").status_code == 415


def test_odd_but_good_questions(client: Client) -> None:
    assert client.ask("text", text="a\x00b").json()["cards"][0]["lossless"]
    assert client.ask("text", text="abc", **{"from": 1 << 52}).json()["from"] == 2
    assert client.ask("vocabulary", page=1 << 52).json()["rows"]
    assert client.ask("vocabulary", text="😀").status_code == 200


@pytest.mark.parametrize(
    ("name", "question", "status"),
    [
        ("token", {"id": 10**9}, 404),
        ("token", {"id": 1, "card": 7}, 404),
        ("token", {"id": "1"}, 400),
        ("vocabulary", {"card": 2}, 404),
        ("vocabulary", {"sort": "__class__"}, 400),
        ("vocabulary", {"text": "a" * 201}, 400),
        ("vocabulary", {"born": ["multiword"]}, 400),
        ("cuts", {"text": None}, 400),
    ],
)
def test_questions_about_what_is_not_there(
    name: str, question: dict[str, Any], status: int, client: Client
) -> None:
    answer = client.ask(name, **question)
    assert answer.status_code == status and why(answer)


def test_a_busy_playground_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_SECONDS", 0.05)
    monkeypatch.setattr(server, "_AT_ONCE", 0)
    answer = new_client().ask("text", text="a")
    assert answer.status_code == 503 and "try again" in why(answer)


# --- Listening


def test_a_port_that_is_taken() -> None:
    with listening("127.0.0.1", 0) as (_, port):
        assert f"127.0.0.1:{port}" in names_of("127.0.0.1", port)
        with (
            pytest.raises(ValueError, match="another program uses it"),
            listening("127.0.0.1", port),
        ):
            pass


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 70_000), ("127.0.0.1", -1), ("192.0.2.1", 0), ("no host", 0)]
)
def test_what_cannot_be_listened_on(host: str, port: int) -> None:
    with pytest.raises(ValueError, match=r"port|address"), listening(host, port):
        pass
