"""Many games of random players: who loses, who wins, how long it takes."""

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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("num_players", "decisions"), [(2, 79.5), (3, 90.5), (4, 96.5), (5, 103.6), (6, 107.6)]
)
def test_brede_mette_is_as_long_as_another_engine_found(
    num_players: int, decisions: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """The figures are means of 2,000 games, hence good to about one decision."""
    batch = cardenvs.make_batch("brede_mette-v0", NUM_TABLES, seed=0, num_players=num_players)
    batch.reset()
    games_left = np.full(NUM_TABLES, 10)
    lengths = []
    while games_left.any():
        batch.step(batch.sample_actions())
        ended = np.flatnonzero(batch.terminated & (games_left > 0))
        lengths.extend(batch.episode_length[ended].tolist())
        games_left[ended] -= 1
    mean, error = np.mean(lengths), np.std(lengths) / np.sqrt(2_000)
    with capsys.disabled():
        print(f"\nBrede Mette, {num_players} players: {mean:.2f} decisions, +-{error:.2f}")
    assert mean == pytest.approx(decisions, abs=3 * error)


def figures_of_braus(num_players: int, deals: int) -> tuple[float, float, float]:
    """Return how often forehand wins, the decisions a deal, and how often it is six to none."""
    batch = cardenvs.make_batch("braus-v0", NUM_TABLES, seed=0, num_players=num_players)
    batch.reset()
    dealer = dealers(batch)
    deals_left = np.full(NUM_TABLES, deals // NUM_TABLES)
    wins, decisions, jan = 0, 0, 0
    while deals_left.any():
        batch.step(batch.sample_actions())
        ended = np.flatnonzero(batch.terminated & (deals_left > 0))
        forehand = (dealer[ended] + 1) % num_players
        strokes = batch.episode_return[ended, forehand]
        wins += int((strokes > 0).sum())
        jan += int((abs(strokes) == 2).sum())
        decisions += int(batch.episode_length[ended].sum())
        deals_left[ended] -= 1
        dealer = np.where(batch.terminated, dealers(batch), dealer)
    assert batch.skipped_episodes < deals / 1000
    return wins / deals, decisions / deals, jan / deals


@pytest.mark.slow
@pytest.mark.parametrize(
    ("num_players", "wins", "decisions", "jan"), [(4, 0.469, 8.92, 0.072), (6, 0.468, 7.18, 0.057)]
)
def test_braus_reproduces_the_figures_of_other_engines(
    num_players: int,
    wins: float,
    decisions: float,
    jan: float,
    capsys: pytest.CaptureFixture[str],
) -> None:
    measured = figures_of_braus(num_players, 1_000_000)
    with capsys.disabled():
        print(
            f"\nBräus, {num_players} players: forehand's team wins {measured[0]:.4f} of the deals,"
        )
        print(f"{measured[1]:.3f} decisions a deal, six to none in {measured[2]:.4f}")
    assert measured[0] == pytest.approx(wins, abs=0.002)
    assert measured[1] == pytest.approx(decisions, abs=0.01)
    assert measured[2] == pytest.approx(jan, abs=0.001)


#: Dreeg: actions that a careful player avoids, by name.
HASTY = ("surrender", "close", "durchmarsch", "out")


def lengths_of_dreeg(
    matches: int, is_hasty: bool = True, **options: Any
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the decisions and the deals of each episode of random players.

    Those who are not hasty avoid what ends a deal or its drawing.
    """
    tables = min(matches, NUM_TABLES)
    batch = cardenvs.make_batch("dreeg-v0", tables, seed=0, **options)
    batch.reset()
    rng = np.random.default_rng(0)
    avoided = [batch.game.actions.slices[name].start for name in HASTY]
    low, high = np.arange(batch.game.observation_size)[batch.game.layout.slices["deals_played"]]
    episodes_left = np.full(tables, matches // tables)
    deals = np.zeros(tables, np.int64)
    decisions_found, deals_found = [], []
    while episodes_left.any():
        deals[:] = batch.observation[:, low] + 128 * batch.observation[:, high].astype(np.int64) + 1
        actions = batch.sample_actions()
        if not is_hasty:
            mask = batch.action_mask.astype(np.float64)
            mask[:, avoided] *= 1e-9
            actions = (mask * rng.random(mask.shape)).argmax(axis=1)
        batch.step(actions)
        ended = np.flatnonzero(batch.terminated & (episodes_left > 0))
        decisions_found.extend(batch.episode_length[ended].tolist())
        deals_found.extend(deals[ended].tolist())
        episodes_left[ended] -= 1
    return np.array(decisions_found, np.float64), np.array(deals_found, np.float64)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("num_players", "is_hasty", "decisions", "margin", "deals"),
    [
        (4, True, 558, 3, 49.7),
        (3, True, 641, 3, 52.3),
        (4, False, 740, 10, None),
        (3, False, 876, 10, None),
    ],
)
def test_a_match_of_dreeg_is_as_long_as_another_engine_found(
    num_players: int,
    is_hasty: bool,
    decisions: float,
    margin: float,
    deals: float | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The figures of players who are not hasty were given without a margin."""
    found = lengths_of_dreeg(20_000, is_hasty, num_players=num_players)
    with capsys.disabled():
        print(f"\nDreeg, {num_players} players, hasty: {is_hasty}: ", end="")
        for name, numbers in zip(("decisions", "deals"), found, strict=True):
            error = numbers.std() / np.sqrt(len(numbers))
            print(f"{numbers.mean():.2f} {name} a match, +-{error:.2f}; ", end="")
    assert found[0].mean() == pytest.approx(decisions, abs=margin)
    assert deals is None or found[1].mean() == pytest.approx(deals, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subgame", "num_players", "decisions"),
    [
        ("deutsch", 4, 12.1),
        ("deutsch", 3, 14.1),
        ("deutsch", 2, 11.0),
        ("ace_of_hearts", 4, 9.4),
        ("ace_of_hearts", 3, 10.5),
        ("ace_of_hearts", 2, 11.5),
        ("rufen", 4, 10.9),
        ("rufen", 3, 11.7),
        ("rufen", 2, 11.8),
        ("kamerun", 4, 11.3),
        ("kamerun", 3, 13.0),
    ],
)
def test_a_deal_of_dreeg_is_as_long_as_another_engine_found(
    subgame: str, num_players: int, decisions: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """The figures have one decimal, and no margin."""
    options = {"scope": "deal", "subgame": subgame, "num_players": num_players}
    found, _ = lengths_of_dreeg(200_000, **options)
    with capsys.disabled():
        print(f"\nDreeg, {subgame}, {num_players} players: {found.mean():.3f} decisions a deal")
    assert found.mean() == pytest.approx(decisions, abs=0.15)
