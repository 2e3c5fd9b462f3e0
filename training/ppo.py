"""Train a self-play agent by masked PPO in which every seat learns.

    python -m training.ppo bred_ryg --preset 10min
    torchrun --nproc-per-node 2 -m training.ppo bred_ryg --preset 1h

One network plays all seats. Each seat's decisions are a trajectory of their own, credited with
what that seat gains; see `training.rollout`. At some tables the learner sits alone among opponents:
the hint agent, its own past selves, or any other player. The folder of a run holds

    config.json       what was run, with which versions
    checkpoints/      the newest states of the run, from which `--resume` goes on bit for bit
    snapshots/        the policy at each point of the curve, for `agents.learned.NetworkAgent`
    policy.npz        the last of them
    log.csv, tensorboard/   losses and speed of every update
    curve.csv, .png   strength on the dev deals while training
    evaluation*       the tables on the test deals: text, Markdown, JSON
"""

from __future__ import annotations

import os

# Small matrices: threads of the linear algebra would cost more than they bring, and steal the
# cores from other runs. To have an effect this comes before NumPy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tqdm import tqdm

from agents.base import Agent
from cardenvs.command_line import add_game_arguments, game_of, options_of
from cardenvs.core.rng import combine
from training.checkpoints import below, load_checkpoint, save_checkpoint
from training.evaluate import Report
from training.logs import RunLog
from training.players import check_players, read_player
from training.ppo_learner import NUM_RENEWALS, Learner, PPOConfig
from training.processes import Processes
from training.rollout import Collector
from training.run_folder import claim_folder
from training.runs import (
    RunConfig,
    Strength,
    check_counts,
    final_reports,
    read_settings,
    training_games,
)

NAME = "ppo"

#: The opponents that are the learner's past selves.
PAST = "past"

#: Those whose versions a run is told with.
PACKAGES = ("numpy", "numba", "torch")


@dataclass(frozen=True, kw_only=True)
class Config(PPOConfig, RunConfig):
    """A run. The numbers are those of the preset `10min`; `PRESETS` changes some of them.

    Attributes:
        num_tables, num_steps: a rollout is so many decisions at each of so many tables.
        opponents: the share of the tables at which the learner sits alone (or as one team) among
            each kind: any player as in `training.players`, or "past" for past selves.
        prior: a player that the policy imitates at first, see `prior_weight`; "" for none.
    """

    num_tables: int = 512
    num_steps: int = 32
    opponents: dict[str, float] = field(default_factory=lambda: {"hints": 0.3})
    prior: str = ""

    def __post_init__(self) -> None:
        """Check the numbers; what depends on the game is checked when the run is made."""
        RunConfig.__post_init__(self)
        PPOConfig.__post_init__(self)
        check_counts(self, ("num_tables", "num_steps"))
        shares = self.opponents.values() if isinstance(self.opponents, Mapping) else [""]
        if not all(isinstance(share, int | float) for share in shares):
            raise ValueError(f"opponents have names and shares, unlike {self.opponents!r}")


#: The name says about how long the run takes on one core; the number of decisions defines it.
PRESETS: dict[str, dict[str, Any]] = {
    "ci": {"decisions": 200_000, "layers": (64, 64), "curve_points": 2, "test_deals": 200},
    "5min": {"decisions": 8_000_000},
    "10min": {"decisions": 16_000_000},
    "1h": {"decisions": 100_000_000, "curve_points": 40},
    "gpu": {
        "device": "cuda",
        "decisions": 200_000_000,
        "num_tables": 8_192,
        "minibatch": 32_768,
        "layers": (512, 512, 512),
        "curve_points": 40,
    },
}

#: Where a game is learnt better in another way.
SPECIAL: dict[str, dict[str, Any]] = {"brede_mette-v0": {"shares_actions": True}}


def config_of(game: str, preset: str, **changed: Any) -> Config:
    """Return a preset for a game.

    Args:
        game: a full id.
        preset: a name in `PRESETS`.
        **changed: what else is not as in `Config`.
    """
    return Config(**{"game": game} | SPECIAL.get(game, {}) | PRESETS[preset] | changed)


