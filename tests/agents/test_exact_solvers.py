"""The exact solvers of the searches agree with naive ones that were written apart."""

from __future__ import annotations

import pytest

import cardenvs
from tests.oracles.engine_solvers import SOLVERS
from tests.oracles.solve import agreement


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_solvers_agree_with_naive_ones(game_id: str, num_games: int) -> None:
    found = agreement(SOLVERS[game_id], game_id, max(8, num_games // 2), seed=5)
    assert found.mismatches == 0, found.first_mismatch
    assert found.positions > found.left_out


@pytest.mark.slow
@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_solvers_agree_with_naive_ones_in_thousands_of_positions(game_id: str) -> None:
    found = agreement(SOLVERS[game_id], game_id, 3_000, seed=6)
    assert found.mismatches == 0, found.first_mismatch
    assert found.positions >= 2_000
