"""What a seat sees of Kuhn poker, which is all that it has seen so far, and the game as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.cards import card_mask, lowest_card, without_lowest
from cardenvs.core.deals import DealReader
from cardenvs.core.errors import DealError
from cardenvs.core.kernel import bit_reader, bit_writer, kernel, write_entry, write_number
from cardenvs.core.layout import ObservationLayout, flag, flags
from cardenvs.core.rng import Stream, begin_randomness, random_below
from cardenvs.core.rows import Observation
from cardenvs.core.seats import NO_SEAT, relative_seat
from tests.toys.kuhn import (
    ALL_CARDS,
    BET,
    DECK,
    KING,
    MAX_TURNS,
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_PLAYERS,
    Row,
    num_turns,
)

_TURNS = ("turn 0", "turn 1", "turn 2")

OBSERVATION = (
    flag("acts_first", "the observer acts first"),
    flags("hand", DECK.texts(ALL_CARDS), "own card"),
    flags("passes", _TURNS, "turns at which the player on turn passed"),
    flags("bets", _TURNS, "turns at which the player on turn bet"),
)

_SLICES = ObservationLayout(OBSERVATION, NUM_PLAYERS).slices
ACTS_FIRST = _SLICES["acts_first"].start
HAND = _SLICES["hand"].start
PASSES = _SLICES["passes"].start
BETS = _SLICES["bets"].start

write_cards, read_cards = bit_writer(NUM_CARDS), bit_reader(NUM_CARDS)
write_turns, read_turns = bit_writer(MAX_TURNS), bit_reader(MAX_TURNS)

#: What the players can be dealt, as deals; all are equally likely.
DEALS = [
    {"hands": [one, other]}
    for one in DECK.texts(ALL_CARDS)
    for other in DECK.texts(ALL_CARDS)
    if one != other
]


@kernel
def write_observation(state: Row, seat: int, out: Observation) -> None:
    """Write what a seat sees, int8 [O]."""
    write_entry(out, ACTS_FIRST, 1 if seat == state.first else 0)
    write_cards(out, HAND, state.hands[seat])
    write_turns(out, PASSES, state.passes)
    write_turns(out, BETS, state.bets)


@kernel
def write_event(state: Row, action: int, seat: int, out: Observation) -> bool:
    """Write what a seat sees of an action before it is played: everything is public."""
    write_entry(out, 0, relative_seat(state.current_player, seat, state.num_players))
    write_number(out, 1, action + 1)
    return True


@kernel
def sample_world(observation: Observation, rng: Stream, state: Row) -> None:
    """Fill a row, whose options are set, with a world that an observation allows.

    The observer is seat 0. The other player holds one of the two other cards, each as likely;
    with walks no king, if that player acts second, or the deal would be over.
    """
    state.first = 0 if observation[ACTS_FIRST] else 1
    state.hands[0] = read_cards(observation, HAND)
    state.passes = read_turns(observation, PASSES)
    state.bets = read_turns(observation, BETS)
    state.current_player = (state.first + num_turns(state)) % NUM_PLAYERS
    unseen = ALL_CARDS & ~state.hands[0]
    if state.walks and state.first == 0:
        unseen &= ~card_mask(KING)
    has_choice = without_lowest(unseen) != 0
    if has_choice and random_below(rng, 2):
        unseen = without_lowest(unseen)
    state.hands[1] = card_mask(lowest_card(unseen))
    begin_randomness(state, rng)


def read_deal(deal: Any, row: Row) -> None:
    """Write a position to start from into a row whose options are set.

    Raises:
        DealError: saying what is wrong with it.
    """
    reader = DealReader(deal, DECK, int(row.num_players))
    reader.check_keys("hands", "first")
    hands = reader.hands()
    if any(hand.bit_count() != 1 for hand in hands):
        raise DealError("each hand is one card")
    row.hands[:] = hands
    row.first = reader.seat("first", 0)


def deal_text(row: Row) -> dict[str, Any]:
    """Return the start of a deal as data that `read_deal` takes."""
    return {"hands": [" ".join(DECK.texts(hand)) for hand in row.hands], "first": row.first}


def action_text(row: Row, action: int) -> str:
    """Return the words for an action id."""
    return "bet" if action == BET else "pass"


def rule_text(row: Row) -> str:
    """Return the rule that says what is legal."""
    return "the rule of Kuhn poker (pass or bet)"


def hands(row: Row) -> list[set[str]]:
    """Return the cards in each seat's hand."""
    return [set(DECK.texts(hand)) for hand in row.hands]


def stock(row: Row) -> list[str]:
    """Return the card that nobody holds."""
    return DECK.texts(ALL_CARDS & ~row.hands[0] & ~row.hands[1])


def public_facts(row: Row) -> dict[str, Any]:
    """Return what all know of the deal, with absolute seats."""
    count = (row.passes | row.bets).bit_count()
    return {
        "first": row.first,
        "play": ["bet" if row.bets >> turn & 1 else "pass" for turn in range(count)],
        "is_over": row.current_player == NO_SEAT,
    }


def render_text(row: Row, observer: int) -> str:
    """Return the table as text: as a seat sees it, or with open cards for NO_SEAT."""
    lines = [f"Kuhn poker: {' '.join(public_facts(row)['play']) or '-'}"]
    for seat, hand in enumerate(row.hands):
        role = "first" if seat == row.first else "second"
        shown = DECK.texts(hand) if observer in (NO_SEAT, seat) else ["??"]
        lines.append(f"player {seat} [{role}]: {' '.join(shown)}")
    return "\n".join(lines)


def action_features() -> npt.NDArray[np.float32]:
    """Return a row for each action, float32 [2, 2]: pass, bet."""
    return np.eye(NUM_ACTIONS, dtype=np.float32)
