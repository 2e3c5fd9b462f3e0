"""Let players meet on duplicate deals: `python -m training.arena braus random lowest hints`.

In a game in which each plays alone, every ordered pair of players meets: one of the first among
others of the second. From these games come two tables: how the one does among the others, and how
each of the others, the crowd, does against the one. In a game of teams, or of two players, the
two are one table, and every pair meets once. A player among its own kind gets the fair share, and
is not measured.

Deals are played in chunks of a fixed size, for each of which the players are made anew, with
generators of their own. So the result does not depend on the number of processes.

Letters of shapes: D deals, R rotations, P seats.
"""

from __future__ import annotations

import os

# A player gets one thread, whatever it calls: more would steal the cores of other processes. To
# have an effect this comes before NumPy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import hashlib
import itertools
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

import agents
from agents.base import Agent
from cardenvs.command_line import add_game_arguments, game_of
from cardenvs.core.game import Game
from training.arena_report import ArenaReport, Narrowing, PlayerFacts
from training.evaluate import (
    FIRST_DEAL,
    Played,
    Report,
    Row,
    deal_seeds,
    joined,
    lineup,
    measure_of,
    measured_game,
    num_others_of,
    num_rotations,
    play_duplicates,
    row_of,
)
from training.origin import origin
from training.players import (
    FACTORY_TEXT,
    PLAYER_TEXTS,
    Player,
    check_players,
    read_player,
    read_players,
)
from training.ratings import MAX_GAMES, NUM_SHUFFLES, RatedGames, rate

#: How many deals the players play before they are made anew.
CHUNK_DEALS = 250

#: Those whose versions a report is told with.
_PACKAGES = ("numpy", "numba", "openskill")


@dataclass(frozen=True)
class Guest:
    """An agent that somebody has made; it plays all chunks as it is."""

    label: str
    agent: Agent

    @property
    def text(self) -> str:
        """What is told of it."""
        return f"an agent given as an object: {type(self.agent).__qualname__}"

    def make(self, game: Game, seed: int) -> Agent:
        """Return the agent itself."""
        return self.agent


#: Who takes part.
Entrant = Player | Guest


@dataclass(frozen=True)
class Meeting:
    """The games of one player, or team, among others of one kind."""

    player: str
    others: str
    played: Played


def arena(
    game: str | Game,
    players: Mapping[str, Agent | str | Player],
    num_deals: int = 1_000,
    split: str = "dev",
    seed: int = 0,
    processes: int = 1,
    *,
    cluster: str = "",
    start: int = 0,
    num_shuffles: int = NUM_SHUFFLES,
    max_rated_games: int = MAX_GAMES,
    progress: bool = True,
) -> ArenaReport:
    """Let all players meet on the same deals, and measure and rate them.

    Args:
        game: the game, or its id; where it has one loser, a loss is counted as 1 whatever the
            game's `reward`.
        players: by label: agents, or what `training.players` reads.
        num_deals: D, for each pair.
        split: the published list of deals, "dev" or "test".
        seed: of the players' generators.
        processes: among which the chunks are divided.
        cluster: the address of a Ray cluster that plays the chunks instead, or "local" for one of
            this machine alone; see `training.ray_cluster`.
        start: the first deal of the list that is played.
        num_shuffles: orders of the games that ratings are averaged over; 0 for no ratings.
        max_rated_games: so many games of each order are rated.
        progress: show a progress bar.

    Raises:
        ValueError: if there are fewer than two players or no deals, if an agent given as an object
            shall play in other processes, or if both a cluster and processes shall play.
        ConnectionError: if there is no such cluster.
    """
    came_from = origin(_PACKAGES)
    table = measured_game(game)
    entrants = {label: _entrant(label, player) for label, player in players.items()}
    _check(entrants, num_deals, processes, cluster)
    seeds = deal_seeds(split, num_deals, start)
    first = {label: one.make(table, _seed_of(seed, label, 0)) for label, one in entrants.items()}
    chunks = list(_chunks(table, entrants, seed, seeds))
    done = _played_chunks(chunks, _results(chunks, processes, cluster), progress)
    meetings = _meetings(chunks, done)
    report, crowd, narrowing = _tables(table, split, meetings)
    games = [_rated_games(table, meeting) for meeting in meetings]
    return ArenaReport(
        report=report,
        crowd=crowd,
        narrowing=narrowing,
        ratings=rate(games, num_shuffles, max_rated_games, seed, progress) if num_shuffles else (),
        players=tuple(_facts(one, first[label], done) for label, one in entrants.items()),
        first_deal=int(seeds[0]),
        seed=seed,
        origin=came_from,
    )


