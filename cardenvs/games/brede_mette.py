"""The rules of Brede Mette. Numbers such as BM-5.3 are those of docs/games/brede_mette.md."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from cardenvs.core.cards import (
    NO_CARD,
    card_at,
    card_mask,
    cards_above,
    has_card,
    lowest_card,
    without_lowest,
)
from cardenvs.core.kernel import bit_writer, kernel, lowest_bit, popcount
from cardenvs.core.layout import ActionLayout, ActionRange
from cardenvs.core.match import (
    LOSER_GAME_OPTIONS,
    book_game,
    match_bounds,
    match_goes_on,
    match_units,
    pass_the_deal_left,
    write_match_returns,
)
from cardenvs.core.options import Option
from cardenvs.core.rows import (
    CardList,
    CardMask,
    CardSets,
    Ints,
    Mask,
    card_list,
    per_seat,
    row_dtype,
    scalar,
    words,
)
from cardenvs.core.rows import seat as seat_field
from cardenvs.core.seats import NO_SEAT, has_seat, left_of, next_seat_in, seat_mask
from cardenvs.games.beating import (
    DECK,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    BeatingRow,
    ask,
    deal_cards,
    higher_cards,
    is_capped,
    losers_by_cap,
    rank_cards,
    set_up,
    suit_of,
)

TITLE = "Brede Mette"
NUM_TEAMS = 0

#: BM-1. The red queen, by the option `queen`: she may be led, added and passed, and nothing beats
#: her; nor does she beat.
RED_QUEENS = np.array([DECK.card("QD"), DECK.card("QH")], np.int64)

#: BM-3. Hands draw back to this many cards at once.
HAND_FLOOR = 3

#: Actions after the 52 cards that are led and added. Those of two cards are in blocks of 52, a
#: block for each suit of the attack card.
PASS = NUM_CARDS
BEAT = PASS + NUM_CARDS
EXCHANGE = BEAT + NUM_SUITS * NUM_CARDS
STOP_OR_DONE = EXCHANGE + NUM_SUITS * NUM_CARDS
TAKE = STOP_OR_DONE + 1
NUM_BLOCKS = STOP_OR_DONE // NUM_CARDS

ACTIONS = ActionLayout(
    ActionRange("card", NUM_CARDS, "the card: `lead`, or `add` to the attack"),
    ActionRange("pass", NUM_CARDS, "the card with which the pile is handed back"),
    ActionRange("beat", NUM_SUITS * NUM_CARDS, "52 * suit of the attack card + the beater"),
    ActionRange("exchange", NUM_SUITS * NUM_CARDS, "52 * suit of the attack card + the new beater"),
    ActionRange("stop_or_done", 1, "`stop` while adding, `done` once all is beaten"),
    ActionRange("take", 1, "`take` the pile"),
)

OPTIONS = (
    Option("num_players", 3, range(2, MAX_PLAYERS + 1), "players at the table"),
    Option("queen", "QD", ("QD", "QH"), "the red queen (BM-1.3)"),
    Option("pickup", "only_if_unable", ("only_if_unable", "free"), "who may take (BM-5.6)"),
    Option("pickup_scope", "all_table", ("all_table", "unbeaten"), "what is taken (BM-5.6)"),
    Option("pass_direction", "back", ("back", "forward"), "who gets a pile passed on (BM-5.3)"),
    Option("exchange", True, (False, True), "whether beaters may be exchanged (BM-5.4)"),
    *LOSER_GAME_OPTIONS,
)


class Phase(IntEnum):
    """Whose turn it is to do what."""

    LEAD = 0
    LEADER_ADDS = 1
    OTHERS_ADD = 2
    RESPOND = 3
    OVER = 4


LEAD = int(Phase.LEAD)
LEADER_ADDS = int(Phase.LEADER_ADDS)
OTHERS_ADD = int(Phase.OTHERS_ADD)
RESPOND = int(Phase.RESPOND)
OVER = int(Phase.OVER)


class Row(BeatingRow):
    """A table of Brede Mette."""

    # options
    queen: int = scalar()
    pickup: int = scalar()
    pickup_scope: int = scalar()
    pass_direction: int = scalar()
    exchange: int = scalar()
    # the game
    no_ranks: Ints = per_seat(MAX_PLAYERS)  # ranks that a hand is proved to lack
    no_beaters: CardSets = per_seat(MAX_PLAYERS)  # cards that a hand is proved not to beat
    # the turn
    attacker: int = seat_field()
    defender: int = seat_field()
    beaten: int = scalar()  # the attack cards on which a beater lies
    barred: int = scalar()  # cards of the rank that the adding player may not add in this play
    made_progress: int = scalar()
    draws: Ints = per_seat(MAX_PLAYERS)  # cards drawn in this turn
    used: Ints = words(NUM_SUITS)  # by suit of the attack card, the cards exchanged onto it
    beaters: CardList = card_list(NUM_SUITS)  # by suit of the attack card


STATE_DTYPE = row_dtype(Row)

#: For each suit of the attack card the cards that beat it; what is legal, see `legal_sets`.
Answers = tuple[CardMask, CardMask, CardMask, CardMask]
LegalSets = tuple[int, int, int, int, int, int, int, int, int, int, int]

write_deck = bit_writer(NUM_CARDS)
write_pair = bit_writer(2)


# ----------------------------------------------------------------------------------------------
# Cards


@kernel
def attack_card(state: Row, suit: int) -> int:
    """The card of a suit that is of the rank of the attack."""
    return suit * NUM_RANKS + state.attack_rank


@kernel
def red_queen(state: Row) -> int:
    """The red queen, as a set."""
    queen: CardMask = 1 << RED_QUEENS[state.queen]
    return queen


@kernel
def beaters_of(state: Row, card: int) -> int:
    """BM-1. All cards that beat a card: higher ones of its suit, and trumps if it is none."""
    queen = red_queen(state)
    if queen & card_mask(card):
        return 0
    return higher_cards(card, state.trump) & ~queen


# ----------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(state: Row) -> None:
    """BM-2. Shuffle and deal; the last card of the stock lies open, its suit is trump."""
    deal_cards(state, HAND_FLOOR)
    state.exposed = card_at(state.stock, 0)
    state.trump = suit_of(state.exposed)


@kernel
def start(state: Row) -> None:
    """BM-4, BM-8. Begin play: hands, stock, upcard, trump and leader are set."""
    set_up(state)
    for seat in range(state.num_players):
        forget_proofs(state, seat)
    begin_turn(state, state.leader)
    if is_one_left(state):
        finish_with_one_left(state)


@kernel
def begin_turn(state: Row, leader: int) -> None:
    """BM-4.1. The leader attacks the next player clockwise."""
    state.leader = leader
    state.attacker = leader
    state.defender = next_seat_in(state.active, leader)
    state.made_progress = 0
    for seat in range(MAX_PLAYERS):
        state.draws[seat] = 0
    clear_table(state)
    ask(state, LEAD, leader)


@kernel
def clear_table(state: Row) -> None:
    """No card lies on the table."""
    state.attack_rank = 0
    state.attack_cards = 0
    state.beaten = 0
    state.added = 0
    state.barred = 0
    for suit in range(NUM_SUITS):
        state.beaters[suit] = NO_CARD
        state.used[suit] = 0


# ----------------------------------------------------------------------------------------------
# Legal actions


@kernel
def of_attack_rank(state: Row, seat: int) -> int:
    """A seat's cards of the rank of the attack."""
    hand: CardMask = state.hands[seat]
    return hand & rank_cards(state.attack_rank)


