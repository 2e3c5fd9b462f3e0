"""Bräus, rule by rule: each test is named after a rule of docs/games/braus.md.

`test_bz_t3_...` are the worked examples of the rules, `test_bz_3_1_...` tests rule BZ-3.1. Most
hands are short: the cards that stand nowhere are out of play. Every node is asked
(`skip_forced=False`), so that the masks with a single action can be seen.
"""

from typing import Any

import numpy as np
import pytest

import cardenvs
from cardenvs import DealError, IllegalActionError, OptionError
from tests.games.table import State, legal, new_game, phase, play, play_in_both_modes, play_out

GAME = "braus-v0"
DECK = [rank + suit for suit in "CDHS" for rank in "6789TJQKA"]
FROM_THE_TOP = "JC 8S KH 9C 9S 9H 9D AC AS AH AD JS JH JD 6C 6S 6H 6D"
LIVE = FROM_THE_TOP.split()
STRENGTH = {card: 18 - place for place, card in enumerate(LIVE)}
SEVENS = {"7C", "7D", "7H", "7S"}
DUDS = set(DECK) - set(LIVE) - SEVENS
KING = "KC"

#: Nobody has anything to lay or to lead, and everybody a dud.
ALL_DUDS = ["QC", "QD", "QH", "QS"]
EVEN_WIN_1 = [1.0, -1.0, 1.0, -1.0]
ODD_WIN_1 = [-1.0, 1.0, -1.0, 1.0]
EVEN_WIN_2 = [2.0, -2.0, 2.0, -2.0]
NOBODY_WINS = [0.0] * 4


def table(*hands: str, leader: int | None = 0, **more: Any) -> State:
    """Lay out a position; `more` are keys of a deal (`dealer`, `tricks`, `strokes`) and options."""
    deal: dict[str, Any] = {"hands": list(hands)}
    deal |= {key: more.pop(key) for key in ("dealer", "tricks", "strokes") if key in more}
    if leader is not None:
        deal["leader"] = leader
    return new_game(GAME, num_players=len(hands), **more).new_initial_state(deal=deal)


def answers(lead: str, hand: str) -> set[str]:
    """Return the cards with which the second player may answer a lead."""
    state = play(table(lead, hand, "", ""), f"lead {lead}")
    assert (state.current_player, phase(state)) == (1, "follow")
    return {text.removeprefix("play ") for text in legal(state)} - {"pass"}


def others(*cards: str) -> str:
    """Return the rest of the pack."""
    return " ".join(card for card in DECK if card not in cards)


def tricks(state: State) -> list[int]:
    """Return the tricks of both teams."""
    return list(state.public()["tricks"])


def result(state: State) -> tuple[bool, list[float]]:
    """Return whether the episode is over, and the returns."""
    return state.is_terminal(), list(state.returns())


# ---- The worked examples -------------------------------------------------------------------------


def test_bz_t1_the_pack_has_three_kinds_of_cards():
    """BZ-1.2 to BZ-1.5: of all 36 cards 18 may be led and 4 laid, the others are duds."""
    state = table(" ".join(DECK), "", "", "", sevens="optional")
    leads, lays = {f"lead {card}" for card in LIVE}, {f"lay {card}" for card in SEVENS}
    assert legal(state) == leads | lays
    assert (len(leads), len(lays), len(DUDS)) == (18, 4, 14)


@pytest.mark.parametrize("place", range(18))
def test_bz_t2_a_live_card_is_beaten_by_all_above_it(place):
    """BZ-1.3: and by nothing else, whatever the suits are."""
    assert answers(LIVE[place], others(LIVE[place])) == set(LIVE[:place])


def test_bz_t2_any_nine_beats_any_ace():
    """BZ-1.3: the rank comes before the suit: the lowest nine beats the highest ace."""
    assert answers("AC", "9D") == {"9D"}
    assert answers("9D", "AC AS AH AD") == set()


def test_bz_t2_inside_a_rank_clubs_are_above_spades_hearts_and_diamonds():
    """BZ-1.3: 6D is beaten by every other live card, JC by none."""
    assert answers("9H", "9C 9S 9D") == {"9C", "9S"}
    assert answers("6D", others("6D")) == set(LIVE) - {"6D"}
    assert answers("JC", others("JC")) == set()


def test_bz_t3_who_can_beat_must_beat():
    """BZ-4.1, BZ-4.2: any stronger card will do; with none of them only a pass is left."""
    state = play(table("AC", "9D 8S JS 7C QH", "AS JH 7D", ""), "lead AC")
    assert legal(state) == {"play 9D", "play 8S"}
    state = play(table("AC", "AS JH 7D", "", ""), "lead AC")
    assert legal(state) == {"pass"}


def test_bz_t4_the_highest_nine_calls_for_a_matador():
    """BZ-1.3: only the three matadors beat 9C."""
    assert answers("9C", others("9C")) == {"JC", "8S", "KH"}


def test_bz_t5_the_partner_must_be_beaten_too():
    """BZ-4.1: seat 2 has nothing above its partner's KH but JC, and has to play it."""
    state = play(table("KH", "9C", "JC 9S", ""), "lead KH", "pass")
    assert (state.current_player, legal(state)) == (2, {"play JC"})


@pytest.mark.parametrize("num_players", [4, 6])
def test_bz_t6_forehand_lays_two_sevens_and_leads(num_players):
    """BZ-2.2, BZ-3.1: two tricks before the first lead."""
    hands = ["7S 7D 9C 6D KD", *[""] * (num_players - 1)]
    state = table(*hands, leader=None, dealer=num_players - 1)
    assert (state.current_player, tricks(state)) == (0, [2, 0])
    assert (set(state.public()["sevens"]), state.hands()[0]) == ({"7D", "7S"}, {"9C", "6D", "KD"})
    assert (phase(state), legal(state)) == ("lead", {"lead 9C", "lead 6D"})


