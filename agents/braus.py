"""The hints of Bräus as players, and the control that always plays its weakest card.

Numbers such as BZ-H2 are those of the hints in docs/games/braus.md. The kernels read the
observation of the seat on turn and the actions left to it, nothing else. Live cards are handled by
strength: bit s - 1 of a set stands for the card of strength s.
"""

from __future__ import annotations

from agents.base import player_counter
from agents.hints import (
    ActionSets,
    Hint,
    HintBook,
    SilentHint,
    whole_sets,
)
from cardenvs.core.cards import has_card, lowest_card
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import Stream
from cardenvs.core.rows import CardMask, Observation
from cardenvs.core.seats import read_seat
from cardenvs.games.braus import (
    ACTIONS,
    CARD_OF,
    DECK,
    KING_OF_CLUBS,
    LIVE,
    NUM_LIVE,
    PASS,
    SEVENS,
    TRICKS_TO_WIN,
    live_cards,
    team_of,
    up_to_highest,
)
from cardenvs.games.braus_view import (
    HAND,
    HAND_SIZE,
    LEADER,
    MAY_HOLD,
    OBSERVATION,
    OFFSETS,
    OTHER_TRICKS,
    OUT,
    OWN_TRICKS,
    PLAYED,
    read_deck,
    read_live,
)

NINE_OF_CLUBS = DECK.card("9C")
MATADORS = DECK.cards("KH 8S JC")
LIVE_MATADORS = int(live_cards(MATADORS))

num_players_of = player_counter(OBSERVATION)


# ----------------------------------------------------------------------------------------------
# What the observation tells


@kernel
def is_leader(observation: Observation) -> bool:
    """Whether the seat is on lead."""
    return bool(observation[OFFSETS[num_players_of(observation)][LEADER]])


@kernel
def tricks_are(observation: Observation, own: int, other: int) -> bool:
    """Whether the own team and the other have so many tricks."""
    at = OFFSETS[num_players_of(observation)]
    return bool(observation[at[OWN_TRICKS]] == own and observation[at[OTHER_TRICKS]] == other)


@kernel
def threats(observation: Observation) -> int:
    """BZ-H5. The live cards that an opponent who is yet to play may hold."""
    num_players = num_players_of(observation)
    at = OFFSETS[num_players]
    seen = read_live(observation, at[PLAYED])
    seen |= live_cards(read_deck(observation, at[HAND]) | read_deck(observation, at[OUT]))
    leader = read_seat(observation, at[LEADER], num_players)
    yet_to_play = leader if leader else num_players  # the places up to the leader, clockwise
    held = 0
    for place in range(1, yet_to_play):
        if team_of(place) and observation[at[HAND_SIZE] + place]:
            held |= read_live(observation, at[MAY_HOLD] + place * NUM_LIVE)
    return held & ~seen


@kernel
def sure_cards(observation: Observation, cards: CardMask) -> int:
    """The live ones among some cards that no opponent can beat in this trick, by strength."""
    return live_cards(cards) & ~up_to_highest(threats(observation))


@kernel
def may_lay_seven(actions: CardMask) -> bool:
    """Whether a seven may be laid: a trick at once, which no hint on live cards may put off."""
    return actions & SEVENS != 0


@kernel
def weakest(live: int) -> int:
    """The card of the lowest strength in a set that is not empty."""
    card: int = CARD_OF[lowest_card(live) + 1]
    return card


# ----------------------------------------------------------------------------------------------
# The base policy


@kernel
def play_weakest(observation: Observation, actions: CardMask, rng: Stream) -> int:
    """Play the weakest card left, sevens first; pass only if there is none."""
    if actions & SEVENS:
        return lowest_card(actions & SEVENS)
    live = live_cards(actions)
    return weakest(live) if live else PASS


# ----------------------------------------------------------------------------------------------
# BZ-H1: torment


@kernel
def leads_with_nine_of_clubs(observation: Observation, actions: CardMask) -> bool:
    """On lead with the nine of clubs and no seven, and an opponent may hold a matador."""
    may_torment = has_card(actions, NINE_OF_CLUBS) and is_leader(observation)
    if not may_torment or may_lay_seven(actions):
        return False
    return threats(observation) & LIVE_MATADORS != 0


@kernel
def nine_of_clubs(observation: Observation, actions: CardMask) -> int:
    """Lead it: only a matador beats it, and beating is a duty."""
    return 1 << NINE_OF_CLUBS


# ----------------------------------------------------------------------------------------------
# BZ-H2: sevens want the lead


