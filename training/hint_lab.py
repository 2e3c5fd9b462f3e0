"""Measure what each hint of the rule texts is worth: `python -m training.hint_lab bred_ryg`.

For every hint of a game, at every table that `training/hint_lab.json` names (with the margin and
the numbers of deals, all fixed before the first result was seen):

    how often     positions in which it speaks and leaves a choice out, per game of hint agents
    ablation      the usual hint agent with the hint against the same without it
    alone         the hint alone on the base policy against the bare base policy
    compliance    how often each agent does what it advises, above what chance would do
    value gap     what a search takes the best advised action to be worth more than the best other
    forced play   a strong agent that must follow it against the same that must not

The verdict is of the ablation, see `training.verdicts`; everything else helps to understand it.

Letters of shapes: D deals, R rotations, P places, K positions, A actions.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

import agents
from agents.base import Agent, as_positions
from agents.hints import HintBook, advice_masks, hint_book
from cardenvs.core.batch import Batch
from cardenvs.core.game import Game
from cardenvs.registry import full_id, load_game
from training.evaluate import deal_seeds, evaluate
from training.hint_pictures import draw_effects
from training.hint_tables import play_hint_tables
from training.origin import origin
from training.players import FACTORY_TEXT, PLAYER_TEXTS, Player, read_players
from training.verdicts import Effect, verdicts

#: What is measured and how it is judged, fixed before.
PLAN_FILE = Path(__file__).with_suffix(".json")
RESULTS = Path(__file__).with_name("results")

#: Who is asked whether it follows the hints, if the game has it.
ASKED = ("random", "lowest", "hints")

_NUM_TABLES = 512
_NUM_STEPS = 3_000


@dataclass(frozen=True)
class Plan:
    """What is measured for a game.

    Attributes:
        metric: of the ablation, in words.
        margin: effects below it are as good as nothing.
        deals: of an ablation; each is played in all rotations, in both directions.
        positions: at most so many are put to the agents, for each hint.
        forced_deals: of the forced play.
        strong: who plays there, and whose values make the value gap.
        tables: the options of the tables.
        conflicts: pairs of hints that contradict each other, and the tables to settle it at.
    """

    metric: str
    margin: float
    deals: int
    positions: int
    forced_deals: int
    strong: str
    tables: Sequence[dict[str, Any]]
    conflicts: Sequence[dict[str, Any]]


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


def effect_of_set(
    game: Game,
    book: HintBook,
    base: str,
    hints: Sequence[str],
    others: Sequence[str],
    seeds: npt.NDArray[np.int64],
    num_threads: int = 1,
) -> Effect:
    """Return what a player gains by using some hints rather than others.

    It is the mean of two gains: of one player with `hints` among players with `others`, and of
    players with `hints` of whom one changes to `others`. A gain is the score above the mean of the
    table, over all rotations of a deal. (Of teams the two are the same games.)

    Args:
        game: the game with its options.
        book: its hints.
        base: the base policy of all.
        hints: the names of the hints to judge.
        others: those that they are compared with.
        seeds: of the deals, int64 [D].
        num_threads: play different deals side by side.
    """
    gained = _gain_of_one(game, book, base, hints, others, seeds, num_threads)
    if not game.num_teams:
        lost = _gain_of_one(game, book, base, others, hints, seeds, num_threads)
        gained = (gained - lost) / 2.0
    return Effect.of_blocks(gained)


def _gain_of_one(
    game: Game,
    book: HintBook,
    base: str,
    own: Sequence[str],
    others: Sequence[str],
    seeds: npt.NDArray[np.int64],
    num_threads: int,
) -> npt.NDArray[np.float64]:
    """Return what the first place, or its team, gains in each deal, [D]."""
    size = game.num_teams or game.num_players
    places = [own if place % size == 0 else others for place in range(game.num_players)]
    scores = play_hint_tables(game, book, base, places, seeds, num_threads)
    gains: npt.NDArray[np.float64] = (scores[:, :, 0] - scores.mean(axis=2)).mean(axis=1)
    return gains


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
        share_of_games: the share of games that have one.
    """

    observations: npt.NDArray[np.int8]
    masks: npt.NDArray[np.int8]
    advised: npt.NDArray[np.int8]
    games: npt.NDArray[np.int64]
    per_game: float
    share_of_games: float