def test_bz_t7_a_leader_with_duds_only_passes_the_lead_on():
    """BZ-3.3: the left neighbour is on lead, and his sevens are laid."""
    state = table("QC KD", "7H 9C", "6D", "6H")
    assert (legal(state), tricks(state)) == ({"pass"}, [0, 0])
    play(state, "pass")
    assert (state.current_player, tricks(state)) == (1, [0, 1])
    assert (phase(state), legal(state)) == ("lead", {"lead 9C"})


def test_bz_t8_the_sixth_trick_ends_the_deal_amid_the_sevens():
    """BZ-3.1, BZ-5.1: the trick is the fifth, 7C the sixth; 7S stays in the hand."""
    state = table("", "6D", "JC 7C 7S", "", leader=1, tricks=[4, 3])
    play(state, "lead 6D", "play JC", "pass*")
    assert (state.is_terminal(), tricks(state)) == (True, [6, 3])
    assert (state.hands()[2], list(state.returns())) == ({"7S"}, EVEN_WIN_1)


@pytest.mark.parametrize(
    ("score", "holder", "expected"),
    [
        ([5, 4], 2, EVEN_WIN_1),
        ([5, 4], 1, NOBODY_WINS),
        ([5, 4], None, NOBODY_WINS),
        ([4, 5], 3, ODD_WIN_1),
        ([4, 5], 0, NOBODY_WINS),
        ([5, 5], 0, EVEN_WIN_1),
        ([5, 5], 3, ODD_WIN_1),
        ([5, 5], None, NOBODY_WINS),
        ([4, 4], 0, NOBODY_WINS),
    ],
)
def test_bz_t9_when_no_live_card_is_left_the_king_may_decide(score, holder, expected):
    """BZ-5.3, BZ-5.4: KC is a sixth trick for a team that has five."""
    hands = [KING if seat == holder else dud for seat, dud in enumerate(ALL_DUDS)]
    state = play(table(*hands, tricks=score), "pass", "pass", "pass", "pass")
    assert result(state) == (True, expected)
    assert tricks(state) == score


@pytest.mark.parametrize(("holder", "strokes", "dealer"), [(2, [1, 0], 3), (1, [0, 0], 2)])
def test_bz_t9_the_king_and_the_dealer_of_a_match(holder, strokes, dealer):
    """BZ-5.3, BZ-5.4: a stroke and the next dealer, or no stroke and the same dealer."""
    hands = [KING if seat == holder else dud for seat, dud in enumerate(ALL_DUDS)]
    state = table(*hands, tricks=[5, 4], dealer=2, scope="match")
    play(state, "pass", "pass", "pass", "pass")
    assert (state.public()["strokes"], state.public()["dealer"]) == (strokes, dealer)


@pytest.mark.parametrize(("score", "stroke"), [([5, 0], 2.0), ([5, 1], 1.0)])
def test_bz_t10_six_to_nothing_is_worth_two_strokes(score, stroke):
    """BZ-5.1, BZ-5.2: six to one is worth one."""
    state = play(table("JC", "QC", "QD", "QH", tricks=score), "lead JC", "pass*")
    assert result(state) == (True, [stroke, -stroke, stroke, -stroke])


def test_bz_t10_a_jan_at_five_strokes_makes_seven():
    """BZ-5.5: the match is over, and still pays 1."""
    position = {"tricks": [5, 0], "strokes": [5, 3]}
    state = table("JC", "QC", "QD", "QH", scope="match", **position)
    play(state, "lead JC", "pass*")
    assert (state.public()["strokes"], result(state)) == ([7, 3], (True, EVEN_WIN_1))


def test_bz_t11_six_players_hold_six_cards_in_alternating_teams():
    """BZ-1.1, BZ-2.1: seats 0, 2, 4 against 1, 3, 5."""
    state = new_game(GAME, num_players=6).new_initial_state(seed=11)
    held = sum(state.public()["hand_sizes"]) + len(state.public()["sevens"])
    assert held == 36
    state = play(table("6D", "QC", "6H", "", "JC", "", tricks=[5, 1]), "lead 6D", "pass")
    play(state, "play 6H", "pass", "play JC", "pass")
    assert result(state) == (True, [1.0, -1.0, 1.0, -1.0, 1.0, -1.0])


def test_bz_t11_a_trick_of_six_players_asks_everybody_once():
    """BZ-4.1: clockwise from the leader, up to the seat before him."""
    state = play(table("6H", "JD", "", "6D", "6S 6C", "JS 8S", leader=3), "lead 6D")
    asked = []
    while phase(state) == "follow":
        asked.append(state.current_player)
        play(state, sorted(legal(state))[0])
    assert asked == [4, 5, 0, 1, 2]


@pytest.mark.parametrize("num_players", [4, 6])
@pytest.mark.parametrize("sevens", ["forced", "optional"])
@pytest.mark.parametrize("seed", range(5))
def test_bz_t12_a_trick_climbs_and_a_deal_has_eleven_tricks_at_most(num_players, sevens, seed):
    """BZ-4.1, BZ-5.1: each card is stronger than the last; no team gets a seventh trick."""

    def watch(state: State) -> None:
        strengths = [STRENGTH[card] for card, _ in state.public()["trick"]]
        assert strengths == sorted(set(strengths))
        assert max(tricks(state)) <= 5

    game = new_game(GAME, num_players=num_players, sevens=sevens)
    state = play_out(game.new_initial_state(seed=seed), seed, watch)
    assert max(tricks(state)) <= 6
    assert sum(tricks(state)) <= 11


def test_bz_t13_optional_sevens_may_be_laid_or_kept():
    """BZ-3.1: on lead all sevens and all live cards may be chosen."""
    state = table("7S 7D 9C 6D", "QC", "QD", "QH", sevens="optional")
    assert legal(state) == {"lay 7D", "lay 7S", "lead 6D", "lead 9C"}
    assert (phase(state), tricks(state)) == ("lead", [0, 0])


