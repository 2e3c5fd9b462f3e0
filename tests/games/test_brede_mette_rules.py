"""Brede Mette, rule by rule: each test is named after a rule of docs/games/brede_mette.md.

`test_bm_t3_...` are the worked examples of the rules, `test_bm_5_3_...` tests rule BM-5.3. Tables
are small; where there is no stock, spades are trumps unless a test says otherwise. Every node is
asked (`skip_forced=False`), so that the masks with a single action can be seen.
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

GAME = "brede_mette-v0"
DECK = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
QUEEN = "QD"

#: With spades as trumps, no stock and seat 0 on lead, play goes round for ever: two turns bring
#: every card back to where it was.
CYCLE_HANDS = ["KS QS", "3H JC QC QD"]


def table(*hands: str, stock: str = "", leader: int | None = 0, **more: Any) -> State:
    """Lay out a position; `more` are keys of a deal (`dealer`, `exposed`, `trump`) and options."""
    deal: dict[str, Any] = {"hands": list(hands), "stock": stock}
    deal |= {key: more.pop(key) for key in ("dealer", "exposed", "trump") if key in more}
    if leader is not None:
        deal["leader"] = leader
    if not stock and "exposed" not in deal:
        deal.setdefault("trump", "S")
    return new_game(GAME, num_players=len(hands), **more).new_initial_state(deal=deal)


def replies(attack_card: str, hand: str, trump: str = "S", **options: Any) -> set[str]:
    """Return what a defender with a hand may do about a single attack card, without a stock."""
    used = {attack_card, *hand.split()}
    rest = next(card for card in DECK if card not in used and card[0] != attack_card[0])
    state = table(f"{attack_card} {rest}", hand, trump=trump, **options)
    return legal(play(state, f"lead {attack_card}"))


def roles(state: State) -> tuple[int, int]:
    """Return the present attacker and defender."""
    return state.public()["attacker"], state.public()["defender"]


def attack(state: State) -> list[tuple[str, int]]:
    """Return the attack cards, each with the seat that put it down."""
    return [(card, seat) for card, seat in state.public()["attack"]]


def waste(state: State) -> set[str]:
    """Return the cards that have left the game."""
    return set(state.public()["waste"])


def on_lead(state: State) -> int:
    """Return the player on lead, who must be asked now."""
    assert phase(state) == "lead"
    assert state.public()["leader"] == state.current_player
    return state.current_player


def proofs(state: State, name: str) -> list[set[str]]:
    """Return for each seat the ranks or the attack cards of which a proof is in force."""
    return [set(entries) for entries in state.public()[name]]


def go_round(state: State, num_turns: int) -> State:
    """Play turns of the endless cycle."""
    for turn in range(num_turns):
        play(state, "lead QD" if turn % 2 else "lead QS", "pass QC", "take")
    return state


# ---- The worked examples -------------------------------------------------------------------------


def two_fives(*, adder: str = "6D 7D 8D", defender: str = "5D 2C 3C") -> State:
    """First hand (0) has led 5C and 5H; second hand is seat 1, third hand seat 2."""
    state = table("5C 5H 9D", defender, adder, stock="9C AC JC KC 8C 7C 4S")
    return play(state, "lead 5C", "add 5H")


def test_bm_t1_a_third_five_hands_the_pile_back():
    """BM-5.3: first hand has to defend against all three."""
    state = play(two_fives(), "stop")
    assert (state.current_player, "pass 5D" in legal(state)) == (1, True)
    play(state, "pass 5D")
    assert attack(state) == [("5C", 0), ("5D", 1), ("5H", 0)]
    assert (state.current_player, roles(state)) == (0, (1, 0))


def test_bm_t2_third_hand_adds_before_second_hand_acts():
    """BM-4.3, BM-3.1: and draws a card at once."""
    state = two_fives(adder="5S 7D 8D")
    assert (state.current_player, legal(state)) == (2, {"add 5S", "stop"})
    play(state, "add 5S")
    assert attack(state) == [("5C", 0), ("5H", 0), ("5S", 2)]
    assert state.hands()[2] == {"7D", "8D", "JC"}


def test_bm_t3_second_hand_sheds_a_five_of_its_own():
    """BM-5.2, BM-5.5: six cards leave the game, and second hand leads."""
    state = play(two_fives(defender="5D 8D 9H TC 2S", adder="6D 7D JD"), "stop")
    waste_before = waste(state)
    play(state, "add 5D", "beat 5D with 8D", "beat 5H with 9H", "beat 5C with TC")
    assert "done" in legal(state)
    play(state, "done")
    assert waste(state) - waste_before == {"5C", "5H", "5D", "8D", "9H", "TC"}
    assert on_lead(state) == 1


def kings_for_trumps() -> State:
    """Seat 1 has beaten QH and QS with the trumps 2C and JC and drawn KH and KS."""
    state = table("QH QS 2D 3D 4D", "2C JC 6D", stock="KH KS 3C")
    return play(state, "lead QH", "add QS", "beat QH with 2C", "beat QS with JC")


def test_bm_t4_trumps_come_back_for_the_kings():
    """BM-5.4: with clubs as trumps, each of two trumps is exchanged for a king."""
    state = kings_for_trumps()
    assert legal(state) == {"exchange QH with KH", "exchange QS with KS", "done"}
    play(state, "exchange QH with KH", "exchange QS with KS")
    assert state.public()["beaten_by"] == {"QH": "KH", "QS": "KS"}
    assert state.hands()[1] == {"6D", "2C", "JC"}
    play(state, "done")
    assert on_lead(state) == 1


@pytest.mark.parametrize("trump", ["S", "D"])
def test_bm_t5_the_red_queen_is_taken_or_passed_on(trump):
    """BM-1.3: neither the ace nor trumps help; another queen passes her on, and must."""
    assert replies("QD", "AD KD AS 2S", trump) == {"take"}
    assert replies("QD", "QS AD", trump) == {"pass QS"}


def test_bm_t6_a_trump_must_be_overtrumped():
    """BM-1.4: neither a lower trump nor a plain ace beats it."""
    assert replies("7C", "6C AH", trump="C") == {"take"}
    assert replies("7C", "8C AH", trump="C") == {"beat 7C with 8C"}


def test_bm_t7_who_can_beat_all_must_not_take():
    """BM-5.6: unless picking up is free."""
    assert replies("5H", "6H 2C") == {"beat 5H with 6H"}
    assert replies("5H", "6H 2C", pickup="free") == {"beat 5H with 6H", "take"}


def test_bm_t8_the_last_card_of_the_stock():
    """BM-3.1: the leader draws it, and later nobody draws any more."""
    state = play(table("5H 2D 3D", "6H 7D 8D", stock="4S"), "lead 5H")
    assert (state.hands()[0], state.stock()) == ({"2D", "3D", "4S"}, [])
    play(state, "beat 5H with 6H", "done", "lead 7D")
    assert state.public()["hand_sizes"] == [3, 1]


def test_bm_t9_of_two_players_the_first_without_cards_wins():
    """BM-3.2, BM-6.1: the lead is not even answered; the card goes to the loser."""
    state = play(table("5H", "6H QD"), "lead 5H")
    assert (state.is_terminal(), state.is_truncated()) == (True, False)
    assert list(state.returns()) == [0.0, -1.0]
    assert state.hands() == [set(), {"6H", "QD", "5H"}]


def test_bm_t10_two_turns_come_back_to_the_same_position():
    """BM-6.3: each takes what was passed back to him."""
    state = table(*CYCLE_HANDS)
    play(state, "lead QS")
    assert legal(state) == {"add QC", "pass QC", "pass QD"}
    play(state, "pass QC")
    assert legal(state) == {"take"}
    play(state, "take", "lead QD", "pass QC")
    assert (state.current_player, legal(state)) == (1, {"take"})
    play(state, "take")
    assert (on_lead(state), state.hands()) == (0, [set(hand.split()) for hand in CYCLE_HANDS])
    assert state.public()["no_progress"] == 2


def test_bm_t10_the_cap_fires_after_the_hundredth_turn():
    """BM-6.3: not after 99 turns without progress, but after 100."""
    state = go_round(table(*CYCLE_HANDS), 99)
    assert not state.is_terminal()
    assert (state.public()["no_progress"], state.public()["turns"]) == (99, 99)
    play(state, "lead QD", "pass QC", "take")
    assert (state.is_terminal(), state.is_truncated()) == (True, True)


def test_bm_t11_a_pile_travels_while_there_are_cards_of_the_rank():
    """BM-5.3: four cards of a rank end it, however they came."""
    state = table("5C 5D 5S 2D", "5H 3D 3C")
    play(state, "lead 5C", "add 5D", "stop", "pass 5H", "pass 5S")
    assert (state.current_player, legal(state)) == (1, {"take"})
    state = table("5C 5S 2D", "5D 5H 3D")
    play(state, "lead 5C", "stop", "pass 5D", "pass 5S", "pass 5H")
    assert (state.current_player, legal(state)) == (0, {"take"})


@pytest.mark.parametrize("seed", range(5))
def test_bm_t12_an_exchange_keeps_the_size_of_the_hand(seed):
    """BM-5.4: nothing is drawn for it either."""
    state, chooser = new_game(GAME, num_players=3).new_initial_state(seed=seed), random.Random(seed)
    while not state.is_terminal():
        before = (state.public()["hand_sizes"], state.public()["stock_size"])
        text = chooser.choice(sorted(legal(state)))
        play(state, text)
        if text.startswith("exchange"):
            assert (state.public()["hand_sizes"], state.public()["stock_size"]) == before


def test_bm_t13_after_a_pick_up_the_next_player_leads():
    """BM-5.7: seat 0 leads, seat 1 takes, seat 2 leads."""
    state = play(table("5H 2C", "4H 3C", "6D 7D"), "lead 5H", "stop", "take")
    assert on_lead(state) == 2


def test_bm_t13_after_a_pass_back_and_a_pick_up_the_passer_leads():
    """BM-5.7: the next player after seat 0, who took, is seat 1."""
    state = play(table("5H 2C", "5D 3C", "7D 8D"), "lead 5H", "stop", "pass 5D", "take")
    assert (on_lead(state), state.hands()[0]) == (1, {"2C", "5H", "5D"})


def test_bm_t13_after_a_pass_back_the_first_leader_may_beat_and_lead_again():
    """BM-5.7: the defender who beats all leads, here seat 0."""
    state = table("5H 6H 6D 2C", "5D 3C", "7D 8D")
    play(state, "lead 5H", "stop", "pass 5D", "beat 5H with 6H", "beat 5D with 6D", "done")
    assert on_lead(state) == 0


# ---- BM-1 Players and cards ----------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
def test_bm_1_1_two_to_six_players(num_players):
    """BM-1.1: a hand and a score for each of them."""
    state = new_game(GAME, num_players=num_players).new_initial_state(seed=1)
    assert len(state.hands()) == len(state.returns()) == num_players


def test_bm_1_1_three_players_by_default():
    """BM-1.1: each for himself."""
    assert len(cardenvs.load_game(GAME).new_initial_state(seed=1).hands()) == 3


def test_bm_1_2_cards_are_numbered_by_suit_and_rank():
    """BM-1.2: clubs, diamonds, hearts, spades, each from the two to the ace."""
    assert table("2C QC AC 2D 2H AS", "3C 4C").legal_actions() == [0, 10, 12, 13, 26, 51]


def test_bm_1_3_the_red_queen_beats_nothing():
    """BM-1.3: neither a lower diamond nor, as a trump, another suit."""
    assert replies("JD", "QD 2C") == {"take"}
    assert replies("2C", "QD KH", trump="D") == {"take"}


def test_bm_1_3_the_queen_of_hearts_is_an_ordinary_card():
    """BM-1.3: she is beaten, and beats."""
    assert replies("QH", "KH 2C") == {"beat QH with KH"}
    assert replies("JH", "QH 2C") == {"beat JH with QH"}


def test_bm_1_3_the_special_queen_can_be_chosen():
    """BM-1.3: with queen="QH" she is the queen of hearts, and that of diamonds is ordinary."""
    assert replies("QH", "KH AH AS", queen="QH") == {"take"}
    assert replies("JH", "QH 2C", queen="QH") == {"take"}
    assert replies("QD", "KD 2C", queen="QH") == {"beat QD with KD"}


def test_bm_1_4_a_plain_card_is_beaten_by_its_suit_or_a_trump():
    """BM-1.4: a higher card of the suit or any trump, but no other suit and nothing lower."""
    expected = {"beat 9H with TH", "beat 9H with AH", "beat 9H with 2S"}
    assert replies("9H", "8H TH AH AC AD 2S") == expected


def test_bm_1_4_a_trump_is_beaten_by_a_higher_trump_only():
    """BM-1.4: no plain card beats a trump."""
    assert replies("9S", "8S TS AH AC") == {"beat 9S with TS"}


def test_bm_1_4_nothing_beats_the_ace_of_trumps():
    """BM-1.4: it is the highest card."""
    assert replies("AS", "KS KH QD") == {"take"}


# ---- BM-2 The deal -------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
def test_bm_2_1_three_cards_each_and_the_rest_is_stock(num_players):
    """BM-2.1: all 52 cards are there, and nobody knows a card of another."""
    state = new_game(GAME, num_players=num_players).new_initial_state(seed=2)
    assert state.public()["hand_sizes"] == [3] * num_players
    assert state.public()["stock_size"] == len(state.stock()) == 52 - 3 * num_players
    assert sorted([*set().union(*state.hands()), *state.stock()]) == sorted(DECK)
    assert (known(state), waste(state)) == ([set()] * num_players, set())


@pytest.mark.parametrize("seed", range(10))
def test_bm_2_2_the_upcard_names_trumps_and_is_drawn_last(seed):
    """BM-2.2: it is the last card of the stock."""
    state = new_game(GAME, num_players=4).new_initial_state(seed=seed)
    public = state.public()
    assert public["upcard"] == state.stock()[-1]
    assert public["trump"] == public["upcard"][1]
    assert bool(public["upcard_in_stock"])


def test_bm_2_2_the_red_queen_may_be_the_upcard():
    """BM-2.2: diamonds are trumps, and she is drawn last like any other."""
    state = table("5H 2C 3C", "6C 7C 8C", stock="9C QD")
    assert (state.public()["trump"], state.public()["upcard"]) == ("D", "QD")


@pytest.mark.parametrize("num_players", [2, 3, 6])
def test_bm_2_3_the_player_left_of_the_dealer_leads(num_players):
    """BM-2.3: whoever deals; and over many seeds everybody is first dealer (BM-6.5)."""
    game = new_game(GAME, num_players=num_players)
    states = [game.new_initial_state(seed=seed) for seed in range(60)]
    dealers = [state.public()["dealer"] for state in states]
    assert [on_lead(state) for state in states] == [(d + 1) % num_players for d in dealers]
    assert set(dealers) == set(range(num_players))


# ---- BM-3 Drawing and going out ------------------------------------------------------------------


def test_bm_3_1_the_leader_draws_once_his_lead_is_complete():
    """BM-3.1: not between its cards; then back to three at once."""
    state = play(table("5C 5H 9D", "2C 3C 4C", stock="9C TC JC 4S"), "lead 5C")
    assert (state.current_player, state.public()["hand_sizes"]) == (0, [2, 3])
    play(state, "add 5H")
    assert (state.hands()[0], state.public()["draws"]) == ({"9D", "9C", "TC"}, [2, 0])


def test_bm_3_1_the_defender_draws_after_each_card():
    """BM-3.1: several times in one turn, and the new card may be played."""
    state = table("5C 5H 9D TD JD", "6C 2D 3D", stock="6H KC 4S")
    play(state, "lead 5C", "add 5H", "beat 5C with 6C")
    assert state.hands()[1] == {"2D", "3D", "6H"}
    play(state, "beat 5H with 6H")
    assert (state.hands()[1], state.public()["draws"]) == ({"2D", "3D", "KC"}, [0, 2])


def test_bm_3_1_the_defender_draws_after_a_card_of_his_own_and_after_a_pass():
    """BM-3.1: whichever way the card leaves the hand."""
    state = play(table("5C 9D TD JD", "5D 5H 3D", stock="6H KC 4S"), "lead 5C", "add 5D")
    assert state.hands()[1] == {"5H", "3D", "6H"}
    play(state, "pass 5H")
    assert state.hands()[1] == {"3D", "6H", "KC"}


def test_bm_3_1_a_short_stock_is_drawn_empty():
    """BM-3.1: two cards are wanted and one is there."""
    state = play(table("5C 5H 9D", "2C 3C 4C", stock="4S"), "lead 5C", "add 5H")
    assert (state.hands()[0], state.stock()) == ({"9D", "4S"}, [])


def test_bm_3_1_a_hand_of_three_or_more_draws_nothing():
    """BM-3.1: nor does the hand of a player who has put down nothing."""
    state = play(table("5C 9D TD JD", "2C 3C", stock="6H KC 4S"), "lead 5C")
    assert (state.public()["hand_sizes"], state.public()["stock_size"]) == ([3, 2], 3)


def test_bm_3_2_a_leader_without_cards_is_out_at_once():
    """BM-3.2: before anybody adds or answers."""
    state = play(table("5H", "2C 3C", "6D 7D"), "lead 5H")
    assert (active(state), state.current_player) == ([False, True, True], 2)


def test_bm_3_2_an_adder_without_cards_is_out_at_once():
    """BM-3.2: he is not asked again."""
    state = play(table("5H 2D", "2C 3C", "5D"), "lead 5H", "add 5D")
    assert (active(state), state.current_player) == ([True, True, False], 1)


def test_bm_3_2_the_defender_is_out_at_the_end_of_the_turn_only():
    """BM-3.2: his last card beats the lead, and he goes out with `done`."""
    state = play(table("5H 2D", "6H", "7D 8D"), "lead 5H", "stop", "beat 5H with 6H")
    assert (active(state), legal(state)) == ([True, True, True], {"done"})
    play(state, "done")
    assert (active(state), on_lead(state)) == ([True, False, True], 2)


def test_bm_3_2_a_passer_without_cards_is_out_at_once():
    """BM-3.2: he is the defender no longer."""
    state = play(table("5H 2D", "5D", "7D 8D"), "lead 5H", "stop", "pass 5D")
    assert (active(state), state.current_player) == ([True, False, True], 0)


def test_bm_3_2_nobody_is_out_while_there_is_a_stock():
    """BM-3.2: the last card of the hand is led, and new ones are drawn."""
    state = play(table("5H", "2C 3C 4C", stock="9C TC JC 4S"), "lead 5H")
    assert (active(state), state.hands()[0]) == ([True, True], {"9C", "TC", "JC"})


def test_bm_3_2_players_who_are_out_have_no_role():
    """BM-3.2: seat 3 leads to seat 1, and seat 0 is not asked to add."""
    state = play(table("", "2C 3C", "6D 7D", "5H 9D", leader=3), "lead 5H")
    assert (roles(state), state.current_player) == ((3, 1), 2)
    play(state, "stop")
    assert state.current_player == 1


# ---- BM-4 The lead and adding --------------------------------------------------------------------


def test_bm_4_1_any_card_may_be_led_but_one_must_be():
    """BM-4.1: the red queen too, and no pass."""
    state = table("5S QD AH", "2C 3C", "4C 6C")
    assert legal(state) == {"lead 5S", "lead QD", "lead AH"}
    assert roles(state) == (0, 1)


def test_bm_4_2_several_cards_of_a_rank_may_be_led():
    """BM-4.2: the leader is asked for more until he stops."""
    state = play(table("5C 5D 5S KD", "2C 2D 2S 3C"), "lead 5C")
    assert (legal(state), phase(state)) == ({"add 5D", "add 5S", "stop"}, "adding")
    play(state, "add 5D", "stop")
    assert (attack(state), state.current_player) == ([("5C", 0), ("5D", 0)], 1)


def test_bm_4_2_a_leader_without_a_higher_card_of_the_rank_is_not_asked():
    """BM-4.2, BM-4.4: after 5S the five of clubs is barred."""
    state = play(table("5C 5S KD", "2C 2D 2S 3C", "3D 4D"), "lead 5S")
    assert state.current_player == 2
    state = play(table("5C KD", "2C 2D 2S 3C", "3D 4D"), "lead 5C")
    assert state.current_player == 2


def test_bm_4_2_cards_drawn_after_the_lead_are_not_part_of_it():
    """BM-4.2: the leader draws 5S and is not asked again."""
    state = play(table("5C 9D TD", "2C 3C 4C", stock="5S KC 4S"), "lead 5C")
    assert ("5S" in state.hands()[0], state.current_player, phase(state)) == (True, 1, "responding")


def test_bm_4_3_all_but_leader_and_defender_add_clockwise():
    """BM-4.3: seat 3 of five leads to seat 4; 0, 1 and 2 are asked, then the defender acts."""
    state = table("2C 3C", "4C 6C", "7C 8C", "5S 9C", "2D 3D 4D", leader=3)
    asked = []
    play(state, "lead 5S")
    while phase(state) == "adding":
        asked.append((state.current_player, legal(state)))
        play(state, "stop")
    assert asked == [(0, {"stop"}), (1, {"stop"}), (2, {"stop"})]
    assert (state.current_player, roles(state)) == (4, (3, 4))


def test_bm_4_3_an_adder_may_add_several_cards():
    """BM-4.3: he is asked until he stops, also when only a stop is left; then the next one is."""
    state = table("5S 2C", "6C 7C 8C", "5C 5D JD", "5H JH JS")
    play(state, "lead 5S", "add 5C", "add 5D")
    assert (state.current_player, legal(state)) == (2, {"stop"})
    play(state, "stop")
    assert (state.current_player, legal(state)) == (3, {"add 5H", "stop"})
    play(state, "add 5H", "stop")
    assert attack(state) == [("5C", 2), ("5D", 2), ("5H", 3), ("5S", 0)]


def test_bm_4_3_nobody_is_asked_a_second_time():
    """BM-4.3: seat 2 stopped; the five of seat 3 does not bring him back."""
    state = table("5S 2C 3C", "6C 7C 8C", "5C 5D JD", "5H JH JS")
    play(state, "lead 5S", "stop", "add 5H", "stop")
    assert (state.current_player, phase(state)) == (1, "responding")


def test_bm_4_3_an_added_red_queen_spoils_the_pile():
    """BM-4.3, BM-5.1: the defender could beat QC, but not the pile."""
    state = play(table("QC 2C", "KC 3C", "QD 4D"), "lead QC", "add QD", "stop")
    assert legal(state) == {"take"}


def test_bm_4_3_two_players_have_no_adder():
    """BM-4.3: the defender acts at once."""
    state = play(table("5S 2C", "5C 6C"), "lead 5S")
    assert (state.current_player, phase(state)) == (1, "responding")


def test_bm_4_4_cards_are_entered_in_ascending_order():
    """BM-4.4: after 5D only 5H and 5S can follow."""
    state = play(table("5C 5D 5H 5S", "2C 2D 2S 3C"), "lead 5D")
    assert legal(state) == {"add 5H", "add 5S", "stop"}


def test_bm_4_4_each_player_has_an_order_of_his_own():
    """BM-4.4: after the leader's 5S seat 2 may add 5C, but not after his own 5D."""
    state = play(table("5S 2C", "3C 4C 6C", "5C 5D 9D"), "lead 5S")
    assert legal(state) == {"add 5C", "add 5D", "stop"}
    play(state, "add 5D")
    assert legal(state) == {"stop"}


