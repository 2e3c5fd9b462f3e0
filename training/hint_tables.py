"""Whole games among hint agents in compiled code, so that a million games take seconds.

The deals, rotations and scores are those of `training.evaluate.play_duplicates`; the agents are
told apart by their plans, the lists of hints that they use.

Letters of shapes: D deals, R rotations, P places, H hints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.base import agent_stream
from agents.hints import NO_HINT, HintBook, hint_kernels
from cardenvs.core.episode import Kernels
from cardenvs.core.game import Game
from cardenvs.core.kernel import entry_point
from training.evaluate import num_rotations

#: So many deals are the work of a thread between two looks at what is left.
_PART = 2_000


class HintScores(NamedTuple):
    """What came of some deals in all rotations.

    Attributes:
        scores: float64 [D, R, P], by place.
        capped: bool [D, R].
    """

    scores: npt.NDArray[np.float64]
    capped: npt.NDArray[np.bool_]


def play_hint_tables(
    game: Game,
    book: HintBook,
    base: str,
    places: Sequence[Sequence[str]],
    seeds: npt.NDArray[np.int64],
    num_threads: int = 1,
) -> HintScores:
    """Play every deal in all rotations: in rotation r, place k of the lineup sits at seat k + r.

    Args:
        game: the game with its options.
        book: its hints.
        base: the base policy of all agents.
        places: for each place the names of the hints that its agent uses, in their order.
        seeds: of the deals, int64 [D].
        num_threads: play different deals side by side.

    Raises:
        ValueError: if there is no such hint or base policy.
    """
    plans = _padded([book.plan(names) for names in places])
    shape = len(seeds), num_rotations(game)
    units = np.zeros((*shape, game.num_players), np.int64)
    capped = np.zeros(shape, np.bool_)
    run = _runner(game.kernels, book, base)

    def play(start: int) -> None:
        part = slice(start, start + _PART)
        run(
            game.blank_rows(2),
            seeds[part],
            plans,
            agent_stream(int(seeds[start])),
            np.zeros(game.num_actions, np.int8),
            np.zeros(game.observation_size, np.int8),
            np.zeros((2, game.num_players), np.int64),
            units[part],
            capped[part],
        )

    with ThreadPoolExecutor(num_threads) as pool:
        list(pool.map(play, range(0, len(seeds), _PART)))
    return HintScores(units / game.returns_scale, capped)


def _padded(plans: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return plans of any length as one array, int64 [P, H]."""
    padded = np.full((len(plans), max(map(len, plans))), NO_HINT, np.int64)
    for place, plan in enumerate(plans):
        padded[place, : len(plan)] = plan
    return padded


@cache
def _runner(kernels: Kernels, book: HintBook, base: str) -> Callable[..., Any]:
    """Compile the play of whole games among agents of a book."""
    begin, play, observe, write_returns = (
        kernels.begin,
        kernels.play,
        kernels.observe,
        kernels.returns,
    )
    act = hint_kernels(book, base).act

    @entry_point
    def run(
        rows: Any,  # two: the table, and one that holds the options alone
        seeds: Any,
        plans: Any,
        rng: Any,
        mask: Any,
        observation: Any,
        units: Any,
        results: Any,
        capped: Any,
    ) -> None:
        num_players = units.shape[1]
        for deal in range(seeds.shape[0]):
            for rotation in range(results.shape[1]):
                rows[0] = rows[1]
                rows[0].seed = seeds[deal]
                begin(rows, 0, False, mask)
                seat = rows[0].current_player
                while seat >= 0:
                    place = (seat - rotation) % num_players
                    observe(rows, 0, seat, observation)
                    action = act(observation, mask, rng, plans[place])
                    play(rows, 0, action, mask, units)
                    seat = rows[0].current_player
                capped[deal, rotation] = rows[0].truncated != 0
                write_returns(rows, 0, units[0])
                for place in range(num_players):
                    results[deal, rotation, place] = units[0, (place + rotation) % num_players]

    return run
