"""How many decisions a second the learners learn from, beside what dense products allow.

    python -m benchmarks.training_speed bred_ryg --rounds 7

Whole loops are measured, playing and learning, on one core: `training.ppo` in float32 and in
bfloat16, MaskablePPO of sb3-contrib on the same game, and MaskablePPO on an environment that does
nothing. All have the same network, epochs, rollouts and minibatches, and at every table one learner
among hint agents. A decision counts when the learner has learnt from it, per second of wall time.
In one round all of them are measured in turn, so that the ratios hold when the machine's speed
drifts; figures are medians over rounds. Rates per second of processor time leave out the wait for
a core.

The floor: nothing but the matrix products of the network and of its gradients, dense, in
minibatches of the same size. (A learner that passes over the zeros of observations can go below
it.) Shares of our loop's wall time: `engine` is stepping, observing and masking, `opponents` the
hint agents, `rollout` both of them and the learner's own play.
"""

from __future__ import annotations

import os

# Before NumPy is imported, so that one core means one core.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import itertools
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env.base_vec_env import VecEnv
from tqdm import tqdm

import agents
from benchmarks.throughput import ratio, spread
from cardenvs.command_line import add_game_arguments, game_of
from cardenvs.core.game import Game
from training import ppo, sb3_maskable_ppo
from training.origin import origin
from training.processes import Processes
from training.runs import training_games

PACKAGES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")

RATIOS = {
    "ppo float32 / MaskablePPO": ("ppo_float32", "maskable_ppo"),
    "ppo bfloat16 / MaskablePPO": ("ppo_bfloat16", "maskable_ppo"),
    "MaskablePPO / on do-nothing": ("maskable_ppo", "maskable_ppo_do_nothing"),
    "ppo float32 / floor": ("ppo_float32", "floor_float32"),
    "ppo bfloat16 / floor": ("ppo_bfloat16", "floor_bfloat16"),
}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What all learners have in common.

    Attributes:
        num_tables, num_steps: a rollout is so many decisions of the learner at each of so many
            tables.
        minibatch, num_epochs: of the updates after each rollout.
        layers: widths of the hidden layers, of the policy and of the value each.
        decisions: those of a learner in a round, rounded up to whole rollouts.
    """

    num_tables: int = 512
    num_steps: int = 64
    minibatch: int = 4_096
    num_epochs: int = 4
    layers: tuple[int, ...] = (128, 128)
    decisions: int = 65_536

    @property
    def rollout(self) -> int:
        return self.num_tables * self.num_steps

    @property
    def shared(self) -> dict[str, Any]:
        """The fields of both trainers' configurations."""
        return {
            "num_tables": self.num_tables,
            "minibatch": self.minibatch,
            "num_epochs": self.num_epochs,
            "layers": self.layers,
            "opponents": {"hints": 1.0},
            "decisions": 2**40,  # the schedules stay where they begin
        }


@dataclass
class Sample:
    """One measurement.

    Attributes:
        decisions: that were learnt from.
        seconds, processor_seconds: what they took.
        shares: of parts of the loop in `seconds`, where they are known.
    """

    decisions: int
    seconds: float
    processor_seconds: float
    shares: dict[str, float] = field(default_factory=dict)


def timed(work: Callable[[], tuple[int, dict[str, float]]]) -> Sample:
    """Measure work that returns how many decisions it learnt from, and shares."""
    began, processor = time.perf_counter(), time.process_time()
    decisions, shares = work()
    seconds = time.perf_counter() - began
    return Sample(decisions, seconds, time.process_time() - processor, shares)


# ----------------------------------------------------------------------------------------------
# The learners


class DoNothing(VecEnv):
    """A vector environment that hands out the same positions for ever."""

    def __init__(self, like: VecEnv) -> None:
        self.render_mode = None
        super().__init__(like.num_envs, like.observation_space, like.action_space)
        self._observation = like.reset()
        self._masks = list(np.stack(like.env_method("action_masks")))
        self._rewards = np.zeros(like.num_envs, np.float32)
        self._dones = np.zeros(like.num_envs, np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(like.num_envs)]

    def reset(self) -> Any:
        return self._observation

    def step_async(self, actions: Any) -> None:
        pass

    def step_wait(self) -> Any:
        return self._observation, self._rewards, self._dones, self._infos

    def close(self) -> None:
        pass

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self, attr_name, value)

    def action_masks(self) -> Any:
        return self._masks

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        return getattr(self, method_name)()

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


def maskable_ppo(game: Game, setting: Setting, does_nothing: bool) -> Callable[[], Sample]:
    """Return what measures MaskablePPO, as `training.sb3_maskable_ppo` sets it up."""
    torch.distributions.Distribution.set_default_validate_args(False)  # as that does
    config = sb3_maskable_ppo.Config(game=game.id, num_steps=setting.num_steps, **setting.shared)
    env: Any = sb3_maskable_ppo._make_env(config, game)
    env.set_opponent(1, agents.make(game, "hints", 0).act)
    model = sb3_maskable_ppo._new_model(config, DoNothing(env) if does_nothing else env)
    model.set_logger(Logger(None, []))

    def learn() -> tuple[int, dict[str, float]]:
        was = model.num_timesteps
        model.learn(setting.decisions, reset_num_timesteps=False)
        return model.num_timesteps - was, {}

    return lambda: timed(learn)


