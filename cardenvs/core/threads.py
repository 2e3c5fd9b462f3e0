"""A few threads that share out the tables of a step; kernels run without Python's lock."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

_Task = tuple[Callable[..., Any], tuple[Any, ...]]
_Queue = SimpleQueue[Any]


class Team:
    """The caller's thread and, beyond one, workers that wait for their part of a call."""

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self._results: _Queue = SimpleQueue()
        self._tasks: list[_Queue] = []
        self._dismiss = weakref.finalize(self, _dismiss, self._tasks)

    def run(self, function: Callable[..., Any], count: int, first: Any, *arguments: Any) -> None:
        """Call `function(first, begin, end, *arguments)` over ranges that cover 0 .. count - 1."""
        workers = self.num_threads - 1
        if not workers:
            function(first, 0, count, *arguments)
            return
        self._hire(workers)
        bounds = [count * part // self.num_threads for part in range(self.num_threads + 1)]
        for tasks, begin, end in zip(self._tasks, bounds[1:], bounds[2:], strict=False):
            tasks.put((function, (first, begin, end, *arguments)))
        try:
            function(first, 0, bounds[1], *arguments)
        finally:
            errors = [self._results.get() for _ in range(workers)]
        for error in filter(None, errors):
            raise error

    def close(self) -> None:
        """End the workers; a later call hires new ones."""
        _dismiss(self._tasks)

    def _hire(self, workers: int) -> None:
        while len(self._tasks) < workers:
            tasks: _Queue = SimpleQueue()
            self._tasks.append(tasks)
            threading.Thread(target=_work, args=(tasks, self._results), daemon=True).start()


def _work(tasks: _Queue, results: _Queue) -> None:
    while (task := tasks.get()) is not None:
        function, arguments = task
        try:
            function(*arguments)
            results.put(None)
        except BaseException as error:
            results.put(error)


def _dismiss(tasks: list[_Queue]) -> None:
    while tasks:
        tasks.pop().put(None)
