"""When the hints of Dreeg speak, and what each advises.

Numbers such as DR-H5 are those of the hints in docs/games/dreeg.md. The kernels read the
observation of the seat on turn and the actions left to it, nothing else. A set of actions is a
pair: cards to play and, a deck further on, to marry with; and the words, from the call on.
"""

from __future__ import annotations

from agents.dreeg_worth import (
    best_chance,
    chance_of_all_tricks,
    chance_to_win,
    expected_points,
    highest_missing,
    is_kamerun,
    is_on_lead,
    is_strict,
    other_places,
    own_points,
    own_side,
    read_trick,
    strength_of,
    strongest_suit,
    trump_of,
    unseen_cards,
)
from cardenvs.core.cards import NO_CARD, card_at, card_mask, lowest_card, without_lowest
from cardenvs.core.kernel import kernel, lowest_bit, popcount
from cardenvs.core.rows import CardMask, Observation
from cardenvs.core.seats import has_seat
from cardenvs.games.dreeg_cards import (
    ACE_OF_HEARTS,
    ALL_CARDS,
    KINGS,
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
    CALL,
    CLOSE,
    DEALER,
    DEUTSCH,
    DURCHMARSCH,
    EXCHANGE_NINE,
    MARRY,
    MAX_PLAYERS,
    OUT,
    SURRENDER,
    TRUMP,
)
from cardenvs.games.dreeg_score import WIN
from cardenvs.games.dreeg_view import (
    ACTIVE,
    ANNOUNCER,
    DECLARED,
    HAND,
    HAND_SIZE,
    POINTS_WON,
    STROKES,
    SUBGAME,
    TRICKS,
    read_deck,
    read_flags,
)

#: Cards to play and to marry with; and words, where bit i is action CALL + i.
Actions = tuple[int, int]

CALLS = ALL_CARDS
TRUMPS = ((1 << NUM_SUITS) - 1) << (TRUMP - CALL)
DEALERS = ((1 << MAX_PLAYERS) - 1) << (DEALER - CALL)

#: DR-H3. Play alone with three cards that are worth so much as trumps.
STRONG_CALL = 40.0
#: DR-H4. Surrender with fewer points to be expected, and no suit worth more.
FAR_BELOW_HALF = 15.0
WEAK_SUIT = 12.0
#: DR-H4. A card that wins with this chance, if led, is likely to bring a trick.
LIKELY = 0.5
#: DR-H8. Close where the hand alone should bring so many points, far more than are needed.
SURE_TO_WIN = 76.0
#: DR-H9. So many where a failure costs three strokes.
NEARLY_CERTAIN = 80.0
#: DR-H12. The points of the best card.
MOST_POINTS = int(POINTS.max())
#: DR-H13. Announce with this chance to win all tricks.
SURE_DURCHMARSCH = 0.7
#: DR-H17. Whoever has no more strokes than this is close to the end of the phase.
FEW_STROKES = 3


@kernel
def word(action: int) -> int:
    """An action from the call on, as a set of words."""
    return 1 << (action - CALL)


# ----------------------------------------------------------------------------------------------
# DR-H1 to DR-H3: the call


@kernel
def is_calling(observation: Observation, actions: Actions) -> bool:
    """Rufen, a card is to be called."""
    return actions[0] == 0 and actions[1] & CALLS != 0 and actions[1] < word(TRUMP)


@kernel
def highest_trump_missing(observation: Observation, actions: Actions) -> Actions:
    """Of the strongest suit call the highest card that is not held."""
    hand = read_deck(observation, HAND)
    return 0, word(CALL + highest_missing(hand, strongest_suit(hand)))


@kernel
def aces_for_marriages(observation: Observation) -> int:
    """The aces, not held, of suits of which the hand has king and Over."""
    hand = read_deck(observation, HAND)
    return (marriage_suits(hand) & KINGS) << 2 & ~hand


@kernel
def calls_with_marriage(observation: Observation, actions: Actions) -> bool:
    """Calling with king and Over of a suit, whose ace is missing."""
    return is_calling(observation, actions) and aces_for_marriages(observation) != 0


@kernel
def ace_for_marriage(observation: Observation, actions: Actions) -> Actions:
    """Call the ace of that suit."""
    return 0, aces_for_marriages(observation)


