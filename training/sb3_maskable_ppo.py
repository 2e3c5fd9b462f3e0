"""Train a self-play agent with MaskablePPO of sb3-contrib, and measure it.

    python -m training.sb3_maskable_ppo bred_ryg --preset 5min

One seat of each table learns. Each other seat is played, drawn anew for every game, by a copy of
the learner, renewed before every rollout, or by the hint agent, which keeps the learner
from playing well against itself alone. The folder of a run holds

    config.json      what was run, with which versions
    checkpoint.zip   the model of Stable-Baselines3, from which `--resume` goes on
    policy.npz       the same policy for `agents.learned.NetworkAgent`, which needs no torch
    log.csv          what every update has measured; tensorboard/ has the same for TensorBoard
    curve.csv, .png  loss rates on the dev deals while training
    evaluation.*     the table on the test deals: text, Markdown, JSON
"""

from __future__ import annotations

import os

# Small matrices: threads of the linear algebra would cost more than they bring, and steal the
# cores from other runs. To have an effect this comes before NumPy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger
from stable_baselines3.common.utils import LinearSchedule
from tqdm import tqdm

import agents
from agents.base import Agent
from agents.learned import NetworkAgent
from cardenvs.command_line import add_game_arguments, game_of, options_of
from cardenvs.core.game import Game
from cardenvs.faces.sb3 import SelfPlayVecEnv
from cardenvs.registry import load_game
from training.curve import Curve
from training.evaluate import Report, evaluate
from training.logs import RunLog
from training.policies import SharedActionsPolicy, features_of_actions
from training.run_folder import claim_folder

LEARNER = "ppo"

CHECKPOINT = "checkpoint.zip"

#: Those whose versions a run is told with.
PACKAGES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")


@dataclass(frozen=True)
class Config:
    """A run. The numbers here are those of the preset `5min`; `PRESETS` changes some of them.

    They are for short runs, in which narrow layers, few epochs and a large step go furthest,
    since more decisions then fit into the time. Longer runs learn slower with wider layers.

    Attributes:
        game: its id.
        num_players: at the table.
        options: other rule options than the game's own.
        seed: of the run, below 2**30; its deals are those of the seeds from `seed << 32` on.
        device: of the network: "cpu", "cuda".
        decisions: how many decisions the learner makes in all, rounded up to whole rollouts.
        num_tables, num_steps: a rollout is so many decisions at each of so many tables.
        batch_size, num_epochs: of the updates after each rollout.
        learning_rate: at the start; it falls to 0 in a line.
        entropy_start, entropy_end: weight of the entropy bonus, which keeps the play mixed.
        layers: widths of the hidden layers, of the policy and of the value each.
        hints_share: chance that an opponent is the hint agent (if the game has one).
        shares_actions: whether alike actions share weights, see `training.policies`.
        curve_points: how often the learner is measured and saved.
        curve_deals, test_deals: how many deals these measurements and the last one play.
    """

    game: str = "bred_ryg-v0"
    num_players: int = 3
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    device: str = "cpu"
    decisions: int = 5_000_000
    num_tables: int = 256
    num_steps: int = 64
    batch_size: int = 1_024
    num_epochs: int = 2
    learning_rate: float = 2e-3
    clip_range: float = 0.2
    entropy_start: float = 0.02
    entropy_end: float = 0.002
    gae_lambda: float = 0.95
    layers: tuple[int, ...] = (128, 128)
    hints_share: float = 0.5
    shares_actions: bool = False
    curve_points: int = 20
    curve_deals: int = 200
    test_deals: int = 2_000

    def __post_init__(self) -> None:
        """Keep the deals of the run apart from the published lists, which begin at 2**62."""
        if not 0 <= self.seed < 2**30:
            raise ValueError(f"a run's seed is at least 0 and below 2**30, not {self.seed}")


#: The name says about how long the run takes on two cores; the number of decisions defines it.
PRESETS: dict[str, dict[str, Any]] = {
    "ci": {"decisions": 200_000, "curve_points": 4, "test_deals": 200},
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
        "batch_size": 16_384,
        "learning_rate": 1e-3,
        "layers": (512, 512, 512),
        "curve_points": 40,
    },
}


#: What a decision costs where it is not about 60 microseconds: with 522 actions twice as much.
COSTS = {"brede_mette-v0": 2.0, "dreeg-v0": 1.6}

#: Matches have tens of deals: so much fewer of them are measured on the way.
DEALS_OF_A_MATCH = 8

#: Where a game is learnt better in another way: most of the 522 actions are rare, and a large step
#: or much entropy keeps what is learnt about them from settling.
SPECIAL: dict[str, dict[str, Any]] = {
    "brede_mette-v0": {
        "shares_actions": True,
        "learning_rate": 1e-3,
        "entropy_start": 0.01,
        "entropy_end": 0.001,
    }
}


