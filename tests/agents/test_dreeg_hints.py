"""Each hint of Dreeg speaks where it should, and the agents play by them."""

from __future__ import annotations

from typing import Any

import pytest

import agents
import cardenvs
from agents import dreeg, dreeg_worth
from agents.hints import advice_masks
from cardenvs.core.state import State
from training.evaluate import evaluate

OTHERS = ["9E UE OE", "9G UG OG", "TG KG AG"]
DECK = [rank + suit for suit in "EBHG" for rank in "9UOKTA"]


def position(subgame: str, hands: list[str], *played: str, **more: Any) -> State:
    """Return a table after some actions; seat 0 leads."""
    deal: dict[str, Any] = {"subgame": subgame, "hands": hands, "dealer": len(hands) - 1}
    deal |= {key: more.pop(key) for key in ("talon", "strokes", "trump") if key in more}
    options = {"num_players": len(hands), "scope": "deal", "skip_forced": False} | more
    state = cardenvs.load_game("dreeg-v0", **options).new_initial_state(seed=0, deal=deal)
    for text in played:
        state.apply_action(state.string_to_action(text))
    return state


def two_players(own: str) -> State:
    """Return a table of two in which seat 0 has some cards, hearts are trumps and nothing fell."""
    others = [card for card in DECK if card not in own]
    hands, talon = [own, " ".join(others[:6])], " ".join(others[6:])
    return position("rufen", hands, "trump H", talon=talon)


def legal(state: State) -> set[str]:
    """Return the words for all legal actions."""
    return {state.action_to_string(action) for action in state.legal_actions()}


def advice(name: str, state: State) -> set[str]:
    """Return the words for what a hint advises; nothing where it does not speak."""
    (advised,) = advice_masks(
        dreeg.HINTS, name, state.observation()[None], state.action_mask()[None]
    )
    return {state.action_to_string(int(action)) for action in advised.nonzero()[0]}


def choose(name: str, state: State, **options: Any) -> str:
    """Return the words for what an agent plays."""
    agent = agents.make(state.game, name, 1, **options)
    return state.action_to_string(int(agent.act(state.observation(), state.action_mask())))


# ----------------------------------------------------------------------------------------------
# Rufen


def test_h1_calls_the_highest_trump_that_is_not_held() -> None:
    assert advice("DR-H1", position("rufen", ["AB 9B UH", *OTHERS])) == {"call TB"}
    assert advice("DR-H1", position("rufen", ["AB TB OB", *OTHERS])) == {"call KB"}
    assert choose("hints", position("rufen", ["KB OB TH", *OTHERS])) == "call AB"


def test_h1_is_silent_once_the_call_is_made() -> None:
    assert advice("DR-H1", position("rufen", ["AB 9B UH", *OTHERS], "call TB")) == set()


def test_h2_calls_the_ace_to_a_marriage() -> None:
    assert advice("DR-H2", position("rufen", ["KB OB TH", *OTHERS])) == {"call AB"}


def test_h2_is_silent_without_a_marriage_or_with_its_ace() -> None:
    assert advice("DR-H2", position("rufen", ["KB UB TH", *OTHERS])) == set()
    assert advice("DR-H2", position("rufen", ["KB OB AB", *OTHERS])) == set()


def test_h3_calls_a_card_of_its_own_with_three_very_strong_ones() -> None:
    strong = position("rufen", ["AB KB OB", *OTHERS])
    assert advice("DR-H3", strong) == {"call AB", "call KB", "call OB"}


def test_h3_is_silent_with_weaker_cards() -> None:
    assert advice("DR-H3", position("rufen", ["AB TB UH", *OTHERS])) == set()


# ----------------------------------------------------------------------------------------------
# Ace of Hearts


def test_h4a_surrenders_with_hardly_a_trick() -> None:
    hands = ["AH 9E UB OG 9G UE", "TE KE AE TB KB AB", "OE 9B OB KG TG AG", "9H UH OH KH TH UG"]
    assert advice("DR-H4a", position("ace_of_hearts", hands)) == {"surrender"}