@kernel
def addable(state: Row, seat: int) -> int:
    """BM-4.4. A seat's cards of the attack rank that are not barred in this play."""
    return of_attack_rank(state, seat) & ~state.barred


@kernel
def unbeaten(state: Row) -> int:
    """The attack cards on which no beater lies."""
    return state.attack_cards & ~state.beaten


@kernel
def is_pass_open(state: Row) -> bool:
    """BM-5.3. While nothing is beaten, to a player who is not out."""
    is_there = state.pass_direction == 1 or has_seat(state.active, state.attacker)
    return state.beaten == 0 and is_there


@kernel
def answers(state: Row, suit: int) -> int:
    """The defender's cards that beat the attack card of a suit, if there is one."""
    card = attack_card(state, suit)
    hand: CardMask = state.hands[state.defender]
    return hand & beaters_of(state, card) if has_card(state.attack_cards, card) else 0


@kernel
def is_complete(open_cards: CardMask, rank: int, beaters: Answers) -> bool:
    """Whether distinct cards, chosen from those that beat each, beat all open cards.

    By Hall's theorem: any of them together have as many beaters as they are.
    """
    fits = True
    for subset in range(1, 1 << NUM_SUITS):
        found = 0
        count = 0
        for suit in range(NUM_SUITS):
            is_asked = subset >> suit & open_cards >> (suit * NUM_RANKS + rank) & 1
            found |= beaters[suit] if is_asked else 0
            count += is_asked
        fits &= popcount(found) >= count
    return fits


