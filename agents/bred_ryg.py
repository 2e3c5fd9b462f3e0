"""The hints of Bred Ryg as players, a control, and bad habits.

Numbers such as BR-H3 are those of the hints in docs/games/bred_ryg.md. The kernels read the
observation of the seat on turn and the actions left to it, nothing else. A set of actions is an
int: a bit for each card, and one for passing or taking.
"""

from __future__ import annotations

from agents.base import player_counter
from agents.beating import (
    CONTROL,
    MUSTAMAIJA,
    SEED,
    cheapest,
    cheapest_but,
    dearest,
    entries,
    first_of_ranks,
    groups,
    hand_size,
    higher_in_suit,
    is_active,
    largest_entries,
    of_short_suits,
    plain_cards,
    right_neighbor,
)
from agents.hints import (
    ActionSets,
    Hint,
    HintBook,
    SilentHint,
    whole_sets,
)
from cardenvs.core.cards import card_mask, has_card, lowest_card, without_lowest
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel, lowest_bit, popcount, rare_kernel
from cardenvs.core.rng import Stream
from cardenvs.core.rows import CardMask, Observation
from cardenvs.core.seats import read_seat
from cardenvs.games.beating import (
    ALL_CARDS,
    DECK,
    NUM_CARDS,
    NUM_SUITS,
    rank_of,
    suit_cards,
)
from cardenvs.games.bred_ryg import (
    ACTIONS,
    BLACK_QUEEN,
    HAND_FLOOR,
    NOT_THE_QUEEN,
    PASS_OR_TAKE,
    PASS_OR_TAKE_BIT,
    beaters,
)
from cardenvs.games.bred_ryg_view import (
    ATTACK,
    EXPOSED_DEPTH,
    EXPOSED_IN_STOCK,
    EXPOSED_RANK,
    HAND,
    KNOWN,
    LEADER,
    OBSERVATION,
    OFFSETS,
    PHASE,
    REPLIER,
    SEEN_EXTRA,
    SEEN_LEAD,
    SEEN_REPLYING,
    STANDING_BEGIN,
    STOCK_SIZE,
    TAKEN,
    TO_ANSWER,
    TRUMP,
    WASTE,
    read_deck,
    read_phases,
    read_ranks,
    read_suits,
)

QUEEN = 1 << BLACK_QUEEN
JACK = DECK.ranks.index("J")
QUEEN_RANK = DECK.ranks.index("Q")

#: BR-H5. A replier with so few cards may be about to get out.
FEW_CARDS = 2

num_players_of = player_counter(OBSERVATION)


# ----------------------------------------------------------------------------------------------
# What the observation tells


@kernel
def place_of(observation: Observation, piece: int) -> int:
    """Where a piece of an observation begins."""
    place: int = OFFSETS[num_players_of(observation)][piece]
    return place


@rare_kernel
def phase_of(observation: Observation) -> int:
    """The phase as the seat sees it."""
    return lowest_bit(read_phases(observation, place_of(observation, PHASE)))


@rare_kernel
def trump_of(observation: Observation) -> int:
    """The trump suit."""
    return lowest_bit(read_suits(observation, place_of(observation, TRUMP)))


@rare_kernel
def has_stock(observation: Observation) -> bool:
    """Whether there are cards to draw: it is not yet the endgame."""
    return bool(observation[place_of(observation, STOCK_SIZE)] != 0)


@kernel
def is_replier(observation: Observation) -> bool:
    """Whether the seat replies in this trick."""
    return bool(observation[place_of(observation, REPLIER)] != 0)


@kernel
def is_leading(observation: Observation) -> bool:
    """Whether the seat leads a card now."""
    return phase_of(observation) == SEEN_LEAD


@kernel
def is_replying(observation: Observation) -> bool:
    """Whether the seat answers an attack card now."""
    return phase_of(observation) == SEEN_REPLYING


@kernel
def is_attacking(observation: Observation) -> bool:
    """Whether the seat puts down cards that another must answer."""
    return not is_replier(observation)


@rare_kernel
def hand_of(observation: Observation) -> CardMask:
    """The own hand."""
    return read_deck(observation, place_of(observation, HAND))