def test_h4a_is_silent_with_a_good_hand() -> None:
    hands = ["AH TH KH OH 9G UE", "TE KE AE TB KB AB", "OE 9B OB KG TG AG", "9H UH 9E UB OG UG"]
    assert advice("DR-H4a", position("ace_of_hearts", hands)) == set()


def test_h5_names_the_suit_of_a_marriage_or_the_longest() -> None:
    for hand, words in (("AH KB OB", "trump B"), ("AH TB KB", "trump B"), ("AH TH KB", "trump H")):
        assert advice("DR-H5", position("ace_of_hearts", [hand, *OTHERS])) == {words}


def test_h5_is_silent_once_trumps_are_named() -> None:
    assert advice("DR-H5", position("ace_of_hearts", ["AH KB OB", *OTHERS], "trump B")) == set()


# ----------------------------------------------------------------------------------------------
# Points


MARRIED = ["AH TH KH OH", "TE KE TB KB"]


def test_h6_goes_out_with_66() -> None:
    played = ["trump H", "marry OH", "play TE", "continue", "lead AH", "play TB"]
    state = position("ace_of_hearts", MARRIED, *played, going_out="manual")
    assert advice("DR-H6", state) == {"out"}
    assert choose("hints", state) == "out"


def test_h6_is_silent_with_less() -> None:
    played = ["trump H", "marry OH", "play TE"]
    state = position("ace_of_hearts", MARRIED, *played, going_out="manual")
    assert advice("DR-H6", state) == set()
    assert choose("hints", state) == "continue"


TALON = "TB TG KB KG OB AH"


def test_h7_keeps_a_marriage_or_shows_it() -> None:
    following = position("deutsch", ["AE 9B UB", "KE OE 9G"], "lead AE", talon=TALON)
    assert advice("DR-H7", following) == {"play 9G"}
    leading = position("deutsch", ["KE OE 9G", "AE 9B UB"], talon=TALON)
    assert advice("DR-H7", leading) == {"marry KE", "marry OE", "lead 9G", "close"}


def test_h7_is_silent_without_a_marriage_and_in_strict_play() -> None:
    single = position("deutsch", ["AE 9B UB", "KE UE 9G"], "lead AE", talon=TALON)
    assert advice("DR-H7", single) == set()
    strict = position("deutsch", ["AB 9E UB", "KE OE 9G"], "lead AB", trump="H")
    assert legal(strict) == {"play KE", "play OE", "play 9G"}
    assert advice("DR-H7", strict) == set()


def test_h11_draws_trumps_with_a_good_plain_card() -> None:
    state = position("deutsch", ["AE AH UB", "9E UE KB", "9G UG OG", "TG KG TH"])
    assert advice("DR-H11", state) == {"lead AH"}


def test_h11_is_silent_without_a_good_plain_card() -> None:
    state = position("deutsch", ["UB AH 9G", "9E UE KB", "TG KG OH", "OG TE TH"])
    assert advice("DR-H11", state) == set()


# ----------------------------------------------------------------------------------------------
# The talon

CERTAIN, LIKELY, WEAK = "AH TH KH OH AE AG", "AH TH KB OB AE AG", "AH TH KB OG 9E 9G"


def test_h8_closes_with_a_hand_that_is_sure_of_66() -> None:
    assert advice("DR-H8", two_players(CERTAIN)) == {"close"}
    assert choose("hints", two_players(CERTAIN)) == "close"


def test_h8_is_silent_with_a_weaker_hand() -> None:
    assert advice("DR-H8", two_players(WEAK)) == set()
    assert choose("hints", two_players(WEAK)).startswith("lead")


def test_h9_does_not_close_while_somebody_has_no_trick() -> None:
    state = two_players(WEAK)
    assert advice("DR-H9", state) == {f"lead {card}" for card in WEAK.split()}


def test_h9_is_silent_with_a_hand_that_is_nearly_certain() -> None:
    assert advice("DR-H9", two_players(CERTAIN)) == set()


