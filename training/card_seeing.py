"""Measure what seeing all cards is worth: `python -m training.card_seeing braus`.

A team that sees all hands and plays the best action with open cards meets agents that see their own
cards alone, on duplicate deals. It is a control, not an agent: agents are given observations. What
it wins is a yardstick, no bound: it plays as if the others saw all cards too.

Letters of shapes: D deals, B tables, A actions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent, agent_stream
from agents.search import braus
from cardenvs.command_line import add_game_arguments, game_of
from cardenvs.core.batch import Batch
from cardenvs.core.game import Game
from cardenvs.core.kernel import bit_reader, entry_point
from training.evaluate import FIRST_DEAL, deal_seeds, with_interval
from training.players import PLAYER_TEXTS, read_players

_MAX_TABLES = 4_096


@dataclass(frozen=True)
class OpenSolver:
    """How a game is solved with open cards.

    Attributes:
        solve: see `agents.search.pimc.SolveKernel`.
        new_solver: makes the arrays that it works on.
        order: all actions; of equals the first is played.
        turn_up: `turn_up(state)`, a kernel: the hands of a row have changed.
    """

    solve: Callable[..., bool]
    new_solver: Callable[[], Any]
    order: Sequence[int]
    turn_up: Callable[[Any], None]


SOLVERS = {
    "braus-v0": OpenSolver(braus.solve, braus.new_solver, braus.ORDER, braus.find_live_cards)
}


class CardSeer:
    """Plays the best action with open cards, of equals the first in the order of its solver."""

    def __init__(self, game: Game) -> None:
        """Make the player.

        Args:
            game: the game with its options.

        Raises:
            ValueError: if no solver of the game sees all cards.
        """
        if game.id not in SOLVERS:
            raise ValueError(
                f"{game.id} cannot be solved with open cards; {', '.join(SOLVERS)} can"
            )
        solver = SOLVERS[game.id]
        self._act_all = _act_kernel(game, solver)
        self._order = np.array(solver.order, np.int64)
        self._rows = game.blank_rows()
        self._solver = solver.new_solver()
        self._rng = agent_stream(0)

    def act(
        self, critic_state: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """Choose an action for each table, int64 [B].

        Args:
            critic_state: int8 [B, S], of the seats on turn, as `Batch.critic_state` holds them.
            action_mask: int8 [B, A].

        Raises:
            RuntimeError: if a position was given up.
        """
        actions = np.full(len(action_mask), -1)
        values = np.zeros(action_mask.shape[1])
        work = (self._rng, self._rows, self._solver, values, self._order, actions)
        self._act_all(critic_state, action_mask, *work)
        if (actions < 0).any():
            raise RuntimeError("a position took more nodes than its solver may look at")
        return actions


@cache
def _act_kernel(game: Game, solver: OpenSolver) -> Callable[..., None]:
    """Compile the play of all tables of a call.

    The table is read from the observation; then the hands that it leaves open are set to the true
    ones, which stand behind it.
    """
    size, num_players = game.observation_size, game.num_players
    num_cards = game.rules.DECK.num_cards
    read_hand = bit_reader(num_cards)
    sample_world, solve, turn_up = game.view.sample_world, solver.solve, solver.turn_up

    @entry_point
    def act_all(
        seen: Any, masks: Any, rng: Any, rows: Any, arrays: Any, values: Any, order: Any, out: Any
    ) -> None:
        for i in range(masks.shape[0]):
            sample_world(seen[i], rng, rows[0])
            for seat in range(num_players):
                rows[0].hands[seat] = read_hand(seen[i], size + seat * num_cards)
            turn_up(rows[0])
            if solve(rows[0], masks[i], arrays, values):
                for place in range(order.shape[0]):
                    action = order[place]
                    if masks[i, action] and (out[i] < 0 or values[action] > values[out[i]]):
                        out[i] = action

    return act_all


def play_seeing(
    game: Game, seer: CardSeer, others: Agent, seeds: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return what a team that sees all cards wins in each deal, over both places, float64 [D]."""
    size = max(1, _MAX_TABLES // game.num_teams)
    parts = [seeds[start : start + size] for start in range(0, len(seeds), size)]
    return np.concatenate([_play_part(game, seer, others, part) for part in parts])


def _play_part(
    game: Game, seer: CardSeer, others: Agent, seeds: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    tables = np.repeat(seeds, game.num_teams)
    seeing_team = np.tile(np.arange(game.num_teams), len(seeds))  # [B]
    batch = Batch(game, len(tables), tables, autoreset=False, critic_state=True)
    batch.reset()
    actions = np.zeros(len(tables), np.int64)
    while (batch.current_player >= 0).any():
        is_playing = batch.current_player >= 0
        sees = is_playing & (batch.current_player % game.num_teams == seeing_team)
        asked = np.flatnonzero(sees)
        actions[asked] = seer.act(batch.critic_state[asked], batch.action_mask[asked])
        asked = np.flatnonzero(is_playing & ~sees)
        actions[asked] = others.act(batch.observation[asked], batch.action_mask[asked])
        batch.step(actions)
    won = batch.episode_return[np.arange(len(tables)), seeing_team].astype(np.float64)
    blocks: npt.NDArray[np.float64] = won.reshape(len(seeds), game.num_teams).mean(axis=1)
    return blocks


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.card_seeing", description=__doc__)
    add_game_arguments(parser)
    parser.add_argument("players", nargs="*", default=["random", "lowest"], help=PLAYER_TEXTS)
    parser.add_argument("--deals", type=int, default=1_000)
    parser.add_argument("--split", choices=sorted(FIRST_DEAL), default="dev")
    parser.add_argument("--seed", type=int, default=0, help="of the agents")
    given = parser.parse_args(arguments)
    game = game_of(given)
    seer = CardSeer(game)
    seeds = deal_seeds(given.split, given.deals)
    for label, player in read_players(given.players).items():
        blocks = play_seeing(game, seer, player.make(game, given.seed), seeds)
        result, low, high = with_interval(blocks)
        print(f"seeing all cards against {label}: {result:+.4f} ({low:+.4f} to {high:+.4f})")


if __name__ == "__main__":
    main()
