"""The self-play trainer: what it learns, what a run leaves, and that it goes on bit for bit."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

import agents
import cardenvs
from agents.learned import NetworkAgent
from tests.toys import KUHN
from tests.toys.kuhn_view import DEALS
from tests.toys.nash import expected_returns, nash_conv, tabular
from training import ppo, self_play
from training.ppo import PRESETS, Config, Run, config_of, train
from training.ppo_learner import Learner
from training.processes import Processes
from training.rollout import Collector

ROOT = Path(__file__).parents[2]

TINY = Config(
    decisions=400,
    num_tables=10,
    num_steps=10,
    minibatch=32,
    layers=(16,),
    curve_points=3,
    curve_deals=1,
    test_deals=1,
    magnet_weight=0.1,
    opponents={"hints": 0.3, "past": 0.3, "random": 0.2},
)
#: The same for a game that has no hints.
TINY_KUHN = replace(TINY, game=KUHN, opponents={"past": 0.3, "random": 0.3})

#: What a run measures by the clock; all else is the same in a run that was interrupted.
TIMES = {
    "decisions_per_second",
    "seconds",
    "share_of_engine",
    "share_of_opponents",
    "share_of_rollout",
}


def lines_of(file: Path) -> list[dict[str, str]]:
    """Return a table of numbers without what the clock tells."""
    with file.open(newline="") as opened:
        lines = list(csv.DictReader(opened))
    return [{name: text for name, text in line.items() if name not in TIMES} for line in lines]


def results_of(out: Path) -> dict[str, Any]:
    """Return all numbers that a run has left."""
    policies = {str(file.relative_to(out)): file for file in out.rglob("*.npz")}
    return {
        "log": lines_of(out / "log.csv"),
        "curve": lines_of(out / "curve.csv"),
        "evaluations": [file.read_text() for file in sorted(out.glob("evaluation*.json"))],
        "policies": {name: weights_of(file) for name, file in sorted(policies.items())},
    }


def weights_of(file: Path) -> list[bytes]:
    layers = NetworkAgent.load(file).layers
    return [part.tobytes() for layer in layers for part in layer]


# ----------------------------------------------------------------------------------------------
# What it learns

#: A strong magnet, for in self-play the policy runs in circles without.
KUHN_RUN = Config(
    game=KUHN,
    decisions=600_000,
    num_tables=128,
    num_steps=16,
    minibatch=512,
    learning_rate=5e-3,
    entropy_start=0.1,
    entropy_end=0.02,
    magnet_weight=0.5,
    layers=(32,),
    bfloat16=False,
    opponents={},
    curve_points=1,
    curve_deals=10,
    test_deals=10,
)


@pytest.mark.compiled
def test_kuhn_poker_is_learnt(kuhn_id: str, tmp_path: Path) -> None:
    """Six seeds gave values within 0.002 of the game's, and a NashConv of 0.02 to 0.06."""
    train(KUHN_RUN, tmp_path, progress=False)
    agent = NetworkAgent.load(tmp_path / "policy.npz")
    game = cardenvs.load_game(kuhn_id)
    roots = [game.new_initial_state(0, deal) for deal in DEALS]

    def act_probabilities(observations: Any, masks: Any) -> Any:
        chances = np.exp(agent.logits(observations).astype(np.float64))
        return chances / chances.sum(axis=1, keepdims=True)

    table = tabular(roots, act_probabilities)
    value = expected_returns(roots, [table, table])[0]
    assert value == pytest.approx(-1 / 18, abs=0.1)
    assert nash_conv(roots, table) < 0.3


def learner_of(game_id: str, **changed: Any) -> tuple[Learner, Any, Any]:
    """Return a learner, and positions of its game."""
    batch = cardenvs.make_batch(game_id, 20, seed=2)
    batch.reset()
    for _ in range(5):
        batch.step(batch.sample_actions())
    config = replace(TINY, **changed)
    learner = Learner(batch.game, config, "cpu", 1, Processes())
    return learner, batch.observation, batch.action_mask


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_without_preferences_legal_actions_are_equally_likely(game_id: str) -> None:
    learner, observation, mask = learner_of(game_id)
    with torch.no_grad():
        for weight in learner.network.actor.last.parameters():
            weight.zero_()
    count = 4_000
    place = int(mask.sum(axis=1).argmax())
    num_legal = int(mask[place].sum())
    assert num_legal > 1
    seen, legal = (array[place][None].repeat(count, 0) for array in (observation, mask))
    actions, logs = learner.act(seen, legal)
    assert logs == pytest.approx(-np.log(num_legal), abs=1e-6)
    chosen = np.bincount(actions, minlength=mask.shape[1])
    assert not chosen[mask[place] == 0].any()
    assert stats.chisquare(chosen[mask[place] == 1]).pvalue > 1e-4
    _, logs = learner.act(observation, mask)
    assert logs == pytest.approx(-np.log(mask.sum(axis=1)), abs=1e-6)


