"""The solver of Bräus finds the values of full minimax, and its agent plays by what it sees."""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import pytest

import agents
import cardenvs
from agents.search import braus as search
from cardenvs.core.batch import Batch
from cardenvs.core.game import Game
from cardenvs.core.kernel import entry_point, kernel, lowest_bit
from cardenvs.games.braus import LIVE_CARDS, OVER, apply_action, legal_actions
from training.card_seeing import CardSeer, play_seeing
from training.evaluate import deal_seeds

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


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(map(str, rules.values())))
@pytest.mark.compiled
def test_whole_deals_have_the_values_of_minimax(rules: dict[str, Any]) -> None:
    game = cardenvs.load_game("braus", **rules)
    solver = search.new_solver(PLENTY)
    for seed in range(12):
        state = game.new_initial_state(seed=seed)
        for _ in range(0 if rules["sevens"] == "forced" else 2):
            if not state.is_terminal():
                state.apply_action(state.legal_actions()[-1])
        if not state.is_terminal():
            assert values_by_solver(state, solver) == values_by_minimax(state)


def test_a_world_does_not_depend_on_those_before(num_games: int) -> None:
    game = cardenvs.load_game("braus")
    used = search.new_solver()
    for seed in range(num_games // 5):
        state = game.new_initial_state(seed=seed)
        fresh = search.new_solver()
        assert values_by_solver(state, used) == values_by_solver(state, fresh)
        used.facts[search.AGE] = search.MAX_AGE - seed % 3  # the numbers of worlds start again
        assert values_by_solver(state, used) == values_by_solver(state, fresh)


@pytest.mark.parametrize(
    ("strokes", "values"), [([0, 0], {2.0}), ([4, 0], {2.0}), ([5, 0], {1.0})], ids=str
)
def test_strokes_that_no_match_needs_are_worth_nothing(
    strokes: list[int], values: set[float]
) -> None:
    game = cardenvs.load_game("braus", scope="match", skip_forced=False)
    deal = {"hands": ["JC", "", "", ""], "tricks": [5, 0], "leader": 0, "strokes": strokes}
    state = game.new_initial_state(seed=1, deal=deal)
    assert set(values_by_solver(state, search.new_solver()).values()) == values


@pytest.mark.parametrize(("strokes", "value"), [([0, 0], -2.0), ([0, 5], -1.0)], ids=str)
def test_a_loss_is_no_greater_than_the_match(strokes: list[int], value: float) -> None:
    game = cardenvs.load_game("braus", scope="match", skip_forced=False)
    deal = {"hands": ["6D 6H", "JC", "", ""], "tricks": [0, 5], "leader": 0, "strokes": strokes}
    state = game.new_initial_state(seed=1, deal=deal)
    assert set(values_by_solver(state, search.new_solver()).values()) == {value}


# ----------------------------------------------------------------------------------------------
# Limits


def test_the_limit_of_nodes_holds() -> None:
    state = cardenvs.load_game("braus").new_initial_state(seed=1)
    plenty = search.new_solver()
    values = values_by_solver(state, plenty)
    needed = int(plenty.facts[search.NUM_NODES])
    assert needed > 20
    assert values_by_solver(state, search.new_solver(needed)) == values
    scarce = search.new_solver(needed - 1)
    assert not solve_row(state._rows, state.action_mask(), scarce, np.zeros(37))
    assert scarce.facts[search.NUM_NODES] == needed - 1


def test_plays_as_lowest_where_no_world_is_solved(num_games: int) -> None:
    for options in ({}, {"sevens": "optional"}, {"skip_forced": False}):
        batch = cardenvs.make_batch("braus", max(8, num_games // 4), seed=3, **options)
        batch.reset()
        lowest = agents.make(batch.game, "lowest", seed=1)
        blind = agents.make(batch.game, "search", seed=1, worlds=1, nodes=1)
        for _ in range(6):
            actions = lowest.act(batch.observation, batch.action_mask)
            given_up = np.isnan(blind.values(batch.observation, batch.action_mask)).all(axis=1)
            assert given_up.any()
            chosen = blind.act(batch.observation[given_up], batch.action_mask[given_up])
            assert (chosen == actions[given_up]).all()
            batch.step(actions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": 0}, "one node or more, not 0"),
        ({"worlds": 0}, "one world or more, not 0"),
        ({"seconds": 0.0}, "more than 0.0 seconds"),
    ],
)
def test_limits_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agents.make("braus", "search", **options)


def test_a_budget_of_time_holds() -> None:
    state = cardenvs.load_game("braus").new_initial_state(seed=1)
    agent = agents.make("braus", "search", seed=1, seconds=0.05)
    agent.act(state.observation(), state.action_mask())  # compiles
    begin = time.perf_counter()
    action = agent.act(state.observation(), state.action_mask())
    took = time.perf_counter() - begin
    assert action in state.legal_actions()
    assert took >= 0.05
    assert took < 10  # a slice of the work, on a machine that may be busy


# ----------------------------------------------------------------------------------------------
# Play


def test_hidden_cards_do_not_matter(num_games: int) -> None:
    rng = random.Random(2)
    for seed in range(max(2, num_games // 10)):
        state = cardenvs.load_game("braus", **rng.choice(RULES)).new_initial_state(seed=seed)
        while not state.is_terminal():
            seat = state.current_player
            chosen = set()
            for world in (state, state.determinize(seat, 1), state.determinize(seat, 2)):
                agent = agents.make(state.game, "search", seed=5, worlds=3)
                chosen.add(int(agent.act(world.observation(seat), world.action_mask())))
            assert len(chosen) == 1
            state.apply_action(chosen.pop())


@pytest.mark.parametrize(("king", "value"), [("exhaustion", 1.0), ("immediate", -1.0)])
def test_when_the_king_of_clubs_counts(king: str, value: float) -> None:
    """Seat 0 takes the fifth trick, which is enough at once or not at all: two sevens follow."""
    game = cardenvs.load_game("braus", king_of_clubs=king, skip_forced=False)
    deal = {"hands": ["JC", "7C 7D", "KC", "KH"], "tricks": [4, 4], "leader": 3}
    state = game.new_initial_state(seed=1, deal=deal)
    values = values_by_solver(state, search.new_solver())
    assert values == {state.string_to_action("lead KH"): value}


def test_values_are_means_over_worlds() -> None:
    state = cardenvs.load_game("braus").new_initial_state(seed=4)
    mask = state.action_mask()
    values = agents.make("braus", "search", seed=1, worlds=25).values(state.observation(), mask)
    assert np.isnan(values[mask == 0]).all()
    assert (abs(values[mask == 1]) <= 2).all()
    assert np.allclose(values[mask == 1] * 25, np.round(values[mask == 1] * 25))


def test_a_team_that_sees_all_cards_beats_one_that_does_not(num_games: int) -> None:
    game = cardenvs.load_game("braus")
    seer = CardSeer(game)
    others = agents.make(game, "random", seed=1)
    won = play_seeing(game, seer, others, deal_seeds("dev", num_games))
    assert won.shape == (num_games,)
    assert won.mean() > (0.2 if num_games >= 200 else -1.0)


def test_who_sees_all_cards_wins_what_the_deal_is_worth(num_games: int) -> None:
    """Against another that sees them too, neither can win more."""
    game = cardenvs.load_game("braus")
    seer = CardSeer(game)
    batch = Batch(game, max(4, num_games // 4), 1, autoreset=False, critic_state=True)
    batch.reset()
    worth = [
        (state.current_player % 2, max(values_by_solver(state, search.new_solver()).values()))
        for state in map(batch.state, range(batch.num_envs))
        if not state.is_terminal()
    ]
    assert len(worth) == batch.num_envs
    while (batch.current_player >= 0).any():
        actions = np.zeros(batch.num_envs, np.int64)
        asked = np.flatnonzero(batch.current_player >= 0)
        actions[asked] = seer.act(batch.critic_state[asked], batch.action_mask[asked])
        batch.step(actions)
    assert [batch.episode_return[i, team] for i, (team, _) in enumerate(worth)] == [
        value for _, value in worth
    ]


def test_other_games_cannot_be_seen_through() -> None:
    with pytest.raises(ValueError, match="bred_ryg-v0 cannot be solved with open cards"):
        CardSeer(cardenvs.load_game("bred_ryg"))
