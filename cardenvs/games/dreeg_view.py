"""What a seat sees of Dreeg, and the game as text. Rules: docs/games/dreeg.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.cards import (
    NO_CARD,
    card_at,
    card_mask,
    each_card,
    has_card,
    set_of,
    shuffle_set,
)
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
from cardenvs.core.rng import Stream, begin_randomness
from cardenvs.core.rows import CardMask, Observation
from cardenvs.core.seats import (
    NO_SEAT,
    has_seat,
    next_seat_in,
    relative_seat,
    relative_seats,
    seat_mask,
)
from cardenvs.core.worlds import hand_dealer
from cardenvs.games.dreeg_cards import (
    ACE_OF_HEARTS,
    ALL_CARDS,
    DECK,
    NO_SUIT,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    beats,
    suit_cards,
)
from cardenvs.games.dreeg_play import prepare_lead
from cardenvs.games.dreeg_row import (
    ACE_OF_HEARTS_GAME,
    ACTIONS,
    BEFORE_DRAW,
    CALL,
    CLOSE,
    CONTINUE,
    DEALER,
    DEUTSCH,
    DURCHMARSCH,
    ELECT,
    EXCHANGE_NINE,
    FOLLOW,
    KAMERUN,
    MARRY,
    MAX_PLAYERS,
    NUM_STAGES,
    OUT,
    PACKET,
    RUFEN,
    STAGE_GAMES,
    START_STROKES,
    SURRENDER,
    TRUMP,
    Node,
    Row,
)

_CARDS = DECK.texts(ALL_CARDS)
SUBGAMES = ("deutsch", "ace_of_hearts", "rufen", "kamerun")
#: What a seat sees of the node. Where it would betray the nine of trumps that a player is asked
#: before the draw (DR-9.5), others see `before_draw` until they see the draw, asked or not.
SEEN_NODES = ("elect", "call", "trump", "before_draw", "lead", "follow", "claim", "over")
MAX_DEALS = 16383

#: Public facts that name cards without saying where they are.
PLACELESS_FACTS = ("called", "lacks")

#: Observations have room for four players, whatever their number, and for all sub-games.
SEATS_SHOWN = MAX_PLAYERS

OBSERVATION = (
    flags("hand", _CARDS, "own hand"),
    number("stage", NUM_STAGES, "phase of the match, from 0"),
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
    number("strokes", 7, "strokes left in this phase", per_player=True),
    number("blobs", 8, "phases lost", per_player=True),
    number("last_award", 3, "award of the last finished deal", per_player=True),
    number("closed_points", 220, "points when the talon was closed", per_player=True),
    number("closed_tricks", NUM_CARDS, "tricks when the talon was closed", per_player=True),
)

_OFFSETS = piece_offsets(OBSERVATION, MAX_PLAYERS)[MAX_PLAYERS]


def _at(name: str) -> int:
    return int(_OFFSETS[piece_index(OBSERVATION, name)])


HAND = _at("hand")
STAGE = _at("stage")
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
    write_entry(out, STAGE, state.stage)
    write_suits(out, SUBGAME, 1 << state.game)
    write_nodes(out, NODE, 1 << seen_node(state, seat))
    write_suits(out, TRUMP_SUIT, one(state.trump))
    write_deck(out, TURNED, one(state.turned))
    write_deck(out, CALLED, one(state.called))
    write_deck(out, LED, one(state.led))
    write_suits(out, LAST_LED, one(state.last_led))
    write_deck(out, PLAYED, state.played)
    write_deck(out, LEFT_OUT, state.out)
    write_number(out, DEALS_PLAYED, min(state.deals_played, MAX_DEALS))
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
    state.stage = card_at(observation, STAGE)
    state.first_stage = state.stage
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
        for _ in range(popcount(state.active)):
            seat = next_seat_in(state.active, state.best_seat)
            for _ in range(popcount(state.active)):
                card = state.trick[seat]
                if card != NO_CARD and beats(card, state.best, state.trump):
                    state.best = card
                    state.best_seat = seat
                seat = next_seat_in(state.active, seat)


@kernel
def barred_by_play(state: Row, seat: int) -> int:
    """DR-9.7. The cards that a hand, apart from its known cards, is proved not to hold."""
    barred: CardMask = state.barred[seat]
    return barred


@kernel
def free_places(observation: Observation, state: Row, at: int, seat: int) -> int:
    """How many cards a hand still lacks."""
    return card_at(observation, HAND_SIZE + seat) - popcount(state.hands[seat])


deal_proved_hands = hand_dealer(barred_by_play, free_places)


@kernel
def place_unknown_cards(observation: Observation, rng: Stream, state: Row) -> None:
    """Deal the cards that the observer has not seen to the other hands and the talon."""
    top = read_deck(observation, TALON_TOP)
    bottom = one(state.known_bottom)
    unknown = ALL_CARDS & ~(state.played | state.out | top | bottom)
    for seat in range(state.num_players):
        unknown &= ~state.hands[seat]
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


# ----------------------------------------------------------------------------------------------
# Deals as data


def read_deal(deal: Any, row: Row) -> None:
    """DR-10. Write a position to start from into a row whose options are set.

    Raises:
        DealError: saying what is wrong with it.
    """
    num_players = int(row.num_players)
    reader = DealReader(deal, DECK, num_players)
    reader.check_keys(
        "subgame", "phase", "dealer", "leader", "hands", "talon", "trump", "strokes", "blobs"
    )
    hands, talon = reader.hand_lists(), reader.card_list("talon")
    active = [seat for seat, hand in enumerate(hands) if hand]
    _read_stage(reader, row)
    _check_hands(row, hands, talon, active)
    row.dealer = reader.seat("dealer", 0)
    order = [(int(row.dealer) + place) % num_players for place in range(1, num_players + 1)]
    order = [seat for seat in order if hands[seat]]
    row.leader = reader.seat("leader", order[0])
    if int(row.leader) not in active:
        raise DealError(f"the leader, seat {row.leader}, holds no card")
    strokes = [START_STROKES if hand else 0 for hand in hands]
    if "strokes" in deal:
        strokes = reader.numbers("strokes", num_players, range(START_STROKES + 1))
    for seat, hand in enumerate(hands):
        if (strokes[seat] > 0) != bool(hand):
            raise DealError(f"seat {seat} has {strokes[seat]} strokes and {len(hand)} cards")
    row.strokes[:num_players] = strokes
    row.blobs[:num_players] = reader.numbers("blobs", num_players, range(NUM_STAGES))
    row.first_stage = row.stage
    row.first_strokes[:num_players] = row.strokes[:num_players]
    row.first_blobs[:num_players] = row.blobs[:num_players]
    is_rufen = row.game == RUFEN
    row.undealt = max(0, len(hands[active[0]]) - PACKET) if is_rufen else 0
    stock = [card for seat in order for card in hands[seat][PACKET:]] if is_rufen else []
    stock += talon
    for seat, hand in enumerate(hands):
        row.hands[seat] = set_of(hand[:PACKET] if is_rufen else hand)
    row.stock_size = len(stock)
    row.stock[: len(stock)] = stock[::-1]
    _read_trump(reader, row, hands[order[-1]], talon, len(active))


def _read_stage(reader: DealReader, row: Row) -> None:
    phase = reader.number("phase", range(1, NUM_STAGES + 1))
    game = reader.choice("subgame", SUBGAMES)
    if phase is not None and row.scope != 0:
        raise DealError("'phase' belongs to a match: it needs scope='match'")
    if row.scope == 0:
        if phase is None:
            phase = 1 if game is None else STAGE_GAMES.tolist().index(game) + 1
        fitting = int(STAGE_GAMES[phase - 1])
        if game not in (None, fitting):
            raise DealError(f"phase {phase} is {SUBGAMES[fitting]}, not {SUBGAMES[game]}")
        row.stage, row.game = phase - 1, fitting
    else:
        row.game = int(row.subgame) if game is None else game
        row.stage = row.game  # the first phase of that sub-game


def _check_hands(row: Row, hands: list[list[int]], talon: list[int], active: list[int]) -> None:
    sizes = {len(hands[seat]) for seat in active}
    name = SUBGAMES[int(row.game)]
    if len(active) < 2 or len(sizes) != 1:
        raise DealError("two or more hands must hold cards, all equally many")
    if row.game == KAMERUN and int(row.num_players) == 2:
        raise DealError("kamerun is for three or four players")
    if row.game == KAMERUN and len(active) < int(row.num_players):
        raise DealError("in kamerun all players hold cards")
    if talon and len(active) > 2:
        raise DealError("a talon is for two players")
    if len(talon) % 2:
        raise DealError(f"the talon has {len(talon)} cards, which is no even number")
    is_ace_held = any(ACE_OF_HEARTS in hand for hand in hands)
    if row.game == ACE_OF_HEARTS_GAME and len(active) > 2 and not is_ace_held:
        raise DealError(f"in {name} one of more than two players must hold AH")


def _read_trump(
    reader: DealReader, row: Row, last_hand: list[int], talon: list[int], num_active: int
) -> None:
    row.turned = NO_CARD
    if row.game == DEUTSCH:
        if num_active > 2:
            row.turned = last_hand[-1]
        elif talon:
            row.turned = talon[-1]
    if row.game == DEUTSCH and row.turned == NO_CARD:
        trump = reader.suit("trump", None)
        if trump is None:
            raise DealError("two players of deutsch with no talon need 'trump'")
        row.trump = trump
    elif reader.suit("trump", None) is not None:
        raise DealError("'trump' is for two players of deutsch with no talon")
    else:
        row.trump = DECK.suit(row.turned) if row.turned != NO_CARD else NO_SUIT


def deal_text(row: Row) -> dict[str, Any]:
    """Return the start of a deal as data that `read_deal` takes."""
    num_players = row.num_players
    hands = [DECK.texts(hand) for hand in row.hands[:num_players]]
    talon = stock(row)
    order = [(row.dealer + place) % num_players for place in range(1, num_players + 1)]
    order = [seat for seat in order if hands[seat]]
    for seat in order:
        hands[seat] += talon[: row.undealt]
        talon = talon[row.undealt :]
    if row.turned != NO_CARD and len(order) > 2:
        turned = DECK.text(row.turned)
        hands[order[-1]].sort(key=lambda card: card == turned)
    deal: dict[str, Any] = {
        "subgame": SUBGAMES[row.game],
        "dealer": row.dealer,
        "leader": row.leader,
        "hands": [" ".join(hand) for hand in hands],
        "talon": " ".join(talon),
        "strokes": list(row.first_strokes[:num_players]),
        "blobs": list(row.first_blobs[:num_players]),
    }
    if row.scope == 0:
        deal["phase"] = row.first_stage + 1
    if row.game == DEUTSCH and row.turned == NO_CARD:
        deal["trump"] = DECK.suits[row.trump]
    return deal


# ----------------------------------------------------------------------------------------------
# Words


_WORDS = {
    SURRENDER: "surrender",
    EXCHANGE_NINE: "nine",
    CLOSE: "close",
    DURCHMARSCH: "durchmarsch",
    OUT: "out",
    CONTINUE: "continue",
}


def action_text(row: Row, action: int) -> str:
    """Return the words for an action id in the present node."""
    if action in _WORDS:
        return _WORDS[action]
    if action < MARRY:
        return f"{'play' if row.node == FOLLOW else 'lead'} {DECK.text(action)}"
    if action < CALL:
        return f"marry {DECK.text(action - MARRY)}"
    if action < TRUMP:
        return f"call {DECK.text(action - CALL)}"
    if action < SURRENDER:
        return f"trump {DECK.suits[action - TRUMP]}"
    return f"dealer {(row.current_player + action - DEALER) % row.num_players}"


def rule_text(row: Row) -> str:
    """Return the rule that says what is legal in the present node."""
    return {
        Node.ELECT: "rule DR-1.10 (the loser of a phase elects who deals first)",
        Node.CALL_CARD: "rule DR-6.2 (forehand calls a card of a suit of the first three)",
        Node.NAME_TRUMP: "rules DR-5.1, DR-5.6 and DR-6.7 (trumps are named)",
        Node.BEFORE_DRAW: "rules DR-8.3 to DR-8.5 (before the draw: nine, close or continue)",
        Node.LEAD: "rules DR-2.1, DR-6.4, DR-7.2 and DR-8.4 (the lead, and what goes with it)",
        Node.FOLLOW: "rules DR-2.2, DR-2.4 and DR-6.5 (follow suit, head the trick, trump)",
        Node.CLAIM: "rule DR-3.1 (go out with 66 points, or go on)",
    }[Node(row.node)]


def hands(row: Row) -> list[set[str]]:
    """Return the cards in each seat's hand."""
    return [set(DECK.texts(hand)) for hand in row.hands[: row.num_players]]


