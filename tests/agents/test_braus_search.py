"""The solver of Bräus finds the values of full minimax, and its agent plays by what it sees."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import cardenvs
from agents.search import braus as search
from cardenvs.core.game import Game
from cardenvs.core.kernel import entry_point, kernel, lowest_bit
from cardenvs.games.braus import LIVE_CARDS, OVER, apply_action, legal_actions

SEVENS = ["7C", "7D", "7H", "7S"]
DUDS = ["KC", "8C", "8H", "8D", "TC"]
RULES = [
    {"num_players": num_players, "sevens": sevens, "king_of_clubs": king}
    for num_players in (4, 6)
    for sevens in ("forced", "optional")
    for king in ("exhaustion", "immediate")
]
#: More nodes than any line of play has.
DEPTH = 200
PLENTY = 10**12


# ----------------------------------------------------------------------------------------------
# Full minimax, by the rules themselves


@kernel
def enter(rows: Any, left: Any, values: Any, depth: int) -> None:
    """Begin to look at a node; its value is as bad as can be until then."""
    state = rows[depth]
    left[depth] = 0
    if state.phase == OVER:
        values[depth] = state.last_result[0] - state.last_result[1]
    else:
        left[depth] = legal_actions(state)
        values[depth] = 3 if state.current_player % 2 else -3


@entry_point
def minimax(rows: Any, left: Any, values: Any) -> int:
    """What `rows[0]` is worth to team 0, by trying all there is; the other rows are scratch."""
    depth = 0
    enter(rows, left, values, 0)
    while True:
        if left[depth]:
            action = lowest_bit(left[depth])
            left[depth] &= left[depth] - 1
            rows[depth + 1] = rows[depth]
            apply_action(rows[depth + 1], action)
            depth += 1
            enter(rows, left, values, depth)
        elif depth == 0:
            return int(values[0])
        else:
            depth -= 1
            if rows[depth].current_player % 2:
                values[depth] = min(values[depth], values[depth + 1])
            else:
                values[depth] = max(values[depth], values[depth + 1])


@entry_point
def play(rows: Any, action: int) -> None:
    apply_action(rows[0], action)


def values_by_minimax(state: Any) -> dict[int, int]:
    """Return what each legal action is worth to the seat on turn, by full minimax."""
    rows = state.game.blank_rows(DEPTH)
    sign = -1 if state.current_player % 2 else 1
    found = {}
    for action in state.legal_actions():
        rows[0] = state._rows[0]
        play(rows, action)
        found[action] = sign * minimax(rows, np.zeros(DEPTH, np.int64), np.zeros(DEPTH, np.int64))
    return found


@entry_point
def solve_row(rows: Any, mask: Any, solver: Any, values: Any) -> bool:
    return search.solve(rows[0], mask, solver, values)


def values_by_solver(state: Any, solver: Any) -> dict[int, float]:
    """Return what each legal action is worth to the seat on turn, by the solver."""
    values = np.full(state.game.num_actions, np.nan)
    assert solve_row(state._rows, state.action_mask(), solver, values)
    assert np.isnan(values[state.action_mask() == 0]).all()
    return {action: values[action] for action in state.legal_actions()}


def random_position(game: Game, rng: random.Random, max_live: int) -> Any:
    """Return a node in play from a deal of few cards, any number of them in a hand."""
    cards = rng.sample(LIVE_CARDS, rng.randint(1, max_live))
    cards += rng.sample(SEVENS, rng.choice([0, 0, 1, 2, 4]))
    cards += rng.sample(DUDS, rng.randint(0, 5))
    hands: list[list[str]] = [[] for _ in range(game.num_players)]
    for card in cards:
        rng.choice(hands).append(card)
    deal = {
        "hands": [" ".join(hand) for hand in hands],
        "tricks": [rng.choice([0, 0, 1, 2, 3, 4, 5, 5]) for _ in range(2)],
        "leader": rng.randrange(game.num_players),
    }
    state = game.new_initial_state(seed=1, deal=deal)
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        if not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(map(str, rules.values())))
def test_small_positions_have_the_values_of_minimax(
    rules: dict[str, Any], skip_forced: bool, num_games: int
) -> None:
    game = cardenvs.load_game("braus", skip_forced=skip_forced, **rules)
    rng = random.Random(str(rules))
    solver = search.new_solver(PLENTY)
    checked = 0
    while checked < num_games:
        state = random_position(game, rng, max_live=9 if num_games > 50 else 5)
        if not state.is_terminal():
            assert values_by_solver(state, solver) == values_by_minimax(state), str(state)
            checked += 1
