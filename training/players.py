"""Players given as text: by name, by the file of a trained network, or by somebody's own code.

rules                          an agent of `agents.make`
search:worlds=100              with options
runs/mine/policy.npz           a network that training has saved
runs/mine/policy.npz:greedy=true
package.module:factory         an agent of one's own: factory(game, seed) -> Agent
best=search:worlds=400         any of them under a name of one's choice
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import agents
from agents.base import Agent
from agents.learned import load_network
from cardenvs.core.game import Game

#: For the help of command lines.
PLAYER_TEXTS = "names of agents, as hints or search:worlds=100, or files policy.npz"
FACTORY_TEXT = "an agent of your own: a function (game, seed) -> Agent, as package.module:factory"

_LABELED = re.compile(r"(?P<label>[^=:/\\]+)=(?P<text>.+)", re.DOTALL)
_FACTORY = re.compile(r"[\w.]+:\w+")
_WITH_OPTIONS = re.compile(r"(?P<what>.+?):(?P<options>[^:/\\]*=.*)", re.DOTALL)
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Player:
    """A player as it was given, which can be made again and again, in other processes too.

    Attributes:
        label: for tables.
        text: as it was given, less the label.
        what: the name of the agent, the file, or the place of the factory.
        options: what the agent is told.
        is_factory: whether `what` is the place of a factory.
    """

    label: str
    text: str
    what: str
    options: dict[str, Any] = field(default_factory=dict)
    is_factory: bool = False

    def make(self, game: Game, seed: int) -> Agent:
        """Return the agent, with a generator of this seed.

        Raises:
            ValueError: if there is no such agent, option or file, or if it does not play this game.
        """
        if self.is_factory:
            return _own_agent(self.what, game, seed)
        make = _maker_of_file(self.what)
        try:
            if make is not None:
                return make(Path(self.what), game, seed, **self.options)
            return agents.make(game, self.what, seed, **self.options)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the player {self.text!r} cannot be made: {error}") from error


def read_player(text: str) -> Player:
    """Read a name of `agents.make`, a file or a factory, with or without options and label.

    Raises:
        ValueError: if an option is not of the form name=value.
    """
    label, text = _split_label(text)
    if _FACTORY.fullmatch(text):
        return Player(label or text.partition(":")[2], text, text, is_factory=True)
    found = _WITH_OPTIONS.fullmatch(text)
    what, options = (found["what"], _read_options(found["options"])) if found else (text, {})
    if label is None:
        label = _label_of_file(what) if _maker_of_file(what) and not options else text
    return Player(label, text, what, options)


def read_factory(text: str) -> Player:
    """Read the place of a factory, `package.module:factory`, with or without label.

    Raises:
        ValueError: if it is of another form.
    """
    label, text = _split_label(text)
    module, colon, name = text.partition(":")
    if not (module and colon and name):
        raise ValueError(f"an agent of your own is given as package.module:factory, not {text!r}")
    return Player(label or name, text, text, is_factory=True)


def read_players(texts: Iterable[str], factories: Iterable[str] = ()) -> dict[str, Player]:
    """Read players and factories of players, and return them by label.

    Raises:
        ValueError: if two have the same label, or see `read_player` and `read_factory`.
    """
    players: dict[str, Player] = {}
    for player in (*map(read_player, texts), *map(read_factory, factories)):
        if player.label in players:
            raise ValueError(
                f"two players are called {player.label!r}; give one another name, "
                f"as other={player.text}"
            )
        players[player.label] = player
    return players


def check_players(game: Game, players: Mapping[str, Player]) -> None:
    """Make each player once, so that none fails in the middle of the work.

    Raises:
        ValueError: if one cannot be made for the game.
    """
    for player in players.values():
        player.make(game, 0)


def _split_label(text: str) -> tuple[str | None, str]:
    found = _LABELED.fullmatch(text)
    return (found["label"], found["text"]) if found else (None, text)


def _read_options(text: str) -> dict[str, Any]:
    options = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not (name and equals):
            raise ValueError(f"an option of a player is given as name=value, not {part!r}")
        options[name.strip()] = _read_value(value.strip())
    return options


def _read_value(text: str) -> Any:
    """Return a whole number, a number, true, false or none as what it is, and else the text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# ----------------------------------------------------------------------------------------------
# Files


def _network(file: Path, game: Game, seed: int, **options: Any) -> Agent:
    if not file.is_file():
        raise ValueError(f"there is no file {file}")
    agent = load_network(file, seed=seed, **options)
    has = agent.sizes
    needed = game.observation_size, game.num_actions
    if has != needed:
        raise ValueError(
            f"the network has {has[0]} inputs and {has[1]} outputs; {game!r} with "
            f"{game.num_players} players needs {needed[0]} and {needed[1]}"
        )
    return agent


#: Who reads which files.
_FILES: dict[str, Callable[..., Agent]] = {".npz": _network}


def _maker_of_file(what: str) -> Callable[..., Agent] | None:
    return _FILES.get(Path(what).suffix)


def _label_of_file(what: str) -> str:
    """Return the name of a file, or of the run whose policy it is."""
    file = Path(what)
    return file.parent.name if file.stem == "policy" and file.parent.name else file.stem


# ----------------------------------------------------------------------------------------------
# Agents of one's own


def _own_agent(text: str, game: Game, seed: int) -> Agent:
    agent: Agent = _factory(text)(game, seed)
    missing = [name for name in ("act", "name", "plays") if not hasattr(agent, name)]
    if missing:
        raise ValueError(f"what {text} returns is no agent: it lacks {', '.join(missing)}")
    return agent


def _factory(text: str) -> Callable[[Game, int], Agent]:
    """Import a factory; what lies in the current folder can be imported too."""
    here = str(Path.cwd())
    if not {here, ""} & set(sys.path):
        sys.path.insert(0, here)
    module, _, name = text.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ValueError(f"{text}: {error}") from error
    factory: Callable[[Game, int], Agent] | None = getattr(found, name, None)
    if not callable(factory):
        raise ValueError(f"{text}: the module {module} has no function {name!r}")
    return factory