def stock(row: Row) -> list[str]:
    """Return the talon, top card first; in Rufen before the call with the undealt cards on it."""
    return [DECK.text(card) for card in row.stock[: row.stock_size][::-1]]


def _text(card: int) -> str | None:
    return DECK.text(card) if card != NO_CARD else None


def _seats(seats: int) -> list[int]:
    return list(each_card(seats))


def _trick(row: Row) -> list[tuple[str, int]]:
    """Return the cards of the trick in the order in which they were played."""
    order = [(row.leader + place) % row.num_players for place in range(row.num_players)]
    return [(DECK.text(row.trick[seat]), seat) for seat in order if row.trick[seat] != NO_CARD]


def public_facts(row: Row) -> dict[str, Any]:
    """DR-9.1. Return what all know of the present deal, with absolute seats."""
    players = range(row.num_players)
    is_unseen = row.unseen != NO_CARD
    unseen = 1 << row.unseen if is_unseen else 0
    size = row.stock_size + 2 * is_unseen
    is_open = row.is_face_up and row.stock_size
    is_hidden = row.game == RUFEN and row.team and not row.is_partner_public
    return {
        "phase": row.stage + 1,
        "subgame": SUBGAMES[row.game],
        "node": SEEN_NODES[BEFORE_DRAW if is_unseen else row.node],
        "strokes": list(row.strokes[: row.num_players]),
        "blobs": list(row.blobs[: row.num_players]),
        "dealer": row.dealer if row.node != ELECT else None,
        "deals_played": row.deals_played,
        "last_result": list(row.awards[: row.num_players]),
        "active": _seats(row.active),
        "hand_sizes": [
            row.hands[seat].bit_count() - (is_unseen and bool(row.active >> seat & 1))
            for seat in players
        ],
        "out": set(DECK.texts(row.out)),
        "played": set(DECK.texts(row.played)),
        "trump": DECK.suits[row.trump] if row.trump != NO_SUIT else None,
        "turned": _text(row.turned),
        "called": _text(row.called),
        "leader": row.leader,
        "trick": _trick(row),
        "last_suit": DECK.suits[row.last_led] if row.last_led != NO_SUIT else None,
        "tricks": list(row.tricks[: row.num_players]),
        "points": list(row.points[: row.num_players]),
        "declared": list(row.declared[: row.num_players]),
        "team": None if is_hidden else _seats(row.team),
        "durchmarsch": row.durchmarsch if row.durchmarsch != NO_SEAT else None,
        "claimants": _seats(row.claimants),
        "talon_size": size,
        "talon_face_up": bool(row.is_face_up),
        "talon_top": DECK.text(row.stock[row.stock_size - 1]) if is_open else None,
        "talon_bottom": _text(row.unseen if is_unseen else row.known_bottom),
        "closer": row.closer if row.closer != NO_SEAT else None,
        "closed_points": list(row.closed_points[: row.num_players]),
        "closed_tricks": list(row.closed_tricks[: row.num_players]),
        "known": [set(DECK.texts(row.known[seat] & ~unseen)) for seat in players],
        "lacks": [set(DECK.texts(row.barred[seat])) for seat in players],
    }


