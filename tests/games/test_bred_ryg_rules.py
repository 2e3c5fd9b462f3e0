"""Bred Ryg, rule by rule: each test is named after a rule of docs/games/bred_ryg.md.

`test_br_t3_...` are the worked examples of the rules, `test_br_3_5_...` tests rule BR-3.5. Tables
are small and hearts are trumps unless a test says otherwise. Every node is asked
(`skip_forced=False`), so that the masks with a single action can be seen.
"""

import random
from typing import Any

import numpy as np
import pytest

import cardenvs
from cardenvs import DealError, IllegalActionError, OptionError
from tests.games.table import (
    State,
    active,
    known,
    legal,
    new_game,
    phase,
    play,
    play_in_both_modes,
    play_out,
)

DECK = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
QUEEN = "QC"
ALL_PASS = "pass*"  # everybody who is still asked to add passes

#: With hearts as trumps, no stock and seat 2 on lead, play goes round for ever: these six leads,
#: none of which can be beaten, bring every card back to where it was.
CYCLE_HANDS = ["TD", "3C 9D 9S", "KS QC"]
CYCLE_LEADS = ["QC", "3C", "QC", "3C", "QC", "3C"]

GAME = "bred_ryg-v0"


def table(*hands: str, stock: str = "", leader: int | None = 0, **more: Any) -> State:
    """Lay out a position; `more` are keys of a deal (`dealer`, `exposed`, `trump`) and options."""
    deal: dict[str, Any] = {"hands": list(hands), "stock": stock}
    deal |= {key: more.pop(key) for key in ("dealer", "exposed", "trump") if key in more}
    if leader is not None:
        deal["leader"] = leader
    if not stock and "exposed" not in deal:
        deal.setdefault("trump", "H")
    return new_game(GAME, num_players=len(hands), **more).new_initial_state(deal=deal)


def roles(state: State) -> tuple[int, int]:
    """Return leader and replier."""
    return state.public()["leader"], state.public()["replier"]


def attack(state: State) -> list[tuple[str, int]]:
    """Return the attack cards, each with the seat that put it down."""
    return [(card, seat) for card, seat in state.public()["attack"]]


def waste(state: State) -> set[str]:
    """Return the waste pile."""
    return set(state.public()["waste"])


def replies(attack_card: str, hand: str, trump: str = "H") -> set[str]:
    """Return what a replier with a hand may answer to a single attack card."""
    return legal(play(table(attack_card, hand, trump=trump), f"lead {attack_card}", ALL_PASS))


def cycle_table(**options: Any) -> State:
    """Lay out the position in which play goes round for ever."""
    return table(*CYCLE_HANDS, leader=2, **options)


def go_round(state: State, num_tricks: int) -> State:
    """Play tricks of the endless cycle."""
    for trick_index in range(num_tricks):
        lead = CYCLE_LEADS[trick_index % len(CYCLE_LEADS)]
        play(state, f"lead {lead}", ALL_PASS, "take")
    return state


# ---- The worked examples -------------------------------------------------------------------------


def test_br_t1_the_card_shown_by_the_cut_makes_trumps():
    """BR-2.2, BR-2.4: Alice (0) deals, Bob (1) shows 4H: hearts are trumps and Bob leads."""
    state = table("2C 3C 4C 5C", "2D 3D 4D 5D", "2S 3S 4S 5S", stock="9C 4H", leader=None)
    public = state.public()
    assert (public["dealer"], public["exposed"], public["trump"]) == (0, "4H", "H")
    assert (state.current_player, public["phase"]) == (1, "lead")


def test_br_t2_roles_rotate_by_one_while_replies_succeed():
    """BR-5.5: leaders Bob, Charlie, Alice; repliers Charlie, Alice, Bob; then Bob leads again."""
    hands = ["3D 2S 9C TC", "2C 3S JC 9D", "3C 2D TD JD"]
    state = table(*hands, stock="4C 5C 6C 7C 8C 4D 4H", leader=None, dealer=0)
    seen = [roles(state)]
    for lead, reply in [("2C", "3C"), ("2D", "3D"), ("2S", "3S")]:
        play(state, f"lead {lead}", "pass")
        assert state.current_player == 3 - sum(seen[-1]), "the observer is asked after the leader"
        play(state, ALL_PASS, f"beat {reply}")
        seen.append(roles(state))
    assert seen == [(1, 2), (2, 0), (0, 1), (1, 2)]


def three_fives() -> State:
    """Two fives of the leader (1) and one of the observer (0) against the replier (2)."""
    hands = ["5D 3C 4C 6C", "5S 5C 9H KD", "TS 2H 2D AS"]
    state = table(*hands, stock="7C 8C 9C TC 4H", leader=1)
    return play(state, "lead 5C", "add 5S", "pass", "pass", "add 5D", "pass")


def test_br_t3_reply_to_three_fives():
    """BR-4.1, BR-4.2: each card is answered in its order, if a card can beat it."""
    state = three_fives()
    assert attack(state) == [("5C", 1), ("5S", 1), ("5D", 0)]
    assert (state.current_player, legal(state)) == (2, {"beat 2H", "take"})
    play(state, "beat 2H")
    assert legal(state) == {"beat TS", "beat AS", "take"}
    play(state, "beat TS")
    assert legal(state) == {"take"}


def test_br_t3_after_the_three_fives():
    """BR-5.2, BR-5.5: replier, leader, observer top up in this order; the observer leads."""
    state = three_fives()
    waste_before = waste(state)
    play(state, "beat 2H", "beat TS", "take")
    assert waste(state) - waste_before == {"5C", "2H", "5S", "TS"}
    assert state.hands()[2] == {"2D", "AS", "5D", "7C"}
    assert state.hands()[1] == {"9H", "KD", "8C", "9C"}
    assert state.hands()[0] == {"3C", "4C", "6C", "TC"}
    assert (state.stock(), roles(state)) == (["4H"], (0, 1))


def test_br_t4_two_fives_allow_an_extra_seven():
    """BR-3.5: two cards of the rank of the leader's own carry one card of another rank."""
    state = table("5S 5C 7C 9H", "2D 3D 4D 6D", "2S 3S 4S 6S", stock="4H")
    play(state, "lead 5C", "add 5S", "pass")
    assert legal(state) == {"extra 7C", "extra 9H", "pass"}
    play(state, "extra 7C")
    assert attack(state) == [("5C", 0), ("5S", 0), ("7C", 0)]


def test_br_t4_an_observers_five_allows_no_extra_card():
    """BR-3.5: the leader's single card does not, and he is not asked again."""
    state = table("5S 2C 7C 9H", "2D 3D 4D 6D", "5C 3S 4S 6S", stock="4H")
    play(state, "lead 5S", "pass")
    assert (state.current_player, legal(state)) == (2, {"add 5C", "pass"})
    play(state, "add 5C", "pass")
    assert (state.current_player, legal(state)) == (1, {"pass"})
    play(state, "pass")
    assert phase(state) == "replying"


def test_br_t5_a_failed_reply_skips_the_replier():
    """BR-5.5: Bob leads, Charlie takes: Alice leads, Bob replies, Charlie observes."""
    state = table("2C 3C 4C 6C", "5S 9H KD 7C", "2S 3S 4S 6S", stock="8C 4H", leader=1)
    play(state, "lead 5S", ALL_PASS, "take")
    assert roles(state) == (0, 1)
    play(state, "lead 2C", "pass")
    assert state.current_player == 2


def test_br_t6_no_added_card_against_a_single_card():
    """BR-3.3: the replier holds one card, so nobody can add to the lead."""
    state = table("5S 5C KD", "2C", "5D 5H 6C 7C")
    play(state, "lead 5C")
    assert (state.current_player, phase(state), legal(state)) == (1, "replying", {"take"})


def test_br_t7_the_replier_sheds_three_cards():
    """BR-3.7: the replier adds a low five and beats it himself, then leads."""
    state = table("5S 2D 3D 4D", "5D 9D KS 2C", stock="6C 7C 8C TC 4H")
    waste_before = waste(state)
    play(state, "lead 5S", "pass")
    assert (state.current_player, legal(state)) == (1, {"add 5D", "pass"})
    play(state, "add 5D", "beat KS", "beat 9D")
    assert waste(state) - waste_before == {"5S", "KS", "5D", "9D"}
    assert state.hands()[1] == {"2C", "6C", "7C", "8C"}
    assert (state.current_player, phase(state)) == (1, "lead")


