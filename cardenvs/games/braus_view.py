"""What a seat sees of Bräus, and the game as text. Rule numbers: docs/games/braus.md."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.cards import card_at, card_mask, has_card, lowest_card, without_lowest
from cardenvs.core.deals import DealReader
from cardenvs.core.errors import DealError
from cardenvs.core.kernel import (
    bit_reader,
    bit_writer,
    kernel,
    lowest_bit,
    popcount,
    read_number,
    write_entry,
    write_number,
)
from cardenvs.core.layout import flag, flags, number, one_hot, piece_index, piece_offsets
from cardenvs.core.rng import Stream, begin_randomness, random_below, random_fraction
from cardenvs.core.rows import CardMask, Observation
from cardenvs.core.seats import (
    NO_SEAT,
    all_seats,
    has_seat,
    read_seat,
    relative_seat,
    relative_seats,
    seat_mask,
    write_seats,
)
from cardenvs.games.braus import (
    ALL_CARDS,
    DECK,
    FOLLOW,
    KING_OF_CLUBS,
    LIVE,
    LIVE_CARDS,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_LIVE,
    NUM_RANKS,
    NUM_SUITS,
    OVER,
    PASS,
    SET_OF,
    SEVEN,
    SEVENS,
    STRENGTH,
    STROKES_TO_WIN,
    TRICKS_TO_WIN,
    Phase,
    Row,
    live_cards,
    strength_bit,
    team_of,
)

_CARDS = DECK.texts(ALL_CARDS)
SEEN_PHASES = ("lead", "follow", "over")
MAX_GAMES_SHOWN = 16383

OBSERVATION = (
    flags("hand", _CARDS, "own hand"),
    one_hot("best", LIVE_CARDS, "best card of the trick; none on lead"),
    flags("played", LIVE_CARDS, "live cards played in this deal"),
    flags("laid", DECK.suits, "suits of the sevens laid in this deal"),
    flags("out", _CARDS, "cards that a fixed deal leaves out"),
    one_hot("phase", SEEN_PHASES, "phase"),
    number("lead_passes", MAX_PLAYERS, "players in a row who had nothing to lead"),
    flags("no_king", ("own", "other"), "teams known not to hold the king of clubs"),
    number("own_tricks", TRICKS_TO_WIN, "tricks of the own team"),
    number("other_tricks", TRICKS_TO_WIN, "tricks of the other team"),
    number("own_strokes", STROKES_TO_WIN + 1, "strokes of the own team"),
    number("other_strokes", STROKES_TO_WIN + 1, "strokes of the other team"),
    number("own_last_result", 2, "strokes of the own team in the last finished deal"),
    number("other_last_result", 2, "strokes of the other team in the last finished deal"),
    number("games_played", MAX_GAMES_SHOWN, "finished deals of the episode"),
    flags("trick", LIVE_CARDS, "the card that this seat put into the trick", per_player=True),
    flags("may_hold", LIVE_CARDS, "live cards not above what its passes prove", per_player=True),
    flag("no_seven", "known to hold no seven", per_player=True),
    flag("asked", "is asked now", per_player=True),
    flag("leader", "on lead in this trick", per_player=True),
    flag("dealer", "dealt", per_player=True),
    number("hand_size", NUM_CARDS, "cards in this hand", per_player=True),
)

OFFSETS = piece_offsets(OBSERVATION, MAX_PLAYERS)

#: How many sevens the other seats may hold: for each number of sevens all ways to split them, in
#: three bits a seat, those among fewer seats first; and how many there are for so many players.
SPLITS = np.zeros((NUM_SUITS + 1, 70), np.int64)
NUM_SPLITS = np.zeros((MAX_PLAYERS + 1, NUM_SUITS + 1), np.int64)
for _counts in itertools.product(range(NUM_SUITS + 1), repeat=MAX_PLAYERS - 1):
    _sevens = sum(_counts)
    if _sevens <= NUM_SUITS:
        _seats = range(MAX_PLAYERS - 1, 0, -1)
        _split = sum(count << (3 * seat) for count, seat in zip(_counts, _seats, strict=True))
        SPLITS[_sevens, NUM_SPLITS[MAX_PLAYERS, _sevens]] = _split
        _last = max((seat for seat in _seats if _split >> (3 * seat) & 7), default=0)
        NUM_SPLITS[max(_last + 1, 2) :, _sevens] += 1

HAND = piece_index(OBSERVATION, "hand")
BEST = piece_index(OBSERVATION, "best")
PLAYED = piece_index(OBSERVATION, "played")
LAID = piece_index(OBSERVATION, "laid")
OUT = piece_index(OBSERVATION, "out")
PHASE = piece_index(OBSERVATION, "phase")
LEAD_PASSES = piece_index(OBSERVATION, "lead_passes")
NO_KING = piece_index(OBSERVATION, "no_king")
OWN_TRICKS = piece_index(OBSERVATION, "own_tricks")
OTHER_TRICKS = piece_index(OBSERVATION, "other_tricks")
OWN_STROKES = piece_index(OBSERVATION, "own_strokes")
OTHER_STROKES = piece_index(OBSERVATION, "other_strokes")
OWN_LAST_RESULT = piece_index(OBSERVATION, "own_last_result")
OTHER_LAST_RESULT = piece_index(OBSERVATION, "other_last_result")
GAMES_PLAYED = piece_index(OBSERVATION, "games_played")
TRICK = piece_index(OBSERVATION, "trick")
MAY_HOLD = piece_index(OBSERVATION, "may_hold")
NO_SEVEN = piece_index(OBSERVATION, "no_seven")
ASKED = piece_index(OBSERVATION, "asked")
LEADER = piece_index(OBSERVATION, "leader")
DEALER = piece_index(OBSERVATION, "dealer")
HAND_SIZE = piece_index(OBSERVATION, "hand_size")

write_deck, read_deck = bit_writer(NUM_CARDS), bit_reader(NUM_CARDS)
write_live, read_live = bit_writer(NUM_LIVE), bit_reader(NUM_LIVE)
write_suits, read_suits = bit_writer(NUM_SUITS), bit_reader(NUM_SUITS)
write_phases, read_phases = bit_writer(len(SEEN_PHASES)), bit_reader(len(SEEN_PHASES))

write_teams, read_teams = bit_writer(2), bit_reader(2)


# ----------------------------------------------------------------------------------------------
# Observations


@kernel
def write_observation(state: Row, seat: int, out: Observation) -> None:
    """BZ-6. Write what a seat sees, int8 [O]."""
    at = OFFSETS[state.num_players]
    write_deck(out, at[HAND], state.hands[seat])
    write_live(out, at[BEST], strength_bit(state.best))
    write_live(out, at[PLAYED], state.played)
    write_suits(out, at[LAID], state.laid)
    write_deck(out, at[OUT], state.out)
    write_phases(out, at[PHASE], 1 << state.phase)
    write_entry(out, at[LEAD_PASSES], state.lead_passes)
    write_number(out, at[GAMES_PLAYED], min(state.games_played, MAX_GAMES_SHOWN))
    write_teams_of(state, team_of(seat), out, at)
    write_players(state, seat, out, at)


@kernel
def write_teams_of(state: Row, own: int, out: Observation, at: Any) -> None:
    """Write the score, the own team first."""
    other = 1 - own
    write_teams(out, at[NO_KING], state.no_king[own] | state.no_king[other] << 1)
    write_entry(out, at[OWN_TRICKS], state.tricks[own])
    write_entry(out, at[OTHER_TRICKS], state.tricks[other])
    write_entry(out, at[OWN_STROKES], state.strokes[own])
    write_entry(out, at[OTHER_STROKES], state.strokes[other])
    write_entry(out, at[OWN_LAST_RESULT], state.last_result[own])
    write_entry(out, at[OTHER_LAST_RESULT], state.last_result[other])


@kernel
def write_players(state: Row, observer: int, out: Observation, at: Any) -> None:
    """Write what is known of each player, the observer first."""
    num_players = state.num_players
    for seat in range(num_players):
        place = relative_seat(seat, observer, num_players)
        write_live(out, at[TRICK] + place * NUM_LIVE, strength_bit(state.trick[seat]))
        write_live(out, at[MAY_HOLD] + place * NUM_LIVE, (1 << state.caps[seat]) - 1)
        write_entry(out, at[HAND_SIZE] + place, popcount(state.hands[seat]))
    no_seven = relative_seats(state.no_seven, observer, num_players)
    leader = seat_mask(relative_seat(state.leader, observer, num_players))
    dealer = seat_mask(relative_seat(state.dealer, observer, num_players))
    asked = 0
    if state.current_player != NO_SEAT:
        asked = seat_mask(relative_seat(state.current_player, observer, num_players))
    write_seats(out, at[NO_SEVEN], no_seven, num_players)
    write_seats(out, at[ASKED], asked, num_players)
    write_seats(out, at[LEADER], leader, num_players)
    write_seats(out, at[DEALER], dealer, num_players)


@kernel
def write_event(state: Row, action: int, seat: int, out: Observation) -> bool:
    """Write what a seat sees of an action before it is played: everything is public."""
    write_entry(out, 0, relative_seat(state.current_player, seat, state.num_players))
    write_number(out, 1, action + 1)
    return True


# ----------------------------------------------------------------------------------------------
# Worlds


@kernel
def sample_world(observation: Observation, rng: Stream, state: Row) -> None:
    """Fill a row, whose options are set, with a world that an observation allows.

    The observer is seat 0. All worlds that the passes, the sevens and the king of clubs leave
    possible are equally likely.
    """
    at = OFFSETS[state.num_players]
    read_table(observation, state, at)
    read_players(observation, state, at)
    place_unknown_cards(observation, rng, state, at)
    begin_randomness(state, rng)


@kernel
def read_table(observation: Observation, state: Row, at: Any) -> None:
    """Read the facts of the table."""
    state.best = strength_of(read_live(observation, at[BEST]))
    state.played = read_live(observation, at[PLAYED])
    state.laid = read_suits(observation, at[LAID])
    state.out = read_deck(observation, at[OUT])
    state.phase = lowest_bit(read_phases(observation, at[PHASE]))
    state.lead_passes = card_at(observation, at[LEAD_PASSES])
    state.games_played = read_number(observation, at[GAMES_PLAYED])
    state.deal_number = state.games_played
    no_king = read_teams(observation, at[NO_KING])
    state.no_king[0] = no_king & 1
    state.no_king[1] = no_king >> 1
    state.tricks[0] = card_at(observation, at[OWN_TRICKS])
    state.tricks[1] = card_at(observation, at[OTHER_TRICKS])
    state.strokes[0] = card_at(observation, at[OWN_STROKES])
    state.strokes[1] = card_at(observation, at[OTHER_STROKES])
    state.last_result[0] = card_at(observation, at[OWN_LAST_RESULT])
    state.last_result[1] = card_at(observation, at[OTHER_LAST_RESULT])


@kernel
def strength_of(live: int) -> int:
    """The strength of the one live card in a set, 0 if it is empty."""
    return lowest_bit(live) + 1 if live else 0


@kernel
def read_players(observation: Observation, state: Row, at: Any) -> None:
    """Read what is known of each player."""
    num_players = state.num_players
    state.no_seven = 0
    state.best_seat = NO_SEAT
    state.leader = read_seat(observation, at[LEADER], num_players)
    state.dealer = read_seat(observation, at[DEALER], num_players)
    for seat in range(num_players):
        state.hands[seat] = 0
        state.trick[seat] = strength_of(read_live(observation, at[TRICK] + seat * NUM_LIVE))
        state.caps[seat] = popcount(read_live(observation, at[MAY_HOLD] + seat * NUM_LIVE))
        if observation[at[NO_SEVEN] + seat]:
            state.no_seven |= seat_mask(seat)
        if state.best and state.trick[seat] == state.best:
            state.best_seat = seat
    state.hands[0] = read_deck(observation, at[HAND])
    state.current_player = read_seat(observation, at[ASKED], num_players)


@kernel
def place_unknown_cards(observation: Observation, rng: Stream, state: Row, at: Any) -> None:
    """Deal the cards that the observer has not seen to the other hands.

    `caps` lets each live card lie in fewer hands the stronger it is, so that live cards can be
    placed from the strongest down, each in any free place that is allowed to it: whatever has
    been chosen before, the number of choices is the same. The sevens and the king of clubs are
    barred from hands of their own, so how many of them go to which hand is drawn first, by the
    exact number of ways in which the rest can then be placed.
    """
    unknown = unknown_cards(state)
    sevens = unknown & SEVENS
    has_king = unknown & KING_OF_CLUBS != 0
    live = live_cards(unknown)
    rest = unknown & ~(SEVENS | KING_OF_CLUBS | LIVE)
    free = 0
    for seat in range(1, state.num_players):
        free |= card_at(observation, at[HAND_SIZE] + seat) << (8 * seat)
    chosen = choose_special(rng, state, free, popcount(sevens), has_king, live)
    free = place_special(rng, state, free, sevens, has_king, chosen)
    for strength in range(NUM_LIVE, 0, -1):
        if live & strength_bit(strength):
            seat = random_place(rng, free, seats_up_to(state, strength))
            state.hands[seat] |= SET_OF[strength]
            free -= 1 << (8 * seat)
    while rest:
        seat = random_place(rng, free, all_seats(state.num_players))
        state.hands[seat] |= card_mask(lowest_card(rest))
        free -= 1 << (8 * seat)
        rest = without_lowest(rest)
    for seat in range(state.num_players):
        state.live[seat] = live_cards(state.hands[seat])


@kernel
def unknown_cards(state: Row) -> int:
    """The cards that are in other hands than the observer's."""
    seen = state.out | state.hands[0]
    for suit in range(NUM_SUITS):
        if has_card(state.laid, suit):
            seen |= card_mask(suit * NUM_RANKS + SEVEN)
    for strength in range(1, NUM_LIVE + 1):
        if state.played & strength_bit(strength):
            seen |= SET_OF[strength]
    unknown: CardMask = ALL_CARDS & ~seen
    return unknown


