"""Ratings of players from the games that they have played: OpenSkill's Plackett-Luce model.

A game is a ranking of its sides (seats, or teams) by score, equal scores tied: where one player
loses, all others are tied for first. A player that holds several seats takes part with all of
them, and is then rated the mean of what they would be. The players do not change while they
play, so the model adds no doubt between games (its tau is 0).

Letters of shapes: G games, S sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from openskill.models import PlackettLuce, PlackettLuceRating
from tqdm import tqdm

#: Ratings depend on the order of the games, so they are averaged over so many orders.
NUM_SHUFFLES = 20
#: How many games, drawn anew for each order, go into a rating at most.
MAX_GAMES = 10_000

#: Two scores that differ by less are the same: scores are fractions in single precision.
_TIE = 1e-5


@dataclass(frozen=True)
class RatedGames:
    """Games of the same players on the same sides.

    Attributes:
        sides: the labels of the players of each side.
        scores: float64 [G, S].
    """

    sides: tuple[tuple[str, ...], ...]
    scores: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rating:
    """What a player is rated, averaged over the orders.

    Attributes:
        mu: the estimate. Games tell differences alone: in each order the mean of all is set to 25.
        sigma: how unsure it is, by the model.
        ordinal: mu - 3 sigma.
        spread: standard deviation of `mu` over the orders.
    """

    player: str
    mu: float
    sigma: float
    ordinal: float
    spread: float


def rate(
    games: Sequence[RatedGames],
    num_shuffles: int = NUM_SHUFFLES,
    max_games: int = MAX_GAMES,
    seed: int = 0,
    progress: bool = False,
) -> tuple[Rating, ...]:
    """Rate all players of some games, the best first.

    Args:
        games: at least one.
        num_shuffles: orders of the games that ratings are averaged over.
        max_games: so many of all games, drawn anew for each order, are rated.
        seed: of the orders.
        progress: show a progress bar.
    """
    rng = np.random.default_rng(seed)
    which = np.repeat(np.arange(len(games)), [len(table.scores) for table in games])
    number = np.concatenate([np.arange(len(table.scores)) for table in games])
    ranks = [ranks_of(table.scores).tolist() for table in games]
    players = sorted({name for table in games for side in table.sides for name in side})
    model = PlackettLuce(tau=0.0)
    runs = []
    for _ in tqdm(range(num_shuffles), "ratings", unit="order", disable=not progress):
        ratings = {player: model.rating() for player in players}
        for game in rng.permutation(len(which))[:max_games]:
            table = which[game]
            rate_game(model, ratings, games[table].sides, ranks[table][number[game]])
        runs.append([(ratings[player].mu, ratings[player].sigma) for player in players])
    return _averaged(players, np.array(runs))


def ranks_of(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return how many sides are better than each, int64 [G, S]; equals have the same rank."""
    better = scores[:, None, :] > scores[:, :, None] + _TIE
    ranks: npt.NDArray[np.int64] = better.sum(axis=2)
    return ranks


def rate_game(
    model: PlackettLuce,
    ratings: dict[str, PlackettLuceRating],
    sides: Sequence[Sequence[str]],
    ranks: Sequence[int],
) -> None:
    """Let the ratings of the players of a game learn from it, in place."""
    # A seat has a rating of its own: the model changes what it is given, once for each seat.
    before = [
        [model.rating(ratings[player].mu, ratings[player].sigma) for player in side]
        for side in sides
    ]
    after = model.rate(before, ranks=[float(rank) for rank in ranks])
    found: dict[str, list[PlackettLuceRating]] = {}
    for side, new in zip(sides, after, strict=True):
        for player, rating in zip(side, new, strict=True):
            found.setdefault(player, []).append(rating)
    ratings.update({player: _mean(model, seats) for player, seats in found.items()})


def _mean(model: PlackettLuce, seats: Sequence[PlackettLuceRating]) -> PlackettLuceRating:
    if len(seats) == 1:
        return seats[0]
    mu, sigma = (sum(getattr(seat, part) for seat in seats) for part in ("mu", "sigma"))
    return model.rating(mu / len(seats), sigma / len(seats))


def _averaged(players: Sequence[str], runs: npt.NDArray[np.float64]) -> tuple[Rating, ...]:
    """Return the ratings from those of all orders, float64 [orders, players, 2]."""
    mus = runs[:, :, 0]
    runs[:, :, 0] += PlackettLuce().mu - mus.mean(axis=1, keepdims=True)
    means, spreads = runs.mean(axis=0), mus.std(axis=0)
    found = [
        Rating(player, float(mu), float(sigma), float(mu - 3 * sigma), float(spread))
        for player, (mu, sigma), spread in zip(players, means, spreads, strict=True)
    ]
    return tuple(sorted(found, key=lambda rating: -rating.mu))
