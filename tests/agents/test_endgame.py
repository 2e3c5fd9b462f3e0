"""The endgame solver agrees with an independent solution of the whole graph of a position."""

from __future__ import annotations

import random
from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
import pytest

import cardenvs
from agents.search.endgame import NODES, EndgameMemory, endgame_kernels, endgame_memory
from cardenvs.core.game import Game
from cardenvs.core.kernel import entry_point
from cardenvs.core.state import State, copy_rows
from tests.oracles.cases import CASES

GAMES = ("bred_ryg-v0", "brede_mette-v0")

#: Fields of a row that do not bear on who can force what: counters, knowledge, chance, the past.
#: Whatever else a row holds tells two positions apart here.
IGNORED = [
    "rng",
    "seed",
    "episode",
    "deal_number",
    "no_progress",
    "turns",
    "made_progress",
    "known",
    "no_ranks",
    "no_beaters",
    "waste",
    "score",
    "last_score",
    "truncated",
    "games_played",
]

#: An action's expected value where neither can force the other to lose, by `on_cap`.
REPETITION = {"queen_holder": -0.5, "share": -0.5, "draw": 0.0}

#: Positions of Brede Mette of which some action leads to endless play; each with options.
ENDLESS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"queen": "QH", "pass_direction": "forward"},
        {"hands": ["QC 7H QS JS 2D", "2H 7D JD QH"], "trump": "C", "leader": 1},
    ),
    ({}, {"hands": ["QC 5C QD", "5H QH JC 5D JD"], "trump": "H", "leader": 1}),
    (
        {"queen": "QH", "pickup_scope": "unbeaten"},
        {"hands": ["QH 2S QD", "4D 2D 4H QC"], "trump": "C", "leader": 1},
    ),
]

Key = bytes
Graph = dict[Key, tuple[State, dict[int, Key]]]


# ----------------------------------------------------------------------------------------------
# The solver, as Python calls it


@cache
def entry_points(game: Game) -> Any:
    is_endgame_kernel, solve_kernel = endgame_kernels(game)
    return _entry_points(is_endgame_kernel, solve_kernel)


@cache
def _entry_points(is_endgame_kernel: Any, solve_kernel: Any) -> Any:
    @entry_point
    def is_endgame(rows: Any, i: int) -> bool:
        return is_endgame_kernel(rows[i])

    @entry_point
    def solve(rows: Any, i: int, mask: Any, memory: Any, values: Any) -> bool:
        return solve_kernel(rows[i], mask, memory, values)

    return is_endgame, solve


def is_endgame(state: State) -> bool:
    return bool(entry_points(state.game)[0](state._rows, 0))


def solve(state: State, memory: EndgameMemory) -> dict[int, float] | None:
    """Return the value of each legal action, None beyond the limit; check what else it writes."""
    before = state._rows.tobytes()
    values = np.full(state.game.num_actions, np.nan)
    is_solved = entry_points(state.game)[1](state._rows, 0, state.action_mask(), memory, values)
    assert state._rows.tobytes() == before
    if not is_solved:
        return None
    assert (np.isnan(values) == (state.action_mask() == 0)).all()
    return {action: float(values[action]) for action in state.legal_actions()}


# ----------------------------------------------------------------------------------------------
# The truth


def forget_the_cap(state: State) -> None:
    for name in ("no_progress", "turns"):
        state._rows[name] = 0


def key_of(state: State) -> Key:
    rows = copy_rows(state._rows)
    for name in IGNORED:
        if name in (rows.dtype.names or ()):
            rows[name] = 0
    return rows.tobytes()


def whole_graph(root: State, limit: int) -> Graph | None:
    """Return all positions that can be reached, None if they are more than a limit."""
    states = {key_of(root): root}
    graph: Graph = {}
    order = [key_of(root)]
    for key in order:  # grows while it is walked
        following = {}
        for action in states[key].legal_actions():
            state = states[key].clone()
            state.apply_action(action)
            forget_the_cap(state)
            after = key_of(state)
            if after not in states:
                states[after] = state
                order.append(after)
            following[action] = after
        graph[key] = (states[key], following)
        if len(order) > limit:
            return None
    return graph


