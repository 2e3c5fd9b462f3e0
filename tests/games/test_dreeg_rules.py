"""Dreeg, rule by rule: each test is named after a rule of docs/games/dreeg.md.

`test_dr_t3_...` are the worked examples of the rules, `test_dr_3_3_...` tests rule DR-3.3. Most
hands are short: the cards that stand nowhere are out of play. Unless a test says otherwise an
episode is one deal, the last seat deals, and every node is asked (`skip_forced=False`), so that the
masks with a single action can be seen.
"""

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cardenvs
from cardenvs import DealError, IllegalActionError, OptionError
from tests.games.table import State, known, legal, new_game, play, play_in_both_modes, play_out

GAME = "dreeg-v0"
DECK = [rank + suit for suit in "EBHG" for rank in "9UOKTA"]
POINTS = {"A": 11, "T": 10, "K": 4, "O": 3, "U": 2, "9": 0}
SUBGAMES = ["deutsch", "ace_of_hearts", "rufen", "kamerun"]
TABLES = [(num, game) for num in (2, 3, 4) for game in SUBGAMES if (num, game) != (2, "kamerun")]
POSITION = ("talon", "trump", "dealer", "leader", "strokes", "blobs", "phase")
TRUMPS = {"trump E", "trump B", "trump H", "trump G"}
SHORT_CUTS = {"close", "out", "surrender", "durchmarsch"}


def table(subgame: str, *hands: str, **more: Any) -> State:
    """Lay out a position; `more` are keys of a deal, options, and the seed of what follows."""
    deal: dict[str, Any] = {"subgame": subgame, "hands": list(hands), "dealer": len(hands) - 1}
    deal |= {key: more.pop(key) for key in POSITION if key in more}
    seed = more.pop("seed", 1)
    options = {"num_players": len(hands), "scope": "deal"} | more
    return new_game(GAME, **options).new_initial_state(seed=seed, deal=deal)


def talon(*hands: str, bottom: str, top: str = "") -> str:
    """Return the cards that stand nowhere else, some of them at the top and one at the bottom."""
    placed = " ".join([*hands, top, bottom]).split()
    return " ".join([top, *[card for card in DECK if card not in placed], bottom])


def tricks(state: State, *all_cards: str) -> State:
    """Play tricks, `+KE` showing a marriage; whatever is asked in between is declined."""
    for cards in all_cards:
        led, *rest = cards.split()
        verb = "marry" if led.startswith("+") else "lead"
        play(state, "continue*", f"{verb} {led.removeprefix('+')}", "continue*")
        play(state, *[f"play {card}" for card in rest])
    return state


def answers(trick: str, hand: str, trump: str = "B") -> set[str]:
    """Return what a hand may play to a trick of one or two cards, with four players."""
    led, *rest = trick.split()
    held = hand.split()
    free = [card for card in DECK if card not in [led, *rest, *held]]
    plain = [card for card in free if card[1] not in (led[1], trump)]
    turned = next(card for card in free if card[1] == trump)
    seats = [[led], *[[card] for card in rest], held]
    seats += [[] for _ in range(3 - len(seats))] + [[turned]]
    for cards in seats:
        while len(cards) < len(held):
            cards.insert(0, plain.pop())
    state = table("deutsch", *[" ".join(cards) for cards in seats])
    play(state, f"lead {led}", *[f"play {card}" for card in rest])
    return {text.removeprefix("play ") for text in legal(state)}


def node(state: State) -> str:
    """Return what all see to be asked."""
    return str(state.public()["node"])


def awards(state: State) -> list[int]:
    """Return the awards of the last finished deal."""
    return list(state.public()["last_result"])


def score(state: State, name: str) -> list[int]:
    """Return a number of each seat, such as its points or strokes."""
    return list(state.public()[name])


def leads(state: State) -> set[str]:
    """Return the cards that may be led."""
    return {text.removeprefix("lead ") for text in legal(state) if text.startswith("lead ")}


def play_on(state: State, seed: int, watch: Callable[[State], None] | None = None) -> State:
    """Play at random to the end, but never close, go out, surrender or announce a Durchmarsch."""
    chooser = random.Random(seed)
    while not state.is_terminal():
        if watch is not None:
            watch(state)
        play(state, chooser.choice(sorted(legal(state) - SHORT_CUTS)))
    return state


def play_deals(
    state: State, seed: int, player: Callable[..., State] = play_out
) -> list[tuple[dict[str, Any], list[int]]]:
    """Play to the end; return what all saw at the start of each deal, and its awards."""
    starts: dict[int, dict[str, Any]] = {}
    results: dict[int, list[int]] = {}

    def watch(state: State) -> None:
        public = state.public()
        results.setdefault(public["deals_played"], public["last_result"])
        if public["node"] not in ("elect", "over"):
            starts.setdefault(public["deals_played"], public)

    watch(player(state, seed, watch))
    return [(start, results[number + 1]) for number, start in sorted(starts.items())]


# ---- The worked examples -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trick", "hand", "expected"),
    [
        ("KG", "AG TG 9G AB", "AG TG"),
        ("KG", "OG 9G AB TB", "OG 9G"),
        ("KG", "AB 9B 9H AE", "AB 9B"),
        ("KG", "9H AE TE", "9H AE TE"),
    ],
)
def test_dr_t1_a_plain_suit_and_no_trump_yet(trick, hand, expected):
    """DR-2.2: head it, else follow suit, else trump, else anything."""
    assert answers(trick, hand) == set(expected.split())


@pytest.mark.parametrize(
    ("trick", "hand", "expected"),
    [
        ("KG OB", "AG 9G AB", "AG 9G"),
        ("KG OB", "AB KB 9B 9H", "AB KB"),
        ("KG OB", "9B UB 9H", "9B UB"),
        ("KG OB", "9H AE TE", "9H AE TE"),
    ],
)
def test_dr_t2_a_plain_suit_already_trumped(trick, hand, expected):
    """DR-2.2: the suit need not be headed, the trump must be."""
    assert answers(trick, hand) == set(expected.split())


@pytest.mark.parametrize(
    ("trick", "hand", "expected"),
    [
        ("OB", "AB TB 9B AG", "AB TB"),
        ("OB TB", "AB KB 9B AG", "AB"),
        ("OB TB", "KB 9B AG", "KB 9B"),
        ("OB", "AG TG 9H", "AG TG 9H"),
    ],
)
def test_dr_t3_a_trump_led_is_headed_if_possible(trick, hand, expected):
    """DR-2.2: with a trump higher than the best one."""
    assert answers(trick, hand) == set(expected.split())


@pytest.mark.parametrize(
    ("trick", "hand", "expected"),
    [
        ("TG", "AG 9G KB", "AG"),
        ("AG", "TG 9G KB", "TG 9G"),
        ("TG 9B", "AG 9G KB", "AG 9G"),
        ("TG", "KB 9H", "KB"),
        ("TG UB", "9B KB 9H", "KB"),
        ("TG UB", "9B 9H", "9B"),
    ],
)
def test_dr_t4_leaves_led_with_bells_as_trumps(trick, hand, expected):
    """DR-2.2: the six hands of the example."""
    assert answers(trick, hand) == set(expected.split())


@pytest.mark.parametrize(
    ("caller", "partner", "lead", "expected"),
    [
        ("OB AB KG", "UB TB 9B", "AB", {"play TB", "play 9B"}),
        ("OB TB KG", "UB AB 9B", "TB", {"play AB"}),
    ],
)
def test_dr_t5_the_partner_is_headed_too(caller, partner, lead, expected):
    """DR-2.3: in trick 2 of Rufen, when all know who the partner is."""
    state = play(table("rufen", caller, "9G UG KE", partner, "9E UE OE"), "call UB")
    tricks(state, "OB 9G UB 9E")
    assert state.public()["team"] == [0, 2]
    play(state, f"lead {lead}", "play UG")
    assert (state.current_player, legal(state)) == (2, expected)


@pytest.mark.parametrize(("trump", "worth"), [("E", 40), ("B", 20)])
def test_dr_t6_a_marriage_is_worth_40_in_trumps_and_20_otherwise(trump, worth):
    """DR-2.5: shown at a lead."""
    state = play(table("deutsch", "KE OE", "9G UG", trump=trump), "marry OE")
    assert score(state, "declared") == [worth, 0]


def test_dr_t6_without_a_trick_the_total_is_nothing():
    """DR-2.7: seat 0 has shown 20, but only seats 1 (14) and 3 (18) have tricks."""
    state = tricks(table("deutsch", "KE OE", "AE TE", "9G UG", "9E UH"), "+OE AE 9G 9E")
    assert score(state, "declared") == [20, 0, 0, 0]
    assert awards(tricks(state, "TE UG UH KE")) == [0, 2, 0, 3]


def test_dr_t7_ace_ten_king_and_over_of_trumps_make_closing_safe():
    """DR-8.5: 28 points in cards and 40 are 68, though the other gives nothing."""
    hands = ["AB TB KB OB OE KG", "9B 9E 9H 9G UE UG"]
    state = table("deutsch", *hands, talon=talon(*hands, bottom="UB"), ruleset="pagat")
    assert "close" in legal(state)
    play(state, "close")
    tricks(state, "AB 9B", "TB 9E", "+KB 9H")
    assert (state.is_terminal(), score(state, "points")) == (False, [25, 0])
    tricks(state, "OB 9G")
    assert (state.is_terminal(), awards(state)) == (True, [3, 0])


#: Seat 0 goes out with AH TH, the marriage of bells and UB: 67 points. Before that seat 1 may have
#: two tricks.
AGAINST_33 = ("TE UG AH KB OB 9E", "AE TG TH UB 9H UH", ["AE TE", "TG UG", "TH AH", "+KB UB"])
AGAINST_32 = ("TE 9G AH KB OB 9E", "AE AG TH UB 9H UH", ["AE TE", "AG 9G", "TH AH", "+KB UB"])
AGAINST_NOTHING = ("AH KB OB 9E", "TH UB 9H UH", ["AH TH", "+KB UB"])


@pytest.mark.parametrize(
    ("case", "strokes"), [(AGAINST_33, 1), (AGAINST_32, 2), (AGAINST_NOTHING, 3)]
)
@pytest.mark.parametrize("going_out", ["auto", "manual"])
def test_dr_t8_what_a_win_is_worth(case, strokes, going_out):
    """DR-3.5: 1 against 33, 2 against 32 with a trick, 3 against no trick."""
    *hands, all_cards = case
    leader = 0 if strokes == 3 else 1
    options = {"ruleset": "pagat", "going_out": going_out}
    state = table("deutsch", *hands, trump="B", leader=leader, **options)
    tricks(state, *all_cards)
    if going_out == "manual":
        play(state, "out")
    assert (state.is_terminal(), awards(state)) == (True, [strokes, 0])


@pytest.mark.parametrize(("claimant", "expected"), [(2, [2, 2, 0, 2]), (3, [0, 0, 2, 0])])
def test_dr_t8_a_wrong_claim_is_worth_2_to_each_opponent(claimant, expected):
    """DR-3.6: the claim of the soloist or of one of the others."""
    hands = ["9E 9B 9G", "UE UB UG", "OE AH KH", "AE KB KG"]
    if claimant == 2:
        hands = ["9E 9B 9G", "UE UB UG", "AE AH KH", "OE KB KG"]
    state = play(table("ace_of_hearts", *hands, going_out="manual"), "trump H")
    play(state, "lead 9E", "play UE", f"play {hands[2][:2]}", f"play {hands[3][:2]}")
    assert (state.current_player, legal(state)) == (claimant, {"out", "continue"})
    play(state, "out")
    assert (state.is_terminal(), awards(state)) == (True, expected)


def test_dr_t8_a_wrong_claim_of_one_of_two():
    """DR-3.6: the other player erases 2."""
    options = {"trump": "B", "ruleset": "pagat", "going_out": "manual"}
    state = table("deutsch", "AE 9G 9H", "TE UG UH", **options)
    assert awards(play(tricks(state, "AE TE"), "out")) == [0, 2]


def test_dr_t9_both_below_66():
    """DR-3.7: the last trick wins, 1 stroke; seat 0 has more points."""
    state = table("deutsch", "AE 9G", "TE AG", trump="B", ruleset="pagat")
    assert awards(tricks(state, "AE TE", "9G AG")) == [0, 1]


def test_dr_t9_both_with_66():
    """DR-3.7: seat 0 has 68 and seat 1 71, with the last trick; nobody has gone out."""
    options = {"trump": "B", "ruleset": "pagat", "going_out": "manual"}
    state = table("deutsch", "KB OB AE TE 9H UG", "AB KE OE TB AH TH", **options)
    tricks(state, "+KB AB", "+KE AE", "TE OE", "OB TB", "AH 9H", "TH UG")
    assert (score(state, "points"), score(state, "declared")) == ([28, 51], [40, 20])
    assert awards(state) == [0, 1]


def test_dr_t9_each_member_of_the_side_with_the_last_trick():
    """DR-3.7: 1 stroke for each of the three, with 14 points."""
    state = play(table("ace_of_hearts", "AE", "UE", "AH", "9E"), "trump B")
    assert awards(tricks(state, "AE UE AH 9E")) == [1, 1, 0, 1]


@pytest.mark.parametrize("going_out", ["auto", "manual"])
def test_dr_t10_the_last_trick_is_played_after_the_second_to_last(going_out):
    """DR-3.4: 70 points with one card left; seat 1 gets a trick and so loses 2, not 3."""
    options = {"trump": "B", "ruleset": "pagat", "going_out": going_out}
    state = table("deutsch", "KB OB AH 9E", "UB 9B TH AE", **options)
    tricks(state, "+KB UB", "OB 9B", "AH TH")
    assert (score(state, "points"), score(state, "declared")) == ([30, 0], [40, 0])
    assert (state.current_player, legal(state)) == (0, {"lead 9E"})
    assert awards(tricks(state, "9E AE")) == [2, 0]


def test_dr_t11_a_tie_for_first():
    """DR-4.4: 16, 16, 13 with the last trick, and 0."""
    state = table("deutsch", "AE 9G UB", "UE AG 9B", "9E UG AH", "OE OG 9H")
    tricks(state, "AE UE 9E OE", "9G AG UG OG", "9B AH 9H UB")
    assert (score(state, "points"), awards(state)) == ([16, 16, 13, 0], [2, 2, 1, 0])


def test_dr_t11_a_tie_for_second():
    """DR-4.4: 16, 16, 17 with the last trick, and 0."""
    state = table("deutsch", "AE 9G UB", "UE AG KB", "9E UG AH", "OE OG 9H")
    tricks(state, "AE UE 9E OE", "9G AG UG OG", "KB AH 9H UB")
    assert (score(state, "points"), awards(state)) == ([16, 16, 17, 0], [1, 1, 3, 0])


def test_dr_t11_a_tie_for_third():
    """DR-4.4: 16, 13, 0 and 0."""
    state = table("deutsch", "AE UH", "UE AH", "9E 9B", "OE 9H")
    tricks(state, "AE UE 9E OE", "UH AH 9B 9H")
    assert (score(state, "points"), awards(state)) == ([16, 13, 0, 0], [3, 2, 0, 0])


def test_dr_t11_one_is_first_and_three_are_equal():
    """DR-4.4: who takes all the tricks leaves the others nothing."""
    state = tricks(table("deutsch", "AH", "9E", "9G", "9H"), "AH 9E 9G 9H")
    assert awards(state) == [3, 0, 0, 0]


def test_dr_t11_three_players():
    """DR-4.4: 2, 0, 0 when two are equal at the end, 1, 1, 0 when two are equal at the top."""
    state = tricks(table("deutsch", "AH", "9E", "9H"), "AH 9E 9H")
    assert awards(state) == [2, 0, 0]
    state = table("deutsch", "AE 9G UB", "UE AG 9B", "9E UG 9H")
    tricks(state, "AE UE 9E", "9G AG UG", "9B 9H UB")
    assert (score(state, "points"), awards(state)) == ([13, 13, 2], [1, 1, 0])