def test_br_t8_the_replier_keeps_a_card_for_each_attack_card():
    """BR-3.7: with two cards in hand he cannot add one, since two would face one."""
    state = table("5S 2D 3D", "5D 9D")
    play(state, "lead 5S", "pass")
    assert (state.current_player, phase(state), legal(state)) == (1, "replying", {"take"})


def test_br_t9_nothing_beats_the_queen_and_she_beats_nothing():
    """BR-1.3: neither a higher club nor a trump beats her; she does not beat the jack."""
    assert replies("QC", "AC KC AH") == {"take"}
    assert replies("JC", "QC KC") == {"beat KC", "take"}


def test_br_t10_the_queen_is_no_trump_to_beat_with():
    """BR-1.3: with clubs as trumps 3C beats 2D, and the queen still does not."""
    assert replies("2D", "QC 3C", trump="C") == {"beat 3C", "take"}


FOUR_HANDS = ["5S 2C", "6S 3C", "7D 8D", "9C TC"]


@pytest.mark.parametrize(("reply", "leader"), [("beat 6S", 1), ("take", 2)])
def test_br_t11_next_leader_of_four_players(reply, leader):
    """BR-5.5: the replier after a good reply, the player after him after a failed one."""
    state = play(table(*FOUR_HANDS), "lead 5S", ALL_PASS, reply)
    assert (state.current_player, phase(state)) == (leader, "lead")


def test_br_t11_a_player_who_is_out_is_passed_over():
    """BR-5.5: after the failed reply of seat 1 seat 3 leads, as seat 2 is out."""
    state = play(table("5S 2C", "6S 3C", "", "9C TC"), "lead 5S", ALL_PASS, "take")
    assert roles(state) == (3, 0)


def test_br_t12_six_tricks_come_back_to_the_same_position():
    """BR-6.3: with three players play can go round, though each reply is forced."""
    state = cycle_table()
    for lead in CYCLE_LEADS:
        play(state, f"lead {lead}", ALL_PASS)
        assert legal(state) == {"take"}
        play(state, "take")
    assert state.hands() == [set(hand.split()) for hand in CYCLE_HANDS]
    assert (state.current_player, state.public()["no_progress"]) == (2, 6)


def test_br_t12_the_cap_fires_after_the_hundredth_trick():
    """BR-6.3: not after 99 tricks without progress, but after 100."""
    state = go_round(cycle_table(), 99)
    assert not state.is_terminal()
    assert (state.public()["no_progress"], state.public()["tricks"]) == (99, 99)
    play(state, "lead 3C", ALL_PASS, "take")
    assert (state.is_terminal(), state.is_truncated()) == (True, True)


def test_br_t13_between_two_a_failed_reply_leaves_the_leader():
    """BR-5.5: the player after the replier is the leader himself."""
    state = play(table("5S 6S", "2C 3C"), "lead 5S", ALL_PASS, "take")
    assert (state.current_player, roles(state), phase(state)) == (0, (0, 1), "lead")


def test_br_t14_the_last_card_goes_to_the_replier():
    """BR-5.2: one card is left, the replier needs two and the leader one."""
    state = table("5S 2D 3D 6D", "9S 8D 4C", stock="AH")
    play(state, "lead 5S", ALL_PASS, "beat 9S")
    assert state.hands() == [{"2D", "3D", "6D"}, {"8D", "4C", "AH"}]
    assert state.stock() == []


def test_br_t15_a_leader_whose_last_card_is_taken_is_out():
    """BR-5.3, BR-5.5: he is out, and the player after the replier leads."""
    state = play(table("5S", "2C 3C", "4D 6D"), "lead 5S", ALL_PASS, "take")
    assert active(state) == [False, True, True]
    assert roles(state) == (2, 1)


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
def test_br_t16_the_exposed_card_is_drawn_last_and_known(num_players):
    """BR-2.3, BR-7.1: at the bottom it is the last card drawn, and all know who drew it."""
    state = new_game(GAME, num_players=num_players).new_initial_state(seed=16)
    exposed, chooser = state.public()["exposed"], random.Random(16)
    while state.stock():
        assert state.stock()[-1] == exposed
        state.apply_action(chooser.choice(state.legal_actions()))
    owners = [seat for seat in range(num_players) if exposed in state.hands()[seat]]
    assert len(owners) == 1
    assert [seat for seat in range(num_players) if exposed in known(state)[seat]] == owners


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("seed", range(5))
def test_br_t17_no_card_is_lost_and_the_queen_stays_in_play(num_players, seed):
    """BR-1.3: between tricks all 52 cards are there, and the queen is in one hand or the stock."""

    def watch(state: State) -> None:
        if phase(state) == "lead":
            cards = [card for hand in state.hands() for card in hand] + state.stock()
            assert sorted([*cards, *waste(state)]) == sorted(DECK)
            assert cards.count(QUEEN) == 1

    play_out(new_game(GAME, num_players=num_players).new_initial_state(seed=seed), seed, watch)


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("seed", range(5))
def test_br_t17_the_loser_is_left_with_the_queen(num_players, seed):
    """BR-6.1: the one player with cards at the end holds her (also when the cap names him)."""
    state = play_out(new_game(GAME, num_players=num_players).new_initial_state(seed=seed), seed)
    (holder,) = [seat for seat, hand in enumerate(state.hands()) if QUEEN in hand]
    assert list(state.returns()) == [-float(seat == holder) for seat in range(num_players)]


# ---- BR-1 Players and cards ----------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
def test_br_1_1_two_to_six_players(num_players):
    """BR-1.1: a hand and a score for each of them."""
    state = new_game(GAME, num_players=num_players).new_initial_state(seed=1)
    assert len(state.hands()) == len(state.returns()) == num_players


def test_br_1_1_three_players_by_default():
    """BR-1.1: the number for which the game is best."""
    assert len(cardenvs.load_game("bred_ryg-v0").new_initial_state(seed=1).hands()) == 3


def test_br_1_2_cards_are_numbered_by_suit_and_rank():
    """BR-1.2: clubs, diamonds, hearts, spades, each from the two to the ace."""
    state = table("2C QC AC 2D 2H AS", "3C 4C")
    assert legal(state) == {"lead 2C", "lead QC", "lead AC", "lead 2D", "lead 2H", "lead AS"}
    assert state.legal_actions() == [0, 10, 12, 13, 26, 51]


def test_br_1_3_the_queen_may_be_led_and_must_be_taken():
    """BR-1.3: also with clubs as trumps."""
    assert "lead QC" in legal(table("QC 2D", "3C 4C"))
    assert replies("QC", "KC AC", trump="C") == {"take"}


def test_br_1_3_a_queen_of_another_suit_is_an_ordinary_card():
    """BR-1.3: only the queen of clubs is special."""
    assert replies("QS", "KS 2H") == {"beat KS", "beat 2H", "take"}
    assert replies("JS", "QS 2C") == {"beat QS", "take"}


def test_br_1_4_a_plain_card_is_beaten_by_its_suit_or_a_trump():
    """BR-1.4: a higher card of the suit or any trump, but no other suit and nothing lower."""
    assert replies("9S", "8S TS AC AD 2H") == {"beat TS", "beat 2H", "take"}


def test_br_1_4_a_trump_is_beaten_by_a_higher_trump_only():
    """BR-1.4: no plain card beats a trump."""
    assert replies("9H", "8H TH AS AC") == {"beat TH", "take"}


def test_br_1_4_the_ten_ranks_below_the_jack():
    """BR-1.4: the order is 2 to 9, T, J, Q, K, A."""
    assert replies("TS", "9S JS QS KS AS") == {f"beat {rank}S" for rank in "JQKA"} | {"take"}


