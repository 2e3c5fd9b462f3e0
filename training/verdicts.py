"""What a measured effect means: better, worse, as good as equal, or not yet known.

An effect is the mean over independent blocks, and comes with its standard error. It is as good as
nothing ("equivalent") if it is shown to lie within a margin that was fixed before; this goes before
"helps" and "hurts", which say that it is shown to be no zero. An effect of exactly nothing in every
block is no finding: what was compared did the same. Both tests are corrected for the number of
effects in a family by Holm's method, each at 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

HELPS = "helps"
HURTS = "hurts"
EQUIVALENT = "equivalent"
UNDECIDED = "undecided"
#: What was compared did the same in every block.
NO_CHANGE = "changes nothing"

ALPHA = 0.05
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Effect:
    """An effect with its 95 % interval (not corrected for the number of effects).

    Attributes:
        mean: positive is good.
        error: its standard error.
        blocks: how many independent blocks it is the mean of.
    """

    mean: float
    error: float
    blocks: int

    @classmethod
    def of_blocks(cls, blocks: npt.NDArray[np.float64]) -> Effect:
        """Return the mean of independent blocks, [D].

        Raises:
            ValueError: if there are fewer than two.
        """
        count = len(blocks)
        if count < 2:
            raise ValueError(f"an effect is the mean of two blocks or more, not {count}")
        return cls(float(blocks.mean()), float(blocks.std(ddof=1) / math.sqrt(count)), count)

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - _NORMAL.inv_cdf(1 - ALPHA / 2) * self.error

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + _NORMAL.inv_cdf(1 - ALPHA / 2) * self.error


def p_of_difference(effect: Effect) -> float:
    """Return the chance of so large an effect, of either sign, if there were none."""
    return 2.0 * _NORMAL.cdf(-abs(effect.mean) / effect.error)


def p_of_equivalence(effect: Effect, margin: float) -> float:
    """Return the chance of so small an effect if it were as large as the margin (two tests)."""
    return _NORMAL.cdf((abs(effect.mean) - margin) / effect.error)


def holm(chances: Sequence[float]) -> list[float]:
    """Return the chances of a family of tests, corrected by Holm's method."""
    count = len(chances)
    corrected = [0.0] * count
    reached = 0.0
    for rank, index in enumerate(sorted(range(count), key=chances.__getitem__)):
        reached = max(reached, min(1.0, (count - rank) * chances[index]))
        corrected[index] = reached
    return corrected


def verdicts(effects: Sequence[Effect], margin: float) -> list[str]:
    """Judge a family of effects.

    Args:
        effects: all that are judged together.
        margin: effects smaller than this are as good as nothing.

    Raises:
        ValueError: if the margin is not positive, or an effect has no error.
    """
    if not margin > 0.0:
        raise ValueError(f"a margin of equivalence is positive, not {margin}")
    if any(effect.error == 0.0 and effect.mean != 0.0 for effect in effects):
        raise ValueError("an effect that is the same in all blocks, and not zero, has no error")
    judged = [effect for effect in effects if effect.error > 0.0]
    found = iter(_verdicts_of_noisy(judged, margin))
    return [next(found) if effect.error > 0.0 else NO_CHANGE for effect in effects]


def _verdicts_of_noisy(effects: Sequence[Effect], margin: float) -> list[str]:
    differs = holm([p_of_difference(effect) for effect in effects])
    is_small = holm([p_of_equivalence(effect, margin) for effect in effects])
    return [
        EQUIVALENT
        if small < ALPHA
        else (HELPS if effect.mean > 0 else HURTS)
        if different < ALPHA
        else UNDECIDED
        for effect, different, small in zip(effects, differs, is_small, strict=True)
    ]
