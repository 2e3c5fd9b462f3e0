"""Deep Monte-Carlo: what decisions return, what the network answers, and whether a run learns."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import agents
import cardenvs
from agents.learned import ValueAgent, load_network
from cardenvs.core.batch import Batch

pytest.importorskip("torch")

import torch

from cardenvs.core.state import State
from tests.toys.kuhn_view import DEALS
from tests.toys.nash import child, expected_returns, tabular
from training.checkpoints import load_checkpoint
from training.dmc import Config, Run, config_of, train
from training.dmc_learner import DMCConfig, Learner
from training.evaluate import evaluate
from training.networks import ActionValues
from training.players import read_player
from training.processes import Processes
from training.returns import Decisions, Returns
from training.rollout import Collector
from training.runs import training_games

TINY = Config(
    game="braus-v0",
    decisions=1_536,
    num_tables=16,
    num_steps=32,
    minibatch=64,
    layers=(16, 16),
    curve_points=3,
    curve_deals=1,
    test_deals=1,
    measured_against=("random", "hints"),
    bfloat16=False,
)


def random_policy(seed: int) -> Any:
    rng = np.random.default_rng(seed)

    def act(observation: Any, mask: Any) -> Any:
        actions = (rng.random(mask.shape) * mask).argmax(1)
        return actions, np.zeros(len(actions), np.float32)

    return act


# ----------------------------------------------------------------------------------------------
# Returns


class PlainLog:
    """Writes down every decision at its table, and what its seat got when the episode was over."""

    def __init__(self, num_tables: int) -> None:
        self.open: list[list[Any]] = [[] for _ in range(num_tables)]
        self.finished: list[tuple[int, int, int, bytes, float]] = []

    def add(self, collector: Collector) -> None:
        buffer = collector.buffer
        for row in range(buffer.num_carried, len(buffer.seat)):
            for table in range(buffer.seat.shape[1]):
                self._add(buffer, row, table)

    def _add(self, buffer: Any, row: int, table: int) -> None:
        seat = int(buffer.seat[row, table])
        own = self.open[table]
        if seat >= 0:
            seen = buffer.seen[row, table].tobytes()
            own.append([seat, int(buffer.action[row, table]), seen, 0.0])
        for decision in own:
            decision[3] += float(buffer.reward[row, table, decision[0]])
        if buffer.end[row, table]:
            self.finished += [(table, *decision) for decision in own]
            own.clear()


def as_tuples(done: Decisions) -> list[tuple[int, int, int, bytes, float]]:
    return [
        (*numbers, seen.tobytes(), gained)
        for *numbers, seen, gained in zip(
            done.table.tolist(),
            done.seat.tolist(),
            done.action.tolist(),
            done.observation,
            done.gained.tolist(),
            strict=True,
        )
    ]


@pytest.mark.parametrize("shares", [{}, {"random": 0.5}])
@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_returns_are_those_of_a_plain_log(game_id: str, shares: dict[str, float]) -> None:
    games = training_games(game_id, {})[:2]
    collector = Collector(games, 4, 25, shares, 3, False)
    returns, log = Returns(collector.size), PlainLog(4)
    found: list[Any] = []
    others = {"random": [agents.make(game, "random", 1) for game in games]}
    for _ in range(12):
        buffer = collector.collect(random_policy(4), others)
        log.add(collector)
        found += as_tuples(returns.take(buffer))
    assert collector.episodes > 0
    assert len(found) + len(returns.waiting) == collector.decisions
    assert len(found) == len(log.finished)
    for one, other in zip(sorted(found), sorted(log.finished), strict=True):
        assert one[:4] == other[:4]
        assert one[4] == pytest.approx(other[4], abs=1e-5)


# ----------------------------------------------------------------------------------------------
# The network


def positions(game: Any, count: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Return observations and masks in the middle of play."""
    batch = Batch(game, count, 7)
    batch.reset()
    for _ in range(12):
        batch.step(batch.sample_actions())
    return batch.observation, batch.action_mask


