"""Make a finished run an agent of its game: `python -m training.ship runs/mine --name ppo`.

The network goes to `agents/checkpoints/<game id>/<name>/`, with its curve and with a card that
tells how it was trained and how it did on the test deals. Whether it plays greedily or by sampling
unless told is what did better among the hint agent on the dev deals; the card tells both results.
With `--beside runs/other ...` it also tells how runs of other seeds or budgets did.

    agents.make("bred_ryg", "ppo")        # from then on
    python -m training.agent_cards bred_ryg   # measures it among the other agents
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import agents
from agents import trained
from agents.base import GREEDY, SAMPLED
from agents.cards import written_entries
from agents.learned import load_network
from cardenvs.core.game import Game
from training.evaluate import LOSS_RATE, Report, Row, evaluate, measure_of
from training.origin import knows_commit, origin
from training.points import Point, read_points
from training.run_folder import ABOUT, read_about, write_text
from training.runs import about_run, name_of, num_measured, training_games

#: Among whom the two ways to play are compared.
OTHERS = "hints"

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class FinishedRun:
    """What a run has left.

    Attributes:
        folder: where.
        about: its configuration and origin.
        games: what it was trained on.
        reports: its tables on the test deals, one for each game.
        end: the last point of its curve.
    """

    folder: Path
    about: dict[str, Any]
    games: list[Game]
    reports: list[dict[str, Any]]
    end: Point

    @property
    def trainer(self) -> str:
        """The module in `training`: but for that of Stable-Baselines3, its player has its name."""
        if _is_of_sb3(self.about["config"]):
            return "sb3_maskable_ppo"
        player: str = self.reports[0]["rows"][0]["player"]
        return player.partition(" (")[0]


def ship(
    run: Path,
    name: str,
    deals: int = 2_000,
    *,
    beside: Sequence[Path] = (),
    changed: bool = False,
    replace: bool = False,
    progress: bool = True,
) -> Path:
    """Make a finished run an agent of its game.

    Args:
        run: its folder.
        name: of the agent.
        deals: of the dev list, on which greedy and sampled play are compared; of whole matches a
            tenth as many.
        beside: finished runs of the same game whose results the card tells, too.
        changed: take a run of files that differed from those of its commit.
        replace: take the place of an agent of the same name.
        progress: show a progress bar.

    Returns:
        The folder of the agent.

    Raises:
        ValueError: if a run is not finished, or of another game, if its commit is unknown, or if
            the name is no name, or taken. Nothing has changed then.
    """
    finished = read_run(run)
    others = [read_run(folder) for folder in beside]
    for one in (finished, *others):
        _check_commit(one, changed)
        if one.games != finished.games:
            raise ValueError(f"the run in {one.folder} is of another game than that in {run}")
    game = finished.games[0]
    place = trained.CHECKPOINTS / game.id / name
    _check_name(name, place, replace)
    policy = run / trained.POLICY
    agent = load_network(policy, game)  # it fits the game as it is now
    dev = compare(policy, finished.games, deals, progress)

    place.mkdir(parents=True, exist_ok=True)
    (place / trained.CARD).unlink(missing_ok=True)  # what has no card is no agent
    about = about_run(run, finished.games, name, int(finished.end["decisions"]))
    agent.save(place / trained.POLICY, about)
    for file in (trained.CURVE, trained.PICTURE):
        shutil.copyfile(run / file, place / file)
    digest = hashlib.sha256((place / trained.POLICY).read_bytes()).hexdigest()
    told = {"beside": [_result(one) for one in others], "sha256": digest}
    card = _card(finished, dev) | told
    write_text(place / trained.CARD, json.dumps(card, indent=1) + "\n")
    return place


def read_run(run: Path) -> FinishedRun:
    """Return what a finished run has left.

    Raises:
        ValueError: if it is no folder of a run, or if the run is not finished.
    """
    if not (run / ABOUT).is_file():
        raise ValueError(f"{run} is no folder of a run: it has no {ABOUT}")
    about = read_about(run)
    config = about["config"]
    options = config["options"]
    if _is_of_sb3(config):
        options = options | {"num_players": config["num_players"]}
    games = training_games(config["game"], options)
    names = [f"evaluation-{name_of(game)}" if len(games) > 1 else "evaluation" for game in games]
    tables = [f"{name}.json" for name in names]
    for file in (trained.POLICY, trained.CURVE, trained.PICTURE, *tables):
        if not (run / file).is_file():
            raise ValueError(f"the run in {run} is not finished: it has no {file}")
    points = read_points(run / trained.CURVE)
    made, due = points[-1]["decisions"] if points else 0, config["decisions"]
    if made < due:
        raise ValueError(f"the run in {run} is not finished: it made {made:,} of {due:,} decisions")
    reports = [json.loads((run / file).read_text()) for file in tables]
    return FinishedRun(run, about, games, reports, points[-1])


def _is_of_sb3(config: dict[str, Any]) -> bool:
    return "num_players" in config  # the others have it among the options


def compare(policy: Path, games: Sequence[Game], deals: int, progress: bool) -> dict[str, Any]:
    """Measure a network that plays greedily, and by sampling, on the dev deals.

    Returns:
        What did better on average over the games, and the results of both in each.
    """
    rows, gains = [], []
    came_from = origin(("numpy", "numba"))
    for game in games:
        players = {
            mode: load_network(policy, game, greedy=mode == GREEDY, seed=0, name=mode)
            for mode in (GREEDY, SAMPLED)
        }
        pairs = [(mode, OTHERS) for mode in players]
        others = {OTHERS: agents.make(game, OTHERS, 0)}
        measured = num_measured(game, deals)
        report = evaluate(game, {**players, **others}, pairs, measured, "dev", progress)
        gains.append(gain_of(report))
        rows += [
            {"game": name_of(game), "plays": mode} | _numbers(row)
            for mode, row in zip(players, report.rows, strict=True)
        ]
    plays = GREEDY if sum(gains) >= 0.0 else SAMPLED
    told = {"plays": plays, "among": OTHERS, "measure": measure_of(games[0])}
    return told | {"rows": rows} | came_from


def gain_of(report: Report) -> float:
    """Return by how much greedy play, the first row, is better than sampled play, the second."""
    greedy, sampled = report.rows
    difference = greedy.result - sampled.result
    return -difference if report.measure == LOSS_RATE else difference


def _numbers(row: Row) -> dict[str, Any]:
    numbers = {"result": row.result, "low": row.low, "high": row.high}
    counts = {"deals": row.deals, "capped": row.capped_games}
    return {name: round(x, 4) for name, x in numbers.items()} | counts


def _check_commit(run: FinishedRun, changed: bool) -> None:
    """Check the commits at which the run was begun and went on."""
    for part in (run.about, *run.about.get("resumed", [])):
        commit = part["commit"]
        if commit is None or not knows_commit(commit.rstrip("+")):
            raise ValueError(f"a commit of the run in {run.folder} is unknown: {commit}")
        if commit.endswith("+") and not changed:
            raise ValueError(
                f"the files of the run in {run.folder} differed from those of its commit {commit}; "
                "give --changed to take it all the same"
            )


def _check_name(name: str, place: Path, replace: bool) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"a name is of small letters, digits, '-' and '_', not {name!r}")
    if name in written_entries(place.parent.name):
        raise ValueError(f"{name!r} is the name of another agent of {place.parent.name}")
    if (place / trained.CARD).exists() and not replace:
        raise ValueError(f"there is an agent in {place}; give --replace to take its place")


def _card(run: FinishedRun, dev: dict[str, Any]) -> dict[str, Any]:
    """Return what `agents.card` tells of the agent."""
    decisions = run.end["decisions"]
    is_greedy = dev["plays"] == GREEDY
    way = "Plays the likeliest action" if is_greedy else "Draws actions by their probabilities"
    players = " or ".join(map(str, sorted({game.num_players for game in run.games})))
    how = f"`python -m training.{run.trainer}`, {decisions:,} decisions, {players} players. {way}."
    told = {"what": "A network trained by self-play", "how": how, "plays": dev["plays"]}
    return told | run.about | {"dev": dev} | _result(run)


def _result(run: FinishedRun) -> dict[str, Any]:
    """Return what a run cost, and how it did on the test deals."""
    test = [
        {"game": name_of(game), "options": report["options"], "measure": report["measure"]}
        | {"rows": [_short(row) for row in report["rows"]]}
        for game, report in zip(run.games, run.reports, strict=True)
    ]
    about = {"seed": run.about["config"]["seed"], "commit": run.about["commit"]}
    return about | {"decisions": run.end["decisions"], "seconds": run.end["seconds"], "test": test}


def _short(row: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: round(row[name], 4) for name in ("result", "low", "high")}
    counts = {"deals": row["deals"], "capped": row["capped_games"]}
    return {"player": row["player"], "others": row["others"]} | numbers | counts


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.ship", description=__doc__)
    parser.add_argument("run", type=Path, help="the folder of a finished run")
    parser.add_argument("--name", required=True, help="of the agent, as ppo or ppo-10min")
    parser.add_argument("--deals", type=int, default=2_000, help="of the dev list, to compare on")
    parser.add_argument(
        "--beside",
        type=Path,
        nargs="*",
        default=[],
        help="finished runs that the card tells of too",
    )
    parser.add_argument(
        "--changed", action="store_true", help="take a run of files that were not committed"
    )
    parser.add_argument("--replace", action="store_true", help="an agent of the same name")
    given = parser.parse_args(arguments)
    try:
        place = ship(
            given.run,
            given.name,
            given.deals,
            beside=given.beside,
            changed=given.changed,
            replace=given.replace,
        )
    except ValueError as error:
        parser.error(str(error))
    print(f"The agent {given.name!r} is in {place}")


if __name__ == "__main__":
    main()
