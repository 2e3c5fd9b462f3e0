"""The hints of Brede Mette as players, a control, and bad habits.

Numbers such as BM-H3 are those of the hints in docs/games/brede_mette.md. The kernels read the
observation of the seat on turn and the actions left to it, nothing else; which queen is the red one
they are told, since no observation says it.

A set of actions is a tuple of ints, the blocks of the action ids: the cards to put down, those to
pass with, those to beat with (for each suit of the attack card), those to exchange (likewise), and
a last set of which the first bit is `stop` or `done`, the second `take`.
"""

from __future__ import annotations

from functools import cache

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
    higher_in_suit,
    largest_entries,
    lowest_of,
    of_short_suits,
    plain_cards,
    right_neighbor,
)
from agents.hints import (
    Actions,
    ActionSets,
    Hint,
    HintBook,
    SilentHint,
    split_sets,
)
from cardenvs.core.cards import card_mask, has_card, lowest_card, without_lowest
from cardenvs.core.game import Game
from cardenvs.core.kernel import bit_reader, kernel, lowest_bit, popcount, rare_kernel
from cardenvs.core.rng import Stream
from cardenvs.core.rows import CardMask, Mask, Observation
from cardenvs.core.seats import read_seat
from cardenvs.games.beating import (
    DECK,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    higher_cards,
    rank_cards,
    suit_cards,
)
from cardenvs.games.brede_mette import (
    BEAT,
    EXCHANGE,
    HAND_FLOOR,
    NUM_BLOCKS,
    PASS,
    STOP_OR_DONE,
    TAKE,
    Answers,
    LegalSets,
    is_complete,
)
from cardenvs.games.brede_mette_view import (
    ATTACK,
    ATTACK_RANK,
    BEATERS,
    DEFENDER,
    HAND,
    KNOWN,
    LEADER,
    NO_RANK,
    OBSERVATION,
    OFFSETS,
    PHASE,
    SEEN_LEAD,
    SEEN_RESPONDING,
    STANDING_BEGIN,
    STOCK_SIZE,
    TRUMP,
    WASTE,
    read_deck,
    read_phases,
    read_ranks,
    read_suits,
)

#: The blocks of a set of actions: cards to put down, to pass with, to beat and to exchange with
#: (the first of four each), and the two actions without a card.
PUT, PASSED, BEATEN, EXCHANGED, ENDS = 0, 1, 2, 2 + NUM_SUITS, NUM_BLOCKS
STOP_BIT, TAKE_BIT = 1, 2

PEREVODNOY = "Perevodnoy Durak"

num_players_of = player_counter(OBSERVATION)
read_ends = bit_reader(2)


# ----------------------------------------------------------------------------------------------
# Sets of actions


@kernel
def read_actions(mask: Mask) -> LegalSets:
    """The actions of a mask."""
    return (
        read_deck(mask, 0),
        read_deck(mask, PASS),
        read_deck(mask, BEAT),
        read_deck(mask, BEAT + NUM_CARDS),
        read_deck(mask, BEAT + 2 * NUM_CARDS),
        read_deck(mask, BEAT + 3 * NUM_CARDS),
        read_deck(mask, EXCHANGE),
        read_deck(mask, EXCHANGE + NUM_CARDS),
        read_deck(mask, EXCHANGE + 2 * NUM_CARDS),
        read_deck(mask, EXCHANGE + 3 * NUM_CARDS),
        read_ends(mask, STOP_OR_DONE),
    )


@kernel
def meet(actions: Actions, others: Actions) -> LegalSets:
    """The actions in both sets."""
    return (
        actions[0] & others[0],
        actions[1] & others[1],
        actions[2] & others[2],
        actions[3] & others[3],
        actions[4] & others[4],
        actions[5] & others[5],
        actions[6] & others[6],
        actions[7] & others[7],
        actions[8] & others[8],
        actions[9] & others[9],
        actions[10] & others[10],
    )


@kernel
def with_cards(actions: Actions, cards: CardMask, ends: int) -> LegalSets:
    """Those of some actions that use a card of a set, and some of the two without a card."""
    return meet(
        actions, (cards, cards, cards, cards, cards, cards, cards, cards, cards, cards, ends)
    )


@kernel
def only_put(cards: CardMask) -> LegalSets:
    """Putting down one of some cards."""
    return cards, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0


