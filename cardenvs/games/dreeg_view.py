"""What a seat sees of Dreeg, and the worlds that it holds possible. Rules: docs/games/dreeg.md.

Deals and tables as data and as text stand in `dreeg_words`.
"""

from __future__ import annotations

from cardenvs.core.cards import (
    NO_CARD,
    card_at,
    card_mask,
    has_card,
    shuffle_set,
)
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
from cardenvs.core.rng import Stream, begin_randomness
from cardenvs.core.rows import CardMask, Observation
from cardenvs.core.seats import (
    NO_SEAT,
    has_seat,
    relative_seat,
    relative_seats,
    seat_mask,
)
from cardenvs.core.worlds import hand_dealer
from cardenvs.games.dreeg_cards import (
    ALL_CARDS,
    DECK,
    NUM_CARDS,
    NUM_SUITS,
    beats,
    suit_cards,
)
from cardenvs.games.dreeg_play import prepare_lead
from cardenvs.games.dreeg_row import (
    BEFORE_DRAW,
    CONTINUE,
    DEUTSCH,
    MAX_PLAYERS,
    NUM_PHASES,
    RUFEN,
    START_STROKES,
    SUBGAMES,
    Row,
)
from cardenvs.games.dreeg_words import PLACELESS_FACTS as PLACELESS_FACTS
from cardenvs.games.dreeg_words import SEEN_NODES
from cardenvs.games.dreeg_words import action_features as action_features
from cardenvs.games.dreeg_words import action_text as action_text
from cardenvs.games.dreeg_words import deal_text as deal_text
from cardenvs.games.dreeg_words import hands as hands
from cardenvs.games.dreeg_words import public_facts as public_facts
from cardenvs.games.dreeg_words import read_deal as read_deal
from cardenvs.games.dreeg_words import render_text as render_text
from cardenvs.games.dreeg_words import rule_text as rule_text
from cardenvs.games.dreeg_words import shown_unasked as shown_unasked
from cardenvs.games.dreeg_words import stock as stock

_CARDS = DECK.texts(ALL_CARDS)
#: DR-1.6, DR-1.7. Six phases of 27 deals and two of ten at most.
MAX_DEALS = 182

#: Observations have room for four players, whatever their number, and for all sub-games.
SEATS_SHOWN = MAX_PLAYERS

OBSERVATION = (
    flags("hand", _CARDS, "own hand"),
    number("phase", NUM_PHASES, "phase of the match, from 0"),
    one_hot("subgame", SUBGAMES, "sub-game"),
    one_hot("node", SEEN_NODES, "what is asked"),
    one_hot("trump", DECK.suits, "trump suit"),
    one_hot("turned", _CARDS, "card turned up in Deutsch; with two players the indicator"),
    one_hot("called", _CARDS, "card called in Rufen"),
    one_hot("led", _CARDS, "card led to this trick"),
    one_hot("last_led", DECK.suits, "suit led to this or the last trick, in Kamerun"),
    flags("played", _CARDS, "cards played in this deal"),
    flags("out", _CARDS, "cards that a fixed deal leaves out"),
    number("deals_played", MAX_DEALS, "finished deals of the episode"),
    number("undealt", NUM_CARDS, "cards that each hand gets after the call"),
    number("talon_size", NUM_CARDS, "cards in the talon, undealt ones included"),
    flag("is_face_up", "the talon lies open"),
    one_hot("talon_top", _CARDS, "the top card of an open talon"),
    one_hot("talon_bottom", _CARDS, "the last card of the talon, if it is known"),
    one_hot("unseen", _CARDS, "last card of the talon, just drawn; to the one on lead"),
    flag("is_partner_public", "all know who is the partner in Rufen"),
    flags("known", _CARDS, "cards that all know to be in this hand", per_player=True),
    flags("barred", _CARDS, "cards that this hand is proved to lack", per_player=True),
    flags("trick", _CARDS, "the card that this seat has put into the trick", per_player=True),
    flag("active", "plays this deal", per_player=True),
    flag("asked", "is asked now", per_player=True),
    flag("leader", "leads, or has led to this trick", per_player=True),
    flag("dealer", "dealt", per_player=True),
    flag("team", "soloist, caller or, as far as the observer knows, partner", per_player=True),
    flag("durchmarsch", "has announced to win all tricks", per_player=True),
    flag("closer", "has closed the talon", per_player=True),
    flag("last_winner", "has won the last trick", per_player=True),
    flag("claimant", "is yet to be asked whether to go out", per_player=True),
    number("hand_size", NUM_CARDS, "cards in this hand", per_player=True),
    number("points", 120, "card points in own tricks", per_player=True),
    number("declared", 100, "points for marriages", per_player=True),
    number("tricks", NUM_CARDS, "tricks won", per_player=True),
    number("strokes", START_STROKES, "strokes left in this phase", per_player=True),
    number("blobs", 8, "phases lost", per_player=True),
    number("last_award", 3, "award of the last finished deal", per_player=True),
    number("closed_points", 220, "points when the talon was closed", per_player=True),
    number("closed_tricks", NUM_CARDS, "tricks when the talon was closed", per_player=True),
)

