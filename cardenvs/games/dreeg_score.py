"""What a deal of Dreeg is worth: awards, strokes, blobs, and who deals next."""

from __future__ import annotations

from cardenvs.core.cards import NO_CARD
from cardenvs.core.kernel import kernel, lowest_bit, popcount, rare_kernel
from cardenvs.core.rng import random_below
from cardenvs.core.seats import (
    NO_SEAT,
    all_seats,
    has_seat,
    next_seat_in,
    right_of,
    seat_mask,
)
from cardenvs.games.dreeg_cards import NO_SUIT
from cardenvs.games.dreeg_row import (
    ELECT,
    KAMERUN,
    MAX_PLAYERS,
    NUM_PHASES,
    OVER,
    PHASE_GAMES,
    START_STROKES,
    Row,
    ask,
    clear_deal,
    clear_trick,
    points_of,
    side_of,
    tricks_of,
)

WIN = 66
HALF = 33


# ----------------------------------------------------------------------------------------------
# Awards


@rare_kernel
def award(state: Row, side: int, strokes: int) -> None:
    """Let every player of a side erase so many strokes, and nobody else."""
    for seat in range(MAX_PLAYERS):
        state.awards[seat] = strokes if has_seat(side, seat) else 0
    finish_deal(state)


@kernel
def strokes_against(points: int, tricks: int) -> int:
    """DR-3.5. What a win is worth, by what the others have."""
    if tricks == 0:
        return 3
    return 2 if points < HALF else 1


@rare_kernel
def award_win(state: Row, side: int) -> None:
    """DR-3.5. A side has won with 66 points."""
    others = state.active & ~side
    award(state, side, strokes_against(points_of(state, others), tricks_of(state, others)))


@rare_kernel
def award_against_closer(state: Row) -> None:
    """DR-8.8. The closer has failed: the other one erases by what there was at the closing."""
    strokes = 1
    for seat in range(MAX_PLAYERS):
        if has_seat(state.active, seat):
            found = strokes_against(state.closed_points[seat], state.closed_tricks[seat])
            strokes = max(strokes, found)
    award(state, state.active & ~seat_mask(state.closer), strokes)


@rare_kernel
def award_last_trick(state: Row) -> None:
    """DR-3.7, DR-8.7, DR-8.8. All is played and nobody has claimed."""
    last = side_of(state, state.last_winner)
    others = state.active & ~last
    has_last = points_of(state, last) >= WIN
    if state.closer != NO_SEAT:
        if has_last and has_seat(last, state.closer):
            award_win(state, last)
        else:
            award_against_closer(state)
        return
    has_others = points_of(state, others) >= WIN
    if has_last == has_others:
        award(state, last, 1)
    else:
        award_win(state, last if has_last else others)


@kernel
def rank_points(state: Row, seat: int) -> int:
    """DR-4.3, DR-7.6. Points for a ranking; the winner of the last trick has half a point more."""
    return 2 * points_of(state, seat_mask(seat)) + (1 if state.last_winner == seat else 0)


@rare_kernel
def award_most_points(state: Row) -> None:
    """DR-4.3, DR-4.4. Deutsch: as many strokes as there are players with fewer points."""
    for seat in range(MAX_PLAYERS):
        state.awards[seat] = 0
        if has_seat(state.active, seat):
            for other in range(MAX_PLAYERS):
                if has_seat(state.active, other):
                    is_lower = rank_points(state, other) < rank_points(state, seat)
                    state.awards[seat] += 1 if is_lower else 0
    finish_deal(state)


@rare_kernel
def award_kamerun(state: Row) -> None:
    """DR-7.5 to DR-7.8. Kamerun: the more points the more strokes; none without a trick."""
    num_players = popcount(state.active)
    winner = state.last_winner
    all_tricks = tricks_of(state, state.active)
    if state.tricks[winner] == all_tricks:
        award(state, seat_mask(winner), 3)
        return
    for seat in range(MAX_PLAYERS):
        state.awards[seat] = 0
        if has_seat(state.active, seat) and state.tricks[seat]:
            state.awards[seat] = num_players - 1
            for other in range(MAX_PLAYERS):
                if has_seat(state.active, other):
                    is_higher = rank_points(state, other) > rank_points(state, seat)
                    state.awards[seat] -= 1 if is_higher else 0
    finish_deal(state)