def config_of(game: str, preset: str, **changed: Any) -> Config:
    """Return a preset for a game, with as many decisions as fit into its time.

    Args:
        game: a full id.
        preset: a name in `PRESETS`.
        **changed: what else is not as in `Config`.
    """
    config = Config(game=game, num_players=load_game(game).num_players)
    config = replace(config, **SPECIAL.get(game, {}) | PRESETS[preset] | changed)
    config = replace(config, decisions=int(config.decisions / COSTS.get(game, 1.0)))
    if _training_game(config).options.get("scope") == "match":
        config = replace(config, curve_deals=config.curve_deals // DEALS_OF_A_MATCH)
    return config


def train(config: Config, out: Path, resume: bool = False, progress: bool = True) -> Report:
    """Train, measure on the test deals, and leave everything in a folder.

    Args:
        config: the run.
        out: its folder.
        resume: go on from the folder's checkpoint, if there is one.
        progress: show progress bars.

    Returns:
        The evaluation on the test deals.

    Raises:
        FileExistsError: if the folder holds a run and `resume` is not set.
        ValueError: if the folder holds a run of another configuration.
    """
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)  # a tenth of the time
    game = _training_game(config)
    has_begun = claim_folder(out, config, PACKAGES, resume, checkpoint=CHECKPOINT)
    env = _make_env(config, game)
    model = _load_model(config, env, out) if has_begun else _new_model(config, env)
    curve = Curve(out, keep_until=model.num_timesteps)
    # A resumed run goes on with other deals than those that it began with.
    env.seed((config.seed << 32) + model.num_timesteps)
    with (
        RunLog(out, keep_until=model.num_timesteps) as log,
        tqdm(
            total=config.decisions,
            initial=model.num_timesteps,
            unit=" decisions",
            unit_scale=True,
            smoothing=0,
            disable=not progress,
        ) as bar,
    ):
        model.set_logger(Logger(None, [LogWriter(log)]))
        callback = SelfPlay(config, env, curve, bar, out)
        missing = config.decisions - model.num_timesteps
        if missing > 0:
            model.learn(
                missing,
                callback,
                log_interval=sys.maxsize,  # SB3 would log before an update, and so never the last
                reset_num_timesteps=not has_begun,
            )
            model.logger.dump(model.num_timesteps)
            callback.measure(model)
    learner = snapshot(model, game, config.seed)
    learner.save(out / "policy.npz")
    report = _final_table(config, game, model, progress)
    report.save(out)
    return report


def snapshot(model: MaskablePPO, game: Game, seed: int, greedy: bool = False) -> NetworkAgent:
    """Return an agent that plays as the model does now, whatever becomes of the model."""
    scale = game.layout.scale
    return NetworkAgent.of_sb3(model.policy, scale, greedy=greedy, seed=seed, name=LEARNER)


# ----------------------------------------------------------------------------------------------
# The parts of a run


def _training_game(config: Config) -> Game:
    """Return the game; where one player loses, the others gain, so that the values are centred."""
    game = load_game(config.game, num_players=config.num_players, **config.options)
    if "reward" in game.options:
        return load_game(game.id, **{**game.options, "reward": "zero_sum"})
    return game


def _make_env(config: Config, game: Game) -> SelfPlayVecEnv:
    """Return the tables; the first opponent of the pool is replaced before each rollout."""
    pool: list[Agent] = [agents.make(game, "random", config.seed)]
    shares = [1.0]
    if "hints" in agents.list(game, fast=True):
        pool.append(agents.make(game, "hints", config.seed))
        shares = [1.0 - config.hints_share, config.hints_share]
    return SelfPlayVecEnv(game, config.num_tables, [agent.act for agent in pool], shares)


def _new_model(config: Config, env: SelfPlayVecEnv) -> MaskablePPO:
    network: dict[str, Any] = {"net_arch": list(config.layers), "activation_fn": torch.nn.ReLU}
    if config.shares_actions:
        network["action_features"] = features_of_actions(env.game)
    return MaskablePPO(
        SharedActionsPolicy if config.shares_actions else "MlpPolicy",
        env,
        learning_rate=LinearSchedule(config.learning_rate, 0.0, 1.0),
        n_steps=config.num_steps,
        batch_size=config.batch_size,
        n_epochs=config.num_epochs,
        gamma=1.0,  # a loss is a loss, however late
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.entropy_start,
        policy_kwargs=network,
        seed=config.seed,
        device=config.device,
    )


