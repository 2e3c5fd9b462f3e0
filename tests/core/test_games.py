"""What holds for every game: the contract, what seats can know, oracles and transcripts."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import cardenvs
from cardenvs.core.episode import Kernels, kernels_of
from cardenvs.core.game import Game
from cardenvs.core.rows import rotate
from cardenvs.core.state import State, copy_rows
from cardenvs.testing import WatchedTable, check_game, check_no_leak
from tests.conftest import COMPILED
from tests.oracles.cases import CASES
from tests.oracles.compare import LaterDeals, compare_random_episode, deal_of_match

TRANSCRIPTS = Path(__file__).parents[1] / "data" / "transcripts"

#: Fields of a row that say where hidden cards lie, what random numbers come, or how the deal began.
HIDDEN_FIELDS = {"hands", "live", "team", "stock", "seed", "episode", "rng"}
HIDDEN_FIELDS |= {"first_phase", "first_strokes", "first_blobs"}


@pytest.fixture(params=cardenvs.game_ids())
def game_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def random_game(game_id: str, rng: random.Random) -> Game:
    return cardenvs.load_game(game_id, **CASES[game_id].random_options(rng))


def random_state(game: Game, rng: random.Random, most: int = 150) -> State:
    """Return a table at a decision, after some random moves."""
    while True:
        state = game.new_initial_state(seed=rng.getrandbits(62))
        for _ in range(rng.randrange(most)):
            if not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
        if not state.is_terminal():
            return state


# ----------------------------------------------------------------------------------------------
# The contract, and leaks


def test_contract(game_id: str, num_games: int) -> None:
    options = CASES[game_id].short_episode
    check_game(cardenvs.load_game(game_id, **options), max(2, num_games // 20))
    if options and COMPILED:
        check_game(game_id, 2)
    rng = random.Random(1)
    for number in range(max(2, num_games // 40)):
        check_game(random_game(game_id, rng), 1, seed=number)


def test_no_seat_sees_hidden_cards(game_id: str, num_games: int) -> None:
    check_no_leak(game_id, num_positions=num_games)
    rng = random.Random(2)
    for number in range(max(2, num_games // 20)):
        check_no_leak(random_game(game_id, rng), num_positions=max(2, num_games // 10), seed=number)


Wrap = Callable[[Any], Any]  # makes a broken function from a sound one


def broken_game(game_id: str, view: dict[str, Wrap], kernels: dict[str, Wrap]) -> Game:
    """Return a game in which functions of the view, and entry points, are replaced."""
    sound = cardenvs.load_game(game_id)
    broken_view = ModuleType("broken_view")
    vars(broken_view).update(vars(sound.view))
    for name, wrap in view.items():
        setattr(broken_view, name, wrap(getattr(sound.view, name)))
    inner = kernels_of(sound.rules, sound.view)
    replaced = replace(
        inner, **{name: wrap(getattr(inner, name)) for name, wrap in kernels.items()}
    )

    class BrokenGame(Game):
        @property
        def kernels(self) -> Kernels:
            return replaced

        def __reduce__(self) -> Any:
            return partial(cardenvs.load_game, self.id, **self.options), ()

    return BrokenGame(sound.id, sound.rules, broken_view, sound.options)


def hidden_bit(hands: Any, seat: int) -> int:
    """Tell something of the hand on a seat's left, at a table of three."""
    return int(hands[(seat + 1) % 3]) % 7 % 2


def leaking_observation(observe: Any) -> Any:
    def leaky(rows: Any, i: int, seat: int, out: Any) -> None:
        observe(rows, i, seat, out)
        out[0] = hidden_bit(rows["hands"][i], seat)

    return leaky


def leaking_memory(trace: Any) -> Any:
    def leaky(rows: Any, given: Any, actions: Any, seat: int, events: Any, observed: Any) -> Any:
        count = trace(rows, given, actions, seat, events, observed)
        observed[0, 0] = hidden_bit(rows["hands"][0], seat)
        return count

    return leaky


def leaking_render(render_text: Any) -> Any:
    return lambda row, observer: f"{render_text(row, observer)} {row.hands}"


def leaking_facts(public_facts: Any) -> Any:
    return lambda row: public_facts(row) | {"ids": row.hands}


def leaking_words(action_text: Any) -> Any:
    return lambda row, action: (
        f"{action_text(row, action)} {hidden_bit(row.hands, row.current_player)}"
    )


def careless_world(sample_world: Any) -> Any:
    def careless(observation: Any, stream: Any, rows: Any, i: int) -> None:
        sample_world(observation, stream, rows, i)
        rows["hands"][i, :2] = rows["hands"][i, 1::-1]

    return careless


LEAKS: list[tuple[dict[str, Wrap], dict[str, Wrap]]] = [
    ({}, {"observe": leaking_observation}),
    ({}, {"trace": leaking_memory}),
    ({"render_text": leaking_render}, {}),
    ({"public_facts": leaking_facts}, {}),
    ({"action_text": leaking_words}, {}),
    ({}, {"sample_world": careless_world}),
]


