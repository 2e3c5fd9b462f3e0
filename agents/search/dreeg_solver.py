"""Dreeg with open cards: the value of a position in which nobody draws any more.

Two ways, by what the deal is worth to whom. Where two sides play for strokes (Ace of Hearts, Rufen,
two players) what one side gains the other loses: `solve_sides` is alpha-beta on the strokes of
seat 0, negative where the other side erases. Where each plays for a rank of his own (Deutsch and
Kamerun with three or four players) `solve_ranks` lets every player do the best for himself; among
equals he takes the action of the lowest id.

The rules play on copies of the row, one for each level of the tree; forced actions are played on
the way and are no levels.

Letters of shapes: L levels, T entries of the table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cardenvs.core.cards import NO_CARD, lowest_card, set_of
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel, lowest_bit, popcount, rare_kernel
from cardenvs.core.rng import combine
from cardenvs.core.seats import NO_SEAT, has_seat
from cardenvs.games.dreeg import LOW, apply_action, legal_cards, legal_words
from cardenvs.games.dreeg_cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, beats
from cardenvs.games.dreeg_play import is_loose, is_played_out
from cardenvs.games.dreeg_row import (
    CLAIM,
    DEUTSCH,
    FOLLOW,
    KAMERUN,
    LEAD,
    MAX_PLAYERS,
    OVER,
    Row,
    is_two,
    points_of,
    side_of,
    tricks_of,
)
from cardenvs.games.dreeg_score import strokes_against

#: Levels of the tree: more decisions than eight tricks with all their claims have.
LEVELS = 96
#: Entries of the table of positions, a power of two.
TABLE_SIZE = 1 << 14

#: Entries of `counts`.
NODES, LIMIT, STAMP = range(3)
_STAMPS = 1 << 32

#: More than any strokes; what stands for no value.
ENDLESS = 4
UNSOLVED = -128

#: The cards of each rank, and those and the marriages with them.
_RANKS = np.array(
    [set_of(suit * NUM_RANKS + rank for suit in range(NUM_SUITS)) for rank in range(NUM_RANKS)],
    np.int64,
)
_RANK_ACTIONS = _RANKS | _RANKS << NUM_CARDS
_MARRIAGES = ((1 << NUM_CARDS) - 1) << NUM_CARDS


class Solver(NamedTuple):
    """What the solver works on."""

    rows: Any  # STATE_DTYPE [L + 1]: the position at each level
    cards: Any  # int64 [L + 1]: legal actions that are not tried yet, those below `LOW`
    words: Any  # int64 [L + 1]: and the others
    low: Any  # int64 [L + 1]: what the side of seat 0 has for sure
    high: Any  # int64 [L + 1]: what the other side allows at most
    first_low: Any  # int64 [L + 1]: the same when the level was entered
    first_high: Any  # int64 [L + 1]
    best: Any  # int64 [L + 1]
    keys: Any  # int64 [T, 4]
    bounds: Any  # int64 [T, 2]: the lowest and the highest that a position can be worth
    counts: Any  # int64 [3]: nodes of this world, how many are allowed, the number of the world


def make_solver(game: Game, nodes: int) -> Solver:
    """Return the arrays of a solver that looks at so many nodes a world."""
    by_level = np.zeros((7, LEVELS + 1), np.int64)
    return Solver(
        rows=game.blank_rows(LEVELS + 1),
        cards=by_level[0],
        words=by_level[1],
        low=by_level[2],
        high=by_level[3],
        first_low=by_level[4],
        first_high=by_level[5],
        best=by_level[6],
        keys=np.zeros((TABLE_SIZE, 4), np.int64),
        bounds=np.zeros((TABLE_SIZE, 2), np.int64),
        counts=np.array([0, nodes, 0], np.int64),
    )


@kernel
def begin_world(solver: Solver) -> None:
    """Begin to count nodes; no position of another world is found again."""
    solver.counts[NODES] = 0
    solver.counts[STAMP] = (solver.counts[STAMP] + 1) % _STAMPS


@kernel
def has_sides(state: Row) -> bool:
    """Whether two sides play for strokes; otherwise each plays for a rank."""
    return is_two(state) or (state.game != DEUTSCH and state.game != KAMERUN)


@kernel
def is_open(state: Row) -> bool:
    """Whether the rest of the deal is play alone: no draws, no call, no trump to be named."""
    is_play = state.node == LEAD or state.node == FOLLOW or state.node == CLAIM
    return is_play and not is_loose(state)


@rare_kernel
def play_on(state: Row, action: int, solver: Solver, level: int) -> None:
    """Play an action and the forced ones behind it; note what is legal then."""
    while True:
        apply_action(state, action)
        if state.node == OVER:
            return
        cards = legal_cards(state)
        words = legal_words(state)
        if popcount(cards) + popcount(words) > 1:
            solver.cards[level] = cards
            solver.words[level] = words
            return
        action = lowest_bit(cards) if cards else LOW + lowest_bit(words)


@kernel
def step_into(solver: Solver, level: int, action: int) -> None:
    """Play an action of a level on the row of the next one, and count a node."""
    solver.rows[level + 1] = solver.rows[level]
    play_on(solver.rows[level + 1], action, solver, level + 1)
    solver.counts[NODES] += 1


@kernel
def is_at_limit(solver: Solver, level: int) -> bool:
    """Whether no more nodes, or levels, may be looked at."""
    return solver.counts[NODES] >= solver.counts[LIMIT] or level >= LEVELS


# ----------------------------------------------------------------------------------------------
# The table of positions


@kernel
def is_at_lead(state: Row) -> bool:
    """Whether a position is one that the table keeps: a trick is won and none begun."""
    return state.node == LEAD and state.last_winner != NO_SEAT and state.led == NO_CARD


@kernel
def score_word(state: Row) -> int:
    """The points, marriages and seats with a trick, as far as they matter; 60 bits."""
    word = 0
    own = side_of(state, 0) if has_sides(state) else 0
    for seat in range(MAX_PLAYERS):
        points = state.points[seat]
        declared = state.declared[seat]
        place = seat
        if own:
            place = 0 if has_seat(own, seat) else 1
        word += points << (7 * place) | declared << (28 + 7 * place)
        word |= (1 if state.tricks[seat] else 0) << (56 + place)
    return word


@kernel
def other_word(state: Row, stamp: int) -> int:
    """All else that changes in a world, and the number of the world."""
    word = stamp
    word = word << 4 | state.team
    word = word << 2 | state.leader
    word = word << 3 | (state.trump + 1)
    word = word << 3 | (state.last_led + 1)
    return word << 3 | (state.durchmarsch + 1)


@kernel
def key_of(state: Row, stamp: int) -> tuple[int, int, int, int]:
    """All that a position on lead is worth depends on, within a world."""
    first = state.hands[0] | state.hands[1] << NUM_CARDS
    second = state.hands[2] | state.hands[3] << NUM_CARDS
    return first, second, score_word(state), other_word(state, stamp)


@kernel
def slot_of(key: tuple[int, int, int, int]) -> int:
    """Where the table keeps a position."""
    return combine(combine(combine(key[3], key[0]), key[1]), key[2]) & (TABLE_SIZE - 1)


@kernel
def has_key(keys: Any, slot: int, key: tuple[int, int, int, int]) -> bool:
    """Whether a place of the table is taken by a position."""
    is_half: bool = keys[slot, 0] == key[0] and keys[slot, 1] == key[1]
    return is_half and keys[slot, 2] == key[2] and keys[slot, 3] == key[3]


@kernel
def remember(solver: Solver, state: Row, low: int, high: int) -> None:
    """Keep what a position is worth at least and at most; another one may lose its place."""
    key = key_of(state, solver.counts[STAMP])
    slot = slot_of(key)
    if has_key(solver.keys, slot, key):
        low = max(low, solver.bounds[slot, 0])
        high = min(high, solver.bounds[slot, 1])
    for part in range(4):
        solver.keys[slot, part] = key[part]
    solver.bounds[slot, 0] = low
    solver.bounds[slot, 1] = high


# ----------------------------------------------------------------------------------------------
# Two sides


@kernel
def strokes_of_seat_0(state: Row) -> int:
    """What a finished deal is worth: the strokes of the side of seat 0, or minus the others'."""
    for seat in range(MAX_PLAYERS):
        if state.awards[seat]:
            strokes: int = state.awards[seat]
            return strokes if state.awards[0] else -strokes
    return 0