@kernel
def size_of(observation: Observation, seat: int) -> int:
    """How many cards a seat holds."""
    num_players = num_players_of(observation)
    return hand_size(observation, OFFSETS[num_players][STANDING_BEGIN], num_players, seat)


@rare_kernel
def replier_size(observation: Observation) -> int:
    """How many cards the replier holds."""
    num_players = num_players_of(observation)
    replier = read_seat(observation, OFFSETS[num_players][REPLIER], num_players)
    return size_of(observation, replier)


@rare_kernel
def unanswered(observation: Observation) -> CardMask:
    """The attack cards that are neither beaten nor taken."""
    at = OFFSETS[num_players_of(observation)]
    answered = read_deck(observation, at[TAKEN]) | read_deck(observation, at[WASTE])
    return read_deck(observation, at[ATTACK]) & ~answered


@rare_kernel
def hand_beaters(observation: Observation) -> CardMask:
    """The cards of the hand that beat the card to be answered; there must be one."""
    card = lowest_card(read_deck(observation, place_of(observation, TO_ANSWER)))
    return hand_of(observation) & beaters(card, trump_of(observation))


@rare_kernel
def can_beat_all(attack: CardMask, hand: CardMask, trump: int) -> bool:
    """Whether a hand beats all attack cards: each, from the lowest, as cheaply as it can."""
    while attack:
        fitting = hand & beaters(lowest_card(attack), trump)
        if fitting == 0:
            return False
        hand &= ~card_mask(cheapest(fitting, trump))
        attack = without_lowest(attack)
    return True


# ----------------------------------------------------------------------------------------------
# The base policies


@kernel
def play_weakest(observation: Observation, actions: CardMask, rng: Stream) -> int:
    """Play the weakest card left, the black queen last of all; pass or take only without one."""
    cards = actions & ALL_CARDS
    return cheapest_but(cards, QUEEN, trump_of(observation)) if cards else PASS_OR_TAKE


@kernel
def play_carefully(observation: Observation, actions: CardMask, rng: Stream) -> int:
    """Play the weakest card left, but as replier add nothing to the attack on oneself."""
    may_pass = actions & PASS_OR_TAKE_BIT != 0
    if may_pass and is_replier(observation) and not is_replying(observation):
        return PASS_OR_TAKE
    return play_weakest(observation, actions, rng)


# ----------------------------------------------------------------------------------------------
# BR-H2: cheap replies


@kernel
def replies_with_stock(observation: Observation, actions: CardMask) -> bool:
    """Replying while there is a stock, with a card that beats the one to be answered."""
    return actions & ALL_CARDS != 0 and is_replying(observation) and has_stock(observation)


@kernel
def cheapest_but_no_high_trump(observation: Observation, actions: CardMask) -> int:
    """Beat with the cheapest card of the hand; if that is a trump from the jack on, take."""
    trump = trump_of(observation)
    card = cheapest(hand_beaters(observation), trump)
    is_high_trump = has_card(suit_cards(trump), card) and rank_of(card) >= JACK
    return PASS_OR_TAKE_BIT if is_high_trump else card_mask(card)


# ----------------------------------------------------------------------------------------------
# BR-H3, BR-H5, M-H6: the black queen
#
# Of the other hints none decides about her, but for BR-H8, which counts cards.


@kernel
def may_put_queen(observation: Observation, actions: CardMask) -> bool:
    """Leading or adding to another's burden, with the black queen among the legal cards."""
    return actions & QUEEN != 0 and is_attacking(observation)


@kernel
def the_queen(observation: Observation, actions: CardMask) -> int:
    """Put down the black queen."""
    return QUEEN


@kernel
def may_hold_up_replier(observation: Observation, actions: CardMask) -> bool:
    """The endgame, on lead with the black queen against a replier with one or two cards."""
    is_leader = observation[place_of(observation, LEADER)] != 0
    may_put = is_leader and actions & QUEEN != 0 and not has_stock(observation)
    return bool(may_put and replier_size(observation) <= FEW_CARDS)


@kernel
def has_choice_over_queen(observation: Observation, actions: CardMask) -> bool:
    """The black queen may be put down, and something else may be done."""
    return may_put_queen(observation, actions) and actions & ~QUEEN != 0


@kernel
def has_choice_of_lead(observation: Observation, actions: CardMask) -> bool:
    """On lead with the black queen and another card."""
    return is_leading(observation) and has_choice_over_queen(observation, actions)


