"""The learning curve of a run, as a table and as a picture."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from training.evaluate import LOSS_RATE, Row
from training.points import Point, read_points, write_points

#: A legend of more lines than this stands beside the picture.
_MANY_LINES = 6


def place_legend(figure: Figure, axes: Any, measure: str) -> None:
    """Put the legend where a learner's curves do not go; to look for a free place is slow."""
    if len(axes.get_lines()) > _MANY_LINES:
        figure.legend(loc="outside right upper", fontsize="small")
    else:
        axes.legend(loc="upper right" if measure == LOSS_RATE else "lower right")


class Curve:
    """The measurements of a run, kept as curve.csv and drawn as curve.png."""

    def __init__(self, out: Path, keep_until: int) -> None:
        """Take over the measurements that the folder has, up to a number of decisions."""
        self._out = out
        self.points = read_points(out / "curve.csv", until=("decisions", keep_until))
        spent = self.points[-1]["seconds"] if self.points else 0.0
        self._began = time.monotonic() - spent

    def add(self, decisions: int, measure: str, measured: Mapping[str, Row]) -> None:
        """Add a measurement, a row for each kind of opponents, and write both files."""
        point: Point = {
            "decisions": decisions,
            "seconds": round(time.monotonic() - self._began, 1),
        }
        for name, row in measured.items():
            numbers = {"result": row.result, "low": row.low, "high": row.high}
            point |= {f"{part}_among_{name}": round(x, 5) for part, x in numbers.items()}
        self.points.append(point)
        write_points(self._out / "curve.csv", self.points)
        self._draw(measure, measured)

    def _draw(self, measure: str, measured: Mapping[str, Row]) -> None:
        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.add_subplot()
        decisions = [point["decisions"] for point in self.points]
        for name, row in measured.items():
            low, result, high = (
                [point[f"{part}_among_{name}"] for point in self.points]
                for part in ("low", "result", "high")
            )
            label = f"{row.player} {'among' if row.num_others else 'against'} {row.others}"
            axes.plot(decisions, result, marker="o", markersize=3, label=label)
            axes.fill_between(decisions, low, high, alpha=0.2)
        fair = next(iter(measured.values())).fair
        axes.axhline(fair, color="grey", linestyle="--", linewidth=1, label=f"fair: {fair:.3f}")
        axes.set(xlabel="decisions of the learner", ylabel=f"{measure}, 95 % interval")
        axes.set(xlim=(0.0, None), title="The learner among others, dev deals")
        if measure == LOSS_RATE:
            axes.set(ylim=(0.0, 1.0))
        axes.xaxis.set_major_formatter(EngFormatter())
        axes.grid(alpha=0.3)
        place_legend(figure, axes, measure)
        figure.savefig(self._out / "curve.png", dpi=120)
