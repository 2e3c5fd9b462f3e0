"""Measure agents against each other on duplicate deals: `python -m training.evaluate bred_ryg`.

Every deal is played once in each rotation of the players over the seats, so luck of the cards
and of the seat cancels. The deal, not the game, is the unit of the intervals. A player is measured
alone among others: in a game with one loser by how often it loses, else by its score. In a game of
teams it makes up one team against another, in both places, and is measured by its score.

Letters of shapes: D deals, R rotations (one for each seat, or for each team), B tables, P seats.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

import agents
from agents.base import Agent
from cardenvs.command_line import add_game_arguments, game_of
from cardenvs.core.batch import Batch
from cardenvs.core.game import Game
from cardenvs.registry import load_game
from training.players import FACTORY_TEXT, PLAYER_TEXTS, read_players

#: Where the published lists of deals begin: `dev` for choices, `test` for results. Training
#: never gets there, see docs/architecture.md.
FIRST_DEAL = {"dev": 2**62, "test": 2**62 + 2**61}

NUM_RESAMPLES = 1_000
_MAX_TABLES = 4_096

#: What is measured, and how it is called in a table.
LOSS_RATE = "loss rate"
SCORE = "score"
_RESULTS = {LOSS_RATE: "Loses", SCORE: "Score"}


@dataclass(frozen=True)
class Row:
    """How one player does among others of one kind.

    Attributes:
        player, others: their names, and whether they play greedily or by sampling.
        num_others: how many others there are; 0 where a team plays against a team.
        deals, games: how many were played.
        result: minus the player's mean score in a game with one loser, shares of a capped game
            included; else its mean score.
        low, high: its 95 % interval.
        fair: the result of equals.
        capped_games: how many games the cap ended.
        mean_length: decisions of all players in a game.
        blocks: the player's mean result in each deal, float64 [D].
    """

    player: str
    others: str
    num_others: int
    deals: int
    games: int
    result: float
    low: float
    high: float
    fair: float
    capped_games: int
    mean_length: float
    blocks: npt.NDArray[np.float64] = field(repr=False, compare=False)

    def minus(self, other: Row) -> tuple[float, float, float]:
        """Return the difference to another row's result and its 95 % interval.

        Both rows must be of the same deals; these are resampled together.

        Raises:
            ValueError: if the rows are not of equally many deals.
        """
        if self.deals != other.deals:
            raise ValueError(f"rows of {self.deals} and {other.deals} deals cannot be paired")
        return with_interval(self.blocks - other.blocks)

    def json(self) -> dict[str, Any]:
        """Return the row as plain data, without the results of single deals."""
        plain = asdict(self)
        del plain["blocks"]
        return plain


@dataclass(frozen=True)
class Report:
    """The rows of an evaluation, what they were measured on, and what is measured.

    Attributes:
        measure: "loss rate" in a game with one loser, else "score".
    """

    game: str
    measure: str
    options: dict[str, Any]
    split: str
    rows: tuple[Row, ...]

    def row(self, player: str, others: str) -> Row:
        """Return the row of a player among others, by their names as they stand in the table.

        Raises:
            KeyError: if there is none.
        """
        for row in self.rows:
            if (row.player, row.others) == (player, others):
                return row
        raise KeyError(f"no row has {player!r} among {others!r}")

    def markdown(self) -> str:
        """Return the rows as a table in Markdown."""
        cells: list[Sequence[str]] = [_headings(self.rows[0], self.measure)]
        cells += map(_cells, self.rows)
        return markdown_table(cells)

    def text(self) -> str:
        """Return the table with a line that says what it is."""
        changed = ", ".join(f"{name}={value}" for name, value in self.options.items())
        title = f"{self.game} ({changed}): {self.split} deals, all rotations, {self.measure}"
        return f"{title}\n\n{self.markdown()}"

    def json(self) -> dict[str, Any]:
        """Return the report as plain data, without the results of single deals."""
        rows = [row.json() for row in self.rows]
        about = {"game": self.game, "measure": self.measure, "options": self.options}
        return about | {"split": self.split, "rows": rows}

    def save(self, folder: Path, name: str = "evaluation") -> None:
        """Write the report as `name`.json, .md and .txt."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(self.json(), indent=2) + "\n")
        (folder / f"{name}.md").write_text(self.markdown() + "\n")
        (folder / f"{name}.txt").write_text(self.text() + "\n")


