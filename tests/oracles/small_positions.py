"""Small random positions, as data for the engine and the oracles, for the naive solvers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.oracles.braus import DUDS, KING_OF_CLUBS, SEVENS, STRENGTH
from tests.oracles.bred_ryg import QUEEN
from tests.oracles.cases import CASES, DREEG_DECK
from tests.oracles.open_games import OPEN_GAMES

Deal = dict[str, Any]
Options = dict[str, Any]

LONGEST_WALK = 8


@dataclass(frozen=True)
class SmallPosition:
    """A position: a deal as data, and the actions that lead from it.

    Attributes:
        game_id: such as "braus-v0".
        options: the rule options.
        deal: the start, for `new_initial_state(deal=...)`.
        actions: the words of the actions since.
    """

    game_id: str
    options: Options
    deal: Deal
    actions: tuple[str, ...]


def random_position(game_id: str, rng: random.Random, fixed: Options) -> SmallPosition:
    """Draw a position that is not over and can be solved; options that are fixed are kept."""
    if fixed.get("num_players") == 2 and fixed.get("subgame") == "kamerun":
        raise ValueError("kamerun is for 3 or 4 players, not 2")
    while True:
        options = CASES[game_id].random_options(rng) | FIXED_OPTIONS[game_id] | fixed
        if options["num_players"] == 2 and options.get("subgame") == "kamerun":
            continue  # a sub-game may be fixed that is not for the number drawn
        deal = SMALL_DEALS[game_id](rng, options)
        actions = _walk(game_id, rng, options, deal)
        if actions is not None:
            return SmallPosition(game_id, options, deal, actions)


def _walk(game_id: str, rng: random.Random, options: Options, deal: Deal) -> tuple[str, ...] | None:
    """Play some random actions; return those that lead to a node that can be solved, or None."""
    game = OPEN_GAMES[game_id](options, deal)
    actions: list[str] = []
    solvable: list[tuple[str, ...]] = []
    for _ in range(1 + rng.randint(0, LONGEST_WALK)):
        if game.over:
            break
        if game.why_unsolvable() is None:
            solvable.append(tuple(actions))
        actions.append(rng.choice(game.legal()))
        game.apply(actions[-1])
    return solvable[-1] if solvable else None


FIXED_OPTIONS: dict[str, Options] = {
    "braus-v0": {"scope": "deal"},
    "bred_ryg-v0": {"num_games": 1, "no_progress_limit": 120, "reward": "loser"},
    "brede_mette-v0": {"num_games": 1, "no_progress_limit": 120, "reward": "loser"},
    "dreeg-v0": {"scope": "deal"},
}

# ---- Deals -----------------------------------------------------------------------------------


def _braus_deal(rng: random.Random, options: Options) -> Deal:
    """Up to four live cards a hand (three at a table of six), some sevens and duds, tricks won."""
    players: int = options["num_players"]
    live = rng.sample(sorted(STRENGTH), 18)
    sevens = rng.sample(sorted(SEVENS), 4)
    duds = rng.sample(sorted(DUDS - {KING_OF_CLUBS}), 13)
    most = rng.choice([2, 3, 4, 4] if players == 4 else [2, 3])
    hands = [[live.pop() for _ in range(rng.randint(most - 2, most))] for _ in range(players)]
    for card in [*sevens[: rng.randint(0, 4)], *([KING_OF_CLUBS] if rng.random() < 0.8 else [])]:
        rng.choice(hands).append(card)
    rng.choice(hands).append(duds.pop())
    most_cards = 36 // players
    deal: Deal = {
        "dealer": rng.randrange(players),
        "hands": [" ".join(hand[:most_cards]) for hand in hands],
        "tricks": [rng.choice([0, 2, 3, 4, 5]), rng.choice([0, 2, 3, 4, 5])],
    }
    if rng.random() < 0.5:
        deal["leader"] = rng.randrange(players)
    return deal


def _beating_deal(rng: random.Random, options: Options, queen: str, most: int) -> Deal:
    """Two players with up to four cards, one of them with the queen; no stock.

    Cards of few ranks make many additions and passes, but `most` of them too many positions.
    """
    players: int = options["num_players"]
    sizes = rng.choice([(1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3), (3, 3), (4, 2), (4, 4)])
    ranks = rng.sample("23456789TJQKA", rng.choice([2, 3, 4, 13]) if sum(sizes) < most else 13)
    if "Q" not in ranks and rng.random() < 0.5:
        ranks[0] = "Q"  # in Brede Mette queens make play that can go round
    cards = [rank + suit for rank in ranks for suit in "CDHS" if rank + suit != queen]
    rng.shuffle(cards)
    two = rng.sample(range(players), 2)
    held = [[cards.pop() for _ in range(size)] for size in sizes]
    held[rng.randrange(2)][0] = queen
    hands = [""] * players
    for seat, hand in zip(two, held, strict=True):
        hands[seat] = " ".join(hand)
    deal: Deal = {"dealer": rng.randrange(players), "hands": hands, "trump": rng.choice("CDHS")}
    if rng.random() < 0.5:
        deal["leader"] = rng.choice(two)
    return deal


def _bred_ryg_deal(rng: random.Random, options: Options) -> Deal:
    return _beating_deal(rng, options, QUEEN, most=8)


def _brede_mette_deal(rng: random.Random, options: Options) -> Deal:
    return _beating_deal(rng, options, options["queen"], most=6)


def _dreeg_deal(rng: random.Random, options: Options) -> Deal:
    """Up to three cards a hand (four for two players), of few suits or of all.

    For two players the talon is empty, or it may be closed in the walk.
    """
    players, game = options["num_players"], options["subgame"]
    fewest = players if game == "kamerun" else 2
    active = sorted(rng.sample(range(players), rng.randint(fewest, players)))
    size = rng.randint(1, 4 if len(active) == 2 else 3)
    cards = [DREEG_DECK.text(card) for card in range(24)]
    suits = rng.sample("EBHG", rng.choice([2, 3, 4]))
    likely = [card for card in cards if card[1] in suits]
    if len(likely) > len(active) * size:
        cards = likely
    rng.shuffle(cards)
    hands = [[cards.pop() for _ in range(size)] if s in active else [] for s in range(players)]
    deal: Deal = {"subgame": game, "dealer": rng.randrange(players)}
    is_ace_missing = not any("AH" in hand for hand in hands)
    if game == "ace_of_hearts" and len(active) > 2 and is_ace_missing:
        hands[rng.choice(active)][rng.randrange(size)] = "AH"
    if len(active) == 2:
        count = 2 * rng.choice([0, 2, 3]) if len(cards) >= 6 else 0
        deal["talon"] = " ".join(cards.pop() for _ in range(count))
        if not count and game == "deutsch":
            deal["trump"] = rng.choice("EBHG")
    if rng.random() < 0.5:
        deal["leader"] = rng.choice(active)
    return deal | {"hands": [" ".join(hand) for hand in hands]}


SMALL_DEALS: dict[str, Callable[[random.Random, Options], Deal]] = {
    "braus-v0": _braus_deal,
    "bred_ryg-v0": _bred_ryg_deal,
    "brede_mette-v0": _brede_mette_deal,
    "dreeg-v0": _dreeg_deal,
}
