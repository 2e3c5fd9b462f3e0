"""What an agent is, and agents whose play is a compiled kernel.

Letters of shapes: N positions, O observation size, A actions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cardenvs.core.checks import check_seed
from cardenvs.core.kernel import entry_point, kernel
from cardenvs.core.layout import ObservationLayout, Piece
from cardenvs.core.rng import Stream, combine

#: What an agent does with its estimates: the best action, or one at random.
GREEDY = "greedy"
SAMPLED = "sampled"

#: Keeps an agent's random numbers apart from those of the deals of the same seed.
_AGENT_KEY = 3

#: `act(observation int8 [O], mask int8 [A], rng) -> action`, a kernel.
ActKernel = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8], Stream], int]


class Agent(Protocol):
    """Whoever chooses actions from observations and masks.

    Attributes:
        name: for tables.
        plays: "greedy" (the same observation gives the same action) or "sampled".
    """

    name: str
    plays: str

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position.

        Args:
            observation: int8 [N, O], of the seat on turn, or int8 [O].
            action_mask: int8 [N, A], or int8 [A].

        Returns:
            int64 [N], or one int64; 0 where the mask allows nothing (a finished table).
        """
        ...


class KernelAgent:
    """An agent that runs a kernel over all positions of a call."""

    def __init__(self, name: str, plays: str, kernel: ActKernel, seed: int | None = None) -> None:
        """Make the agent.

        Args:
            name: for tables.
            plays: "greedy" or "sampled".
            kernel: what it does in one position; the mask allows at least one action.
            seed: of its own generator; by default drawn from the system.

        Raises:
            ValueError: if the seed is out of range.
        """
        self.name = name
        self.plays = plays
        self._act_all = _over_positions(kernel)
        self._rng = agent_stream(seed)

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `Agent.act`."""
        observations, masks = as_positions(observation, action_mask)
        actions = np.zeros(len(masks), np.int64)
        self._act_all(observations, masks, self._rng, actions)
        return actions if action_mask.ndim == 2 else actions[0]


def agent_stream(seed: int | None) -> Stream:
    """Return the random stream of an agent, int64 [2]."""
    return np.array([combine(check_seed(seed), _AGENT_KEY), 0], np.int64)


def as_positions(
    observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Return what `act` was given as contiguous int8 [N, O] and int8 [N, A]."""
    observations = np.ascontiguousarray(observation, np.int8)
    masks = np.ascontiguousarray(action_mask, np.int8)
    return np.atleast_2d(observations), np.atleast_2d(masks)


def player_counter(pieces: Sequence[Piece]) -> Callable[[npt.NDArray[np.int8]], int]:
    """Make the kernel (observation int8 [O]) -> the number of players, told by its length."""
    one, two = (ObservationLayout(pieces, count).size for count in (1, 2))
    player_size = two - one
    table_size = one - player_size

    @kernel
    def num_players(observation: npt.NDArray[np.int8]) -> int:
        count: int = (observation.shape[0] - table_size) // player_size
        return count

    return num_players


@cache
def _over_positions(kernel: ActKernel) -> Callable[..., None]:
    """Compile the loop over the positions of a call."""

    @entry_point
    def act_all(observations: Any, masks: Any, rng: Any, actions: Any) -> None:
        for i in range(masks.shape[0]):
            if masks[i].any():
                actions[i] = kernel(observations[i], masks[i], rng)

    return act_all
