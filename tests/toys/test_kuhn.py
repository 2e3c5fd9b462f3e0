"""Kuhn poker by its rules, and the exact answers for it, which are known.

The numbers are those of the literature: the value of the game, -1/18, and its equilibria (Kuhn,
1950); the value and the NashConv of uniformly random play, 1/8 and 11/12, as in OpenSpiel.
"""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardenvs
from cardenvs.core.errors import DealError
from cardenvs.core.state import State
from cardenvs.testing import check_game, check_no_leak
from tests.toys import KUHN, kuhn_game
from tests.toys.kuhn import BET, PASS
from tests.toys.kuhn_view import DEALS
from tests.toys.nash import (
    best_response_value,
    decisions,
    expected_returns,
    nash_conv,
    tabular,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture
def roots(kuhn_id: str) -> list[State]:
    game = cardenvs.load_game(kuhn_id)
    return [game.new_initial_state(0, deal) for deal in DEALS]


def played(kuhn_id: str, hands: str, actions: str, **options: Any) -> State:
    """Return a table with a card for each player, such as "JK", after passes and bets, "pb"."""
    game = cardenvs.load_game(kuhn_id, **options)
    state = game.new_initial_state(0, deal={"hands": [f"{rank}S" for rank in hands]})
    for letter in actions:
        state.apply_action("pb".index(letter))
    return state


# ----------------------------------------------------------------------------------------------
# The rules


@pytest.mark.parametrize("walks", [False, True])
def test_contract(kuhn_id: str, walks: bool, num_games: int) -> None:
    check_game(cardenvs.load_game(kuhn_id, walks=walks), max(4, num_games // 10))


@pytest.mark.parametrize("walks", [False, True])
def test_no_seat_sees_hidden_cards(kuhn_id: str, walks: bool, num_games: int) -> None:
    check_no_leak(cardenvs.load_game(kuhn_id, walks=walks), num_positions=num_games)


@pytest.mark.parametrize(
    ("hands", "actions", "won"),
    [
        ("KQ", "pp", 1),
        ("QK", "pp", -1),
        ("JK", "bp", 1),
        ("JQ", "bb", -2),
        ("QJ", "bb", 2),
        ("KJ", "pbp", -1),
        ("KJ", "pbb", 2),
        ("QK", "pbb", -2),
    ],
)
def test_returns(kuhn_id: str, hands: str, actions: str, won: int) -> None:
    for length in range(len(actions)):
        state = played(kuhn_id, hands, actions[:length])
        assert state.current_player == length % 2
        assert state.legal_actions() == [PASS, BET]
        assert state.returns().tolist() == [0, 0]
    state = played(kuhn_id, hands, actions)
    assert state.is_terminal()
    assert state.returns().tolist() == [won, -won]


def test_observation_is_the_own_card_and_all_that_was_played(kuhn_id: str) -> None:
    state = played(kuhn_id, "KJ", "pb")
    decode = state.game.layout.decode
    told = {"passes": ["turn 0"], "bets": ["turn 1"]}
    assert decode(state.observation(0)) == {"acts_first": 1, "hand": ["KS"], **told}
    assert decode(state.observation(1)) == {"acts_first": 0, "hand": ["JS"], **told}


def test_deals_are_equally_likely(kuhn_id: str) -> None:
    game = cardenvs.load_game(kuhn_id)
    count = 600
    dealt = [game.new_initial_state(seed).to_deal()["hands"] for seed in range(count)]
    expected = count / len(DEALS)
    for deal in DEALS:
        assert abs(dealt.count(deal["hands"]) - expected) < 4 * math.sqrt(expected)


@pytest.mark.parametrize("actions", ["pp", "bp", "pbp", "pbb"])
def test_deal_says_who_acts_first(kuhn_id: str, actions: str) -> None:
    state = played(kuhn_id, "JK", actions)
    turned = state.game.new_initial_state(0, deal={"hands": ["KS", "JS"], "first": 1})
    for action in state.history():
        turned.apply_action(action)
    assert turned.returns().tolist() == state.returns().tolist()[::-1]
    for seat in (0, 1):
        assert turned.observation(1 - seat).tolist() == state.observation(seat).tolist()


@pytest.mark.parametrize(
    ("hands", "actions", "walks", "others"),
    [
        ("JQ", "", False, {"QS", "KS"}),
        ("JQ", "p", False, {"JS", "KS"}),
        ("KQ", "pb", False, {"JS", "QS"}),
        ("KQ", "pb", True, {"JS", "QS"}),
        ("JQ", "", True, {"QS"}),
        ("JQ", "b", True, {"JS", "KS"}),
    ],
)
def test_worlds_are_equally_likely(
    kuhn_id: str, hands: str, actions: str, walks: bool, others: set[str]
) -> None:
    state = played(kuhn_id, hands, actions, walks=walks)
    seat, count = state.current_player, 200
    worlds = [state.determinize(seat, seed).hands() for seed in range(count)]
    assert all(world[seat] == {f"{hands[seat]}S"} for world in worlds)
    held = [card for world in worlds for card in world[1 - seat]]
    assert set(held) == others
    for card in others:
        assert abs(held.count(card) - count / len(others)) < 30  # four standard deviations


@pytest.mark.parametrize(
    ("deal", "message"),
    [
        ({"hands": ["JS", "JS"]}, "stands twice"),
        ({"hands": ["JS QS", "KS"]}, "one card"),
        ({"hands": ["JS", ""]}, "one card"),
        ({"hands": ["JS"]}, "1 hands"),
        ({"hands": ["JS", "QS"], "stock": "KS"}, "no 'stock'"),
    ],
)
def test_broken_deal_is_refused(kuhn_id: str, deal: Any, message: str) -> None:
    with pytest.raises(DealError, match=message):
        cardenvs.load_game(kuhn_id).new_initial_state(0, deal)


# ----------------------------------------------------------------------------------------------
# Episodes without a decision


def walks_before(batch: Any, i: int) -> int:
    """Count the episodes of a table's stream, up to its present one, that asked nobody."""
    seed, episode = batch.state(i).stream
    past = (State.begin(batch.game, seed, episode=number) for number in range(episode + 1))
    return sum(state.is_terminal() for state in past)


def test_second_players_king_wins_the_ante_unasked(kuhn_id: str) -> None:
    state = played(kuhn_id, "QK", "", walks=True)
    assert state.is_terminal()
    assert state.returns().tolist() == [-1, 1]
    assert not played(kuhn_id, "KQ", "", walks=True).is_terminal()


@pytest.mark.parametrize("num_threads", [1, 2])
def test_batch_passes_over_episodes_without_a_decision(kuhn_id: str, num_threads: int) -> None:
    num_envs = 8
    batch = cardenvs.make_batch(kuhn_id, num_envs, 5, num_threads, walks=True)
    try:
        batch.reset()
        assert (batch.current_player == 0).all()
        for _ in range(40):
            batch.step(batch.sample_actions())
            assert (batch.current_player >= 0).all()
            assert (batch.action_mask == 1).all()
        skipped = [walks_before(batch, i) for i in range(num_envs)]
        assert min(skipped) > 0
        assert batch.skipped_episodes == sum(skipped)
    finally:
        batch.close()


def test_batch_counts_what_it_skips_in_a_reset_and_in_the_step_that_ends_an_episode(
    kuhn_id: str,
) -> None:
    batch = cardenvs.make_batch(kuhn_id, num_envs=60, seed=1, walks=True)
    batch.reset()
    in_reset = batch.skipped_episodes
    assert in_reset > 0
    batch.step(np.full(60, BET))
    assert batch.skipped_episodes == in_reset
    assert not batch.terminated.any()
    batch.step(np.full(60, PASS))
    assert batch.terminated.all()
    assert batch.skipped_episodes > in_reset
    assert batch.reward.tolist() == [[1, -1]] * 60  # of the folds, not of the walks after them
    assert batch.episode_length.tolist() == [2] * 60


def test_batch_without_autoreset_skips_at_the_next_reset(kuhn_id: str) -> None:
    batch = cardenvs.make_batch(kuhn_id, num_envs=60, seed=1, autoreset=False, walks=True)
    batch.reset()
    in_reset = batch.skipped_episodes
    batch.step(np.full(60, PASS))
    batch.step(np.full(60, PASS))
    assert (batch.current_player == -1).all()
    assert batch.skipped_episodes == in_reset
    batch.reset(mask=batch.terminated)
    assert (batch.current_player == 0).all()
    assert batch.skipped_episodes > in_reset


def test_batch_refuses_a_deal_without_a_decision(kuhn_id: str) -> None:
    batch = cardenvs.make_batch(kuhn_id, num_envs=2, seed=1, walks=True)
    with pytest.raises(DealError, match="over before any decision"):
        batch.reset(deals=[{"hands": ["KS", "QS"]}, {"hands": ["QS", "KS"]}])


def test_batch_skips_nothing_where_all_deals_ask(kuhn_id: str) -> None:
    batch = cardenvs.make_batch(kuhn_id, num_envs=8, seed=5)
    batch.reset()
    for _ in range(40):
        batch.step(batch.sample_actions())
    assert batch.skipped_episodes == 0


# ----------------------------------------------------------------------------------------------
# Exact answers


def uniform(observations: Any, masks: Any) -> Any:
    return masks / masks.sum(axis=1, keepdims=True)


def equilibrium(alpha: float) -> Any:
    """Return an equilibrium of Kuhn's family, 0 <= alpha <= 1/3, as a policy."""
    bet_first = {"JS": alpha, "QS": 0.0, "KS": 3 * alpha}
    call_first = {"JS": 0.0, "QS": alpha + 1 / 3, "KS": 1.0}
    call_second = {"JS": 0.0, "QS": 1 / 3, "KS": 1.0}
    bet_second = {"JS": 1 / 3, "QS": 0.0, "KS": 1.0}

    def act_probabilities(observations: Any, masks: Any) -> Any:
        layout = kuhn_game().layout
        bets = []
        for seen in map(layout.decode, observations):
            first, second = (call_first, call_second) if seen["bets"] else (bet_first, bet_second)
            bets.append((first if seen["acts_first"] else second)[seen["hand"][0]])
        return np.stack([1.0 - np.array(bets), bets], axis=1)

    return act_probabilities


def perturbed(seed: int) -> Any:
    """Return a policy of random probabilities."""

    def act_probabilities(observations: Any, masks: Any) -> Any:
        return np.random.default_rng(seed).dirichlet(np.ones(masks.shape[1]), len(masks))

    return act_probabilities


def test_there_are_six_decisions_a_player(roots: list[State]) -> None:
    asked = decisions(roots)
    assert len(asked) == 12
    assert sorted(state.current_player for state in asked.values()) == [0] * 6 + [1] * 6


def test_uniformly_random_play(roots: list[State]) -> None:
    table = tabular(roots, uniform)
    assert expected_returns(roots, [table, table]) == pytest.approx([1 / 8, -1 / 8], abs=1e-12)
    assert nash_conv(roots, table) == pytest.approx(11 / 12, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 1 / 3])
def test_equilibria(roots: list[State], alpha: float) -> None:
    table = tabular(roots, equilibrium(alpha))
    assert expected_returns(roots, [table, table]) == pytest.approx([-1 / 18, 1 / 18], abs=1e-12)
    assert nash_conv(roots, table) == pytest.approx(0.0, abs=1e-12)


def test_beyond_the_family_is_no_equilibrium(roots: list[State]) -> None:
    def bluffs_too_much(observations: Any, masks: Any) -> Any:
        chosen = equilibrium(0.2)(observations, masks)
        chosen[chosen[:, BET] == 1 / 3] = [0.5, 0.5]  # the second player's jacks and queens
        return chosen

    assert nash_conv(roots, tabular(roots, bluffs_too_much)) > 0.01


def best_by_trying(roots: list[State], table: Any, seat: int) -> float:
    """Return the best value over all ways to play without chance."""
    own = {key: state for key, state in decisions(roots).items() if state.current_player == seat}
    values = []
    for actions in itertools.product(*(state.legal_actions() for state in own.values())):
        tables = [table, table]
        played_for_sure = np.eye(roots[0].game.num_actions)[list(actions)]
        tables[seat] = dict(zip(own, played_for_sure, strict=True))
        values.append(float(expected_returns(roots, tables)[seat]))
    return max(values)


@pytest.mark.parametrize("seat", [0, 1])
def test_best_response_is_the_best_of_all_ways_to_play(roots: list[State], seat: int) -> None:
    table = tabular(roots, perturbed(seat))
    expected = best_by_trying(roots, table, seat)
    assert best_response_value(roots, table, seat) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seat", [0, 1])
def test_best_response_in_a_game_of_the_library(seat: int) -> None:
    game = cardenvs.load_game("bred_ryg", num_players=2)
    endings = [{"hands": ["8S 2S", other], "trump": "C"} for other in ("QS AD", "QS 4S", "AD 4S")]
    roots = [game.new_initial_state(0, deal) for deal in endings]
    table = tabular(roots, uniform)
    expected = best_by_trying(roots, table, seat)
    assert best_response_value(roots, table, seat) == pytest.approx(expected, abs=1e-12)
    assert expected > expected_returns(roots, [table, table])[seat] + 0.1


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda observations, masks: masks[:, :1] * 1.0, r"float \[12, 2\], not \[12, 1\]"),
        (lambda observations, masks: masks * 1.0, "add up to 1"),
        (lambda observations, masks: masks * [2.0, -1.0], "negative"),
    ],
)
def test_what_is_no_policy_is_refused(roots: list[State], broken: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tabular(roots, broken)


# ----------------------------------------------------------------------------------------------
# Known to tests that ask, and to nobody else


def test_toys_are_not_among_the_games_of_the_library() -> None:
    assert KUHN not in cardenvs.game_ids()


@pytest.mark.compiled
def test_process_of_its_own_plays_the_same_game(kuhn_id: str) -> None:
    script = (
        "from tests.toys import kuhn_game, register_toys; register_toys(); "
        "print(kuhn_game().new_initial_state(7).to_deal())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    deal = cardenvs.load_game(kuhn_id).new_initial_state(7).to_deal()
    assert done.stdout.strip() == str(deal)
