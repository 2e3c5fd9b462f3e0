"""Naive exact solvers with all cards open, to hold the searches of agents against.

All positions that can still come are listed first, each with its moves. Then they are valued:

* Bräus, Bred Ryg, Dreeg (every line ends): from the ends backwards. Whoever is on turn takes what
  pays him most. With two sides that is the minimax. With more (Deutsch and Kamerun with three or
  four players) it is max^n: each seat cares for its own return alone, and where it may choose
  among actions that pay it the same, the others' returns hang on that choice. No rule for such ties
  is assumed: the values of an action are all that the mover can get under some choice at each tie.
* Brede Mette (positions can come again): wins and losses are marked backwards until no mark can be
  added; where neither player can force the end, the value is the mean of winning and losing.

Two players must be left in the beating games, the special queen among their cards, and no stock.

Values are in points of the player on turn: strokes of the deal in Bräus, the return of the deal in
Dreeg, 0 or -1 in the beating games (with `reward='zero_sum'` 1/(n-1) or -1).

`python -m tests.oracles.solve dreeg --solver agents.module:function --positions 1000` holds a
function that maps a `State` to a value for each legal action id against these values.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import random
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import cardenvs
from cardenvs.command_line import add_game_arguments, options_of
from cardenvs.core.state import State
from cardenvs.registry import full_id
from tests.oracles.open_games import OPEN_GAMES
from tests.oracles.small_positions import SmallPosition, random_position

TOLERANCE = 1e-6
MOST_POSITIONS = 300_000

Returns = tuple[Fraction, ...]  # of every seat
EngineValues = Callable[[State], dict[int, float] | None]


@dataclass
class Graph:
    """All positions that can come from one. They are numbered as found, that one is 0.

    Attributes:
        seats: who is on turn; positions that are over are not in it.
        moves: the position that each action leads to, for the same positions.
        returns: what each seat gets, for the positions that are over.
    """

    seats: dict[int, int] = field(default_factory=dict)
    moves: dict[int, dict[str, int]] = field(default_factory=dict)
    returns: dict[int, Returns] = field(default_factory=dict)


def positions_from(game: Any) -> Graph:
    """Return the graph of all positions that can come from an open game, which is used up.

    Raises:
        ValueError: if they are too many for a naive solver.
    """
    graph = Graph()
    numbers: dict[Hashable, int] = {game.position(): 0}
    waiting = [(0, game)]
    while waiting:
        number, here = waiting.pop()
        if here.over:
            graph.returns[number] = tuple(here.returns())
            continue
        graph.seats[number] = here.seat
        moves = graph.moves[number] = {}
        for text, after in branches(here):
            key, count = after.position(), len(numbers)
            moves[text] = numbers.setdefault(key, count)
            if moves[text] == count:
                waiting.append((count, after))
        if len(numbers) > MOST_POSITIONS:
            raise ValueError(f"more than {MOST_POSITIONS} positions can come from this one")
    return graph


def branches(game: Any) -> Iterator[tuple[str, Any]]:
    """Give each legal action and the game after it; the game itself is used up by the last."""
    *others, last = game.legal()
    for text in others:
        yield text, game.branch(text)
    game.apply(last)
    yield last, game


# ---- Games whose lines all end ---------------------------------------------------------------


def possible_returns(graph: Graph) -> dict[int, set[Returns]]:
    """Return for each position the returns that best play, with some choice at ties, can give."""
    known: dict[int, set[Returns]] = {number: {end} for number, end in graph.returns.items()}
    waiting = [0]
    while waiting:
        number = waiting[-1]
        moves = graph.moves.get(number, {})
        unknown = [after for after in moves.values() if after not in known]
        if unknown:
            waiting += unknown
            assert len(waiting) < 10 * MOST_POSITIONS, "a line that does not end"
            continue
        waiting.pop()
        if number not in known:
            outcomes = [known[after] for after in moves.values()]
            known[number] = best_for(graph.seats[number], outcomes)
    return known


def best_for(seat: int, outcomes: list[set[Returns]]) -> set[Returns]:
    """Return what a seat may choose, given what each of its actions may lead to.

    An outcome may be chosen if it pays the seat as much as the least that each action may pay.
    """
    assured = max(min(returns[seat] for returns in outcome) for outcome in outcomes)
    return {returns for returns in set().union(*outcomes) if returns[seat] >= assured}


# ---- Games that can go round -----------------------------------------------------------------


def forced_losers(graph: Graph) -> dict[int, int]:
    """Return for each position who loses it by force; where nobody does, it is not in the dict.

    Two players are on turn in all positions; who is not the loser of a game wins it.
    """
    losers = {number: returns.index(min(returns)) for number, returns in graph.returns.items()}
    open_positions = sorted(graph.moves, reverse=True)
    count = -1
    while count != len(losers):
        count = len(losers)
        for number in open_positions:
            mover = graph.seats[number]
            after = {losers.get(position) for position in graph.moves[number].values()}
            others = after - {None, mover}
            if others:  # an action after which the other loses
                losers[number] = others.pop()
            elif after == {mover}:
                losers[number] = mover
        open_positions = [number for number in open_positions if number not in losers]
    return losers


def loser_values(graph: Graph, win: float) -> dict[str, set[float]]:
    """Return the value of each action of a beating game for the player on turn."""
    losers = forced_losers(graph)
    worth = {True: -1.0, False: win, None: (win - 1) / 2}
    mover = graph.seats[0]
    return {
        text: {worth[losers[after] == mover if after in losers else None]}
        for text, after in graph.moves[0].items()
    }


# ---- The face --------------------------------------------------------------------------------


def possible_values(game: Any) -> dict[str, set[float]]:
    """Return for each legal action of an open game what it may be worth to the player on turn.

    It is one value, except in Deutsch and Kamerun with three or four players (see above).

    Raises:
        ValueError: if the position is too large, or not one that can be solved.
    """
    why = game.why_unsolvable()
    if why is not None:
        raise ValueError(f"this position cannot be solved: {why}")
    graph = positions_from(game.branch())
    if game.CAN_GO_ROUND:
        return loser_values(graph, game.win())
    known = possible_returns(graph)
    seat = graph.seats[0]
    return {
        text: {float(returns[seat]) for returns in known[after]}
        for text, after in graph.moves[0].items()
    }


def solve(game: Any) -> dict[str, float]:
    """Return the exact value of each legal action of an open game for the player on turn.

    Raises:
        ValueError: as `possible_values`, or if a value hangs on how others choose at ties.
    """
    values = possible_values(game)
    for text, possible in values.items():
        if len(possible) > 1:
            raise ValueError(f"{text!r} may be worth any of {sorted(possible)}, as ties are broken")
    return {text: value for text, (value,) in values.items()}


# ---- Holding a solver against it -------------------------------------------------------------


@dataclass
class Agreement:
    """How far a solver agrees with the naive one.

    Attributes:
        positions: how many positions were compared.
        actions: how many actions they had.
        unsettled: how many of the actions had several possible values.
        mismatches: in how many positions the solver gave other values or other actions.
        left_out: those that the solver is not made for, which are not among these.
        first_mismatch: the first of them in words, or None.
        naive_seconds: what the naive solver took, together.
        solver_seconds: what the solver took, together, its compilation included.
    """

    positions: int = 0
    left_out: int = 0
    actions: int = 0
    unsettled: int = 0
    mismatches: int = 0
    first_mismatch: str | None = None
    naive_seconds: float = 0.0
    solver_seconds: float = 0.0

    def __str__(self) -> str:
        told = (
            f"{self.positions} positions ({self.left_out} left out), {self.actions} actions "
            f"({self.unsettled} with several possible values), {self.mismatches} mismatches; "
            f"naive {self.naive_seconds:.1f} s, solver {self.solver_seconds:.1f} s"
        )
        return told if self.first_mismatch is None else f"{told}\n{self.first_mismatch}"


def engine_state(position: SmallPosition) -> State:
    """Return the table of the engine that stands at a position."""
    game = cardenvs.load_game(position.game_id, **position.options)
    state = game.new_initial_state(seed=0, deal=position.deal)
    for text in position.actions:
        state.apply_action(state.string_to_action(text))
    return state


def open_game(position: SmallPosition) -> Any:
    """Return the oracle that stands at a position."""
    game = OPEN_GAMES[position.game_id](position.options, position.deal)
    for text in position.actions:
        game.apply(text)
    return game


def positions(
    game_id: str, count: int, seed: int, fixed: dict[str, Any] | None = None
) -> Iterator[SmallPosition]:
    """Give random small positions; position k is the same whatever the count."""
    for number in range(count):
        yield random_position(game_id, random.Random(f"{seed}/{number}"), fixed or {})


def agreement(
    engine_values: EngineValues,
    game_id: str,
    count: int,
    seed: int = 0,
    fixed: dict[str, Any] | None = None,
) -> Agreement:
    """Hold a solver that works on the engine against the naive one.

    Args:
        engine_values: maps a state to the value of each of its legal action ids, or to None where
            it is not made for such a position.
        game_id: such as "braus-v0".
        count: how many random positions.
        seed: of the positions.
        fixed: rule options that are not drawn.
    """
    found = Agreement()
    for position in positions(game_id, count, seed, fixed):
        state = engine_state(position)
        words = dict(zip(state.legal_actions(), state.legal_action_strings(), strict=True))
        start = time.process_time()
        given = engine_values(state)
        found.solver_seconds += time.process_time() - start
        if given is None:
            found.left_out += 1
            continue
        start = time.process_time()
        expected = possible_values(open_game(position))
        found.naive_seconds += time.process_time() - start
        told = {words.get(action, f"id {action}"): value for action, value in given.items()}
        found.positions += 1
        found.actions += len(expected)
        found.unsettled += sum(len(possible) > 1 for possible in expected.values())
        if not agrees(expected, told):
            found.mismatches += 1
            found.first_mismatch = found.first_mismatch or describe(position, expected, told)
    return found


def agrees(expected: dict[str, set[float]], given: dict[str, float]) -> bool:
    """Return whether the same actions are valued, each with a value that is possible."""
    return expected.keys() == given.keys() and all(
        any(abs(given[text] - value) <= TOLERANCE for value in possible)
        for text, possible in expected.items()
    )


def describe(
    position: SmallPosition, expected: dict[str, set[float]], given: dict[str, float]
) -> str:
    """Return a position in words, with what both solvers say of it."""
    lines = [f"{position}", engine_state(position).render(), "action: possible values | given"]
    for text in sorted(expected.keys() | given.keys()):
        possible = sorted(expected.get(text, set()))
        lines.append(f"  {text}: {possible} | {given.get(text)}")
    return "\n".join(lines)


def load_solver(name: str) -> EngineValues:
    """Return the function that `package.module:function` names.

    Raises:
        ValueError: if the name is not of that form.
    """
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise ValueError(f"a solver is named package.module:function, not {name!r}")
    solver: EngineValues = getattr(importlib.import_module(module), function)
    return solver


def main() -> None:
    """Compare from the command line; without a solver, only tell what the positions are worth."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_game_arguments(parser)
    parser.add_argument("--solver", help="package.module:function; without it, values are counted")
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    game_id, fixed = full_id(arguments.game), options_of(arguments)
    if arguments.solver is None:
        print(count_values(game_id, arguments.positions, arguments.seed, fixed))
        return
    found = agreement(
        load_solver(arguments.solver), game_id, arguments.positions, arguments.seed, fixed
    )
    print(found)
    if found.mismatches:
        raise SystemExit(1)


def count_values(game_id: str, count: int, seed: int, fixed: dict[str, Any]) -> str:
    """Return in words how random positions are valued and how long that takes."""
    seconds, sizes, deciding = [], [], 0
    for position in positions(game_id, count, seed, fixed):
        start = time.process_time()
        values = possible_values(open_game(position))
        seconds.append(time.process_time() - start)
        sizes.append(len(values))
        deciding += len(set(itertools.chain(*values.values()))) > 1
    return (
        f"{count} positions with {sum(sizes)} actions; the choice matters in {deciding}; "
        f"{sum(seconds):.1f} s together, the slowest {max(seconds):.2f} s"
    )


if __name__ == "__main__":
    main()
