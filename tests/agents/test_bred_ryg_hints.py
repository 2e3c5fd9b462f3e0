"""Each hint of Bred Ryg speaks where its text says, and advises what it says.

In all positions seat 0 leads; "H" is trumps.
"""

from __future__ import annotations

from typing import Any

import pytest

import agents
import cardenvs
from agents.bred_ryg import HINTS
from agents.hints import advice_masks
from cardenvs.core.state import State
from tests.agents import asking
from training.evaluate import evaluate

STOCK = "9C 8C 7C 6C 4H"
REST = "JD TD 9D 8D"
REPLIER = "8S 6S 3H QH"
PAIR = ("lead 5D", "add 5S", "pass")


def table(hands: list[str], *played: str, stock: str = STOCK, **deal: Any) -> State:
    """Return the table after some actions."""
    given = {"dealer": len(hands) - 1, "hands": hands, "stock": stock, "trump": "H", "leader": 0}
    return asking.position("bred_ryg", given | deal, *played, num_players=len(hands))


def advice(hint: str, hands: list[str], *played: str, **deal: Any) -> set[str]:
    """Return the words for what a hint advises after some actions."""
    return set(asking.advice(table(hands, *played, **deal), hint))


def choose(name: str, hands: list[str], *played: str, **deal: Any) -> str:
    """Return the words for what an agent plays after some actions."""
    return asking.choice(table(hands, *played, **deal), name)


def choose_by_habit(habit: str, hands: list[str], *played: str, **deal: Any) -> str:
    """Return the words for what the hint agent with a bad habit plays."""
    return asking.choice(table(hands, *played, **deal), "hints", habit=habit)


# ----------------------------------------------------------------------------------------------
# The hints


def test_br_h2_beats_with_the_cheapest_card_and_plain_before_trumps() -> None:
    assert advice("BR-H2", ["5S 2C 3C KD", REPLIER, REST], "lead 5S") == {"beat 6S"}
    assert advice("BR-H2", ["5S 2C 3C KD", "AS 2H 3H QH", REST], "lead 5S") == {"beat AS"}


def test_br_h2_takes_rather_than_spend_a_high_trump_while_there_is_a_stock() -> None:
    hands = ["5S 2C 3C KD", "2S JH KH AH", REST]
    assert advice("BR-H2", hands, "lead 5S") == {"take"}
    assert advice("BR-H2", ["5S 2C 3C KD", "2S TH KH AH", REST], "lead 5S") == {"beat TH"}
    assert advice("BR-H2", hands, "lead 5S", stock="") == set()


def test_br_h3_passes_the_black_queen_on_as_lead_as_extra_card_or_with_a_queen() -> None:
    assert advice("BR-H3", ["2S QC 3S KD", REPLIER, REST]) == {"lead QC"}
    assert advice("BR-H3", ["2S 2D QC KD", REPLIER, REST], "lead 2D", "add 2S") == {"extra QC"}
    hands = ["QS 2D 3D KD", "8S 6S 2H 5H", "QC TD 9D 8D"]
    assert advice("BR-H3", hands, "lead QS") == {"add QC"}


def test_br_h3_is_silent_without_her_and_as_replier() -> None:
    assert advice("BR-H3", ["2S QD 3S KD", REPLIER, REST]) == set()
    assert advice("BR-H3", ["QS 2D 3D KD", "QC 6S 2H 5H", REST], "lead QS") == set()


def test_br_h5_leads_the_black_queen_to_a_replier_with_two_cards_in_the_endgame() -> None:
    assert advice("BR-H5", ["2S QC 3S KD", "8S 6S", REST], stock="") == {"lead QC"}
    assert advice("BR-H5", ["2S QC 3S KD", "8S 6S 5S", REST], stock="") == set()
    assert advice("BR-H5", ["2S QC 3S KD", REPLIER, REST]) == set()


