"""Agents of Dreeg: by the hints of the rule text, and the control that plays its weakest card.

Numbers such as DR-H5 are those of the hints in docs/games/dreeg.md. The kernels read the
observation of the seat on turn and its action mask, nothing else. Places are seats as the observer
counts them, 0 for itself.

Cards are chosen by what they are worth: the chance that the own side wins the trick, as far as
voids, headings and known cards tell, times what then lies in it.
"""

from __future__ import annotations

from agents.base import GREEDY, KernelAgent
from cardenvs.core.cards import NO_CARD, has_card, lowest_card, without_lowest
from cardenvs.core.game import Game
from cardenvs.core.kernel import bit_reader, kernel, lowest_bit, popcount
from cardenvs.core.rng import Stream
from cardenvs.core.rows import CardMask, Mask, Observation
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
from cardenvs.games.dreeg_row import (
    ACTIONS,
    CALL,
    CLOSE,
    CONTINUE,
    DEALER,
    DURCHMARSCH,
    EXCHANGE_NINE,
    KAMERUN,
    MARRY,
    MAX_PLAYERS,
    OUT,
    RUFEN,
    TRUMP,
)
from cardenvs.games.dreeg_score import WIN
from cardenvs.games.dreeg_view import (
    ACTIVE,
    BARRED,
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
    TEAM,
    TRICK,
    TRICKS,
    TRUMP_SUIT,
    read_deck,
    read_flags,
    read_suits,
    the_one,
)

read_legal_words = bit_reader(ACTIONS.size - CALL)

#: What a trick brings beside the cards of the one who leads, for each other player.
POINTS_OF_OTHERS = 3.0
#: What a trump is worth in the hand beside its points and its rank.
WORTH_OF_TRUMP = 4.0
#: DR-H8, DR-H9. Close where the hand alone should bring so many points, far more than are needed.
SURE_TO_WIN = 85.0
#: DR-H13. Announce with this chance to win all tricks.
SURE_DURCHMARSCH = 0.7


@kernel
def act_lowest(observation: Observation, mask: Mask, rng: Stream) -> int:
    """Play the weakest legal card, plain before trump; elsewhere go on, or take the first id."""
    legal = read_deck(mask, 0)
    if legal:
        return weakest(legal, trump_of(observation))
    if mask[CONTINUE]:
        return CONTINUE
    return CALL + lowest_bit(read_legal_words(mask, CALL))


@kernel
def act(observation: Observation, mask: Mask, rng: Stream) -> int:
    """Play by the hints but DR-H4: to surrender costs strokes against the controls."""
    legal = read_deck(mask, 0)
    if mask[EXCHANGE_NINE]:
        return EXCHANGE_NINE  # DR-H10
    if mask[CLOSE] and is_sure_of_winning(observation):
        return CLOSE  # DR-H8
    if mask[DURCHMARSCH] and chance_of_all_tricks(observation) > SURE_DURCHMARSCH:
        return DURCHMARSCH  # DR-H13
    if legal:
        return best_play(observation, legal, read_deck(mask, MARRY))
    if mask[OUT]:
        return OUT if own_points(observation) >= WIN else CONTINUE  # DR-H6
    if mask[CONTINUE]:
        return CONTINUE
    words = read_legal_words(mask, CALL)
    if words >> (DEALER - CALL):
        return highest_dealer(words)
    if mask[TRUMP]:
        return name_trump(observation)
    return call(observation)


@kernel
def highest_dealer(words: int) -> int:
    """DR-H15: the right neighbour, which is the last place to the left."""
    place = popcount(words >> (DEALER - CALL)) - 1
    return DEALER + place


# ----------------------------------------------------------------------------------------------
# What the observation tells


@kernel
def trump_of(observation: Observation) -> int:
    """The trump suit, NO_SUIT if there is none."""
    return the_one(read_suits(observation, TRUMP_SUIT))


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
            points += observation[POINTS_WON + place] + observation[DECLARED + place]
            tricks += observation[TRICKS + place]
    return points if tricks else 0


