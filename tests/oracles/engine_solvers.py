"""The exact solvers of the search agents, as `tests.oracles.solve` asks them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from agents.search import braus, endgame
from cardenvs.core.game import Game
from cardenvs.core.kernel import entry_point
from cardenvs.core.state import State, copy_rows


@cache
def _asked(solve: Any) -> Any:
    """Compile a solver for calls from Python."""

    @entry_point
    def ask(rows: Any, mask: Any, solver: Any, values: Any) -> bool:
        return solve(rows[0], mask, solver, values)

    return ask


def _values(state: State, solve: Any, solver: Any) -> dict[int, float]:
    values = np.zeros(state.game.num_actions)
    is_solved = _asked(solve)(copy_rows(state._rows), state.action_mask(), solver, values)
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