def _load_model(config: Config, env: SelfPlayVecEnv, out: Path) -> MaskablePPO:
    model = MaskablePPO.load(out / CHECKPOINT, env, device=config.device)
    model.set_random_seed(config.seed + model.num_timesteps)
    return model


class LogWriter(KVWriter):
    """Writes what SB3 measures in an update to the log of the run."""

    def __init__(self, log: RunLog) -> None:
        self._log = log

    def write(
        self,
        key_values: dict[str, Any],
        key_excluded: dict[str, tuple[str, ...]],
        step: int = 0,
    ) -> None:
        """Log an update; before the first one there is nothing to log."""
        if key_values:
            self._log.add(step, key_values)

    def close(self) -> None:
        """Leave the log open: it is the trainer's."""


class SelfPlay(BaseCallback):
    """What happens between rollouts: new opponents, the schedule, measurements, checkpoints."""

    def __init__(
        self, config: Config, env: SelfPlayVecEnv, curve: Curve, bar: Any, out: Path
    ) -> None:
        super().__init__()
        self._config = config
        self._env = env
        self._game = env.game
        self._curve = curve
        self._bar = bar
        self._out = out

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        model, config = self.model, self._config
        assert isinstance(model, MaskablePPO)
        model.logger.dump(model.num_timesteps)
        share = model.num_timesteps / config.decisions
        model.ent_coef = config.entropy_start + share * (config.entropy_end - config.entropy_start)
        opponent = snapshot(model, self._game, config.seed + model.num_timesteps)
        self._env.set_opponent(0, opponent.act)
        self._bar.update(model.num_timesteps - self._bar.n)
        if share * config.curve_points >= len(self._curve.points):
            self.measure(model)

    def measure(self, model: MaskablePPO) -> None:
        """Add a point to the curve and save the model."""
        players: dict[str, Agent] = {LEARNER: snapshot(model, self._game, self._config.seed)}
        baselines = agents.list(self._game, fast=True)
        players |= {name: agents.make(self._game, name, 0) for name in baselines}
        pairs = [(LEARNER, name) for name in baselines]
        deals = self._config.curve_deals
        report = evaluate(self._game, players, pairs, deals, "dev", progress=False)
        measured = dict(zip(baselines, report.rows, strict=True))
        self._bar.update(model.num_timesteps - self._bar.n)
        self._bar.set_postfix(
            {
                f"{report.measure} among {name}": f"{row.result:.3f}"
                for name, row in measured.items()
            }
        )
        self._curve.add(model.num_timesteps, report.measure, measured)
        _save_whole(model, self._out / CHECKPOINT)


def _final_table(config: Config, game: Game, model: MaskablePPO, progress: bool) -> Report:
    """Measure the learner, greedy and sampled, and the baselines on the test deals."""
    learner, greedy = f"{LEARNER} (sampled)", f"{LEARNER} (greedy)"
    baselines = list(agents.list(game, fast=True))
    players: dict[str, Agent] = {name: agents.make(game, name, 0) for name in baselines}
    players[learner] = snapshot(model, game, config.seed)
    players[greedy] = snapshot(model, game, config.seed, greedy=True)
    pairs = [(name, other) for other in baselines for name in (learner, greedy)]
    pairs += [(name, other) for name in baselines for other in baselines if name != other]
    pairs += [(name, learner) for name in baselines]
    return evaluate(game, players, pairs, config.test_deals, "test", progress)


def _save_whole(model: MaskablePPO, file: Path) -> None:
    """Save so that an interruption can never leave half a checkpoint."""
    part = file.with_suffix(".part.zip")
    model.save(part)
    os.replace(part, file)


# ----------------------------------------------------------------------------------------------
# Command line


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.sb3_maskable_ppo")
    add_game_arguments(parser)
    parser.add_argument("--preset", choices=list(PRESETS), default="5min")
    parser.add_argument("--seed", type=int, default=Config.seed)
    parser.add_argument(
        "--device", help="of the network: cpu, cuda; by default as the preset has it"
    )
    parser.add_argument(
        "--out", type=Path, help="folder of the run; by default runs/GAME-OPTIONS-PRESET-SEED"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the folder's checkpoint")
    given = parser.parse_args(arguments)
    game = game_of(given)
    options = options_of(given)
    options.pop("num_players", None)
    changed = {"num_players": game.num_players, "options": options, "seed": given.seed}
    config = config_of(game.id, given.preset, **changed)
    if given.device:
        config = replace(config, device=given.device)
    name = "-".join([game.id, *map(str, options.values()), given.preset, str(given.seed)])
    out = given.out or Path("runs") / name
    report = train(config, out, given.resume)
    print(f"{report.text()}\n\nThis and the learning curve are in {out}")


if __name__ == "__main__":
    main()