@kernel
def most_strokes(state: Row, side: int) -> int:
    """The most that a side can win, by what the others have already.

    The others cannot be made to claim wrongly, nor to close.
    """
    others = state.active & ~side
    if is_played_out(state):
        return 1
    if state.closer == NO_SEAT or has_seat(side, state.closer):
        return strokes_against(points_of(state, others), tricks_of(state, others))
    strokes = 1
    for seat in range(MAX_PLAYERS):
        if has_seat(state.active, seat):
            found = strokes_against(state.closed_points[seat], state.closed_tricks[seat])
            strokes = max(strokes, found)
    return strokes


@kernel
def next_action(solver: Solver, level: int) -> int:
    """Take an action that has not been tried: words first, marriages, then cards by rank.

    Who can win the trick, or leads, tries high cards first; who must lose it, low ones.
    """
    words = solver.words[level]
    if words:
        solver.words[level] = words & (words - 1)
        return LOW + lowest_bit(words)
    cards = solver.cards[level]
    state = solver.rows[level]
    chosen = cards & _MARRIAGES
    if chosen == 0:
        chosen = cards
    is_low = False
    if state.node == FOLLOW:
        is_own = has_seat(side_of(state, state.current_player), state.best_seat)
        is_low = not is_own and not beats(lowest_card(cards), state.best, state.trump)
    for place in range(NUM_RANKS):
        rank = place if is_low else NUM_RANKS - 1 - place
        if chosen & _RANK_ACTIONS[rank]:
            action = lowest_bit(chosen & _RANK_ACTIONS[rank])
            solver.cards[level] = cards & ~(1 << action)
            return action
    return -1