@kernel
def free_places(free: int, seat: int) -> int:
    """How many cards a hand still lacks; `free` holds eight bits a seat."""
    return (free >> (8 * seat)) & 255


@kernel
def seats_up_to(state: Row, strength: int) -> int:
    """The seats that may hold a live card of a strength."""
    seats = 0
    for seat in range(1, state.num_players):
        if state.caps[seat] >= strength:
            seats |= seat_mask(seat)
    return seats


@kernel
def random_place(rng: Stream, free: int, seats: int) -> int:
    """A seat drawn by its free places, among some seats."""
    total = 0
    for seat in range(1, MAX_PLAYERS):
        if has_seat(seats, seat):
            total += free_places(free, seat)
    place = random_below(rng, total)
    for seat in range(1, MAX_PLAYERS):
        if has_seat(seats, seat):
            place -= free_places(free, seat)
            if place < 0:
                return seat
    return NO_SEAT


@kernel
def may_hold_king(state: Row, seat: int) -> bool:
    """Whether nothing known bars the king of clubs from a hand."""
    return bool(state.no_king[team_of(seat)] == 0)


@kernel
def choose_special(
    rng: Stream, state: Row, free: int, num_sevens: int, has_king: bool, live: int
) -> int:
    """Draw how many sevens each hand gets, and which gets the king, by the number of worlds.

    Returns:
        The sevens in three bits a seat, and the king's seat in the bits from 24 on.
    """
    total = 0.0
    target = 0.0
    for is_draw in range(2):
        target = random_fraction(rng) * total
        reached = 0.0
        for place in range(NUM_SPLITS[state.num_players, num_sevens]):
            split: int = SPLITS[num_sevens, place]
            if not may_split(state, split):
                continue
            for king in range(1, state.num_players if has_king else 2):
                if has_king and not may_hold_king(state, king):
                    continue
                reached += ways(state, free, split, king if has_king else 0, live)
                if is_draw and reached > target:
                    return split | (king if has_king else 0) << 24
        total = reached
    return -1