def test_bm_4_4_a_card_drawn_later_is_not_barred():
    """BM-4.4: seat 2 adds 5D and draws 5C."""
    state = table("5S 2C 9C TC", "3C 4C 6C", "5D 8D 9D", stock="5C KC 4S")
    play(state, "lead 5S", "add 5D")
    assert (state.current_player, legal(state)) == (2, {"add 5C", "stop"})


def test_bm_4_4_the_defender_keeps_the_order_too():
    """BM-4.4: after his own 5H he can no longer add 5D, but 5C, which he has drawn."""
    state = table("5S 2C 9C TC", "5D 5H 9D", stock="5C KC 4S")
    play(state, "lead 5S", "add 5H")
    added = {text for text in legal(state) if text.startswith("add")}
    assert ("5D" in state.hands()[1], added) == (True, {"add 5C"})


def test_bm_4_4_the_order_ends_when_the_pile_changes_hands():
    """BM-4.4: the leader began with 5S; as defender he may add or pass 5C."""
    state = play(table("5S 5C 2D 3D", "5D 4C 6C"), "lead 5S", "pass 5D")
    assert (state.current_player, legal(state)) == (0, {"add 5C", "pass 5C"})


# ---- BM-5 The defender ---------------------------------------------------------------------------


def test_bm_5_1_the_cards_are_beaten_in_any_order():
    """BM-5.1: each attack card with each card that beats it; both stay on the table."""
    state = play(table("5C 5H 9D", "6C 7C 6H"), "lead 5C", "add 5H")
    assert legal(state) == {"beat 5C with 6C", "beat 5C with 7C", "beat 5H with 6H"}
    waste_before = waste(state)
    play(state, "beat 5H with 6H")
    assert (state.public()["beaten_by"], waste(state)) == ({"5H": "6H"}, waste_before)
    assert legal(state) == {"beat 5C with 6C", "beat 5C with 7C"}