def test_bz_t13_a_seven_must_be_laid_before_the_lead_is_passed_on():
    """BZ-3.1, BZ-3.3: without a live card the seven is no choice."""
    state = table("7S KD", "9C", "QD", "QH", sevens="optional")
    assert legal(state) == {"lay 7S"}
    play(state, "lay 7S")
    assert (state.current_player, legal(state), tricks(state)) == (0, {"pass"}, [1, 0])


def test_bz_t14_with_the_king_at_once_five_tricks_end_the_deal():
    """BZ-5.3: JC makes five, the partner holds KC: one stroke, even at five to nothing."""
    options = {"king_of_clubs": "immediate", "tricks": [4, 0]}
    state = play(table("JC 6D", "QC", KING, "QH", **options), "lead JC", "pass*")
    assert (tricks(state), result(state)) == ([5, 0], (True, EVEN_WIN_1))


def test_bz_t14_with_the_king_on_the_other_side_play_goes_on():
    """BZ-5.2, BZ-5.3: the sixth trick makes jan."""
    options = {"king_of_clubs": "immediate", "tricks": [4, 0]}
    state = play(table("JC 6D", KING, "QD", "QH", **options), "lead JC", "pass*")
    assert (state.is_terminal(), tricks(state), legal(state)) == (False, [5, 0], {"lead 6D"})
    play(state, "lead 6D", "pass*")
    assert result(state) == (True, EVEN_WIN_2)


# ---- BZ-1 Players and cards ----------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [4, 6])
def test_bz_1_1_four_or_six_players(num_players):
    """BZ-1.1: a hand and a score for each of them."""
    state = new_game(GAME, num_players=num_players).new_initial_state(seed=1)
    assert len(state.hands()) == len(state.returns()) == num_players


def test_bz_1_1_four_players_by_default():
    """BZ-1.1: two against two."""
    assert len(cardenvs.load_game(GAME).new_initial_state(seed=1).hands()) == 4


def test_bz_1_1_partners_sit_opposite_and_share_the_tricks():
    """BZ-1.1: a trick of seat 3 counts for seat 1 as well."""
    state = play(table("6D", "", "", "JC", tricks=[2, 5]), "lead 6D", "pass", "pass", "play JC")
    assert (tricks(state), result(state)) == ([2, 6], (True, ODD_WIN_1))


def test_bz_1_2_cards_are_numbered_by_suit_and_rank():
    """BZ-1.2: clubs, diamonds, hearts, spades, each from the six to the ace."""
    state = table("6C JC AC 6D 9H 7S AS", "", "", "", sevens="optional")
    assert state.legal_actions() == [0, 5, 8, 9, 21, 28, 35]


def test_bz_1_3_matadors_are_above_the_nines():
    """BZ-1.3: JC, then 8S, then KH."""
    assert answers("KH", "JC 8S 9C") == {"JC", "8S"}
    assert answers("8S", "JC KH 9C") == {"JC"}


def test_bz_1_3_suits_play_no_part_beyond_the_order():
    """BZ-1.3: there is no suit to follow: a higher card of the suit led is as good as any."""
    assert answers("6H", "AH 6S 9D QH KH") == {"AH", "6S", "9D", "KH"}


@pytest.mark.parametrize("lead", ["6D", "JC"])
def test_bz_1_4_a_seven_beats_nothing(lead):
    """BZ-1.4: it can only be laid by the player on lead."""
    assert answers(lead, "7C 7D 7H 7S") == set()


def test_bz_1_4_nobody_is_asked_to_beat_a_seven():
    """BZ-1.4: after a laid seven the same player is on lead, and no trick is on the table."""
    state = play(table("7D 6D", "JC 7C", "", "", sevens="optional"), "lay 7D")
    assert (state.current_player, phase(state), tricks(state)) == (0, "lead", [1, 0])
    assert (list(state.public()["trick"]), state.public()["best"]) == ([], None)


def test_bz_1_5_duds_are_never_played():
    """BZ-1.5: neither led nor put on a six."""
    assert legal(table(" ".join(sorted(DUDS)), "", "", "")) == {"pass"}
    assert answers("6D", " ".join(sorted(DUDS))) == set()


def test_bz_1_6_the_king_of_clubs_is_a_dud():
    """BZ-1.6: it is neither led nor played."""
    assert legal(table("KC 6D", "", "", "")) == {"lead 6D"}
    assert answers("6D", "KC KS KD KH") == {"KH"}


# ---- BZ-2 The deal -------------------------------------------------------------------------------


@pytest.mark.parametrize(("num_players", "hand_size"), [(4, 9), (6, 6)])
def test_bz_2_1_all_cards_are_dealt(num_players, hand_size):
    """BZ-2.1: nine or six each, and no stock."""
    game = new_game(GAME, num_players=num_players, sevens="optional")
    state = game.new_initial_state(seed=2)
    assert state.public()["hand_sizes"] == [hand_size] * num_players
    assert (sorted(set().union(*state.hands())), state.stock()) == (sorted(DECK), [])
    assert set(state.public()["out"]) == set()


@pytest.mark.parametrize("num_players", [4, 6])
def test_bz_2_2_forehand_is_left_of_the_dealer(num_players):
    """BZ-2.2: whoever deals; over many seeds everybody does."""
    game = new_game(GAME, num_players=num_players)
    states = [game.new_initial_state(seed=seed) for seed in range(60)]
    dealers = [state.public()["dealer"] for state in states]
    assert [state.current_player for state in states] == [(d + 1) % num_players for d in dealers]
    assert set(dealers) == set(range(num_players))


# ---- BZ-3 The lead -------------------------------------------------------------------------------


def test_bz_3_1_sevens_are_laid_without_asking():
    """BZ-3.1: forced sevens are no node, even where every node is asked."""
    state = table("7C 7D 7H 6D", "7S", "", "")
    assert (tricks(state), legal(state)) == ([3, 0], {"lead 6D"})


def test_bz_3_1_forced_sevens_are_laid_from_the_lowest_id():
    """BZ-3.1: clubs and diamonds make six tricks; hearts and spades stay in the hand."""
    state = table("7S 7H 7D 7C", "6D", "", "", tricks=[4, 1])
    assert (tricks(state), state.hands()[0]) == ([6, 1], {"7H", "7S"})
    assert set(state.public()["sevens"]) == {"7C", "7D"}