@kernel
def may_split(state: Row, split: int) -> bool:
    """Whether no hand that is known to hold no seven gets one."""
    for seat in range(1, state.num_players):
        if split >> (3 * seat) & 7 and has_seat(state.no_seven, seat):
            return False
    return True


@kernel
def ways(state: Row, free: int, split: int, king: int, live: int) -> float:
    """In how many ways (up to a constant) all cards can lie, given the sevens and the king."""
    count = 1.0
    sevens = 0
    for seat in range(1, state.num_players):
        places = free_places(free, seat)
        if seat == king:
            count *= places
            places -= 1
            free -= 1 << (8 * seat)
        for placed_here in range((split >> (3 * seat)) & 7):
            sevens += 1
            count *= places * sevens / (placed_here + 1)
            places -= 1
            if places < 0:
                return 0.0
            free -= 1 << (8 * seat)
    placed = 0
    for strength in range(NUM_LIVE, 0, -1):
        if live & strength_bit(strength):
            places = -placed
            for seat in range(1, state.num_players):
                if state.caps[seat] >= strength:
                    places += free_places(free, seat)
            if places <= 0:
                return 0.0
            count *= places
            placed += 1
    return count


@kernel
def place_special(
    rng: Stream, state: Row, free: int, sevens: int, has_king: bool, chosen: int
) -> int:
    """Put the sevens and the king where they were drawn; return the places that stay free."""
    if has_king:
        king = chosen >> 24
        state.hands[king] |= KING_OF_CLUBS
        free -= 1 << (8 * king)
    while sevens:
        drawn = random_below(rng, popcount(sevens))
        for seat in range(1, state.num_players):
            drawn -= (chosen >> (3 * seat)) & 7
            if drawn < 0:
                chosen -= 1 << (3 * seat)
                state.hands[seat] |= card_mask(lowest_card(sevens))
                free -= 1 << (8 * seat)
                break
        sevens = without_lowest(sevens)
    return free