# ---- BR-2 The deal -------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
def test_br_2_1_four_cards_each_and_the_rest_is_stock(num_players):
    """BR-2.1: all 52 cards are dealt out or in the stock, nobody knows a card of another."""
    state = new_game(GAME, num_players=num_players).new_initial_state(seed=2)
    assert state.public()["hand_sizes"] == [4] * num_players
    assert state.public()["stock_size"] == len(state.stock()) == 52 - 4 * num_players
    assert sorted([*set().union(*state.hands()), *state.stock()]) == sorted(DECK)
    assert known(state) == [set()] * num_players
    assert waste(state) == set()


@pytest.mark.parametrize("exposed_card", ["bottom", "in_place"])
def test_br_2_2_the_exposed_card_names_trumps(exposed_card):
    """BR-2.2: its suit is trumps, and it lies in the stock at its public depth."""
    game = new_game(GAME, num_players=3, exposed_card=exposed_card)
    for seed in range(20):
        state = game.new_initial_state(seed=seed)
        public = state.public()
        assert public["trump"] == public["exposed"][1]
        assert public["exposed_in_stock"] is True
        assert state.stock()[public["exposed_depth"]] == public["exposed"]


def test_br_2_2_the_cut_leaves_a_card_above_and_below():
    """BR-2.2, BR-2.3: in place, the depth takes every value from 1 to S - 2 (S = 28)."""
    game = new_game(GAME, num_players=6, exposed_card="in_place")
    states = [game.new_initial_state(seed=seed) for seed in range(600)]
    assert {state.public()["exposed_depth"] for state in states} == set(range(1, 27))


def test_br_2_3_at_the_bottom_all_other_cards_lie_above():
    """BR-2.3: by default the exposed card is the last of the stock."""
    state = new_game(GAME, num_players=3).new_initial_state(seed=3)
    assert state.stock()[-1] == state.public()["exposed"]
    assert state.public()["exposed_depth"] == 39


def test_br_2_3_in_place_it_is_drawn_in_its_turn():
    """BR-2.3, BR-7.1: one card lies above 4H; the second card drawn is 4H, and all know it."""
    hands = ["5S 2D 3D 6D", "9S 8D 4C 6C"]
    state = table(*hands, stock="7C 4H 8C", exposed="4H", exposed_card="in_place")
    assert (state.public()["trump"], state.public()["exposed_depth"]) == ("H", 1)
    play(state, "lead 5S", ALL_PASS, "beat 9S")
    assert state.hands() == [{"2D", "3D", "6D", "4H"}, {"8D", "4C", "6C", "7C"}]
    assert known(state) == [{"4H"}, set()]
    assert state.public()["exposed_in_stock"] is False
    assert state.public()["exposed_depth"] is None


@pytest.mark.parametrize("num_players", [2, 3, 6])
def test_br_2_4_the_player_left_of_the_dealer_leads(num_players):
    """BR-2.4: whoever deals; and over many seeds everybody is first dealer (BR-6.6)."""
    game = new_game(GAME, num_players=num_players)
    states = [game.new_initial_state(seed=seed) for seed in range(60)]
    dealers = [state.public()["dealer"] for state in states]
    assert [state.current_player for state in states] == [(d + 1) % num_players for d in dealers]
    assert set(dealers) == set(range(num_players))


# ---- BR-3 The trick ------------------------------------------------------------------------------


def test_br_3_1_observers_are_asked_clockwise_from_the_replier():
    """BR-3.1: seat 3 of five leads and seat 4 replies; 0, 1 and 2 observe."""
    state = table("2C 3C", "4C 6C", "7C 8C", "5S 9C", "2D 3D 4D", leader=3)
    asked = []
    play(state, "lead 5S")
    while phase(state) == "adding":
        asked.append(state.current_player)
        play(state, "pass")
    assert (roles(state), asked) == ((3, 4), [3, 0, 1, 2, 4])


def test_br_3_1_players_who_are_out_have_no_role():
    """BR-3.1: the replier is the next player who takes part; there is no observer left."""
    state = table("5S 9C", "", "2D 3D", "")
    assert roles(state) == (0, 2)
    assert active(state) == [True, False, True, False]
    play(state, "lead 5S", "pass")
    assert (state.current_player, phase(state)) == (2, "replying")


def test_br_3_2_any_card_may_be_led_but_one_must_be():
    """BR-3.2: every card of the hand, the queen included, and no pass."""
    assert legal(table("5S QC AH", "2C 3C")) == {"lead 5S", "lead QC", "lead AH"}


def test_br_3_3_the_limit_binds_while_there_is_a_stock():
    """BR-3.3: four fives face four cards, so there is no room for an extra card."""
    state = table("5C 5D 5H 5S KD", "2C 2D 2S 3C", "4C 6C 7C 8C", stock="9C 4H")
    play(state, "lead 5C", "add 5D", "add 5H", "add 5S")
    assert (state.current_player, phase(state)) == (1, "replying")


def test_br_3_3_an_extra_card_takes_the_last_room():
    """BR-3.3: two fives and the extra card fill three places; the observer is not asked."""
    state = table("5C 5S KD 9C", "2C 2D 2S", "5D 6C 7C 8C")
    play(state, "lead 5C", "add 5S", "pass", "extra KD")
    assert (state.current_player, phase(state)) == (1, "replying")


def test_br_3_4_the_leader_adds_cards_of_the_rank_until_he_passes():
    """BR-3.4: only fives; he is asked until he passes."""
    state = table("5C 5D 5S KD", "2C 2D 2S 3C")
    play(state, "lead 5C")
    assert legal(state) == {"add 5D", "add 5S", "pass"}
    play(state, "add 5D")
    assert (state.current_player, legal(state)) == (0, {"add 5S", "pass"})


def test_br_3_4_a_leader_without_cards_is_not_asked():
    """BR-3.4: the lead was his last card."""
    state = play(table("5C", "2C 2D 2S", "3C 4C"), "lead 5C")
    assert state.current_player == 2


def test_br_3_5_the_extra_card_may_be_the_queen():
    """BR-3.5: any card of another rank, the queen included; cards of the rank are no extras."""
    state = table("5D 5S 5C QC 9H", "2C 2D 2S 3C")
    play(state, "lead 5D", "add 5S", "pass")
    assert legal(state) == {"extra QC", "extra 9H", "pass"}


def test_br_3_5_it_is_a_single_card_and_opens_no_rank():
    """BR-3.5: after it the observer is asked, and he can add fives but no sevens."""
    state = table("5C 5S 7C 7H 9H", "2C 2D 2S 3C 3D 3S", "7D 5D 4C 6C")
    play(state, "lead 5C", "add 5S", "pass", "extra 7C")
    assert (state.current_player, legal(state)) == (2, {"add 5D", "pass"})


def test_br_3_5_it_can_be_declined():
    """BR-3.5: a pass gives the right away."""
    state = table("5C 5S 7C 9H", "2C 2D 2S 3C", "7D 5D 4C 6C")
    play(state, "lead 5C", "add 5S", "pass", "pass")
    assert state.current_player == 2
    play(state, ALL_PASS)
    assert attack(state) == [("5C", 0), ("5S", 0)]


def test_br_3_5_it_needs_two_cards_of_the_rank():
    """BR-3.5: a leader who declines to add his second five has no right to it."""
    state = table("5C 5S 7C 9H", "2C 2D 2S 3C", "7D 5D 4C 6C")
    play(state, "lead 5C", "pass")
    assert state.current_player == 2


def test_br_3_5_a_leader_without_cards_is_not_asked_for_it():
    """BR-3.5: both fives were his last cards."""
    state = play(table("5C 5S", "2C 2D 2S 3C", "7D 5D"), "lead 5C", "add 5S")
    assert state.current_player == 2


def test_br_3_5_with_a_third_card_of_the_rank_only_he_may_pass():
    """BR-3.5, BR-3.8: 5C is no extra card after 5D and 5S, but he is asked (BR-7.3)."""
    state = play(table("5D 5S 5C", "2C 2D 2S 3C"), "lead 5D", "add 5S", "pass")
    assert (state.current_player, legal(state)) == (0, {"pass"})


def test_br_3_5_the_rule_can_be_switched_off():
    """BR-3.5: with extra_card=False the observer is asked after the leader's fives."""
    state = table("5C 5S 7C 9H", "2C 2D 2S 3C", "5D 6D", extra_card=False)
    play(state, "lead 5C", "add 5S", "pass")
    assert (state.current_player, legal(state)) == (2, {"add 5D", "pass"})


