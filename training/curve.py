"""The learning curve of a run, as a table and as a picture."""

from __future__ import annotations

import math
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

#: Between the name of an opponent and that of a variant of the game.
_VARIANT = ", "

#: Panels of variants stand in so many columns.
_COLUMNS = 5


def variant_name(opponent: str, variant: str) -> str:
    """Return what a curve calls an opponent in one of several variants of a game."""
    return f"{opponent}{_VARIANT}{variant}"


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
        """Add a measurement, and write both files.

        Args:
            decisions: that the learner has made.
            measure: what the results are.
            measured: a row for each kind of opponents; of many variants of a game, by
                `variant_name`.
        """
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
        panels: dict[str, dict[str, Row]] = {}
        for name, row in measured.items():
            panels.setdefault(name.partition(_VARIANT)[2], {})[name] = row
        figure = Figure(figsize=(8, 5), layout="constrained")
        if len(panels) == 1:
            axes = figure.add_subplot()
            self._plot(axes, measured)
            axes.set(title="The learner among others, dev deals", xlabel="decisions of the learner")
            axes.set(ylabel=f"{measure}, 95 % interval")
            if measure == LOSS_RATE:
                axes.set(ylim=(0.0, 1.0))
            place_legend(figure, axes, measure)
        else:
            num_rows = math.ceil(len(panels) / _COLUMNS)
            figure.set_size_inches(13, 2.2 * num_rows)
            for i, (variant, rows) in enumerate(panels.items()):
                axes = figure.add_subplot(num_rows, _COLUMNS, i + 1)
                self._plot(axes, rows)
                axes.set_title(variant, fontsize="medium")
                self._pass_over_the_first_point(axes, rows)
            figure.legend(*axes.get_legend_handles_labels(), loc="outside lower right")
            figure.suptitle("The learner among others, dev deals")
            figure.supxlabel("decisions of the learner", fontsize="medium")
            figure.supylabel(f"{measure}, 95 % interval", fontsize="medium")
        figure.savefig(self._out / "curve.png", dpi=120)

    def _plot(self, axes: Any, measured: Mapping[str, Row]) -> None:
        decisions = self._column("decisions")
        for name, row in measured.items():
            low, result, high = (
                self._column(f"{part}_among_{name}") for part in ("low", "result", "high")
            )
            label = f"{row.player} {'among' if row.num_others else 'against'} {row.others}"
            axes.plot(decisions, result, marker="o", markersize=3, label=label)
            axes.fill_between(decisions, low, high, alpha=0.2)
        fair = next(iter(measured.values())).fair
        axes.axhline(fair, color="grey", linestyle="--", linewidth=1, label=f"fair: {fair:.3f}")
        axes.set(xlim=(0.0, None))
        axes.xaxis.set_major_formatter(EngFormatter())
        axes.grid(alpha=0.3)

    def _pass_over_the_first_point(self, axes: Any, measured: Mapping[str, Row]) -> None:
        """Let a small panel show what follows an untrained learner, who is far below all."""
        if len(self.points) > 1:
            lows = [x for name in measured for x in self._column(f"low_among_{name}")[1:]]
            highs = [x for name in measured for x in self._column(f"high_among_{name}")[1:]]
            fair = next(iter(measured.values())).fair
            low, high = min(*lows, fair), max(*highs, fair)
            margin = 0.05 * (high - low) or 0.1
            axes.set_ylim(low - margin, high + margin)

    def _column(self, name: str) -> list[float]:
        return [point[name] for point in self.points]
