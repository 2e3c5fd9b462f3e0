"""What a seat sees of Bred Ryg, and the game as text. Rule numbers: docs/games/bred_ryg.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.cards import (
    NO_CARD,
    card_at,
    card_mask,
    has_card,
    lowest_card,
    shuffle_set,
    without_lowest,
)
from cardenvs.core.errors import DealError
from cardenvs.core.kernel import (
    bit_reader,
    bit_writer,
    kernel,
    lowest_bit,
    write_entry,
    write_number,
)
from cardenvs.core.layout import flag, flags, number, one_hot, piece_index, piece_offsets
from cardenvs.core.rng import Stream, begin_randomness
from cardenvs.core.rows import Observation
from cardenvs.core.seats import (
    NO_SEAT,
    next_seat_in,
    read_seat,
    relative_seat,
)
from cardenvs.games.beating import (
    ALL_CARDS,
    DECK,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    added_by,
    rank_cards,
    rank_of,
    suit_of,
)
from cardenvs.games.beating_view import (
    PROGRESS,
    STANDING,
    fill_hands,
    player_line,
    put_into_stock,
    read_cards,
    read_progress,
    read_standing,
    standing_facts,
    turn_words,
    write_progress,
    write_seat,
    write_standing,
)
from cardenvs.games.beating_view import deal_text as deal_text
from cardenvs.games.beating_view import hands as hands
from cardenvs.games.beating_view import stock as stock
from cardenvs.games.bred_ryg import (
    EXTRA,
    LEAD,
    LEADER_ADDS,
    OBSERVER_ADDS,
    OVER,
    PASS_OR_TAKE,
    REPLIER_ADDS,
    REPLY,
    Phase,
    Row,
    apply_pass,
    ask_leader_to_add,
    ask_observer_again,
    ask_observers,
    ask_replier_to_add,
)

_CARDS = DECK.texts(ALL_CARDS)

#: What a seat sees of the phase: who adds is nobody else's business (BR-7.3).
SEEN_PHASES = ("lead", "adding", "extra", "replying", "over")

OBSERVATION = (
    flags("hand", _CARDS, "own hand"),
    flags("attack", _CARDS, "all attack cards of this trick"),
    flags("to_answer", _CARDS, "the attack card that the replier answers now"),
    flags("taken", _CARDS, "attack cards of this trick that the replier has taken"),
    flags("waste", _CARDS, "cards out of play"),
    one_hot("attack_rank", DECK.ranks, "rank of the card led"),
    one_hot("trump", DECK.suits, "trump suit"),
    one_hot("exposed_rank", DECK.ranks, "rank of the exposed card, a trump; none if there is none"),
    flag("exposed_in_stock", "the exposed card is in the stock"),
    number("exposed_depth", NUM_CARDS, "cards above the exposed card in the stock"),
    number("stock_size", NUM_CARDS, "cards in the stock"),
    one_hot("phase", SEEN_PHASES, "phase; `extra` shows to the leader on turn alone"),
    flag("on_turn", "the observer is asked now"),
    *PROGRESS,
    flags("known", _CARDS, "cards that all know to be in this hand", per_player=True),
    flags("added", DECK.suits, "suits of the rank led that this seat put down", per_player=True),
    flag("leader", "leads this trick", per_player=True),
    flag("replier", "replies in this trick", per_player=True),
    *STANDING,
)

OFFSETS = piece_offsets(OBSERVATION, MAX_PLAYERS)

HAND = piece_index(OBSERVATION, "hand")
ATTACK = piece_index(OBSERVATION, "attack")
TO_ANSWER = piece_index(OBSERVATION, "to_answer")
TAKEN = piece_index(OBSERVATION, "taken")
WASTE = piece_index(OBSERVATION, "waste")
ATTACK_RANK = piece_index(OBSERVATION, "attack_rank")
TRUMP = piece_index(OBSERVATION, "trump")
EXPOSED_RANK = piece_index(OBSERVATION, "exposed_rank")
EXPOSED_IN_STOCK = piece_index(OBSERVATION, "exposed_in_stock")
EXPOSED_DEPTH = piece_index(OBSERVATION, "exposed_depth")
STOCK_SIZE = piece_index(OBSERVATION, "stock_size")
PHASE = piece_index(OBSERVATION, "phase")
ON_TURN = piece_index(OBSERVATION, "on_turn")
PROGRESS_BEGIN = piece_index(OBSERVATION, PROGRESS[0].name)
KNOWN = piece_index(OBSERVATION, "known")
ADDED = piece_index(OBSERVATION, "added")
LEADER = piece_index(OBSERVATION, "leader")
REPLIER = piece_index(OBSERVATION, "replier")
STANDING_BEGIN = piece_index(OBSERVATION, STANDING[0].name)

write_deck = bit_writer(NUM_CARDS)
write_ranks = bit_writer(NUM_RANKS)
write_suits = bit_writer(NUM_SUITS)
write_phases = bit_writer(len(SEEN_PHASES))
read_deck = bit_reader(NUM_CARDS)
read_ranks = bit_reader(NUM_RANKS)
read_suits = bit_reader(NUM_SUITS)
read_phases = bit_reader(len(SEEN_PHASES))

SEEN_LEAD, SEEN_ADDING, SEEN_EXTRA, SEEN_REPLYING, SEEN_OVER = range(len(SEEN_PHASES))


# ----------------------------------------------------------------------------------------------
# Observations


@kernel
def write_observation(state: Row, seat: int, out: Observation) -> None:
    """BR-7. Write what a seat sees, int8 [O]."""
    at = OFFSETS[state.num_players]
    write_deck(out, at[HAND], state.hands[seat])
    write_deck(out, at[WASTE], state.waste)
    write_trick(state, out, at)
    write_stock(state, out, at)
    phase = seen_phase(state, seat)
    write_phases(out, at[PHASE], 1 << phase)
    write_entry(out, at[ON_TURN], state.current_player == seat)
    write_progress(state, out, at[PROGRESS_BEGIN])
    write_players(state, seat, out, at)


@kernel
def seen_phase(state: Row, seat: int) -> int:
    """BR-7.3. The phase as a seat sees it."""
    phase = state.phase
    if phase == LEAD:
        return SEEN_LEAD
    if phase == REPLY:
        return SEEN_REPLYING
    if phase == OVER:
        return SEEN_OVER
    return SEEN_EXTRA if phase == EXTRA and seat == state.leader else SEEN_ADDING


@kernel
def write_trick(state: Row, out: Observation, at: Any) -> None:
    """Write the attack cards and what has become of them."""
    to_answer = 0
    if state.phase == REPLY:
        to_answer = card_mask(card_at(state.attack, state.num_answered))
    write_deck(out, at[ATTACK], state.attack_cards)
    write_deck(out, at[TO_ANSWER], to_answer)
    write_deck(out, at[TAKEN], state.taken)
    write_ranks(out, at[ATTACK_RANK], 1 << state.attack_rank if state.num_attack else 0)


@kernel
def write_stock(state: Row, out: Observation, at: Any) -> None:
    """Write the size of the stock and what is known of it."""
    is_in_stock = state.exposed_index >= 0
    write_suits(out, at[TRUMP], 1 << state.trump)
    exposed = state.exposed
    write_ranks(out, at[EXPOSED_RANK], 1 << rank_of(exposed) if exposed >= 0 else 0)
    write_entry(out, at[EXPOSED_IN_STOCK], is_in_stock)
    write_entry(
        out, at[EXPOSED_DEPTH], state.stock_size - 1 - state.exposed_index if is_in_stock else 0
    )
    write_entry(out, at[STOCK_SIZE], state.stock_size)


@kernel
def write_players(state: Row, observer: int, out: Observation, at: Any) -> None:
    """Write what is known of each player, the observer first."""
    num_players = state.num_players
    for seat in range(num_players):
        place = relative_seat(seat, observer, num_players)
        write_deck(out, at[KNOWN] + place * NUM_CARDS, state.known[seat])
        write_suits(out, at[ADDED] + place * NUM_SUITS, added_by(state, seat))
    write_seat(state, state.leader, observer, out, at[LEADER])
    write_seat(state, state.replier, observer, out, at[REPLIER])
    write_standing(state, observer, out, at[STANDING_BEGIN])


@kernel
def write_event(state: Row, action: int, seat: int, out: Observation) -> bool:
    """Write what a seat sees of an action before it is played; return False if it sees nothing.

    BR-7.3: others never see that a player was asked to add and passed.
    """
    actor = state.current_player
    is_pass = action == PASS_OR_TAKE and state.phase != REPLY
    if is_pass and seat != actor:
        return False
    write_entry(out, 0, relative_seat(actor, seat, state.num_players))
    write_number(out, 1, action + 1)
    return True


# ----------------------------------------------------------------------------------------------
# Worlds


@kernel
def sample_world(observation: Observation, rng: Stream, state: Row) -> None:
    """Fill a row, whose options are set, with a world that an observation allows.

    The observer is seat 0. All worlds are equally likely: nothing that a player does in this
    game proves the absence of a card, so the unknown cards may lie anywhere.
    """
    at = OFFSETS[state.num_players]
    read_table(observation, state, at)
    read_players(observation, state, at)
    read_trick(observation, state, at)
    place_unknown_cards(observation, rng, state, at)
    read_phase(observation, state, at)
    begin_randomness(state, rng)


@kernel
def read_table(observation: Observation, state: Row, at: Any) -> None:
    """Read the facts of the table."""
    num_players = state.num_players
    state.trump = lowest_bit(read_suits(observation, at[TRUMP]))
    exposed_rank = read_ranks(observation, at[EXPOSED_RANK])
    state.exposed = NO_CARD
    if exposed_rank:
        state.exposed = state.trump * NUM_RANKS + lowest_bit(exposed_rank)
    state.stock_size = card_at(observation, at[STOCK_SIZE])
    state.exposed_index = -1
    if observation[at[EXPOSED_IN_STOCK]]:
        state.exposed_index = state.stock_size - 1 - card_at(observation, at[EXPOSED_DEPTH])
    read_progress(observation, state, at[PROGRESS_BEGIN])
    state.waste = read_deck(observation, at[WASTE])
    state.leader = read_seat(observation, at[LEADER], num_players)
    state.replier = read_seat(observation, at[REPLIER], num_players)


@kernel
def read_players(observation: Observation, state: Row, at: Any) -> None:
    """Read what is known of each player; hands hold the known cards only, as yet."""
    read_standing(observation, state, at[STANDING_BEGIN])
    for seat in range(state.num_players):
        state.known[seat] = read_deck(observation, at[KNOWN] + seat * NUM_CARDS)
        state.hands[seat] = state.known[seat]
    state.hands[0] = read_deck(observation, at[HAND])


@kernel
def read_trick(observation: Observation, state: Row, at: Any) -> None:
    """Read the attack cards back in their order: leader, extra card, observers, replier."""
    attack = read_deck(observation, at[ATTACK])
    state.taken = read_deck(observation, at[TAKEN])
    state.attack_cards = attack
    state.added = 0
    state.num_attack = 0
    state.attack_rank = 0
    if attack:
        state.attack_rank = lowest_bit(read_ranks(observation, at[ATTACK_RANK]))
        read_added(observation, state, at, state.leader)
        extra = attack & ~rank_cards(state.attack_rank)
        if extra:
            append_attack(state, lowest_card(extra))
        seat = next_seat_in(state.active, state.replier)
        while seat != state.leader:
            read_added(observation, state, at, seat)
            seat = next_seat_in(state.active, seat)
        read_added(observation, state, at, state.replier)
    to_answer = read_deck(observation, at[TO_ANSWER])
    state.num_answered = 0
    if to_answer:
        while card_at(state.attack, state.num_answered) != lowest_card(to_answer):
            state.num_answered += 1


@kernel
def read_added(observation: Observation, state: Row, at: Any, seat: int) -> None:
    """Append the cards of the rank led that a seat put down."""
    added = read_suits(observation, at[ADDED] + seat * NUM_SUITS)
    state.added |= added << (seat * NUM_SUITS)
    while added:
        append_attack(state, lowest_bit(added) * NUM_RANKS + state.attack_rank)
        added = without_lowest(added)


@kernel
def append_attack(state: Row, card: int) -> None:
    """Put a card behind the attack cards."""
    state.attack[state.num_attack] = card
    state.num_attack += 1


@kernel
def read_phase(observation: Observation, state: Row, at: Any) -> None:
    """Read the node: that of the observer on turn, or the one after the last public event."""
    seen = lowest_bit(read_phases(observation, at[PHASE]))
    state.last_added = NO_CARD
    if seen == SEEN_LEAD:
        state.phase = LEAD
        state.current_player = state.leader
    elif seen == SEEN_REPLYING:
        state.phase = REPLY
        state.current_player = state.replier
    elif seen == SEEN_OVER:
        state.phase = OVER
        state.current_player = NO_SEAT
    elif observation[at[ON_TURN]]:
        read_adding(state, 0, seen)
    else:
        go_on_adding(state)


@kernel
def go_on_adding(state: Row) -> None:
    """Go on by the rules from the last card put down; where the observer was asked, it passed."""
    skip_forced, state.skip_forced = state.skip_forced, 0  # the observer sees no forced node
    adder = last_adder(state)
    read_adding(state, adder, SEEN_ADDING)
    if rank_of(card_at(state.attack, state.num_attack - 1)) != state.attack_rank:
        ask_observers(state, next_seat_in(state.active, state.replier))
    elif adder == state.leader:
        ask_leader_to_add(state)
    elif adder == state.replier:
        ask_replier_to_add(state)
    else:
        ask_observer_again(state)
    while state.current_player == 0 and state.phase != REPLY:
        apply_pass(state)
    state.skip_forced = skip_forced


@kernel
def last_adder(state: Row) -> int:
    """The seat that put down the last attack card; an extra card is the leader's."""
    card = card_at(state.attack, state.num_attack - 1)
    if rank_of(card) == state.attack_rank:
        for seat in range(state.num_players):
            if has_card(added_by(state, seat), suit_of(card)):
                return seat
    return state.leader


