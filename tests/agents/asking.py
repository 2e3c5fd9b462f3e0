"""What the tests of hints share: playing to a position, and asking there."""

from __future__ import annotations

from typing import Any

import numpy as np

import agents
import cardenvs
from agents.hints import advice_masks, hint_book
from cardenvs.core.game import Game
from training.evaluate import deal_seeds
from training.hint_tables import play_hint_tables
from training.verdicts import Effect


def position(game_id: str, deal: dict[str, Any], *played: str, **options: Any) -> Any:
    """Return the state after some actions, by their words, from a position."""
    state = cardenvs.load_game(game_id, **options).new_initial_state(seed=0, deal=deal)
    for text in played:
        state.apply_action(state.string_to_action(text))
    return state


def choice(state: Any, name: str, **options: Any) -> str:
    """Return the words for what an agent plays."""
    agent = agents.make(state.game, name, seed=0, **options)
    return str(state.action_to_string(int(agent.act(state.observation(), state.action_mask()))))


def advice(state: Any, hint: str) -> list[str]:
    """Return the words for what a hint advises; nothing where it does not speak."""
    observation, mask = state.observation()[None], state.action_mask()[None]
    (advised,) = advice_masks(hint_book(state.game), hint, observation, mask)
    return [state.action_to_string(int(action)) for action in np.flatnonzero(advised)]


def loss_rate_of_habit(game: Game, habit: str, num_deals: int) -> Effect:
    """Return how often one hint agent with a bad habit loses among those without it."""
    book = hint_book(game)
    places = [(habit, *book.default)] + [book.default] * (game.num_players - 1)
    seeds = deal_seeds("dev", num_deals)
    scores, _ = play_hint_tables(game, book, book.base_names[0], places, seeds)
    return Effect.of_blocks(-scores[:, :, 0].mean(axis=1))