def test_dr_t12_the_last_trick_breaks_a_tie_for_first():
    """DR-4.4: 16 each for seats 1 and 2, of whom seat 2 has won the last trick."""
    state = table("deutsch", "TE 9G UB", "UE AG OB", "9E UG AH", "OE OG 9H")
    tricks(state, "TE UE 9E OE", "9G AG UG OG", "OB AH 9H UB")
    assert (score(state, "points"), awards(state)) == ([15, 16, 16, 0], [1, 2, 3, 0])


def test_dr_t13_forehand_cannot_swap_at_the_first_lead():
    """DR-8.3: he holds the nine, but has won no trick."""
    hands = ["9B AE TE KE OE UE", "9E 9G UG OG KG TG"]
    state = table("deutsch", *hands, talon=talon(*hands, bottom="KB"))
    assert (node(state), "close" in legal(state), "nine" in legal(state)) == ("lead", True, False)


def test_dr_t13_the_winner_of_trick_6_swaps_before_drawing_only():
    """DR-8.3: with two cards left in the talon."""
    state = table("deutsch", "AE 9B", "9E 9G", talon="TE KB")
    tricks(state, "AE 9E")
    assert legal(state) == {"nine", "continue"}
    assert leads(play(state.clone(), "nine")) == {"KB", "TE"}
    assert legal(play(state, "continue")) == {"lead 9B", "lead TE"}


def test_dr_t13_a_nine_drawn_last_is_too_late():
    """DR-8.3: it was the last card face down."""
    state = tricks(table("deutsch", "AE UE", "9E 9G", talon="9B KB"), "AE 9E")
    assert legal(state) == {"lead UE", "lead 9B"}


def test_dr_t13_the_loser_of_a_trick_cannot_swap():
    """DR-8.3: seat 1 must first win a trick."""
    state = tricks(table("deutsch", "AE 9G", "9E 9B", talon="TE AG OG KB"), "AE 9E")
    assert (state.current_player, legal(state)) == (0, {"close", "continue"})
    play(state, "continue")
    assert legal(state) == {"lead 9G", "lead TE"}
    tricks(state, "9G AG")
    assert (state.current_player, legal(state)) == (1, {"nine", "continue"})


@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
@pytest.mark.parametrize("subgame", ["deutsch", "ace_of_hearts", "rufen"])
def test_dr_t14_when_the_talon_can_be_closed(subgame, ruleset):
    """DR-8.5: at the start, before and after the draws of tricks 1 to 4, before that of trick 5."""
    options = {"ruleset": ruleset, "going_out": "manual", "num_players": 2, "scope": "deal"}
    state = new_game(GAME, subgame=subgame, **options).new_initial_state(seed=4)
    windows = []
    while not state.is_terminal():
        if "close" in legal(state):
            windows.append((node(state), state.public()["talon_size"]))
        play(state, min(legal(state) - {"close", "nine", "out"}))
    expected = [("lead", 12)]
    for size in (12, 10, 8, 6):
        expected += [("before_draw", size), ("lead", size - 2)]
    assert windows == [*expected, ("before_draw", 4)]


def test_dr_t15_the_closer_fails_and_both_had_33():
    """DR-8.8: 42 each when seat 1 closes; 1 stroke."""
    hands = ["AE AG TH TB 9E 9G", "TE TG AH AB UE UG"]
    order = "KE 9H KB UH OH KG OE OB 9B KH OG UB"
    state = table("deutsch", *hands, talon=order, ruleset="pagat")
    tricks(state, "AE TE", "AG TG", "TH AH", "AB TB")
    assert score(state, "points") == [42, 42]
    play(state, "close")
    tricks(state, "UE KE", "KB 9H", "KG UG", "9E UH", "9G OH")
    assert (score(state, "points"), awards(state)) == ([63, 42], [1, 0])


def test_dr_t15_the_closer_fails_and_one_had_fewer_than_33():
    """DR-8.8: 21 each when seat 1 closes, 36 and 42 at the end; 2 strokes."""
    hands = ["AE TH TG", "TE AH AG"]
    state = table("deutsch", *hands, talon="AB KB UE UG UH 9B", ruleset="pagat")
    tricks(state, "AE TE", "TH AH")
    play(state, "close")
    tricks(state, "AG TG", "KB AB")
    assert (score(state, "points"), awards(state)) == ([36, 42], [2, 0])


def test_dr_t15_the_closer_fails_and_one_was_without_a_trick():
    """DR-8.8: closed before the first lead, though both have a trick at the end; 3 strokes."""
    state = table("deutsch", "AE 9G", "9E AG", talon="KE OE KG KB", ruleset="pagat")
    play(state, "close")
    assert awards(tricks(state, "AE 9E", "9G AG")) == [0, 3]


def test_dr_t16_surrender():
    """DR-5.2: the other three erase 2 each, and the deal is over."""
    state = table("ace_of_hearts", "TE KE", "AH 9G", "AE 9E", "TB KG")
    assert (state.current_player, legal(state)) == (1, TRUMPS | {"surrender"})
    play(state, "surrender")
    assert (state.is_terminal(), awards(state)) == (True, [2, 0, 2, 2])
    assert state.public()["played"] == set()


def test_dr_t16_after_a_surrender_the_next_dealer_deals():
    """DR-5.2: a new deal, and nobody has played a card."""
    hands = ["TE KE", "AH 9G", "AE 9E", "TB KG"]
    state = table("ace_of_hearts", *hands, scope="match", ruleset="pagat", dealer=3)
    play(state, "surrender")
    assert (score(state, "strokes"), state.public()["deals_played"]) == ([5, 7, 5, 5], 1)
    assert (state.public()["dealer"], score(state, "hand_sizes")) == (0, [6] * 4)


#: Seat 0 wins the first six tricks with its hand; no ace of hearts.
ACE_HANDS = ("AE TE AG TG AB TB", "9E UE 9G UG 9B UB")
#: The draws of tricks 1 to 3, and the six cards left then.
THREE_DRAWS = "KE OE KG OG KB OB"
THREE_TRICKS = ("AE 9E", "TE UE", "AG 9G")


def test_dr_t17_the_talon_is_turned_up_and_down_again():
    """DR-5.7, DR-5.8: the ace is the last card but one."""
    state = table("ace_of_hearts", *ACE_HANDS, talon=f"{THREE_DRAWS} 9H UH OH KH AH TH")
    play(tricks(state, *THREE_TRICKS), "continue")
    public = state.public()
    assert (public["talon_size"], public["talon_face_up"], public["talon_top"]) == (6, True, "TH")
    tricks(state, "TG UG")
    play(state, "continue*")
    assert (state.current_player, legal(state)) == (1, TRUMPS)
    assert ("TH" in known(state)[0], "AH" in known(state)[1]) == (True, True)
    play(state, "trump B")
    public = state.public()
    assert (state.stock(), public["talon_face_up"]) == (["9H", "UH", "OH", "KH"], False)
    assert (public["talon_top"], public["talon_bottom"], public["trump"]) == (None, "KH", "B")


@pytest.mark.parametrize(("trump", "second"), [("E", 20), ("B", 40)])
def test_dr_t18_a_marriage_of_20_stays_20(trump, second):
    """DR-2.6: acorns become trumps after it; a marriage shown later counts by its suit."""
    hands = ["KE OE KB OB", "9E UE 9B UB"]
    state = table("ace_of_hearts", *hands, talon="AH 9G UG 9H")
    tricks(state, "+KE 9E")
    play(state, "continue", f"trump {trump}")
    assert score(state, "declared") == [20, 0]
    play(state, "marry KB")
    assert score(state, "declared") == [20 + second, 0]


def test_dr_t19_the_suits_of_the_first_three_cards_may_be_called():
    """DR-6.2: with a bell among them AB, without one not, whatever comes later."""
    others = ["UG OG UE OE", "AB UB TE AE", "TB OB 9H UH"]
    assert "call AB" in legal(table("rufen", "KG 9B 9E AG", *others))
    assert "call AB" not in legal(table("rufen", "KG AG 9E 9B", *others))


def test_dr_t19_who_calls_his_own_card_leads_it_and_is_alone():
    """DR-6.3, DR-6.4: against the rest."""
    state = play(table("rufen", "9B AB 9E", "UG OG UE", "UB TE AE", "TB OB 9H"), "call AB")
    assert (state.current_player, legal(state)) == (0, {"lead AB"})
    play(state, "lead AB")
    assert state.public()["team"] == [0]


def test_dr_t20_the_called_card_goes_before_heading():
    """DR-6.5: seat 2 holds AB too, and must play UB."""
    state = table("rufen", "9B KG 9E", "UG OG UE", "UB AB AE", "TB OB 9H")
    play(state, "call UB", "lead 9B", "play UG")
    assert (state.current_player, legal(state)) == (2, {"play UB"})


def test_dr_t21_the_first_lead_is_a_trump():
    """DR-6.4: forehand holds two."""
    state = table("rufen", "9B KB 9E AG", "UG OG UE KE", "OB AB AE TE", "TB UB 9H UH")
    assert legal(play(state, "call OB")) == {"lead 9B", "lead KB"}


def test_dr_t22_kamerun_two_equal_in_the_middle():
    """DR-7.7: 16, 16, 23 with the last trick, and 0."""
    state = table("kamerun", "AE 9G UB", "UE AG 9B", "9E UG AB", "OE OG TB")
    tricks(state, "AE UE 9E OE", "9G AG UG OG", "9B AB TB UB")
    assert (score(state, "points"), awards(state)) == ([16, 16, 23, 0], [2, 2, 3, 0])


def test_dr_t22_kamerun_two_without_a_trick():
    """DR-7.8: 16, 20 and two players with nothing."""
    state = table("kamerun", "AE KG", "UE AG", "9E UG", "OE OG")
    tricks(state, "AE UE 9E OE", "KG AG UG OG")
    assert (score(state, "points"), awards(state)) == ([16, 20, 0, 0], [2, 3, 0, 0])


def kamerun_phase(*hands: str, strokes: list[int], leader: int = 0) -> State:
    """Lay out a Kamerun deal in which a phase is about to end."""
    return table("kamerun", *hands, scope="subgame", strokes=strokes, leader=leader)


def test_dr_t23_the_threes_come_first():
    """DR-7.9: awards 2, 0, 3, 1 with strokes 1, 2, 3, 4: only the third player loses."""
    hands = ["AE KG 9B", "UE UG UB", "9E AG OB", "OE OG KB"]
    state = kamerun_phase(*hands, strokes=[1, 2, 3, 4])
    tricks(state, "AE UE 9E OE", "KG UG AG OG", "OB KB 9B UB")
    assert (score(state, "points"), awards(state)) == ([16, 0, 20, 9], [2, 0, 3, 1])
    assert (score(state, "blobs"), score(state, "strokes")) == ([0, 0, 1, 0], [1, 2, 0, 4])
    assert state.is_terminal()


def test_dr_t23_then_the_twos():
    """DR-7.9: awards 2, 2, 0, 3: the fourth player keeps a stroke, the first two lose."""
    hands = ["AE 9G TB", "UE AG 9B", "9E UG UB", "OE OG AB"]
    state = kamerun_phase(*hands, strokes=[1, 2, 3, 4])
    tricks(state, "AE UE 9E OE", "9G AG UG OG", "9B UB AB TB")
    assert (score(state, "points"), awards(state)) == ([16, 16, 0, 23], [2, 2, 0, 3])
    assert (score(state, "blobs"), score(state, "strokes")) == ([1, 1, 0, 0], [0, 0, 3, 1])


def test_dr_t23_a_durchmarsch_brings_down_all_others():
    """DR-7.4: seat 3 wins everything that it has announced."""
    state = kamerun_phase("9E 9G", "UE UG", "OE OG", "AE AG", strokes=[1, 2, 3, 4], leader=3)
    tricks(state, "AE 9E UE OE")
    play(state, "durchmarsch")
    tricks(state, "AG 9G UG OG")
    assert (awards(state), score(state, "blobs")) == ([3, 3, 3, 0], [1, 1, 1, 0])


@pytest.mark.parametrize(("rest", "expected"), [("9G KH", {"KH"}), ("9G OG", {"9G", "OG"})])
def test_dr_t24_the_suit_of_the_last_trick_is_not_led(rest, expected):
    """DR-7.2: unless its winner holds nothing else."""
    state = table("kamerun", "UG 9E UE", f"AG {rest}", "KG OE KE", "TG 9B UB")
    assert leads(tricks(state, "UG AG KG TG")) == expected


def test_dr_t25_durchmarsch_is_announced_before_trick_2_by_the_winner_of_trick_1():
    """DR-7.3: not before trick 1, not after trick 2."""
    state = table("kamerun", "UG 9E 9B", "AG AE UB", "KG OE OB", "TG UE KB")
    assert legal(state) == {"lead UG", "lead 9E", "lead 9B"}
    tricks(state, "UG AG KG TG")
    assert (state.current_player, legal(state)) == (1, {"lead AE", "lead UB", "durchmarsch"})
    tricks(state, "AE OE UE 9E")
    assert legal(state) == {"lead UB"}


def test_dr_t25_a_failed_durchmarsch_costs_the_announcer_3():
    """DR-7.4: the deal ends with the first trick that he loses."""
    state = table("kamerun", "UG 9E 9B", "AG AE UB", "KG OE OB", "TG UE KB")
    play(tricks(state, "UG AG KG TG"), "durchmarsch")
    tricks(state, "UB OB KB 9B")
    assert (state.is_terminal(), awards(state)) == (True, [0, 3, 0, 0])


def test_dr_t26_a_player_without_strokes_leaves():
    """DR-1.6: four players become three, with eight cards each."""
    state = table("deutsch", "AH", "9E", "9G", "9H", scope="match", strokes=[3, 5, 6, 7])
    tricks(state, "AH 9E 9G 9H")
    assert (score(state, "strokes"), score(state, "blobs")) == ([0, 5, 6, 7], [0, 0, 0, 0])
    assert (state.public()["active"], score(state, "hand_sizes")) == ([1, 2, 3], [0, 8, 8, 8])


def test_dr_t26_three_players_become_two():
    """DR-1.6, DR-1.14: six cards each, and a talon of twelve."""
    state = table("deutsch", "", "AH", "9E", "9H", scope="match", strokes=[0, 2, 5, 5])
    tricks(state, "AH 9E 9H")
    assert (state.public()["active"], score(state, "hand_sizes")) == ([2, 3], [0, 0, 6, 6])
    assert (state.public()["talon_size"], len(state.stock())) == (12, 12)


@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
def test_dr_t26_the_last_player_gets_the_blob(ruleset):
    """DR-1.6, DR-1.5: and a new phase begins with seven strokes for everybody."""
    options = {"scope": "match", "strokes": [0, 0, 1, 5], "trump": "H", "ruleset": ruleset}
    state = tricks(table("deutsch", "", "", "AH", "9H", **options), "AH 9H")
    public = state.public()
    assert (public["phase"], public["subgame"]) == (2, "ace_of_hearts")
    assert (public["blobs"], public["strokes"]) == ([0, 0, 0, 1], [7, 7, 7, 7])
    assert public["active"] == [0, 1, 2, 3]


@pytest.mark.parametrize(("ruleset", "dealer"), [("seed", 1), ("pagat", 3)])
def test_dr_t27_a_dealer_who_has_dropped_out_deals_without_cards(ruleset, dealer):
    """DR-1.12: it is the turn of seat 0, which has just erased its last strokes."""
    options = {"scope": "match", "strokes": [3, 7, 7, 7], "ruleset": ruleset}
    state = table("deutsch", "AH", "9H", "UH", "OH", dealer=dealer, leader=0, **options)
    public = tricks(state, "AH 9H UH OH").public()
    assert (public["dealer"], public["active"], public["leader"]) == (0, [1, 2, 3], 1)
    assert public["hand_sizes"] == [0, 8, 8, 8]