@kernel
def calls_with_strong_packet(observation: Observation, actions: Actions) -> bool:
    """Calling with three cards that are worth much as trumps of one suit."""
    hand = read_deck(observation, HAND)
    is_strong = strength_of(hand, strongest_suit(hand)) >= STRONG_CALL
    return is_calling(observation, actions) and is_strong


@kernel
def own_trumps(observation: Observation, actions: Actions) -> Actions:
    """Call a card of one's own in that suit, and play alone."""
    hand = read_deck(observation, HAND)
    return 0, hand & suit_cards(strongest_suit(hand))


# ----------------------------------------------------------------------------------------------
# DR-H4, DR-H5: the ace of hearts


@kernel
def expects_too_little(observation: Observation, actions: Actions) -> bool:
    """Naming trumps with no good suit, few points to be expected and no trick that is likely.

    The ace itself is no safety: it may come too late, since the others go out with 66.
    """
    if actions[1] & word(SURRENDER) == 0:
        return False
    hand = read_deck(observation, HAND)
    suit = strongest_suit(hand)
    if strength_of(hand, suit) > WEAK_SUIT:
        return False
    if best_chance(observation, hand & ~card_mask(ACE_OF_HEARTS), suit) >= LIKELY:
        return False
    return expected_points(observation) < FAR_BELOW_HALF


@kernel
def surrender(observation: Observation, actions: Actions) -> Actions:
    """Surrender: the others erase two strokes each, and never three."""
    return 0, word(SURRENDER)


@kernel
def is_naming_trumps(observation: Observation, actions: Actions) -> bool:
    """Trumps are to be named."""
    return actions[0] == 0 and actions[1] & TRUMPS != 0 and actions[1] < word(EXCHANGE_NINE)


@kernel
def strongest_trump(observation: Observation, actions: Actions) -> Actions:
    """Name the suit that is worth most: a marriage, length, high cards."""
    return 0, word(TRUMP + strongest_suit(read_deck(observation, HAND)))


# ----------------------------------------------------------------------------------------------
# DR-H6, DR-H7: points


@kernel
def has_won(observation: Observation, actions: Actions) -> bool:
    """Asked whether to go out, with 66 points."""
    return actions[1] & word(OUT) != 0 and own_points(observation) >= WIN


@kernel
def go_out(observation: Observation, actions: Actions) -> Actions:
    """Go out."""
    return 0, word(OUT)


@kernel
def unshown_pairs(observation: Observation, plays: int) -> int:
    """The kings and Overs that could be played without showing the marriage they are of."""
    return plays & marriage_suits(read_deck(observation, HAND))


@kernel
def may_break_second_marriage(observation: Observation, actions: Actions) -> bool:
    """Two marriages, shown or still held, and one that is not shown yet could be broken."""
    if unshown_pairs(observation, actions[0]) == 0:
        return False
    held = popcount(marriage_suits(read_deck(observation, HAND)) & KINGS)
    return not is_kamerun(observation) and (held > 1 or card_at(observation, DECLARED) > 0)


@kernel
def may_break_marriage(observation: Observation, actions: Actions) -> bool:
    """Loose play, and a king or Over could be played though the other one of its suit is held."""
    return not is_strict(observation) and unshown_pairs(observation, actions[0]) != 0


@kernel
def keep_marriages(observation: Observation, actions: Actions) -> Actions:
    """Show it or keep it whole: the second one waits for the next lead."""
    plays, words = actions
    return plays & ~unshown_pairs(observation, plays), words


# ----------------------------------------------------------------------------------------------
# DR-H8 to DR-H10: the talon of two players


@kernel
def should_win(observation: Observation, actions: Actions) -> bool:
    """The talon may be closed, and the hand alone should bring far more than 66 points."""
    return actions[1] & word(CLOSE) != 0 and expected_points(observation) >= SURE_TO_WIN


@kernel
def close_talon(observation: Observation, actions: Actions) -> Actions:
    """Close the talon."""
    return 0, word(CLOSE)


@kernel
def risks_three(observation: Observation, actions: Actions) -> bool:
    """The talon may be closed, somebody has no trick, and winning is not nearly certain."""
    if actions[1] & word(CLOSE) == 0:
        return False
    other = lowest_bit(other_places(observation))
    is_dear = observation[TRICKS] == 0 or observation[TRICKS + other] == 0
    return bool(is_dear) and expected_points(observation) < NEARLY_CERTAIN


