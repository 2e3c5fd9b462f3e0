"""Measure what each hint of the rule texts is worth: `python -m training.hint_lab bred_ryg`.

For every hint of a game, at every table that `training/hint_lab.json` names (with the margin and
the numbers of deals, all fixed before the first result was seen):

    how often     positions in which it speaks and leaves a choice out, and in which it changes
                  what the usual hint agent plays, per game of such agents
    ablation      the usual hint agent with the hint against the same without it
    alone         the hint alone on a base policy against the bare policy: the usual one, and random
    compliance    how often each agent does what it advises, above what chance would do
    value gap     what a search takes the best advised action to be worth more than the best other
    forced play   a strong agent that must follow it, against the same that must not, and the free

The verdict is of the ablation, see `training.verdicts`; everything else helps to understand it.

Letters of shapes: D deals, R rotations, P places, K positions, A actions.
"""

from __future__ import annotations

import os

# One thread for the linear algebra of agents. This comes before NumPy is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

import agents
from agents.base import Agent, as_positions
from agents.hints import LOWEST, RANDOM, HintBook, advice_masks, hint_book
from cardenvs.command_line import add_game_arguments, options_of
from cardenvs.core.batch import Batch
from cardenvs.core.game import Game
from cardenvs.registry import full_id, load_game
from training.evaluate import LOSS_RATE, deal_seeds, evaluate, num_rotations
from training.hint_report import as_data, draw_effects, markdown
from training.hint_tables import play_hint_tables
from training.origin import origin
from training.players import FACTORY_TEXT, PLAYER_TEXTS, Player, read_player, read_players
from training.verdicts import Effect, verdicts

#: What is measured and how it is judged, fixed before.
PLAN_FILE = Path(__file__).with_suffix(".json")

#: The deals of all measurements; hints were put on and off on the `dev` deals.
SPLIT = "test"

#: Who is asked whether it follows the hints.
ASKED = (RANDOM, LOWEST, "hints")

#: Fewer games than this give no interval.
_LEAST_GAMES = 10

#: What hints do alone is played on one of so many parts of the deals.
_SHARE_ALONE = 5

_NUM_TABLES = 512
_NUM_STEPS = 3_000


@dataclass(frozen=True)
class Table:
    """Where hints are measured.

    Attributes:
        options: of the game.
        deals: of an ablation; each is played in all rotations, in both directions.
        forced_deals: of the forced play; 0 for none.
    """

    options: dict[str, Any]
    deals: int
    forced_deals: int


@dataclass(frozen=True)
class Plan:
    """What is measured for a game.

    Attributes:
        metric: of the ablation, in words.
        margin: effects below it are as good as nothing.
        deals, forced_deals: of the tables that do not say otherwise; see `Table`.
        positions: at most so many are put to the agents, for each hint.
        strong: who plays by force, and whose values make the value gap.
        tables: where the hints are measured.
        conflicts: pairs of hints that contradict each other, and the tables to settle it at.
    """

    metric: str
    margin: float
    deals: int
    positions: int
    forced_deals: int
    strong: str
    tables: Sequence[Mapping[str, Any]]
    conflicts: Sequence[Mapping[str, Any]]

    def table(self, given: Mapping[str, Any]) -> Table:
        """Return a table with the numbers that it does not say itself."""
        numbers = {"deals": self.deals, "forced_deals": self.forced_deals}
        return Table(**numbers | dict(given))


def plan_of(game_id: str) -> Plan:
    """Return the plan of a game, with its id or its short id.

    Raises:
        ValueError: if there is no plan for such a game.
    """
    plans = json.loads(PLAN_FILE.read_text())
    if full_id(game_id) not in plans:
        raise ValueError(f"hints are measured for {', '.join(plans)}, not for {game_id!r}")
    return Plan(**plans[full_id(game_id)])


# ----------------------------------------------------------------------------------------------
# Ablation: whole games among hint agents


@dataclass(frozen=True)
class Gain:
    """An effect, and the share of its games that a cap has ended."""

    effect: Effect
    capped: float


def gain_of_set(
    game: Game,
    book: HintBook,
    base: str,
    hints: Sequence[str],
    others: Sequence[str],
    seeds: npt.NDArray[np.int64],
    num_threads: int = 1,
) -> Gain:
    """Return what a player gains by using some hints rather than others.

    It is the mean of two gains: of one player with `hints` among players with `others`, and of
    players with `hints` over one among them with `others`. A gain is the score above the mean of
    the table, over all rotations of a deal. (Of two sides the two are the same games.)

    Args:
        game: the game with its options.
        book: its hints.
        base: the base policy of all.
        hints: the names of the hints to judge.
        others: those that they are compared with.
        seeds: of the deals, int64 [D].
        num_threads: play different deals side by side.
    """
    gained, capped = _gain_of_one(game, book, base, hints, others, seeds, num_threads)
    if not game.num_teams and game.num_players > 2:
        lost, also = _gain_of_one(game, book, base, others, hints, seeds, num_threads)
        gained, capped = (gained - lost) / 2.0, (capped + also) / 2.0
    return Gain(Effect.of_blocks(gained), capped)