def test_bm_5_1_while_there_is_a_stock_some_cards_may_be_beaten():
    """BM-5.1: 5H cannot be beaten now, but a card may be drawn that does it."""
    state = table("5C 5H 9D TD JD", "6C 2D 3D", stock="8D 4S")
    play(state, "lead 5C", "add 5H")
    assert legal(state) == {"beat 5C with 6C", "take"}


def test_bm_5_1_without_a_stock_only_a_complete_answer_is_begun():
    """BM-5.1: 5H cannot be beaten, so 5C is not either."""
    state = play(table("5C 5H 9D", "6C 2D 3D"), "lead 5C", "add 5H")
    assert legal(state) == {"take"}


def test_bm_5_1_one_card_is_no_answer_to_two():
    """BM-5.1: the trump would beat each of the fives, but not both."""
    state = play(table("5C 5H 9D", "7S 2D 3D"), "lead 5C", "add 5H")
    assert legal(state) == {"take"}


def test_bm_5_1_a_complete_answer_may_be_spoilt():
    """BM-5.1, BM-5.6: the trump goes on 5C, 6C cannot beat 5H: now taking is all there is."""
    state = play(table("5C 5H 9D", "6C 7S"), "lead 5C", "add 5H")
    assert legal(state) == {"beat 5C with 6C", "beat 5C with 7S", "beat 5H with 7S"}
    play(state, "beat 5C with 7S")
    assert legal(state) == {"take"}


def test_bm_5_1_nothing_is_beaten_with_the_red_queen_on_the_table():
    """BM-5.1: not even while there is a stock."""
    state = table("QC QD 9D TD JD", "KC 2D 3D", stock="8D 4S")
    assert legal(play(state, "lead QC", "add QD")) == {"take"}


