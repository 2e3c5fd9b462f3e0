"""Facts of the beating games that hold in every game: cards, the queen, the cap, the scores."""

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
from cardenvs.testing import check_no_leak
from tests.core.test_games import broken_game
from tests.oracles.cases import CASES
from tests.oracles.compare import choose

DECK = sorted(FRENCH_DECK.text(card) for card in range(52))
MAX_TURNS = 1000


@pytest.fixture(params=["bred_ryg-v0", "brede_mette-v0"])
def game_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def nodes(
    game_id: str, rng: random.Random, is_given: bool = False, **changed: Any
) -> Iterator[State]:
    """Yield a table with random options at every node of an episode, its end included."""
    case = CASES[game_id]
    options = case.random_options(rng) | {"num_games": 1} | changed
    game = cardenvs.load_game(game_id, **options)
    deal = case.random_deal(rng, options) if is_given else None
    state = game.new_initial_state(seed=rng.getrandbits(62), deal=deal)
    stubbornness = rng.choice([0.0, 0.0, 0.9]) if case.ends_soon(options) else 0.0
    yield state
    while not state.is_terminal():
        state.apply_action(choose(case, state, rng, stubbornness))
        yield state


def queen(state: State) -> str:
    """Return the queen that nothing beats."""
    return str(state.game.options.get("queen", "QC"))


def turns(state: State) -> int:
    """Return the finished tricks or turns."""
    facts = state.public()
    return int(facts["tricks"] if "tricks" in facts else facts["turns"])


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
    lying = [card for card, _ in facts["attack"]]
    if "answered" in facts:  # what has been beaten in this trick has gone to the waste pile
        rest = lying[facts["answered"] :]
        lying = [card for card in lying if card in rest or card in facts["taken"]]
    beaters = facts.get("beaten_by", {}).values()
    return [*chain(*state.hands()), *state.stock(), *facts["waste"], *lying, *beaters]


@pytest.mark.parametrize("is_given", [False, True])
def test_no_card_is_lost_at_any_decision(game_id: str, is_given: bool, num_games: int) -> None:
    rng = random.Random(1)
    for _ in range(num_games):
        for state in nodes(game_id, rng, is_given):
            assert sorted(cards_of(state)) == DECK


def test_the_queen_never_leaves_play(game_id: str, num_games: int) -> None:
    rng = random.Random(2)
    for _ in range(num_games):
        for state in nodes(game_id, rng):
            places = [queen(state) in hand for hand in state.hands()]
            places.append(queen(state) in state.stock())
            assert queen(state) not in state.public()["waste"]
            if state.public()["phase"] in ("lead", "over"):
                assert sum(places) == 1


@pytest.mark.parametrize("is_given", [False, True])
def test_the_loser_holds_the_queen_if_she_is_in_play(
    game_id: str, is_given: bool, num_games: int
) -> None:
    rng = random.Random(3)
    finished = 0
    for _ in range(num_games):
        *_, state = nodes(game_id, rng, is_given)
        if queen(state) not in state.public()["waste"] and not state.is_truncated():
            holds = [queen(state) in hand for hand in state.hands()]
            assert loser_scores(state) == [-1 if is_holder else 0 for is_holder in holds]
            assert sum(map(bool, state.hands())) == 1
            finished += 1
    assert finished > num_games / 10


def test_every_game_ends_by_the_cap_at_the_latest(game_id: str, num_games: int) -> None:
    rng = random.Random(5)
    capped = 0
    for _ in range(num_games):
        limit = rng.choice([1, 2, 5, 12])
        *_, state = nodes(game_id, rng, no_progress_limit=limit)
        facts = state.public()
        assert turns(state) <= MAX_TURNS
        is_capped = facts["no_progress"] >= limit and facts["active"].count(True) > 1
        assert state.is_truncated() == (is_capped or turns(state) == MAX_TURNS)
        capped += is_capped
    assert capped


@pytest.mark.parametrize("seed", range(5))
def test_three_players_who_always_take_are_stopped_by_the_cap(seed: int) -> None:
    game = cardenvs.load_game("bred_ryg-v0", num_players=3, no_progress_limit=40)
    state, rng = game.new_initial_state(seed=seed), random.Random(seed)
    while not state.is_terminal():
        state.apply_action(choose(CASES["bred_ryg-v0"], state, rng, stubbornness=1.0))
    assert state.is_truncated()
    assert state.public()["no_progress"] == 40


def test_scores_sum_to_minus_one_and_to_zero_in_a_draw(game_id: str, num_games: int) -> None:
    rng = random.Random(7)
    for _ in range(num_games):
        *_, state = nodes(game_id, rng)
        assert sum(loser_scores(state)) == (0 if is_draw(state) else -1)


def test_zero_sum_returns_sum_to_zero(game_id: str, num_games: int) -> None:
    rng = random.Random(9)
    for _ in range(num_games):
        *_, state = nodes(game_id, rng, reward="zero_sum", num_games=rng.randint(1, 3))
        assert state.returns().sum() == pytest.approx(0.0, abs=1e-12)


def test_returns_of_a_match_sum_up_its_games(game_id: str, num_games: int) -> None:
    rng = random.Random(8)
    for _ in range(max(2, num_games // 10)):
        *_, state = nodes(game_id, rng, num_games=3, reward="loser", on_cap="share")
        assert state.public()["games_played"] == 3
        assert state.returns().sum() == pytest.approx(-3.0)


def test_a_view_that_shows_who_is_asked_to_add_is_found(game_id: str) -> None:
    def leaking_turn(observe: Any) -> Any:
        def leaky(rows: Any, i: int, seat: int, out: Any) -> None:
            observe(rows, i, seat, out)
            out[0] = np.int8(rows["current_player"][i] == 0)

        return leaky

    with pytest.raises(AssertionError, match="sees what is hidden from it"):
        check_no_leak(broken_game(game_id, {}, {"observe": leaking_turn}), 100)
