"""The training script: a run leaves all its files, is resumed, and its copies stay as they are."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardenvs

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO

from agents.learned import NetworkAgent
from training import sb3_maskable_ppo as script
from training.policies import SharedLinear, features_of_actions
from training.sb3_maskable_ppo import PRESETS, Config, config_of, snapshot, train

TINY = Config(
    decisions=192,
    num_tables=4,
    num_steps=16,
    batch_size=32,
    num_epochs=1,
    layers=(16,),
    curve_points=3,
    curve_deals=1,
    test_deals=1,
)
FILES = (
    "checkpoint.zip config.json curve.csv curve.png "
    "evaluation.json evaluation.md evaluation.txt log.csv policy.npz tensorboard"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "tiny"
    train(TINY, out, progress=False)
    return out


def table_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def curve_of(out: Path) -> list[dict[str, str]]:
    return table_of(out / "curve.csv")


def log_of(out: Path) -> list[dict[str, str]]:
    return table_of(out / "log.csv")


def test_a_run_leaves_its_files(run: Path) -> None:
    assert sorted(file.name for file in run.iterdir()) == FILES.split()
    assert (run / "curve.png").read_bytes().startswith(b"\x89PNG")
    config = json.loads((run / "config.json").read_text())
    assert config["config"]["decisions"] == 192
    assert "torch" in config["versions"]


def test_the_curve_begins_at_nothing_and_ends_at_the_goal(run: Path) -> None:
    assert [int(point["decisions"]) for point in curve_of(run)] == [0, 64, 128, 192]
    for point in curve_of(run):
        assert 0.0 <= float(point["result_among_hints"]) <= 1.0


def test_every_update_is_logged(run: Path) -> None:
    updates = log_of(run)
    assert [int(update["step"]) for update in updates] == [64, 128, 192]
    assert [float(update["train/n_updates"]) for update in updates] == [1, 2, 3]
    rates = [float(update["train/learning_rate"]) for update in updates]
    assert rates == pytest.approx([TINY.learning_rate * share for share in (2 / 3, 1 / 3, 0.0)])
    measured = ["loss", "entropy_loss", "explained_variance", "clip_fraction", "approx_kl"]
    assert {f"train/{name}" for name in measured} <= set(updates[0])


def test_the_table_has_the_learner_both_ways_and_the_baselines(run: Path) -> None:
    told = json.loads((run / "evaluation.json").read_text())
    pairs = {(row["player"], row["others"]) for row in told["rows"]}
    assert told["split"] == "test"
    assert {
        ("ppo (sampled)", "random (sampled)"),
        ("ppo (greedy)", "random (sampled)"),
        ("ppo (sampled)", "hints (greedy)"),
        ("ppo (greedy)", "hints (greedy)"),
        ("hints (greedy)", "random (sampled)"),
        ("hints (greedy)", "ppo (sampled)"),
    } <= pairs


def test_a_finished_run_is_not_written_over(run: Path) -> None:
    with pytest.raises(FileExistsError, match="--resume"):
        train(TINY, run, progress=False)
    with pytest.raises(ValueError, match="another configuration: num_epochs"):
        train(replace(TINY, num_epochs=2), run, resume=True, progress=False)


def test_a_run_is_resumed_where_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, saved = script._save_whole, []

    def save_twice(model: MaskablePPO, file: Path) -> None:
        if len(saved) == 2:
            raise KeyboardInterrupt
        saved.append(model.num_timesteps)
        save(model, file)

    monkeypatch.setattr(script, "_save_whole", save_twice)
    with pytest.raises(KeyboardInterrupt):
        train(TINY, tmp_path, progress=False)
    monkeypatch.setattr(script, "_save_whole", save)
    assert saved == [0, 64]
    assert len(curve_of(tmp_path)) == len(log_of(tmp_path)) + 1 == 3  # the last was not saved
    train(TINY, tmp_path, resume=True, progress=False)
    assert [int(point["decisions"]) for point in curve_of(tmp_path)] == [0, 64, 128, 192]
    assert [int(update["step"]) for update in log_of(tmp_path)] == [64, 128, 192]
    assert MaskablePPO.load(tmp_path / "checkpoint.zip").num_timesteps == 192
    assert len(json.loads((tmp_path / "config.json").read_text())["resumed"]) == 1


def test_a_finished_run_that_is_resumed_is_measured_again(run: Path) -> None:
    table = (run / "evaluation.json").read_text()
    train(TINY, run, resume=True, progress=False)
    assert (run / "evaluation.json").read_text() == table
    assert len(curve_of(run)) == 4


def positions(count: int) -> tuple[Any, Any]:
    batch = cardenvs.make_batch("bred_ryg", num_envs=count, seed=3)
    batch.reset()
    return batch.observation, batch.action_mask


def test_a_snapshot_answers_as_the_model_does_and_never_changes(run: Path) -> None:
    game = cardenvs.load_game("bred_ryg", reward="zero_sum")
    env = script._make_env(TINY, game)
    model = MaskablePPO.load(run / "checkpoint.zip", env)
    observation, mask = positions(16)
    agent = snapshot(model, game, seed=1, greedy=True)
    before = agent.logits(observation)
    scaled = torch.as_tensor(observation * game.layout.scale)
    latent = model.policy.mlp_extractor.forward_actor(scaled)
    assert np.allclose(before, model.policy.action_net(latent).detach().numpy(), atol=1e-5)
    chosen, _ = model.predict(scaled.numpy(), deterministic=True, action_masks=mask)
    assert (agent.act(observation, mask) == chosen).all()
    model.learning_rate = 0.1
    model._setup_lr_schedule()
    model.learn(64, reset_num_timesteps=False)
    assert (agent.logits(observation) == before).all()
    assert not np.allclose(snapshot(model, game, seed=1).logits(observation), before, atol=1e-3)


def test_the_saved_policy_is_the_model(run: Path) -> None:
    game = cardenvs.load_game("bred_ryg")
    model = MaskablePPO.load(run / "checkpoint.zip")
    observation, _ = positions(8)
    loaded = NetworkAgent.load(run / "policy.npz")
    assert (loaded.logits(observation) == snapshot(model, game, 0).logits(observation)).all()


def test_no_preference_is_a_uniform_choice_among_legal_actions(run: Path) -> None:
    model = MaskablePPO.load(run / "checkpoint.zip")
    with torch.no_grad():
        model.policy.action_net.weight.zero_()
        model.policy.action_net.bias.zero_()
    observation, mask = positions(8)
    scaled = torch.as_tensor(observation * cardenvs.load_game("bred_ryg").layout.scale)
    chances = model.policy.get_distribution(scaled, mask).distribution.probs.detach().numpy()
    assert np.allclose(chances, mask / mask.sum(axis=1, keepdims=True), atol=1e-6)


def test_actions_that_share_weights_are_learnt_saved_and_snapped(tmp_path: Path) -> None:
    config = replace(TINY, game="brede_mette-v0", shares_actions=True)
    train(config, tmp_path, progress=False)
    model = MaskablePPO.load(tmp_path / "checkpoint.zip")
    assert isinstance(model.policy.action_net, SharedLinear)
    assert model.policy.action_net.shared_weight.abs().max() > 0.0
    game = cardenvs.load_game(config.game)
    state = game.new_initial_state(seed=1)
    seen, mask = state.observation()[None], state.action_mask()[None]
    scaled = torch.as_tensor(seen * game.layout.scale)
    latent, _ = model.policy.mlp_extractor(scaled)
    logits = model.policy.action_net(latent).detach().numpy()
    agent = snapshot(model, game, seed=1, greedy=True)
    assert np.allclose(agent.logits(seen), logits, atol=1e-4)
    assert mask[0, agent.act(seen, mask)[0]]


def test_actions_of_a_card_share_its_features() -> None:
    game = cardenvs.load_game("brede_mette")
    features, card = features_of_actions(game), game.rules.DECK.card("8S")
    first = game.action_features.shape[1]
    same = [card, 52 + card, 104 + card, 312 + 52 + card]
    assert all(features[action, first + card] == 1.0 for action in same)
    assert features[:, first:].sum() == 520  # every action but `stop` and `take`


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_configurations(preset: str) -> None:
    config = config_of("bred_ryg-v0", preset)
    assert config_of("brede_mette-v0", preset).decisions == config.decisions // 2
    rollout = config.num_tables * config.num_steps
    assert rollout % config.batch_size == 0  # no minibatch is cut short
    assert config.decisions >= 10 * rollout


def test_a_seed_keeps_away_from_the_published_deals() -> None:
    with pytest.raises(ValueError, match="below 2"):
        Config(seed=2**30)


def test_the_command_line_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny = {name: value for name, value in vars(TINY).items() if name not in ("game", "seed")}
    monkeypatch.setitem(script.PRESETS, "ci", tiny)
    script.main(["bred_ryg", "--preset", "ci", "--seed", "1", "--out", str(tmp_path)])
    assert "ppo (greedy)" in capsys.readouterr().out