def _entrant(label: str, player: Agent | str | Player) -> Entrant:
    if isinstance(player, str):
        player = read_player(player)
    if isinstance(player, Player):
        return replace(player, label=label)
    return Guest(label, player)


def _check(entrants: Mapping[str, Entrant], num_deals: int, processes: int, cluster: str) -> None:
    if len(entrants) < 2:
        raise ValueError(f"two players or more meet; {list(entrants)} are too few")
    for name, value in (("deals", num_deals), ("processes", processes)):
        if value < 1:
            raise ValueError(f"the number of {name} is at least 1, not {value}")
    guests = [label for label, one in entrants.items() if isinstance(one, Guest)]
    if cluster and processes > 1:
        raise ValueError(
            f"either a Ray cluster plays or {processes} processes; give one of the two"
        )
    if guests and (cluster or processes > 1):
        raise ValueError(
            f"{guests[0]!r} is an agent that lives in this process; let one process play, "
            "or give its text or factory instead of the object"
        )


# ----------------------------------------------------------------------------------------------
# Play


@dataclass(frozen=True)
class Chunk:
    """Some deals of a meeting: the work of one process."""

    game: Game
    player: Entrant
    others: Entrant
    seed: int
    number: int
    deals: npt.NDArray[np.int64]


@dataclass
class Clock:
    """How many decisions of a player were timed, and the seconds of wall time they took."""

    decisions: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Done:
    """What came of a chunk, and the clocks of its players by label."""

    played: Played
    clocks: dict[str, Clock]


