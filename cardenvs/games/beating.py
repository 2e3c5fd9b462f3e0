"""What the Danish beating games share: their cards, the row, the deal, the score of a capped game.

Whoever is left with cards in the end has lost, and one queen can be beaten by nothing.
"""

from __future__ import annotations

from cardenvs.core.cards import FRENCH_DECK, NO_CARD, card_at, card_mask, cards_above
from cardenvs.core.kernel import kernel
from cardenvs.core.match import MatchRow, choose_first_dealer
from cardenvs.core.rng import shuffle
from cardenvs.core.rows import CardList, CardSets, card_list, per_seat, scalar, seats
from cardenvs.core.rows import seat as seat_field
from cardenvs.core.seats import left_of, seat_mask

DECK = FRENCH_DECK
MAX_PLAYERS = 6
NUM_RANKS = len(DECK.ranks)
NUM_SUITS = len(DECK.suits)
NUM_CARDS = DECK.num_cards
ALL_CARDS = DECK.all_cards

#: No game is longer than so many turns.
MAX_TURNS = 1000


class BeatingRow(MatchRow):
    """A table of a beating game."""

    phase: int = scalar()
    trump: int = scalar()
    exposed: int = scalar()  # the card that showed trumps, NO_CARD if the deal has none
    leader: int = seat_field()
    active: int = seats()
    waste: int = scalar()
    hands: CardSets = per_seat(MAX_PLAYERS)
    known: CardSets = per_seat(MAX_PLAYERS)  # cards that all know to be in a hand
    stock_size: int = scalar()
    attack_rank: int = scalar()  # the rank of the card led
    attack_cards: int = scalar()
    added: int = seats(NUM_SUITS)  # for each seat the suits of the rank led that it put down
    stock: CardList = card_list(NUM_CARDS)  # the top card last


# ----------------------------------------------------------------------------------------------
# Cards


@kernel
def rank_of(card: int) -> int:
    """The rank of a card, 0 for a two to 12 for an ace."""
    return card % NUM_RANKS


@kernel
def suit_of(card: int) -> int:
    """The suit of a card, in the order of the deck."""
    return card // NUM_RANKS


@kernel
def suit_cards(suit: int) -> int:
    """The thirteen cards of a suit."""
    return ((1 << NUM_RANKS) - 1) << (suit * NUM_RANKS)


@kernel
def rank_cards(rank: int) -> int:
    """The four cards of a rank."""
    return (1 | 1 << NUM_RANKS | 1 << 2 * NUM_RANKS | 1 << 3 * NUM_RANKS) << rank


@kernel
def higher_cards(card: int, trump: int) -> int:
    """The higher cards of a card's suit, and all trumps if it is none."""
    suit = suit_of(card)
    higher = suit_cards(suit) & cards_above(card)
    return higher | (suit_cards(trump) if suit != trump else 0)


@kernel
def added_by(state: BeatingRow, seat: int) -> int:
    """The suits of the rank led that a seat put down in this turn."""
    return state.added >> (seat * NUM_SUITS) & (1 << NUM_SUITS) - 1


# ----------------------------------------------------------------------------------------------
# The game


@kernel
def deal_cards(state: BeatingRow, hand_size: int) -> None:
    """Shuffle, and deal hands; the rest is the stock, and the player left of the dealer leads."""
    choose_first_dealer(state)
    num_players = state.num_players
    for card in range(NUM_CARDS):
        state.stock[card] = card
    shuffle(state.stock, NUM_CARDS, state.rng)
    state.stock_size = NUM_CARDS
    for seat in range(MAX_PLAYERS):
        state.hands[seat] = 0
    seat = state.dealer
    for _ in range(hand_size * num_players):
        seat = left_of(seat, num_players)
        state.stock_size -= 1
        state.hands[seat] |= card_mask(card_at(state.stock, state.stock_size))
    state.leader = left_of(state.dealer, num_players)


@kernel
def set_up(state: BeatingRow) -> None:
    """Find out who plays, what is out of play and where all know the exposed card to be."""
    held = 0
    for index in range(state.stock_size):
        held |= card_mask(card_at(state.stock, index))
    exposed = card_mask(state.exposed) if state.exposed != NO_CARD else 0
    state.active = 0
    for seat in range(state.num_players):
        held |= state.hands[seat]
        state.known[seat] = state.hands[seat] & exposed
        if state.hands[seat]:
            state.active |= seat_mask(seat)
    state.waste = ALL_CARDS & ~held
    state.no_progress = 0
    state.turns = 0


@kernel
def ask(state: BeatingRow, phase: int, seat: int) -> None:
    """Put a question to a seat."""
    state.phase = phase
    state.current_player = seat


@kernel
def is_capped(state: BeatingRow) -> bool:
    """Whether a game is cut off after a turn."""
    return state.no_progress >= state.no_progress_limit or state.turns >= MAX_TURNS


@kernel
def losers_by_cap(state: BeatingRow, queen: int) -> int:
    """The seats that share the loss of a game that is cut off: the queen's, all, or none."""
    if state.on_cap == 0:
        for seat in range(state.num_players):
            if state.hands[seat] & card_mask(queen):
                return seat_mask(seat)
    return 0 if state.on_cap == 2 else state.active