_OFFSETS = piece_offsets(OBSERVATION, MAX_PLAYERS)[MAX_PLAYERS]


def _at(name: str) -> int:
    return int(_OFFSETS[piece_index(OBSERVATION, name)])


HAND = _at("hand")
PHASE = _at("phase")
SUBGAME = _at("subgame")
NODE = _at("node")
TRUMP_SUIT = _at("trump")
TURNED = _at("turned")
CALLED = _at("called")
LED = _at("led")
LAST_LED = _at("last_led")
PLAYED = _at("played")
LEFT_OUT = _at("out")
DEALS_PLAYED = _at("deals_played")
UNDEALT = _at("undealt")
TALON_SIZE = _at("talon_size")
IS_FACE_UP = _at("is_face_up")
TALON_TOP = _at("talon_top")
TALON_BOTTOM = _at("talon_bottom")
UNSEEN = _at("unseen")
IS_PARTNER_PUBLIC = _at("is_partner_public")
KNOWN = _at("known")
BARRED = _at("barred")
TRICK = _at("trick")
ACTIVE = _at("active")
ASKED = _at("asked")
LEADER = _at("leader")
DEALT = _at("dealer")
TEAM = _at("team")
ANNOUNCER = _at("durchmarsch")
CLOSER = _at("closer")
LAST_WINNER = _at("last_winner")
CLAIMANT = _at("claimant")
HAND_SIZE = _at("hand_size")
POINTS_WON = _at("points")
DECLARED = _at("declared")
TRICKS = _at("tricks")
STROKES = _at("strokes")
BLOBS = _at("blobs")
LAST_AWARD = _at("last_award")
CLOSED_POINTS = _at("closed_points")
CLOSED_TRICKS = _at("closed_tricks")

write_deck, read_deck = bit_writer(NUM_CARDS), bit_reader(NUM_CARDS)
write_suits, read_suits = bit_writer(NUM_SUITS), bit_reader(NUM_SUITS)
write_nodes, read_nodes = bit_writer(len(SEEN_NODES)), bit_reader(len(SEEN_NODES))
write_flags, read_flags = bit_writer(MAX_PLAYERS), bit_reader(MAX_PLAYERS)


@kernel
def one(index: int) -> int:
    """The set that holds one thing; nothing for -1."""
    return 1 << index if index >= 0 else 0


@kernel
def the_one(things: int) -> int:
    """The one thing in a set, -1 if there is none."""
    return lowest_bit(things) if things else -1


# ----------------------------------------------------------------------------------------------
# Observations


@kernel
def is_draw_unseen(state: Row, seat: int) -> bool:
    """DR-9.5. Whether a seat has not yet seen that the last two cards of Deutsch were drawn."""
    return state.unseen != NO_CARD and seat != state.leader


@kernel
def is_draw_secret(state: Row) -> bool:
    """DR-9.5. Whether it would betray the nine of trumps that somebody is asked before the draw."""
    return state.node == BEFORE_DRAW and state.game == DEUTSCH and state.stock_size == 2


