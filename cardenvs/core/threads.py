"""Threads that share out the tables of a step.

A step of a few thousand tables takes a fraction of a millisecond, about as long as it takes to
wake a sleeping thread or to hand over Python's lock. So the threads talk through a *board*, a
few numbers in memory, and stay in compiled code without the lock: the caller raises the number
of calls, the workers watch it, do their part and note the call as done. Who has watched in vain
for a moment goes back to Python and sleeps.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np

from cardenvs.core.kernel import COMPILED, entry_point, kernel, load_now, store_now

#: Places on the board, int64 [16 + 8 * workers]: the number of calls, what is to be done and with
#: which number; then, eight apart (a cache line each), the last call that each worker has done.
CALLS, COMMAND, ARGUMENT, DONE = 0, 1, 2, 16
SPACING = 8

#: How often a thread looks at the board before it sleeps: some tenths of a millisecond.
LOOKS = 100_000 if COMPILED else 1

#: Seconds for which the caller gives up its processor to a worker that is not there yet.
PAUSE = 1e-4

Part = Callable[[Any, int, int, int, int], None]


@kernel
def _missing_worker(board: Any, looks: int) -> int:
    """Watch until all workers have done the last call; return one that has not, or -1."""
    for worker in range((board.shape[0] - DONE) // SPACING):
        place = DONE + SPACING * worker
        while load_now(board, place) < board[CALLS]:
            looks -= 1
            if looks < 0:
                return worker
    return -1


@entry_point
def wait_for_workers(board: Any, looks: int) -> int:
    """Watch until all workers have done the last call; return one that has not, or -1."""
    return _missing_worker(board, looks)


def team_kernels(take_part: Part) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Compile what the caller and the workers run around `take_part`.

    Args:
        take_part: a kernel (tables, begin, end, command, argument) that does a command for the
            tables of a range.

    Returns:
        lead: (tables, begin, end, command, argument, board, looks) -> a missing worker or -1.
        serve: (tables, begin, end, board, worker, looks).
    """

    @entry_point
    def lead(
        tables: Any, begin: int, end: int, command: int, argument: int, board: Any, looks: int
    ) -> int:
        board[COMMAND] = command
        board[ARGUMENT] = argument
        store_now(board, CALLS, board[CALLS] + 1)
        take_part(tables, begin, end, command, argument)
        return _missing_worker(board, looks)

    @entry_point
    def serve(tables: Any, begin: int, end: int, board: Any, worker: int, looks: int) -> None:
        place = DONE + SPACING * worker
        idle = 0
        while idle < looks:
            idle += 1
            call = load_now(board, CALLS)
            if call > board[place]:
                take_part(tables, begin, end, board[COMMAND], board[ARGUMENT])
                store_now(board, place, call)
                idle = 0

    return lead, serve


class Team:
    """The caller's thread and, beyond one, workers, each with its range of the tables."""

    def __init__(
        self, num_threads: int, num_tables: int, lead: Callable[..., Any], serve: Callable[..., Any]
    ) -> None:
        self._bounds = [num_tables * part // num_threads for part in range(num_threads + 1)]
        self._board = np.zeros(DONE + SPACING * (num_threads - 1), np.int64)
        self._lead = lead
        self._serve = serve
        self._workers: list[_Worker] = []
        weakref.finalize(self, _dismiss, self._workers)

    def run(self, tables: Any, command: int, argument: int) -> None:
        """Have a command done for all tables."""
        self._wake(tables)
        begin, end = self._bounds[:2]
        missing = self._lead(tables, begin, end, command, argument, self._board, LOOKS)
        while missing >= 0:  # it sleeps, or has no processor to run on: leave it this one
            self._workers[missing].wake()
            time.sleep(PAUSE)
            missing = wait_for_workers(self._board, LOOKS)

    def _wake(self, tables: Any) -> None:
        for worker in self._workers:
            if worker.is_asleep:
                worker.wake()
        while len(self._workers) < len(self._bounds) - 2:
            index = len(self._workers)
            begin, end = self._bounds[index + 1 : index + 3]
            self._workers.append(_Worker(self._serve, tables, begin, end, self._board, index))

    def close(self) -> None:
        """End the workers; a later call hires new ones."""
        _dismiss(self._workers)


class _Worker:
    """A thread that serves one range of the tables, asleep when nothing is called for a while."""

    def __init__(
        self, serve: Callable[..., Any], tables: Any, begin: int, end: int, board: Any, index: int
    ) -> None:
        self.is_asleep = False
        self._is_dismissed = False
        self._alarm: SimpleQueue[None] = SimpleQueue()
        self._arguments = (tables, begin, end, board, index, LOOKS)
        self._serve = serve
        self._done = board[DONE + SPACING * index :]
        self._done[0] = board[CALLS]
        threading.Thread(target=self._work, daemon=True).start()

    def wake(self) -> None:
        self._alarm.put(None)

    def dismiss(self) -> None:
        self._is_dismissed = True
        self.wake()

    def _work(self) -> None:
        board = self._arguments[3]
        while not self._is_dismissed:
            self._serve(*self._arguments)
            self.is_asleep = True
            # A call raised just now is seen here, or its caller finds this worker missing.
            if board[CALLS] == self._done[0] and not self._is_dismissed:
                self._alarm.get()
            self.is_asleep = False


def _dismiss(workers: list[_Worker]) -> None:
    while workers:
        workers.pop().dismiss()
