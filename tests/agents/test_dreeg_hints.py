"""Each hint of Dreeg speaks where it should, and the agents play by them."""

from __future__ import annotations

from typing import Any

import pytest

import agents
import cardenvs
from agents import dreeg, dreeg_worth
from agents.hints import advice_masks
from cardenvs.games import dreeg_view
from tests.agents.asking import advice, choice, position
from training.evaluate import evaluate

OTHERS = ["9E UE OE", "9G UG OG", "TG KG AG"]
DECK = [rank + suit for suit in "EBHG" for rank in "9UOKTA"]


def table(subgame: str, hands: list[str], *played: str, **more: Any) -> Any:
    """Return a table after some actions; seat 0 leads."""
    deal: dict[str, Any] = {"subgame": subgame, "hands": hands, "dealer": len(hands) - 1}
    deal |= {key: more.pop(key) for key in ("talon", "strokes", "trump") if key in more}
    options = {"num_players": len(hands), "scope": "deal", "skip_forced": False} | more
    return position("dreeg-v0", deal, *played, **options)


def two_players(own: str) -> Any:
    """Return a table of two in which seat 0 has some cards, hearts are trumps and nothing fell."""
    others = [card for card in DECK if card not in own]
    hands, talon = [own, " ".join(others[:6])], " ".join(others[6:])
    return table("rufen", hands, "trump H", talon=talon)


def legal(state: Any) -> set[str]:
    """Return the words for all legal actions."""
    return {state.action_to_string(action) for action in state.legal_actions()}


# ----------------------------------------------------------------------------------------------
# Rufen


def test_h1_calls_the_highest_trump_that_is_not_held() -> None:
    assert advice(table("rufen", ["AB 9B UH", *OTHERS]), "DR-H1") == ["call TB"]
    assert advice(table("rufen", ["AB TB OB", *OTHERS]), "DR-H1") == ["call KB"]
    assert choice(table("rufen", ["KB OB TH", *OTHERS]), "hints") == "call AB"


def test_h1_is_silent_once_the_call_is_made() -> None:
    assert advice(table("rufen", ["AB 9B UH", *OTHERS], "call TB"), "DR-H1") == []


def test_h2_calls_the_ace_to_a_marriage() -> None:
    assert advice(table("rufen", ["KB OB TH", *OTHERS]), "DR-H2") == ["call AB"]


def test_h2_is_silent_without_a_marriage_or_with_its_ace() -> None:
    assert advice(table("rufen", ["KB UB TH", *OTHERS]), "DR-H2") == []
    assert advice(table("rufen", ["KB OB AB", *OTHERS]), "DR-H2") == []


def test_h3_calls_a_card_of_its_own_with_three_very_strong_ones() -> None:
    strong = table("rufen", ["AB KB OB", *OTHERS])
    assert set(advice(strong, "DR-H3")) == {"call AB", "call KB", "call OB"}


def test_h3_is_silent_with_weaker_cards() -> None:
    assert advice(table("rufen", ["AB TB UH", *OTHERS]), "DR-H3") == []


# ----------------------------------------------------------------------------------------------
# Ace of Hearts


def test_h4a_surrenders_where_there_may_be_no_trick() -> None:
    hands = ["AH UE OE 9B UB 9G", "TE KE AE TB KB AB", "9E OB KG TG AG UG", "9H UH OH KH TH OG"]
    assert advice(table("ace_of_hearts", hands), "DR-H4a") == ["surrender"]


def test_h4a_is_silent_with_another_likely_trick() -> None:
    hands = ["AH AE UB OG 9G UE", "TE KE 9E TB KB AB", "OE 9B OB KG TG AG", "9H UH OH KH TH UG"]
    assert advice(table("ace_of_hearts", hands), "DR-H4a") == []


def test_h4a_is_silent_with_a_good_hand() -> None:
    hands = ["AH TH KH OH 9G UE", "TE KE AE TB KB AB", "OE 9B OB KG TG AG", "9H UH 9E UB OG UG"]
    assert advice(table("ace_of_hearts", hands), "DR-H4a") == []