@kernel
def read_adding(state: Row, adder: int, seen: int) -> None:
    """Put the question of adding to a seat, which may have added in this play already."""
    state.current_player = adder
    for suit in range(NUM_SUITS):
        if has_card(added_by(state, adder), suit):
            state.last_added = suit * NUM_RANKS + state.attack_rank
    if adder == state.leader:
        state.phase = EXTRA if seen == SEEN_EXTRA else LEADER_ADDS
    else:
        state.phase = REPLIER_ADDS if adder == state.replier else OBSERVER_ADDS


@kernel
def place_unknown_cards(observation: Observation, rng: Stream, state: Row, at: Any) -> None:
    """Deal the cards that the observer has not seen to the other hands and the stock."""
    seen = state.waste | state.taken | read_deck(observation, at[ATTACK])
    for seat in range(state.num_players):
        seen |= state.hands[seat]
    if state.exposed_index >= 0:
        seen |= card_mask(state.exposed)
    count = shuffle_set(state.stock, ALL_CARDS & ~seen, rng)
    fill_hands(observation, state, at[STANDING_BEGIN], count)
    if state.exposed_index >= 0:
        put_into_stock(state, state.exposed_index, state.exposed)


# ----------------------------------------------------------------------------------------------
# Deals as data


def read_deal(deal: Any, row: Row) -> None:
    """BR-8. Write a position to start from into a row whose options are set.

    Raises:
        DealError: saying what is wrong with it.
    """
    reader, hands, stock = read_cards(deal, row)
    if sum(hand != 0 for hand in hands) < 2:
        raise DealError("at least two seats must hold cards")
    row.leader = reader.leader(int(row.dealer), hands)
    row.exposed = reader.card("exposed", stock[-1] if stock else NO_CARD)
    is_bottom = row.exposed_card == 0
    if is_bottom and stock and row.exposed != stock[-1]:
        raise DealError(
            f"exposed={DECK.text(row.exposed)!r}: with exposed_card='bottom' it is the last "
            f"card of the stock, {DECK.text(stock[-1])}"
        )
    row.trump = reader.trump(int(row.exposed))
    is_in_stock = int(row.exposed) in stock
    row.exposed_index = len(stock) - 1 - stock.index(int(row.exposed)) if is_in_stock else -1


