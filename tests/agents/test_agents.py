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
from training.evaluate import evaluate

AGENTS = [(game_id, name) for game_id in cardenvs.game_ids() for name in agents.list(game_id)]

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
    assert agents.list("bred_ryg") == agents.names(game) == ("random", "rules")
    assert agents.make(game, "rules").name == "rules"
    with pytest.raises(ValueError, match=r"'clever'; there are random, rules"):
        agents.make("bred_ryg", "clever")
    with pytest.raises(ValueError, match="has 3 players, not 4"):
        agents.make(game, "rules", num_players=4)
    with pytest.raises(ValueError, match="no game is called"):
        agents.make("chess", "random")


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
# The hints of Bred Ryg

STOCK = "9C 8C 7C 6C 4H"
REST = "JD TD 9D 8D"


def rules_choose(hands: list[str], *played: str, stock: str = STOCK, trump: str = "H") -> str:
    """Return the words for what the rule-based agent plays after some actions; seat 0 leads."""
    deal = {"dealer": 2, "hands": hands, "stock": stock, "trump": trump}
    state = load("bred_ryg").new_initial_state(seed=0, deal=deal)
    for text in played:
        state.apply_action(state.string_to_action(text))
    agent = agents.make("bred_ryg", "rules")
    return state.action_to_string(int(agent.act(state.observation(), state.action_mask())))


def test_h2_beats_with_the_cheapest_card() -> None:
    hands = ["5S 2C 3C KD", "8S 6S 2H QH", REST]
    assert rules_choose(hands, "lead 5S") == "beat 6S"


def test_h2_prefers_any_plain_card_to_a_trump() -> None:
    hands = ["5S 2C 3C KD", "AS 2H 3H QH", REST]
    assert rules_choose(hands, "lead 5S") == "beat AS"


def test_h2_keeps_a_high_trump_while_there_is_a_stock() -> None:
    hands = ["5S 2C 3C KD", "2S QH KH AH", REST]
    assert rules_choose(hands, "lead 5S") == "take"
    assert rules_choose(hands, "lead 5S", stock="") == "beat QH"


def test_h3_leads_the_black_queen() -> None:
    assert rules_choose(["2S QC 3S KD", "8S 6S 2H QH", REST]) == "lead QC"


def test_h3_puts_the_black_queen_as_the_extra_card() -> None:
    hands = ["2S 2D QC KD", "8S 6S 2H QH", REST]
    assert rules_choose(hands, "lead 2D", "add 2S") == "extra QC"


def test_h3_adds_the_black_queen_to_a_queen() -> None:
    hands = ["QS 2D 3D KD", "8S 6S 2H 5H", "QC TD 9D 8D"]
    assert rules_choose(hands, "lead QS") == "add QC"


def test_h5_leads_the_black_queen_in_the_endgame() -> None:
    assert rules_choose(["2S QC 3S KD", "8S 6S", REST], stock="") == "lead QC"


def test_h7_adds_what_the_hand_can_beat() -> None:
    hands = ["5S 2D 3D KD", "5D 9D KS 2C", "JC TC AC 3C"]
    assert rules_choose(hands, "lead 5S") == "add 5D"


def test_h7_adds_nothing_that_it_would_have_to_take() -> None:
    hands = ["5S 2D 3D KD", "5D 4D KS 2C", "JC TC AC 3C"]
    assert rules_choose(hands, "lead 5S") == "pass"


def test_h9_leads_the_lowest_plain_card() -> None:
    assert rules_choose(["2H 3D AS KD", "8S 6S 3H QH", REST]) == "lead 3D"


def test_h9_adds_plain_cards_and_keeps_trumps() -> None:
    replier = "8S 6S 3H QH"
    assert rules_choose(["5D 5H 5S KD", replier, REST], "lead 5D") == "add 5S"
    assert rules_choose(["5D 5H 2C KD", replier, REST], "lead 5D") == "pass"
    assert rules_choose(["5D 5H 2C KD", replier, REST], "lead 5D", stock="") == "add 5H"


@pytest.mark.compiled
def test_rules_lose_at_most_three_games_in_a_hundred_among_random_players() -> None:
    players = {name: agents.make("bred_ryg", name, seed=1) for name in ("random", "rules")}
    report = evaluate("bred_ryg", players, [("rules", "random")], 400, progress=False)
    assert report.rows[0].high < 0.03


# ----------------------------------------------------------------------------------------------
# Brede Mette


