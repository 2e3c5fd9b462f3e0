"""The play of Dreeg: leading, following, going out, and the talon of two players."""

from __future__ import annotations

from cardenvs.core.cards import NO_CARD, card_at, card_mask, has_card
from cardenvs.core.kernel import kernel, lowest_bit, rare_kernel
from cardenvs.core.rows import CardMask
from cardenvs.core.seats import NO_SEAT, has_seat, next_seat_in, seat_mask
from cardenvs.games.dreeg_cards import (
    ACE_OF_HEARTS,
    ALL_CARDS,
    NINE,
    NO_SUIT,
    NUM_RANKS,
    POINTS,
    barred_by_play,
    beats,
    marriage_suits,
    partner_of,
    playable,
    suit_cards,
    suit_of,
)
from cardenvs.games.dreeg_row import (
    ACE_OF_HEARTS_GAME,
    BEFORE_DRAW,
    CLAIM,
    DEUTSCH,
    FOLLOW,
    KAMERUN,
    LEAD,
    MAX_PLAYERS,
    NAME_TRUMP,
    RUFEN,
    Row,
    ask,
    cards_left,
    clear_trick,
    is_two,
    points_of,
    side_of,
    tricks_of,
)
from cardenvs.games.dreeg_score import (
    WIN,
    award,
    award_against_closer,
    award_durchmarsch,
    award_kamerun,
    award_last_trick,
    award_most_points,
    award_win,
)

#: DR-8.5. Fewer cards than this in the talon cannot be closed.
LEAST_TO_CLOSE = 4
#: DR-5.7. The talon of Ace of Hearts is turned up when so many cards are left.
TURNED_UP_AT = 6


# ----------------------------------------------------------------------------------------------
# What is legal


@kernel
def cards_to_lead(state: Row, seat: int) -> int:
    """DR-2.1, DR-6.4, DR-7.2. The cards that the seat on lead may lead."""
    hand: CardMask = state.hands[seat]
    if state.game == RUFEN and state.called != NO_CARD and state.played == 0:
        if has_card(hand, state.called):
            return card_mask(state.called)
        return hand & suit_cards(state.trump)
    if state.game == KAMERUN and state.last_led != NO_SUIT and state.durchmarsch == NO_SEAT:
        others = hand & ~suit_cards(state.last_led)
        return others if others else hand
    return hand


@kernel
def cards_to_marry(state: Row, seat: int) -> int:
    """DR-2.5. Kings and Overs that may be led showing the other one."""
    if state.game == KAMERUN:
        return 0
    return cards_to_lead(state, seat) & marriage_suits(state.hands[seat])


@kernel
def cards_to_follow(state: Row, seat: int) -> int:
    """DR-2.2, DR-6.5. The cards that a seat may put into a trick."""
    hand: CardMask = state.hands[seat]
    if state.game == RUFEN and is_first_trick(state) and holds_called_card(state, seat):
        return card_mask(state.called)
    if is_loose(state):
        return hand
    return playable(hand, state.led, state.best, state.trump)


@kernel
def is_first_trick(state: Row) -> bool:
    """Whether no trick has been won yet."""
    return state.last_winner == NO_SEAT


@kernel
def holds_called_card(state: Row, seat: int) -> bool:
    """Whether a seat holds the card called."""
    return state.called != NO_CARD and has_card(state.hands[seat], state.called)


@kernel
def is_loose(state: Row) -> bool:
    """DR-2.4. While cards are drawn, any card may be played."""
    return state.stock_size > 0 and state.closer == NO_SEAT


@kernel
def may_exchange_nine(state: Row, seat: int) -> bool:
    """DR-8.3. Two players, Deutsch: after a trick won, while the indicator lies in the talon."""
    if state.game != DEUTSCH or state.stock_size < 2 or not is_loose(state):
        return False
    has_won = state.last_winner == seat
    return has_won and has_card(state.hands[seat], state.trump * NUM_RANKS + NINE)


@kernel
def may_close(state: Row) -> bool:
    """DR-8.5. While enough cards are left in the talon."""
    has_enough: bool = state.stock_size >= LEAST_TO_CLOSE and state.hands[state.leader] != 0
    return has_enough and state.closer == NO_SEAT


@kernel
def may_announce_durchmarsch(state: Row, seat: int) -> bool:
    """DR-7.3. The winner of the first trick, before the second."""
    if state.game != KAMERUN or state.durchmarsch != NO_SEAT:
        return False
    return state.tricks[seat] == 1 and tricks_of(state, state.active) == 1


# ----------------------------------------------------------------------------------------------
# A trick


@kernel
def begin_lead(state: Row, seat: int) -> None:
    """A player is on lead."""
    clear_trick(state, seat)
    ask(state, LEAD, seat)


@kernel
def put(state: Row, seat: int, card: int) -> None:
    """Put a card into the trick."""
    state.unseen = NO_CARD
    state.hands[seat] &= ~card_mask(card)
    state.known[seat] &= ~card_mask(card)
    state.trick[seat] = card
    state.played |= card_mask(card)