def test_bm_5_1_where_the_rest_is_picked_up_each_card_counts():
    """BM-5.1: with pickup_scope="unbeaten" some may be beaten, stock or not."""
    hands = ["5C 5H 9D", "6C 2D 3D"]
    state = play(table(*hands, pickup_scope="unbeaten"), "lead 5C", "add 5H")
    assert legal(state) == {"beat 5C with 6C", "take"}
    play(state, "beat 5C with 6C")
    assert legal(state) == {"take"}


def test_bm_5_1_where_the_rest_is_picked_up_other_queens_are_beaten():
    """BM-5.1: only the red queen herself is not; own cards may not join her (BM-5.2)."""
    hands = ["QC QD 9D", "KC QH 3D"]
    state = play(table(*hands, pickup_scope="unbeaten"), "lead QC", "add QD")
    assert legal(state) == {"beat QC with KC", "pass QH"}
    play(state, "beat QC with KC")
    assert legal(state) == {"take"}


def test_bm_5_2_an_own_card_of_the_rank_joins_the_attack():
    """BM-5.2: to be beaten as well."""
    state = play(table("5C 9D", "5D 6C 6D"), "lead 5C")
    assert legal(state) == {"add 5D", "pass 5D", "beat 5C with 6C"}
    play(state, "add 5D")
    assert attack(state) == [("5C", 0), ("5D", 1)]
    assert legal(state) == {"beat 5C with 6C", "beat 5D with 6D"}


def test_bm_5_2_not_after_a_card_was_beaten():
    """BM-5.2: and then it is too late for a pass as well."""
    state = play(table("5C 5H 9D", "5D 6C 6H"), "lead 5C", "add 5H", "beat 5C with 6C")
    assert legal(state) == {"beat 5H with 6H"}


def test_bm_5_2_never_with_or_to_the_red_queen():
    """BM-5.2: she cannot join the attack by this, nor can a card join her."""
    assert replies("QC", "QD QH KC") == {"add QH", "pass QD", "pass QH", "beat QC with KC"}
    assert replies("QD", "QH KC") == {"pass QH"}


def test_bm_5_2_an_own_card_may_make_the_pile_too_much():
    """BM-5.2, BM-5.6: 5D cannot be beaten, so all is taken back."""
    state = play(table("5C 9D", "5D 6C"), "lead 5C", "add 5D")
    assert legal(state) == {"take"}
    play(state, "take")
    assert state.hands()[1] == {"5C", "5D", "6C"}


def test_bm_5_3_the_pile_goes_back_to_the_attacker():
    """BM-5.3: he has all the answers of a defender, and can pass it back again."""
    state = play(table("5C 5S 6C 6D", "5D 2C", "7D 8D"), "lead 5C", "stop", "stop", "pass 5D")
    assert (state.current_player, roles(state)) == (0, (1, 0))
    expected = {"add 5S", "pass 5S", "beat 5C with 6C", "beat 5D with 6D"}
    assert {text for text in legal(state) if "with 5S" not in text} == expected
    play(state, "pass 5S")
    assert (state.current_player, roles(state)) == (1, (0, 1))


def test_bm_5_3_nobody_adds_after_a_pass():
    """BM-5.3: seat 2 has a five, but is not asked again."""
    state = play(table("5C 2D", "5D 2C", "5S 8D"), "lead 5C", "stop", "pass 5D")
    assert (state.current_player, phase(state)) == (0, "responding")


def test_bm_5_3_the_red_queen_may_be_passed_on_to_a_queen():
    """BM-5.3: then nothing of the pile can be beaten."""
    state = play(table("QC KC 2D", "QD 3D"), "lead QC", "pass QD")
    assert (state.current_player, legal(state)) == (0, {"take"})


def test_bm_5_3_a_pass_is_not_bound_by_the_order():
    """BM-5.3, BM-4.4: after `add QS` the queen of diamonds may still be passed."""
    state = play(table("QC 2H", "QS QD 2D 3D", trump="H"), "lead QC")
    assert legal(state) == {"add QS", "pass QS", "pass QD"}
    play(state, "add QS")
    assert legal(state) == {"pass QD"}


def test_bm_5_3_not_to_an_attacker_who_is_out():
    """BM-5.3: the leader has led his last card."""
    state = play(table("5H", "5D 3C", "6D 7D"), "lead 5H", "stop")
    assert legal(state) == {"add 5D", "take"}


def test_bm_5_3_not_back_to_a_passer_who_went_out():
    """BM-5.3: seat 1 passed with his last card; seat 0 cannot pass the pile back."""
    state = table("5H 5S 2C", "5D", "6D 7D", trump="C")
    play(state, "lead 5H", "stop", "stop", "pass 5D")
    assert (state.current_player, legal(state)) == (0, {"add 5S", "take"})


def test_bm_5_3_forward_the_pile_goes_round_the_table():
    """BM-5.3: with pass_direction="forward" to the next player; the passer is the attacker."""
    state = table("5H 2D", "5D 3C", "5S 7D", pass_direction="forward")
    play(state, "lead 5H", "stop", "pass 5D")
    assert (state.current_player, roles(state)) == (2, (1, 2))
    play(state, "pass 5S")
    assert (state.current_player, roles(state)) == (0, (2, 0))


def test_bm_5_3_forward_it_does_not_matter_that_the_leader_is_out():
    """BM-5.3: the next player takes part."""
    state = table("5H", "5D 3C", "6D 7D", pass_direction="forward")
    play(state, "lead 5H", "stop")
    assert "pass 5D" in legal(state)
    play(state, "pass 5D")
    assert (state.current_player, roles(state)) == (2, (1, 2))


def test_bm_5_4_not_before_a_card_was_drawn():
    """BM-5.4: four cards in hand, so that nothing is drawn after the first."""
    state = table("5C 9D TD JD", "6C 7C 8C 9C", stock="KD 4S")
    assert legal(play(state, "lead 5C", "beat 5C with 6C")) == {"done"}


def test_bm_5_4_any_card_of_the_hand_may_be_exchanged_for():
    """BM-5.4: 7C was there before the draw of KD."""
    state = table("5C 9D TD JD", "6C 7C 8D", stock="KD 4S")
    play(state, "lead 5C", "beat 5C with 6C")
    assert legal(state) == {"exchange 5C with 7C", "done"}
    play(state, "exchange 5C with 7C")
    assert state.hands()[1] == {"6C", "8D", "KD"}
    assert state.public()["beaten_by"] == {"5C": "7C"}


def test_bm_5_4_a_recovered_card_may_be_used_again():
    """BM-5.4: 2C comes back from QH and may go on QS."""
    state = play(kings_for_trumps(), "exchange QH with KH")
    expected = {"exchange QH with 2C", "exchange QS with 2C", "exchange QS with KS", "done"}
    assert legal(state) == expected
    play(state, "exchange QS with 2C")
    assert state.public()["beaten_by"] == {"QH": "KH", "QS": "2C"}


def drawn_as_leader(**options: Any) -> State:
    """Seat 0 drew the last card, 8S, as leader; the pile has come back and is beaten."""
    state = table("5C 6C 7D", "5D 2D 3D 4D", stock="8S", **options)
    return play(state, "lead 5C", "pass 5D", "beat 5C with 8S", "beat 5D with 7D")


def test_bm_5_4_a_card_drawn_as_leader_counts():
    """BM-5.4: draws count from the lead on, in whatever role."""
    state = drawn_as_leader()
    assert state.public()["draws"] == [1, 0]
    assert legal(state) == {"exchange 5C with 6C", "done"}


def test_bm_5_4_each_pair_is_exchanged_once_a_turn():
    """BM-5.4: 8S was beaten with, not exchanged, so it may go back once; 6C may not."""
    state = play(drawn_as_leader(), "exchange 5C with 6C")
    assert legal(state) == {"exchange 5C with 8S", "exchange 5D with 8S", "done"}
    play(state, "exchange 5C with 8S")
    assert legal(state) == {"done"}
    used = {tuple(pair) for pair in state.public()["used_exchanges"]}
    assert used == {("5C", "6C"), ("5C", "8S")}


def test_bm_5_4_with_the_next_turn_all_begins_anew():
    """BM-5.4: no draws and no used pairs."""
    state = play(drawn_as_leader(), "exchange 5C with 6C", "done")
    assert (set(state.public()["used_exchanges"]), state.public()["draws"]) == (set(), [0, 0])


def test_bm_5_4_exchanging_can_be_switched_off():
    """BM-5.4: with exchange=False only `done` is left."""
    assert legal(drawn_as_leader(exchange=False)) == {"done"}


def test_bm_5_4_while_another_card_is_unbeaten():
    """BM-5.4, BM-5.6: taking looks at the hand as it is, not at what an exchange would bring."""
    state = table("5C 5H 9D TD JD", "7S 6C 2H", stock="2D 3S")
    play(state, "lead 5C", "add 5H", "beat 5C with 7S")
    assert legal(state) == {"exchange 5C with 6C", "take"}
    play(state, "exchange 5C with 6C")
    assert legal(state) == {"beat 5H with 7S", "exchange 5C with 7S"}