@pytest.mark.parametrize(("ruleset", "next_dealer"), [("seed", 3), ("pagat", 1)])
def test_dr_t27_a_dropped_dealer_deals_only_once(ruleset, next_dealer):
    """DR-1.12: then the deal moves on among those who have played."""
    options = {"scope": "match", "strokes": [0, 7, 7, 7], "ruleset": ruleset}
    state = tricks(table("deutsch", "", "AH", "9H", "UH", dealer=0, **options), "AH 9H UH")
    assert state.public()["dealer"] == next_dealer


@pytest.mark.parametrize("num_players", [3, 4])
@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
@pytest.mark.parametrize("player", [play_out, play_on])
def test_dr_t28_somebody_erases_and_a_phase_is_bounded(num_players, ruleset, player):
    """DR-1.6, DR-1.7: one award above 0 and, outside Kamerun, one of 0 among the active."""
    game = new_game(GAME, num_players=num_players, ruleset=ruleset)
    lengths = dict.fromkeys(range(1, 9), 0)
    for start, result in play_deals(game.new_initial_state(seed=28), 28, player):
        lengths[start["phase"]] += 1
        active = [result[seat] for seat in start["active"]]
        if start["subgame"] == "kamerun":
            assert len(active) == num_players
            assert max(active) == 3 or (num_players == 3 and max(active) == 2)
        else:
            assert (max(active) > 0, min(active)) == (True, 0)
            assert sum(result) == sum(active)
    others, kamerun = {4: (27, 9), 3: (20, 10)}[num_players]
    assert max(lengths[phase] for phase in (4, 5)) <= kamerun
    assert max(lengths[phase] for phase in (1, 2, 3, 6, 7, 8)) <= others
    assert min(lengths.values()) > 0


# ---- DR-1 Players, cards and match ---------------------------------------------------------------


def test_dr_1_1_four_players_by_default_or_three():
    """DR-1.1: two only for a single deal."""
    assert len(cardenvs.load_game(GAME).new_initial_state(seed=1).hands()) == 4
    assert len(new_game(GAME, num_players=3).new_initial_state(seed=1).hands()) == 3
    assert len(new_game(GAME, num_players=2, scope="deal").new_initial_state(seed=1).hands()) == 2


@pytest.mark.parametrize("options", [{}, {"scope": "match"}, {"scope": "subgame"}])
def test_dr_1_1_two_players_have_no_match_and_no_phase(options):
    """DR-1.1: the error names what they need."""
    with pytest.raises(OptionError, match=r"num_players=2.*deal"):
        cardenvs.load_game(GAME, num_players=2, **options)


def test_dr_1_1_two_players_have_no_kamerun():
    """DR-1.1: the error names the sub-game."""
    with pytest.raises(OptionError, match="kamerun"):
        cardenvs.load_game(GAME, num_players=2, scope="deal", subgame="kamerun")


def test_dr_1_1_two_players_have_no_kamerun_position():
    """DR-1.1, DR-10.2: nor does a fixed deal make one."""
    with pytest.raises(DealError, match="kamerun"):
        table("kamerun", "AE 9E", "TE KE")


def test_dr_1_2_cards_are_numbered_by_suit_and_rank():
    """DR-1.2: acorns, bells, hearts, leaves, each from the nine to the ace."""
    state = table("deutsch", "9E UE AE 9B 9H AG", "TE KE OE TB UB KB", trump="G")
    assert state.legal_actions() == [0, 1, 5, 6, 12, 23]


def test_dr_1_2_from_low_to_high_the_ranks_are_9_u_o_k_t_a():
    """DR-1.2: the ten is above the king."""
    for lower, higher in itertools.pairwise("9UOKTA"):
        state = tricks(
            table("kamerun", f"{lower}E 9G", f"{higher}E UG", "9B UB"), f"{lower}E {higher}E 9B"
        )
        assert score(state, "tricks") == [0, 1, 0]


@pytest.mark.parametrize("rank", POINTS)
def test_dr_1_3_card_points(rank):
    """DR-1.3: 11, 10, 4, 3, 2 and 0."""
    state = tricks(table("deutsch", f"{rank}E 9H", "9G UH", trump="B"), f"{rank}E 9G")
    assert score(state, "points") == [POINTS[rank], 0]


@pytest.mark.parametrize(("num_players", "subgame"), TABLES)
@pytest.mark.parametrize("seed", range(2))
def test_dr_1_3_all_tricks_have_120_points(num_players, subgame, seed):
    """DR-1.3: in every deal that is played out; the last trick brings nothing."""
    options = {"num_players": num_players, "subgame": subgame, "scope": "deal"}
    state = new_game(GAME, going_out="manual", **options).new_initial_state(seed=seed)
    assert sum(score(play_on(state, seed), "points")) == 120


@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
def test_dr_1_4_the_phases_go_forward_and_back(ruleset):
    """DR-1.4: and then the match is over."""
    state = new_game(GAME, num_players=3, ruleset=ruleset).new_initial_state(seed=14)
    seen = {start["phase"]: start["subgame"] for start, _ in play_deals(state, 14)}
    assert seen == dict(enumerate(SUBGAMES + SUBGAMES[::-1], start=1))


@pytest.mark.parametrize("num_players", [3, 4])
def test_dr_1_5_everybody_begins_with_seven_strokes(num_players):
    """DR-1.5: and has no blob."""
    public = new_game(GAME, num_players=num_players).new_initial_state(seed=1).public()
    assert public["strokes"] == [7] * num_players
    assert public["blobs"] == [0] * num_players


def test_dr_1_5_nobody_falls_below_0():
    """DR-1.5: an award of 3 with one stroke left."""
    options = {"scope": "match", "strokes": [1, 7, 7, 7]}
    state = tricks(table("deutsch", "AH", "9E", "9G", "9H", **options), "AH 9E 9G 9H")
    assert (awards(state), score(state, "strokes")) == ([3, 0, 0, 0], [0, 7, 7, 7])


@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
@pytest.mark.parametrize("seed", range(2))
def test_dr_1_5_the_strokes_of_a_match_follow_from_the_awards(ruleset, seed):
    """DR-1.5, DR-1.6: in a phase other than Kamerun who has none left drops out."""
    state = new_game(GAME, ruleset=ruleset).new_initial_state(seed=seed)
    deals = play_deals(state, seed)
    for (before, result), (after, _) in itertools.pairwise(deals):
        if before["phase"] == after["phase"]:
            pairs = zip(before["strokes"], result, strict=True)
            left = [max(0, strokes - award) for strokes, award in pairs]
            assert after["active"] == [seat for seat in range(4) if after["strokes"][seat]]
            if before["subgame"] != "kamerun":
                assert after["strokes"] == left
            else:
                assert after["active"] == [0, 1, 2, 3]
        else:
            assert after["strokes"] == [7, 7, 7, 7]


SOLO_HANDS = ["TE KE", "AE 9E", "TB KG", "AH 9G"]


def test_dr_1_6_several_leave_together_and_a_stage_is_skipped():
    """DR-1.6: after a surrender four players become two."""
    state = table("ace_of_hearts", *SOLO_HANDS, scope="match", strokes=[2, 1, 7, 7])
    play(state, "surrender")
    assert (state.public()["active"], score(state, "strokes")) == ([2, 3], [0, 0, 5, 7])
    assert score(state, "hand_sizes") == [0, 0, 6, 6]


def test_dr_1_6_three_leave_together_and_the_phase_is_over():
    """DR-1.6: the one who is left gets the blob, though he has fewest strokes."""
    options = {"scope": "match", "ruleset": "pagat", "strokes": [2, 2, 2, 1]}
    state = play(table("ace_of_hearts", *SOLO_HANDS, **options), "surrender")
    assert (state.public()["phase"], score(state, "blobs")) == (3, [0, 0, 0, 1])
    assert score(state, "strokes") == [7, 7, 7, 7]


def test_dr_1_7_a_kamerun_phase_goes_on_until_somebody_is_at_0():
    """DR-1.7: nobody loses with one stroke left, and all play the next deal."""
    state = table("kamerun", "AE", "UE", "9E", "OE", scope="match", strokes=[4, 1, 1, 1])
    tricks(state, "AE UE 9E OE")
    assert (score(state, "strokes"), score(state, "blobs")) == ([1, 1, 1, 1], [0, 0, 0, 0])
    assert (state.public()["phase"], score(state, "hand_sizes")) == (4, [6, 6, 6, 6])


def last_deal(**options: Any) -> State:
    """Lay out the last trick of a match: seat 2 leaves, and seat 3 gets the last blob."""
    position = {"phase": 8, "strokes": [0, 0, 1, 1], "blobs": [2, 1, 3, 1], "trump": "H"}
    return table("deutsch", "", "", "AH", "9H", scope="match", **position, **options)


@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
def test_dr_1_8_after_phase_8_the_fewest_blobs_are_best(ruleset):
    """DR-1.8, DR-1.16: 2, 1, 3 and 2 blobs, 2 on average; nobody elects any more."""
    state = tricks(last_deal(ruleset=ruleset), "AH 9H")
    assert (state.is_terminal(), score(state, "blobs")) == (True, [2, 1, 3, 2])
    assert list(state.returns()) == [0.0, 1.0, -1.0, 0.0]


@pytest.mark.parametrize("scope", ["match", "subgame", "deal"])
def test_dr_1_9_the_first_dealer_is_drawn(scope):
    """DR-1.9: over many seeds everybody deals first."""
    game = new_game(GAME, scope=scope)
    dealers = {game.new_initial_state(seed=seed).public()["dealer"] for seed in range(40)}
    assert dealers == {0, 1, 2, 3}


def end_of_phase_1(ruleset: str) -> State:
    """Play the last trick of phase 1, which seat 3 loses."""
    options = {"scope": "match", "strokes": [0, 0, 1, 5], "trump": "H", "ruleset": ruleset}
    return tricks(table("deutsch", "", "", "AH", "9H", **options), "AH 9H")


def test_dr_1_10_the_loser_elects_the_next_dealer():
    """DR-1.10: before cards are dealt, and himself as well."""
    state = end_of_phase_1("seed")
    public = state.public()
    assert (state.current_player, node(state), public["dealer"]) == (3, "elect", None)
    assert legal(state) == {"dealer 0", "dealer 1", "dealer 2", "dealer 3"}
    assert (public["active"], public["hand_sizes"]) == ([0, 1, 2, 3], [0, 0, 0, 0])


@pytest.mark.parametrize("dealer", range(4))
def test_dr_1_10_whoever_is_elected_deals(dealer):
    """DR-1.10: his left neighbour is forehand."""
    public = play(end_of_phase_1("seed"), f"dealer {dealer}").public()
    assert (public["dealer"], public["leader"]) == (dealer, (dealer + 1) % 4)
    assert public["hand_sizes"] == [6, 6, 6, 6]


def test_dr_1_10_by_pagat_the_right_neighbour_of_the_loser_deals():
    """DR-1.10: nobody is asked, and the loser is forehand."""
    public = end_of_phase_1("pagat").public()
    assert (public["dealer"], public["leader"], public["hand_sizes"]) == (2, 3, [6, 6, 6, 6])


def two_kamerun_losers(ruleset: str, seed: int) -> State:
    """End a Kamerun phase that seats 0 and 1 lose together."""
    hands = ["AE 9G TB", "UE AG 9B", "9E UG UB", "OE OG AB"]
    options = {"scope": "match", "strokes": [1, 2, 3, 4], "ruleset": ruleset, "seed": seed}
    state = table("kamerun", *hands, **options)
    return tricks(state, "AE UE 9E OE", "9G AG UG OG", "9B UB AB TB")


def test_dr_1_10_chance_picks_one_of_several_losers():
    """DR-1.10: either of them elects, or is forehand."""
    by_seed = [two_kamerun_losers("seed", seed) for seed in range(20)]
    assert {state.current_player for state in by_seed} == {0, 1}
    assert {node(state) for state in by_seed} == {"elect"}
    by_pagat = [two_kamerun_losers("pagat", seed) for seed in range(20)]
    assert {state.public()["dealer"] for state in by_pagat} == {3, 0}


@pytest.mark.parametrize(
    ("ruleset", "dealer", "next_dealer"),
    [("seed", 3, 2), ("seed", 0, 3), ("pagat", 3, 0), ("pagat", 1, 2)],
)
def test_dr_1_11_the_deal_moves_on(ruleset, dealer, next_dealer):
    """DR-1.11: by the seed text to the right, by pagat to the left."""
    options = {"dealer": dealer, "leader": 0, "scope": "match", "ruleset": ruleset}
    state = tricks(table("deutsch", "AH", "9H", "UH", "OH", **options), "AH 9H UH OH")
    assert state.public()["dealer"] == next_dealer


@pytest.mark.parametrize(("ruleset", "dealer", "next_dealer"), [("seed", 1, 3), ("pagat", 3, 1)])
def test_dr_1_11_those_who_have_dropped_out_before_are_passed_over(ruleset, dealer, next_dealer):
    """DR-1.11: seat 0 has not played."""
    options = {"dealer": dealer, "leader": 1, "scope": "match", "ruleset": ruleset}
    state = tricks(table("deutsch", "", "AH", "9H", "UH", **options), "AH 9H UH")
    assert state.public()["dealer"] == next_dealer


@pytest.mark.parametrize(("ruleset", "step"), [("seed", -1), ("pagat", 1)])
@pytest.mark.parametrize("num_players", [3, 4])
def test_dr_1_11_the_dealers_of_a_match(num_players, ruleset, step):
    """DR-1.11, DR-1.13: the next of those who have played; forehand plays and is left of him."""
    game = new_game(GAME, num_players=num_players, ruleset=ruleset)
    deals = play_deals(game.new_initial_state(seed=11), 11)
    for (before, _), (after, _) in itertools.pairwise(deals):
        if before["phase"] == after["phase"]:
            dealer = (before["dealer"] + step) % num_players
            while dealer not in before["active"]:
                dealer = (dealer + step) % num_players
            assert after["dealer"] == dealer
        forehand = (after["dealer"] + 1) % num_players
        while forehand not in after["active"]:
            forehand = (forehand + 1) % num_players
        assert after["leader"] == forehand


@pytest.mark.parametrize("subgame", SUBGAMES)
@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
def test_dr_1_13_forehand_is_left_of_the_dealer(subgame, ruleset):
    """DR-1.13: clockwise in both rulesets."""
    game = new_game(GAME, subgame=subgame, scope="deal", ruleset=ruleset)
    for seed in range(8):
        public = game.new_initial_state(seed=seed).public()
        assert public["leader"] == (public["dealer"] + 1) % 4


@pytest.mark.parametrize(("num_players", "hand_size", "size"), [(4, 6, 0), (3, 8, 0), (2, 6, 12)])
@pytest.mark.parametrize("subgame", ["deutsch", "ace_of_hearts"])
def test_dr_1_14_hand_sizes(num_players, hand_size, size, subgame):
    """DR-1.14: six, eight, or six and a talon of twelve."""
    game = new_game(GAME, num_players=num_players, subgame=subgame, scope="deal")
    state = game.new_initial_state(seed=3)
    assert [len(hand) for hand in state.hands()] == [hand_size] * num_players
    assert sorted([*set().union(*state.hands()), *state.stock()]) == sorted(DECK)
    assert state.public()["talon_size"] == size


def test_dr_1_15_one_deal():
    """DR-1.15: the episode ends with it."""
    state = tricks(table("deutsch", "AH", "9E", "9G", "9H"), "AH 9E 9G 9H")
    assert (state.is_terminal(), state.legal_actions(), state.current_player) == (True, [], -1)


@pytest.mark.parametrize("num_players", [3, 4])
@pytest.mark.parametrize("subgame", SUBGAMES)
@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
def test_dr_1_15_one_phase(num_players, subgame, ruleset):
    """DR-1.15: it ends with a blob, of one player but in Kamerun; nobody elects."""
    options = {"num_players": num_players, "subgame": subgame, "ruleset": ruleset}
    state = new_game(GAME, scope="subgame", **options).new_initial_state(seed=15)
    nodes = set()
    play_out(state, 15, lambda state: nodes.add(node(state)))
    blobs = score(state, "blobs")
    assert "elect" not in nodes
    assert state.public()["subgame"] == subgame
    assert set(blobs) == {0, 1}
    assert sum(blobs) == 1 or subgame == "kamerun"


