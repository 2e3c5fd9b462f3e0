"""Train a self-play agent by masked PPO in which every seat learns.

    python -m training.ppo bred_ryg --preset 10min

One network plays all seats. Each seat's decisions are a trajectory of their own, credited with
what that seat gains; see `training.rollout`. At some tables the learner sits alone among opponents:
the hint agent, or one of its own past selves. The folder of a run holds

    config.json       what was run, with which versions
    checkpoints/      the newest states of the run, from which `--resume` goes on bit for bit
    snapshots/        the policy at each point of the curve, for `agents.learned.NetworkAgent`
    policy.npz        the last of them
    log.csv, tensorboard/   losses and speed of every update
    curve.csv, .png   strength on the dev deals while training
    evaluation*       the tables on the test deals: text, Markdown, JSON

Letters of shapes: N decisions, R rows, B tables, O observation size, S critic state size, A actions.
"""

from __future__ import annotations

import os

# Small matrices: threads of the linear algebra would cost more than they bring, and steal the
# cores from other runs. To have an effect this comes before NumPy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from tqdm import tqdm

import agents
from agents.base import SAMPLED, Agent
from cardenvs.command_line import add_game_arguments, game_of, options_of
from cardenvs.core.rng import combine
from training.checkpoints import load_checkpoint, save_checkpoint
from training.evaluate import Report
from training.logs import RunLog
from training.networks import ActorCritic, log_probabilities
from training.rollout import Buffer, Collector
from training.run_folder import claim_folder
from training.runs import RunConfig, Strength, final_reports, training_games

NAME = "ppo"

#: The opponent that is one of the learner's past selves.
PAST = "past"

#: Those whose versions a run is told with.
PACKAGES = ("numpy", "numba", "torch")

#: How often in a run the magnet is renewed, and a past self kept.
NUM_RENEWALS = 20

#: How many decisions the critic judges at once after a rollout.
_CHUNK = 16_384


@dataclass(frozen=True)
class Config(RunConfig):
    """A run. The numbers here are those of the preset `10min`; `PRESETS` changes some of them.

    Attributes:
        num_tables, num_steps: a rollout is so many decisions at each of so many tables.
        minibatch, num_epochs: of the updates after each rollout.
        learning_rate: at the start; it falls to 0 in a line.
        clip_range: how far the chance of an action may move in an update, as a ratio.
        entropy_start, entropy_end: weight of the entropy bonus, which keeps the play mixed.
        gamma, gae_lambda: discount a decision of the same seat, and the mix of estimates.
        value_weight, max_gradient: weight of the value's loss; bound of the gradient's norm.
        layers: widths of the hidden layers, of the policy and of the value each.
        central_critic: whether the critic sees all hands while training.
        shares_actions: whether alike actions share weights, see `training.networks`.
        bfloat16: whether the layers compute in bfloat16.
        opponents: the share of the tables at which the learner sits alone (or as one team) among
            each kind: a fast agent's name, or "past" for past selves.
        pool_size: how many past selves are kept; one is added after every 20th of the run.
        magnet_weight: of the divergence from the magnet, a copy of the policy that is renewed
            after every 20th of the run; it keeps self-play from running in circles.
    """

    num_tables: int = 1_024
    num_steps: int = 64
    minibatch: int = 4_096
    num_epochs: int = 4
    learning_rate: float = 1e-3
    clip_range: float = 0.2
    entropy_start: float = 0.02
    entropy_end: float = 0.002
    gamma: float = 1.0
    gae_lambda: float = 0.95
    value_weight: float = 0.5
    max_gradient: float = 0.5
    layers: tuple[int, ...] = (256, 256)
    central_critic: bool = True
    shares_actions: bool = False
    bfloat16: bool = True
    opponents: dict[str, float] = field(default_factory=lambda: {"hints": 0.3})
    pool_size: int = 10
    magnet_weight: float = 0.0