def test_br_3_6_an_observer_may_add_several_cards():
    """BR-3.6: he is asked until he passes, then the next one is."""
    state = table("5S 2C 3C", "6C 7C 8C 9C", "5C 5D JD", "5H JH JS")
    play(state, "lead 5S", "pass", "add 5C", "add 5D", "pass")
    assert (state.current_player, legal(state)) == (3, {"add 5H", "pass"})
    play(state, "add 5H")
    assert attack(state) == [("5S", 0), ("5C", 2), ("5D", 2), ("5H", 3)]


def test_br_3_6_nobody_is_asked_a_second_time():
    """BR-3.6: seat 2 passed; the five of seat 3 does not bring him back."""
    state = table("5S 2C 3C", "6C 7C 8C 9C", "5C 5D JD", "5H JH JS")
    play(state, "lead 5S", "pass", "pass", "add 5H", "pass")
    assert state.current_player == 1


def test_br_3_6_an_observer_adds_the_queen_to_a_queen():
    """BR-3.6, BR-1.3: she is an added card like any other of her rank."""
    state = play(table("QS 2C", "3C 4C", "QC 5D"), "lead QS", "pass")
    assert (state.current_player, legal(state)) == (2, {"add QC", "pass"})


def test_br_3_7_the_replier_comes_last_and_may_add_the_queen():
    """BR-3.7: legal, if pointless; he must take her himself."""
    state = play(table("QS 2C", "QC KS 2D 3D", "4D 5D"), "lead QS", "pass", "pass")
    assert (state.current_player, legal(state)) == (1, {"add QC", "pass"})
    play(state, "add QC")
    assert attack(state) == [("QS", 0), ("QC", 1)]
    play(state, "beat KS")
    assert legal(state) == {"take"}


def test_br_3_7_the_limit_counts_after_each_added_card():
    """BR-3.7: five cards allow two added fives: three attack cards face three cards."""
    state = table("5S 2C", "5C 5D 5H 9C TC")
    play(state, "lead 5S", "pass", "add 5C")
    assert (state.current_player, legal(state)) == (1, {"add 5D", "add 5H", "pass"})
    play(state, "add 5D")
    assert phase(state) == "replying"


def test_br_3_8_the_leader_enters_cards_in_ascending_order():
    """BR-3.8: after 5D only 5H and 5S can follow, and after 5S nothing."""
    state = play(table("5C 5D 5H 5S", "2C 2D 2S 3C"), "lead 5D")
    assert legal(state) == {"add 5H", "add 5S", "pass"}
    play(state, "add 5S")
    assert legal(state) == {"pass"}


def test_br_3_8_each_player_has_an_order_of_his_own():
    """BR-3.8: after the leader's 5S the observer may add 5C, but not after his own 5D."""
    state = table("5S 2C", "3C 4C 6C 7C", "5C 5D 9D")
    play(state, "lead 5S", "pass")
    assert legal(state) == {"add 5C", "add 5D", "pass"}
    play(state, "add 5D")
    assert (state.current_player, legal(state)) == (2, {"pass"})


def test_br_3_8_the_replier_keeps_the_order_too():
    """BR-3.8: after his 5D he cannot add 5C."""
    state = play(table("5S 2C", "5C 5D 6C 7C 8C 9C"), "lead 5S", "pass", "add 5D")
    assert (state.current_player, legal(state)) == (1, {"pass"})


# ---- BR-4 The reply ------------------------------------------------------------------------------


def test_br_4_1_cards_are_answered_in_the_order_they_came():
    """BR-4.1: lead, added card, extra card, then the observer's and the replier's card."""
    state = table("5C 5S 7D 2D", "5H 6S 6C 8D 9D TD", "5D 3D")
    play(state, "lead 5C", "add 5S", "pass", "extra 7D", "add 5D", "pass")
    play(state, ALL_PASS)
    assert attack(state) == [("5C", 0), ("5S", 0), ("7D", 0), ("5D", 2)]
    assert legal(state) == {"beat 6C", "beat 5H", "take"}
    play(state, "beat 6C")
    assert (state.public()["answered"], legal(state)) == (1, {"beat 6S", "beat 5H", "take"})
    play(state, "take")
    assert legal(state) == {"beat 8D", "beat 9D", "beat TD", "beat 5H", "take"}


def test_br_4_2_both_cards_go_to_the_waste_pile():
    """BR-4.2: the attack card and its answer, at once."""
    state = play(table("5S 2C", "6S 3C"), "lead 5S", ALL_PASS)
    waste_before = waste(state)
    play(state, "beat 6S")
    assert waste(state) - waste_before == {"5S", "6S"}


def test_br_4_2_a_card_answers_only_once():
    """BR-4.2: the trump that has beaten 5C is gone when 5S is answered."""
    state = table("5C 5S", "2H 3D")
    play(state, "lead 5C", "add 5S", ALL_PASS, "beat 2H")
    assert legal(state) == {"take"}


def test_br_4_3_a_card_that_could_be_beaten_may_be_taken():
    """BR-4.3: taking is always allowed."""
    state = play(table("5S 2C", "6S 3C"), "lead 5S", ALL_PASS)
    assert legal(state) == {"beat 6S", "take"}
    play(state, "take")
    assert state.hands()[1] == {"5S", "6S", "3C"}


def test_br_4_3_a_taken_card_beats_nothing_in_this_trick():
    """BR-4.3: the trump 5H was taken; it does not beat 5S."""
    state = play(table("5H 5S 2C", "3C 4C"), "lead 5H", "add 5S", ALL_PASS, "take")
    assert set(state.public()["taken"]) == {"5H"}
    assert legal(state) == {"take"}
    play(state, "take")
    assert state.hands()[1] == {"3C", "4C", "5H", "5S"}


def test_br_4_3_some_cards_may_be_beaten_after_one_was_taken():
    """BR-4.3, BR-5.5: the answers are independent, but the reply has failed."""
    state = table("5C 5S 2C", "6C 6S 9D", "3D 4D")
    play(state, "lead 5C", "add 5S", ALL_PASS, "take", "beat 6S")
    assert state.hands()[1] == {"6C", "9D", "5C"}
    assert state.current_player == 2


# ---- BR-5 After the trick ------------------------------------------------------------------------


def test_br_5_1_taken_cards_are_known_until_they_are_played():
    """BR-5.1: all know the taken 5S in seat 1, and no longer once it is led and beaten."""
    state = table("5S 9D", "2C 3C", "4D 6S 7C")
    play(state, "lead 5S", ALL_PASS, "take", "lead 4D", ALL_PASS, "take")
    assert known(state) == [{"4D"}, {"5S"}, set()]
    play(state, "lead 5S", ALL_PASS, "beat 6S")
    assert known(state) == [{"4D"}, set(), set()]


def test_br_5_1_a_known_card_moves_with_the_take():
    """BR-5.1: it is known in the hand of whoever takes it next."""
    state = go_round(cycle_table(), 3)
    assert known(state) == [set(), {"QC"}, {"3C"}]


def test_br_5_2_each_draws_all_before_the_next_one():
    """BR-5.2: replier (needs 2), leader (needs 2): the replier has the two top cards."""
    state = table("5C 5S 3D 6D", "7C 7S 8D 4C", stock="9C TC JC KC 4H")
    play(state, "lead 5C", "add 5S", ALL_PASS, "beat 7C", "beat 7S")
    assert state.hands() == [{"3D", "6D", "JC", "KC"}, {"8D", "4C", "9C", "TC"}]


def test_br_5_2_observers_draw_clockwise_after_the_leader():
    """BR-5.2: seat 0 leads, seat 1 takes all and needs none; then 0, 2 and 3 draw one each."""
    hands = ["5C 2D 3D 4D", "6C 7C 8C 9C", "5D 6D 7D 8D", "5S 6S 7S 8S"]
    state = table(*hands, stock="TC JC KC 4H")
    play(state, "lead 5C", "pass", "add 5D", "pass", "add 5S", ALL_PASS, "take", "take", "take")
    drawn = [state.hands()[seat] - set(hands[seat].split()) for seat in range(4)]
    assert drawn == [{"TC"}, {"5C", "5D", "5S"}, {"JC"}, {"KC"}]
    assert state.stock() == ["4H"]