@kernel
def risks_three_but_in_deutsch(observation: Observation, actions: Actions) -> bool:
    """The same by the ruleset "seed": in Deutsch whoever has closed loses no more than others."""
    is_deutsch = observation[SUBGAME + DEUTSCH] != 0
    return not is_deutsch and risks_three(observation, actions)


@kernel
def leave_talon_open(observation: Observation, actions: Actions) -> Actions:
    """Do anything but close the talon."""
    return actions[0], actions[1] & ~word(CLOSE)


@kernel
def may_exchange(observation: Observation, actions: Actions) -> bool:
    """The nine of trumps may be swapped."""
    return actions[1] & word(EXCHANGE_NINE) != 0


@kernel
def swap_nine(observation: Observation, actions: Actions) -> Actions:
    """Swap it."""
    return 0, word(EXCHANGE_NINE)


# ----------------------------------------------------------------------------------------------
# DR-H11: drawing trumps


@kernel
def sure_cards(observation: Observation, cards: CardMask) -> int:
    """The cards against which no higher one of their suit is out."""
    unseen = unseen_cards(observation)
    found = 0
    while cards:
        card = lowest_card(cards)
        cards = without_lowest(cards)
        if not unseen & higher_cards(card):
            found |= card_mask(card)
    return found


@kernel
def should_draw_trumps(observation: Observation, actions: Actions) -> bool:
    """Strict play, on lead with a plain card that only a trump can beat, and trumps are out."""
    trumps = suit_cards(trump_of(observation))
    is_trump_out = unseen_cards(observation) & trumps != 0
    if not (is_on_lead(observation) and is_strict(observation) and is_trump_out):
        return False
    return sure_cards(observation, actions[0] & ALL_CARDS & ~trumps) != 0


@kernel
def lead_sure_trump(observation: Observation, actions: Actions) -> Actions:
    """Lead a trump that nobody can beat."""
    sure = sure_cards(observation, actions[0] & suit_cards(trump_of(observation)))
    return sure | actions[0] & sure << MARRY, 0


# ----------------------------------------------------------------------------------------------
# DR-H12 to DR-H14: Kamerun


@kernel
def exit_suits(hand: CardMask) -> int:
    """In how many suits a hand has a nine or an Under."""
    count = 0
    for suit in range(NUM_SUITS):
        low_cards = card_mask(suit * NUM_RANKS) | card_mask(suit * NUM_RANKS + 1)
        count += 1 if hand & low_cards else 0
    return count


@kernel
def plays_with_exits(observation: Observation, plays: int) -> int:
    """The cards after which the hand still has low cards in two suits."""
    hand = read_deck(observation, HAND)
    found = 0
    while plays:
        card = lowest_card(plays)
        plays = without_lowest(plays)
        if exit_suits(hand & ~card_mask(card)) >= 2:
            found |= card_mask(card)
    return found


@kernel
def may_lose_exits(observation: Observation, actions: Actions) -> bool:
    """Kamerun, a card of another suit than the one led is to be thrown away."""
    trick = read_trick(observation)
    if not is_kamerun(observation) or trick.led == NO_CARD:
        return False
    return read_deck(observation, HAND) & suit_cards(suit_of(trick.led)) == 0


@kernel
def keep_exits(observation: Observation, actions: Actions) -> Actions:
    """Keep low cards in two suits, to lead."""
    return plays_with_exits(observation, actions[0]), 0


@kernel
def may_tie(observation: Observation, actions: Actions) -> bool:
    """Kamerun, two cards left, and another player is at most one card's points away."""
    if not is_kamerun(observation) or observation[HAND_SIZE] != 2 or actions[0] == 0:
        return False
    for place in range(1, MAX_PLAYERS):
        gap = abs(card_at(observation, POINTS_WON + place) - card_at(observation, POINTS_WON))
        if has_seat(read_flags(observation, ACTIVE), place) and gap <= MOST_POINTS:
            return True
    return False


