"""What a seat of Dreeg makes of what it sees: sides, chances, and what a card is worth.

The kernels read the observation of the seat on turn, nothing else. Places are seats as the observer
counts them, 0 for itself.

A card is worth the chance that the own side wins the trick with it, as far as voids, headings and
known cards tell, times what then lies in the trick.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from cardenvs.core.cards import NO_CARD, card_at, has_card, lowest_card, without_lowest
from cardenvs.core.kernel import kernel, popcount, rare_kernel
from cardenvs.core.rows import CardMask, Observation
from cardenvs.core.seats import has_seat, seat_mask
from cardenvs.games.dreeg_cards import (
    ALL_CARDS,
    NO_SUIT,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    POINTS,
    beats,
    higher_cards,
    marriage_suits,
    suit_cards,
    suit_of,
)
from cardenvs.games.dreeg_row import KAMERUN, MAX_PLAYERS, RUFEN
from cardenvs.games.dreeg_view import (
    ACTIVE,
    BARRED,
    CLOSER,
    DECLARED,
    HAND,
    HAND_SIZE,
    IS_PARTNER_PUBLIC,
    KNOWN,
    LEADER,
    LED,
    LEFT_OUT,
    PLAYED,
    POINTS_WON,
    SUBGAME,
    TALON_SIZE,
    TEAM,
    TRICK,
    TRICKS,
    TRUMP_SUIT,
    read_deck,
    read_flags,
    read_suits,
    the_one,
)

#: What a trick brings beside the cards of the one who leads, for each other player.
POINTS_OF_OTHERS = 3.0
#: What a marriage of 20 points is worth beside the card that is led.
MARRIAGE_IN_LOOSE_PLAY = 20.0
MARRIAGE_IN_STRICT_PLAY = 10.0

#: Two hands have at most so many cards each.
_MOST_CARDS = NUM_CARDS // 2
#: The chance that a hand has none of some cards: by how many these are, by how many cards it is
#: dealt from, and by its size.
_NONE = np.array(
    [
        [
            [comb(max(0, count - cards), size) / max(1, comb(count, size)) for size in sizes]
            for count in range(NUM_CARDS + 1)
        ]
        for sizes in [range(_MOST_CARDS + 1)]
        for cards in range(NUM_RANKS + 1)
    ]
)


# ----------------------------------------------------------------------------------------------
# What the observation tells


@kernel
def trump_of(observation: Observation) -> int:
    """The trump suit, NO_SUIT if there is none."""
    return the_one(read_suits(observation, TRUMP_SUIT))


@kernel
def is_kamerun(observation: Observation) -> bool:
    """Whether points are bad."""
    return bool(observation[SUBGAME + KAMERUN] != 0)


@kernel
def is_on_lead(observation: Observation) -> bool:
    """Whether no card lies in the trick."""
    return read_deck(observation, LED) == 0


@kernel
def other_places(observation: Observation) -> int:
    """The places of the others who play this deal."""
    return read_flags(observation, ACTIVE) & ~seat_mask(0)


@kernel
def own_side(observation: Observation) -> int:
    """The places of the own side, as far as it is known."""
    team = read_flags(observation, TEAM)
    active = read_flags(observation, ACTIVE)
    if team == 0:
        return seat_mask(0)
    if not has_seat(team, 0):
        is_partner_hidden = observation[SUBGAME + RUFEN] and not observation[IS_PARTNER_PUBLIC]
        return seat_mask(0) if is_partner_hidden else active & ~team
    return team


@kernel
def own_points(observation: Observation) -> int:
    """The points of the own side, none without a trick."""
    side = own_side(observation)
    points = 0
    tricks = 0
    for place in range(MAX_PLAYERS):
        if has_seat(side, place):
            points += card_at(observation, POINTS_WON + place)
            points += card_at(observation, DECLARED + place)
            tricks += card_at(observation, TRICKS + place)
    return points if tricks else 0


@kernel
def unseen_cards(observation: Observation) -> int:
    """The cards that lie somewhere else: in other hands, and maybe in the talon."""
    gone = read_deck(observation, PLAYED) | read_deck(observation, LEFT_OUT)
    return ALL_CARDS & ~(gone | read_deck(observation, HAND))


class Trick(NamedTuple):
    """The trick on the table."""

    led: int  # the card led, NO_CARD on lead
    best: int  # the best card as yet
    holder: int  # the place that has played it; the leader on lead
    points: int  # of the cards in it
    behind: int  # the other places that are yet to play


@kernel
def read_trick(observation: Observation) -> Trick:
    """Read the trick."""
    trump = trump_of(observation)
    led = the_one(read_deck(observation, LED))
    best = led
    holder = the_one(read_flags(observation, LEADER))
    points = 0
    behind = other_places(observation)
    if led != NO_CARD:
        for place in range(1, MAX_PLAYERS):
            card = the_one(read_deck(observation, TRICK + place * NUM_CARDS))
            if card != NO_CARD:
                points += POINTS[card]
                behind &= ~seat_mask(place)
                if beats(card, best, trump):
                    best = card
                    holder = place
    return Trick(led, best, holder, points, behind)


class Hands(NamedTuple):
    """What is known of the hands at places 1 to 3; they are empty for those who do not matter."""

    known: tuple[int, int, int]  # cards that are known to be there
    possible: tuple[int, int, int]  # cards among which its others are
    free: tuple[int, int, int]  # how many others there are


@kernel
def read_hands(observation: Observation, places: int) -> Hands:
    """Read what is known of the hands of some places."""
    one, two, three = known_at(observation, 1), known_at(observation, 2), known_at(observation, 3)
    rest = unseen_cards(observation) & ~(one | two | three)
    return Hands(
        (one, two, three),
        (
            rest & ~barred_at(observation, 1),
            rest & ~barred_at(observation, 2),
            rest & ~barred_at(observation, 3),
        ),
        (
            free_at(observation, places, 1),
            free_at(observation, places, 2),
            free_at(observation, places, 3),
        ),
    )


@kernel
def known_at(observation: Observation, place: int) -> int:
    """The cards known to be at a place."""
    return read_deck(observation, KNOWN + place * NUM_CARDS)


@kernel
def barred_at(observation: Observation, place: int) -> int:
    """The cards that a place is proved to lack."""
    return read_deck(observation, BARRED + place * NUM_CARDS)


@kernel
def free_at(observation: Observation, places: int, place: int) -> int:
    """How many unknown cards a place has, -1 if it is not among some places."""
    size: int = observation[HAND_SIZE + place]
    return size - popcount(known_at(observation, place)) if has_seat(places, place) else -1


# ----------------------------------------------------------------------------------------------
# Chances


@kernel
def chance_of_none(cards: CardMask, hands: Hands, index: int) -> float:
    """About the chance that a hand has none of some cards of one suit."""
    if cards & hands.known[index]:
        return 0.0
    possible = hands.possible[index]
    chance: float = _NONE[popcount(cards & possible), popcount(possible), hands.free[index]]
    return chance


@kernel
def chance_to_beat(card: int, led: int, trump: int, hands: Hands, index: int) -> float:
    """About the chance that a hand beats a card, the best one as yet of a suit that was led."""
    none_over = chance_of_none(higher_cards(card), hands, index)
    if trump == NO_SUIT or suit_of(led) == trump:
        return 1.0 - none_over
    is_void = chance_of_none(suit_cards(suit_of(led)), hands, index)
    if suit_of(card) == trump:
        return is_void * (1.0 - none_over)
    has_trump = 1.0 - chance_of_none(suit_cards(trump), hands, index)
    return 1.0 - none_over + is_void * has_trump


@rare_kernel
def chance_to_keep(card: int, led: int, trump: int, hands: Hands) -> float:
    """About the chance that none of some hands beats the best card of a trick."""
    chance = 1.0
    for index in range(MAX_PLAYERS - 1):
        if hands.free[index] >= 0:
            chance *= 1.0 - chance_to_beat(card, led, trump, hands, index)
    return chance


@rare_kernel
def chance_to_win(observation: Observation, card: int) -> float:
    """About the chance that the own card wins the trick."""
    trick = read_trick(observation)
    trump = trump_of(observation)
    if trick.led != NO_CARD and not beats(card, trick.best, trump):
        return 0.0
    led = card if trick.led == NO_CARD else trick.led
    return chance_to_keep(card, led, trump, read_hands(observation, trick.behind))


@rare_kernel
def expected_points(observation: Observation) -> float:
    """About the points of the own side if each card of the hand is led."""
    hand = read_deck(observation, HAND)
    trump = trump_of(observation)
    others = other_places(observation)
    hands = read_hands(observation, others & ~own_side(observation))
    expected = 0.0 + own_points(observation)
    pairs = marriage_suits(hand)
    if pairs:
        expected += 40.0 if pairs & suit_cards(trump) else 20.0
    while hand:
        card = lowest_card(hand)
        hand = without_lowest(hand)
        chance = chance_to_keep(card, card, trump, hands)
        expected += chance * (POINTS[card] + POINTS_OF_OTHERS)
    return expected


@rare_kernel
def best_chance(observation: Observation, cards: CardMask, trump: int) -> float:
    """About the chance of the best of some own cards to win a trick that it leads, with a trump."""
    best = 0.0
    rest = cards
    hands = read_hands(observation, other_places(observation))
    while rest:
        card = lowest_card(rest)
        rest = without_lowest(rest)
        best = max(best, chance_to_keep(card, card, trump, hands))
    return best


@rare_kernel
def chance_of_all_tricks(observation: Observation) -> float:
    """About the chance that each card of the hand wins a trick that it leads."""
    chance = 1.0
    rest = read_deck(observation, HAND)
    hands = read_hands(observation, other_places(observation))
    while rest:
        card = lowest_card(rest)
        rest = without_lowest(rest)
        chance *= chance_to_keep(card, card, trump_of(observation), hands)
    return chance


# ----------------------------------------------------------------------------------------------
# Cards


@kernel
def weakest(cards: CardMask, trump: int) -> int:
    """The card of the lowest rank in a set that is not empty, plain before trump."""
    plain = cards & ~suit_cards(trump)
    chosen = plain if plain else cards
    best = lowest_card(chosen)
    while chosen:
        card = lowest_card(chosen)
        chosen = without_lowest(chosen)
        if card % NUM_RANKS < best % NUM_RANKS:
            best = card
    return best


@rare_kernel
def best_play(observation: Observation, plays: int) -> int:
    """The action worth most among some cards and, a deck further on, marriages."""
    trump = trump_of(observation)
    trick = read_trick(observation)
    side = own_side(observation)
    hands = read_hands(observation, trick.behind & ~side)
    unseen = unseen_cards(observation)
    is_own = trick.led != NO_CARD and has_seat(side, trick.holder)
    is_bad, is_loose = is_kamerun(observation), not is_strict(observation)
    best = -1
    most = 0.0
    while plays:
        action = lowest_card(plays)
        plays = without_lowest(plays)
        card = action % NUM_CARDS
        if is_bad:
            worth = worth_in_kamerun(card, trick, hands, unseen)
        elif is_loose:
            worth = worth_in_loose_play(card, trick, hands, trump, unseen)
        else:
            worth = worth_in_strict_play(card, trick, hands, trump, is_own)
        if action != card:
            marriage = 2.0 if suit_of(card) == trump else 1.0
            worth += marriage * (MARRIAGE_IN_LOOSE_PLAY if is_loose else MARRIAGE_IN_STRICT_PLAY)
        if best < 0 or worth > most:
            best = action
            most = worth
    return best


@kernel
def is_strict(observation: Observation) -> bool:
    """Whether suit must be followed: no talon, or a closed one."""
    return bool(observation[TALON_SIZE] == 0 or read_flags(observation, CLOSER) != 0)


@kernel
def chance_of_trick(card: int, trick: Trick, hands: Hands, trump: int, is_own: bool) -> float:
    """About the chance that a card, or the best one before it, wins the trick for the own side."""
    is_best = trick.led == NO_CARD or beats(card, trick.best, trump)
    if not is_best and not is_own:
        return 0.0
    led = card if trick.led == NO_CARD else trick.led
    return chance_to_keep(card if is_best else trick.best, led, trump, hands)


@kernel
def balance(card: int, trick: Trick, chance: float, points_of_others: float) -> float:
    """What is won with a chance, less what is lost otherwise."""
    points = float(POINTS[card] + trick.points)
    coming = points_of_others * popcount(trick.behind)
    lost = points if chance == 0.0 else float(POINTS[card])
    return chance * (points + coming) - (1.0 - chance) * lost


@kernel
def worth_in_strict_play(card: int, trick: Trick, hands: Hands, trump: int, is_own: bool) -> float:
    """What it is worth to play a card where all must follow suit; trumps are for later."""
    chance = chance_of_trick(card, trick, hands, trump, is_own)
    kept = 8.0 + card % NUM_RANKS if suit_of(card) == trump else 0.0
    return balance(card, trick, chance, 2.0) - kept


@kernel
def worth_in_loose_play(
    card: int, trick: Trick, hands: Hands, trump: int, unseen: CardMask
) -> float:
    """What it is worth to play a card while any may follow: winners and trumps are for later."""
    chance = chance_of_trick(card, trick, hands, trump, False)
    rank = card % NUM_RANKS
    kept = 12.0 + rank if suit_of(card) == trump else 0.6 * rank
    higher = popcount(unseen & higher_cards(card))
    kept += 8.0 if higher == 0 else -0.5 * higher
    if trick.led == NO_CARD:
        kept += 6.0 * chance
    return balance(card, trick, chance, 1.0) - kept


@kernel
def worth_in_kamerun(card: int, trick: Trick, hands: Hands, unseen: CardMask) -> float:
    """What it is worth in Kamerun to be rid of a card, less what it wins.

    A card is the more dangerous the more lower ones of its suit are out.
    """
    chance = chance_of_trick(card, trick, hands, NO_SUIT, False)
    stake: float = trick.points + POINTS[card] + 3.0 * popcount(trick.behind)
    higher = popcount(unseen & higher_cards(card))
    lower = popcount(unseen & suit_cards(suit_of(card))) - higher
    danger: float = 0.5 * POINTS[card] + card % NUM_RANKS + 2.0 * (lower - higher)
    return danger - 1.5 * chance * stake


# ----------------------------------------------------------------------------------------------
# Suits


@kernel
def strength_of(hand: CardMask, suit: int) -> float:
    """What a suit is worth as trumps: its length and its cards, and a marriage."""
    cards = hand & suit_cards(suit)
    strength = 0.0
    if marriage_suits(cards):
        strength += 20.0
    while cards:
        strength += 4.0 + POINTS[lowest_card(cards)] / 2.0
        cards = without_lowest(cards)
    return strength


@kernel
def strongest_suit(hand: CardMask) -> int:
    """The suit that is worth most as trumps."""
    best = 0
    for suit in range(1, NUM_SUITS):
        if strength_of(hand, suit) > strength_of(hand, best):
            best = suit
    return best


@kernel
def highest_missing(hand: CardMask, suit: int) -> int:
    """The highest card of a suit that is not in a hand."""
    card = suit * NUM_RANKS + NUM_RANKS - 1
    while has_card(hand, card):
        card -= 1
    return card