# ----------------------------------------------------------------------------------------------
# Words


def action_text(row: Row, action: int) -> str:
    """Return the words for an action id in the present phase."""
    phase = row.phase
    if action == PASS_OR_TAKE:
        return "take" if phase == REPLY else "pass"
    verbs = {LEAD: "lead", EXTRA: "extra", REPLY: "beat"}
    return f"{verbs.get(phase, 'add')} {DECK.text(action)}"


def rule_text(row: Row) -> str:
    """Return the rule that says what is legal in the present phase."""
    return {
        Phase.LEAD: "rule BR-3.2 (the leader leads any card of the hand)",
        Phase.LEADER_ADDS: "rule BR-3.4 (the leader may add cards of the rank led, in order)",
        Phase.EXTRA: "rule BR-3.5 (the leader may put one card of another rank)",
        Phase.OBSERVER_ADDS: "rule BR-3.6 (an observer may add cards of the rank led, in order)",
        Phase.REPLIER_ADDS: "rule BR-3.7 (the replier may add cards of the rank led, in order)",
        Phase.REPLY: "rules BR-4.2 and BR-4.3 (the replier beats the attack card or takes it)",
    }[Phase(row.phase)]


def attack_cards(row: Row) -> list[tuple[str, int]]:
    """Return the attack cards of the trick with the seats that put them down, in their order."""
    return [(DECK.text(card), _who_put(row, card)) for card in row.attack[: row.num_attack]]


