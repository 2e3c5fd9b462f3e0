"""What a hint lab has found: as plain data, as tables, as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from training.evaluate import markdown_table
from training.verdicts import EQUIVALENT, HELPS, HURTS, NO_CHANGE, UNDECIDED, Effect

#: Colors that differ for the color-blind too.
_COLORS = {
    HELPS: "#0072b2",
    HURTS: "#d55e00",
    EQUIVALENT: "#777777",
    UNDECIDED: "#e69f00",
    NO_CHANGE: "#bbbbbb",
}

#: What a verdict on one hint over another says.
_COMPARED = {HELPS: "{} is better", HURTS: "{} is worse", EQUIVALENT: "equally good"}

_COLUMNS = 3


def as_data(part: Any) -> Any:
    """Return a result as plain data; effects with the ends of their 95 % intervals."""
    if isinstance(part, Effect):
        numbers = {"mean": part.mean, "low": part.low, "high": part.high, "error": part.error}
        data = {name: round(number, 6) for name, number in numbers.items()}
        return data | {"blocks": part.blocks}
    if isinstance(part, Mapping):
        return {name: as_data(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [as_data(value) for value in part]
    if hasattr(part, "__dataclass_fields__"):
        return {name: as_data(getattr(part, name)) for name in part.__dataclass_fields__}
    return round(part, 6) if isinstance(part, float) else part


def table_words(options: Mapping[str, Any]) -> str:
    """Return what table it is, such as "deutsch, 4 players"."""
    words = []
    for name, value in options.items():
        if name == "subgame":
            words.append(value.replace("_", " "))
        elif name == "num_players":
            words.append(f"{value} players")
        elif (name, value) != ("scope", "deal"):
            words.append(f"{name}={value}")
    return ", ".join(words) or "default options"


# ----------------------------------------------------------------------------------------------
# Tables


def markdown(results: Mapping[str, Any]) -> str:
    """Return the results of a lab, as plain data, as tables in Markdown."""
    plan = results["plan"]
    parts = [
        f"Effect: {plan['metric']}; positive is good. Effects below {plan['margin']:g} are as good "
        f"as none. {results['split'].capitalize()} deals; ±: half of the 95 % interval. "
        f"Commit {(results['commit'] or 'unknown')[:7]}, `{results['command']}`."
    ]
    if results["changed"]:
        parts.append(f"**Not the plan**: changed {', '.join(results['changed'])}.")
    for table in results["tables"]:
        parts += _parts_of_table(table)
    for conflict in results["conflicts"]:
        parts += [f"**{conflict['question']}**", _conflict_table(conflict)]
    if results["silent"]:
        told = ("name", "title", "source", "reason")
        lines = [["Hint", "Says", "Source", "Why"]]
        lines += [[hint[part] for part in told] for hint in results["silent"]]
        parts += ["**Hints that are no action here**", markdown_table(lines)]
    return "\n\n".join(parts) + "\n"


def _parts_of_table(found: Mapping[str, Any]) -> list[str]:
    table = found["table"]
    parts = [f"**{table_words(table['options']).capitalize()}** ({table['deals']:,} deals)"]
    if found["hints"]:
        parts += [_effects_table(found["hints"]), _details_table(found["hints"])]
    if found["never"]:
        parts.append(f"Never speaks here: {', '.join(found['never'])}.")
    return parts


def _effects_table(hints: Sequence[Mapping[str, Any]]) -> str:
    has_caps = any(hint["ablation"]["capped"] for hint in hints)
    lines = [["Hint", "Says", "Source", "Verdict", "Effect", "Speaks, a game", "Changes, a game"]]
    if has_caps:
        lines[0].append("Capped games")
    for hint in hints:
        line = [
            _name(hint),
            hint["title"],
            hint["source"],
            hint["verdict"],
            _number(hint["ablation"]["effect"]),
            f"{hint['per_game']:.2f}",
            f"{hint['changes_per_game']:.2f}",
        ]
        lines.append([*line, f"{hint['ablation']['capped']:.1%}"] if has_caps else line)
    return markdown_table(lines)


def _details_table(hints: Sequence[Mapping[str, Any]]) -> str:
    asked = list(hints[0]["compliance"])
    headings = ["Hint", "Alone on the base", "Alone on random", "Value gap"]
    headings += ["Forced over defying", "Forced over free"]
    headings += [f"`{one}` above chance" for one in asked]
    lines = [headings]
    for hint in hints:
        forced = hint["forced_play"] or {"over_defying": None, "over_free": None}
        effects = [hint[name]["effect"] for name in ("alone", "alone_on_random")]
        effects += [hint["value_gap"], forced["over_defying"], forced["over_free"]]
        lifts = [_percent(hint["compliance"][one]["lift"]) for one in asked]
        lines.append([_name(hint), *map(_number, effects), *lifts])
    return markdown_table(lines)


def _conflict_table(conflict: Mapping[str, Any]) -> str:
    first, second = conflict["hints"]
    lines = [["Table", "Verdict", f"{first} over {second}", f"{first} over neither"]]
    lines[0].append(f"{second} over neither")
    for row in conflict["tables"]:
        names = ("first_over_second", "first_over_neither", "second_over_neither")
        verdict = _COMPARED.get(row["verdict"], row["verdict"]).format(first)
        effects = [_number(row[name]["effect"]) for name in names]
        lines.append([table_words(row["options"]), verdict, *effects])
    return markdown_table(lines)


def _name(hint: Mapping[str, Any]) -> str:
    return f"{hint['hint']}{'' if hint['used'] else ' (off)'}"


def _number(effect: Mapping[str, float] | None) -> str:
    if effect is None:
        return "–"
    return f"{effect['mean']:+.4f} ± {(effect['high'] - effect['low']) / 2:.4f}"


def _percent(effect: Mapping[str, float] | None) -> str:
    return "–" if effect is None else f"{100 * effect['mean']:+.0f} %"


# ----------------------------------------------------------------------------------------------
# Picture


def draw_effects(results: Mapping[str, Any], file: Path) -> None:
    """Draw the effects of a game's hints with their 95 % intervals, and save them as PNG.

    Args:
        results: of a lab, as plain data.
        file: where to.
    """
    tables = [table for table in results["tables"] if table["hints"]]
    columns = min(_COLUMNS, len(tables))
    rows = -(-len(tables) // columns)
    most = max(len(table["hints"]) for table in tables)
    size = (1.0 + 4.2 * columns, 1.6 + rows * (1.0 + 0.26 * most))
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(tables) :]:
        axes.axis("off")
    for axes in grid.flat[max(0, len(tables) - columns) : len(tables)]:
        axes.set_xlabel("effect, 95 % interval; grey band: as good as none")
    for axes, table in zip(grid.flat, tables, strict=False):
        _draw_table(axes, table, results["plan"]["margin"])
    for verdict, color in _COLORS.items():
        grid.flat[0].plot([], [], "o", color=color, label=verdict)
    grid.flat[0].plot([], [], "s", color="black", markerfacecolor="white", label="off by default")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(f"{results['game']}: {results['plan']['metric']}", wrap=True)
    figure.savefig(file, dpi=120)


def _draw_table(axes: Any, table: Mapping[str, Any], margin: float) -> None:
    hints = table["hints"]
    axes.axvspan(-margin, margin, color="#e8e8e8", zorder=0)
    axes.axvline(0.0, color="black", linewidth=0.8)
    for place, hint in enumerate(hints):
        effect = hint["ablation"]["effect"]
        axes.errorbar(
            effect["mean"],
            place,
            xerr=(effect["high"] - effect["low"]) / 2,
            fmt="o" if hint["used"] else "s",
            markerfacecolor=None if hint["used"] else "white",
            color=_COLORS[hint["verdict"]],
            markersize=5,
            capsize=2,
        )
    axes.set(title=table_words(table["table"]["options"]), ylim=(len(hints) - 0.5, -0.5))
    axes.set_yticks(range(len(hints)), [hint["hint"] for hint in hints])
    axes.grid(axis="x", alpha=0.3)