def test_dr_1_16_a_deal_pays_the_award_less_the_mean():
    """DR-1.16: in Kamerun the mean less the award."""
    hands = ["TE 9G UB", "UE AG OB", "9E UG AB", "OE OG 9H"]
    played = ["TE UE 9E OE", "9G AG UG OG", "OB AB 9H UB"]
    state = tricks(table("kamerun", *hands), *played)
    assert (awards(state), list(state.returns())) == ([1, 2, 3, 0], [0.5, -0.5, -1.5, 1.5])
    hands[2], played[2] = "9E UG AH", "OB AH 9H UB"
    state = tricks(table("deutsch", *hands), *played)
    assert (awards(state), list(state.returns())) == ([1, 2, 3, 0], [-0.5, 0.5, 1.5, -1.5])


def test_dr_1_16_only_the_active_players_share_a_deal():
    """DR-1.16: the mean is that of three players; who has dropped out gets nothing."""
    state = tricks(table("deutsch", "", "AH", "9E", "9H"), "AH 9E 9H")
    assert state.returns() == pytest.approx([0, 4 / 3, -2 / 3, -2 / 3])


def test_dr_1_16_the_award_of_a_deal_is_whole():
    """DR-1.16: with one stroke left it is 3 all the same, and in Kamerun all awards count."""
    state = table("deutsch", "AH", "9E", "9G", "9H", strokes=[1, 7, 7, 7])
    assert list(tricks(state, "AH 9E 9G 9H").returns()) == [2.25, -0.75, -0.75, -0.75]
    state = table("kamerun", "AE KG", "UE AG", "9E UG", "OE OG", strokes=[7, 1, 7, 7])
    tricks(state, "AE UE 9E OE", "KG AG UG OG")
    assert (awards(state), list(state.returns())) == ([2, 3, 0, 0], [-0.75, -1.75, 1.25, 1.25])


def test_dr_1_16_a_phase_pays_the_mean_of_the_blobs_less_the_own():
    """DR-1.16: nothing before its end, and then for two losers of a Kamerun phase half a point."""
    hands = ["AE 9G TB", "UE AG 9B", "9E UG UB", "OE OG AB"]
    state = kamerun_phase(*hands, strokes=[1, 2, 3, 4])
    tricks(state, "AE UE 9E OE", "9G AG UG OG")
    assert not state.returns().any()
    tricks(state, "9B UB AB TB")
    assert list(state.returns()) == [-0.5, -0.5, 0.5, 0.5]


def test_dr_1_16_a_phase_of_three_players():
    """DR-1.16: one blob costs two thirds and brings the others a third."""
    state = table("kamerun", "AE", "UE", "9E", scope="subgame", strokes=[3, 1, 1])
    assert tricks(state, "AE UE 9E").returns() == pytest.approx([-2 / 3, 1 / 3, 1 / 3])


@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
def test_dr_1_16_a_match_pays_at_the_end_of_each_phase(ruleset):
    """DR-1.16: after phase 1, and not yet after a deal in it."""
    state = table("deutsch", "AH", "9E", "9G", "9H", scope="match", ruleset=ruleset)
    assert not tricks(state, "AH 9E 9G 9H").returns().any()
    assert list(end_of_phase_1(ruleset).returns()) == [0.25, 0.25, 0.25, -0.75]


@pytest.mark.parametrize(
    ("scope", "num_players", "subgame"),
    [("match", num_players, "deutsch") for num_players in (3, 4)]
    + [("subgame", num_players, subgame) for num_players, subgame in TABLES if num_players > 2]
    + [("deal", num_players, subgame) for num_players, subgame in TABLES],
)
def test_dr_1_16_rewards_add_up_to_nothing(scope, num_players, subgame):
    """DR-1.16: in every scope, and nothing is cut off."""
    options = {"scope": scope, "num_players": num_players, "subgame": subgame}
    state = play_out(new_game(GAME, **options).new_initial_state(seed=16), 16)
    assert state.returns().sum() == pytest.approx(0)
    assert (state.is_terminal(), state.is_truncated()) == (True, False)
    assert state.returns().dtype == np.float64


# ---- DR-2 Trick play -----------------------------------------------------------------------------


def test_dr_2_1_the_highest_trump_wins_and_its_player_leads():
    """DR-2.1: seat 2 trumps, seat 3 overtrumps the ace and the trump."""
    state = table("deutsch", "AE 9G", "KE UG", "9H OG", "KG UH")
    tricks(state, "AE KE 9H UH")
    assert (state.current_player, score(state, "points")) == (3, [0, 0, 0, 17])


def test_dr_2_1_without_a_trump_the_highest_card_of_the_suit_led_wins():
    """DR-2.1: aces of other suits do not."""
    state = table("kamerun", "9E 9G", "AB UG", "UE OG", "AH KG")
    tricks(state, "9E AB UE AH")
    assert (state.current_player, score(state, "tricks")) == (2, [0, 0, 1, 0])


@pytest.mark.parametrize(
    ("hands", "order"), [(["AH", "9H", "UH", "OH"], [3, 0, 1]), (["AH", "", "9H", "UH"], [3, 0])]
)
def test_dr_2_1_play_is_clockwise(hands, order):
    """DR-2.1: from the leader on; seats without cards are passed over."""
    state = table("deutsch", *hands, leader=2)
    play(state, *legal(state))
    asked = []
    while not state.is_terminal():
        asked.append(state.current_player)
        play(state, *legal(state))
    assert asked == order


def test_dr_2_2_two_players_play_strictly_without_a_talon():
    """DR-2.2: with an empty talon or a closed one the ten must be beaten."""
    state = table("deutsch", "TE UH", "AE 9E", trump="B")
    assert legal(play(state, "lead TE")) == {"play AE"}
    state = table("deutsch", "TE UH", "AE 9E", talon="KE OE UE KB")
    assert legal(play(state, "close", "lead TE")) == {"play AE"}


def test_dr_2_4_with_a_talon_any_card_may_be_played():
    """DR-2.4: neither suit nor trumps bind the second player."""
    state = play(table("deutsch", "TE UH AG", "AE 9B 9G", talon="KE KB"), "lead TE")
    assert legal(state) == {"play AE", "play 9B", "play 9G"}


@pytest.mark.parametrize("subgame", ["deutsch", "ace_of_hearts"])
def test_dr_2_5_king_and_over_may_be_shown_at_a_lead(subgame):
    """DR-2.5: also at the first; either is led, or another card."""
    state = table(subgame, "KE OE AG", "9E UB AH", "UE OB 9B", "TE UG UH")
    if subgame == "ace_of_hearts":
        play(state, "trump G")
    assert legal(state) == {"lead KE", "lead OE", "lead AG", "marry KE", "marry OE"}


def test_dr_2_5_king_and_over_must_be_of_one_suit():
    """DR-2.5: those of two suits are no marriage."""
    state = table("deutsch", "KE OG AG", "9E UB AH", trump="B")
    assert legal(state) == {"lead KE", "lead OG", "lead AG"}


def test_dr_2_5_only_the_leader_shows_a_marriage():
    """DR-2.5: not who follows."""
    state = play(table("deutsch", "UE 9G", "KE OE", trump="B"), "lead UE")
    assert legal(state) == {"play KE", "play OE"}


def test_dr_2_5_one_marriage_a_lead():
    """DR-2.5: the second one waits for the next lead."""
    state = table("deutsch", "KE OE KB OB", "9E UE 9B UB", trump="B")
    tricks(state, "+KE 9E")
    assert score(state, "declared") == [20, 0]
    assert legal(state) == {"lead OE", "lead KB", "lead OB", "marry KB", "marry OB"}
    play(state, "marry OB")
    assert score(state, "declared") == [60, 0]


def test_dr_2_5_a_closed_talon_does_not_stop_marriages():
    """DR-2.5: nor does an empty one."""
    state = play(table("deutsch", "KE OE", "9E UE", talon="KG OG UG KB"), "close")
    assert "marry KE" in legal(state)


def test_dr_2_5_a_marriage_need_not_be_shown():
    """DR-2.5: who leads the king without a word has nothing, and cannot show it later."""
    state = tricks(table("deutsch", "KE OE", "9E UE", trump="B"), "KE 9E")
    assert (legal(state), score(state, "declared")) == ({"lead OE"}, [0, 0])


def test_dr_2_7_the_trick_may_come_after_the_marriage():
    """DR-2.7: seat 0 has 7 in tricks and 20, seats 1 and 3 have 14 and 13."""
    state = table("deutsch", "KE OE OH", "AE 9B KG", "9G UG OG", "9E UB UH")
    tricks(state, "+OE AE 9G 9E", "9B UG UB OH", "KE KG OG UH")
    assert (score(state, "points"), awards(state)) == ([7, 14, 0, 13], [3, 2, 0, 1])


# ---- DR-3 Going out at 66 ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("num_players", "subgame", "ruleset", "expected"),
    [
        (4, "deutsch", "pagat", False),
        (3, "deutsch", "pagat", False),
        (4, "kamerun", "pagat", False),
        (3, "kamerun", "pagat", False),
        (2, "deutsch", "seed", False),
        (2, "deutsch", "pagat", True),
        (2, "ace_of_hearts", "seed", True),
        (2, "rufen", "seed", True),
        (3, "ace_of_hearts", "seed", True),
        (4, "ace_of_hearts", "pagat", True),
        (3, "rufen", "pagat", True),
        (4, "rufen", "seed", True),
    ],
)
def test_dr_3_1_where_going_out_applies(num_players, subgame, ruleset, expected):
    """DR-3.1, DR-4.6: where two sides play, but not to two-player Deutsch by the seed text."""
    options = {"num_players": num_players, "subgame": subgame, "ruleset": ruleset}
    game = new_game(GAME, scope="deal", going_out="manual", **options)
    seen: set[str] = set()
    for seed in range(3):
        play_on(game.new_initial_state(seed=seed), seed, lambda state: seen.update(legal(state)))
    assert ("out" in seen) == expected


def test_dr_3_3_the_card_led_with_a_marriage_does_not_count_yet():
    """DR-3.3: 22 and 40 are 62; the king makes 66 when the trick is won."""
    state = table("deutsch", "AE KB OB 9G", "AH 9H UH OH", trump="B", ruleset="pagat")
    play(tricks(state, "AE AH"), "marry KB")
    assert not state.is_terminal()
    play(state, "play 9H")
    assert (state.is_terminal(), awards(state)) == (True, [3, 0])


MANUAL = {"ruleset": "pagat", "going_out": "manual"}


def test_dr_3_3_windows_after_a_trick_and_after_a_marriage():
    """DR-3.3: before the draw in the one case, before the answer in the other."""
    hands = ["AE KG OG 9G", "9E UE 9H UH"]
    state = table("deutsch", *hands, talon="OE UG TG KB", **MANUAL)
    tricks(state, "AE 9E")
    assert (node(state), state.current_player, legal(state)) == ("claim", 0, {"out", "continue"})
    play(state, "continue")
    assert (node(state), state.public()["talon_size"]) == ("before_draw", 4)
    play(state, "continue", "marry KG")
    assert (node(state), state.current_player, legal(state)) == ("claim", 0, {"out", "continue"})
    assert (node(play(state, "continue")), state.current_player) == ("follow", 1)


def test_dr_3_3_no_window_without_a_trick():
    """DR-3.3: after forehand's marriage the other answers."""
    state = table("deutsch", "KB OB 9G", "9E UE UH", trump="B", **MANUAL)
    play(state, "marry KB")
    assert (state.current_player, node(state)) == (1, "follow")


@pytest.mark.parametrize("going_out", ["auto", "manual"])
def test_dr_3_4_a_marriage_at_the_second_to_last_lead_still_allows_it(going_out):
    """DR-3.4: 34 in tricks and 40; the other does not answer any more."""
    options = {"trump": "B", "ruleset": "pagat", "going_out": going_out}
    state = table("deutsch", "AE AH KB OB", "TE UH 9B 9G", **options)
    play(tricks(state, "AE TE", "AH UH"), *["continue"] * (going_out == "manual"), "marry KB")
    if going_out == "manual":
        assert legal(state) == {"out", "continue"}
        play(state, "out")
    assert (state.is_terminal(), awards(state)) == (True, [3, 0])
    assert state.hands()[1] == {"9B", "9G"}


def test_dr_3_4_whoever_lets_the_last_moment_pass_plays_on():
    """DR-3.4: after the second-to-last trick is led nobody is asked any more."""
    state = table("deutsch", "AE AH KB OB", "TE UH 9B 9G", trump="B", **MANUAL)
    tricks(state, "AE TE", "AH UH", "+KB 9B")
    assert (node(state), legal(state)) == ("lead", {"lead OB"})


@pytest.mark.parametrize(("cards", "is_asked"), [("UE UG OG KB", True), ("OG KB", False)])
def test_dr_3_4_cards_to_be_drawn_are_tricks_to_come(cards, is_asked):
    """DR-3.4: with empty hands and four cards in the talon two tricks are left, else one."""
    state = tricks(table("deutsch", "AE", "9E", talon=cards, **MANUAL), "AE 9E")
    assert (legal(state) == {"out", "continue"}) == is_asked
    assert node(state) == ("claim" if is_asked else "before_draw")


def test_dr_3_5_each_member_of_the_winning_side_erases():
    """DR-3.5: seat 3, which plays alone, has no trick."""
    hands = ["AE AB 9E 9B", "TE TB UE UB", "KE KB 9H UH", "AH TH KH OH"]
    state = play(table("ace_of_hearts", *hands), "trump G")
    tricks(state, "AE TE KE AH")
    assert not state.is_terminal()
    tricks(state, "AB TB KB TH")
    assert (state.is_terminal(), awards(state)) == (True, [3, 3, 3, 0])


def test_dr_3_5_the_soloist_wins_alone():
    """DR-3.5: 36 and a marriage of trumps."""
    hands = ["TE 9E UB 9B", "AE UE OB KB", "KE OE TB AB", "AH TH KH OH"]
    state = play(table("ace_of_hearts", *hands), "trump H")
    play(tricks(state, "TE AE KE AH"), "marry OH")
    assert (state.is_terminal(), awards(state)) == (True, [0, 0, 0, 3])


def test_dr_3_7_one_side_has_66_at_the_end():
    """DR-3.7: it wins though the other side takes the last trick; by the state at the end."""
    state = table("deutsch", "KB OB AH 9E", "UB 9B TH AE", trump="B", **MANUAL)
    tricks(state, "+KB UB", "OB 9B", "AH TH", "9E AE")
    assert awards(state) == [2, 0]


#: Seat 2 plays alone with hearts as trumps; seat 3 wins the first trick.
TEAM = ["9E 9B 9G", "UE UB UG", "OE AH KH", "AE KB OB"]


#: The same, but seat 1 wins it.
TEAM_OF_1 = ["9E 9B 9G", "AE KB OB", "OE AH KH", "UE UB UG"]


def asked_to_go_out(state: State) -> list[int]:
    """Let everybody who is asked go on; return who was, in this order."""
    asked = []
    while "out" in legal(state):
        asked.append(state.current_player)
        play(state, "continue")
    return asked


@pytest.mark.parametrize(
    ("hands", "trick", "order"),
    [(TEAM, "9E UE OE AE", [3, 0, 1]), (TEAM_OF_1, "9E AE OE UE", [1, 3, 0])],
)
def test_dr_3_8_who_is_asked_to_go_out(hands, trick, order):
    """DR-3.8: the winner of the trick, who has shown a marriage; then his partners clockwise."""
    state = play(table("ace_of_hearts", *hands, going_out="manual"), "trump H")
    tricks(state, trick)
    assert asked_to_go_out(state) == order
    assert (state.current_player, node(state)) == (order[0], "lead")
    play(state, "marry KB")
    assert asked_to_go_out(state) == order
    assert (state.current_player, node(state)) == ((order[0] + 1) % 4, "follow")