def test_bm_5_5_the_cards_leave_the_game():
    """BM-5.5: attack cards and those that beat them; the table is empty."""
    state = play(table("5C 9D", "6C 8D"), "lead 5C", "beat 5C with 6C")
    waste_before = waste(state)
    play(state, "done")
    assert waste(state) - waste_before == {"5C", "6C"}
    assert (attack(state), state.public()["beaten_by"]) == ([], {})


def test_bm_5_5_once_all_is_beaten_nothing_can_be_taken():
    """BM-5.5: also where picking up is free, only exchanging and `done` are left."""
    state = table("5C 9D TD JD", "6C 7C 8D", stock="KD 4S", pickup="free")
    play(state, "lead 5C", "beat 5C with 6C")
    assert legal(state) == {"exchange 5C with 7C", "done"}


def test_bm_5_6_all_cards_of_the_table_are_taken():
    """BM-5.6: those that were beaten, and those that beat them, too."""
    state = table("5C 5H 9D TD JD", "6C 2D 3D", stock="8D 4S")
    play(state, "lead 5C", "add 5H", "beat 5C with 6C", "take")
    assert state.hands()[1] == {"2D", "3D", "8D", "5C", "5H", "6C"}
    assert known(state)[1] == {"5C", "5H", "6C"}


def test_bm_5_6_only_the_unbeaten_cards_may_be_what_is_taken():
    """BM-5.6: with pickup_scope="unbeaten" the others leave the game."""
    state = table("QC QD 9D", "KC 2D 3D", pickup_scope="unbeaten")
    play(state, "lead QC", "add QD", "beat QC with KC")
    waste_before = waste(state)
    play(state, "take")
    assert waste(state) - waste_before == {"QC", "KC"}
    assert state.hands()[1] == {"2D", "3D", "QD"}


def test_bm_5_6_a_pass_comes_before_taking():
    """BM-5.6: who can pass must not take, unless picking up is free."""
    assert replies("5H", "5D 2C") == {"add 5D", "pass 5D"}
    assert replies("5H", "5D 2C", pickup="free") == {"add 5D", "pass 5D", "take"}


def test_bm_5_6_free_means_at_any_time_while_a_card_is_unbeaten():
    """BM-5.6: after one of two cards was beaten as well."""
    state = play(table("5C 5H 9D", "6C 6H 3D", pickup="free"), "lead 5C", "add 5H")
    play(state, "beat 5C with 6C")
    assert legal(state) == {"beat 5H with 6H", "take"}


def test_bm_5_6_free_lifts_no_other_limit():
    """BM-5.6, BM-5.1: with the red queen, or without a complete answer, nothing is beaten."""
    state = play(table("QC QD 9D", "KC 2D", pickup="free"), "lead QC", "add QD")
    assert legal(state) == {"take"}
    state = play(table("5C 5H 9D", "6C 2D", pickup="free"), "lead 5C", "add 5H")
    assert legal(state) == {"take"}


@pytest.mark.parametrize(("third", "leader"), [("7D 8D", 2), ("", 3)])
def test_bm_5_7_a_player_who_is_out_is_passed_over(third, leader):
    """BM-5.7: the next player after the taker who takes part."""
    state = play(table("5H 2C", "4H 3C", third, "9D TD"), "lead 5H", "stop*", "take")
    assert on_lead(state) == leader


def test_bm_5_7_between_two_a_pick_up_leaves_the_leader():
    """BM-5.7: the next player after the taker is the leader himself."""
    state = play(table("5H 2C", "4H 3C"), "lead 5H", "take")
    assert (on_lead(state), roles(state)) == (0, (0, 1))


def test_bm_5_7_a_defender_who_goes_out_gives_the_lead_to_the_next():
    """BM-5.7: he has beaten all with his last cards."""
    state = play(table("5H 2C", "6H", "9D TD", "JD KD"), "lead 5H", "stop*")
    play(state, "beat 5H with 6H", "done")
    assert (on_lead(state), roles(state)) == (2, (2, 3))


# ---- BM-6 End and score --------------------------------------------------------------------------


def test_bm_6_1_an_adder_may_end_the_game_before_the_defender_acts():
    """BM-6.1: leader and adder are out; all cards of the table go to the defender."""
    state = play(table("5H", "6H 6D QD", "5D"), "lead 5H", "add 5D")
    assert (state.is_terminal(), list(state.returns())) == (True, [0.0, -1.0, 0.0])
    assert state.hands() == [set(), {"6H", "6D", "QD", "5H", "5D"}, set()]


def test_bm_6_1_a_passer_may_end_the_game():
    """BM-6.1: his last card; the pile goes to the other player."""
    state = play(table("5H 2D QD", "5D"), "lead 5H", "pass 5D")
    assert (state.is_terminal(), list(state.returns())) == (True, [-1.0, 0.0])
    assert state.hands() == [{"2D", "QD", "5H", "5D"}, set()]


def test_bm_6_1_a_defender_who_has_beaten_all_may_end_the_game():
    """BM-6.1: he goes out with `done`, and the attacker is left."""
    state = play(table("5H QD", "6H"), "lead 5H", "beat 5H with 6H", "done")
    assert (state.is_terminal(), list(state.returns())) == (True, [-1.0, 0.0])
    assert (state.hands(), {"5H", "6H"} <= waste(state)) == ([{"QD"}, set()], True)


def test_bm_6_1_a_leader_goes_out_with_several_cards():
    """BM-6.1: the first of them does not end the game."""
    state = play(table("5H 5S", "6H QD"), "lead 5H")
    assert (state.is_terminal(), legal(state)) == (False, {"add 5S", "stop"})
    play(state, "add 5S")
    assert (state.is_terminal(), list(state.returns())) == (True, [0.0, -1.0])


def test_bm_6_1_after_the_end_nobody_is_asked():
    """BM-6.1: the phase is over and nothing is legal."""
    state = play(table("5H", "6H QD"), "lead 5H")
    assert (phase(state), state.current_player, state.legal_actions()) == ("over", -1, [])


def test_bm_6_1_the_game_goes_on_while_two_have_cards():
    """BM-6.1: one of three is out."""
    state = play(table("5H", "4H 3C", "6D 7D"), "lead 5H", "stop", "take")
    assert (state.is_terminal(), list(state.returns())) == (False, [0.0, 0.0, 0.0])


def test_bm_6_2_only_the_loser_scores():
    """BM-6.2: -1 for him and 0 for all others, as float64."""
    state = play(table("5H", "6H QD", "5D"), "lead 5H", "add 5D")
    assert state.returns().dtype == np.float64
    assert list(state.returns()) == [0.0, -1.0, 0.0]


def test_bm_6_3_the_limit_can_be_chosen():
    """BM-6.3: with a limit of 7 the seventh turn without progress is the last."""
    state = go_round(table(*CYCLE_HANDS, no_progress_limit=7), 6)
    assert not state.is_terminal()
    play(state, "lead QS", "pass QC", "take")
    assert (state.is_terminal(), state.is_truncated(), phase(state)) == (True, True, "over")


def test_bm_6_3_cards_that_leave_the_game_are_progress():
    """BM-6.3: a beaten lead starts the count again."""
    state = play(table("5H 2C 3C", "4H 6D 6C"), "lead 5H", "take")
    assert state.public()["no_progress"] == 1
    play(state, "lead 2C", "beat 2C with 6C", "done")
    assert (active(state), state.public()["no_progress"]) == ([True, True], 0)


def test_bm_6_3_a_partly_beaten_pile_is_progress_where_the_rest_is_taken():
    """BM-6.3: with pickup_scope="unbeaten" a card went to the waste although one was taken."""
    options = {"pickup_scope": "unbeaten", "no_progress_limit": 1}
    state = table("5C 5H 9D", "6C 2D 3D", **options)
    play(state, "lead 5C", "add 5H", "beat 5C with 6C", "take")
    assert (state.is_terminal(), state.public()["no_progress"]) == (False, 0)


def test_bm_6_3_a_drawn_card_is_progress():
    """BM-6.3: the lead was taken, but the leader drew a card."""
    state = table("5H 2D 3D", "4H 7C 8C", stock="TC 4S", no_progress_limit=1)
    play(state, "lead 5H", "take")
    assert (state.is_terminal(), state.public()["no_progress"]) == (False, 0)


def test_bm_6_3_going_out_is_progress():
    """BM-6.3: nothing was drawn or beaten, but the leader is out."""
    state = table("5H", "2C 3C", "4D 6D", no_progress_limit=1)
    play(state, "lead 5H", "stop", "take")
    assert (state.is_terminal(), state.public()["no_progress"]) == (False, 0)


def test_bm_6_3_a_game_lasts_a_thousand_turns_at_most():
    """BM-6.3: a card is beaten now and then, so that only the second limit can end the game."""
    hands = [" ".join(DECK[seat::3]) for seat in range(3)]
    state = table(*hands, no_progress_limit=120, pickup="free")
    while not state.is_terminal():
        is_overdue = state.public()["no_progress"] >= 100
        play(state, state.action_to_string(state.legal_actions()[0]), "stop*")
        beating = sorted(text for text in legal(state) if text.startswith("beat"))
        play(state, *([beating[0], "done"] if is_overdue and beating else ["take"]))
    assert state.is_truncated()
    assert (state.public()["turns"], state.public()["no_progress"] < 120) == (1000, True)


