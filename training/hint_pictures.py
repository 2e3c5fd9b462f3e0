"""The picture of a hint lab: what each hint is worth, at each table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from training.verdicts import EQUIVALENT, HELPS, HURTS, UNDECIDED

#: Colours that differ for the colour-blind too.
_COLOURS = {HELPS: "#0072b2", HURTS: "#d55e00", EQUIVALENT: "#777777", UNDECIDED: "#e69f00"}

_COLUMNS = 4


def draw_effects(results: Mapping[str, Any], file: Path) -> None:
    """Draw the effects of a game's hints with their 95 % intervals, and save them as PNG.

    Args:
        results: as `training.hint_lab.run` returns them.
        file: where to.
    """
    from training.hint_lab import table_words

    tables = results["tables"]
    margin = results["plan"]["margin"]
    columns = min(_COLUMNS, len(tables))
    rows = -(-len(tables) // columns)
    names = [hint["hint"] for hint in tables[0]["hints"]]
    size = (2.2 + 3.4 * columns, rows * (1.4 + 0.26 * len(names)))
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True, sharex="row")
    for axes in grid.flat[len(tables) :]:
        axes.axis("off")
    for axes, table in zip(grid.flat, tables, strict=False):
        axes.axvspan(-margin, margin, color="#dddddd", zorder=0)
        axes.axvline(0.0, color="black", linewidth=0.8)
        for place, hint in enumerate(table["hints"]):
            effect = hint["ablation"]
            if effect is None:
                axes.text(0.0, place, "never speaks", va="center", ha="center", fontsize=7)
                continue
            spread = [[effect["mean"] - effect["low"]], [effect["high"] - effect["mean"]]]
            axes.errorbar(
                effect["mean"],
                place,
                xerr=spread,
                fmt="o" if hint["used"] else "s",
                markerfacecolor=None if hint["used"] else "white",
                color=_COLOURS[hint["verdict"]],
                markersize=5,
                capsize=2,
            )
        axes.set(title=table_words(table["options"]), ylim=(len(names) - 0.5, -0.5))
        axes.set_yticks(range(len(names)), names)
        axes.grid(axis="x", alpha=0.3)
    for verdict, colour in _COLOURS.items():
        grid.flat[0].plot([], [], "o", color=colour, label=verdict)
    grid.flat[0].plot([], [], "s", color="black", markerfacecolor="white", label="off by default")
    figure.legend(loc="outside lower center", ncols=5, frameon=False)
    figure.suptitle(f"{results['game']}: {results['plan']['metric']}")
    figure.supxlabel("effect, 95 % interval; grey: as good as none")
    figure.savefig(file, dpi=120)