def is_choice(advised: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Return where advice leaves some legal action, and leaves one out, bool [N]."""
    chosen: npt.NDArray[np.bool_] = advised.any(axis=1) & (advised != (masks != 0)).any(axis=1)
    return chosen


class _Reservoir:
    """A fair sample of all positions that it is shown."""

    def __init__(self, capacity: int, rng: np.random.Generator) -> None:
        self.seen = 0
        self.kept: list[tuple[Any, Any, Any, int]] = []
        self.games: set[int] = set()
        self._capacity = capacity
        self._rng = rng

    def show(self, observation: Any, mask: Any, advised: Any, game: int) -> None:
        self.seen += 1
        self.games.add(game)
        place = len(self.kept)
        if place == self._capacity:
            place = int(self._rng.integers(self.seen))
            if place >= self._capacity:
                return
            del self.kept[place]
        self.kept.insert(place, (observation.copy(), mask.copy(), advised.copy(), game))

    def positions(self, num_games: int) -> Triggered:
        """Return what was kept, out of so many games."""
        observations, masks, advised, games = map(np.array, zip(*self.kept, strict=True))
        shares = self.seen / num_games, len(self.games) / num_games
        return Triggered(observations, masks, advised, games, *shares)


def triggered_positions(
    game: Game, book: HintBook, capacity: int, num_steps: int, seed: int
) -> dict[str, Triggered]:
    """Play among the usual hint agents, and return for each hint where it speaks, by name.

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
    samples = {name: _Reservoir(capacity, rng) for name in book.names}
    game_at = np.arange(_NUM_TABLES)
    num_games = _NUM_TABLES
    for _ in range(num_steps):
        for name, sample in samples.items():
            advised = advice_masks(book, name, batch.observation, batch.action_mask)
            for i in np.flatnonzero(is_choice(advised, batch.action_mask)):
                sample.show(batch.observation[i], batch.action_mask[i], advised[i], int(game_at[i]))
        batch.step(agent.act(batch.observation, batch.action_mask))
        ended = np.flatnonzero(batch.terminated)
        game_at[ended] = num_games + np.arange(len(ended))
        num_games += len(ended)
    return {name: sample.positions(num_games) for name, sample in samples.items() if sample.kept}


def clustered(values: npt.NDArray[np.float64], games: npt.NDArray[np.int64]) -> Effect:
    """Return the mean of values, [K], of which those of one game are not independent."""
    mean = float(values.mean())
    _, of_game = np.unique(games, return_inverse=True)
    sums = np.bincount(of_game, values - mean)
    return Effect(mean, float(np.sqrt((sums**2).sum()) / len(values)), len(sums))


# ----------------------------------------------------------------------------------------------
# Agents before the hints


@dataclass(frozen=True)
class Compliance:
    """How far an agent does what a hint advises.

    Attributes:
        followed: the share of the positions in which it does.
        chance: the share of an agent that chooses any legal action.
        lift: the difference.
    """

    followed: float
    chance: float
    lift: Effect


def compliance(agent: Agent, where: Triggered) -> Compliance:
    """Return how far an agent follows a hint in some positions."""
    actions = agent.act(where.observations, where.masks)
    followed = where.advised[np.arange(len(actions)), actions].astype(float)
    chance = where.advised.sum(axis=1) / (where.masks != 0).sum(axis=1)
    lift = clustered(followed - chance, where.games)
    return Compliance(float(followed.mean()), float(chance.mean()), lift)


def value_gap(agent: Any, where: Triggered) -> Effect | None:
    """Return what a search takes the advice to be worth; None if it valued no position.

    It is the value of the best advised action less that of the best other one, in points.
    """
    values = agent.values(where.observations, where.masks)
    advised = np.where(where.advised != 0, values, np.nan)
    others = np.where(where.advised == 0, values, np.nan)
    is_known = ~np.isnan(advised).all(axis=1) & ~np.isnan(others).all(axis=1)
    if not is_known.any():
        return None
    gaps = np.nanmax(advised[is_known], axis=1) - np.nanmax(others[is_known], axis=1)
    return clustered(gaps, where.games[is_known])


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


def forced_play(
    game: Game, book: HintBook, hint: str, strong: Player, num_deals: int, seed: int
) -> Effect:
    """Return what a strong agent among hint agents gains by following a hint over defying it."""
    players: dict[str, Agent] = {
        name: ForcedAgent(strong.make(game, seed), book, hint, follows)
        for name, follows in (("with", True), ("against", False))
    }
    players["hints"] = agents.make(game, "hints", seed)
    pairs = [("with", "hints"), ("against", "hints")]
    report = evaluate(game, players, pairs, num_deals, progress=False)
    gains = report.rows[0].blocks - report.rows[1].blocks
    return Effect.of_blocks(-gains if report.measure == "loss rate" else gains)


# ----------------------------------------------------------------------------------------------
# The lab


@dataclass
class HintResult:
    """What was measured of one hint at one table; None where it never spoke."""

    hint: str
    title: str
    claim: str
    source: str
    used: bool
    per_game: float = 0.0
    share_of_games: float = 0.0
    ablation: Effect | None = None
    alone: Effect | None = None
    verdict: str = "never spoke"
    compliance: dict[str, Compliance] = field(default_factory=dict)
    value_gap: Effect | None = None
    forced_play: Effect | None = None


@dataclass
class TableResult:
    """What was measured at one table."""

    options: dict[str, Any]
    hints: list[HintResult]


def measure_table(
    game: Game,
    book: HintBook,
    plan: Plan,
    asked: Mapping[str, Player],
    seed: int,
    num_threads: int,
    bar: Any,
) -> list[HintResult]:
    """Measure all hints at one table; ticks the bar once a hint."""
    base = book.base_names[0]
    seeds = deal_seeds("dev", plan.deals)
    strong = next(iter(read_players([plan.strong]).values()))
    where = triggered_positions(game, book, plan.positions, _NUM_STEPS, seed)
    crew = {label: player.make(game, seed) for label, player in asked.items()}
    searcher = strong.make(game, seed)
    results = []
    for hint in book.hints:
        bar.set_description(hint.name)
        result = HintResult(
            hint.name, hint.title, hint.claim, hint.source, hint.name in book.default
        )
        results.append(result)
        if hint.name in where:
            here = where[hint.name]
            with_it = with_hint(book, book.default, hint.name)
            without_it = [name for name in with_it if name != hint.name]
            result.per_game, result.share_of_games = here.per_game, here.share_of_games
            result.ablation = effect_of_set(
                game, book, base, with_it, without_it, seeds, num_threads
            )
            result.alone = effect_of_set(game, book, base, [hint.name], [], seeds, num_threads)
            result.compliance = {name: compliance(agent, here) for name, agent in crew.items()}
            result.value_gap = value_gap(searcher, here)
            result.forced_play = forced_play(game, book, hint.name, strong, plan.forced_deals, seed)
        bar.update()
    judged = [result for result in results if result.ablation is not None]
    effects = [result.ablation for result in judged if result.ablation is not None]
    for result, verdict in zip(judged, verdicts(effects, plan.margin), strict=True):
        result.verdict = verdict
    return results


def settle(
    game_id: str, book: HintBook, conflict: Mapping[str, Any], plan: Plan, num_threads: int
) -> dict[str, Any]:
    """Compare two hints that contradict each other, at several tables.

    Returns:
        The question, the hints, and for each table the gain of the first over the second, and of
        each over neither.
    """
    first, second = conflict["hints"]
    seeds = deal_seeds("dev", plan.deals)
    rows = []
    for options in conflict["tables"]:
        game = load_game(game_id, **options)
        neither = [name for name in book.default if name not in (first, second)]
        sets = {name: with_hint(book, neither, name) for name in (first, second)}

        def effect(own: Sequence[str], others: Sequence[str], game: Game = game) -> Effect:
            return effect_of_set(game, book, book.base_names[0], own, others, seeds, num_threads)

        rows.append(
            {
                "options": options,
                "first_over_second": effect(sets[first], sets[second]),
                "first_over_neither": effect(sets[first], neither),
                "second_over_neither": effect(sets[second], neither),
            }
        )
    judged = verdicts([row["first_over_second"] for row in rows], plan.margin)
    for row, verdict in zip(rows, judged, strict=True):
        row["verdict"] = verdict
    return {"question": conflict["question"], "hints": [first, second], "tables": rows}


# ----------------------------------------------------------------------------------------------
# Results


def result_name(game_id: str) -> str:
    """Return the name of a game's results, without an ending."""
    return f"hint_lab_{full_id(game_id).partition('-v')[0]}"


def table_words(options: Mapping[str, Any]) -> str:
    """Return what table it is, such as "deutsch, 4 players"."""
    words = [str(value) for name, value in options.items() if name not in ("num_players", "scope")]
    return ", ".join([*words, f"{options['num_players']} players"])


def as_data(part: Any) -> Any:
    """Return a result as plain data; effects with the ends of their intervals."""
    if isinstance(part, Effect):
        numbers = {"mean": part.mean, "low": part.low, "high": part.high, "error": part.error}
        return {name: round(number, 6) for name, number in numbers.items()} | {
            "blocks": part.blocks
        }
    if isinstance(part, Mapping):
        return {name: as_data(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [as_data(value) for value in part]
    if hasattr(part, "__dataclass_fields__"):
        return {name: as_data(getattr(part, name)) for name in part.__dataclass_fields__}
    return round(part, 6) if isinstance(part, float) else part


def markdown(results: Mapping[str, Any]) -> str:
    """Return the results, as `as_data` gives them, as tables in Markdown."""
    return "\n".join(
        [
            f"Metric: {results['plan']['metric']}. Positive is good for who follows the hint; "
            f"effects below {results['plan']['margin']:g} count as none. In brackets: 95 % "
            "intervals.",
            *(line for table in results["tables"] for line in _table_lines(table)),
            *(line for conflict in results["conflicts"] for line in _conflict_lines(conflict)),
            *_silent_lines(results["silent"]),
            "",
        ]
    )


_HEADINGS = (
    "Hint",
    "Says",
    "Source",
    "Verdict",
    "Effect",
    "Alone on the base",
    "Speaks, a game",
    "Value gap",
    "Forced play",
)


def _table_lines(table: Mapping[str, Any]) -> list[str]:
    asked = sorted({name for hint in table["hints"] for name in hint["compliance"]})
    headings = [*_HEADINGS, *(f"`{name}` above chance" for name in asked)]
    lines = ["", f"**{table_words(table['options'])}**", "", _line(headings)]
    lines.append(_line(["---"] * len(headings)))
    for hint in table["hints"]:
        complied = [hint["compliance"].get(name) for name in asked]
        lines.append(
            _line(
                [
                    hint["hint"] + ("" if hint["used"] else " (off)"),
                    hint["title"],
                    hint["source"],
                    hint["verdict"],
                    _interval(hint["ablation"]),
                    _interval(hint["alone"]),
                    f"{hint['per_game']:.2f}",
                    _interval(hint["value_gap"]),
                    _interval(hint["forced_play"]),
                    *(_percent(each and each["lift"]) for each in complied),
                ]
            )
        )
    return lines


def _conflict_lines(conflict: Mapping[str, Any]) -> list[str]:
    first, second = conflict["hints"]
    headings = ("Table", "Verdict", f"{first} over {second}", f"{first} over neither")
    lines = ["", f"**{conflict['question']}**", ""]
    lines.append(_line([*headings, f"{second} over neither"]))
    lines.append(_line(["---"] * 5))
    for row in conflict["tables"]:
        names = ("first_over_second", "first_over_neither", "second_over_neither")
        verdict = f"{first} {row['verdict']}"
        cells = [table_words(row["options"]), verdict, *(_interval(row[name]) for name in names)]
        lines.append(_line(cells))
    return lines


def _silent_lines(silent: Sequence[Mapping[str, Any]]) -> list[str]:
    if not silent:
        return []
    lines = ["", "**Hints that are no action**", "", _line(("Hint", "Says", "Source", "Why"))]
    lines.append(_line(["---"] * 4))
    return lines + [
        _line((hint["name"], hint["title"], hint["source"], hint["reason"])) for hint in silent
    ]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _interval(effect: Mapping[str, float] | None) -> str:
    if effect is None:
        return "–"
    return f"{effect['mean']:+.4f} [{effect['low']:+.4f}, {effect['high']:+.4f}]"


def _percent(effect: Mapping[str, float] | None) -> str:
    return "–" if effect is None else f"{100 * effect['mean']:+.0f} %"


# ----------------------------------------------------------------------------------------------
# Command line


def run(
    game_id: str,
    plan: Plan,
    asked: Mapping[str, Player],
    seed: int = 0,
    num_threads: int = 1,
    progress: bool = True,
) -> dict[str, Any]:
    """Measure all hints of a game, and return the results as plain data.

    Args:
        game_id: the game.
        plan: what to measure.
        asked: players who are asked whether they follow the hints, by label.
        seed: of positions and agents; the deals are those of the `dev` list.
        num_threads: play different deals side by side.
        progress: show a progress bar.
    """
    tables = []
    games = [load_game(game_id, **options) for options in plan.tables]
    books = [hint_book(game) for game in games]
    total = sum(len(book.hints) for book in books)
    with tqdm(total=total, unit="hint", disable=not progress) as bar:
        for options, game, book in zip(plan.tables, games, books, strict=True):
            hints = measure_table(game, book, plan, asked, seed, num_threads, bar)
            tables.append(TableResult(options, hints))
    conflicts = [settle(game_id, books[0], each, plan, num_threads) for each in plan.conflicts]
    found = {
        "game": full_id(game_id),
        "plan": asdict(plan),
        "asked": {label: player.text for label, player in asked.items()},
        "seed": seed,
        "silent": [asdict(hint) for hint in books[0].silent],
        "tables": tables,
        "conflicts": conflicts,
    }
    data: dict[str, Any] = as_data(found)
    return data | origin(("numba", "numpy"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.hint_lab", description=__doc__)
    parser.add_argument("game", help="a game's id, such as bred_ryg")
    parser.add_argument("players", nargs="*", help=f"who is asked, too: {PLAYER_TEXTS}")
    parser.add_argument("--agent", action="append", default=[], help=FACTORY_TEXT)
    parser.add_argument("--deals", type=int, help="of an ablation, instead of the plan's")
    parser.add_argument("--forced-deals", type=int, help="of forced play, instead of the plan's")
    parser.add_argument("--positions", type=int, help="for each hint, instead of the plan's")
    parser.add_argument("--strong", help="who plays by force, instead of the plan's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of the results")
    given = parser.parse_args(arguments)
    changed = {
        name: getattr(given, name)
        for name in ("deals", "forced_deals", "positions", "strong")
        if getattr(given, name) is not None
    }
    plan = Plan(**asdict(plan_of(given.game)) | changed)
    usual = [name for name in ASKED if name in agents.list(given.game)]
    asked = read_players([*usual, plan.strong, *given.players], given.agent)
    results = run(given.game, plan, asked, given.seed, given.threads)
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / result_name(given.game)
    file.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    file.with_suffix(".md").write_text(markdown(results))
    draw_effects(results, file.with_suffix(".png"))
    print(markdown(results))


if __name__ == "__main__":
    main()
