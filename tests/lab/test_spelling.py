"""WikiText-103 in natural spelling."""

from __future__ import annotations

import pytest

from supratok.lab.measure.spelling import joined_inside, natural, without_line_ends


@pytest.mark.parametrize(
    ("spelt", "written"),
    [
        (' a " well @-@ known " lobster , it \'s ( 24 in ) long . ',
         'a "well-known" lobster, it\'s (24 in) long.'),
        (" 1 @,@ 000 to 0 @.@ 7 % ; they didn 't : [ $ 5 ] ! ",
         "1,000 to 0.7%; they didn't: [$5]!"),
        (' \n = Lobster = \n \n " One " and " two " , " three ',
         '\n= Lobster =\n\n"One" and "two", "three'),
        ("the lobsters ' claws – and 'tis", "the lobsters ' claws – and 'tis"),
        ("well-known, already", "well-known, already"),
    ],
)  # fmt: skip
def test_natural(spelt: str, written: str) -> None:
    assert natural(spelt) == written
    assert natural(written) == written


def test_only_what_is_inside_words() -> None:
    assert joined_inside(" a well @-@ known , 0 @.@ 7 ") == " a well-known , 0.7 "


def test_as_sentencepiece_normalises() -> None:
    assert without_line_ends(" \n = A = \n \n B  ﬁve \t") == "= A = B five"
