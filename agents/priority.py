"""The control that ranks all actions in one fixed order, the same in every position.

It shows how much a game gives to mere habits. The orders were found by
`python -m training.priority_search` and are frozen in `priority.json`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import GREEDY, as_positions
from cardenvs.core.game import Game

#: Versioned id -> the actions, the most urgent first.
ORDERS_FILE = Path(__file__).with_name("priority.json")


class PriorityAgent:
    """Plays the first legal action of an order; see `agents.Agent`."""

    plays = GREEDY

    def __init__(self, order: Sequence[int], name: str = "priority") -> None:
        """Take the order.

        Args:
            order: all action ids of the game, the most urgent first.
            name: for tables.

        Raises:
            ValueError: if it does not hold each id once.
        """
        if sorted(order) != list(range(len(order))):
            raise ValueError(f"an order holds each of its {len(order)} action ids once")
        self.name = name
        self._order = np.array(order, np.int64)

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `agents.Agent.act`."""
        _, masks = as_positions(observation, action_mask)
        ranked = masks[:, self._order]
        actions = np.where(ranked.any(axis=1), self._order[ranked.argmax(axis=1)], 0)
        return actions if action_mask.ndim == 2 else actions[0]


def make_priority(game: Game, seed: int | None = None) -> PriorityAgent:
    """Return the control of a game; it plays the same whatever the seed."""
    return PriorityAgent(json.loads(ORDERS_FILE.read_text())[game.id])
