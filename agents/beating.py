"""How agents of the beating games value cards; kernels on sets of cards."""

from __future__ import annotations

from cardenvs.core.cards import lowest_card
from cardenvs.core.kernel import kernel, lowest_bit
from cardenvs.core.rows import CardMask
from cardenvs.games.beating import NUM_RANKS, rank_cards, suit_cards


@kernel
def lowest_of(cards: CardMask) -> int:
    """The card of the lowest rank in a set that is not empty, of equals the lowest id."""
    ranks = cards | cards >> NUM_RANKS | cards >> 2 * NUM_RANKS | cards >> 3 * NUM_RANKS
    return lowest_card(cards & rank_cards(lowest_bit(ranks)))


@kernel
def plain_cards(cards: CardMask, trump: int) -> CardMask:
    """The cards of a set that are no trumps."""
    return cards & ~suit_cards(trump)


@kernel
def cheapest(cards: CardMask, trump: int) -> int:
    """The least valuable card of a set that is not empty: any plain card before any trump."""
    plain = plain_cards(cards, trump)
    return lowest_of(plain if plain else cards)
