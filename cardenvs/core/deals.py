"""Reading deals, which are plain data that people write, with errors that say what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cardenvs.core.cards import NO_CARD, Deck, set_of
from cardenvs.core.errors import DealError


class DealReader:
    """One deal: a mapping from names to texts and numbers."""

    def __init__(self, deal: Any, deck: Deck, num_players: int) -> None:
        if not isinstance(deal, Mapping):
            raise DealError(f"a deal is a dict such as {{'hands': [...]}}, not {deal!r}")
        self._deal = deal
        self._deck = deck
        self._num_players = num_players
        self._seen: dict[int, str] = {}

    def check_keys(self, *allowed: str) -> None:
        """Refuse names that the game does not know."""
        for key in self._deal:
            if key not in allowed:
                raise DealError(f"a deal has no {key!r}; it may have {', '.join(allowed)}")

    def hands(self) -> list[int]:
        """Return each seat's hand as a set of cards."""
        return [set_of(hand) for hand in self.hand_lists()]

    def hand_lists(self) -> list[list[int]]:
        """Return each seat's hand as a sequence of cards."""
        hands = self._deal.get("hands")
        if not isinstance(hands, list | tuple):
            raise DealError(f"'hands' is a list of texts, one a seat, not {hands!r}")
        if len(hands) != self._num_players:
            raise DealError(f"{len(hands)} hands for num_players={self._num_players}")
        return [self._cards(hand, f"hand {seat}") for seat, hand in enumerate(hands)]

    def card_list(self, name: str) -> list[int]:
        """Return a sequence of cards, the first one in the text first."""
        return self._cards(self._deal.get(name, ""), name)

    def _cards(self, text: Any, place: str) -> list[int]:
        if not isinstance(text, str):
            raise DealError(f"{place}: cards are a text such as '5S TH', not {text!r}")
        cards = [self._card(word, place) for word in text.split()]
        for card in cards:
            if card in self._seen:
                first = self._seen[card]
                raise DealError(f"{self._deck.text(card)} stands twice: in {first} and in {place}")
            self._seen[card] = place
        return cards

    def _card(self, text: Any, place: str) -> int:
        if not isinstance(text, str):
            raise DealError(f"{place} is a card such as {self._deck.text(0)!r}, not {text!r}")
        try:
            return self._deck.card(text)
        except ValueError as error:
            raise DealError(f"{place}: {error}") from None

    def card(self, name: str, default: int) -> int:
        """Return one card that may stand elsewhere too."""
        return self._card(self._deal[name], name) if name in self._deal else default

    def suit(self, name: str, default: int | None) -> int | None:
        """Return a suit."""
        if name not in self._deal:
            return default
        text = self._deal[name]
        if not isinstance(text, str) or len(text) != 1 or text not in self._deck.suits:
            raise DealError(f"{name} is one of {' '.join(self._deck.suits)}, not {text!r}")
        return self._deck.suits.index(text)

    def trump(self, exposed: int) -> int:
        """Return the trump suit: that of the exposed card, or as given if there is none."""
        trump = self.suit("trump", self._deck.suit(exposed) if exposed != NO_CARD else None)
        if trump is None:
            raise DealError("with an empty stock and no 'exposed', 'trump' must be given")
        if exposed != NO_CARD and trump != self._deck.suit(exposed):
            raise DealError(
                f"trump={self._deck.suits[trump]!r} contradicts the exposed card "
                f"{self._deck.text(exposed)}"
            )
        return trump

    def leader(self, dealer: int, hands: list[int]) -> int:
        """Return the seat that leads, by default the next one after the dealer with cards."""
        seats = [(dealer + place) % len(hands) for place in range(1, len(hands) + 1)]
        leader = self.seat("leader", next(seat for seat in seats if hands[seat]))
        if not hands[leader]:
            raise DealError(f"the leader, seat {leader}, holds no card")
        return leader

    def number(self, name: str, allowed: range) -> int | None:
        """Return a whole number, None if not given."""
        number = self._deal.get(name)
        if number is not None and (type(number) is not int or number not in allowed):
            raise DealError(
                f"{name} is a whole number from {allowed[0]} to {allowed[-1]}, not {number!r}"
            )
        return number

    def choice(self, name: str, allowed: Sequence[str]) -> int | None:
        """Return the place of a word among those allowed, None if not given."""
        word = self._deal.get(name)
        if word is None:
            return None
        if word not in allowed:
            raise DealError(f"{name} is one of {', '.join(allowed)}, not {word!r}")
        return allowed.index(word)

    def numbers(self, name: str, count: int, allowed: range) -> list[int]:
        """Return some whole numbers, all 0 if not given."""
        numbers = self._deal.get(name, [0] * count)
        is_list = isinstance(numbers, list | tuple) and len(numbers) == count
        if not is_list or any(type(given) is not int or given not in allowed for given in numbers):
            raise DealError(
                f"{name} is a list of {count} whole numbers from {allowed[0]} to {allowed[-1]}, "
                f"not {numbers!r}"
            )
        return list(numbers)

    def seat(self, name: str, default: int) -> int:
        """Return a seat."""
        seat = self._deal.get(name, default)
        is_number = isinstance(seat, int | np.integer) and not isinstance(seat, bool)
        if not is_number or not 0 <= seat < self._num_players:
            raise DealError(f"{name} is a seat from 0 to {self._num_players - 1}, not {seat!r}")
        return int(seat)
