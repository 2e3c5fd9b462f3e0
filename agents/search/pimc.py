"""Perfect-information Monte Carlo: solve sampled worlds with open cards, play the best on average.

Letters of shapes: O observation size, A actions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from agents.search.base import Budget, SearchAgent, SearchKernels
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import Stream
from cardenvs.core.rows import Mask, Observation

#: `solve(state, mask, solver, values float64 [A]) -> whether the world was solved`: writes what
#: each action of the mask is worth to the seat on turn, in points, if all see all cards. The state
#: is the world, its seat on turn is 0; `solver` holds the arrays of the solver. A kernel; where it
#: returns False (its limit of nodes was reached) the world counts for nothing.
SolveKernel = Callable[..., bool]


class Memory(NamedTuple):
    """What the search works on."""

    rows: Any  # STATE_DTYPE [1]: the world; its options are set
    solver: Any  # the arrays of the solver
    world: Any  # float64 [A]: the values in this world
    total: Any  # float64 [A]: their sum over the worlds
    counts: Any  # int64 [2]: the worlds that were solved, and those that were given up
    order: Any  # int64 [A]: all actions, those to be preferred first


@cache
def pimc_kernels(sample_world: Callable[..., Any], solve: SolveKernel) -> SearchKernels:
    """Make the search of a game from its view's `sample_world` and a solver."""

    @kernel
    def begin(observation: Observation, mask: Mask, memory: Any) -> None:
        memory.total[:] = 0.0
        memory.counts[:] = 0

    @kernel
    def extend(observation: Observation, mask: Mask, rng: Stream, memory: Any, units: int) -> bool:
        for _ in range(units):
            sample_world(observation, rng, memory.rows[0])
            if solve(memory.rows[0], mask, memory.solver, memory.world):
                memory.counts[0] += 1
                for action in range(mask.shape[0]):
                    if mask[action]:
                        memory.total[action] += memory.world[action]
            else:
                memory.counts[1] += 1
        return True

    @kernel
    def choose(mask: Mask, memory: Any) -> int:
        """The action of the highest sum; of equals the one that comes first in the order."""
        best = -1
        for place in range(mask.shape[0]):
            action = memory.order[place]
            if mask[action] and (best < 0 or memory.total[action] > memory.total[best]):
                best = action
        return best

    @kernel
    def write_values(mask: Mask, memory: Any, values: Any) -> None:
        for action in range(mask.shape[0]):
            if mask[action] and memory.counts[0]:
                values[action] = memory.total[action] / memory.counts[0]

    return SearchKernels(begin, extend, choose, write_values)


def make_pimc(
    game: Game,
    solve: SolveKernel,
    solver: Any,
    budget: Budget,
    seed: int | None,
    order: Sequence[int] | None = None,
) -> SearchAgent:
    """Return an agent that solves sampled worlds of a game.

    Args:
        game: the game with its options.
        solve: solves a world.
        solver: the arrays that it works on.
        budget: the worlds, or the seconds, for one decision.
        seed: of the agent's generator; by default drawn from the system.
        order: all actions, those first that are preferred where several are as good, or where no
            world was solved; by default the lowest id first.

    Raises:
        ValueError: if the seed is out of range.
    """
    memory = Memory(
        rows=game.blank_rows(),
        solver=solver,
        world=np.zeros(game.num_actions),
        total=np.zeros(game.num_actions),
        counts=np.zeros(2, np.int64),
        order=np.arange(game.num_actions) if order is None else np.array(order, np.int64),
    )
    kernels = pimc_kernels(game.view.sample_world, solve)
    return SearchAgent("search", kernels, memory, budget, seed)