def test_dr_3_8_any_member_of_the_side_may_claim():
    """DR-3.8: seat 0 after seat 3 has let it pass; 16 points are too few."""
    state = play(table("ace_of_hearts", *TEAM, going_out="manual"), "trump H")
    tricks(state, "9E UE OE AE")
    play(state, "continue", "out")
    assert (state.is_terminal(), awards(state)) == (True, [0, 0, 2, 0])


def test_dr_3_8_by_itself_nobody_is_asked():
    """DR-3.8: the soloist goes out without an action, and below 66 play goes on."""
    state = play(table("ace_of_hearts", *TEAM), "trump H")
    tricks(state, "9E UE OE AE")
    assert (state.current_player, legal(state)) == (
        3,
        {"lead KB", "lead OB", "marry KB", "marry OB"},
    )


# ---- DR-4 Deutsch --------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_dr_4_1_the_last_card_of_the_dealer_is_turned_up(num_players, seed):
    """DR-4.1: it shows trumps, stays in his hand, and all know it."""
    game = new_game(GAME, num_players=num_players, scope="deal")
    state = game.new_initial_state(seed=seed)
    public = state.public()
    assert public["turned"] in state.hands()[public["dealer"]]
    assert public["trump"] == public["turned"][1]
    assert known(state)[public["dealer"]] == {public["turned"]}


@pytest.mark.parametrize(
    ("dealer", "hands", "owner", "turned"),
    [
        (0, ["", "9E UE", "9G KB", "UH 9H"], 3, "9H"),
        (2, ["9E UE", "9G KB", "", "UH 9H"], 1, "KB"),
        (3, ["", "9E UE", "9G KB", "UH 9H"], 3, "9H"),
    ],
)
def test_dr_4_1_a_dealer_without_cards(dealer, hands, owner, turned):
    """DR-4.1: the last card of the last active player clockwise from the dealer is turned up."""
    state = table("deutsch", *hands, dealer=dealer)
    assert (state.public()["turned"], known(state)[owner]) == (turned, {turned})


@pytest.mark.parametrize("going_out", ["auto", "manual"])
@pytest.mark.parametrize(
    ("others", "played"),
    [
        (["OE OG AH UH"], ["AE TE OE", "AG TG OG"]),
        (["KE KG TB 9E", "OE OG AH UH"], ["AE TE KE OE", "AG TG KG OG"]),
    ],
)
def test_dr_4_2_all_tricks_are_played(others, played, going_out):
    """DR-4.2: nobody goes out with 48 or 56 in tricks and a marriage of 20."""
    state = table("deutsch", "AE AG KB OB", "TE TG UB 9B", *others, going_out=going_out)
    tricks(state, *played)
    assert leads(state) == {"KB", "OB"}
    play(state, "marry KB")
    assert (state.current_player, legal(state)) == (1, {"play UB", "play 9B"})


def test_dr_4_4_three_equal_at_the_top():
    """DR-4.4: the smallest award of their places: 1 each, and seat 3 with the last trick 0."""
    hands = ["AE 9G OB KE", "UE AG 9B KG", "9E UG AB 9H", "OE OG UB UH"]
    state = table("deutsch", *hands)
    tricks(state, "AE UE 9E OE", "9G AG UG OG", "9B AB UB OB", "9H UH KE KG")
    assert (score(state, "points"), awards(state)) == ([16, 16, 16, 10], [1, 1, 1, 0])


@pytest.mark.parametrize("subgame", ["ace_of_hearts", "rufen"])
@pytest.mark.parametrize("seed", range(3))
def test_dr_4_5_two_players_have_an_indicator(subgame, seed):
    """DR-4.5: at the bottom of the talon; the other sub-games have none."""
    game = new_game(GAME, num_players=2, scope="deal")
    state = game.new_initial_state(seed=seed)
    public = state.public()
    assert (public["turned"], public["talon_bottom"]) == (state.stock()[-1],) * 2
    assert public["trump"] == public["turned"][1]
    game = new_game(GAME, num_players=2, scope="deal", subgame=subgame)
    public = game.new_initial_state(seed=seed).public()
    assert (public["turned"], public["talon_bottom"], public["trump"]) == (None, None, None)


def test_dr_4_6_by_the_seed_text_two_players_play_on_after_66():
    """DR-4.6: 67 points, all tricks, and 1 stroke against nothing."""
    *hands, all_cards = AGAINST_NOTHING
    state = tricks(table("deutsch", *hands, trump="B"), *all_cards)
    assert (state.is_terminal(), legal(state)) == (False, {"lead OB", "lead 9E"})
    assert awards(tricks(state, "OB 9H", "9E UH")) == [1, 0]


def test_dr_4_6_marriages_count():
    """DR-4.6: 11 and 40 against 28 and the last trick."""
    state = table("deutsch", "KB OB AE", "AB TB 9E", trump="B")
    tricks(state, "+KB AB", "9E AE", "OB TB")
    assert (score(state, "points"), awards(state)) == ([11, 28], [1, 0])


def test_dr_4_6_marriages_do_not_count_without_a_trick():
    """DR-4.6: 28 against a marriage of 40."""
    state = table("deutsch", "KB OB", "AB TB", trump="B")
    assert awards(tricks(state, "+KB AB", "TB OB")) == [0, 1]


@pytest.mark.parametrize(
    ("last", "expected"), [("9G AG", [0, 1]), ("9G TG", [1, 0]), ("UG TG", [0, 1])]
)
def test_dr_4_6_equal_points_go_to_the_last_trick(last, expected):
    """DR-4.6: 11 each, 11 to 10, and 11 to 12."""
    led, answer = last.split()
    state = table("deutsch", f"AE {led}", f"9E {answer}", trump="B")
    assert awards(tricks(state, "AE 9E", last)) == expected


def test_dr_4_6_closing_costs_nothing_by_the_seed_text():
    """DR-4.6: 1 stroke, no snapshot, and undrawn cards count for nobody."""
    state = table("deutsch", "AE 9G", "9E AG", talon="TE TG AH UH UG KB")
    play(tricks(state, "AE 9E"), "close")
    tricks(state, "9G AG")
    public = state.public()
    assert (public["points"], awards(state)) == ([11, 11], [0, 1])
    assert (public["closed_points"], public["closed_tricks"]) == ([0, 0], [0, 0])


def test_dr_4_6_closing_before_the_first_trick_costs_nothing_either():
    """DR-4.6: where pagat would give 3."""
    state = play(table("deutsch", "AE 9G", "9E AG", talon="KE OE KG KB"), "close")
    assert awards(tricks(state, "AE 9E", "9G AG")) == [0, 1]


def test_dr_4_6_the_closer_may_win_without_66():
    """DR-4.6: and without the last trick."""
    state = play(table("deutsch", "AE 9G", "TE KG", talon="UE TG AH KB"), "close")
    assert awards(tricks(state, "AE TE", "9G KG")) == [1, 0]


def test_dr_4_6_the_nine_by_the_seed_text():
    """DR-4.6: swapped as usual, and no more once the talon is closed."""
    state = tricks(table("deutsch", "AE 9B", "9E 9G", talon="TE UG OG KB"), "AE 9E")
    assert legal(state) == {"nine", "close", "continue"}
    assert legal(play(state, "close")) == {"lead 9B"}


# ---- DR-5 Ace of Hearts --------------------------------------------------------------------------


@pytest.mark.parametrize("hands", [SOLO_HANDS, SOLO_HANDS[1:]])
def test_dr_5_1_the_holder_of_the_ace_plays_alone(hands):
    """DR-5.1, DR-5.3: he is asked first, wherever he sits, and forehand leads."""
    state = table("ace_of_hearts", *hands)
    holder = len(hands) - 1
    assert (state.current_player, state.public()["team"]) == (holder, [holder])
    play(state, "trump G")
    assert (state.current_player, node(state), state.public()["trump"]) == (0, "lead", "G")
    assert known(state)[holder] == {"AH"}


def test_dr_5_2_surrender_with_three_players():
    """DR-5.2: each of the others erases 2."""
    state = play(table("ace_of_hearts", "TE KE", "AH 9G", "AE 9E"), "surrender")
    assert (awards(state), list(state.returns())) == (
        [2, 0, 2],
        pytest.approx([2 / 3, -4 / 3, 2 / 3]),
    )


def test_dr_5_2_two_players_cannot_surrender():
    """DR-5.2: the holder names trumps."""
    state = table("ace_of_hearts", "9E UE", "AH 9G", talon="KE OE KG OG")
    assert (state.current_player, legal(state)) == (1, TRUMPS)


def test_dr_5_5_no_trumps_before_the_ace_is_declared():
    """DR-5.5: the nine of the suit led wins against an ace; nobody has AH."""
    state = table("ace_of_hearts", "9E UG", "AG KB", talon="TE TB TH AH")
    public = state.public()
    assert (node(state), public["trump"], public["turned"]) == ("lead", None, None)
    assert public["lacks"] == [{"AH"}, {"AH"}]
    assert score(tricks(state, "9E AG"), "points") == [11, 0]


def test_dr_5_6_who_is_dealt_the_ace_declares_before_the_first_lead():
    """DR-5.6: also if he is not forehand, who leads."""
    state = table("ace_of_hearts", "9E UE", "AH 9G", talon="KE OE KG OG")
    play(state, "trump H")
    assert (state.current_player, state.public()["trump"]) == (0, "H")
    assert known(state) == [set(), {"AH"}]


@pytest.mark.parametrize(("cards", "holder"), [("AH 9G UG 9H", 0), ("9G AH UG 9H", 1)])
def test_dr_5_6_who_draws_the_ace_declares_at_once(cards, holder):
    """DR-5.6, DR-5.9: when both have drawn, and before the next lead."""
    state = tricks(table("ace_of_hearts", "AE TE", "9E UE", talon=cards), "AE 9E")
    play(state, "continue")
    assert (state.current_player, legal(state)) == (holder, TRUMPS)
    assert score(state, "hand_sizes") == [2, 2]
    play(state, "trump E")
    assert (state.current_player, node(state)) == (0, "lead")


def three_draws(last_six: str) -> State:
    """Play three tricks of two players; the last six cards of the talon are left."""
    state = table("ace_of_hearts", *ACE_HANDS, talon=f"{THREE_DRAWS} {last_six}")
    return play(tricks(state, *THREE_TRICKS), "continue")


def test_dr_5_7_the_talon_is_turned_over_as_a_block():
    """DR-5.7: its order is reversed."""
    assert three_draws("AH UH OH KH 9H TH").stock() == ["TH", "9H", "KH", "OH", "UH", "AH"]


def test_dr_5_7_cards_drawn_from_an_open_talon_are_seen():
    """DR-5.7, DR-9.6: the winner takes the open one, the loser the next; another lies open."""
    state = tricks(three_draws("AH UH OH KH 9H TH"), "TG UG")
    play(state, "continue")
    public = state.public()
    assert (known(state), public["trump"]) == ([{"TH"}, {"9H"}], None)
    assert (public["talon_top"], public["talon_size"], public["talon_face_up"]) == ("KH", 4, True)


def test_dr_5_7_a_closed_talon_is_not_turned_up():
    """DR-5.7: closed before the draws of trick 3."""
    state = table("ace_of_hearts", *ACE_HANDS, talon=f"{THREE_DRAWS} AH UH OH KH 9H TH")
    play(tricks(state, *THREE_TRICKS), "close")
    public = state.public()
    assert (public["talon_size"], public["talon_face_up"], public["talon_top"]) == (8, False, None)


def test_dr_5_7_nor_is_it_turned_up_after_the_ace_was_declared():
    """DR-5.7: it came with the first draw."""
    state = table("ace_of_hearts", *ACE_HANDS, talon="KE AH KG OG KB OB OE UH OH KH 9H TH")
    play(tricks(state, "AE 9E"), "continue", "trump E")
    play(tricks(state, "TE UE", "AG 9G"), "continue")
    public = state.public()
    assert (public["talon_size"], public["talon_face_up"], public["talon_top"]) == (6, False, None)


def test_dr_5_8_the_open_card_is_the_ace():
    """DR-5.8: its drawer names trumps; the card that lay open last is known at the bottom."""
    state = play(tricks(three_draws("9H UH OH KH TH AH"), "TG UG"), "continue")
    assert (state.current_player, legal(state)) == (0, TRUMPS)
    public = state.public()
    assert (state.stock(), public["talon_bottom"]) == (["9H", "UH", "OH", "KH"], "KH")
    assert (public["talon_face_up"], public["talon_top"]) == (False, None)


def test_dr_5_8_the_ace_is_the_very_last_card():
    """DR-5.8: the loser of trick 6 draws it; nothing is left to be turned."""
    state = tricks(three_draws("AH UH OH KH 9H TH"), "TG UG", "AB 9B", "KE UB")
    assert (state.current_player, legal(state)) == (1, TRUMPS)
    play(state, "trump H")
    public = state.public()
    assert (public["talon_size"], public["talon_bottom"], public["leader"]) == (0, None, 0)


def test_dr_5_8_the_known_bottom_card_is_drawn_by_the_loser_of_trick_6():
    """DR-5.8, DR-9.6: both know that he holds it."""
    state = play(tricks(three_draws("9H UH OH KH AH TH"), "TG UG"), "continue", "trump E")
    tricks(state, "AB 9B", "KE UB")
    assert known(state)[1] == {"AH", "KH"}


def test_dr_5_9_the_leader_closes_after_the_naming_only():
    """DR-5.9: seat 1 has drawn the ace; then seat 0 may close or lead."""
    state = play(tricks(three_draws("9H UH OH KH AH TH"), "TG UG"), "continue")
    assert (state.current_player, legal(state)) == (1, TRUMPS)
    play(state, "trump E")
    assert (state.current_player, "close" in legal(state)) == (0, True)


def test_dr_5_10_closing_without_trumps():
    """DR-5.10: strict play, and no suit trumps."""
    state = table("ace_of_hearts", "9E TG", "AB AG", talon="TE TB TH AH")
    play(state, "close", "lead 9E")
    assert legal(state) == {"play AB", "play AG"}
    play(state, "play AB", "lead TG")
    assert (legal(state), state.public()["trump"]) == ({"play AG"}, None)


@pytest.mark.parametrize("is_before_the_draw", [False, True])
def test_dr_5_10_an_open_talon_is_closed_face_down(is_before_the_draw):
    """DR-5.10: in its old order; the card that was visible is known at the bottom."""
    state = three_draws("AH UH OH KH 9H TH")
    if is_before_the_draw:
        tricks(state, "TG UG")
    play(state, "close")
    public = state.public()
    assert state.stock() == ["AH", "UH", "OH", "KH", "9H", "TH"]
    assert (public["talon_face_up"], public["talon_top"]) == (False, None)
    assert (public["talon_bottom"], public["closer"]) == ("TH", 0)


@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
@pytest.mark.parametrize("subgame", ["ace_of_hearts", "rufen"])
@pytest.mark.parametrize(
    ("case", "strokes"), [(AGAINST_33, 1), (AGAINST_32, 2), (AGAINST_NOTHING, 3)]
)
def test_dr_5_10_and_6_7_two_players_go_out_at_66(case, strokes, subgame, ruleset):
    """DR-5.10, DR-6.7: with 1, 2 or 3 strokes in both rulesets."""
    *hands, all_cards = case
    state = table(subgame, *hands, leader=0 if strokes == 3 else 1, ruleset=ruleset)
    tricks(play(state, "trump B"), *all_cards)
    assert (state.is_terminal(), awards(state)) == (True, [strokes, 0])


# ---- DR-6 Rufen ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("num_players", "hand_size"), [(2, 6), (3, 8), (4, 6)])
def test_dr_6_1_three_cards_are_dealt_before_the_call(num_players, hand_size):
    """DR-6.1: then everybody has his whole hand."""
    game = new_game(GAME, num_players=num_players, scope="deal", subgame="rufen")
    state = game.new_initial_state(seed=5)
    assert score(state, "hand_sizes") == [3] * num_players
    assert state.current_player == state.public()["leader"]
    play(state, min(legal(state)))
    assert score(state, "hand_sizes") == [hand_size] * num_players
    assert (state.current_player, node(state)) == (state.public()["leader"], "lead")