def test_br_5_2_a_hand_of_four_or_more_draws_nothing():
    """BR-5.2: the leader had six cards and the replier takes: no card is drawn."""
    state = table("5C 2D 3D 4D 6D 7D", "6C 7C 8C 9C", stock="TC 4H")
    play(state, "lead 5C", ALL_PASS, "take")
    assert (state.public()["hand_sizes"], state.stock()) == ([5, 5], ["TC", "4H"])


def test_br_5_3_nobody_goes_out_while_there_is_a_stock():
    """BR-5.3: the last card of the hand is led, but topping up brings new ones."""
    state = table("5C", "2D 3D", stock="TC JC KC 8C 9C 4H")
    play(state, "lead 5C", ALL_PASS, "take")
    assert active(state) == [True, True]
    assert state.hands()[0] == {"JC", "KC", "8C", "9C"}


def test_br_5_3_nobody_is_out_before_the_trick_is_over():
    """BR-5.3: the leader has played his last card, yet takes part until the reply is given."""
    state = play(table("5S", "2C 3C", "4D 6D"), "lead 5S", ALL_PASS)
    assert active(state) == [True, True, True]


def test_br_5_3_an_observer_goes_out_by_adding():
    """BR-5.3: his added card was his last."""
    state = play(table("5S 2C", "3C 4C", "5D"), "lead 5S", "pass", "add 5D")
    play(state, ALL_PASS, "take", "take")
    assert active(state) == [True, True, False]
    assert state.current_player == 0


def test_br_5_4_a_leader_who_goes_out_leaves_the_replier_as_loser():
    """BR-5.4: two players; the lead was beaten, but the replier still has a card."""
    state = play(table("5S", "6S QC"), "lead 5S", ALL_PASS, "beat 6S")
    assert (state.is_terminal(), state.is_truncated()) == (True, False)
    assert (state.current_player, state.legal_actions()) == (-1, [])
    assert (phase(state), list(state.returns())) == ("over", [0.0, -1.0])


def test_br_5_4_a_replier_who_goes_out_leaves_the_leader_as_loser():
    """BR-5.4: two players; the replier's last card beats the lead."""
    state = play(table("5S QC", "6S"), "lead 5S", "beat 6S")
    assert (state.is_terminal(), list(state.returns())) == (True, [-1.0, 0.0])


def test_br_5_4_the_queen_holds_a_replier_back():
    """BR-5.4: the queen first, then 5S: now the replier keeps a card when the leader is out."""
    state = play(table("5S QC", "6S"), "lead QC", "take", "lead 5S", ALL_PASS, "beat 6S")
    assert (state.is_terminal(), list(state.returns())) == (True, [0.0, -1.0])


def test_br_5_4_two_players_may_go_out_in_one_trick():
    """BR-5.4: leader and replier are out at once; the observer has lost."""
    state = play(table("5S", "6S", "QC KD"), "lead 5S", ALL_PASS, "beat 6S")
    assert (state.is_terminal(), list(state.returns())) == (True, [0.0, 0.0, -1.0])


def test_br_5_4_the_game_goes_on_while_two_have_cards():
    """BR-5.4: one of three is out, the other two play on."""
    state = play(table("5S", "2C 3C", "4D 6D"), "lead 5S", ALL_PASS, "take")
    assert not state.is_terminal()
    assert list(state.returns()) == [0.0, 0.0, 0.0]


def test_br_5_5_a_replier_who_goes_out_passes_the_lead_on():
    """BR-5.5: all was beaten with his last card, so the player after him leads."""
    state = play(table("5S 2C", "6S", "QC KD", "3C 4C"), "lead 5S", ALL_PASS, "beat 6S")
    assert (active(state), roles(state)) == ([True, False, True, True], (2, 3))


def test_br_5_5_one_card_taken_is_a_failed_reply():
    """BR-5.5: two cards beaten and one taken: the replier is skipped."""
    state = table("5C 5S 9D", "6C 6S 2D", "5D 3D")
    play(state, "lead 5C", "add 5S", "pass", "pass", "add 5D", "beat 6C", "beat 6S", "take")
    assert roles(state) == (2, 0)


# ---- BR-6 Score ----------------------------------------------------------------------------------


def test_br_6_1_only_the_loser_scores():
    """BR-6.1: -1 for him and 0 for all others, as float64."""
    state = play(table("5S", "6S", "QC KD"), "lead 5S", ALL_PASS, "beat 6S")
    assert state.returns().dtype == np.float64
    assert list(state.returns()) == [0.0, 0.0, -1.0]


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
def test_br_6_2_the_others_share_a_point(num_players):
    """BR-6.2: -1 for the loser and 1 / (n - 1) for each other player."""
    hands = ["5S", "6S QC", *[""] * (num_players - 2)]
    state = play(table(*hands, reward="zero_sum"), "lead 5S", ALL_PASS, "beat 6S")
    expected = [1 / (num_players - 1)] * num_players
    expected[1] = -1.0
    assert list(state.returns()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("on_cap", "expected"),
    [("queen_holder", [0.5, -1, 0.5]), ("share", [0, 0, 0]), ("draw", [0, 0, 0])],
)
def test_br_6_2_zero_sum_of_a_capped_game(on_cap, expected):
    """BR-6.2: s becomes (n s + 1) / (n - 1), except that a draw stays 0."""
    state = go_round(cycle_table(on_cap=on_cap, reward="zero_sum"), 100)
    assert list(state.returns()) == pytest.approx(expected)


def test_br_6_2_zero_sum_of_a_shared_loss():
    """BR-6.2: two of three share the loss: -1/4 each, and 1/2 for the player who was out."""
    options = {"no_progress_limit": 1, "on_cap": "share", "reward": "zero_sum"}
    state = play(table("5S 6S", "2C QC", "", **options), "lead 5S", ALL_PASS, "take")
    assert list(state.returns()) == pytest.approx([-0.25, -0.25, 0.5])


def test_br_6_3_the_limit_can_be_chosen():
    """BR-6.3: with a limit of 7 the seventh trick without progress is the last."""
    state = go_round(cycle_table(no_progress_limit=7), 6)
    assert not state.is_terminal()
    play(state, "lead QC", ALL_PASS, "take")
    assert (state.is_terminal(), state.is_truncated(), phase(state)) == (True, True, "over")


def test_br_6_3_a_thrown_card_is_progress():
    """BR-6.3: a beaten card starts the count again, though another card was taken."""
    state = play(table("5S 6C 6D 8D", "7C 2D 9S"), "lead 5S", ALL_PASS, "take")
    assert state.public()["no_progress"] == 1
    play(state, "lead 6C", "add 6D", ALL_PASS, "beat 7C", "take")
    assert (active(state), state.public()["no_progress"]) == ([True, True], 0)


def test_br_6_3_a_drawn_card_is_progress():
    """BR-6.3: the card was taken, but the leader drew from the stock."""
    state = table("5S 2D 3D 4D", "6C 7C 8C 9C", stock="TC 4H", no_progress_limit=1)
    play(state, "lead 5S", ALL_PASS, "take")
    assert (state.is_terminal(), state.public()["no_progress"]) == (False, 0)


def test_br_6_3_going_out_is_progress():
    """BR-6.3: nothing was thrown or drawn, but the leader is out."""
    state = table("5S", "2C 3C", "4D 6D", no_progress_limit=1)
    play(state, "lead 5S", ALL_PASS, "take")
    assert (state.is_terminal(), state.public()["no_progress"]) == (False, 0)


def test_br_6_3_a_game_lasts_a_thousand_tricks_at_most():
    """BR-6.3: a card is beaten now and then, so that only the second limit can end the game."""
    state = table(*[" ".join(DECK[seat::3]) for seat in range(3)], no_progress_limit=120)
    while not state.is_terminal():
        is_overdue = state.public()["no_progress"] >= 100
        beating = sorted(text for text in legal(state) if text.startswith("beat"))
        if phase(state) == "replying":
            play(state, beating[0] if is_overdue and beating else "take")
        else:
            play(state, state.action_to_string(state.legal_actions()[0]), ALL_PASS)
    assert state.is_truncated()
    assert (state.public()["tricks"], state.public()["no_progress"] < 120) == (1000, True)