#: The name says about how long the run takes on one core; the number of decisions defines it.
PRESETS: dict[str, dict[str, Any]] = {
    "ci": {"decisions": 200_000, "num_tables": 256, "minibatch": 1_024, "curve_points": 4},
    "5min": {"decisions": 8_000_000, "layers": (128, 128)},
    "10min": {"decisions": 10_000_000},
    "1h": {"decisions": 60_000_000, "curve_points": 40},
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
    return Config(game=game, **SPECIAL.get(game, {}) | PRESETS[preset] | changed)


def train(config: Config, out: Path, resume: bool = False, progress: bool = True) -> list[Report]:
    """Train, measure on the test deals, and leave everything in a folder.

    Args:
        config: the run.
        out: its folder.
        resume: go on from the folder's newest checkpoint, if there is one.
        progress: show progress bars.

    Returns:
        The evaluations on the test deals, one for each variant of the game.

    Raises:
        FileExistsError: if the folder holds a run and `resume` is not set.
        ValueError: if the folder holds a run of another configuration.
        CheckpointError: if none of the folder's checkpoints can be read, or one cannot be written.
    """
    torch.set_num_threads(1)
    has_begun = claim_folder(out, config, PACKAGES, resume)
    run = Run(config)
    if has_begun and (checkpoint := load_checkpoint(out)):
        run.restore(checkpoint.arrays, checkpoint.values)
    log = RunLog(out, run.decisions)
    strength = Strength(run.collector.games, config.curve_deals, out, run.decisions)
    with tqdm(
        total=config.decisions,
        initial=run.decisions,
        unit=" decisions",
        unit_scale=True,
        smoothing=0,
        disable=not progress,
    ) as bar:
        while run.decisions < config.decisions:
            if run.share * config.curve_points >= len(strength.curve.points):
                _measure(run, strength, out, bar)
            log.add(run.decisions, run.improve())
            bar.update(run.decisions - bar.n)
        if len(strength.curve.points) <= config.curve_points:
            _measure(run, strength, out, bar)
    log.close()
    run.network.agent().save(out / "policy.npz")
    learners: dict[str, Agent] = {
        f"{NAME} (sampled)": run.network.agent(seed=config.seed, name=NAME),
        f"{NAME} (greedy)": run.network.agent(seed=config.seed, name=NAME, greedy=True),
    }
    games = run.collector.games
    return final_reports(games, learners, config.test_deals, out, progress)


def _measure(run: Run, strength: Strength, out: Path, bar: Any) -> None:
    """Add a point to the curve, and save the policy and the state of the run."""
    measured = strength.measure(run.network.agent(seed=run.config.seed, name=NAME), run.decisions)
    bar.set_postfix({f"v {name}": f"{row.result:.3f}" for name, row in measured.items()})
    snapshots = out / "snapshots"
    snapshots.mkdir(exist_ok=True)
    run.network.agent().save(snapshots / f"{run.decisions:012}.npz")
    save_checkpoint(out, run.decisions, *run.snapshot())


# ----------------------------------------------------------------------------------------------
# The run


class Run:
    """The state of a run: tables, network, optimizer, past selves, random numbers."""

    def __init__(self, config: Config) -> None:
        self.config = config
        games = training_games(config.game, config.options)
        self.collector = Collector(
            games,
            config.num_tables,
            config.num_steps,
            config.opponents,
            config.first_deal,
            config.central_critic,
        )
        torch.manual_seed(config.seed)  # of the first weights
        widest = max(games, key=lambda game: game.critic_state_size)
        self.network = ActorCritic(
            widest, config.layers, config.central_critic, config.shares_actions
        ).to(config.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5, fused=True)
        self.generator = torch.Generator(config.device).manual_seed(config.seed)
        self.magnet = copy.deepcopy(self.network.actor)
        self.past: list[nn.Module] = []
        self.updates = self.renewals = 0

    @property
    def decisions(self) -> int:
        """How many decisions the learner has made."""
        return self.collector.decisions

    @property
    def share(self) -> float:
        """How much of the run is done, between 0 and 1."""
        return min(1.0, self.decisions / self.config.decisions)

    @property
    def learning_rate(self) -> float:
        """Of the optimizer now."""
        return self.config.learning_rate * (1.0 - self.share)

    @property
    def entropy_weight(self) -> float:
        """Of the entropy bonus now."""
        start, end = self.config.entropy_start, self.config.entropy_end
        return start + self.share * (end - start)

    def improve(self) -> dict[str, float]:
        """Play a rollout, learn from it, and return what there is to log."""
        began, collector = time.perf_counter(), self.collector
        was, engine, others = self.decisions, collector.engine_seconds, collector.opponent_seconds
        self._keep_past()
        buffer = collector.collect(self.act, self._opponents())
        collected = time.perf_counter()
        self._judge(buffer)
        buffer.assign_credit(self.config.gamma, self.config.gae_lambda)
        metrics = self._learn(buffer)
        self.updates += 1
        seconds = time.perf_counter() - began
        return metrics | {
            "decisions_per_second": (self.decisions - was) / seconds,
            "share_of_rollout": (collected - began) / seconds,
            "share_of_engine": (collector.engine_seconds - engine) / seconds,
            "share_of_opponents": (collector.opponent_seconds - others) / seconds,
        }

    # -- play ----------------------------------------------------------------------------------

    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Sample an action for each position; also return their log-probabilities."""
        return self.sample(self.network.actor, observation, action_mask)

    @torch.no_grad()
    def sample(
        self, actor: nn.Module, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Let any policy act; see `act`."""
        with self._precision():
            logs = log_probabilities(actor, self._tensor(observation), self._tensor(mask))
        # The action with the largest ratio of its chance to an exponential number is a fair sample.
        noise = torch.empty_like(logs).exponential_(generator=self.generator)
        action = (logs.exp() / noise.clamp_min_(1e-20)).argmax(1)
        chosen = logs.gather(1, action[:, None]).squeeze(1)
        return action.cpu().numpy(), chosen.cpu().numpy()

    def _opponents(self) -> dict[str, list[Agent]]:
        """Make the opponents of a rollout; their random numbers are those of the update."""
        seed = combine(self.config.first_deal, self.updates)
        games = self.collector.games
        made: dict[str, list[Agent]] = {}
        for name in self.config.opponents:
            if name == PAST:
                made[name] = [PastSelf(self, self.past[seed % len(self.past)])] * len(games)
            else:
                made[name] = [agents.make(game, name, seed) for game in games]
        return made

    def _keep_past(self) -> None:
        """Renew the magnet, and keep a past self, after every 20th of the run."""
        if self.share * NUM_RENEWALS < self.renewals:
            return
        self.renewals += 1
        self.magnet.load_state_dict(self.network.actor.state_dict())
        self.past = [*self.past, copy.deepcopy(self.magnet)][-self.config.pool_size :]

    def _precision(self) -> Any:
        return torch.autocast(self.config.device, torch.bfloat16, self.config.bfloat16)

    def _tensor(self, array: npt.NDArray[Any]) -> Tensor:
        """Return an array as a tensor, on the same memory where the device is the CPU."""
        return torch.from_numpy(array).to(self.config.device)

    # -- learning ------------------------------------------------------------------------------

    @torch.no_grad()
    def _judge(self, buffer: Buffer) -> None:
        """Write the critic's value of every decision of the learner."""
        places = np.flatnonzero(buffer.seat >= 0)
        seen = self._tensor(buffer.seen.reshape(buffer.seat.size, -1))
        values = buffer.value.reshape(-1)
        for start in range(0, len(places), _CHUNK):
            part = places[start : start + _CHUNK]
            with self._precision():
                values[part] = self.network.value(seen[torch.from_numpy(part)]).cpu().numpy()

    def _learn(self, buffer: Buffer) -> dict[str, float]:
        """Improve the network on the decisions whose outcome is known."""
        config = self.config
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate
        places = self._tensor(np.flatnonzero(buffer.is_closed))
        data = {
            "seen": buffer.seen.reshape(-1, buffer.seen.shape[2]),
            "mask": buffer.mask.reshape(-1, buffer.mask.shape[2]),
            "action": buffer.action.reshape(-1),
            "log_probability": buffer.log_probability.reshape(-1),
            "advantage": buffer.advantage.reshape(-1),
            "value": buffer.value.reshape(-1),
        }
        tensors = {name: self._tensor(array) for name, array in data.items()}
        tensors["target"] = tensors["advantage"] + tensors["value"]
        advantage = tensors["advantage"][places]
        spread, mean = torch.std_mean(advantage)
        tensors["advantage"] = (tensors["advantage"] - mean) / (spread + 1e-8)
        num_parts = max(1, len(places) // config.minibatch)
        sums = torch.zeros(len(_METRICS), device=config.device)
        for _ in range(config.num_epochs):
            order = places[torch.randperm(len(places), generator=self.generator)]
            for part in order.tensor_split(num_parts):
                sums += self._descend({name: all_[part] for name, all_ in tensors.items()})
        means = (sums / (config.num_epochs * num_parts)).tolist()
        targets = tensors["target"][places]
        unexplained = (advantage.var() / targets.var()).item()
        return dict(zip(_METRICS, means, strict=True)) | {
            "explained_variance": 1.0 - unexplained,
            "learning_rate": self.learning_rate,
        }

    def _descend(self, batch: dict[str, Tensor]) -> Tensor:
        """Take one step of the optimizer; return what `_METRICS` names."""
        config, network = self.config, self.network
        observation = batch["seen"][:, : self.collector.games[0].observation_size]
        with self._precision():
            logs = log_probabilities(network.actor, observation, batch["mask"])
            value = network.value(batch["seen"])
        chosen = logs.gather(1, batch["action"][:, None]).squeeze(1)
        change = chosen - batch["log_probability"]
        ratio = change.exp()
        clipped = ratio.clamp(1.0 - config.clip_range, 1.0 + config.clip_range)
        policy_loss = -torch.min(ratio * batch["advantage"], clipped * batch["advantage"]).mean()
        entropy = -(logs.exp() * logs).sum(1).mean()
        value_loss = (value - batch["target"]).square().mean()
        loss = policy_loss - self.entropy_weight * entropy + config.value_weight * value_loss
        if config.magnet_weight:
            with torch.no_grad(), self._precision():
                anchor = log_probabilities(self.magnet, observation, batch["mask"])
            divergence = (logs.exp() * (logs - anchor)).sum(1).mean()
            loss = loss + config.magnet_weight * divergence
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), config.max_gradient)
        self.optimizer.step()
        with torch.no_grad():
            moved = (ratio - 1.0 - change).mean()
            is_clipped = ((ratio - 1.0).abs() > config.clip_range).float().mean()
            return torch.stack([policy_loss, value_loss, entropy, moved, is_clipped])


_METRICS = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")


class PastSelf:
    """A policy that the learner once had, as an opponent."""

    name = PAST
    plays = SAMPLED

    def __init__(self, run: Run, actor: nn.Module) -> None:
        self._run = run
        self._actor = actor

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `Agent.act`."""
        return self._run.sample(self._actor, observation, action_mask)[0]
