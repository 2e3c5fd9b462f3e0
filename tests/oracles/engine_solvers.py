"""The exact solvers of the search agents, as `tests.oracles.solve` asks them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from agents.search import braus, dreeg, endgame
from agents.search.dreeg_solver import is_open
from cardenvs.core.game import Game
from cardenvs.core.kernel import as_record, entry_point
from cardenvs.core.rows import rotate
from cardenvs.core.state import State, copy_rows


@cache
def _asked(solve: Any) -> Any:
    """Compile a solver for calls from Python."""

    @entry_point
    def ask(rows: Any, mask: Any, solver: Any, values: Any) -> bool:
        return solve(rows[0], mask, solver, values)

    return ask


def _values(state: State, solve: Any, solver: Any) -> dict[int, float]:
    """Ask a solver for a position as the seat on turn counts the seats, itself as 0."""
    rows = copy_rows(state._rows)
    rotate(as_record(rows, 0), state.game.fields, -state.current_player)
    values = np.zeros(state.game.num_actions)
    is_solved = _asked(solve)(rows, state.action_mask(), solver, values)
    assert is_solved, "the limit of nodes was reached"
    return {action: float(values[action]) for action in state.legal_actions()}


@cache
def _braus_solver() -> Any:
    return braus.new_solver(10_000_000)


@cache
def _endgame_memory(game: Game) -> Any:
    return endgame.endgame_memory(game, 1_000_000)


def braus_values(state: State) -> dict[int, float]:
    """Return what each legal action of a deal of Bräus is worth with open cards."""
    return _values(state, braus.solve, _braus_solver())


def endgame_values(state: State) -> dict[int, float]:
    """Return what each legal action is worth where two are left in a beating game."""
    kernels = endgame.endgame_kernels(state.game)
    return _values(state, kernels.solve, _endgame_memory(state.game))


@cache
def _dreeg_work(game: Game) -> Any:
    """Return a search that solves however many tricks are left."""
    agent = dreeg.make_search(game, 0, 1, nodes=10_000_000, side_tricks=12, rank_tricks=12)
    return agent._memory.solver


@entry_point
def _is_open(rows: Any) -> bool:
    return is_open(rows[0])


def dreeg_values(state: State) -> dict[int, float] | None:
    """Return what each legal action is worth in Dreeg; None before play, where words are said."""
    if not _is_open(state._rows):
        return None
    return _values(state, dreeg.solve, _dreeg_work(state.game))


#: The solver of each game.
SOLVERS = {
    "braus-v0": braus_values,
    "bred_ryg-v0": endgame_values,
    "brede_mette-v0": endgame_values,
    "dreeg-v0": dreeg_values,
}