def test_h5_names_the_suit_of_a_marriage_or_the_longest() -> None:
    for hand, words in (("AH KB OB", "trump B"), ("AH TB KB", "trump B"), ("AH TH KB", "trump H")):
        assert advice(table("ace_of_hearts", [hand, *OTHERS]), "DR-H5") == [words]


def test_h5_is_silent_once_trumps_are_named() -> None:
    assert advice(table("ace_of_hearts", ["AH KB OB", *OTHERS], "trump B"), "DR-H5") == []


# ----------------------------------------------------------------------------------------------
# Points


MARRIED = ["AH TH KH OH", "TE KE TB KB"]


def test_h6_goes_out_with_66() -> None:
    played = ["trump H", "marry OH", "play TE", "continue", "lead AH", "play TB"]
    state = table("ace_of_hearts", MARRIED, *played, going_out="manual")
    assert advice(state, "DR-H6") == ["out"]
    assert choice(state, "hints") == "out"


def test_h6_is_silent_with_less() -> None:
    played = ["trump H", "marry OH", "play TE"]
    state = table("ace_of_hearts", MARRIED, *played, going_out="manual")
    assert advice(state, "DR-H6") == []
    assert choice(state, "hints") == "continue"


TALON = "TB TG KB KG OB AH"


def test_h7_keeps_the_second_of_two_marriages() -> None:
    hands = ["KE OE KB OB 9E", "AB TB 9B UB UG", "9G KG OG TG AG", "9H UH OH KH AH"]
    first = table("deutsch", hands)
    assert set(advice(first, "DR-H7")) == {
        "marry KE",
        "marry OE",
        "marry KB",
        "marry OB",
        "lead 9E",
    }
    ace_led = ["AB 9E TE UE UG", "KE OE KB OB 9H", "9G KG OG TG AG", "9B UB UH KH AH"]
    must_follow = table("deutsch", ace_led, "lead AB")
    assert advice(must_follow, "DR-H7") == []  # suit must be followed: nothing can be kept


def test_h7_still_keeps_the_second_once_the_first_is_shown() -> None:
    hands = ["KE OE KB OB 9G", "UB UG TB TG KG", "UE OG AG 9B AB", "9E 9H UH OH AH"]
    state = table("deutsch", hands, "marry KE", "play UB", "play UE", "play 9E")
    assert set(advice(state, "DR-H7")) == {"marry KB", "marry OB", "lead OE", "lead 9G"}


def test_h7_is_silent_with_a_single_marriage() -> None:
    assert advice(table("deutsch", ["KE OE AB", *OTHERS[1:], "UH OH KH"]), "DR-H7") == []


def test_h7b_keeps_a_marriage_or_shows_it() -> None:
    following = table("deutsch", ["AE 9B UB", "KE OE 9G"], "lead AE", talon=TALON)
    assert advice(following, "DR-H7b") == ["play 9G"]
    leading = table("deutsch", ["KE OE 9G", "AE 9B UB"], talon=TALON)
    assert set(advice(leading, "DR-H7b")) == {"marry KE", "marry OE", "lead 9G", "close"}


def test_h7b_is_silent_without_a_marriage_and_in_strict_play() -> None:
    single = table("deutsch", ["AE 9B UB", "KE UE 9G"], "lead AE", talon=TALON)
    assert advice(single, "DR-H7b") == []
    strict = table("deutsch", ["AB 9E UB", "KE OE 9G"], "lead AB", trump="H")
    assert legal(strict) == {"play KE", "play OE", "play 9G"}
    assert advice(strict, "DR-H7b") == []


def test_points_of_tricks_and_marriages_together_may_be_many() -> None:
    seen = table("deutsch", ["AE KE TB", *OTHERS]).observation()
    seen[dreeg_view.POINTS_WON], seen[dreeg_view.DECLARED] = 90, 60
    assert dreeg_worth.own_points(seen) == 0  # none without a trick
    seen[dreeg_view.TRICKS] = 1
    assert dreeg_worth.own_points(seen) == 150


