"""How many decisions a second each face plays, beside the floor that no engine can pass.

    python -m benchmarks.throughput bred_ryg --json benchmarks/results/throughput_bred_ryg.json

Every figure is the median over rounds; in one round all of them are measured in turn, so that
the ratios hold when the machine's speed drifts. Rates are decisions per second of wall time.

The floor: copying the rows of the tables (`np.copyto` on their bytes) and filling the
observation and mask buffers, which any engine of this memory layout must at least do; and, for
PettingZoo, a do-nothing environment behind the three wrappers that its own games wear.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

import numba
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from tqdm import tqdm

from cardenvs.command_line import add_game_arguments, game_of
from cardenvs.core.batch import Batch
from cardenvs.core.episode import NO_ACTION, legal_sampler
from cardenvs.core.game import Game
from cardenvs.core.kernel import entry_point, kernel, rare_kernel
from cardenvs.core.rng import mix, start_stream

TABLES = 4096
TABLE_COUNTS = (256, 1024, 4096, 16384, 65536)
ENGINE_TABLES = 1024
SECONDS = 0.4  # the least that one figure of one round takes


def rate(play: Callable[[], int]) -> float:
    """Return how many decisions a second a function plays that returns how many it played."""
    decisions, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < SECONDS:
        decisions += play()
    return decisions / elapsed


# ----------------------------------------------------------------------------------------------
# The engine and the batch


def engine_alone(game: Game) -> Callable[[], int]:
    """Return a function that plays at random inside one kernel; masks but no observations."""
    rules = game.rules
    deal, start = rules.deal, rules.start
    apply_action, is_terminal = rules.apply_action, rules.is_terminal
    forced_action, write_action_mask = rules.forced_action, rules.write_action_mask
    goes_on, pass_the_deal = rules.goes_on, rules.pass_the_deal
    random_legal = legal_sampler(game.num_actions)

    @kernel
    def begin(state: Any, seed: int, episode: int) -> None:
        start_stream(state.rng, seed, episode, state.deal_number)
        deal(state)
        start(state)

    @rare_kernel
    def next_deal(state: Any, seed: int, episode: int) -> None:
        pass_the_deal(state)
        state.deal_number += 1
        begin(state, seed, episode)

    @kernel
    def to_decision(state: Any, mask: Any, seed: int, episode: int) -> bool:
        while True:
            while is_terminal(state):
                if not goes_on(state):
                    return False
                next_deal(state, seed, episode)
            action = forced_action(state)
            if action == NO_ACTION:
                write_action_mask(state, mask)
                return True
            apply_action(state, action)

    @entry_point
    def play(rows: Any, blank: Any, masks: Any, key: int, steps: int) -> None:
        for i in range(rows.shape[0]):
            for step in range(steps):
                apply_action(rows[i], random_legal(masks[i], mix(steps * (key + i) + step)))
                episode = step
                while not to_decision(rows[i], masks[i], key + i, episode):
                    rows[i] = blank[0]
                    begin(rows[i], key + i, episode)
                    episode += steps  # where a deal has no decision

    rows, blank = game.blank_rows(ENGINE_TABLES), game.blank_rows()
    masks = np.zeros((ENGINE_TABLES, game.num_actions), np.int8)
    first = Batch(game, ENGINE_TABLES, seed=1)
    first.reset()
    rows[:], masks[:] = first._tables.rows, first.action_mask
    keys = iter(range(1, 2**26, ENGINE_TABLES))  # so that `mix` gets 32 bits

    def run() -> int:
        play(rows, blank, masks, next(keys), 64)
        return 64 * ENGINE_TABLES

    return run


class BatchPlay:
    """A batch in the middle of its games, stepped with actions that are sampled off the clock."""

    def __init__(self, game: Game, tables: int, threads: int = 1) -> None:
        self.batch = Batch(game, tables, seed=1, num_threads=threads)
        self.batch.reset()
        for _ in range(200):  # so that the tables are at all stages of their games
            self.batch.step(self.batch.sample_actions())

    def rate(self) -> float:
        """Return the decisions a second of `step` alone."""
        batch, spent, steps = self.batch, 0.0, 0
        while spent < SECONDS:
            actions = batch.sample_actions()
            start = time.perf_counter()
            batch.step(actions)
            spent += time.perf_counter() - start
            steps += 1
        return steps * batch.num_envs / spent

    def rate_with_sampling(self) -> float:
        """Return the decisions a second of `sample_actions` and `step`."""

        def step() -> int:
            self.batch.step(self.batch.sample_actions())
            return self.batch.num_envs

        return rate(step)

    def floor(self) -> float:
        """Return the tables a second of copying the rows and filling the two buffers."""
        tables = self.batch._tables
        source = tables.rows.view(np.uint8)
        target = np.empty_like(source)
        mask, observation = np.empty_like(tables.action_mask), np.empty_like(tables.observation)

        def touch() -> int:
            np.copyto(target, source)
            mask.fill(1)
            observation.fill(1)
            return len(tables.rows)

        return rate(touch)


# ----------------------------------------------------------------------------------------------
# PettingZoo


class DoNothing(AECEnv):
    """An AEC environment that hands out constants: what is left is the cost of the interface."""

    metadata: ClassVar = {"name": "do_nothing_v0", "render_modes": [], "is_parallelizable": False}

    def __init__(self, game: Game, length: int) -> None:
        self.render_mode = None
        self.possible_agents = [f"player_{seat}" for seat in range(game.num_players)]
        self._length = length
        self._observation = {
            "observation": np.zeros(game.observation_size, np.int8),
            "action_mask": np.ones(game.num_actions, np.int8),
        }
        box = spaces.Box(0, 127, (game.observation_size,), np.int8)
        mask = spaces.Box(0, 1, (game.num_actions,), np.int8)
        self._observation_space = spaces.Dict({"observation": box, "action_mask": mask})
        self._action_space = spaces.Discrete(game.num_actions)

    def observation_space(self, agent: str) -> Any:
        return self._observation_space

    def action_space(self, agent: str) -> Any:
        return self._action_space

    def observe(self, agent: str) -> Any:
        return self._observation

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, Any] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._steps = 0

    def step(self, action: Any) -> None:
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._steps += 1
        self.agent_selection = self.agents[self._steps % len(self.agents)]
        if self._steps == self._length:
            self.terminations = dict.fromkeys(self.agents, True)
            self._deads_step_first()


def wrapped_do_nothing(game: Game, length: int) -> AECEnv:
    """Return the do-nothing environment as PettingZoo wraps its own games."""
    env = wrappers.TerminateIllegalWrapper(DoNothing(game, length), illegal_reward=-1.0)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


def record_actions(game: Game, seeds: range) -> list[tuple[int, list[int]]]:
    """Play games at random and return their seeds and actions."""
    rng = np.random.default_rng(0)
    games = []
    for seed in seeds:
        state, actions = game.new_initial_state(seed=seed), []
        while not state.is_terminal():
            actions.append(int(rng.choice(state.legal_actions())))
            state.apply_action(actions[-1])
        games.append((seed, actions))
    return games


def replay(env: AECEnv, games: list[tuple[int, list[int]]]) -> Callable[[], int]:
    """Return a function that replays games: reset, last, step, dead steps included."""

    def play() -> int:
        for seed, actions in games:
            env.reset(seed=seed)
            for action in actions:
                env.last()
                env.step(action)
            while env.agents:
                env.last()
                env.step(None)
        return sum(len(actions) for _, actions in games)

    return play


def aec_rates(game: Game) -> dict[str, Callable[[], float]]:
    """Return what measures the AEC environments and their floor."""
    module = importlib.import_module(f"cardenvs.{game.id.replace('-', '_')}")
    games = record_actions(game, range(20))
    length = round(sum(len(actions) for _, actions in games) / len(games))
    constant = [(0, [0] * length)] * len(games)
    plays = {
        "aec_raw_env": replay(module.raw_env(**game.options), games),
        "aec_env": replay(module.env(**game.options), games),
        "aec_do_nothing_raw": replay(DoNothing(game, length), constant),
        "aec_do_nothing_wrapped": replay(wrapped_do_nothing(game, length), constant),
    }
    return {name: lambda play=play: rate(play) for name, play in plays.items()}


# ----------------------------------------------------------------------------------------------
# The first call of a process

_FIRST_CALL = """
import json, sys, time
start = time.perf_counter()
import cardenvs
imported = time.perf_counter()
heavy = [name for name in ("numba", "torch") if name in sys.modules]

