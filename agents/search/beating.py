"""The searches of the two beating games: a tree over sampled worlds, its rollouts by the hints."""

from __future__ import annotations

from functools import cache
from typing import Any

from agents.hints import default_kernel, hint_book
from agents.search.base import Budget, SearchAgent
from agents.search.endgame import endgame_kernels, endgame_memory
from agents.search.ismcts import Parts, Settings, make_ismcts, never, no_solver
from agents.search.pimc import SolveKernel
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel
from cardenvs.core.rows import Mask
from cardenvs.games.beating import BeatingRow

#: Simulations for a decision, where no limit is given.
SIMULATIONS = 1_000
#: Moves that may be tried to solve an endgame exactly.
ENDGAME_NODES = 100_000


@kernel
def stage(state: BeatingRow) -> int:
    """Whether a seat adds or answers may depend on cards that others do not see."""
    return state.phase


@cache
def solver_in_points(solve: SolveKernel) -> SolveKernel:
    """Make the solver of endgames say points where it says the mover's share of the loss."""

    @kernel
    def solve_in_points(state: BeatingRow, mask: Mask, solver: Any, values: Any) -> bool:
        is_solved = solve(state, mask, solver, values)
        if state.reward != 0:
            for action in range(mask.shape[0]):
                num_players = state.num_players
                values[action] = (num_players * values[action] + 1) / (num_players - 1)
        return is_solved

    return solve_in_points


def make_search(
    game: Game,
    seed: int | None = None,
    simulations: int | None = None,
    seconds: float | None = None,
    endgame_nodes: int = ENDGAME_NODES,
    exploration: float = Settings.exploration,
    random_share: float = Settings.random_share,
    max_nodes: int = Settings.max_nodes,
    max_rollout: int = Settings.max_rollout,
) -> SearchAgent:
    """Return the search of a beating game.

    Args:
        game: the game with its options.
        seed: of the agent's own generator; by default drawn from the system.
        simulations: for a decision, at most; by default `SIMULATIONS`, or no limit where
            `seconds` is given.
        seconds: for a decision, at most.
        endgame_nodes: moves that may be tried to solve a position without a stock of the last
            two players, which is then not searched but known; 0 for none.
        exploration: see `Settings`, as for the rest.
        random_share: likewise.
        max_nodes: likewise.
        max_rollout: likewise.

    Raises:
        ValueError: if a limit or a setting is out of range.
    """
    budget = Budget.of(simulations, seconds, SIMULATIONS)
    settings = Settings(exploration, random_share, max_nodes, max_rollout)
    policy = default_kernel(hint_book(game))
    if endgame_nodes == 0:
        return make_ismcts(game, Parts(policy, stage, never, no_solver), budget, seed, settings)
    is_endgame, solve = endgame_kernels(game)
    parts = Parts(policy, stage, is_endgame, solver_in_points(solve))
    solver = endgame_memory(game, endgame_nodes)
    return make_ismcts(game, parts, budget, seed, settings, solver)
