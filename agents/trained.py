"""Agents that were trained: the networks that come with the library.

    agents/checkpoints/<game id>/<name>/
        policy.npz            the network, see `agents.learned`
        card.json             what it is, how it was trained, how it did
        curve.csv, curve.png  its strength on the dev deals while it was trained

`python -m training.ship` puts them there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from agents.base import GREEDY, Agent
from agents.learned import load_network, misfit_of, read_about
from cardenvs.core.game import Game

#: Where the trained agents are.
CHECKPOINTS = Path(__file__).with_name("checkpoints")

#: The files of an agent.
POLICY, CARD, CURVE, PICTURE = "policy.npz", "card.json", "curve.csv", "curve.png"


@dataclass(frozen=True)
class TrainedEntry:
    """A trained agent as `agents.make` finds it; its files are read when they are asked for."""

    folder: Path
    is_slow: bool = False

    @cached_property
    def training(self) -> dict[str, Any]:
        """What its card tells: see `training.ship`."""
        told: dict[str, Any] = json.loads((self.folder / CARD).read_text())
        return told

    @property
    def what(self) -> str:
        """What it is, in a line."""
        return str(self.training["what"])

    @property
    def how(self) -> str:
        """How it decides."""
        return str(self.training["how"])

    def options(self) -> dict[str, Any]:
        """Return the options that the agent takes, and their defaults."""
        return {"greedy": self.training["plays"] == GREEDY}

    def can_play(self, game: Game) -> bool:
        """Whether its network reads the observations of a game and knows its actions."""
        return not misfit_of(read_about(self.folder / POLICY), game)

    def load_maker(self) -> Callable[..., Agent]:
        """Return the function (game, seed, greedy=...) -> agent."""

        def make(game: Game, seed: int | None = None, **options: Any) -> Agent:
            name = self.folder.name
            how = self.options() | options
            try:
                return load_network(self.folder / POLICY, game, seed=seed, name=name, **how)
            except ValueError as error:
                raise ValueError(f"the agent {name!r} cannot play: {error}") from error

        return make


def trained_entries(game_id: str) -> dict[str, TrainedEntry]:
    """Return the trained agents of a game, by name, with its versioned id."""
    cards = sorted((CHECKPOINTS / game_id).glob(f"*/{CARD}"))
    return {card.parent.name: TrainedEntry(card.parent) for card in cards}