def test_h11_draws_trumps_with_a_good_plain_card() -> None:
    state = table("deutsch", ["AE AH UB", "9E UE KB", "9G UG OG", "TG KG TH"])
    assert advice(state, "DR-H11") == ["lead AH"]


def test_h11_is_silent_without_a_good_plain_card() -> None:
    state = table("deutsch", ["UB AH 9G", "9E UE KB", "TG KG OH", "OG TE TH"])
    assert advice(state, "DR-H11") == []


# ----------------------------------------------------------------------------------------------
# The talon

CERTAIN, LIKELY, WEAK = "AH TH KH OH AE AG", "AH TH KB OB AE AG", "AH TH KB OG 9E 9G"


def test_h8_closes_with_a_hand_that_is_sure_of_66() -> None:
    assert advice(two_players(CERTAIN), "DR-H8") == ["close"]
    assert choice(two_players(CERTAIN), "hints") == "close"


def test_h8_is_silent_with_a_weaker_hand() -> None:
    assert advice(two_players(WEAK), "DR-H8") == []
    assert choice(two_players(WEAK), "hints").startswith("lead")


def test_h9_does_not_close_while_somebody_has_no_trick() -> None:
    state = two_players(WEAK)
    assert set(advice(state, "DR-H9")) == {f"lead {card}" for card in WEAK.split()}


def test_h9_is_silent_with_a_hand_that_is_nearly_certain() -> None:
    assert advice(two_players(CERTAIN), "DR-H9") == []


@pytest.mark.parametrize(("ruleset", "advised"), [("seed", []), ("pagat", ["lead TB", "lead KB"])])
def test_h9_speaks_in_deutsch_where_failing_costs_more(ruleset: str, advised: list[str]) -> None:
    hands, talon = ["TB KB", "9E UE"], "UB TG KG OB 9G AH"
    state = table("deutsch", hands, talon=talon, ruleset=ruleset)
    assert "close" in legal(state)
    assert set(advice(state, "DR-H9")) == set(advised)


def test_both_rulesets_use_the_same_hints() -> None:
    """The search plays on by one of them."""
    assert dreeg.book_of("seed").default == dreeg.book_of("pagat").default


def test_h10_swaps_the_nine_at_once() -> None:
    hands, talon = ["AE 9H", "9E UE"], "TB TG KB KG OB AH"
    state = table("deutsch", hands, "lead AE", "play 9E", talon=talon)
    assert advice(state, "DR-H10") == ["nine"]
    assert choice(state, "hints") == "nine"


def test_h10_is_silent_without_the_nine() -> None:
    hands, talon = ["AE 9B", "9E UE"], "TB TG KB KG OB AH"
    state = table("deutsch", hands, "lead AE", "play 9E", talon=talon)
    assert "close" in legal(state)
    assert advice(state, "DR-H10") == []


# ----------------------------------------------------------------------------------------------
# Kamerun


def test_h12a_keeps_low_cards_in_two_suits() -> None:
    hands = ["KE 9E TB TH", "9B UH AG KG", "TE TG 9G AH", "UE OB OG 9H"]
    assert set(advice(table("kamerun", hands, "lead KE"), "DR-H12a")) == {"play AG", "play KG"}


def test_h12a_is_silent_on_lead_and_where_suit_is_followed() -> None:
    hands = ["KE 9E TB TH", "9B UE AE KG", "TE TG 9G AH", "UH OB OG 9H"]
    assert advice(table("kamerun", hands), "DR-H12a") == []
    assert advice(table("kamerun", hands, "lead KE"), "DR-H12a") == []


def test_h12b_shuns_the_last_trick_but_one_where_points_are_equal() -> None:
    hands = ["9E AB", "UE KB", "TE OB", "AE TB"]
    assert advice(table("kamerun", hands), "DR-H12b") == ["lead 9E"]


def test_h12b_is_silent_earlier() -> None:
    hands = ["9E AB KH", "UE KB 9H", "TE OB UH", "AE TB AH"]
    assert advice(table("kamerun", hands), "DR-H12b") == []


