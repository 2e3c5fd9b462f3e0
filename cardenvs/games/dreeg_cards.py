"""The cards of Dreeg, and which of them a player may put into a trick.

Numbers such as DR-2.1 are those of docs/games/dreeg.md.
"""

from __future__ import annotations

import numpy as np

from cardenvs.core.cards import Deck, card_mask, cards_above
from cardenvs.core.kernel import kernel
from cardenvs.core.rows import CardMask

#: DR-1.2. Nine, Under, Over, King, Ten, Ace; acorns, bells, hearts, leaves.
DECK = Deck(ranks="9UOKTA", suits="EBHG")
NUM_RANKS = len(DECK.ranks)
NUM_SUITS = len(DECK.suits)
NUM_CARDS = DECK.num_cards
ALL_CARDS = DECK.all_cards
SUIT = DECK.suit_cards(0)

NINE, OVER_RANK, KING = (DECK.ranks.index(rank) for rank in "9OK")
ACE_OF_HEARTS = DECK.card("AH")
OVERS = DECK.rank_cards(OVER_RANK)
KINGS = DECK.rank_cards(KING)

NO_SUIT = -1

#: DR-1.3. The points of each card.
POINTS = np.array([0, 2, 3, 4, 10, 11] * NUM_SUITS, np.int64)


@kernel
def suit_of(card: int) -> int:
    """The suit of a card, in the order of the deck."""
    return card // NUM_RANKS


@kernel
def suit_cards(suit: int) -> int:
    """The six cards of a suit; none for NO_SUIT."""
    return SUIT << (suit * NUM_RANKS) if suit != NO_SUIT else 0


@kernel
def higher_cards(card: int) -> int:
    """The higher cards of a card's suit."""
    return suit_cards(suit_of(card)) & cards_above(card)


@kernel
def beats(card: int, best: int, trump: int) -> bool:
    """DR-2.1. Whether a card wins against the best one of a trick."""
    suit, best_suit = suit_of(card), suit_of(best)
    if suit == best_suit:
        return card > best
    return suit == trump


@kernel
def is_trumped(led: int, best: int, trump: int) -> bool:
    """Whether a trump lies on a plain card that was led."""
    return suit_of(best) == trump and suit_of(led) != trump


@kernel
def playable(hand: CardMask, led: int, best: int, trump: int) -> int:
    """DR-2.2. Follow suit and head the trick if possible; else trump, and over a trump; else any.

    A suit that has been trumped need not be headed.
    """
    suit = hand & suit_cards(suit_of(led))
    trumps = hand & suit_cards(trump)
    following = suit if suit else trumps
    heading = following & higher_cards(best)
    if suit and is_trumped(led, best, trump):
        heading = 0
    if heading:
        return heading
    return following if following else hand


@kernel
def barred_by_play(card: int, led: int, best: int, trump: int) -> int:
    """DR-9.7. The cards that a hand cannot hold whose owner played a card by the rules above.

    `best` is the best card before that.
    """
    barred = 0
    if suit_of(card) == suit_of(led):
        if not is_trumped(led, best, trump) and card < best:
            barred = higher_cards(best)
    else:
        barred = suit_cards(suit_of(led))
        if suit_of(card) != trump:
            barred |= suit_cards(trump)
        elif is_trumped(led, best, trump) and card < best:
            barred |= higher_cards(best)
    return barred


@kernel
def marriage_suits(hand: CardMask) -> int:
    """DR-2.5. The kings and Overs of a hand that has both of a suit."""
    kings = hand & KINGS
    overs = hand & OVERS
    pairs = kings & overs << (KING - OVER_RANK)
    return pairs | pairs >> (KING - OVER_RANK)


@kernel
def partner_of(card: int) -> int:
    """The other card of a marriage, as a set."""
    is_king = (KINGS >> card) & 1
    return card_mask(card - 1) if is_king else card_mask(card + 1)
