"""Facts of Bred Ryg that hold in every game: cards, the black queen, the cap, the scores."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import pytest

import cardenvs
from cardenvs.core.cards import FRENCH_DECK
from cardenvs.core.state import State
from cardenvs.games.bred_ryg import MAX_TRICKS
from cardenvs.testing import check_no_leak
from tests.core.test_games import broken_game
from tests.oracles.cases import CASES
from tests.oracles.compare import choose

DECK = sorted(FRENCH_DECK.text(card) for card in range(52))
QUEEN = "QC"
CASE = CASES["bred_ryg-v0"]


def nodes(rng: random.Random, deal: Any = None, **changed: Any) -> Iterator[State]:
    """Yield a table with random options at every node of an episode, its end included."""
    options = CASE.random_options(rng) | {"num_games": 1} | changed
    game = cardenvs.load_game("bred_ryg-v0", **options)
    state = game.new_initial_state(seed=rng.getrandbits(62), deal=deal)
    stubbornness = rng.choice([0.0, 0.0, 0.9]) if CASE.ends_soon(options) else 0.0
    yield state
    while not state.is_terminal():
        state.apply_action(choose(CASE, state, rng, stubbornness))
        yield state


def random_deal(rng: random.Random, num_players: int) -> dict[str, Any]:
    options = {"num_players": num_players, "exposed_card": "bottom"}
    return CASE.random_deal(rng, options)


def is_draw(state: State) -> bool:
    return state.is_truncated() and bool(state.game.options["on_cap"] == "draw")


def loser_scores(state: State) -> list[Fraction]:
    """Return the scores of a game as the reward `loser` has them, exactly."""
    scores = [Fraction(value).limit_denominator(60) for value in state.returns().tolist()]
    if state.game.options["reward"] == "loser" or is_draw(state):
        return scores
    players = state.game.num_players
    return [((players - 1) * score - 1) / players for score in scores]


def cards_of(state: State) -> list[str]:
    """Return all cards: in hands, in the stock, on the waste pile and on the table."""
    facts = state.public()
    lying = [
        card
        for index, (card, _) in enumerate(facts["attack"])
        if index >= facts["answered"] or card in facts["taken"]
    ]
    return [*chain(*state.hands()), *state.stock(), *facts["waste"], *lying]


def test_no_card_is_lost_at_any_decision(num_games: int) -> None:
    rng = random.Random(1)
    for _ in range(num_games):
        for state in nodes(rng):
            assert sorted(cards_of(state)) == DECK


def test_no_card_of_a_fixed_deal_is_lost(num_games: int) -> None:
    rng = random.Random(10)
    for _ in range(num_games):
        for state in nodes(rng, random_deal(rng, 3), num_players=3, exposed_card="bottom"):
            assert sorted(cards_of(state)) == DECK


def test_the_queen_is_in_the_stock_or_in_one_hand_between_tricks(num_games: int) -> None:
    rng = random.Random(2)
    for _ in range(num_games):
        for state in nodes(rng):
            places = [QUEEN in hand for hand in state.hands()] + [QUEEN in state.stock()]
            assert QUEEN not in state.public()["waste"]
            if state.public()["phase"] in ("lead", "over"):
                assert sum(places) == 1


def test_the_loser_holds_the_queen(num_games: int) -> None:
    rng = random.Random(3)
    for _ in range(num_games):
        *_, state = nodes(rng)
        if not state.is_truncated():
            assert loser_scores(state) == [-1 if QUEEN in hand else 0 for hand in state.hands()]
            assert sum(map(bool, state.hands())) == 1


def test_the_loser_of_a_fixed_deal_holds_the_queen_if_she_is_in_play(num_games: int) -> None:
    rng = random.Random(4)
    for _ in range(num_games):
        deal = random_deal(rng, 4)
        in_play = f"{deal['hands']} {deal['stock']}"
        *_, state = nodes(rng, deal, num_players=4, exposed_card="bottom")
        if QUEEN in in_play and not state.is_truncated():
            assert loser_scores(state) == [-1 if QUEEN in hand else 0 for hand in state.hands()]


def test_every_game_ends_by_the_cap_at_the_latest(num_games: int) -> None:
    rng = random.Random(5)
    for _ in range(num_games):
        limit = rng.choice([1, 2, 5, 12])
        *_, state = nodes(rng, no_progress_limit=limit)
        facts = state.public()
        assert facts["tricks"] <= MAX_TRICKS
        is_capped = facts["no_progress"] >= limit and facts["active"].count(True) > 1
        assert state.is_truncated() == (is_capped or facts["tricks"] == MAX_TRICKS)


@pytest.mark.parametrize("seed", range(5))
def test_three_players_who_always_take_are_stopped_by_the_cap(seed: int) -> None:
    game = cardenvs.load_game("bred_ryg-v0", num_players=3, no_progress_limit=40)
    state, rng = game.new_initial_state(seed=seed), random.Random(seed)
    while not state.is_terminal():
        state.apply_action(choose(CASE, state, rng, stubbornness=1.0))
    assert state.is_truncated()
    assert state.public()["no_progress"] == 40


def test_scores_sum_to_minus_one_and_to_zero_in_a_draw(num_games: int) -> None:
    rng = random.Random(7)
    for _ in range(num_games):
        *_, state = nodes(rng)
        assert sum(loser_scores(state)) == (0 if is_draw(state) else -1)


def test_zero_sum_returns_sum_to_zero(num_games: int) -> None:
    rng = random.Random(9)
    for _ in range(num_games):
        *_, state = nodes(rng, reward="zero_sum", num_games=rng.randint(1, 3))
        assert state.returns().sum() == pytest.approx(0.0, abs=1e-12)


def test_returns_of_a_match_sum_up_its_games(num_games: int) -> None:
    rng = random.Random(8)
    for _ in range(max(2, num_games // 10)):
        *_, state = nodes(rng, num_games=3, reward="loser", on_cap="share")
        assert state.public()["games_played"] == 3
        assert state.returns().sum() == pytest.approx(-3.0)


def test_a_view_that_shows_who_is_asked_to_add_is_found() -> None:
    def leaking_turn(observe: Any) -> Any:
        def leaky(rows: Any, i: int, seat: int, out: Any) -> None:
            observe(rows, i, seat, out)
            out[0] = np.int8(rows["current_player"][i] == 0)

        return leaky

    with pytest.raises(AssertionError, match="sees what is hidden from it"):
        check_no_leak(broken_game("bred_ryg-v0", {}, {"observe": leaking_turn}), 100)
