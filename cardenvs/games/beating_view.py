"""What the views of the Danish beating games share: facts, unknown cards, deals, words.

Observations of both hold some pieces in the same order, so that kernels here need to know only
where the first of them begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cardenvs.core.cards import NO_CARD, card_at, card_mask, each_card
from cardenvs.core.deals import DealReader
from cardenvs.core.kernel import kernel, popcount, read_number, write_entry, write_number
from cardenvs.core.layout import flag, number
from cardenvs.core.match import GAME, MAX_GAMES
from cardenvs.core.rows import Observation
from cardenvs.core.seats import (
    read_seat,
    relative_seat,
    relative_seats,
    seat_mask,
    write_seats,
)
from cardenvs.games.beating import DECK, MAX_TURNS, NUM_CARDS, BeatingRow

#: How far the game and the match have come; see `write_progress`.
PROGRESS = (
    number("no_progress", 120, "turns in a row without progress"),
    number("turns", MAX_TURNS, "finished turns of this game"),
    number("games_played", MAX_GAMES, "finished games of the match"),
    flag("capped", "a cap has ended a game of the match"),
)

#: How each player stands; see `write_standing`.
STANDING = (
    flag("dealer", "dealt this game", per_player=True),
    flag("active", "still in the game", per_player=True),
    number("hand_size", NUM_CARDS, "cards in this hand", per_player=True),
    number("lost", GAME * MAX_GAMES, "losses of the match so far, in 1/60 game", per_player=True),
    number("last_lost", GAME, "loss in the last finished game, in 1/60 game", per_player=True),
)


# ----------------------------------------------------------------------------------------------
# Observations, and reading them back into a row in which the observer is seat 0


@kernel
def write_progress(state: BeatingRow, out: Observation, at: int) -> None:
    """Write the pieces of `PROGRESS`."""
    write_entry(out, at, state.no_progress)
    write_number(out, at + 1, state.turns)
    write_entry(out, at + 3, state.games_played)
    write_entry(out, at + 4, state.truncated)


@kernel
def read_progress(observation: Observation, state: BeatingRow, at: int) -> None:
    """Read the pieces of `PROGRESS`."""
    state.no_progress = card_at(observation, at)
    state.turns = read_number(observation, at + 1)
    state.games_played = card_at(observation, at + 3)
    state.deal_number = state.games_played
    state.truncated = card_at(observation, at + 4)


@kernel
def write_seat(state: BeatingRow, seat: int, observer: int, out: Observation, at: int) -> None:
    """Write which seat it is, as flags of the players."""
    num_players = state.num_players
    write_seats(out, at, seat_mask(relative_seat(seat, observer, num_players)), num_players)


@kernel
def write_standing(state: BeatingRow, observer: int, out: Observation, at: int) -> None:
    """Write the pieces of `STANDING`."""
    num_players = state.num_players
    write_seat(state, state.dealer, observer, out, at)
    active = relative_seats(state.active, observer, num_players)
    write_seats(out, at + num_players, active, num_players)
    for seat in range(num_players):
        place = at + relative_seat(seat, observer, num_players)
        write_entry(out, place + 2 * num_players, popcount(state.hands[seat]))
        write_number(out, 2 * place - at + 3 * num_players, -state.score[seat])
        write_entry(out, place + 5 * num_players, -state.last_score[seat])


@kernel
def read_standing(observation: Observation, state: BeatingRow, at: int) -> None:
    """Read the pieces of `STANDING`, the sizes of the hands apart."""
    num_players = state.num_players
    state.dealer = read_seat(observation, at, num_players)
    state.active = 0
    for seat in range(num_players):
        place = at + seat
        if observation[place + num_players]:
            state.active |= seat_mask(seat)
        state.score[seat] = -read_number(observation, at + 3 * num_players + 2 * seat)
        state.last_score[seat] = -card_at(observation, place + 5 * num_players)


@kernel
def free_places(observation: Observation, state: BeatingRow, at: int, seat: int) -> int:
    """How many cards a hand lacks; `at` is where the pieces of `STANDING` begin."""
    size = card_at(observation, at + 2 * state.num_players + seat)
    return size - popcount(state.hands[seat])


@kernel
def fill_hands(observation: Observation, state: BeatingRow, at: int, count: int) -> None:
    """Deal hands what they lack from the end of the stock, which holds so many cards."""
    for seat in range(1, state.num_players):
        for _ in range(free_places(observation, state, at, seat)):
            count -= 1
            state.hands[seat] |= card_mask(card_at(state.stock, count))


@kernel
def put_into_stock(state: BeatingRow, index: int, card: int) -> None:
    """Put a card where it has so many below it; the cards above make room."""
    for place in range(state.stock_size - 1, index, -1):
        state.stock[place] = state.stock[place - 1]
    state.stock[index] = card


# ----------------------------------------------------------------------------------------------
# Deals as data, and words


def read_cards(deal: Any, row: BeatingRow) -> tuple[DealReader, list[int], list[int]]:
    """Write dealer, hands and stock of a position into a row.

    Returns:
        The reader of the deal, the hands as sets, and the stock, its top card first.
    """
    reader = DealReader(deal, DECK, int(row.num_players))
    reader.check_keys("dealer", "hands", "stock", "leader", "exposed", "trump")
    hands, stock = reader.hands(), reader.card_list("stock")
    row.dealer = reader.seat("dealer", 0)
    row.hands[: len(hands)] = hands
    row.stock_size = len(stock)
    row.stock[: len(stock)] = stock[::-1]
    return reader, hands, stock


def deal_text(row: BeatingRow) -> dict[str, Any]:
    """Return the start of a game as data that `read_deal` takes."""
    deal: dict[str, Any] = {
        "dealer": row.dealer,
        "hands": [" ".join(DECK.texts(hand)) for hand in row.hands[: row.num_players]],
        "stock": " ".join(stock(row)),
        "leader": row.leader,
        "trump": DECK.suits[row.trump],
    }
    if row.exposed != NO_CARD:
        deal["exposed"] = DECK.text(row.exposed)
    return deal


def hands(row: BeatingRow) -> list[set[str]]:
    """Return the cards in each seat's hand."""
    return [set(DECK.texts(hand)) for hand in row.hands[: row.num_players]]