@kernel
def enter_sides(solver: Solver, level: int, low: int, high: int) -> int:
    """Begin a level with a window; return its value if that is known, else UNSOLVED."""
    state = solver.rows[level]
    if state.node == OVER:
        return strokes_of_seat_0(state)
    own = side_of(state, 0)
    most = most_strokes(state, own)
    least = -most_strokes(state, state.active & ~own)
    if is_at_lead(state):
        key = key_of(state, solver.counts[STAMP])
        slot = slot_of(key)
        if has_key(solver.keys, slot, key):
            least = max(least, solver.bounds[slot, 0])
            most = min(most, solver.bounds[slot, 1])
    if least >= high or least == most:
        return least
    if most <= low:
        return most
    solver.low[level] = max(low, least)
    solver.high[level] = min(high, most)
    solver.first_low[level] = solver.low[level]
    solver.first_high[level] = solver.high[level]
    solver.best[level] = -ENDLESS if has_seat(own, state.current_player) else ENDLESS
    return UNSOLVED


@kernel
def take_strokes(solver: Solver, level: int, value: int) -> None:
    """Use the value of an action of a level."""
    state = solver.rows[level]
    if has_seat(side_of(state, 0), state.current_player):
        solver.best[level] = max(solver.best[level], value)
        solver.low[level] = max(solver.low[level], value)
    else:
        solver.best[level] = min(solver.best[level], value)
        solver.high[level] = min(solver.high[level], value)


@kernel
def leave_sides(solver: Solver, level: int) -> int:
    """Return what a level is worth, and keep what it says."""
    best: int = solver.best[level]
    if is_at_lead(solver.rows[level]):
        low = best if best > solver.first_low[level] else -ENDLESS
        high = best if best < solver.first_high[level] else ENDLESS
        remember(solver, solver.rows[level], low, high)
    return best