def mette_choose(
    name: str, hands: list[str], *played: str, stock: str = STOCK, trump: str = "H", **options: Any
) -> str:
    """Return the words for what an agent plays after some actions; seat 0 leads."""
    game = cardenvs.load_game("brede_mette-v0", num_players=len(hands), **options)
    deal = {"hands": hands, "stock": stock, "trump": trump, "leader": 0}
    state = game.new_initial_state(seed=0, deal=deal)
    for text in played:
        state.apply_action(state.string_to_action(text))
    agent = agents.make(game, name)
    return state.action_to_string(int(agent.act(state.observation(), state.action_mask())))


def test_in_brede_mette_h1_leads_the_lowest_plain_rank_and_all_of_it() -> None:
    hands = ["3D 3S AS", "8S 6S 2H", REST]
    assert mette_choose("rules", hands) == "lead 3D"
    assert mette_choose("rules", hands, "lead 3D") == "add 3S"


def test_in_brede_mette_trumps_are_added_only_without_a_stock() -> None:
    hands = ["3D 3H AS", "8S 6S 2H", REST]
    assert mette_choose("rules", hands, "lead 3D") == "stop"
    assert mette_choose("rules", hands, "lead 3D", stock="") == "add 3H"


def test_in_brede_mette_h2_adds_to_the_attack_of_another() -> None:
    assert mette_choose("rules", ["5S 2C 3C", "8S 6S 2H", "5D 9D TD"], "lead 5S") == "add 5D"


def test_in_brede_mette_h4_takes_a_trump_back() -> None:
    hands = ["QH QS 2D 3D 4D", "2C JC 6D"]
    played = ("lead QH", "add QS", "beat QH with 2C", "beat QS with JC")
    more = {"stock": "KH KS 3C", "trump": "C"}
    assert mette_choose("rules", hands, *played, **more) == "exchange QH with KH"
    assert mette_choose("lowest", hands, *played, **more) == "done"


def test_in_brede_mette_h5_passes_but_not_with_a_trump() -> None:
    hands = ["5S 2C 3C", "5D KS 4C", "9D TD JD"]
    assert mette_choose("rules", hands, "lead 5S") == "pass 5D"
    hands = ["5S 2C 3C", "5H KS 4C", "9D TD JD"]
    assert mette_choose("rules", hands, "lead 5S") == "beat 5S with KS"


@pytest.mark.parametrize("queen", ["QD", "QH"])
def test_in_brede_mette_h6_gets_rid_of_the_red_queen(queen: str) -> None:
    hands = [f"2S {queen} 3S", "8S 6S 2H", "JD TD 9D"]
    assert mette_choose("rules", hands, queen=queen) == f"lead {queen}"
    hands = ["QS 2C 3C", f"{queen} QC KS", "9D TD JD"]
    assert mette_choose("rules", hands, "lead QS", queen=queen) == f"pass {queen}"


def test_in_brede_mette_h7_beats_with_the_cheapest_card() -> None:
    hands = ["5S 2C 3C", "8S 6S 2H", "9D TD JD"]
    assert mette_choose("rules", hands, "lead 5S") == "beat 5S with 6S"
    assert mette_choose("rules", hands, "lead 5S", pickup="free") == "beat 5S with 6S"
    hands = ["5S 5C 3C", "8S 6S TD", "9D QD JD"]
    played = ("lead 5C", "add 5S")
    assert mette_choose("rules", hands, *played, pickup="free") == "take"


def test_in_brede_mette_lowest_plays_its_weakest_card_as_long_as_it_can() -> None:
    assert mette_choose("lowest", ["2H 3D AS", "8S 6S 3H", REST]) == "lead 3D"
    assert mette_choose("lowest", ["QD AH KH", "8S 6S 3H", REST]) == "lead KH"
    assert mette_choose("lowest", ["QD AH", "8S 6S 3H", REST]) == "lead AH"
    hands = ["5S 2C 3C", "8S 6S 2H", "5D 9D TD"]
    assert mette_choose("lowest", hands, "lead 5S") == "add 5D"


@pytest.mark.compiled
def test_in_brede_mette_each_agent_loses_less_than_those_that_know_less() -> None:
    players = {
        name: agents.make("brede_mette", name, seed=1) for name in ("random", "lowest", "rules")
    }
    pairs = [("lowest", "random"), ("rules", "random"), ("rules", "lowest")]
    report = evaluate("brede_mette", players, pairs, 1_000, progress=False)
    assert all(row.high < row.fair for row in report.rows)
    assert report.rows[1].high < 0.08


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
