"""Numbers over the steps of a run, as CSV: one line a point."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from training.run_folder import write_text

Point = dict[str, float]


def read_points(file: Path, until: tuple[str, float] | None = None) -> list[Point]:
    """Return the points of a file, none where it is missing.

    Numbers without a point are whole numbers. A line that an interruption has cut off is no point.

    Args:
        file: of `write_points`, perhaps with lines of `texts_of` added.
        until: a column and the highest number there of what is returned.

    Raises:
        ValueError: if a line is no line of numbers, one for each column.
    """
    if not file.exists():
        return []
    text = file.read_text()
    lines = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())
    points = [_numbers(file, lines.line_num, line) for line in lines]
    if until is None:
        return points
    column, highest = until
    return [point for point in points if point[column] <= highest]


def write_points(file: Path, points: Sequence[Mapping[str, float]]) -> None:
    """Write points, which all have the columns of the first, in the place of what was there."""
    text = io.StringIO()
    if points:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(points[0])
        writer.writerows(texts_of(point, points[0]) for point in points)
    write_text(file, text.getvalue())


def texts_of(point: Mapping[str, float], columns: Iterable[str]) -> list[str]:
    """Return the texts of a point's numbers, from which they read back exactly."""
    return [_text(point[name]) for name in columns]


def _text(number: float) -> str:
    """Return a text without the name of the number's type, as NumPy's have it."""
    return repr(int(number) if isinstance(number, int | np.integer) else float(number))


def _numbers(file: Path, line_number: int, line: Mapping[str, str]) -> Point:
    try:
        return {name: _number(text) for name, text in line.items()}
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}, line {line_number}: {error}") from error


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)