@kernel
def legal_sets(state: Row) -> LegalSets:
    """All that the seat asked may do, as the sets of cards of the blocks of action ids.

    They are: cards to put down, cards to pass with, to beat with (for each suit of the attack
    card), to exchange (likewise); the last set says whether `stop` or `done` (the first bit), and
    whether `take` is legal (the second).
    """
    if state.phase == RESPOND:
        return legal_responses(state)
    if state.phase == LEAD:
        return state.hands[state.current_player], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    return addable(state, state.current_player), 0, 0, 0, 0, 0, 0, 0, 0, 0, 1


@kernel
def legal_responses(state: Row) -> LegalSets:
    """BM-5. What the defender may do, see `legal_sets`."""
    rank = state.attack_rank
    open_cards = unbeaten(state)
    queen = red_queen(state)
    found = (answers(state, 0), answers(state, 1), answers(state, 2), answers(state, 3))
    is_answered = is_complete(open_cards, rank, found)
    # BM-5.2
    is_own_open = state.beaten == 0 and state.attack_cards & queen == 0
    puts = addable(state, state.defender) & ~queen if is_own_open else 0
    # BM-5.3
    passes = of_attack_rank(state, state.defender) if is_pass_open(state) else 0
    # BM-5.1
    is_hopeless = state.attack_cards & queen != 0 or (state.stock_size == 0 and not is_answered)
    may_beat = state.pickup_scope == 1 or not is_hopeless
    to_beat = open_cards if may_beat else 0
    # BM-5.4
    may_exchange = state.exchange != 0 and state.draws[state.defender] > 0
    to_exchange = state.beaten if may_exchange else 0
    # BM-5.5, BM-5.6
    is_done = open_cards == 0
    may_take = not is_done if state.pickup == 1 else passes == 0 and not is_answered
    return (
        puts,
        passes,
        found[0] if has_card(to_beat, rank) else 0,
        found[1] if has_card(to_beat, NUM_RANKS + rank) else 0,
        found[2] if has_card(to_beat, 2 * NUM_RANKS + rank) else 0,
        found[3] if has_card(to_beat, 3 * NUM_RANKS + rank) else 0,
        found[0] & ~state.used[0] if has_card(to_exchange, rank) else 0,
        found[1] & ~state.used[1] if has_card(to_exchange, NUM_RANKS + rank) else 0,
        found[2] & ~state.used[2] if has_card(to_exchange, 2 * NUM_RANKS + rank) else 0,
        found[3] & ~state.used[3] if has_card(to_exchange, 3 * NUM_RANKS + rank) else 0,
        (1 if is_done else 0) | (2 if may_take else 0),
    )


@kernel
def write_action_mask(state: Row, mask: Mask) -> None:
    """Write the legal actions of the seat asked as 0 and 1, int8 [A]."""
    legal = legal_sets(state)
    for block in range(NUM_BLOCKS):
        write_deck(mask, block * NUM_CARDS, legal[block])
    write_pair(mask, STOP_OR_DONE, legal[NUM_BLOCKS])


@kernel
def forced_action(state: Row) -> int:
    """The only legal action of the seat asked, or -1 if there are several."""
    if state.phase == RESPOND:
        return forced_response(legal_responses(state))
    if state.phase == LEAD:
        hand: CardMask = state.hands[state.current_player]
        return -1 if without_lowest(hand) else lowest_card(hand)
    return -1 if addable(state, state.current_player) else STOP_OR_DONE


@kernel
def forced_response(legal: LegalSets) -> int:
    """The only action in some sets, or -1 if there are several; see `legal_sets`."""
    count = 0
    for block in range(NUM_BLOCKS + 1):
        count += popcount(legal[block])
    if count > 1:
        return -1
    found = -1
    for block in range(NUM_BLOCKS + 1):
        if legal[block]:
            found = block * NUM_CARDS + lowest_bit(legal[block])
    return found


# ----------------------------------------------------------------------------------------------
# Actions


@kernel
def apply_action(state: Row, action: int) -> None:
    """Play a legal action of the seat asked."""
    phase = state.phase
    if phase == RESPOND:
        respond(state, action)
    elif phase == LEAD:
        state.attack_rank = action % NUM_RANKS
        put_down(state, state.leader, action)
        ask_leader_to_add(state)
    elif phase == LEADER_ADDS:
        if action == STOP_OR_DONE:
            finish_lead(state)
        else:
            put_down(state, state.leader, action)
            ask_leader_to_add(state)
    elif action == STOP_OR_DONE:
        ask_others_to_add(state, left_of(state.current_player, state.num_players))
    else:
        add(state, state.current_player, action)


