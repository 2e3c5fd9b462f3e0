"""Learn to play as another agent does: `python -m training.imitate bred_ryg hints`.

Behaviour cloning: the teacher plays all seats, the policy learns its choices and the value what
came of them. It is a run of `training.ppo` without the policy's own loss, in the same kind of
folder, and a start for others:

    python -m training.ppo bred_ryg --set 'initial="runs/bred_ryg-v0-like-hints"'

`--compare` measures what a teacher is worth at the start: runs of `training.ppo` that begin with
its clone, runs with the teacher as a prior whose weight falls to 0, and runs without any, over
several seeds. The folder of a comparison holds the runs, and

    compare.json, .md   decisions needed to be equal to the teacher, on the dev deals
    compare.png         the learning curves
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # see `training.ppo`
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from cardenvs.command_line import add_game_arguments, game_of, options_of
from cardenvs.core.game import Game
from training import ppo
from training.evaluate import LOSS_RATE, markdown_table, measure_of
from training.origin import origin
from training.players import PLAYER_TEXTS
from training.points import read_points
from training.ppo import Config
from training.runs import read_settings, training_games
from training.self_play import PACKAGES

#: What makes a run of `training.ppo` behaviour cloning.
CLONING: dict[str, Any] = {
    "prior_plays": True,
    "prior_weight": 1.0,
    "prior_until": 2.0,  # never: cloning has no other loss to give way to
    "policy_weight": 0.0,
    "entropy_start": 0.0,
    "entropy_end": 0.0,
    "opponents": {},
}

#: How a teacher helps a learner at the start, and the settings that make it so.
NOTHING, START, PRIOR = "no teacher", "start from a clone", "decaying prior"


def cloning_config(game: str, teacher: str, preset: str, **changed: Any) -> Config:
    """Return the configuration of a run that learns to play as a teacher."""
    return ppo.config_of(game, preset, **CLONING | {"prior": teacher} | changed)


def compare(
    configs: Mapping[str, Sequence[Config]], clone: Config, out: Path, progress: bool = True
) -> dict[str, list[float | None]]:
    """Train with and without a teacher; return the decisions each run needs to equal it.

    Args:
        configs: for each way a run a seed; `START` begins with the clone.
        clone: the run that makes the clone, whose decisions are counted for `START`.
        out: the folder; runs that it has are gone on with, or taken as they are.
        progress: show progress bars.

    Returns:
        For each way and seed the decisions, None where the run never got so far.
    """
    about = origin(PACKAGES)
    _run(clone, out / "clone", progress)
    curves: dict[str, list[tuple[list[float], list[float]]]] = {}
    for way, runs in configs.items():
        curves[way] = []
        for config in runs:
            folder = out / f"{way.replace(' ', '-')}-{config.seed}"
            _run(config, folder, progress)
            before = clone.decisions if way == START else 0
            curves[way].append(_curve(folder, clone.prior, before))
    game = training_games(clone.game, clone.options)[0]
    needed = {
        way: [decisions_needed(curve, game) for curve in runs] for way, runs in curves.items()
    }
    told = {"game": game.id, "options": game.options, "teacher": clone.prior, "needed": needed}
    (out / "compare.json").write_text(json.dumps(told | about, indent=2) + "\n")
    (out / "compare.md").write_text(table_of(needed) + "\n")
    _draw(curves, game, clone.prior, out / "compare.png")
    return needed


def decisions_needed(curve: tuple[list[float], list[float]], game: Game) -> float | None:
    """Return when a curve crosses what equals have, between its points; None if never."""
    is_loss = measure_of(game) == LOSS_RATE
    fair = 1.0 / game.num_players if is_loss else 0.0
    decisions, results = (np.array(numbers) for numbers in curve)
    ahead = (fair - results) if is_loss else (results - fair)
    reached = np.flatnonzero(ahead >= 0.0)
    if not reached.size:
        return None
    last = int(reached[0])
    if last == 0:
        return float(decisions[0])
    return float(np.interp(0.0, ahead[last - 1 : last + 1], decisions[last - 1 : last + 1]))


def table_of(needed: Mapping[str, Sequence[float | None]]) -> str:
    """Return the decisions needed as a table in Markdown, in millions."""
    lines: list[Sequence[str]] = [
        ("Help at the start", "Decisions to equal the teacher, in millions")
    ]
    for way, numbers in needed.items():
        texts = ["never" if number is None else f"{number / 1e6:.2f}" for number in numbers]
        lines.append((way, ", ".join(texts)))
    return markdown_table(lines)


def _run(config: Config, folder: Path, progress: bool) -> None:
    if not (folder / "policy.npz").exists():
        ppo.train(config, folder, resume=True, progress=progress)


def _curve(folder: Path, teacher: str, before: int) -> tuple[list[float], list[float]]:
    """Return the decisions, those before the run included, and the results on the dev deals."""
    points = read_points(folder / "curve.csv")
    return (
        [point["decisions"] + before for point in points],
        [point[f"result_among_{teacher}"] for point in points],
    )


def _draw(
    curves: Mapping[str, Sequence[tuple[list[float], list[float]]]],
    game: Game,
    teacher: str,
    file: Path,
) -> None:
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for number, (way, runs) in enumerate(curves.items()):
        for index, curve in enumerate(runs):
            label = way if index == 0 else None
            axes.plot(*curve, color=f"C{number}", marker="o", markersize=3, label=label)
    axes.set(xlabel="decisions, those of the teacher included", xlim=(0.0, None))
    axes.set(ylabel=f"{measure_of(game)} among {teacher}, dev deals")
    axes.set(title="Learning with and without a teacher, a line a seed")
    if measure_of(game) == LOSS_RATE:
        fair = 1.0 / game.num_players
        axes.axhline(fair, color="grey", linestyle="--", linewidth=1, label="as the teacher")
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=120)


# ----------------------------------------------------------------------------------------------
# Command line


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.imitate", description=__doc__)
    add_game_arguments(parser)
    parser.add_argument("teacher", help=PLAYER_TEXTS)
    parser.add_argument("--preset", choices=list(ppo.PRESETS), default="5min")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="several to compare")
    parser.add_argument("--compare", action="store_true", help="measure what the teacher is worth")
    parser.add_argument("--clone-decisions", type=int, help="of the clone; by default the preset's")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--out", type=Path, help="by default runs/GAME-like-TEACHER")
    given = parser.parse_args(arguments)
    game, options = game_of(given), options_of(given)
    settings = {"options": options, "seed": given.seeds[0]} | read_settings(Config, given.set)
    out = given.out or Path("runs") / f"{game.id}-like-{given.teacher}"
    cloning = dict(settings)
    if given.clone_decisions:
        cloning["decisions"] = given.clone_decisions
    clone = cloning_config(game.id, given.teacher, given.preset, **cloning)
    if not given.compare:
        for report in ppo.train(clone, out):
            print(f"{report.text()}\n")
        print(f"This and the clone are in {out}")
        return
    ways: dict[str, dict[str, Any]] = {
        NOTHING: {"prior": ""},
        START: {"prior": "", "initial": str(out / "clone")},
        PRIOR: ppo.LIKE_HINTS | {"prior": given.teacher},
    }
    configs = {
        way: [
            ppo.config_of(game.id, given.preset, **settings | changed | {"seed": seed})
            for seed in given.seeds
        ]
        for way, changed in ways.items()
    }
    print(f"{table_of(compare(configs, clone, out))}\n\nThis and the curves are in {out}")


if __name__ == "__main__":
    main()
