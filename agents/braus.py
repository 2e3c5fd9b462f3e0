"""Agents of Bräus: by the hints of the rule text, and the control that always plays its weakest.

Numbers such as H2 are those of the hints in docs/games/braus.md. The kernels read the
observation of the seat on turn and its action mask, nothing else. Live cards are handled by
strength: bit s - 1 of a set stands for the card of strength s.
"""

from __future__ import annotations

from typing import Any

from agents.base import GREEDY, KernelAgent, player_counter
from cardenvs.core.cards import lowest_card
from cardenvs.core.game import Game
from cardenvs.core.kernel import bit_reader, kernel
from cardenvs.core.rng import Stream
from cardenvs.core.rows import Mask, Observation
from cardenvs.games.braus import CARD_OF, NUM_CARDS, NUM_LIVE, PASS, SEVENS, live_cards, team_of
from cardenvs.games.braus_view import (
    HAND,
    HAND_SIZE,
    LEADER,
    MAY_HOLD,
    OBSERVATION,
    OFFSETS,
    OUT,
    PLAYED,
    read_deck,
    read_live,
)

num_players_of = player_counter(OBSERVATION)
read_legal_cards = bit_reader(NUM_CARDS)


@kernel
def act_lowest(observation: Observation, mask: Mask, rng: Stream) -> int:
    """Play the weakest legal card, sevens first; pass only if there is none."""
    legal = read_legal_cards(mask, 0)
    if legal == 0:
        return PASS
    if legal & SEVENS:
        return lowest_card(legal & SEVENS)
    return weakest(live_cards(legal))


@kernel
def act(observation: Observation, mask: Mask, rng: Stream) -> int:
    """H6: lead a card that no opponent can beat; else play the weakest.

    Hints that cost strokes against the control are left out: leading 9C while matadors are out
    (H1), and following high with sevens in hand (H2).
    """
    num_players = num_players_of(observation)
    at = OFFSETS[num_players]
    legal = read_legal_cards(mask, 0)
    if observation[at[LEADER]] and legal & SEVENS == 0:
        sure = live_cards(legal) & ~below_highest(threats(observation, at, num_players))
        if sure:
            return weakest(sure)
    return act_lowest(observation, mask, rng)


@kernel
def weakest(live: int) -> int:
    """The card of the lowest strength in a set that is not empty."""
    card: int = CARD_OF[lowest_card(live) + 1]
    return card


@kernel
def threats(observation: Observation, at: Any, num_players: int) -> int:
    """H5, H6: the live cards that an opponent may hold."""
    seen = read_live(observation, at[PLAYED])
    seen |= live_cards(read_deck(observation, at[HAND]) | read_deck(observation, at[OUT]))
    held = 0
    for place in range(1, num_players):
        if team_of(place) and observation[at[HAND_SIZE] + place]:
            held |= read_live(observation, at[MAY_HOLD] + place * NUM_LIVE)
    return held & ~seen


@kernel
def below_highest(live: int) -> int:
    """All strengths up to the highest in a set."""
    strength = 0
    while live >> strength:
        strength += 1
    return (1 << strength) - 1


def make_rules(game: Game, seed: int | None = None) -> KernelAgent:
    """Return the agent that plays by the hints; it plays the same whatever the seed."""
    return KernelAgent("rules", GREEDY, act, seed)


def make_lowest(game: Game, seed: int | None = None) -> KernelAgent:
    """Return the control that plays its weakest card; it plays the same whatever the seed."""
    return KernelAgent("lowest", GREEDY, act_lowest, seed)