def some_network(game: Any) -> ActionValues:
    """Return a network in which all weights count."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        network = ActionValues(game, (24, 16))
        torch.nn.init.normal_(network.own)
        torch.nn.init.normal_(network.last.weight)
    return network


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_pairs_are_answered_as_by_a_plain_perceptron(game_id: str) -> None:
    game = training_games(game_id, {})[0]
    network = some_network(game)
    observation, mask = positions(game, 6)
    rows, actions = np.nonzero(mask)
    with torch.no_grad():
        found = network(*map(torch.from_numpy, (observation, actions, rows))).numpy()
        single = network(*map(torch.from_numpy, (observation[rows], actions))).numpy()
    own = np.eye(game.num_actions, dtype=np.float32)[actions]
    scaled = observation[rows] * game.layout.scale
    signal = np.concatenate([scaled, network.features.numpy()[actions], own], axis=1)
    weights = [network.first.weight, network.shared.weight, network.own.T]
    matrices = [torch.cat(weights, 1), network.hidden[0].weight, network.last.weight]
    biases = [network.first.bias, network.hidden[0].bias, network.last.bias]
    for i, (matrix, bias) in enumerate(zip(matrices, biases, strict=True)):
        signal = np.maximum(signal, 0.0) if i else signal
        signal = signal @ matrix.detach().numpy().T + bias.detach().numpy()
    assert found == pytest.approx(signal[:, 0], abs=1e-4)
    assert single == pytest.approx(found, abs=1e-5)
    assert np.ptp(found) > 0.1


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_the_agent_without_torch_plays_as_the_learner(game_id: str, tmp_path: Path) -> None:
    game = training_games(game_id, {})[0]
    config = DMCConfig(layers=(24, 16), bfloat16=False)
    learner = Learner(game, config, "cpu", 1, Processes())
    learner.network.load_state_dict(some_network(game).state_dict())
    observation, mask = positions(game, 50)
    file = tmp_path / "policy.npz"
    learner.network.agent().save(file)
    agent = read_player(str(file)).make(game, 0)
    assert isinstance(agent, ValueAgent)
    actions = agent.act(observation, mask)
    assert (actions == learner.act_by(learner.network, observation, mask)).all()
    assert agent.act(observation[3], mask[3]) == actions[3]
    assert len(set(actions.tolist())) > 2


def test_the_agent_is_a_copy_and_answers_nothing_at_finished_tables() -> None:
    game = training_games("bred_ryg-v0", {})[0]
    network = some_network(game)
    agent, (observation, mask) = network.agent(), positions(game, 20)
    before = agent.values(observation, mask)
    with torch.no_grad():
        for weight in network.parameters():
            weight += 1.0
    assert (agent.values(observation, mask) == before).all()
    assert ((before > -np.inf) == (mask == 1)).all()
    mask[4] = 0
    assert agent.act(observation, mask)[4] == 0


def test_a_file_of_another_game_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "policy.npz"
    some_network(training_games("braus-v0", {})[0]).agent().save(file)
    assert isinstance(load_network(file, cardenvs.load_game("braus"), name="me"), ValueAgent)
    with pytest.raises(ValueError, match=r"inputs and 37 outputs; .* needs"):
        read_player(str(file)).make(cardenvs.load_game("bred_ryg"), 0)


def test_a_part_of_the_actions_is_random_and_all_are_legal() -> None:
    game = training_games("bred_ryg-v0", {})[0]
    observation, mask = positions(game, 200)
    shares = []
    for epsilon in (0.0, 0.3, 1.0):
        config = DMCConfig(layers=(16,), epsilon_start=epsilon, temperature=0.0, bfloat16=False)
        learner = Learner(game, config, "cpu", 1, Processes())
        actions, _ = learner.act(observation, mask)
        assert mask[np.arange(200), actions].all()
        shares.append((actions != learner.act_by(learner.network, observation, mask)).mean())
    assert shares[0] == 0.0
    assert 0.05 < shares[1] < shares[2]


def test_random_actions_become_rare_in_the_first_fifth_of_a_run() -> None:
    game = training_games("bred_ryg-v0", {})[0]
    config = DMCConfig(layers=(16,), epsilon_end=0.05)
    learner = Learner(game, config, "cpu", 1, Processes())
    found = []
    for share in (0.0, 0.1, 0.2, 1.0):
        learner.share = share
        found.append(learner.epsilon)
    assert found == pytest.approx([1.0, 0.525, 0.05, 0.05])


def test_a_temperature_draws_actions_by_their_values() -> None:
    game = training_games("bred_ryg-v0", {})[0]
    config = DMCConfig(layers=(16,), epsilon_start=0.0, temperature=0.5, bfloat16=False)
    learner = Learner(game, config, "cpu", 1, Processes())
    observation, mask = positions(game, 8)
    values = learner.network.agent().values(observation, mask)
    chances = np.exp(values / 0.5) / np.exp(values / 0.5).sum(1, keepdims=True)
    counts = np.zeros(mask.shape)
    repeated = observation.repeat(500, 0), mask.repeat(500, 0)
    actions, _ = learner.act(*repeated)
    np.add.at(counts, (np.arange(8).repeat(500), actions), 1 / 500)
    assert np.abs(counts - chances).max() < 0.1
    assert (counts > 0.1).sum() > 10


# ----------------------------------------------------------------------------------------------
# Learning


class Uniform(Learner):
    """Learns what actions are worth if all seats go on at random."""

    def act(self, observation: Any, action_mask: Any) -> Any:
        draws = torch.rand(action_mask.shape, generator=self._generator).numpy()
        actions = (draws * action_mask).argmax(1)
        return actions, np.zeros(len(actions), np.float32)


def uniform(observation: Any, mask: Any) -> Any:
    return mask / mask.sum(1, keepdims=True)


def exact_values(roots: Sequence[State]) -> dict[bytes, npt.NDArray[np.float64]]:
    """Return what each action is worth to its seat if all go on at random, by observation."""
    table = tabular(roots, uniform)
    sums = {seen: np.zeros((2, len(chances))) for seen, chances in table.items()}

    def visit(state: State, weight: float) -> None:
        if state.is_terminal():
            return
        for action in state.legal_actions():
            after = child(state, action)
            worth = expected_returns([after], [table, table])[state.current_player]
            sums[state.observation().tobytes()][:, action] += weight * worth, weight
            visit(after, weight / len(state.legal_actions()))

    for root in roots:
        visit(root, 1.0)
    return {seen: worth / weight for seen, (worth, weight) in sums.items()}


@pytest.mark.compiled
@pytest.mark.parametrize("td_lambda", [1.0, 0.7])
def test_values_are_those_of_a_fixed_policy(kuhn_id: str, td_lambda: float) -> None:
    game = cardenvs.load_game(kuhn_id)
    config = DMCConfig(
        layers=(32, 32),
        minibatch=256,
        learning_rate=1e-2,
        td_lambda=td_lambda,
        bfloat16=False,
    )
    learner = Uniform(game, config, "cpu", 1, Processes())
    collector = Collector([game], 128, 16, {}, 1, False)
    for step in range(40):
        learner.share = step / 40
        learner.learn(collector.collect(learner.act, {}))
    agent = learner.network.agent()
    exact = exact_values([game.new_initial_state(0, deal) for deal in DEALS])
    assert len(exact) == 12
    for seen, worth in exact.items():
        observation = np.frombuffer(seen, np.int8)[None]
        found = agent.values(observation, np.ones((1, game.num_actions), np.int8))[0]
        assert found == pytest.approx(worth, abs=0.15)


def curve_of(out: Path) -> list[dict[str, str]]:
    with (out / "curve.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.compiled
def test_a_run_learns() -> None:
    run = Run(config_of("bred_ryg-v0", "ci"), Processes())
    game = run.games[0]
    random = agents.make(game, "random", 1)
    while run.decisions < run.config.decisions:
        run.improve()
    everybody = {"dmc": run.player(), "random": random}
    report = evaluate(game, everybody, [("dmc", "random")], 200, "dev", progress=False)
    row = report.rows[0]
    assert row.high < 0.25


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "tiny"
    train(TINY, out, progress=False)
    return out


FILES = (
    "checkpoints config.json curve.csv curve.png evaluation.json evaluation.md evaluation.txt "
    "log.csv policy.npz snapshots tensorboard"
)


def test_a_run_leaves_its_files(run: Path) -> None:
    assert sorted(file.name for file in run.iterdir()) == FILES.split()
    assert len(curve_of(run)) == len(list((run / "snapshots").iterdir())) == 4
    told = json.loads((run / "evaluation.json").read_text())
    pairs = {(row["player"], row["others"]) for row in told["rows"]}
    assert ("dmc (greedy)", "hints (greedy)") in pairs
    assert ("hints (greedy)", "dmc (greedy)") in pairs


class InterruptionError(Exception):
    """What stops a run in the middle."""


@pytest.mark.parametrize(
    "changed", [{"optimizer": "rmsprop", "td_lambda": 1.0}, {"td_lambda": 0.9}], ids=str
)
def test_a_run_goes_on_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    config = replace(TINY, opponents={"hints": 0.3, "past": 0.2}, **changed)
    train(config, tmp_path / "whole", progress=False)
    improve, count = Run.improve, 0

    def improve_twice(self: Run) -> dict[str, float]:
        nonlocal count
        count += 1
        if count > 2:
            raise InterruptionError
        return improve(self)

    monkeypatch.setattr(Run, "improve", improve_twice)
    with pytest.raises(InterruptionError):
        train(config, tmp_path / "parts", progress=False)
    monkeypatch.setattr(Run, "improve", improve)
    train(config, tmp_path / "parts", resume=True, progress=False)
    whole, parts = (load_checkpoint(tmp_path / name) for name in ("whole", "parts"))
    assert whole
    assert parts
    assert whole.step == parts.step >= config.decisions
    assert whole.values == parts.values
    assert whole.arrays.keys() == parts.arrays.keys()
    for name, array in whole.arrays.items():
        assert np.array_equal(array, parts.arrays[name]), name
    assert (len(whole.arrays["process.0.waiting.action"]) > 0) == (config.td_lambda == 1.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"optimizer": "sgd"}, "adam or rmsprop, not 'sgd'"),
        ({"layers": ()}, "layers are one or more widths"),
        ({"epsilon_end": 1.5}, "epsilon_end is a number between 0 and 1.0, not 1.5"),
        ({"temperature": -1.0}, "temperature is a number between 0 and inf, not -1.0"),
        ({"td_lambda": 2.0}, "td_lambda is a number between 0 and 1.0, not 2.0"),
        ({"seed": -1}, "seed is at least 0"),
    ],
)
def test_what_cannot_be_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TINY, **changed)


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_all_games_are_learnt(game_id: str) -> None:
    tables = 2 * len(training_games(game_id, {}))
    run = Run(replace(TINY, game=game_id, num_tables=tables, opponents={}), Processes())
    before = run.player()
    learnt = [run.improve()["learnt"] for _ in range(6)]
    assert sum(learnt) > 0
    assert run.decisions == 6 * TINY.num_steps * tables
    assert (run.player().action_rows != before.action_rows).any()