@rare_kernel
def solve_sides(solver: Solver) -> int:
    """Return the strokes of seat 0 at the position of level 0, UNSOLVED at the limit of nodes.

    The legal actions there are noted; they are used up.
    """
    level = 0
    value = enter_sides(solver, 0, -ENDLESS, ENDLESS)
    if value != UNSOLVED:
        return value
    while True:
        is_tried = solver.cards[level] == 0 and solver.words[level] == 0
        if is_tried or solver.low[level] >= solver.high[level]:
            value = leave_sides(solver, level)
            if level == 0:
                return value
            level -= 1
        else:
            if is_at_limit(solver, level):
                return UNSOLVED
            step_into(solver, level, next_action(solver, level))
            value = enter_sides(solver, level + 1, solver.low[level], solver.high[level])
            if value == UNSOLVED:
                level += 1
                continue
        take_strokes(solver, level, value)


# ----------------------------------------------------------------------------------------------
# Ranks


@kernel
def packed_awards(state: Row) -> int:
    """The awards of all seats, two bits each."""
    packed = 0
    for seat in range(MAX_PLAYERS):
        packed |= state.awards[seat] << (2 * seat)
    return packed


@kernel
def reward_in(packed: int, state: Row, seat: int) -> int:
    """The reward of a seat by packed awards, in shares of a point: one for each player."""
    total = 0
    for other in range(MAX_PLAYERS):
        total += packed >> (2 * other) & 3
    reward = popcount(state.active) * (packed >> (2 * seat) & 3) - total
    return -reward if state.game == KAMERUN else reward


@kernel
def enter_ranks(solver: Solver, level: int) -> int:
    """Begin a level; return its awards if they are known, else UNSOLVED."""
    state = solver.rows[level]
    if state.node == OVER:
        return packed_awards(state)
    if is_at_lead(state):
        key = key_of(state, solver.counts[STAMP])
        slot = slot_of(key)
        if has_key(solver.keys, slot, key):
            packed: int = solver.bounds[slot, 0]
            return packed
    solver.best[level] = UNSOLVED
    return UNSOLVED


@kernel
def take_awards(solver: Solver, level: int, packed: int) -> None:
    """Use the awards that an action of a level leads to."""
    state = solver.rows[level]
    seat = state.current_player
    best = solver.best[level]
    if best == UNSOLVED or reward_in(packed, state, seat) > reward_in(best, state, seat):
        solver.best[level] = packed


@kernel
def lowest_action(solver: Solver, level: int) -> int:
    """Take the action of the lowest id that has not been tried."""
    cards = solver.cards[level]
    if cards:
        solver.cards[level] = cards & (cards - 1)
        return lowest_bit(cards)
    words = solver.words[level]
    solver.words[level] = words & (words - 1)
    return LOW + lowest_bit(words)


@rare_kernel
def solve_ranks(solver: Solver) -> int:
    """Return the awards at the position of level 0, packed; UNSOLVED at the limit of nodes.

    The legal actions there are noted; they are used up.
    """
    level = 0
    packed = enter_ranks(solver, 0)
    if packed != UNSOLVED:
        return packed
    while True:
        if solver.cards[level] == 0 and solver.words[level] == 0:
            packed = solver.best[level]
            if is_at_lead(solver.rows[level]):
                remember(solver, solver.rows[level], packed, packed)
            if level == 0:
                found: int = packed
                return found
            level -= 1
        else:
            if is_at_limit(solver, level):
                return UNSOLVED
            step_into(solver, level, lowest_action(solver, level))
            packed = enter_ranks(solver, level + 1)
            if packed == UNSOLVED:
                level += 1
                continue
        take_awards(solver, level, packed)


# ----------------------------------------------------------------------------------------------
# Either


@rare_kernel
def solve_awards(solver: Solver) -> bool:
    """Write the awards that the position of level 0 leads to; return False at the limit of nodes.

    They are written into its row, as if the deal were over.
    """
    state = solver.rows[0]
    if has_sides(state):
        strokes = solve_sides(solver)
        if strokes == UNSOLVED:
            return False
        own = side_of(state, 0)
        for seat in range(MAX_PLAYERS):
            is_winner = has_seat(state.active, seat) and has_seat(own, seat) == (strokes > 0)
            state.awards[seat] = abs(strokes) if is_winner else 0
    else:
        packed = solve_ranks(solver)
        if packed == UNSOLVED:
            return False
        for seat in range(MAX_PLAYERS):
            state.awards[seat] = packed >> (2 * seat) & 3
    return True
