"""Dreeg as data and as text: deals, actions, facts, tables. Rules: docs/games/dreeg.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.cards import NO_CARD, each_card, set_of
from cardenvs.core.deals import DealReader
from cardenvs.core.errors import DealError
from cardenvs.core.seats import NO_SEAT
from cardenvs.games.dreeg_cards import ACE_OF_HEARTS, DECK, NO_SUIT, NUM_CARDS, NUM_RANKS, NUM_SUITS
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
    NUM_PHASES,
    OUT,
    PACKET,
    PHASE_GAMES,
    RUFEN,
    START_STROKES,
    SUBGAMES,
    SURRENDER,
    TRUMP,
    Node,
    Row,
)

#: What a seat sees of the node. Where it would betray the nine of trumps that a player is asked
#: before the draw (DR-9.5), others see `before_draw` until they see the draw, asked or not.
SEEN_NODES = ("elect", "call", "trump", "before_draw", "lead", "follow", "claim", "over")
#: Public facts that name cards without saying where they are.
PLACELESS_FACTS = ("called", "lacks")


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
    _read_phase(reader, row)
    _check_hands(row, hands, talon, active)
    row.dealer = reader.seat("dealer", 0)
    order = [(int(row.dealer) + place) % num_players for place in range(1, num_players + 1)]
    order = [seat for seat in order if hands[seat]]
    row.leader = reader.leader(int(row.dealer), [set_of(hand) for hand in hands])
    strokes = [START_STROKES if hand else 0 for hand in hands]
    if "strokes" in deal:
        strokes = reader.numbers("strokes", num_players, range(START_STROKES + 1))
    for seat, hand in enumerate(hands):
        if (strokes[seat] > 0) != bool(hand):
            raise DealError(f"seat {seat} has {strokes[seat]} strokes and {len(hand)} cards")
    row.strokes[:num_players] = strokes
    most_blobs = int(row.phase) if row.scope == 0 else NUM_PHASES
    row.blobs[:num_players] = reader.numbers("blobs", num_players, range(most_blobs + 1))
    row.first_phase = row.phase
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


def _read_phase(reader: DealReader, row: Row) -> None:
    phase = reader.number("phase", range(1, NUM_PHASES + 1))
    game = reader.choice("subgame", SUBGAMES)
    if phase is not None and row.scope != 0:
        raise DealError("'phase' belongs to a match: it needs scope='match'")
    if row.scope == 0:
        if phase is None:
            phase = 1 if game is None else PHASE_GAMES.tolist().index(game) + 1
        fitting = int(PHASE_GAMES[phase - 1])
        if game not in (None, fitting):
            raise DealError(f"phase {phase} is {SUBGAMES[fitting]}, not {SUBGAMES[game]}")
        row.phase, row.game = phase - 1, fitting
    else:
        row.game = int(row.subgame) if game is None else game
        row.phase = row.game  # the first phase of that sub-game


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
        deal["phase"] = row.first_phase + 1
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
        Node.LEAD: "rules DR-2.1, DR-2.5, DR-6.4, DR-7.2, DR-7.3, DR-8.3, DR-8.5 (the lead)",
        Node.FOLLOW: "rules DR-2.2, DR-2.4 and DR-6.5 (follow suit, head the trick, trump)",
        Node.CLAIM: "rule DR-3.8 (go out with 66 points, or go on)",
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
    return {
        "phase": row.phase + 1,
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
        "team": None if _is_partner_hidden(row) else _seats(row.team),
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


def _is_partner_hidden(row: Row) -> bool:
    return row.game == RUFEN and row.team != 0 and not row.is_partner_public


def shown_unasked(row: Row) -> list[bool]:
    """DR-5.1, DR-5.6. Return which seats have had to show the ace of hearts."""
    return [bool(known >> ACE_OF_HEARTS & 1) for known in row.known]


def render_text(row: Row, observer: int) -> str:
    """Return the table as text: as a seat sees it, or with open cards for NO_SEAT."""
    facts = public_facts(row)
    lines = [
        f"Dreeg, phase {facts['phase']}, {facts['subgame']}, deal {facts['deals_played'] + 1}, "
        f"{facts['node']}",
        f"trumps {facts['trump'] or 'none'}, {_talon_text(facts)}",
        ", ".join(f"{name} {facts[name] or 'none'}" for name in ("turned", "called", "last_suit")),
    ]
    is_unseen = row.unseen != NO_CARD and observer not in (NO_SEAT, row.leader)
    for seat in range(row.num_players):
        hand = row.hands[seat]
        if is_unseen and row.active >> seat & 1:
            hand &= ~(1 << row.unseen)
        is_open = observer in (NO_SEAT, seat)
        is_of_team = seat in _seen_team(row, observer)
        lines.append(_player_line(facts, seat, DECK.texts(hand), is_open, is_of_team))
    if facts["trick"]:
        cards = ", ".join(f"{card} (player {seat})" for card, seat in facts["trick"])
        lines.append(f"trick: {cards}")
    return "\n".join(lines)


def _talon_text(facts: dict[str, Any]) -> str:
    text = f"talon {facts['talon_size']}"
    text += f", {facts['talon_top']} open on top" if facts["talon_top"] else ""
    text += f", {facts['talon_bottom']} at the bottom" if facts["talon_bottom"] else ""
    if facts["closer"] is not None:
        text += f", closed at points {facts['closed_points']} and tricks {facts['closed_tricks']}"
    return text


def _seen_team(row: Row, observer: int) -> list[int]:
    """Return soloist, caller and partner, as far as a seat knows; all of them for NO_SEAT."""
    if _is_partner_hidden(row) and observer != NO_SEAT:
        return [seat for seat in _seats(row.team) if seat in (row.leader, observer)]
    return _seats(row.team)


def _player_line(
    facts: dict[str, Any], seat: int, cards: list[str], is_open: bool, is_of_team: bool
) -> str:
    roles = [role for role in ("leader", "dealer", "closer", "durchmarsch") if facts[role] == seat]
    roles += ["team"] if is_of_team else []
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
