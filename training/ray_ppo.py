"""Train by masked PPO on several machines: a Ray cluster plays the rollouts.

    python -m training.ray_ppo bred_ryg --preset 1h --set num_actors=8
    python -m training.ray_ppo bred_ryg --preset 1h --set num_actors=64 --address HOST:PORT

It is `training.ppo`, but that the tables stand in other processes, the actors. Each has tables of
its own and a copy of the network, plays a rollout by the weights that it is sent, assigns the
credit, and returns the decisions whose outcome is known. The learner learns from those of all
actors at once. Without `--address` the cluster is this machine, as long as the run lasts.

An actor that is lost, by its machine or by itself, is replaced by one with new deals; the rollout
that it played is played anew. So a run whose actors were lost is not the same to the bit. Nor is
one that was interrupted: `--resume` goes on with the network, the optimizer and all counters as
they were, and actors begin new deals, which the run has not played.
"""

from __future__ import annotations

import os

# As in `training.ppo`; to have an effect this comes before NumPy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import ray
import torch
from torch import distributed

from training import ppo
from training.evaluate import Report
from training.ppo import PRESETS
from training.ppo_learner import Learner
from training.processes import Processes
from training.ray_cluster import LOCAL, connected
from training.runs import check_counts
from training.self_play import PACKAGES, run_command_line, train_run

NAME = "ray_ppo"

#: How often an actor is replaced in one rollout before the run gives up.
MAX_REPLACEMENTS = 3

#: How an actor, or what it has returned, is lost.
_LOST = (
    ray.exceptions.RayActorError,
    ray.exceptions.ObjectLostError,
    ray.exceptions.OutOfMemoryError,
)


@dataclass(frozen=True, kw_only=True)
class Config(ppo.Config):
    """A run, see `training.ppo.Config`.

    Attributes:
        num_actors: how many each learner has; each actor plays `num_tables` tables, on a CPU.
        num_learners: how many processes average their gradients.
    """

    num_actors: int = 2
    num_learners: int = 1

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        check_counts(self, ("num_actors", "num_learners"))
        if self.num_learners > 1 and self.device != "cpu":
            raise ValueError(
                "num_learners counts learners on CPUs; several graphics cards learn together "
                "if torchrun starts this script"
            )


def config_of(game: str, preset: str, **changed: Any) -> Config:
    """Return a preset of `training.ppo` for a game, of as many decisions.

    Args:
        game: a full id.
        preset: a name in `PRESETS`.
        **changed: what else is not as in `Config`.
    """
    return Config(**{**vars(ppo.config_of(game, preset)), **changed})


def train(
    config: Config,
    out: Path,
    resume: bool = False,
    progress: bool = True,
    address: str = LOCAL,
) -> list[Report]:
    """Train on a cluster, measure on the test deals, and leave everything in a folder.

    Args:
        config: the run.
        out: its folder, which only this process needs to have.
        resume: go on from the folder's newest checkpoint, if there is one.
        progress: show progress bars.
        address: of the cluster, see `training.ray_cluster.connected`.

    Returns:
        As `training.self_play.train_run`, which also tells what else is raised.

    Raises:
        ValueError: also if the address is none.
        ConnectionError: if there is no such cluster.
        RuntimeError: if an actor was lost again and again, or another learner was.
    """
    with connected(address), _other_learners(config, out):
        return _learn(config, out, resume, progress)


def _learn(config: Config, out: Path, resume: bool, progress: bool) -> list[Report]:
    """Be one of the learners of a run, with actors of its own."""
    with ExitStack() as stack:

        def make_run(processes: Processes) -> Run:
            run = Run(config, processes)
            stack.callback(run.tables.dismiss)
            return run

        if config.num_learners > 1:
            stack.callback(_leave_others)
        return train_run(make_run, config, out, resume, progress, (*PACKAGES, "ray"))


class Run(ppo.Run):
    """The state of a run whose tables stand elsewhere."""

    config: Config

    def __init__(self, config: Config, processes: Processes) -> None:
        """Make the learner; the tables dealt here show whether they can be, and stay unplayed."""
        super().__init__(config, processes)
        self._actors = Actors(config, processes)

    @property
    def tables(self) -> Actors:
        """Who plays the tables."""
        return self._actors

    def play(self) -> dict[str, npt.NDArray[Any]]:
        """Let all actors play a rollout, and return the decisions whose outcome is known."""
        return self._actors.collect(self.learner, self._renewals, self._updates)

    def learn(self, played: Any) -> dict[str, float]:
        """Learn from what `play` has returned, and return what there is to log."""
        metrics = self.learner.learn_from(played)
        return metrics | {"replaced_actors": self._processes.total(self._actors.replaced)}


