"""Draws of articles that all figures share."""

import numpy as np
import pytest

from tasks.metrics import resampling
from tasks.metrics.resampling import Draws


def test_each_resample_draws_as_many_clusters_as_there_are_and_clusters_alike() -> None:
    every = np.vstack(list(Draws(30).count_blocks(np.ones(30, dtype=bool))))
    assert every.shape == (resampling.RESAMPLES, 30)
    assert (every.sum(axis=1) == 30).all()
    assert every.mean(axis=0) == pytest.approx(np.ones(30), abs=0.07)


def test_of_few_clusters_every_way_to_swap_is_made_once_and_of_many_half_are_swapped() -> None:
    few, many = Draws(20), np.ones(20, dtype=bool)
    [all_ways] = few.swap_blocks(np.arange(20) < 5)
    assert len({tuple(row) for row in all_ways.tolist()}) == len(all_ways) == 32
    drawn = np.vstack(list(few.swap_blocks(many)))
    assert drawn.shape == (resampling.SWAPS, 20)
    assert drawn.mean(axis=0) == pytest.approx(np.full(20, 0.5), abs=0.025)


def test_the_same_seed_draws_the_same_whatever_the_size_of_a_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    some = np.arange(50) % 3 > 0
    whole = [np.vstack(list(blocks)) for blocks in (Draws(50).count_blocks(some),
                                                    Draws(50).swap_blocks(some))]  # fmt: skip
    monkeypatch.setattr(resampling, "MAX_WEIGHTS_IN_MEMORY", 777)
    small = [np.vstack(list(blocks)) for blocks in (Draws(50).count_blocks(some),
                                                    Draws(50).swap_blocks(some))]  # fmt: skip
    assert all(np.array_equal(one, other) for one, other in zip(whole, small, strict=True))
    other = np.vstack(list(Draws(50, seed=1).count_blocks(some)))
    assert not np.array_equal(whole[0], other)
