"""Holds the engine against an oracle, node by node.

`python -m tests.oracles.compare bred_ryg-v0 --games 200000 --processes 2` plays many games.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from functools import partial
from multiprocessing import Pool
from typing import Any

from tqdm import tqdm

import cardenvs
from cardenvs.command_line import add_game_arguments, options_of
from cardenvs.core.kernel import snapshot
from cardenvs.core.state import State
from cardenvs.registry import full_id
from tests.oracles.cases import CASES, GameCase


def compare_random_episode(
    game_id: str,
    rng: random.Random,
    fixed: dict[str, Any] | None = None,
    share_given: float = 0.4,
) -> Counter[str]:
    """Play one random episode on both sides; return counts of what it met.

    Options that are not fixed are drawn; a share of episodes begins from a given position.
    """
    case = CASES[game_id]
    options = case.random_options(rng) | (fixed or {})
    game = cardenvs.load_game(game_id, **options)
    given = case.random_deal(rng, options) if rng.random() < share_given else None
    state = game.new_initial_state(seed=rng.getrandbits(62), deal=given)
    first = deal_of_match(state, 0, 0) if given is None else given
    oracle = case.oracle(options, first, LaterDeals(state))
    stubbornness = rng.choice([0.0, 0.0, 0.5, 0.9]) if case.ends_soon(options) else 0.0
    nodes = 0
    while not oracle.over:
        check_node(state, oracle)
        action = choose(case, state, rng, stubbornness)
        text = state.action_to_string(action)
        state.apply_action(action)
        oracle.apply(text)
        nodes += 1
    check_node(state, oracle)
    assert state.is_terminal()
    assert state.is_truncated() == oracle.truncated
    return Counter(
        episodes=1,
        games=state.public().get("games_played", 1),
        nodes=nodes,
        truncated=int(oracle.truncated),
        given=int(given is not None),
    )


class LaterDeals:
    """Gives an oracle the later deals of a match, and what else chance decides in it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._number = 0

    def __call__(self, about: int | dict[str, Any]) -> dict[str, Any]:
        """Return the next deal, given its dealer, or what else it depends on."""
        self._number += 1
        facts = {"dealer": about} if isinstance(about, int) else about
        return deal_of_match(self._state, self._number, facts["dealer"], facts)

    def choose_loser(self, losers: list[int]) -> int:
        """Return which of several losers of a phase the state has drawn, having gone on before."""
        state = self._state
        if state.game.options["ruleset"] == "seed":
            return state.current_player
        return (int(state.public()["dealer"]) + 1) % state.game.num_players


def deal_of_match(
    state: State, number: int, dealer: int, facts: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a deal of a match, also one that the state has passed without a decision.

    The dealer of the first is drawn with its cards. Where a deal depends on more, `facts` has the
    number of the phase and the seats that get cards.
    """
    rows = state.game.blank_rows()
    rows["seed"], rows["episode"] = state.stream
    rows["deal_number"], rows["dealer"] = number, dealer
    if facts and "active" in facts:
        rows["first_phase"] = facts["phase"] - 1
        rows["first_strokes"][0, facts["active"]] = 1
    state.game.kernels.deal(rows, 0)
    deal: dict[str, Any] = state.game.view.deal_text(snapshot(rows, 0))
    return deal


def check_node(state: State, oracle: Any) -> None:
    """Require the same seat, legal actions, returns and public facts on both sides."""
    assert state.current_player == oracle.seat
    assert sorted(state.legal_action_strings()) == oracle.legal()
    assert state.returns().tolist() == [float(value) for value in oracle.returns()]
    facts, expected = state.public(), oracle.public()
    for name, value in expected.items():
        assert facts[name] == plain(value), name
    if state.is_terminal() or state.current_player == 0:
        assert state.hands() == oracle.hands()
        assert state.stock() == oracle.stock()


def plain(value: Any) -> Any:
    """Return an oracle's fact in the form of the engine's."""
    if isinstance(value, list):
        return [tuple(item) if isinstance(item, list) else item for item in value]
    return value


def choose(case: GameCase, state: State, rng: random.Random, stubbornness: float) -> int:
    """Choose an action at random, or, being stubborn, one that keeps the game from ending."""
    legal = state.legal_actions()
    if rng.random() < stubbornness:
        words = dict(zip(legal, state.legal_action_strings(), strict=True))
        kept = [action for action, text in words.items() if text in case.stubborn]
        kept = kept or [action for action, text in words.items() if text not in case.avoided]
        legal = kept or legal
    return rng.choice(legal)


def compare_many(
    game_id: str, seed: int, episodes: int, fixed: dict[str, Any], share_given: float
) -> Counter[str]:
    """Compare many random episodes."""
    total: Counter[str] = Counter()
    for number in range(episodes):
        try:
            rng = random.Random(f"{seed}/{number}")
            total += compare_random_episode(game_id, rng, fixed, share_given)
        except AssertionError as error:
            raise AssertionError(f"{game_id}, chunk {seed}, episode {number}: {error}") from error
    return total


def main() -> None:
    """Compare from the command line, in several processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_game_arguments(parser)
    parser.add_argument("--games", type=int, default=10_000, help="episodes to play")
    parser.add_argument("--given", type=float, default=0.4, help="share of given positions")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    game_id, fixed = full_id(arguments.game), options_of(arguments)
    chunk = 250
    chunks = -(-arguments.games // chunk)
    total: Counter[str] = Counter()
    seeds = range(arguments.seed * 1_000_000, arguments.seed * 1_000_000 + chunks)
    with Pool(arguments.processes) as pool:  # leaving it, also by an error, ends the rest
        play = partial(
            compare_many, game_id, episodes=chunk, fixed=fixed, share_given=arguments.given
        )
        for found in tqdm(pool.imap_unordered(play, seeds), total=chunks, unit="chunk"):
            total += found
    told = "".join(f" {name}={value}" for name, value in fixed.items())
    print(f"{game_id}{told}: the engine and the oracle agree over {dict(total)}")


if __name__ == "__main__":
    main()