@kernel
def not_the_queen(observation: Observation, actions: CardMask) -> int:
    """Anything but the black queen."""
    return actions & ~QUEEN


@kernel
def queen_late(observation: Observation, actions: CardMask) -> int:
    """Keep the black queen while there is a stock; after that she is not back in time."""
    return actions & ~QUEEN if has_stock(observation) else QUEEN


@kernel
def beside_queen(actions: CardMask, advised: CardMask) -> CardMask:
    """Some advice that leaves open whether to put down the black queen."""
    return advised | actions & QUEEN


# ----------------------------------------------------------------------------------------------
# BR-H7: the replier adds


@rare_kernel
def beatable_additions(observation: Observation, actions: CardMask) -> CardMask:
    """The cards that the replier can add and then beat with all the others."""
    trump = trump_of(observation)
    attack = read_deck(observation, place_of(observation, ATTACK))
    hand = hand_of(observation)
    left = actions & ALL_CARDS
    found = 0
    while left:
        card = card_mask(lowest_card(left))
        if can_beat_all(attack | card, hand & ~card, trump):
            found |= card
        left = without_lowest(left)
    return found


@kernel
def can_beat_own_addition(observation: Observation, actions: CardMask) -> bool:
    """The replier may add a card and still beat everything."""
    may_add = is_replier(observation) and not is_replying(observation)
    return may_add and beatable_additions(observation, actions) != 0


@kernel
def first_beatable_addition(observation: Observation, actions: CardMask) -> int:
    """Add the first of them: later ones can follow it."""
    return card_mask(lowest_card(beatable_additions(observation, actions)))


# ----------------------------------------------------------------------------------------------
# BR-H8: reach the exposed card


@kernel
def drawn_by(size: int) -> int:
    """How many cards a hand of some size draws after a trick."""
    return HAND_FLOOR - size if size < HAND_FLOOR else 0


@kernel
def drawn_before(observation: Observation) -> int:
    """How many cards the others draw before the seat, the replier apart: none before a leader."""
    num_players = num_players_of(observation)
    at = OFFSETS[num_players]
    leader = read_seat(observation, at[LEADER], num_players)
    if leader == 0:
        return 0
    count = drawn_by(size_of(observation, leader))
    first = read_seat(observation, at[REPLIER], num_players) + 1
    for seat in range(first, num_players):
        if is_active(observation, at[STANDING_BEGIN], num_players, seat):
            count += drawn_by(size_of(observation, seat))
    return count


@rare_kernel
def ways_to_exposed(observation: Observation, more: int) -> int:
    """Of the two ends of a trick, all beaten and all taken, how many give the exposed card.

    That is, give it to the seat, if it puts down so many cards more and nobody else puts any.
    """
    at = OFFSETS[num_players_of(observation)]
    depth = observation[at[EXPOSED_DEPTH]]
    num_attack = popcount(read_deck(observation, at[ATTACK])) + more
    own = drawn_by(popcount(hand_of(observation)) - more)
    before = drawn_before(observation)
    replier = replier_size(observation)
    ways = 0
    for change in (-num_attack, num_attack):
        first = before + drawn_by(replier + change)
        ways += 1 if first <= depth < first + own else 0
    return ways


@rare_kernel
def best_number(observation: Observation, actions: CardMask) -> int:
    """How many cards to put down so as to reach the exposed card; -1 if all are equally good.

    Of equally good numbers the lowest.
    """
    at = OFFSETS[num_players_of(observation)]
    least = 1 if is_leading(observation) else 0
    rank = lowest_bit(read_ranks(observation, at[EXPOSED_RANK]) | 1 << NUM_CARDS)
    if not (observation[at[EXPOSED_IN_STOCK]] and QUEEN_RANK <= rank < NUM_CARDS):
        return -1
    room = replier_size(observation) - popcount(read_deck(observation, at[ATTACK]))
    limit = 1 if phase_of(observation) == SEEN_EXTRA else room
    most = least
    while most < min(limit, NUM_SUITS) and entries(actions & ALL_CARDS, most + 1):
        most += 1
    best = least
    worst_ways = best_ways = ways_to_exposed(observation, least)
    for number in range(least + 1, most + 1):
        ways = ways_to_exposed(observation, number)
        if ways > best_ways:
            best = number
            best_ways = ways
        if ways < worst_ways:
            worst_ways = ways
    return best if worst_ways < best_ways else -1


