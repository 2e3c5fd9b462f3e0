"""The hints of Dreeg as players, and the control that always plays its weakest card.

Numbers such as DR-H5 are those of the hints in docs/games/dreeg.md. The kernels read the
observation of the seat on turn and the actions left to it, nothing else. A set of actions is a
pair: cards to play and, a deck further on, to marry with; and the words, from the call on.
"""

from __future__ import annotations

from typing import Any

from agents.dreeg_worth import (
    best_play,
    chance_of_all_tricks,
    chance_to_win,
    expected_points,
    highest_missing,
    is_kamerun,
    is_on_lead,
    other_places,
    own_points,
    own_side,
    read_trick,
    strength_of,
    strongest_suit,
    trump_of,
    unseen_cards,
    weakest,
)
from agents.hints import (
    ActionSets,
    Hint,
    HintAgent,
    HintBook,
    SilentHint,
    make_agent,
    split_sets,
)
from cardenvs.core.cards import NO_CARD, card_mask, lowest_card, without_lowest
from cardenvs.core.game import Game
from cardenvs.core.kernel import bit_reader, kernel, lowest_bit, popcount
from cardenvs.core.rng import Stream
from cardenvs.core.rows import CardMask, Mask, Observation
from cardenvs.core.seats import has_seat
from cardenvs.games.dreeg_cards import (
    ALL_CARDS,
    KINGS,
    NUM_RANKS,
    NUM_SUITS,
    POINTS,
    higher_cards,
    marriage_suits,
    suit_cards,
)
from cardenvs.games.dreeg_row import (
    ACTIONS,
    CALL,
    CLOSE,
    CONTINUE,
    DEALER,
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
    CLOSER,
    HAND,
    HAND_SIZE,
    POINTS_WON,
    STROKES,
    TALON_SIZE,
    TRICKS,
    read_deck,
    read_flags,
)

#: Cards to play and to marry with; and words, where bit i is action CALL + i.
Actions = tuple[int, int]

read_plays, read_words = bit_reader(CALL), bit_reader(ACTIONS.size - CALL)

CALLS = ALL_CARDS
TRUMPS = ((1 << NUM_SUITS) - 1) << (TRUMP - CALL)
DEALERS = ((1 << MAX_PLAYERS) - 1) << (DEALER - CALL)

#: DR-H3. Play alone with three cards that are worth so much as trumps.
STRONG_CALL = 27.0
#: DR-H4. Surrender with fewer points to be expected, and no suit worth more.
FAR_BELOW_HALF = 15.0
WEAK_SUIT = 12.0
#: DR-H8. Close where the hand alone should bring so many points, far more than are needed.
SURE_TO_WIN = 85.0
#: DR-H9. So many where a failure costs three strokes.
NEARLY_CERTAIN = 95.0
#: DR-H13. Announce with this chance to win all tricks.
SURE_DURCHMARSCH = 0.7
#: DR-H17. Whoever has no more strokes than this is close to the end of the phase.
FEW_STROKES = 3


@kernel
def word(action: int) -> int:
    """An action from the call on, as a set of words."""
    return 1 << (action - CALL)


# ----------------------------------------------------------------------------------------------
# Base policies


@kernel
def play_for_worth(observation: Observation, actions: Actions, rng: Stream) -> int:
    """Play the card worth most; go on, and name or call in the longest suit."""
    plays, words = actions
    if plays:
        return best_play(observation, plays)
    if words & word(CONTINUE):
        return CONTINUE
    suit = longest_suit(read_deck(observation, HAND))
    if words & TRUMPS & word(TRUMP + suit):
        return TRUMP + suit
    in_suit = words & CALLS & suit_cards(suit)
    return CALL + lowest_bit(in_suit if in_suit else words)


@kernel
def longest_suit(hand: CardMask) -> int:
    """The suit of which a hand has most cards, the first of equals."""
    best = 0
    for suit in range(1, NUM_SUITS):
        if popcount(hand & suit_cards(suit)) > popcount(hand & suit_cards(best)):
            best = suit
    return best


@kernel
def play_weakest(observation: Observation, actions: Actions, rng: Stream) -> int:
    """Play the weakest card left, plain before trump; elsewhere go on, or take the first id."""
    plays, words = actions
    trump = trump_of(observation)
    if plays & ALL_CARDS:
        return weakest(plays & ALL_CARDS, trump)
    if plays:
        return MARRY + weakest(plays >> MARRY, trump)
    return CONTINUE if words & word(CONTINUE) else CALL + lowest_bit(words)


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
    """Naming trumps with no good suit and hardly a trick in the hand."""
    hand = read_deck(observation, HAND)
    if actions[1] & word(SURRENDER) == 0 or strength_of(hand, strongest_suit(hand)) > WEAK_SUIT:
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
def may_break_marriage(observation: Observation, actions: Actions) -> bool:
    """A king or Over could be played though the other one of its suit is held."""
    return not is_kamerun(observation) and unshown_pairs(observation, actions[0]) != 0


