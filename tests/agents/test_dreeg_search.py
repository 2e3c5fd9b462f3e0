"""Search in Dreeg: its solver is exact, its limits hold, it sees what its seat sees."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import agents
import cardenvs
from agents.search.dreeg import Work, make_search, solve
from agents.search.dreeg_solver import LIMIT, NODES
from cardenvs.core.game import Game
from cardenvs.core.kernel import as_record, entry_point
from cardenvs.core.rows import rotate
from cardenvs.core.seats import NO_SEAT
from cardenvs.games.dreeg_row import CLOSE, SUBGAMES, Node

TABLES = [(name, n) for name in SUBGAMES for n in (2, 3, 4) if (name, n) != ("kamerun", 2)]


@entry_point
def solve_row(rows: Any, i: int, mask: Any, work: Any, values: Any) -> bool:
    return solve(rows[i], mask, work, values)


def table(subgame: str, num_players: int, **options: Any) -> Game:
    options = {"scope": "deal", "subgame": subgame, "num_players": num_players} | options
    return cardenvs.load_game("dreeg", **options)


def solver_of(game: Game, **options: Any) -> Work:
    work: Work = make_search(game, 0, 1, **options)._memory.solver
    return work


# ----------------------------------------------------------------------------------------------
# The solver against plain enumeration


class Enumeration:
    """What every action is worth if all play the best with open cards, by trying everything."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.rows = game.blank_rows(64)
        self.masks = np.zeros((64, game.num_actions), np.int8)
        self.units = np.zeros((2, game.num_players), np.int64)

    def values(self, row: Any, mask: Any) -> dict[int, float]:
        """The rewards of seat 0, which is on turn, in points."""
        self.rows[0] = row
        self.masks[0] = mask
        found = self.outcomes(0)
        return {action: units[0] / self.game.returns_scale for action, units in found.items()}

    def outcomes(self, level: int) -> dict[int, list[int]]:
        """The rewards of all seats after each action of a level."""
        found = {}
        for action in np.flatnonzero(self.masks[level]).tolist():
            self.rows[level + 1] = self.rows[level]
            mask = self.masks[level + 1]
            self.game.kernels.play(self.rows, level + 1, action, mask, self.units)
            seat = int(self.rows["current_player"][level + 1])
            if seat == NO_SEAT:
                found[action] = self.units[1].tolist()
            else:  # the first of the best ones
                found[action] = max(self.outcomes(level + 1).values(), key=lambda u: u[seat])
        return found


def is_open(row: Any) -> bool:
    is_play = row.node in (Node.LEAD, Node.FOLLOW, Node.CLAIM)
    return is_play and (row.stock_size == 0 or row.closer != NO_SEAT)


def late_positions(game: Game, tricks: int, seed: int) -> Iterator[tuple[Any, Any]]:
    """Play at random, seldom closing; yield the positions of the last tricks, seat 0 on turn."""
    rng = random.Random(seed)
    rows, turned = game.blank_rows(), game.blank_rows()
    mask = np.zeros(game.num_actions, np.int8)
    units = np.zeros((2, game.num_players), np.int64)
    rows["seed"] = seed
    is_over = game.kernels.begin(rows, 0, False, mask)
    while not is_over:
        row = as_record(rows, 0)
        size = max(int(hand).bit_count() for hand in row.hands)
        if is_open(row) and size <= tricks:
            turned[0] = rows[0]
            rotate(as_record(turned, 0), game.fields, -int(row.current_player))
            yield turned[0], mask
            if size == tricks:  # the others of this trick are much like this one
                tricks -= 1
        legal = np.flatnonzero(mask).tolist()
        if CLOSE in legal and rng.random() < 0.9:
            legal.remove(CLOSE)
        game.kernels.play(rows, 0, rng.choice(legal), mask, units)
        is_over = int(rows["current_player"][0]) == NO_SEAT


def solved_values(row: Any, mask: Any, work: Work) -> dict[int, float]:
    rows = work.solver.rows[:1].copy()
    rows[0] = row
    values = np.full(len(mask), np.nan)
    assert solve_row(rows, 0, mask, work, values)
    return {action: values[action] for action in np.flatnonzero(mask).tolist()}


@pytest.mark.parametrize(("subgame", "num_players"), TABLES)
@pytest.mark.parametrize("going_out", ["auto", "manual"])
@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
def test_solver_equals_enumeration(
    subgame: str, num_players: int, going_out: str, ruleset: str, num_games: int
) -> None:
    game = table(subgame, num_players, going_out=going_out, ruleset=ruleset)
    work = solver_of(game, nodes=10**6, side_tricks=4, rank_tricks=4)
    enumeration = Enumeration(game)
    seen = 0
    for seed in itertools.count():
        tricks = 4 if seed % 32 == 31 else 3 if seed % 4 == 3 else 2
        if going_out == "manual":  # its trees are large
            tricks = 3 if seed % 32 == 3 else 2
        for row, mask in late_positions(game, tricks, seed):
            assert solved_values(row, mask, work) == pytest.approx(enumeration.values(row, mask))
            seen += 1
        if seen >= num_games / 2:
            return


# ----------------------------------------------------------------------------------------------
# Limits