def test_bm_6_3_a_game_that_ends_is_not_capped():
    """BM-6.3: the thousandth turn ends the game by BM-6.1, so there is a loser and no cap."""
    state = table("5H QD", "6H", on_cap="draw")
    state._rows["turns"] = 999  # the only way to get here without a thousand turns
    assert state.public()["turns"] == 999
    play(state, "lead 5H", "beat 5H with 6H", "done")
    assert (state.is_terminal(), state.is_truncated()) == (True, False)
    assert list(state.returns()) == [-1.0, 0.0]


@pytest.mark.parametrize(
    ("on_cap", "expected"),
    [("queen_holder", [0, -1]), ("share", [-0.5, -0.5]), ("draw", [0, 0])],
)
def test_bm_6_4_what_the_capped_cycle_scores(on_cap, expected):
    """BM-6.4: after 100 turns seat 1 has the queen; truncated whatever the option."""
    state = go_round(table(*CYCLE_HANDS, on_cap=on_cap), 100)
    assert QUEEN in state.hands()[1]
    assert (state.is_terminal(), state.is_truncated()) == (True, True)
    assert list(state.returns()) == expected


def test_bm_6_4_the_queen_holder_loses_by_default():
    """BM-6.4: stalling does not turn a lost game into a draw."""
    assert list(go_round(table(*CYCLE_HANDS), 100).returns()) == [0.0, -1.0]


def test_bm_6_4_the_holder_is_that_of_the_chosen_queen():
    """BM-6.4: with queen="QH" whoever has the queen of hearts loses."""
    options = {"queen": "QH", "no_progress_limit": 1}
    state = play(table("5H QH", "4H QD", **options), "lead 5H", "take")
    assert (state.is_truncated(), list(state.returns())) == (True, [-1.0, 0.0])


def test_bm_6_4_without_the_queen_the_active_players_share():
    """BM-6.4: she is out of play; the two who still have cards share the loss."""
    state = table("5H 6H", "", "2C 3C", no_progress_limit=1, on_cap="queen_holder")
    play(state, "lead 5H", "take")
    assert list(state.returns()) == [-0.5, 0.0, -0.5]
    assert state.is_truncated()


def test_bm_6_4_a_queen_in_the_stock_is_in_no_hand():
    """BM-6.4: nobody holds her, so the loss is shared."""
    state = table("5H 2D 3D 4D", "2C 7C 8C", stock="QD 4S", no_progress_limit=1)
    play(state, "lead 5H", "take")
    assert (state.is_truncated(), list(state.returns())) == (True, [-0.5, -0.5])


def test_bm_6_4_players_who_are_out_have_no_share():
    """BM-6.4: with "share" only the three of four who still take part pay."""
    state = table("5H 6H", "2C QD", "", "8D 9D", no_progress_limit=1, on_cap="share")
    play(state, "lead 5H", "stop", "take")
    assert list(state.returns()) == pytest.approx([-1 / 3, -1 / 3, 0, -1 / 3])


def test_bm_6_5_the_match_goes_on_with_a_shuffled_deal():
    """BM-6.5: after the fixed first game the left neighbour of its dealer deals."""
    state = play(table("5H", "6H QD", "5D", dealer=1, num_games=2), "lead 5H", "add 5D")
    public = state.public()
    assert (state.is_terminal(), list(state.returns())) == (False, [0.0, -1.0, 0.0])
    assert (public["games_played"], public["dealer"], public["turns"]) == (1, 2, 0)
    assert (on_lead(state), roles(state)) == (0, (0, 1))
    assert (public["hand_sizes"], public["stock_size"], waste(state)) == ([3, 3, 3], 43, set())


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_bm_6_5_the_deal_passes_to_the_left(num_players):
    """BM-6.5: over a match of seven games, whoever loses; the player after the dealer leads."""
    starts: dict[int, tuple[int, int]] = {}

    def watch(state: State) -> None:
        if (phase(state), state.public()["turns"]) == ("lead", 0):
            starts[state.public()["games_played"]] = (state.public()["dealer"], on_lead(state))

    state = new_game(GAME, num_players=num_players, num_games=7).new_initial_state(seed=5)
    first = state.public()["dealer"]
    play_out(state, 5, watch)
    dealers = [(first + game_index) % num_players for game_index in range(7)]
    expected = [(dealer, (dealer + 1) % num_players) for dealer in dealers]
    assert [starts[game_index] for game_index in range(7)] == expected


def test_bm_6_5_the_scores_of_a_match_are_added_up():
    """BM-6.5: six games, six losses."""
    state = play_out(new_game(GAME, num_games=6).new_initial_state(seed=6), 6)
    assert (state.public()["games_played"], state.returns().sum()) == (6, -6)
    assert all(float(score).is_integer() for score in state.returns())


def test_bm_6_5_a_capped_game_does_not_end_the_match():
    """BM-6.5: it scores, the next game is dealt, and the episode ends as truncated."""
    state = go_round(table(*CYCLE_HANDS, num_games=2), 100)
    assert (state.is_terminal(), state.public()["games_played"]) == (False, 1)
    assert list(state.returns()) == [0.0, -1.0]
    assert state.public()["no_progress"] == 0
    play_out(state, 1)
    assert (state.is_truncated(), state.returns().sum()) == (True, -2)


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
def test_bm_6_6_the_others_share_a_point(num_players):
    """BM-6.6: -1 for the loser and 1 / (n - 1) for each other player."""
    hands = ["5H", "6H QD", *[""] * (num_players - 2)]
    state = play(table(*hands, reward="zero_sum"), "lead 5H")
    expected = [1 / (num_players - 1)] * num_players
    expected[1] = -1.0
    assert list(state.returns()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("on_cap", "expected"),
    [("queen_holder", [0.5, -1, 0.5]), ("share", [-0.25, -0.25, 0.5]), ("draw", [0, 0, 0])],
)
def test_bm_6_6_zero_sum_of_a_capped_game(on_cap, expected):
    """BM-6.6: a shared loss is the mean over the players who still take part; a draw stays 0."""
    options = {"no_progress_limit": 1, "on_cap": on_cap, "reward": "zero_sum"}
    state = play(table("5H 6H", "2C QD", "", **options), "lead 5H", "take")
    assert list(state.returns()) == pytest.approx(expected)


# ---- BM-7 What is seen ---------------------------------------------------------------------------


def test_bm_7_1_all_see_who_put_down_what():
    """BM-7.1: attack cards with their seats, beaters, draws and sizes of hands."""
    state = play(two_fives(defender="6C 2C 3C", adder="5S 7D 8D"), "add 5S", "stop")
    public = state.public()
    assert (public["phase"], public["leader"], roles(state)) == ("responding", 0, (0, 1))
    assert (public["draws"], public["hand_sizes"]) == ([2, 0, 1], [3, 3, 3])
    play(state, "beat 5C with 6C")
    public = state.public()
    assert (public["beaten_by"], public["draws"]) == ({"5C": "6C"}, [2, 1, 1])


def test_bm_7_1_the_upcard_is_known_where_it_was_drawn():
    """BM-7.1: the last card of the stock is 4S, and seat 1 gets it."""
    state = table("5H 9D TD JD", "6H 7D 8D", stock="4S")
    play(state, "lead 5H", "beat 5H with 6H")
    assert (known(state), bool(state.public()["upcard_in_stock"])) == ([set(), {"4S"}], False)
    assert state.public()["upcard"] == "4S"


def test_bm_7_1_recovered_cards_are_known():
    """BM-7.1: what comes back by an exchange has been seen, and is known until it is played."""
    state = play(kings_for_trumps(), "exchange QH with KH")
    assert known(state)[1] == {"2C"}
    play(state, "exchange QS with 2C")
    assert known(state)[1] == {"JC"}


def test_bm_7_1_taken_cards_are_known_until_they_are_played():
    """BM-7.1: 5H was taken by seat 1; it leads it later, and seat 2 takes it."""
    state = play(table("5H 2D", "4H 3C", "4D 6D"), "lead 5H", "stop", "take")
    assert known(state) == [set(), {"5H"}, set()]
    play(state, "lead 6D", "stop", "take", "lead 5H", "stop", "take")
    assert known(state) == [{"6D"}, set(), {"5H"}]


def test_bm_7_2_the_observation_does_not_depend_on_hidden_cards():
    """BM-7.2: two tables that differ in hands and stock look the same to seat 0."""
    one = table("5S 2C 3C", "3D 4D TD", "6D QC JC", stock="7D 8D 9H")
    two = table("5S 2C 3C", "7D QC JC", "8D 4D TD", stock="3D 6D 9H")
    assert np.array_equal(one.observation(0), two.observation(0))


def test_bm_7_3_others_do_not_see_who_is_asked_to_add():
    """BM-7.3: stops of two adders change nothing for those who were not asked."""
    state = play(table("5S 2C", "3C 4C 6C", "7D 8D", "9D 5D"), "lead 5S")
    before = [state.observation(seat) for seat in (0, 1)]
    play(state, "stop")
    assert (state.current_player, phase(state)) == (3, "adding")
    assert np.array_equal([state.observation(seat) for seat in (0, 1)], before)


