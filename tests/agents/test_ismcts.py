"""The tree search of the beating games finds what is best, within its limits, by what it sees."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents.hints import default_kernel, hint_book
from agents.search.base import Budget, SearchAgent
from agents.search.beating import stage
from agents.search.ismcts import (
    NODES,
    SIMULATIONS,
    Parts,
    Settings,
    make_ismcts,
)
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel, popcount
from cardenvs.core.state import State
from cardenvs.games.beating import DECK, NUM_CARDS
from cardenvs.registry import load_game
from tests.oracles.cases import CASES

ROOT = Path(__file__).parents[2]
GAMES = ["bred_ryg-v0", "brede_mette-v0"]
POLICIES = {game_id: default_kernel(hint_book(load_game(game_id))) for game_id in GAMES}


# One solver of endgames that does as it is told, so that one search is compiled for all tests.
GIVES_UP, LIKES_HIGH_IDS, LIKES_ALL = range(3)


@kernel
def is_endgame(state: Any) -> bool:
    return state.stock_size == 0 and popcount(state.active) == 2


@kernel
def solve(state: Any, mask: Any, solver: Any, values: Any) -> bool:
    for action in range(mask.shape[0]):
        values[action] = action if solver[0] == LIKES_HIGH_IDS else 0.5
    return solver[0] != GIVES_UP


def tree_search(
    game: Game, simulations: int, solver: int = GIVES_UP, **settings: Any
) -> SearchAgent:
    """Return the search with another solver of endgames."""
    parts = Parts(POLICIES[game.id], stage, is_endgame, solve)
    about = Settings(**settings)
    return make_ismcts(game, parts, Budget(simulations), 1, about, np.array([solver]))


def chosen(agent: Any, state: State) -> int:
    return int(agent.act(state.observation(), state.action_mask()))


def values_of(agent: SearchAgent, state: State) -> Any:
    return agent.values(state.observation(), state.action_mask())


def begin(game_id: str, hands: list[str], *played: str, **options: Any) -> State:
    """Return a table without a stock at which seat 0 leads, after some actions; H is trump."""
    game = load_game(game_id, num_players=len(hands), **options)
    deal = {"dealer": len(hands) - 1, "hands": hands, "stock": "", "trump": "H"}
    state = game.new_initial_state(seed=0, deal=deal)
    for text in played:
        state.apply_action(state.string_to_action(text))
    return state


def random_state(game_id: str, rng: random.Random) -> State:
    """Return a table with random options and a random deal, in the midst of random play."""
    case = CASES[game_id]
    while True:
        options = case.random_options(rng)
        game = load_game(game_id, **options)
        deal = case.random_deal(rng, options) if rng.random() < 0.5 else None
        state = game.new_initial_state(seed=rng.randrange(1000), deal=deal)
        for _ in range(rng.randrange(30)):
            if not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
        if not state.is_terminal():
            return state


# ----------------------------------------------------------------------------------------------
# Good moves


@pytest.mark.parametrize("game_id", GAMES)
def test_leads_the_trump_that_brings_the_lead_back(game_id: str) -> None:
    state = begin(game_id, ["AH 2S", "3S"])
    assert state.action_to_string(chosen(tree_search(state.game, 100), state)) == "lead AH"
    assert state.action_to_string(chosen(agents.make(state.game, "hints"), state)) == "lead 2S"


@pytest.mark.parametrize("game_id", GAMES)
def test_goes_out_with_two_cards_at_once(game_id: str) -> None:
    state = begin(game_id, ["5S 5C", "8S 9C 3D", "6S 2C 3C"], "lead 5C")
    assert state.action_to_string(chosen(tree_search(state.game, 200), state)) == "add 5S"


def test_in_bred_ryg_beats_with_the_last_card_instead_of_taking() -> None:
    state = begin("bred_ryg", ["5S 2C", "8S"], "lead 5S")
    assert state.action_to_string(chosen(tree_search(state.game, 100), state)) == "beat 8S"


# ----------------------------------------------------------------------------------------------
# Best play of two with open cards


def exact_values(state: State) -> dict[int, float]:
    """Return what each action is worth to the player on turn, by trying all lines of play."""
    found: dict[bytes, float] = {}
    return {action: _after(state, action, state.current_player, found) for action in _legal(state)}


def _after(state: State, action: int, seat: int, found: dict[bytes, float]) -> float:
    """The value of an action to a seat, where the sum of both scores is -1."""
    after = state.clone()
    after.apply_action(action)
    value = _first_seat_value(after, found)
    return value if seat == 0 else -1 - value


def _first_seat_value(state: State, found: dict[bytes, float]) -> float:
    if state.is_terminal():
        return float(state.returns()[0])
    key = state._rows.tobytes()
    if key not in found:
        seat = state.current_player
        best = max(_after(state, action, seat, found) for action in _legal(state))
        found[key] = best if seat == 0 else -1 - best
    return found[key]


def _legal(state: State) -> list[int]:
    return state.legal_actions()


@pytest.mark.parametrize("game_id", GAMES)
def test_finds_the_values_of_best_play(game_id: str, num_games: int) -> None:
    game = load_game(game_id, num_players=2, no_progress_limit=2, on_cap="share")
    agent = tree_search(game, 100 * num_games, exploration=0.7)
    rng = random.Random(7)
    told_apart = 0
    for _ in range(num_games // 10):
        cards = rng.sample([DECK.text(card) for card in range(NUM_CARDS)], 5)
        hands = [" ".join(cards[:3]), " ".join(cards[3:])]
        deal = {"dealer": 1, "hands": hands, "stock": "", "trump": rng.choice("CDHS")}
        state = game.new_initial_state(seed=0, deal=deal)
        exact = exact_values(state)
        action = chosen(agent, state)
        assert exact[action] == max(exact.values()), deal
        assert values_of(agent, state)[action] == pytest.approx(exact[action], abs=0.1)
        told_apart += len(set(exact.values())) > 1
    assert told_apart >= num_games // 50


# ----------------------------------------------------------------------------------------------
# Endgames are left to a solver


ENDGAME = ["AH 2S 3D 5D", "3S 4C"]


@pytest.mark.parametrize("game_id", GAMES)
def test_a_solver_decides_the_endgame(game_id: str) -> None:
    state = begin(game_id, ENDGAME)
    agent = tree_search(state.game, 100, LIKES_HIGH_IDS)
    assert chosen(agent, state) == max(state.legal_actions())
    values = values_of(agent, state)
    assert np.flatnonzero(~np.isnan(values)).tolist() == state.legal_actions()
    assert all(values[action] == action for action in state.legal_actions())
    assert agent._memory.counts[SIMULATIONS] == 0


@pytest.mark.parametrize("game_id", GAMES)
@pytest.mark.parametrize(("reward", "win"), [("loser", 0.0), ("zero_sum", 0.5)])
def test_the_end_of_two_is_known_exactly_in_points(game_id: str, reward: str, win: float) -> None:
    queen = "QC" if game_id == "bred_ryg-v0" else "QD"  # the solver wants her in play
    state = begin(game_id, [f"{queen} 2S", "3S", ""], reward=reward)
    values = values_of(agents.make(state.game, "search", simulations=1), state)
    found = {state.action_to_string(action): values[action] for action in state.legal_actions()}
    assert found == {f"lead {queen}": win, "lead 2S": -1.0}


@pytest.mark.parametrize("game_id", GAMES)
def test_of_equally_good_actions_the_hints_choose(game_id: str) -> None:
    state = begin(game_id, ENDGAME)
    agent = tree_search(state.game, 100, LIKES_ALL)
    assert state.action_to_string(chosen(agent, state)) == "lead 2S"


@pytest.mark.parametrize("game_id", GAMES)
def test_what_the_solver_gives_up_goes_to_the_tree(game_id: str) -> None:
    state = begin(game_id, ENDGAME)
    agent = tree_search(state.game, 100, GIVES_UP)
    assert np.nanmax(values_of(agent, state)) <= 0
    assert agent._memory.counts[SIMULATIONS] == 100


@pytest.mark.parametrize("game_id", GAMES)
def test_other_positions_are_not_for_the_solver(game_id: str) -> None:
    state = begin(game_id, [*ENDGAME, "9C"])
    agent = tree_search(state.game, 100, LIKES_HIGH_IDS)
    assert np.nanmax(values_of(agent, state)) <= 0


# ----------------------------------------------------------------------------------------------
# Any rules, any cards


@pytest.mark.parametrize("game_id", GAMES)
def test_is_legal_and_within_bounds_whatever_the_rules(game_id: str, num_games: int) -> None:
    rng = random.Random(3)
    sizes = set()
    for _ in range(num_games):
        state = random_state(game_id, rng)
        game = state.game
        agent = agents.make(game, "search", seed=4, simulations=20)
        assert chosen(agent, state) in state.legal_actions()
        values = values_of(agent, state)
        seen = values[~np.isnan(values)]
        least, most = (
            bound / game.options["num_games"] for bound in (game.min_return, game.max_return)
        )
        assert seen.size
        assert ((least - 1e-9 <= seen) & (seen <= most + 1e-9)).all()
        assert np.isnan(values[state.action_mask() == 0]).all()
        sizes.add(game.num_players)
    assert num_games < 50 or sizes == {2, 3, 4, 5, 6}


@pytest.mark.parametrize("game_id", GAMES)
def test_hidden_cards_do_not_matter(game_id: str, num_games: int) -> None:
    rng = random.Random(5)
    for _ in range(num_games // 5):
        state = random_state(game_id, rng)
        seat = state.current_player
        worlds = [state.determinize(seat, seed) for seed in range(3)]
        made = [agents.make(state.game, "search", seed=2, simulations=30) for _ in worlds]
        values = [
            agent.values(world.observation(seat), world.action_mask())
            for agent, world in zip(made, worlds, strict=True)
        ]
        np.testing.assert_array_equal(values[0], values[1])
        np.testing.assert_array_equal(values[0], values[2])


@pytest.mark.parametrize("game_id", GAMES)
def test_scores_centred_or_not_lead_to_the_same_play(game_id: str, num_games: int) -> None:
    for seed in range(num_games // 10):
        actions = []
        for reward in ("loser", "zero_sum"):
            game = load_game(game_id, num_players=3, reward=reward)
            state = game.new_initial_state(seed=seed)
            actions.append(chosen(tree_search(game, 50), state))
        assert actions[0] == actions[1]


# ----------------------------------------------------------------------------------------------
# Limits


@pytest.mark.parametrize("game_id", GAMES)
def test_the_number_of_simulations_is_a_limit(game_id: str) -> None:
    state = load_game(game_id).new_initial_state(seed=3)
    for seconds in (None, 600.0):
        agent = agents.make(game_id, "search", seed=1, simulations=37, seconds=seconds)
        chosen(agent, state)
        assert agent._memory.counts[SIMULATIONS] == 37
        assert agent._memory.tree.visits[1 : agent._memory.counts[NODES]].max() <= 37


@pytest.mark.parametrize("game_id", GAMES)
def test_the_time_is_a_limit(game_id: str) -> None:
    state = load_game(game_id).new_initial_state(seed=3)
    agent = agents.make(game_id, "search", seed=1, seconds=0.05)
    chosen(agent, state)  # compiled now
    begun = time.perf_counter()
    assert chosen(agent, state) in state.legal_actions()
    assert 0.05 <= time.perf_counter() - begun < 5
    assert agent._memory.counts[SIMULATIONS] >= agent.budget.slice_units


@pytest.mark.parametrize("game_id", GAMES)
def test_a_full_tree_grows_no_more(game_id: str) -> None:
    state = load_game(game_id).new_initial_state(seed=3)
    agent = tree_search(state.game, 60, max_nodes=10)
    assert chosen(agent, state) in state.legal_actions()
    counts, tree = agent._memory.counts, agent._memory.tree
    assert (counts[NODES], counts[SIMULATIONS]) == (10, 60)
    assert len(tree.visits) == 10
    children = tree.parent == 0
    assert tree.visits[children].sum() == 60


def test_a_tree_without_room_for_all_actions_still_plays() -> None:
    state = load_game("bred_ryg").new_initial_state(seed=3)
    agent = tree_search(state.game, 20, max_nodes=2)
    assert chosen(agent, state) in state.legal_actions()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "one world or more, not 0"),
        ({"seconds": 0}, "more than 0 seconds"),
        ({"exploration": -1}, "exploration is .* not -1"),
        ({"random_share": 1.5}, "random_share is .* not 1.5"),
        ({"max_nodes": 1}, "two nodes or more, not 1"),
        ({"max_rollout": 0}, "one decision or more, not 0"),
    ],
)
def test_limits_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agents.make("bred_ryg", "search", **options)


# ----------------------------------------------------------------------------------------------
# Compiled or not


def some_choices() -> list[list[int]]:
    """Return what the search plays in a few positions."""
    choices = []
    for game_id in GAMES:
        rng = random.Random(11)
        states = [random_state(game_id, rng) for _ in range(6)]
        made = [agents.make(state.game, "search", seed=3, simulations=15) for state in states]
        choices.append([chosen(*pair) for pair in zip(made, states, strict=True)])
    return choices


@pytest.mark.compiled
def test_plays_the_same_uncompiled() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.agents.test_ismcts"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == some_choices()


if __name__ == "__main__":
    print(json.dumps(some_choices()))