@kernel
def keep_marriages(observation: Observation, actions: Actions) -> Actions:
    """Show it or keep it whole: the second one waits for the next lead."""
    plays, words = actions
    return plays & ~unshown_pairs(observation, plays), words


# ----------------------------------------------------------------------------------------------
# DR-H8 to DR-H10: the talon of two players


@kernel
def is_sure_of_winning(observation: Observation, actions: Actions) -> bool:
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
def is_strict(observation: Observation) -> bool:
    """Whether suit must be followed: no talon, or a closed one."""
    return observation[TALON_SIZE] == 0 or read_flags(observation, CLOSER) != 0


@kernel
def sure_plain_cards(observation: Observation) -> int:
    """The plain cards of the hand that no higher card of their suit is out against."""
    unseen = unseen_cards(observation)
    rest = read_deck(observation, HAND) & ~suit_cards(trump_of(observation))
    found = 0
    while rest:
        card = lowest_card(rest)
        rest = without_lowest(rest)
        if not unseen & higher_cards(card):
            found |= card_mask(card)
    return found


@kernel
def should_draw_trumps(observation: Observation, actions: Actions) -> bool:
    """Strict play, on lead with trumps and two plain cards that only trumps can beat."""
    trumps = suit_cards(trump_of(observation))
    if not (is_on_lead(observation) and is_strict(observation) and actions[0] & trumps):
        return False
    is_trump_out = unseen_cards(observation) & trumps != 0
    return is_trump_out and popcount(sure_plain_cards(observation)) >= 2


@kernel
def lead_trumps(observation: Observation, actions: Actions) -> Actions:
    """Lead a trump."""
    trumps = suit_cards(trump_of(observation))
    return actions[0] & (trumps | trumps << MARRY), 0


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
    """Kamerun, and some but not all cards leave low cards in two suits."""
    return is_kamerun(observation) and plays_with_exits(observation, actions[0]) != 0


@kernel
def keep_exits(observation: Observation, actions: Actions) -> Actions:
    """Keep low cards to lead in two suits."""
    return plays_with_exits(observation, actions[0]), 0


@kernel
def may_tie(observation: Observation, actions: Actions) -> bool:
    """Kamerun, two cards left, and another one has about as many points."""
    if not is_kamerun(observation) or observation[HAND_SIZE] != 2 or actions[0] == 0:
        return False
    for place in range(1, MAX_PLAYERS):
        gap = observation[POINTS_WON + place] - observation[POINTS_WON]
        if has_seat(read_flags(observation, ACTIVE), place) and abs(gap) <= 11:
            return True
    return False


@kernel
def highest_rank(observation: Observation, actions: Actions) -> Actions:
    """Keep the lower card for the last trick."""
    rest = actions[0]
    best = lowest_card(rest)
    while rest:
        card = lowest_card(rest)
        rest = without_lowest(rest)
        if card % NUM_RANKS > best % NUM_RANKS:
            best = card
    return card_mask(best), 0


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
        count += observation[TRICKS + place]
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
    place = popcount(actions[1] & DEALERS) - 1
    return 0, word(DEALER + place)


# ----------------------------------------------------------------------------------------------
# DR-H17: strokes


@kernel
def gives_to_one_close_to_leaving(observation: Observation, actions: Actions) -> bool:
    """Following, the trick is held by an opponent with few strokes, in a phase under way."""
    trick = read_trick(observation)
    if trick.led == NO_CARD or has_seat(own_side(observation), trick.holder):
        return False
    return bool(observation[STROKES + trick.holder] <= FEW_STROKES and actions[0])


@kernel
def may_leave(observation: Observation, actions: Actions) -> bool:
    """The trick is held by one who will soon be safe."""
    return not is_kamerun(observation) and gives_to_one_close_to_leaving(observation, actions)


@kernel
def may_lose(observation: Observation, actions: Actions) -> bool:
    """Kamerun, and the trick is held by one who will soon have lost."""
    return is_kamerun(observation) and gives_to_one_close_to_leaving(observation, actions)


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


# ----------------------------------------------------------------------------------------------
# The book


@kernel
def read_actions(mask: Mask) -> Actions:
    """Read a mask."""
    return read_plays(mask, 0), read_words(mask, CALL)


@kernel
def meet(actions: Actions, others: Actions) -> Actions:
    """The actions that are in both sets."""
    return actions[0] & others[0], actions[1] & others[1]


SETS: ActionSets = split_sets((0, CALL), read_actions, meet)

TEXTS = "source text, pagat.com, Wikipedia or the description of Four-Hand Sixty-Six"
RULES = "follows from the rules"

