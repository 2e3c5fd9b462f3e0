"""The agent that plays any legal action, each equally likely."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import SAMPLED, KernelAgent
from cardenvs.core.episode import random_legal
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import Stream, random_word


@kernel
def act(observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], rng: Stream) -> int:
    """A random legal action."""
    return random_legal(mask, random_word(rng))


def make_random(game: Game, seed: int | None = None) -> KernelAgent:
    """Return the random agent of any game."""
    return KernelAgent("random", SAMPLED, act, seed)