@kernel
def only_pass(cards: CardMask) -> LegalSets:
    """Passing with one of some cards."""
    return 0, cards, 0, 0, 0, 0, 0, 0, 0, 0, 0


@kernel
def only_beats(actions: Actions, cards: CardMask) -> LegalSets:
    """Those of some actions that beat with a card of a set."""
    return meet(actions, (0, 0, cards, cards, cards, cards, 0, 0, 0, 0, 0))


@kernel
def only_end(end: int) -> LegalSets:
    """An action without a card."""
    return 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, end


@kernel
def beat_cards(actions: Actions) -> CardMask:
    """All cards with which an attack card can be beaten."""
    cards: CardMask = actions[2] | actions[3] | actions[4] | actions[5]
    return cards


@kernel
def exchange_cards(actions: Actions) -> CardMask:
    """All cards with which a beater can be exchanged."""
    cards: CardMask = actions[6] | actions[7] | actions[8] | actions[9]
    return cards


@kernel
def own_cards(actions: Actions) -> CardMask:
    """All cards that can be put down, passed or beaten with."""
    cards: CardMask = actions[PUT] | actions[PASSED] | beat_cards(actions)
    return cards


SETS: ActionSets = split_sets(
    [*range(0, STOP_OR_DONE, NUM_CARDS), STOP_OR_DONE], read_actions, meet
)


# ----------------------------------------------------------------------------------------------
# What the observation tells


@kernel
def place_of(observation: Observation, piece: int) -> int:
    """Where a piece of an observation begins."""
    place: int = OFFSETS[num_players_of(observation)][piece]
    return place


@rare_kernel
def phase_of(observation: Observation) -> int:
    """The phase."""
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
def is_leading(observation: Observation) -> bool:
    """Whether the seat leads a card now."""
    return phase_of(observation) == SEEN_LEAD


@kernel
def is_responding(observation: Observation) -> bool:
    """Whether the seat answers the attack now."""
    return phase_of(observation) == SEEN_RESPONDING


@kernel
def is_leader(observation: Observation) -> bool:
    """Whether the seat leads this turn."""
    return bool(observation[place_of(observation, LEADER)] != 0)


@rare_kernel
def hand_of(observation: Observation) -> CardMask:
    """The own hand."""
    return read_deck(observation, place_of(observation, HAND))


@kernel
def attack_rank(observation: Observation) -> int:
    """The rank of the attack cards; there must be some."""
    return lowest_bit(read_ranks(observation, place_of(observation, ATTACK_RANK)))


@kernel
def suit_ranks(suits: int, rank: int) -> CardMask:
    """The cards of a rank of some suits."""
    cards = 0
    for suit in range(NUM_SUITS):
        cards |= (suits >> suit & 1) << suit * NUM_RANKS + rank
    return cards


@rare_kernel
def attack_cards(observation: Observation) -> CardMask:
    """The attack cards; there must be some."""
    suits = read_suits(observation, place_of(observation, ATTACK))
    return suit_ranks(suits, attack_rank(observation))


@kernel
def beater_on(observation: Observation, suit: int) -> CardMask:
    """The card, as a set, that lies on the attack card of a suit."""
    return read_deck(observation, place_of(observation, BEATERS) + suit * NUM_CARDS)


@rare_kernel
def beaten_cards(observation: Observation) -> CardMask:
    """The attack cards on which a beater lies; there must be attack cards."""
    suits = 0
    for suit in range(NUM_SUITS):
        suits |= (1 if beater_on(observation, suit) else 0) << suit
    return suit_ranks(suits, attack_rank(observation))


@kernel
def answers(attack: CardMask, rank: int, hand: CardMask, trump: int) -> Answers:
    """The cards of a hand, without the red queen, that beat each attack card."""
    return (
        answers_to(attack, rank, hand, trump),
        answers_to(attack, NUM_RANKS + rank, hand, trump),
        answers_to(attack, 2 * NUM_RANKS + rank, hand, trump),
        answers_to(attack, 3 * NUM_RANKS + rank, hand, trump),
    )


@kernel
def answers_to(attack: CardMask, card: int, hand: CardMask, trump: int) -> CardMask:
    """The cards of a hand that beat a card, if it is an attack card."""
    return hand & higher_cards(card, trump) if has_card(attack, card) else 0


