"""Each hint of Brede Mette speaks where its text says, and advises what it says.

In all positions seat 0 leads; "H" is trumps unless another suit is named.
"""

from __future__ import annotations

from typing import Any

import pytest

import agents
import cardenvs
from agents.hints import hint_book
from cardenvs.core.state import State
from tests.agents import asking
from training.evaluate import evaluate

STOCK = "9C 8C 7C 6C 4H"
REST = "JD TD 9D 8D"
GAME = cardenvs.load_game("brede_mette")
OTHER_RULES = cardenvs.load_game("brede_mette", pickup_scope="unbeaten")
DEAL_KEYS = ("stock", "trump", "exposed")


def table(hands: list[str], *played: str, **more: Any) -> State:
    """Return the table after some actions; what is no part of the deal is an option."""
    deal: dict[str, Any] = {"hands": hands, "stock": STOCK, "trump": "H", "leader": 0}
    deal |= {key: more.pop(key) for key in DEAL_KEYS if key in more}
    return asking.position("brede_mette", deal, *played, num_players=len(hands), **more)


def advice(hint: str, hands: list[str], *played: str, **more: Any) -> set[str]:
    """Return the words for what a hint advises after some actions."""
    return set(asking.advice(table(hands, *played, **more), hint))


def choose(name: str, hands: list[str], *played: str, **more: Any) -> str:
    """Return the words for what an agent plays after some actions."""
    return asking.choice(table(hands, *played, **more), name)


def choose_by_habit(habit: str, hands: list[str], *played: str, **more: Any) -> str:
    """Return the words for what the hint agent with a bad habit plays."""
    return asking.choice(table(hands, *played, **more), "hints", habit=habit)


# ----------------------------------------------------------------------------------------------
# The hints

EXCHANGE = ["QH QS 2D 3D 4D", "2C JC 6D"]
EXCHANGED = ("lead QH", "add QS", "beat QH with 2C", "beat QS with JC")
EXCHANGE_DEAL = {"stock": "KH KS 3C", "trump": "C"}


def test_bm_h1a_leads_equal_cards_together() -> None:
    hands = ["3D 3S AS 2C", "8S 6S 2H", REST]
    assert advice("BM-H1a", hands) == advice("BM-H1a", hands, stock="") == {"lead 3D"}
    assert advice("BM-H1a", ["3D 4S AS 2C", "8S 6S 2H", REST]) == set()
    assert advice("BM-H1a", hands, "lead 3D") == {"add 3S"}
    assert advice("BM-H1a", ["3C 3D 3S AS", "8S 6S 2H", REST], "lead 3C") == {"add 3D"}


def test_bm_h1b_leads_equal_cards_before_single_ones_only_in_the_endgame() -> None:
    hands = ["3D 3S AS 2C", "8S 6S 2H", REST]
    assert advice("BM-H1b", hands, stock="") == {"lead 3D"}
    assert advice("BM-H1b", hands) == set()
    assert advice("BM-H1b", ["3D 4S AS 2C", "8S 6S 2H", REST], stock="") == set()


def test_bm_h1b_leads_all_of_a_rank_and_leaves_adding_to_the_next_hint() -> None:
    hands = ["3D 3S AS 2C", "8S 6S 2H", REST]
    assert advice("BM-H1b", hands, "lead 3D") == {"add 3S"}
    assert advice("BM-H1b", ["5S 2C 3C", "8S 6S 2H", "5D 9D TD"], "lead 5S") == set()


@pytest.mark.parametrize(("trump", "chosen"), [("D", "lead 5H"), ("S", "lead 5D")])
def test_groups_are_led_whole_but_for_a_trump_that_comes_first(trump: str, chosen: str) -> None:
    hands = ["5D 5H 5S AC", "8S 6S 2H", REST]
    state = table(hands, stock="", trump=trump)
    assert asking.choice(state, "hints", hints="M-H3+BM-H1a", base="random") == chosen


def test_bm_h2_adds_to_the_attack_of_another() -> None:
    assert advice("BM-H2", ["5S 2C 3C", "8S 6S 2H", "5D 9D TD"], "lead 5S") == {"add 5D"}
    assert advice("BM-H2", ["3D 3S AS", "8S 6S 2H", REST], "lead 3D") == set()


def test_bm_h3_adds_a_card_of_its_own_if_all_can_be_beaten() -> None:
    can, cannot = "5D 8D 9H TC 2S", "5D 8D 9H 3C 2D"
    for defender, advised in ((can, {"add 5D"}), (cannot, set())):
        hands = ["5C 5H KC", defender, "9D TD JD"]
        played = ("lead 5C", "add 5H")
        assert advice("BM-H3", hands, *played, trump="S", stock="9C 3S") == advised


