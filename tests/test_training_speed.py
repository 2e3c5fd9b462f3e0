"""The benchmark of the trainers measures all of them, in what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")

from benchmarks import training_speed
from benchmarks.training_speed import Sample, Setting, measure, summary
from cardenvs.registry import load_game

TINY = Setting(num_tables=4, num_steps=8, minibatch=16, num_epochs=1, layers=(4,), decisions=32)


def test_all_learners_and_both_floors_are_measured() -> None:
    result = measure(load_game("braus"), TINY, rounds=1, progress=False)
    names = ["maskable_ppo", "maskable_ppo_do_nothing", "ppo_float32", "ppo_bfloat16"]
    assert list(result["rates"]) == [*names, "floor_float32", "floor_bfloat16"]
    for value in result["rates"].values():
        assert 0.0 < value["min"] <= value["median"] <= value["max"]
    for name in ("ppo_float32", "ppo_bfloat16"):
        engine, opponents, rollout = (
            result["shares"][f"{part}, {name}"]["median"]
            for part in ("engine", "opponents", "rollout")
        )
        assert 0.0 < engine + opponents < rollout < 1.0


def test_ratios_are_taken_round_by_round() -> None:
    names = ("maskable_ppo", "maskable_ppo_do_nothing", "ppo_float32", "ppo_bfloat16")
    floors = ("floor_float32", "floor_bfloat16")
    slow = {name: [Sample(100, 10.0, 5.0), Sample(100, 20.0, 5.0)] for name in names}
    fast = {name: [Sample(100, 5.0, 5.0), Sample(100, 10.0, 5.0)] for name in floors}
    result = summary(slow | fast)
    assert result["ratios"]["ppo float32 / floor"] == {"median": 0.5, "min": 0.5, "max": 0.5}
    assert result["rates"]["maskable_ppo"] == {"median": 7.5, "min": 5.0, "max": 10.0}
    assert result["rates_of_processor_time"]["maskable_ppo"]["median"] == 20.0
    assert result["ratios_of_processor_time"]["ppo float32 / floor"]["median"] == 1.0


def test_the_command_line_tells_where_figures_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = {"rates": {"a": {"median": 2.0, "min": 1.0, "max": 3.0}}}
    parts = ("ratios", "rates_of_processor_time", "ratios_of_processor_time", "shares")
    empty: dict[str, dict[str, float]] = {part: {} for part in parts}
    monkeypatch.setattr(training_speed, "measure", lambda *_: figures | empty)
    file = tmp_path / "speed.json"
    words = ["training_speed", "braus", "--rounds", "3", "--decisions", "64", "--json", str(file)]
    monkeypatch.setattr(sys, "argv", words)
    training_speed.main()
    told = json.loads(file.read_text())
    assert (told["game"], told["rounds"], told["setting"]["decisions"]) == ("braus-v0", 3, 64)
    assert {"commit", "versions", "machine"} <= set(told)
    assert "| a | 2 | 1 | 3 |" in capsys.readouterr().out
