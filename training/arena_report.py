"""What an arena has found: as plain data, as tables, as a picture.

Letters of shapes: D deals, R rotations.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from training.evaluate import LOSS_RATE, Report, Row, markdown_table, resampled_means
from training.heat_map import Panel, draw
from training.ratings import Rating

_CROWD = "Of the same games: what each of the others (row) gets on average around the one (column)."
_NARROWING = (
    "The standard deviation of the mean of a deal's games, and of as many independent games; "
    "the interval of independent games would be so many times wider."
)
_RATINGS = (
    "OpenSkill, Plackett-Luce, averaged over many orders of the games. They sum up this list of "
    "players, and do not replace the matrix."
)


@dataclass(frozen=True)
class PlayerFacts:
    """A player, how it plays, and how long it took.

    Attributes:
        decisions, seconds: those timed in all processes, and the wall time they took.
    """

    label: str
    text: str
    plays: str
    decisions: int
    seconds: float


@dataclass(frozen=True)
class Narrowing:
    """How much duplicate deals have narrowed an interval.

    Attributes:
        player, others: of the row, or of the other row of the same games.
        block_sd: standard deviation of the mean of a deal's R games.
        independent_sd: that of the mean of R games of deals and seats of their own.
        correlation: of two games of the same deal.
        factor: how many times wider the interval of as many independent games is, so that its
            square is how many times more of these it takes; None where all deals end alike.
    """

    player: str
    others: str
    block_sd: float
    independent_sd: float
    correlation: float | None
    factor: float | None

    @classmethod
    def of(cls, player: str, others: str, scores: npt.NDArray[np.float64]) -> Narrowing:
        """Compute it from a player's scores, float64 [D, R]."""
        rotations = scores.shape[1]
        block = float(scores.mean(axis=1).std())
        independent = float(scores.std()) / rotations**0.5
        correlation = factor = None
        if independent > 0:
            correlation = ((block / independent) ** 2 - 1) / (rotations - 1)
        if block > 1e-12:
            factor = independent / block
        return cls(player, others, block, independent, correlation, factor)