def shown_unasked(row: Row) -> list[bool]:
    """DR-5.1, DR-5.6. Return which seats have had to show the ace of hearts."""
    return [bool(known >> ACE_OF_HEARTS & 1) for known in row.known]


def render_text(row: Row, observer: int) -> str:
    """Return the table as text: as a seat sees it, or with open cards for NO_SEAT."""
    facts = public_facts(row)
    lines = [
        f"Dreeg, phase {facts['phase']}, {facts['subgame']}, deal {facts['deals_played'] + 1}, "
        f"{facts['node']}",
        f"trumps {facts['trump'] or 'none'}, talon {facts['talon_size']}, "
        f"turned {facts['turned'] or 'none'}, called {facts['called'] or 'none'}",
    ]
    is_unseen = row.unseen != NO_CARD and observer not in (NO_SEAT, row.leader)
    for seat in range(row.num_players):
        hand = row.hands[seat]
        if is_unseen and row.active >> seat & 1:
            hand &= ~(1 << row.unseen)
        is_open = observer in (NO_SEAT, seat)
        lines.append(_player_line(row, facts, seat, DECK.texts(hand), is_open))
    if facts["trick"]:
        cards = ", ".join(f"{card} (player {seat})" for card, seat in facts["trick"])
        lines.append(f"trick: {cards}")
    return "\n".join(lines)