@rare_kernel
def can_beat_all(attack: CardMask, rank: int, hand: CardMask, trump: int) -> bool:
    """Whether a hand beats all of some attack cards, each with its own.

    The hand is without the red queen, who beats nothing; the attack holds no red queen.
    """
    return is_complete(attack, rank, answers(attack, rank, hand, trump))


@rare_kernel
def has_full_answer(observation: Observation, queen: CardMask) -> bool:
    """Whether something is unbeaten, and the hand beats all of it."""
    attack = attack_cards(observation)
    unbeaten = attack & ~beaten_cards(observation)
    if unbeaten == 0 or attack & queen:
        return False
    hand = hand_of(observation) & ~queen
    return can_beat_all(unbeaten, attack_rank(observation), hand, trump_of(observation))


# ----------------------------------------------------------------------------------------------
# The hints, given the red queen and what is picked up


@cache
def book_of(queen_card: int, takes_unbeaten: bool) -> HintBook:
    """Return the hints.

    Args:
        queen_card: the red queen, a card id.
        takes_unbeaten: whether only what is not beaten is picked up, not all on the table.
    """
    queen = 1 << queen_card

    # ------------------------------------------------------------------------------------------
    # The base policies

    @kernel
    def play_weakest(observation: Observation, actions: Actions, rng: Stream) -> int:
        """Play the weakest card left, the red queen last of all; if there is none, take or stop.

        A card that can be used in several ways is put down rather than passed, and passed rather
        than beaten with. It exchanges only where nothing else is left.
        """
        cards = own_cards(actions)
        if cards == 0 and actions[ENDS]:
            return choose_end(actions)
        cards = cards if cards else exchange_cards(actions)
        card = cheapest_but(cards, queen, trump_of(observation))
        return first_action_with(actions, card)

    @kernel
    def play_carefully(observation: Observation, actions: Actions, rng: Stream) -> int:
        """The same, but as defender add nothing, and beat only if all can be beaten."""
        if not is_responding(observation):
            return play_weakest(observation, actions, rng)
        may_beat = beat_cards(actions) != 0 and has_full_answer(observation, queen)
        cards = actions[PASSED] | (beat_cards(actions) if may_beat else 0)
        if cards == 0 and actions[ENDS]:
            return choose_end(actions)
        if cards == 0:
            return play_weakest(observation, actions, rng)
        card = cheapest_but(cards, queen, trump_of(observation))
        return first_action_with(without_puts(actions), card)

    # ------------------------------------------------------------------------------------------
    # BM-H3: the defender adds

    @rare_kernel
    def beatable_additions(observation: Observation, actions: Actions) -> CardMask:
        """The cards that the defender can add and then beat with all the others."""
        rank = attack_rank(observation)
        attack = attack_cards(observation)
        hand = hand_of(observation) & ~queen
        left = actions[PUT]
        found = 0
        while left:
            card = card_mask(lowest_card(left))
            if can_beat_all(attack | card, rank, hand & ~card, trump_of(observation)):
                found |= card
            left = without_lowest(left)
        return found

    @kernel
    def can_beat_own_addition(observation: Observation, actions: Actions) -> bool:
        """The defender may add a card and still beat everything."""
        may_add = actions[PUT] != 0 and is_responding(observation)
        return may_add and beatable_additions(observation, actions) != 0

    @kernel
    def add_beatable(observation: Observation, actions: Actions) -> LegalSets:
        """Add the first such card: later ones can follow it."""
        return only_put(card_mask(lowest_card(beatable_additions(observation, actions))))

    # ------------------------------------------------------------------------------------------
    # BM-H6, M-H6: the red queen, about whom no other hint decides

    @kernel
    def may_part_with_queen(observation: Observation, actions: Actions) -> bool:
        """The red queen may be led, added or passed."""
        return bool((actions[PUT] | actions[PASSED]) & queen != 0)

    @kernel
    def the_queen(observation: Observation, actions: Actions) -> LegalSets:
        """Lead, add or pass her."""
        return with_cards(actions, queen, 0)

    @kernel
    def has_choice_over_queen(observation: Observation, actions: Actions) -> bool:
        """She may be led, added or passed, and something else may be done."""
        others = own_cards(actions) & ~queen != 0 or actions[ENDS] != 0
        return others and may_part_with_queen(observation, actions)

    @kernel
    def queen_late(observation: Observation, actions: Actions) -> LegalSets:
        """Keep her while there is a stock; after that she is not back in time."""
        if has_stock(observation):
            return with_cards(actions, ~queen, STOP_BIT | TAKE_BIT)
        return the_queen(observation, actions)

    @kernel
    def has_early_choice_over_queen(observation: Observation, actions: Actions) -> bool:
        """While there is a stock, she may be led, added or passed, or something else done."""
        return has_stock(observation) and has_choice_over_queen(observation, actions)

    # ------------------------------------------------------------------------------------------
    # BM-H7: beat cheaply

    @kernel
    def can_beat(observation: Observation, actions: Actions) -> bool:
        """An attack card can be beaten, and so can all of them."""
        return beat_cards(actions) != 0 and has_full_answer(observation, queen)

    # ------------------------------------------------------------------------------------------
    # M-H1: collect trumps, lead many cards

    @rare_kernel
    def plain_to_lead(observation: Observation, actions: Actions) -> CardMask:
        """The plain cards, without the red queen, that can be led or added to the own lead."""
        is_lead = is_leader(observation) and not is_responding(observation)
        plain = plain_cards(actions[PUT] & ~queen, trump_of(observation))
        return plain if is_lead else 0

    @kernel
    def may_lead_many(observation: Observation, actions: Actions) -> bool:
        """While there is a stock, leading with a plain card."""
        return has_stock(observation) and plain_to_lead(observation, actions) != 0

    @kernel
    def lead_many(observation: Observation, actions: Actions) -> LegalSets:
        """Lead from the largest plain group, and add all its plain cards."""
        plain = largest_entries(plain_to_lead(observation, actions))
        return only_put(plain | actions[PUT] & queen)

    @kernel
    def may_keep_trumps(observation: Observation, actions: Actions) -> bool:
        """While there is a stock, a trump might be used, and something else may be done."""
        trumps = own_cards(actions) & suit_cards(trump_of(observation)) & ~queen
        others = own_cards(actions) & ~trumps != 0 or actions[ENDS] & STOP_BIT != 0
        return has_stock(observation) and trumps != 0 and others

    @kernel
    def keep_trumps(observation: Observation, actions: Actions) -> LegalSets:
        """Use no trump, the red queen apart."""
        trumps = suit_cards(trump_of(observation)) & ~queen
        return with_cards(actions, ~trumps, STOP_BIT | TAKE_BIT)

    # ------------------------------------------------------------------------------------------
    # M-H2: what the right-hand neighbor holds

    @rare_kernel
    def kept_against_neighbor(observation: Observation, actions: Actions) -> CardMask:
        """The legal cards that beat, in its suit, a card known to be the right-hand neighbor's."""
        num_players = num_players_of(observation)
        at = OFFSETS[num_players]
        neighbor = right_neighbor(observation, at[STANDING_BEGIN], num_players)
        known = read_deck(observation, at[KNOWN] + neighbor * NUM_CARDS) & ~queen
        return own_cards(actions) & higher_in_suit(known) & ~queen

    @kernel
    def can_keep_against_neighbor(observation: Observation, actions: Actions) -> bool:
        """There are such cards, and others may be used; when adding, none need be."""
        kept = kept_against_neighbor(observation, actions)
        may_stop = actions[ENDS] != 0 and not is_responding(observation)
        return kept != 0 and (own_cards(actions) & ~kept != 0 or may_stop)

    @kernel
    def use_others(observation: Observation, actions: Actions) -> LegalSets:
        """Use another card; when adding, rather none."""
        kept = kept_against_neighbor(observation, actions)
        ends = 0 if is_responding(observation) else STOP_BIT
        return with_cards(actions, ~kept, ends)

    # ------------------------------------------------------------------------------------------
    # M-H4, M-H5: lost piles and won ones

    @kernel
    def can_shrink_hand(observation: Observation, actions: Actions) -> bool:
        """A large hand, no full answer, and a plain card that beats some attack card."""
        is_large = popcount(hand_of(observation)) > HAND_FLOOR
        may_beat = is_large and plain_cards(beat_cards(actions), trump_of(observation)) != 0
        return may_beat and not has_full_answer(observation, queen)

    @kernel
    def cheapest_plain_beat(observation: Observation, actions: Actions) -> LegalSets:
        """Beat with the lowest plain card that does it."""
        cards = plain_cards(beat_cards(actions), trump_of(observation))
        return beat_hardest(actions, lowest_of(cards))

    @kernel
    def lacks_one_beat(observation: Observation, actions: Actions) -> bool:
        """All attack cards but one are beaten, and of the hand only trumps beat the last."""
        if beat_cards(actions) == 0:
            return False
        trump = trump_of(observation)
        beaten = beaten_cards(observation)
        last = attack_cards(observation) & ~beaten
        fitting = hand_of(observation) & ~queen & higher_cards(lowest_card(last), trump)
        return beaten != 0 and popcount(last) == 1 and plain_cards(fitting, trump) == 0

    # ------------------------------------------------------------------------------------------
    # M-H7: few suits

    @kernel
    def leads_in_endgame(observation: Observation, actions: Actions) -> bool:
        """On lead without a stock, with a plain card."""
        plain = plain_cards(actions[PUT] & ~queen, trump_of(observation))
        return is_leading(observation) and not has_stock(observation) and plain != 0

    @kernel
    def plain_card_of_short_suit(observation: Observation, actions: Actions) -> LegalSets:
        """Lead a plain card of the suit of which one holds fewest."""
        plain = plain_cards(actions[PUT] & ~queen, trump_of(observation))
        cards = of_short_suits(plain, hand_of(observation))
        return only_put(cards | actions[PUT] & queen)

    # ------------------------------------------------------------------------------------------
    # BM-H2, BM-H5: add, pass

    @kernel
    def may_add_to_another(observation: Observation, actions: Actions) -> bool:
        """Neither leader nor defender, with a card of the rank that is not the red queen."""
        is_adding = not is_leading(observation) and not is_responding(observation)
        return is_adding and not is_leader(observation) and actions[PUT] & ~queen != 0

    @kernel
    def any_addition(observation: Observation, actions: Actions) -> LegalSets:
        """Add the first one: later ones can follow it."""
        return only_put(first_of_ranks(actions[PUT] & ~queen) | actions[PUT] & queen)

    @kernel
    def may_pass(observation: Observation, actions: Actions) -> bool:
        """The pile can be passed on, and not with the red queen alone."""
        return bool(actions[PASSED] & ~queen != 0)

    @kernel
    def any_pass(observation: Observation, actions: Actions) -> LegalSets:
        """Pass it on."""
        return only_pass(actions[PASSED])

    # ------------------------------------------------------------------------------------------
    # BM-H1, M-H3, P-H2: groups

    @kernel
    def adds_to_own_lead(observation: Observation, actions: Actions) -> bool:
        """Having led, with an equal card, which is not the red queen."""
        is_adding = is_leader(observation) and not is_responding(observation)
        may_add = is_adding and not is_leading(observation)
        return may_add and actions[PUT] & ~queen != 0

    @rare_kernel
    def group_entries(observation: Observation, actions: Actions) -> CardMask:
        """On lead: of each group of equals in the hand the first card, of those left."""
        fitting = actions[PUT] & entries(hand_of(observation) & ~queen, 2)
        return first_of_ranks(fitting) if is_leading(observation) else 0

    @kernel
    def has_group_to_lead(observation: Observation, actions: Actions) -> bool:
        """On lead with equal cards, or having led one of several."""
        may_lead = group_entries(observation, actions) != 0
        return may_lead or adds_to_own_lead(observation, actions)

    @kernel
    def has_late_group_to_lead(observation: Observation, actions: Actions) -> bool:
        """On lead without a stock, with equal cards; or having led one of several.

        While there is a stock, new cards come for those that are shed: which rank is led matters
        more then than how many it has, but all of it goes.
        """
        may_lead = not has_stock(observation) and group_entries(observation, actions) != 0
        return may_lead or adds_to_own_lead(observation, actions)

    @kernel
    def lead_group(observation: Observation, actions: Actions) -> LegalSets:
        """Lead the first card of such a group, and add the others in their order."""
        if is_leading(observation):
            return only_put(group_entries(observation, actions) | actions[PUT] & queen)
        return any_addition(observation, actions)

    @rare_kernel
    def trumps_of_groups(observation: Observation, actions: Actions) -> CardMask:
        """On lead without a stock: the trump that equals a plain card, if it is not the queen."""
        is_late = is_leading(observation) and not has_stock(observation)
        found: CardMask = groups(actions[PUT], 2) & suit_cards(trump_of(observation)) & ~queen
        return found if is_late else 0

    @kernel
    def has_trump_in_group(observation: Observation, actions: Actions) -> bool:
        """On lead without a stock, with a trump and an equal plain card."""
        return trumps_of_groups(observation, actions) != 0

    @kernel
    def no_trump_of_group(observation: Observation, actions: Actions) -> LegalSets:
        """Lead no such trump."""
        return only_put(actions[PUT] & ~trumps_of_groups(observation, actions))

    @rare_kernel
    def unpassable_groups(observation: Observation, actions: Actions) -> CardMask:
        """The cards to lead, or the first to add, of groups that the defender cannot pass back."""
        if is_leading(observation):
            firsts = group_entries(observation, actions)
            return firsts & ranks_without_pass(observation) if firsts else 0
        if not adds_to_own_lead(observation, actions):
            return 0
        return first_of_ranks(actions[PUT] & ~queen & ranks_without_pass(observation))

    @kernel
    def can_prevent_passing(observation: Observation, actions: Actions) -> bool:
        """On lead, or having led, with equal cards that nobody can pass back."""
        return unpassable_groups(observation, actions) != 0

    @kernel
    def whole_group_against_passing(observation: Observation, actions: Actions) -> LegalSets:
        """Lead the first of them, and add the others in their order."""
        return only_put(unpassable_groups(observation, actions) | actions[PUT] & queen)

    # ------------------------------------------------------------------------------------------
    # P-H1: beat with the trump of the rank

    @kernel
    def could_pass_trump(observation: Observation, actions: Actions) -> bool:
        """The trump of the rank could be passed, or beat a card, and all can be beaten."""
        trumps = actions[PASSED] & suit_cards(trump_of(observation))
        may_beat = trumps & beat_cards(actions) != 0
        return may_beat and has_full_answer(observation, queen)

    @kernel
    def beat_with_passable_trump(observation: Observation, actions: Actions) -> LegalSets:
        """Beat with it."""
        trumps = actions[PASSED] & suit_cards(trump_of(observation)) & beat_cards(actions)
        return beat_hardest(actions, lowest_card(trumps))

    # "The hand shrinks" only where what is beaten is not picked up again.
    shrink_hand = Hint(
        "M-H4",
        "with a large hand and a pile that cannot be beaten still beat with plain cards",
        "the hand shrinks",
        MUSTAMAIJA,
        can_shrink_hand,
        cheapest_plain_beat,
    )
    no_shrinking = SilentHint(
        "M-H4",
        shrink_hand.title,
        MUSTAMAIJA,
        "all that lies on the table is picked up, so that the hand would not shrink",
    )
    lost_piles = (shrink_hand,) if takes_unbeaten else ()

    return HintBook(
        hints=(
            Hint(
                "BM-H6",
                "lead, add or pass the red queen",
                "whoever is left with her loses",
                SEED,
                may_part_with_queen,
                the_queen,
            ),
            Hint(
                "M-H6",
                "keep the red queen while there is a stock",
                "she comes round; let go later, she is not back in time",
                MUSTAMAIJA,
                has_choice_over_queen,
                queen_late,
            ),
            Hint(
                "BM-H4",
                "exchange a trump back for a plain card",
                "keeps the trump",
                SEED,
                can_exchange_trump_back,
                exchange_trump_back,
            ),
            Hint(
                "P-H1",
                "beat with the trump of the rank rather than pass it",
                "the trump is not given away, and the lead is gained",
                PEREVODNOY,
                could_pass_trump,
                beat_with_passable_trump,
            ),
            Hint(
                "M-H1a",
                "while there is a stock use no trumps",
                "trumps for the end",
                MUSTAMAIJA,
                may_keep_trumps,
                keep_trumps,
            ),
            Hint(
                "M-H1b",
                "while there is a stock lead large plain groups",
                "many new cards",
                MUSTAMAIJA,
                may_lead_many,
                lead_many,
            ),
            Hint(
                "M-H2",
                "keep cards above those that the right-hand neighbor has picked up",
                "they beat the neighbor's later leads",
                MUSTAMAIJA,
                can_keep_against_neighbor,
                use_others,
            ),
            Hint(
                "BM-H3",
                "as defender add a card if all can be beaten",
                "sheds one pair more",
                SEED,
                can_beat_own_addition,
                add_beatable,
            ),
            Hint(
                "BM-H5",
                "pass when holding the rank",
                "the other must answer, with a card more",
                SEED,
                may_pass,
                any_pass,
            ),
            Hint(
                "M-H5",
                "spend a trump on the last attack card if all others are beaten",
                "gains the lead",
                MUSTAMAIJA,
                lacks_one_beat,
                cheapest_beat,
            ),
            Hint(
                "BM-H7",
                "beat with the cheapest card",
                "good cards are kept",
                SEED,
                can_beat,
                cheapest_beat,
            ),
            *lost_piles,
            Hint(
                "P-H2",
                "lead all equal cards if no card is left to pass the pile back with",
                "the pile stays with the defender",
                PEREVODNOY,
                can_prevent_passing,
                whole_group_against_passing,
            ),
            Hint(
                "M-H3",
                "in the endgame lead the plain cards of a group before its trump",
                "keeps the trump",
                MUSTAMAIJA,
                has_trump_in_group,
                no_trump_of_group,
            ),
            Hint(
                "BM-H1a",
                "lead equal cards together",
                "sheds more",
                SEED,
                has_group_to_lead,
                lead_group,
            ),
            Hint(
                "BM-H1b",
                "lead equal cards together, in the endgame before single ones",
                "with a stock the rank matters more: new cards come for those shed",
                f"{SEED}, narrowed",
                has_late_group_to_lead,
                lead_group,
            ),
            Hint(
                "BM-H2",
                "add to the attack of another",
                "sheds more",
                SEED,
                may_add_to_another,
                any_addition,
            ),
            Hint(
                "M-H7",
                "in the endgame lead from the shortest plain suit",
                "few suits are better than many",
                MUSTAMAIJA,
                leads_in_endgame,
                plain_card_of_short_suit,
            ),
        ),
        off=frozenset(
            {"P-H1", "BM-H1a", "BM-H5", "M-H1b", "M-H2", "M-H3", "M-H6", "M-H7", "M-H5"}
            | {hint.name for hint in lost_piles}
        ),
        silent=() if takes_unbeaten else (no_shrinking,),
        bases={"careful": play_carefully, "lowest": play_weakest},
        sets=SETS,
        habits=(
            Hint(
                "never_add",
                "lead single cards, and add none",
                "none: fewer cards are shed",
                CONTROL,
                may_add,
                stop_adding,
            ),
            Hint(
                "highest_beat",
                "beat with the highest card",
                "none: good cards are spent",
                CONTROL,
                can_beat,
                highest_beat,
            ),
            Hint(
                "never_pass",
                "never pass the pile on",
                "none: one answers more",
                CONTROL,
                could_do_without_passing,
                do_without_passing,
            ),
            Hint(
                "keep_queen",
                "hold the red queen while there is a stock",
                "none: whoever is left with her loses",
                CONTROL,
                has_early_choice_over_queen,
                queen_late,
            ),
        ),
    )