def test_br_h7_adds_what_the_hand_can_beat_with_all_the_rest() -> None:
    others = ["5S 2D 3D KD", "JC TC AC 3C"]
    can, cannot = "5D 9D KS 2C", "5D 4D KS 2C"
    assert advice("BR-H7", [others[0], can, others[1]], "lead 5S") == {"add 5D"}
    assert advice("BR-H7", [others[0], cannot, others[1]], "lead 5S") == set()


def test_br_h8_plays_as_many_cards_as_make_the_draw_reach_the_exposed_card() -> None:
    """Two cards lie above it: one card led gives one or the next card, two give it if taken."""
    hands = ["5S 5C 3C KD", REPLIER, REST]
    assert advice("BR-H8", hands, stock="9C 8C AH") == {"lead 5C"}
    assert advice("BR-H8", hands, "lead 5C", stock="9C 8C AH") == {"add 5S"}
    assert advice("BR-H8", hands, stock="9C 8C 4H") == set()
    assert advice("BR-H8", hands, stock="9C 8C 7C 6C 2C AH") == set()


def test_br_h8_stops_where_the_replier_would_draw_it_with_one_card_more_to_beat() -> None:
    hands = ["5S 5C 3C KD", "8S 6S 2H QH 7S", REST]
    assert advice("BR-H8", hands, "lead 5C", stock="AH") == {"pass"}
    assert advice("BR-H8", hands, "lead 5C", stock="9C AH") == {"add 5S"}


def test_br_h8_counts_one_extra_card_and_no_more_cards_than_fit() -> None:
    """Three kings cannot follow as extra cards, nor three fives to a hand of two."""
    hands = ["5S 5C KD KH KS 3C", REPLIER, REST]
    extras = {"extra KD", "extra KH", "extra KS", "extra 3C"}
    assert advice("BR-H8", hands, "lead 5C", "add 5S", stock="8C 7C 6C AH") == extras
    assert advice("BR-H8", hands, "lead 5C", "add 5S", stock="8C AH") == set()
    hands = ["5S 5C 5D KD", REPLIER, REST]
    assert advice("BR-H8", hands, stock="9C 8C AH") == {"lead 5C", "lead 5D"}
    assert advice("BR-H8", [hands[0], "8S 6S", REST], stock="9C 8C AH") == set()


def test_br_h8_lets_an_observer_count_who_draws_before() -> None:
    hands = ["5S 2C 3C KD", "8S 6S 2H QH 7S 7D 7C", "5D TD 9D 8D"]
    assert advice("BR-H8", hands, "lead 5S", stock="9C AH") == {"add 5D"}
    assert advice("BR-H8", hands, "lead 5S", stock="AH") == set()


def test_br_h9_plays_out_and_adds_the_lowest_plain_card_while_there_is_a_stock() -> None:
    assert advice("BR-H9", ["2H 3D AS KD", REPLIER, REST]) == {"lead 3D"}
    assert advice("BR-H9", ["5D 5H 5S KD", REPLIER, REST], "lead 5D") == {"add 5S"}
    assert advice("BR-H9", ["5D 5H 2C KD", REPLIER, REST], "lead 5D") == set()
    assert advice("BR-H9", ["2H 3D AS KD", REPLIER, REST], stock="") == set()


def test_m_h1_leads_large_plain_groups_and_keeps_trumps_while_there_is_a_stock() -> None:
    assert advice("M-H1", ["5D 5S 2C 2H", REPLIER, REST]) == {"lead 5D"}
    assert advice("M-H1", ["5C 5D 5S KD", REPLIER, REST], "lead 5C") == {"add 5D"}
    assert advice("M-H1", ["5D 5H 2C KD", REPLIER, REST], "lead 5D") == {"pass"}
    assert advice("M-H1", ["5D 5S 2C 2H", REPLIER, REST], stock="") == set()
    assert advice("M-H1", ["5H 6H 7H 8H", REPLIER, REST]) == set()


