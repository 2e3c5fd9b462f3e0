"""The search agent of Bräus: it solves whole deals with open cards, exactly.

With open cards partners know and want the same, so two players are left, the teams. A deal is worth
-2 to 2 strokes; the solver asks a few times whether it is worth at least so much (`bound_of`),
which cuts more than one search for the value would. In a match an action is worth the strokes of
this deal, as far as they still count: six win, a seventh is worth nothing.

Letters of shapes: A actions. Live cards are bits of a set, bit s - 1 for strength s. Inside the
solver values are strokes of team 0.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from agents.search.base import Budget, SearchAgent
from agents.search.pimc import make_pimc
from cardenvs.core.cards import each_card, without_lowest
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel, lowest_bit, popcount, rare_kernel
from cardenvs.core.rows import Ints, Mask
from cardenvs.core.seats import has_seat, left_of, seat_mask
from cardenvs.games.braus import (
    ALL_CARDS,
    CARD_OF,
    FOLLOW,
    LIVE,
    MAX_PLAYERS,
    NUM_LIVE,
    PASS,
    SEVENS,
    STRENGTH,
    STROKES_TO_WIN,
    TRICKS_TO_WIN,
    Row,
    holds_king,
    live_cards,
    strength_bit,
    team_of,
    up_to_highest,
)

#: The worlds for a decision, and the nodes after which a world is given up, unless told otherwise.
#: A whole deal takes 134 nodes on average; 4,010 were the most in 10,000 deals.
WORLDS = 100
NODES = 100_000

#: As the control `lowest` plays: sevens, then the weakest live card; pass last.
ORDER = (
    *each_card(SEVENS),
    *CARD_OF[1:].tolist(),
    *each_card(ALL_CARDS & ~(SEVENS | LIVE)),
    PASS,
)

#: In place of a value: there is none yet, or the limit of nodes was reached.
UNSOLVED = 99
MOST_STROKES = 2

# A position is one number, of these fields from the lowest bit up. Sevens are one bit a seat, since
# a player lays all or none; tricks are three bits a team. The last three are of the trick on the
# table; `best` is a strength, 0 on lead, and `seat` is the one to play.
_WIDTHS = {"live": NUM_LIVE, "sevens": MAX_PLAYERS, "tricks": 6, "leader": 3}
_WIDTHS |= {"best": 5, "winner": 3, "seat": 3}
SEVENS_AT, TRICKS_AT, LEADER_AT, BEST_AT, WINNER_AT, SEAT_AT, _ = accumulate(_WIDTHS.values())
LIVE_BITS = (1 << NUM_LIVE) - 1
TRICKS_BITS = 63
#: What tells apart the positions between two tricks of one deal.
KEY_BITS = (1 << BEST_AT) - 1

# An entry of the table is a key, the bounds that are known (each + MOST_STROKES), and its age: the
# number of the world. So the table need not be emptied for each world.
LOW_AT = BEST_AT
HIGH_AT = LOW_AT + 3
AGE_AT = HIGH_AT + 3
MAX_AGE = (1 << (62 - AGE_AT)) - 1
TABLE_BITS = 14
# Keys are scattered over the table by a product that stays within int64.
_SCATTER = 0x1F35D2A5
_SCATTER_SHIFT = 24

NUM_PLAYERS, KING_TEAM, IS_IMMEDIATE, NUM_NODES, MAX_NODES, AGE = range(6)


class Solver(NamedTuple):
    """What the solver works on; all int64."""

    facts: Ints  # [6]: the constants above name them
    live: Ints  # [seats]: the live cards of each hand in the position asked for
    sevens: Ints  # [seats]: how many sevens are in it
    holder: Ints  # [live cards]: whose a card is
    table: Ints  # [2**TABLE_BITS]: bounds on the values of positions between tricks
    positions: Ints  # [depth]: the decisions on the line that is looked at
    moves: Ints  # [depth]: the cards there that are still to be tried
    bounds: Ints  # [depth]: the best value of those that have been


def new_solver(nodes: int = NODES) -> Solver:
    """Return the arrays of a solver.

    Args:
        nodes: after so many a world is given up.

    Raises:
        ValueError: if `nodes` is below 1.
    """
    if nodes < 1:
        raise ValueError(f"a solver looks at one node or more, not {nodes}")
    facts = np.zeros(6, np.int64)
    facts[MAX_NODES] = nodes
    return Solver(
        facts=facts,
        live=np.zeros(MAX_PLAYERS, np.int64),
        sevens=np.zeros(MAX_PLAYERS, np.int64),
        holder=np.zeros(NUM_LIVE, np.int64),
        table=np.zeros(1 << TABLE_BITS, np.int64),
        positions=np.zeros(NUM_LIVE, np.int64),
        moves=np.zeros(NUM_LIVE, np.int64),
        bounds=np.zeros(NUM_LIVE, np.int64),
    )


# ----------------------------------------------------------------------------------------------
# Positions and sets of cards


@kernel
def packed(live: int, sevens: int, tricks: int, leader: int, best: int, winner: int) -> int:
    """A position at the turn of the leader."""
    table = leader << LEADER_AT | best << BEST_AT | winner << WINNER_AT | leader << SEAT_AT
    return live | sevens << SEVENS_AT | tricks << TRICKS_AT | table


@kernel
def leader_of(position: int) -> int:
    """Who leads, or has led, the trick."""
    return position >> LEADER_AT & 7


@kernel
def best_of(position: int) -> int:
    """The strength of the best card of the trick, 0 on lead."""
    return position >> BEST_AT & 31


@kernel
def seat_of(position: int) -> int:
    """Who is to play."""
    return position >> SEAT_AT & 7


@kernel
def at_seat(position: int, seat: int) -> int:
    """The position with another seat to play."""
    return position & ((1 << SEAT_AT) - 1) | seat << SEAT_AT


@kernel
def on_lead(position: int, leader: int) -> int:
    """The position with a seat on lead, and nothing on the table."""
    return position & ((1 << LEADER_AT) - 1) | leader << LEADER_AT | leader << SEAT_AT


@kernel
def tricks_of(tricks: int, team: int) -> int:
    """The tricks of a team."""
    return tricks >> (3 * team) & 7


@kernel
def first_of_runs(own: int, others: int) -> int:
    """The lowest card of each run in a hand: no card of another hand lies within a run.

    Cards of a run are worth the same. Adding carries a bit above each own card through the
    strengths that nobody holds to the next one that is held.
    """
    gaps = ~(own | others)
    above = own << 1
    reached = ((above & gaps) + gaps) & ~gaps | above
    return own & ~reached


# ----------------------------------------------------------------------------------------------
# Tricks and results


@kernel
def count_tricks(solver: Any, team: int, tricks: int, count: int) -> tuple[int, int]:
    """BZ-5.1 to BZ-5.3. The tricks after a team has won some more, and the value if that ends it.

    Returns:
        The tricks, and the value or UNSOLVED.
    """
    reached = tricks_of(tricks, team) + count
    strokes = 0
    if reached >= TRICKS_TO_WIN:
        strokes = 1 if tricks_of(tricks, 1 - team) else 2
    if reached >= TRICKS_TO_WIN - 1 and solver.facts[IS_IMMEDIATE]:
        strokes = 1 if solver.facts[KING_TEAM] == team else strokes
    if strokes:
        return tricks, -strokes if team else strokes
    return tricks + (count << (3 * team)), UNSOLVED


@kernel
def lay_sevens(solver: Any, position: int, seat: int) -> tuple[int, int]:
    """BZ-3.1. Lay all sevens of a seat; return the position, and the value if that ends it.

    To keep a seven is never better: whatever follows can be played with one trick more as well.
    """
    if not has_seat(position >> SEVENS_AT, seat):
        return position, UNSOLVED
    before = position >> TRICKS_AT & TRICKS_BITS
    after, value = count_tricks(solver, team_of(seat), before, solver.sevens[seat])
    position ^= seat_mask(seat) << SEVENS_AT
    return position ^ (before ^ after) << TRICKS_AT, value


@kernel
def take_trick(solver: Any, position: int) -> tuple[int, int]:
    """BZ-4. Give the trick to its winner; return the position, and the value if that ends it."""
    winner = position >> WINNER_AT & 7
    before = position >> TRICKS_AT & TRICKS_BITS
    after, value = count_tricks(solver, team_of(winner), before, 1)
    return on_lead(position ^ (before ^ after) << TRICKS_AT, winner), value


@kernel
def exhausted_value(solver: Any, position: int) -> int:
    """BZ-3.4, BZ-5.3, BZ-5.4. The value where no live card is left.

    The lead goes round once; whoever has passed it before holds no seven.
    """
    seat = leader_of(position)
    for _ in range(solver.facts[NUM_PLAYERS]):
        position, value = lay_sevens(solver, position, seat)
        if value != UNSOLVED:
            return value
        seat = left_of(seat, solver.facts[NUM_PLAYERS])
    king_team = solver.facts[KING_TEAM]
    if king_team < 0:
        return 0
    if tricks_of(position >> TRICKS_AT, king_team) < TRICKS_TO_WIN - 1:
        return 0
    return -1 if king_team else 1


# ----------------------------------------------------------------------------------------------
# Bounds on a value, for a leader with a live card and no sevens


@kernel
def most_strokes(solver: Any, position: int, team: int) -> int:
    """The most strokes that a team can win: each trick takes a seven or a live card of it."""
    own = 0
    tricks = position >> TRICKS_AT & TRICKS_BITS
    reach = tricks_of(tricks, team)
    for seat in range(team, solver.facts[NUM_PLAYERS], 2):
        own |= solver.live[seat]
        reach += solver.sevens[seat] if has_seat(position >> SEVENS_AT, seat) else 0
    reach += popcount(own & position & LIVE_BITS)
    has_king = solver.facts[KING_TEAM] == team
    if reach < (TRICKS_TO_WIN - 1 if has_king else TRICKS_TO_WIN):
        return 0
    is_king_alone = reach < TRICKS_TO_WIN or (has_king and solver.facts[IS_IMMEDIATE])
    return 1 if is_king_alone or tricks_of(tricks, 1 - team) else 2


@kernel
def holder_of_highest(solver: Any, live: int) -> int:
    """Who holds the highest card of a set that is not empty."""
    holder: int = solver.holder[popcount(up_to_highest(live)) - 1]
    return holder


@kernel
def run_of_tricks(solver: Any, position: int, seat: int, live: int) -> int:
    """How many tricks a seat wins in a row, once on lead, by what it holds above all others."""
    own = solver.live[seat] & live
    highest = own & ~up_to_highest(live & ~own)
    sevens = solver.sevens[seat] if has_seat(position >> SEVENS_AT, seat) else 0
    tricks: int = popcount(highest) + sevens
    return tricks


@kernel
def sure_tricks(solver: Any, position: int) -> tuple[int, int]:
    """Who holds the highest card, and how many tricks his team wins from now on in a row.

    He may take the first one, whoever leads. If he is on lead and a partner holds what is highest
    then, he can go on with a low card to him.
    """
    live = position & LIVE_BITS
    seat = holder_of_highest(solver, live)
    count = run_of_tricks(solver, position, seat, live)
    own = solver.live[seat] & live
    rest = live & ~(own & ~up_to_highest(live & ~own))
    if seat == leader_of(position) and own & rest and rest & ~own:
        next_holder = holder_of_highest(solver, rest)
        if team_of(next_holder) == team_of(seat):
            count += run_of_tricks(solver, position, next_holder, rest)
    return seat, count


@kernel
def bounds_between_tricks(solver: Any, position: int) -> tuple[int, int]:
    """The least and the most that a position can be worth, as far as a glance tells."""
    high = most_strokes(solver, position, 0)
    low = -most_strokes(solver, position, 1)
    seat, count = sure_tricks(solver, position)
    team = team_of(seat)
    tricks = position >> TRICKS_AT & TRICKS_BITS
    _, value = count_tricks(solver, team, tricks, count)
    if value == UNSOLVED:  # one sure trick of theirs still keeps the leader's team from winning 6-0
        is_theirs = team != team_of(leader_of(position))
        value = (-1 if team == 0 else 1) if is_theirs else UNSOLVED
    if value != UNSOLVED and team == 0:
        low = max(low, value)
    elif value != UNSOLVED:
        high = min(high, value)
    return low, high


# ----------------------------------------------------------------------------------------------
# The table of positions between tricks


@kernel
def slot_of(key: int) -> int:
    """The place of a key in the table."""
    return key * _SCATTER >> _SCATTER_SHIFT & ((1 << TABLE_BITS) - 1)


@kernel
def look_up(solver: Any, position: int, low: int, high: int) -> tuple[int, int]:
    """Narrow the bounds on a value by what the table knows."""
    key = position & KEY_BITS
    entry = solver.table[slot_of(key)]
    if entry & KEY_BITS == key and entry >> AGE_AT == solver.facts[AGE]:
        low = max(low, (entry >> LOW_AT & 7) - MOST_STROKES)
        high = min(high, (entry >> HIGH_AT & 7) - MOST_STROKES)
    return low, high


@kernel
def remember(solver: Any, position: int, value: int, goal: int) -> None:
    """Enter a value, which is a lower bound if it reaches the goal, else an upper one."""
    key = position & KEY_BITS
    low, high = look_up(solver, position, -MOST_STROKES, MOST_STROKES)
    if value >= goal:
        low = value
    else:
        high = value
    bounds = (low + MOST_STROKES) << LOW_AT | (high + MOST_STROKES) << HIGH_AT
    solver.table[slot_of(key)] = key | bounds | solver.facts[AGE] << AGE_AT


# ----------------------------------------------------------------------------------------------
# The search


@kernel
def put(solver: Any, position: int, seat: int, card: int) -> int:
    """BZ-3.2, BZ-4.1. The position after a seat has put a live card, given by its bit's place."""
    kept = position & KEY_BITS & ~(1 << card)
    next_seat = left_of(seat, solver.facts[NUM_PLAYERS])
    return kept | (card + 1) << BEST_AT | seat << WINNER_AT | next_seat << SEAT_AT


