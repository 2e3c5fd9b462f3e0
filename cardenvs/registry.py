"""The games by id: one line each, as strings, so that importing the library imports no game."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

import pettingzoo

if TYPE_CHECKING:
    from cardenvs.core.batch import Batch
    from cardenvs.core.game import Game

#: Versioned id -> the modules of its rules and of its view.
_GAMES: dict[str, tuple[str, str]] = {}


def register_game(game_id: str, rules: str, view: str) -> None:
    """Make a game known by its id.

    Args:
        game_id: the versioned id, such as "bred_ryg-v0".
        rules: the importable name of the module with its rules.
        view: that of the module with what a seat sees.

    Raises:
        ValueError: if the id is not of the form name-vN, or is taken.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*-v[0-9]+", game_id):
        raise ValueError(f"a game's id looks like 'bred_ryg-v0', not {game_id!r}")
    if game_id in _GAMES:
        raise ValueError(f"a game is registered as {game_id!r} already")
    _GAMES[game_id] = (rules, view)


def game_ids() -> tuple[str, ...]:
    """Return the versioned ids of all games."""
    return tuple(sorted(_GAMES))


def full_id(game_id: str) -> str:
    """Return the versioned id for an id, which may lack the version (then the newest is meant).

    Raises:
        ValueError: if there is no such game.
    """
    if game_id in _GAMES:
        return game_id
    versions = [known for known in _GAMES if known.rpartition("-v")[0] == game_id]
    if not versions:
        raise ValueError(f"no game is called {game_id!r}; there are {', '.join(game_ids())}")
    return max(versions, key=lambda known: int(known.rpartition("-v")[2]))


def load_game(game_id: str, **options: Any) -> Game:
    """Return a game with its rule options.

    Args:
        game_id: such as "bred_ryg-v0", or "bred_ryg" for its newest version.
        **options: rule options by name; `game.options` shows all with their values.

    Raises:
        ValueError: if there is no such game.
        OptionError: if an option does not exist or does not take the value.
    """
    from cardenvs.core.game import Game, check_contract

    name = full_id(game_id)
    rules, view = (importlib.import_module(module) for module in _GAMES[name])
    check_contract(rules, view)
    return Game(name, rules, view, options)


def make_batch(
    game_id: str,
    num_envs: int,
    seed: Any = None,
    num_threads: int = 1,
    autoreset: bool = True,
    critic_state: bool = False,
    **options: Any,
) -> Batch:
    """Return many tables of a game that are stepped in place; see `Batch`.

    Args:
        game_id: such as "bred_ryg-v0", or "bred_ryg" for its newest version.
        num_envs: how many tables.
        seed: of table 0 (table i gets a hash of it and i), or one a table, int64 [num_envs].
        num_threads: among which a step divides the tables.
        autoreset: deal the next episode in the step that ends one.
        critic_state: also write `critic_state`, the observation and all hands.
        **options: rule options by name.

    Raises:
        ValueError: if there is no such game, or a number is out of range.
        OptionError: if an option does not exist or does not take the value.
    """
    from cardenvs.core.batch import Batch

    game = load_game(game_id, **options)
    return Batch(game, num_envs, seed, num_threads, autoreset, critic_state)


def _register(name: str, version: int = 0) -> None:
    module = f"cardenvs.games.{name}"
    register_game(f"{name}-v{version}", module, f"{module}_view")
    if hasattr(pettingzoo, "register"):  # since PettingZoo 1.27
        pettingzoo.register("aec", f"cardenvs/{name}-v{version}", f"cardenvs.{name}_v{version}:env")


_register("braus")
_register("bred_ryg")
_register("brede_mette")
_register("dreeg")