def test_h14_plays_the_card_least_likely_to_win_with_a_weak_hand() -> None:
    hands = ["9E OB UH", "UE KB 9H", "TE UB TH", "AE TB AH"]
    assert advice(table("kamerun", hands), "DR-H14") == ["lead 9E"]


def test_h14_is_silent_with_a_better_hand() -> None:
    hands = ["9E AB TH", "UE KB 9H", "TE UB UH", "AE TB AH"]
    assert advice(table("kamerun", hands), "DR-H14") == []


def test_h13a_announces_a_hand_that_wins_everything() -> None:
    others = ["9E UE OE 9H", "9G UG OG UH", "TG KG AG OH"]
    played = ["lead AE", "play OE", "play UH", "play OH"]
    strong = table("kamerun", ["AE TE KE AB", *others], *played)
    assert advice(strong, "DR-H13a") == ["durchmarsch"]
    assert choice(strong, "hints") == "durchmarsch"


def test_h13a_is_silent_with_a_weaker_hand() -> None:
    others = ["9E UE OE 9H", "9G UG OG UH", "TB KB AB OH"]
    played = ["lead AE", "play OE", "play UH", "play OH"]
    weak = table("kamerun", ["AE 9B UB TE", *others], *played)
    assert "durchmarsch" in legal(weak)
    assert advice(weak, "DR-H13a") == []
    assert choice(weak, "hints").startswith("lead")


ALL_TRICKS = [
    "lead AE",
    "play 9E",
    "play UG",
    "play OH",
    "lead AB",
    "play 9B",
    "play OG",
    "play UB",
]


def test_h13b_loses_a_trick_after_winning_all() -> None:
    hands = ["AE AB AH 9G", "9E 9B 9H UE", "UG OG TH TG", "OH UB KH KG"]
    state = table("kamerun", hands, *ALL_TRICKS)
    assert legal(state) == {"lead AH", "lead 9G"}
    assert advice(state, "DR-H13b") == ["lead 9G"]


def test_h13b_is_silent_once_another_has_a_trick() -> None:
    hands = ["AE TB AH UH", "9E 9B 9H UE", "UG AB TH TG", "OH UB KH KG"]
    played = ["lead AE", "play 9E", "play UG", "play OH", "lead TB", "play 9B", "play AB"]
    state = table("kamerun", hands, *played, "play UB", "lead TG", "play KG")
    assert legal(state) == {"play AH", "play UH"}
    assert advice(state, "DR-H13b") == []


def test_kamerun_gives_away_what_counts() -> None:
    hands = ["KE 9B UB", "TE TB 9G", "KB AG 9H", "UE OB OG"]
    assert choice(table("kamerun", hands, "lead KE", "play TE"), "hints") == "play AG"


# ----------------------------------------------------------------------------------------------
# Strokes

TRICK = ["lead 9E", "play AE"]


def test_h17a_gives_few_points_to_one_who_is_close_to_leaving() -> None:
    hands = ["9E KB", "AE OB", "TB 9G", "UE UH"]
    near = table("deutsch", hands, *TRICK, strokes=[7, 2, 7, 7])
    assert advice(near, "DR-H17a") == ["play 9G"]
    assert advice(near, "DR-H17b") == []


def test_h17b_gives_many_points_to_one_who_is_close_to_losing() -> None:
    hands = ["9E KB", "AE OB", "TB 9G", "UE UH"]
    near = table("kamerun", hands, *TRICK, strokes=[7, 2, 7, 7])
    assert advice(near, "DR-H17b") == ["play TB"]
    assert advice(near, "DR-H17a") == []


def test_h17_is_silent_where_the_trick_can_be_won() -> None:
    hands = ["9E KB", "AE OB", "TH 9H", "UE UH"]
    assert advice(table("deutsch", hands, *TRICK, strokes=[7, 2, 7, 7]), "DR-H17a") == []


@pytest.mark.parametrize(("name", "subgame"), [("DR-H17a", "deutsch"), ("DR-H17b", "kamerun")])
def test_h17_is_silent_while_nobody_is_close(name: str, subgame: str) -> None:
    hands = ["9E KB", "AE OB", "TB 9G", "UE UH"]
    assert advice(table(subgame, hands, *TRICK), name) == []


