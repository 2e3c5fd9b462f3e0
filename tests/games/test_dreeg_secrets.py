"""Dreeg, where it hides most: what a seat sees, and the worlds that it holds possible."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import cardenvs
from cardenvs.core.state import State
from cardenvs.testing import check_no_leak
from tests.core.test_games import check_worlds, small_position
from tests.oracles.cases import dreeg_deal


def has_hidden_partner(state: State) -> bool:
    """Return whether a partner has been called in Rufen and has not shown himself."""
    return bool(state.public()["called"]) and state.public()["team"] is None


def has_open_talon(state: State) -> bool:
    """Return whether two players draw from a talon that lies face down."""
    facts = state.public()
    return facts["talon_size"] > 0 and facts["closer"] is None and not facts["talon_face_up"]


def has_last_two_cards(state: State) -> bool:
    """Return whether the indicator and one card more lie in the talon, or lay there just now."""
    return bool(state.public()["talon_size"] == 2 and state.public()["closer"] is None)


def has_closed_talon(state: State) -> bool:
    """Return whether the talon has been closed."""
    return state.public()["closer"] is not None


def has_talon_face_up(state: State) -> bool:
    """Return whether the talon lies open, the ace of hearts among its cards."""
    return bool(state.public()["talon_face_up"])


PLACES: list[tuple[Callable[[State], bool], dict[str, Any]]] = [
    (has_hidden_partner, {"subgame": "rufen", "num_players": 4}),
    (has_hidden_partner, {"subgame": "rufen", "num_players": 3}),
    (has_open_talon, {"subgame": "deutsch", "num_players": 2, "ruleset": "seed"}),
    (has_open_talon, {"subgame": "deutsch", "num_players": 2, "ruleset": "pagat"}),
    (has_open_talon, {"subgame": "ace_of_hearts", "num_players": 2}),
    (has_open_talon, {"subgame": "rufen", "num_players": 2}),
    (has_last_two_cards, {"subgame": "deutsch", "num_players": 2}),
    (has_closed_talon, {"subgame": "deutsch", "num_players": 2, "ruleset": "pagat"}),
    (has_closed_talon, {"subgame": "ace_of_hearts", "num_players": 2}),
    (has_closed_talon, {"subgame": "rufen", "num_players": 2}),
    (has_talon_face_up, {"subgame": "ace_of_hearts", "num_players": 2}),
]
NAMES = [f"{where.__name__}-{'-'.join(map(str, options.values()))}" for where, options in PLACES]


@pytest.mark.parametrize(("where", "options"), PLACES, ids=NAMES)
def test_nothing_leaks(where: Any, options: dict[str, Any], num_games: int) -> None:
    game = cardenvs.load_game("dreeg-v0", scope="deal", **options)
    draw = partial(dreeg_deal, options=game.options)
    check_no_leak(game, max(2, num_games // 20), where=where, deal=draw)


@pytest.mark.parametrize(("where", "options"), PLACES, ids=NAMES)
def test_worlds_are_those_possible(where: Any, options: dict[str, Any], num_games: int) -> None:
    rng = random.Random(1)
    for _ in range(max(1, num_games // 80)):
        table = small_position("dreeg-v0", rng, where, scope="deal", **options)
        check_worlds(table, rng, num_games)


@pytest.mark.parametrize("num_players", [3, 4])
def test_worlds_of_seats_off_turn_have_all_cards_once(num_players: int, num_games: int) -> None:
    """They do not know the caller's cards, one of which must be of the suit called."""
    options = {"subgame": "rufen", "num_players": num_players, "skip_forced": False}
    game = cardenvs.load_game("dreeg-v0", scope="deal", **options)
    for seed in range(num_games):
        state = game.new_initial_state(seed=seed)
        state.apply_action(state.legal_actions()[seed % len(state.legal_actions())])
        caller, trump = state.current_player, state.public()["trump"]
        for seat in range(num_players):
            world = state.determinize(seat, seed)
            cards = [card for hand in world.hands() for card in hand]
            assert len(cards) == len(set(cards)) == 24
            assert [len(hand) for hand in world.hands()] == [24 // num_players] * num_players
            assert any(card[1] == trump for card in world.hands()[caller])


def test_the_last_draw_looks_the_same_whether_the_nine_is_there_or_not() -> None:
    """Seat 0 wins the trick; with the nine of trumps it is asked before the draw, else not."""
    game = cardenvs.load_game("dreeg-v0", scope="deal", num_players=2, ruleset="pagat")
    seen = []
    for own, other in (("AE 9H TB", "KE 9B UB"), ("AE UH TB", "KE 9B UB")):
        deal = {"hands": [own, other], "dealer": 1, "talon": "OE AH"}
        state = game.new_initial_state(seed=0, deal=deal)
        for words in ("lead AE", "play KE"):
            state.apply_action(state.string_to_action(words))
        assert ("nine" in state.legal_action_strings()) == ("9H" in own)
        observation = game.layout.decode(state.observation(1))
        del observation["out"]
        seen.append((observation, state.render(1)))
    assert seen[0] == seen[1]