def test_dr_6_1_the_call_is_made_on_three_cards():
    """DR-6.1: whatever comes after them, forehand sees the same, and may do the same."""
    one = table("rufen", "9B KB 9E AB", "UG OG UE TG", "UB TE AE KG", "TB OB 9H KH")
    two = table("rufen", "9B KB 9E TG", "UG OG UE AB", "UB TE AE KH", "TB OB 9H KG")
    assert legal(one) == legal(two)
    assert np.array_equal(one.observation(0), two.observation(0))


@pytest.mark.parametrize(
    ("hand", "suits"),
    [("9B KB 9E AG", "BE"), ("9B KB AB AG", "B"), ("9B KG 9H AE", "BGH")],
)
def test_dr_6_2_any_card_of_a_suit_among_the_first_three(hand, suits):
    """DR-6.2: his own included, and nothing else but a call."""
    state = table("rufen", hand, "UG OG UE KE", "OB TB TE 9G", "TG UB UH OH")
    assert legal(state) == {f"call {card}" for card in DECK if card[1] in suits}


PARTNERS = ["KB OB 9E 9H", "TB 9G UG KG", "AB UE OE KE", "UB TG OG UH"]


def test_dr_6_3_the_holder_of_the_called_card_is_the_partner():
    """DR-6.3, DR-6.6: seats 0 and 2 have 27 and 40 against nothing, and erase 3 each."""
    state = tricks(play(table("rufen", *PARTNERS), "call AB"), "+KB TB AB UB")
    assert (state.is_terminal(), awards(state)) == (True, [3, 0, 3, 0])


def test_dr_6_3_the_other_two_may_win():
    """DR-6.3, DR-3.7: seat 1 takes the last trick with 44 points, and seat 3 erases 1 too."""
    state = table("rufen", "9B KG", "AB AG", "UB TG", "OB OG")
    tricks(play(state, "call UB"), "9B AB UB OB", "AG TG OG KG")
    assert (score(state, "tricks"), awards(state)) == ([0, 2, 0, 0], [0, 1, 0, 1])


def test_dr_6_3_three_players_two_against_one():
    """DR-6.3: seats 0 and 1 against seat 2, which wins no trick."""
    state = play(table("rufen", "KB OB 9E", "AB AG UG", "TB KG 9H"), "call AB")
    tricks(state, "+KB AB TB", "AG KG OB", "9E UG 9H")
    assert awards(state) == [3, 3, 0]


def test_dr_6_3_three_players_one_against_two():
    """DR-6.3: seat 0 has called its own ace, and goes out with 70."""
    state = play(table("rufen", "AB KB OB 9E", "TB UB 9G UG", "9B OE KE UE"), "call AB")
    tricks(state, "AB TB 9B")
    assert not state.is_terminal()
    tricks(state, "+KB UB OE")
    assert (state.is_terminal(), awards(state)) == (True, [3, 0, 0])


def test_dr_6_3_the_called_card_may_come_with_the_later_cards():
    """DR-6.3, DR-6.4: forehand is alone and must lead it."""
    state = table("rufen", "9B KB 9E AB", "UG OG UE KE", "UB TE AE TG", "TB OB 9H UH")
    assert legal(play(state, "call AB")) == {"lead AB"}
    tricks(state, "AB UG UB TB")
    assert state.public()["team"] == [0]


def test_dr_6_3_a_called_card_that_is_out_of_play_leaves_forehand_alone():
    """DR-6.3: all know it; any trump may be led, and the others are on one side."""
    state = play(table("rufen", "9B KB 9E", "UG OG UE", "UB TE AE", "TB OB 9H"), "call AB")
    assert (state.public()["team"], legal(state)) == ([0], {"lead 9B", "lead KB"})
    tricks(state, "KB UG UB TB", "9H 9B UE AE", "9E OG TE OB")
    assert awards(state) == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        ("AB", {"lead KB", "lead OB", "marry KB", "marry OB"}),
        ("KB", {"lead KB", "marry KB"}),
    ],
)
def test_dr_6_4_the_first_lead_may_show_the_marriage_of_trumps(card, expected):
    """DR-6.4: with the called card, if that is king or Over; no other marriage."""
    state = table("rufen", "KB OB 9E KE OE", "UG OG UE TG 9G", "AB UB TE 9H AE", "TB 9B KG UH KH")
    assert legal(play(state, f"call {card}")) == expected


def test_dr_6_5_the_others_play_strictly_to_the_first_trick():
    """DR-6.5, DR-2.2: seat 1 must head with a higher trump, seat 3 has none and plays a card."""
    state = table("rufen", "9B KG 9E", "UG KB AB", "OB TE AE", "9H UH OH")
    play(state, "call OB", "lead 9B")
    assert legal(state) == {"play KB", "play AB"}
    play(state, "play KB", "play OB")
    assert (state.current_player, legal(state)) == (3, {"play 9H", "play UH", "play OH"})


def test_dr_6_5_in_later_tricks_all_play_strictly():
    """DR-6.5: and forehand's other leads are free."""
    state = play(table("rufen", "AB KG 9E", "UG KB AG", "OB TE AE", "9H UH OH"), "call OB")
    tricks(state, "AB KB OB 9H")
    assert (state.current_player, legal(state)) == (0, {"lead KG", "lead 9E"})
    assert legal(play(state, "lead KG")) == {"play AG"}


def test_dr_6_7_two_players_name_trumps_on_three_cards():
    """DR-6.7: any of four suits; what comes later is not seen."""
    hands = ["9B KB 9E AB", "UG OG UE 9H"]
    one = table("rufen", *hands, talon="TB TG TH TE")
    two = table("rufen", "9B KB 9E TG", "UG OG UE 9H", talon="TB AB TH TE")
    assert (one.current_player, node(one), legal(one)) == (0, "trump", TRUMPS)
    assert np.array_equal(one.observation(0), two.observation(0))


def test_dr_6_7_two_players_lead_what_they_like():
    """DR-6.7: nothing is called; there is no indicator, and the talon can be closed."""
    state = play(table("rufen", "9B KB 9E AB", "UG OG UE 9H", talon="TB TG TH TE"), "trump H")
    assert legal(state) == {"lead 9B", "lead KB", "lead 9E", "lead AB", "close"}
    public = state.public()
    assert (public["trump"], public["called"], public["turned"]) == ("H", None, None)
    assert (public["talon_size"], public["team"]) == (4, [])


def test_dr_6_7_two_players_cannot_swap_the_nine():
    """DR-6.7: there is nothing to swap it for."""
    state = table("rufen", "AE 9B KB UH", "9E UE OE 9H", talon="TB TG TH OB")
    tricks(play(state, "trump B"), "AE 9E")
    assert legal(state) == {"close", "continue"}


# ---- DR-7 Kamerun --------------------------------------------------------------------------------


def test_dr_7_1_no_trumps_and_no_marriages():
    """DR-7.1: who cannot follow plays anything."""
    state = table("kamerun", "KE OE", "9G AH", "9E AE", "TE UH")
    assert legal(state) == {"lead KE", "lead OE"}
    assert legal(play(state, "lead KE")) == {"play 9G", "play AH"}
    assert legal(play(state, "play AH")) == {"play AE"}


def test_dr_7_2_what_others_threw_away_may_be_led():
    """DR-7.2: only the suit led counts."""
    state = table("kamerun", "UG 9E", "AG OH", "KH OE", "TB 9B")
    assert leads(tricks(state, "UG AG KH TB")) == {"OH"}
    state = table("kamerun", "AG OH 9G", "UG 9E UE", "KH OE KE", "TH 9B UB")
    assert leads(tricks(state, "AG UG KH TH")) == {"OH"}


def test_dr_7_2_the_suit_may_be_led_again_a_trick_later():
    """DR-7.2: only the last trick counts."""
    state = table("kamerun", "AG OH 9G", "UG 9H UE", "KG UH KE", "TG TH UB")
    tricks(state, "AG UG KG TG")
    assert leads(state) == {"OH"}
    state = table("kamerun", "AG AH 9G", "UG 9H UE", "KG UH KE", "TG TH UB")
    assert leads(tricks(state, "AG UG KG TG", "AH 9H UH TH")) == {"9G"}


def test_dr_7_3_with_a_durchmarsch_any_suit_may_be_led():
    """DR-7.3: it is announced once, and all see it."""
    state = table("kamerun", "AG TG AH", "UG 9H UE", "KG UH KE", "9G TH UB")
    tricks(state, "AG UG KG 9G")
    assert legal(state) == {"lead AH", "durchmarsch"}
    play(state, "durchmarsch")
    assert (state.current_player, legal(state)) == (0, {"lead TG", "lead AH"})
    assert state.public()["durchmarsch"] == 0


@pytest.mark.parametrize(
    ("hands", "played", "expected"),
    [
        (["AG AH", "UG 9H", "KG UH", "9G TH"], ["AG UG KG 9G", "AH 9H UH TH"], [0, 3, 3, 3]),
        (["AG AH", "UG 9H", "KG UH"], ["AG UG KG", "AH 9H UH"], [0, 3, 3]),
    ],
)
def test_dr_7_4_and_7_5_all_tricks(hands, played, expected):
    """DR-7.4, DR-7.5: announced 3 for every other player, unannounced 3 for oneself."""
    first, second = played
    state = tricks(table("kamerun", *hands), first)
    assert awards(tricks(play(state.clone(), "durchmarsch"), second)) == expected
    assert awards(tricks(state, second)) == [3, *[0] * (len(hands) - 1)]


def test_dr_7_4_a_failed_durchmarsch_counts_no_points():
    """DR-7.4: seat 0 has most of them, but only the announcer erases."""
    state = table("kamerun", "9G 9H AB", "UG UE KH", "OG KE UB")
    play(tricks(state, "9G UG OG"), "durchmarsch")
    tricks(state, "KE 9H UE", "UB AB KH")
    assert (score(state, "points"), awards(state)) == ([17, 0, 11], [0, 0, 3])


@pytest.mark.parametrize(
    ("hands", "played", "points", "expected"),
    [
        (
            ["AE KG 9B", "UE UG UB", "9E AG OB", "OE OG KB"],
            ["AE UE 9E OE", "KG UG AG OG", "OB KB 9B UB"],
            [16, 0, 20, 9],
            [2, 0, 3, 1],
        ),
        (
            ["AE KG 9B", "UE AG UB", "9E UG OB"],
            ["AE UE 9E", "KG AG UG", "UB OB 9B"],
            [13, 17, 5],
            [1, 2, 0],
        ),
    ],
)
def test_dr_7_6_the_most_points_erase_most(hands, played, points, expected):
    """DR-7.6: 3, 2, 1 and 0 with four players, 2, 1 and 0 with three."""
    state = tricks(table("kamerun", *hands), *played)
    assert (score(state, "points"), awards(state)) == (points, expected)


def test_dr_7_7_a_tie_at_the_top():
    """DR-7.7: both get the largest award of their places."""
    state = table("kamerun", "AE 9G UB", "UE AG 9B", "9E UG OB", "OE OG 9H")
    tricks(state, "AE UE 9E OE", "9G AG UG OG", "9B OB 9H UB")
    assert (score(state, "points"), awards(state)) == ([16, 16, 5, 0], [3, 3, 1, 0])


def test_dr_7_7_the_winner_of_the_last_trick_stands_higher():
    """DR-7.7: 16 each for seats 1 and 2."""
    state = table("kamerun", "TE 9G UB", "UE AG OB", "9E UG AB", "OE OG 9H")
    tricks(state, "TE UE 9E OE", "9G AG UG OG", "OB AB 9H UB")
    assert (score(state, "points"), awards(state)) == ([15, 16, 16, 0], [1, 2, 3, 0])


def test_dr_7_7_all_four_may_erase():
    """DR-7.7: with a tie at the end and a trick for everybody."""
    hands = ["KE 9G OB TH", "UE KG 9B UH", "9E UG AB 9H", "OE OG UB AH"]
    state = table("kamerun", *hands)
    tricks(state, "KE UE 9E OE", "9G KG UG OG", "9B AB UB OB", "9H AH TH UH")
    assert (score(state, "points"), awards(state)) == ([9, 9, 16, 23], [1, 1, 2, 3])


def test_dr_7_8_without_a_trick_nothing_is_erased_in_a_tie():
    """DR-7.8: seats 0 and 3 have no points, but seat 0 has a trick."""
    state = table("kamerun", "9E UH OB", "9G AH KG", "9B KH AG", "9H OH UG")
    tricks(state, "9E 9G 9B 9H", "UH AH KH OH", "KG AG UG OB")
    assert (score(state, "points"), awards(state)) == ([0, 20, 20, 0], [1, 2, 3, 0])


def test_dr_7_9_the_ones_come_last():
    """DR-7.9: awards 2, 0, 3, 1: nobody falls with the threes and twos; the fourth player does."""
    hands = ["AE KG 9B", "UE UG UB", "9E AG OB", "OE OG KB"]
    state = kamerun_phase(*hands, strokes=[7, 1, 7, 1])
    tricks(state, "AE UE 9E OE", "KG UG AG OG", "OB KB 9B UB")
    assert (score(state, "blobs"), score(state, "strokes")) == ([0, 0, 0, 1], [5, 1, 4, 0])


def test_dr_7_9_a_phase_goes_on_if_nobody_is_at_0():
    """DR-7.9: all groups have erased, and a new deal follows."""
    hands = ["AE KG 9B", "UE UG UB", "9E AG OB", "OE OG KB"]
    state = kamerun_phase(*hands, strokes=[7, 1, 7, 2])
    tricks(state, "AE UE 9E OE", "KG UG AG OG", "OB KB 9B UB")
    assert (state.is_terminal(), score(state, "strokes")) == (False, [5, 1, 4, 1])


# ---- DR-8 Two players: talon, nine and closing ---------------------------------------------------


def test_dr_8_2_the_winner_draws_first():
    """DR-8.2: the top card, the loser the next one."""
    state = tricks(table("deutsch", "9E 9G", "AE UH", talon="TE UG OG KB"), "9E AE")
    play(state, "continue")
    assert state.hands() == [{"9G", "UG"}, {"UH", "TE"}]
    assert (state.current_player, state.stock()) == (1, ["OG", "KB"])


def test_dr_8_2_the_loser_of_trick_6_gets_the_last_card_and_play_is_strict():
    """DR-8.2: seat 0 must head with it."""
    state = tricks(table("deutsch", "9E 9G", "AE UH", talon="OG KB"), "9E AE")
    assert state.hands() == [{"9G", "KB"}, {"UH", "OG"}]
    play(state, "lead UH")
    assert legal(state) == {"play KB"}


def test_dr_8_3_the_nine_is_swapped_after_the_draw_too():
    """DR-8.3: it came with the draw; the indicator is known in the hand, the nine at the bottom."""
    state = tricks(table("deutsch", "AE UE", "9E 9G", talon="9B UG OG KB"), "AE 9E")
    assert legal(state) == {"close", "continue"}
    play(state, "continue")
    assert legal(state) == {"lead UE", "lead 9B", "nine"}
    play(state, "nine")
    assert (state.current_player, legal(state)) == (0, {"lead UE", "lead KB"})
    assert (state.stock(), state.public()["talon_bottom"]) == (["OG", "9B"], "9B")
    assert known(state) == [{"KB"}, set()]


def test_dr_8_3_the_swapped_nine_is_drawn_last():
    """DR-8.3: by the loser of trick 6, and both know it once the next card is led."""
    state = tricks(table("deutsch", "AE 9B", "9E 9G", talon="TE KB"), "AE 9E")
    play(state, "nine")
    assert state.hands() == [{"KB", "TE"}, {"9G", "9B"}]
    play(state, "lead TE")
    assert known(state) == [{"KB"}, {"9B"}]