@kernel
def wins_everything(observation: Observation, actions: Actions) -> bool:
    """Durchmarsch may be announced, and the hand should win all tricks."""
    may_announce = actions[1] & word(DURCHMARSCH) != 0
    return may_announce and chance_of_all_tricks(observation) > SURE_DURCHMARSCH


@kernel
def announce(observation: Observation, actions: Actions) -> Actions:
    """Announce Durchmarsch."""
    return 0, word(DURCHMARSCH)


@kernel
def tricks_of_others(observation: Observation) -> int:
    """How many tricks the other players have."""
    count = 0
    for place in range(1, MAX_PLAYERS):
        count += card_at(observation, TRICKS + place)
    return count


@kernel
def has_won_all_unannounced(observation: Observation, actions: Actions) -> bool:
    """Kamerun, with all tricks as yet, two or more, and no Durchmarsch announced."""
    has_all = observation[TRICKS] >= 2 and tricks_of_others(observation) == 0
    is_silent = read_flags(observation, ANNOUNCER) == 0
    return bool(is_kamerun(observation) and has_all and is_silent and actions[0])


@kernel
def likeliest_to_lose(observation: Observation, actions: Actions) -> Actions:
    """Play the cards that are least likely to win the trick."""
    plays = actions[0]
    found = 0
    least = 2.0
    while plays:
        card = lowest_card(plays)
        plays = without_lowest(plays)
        chance = chance_to_win(observation, card)
        if chance < least:
            found = 0
            least = chance
        if chance <= least:
            found |= card_mask(card)
    return found, 0


@kernel
def high_cards(hand: CardMask) -> int:
    """How many kings, tens and aces a hand has."""
    return popcount(hand & (KINGS | KINGS << 1 | KINGS << 2))


@kernel
def may_win_nothing(observation: Observation, actions: Actions) -> bool:
    """Kamerun, without a trick and with hardly a high card."""
    is_weak = high_cards(read_deck(observation, HAND)) <= 1
    return bool(is_kamerun(observation) and observation[TRICKS] == 0 and is_weak and actions[0])


# ----------------------------------------------------------------------------------------------
# DR-H15: the dealer


@kernel
def elects_dealer(observation: Observation, actions: Actions) -> bool:
    """The dealer is to be elected."""
    return actions[1] & DEALERS != 0


@kernel
def right_neighbor(observation: Observation, actions: Actions) -> Actions:
    """Elect the right neighbour, which is the last place to the left: one is forehand oneself."""
    num_players = popcount(read_flags(observation, ACTIVE))  # between phases nobody is out
    return 0, word(DEALER + num_players - 1)


# ----------------------------------------------------------------------------------------------
# DR-H17: strokes


@kernel
def gives_to_one_with_few_strokes(observation: Observation, plays: int) -> bool:
    """An opponent with few strokes has the best card of the trick, and no card left beats it."""
    trick = read_trick(observation)
    if trick.led == NO_CARD or has_seat(own_side(observation), trick.holder):
        return False
    if observation[STROKES + trick.holder] > FEW_STROKES:
        return False
    while plays:
        if beats(lowest_card(plays), trick.best, trump_of(observation)):
            return False
        plays = without_lowest(plays)
    return True


@kernel
def may_leave(observation: Observation, actions: Actions) -> bool:
    """The trick is held by one who will soon be safe."""
    return not is_kamerun(observation) and gives_to_one_with_few_strokes(observation, actions[0])


@kernel
def may_lose(observation: Observation, actions: Actions) -> bool:
    """Kamerun, and the trick is held by one who will soon have lost."""
    return is_kamerun(observation) and gives_to_one_with_few_strokes(observation, actions[0])


@kernel
def plays_worth(plays: int, sign: int) -> int:
    """The cards of most points, or with sign -1 of fewest."""
    found = 0
    most = -100
    while plays:
        card = lowest_card(plays)
        plays = without_lowest(plays)
        points = sign * POINTS[card]
        if points > most:
            found = 0
            most = points
        if points == most:
            found |= card_mask(card)
    return found


@kernel
def fewest_points(observation: Observation, actions: Actions) -> Actions:
    """Play the fewest points."""
    return plays_worth(actions[0], -1), 0


@kernel
def most_points(observation: Observation, actions: Actions) -> Actions:
    """Play the most points."""
    return plays_worth(actions[0], 1), 0
