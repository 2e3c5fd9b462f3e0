"""A run in which every seat learns, whatever it learns by: tables, learner, opponents and books.

The folder of a run holds

    config.json       what was run, with which versions
    checkpoints/      the newest states of the run, from which `--resume` goes on bit for bit
    snapshots/        the policy at each point of the curve, for `agents.learned.load_network`
    policy.npz        the last of them
    log.csv, tensorboard/   losses and speed of every update
    curve.csv, .png   strength on the dev deals while training
    evaluation*       the tables on the test deals: text, Markdown, JSON
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt
import torch
from tqdm import tqdm

from agents.base import Agent
from cardenvs.core.rng import combine
from training.checkpoints import below, load_checkpoint, save_checkpoint
from training.evaluate import Report
from training.learner import NUM_RENEWALS, Learner
from training.logs import RunLog
from training.players import check_players, read_player
from training.processes import Processes
from training.rollout import Collector
from training.run_folder import claim_folder
from training.runs import (
    RunConfig,
    Strength,
    about_run,
    check_counts,
    final_reports,
    read_run,
    training_games,
)

#: The opponents that are the learner's past selves.
PAST = "past"

#: Those whose versions a run is told with.
PACKAGES = ("numpy", "numba", "torch")


@dataclass(frozen=True, kw_only=True)
class SelfPlayConfig(RunConfig):
    """What every run has in which all seats learn.

    Attributes:
        num_tables, num_steps: a rollout is so many decisions at each of so many tables.
        opponents: the share of the tables at which the learner sits alone (or as one team) among
            each kind: any player as in `training.players`, or "past" for past selves.
    """

    num_tables: int = 512
    num_steps: int = 32
    opponents: dict[str, float] = field(default_factory=lambda: {"hints": 0.3})

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        check_counts(self, ("num_tables", "num_steps"))
        shares = self.opponents.values() if isinstance(self.opponents, Mapping) else [""]
        if not all(isinstance(share, int | float) for share in shares):
            raise ValueError(f"opponents have names and shares, unlike {self.opponents!r}")


class Tables(Protocol):
    """Whoever plays the tables of a run in this process, see `training.rollout.Collector`."""

    decisions: int
    engine_seconds: float
    opponent_seconds: float

    def snapshot(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return, as arrays and as plain values, all that the next rollout depends on."""

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Go on from where a snapshot was taken."""


class NetworkPlayer(Agent, Protocol):
    """An agent that plays by a copy of a network."""

    def save(self, file: Path, about: Mapping[str, Any] | None = None) -> None:
        """Write it, and what it is, to a file that `training.players` reads."""


def train_run(
    make_run: Callable[[Processes], Run],
    config: SelfPlayConfig,
    out: Path,
    resume: bool,
    progress: bool,
    packages: Sequence[str] = PACKAGES,
) -> list[Report]:
    """Train, measure on the test deals, and leave everything in a folder.

    Args:
        make_run: makes the run, at its beginning.
        config: of the run.
        out: its folder.
        resume: go on from the folder's newest checkpoint, if there is one.
        progress: show progress bars.
        packages: those whose versions the run is told with.

    Returns:
        The evaluations on the test deals, one for each variant of the game; in other processes
        than the first one, nothing.

    Raises:
        FileExistsError: if the folder holds a run and `resume` is not set.
        ValueError: if the folder holds a run of another configuration, or if the configuration
            does not go with its game, its players or this machine.
        CheckpointError: if none of the folder's checkpoints can be read, or one cannot be written.
    """
    torch.set_num_threads(1)
    processes = Processes()
    is_first = processes.rank == 0
    run = make_run(processes)  # refuses what cannot be run before anything is written
    if is_first:
        claim_folder(out, config, packages, resume)
    # The others may be on machines that do not have the folder.
    if checkpoint := processes.gather(load_checkpoint(out) if is_first else None)[0]:
        run.restore(checkpoint.arrays, checkpoint.values)
    books = Books(run, out) if is_first else None
    bar = tqdm(
        total=config.decisions,
        initial=run.decisions,
        unit=" decisions",
        unit_scale=True,
        smoothing=0,
        disable=not (progress and is_first),
    )
    try:
        with bar:
            _go_through(run, books, bar)
    finally:
        if books:
            books.log.close()
    processes.leave()
    return books.final_reports(progress) if books else []


def _go_through(run: Run, books: Books | None, bar: Any) -> None:
    """Play and learn, measuring when it is time, until all decisions are made."""
    while True:
        if run.is_due:
            state = run.snapshot()
            if books:
                bar.set_postfix(books.measure(*state))
        if run.decisions >= run.config.decisions:
            return
        metrics = run.improve()
        if books:
            books.log.add(run.decisions, metrics)
        bar.update(run.decisions - bar.n)


# ----------------------------------------------------------------------------------------------
# The run


class Run(ABC):
    """The state of a run: tables, learner, opponents.

    Attributes:
        config: of the run.
        games: what is learnt.
        collector: plays the tables.
        learner: whoever learns.
        decisions: how many the learner has made, in all processes.
        points: how many points the curve has.
    """

    learner: Learner

    def __init__(
        self,
        config: SelfPlayConfig,
        processes: Processes,
        sees_hands: bool,
        others: Sequence[str] = (),
    ) -> None:
        """Deal the tables; the learner is made by whoever knows its kind.

        Args:
            config: of the run.
            processes: among which this one is.
            sees_hands: whether the learner sees all hands while it learns.
            others: players that are needed beside the opponents.

        Raises:
            ValueError: if the configuration does not go with its game or its players.
        """
        self.config = config
        self.games = training_games(config.game, config.options)
        opponents = [text for text in config.opponents if text != PAST]
        texts = [*opponents, *config.measured_against, *others]
        self._players = {text: read_player(text) for text in texts}
        for game in self.games:
            check_players(game, self._players)
        self._processes = processes
        self.collector = Collector(
            self.games,
            config.num_tables,
            config.num_steps,
            config.opponents,
            config.first_deal + processes.rank * len(self.games),
            sees_hands,
        )
        self.decisions = self.points = 0
        self._updates = self._renewals = 0

    @property
    def tables(self) -> Tables:
        """Who plays the tables."""
        return self.collector

    def teachers(self) -> list[Agent] | None:
        """Return who plays in the learner's place, one a variant; None if it plays itself."""
        return None

    def play(self) -> Any:
        """Play a rollout, and return what `learn` learns from."""
        return self.collector.collect(self.learner.act, self._opponents(), self.teachers())

    @abstractmethod
    def learn(self, played: Any) -> dict[str, float]:
        """Learn from a rollout, and return what there is to log."""

    @abstractmethod
    def player(self) -> NetworkPlayer:
        """Return who plays as the learner does now, to be measured and saved."""

    @abstractmethod
    def finalists(self) -> Mapping[str, Agent]:
        """Return, by name, those who are measured on the test deals."""

    @property
    def is_due(self) -> bool:
        """Whether it is time for a point of the curve and a checkpoint."""
        return self.decisions * self.config.curve_points >= self.points * self.config.decisions

    def improve(self) -> dict[str, float]:
        """Play a rollout, learn from it, and return what there is to log."""
        began, was = time.perf_counter(), self.decisions
        learner, tables = self.learner, self.tables
        learner.share = min(1.0, was / self.config.decisions)
        if learner.share * NUM_RENEWALS >= self._renewals:
            learner.keep_self()
            self._renewals += 1
        played = self.play()
        collected = time.perf_counter()
        metrics = self.learn(played)
        self._updates += 1
        self.decisions = self._processes.total(tables.decisions)
        seconds = time.perf_counter() - began
        return metrics | {
            "decisions_per_second": (self.decisions - was) / seconds,
            "share_of_rollout": (collected - began) / seconds,
            "share_of_engine": tables.engine_seconds / seconds,
            "share_of_opponents": tables.opponent_seconds / seconds,
        }

    def _opponents(self) -> dict[str, list[Agent]]:
        """Make the opponents of a rollout; their random numbers are those of the update."""
        seed = combine(self.config.first_deal + self._processes.rank, self._updates)
        made: dict[str, list[Agent]] = {}
        for text in self.config.opponents:
            if text == PAST:
                made[text] = [self.learner.past_self(seed)] * len(self.games)
            else:
                made[text] = self._make(text, seed)
        return made

    def _make(self, text: str, seed: int) -> list[Agent]:
        """Make a player for each variant."""
        return [self._players[text].make(game, seed) for game in self.games]

    # -- checkpoints ---------------------------------------------------------------------------

    def snapshot(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return, as arrays and as plain values, all that the run's future depends on."""
        self.points += 1
        own_arrays, own_values = self.tables.snapshot()
        own_arrays |= self.learner.own_snapshot()
        arrays = self.learner.snapshot()
        parts = self._processes.gather((own_arrays, own_values))
        for rank, (theirs, _) in enumerate(parts):
            arrays |= {f"process.{rank}.{name}": array for name, array in theirs.items()}
        return arrays, {
            "decisions": self.decisions,
            "points": self.points,
            "updates": self._updates,
            "renewals": self._renewals,
            "processes": [values for _, values in parts],
        }

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Go on from where a snapshot was taken.

        Raises:
            ValueError: if it was taken by another number of processes, or of other tables.
        """
        processes = self._processes
        if len(values["processes"]) != processes.count:
            raise ValueError(
                f"the run was begun by {len(values['processes'])} processes, and can only go on "
                f"with as many, not {processes.count}"
            )
        own = below(f"process.{processes.rank}.", arrays)
        self.tables.restore(own, values["processes"][processes.rank])
        self.learner.restore(arrays)
        self.learner.restore_own(own)
        self.decisions, self.points = values["decisions"], values["points"]
        self._updates, self._renewals = values["updates"], values["renewals"]


class Books:
    """What is written down of a run: its log, its curve, its policies and checkpoints."""

    def __init__(self, run: Run, out: Path) -> None:
        """Go on with what the folder has, up to where the run is."""
        self._run = run
        self._out = out
        known_until = run.decisions if run.points else -1  # without a checkpoint nothing is kept
        self.log = RunLog(out, known_until)
        self._strength = Strength(run.games, run.config, out, known_until)

    def measure(
        self, arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]
    ) -> dict[str, str]:
        """Measure the policy, keep it, and write a checkpoint; return what to show."""
        run = self._run
        agent = run.player()
        measured = self._strength.measure(agent, run.decisions)
        snapshots = self._out / "snapshots"
        snapshots.mkdir(exist_ok=True)
        agent.save(snapshots / f"{run.decisions:012}.npz", self._about(agent))
        save_checkpoint(self._out, run.decisions, arrays, values)
        return {f"v {name}": f"{row.result:.3f}" for name, row in measured.items()}

    def final_reports(self, progress: bool) -> list[Report]:
        """Save the policy, and measure it on the test deals."""
        run = self._run
        agent = run.player()
        agent.save(self._out / "policy.npz", self._about(agent))
        learners = run.finalists()
        return final_reports(run.games, learners, run.config, self._out, progress)

    def _about(self, agent: Agent) -> dict[str, Any]:
        return about_run(self._out, self._run.games, agent.name, self._run.decisions)


# ----------------------------------------------------------------------------------------------
# Command line


def run_command_line(
    name: str,
    about: str | None,
    presets: Mapping[str, Any],
    config_of: Callable[..., Any],
    train: Callable[[Any, Path, bool], list[Report]],
    arguments: Sequence[str] | None,
) -> None:
    """Run the command line of a training script.

    Args:
        name: of the script.
        about: what it does.
        presets: by name; one of them is "10min".
        config_of: (game id, preset, **changed) -> the configuration of a run.
        train: (configuration, folder, whether to go on) -> evaluations.
        arguments: of the command line; by default those of the process.
    """
    config, out, resume = read_run(name, about, presets, config_of, arguments)
    for report in train(config, out, resume):
        print(f"{report.text()}\n")
    print(f"This and the learning curve are in {out}")
