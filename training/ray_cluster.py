"""Work on a Ray cluster: the connection, and tasks whose results come in their order.

Every machine of the cluster has the checkout, installed as the README says, with the same versions.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import ray

#: The address of a cluster that is made for the occasion, of this machine alone.
LOCAL = "local"
#: The address of a cluster that this machine belongs to.
AUTO = "auto"

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def connected(address: str = LOCAL) -> Iterator[None]:
    """Be connected to a cluster; a connection that is there already is used, and stays.

    Args:
        address: of a cluster, as "HOST:PORT" or "auto", or "local" for one that ends afterwards.

    Raises:
        ValueError: if it is no address.
        ConnectionError: if there is no cluster.
    """
    if ray.is_initialized():
        yield
        return
    if address not in (LOCAL, AUTO):
        _knock_at(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # What this process can import, others can: also where the checkout is not installed.
    paths = [str(Path(__file__).parents[1]), *filter(None, sys.path)]
    ray.init(
        address,
        include_dashboard=False if address == LOCAL else None,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}},
        logging_level=logging.WARNING,
        log_to_driver=False,
    )
    try:
        yield
    finally:
        ray.shutdown()


def _knock_at(address: str) -> None:
    """Fail at once where nobody answers; Ray would try for minutes."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise ValueError(f"a cluster's address is HOST:PORT, {AUTO} or {LOCAL}, not {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(f"no Ray cluster answers at {address}: {error}") from error


def results_of(
    function: Callable[[Item], Result], items: Sequence[Item], address: str = LOCAL
) -> Iterator[Result]:
    """Call a function with every item, each call a task of a cluster; yield what they return.

    A task whose machine is lost is begun anew elsewhere.

    Args:
        function: of a module that the other machines can import.
        items: what it is called with.
        address: see `connected`, which also tells what is raised.
    """
    with connected(address):
        task: Any = ray.remote(function).options(num_cpus=1, scheduling_strategy="SPREAD")
        for waiting in [task.remote(item) for item in items]:
            yield ray.get(waiting)