def test_sampled_actions_follow_their_chances() -> None:
    learner, observation, mask = learner_of("braus", bfloat16=False)
    with torch.no_grad():
        for weight in learner.network.actor.last.parameters():
            weight.normal_(0.0, 0.5)
    place, count = int(mask.sum(axis=1).argmax()), 20_000
    seen, legal = (array[place][None].repeat(count, 0) for array in (observation, mask))
    actions, logs = learner.act(seen, legal)
    logits = learner.network.agent().logits(observation[place][None])[0].astype(np.float64)
    chances = np.where(mask[place] == 1, np.exp(logits), 0.0)
    chances /= chances.sum()
    assert logs == pytest.approx(np.log(chances[actions]), abs=1e-4)
    own = chances > 0.0
    found = np.bincount(actions, minlength=len(chances))
    assert stats.chisquare(found[own], count * chances[own]).pvalue > 1e-4


def test_a_rollout_that_shows_no_outcome_changes_nothing() -> None:
    learner, _, _ = learner_of("bred_ryg")
    game = cardenvs.load_game("bred_ryg")
    collector = Collector([game], 10, 1, {}, seed=1, sees_hands=True)
    before = {name: array.copy() for name, array in learner.snapshot().items()}
    metrics = learner.learn(collector.collect(learner.act, {}))
    after = learner.snapshot()
    assert all((after[name] == array).all() for name, array in before.items())
    for _ in range(30):
        later = learner.learn(collector.collect(learner.act, {}))
        assert set(later) == set(metrics)
    assert any((learner.snapshot()[name] != array).any() for name, array in before.items())
    assert all(np.isfinite(array).all() for array in learner.snapshot().values())


def test_a_snapshot_stays_as_it_is() -> None:
    learner, _, _ = learner_of("bred_ryg")
    collector = Collector([cardenvs.load_game("bred_ryg")], 10, 20, {}, 1, sees_hands=True)
    arrays = learner.snapshot() | collector.snapshot()[0]
    before = {name: array.copy() for name, array in arrays.items()}
    learner.learn(collector.collect(learner.act, {}))
    assert all((arrays[name] == array).all() for name, array in before.items())


def test_the_schedules() -> None:
    weights = {"prior_weight": 0.4, "entropy_start": 0.3, "entropy_end": 0.1}
    learner, _, _ = learner_of("bred_ryg", learning_rate=2e-3, **weights)
    told = []
    for learner.share in (0.0, 0.25, 0.5, 1.0):
        told.append((learner.learning_rate, learner.entropy_weight, learner.prior_weight))
    expected = [(2e-3, 0.3, 0.4), (1.5e-3, 0.25, 0.2), (1e-3, 0.2, 0.0), (0.0, 0.1, 0.0)]
    assert np.array(told) == pytest.approx(np.array(expected))


def test_past_selves_are_kept_up_to_a_number() -> None:
    learner, observation, mask = learner_of("bred_ryg", pool_size=2)
    for amount in (1.0, 2.0, 3.0):
        with torch.no_grad():
            learner.network.actor.last.bias.fill_(amount)
        learner.keep_self()
    assert [past.last.bias[0].item() for past in learner.past] == [2.0, 3.0]
    for number in range(5):
        actions = learner.past_self(number).act(observation, mask)
        assert mask[np.arange(len(mask)), actions].all()


@pytest.mark.compiled
def test_the_prior_is_imitated(tmp_path: Path) -> None:
    """The learner takes over the play of the weakest cards, and not without a prior."""
    game = cardenvs.load_game("bred_ryg")
    agreement = {}
    for weight in (0.0, 5.0):
        quick = {"decisions": 12_000, "num_tables": 40, "num_steps": 20, "opponents": {}}
        config = replace(TINY, prior="lowest", prior_weight=weight, layers=(64,), **quick)
        run = Run(config, Processes())
        for _ in range(8):
            run.improve()
        batch = cardenvs.make_batch("bred_ryg", 300, seed=9)
        batch.reset()
        advice = agents.make(game, "lowest").act(batch.observation, batch.action_mask)
        chosen = run.learner.network.agent(greedy=True).act(batch.observation, batch.action_mask)
        agreement[weight] = (chosen == advice).mean()
    assert agreement[5.0] > agreement[0.0] + 0.2