# ----------------------------------------------------------------------------------------------
# Deals as data


def read_deal(deal: Any, row: Row) -> None:
    """BZ-7. Write a position to start from into a row whose options are set.

    Raises:
        DealError: saying what is wrong with it.
    """
    reader = DealReader(deal, DECK, int(row.num_players))
    reader.check_keys("dealer", "hands", "leader", "tricks", "strokes")
    hands = reader.hands()
    row.hands[: len(hands)] = hands
    row.dealer = reader.seat("dealer", 0)
    row.leader = reader.seat("leader", (int(row.dealer) + 1) % len(hands))
    row.tricks[:] = reader.numbers("tricks", 2, range(TRICKS_TO_WIN))
    row.strokes[:] = reader.numbers("strokes", 2, range(STROKES_TO_WIN))
    if row.scope == 0 and "strokes" in deal:
        raise DealError("'strokes' belongs to a match: it needs scope='match'")


def deal_text(row: Row) -> dict[str, Any]:
    """Return the start of a deal as data that `read_deal` takes."""
    deal: dict[str, Any] = {
        "dealer": row.dealer,
        "hands": [" ".join(DECK.texts(hand)) for hand in row.hands[: row.num_players]],
        "leader": row.leader,
        "tricks": list(row.tricks),
    }
    if row.scope == 1:
        deal["strokes"] = list(row.strokes)
    return deal


