"""What the rule tests of the games share: playing by text, and looking at a table.

Every node is asked (`skip_forced=False`) unless the options say otherwise, so that the masks with a
single action can be seen.
"""

import random
from collections.abc import Callable
from typing import Any

import cardenvs

State = Any


def new_game(game_id: str, **options: Any) -> Any:
    """Load a game, asking every node unless the options say otherwise."""
    return cardenvs.load_game(game_id, **({"skip_forced": False} | options))


def play(state: State, *texts: str) -> State:
    """Play actions by their text; `pass*` passes as long as the phase lasts and a pass is legal."""
    for text in texts:
        if text.endswith("*"):
            _play_while_legal(state, text.removesuffix("*"))
        else:
            state.apply_action(state.string_to_action(text))
    return state


def _play_while_legal(state: State, text: str) -> None:
    first_phase = phase(state)
    while phase(state) == first_phase and text in legal(state):
        state.apply_action(state.string_to_action(text))


def play_out(state: State, seed: int, watch: Callable[[State], None] | None = None) -> State:
    """Play at random to the end of the episode; `watch` sees the state at every node."""
    chooser = random.Random(seed)
    while not state.is_terminal():
        if watch is not None:
            watch(state)
        state.apply_action(chooser.choice(state.legal_actions()))
    return state


def play_in_both_modes(game_id: str, seed: int, **options: Any) -> tuple[State, State]:
    """Play a game at random with all nodes, and its decisions again without the forced ones."""
    full = new_game(game_id, **options).new_initial_state(seed=seed)
    short = new_game(game_id, skip_forced=True, **options).new_initial_state(seed=seed)
    chooser = random.Random(seed)
    while not full.is_terminal():
        action = chooser.choice(full.legal_actions())
        if len(full.legal_actions()) > 1:
            assert short.current_player == full.current_player
            play(short, full.action_to_string(action))
        full.apply_action(action)
    return full, short


def legal(state: State) -> set[str]:
    """Return the texts of the legal actions."""
    return {state.action_to_string(action) for action in state.legal_actions()}


def phase(state: State) -> str:
    """Return the phase as all see it."""
    return str(state.public()["phase"])


def known(state: State) -> list[set[str]]:
    """Return the cards that everybody knows to be in each hand."""
    return [set(cards) for cards in state.public()["known"]]


def active(state: State) -> list[bool]:
    """Return who still takes part."""
    return [bool(is_active) for is_active in state.public()["active"]]
