"""What a seat sees of Brede Mette, and the game as text. Rules: docs/games/brede_mette.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.cards import (
    NO_CARD,
    card_at,
    card_mask,
    each_card,
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
    popcount,
    write_entry,
    write_number,
)
from cardenvs.core.layout import flag, flags, number, one_hot, piece_index, piece_offsets
from cardenvs.core.rng import Stream, begin_randomness
from cardenvs.core.rows import CardMask, Observation
from cardenvs.core.seats import (
    NO_SEAT,
    has_seat,
    left_of,
    read_seat,
    relative_seat,
)
from cardenvs.core.worlds import hand_dealer
from cardenvs.games.beating import (
    ALL_CARDS,
    DECK,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    added_by,
    ask,
    rank_cards,
)
from cardenvs.games.beating_view import (
    PROGRESS,
    STANDING,
    fill_hands,
    free_places,
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
from cardenvs.games.brede_mette import (
    ACTIONS,
    BEAT,
    EXCHANGE,
    LEAD,
    LEADER_ADDS,
    OTHERS_ADD,
    OVER,
    PASS,
    RESPOND,
    STOP_OR_DONE,
    TAKE,
    Phase,
    Row,
    ask_others_to_add,
    attack_card,
    beaters_of,
    of_attack_rank,
    table_cards,
)

_CARDS = DECK.texts(ALL_CARDS)
_SUITS = DECK.suits

#: What a seat sees of the phase: who adds is nobody else's business (BM-7.3).
SEEN_PHASES = ("lead", "adding", "responding", "over")

OBSERVATION = (
    flags("hand", _CARDS, "own hand"),
    one_hot("attack_rank", DECK.ranks, "rank of the attack cards"),
    flags("attack", DECK.suits, "suits of the attack cards"),
    *(one_hot(f"beater_{each}", _CARDS, f"beats the attack card of {each}") for each in _SUITS),
    *(flags(f"used_{each}", _CARDS, f"cards exchanged onto that of {each}") for each in _SUITS),
    flags("barred", DECK.suits, "suits of the attack rank that the observer, on turn, may not add"),
    flags("waste", _CARDS, "cards out of play"),
    one_hot("trump", DECK.suits, "trump suit"),
    one_hot("upcard_rank", DECK.ranks, "rank of the upcard, a trump; none if there is none"),
    number("stock_size", NUM_CARDS, "cards in the stock, of which the upcard is the last"),
    one_hot("phase", SEEN_PHASES, "phase"),
    flag("on_turn", "the observer is asked now"),
    *PROGRESS,
    flags("known", _CARDS, "cards that all know to be in this hand", per_player=True),
    flags("added", DECK.suits, "suits of the attack cards of this seat", per_player=True),
    flags("no_rank", DECK.ranks, "ranks proved not to be in this hand, but known", per_player=True),
    flags("no_beaters", _CARDS, "cards that this hand is proved not to beat", per_player=True),
    number("draws", NUM_CARDS, "cards drawn in this turn", per_player=True),
    flag("leader", "leads this turn", per_player=True),
    flag("attacker", "gets the pile if it is passed back", per_player=True),
    flag("defender", "answers the attack", per_player=True),
    *STANDING,
)

OFFSETS = piece_offsets(OBSERVATION, MAX_PLAYERS)

HAND = piece_index(OBSERVATION, "hand")
ATTACK_RANK = piece_index(OBSERVATION, "attack_rank")
ATTACK = piece_index(OBSERVATION, "attack")
BEATERS = piece_index(OBSERVATION, "beater_C")  # those of the other suits follow
USED = piece_index(OBSERVATION, "used_C")  # likewise
BARRED = piece_index(OBSERVATION, "barred")
WASTE = piece_index(OBSERVATION, "waste")
TRUMP = piece_index(OBSERVATION, "trump")
UPCARD_RANK = piece_index(OBSERVATION, "upcard_rank")
STOCK_SIZE = piece_index(OBSERVATION, "stock_size")
PHASE = piece_index(OBSERVATION, "phase")
ON_TURN = piece_index(OBSERVATION, "on_turn")
PROGRESS_BEGIN = piece_index(OBSERVATION, PROGRESS[0].name)
KNOWN = piece_index(OBSERVATION, "known")
ADDED = piece_index(OBSERVATION, "added")
NO_RANK = piece_index(OBSERVATION, "no_rank")
NO_BEATERS = piece_index(OBSERVATION, "no_beaters")
DRAWS = piece_index(OBSERVATION, "draws")
LEADER = piece_index(OBSERVATION, "leader")
ATTACKER = piece_index(OBSERVATION, "attacker")
DEFENDER = piece_index(OBSERVATION, "defender")
STANDING_BEGIN = piece_index(OBSERVATION, STANDING[0].name)

write_deck, read_deck = bit_writer(NUM_CARDS), bit_reader(NUM_CARDS)
write_ranks, read_ranks = bit_writer(NUM_RANKS), bit_reader(NUM_RANKS)
write_suits, read_suits = bit_writer(NUM_SUITS), bit_reader(NUM_SUITS)
write_phases, read_phases = bit_writer(len(SEEN_PHASES)), bit_reader(len(SEEN_PHASES))

SEEN_LEAD, SEEN_ADDING, SEEN_RESPONDING, SEEN_OVER = range(len(SEEN_PHASES))
SEEN_PHASE_OF = np.array(
    [SEEN_LEAD, SEEN_ADDING, SEEN_ADDING, SEEN_RESPONDING, SEEN_OVER], np.int64
)


# ----------------------------------------------------------------------------------------------
# Observations


@kernel
def write_observation(state: Row, seat: int, out: Observation) -> None:
    """BM-7. Write what a seat sees, int8 [O]."""
    at = OFFSETS[state.num_players]
    is_on_turn = state.current_player == seat
    write_deck(out, at[HAND], state.hands[seat])
    write_deck(out, at[WASTE], state.waste)
    write_table(state, out, at)
    write_suits(out, at[BARRED], suits_in(state, state.barred) if is_on_turn else 0)
    write_suits(out, at[TRUMP], 1 << state.trump)
    upcard = state.exposed
    write_ranks(out, at[UPCARD_RANK], 1 << upcard % NUM_RANKS if upcard != NO_CARD else 0)
    write_entry(out, at[STOCK_SIZE], state.stock_size)
    write_phases(out, at[PHASE], 1 << SEEN_PHASE_OF[state.phase])
    write_entry(out, at[ON_TURN], is_on_turn)
    write_progress(state, out, at[PROGRESS_BEGIN])
    write_players(state, seat, out, at)


@kernel
def write_table(state: Row, out: Observation, at: Any) -> None:
    """Write the attack cards, what beats them, and the exchanges used up."""
    write_ranks(out, at[ATTACK_RANK], 1 << state.attack_rank if state.attack_cards else 0)
    write_suits(out, at[ATTACK], suits_in(state, state.attack_cards))
    for suit in range(NUM_SUITS):
        beater = card_at(state.beaters, suit)
        beaters = card_mask(beater) if beater != NO_CARD else 0
        write_deck(out, at[BEATERS] + suit * NUM_CARDS, beaters)
        write_deck(out, at[USED] + suit * NUM_CARDS, state.used[suit])


@kernel
def suits_in(state: Row, cards: CardMask) -> int:
    """The suits of the cards of the attack rank in a set."""
    suits = 0
    for suit in range(NUM_SUITS):
        suits |= (cards >> attack_card(state, suit) & 1) << suit
    return suits


@kernel
def write_players(state: Row, observer: int, out: Observation, at: Any) -> None:
    """Write what is known of each player, the observer first."""
    num_players = state.num_players
    for seat in range(num_players):
        place = relative_seat(seat, observer, num_players)
        write_deck(out, at[KNOWN] + place * NUM_CARDS, state.known[seat])
        write_suits(out, at[ADDED] + place * NUM_SUITS, added_by(state, seat))
        write_ranks(out, at[NO_RANK] + place * NUM_RANKS, state.no_ranks[seat])
        write_deck(out, at[NO_BEATERS] + place * NUM_CARDS, state.no_beaters[seat])
        write_entry(out, at[DRAWS] + place, state.draws[seat])
    write_seat(state, state.leader, observer, out, at[LEADER])
    write_seat(state, state.attacker, observer, out, at[ATTACKER])
    write_seat(state, state.defender, observer, out, at[DEFENDER])
    write_standing(state, observer, out, at[STANDING_BEGIN])


@kernel
def write_event(state: Row, action: int, seat: int, out: Observation) -> bool:
    """Write what a seat sees of an action before it is played; return False if it sees nothing.

    BM-7.3: others never see that a player was asked to add and stopped.
    """
    actor = state.current_player
    is_stop = action == STOP_OR_DONE and state.phase != RESPOND
    if is_stop and seat != actor:
        return False
    write_entry(out, 0, relative_seat(actor, seat, state.num_players))
    write_number(out, 1, action + 1)
    return True


# ----------------------------------------------------------------------------------------------
# Worlds


@kernel
def read_table(observation: Observation, state: Row, at: Any) -> None:
    """Read the facts of the table."""
    num_players = state.num_players
    state.trump = lowest_bit(read_suits(observation, at[TRUMP]))
    upcard_rank = read_ranks(observation, at[UPCARD_RANK])
    state.exposed = NO_CARD
    if upcard_rank:
        state.exposed = state.trump * NUM_RANKS + lowest_bit(upcard_rank)
    state.stock_size = card_at(observation, at[STOCK_SIZE])
    read_progress(observation, state, at[PROGRESS_BEGIN])
    state.waste = read_deck(observation, at[WASTE])
    state.leader = read_seat(observation, at[LEADER], num_players)
    state.attacker = read_seat(observation, at[ATTACKER], num_players)
    state.defender = read_seat(observation, at[DEFENDER], num_players)


@kernel
def read_players(observation: Observation, state: Row, at: Any) -> None:
    """Read what is known of each player; hands hold the known cards only, as yet."""
    read_standing(observation, state, at[STANDING_BEGIN])
    state.added = 0
    state.made_progress = 0
    for seat in range(state.num_players):
        state.known[seat] = read_deck(observation, at[KNOWN] + seat * NUM_CARDS)
        state.hands[seat] = state.known[seat]
        state.no_ranks[seat] = read_ranks(observation, at[NO_RANK] + seat * NUM_RANKS)
        state.no_beaters[seat] = read_deck(observation, at[NO_BEATERS] + seat * NUM_CARDS)
        state.draws[seat] = card_at(observation, at[DRAWS] + seat)
        added = read_suits(observation, at[ADDED] + seat * NUM_SUITS)
        state.added |= added << (seat * NUM_SUITS)
        has_gone_out = added != 0 and not has_seat(state.active, seat)
        if has_gone_out or state.draws[seat]:
            state.made_progress = 1
    state.hands[0] = read_deck(observation, at[HAND])


@kernel
def read_attack(observation: Observation, state: Row, at: Any) -> None:
    """Read the attack cards and what beats them."""
    suits = read_suits(observation, at[ATTACK])
    state.attack_cards = 0
    state.beaten = 0
    state.attack_rank = 0
    if suits:
        state.attack_rank = lowest_bit(read_ranks(observation, at[ATTACK_RANK]))
    for suit in range(NUM_SUITS):
        card = card_mask(attack_card(state, suit))
        beater = read_deck(observation, at[BEATERS] + suit * NUM_CARDS)
        state.used[suit] = read_deck(observation, at[USED] + suit * NUM_CARDS)
        state.beaters[suit] = lowest_card(beater) if beater else NO_CARD
        if has_card(suits, suit):
            state.attack_cards |= card
        if beater:
            state.beaten |= card


@kernel
def read_phase(observation: Observation, state: Row, at: Any) -> None:
    """Read the node: that of the observer on turn, or one after the last public event."""
    seen = lowest_bit(read_phases(observation, at[PHASE]))
    state.barred = 0
    if seen == SEEN_LEAD:
        ask(state, LEAD, state.leader)
    elif seen == SEEN_RESPONDING:
        ask(state, RESPOND, state.defender)
    elif seen == SEEN_OVER:
        ask(state, OVER, NO_SEAT)
    elif observation[at[ON_TURN]]:
        ask(state, LEADER_ADDS if state.leader == 0 else OTHERS_ADD, 0)
    else:
        go_on_adding(state)
    if observation[at[ON_TURN]]:
        barred = read_suits(observation, at[BARRED])
        for suit in range(NUM_SUITS):
            if has_card(barred, suit):
                state.barred |= card_mask(attack_card(state, suit))


@kernel
def go_on_adding(state: Row) -> None:
    """Go on from the last card put down: who did may add more, or (at the least) stop.

    Where that was the observer, or one who has gone out, the next one is asked; where that is the
    observer, he has stopped. Of lower cards in the hand none may be added, but for the upcard where
    all have seen that it was drawn since.
    """
    adder = last_adder(state)
    if adder != 0 and has_seat(state.active, adder):
        ask(state, LEADER_ADDS if adder == state.leader else OTHERS_ADD, adder)
        added = added_by(state, adder)
        while without_lowest(added):
            added = without_lowest(added)
        last = attack_card(state, lowest_bit(added))
        state.barred = of_attack_rank(state, adder) & (card_mask(last) - 1)
        is_one = without_lowest(added_by(state, adder)) == 0
        if is_one and state.exposed != NO_CARD and state.stock_size == 0 and state.draws[adder]:
            state.barred &= ~(state.known[adder] & card_mask(state.exposed))
        return
    skip_forced, state.skip_forced = state.skip_forced, 0  # the observer sees no forced node
    before = state.defender if adder == state.leader else adder
    ask_others_to_add(state, left_of(before, state.num_players))
    if state.current_player == 0:
        ask_others_to_add(state, left_of(0, state.num_players))
    state.skip_forced = skip_forced


@kernel
def last_adder(state: Row) -> int:
    """The last seat that has put cards down while cards are added."""
    found: int = state.leader
    seat = left_of(state.defender, state.num_players)
    while seat != state.leader:
        if added_by(state, seat):
            found = seat
        seat = left_of(seat, state.num_players)
    return found


@kernel
def barred_by_proofs(state: Row, seat: int) -> int:
    """BM-7.4. The cards that a hand, apart from its known cards, is proved not to hold."""
    barred = 0
    ranks = state.no_ranks[seat]
    while ranks:
        barred |= rank_cards(lowest_bit(ranks))
        ranks = without_lowest(ranks)
    attack = state.no_beaters[seat]
    while attack:
        barred |= beaters_of(state, lowest_card(attack))
        attack = without_lowest(attack)
    return barred


deal_proved_hands = hand_dealer(barred_by_proofs, free_places)


@kernel
def place_unknown_cards(observation: Observation, rng: Stream, state: Row, at: int) -> None:
    """Deal the cards that the observer has not seen to the other hands and the stock."""
    has_upcard = state.exposed != NO_CARD and state.stock_size > 0
    in_stock = card_mask(state.exposed) if has_upcard else 0
    unknown = ALL_CARDS & ~(state.waste | table_cards(state) | in_stock)
    for seat in range(state.num_players):
        unknown &= ~state.hands[seat]
    has_free_stock = state.stock_size > popcount(in_stock)
    left = deal_proved_hands(observation, rng, state, at, unknown, has_free_stock)
    fill_hands(observation, state, at, shuffle_set(state.stock, left, rng))
    if has_upcard:
        put_into_stock(state, 0, state.exposed)


@kernel
def sample_world(observation: Observation, rng: Stream, state: Row) -> None:
    """Fill a row, whose options are set, with a world that an observation allows.

    The observer is seat 0. All worlds that the known cards and the proofs of BM-7.4 leave possible
    are equally likely.
    """
    at = OFFSETS[state.num_players]
    read_table(observation, state, at)
    read_players(observation, state, at)
    read_attack(observation, state, at)
    place_unknown_cards(observation, rng, state, at[STANDING_BEGIN])
    read_phase(observation, state, at)
    begin_randomness(state, rng)


# ----------------------------------------------------------------------------------------------
# Deals as data


def read_deal(deal: Any, row: Row) -> None:
    """BM-8. Write a position to start from into a row whose options are set.

    Raises:
        DealError: saying what is wrong with it.
    """
    reader, hands, stock = read_cards(deal, row)
    if not any(hands):
        raise DealError("at least one seat must hold cards")
    if stock and not all(hands):
        raise DealError(f"hand {hands.index(0)} is empty, which cannot be while there is a stock")
    row.leader = reader.leader(int(row.dealer), hands)
    row.exposed = reader.card("exposed", stock[-1] if stock else NO_CARD)
    if stock and row.exposed != stock[-1]:
        raise DealError(
            f"exposed={DECK.text(row.exposed)!r} is not the last card of the stock, "
            f"{DECK.text(stock[-1])}"
        )
    row.trump = reader.trump(int(row.exposed))


# ----------------------------------------------------------------------------------------------
# Words


def action_text(row: Row, action: int) -> str:
    """Return the words for an action id in the present phase."""
    if action < PASS:
        return f"{'lead' if row.phase == LEAD else 'add'} {DECK.text(action)}"
    if action < BEAT:
        return f"pass {DECK.text(action - PASS)}"
    if action < STOP_OR_DONE:
        verb, begin = ("beat", BEAT) if action < EXCHANGE else ("exchange", EXCHANGE)
        suit, card = divmod(action - begin, NUM_CARDS)
        return f"{verb} {DECK.ranks[row.attack_rank]}{DECK.suits[suit]} with {DECK.text(card)}"
    if action == TAKE:
        return "take"
    return "done" if row.phase == RESPOND else "stop"


def rule_text(row: Row) -> str:
    """Return the rule that says what is legal in the present phase."""
    return {
        Phase.LEAD: "rule BM-4.1 (the leader leads any card of the hand)",
        Phase.LEADER_ADDS: "rule BM-4.2 (the leader may add cards of the rank led, in order)",
        Phase.OTHERS_ADD: "rule BM-4.3 (the others may add cards of the rank led, in order)",
        Phase.RESPOND: "rules BM-5.1 to BM-5.6 (the defender beats all, passes or takes)",
    }[Phase(row.phase)]


def attack_cards(row: Row) -> list[tuple[str, int]]:
    """Return the attack cards with the seats that put them down, in the order of their ids."""
    return [
        (DECK.text(card), seat)
        for card in each_card(row.attack_cards)
        for seat in range(row.num_players)
        if row.added >> (seat * NUM_SUITS + DECK.suit(card)) & 1
    ]


def _ranks(ranks: int) -> set[str]:
    return {DECK.ranks[rank] for rank in each_card(ranks)}


def public_facts(row: Row) -> dict[str, Any]:
    """BM-7.1. Return what all know of the present game, with absolute seats."""
    players = range(row.num_players)
    rank = DECK.ranks[row.attack_rank]
    return standing_facts(row) | {
        "upcard": DECK.text(row.exposed) if row.exposed != NO_CARD else None,
        "upcard_in_stock": bool(row.stock_size > 0),
        "phase": SEEN_PHASES[SEEN_PHASE_OF[row.phase]],
        "attacker": row.attacker,
        "defender": row.defender,
        "attack": attack_cards(row),
        "beaten_by": {
            f"{rank}{suit}": DECK.text(beater)
            for suit, beater in zip(DECK.suits, row.beaters, strict=True)
            if beater != NO_CARD
        },
        "draws": [row.draws[seat] for seat in players],
        "used_exchanges": {
            (f"{rank}{suit}", card)
            for suit, used in zip(DECK.suits, row.used, strict=True)
            for card in DECK.texts(used)
        },
        "no_rank": [_ranks(row.no_ranks[seat]) for seat in players],
        "no_beaters": [set(DECK.texts(row.no_beaters[seat])) for seat in players],
        "turns": row.turns,
    }


def render_text(row: Row, observer: int) -> str:
    """Return the table as text: as a seat sees it, or with open cards for NO_SEAT."""
    facts = public_facts(row)
    lines = [
        f"Brede Mette, game {facts['games_played'] + (facts['phase'] != 'over')} of "
        f"{row.num_games}, {turn_words('turn', row.turns, facts['phase'])}",
        f"trumps {facts['trump']} (upcard {facts['upcard'] or 'none'}), "
        f"stock {facts['stock_size']}, waste {len(facts['waste'])}, "
        f"{facts['no_progress']} turns without progress",
    ]
    for seat in range(row.num_players):
        is_open = observer in (NO_SEAT, seat)
        lines.append(player_line(row, facts, seat, ("leader", "attacker", "defender"), is_open))
    attack = [f"{_with_beater(card, facts)} (player {seat})" for card, seat in facts["attack"]]
    if attack:
        lines.append(f"attack: {', '.join(attack)}")
    lines.extend(_memory_lines(row, facts))
    return "\n".join(lines)


def _memory_lines(row: Row, facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield what all remember: draws and exchanges of this turn, proofs."""
    players = range(row.num_players)
    drawn = [f"player {seat} {facts['draws'][seat]}" for seat in players if facts["draws"][seat]]
    if drawn:
        yield f"drawn in this turn: {', '.join(drawn)}"
    used = [f"{attack} with {card}" for attack, card in sorted(facts["used_exchanges"])]
    if used:
        yield f"exchanged: {', '.join(used)}"
    for seat in players:
        ranks, attacks = sorted(facts["no_rank"][seat]), sorted(facts["no_beaters"][seat])
        if ranks or attacks:
            yield f"player {seat} lacks ranks {' '.join(ranks)}; beaters of {' '.join(attacks)}"


def _with_beater(card: str, facts: Mapping[str, Any]) -> str:
    beater = facts["beaten_by"].get(card)
    return f"{card} beaten by {beater}" if beater else card


def action_features() -> npt.NDArray[np.float32]:
    """Return a row for each action, float32 [522, 27].

    What it does (6, the ranges of the action layout), rank (13) and suit (4) of the card, suit of
    the attack card that is beaten (4).
    """
    verbs, first_suit = len(ACTIONS.ranges), len(ACTIONS.ranges) + NUM_RANKS
    features = np.zeros((ACTIONS.size, first_suit + 2 * NUM_SUITS), np.float32)
    for verb, part in enumerate(ACTIONS.ranges):
        for index, action in enumerate(range(ACTIONS.size)[ACTIONS.slices[part.name]]):
            features[action, verb] = 1.0
            if part.size > 1:
                attack_suit, card = divmod(index, NUM_CARDS)
                features[action, verbs + DECK.rank(card)] = 1.0
                features[action, first_suit + DECK.suit(card)] = 1.0
            if part.size > NUM_CARDS:
                features[action, first_suit + NUM_SUITS + attack_suit] = 1.0
    return features
