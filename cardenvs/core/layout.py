"""What the entries of observations and the ids of actions mean: said once, used everywhere.

Spaces, the offsets at which kernels write, bounds, decoding and the tables in the docs all come
from the layouts here. P is the number of players.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

#: Numbers that do not fit one int8 entry are written as digits of this base, the lowest first.
DIGIT_BASE = 128


@dataclass(frozen=True)
class Piece:
    """A named part of an observation.

    Attributes:
        name: by which it is decoded.
        size: how many entries (for each player, if per_player).
        kind: how it decodes: "flags" (a set of labels), "one_hot" (a label or None) or
            "number" (its entries are digits of base 128, lowest first).
        description: what it says, for the docs.
        labels: what each of the entries stands for; empty for numbers.
        per_player: repeated for each seat, the observer's own first, then clockwise.
        high: the largest value of an entry.
    """

    name: str
    size: int
    kind: str
    description: str
    labels: tuple[str, ...] = ()
    per_player: bool = False
    high: int = 1

    def decode(self, entries: npt.NDArray[np.int8]) -> Any:
        """Return what the entries of one seat, or of the table, say."""
        if self.kind == "number":
            return sum(int(digit) * DIGIT_BASE**place for place, digit in enumerate(entries))
        names = [self.labels[index] for index in np.flatnonzero(entries)]
        if self.kind == "flags":
            return names
        return names[0] if names else None


def flags(name: str, labels: Sequence[str], description: str, per_player: bool = False) -> Piece:
    """Describe a set, one bit for each thing that may be in it."""
    return Piece(name, len(labels), "flags", description, tuple(labels), per_player)


def one_hot(name: str, labels: Sequence[str], description: str) -> Piece:
    """Describe one of several labels, or none of them."""
    return Piece(name, len(labels), "one_hot", description, tuple(labels))


def flag(name: str, description: str, per_player: bool = False) -> Piece:
    """Describe a yes or no."""
    return Piece(name, 1, "number", description, per_player=per_player)


def number(name: str, high: int, description: str, per_player: bool = False) -> Piece:
    """Describe a count from 0 to `high`; from 128 on it takes two entries."""
    size = 1 if high < DIGIT_BASE else 2
    return Piece(
        name, size, "number", description, (), per_player, high if size == 1 else DIGIT_BASE - 1
    )


class ObservationLayout:
    """The entries of one game's observation for one number of players."""

    def __init__(self, pieces: Sequence[Piece], num_players: int) -> None:
        self.pieces = tuple(pieces)
        self.num_players = num_players
        sizes = [self._size(piece) for piece in self.pieces]
        ends = np.cumsum(sizes).tolist()
        self.size: int = ends[-1]
        self.slices: dict[str, slice] = {
            piece.name: slice(end - size, end)
            for piece, size, end in zip(self.pieces, sizes, ends, strict=True)
        }

    def _size(self, piece: Piece) -> int:
        return piece.size * (self.num_players if piece.per_player else 1)

    @cached_property
    def high(self) -> npt.NDArray[np.int8]:
        """The largest value of each entry, int8 [O]; the smallest is 0."""
        return np.concatenate([np.full(self._size(p), p.high, np.int8) for p in self.pieces])

    @cached_property
    def scale(self) -> npt.NDArray[np.float32]:
        """What learners multiply an observation by to have it in [0, 1], float32 [O]."""
        return (1.0 / self.high).astype(np.float32)

    def decode(self, observation: npt.NDArray[np.int8]) -> dict[str, Any]:
        """Read an observation, int8 [O], back into names.

        Returns:
            For each piece its cards or labels (a list), its one label (or None) or its number;
            for a piece repeated per player a list of these, the observer's first.

        Raises:
            ValueError: if the observation has not the size of this layout.
        """
        if observation.shape != (self.size,):
            raise ValueError(
                f"an observation here has shape ({self.size},), not {observation.shape}"
            )
        decoded: dict[str, Any] = {}
        for piece in self.pieces:
            entries = observation[self.slices[piece.name]]
            if piece.per_player:
                rows = entries.reshape(self.num_players, piece.size)
                decoded[piece.name] = [piece.decode(row) for row in rows]
            else:
                decoded[piece.name] = piece.decode(entries)
        return decoded

    def table(self) -> str:
        """Return the layout as a table in Markdown."""
        lines = ["| Entries | Name | Shape | Values | Meaning |", "|---|---|---|---|---|"]
        for piece in self.pieces:
            part = self.slices[piece.name]
            rows = f"({self.num_players}, {piece.size})" if piece.per_player else f"({piece.size},)"
            entries = f"{part.start}..{part.stop - 1}"
            lines.append(
                f"| {entries} | `{piece.name}` | {rows} | 0..{piece.high} | {piece.description} |"
            )
        return "\n".join(lines)


def piece_offsets(pieces: Sequence[Piece], max_players: int) -> npt.NDArray[np.int64]:
    """Return where each piece begins, int64 [max_players + 1, pieces], for kernels to write at."""
    offsets = np.zeros((max_players + 1, len(pieces)), np.int64)
    for num_players in range(1, max_players + 1):
        layout = ObservationLayout(pieces, num_players)
        offsets[num_players] = [layout.slices[piece.name].start for piece in pieces]
    return offsets


def piece_index(pieces: Iterable[Piece], name: str) -> int:
    """Return the column of a piece in `piece_offsets`."""
    return [piece.name for piece in pieces].index(name)


@dataclass(frozen=True)
class ActionRange:
    """Consecutive action ids of one kind."""

    name: str
    size: int
    description: str


class ActionLayout:
    """The action ids of a game."""

    def __init__(self, *ranges: ActionRange) -> None:
        self.ranges = ranges
        ends = np.cumsum([part.size for part in ranges]).tolist()
        self.size: int = ends[-1]
        self.slices: dict[str, slice] = {
            part.name: slice(end - part.size, end) for part, end in zip(ranges, ends, strict=True)
        }

    def table(self) -> str:
        """Return the layout as a table in Markdown."""
        lines = ["| Ids | Name | Meaning |", "|---|---|---|"]
        for part in self.ranges:
            ids = self.slices[part.name]
            last = ids.stop - 1
            span = f"{ids.start}..{last}" if part.size > 1 else f"{last}"
            lines.append(f"| {span} | `{part.name}` | {part.description} |")
        return "\n".join(lines)
