"""A clone plays as its teacher does, and what a teacher is worth is read off the curves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import agents
from agents.learned import NetworkAgent
from cardenvs.core.batch import Batch
from cardenvs.core.kernel import COMPILED
from cardenvs.registry import load_game
from training import ppo
from training.checkpoints import load_checkpoint
from training.imitate import NOTHING, PRIOR, START, cloning_config, compare, decisions_needed
from training.ppo import Config

TINY: dict[str, Any] = {
    "num_tables": 32,
    "num_steps": 16,
    "layers": (16,),
    "minibatch": 128,
    "curve_points": 1,
    "curve_deals": 4,
    "test_deals": 2,
    "bfloat16": False,
}


def agreement(clone: Any, teacher: Any, game_id: str) -> float:
    """Return in how many of the teacher's decisions with a choice the clone does the same."""
    batch = Batch(load_game(game_id), 64, seed=5)
    batch.reset()
    same = []
    for _ in range(40):
        actions = teacher.act(batch.observation, batch.action_mask)
        has_choice = batch.action_mask.sum(axis=1) > 1
        own = clone.act(batch.observation, batch.action_mask)
        same += (own == actions)[has_choice].tolist()
        batch.step(actions)
    return float(np.mean(same))


def test_a_clone_does_what_its_teacher_does(tmp_path: Path) -> None:
    decisions = 60_000 if COMPILED else 8_000
    config = cloning_config("braus-v0", "lowest", "ci", **TINY | {"decisions": decisions})
    ppo.train(config, tmp_path, progress=False)
    clone = NetworkAgent.load(tmp_path / "policy.npz", greedy=True)
    lowest, random = (agents.make("braus", name, seed=1) for name in ("lowest", "random"))
    by_chance = agreement(random, lowest, "braus-v0")
    assert agreement(clone, lowest, "braus-v0") > by_chance + 0.2


def test_the_teacher_plays_while_it_is_cloned(tmp_path: Path) -> None:
    config = cloning_config("braus-v0", "lowest", "ci", **TINY | {"decisions": 500})
    run = ppo.Run(config, ppo.Processes())
    buffer = run.collector.collect(run.learner.act, {}, run.teachers())
    (teacher,) = run._prior() or ()
    rows = buffer.seat >= 0
    size = run.games[0].observation_size
    played = teacher.act(buffer.seen[rows][:, :size], buffer.mask[rows])
    assert rows.sum() == 512
    assert (buffer.action[rows] == played).all()


def test_a_run_begins_with_another_ones_network(tmp_path: Path) -> None:
    clone = cloning_config("braus-v0", "lowest", "ci", **TINY | {"decisions": 500})
    ppo.train(clone, tmp_path / "clone", progress=False)
    checkpoint = load_checkpoint(tmp_path / "clone")
    assert checkpoint
    initial = str(tmp_path / "clone")
    run = ppo.Run(ppo.config_of("braus-v0", "ci", **TINY, initial=initial), ppo.Processes())
    for name, weights in run.learner.network.state_dict().items():
        assert (weights.numpy() == checkpoint.arrays[f"network.{name}"]).all(), name
    wider = TINY | {"layers": (17,)}
    with pytest.raises(ValueError, match="other layers"):
        ppo.Run(ppo.config_of("braus-v0", "ci", **wider, initial=initial), ppo.Processes())
    nothing = ppo.config_of("braus-v0", "ci", **TINY, initial=str(tmp_path))
    with pytest.raises(ValueError, match="no checkpoint to begin with"):
        ppo.Run(nothing, ppo.Processes())


@pytest.mark.parametrize(
    ("decisions", "results", "needed"),
    [
        ([0.0, 10.0, 20.0], [1.0, 0.5, 0.25], 10.0 + 10.0 * (0.5 - 1 / 3) / 0.25),
        ([0.0, 10.0], [0.3, 0.9], 0.0),
        ([0.0, 10.0], [0.9, 0.4], None),
    ],
)
def test_decisions_needed_are_read_between_points(
    decisions: list[float], results: list[float], needed: float | None
) -> None:
    assert decisions_needed((decisions, results), load_game("bred_ryg")) == (
        None if needed is None else pytest.approx(needed)
    )


def test_scores_are_equal_at_nothing() -> None:
    found = decisions_needed(([0.0, 10.0], [-0.5, 0.5]), load_game("braus"))
    assert found == pytest.approx(5.0)


def test_a_comparison_counts_the_teachers_decisions(tmp_path: Path) -> None:
    tiny = TINY | {"decisions": 600}
    clone = cloning_config("bred_ryg-v0", "hints", "ci", **tiny | {"decisions": 900})

    def runs(**changed: Any) -> list[Config]:
        return [ppo.config_of("bred_ryg-v0", "ci", **tiny | changed)]

    ways = {
        NOTHING: runs(),
        START: runs(initial=str(tmp_path / "clone")),
        PRIOR: runs(prior="hints", prior_weight=0.3),
    }
    needed = compare(ways, clone, tmp_path, progress=False)
    told = json.loads((tmp_path / "compare.json").read_text())
    assert told["needed"] == needed
    assert list(needed) == [NOTHING, START, PRIOR]
    assert all(number is None or number >= 900 for number in needed[START])
    assert (tmp_path / "compare.png").stat().st_size > 10_000