@kernel
def play_from_hand(state: Row, seat: int, card: int) -> None:
    """Take a card out of a hand; nobody knows it there any longer."""
    state.hands[seat] &= ~card_mask(card)
    state.known[seat] &= ~card_mask(card)


@kernel
def put_down(state: Row, seat: int, card: int) -> None:
    """BM-4.4. Put a card into the attack; lower ones of the hand are barred in this play."""
    play_from_hand(state, seat, card)
    state.attack_cards |= card_mask(card)
    state.added |= 1 << (seat * NUM_SUITS + suit_of(card))
    state.barred |= of_attack_rank(state, seat) & ~cards_above(card)


@kernel
def ask_leader_to_add(state: Row) -> None:
    """BM-4.2. The leader is asked again while he holds a higher card of the rank."""
    if addable(state, state.leader):
        ask(state, LEADER_ADDS, state.leader)
    else:
        finish_lead(state)


@kernel
def finish_lead(state: Row) -> None:
    """BM-4.2. The lead is one placement; then the others may add.

    BM-7.3: others may not see when the leader stops, so his draw waits for what all see next: a
    card that is added, or the defender's turn.
    """
    if go_on_without_empty_hand(state, state.leader):
        ask_others_to_add(state, left_of(state.defender, state.num_players))


@kernel
def ask_others_to_add(state: Row, first: int) -> None:
    """BM-4.3. Clockwise after the defender each other player may add, once.

    Each is asked, also with nothing to add. Where forced nodes are skipped, one who could only
    stop is passed over here, which costs less than a node.
    """
    state.barred = 0
    seat = first
    while seat != state.leader:
        if has_seat(state.active, seat) and (not state.skip_forced or addable(state, seat)):
            ask(state, OTHERS_ADD, seat)
            return
        seat = left_of(seat, state.num_players)
    draw_up(state, state.leader)
    ask(state, RESPOND, state.defender)


@kernel
def add(state: Row, seat: int, card: int) -> None:
    """BM-4.3. A player adds a card, draws (the leader before him), and may add more."""
    draw_up(state, state.leader)
    put_down(state, seat, card)
    if not finish_placement(state, seat):
        return
    is_asked = has_seat(state.active, seat) and (not state.skip_forced or addable(state, seat))
    if not is_asked:
        ask_others_to_add(state, left_of(seat, state.num_players))


@kernel
def finish_placement(state: Row, seat: int) -> bool:
    """BM-3. Draw up, or be out; return whether the game goes on."""
    draw_up(state, seat)
    return go_on_without_empty_hand(state, seat)


@kernel
def go_on_without_empty_hand(state: Row, seat: int) -> bool:
    """BM-3.2. A player who is not defending is out at once; return whether the game goes on."""
    put_out_if_empty(state, seat)
    if is_one_left(state):
        finish_with_one_left(state)
        return False
    return True


@kernel
def draw_up(state: Row, seat: int) -> None:
    """BM-3. Draw back to three cards; the upcard stays known to all, and proofs end (BM-7.4)."""
    while state.stock_size and popcount(state.hands[seat]) < HAND_FLOOR:
        state.stock_size -= 1
        card = card_at(state.stock, state.stock_size)
        state.hands[seat] |= card_mask(card)
        if card == state.exposed:
            state.known[seat] |= card_mask(card)
        state.draws[seat] += 1
        state.made_progress = 1
        forget_proofs(state, seat)


@kernel
def forget_proofs(state: Row, seat: int) -> None:
    """Nothing is proved about a hand."""
    state.no_ranks[seat] = 0
    state.no_beaters[seat] = 0


@kernel
def put_out_if_empty(state: Row, seat: int) -> None:
    """BM-3. A player is out when his hand and the stock are empty."""
    if state.hands[seat] == 0 and state.stock_size == 0:
        state.active &= ~seat_mask(seat)
        state.made_progress = 1


@kernel
def is_one_left(state: Row) -> bool:
    """BM-6.1. Whether only one player is not out."""
    return popcount(state.active) == 1


# ----------------------------------------------------------------------------------------------
# Responses