def forced_losses(graph: Graph, seat: int) -> set[Key]:
    """Return where a seat loses whatever it does, backwards from the ends (retrograde analysis)."""
    before = defaultdict(list)
    ways_out = {}
    for key, (_, following) in graph.items():
        ways_out[key] = len(following)
        for after in following.values():
            before[after].append(key)
    ends = [key for key, (state, _) in graph.items() if is_lost_end(state, seat)]
    lost = set(ends)
    for after in ends:  # grows while it is walked
        for key in before[after]:
            ways_out[key] -= 1
            is_forced = graph[key][0].current_player != seat or ways_out[key] == 0
            if is_forced and key not in lost:
                lost.add(key)
                ends.append(key)
    return lost


def is_lost_end(state: State, seat: int) -> bool:
    """Whether the game is over and lost by a seat (others gain nothing by it, or something)."""
    return state.is_terminal() and bool(state.returns()[seat] == -1)


class Truth:
    """The solution of the whole graph of an endgame."""

    def __init__(self, graph: Graph, root: State) -> None:
        active = int(root._rows["active"][0])
        self.graph = graph
        self.seats = [seat for seat in range(root.game.num_players) if active >> seat & 1]
        self.lost = {seat: forced_losses(graph, seat) for seat in self.seats}

    def values(self, key: Key) -> dict[int, float]:
        """Return what each action of a position is worth to the seat on turn."""
        state, following = self.graph[key]
        me = state.current_player
        (other,) = set(self.seats) - {me}
        options = state.game.options
        endless = REPETITION[options["on_cap"]]
        if options["on_cap"] == "draw" and options["reward"] == "zero_sum":
            endless = -1 / state.game.num_players
        return {
            action: -1.0 if key in self.lost[me] else 0.0 if key in self.lost[other] else endless
            for action, key in following.items()
        }


# ----------------------------------------------------------------------------------------------
# Positions


def small_deal(rng: random.Random, game: Game) -> dict[str, Any]:
    """Draw a deal with few cards; one in three has many queens and only two players."""
    deal = CASES[game.id].random_deal(rng, game.options)
    deal.pop("exposed", None)
    deal.setdefault("trump", rng.choice("CDHS"))
    if rng.random() < 1 / 3:
        return dense_deal(rng, game)
    deal["hands"] = [" ".join(hand.split()[: rng.randint(1, 4)]) for hand in deal["hands"]]
    if deal.get("stock"):
        deal["stock"] = " ".join(deal["stock"].split()[: rng.randint(1, 3)])
        deal["trump"] = deal["stock"][-1]
    held = " ".join(deal["hands"]) + deal.get("stock", "")
    if queen_of(game) not in held:
        seat = rng.choice([seat for seat, hand in enumerate(deal["hands"]) if hand])
        deal["hands"][seat] += f" {queen_of(game)}"
    return deal


def dense_deal(rng: random.Random, game: Game) -> dict[str, Any]:
    """Deal a few ranks, queens among them, to two seats: much can be added and passed."""
    ranks = [*rng.sample("23456789TJKA", rng.randint(1, 4)), "Q"]
    cards = [rank + suit for rank in ranks for suit in "CDHS"]
    rng.shuffle(cards)
    cards.remove(queen_of(game))
    first, second = sorted(rng.sample(range(game.num_players), 2))
    hands = [""] * game.num_players
    hands[first] = " ".join([queen_of(game), *(cards.pop() for _ in range(rng.randint(0, 3)))])
    hands[second] = " ".join(cards.pop() for _ in range(rng.randint(1, min(5, len(cards)))))
    return {"hands": hands, "trump": rng.choice("CDHS"), "leader": rng.choice([first, second])}


def queen_of(game: Game) -> str:
    return str(game.options.get("queen", "QC"))


def random_game(rng: random.Random, game_id: str) -> Game:
    """Draw options; the cap is as far away as it can be, for the truth."""
    options = CASES[game_id].random_options(rng)
    return cardenvs.load_game(game_id, **(options | {"num_games": 1, "no_progress_limit": 120}))


def endgame(rng: random.Random, game: Game) -> State:
    """Play small deals at random until two players and no stock are left."""
    while True:
        state = game.new_initial_state(seed=1, deal=small_deal(rng, game))
        while not state.is_terminal() and not is_endgame(state):
            state.apply_action(rng.choice(state.legal_actions()))
        if not state.is_terminal():
            forget_the_cap(state)
            return state


# ----------------------------------------------------------------------------------------------
# Tests


