"""Training in several processes, as `torchrun` starts them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.training.test_ppo import results_of
from training.checkpoints import load_checkpoint
from training.processes import Processes

ROOT = Path(__file__).parents[2]


def command_of(*words: str) -> list[str]:
    """Return the command that runs words of Python's command line in two processes."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return [*launcher, "--nproc-per-node", "2", *words]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def run_in_two(*words: str) -> None:
    command = command_of(*words)
    done = subprocess.run(
        command, env=environment(), cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """What two processes found, and the folder of their runs."""
    out = tmp_path_factory.mktemp("two")
    run_in_two(str(Path(__file__).with_name("two_processes.py")), str(out))
    return out, [json.loads((out / f"{rank}.json").read_text()) for rank in (0, 1)]


def test_one_process_is_alone() -> None:
    processes = Processes()
    network = nn.Linear(2, 1)
    network.weight.grad = torch.tensor([[1.0, 3.0]])
    processes.average_gradients(network)
    assert network.weight.grad.tolist() == [[1.0, 3.0]]
    assert (processes.rank, processes.count) == (0, 1)
    assert processes.gather("this") == ["this"]
    assert (processes.least(3), processes.total(3)) == (3, 3)
    processes.leave()


@pytest.mark.compiled
def test_processes_hear_from_each_other(told: Any) -> None:
    for found in told[1]:
        assert found["count"] == 2
        assert found["gathered"] == [0, 10]
        assert (found["least"], found["total"]) == (4, 9)


@pytest.mark.compiled
def test_every_process_has_the_mean_of_the_gradients(told: Any) -> None:
    for found in told[1]:
        assert found["gradients"] == {"weight": [[0.0, 1.5, 3.0], [4.5, 6.0, 7.5]], "bias": None}


@pytest.mark.compiled
def test_processes_play_different_deals_and_learn_the_same(told: Any) -> None:
    first, second = (found["improved"] for found in told[1])
    assert first["shared"] == second["shared"]
    assert first["tables"] != second["tables"]
    assert first["random numbers"] != second["random numbers"]
    assert first["own decisions"] != second["own decisions"]
    total = first["own decisions"] + second["own decisions"]
    assert first["decisions"] == second["decisions"] == total


@pytest.mark.compiled
def test_a_run_of_two_processes_ends_and_goes_on_bit_for_bit(told: Any) -> None:
    out, (first, second) = told
    assert (first["reports"], second["reports"]) == (1, 0)  # the first process alone measures
    checkpoint = load_checkpoint(out / "whole")
    assert checkpoint is not None
    assert len(checkpoint.values["processes"]) == 2
    assert results_of(out / "copy") == results_of(out / "whole")


@pytest.mark.slow
@pytest.mark.compiled
def test_the_command_line_runs_in_two_processes_and_goes_on_after_it_was_killed(
    tmp_path: Path,
) -> None:
    settings = "decisions=10000 num_tables=24 num_steps=10 minibatch=64 layers=[16] curve_points=4 "
    settings += "curve_deals=1 test_deals=1 magnet_weight=0.1 "
    settings += 'opponents={"hints":0.3,"past":0.3,"random":0.2}'
    words = ["-m", "training.ppo", "bred_ryg", "--preset", "ci"]
    for setting in settings.split():
        words += ["--set", setting]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = subprocess.Popen(
        command_of(*words, "--out", str(killed)),
        env=environment(),
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 300
    while len(list(killed.glob("snapshots/*"))) < 3 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.01)
    listed = subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(process.pid)], text=True)
    assert len(listed.split()) >= 2
    for pid in (process.pid, *map(int, listed.split())):  # these would go on without the launcher
        os.kill(pid, signal.SIGKILL)
    process.wait()
    assert not (killed / "policy.npz").exists()
    run_in_two(*words, "--out", str(killed), "--resume")
    run_in_two(*words, "--out", str(whole))
    assert results_of(killed) == results_of(whole)