# ----------------------------------------------------------------------------------------------
# What a run leaves


@pytest.fixture(params=[KUHN, pytest.param("bred_ryg-v0", marks=pytest.mark.compiled)])
def tiny(request: pytest.FixtureRequest, kuhn_id: str) -> Config:
    """A run that is quick, of a game with hints and of one without."""
    return TINY_KUHN if request.param == kuhn_id else TINY


def test_a_run_leaves_its_files(tiny: Config, tmp_path: Path) -> None:
    (report,) = train(tiny, tmp_path, progress=False)
    assert {file.name for file in tmp_path.iterdir()} == {
        *("checkpoints", "config.json", "curve.csv", "curve.png", "evaluation.json"),
        *("evaluation.md", "evaluation.txt", "log.csv", "policy.npz", "snapshots", "tensorboard"),
    }
    assert json.loads((tmp_path / "config.json").read_text())["config"]["game"] == tiny.game
    decisions = [int(point["decisions"]) for point in lines_of(tmp_path / "curve.csv")]
    assert decisions[0] == 0
    assert len(decisions) == 4
    assert decisions[-1] >= tiny.decisions > decisions[-2]
    assert sorted(int(file.stem) for file in (tmp_path / "snapshots").iterdir()) == decisions
    steps = [int(line["step"]) for line in lines_of(tmp_path / "log.csv")]
    assert set(decisions[1:]) <= set(steps)
    last = tmp_path / "snapshots" / f"{decisions[-1]:012}.npz"
    assert weights_of(tmp_path / "policy.npz") == weights_of(last)
    names = {row.player for row in report.rows}
    assert {"ppo (sampled)", "ppo (greedy)", "random (sampled)"} <= names
    with pytest.raises(FileExistsError, match="--resume"):
        train(tiny, tmp_path, progress=False)
    with pytest.raises(ValueError, match="another configuration: num_epochs"):
        train(replace(tiny, num_epochs=1), tmp_path, resume=True, progress=False)


def test_a_learner_is_not_mistaken_for_a_frozen_agent_of_its_name(tmp_path: Path) -> None:
    frozen = {"opponents": {"ppo": 1.0}, "measured_against": ("ppo",)}
    config = replace(TINY, **frozen, curve_points=1, curve_deals=8, test_deals=8)
    (report,) = train(config, tmp_path, progress=False)
    losses = [float(line["result_among_ppo"]) for line in lines_of(tmp_path / "curve.csv")]
    assert min(losses) > 0.5, "a learner of a few hundred decisions among trained ones"
    assert report.row("ppo (greedy)", "frozen ppo (greedy)").result > 0.5