@kernel
def come_on_lead(solver: Any, position: int) -> tuple[int, int]:
    """BZ-3. Lay sevens and pass the lead until somebody has a card to lead.

    Returns:
        The position, and the value if that ends the deal.
    """
    if position & LIVE_BITS == 0:
        return position, exhausted_value(solver, position)
    seat = leader_of(position)
    position, value = lay_sevens(solver, position, seat)
    while value == UNSOLVED and solver.live[seat] & position & LIVE_BITS == 0:
        seat = left_of(seat, solver.facts[NUM_PLAYERS])
        position, value = lay_sevens(solver, position, seat)
    return on_lead(position, seat), value


@kernel
def follow(solver: Any, position: int) -> tuple[int, int]:
    """BZ-4.1. Pass until a seat can beat the best card; return the position, and what it may play.

    There is nothing to play where the trick is complete.
    """
    best = best_of(position)
    seat = seat_of(position)
    above = (position & LIVE_BITS) >> best << best
    while seat != leader_of(position):
        stronger = solver.live[seat] & above
        if stronger:
            return at_seat(position, seat), first_of_runs(stronger, above & ~stronger)
        seat = left_of(seat, solver.facts[NUM_PLAYERS])
    return position, 0


@kernel
def to_decision(solver: Any, position: int, goal: int) -> tuple[int, int, int]:
    """Play on to where a choice matters, or to where it is known whether the goal is reached.

    Returns:
        The position, the cards to choose from (none if it is known), and the value or UNSOLVED.
    """
    while True:
        if best_of(position) == 0:
            position, value = come_on_lead(solver, position)
            if value != UNSOLVED:
                return position, 0, value
            low, high = bounds_between_tricks(solver, position)
            low, high = look_up(solver, position, low, high)
            if low >= goal or high < goal:
                return position, 0, low if low >= goal else high
            own = solver.live[seat_of(position)] & position & LIVE_BITS
            moves = first_of_runs(own, position & LIVE_BITS & ~own)
        else:
            position, moves = follow(solver, position)
        if without_lowest(moves):
            return position, moves, UNSOLVED
        if moves:
            position = put(solver, position, seat_of(position), lowest_bit(moves))
        else:
            position, value = take_trick(solver, position)
            if value != UNSOLVED:
                return position, 0, value


