"""Ratings: who is ranked how in a game, and what the ratings of many games tell."""

from __future__ import annotations

import numpy as np
import pytest
from openskill.models import PlackettLuce

from training.ratings import RatedGames, Rating, ranks_of, rate, rate_game

LOSER_GAME = [0.0, -1.0, 0.0]


def rated(*games: RatedGames, **more: int) -> dict[str, Rating]:
    return {rating.player: rating for rating in rate(games, **more)}


@pytest.mark.parametrize(
    ("scores", "ranks"),
    [
        (LOSER_GAME, [0, 2, 0]),  # survivors are tied, the loser is last
        ([-0.5, -0.5, 0.0], [1, 1, 0]),  # a capped game shared by two
        ([-1 / 3, -1 / 3, -1 / 3], [0, 0, 0]),
        ([2.0, -2.0], [0, 1]),  # teams
        ([1.5, -0.25, np.float32(-0.25), -1.0], [0, 1, 1, 3]),
        ([np.float32(1 / 3), 1 / 3, -2 / 3], [0, 0, 2]),  # the same but for rounding
    ],
)
def test_scores_are_ranks_with_ties(scores: list[float], ranks: list[int]) -> None:
    assert ranks_of(np.array([scores])).tolist() == [ranks]


def test_survivors_of_a_game_gain_alike_and_the_loser_pays() -> None:
    model = PlackettLuce(tau=0.0)
    ratings = {name: model.rating() for name in "abc"}
    rate_game(model, ratings, ("a", "b", "c"), ranks_of(np.array([LOSER_GAME]))[0].tolist())
    assert ratings["a"].mu == ratings["c"].mu > 25.0 > ratings["b"].mu
    assert ratings["a"].sigma == ratings["c"].sigma < 25.0 / 3


def test_a_game_of_equals_without_a_winner_moves_nobody() -> None:
    model = PlackettLuce(tau=0.0)
    ratings = {name: model.rating() for name in "ab"}
    rate_game(model, ratings, (("a", "a"), ("b", "b")), [0, 0])
    assert ratings["a"].mu == ratings["b"].mu == 25.0


def test_who_holds_several_seats_is_rated_their_mean() -> None:
    model = PlackettLuce(tau=0.0)
    apart = {name: model.rating() for name in "abc"}
    together = {name: model.rating() for name in "ab"}
    rate_game(model, apart, ("a", "b", "c"), [0, 2, 0])
    rate_game(model, together, ("a", "b", "b"), [0, 2, 0])
    assert together["a"].mu == apart["a"].mu
    assert together["b"].mu == pytest.approx((apart["b"].mu + apart["c"].mu) / 2)
    assert together["b"].sigma == pytest.approx((apart["b"].sigma + apart["c"].sigma) / 2)


def test_partners_of_one_kind_learn_as_partners_of_two() -> None:
    model = PlackettLuce(tau=0.0)
    apart = {name: model.rating() for name in "abcd"}
    together = {name: model.rating() for name in "ac"}
    rate_game(model, apart, (("a", "b"), ("c", "d")), [0, 1])
    rate_game(model, together, (("a", "a"), ("c", "c")), [0, 1])
    assert together["a"].mu == pytest.approx(apart["a"].mu)
    assert together["a"].sigma == pytest.approx(apart["a"].sigma)
    assert together["a"].mu > 25.0 > together["c"].mu


def test_ratings_tell_the_better_player() -> None:
    rng = np.random.default_rng(0)
    losers = np.where(rng.random(1_000) < 0.1, 0, rng.integers(1, 3, 1_000))  # a loses one in ten
    scores = -np.eye(3)[losers]
    found = rated(RatedGames((("a",), ("b",), ("b",)), scores), num_shuffles=4)
    best, worst = found["a"], found["b"]
    assert best.ordinal > worst.mu
    assert best.ordinal == pytest.approx(best.mu - 3 * best.sigma)
    assert (best.mu + worst.mu) / 2 == pytest.approx(25.0)
    assert 0.0 < best.spread < best.mu - worst.mu


def test_ratings_can_be_repeated_and_need_no_more_than_some_games() -> None:
    games = RatedGames((("a",), ("b",)), np.random.default_rng(0).normal(size=(500, 2)))
    few = rate([games], 2, 100, seed=1)
    assert few == rate([games], 2, 100, seed=1)
    assert few != rate([games], 2, 100, seed=2)
    assert few[0].sigma > rate([games], 2, 500, seed=1)[0].sigma
