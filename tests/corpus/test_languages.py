"""The record or the text distinguishes Turkish and Finnish from other languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import supratok
from supratok import Recipe
from supratok.corpus import Document, open_corpus
from supratok.corpus.languages import find_language, language_of
from supratok.recipe import Scripts

TURKISH = (
    "Bugün hava çok güzel olduğu için çocuklar bahçede oynuyor. Annesi onlara meyve suyu hazırladı"
    " ve masanın üzerine bıraktı. Akşam olunca herkes evine dağıldı."
)
FINNISH = (
    "Lapset leikkivät tänään pihalla, koska sää on hyvin kaunis. Äiti on tehnyt heille mehua ja"
    " jättänyt sen pöydälle. Illalla kaikki lähtivät kotiin nukkumaan."
)
OTHERS = {
    "English": "The children play in the garden today, because the weather is fine. Naïve façades.",
    "German": "Die Kinder spielen heute im Garten, weil das Wetter schön ist. Die Mutter hat für"
    " sie Saft gemacht und ihn später auf den Tisch gestellt; die Äpfel wären süß gewesen.",
    "Swedish": "Barnen leker i trädgården i dag eftersom vädret är vackert. Mamman har gjort saft"
    " åt dem och ställt den på bordet. På kvällen går alla hem för att äta och sova.",
    "Estonian": "Lapsed mängivad täna aias, sest ilm on väga ilus. Ema on neile mahla teinud ja"
    " lauale jätnud. Õhtul läksid kõik koju magama, sest päev oli olnud pikk ja väsitav.",
    "Dutch": "De kinderen spelen vandaag in de tuin, omdat het weer mooi is. Zij zijn coöperatief.",
    "Polish": "Dzieci bawią się dziś w ogrodzie, ponieważ pogoda jest piękna. Mama zrobiła sok.",
    "Azerbaijani": "Uşaqlar bu gün bağçada oynayırlar, çünki hava çox gözəldir. Anası onlara meyvə"
    " şirəsi hazırladı və masanın üstünə qoydu. Axşam hamı evinə dağıldı.",
    "Romanian": "Copiii se joacă astăzi în grădină, fiindcă vremea este frumoasă şi soarele"
    " străluceşte. Mama le-a făcut suc şi l-a lăsat pe masă.",
    "Slovak": "Deti sa dnes hrajú v záhrade, pretože počasie je pekné. Mäso a deväť ďalších vecí.",
    "Hungarian": "A gyerekek ma a kertben játszanak, mert szép az idő. Az anyjuk gyümölcslevet"
    " készített nekik, és az asztalon hagyta.",
}


def test_found_by_the_text() -> None:
    assert find_language(TURKISH) == "tr"
    assert find_language(FINNISH) == "fi"
    assert find_language(TURKISH.upper().replace("I", "ı")) == "tr"
    assert find_language("") is None


@pytest.mark.parametrize("language", OTHERS)
def test_others_are_not_taken_for_them(language: str) -> None:
    assert find_language(OTHERS[language]) is None


def test_too_little_says_nothing() -> None:
    assert find_language("ığş") is None
    assert find_language("ä") is None


@pytest.mark.parametrize(
    ("lang", "code"),
    [("tr", "tr"), ("TUR", "tr"), ("fi-FI", "fi"), ("fin_Latn", "fi"), ("de", None), ("", None),
     (" tr ", "tr"), ("trk", None)],
)  # fmt: skip
def test_what_the_record_says_goes_first(lang: str, code: str | None) -> None:
    assert language_of(lang, FINNISH) == code
    assert language_of(None, FINNISH) == "fi"


def test_records_name_their_language(tmp_path: Path) -> None:
    records = [{"text": "a", "lang": "tr"}, {"text": "b"}, {"text": "c", "lang": None},
               {"text": "d", "lang": 3}, {"lang": "fi", "text": "e"}]  # fmt: skip
    expected = [("a", "tr"), ("b", None), ("c", None), ("d", None), ("e", "fi")]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    for source in (path, records, iter(records)):
        with open_corpus(source) as corpus:
            assert list(corpus.documents()) == expected
            assert list(corpus.documents()) == expected  # also from the copy of an iterator
            assert list(corpus) == [text for text, _ in expected]
    with open_corpus(iter([{"text": "a", "code": "tr"}]), lang_key="code") as corpus:
        assert [list(corpus.documents()) for _ in range(2)] == [[Document("a", "tr")]] * 2


def test_parquet_names_its_languages(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        arrow.table({"lang": ["tr", None], "text": ["a", "b"]}), tmp_path / "a.parquet"
    )
    assert list(open_corpus(tmp_path / "a.parquet").documents()) == [("a", "tr"), ("b", None)]
    only = list(open_corpus(tmp_path / "a.parquet", lang_key="text").documents())
    assert [text for text, _ in only] == ["a", "b"]


def found(documents: list[str], **options: str) -> dict[str, int]:
    recipe = Recipe(vocab_size=400, scripts=Scripts(suffix_weight=0.5))
    tokenizer = supratok.train(documents, recipe, progress=False, **options)  # type: ignore[arg-type]
    counts = tokenizer.report["passes"]["scripts"]["documents"]
    assert isinstance(counts, dict)
    return counts


def test_training_counts_the_documents_of_a_language() -> None:
    documents = [f"{TURKISH} {i}" for i in range(20)] + [f"{FINNISH} {i}" for i in range(30)]
    by_text = found(documents)
    assert 15 <= by_text["tr"] <= 20 < 25 <= by_text["fi"] <= 30  # some are held out
    everything = found(documents, lang="fi")
    assert everything == {"tr": 0, "fi": sum(by_text.values())}
    assert found(documents, lang="de") == {"tr": 0, "fi": 0}


def test_files_have_languages(tmp_path: Path) -> None:
    """By pattern; the language of a record overrides it."""
    for name in ("tr", "fi", "en"):
        (tmp_path / name).mkdir()
        line = '{"text": "a"}\n{"text": "b", "lang": "de"}\n'
        (tmp_path / name / "x.jsonl").write_text(line, encoding="utf-8")
    languages = {"*/tr/*": "tr", "*/fi/*": "fi"}
    with open_corpus(tmp_path, lang=languages) as corpus:
        assert [lang for _, lang in corpus.documents()] == [None, "de", "fi", "de", "tr", "de"]
    with open_corpus(tmp_path, lang="tr") as corpus:
        assert [lang for _, lang in corpus.documents()] == ["tr", "de"] * 3