@kernel
def lead(state: Row, seat: int, card: int, is_marriage: bool) -> None:
    """DR-2.1, DR-2.5. Lead a card, maybe declaring a marriage."""
    note_lead(state, seat, card)
    put(state, seat, card)
    state.led = card
    state.best = card
    state.best_seat = seat
    state.last_led = suit_of(card) if state.game == KAMERUN else NO_SUIT
    if is_marriage:
        state.declared[seat] += 40 if suit_of(card) == state.trump else 20
        state.known[seat] |= partner_of(card)
    if not is_marriage or goes_on_unclaimed(state, seat):
        ask_next_to_follow(state, seat)


@kernel
def note_lead(state: Row, seat: int, card: int) -> None:
    """DR-9.7. What a lead proves of the hand."""
    if state.game == RUFEN and state.called != NO_CARD and state.played == 0:
        if card == state.called:
            state.team = seat_mask(seat)
            state.is_partner_public = 1
        else:
            state.barred[seat] |= card_mask(state.called)
    is_bound = state.game == KAMERUN and state.durchmarsch == NO_SEAT
    if is_bound and suit_of(card) == state.last_led:
        state.barred[seat] |= ALL_CARDS & ~suit_cards(state.last_led)


@kernel
def ask_next_to_follow(state: Row, seat: int) -> None:
    """The next player clockwise follows; after the last the trick is won."""
    seat = next_seat_in(state.active, seat)
    if seat == state.leader:
        win_trick(state)
    else:
        ask(state, FOLLOW, seat)


@kernel
def follow(state: Row, seat: int, card: int) -> None:
    """DR-2.2. Follow to a trick."""
    note_follow(state, seat, card)
    put(state, seat, card)
    if beats(card, state.best, state.trump):
        state.best = card
        state.best_seat = seat
    ask_next_to_follow(state, seat)


@kernel
def note_follow(state: Row, seat: int, card: int) -> None:
    """DR-9.7. What a card proves of the hand."""
    if is_loose(state):
        return
    is_call = state.game == RUFEN and state.called != NO_CARD and is_first_trick(state)
    if is_call and card == state.called:
        state.team |= seat_mask(seat)
        state.is_partner_public = 1
        return
    if is_call:
        state.barred[seat] |= card_mask(state.called)
    state.barred[seat] |= barred_by_play(card, state.led, state.best, state.trump)


@rare_kernel
def win_trick(state: Row) -> None:
    """The best card wins the trick; then claims, draws and the next lead."""
    winner = state.best_seat
    points = 0
    for seat in range(MAX_PLAYERS):
        card = state.trick[seat]
        points += POINTS[card] if card != NO_CARD else 0
    state.points[winner] += points
    state.tricks[winner] += 1
    state.last_winner = winner
    clear_trick(state, winner)
    if state.durchmarsch != NO_SEAT and winner != state.durchmarsch:
        award_durchmarsch(state, False)
    elif state.hands[winner] == 0 and not is_loose(state):
        finish_play(state)
    elif goes_on_unclaimed(state, winner):
        prepare_lead(state)


@rare_kernel
def finish_play(state: Row) -> None:
    """All cards are played."""
    if state.game == KAMERUN:
        if state.durchmarsch != NO_SEAT:
            award_durchmarsch(state, True)
        else:
            award_kamerun(state)
    elif state.game == DEUTSCH and not is_two(state):
        award_most_points(state)
    elif is_played_out(state):
        award_played_out(state)
    else:
        award_last_trick(state)


@kernel
def is_played_out(state: Row) -> bool:
    """DR-4.6. Whether two play Deutsch by the seed text, without going out."""
    return state.ruleset == 0 and state.game == DEUTSCH and is_two(state)


@kernel
def award_played_out(state: Row) -> None:
    """DR-4.6. The most points erase one stroke; equal ones count for the last trick."""
    winner = state.last_winner
    last = seat_mask(winner)
    others = state.active & ~last
    has_more = points_of(state, others) > points_of(state, last)
    award(state, others if has_more else last, 1)


# ----------------------------------------------------------------------------------------------
# Going out


@kernel
def is_claimed_game(state: Row) -> bool:
    """DR-3.1. Whether a side can go out with 66 points."""
    if state.game == KAMERUN:
        return False
    return not is_played_out(state) if is_two(state) else state.game != DEUTSCH


@kernel
def goes_on_unclaimed(state: Row, seat: int) -> bool:
    """DR-3.3. After a trick won or a marriage declared, the side of a player may go out.

    Return whether play goes on, since nobody does or is asked.
    """
    side = side_of(state, seat)
    is_early = cards_left(state) >= 2
    if is_claimed_game(state) and is_early and tricks_of(state, side):
        if state.going_out == 1:
            state.claimants = side
            ask_claimant(state, seat)
            return False
        if points_of(state, side) >= WIN:
            claim(state, seat)
            return False
    return True


@kernel
def ask_claimant(state: Row, seat: int) -> None:
    """Ask a member of the side whether to go out."""
    state.claimants &= ~seat_mask(seat)
    ask(state, CLAIM, seat)