@kernel
def back_up(solver: Any, depth: int, value: int, goal: int) -> tuple[int, int]:
    """Give a value to the decisions above, up to one where another card is still to be tried.

    Returns:
        How many decisions are left on the line, and the value if there are none.
    """
    while depth:
        last = depth - 1
        position = solver.positions[last]
        is_first_team = team_of(seat_of(position)) == 0
        is_settled = (value >= goal) == is_first_team
        if not is_settled:
            bound = solver.bounds[last]
            value = max(value, bound) if is_first_team else min(value, bound)
            if solver.moves[last]:
                solver.bounds[last] = value
                return depth, value
        if best_of(position) == 0:
            remember(solver, position, value, goal)
        depth = last
    return 0, value


@rare_kernel
def bound_of(solver: Any, root: int, goal: int) -> int:
    """Whether a position is worth at least the goal.

    Returns:
        A value from the goal up if it is, which is a lower bound; else one below, which is an upper
        bound; UNSOLVED where the limit of nodes was reached.
    """
    depth = 0
    position = root
    while solver.facts[NUM_NODES] < solver.facts[MAX_NODES]:
        solver.facts[NUM_NODES] += 1
        position, moves, value = to_decision(solver, position, goal)
        if moves:
            solver.positions[depth] = position
            solver.moves[depth] = moves
            solver.bounds[depth] = -UNSOLVED if team_of(seat_of(position)) == 0 else UNSOLVED
            depth += 1
        else:
            depth, value = back_up(solver, depth, value, goal)
            if depth == 0:
                return value
            position = solver.positions[depth - 1]
            moves = solver.moves[depth - 1]
        solver.moves[depth - 1] = without_lowest(moves)
        position = put(solver, position, seat_of(position), lowest_bit(moves))
    return UNSOLVED