def test_bm_h4_takes_a_trump_back() -> None:
    assert advice("BM-H4", EXCHANGE, *EXCHANGED, **EXCHANGE_DEAL) == {"exchange QH with KH"}
    assert advice("BM-H4", EXCHANGE, *EXCHANGED[:2], **EXCHANGE_DEAL) == set()
    plain = {"stock": "TC KS 3C", "trump": "C"}
    assert advice("BM-H4", EXCHANGE, *EXCHANGED, **plain) == {"exchange QS with KS"}
    trumps = {"stock": "TC 5D 3C", "trump": "C"}
    assert advice("BM-H4", EXCHANGE, *EXCHANGED, **trumps) == set()


def test_bm_h5_passes_when_holding_the_rank() -> None:
    assert advice("BM-H5", ["5S 2C 3C", "5D KS 4C", REST], "lead 5S") == {"pass 5D"}
    assert advice("BM-H5", ["5S 2C 3C", "6D KS 4C", REST], "lead 5S") == set()


@pytest.mark.parametrize("queen", ["QD", "QH"])
def test_bm_h6_leads_adds_and_passes_the_red_queen(queen: str) -> None:
    other = "QH" if queen == "QD" else "QD"
    lead = [f"2S {queen} 3S", "8S 6S 2H", REST]
    assert advice("BM-H6", lead, queen=queen) == {f"lead {queen}"}
    assert advice("BM-H6", lead, queen=other) == set()
    passing = ["QS 2C 3C", f"{queen} QC KS", REST]
    assert advice("BM-H6", passing, "lead QS", queen=queen) == {f"pass {queen}"}
    adding = ["QS 2C 3C", "5C 8S KS", f"{queen} QC 9D"]
    assert advice("BM-H6", adding, "lead QS", queen=queen) == {f"add {queen}"}


def test_bm_h7_beats_with_the_cheapest_card_if_all_can_be_beaten() -> None:
    hands = ["5S 2C 3C", "8S 6S 2H", "9D TD JD"]
    assert advice("BM-H7", hands, "lead 5S") == {"beat 5S with 6S"}
    hands = ["5S 5C 3C", "8S 6S TD", "9D QD JD"]
    assert advice("BM-H7", hands, "lead 5C", "add 5S") == set()


def test_bm_h7_uses_a_trump_where_nothing_else_helps() -> None:
    """With the spade beaten by the trump the diamond could not be beaten any more."""
    hands = ["5D 5S 3C", "2H 3H AS JH", "9D TD JD"]
    played = ("lead 5D", "add 5S")
    assert advice("BM-H7", hands, *played) == {"beat 5S with AS"}
    trumps = ["5D 5S 3C", "2H 3H 4C", "9D TD JD"]
    assert advice("BM-H7", trumps, *played) == {"beat 5D with 2H"}


def test_m_h1a_uses_no_trumps_while_there_is_a_stock() -> None:
    hands = ["3D 3H AS", "8S 6S 2H", REST]
    assert advice("M-H1a", hands) == {"lead 3D", "lead AS"}
    assert advice("M-H1a", hands, "lead 3D") == {"stop"}
    assert advice("M-H1a", hands, "lead 3D", stock="") == set()
    answer = ["5S 2C 3C", "5H KS 4C", "9D TD JD"]
    assert advice("M-H1a", answer, "lead 5S") == {"beat 5S with KS"}
    assert advice("M-H1a", ["5S 2C 3C", "5H 6H 4C", "9D TD JD"], "lead 5S") == set()


def test_m_h1b_leads_large_plain_groups_while_there_is_a_stock() -> None:
    hands = ["3D 3H 4C 4D 4S", "8S 6S 2H", REST]
    assert advice("M-H1b", hands) == {"lead 4C"}
    assert advice("M-H1b", hands, "lead 4C") == {"add 4D"}
    assert advice("M-H1b", hands, "lead 3D") == set()
    assert advice("M-H1b", hands, stock="") == set()


def test_m_h2_keeps_what_beats_a_known_card_of_the_right_neighbor() -> None:
    hands = ["9H 2H 3C", "8S 6S 7S", "5H JD TD"]
    known = {"stock": "", "exposed": "5H"}
    assert advice("M-H2", hands, **known) == {"lead 2H", "lead 3C"}
    assert advice("M-H2", hands, stock="") == set()
    assert advice("M-H2", ["2H 3H 3C", "8S 6S 7S", "5H JD TD"], **known) == set()


def test_m_h3_leads_the_plain_cards_of_a_group_in_the_endgame() -> None:
    hands = ["3D 3H AS", "8S 6S 2H", REST]
    assert advice("M-H3", hands, stock="") == {"lead 3D", "lead AS"}
    assert advice("M-H3", hands) == set()
    assert advice("M-H3", ["3D 4H AS", "8S 6S 2H", REST], stock="") == set()