def stock(row: BeatingRow) -> list[str]:
    """Return the cards of the stock, the top one first."""
    return [DECK.text(card) for card in row.stock[: row.stock_size][::-1]]


def standing_facts(row: BeatingRow) -> dict[str, Any]:
    """Return the public facts that both games know under the same names."""
    players = range(row.num_players)
    return {
        "trump": DECK.suits[row.trump],
        "leader": row.leader,
        "waste": set(DECK.texts(row.waste)),
        "hand_sizes": [row.hands[seat].bit_count() for seat in players],
        "stock_size": row.stock_size,
        "known": [set(DECK.texts(row.known[seat])) for seat in players],
        "active": [bool(row.active >> seat & 1) for seat in players],
        "no_progress": row.no_progress,
        "games_played": row.games_played,
        "dealer": row.dealer,
    }


def turn_words(word: str, finished: int, phase: str) -> str:
    """Return which turn it is, or how many there were."""
    return f"{finished} {word}s, over" if phase == "over" else f"{word} {finished + 1}, {phase}"


def player_line(
    row: BeatingRow, facts: Mapping[str, Any], seat: int, roles: Sequence[str], is_open: bool
) -> str:
    """Return a player's roles, score and cards; hidden ones as question marks, the last."""
    shown_roles = [role for role in (*roles, "dealer") if facts[role] == seat]
    if not facts["active"][seat]:
        shown_roles = ["out"]
    known = facts["known"][seat]
    cards = [DECK.text(card) for card in each_card(row.hands[seat])]
    shown = [card if is_open or card in known else "??" for card in cards]
    if not is_open:
        shown.sort(key=lambda card: card == "??")
    score = row.score[seat] / GAME
    return f"player {seat} [{', '.join(shown_roles)}] score {score:g}: {' '.join(shown)}"
