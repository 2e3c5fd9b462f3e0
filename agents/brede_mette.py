"""Agents of Brede Mette: by the hints of the rule text, and the control that plays its weakest.

Numbers such as H5 are those of the hints in docs/games/brede_mette.md. The kernels read the
observation of the seat on turn and its action mask, nothing else; which queen is the red one they
are told, since no observation says it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from agents.base import GREEDY, ActKernel, KernelAgent, player_counter
from agents.beating import cheapest, lowest_of, plain_cards
from cardenvs.core.cards import card_mask, has_card, lowest_card
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel, lowest_bit, popcount
from cardenvs.core.rng import Stream
from cardenvs.core.rows import CardMask, Mask, Observation
from cardenvs.games.beating import (
    DECK,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    rank_cards,
    rank_of,
    suit_cards,
)
from cardenvs.games.brede_mette import BEAT, EXCHANGE, PASS, STOP_OR_DONE, TAKE, is_complete
from cardenvs.games.brede_mette_view import (
    ATTACK,
    BEATERS,
    OBSERVATION,
    OFFSETS,
    PHASE,
    SEEN_LEAD,
    SEEN_RESPONDING,
    STOCK_SIZE,
    TRUMP,
    read_deck,
    read_phases,
    read_suits,
)

num_players_of = player_counter(OBSERVATION)


# ----------------------------------------------------------------------------------------------
# By the hints


@cache
def rules_kernel(queen: int) -> ActKernel:
    """Make the agent that plays by the hints, for one red queen."""

    @kernel
    def act(observation: Observation, mask: Mask, rng: Stream) -> int:
        at = OFFSETS[num_players_of(observation)]
        phase = lowest_bit(read_phases(observation, at[PHASE]))
        trump = lowest_bit(read_suits(observation, at[TRUMP]))
        cards = read_deck(mask, 0)
        if phase == SEEN_LEAD:
            return lead(cards, trump, queen)
        if phase == SEEN_RESPONDING:
            return respond(observation, mask, at, trump, queen)
        return add(cards, trump, queen, observation[at[STOCK_SIZE]] == 0)

    return act


@kernel
def lead(cards: CardMask, trump: int, queen: int) -> int:
    """H6: the red queen at once; else the lowest plain card. H1: the first one of its rank."""
    card = queen if has_card(cards, queen) else cheapest(cards, trump)
    equals = plain_cards(cards & rank_cards(rank_of(card)), trump) | card_mask(card)
    return lowest_card(equals)


@kernel
def add(cards: CardMask, trump: int, queen: int, is_endgame: bool) -> int:
    """H1, H2: add all that fits; but trumps, other than the queen, only once the stock is gone."""
    wanted = cards if is_endgame else plain_cards(cards, trump) | cards & card_mask(queen)
    return lowest_card(wanted) if wanted else STOP_OR_DONE


@kernel
def respond(observation: Observation, mask: Mask, at: Any, trump: int, queen: int) -> int:
    """H4, H5, H6, H7: exchange trumps back; pass; beat as cheaply as possible; else take."""
    action = exchange(observation, mask, at, trump)
    if action >= 0:
        return action
    passes = read_deck(mask, PASS)
    if has_card(passes, queen):
        return PASS + queen
    plain = plain_cards(passes, trump)
    if plain:
        return PASS + lowest_card(plain)
    if has_complete_answer(observation, mask, at):
        return beat(mask, trump)
    if passes:
        return PASS + lowest_card(passes)
    return TAKE if mask[TAKE] else STOP_OR_DONE


@kernel
def exchange(observation: Observation, mask: Mask, at: Any, trump: int) -> int:
    """H4: a plain card for a trump that beats an attack card; -1 if there is none."""
    for suit in range(NUM_SUITS):
        plain = plain_cards(read_deck(mask, EXCHANGE + suit * NUM_CARDS), trump)
        beater = read_deck(observation, at[BEATERS] + suit * NUM_CARDS)
        if plain and beater & suit_cards(trump):
            return EXCHANGE + suit * NUM_CARDS + lowest_of(plain)
    return -1


@kernel
def has_complete_answer(observation: Observation, mask: Mask, at: Any) -> bool:
    """Whether something is unbeaten, and the hand beats all of it, each card with its own."""
    attack = read_suits(observation, at[ATTACK])
    unbeaten = 0
    for suit in range(NUM_SUITS):
        is_beaten = read_deck(observation, at[BEATERS] + suit * NUM_CARDS) != 0
        if has_card(attack, suit) and not is_beaten:
            unbeaten |= card_mask(suit * NUM_RANKS)
    fitting = (
        read_deck(mask, BEAT),
        read_deck(mask, BEAT + NUM_CARDS),
        read_deck(mask, BEAT + 2 * NUM_CARDS),
        read_deck(mask, BEAT + 3 * NUM_CARDS),
    )
    return unbeaten != 0 and is_complete(unbeaten, 0, fitting)


@kernel
def beat(mask: Mask, trump: int) -> int:
    """H7: the attack card that fewest cards beat, with the cheapest of them."""
    action = STOP_OR_DONE
    fewest = NUM_CARDS
    for suit in range(NUM_SUITS):
        fitting = read_deck(mask, BEAT + suit * NUM_CARDS)
        if fitting and popcount(fitting) < fewest:
            fewest = popcount(fitting)
            action = BEAT + suit * NUM_CARDS + cheapest(fitting, trump)
    return action


def make_rules(game: Game, seed: int | None = None) -> KernelAgent:
    """Return the agent that plays by the hints; it plays the same whatever the seed."""
    return KernelAgent("rules", GREEDY, rules_kernel(DECK.card(game.options["queen"])), seed)


# ----------------------------------------------------------------------------------------------
# The control


@cache
def lowest_kernel(queen: int) -> ActKernel:
    """Make the control that plays its weakest card, for one red queen."""

    @kernel
    def act(observation: Observation, mask: Mask, rng: Stream) -> int:
        at = OFFSETS[num_players_of(observation)]
        trump = lowest_bit(read_suits(observation, at[TRUMP]))
        cards = 0
        for block in range(EXCHANGE // NUM_CARDS):
            cards |= read_deck(mask, block * NUM_CARDS)
        if cards == 0:
            return TAKE if mask[TAKE] else STOP_OR_DONE
        others = cards & ~card_mask(queen)
        card = cheapest(others, trump) if others else queen
        action = card
        while mask[action] == 0:
            action += NUM_CARDS
        return action

    return act


def make_lowest(game: Game, seed: int | None = None) -> KernelAgent:
    """Return the control that plays its weakest card; it plays the same whatever the seed."""
    return KernelAgent("lowest", GREEDY, lowest_kernel(DECK.card(game.options["queen"])), seed)