def test_bm_7_3_others_do_not_see_that_the_leader_could_have_added():
    """BM-7.3: he has more than three cards, so that no draw shows that he is through."""
    state = play(table("5C 5S 2C 3C 4C", "6C 7C", "7D 8D", "9D 5D"), "lead 5C")
    before = [state.observation(seat) for seat in (1, 3)]
    play(state, "stop")
    assert (state.current_player, phase(state)) == (2, "adding")
    assert np.array_equal([state.observation(seat) for seat in (1, 3)], before)


def test_bm_7_3_the_draw_of_the_leader_shows_with_the_next_card():
    """BM-7.3: it would show that he has stopped; it comes before that of the adder all the same."""
    state = table("5C 5S 2C", "6C 7C 8C", "7D 8D 5D", stock="9C TC JC KC")
    before = play(state, "lead 5C").observation(1)
    play(state, "stop")
    assert (state.current_player, state.public()["draws"]) == (2, [0, 0, 0])
    assert np.array_equal(state.observation(1), before)
    play(state, "add 5D")
    assert state.public()["draws"] == [1, 0, 1]
    assert [hand & {"9C", "TC"} for hand in state.hands()] == [{"9C"}, set(), {"TC"}]


def test_bm_7_3_the_draw_of_the_leader_shows_with_the_turn_of_the_defender():
    """BM-7.3: where nobody adds."""
    state = table("5C 5S 2C", "6C 7C 8C", "7D 8D 5D", stock="9C TC JC KC")
    play(state, "lead 5C", "stop", "stop")
    assert (phase(state), state.public()["draws"]) == ("responding", [1, 0, 0])


def test_bm_7_3_an_adder_without_a_fitting_card_is_asked():
    """BM-7.3: he can only stop."""
    state = play(table("5S 2C", "3C 4C 6C", "7D 8D"), "lead 5S")
    assert (state.current_player, legal(state)) == (2, {"stop"})


def test_bm_7_4_taking_a_single_card_proves_two_things():
    """BM-7.4: no card of the rank, since a pass was open, and none that beats it."""
    state = play(table("5H 2C", "4H 3C"), "lead 5H", "take")
    assert proofs(state, "no_rank") == [set(), {"5"}]
    assert proofs(state, "no_beaters") == [set(), {"5H"}]


def test_bm_7_4_taking_several_cards_proves_the_rank_only():
    """BM-7.4: which of them could have been beaten is not known."""
    state = play(table("5C 5H 2C", "6C 3C"), "lead 5C", "add 5H", "take")
    assert (proofs(state, "no_rank"), proofs(state, "no_beaters")) == ([set(), {"5"}], [set()] * 2)


def test_bm_7_4_one_card_unbeaten_proves_its_beaters_only():
    """BM-7.4: a card had been beaten before, so that no pass was open any more."""
    state = table("5C 5H 9D TD JD", "6C 2D 3D", stock="8D 4S")
    play(state, "lead 5C", "add 5H", "beat 5C with 6C", "take")
    assert (proofs(state, "no_rank"), proofs(state, "no_beaters")) == ([set()] * 2, [set(), {"5H"}])


def test_bm_7_4_without_a_receiver_the_rank_is_not_proved():
    """BM-7.4: the leader is out, so that a pass was not open: seat 1 may hold a five."""
    state = play(table("5H", "5D 3C", "6D 7D"), "lead 5H", "stop", "take")
    assert proofs(state, "no_rank") == [set()] * 3
    assert proofs(state, "no_beaters") == [set(), {"5H"}, set()]


def test_bm_7_4_proofs_lapse_with_a_draw():
    """BM-7.4: seat 1 passes the five it took, and draws."""
    state = table("5D 5H 9D TD JD KD", "4C 3C", stock="2C 6C 7C 4S")
    play(state, "lead 5D", "stop", "take")
    assert proofs(state, "no_rank")[1] == {"5"}
    play(state, "lead 5H", "pass 5D")
    assert state.public()["draws"][1] == 1
    assert proofs(state, "no_rank") == proofs(state, "no_beaters") == [set(), set()]


def test_bm_7_4_proofs_add_up():
    """BM-7.4: without a draw between, a second pick-up takes nothing back."""
    state = play(table("5H 9H 2C", "4H 3C 4D"), "lead 5H", "take", "lead 9H", "take")
    assert proofs(state, "no_rank")[1] == {"5", "9"}
    assert proofs(state, "no_beaters")[1] == {"5H", "9H"}


def test_bm_7_4_worlds_are_sampled_where_most_hands_have_no_trump():
    """BM-7.4: four hands of eight cards lack all trumps; careless drawing takes seconds."""
    plain = [rank + suit for rank in "23456789TJQ" for suit in "CDH"][1:]
    hands = [["KC", "AC", "AH", "KH"], *(plain[first::4] for first in range(4))]
    hands[2].append("AD")
    hands[4].append("2C")
    hands.append(["3S", "4S", "5S", "6S", "7S", "8S", "9S", "TS", "JS", "KD"])
    texts = [" ".join(hand) for hand in hands]
    state = table(*texts, stock="QS KS AS 2S", dealer=5, skip_forced=True)
    played = ["lead KC", "lead AD", "lead 2C", "beat 2C with 3S", "lead TS", "lead KC", "lead AD"]
    for text in played:
        while text not in legal(state):
            play(state, "stop")
        play(state, text)
    play(state, "stop*")
    proved = [seat for seat, attacks in enumerate(proofs(state, "no_beaters")) if attacks]
    assert len(proved) >= 4
    for seed in range(50):
        worlds = state.determinize(0, seed).hands()
        assert not any(card[1] == "S" for seat in proved for card in worlds[seat] if seat)


def test_bm_7_4_free_picking_up_proves_nothing():
    """BM-7.4: he may have wanted the card."""
    state = play(table("5H 2C", "6H 3C", pickup="free"), "lead 5H", "take")
    assert proofs(state, "no_rank") == proofs(state, "no_beaters") == [set(), set()]


def test_bm_7_5_by_default_only_decisions_are_asked():
    """BM-7.5: every node handed out has two actions or more."""
    num_legal: list[int] = []
    state = cardenvs.load_game(GAME).new_initial_state(seed=8)
    play_out(state, 8, lambda state: num_legal.append(len(state.legal_actions())))
    assert min(num_legal) >= 2


