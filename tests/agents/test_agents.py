"""Agents play legally, by what they see alone, and as their seed says."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import cardenvs
from agents import dreeg
from agents.learned import NetworkAgent
from agents.priority import PriorityAgent
from cardenvs.core.game import Game
from cardenvs.games import braus_view
from cardenvs.games.braus import LIVE_CARDS
from tests.oracles.cases import CASES
from training.evaluate import evaluate

#: How little is thought over a decision here, where an agent thinks long by itself.
QUICK: dict[tuple[str, str], dict[str, int]] = {("dreeg-v0", "search"): {"worlds": 2}}
AGENTS = [(game_id, name) for game_id in cardenvs.game_ids() for name in agents.names(game_id)]


def quick(game: str | Game, name: str, seed: int) -> Any:
    """Make an agent that does not think long."""
    game_id = game if isinstance(game, str) else game.id
    return agents.make(game, name, seed=seed, **QUICK.get((game_id, name), {}))


def positions(game: Game, count: int, seed: int = 0) -> Any:
    """Walk through random play, table by table."""
    state = game.new_initial_state(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(count):
        if state.is_terminal():
            seed += 1
            state = game.new_initial_state(seed=seed)
        yield state
        state.apply_action(int(rng.choice(state.legal_actions())))


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_plays_legally_whatever_the_options(game_id: str, name: str, num_games: int) -> None:
    rng = random.Random(1)
    for _ in range(10):
        batch = cardenvs.make_batch(game_id, 8, seed=1, **CASES[game_id].random_options(rng))
        agent = quick(batch.game, name, seed=2)
        batch.reset()
        finished = 0
        while finished < num_games / 25:
            batch.step(agent.act(batch.observation, batch.action_mask))  # checks every action
            finished += int(batch.terminated.sum())


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_hidden_cards_do_not_matter(game_id: str, name: str, num_games: int) -> None:
    for state in positions(load(game_id), num_games):
        seat = state.current_player
        chosen = set()
        for seed in range(3):
            world = state.determinize(seat, seed)
            agent = quick(game_id, name, seed=5)
            chosen.add(int(agent.act(world.observation(seat), world.action_mask())))
        assert len(chosen) == 1


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_the_seed_decides(game_id: str, name: str) -> None:
    batch = cardenvs.make_batch(game_id, num_envs=64, seed=1)
    batch.reset()
    first, second = (
        quick(game_id, name, seed=7).act(batch.observation, batch.action_mask) for _ in range(2)
    )
    assert (first == second).all()
    other = quick(game_id, name, seed=8)
    is_same = (other.act(batch.observation, batch.action_mask) == first).all()
    assert is_same == (other.plays == "greedy")


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_one_position_without_a_leading_axis(game_id: str, name: str) -> None:
    state = load(game_id).new_initial_state(seed=3)
    action = quick(game_id, name, seed=1).act(state.observation(), state.action_mask())
    assert isinstance(action, np.int64)
    state.apply_action(action)


@pytest.mark.parametrize(("game_id", "name"), AGENTS)
def test_a_finished_table_gets_action_0(game_id: str, name: str) -> None:
    game = load(game_id)
    observation = np.zeros((2, game.observation_size), np.int8)
    mask = np.zeros((2, game.num_actions), np.int8)
    assert quick(game_id, name, seed=1).act(observation, mask).tolist() == [0, 0]


def test_names_and_errors() -> None:
    game = load("bred_ryg")
    assert agents.names("bred_ryg") == agents.names(game) == ("random", "rules")
    assert agents.make(game, "rules").name == "rules"
    with pytest.raises(ValueError, match=r"'clever'; there are random, rules"):
        agents.make("bred_ryg", "clever")
    with pytest.raises(ValueError, match="has 3 players, not 4"):
        agents.make(game, "rules", num_players=4)
    with pytest.raises(ValueError, match="no game is called"):
        agents.make("chess", "random")


def test_random_is_uniform() -> None:
    agent = agents.make("bred_ryg", "random", seed=1)
    game = load("bred_ryg")
    mask = np.zeros((3_000, game.num_actions), np.int8)
    mask[:, [3, 20, 52]] = 1
    actions = agent.act(np.zeros((3_000, game.observation_size), np.int8), mask)
    numbers, counts = np.unique(actions, return_counts=True)
    assert numbers.tolist() == [3, 20, 52]
    assert (abs(counts - 1_000) < 110).all()  # four standard deviations


# ----------------------------------------------------------------------------------------------
# The hints of Bred Ryg

STOCK = "9C 8C 7C 6C 4H"
REST = "JD TD 9D 8D"


def rules_choose(hands: list[str], *played: str, stock: str = STOCK, trump: str = "H") -> str:
    """Return the words for what the rule-based agent plays after some actions; seat 0 leads."""
    deal = {"dealer": 2, "hands": hands, "stock": stock, "trump": trump}
    state = load("bred_ryg").new_initial_state(seed=0, deal=deal)
    for text in played:
        state.apply_action(state.string_to_action(text))
    agent = agents.make("bred_ryg", "rules")
    return state.action_to_string(int(agent.act(state.observation(), state.action_mask())))


def test_h2_beats_with_the_cheapest_card() -> None:
    hands = ["5S 2C 3C KD", "8S 6S 2H QH", REST]
    assert rules_choose(hands, "lead 5S") == "beat 6S"


def test_h2_prefers_any_plain_card_to_a_trump() -> None:
    hands = ["5S 2C 3C KD", "AS 2H 3H QH", REST]
    assert rules_choose(hands, "lead 5S") == "beat AS"


def test_h2_keeps_a_high_trump_while_there_is_a_stock() -> None:
    hands = ["5S 2C 3C KD", "2S QH KH AH", REST]
    assert rules_choose(hands, "lead 5S") == "take"
    assert rules_choose(hands, "lead 5S", stock="") == "beat QH"


def test_h3_leads_the_black_queen() -> None:
    assert rules_choose(["2S QC 3S KD", "8S 6S 2H QH", REST]) == "lead QC"


def test_h3_puts_the_black_queen_as_the_extra_card() -> None:
    hands = ["2S 2D QC KD", "8S 6S 2H QH", REST]
    assert rules_choose(hands, "lead 2D", "add 2S") == "extra QC"


def test_h3_adds_the_black_queen_to_a_queen() -> None:
    hands = ["QS 2D 3D KD", "8S 6S 2H 5H", "QC TD 9D 8D"]
    assert rules_choose(hands, "lead QS") == "add QC"


def test_h5_leads_the_black_queen_in_the_endgame() -> None:
    assert rules_choose(["2S QC 3S KD", "8S 6S", REST], stock="") == "lead QC"


def test_h7_adds_what_the_hand_can_beat() -> None:
    hands = ["5S 2D 3D KD", "5D 9D KS 2C", "JC TC AC 3C"]
    assert rules_choose(hands, "lead 5S") == "add 5D"


def test_h7_adds_nothing_that_it_would_have_to_take() -> None:
    hands = ["5S 2D 3D KD", "5D 4D KS 2C", "JC TC AC 3C"]
    assert rules_choose(hands, "lead 5S") == "pass"


def test_h9_leads_the_lowest_plain_card() -> None:
    assert rules_choose(["2H 3D AS KD", "8S 6S 3H QH", REST]) == "lead 3D"


def test_h9_adds_plain_cards_and_keeps_trumps() -> None:
    replier = "8S 6S 3H QH"
    assert rules_choose(["5D 5H 5S KD", replier, REST], "lead 5D") == "add 5S"
    assert rules_choose(["5D 5H 2C KD", replier, REST], "lead 5D") == "pass"
    assert rules_choose(["5D 5H 2C KD", replier, REST], "lead 5D", stock="") == "add 5H"


@pytest.mark.compiled
def test_rules_lose_at_most_three_games_in_a_hundred_among_random_players() -> None:
    players = {name: agents.make("bred_ryg", name, seed=1) for name in ("random", "rules")}
    report = evaluate("bred_ryg", players, [("rules", "random")], 400, progress=False)
    assert report.rows[0].high < 0.03


# ----------------------------------------------------------------------------------------------
# Bräus


def braus_choose(name: str, hands: list[str], *played: str, **options: Any) -> str:
    """Return the words for what an agent plays after some actions; seat 0 leads."""
    game = cardenvs.load_game("braus-v0", skip_forced=False, **options)
    state = game.new_initial_state(seed=0, deal={"dealer": 3, "hands": hands, "leader": 0})
    for text in played:
        state.apply_action(state.string_to_action(text))
    agent = agents.make(game, name)
    return state.action_to_string(int(agent.act(state.observation(), state.action_mask())))


def test_lowest_plays_the_weakest_card_by_the_order_of_the_game() -> None:
    hands = ["KH 6C AD", "9C JD 8S", "TC", "TD"]
    assert braus_choose("lowest", hands) == "lead 6C"
    assert braus_choose("lowest", hands, "lead 6C") == "play JD"
    assert braus_choose("lowest", hands, "lead 6C", "play 9C") == "pass"
    kept = ["7D 6C", "9C", "TC", "TD"]
    assert braus_choose("lowest", kept, sevens="optional") == "lay 7D"


def test_h6_leads_the_weakest_card_that_no_opponent_can_beat() -> None:
    assert braus_choose("rules", ["8S AD 6D", "9C", "6C", "9H"]) == "lead 8S"
    assert braus_choose("rules", ["8S AD 6D", "9C", "JC", "9H"]) == "lead 6D"  # 8S may be beaten
    assert braus_choose("rules", ["KH AD 6D", "6C", "TC", "6S"]) == "lead AD"


def test_h5_knows_what_passes_prove() -> None:
    """Once both opponents have passed on AD, it is sure, though higher cards are out."""
    game = cardenvs.load_game("braus-v0")
    deal = {"dealer": 3, "hands": ["AD 9H 6D", "6C", "9S KH", "6S"]}
    state = game.new_initial_state(seed=0, deal=deal)
    agent, seen = agents.make(game, "rules"), state.observation()
    assert state.action_to_string(int(agent.act(seen, state.action_mask()))) == "lead 6D"
    start = braus_view.OFFSETS[4][braus_view.MAY_HOLD]
    for place in (1, 3):
        caps = start + place * len(LIVE_CARDS)
        seen[caps + LIVE_CARDS.index("AD") + 1 : caps + len(LIVE_CARDS)] = 0
    assert state.action_to_string(int(agent.act(seen, state.action_mask()))) == "lead AD"


@pytest.mark.compiled
def test_in_braus_each_agent_beats_those_that_know_less() -> None:
    names = ("random", "lowest", "priority", "rules")
    players = {name: agents.make("braus", name, seed=1) for name in names}
    pairs = [("lowest", "random"), ("priority", "random"), ("rules", "lowest")]
    report = evaluate("braus", players, pairs, 40_000, progress=False)
    assert all(row.low > 0.0 for row in report.rows)
    assert 0.13 < report.rows[0].result < 0.15  # two independent engines: 0.136 and 0.142


# ----------------------------------------------------------------------------------------------
# Brede Mette


def mette_choose(
    name: str, hands: list[str], *played: str, stock: str = STOCK, trump: str = "H", **options: Any
) -> str:
    """Return the words for what an agent plays after some actions; seat 0 leads."""
    game = cardenvs.load_game("brede_mette-v0", num_players=len(hands), **options)
    deal = {"hands": hands, "stock": stock, "trump": trump, "leader": 0}
    state = game.new_initial_state(seed=0, deal=deal)
    for text in played:
        state.apply_action(state.string_to_action(text))
    agent = agents.make(game, name)
    return state.action_to_string(int(agent.act(state.observation(), state.action_mask())))


def test_in_brede_mette_h1_leads_the_lowest_plain_rank_and_all_of_it() -> None:
    hands = ["3D 3S AS", "8S 6S 2H", REST]
    assert mette_choose("rules", hands) == "lead 3D"
    assert mette_choose("rules", hands, "lead 3D") == "add 3S"


def test_in_brede_mette_trumps_are_added_only_without_a_stock() -> None:
    hands = ["3D 3H AS", "8S 6S 2H", REST]
    assert mette_choose("rules", hands, "lead 3D") == "stop"
    assert mette_choose("rules", hands, "lead 3D", stock="") == "add 3H"


def test_in_brede_mette_h2_adds_to_the_attack_of_another() -> None:
    assert mette_choose("rules", ["5S 2C 3C", "8S 6S 2H", "5D 9D TD"], "lead 5S") == "add 5D"


def test_in_brede_mette_h4_takes_a_trump_back() -> None:
    hands = ["QH QS 2D 3D 4D", "2C JC 6D"]
    played = ("lead QH", "add QS", "beat QH with 2C", "beat QS with JC")
    more = {"stock": "KH KS 3C", "trump": "C"}
    assert mette_choose("rules", hands, *played, **more) == "exchange QH with KH"
    assert mette_choose("lowest", hands, *played, **more) == "done"


def test_in_brede_mette_h5_passes_but_not_with_a_trump() -> None:
    hands = ["5S 2C 3C", "5D KS 4C", "9D TD JD"]
    assert mette_choose("rules", hands, "lead 5S") == "pass 5D"
    hands = ["5S 2C 3C", "5H KS 4C", "9D TD JD"]
    assert mette_choose("rules", hands, "lead 5S") == "beat 5S with KS"


@pytest.mark.parametrize("queen", ["QD", "QH"])
def test_in_brede_mette_h6_gets_rid_of_the_red_queen(queen: str) -> None:
    hands = [f"2S {queen} 3S", "8S 6S 2H", "JD TD 9D"]
    assert mette_choose("rules", hands, queen=queen) == f"lead {queen}"
    hands = ["QS 2C 3C", f"{queen} QC KS", "9D TD JD"]
    assert mette_choose("rules", hands, "lead QS", queen=queen) == f"pass {queen}"


def test_in_brede_mette_h7_beats_with_the_cheapest_card() -> None:
    hands = ["5S 2C 3C", "8S 6S 2H", "9D TD JD"]
    assert mette_choose("rules", hands, "lead 5S") == "beat 5S with 6S"
    assert mette_choose("rules", hands, "lead 5S", pickup="free") == "beat 5S with 6S"
    hands = ["5S 5C 3C", "8S 6S TD", "9D QD JD"]
    played = ("lead 5C", "add 5S")
    assert mette_choose("rules", hands, *played, pickup="free") == "take"


def test_in_brede_mette_lowest_plays_its_weakest_card_as_long_as_it_can() -> None:
    assert mette_choose("lowest", ["2H 3D AS", "8S 6S 3H", REST]) == "lead 3D"
    assert mette_choose("lowest", ["QD AH KH", "8S 6S 3H", REST]) == "lead KH"
    assert mette_choose("lowest", ["QD AH", "8S 6S 3H", REST]) == "lead AH"
    hands = ["5S 2C 3C", "8S 6S 2H", "5D 9D TD"]
    assert mette_choose("lowest", hands, "lead 5S") == "add 5D"


@pytest.mark.compiled
def test_in_brede_mette_each_agent_loses_less_than_those_that_know_less() -> None:
    players = {
        name: agents.make("brede_mette", name, seed=1) for name in ("random", "lowest", "rules")
    }
    pairs = [("lowest", "random"), ("rules", "random"), ("rules", "lowest")]
    report = evaluate("brede_mette", players, pairs, 1_000, progress=False)
    assert all(row.high < row.fair for row in report.rows)
    assert report.rows[1].high < 0.08


# ----------------------------------------------------------------------------------------------
# Dreeg


def dreeg_choose(name: str, subgame: str, hands: list[str], *played: str, **more: Any) -> str:
    """Return the words for what an agent plays after some actions; seat 0 leads."""
    deal: dict[str, Any] = {"subgame": subgame, "hands": hands, "dealer": len(hands) - 1}
    deal |= {key: more.pop(key) for key in ("talon", "strokes", "trump") if key in more}
    options = {"num_players": len(hands), "scope": "deal", "skip_forced": False} | more
    game = cardenvs.load_game("dreeg-v0", **options)
    state = game.new_initial_state(seed=0, deal=deal)
    for text in played:
        state.apply_action(state.string_to_action(text))
    agent = agents.make(game, name)
    return state.action_to_string(int(agent.act(state.observation(), state.action_mask())))


OTHERS = ["9E UE OE", "9G UG OG", "TG KG AG"]


def test_in_dreeg_h1_calls_the_highest_trump_that_is_not_held() -> None:
    assert dreeg_choose("rules", "rufen", ["AB 9B UH", *OTHERS]) == "call TB"
    assert dreeg_choose("rules", "rufen", ["AB TB OB", *OTHERS]) == "call KB"


def test_in_dreeg_h2_calls_the_ace_to_a_marriage() -> None:
    assert dreeg_choose("rules", "rufen", ["KB OB TH", *OTHERS]) == "call AB"


def test_in_dreeg_h5_names_the_suit_of_a_marriage_or_the_longest() -> None:
    assert dreeg_choose("rules", "ace_of_hearts", ["AH KB OB", *OTHERS]) == "trump B"
    assert dreeg_choose("rules", "ace_of_hearts", ["AH TB KB", *OTHERS]) == "trump B"
    assert dreeg_choose("rules", "ace_of_hearts", ["AH TH KB", *OTHERS]) == "trump H"


def test_in_dreeg_h6_goes_out_with_66_and_not_before() -> None:
    hands = ["AH TH KH OH", "TE KE TB KB"]
    played = ["trump H", "marry OH", "play TE"]
    assert dreeg_choose("rules", "ace_of_hearts", hands, *played, going_out="manual") == "continue"
    played += ["continue", "lead AH", "play TB"]
    assert dreeg_choose("rules", "ace_of_hearts", hands, *played, going_out="manual") == "out"


@pytest.mark.parametrize(
    ("called", "sides"), [("UE", [0b001, 0b011, 0b101]), ("TE", [0b101, 0b001, 0b011])]
)
def test_in_dreeg_a_side_is_known_as_soon_as_the_called_card_has_fallen(
    called: str, sides: list[int]
) -> None:
    """Seat 0 calls its own card and is alone, or that of seat 2."""
    options = {"scope": "deal", "subgame": "rufen", "num_players": 3, "skip_forced": False}
    game = cardenvs.load_game("dreeg", **options)
    deal = {"hands": ["UE 9E 9B 9H", "OE AH AB KH", "TE TB TH TG"], "dealer": 2}
    state = game.new_initial_state(seed=0, deal=deal)
    state.apply_action(state.string_to_action(f"call {called}"))
    assert dreeg.own_side(state.observation(1)) == 0b001
    while not state.public()["tricks"].count(1):
        state.apply_action(state.legal_actions()[0])
    assert [dreeg.own_side(state.observation(seat)) for seat in range(3)] == sides


def test_in_dreeg_h7_shows_a_marriage() -> None:
    assert dreeg_choose("rules", "deutsch", ["AB KB OB", *OTHERS]).startswith("marry")


def test_in_dreeg_h8_closes_with_a_hand_that_is_sure_of_66_and_h9_with_no_other() -> None:
    deck = [rank + suit for suit in "EBHG" for rank in "9UOKTA"]
    for own, chosen in (("AH TH KH OH AE AG", "close"), ("AH TH KB OG 9E 9G", "lead")):
        others = [card for card in deck if card not in own]
        hands, talon = [own, " ".join(others[:6])], " ".join(others[6:])
        words = dreeg_choose("rules", "rufen", hands, "trump H", talon=talon)
        assert words.startswith(chosen)


def test_in_dreeg_h10_swaps_the_nine_at_once() -> None:
    hands, talon = ["AE 9H", "9E UE"], "TB TG KB KG OB AH"
    assert dreeg_choose("rules", "deutsch", hands, "lead AE", "play 9E", talon=talon) == "nine"


def test_in_dreeg_h12_gives_away_what_counts_in_kamerun() -> None:
    hands = ["KE 9B UB", "TE TB 9G", "KB AG 9H", "UE OB OG"]
    assert dreeg_choose("rules", "kamerun", hands, "lead KE", "play TE") == "play AG"


def test_in_dreeg_h13_announces_a_hand_that_wins_everything() -> None:
    others = ["9E UE OE 9H", "9G UG OG UH", "TG KG AG OH"]
    played = ["lead AE", "play OE", "play UH", "play OH"]
    strong = ["AE TE KE AB", *others]
    assert dreeg_choose("rules", "kamerun", strong, *played) == "durchmarsch"
    weak = ["AE 9B UB TE", *others[:2], "TB KB AB OH"]
    assert dreeg_choose("rules", "kamerun", weak, *played).startswith("lead")


def test_in_dreeg_h15_elects_the_right_neighbour() -> None:
    more = {"scope": "match", "strokes": [1, 0, 1, 0], "trump": "E"}
    words = dreeg_choose("rules", "deutsch", ["AE", "", "9E", ""], "lead AE", "play 9E", **more)
    assert words == "dealer 1"


def test_in_dreeg_lowest_plays_its_weakest_card_as_long_as_it_can() -> None:
    assert dreeg_choose("lowest", "deutsch", ["AB OH KE", *OTHERS[:2], "TG AG 9B"]) == "lead OH"
    assert dreeg_choose("lowest", "deutsch", ["AB 9B TB", *OTHERS[:2], "TG AG UB"]) == "lead 9B"
    assert dreeg_choose("lowest", "ace_of_hearts", ["AH KB OB", *OTHERS]) == "trump E"


@pytest.mark.compiled
@pytest.mark.parametrize("subgame", ["deutsch", "ace_of_hearts", "rufen", "kamerun", None])
def test_in_dreeg_the_hints_are_worth_something(subgame: str | None) -> None:
    options = {"scope": "deal", "subgame": subgame} if subgame else {}
    game = cardenvs.load_game("dreeg", **options)
    players = {name: agents.make(game, name, seed=1) for name in ("random", "lowest", "rules")}
    pairs = [("rules", "random"), ("rules", "lowest")]
    report = evaluate(game, players, pairs, 2_000 if subgame else 50, progress=False)
    assert all(row.low > 0.0 for row in report.rows)


# ----------------------------------------------------------------------------------------------
# The fixed order


def test_an_order_holds_each_action_once() -> None:
    with pytest.raises(ValueError, match="each of its 3 action ids once"):
        PriorityAgent([0, 1, 1])
    game = load("braus")
    mask = np.zeros((1, game.num_actions), np.int8)
    mask[0, [4, 7]] = 1
    seen = np.zeros((1, game.observation_size), np.int8)
    order = [7, 4, *(action for action in range(game.num_actions) if action not in (4, 7))]
    assert PriorityAgent(order).act(seen, mask).tolist() == [7]


# ----------------------------------------------------------------------------------------------
# Networks


def network(greedy: bool, size: float = 1.0) -> NetworkAgent:
    game, rng = load("bred_ryg"), np.random.default_rng(0)
    widths = [game.observation_size, 16, 8, game.num_actions]
    layers = [
        (size * rng.normal(size=pair).astype(np.float32), np.zeros(pair[1], np.float32))
        for pair in itertools.pairwise(widths)
    ]
    return NetworkAgent(layers, greedy=greedy, seed=3)


@pytest.mark.parametrize("greedy", [False, True])
def test_a_network_plays_legally(greedy: bool, num_games: int) -> None:
    agent = network(greedy)
    batch = cardenvs.make_batch("bred_ryg", num_envs=16, seed=1)
    batch.reset()
    for _ in range(num_games):
        batch.step(agent.act(batch.observation, batch.action_mask))


def test_a_network_without_preferences_is_uniform() -> None:
    agent = network(greedy=False, size=0.0)
    game = load("bred_ryg")
    mask = np.zeros((3_000, game.num_actions), np.int8)
    mask[:, [3, 20, 52]] = 1
    actions = agent.act(np.zeros((3_000, game.observation_size), np.int8), mask)
    assert np.unique(actions).tolist() == [3, 20, 52]
    assert (abs(np.bincount(actions)[[3, 20, 52]] - 1_000) < 110).all()


def test_a_network_is_saved_and_copied(tmp_path: Path) -> None:
    agent = network(greedy=True)
    agent.save(tmp_path / "policy.npz")
    loaded = NetworkAgent.load(tmp_path / "policy.npz", greedy=True)
    copied = NetworkAgent(agent.layers, greedy=True)
    batch = cardenvs.make_batch("bred_ryg", num_envs=64, seed=1)
    batch.reset()
    before = agent.act(batch.observation, batch.action_mask)
    agent.layers[0][0][:] = 0.0
    for other in (loaded, copied):
        assert (other.act(batch.observation, batch.action_mask) == before).all()


def load(game_id: str) -> Game:
    return cardenvs.load_game(game_id)
