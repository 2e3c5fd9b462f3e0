"""The rules of Dreeg: a match of eight sub-games, a sub-game, or a single deal.

Numbers such as DR-3.1 are those of docs/games/dreeg.md. What belongs together stands in files of
its own: cards in `dreeg_cards`, the table in `dreeg_row`, play in `dreeg_play`, awards and strokes
in `dreeg_score`.
"""

from __future__ import annotations

from typing import Any

from cardenvs.core.cards import NO_CARD, card_at, card_mask, has_card, shuffle_deck
from cardenvs.core.errors import OptionError
from cardenvs.core.kernel import bit_writer, kernel, lowest_bit, popcount, rare_kernel
from cardenvs.core.options import Option
from cardenvs.core.rng import random_below
from cardenvs.core.rows import CardMask, Ints, Mask, row_dtype
from cardenvs.core.seats import (
    NO_SEAT,
    has_seat,
    next_seat_in,
    places_left_of,
    seat_mask,
)
from cardenvs.games.dreeg_cards import (
    ACE_OF_HEARTS,
    ALL_CARDS,
    NO_SUIT,
    NUM_CARDS,
    NUM_SUITS,
    suit_cards,
    suit_of,
)
from cardenvs.games.dreeg_cards import DECK as DECK
from cardenvs.games.dreeg_play import (
    bar_ace,
    begin_lead,
    cards_to_follow,
    cards_to_lead,
    cards_to_marry,
    claim,
    close,
    decline,
    draw_both,
    exchange_nine,
    follow,
    lead,
    may_announce_durchmarsch,
    may_close,
    may_exchange_nine,
    prepare_lead,
    show_ace,
)
from cardenvs.games.dreeg_row import (
    ACE_OF_HEARTS_GAME,
    ACTIONS,
    BEFORE_DRAW,
    CALL,
    CALL_CARD,
    CLAIM,
    CLOSE,
    CONTINUE,
    DEALER,
    DEUTSCH,
    DURCHMARSCH,
    EXCHANGE_NINE,
    FOLLOW,
    KAMERUN,
    LEAD,
    MARRY,
    MAX_PLAYERS,
    NAME_TRUMP,
    OUT,
    OVER,
    PACKET,
    PHASE_GAMES,
    RUFEN,
    START_STROKES,
    SUBGAMES,
    SURRENDER,
    TRUMP,
    Row,
    ask,
    clear_deal,
    is_two,
)
from cardenvs.games.dreeg_score import award

TITLE = "Dreeg"
NUM_TEAMS = 0
#: Units of a point: a mean of two, three or four is whole.
UNITS = 12

OPTIONS = (
    Option("num_players", 4, (2, 3, 4), "players; two only for a deal, and not of Kamerun"),
    Option("scope", "match", ("match", "subgame", "deal"), "what an episode is"),
    Option("subgame", "deutsch", SUBGAMES, "the sub-game, where an episode is no match"),
    Option("ruleset", "seed", ("seed", "pagat"), "where the two sources differ"),
    Option("going_out", "auto", ("auto", "manual"), "whether going out is a decision"),
)


def check_options(options: dict[str, Any]) -> None:
    """Refuse options that do not go together.

    Raises:
        OptionError: saying which.
    """
    if options["num_players"] == 2 and options["scope"] != "deal":
        raise OptionError("num_players=2 needs scope='deal': two players do not play a match")
    if options["num_players"] == 2 and options["subgame"] == "kamerun":
        raise OptionError("subgame='kamerun' is for three or four players, not num_players=2")


STATE_DTYPE = row_dtype(Row)

#: Action ids are written and chosen as two sets: cards to play and to marry with, and the rest.
LOW = CALL
HIGH = ACTIONS.size - LOW
write_low = bit_writer(LOW)
write_high = bit_writer(HIGH)


# ----------------------------------------------------------------------------------------------
# The deal


@rare_kernel
def deal(state: Row) -> None:
    """DR-1.14. Shuffle and deal to those who still play; the rest is the talon.

    In Rufen each has three cards as yet, the others lie on the talon until the call.
    """
    if state.deal_number == 0:
        begin_episode(state)
    state.game = PHASE_GAMES[state.first_phase]
    shuffle_deck(state.stock, NUM_CARDS, state.rng)
    state.active = 0
    for seat in range(MAX_PLAYERS):
        state.hands[seat] = 0
        state.active |= seat_mask(seat) if state.first_strokes[seat] else 0
    count = popcount(state.active)
    size = 8 if count == 3 else 6
    state.undealt = size - PACKET if state.game == RUFEN else 0
    size -= state.undealt
    seat = state.dealer
    left = NUM_CARDS
    for _ in range(count):
        seat = next_seat_in(state.active, seat)
        left -= size
        hand = 0
        for place in range(left, left + size):
            hand |= card_mask(card_at(state.stock, place))
        state.hands[seat] = hand
    state.stock_size = left
    state.turned = NO_CARD
    if state.game == DEUTSCH:
        state.turned = card_at(state.stock, left if count > 2 else 0)
    state.trump = suit_of(state.turned) if state.turned != NO_CARD else NO_SUIT
    state.leader = next_seat_in(state.active, state.dealer)


