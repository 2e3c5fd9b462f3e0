"""The operations on bits and entries against plain Python, and rows as Python sees them."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cardenvs.core.kernel import (
    COMPILED,
    as_record,
    bit_reader,
    bit_writer,
    entry_point,
    kernel,
    load_now,
    lowest_bit,
    new_rows,
    nth_mask,
    popcount,
    read_number,
    snapshot,
    store_now,
    write_entry,
    write_number,
)
from tests.core.kernel_programs import Workshop

WIDTHS = [1, 2, 3, 7, 8, 13, 31, 32, 33, 36, 52, 53, 63]
DTYPE = np.dtype([("trump", np.int64), ("hands", np.int64, (2,)), ("stock", np.int8, (3,))])


@kernel
def count(bits: int) -> int:
    return popcount(bits)


@kernel
def lowest(bits: int) -> int:
    return lowest_bit(bits)


@kernel
def nth(bits: int, place: int) -> int:
    return nth_mask(bits, place)


@kernel
def put_entry(out: Any, index: int, value: int) -> None:
    write_entry(out, index, value)


@kernel
def put_number(out: Any, index: int, value: int) -> None:
    write_number(out, index, value)


@kernel
def pass_on(numbers: Any, source: int, target: int) -> None:
    store_now(numbers, target, load_now(numbers, source) + 1)


@entry_point
def bump(rows: Any, i: int) -> int:
    row = rows[i]
    row.trump += 1
    row.hands[1] = row.trump << 40
    row.stock[2] = -1
    return row.trump


def writer_of(width: int) -> Callable[..., None]:
    write = bit_writer(width)

    @kernel
    def run(out: Any, offset: int, bits: int) -> None:
        write(out, offset, bits)

    return run


def reader_of(width: int) -> Callable[..., int]:
    read = bit_reader(width)

    @kernel
    def run(array: Any, offset: int) -> int:
        return read(array, offset)

    return run


def random_bits(width: int, number: int = 50) -> list[int]:
    rng = random.Random(width)
    special = [0, 1, (1 << width) - 1, 1 << width - 1]
    return special + [rng.getrandbits(width) for _ in range(number)]


@pytest.mark.parametrize("width", WIDTHS)
def test_nth_mask_holds_the_one_thing_at_a_place(width):
    for bits in random_bits(width):
        held = [index for index in range(width) if bits >> index & 1]
        assert [nth(bits, place) for place in range(len(held))] == [1 << index for index in held]


NTH_PROGRAM = """
from cardenvs.core.kernel import entry_point, nth_mask

@entry_point
def nth(bits, place):
    return nth_mask(bits, place)

print([nth(0b1011010, place) for place in range(4)], nth(1 << 62, 0))
"""


@pytest.mark.compiled
@pytest.mark.parametrize("processor", [{}, {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}])
def test_nth_mask_is_the_same_on_all_processors(tmp_path, processor):
    workshop = Workshop(tmp_path, tmp_path / "cache")
    assert workshop.run(NTH_PROGRAM, processor).output == f"[2, 8, 16, 64] {1 << 62}"


def test_popcount_and_lowest_bit() -> None:
    for bits in random_bits(63, 500) + [1 << place for place in range(63)]:
        assert count(bits) == bits.bit_count()
        if bits:
            assert lowest(bits) == next(place for place in range(63) if bits >> place & 1)


@pytest.mark.parametrize("width", WIDTHS)
def test_bit_writer_writes_its_entries_and_no_other(width: int) -> None:
    write = writer_of(width)
    for number, bits in enumerate(random_bits(width)):
        offset = number % 9
        out = np.full(width + 12, 7, np.int8)
        write(out, offset, bits)
        expected = [bits >> place & 1 for place in range(width)]
        assert out.tolist() == [7] * offset + expected + [7] * (12 - offset)


@pytest.mark.parametrize("width", WIDTHS)
def test_bit_reader_reads_what_is_not_zero(width: int) -> None:
    read = reader_of(width)
    for number, bits in enumerate(random_bits(width)):
        offset = number % 9
        array = np.full(width + 12, 1, np.int8)
        array[offset : offset + width] = [(bits >> place & 1) * 5 for place in range(width)]
        assert read(array, offset) == bits


def test_wider_set_is_cut_to_the_width() -> None:
    out = np.zeros(6, np.int8)
    writer_of(3)(out, 1, 0b11101)
    assert out.tolist() == [0, 1, 0, 1, 0, 0]


def test_entries() -> None:
    for value in range(128):
        out = np.full(5, 9, np.int8)
        put_entry(out, 2, value)
        assert out.tolist() == [9, 9, value, 9, 9]


def test_numbers_are_two_digits_lowest_first() -> None:
    for value in [*range(300), *range(300, 128 * 128, 37), 128 * 128 - 1]:
        out = np.full(6, 9, np.int8)
        put_number(out, 3, value)
        assert out.tolist() == [9, 9, 9, value % 128, value // 128, 9]
        assert read_number(out, 3) == value


def test_load_and_store() -> None:
    numbers = np.array([5, 2**62, 7], np.int64)
    pass_on(numbers, 1, 2)
    assert numbers.tolist() == [5, 2**62, 2**62 + 1]


def test_kernels_reach_fields_of_new_rows() -> None:
    rows = new_rows(3, DTYPE)
    assert not rows.view(np.uint8).any()
    assert [bump(rows, 1), bump(rows, 1)] == [1, 2]
    assert rows["trump"].tolist() == [0, 2, 0]
    assert rows["hands"][1].tolist() == [0, 2 << 40]
    assert rows["stock"][1].tolist() == [0, 0, -1]


def test_snapshot_is_plain_and_apart() -> None:
    rows = new_rows(2, DTYPE)
    bump(rows, 1)
    row = snapshot(rows, 1)
    bump(rows, 1)
    assert vars(row) == {"trump": 1, "hands": [0, 1 << 40], "stock": [0, 0, -1]}
    assert [type(value) for value in (row.trump, *row.hands, *row.stock)] == [int] * 6


def test_record_writes_to_its_row() -> None:
    rows = new_rows(2, DTYPE)
    record = as_record(rows, 1)
    record.trump, record.hands[0], record.stock[:] = 4, 5, [6, 7, 8]
    assert rows[1].tolist()[0] == 4
    assert vars(snapshot(rows, 1)) == {"trump": 4, "hands": [5, 0], "stock": [6, 7, 8]}
    assert not snapshot(rows, 0).trump


def test_mode_is_known() -> None:
    assert hasattr(count, "py_func") == hasattr(bump, "py_func") == COMPILED
