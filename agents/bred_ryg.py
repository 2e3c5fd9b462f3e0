"""The rule-based agent of Bred Ryg: it plays by the hints of the source of the rules.

Numbers such as H2 are those of the hints in docs/games/bred_ryg.md. The kernels read the
observation of the seat on turn and its action mask, nothing else.
"""

from __future__ import annotations

from typing import Any

from agents.base import GREEDY, KernelAgent, player_counter
from agents.beating import cheapest
from cardenvs.core.cards import card_mask, has_card, lowest_card, without_lowest
from cardenvs.core.game import Game
from cardenvs.core.kernel import bit_reader, kernel, lowest_bit
from cardenvs.core.rng import Stream
from cardenvs.core.rows import CardMask, Mask, Observation
from cardenvs.games.beating import DECK, NUM_CARDS, rank_of, suit_cards
from cardenvs.games.bred_ryg import BLACK_QUEEN, PASS_OR_TAKE, beaters
from cardenvs.games.bred_ryg_view import (
    ATTACK,
    HAND,
    OBSERVATION,
    OFFSETS,
    PHASE,
    REPLIER,
    SEEN_LEAD,
    SEEN_REPLYING,
    STOCK_SIZE,
    TRUMP,
    read_deck,
    read_phases,
    read_suits,
)

JACK = DECK.ranks.index("J")

num_players_of = player_counter(OBSERVATION)
read_legal_cards = bit_reader(NUM_CARDS)


@kernel
def act(observation: Observation, mask: Mask, rng: Stream) -> int:
    """Play by the hints; the random stream is not used."""
    at = OFFSETS[num_players_of(observation)]
    phase = lowest_bit(read_phases(observation, at[PHASE]))
    trump = lowest_bit(read_suits(observation, at[TRUMP]))
    is_endgame = observation[at[STOCK_SIZE]] == 0
    legal = read_legal_cards(mask, 0)
    if phase == SEEN_LEAD:
        return lead(legal, trump)
    if legal == 0:
        return PASS_OR_TAKE
    if phase == SEEN_REPLYING:
        return reply(legal, trump, is_endgame)
    if observation[at[REPLIER]]:
        return add_as_replier(observation, at, legal, trump)
    return add(legal, trump, is_endgame)


# ----------------------------------------------------------------------------------------------
# Hints


@kernel
def lead(legal: CardMask, trump: int) -> int:
    """H3, H5: the black queen at once. H9: else the lowest plain card."""
    return BLACK_QUEEN if has_card(legal, BLACK_QUEEN) else cheapest(legal, trump)


@kernel
def add(legal: CardMask, trump: int, is_endgame: bool) -> int:
    """H3, H9: add all that fits, the extra card too; but trumps only when the stock is gone."""
    if has_card(legal, BLACK_QUEEN):
        return BLACK_QUEEN
    card = cheapest(legal, trump)
    return PASS_OR_TAKE if has_card(suit_cards(trump), card) and not is_endgame else card


@kernel
def add_as_replier(observation: Observation, at: Any, legal: CardMask, trump: int) -> int:
    """H7: add a card to the attack if it and all the others can be beaten."""
    attack = read_deck(observation, at[ATTACK])
    hand = read_deck(observation, at[HAND])
    while legal:
        card = card_mask(lowest_card(legal))
        if can_beat_all(attack | card, hand & ~card, trump):
            return lowest_card(legal)
        legal = without_lowest(legal)
    return PASS_OR_TAKE


@kernel
def can_beat_all(attack: CardMask, hand: CardMask, trump: int) -> bool:
    """Whether a hand beats all attack cards if it beats each in turn as cheaply as it can."""
    while attack:
        fitting = hand & beaters(lowest_card(attack), trump)
        if fitting == 0:
            return False
        hand &= ~card_mask(cheapest(fitting, trump))
        attack = without_lowest(attack)
    return True


@kernel
def reply(legal: CardMask, trump: int, is_endgame: bool) -> int:
    """H2: beat as cheaply as possible; while there is a stock keep the high trumps."""
    card = cheapest(legal, trump)
    is_high_trump = has_card(suit_cards(trump), card) and rank_of(card) >= JACK
    return PASS_OR_TAKE if is_high_trump and not is_endgame else card


def make_rules(game: Game, seed: int | None = None) -> KernelAgent:
    """Return the agent that plays by the hints; it plays the same whatever the seed."""
    return KernelAgent("rules", GREEDY, act, seed)