def test_the_limit_of_nodes_holds(num_games: int) -> None:
    game = table("ace_of_hearts", 4)
    given_up = 0
    for nodes in (1, 5, 50):
        work = solver_of(game, nodes=nodes, side_tricks=6)
        for seed in range(max(1, num_games // 20)):
            for row, mask in late_positions(game, 6, seed):
                assert np.isfinite(list(solved_values(row, mask, work).values())).all()
                assert work.solver.counts[NODES] <= work.solver.counts[LIMIT] == nodes
                given_up += int(work.solver.counts[NODES] == nodes)
    assert given_up


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"worlds": 0}, "one world or more, not 0"),
        ({"nodes": 0}, "one node or more, not 0"),
        ({"rank_tricks": -1}, "no fewer than 0 tricks are solved, not 4, -1"),
    ],
)
def test_refused_options(options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agents.make("dreeg", "search", **options)


# ----------------------------------------------------------------------------------------------
# Play


@pytest.mark.parametrize("scope", ["deal", "subgame", "match"])
def test_plays_legally(scope: str, num_games: int) -> None:
    rng = random.Random(scope)
    for seed in range(max(2, num_games // 50)):
        options = {
            "scope": scope,
            "subgame": rng.choice(SUBGAMES),
            "num_players": rng.choice([3, 4]),
            "ruleset": rng.choice(["seed", "pagat"]),
            "going_out": rng.choice(["auto", "manual"]),
        }
        batch = cardenvs.make_batch("dreeg", 2, seed=seed, **options)
        agent = agents.make(batch.game, "search", seed=1, worlds=2)
        batch.reset()
        for _ in range(max(20, num_games // 2)):
            batch.step(agent.act(batch.observation, batch.action_mask))  # checks every action


@pytest.mark.parametrize(("subgame", "num_players"), TABLES)
def test_hidden_cards_do_not_matter(subgame: str, num_players: int, num_games: int) -> None:
    game = table(subgame, num_players)
    rng = random.Random(1)
    for seed in range(max(1, num_games // 20)):
        state = game.new_initial_state(seed=seed)
        while not state.is_terminal():
            seat = state.current_player
            values = [
                agents.make(game, "search", seed=5, worlds=3).values(
                    world.observation(seat), world.action_mask()
                )
                for world in (state, state.determinize(seat, seed))
            ]
            np.testing.assert_array_equal(*values)
            state.apply_action(rng.choice(state.legal_actions()))


def test_an_election_is_worth_something() -> None:
    game = cardenvs.load_game("dreeg", num_players=3)
    state = game.new_initial_state(seed=1)
    chooser = random.Random(1)
    while not state.action_mask()[82:].any():
        state.apply_action(chooser.choice(state.legal_actions()))
    agent = agents.make(game, "search", seed=1, worlds=20)
    values = agent.values(state.observation(), state.action_mask())
    assert np.isfinite(values[82:85]).all()
    assert len(set(values[82:85])) > 1


# ----------------------------------------------------------------------------------------------
# Positions in which one action is plainly right


def chosen(subgame: str, hands: list[str], played: str = "", **more: Any) -> str:
    """Return the words for what the search plays after some actions, parted by commas."""
    deal = {"subgame": subgame, "hands": hands, "dealer": len(hands) - 1}
    deal |= {"trump": more.pop("trump")} if "trump" in more else {}
    game = table(subgame, len(hands), skip_forced=False, **more)
    state = game.new_initial_state(seed=0, deal=deal)
    for text in played.split(", ") if played else ():
        state.apply_action(state.string_to_action(text))
    agent = agents.make(game, "search", seed=3, worlds=60)
    return state.action_to_string(int(agent.act(state.observation(), state.action_mask())))


def test_marries_where_that_decides() -> None:
    hands = ["KE OE 9H 9G 9B", "AH TH AG TG AB"]
    assert chosen("deutsch", hands, trump="E").startswith("marry")


def test_goes_out_before_the_others_have_a_trick() -> None:
    hands = ["AE TE KE OE 9G", "AB TB AG 9B 9H"]
    played = "lead AE, play AB, continue, lead TE, play TB, continue, marry KE, continue, play 9B"
    options = {"trump": "E", "ruleset": "pagat", "going_out": "manual"}
    assert chosen("deutsch", hands, played, **options) == "out"


def test_does_not_claim_what_it_has_not() -> None:
    hands = ["AH TH 9E 9B", "9H AE TE KE", "UH AB TB KB"]
    played = "trump H, lead AH, play 9H, play UH"
    assert chosen("ace_of_hearts", hands, played, going_out="manual") == "continue"


def test_names_its_long_suit_trump() -> None:
    hands = ["AH TH KH OH UH 9B", "AB TB KB OB UB AE", "AG TG KG OG UG TE", "9H KE OE UE 9E 9G"]
    assert chosen("ace_of_hearts", hands) == "trump H"


def test_gives_its_ten_to_the_caller() -> None:
    hands = ["AB AE AG 9H", "TB KE KG AH", "KB UE OG KH", "9B UG TH UH"]
    tricks = (
        "call 9B, lead AB, play TB, play KB, play 9B, lead AG, play KG, play OG, play UG, "
        "lead AE, play KE, play UE"
    )
    assert chosen("rufen", hands, tricks) == "play TH"


def test_keeps_its_ten_from_the_caller() -> None:
    hands = ["AB AE AG 9H", "TB KE KG AH", "9B UE OG KH", "KB UG TH UH"]
    tricks = (
        "call 9B, lead AB, play TB, play 9B, play KB, lead AG, play KG, play OG, play UG, "
        "lead AE, play KE, play UE"
    )
    assert chosen("rufen", hands, tricks) == "play UH"


KAMERUN_REST = ["KE OB OH 9G", "OE KB KH UG", "UE UB UH KG"]


def test_announces_a_sure_durchmarsch() -> None:
    hands = ["AE AB AH AG", *KAMERUN_REST]
    played = "lead AE, play KE, play OE, play UE"
    assert chosen("kamerun", hands, played) == "durchmarsch"


def test_does_not_announce_a_durchmarsch_that_is_lost() -> None:
    hands = ["AE 9B 9H OG", *KAMERUN_REST]
    played = "lead AE, play KE, play OE, play UE"
    assert chosen("kamerun", hands, played) != "durchmarsch"
