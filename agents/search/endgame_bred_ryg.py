"""What the endgame solver needs to know of Bred Ryg; see `agents.search.endgame`.

Letters of shapes: B sets of moves.
"""

from __future__ import annotations

from agents.beating import cheapest
from cardenvs.core.cards import card_at, has_card
from cardenvs.core.kernel import kernel, lowest_bit, popcount
from cardenvs.core.rows import CardMask, Ints
from cardenvs.core.seats import NO_SEAT
from cardenvs.games import bred_ryg
from cardenvs.games.beating import NUM_CARDS, NUM_SUITS, suit_cards
from cardenvs.games.bred_ryg import (
    BLACK_QUEEN,
    LEAD,
    NOT_THE_QUEEN,
    OVER,
    PASS_OR_TAKE,
    PASS_OR_TAKE_BIT,
    REPLIER_ADDS,
    REPLY,
    Row,
    legal_actions,
)

#: Whether play can go on for ever; with two players it always ends.
CAN_REPEAT = False
#: B: all actions are one set.
NUM_SETS = 1

apply_action = bred_ryg.apply_action
forced_action = bred_ryg.forced_action

_CARD_BITS = 6


@kernel
def is_endgame(state: Row) -> bool:
    """Whether two players are active, without a stock, and one of them will hold the queen.

    A fixed deal may leave her out; then both can go out at once, and nobody loses.
    """
    in_play = state.attack_cards
    for seat in range(state.num_players):
        in_play |= state.hands[seat]
    is_there = has_card(in_play, BLACK_QUEEN)
    return (
        is_there and state.phase != OVER and state.stock_size == 0 and popcount(state.active) == 2
    )


@kernel
def sure_loser(state: Row) -> int:
    """Who loses, once that is certain; NO_SEAT before.

    That is the replier, once the last card of the leader lies: the queen, whom nothing beats, is in
    the hand of the replier or comes into it.
    """
    if state.phase == OVER:
        return lowest_bit(state.active)
    is_last = state.phase != LEAD and state.hands[state.leader] == 0
    return state.replier if is_last else NO_SEAT


@kernel
def write_key(state: Row, key: Ints) -> int:
    """Write all that play depends on, int64 [3]; return its first player, or NO_SEAT for no key.

    Positions that can be met in several ways are those at the start of a trick, and those where two
    or more attack cards have been answered, by the same cards in another order.
    """
    if state.phase == LEAD:
        key[0] = state.hands[state.leader] | state.trump << NUM_CARDS
        key[1] = state.hands[state.replier]
        key[2] = 0
        return state.leader
    if state.phase != REPLY or state.num_answered < 2:
        return NO_SEAT
    key[0] = state.hands[state.replier] | state.trump << NUM_CARDS
    key[1] = state.hands[state.leader]
    trick = state.num_answered
    for i in range(state.num_attack):
        card = card_at(state.attack, i)
        trick = trick << (_CARD_BITS + 1) | card << 1 | (1 if has_card(state.taken, card) else 0)
    key[2] = trick
    return state.replier


@kernel
def write_moves(state: Row, moves: Ints) -> None:
    """Write the legal actions, int64 [B]."""
    moves[0] = legal_actions(state)


@kernel
def pick_move(state: Row, moves: Ints) -> int:
    """Take the move that promises most out of a set; -1 if it is empty."""
    if moves[0] == 0:
        return -1
    move = best_move(state, moves[0])
    moves[0] &= ~(1 << move)
    return move


@kernel
def best_move(state: Row, moves: int) -> int:
    """The queen goes first, then what cannot be beaten; replies are as cheap as possible."""
    cards: CardMask = moves & ~PASS_OR_TAKE_BIT
    is_pass_first = state.phase == REPLIER_ADDS and moves & PASS_OR_TAKE_BIT != 0
    if cards == 0 or is_pass_first:
        return PASS_OR_TAKE
    if state.phase == REPLY:
        return cheapest(cards, state.trump)
    if has_card(cards, BLACK_QUEEN):
        return BLACK_QUEEN
    sure = cards & ~beatable(state.hands[state.replier], state.trump)
    return cheapest(sure if sure else cards, state.trump)


@kernel
def beatable(hand: CardMask, trump: int) -> CardMask:
    """All cards that some card of a hand beats."""
    beaters = hand & NOT_THE_QUEEN
    found = 0
    for suit in range(NUM_SUITS):
        held = beaters & suit_cards(suit)
        held |= held >> 1
        held |= held >> 2
        held |= held >> 4
        held |= held >> 8
        found |= held >> 1 & suit_cards(suit)
    if beaters & suit_cards(trump):
        for suit in range(NUM_SUITS):
            found |= suit_cards(suit) if suit != trump else 0
    return found & NOT_THE_QUEEN
