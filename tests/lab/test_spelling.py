"""WikiText-103 in natural spelling."""

from __future__ import annotations

import pytest

from supratok.lab.measure.spelling import joined_inside, natural, without_line_ends


@pytest.mark.parametrize(
    ("spelt", "written"),
    [
        (" = Title = \n", "= Title =\n"),
        (" It 's 1 @,@ 000 @.@ 5 ( or so ) . \n", "It's 1,000.5 (or so).\n"),
        (" red @-@ tipped ; they did n't", "red-tipped; they didn't"),
        (' the " crusher " , and " cutters . " Two ', 'the "crusher", and "cutters." Two'),
        (" the lobsters ' $ 5 : 20 % ! ", "the lobsters' $5: 20%!"),
        ("5 – 6 kg", "5 – 6 kg"),
        ("", ""),
    ],
)  # fmt: skip
def test_natural(spelt: str, written: str) -> None:
    assert natural(spelt) == written
    assert natural(written) == written


def test_only_what_is_inside_words() -> None:
    assert joined_inside(" a well @-@ known , 0 @.@ 7 ") == " a well-known , 0.7 "


def test_as_sentencepiece_normalises() -> None:
    assert without_line_ends(" \n = A = \n \n B  ﬁve \t") == "= A = B five"