def test_bz_3_1_the_winner_of_a_trick_lays_his_sevens():
    """BZ-3.1: and then leads."""
    state = play(table("6D", "9C 7H 6H", "", ""), "lead 6D", "play 9C", "pass*")
    assert (state.current_player, tricks(state), legal(state)) == (1, [0, 2], {"lead 6H"})


def test_bz_3_1_only_the_player_on_lead_lays_sevens():
    """BZ-3.1: those of the partner stay in his hand."""
    state = table("7C 6D", "7D", "7H 9C", "7S")
    assert (tricks(state), set(state.public()["sevens"])) == ([1, 0], {"7C"})
    assert state.hands()[2] == {"7H", "9C"}


def test_bz_3_1_optional_sevens_come_in_any_order():
    """BZ-3.1: after 7S the player stays on lead and may lay 7C."""
    state = play(table("7S 7C 6D", "", "", "", sevens="optional"), "lay 7S")
    assert (state.current_player, legal(state)) == (0, {"lay 7C", "lead 6D"})
    play(state, "lay 7C")
    assert (tricks(state), legal(state)) == ([2, 0], {"lead 6D"})


def test_bz_3_1_a_kept_seven_may_be_laid_on_a_later_lead():
    """BZ-3.1: seat 0 leads instead, wins, and may lay it now."""
    state = table("7S 9C 6D", "QC", "", "", sevens="optional")
    play(state, "lead 9C", "pass*")
    assert (state.current_player, legal(state)) == (0, {"lay 7S", "lead 6D"})


def test_bz_3_1_an_optional_seven_can_be_the_sixth_trick():
    """BZ-3.1, BZ-5.1: the deal is over, the second seven stays in the hand."""
    state = table("7S 7C 6D", "", "", "", sevens="optional", tricks=[5, 1])
    play(state, "lay 7S")
    assert (result(state), state.hands()[0]) == ((True, EVEN_WIN_1), {"7C", "6D"})


def test_bz_3_2_any_live_card_may_be_led_but_one_must_be():
    """BZ-3.2: the strongest or the weakest, and no pass."""
    assert legal(table("JC 6D AS QH KC", "", "", "")) == {"lead JC", "lead 6D", "lead AS"}


def test_bz_3_3_the_lead_goes_to_the_left_neighbour():
    """BZ-3.3: an opponent, who may have nothing either."""
    state = play(table("QC", "6D", "QD", "QH", leader=2), "pass")
    assert (state.current_player, state.public()["leader"], legal(state)) == (3, 3, {"pass"})
    play(state, "pass")
    assert (state.current_player, state.public()["lead_passes"]) == (0, 2)


def test_bz_3_3_the_winner_of_a_trick_may_have_nothing_to_lead():
    """BZ-3.3: seat 1 wins with its last live card and passes the lead to seat 2."""
    state = play(table("6D", "9C QC", "6H", "QH"), "lead 6D", "play 9C", "pass*")
    assert (state.current_player, legal(state)) == (1, {"pass"})
    play(state, "pass")
    assert (state.current_player, legal(state)) == (2, {"lead 6H"})


@pytest.mark.parametrize("num_players", [4, 6])
def test_bz_3_4_the_deal_ends_when_the_lead_has_gone_round(num_players):
    """BZ-3.4: as many passes in a row as there are players."""
    duds = ["QC", "QD", "QH", "QS", "TD", "TH"][:num_players]
    state = play(table(*duds, leader=2), *["pass"] * (num_players - 1))
    assert (state.is_terminal(), state.public()["lead_passes"]) == (False, num_players - 1)
    play(state, "pass")
    assert result(state) == (True, [0.0] * num_players)


def test_bz_3_4_sevens_do_not_restart_the_count():
    """BZ-3.4: seat 1 lays one in between; four passes end the deal all the same."""
    state = play(table("QC", "7C", "QH", "QS"), "pass", "pass")
    assert (tricks(state), state.public()["lead_passes"]) == ([0, 1], 2)
    play(state, "pass", "pass")
    assert state.is_terminal()


def test_bz_3_4_a_led_card_restarts_the_count():
    """BZ-3.4: seat 1 leads after a pass, wins, and then four more passes are needed."""
    state = play(table("QC", "6D", "QH", "QS"), "pass", "lead 6D", "pass", "pass", "pass")
    assert (state.current_player, state.public()["lead_passes"]) == (1, 0)
    play(state, "pass", "pass", "pass")
    assert not state.is_terminal()
    play(state, "pass")
    assert (result(state), tricks(state)) == ((True, NOBODY_WINS), [0, 1])


# ---- BZ-4 Following ------------------------------------------------------------------------------


def test_bz_4_1_the_best_card_counts_not_the_lead():
    """BZ-4.1: seat 2 must beat the ace of seat 1; its jack would only beat the lead."""
    state = play(table("6D", "AC", "9H JS", "KH"), "lead 6D", "play AC")
    assert (state.public()["best"], legal(state)) == ("AC", {"play 9H"})
    assert [tuple(played) for played in state.public()["trick"]] == [("6D", 0), ("AC", 1)]


def test_bz_4_1_any_stronger_card_may_be_chosen():
    """BZ-4.1: the cheapest and the dearest alike."""
    assert answers("JS", "AD 9C JC JH") == {"AD", "9C", "JC"}


def test_bz_4_2_a_pass_costs_no_card():
    """BZ-4.2: nothing is discarded."""
    state = play(table("AC", "AS QH 7D", "", ""), "lead AC", "pass")
    assert (state.current_player, state.hands()[1]) == (2, {"AS", "QH", "7D"})


def test_bz_4_2_a_player_without_cards_passes():
    """BZ-4.2: he stays in the deal and is asked like everybody else."""
    state = play(table("6D", "", "", ""), "lead 6D")
    assert (state.current_player, legal(state)) == (1, {"pass"})


