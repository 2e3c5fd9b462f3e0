"""The log of a run: what every update has measured, as CSV and for TensorBoard."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from torch.utils.tensorboard import SummaryWriter

from training.points import read_points, texts_of, write_points


class RunLog:
    """The metrics of a run's updates, in FOLDER/log.csv and FOLDER/tensorboard.

    Both are flushed with every line, so that an interrupted run has all of its log. A run that
    goes on from a checkpoint drops what it had logged after it.
    """

    def __init__(self, folder: Path, keep_until: int) -> None:
        """Take over the log that the folder has.

        Args:
            folder: of the run; it is made if it is missing.
            keep_until: the last step whose lines are kept, which is that of the checkpoint that
                the run goes on from; -1 keeps none.

        Raises:
            ValueError: if log.csv is no such log.
        """
        folder.mkdir(parents=True, exist_ok=True)
        file, events = folder / "log.csv", folder / "tensorboard"
        points = read_points(file, until=("step", keep_until))
        write_points(file, points)
        self._columns = list(points[0]) if points else []
        self._lines = file.open("a", newline="")
        self._csv = csv.writer(self._lines, lineterminator="\n")
        purged = keep_until + 1 if events.exists() else None
        self._events = SummaryWriter(str(events), purge_step=purged)

    def add(self, step: int, metrics: Mapping[str, float]) -> None:
        """Log an update.

        Args:
            step: in the unit of the trainer's checkpoints.
            metrics: numbers by name, the same names in every call; a slash groups them in
                TensorBoard.

        Raises:
            ValueError: if the names are not those of the first call; nothing is logged then.
        """
        self._check_names(metrics)
        point = {"step": step} | {name: float(number) for name, number in metrics.items()}
        self._csv.writerow(texts_of(point, self._columns))
        self._lines.flush()
        for name in metrics:
            self._events.add_scalar(name, point[name], step)
        self._events.flush()

    def _check_names(self, metrics: Mapping[str, float]) -> None:
        """Let the first names be the columns of all lines."""
        if not self._columns and "step" not in metrics:
            self._columns = ["step", *metrics]
            self._csv.writerow(self._columns)
        if {"step"} | set(metrics) != set(self._columns) or "step" in metrics:
            raise ValueError(
                f"the log takes {', '.join(self._columns[1:]) or 'no step among the metrics'}, "
                f"not {', '.join(metrics)}"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files; leaving a `with` block does so too."""
        self._lines.close()
        self._events.close()