def _gain_of_one(
    game: Game,
    book: HintBook,
    base: str,
    own: Sequence[str],
    others: Sequence[str],
    seeds: npt.NDArray[np.int64],
    num_threads: int,
) -> tuple[npt.NDArray[np.float64], float]:
    """Return what the first place, or its team, gains in each deal, [D], and the capped share."""
    size = num_rotations(game)
    places = [own if place % size == 0 else others for place in range(game.num_players)]
    scores, capped = play_hint_tables(game, book, base, places, seeds, num_threads)
    return (scores[:, :, 0] - scores.mean(axis=2)).mean(axis=1), float(capped.mean())


def with_hint(book: HintBook, used: Sequence[str], name: str) -> tuple[str, ...]:
    """Return hints with one more, in the order of the book."""
    return tuple(hint for hint in book.names if hint in used or hint == name)


# ----------------------------------------------------------------------------------------------
# Positions in which a hint speaks


@dataclass
class Triggered:
    """Positions in which a hint speaks and does not allow everything.

    Attributes:
        observations, masks, advised: int8 [K, O], [K, A], [K, A]: a fair sample of them.
        games: int64 [K], the game that each is from.
        per_game: how many there are in a game, on average.
        changes_per_game: in how many of all positions of a game the usual agent with the hint
            plays something else than without it.
    """

    observations: npt.NDArray[np.int8]
    masks: npt.NDArray[np.int8]
    advised: npt.NDArray[np.int8]
    games: npt.NDArray[np.int64]
    per_game: float
    changes_per_game: float