def test_h10_swaps_the_nine_at_once() -> None:
    hands, talon = ["AE 9H", "9E UE"], "TB TG KB KG OB AH"
    state = position("deutsch", hands, "lead AE", "play 9E", talon=talon)
    assert advice("DR-H10", state) == {"nine"}
    assert choose("hints", state) == "nine"


def test_h10_is_silent_without_the_nine() -> None:
    hands, talon = ["AE 9B", "9E UE"], "TB TG KB KG OB AH"
    state = position("deutsch", hands, "lead AE", "play 9E", talon=talon)
    assert "close" in legal(state)
    assert advice("DR-H10", state) == set()


# ----------------------------------------------------------------------------------------------
# Kamerun


def test_h12a_keeps_low_cards_in_two_suits() -> None:
    hands = ["KE 9E TB TH", "9B UH AG KG", "TE TG 9G AH", "UE OB OG 9H"]
    assert advice("DR-H12a", position("kamerun", hands, "lead KE")) == {"play AG", "play KG"}


def test_h12a_is_silent_on_lead_and_where_suit_is_followed() -> None:
    hands = ["KE 9E TB TH", "9B UE AE KG", "TE TG 9G AH", "UH OB OG 9H"]
    assert advice("DR-H12a", position("kamerun", hands)) == set()
    assert advice("DR-H12a", position("kamerun", hands, "lead KE")) == set()


def test_h12b_shuns_the_last_trick_but_one_where_points_are_equal() -> None:
    hands = ["9E AB", "UE KB", "TE OB", "AE TB"]
    assert advice("DR-H12b", position("kamerun", hands)) == {"lead 9E"}


def test_h12b_is_silent_earlier() -> None:
    hands = ["9E AB KH", "UE KB 9H", "TE OB UH", "AE TB AH"]
    assert advice("DR-H12b", position("kamerun", hands)) == set()


def test_h14_plays_the_card_least_likely_to_win_with_a_weak_hand() -> None:
    hands = ["9E OB UH", "UE KB 9H", "TE UB TH", "AE TB AH"]
    assert advice("DR-H14", position("kamerun", hands)) == {"lead 9E"}


def test_h14_is_silent_with_a_better_hand() -> None:
    hands = ["9E AB TH", "UE KB 9H", "TE UB UH", "AE TB AH"]
    assert advice("DR-H14", position("kamerun", hands)) == set()


def test_h13a_announces_a_hand_that_wins_everything() -> None:
    others = ["9E UE OE 9H", "9G UG OG UH", "TG KG AG OH"]
    played = ["lead AE", "play OE", "play UH", "play OH"]
    strong = position("kamerun", ["AE TE KE AB", *others], *played)
    assert advice("DR-H13a", strong) == {"durchmarsch"}
    assert choose("hints", strong) == "durchmarsch"


def test_h13a_is_silent_with_a_weaker_hand() -> None:
    others = ["9E UE OE 9H", "9G UG OG UH", "TB KB AB OH"]
    played = ["lead AE", "play OE", "play UH", "play OH"]
    weak = position("kamerun", ["AE 9B UB TE", *others], *played)
    assert "durchmarsch" in legal(weak)
    assert advice("DR-H13a", weak) == set()
    assert choose("hints", weak).startswith("lead")


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
    state = position("kamerun", hands, *ALL_TRICKS)
    assert legal(state) == {"lead AH", "lead 9G"}
    assert advice("DR-H13b", state) == {"lead 9G"}


def test_h13b_is_silent_once_another_has_a_trick() -> None:
    hands = ["AE TB AH UH", "9E 9B 9H UE", "UG AB TH TG", "OH UB KH KG"]
    played = ["lead AE", "play 9E", "play UG", "play OH", "lead TB", "play 9B", "play AB"]
    state = position("kamerun", hands, *played, "play UB", "lead TG", "play KG")
    assert legal(state) == {"play AH", "play UH"}
    assert advice("DR-H13b", state) == set()


def test_kamerun_gives_away_what_counts() -> None:
    hands = ["KE 9B UB", "TE TB 9G", "KB AG 9H", "UE OB OG"]
    assert choose("hints", position("kamerun", hands, "lead KE", "play TE")) == "play AG"