@kernel
def choose_end(actions: Actions) -> int:
    """Take if that is possible, else stop."""
    return TAKE if actions[ENDS] & TAKE_BIT else STOP_OR_DONE


@kernel
def without_puts(actions: Actions) -> LegalSets:
    """Those of some actions that put down no card of the defender's own."""
    return meet(actions, (0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1))


@rare_kernel
def first_action_with(actions: Actions, card: int) -> int:
    """The lowest of some actions that uses a card."""
    block = 0
    while not has_card(actions[block], card):
        block += 1
    return block * NUM_CARDS + card


# ----------------------------------------------------------------------------------------------
# P-H2: groups that nobody passes back


@rare_kernel
def ranks_without_pass(observation: Observation) -> CardMask:
    """The cards of the ranks of which the defender cannot hold one besides those of the seat.

    Held by the seat or lying in its attack, out of play, known in another hand, or proved not to
    be with the defender.
    """
    num_players = num_players_of(observation)
    at = OFFSETS[num_players]
    defender = read_seat(observation, at[DEFENDER], num_players)
    known = read_deck(observation, at[KNOWN] + defender * NUM_CARDS)
    elsewhere = read_deck(observation, at[HAND]) | read_deck(observation, at[WASTE])
    if not is_leading(observation):
        elsewhere |= attack_cards(observation)
    for seat in range(1, num_players):
        if seat != defender:
            elsewhere |= read_deck(observation, at[KNOWN] + seat * NUM_CARDS)
    lacking = read_ranks(observation, at[NO_RANK] + defender * NUM_RANKS)
    found = 0
    for rank in range(NUM_RANKS):
        cards = rank_cards(rank)
        may_hold = cards & ~elsewhere if not has_card(lacking, rank) else cards & known
        found |= 0 if may_hold else cards
    return found