@kernel
def can_reach_exposed(observation: Observation, actions: CardMask) -> bool:
    """A queen or better lies exposed, and how many cards one puts down decides who draws it."""
    return is_attacking(observation) and best_number(observation, actions) >= 0


@kernel
def number_for_exposed(observation: Observation, actions: CardMask) -> int:
    """Put down as many cards as make the own draw reach the exposed card, or stop."""
    number = best_number(observation, actions)
    return entries(actions & ALL_CARDS, number) if number else PASS_OR_TAKE_BIT


# ----------------------------------------------------------------------------------------------
# BR-H9, M-H1: play out low cards, collect trumps


@rare_kernel
def plain_to_put(observation: Observation, actions: CardMask) -> CardMask:
    """The legal cards that are neither trumps nor the black queen."""
    return plain_cards(actions & ALL_CARDS & NOT_THE_QUEEN, trump_of(observation))


@kernel
def attacks_with_plain_card(observation: Observation, actions: CardMask) -> bool:
    """Leading or adding to another's burden while there is a stock, with a plain card."""
    is_early = is_attacking(observation) and has_stock(observation)
    return is_early and plain_to_put(observation, actions) != 0


@kernel
def lowest_plain_card(observation: Observation, actions: CardMask) -> int:
    """Put down the lowest plain card."""
    card = cheapest(plain_to_put(observation, actions), trump_of(observation))
    return beside_queen(actions, card_mask(card))


@kernel
def may_collect_trumps(observation: Observation, actions: CardMask) -> bool:
    """Leading or adding to another's burden while there is a stock, and not forced to a trump."""
    may_keep = actions & PASS_OR_TAKE_BIT != 0 and actions & NOT_THE_QUEEN & ALL_CARDS != 0
    is_early = is_attacking(observation) and has_stock(observation)
    return is_early and (may_keep or plain_to_put(observation, actions) != 0)


@kernel
def many_plain_cards(observation: Observation, actions: CardMask) -> int:
    """Lead from the largest plain group, add all plain cards; rather pass than add a trump."""
    plain = plain_to_put(observation, actions)
    is_extra = phase_of(observation) == SEEN_EXTRA
    cards = plain if is_extra else largest_entries(plain)
    return beside_queen(actions, cards if plain else PASS_OR_TAKE_BIT)


# ----------------------------------------------------------------------------------------------
# M-H2: what the right-hand neighbor holds


@rare_kernel
def kept_against_neighbor(observation: Observation, actions: CardMask) -> CardMask:
    """The legal cards that beat, in its suit, a card which the right-hand neighbor has shown."""
    num_players = num_players_of(observation)
    at = OFFSETS[num_players]
    neighbor = right_neighbor(observation, at[STANDING_BEGIN], num_players)
    known = read_deck(observation, at[KNOWN] + neighbor * NUM_CARDS) & NOT_THE_QUEEN
    return actions & higher_in_suit(known) & NOT_THE_QUEEN


@kernel
def spare_actions(observation: Observation, actions: CardMask) -> int:
    """Use another card; when adding, rather none."""
    others = actions & ~kept_against_neighbor(observation, actions)
    return others & ALL_CARDS if is_replying(observation) else others


@kernel
def can_keep_against_neighbor(observation: Observation, actions: CardMask) -> bool:
    """There are such cards, and others; a replier has another card that beats."""
    kept = kept_against_neighbor(observation, actions)
    return kept != 0 and spare_actions(observation, actions) != 0


# ----------------------------------------------------------------------------------------------
# M-H3: groups that cannot be led whole


@rare_kernel
def beyond_room(observation: Observation, actions: CardMask) -> CardMask:
    """The trumps among the legal cards whose rank one holds too often for the replier's hand."""
    attack = read_deck(observation, place_of(observation, ATTACK))
    room = replier_size(observation) - popcount(attack)
    cards = actions & ALL_CARDS
    too_large = groups(cards, room + 1) if room < NUM_SUITS else 0
    return too_large & suit_cards(trump_of(observation)) & NOT_THE_QUEEN