def test_bz_4_3_the_strongest_card_wins_for_its_team():
    """BZ-4.3: the trick goes to the odd seats, and seat 3 is on lead."""
    state = table("6D", "JS", "QC", "AC 6H")
    play(state, "lead 6D", "play JS", "pass", "play AC")
    assert (tricks(state), state.current_player, legal(state)) == ([0, 1], 3, {"lead 6H"})
    assert (list(state.public()["trick"]), state.public()["best"]) == ([], None)


def test_bz_4_3_a_trick_may_consist_of_the_lead_alone():
    """BZ-4.3: nobody beats it, and the leader leads again."""
    state = play(table("6H 6D", "QC", "QD", "QH"), "lead 6H", "pass*")
    assert (tricks(state), state.current_player, phase(state)) == ([1, 0], 0, "lead")


# ---- BZ-5 Score ----------------------------------------------------------------------------------


def test_bz_5_1_the_sixth_trick_ends_the_deal_at_once():
    """BZ-5.1: the cards left in the hands are not played."""
    state = play(table("9C 6D", "6H", "QD", "AC", tricks=[5, 5]), "lead 9C", "pass*")
    assert (result(state), phase(state)) == ((True, EVEN_WIN_1), "over")
    assert (state.current_player, state.legal_actions()) == (-1, [])
    assert state.hands() == [{"6D"}, {"6H"}, {"QD"}, {"AC"}]


def test_bz_5_2_jan_by_sevens():
    """BZ-5.2: the tricks of laid sevens count like others."""
    state = table("7S 7C", "JC", "QD", "QH", tricks=[4, 0])
    assert result(state) == (True, EVEN_WIN_2)


def test_bz_5_3_at_exhaustion_the_king_makes_no_jan():
    """BZ-5.3: five to nothing and KC is one stroke."""
    state = play(table(KING, "QD", "QH", "QS", tricks=[5, 0]), "pass*")
    assert (tricks(state), result(state)) == ([5, 0], (True, EVEN_WIN_1))


def test_bz_5_3_by_default_the_king_waits_for_the_end():
    """BZ-5.3: five tricks and KC do not stop a deal in which there is a card to lead."""
    state = table("KC 6D", "QD", "QH", "QS", tricks=[5, 4])
    assert (state.is_terminal(), legal(state)) == (False, {"lead 6D"})


def test_bz_5_3_the_king_does_not_stop_six_tricks_of_the_others():
    """BZ-5.3: by default the even seats hold KC at five, but the odd ones are faster."""
    state = table(KING, "JC", "QD", "QH", leader=1, tricks=[5, 5])
    play(state, "lead JC", "pass*")
    assert result(state) == (True, ODD_WIN_1)


def test_bz_5_3_at_once_means_amid_the_sevens():
    """BZ-5.3: the first seven is the fifth trick; the second one stays in the hand."""
    options = {"king_of_clubs": "immediate", "tricks": [4, 0]}
    state = table("7C 7D 6H", "QC", KING, "QH", **options)
    assert (result(state), tricks(state)) == ((True, EVEN_WIN_1), [5, 0])
    assert state.hands()[0] == {"7D", "6H"}


@pytest.mark.parametrize("score", [[5, 0], [5, 3], [5, 5]])
def test_bz_5_3_at_once_means_from_the_start(score):
    """BZ-5.3: a position with five tricks and KC is over before anybody plays."""
    state = table("6D", "JC", KING, "QH", king_of_clubs="immediate", tricks=score)
    assert (result(state), tricks(state)) == ((True, EVEN_WIN_1), score)


def test_bz_5_3_at_once_holds_for_either_team():
    """BZ-5.3: the odd seats get their fifth trick and hold KC."""
    options = {"king_of_clubs": "immediate", "tricks": [5, 4]}
    state = play(table("6D", "JC", "QD", KING, **options), "lead 6D", "play JC", "pass*")
    assert (result(state), tricks(state)) == ((True, ODD_WIN_1), [5, 5])


def test_bz_5_4_an_undecided_deal_scores_nothing():
    """BZ-5.4: it is over without a winner, but not cut off."""
    state = play(table(*ALL_DUDS, tricks=[3, 5]), "pass*")
    assert result(state) == (True, NOBODY_WINS)
    assert not state.is_truncated()


def test_bz_5_4_the_same_dealer_deals_again():
    """BZ-5.4, BZ-5.5: in a match an undecided deal is followed by a new one."""
    state = table(*ALL_DUDS, scope="match", dealer=2, strokes=[4, 1])
    play(state, "pass", "pass", "pass", "pass")
    public = state.public()
    assert (public["dealer"], public["games_played"]) == (2, 1)
    assert (public["strokes"], public["last_result"]) == ([4, 1], [0, 0])
    assert sum(public["hand_sizes"]) + len(public["sevens"]) == 36


def test_bz_5_5_after_a_scored_deal_the_deal_passes_to_the_left():
    """BZ-5.5: forehand leads to a shuffled deal; nothing of the old one is left but the score."""
    state = table("JC", "QC", "QD", "QH", scope="match", tricks=[5, 1], dealer=2)
    play(state, "lead JC", "pass*")
    public = state.public()
    assert result(state) == (False, NOBODY_WINS)
    assert (public["dealer"], public["games_played"], public["leader"]) == (3, 1, 0)
    assert (public["strokes"], public["last_result"]) == ([1, 0], [1, 0])
    assert (set(public["played"]), set(public["out"]), public["caps"]) == (set(), set(), [18] * 4)


def test_bz_5_5_a_match_ends_at_six_strokes():
    """BZ-5.5: five and one make six."""
    position = {"tricks": [5, 5], "strokes": [2, 5]}
    state = table("QC", "JC", "QD", "QH", leader=1, scope="match", **position)
    play(state, "lead JC", "pass*")
    assert (state.public()["strokes"], result(state)) == ([2, 6], (True, ODD_WIN_1))