# ----------------------------------------------------------------------------------------------
# Actors


@dataclass(frozen=True)
class Rollout:
    """What an actor has played.

    Attributes:
        decisions: those whose outcome is known, see `Learner.credited`; [N, ...].
        num_decisions: how many were made.
        engine_seconds, opponent_seconds: as of a `Collector`.
    """

    decisions: dict[str, npt.NDArray[Any]]
    num_decisions: int
    engine_seconds: float
    opponent_seconds: float


class Alone(Processes):
    """A process that steps with no other, and whose number gives it deals of its own."""

    def __init__(self, number: int) -> None:
        self.rank = number
        self.count = 1


class Actor(ppo.Run):
    """Plays rollouts by weights that it is sent, with the opponents and the prior of the run."""

    def __init__(self, config: ppo.Config, number: int) -> None:
        """Deal the tables; no other actor of the run has the same number."""
        torch.set_num_threads(1)
        super().__init__(replace(config, device="cpu", initial=""), Alone(number))
        self._past = ""

    def process_id(self) -> int:
        """Return the number of the process on its machine."""
        return os.getpid()

    def rollout(
        self, weights: Mapping[str, npt.NDArray[Any]], past: list[Any], share: float, update: int
    ) -> Rollout:
        """Play a rollout, and assign its credit.

        Args:
            weights: of the network, see `Learner.network_snapshot`.
            past: a reference to the past selves, in a list so that Ray leaves it one.
            share: how much of the run is done.
            update: how many rollouts the run has learnt from.
        """
        learner, collector = self.learner, self.collector
        learner.share, self._updates = share, update
        learner.start_from(_own(weights))
        if past[0].hex() != self._past:
            learner.restore_past(_own(ray.get(past[0])))
            self._past = past[0].hex()
        before = collector.decisions
        buffer = self.play()
        return Rollout(
            learner.credited(buffer, self._advice()),
            collector.decisions - before,
            collector.engine_seconds,
            collector.opponent_seconds,
        )


