"""How agents of the beating games value cards; kernels on sets of cards."""

from __future__ import annotations

from cardenvs.core.cards import cards_above, lowest_card
from cardenvs.core.kernel import kernel, lowest_bit, popcount
from cardenvs.core.rows import CardMask, Observation
from cardenvs.games.beating import NUM_CARDS, NUM_RANKS, NUM_SUITS, rank_cards, suit_cards

#: Whose hints they are.
SEED = "source text"
MUSTAMAIJA = "Mustamaija"
CONTROL = "control"

#: The ranks as a set; a card of each suit of the ranks in such a set is that set times `ONE_EACH`.
ALL_RANKS = (1 << NUM_RANKS) - 1
ONE_EACH = 1 | 1 << NUM_RANKS | 1 << 2 * NUM_RANKS | 1 << 3 * NUM_RANKS


@kernel
def ranks_of(cards: CardMask) -> int:
    """The set of the ranks of some cards."""
    ranks = cards | cards >> NUM_RANKS | cards >> 2 * NUM_RANKS | cards >> 3 * NUM_RANKS
    return ranks & ALL_RANKS


@kernel
def lowest_of(cards: CardMask) -> int:
    """The card of the lowest rank in a set that is not empty, of equals the lowest id."""
    return lowest_card(cards & rank_cards(lowest_bit(ranks_of(cards))))


@kernel
def highest_of(cards: CardMask) -> int:
    """The card of the highest rank in a set that is not empty, of equals the lowest id."""
    ranks = ranks_of(cards)
    rank = NUM_RANKS - 1
    while ranks >> rank == 0:
        rank -= 1
    return lowest_card(cards & rank_cards(rank))


@kernel
def plain_cards(cards: CardMask, trump: int) -> CardMask:
    """The cards of a set that are no trumps."""
    return cards & ~suit_cards(trump)


@kernel
def cheapest(cards: CardMask, trump: int) -> int:
    """The least valuable card of a set that is not empty: any plain card before any trump."""
    plain = plain_cards(cards, trump)
    return lowest_of(plain if plain else cards)


@kernel
def dearest(cards: CardMask, trump: int) -> int:
    """The most valuable card of a set that is not empty: any trump before any plain card."""
    trumps = cards & suit_cards(trump)
    return highest_of(trumps if trumps else cards)


@kernel
def cheapest_but(cards: CardMask, queen: CardMask, trump: int) -> int:
    """The least valuable card of a set that is not empty, the special queen last of all."""
    others = cards & ~queen
    return cheapest(others if others else cards, trump)


@kernel
def groups(cards: CardMask, size: int) -> CardMask:
    """The cards of a set of whose rank it holds so many or more, for sizes of 1 to 4."""
    one = two = three = four = 0
    for suit in range(NUM_SUITS):
        ranks = cards >> suit * NUM_RANKS & ALL_RANKS
        four |= three & ranks
        three |= two & ranks
        two |= one & ranks
        one |= ranks
    found = one if size == 1 else two if size == 2 else three if size == 3 else four
    return cards & found * ONE_EACH


@kernel
def entries(cards: CardMask, size: int) -> CardMask:
    """The cards of a set with which one can begin to put down so many of their rank, 1 to 4.

    Equal cards go down in ascending order: of each the later ones count, and itself.
    """
    one = two = three = found = 0
    for back in range(NUM_SUITS):
        shift = (NUM_SUITS - 1 - back) * NUM_RANKS
        ranks = cards >> shift & ALL_RANKS
        later = ALL_RANKS if size == 1 else one if size == 2 else two if size == 3 else three
        found |= (ranks & later) << shift
        three |= two & ranks
        two |= one & ranks
        one |= ranks
    return found


@kernel
def largest_entries(cards: CardMask) -> CardMask:
    """The first card of each rank of which a set holds most."""
    size = NUM_SUITS
    while size > 1 and entries(cards, size) == 0:
        size -= 1
    return entries(cards, size)


@kernel
def first_of_ranks(cards: CardMask) -> CardMask:
    """The card of the lowest id of each rank in a set: with it a whole group can be entered."""
    firsts = 0
    ranks = 0
    for suit in range(NUM_SUITS):
        here = cards >> suit * NUM_RANKS & ALL_RANKS
        firsts |= (here & ~ranks) << suit * NUM_RANKS
        ranks |= here
    return firsts


@kernel
def of_short_suits(cards: CardMask, hand: CardMask) -> CardMask:
    """The cards of a set that are of the suit of which a hand holds fewest; of some if equal."""
    fewest = NUM_CARDS
    found = 0
    for suit in range(NUM_SUITS):
        here = cards & suit_cards(suit)
        count = popcount(hand & suit_cards(suit))
        if here and count < fewest:
            fewest = count
            found = 0
        found |= here if count == fewest else 0
    return found


@kernel
def higher_in_suit(cards: CardMask) -> CardMask:
    """All cards that are higher than some card of a set and of its suit."""
    found = 0
    for suit in range(NUM_SUITS):
        here = cards & suit_cards(suit)
        found |= suit_cards(suit) & cards_above(lowest_card(here)) if here else 0
    return found


# ----------------------------------------------------------------------------------------------
# What both observations hold in the same order, from where `STANDING` begins


@kernel
def is_active(observation: Observation, standing: int, num_players: int, seat: int) -> bool:
    """Whether a seat still takes part."""
    return bool(observation[standing + num_players + seat] != 0)


@kernel
def hand_size(observation: Observation, standing: int, num_players: int, seat: int) -> int:
    """How many cards a seat holds."""
    size: int = observation[standing + 2 * num_players + seat]
    return size


@kernel
def right_neighbor(observation: Observation, standing: int, num_players: int) -> int:
    """The seat that leads to the observer: the next one counter-clockwise that takes part."""
    seat = num_players - 1
    while seat > 1 and not is_active(observation, standing, num_players, seat):
        seat -= 1
    return seat