def test_m_h4_still_beats_with_plain_cards_if_the_hand_is_large() -> None:
    played = ("lead 5C", "add 5S")
    lost, small, won = "8S 2C 3C 4D", "8S 2C 3C", "8S 2C 3C 2H"
    rules = {"pickup_scope": "unbeaten"}
    assert advice("M-H4", ["5S 5C KC", lost, REST], *played, **rules) == {"beat 5S with 8S"}
    assert advice("M-H4", ["5S 5C KC", small, REST], *played, **rules) == set()
    assert advice("M-H4", ["5S 5C KC", won, REST], *played, **rules) == set()


def test_m_h4_is_no_advice_where_beaten_cards_are_picked_up_too() -> None:
    book = hint_book(GAME)
    assert "M-H4" not in book.names
    assert [hint.name for hint in book.silent] == ["M-H4"]
    assert not hint_book(OTHER_RULES).silent


def test_m_h5_spends_a_trump_on_the_last_card_if_the_others_are_beaten() -> None:
    hands = ["5S 5C KC", "8S 2H 3H 4D", REST]
    played = ("lead 5C", "add 5S")
    assert advice("M-H5", hands, *played, "beat 5S with 8S") == {"beat 5C with 2H"}
    assert advice("M-H5", hands, *played) == set()
    hands = ["5S 5C KC", "8S 2H TC 4D", REST]
    assert advice("M-H5", hands, *played, "beat 5S with 8S") == set()


def test_m_h6_keeps_the_red_queen_until_the_stock_is_used_up() -> None:
    hands = ["2S QD 3S", "8S 6S 2H", REST]
    assert advice("M-H6", hands) == {"lead 2S", "lead 3S"}
    assert advice("M-H6", hands, stock="") == {"lead QD"}
    assert advice("M-H6", ["QS 2C 3C", "QD 4S AS", REST], "lead QS") == {"beat QS with AS"}
    assert advice("M-H6", ["2S QH 3S", "8S 6S 2H", REST]) == set()


def test_m_h7_leads_from_the_shortest_plain_suit_in_the_endgame() -> None:
    hands = ["2S 3S 4D KC AC 5H", "8S 6S 2H", REST]
    assert advice("M-H7", hands, stock="") == {"lead 4D"}
    assert advice("M-H7", hands) == set()


def test_p_h1_beats_with_the_trump_of_the_rank_rather_than_pass_it() -> None:
    assert advice("P-H1", ["5S 2C 3C", "5H KS 4C", REST], "lead 5S") == {"beat 5S with 5H"}
    assert advice("P-H1", ["5S 2C 3C", "5D KS 4C", REST], "lead 5S") == set()


def test_p_h2_leads_a_group_that_nobody_can_pass_back() -> None:
    hands = ["3D 3S AS 2C", "8S 6S 2H", REST]
    assert advice("P-H2", hands, stock="") == {"lead 3D"}
    assert advice("P-H2", hands, "lead 3D", stock="") == {"add 3S"}
    for place in (1, 2):
        more = [*hands]
        more[place] += " 3C"
        assert advice("P-H2", more, stock="") == set()


def test_p_h2_uses_what_is_known_of_the_other_hands() -> None:
    hands = ["3D 3S AS 2C", "8S 6S 2H", "3H JD TD"]
    assert advice("P-H2", hands, stock="", exposed="3H") == {"lead 3D"}
    hands = ["3D 3S AS 2C", "3H 8S 6S", "JD TD"]
    assert advice("P-H2", hands, stock="", exposed="3H") == set()


@pytest.mark.parametrize("hint", ["M-H1a", "M-H1b", "M-H7", "BM-H1a", "BM-H1b", "P-H2", "M-H3"])
def test_other_hints_leave_open_what_becomes_of_the_red_queen(hint: str) -> None:
    """Diamonds are trumps, so that she is one, with a plain queen beside her."""
    early = hint in ("M-H1a", "M-H1b", "BM-H1a")
    hands = ["3D 3S 7S QD QS", "8S 6S 2H", "JD TD 9D 8D"]
    advised = advice(hint, hands, stock="9C 8C 7C 6C 4D" if early else "", trump="D")
    assert "lead QD" in advised
    assert len(advised) < len(hands[0].split())


def test_bm_h5_and_bm_h2_do_not_part_with_her_alone() -> None:
    passing = ["QS 2C 3C", "QD KS 4C", REST]
    assert advice("BM-H5", passing, "lead QS") == set()
    adding = ["QS 2C 3C", "5C 8S KS", "QD 9D TD"]
    assert advice("BM-H2", adding, "lead QS") == set()