@kernel
def begin_episode(state: Row) -> None:
    """DR-1.5, DR-1.9. The first dealer is drawn, and all have seven strokes."""
    state.phase = 0 if state.scope == 0 else state.subgame  # the first phase of that sub-game
    state.dealer = random_below(state.rng, state.num_players)
    for seat in range(MAX_PLAYERS):
        state.strokes[seat] = START_STROKES if seat < state.num_players else 0
        state.blobs[seat] = 0
    note_beginning(state)


@kernel
def note_beginning(state: Row) -> None:
    """Keep what a deal begins with, so that it can be told when it is over."""
    state.first_phase = state.phase
    for seat in range(MAX_PLAYERS):
        state.first_strokes[seat] = state.strokes[seat]
        state.first_blobs[seat] = state.blobs[seat]


@rare_kernel
def start(state: Row) -> None:
    """DR-1.13, DR-10. Begin play: hands, talon, turned card, trump and dealer are set."""
    clear_deal(state)
    turned = card_mask(state.turned) if state.turned != NO_CARD else 0
    held = 0
    for index in range(state.stock_size):
        held |= card_mask(card_at(state.stock, index))
    state.active = 0
    for seat in range(MAX_PLAYERS):
        held |= state.hands[seat]
        state.active |= seat_mask(seat) if state.hands[seat] else 0
        state.known[seat] = state.hands[seat] & turned
    state.out = ALL_CARDS & ~held
    if is_two(state) and state.stock_size and state.turned != NO_CARD:
        state.known_bottom = state.turned
    state.is_scope_over = 0
    state.next_dealer = NO_SEAT
    begin_lead(state, state.leader)
    if state.game == RUFEN:
        ask(state, NAME_TRUMP if is_two(state) else CALL_CARD, state.leader)
    elif state.game == ACE_OF_HEARTS_GAME:
        announce_ace(state)


@kernel
def announce_ace(state: Row) -> None:
    """DR-5.1. The holder of the ace of hearts, if anybody is, names trumps."""
    for seat in range(MAX_PLAYERS):
        if has_card(state.hands[seat], ACE_OF_HEARTS):
            if not is_two(state):
                state.team = seat_mask(seat)
            show_ace(state, seat)
    if state.node == LEAD and is_two(state):
        bar_ace(state)


@rare_kernel
def deal_the_rest(state: Row) -> None:
    """DR-6.1. After the call in Rufen all get their other cards."""
    seat = state.dealer
    for _ in range(popcount(state.active)):
        seat = next_seat_in(state.active, seat)
        for _ in range(state.undealt):
            state.stock_size -= 1
            state.hands[seat] |= card_mask(card_at(state.stock, state.stock_size))
    state.undealt = 0


# ----------------------------------------------------------------------------------------------
# Legal actions


@kernel
def bit(action: int) -> int:
    """An action of the upper half, as a set."""
    return 1 << (action - LOW)


@kernel
def legal_cards(state: Row) -> int:
    """The legal actions of the lower half: cards to play, and to marry with."""
    seat = state.current_player
    if state.node == FOLLOW:
        return cards_to_follow(state, seat)
    if state.node == LEAD:
        return cards_to_lead(state, seat) | cards_to_marry(state, seat) << MARRY
    return 0


@kernel
def legal_words(state: Row) -> int:
    """The legal actions of the upper half."""
    node = state.node
    seat = state.current_player
    if node == FOLLOW:
        return 0
    if node in (LEAD, BEFORE_DRAW):
        words = bit(CONTINUE) if node == BEFORE_DRAW else 0
        if is_two(state):
            words |= bit(EXCHANGE_NINE) if may_exchange_nine(state, seat) else 0
            words |= bit(CLOSE) if may_close(state) else 0
        elif may_announce_durchmarsch(state, seat) and node == LEAD:
            words |= bit(DURCHMARSCH)
        return words
    if node == CALL_CARD:
        return cards_to_call(state) << (CALL - LOW)
    if node == NAME_TRUMP:
        trumps = ((1 << NUM_SUITS) - 1) << (TRUMP - LOW)
        return trumps if is_two(state) else trumps | bit(SURRENDER)
    if node == CLAIM:
        return bit(OUT) | bit(CONTINUE)
    return ((1 << state.num_players) - 1) << (DEALER - LOW)


@kernel
def cards_to_call(state: Row) -> int:
    """DR-6.2. All cards of the suits of the first three."""
    found = 0
    hand: CardMask = state.hands[state.current_player]
    for suit in range(NUM_SUITS):
        found |= suit_cards(suit) if hand & suit_cards(suit) else 0
    return found