@kernel
def cannot_put_whole_group(observation: Observation, actions: CardMask) -> bool:
    """The endgame, and a group of equals with a trump is larger than the room for it."""
    may_put = is_attacking(observation) and not has_stock(observation)
    trumps = beyond_room(observation, actions) if may_put else 0
    return trumps != 0 and actions & ~trumps & ALL_CARDS != 0


@kernel
def without_trumps_beyond_room(observation: Observation, actions: CardMask) -> int:
    """Put down the plain cards of such a group first, beginning with its first one."""
    left = actions & ~beyond_room(observation, actions)
    if phase_of(observation) == SEEN_EXTRA:
        return left
    firsts = first_of_ranks(left & ALL_CARDS & NOT_THE_QUEEN)
    return beside_queen(actions, firsts | left & PASS_OR_TAKE_BIT)


# ----------------------------------------------------------------------------------------------
# M-H4, M-H5: lost replies and won ones


@rare_kernel
def is_reply_lost(observation: Observation) -> bool:
    """Whether a card of this trick has been taken, or not all that are left can be beaten."""
    has_taken = read_deck(observation, place_of(observation, TAKEN)) != 0
    rest = unanswered(observation)
    return has_taken or not can_beat_all(rest, hand_of(observation), trump_of(observation))


@kernel
def can_shrink_hand(observation: Observation, actions: CardMask) -> bool:
    """A lost reply with a large hand, and a plain card that beats the one to be answered."""
    has_beater = plain_cards(actions & ALL_CARDS, trump_of(observation)) != 0
    is_large = popcount(hand_of(observation)) > HAND_FLOOR
    may_beat = has_beater and is_large and is_replying(observation)
    return may_beat and is_reply_lost(observation)


@kernel
def cheapest_card(observation: Observation, actions: CardMask) -> int:
    """The least valuable card."""
    return card_mask(cheapest(actions & ALL_CARDS, trump_of(observation)))


@kernel
def lacks_one_beat(observation: Observation, actions: CardMask) -> bool:
    """The last of several attack cards, the others beaten, and only trumps beat it."""
    at = OFFSETS[num_players_of(observation)]
    if actions & ALL_CARDS == 0 or not is_replying(observation):
        return False
    only_trumps = plain_cards(hand_beaters(observation), trump_of(observation)) == 0
    attack = read_deck(observation, at[ATTACK])
    is_last = popcount(attack) > 1 and popcount(unanswered(observation)) == 1
    all_beaten = read_deck(observation, at[TAKEN]) == 0
    return bool(only_trumps and is_last and all_beaten)


# ----------------------------------------------------------------------------------------------
# M-H7: few suits


@kernel
def attacks_in_endgame(observation: Observation, actions: CardMask) -> bool:
    """Leading or adding to another's burden without a stock, with a plain card."""
    is_late = is_attacking(observation) and not has_stock(observation)
    return is_late and plain_to_put(observation, actions) != 0


@kernel
def plain_card_of_short_suit(observation: Observation, actions: CardMask) -> int:
    """Put down a plain card of the suit of which one holds fewest."""
    plain = plain_to_put(observation, actions)
    return beside_queen(actions, of_short_suits(plain, hand_of(observation)))


# ----------------------------------------------------------------------------------------------
# Bad habits


@kernel
def takes(observation: Observation, actions: CardMask) -> int:
    """Pass, or take."""
    return PASS_OR_TAKE_BIT


@kernel
def has_beater(observation: Observation, actions: CardMask) -> bool:
    """Replying, with a card that beats the one to be answered."""
    return actions & ALL_CARDS != 0 and is_replying(observation)


@kernel
def dearest_card(observation: Observation, actions: CardMask) -> int:
    """The most valuable card."""
    return card_mask(dearest(actions & ALL_CARDS, trump_of(observation)))


@kernel
def may_add(observation: Observation, actions: CardMask) -> bool:
    """Asked whether to add a card to another's burden."""
    return actions & PASS_OR_TAKE_BIT != 0 and is_attacking(observation)


# ----------------------------------------------------------------------------------------------
# The book

SETS: ActionSets = whole_sets(ACTIONS.size)

