"""The hints of Bräus, each where it speaks and where it does not, and the agents that use them."""

from __future__ import annotations

from typing import Any

import pytest

import agents
from cardenvs.games import braus_view
from cardenvs.games.braus import LIVE_CARDS
from tests.agents.asking import advice, choice, position
from training.evaluate import evaluate


def braus(hands: list[str], *played: str, tricks: list[int] | None = None, **options: Any) -> Any:
    """Return the state after some actions; seat 0 leads, all nodes are asked."""
    deal = {"dealer": 3, "hands": hands, "leader": 0, "tricks": tricks or [0, 0]}
    return position("braus-v0", deal, *played, skip_forced=False, **options)


def test_lowest_plays_the_weakest_card_by_the_order_of_the_game() -> None:
    hands = ["KH 6C AD", "9C JD 8S", "TC", "TD"]
    assert choice(braus(hands), "lowest") == "lead 6C"
    assert choice(braus(hands, "lead 6C"), "lowest") == "play JD"
    assert choice(braus(hands, "lead 6C", "play 9C"), "lowest") == "pass"
    kept = ["7D 6C", "9C", "TC", "TD"]
    assert choice(braus(kept, sevens="optional"), "lowest") == "lay 7D"


def test_h1_leads_the_nine_of_clubs_while_an_opponent_may_hold_a_matador() -> None:
    hands = ["9C 6D", "KH TC", "TS TH", "6C 6S"]
    assert advice(braus(hands), "BZ-H1") == ["lead 9C"]
    assert advice(braus(["9C 6D", "AC TC", "KH 8S", "6C 6S"]), "BZ-H1") == ["lead 9C"]
    own_matadors = ["9C 6D KH JC 8S", "AC", "TS", "6C"]
    assert advice(braus(own_matadors), "BZ-H1") == []
    assert advice(braus(["6D 9S", "9C KH", "TS", "6C"], "lead 6D"), "BZ-H1") == []  # no lead


def test_h2_gains_the_lead_for_sevens_with_the_cheapest_sure_winner() -> None:
    hands = ["6D 6H", "7C AD KH", "9S JD", "TC TD"]
    assert advice(braus(hands, "lead 6D"), "BZ-H2") == ["play KH"]  # 9S may beat AD
    without_seven = ["6D 6H", "8C AD KH", "6S JD", "TC TD"]
    assert advice(braus(without_seven, "lead 6D"), "BZ-H2") == []
    last = ["6D 6H", "TC", "TS", "7C AD KH"]
    assert advice(braus(last, "lead 6D", "pass", "pass"), "BZ-H2") == ["play AD"]


def test_h3_plays_the_weakest_with_five_tricks_and_the_king_of_clubs() -> None:
    hands = ["KC JC 6H 6D", "6C TC", "6S TS", "TD TH"]
    assert advice(braus(hands, tricks=[5, 3]), "BZ-H3") == ["lead 6D"]
    assert advice(braus(hands, tricks=[4, 3]), "BZ-H3") == []
    assert advice(braus(["QC JC 6H 6D", *hands[1:]], tricks=[5, 3]), "BZ-H3") == []


def test_h4_takes_jan_with_the_cheapest_sure_winner() -> None:
    hands = ["JC 8S 6D", "KH 6C", "6S TS", "TD TH"]
    assert advice(braus(hands, tricks=[5, 0]), "BZ-H4a") == ["lead 8S"]
    assert advice(braus(hands, tricks=[5, 1]), "BZ-H4a") == []
    assert advice(braus(["AD 6D", *hands[1:]], tricks=[5, 0]), "BZ-H4a") == []  # nothing is sure


def test_h4_breaks_jan_with_a_matador() -> None:
    hands = ["JC 8S 6D", "KH 6C", "6S TS", "TD TH"]
    assert advice(braus(hands, tricks=[0, 5]), "BZ-H4b") == ["lead 8S"]  # KH cannot beat it
    assert advice(braus(hands, tricks=[1, 5]), "BZ-H4b") == []
    assert advice(braus(["9C 6D", *hands[1:]], tricks=[0, 5]), "BZ-H4b") == []


def test_h4_breaks_jan_with_the_matador_that_is_sure() -> None:
    hands = ["6S", "JC KH", "8S 6C", "TD TH"]  # on JC nobody can follow, on KH seat 2 can
    state = braus(hands, "lead 6S", tricks=[5, 0])
    assert advice(state, "BZ-H4b") == ["play JC"]
    assert choice(state, "hints") == "play JC"
    unsure = ["8S KH 6D", "JC 6C", "6S TS", "TD TH"]
    assert advice(braus(unsure, tricks=[0, 5]), "BZ-H4b") == ["lead KH", "lead 8S"]


@pytest.mark.parametrize(
    ("hint", "hand", "tricks"),
    [
        ("BZ-H1", "9C 7D 6D", [0, 0]),
        ("BZ-H3", "KC 7D 6D", [5, 3]),
        ("BZ-H4a", "JC 7D 6D", [5, 0]),
        ("BZ-H4b", "7D KH 6D", [0, 5]),
        ("BZ-H6", "JC 7D 6D", [0, 0]),
    ],
)
def test_no_hint_puts_off_a_seven_that_may_be_laid(hint: str, hand: str, tricks: list[int]) -> None:
    others = ["8S 6C", "6S TS", "TD TH"]
    kept = braus([hand, *others], tricks=tricks, sevens="optional")
    assert advice(kept, hint) == []
    assert choice(kept, "hints") == "lay 7D"
    without = hand.replace("7D ", "")
    assert advice(braus([without, *others], tricks=tricks, sevens="optional"), hint) != []


def test_h6_leads_the_weakest_card_that_no_opponent_can_beat() -> None:
    assert advice(braus(["8S AD 6D", "9C", "6C", "9H"]), "BZ-H6") == ["lead 8S"]
    assert advice(braus(["8S AD 6D", "9C", "JC", "9H"]), "BZ-H6") == []  # 8S may be beaten
    assert choice(braus(["8S AD 6D", "9C", "JC", "9H"]), "hints") == "lead 6D"
    assert advice(braus(["KH AD 6D", "6C", "TC", "6S"]), "BZ-H6") == ["lead AD"]
    assert advice(braus(["6D AD", "9C JC", "TC", "6S"], "lead 6D"), "BZ-H6") == []  # no lead


def test_h5_is_known_to_the_others() -> None:
    """Once both opponents have passed on AD, it is sure, though higher cards are out."""
    state = braus(["AD 9H 6D", "6C", "9S KH", "6S"])
    agent, seen = agents.make(state.game, "hints"), state.observation()
    assert state.action_to_string(int(agent.act(seen, state.action_mask()))) == "lead 6D"
    start = braus_view.OFFSETS[4][braus_view.MAY_HOLD]
    for place in (1, 3):
        caps = start + place * len(LIVE_CARDS)
        seen[caps + LIVE_CARDS.index("AD") + 1 : caps + len(LIVE_CARDS)] = 0
    assert state.action_to_string(int(agent.act(seen, state.action_mask()))) == "lead AD"


@pytest.mark.compiled
def test_each_agent_beats_those_that_know_less() -> None:
    names = ("random", "lowest", "priority", "hints")
    players = {name: agents.make("braus", name, seed=1) for name in names}
    pairs = [("lowest", "random"), ("priority", "random"), ("hints", "lowest")]
    report = evaluate("braus", players, pairs, 40_000, progress=False)
    assert all(row.low > 0.0 for row in report.rows)
    assert 0.13 < report.rows[0].result < 0.15  # two independent engines: 0.136 and 0.142