def test_m_h2_keeps_what_beats_a_known_card_of_the_right_neighbor() -> None:
    hands = ["9H 2H 3C", "8S 6S 7S", "5H JD TD"]
    known = {"stock": "", "exposed": "5H"}
    assert advice("M-H2", hands, **known) == {"lead 2H", "lead 3C"}
    assert advice("M-H2", hands, stock="") == set()
    assert advice("M-H2", ["2H 3H 3C", "8S 6S 7S", "5H JD TD"], **known) == set()


def test_m_h3_leads_the_plain_cards_of_a_group_that_does_not_fit() -> None:
    hands = ["5D 5H 5S KD", "8S 6S", REST]
    assert advice("M-H3", hands, stock="") == {"lead 5D", "lead KD"}
    assert advice("M-H3", ["5D 5H 5S KD", "8S 6S 7S", REST], stock="") == set()
    assert advice("M-H3", hands) == set()


def test_m_h4_still_beats_with_plain_cards_when_the_reply_is_lost_and_the_hand_large() -> None:
    played = ("lead 5D", "add 5S", "pass")
    lost, small, won = "8S 2C 3D 4D KC", "8S 2C 3D 4D", "8S QD 2C 3D 4C"
    assert advice("M-H4", ["5S 5D 3C KD", lost, REST], *played) == {"beat 8S"}
    assert advice("M-H4", ["5S 5D 3C KD", small, REST], *played) == set()
    assert advice("M-H4", ["5S 5D 3C KD", won, REST], *played) == set()


def test_m_h5_spends_a_trump_on_the_last_card_if_the_others_are_beaten() -> None:
    hands = ["5S 5D 3C KD", "QD 2H KH KC", REST]
    played = ("lead 5D", "add 5S", "pass")
    assert advice("M-H5", hands, *played, "beat QD") == {"beat 2H"}
    assert advice("M-H5", hands, *played, "take") == set()
    assert advice("M-H5", ["5S 5D 3C KD", "QD 2H 6S KC", REST], *played, "beat QD") == set()


def test_m_h6_keeps_the_black_queen_until_the_stock_is_used_up() -> None:
    hands = ["2S QC 3S KD", REPLIER, REST]
    assert advice("M-H6", hands) == {"lead 2S", "lead 3S", "lead KD"}
    assert advice("M-H6", hands, stock="") == {"lead QC"}
    assert advice("M-H6", ["2S 3S KD", REPLIER, REST], stock="") == set()


def test_m_h7_plays_from_the_shortest_plain_suit_in_the_endgame() -> None:
    hands = ["2S 3S 4D KC AC 2H", REPLIER, REST]
    assert advice("M-H7", hands, stock="") == {"lead 4D"}
    assert advice("M-H7", hands) == set()


@pytest.mark.parametrize("hint", ["M-H1", "BR-H9", "M-H7"])
def test_other_hints_leave_open_what_becomes_of_the_black_queen(hint: str) -> None:
    stock = "" if hint == "M-H7" else STOCK
    assert "lead QC" in advice(hint, ["2S QC 3S KD", REPLIER, REST], stock=stock)


def test_what_beats_is_judged_by_the_hand_and_not_by_the_actions_left() -> None:
    """Other hints may have left the trumps alone: a plain card of the hand still counts."""
    hands = ["5S 5D 3C KD", "QD 2H 6S KC", REST]
    state = table(hands, "lead 5D", "add 5S", "pass", "beat QD")
    mask = state.action_mask()
    mask[cardenvs.load_game("bred_ryg").rules.DECK.card("6S")] = 0
    assert mask.sum() == 2
    advised = advice_masks(HINTS, "M-H5", state.observation()[None], mask[None])
    assert not advised.any()
    assert advice("M-H5", ["5S 5D 3C KD", "QD 2H TH KC", REST], *PAIR, "beat QD") == {"beat 2H"}


@pytest.mark.parametrize("options", [{"exposed_card": "in_place"}, {"extra_card": False}])
def test_hints_hold_under_other_rules(options: dict[str, Any], num_games: int) -> None:
    game = cardenvs.load_game("bred_ryg", **options)
    assert asking.count_of_legal_advice(game, max(20, num_games))


