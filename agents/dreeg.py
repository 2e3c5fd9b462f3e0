"""The hints of Dreeg as players, and the control that always plays its weakest card.

The kernels of the hints stand in `dreeg_hints`, what cards are worth in `dreeg_worth`.
"""

from __future__ import annotations

from functools import cache

from agents.dreeg_hints import (
    CALLS,
    TRUMPS,
    Actions,
    ace_for_marriage,
    announce,
    calls_with_marriage,
    calls_with_strong_packet,
    close_talon,
    elects_dealer,
    expects_too_little,
    fewest_points,
    go_out,
    has_won,
    has_won_all_unannounced,
    highest_trump_missing,
    is_calling,
    is_naming_trumps,
    keep_exits,
    keep_marriages,
    lead_sure_trump,
    leave_talon_open,
    likeliest_to_lose,
    may_break_marriage,
    may_break_second_marriage,
    may_exchange,
    may_leave,
    may_lose,
    may_lose_exits,
    may_tie,
    may_win_nothing,
    most_points,
    own_trumps,
    right_neighbor,
    risks_three,
    risks_three_but_in_deutsch,
    should_draw_trumps,
    should_win,
    strongest_trump,
    surrender,
    swap_nine,
    wins_everything,
    word,
)
from agents.dreeg_worth import (
    best_play,
    trump_of,
    weakest,
)
from agents.hints import (
    ActionSets,
    Hint,
    HintBook,
    SilentHint,
    split_sets,
)
from cardenvs.core.game import Game
from cardenvs.core.kernel import bit_reader, kernel, lowest_bit, popcount
from cardenvs.core.rng import Stream
from cardenvs.core.rows import CardMask, Mask, Observation
from cardenvs.games.dreeg_cards import (
    ALL_CARDS,
    NUM_SUITS,
    suit_cards,
)
from cardenvs.games.dreeg_row import (
    ACTIONS,
    CALL,
    CONTINUE,
    MARRY,
    TRUMP,
)
from cardenvs.games.dreeg_view import (
    HAND,
    read_deck,
)

read_plays, read_words = bit_reader(CALL), bit_reader(ACTIONS.size - CALL)


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

SEED_TEXT = "source text"
PAGAT_COM = "pagat.com"
TEXTS = "related texts (Dreeg, Sixty-Six)"
RULES = "follows from the rules"
OURS = "ours, after DR-H7"

#: DR-H8. What closing is good for.
CLOSING = "denies the opponent the cards that would rescue him"
CLOSING_BY_SEED = f"{CLOSING}; in Deutsch, where most points win, they count for nobody"


@cache
def book_of(ruleset: str) -> HintBook:
    """Return the hints by a ruleset.

    By "seed" a two-player deal of Deutsch is always played out, and nothing depends on who has
    closed: DR-H9 is silent there. The hints in use unless told otherwise are the same.
    """
    is_seed = ruleset == "seed"
    return HintBook(
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
                risks_three_but_in_deutsch if is_seed else risks_three,
                leave_talon_open,
            ),
            Hint(
                "DR-H8",
                "close with a hand that should bring far more than 66 by itself",
                CLOSING_BY_SEED if is_seed else CLOSING,
                TEXTS,
                should_win,
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
                SEED_TEXT,
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
                "when a tie is near, lose the last trick but one, so as not to lead to the last",
                "who wins the last trick stands higher among equals, which is bad in Kamerun",
                RULES,
                may_tie,
                likeliest_to_lose,
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
                "of two marriages keep the second until another trick is won",
                "only one can be shown at a lead",
                TEXTS,
                may_break_second_marriage,
                keep_marriages,
            ),
            Hint(
                "DR-H7b",
                "while any card may follow, break no marriage",
                "it is worth more than the trick, and can be shown at a later lead",
                OURS,
                may_break_marriage,
                keep_marriages,
            ),
            Hint(
                "DR-H11",
                "with a good plain card draw the trumps early",
                "the others must trump and overtrump",
                TEXTS,
                should_draw_trumps,
                lead_sure_trump,
            ),
            Hint(
                "DR-H15",
                "elect the right neighbour as dealer",
                "one is forehand",
                PAGAT_COM,
                elects_dealer,
                right_neighbor,
            ),
        ),
        off=frozenset(
            {
                "DR-H3",
                "DR-H7",
                "DR-H9",
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
                PAGAT_COM,
                "there is no such way of scoring among the options",
            ),
            SilentHint(
                "DR-H16",
                "two players: it is risky to wait with the declaration of the ace of hearts",
                PAGAT_COM,
                "the declaration cannot be put off (DR-5.6)",
            ),
        ),
        bases={"worth": play_for_worth, "lowest": play_weakest},
        sets=SETS,
    )


def hint_book(game: Game) -> HintBook:
    """Return the hints by the ruleset of the game; they are the same whatever other options."""
    return book_of(game.options["ruleset"])
