"""Restore a snapshot of a batch, play on, and leave the snapshot of where that leads.

`python -m tests.core.go_on GAME TAKEN.npz WENT.npz`
"""

import sys

import numpy as np

import cardenvs
from tests.oracles.cases import CASES

STEPS = 80


def main(game_id: str, taken: str, went: str) -> None:
    """Play as `test_batch` does."""
    options = CASES[game_id].short_episode
    with np.load(taken) as arrays:
        num_envs = len(arrays["length"])
        batch = cardenvs.make_batch(game_id, num_envs=num_envs, critic_state=True, **options)
        batch.restore(dict(arrays))
    for _ in range(STEPS):
        batch.step(batch.sample_actions())
    batch.sample_actions()
    np.savez(went, **batch.snapshot())


if __name__ == "__main__":
    main(*sys.argv[1:])