def test_every_hint_has_a_test() -> None:
    assert not asking.untested(HINTS.names, globals())


# ----------------------------------------------------------------------------------------------
# The agents


@pytest.mark.parametrize(
    ("hands", "played", "stock", "chosen"),
    [
        (["2S QC 3S KD", "8S 6S", REST], (), "", "lead QC"),
        (["2S 2D QC KD", REPLIER, REST], ("lead 2D", "add 2S"), STOCK, "extra KD"),
        (["2H 3D AS KD", REPLIER, REST], (), STOCK, "lead 3D"),
        (["3D AC AS KD", REPLIER, REST], (), STOCK, "lead AC"),
        (["5D 5H 5S KD", REPLIER, REST], ("lead 5D",), STOCK, "add 5S"),
        (["5D 5H 2C KD", REPLIER, REST], ("lead 5D",), STOCK, "pass"),
        (["5D 5H 2C KD", REPLIER, REST], ("lead 5D",), "", "add 5H"),
        (["5S 2D 3D KD", "5D 9D KS 2C", "JC TC AC 3C"], ("lead 5S",), STOCK, "add 5D"),
        (["5S 2D 3D KD", "5D 4D KS 2C", "JC TC AC 3C"], ("lead 5S",), STOCK, "pass"),
        (["5S 2C 3C KD", "2S QH KH AH", REST], ("lead 5S",), STOCK, "take"),
        (["5S 2C 3C KD", "2S QH KH AH", REST], ("lead 5S",), "", "beat QH"),
    ],
)
def test_what_the_usual_hints_play(
    hands: list[str], played: tuple[str, ...], stock: str, chosen: str
) -> None:
    assert choose("hints", hands, *played, stock=stock) == chosen


def test_lowest_plays_its_weakest_card_as_long_as_it_can() -> None:
    assert choose("lowest", ["2H 3D AS KD", REPLIER, REST]) == "lead 3D"
    assert choose("lowest", ["QC AH KH", REPLIER, REST]) == "lead KH"
    assert choose("lowest", ["5S 2D 3D KD", "5D 4D KS 2C", REST], "lead 5S") == "add 5D"
    assert choose("lowest", ["5S 2D 3D KD", "4D KH AH 2C", REST], "lead 5S") == "beat KH"


def test_bad_habits_come_before_the_hints() -> None:
    reply = ["5S 2C 3C KD", REPLIER, REST]
    assert choose("hints", reply, "lead 5S") == "beat 6S"
    assert choose_by_habit("always_take", reply, "lead 5S") == "take"
    assert choose_by_habit("always_take", reply, "lead 5S", stock="") == "beat 6S"
    assert choose_by_habit("highest_reply", reply, "lead 5S") == "beat QH"
    assert choose_by_habit("never_add", ["5D 5H 5S KD", REPLIER, REST], "lead 5D") == "pass"
    late = ["AH QC", "8S 6S", REST]
    assert choose("hints", late, stock="") == "lead QC"
    assert choose_by_habit("never_queen", late, stock="") == "lead AH"


@pytest.mark.compiled
def test_hints_lose_at_most_three_games_in_a_hundred_among_random_players() -> None:
    players = {name: agents.make("bred_ryg", name, seed=1) for name in ("random", "hints")}
    report = evaluate("bred_ryg", players, [("hints", "random")], 400, progress=False)
    assert report.rows[0].high < 0.03


@pytest.mark.compiled
@pytest.mark.parametrize("habit", [unit.name for unit in HINTS.habits])
def test_every_bad_habit_costs_games(habit: str) -> None:
    assert asking.loss_rate_of_habit(cardenvs.load_game("bred_ryg"), habit, 2_000).low > 1 / 3


@pytest.mark.compiled
def test_hints_are_worth_more_than_none() -> None:
    players = {name: agents.make("bred_ryg", name, seed=1) for name in ("lowest", "hints")}
    (row,) = evaluate("bred_ryg", players, [("lowest", "hints")], 400, progress=False).rows
    assert row.low > row.fair
