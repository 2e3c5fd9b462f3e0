"""Seats 0 .. n - 1 run clockwise; a set of seats is an int64 in which seat i is bit i."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cardenvs.core.kernel import bit_writer, kernel, lowest_bit

#: Stands where a seat could be and none is; the current player of a finished table.
NO_SEAT = -1


@kernel
def seat_mask(seat: int) -> int:
    """The set that holds one seat."""
    return 1 << seat


@kernel
def all_seats(num_players: int) -> int:
    """The set of all seats of a table."""
    return (1 << num_players) - 1


@kernel
def has_seat(seats: int, seat: int) -> bool:
    """Whether a seat is in a set."""
    return (seats >> seat) & 1 != 0


@kernel
def next_seat_in(seats: int, seat: int) -> int:
    """The next seat clockwise from `seat` that is in a set, `seat` itself last of all."""
    beyond = seats & ~((2 << seat) - 1)
    return lowest_bit(beyond) if beyond else lowest_bit(seats)


@kernel
def left_of(seat: int, num_players: int) -> int:
    """The next seat clockwise."""
    return seat + 1 if seat + 1 < num_players else 0


@kernel
def right_of(seat: int, num_players: int) -> int:
    """The next seat counter-clockwise."""
    return seat - 1 if seat else num_players - 1


@kernel
def places_left_of(seat: int, places: int, num_players: int) -> int:
    """The seat so many places clockwise, at most once around."""
    found = seat + places
    return found - (num_players & ((num_players - 1 - found) >> 63))


@kernel
def relative_seat(seat: int, observer: int, num_players: int) -> int:
    """How many places a seat is to the left of the observer."""
    places = seat - observer
    return places + (num_players & (places >> 63))  # no branch: seats cannot be predicted


@kernel
def relative_seats(seats: int, observer: int, num_players: int) -> int:
    """A set of seats as the observer counts them: bit k is the seat k places to the left."""
    return (seats >> observer | seats << (num_players - observer)) & ((1 << num_players) - 1)


_write_2 = bit_writer(2)
_write_3 = bit_writer(3)
_write_4 = bit_writer(4)
_write_5 = bit_writer(5)
_write_6 = bit_writer(6)


@kernel
def write_seats(out: npt.NDArray[np.int8], at: int, seats: int, num_players: int) -> None:
    """Write a set of seats as flags, one entry a player, for two to six players."""
    if num_players == 3:
        _write_3(out, at, seats)
    elif num_players == 4:
        _write_4(out, at, seats)
    elif num_players == 2:
        _write_2(out, at, seats)
    elif num_players == 5:
        _write_5(out, at, seats)
    else:
        _write_6(out, at, seats)


@kernel
def read_seat(array: npt.NDArray[np.int8], at: int, num_players: int) -> int:
    """Read which of the flags of the players is set; NO_SEAT if none is."""
    for seat in range(num_players):
        if array[at + seat]:
            return seat
    return NO_SEAT
