"""What the tests of hints share: playing to a position, and asking there."""

from __future__ import annotations

from collections.abc import Iterable
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


def count_of_legal_advice(game: Game, num_steps: int) -> int:
    """Ask all hints in positions of random play; return how often one speaks, always legally."""
    batch = cardenvs.make_batch(game.id, 32, seed=1, **game.options)
    batch.reset()
    book = hint_book(game)
    spoken = 0
    for _ in range(num_steps):
        observations, masks = batch.observation.copy(), batch.action_mask.copy()
        for name in book.names:
            advised = advice_masks(book, name, observations, masks)
            assert (advised <= masks).all()
            spoken += int(advised.any(axis=1).sum())
        batch.step(batch.sample_actions())
    return spoken


def untested(hints: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the hints after which no test is called, among the names of a module."""
    begins = {hint: "test_" + hint.lower().replace("-", "_") + "_" for hint in hints}
    tests = tuple(names)
    return [hint for hint, begin in begins.items() if not any(t.startswith(begin) for t in tests)]
