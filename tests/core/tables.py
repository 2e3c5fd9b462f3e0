"""How the tests of `core` play: at random, from a seed, in any game."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import cardenvs
from cardenvs.core.batch import Batch
from cardenvs.core.game import Game
from cardenvs.core.state import State
from tests.oracles.cases import CASES

GAME_IDS = cardenvs.game_ids()


def advance(state: State, decisions: int, seed: int = 0) -> State:
    """Play up to so many decisions at random; return the same state."""
    rng = random.Random(seed)
    for _ in range(decisions):
        if state.is_terminal():
            break
        state.apply_action(rng.choice(state.legal_actions()))
    return state


def play_out(state: State, seed: int = 0) -> State:
    """Play to the end at random; return the same state."""
    return advance(state, 1_000_000, seed)


def positions(game: Game, count: int, seed: int = 0) -> Iterator[State]:
    """Yield positions of random games, any of them on turn and in mid-game."""
    rng = random.Random(seed)
    while count:
        state = advance(game.new_initial_state(rng.getrandbits(40)), rng.randrange(90), count)
        if not state.is_terminal():
            count -= 1
            yield state


def deal_without_decision(game_id: str) -> tuple[Game, Any] | None:
    """Find a game and a deal of it that asks nobody anything, if there is one."""
    rng = random.Random(5)
    for _ in range(3000):
        options = CASES[game_id].random_options(rng) | {"skip_forced": True}
        deal = CASES[game_id].random_deal(rng, options)
        game = cardenvs.load_game(game_id, **options)
        if game.new_initial_state(0, deal).is_terminal():
            return game, deal
    return None


def sight(state: State) -> tuple[Any, ...]:
    """Return what all seats see."""
    seats = range(state.game.num_players)
    return (
        state.current_player,
        state.returns().tolist(),
        state.action_mask().tobytes(),
        [state.observation(seat).tobytes() for seat in seats],
    )


BUFFERS = (
    "rows",
    "action_mask",
    "observation",
    "critic_state",
    "current_player",
    "units",
    "length",
    "reward",
    "terminated",
    "truncated",
    "episode_return",
    "episode_length",
    "skipped_episodes",
)


def content(batch: Batch) -> dict[str, bytes]:
    """Return all that a batch holds."""
    return {name: getattr(batch._tables, name).tobytes() for name in BUFFERS}


def chosen_actions(batch: Batch, rng: random.Random) -> np.ndarray:
    """Choose a legal action for every table, 0 where there is none."""
    ids, offsets = batch.legal_actions
    bounds = pairwise(offsets)
    return np.array([ids[rng.randrange(a, b)] if a < b else 0 for a, b in bounds], np.int64)


def illegal_action(mask: np.ndarray) -> int:
    """Return an action that a mask does not allow."""
    return int(np.flatnonzero(mask == 0)[0])
