"""Games as text, and counts of legal play, kept on file: `python -m tests.golden` writes both."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import cardenvs
from cardenvs.core.game import Game
from cardenvs.core.state import State
from tests.oracles.cases import CASES

FOLDER = Path(__file__).parent
PERFT = FOLDER / "perft.json"
PLAYTHROUGHS = 3
PERFT_POSITIONS = 4
PERFT_DEPTH = 5
RENDERING_EVERY = 10

_TITLE = "# A playthrough, written by `python -m tests.golden`."


def options_of(game_id: str, number: int) -> dict[str, Any]:
    """Return the options of a playthrough: the defaults in number 0, else some at random."""
    return CASES[game_id].random_options(random.Random(number)) if number else {}


# -- playthroughs ------------------------------------------------------------------------------


def playthrough(game: Game, seed: int, words: Iterable[str]) -> Iterator[str]:
    """Play words from a seed; yield the lines of the playthrough."""
    state = game.new_initial_state(seed=seed)
    yield from (_TITLE, f"game: {game.id}", f"options: {json.dumps(game.options)}")
    yield from (f"seed: {seed}", f"deal: {json.dumps(state.to_deal())}", *rendering(state))
    for number, text in enumerate(words, start=1):
        yield f"player {state.current_player}: {text}"
        before, played = state.returns(), len(state.history())
        state.apply_action(state.string_to_action(text))
        rewards = state.returns() - before
        if rewards.any():
            yield f"rewards: {rewards.round(6).tolist()}"
        if len(state.history()) <= played:
            yield f"deal: {json.dumps(state.to_deal())}"
        if number % RENDERING_EVERY == 0 or state.is_terminal():
            yield from rendering(state)
    yield f"terminal: {state.is_terminal()}, truncated: {state.is_truncated()}"
    yield f"returns: {state.returns().round(6).tolist()}"


def rendering(state: State) -> list[str]:
    """Return the table with all cards open, as lines that stand apart."""
    return [f"    | {line}".rstrip() for line in state.render().splitlines()]


def random_words(game: Game, seed: int) -> list[str]:
    """Return the words of an episode of random play."""
    state, rng, words = game.new_initial_state(seed=seed), random.Random(seed), []
    while not state.is_terminal():
        words.append(rng.choice(state.legal_action_strings()))
        state.apply_action(state.string_to_action(words[-1]))
    return words


def read_playthrough(text: str) -> tuple[Game, int, list[str]]:
    """Return the game, the seed and the words of a playthrough."""
    fields = dict(re.findall(r"^(game|options|seed): (.+)$", text, re.MULTILINE))
    game = cardenvs.load_game(fields["game"], **json.loads(fields["options"]))
    return game, int(fields["seed"]), re.findall(r"^player \d+: (.+)$", text, re.MULTILINE)


# -- counts of legal play ----------------------------------------------------------------------


def count_sequences(state: State, depth: int) -> int:
    """Count the sequences of so many legal actions from a position."""
    legal = state.legal_actions()
    if depth <= 1:
        return len(legal) if depth else 1
    total = 0
    for action in legal:
        after = state.clone()
        after.apply_action(action)
        total += count_sequences(after, depth - 1)
    return total


def perft_positions(game_id: str) -> Iterator[dict[str, Any]]:
    """Yield a few positions to count from: the start of a deal, and positions at random."""
    for number in range(PERFT_POSITIONS):
        rng, options = random.Random(number), options_of(game_id, number)
        game = cardenvs.load_game(game_id, **options)
        state = game.new_initial_state(seed=number)
        while number % 2:
            state = game.new_initial_state(number, CASES[game_id].random_deal(rng, options))
            if count_sequences(state, 3):
                break
        yield {"game": game_id, "options": game.options, "deal": state.to_deal()}


def perft(position: dict[str, Any]) -> list[int]:
    """Return the number of sequences of 1, 2, ... legal actions from a position."""
    state = perft_state(position)
    return [count_sequences(state, depth) for depth in range(1, PERFT_DEPTH + 1)]


def perft_state(position: dict[str, Any]) -> State:
    """Return the table of a position."""
    game = cardenvs.load_game(position["game"], **position["options"])
    return game.new_initial_state(seed=0, deal=position["deal"])


# -- files -------------------------------------------------------------------------------------


def write_all() -> None:
    """Write all playthroughs and counts anew."""
    for file in FOLDER.glob("*.txt"):
        file.unlink()
    for game_id in cardenvs.game_ids():
        for number in range(PLAYTHROUGHS):
            game = cardenvs.load_game(game_id, **options_of(game_id, number))
            lines = playthrough(game, number, random_words(game, number))
            file = FOLDER / f"{game_id}_{number}.txt"
            file.write_text("\n".join(lines) + "\n")
    positions = [each for game_id in cardenvs.game_ids() for each in perft_positions(game_id)]
    counted = [{**position, "sequences": perft(position)} for position in positions]
    PERFT.write_text(json.dumps(counted, indent=1) + "\n")