@pytest.mark.parametrize("num_players", [4, 6])
@pytest.mark.parametrize("seed", range(3))
def test_bz_5_5_a_match_is_played_to_six_strokes(num_players, seed):
    """BZ-5.5: nothing is paid on the way; the team with six strokes or more gets 1."""

    def watch(state: State) -> None:
        assert max(state.public()["strokes"]) < 6
        assert not state.returns().any()

    game = new_game(GAME, num_players=num_players, scope="match")
    state = play_out(game.new_initial_state(seed=seed), seed, watch)
    strokes = state.public()["strokes"]
    assert max(strokes) in (6, 7)
    winner = strokes.index(max(strokes))
    assert list(state.returns()) == [1.0 if s % 2 == winner else -1.0 for s in range(num_players)]
    assert not state.is_truncated()


@pytest.mark.parametrize("seed", range(3))
def test_bz_5_5_the_dealers_of_a_match(seed):
    """BZ-5.4, BZ-5.5: the next dealer sits to the left after a stroke, else it is the same."""
    seen: dict[int, dict[str, Any]] = {}

    def watch(state: State) -> None:
        seen.setdefault(state.public()["games_played"], state.public())

    play_out(new_game(GAME, scope="match").new_initial_state(seed=seed), seed, watch)
    for number in range(1, len(seen)):
        before, after = seen[number - 1], seen[number]
        gained = [b - a for a, b in zip(before["strokes"], after["strokes"], strict=True)]
        assert gained == after["last_result"]
        assert after["dealer"] == (before["dealer"] + (gained != [0, 0])) % 4