@kernel
def can_gain_the_lead_for_sevens(observation: Observation, actions: CardMask) -> bool:
    """Following, with a seven in hand and a card that nobody can beat."""
    hand = read_deck(observation, OFFSETS[num_players_of(observation)][HAND])
    holds_seven = hand & SEVENS != 0 and not is_leader(observation)
    return holds_seven and sure_cards(observation, actions) != 0


# ----------------------------------------------------------------------------------------------
# BZ-H3: the king of clubs


@kernel
def holds_king_with_five_tricks(observation: Observation, actions: CardMask) -> bool:
    """Five tricks, the king of clubs, no seven to lay: won once the live cards run out."""
    at = OFFSETS[num_players_of(observation)]
    holds_king = read_deck(observation, at[HAND]) & KING_OF_CLUBS != 0
    has_five = observation[at[OWN_TRICKS]] == TRICKS_TO_WIN - 1
    return bool(holds_king and has_five and actions & LIVE and not may_lay_seven(actions))


@kernel
def weakest_card(observation: Observation, actions: CardMask) -> int:
    """Play the weakest: all who can must beat it, so the live cards run out."""
    return 1 << weakest(live_cards(actions))


# ----------------------------------------------------------------------------------------------
# BZ-H4: five to nothing


@kernel
def is_sure_of_jan(observation: Observation, actions: CardMask) -> bool:
    """Ahead by five to nothing, with a card that nobody can beat and no seven to lay."""
    if may_lay_seven(actions) or not tricks_are(observation, TRICKS_TO_WIN - 1, 0):
        return False
    return sure_cards(observation, actions) != 0


@kernel
def cheapest_sure_card(observation: Observation, actions: CardMask) -> int:
    """The weakest of the cards that nobody can beat."""
    return 1 << weakest(sure_cards(observation, actions))


@kernel
def can_break_jan(observation: Observation, actions: CardMask) -> bool:
    """Behind by nothing to five, with a matador to play and no seven to lay."""
    if may_lay_seven(actions) or actions & MATADORS == 0:
        return False
    return tricks_are(observation, 0, TRICKS_TO_WIN - 1)


@kernel
def surest_matadors(observation: Observation, actions: CardMask) -> int:
    """Spend the cheapest matador that nobody can beat, any if none is sure, to get one trick."""
    sure = sure_cards(observation, actions & MATADORS)
    return 1 << weakest(sure) if sure else actions & MATADORS


# ----------------------------------------------------------------------------------------------
# BZ-H6: count the live cards


@kernel
def leads_with_sure_card(observation: Observation, actions: CardMask) -> bool:
    """On lead with a card that no opponent can beat, and no seven to lay."""
    if may_lay_seven(actions) or not is_leader(observation):
        return False
    return sure_cards(observation, actions) != 0


# ----------------------------------------------------------------------------------------------
# The book

SEED = "source text"
SETS: ActionSets = whole_sets(ACTIONS.size)

HINTS = HintBook(
    hints=(
        Hint(
            "BZ-H4a",
            "at five to nothing play a sure winner",
            "jan, which counts twice",
            SEED,
            is_sure_of_jan,
            cheapest_sure_card,
        ),
        Hint(
            "BZ-H4b",
            "at nothing to five spend a matador, a sure one first",
            "one trick, which spoils the other team's jan",
            SEED,
            can_break_jan,
            surest_matadors,
        ),
        Hint(
            "BZ-H3",
            "with five tricks and the king of clubs play for exhaustion",
            "five tricks suffice once the live cards have run out",
            SEED,
            holds_king_with_five_tricks,
            weakest_card,
        ),
        Hint(
            "BZ-H1",
            "lead the nine of clubs while matadors are out",
            "draws out a matador",
            SEED,
            leads_with_nine_of_clubs,
            nine_of_clubs,
        ),
        Hint(
            "BZ-H2",
            "with sevens in hand gain the lead by the cheapest sure winner",
            "each seven is a trick once you lead",
            SEED,
            can_gain_the_lead_for_sevens,
            cheapest_sure_card,
        ),
        Hint(
            "BZ-H6",
            "lead a card that nobody can beat",
            "a lead without beaters wins",
            SEED,
            leads_with_sure_card,
            cheapest_sure_card,
        ),
    ),
    off=frozenset({"BZ-H1", "BZ-H2", "BZ-H3"}),
    silent=(
        SilentHint(
            "BZ-H5",
            "who passes holds nothing above the best card",
            SEED,
            "it is knowledge, no action; the observation keeps it, and BZ-H2, H4a and H6 use it",
        ),
    ),
    bases={"lowest": play_weakest},
    sets=SETS,
)


def hint_book(game: Game) -> HintBook:
    """Return the hints, which are the same whatever the rule options."""
    return HINTS