@pytest.mark.parametrize(("view", "kernels"), LEAKS)
def test_leak_is_found(game_id: str, view: Any, kernels: Any) -> None:
    with pytest.raises(AssertionError, match=r"seat|possible"):
        check_no_leak(broken_game(game_id, view, kernels), num_positions=100)


def doubled_mask(play: Any) -> Any:
    def broken(rows: Any, i: int, action: int, mask: Any, units: Any) -> Any:
        seat = play(rows, i, action, mask, units)
        mask *= 2
        return seat

    return broken


def single_mask(play: Any) -> Any:
    def broken(rows: Any, i: int, action: int, mask: Any, units: Any) -> Any:
        seat = play(rows, i, action, mask, units)
        mask[np.flatnonzero(mask)[1:]] = 0
        return seat

    return broken


def high_observation(observe: Any) -> Any:
    def broken(rows: Any, i: int, seat: int, out: Any) -> None:
        observe(rows, i, seat, out)
        out[0] = 2

    return broken


def swapped_deal(deal_text: Any) -> Any:
    def broken(row: Any) -> Any:
        deal = deal_text(row)
        return deal | {"hands": deal["hands"][::-1]}

    return broken


def doubled_returns(returns: Any) -> Any:
    def broken(rows: Any, i: int, units: Any) -> None:
        returns(rows, i, units)
        units *= 200

    return broken


BREAKS: list[tuple[str, dict[str, Wrap], dict[str, Wrap]]] = [
    ("mask", {}, {"play": doubled_mask}),
    ("fewer than 2", {}, {"play": single_mask}),
    ("bounds", {}, {"observe": high_observation}),
    ("observation", {}, {"observe": leaking_observation}),
    ("to_deal", {"deal_text": swapped_deal}, {}),
    ("returns", {}, {"returns": doubled_returns}),
    ("same words", {"action_text": lambda action_text: lambda row, action: "go"}, {}),
    ("action_features", {"action_features": lambda features: lambda: features()[1:]}, {}),
]


@pytest.mark.parametrize(("message", "view", "kernels"), BREAKS)
def test_breach_of_the_contract_is_found(
    game_id: str, message: str, view: Any, kernels: Any
) -> None:
    with pytest.raises(AssertionError, match=message):
        check_game(broken_game(game_id, view, kernels), num_games=5)


# ----------------------------------------------------------------------------------------------
# Seats


def turned(state: State, places: int) -> State:
    """Return the table with the seats renamed."""
    rows = copy_rows(state._rows)
    rotate(rows[0], state.game.fields, places)
    return State.of_row(state.game, rows[0])


def test_seats_can_be_renamed(game_id: str, num_games: int) -> None:
    rng = random.Random(3)
    for _ in range(num_games):
        game = random_game(game_id, rng)
        state, places = random_state(game, rng), rng.randrange(1, game.num_players)
        other = turned(state, places)
        for _ in range(60):
            if state.is_terminal():
                break
            check_renamed(state, other, places)
            action = rng.choice(state.legal_actions())
            state.apply_action(action)
            other.apply_action(action)
        check_renamed(state, other, places)


def check_renamed(state: State, other: State, places: int) -> None:
    expected = turned(state, places)
    assert other._rows.tobytes() == expected._rows.tobytes()
    assert other.legal_actions() == state.legal_actions()
    assert other.returns().tolist() == np.roll(state.returns(), places).tolist()
    for seat in range(state.game.num_players):
        seen = other.observation((seat + places) % state.game.num_players)
        assert seen.tolist() == state.observation(seat).tolist()


# ----------------------------------------------------------------------------------------------
# Worlds


def test_observation_rebuilds_the_row(game_id: str, num_games: int) -> None:
    rng = random.Random(4)
    for _ in range(3 * num_games):
        game = random_game(game_id, rng)
        state = random_state(game, rng)
        seat = state.current_player
        world = state.determinize(seat, rng.getrandbits(62))
        for name, field in game.fields.items():
            if name not in HIDDEN_FIELDS and field.dtype is not np.int8:  # see `public`
                assert world._rows[name][0].tolist() == state._rows[name][0].tolist(), name
        assert world.public() == state.public()
        assert world.hands()[seat] == state.hands()[seat]
        assert [len(hand) for hand in world.hands()] == [len(hand) for hand in state.hands()]
        assert Counter(cards_of(world)) == Counter(cards_of(state))


def cards_of(state: State) -> list[str]:
    return [card for hand in state.hands() for card in hand] + state.stock()


def small_position(
    game_id: str,
    rng: random.Random,
    where: Callable[[State], bool] = lambda state: True,
    **fixed: Any,
) -> WatchedTable:
    """Return a position in which the seat on turn has not seen four or five cards."""
    case = CASES[game_id]
    while True:
        options = case.random_options(rng) | fixed
        game = cardenvs.load_game(game_id, **options)
        deal = case.random_deal(rng, options)
        if game.new_initial_state(seed=0, deal=deal).is_terminal():
            continue
        table = WatchedTable(game, rng, deal)
        unseen = len(table.unseen_cards(table.full.current_player))
        if table.is_first_deal and 4 <= unseen <= 5 and where(table.state):
            return table