class Watched:
    """A player on the clock, whose answers are checked.

    The first call is not timed, since it may have to compile.
    """

    def __init__(self, label: str, agent: Agent) -> None:
        self.name = label
        self.plays = agent.plays
        self.clock = Clock()
        self._agent = agent
        self._is_warm = False

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Return what the player answers; see `agents.Agent.act`.

        Raises:
            ValueError: if it does not answer one legal action a position.
        """
        began = time.perf_counter()
        answer = np.asarray(self._agent.act(observation, action_mask))
        count, num_actions = action_mask.shape
        if self._is_warm:
            self.clock.seconds += time.perf_counter() - began
            self.clock.decisions += count
        self._is_warm = True
        if answer.shape != (count,) or not np.issubdtype(answer.dtype, np.integer):
            raise ValueError(
                f"asked at {count} positions, {self.name!r} answered with {answer.dtype} "
                f"{list(answer.shape)} instead of whole numbers [{count}]"
            )
        known = (answer >= 0) & (answer < num_actions)
        legal = known & (action_mask[np.arange(count), np.where(known, answer, 0)] == 1)
        if not legal.all():
            raise ValueError(f"{self.name!r} chose action {answer[~legal][0]}, which is illegal")
        return answer


def _chunks(
    game: Game, entrants: Mapping[str, Entrant], seed: int, deals: npt.NDArray[np.int64]
) -> Iterator[Chunk]:
    """Cut all meetings into chunks, those of a meeting one after the other."""
    all_pairs = itertools.combinations if _is_two_sided(game) else itertools.permutations
    for player, others in all_pairs(entrants.values(), 2):
        for number, begin in enumerate(range(0, len(deals), CHUNK_DEALS)):
            part = deals[begin : begin + CHUNK_DEALS]
            yield Chunk(game, player, others, seed, number, part)


def _played_chunks(chunks: Sequence[Chunk], results: Iterator[Done], progress: bool) -> list[Done]:
    """Play all chunks, and return what came of them in their order."""
    done = []
    total = sum(len(chunk.deals) for chunk in chunks)
    with tqdm(total=total, unit="deal", disable=not progress) as bar:
        for chunk, result in zip(chunks, results, strict=True):
            bar.set_description(f"{chunk.player.label}, {chunk.others.label}")
            bar.update(len(chunk.deals))
            done.append(result)
    return done


def _results(chunks: Sequence[Chunk], processes: int, cluster: str) -> Iterator[Done]:
    if cluster:
        from training.ray_cluster import results_of  # Ray is optional

        yield from results_of(play_chunk, chunks, cluster)
        return
    if processes == 1:
        yield from map(play_chunk, chunks)
        return
    with ProcessPoolExecutor(min(processes, len(chunks)), get_context("spawn")) as pool:
        yield from pool.map(play_chunk, chunks)


def play_chunk(chunk: Chunk) -> Done:
    """Make the players of a chunk, and play its deals in all rotations."""
    seated = [
        Watched(one.label, one.make(chunk.game, _seed_of(chunk.seed, one.label, chunk.number)))
        for one in (chunk.player, chunk.others)
    ]
    played = play_duplicates(chunk.game, lineup(chunk.game, *seated), chunk.deals)
    return Done(played, {one.name: one.clock for one in seated})


def _seed_of(seed: int, label: str, chunk: int) -> int:
    """Return the seed of a player's generator in a chunk, whoever else takes part."""
    digest = hashlib.sha256(f"{seed} {chunk} {label}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _is_two_sided(game: Game) -> bool:
    """Return whether one player among others of a kind and those against it are one thing."""
    return num_rotations(game) == 2


# ----------------------------------------------------------------------------------------------
# Numbers


def _meetings(chunks: Sequence[Chunk], done: Sequence[Done]) -> list[Meeting]:
    """Put the chunks of each meeting together."""
    parts: dict[tuple[str, str], list[Played]] = {}
    for chunk, result in zip(chunks, done, strict=True):
        parts.setdefault((chunk.player.label, chunk.others.label), []).append(result.played)
    return [Meeting(*pair, joined(played)) for pair, played in parts.items()]


def _tables(
    game: Game, split: str, meetings: Sequence[Meeting]
) -> tuple[Report, tuple[Row, ...], tuple[Narrowing, ...]]:
    """Return the rows of one among others, those of the crowd, and what duplicates have brought."""
    num_others, is_two_sided = num_others_of(game), _is_two_sided(game)
    rest = [place for place in range(game.num_players) if place % num_rotations(game)]
    rows, crowd, narrowing = [], [], []
    for meeting in meetings:
        player, others, played = meeting.player, meeting.others, meeting.played
        own = played.scores[:, :, 0]
        theirs = played.scores[:, :, rest].mean(axis=(1, 2))
        rows.append(row_of(game, player, others, num_others, own.mean(axis=1), played))
        if is_two_sided:
            rows.append(row_of(game, others, player, num_others, theirs, played))
        else:
            crowd.append(row_of(game, others, player, 1, theirs, played))
        narrowing.append(Narrowing.of(player, others, own))
    report = Report(game.id, measure_of(game), game.options, split, tuple(rows))
    return report, tuple(crowd), tuple(narrowing)


def _rated_games(game: Game, meeting: Meeting) -> RatedGames:
    """Return the games of a meeting as rankings of seats, or of teams."""
    num_sides = num_rotations(game)
    side_size = game.num_players // num_sides
    sides = [
        (meeting.player if side == 0 else meeting.others,) * side_size for side in range(num_sides)
    ]
    scores = meeting.played.scores[:, :, :num_sides]  # of the first place of each side
    return RatedGames(tuple(sides), scores.reshape(-1, num_sides))


def _facts(entrant: Entrant, agent: Agent, done: Sequence[Done]) -> PlayerFacts:
    clocks = [result.clocks[entrant.label] for result in done if entrant.label in result.clocks]
    decisions = sum(clock.decisions for clock in clocks)
    seconds = sum(clock.seconds for clock in clocks)
    return PlayerFacts(entrant.label, entrant.text, agent.plays, decisions, seconds)


# ----------------------------------------------------------------------------------------------
# Command line


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.arena", description=__doc__)
    add_game_arguments(parser)
    parser.add_argument("players", nargs="*", help=f"{PLAYER_TEXTS}; by default the baselines")
    parser.add_argument(
        "--agent", action="append", default=[], metavar="MODULE:FACTORY", help=FACTORY_TEXT
    )
    parser.add_argument("--deals", type=int, default=1_000, help="for each pair of players")
    parser.add_argument("--split", choices=sorted(FIRST_DEAL), default="dev")
    parser.add_argument("--seed", type=int, default=0, help="of the players")
    parser.add_argument(
        "--processes", type=int, default=1, help="change no result but with budgets of time"
    )
    parser.add_argument(
        "--ray",
        nargs="?",
        const="local",
        default="",
        metavar="ADDRESS",
        help="let a Ray cluster play: that at the address, or one made of this machine",
    )
    parser.add_argument("--out", type=Path, help="a folder for arena.json, arena.md and arena.png")
    given = parser.parse_args(arguments)
    try:
        game = game_of(given)
        players = read_players(given.players or agents.baselines(game), given.agent)
        check_players(game, players)
    except ValueError as error:
        parser.error(str(error))
    how = (given.deals, given.split, given.seed, given.processes)
    report = arena(game, players, *how, cluster=given.ray)
    if given.out:
        words = sys.argv[1:] if arguments is None else arguments
        report.save(given.out, f"{parser.prog} {shlex.join(words)}")
    print(report.text())


if __name__ == "__main__":
    main()
