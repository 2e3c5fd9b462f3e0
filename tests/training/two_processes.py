"""What each of several processes does for `test_processes.py`: `torchrun ... two_processes.py OUT`.

It writes what it finds to OUT/RANK.json, for the test to judge.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tests.toys import KUHN, register_toys
from training import self_play
from training.ppo import Config, Run, train
from training.processes import Processes

CONFIG = Config(
    game=KUHN,
    decisions=600,
    num_tables=8,
    num_steps=10,
    minibatch=32,
    layers=(16,),
    magnet_weight=0.1,
    opponents={"past": 0.3, "random": 0.3},
    curve_points=3,
    curve_deals=1,
    test_deals=1,
)


def averaged(processes: Processes) -> dict[str, list[Any]]:
    """Return a network's gradients, rank + 1 times their numbers, after they were averaged."""
    network = nn.Linear(3, 2)
    network.bias.requires_grad_(False)
    network.weight.grad = (processes.rank + 1.0) * torch.arange(6.0).reshape(2, 3)
    processes.average_gradients(network)
    return {"weight": network.weight.grad.tolist(), "bias": network.bias.grad}


def improved(processes: Processes) -> dict[str, Any]:
    """Return what a run knows after some rollouts in all processes."""
    run = Run(CONFIG, processes)
    for _ in range(3):
        run.improve()
    arrays = run.learner.snapshot()
    own, _ = run.collector.snapshot()
    return {
        "shared": {name: array.tolist() for name, array in arrays.items()},
        "random numbers": run.learner.own_snapshot()["generator"].tolist(),
        "tables": own["tables.0.rows"].tolist(),
        "decisions": run.decisions,
        "own decisions": run.collector.decisions,
    }


def copy_before_third_save(copy: Path) -> None:
    """Leave a copy of the folder as an interruption before the third checkpoint leaves it."""
    save, calls = self_play.save_checkpoint, []

    def save_with_copy(folder: Path, *what: Any) -> None:
        calls.append(folder)
        if len(calls) == 3:
            shutil.copytree(folder, copy)
        save(folder, *what)

    self_play.save_checkpoint = save_with_copy


def main(out: Path) -> None:
    register_toys()
    torch.set_num_threads(1)
    processes = Processes()
    told = {
        "count": processes.count,
        "gathered": processes.gather(processes.rank * 10),
        "least": processes.least(5 - processes.rank),
        "total": processes.total(5 - processes.rank),
        "gradients": averaged(processes),
        "improved": improved(processes),
    }
    leave = Processes.leave
    Processes.leave = lambda processes: None  # who has left cannot join again
    copy_before_third_save(out / "copy")
    told["reports"] = len(train(CONFIG, out / "whole", progress=False))
    train(CONFIG, out / "copy", resume=True, progress=False)
    leave(processes)
    (out / f"{processes.rank}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
