"""Monte-Carlo returns: decisions wait until their episode is over, then their worth is known.

Letters of shapes: N decisions, R rows, B tables, P seats, O observation size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.kernel import entry_point
from training.rollout import NOBODY, Buffer


@dataclass(frozen=True)
class Decisions:
    """Decisions in play.

    Attributes:
        observation: int8 [N, O].
        action: int64 [N].
        table, seat: int64 [N], where and whose.
        gained: float32 [N], what the seat has gained since; its return, if the episode is over.
    """

    observation: npt.NDArray[np.int8]
    action: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]
    seat: npt.NDArray[np.int64]
    gained: npt.NDArray[np.float32]

    def __len__(self) -> int:
        """N."""
        return len(self.action)

    @classmethod
    def none(cls, observation_size: int) -> Decisions:
        """Return no decisions."""
        nothing = np.zeros(0, np.int64)
        seen = np.zeros((0, observation_size), np.int8)
        return cls(seen, nothing, nothing, nothing, np.zeros(0, np.float32))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all of them by name."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def where(self, is_wanted: npt.NDArray[np.bool_]) -> Decisions:
        """Return some of them."""
        return Decisions(**{name: array[is_wanted] for name, array in self.arrays().items()})

    def and_then(self, others: Decisions) -> Decisions:
        """Return these and others."""
        theirs = others.arrays()
        return Decisions(
            **{name: np.concatenate([own, theirs[name]]) for name, own in self.arrays().items()}
        )


class Returns:
    """Keeps decisions until their episode is over.

    Attributes:
        waiting: those of episodes that go on; what they gained is written as it comes.
    """

    def __init__(self, observation_size: int) -> None:
        """Begin with no decisions."""
        self.waiting = Decisions.none(observation_size)

    def take(self, buffer: Buffer) -> Decisions:
        """Add a rollout; return the learner's decisions whose episode has ended in it.

        Args:
            buffer: filled by a `Collector`, of which nothing was carried over.
        """
        num_rows, num_tables, num_players = buffer.reward.shape
        gained = np.zeros((num_rows, num_tables), np.float32)
        is_over = np.zeros((num_rows, num_tables), np.bool_)
        ahead = np.zeros((num_tables, num_players), np.float32)
        has_end = np.zeros(num_tables, np.bool_)
        write_returns(
            buffer.seat,
            buffer.reward,
            buffer.end,
            np.zeros(num_players),
            (gained, is_over, ahead, has_end),
        )
        old = self.waiting
        old.gained[:] += ahead[old.table, old.seat]
        rows, tables = np.nonzero(buffer.seat != NOBODY)
        size = old.observation.shape[1]
        new = Decisions(
            buffer.seen[rows, tables, :size],
            buffer.action[rows, tables],
            tables,
            buffer.seat[rows, tables],
            gained[rows, tables],
        )
        was_over, is_over = has_end[old.table], is_over[rows, tables]
        self.waiting = old.where(~was_over).and_then(new.where(~is_over))
        return old.where(was_over).and_then(new.where(is_over))

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over the arrays of what was waiting."""
        self.waiting = Decisions(**arrays)


@entry_point
def write_returns(seats: Any, rewards: Any, ends: Any, to_go: Any, out: Any) -> None:
    """Walk back through each table, adding up what every seat gains until the episode ends.

    Args:
        seats: int64 [R, B], below 0 where a decision is not the learner's.
        rewards: float32 [R, B, P].
        ends: bool [R, B].
        to_go: scratch, float64 [P].
        out: for each decision what its seat gains from then on, float32 [R, B], and whether the
            episode ends within the rows, bool [R, B]; for each table what the seats gain until
            its first end, or in all rows, float32 [B, P], and whether there is an end, bool [B].
    """
    gained, is_over, ahead, has_end = out
    num_rows, num_tables, num_players = rewards.shape
    for b in range(num_tables):
        has_end[b] = False
        for seat in range(num_players):
            to_go[seat] = 0.0
        for row in range(num_rows - 1, -1, -1):
            has_end[b] |= ends[row, b]
            for seat in range(num_players):
                before = 0.0 if ends[row, b] else to_go[seat]
                to_go[seat] = before + rewards[row, b, seat]
            is_over[row, b] = has_end[b]
            gained[row, b] = to_go[seats[row, b]] if seats[row, b] >= 0 else 0.0
        for seat in range(num_players):
            ahead[b, seat] = to_go[seat]