def test_dr_8_3_nobody_swaps_once_the_talon_is_closed():
    """DR-8.3: neither before nor after winning a trick."""
    state = table("deutsch", "AE 9B 9G", "9E UE UG", talon="TE UH OG KB")
    tricks(state, "AE 9E")
    assert "nine" in legal(state)
    play(state, "close")
    assert legal(state) == {"lead 9B", "lead 9G"}


def test_dr_8_3_nobody_swaps_another_nine():
    """DR-8.3: only the nine of trumps."""
    state = tricks(table("deutsch", "AE 9H", "9E 9G", talon="TE KB"), "AE 9E")
    assert legal(state) == {"lead 9H", "lead TE"}


def test_dr_8_4_the_order_of_questions():
    """DR-8.4: going out; nine, closing or drawing; and after the nine closing or drawing."""
    state = table("deutsch", "AE 9B UH", "9E 9G UE", talon="TE TG OG KB", **MANUAL)
    tricks(state, "AE 9E")
    assert legal(state) == {"out", "continue"}
    assert legal(play(state, "continue")) == {"nine", "close", "continue"}
    assert legal(play(state, "nine")) == {"close", "continue"}
    assert state.public()["talon_size"] == 4
    play(state, "continue")
    assert (node(state), state.public()["talon_size"]) == ("lead", 2)


def test_dr_8_4_after_the_nine_both_draw_if_it_is_too_late_to_close():
    """DR-8.4: with two cards in the talon nothing else is asked."""
    state = tricks(table("deutsch", "AE 9B", "9E 9G", talon="TE KB"), "AE 9E")
    play(state, "nine")
    assert (legal(state), state.stock()) == ({"lead KB", "lead TE"}, [])
    assert node(state) == "before_draw"  # the others have not seen the draw


def test_dr_8_4_closing_stands_beside_the_leads():
    """DR-8.4: after it the lead is asked."""
    state = table("deutsch", "KE OE", "9E 9G", talon="TE TG OG KB")
    assert legal(state) == {"lead KE", "lead OE", "marry KE", "marry OE", "close"}
    assert legal(play(state, "close")) == {"lead KE", "lead OE", "marry KE", "marry OE"}


def test_dr_8_5_only_the_leader_closes():
    """DR-8.5: not who follows, and not the loser of a trick."""
    state = table("deutsch", "AE 9G", "9E UE", talon="TE TG OG UG UH KB")
    play(state, "lead AE")
    assert legal(state) == {"play 9E", "play UE"}
    play(state, "play 9E")
    assert (state.current_player, legal(state)) == (0, {"close", "continue"})


def test_dr_8_5_nobody_closes_twice():
    """DR-8.5: the talon stays as it is."""
    state = play(table("deutsch", "AE 9G", "9E UE", talon="TE TG OG UG UH KB"), "close")
    assert legal(tricks(state, "AE 9E")) == {"lead 9G"}
    assert state.stock() == ["TE", "TG", "OG", "UG", "UH", "KB"]


def test_dr_8_6_the_snapshot():
    """DR-8.6: 11 and 6 in tricks and a marriage of 40; the other has nothing."""
    hands = ["AE KB OB", "9E UB 9G"]
    state = table("deutsch", *hands, talon="KE OE KG TG UG 9B", ruleset="pagat")
    tricks(state, "AE 9E", "+KB UB")
    play(state, "close")
    public = state.public()
    assert (public["closer"], public["talon_size"]) == (0, 4)
    assert (public["closed_points"], public["closed_tricks"]) == ([57, 0], [2, 0])


def test_dr_8_6_a_marriage_without_a_trick_is_not_in_the_snapshot():
    """DR-8.6: seat 0 has shown 40 and lost the king."""
    hands = ["KB OB 9G", "AB 9E UG"]
    state = table("deutsch", *hands, talon="KE OE KG 9B", ruleset="pagat")
    play(tricks(state, "+KB AB"), "close")
    public = state.public()
    assert (public["closed_points"], public["closed_tricks"]) == ([0, 15], [0, 1])


def closed(*hands: str, **options: Any) -> State:
    """Lay out two hands with bells as trumps, and close the talon before the first lead."""
    options = {"ruleset": "pagat", "talon": "KE OE KG 9B"} | options
    return play(table("deutsch", *hands, **options), "close")


def test_dr_8_7_the_closer_goes_out():
    """DR-8.7: what the other has now counts, not the snapshot: 11 points, 2 strokes."""
    state = closed("9G AH KB OB 9E", "AG TH UB 9H UH")
    tricks(state, "9G AG", "TH AH", "+KB UB")
    assert (state.is_terminal(), awards(state)) == (True, [2, 0])


def test_dr_8_7_the_closer_has_66_and_the_last_trick():
    """DR-8.7: 81 points at the end, the other has no trick."""
    state = tricks(closed("KB OB AH", "UB TH AE"), "+KB UB", "AH TH")
    assert not state.is_terminal()
    assert awards(tricks(state, "OB AE")) == [3, 0]


def test_dr_8_8_the_closer_has_66_but_not_the_last_trick():
    """DR-8.8: 74 points in vain; nobody had a trick at the closing."""
    state = tricks(closed("KB OB AH 9G", "UB KH TH AG"), "+KB UB", "OB KH", "AH TH")
    assert not state.is_terminal()
    assert awards(tricks(state, "9G AG")) == [0, 3]


def test_dr_8_8_the_closer_has_the_last_trick_but_not_66():
    """DR-8.8: 21 points."""
    assert awards(tricks(closed("AE", "TE"), "AE TE")) == [0, 3]


@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
@pytest.mark.parametrize(("subgame", "named"), [("ace_of_hearts", []), ("rufen", ["trump B"])])
def test_dr_8_8_closing_in_the_other_sub_games(subgame, named, ruleset):
    """DR-5.10, DR-6.7: with the same penalty in both rulesets."""
    state = table(subgame, "AE 9G", "9E AG", talon="KE OE KG KB", ruleset=ruleset)
    play(state, *named, "close")
    assert awards(tricks(state, "AE 9E", "9G AG")) == [0, 3]


def test_dr_8_8_the_other_one_goes_out():
    """DR-8.8: 3 by the snapshot, though the closer has a trick now."""
    state = closed("AE TH UB 9E UH", "UE AH KB OB 9G")
    tricks(state, "AE UE", "TH AH", "+KB UB")
    assert (state.is_terminal(), awards(state)) == (True, [0, 3])


def test_dr_8_9_the_closer_claims_wrongly():
    """DR-8.9: 3 for the other, who had no trick when the talon was closed."""
    state = tricks(closed("AE 9G UH", "UE UG KH", **MANUAL), "AE UE")
    assert legal(state) == {"out", "continue"}
    assert awards(play(state, "out")) == [0, 3]


def test_dr_8_9_the_closer_claims_wrongly_against_a_trick():
    """DR-8.9: 2 for the other, who had one."""
    hands = ["9E AG TG 9H", "AE 9G KG UH"]
    state = table("deutsch", *hands, talon="UE OE UG OG TH 9B", **MANUAL)
    tricks(state, "9E AE", "9G AG")
    play(state, "continue", "close")
    assert state.public()["closed_tricks"] == [1, 1]
    tricks(state, "TG KG")
    assert awards(play(state, "out")) == [0, 2]


def test_dr_8_9_the_other_one_claims_wrongly():
    """DR-8.9: the closer erases 2."""
    state = tricks(closed("9G UH 9H", "AG UG KH", **MANUAL), "9G AG")
    assert (state.current_player, awards(play(state, "out"))) == (1, [2, 0])


# ---- DR-9 What is seen ---------------------------------------------------------------------------


def see_the_same(one: State, two: State, seat: int) -> bool:
    """Tell whether a seat sees the same at two tables."""
    return np.array_equal(one.observation(seat), two.observation(seat))


def test_dr_9_1_what_all_see():
    """DR-9.1: the trick and who has played it, cards played, tricks, points and marriages."""
    state = tricks(table("deutsch", "AE KG OG", "UE 9E KE", "TE 9B UG", "OE AG KH"), "AE UE TE OE")
    public = play(state, "marry KG", "play 9E").public()
    assert (public["leader"], public["trick"]) == (0, [("KG", 0), ("9E", 1)])
    assert public["played"] == {"AE", "UE", "TE", "OE", "KG", "9E"}
    assert (public["tricks"], public["points"]) == ([1, 0, 0, 0], [26, 0, 0, 0])
    assert (public["declared"], public["hand_sizes"]) == ([20, 0, 0, 0], [1, 1, 2, 2])


def test_dr_9_2_the_other_hands_are_hidden():
    """DR-9.2: seats 1 and 2 have changed their cards, and seats 0 and 3 see the same."""
    one = table("deutsch", "AE KG", "UE 9E", "9G 9B", "OE KH")
    two = table("deutsch", "AE KG", "9G 9E", "UE 9B", "OE KH")
    assert see_the_same(one, two, 0)
    assert see_the_same(one, two, 3)
    assert not see_the_same(one, two, 1)


@pytest.mark.parametrize("subgame", ["deutsch", "ace_of_hearts"])
def test_dr_9_3_the_order_of_the_talon_is_hidden(subgame):
    """DR-9.3: open or closed."""
    hands = ["AE KG", "UE 9E"]
    one = table(subgame, *hands, talon="AH OE UB KB")
    two = table(subgame, *hands, talon="UB AH OE KB")
    assert see_the_same(one, two, 0)
    assert see_the_same(one, two, 1)
    assert see_the_same(play(one, "close"), play(two, "close"), 1)


CALLERS = ["9B KB 9E AG", "UG OG UE KE", "AB TE AE TG", "TB UB 9H UH"]
CALLERS_2 = ["9B KB 9E AG", "UG OG UE KE", "TB TE AE TG", "AB UB 9H UH"]
CALLERS_3 = ["9B KB 9E AB", "UG OG UE KE", "AG TE AE TG", "TB UB 9H UH"]


def test_dr_9_4_the_partner_is_hidden_from_the_others():
    """DR-9.4: seats 0 and 1 see the same whether seat 2 or seat 3 holds the called card."""
    one, two = (play(table("rufen", *hands), "call AB") for hands in (CALLERS, CALLERS_2))
    assert (one.public()["team"], two.public()["team"]) == (None, None)
    assert see_the_same(one, two, 0)
    assert see_the_same(one, two, 1)


def test_dr_9_4_the_others_do_not_see_that_forehand_is_alone():
    """DR-9.4: before the first lead; seats 1 and 3 cannot tell it from a partner at seat 2."""
    one, two = (play(table("rufen", *hands), "call AB") for hands in (CALLERS, CALLERS_3))
    assert two.public()["team"] is None
    assert see_the_same(one, two, 1)
    assert see_the_same(one, two, 3)


def test_dr_9_4_the_partner_is_open_when_the_called_card_falls():
    """DR-9.4: not before seat 2 has played it."""
    state = play(table("rufen", *CALLERS), "call AB", "lead KB", "play UG")
    assert state.public()["team"] is None
    assert play(state, "play AB").public()["team"] == [0, 2]


def test_dr_9_5_nobody_sees_the_question_before_the_draw():
    """DR-9.5: seat 0 cannot tell whether seat 1 holds the nine or draws it now."""
    one = table("deutsch", "9E 9G", "AE 9B", talon="UE KB")
    two = table("deutsch", "9E 9G", "AE UE", talon="9B KB")
    tricks(one, "9E AE")
    tricks(two, "9E AE")
    assert (legal(one), legal(two)) == ({"nine", "continue"}, {"lead UE", "lead 9B"})
    assert one.public() == two.public()
    assert see_the_same(one, two, 0)
    play(one, "continue")
    assert see_the_same(one, two, 0)
    assert see_the_same(play(one, "lead UE"), play(two, "lead UE"), 0)


def test_dr_9_6_the_other_half_of_a_marriage_is_known():
    """DR-9.6: until it is played."""
    state = tricks(table("deutsch", "KE OE", "9E UE", trump="B"), "+KE 9E")
    assert known(state) == [{"OE"}, set()]
    assert known(play(state, "lead OE")) == [set(), set()]


def test_dr_9_6_a_drawn_indicator_is_known():
    """DR-9.6: once the next card is led."""
    state = tricks(table("deutsch", "AE UE", "9E 9G", talon="TE KB"), "AE 9E")
    play(state, "lead TE")
    assert known(state) == [set(), {"KB"}]


@pytest.mark.parametrize(
    ("trick", "hand", "lacked"),
    [
        ("KG 9G", "9G", {"AG", "TG"}),
        ("KG TG", "TG", set()),
        ("KG UB", "UB", {card for card in DECK if card[1] == "G"}),
        ("KG 9E", "9E", {card for card in DECK if card[1] in "GB"}),
        ("KB 9B", "9B", {"AB", "TB"}),
    ],
)
def test_dr_9_7_what_a_card_played_strictly_proves(trick, hand, lacked):
    """DR-9.7: voids, and that nothing higher is held."""
    state = table("deutsch", f"{trick[:2]} UH", f"{hand} OH", trump="B")
    tricks(state, trick)
    assert state.public()["lacks"][1] == lacked


def test_dr_9_7_an_undertrump_proves_that_no_higher_trump_is_held():
    """DR-9.7: seat 2 cannot beat KB; the suit led is not there either."""
    state = play(table("deutsch", "AG UH", "KB OH", "9B KH", "UE OB"), "lead AG")
    play(state, "play KB", "play 9B")
    assert state.public()["lacks"][2] == {card for card in DECK if card[1] == "G"} | {"AB", "TB"}


def test_dr_9_7_loose_play_proves_nothing():
    """DR-9.7: with cards in the talon."""
    state = tricks(table("deutsch", "KG UH", "9E OH", talon="TE KB"), "KG 9E")
    assert state.public()["lacks"] == [set(), set()]


def test_dr_9_7_a_suit_led_again_in_kamerun_proves_that_there_is_no_other():
    """DR-9.7: unless a Durchmarsch was announced."""
    state = tricks(table("kamerun", "AG KG 9G", "UG UE 9E", "TG TE KE"), "AG UG TG")
    announced = play(state.clone(), "durchmarsch")
    play(state, "lead KG")
    assert state.public()["lacks"][0] == {card for card in DECK if card[1] != "G"}
    assert play(announced, "lead KG").public()["lacks"][0] == set()


def test_dr_9_7_the_first_trick_of_rufen_proves_who_does_not_hold_the_called_card():
    """DR-9.7: forehand, then seat 1, which has no trumps at all."""
    state = play(table("rufen", *CALLERS), "call AB")
    assert state.public()["lacks"] == [set()] * 4
    play(state, "lead KB")
    assert state.public()["lacks"][0] == {"AB"}
    play(state, "play UG")
    assert state.public()["lacks"][1] == {card for card in DECK if card[1] == "B"}


def test_dr_9_7_the_called_card_itself_proves_nothing():
    """DR-9.7: it had to be played; AB may be there."""
    state = table("rufen", "9B KG 9E", "UG OG UE", "UB AB AE", "TB OB 9H")
    play(state, "call UB", "lead 9B", "play UG")
    assert play(state, "play UB").public()["lacks"][2] == set()


def test_dr_9_8_a_new_deal_begins_without_memory():
    """DR-9.8: only strokes, the dealer, the last awards and the number of deals remain."""
    state = table("deutsch", "AH", "9E", "9G", "9H", scope="match", ruleset="pagat")
    public = tricks(state, "AH 9E 9G 9H").public()
    assert (public["deals_played"], public["last_result"]) == (1, [3, 0, 0, 0])
    assert (public["played"], public["out"], public["lacks"]) == (set(), set(), [set()] * 4)
    assert (public["tricks"], public["points"]) == ([0] * 4, [0] * 4)


def test_dr_9_9_by_default_only_decisions_are_asked():
    """DR-9.9: every node handed out has two actions or more."""
    num_legal: list[int] = []
    state = cardenvs.load_game(GAME, scope="subgame").new_initial_state(seed=8)
    play_out(state, 8, lambda state: num_legal.append(len(state.legal_actions())))
    assert min(num_legal) >= 2