# ----------------------------------------------------------------------------------------------
# BM-H4: exchange


@kernel
def plain_for_trump(observation: Observation, actions: Actions, suit: int) -> CardMask:
    """The plain cards that can replace a trump on the attack card of a suit."""
    trump = trump_of(observation)
    has_trump = beater_on(observation, suit) & suit_cards(trump) != 0
    return plain_cards(actions[EXCHANGED + suit], trump) if has_trump else 0


@rare_kernel
def trump_exchanges(observation: Observation, actions: Actions) -> Answers:
    """For each suit of the attack card, the plain cards that can replace a trump there."""
    return (
        plain_for_trump(observation, actions, 0),
        plain_for_trump(observation, actions, 1),
        plain_for_trump(observation, actions, 2),
        plain_for_trump(observation, actions, 3),
    )


@kernel
def can_exchange_trump_back(observation: Observation, actions: Actions) -> bool:
    """A trump lies on an attack card that a plain card beats too."""
    found = trump_exchanges(observation, actions)
    return (found[0] | found[1] | found[2] | found[3]) != 0


@kernel
def exchange_trump_back(observation: Observation, actions: Actions) -> LegalSets:
    """Exchange it for the lowest such card."""
    found = trump_exchanges(observation, actions)
    card = card_mask(lowest_of(found[0] | found[1] | found[2] | found[3]))
    exchanges = (found[0] & card, found[1] & card, found[2] & card, found[3] & card)
    return 0, 0, 0, 0, 0, 0, exchanges[0], exchanges[1], exchanges[2], exchanges[3], 0


