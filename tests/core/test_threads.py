"""The threads that share out a batch: each table done once a call, sleepers woken, all gone."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from cardenvs.core.kernel import kernel
from cardenvs.core.threads import NOTHING, PART, Team, team_kernel

NUM_TABLES = 5 * PART + 3
ADD, SUBTRACT, ADD_AND_SUBTRACT = 0, 1, 2


@kernel
def add(tables: Any, begin: int, end: int, command: int, argument: int) -> None:
    """Add to each table of the range, so that a table done twice or left out is seen."""
    for i in range(begin, end):
        tables[i] += -argument if command == SUBTRACT else argument


@kernel
def next_command(tables: Any, command: int) -> int:
    return SUBTRACT if command == ADD_AND_SUBTRACT else NOTHING


WORK = team_kernel(add, next_command)


@pytest.fixture(params=[1, 2, 3])
def team(request: pytest.FixtureRequest) -> Iterator[Team]:
    team = Team(request.param, NUM_TABLES, WORK)
    yield team
    team.close()


@pytest.fixture
def tables() -> np.ndarray:
    return np.zeros(NUM_TABLES, np.int64)


def wait_until(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def are_asleep(team: Team) -> bool:
    return all(worker.is_asleep for worker in team._workers)


def test_every_call_does_every_table_once(team: Team, tables: np.ndarray, num_games: int) -> None:
    expected = 0
    for call in range(50 * num_games):
        team.run(tables, ADD, call)
        expected += call
        assert (tables == expected).all()


def test_command_and_argument_reach_all_tables(team: Team, tables: np.ndarray) -> None:
    team.run(tables, ADD, 2**40)
    team.run(tables, SUBTRACT, 3)
    assert (tables == 2**40 - 3).all()


def test_a_command_follows_when_the_first_is_done_everywhere(
    team: Team, tables: np.ndarray
) -> None:
    for call in range(50):
        team.run(tables, ADD_AND_SUBTRACT, call)
        assert not tables.any()


def test_sleeping_workers_are_woken(team: Team, tables: np.ndarray) -> None:
    for call in range(1, 6):
        team.run(tables, ADD, 1)
        assert (tables == call).all()
        wait_until(lambda: are_asleep(team))


def test_calls_at_all_distances(team: Team, tables: np.ndarray) -> None:
    """Around the moment in which workers fall asleep."""
    for call in range(1, 60):
        team.run(tables, ADD, 1)
        assert (tables == call).all()
        time.sleep(call * 2e-5)


def hired_since(before: set[threading.Thread]) -> int:
    """Count the threads begun since; those of earlier tests may still be ending."""
    return len(set(threading.enumerate()) - before)


def test_workers_end_and_are_hired_anew(team: Team, tables: np.ndarray) -> None:
    before = set(threading.enumerate())
    for call in range(1, 4):
        team.run(tables, ADD, 1)
        assert (tables == call).all()
        assert hired_since(before) == len(team._workers)
        team.close()
        wait_until(lambda: hired_since(before) == 0)


def test_workers_of_a_dropped_team_end(tables: np.ndarray) -> None:
    before = set(threading.enumerate())
    team = Team(3, NUM_TABLES, WORK)
    team.run(tables, ADD, 1)
    assert hired_since(before) == 2
    del team
    gc.collect()
    wait_until(lambda: hired_since(before) == 0)


def test_parts_of_a_thread_that_does_not_come_are_done_by_others(tables: np.ndarray) -> None:
    team = Team(3, NUM_TABLES, WORK)
    team._num_workers = 0  # nobody is hired
    for call in range(1, 4):
        team.run(tables, ADD, 1)
        assert (tables == call).all()


def test_fewer_tables_than_threads() -> None:
    team, tables = Team(3, 2, WORK), np.zeros(2, np.int64)
    for _ in range(20):
        team.run(tables, ADD, 1)
    team.close()
    assert tables.tolist() == [20, 20]
