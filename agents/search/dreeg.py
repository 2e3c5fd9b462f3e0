"""Search in Dreeg: sampled worlds, in which the hint agent plays on or all cards lie open.

In each world every legal action is followed to the end of the deal. Where few tricks are left and
nobody draws any more, the rest is solved with open cards; otherwise the hint agent plays on for all
seats. An action is worth the reward of the deal to the mover, in strokes, whatever the scope of
the episode: what the strokes left make of the chance to lose the phase gained nothing in trials.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.dreeg import book_of
from agents.hints import default_kernel
from agents.search.base import Budget, SearchAgent
from agents.search.dreeg_solver import (
    Solver,
    begin_world,
    has_sides,
    is_open,
    make_solver,
    play_on,
    solve_awards,
)
from agents.search.pimc import make_pimc
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel, popcount, rare_kernel
from cardenvs.core.rows import Mask
from cardenvs.games.dreeg import deal, pass_the_deal, start, write_action_mask
from cardenvs.games.dreeg_row import (
    ELECT,
    KAMERUN,
    MAX_PLAYERS,
    OVER,
    Row,
    cards_left,
)
from cardenvs.games.dreeg_view import write_observation

#: The scope "deal" as rows have it: with it a deal that is over is not followed by another.
DEAL = 2


#: Worlds for a decision, where no limit is given.
WORLDS = 400

#: Who plays on in a world; the hints in use are the same by both rulesets.
play_by_hints = default_kernel(book_of("seed"))


class Work(NamedTuple):
    """What the search works on."""

    solver: Solver  # its row 0 is the table at which is played on
    observation: Any  # int8 [O]
    mask: Any  # int8 [A]
    tricks: Any  # int64 [2]: the most tricks left that are solved, with sides and with ranks


@rare_kernel
def hinted_action(state: Row, work: Work) -> int:
    """What the hint agent plays for the seat on turn."""
    write_observation(state, state.current_player, work.observation)
    write_action_mask(state, work.mask)
    return play_by_hints(work.observation, work.mask, state.rng)


@kernel
def is_few(state: Row, work: Work) -> bool:
    """Whether the rest of a deal is to be solved with open cards."""
    most = work.tricks[0] if has_sides(state) else work.tricks[1]
    return is_open(state) and cards_left(state) <= most


@kernel
def begin_action(state: Row, action: int, work: Work) -> None:
    """Set up the table after an action, up to the next decision or the end of the deal."""
    rows = work.solver.rows
    rows[0] = state
    rows[0].scope = DEAL
    play_on(rows[0], action, work.solver, 0)
    if state.node == ELECT:
        pass_the_deal(rows[0])
        rows[0].deal_number += 1
        deal(rows[0])
        start(rows[0])


@kernel
def deal_reward(state: Row) -> float:
    """The reward of a finished deal to seat 0, in strokes."""
    total = 0.0
    for seat in range(MAX_PLAYERS):
        total += state.awards[seat]
    reward: float = state.awards[0] - total / popcount(state.active)
    return -reward if state.game == KAMERUN else reward


@kernel
def play_out(work: Work) -> None:
    """Let the hint agent play on at the table."""
    state = work.solver.rows[0]
    while state.node != OVER:
        play_on(state, hinted_action(state, work), work.solver, 0)


@rare_kernel
def write_rewards(state: Row, mask: Mask, work: Work, values: Any, is_exact: bool) -> bool:
    """Write what each action is worth; return False at the limit of nodes."""
    for action in range(mask.shape[0]):
        if mask[action]:
            begin_action(state, action, work)
            if not is_exact:
                play_out(work)
            elif work.solver.rows[0].node != OVER and not solve_awards(work.solver):
                return False
            values[action] = deal_reward(work.solver.rows[0])
    return True


@kernel
def solve(state: Row, mask: Mask, work: Work, values: Any) -> bool:
    """Write what each action is worth to seat 0 in this world; see `agents.search.pimc`."""
    begin_world(work.solver)
    is_exact = is_few(state, work)
    if is_exact and write_rewards(state, mask, work, values, True):
        return True
    return write_rewards(state, mask, work, values, False)


def make_search(
    game: Game,
    seed: int | None = None,
    worlds: int | None = None,
    seconds: float | None = None,
    nodes: int = 20_000,
    side_tricks: int = 4,
    rank_tricks: int = 3,
) -> SearchAgent:
    """Return the agent that searches.

    Args:
        game: with its options.
        seed: of its own generator; by default drawn from the system.
        worlds: how many it looks at for a decision; by default `WORLDS`, or no limit where
            `seconds` is given.
        seconds: how long it thinks over a decision, at most.
        nodes: of the solver in a world; where it needs more, the hint agent plays on.
        side_tricks: the most tricks left that are solved where two sides play for strokes.
        rank_tricks: the same where each plays for a rank.

    Raises:
        ValueError: if there is no limit, or one is out of range.
    """
    if nodes < 1:
        raise ValueError(f"a solver looks at one node or more, not {nodes}")
    if min(side_tricks, rank_tricks) < 0:
        raise ValueError(f"no fewer than 0 tricks are solved, not {side_tricks}, {rank_tricks}")
    work = Work(
        solver=make_solver(game, nodes),
        observation=np.zeros(game.observation_size, np.int8),
        mask=np.zeros(game.num_actions, np.int8),
        tricks=np.array([side_tricks, rank_tricks], np.int64),
    )
    return make_pimc(game, solve, work, Budget.of(worlds, seconds, WORLDS), seed)
