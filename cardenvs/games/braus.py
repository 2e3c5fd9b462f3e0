"""The rules of Bräus. Numbers such as BZ-3.1 are those of docs/games/braus.md."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from cardenvs.core.cards import (
    NO_CARD,
    Deck,
    card_mask,
    deal_evenly,
    each_card,
    lowest_card,
    without_lowest,
)
from cardenvs.core.kernel import bit_writer, kernel, lowest_bit, popcount
from cardenvs.core.layout import ActionLayout, ActionRange
from cardenvs.core.options import Option
from cardenvs.core.rng import random_below
from cardenvs.core.rows import (
    CardMask,
    CardSets,
    CoreRow,
    Ints,
    Mask,
    per_seat,
    per_team,
    row_dtype,
    scalar,
    seats,
)
from cardenvs.core.rows import seat as seat_field
from cardenvs.core.seats import (
    NO_SEAT,
    left_of,
    seat_mask,
)

TITLE = "Bräus"
DECK = Deck(ranks="6789TJQKA", suits="CDHS")
NUM_TEAMS = 2
MAX_PLAYERS = 6
NUM_RANKS = len(DECK.ranks)
NUM_CARDS = DECK.num_cards
ALL_CARDS = DECK.all_cards

#: BZ-1.3. The live cards, the weakest first; a card's strength is its place, from 1.
LIVE_CARDS = [
    *(f"6{suit}" for suit in "DHSC"),
    *(f"J{suit}" for suit in "DHS"),
    *(f"A{suit}" for suit in "DHSC"),
    *(f"9{suit}" for suit in "DHSC"),
    *("KH", "8S", "JC"),
]
NUM_LIVE = len(LIVE_CARDS)
LIVE = DECK.cards(" ".join(LIVE_CARDS))
NUM_SUITS = len(DECK.suits)
SEVEN = DECK.ranks.index("7")
SUIT = DECK.suit_cards(0)

#: BZ-1.4. Cards that win a trick when the player on lead lays them, and do nothing else.
SEVENS = DECK.cards("7C 7D 7H 7S")
#: BZ-1.6. A dud that can decide a deal that nobody has won.
KING_OF_CLUBS = DECK.cards("KC")

#: The strength of each card, 0 for those that are not live; at the end, that of a pass.
STRENGTH = np.zeros(NUM_CARDS + 1, np.int64)
for _place, _text in enumerate(LIVE_CARDS, start=1):
    STRENGTH[DECK.card(_text)] = _place
#: The live card of each strength, and the set that holds it; nothing for 0.
CARD_OF = np.array([NO_CARD] + [DECK.card(text) for text in LIVE_CARDS], np.int64)
SET_OF = np.array([0] + [DECK.cards(text) for text in LIVE_CARDS], np.int64)
#: For each strength, the set of the live cards above it.
STRONGER = np.array(
    [DECK.cards(" ".join(LIVE_CARDS[strength:])) for strength in range(NUM_LIVE + 1)], np.int64
)

#: For each suit, and each set of its cards, the live ones among them, a bit for each strength.
LIVE_OF = np.zeros((NUM_SUITS, 1 << NUM_RANKS), np.int64)
for _card in each_card(LIVE):
    _has_card = np.arange(1 << NUM_RANKS) >> DECK.rank(_card) & 1
    LIVE_OF[DECK.suit(_card)] |= _has_card << (STRENGTH[_card] - 1)

#: BZ-5.1. So many tricks win a deal; BZ-5.5. so many strokes win a match.
TRICKS_TO_WIN = 6
STROKES_TO_WIN = 6

PASS = NUM_CARDS
PASS_BIT = 1 << PASS

ACTIONS = ActionLayout(
    ActionRange("card", NUM_CARDS, "the card: a seven is laid, a live card led or played"),
    ActionRange("pass", 1, "`pass`: nothing stronger, or nothing to lead"),
)

OPTIONS = (
    Option("num_players", 4, (4, 6), "players at the table, in two teams"),
    Option("scope", "deal", ("deal", "match"), "what an episode is; a match goes to six strokes"),
    Option("sevens", "forced", ("forced", "optional"), "whether sevens may be kept (BZ-3.1)"),
    Option(
        "king_of_clubs",
        "exhaustion",
        ("exhaustion", "immediate"),
        "when the king of clubs counts as the sixth trick (BZ-5.3)",
    ),
)


class Phase(IntEnum):
    """What the seat asked does."""

    LEAD = 0
    FOLLOW = 1
    OVER = 2


LEAD = int(Phase.LEAD)
FOLLOW = int(Phase.FOLLOW)
OVER = int(Phase.OVER)


class Row(CoreRow):
    """A table of Bräus; team 0 are the even seats, team 1 the odd ones."""

    # options
    scope: int = scalar()
    sevens: int = scalar()
    king_of_clubs: int = scalar()
    # the match
    dealer: int = seat_field()
    games_played: int = scalar()  # finished deals of this episode
    strokes: Ints = per_team()
    last_result: Ints = per_team()  # strokes of the last finished deal
    # the deal
    phase: int = scalar()
    leader: int = seat_field()
    best: int = scalar()  # the strength of the best card of the trick, 0 on lead
    best_seat: int = seat_field()
    lead_passes: int = scalar()  # players in a row who had nothing to lead
    played: int = scalar()  # live cards, a bit for each strength
    laid: int = scalar()  # sevens, a bit for each suit
    out: int = scalar()  # cards that a fixed deal leaves out
    tricks: Ints = per_team()
    hands: CardSets = per_seat(MAX_PLAYERS)
    live: CardSets = per_seat(MAX_PLAYERS)  # the live cards of the hands, a bit for each strength
    trick: Ints = per_seat(MAX_PLAYERS)  # the strength of what each seat put into this trick
    caps: Ints = per_seat(MAX_PLAYERS)  # the strength of the best card that a seat can still hold
    no_seven: int = seats()  # who is known to hold no seven
    no_king: Ints = per_team()  # which team is known not to hold the king of clubs


STATE_DTYPE = row_dtype(Row)

write_actions = bit_writer(ACTIONS.size)


@kernel
def team_of(seat: int) -> int:
    """BZ-1.1. Seats sit alternately."""
    return seat % NUM_TEAMS


@kernel
def live_cards(cards: CardMask) -> int:
    """The live cards of a set, a bit for each strength."""
    live = 0
    for suit in range(NUM_SUITS):
        live |= LIVE_OF[suit, cards >> (suit * NUM_RANKS) & SUIT]
    return live


@kernel
def strength_bit(strength: int) -> int:
    """The bit of a strength in a set of live cards; nothing for 0."""
    return (1 << strength) >> 1


@kernel
def up_to_highest(live: int) -> int:
    """All strengths up to the highest in a set."""
    live |= live >> 1
    live |= live >> 2
    live |= live >> 4
    live |= live >> 8
    return live | live >> 16


# ----------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(state: Row) -> None:
    """BZ-2. Deal all cards, the same number to each player; forehand is on lead."""
    if state.deal_number == 0:
        state.dealer = random_below(state.rng, state.num_players)
    deal_evenly(state.hands, state.num_players, state.dealer, NUM_CARDS, state.rng)
    state.tricks[0] = 0
    state.tricks[1] = 0
    state.leader = left_of(state.dealer, state.num_players)


@kernel
def start(state: Row) -> None:
    """BZ-3, BZ-7. Begin play: hands, tricks, strokes, dealer and leader are set."""
    held = 0
    for seat in range(state.num_players):
        held |= state.hands[seat]
        state.live[seat] = live_cards(state.hands[seat])
        state.caps[seat] = NUM_LIVE
    state.out = ALL_CARDS & ~held
    state.played = 0
    state.laid = 0
    state.no_seven = 0
    state.lead_passes = 0
    for team in range(2):
        state.no_king[team] = 0
    state.phase = LEAD
    if state.king_of_clubs == 1:
        claim_king_from_the_start(state)
    if state.phase != OVER:
        begin_lead(state, state.leader)


@kernel
def claim_king_from_the_start(state: Row) -> None:
    """BZ-5.3, BZ-7. Where both teams begin with five tricks, the one that holds the king wins."""
    for team in range(2):
        if state.phase != OVER and holds_king(state, team):
            claim_king(state, team)
    for team in range(2):
        if state.phase != OVER:
            claim_king(state, team)


@kernel
def begin_lead(state: Row, seat: int) -> None:
    """BZ-3. A player comes on lead, lays the sevens, and is asked for a card."""
    clear_trick(state, seat)
    if state.sevens == 0:
        lay_all_sevens(state, seat)
    if state.phase != OVER:
        ask(state, LEAD, seat)


@kernel
def clear_trick(state: Row, leader: int) -> None:
    """Take the trick away; the next one is led by a seat."""
    state.leader = leader
    state.best = 0
    state.best_seat = NO_SEAT
    for seat in range(MAX_PLAYERS):
        state.trick[seat] = 0


@kernel
def lay_all_sevens(state: Row, seat: int) -> None:
    """BZ-3.1. Lay the sevens in ascending order, until the sixth trick.

    Where that is far, all at once, whatever their number: it cannot be predicted.
    """
    sevens = state.hands[seat] & SEVENS
    team = team_of(seat)
    if state.king_of_clubs == 0 and state.tricks[team] + popcount(sevens) < TRICKS_TO_WIN:
        state.hands[seat] &= ~sevens
        state.laid |= suits_of_sevens(sevens)
        state.tricks[team] += popcount(sevens)
        state.no_seven |= seat_mask(seat)
        return
    while state.hands[seat] & SEVENS and state.phase != OVER:
        lay(state, seat, lowest_card(state.hands[seat] & SEVENS))
    if state.phase != OVER:
        state.no_seven |= seat_mask(seat)


@kernel
def suits_of_sevens(sevens: CardMask) -> int:
    """The suits of a set of sevens."""
    suits = 0
    for suit in range(NUM_SUITS):
        suits |= (sevens >> (suit * NUM_RANKS + SEVEN) & 1) << suit
    return suits


@kernel
def ask(state: Row, phase: int, seat: int) -> None:
    """Put a question to a seat."""
    state.phase = phase
    state.current_player = seat


# ----------------------------------------------------------------------------------------------
# Legal actions


@kernel
def legal_actions(state: Row) -> int:
    """The set of legal actions of the seat asked; `pass` where there is nothing else."""
    hand: CardMask = state.hands[state.current_player]
    cards = hand & stronger_cards(state)
    if state.phase == LEAD:
        cards |= hand & SEVENS
    return cards if cards else PASS_BIT


@kernel
def stronger_cards(state: Row) -> int:
    """BZ-4.1. The live cards that beat the best one of the trick; on lead, all of them."""
    cards: CardMask = STRONGER[state.best]
    return cards


@kernel
def forced_action(state: Row) -> int:
    """The only legal action of the seat asked, or -1 if there are several."""
    legal = legal_actions(state)
    return lowest_bit(legal) if without_lowest(legal) == 0 else -1


@kernel
def write_action_mask(state: Row, mask: Mask) -> None:
    """Write the legal actions of the seat asked as 0 and 1, int8 [A]."""
    write_actions(mask, 0, legal_actions(state))


# ----------------------------------------------------------------------------------------------
# Actions


@kernel
def apply_action(state: Row, action: int) -> None:
    """Play a legal action of the seat asked."""
    seat = state.current_player
    if STRENGTH[action]:
        state.lead_passes = 0
        put(state, seat, action)
        ask_to_follow(state, left_of(seat, state.num_players))
    elif state.phase == FOLLOW:
        note_pass(state, seat)
        ask_to_follow(state, left_of(seat, state.num_players))
    elif action == PASS:
        pass_the_lead(state, seat)
    else:
        lay(state, seat, action)


@kernel
def put(state: Row, seat: int, card: int) -> None:
    """BZ-3.2, BZ-4.1. Put a live card into the trick; it is the best one now."""
    strength = STRENGTH[card]
    state.hands[seat] &= ~card_mask(card)
    state.live[seat] &= ~strength_bit(strength)
    state.trick[seat] = strength
    state.played |= strength_bit(strength)
    state.best = strength
    state.best_seat = seat


@kernel
def lay(state: Row, seat: int, card: int) -> None:
    """BZ-3.1. Lay a seven, which wins a trick."""
    state.hands[seat] &= ~card_mask(card)
    state.laid |= 1 << (card // NUM_RANKS)
    win_trick(state, team_of(seat))


@kernel
def note_pass(state: Row, seat: int) -> None:
    """BZ-6.3. Who passes holds nothing above the best card of the moment."""
    state.caps[seat] = min(state.caps[seat], state.best)


@kernel
def ask_to_follow(state: Row, seat: int) -> None:
    """BZ-4. Each other player follows once, clockwise; then the best card wins the trick.

    Where forced nodes are skipped, one who can only pass, or has one card to play, is not asked.
    """
    best = state.best
    winner = state.best_seat
    while seat != state.leader:
        stronger = state.live[seat] >> best << best
        if without_lowest(stronger) or not state.skip_forced:
            state.best = best
            state.best_seat = winner
            ask(state, FOLLOW, seat)
            return
        strength = follow_forced(state, seat, best, stronger)
        winner = seat if strength else winner
        best = max(best, strength)
        seat = left_of(seat, state.num_players)
    clear_trick(state, winner)
    win_trick(state, team_of(winner))
    if state.phase != OVER:
        begin_lead(state, winner)


@kernel
def follow_forced(state: Row, seat: int, best: int, stronger: int) -> int:
    """BZ-4.1, BZ-6.3. Play the one live card above the best one, or pass if there is none.

    Return its strength, 0 for a pass. Which of the two it is cannot be predicted, so there is no
    branch.
    """
    strength = lowest_bit(stronger | 1 << NUM_LIVE) + 1
    is_pass = strength > NUM_LIVE
    strength = 0 if is_pass else strength
    state.caps[seat] = min(state.caps[seat], best if is_pass else NUM_LIVE)
    state.hands[seat] &= ~SET_OF[strength]
    state.live[seat] &= ~stronger
    state.trick[seat] = strength
    state.played |= stronger
    return strength


@kernel
def pass_the_lead(state: Row, seat: int) -> None:
    """BZ-3.3, BZ-3.4. The lead goes to the left; when it has gone round, no live card is left."""
    state.caps[seat] = 0
    state.no_seven |= seat_mask(seat)
    state.lead_passes += 1
    state.leader = left_of(seat, state.num_players)
    if state.lead_passes == state.num_players:
        finish_exhausted(state)
    else:
        begin_lead(state, state.leader)


# ----------------------------------------------------------------------------------------------
# Score


@kernel
def win_trick(state: Row, team: int) -> None:
    """BZ-5.1, BZ-5.2. Count a trick; the sixth one wins, twice as much against none."""
    state.tricks[team] += 1
    if state.tricks[team] >= TRICKS_TO_WIN:
        finish(state, team, 2 if state.tricks[1 - team] == 0 else 1)
    else:
        claim_king(state, team)


@kernel
def claim_king(state: Row, team: int) -> None:
    """BZ-5.3. With `king_of_clubs='immediate'` the king wins for a team that has five tricks."""
    if state.king_of_clubs == 1 and state.tricks[team] == TRICKS_TO_WIN - 1:
        if holds_king(state, team):
            finish(state, team, 1)
        else:
            state.no_king[team] = 1


@kernel
def holds_king(state: Row, team: int) -> bool:
    """Whether a player of a team holds the king of clubs."""
    held = 0
    for seat in range(team, state.num_players, 2):
        held |= state.hands[seat]
    return held & KING_OF_CLUBS != 0


@kernel
def finish_exhausted(state: Row) -> None:
    """BZ-5.3, BZ-5.4. Nobody can lead: the king of clubs decides, or nobody scores."""
    for team in range(2):
        if state.tricks[team] == TRICKS_TO_WIN - 1 and holds_king(state, team):
            finish(state, team, 1)
            return
    finish(state, 0, 0)


@kernel
def finish(state: Row, team: int, strokes: int) -> None:
    """BZ-5. End the deal with so many strokes for a team."""
    state.last_result[team] = strokes
    state.last_result[1 - team] = 0
    state.strokes[team] += strokes
    state.games_played += 1
    state.phase = OVER
    state.current_player = NO_SEAT


@kernel
def is_terminal(state: Row) -> bool:
    """Whether the deal is over (a match may go on)."""
    return state.phase == OVER


@kernel
def goes_on(state: Row) -> bool:
    """BZ-5.5. Whether a match whose deal is over has another one."""
    return state.scope == 1 and max(state.strokes[0], state.strokes[1]) < STROKES_TO_WIN


@kernel
def pass_the_deal(state: Row) -> None:
    """BZ-5.4, BZ-5.5. After a scored deal the deal goes to the left, after another it stays."""
    if state.last_result[0] or state.last_result[1]:
        state.dealer = left_of(state.dealer, state.num_players)


@kernel
def write_returns(state: Row, returns: Ints) -> None:
    """BZ-5.6. Strokes of the deal, or 1 for the match; what one team wins the other loses."""
    won = 0
    if state.scope == 0:
        if state.phase == OVER:
            won = state.last_result[0] - state.last_result[1]
    elif state.strokes[0] >= STROKES_TO_WIN:
        won = 1
    elif state.strokes[1] >= STROKES_TO_WIN:
        won = -1
    for seat in range(state.num_players):
        returns[seat] = won if team_of(seat) == 0 else -won


def returns_scale(options: dict[str, Any]) -> int:
    """Return how many units of `write_returns` are one point."""
    return 1


def returns_bounds(options: dict[str, Any]) -> tuple[float, float]:
    """Return the lowest and the highest return of an episode."""
    best = 2.0 if options["scope"] == "deal" else 1.0
    return -best, best
