"""The agent that plays any legal action, each equally likely."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from agents.base import SAMPLED, ActKernel, KernelAgent
from cardenvs.core.episode import legal_sampler
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import Stream, random_word


@cache
def act_kernel(num_actions: int) -> ActKernel:
    """Make the kernel that chooses among the legal ones of so many actions."""
    random_legal = legal_sampler(num_actions)

    @kernel
    def act(observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], rng: Stream) -> int:
        return random_legal(mask, random_word(rng))

    return act


def make_random(game: Game, seed: int | None = None) -> KernelAgent:
    """Return the random agent of any game."""
    return KernelAgent("random", SAMPLED, act_kernel(game.num_actions), seed)
