"""What the pages say of tokens is what the tokenizers say."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from peers import MAKERS, TEXT
from supratok import Tokenizer
from supratok.cli.summary import summary_of
from supratok.cli.uses import count_uses
from supratok.formats.peer import Locating
from supratok.pages.card import Card, cards_of, open_cards, our_card, safe
from supratok.pages.cuts import cuts
from supratok.pages.facts import MIXED, NO_LETTERS, describe, held_out_density, script_of
from supratok.pages.tokens import WINDOW, clamp, encode, window
from supratok.pages.training import training
from supratok.pages.tree import Tree, fewest_parts
from supratok.pages.vocabulary import ROWS, SYMBOLS, Listing, Query
from texts import HOSTILE, any_text, small_tokenizer
from vocabularies import RULES, made

OURS = {rule: small_tokenizer(rule, seed=5) for rule in RULES}


def card_of(tokenizer: Tokenizer, name: str = "ours") -> Card:
    (card,) = cards_of([our_card(name, tokenizer)])
    return card


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> list[Card]:
    """One of each kind."""
    folder = tmp_path_factory.mktemp("peers")
    for name, make in MAKERS.items():
        make(folder / name)
    return open_cards([folder / name for name in MAKERS])


# --- Tokens of a text


@pytest.mark.parametrize("rule", RULES)
@given(text=st.one_of(any_text, st.sampled_from(HOSTILE)), first=st.integers(0, 50))
def test_a_window_holds_the_tokens_that_begin_in_it(rule: str, text: str, first: int) -> None:
    tokenizer = OURS[rule]
    card = card_of(tokenizer)
    facts = window(card, encode(card, text), first, first + 20)
    pieces = tokenizer.explain(text)
    inside = [piece for piece in pieces if first <= piece.start < first + 20]
    assert facts["count"] == len(tokenizer.encode(text)) and facts["lossless"]
    assert facts["spans"] == [[piece.id, piece.start, piece.end] for piece in inside]
    for piece in inside:
        assert facts["known"][piece.id][:2] == [safe(piece.text), piece.born]
    assert pieces[facts["first"] : facts["first"] + len(inside)] == inside
    json.dumps(facts).encode()


def test_windows_follow_each_other_without_a_gap(peers: list[Card]) -> None:
    for card in peers:
        encoded = encode(card, TEXT * 5)
        cuts = [0, 7, 40, 41, 90, len(TEXT) * 5]
        rows = [window(card, encoded, *span)["spans"] for span in pairwise(cuts)]
        assert [row[0] for part in rows for row in part] == card.peer.encode(TEXT * 5)


def test_clamp_keeps_a_window_in_the_text() -> None:
    assert clamp(0, 0) == (0, 0)
    assert clamp(10**15, 5) == (4, 5)
    assert clamp(0, 10**6) == (0, WINDOW)


@pytest.mark.parametrize("place", range(4))
def test_a_lone_surrogate_is_an_error_that_says_so(place: int, peers: list[Card]) -> None:
    with pytest.raises(ValueError, match="lone surrogate"):
        encode(peers[place], "a\ud800b")


def test_what_turns_the_text_around_it_is_written_as_an_escape() -> None:
    assert safe("a\u202eb \t\n\x00") == "a\\u202eb \t\n\\x00"


# --- Cards


def test_cards_have_letters_and_files_without_their_folders(peers: list[Card]) -> None:
    assert [card.letter for card in peers] == ["A", "B", "C", "D"]
    assert peers[3].name == "tiny.tiktoken"
    assert peers[1].name.endswith("/tokenizer.json") and peers[1].name.count("/") == 1
    assert [card.ours is not None for card in peers] == [True, False, False, False]


def test_a_name_that_comes_again_gets_a_number() -> None:
    named = [our_card("a.json", OURS["merges"])] * 3
    assert [card.name for card in cards_of(named)] == ["a.json", "a.json (2)", "a.json (3)"]


def test_tokens_of_others_are_pieces_phrases_and_bytes() -> None:
    class Spelt:
        name, vocab_size = "spelt", 4

        def token_text(self, id: int) -> str:
            return [" the", "in the", "<0xE2>", ". "][id]

    peer: Any = Spelt()
    (card,) = cards_of([("spelt", peer)])
    assert [card.born(id) for id in range(4)] == ["piece", "phrase", "byte", "piece"]
    assert card.facts(1)["letter"] == "p" and card.facts(1)["count"] is None


# --- What a token is made of


def test_parts_by_hand() -> None:
    tokenizer = made(["ab", " ab", "ab ab"], "merges")
    tree = Tree(card_of(tokenizer))
    whole = tokenizer.token_to_id("ab ab")
    assert whole is not None and tree.joined
    assert [tokenizer.token_text(id) for id in tree.parts(whole)] == ["ab", " ab"]
    found = {facts["text"]: facts["parts"] for facts in tree.around([whole]).values()}
    assert found.keys() == {"ab ab", "ab", " ab", "a", "b", " "} and found["a"] == []


@pytest.mark.parametrize("rule", RULES)
def test_parts_spell_their_token_and_go_down_to_characters(rule: str) -> None:
    tokenizer = OURS[rule]
    tree = Tree(card_of(tokenizer))
    for id, facts in tree.around(tokenizer.ids).items():
        parts = [tokenizer.token_text(part) for part in facts["parts"]]
        assert not parts or "".join(parts) == tokenizer.token_text(id)
        single = len(tokenizer.token_text(id)) == 1 or tokenizer.birth(id) in ("byte", "special")
        assert bool(parts) != single
    pieces = {piece.id: piece.parts for text in HOSTILE for piece in tokenizer.explain(text)}
    for id, texts in pieces.items():
        if rule == "merges":
            assert tuple(tokenizer.token_text(part) for part in tree.parts(id)) == texts


@given(st.text("ab", min_size=1, max_size=9), st.sets(st.text("ab", min_size=1, max_size=4)))
def test_no_other_tokens_spell_it_with_fewer(text: str, others: set[str]) -> None:
    known = {one: id for id, one in enumerate(others | {text})}
    parts = fewest_parts(text, known)
    fewest = {"": 0}  # by brute force, over all beginnings
    for end in range(1, len(text) + 1):
        last = [start for start in range(end) if text[start:end] in known.keys() - {text}]
        ways = [fewest[text[:start]] + 1 for start in last if text[:start] in fewest]
        if ways:
            fewest[text[:end]] = min(ways)
    assert len(parts) == fewest.get(text, 0)
    assert not parts or "".join(parts) == text


def test_trees_of_other_programs_end(peers: list[Card]) -> None:
    for card in peers[1:]:
        tree = Tree(card)
        ids = card.peer.encode(TEXT)
        found = tree.around(ids)
        assert found.keys() >= set(ids) and not tree.joined


# --- Where a prompt could be cut


@pytest.mark.parametrize("rule", RULES)
def test_cuts_are_those_of_the_tokenizer(rule: str) -> None:
    tokenizer = OURS[rule]
    for text in [*HOSTILE, "New York as well as", "climate chan"]:
        facts = cuts(card_of(tokenizer), text)
        stable, covers = tokenizer.stable(text), tokenizer.covers(text)
        assert (facts["ids"], facts["rest"]) == (len(stable.ids), safe(stable.rest))
        assert facts["characters"] + len(stable.rest) == len(text)
        assert len(facts["covers"]) + facts["more"] == len(covers)
        for shown, cover in zip(facts["covers"], covers, strict=False):
            assert [row[0] for row in shown["tokens"]] == cover.ids[len(stable.ids) :]
            assert shown["next"] == len(tokenizer.may_come(cover))


def test_others_cannot_tell_where_to_cut(peers: list[Card]) -> None:
    assert "supratok import" in cuts(peers[1], TEXT)["why"]


# --- The vocabulary


@pytest.mark.parametrize("rule", RULES)
def test_all_pages_together_are_the_vocabulary(rule: str) -> None:
    tokenizer = OURS[rule]
    listing = Listing(card_of(tokenizer))
    pages = listing.find(Query())["pages"]
    rows = [row for page in range(pages) for row in listing.find(Query(page=page))["rows"]]
    assert [row["id"] for row in rows] == tokenizer.ids
    assert [row["born"] for row in rows] == [tokenizer.birth(id) for id in tokenizer.ids]
    assert pages == -(-tokenizer.vocab_size // ROWS)


def test_search_filters_and_sorts() -> None:
    tokenizer = OURS["merges"]
    listing = Listing(card_of(tokenizer))
    texts = [tokenizer.token_text(id) for id in tokenizer.ids]
    found = listing.find(Query(text="NEW"))
    assert found["total"] == sum("new" in text.lower() for text in texts) > 0
    assert all("new" in row["text"].lower() for row in found["rows"])
    longest = [row["characters"] for row in listing.find(Query(sort="longest"))["rows"]]
    assert longest == sorted(longest, reverse=True) and longest[0] == max(map(len, texts))
    used = [row["use"] for row in listing.find(Query(sort="use"))["rows"]]
    assert used == sorted(used, reverse=True)
    by_text = [row["text"] for row in listing.find(Query(sort="text", born="multiword"))["rows"]]
    assert by_text == sorted(by_text)
    phrases = listing.find(Query(phrases=True))
    assert phrases["total"] == phrases["phrases"] > 0
    assert {row["born"] for row in phrases["rows"]} <= {"multiword", "traditional"}
    assert listing.find(Query(script="Han"))["rows"]
    assert listing.find(Query(text="no such token"))["rows"] == []
    assert listing.find(Query(page=10**12))["page"] == listing.find(Query())["pages"] - 1


def test_use_in_files_takes_the_place_of_counts() -> None:
    tokenizer = OURS["merges"]
    uses = tokenizer.usage(["New York"] * 3)
    rows = Listing(card_of(tokenizer), uses).find(Query(sort="use"))["rows"]
    assert rows[0]["use"] == 3 and rows[0]["id"] == int(np.argmax(uses))


def test_the_vocabulary_of_others(peers: list[Card]) -> None:
    for card in peers[1:]:
        found = Listing(card).find(Query(sort="longest"))
        assert found["total"] == card.vocab_size and found["use"] is None
        assert all(row["use"] is None for row in found["rows"])


SCRIPTS = {
    " a1": "Latin", "日本": "Han", "かな": "Kana", "ｶﾅー": "Kana", "ab日": MIXED, "…": NO_LETTERS,
    "Яка": "Cyrillic", "ก็": "Thai", "የ": "Ethiopic", "ﾡ": "Hangul", "ａ": "Latin",
    "µ": NO_LETTERS, "ߞ": "N'Ko", "12": NO_LETTERS, "": NO_LETTERS,
}  # fmt: skip


def test_scripts() -> None:
    assert {text: script_of(text) for text in SCRIPTS} == SCRIPTS


def test_uses_of_all_kinds_are_those_of_their_ids(peers: list[Card]) -> None:
    texts = [TEXT, "in New York", "", TEXT[::-1]]
    uses, characters = count_uses([card.peer for card in peers], texts)
    assert characters == sum(map(len, texts))
    for card, found in zip(peers, uses, strict=True):
        ids = [id for text in texts for id in card.peer.encode(text)]
        assert found.tolist() == np.bincount(ids, minlength=card.vocab_size).tolist()
    for found in count_uses([peers[0].peer], [])[0]:
        assert not found.any()


# --- The playground and `inspect`


@pytest.mark.parametrize("rule", RULES)
def test_the_playground_says_what_inspect_says(rule: str) -> None:
    tokenizer = OURS[rule]
    card, texts = card_of(tokenizer), [*HOSTILE, "in New York", "climate change"]
    (uses,), characters = count_uses([card.peer], texts)
    facts = describe(tokenizer, uses, 10, characters)
    listing, trained = Listing(card, uses), training(card)
    scripts = dict(listing.facets["scripts"])
    assert scripts.pop(SYMBOLS) == tokenizer.vocab_size - len(tokenizer.texts)
    assert scripts == facts["scripts"] and list(scripts) == list(facts["scripts"])
    assert listing.facets["phrases"] == facts["crossing"]["tokens"] > 0
    born = {name: row["tokens"] for name, row in facts["born"].items()}
    assert listing.facets["births"] == born
    assert {row["born"]: row["tokens"] for row in trained["births"]} == born
    shares = {name: row["share"] for name, row in facts["born"].items()}
    assert {row["born"]: row["share"] for row in trained["births"]} == shares
    words = {row["words"].replace(" words", "").replace(" word", ""): row["tokens"]
             for row in trained["words"]}  # fmt: skip
    assert words == {name: count for name, count in facts["words"].items() if count}
    rows = listing.find(Query(sort="use"))["rows"][:10]
    used = facts["most_used"]["tokens"]
    assert [(row["text"], row["use"]) for row in rows] == [(safe(text), use) for text, use in used]


def test_the_playground_and_inspect_have_one_figure_of_held_out_text() -> None:
    report = {"held_out": {"characters": 1000, "tokens": 301}}
    plain = made(["ab"], "merges")
    tokenizer = Tokenizer(plain.vocabulary, plain.recipe, report)
    (figure,) = [row[1] for row in training(card_of(tokenizer))["figures"] if "held" in row[0]]
    said = describe(tokenizer, None, 1)["characters_per_token"]
    assert said == pytest.approx(1000 / 301) and figure == f"{said:.3f}"
    assert f"held out: {figure} characters per token" in list(summary_of(tokenizer))


@pytest.mark.parametrize("found", [[], {}, {"tokens": 5}, {"characters": 5, "tokens": 0}, "x"])
def test_a_damaged_report_has_no_density(found: Any) -> None:
    assert held_out_density({"held_out": found}) is None


# --- Training


@pytest.mark.parametrize("rule", RULES)
def test_training_adds_up(rule: str) -> None:
    tokenizer = OURS[rule]
    facts = training(card_of(tokenizer), ["documents: 3"])
    assert sum(row["tokens"] for row in facts["births"]) == tokenizer.vocab_size
    assert sum(row["tokens"] for row in facts["words"]) == len(tokenizer.texts)
    assert facts["figures"][0] == ("Vocabulary", f"{tokenizer.vocab_size:,}", "tokens")
    assert ("segmentation", rule) in facts["recipe"] and facts["lines"] == ["documents: 3"]


def test_a_tokenizer_without_a_report_has_figures_too() -> None:
    facts = training(card_of(made(["ab"], "fewest")))
    assert [name for name, _, _ in facts["figures"]] == ["Vocabulary", "Rule"]


def test_others_have_no_training(peers: list[Card], tmp_path: Path) -> None:
    peer: Locating = peers[2].peer
    assert peer and "another program" in training(peers[2])["why"]
