"""Train a self-play agent with MaskablePPO of sb3-contrib, and measure it.

    python -m training.sb3_maskable_ppo bred_ryg --preset 10min

The same runs as those of `training.ppo`, by a library's learner: the same presets, opponents,
measurements, log and command line. The library knows of one learner a table, so one seat of each
learns, drawn anew for every game, and everybody else is part of the environment,
`cardenvs.faces.sb3.SelfPlayVecEnv`. There a step lasts from one decision of the learner to its
next one, or to the end of the game, and its reward is all that its seat has gained or lost until
then: so who loses on another player's move still learns of the loss. The folder of a run holds

    config.json       what was run, with which versions
    checkpoint.zip    the newest model of Stable-Baselines3, from which `--resume` goes on
    snapshots/        the policy at each point of the curve, for `agents.learned.NetworkAgent`
    policy.npz        the last of them
    log.csv, tensorboard/   losses and speed of every update
    curve.csv, .png   strength on the dev deals while training
    evaluation*       the table on the test deals: text, Markdown, JSON

A model does not hold the tables. So a run that goes on from a checkpoint deals anew at all of them,
with random numbers of its own, and is not bit for bit the run that was never interrupted.
"""

from __future__ import annotations

import os

# Small matrices: threads of the linear algebra would cost more than they bring, and steal the
# cores from other runs. To have an effect this comes before NumPy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import LinearSchedule
from tqdm import tqdm

import agents
from agents.base import Agent
from agents.learned import NetworkAgent
from cardenvs.core.game import Game
from cardenvs.core.rng import combine
from cardenvs.faces.sb3 import SelfPlayVecEnv
from cardenvs.registry import load_game
from training.evaluate import Report
from training.logs import RunLog
from training.networks import features_of_actions
from training.players import check_players, read_player
from training.policies import SharedActionsPolicy
from training.run_folder import claim_folder
from training.runs import RunConfig, Strength, final_reports, read_run, training_games

NAME = "maskable_ppo"

#: The opponents that are the learner's past selves.
PAST = "past"

CHECKPOINT = "checkpoint.zip"

#: Those whose versions a run is told with.
PACKAGES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")

#: What is logged, by the names of `training.ppo`: SB3's name, and its sign.
METRICS = {
    "policy_loss": ("train/policy_gradient_loss", 1.0),
    "value_loss": ("train/value_loss", 1.0),
    "entropy": ("train/entropy_loss", -1.0),
    "approx_kl": ("train/approx_kl", 1.0),
    "clip_fraction": ("train/clip_fraction", 1.0),
    "explained_variance": ("train/explained_variance", 1.0),
    "learning_rate": ("train/learning_rate", 1.0),
}


@dataclass(frozen=True, kw_only=True)
class Config(RunConfig):
    """A run. The numbers are those of the preset `10min`; `PRESETS` changes some of them.

    One game is learnt at a time: where no options choose among its variants, that of its own.

    Attributes:
        num_tables, num_steps: a rollout is so many decisions at each of so many tables.
        minibatch, num_epochs: of the updates after each rollout.
        learning_rate: at the start; it falls to 0 in a line.
        clip_range: how far the chance of an action may move in an update, as a ratio.
        entropy_start, entropy_end: weight of the entropy bonus, which keeps the play mixed.
        gamma, gae_lambda: discount a decision of the learner, and the mix of estimates.
        value_weight, max_gradient: weight of the value's loss; bound of the gradient's norm.
        layers: widths of the hidden layers, of the policy and of the value each.
        shares_actions: whether alike actions share weights, see `training.networks`.
        opponents: the chance that another seat (a partner's too), drawn anew for every game, is
            played by each kind: any player as in `training.players`, or "past" for past selves.
            The rest is played by the learner as it was when the rollout began. (In `training.ppo`
            it is the share of the tables at which all others are of that kind.)
        pool_size: how many past selves are kept, the newest of the snapshots; one of them is drawn
            for each rollout.
    """

    num_tables: int = 256
    num_steps: int = 64
    minibatch: int = 1_024
    num_epochs: int = 2
    learning_rate: float = 2e-3
    clip_range: float = 0.2
    entropy_start: float = 0.02
    entropy_end: float = 0.002
    gamma: float = 1.0
    gae_lambda: float = 0.95
    value_weight: float = 0.5
    max_gradient: float = 0.5
    layers: tuple[int, ...] = (128, 128)
    shares_actions: bool = False
    opponents: dict[str, float] = field(default_factory=lambda: {"hints": 0.3})
    pool_size: int = 10

    def __post_init__(self) -> None:
        """Check what could only fail after the first rollout."""
        super().__post_init__()
        shares = self.opponents.values()
        if min(shares, default=0.0) < 0.0 or sum(shares) > 1.0 + 1e-9:
            raise ValueError(
                f"shares of opponents are at least 0 and at most 1 in all: {self.opponents}"
            )