@kernel
def write_observation(state: Row, seat: int, out: Observation) -> None:
    """DR-9. Write what a seat sees, int8 [O]."""
    indicator = one(state.unseen) if is_draw_unseen(state, seat) else 0
    write_deck(out, HAND, state.hands[seat] & ~indicator)
    write_entry(out, PHASE, state.phase)
    write_suits(out, SUBGAME, 1 << state.game)
    write_nodes(out, NODE, 1 << seen_node(state, seat))
    write_suits(out, TRUMP_SUIT, one(state.trump))
    write_deck(out, TURNED, one(state.turned))
    write_deck(out, CALLED, one(state.called))
    write_deck(out, LED, one(state.led))
    write_suits(out, LAST_LED, one(state.last_led))
    write_deck(out, PLAYED, state.played)
    write_deck(out, LEFT_OUT, state.out)
    write_number(out, DEALS_PLAYED, state.deals_played)
    write_entry(out, UNDEALT, state.undealt)
    write_talon(state, seat, out)
    write_entry(out, IS_PARTNER_PUBLIC, state.is_partner_public)
    write_cards_of_players(state, seat, indicator, out)
    write_roles(state, seat, out)
    write_numbers(state, seat, out)


@kernel
def seen_node(state: Row, seat: int) -> int:
    """DR-9.5. The node as a seat sees it."""
    node: int = state.node
    return BEFORE_DRAW if is_draw_unseen(state, seat) else node


@kernel
def write_talon(state: Row, seat: int, out: Observation) -> None:
    """Write the talon, as it was before a draw that the seat has not seen."""
    is_unseen = is_draw_unseen(state, seat)
    top = 0
    if state.is_face_up and state.stock_size:
        top = card_mask(card_at(state.stock, state.stock_size - 1))
    bottom = state.unseen if is_unseen else state.known_bottom
    write_entry(out, TALON_SIZE, state.stock_size + (2 if is_unseen else 0))
    write_entry(out, IS_FACE_UP, state.is_face_up)
    write_deck(out, TALON_TOP, top)
    write_deck(out, TALON_BOTTOM, one(bottom))
    write_deck(out, UNSEEN, one(state.unseen) if seat == state.leader else 0)


@kernel
def write_cards_of_players(state: Row, observer: int, unseen: CardMask, out: Observation) -> None:
    """Write the cards known of each player and played by each, the observer first."""
    num_players = state.num_players
    for place in range(MAX_PLAYERS):
        seat = (observer + place) % num_players
        is_there = place < num_players
        at = place * NUM_CARDS
        write_deck(out, KNOWN + at, state.known[seat] & ~unseen if is_there else 0)
        write_deck(out, BARRED + at, state.barred[seat] if is_there else 0)
        write_deck(out, TRICK + at, one(state.trick[seat]) if is_there else 0)


@kernel
def place_of(state: Row, seat: int, observer: int) -> int:
    """The place of a seat, as a set; nothing for NO_SEAT."""
    return 1 << relative_seat(seat, observer, state.num_players) if seat != NO_SEAT else 0


@kernel
def write_roles(state: Row, observer: int, out: Observation) -> None:
    """Write who is what, the observer first."""
    num_players = state.num_players
    team = relative_seats(seen_team(state, observer), observer, num_players)
    write_flags(out, ACTIVE, relative_seats(state.active, observer, num_players))
    write_flags(out, ASKED, place_of(state, state.current_player, observer))
    write_flags(out, LEADER, place_of(state, state.leader, observer))
    write_flags(out, DEALT, place_of(state, state.dealer, observer))
    write_flags(out, TEAM, team)
    write_flags(out, ANNOUNCER, place_of(state, state.durchmarsch, observer))
    write_flags(out, CLOSER, place_of(state, state.closer, observer))
    write_flags(out, LAST_WINNER, place_of(state, state.last_winner, observer))
    write_flags(out, CLAIMANT, relative_seats(state.claimants, observer, num_players))


@kernel
def seen_team(state: Row, observer: int) -> int:
    """DR-9.4. The team as far as a seat knows it: the partner of a caller knows himself."""
    if state.game == RUFEN and state.team != 0 and state.is_partner_public == 0:
        return seat_mask(state.leader) | state.team & seat_mask(observer)
    team: int = state.team
    return team