def evaluate(
    game: str | Game,
    players: Mapping[str, Agent],
    pairs: Iterable[tuple[str, str]] | None = None,
    num_deals: int = 1_000,
    split: str = "dev",
    progress: bool = True,
) -> Report:
    """Measure players by name: each alone among others of one kind, or as a team against them.

    Args:
        game: the game, or its id; where it has one loser, a loss is counted as 1 whatever the
            game's `reward`.
        players: the agents.
        pairs: (player, others) for each row; by default all pairs of different names.
        num_deals: D; the first of the published list are played.
        split: "dev" or "test".
        progress: show a progress bar.

    Raises:
        ValueError: if there is no such list of deals, or nobody to measure.
    """
    table = measured_game(game)
    chosen = [(a, b) for a in players for b in players if a != b] if pairs is None else list(pairs)
    if not chosen:
        raise ValueError(f"a player is measured among others: {list(players)} are too few")
    rows = []
    with tqdm(total=len(chosen) * num_deals, unit="deal", disable=not progress) as bar:
        for player, others in chosen:
            bar.set_description(f"{player} among {others}")
            seated = lineup(table, players[player], players[others])
            played = play_duplicates(table, seated, deal_seeds(split, num_deals), bar.update)
            names = [shown_name(name, players[name]) for name in (player, others)]
            scores = played.scores[:, :, 0].mean(axis=1)
            rows.append(row_of(table, names[0], names[1], num_others_of(table), scores, played))
    return Report(table.id, measure_of(table), table.options, split, tuple(rows))


@dataclass(frozen=True)
class Played:
    """What came of some deals in all rotations.

    Attributes:
        scores: float64 [D, R, P], of the lineup's place (not of the seat).
        capped: bool [D, R].
        lengths: int64 [D, R], in decisions.
    """

    scores: npt.NDArray[np.float64]
    capped: npt.NDArray[np.bool_]
    lengths: npt.NDArray[np.int64]


def deal_seeds(split: str, count: int, start: int = 0) -> npt.NDArray[np.int64]:
    """Return seeds of a published list of deals, the first or those from `start` on, int64 [count].

    Raises:
        ValueError: if there is no such list.
    """
    if split not in FIRST_DEAL:
        raise ValueError(f"the lists of deals are {', '.join(FIRST_DEAL)}, not {split!r}")
    return FIRST_DEAL[split] + np.arange(start, start + count, dtype=np.int64)


def play_duplicates(
    game: Game,
    lineup: Sequence[Agent],
    seeds: npt.NDArray[np.int64],
    tick: Any = lambda deals: None,
) -> Played:
    """Play every deal in all rotations: in rotation r, place k of the lineup sits at seat k + r.

    There are as many rotations as seats, or as teams.

    Args:
        game: the game with its options.
        lineup: an agent for each place.
        seeds: of the deals, int64 [D].
        tick: is called with how many deals have been played since the last call.
    """
    size = max(1, _MAX_TABLES // num_rotations(game))
    parts = []
    for start in range(0, len(seeds), size):
        part = seeds[start : start + size]
        parts.append(_play_part(game, lineup, part))
        tick(len(part))
    return joined(parts)


def joined(parts: Sequence[Played]) -> Played:
    """Return what came of several lists of deals as what came of one."""
    return Played(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.capped for part in parts]),
        np.concatenate([part.lengths for part in parts]),
    )


def _play_part(game: Game, lineup: Sequence[Agent], seeds: npt.NDArray[np.int64]) -> Played:
    seats, rotations = np.arange(game.num_players), np.arange(num_rotations(game))
    place_at = (seats[None, :] - rotations[:, None]) % game.num_players  # [R, P]: place at a seat
    places = np.tile(place_at, (len(seeds), 1))  # [B, P]
    batch = Batch(game, len(places), np.repeat(seeds, len(rotations)), autoreset=False)
    batch.reset()
    capped = _play_out(batch, lineup, places)
    scores = np.empty(places.shape)
    np.put_along_axis(scores, places, batch.episode_return.astype(np.float64), axis=1)
    shape = (len(seeds), len(rotations))
    return Played(
        scores.reshape(*shape, game.num_players),
        capped.reshape(shape),
        batch.episode_length.reshape(shape).copy(),
    )


