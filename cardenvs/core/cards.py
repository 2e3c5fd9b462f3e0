"""Cards as text, as ids and as sets.

A card is an id, `suit * ranks_per_suit + rank`; a set of cards is an int64 in which card i is
bit i; a card's text is its rank and its suit, `"QC"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.kernel import kernel, lowest_bit, nth_places
from cardenvs.core.rng import DIGITS, Stream, next_digit, random_digits, shuffle
from cardenvs.core.seats import places_left_of

_widened: Any = np.int64

#: Stands where a card could be and none is.
NO_CARD = -1


@dataclass(frozen=True)
class Deck:
    """A pack of cards: its ranks from low to high and its suits, a letter each."""

    ranks: str
    suits: str

    @property
    def num_cards(self) -> int:
        """The number of cards."""
        return len(self.ranks) * len(self.suits)

    @property
    def all_cards(self) -> int:
        """The set of all cards."""
        return (1 << self.num_cards) - 1

    def card(self, text: str) -> int:
        """Return the id of a card.

        Raises:
            ValueError: if the text is no card of this deck.
        """
        if len(text) != 2 or text[0] not in self.ranks or text[1] not in self.suits:
            raise ValueError(
                f"{text!r} is no card; a card is one of the ranks {' '.join(self.ranks)} "
                f"and one of the suits {' '.join(self.suits)}, as in {self.text(0)!r}"
            )
        return self.suits.index(text[1]) * len(self.ranks) + self.ranks.index(text[0])

    def text(self, card: int) -> str:
        """Return a card's text, such as "QC"."""
        return self._texts[card]

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(rank + suit for suit in self.suits for rank in self.ranks)

    def rank(self, card: int) -> int:
        """Return the rank of a card, 0 for the lowest."""
        return int(card) % len(self.ranks)

    def suit(self, card: int) -> int:
        """Return the suit of a card, in the order of the deck."""
        return int(card) // len(self.ranks)

    def cards(self, texts: str) -> int:
        """Return the set of the cards in a text such as "QC 9D"."""
        return set_of(self.card(text) for text in texts.split())

    def texts(self, cards: int) -> list[str]:
        """Return the texts of a set of cards, in the order of their ids."""
        return [self._texts[card] for card in each_card(cards)]

    def rank_cards(self, rank: int) -> int:
        """Return the set of the cards of one rank."""
        return set_of(suit * len(self.ranks) + rank for suit in range(len(self.suits)))

    def suit_cards(self, suit: int) -> int:
        """Return the set of the cards of one suit."""
        return ((1 << len(self.ranks)) - 1) << (suit * len(self.ranks))


#: The 52 cards of the French-suited pack.
FRENCH_DECK = Deck(ranks="23456789TJQKA", suits="CDHS")


def set_of(cards: Iterable[int]) -> int:
    """Return the set of some card ids (Python only)."""
    result = 0
    for card in cards:
        result |= 1 << card
    return result


def each_card(cards: int) -> Iterator[int]:
    """Walk a set in the order of ids (Python only; kernels use `lowest_card`, `without_lowest`)."""
    rest = int(cards)
    while rest:
        yield (rest & -rest).bit_length() - 1
        rest &= rest - 1


@kernel
def card_mask(card: int) -> int:
    """The set that holds one card."""
    return 1 << card


@kernel
def has_card(cards: int, card: int) -> bool:
    """Whether a card is in a set."""
    return (cards >> card) & 1 != 0


@kernel
def lowest_card(cards: int) -> int:
    """The lowest id in a set that is not empty."""
    return lowest_bit(cards)


@kernel
def without_lowest(cards: int) -> int:
    """The set without its lowest card; with `lowest_card` this walks a set."""
    return cards & (cards - 1)


@kernel
def cards_above(card: int) -> int:
    """All ids higher than a card's; all ids at all for NO_CARD."""
    return ~((2 << card) - 1) if card >= 0 else -1


#: All sets of two places, by the higher one: the first n * (n - 1) / 2 are those of n places.
PAIRS = np.array([1 << high | 1 << low for high in range(62) for low in range(high)], np.int64)


@kernel
def deal_evenly(
    hands: npt.NDArray[np.int64], num_hands: int, first: int, num_cards: int, stream: Stream
) -> None:
    """Deal the cards 0 .. num_cards - 1 to hands of one size, all ways equally likely.

    The hands are drawn one after the other, two cards at a time; the last one is what is left.
    There are at most 62 cards, a number that the number of hands divides.
    """
    size = num_cards // num_hands
    left = (1 << num_cards) - 1
    count = num_cards
    digits = 0
    drawn = 0
    for hand in range(num_hands - 1):
        before = left
        wanted = size
        while wanted:
            if drawn == 0:
                digits = random_digits(stream)
                drawn = DIGITS
            is_pair = wanted > 1
            digit, digits = next_digit(digits, count * (count - 1) >> 1 if is_pair else count)
            left ^= nth_places(left, PAIRS[digit] if is_pair else 1 << digit)
            taken = 2 if is_pair else 1
            count -= taken
            wanted -= taken
            drawn -= 1
        hands[places_left_of(first, hand, num_hands)] = before ^ left
    hands[places_left_of(first, num_hands - 1, num_hands)] = left


@kernel
def shuffle_deck(out: npt.NDArray[np.int8], num_cards: int, stream: Stream) -> None:
    """Write the cards 0 .. num_cards - 1 in random order; at most 62 of them.

    Four numbers below 62 come from one supply: their bias is that of three below 500.
    """
    digits = 0
    for card in range(num_cards):
        if card % 4 == 0:
            digits = random_digits(stream)
        place, digits = next_digit(digits, card + 1)
        out[card] = out[place]
        out[place] = card


@kernel
def shuffle_set(out: npt.NDArray[np.int8], cards: int, stream: Stream) -> int:
    """Write the cards of a set in random order; return how many they are."""
    count = 0
    while cards:
        out[count] = lowest_card(cards)
        cards = without_lowest(cards)
        count += 1
    shuffle(out, count, stream)
    return count


@kernel
def card_at(cards: npt.NDArray[np.int8], index: int) -> int:
    """Read a sequence of cards, seats or other int8, widened so that both modes agree."""
    entry: int = _widened(cards[index])
    return entry