def _own(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Return copies; what Ray hands out cannot be written to, which torch warns of."""
    return {name: array.copy() for name, array in arrays.items()}


class Actors:
    """The actors of a learner, made when they are first needed.

    Attributes:
        decisions: of the learner, in all its actors.
        replaced: how many actors were lost and replaced.
        engine_seconds, opponent_seconds: in the last rollout, the mean of the actors.
    """

    def __init__(self, config: Config, processes: Processes) -> None:
        self._config = config
        self._processes = processes
        self._incarnations = [0] * config.num_actors
        self._handles: list[Any] = []
        self._past: Any = None
        self._past_number = -1
        self.decisions = self.replaced = 0
        self.engine_seconds = self.opponent_seconds = 0.0

    def collect(self, learner: Learner, renewals: int, update: int) -> dict[str, npt.NDArray[Any]]:
        """Let all play a rollout by the learner's network; return their decisions, joined.

        Args:
            learner: whose network, past selves and schedules are played by.
            renewals: how often the past selves were renewed.
            update: how many rollouts the run has learnt from.

        Raises:
            RuntimeError: if an actor was lost again and again.
        """
        if not self._handles:
            self._handles = [self._made(place) for place in range(len(self._incarnations))]
        if self._past_number != renewals:
            self._past, self._past_number = ray.put(learner.past_snapshot()), renewals
        order = (ray.put(learner.network_snapshot()), [self._past], learner.share, update)
        asked = [handle.rollout.remote(*order) for handle in self._handles]
        rollouts = [self._answer(place, order, answer) for place, answer in enumerate(asked)]
        self.decisions += sum(rollout.num_decisions for rollout in rollouts)
        self.engine_seconds = _mean(rollout.engine_seconds for rollout in rollouts)
        self.opponent_seconds = _mean(rollout.opponent_seconds for rollout in rollouts)
        return {
            name: np.concatenate([rollout.decisions[name] for rollout in rollouts])
            for name in rollouts[0].decisions
        }

    def _answer(self, place: int, order: tuple[Any, ...], answer: Any) -> Rollout:
        """Wait for an actor's rollout; if the actor is lost, for that of the next in its place."""
        replaced = 0
        while True:
            try:
                rollout: Rollout = ray.get(answer)
            except _LOST as error:
                if replaced == MAX_REPLACEMENTS:
                    raise RuntimeError(
                        f"actor {place} was lost {replaced + 1} times in one rollout; "
                        f"the last time Ray said: {error}"
                    ) from error
                replaced += 1
                self._replace(place)
                answer = self._handles[place].rollout.remote(*order)
            else:
                return rollout

    def _replace(self, place: int) -> None:
        ray.kill(self._handles[place])  # it may only have been out of reach
        self._incarnations[place] += 1
        self.replaced += 1
        self._handles[place] = self._made(place)

    def _made(self, place: int) -> Any:
        """Make an actor, which claims a processor if the cluster has one for each."""
        config, processes = self._config, self._processes
        everybody = config.num_actors * processes.count
        has_enough = ray.cluster_resources().get("CPU", 0.0) >= everybody
        options = {"num_cpus": int(has_enough), "scheduling_strategy": "SPREAD"}
        incarnation = self._incarnations[place]
        number = number_of(place, incarnation, config.num_actors, processes)
        return ray.remote(Actor).options(**options).remote(config, number)

    def process_ids(self) -> list[int]:
        """Return the numbers of the actors' processes, each on its machine."""
        numbers: list[int] = ray.get([handle.process_id.remote() for handle in self._handles])
        return numbers

    def dismiss(self) -> None:
        """End all actors."""
        for handle in self._handles:
            ray.kill(handle)
        self._handles = []

    def snapshot(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return no arrays, and the counters."""
        return {}, {
            "decisions": self.decisions,
            "incarnations": list(self._incarnations),
            "replaced": self.replaced,
        }

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Go on with new actors, whose deals are others than those before."""
        self.dismiss()
        self.decisions, self.replaced = values["decisions"], values["replaced"]
        self._incarnations = [number + 1 for number in values["incarnations"]]


def number_of(place: int, incarnation: int, num_actors: int, processes: Processes) -> int:
    """Return the number of an actor, which no other of the run has, nor a learner.

    Args:
        place: of the actor among those of its learner.
        incarnation: how many were in its place before.
        num_actors: of each learner.
        processes: the learners, of which this one is the actor's.
    """
    actor = processes.rank * num_actors + place
    return processes.count + incarnation * processes.count * num_actors + actor


def _mean(numbers: Iterator[float]) -> float:
    return float(np.mean(list(numbers)))


# ----------------------------------------------------------------------------------------------
# Other learners


class OtherLearner:
    """A learner in a process of the cluster, which joins the first one as `torchrun` has it."""

    def is_ready(self) -> bool:
        """Return that the process is there and has all that it needs."""
        return True

    def learn(self, config: Config, out: Path, environment: Mapping[str, str]) -> None:
        """Learn to the end of the run, which the first learner leads."""
        os.environ.update(environment)
        _learn(config, out, resume=True, progress=False)


@contextmanager
def _other_learners(config: Config, out: Path) -> Iterator[None]:
    """Let this process be the first of several learners, and start the others.

    Raises:
        ValueError: if `torchrun` has started this process.
    """
    if config.num_learners == 1:
        yield
        return
    if "WORLD_SIZE" in os.environ:
        raise ValueError("torchrun tells how many learners there are; leave num_learners at 1")
    address = ray.util.get_node_ip_address()
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    shared = {
        "WORLD_SIZE": str(config.num_learners),
        "MASTER_ADDR": address,
        "MASTER_PORT": str(port),
    }
    spread = ray.remote(OtherLearner).options(scheduling_strategy="SPREAD")
    others = [spread.remote() for _ in range(1, config.num_learners)]
    try:
        ray.get([other.is_ready.remote() for other in others])
        ends = [
            other.learn.remote(config, out, shared | {"RANK": str(rank)})
            for rank, other in enumerate(others, start=1)
        ]
        with _environment(shared | {"RANK": "0"}):
            yield
        ray.get(ends)
    finally:
        for other in others:
            ray.kill(other)


def _leave_others() -> None:
    """Part from the other learners, who would else wait for one that has failed."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Have variables set that were not."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line: that of `training.ppo`, and `--address`."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--address", default=LOCAL)
    given, others = parser.parse_known_args(arguments)
    train_there = partial(train, address=given.address)
    run_command_line(NAME, __doc__, PRESETS, config_of, train_there, others)


if __name__ == "__main__":
    from training import ray_ppo

    ray_ppo.main()  # so that its classes are known by a name that other processes can import
