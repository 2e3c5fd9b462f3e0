"""Dealing cards that a seat has not seen to hands that may not hold all of them.

`hand_dealer` makes the kernel that the views of games use in `sample_world`. All ways to deal are
equally likely, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cardenvs.core.kernel import kernel, nth_mask, popcount
from cardenvs.core.rng import Stream, random_below, random_fraction
from cardenvs.core.rows import CardMask, Observation

#: (state, seat) -> the cards that a hand, its known ones apart, is proved not to hold.
Barred = Callable[[Any, int], int]
#: (observation, state, at, seat) -> how many cards a hand still lacks.
FreePlaces = Callable[[Any, Any, int, int], int]


def hand_dealer(barred: Barred, free_places: FreePlaces) -> Callable[..., int]:
    """Make `deal(observation, rng, state, at, unknown, has_free_stock)` for a game.

    The row has `hands` and `known`; the observer is seat 0, whose hand is set. The kernel fills the
    hands about which something is proved, and returns the cards that are left for other hands and
    the stock. It must be possible to deal at all.

    Proved hands are drawn one after the other, each uniformly from the cards that may be there. A
    draw is as likely as any other of that hand, but leaves the next hand more or fewer ways; so the
    whole is kept with a probability in proportion to these, and drawn again otherwise.
    """

    @kernel
    def deal(
        observation: Observation,
        rng: Stream,
        state: Any,
        at: int,
        unknown: CardMask,
        has_free_stock: bool,
    ) -> int:
        left = -1
        while left < 0:
            for seat in range(1, state.num_players):
                state.hands[seat] = state.known[seat]
            placed = place_forced_cards(observation, state, at, unknown, has_free_stock)
            left = draw_proved_hands(observation, rng, state, at, unknown & ~placed)
        return left

    @kernel
    def place_forced_cards(
        observation: Observation, state: Any, at: int, unknown: CardMask, has_free_stock: bool
    ) -> int:
        """Place cards that lie in one place in all worlds, as far as it is plain; return them."""
        placed = 0
        before = -1
        while placed != before:
            before = placed
            places = ~0 if has_free_stock else 0  # cards with a place, and with a second one
            more_places = 0
            for seat in range(1, state.num_players):
                if free_places(observation, state, at, seat):
                    allowed = unknown & ~placed & ~barred(state, seat)
                    more_places |= places & allowed
                    places |= allowed
            for seat in range(1, state.num_players):
                free = free_places(observation, state, at, seat)
                allowed = unknown & ~placed & ~barred(state, seat)
                cards = allowed if popcount(allowed) == free else allowed & ~more_places
                if free:
                    state.hands[seat] |= cards
                    placed |= cards
        return placed

    @kernel
    def draw_proved_hands(
        observation: Observation, rng: Stream, state: Any, at: int, unknown: CardMask
    ) -> int:
        """Draw the hands about which something is proved; return the rest, -1 to try again."""
        left = unknown
        chance = 1.0
        for seat in range(1, state.num_players):
            allowed = left & ~barred(state, seat)
            if unknown & barred(state, seat) == 0:
                continue
            ways = popcount(allowed)
            most = most_allowed(state, seat, unknown, left)
            for drawn in range(free_places(observation, state, at, seat)):
                if ways == drawn:
                    return -1
                chance *= (ways - drawn) / (most - drawn)
                card = nth_mask(allowed, random_below(rng, ways - drawn))
                allowed &= ~card
                left &= ~card
                state.hands[seat] |= card
        return left if random_fraction(rng) < chance else -1

    @kernel
    def most_allowed(state: Any, seat: int, unknown: CardMask, left: CardMask) -> int:
        """How many cards can be left at most for a hand, whatever hands before it have drawn.

        One of them can have spared them only as many cards as it may hold and this hand may not.
        """
        allowed = unknown & ~barred(state, seat)
        most = popcount(allowed)
        for other in range(1, seat):
            drawn = popcount(state.hands[other] & unknown)
            others = popcount(unknown & ~allowed & ~barred(state, other))
            most -= max(0, drawn - others)
        return min(most, popcount(left))

    return deal