@pytest.mark.parametrize(
    "options",
    [
        {"pickup": "free", "pickup_scope": "unbeaten"},
        {"pass_direction": "forward", "queen": "QH"},
        {"exchange": False},
    ],
)
def test_hints_hold_under_other_rules(options: dict[str, Any], num_games: int) -> None:
    game = cardenvs.load_game("brede_mette", **options)
    assert asking.count_of_legal_advice(game, max(20, num_games))


def test_every_hint_has_a_test() -> None:
    assert not asking.untested(hint_book(OTHER_RULES).names, globals())


# ----------------------------------------------------------------------------------------------
# The agents


@pytest.mark.parametrize(
    ("hands", "played", "more", "chosen"),
    [
        (["3D 3S AS", "8S 6S 2H", REST], (), {}, "lead 3D"),
        (["3D 3S AS", "8S 6S 2H", REST], ("lead 3D",), {}, "add 3S"),
        (["3D 3H AS", "8S 6S 2H", REST], ("lead 3D",), {}, "stop"),
        (["3D 3H AS", "8S 6S 2H", REST], ("lead 3D",), {"stock": ""}, "add 3H"),
        (["5S 2C 3C", "8S 6S 2H", "5D 9D TD"], ("lead 5S",), {}, "add 5D"),
        (["5S 2C 3C", "5D 4S 4C", "9D TD JD"], ("lead 5S",), {}, "pass 5D"),
        (["5S 2C 3C", "5D KS 4C", "9D TD JD"], ("lead 5S",), {}, "beat 5S with KS"),
        (["5S 2C 3C", "5D KS KD", "9D TD JD"], ("lead 5S",), {}, "add 5D"),
        (["5S 2C 3C", "5H KS 4C", "9D TD JD"], ("lead 5S",), {}, "beat 5S with KS"),
        (["5S 2C 3C", "8S 6S 2H", "9D TD JD"], ("lead 5S",), {}, "beat 5S with 6S"),
        (["5S 2C 3C", "8S 6S 2H", "9D TD JD"], ("lead 5S",), {"pickup": "free"}, "beat 5S with 6S"),
        (["5S 5C 3C", "8S 6S TD", "9D QD JD"], ("lead 5C", "add 5S"), {"pickup": "free"}, "take"),
        (["2S QD 3S", "8S 6S 2H", REST], (), {}, "lead QD"),
        (["QS 2C 3C", "QD QC KS", REST], ("lead QS",), {}, "pass QD"),
        (EXCHANGE, EXCHANGED, EXCHANGE_DEAL, "exchange QH with KH"),
    ],
)
def test_what_the_usual_hints_play(
    hands: list[str], played: tuple[str, ...], more: dict[str, Any], chosen: str
) -> None:
    assert choose("hints", hands, *played, **more) == chosen


def test_lowest_plays_its_weakest_card_as_long_as_it_can() -> None:
    assert choose("lowest", ["2H 3D AS", "8S 6S 3H", REST]) == "lead 3D"
    assert choose("lowest", ["QD AH KH", "8S 6S 3H", REST]) == "lead KH"
    assert choose("lowest", ["QD AH", "8S 6S 3H", REST]) == "lead AH"
    hands = ["5S 2C 3C", "8S 6S 2H", "5D 9D TD"]
    assert choose("lowest", hands, "lead 5S") == "add 5D"
    assert choose("lowest", EXCHANGE, *EXCHANGED, **EXCHANGE_DEAL) == "done"


def test_bad_habits_come_before_the_hints() -> None:
    assert choose_by_habit("never_add", ["3D 3S AS", "8S 6S 2H", REST], "lead 3D") == "stop"
    hands = ["5S 2C 3C", "8S 6S 2H", "9D TD JD"]
    assert choose_by_habit("highest_beat", hands, "lead 5S") == "beat 5S with 2H"
    hands = ["5S 2C 3C", "5D KS 4C", "9D TD JD"]
    assert choose_by_habit("never_pass", hands, "lead 5S") == "beat 5S with KS"
    hands = ["AS QD KS", "8S 6S 2H", REST]
    assert choose_by_habit("keep_queen", hands) == "lead KS"
    assert choose_by_habit("keep_queen", hands, stock="") == "lead QD"


@pytest.mark.compiled
def test_each_agent_loses_less_than_those_that_know_less() -> None:
    names = ("random", "lowest", "hints")
    players = {name: agents.make("brede_mette", name, seed=1) for name in names}
    pairs = [("lowest", "random"), ("hints", "random"), ("hints", "lowest")]
    report = evaluate("brede_mette", players, pairs, 1_000, progress=False)
    assert all(row.high < row.fair for row in report.rows)
    assert report.rows[1].high < 0.08


@pytest.mark.compiled
@pytest.mark.parametrize("habit", [unit.name for unit in hint_book(GAME).habits])
def test_every_bad_habit_costs_games(habit: str) -> None:
    assert asking.loss_rate_of_habit(GAME, habit, 10_000).low > 1 / 3
