"""The log of a run: every line is there, reads back exactly, and agrees with the checkpoint."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tensorboard")
pytest.importorskip("torch")

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from training.logs import RunLog
from training.points import read_points, write_points

ROOT = Path(__file__).parents[2]


def log_steps(folder: Path, keep_until: int, *steps: int) -> None:
    with RunLog(folder, keep_until) as log:
        for step in steps:
            log.add(step, {"loss": step / 7, "train/entropy": -1.5})


def lines(folder: Path) -> list[str]:
    return (folder / "log.csv").read_text().splitlines()


def events(folder: Path, name: str) -> list[tuple[int, float]]:
    found = EventAccumulator(str(folder / "tensorboard")).Reload()
    return [(event.step, event.value) for event in found.Scalars(name)]


def test_a_line_an_update(tmp_path: Path) -> None:
    log_steps(tmp_path / "new", -1, 0, 10)
    assert lines(tmp_path / "new") == [
        "step,loss,train/entropy",
        "0,0.0,-1.5",
        "10,1.4285714285714286,-1.5",
    ]


def test_numbers_read_back_exactly(tmp_path: Path) -> None:
    numbers = [0.1, 1 / 3, 1e-300, -0.0, math.inf, 5, 2**40, np.float32(0.1), np.int64(7)]
    with RunLog(tmp_path, -1) as log:
        for step, number in enumerate(numbers):
            log.add(step, {"x": number})
        log.add(len(numbers), {"x": math.nan})
    points = read_points(tmp_path / "log.csv")
    assert [point["x"] for point in points[:-1]] == numbers
    assert math.copysign(1.0, points[3]["x"]) == -1.0
    assert math.isnan(points[-1]["x"])
    assert [point["step"] for point in points] == list(range(len(numbers) + 1))
    assert all(isinstance(point["step"], int) for point in points)


def test_a_line_is_on_its_way_to_the_disk_when_add_returns(tmp_path: Path) -> None:
    with RunLog(tmp_path, -1) as log:
        log.add(1, {"loss": 0.5})
        assert lines(tmp_path) == ["step,loss", "1,0.5"]
        assert events(tmp_path, "loss") == [(1, 0.5)]


def test_tensorboard_has_the_same(tmp_path: Path) -> None:
    log_steps(tmp_path, -1, 10, 20)
    assert events(tmp_path, "loss") == [(10, pytest.approx(10 / 7)), (20, pytest.approx(20 / 7))]
    assert [step for step, _ in events(tmp_path, "train/entropy")] == [10, 20]


def test_a_resumed_run_drops_what_came_after_its_checkpoint(tmp_path: Path) -> None:
    log_steps(tmp_path, -1, 10, 20, 30)
    log_steps(tmp_path, 20, 25, 35)
    steps = [10, 20, 25, 35]
    assert [int(line.split(",")[0]) for line in lines(tmp_path)[1:]] == steps
    assert [step for step, _ in events(tmp_path, "loss")] == steps


def test_a_run_that_begins_anew_drops_everything(tmp_path: Path) -> None:
    log_steps(tmp_path, -1, 0, 10)
    with RunLog(tmp_path, -1) as log:
        log.add(5, {"other": 1.0})
    assert lines(tmp_path) == ["step,other", "5,1.0"]


def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    log_steps(tmp_path, -1, 10, 20)
    file = tmp_path / "log.csv"
    file.write_text(file.read_text()[:-2])
    log_steps(tmp_path, 20, 30)
    assert [line.split(",")[0] for line in lines(tmp_path)] == ["step", "10", "30"]


@pytest.mark.parametrize("metrics", [{}, {"loss": 1.0}, {"step": 1.0, "loss": 1.0, "kl": 1.0}])
def test_other_metrics_than_at_first_are_refused(tmp_path: Path, metrics: dict[str, float]) -> None:
    with RunLog(tmp_path, -1) as log:
        log.add(1, {"loss": 0.5, "kl": 0.25})
        with pytest.raises(ValueError, match="the log takes loss, kl, not "):
            log.add(2, metrics)
        log.add(2, {"kl": 0.125, "loss": 1.0})
    assert lines(tmp_path) == ["step,loss,kl", "1,0.5,0.25", "2,1.0,0.125"]
    with RunLog(tmp_path, 2) as log, pytest.raises(ValueError, match="the log takes loss, kl, not"):
        log.add(3, metrics)


def test_a_metric_cannot_be_called_step(tmp_path: Path) -> None:
    with RunLog(tmp_path, -1) as log, pytest.raises(ValueError, match="no step among the metrics"):
        log.add(1, {"step": 1.0})
    assert lines(tmp_path) == []


@pytest.mark.parametrize("text", ["step,loss\n1,a\n", "step,loss\n1\n", "step,loss\n1,2,3\n"])
def test_a_file_that_is_no_log_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "log.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"log.csv, line 2: "):
        RunLog(tmp_path, 5)
    assert file.read_text() == text


def test_points_are_written_as_they_are_read(tmp_path: Path) -> None:
    points = [{"decisions": 0, "a, b": 0.5}, {"decisions": 10, "a, b": np.float64(0.25)}]
    write_points(tmp_path / "points.csv", points)
    assert (tmp_path / "points.csv").read_text() == 'decisions,"a, b"\n0,0.5\n10,0.25\n'
    assert read_points(tmp_path / "points.csv") == points
    assert read_points(tmp_path / "points.csv", until=("decisions", 9)) == points[:1]
    assert read_points(tmp_path / "missing.csv") == []


def test_nothing_warns(tmp_path: Path) -> None:
    code = "import sys, pathlib, training.logs as logs\n"
    code += "with logs.RunLog(pathlib.Path(sys.argv[1]), -1) as log: log.add(1, {'loss': 1.0})"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(tmp_path) == ["step,loss", "1,1.0"]