HINTS = HintBook(
    hints=(
        Hint(
            "DR-H10",
            "swap the nine of trumps as soon as it is legal",
            "a better trump, and at times the 40",
            RULES,
            may_exchange,
            swap_nine,
        ),
        Hint(
            "DR-H9",
            "do not close where failing costs three, unless winning is nearly certain",
            "fewer deals lost by three strokes",
            RULES,
            risks_three,
            leave_talon_open,
        ),
        Hint(
            "DR-H8",
            "close with a hand that is sure of 66",
            "denies the opponent the cards that would rescue him",
            TEXTS,
            is_sure_of_winning,
            close_talon,
        ),
        Hint(
            "DR-H6",
            "go out at the first chance with 66",
            "waiting never brings more",
            TEXTS,
            has_won,
            go_out,
        ),
        Hint(
            "DR-H3",
            "with three very strong cards call one of them and play alone",
            "all the strokes for oneself",
            TEXTS,
            calls_with_strong_packet,
            own_trumps,
        ),
        Hint(
            "DR-H2",
            "with king and Over of a suit call its ace",
            "the marriage is worth 40",
            TEXTS,
            calls_with_marriage,
            ace_for_marriage,
        ),
        Hint(
            "DR-H1",
            "call the highest trump that is not held",
            "the partner's best trump falls to the first trick",
            TEXTS,
            is_calling,
            highest_trump_missing,
        ),
        Hint(
            "DR-H4a",
            "surrender with a hand far below 33 points that may win no trick",
            "two strokes for each of the others, not three",
            TEXTS,
            expects_too_little,
            surrender,
        ),
        Hint(
            "DR-H5",
            "name the suit of a marriage, or the longest and strongest one",
            "40 points, and the most tricks",
            RULES,
            is_naming_trumps,
            strongest_trump,
        ),
        Hint(
            "DR-H13a",
            "announce Durchmarsch with a hand that wins everything",
            "three strokes for each of the others",
            TEXTS,
            wins_everything,
            announce,
        ),
        Hint(
            "DR-H13b",
            "having won all tricks without a word, lose one",
            "all tricks cost three strokes",
            TEXTS,
            has_won_all_unannounced,
            likeliest_to_lose,
        ),
        Hint(
            "DR-H14",
            "with a very weak hand try for no trick at all",
            "no trick costs nothing",
            RULES,
            may_win_nothing,
            likeliest_to_lose,
        ),
        Hint(
            "DR-H12b",
            "shun the last trick when a tie is near",
            "its winner stands higher among equals, which is bad",
            RULES,
            may_tie,
            highest_rank,
        ),
        Hint(
            "DR-H12a",
            "keep low cards to lead in two suits",
            "the suit must be changed from lead to lead",
            RULES,
            may_lose_exits,
            keep_exits,
        ),
        Hint(
            "DR-H17a",
            "give few points to one who is close to leaving",
            "he stays in the phase",
            RULES,
            may_leave,
            fewest_points,
        ),
        Hint(
            "DR-H17b",
            "in Kamerun give many points to one who is close to losing",
            "he gets the blob",
            RULES,
            may_lose,
            most_points,
        ),
        Hint(
            "DR-H7",
            "keep a marriage that is not shown yet for a lead of its own",
            "only one can be shown at each lead",
            TEXTS,
            may_break_marriage,
            keep_marriages,
        ),
        Hint(
            "DR-H11",
            "with good plain cards draw the trumps early",
            "the others must trump and overtrump",
            TEXTS,
            should_draw_trumps,
            lead_trumps,
        ),
        Hint(
            "DR-H15",
            "elect the right neighbour as dealer",
            "one is forehand",
            TEXTS,
            elects_dealer,
            right_neighbor,
        ),
    ),
    off=frozenset(
        {
            "DR-H3",
            "DR-H4a",
            "DR-H7",
            "DR-H9",
            "DR-H11",
            "DR-H12a",
            "DR-H12b",
            "DR-H13b",
            "DR-H14",
            "DR-H17a",
            "DR-H17b",
        }
    ),
    silent=(
        SilentHint(
            "DR-H4b",
            "surrender less where the soloist always erases three",
            TEXTS,
            "there is no such way of scoring among the options",
        ),
        SilentHint(
            "DR-H16",
            "two players: it is risky to wait with the declaration of the ace of hearts",
            TEXTS,
            "the declaration cannot be put off (DR-5.6)",
        ),
    ),
    bases={"worth": play_for_worth, "lowest": play_weakest},
    sets=SETS,
)


def make_hints(game: Game, seed: int | None = None, **options: Any) -> HintAgent:
    """Return the agent that plays by the hints; for the options see `agents.hints.make_agent`."""
    return make_agent(HINTS, seed, **options)


def make_lowest(game: Game, seed: int | None = None) -> HintAgent:
    """Return the control that plays its weakest card; it plays the same whatever the seed."""
    return HintAgent(HINTS, (), "lowest", seed, name="lowest")
