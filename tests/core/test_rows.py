"""Rows: fields declared once, and the renaming of seats."""

import numpy as np
import pytest

from cardenvs.core import rows
from cardenvs.core.kernel import as_record, new_rows, snapshot


class Row(rows.CoreRow):
    trump: int = rows.scalar()
    leader: int = rows.seat()
    active: int = rows.seats()
    hands: rows.CardSets = rows.per_seat(6)
    stock: rows.CardList = rows.card_list(5)
    melds: int = rows.seats(4)


FIELDS = rows.row_fields(Row)


def a_row(num_players: int = 4) -> np.ndarray:
    table = new_rows(1, rows.row_dtype(Row))
    row = as_record(table, 0)
    row.num_players, row.trump, row.leader, row.current_player = num_players, 3, 1, -1
    row.active = 0b0110 & ((1 << num_players) - 1)
    row.hands[:num_players] = 10 + np.arange(num_players)
    row.stock[:] = [1, 2, 3, 4, 5]
    row.melds = 0x3A1F & ((1 << 4 * num_players) - 1)
    return table


def test_fields_of_bases_come_first():
    names = list(FIELDS)
    assert names[:2] == ["num_players", "skip_forced"]
    assert names[-6:] == ["trump", "leader", "active", "hands", "stock", "melds"]
    assert list(rows.row_dtype(Row).names) == names


def test_numbers_and_sets_are_int64_and_sequences_int8():
    dtype = rows.row_dtype(Row)
    assert dtype["trump"] == dtype["active"] == np.int64
    assert dtype["hands"] == np.dtype((np.int64, (6,)))
    assert dtype["stock"] == np.dtype((np.int8, (5,)))


def test_rotate_renames_seats_and_leaves_the_rest():
    table = a_row()
    rows.rotate(table[0], FIELDS, 1)
    turned = snapshot(table, 0)
    assert (turned.leader, turned.current_player, turned.active) == (2, -1, 0b1100)
    assert turned.hands == [13, 10, 11, 12, 0, 0]
    assert turned.melds == 0xA1F3
    assert (turned.trump, turned.stock) == (3, [1, 2, 3, 4, 5])


@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_rotations_add_up(num_players):
    one_by_one, at_once = a_row(num_players), a_row(num_players)
    for _ in range(5):
        rows.rotate(one_by_one[0], FIELDS, 1)
    rows.rotate(at_once[0], FIELDS, 5)
    assert one_by_one.tobytes() == at_once.tobytes()


@pytest.mark.parametrize("places", [0, 4, -4, 40])
def test_a_full_turn_changes_nothing(places):
    table = a_row()
    rows.rotate(table[0], FIELDS, places)
    assert table.tobytes() == a_row().tobytes()


def test_a_snapshot_holds_plain_numbers_and_does_not_follow_the_row():
    table = a_row()
    taken = snapshot(table, 0)
    as_record(table, 0).trump = 1
    assert taken.trump == 3
    assert type(taken.trump) is int
    assert type(taken.hands[0]) is int