@rare_kernel
def value_of(solver: Any, position: int, guess: int) -> int:
    """What a position is worth, by narrowing bounds from a guess; or UNSOLVED."""
    low, high = -MOST_STROKES, MOST_STROKES
    goal = guess
    while low < high:
        goal = min(max(goal, low + 1), high)
        value = bound_of(solver, position, goal)
        if value == UNSOLVED:
            return UNSOLVED
        if value >= goal:
            low, goal = value, value + 1
        else:
            high, goal = value, value
    return low


# ----------------------------------------------------------------------------------------------
# Worlds


@kernel
def begin_world(state: Row, solver: Any) -> int:
    """Tell the solver of a world, and return its position."""
    facts = solver.facts
    facts[NUM_PLAYERS] = state.num_players
    facts[IS_IMMEDIATE] = state.king_of_clubs
    facts[KING_TEAM] = -1
    for team in range(2):
        if holds_king(state, team):
            facts[KING_TEAM] = team
    facts[NUM_NODES] = 0
    facts[AGE] += 1
    if facts[AGE] > MAX_AGE:
        facts[AGE] = 1
        solver.table[:] = 0
    live, sevens = read_hands(state, solver)
    tricks = state.tricks[0] | state.tricks[1] << 3
    winner = state.best_seat if state.phase == FOLLOW else 0
    position = packed(live, sevens, tricks, state.leader, state.best, winner)
    return at_seat(position, state.current_player)