# ----------------------------------------------------------------------------------------------
# BM-H7: beat cheaply


@rare_kernel
def beat_hardest(actions: Actions, card: int) -> LegalSets:
    """Beat with a card: of the attack cards that it beats, the one that fewest cards beat."""
    hardest = 0
    fewest = NUM_CARDS
    for suit in range(NUM_SUITS):
        fitting = actions[BEATEN + suit]
        if has_card(fitting, card) and popcount(fitting) < fewest:
            hardest = suit
            fewest = popcount(fitting)
    one = card_mask(card)
    return (
        0,
        0,
        one if hardest == 0 else 0,
        one if hardest == 1 else 0,
        one if hardest == 2 else 0,
        one if hardest == 3 else 0,
        0,
        0,
        0,
        0,
        0,
    )


@kernel
def cheapest_beat(observation: Observation, actions: Actions) -> LegalSets:
    """Beat with the cheapest card that does it, which never spoils a full answer."""
    return beat_hardest(actions, cheapest(beat_cards(actions), trump_of(observation)))


# ----------------------------------------------------------------------------------------------
# Bad habits


@kernel
def may_add(observation: Observation, actions: Actions) -> bool:
    """Asked whether to add a card to another's burden."""
    return actions[ENDS] != 0 and not is_responding(observation)


@kernel
def stop_adding(observation: Observation, actions: Actions) -> LegalSets:
    """Stop."""
    return only_end(STOP_BIT)


@kernel
def highest_beat(observation: Observation, actions: Actions) -> LegalSets:
    """Beat with the most valuable card."""
    return only_beats(actions, card_mask(dearest(beat_cards(actions), trump_of(observation))))


@kernel
def could_do_without_passing(observation: Observation, actions: Actions) -> bool:
    """The pile can be passed on, and something else be done."""
    return bool(actions[PASSED] != 0 and (beat_cards(actions) != 0 or actions[ENDS] != 0))


@kernel
def do_without_passing(observation: Observation, actions: Actions) -> LegalSets:
    """Beat, or take."""
    beats = only_beats(actions, -1)
    return 0, 0, beats[2], beats[3], beats[4], beats[5], 0, 0, 0, 0, actions[ENDS]


# ----------------------------------------------------------------------------------------------
# Agents


def hint_book(game: Game) -> HintBook:
    """Return the hints of a game, given its red queen and what is picked up."""
    options = game.options
    return book_of(DECK.card(options["queen"]), options["pickup_scope"] == "unbeaten")