@kernel
def decline(state: Row, seat: int) -> None:
    """DR-3.8. Ask the next of the side clockwise, or go on."""
    if state.claimants:
        ask_claimant(state, next_seat_in(state.claimants, seat))
    elif state.led == NO_CARD:
        prepare_lead(state)
    else:
        ask_next_to_follow(state, state.leader)


@rare_kernel
def claim(state: Row, seat: int) -> None:
    """DR-3.5, DR-3.6, DR-8.8, DR-8.9. Go out."""
    side = side_of(state, seat)
    others = state.active & ~side
    if points_of(state, side) >= WIN:
        if state.closer == NO_SEAT or has_seat(side, state.closer):
            award_win(state, side)
        else:
            award_against_closer(state)
        return
    strokes = 2
    if state.closer == seat and state.closed_tricks[lowest_bit(others)] == 0:
        strokes = 3
    award(state, others, strokes)


# ----------------------------------------------------------------------------------------------
# The talon


@kernel
def prepare_lead(state: Row) -> None:
    """Before the winner of a trick leads: maybe the nine and closing, then the draws."""
    if is_loose(state):
        if may_exchange_nine(state, state.leader) or may_close(state):
            ask(state, BEFORE_DRAW, state.leader)
        else:
            draw_both(state)
    else:
        begin_lead(state, state.leader)


@rare_kernel
def draw_both(state: Row) -> None:
    """DR-8.2. The winner draws, then the other; Ace of Hearts may show, or be turned up."""
    winner = state.leader
    bottom = state.known_bottom
    draw(state, winner)
    draw(state, next_seat_in(state.active, winner))
    if state.game == DEUTSCH and state.stock_size == 0:
        state.unseen = bottom
    begin_lead(state, winner)
    if state.game == ACE_OF_HEARTS_GAME and state.trump == NO_SUIT:
        look_for_ace(state)


@kernel
def draw(state: Row, seat: int) -> None:
    """Draw the top card of the talon; all know it if it lies open, or is the indicator."""
    state.stock_size -= 1
    card = card_at(state.stock, state.stock_size)
    state.hands[seat] |= card_mask(card)
    if state.is_face_up or card == state.known_bottom:
        state.known[seat] |= card_mask(card)
    if card == state.known_bottom:
        state.known_bottom = NO_CARD


@kernel
def look_for_ace(state: Row) -> None:
    """DR-5.7, DR-5.6. Who has the ace of hearts names trumps; else the talon may be turned up."""
    for seat in range(MAX_PLAYERS):
        if has_card(state.hands[seat], ACE_OF_HEARTS):
            if state.is_face_up:
                turn_talon(state)
            show_ace(state, seat)
            return
    bar_ace(state)
    if state.stock_size == (0 if state.is_face_up else TURNED_UP_AT):
        turn_talon(state)


@kernel
def bar_ace(state: Row) -> None:
    """DR-9.7. Nobody has shown the ace of hearts, so nobody holds it."""
    for seat in range(MAX_PLAYERS):
        state.barred[seat] |= card_mask(ACE_OF_HEARTS) if has_seat(state.active, seat) else 0


@kernel
def show_ace(state: Row, seat: int) -> None:
    """DR-5.1, DR-5.6. The holder of the ace of hearts names trumps."""
    state.unseen = NO_CARD
    state.known[seat] |= card_mask(ACE_OF_HEARTS)
    for other in range(MAX_PLAYERS):
        state.barred[other] &= ~card_mask(ACE_OF_HEARTS)
    ask(state, NAME_TRUMP, seat)


@rare_kernel
def turn_talon(state: Row) -> None:
    """DR-5.7, DR-5.8. Turn the talon over as a block, up or down again."""
    size = state.stock_size
    if state.is_face_up and size:
        state.known_bottom = card_at(state.stock, size - 1)
    for index in range(size // 2):
        held = state.stock[index]
        state.stock[index] = state.stock[size - 1 - index]
        state.stock[size - 1 - index] = held
    state.is_face_up = 1 - state.is_face_up


@rare_kernel
def exchange_nine(state: Row, seat: int) -> None:
    """DR-8.3. The nine of trumps for the indicator, which lies at the bottom of the talon."""
    nine = state.trump * NUM_RANKS + NINE
    indicator = card_at(state.stock, 0)
    state.hands[seat] = state.hands[seat] & ~card_mask(nine) | card_mask(indicator)
    state.known[seat] = state.known[seat] & ~card_mask(nine) | card_mask(indicator)
    state.stock[0] = nine
    state.known_bottom = nine


@rare_kernel
def close(state: Row, seat: int) -> None:
    """DR-8.6. Nobody draws any more; what both have is noted."""
    state.closer = seat
    for other in range(MAX_PLAYERS if not is_played_out(state) else 0):
        state.closed_points[other] = points_of(state, seat_mask(other))
        state.closed_tricks[other] = state.tricks[other]
    if state.is_face_up:
        turn_talon(state)