def _player_line(
    row: Row, facts: dict[str, Any], seat: int, cards: list[str], is_open: bool
) -> str:
    roles = [role for role in ("leader", "dealer", "closer", "durchmarsch") if facts[role] == seat]
    known = facts["known"][seat]
    shown = [card if is_open or card in known else "??" for card in cards]
    if not is_open:
        shown = sorted(shown, key=lambda card: card == "??")[: facts["hand_sizes"][seat]]
    points = facts["points"][seat] + facts["declared"][seat]
    return (
        f"player {seat} [{', '.join(roles)}] strokes {facts['strokes'][seat]}, blobs "
        f"{facts['blobs'][seat]}, tricks {facts['tricks'][seat]}, points {points}: "
        f"{' '.join(shown)}"
    )


def action_features() -> npt.NDArray[np.float32]:
    """Return a row for each action, float32 [86, 21]: what it does (11), rank (6), suit (4)."""
    verbs = len(ACTIONS.ranges)
    features = np.zeros((ACTIONS.size, verbs + NUM_RANKS + NUM_SUITS), np.float32)
    for verb, part in enumerate(ACTIONS.ranges):
        for index, action in enumerate(range(ACTIONS.size)[ACTIONS.slices[part.name]]):
            features[action, verb] = 1.0
            if part.size == NUM_CARDS:
                features[action, verbs + DECK.rank(index)] = 1.0
                features[action, verbs + NUM_RANKS + DECK.suit(index)] = 1.0
            elif part.name == "trump":
                features[action, verbs + NUM_RANKS + index] = 1.0
    return features
