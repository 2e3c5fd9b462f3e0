"""The row of Dreeg, its actions and its nodes, and small questions to a table."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from cardenvs.core.cards import NO_CARD
from cardenvs.core.kernel import kernel, popcount
from cardenvs.core.layout import ActionLayout, ActionRange
from cardenvs.core.rows import (
    CardList,
    CardMask,
    CardSets,
    CoreRow,
    Ints,
    card_list,
    per_seat,
    scalar,
    seats,
)
from cardenvs.core.rows import seat as seat_field
from cardenvs.core.seats import NO_SEAT, has_seat, seat_mask
from cardenvs.games.dreeg_cards import NO_SUIT, NUM_CARDS, NUM_SUITS

MAX_PLAYERS = 4

#: Actions, in blocks of 24.
MARRY = NUM_CARDS
CALL = 2 * NUM_CARDS
TRUMP = 3 * NUM_CARDS
SURRENDER = TRUMP + NUM_SUITS
EXCHANGE_NINE = SURRENDER + 1
CLOSE = EXCHANGE_NINE + 1
DURCHMARSCH = CLOSE + 1
OUT = DURCHMARSCH + 1
CONTINUE = OUT + 1
DEALER = CONTINUE + 1

ACTIONS = ActionLayout(
    ActionRange("card", NUM_CARDS, "the card that is led or played"),
    ActionRange("marry", NUM_CARDS, "the king or Over that is led, showing the other one"),
    ActionRange("call", NUM_CARDS, "the card whose holder is the partner"),
    ActionRange("trump", NUM_SUITS, "the suit that is trump"),
    ActionRange("surrender", 1, "no play: the others erase two strokes each"),
    ActionRange("nine", 1, "the nine of trumps for the indicator"),
    ActionRange("close", 1, "nobody draws any more"),
    ActionRange("durchmarsch", 1, "all tricks are to be won"),
    ActionRange("out", 1, "the own side has 66 points"),
    ActionRange("continue", 1, "no claim; no exchange and no closing before the draw"),
    ActionRange("dealer", MAX_PLAYERS, "who deals first, so many places to the left"),
)


class SubGame(IntEnum):
    """The four sub-games."""

    DEUTSCH = 0
    ACE_OF_HEARTS = 1
    RUFEN = 2
    KAMERUN = 3


#: Their names, as options and deals have them.
SUBGAMES = tuple(game.name.lower() for game in SubGame)

DEUTSCH = int(SubGame.DEUTSCH)
ACE_OF_HEARTS_GAME = int(SubGame.ACE_OF_HEARTS)
RUFEN = int(SubGame.RUFEN)
KAMERUN = int(SubGame.KAMERUN)


#: DR-1.4. The phases of a match, and the strokes with which each begins.
PHASE_GAMES = np.array([DEUTSCH, ACE_OF_HEARTS_GAME, RUFEN, KAMERUN] * 2, np.int64)
PHASE_GAMES[4:] = PHASE_GAMES[3::-1]
NUM_PHASES = len(PHASE_GAMES)
START_STROKES = 7
#: DR-6.1. So many cards of a hand are seen before the call.
PACKET = 3


class Node(IntEnum):
    """What is asked."""

    ELECT = 0
    CALL_CARD = 1
    NAME_TRUMP = 2
    BEFORE_DRAW = 3
    LEAD = 4
    FOLLOW = 5
    CLAIM = 6
    OVER = 7


ELECT = int(Node.ELECT)
CALL_CARD = int(Node.CALL_CARD)
NAME_TRUMP = int(Node.NAME_TRUMP)
BEFORE_DRAW = int(Node.BEFORE_DRAW)
LEAD = int(Node.LEAD)
FOLLOW = int(Node.FOLLOW)
CLAIM = int(Node.CLAIM)
OVER = int(Node.OVER)


class Row(CoreRow):
    """A table of Dreeg."""

    # options
    scope: int = scalar()
    subgame: int = scalar()
    ruleset: int = scalar()
    going_out: int = scalar()
    # the match
    phase: int = scalar()  # the phase of the match, from 0
    dealer: int = seat_field()
    next_dealer: int = seat_field()  # of the next deal, once this one is over
    deals_played: int = scalar()
    is_scope_over: int = scalar()
    strokes: Ints = per_seat(MAX_PLAYERS)
    blobs: Ints = per_seat(MAX_PLAYERS)
    awards: Ints = per_seat(MAX_PLAYERS)  # of the last finished deal
    first_phase: int = scalar()  # phase, strokes and blobs when the present deal began
    first_strokes: Ints = per_seat(MAX_PLAYERS)
    first_blobs: Ints = per_seat(MAX_PLAYERS)
    # the deal
    game: int = scalar()
    node: int = scalar()
    active: int = seats()
    trump: int = scalar()
    turned: int = scalar()  # the card turned up in Deutsch, NO_CARD if there is none
    called: int = scalar()  # the card called in Rufen
    team: int = seats()  # the soloist, or the caller and the partner
    is_partner_public: int = scalar()
    hands: CardSets = per_seat(MAX_PLAYERS)
    known: CardSets = per_seat(MAX_PLAYERS)  # cards that all know to be in a hand
    barred: CardSets = per_seat(MAX_PLAYERS)  # cards that a hand is proved to lack
    played: int = scalar()  # cards played in this deal
    out: int = scalar()  # cards that a fixed deal leaves out
    points: Ints = per_seat(MAX_PLAYERS)  # in own tricks
    declared: Ints = per_seat(MAX_PLAYERS)  # for marriages
    tricks: Ints = per_seat(MAX_PLAYERS)
    last_winner: int = seat_field()  # of the last trick
    last_led: int = scalar()  # its suit, in Kamerun
    durchmarsch: int = seat_field()  # who has announced to win all tricks
    # the trick
    leader: int = seat_field()
    led: int = scalar()  # NO_CARD on lead
    best: int = scalar()
    best_seat: int = seat_field()
    trick: Ints = per_seat(MAX_PLAYERS)  # what each seat has put into it
    claimants: int = seats()  # who is yet to be asked whether to go out
    # two players
    is_face_up: int = scalar()
    known_bottom: int = scalar()  # the last card of the talon, where both know it
    unseen: int = scalar()  # the last card of the talon, drawn, while the others may not know it
    closer: int = seat_field()
    closed_points: Ints = per_seat(MAX_PLAYERS)  # when it was closed, marriages included
    closed_tricks: Ints = per_seat(MAX_PLAYERS)
    undealt: int = scalar()  # cards of each hand that in Rufen lie on the talon until the call
    stock_size: int = scalar()
    stock: CardList = card_list(NUM_CARDS)  # the top card last


@kernel
def is_two(state: Row) -> bool:
    """Whether two play this deal, with a talon."""
    return popcount(state.active) == 2


@kernel
def ask(state: Row, node: int, seat: int) -> None:
    """Put a question to a seat."""
    state.node = node
    state.current_player = seat


@kernel
def side_of(state: Row, seat: int) -> int:
    """The seats on the side of a seat: a team against the rest, or each alone."""
    if state.team == 0:
        return seat_mask(seat)
    return state.team if has_seat(state.team, seat) else state.active & ~state.team


@kernel
def tricks_of(state: Row, side: int) -> int:
    """How many tricks a side has won."""
    count = 0
    for seat in range(MAX_PLAYERS):
        count += state.tricks[seat] if has_seat(side, seat) else 0
    return count


@kernel
def points_of(state: Row, side: int) -> int:
    """DR-2.5. The points of a side, marriages included; none without a trick."""
    count = 0
    for seat in range(MAX_PLAYERS):
        count += state.points[seat] + state.declared[seat] if has_seat(side, seat) else 0
    return count if tricks_of(state, side) else 0


@kernel
def cards_left(state: Row) -> int:
    """How many tricks are yet to be played, the present one included."""
    cards: CardMask = state.hands[state.leader]
    drawn = state.stock_size if state.closer == NO_SEAT else 0
    return popcount(cards) + drawn // 2 + (0 if state.led == NO_CARD else 1)


@kernel
def clear_deal(state: Row) -> None:
    """Forget all that has happened in a deal; hands and talon stay."""
    for seat in range(MAX_PLAYERS):
        state.known[seat] = 0
        state.barred[seat] = 0
        state.points[seat] = 0
        state.declared[seat] = 0
        state.tricks[seat] = 0
        state.closed_points[seat] = 0
        state.closed_tricks[seat] = 0
    state.out = 0
    state.played = 0
    state.called = NO_CARD
    state.team = 0
    state.is_partner_public = 0
    state.last_winner = NO_SEAT
    state.last_led = NO_SUIT
    state.durchmarsch = NO_SEAT
    state.claimants = 0
    state.is_face_up = 0
    state.known_bottom = NO_CARD
    state.unseen = NO_CARD
    state.closer = NO_SEAT


@kernel
def clear_trick(state: Row, leader: int) -> None:
    """Take the trick away; the next one is led by a seat."""
    state.leader = leader
    state.led = NO_CARD
    state.best = NO_CARD
    state.best_seat = NO_SEAT
    for seat in range(MAX_PLAYERS):
        state.trick[seat] = NO_CARD
