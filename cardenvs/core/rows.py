"""The row of a table: its fields, declared once as a class, give the dtype and the types.

    class Row(CoreRow):
        trump: int = scalar()
        hands: CardSets = per_seat(6)

`row_dtype(Row)` is the structured dtype; kernels annotate the row as `state: Row`. A field's
kind says how it turns when the seats are renamed, so `rotate` works for every game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
CardMask = int
CardSets = npt.NDArray[np.int64]
CardList = npt.NDArray[np.int8]
Mask = npt.NDArray[np.int8]
Observation = npt.NDArray[np.int8]
Rows = npt.NDArray[Any]


@dataclass(frozen=True)
class Field:
    """One field of a row; `kind` is plain, seat, seats (bits for each), per_seat or per_team."""

    kind: str
    dtype: type[np.signedinteger[Any]] = np.int64
    shape: tuple[int, ...] = ()
    bits: int = 1


def scalar() -> Any:
    """Declare an int64 that does not speak of seats."""
    return Field("plain")


def seat() -> Any:
    """Declare an int64 that is a seat, or NO_SEAT."""
    return Field("seat")


def seats(bits: int = 1) -> Any:
    """Declare an int64 that is a set of seats, or holds a few bits for each seat."""
    return Field("seats", bits=bits)


def per_seat(max_players: int) -> Any:
    """Declare an int64 for every seat."""
    return Field("per_seat", shape=(max_players,))


def per_team() -> Any:
    """Declare an int64 for each of two teams, whose players sit alternately."""
    return Field("per_team", shape=(2,))


def card_list(length: int) -> Any:
    """Declare a sequence of card ids (int8; kernels read it through `card_at`)."""
    return Field("plain", np.int8, (length,))


def words(length: int) -> Any:
    """Declare a few int64 that do not speak of seats."""
    return Field("plain", shape=(length,))


class CoreRow:
    """What every table has; `current_player` is the seat asked now, NO_SEAT at the end."""

    num_players: int = scalar()
    skip_forced: int = scalar()
    seed: int = scalar()
    episode: int = scalar()
    deal_number: int = scalar()
    rng: Ints = words(2)
    current_player: int = seat()
    truncated: int = scalar()


def row_fields(row: type[CoreRow]) -> dict[str, Field]:
    """Return the fields of a row class by name, those of its bases first."""
    return {
        name: value
        for part in reversed(row.__mro__)
        for name, value in vars(part).items()
        if isinstance(value, Field)
    }


def row_dtype(row: type[CoreRow]) -> np.dtype[Any]:
    """Return the dtype of a table's row."""
    fields = row_fields(row)
    return np.dtype(
        [(name, field.dtype, field.shape) for name, field in fields.items()], align=True
    )


def rotate(row: Any, fields: dict[str, Field], places: int) -> None:
    """Rename the seats of a row in place: what was at seat s is then at seat s + places.

    Args:
        row: an element of an array of rows.
        fields: `row_fields` of its class.
        places: how far to turn clockwise, modulo the number of players.
    """
    num_players = int(row["num_players"])
    places %= num_players
    for name, field in fields.items():
        if field.kind == "seat" and row[name] >= 0:
            row[name] = (row[name] + places) % num_players
        elif field.kind == "seats":
            held, width = int(row[name]), field.bits
            turned = held << places * width | held >> (num_players - places) * width
            row[name] = turned & ((1 << num_players * width) - 1)
        elif field.kind == "per_team":
            row[name][:] = np.roll(row[name], places)
        elif field.kind == "per_seat":
            row[name][:num_players] = np.roll(row[name][:num_players], places)
