"""Baseline agents: they see observations and action masks, nothing else.

agents.names("bred_ryg")                       # ("random", "rules")
agent = agents.make("bred_ryg", "rules", seed=1)
actions = agent.act(batch.observation, batch.action_mask)
"""

from __future__ import annotations

import importlib
from typing import Any

from agents.base import Agent, KernelAgent
from cardenvs.core.game import Game
from cardenvs.registry import full_id, load_game

__all__ = ["Agent", "KernelAgent", "make", "names"]

#: Agents of every game: name -> "module:function".
_GENERAL = {"random": "agents.random:make_random"}

#: Agents of one game: versioned id -> name -> "module:function".
_SPECIAL = {
    "braus-v0": {
        "rules": "agents.braus:make_rules",
        "lowest": "agents.braus:make_lowest",
        "priority": "agents.priority:make_priority",
    },
    "bred_ryg-v0": {"rules": "agents.bred_ryg:make_rules"},
    "brede_mette-v0": {
        "rules": "agents.brede_mette:make_rules",
        "lowest": "agents.brede_mette:make_lowest",
        "priority": "agents.priority:make_priority",
    },
    "dreeg-v0": {
        "rules": "agents.dreeg:make_rules",
        "lowest": "agents.dreeg:make_lowest",
        "priority": "agents.priority:make_priority",
        "search": "agents.search.dreeg:make_search",
    },
}


def names(game_id: str | Game) -> tuple[str, ...]:
    """Return the names of the agents that play a game, for `make`.

    Raises:
        ValueError: if there is no such game.
    """
    return tuple(_agents_of(game_id))


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
        name: of the agent, one of `names(game)`.
        seed: of the agent's own generator; by default drawn from the system.
        num_players: at the table, where `game` is an id; by default as the game has it.
        **options: the agent's own options.

    Raises:
        ValueError: if there is no such game or agent, or if `num_players` contradicts the game.
    """
    table = _loaded(game, num_players)
    known = _agents_of(table)
    if name not in known:
        raise ValueError(f"no agent of {table.id} is called {name!r}; there are {', '.join(known)}")
    module, _, function = known[name].partition(":")
    agent: Agent = getattr(importlib.import_module(module), function)(table, seed, **options)
    return agent


def _agents_of(game: str | Game) -> dict[str, str]:
    game_id = game.id if isinstance(game, Game) else full_id(game)
    return _GENERAL | _SPECIAL.get(game_id, {})


def _loaded(game: str | Game, num_players: int | None) -> Game:
    if isinstance(game, str):
        return load_game(game) if num_players is None else load_game(game, num_players=num_players)
    if num_players not in (None, game.num_players):
        raise ValueError(f"{game!r} has {game.num_players} players, not {num_players}")
    return game
