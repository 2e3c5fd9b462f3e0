"""What each agent is: the cards from which `agents.make` and the documentation read.

The numbers on a card come from an arena on the `test` deals, which
`python -m training.agent_cards` plays and keeps in `agents/cards/`.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.base import Agent
from agents.hints import has_hints
from cardenvs.registry import full_id

#: Where the numbers of the cards are, a file a game.
NUMBERS = Path(__file__).with_name("cards")


@dataclass(frozen=True)
class Card:
    """An agent of a game.

    Attributes:
        name: for `agents.make`.
        what: what it is, in a line.
        how: how it decides.
        options: those of `agents.make`, with their defaults.
        is_slow: whether it thinks for milliseconds over a decision rather than microseconds.
        numbers: how it did in the arena on the test deals; empty if it has not been there.
    """

    name: str
    what: str
    how: str
    options: Mapping[str, Any] = field(default_factory=dict)
    is_slow: bool = False
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """A card as it is written here, and who makes the agent: "module:function"."""

    maker: str
    what: str
    how: str
    is_slow: bool = False

    def load_maker(self) -> Callable[..., Agent]:
        """Return the function (game, seed, **options) -> agent."""
        module, _, function = self.maker.partition(":")
        maker: Callable[..., Agent] = getattr(importlib.import_module(module), function)
        return maker

    def options(self) -> dict[str, Any]:
        """Return the options that the agent takes, and their defaults."""
        _, _, *parameters = inspect.signature(self.load_maker()).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters}


#: Agents of every game.
GENERAL = {
    "random": Entry(
        "agents.random:make_random",
        "Any legal action, each equally likely",
        "The weakest opponent, and the yardstick of chance.",
    ),
}

#: Agents of every game of which hints are known; those that third parties register have none.
BY_HINTS = {
    "lowest": Entry(
        "agents.hints:make_lowest",
        "Always the weakest card",
        "A control: the base policy of the hint agent, without any hint.",
    ),
    "hints": Entry(
        "agents.hints:make_hints",
        "The hints of the rule texts",
        "Asks its hints in order; each narrows the actions that are left, and the base policy "
        "chooses among the rest. Any hint can be switched on or off.",
    ),
}

_PRIORITY = Entry(
    "agents.priority:make_priority",
    "One fixed order of all actions",
    "A control: the order was searched for against random players, and shows how much a game "
    "gives to mere habits.",
)

_TREE = Entry(
    "agents.search.beating:make_search",
    "A tree of what may follow, over sampled worlds",
    "Information-set Monte-Carlo tree search: each simulation samples a world that the observation "
    "allows, goes down one tree in which each player takes what loses him least often, and plays "
    "the game out by the hints. Once two players are left without a stock, all cards are known, "
    "and the end is solved exactly.",
    is_slow=True,
)

#: Agents of one game, by its versioned id.
SPECIAL = {
    "braus-v0": {
        "priority": _PRIORITY,
        "search": Entry(
            "agents.search.braus:make_search",
            "Solves sampled deals with open cards",
            "Perfect-information Monte Carlo: each world that the observation allows is solved "
            "exactly to its end, and the action that is best on average is played.",
            is_slow=True,
        ),
    },
    "bred_ryg-v0": {"search": _TREE},
    "brede_mette-v0": {"priority": _PRIORITY, "search": _TREE},
    "dreeg-v0": {
        "priority": _PRIORITY,
        "search": Entry(
            "agents.search.dreeg:make_search",
            "Follows every action to the end of sampled deals",
            "In each world that the observation allows, every action is played, and the deal goes "
            "on by the hints; the last tricks are solved with open cards instead. Plays what is "
            "best on average.",
            is_slow=True,
        ),
    },
}


def entries_of(game_id: str) -> dict[str, Entry]:
    """Return the agents of a game, by name, with its versioned id."""
    by_hints = BY_HINTS if has_hints(game_id) else {}
    return GENERAL | by_hints | SPECIAL.get(game_id, {})


def read_numbers(game: str) -> dict[str, Any]:
    """Return what an arena has found for a game's agents: "players", and how it was measured.

    Without results, "players" alone, and empty.

    Raises:
        ValueError: if there is no such game.
    """
    file = NUMBERS / f"{full_id(game)}.json"
    told: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {"players": {}}
    return told