@pytest.mark.parametrize("num_players", [4, 6])
def test_bz_5_6_a_deal_pays_its_strokes_to_every_seat(num_players):
    """BZ-5.6: what the winners have the losers pay, as float64."""
    hands = ["JC", *["QC", "QD", "QH", "QS", "TC"][: num_players - 1]]
    state = play(table(*hands, tricks=[5, 0]), "lead JC", "pass*")
    assert state.returns().dtype == np.float64
    assert list(state.returns()) == [2.0, -2.0] * (num_players // 2)


def test_bz_5_6_nothing_is_paid_before_the_end():
    """BZ-5.6: tricks are no score."""
    state = play(table("9C 6D", "QC", "QD", "QH", tricks=[3, 1]), "lead 9C", "pass*")
    assert result(state) == (False, NOBODY_WINS)


# ---- BZ-6 What is seen ---------------------------------------------------------------------------


def test_bz_6_1_all_see_the_cards_the_tricks_and_the_sizes_of_hands():
    """BZ-6.1: a seven, two cards of a trick, and who has how many cards left."""
    state = play(table("7C 6D QC", "AC QD", "9H", "KH"), "lead 6D", "play AC")
    public = state.public()
    assert (public["phase"], public["leader"], public["best"]) == ("follow", 0, "AC")
    assert (set(public["played"]), set(public["sevens"])) == ({"6D", "AC"}, {"7C"})
    assert (public["hand_sizes"], public["tricks"]) == ([1, 1, 1, 1], [1, 0])


def test_bz_6_2_the_observation_does_not_depend_on_hidden_cards():
    """BZ-6.2: the others' cards are dealt otherwise, and seat 0 sees no difference."""
    one = table("9C 6D", "AC QD", "JS 7H", "KC")
    two = table("9C 6D", "KC 7H", "AC QD", "JS")
    assert np.array_equal(one.observation(0), two.observation(0))


def test_bz_6_2_nobody_sees_that_a_leader_keeps_a_seven():
    """BZ-6.2: with optional sevens neither before nor after the lead."""
    one = table("9C 7S", "AC", "QD", "KC", sevens="optional")
    two = table("9C QD", "AC", "7S", "KC", sevens="optional")
    assert np.array_equal(one.observation(1), two.observation(1))
    play(one, "lead 9C")
    play(two, "lead 9C")
    assert np.array_equal(one.observation(1), two.observation(1))


def test_bz_6_3_a_pass_proves_that_nothing_stronger_is_held():
    """BZ-6.3: seat 1 passes at AC; who has beaten it has proved nothing."""
    state = play(table("AC 6D", "AS QH", "9D", "6H"), "lead AC", "pass", "play 9D", "pass")
    assert state.public()["caps"] == [18, STRENGTH["AC"], 18, STRENGTH["9D"]]


def test_bz_6_3_the_lowest_pass_counts():
    """BZ-6.3: first at 9C, then at 6H, then again at AC."""
    state = table("9C 6H AC", "6D QH", "QD", "QS")
    for lead in ["9C", "6H", "AC"]:
        play(state, f"lead {lead}", "pass", "pass", "pass")
    assert state.public()["caps"] == [18] + [STRENGTH["6H"]] * 3


def test_bz_6_3_a_pass_at_the_highest_card_proves_nothing():
    """BZ-6.3: nobody can beat JC."""
    state = play(table("JC", "8S", "KH", "9C"), "lead JC", "pass", "pass")
    assert state.public()["caps"] == [18] * 4


@pytest.mark.parametrize("sevens", ["forced", "optional"])
def test_bz_6_3_a_pass_on_lead_proves_nothing_but_duds(sevens):
    """BZ-6.3: neither a live card nor a seven."""
    state = play(table("QC", "6D", "QD", "QH", sevens=sevens), "pass")
    assert (state.public()["caps"][0], bool(state.public()["no_seven"][0])) == (0, True)


@pytest.mark.parametrize(("sevens", "is_proved"), [("forced", True), ("optional", False)])
def test_bz_6_3_a_lead_proves_that_no_seven_is_held(sevens, is_proved):
    """BZ-6.3: only where sevens are forced; of those who were not on lead nothing is known."""
    state = play(table("9C", "7C", "QD", "QH", sevens=sevens), "lead 9C")
    assert [bool(proved) for proved in state.public()["no_seven"]] == [is_proved] + [False] * 3


@pytest.mark.parametrize(("king", "is_proved"), [("immediate", True), ("exhaustion", False)])
def test_bz_6_3_play_at_five_tricks_proves_that_the_king_is_elsewhere(king, is_proved):
    """BZ-6.3: only where the king would have ended the deal."""
    state = table("JC 6D", KING, "QD", "QH", king_of_clubs=king, tricks=[4, 0])
    assert [bool(proved) for proved in state.public()["no_king"]] == [False, False]
    play(state, "lead JC", "pass*")
    assert [bool(proved) for proved in state.public()["no_king"]] == [is_proved, False]


def test_bz_6_4_by_default_only_decisions_are_asked():
    """BZ-6.4: every node handed out has two actions or more."""
    num_legal: list[int] = []
    state = cardenvs.load_game(GAME).new_initial_state(seed=8)
    play_out(state, 8, lambda state: num_legal.append(len(state.legal_actions())))
    assert min(num_legal) >= 2


@pytest.mark.parametrize("num_players", [4, 6])
@pytest.mark.parametrize("scope", ["deal", "match"])
@pytest.mark.parametrize("seed", range(3))
def test_bz_6_4_both_modes_play_the_same_game(num_players, scope, seed):
    """BZ-6.4: without forced nodes the same decisions lead to the same end."""
    full, short = play_in_both_modes(GAME, seed, num_players=num_players, scope=scope)
    assert short.is_terminal()
    assert (short.hands(), short.public()) == (full.hands(), full.public())


def test_bz_6_4_the_forced_end_of_a_deal_plays_itself():
    """BZ-6.4: after the only decision all passes and the last trick run by themselves."""
    state = table("9C 6D", "AC", "QD", "QH", tricks=[4, 1], skip_forced=True)
    assert legal(state) == {"lead 9C", "lead 6D"}
    play(state, "lead 9C")
    assert (state.is_terminal(), tricks(state)) == (True, [5, 2])


# ---- Actions -------------------------------------------------------------------------------------


def test_actions_are_the_card_and_the_pass():
    """The id is the card whatever is done with it; 36 is `pass`."""
    state = table("JC 7S", "9H", "8S", "", sevens="optional")
    assert (state.string_to_action("lead JC"), state.string_to_action("lay 7S")) == (5, 28)
    play(state, "lead JC")
    assert state.string_to_action("pass") == 36
    state = play(table("6D", "9H", "", ""), "lead 6D")
    assert state.string_to_action("play 9H") == 21


@pytest.mark.parametrize("text", ["lead 9H", "play 6D", "pass", "lay 7S", "6D", "lead", ""])
def test_an_illegal_text_is_refused_with_the_legal_ones(text):
    """No action is read from a text that is not legal; the error names those that are."""
    state = table("6D AC", "9H", "", "")
    with pytest.raises(IllegalActionError, match=r"lead AC.*lead 6D|lead 6D.*lead AC"):
        state.string_to_action(text)


@pytest.mark.parametrize("action", [-1, 0, 36, 37, 1000])
def test_an_illegal_action_changes_nothing(action):
    """The error names the legal actions, and the table stays as it was."""
    state = table("6D AC", "9H", "", "")
    hands, public = state.hands(), state.public()
    with pytest.raises(IllegalActionError, match="lead AC"):
        state.apply_action(action)
    assert (state.hands(), state.public(), state.current_player) == (hands, public, 0)


def test_no_action_is_legal_after_the_end():
    """A finished episode refuses every action."""
    state = play(table("JC", "QC", "QD", "QH", tricks=[5, 1]), "lead JC", "pass*")
    with pytest.raises(IllegalActionError):
        state.apply_action(36)


# ---- BZ-7 Fixed deals ----------------------------------------------------------------------------


def test_bz_7_1_dealer_and_leader_by_default():
    """BZ-7.1: seat 0 has dealt and forehand leads."""
    state = table("6D", "6H", "QC", "QD", leader=None)
    assert (state.public()["dealer"], state.current_player) == (0, 1)


def test_bz_7_1_dealer_and_leader_by_name():
    """BZ-7.1: a named leader leads, whoever dealt; without one forehand does."""
    hands = ["6D", "6H", "6S", "6C"]
    named = table(*hands, dealer=1, leader=1)
    assert (named.public()["dealer"], named.current_player) == (1, 1)
    assert table(*hands, dealer=3, leader=None).current_player == 0


def test_bz_7_1_tricks_and_strokes_may_be_given():
    """BZ-7.1: those of the even seats first; strokes for a match only."""
    state = table("6D", "6H", "QC", "QD", tricks=[4, 5], strokes=[5, 2], scope="match")
    assert (tricks(state), state.public()["strokes"]) == ([4, 5], [5, 2])
    assert tricks(table("6D", "6H", "QC", "QD")) == [0, 0]


def test_bz_7_1_a_position_starts_with_an_empty_table():
    """BZ-7.1: on lead, nothing played and nothing proved."""
    public = table("6D", "6H", "QC", "QD").public()
    assert (public["phase"], list(public["trick"]), public["best"]) == ("lead", [], None)
    assert (set(public["played"]), public["caps"], public["lead_passes"]) == (set(), [18] * 4, 0)


@pytest.mark.parametrize("num_players", [4, 6])
@pytest.mark.parametrize("seed", range(3))
def test_bz_7_1_to_deal_gives_the_start_of_the_deal(num_players, seed):
    """BZ-7.1: taken in mid-deal, it lays out the first position again."""
    game = new_game(GAME, num_players=num_players)
    state = game.new_initial_state(seed=seed)
    hands, public = state.hands(), state.public()
    for _ in range(3):
        play(state, sorted(legal(state))[0])
    again = game.new_initial_state(deal=state.to_deal())
    assert (again.hands(), again.public()) == (hands, public)


def test_bz_7_1_to_deal_keeps_tricks_and_strokes():
    """BZ-7.1: and the cards that were left out."""
    game = new_game(GAME, scope="match")
    deal = {"hands": ["6D", "6H", "QC", "QD"], "leader": 3, "dealer": 1}
    state = game.new_initial_state(deal=deal | {"tricks": [2, 1], "strokes": [0, 4]})
    again = game.new_initial_state(deal=state.to_deal())
    assert (again.hands(), again.public()) == (state.hands(), state.public())


HANDS = ["6D", "6H", "QC", "QD"]

REFUSED_DEALS = {
    "two hands for four players": ({"hands": ["6D", "6H"]}, r"2.*4|4.*2"),
    "six hands for four players": ({"hands": [*HANDS, "QH", "QS"]}, "6"),
    "no hands": ({"hands": []}, "4"),
    "a name that no deal has": ({"hands": HANDS, "talon": "9C"}, "talon"),
    "a stock": ({"hands": HANDS, "stock": "9C"}, "stock"),
    "a trump": ({"hands": HANDS, "trump": "H"}, "trump"),
    "a card twice in a hand": ({"hands": ["6D 6D", "6H", "QC", "QD"]}, "6D"),
    "a card in two hands": ({"hands": ["6D", "6H", "QC 9S", "9S"]}, "9S"),
    "a rank below the pack": ({"hands": ["5D", "6H", "QC", "QD"]}, "5D"),
    "an unknown suit": ({"hands": ["6E", "6H", "QC", "QD"]}, "6E"),
    "a ten written 10": ({"hands": ["10D", "6H", "QC", "QD"]}, "10D"),
    "a dealer beyond the table": ({"hands": HANDS, "dealer": 4}, "dealer"),
    "a negative dealer": ({"hands": HANDS, "dealer": -1}, "dealer"),
    "a leader beyond the table": ({"hands": HANDS, "leader": 4}, "leader"),
    "a negative leader": ({"hands": HANDS, "leader": -1}, "leader"),
    "six tricks": ({"hands": HANDS, "tricks": [6, 0]}, "tricks"),
    "fewer than no tricks": ({"hands": HANDS, "tricks": [0, -1]}, "tricks"),
    "tricks of one team": ({"hands": HANDS, "tricks": [3]}, "tricks"),
    "tricks of every seat": ({"hands": HANDS, "tricks": [1, 0, 1, 0]}, "tricks"),
    "tricks that are no numbers": ({"hands": HANDS, "tricks": "45"}, "tricks"),
    "half a trick": ({"hands": HANDS, "tricks": [0.5, 1]}, "tricks"),
    "strokes without a match": ({"hands": HANDS, "strokes": [1, 0]}, "strokes"),
}


@pytest.mark.parametrize("reason", REFUSED_DEALS)
def test_bz_7_2_a_deal_is_refused(reason):
    """BZ-7.2: with an error that says what is wrong."""
    deal, complaint = REFUSED_DEALS[reason]
    with pytest.raises(DealError, match=complaint):
        new_game(GAME).new_initial_state(deal=deal)


@pytest.mark.parametrize("strokes", [[6, 0], [0, -1], [1], [1, 2, 3], "12", [0.5, 1]])
def test_bz_7_2_strokes_of_a_match_that_is_over_are_refused(strokes):
    """BZ-7.2: two numbers from 0 to 5."""
    with pytest.raises(DealError, match="strokes"):
        table(*HANDS, scope="match", strokes=strokes)


def test_bz_7_2_the_error_names_both_numbers_of_hands():
    """BZ-7.2: those given and those wanted."""
    with pytest.raises(DealError) as error:
        new_game(GAME, num_players=6).new_initial_state(deal={"hands": HANDS})
    assert "6" in str(error.value)
    assert "4" in str(error.value)


def test_bz_7_3_cards_left_out_are_known_to_be_out():
    """BZ-7.3: live cards, sevens and duds alike."""
    state = table("6D", "6H", "QC", "QD")
    assert set(state.public()["out"]) == set(DECK) - {"6D", "6H", "QC", "QD"}
    play(state, "lead 6D")
    assert set(state.public()["played"]) == {"6D"}
    assert set(state.public()["out"]) == set(DECK) - {"6D", "6H", "QC", "QD"}


def test_bz_7_3_a_seat_without_cards_takes_part():
    """BZ-7.3: as a leader, named or not, it passes the lead on."""
    state = table("", "6H", "QC", "QD", leader=0)
    assert (state.current_player, legal(state)) == (0, {"pass"})
    play(state, "pass")
    assert state.current_player == 1


def test_bz_7_3_a_position_may_be_over_from_the_start():
    """BZ-7.3: a forced seven is the sixth trick."""
    state = table("7C 6D", "6H", "QC", "QD", tricks=[5, 2])
    assert (result(state), tricks(state), state.current_player) == ((True, EVEN_WIN_1), [6, 2], -1)


@pytest.mark.parametrize(("dud", "expected"), [(KING, EVEN_WIN_1), ("KD", NOBODY_WINS)])
def test_bz_7_3_a_position_may_hold_no_decision(dud, expected):
    """BZ-7.3: where forced nodes are skipped it is over at once, and scored."""
    state = table(dud, "", "QC", "", tricks=[5, 2], skip_forced=True)
    assert result(state) == (True, expected)


def test_bz_7_3_a_match_goes_on_after_a_position_without_a_decision():
    """BZ-7.3: only its first deal was over from the start."""
    state = table("7C 6D", "6H", "QC", "QD", tricks=[5, 2], scope="match", skip_forced=True)
    public = state.public()
    assert (result(state), public["games_played"]) == ((False, NOBODY_WINS), 1)
    assert (public["strokes"], public["dealer"]) == ([1, 0], 1)


# ---- Options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("num_players", 2),
        ("num_players", 5),
        ("num_players", 8),
        ("num_players", "four"),
        ("scope", "game"),
        ("sevens", "never"),
        ("king_of_clubs", "always"),
        ("skip_forced", "maybe"),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused(option, value):
    """The error names the option and the value."""
    with pytest.raises(OptionError, match=f"(?s)(?=.*{option})(?=.*{value})"):
        cardenvs.load_game(GAME, **{option: value})


def test_an_unknown_option_is_refused():
    """Notes on other variants are no options."""
    with pytest.raises(OptionError, match="matadors"):
        cardenvs.load_game(GAME, matadors="bruus")
