"""Train a self-play agent by masked PPO in which every seat learns.

    python -m training.ppo bred_ryg --preset 10min
    torchrun --nproc-per-node 2 -m training.ppo bred_ryg --preset 1h

One network plays all seats. Each seat's decisions are a trajectory of their own, credited with
what that seat gains; see `training.rollout`. At some tables the learner sits alone among opponents:
the hint agent, its own past selves, or any other player. What the folder of a run
holds is told in `training.self_play`.
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

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.learned import NetworkAgent
from training.checkpoints import load_checkpoint
from training.evaluate import Report
from training.ppo_learner import Learner, PPOConfig
from training.processes import Processes
from training.rollout import Buffer
from training.self_play import Run as BaseRun
from training.self_play import SelfPlayConfig, run_command_line, train_run

NAME = "ppo"


@dataclass(frozen=True, kw_only=True)
class Config(PPOConfig, SelfPlayConfig):
    """A run. The numbers are those of the preset `10min`; `PRESETS` changes some of them.

    Attributes:
        prior: a player that the policy imitates at first, see `prior_weight`; "" for none.
        prior_plays: whether the prior makes the learner's decisions, rather than say afterwards
            what it would have done.
        initial: the folder of a run whose network this one begins with; "" for none.
    """

    prior: str = ""
    prior_plays: bool = False
    initial: str = ""

    def __post_init__(self) -> None:
        """Check the numbers; what depends on the game is checked when the run is made."""
        SelfPlayConfig.__post_init__(self)
        PPOConfig.__post_init__(self)


#: The name says about how long the run takes on one core; the number of decisions defines it.
PRESETS: dict[str, dict[str, Any]] = {
    "ci": {"decisions": 200_000, "layers": (64, 64), "curve_points": 2, "test_deals": 200},
    "5min": {"decisions": 8_000_000},
    "10min": {"decisions": 15_000_000},
    "1h": {"decisions": 90_000_000, "curve_points": 40},
    "gpu": {
        "device": "cuda",
        "decisions": 200_000_000,
        "num_tables": 8_192,
        "minibatch": 32_768,
        "layers": (512, 512, 512),
        "curve_points": 40,
    },
}

#: What a decision costs where it is not about 40 microseconds: so many fewer fit into the time.
COSTS = {"brede_mette-v0": 2.5, "dreeg-v0": 1.25}

#: Imitating the hint agent at first saves millions of decisions; see `training.imitate`.
LIKE_HINTS: dict[str, Any] = {"prior": "hints", "prior_weight": 0.3, "prior_until": 0.1}

#: Where a game is learnt better in another way.
SPECIAL: dict[str, dict[str, Any]] = {
    "bred_ryg-v0": LIKE_HINTS,
    "brede_mette-v0": LIKE_HINTS | {"shares_actions": True},
    "dreeg-v0": LIKE_HINTS | {"num_tables": 520},  # 40 for each of the thirteen variants
}


def config_of(game: str, preset: str, **changed: Any) -> Config:
    """Return a preset for a game, with as many decisions as fit into its time.

    Args:
        game: a full id.
        preset: a name in `PRESETS`.
        **changed: what else is not as in `Config`.
    """
    settings = PRESETS[preset]
    decisions = int(settings["decisions"] / COSTS.get(game, 1.0))
    fitting = settings | {"game": game, "decisions": decisions}
    return Config(**SPECIAL.get(game, {}) | fitting | changed)


def train(config: Config, out: Path, resume: bool = False, progress: bool = True) -> list[Report]:
    """Train, measure on the test deals, and leave everything in a folder.

    `training.self_play.train_run` tells the arguments, what is returned and what is raised.
    """
    return train_run(lambda processes: Run(config, processes), config, out, resume, progress)


class Run(BaseRun):
    """The state of a run; it may imitate another player at first."""

    config: Config
    learner: Learner

    def __init__(self, config: Config, processes: Processes) -> None:
        """Deal the tables and make the learner."""
        prior = [config.prior] if config.prior else []
        super().__init__(config, processes, config.central_critic, prior)
        widest = max(self.games, key=lambda game: game.critic_state_size)
        self.learner = Learner(widest, config, config.device, config.seed, processes)
        if config.initial:
            self.learner.start_from(_newest(Path(config.initial)))

    def teachers(self) -> list[Agent] | None:
        """Return who plays in the learner's place: the prior, if it shall, for each variant."""
        return self._prior() if self.config.prior_plays else None

    def learn(self, buffer: Buffer) -> dict[str, float]:
        """Learn from a rollout, and return what there is to log."""
        return self.learner.learn(buffer, self._advice())

    def _advice(self) -> npt.NDArray[np.int64] | None:
        """Return what the prior would have done in the last rollout, int64 [R, B]."""
        prior = self._prior()
        return self.collector.advice(prior) if prior else None

    def _prior(self) -> list[Agent] | None:
        """Make the prior for each variant, while it counts."""
        if not (self.config.prior and self.learner.prior_weight):
            return None
        return self._make(self.config.prior, self._updates)

    def player(self) -> NetworkAgent:
        """Return who plays as the learner does now, to be measured and saved."""
        return self.learner.network.agent(seed=self.config.seed, name=NAME)

    def finalists(self) -> Mapping[str, Agent]:
        """Return, by name, those who are measured on the test deals."""
        network, seed = self.learner.network, self.config.seed
        return {
            f"{NAME} (sampled)": network.agent(seed=seed, name=NAME),
            f"{NAME} (greedy)": network.agent(seed=seed, name=NAME, greedy=True),
        }


def _newest(folder: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a run's newest checkpoint.

    Raises:
        ValueError: if it has none.
    """
    checkpoint = load_checkpoint(folder)
    if checkpoint is None:
        raise ValueError(f"{folder} has no checkpoint to begin with")
    return checkpoint.arrays


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    run_command_line(NAME, __doc__, PRESETS, config_of, train, arguments)


if __name__ == "__main__":
    main()