@kernel
def write_numbers(state: Row, observer: int, out: Observation) -> None:
    """Write the numbers of each player, the observer first."""
    num_players = state.num_players
    unseen = 1 if is_draw_unseen(state, observer) else 0
    for place in range(MAX_PLAYERS):
        seat = (observer + place) % num_players
        is_there = 1 if place < num_players else 0
        is_active = 1 if has_seat(state.active, seat) else 0
        size = popcount(state.hands[seat]) - unseen * is_active
        write_entry(out, HAND_SIZE + place, size * is_there)
        write_entry(out, POINTS_WON + place, state.points[seat] * is_there)
        write_entry(out, DECLARED + place, state.declared[seat] * is_there)
        write_entry(out, TRICKS + place, state.tricks[seat] * is_there)
        write_entry(out, STROKES + place, state.strokes[seat] * is_there)
        write_entry(out, BLOBS + place, state.blobs[seat] * is_there)
        write_entry(out, LAST_AWARD + place, state.awards[seat] * is_there)
        write_number(out, CLOSED_POINTS + 2 * place, state.closed_points[seat] * is_there)
        write_entry(out, CLOSED_TRICKS + place, state.closed_tricks[seat] * is_there)


@kernel
def write_event(state: Row, action: int, seat: int, out: Observation) -> bool:
    """Write what a seat sees of an action before it is played; return False if it sees nothing."""
    actor = state.current_player
    if action == CONTINUE and is_draw_secret(state) and seat != actor:
        return False
    write_entry(out, 0, relative_seat(actor, seat, state.num_players))
    write_number(out, 1, action + 1)
    return True


# ----------------------------------------------------------------------------------------------
# Worlds


@kernel
def read_deal_facts(observation: Observation, state: Row) -> None:
    """Read the facts of the match and the deal."""
    state.phase = card_at(observation, PHASE)
    state.first_phase = state.phase
    state.game = the_one(read_suits(observation, SUBGAME))
    state.node = the_one(read_nodes(observation, NODE))
    state.trump = the_one(read_suits(observation, TRUMP_SUIT))
    state.turned = the_one(read_deck(observation, TURNED))
    state.called = the_one(read_deck(observation, CALLED))
    state.led = the_one(read_deck(observation, LED))
    state.last_led = the_one(read_suits(observation, LAST_LED))
    state.played = read_deck(observation, PLAYED)
    state.out = read_deck(observation, LEFT_OUT)
    state.deals_played = read_number(observation, DEALS_PLAYED)
    state.deal_number = state.deals_played
    state.undealt = card_at(observation, UNDEALT)
    state.stock_size = card_at(observation, TALON_SIZE)
    state.is_face_up = card_at(observation, IS_FACE_UP)
    state.known_bottom = the_one(read_deck(observation, TALON_BOTTOM))
    state.unseen = the_one(read_deck(observation, UNSEEN))
    state.is_partner_public = card_at(observation, IS_PARTNER_PUBLIC)
    state.active = read_flags(observation, ACTIVE)
    state.current_player = the_one(read_flags(observation, ASKED))
    state.leader = the_one(read_flags(observation, LEADER))
    state.dealer = the_one(read_flags(observation, DEALT))
    state.team = read_flags(observation, TEAM)
    state.durchmarsch = the_one(read_flags(observation, ANNOUNCER))
    state.closer = the_one(read_flags(observation, CLOSER))
    state.last_winner = the_one(read_flags(observation, LAST_WINNER))
    state.claimants = read_flags(observation, CLAIMANT)
    state.next_dealer = NO_SEAT
    state.is_scope_over = 0


