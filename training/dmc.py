"""Train a self-play agent by Deep Monte-Carlo, in which every seat learns.

    python -m training.dmc brede_mette --preset 10min
    torchrun --nproc-per-node 2 -m training.dmc brede_mette --preset 1h

One network tells for a position and an action what the seat will gain. It learns that from what
the episodes returned, and plays the action that it holds to be worth the most, now and then
another. This is what DouZero does; `--set td_lambda=1 --set temperature=0` leaves nothing else.
Actions are told by features, so that what is learnt about one holds for those like it: for games in
which there are many. What the folder of a run holds is told in
`training.self_play`.
"""

from __future__ import annotations

import os

# Small matrices: threads of the linear algebra would cost more than they bring, and steal the
# cores from other runs. To have an effect this comes before NumPy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.base import Agent
from agents.learned import ValueAgent
from training.dmc_learner import DMCConfig, Learner
from training.evaluate import Report
from training.processes import Processes
from training.rollout import Buffer
from training.self_play import Run as BaseRun
from training.self_play import SelfPlayConfig, run_command_line, train_run

NAME = "dmc"


@dataclass(frozen=True, kw_only=True)
class Config(DMCConfig, SelfPlayConfig):
    """A run. The numbers are those of the preset `10min`; `PRESETS` changes some of them."""

    def __post_init__(self) -> None:
        """Check the numbers; what depends on the game is checked when the run is made."""
        SelfPlayConfig.__post_init__(self)
        DMCConfig.__post_init__(self)


#: The name says about how long the run takes on one core; the number of decisions defines it.
PRESETS: dict[str, dict[str, Any]] = {
    "ci": {"decisions": 200_000, "layers": (64, 64), "curve_points": 2, "test_deals": 200},
    "5min": {"decisions": 16_000_000},
    "10min": {"decisions": 32_000_000},
    "1h": {"decisions": 200_000_000, "curve_points": 40},
    "gpu": {
        "device": "cuda",
        "decisions": 200_000_000,
        "num_tables": 8_192,
        "minibatch": 16_384,
        "layers": (512, 512, 512),
        "curve_points": 40,
    },
}

#: Where a game is learnt better in another way.
SPECIAL: dict[str, dict[str, Any]] = {}


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

    `training.self_play.train_run` tells the arguments, what is returned and what is raised.
    """
    return train_run(lambda processes: Run(config, processes), config, out, resume, progress)


class Run(BaseRun):
    """The state of a run."""

    learner: Learner

    def __init__(self, config: Config, processes: Processes) -> None:
        """Deal the tables and make the learner."""
        super().__init__(config, processes, sees_hands=False)
        self.learner = Learner(self.games[0], config, config.device, config.seed, processes)

    def learn(self, buffer: Buffer) -> dict[str, float]:
        """Learn from a rollout, and return what there is to log."""
        return self.learner.learn(buffer)

    def player(self) -> ValueAgent:
        """Return who plays as the learner does now, to be measured and saved."""
        return self.learner.network.agent(name=NAME)

    def finalists(self) -> Mapping[str, Agent]:
        """Return, by name, those who are measured on the test deals."""
        return {f"{NAME} (greedy)": self.player()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    run_command_line(NAME, __doc__, PRESETS, config_of, train, arguments)


if __name__ == "__main__":
    main()
