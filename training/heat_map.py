"""Cross-play matrices as heat maps."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine

_CELL = 1.15  # inches
_DIAGONAL = "#eeeeee"
_LABEL_WIDTH = 14  # characters in a line


@dataclass(frozen=True)
class Panel:
    """A matrix: numbers by (row, column), and the half widths of their intervals."""

    title: str
    numbers: Mapping[tuple[str, str], float]
    half_widths: Mapping[tuple[str, str], float]


def draw(
    file: Path,
    title: str,
    labels: Sequence[str],
    panels: Sequence[Panel],
    fair: float,
    lower_is_better: bool,
) -> None:
    """Draw panels side by side, colored around the fair value: blue is good for the row's player.

    Args:
        file: a .png file.
        title: above all.
        labels: of the players, in the order of the rows and columns.
        panels: what is drawn.
        fair: what equals get; it stands on the diagonal.
        lower_is_better: whether low numbers are blue.
    """
    numbers = [number for panel in panels for number in panel.numbers.values()]
    norm = _norm(numbers, fair, is_rate=lower_is_better)
    colors = matplotlib.colormaps["RdBu_r" if lower_is_better else "RdBu"]
    side = _CELL * len(labels)
    size = (len(panels) * (side + 1.9) + 0.9, side + 1.7)
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1, wspace=0.06)
    figure = Figure(figsize=size, layout=layout)
    figure.suptitle(title, fontsize=13, fontweight="bold")
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, panel in zip(all_axes, panels, strict=True):
        image = _draw_panel(axes, panel, labels, fair, norm, colors)
    better = "lower" if lower_is_better else "higher"
    bar = figure.colorbar(image, ax=list(all_axes), shrink=0.8, aspect=22, pad=0.02)
    bar.set_label(f"blue: the row's player does better than fair ({better})", fontsize=9)
    bar.ax.set_yscale("linear")
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, length=0)
    figure.savefig(file, dpi=150)


def _norm(numbers: Sequence[float], fair: float, is_rate: bool) -> Normalize:
    """Let colors reach equally far on both sides of the fair value; in a rate, beside 0 and 1."""
    below, above = (fair, 1.0 - fair) if is_rate else (1.0, 1.0)
    far = max(max((fair - x) / below, (x - fair) / above) for x in numbers) or 1.0
    return TwoSlopeNorm(fair, fair - far * below, fair + far * above)


def _draw_panel(
    axes: Axes,
    panel: Panel,
    labels: Sequence[str],
    fair: float,
    norm: Normalize,
    colors: Colormap,
) -> AxesImage:
    count = len(labels)
    matrix = np.full((count, count), np.nan)
    for (row, column), number in panel.numbers.items():
        matrix[labels.index(row), labels.index(column)] = number
    image = axes.imshow(np.ma.masked_invalid(matrix), cmap=colors, norm=norm)
    axes.set_facecolor(_DIAGONAL)
    axes.set_title(panel.title, fontsize=10.5, pad=10)
    wrapped = [_wrapped(label) for label in labels]
    axes.set_xticks(range(count), wrapped)
    axes.set_yticks(range(count), wrapped)
    axes.tick_params(length=0, labelsize=9)
    axes.spines[:].set_visible(False)
    _draw_gaps(axes, count)
    for i, row in enumerate(labels):
        for j, column in enumerate(labels):
            if i == j:
                _write(axes, j, i, f"fair\n{_number(fair)}", "#777777", 9)
            else:
                ink = _ink(colors(norm(matrix[i, j])))
                _write(axes, j, i - 0.07, _number(matrix[i, j]), ink, 11.5)
                _write(axes, j, i + 0.18, f"± {_number(panel.half_widths[row, column])}", ink, 8)
    return image


def _write(axes: Axes, x: float, y: float, text: str, color: str, size: float) -> None:
    axes.text(x, y, text, ha="center", va="center", color=color, fontsize=size)


def _number(number: float) -> str:
    return f"{number:.3f}".replace("-", "\N{MINUS SIGN}")


def _draw_gaps(axes: Axes, count: int) -> None:
    """Set the cells apart by white lines."""
    edges = np.arange(count + 1) - 0.5
    axes.set_xticks(edges, minor=True)
    axes.set_yticks(edges, minor=True)
    axes.grid(which="minor", color="white", linewidth=2.5)
    axes.tick_params(which="minor", length=0)


def _wrapped(label: str) -> str:
    """Break a long label, after its name and its options if it has some."""
    if len(label) <= _LABEL_WIDTH:
        return label
    spaced = label.replace(":", ": ").replace(",", ", ")
    return "\n".join(line.replace(", ", ",") for line in textwrap.wrap(spaced, _LABEL_WIDTH))


def _ink(color: Sequence[float]) -> str:
    """Return what can be read on a color."""
    red, green, blue = color[:3]
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "#222222"