@kernel
def read_players(observation: Observation, state: Row) -> None:
    """Read what is known of each player; hands hold the known cards only, as yet."""
    for seat in range(MAX_PLAYERS):
        state.known[seat] = read_deck(observation, KNOWN + seat * NUM_CARDS)
        state.hands[seat] = state.known[seat]
        state.barred[seat] = read_deck(observation, BARRED + seat * NUM_CARDS)
        state.trick[seat] = the_one(read_deck(observation, TRICK + seat * NUM_CARDS))
        state.points[seat] = card_at(observation, POINTS_WON + seat)
        state.declared[seat] = card_at(observation, DECLARED + seat)
        state.tricks[seat] = card_at(observation, TRICKS + seat)
        state.strokes[seat] = card_at(observation, STROKES + seat)
        state.blobs[seat] = card_at(observation, BLOBS + seat)
        state.first_strokes[seat] = state.strokes[seat]
        state.first_blobs[seat] = state.blobs[seat]
        state.awards[seat] = card_at(observation, LAST_AWARD + seat)
        state.closed_points[seat] = read_number(observation, CLOSED_POINTS + 2 * seat)
        state.closed_tricks[seat] = card_at(observation, CLOSED_TRICKS + seat)
    state.hands[0] = read_deck(observation, HAND)
    state.best = NO_CARD
    state.best_seat = NO_SEAT
    if state.led != NO_CARD:
        state.best = state.led
        state.best_seat = state.leader
        for seat in range(MAX_PLAYERS):
            card = state.trick[seat]
            if card != NO_CARD and beats(card, state.best, state.trump):
                state.best = card
                state.best_seat = seat


@kernel
def barred_cards(state: Row, seat: int) -> int:
    """DR-9.7. The cards that a hand, apart from its known cards, is proved not to hold."""
    barred: CardMask = state.barred[seat]
    return barred


@kernel
def free_places(observation: Observation, state: Row, at: int, seat: int) -> int:
    """How many cards a hand still lacks."""
    return card_at(observation, HAND_SIZE + seat) - popcount(state.hands[seat])


deal_proved_hands = hand_dealer(barred_cards, free_places)


@kernel
def place_unknown_cards(observation: Observation, rng: Stream, state: Row) -> None:
    """Deal the cards that the observer has not seen to the other hands and the talon."""
    top = read_deck(observation, TALON_TOP)
    bottom = one(state.known_bottom)
    unknown = ALL_CARDS & ~(state.played | state.out | top | bottom | state.hands[0])
    for seat in range(1, state.num_players):
        unknown &= ~state.known[seat]
    fixed = popcount(top | bottom)
    left = deal_proved_hands(observation, rng, state, 0, unknown, state.stock_size > fixed)
    count = shuffle_set(state.stock, left, rng)
    for seat in range(1, state.num_players):
        for _ in range(free_places(observation, state, 0, seat)):
            count -= 1
            state.hands[seat] |= card_mask(card_at(state.stock, count))
    if bottom:
        for place in range(state.stock_size - 1, 0, -1):
            state.stock[place] = state.stock[place - 1]
        state.stock[0] = state.known_bottom
    if top:
        state.stock[state.stock_size - 1] = lowest_bit(top)


@kernel
def is_call_possible(state: Row) -> bool:
    """DR-6.2. Who called holds a card of the suit, as long as he has not led one."""
    is_before = state.game == RUFEN and state.called != NO_CARD and state.played == 0
    return not is_before or state.hands[state.leader] & suit_cards(state.trump) != 0


@kernel
def find_partner(state: Row) -> None:
    """DR-6.3. Whoever holds the card called is the partner."""
    if state.game == RUFEN and state.called != NO_CARD and state.is_partner_public == 0:
        for seat in range(state.num_players):
            if has_card(state.hands[seat], state.called):
                state.team |= seat_mask(seat)


@kernel
def sample_world(observation: Observation, rng: Stream, state: Row) -> None:
    """Fill a row, whose options are set, with a world that an observation allows.

    The observer is seat 0. All worlds that play, calls and known cards leave possible are equally
    likely.
    """
    read_deal_facts(observation, state)
    read_players(observation, state)
    place_unknown_cards(observation, rng, state)
    while not is_call_possible(state):
        place_unknown_cards(observation, rng, state)
    find_partner(state)
    if is_draw_secret(state) and state.leader != 0:
        prepare_lead(state)
    begin_randomness(state, rng)