# ----------------------------------------------------------------------------------------------
# Strokes

TRICK = ["lead 9E", "play AE"]


def test_h17a_gives_few_points_to_one_who_is_close_to_leaving() -> None:
    hands = ["9E KB", "AE OB", "TB 9G", "UE UH"]
    near = position("deutsch", hands, *TRICK, strokes=[7, 2, 7, 7])
    assert advice("DR-H17a", near) == {"play 9G"}
    assert advice("DR-H17b", near) == set()


def test_h17b_gives_many_points_to_one_who_is_close_to_losing() -> None:
    hands = ["9E KB", "AE OB", "TB 9G", "UE UH"]
    near = position("kamerun", hands, *TRICK, strokes=[7, 2, 7, 7])
    assert advice("DR-H17b", near) == {"play TB"}
    assert advice("DR-H17a", near) == set()


def test_h17_is_silent_where_the_trick_can_be_won() -> None:
    hands = ["9E KB", "AE OB", "TH 9H", "UE UH"]
    assert advice("DR-H17a", position("deutsch", hands, *TRICK, strokes=[7, 2, 7, 7])) == set()


@pytest.mark.parametrize(("name", "subgame"), [("DR-H17a", "deutsch"), ("DR-H17b", "kamerun")])
def test_h17_is_silent_while_nobody_is_close(name: str, subgame: str) -> None:
    hands = ["9E KB", "AE OB", "TB 9G", "UE UH"]
    assert advice(name, position(subgame, hands, *TRICK)) == set()


# ----------------------------------------------------------------------------------------------
# The dealer


def election() -> State:
    """Return a match in which seat 2 has just lost a phase."""
    more = {"scope": "match", "strokes": [1, 0, 1, 0], "trump": "E"}
    return position("deutsch", ["AE", "", "9E", ""], "lead AE", "play 9E", **more)


def test_h15_elects_the_right_neighbour() -> None:
    assert advice("DR-H15", election()) == {"dealer 1"}
    assert choose("hints", election()) == "dealer 1"


def test_h15_is_silent_elsewhere() -> None:
    assert advice("DR-H15", position("deutsch", ["AE KE TB", *OTHERS])) == set()


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
    state = position("rufen", hands, f"call {called}")
    assert dreeg_worth.own_side(state.observation(1)) == 0b001
    while not state.public()["tricks"].count(1):
        state.apply_action(state.legal_actions()[0])
    assert [dreeg_worth.own_side(state.observation(seat)) for seat in range(3)] == sides


def test_hints_show_a_marriage() -> None:
    assert choose("hints", position("deutsch", ["AB KB OB", *OTHERS])).startswith("marry")


def test_lowest_plays_its_weakest_card_as_long_as_it_can() -> None:
    first, second = OTHERS[:2]
    assert (
        choose("lowest", position("deutsch", ["AB OH KE", first, second, "TG AG 9B"])) == "lead OH"
    )
    assert (
        choose("lowest", position("deutsch", ["AB 9B TB", first, second, "TG AG UB"])) == "lead 9B"
    )
    assert choose("lowest", position("ace_of_hearts", ["AH KB OB", *OTHERS])) == "trump E"


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
    players = {name: agents.make(game, name, seed=1) for name in agents.list(game, fast=True)}
    pairs = [("hints", name) for name in ("random", "lowest", "priority")]
    report = evaluate(game, players, pairs, 2_000, progress=False)
    assert all(row.low > 0.0 for row in report.rows)


@pytest.mark.compiled
def test_hints_beat_chance_and_both_controls_in_a_match() -> None:
    game = cardenvs.load_game("dreeg")
    players = {name: agents.make(game, name, seed=1) for name in agents.list(game, fast=True)}
    pairs = [("hints", name) for name in ("random", "lowest", "priority")]
    report = evaluate(game, players, pairs, 100, progress=False)
    assert all(row.low > 0.0 for row in report.rows)


def test_the_hints_without_an_action_are_named() -> None:
    assert [hint.name for hint in dreeg.HINTS.silent] == ["DR-H4b", "DR-H16"]
