"""Seats run clockwise; a set of seats is a bit for each."""

import itertools

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import (
    all_seats,
    has_seat,
    left_of,
    next_seat_in,
    places_left_of,
    relative_seat,
    relative_seats,
    seat_mask,
    write_seats,
)

TABLES = list(itertools.chain.from_iterable(((n, s) for s in range(n)) for n in range(2, 7)))


@kernel
def write(out: np.ndarray, at: int, seats: int, num_players: int) -> None:
    write_seats(out, at, seats, num_players)


def members(seats: int) -> list[int]:
    return [seat for seat in range(6) if seats >> seat & 1]


def test_left_of() -> None:
    for num_players, seat in TABLES:
        assert left_of(seat, num_players) == (seat + 1) % num_players


def test_sets_of_seats() -> None:
    for num_players, seat in TABLES:
        assert members(all_seats(num_players)) == list(range(num_players))
        assert members(seat_mask(seat)) == [seat]
        assert [other for other in range(6) if has_seat(0b101101, other)] == [0, 2, 3, 5]


def test_next_seat_goes_round_and_comes_back() -> None:
    for num_players, seat in TABLES:
        for seats in range(1, 1 << num_players):
            round_table = [(seat + step) % num_players for step in range(1, num_players + 1)]
            expected = next(other for other in round_table if seats >> other & 1)
            assert next_seat_in(seats, seat) == expected


def test_seats_as_an_observer_counts_them() -> None:
    for num_players, observer in TABLES:
        for seat in range(num_players):
            places = (seat - observer) % num_players
            assert relative_seat(seat, observer, num_players) == places
            assert places_left_of(observer, places, num_players) == seat
            assert relative_seats(1 << seat, observer, num_players) == 1 << places
        seats = 0b110101 & (1 << num_players) - 1
        turned = sorted((seat - observer) % num_players for seat in members(seats))
        assert members(relative_seats(seats, observer, num_players)) == turned


def test_written_as_flags() -> None:
    for num_players in range(2, 7):
        for seats in range(1 << num_players):
            out = np.full(10, 7, np.int8)
            write(out, 2, seats, num_players)
            expected = [seats >> seat & 1 for seat in range(num_players)]
            assert out.tolist() == [7, 7, *expected, *[7] * (8 - num_players)]