def test_br_6_3_a_game_that_ends_is_not_capped():
    """BR-6.3: the thousandth trick ends the game by BR-5.4, so there is a loser and no cap."""
    state = table("5S QC", "6S", on_cap="draw")
    state._rows["turns"] = 999  # the only way to get here without a thousand tricks
    assert state.public()["tricks"] == 999
    play(state, "lead 5S", "beat 6S")
    assert (state.is_terminal(), state.is_truncated()) == (True, False)
    assert list(state.returns()) == [-1.0, 0.0]


@pytest.mark.parametrize(
    ("on_cap", "expected"),
    [("queen_holder", [0, -1, 0]), ("share", [-1 / 3] * 3), ("draw", [0, 0, 0])],
)
def test_br_6_4_what_the_capped_cycle_scores(on_cap, expected):
    """BR-6.4: after 100 tricks seat 1 has the queen; truncated whatever the option."""
    state = go_round(cycle_table(on_cap=on_cap), 100)
    assert QUEEN in state.hands()[1]
    assert (state.is_terminal(), state.is_truncated()) == (True, True)
    assert list(state.returns()) == pytest.approx(expected)


def test_br_6_4_the_queen_holder_loses_by_default():
    """BR-6.4: stalling does not turn a lost game into a draw."""
    assert list(go_round(cycle_table(), 100).returns()) == [0.0, -1.0, 0.0]


def test_br_6_4_without_the_queen_the_active_players_share():
    """BR-6.4: she is out of play; the two who still have cards share the loss."""
    state = table("5S 6S", "", "2C 3C", no_progress_limit=1, on_cap="queen_holder")
    play(state, "lead 5S", ALL_PASS, "take")
    assert list(state.returns()) == [-0.5, 0.0, -0.5]
    assert state.is_truncated()


def test_br_6_4_a_queen_in_the_stock_is_in_no_hand():
    """BR-6.4: nobody holds her, so the loss is shared."""
    state = table("5C 2D 3D 4D 6D", "6C 7C 8C 9C", stock="QC 4H", no_progress_limit=1)
    play(state, "lead 5C", ALL_PASS, "take")
    assert (state.is_truncated(), list(state.returns())) == (True, [-0.5, -0.5])


def test_br_6_4_players_who_are_out_have_no_share():
    """BR-6.4: with "share" only the three of four who still take part pay."""
    state = table("5S 6S", "2C QC", "", "8D 9D", no_progress_limit=1, on_cap="share")
    play(state, "lead 5S", ALL_PASS, "take")
    assert list(state.returns()) == pytest.approx([-1 / 3, -1 / 3, 0, -1 / 3])


@pytest.mark.parametrize("reward", ["loser", "zero_sum"])
def test_br_6_5_nobody_left_is_a_draw(reward):
    """BR-6.5: both go out at once, which takes a deal without the queen; not truncated."""
    state = play(table("5S", "6S", reward=reward), "lead 5S", "beat 6S")
    assert (state.is_terminal(), state.is_truncated()) == (True, False)
    assert list(state.returns()) == [0.0, 0.0]
    assert active(state) == [False, False]


def test_br_6_6_the_match_goes_on_with_a_shuffled_deal():
    """BR-6.6: after the fixed first game the dealer of that game's left neighbour deals."""
    state = table("5S", "6S", "QC KD", dealer=1, num_games=2)
    play(state, "lead 5S", ALL_PASS, "beat 6S")
    public = state.public()
    assert (state.is_terminal(), list(state.returns())) == (False, [0.0, 0.0, -1.0])
    assert (public["games_played"], public["dealer"], public["tricks"]) == (1, 2, 0)
    assert (public["phase"], roles(state), state.current_player) == ("lead", (0, 1), 0)
    assert (public["hand_sizes"], public["stock_size"], waste(state)) == ([4, 4, 4], 40, set())


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_br_6_6_the_deal_passes_to_the_left(num_players):
    """BR-6.6: over a match of seven games, whoever loses; the player after the dealer leads."""
    starts: dict[int, tuple[int, int]] = {}

    def watch(state: State) -> None:
        if (phase(state), state.public()["tricks"]) == ("lead", 0):
            starts[state.public()["games_played"]] = (state.public()["dealer"], roles(state)[0])

    state = new_game(GAME, num_players=num_players, num_games=7).new_initial_state(seed=5)
    first = state.public()["dealer"]
    play_out(state, 5, watch)
    dealers = [(first + game_index) % num_players for game_index in range(7)]
    assert [starts[game_index][0] for game_index in range(7)] == dealers
    assert [starts[game_index][1] for game_index in range(7)] == [
        (dealer + 1) % num_players for dealer in dealers
    ]


def test_br_6_6_the_scores_of_a_match_are_added_up():
    """BR-6.6: six games, six losses, all whole numbers with the default options."""
    state = play_out(new_game(GAME, num_players=3, num_games=6).new_initial_state(seed=6), 6)
    assert state.public()["games_played"] == 6
    assert state.returns().sum() == -6
    assert all(float(score).is_integer() for score in state.returns())


def test_br_6_6_a_capped_game_does_not_end_the_match():
    """BR-6.6: it scores, the next game is dealt, and the episode ends as truncated."""
    state = go_round(cycle_table(num_games=2), 100)
    assert (state.is_terminal(), state.public()["games_played"]) == (False, 1)
    assert list(state.returns()) == [0.0, -1.0, 0.0]
    assert state.public()["no_progress"] == 0
    play_out(state, 1)
    assert (state.is_truncated(), state.returns().sum()) == (True, -2)


def test_br_6_6_a_draw_adds_nothing_to_a_match():
    """BR-6.6, BR-6.5: the first game is drawn, the second one has a loser."""
    state = play(table("5S", "6S", num_games=2), "lead 5S", "beat 6S")
    assert (state.is_terminal(), list(state.returns())) == (False, [0.0, 0.0])
    assert play_out(state, 2).returns().sum() == -1


# ---- BR-7 What is seen ---------------------------------------------------------------------------


def test_br_7_1_all_see_who_put_down_what():
    """BR-7.1: attack cards with their seats, answers and sizes of the hands."""
    state = three_fives()
    public = state.public()
    assert (public["phase"], public["answered"], set(public["taken"])) == ("replying", 0, set())
    assert (public["hand_sizes"], public["stock_size"]) == ([3, 2, 4], 5)
    play(state, "beat 2H")
    assert (state.public()["answered"], state.public()["hand_sizes"]) == (1, [3, 2, 3])


def test_br_7_2_drawn_cards_are_known_to_nobody_else():
    """BR-7.2: only taken cards and the exposed card are known in a hand."""
    state = play(three_fives(), "beat 2H", "beat TS", "take")
    assert known(state) == [set(), set(), {"5D"}]


def test_br_7_2_the_observation_does_not_depend_on_hidden_cards():
    """BR-7.2: two tables that differ in hands and stock look the same to seat 0."""
    one = table("5S 2C", "3C 4D", "6D QC", stock="7D 8D 9H")
    two = table("5S 2C", "7D QC", "8D 4D", stock="3C 6D 9H")
    assert np.array_equal(one.observation(0), two.observation(0))


def test_br_7_3_others_do_not_see_who_is_asked_to_add():
    """BR-7.3: passes of the leader and an observer change nothing for those not asked."""
    state = play(table("5S 2C", "3C 4C 6C", "7D 8D", "9D TD"), "lead 5S")
    before = state.observation(1)
    play(state, "pass")
    assert (state.current_player, phase(state)) == (2, "adding")
    assert np.array_equal(state.observation(1), before)
    play(state, "pass")
    assert (state.current_player, phase(state)) == (3, "adding")
    assert np.array_equal(state.observation(1), before)