@pytest.mark.parametrize("game_id", GAMES)
def test_values_are_those_of_the_whole_graph(game_id: str, num_games: int) -> None:
    compare_graphs(game_id, random.Random(1), graphs=num_games // 10, limit=3 * num_games)


@pytest.mark.slow
@pytest.mark.parametrize("game_id", GAMES)
def test_values_are_those_of_many_large_graphs(game_id: str, num_games: int) -> None:
    compare_graphs(game_id, random.Random(4), graphs=num_games, limit=20 * num_games)


def compare_graphs(game_id: str, rng: random.Random, graphs: int, limit: int) -> None:
    """Compare positions of random graphs that are no larger than a limit."""
    while graphs:
        root = endgame(rng, random_game(rng, game_id))
        graph = whole_graph(root, limit)
        if graph is None:
            continue
        graphs -= 1
        truth = Truth(graph, root)
        memory = endgame_memory(root.game, nodes=20_000)
        asked = [key for key, (state, _) in graph.items() if not state.is_terminal()]
        for key in rng.sample(asked, min(len(asked), limit // 10)):
            assert is_endgame(graph[key][0])
            assert solve(graph[key][0], memory) == truth.values(key)


@pytest.mark.parametrize(("options", "deal"), ENDLESS)
@pytest.mark.parametrize("on_cap", REPETITION)
@pytest.mark.parametrize("reward", ["loser", "zero_sum"])
def test_what_an_endless_game_is_worth(
    options: dict[str, Any], deal: dict[str, Any], on_cap: str, reward: str
) -> None:
    game = cardenvs.load_game(
        "brede_mette-v0", num_players=2, on_cap=on_cap, reward=reward, **options
    )
    values = solve(game.new_initial_state(seed=1, deal=deal), endgame_memory(game))
    assert values is not None
    endless = -0.5 if (on_cap, reward) == ("draw", "zero_sum") else REPETITION[on_cap]
    assert endless in values.values()
    assert set(values.values()) <= {endless, 0.0, -1.0}


@pytest.mark.parametrize("game_id", GAMES)
def test_the_limit_of_nodes_holds(game_id: str, num_games: int) -> None:
    """What a small memory solves is right, also after it has given up, or has forgotten."""
    rng = random.Random(2)
    game = cardenvs.load_game(game_id, num_players=2)
    large, small = endgame_memory(game, nodes=50_000), endgame_memory(game, nodes=64)
    given_up = 0
    for _ in range(num_games):
        state = endgame(rng, game)
        values = solve(state, small)
        assert small.counts[NODES] <= 64
        given_up += values is None
        assert values in (None, solve(state, large))
    assert 0 < given_up < num_games


@pytest.mark.parametrize("game_id", GAMES)
def test_the_cap_and_forced_nodes_do_not_matter(game_id: str) -> None:
    rng = random.Random(3)
    plain = cardenvs.load_game(game_id, num_players=2)
    near = cardenvs.load_game(game_id, num_players=2, no_progress_limit=1, skip_forced=False)
    for _ in range(10):
        deal = dense_deal(rng, plain)
        state, other = (game.new_initial_state(seed=1, deal=deal) for game in (plain, near))
        if not state.is_terminal() and state.current_player == other.current_player:
            values = solve(state, endgame_memory(plain))
            assert values is not None
            if state.legal_actions() == other.legal_actions():
                assert solve(other, endgame_memory(near)) == values


@pytest.mark.parametrize("game_id", GAMES)
def test_which_positions_are_endgames(game_id: str) -> None:
    game = cardenvs.load_game(game_id)
    deal = {"hands": ["QC QD 2S", "3S 4S", ""], "trump": "H"}
    assert is_endgame(game.new_initial_state(deal=deal))
    deal["hands"] = ["QC QD 2S", "3S 4S", "5S 6S"]
    assert not is_endgame(game.new_initial_state(deal=deal))
    assert not is_endgame(game.new_initial_state(seed=1))


def test_bred_ryg_without_its_queen_is_not_solved() -> None:
    game = cardenvs.load_game("bred_ryg-v0")
    deal = {"hands": ["QD 2S", "3S 4S", ""], "trump": "H"}
    assert not is_endgame(game.new_initial_state(deal=deal))


def test_other_games_and_no_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="bred_ryg-v0, brede_mette-v0, not in braus-v0"):
        endgame_kernels(cardenvs.load_game("braus-v0"))
    with pytest.raises(ValueError, match="not 0"):
        endgame_memory(cardenvs.load_game("bred_ryg-v0"), nodes=0)