@kernel
def find_live_cards(state: Row) -> None:
    """Read off the hands which live cards are in them."""
    for seat in range(state.num_players):
        state.live[seat] = live_cards(state.hands[seat])


@kernel
def read_hands(state: Row, solver: Any) -> tuple[int, int]:
    """Tell the solver of the hands; return all live cards, and the seats that hold sevens."""
    live = 0
    sevens = 0
    for seat in range(state.num_players):
        own = state.live[seat]
        live |= own
        solver.live[seat] = own
        solver.sevens[seat] = popcount(state.hands[seat] & SEVENS)
        sevens |= seat_mask(seat) if solver.sevens[seat] else 0
        while own:
            solver.holder[lowest_bit(own)] = seat
            own = without_lowest(own)
    return live, sevens


@kernel
def points(state: Row, value: int) -> int:
    """BZ-5.5. A value as points of the seat on turn, without strokes that no match needs."""
    value = min(value, STROKES_TO_WIN - state.strokes[0])
    value = max(value, state.strokes[1] - STROKES_TO_WIN)
    return -value if team_of(state.current_player) else value


@rare_kernel
def solve(state: Row, mask: Mask, solver: Any, values: Any) -> bool:
    """Write what each action of a mask is worth with open cards; see `pimc.SolveKernel`."""
    position = begin_world(state, solver)
    seat = state.current_player
    own = 0
    for strength in range(1, NUM_LIVE + 1):
        own |= strength_bit(strength) if mask[CARD_OF[strength]] else 0
    others = (position & LIVE_BITS & ~own) >> state.best << state.best
    moves = first_of_runs(own, others)
    value = 1
    for strength in range(1, NUM_LIVE + 1):
        if own & strength_bit(strength):
            if moves & strength_bit(strength):
                value = value_of(solver, put(solver, position, seat, strength - 1), value)
                if value == UNSOLVED:
                    return False
            values[CARD_OF[strength]] = points(state, value)
    return solve_rest(state, mask, solver, values, position, value)


