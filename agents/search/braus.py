"""The search agent of Bräus: it solves whole deals with open cards, exactly.

The two teams are two players: with open cards, partners want and know the same. A deal is worth
-2 to 2 strokes to a team, so the solver asks a few times whether it is worth at least so much.

Live cards are bits of a set, bit s - 1 for strength s. Values are strokes of team 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.search.base import Budget, SearchAgent
from agents.search.pimc import make_pimc
from cardenvs.core.cards import without_lowest
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel, lowest_bit, popcount, rare_kernel
from cardenvs.core.rows import Ints, Mask
from cardenvs.core.seats import left_of
from cardenvs.games.braus import (
    CARD_OF,
    FOLLOW,
    MAX_PLAYERS,
    NUM_LIVE,
    SEVENS,
    STRENGTH,
    TRICKS_TO_WIN,
    Row,
    holds_king,
    strength_bit,
    team_of,
)

WORLDS = 100
NODES = 200_000

LIVE_BITS = (1 << NUM_LIVE) - 1

SEVENS_AT = NUM_LIVE
TRICKS_AT = SEVENS_AT + MAX_PLAYERS
LEADER_AT = TRICKS_AT + 6
BEST_AT = LEADER_AT + 3
WINNER_AT = BEST_AT + 5
SEAT_AT = WINNER_AT + 3
KEY = (1 << BEST_AT) - 1

LOW_AT = BEST_AT
HIGH_AT = LOW_AT + 3
AGE_AT = HIGH_AT + 3
AGES = 1 << (62 - AGE_AT)

TABLE_BITS = 14
SLOT = 0x1F35D2A5
SLOT_SHIFT = 24

NUM_PLAYERS, KING, IMMEDIATE, NODE_COUNT, NODE_LIMIT, AGE = range(6)
UNSOLVED = 99


class Solver(NamedTuple):
    facts: Ints
    live: Ints
    sevens: Ints
    table: Ints
    positions: Ints
    moves: Ints
    bounds: Ints
    holder: Ints


def new_solver(nodes):
    facts = np.zeros(6, np.int64)
    facts[NODE_LIMIT] = nodes
    return Solver(
        facts,
        np.zeros(MAX_PLAYERS, np.int64),
        np.zeros(MAX_PLAYERS, np.int64),
        np.zeros(1 << TABLE_BITS, np.int64),
        np.zeros(NUM_LIVE + 2, np.int64),
        np.zeros(NUM_LIVE + 2, np.int64),
        np.zeros(NUM_LIVE + 2, np.int64),
        np.zeros(NUM_LIVE + 1, np.int64),
    )


@kernel
def packed(live, sevens, tricks, leader, best, winner, seat):
    return (
        live
        | sevens << SEVENS_AT
        | tricks << TRICKS_AT
        | leader << LEADER_AT
        | best << BEST_AT
        | winner << WINNER_AT
        | seat << SEAT_AT
    )


@kernel
def first_of_runs(own, others):
    free = ~(own | others)
    above = own << 1
    reached = ((above & free) + free) & ~free | above
    return own & ~reached


@kernel
def up_to_highest(live):
    live |= live >> 1
    live |= live >> 2
    live |= live >> 4
    live |= live >> 8
    return live | live >> 16


@kernel
def won(team, tricks):
    strokes = 1 if tricks >> (3 * (1 - team)) & 7 else 2
    return -strokes if team else strokes


@kernel
def count_tricks(solver, team, tricks, count):
    """New tricks, and value or UNSOLVED."""
    reached = (tricks >> (3 * team) & 7) + count
    if reached >= TRICKS_TO_WIN - 1:
        if solver.facts[IMMEDIATE] and solver.facts[KING] == team:
            return tricks, -1 if team else 1
        if reached >= TRICKS_TO_WIN:
            return tricks, won(team, tricks)
    return tricks + (count << (3 * team)), UNSOLVED


@kernel
def exhausted(solver, sevens, tricks, leader):
    seat = leader
    for _ in range(solver.facts[NUM_PLAYERS]):
        if sevens >> seat & 1:
            tricks, value = count_tricks(solver, team_of(seat), tricks, solver.sevens[seat])
            if value != UNSOLVED:
                return value
        seat = left_of(seat, solver.facts[NUM_PLAYERS])
    king = solver.facts[KING]
    if king >= 0 and tricks >> (3 * king) & 7 == TRICKS_TO_WIN - 1:
        return -1 if king else 1
    return 0


@kernel
def most(solver, team, live, sevens, tricks):
    """The most strokes that a team can still win."""
    own = 0
    potential = tricks >> (3 * team) & 7
    for seat in range(team, solver.facts[NUM_PLAYERS], 2):
        own |= solver.live[seat]
        if sevens >> seat & 1:
            potential += solver.sevens[seat]
    potential += popcount(own & live)
    has_king = solver.facts[KING] == team
    if potential < TRICKS_TO_WIN - has_king:
        return 0
    if potential < TRICKS_TO_WIN or tricks >> (3 * (1 - team)) & 7:
        return 1
    if has_king and solver.facts[IMMEDIATE]:
        return 1
    return 2


@kernel
def sure_tricks(solver, live, sevens, leader):
    """The holder of the strongest card and how many tricks it takes for sure."""
    top = popcount(up_to_highest(live)) - 1
    holder = solver.holder[top]
    own = solver.live[holder] & live
    tops = own & ~up_to_highest(live & ~own)
    count = popcount(tops)
    if sevens >> holder & 1:
        count += solver.sevens[holder]
    if own & ~tops and holder == leader:
        rest = live & ~tops
        if rest & ~own:
            second = solver.holder[popcount(up_to_highest(rest)) - 1]
            if team_of(second) == team_of(holder):
                own = solver.live[second] & live
                count += popcount(own & ~up_to_highest(rest & ~own))
                if sevens >> second & 1:
                    count += solver.sevens[second]
    return holder, count


@kernel
def slot_of(solver, key):
    return (key * SLOT >> SLOT_SHIFT) & ((1 << TABLE_BITS) - 1)


@kernel
def look_up(solver, key, low, high):
    entry = solver.table[slot_of(solver, key)]
    if entry & KEY == key and entry >> AGE_AT == solver.facts[AGE]:
        low = max(low, (entry >> LOW_AT & 7) - 2)
        high = min(high, (entry >> HIGH_AT & 7) - 2)
    return low, high


@kernel
def remember(solver, key, value, goal):
    slot = slot_of(solver, key)
    low, high = look_up(solver, key, -2, 2)
    if value >= goal:
        low = max(low, value)
    else:
        high = min(high, value)
    solver.table[slot] = (
        key | (low + 2) << LOW_AT | (high + 2) << HIGH_AT | (solver.facts[AGE] << AGE_AT)
    )


@kernel
def to_decision(solver, position, goal):
    num_players = solver.facts[NUM_PLAYERS]
    live = position & LIVE_BITS
    sevens = position >> SEVENS_AT & 63
    tricks = position >> TRICKS_AT & 63
    leader = position >> LEADER_AT & 7
    best = position >> BEST_AT & 31
    winner = position >> WINNER_AT & 7
    seat = position >> SEAT_AT & 7
    while True:
        if best == 0:
            if sevens >> leader & 1:
                tricks, value = count_tricks(solver, team_of(leader), tricks, solver.sevens[leader])
                if value != UNSOLVED:
                    return 0, 0, value
                sevens &= ~(1 << leader)
            own = solver.live[leader] & live
            if own == 0:
                if live == 0:
                    return 0, 0, exhausted(solver, sevens, tricks, leader)
                leader = left_of(leader, num_players)
                continue
            high = most(solver, 0, live, sevens, tricks)
            if high < goal:
                return 0, 0, high
            low = -most(solver, 1, live, sevens, tricks)
            if low >= goal:
                return 0, 0, low
            holder, count = sure_tricks(solver, live, sevens, leader)
            team = team_of(holder)
            _, value = count_tricks(solver, team, tricks, count)
            if value != UNSOLVED:
                # only a bound
                if team == 0:
                    low = max(low, value)
                else:
                    high = min(high, value)
            elif holder != leader and team != team_of(leader):
                if team == 0:
                    low = max(low, -1)
                else:
                    high = min(high, 1)
            key = packed(live, sevens, tricks, leader, 0, 0, 0)
            low, high = look_up(solver, key, low, high)
            if low >= goal:
                return 0, 0, low
            if high < goal:
                return 0, 0, high
            moves = first_of_runs(own, live & ~own)
            if without_lowest(moves):
                return key, moves, leader
            best = lowest_bit(moves) + 1
            live ^= moves
            winner = leader
            seat = left_of(leader, num_players)
        while seat != leader:
            above = live >> best << best
            stronger = solver.live[seat] & above
            if stronger:
                moves = first_of_runs(stronger, above & ~stronger)
                if without_lowest(moves):
                    position = packed(live, sevens, tricks, leader, best, winner, seat)
                    return position, moves, seat
                best = lowest_bit(moves) + 1
                live ^= moves
                winner = seat
            seat = left_of(seat, num_players)
        tricks, value = count_tricks(solver, team_of(winner), tricks, 1)
        if value != UNSOLVED:
            return 0, 0, value
        leader = winner
        best = 0


@kernel
def after(solver, position, seat, card):
    """Put the card of an index."""
    position = position & ((1 << BEST_AT) - 1) & ~(1 << card)
    if position >> BEST_AT & 31 == 0:
        pass
    next_seat = left_of(seat, solver.facts[NUM_PLAYERS])
    return position | (card + 1) << BEST_AT | seat << WINNER_AT | next_seat << SEAT_AT


@rare_kernel
def bound_of(solver, root, goal):
    depth = 0
    position = root
    while True:
        solver.facts[NODE_COUNT] += 1
        if solver.facts[NODE_COUNT] > solver.facts[NODE_LIMIT]:
            return UNSOLVED
        position, moves, value = to_decision(solver, position, goal)
        if moves:
            seat = value
            solver.positions[depth] = position
            solver.moves[depth] = moves
            solver.bounds[depth] = 3 if team_of(seat) else -3
            depth += 1
        else:
            while depth:
                top = depth - 1
                position = solver.positions[top]
                at_lead = position >> BEST_AT == 0
                seat = (position >> LEADER_AT if at_lead else position >> SEAT_AT) & 7
                team = team_of(seat)
                moves = solver.moves[top]
                if (value >= goal) == (team == 0):
                    moves = 0
                elif team == 0:
                    value = max(value, solver.bounds[top])
                else:
                    value = min(value, solver.bounds[top])
                if moves:
                    solver.bounds[top] = value
                    break
                if at_lead:
                    remember(solver, position, value, goal)
                depth = top
            if depth == 0:
                return value
        card = lowest_bit(moves)
        solver.moves[depth - 1] = without_lowest(moves)
        position = after(solver, position, seat, card)


@rare_kernel
def value_of(solver, position, guess):
    low = -2
    high = 2
    value = guess
    while low < high:
        goal = max(value, low + 1)
        goal = min(goal, high)
        value = bound_of(solver, position, goal)
        if value == UNSOLVED:
            return value
        if value >= goal:
            low = value
            value += 1
        else:
            high = value
    return low


@kernel
def read_world(state, solver):
    facts = solver.facts
    facts[NUM_PLAYERS] = state.num_players
    facts[IMMEDIATE] = state.king_of_clubs
    facts[KING] = -1
    for team in range(2):
        if holds_king(state, team):
            facts[KING] = team
    facts[NODE_COUNT] = 0
    facts[AGE] += 1
    if facts[AGE] >= AGES:
        facts[AGE] = 1
        solver.table[:] = 0
    live = 0
    sevens = 0
    for seat in range(state.num_players):
        own = state.live[seat]
        solver.live[seat] = own
        live |= own
        solver.sevens[seat] = popcount(state.hands[seat] & SEVENS)
        if solver.sevens[seat]:
            sevens |= 1 << seat
        while own:
            solver.holder[lowest_bit(own)] = seat
            own = without_lowest(own)
    is_follow = state.phase == FOLLOW
    return packed(
        live,
        sevens,
        state.tricks[0] | state.tricks[1] << 3,
        state.leader,
        state.best,
        state.best_seat if is_follow else 0,
        state.current_player if is_follow else 0,
    )


@rare_kernel
def solve(state: Row, mask: Mask, solver: Any, values: Any) -> bool:
    root = read_world(state, solver)
    seat = state.current_player
    sign = -1 if team_of(seat) else 1
    own = 0
    for strength in range(1, NUM_LIVE + 1):
        if mask[CARD_OF[strength]]:
            own |= strength_bit(strength)
    others = (root & LIVE_BITS & ~own) >> state.best << state.best
    moves = first_of_runs(own, others)
    value = 1
    for strength in range(1, NUM_LIVE + 1):
        if own & strength_bit(strength):
            if moves & strength_bit(strength):
                value = value_of(solver, after(solver, root, seat, strength - 1), value)
                if value == UNSOLVED:
                    return False
            values[CARD_OF[strength]] = sign * value
    is_asked = False
    for action in range(mask.shape[0]):
        if mask[action] and STRENGTH[action] == 0:
            is_asked = True
    if is_asked:
        value = value_of(solver, root, value)
        if value == UNSOLVED:
            return False
        for action in range(mask.shape[0]):
            if mask[action] and STRENGTH[action] == 0:
                values[action] = sign * value
    return True


@rare_kernel
def solve_deal(state: Row, solver: Any) -> int:
    root = read_world(state, solver)
    value: int = value_of(solver, root, 1)
    return value


def make_search(
    game: Game,
    seed: int | None = None,
    worlds: int | None = WORLDS,
    seconds: float | None = None,
    nodes: int = NODES,
) -> SearchAgent:
    return make_pimc(game, solve, new_solver(nodes), Budget(worlds, seconds), seed)
