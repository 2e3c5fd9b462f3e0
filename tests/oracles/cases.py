"""What the tests know of each game: its oracle, its options at random, its positions at random.

A new game adds one `GameCase` here, and every test that walks over `CASES` plays it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cardenvs.core.cards import FRENCH_DECK, Deck
from tests.oracles.braus import BrausOracle
from tests.oracles.bred_ryg import BredRygOracle
from tests.oracles.brede_mette import BredeMetteOracle
from tests.oracles.dreeg import SUBGAMES, DreegOracle


@dataclass(frozen=True)
class GameCase:
    """How a game is tested.

    Attributes:
        oracle: makes the naive implementation from (options, deal, next_deal).
        random_options: draws a value for some of the options.
        random_deal: draws a position to start from, given the options.
        stubborn: words of actions that a player who wants the game not to end prefers.
        avoided: words of actions that he avoids.
        ends_soon: whether a game of stubborn players is short all the same, given the options.
        is_possible: where the rules page keeps less than all that events tell: whether the hands of
            all seats are possible for a seat, given (options, public facts, seat, hands).
        table_of_two: options that a table of two players needs.
        short_episode: options for an episode of tens of decisions, where the default is longer.
        short_match: options for an episode of several deals.
    """

    oracle: Callable[..., Any]
    random_options: Callable[[random.Random], dict[str, Any]]
    random_deal: Callable[[random.Random, dict[str, Any]], dict[str, Any]]
    stubborn: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()
    ends_soon: Callable[[dict[str, Any]], bool] = lambda options: False
    is_possible: Callable[..., bool] | None = None
    table_of_two: dict[str, Any] = field(default_factory=dict)
    short_episode: dict[str, Any] = field(default_factory=dict)
    short_match: dict[str, Any] = field(default_factory=lambda: {"num_games": 3})


def bred_ryg_options(rng: random.Random) -> dict[str, Any]:
    """Draw options, all values of each."""
    return {
        "num_players": rng.randint(2, 6),
        "exposed_card": rng.choice(["bottom", "in_place"]),
        "extra_card": rng.random() < 0.8,
        "reward": rng.choice(["loser", "zero_sum"]),
        "num_games": rng.choice([1, 1, 1, 2, 3]),
        "no_progress_limit": rng.choice([1, 2, 5, 12, 20, 100, 100]),
        "on_cap": rng.choice(["queen_holder", "share", "draw"]),
        "skip_forced": rng.random() < 0.7,
    }


def bred_ryg_deal(rng: random.Random, options: dict[str, Any]) -> dict[str, Any]:
    """Draw a position: hands of any sizes, some cards left out, sometimes no stock."""
    cards = [FRENCH_DECK.text(card) for card in range(52)]
    rng.shuffle(cards)
    players = options["num_players"]
    sizes = [rng.choice([0, 1, 2, 3, 4, 4, 5, 8]) for _ in range(players)]
    for seat in rng.sample(range(players), 2):
        sizes[seat] = max(1, sizes[seat])
    hands = [" ".join(cards.pop() for _ in range(size)) for size in sizes]
    count = min(rng.choice([0, 0, 1, 3, 10, 52]), len(cards))
    stock = [cards.pop() for _ in range(count)]
    deal = {"dealer": rng.randrange(players), "hands": hands, "stock": " ".join(stock)}
    if rng.random() < 0.5:
        deal["leader"] = rng.choice([seat for seat in range(players) if sizes[seat]])
    if not stock:
        deal.update(_exposed_elsewhere(rng, hands, cards))
    elif options["exposed_card"] == "in_place" and rng.random() < 0.7:
        deal["exposed"] = rng.choice(stock)
    return deal


def _exposed_elsewhere(rng: random.Random, hands: list[str], left_out: list[str]) -> dict[str, str]:
    held = " ".join(hands).split()
    choice = rng.randrange(3)
    if choice == 0 or (choice == 1 and not left_out):
        return {"trump": rng.choice("CDHS")}
    return {"exposed": rng.choice(left_out if choice == 1 else held)}


DREEG_DECK = Deck(ranks="9UOKTA", suits="EBHG")
BRAUS_DECK = Deck(ranks="6789TJQKA", suits="CDHS")


def braus_options(rng: random.Random) -> dict[str, Any]:
    """Draw options, all values of each."""
    return {
        "num_players": rng.choice([4, 6]),
        "scope": rng.choice(["deal", "deal", "match"]),
        "sevens": rng.choice(["forced", "optional"]),
        "king_of_clubs": rng.choice(["exhaustion", "immediate"]),
        "skip_forced": rng.random() < 0.7,
    }


def braus_deal(rng: random.Random, options: dict[str, Any]) -> dict[str, Any]:
    """Draw a position: hands of any sizes, some cards left out, tricks won already."""
    cards = [BRAUS_DECK.text(card) for card in range(36)]
    rng.shuffle(cards)
    players = options["num_players"]
    largest = 36 // players
    hands = [" ".join(cards.pop() for _ in range(rng.randint(0, largest))) for _ in range(players)]
    deal: dict[str, Any] = {"dealer": rng.randrange(players), "hands": hands}
    if rng.random() < 0.5:
        deal["leader"] = rng.randrange(players)
    if rng.random() < 0.7:
        deal["tricks"] = [rng.randint(0, 5), rng.randint(0, 5)]
    if options["scope"] == "match" and rng.random() < 0.7:
        deal["strokes"] = [rng.randint(0, 5), rng.randint(0, 5)]
    return deal


def brede_mette_options(rng: random.Random) -> dict[str, Any]:
    """Draw options, all values of each."""
    return {
        "num_players": rng.randint(2, 6),
        "queen": rng.choice(["QD", "QH"]),
        "pickup": rng.choice(["only_if_unable", "only_if_unable", "free"]),
        "pickup_scope": rng.choice(["all_table", "unbeaten"]),
        "pass_direction": rng.choice(["back", "forward"]),
        "exchange": rng.random() < 0.7,
        "reward": rng.choice(["loser", "zero_sum"]),
        "num_games": rng.choice([1, 1, 1, 2, 3]),
        "no_progress_limit": rng.choice([1, 2, 3, 5, 12, 100, 100]),
        "on_cap": rng.choice(["queen_holder", "share", "draw"]),
        "skip_forced": rng.random() < 0.7,
    }


def brede_mette_deal(rng: random.Random, options: dict[str, Any]) -> dict[str, Any]:
    """Draw a position: hands of any sizes, some cards left out, sometimes no stock."""
    cards = [FRENCH_DECK.text(card) for card in range(52)]
    rng.shuffle(cards)
    players = options["num_players"]
    has_stock = rng.random() < 0.6
    allowed = [1, 2, 3, 3, 5, 8] if has_stock else [0, 1, 2, 3, 4, 6, 8]
    sizes = [rng.choice(allowed) for _ in range(players)]
    for seat in rng.sample(range(players), 2):
        sizes[seat] = max(1, sizes[seat])
    hands = [" ".join(cards.pop() for _ in range(size)) for size in sizes]
    deal: dict[str, Any] = {"dealer": rng.randrange(players), "hands": hands}
    if has_stock:
        count = min(rng.choice([1, 3, 10, 52]), len(cards))
        deal["stock"] = " ".join(cards.pop() for _ in range(count))
    else:
        deal.update(_exposed_elsewhere(rng, hands, cards))
    if rng.random() < 0.5:
        deal["leader"] = rng.choice([seat for seat in range(players) if sizes[seat]])
    return deal


def brede_mette_is_possible(
    options: dict[str, Any], public: dict[str, Any], seat: int, hands: list[set[str]]
) -> bool:
    """BM-7.4: whether the proofs allow some hands, as far as the seat does not see them."""

    def beats(card: str, attack: str) -> bool:
        if options["queen"] in (card, attack):
            return False
        is_higher = FRENCH_DECK.ranks.index(card[0]) > FRENCH_DECK.ranks.index(attack[0])
        return is_higher if card[1] == attack[1] else card[1] == public["trump"]

    return not any(
        card[0] in public["no_rank"][other]
        or any(beats(card, attack) for attack in public["no_beaters"][other])
        for other, hand in enumerate(hands)
        for card in hand - public["known"][other]
        if other != seat
    )


def dreeg_options(rng: random.Random) -> dict[str, Any]:
    """Draw options, all values of each."""
    scope = rng.choice(["deal"] * 8 + ["subgame", "match"])
    subgame = rng.choice(SUBGAMES)
    fewest = 2 if scope == "deal" and subgame != "kamerun" else 3
    return {
        "num_players": rng.randint(fewest, 4),
        "scope": scope,
        "subgame": subgame,
        "ruleset": rng.choice(["seed", "pagat"]),
        "going_out": rng.choice(["auto", "manual"]),
        "skip_forced": rng.random() < 0.7,
    }


def dreeg_deal(rng: random.Random, options: dict[str, Any]) -> dict[str, Any]:
    """Draw a position: perhaps players who have dropped out, short hands, a short talon."""
    players, game = options["num_players"], options["subgame"]
    if options["scope"] == "match":
        game = rng.choice(SUBGAMES)
    fewest = players if game == "kamerun" else 2
    active = sorted(rng.sample(range(players), rng.randint(fewest, players)))
    cards = [DREEG_DECK.text(card) for card in range(24)]
    rng.shuffle(cards)
    size = rng.randint(1, {2: 6, 3: 8, 4: 6}[len(active)])
    hands = [[cards.pop() for _ in range(size)] if s in active else [] for s in range(players)]
    deal: dict[str, Any] = {"subgame": game, "dealer": rng.randrange(players)}
    if game == "ace_of_hearts" and len(active) > 2 and "AH" in cards:
        hands[rng.choice(active)][0] = "AH"
    if len(active) == 2:
        talon = [cards.pop() for _ in range(2 * rng.randint(0, min(6, len(cards) // 2)))]
        deal["talon"] = " ".join(talon)
        if not talon and game == "deutsch":
            deal["trump"] = rng.choice("EBHG")
    if rng.random() < 0.5:
        deal["leader"] = rng.choice(active)
    if rng.random() < 0.5:
        deal["strokes"] = [rng.randint(1, 7) if seat in active else 0 for seat in range(players)]
    if options["scope"] == "match" and rng.random() < 0.5:
        first = SUBGAMES.index(game) + 1
        deal["phase"] = rng.choice([first, 9 - first])
        deal["blobs"] = [rng.randrange(deal["phase"]) for _ in range(players)]
    return deal | {"hands": [" ".join(hand) for hand in hands]}


def dreeg_oracle(options: dict[str, Any], deal: dict[str, Any], later: Any) -> DreegOracle:
    """Make the oracle; `later` gives later deals and chooses among losers."""
    return DreegOracle(options, deal, later, later.choose_loser)


CASES = {
    "braus-v0": GameCase(
        oracle=BrausOracle,
        random_options=braus_options,
        random_deal=braus_deal,
        short_match={"scope": "match"},
    ),
    "bred_ryg-v0": GameCase(
        oracle=BredRygOracle,
        random_options=bred_ryg_options,
        random_deal=bred_ryg_deal,
        stubborn=("take", "pass"),
        ends_soon=lambda options: options["no_progress_limit"] <= 12,
    ),
    "dreeg-v0": GameCase(
        oracle=dreeg_oracle,
        random_options=dreeg_options,
        random_deal=dreeg_deal,
        avoided=("close", "out", "surrender", "durchmarsch"),
        ends_soon=lambda options: True,
        table_of_two={"scope": "deal"},
        short_episode={"scope": "deal"},
        short_match={"scope": "subgame"},
    ),
    "brede_mette-v0": GameCase(
        oracle=BredeMetteOracle,
        random_options=brede_mette_options,
        random_deal=brede_mette_deal,
        stubborn=("take", "stop"),
        ends_soon=lambda options: options["no_progress_limit"] <= 12,
        is_possible=brede_mette_is_possible,
    ),
}
