"""Baseline agents: they see observations and action masks, nothing else.

agents.names("bred_ryg")                       # ("random", "rules")
agent = agents.make("bred_ryg", "rules", seed=1)
actions = agent.act(batch.observation, batch.action_mask)
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from agents.base import Agent, KernelAgent
from cardenvs.core.game import Game
from cardenvs.registry import full_id, load_game

__all__ = ["Agent", "KernelAgent", "make", "names", "options_of"]

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
        ValueError: if there is no such game, agent or option, or if `num_players` contradicts the
            game.
    """
    table = _loaded(game, num_players)
    allowed = options_of(table, name)
    if unknown := [option for option in options if option not in allowed]:
        there_are = f"it has {', '.join(allowed)}" if allowed else "it has none"
        raise ValueError(f"the agent {name!r} has no option {unknown[0]!r}; {there_are}")
    agent: Agent = _maker(table, name)(table, seed, **options)
    return agent


def options_of(game: str | Game, name: str) -> dict[str, Any]:
    """Return the options that an agent takes in `make`, and their defaults.

    Raises:
        ValueError: if there is no such game or agent.
    """
    parameters = list(inspect.signature(_maker(game, name)).parameters.values())
    return {parameter.name: parameter.default for parameter in parameters[2:]}


def _maker(game: str | Game, name: str) -> Callable[..., Agent]:
    """Return the function (game, seed, options) that makes an agent."""
    known = _agents_of(game)
    if name not in known:
        game_id = game.id if isinstance(game, Game) else full_id(game)
        raise ValueError(f"no agent of {game_id} is called {name!r}; there are {', '.join(known)}")
    module, _, function = known[name].partition(":")
    maker: Callable[..., Agent] = getattr(importlib.import_module(module), function)
    return maker


def _agents_of(game: str | Game) -> dict[str, str]:
    game_id = game.id if isinstance(game, Game) else full_id(game)
    return _GENERAL | _SPECIAL.get(game_id, {})


def _loaded(game: str | Game, num_players: int | None) -> Game:
    if isinstance(game, str):
        return load_game(game) if num_players is None else load_game(game, num_players=num_players)
    if num_players not in (None, game.num_players):
        raise ValueError(f"{game!r} has {game.num_players} players, not {num_players}")
    return game