@kernel
def solve_rest(state: Row, mask: Mask, solver: Any, values: Any, position: int, guess: int) -> bool:
    """Write what a seven or a pass is worth: as much as the position.

    A pass is legal alone, and the best that one can do on lead is to lay a seven.
    """
    value = UNSOLVED
    for action in range(mask.shape[0]):
        if mask[action] and STRENGTH[action] == 0:
            if value == UNSOLVED:
                value = value_of(solver, position, guess)
                if value == UNSOLVED:
                    return False
            values[action] = points(state, value)
    return True


def make_search(
    game: Game,
    seed: int | None = None,
    worlds: int | None = None,
    seconds: float | None = None,
    nodes: int = NODES,
) -> SearchAgent:
    """Return the agent that plays the best action on average over sampled worlds.

    Of equals, and if no world was solved, it plays the weakest card.

    Args:
        game: the game with its options.
        seed: of the agent's generator; by default drawn from the system.
        worlds: how many it solves for one decision; by default `WORLDS`, or no limit where
            `seconds` is given.
        seconds: how long it thinks at most.
        nodes: after so many a world is given up, and counts for nothing.

    Raises:
        ValueError: if a limit or the seed is out of range.
    """
    budget = Budget.of(worlds, seconds, WORLDS)
    return make_pimc(game, solve, new_solver(nodes), budget, seed, ORDER)
