"""The searches of the two beating games: a tree over sampled worlds, its rollouts by the hints."""

from __future__ import annotations

from typing import Any

from agents import bred_ryg, brede_mette
from agents.base import ActKernel
from agents.search.base import Budget, SearchAgent
from agents.search.ismcts import Parts, Settings, make_ismcts, never, no_solver
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel
from cardenvs.games.beating import DECK, BeatingRow

#: Simulations for a decision, where no limit is given.
SIMULATIONS = 1_000


@kernel
def stage(state: BeatingRow) -> int:
    """Whether a seat adds or answers may depend on cards that others do not see."""
    return state.phase


def make_bred_ryg(game: Game, seed: int | None = None, **options: Any) -> SearchAgent:
    """Return the search of Bred Ryg; see `make_search`."""
    return make_search(game, seed, bred_ryg.act, **options)


def make_brede_mette(game: Game, seed: int | None = None, **options: Any) -> SearchAgent:
    """Return the search of Brede Mette; see `make_search`."""
    policy = brede_mette.rules_kernel(DECK.card(game.options["queen"]))
    return make_search(game, seed, policy, **options)


def make_search(
    game: Game,
    seed: int | None,
    policy: ActKernel,
    simulations: int | None = None,
    seconds: float | None = None,
    **settings: Any,
) -> SearchAgent:
    """Return the search of a beating game.

    Args:
        game: the game with its options.
        seed: of the agent's own generator; by default drawn from the system.
        policy: plays the rollouts.
        simulations: for a decision, at most; by default `SIMULATIONS`, or no limit where
            `seconds` is given.
        seconds: for a decision, at most.
        **settings: see `Settings`.

    Raises:
        ValueError: if a limit or a setting is out of range.
    """
    if simulations is None and seconds is None:
        simulations = SIMULATIONS
    parts = Parts(policy, stage, never, no_solver)
    return make_ismcts(game, parts, Budget(simulations, seconds), seed, Settings(**settings))