@kernel
def unseen_cards(observation: Observation) -> int:
    """The cards that lie somewhere else: in other hands, and maybe in the talon."""
    gone = read_deck(observation, PLAYED) | read_deck(observation, LEFT_OUT)
    return ALL_CARDS & ~(gone | read_deck(observation, HAND))


@kernel
def may_hold(observation: Observation, unseen: CardMask, place: int) -> int:
    """The cards that a place may hold."""
    held = unseen & ~read_deck(observation, BARRED + place * NUM_CARDS)
    for other in range(1, MAX_PLAYERS):
        if other != place:
            held &= ~read_deck(observation, KNOWN + other * NUM_CARDS)
    return held | read_deck(observation, KNOWN + place * NUM_CARDS)


@kernel
def chance_of_none(cards: CardMask, held: CardMask, size: int) -> float:
    """About the chance that a hand of a size, out of the cards it may hold, has none of some."""
    count = popcount(held)
    chance = 1.0
    for _ in range(popcount(cards & held)):
        chance *= max(0.0, 1.0 - size / max(1, count))
        count -= 1
    return chance


@kernel
def chance_to_beat(observation: Observation, card: int, led: int, place: int) -> float:
    """About the chance that a place beats a card, the best one as yet of a suit that was led."""
    held = may_hold(observation, unseen_cards(observation), place)
    size = observation[HAND_SIZE + place]
    suit = suit_cards(suit_of(led))
    trump = trump_of(observation)
    over = higher_cards(card)
    if trump == NO_SUIT or suit_of(led) == trump:
        return 1.0 - chance_of_none(over, held, size)
    is_void = chance_of_none(suit, held, size)
    if suit_of(card) == trump:
        return is_void * (1.0 - chance_of_none(over, held, size))
    trumps = 1.0 - chance_of_none(suit_cards(trump), held, size)
    return 1.0 - chance_of_none(over, held, size) + is_void * trumps


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


@kernel
def best_play(observation: Observation, legal: CardMask, marriages: CardMask) -> int:
    """The card worth most, with the marriage where there is one (DR-H7)."""
    best = NO_CARD
    most = 0.0
    rest = legal
    while rest:
        card = lowest_card(rest)
        rest = without_lowest(rest)
        worth = worth_of(observation, card)
        if has_card(marriages, card):
            worth += 40.0 if suit_of(card) == trump_of(observation) else 20.0
        if best == NO_CARD or worth > most:
            best = card
            most = worth
    return best + MARRY if has_card(marriages, best) else best


@kernel
def worth_of(observation: Observation, card: int) -> float:
    """What it is worth to lead a card, or to put it into the trick."""
    led, best, is_own = present_trick(observation)
    trick = 0.0
    behind = read_flags(observation, ACTIVE) & ~seat_mask(0)
    for place in range(1, MAX_PLAYERS):
        thrown = the_one(read_deck(observation, TRICK + place * NUM_CARDS))
        if thrown != NO_CARD:
            trick += POINTS[thrown]
            behind &= ~seat_mask(place)
    is_best = led == NO_CARD or beats(card, best, trump_of(observation))
    is_kamerun = observation[SUBGAME + KAMERUN] != 0
    chance = 1.0 if is_best or is_own else 0.0
    if chance > 0.0:
        chance = chance_to_keep(observation, card if is_best else best, led, behind)
    points = float(POINTS[card])
    stake = trick + points + POINTS_OF_OTHERS * popcount(behind)
    if is_kamerun:
        return points + card % NUM_RANKS - chance * stake
    lost = 0.0 if is_best or is_own else trick
    return chance * stake - (1.0 - chance) * (points + lost) - worth_kept(observation, card)


@kernel
def present_trick(observation: Observation) -> tuple[int, int, bool]:
    """The card led, the best one, and whether it is of the own side; NO_CARD on lead."""
    led = the_one(read_deck(observation, LED))
    best = led
    holder = the_one(read_flags(observation, LEADER))
    for place in range(1, MAX_PLAYERS):
        card = the_one(read_deck(observation, TRICK + place * NUM_CARDS))
        if card != NO_CARD and led != NO_CARD and beats(card, best, trump_of(observation)):
            best = card
            holder = place
    is_own = led != NO_CARD and has_seat(own_side(observation), holder)
    return led, best, is_own