def _who_put(row: Row, card: int) -> int:
    for seat in range(row.num_players):
        if (
            DECK.rank(card) == row.attack_rank
            and row.added >> (seat * NUM_SUITS + DECK.suit(card)) & 1
        ):
            return seat
    return row.leader


_PHASE_WORDS = {LEAD: "lead", REPLY: "replying", OVER: "over"} | dict.fromkeys(
    (LEADER_ADDS, EXTRA, OBSERVER_ADDS, REPLIER_ADDS), "adding"
)


def public_facts(row: Row) -> dict[str, Any]:
    """BR-7.1. Return what all know of the present game, with absolute seats."""
    is_in_stock = row.exposed_index >= 0
    return standing_facts(row) | {
        "exposed": DECK.text(row.exposed) if row.exposed >= 0 else None,
        "exposed_in_stock": bool(is_in_stock),
        "exposed_depth": int(row.stock_size - 1 - row.exposed_index) if is_in_stock else None,
        "phase": _PHASE_WORDS[row.phase],
        "replier": row.replier,
        "attack": attack_cards(row),
        "answered": row.num_answered,
        "taken": set(DECK.texts(row.taken)),
        "tricks": row.turns,
    }


def render_text(row: Row, observer: int) -> str:
    """Return the table as text: as a seat sees it, or with open cards for NO_SEAT."""
    facts = public_facts(row)
    exposed = facts["exposed"] or "none"
    place = f", {facts['exposed_depth']} above it" if facts["exposed_in_stock"] else ", drawn"
    lines = [
        f"Bred Ryg, game {facts['games_played'] + (facts['phase'] != 'over')} of "
        f"{row.num_games}, {turn_words('trick', row.turns, facts['phase'])}",
        f"trumps {facts['trump']} (exposed {exposed}{place}), stock {facts['stock_size']}, "
        f"waste {len(facts['waste'])}, {facts['no_progress']} tricks without progress",
    ]
    for seat in range(row.num_players):
        is_open = observer in (NO_SEAT, seat)
        lines.append(player_line(row, facts, seat, ("leader", "replier"), is_open))
    attack = [f"{card} (player {seat})" for card, seat in facts["attack"]]
    if attack:
        lines.append(f"attack: {', '.join(attack)}; answered {facts['answered']}")
    return "\n".join(lines)


def action_features() -> npt.NDArray[np.float32]:
    """Return a row for each action, float32 [53, 18]: rank (13), suit (4), pass or take (1)."""
    features = np.zeros((PASS_OR_TAKE + 1, NUM_RANKS + NUM_SUITS + 1), np.float32)
    for card in range(NUM_CARDS):
        features[card, DECK.rank(card)] = 1.0
        features[card, NUM_RANKS + DECK.suit(card)] = 1.0
    features[PASS_OR_TAKE, -1] = 1.0
    return features