@kernel
def respond(state: Row, action: int) -> None:
    """BM-5. The defender does one thing."""
    defender = state.defender
    if action < PASS:
        put_down(state, defender, action)
        draw_up(state, defender)
    elif action < BEAT:
        pass_on(state, action - PASS)
    elif action < EXCHANGE:
        suit = (action - BEAT) // NUM_CARDS
        card = (action - BEAT) % NUM_CARDS
        play_from_hand(state, defender, card)
        state.beaten |= card_mask(attack_card(state, suit))
        state.beaters[suit] = card
        draw_up(state, defender)
    elif action < STOP_OR_DONE:
        exchange_beater(state, (action - EXCHANGE) // NUM_CARDS, (action - EXCHANGE) % NUM_CARDS)
    elif action == STOP_OR_DONE:
        clear_table_with(state, 0)
        end_turn(state, True)
    else:
        take(state)


@kernel
def pass_on(state: Row, card: int) -> None:
    """BM-5.3. The pile goes on with an own card; the passer, now attacker, draws or is out."""
    passer = state.defender
    put_down(state, passer, card)
    if state.pass_direction == 0:
        state.defender = state.attacker
    else:
        state.defender = next_seat_in(state.active, passer)
    state.attacker = passer
    state.barred = 0
    if finish_placement(state, passer):
        ask(state, RESPOND, state.defender)


@kernel
def exchange_beater(state: Row, suit: int, card: int) -> None:
    """BM-5.4. Another card beats the attack card and the beater returns, known, to the hand."""
    defender = state.defender
    returned = card_mask(card_at(state.beaters, suit))
    play_from_hand(state, defender, card)
    state.hands[defender] |= returned
    state.known[defender] |= returned
    state.beaters[suit] = card
    state.used[suit] |= card_mask(card)


@kernel
def table_cards(state: Row) -> int:
    """All cards on the table, beaters included."""
    cards = state.attack_cards
    for suit in range(NUM_SUITS):
        beater = card_at(state.beaters, suit)
        if beater != NO_CARD:
            cards |= card_mask(beater)
    return cards


@kernel
def take(state: Row) -> None:
    """BM-5.6. All of the table, or the unbeaten cards with the rest discarded."""
    note_proofs(state)
    clear_table_with(state, table_cards(state) if state.pickup_scope == 0 else unbeaten(state))
    end_turn(state, False)


@kernel
def note_proofs(state: Row) -> None:
    """BM-7.4. What a compulsory pick-up shows of the hand before it."""
    if state.pickup == 1:
        return
    defender = state.defender
    if is_pass_open(state):
        state.no_ranks[defender] |= 1 << state.attack_rank
    open_cards = unbeaten(state)
    if popcount(open_cards) == 1:
        state.no_beaters[defender] |= open_cards


@kernel
def clear_table_with(state: Row, taken: int) -> None:
    """The defender takes some cards; the rest leave the game, which is progress (BM-6.3)."""
    gone = table_cards(state) & ~taken
    state.waste |= gone
    if gone:
        state.made_progress = 1
    state.hands[state.defender] |= taken
    state.known[state.defender] |= taken
    clear_table(state)


@kernel
def end_turn(state: Row, is_beaten: bool) -> None:
    """BM-5.5, BM-5.6, BM-6. Then the game ends, or the next player leads."""
    defender = state.defender
    put_out_if_empty(state, defender)
    state.turns += 1
    state.no_progress = 0 if state.made_progress else state.no_progress + 1
    if is_one_left(state):
        finish_with_one_left(state)
    elif is_capped(state):
        state.truncated = 1
        finish(state, losers_by_cap(state, RED_QUEENS[state.queen]))
    elif is_beaten and has_seat(state.active, defender):
        begin_turn(state, defender)
    else:
        begin_turn(state, next_seat_in(state.active, defender))


# ----------------------------------------------------------------------------------------------
# The end


@kernel
def finish_with_one_left(state: Row) -> None:
    """BM-6.1. Cards on the table go to the one player who is left: the loser."""
    table = table_cards(state)
    loser = lowest_bit(state.active)
    state.hands[loser] |= table
    state.known[loser] |= table
    finish(state, state.active)


@kernel
def finish(state: Row, losers: int) -> None:
    """BM-6.2, BM-6.4, BM-6.5. Score the game to a set of losers, which may be empty."""
    book_game(state, losers)
    clear_table(state)
    ask(state, OVER, NO_SEAT)


@kernel
def is_terminal(state: Row) -> bool:
    """Whether the game is over (a match may go on)."""
    return state.phase == OVER


@kernel
def write_returns(state: Row, returns: Ints) -> None:
    """BM-6. Write the score of the episode so far, in units (see `returns_scale`)."""
    write_match_returns(state, returns)


#: BM-6.5. Whether a match goes on after a game, and who deals then.
goes_on = match_goes_on
pass_the_deal = pass_the_deal_left

#: Units of `write_returns` in a point, and the bounds of an episode's returns, given the options.
returns_scale = match_units
returns_bounds = match_bounds