HINTS = HintBook(
    hints=(
        Hint(
            "BR-H3",
            "pass the black queen on at once",
            "kept, she makes the hand a card smaller",
            SEED,
            may_put_queen,
            the_queen,
        ),
        Hint(
            "M-H6",
            "keep the black queen while there is a stock",
            "she comes round; let go later, she is not back in time",
            MUSTAMAIJA,
            has_choice_over_queen,
            queen_late,
        ),
        Hint(
            "BR-H5",
            "in the endgame lead the black queen to a replier with one or two cards",
            "the replier will not get out yet",
            SEED,
            may_hold_up_replier,
            the_queen,
        ),
        Hint(
            "BR-H8",
            "put down as many cards as make your draw reach a high exposed card",
            "a high trump more",
            SEED,
            can_reach_exposed,
            number_for_exposed,
        ),
        Hint(
            "M-H2",
            "keep cards above those that the right-hand neighbor has taken",
            "they beat the neighbor's later leads",
            MUSTAMAIJA,
            can_keep_against_neighbor,
            spare_actions,
        ),
        Hint(
            "M-H1",
            "while there is a stock keep trumps, and lead large plain groups",
            "trumps for the end, and many new cards",
            MUSTAMAIJA,
            may_collect_trumps,
            many_plain_cards,
        ),
        Hint(
            "BR-H9",
            "while there is a stock play out the lowest plain cards, and add them",
            "better cards come in exchange",
            SEED,
            attacks_with_plain_card,
            lowest_plain_card,
        ),
        Hint(
            "BR-H7",
            "as replier add a card if all can be beaten",
            "sheds one pair more",
            SEED,
            can_beat_own_addition,
            first_beatable_addition,
        ),
        Hint(
            "M-H5",
            "spend a trump on the last attack card if all others are beaten",
            "gains the lead",
            MUSTAMAIJA,
            lacks_one_beat,
            cheapest_card,
        ),
        Hint(
            "M-H4",
            "with a large hand and a lost reply still beat with plain cards",
            "the hand shrinks",
            MUSTAMAIJA,
            can_shrink_hand,
            cheapest_card,
        ),
        Hint(
            "BR-H2",
            "while there is a stock beat with the cheapest card, but spend no high trump",
            "fewer skipped leads, and a better hand for the endgame",
            SEED,
            replies_with_stock,
            cheapest_but_no_high_trump,
        ),
        Hint(
            "M-H3",
            "in the endgame put the plain cards of a group first if it does not fit whole",
            "keeps the trump of the group",
            MUSTAMAIJA,
            cannot_put_whole_group,
            without_trumps_beyond_room,
        ),
        Hint(
            "M-H7",
            "in the endgame play from the shortest plain suit",
            "few suits are better than many",
            MUSTAMAIJA,
            attacks_in_endgame,
            plain_card_of_short_suit,
        ),
    ),
    off=frozenset({"BR-H3", "M-H2", "M-H5", "M-H4", "M-H7", "BR-H8"}),
    silent=(
        SilentHint(
            "BR-H1",
            "keep track of the black queen",
            SEED,
            "it is knowledge, no action; the observation and the worlds sampled from it keep it",
        ),
        SilentHint(
            "BR-H4",
            "once the stock is used up, search ahead",
            SEED,
            "it is the search agent; between two players without a stock it is exact",
        ),
        SilentHint(
            "BR-H6",
            "answer the beatable cards first",
            SEED,
            "the order of the answers is fixed, and of no effect: taken cards lie aside",
        ),
    ),
    bases={"careful": play_carefully, "lowest": play_weakest},
    sets=SETS,
    habits=(
        Hint(
            "always_take",
            "take everything while there is a stock",
            "none: the lead is lost each time",
            CONTROL,
            replies_with_stock,
            takes,
        ),
        Hint(
            "highest_reply",
            "beat with the highest card",
            "none: it wastes trumps",
            CONTROL,
            has_beater,
            dearest_card,
        ),
        Hint(
            "never_add",
            "add no card to another's burden",
            "none: fewer cards are exchanged",
            CONTROL,
            may_add,
            takes,
        ),
        Hint(
            "never_queen",
            "lead the black queen only if there is nothing else",
            "none: whoever is left with her loses",
            CONTROL,
            has_choice_of_lead,
            not_the_queen,
        ),
    ),
)


def hint_book(game: Game) -> HintBook:
    """Return the hints, which are the same whatever the rule options."""
    return HINTS