def train(config: Config, out: Path, resume: bool = False, progress: bool = True) -> list[Report]:
    """Train, measure on the test deals, and leave everything in a folder.

    Args:
        config: the run.
        out: its folder.
        resume: go on from the folder's newest checkpoint, if there is one.
        progress: show progress bars.

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
    run = Run(config, processes)  # refuses what cannot be run before anything is written
    if is_first:
        claim_folder(out, config, PACKAGES, resume)
    processes.gather(None)  # the folder is claimed
    if checkpoint := load_checkpoint(out):
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
    with bar:
        while True:
            if run.is_due:
                state = run.snapshot()
                if books:
                    bar.set_postfix(books.measure(*state))
            if run.decisions >= config.decisions:
                break
            metrics = run.improve()
            if books:
                books.log.add(run.decisions, metrics)
            bar.update(run.decisions - bar.n)
    processes.leave()
    return books.close(progress) if books else []


# ----------------------------------------------------------------------------------------------
# The run


class Run:
    """The state of a run: tables, learner, opponents.

    Attributes:
        decisions: how many the learner has made, in all processes.
        points: how many points the curve has.
    """

    def __init__(self, config: Config, processes: Processes) -> None:
        """Deal the tables and make the network.

        Raises:
            ValueError: if the configuration does not go with its game, its players or this machine.
        """
        self.config = config
        self.games = training_games(config.game, config.options)
        self._players = {text: read_player(text) for text in config.opponents if text != PAST}
        if config.prior:
            self._players[config.prior] = read_player(config.prior)
        measured = {text: read_player(text) for text in config.measured_against}
        for game in self.games:
            check_players(game, self._players | measured)
        self._processes = processes
        self._collector = Collector(
            self.games,
            config.num_tables,
            config.num_steps,
            config.opponents,
            config.first_deal + processes.rank * len(self.games),
            config.central_critic,
        )
        widest = max(self.games, key=lambda game: game.critic_state_size)
        self.learner = Learner(widest, config, config.device, config.seed, processes)
        self.decisions = self.points = 0
        self._updates = self._renewals = 0

    @property
    def is_due(self) -> bool:
        """Whether it is time for a point of the curve and a checkpoint."""
        return self.decisions * self.config.curve_points >= self.points * self.config.decisions

    def improve(self) -> dict[str, float]:
        """Play a rollout, learn from it, and return what there is to log."""
        began, was = time.perf_counter(), self.decisions
        learner, collector = self.learner, self._collector
        learner.share = min(1.0, was / self.config.decisions)
        if learner.share * NUM_RENEWALS >= self._renewals:
            learner.keep_self()
            self._renewals += 1
        buffer = collector.collect(learner.act, self._opponents())
        collected = time.perf_counter()
        metrics = learner.learn(buffer, self._advice())
        self._updates += 1
        self.decisions = self._processes.total(collector.decisions)
        seconds = time.perf_counter() - began
        return metrics | {
            "decisions_per_second": (self.decisions - was) / seconds,
            "share_of_rollout": (collected - began) / seconds,
            "share_of_engine": collector.engine_seconds / seconds,
            "share_of_opponents": collector.opponent_seconds / seconds,
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

    def _advice(self) -> npt.NDArray[np.int64] | None:
        """Return what the prior would have done, while it counts."""
        if not (self.config.prior and self.learner.prior_weight):
            return None
        return self._collector.advice(self._make(self.config.prior, self._updates))

    def _make(self, text: str, seed: int) -> list[Agent]:
        """Make a player for each variant."""
        return [self._players[text].make(game, seed) for game in self.games]

    # -- checkpoints ---------------------------------------------------------------------------

    def snapshot(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return, as arrays and as plain values, all that the run's future depends on."""
        self.points += 1
        own_arrays, own_values = self._collector.snapshot()
        own_arrays["generator"] = self.learner.generator_state()
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
        self._collector.restore(own, values["processes"][processes.rank])
        self.learner.restore(arrays)
        self.learner.set_generator_state(own["generator"])
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
        agent = run.learner.network.agent(seed=run.config.seed, name=NAME)
        measured = self._strength.measure(agent, run.decisions)
        snapshots = self._out / "snapshots"
        snapshots.mkdir(exist_ok=True)
        agent.save(snapshots / f"{run.decisions:012}.npz")
        save_checkpoint(self._out, run.decisions, arrays, values)
        return {f"v {name}": f"{row.result:.3f}" for name, row in measured.items()}

    def close(self, progress: bool) -> list[Report]:
        """End the log, save the policy, and measure it on the test deals."""
        self.log.close()
        run = self._run
        network, seed = run.learner.network, run.config.seed
        network.agent().save(self._out / "policy.npz")
        learners: dict[str, Agent] = {
            f"{NAME} (sampled)": network.agent(seed=seed, name=NAME),
            f"{NAME} (greedy)": network.agent(seed=seed, name=NAME, greedy=True),
        }
        return final_reports(run.games, learners, run.config, self._out, progress)


# ----------------------------------------------------------------------------------------------
# Command line


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.ppo", description=__doc__)
    add_game_arguments(parser)
    parser.add_argument("--preset", choices=list(PRESETS), default="10min")
    parser.add_argument("--seed", type=int, default=Config.seed)
    parser.add_argument("--device", help="of the network: cpu, cuda; by default as the preset")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a field of the configuration, its value as JSON; may be given several times",
    )
    parser.add_argument("--out", type=Path, help="by default runs/GAME-OPTIONS-PRESET-SEED")
    parser.add_argument("--resume", action="store_true", help="go on from the newest checkpoint")
    given = parser.parse_args(arguments)
    game = game_of(given)
    options = options_of(given)
    config = config_of(game.id, given.preset, options=options, seed=given.seed)
    config = replace(config, **read_settings(Config, given.set))
    if given.device:
        config = replace(config, device=given.device)
    name = "-".join([game.id, *map(str, options.values()), given.preset, str(given.seed)])
    out = given.out or Path("runs") / name
    for report in train(config, out, given.resume):
        print(f"{report.text()}\n")
    print(f"This and the learning curve are in {out}")


if __name__ == "__main__":
    main()
