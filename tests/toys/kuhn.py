"""The rules of Kuhn poker: three cards, two players, an ante of one and a bet of one.

Both put an ante of 1 into the pot and get one card of three; the third lies face down. The first
player passes or bets. Two passes are a showdown for the antes. A bet is answered once: a bet calls
it, a showdown for 2 each; a pass folds, and the bettor wins the ante.

With `walks=True` the second player takes the first one's ante at once, unasked, with the king: a
third of the deals are then over without a decision.

Source: H. W. Kuhn, A Simplified Two-Person Poker, 1950.
"""

from __future__ import annotations

from typing import Any

from cardenvs.core.cards import Deck, card_mask, has_card
from cardenvs.core.kernel import kernel, lowest_bit, popcount
from cardenvs.core.layout import ActionLayout, ActionRange
from cardenvs.core.options import Option
from cardenvs.core.rng import random_below
from cardenvs.core.rows import CardSets, CoreRow, Ints, Mask, per_seat, row_dtype, scalar
from cardenvs.core.rows import seat as seat_field
from cardenvs.core.seats import NO_SEAT, left_of

TITLE = "Kuhn poker"
DECK = Deck(ranks="JQK", suits="S")
NUM_TEAMS = 0
NUM_PLAYERS = 2
NUM_CARDS = DECK.num_cards
ALL_CARDS = DECK.all_cards
KING = DECK.card("KS")

PASS, BET = 0, 1
NUM_ACTIONS = 2
#: No deal has more turns: pass, bet, and the answer.
MAX_TURNS = 3
TWO_PASSES = 0b11

ACTIONS = ActionLayout(
    ActionRange("pass", 1, "`pass`: bet nothing; after a bet, fold"),
    ActionRange("bet", 1, "`bet`: bet one; after a bet, call"),
)

OPTIONS = (
    Option("num_players", NUM_PLAYERS, (NUM_PLAYERS,), "players at the table"),
    Option("walks", False, (False, True), "whether the second player's king wins at once"),
)


class Row(CoreRow):
    """A table of Kuhn poker; nobody is on turn when the deal is over."""

    # options
    walks: int = scalar()
    # the deal
    first: int = seat_field()  # acts first
    hands: CardSets = per_seat(NUM_PLAYERS)
    passes: int = scalar()  # the turns, from 0, at which the player on turn passed, a bit for each
    bets: int = scalar()  # those with a bet


STATE_DTYPE = row_dtype(Row)


@kernel
def second_player(state: Row) -> int:
    """The seat that acts second."""
    return left_of(state.first, state.num_players)


@kernel
def deal(state: Row) -> None:
    """Deal one card to each player; seat 0 acts first."""
    state.first = 0
    card = random_below(state.rng, NUM_CARDS)
    places_on = 1 + random_below(state.rng, NUM_CARDS - 1)
    state.hands[0] = card_mask(card)
    state.hands[1] = card_mask((card + places_on) % NUM_CARDS)


@kernel
def start(state: Row) -> None:
    """Begin play: hands and the first player are set."""
    state.passes = 0
    state.bets = 0
    is_walk = state.walks == 1 and has_card(state.hands[second_player(state)], KING)
    state.current_player = NO_SEAT if is_walk else state.first


@kernel
def forced_action(state: Row) -> int:
    """No action is ever forced."""
    return -1


@kernel
def write_action_mask(state: Row, mask: Mask) -> None:
    """Write the legal actions of the seat asked as 0 and 1, int8 [A]: always both."""
    mask[PASS] = 1
    mask[BET] = 1


@kernel
def num_turns(state: Row) -> int:
    """How many actions have been played."""
    return popcount(state.passes | state.bets)


@kernel
def apply_action(state: Row, action: int) -> None:
    """Pass or bet; an answer to a bet, or a second pass, ends the deal."""
    is_answer = state.bets != 0
    turn = 1 << num_turns(state)
    if action == BET:
        state.bets |= turn
    else:
        state.passes |= turn
    if is_answer or state.passes == TWO_PASSES:
        state.current_player = NO_SEAT
    else:
        state.current_player = left_of(state.current_player, state.num_players)


@kernel
def is_terminal(state: Row) -> bool:
    """Whether the deal is over."""
    return state.current_player == NO_SEAT


@kernel
def goes_on(state: Row) -> bool:
    """An episode is one deal."""
    return False


@kernel
def pass_the_deal(state: Row) -> None:
    """There is no next deal."""


@kernel
def winner(state: Row) -> int:
    """Who wins a finished deal: the one whose bet was not called, else the higher card."""
    second = second_player(state)
    if popcount(state.bets) == 1:
        return second if lowest_bit(state.bets) == 1 else state.first
    return second if state.hands[second] > state.hands[state.first] else state.first


@kernel
def write_returns(state: Row, returns: Ints) -> None:
    """The ante, or ante and bet if it was called; what one wins the other loses."""
    returns[0] = 0
    returns[1] = 0
    if is_terminal(state):
        stake = 2 if popcount(state.bets) == 2 else 1
        won_by = winner(state)
        returns[won_by] = stake
        returns[1 - won_by] = -stake


def returns_scale(options: dict[str, Any]) -> int:
    """Return how many units of `write_returns` are one point."""
    return 1


def returns_bounds(options: dict[str, Any]) -> tuple[float, float]:
    """Return the lowest and the highest return of an episode."""
    return -2.0, 2.0
