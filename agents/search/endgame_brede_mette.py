"""What the endgame solver needs to know of Brede Mette; see `agents.search.endgame`.

Letters of shapes: B sets of moves.
"""

from __future__ import annotations

from agents.beating import cheapest
from cardenvs.core.cards import card_at
from cardenvs.core.kernel import kernel, lowest_bit, popcount
from cardenvs.core.rows import CardMask, Ints
from cardenvs.core.seats import NO_SEAT, seat_mask
from cardenvs.games import brede_mette
from cardenvs.games.beating import NUM_CARDS, NUM_RANKS, NUM_SUITS
from cardenvs.games.brede_mette import (
    BEAT,
    EXCHANGE,
    LEAD,
    NUM_BLOCKS,
    OVER,
    PASS,
    RESPOND,
    Row,
    legal_sets,
    red_queen,
)

#: Whether play can go on for ever: piles are passed and taken.
CAN_REPEAT = True
#: B: the blocks of cards in the action ids, and the two actions after them.
NUM_SETS = NUM_BLOCKS + 1

apply_action = brede_mette.apply_action
forced_action = brede_mette.forced_action

_PASSES = PASS // NUM_CARDS
_BEATS = BEAT // NUM_CARDS
_EXCHANGES = EXCHANGE // NUM_CARDS
_CARD_BITS = 6


@kernel
def is_endgame(state: Row) -> bool:
    """Whether two players are active and there is no stock."""
    return state.phase != OVER and state.stock_size == 0 and popcount(state.active) == 2


@kernel
def sure_loser(state: Row) -> int:
    """Who has lost; NO_SEAT before the end."""
    return lowest_bit(state.active) if state.phase == OVER else NO_SEAT


@kernel
def write_key(state: Row, key: Ints) -> int:
    """Write all that play depends on, int64 [3]; return its first player, or NO_SEAT for no key.

    Positions that can be met in several ways are those at the start of a turn, and those where two
    or more attack cards have been beaten, in another order. Cards can be exchanged only in the turn
    in which the stock ran out, which comes but once.
    """
    if state.phase == LEAD:
        key[0] = state.hands[state.leader] | state.trump << NUM_CARDS
        key[1] = state.hands[state.defender]
        key[2] = 0
        return state.leader
    if state.phase != RESPOND or popcount(state.beaten) < 2:
        return NO_SEAT
    defender = state.defender
    other = lowest_bit(state.active & ~seat_mask(defender))
    if state.exchange != 0 and state.draws[defender] > 0:
        return NO_SEAT
    rank = state.attack_rank
    key[0] = state.hands[defender] | state.trump << NUM_CARDS | rank << (NUM_CARDS + 2)
    key[1] = state.hands[other] | suits_of(state.attack_cards, rank) << NUM_CARDS
    beaters = 0
    for suit in range(NUM_SUITS):
        beaters = beaters << _CARD_BITS | (card_at(state.beaters, suit) + 1)
    key[2] = beaters
    return defender


@kernel
def suits_of(cards: CardMask, rank: int) -> int:
    """The suits of the cards of a rank in a set, as a set."""
    found = 0
    for suit in range(NUM_SUITS):
        found |= (cards >> (suit * NUM_RANKS + rank) & 1) << suit
    return found


@kernel
def write_moves(state: Row, moves: Ints) -> None:
    """Write the legal actions as the sets of their blocks, int64 [B]."""
    legal = legal_sets(state)
    for block in range(NUM_SETS):
        moves[block] = legal[block]


@kernel
def pick_move(state: Row, moves: Ints) -> int:
    """Take the move that promises most out of the sets; -1 if they are empty."""
    block = best_block(state, moves)
    if block < 0:
        return -1
    card = lowest_bit(moves[block]) if block == NUM_BLOCKS else best_card(state, moves[block])
    moves[block] &= ~(1 << card)
    return block * NUM_CARDS + card


@kernel
def best_block(state: Row, moves: Ints) -> int:
    """Finish what can be finished, else pass, else beat; -1 if there is no move.

    Who leads or adds puts down all that he can.
    """
    if state.phase != RESPOND:
        if moves[0]:
            return 0
        return NUM_BLOCKS if moves[NUM_BLOCKS] else -1
    if moves[NUM_BLOCKS] & 1:
        return NUM_BLOCKS
    if moves[_PASSES]:
        return _PASSES
    for block in range(_BEATS, _EXCHANGES):
        if moves[block]:
            return block
    if moves[NUM_BLOCKS]:
        return NUM_BLOCKS
    if moves[0]:
        return 0
    for block in range(_EXCHANGES, NUM_BLOCKS):
        if moves[block]:
            return block
    return -1


@kernel
def best_card(state: Row, cards: CardMask) -> int:
    """The queen, else the cheapest card."""
    queen = red_queen(state)
    return lowest_bit(queen) if cards & queen else cheapest(cards, state.trump)