def test_a_run_goes_on_bit_for_bit_from_every_interruption(
    tiny: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each copy is what an interruption leaves at the worst time: measured, and not yet saved."""
    whole, save, copies = tmp_path / "whole", self_play.save_checkpoint, []

    def save_with_copy(folder: Path, *what: Any) -> None:
        copies.append(tmp_path / f"before {len(copies)}")
        shutil.copytree(folder, copies[-1])
        save(folder, *what)

    # So few that the magnet lags behind the policy.
    monkeypatch.setattr(self_play, "NUM_RENEWALS", 2)
    monkeypatch.setattr(self_play, "save_checkpoint", save_with_copy)
    train(tiny, whole, progress=False)
    monkeypatch.setattr(self_play, "save_checkpoint", save)
    expected = results_of(whole)
    assert len(copies) == tiny.curve_points + 1
    for out in [*copies, whole]:
        train(tiny, out, resume=True, progress=False)
        assert results_of(out) == expected


@pytest.mark.compiled
def test_a_run_goes_on_bit_for_bit_after_it_was_killed(tmp_path: Path) -> None:
    settings = asdict(TINY) | {"decisions": 10_000, "num_tables": 24, "curve_points": 4}
    del settings["game"], settings["options"], settings["seed"]
    words = ["bred_ryg", "--preset", "ci"]
    for name, value in settings.items():
        words += ["--set", f"{name}={json.dumps(value)}"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def command(out: Path) -> list[str]:
        return [sys.executable, "-m", "training.ppo", *words, "--out", str(out)]

    process = subprocess.Popen(command(killed), env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while len(list(killed.glob("snapshots/*"))) < 3 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (killed / "policy.npz").exists()
    done = [*command(killed), "--resume"]
    subprocess.run(done, env=environment, check=True, capture_output=True)
    ppo.main([*words, "--out", str(whole)])
    assert results_of(killed) == results_of(whole)
    assert len(json.loads((killed / "config.json").read_text())["resumed"]) == 1


def test_a_run_of_other_processes_cannot_go_on(kuhn_id: str) -> None:
    run = Run(TINY_KUHN, Processes())
    arrays, values = run.snapshot()
    with pytest.raises(ValueError, match="begun by 2 processes, and can only go on with as many"):
        Run(TINY_KUHN, Processes()).restore(arrays, values | {"processes": [{}, {}]})


@pytest.mark.compiled
def test_all_variants_of_a_game_are_learnt_at_once(tmp_path: Path) -> None:
    config = replace(TINY, game="dreeg-v0", num_tables=26, decisions=600, curve_points=1)
    reports = train(config, tmp_path, progress=False)
    assert len(reports) == 13
    assert len(list(tmp_path.glob("evaluation-*.json"))) == 13
    columns = lines_of(tmp_path / "curve.csv")[0]
    assert sum(name.startswith("result_among_hints, ") for name in columns) == 13
    agent = NetworkAgent.load(tmp_path / "policy.npz")
    for game in Run(config, Processes()).games:
        state = game.new_initial_state(seed=1)
        assert state.action_mask()[agent.act(state.observation(), state.action_mask())]


# ----------------------------------------------------------------------------------------------
# What is refused


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 2**30}, "at least 0 and below 2"),
        ({"seed": -1}, "at least 0 and below 2"),
        ({"game": "poker"}, "no game is called 'poker'"),
        ({"options": {"num_players": 9}}, "num_players"),
        ({"opponents": {"hints": 0.7, "past": 0.4}}, "at most 1 in all"),
        ({"opponents": {"hints": -0.1}}, "at least 0"),
        ({"opponents": {"hints": "half"}}, "names and shares"),
        ({"opponents": ["hints"]}, "names and shares"),
        ({"opponents": {"nobody": 0.1}}, "no agent of bred_ryg-v0 is called 'nobody'"),
        ({"opponents": {"hints:depth=1": 0.1}}, "no option 'depth'"),
        ({"measured_against": ("nobody",)}, "no agent of bred_ryg-v0 is called 'nobody'"),
        ({"prior": "nobody", "prior_weight": 1.0}, "no agent of bred_ryg-v0 is called 'nobody'"),
        ({"game": "dreeg-v0", "num_tables": 12}, "12 tables cannot be divided among 13 variants"),
        ({"decisions": 0}, "decisions is a whole number of at least 1, not 0"),
        ({"num_tables": 0}, "num_tables is a whole number"),
        ({"num_steps": 0}, "num_steps is a whole number"),
        ({"num_steps": 2.5}, r"num_steps is a whole number of at least 1, not 2\.5"),
        ({"minibatch": 0}, "minibatch is a whole number"),
        ({"num_epochs": 0}, "num_epochs is a whole number"),
        ({"curve_points": 0}, "curve_points is a whole number"),
        ({"test_deals": 0}, "test_deals is a whole number"),
        ({"pool_size": 0}, "pool_size is a whole number"),
        ({"gamma": 1.5}, r"gamma is a number between 0 and 1\.0, not 1\.5"),
        ({"gae_lambda": -0.5}, "gae_lambda is a number between"),
        ({"learning_rate": float("nan")}, "learning_rate is a number between"),
        ({"clip_range": "wide"}, "clip_range is a number between"),
        ({"layers": ()}, "layers are one or more widths"),
        ({"layers": 64}, "layers are one or more widths"),
        ({"device": "tpu"}, "the devices are cpu, cuda, not 'tpu'"),
    ],
)
def test_a_bad_configuration_is_refused_before_anything_is_written(
    changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        train(replace(TINY, **changed), tmp_path / "run", progress=False)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("is_there", "message"), [(False, "torch finds none here"), (True, "has no bfloat16")]
)
def test_a_device_that_cannot_be_used_is_refused(
    is_there: bool, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: is_there)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: False)
    with pytest.raises(ValueError, match=message):
        train(replace(TINY, device="cuda"), tmp_path / "run", progress=False)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_presets_are_configurations(game_id: str, preset: str) -> None:
    config = config_of(game_id, preset, seed=3)
    assert (config.game, config.seed) == (game_id, 3)
    assert config.shares_actions == (game_id == "brede_mette-v0")
