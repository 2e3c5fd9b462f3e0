"""Agents play legally, by what they see alone, and as their seed says."""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import cardenvs
from agents.learned import NetworkAgent
from agents.priority import PriorityAgent
from cardenvs.core.game import Game
from tests.oracles.cases import CASES

#: All agents. Searches are too slow where they are not compiled, other than that of Bräus.
AGENTS = [
    pytest.param(
        game_id,
        name,
        marks=pytest.mark.compiled if name == "search" and game_id != "braus-v0" else (),
    )
    for game_id in cardenvs.game_ids()
    for name in agents.list(game_id)
]

#: Options with which slow agents are quick.
QUICK = {
    "braus-v0": {"worlds": 1},
    "bred_ryg-v0": {"simulations": 8, "endgame_nodes": 100},
    "brede_mette-v0": {"simulations": 8, "endgame_nodes": 100},
    "dreeg-v0": {"worlds": 1},
}


def make(game: str | Game, name: str, seed: int) -> Any:
    """Return an agent that is quick, whatever its name."""
    table = load(game) if isinstance(game, str) else game
    return agents.make(table, name, seed, **(QUICK[table.id] if name == "search" else {}))


def positions(game: Game, count: int, seed: int = 0) -> Any:
    """Walk through random play, table by table."""
    state = game.new_initial_state(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(count):
        if state.is_terminal():
            seed += 1
            state = game.new_initial_state(seed=seed)
        yield state
        state.apply_action(int(rng.choice(state.legal_actions())))


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_plays_legally_whatever_the_options(game_id: str, name: str, num_games: int) -> None:
    rng = random.Random(1)
    for _ in range(10):
        num_tables, most_steps = (2, num_games) if name == "search" else (8, sys.maxsize)
        options = CASES[game_id].random_options(rng)
        batch = cardenvs.make_batch(game_id, num_tables, seed=1, **options)
        agent = make(batch.game, name, seed=2)
        batch.reset()
        finished = steps = 0
        while finished < num_games / 25 and steps < most_steps:
            steps += 1
            batch.step(agent.act(batch.observation, batch.action_mask))  # checks every action
            finished += int(batch.terminated.sum())


def test_a_game_without_hints_has_no_agents_that_play_by_them(kuhn_id: str) -> None:
    assert agents.list(kuhn_id) == ("random",)
    assert agents.make(kuhn_id, "random", seed=1).name == "random"
    for name in ("lowest", "hints"):
        with pytest.raises(ValueError, match=f"called '{name}'; there are random"):
            agents.make(kuhn_id, name)


@pytest.mark.slow
@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_plays_legally_a_million_times(game_id: str, name: str) -> None:
    rng = random.Random(2)
    decisions = 0
    while decisions < 1_000_000:
        options = CASES[game_id].random_options(rng)
        batch = cardenvs.make_batch(game_id, 1_024, seed=rng.getrandbits(30), **options)
        agent = make(batch.game, name, seed=3)
        batch.reset()
        for _ in range(50):
            batch.step(agent.act(batch.observation, batch.action_mask))  # checks every action
            decisions += batch.num_envs


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_hidden_cards_do_not_matter(game_id: str, name: str, num_games: int) -> None:
    for state in positions(load(game_id), num_games):
        seat = state.current_player
        chosen = set()
        for seed in range(3):
            world = state.determinize(seat, seed)
            agent = make(game_id, name, seed=5)
            chosen.add(int(agent.act(world.observation(seat), world.action_mask())))
        assert len(chosen) == 1


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_the_seed_decides(game_id: str, name: str) -> None:
    batch = cardenvs.make_batch(game_id, num_envs=64, seed=1)
    batch.reset()
    first, second = (
        make(game_id, name, seed=7).act(batch.observation, batch.action_mask) for _ in range(2)
    )
    assert (first == second).all()
    other = make(game_id, name, seed=8)
    is_same = (other.act(batch.observation, batch.action_mask) == first).all()
    assert is_same == (other.plays == "greedy")


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_one_position_without_a_leading_axis(game_id: str, name: str) -> None:
    state = load(game_id).new_initial_state(seed=3)
    action = make(game_id, name, seed=1).act(state.observation(), state.action_mask())
    assert isinstance(action, np.int64)
    state.apply_action(action)


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_a_finished_table_gets_action_0(game_id: str, name: str) -> None:
    game = load(game_id)
    observation = np.zeros((2, game.observation_size), np.int8)
    mask = np.zeros((2, game.num_actions), np.int8)
    assert make(game_id, name, seed=1).act(observation, mask).tolist() == [0, 0]


def test_names_and_errors() -> None:
    game = load("bred_ryg")
    assert agents.list("bred_ryg") == agents.list(game) == ("random", "lowest", "hints", "search")
    assert agents.list(game, fast=True) == ("random", "lowest", "hints")
    assert agents.make(game, "hints").name == "hints"
    with pytest.raises(ValueError, match=r"'clever'; there are random, lowest, hints"):
        agents.make("bred_ryg", "clever")
    with pytest.raises(ValueError, match="has 3 players, not 4"):
        agents.make(game, "hints", num_players=4)
    with pytest.raises(ValueError, match="no game is called"):
        agents.make("chess", "random")


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_every_agent_has_a_card(game_id: str, name: str) -> None:
    card = agents.card(game_id, name)
    assert card.name == name
    assert card.what
    assert card.how
    with pytest.raises(ValueError, match=rf"the agent '{name}' has no option 'depth'; it has "):
        agents.make(game_id, name, depth=3)


def test_a_card_tells_options_and_whether_the_agent_is_slow() -> None:
    card = agents.card("braus", "search")
    assert card.options == {"worlds": None, "seconds": None, "nodes": 100_000}
    assert card.is_slow
    assert not agents.card("braus", "hints").is_slow
    with pytest.raises(ValueError, match="no agent of braus-v0 is called 'clever'"):
        agents.card("braus", "clever")


def test_random_is_uniform() -> None:
    agent = agents.make("bred_ryg", "random", seed=1)
    game = load("bred_ryg")
    mask = np.zeros((3_000, game.num_actions), np.int8)
    mask[:, [3, 20, 52]] = 1
    actions = agent.act(np.zeros((3_000, game.observation_size), np.int8), mask)
    numbers, counts = np.unique(actions, return_counts=True)
    assert numbers.tolist() == [3, 20, 52]
    assert (abs(counts - 1_000) < 110).all()  # four standard deviations


# ----------------------------------------------------------------------------------------------
# The fixed order


def test_an_order_holds_each_action_once() -> None:
    with pytest.raises(ValueError, match="each of its 3 action ids once"):
        PriorityAgent([0, 1, 1])
    game = load("braus")
    mask = np.zeros((1, game.num_actions), np.int8)
    mask[0, [4, 7]] = 1
    seen = np.zeros((1, game.observation_size), np.int8)
    order = [7, 4, *(action for action in range(game.num_actions) if action not in (4, 7))]
    assert PriorityAgent(order).act(seen, mask).tolist() == [7]


# ----------------------------------------------------------------------------------------------
# Networks


def network(greedy: bool, size: float = 1.0) -> NetworkAgent:
    game, rng = load("bred_ryg"), np.random.default_rng(0)
    widths = [game.observation_size, 16, 8, game.num_actions]
    layers = [
        (size * rng.normal(size=pair).astype(np.float32), np.zeros(pair[1], np.float32))
        for pair in itertools.pairwise(widths)
    ]
    return NetworkAgent(layers, greedy=greedy, seed=3)


@pytest.mark.parametrize("greedy", [False, True])
def test_a_network_plays_legally(greedy: bool, num_games: int) -> None:
    agent = network(greedy)
    batch = cardenvs.make_batch("bred_ryg", num_envs=16, seed=1)
    batch.reset()
    for _ in range(num_games):
        batch.step(agent.act(batch.observation, batch.action_mask))


def test_a_network_without_preferences_is_uniform() -> None:
    agent = network(greedy=False, size=0.0)
    game = load("bred_ryg")
    mask = np.zeros((3_000, game.num_actions), np.int8)
    mask[:, [3, 20, 52]] = 1
    actions = agent.act(np.zeros((3_000, game.observation_size), np.int8), mask)
    assert np.unique(actions).tolist() == [3, 20, 52]
    assert (abs(np.bincount(actions)[[3, 20, 52]] - 1_000) < 110).all()


def test_a_network_is_saved_and_copied(tmp_path: Path) -> None:
    agent = network(greedy=True)
    agent.save(tmp_path / "policy.npz")
    loaded = NetworkAgent.load(tmp_path / "policy.npz", greedy=True)
    copied = NetworkAgent(agent.layers, greedy=True)
    batch = cardenvs.make_batch("bred_ryg", num_envs=64, seed=1)
    batch.reset()
    before = agent.act(batch.observation, batch.action_mask)
    agent.layers[0][0][:] = 0.0
    for other in (loaded, copied):
        assert (other.act(batch.observation, batch.action_mask) == before).all()


def load(game_id: str) -> Game:
    return cardenvs.load_game(game_id)