def is_choice(advised: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Return where advice leaves some legal action, and leaves one out, bool [N]."""
    chosen: npt.NDArray[np.bool_] = advised.any(axis=1) & (advised != (masks != 0)).any(axis=1)
    return chosen


class _Sample:
    """A fair sample of all positions in which a hint speaks, and how often it changes the play."""

    def __init__(self, game: Game, book: HintBook, name: str, capacity: int) -> None:
        used = with_hint(book, book.default, name)
        self.seen = self.changed = 0
        self.kept: list[tuple[Any, Any, Any, int]] = []
        self._book, self._name, self._capacity = book, name, capacity
        self._with = agents.make(game, "hints", 0, hints=used)
        self._without = agents.make(game, "hints", 0, hints=used, without=[name])

    def look_at(self, batch: Batch, games: Any, rng: np.random.Generator) -> None:
        observations, masks = batch.observation, batch.action_mask
        own, other = self._with.act(observations, masks), self._without.act(observations, masks)
        self.changed += int((own != other).sum())
        advised = advice_masks(self._book, self._name, observations, masks)
        for i in np.flatnonzero(is_choice(advised, masks)):
            self.seen += 1
            kept = observations[i].copy(), masks[i].copy(), advised[i].copy(), int(games[i])
            place = int(rng.integers(self.seen))
            if len(self.kept) < self._capacity:
                self.kept.append(kept)
            elif place < self._capacity:
                self.kept[place] = kept

    def positions(self, num_games: int) -> Triggered:
        """Return what was kept, out of so many games."""
        observations, masks, advised, games = map(np.array, zip(*self.kept, strict=True))
        shares = self.seen / num_games, self.changed / num_games
        return Triggered(observations, masks, advised, games, *shares)


def triggered_positions(
    game: Game, book: HintBook, capacity: int, num_steps: int, seed: int
) -> dict[str, Triggered]:
    """Play among the usual hint agents, and return for each hint where it speaks, by name.

    Hints that never speak are not in it.

    Args:
        game: the game with its options.
        book: its hints.
        capacity: keep at most so many positions of a hint.
        num_steps: decisions at each of the tables.
        seed: of the deals and of the sample.
    """
    batch = Batch(game, _NUM_TABLES, seed)
    batch.reset()
    agent = agents.make(game, "hints", seed)
    rng = np.random.default_rng(seed)
    samples = {name: _Sample(game, book, name, capacity) for name in book.names}
    game_at = np.arange(_NUM_TABLES)
    num_games = _NUM_TABLES
    for _ in range(num_steps):
        for sample in samples.values():
            sample.look_at(batch, game_at, rng)
        batch.step(agent.act(batch.observation, batch.action_mask))
        ended = np.flatnonzero(batch.terminated)
        game_at[ended] = num_games + np.arange(len(ended))
        num_games += len(ended)
    return {name: sample.positions(num_games) for name, sample in samples.items() if sample.kept}


def clustered(values: npt.NDArray[np.float64], games: npt.NDArray[np.int64]) -> Effect | None:
    """Return the mean of values, [K], of which those of one game are not independent.

    None if they are from fewer than ten games.
    """
    mean = float(values.mean())
    _, of_game = np.unique(games, return_inverse=True)
    sums = np.bincount(of_game, values - mean)
    count = len(sums)
    if count < _LEAST_GAMES:
        return None
    error = np.sqrt((sums**2).sum() * count / (count - 1)) / len(values)
    return Effect(mean, float(error), count)


# ----------------------------------------------------------------------------------------------
# Agents before the hints


@dataclass(frozen=True)
class Compliance:
    """How far an agent does what a hint advises.

    Attributes:
        followed: the share of the positions in which it does.
        chance: the share of an agent that chooses any legal action.
        lift: the difference; None if it is from too few games.
    """

    followed: float
    chance: float
    lift: Effect | None


def compliance(agent: Agent, where: Triggered) -> Compliance:
    """Return how far an agent follows a hint in some positions."""
    actions = agent.act(where.observations, where.masks)
    followed = where.advised[np.arange(len(actions)), actions].astype(float)
    chance = where.advised.sum(axis=1) / (where.masks != 0).sum(axis=1)
    lift = clustered(followed - chance, where.games)
    return Compliance(float(followed.mean()), float(chance.mean()), lift)


def value_gap(chooser: Any, judge: Any, where: Triggered) -> Effect | None:
    """Return what searches take the advice to be worth; None if they valued too few positions.

    It is the value of the best advised action less that of the best other one, in points. One
    search says which these are, and another, which has drawn worlds of its own, what they are
    worth: the best of many estimates is too high an estimate of the best.
    """
    first = chooser.values(where.observations, where.masks)
    second = judge.values(where.observations, where.masks)
    worth = []
    for chosen in (where.advised != 0, (where.masks != 0) & (where.advised == 0)):
        best = np.where(chosen & ~np.isnan(first), first, -np.inf).argmax(axis=1)
        known = (chosen & ~np.isnan(first)).any(axis=1)
        worth.append(np.where(known, second[np.arange(len(best)), best], np.nan))
    gaps = worth[0] - worth[1]
    is_known = ~np.isnan(gaps)
    return clustered(gaps[is_known], where.games[is_known]) if is_known.any() else None


class ForcedAgent:
    """Plays as another agent, but where a hint speaks it must follow it, or must not."""

    def __init__(self, agent: Agent, book: HintBook, hint: str, follows: bool) -> None:
        """Take the agent.

        Args:
            agent: who plays.
            book: the hints of the game.
            hint: the name of the hint.
            follows: whether it must follow the hint; else it must do something else.
        """
        self.name = f"{agent.name} {'with' if follows else 'against'} {hint}"
        self.plays = agent.plays
        self._agent, self._book, self._hint, self._follows = agent, book, hint, follows

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `agents.Agent.act`."""
        observations, masks = as_positions(observation, action_mask)
        advised = advice_masks(self._book, self._hint, observations, masks)
        allowed = advised if self._follows else masks & (1 - advised)
        speaks = is_choice(advised, masks)
        actions = self._agent.act(observations, np.where(speaks[:, None], allowed, masks))
        return actions if action_mask.ndim == 2 else actions[0]


@dataclass(frozen=True)
class ForcedPlay:
    """What a strong agent among hint agents gains by following a hint.

    Attributes:
        over_defying: over doing something else wherever the hint speaks.
        over_free: over playing as it likes.
    """

    over_defying: Effect
    over_free: Effect


def forced_play(
    game: Game, book: HintBook, hint: str, strong: Player, num_deals: int, seed: int
) -> ForcedPlay:
    """Let a strong agent among hint agents follow a hint, defy it, and play as it likes."""
    players: dict[str, Agent] = {
        "with": ForcedAgent(strong.make(game, seed), book, hint, True),
        "against": ForcedAgent(strong.make(game, seed), book, hint, False),
        "free": strong.make(game, seed),
    }
    pairs = [(name, "hints") for name in players]
    players["hints"] = agents.make(game, "hints", seed)
    report = evaluate(game, players, pairs, num_deals, SPLIT, progress=False)
    sign = -1.0 if report.measure == LOSS_RATE else 1.0
    follows, defies, free = (sign * row.blocks for row in report.rows)
    return ForcedPlay(Effect.of_blocks(follows - defies), Effect.of_blocks(follows - free))


# ----------------------------------------------------------------------------------------------
# The lab


@dataclass
class HintResult:
    """What was measured of one hint at a table where it speaks."""

    hint: str
    title: str
    claim: str
    source: str
    used: bool
    per_game: float
    changes_per_game: float
    ablation: Gain
    alone: Gain
    alone_on_random: Gain
    value_gap: Effect | None
    compliance: dict[str, Compliance]
    forced_play: ForcedPlay | None
    verdict: str = ""


@dataclass
class TableResult:
    """What was measured at one table; of the hints in `never`, nothing, as they never speak."""

    table: Table
    hints: list[HintResult]
    never: list[str] = field(default_factory=list)


@dataclass
class Comparison:
    """Two hints that contradict each other, at one table."""

    options: dict[str, Any]
    first_over_second: Gain
    first_over_neither: Gain
    second_over_neither: Gain
    verdict: str = ""


@dataclass
class Conflict:
    """A question that two hints answer differently, and what was found at some tables."""

    question: str
    hints: tuple[str, str]
    tables: list[Comparison]


class Lab:
    """Measures the hints of one game."""

    def __init__(
        self, game_id: str, plan: Plan, asked: Mapping[str, Player], seed: int, num_threads: int
    ) -> None:
        """Take what is to be measured.

        Args:
            game_id: the game.
            plan: what to measure.
            asked: players who are asked whether they follow the hints, by label. One that does not
                play at a table is not asked there.
            seed: of positions and agents; the deals are those of the `test` list.
            num_threads: play different deals side by side.
        """
        self._game_id, self._plan, self._seed, self._num_threads = game_id, plan, seed, num_threads
        self._strong = read_player(plan.strong)
        self._tables = [plan.table(given) for given in plan.tables]
        self._games = [load_game(game_id, **table.options) for table in self._tables]
        self._crews = [self._crew(game, asked) for game in self._games]

    def _crew(self, game: Game, asked: Mapping[str, Player]) -> dict[str, Agent]:
        crew = {}
        for label, player in asked.items():
            try:
                crew[label] = player.make(game, self._seed)
            except ValueError as error:
                print(f"{label} is not asked at {game!r}: {error}", file=sys.stderr)
        return crew

    def run(self, progress: bool = True) -> dict[str, Any]:
        """Measure, and return the results as plain data."""
        came_from = origin(("numba", "numpy"))
        books = [hint_book(game) for game in self._games]
        num_comparisons = sum(len(conflict["tables"]) for conflict in self._plan.conflicts)
        total = sum(len(book.hints) for book in books) + num_comparisons
        with tqdm(total=total, unit="hint", disable=not progress) as bar:
            places = zip(self._tables, self._games, books, self._crews, strict=True)
            tables = [self._table(*place, bar) for place in places]
            conflicts = [self._conflict(given, bar) for given in self._plan.conflicts]
        self._judge(tables, conflicts)
        found = {
            "game": full_id(self._game_id),
            "plan": self._plan,
            "split": SPLIT,
            "seed": self._seed,
            "silent": books[0].silent,
            "tables": tables,
            "conflicts": conflicts,
        }
        data: dict[str, Any] = as_data(found)
        return data | came_from

    def _table(
        self, table: Table, game: Game, book: HintBook, crew: Mapping[str, Agent], bar: Any
    ) -> TableResult:
        where = triggered_positions(game, book, self._plan.positions, _NUM_STEPS, self._seed)
        found = TableResult(table, [])
        for hint in book.hints:
            bar.set_description(hint.name)
            if hint.name in where:
                found.hints.append(self._hint(table, game, book, hint.name, where, crew))
            else:
                found.never.append(hint.name)
            bar.update()
        return found

    def _hint(
        self,
        table: Table,
        game: Game,
        book: HintBook,
        name: str,
        where: Mapping[str, Triggered],
        crew: Mapping[str, Agent],
    ) -> HintResult:
        (hint,) = (hint for hint in book.hints if hint.name == name)
        used = with_hint(book, book.default, name)
        unused = [other for other in used if other != name]
        usual = book.base_names[0]
        here, seeds = where[name], deal_seeds(SPLIT, table.deals)

        def gain(base: str, own: Sequence[str], others: Sequence[str], share: int = 1) -> Gain:
            part = seeds[: len(seeds) // share]
            return gain_of_set(game, book, base, own, others, part, self._num_threads)

        def search(number: int) -> Agent:
            return self._strong.make(game, self._seed + number)

        forced = None
        if table.forced_deals:
            forced = forced_play(game, book, name, self._strong, table.forced_deals, self._seed)
        return HintResult(
            hint.name,
            hint.title,
            hint.claim,
            hint.source,
            name in book.default,
            here.per_game,
            here.changes_per_game,
            ablation=gain(usual, used, unused),
            alone=gain(usual, [name], [], _SHARE_ALONE),
            alone_on_random=gain(RANDOM, [name], [], _SHARE_ALONE),
            value_gap=value_gap(search(1), search(2), here),
            compliance={label: compliance(agent, here) for label, agent in crew.items()},
            forced_play=forced,
        )

    def _conflict(self, given: Mapping[str, Any], bar: Any) -> Conflict:
        """Compare two hints that contradict each other, at several tables."""
        first, second = given["hints"]
        found = Conflict(given["question"], (first, second), [])
        for table in map(self._plan.table, given["tables"]):
            bar.set_description(f"{first} or {second}")
            game = load_game(self._game_id, **table.options)
            book, seeds = hint_book(game), deal_seeds(SPLIT, table.deals)
            neither = [name for name in book.default if name not in (first, second)]
            sets = {name: with_hint(book, neither, name) for name in (first, second)}
            pairs = ((sets[first], sets[second]), (sets[first], neither), (sets[second], neither))
            first_over_second, first_over_neither, second_over_neither = (
                gain_of_set(game, book, book.base_names[0], own, other, seeds, self._num_threads)
                for own, other in pairs
            )
            found.tables.append(
                Comparison(
                    table.options, first_over_second, first_over_neither, second_over_neither
                )
            )
            bar.update()
        return found

    def _judge(self, tables: Sequence[TableResult], conflicts: Sequence[Conflict]) -> None:
        """Judge all effects of the game together."""
        hints = [hint for table in tables for hint in table.hints]
        comparisons = [each for conflict in conflicts for each in conflict.tables]
        effects = [hint.ablation.effect for hint in hints]
        effects += [each.first_over_second.effect for each in comparisons]
        judged = verdicts(effects, self._plan.margin)
        results: list[HintResult | Comparison] = [*hints, *comparisons]
        for result, verdict in zip(results, judged, strict=True):
            result.verdict = verdict


# ----------------------------------------------------------------------------------------------
# Command line


def result_name(game_id: str) -> str:
    """Return the name of a game's results, without an ending."""
    return f"hint_lab_{full_id(game_id).partition('-v')[0]}"


def _changed(plan: Plan, given: argparse.Namespace) -> dict[str, Any]:
    """Return what the command line changes of a plan."""
    changed: dict[str, Any] = {
        name: getattr(given, name)
        for name in ("deals", "forced_deals", "positions", "strong")
        if getattr(given, name) is not None
    }
    if own := options_of(given):
        changed |= {"tables": [{"options": own}], "conflicts": []}
    elif "deals" in changed or "forced_deals" in changed:
        changed["tables"] = [{"options": table["options"]} for table in plan.tables]
    return changed


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m training.hint_lab",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_game_arguments(parser)
    parser.add_argument("players", nargs="*", help=f"who is asked, too: {PLAYER_TEXTS}")
    parser.add_argument("--agent", action="append", default=[], help=FACTORY_TEXT)
    parser.add_argument("--deals", type=int, help="of an ablation, instead of the plan's")
    parser.add_argument("--forced-deals", type=int, help="of forced play, instead of the plan's")
    parser.add_argument("--positions", type=int, help="for each hint, instead of the plan's")
    parser.add_argument("--strong", help="who plays by force, instead of the plan's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a folder for numbers, tables and picture")
    given = parser.parse_args(arguments)
    try:
        plan = plan_of(given.game)
        changed = _changed(plan, given)
        strong = changed.get("strong", plan.strong)
        asked = read_players([*ASKED, strong, *given.players], given.agent)
        lab = Lab(given.game, replace(plan, **changed), asked, given.seed, given.threads)
    except ValueError as error:
        parser.error(str(error))
    results = lab.run() | {"changed": sorted(changed)}
    words = sys.argv[1:] if arguments is None else arguments
    results["command"] = f"{parser.prog} {shlex.join(words)}"
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        file = given.out / result_name(given.game)
        file.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
        file.with_suffix(".md").write_text(markdown(results))
        draw_effects(results, file.with_suffix(".png"))
    print(markdown(results))


if __name__ == "__main__":
    main()
