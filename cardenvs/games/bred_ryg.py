"""The rules of Bred Ryg. Numbers such as BR-3.4 are those of docs/games/bred_ryg.md."""

from __future__ import annotations

from enum import IntEnum

from cardenvs.core.cards import (
    NO_CARD,
    card_at,
    card_mask,
    cards_above,
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
from cardenvs.core.rng import random_below
from cardenvs.core.rows import (
    CardList,
    CardMask,
    Ints,
    Mask,
    card_list,
    row_dtype,
    scalar,
)
from cardenvs.core.rows import seat as seat_field
from cardenvs.core.seats import NO_SEAT, has_seat, next_seat_in, seat_mask
from cardenvs.games.beating import (
    ALL_CARDS,
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
    rank_of,
    set_up,
    suit_of,
)

TITLE = "Bred Ryg"
NUM_TEAMS = 0

#: BR-1.3. She may be led and added, never reply, and nothing beats her.
BLACK_QUEEN = DECK.card("QC")
NOT_THE_QUEEN = ALL_CARDS & ~(1 << BLACK_QUEEN)

#: BR-5.2. Hands are topped up to this many cards.
HAND_FLOOR = 4
#: BR-3.3. Four cards of a rank and the extra card are the most that one trick can hold.
MAX_ATTACK = 5

#: The action after the 52 cards: `pass` while adding, `take` while replying.
PASS_OR_TAKE = NUM_CARDS
PASS_OR_TAKE_BIT = 1 << PASS_OR_TAKE

ACTIONS = ActionLayout(
    ActionRange("card", NUM_CARDS, "the card: `lead`, `add`, `extra` or `beat`, by the phase"),
    ActionRange("pass_or_take", 1, "`pass` while adding, `take` while replying"),
)

OPTIONS = (
    Option("num_players", 3, range(2, MAX_PLAYERS + 1), "players at the table"),
    Option("exposed_card", "bottom", ("bottom", "in_place"), "place of the exposed card (BR-2.3)"),
    Option("extra_card", True, (False, True), "whether the leader may put an extra card (BR-3.5)"),
    *LOSER_GAME_OPTIONS,
)


class Phase(IntEnum):
    """Whose turn it is to do what."""

    LEAD = 0
    LEADER_ADDS = 1
    EXTRA = 2
    OBSERVER_ADDS = 3
    REPLIER_ADDS = 4
    REPLY = 5
    OVER = 6


LEAD = int(Phase.LEAD)
LEADER_ADDS = int(Phase.LEADER_ADDS)
EXTRA = int(Phase.EXTRA)
OBSERVER_ADDS = int(Phase.OBSERVER_ADDS)
REPLIER_ADDS = int(Phase.REPLIER_ADDS)
REPLY = int(Phase.REPLY)
OVER = int(Phase.OVER)


class Row(BeatingRow):
    """A table of Bred Ryg."""

    # options
    exposed_card: int = scalar()
    extra_card: int = scalar()
    # the game
    exposed_index: int = scalar()  # of the exposed card in `stock`, -1 once it has been drawn
    # the trick
    replier: int = seat_field()
    num_attack: int = scalar()
    num_answered: int = scalar()
    last_added: int = scalar()  # the last card that the adding player put down in this play
    taken: int = scalar()
    attack: CardList = card_list(MAX_ATTACK)  # the attack cards in their order


STATE_DTYPE = row_dtype(Row)

write_actions = bit_writer(ACTIONS.size)


# ----------------------------------------------------------------------------------------------
# Cards


@kernel
def beaters(card: int, trump: int) -> int:
    """BR-1.4. All cards that beat a card: higher ones of its suit, and trumps if it is none."""
    if card == BLACK_QUEEN:
        return 0
    return higher_cards(card, trump) & NOT_THE_QUEEN


# ----------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(state: Row) -> None:
    """BR-2. Shuffle, deal, cut for trumps; the player left of the dealer will lead."""
    deal_cards(state, HAND_FLOOR)
    cut(state)


@kernel
def cut(state: Row) -> None:
    """BR-2.2, BR-2.3. Lift some cards, expose the next; its suit is trump."""
    lifted = 1 + random_below(state.rng, state.stock_size - 2)
    index = state.stock_size - 1 - lifted
    state.exposed = card_at(state.stock, index)
    if state.exposed_card == 0:
        for below in range(index, 0, -1):
            state.stock[below] = state.stock[below - 1]
        state.stock[0] = state.exposed
        index = 0
    state.exposed_index = index
    state.trump = suit_of(state.exposed)


@kernel
def start(state: Row) -> None:
    """BR-3, BR-8. Begin play: hands, stock, exposed card, trump and leader are set."""
    set_up(state)
    begin_trick(state, state.leader)


@kernel
def begin_trick(state: Row, leader: int) -> None:
    """BR-3.1, BR-3.2. The leader leads to the next player."""
    state.leader = leader
    state.replier = next_seat_in(state.active, leader)
    clear_trick(state)
    ask(state, LEAD, leader)


@kernel
def clear_trick(state: Row) -> None:
    """Take all cards off the table."""
    state.attack_rank = 0
    state.num_attack = 0
    state.num_answered = 0
    state.attack_cards = 0
    state.taken = 0
    state.added = 0
    state.last_added = NO_CARD


# ----------------------------------------------------------------------------------------------
# Legal actions


@kernel
def legal_actions(state: Row) -> int:
    """The set of legal actions of the seat asked."""
    phase = state.phase
    hand: CardMask = state.hands[state.current_player]
    if phase == LEAD:
        return hand
    if phase == REPLY:
        card = card_at(state.attack, state.num_answered)
        return hand & beaters(card, state.trump) | PASS_OR_TAKE_BIT
    if phase == EXTRA:
        return other_ranks(state, state.leader) | PASS_OR_TAKE_BIT
    return addable(state, state.current_player) | PASS_OR_TAKE_BIT


@kernel
def addable(state: Row, seat: int) -> int:
    """BR-3.4, BR-3.8. A seat's cards of the rank led, above the last one of this play."""
    hand: CardMask = state.hands[seat]
    return hand & rank_cards(state.attack_rank) & cards_above(state.last_added)


@kernel
def other_ranks(state: Row, seat: int) -> int:
    """BR-3.5. A seat's cards of other ranks than the one led."""
    hand: CardMask = state.hands[seat]
    return hand & ~rank_cards(state.attack_rank)


@kernel
def write_action_mask(state: Row, mask: Mask) -> None:
    """Write the legal actions of the seat asked as 0 and 1, int8 [A]."""
    write_actions(mask, 0, legal_actions(state))


@kernel
def forced_action(state: Row) -> int:
    """The only legal action of the seat asked, or -1 if there are several."""
    legal = legal_actions(state)
    return lowest_bit(legal) if without_lowest(legal) == 0 else -1


# ----------------------------------------------------------------------------------------------
# Adding


@kernel
def has_room(state: Row) -> bool:
    """BR-3.3. There are never more attack cards than cards in the replier's hand."""
    return state.num_attack < popcount(state.hands[state.replier])


@kernel
def put_down(state: Row, seat: int, card: int) -> None:
    """Move a card from a hand to the attack cards."""
    state.hands[seat] &= ~card_mask(card)
    state.known[seat] &= ~card_mask(card)
    state.attack[state.num_attack] = card
    state.attack_cards |= card_mask(card)
    state.num_attack += 1
    state.last_added = card
    suit = suit_of(card)
    if card - suit * NUM_RANKS == state.attack_rank:
        state.added |= 1 << (seat * NUM_SUITS + suit)


@kernel
def is_asked(state: Row, seat: int, fitting: int) -> bool:
    """Whether a seat is asked to put a card, given those of its cards that would fit.

    By public facts it is asked if there is room and it holds any card (BR-7.4). Where forced
    nodes are skipped, one who could only pass is passed over here, which costs less than a node.
    """
    cards: CardMask = fitting if state.skip_forced else state.hands[seat]
    return cards != 0 and has_room(state)


@kernel
def ask_leader_to_add(state: Row) -> None:
    """BR-3.4. While there is room the leader may add cards of the rank led."""
    leader = state.leader
    if is_asked(state, leader, addable(state, leader)):
        ask(state, LEADER_ADDS, leader)
    else:
        ask_for_extra(state)


@kernel
def ask_for_extra(state: Row) -> None:
    """BR-3.5. Who has led two or more of a rank may put one card of any other rank."""
    leader = state.leader
    may_put_extra = state.num_attack >= 2 and state.extra_card != 0
    if may_put_extra and is_asked(state, leader, other_ranks(state, leader)):
        ask(state, EXTRA, leader)
    else:
        ask_observers(state, next_seat_in(state.active, state.replier))


@kernel
def ask_observers(state: Row, first: int) -> None:
    """BR-3.6. Clockwise from the replier's left each other player may add, once."""
    state.last_added = NO_CARD
    seat = first
    while seat != state.leader:
        if is_asked(state, seat, addable(state, seat)):
            ask(state, OBSERVER_ADDS, seat)
            return
        seat = next_seat_in(state.active, seat)
    ask_replier_to_add(state)


@kernel
def ask_observer_again(state: Row) -> None:
    """BR-3.6, BR-3.8. An observer who has added may add more."""
    seat = state.current_player
    if not is_asked(state, seat, addable(state, seat)):
        ask_observers(state, next_seat_in(state.active, seat))


@kernel
def ask_replier_to_add(state: Row) -> None:
    """BR-3.7. The replier may add, if enough cards stay in the hand to answer all."""
    replier = state.replier
    can_answer_all = state.num_attack + 1 <= popcount(state.hands[replier]) - 1
    if can_answer_all and is_asked(state, replier, addable(state, replier)):
        ask(state, REPLIER_ADDS, replier)
    else:
        begin_reply(state)


@kernel
def begin_reply(state: Row) -> None:
    """BR-4. All attack cards lie; the replier answers them."""
    state.last_added = NO_CARD
    ask(state, REPLY, state.replier)


# ----------------------------------------------------------------------------------------------
# Actions


@kernel
def apply_action(state: Row, action: int) -> None:
    """Play a legal action of the seat asked."""
    phase = state.phase
    if phase == REPLY:
        apply_reply(state, action)
    elif phase == LEAD:
        state.attack_rank = rank_of(action)
        put_down(state, state.leader, action)
        ask_leader_to_add(state)
    elif action == PASS_OR_TAKE:
        apply_pass(state)
    else:
        apply_add(state, action)


@kernel
def apply_pass(state: Row) -> None:
    """Ask whoever comes after the one who adds nothing more."""
    phase = state.phase
    if phase == LEADER_ADDS:
        ask_for_extra(state)
    elif phase == EXTRA:
        ask_observers(state, next_seat_in(state.active, state.replier))
    elif phase == OBSERVER_ADDS:
        ask_observers(state, next_seat_in(state.active, state.current_player))
    else:
        begin_reply(state)


@kernel
def apply_add(state: Row, card: int) -> None:
    """BR-3.4 to BR-3.7. Put down a further attack card."""
    phase = state.phase
    put_down(state, state.current_player, card)
    if phase == LEADER_ADDS:
        ask_leader_to_add(state)
    elif phase == EXTRA:
        ask_observers(state, next_seat_in(state.active, state.replier))
    elif phase == OBSERVER_ADDS:
        ask_observer_again(state)
    else:
        ask_replier_to_add(state)


@kernel
def apply_reply(state: Row, action: int) -> None:
    """BR-4. Beat the attack card in turn, or set it aside to be taken."""
    replier = state.replier
    attack = card_mask(card_at(state.attack, state.num_answered))
    if action == PASS_OR_TAKE:
        state.taken |= attack
    else:
        card = card_mask(action)
        state.hands[replier] &= ~card
        state.known[replier] &= ~card
        state.waste |= attack | card
    state.num_answered += 1
    if state.num_answered == state.num_attack:
        resolve(state)


# ----------------------------------------------------------------------------------------------
# After the trick


@kernel
def resolve(state: Row) -> None:
    """BR-5. Pick up, top up, go out; then the game ends or the next trick begins."""
    replier = state.replier
    has_taken = state.taken != 0
    has_discarded = popcount(state.taken) < state.num_attack
    state.hands[replier] |= state.taken
    state.known[replier] |= state.taken
    stock_size = state.stock_size
    if stock_size:
        top_up_all(state)
    active = state.active
    if state.stock_size == 0:
        drop_empty_hands(state)
    state.turns += 1
    if has_discarded or state.stock_size < stock_size or state.active != active:
        state.no_progress = 0
    else:
        state.no_progress += 1
    if popcount(state.active) <= 1:
        finish(state, state.active)
    elif is_capped(state):
        state.truncated = 1
        finish(state, losers_by_cap(state, BLACK_QUEEN))
    elif not has_taken and has_seat(state.active, replier):
        begin_trick(state, replier)
    else:
        begin_trick(state, next_seat_in(state.active, replier))


@kernel
def top_up_all(state: Row) -> None:
    """BR-5.2. The replier tops up first, then the leader, then the others clockwise."""
    top_up(state, state.replier)
    top_up(state, state.leader)
    seat = next_seat_in(state.active, state.replier)
    while seat != state.replier:
        if seat != state.leader:
            top_up(state, seat)
        seat = next_seat_in(state.active, seat)


@kernel
def top_up(state: Row, seat: int) -> None:
    """BR-5.2. Draw up to four cards; the exposed card stays known to all."""
    while state.stock_size and popcount(state.hands[seat]) < HAND_FLOOR:
        state.stock_size -= 1
        drawn = card_mask(card_at(state.stock, state.stock_size))
        state.hands[seat] |= drawn
        if state.stock_size == state.exposed_index:
            state.known[seat] |= drawn
            state.exposed_index = -1


@kernel
def drop_empty_hands(state: Row) -> None:
    """BR-5.3. With the stock gone, a player without cards is out."""
    for seat in range(state.num_players):
        if state.hands[seat] == 0:
            state.active &= ~seat_mask(seat)


@kernel
def finish(state: Row, losers: int) -> None:
    """BR-6.1, BR-6.4, BR-6.5. Score the game to a set of losers, which may be empty."""
    book_game(state, losers)
    clear_trick(state)
    ask(state, OVER, NO_SEAT)


@kernel
def is_terminal(state: Row) -> bool:
    """Whether the game is over (a match may go on)."""
    return state.phase == OVER


@kernel
def write_returns(state: Row, returns: Ints) -> None:
    """BR-6. Write the score of the episode so far, in units (see `returns_scale`)."""
    write_match_returns(state, returns)


#: BR-6.6. Whether a match goes on after a game, and who deals then.
goes_on = match_goes_on
pass_the_deal = pass_the_deal_left

#: Units of `write_returns` in a point, and the bounds of an episode's returns, given the options.
returns_scale = match_units
returns_bounds = match_bounds