# ----------------------------------------------------------------------------------------------
# Words


def action_text(row: Row, action: int) -> str:
    """Return the words for an action id in the present phase."""
    if action == PASS:
        return "pass"
    if DECK.text(action)[0] == "7":
        return f"lay {DECK.text(action)}"
    return f"{'play' if row.phase == FOLLOW else 'lead'} {DECK.text(action)}"


def rule_text(row: Row) -> str:
    """Return the rule that says what is legal in the present phase."""
    return {
        Phase.LEAD: "rules BZ-3.1 to BZ-3.3 (lead a live card; lay sevens; else pass the lead)",
        Phase.FOLLOW: "rules BZ-4.1 and BZ-4.2 (a stronger card must be played; else pass)",
    }[Phase(row.phase)]


def hands(row: Row) -> list[set[str]]:
    """Return the cards in each seat's hand."""
    return [set(DECK.texts(hand)) for hand in row.hands[: row.num_players]]


def stock(row: Row) -> list[str]:
    """Return the stock, which this game does not have."""
    return []


def live_texts(live: int) -> list[str]:
    """Return the texts of a set of live cards, the weakest first."""
    return [text for place, text in enumerate(LIVE_CARDS) if live >> place & 1]


def public_facts(row: Row) -> dict[str, Any]:
    """BZ-6.1. Return what all know of the present deal, with absolute seats."""
    players = range(row.num_players)
    order = [(row.leader + place) % row.num_players for place in players]
    return {
        "phase": SEEN_PHASES[row.phase],
        "leader": row.leader,
        "best": LIVE_CARDS[row.best - 1] if row.best else None,
        "trick": [(LIVE_CARDS[row.trick[seat] - 1], seat) for seat in order if row.trick[seat]],
        "played": set(live_texts(row.played)),
        "out": set(DECK.texts(row.out)),
        "sevens": {f"7{suit}" for place, suit in enumerate(DECK.suits) if row.laid >> place & 1},
        "caps": [row.caps[seat] for seat in players],
        "no_seven": [bool(row.no_seven >> seat & 1) for seat in players],
        "no_king": [bool(proved) for proved in row.no_king],
        "hand_sizes": [row.hands[seat].bit_count() for seat in players],
        "tricks": list(row.tricks),
        "strokes": list(row.strokes),
        "lead_passes": row.lead_passes,
        "dealer": row.dealer,
        "games_played": row.games_played,
        "last_result": list(row.last_result),
    }