def _play_out(
    batch: Batch, lineup: Sequence[Agent], places: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Play all tables to the end, and return which of them a cap has ended, bool [B].

    Each agent is asked once a step, for all its tables together.
    """
    crew = list(dict.fromkeys(lineup))
    crew_of_place = np.array([crew.index(agent) for agent in lineup])
    crew_at = crew_of_place[places]  # [B, P]
    actions = np.zeros(batch.num_envs, np.int64)
    tables = np.arange(batch.num_envs)
    capped = np.zeros(batch.num_envs, np.bool_)
    while (unfinished := batch.current_player >= 0).any():
        asked = np.where(unfinished, crew_at[tables, batch.current_player], -1)
        for number, agent in enumerate(crew):
            own = np.flatnonzero(asked == number)
            if own.size:
                actions[own] = agent.act(batch.observation[own], batch.action_mask[own])
        batch.step(actions)
        capped |= batch.truncated
    return capped


# ----------------------------------------------------------------------------------------------
# Numbers


def with_interval(blocks: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean of independent blocks, [D], and its 95 % interval.

    Percentile bootstrap over the blocks. The resamples depend on D alone, so rows of the same
    deals are resampled together.
    """
    low, high = np.percentile(resampled_means(blocks), [2.5, 97.5])
    return float(blocks.mean()), float(low), float(high)


def resampled_means(blocks: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the means of resamples of the blocks, [D], as float64 [NUM_RESAMPLES]."""
    count = len(blocks)
    rng = np.random.default_rng(count)
    means = [blocks[rng.integers(count, size=count)].mean() for _ in range(NUM_RESAMPLES)]
    return np.array(means)


def row_of(
    game: Game,
    player: str,
    others: str,
    num_others: int,
    scores: npt.NDArray[np.float64],
    played: Played,
) -> Row:
    """Make a row from a player's mean score in each deal, float64 [D]."""
    is_loss = measure_of(game) == LOSS_RATE
    blocks = -scores if is_loss else scores
    result, low, high = with_interval(blocks)
    return Row(
        player=player,
        others=others,
        num_others=num_others,
        deals=len(blocks),
        games=played.capped.size,
        result=result,
        low=low,
        high=high,
        fair=1 / game.num_players if is_loss else 0.0,
        capped_games=int(played.capped.sum()),
        mean_length=float(played.lengths.mean()),
        blocks=blocks,
    )


def measured_game(game: str | Game) -> Game:
    """Return the game; one with one loser with the loss counted as -1, and nothing for others."""
    given = load_game(game) if isinstance(game, str) else game
    if "reward" not in given.options:
        return given
    return load_game(given.id, **{**given.options, "reward": "loser"})


def measure_of(game: Game) -> str:
    """Return what is measured in a game: loss rates, or scores."""
    return LOSS_RATE if "reward" in game.options else SCORE


def num_rotations(game: Game) -> int:
    """Return in how many places a player, or a team, can sit."""
    return game.num_teams or game.num_players


def num_others_of(game: Game) -> int:
    """Return how many others a player is alone among; 0 where it makes up a team."""
    return 0 if game.num_teams else game.num_players - 1


def lineup(game: Game, player: Agent, others: Agent) -> list[Agent]:
    """Return who sits where: the player alone, or in all places of its team."""
    size = num_rotations(game)
    return [player if place % size == 0 else others for place in range(game.num_players)]


# ----------------------------------------------------------------------------------------------
# Words


def shown_name(name: str, agent: Agent) -> str:
    """Return a player's name with how it plays, such as "hints (greedy)"."""
    mode = f"({agent.plays})"
    return name if name.endswith(mode) else f"{name} {mode}"


def _headings(row: Row, measure: str) -> Sequence[str]:
    who = ("One", "among") if row.num_others else ("Team of", "against")
    return (*who, _RESULTS[measure], "95 % interval", "Fair", "Deals", "Games", "Capped")


def _cells(row: Row) -> Sequence[str]:
    return (
        row.player,
        f"{row.num_others} x {row.others}" if row.num_others else row.others,
        f"{row.result:.4f}",
        f"{row.low:.4f} to {row.high:.4f}",
        f"{row.fair:.4f}",
        f"{row.deals:,}",
        f"{row.games:,}",
        f"{row.capped_games:,}",
    )


def markdown_table(lines: Sequence[Sequence[str]]) -> str:
    """Return lines of cells, the headings first, as a table in Markdown."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    texts = [_table_line(line, widths) for line in lines]
    texts.insert(1, _table_line(["-" * width for width in widths], widths))
    return "\n".join(texts)


def _table_line(cells: Iterable[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


# ----------------------------------------------------------------------------------------------
# Command line


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    add_game_arguments(parser)
    parser.add_argument("players", nargs="*", help=PLAYER_TEXTS)
    parser.add_argument("--agent", action="append", default=[], help=FACTORY_TEXT)
    parser.add_argument("--deals", type=int, default=1_000)
    parser.add_argument("--split", choices=sorted(FIRST_DEAL), default="dev")
    parser.add_argument("--seed", type=int, default=0, help="of the agents")
    parser.add_argument("--out", type=Path, help="a folder for the table as JSON, Markdown, text")
    given = parser.parse_args(arguments)
    game = game_of(given)
    entrants = read_players(given.players or agents.baselines(game), given.agent)
    players = {
        label: player.make(game, given.seed + i)
        for i, (label, player) in enumerate(entrants.items())
    }
    report = evaluate(game, players, None, given.deals, given.split)
    if given.out:
        report.save(given.out)
    print(report.text())


if __name__ == "__main__":
    main()
