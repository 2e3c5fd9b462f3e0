"""Baseline agents: they see observations and action masks, nothing else.

agents.list("braus")                          # ("random", "lowest", "hints", "priority", "search")
agents.card("braus", "search").what           # "Solves sampled deals with open cards"
agent = agents.make("braus", "search", seed=1, worlds=100)
actions = agent.act(batch.observation, batch.action_mask)
"""

from __future__ import annotations

from typing import Any

from agents.base import Agent, KernelAgent
from agents.cards import Card, Entry, entries_of, read_numbers, written_entries
from agents.trained import TrainedEntry
from cardenvs.core.game import Game
from cardenvs.registry import full_id, load_game

__all__ = ["Agent", "Card", "KernelAgent", "baselines", "card", "list", "make"]


def list(game: str | Game, *, fast: bool = False) -> tuple[str, ...]:
    """Return the names of the agents that play a game, for `make`.

    Args:
        game: the game, or its id. Trained agents are listed if they can play with the rule
            options of the game; with the default options where an id is given.
        fast: leave out those that think for milliseconds over a decision.

    Raises:
        ValueError: if there is no such game.
    """
    table = _loaded(game, None)
    return tuple(
        name
        for name, entry in entries_of(table.id).items()
        if not (fast and entry.is_slow) and entry.can_play(table)
    )


def baselines(game: str | Game) -> tuple[str, ...]:
    """Return the names of the agents that learners are measured among.

    They are fast, and written rather than trained: what a curve or a table shows must not change
    whenever somebody adds a trained agent.

    Raises:
        ValueError: if there is no such game.
    """
    entries = written_entries(_id_of(game))
    return tuple(name for name, entry in entries.items() if not entry.is_slow)


def card(game: str | Game, name: str) -> Card:
    """Return what an agent of a game is: what it does, how, its options and its numbers.

    Raises:
        ValueError: if there is no such game or agent.
    """
    entry = _entry(game, name)
    numbers = read_numbers(_id_of(game))["players"].get(name, {})
    if numbers.get("sha256") != entry.training.get("sha256"):
        numbers = {}  # of a network that another has replaced
    about = name, entry.what, entry.how, entry.options(), entry.is_slow
    return Card(*about, numbers, entry.training)


def make(
    game: str | Game,
    name: str,
    seed: int | None = None,
    num_players: int | None = None,
    **options: Any,
) -> Agent:
    """Return an agent for a game.

    Args:
        game: the game with its rule options, or its id.
        name: of the agent, one of `list(game)`.
        seed: of the agent's own generator; by default drawn from the system.
        num_players: at the table, where `game` is an id; by default as the game has it.
        **options: the agent's own options, see its card.

    Raises:
        ValueError: if there is no such game, agent or option, if `num_players` contradicts the
            game, or if a trained agent cannot play the game with its options.
    """
    table = _loaded(game, num_players)
    entry = _entry(table, name)
    allowed = entry.options()
    if unknown := [option for option in options if option not in allowed]:
        there_are = f"it has {', '.join(allowed)}" if allowed else "it has none"
        raise ValueError(f"the agent {name!r} has no option {unknown[0]!r}; {there_are}")
    return entry.load_maker()(table, seed, **options)


def _id_of(game: str | Game) -> str:
    return game.id if isinstance(game, Game) else full_id(game)


def _entry(game: str | Game, name: str) -> Entry | TrainedEntry:
    entries = entries_of(_id_of(game))
    if name not in entries:
        known = ", ".join(entries)
        raise ValueError(f"no agent of {_id_of(game)} is called {name!r}; there are {known}")
    return entries[name]


def _loaded(game: str | Game, num_players: int | None) -> Game:
    if isinstance(game, str):
        return load_game(game) if num_players is None else load_game(game, num_players=num_players)
    if num_players not in (None, game.num_players):
        raise ValueError(f"{game!r} has {game.num_players} players, not {num_players}")
    return game