@rare_kernel
def award_durchmarsch(state: Row, is_won: bool) -> None:
    """DR-7.4. All others, or the one who has announced it, erase three."""
    announcer = seat_mask(state.durchmarsch)
    award(state, state.active & ~announcer if is_won else announcer, 3)


# ----------------------------------------------------------------------------------------------
# Strokes and blobs


@rare_kernel
def finish_deal(state: Row) -> None:
    """DR-1.5. Erase strokes; a player or the phase, or the whole, may be through."""
    state.deals_played += 1
    state.next_dealer = next_to_deal(state)
    losers = erase_kamerun(state) if state.game == KAMERUN else erase(state)
    if state.scope == 2:
        state.is_scope_over = 1
    if state.scope == 2 or losers == 0:
        ask(state, OVER, NO_SEAT)
        return
    for seat in range(MAX_PLAYERS):
        state.blobs[seat] += 1 if has_seat(losers, seat) else 0
    if state.scope == 1 or state.phase == NUM_PHASES - 1:
        state.is_scope_over = 1
        ask(state, OVER, NO_SEAT)
    else:
        begin_phase(state, losers)


@kernel
def next_to_deal(state: Row) -> int:
    """DR-1.11. The next of those who have played, to the left, or by the seed to the right."""
    if state.ruleset == 1:
        return next_seat_in(state.active, state.dealer)
    seat = right_of(state.dealer, state.num_players)
    while not has_seat(state.active, seat):
        seat = right_of(seat, state.num_players)
    return seat


@kernel
def erase(state: Row) -> int:
    """DR-1.5, DR-1.6. Erase what was won; return who has lost the phase, or nobody."""
    left = 0
    for seat in range(MAX_PLAYERS):
        state.strokes[seat] = max(0, state.strokes[seat] - state.awards[seat])
        left |= seat_mask(seat) if state.strokes[seat] else 0
    return left if popcount(left) == 1 else 0


@kernel
def erase_kamerun(state: Row) -> int:
    """DR-7.9. The highest awards first, until somebody has none left: he loses."""
    for strokes in range(3, 0, -1):
        losers = 0
        for seat in range(MAX_PLAYERS):
            if state.awards[seat] == strokes:
                state.strokes[seat] = max(0, state.strokes[seat] - strokes)
                losers |= seat_mask(seat) if state.strokes[seat] == 0 else 0
        if losers:
            return losers
    return 0


@rare_kernel
def begin_phase(state: Row, losers: int) -> None:
    """DR-1.5, DR-1.10. Seven strokes each; the loser elects the dealer, or his neighbour is it."""
    state.phase += 1
    state.game = PHASE_GAMES[state.phase]
    for seat in range(MAX_PLAYERS):
        state.strokes[seat] = START_STROKES if seat < state.num_players else 0
    loser = lowest_bit(losers)
    if popcount(losers) > 1:
        for _ in range(random_below(state.rng, popcount(losers))):
            loser = next_seat_in(losers, loser)
    if state.ruleset == 0:
        sweep(state)
        ask(state, ELECT, loser)
    else:
        state.next_dealer = right_of(loser, state.num_players)
        ask(state, OVER, NO_SEAT)


@kernel
def sweep(state: Row) -> None:
    """Between phases no cards are dealt, and all are there again."""
    clear_deal(state)
    clear_trick(state, state.dealer)
    state.active = all_seats(state.num_players)
    state.trump = NO_SUIT
    state.turned = NO_CARD
    state.stock_size = 0
    state.undealt = 0
    state.next_dealer = NO_SEAT
    for seat in range(MAX_PLAYERS):
        state.hands[seat] = 0