def key(state: State) -> tuple[Any, ...]:
    return (*(" ".join(sorted(hand)) for hand in state.hands()), " ".join(state.stock()))


def exchanges(table: WatchedTable) -> Iterator[dict[str, str]]:
    """Yield all ways to exchange the cards that the seat on turn has not seen."""
    cards = table.unseen_cards(table.full.current_player)
    for order in itertools.permutations(cards):
        yield dict(zip(cards, order, strict=True))


def followed(table: WatchedTable) -> dict[tuple[Any, ...], State]:
    """Return the tables at which all that the seat on turn has seen is possible too."""
    seat = table.full.current_player
    others = (table.follow(names, seat) for names in exchanges(table))
    return {key(other): other for other in others if other is not None}


def possible_worlds(table: WatchedTable) -> set[tuple[Any, ...]]:
    """Return all that the seat on turn holds possible.

    These are the tables of `followed`, unless a game keeps less than all that events tell.
    """
    found = set(followed(table))
    is_possible = CASES[table.game.id].is_possible
    if is_possible is None:
        return found
    state = table.full
    possible = set()
    for names in exchanges(table):
        hands = [{names.get(card, card) for card in hand} for hand in state.hands()]
        if is_possible(state.game.options, state.public(), state.current_player, hands):
            stock = " ".join(names.get(card, card) for card in state.stock())
            possible.add((*(" ".join(sorted(hand)) for hand in hands), stock))
    assert found <= possible
    return possible


def test_determinize_is_uniform_over_the_consistent_worlds(game_id: str, num_games: int) -> None:
    rng = random.Random(5)
    for _ in range(max(1, num_games // 20)):
        check_worlds(small_position(game_id, rng), rng, num_games)


def check_worlds(table: WatchedTable, rng: random.Random, num_games: int) -> None:
    """Require that the worlds of the seat on turn are those possible, all equally likely."""
    possible, state = sorted(possible_worlds(table)), table.state
    num_samples = len(possible) * (40 if num_games > 50 else 10)
    seeds = (rng.getrandbits(62) for _ in range(num_samples))
    counts = Counter(key(state.determinize(state.current_player, seed)) for seed in seeds)
    assert set(counts) <= set(possible)
    if len(possible) > 1:
        assert chisquare([counts[world] for world in possible]).pvalue > 1e-3


def test_determinize_does_not_depend_on_the_hidden_cards(game_id: str, num_games: int) -> None:
    rng = random.Random(6)
    for _ in range(max(1, num_games // 20)):
        table = small_position(game_id, rng)
        seat, seed = table.full.current_player, rng.getrandbits(62)
        expected = key(table.full.determinize(seat, seed))
        others = followed(table).values()
        assert {key(other.determinize(seat, seed)) for other in others} == {expected}


# ----------------------------------------------------------------------------------------------
# Other sources


def test_engine_agrees_with_the_oracle(game_id: str, num_games: int) -> None:
    for number in range(num_games):
        compare_random_episode(game_id, random.Random(f"test/{number}"))


def test_engine_asks_no_more_than_the_rules_do(game_id: str, num_games: int) -> None:
    rng = random.Random(8)
    for _ in range(num_games):
        case = CASES[game_id]
        options = case.random_options(rng) | {"skip_forced": True}
        state = cardenvs.load_game(game_id, **options).new_initial_state(rng.getrandbits(62))
        first = deal_of_match(state, 0, 0)
        oracle = case.oracle(options | {"skip_forced": False}, first, LaterDeals(state))
        decisions = 0
        while not oracle.over:
            legal = oracle.legal()
            text = rng.choice(legal)
            if len(legal) > 1:
                state.apply_action(state.string_to_action(text))
                decisions += 1
            oracle.apply(text)
        assert state.is_terminal()
        assert len(state._actions) == decisions


def transcripts(game_id: str, count: int) -> list[SimpleNamespace]:
    """Return recorded games; all of them if tests play as many games as that."""
    with gzip.open(TRANSCRIPTS / f"{game_id}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [SimpleNamespace(**json.loads(line)) for line in itertools.islice(lines, count)]


def test_transcripts_are_reproduced_node_by_node(game_id: str, num_games: int) -> None:
    recorded = transcripts(game_id, count=num_games)
    assert recorded
    for each in recorded:
        game = cardenvs.load_game(game_id, **each.options)
        state = game.new_initial_state(seed=0, deal=each.deal)
        for seat, legal, chosen in each.nodes:
            assert state.current_player == seat
            assert sorted(state.legal_action_strings()) == legal
            state.apply_action(state.string_to_action(chosen))
        assert state.is_terminal()
        assert state.is_truncated() == each.truncated
        assert [round(value, 6) for value in state.returns().tolist()] == each.returns