def render_text(row: Row, observer: int) -> str:
    """Return the table as text: as a seat sees it, or with open cards for NO_SEAT."""
    facts = public_facts(row)
    lines = [
        f"Bräus, deal {facts['games_played'] + (row.phase != OVER)}, {facts['phase']}, "
        f"tricks {facts['tricks'][0]}:{facts['tricks'][1]}, "
        f"strokes {facts['strokes'][0]}:{facts['strokes'][1]}",
        f"played: {' '.join(live_texts(row.played)) or '-'}; "
        f"sevens laid: {' '.join(sorted(facts['sevens'])) or '-'}",
    ]
    for seat in range(row.num_players):
        roles = [role for role in ("leader", "dealer") if facts[role] == seat]
        cards = DECK.texts(row.hands[seat])
        shown = cards if observer in (NO_SEAT, seat) else ["??"] * len(cards)
        cap = LIVE_CARDS[row.caps[seat] - 1] if row.caps[seat] else "no live card"
        proved = f" (at most {cap})" if row.caps[seat] < NUM_LIVE else ""
        lines.append(f"player {seat} [{', '.join(roles)}]: {' '.join(shown)}{proved}")
    if facts["trick"]:
        lines.append(
            "trick: " + ", ".join(f"{card} (player {seat})" for card, seat in facts["trick"])
        )
    return "\n".join(lines)


def action_features() -> npt.NDArray[np.float32]:
    """Return a row for each action, float32 [37, 15]: rank (9), suit (4), strength, pass."""
    features = np.zeros((PASS + 1, NUM_RANKS + NUM_SUITS + 2), np.float32)
    for card in range(NUM_CARDS):
        features[card, DECK.rank(card)] = 1.0
        features[card, NUM_RANKS + DECK.suit(card)] = 1.0
        features[card, -2] = STRENGTH[card] / NUM_LIVE
    features[PASS, -1] = 1.0
    return features