# ----------------------------------------------------------------------------------------------
# The dealer


def election() -> Any:
    """Return a match in which seat 2 has just lost a phase."""
    more = {"scope": "match", "strokes": [1, 0, 1, 0], "trump": "E"}
    return table("deutsch", ["AE", "", "9E", ""], "lead AE", "play 9E", **more)


def test_h15_elects_the_right_neighbour() -> None:
    assert advice(election(), "DR-H15") == ["dealer 1"]
    assert choice(election(), "hints") == "dealer 1"


def test_h15_counts_the_players_not_the_actions_left() -> None:
    state = election()
    observation, mask = state.observation()[None], state.action_mask()[None]
    mask[0, state.string_to_action("dealer 3")] = 0
    (advised,) = advice_masks(dreeg.book_of("seed"), "DR-H15", observation, mask)
    assert [state.action_to_string(int(action)) for action in advised.nonzero()[0]] == ["dealer 1"]


def test_h15_is_silent_elsewhere() -> None:
    assert advice(table("deutsch", ["AE KE TB", *OTHERS]), "DR-H15") == []


# ----------------------------------------------------------------------------------------------
# The agents


@pytest.mark.parametrize(
    ("called", "sides"), [("UE", [0b001, 0b011, 0b101]), ("TE", [0b101, 0b001, 0b011])]
)
def test_a_side_is_known_as_soon_as_the_called_card_has_fallen(
    called: str, sides: list[int]
) -> None:
    """Seat 0 calls its own card and is alone, or that of seat 2."""
    hands = ["UE 9E 9B 9H", "OE AH AB KH", "TE TB TH TG"]
    state = table("rufen", hands, f"call {called}")
    assert dreeg_worth.own_side(state.observation(1)) == 0b001
    while not state.public()["tricks"].count(1):
        state.apply_action(state.legal_actions()[0])
    assert [dreeg_worth.own_side(state.observation(seat)) for seat in range(3)] == sides


def test_hints_show_a_marriage() -> None:
    assert choice(table("deutsch", ["AB KB OB", *OTHERS]), "hints").startswith("marry")


def test_lowest_plays_its_weakest_card_as_long_as_it_can() -> None:
    first, second = OTHERS[:2]
    assert choice(table("deutsch", ["AB OH KE", first, second, "TG AG 9B"]), "lowest") == "lead OH"
    assert choice(table("deutsch", ["AB 9B TB", first, second, "TG AG UB"]), "lowest") == "lead 9B"
    assert choice(table("ace_of_hearts", ["AH KB OB", *OTHERS]), "lowest") == "trump E"


KINDS = [
    (subgame, num_players)
    for subgame in ("deutsch", "ace_of_hearts", "rufen", "kamerun")
    for num_players in (2, 3, 4)
    if (subgame, num_players) != ("kamerun", 2)
]


@pytest.mark.compiled
@pytest.mark.parametrize(("subgame", "num_players"), KINDS)
def test_hints_beat_chance_and_both_controls_in_every_kind_of_deal(
    subgame: str, num_players: int
) -> None:
    game = cardenvs.load_game("dreeg", scope="deal", subgame=subgame, num_players=num_players)
    players = {name: agents.make(game, name, seed=1) for name in agents.baselines(game)}
    pairs = [("hints", name) for name in ("random", "lowest", "priority")]
    report = evaluate(game, players, pairs, 2_000, progress=False)
    assert all(row.low > 0.0 for row in report.rows)


@pytest.mark.compiled
def test_hints_beat_chance_and_both_controls_in_a_match() -> None:
    game = cardenvs.load_game("dreeg")
    players = {name: agents.make(game, name, seed=1) for name in agents.baselines(game)}
    pairs = [("hints", name) for name in ("random", "lowest", "priority")]
    report = evaluate(game, players, pairs, 100, progress=False)
    assert all(row.low > 0.0 for row in report.rows)


def test_the_hints_without_an_action_are_named() -> None:
    assert [hint.name for hint in dreeg.book_of("seed").silent] == ["DR-H4b", "DR-H16"]