@kernel
def chance_to_keep(observation: Observation, card: int, led: int, behind: int) -> float:
    """About the chance that no opponent behind beats the best card."""
    opponents = behind & ~own_side(observation)
    first = card if led == NO_CARD else led
    chance = 1.0
    for place in range(1, MAX_PLAYERS):
        if has_seat(opponents, place):
            chance *= 1.0 - chance_to_beat(observation, card, first, place)
    return chance


@kernel
def worth_kept(observation: Observation, card: int) -> float:
    """What a card is worth in the hand, beside its points."""
    trump = trump_of(observation)
    if suit_of(card) == trump:
        return WORTH_OF_TRUMP + 0.5 * (card % NUM_RANKS)
    return 0.3 * (card % NUM_RANKS)


# ----------------------------------------------------------------------------------------------
# Words


@kernel
def is_sure_of_winning(observation: Observation) -> bool:
    """DR-H8, DR-H9: whether the hand alone should bring 66 points."""
    hand = read_deck(observation, HAND)
    trump = trump_of(observation)
    expected = 0.0 + own_points(observation)
    pairs = marriage_suits(hand)
    if pairs:
        expected += 40.0 if pairs & suit_cards(trump) else 20.0
    rest = hand
    while rest:
        card = lowest_card(rest)
        rest = without_lowest(rest)
        chance = chance_to_keep(observation, card, NO_CARD, read_flags(observation, ACTIVE) & ~1)
        expected += chance * (POINTS[card] + POINTS_OF_OTHERS)
    return expected >= SURE_TO_WIN


@kernel
def chance_of_all_tricks(observation: Observation) -> float:
    """About the chance that each card of the hand wins a trick that it leads."""
    chance = 1.0
    rest = read_deck(observation, HAND)
    others = read_flags(observation, ACTIVE) & ~seat_mask(0)
    while rest:
        card = lowest_card(rest)
        rest = without_lowest(rest)
        chance *= chance_to_keep(observation, card, NO_CARD, others)
    return chance


@kernel
def strength_of(hand: CardMask, suit: int) -> float:
    """DR-H5: what a suit is worth as trumps: its length and its cards, and a marriage."""
    cards = hand & suit_cards(suit)
    strength = 0.0
    if marriage_suits(cards):
        strength += 20.0
    while cards:
        strength += 4.0 + POINTS[lowest_card(cards)] / 2.0
        cards = without_lowest(cards)
    return strength


@kernel
def name_trump(observation: Observation) -> int:
    """DR-H5: the strongest suit."""
    hand = read_deck(observation, HAND)
    best = 0
    for suit in range(1, NUM_SUITS):
        if strength_of(hand, suit) > strength_of(hand, best):
            best = suit
    return TRUMP + best


@kernel
def call(observation: Observation) -> int:
    """DR-H1, DR-H2: of the strongest suit the highest card that is not held."""
    hand = read_deck(observation, HAND)
    best = NO_SUIT
    for suit in range(NUM_SUITS):
        has_some = hand & suit_cards(suit) != 0
        if has_some and (best == NO_SUIT or strength_of(hand, suit) > strength_of(hand, best)):
            best = suit
    card = best * NUM_RANKS + NUM_RANKS - 1
    while has_card(hand, card):
        card -= 1
    return CALL + card


def make_rules(game: Game, seed: int | None = None) -> KernelAgent:
    """Return the agent that plays by the hints; it plays the same whatever the seed."""
    return KernelAgent("rules", GREEDY, act, seed)


def make_lowest(game: Game, seed: int | None = None) -> KernelAgent:
    """Return the control that plays its weakest card; it plays the same whatever the seed."""
    return KernelAgent("lowest", GREEDY, act_lowest, seed)
