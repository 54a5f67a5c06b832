"""Seeds of random cases: some in every run, all of them in `make test-all`."""

from __future__ import annotations

from collections.abc import Collection

import pytest


def seeds(every_run: Collection[int], all: int) -> pytest.MarkDecorator:
    """Parametrizes `seed` over range(all); those not in `every_run` are slow."""
    return pytest.mark.parametrize(
        "seed",
        [
            seed if seed in every_run else pytest.param(seed, marks=pytest.mark.slow)
            for seed in range(all)
        ],
    )