def test_br_7_3_a_right_to_the_extra_card_is_declined_unseen():
    """BR-7.3: replier and observer see nothing of the leader's two passes."""
    state = play(table("5C 5S 9D", "3C 4C 6C", "7D 8D"), "lead 5C", "add 5S")
    before = [state.observation(seat) for seat in (1, 2)]
    play(state, "pass")
    assert np.array_equal([state.observation(seat) for seat in (1, 2)], before)
    play(state, "pass")
    assert np.array_equal(state.observation(1), before[0])


def test_br_7_3_a_player_without_a_fitting_card_is_asked():
    """BR-7.3: leader, observer and replier can only pass, but each of them is asked."""
    state = play(table("5S 2C", "3C 4C 6C", "7D 8D"), "lead 5S")
    asked = []
    while phase(state) == "adding":
        asked.append((state.current_player, legal(state)))
        play(state, "pass")
    assert asked == [(0, {"pass"}), (2, {"pass"}), (1, {"pass"})]


def test_br_7_4_by_default_only_decisions_are_asked():
    """BR-7.4: every node handed out has two actions or more."""
    game = cardenvs.load_game("bred_ryg-v0", num_players=3)
    num_legal: list[int] = []
    play_out(game.new_initial_state(seed=8), 8, lambda s: num_legal.append(len(s.legal_actions())))
    assert min(num_legal) >= 2


@pytest.mark.parametrize("seed", range(5))
def test_br_7_4_both_modes_play_the_same_game(seed):
    """BR-7.4: the decisions of a game with all nodes lead to the same end without forced ones."""
    full, short = play_in_both_modes(GAME, seed, num_players=4)
    assert short.is_terminal()
    assert (short.hands(), short.public()) == (full.hands(), full.public())


def test_br_7_4_the_forced_end_of_a_game_plays_itself():
    """BR-7.4: after the only decision the forced moves run to the end of the game."""
    state = play(table("5S QC", "6S", skip_forced=True), "lead QC")
    assert legal(state) == {"beat 6S", "take"}, "QC is taken and 5S is led without asking"
    assert state.current_player == 1


# ---- Actions -------------------------------------------------------------------------------------


def test_actions_are_the_card_and_one_more():
    """The id is the card whatever is done with it; 52 is `pass` and `take`."""
    state = table("5C 5S QC 9H", "6C 2D 2S 3C")
    assert state.string_to_action("lead 5C") == 3
    play(state, "lead 5C")
    assert (state.string_to_action("add 5S"), state.string_to_action("pass")) == (42, 52)
    play(state, "add 5S", "pass")
    assert state.string_to_action("extra QC") == 10
    play(state, ALL_PASS)
    assert (state.string_to_action("beat 6C"), state.string_to_action("take")) == (4, 52)


@pytest.mark.parametrize("text", ["lead AS", "add 5S", "pass", "take", "beat 9H", "5S", "lead", ""])
def test_an_illegal_text_is_refused_with_the_legal_ones(text):
    """No action is read from a text that is not legal; the error names those that are."""
    state = table("5S 9H", "6C 2D")
    with pytest.raises(IllegalActionError, match=r"lead 9H.*lead 5S"):
        state.string_to_action(text)


@pytest.mark.parametrize("action", [-1, 0, 52, 53, 1000])
def test_an_illegal_action_changes_nothing(action):
    """The error names the legal actions, and the table stays as it was."""
    state = table("5S 9H", "6C 2D")
    hands, public = state.hands(), state.public()
    with pytest.raises(IllegalActionError, match=r"lead 9H.*lead 5S"):
        state.apply_action(action)
    assert (state.hands(), state.public(), state.current_player) == (hands, public, 0)


def test_no_action_is_legal_after_the_end():
    """A finished episode refuses every action."""
    state = play(table("5S QC", "6S"), "lead 5S", "beat 6S")
    with pytest.raises(IllegalActionError):
        state.apply_action(52)


# ---- BR-8 Fixed deals ----------------------------------------------------------------------------


def test_br_8_1_dealer_and_leader_by_default():
    """BR-8.1: seat 0 has dealt and the next player leads."""
    state = table("2C 3C", "4C 5C", "6C 7C", leader=None)
    assert (state.public()["dealer"], roles(state)) == (0, (1, 2))


def test_br_8_1_dealer_and_leader_by_name():
    """BR-8.1: a named leader leads, whoever dealt; without one the next player after the dealer."""
    hands = ["2C 3C", "4C 5C", "6C 7C"]
    named = table(*hands, dealer=1, leader=1)
    assert (named.public()["dealer"], roles(named)) == (1, (1, 2))
    assert roles(table(*hands, dealer=2, leader=None)) == (0, 1)


def test_br_8_1_nobody_tops_up_before_the_first_lead():
    """BR-8.1: short hands stay short until the first trick is over."""
    state = table("2C", "4C 5C", "6C 7C 8C", stock="9C TC JC KC 4H")
    assert (state.public()["hand_sizes"], state.public()["stock_size"]) == ([1, 2, 3], 5)
    play(state, "lead 2C")
    assert (state.public()["hand_sizes"], state.public()["stock_size"]) == ([0, 2, 3], 5)


def test_br_8_1_a_deal_without_a_stock():
    """BR-8.1: leaving it away and leaving it empty mean the same."""
    deal = {"hands": ["2C 3C", "4C 5C"], "trump": "H"}
    state = new_game(GAME, num_players=2).new_initial_state(deal=deal)
    assert (state.stock(), state.public()["stock_size"]) == ([], 0)


@pytest.mark.parametrize("exposed_card", ["bottom", "in_place"])
def test_br_8_1_the_exposed_card_is_the_last_of_the_stock(exposed_card):
    """BR-8.1: in both places, unless the deal names another."""
    state = table("2C 3C", "4C 5C", stock="9C TC 4H", exposed_card=exposed_card)
    assert (state.public()["exposed"], state.public()["exposed_depth"]) == ("4H", 2)


def test_br_8_1_the_stock_is_drawn_as_it_was_given():
    """BR-8.1: its text names the top card first."""
    state = table("5S 2C 3C 4C", "6S 8C 9C JC", stock="TC TD 4H")
    assert state.stock() == ["TC", "TD", "4H"]
    play(state, "lead 5S", ALL_PASS, "beat 6S")
    assert state.hands() == [{"2C", "3C", "4C", "TD"}, {"8C", "9C", "JC", "TC"}]


@pytest.mark.parametrize("exposed_card", ["bottom", "in_place"])
@pytest.mark.parametrize("seed", range(3))
def test_br_8_1_to_deal_gives_the_start_of_the_game(exposed_card, seed):
    """BR-8.1: taken in mid-game, it lays out the first position again."""
    game = new_game(GAME, num_players=4, exposed_card=exposed_card)
    state = game.new_initial_state(seed=seed)
    hands, stock, public = state.hands(), state.stock(), state.public()
    play(state, state.action_to_string(state.legal_actions()[0]), ALL_PASS, "take")
    again = game.new_initial_state(deal=state.to_deal())
    assert (again.hands(), again.stock(), again.public()) == (hands, stock, public)


@pytest.mark.parametrize(
    "deal",
    [
        {"hands": ["2C 3C", "KD"], "stock": "", "trump": "S"},
        {"hands": ["2C 3C", "KD"], "stock": "", "exposed": "3C"},
        {"hands": ["2C 3C", "KD"], "stock": "", "exposed": "9H", "dealer": 1, "leader": 1},
    ],
)
def test_br_8_1_to_deal_keeps_what_a_fixed_deal_said(deal):
    """BR-8.1: trumps without an exposed card, and an exposed card that is in no stock."""
    game = new_game(GAME, num_players=2)
    state = game.new_initial_state(deal=deal)
    again = game.new_initial_state(deal=state.to_deal())
    assert (again.hands(), again.public()) == (state.hands(), state.public())


THREE_HANDS = ["2C 3C", "4C 5C", "6C 7C"]

