"""Threads that share out the tables of a step.

A step of a few thousand tables takes a fraction of a millisecond, about as long as it takes to
wake a sleeping thread or to hand over Python's lock. So the threads talk through a *board*, a
few numbers in memory, and stay in compiled code without the lock: the caller writes what is to
be done and opens the tables, and every thread takes part after part of its own range, from the
front. Who has done takes parts of the other ranges, from the back: so a thread that is slow, or
late, or without a processor is helped, and most tables stay with the processor that knows them
from the last step. A worker that has watched in vain for a moment goes back to Python and sleeps.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np

from cardenvs.core.kernel import COMPILED, add_now, entry_point, kernel, load_now, store_now

#: Places on the board, int64 [8 * (2 + threads)]: what is to be done and with which number; the
#: number of tables done; then, for each thread, its range: how many parts have been taken, where
#: it begins and where it ends. What threads write to is eight places apart, a cache line.
COMMAND, ARGUMENT, DONE, RANGES, SPACING = 0, 1, 8, 16, 8
TAKEN, BEGIN, END = 0, 1, 2

#: The parts taken of a range are counted in one number: those from the front, and in units of
#: this those from the back.
BACK = 2**32

#: What a command is followed by if it is the last.
NOTHING = -1

#: How many tables are taken at a time: some microseconds of work.
PART = 64

#: How often a thread looks at the board before it gives up: some tenths of a millisecond.
LOOKS = 100_000 if COMPILED else 1

#: Seconds for which the caller gives up its processor while the last parts are in other hands.
PAUSE = 1e-4

DoPart = Callable[[Any, int, int, int, int], None]
NextCommand = Callable[[Any, int], int]


def team_kernel(do_part: DoPart, next_command: NextCommand) -> Callable[..., int]:
    """Compile what the caller and the workers run around the work itself.

    Args:
        do_part: a kernel (tables, begin, end, command, argument) that does a command for the
            tables of a range.
        next_command: a kernel (tables, command) that says which command follows, with the same
            argument, when one has been done for all tables; NOTHING after the last.

    Returns:
        work: (tables, board, thread, command, argument, is_begun, looks) -> the command whose
        last parts are in other hands, to be called with again as one that `is_begun`, or NOTHING
        if all is done. Thread 0 is the caller; what others give as a command does not matter.
    """

    @kernel
    def open_tables(board: Any, command: int, argument: int) -> None:
        board[COMMAND] = command
        board[ARGUMENT] = argument
        board[DONE] = 0
        for place in range(RANGES, board.shape[0], SPACING):
            store_now(board, place + TAKEN, 0)

    @entry_point
    def work(
        tables: Any,
        board: Any,
        thread: int,
        command: int,
        argument: int,
        is_begun: bool,
        looks: int,
    ) -> int:
        num_threads = (board.shape[0] - RANGES) // SPACING
        num_tables = board[board.shape[0] - SPACING + END]
        is_caller = thread == 0
        if is_caller and not is_begun:
            open_tables(board, command, argument)
        idle = 0
        while idle < looks:
            idle += 1
            done = 0
            offset = 0  # of the thread whose range it is
            while offset < num_threads:
                place = RANGES + SPACING * ((thread + offset) % num_threads)
                begin, end = board[place + BEGIN], board[place + END]
                num_parts = (end - begin + PART - 1) // PART
                taken = load_now(board, place + TAKEN)
                if taken % BACK + taken // BACK < num_parts:
                    taken = add_now(board, place + TAKEN, BACK if offset else 1)
                front, back = taken % BACK, taken // BACK
                if front + back >= num_parts:
                    if not (is_caller or done):
                        break  # a worker comes when its own range opens
                    offset += 1
                    continue
                # What the board says now cannot change before this part is done.
                part_begin = begin + PART * (num_parts - 1 - back if offset else front)
                part_end = min(part_begin + PART, end)
                do_part(tables, part_begin, part_end, board[COMMAND], board[ARGUMENT])
                done += part_end - part_begin
                offset = 0
            if done:
                add_now(board, DONE, done)
                idle = 0
            if is_caller and load_now(board, DONE) == num_tables:
                command = next_command(tables, command)
                if command == NOTHING:
                    break
                open_tables(board, command, argument)
                idle = 0
        return command

    return work


class Team:
    """The caller's thread and, beyond one, workers that help it."""

    def __init__(self, num_threads: int, num_tables: int, work: Callable[..., int]) -> None:
        self._board = np.zeros(RANGES + SPACING * num_threads, np.int64)
        for thread in range(num_threads):
            place = RANGES + SPACING * thread
            self._board[place + BEGIN] = num_tables * thread // num_threads
            self._board[place + END] = num_tables * (thread + 1) // num_threads
            self._board[place + TAKEN] = num_tables  # more than there are parts
        self._work = work
        self._num_workers = num_threads - 1
        self._workers: list[_Worker] = []
        weakref.finalize(self, _dismiss, self._workers)

    def run(self, tables: Any, command: int, argument: int) -> None:
        """Have a command, and what follows it, done for all tables."""
        for worker in self._workers:
            if worker.is_asleep:
                worker.wake()
        command = self._work(tables, self._board, 0, command, argument, False, LOOKS)
        while command != NOTHING:  # a worker has lost its processor: leave it this one
            time.sleep(PAUSE)
            command = self._work(tables, self._board, 0, command, argument, True, LOOKS)
        # Hired for the next call, so that the first compiles the work before others want it.
        while len(self._workers) < self._num_workers:
            thread = len(self._workers) + 1
            self._workers.append(_Worker(self._work, tables, self._board, thread))

    def close(self) -> None:
        """End the workers; a later call hires new ones."""
        _dismiss(self._workers)


class _Worker:
    """A thread that takes part in what the board says, and sleeps when that is nothing."""

    def __init__(self, work: Callable[..., int], tables: Any, board: Any, thread: int) -> None:
        self.is_asleep = False
        self._is_dismissed = False
        self._alarm: SimpleQueue[None] = SimpleQueue()
        self._work = work
        self._arguments = (tables, board, thread, NOTHING, 0, True, LOOKS)
        threading.Thread(target=self._serve, daemon=True).start()

    def wake(self) -> None:
        self.is_asleep = False
        self._alarm.put(None)

    def dismiss(self) -> None:
        self._is_dismissed = True
        self.wake()

    def _serve(self) -> None:
        while not self._is_dismissed:
            self._work(*self._arguments)
            self.is_asleep = True
            self._alarm.get()


def _dismiss(workers: list[_Worker]) -> None:
    while workers:
        workers.pop().dismiss()
