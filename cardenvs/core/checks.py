"""What counts as a whole number, a seat, a seed."""

from __future__ import annotations

import secrets
from operator import index
from typing import Any

import numpy as np

from cardenvs.core.rng import SEED_LIMIT


def whole_number(value: Any) -> int:
    """Return the int of a whole number of Python or NumPy; -1 for anything else."""
    if isinstance(value, bool | np.bool_):
        return -1
    try:
        return index(value)
    except TypeError:
        return -1


def check_seed(seed: int | None) -> int:
    """Return the seed, or one from the system's entropy.

    Raises:
        TypeError: if it is no whole number.
        ValueError: if it is out of range.
    """
    if seed is None:
        return secrets.randbelow(2**62)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"a seed is a whole number, not {seed!r}")
    if not 0 <= seed < SEED_LIMIT:
        raise ValueError(f"a seed is at least 0 and below 2**63, not {seed}")
    return int(seed)