#: The name says about how long the run takes on one core (twice as long with the hundreds of
#: actions of Brede Mette); the number of decisions defines it.
PRESETS: dict[str, dict[str, Any]] = {
    "ci": {"decisions": 200_000, "layers": (64, 64), "curve_points": 2, "test_deals": 200},
    "5min": {"decisions": 5_000_000},
    "10min": {"decisions": 10_000_000},
    "1h": {
        "decisions": 40_000_000,
        "layers": (256, 256),
        "learning_rate": 1e-3,
        "curve_points": 40,
    },
    "gpu": {
        "device": "cuda",
        "decisions": 100_000_000,
        "num_tables": 4_096,
        "minibatch": 16_384,
        "learning_rate": 1e-3,
        "layers": (512, 512, 512),
        "curve_points": 40,
    },
}

#: Where a game is learnt better in another way. Most of the 522 actions of Brede Mette are rare,
#: and a large step or much entropy keeps what is learnt about them from settling.
SPECIAL: dict[str, dict[str, Any]] = {
    "brede_mette-v0": {
        "shares_actions": True,
        "learning_rate": 1e-3,
        "entropy_start": 0.01,
        "entropy_end": 0.001,
    },
}


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
        resume: go on from the folder's checkpoint, if there is one.
        progress: show progress bars.

    Returns:
        The evaluation on the test deals, the only one in the list.

    Raises:
        FileExistsError: if the folder holds a run and `resume` is not set.
        ValueError: if the folder holds a run of another configuration, or if an opponent cannot be
            made for the game.
    """
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)  # a tenth of the time
    game = _training_game(config)
    env = _make_env(config, game)
    has_begun = claim_folder(out, config, PACKAGES, resume, checkpoint=CHECKPOINT)
    model = _load_model(config, env, out) if has_begun else _new_model(config, env)
    model.set_logger(Logger(None, []))  # the log is ours; SB3 would leave a folder in /tmp
    known_until = model.num_timesteps if has_begun else -1  # without a checkpoint nothing is kept
    # A resumed run goes on with other deals than those that it began with.
    env.seed(config.first_deal + model.num_timesteps)
    with (
        RunLog(out, known_until) as log,
        tqdm(
            total=config.decisions,
            initial=model.num_timesteps,
            unit=" decisions",
            unit_scale=True,
            smoothing=0,
            disable=not progress,
        ) as bar,
    ):
        strength = Strength([game], config, out, known_until)
        callback = SelfPlay(config, model, env, out, (log, strength, bar))
        missing = config.decisions - model.num_timesteps
        if missing > 0:
            model.learn(
                missing,
                callback,
                log_interval=sys.maxsize,  # it would log before an update, and so never the last
                reset_num_timesteps=not has_begun,
            )
            callback.finish_update()
    snapshot(model, game).save(out / "policy.npz")
    learners: dict[str, Agent] = {
        f"{NAME} (sampled)": snapshot(model, game, config.seed),
        f"{NAME} (greedy)": snapshot(model, game, config.seed, greedy=True),
    }
    return final_reports([game], learners, config, out, progress)


def snapshot(
    model: MaskablePPO, game: Game, seed: int | None = None, greedy: bool = False
) -> NetworkAgent:
    """Return an agent that plays as the model does now, whatever becomes of the model."""
    scale = game.layout.scale
    return NetworkAgent.of_sb3(model.policy, scale, greedy=greedy, seed=seed, name=NAME)


# ----------------------------------------------------------------------------------------------
# The parts of a run


def _training_game(config: Config) -> Game:
    """Return the game that is learnt, the variant of its own options where none are given."""
    options = load_game(config.game, **config.options).options
    (game,) = training_games(config.game, options)
    return game


def _make_env(config: Config, game: Game) -> SelfPlayVecEnv:
    """Return the tables, with random players in the places where `SelfPlay` puts opponents.

    Raises:
        ValueError: if an opponent cannot be made for the game.
    """
    check_players(game, {text: read_player(text) for text in config.opponents if text != PAST})
    shares = list(config.opponents.values())
    anybody = agents.make(game, "random", config.seed)
    pool = [anybody.act] * (1 + len(shares))
    return SelfPlayVecEnv(game, config.num_tables, pool, [max(0.0, 1.0 - sum(shares)), *shares])


def _new_model(config: Config, env: SelfPlayVecEnv) -> MaskablePPO:
    network: dict[str, Any] = {"net_arch": list(config.layers), "activation_fn": torch.nn.ReLU}
    if config.shares_actions:
        network["action_features"] = features_of_actions(env.game)
    return MaskablePPO(
        SharedActionsPolicy if config.shares_actions else "MlpPolicy",
        env,
        learning_rate=LinearSchedule(config.learning_rate, 0.0, 1.0),
        n_steps=config.num_steps,
        batch_size=config.minibatch,
        n_epochs=config.num_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.entropy_start,
        vf_coef=config.value_weight,
        max_grad_norm=config.max_gradient,
        policy_kwargs=network,
        seed=config.seed,
        device=config.device,
    )


def _load_model(config: Config, env: SelfPlayVecEnv, out: Path) -> MaskablePPO:
    model = MaskablePPO.load(out / CHECKPOINT, env, device=config.device)
    model.set_random_seed(config.seed + model.num_timesteps)
    return model


class SelfPlay(BaseCallback):
    """What happens between rollouts: the log, measurements, checkpoints, new opponents."""

    def __init__(
        self,
        config: Config,
        model: MaskablePPO,
        env: SelfPlayVecEnv,
        out: Path,
        books: tuple[RunLog, Strength, Any],
    ) -> None:
        """Measure a new model, and seat the opponents.

        Args:
            config: of the run.
            model: the learner.
            env: its tables.
            out: the folder of the run.
            books: the log, the curve, and a progress bar.
        """
        super().__init__()
        self._config = config
        self._learner = model
        self._env = env
        self._log, self._strength, self._bar = books
        self._out = out
        self._snapshots = out / "snapshots"
        self._snapshots.mkdir(exist_ok=True)
        self._measure_if_due()
        self._seat_opponents()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        self.finish_update()
        config, model = self._config, self._learner
        share = model.num_timesteps / config.decisions
        model.ent_coef = config.entropy_start + share * (config.entropy_end - config.entropy_start)
        self._seat_opponents()
        self._began, self._was = time.perf_counter(), model.num_timesteps

    def _on_rollout_end(self) -> None:
        self._collected = time.perf_counter()

    def finish_update(self) -> None:
        """Log the update that has ended, if one has, and measure the learner if it is time."""
        decisions = self._learner.num_timesteps
        if measured := self._learner.logger.name_to_value:
            seconds = time.perf_counter() - self._began
            metrics = {name: sign * measured[theirs] for name, (theirs, sign) in METRICS.items()}
            metrics["decisions_per_second"] = (decisions - self._was) / seconds
            metrics["share_of_rollout"] = (self._collected - self._began) / seconds
            self._log.add(decisions, metrics)
            self._learner.logger.dump(decisions)  # nowhere, which makes it forget
        self._bar.update(decisions - self._bar.n)
        self._measure_if_due()

    def _measure_if_due(self) -> None:
        """Add a point to the curve, keep the policy, and save the model."""
        model, config = self._learner, self._config
        points = len(self._strength.curve.points)
        if model.num_timesteps * config.curve_points < points * config.decisions:
            return
        agent = snapshot(model, self._env.game, config.seed)
        measured = self._strength.measure(agent, model.num_timesteps)
        agent.save(self._snapshots / f"{model.num_timesteps:012}.npz")
        _save_whole(model, self._out / CHECKPOINT)
        self._bar.set_postfix({f"v {name}": f"{row.result:.3f}" for name, row in measured.items()})

    # -- opponents -----------------------------------------------------------------------------

    def _seat_opponents(self) -> None:
        """Let the newest self and the other opponents play; their random numbers are new."""
        game, model = self._env.game, self._learner
        seed = combine(self._config.first_deal, model.num_timesteps)
        self._env.set_opponent(0, snapshot(model, game, seed).act)
        for place, text in enumerate(self._config.opponents, start=1):
            agent = self._past_self(seed) if text == PAST else read_player(text).make(game, seed)
            self._env.set_opponent(place, agent.act)

    def _past_self(self, seed: int) -> Agent:
        """Return one of the newest snapshots; any seed will do."""
        now = f"{self._learner.num_timesteps:012}"  # what a run that broke off has left is later
        kept = [file for file in sorted(self._snapshots.glob("*.npz")) if file.stem <= now]
        pool = kept[-self._config.pool_size :]
        return NetworkAgent.load(pool[seed % len(pool)], seed=seed, name=PAST)


def _save_whole(model: MaskablePPO, file: Path) -> None:
    """Save so that an interruption can never leave half a checkpoint."""
    part = file.with_suffix(".part.zip")
    model.save(part)
    os.replace(part, file)


# ----------------------------------------------------------------------------------------------
# Command line


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    config, out, resume = read_run("sb3_maskable_ppo", __doc__, PRESETS, config_of, arguments)
    for report in train(config, out, resume):
        print(f"{report.text()}\n")
    print(f"This and the learning curve are in {out}")


if __name__ == "__main__":
    main()
