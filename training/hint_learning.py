"""When learners come to follow the hints: `python -m training.hint_learning RUN...`.

Asked are the policies that runs of one game have kept on their way, in positions in which a hint
speaks and leaves a choice out: how often do they choose what it advises, above what chance
would? The positions are from games among hint agents, the same for all. The folder of the results
gets

    hints_learnt_GAME.json, .md   a row a hint: what chance does, what each learner does in the end,
                                  and from how many decisions on it follows
    hints_learnt_GAME.png         how much each hint is followed on the way
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # see `training.hint_lab`
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from tqdm import tqdm

from agents.hints import hint_book
from agents.learned import NetworkAgent
from cardenvs.core.game import Game
from training.evaluate import markdown_table
from training.hint_lab import Compliance, compliance, triggered_positions
from training.hint_report import as_data
from training.origin import RESULTS, origin
from training.run_folder import read_about
from training.runs import name_of, training_games
from training.verdicts import Effect

#: Positions of each hint, and for how many decisions each table of hint agents plays.
NUM_POSITIONS = 2_000
NUM_STEPS = 400

PACKAGES = ("numpy", "numba")


@dataclass(frozen=True)
class Learning:
    """How one run has come to follow one hint in one variant of its game.

    Attributes:
        decisions: of the run, at each of its policies.
        found: how far each of them follows the hint.
    """

    decisions: tuple[int, ...]
    found: tuple[Compliance, ...]

    @property
    def since(self) -> int | None:
        """From how many decisions on it is sure to follow more than chance; None if not at all."""
        follows = [c.lift is not None and c.lift.low > 0.0 for c in self.found]
        if not follows[-1]:
            return None
        last_miss = max((i for i, does in enumerate(follows) if not does), default=-1)
        return self.decisions[last_miss + 1]


@dataclass(frozen=True)
class LearntHint:
    """A hint in a variant of the game, and how each run, by name, has come to follow it."""

    variant: str
    hint: str
    title: str
    runs: dict[str, Learning]

    @property
    def chance(self) -> float:
        """The share of an agent that chooses any legal action."""
        return next(iter(self.runs.values())).found[0].chance


def ask_runs(folders: Sequence[Path], progress: bool = True) -> tuple[Game, list[LearntHint]]:
    """Ask the kept policies of runs for each hint of their game.

    Raises:
        ValueError: if the runs are of different games or options, or have kept no policy.
    """
    configs = [read_about(folder)["config"] for folder in folders]
    if any(
        (c["game"], c["options"]) != (configs[0]["game"], configs[0]["options"]) for c in configs
    ):
        raise ValueError("runs are asked together if they are of the same game and options")
    games = training_games(configs[0]["game"], configs[0]["options"])
    policies = {_name(folder, games[0]): _policies(folder) for folder in folders}
    asked = []
    total = len(games) * sum(map(len, policies.values()))
    with tqdm(total=total, unit="policy", disable=not progress) as bar:
        for game in games:
            asked += _ask(game, policies, bar)
    return games[0], asked


def _name(folder: Path, game: Game) -> str:
    """Return a run's name, without the game that all runs have in common."""
    return folder.name.removeprefix(f"ppo-{game.id}-")


def _policies(folder: Path) -> dict[int, NetworkAgent]:
    files = sorted((folder / "snapshots").glob("*.npz"))
    if not files:
        raise ValueError(f"{folder} has kept no policies in snapshots/")
    return {int(file.stem): NetworkAgent.load(file, seed=0) for file in files}


def _ask(game: Game, policies: dict[str, dict[int, NetworkAgent]], bar: Any) -> list[LearntHint]:
    """Ask all policies in one variant; they are asked by sampling, as they were trained."""
    book = hint_book(game)
    where = triggered_positions(game, book, NUM_POSITIONS, NUM_STEPS, seed=0)
    found: dict[str, dict[str, list[Compliance]]] = {name: {} for name in where}
    for run, agents_of_run in policies.items():
        for agent in agents_of_run.values():
            for name, positions in where.items():
                found[name].setdefault(run, []).append(compliance(agent, positions))
            bar.update()
    return [
        LearntHint(
            name_of(game),
            hint.name,
            hint.title,
            {
                run: Learning(tuple(policies[run]), tuple(asked))
                for run, asked in found[hint.name].items()
            },
        )
        for hint in book.hints
        if hint.name in found
    ]


