"""A million games of random players: who loses, by seat and by distance from the dealer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import cardenvs
from cardenvs.core.batch import Batch

NUM_TABLES = 10_000
GAMES_PER_TABLE = 100


def loser_games() -> list[str]:
    """Return the games with one loser."""
    games = (cardenvs.load_game(game_id) for game_id in cardenvs.game_ids())
    return [game.id for game in games if game.options.get("reward") == "loser"]


def dealers(batch: Batch) -> npt.NDArray[np.int64]:
    """Return the dealer's seat at every table, read from the observations."""
    flags = batch.observation[:, batch.game.layout.slices["dealer"]]
    return (batch.current_player + flags.argmax(axis=1)) % batch.game.num_players


@pytest.mark.slow
@pytest.mark.parametrize("game_id", loser_games())
def test_every_seat_loses_its_share(
    game_id: str, record_property: Callable[[str, Any], None], capsys: pytest.CaptureFixture[str]
) -> None:
    batch = cardenvs.make_batch(game_id, NUM_TABLES, seed=0)
    players = batch.game.num_players
    by_seat, by_distance = np.zeros(players), np.zeros(players)
    batch.reset()
    dealer = dealers(batch)
    games_left = np.full(NUM_TABLES, GAMES_PER_TABLE)  # equal for all: short games don't crowd in
    capped = 0
    while games_left.any():
        batch.step(batch.sample_actions())
        ended = np.flatnonzero(batch.terminated & (games_left > 0))
        if not ended.size:
            continue
        losses = -batch.episode_return[ended]
        by_seat += losses.sum(axis=0)
        for distance in range(players):
            seats = (dealer[ended] + distance) % players
            by_distance[distance] += losses[np.arange(len(ended)), seats].sum()
        capped += int(batch.truncated[ended].sum())
        games_left[ended] -= 1
        dealer = np.where(batch.terminated, dealers(batch), dealer)
    games = NUM_TABLES * GAMES_PER_TABLE
    by_seat /= games
    by_distance /= games
    record_property("loss_by_seat", by_seat.tolist())
    record_property("loss_by_distance_from_dealer", by_distance.tolist())
    with capsys.disabled():
        print(f"\n{batch.game}: {games:,} games of random players, {capped:,} capped")
        print(f"loss rate by seat: {by_seat.round(5).tolist()}")
        print(f"loss rate by distance from the dealer: {by_distance.round(5).tolist()}")
    assert by_seat.sum() == pytest.approx(1.0)
    assert np.allclose(by_seat, 1 / players, atol=0.002)