@pytest.mark.parametrize(("num_players", "subgame"), TABLES)
@pytest.mark.parametrize("going_out", ["auto", "manual"])
def test_dr_9_9_both_modes_play_the_same_deal(num_players, subgame, going_out):
    """DR-9.9: without forced nodes the same decisions lead to the same end."""
    options = {"num_players": num_players, "subgame": subgame, "going_out": going_out}
    for seed in range(4):
        full, short = play_in_both_modes(GAME, seed, scope="deal", ruleset="pagat", **options)
        assert short.is_terminal()
        assert (short.hands(), short.public()) == (full.hands(), full.public())


@pytest.mark.parametrize("ruleset", ["seed", "pagat"])
@pytest.mark.parametrize("num_players", [3, 4])
def test_dr_9_9_both_modes_play_the_same_match(num_players, ruleset):
    """DR-9.9: and pay the same."""
    full, short = play_in_both_modes(GAME, 9, num_players=num_players, ruleset=ruleset)
    assert short.is_terminal()
    assert short.public() == full.public()
    assert list(short.returns()) == list(full.returns())


# ---- Actions -------------------------------------------------------------------------------------


def test_actions_have_their_numbers():
    """Cards led or played, marriages, calls, suits, and single words."""
    state = table("deutsch", "AE 9B KE OE", "9E 9G UG AG", talon="TE TG OG KB", **MANUAL)
    assert state.string_to_action("lead 9B") == 6
    assert state.string_to_action("marry KE") == 27
    assert state.string_to_action("close") == 78
    play(state, "lead AE")
    assert state.string_to_action("play AG") == 23
    play(state, "play 9E")
    assert (state.string_to_action("out"), state.string_to_action("continue")) == (80, 81)
    play(state, "continue")
    assert state.string_to_action("nine") == 77


def test_actions_before_and_between_leads_have_their_numbers():
    """Calls, trumps, surrender and Durchmarsch."""
    assert table("rufen", *CALLERS).string_to_action("call AB") == 59
    state = table("ace_of_hearts", *SOLO_HANDS)
    assert state.legal_actions() == [72, 73, 74, 75, 76]
    assert (state.string_to_action("trump H"), state.string_to_action("surrender")) == (74, 76)
    state = tricks(table("kamerun", "AG AH", "UG 9H", "KG UH"), "AG UG KG")
    assert state.string_to_action("durchmarsch") == 79


def test_a_dealer_is_elected_by_his_place_to_the_left():
    """The text names the seat: for seat 3 action 82 is `dealer 3`, 83 `dealer 0`."""
    state = end_of_phase_1("seed")
    words = [state.action_to_string(action) for action in range(82, 86)]
    assert words == ["dealer 3", "dealer 0", "dealer 1", "dealer 2"]
    state.apply_action(84)
    assert state.public()["dealer"] == 1


@pytest.mark.parametrize("text", ["lead TE", "play AE", "marry AE", "continue", "AE", "lead", ""])
def test_an_illegal_text_is_refused_with_the_legal_ones(text):
    """No action is read from a text that is not legal; the error names those that are."""
    state = table("deutsch", "AE 9G", "TE UG", "KE KG", "OE OH")
    with pytest.raises(IllegalActionError, match=r"lead AE.*lead 9G"):
        state.string_to_action(text)


@pytest.mark.parametrize("action", [-1, 4, 27, 48, 76, 78, 81, 82, 86, 1000])
def test_an_illegal_action_changes_nothing(action):
    """The error names the legal actions, and the table stays as it was."""
    state = table("deutsch", "AE 9G", "TE UG", "KE KG", "OE OH")
    hands, public = state.hands(), state.public()
    with pytest.raises(IllegalActionError, match="lead AE"):
        state.apply_action(action)
    assert (state.hands(), state.public(), state.current_player) == (hands, public, 0)


def test_no_action_is_legal_after_the_end():
    """A finished episode refuses every action."""
    state = play(table("ace_of_hearts", *SOLO_HANDS), "surrender")
    with pytest.raises(IllegalActionError):
        state.apply_action(72)


# ---- DR-10 Fixed deals ---------------------------------------------------------------------------

HANDS = ["AE 9G", "TE UG", "KE KG", "OE OH"]


def deal(hands: list[str], scope: str = "match", **more: Any) -> State:
    """Lay out a deal that holds nothing but what is named."""
    game = new_game(GAME, num_players=len(hands), scope=scope)
    return game.new_initial_state(seed=1, deal={"hands": hands, **more})


def test_dr_10_1_what_is_not_named():
    """DR-10.1: seat 0 deals, forehand leads, the first phase, seven strokes and no blobs."""
    public = deal(HANDS).public()
    assert (public["dealer"], public["leader"]) == (0, 1)
    assert (public["phase"], public["subgame"]) == (1, "deutsch")
    assert (public["strokes"], public["blobs"]) == ([7] * 4, [0] * 4)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({"subgame": "rufen"}, (3, "rufen")),
        ({"phase": 6}, (6, "rufen")),
        ({"phase": 5, "subgame": "kamerun"}, (5, "kamerun")),
        ({"subgame": "kamerun"}, (4, "kamerun")),
    ],
)
def test_dr_10_1_phase_and_sub_game(named, expected):
    """DR-10.1: one follows from the other."""
    public = deal(HANDS, **named).public()
    assert (public["phase"], public["subgame"]) == expected


def test_dr_10_1_the_sub_game_of_the_option_where_none_is_named():
    """DR-10.1: for a single deal."""
    game = new_game(GAME, scope="deal", subgame="kamerun")
    assert game.new_initial_state(deal={"hands": HANDS}).public()["subgame"] == "kamerun"


def test_dr_10_1_a_named_leader_is_forehand_in_every_respect():
    """DR-10.1: he calls and leads."""
    state = table("rufen", *CALLERS, leader=2)
    assert (state.current_player, node(state)) == (2, "call")
    assert "call AE" in legal(state)
    play(state, "call UE")
    assert (state.current_player, node(state)) == (2, "lead")


def test_dr_10_1_only_the_first_deal_is_fixed():
    """DR-10.1: the next one is shuffled, with six cards each."""
    state = table("deutsch", "AH", "9E", "9G", "9H", scope="match", ruleset="pagat")
    tricks(state, "AH 9E 9G 9H")
    assert sorted(set().union(*state.hands())) == sorted(DECK)


@pytest.mark.parametrize(("num_players", "subgame"), TABLES)
def test_dr_10_1_to_deal_gives_the_start_of_the_deal(num_players, subgame):
    """DR-10.1: taken in mid-deal, it lays out the first position again."""
    game = new_game(GAME, num_players=num_players, subgame=subgame, scope="deal")
    state = game.new_initial_state(seed=10)
    hands, stock, public = state.hands(), state.stock(), state.public()
    for _ in range(3):
        play(state, max(legal(state) - SHORT_CUTS))
    again = game.new_initial_state(deal=state.to_deal())
    assert (again.hands(), again.stock(), again.public()) == (hands, stock, public)


def test_dr_10_1_to_deal_keeps_a_match_in_progress():
    """DR-10.1: phase, strokes, blobs, dealer and leader."""
    position = {"strokes": [0, 2, 5, 7], "blobs": [1, 0, 3, 2], "phase": 7, "dealer": 0}
    state = table("ace_of_hearts", "", "AH 9G", "KE KG", "OE OH", scope="match", **position)
    game = new_game(GAME)
    again = game.new_initial_state(deal=state.to_deal())
    assert (again.hands(), again.public()) == (state.hands(), state.public())


PAIR = ["", "", "AE", "TE"]
PAIR_DEAL = {"hands": PAIR, "subgame": "deutsch"}

REFUSED_DEALS = {
    "no dict": ("AE 9G", "dict"),
    "three hands for four players": ({"hands": HANDS[:3]}, "3.*4"),
    "no hands": ({}, "hands"),
    "a name that no deal has": ({"hands": HANDS, "stock": "9E"}, "stock"),
    "an unknown rank": ({"hands": ["8E 9G", *HANDS[1:]]}, "8E"),
    "an unknown suit": ({"hands": ["AC 9G", *HANDS[1:]]}, "AC"),
    "a card twice in a hand": ({"hands": ["AE AE", *HANDS[1:]]}, "AE.*twice"),
    "a card in two hands": ({"hands": ["AE TE", *HANDS[1:]]}, "TE.*twice"),
    "a card in the talon too": (PAIR_DEAL | {"talon": "TE KB"}, "TE.*twice"),
    "a dealer beyond the table": ({"hands": HANDS, "dealer": 4}, "dealer"),
    "a negative leader": ({"hands": HANDS, "leader": -1}, "leader"),
    "a leader without cards": ({"hands": ["", *HANDS[1:]], "leader": 0}, "leader.*no card"),
    "hands of different sizes": ({"hands": ["AE", *HANDS[1:]]}, "equally many"),
    "one active player": ({"hands": ["AE", "", "", ""]}, "two or more"),
    "no active player": ({"hands": ["", "", "", ""]}, "two or more"),
    "cards without strokes": ({"hands": HANDS, "strokes": [0, 7, 7, 7]}, "seat 0"),
    "strokes without cards": ({"hands": ["", *HANDS[1:]], "strokes": [1, 7, 7, 7]}, "seat 0"),
    "strokes of three seats": ({"hands": HANDS, "strokes": [7, 7, 7]}, "strokes"),
    "eight strokes": ({"hands": HANDS, "strokes": [8, 7, 7, 7]}, "strokes"),
    "negative strokes": ({"hands": HANDS, "strokes": [-1, 7, 7, 7]}, "strokes"),
    "blobs of five seats": ({"hands": HANDS, "blobs": [0] * 5}, "blobs"),
    "half a blob": ({"hands": HANDS, "blobs": [0.5, 0, 0, 0]}, "blobs"),
    "phase 0": ({"hands": HANDS, "phase": 0}, "phase"),
    "phase 9": ({"hands": HANDS, "phase": 9}, "phase"),
    "phase and sub-game at odds": ({"hands": HANDS, "phase": 2, "subgame": "rufen"}, "phase 2"),
    "an unknown sub-game": ({"hands": HANDS, "subgame": "tarock"}, "tarock"),
    "kamerun without a player": ({"hands": ["", *HANDS[1:]], "phase": 4}, "kamerun"),
    "an odd talon": (PAIR_DEAL | {"talon": "KB"}, "even"),
    "a talon for four": ({"hands": HANDS, "talon": "KB UB"}, "talon"),
    "a missing trump": (PAIR_DEAL, "trump"),
    "no suit as trump": (PAIR_DEAL | {"trump": "C"}, "trump"),
    "a trump beside a talon": (PAIR_DEAL | {"talon": "UB KB", "trump": "B"}, "trump"),
    "a trump for four": ({"hands": HANDS, "trump": "H"}, "trump"),
    "a trump in rufen": ({"hands": PAIR, "subgame": "rufen", "trump": "H"}, "trump"),
    "ace of hearts without the ace": ({"hands": HANDS, "subgame": "ace_of_hearts"}, "AH"),
}


@pytest.mark.parametrize("reason", REFUSED_DEALS)
def test_dr_10_2_a_deal_is_refused(reason):
    """DR-10.2: with an error that says what is wrong."""
    given, complaint = REFUSED_DEALS[reason]
    with pytest.raises(DealError, match=complaint):
        new_game(GAME).new_initial_state(deal=given)


def test_dr_10_2_a_phase_belongs_to_a_match():
    """DR-10.2: a single deal has a sub-game only."""
    with pytest.raises(DealError, match="phase"):
        deal(HANDS, scope="deal", phase=1)


def test_dr_10_3_cards_left_out_are_known_to_be_out():
    """DR-10.3: as if discarded openly."""
    state = deal(HANDS)
    placed = {card for hand in HANDS for card in hand.split()}
    assert state.public()["out"] == set(DECK) - placed


def test_dr_10_3_a_seat_without_cards_may_deal():
    """DR-10.3: it has dropped out of the phase, and the next one leads."""
    public = deal(["", *HANDS[1:]], dealer=0).public()
    assert (public["dealer"], public["active"], public["leader"]) == (0, [1, 2, 3], 1)
    assert public["strokes"] == [0, 7, 7, 7]


def test_dr_10_3_a_position_is_the_start_of_a_deal():
    """DR-10.3: its first trick is trick 1: Durchmarsch comes after it, the nine not before it."""
    state = tricks(table("kamerun", "AG AH", "UG 9H", "KG UH"), "AG UG KG")
    assert "durchmarsch" in legal(state)
    assert "nine" not in legal(table("deutsch", "AE 9B", "9E 9G", talon="TE KB"))


@pytest.mark.parametrize(
    ("cards", "is_turned"), [("TE TG TB AH TH KH OH UH", True), ("TE TG TB AH TH KH", False)]
)
def test_dr_10_3_the_talon_is_turned_up_when_a_draw_leaves_six(cards, is_turned):
    """DR-10.3: not when it begins with six."""
    state = table("ace_of_hearts", "AE 9B", "9E 9G", talon=cards)
    assert not state.public()["talon_face_up"]
    play(tricks(state, "AE 9E"), "continue")
    assert state.public()["talon_face_up"] == is_turned


def test_dr_10_3_without_a_card_to_lead_nobody_closes_before_the_draw():
    """DR-10.3: one card each, and four in the talon."""
    state = table("deutsch", "AE", "9E", talon="TE TG OG KB")
    assert "close" in legal(state)
    tricks(state, "AE 9E")
    assert (node(state), state.public()["talon_size"]) == ("lead", 2)


def test_dr_10_3_ace_of_hearts_for_two_without_the_ace():
    """DR-10.3: there are no trumps in the whole deal."""
    state = table("ace_of_hearts", "AE 9B", "9E AG", talon="TE TG")
    trumps = []
    play_out(state, 3, lambda state: trumps.append(state.public()["trump"]))
    assert set(trumps) == {None}


def test_dr_10_3_blobs_of_a_match_count_from_the_start():
    """DR-10.3, DR-1.16: the returns are those of the whole match."""
    state = deal(HANDS, phase=8, blobs=[2, 1, 1, 0])
    assert list(state.returns()) == [-1.0, 0.0, 0.0, 1.0]


def test_dr_10_2_nobody_has_more_blobs_than_phases_are_over():
    """DR-10.2."""
    with pytest.raises(DealError, match="blobs is a list of 4 whole numbers from 0 to 0"):
        deal(HANDS, blobs=[1, 0, 0, 0])


def test_dr_10_3_blobs_given_to_a_single_phase_do_not_count():
    """DR-10.3, DR-1.16: its returns are those of the one phase."""
    assert not deal(HANDS, scope="subgame", blobs=[2, 1, 1, 0]).returns().any()


# ---- Options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("num_players", 1),
        ("num_players", 5),
        ("num_players", "four"),
        ("scope", "game"),
        ("subgame", "tarock"),
        ("ruleset", "bamberg"),
        ("going_out", "never"),
        ("skip_forced", "maybe"),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused(option, value):
    """The error names the option and the value."""
    with pytest.raises(OptionError, match=f"(?s)(?=.*{option})(?=.*{value})"):
        cardenvs.load_game(GAME, **{option: value})


@pytest.mark.parametrize("option", ["strokes", "phases", "deal_rotation", "must_head"])
def test_an_unknown_option_is_refused(option):
    """Notes on other variants are no options."""
    with pytest.raises(OptionError, match=option):
        cardenvs.load_game(GAME, **{option: "off"})


def test_what_is_chosen_by_default():
    """A match of four by the seed text, in which the engine goes out by itself."""
    options = cardenvs.load_game(GAME).options
    assert (options["num_players"], options["scope"]) == (4, "match")
    assert (options["ruleset"], options["going_out"]) == ("seed", "auto")
    assert (options["subgame"], options["skip_forced"]) == ("deutsch", True)
