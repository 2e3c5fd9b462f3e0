"""Learners are asked when they came to follow the hints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from training import hint_learning, ppo
from training.hint_lab import Compliance
from training.hint_learning import Learning, LearntHint
from training.verdicts import Effect

TINY = {
    "decisions": 600,
    "num_tables": 16,
    "num_steps": 8,
    "layers": (4,),
    "curve_points": 2,
    "curve_deals": 2,
    "test_deals": 2,
    "bfloat16": False,
}


def followed(lift: float) -> Compliance:
    return Compliance(0.5 + lift, 0.5, Effect(lift, 0.01, 50))


@pytest.mark.parametrize(
    ("lifts", "since"),
    [
        ([0.0, 0.3, 0.3], 10),
        ([0.3, 0.3, 0.3], 0),
        ([0.3, 0.0, 0.3], 20),
        ([0.3, 0.3, 0.01], None),
        ([-0.3, -0.3, -0.3], None),
    ],
)
def test_a_hint_is_followed_since_the_last_time_it_was_not(
    lifts: list[float], since: int | None
) -> None:
    assert Learning((0, 10, 20), tuple(map(followed, lifts))).since == since


def test_too_few_games_are_no_proof() -> None:
    assert Learning((0,), (Compliance(1.0, 0.5, None),)).since is None


@pytest.mark.parametrize(
    ("lifts", "said"),
    [
        ([0.0, 0.3], "80% (+28% to +32%), from 2.0 M"),
        ([0.3, 0.3], "80% (+28% to +32%), from the start"),
        ([0.3, 0.0], "50% (-2% to +2%), as chance"),
        ([0.3, -0.3], "20% (-32% to -28%), goes against it"),
    ],
)
def test_the_table_says_how_a_hint_is_followed(lifts: list[float], said: str) -> None:
    run = Learning((0, 2_000_000), tuple(map(followed, lifts)))
    table = hint_learning.table_of([LearntHint("a game", "H1", "win", {"run": run})])
    assert said in table


def test_runs_are_asked_at_each_of_their_policies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hint_learning, "NUM_STEPS", 12)
    for seed in (0, 1):
        config = ppo.config_of("braus-v0", "ci", **TINY, seed=seed)
        ppo.train(config, tmp_path / f"run-{seed}", progress=False)
    runs = [str(tmp_path / f"run-{seed}") for seed in (0, 1)]
    hint_learning.main([*runs, "--out", str(tmp_path)])
    told = json.loads((tmp_path / "hints_learnt_braus.json").read_text())
    assert told["commit"]
    assert [run["config"]["seed"] for run in told["runs"].values()] == [0, 1]
    for hint in told["learnt"]:
        assert list(hint["runs"]) == ["run-0", "run-1"]
        for learning in hint["runs"].values():
            assert len(learning["decisions"]) == len(learning["found"]) == 3
            assert len({found["chance"] for found in learning["found"]}) == 1
    assert "| BZ-H" in (tmp_path / "hints_learnt_braus.md").read_text()
    assert (tmp_path / "hints_learnt_braus.png").stat().st_size > 10_000


def test_runs_of_different_games_are_not_asked_together(tmp_path: Path) -> None:
    for game_id in ("braus-v0", "bred_ryg-v0"):
        folder = tmp_path / game_id
        folder.mkdir()
        told = {"config": {"game": game_id, "options": {}}}
        (folder / "config.json").write_text(json.dumps(told))
    with pytest.raises(ValueError, match="same game"):
        hint_learning.ask_runs(list(tmp_path.iterdir()))
    with pytest.raises(ValueError, match="kept no policies"):
        hint_learning.ask_runs([tmp_path / "braus-v0"])
