"""How the command lines of the project are told a game and its rule options."""

from __future__ import annotations

import argparse
from typing import Any

from cardenvs.core.game import Game
from cardenvs.core.options import read_option
from cardenvs.registry import load_game


def add_game_arguments(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Let a parser take a game (if there is no default, it must be given) and its options."""
    nargs = None if default is None else "?"
    parser.add_argument("game", nargs=nargs, default=default, help="a game's id, such as bred_ryg")
    parser.add_argument("--num-players", type=int, help="at the table; by default the game's own")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a rule option, such as scope=deal; may be given several times",
    )


def game_of(given: argparse.Namespace) -> Game:
    """Return the game that was given.

    Raises:
        ValueError: if there is no such game.
        OptionError: if an option does not exist or does not take the value.
    """
    return load_game(given.game, **options_of(given))


def options_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the rule options that were given, with their values, for `load_game` to check.

    Raises:
        ValueError: if there is no such game.
        OptionError: if an option is not of the form NAME=VALUE.
    """
    game = load_game(given.game)
    allowed = game.all_options(game.rules)
    options = dict(read_option(allowed, text) for text in given.option)
    return options if given.num_players is None else {"num_players": given.num_players} | options