import importlib
env = importlib.import_module("cardenvs.{module}").raw_env()
env.reset(seed=1)
reset = time.perf_counter()
env.last()
env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
print(json.dumps([imported - start, reset - start, time.perf_counter() - start, heavy]))
"""


def first_calls(game: Game, repeats: int) -> dict[str, Any]:
    """Measure import, first reset and first step in new processes, with a cold and a warm cache."""
    script = _FIRST_CALL.format(module=game.id.replace("-", "_"))
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "CARDENVS_CACHE_DIR": folder}

        def run() -> Any:
            command = [sys.executable, "-c", script]
            done = subprocess.run(command, env=environment, capture_output=True, check=True)
            return json.loads(done.stdout)

        cold = run()
        warm = [run() for _ in range(repeats)]
    names = ("import_seconds", "first_reset_seconds", "first_step_seconds")
    figures: dict[str, Any] = {"heavy_imports": cold[3]}
    for place, name in enumerate(names):
        figures[f"{name}_cold"] = cold[place]
        figures[f"{name}_warm"] = median(run[place] for run in warm)
    return figures


# ----------------------------------------------------------------------------------------------


def measure(game: Game, rounds: int) -> dict[str, Any]:
    """Measure everything and return medians, spreads and ratios."""
    one, two = BatchPlay(game, TABLES), BatchPlay(game, TABLES, threads=2)
    engine = engine_alone(game)
    figures: dict[str, Callable[[], float]] = {
        "engine_alone": lambda: rate(engine),
        "batch_step": one.rate,
        "batch_step_two_threads": two.rate,
        "batch_step_and_sampling": one.rate_with_sampling,
        "floor_copy_and_fill": one.floor,
        **aec_rates(game),
    }
    for tables in TABLE_COUNTS:
        if tables != TABLES:
            figures[f"batch_step_{tables}"] = BatchPlay(game, tables).rate
    for figure in figures.values():
        figure()  # compile and warm up
    samples: dict[str, list[float]] = {name: [] for name in figures}
    for _ in tqdm(range(rounds), desc=f"rounds for {game.id}", unit="round"):
        for name, figure in figures.items():
            samples[name].append(figure())
    return {
        "rates": {name: spread(values) for name, values in samples.items()},
        "ratios": {
            "batch_step / floor": ratio(samples, "batch_step", "floor_copy_and_fill"),
            "two threads / one": ratio(samples, "batch_step_two_threads", "batch_step"),
            "env / wrapped do-nothing": ratio(samples, "aec_env", "aec_do_nothing_wrapped"),
            "raw_env / env": ratio(samples, "aec_raw_env", "aec_env"),
        },
        "first_calls": first_calls(game, repeats=5),
    }


def spread(values: list[float]) -> dict[str, float]:
    """Return the median, the least and the greatest of some figures."""
    return {"median": median(values), "min": min(values), "max": max(values)}


def ratio(samples: dict[str, list[float]], upper: str, lower: str) -> dict[str, float]:
    """Return the spread of the ratios of two figures, round by round."""
    return spread([a / b for a, b in zip(samples[upper], samples[lower], strict=True)])


def machine() -> dict[str, Any]:
    """Describe where and with what the figures were measured."""
    names = [line for line in _cpuinfo() if line.startswith("model name")]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True)
    return {
        "processor": names[0].partition(": ")[2] if names else platform.processor(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "commit": commit.stdout.strip(),
    }


def _cpuinfo() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text().splitlines() if file.exists() else []


def report(result: dict[str, Any]) -> str:
    """Return the figures as tables in Markdown."""
    lines = ["| Decisions per second | median | min | max |", "|---|---|---|---|"]
    lines += [_row(name, value, ",.0f") for name, value in result["rates"].items()]
    lines += ["", "| Ratio | median | min | max |", "|---|---|---|---|"]
    lines += [_row(name, value, ".2f") for name, value in result["ratios"].items()]
    lines += ["", "| First call in a process | seconds |", "|---|---|"]
    for name, value in result["first_calls"].items():
        lines.append(f"| {name} | {value if isinstance(value, list) else round(value, 3)} |")
    return "\n".join(lines)


def _row(name: str, value: dict[str, float], form: str) -> str:
    return f"| {name} | {value['median']:{form}} | {value['min']:{form}} | {value['max']:{form}} |"


def main() -> None:
    """Measure from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_game_arguments(parser, default="bred_ryg")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    game = game_of(arguments)
    result = {"game": game.id, "options": game.options, "machine": machine()}
    result.update(measure(game, arguments.rounds))
    print(report(result))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