@pytest.mark.parametrize("num_players", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_bm_7_5_both_modes_play_the_same_game(num_players, seed):
    """BM-7.5: without forced nodes the same decisions lead to the same end."""
    full, short = play_in_both_modes(GAME, seed, num_players=num_players)
    assert short.is_terminal()
    assert (short.hands(), short.public()) == (full.hands(), full.public())


def test_bm_7_5_the_forced_end_of_a_game_plays_itself():
    """BM-7.5: seat 1 must take the queen and is led 5H, with which seat 0 goes out."""
    state = play(table("5H QD", "6H 2C", skip_forced=True), "lead QD")
    assert (state.is_terminal(), list(state.returns())) == (True, [0.0, -1.0])


# ---- Actions -------------------------------------------------------------------------------------


def test_actions_of_leader_and_adders_are_the_card():
    """The id of `lead` and `add` is the card; 520 is `stop`."""
    state = table("5C 5S KC", "6C 2D")
    assert state.string_to_action("lead 5C") == 3
    play(state, "lead 5C")
    assert (state.string_to_action("add 5S"), state.string_to_action("stop")) == (42, 520)


def test_actions_of_the_defender_name_both_cards():
    """`pass` is 52 and the card; `beat` and `exchange` count the suit of the attack card too."""
    state = play(table("5H 2C 9D TD", "5D 8H KH", stock="3D 4S"), "lead 5H")
    assert (state.string_to_action("add 5D"), state.string_to_action("pass 5D")) == (16, 68)
    assert state.string_to_action("beat 5H with 8H") == 104 + 2 * 52 + 32
    play(state, "beat 5H with 8H")
    assert state.string_to_action("exchange 5H with KH") == 312 + 2 * 52 + 37
    assert state.string_to_action("done") == 520


def test_the_last_action_is_to_take():
    """It is number 521."""
    state = play(table("5H 2C", "4H 3C"), "lead 5H")
    assert state.legal_actions() == [state.string_to_action("take")] == [521]


@pytest.mark.parametrize("text", ["lead AS", "add 5S", "pass 5S", "take", "stop", "5S", "lead", ""])
def test_an_illegal_text_is_refused_with_the_legal_ones(text):
    """No action is read from a text that is not legal; the error names those that are."""
    state = table("5S 9H", "6C 2D")
    with pytest.raises(IllegalActionError, match=r"lead 9H.*lead 5S"):
        state.string_to_action(text)


@pytest.mark.parametrize("action", [-1, 0, 52, 520, 521, 522, 1000])
def test_an_illegal_action_changes_nothing(action):
    """The error names the legal actions, and the table stays as it was."""
    state = table("5S 9H", "6C 2D")
    hands, public = state.hands(), state.public()
    with pytest.raises(IllegalActionError, match=r"lead 9H.*lead 5S"):
        state.apply_action(action)
    assert (state.hands(), state.public(), state.current_player) == (hands, public, 0)


def test_no_action_is_legal_after_the_end():
    """A finished episode refuses every action."""
    state = play(table("5H", "6H QD"), "lead 5H")
    with pytest.raises(IllegalActionError):
        state.apply_action(520)


# ---- BM-8 Fixed deals ----------------------------------------------------------------------------


def test_bm_8_1_dealer_and_leader_by_default():
    """BM-8.1: seat 0 has dealt and the next player leads."""
    state = table("2C 3C", "4C 5C", "6C 7C", leader=None)
    assert (state.public()["dealer"], on_lead(state), roles(state)) == (0, 1, (1, 2))


def test_bm_8_1_dealer_and_leader_by_name():
    """BM-8.1: a named leader leads, whoever dealt; without one the next player after the dealer."""
    hands = ["2C 3C", "4C 5C", "6C 7C"]
    named = table(*hands, dealer=1, leader=1)
    assert (named.public()["dealer"], on_lead(named)) == (1, 1)
    assert on_lead(table(*hands, dealer=2, leader=None)) == 0


def test_bm_8_1_nobody_draws_before_his_first_placement():
    """BM-8.1: short hands stay short until they put down a card."""
    state = table("2C", "4D 5D", "6C 7C 8C", stock="9C TC JC KC 4S")
    assert (state.public()["hand_sizes"], state.public()["stock_size"]) == ([1, 2, 3], 5)
    play(state, "lead 2C", "stop")
    assert (state.public()["hand_sizes"], state.public()["stock_size"]) == ([3, 2, 3], 2)


def test_bm_8_1_a_deal_without_a_stock():
    """BM-8.1: leaving it away and leaving it empty mean the same."""
    deal = {"hands": ["2C 3C", "4C 5C"], "trump": "H"}
    state = new_game(GAME, num_players=2).new_initial_state(deal=deal)
    assert (state.stock(), state.public()["stock_size"]) == ([], 0)


def test_bm_8_1_the_stock_is_drawn_as_it_was_given():
    """BM-8.1: its text names the top card first and the upcard last."""
    state = table("5S 2C 3C", "6S 8C 9C", stock="TC TD 4H")
    assert (state.stock(), state.public()["upcard"]) == (["TC", "TD", "4H"], "4H")
    play(state, "lead 5S", "beat 5S with 6S")
    assert state.hands() == [{"2C", "3C", "TC"}, {"8C", "9C", "TD"}]


@pytest.mark.parametrize("seed", range(3))
def test_bm_8_1_to_deal_gives_the_start_of_the_game(seed):
    """BM-8.1: taken in mid-game, it lays out the first position again."""
    game = new_game(GAME, num_players=4)
    state = game.new_initial_state(seed=seed)
    hands, stock, public = state.hands(), state.stock(), state.public()
    for _ in range(6):
        play(state, sorted(legal(state))[0])
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
def test_bm_8_1_to_deal_keeps_what_a_fixed_deal_said(deal):
    """BM-8.1: trumps without an upcard, and an upcard that is in no stock."""
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
    "an unknown card in the stock": ({"hands": ["2C", "3C", "4C"], "stock": "XX 4H"}, "XX"),
    "a dealer beyond the table": ({"hands": THREE_HANDS, "trump": "H", "dealer": 3}, "dealer"),
    "a negative dealer": ({"hands": THREE_HANDS, "trump": "H", "dealer": -1}, "dealer"),
    "a leader beyond the table": ({"hands": THREE_HANDS, "trump": "H", "leader": 3}, "leader"),
    "a negative leader": ({"hands": THREE_HANDS, "trump": "H", "leader": -1}, "leader"),
    "a leader without cards": ({"hands": ["2C", "", "4C"], "trump": "H", "leader": 1}, "leader|1"),
    "an empty hand beside a stock": ({"hands": ["2C", "", "4C"], "stock": "9D 4H"}, "hand|stock"),
    "nobody with cards": ({"hands": ["", "", ""], "trump": "H"}, "card|hand"),
    "nothing that names trumps": ({"hands": THREE_HANDS}, "trump"),
    "a trump that is no suit": ({"hands": THREE_HANDS, "trump": "E"}, "E"),
    "trump against the upcard": ({"hands": THREE_HANDS, "stock": "9C 4H", "trump": "S"}, "trump"),
    "trump against the exposed": ({"hands": THREE_HANDS, "exposed": "4H", "trump": "S"}, "trump"),
    "an unknown exposed card": ({"hands": THREE_HANDS, "exposed": "ZZ"}, "ZZ|exposed"),
    "exposed inside the stock": (
        {"hands": THREE_HANDS, "stock": "9C 8H 4H", "exposed": "8H"},
        "8H|exposed",
    ),
    "exposed in a hand, with a stock": (
        {"hands": THREE_HANDS, "stock": "9C 4H", "exposed": "4C"},
        "4C|exposed",
    ),
}


@pytest.mark.parametrize("reason", REFUSED_DEALS)
def test_bm_8_2_a_deal_is_refused(reason):
    """BM-8.2: with an error that says what is wrong."""
    deal, complaint = REFUSED_DEALS[reason]
    with pytest.raises(DealError, match=complaint):
        new_game(GAME, num_players=3).new_initial_state(deal={"stock": ""} | deal)


def test_bm_8_2_the_error_names_both_numbers_of_hands():
    """BM-8.2: those given and those wanted."""
    deal = {"hands": ["2C", "3C"], "stock": "", "trump": "H"}
    with pytest.raises(DealError) as error:
        new_game(GAME, num_players=6).new_initial_state(deal=deal)
    assert "6" in str(error.value)
    assert "2" in str(error.value)


def test_bm_8_3_a_seat_without_cards_is_out_from_the_start():
    """BM-8.3: it has no role, and the leader by default is the next player with cards."""
    state = table("2C 3C", "", "4C 5C", "6C 7C", leader=None)
    assert (active(state), on_lead(state)) == ([True, False, True, True], 2)
    assert roles(state) == (2, 3)


def test_bm_8_3_with_one_seat_left_the_game_is_over_at_once():
    """BM-8.3: the only player with cards has lost, with the queen or without her."""
    state = table("", "4C 5C", "", leader=None)
    assert (state.is_terminal(), state.is_truncated()) == (True, False)
    assert list(state.returns()) == [0.0, -1.0, 0.0]


def test_bm_8_3_a_match_goes_on_after_a_game_that_was_over():
    """BM-8.3: the next game is dealt by the dealer's left neighbour."""
    state = table("", "4C 5C", "", leader=None, num_games=2)
    assert (state.is_terminal(), list(state.returns())) == (False, [0.0, -1.0, 0.0])
    assert (state.public()["games_played"], state.public()["dealer"]) == (1, 1)


def test_bm_8_3_cards_left_out_are_known_to_be_out():
    """BM-8.3: as if they had been beaten."""
    state = table("2C 3C", "4C 5C", stock="9C 4H")
    assert waste(state) == set(DECK) - {"2C", "3C", "4C", "5C", "9C", "4H"}


def test_bm_8_3_a_trump_that_agrees_is_accepted():
    """BM-8.3: it repeats what the upcard says."""
    state = table("2C 3C", "4C 5C", stock="9D 4H", trump="H")
    assert (state.public()["trump"], state.public()["upcard"]) == ("H", "4H")


def test_bm_8_3_a_trump_alone_has_no_upcard():
    """BM-8.3: with an empty stock the suit may be all that is known."""
    public = table("2C 3C", "4C 5C", trump="D").public()
    assert (public["trump"], public["upcard"]) == ("D", None)
    assert not public["upcard_in_stock"]


@pytest.mark.parametrize(("exposed", "owner"), [("5C", 1), ("9H", None)])
def test_bm_8_3_without_a_stock_the_upcard_may_be_named(exposed, owner):
    """BM-8.3: in a hand it is known there; else it is out of play. It names trumps."""
    state = table("2C 3C", "4C 5C", exposed=exposed)
    assert (state.public()["upcard"], state.public()["trump"]) == (exposed, exposed[1])
    assert known(state) == [{exposed} if seat == owner else set() for seat in range(2)]
    assert not state.public()["upcard_in_stock"]


# ---- Options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("num_players", 1),
        ("num_players", 7),
        ("num_players", "three"),
        ("queen", "QS"),
        ("pickup", "never"),
        ("pickup_scope", "half"),
        ("pass_direction", "left"),
        ("exchange", "sometimes"),
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
        cardenvs.load_game(GAME, **{option: value})


def test_an_unknown_option_is_refused():
    """Notes on other variants are no options."""
    with pytest.raises(OptionError, match="adders"):
        cardenvs.load_game(GAME, adders="all")


@pytest.mark.parametrize(
    ("option", "value"),
    [("num_games", 1), ("num_games", 120), ("no_progress_limit", 1), ("no_progress_limit", 120)],
)
def test_the_ends_of_a_range_are_accepted(option, value):
    """Matches and limits go from 1 to 120."""
    state = new_game(GAME, num_players=3, **{option: value}).new_initial_state(seed=1)
    assert not state.is_terminal()