REFUSED_DEALS = {
    "two hands for three players": ({"hands": ["2C", "3C"], "trump": "H"}, r"2.*3|3.*2"),
    "four hands for three players": ({"hands": ["2C", "3C", "4C", "5C"], "trump": "H"}, "4"),
    "a name that no deal has": ({"hands": THREE_HANDS, "trump": "H", "talon": "9C"}, "talon"),
    "no hands": ({"hands": [], "trump": "H"}, "3"),
    "a card twice in a hand": ({"hands": ["2C 2C", "3C", "4C"], "trump": "H"}, "2C"),
    "a card in two hands": ({"hands": ["2C 9D", "3C", "9D"], "trump": "H"}, "9D"),
    "a card in hand and stock": ({"hands": ["2C 9D", "3C", "4C"], "stock": "9D 4H"}, "9D"),
    "a card twice in the stock": ({"hands": ["2C", "3C", "4C"], "stock": "9D 9D 4H"}, "9D"),
    "an unknown rank": ({"hands": ["1C", "3C", "4C"], "trump": "H"}, "1C"),
    "an unknown suit": ({"hands": ["2C", "3C", "4E"], "trump": "H"}, "4E"),
    "a ten written 10": ({"hands": ["2C", "3C", "10C"], "trump": "H"}, "10C"),
    "an unknown card in the stock": ({"hands": ["2C", "3C", "4C"], "stock": "XX 4H"}, "XX"),
    "a dealer beyond the table": ({"hands": THREE_HANDS, "trump": "H", "dealer": 3}, "dealer"),
    "a negative dealer": ({"hands": THREE_HANDS, "trump": "H", "dealer": -1}, "dealer"),
    "a leader beyond the table": ({"hands": THREE_HANDS, "trump": "H", "leader": 3}, "leader"),
    "a negative leader": ({"hands": THREE_HANDS, "trump": "H", "leader": -1}, "leader"),
    "a leader without cards": ({"hands": ["2C", "", "4C"], "trump": "H", "leader": 1}, "leader|1"),
    "one seat with cards": ({"hands": ["2C 3C", "", ""], "trump": "H"}, "two|2"),
    "no seat with cards": ({"hands": ["", "", ""], "stock": "2C 3C 4H"}, "two|2"),
    "nothing that names trumps": ({"hands": THREE_HANDS}, "trump"),
    "a trump that is no suit": ({"hands": THREE_HANDS, "trump": "E"}, "E"),
    "trump against the stock": ({"hands": THREE_HANDS, "stock": "9C 4H", "trump": "S"}, "trump"),
    "trump against the exposed": ({"hands": THREE_HANDS, "exposed": "4H", "trump": "S"}, "trump"),
    "an unknown exposed card": ({"hands": THREE_HANDS, "exposed": "ZZ"}, "ZZ"),
    "exposed inside the stock": (
        {"hands": THREE_HANDS, "stock": "9C 8H 4H", "exposed": "8H"},
        "8H",
    ),
    "exposed in a hand, with a stock": (
        {"hands": THREE_HANDS, "stock": "9C 4H", "exposed": "4C"},
        "4C",
    ),
    "exposed out of play, with a stock": (
        {"hands": THREE_HANDS, "stock": "9C 4H", "exposed": "KD"},
        "KD",
    ),
}


@pytest.mark.parametrize("reason", REFUSED_DEALS)
def test_br_8_2_a_deal_is_refused(reason):
    """BR-8.2: with an error that says what is wrong."""
    deal, complaint = REFUSED_DEALS[reason]
    with pytest.raises(DealError, match=complaint):
        new_game(GAME, num_players=3).new_initial_state(deal={"stock": ""} | deal)


def test_br_8_2_the_error_names_both_numbers_of_hands():
    """BR-8.2: those given and those wanted."""
    with pytest.raises(DealError) as error:
        new_game(GAME, num_players=6).new_initial_state(
            deal={"hands": ["2C", "3C"], "stock": "", "trump": "H"}
        )
    assert "6" in str(error.value)
    assert "2" in str(error.value)


def test_br_8_3_a_seat_without_cards_is_out_from_the_start():
    """BR-8.3: it has no role and draws nothing, even while there is a stock."""
    state = table("", "5S 6S", "7S 8S", stock="TC JC KC 9C 8C 4H", leader=None, dealer=2)
    assert (active(state), roles(state)) == ([False, True, True], (1, 2))
    play(state, "lead 5S", ALL_PASS, "take")
    assert (active(state), state.public()["hand_sizes"]) == ([False, True, True], [0, 4, 4])


def test_br_8_3_a_seat_without_cards_does_not_lose():
    """BR-8.3: it scores 0 like a player who went out."""
    state = play(table("", "5S", "6S QC", leader=1), "lead 5S", ALL_PASS, "beat 6S")
    assert list(state.returns()) == [0.0, 0.0, -1.0]


def test_br_8_3_cards_left_out_lie_on_the_waste_pile():
    """BR-8.3: everybody knows that they are out of play."""
    state = table("2C 3C", "4C 5C", stock="9C 4H")
    assert waste(state) == set(DECK) - {"2C", "3C", "4C", "5C", "9C", "4H"}


def test_br_8_3_an_exposed_card_in_a_hand_is_known_there():
    """BR-8.3: it names trumps and everybody knows who holds it."""
    state = table("2C 3C", "4C KH", exposed="KH")
    public = state.public()
    assert (public["trump"], public["exposed"], known(state)) == ("H", "KH", [set(), {"KH"}])
    assert (public["exposed_in_stock"], public["exposed_depth"]) == (False, None)


def test_br_8_3_an_exposed_card_out_of_play_names_trumps():
    """BR-8.3: it lies on the waste pile."""
    state = table("2C 3C", "4C KH", exposed="9S")
    public = state.public()
    assert (public["trump"], public["exposed"], known(state)) == ("S", "9S", [set(), set()])
    assert (public["exposed_in_stock"], "9S" in waste(state)) == (False, True)


@pytest.mark.parametrize(("exposed", "owner"), [("5C", 1), ("KH", None)])
def test_br_8_3_in_place_it_may_be_elsewhere_despite_a_stock(exposed, owner):
    """BR-8.3: with "in_place" it may be in a hand or out of play while there is a stock."""
    hands = ["2C 3C", "4C 5C"]
    state = table(*hands, stock="9D 8D", exposed=exposed, exposed_card="in_place")
    assert (state.public()["trump"], state.public()["exposed_in_stock"]) == (exposed[1], False)
    assert known(state) == [{exposed} if seat == owner else set() for seat in range(2)]


def test_br_8_3_a_trump_that_agrees_is_accepted():
    """BR-8.3: it repeats what the exposed card says."""
    state = table("2C 3C", "4C 5C", stock="9D 4H", trump="H")
    assert (state.public()["trump"], state.public()["exposed"]) == ("H", "4H")
    state = table("2C 3C", "4C 5C", exposed="9S", trump="S")
    assert (state.public()["trump"], state.public()["exposed"]) == ("S", "9S")


def test_br_8_3_a_trump_alone_exposes_no_card():
    """BR-8.3: with an empty stock the suit may be all that is known."""
    public = table("2C 3C", "4C 5C", trump="D").public()
    assert (public["trump"], public["exposed"]) == ("D", None)
    assert (public["exposed_in_stock"], public["exposed_depth"]) == (False, None)


# ---- Options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("num_players", 1),
        ("num_players", 7),
        ("num_players", "three"),
        ("exposed_card", "top"),
        ("extra_card", "sometimes"),
        ("reward", "winner"),
        ("num_games", 0),
        ("num_games", 121),
        ("no_progress_limit", 0),
        ("no_progress_limit", 121),
        ("on_cap", "replay"),
        ("skip_forced", "maybe"),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused(option, value):
    """The error names the option and the value."""
    with pytest.raises(OptionError, match=f"(?s)(?=.*{option})(?=.*{value})"):
        cardenvs.load_game("bred_ryg-v0", **{option: value})


def test_an_unknown_option_is_refused():
    """Notes on other variants are no options."""
    with pytest.raises(OptionError, match="queen"):
        cardenvs.load_game("bred_ryg-v0", queen="QS")


@pytest.mark.parametrize(
    ("option", "value"),
    [("num_games", 1), ("num_games", 120), ("no_progress_limit", 1), ("no_progress_limit", 120)],
)
def test_the_ends_of_a_range_are_accepted(option, value):
    """Matches and limits go from 1 to 120."""
    state = new_game(GAME, num_players=3, **{option: value}).new_initial_state(seed=1)
    assert not state.is_terminal()