@dataclass(frozen=True)
class Difference:
    """How much better or worse a player's result is than another's among the same others.

    Attributes:
        low, high: the 95 % interval; the deals of both results are resampled together.
    """

    player: str
    than: str
    others: str
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class ArenaReport:
    """The tables of an arena.

    Attributes:
        report: how each player does alone among others of one kind, or its team against
            another: a row for every ordered pair.
        crowd: how each of the others does where one player is alone among them: a row for every
            ordered pair, of the same games; empty where that is the table of the report.
        narrowing: what duplicate deals have brought, for each list of games.
        ratings: of all players, the best first; empty if none were asked for.
        players: what is known of each.
        first_deal: the seed of the first deal.
        seed: of the players' generators.
        origin: commit, versions, machine.
    """

    report: Report
    crowd: tuple[Row, ...]
    narrowing: tuple[Narrowing, ...]
    ratings: tuple[Rating, ...]
    players: tuple[PlayerFacts, ...]
    first_deal: int
    seed: int
    origin: dict[str, Any]

    def row(self, player: str, others: str) -> Row:
        """Return the row of a player alone among others, or against them; see `Report.row`."""
        return self.report.row(player, others)

    def crowd_row(self, player: str, one: str) -> Row:
        """Return the row of a player who makes up the crowd around another.

        Raises:
            KeyError: if there is none.
        """
        return Report("", "", {}, "", self.crowd).row(player, one)

    def differences(self) -> tuple[Difference, ...]:
        """Compare any two players among the same others."""
        means = {(row.player, row.others): resampled_means(row.blocks) for row in self.report.rows}
        labels = [player.label for player in self.players]
        found = []
        for one, two in itertools.combinations(labels, 2):
            for others in labels:
                if others in (one, two):
                    continue
                low, high = np.percentile(means[one, others] - means[two, others], [2.5, 97.5])
                mean = self.row(one, others).result - self.row(two, others).result
                found.append(Difference(one, two, others, mean, float(low), float(high)))
        return tuple(found)

    # -- words ---------------------------------------------------------------------------------

    def markdown(self) -> str:
        """Return all tables, in Markdown."""
        return "\n\n".join(f"## {title}\n\n{text}" for title, text in self._sections())

    def text(self) -> str:
        """Return all tables with a line that says what they are of."""
        report = self.report
        changed = ", ".join(f"{name}={value}" for name, value in report.options.items())
        deals = report.rows[0].deals
        about = f"{report.game} ({changed}): {deals:,} {report.split} deals, all rotations"
        better = "lower is better" if report.measure == LOSS_RATE else "higher is better"
        return f"{about}, {report.measure} ({better})\n\n{self.markdown()}"

    def _sections(self) -> list[tuple[str, str]]:
        sections = [(self._title(), self._matrix(self.report.rows))]
        if self.crowd:
            crowd = f"{_CROWD}\n\n{self._matrix(self.crowd)}"
            sections.append(("The crowd (row) around one (column)", crowd))
        sections.append(("In full", self.report.markdown()))
        narrowing = f"{_NARROWING}\n\n{self._narrowing_table()}"
        sections.append(("What duplicate deals bring", narrowing))
        if len(self.players) > 2:
            sections.append(("Differences among the same others", self._differences_table()))
        if self.ratings:
            sections.append(("Ratings", f"{_RATINGS}\n\n{self._ratings_table()}"))
        sections.append(("Players", self._players_table()))
        return sections

    def _title(self) -> str:
        num_others = self.report.rows[0].num_others
        if num_others == 0:
            return "A team (row) against a team (column)"
        return f"One (row) {'against one' if num_others == 1 else f'among {num_others}'} (column)"

    def _matrix(self, rows: Sequence[Row]) -> str:
        cells = {
            (row.player, row.others): f"{row.result:.4f} ± {half_width(row):.4f}" for row in rows
        }
        labels = [player.label for player in self.players]
        fair = f"fair: {rows[0].fair:.4f}"
        lines = [["", *labels]]
        lines += [[one, *(cells.get((one, two), fair) for two in labels)] for one in labels]
        return markdown_table(lines)

    def _narrowing_table(self) -> str:
        lines = [["One", "among", "sd of a deal", "if independent", "correlation", "narrower by"]]
        for row in self.narrowing:
            lines.append(
                [
                    row.player,
                    row.others,
                    f"{row.block_sd:.4f}",
                    f"{row.independent_sd:.4f}",
                    "-" if row.correlation is None else f"{row.correlation:+.3f}",
                    "-" if row.factor is None else f"{row.factor:.2f}",
                ]
            )
        return markdown_table(lines)

    def _differences_table(self) -> str:
        lines = [["One", "less", "among", "difference", "95 % interval"]]
        for row in self.differences():
            interval = f"{row.low:+.4f} to {row.high:+.4f}"
            lines.append([row.player, row.than, row.others, f"{row.difference:+.4f}", interval])
        return markdown_table(lines)

    def _ratings_table(self) -> str:
        lines = [["Player", "mu", "sigma", "mu - 3 sigma", "spread of mu"]]
        for rating in self.ratings:
            numbers = (rating.mu, rating.sigma, rating.ordinal, rating.spread)
            lines.append([rating.player, *(f"{number:.2f}" for number in numbers)])
        return markdown_table(lines)

    def _players_table(self) -> str:
        lines = [["Player", "as given", "plays", "timed decisions", "decisions/s"]]
        for one in self.players:
            rate = f"{one.decisions / one.seconds:,.0f}" if one.seconds else "-"
            lines.append([one.label, one.text, one.plays, f"{one.decisions:,}", rate])
        return markdown_table(lines)

    # -- files ---------------------------------------------------------------------------------

    def json(self, command: str | None = None) -> dict[str, Any]:
        """Return all numbers as plain data, without the results of single deals."""
        return {
            "command": command,
            **self.report.json(),
            "deals": self.report.rows[0].deals,
            "first_deal": self.first_deal,
            "seed": self.seed,
            "crowd": [row.json() for row in self.crowd],
            "narrowing": [asdict(row) for row in self.narrowing],
            "differences": [asdict(row) for row in self.differences()],
            "ratings": [asdict(rating) for rating in self.ratings],
            "players": [asdict(player) for player in self.players],
            **self.origin,
        }

    def save(self, folder: Path, command: str | None = None) -> None:
        """Write arena.json, arena.md and arena.png."""
        folder.mkdir(parents=True, exist_ok=True)
        told = json.dumps(self.json(command), indent=2, ensure_ascii=False)
        (folder / "arena.json").write_text(told + "\n")
        origin = f"Commit {self.origin['commit']}; `{command}`." if command else ""
        title, _, tables = self.text().partition("\n\n")
        page = "\n\n".join(part for part in ("# Arena", title, origin, tables) if part)
        (folder / "arena.md").write_text(page + "\n")
        self.draw(folder / "arena.png")

    def draw(self, file: Path) -> None:
        """Draw the matrices as heat maps."""
        rows = self.report.rows
        labels = [player.label for player in self.players]
        panels = [Panel(self._title(), _numbers(rows), _half_widths(rows))]
        if self.crowd:
            title = f"Each of {rows[0].num_others} (row) around one (column)"
            panels.append(Panel(title, _numbers(self.crowd), _half_widths(self.crowd)))
        deals = f"{rows[0].deals:,} {self.report.split} deals"
        title = f"{self.report.game}: {self.report.measure}, {deals}"
        draw(file, title, labels, panels, rows[0].fair, self.report.measure == LOSS_RATE)


def half_width(row: Row) -> float:
    """Return half the width of a row's 95 % interval."""
    return (row.high - row.low) / 2


def _numbers(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    return {(row.player, row.others): row.result for row in rows}


def _half_widths(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    return {(row.player, row.others): half_width(row) for row in rows}