def own_ppo(game: Game, setting: Setting, bfloat16: bool) -> Callable[[], Sample]:
    """Return what measures `training.ppo`; its steps are those of all seats."""
    config = ppo.Config(
        game=game.id,
        options=game.options,
        num_steps=setting.num_steps * game.num_players,
        central_critic=False,
        bfloat16=bfloat16,
        **setting.shared,
    )
    run = ppo.Run(config, Processes())

    def learn() -> tuple[int, dict[str, float]]:
        decisions, seconds = 0, dict.fromkeys(("rollout", "engine", "opponents"), 0.0)
        began = time.perf_counter()
        while decisions < setting.decisions - setting.rollout // 8:  # rollouts vary in length
            start = time.perf_counter()
            metrics = run.improve()
            spent = time.perf_counter() - start
            decisions += int(run.collector.buffer.is_closed.sum())
            for part in seconds:
                seconds[part] += metrics[f"share_of_{part}"] * spent
        total = time.perf_counter() - began
        return decisions, {part: spent / total for part, spent in seconds.items()}

    return lambda: timed(learn)


def products(game: Game, setting: Setting, kind: torch.dtype) -> Callable[[], Sample]:
    """Return what measures the floor: products of the shapes that the learner needs."""
    count = setting.minibatch
    networks = [(game.observation_size, *setting.layers, end) for end in (game.num_actions, 1)]
    layers = [
        (i, *(torch.ones(shape, dtype=kind) for shape in ((count, a), (a, b), (count, b))))
        for sizes in networks
        for i, (a, b) in enumerate(itertools.pairwise(sizes))
    ]

    def forward() -> None:
        for _, inputs, weight, _ in layers:
            inputs @ weight

    def backward() -> None:
        for i, inputs, weight, gradient in layers:
            inputs.T @ gradient
            if i:  # nobody asks for the gradient of the observations
                gradient @ weight.T

    def learn() -> tuple[int, dict[str, float]]:
        for _ in range(parts := max(1, setting.decisions // count)):
            forward()  # to act and to judge
            for _ in range(setting.num_epochs):
                forward()
                backward()
        return parts * count, {}

    return lambda: timed(learn)


# ----------------------------------------------------------------------------------------------


def measure(game: Game, setting: Setting, rounds: int, progress: bool = True) -> dict[str, Any]:
    """Measure everything and return medians, spreads and ratios."""
    torch.set_num_threads(1)
    (game,) = training_games(game.id, game.options)
    figures = {
        "maskable_ppo": maskable_ppo(game, setting, does_nothing=False),
        "maskable_ppo_do_nothing": maskable_ppo(game, setting, does_nothing=True),
        "ppo_float32": own_ppo(game, setting, bfloat16=False),
        "ppo_bfloat16": own_ppo(game, setting, bfloat16=True),
        "floor_float32": products(game, setting, torch.float32),
        "floor_bfloat16": products(game, setting, torch.bfloat16),
    }
    for figure in figures.values():
        figure()  # compile and warm up
    samples: dict[str, list[Sample]] = {name: [] for name in figures}
    for _ in tqdm(range(rounds), desc=f"rounds for {game.id}", unit="round", disable=not progress):
        for name, figure in figures.items():
            samples[name].append(figure())
    return summary(samples)


def summary(samples: dict[str, list[Sample]]) -> dict[str, Any]:
    """Return the spreads of rates, ratios and shares over the rounds."""
    clocks = {"": "seconds", "_of_processor_time": "processor_seconds"}
    result: dict[str, Any] = {}
    for suffix, clock in clocks.items():
        rates = {
            name: [sample.decisions / getattr(sample, clock) for sample in some]
            for name, some in samples.items()
        }
        result[f"rates{suffix}"] = {name: spread(values) for name, values in rates.items()}
        result[f"ratios{suffix}"] = {
            name: ratio(rates, upper, lower) for name, (upper, lower) in RATIOS.items()
        }
    result["shares"] = {
        f"{part}, {name}": spread([sample.shares[part] for sample in some])
        for name, some in samples.items()
        for part in some[0].shares
    }
    return result


def report(result: dict[str, Any]) -> str:
    """Return the figures as tables in Markdown."""
    parts = (
        ("Decisions learnt from per second", "rates", ",.0f"),
        ("Ratio", "ratios", ".2f"),
        ("Per second of processor time", "rates_of_processor_time", ",.0f"),
        ("Ratio by processor time", "ratios_of_processor_time", ".2f"),
        ("Share of wall time", "shares", ".3f"),
    )
    lines = []
    for title, part, form in parts:
        lines += [f"| {title} | median | min | max |", "|---|---|---|---|"]
        for name, value in result[part].items():
            cells = (f"{value[which]:{form}}" for which in ("median", "min", "max"))
            lines.append(f"| {' | '.join((name, *cells))} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Measure from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_game_arguments(parser, default="bred_ryg")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--decisions", type=int, default=Setting.decisions, help="of each learner in a round"
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    game = game_of(arguments)
    setting = Setting(decisions=arguments.decisions)
    about = {"game": game.id, "options": game.options, "setting": vars(setting)}
    result = about | {"rounds": arguments.rounds} | origin(PACKAGES)
    result |= measure(game, setting, arguments.rounds)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    print(report(result))


if __name__ == "__main__":
    main()
