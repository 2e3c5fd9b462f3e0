"""What all searches share: a budget, a memory, and the loop over the positions of a call.

A search knows an observation and a mask, nothing else; the worlds that it looks at come from
`sample_world` of the game's view.

Letters of shapes: N positions, O observation size, A actions.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.base import SAMPLED, agent_stream, as_positions
from cardenvs.core.kernel import entry_point
from cardenvs.core.rng import combine


@dataclass(frozen=True)
class Budget:
    """How long a search thinks over one decision; where both are given, whichever ends first.

    Attributes:
        units: worlds, or simulations, at most; None for no limit.
        seconds: of wall time, looked at after each slice of the work; None for no limit.
        slice_units: how many units are worked through between two looks at the clock.
    """

    units: int | None
    seconds: float | None = None
    slice_units: int = 16

    @classmethod
    def of(cls, units: int | None, seconds: float | None, usual: int) -> Budget:
        """Return a budget; without any limit it is the usual number of units."""
        return cls(usual if units is None and seconds is None else units, seconds)

    def slice_of(self, done: int) -> int:
        """Return how much to work before the next look at the clock, after so many units."""
        if self.units is None:
            return self.slice_units
        rest = self.units - done
        return rest if self.seconds is None else min(self.slice_units, rest)

    def __post_init__(self) -> None:
        if self.units is not None and self.units < 1:
            raise ValueError(f"a search looks at one world or more, not {self.units}")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"a search needs more than {self.seconds} seconds")


class SearchKernels(NamedTuple):
    """The parts of a search; `memory` is whatever arrays it works on, made by its maker."""

    begin: Callable[..., Any]  # (observation, mask, memory): forget the last decision
    #: (observation, mask, rng, memory, units) -> whether still more work could change anything
    extend: Callable[..., bool]
    choose: Callable[..., int]  # (mask, memory) -> the action to play
    write_values: Callable[..., Any]  # (mask, memory, values float64 [A]): in points, of the mover


class SearchAgent:
    """Plays what a search finds best; see `agents.Agent`.

    The worlds that it draws depend on its seed and on the position alone, not on what it was asked
    before. The play is "sampled": another seed draws other worlds.
    """

    plays = SAMPLED

    def __init__(
        self, name: str, kernels: SearchKernels, memory: Any, budget: Budget, seed: int | None
    ) -> None:
        """Make the agent.

        Args:
            name: for tables.
            kernels: the search.
            memory: its arrays; no other agent may use them.
            budget: how long it thinks over one decision.
            seed: of its own generator; by default drawn from the system.

        Raises:
            ValueError: if the seed is out of range.
        """
        self.name = name
        self.budget = budget
        self._search = _compiled(kernels)
        self._memory = memory
        self._key = int(agent_stream(seed)[0])

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `agents.Agent.act`."""
        observations, masks = as_positions(observation, action_mask)
        counts = np.count_nonzero(masks, axis=1)
        actions = masks.argmax(axis=1).astype(np.int64)  # right where there is no choice
        for i in np.flatnonzero(counts > 1):
            self._think(observations[i], masks[i])
            actions[i] = self._search.choose(masks[i], self._memory)
        return actions if action_mask.ndim == 2 else actions[0]

    def values(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Return what the search takes each legal action to be worth, in points of the mover.

        Args:
            observation: int8 [N, O], of the seat on turn, or int8 [O].
            action_mask: int8 [N, A], or int8 [A].

        Returns:
            float64 [N, A] or [A]; NaN where an action is illegal, or was not looked at.
        """
        observations, masks = as_positions(observation, action_mask)
        values = np.full(masks.shape, np.nan)
        for i in np.flatnonzero(masks.any(axis=1)):
            self._think(observations[i], masks[i])
            self._search.write_values(masks[i], self._memory, values[i])
        return values if action_mask.ndim == 2 else values[0]

    def _think(self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]) -> None:
        """Work on one position until the budget is spent."""
        end = None if self.budget.seconds is None else time.perf_counter() + self.budget.seconds
        rng = np.array([combine(self._key, zlib.crc32(observation.tobytes())), 0], np.int64)
        self._search.begin(observation, mask, self._memory)
        done = 0
        while self.budget.units is None or done < self.budget.units:
            rest = self.budget.slice_of(done)
            can_change = self._search.extend(observation, mask, rng, self._memory, rest)
            done += rest
            if not can_change or (end is not None and time.perf_counter() >= end):
                return


@cache
def _compiled(kernels: SearchKernels) -> SearchKernels:
    """Compile a search, once for all agents that use it."""
    begin_search, extend_search, choose_action, write_all = kernels

    @entry_point
    def begin(observation: Any, mask: Any, memory: Any) -> None:
        begin_search(observation, mask, memory)

    @entry_point
    def extend(observation: Any, mask: Any, rng: Any, memory: Any, units: int) -> bool:
        return extend_search(observation, mask, rng, memory, units)

    @entry_point
    def choose(mask: Any, memory: Any) -> int:
        return choose_action(mask, memory)

    @entry_point
    def write_values(mask: Any, memory: Any, values: Any) -> None:
        write_all(mask, memory, values)

    return SearchKernels(begin, extend, choose, write_values)