@kernel
def forced_action(state: Row) -> int:
    """The only legal action of the seat asked, or -1 if there are several."""
    cards = legal_cards(state)
    words = legal_words(state)
    if popcount(cards) + popcount(words) > 1:
        return -1
    return lowest_bit(cards) if cards else LOW + lowest_bit(words)


@kernel
def write_action_mask(state: Row, mask: Mask) -> None:
    """Write the legal actions of the seat asked as 0 and 1, int8 [A]."""
    cards = legal_cards(state)
    words = legal_words(state)
    write_low(mask, 0, cards)
    write_high(mask, LOW, words)


# ----------------------------------------------------------------------------------------------
# Actions


@kernel
def apply_action(state: Row, action: int) -> None:
    """Play a legal action of the seat asked."""
    seat = state.current_player
    if state.node == FOLLOW:
        follow(state, seat, action)
    elif action < LOW:
        lead(state, seat, action % NUM_CARDS, action >= MARRY)
    elif action == CONTINUE:
        if state.node == CLAIM:
            decline(state, seat)
        else:
            draw_both(state)
    elif action in (CLOSE, EXCHANGE_NINE):
        use_talon(state, seat, action)
    elif action == OUT:
        claim(state, seat)
    elif action < TRUMP:
        call(state, seat, action - CALL)
    elif action < SURRENDER:
        name_trump(state, seat, action - TRUMP)
    elif action == SURRENDER:
        award(state, state.active & ~seat_mask(seat), 2)
    elif action == DURCHMARSCH:
        state.durchmarsch = seat
    else:
        state.next_dealer = places_left_of(seat, action - DEALER, state.num_players)
        ask(state, OVER, NO_SEAT)


@rare_kernel
def use_talon(state: Row, seat: int, action: int) -> None:
    """DR-8.3, DR-8.5. Exchange the nine or close; then the same is asked again, or the draw."""
    is_before = state.node == BEFORE_DRAW
    state.unseen = NO_CARD
    if action == CLOSE:
        close(state, seat)
    else:
        exchange_nine(state, seat)
    if is_before:
        prepare_lead(state)


@rare_kernel
def call(state: Row, seat: int, card: int) -> None:
    """DR-6.1. The suit of the card is trump, its holder the partner; all get their hands."""
    state.trump = suit_of(card)
    state.called = card
    state.team = seat_mask(seat)
    deal_the_rest(state)
    for other in range(MAX_PLAYERS):
        if has_card(state.hands[other], card):
            state.team |= seat_mask(other)
    if has_card(state.out, card):
        state.is_partner_public = 1
    ask(state, LEAD, seat)


@rare_kernel
def name_trump(state: Row, seat: int, suit: int) -> None:
    """DR-5.1, DR-5.6, DR-6.7. Trumps are named; in Rufen all get their hands then."""
    state.trump = suit
    if state.game == RUFEN:
        deal_the_rest(state)
    ask(state, LEAD, state.leader)


# ----------------------------------------------------------------------------------------------
# The end


@kernel
def is_terminal(state: Row) -> bool:
    """Whether the deal is over (the match may go on)."""
    return state.node == OVER


@kernel
def goes_on(state: Row) -> bool:
    """DR-1.15. Whether the episode has another deal."""
    return state.is_scope_over == 0


@kernel
def pass_the_deal(state: Row) -> None:
    """DR-1.11. The next dealer has been found when the last deal was scored."""
    state.dealer = state.next_dealer
    note_beginning(state)


@kernel
def write_returns(state: Row, returns: Ints) -> None:
    """DR-1.16. The mean award of a deal's players or the mean of the blobs, against one's own."""
    total = 0
    count = state.num_players
    if state.scope == 2:
        count = popcount(state.active)
        is_over = state.node == OVER
        sign = -1 if state.game == KAMERUN else 1
        for seat in range(MAX_PLAYERS):
            total += state.awards[seat]
        for seat in range(state.num_players):
            own = count * state.awards[seat] - total
            has_score = is_over and has_seat(state.active, seat)
            returns[seat] = sign * own * (UNITS // max(count, 1)) if has_score else 0
        return
    for seat in range(state.num_players):
        total += blobs_won(state, seat)
    for seat in range(state.num_players):
        returns[seat] = (total - count * blobs_won(state, seat)) * (UNITS // max(count, 1))


@kernel
def blobs_won(state: Row, seat: int) -> int:
    """DR-1.16, DR-10.3. The blobs that count: all of a match, otherwise those of this phase."""
    blobs: int = state.blobs[seat]
    return blobs if state.scope == 0 else blobs - state.first_blobs[seat]


def returns_scale(options: dict[str, Any]) -> int:
    """Return how many units of `write_returns` are one point."""
    return UNITS


def returns_bounds(options: dict[str, Any]) -> tuple[float, float]:
    """Return the lowest and the highest return of an episode."""
    best = {"deal": 3.0, "subgame": 1.0, "match": 8.0}[options["scope"]]
    return -best, best