# ----------------------------------------------------------------------------------------------
# What is written down


def table_of(learnt: Sequence[LearntHint]) -> str:
    """Return a row a hint and variant, in Markdown."""
    runs = list(learnt[0].runs)
    several = len({hint.variant for hint in learnt}) > 1
    lines: list[Sequence[str]] = [(*(["Variant"] if several else []), "Hint", "", "Chance", *runs)]
    for hint in learnt:
        cells = [_cell(hint.runs[run]) for run in runs]
        variant = [hint.variant] if several else []
        lines.append((*variant, hint.hint, hint.title, f"{hint.chance:.0%}", *cells))
    return markdown_table(lines)


def _cell(learning: Learning) -> str:
    """Return how often a run follows in the end, the lift's interval, and since when."""
    last = learning.found[-1]
    if last.lift is None:
        return f"{last.followed:.0%} (too few games)"
    lift = f"{last.lift.low:+.0%} to {last.lift.high:+.0%}"
    return f"{last.followed:.0%} ({lift}), {_when(learning, last.lift)}"


def _when(learning: Learning, lift: Effect) -> str:
    if lift.high < 0.0:
        return "goes against it"
    since = learning.since
    if since is None:
        return "as chance"
    return f"from {since / 1e6:.1f} M" if since else "from the start"


def draw(learnt: Sequence[LearntHint], title: str, file: Path) -> None:
    """Draw, for each hint, how much more than chance the runs follow it on their way.

    A color is a run; where there are several variants, a variant.
    """
    columns = 4
    hints = list(dict.fromkeys(hint.hint for hint in learnt))
    variants = list(dict.fromkeys(hint.variant for hint in learnt))
    rows = -(-len(hints) // columns)
    figure = Figure(figsize=(3.2 * columns, 2.2 * rows + 0.8), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    panels = dict(zip(hints, axes.flat, strict=False))
    lines: dict[str, Any] = {}
    for hint in learnt:
        for number, (run, learning) in enumerate(hint.runs.items()):
            label, color = run, number
            if len(variants) > 1:
                label, color = hint.variant, variants.index(hint.variant)
            lifts = [np.nan if c.lift is None else c.lift.mean for c in learning.found]
            look = {"color": colormaps["tab20"](color), "linewidth": 1}
            (lines[label],) = panels[hint.hint].plot(learning.decisions, lifts, **look)
    for name, place in panels.items():
        place.axhline(0.0, color="grey", linestyle="--", linewidth=1)
        place.set_title(name, fontsize=8)
        place.xaxis.set_major_formatter(EngFormatter())
        place.grid(alpha=0.3)
    for place in list(panels.values())[-columns:]:
        place.tick_params(labelbottom=True)  # where no panel is below, though the axis is shared
    for place in axes.flat[len(panels) :]:
        place.set_visible(False)
    figure.legend(lines.values(), lines, loc="outside right upper", fontsize=8)
    figure.supxlabel("decisions of the learner")
    figure.supylabel("followed, above chance")
    figure.suptitle(title)
    figure.savefig(file, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.hint_learning", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, help="folders of runs of one game")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    about = origin(PACKAGES)
    game, learnt = ask_runs(given.runs)
    given.out.mkdir(parents=True, exist_ok=True)
    name = f"hints_learnt_{game.id.partition('-')[0]}"
    runs = {_name(folder, game): read_about(folder) for folder in given.runs}
    told = {"game": game.id, "runs": runs, "learnt": as_data(learnt)} | about
    compact = json.dumps(told, separators=(",", ":"))  # megabytes otherwise
    (given.out / f"{name}.json").write_text(compact + "\n")
    (given.out / f"{name}.md").write_text(table_of(learnt) + "\n")
    draw(learnt, f"{game.title}: hints that learners come to follow", given.out / f"{name}.png")
    print(table_of(learnt))


if __name__ == "__main__":
    main()
