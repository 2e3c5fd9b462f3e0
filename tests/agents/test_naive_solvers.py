"""The naive solvers themselves: positions worked out by hand, and solving without their graphs."""

import random
from fractions import Fraction
from typing import Any

import pytest

from cardenvs.core.state import State
from tests.oracles.open_games import OPEN_GAMES
from tests.oracles.solve import (
    agreement,
    best_for,
    engine_state,
    forced_losers,
    load_solver,
    open_game,
    positions,
    positions_from,
    possible_returns,
    possible_values,
    solve,
)

GAMES = tuple(OPEN_GAMES)


def solved(game_id: str, options: dict[str, Any], deal: dict[str, Any], *actions: str) -> Any:
    game = OPEN_GAMES[game_id](options, deal)
    for text in actions:
        game.apply(text)
    return solve(game)


# ---- Bräus -----------------------------------------------------------------------------------


def braus(hands: list[str], tricks: list[int], **options: Any) -> Any:
    deal = {"hands": hands, "tricks": tricks, "leader": 0}
    return solved("braus-v0", {"num_players": 4} | options, deal)


def test_braus_a_partner_who_must_beat_wastes_his_card():
    # 6D: seat 1 beats it, the partner must put JC and wins the fifth trick; 8S is the sixth.
    # 8S: the partner must beat it with JC; then 6D falls, the sixth trick of the others.
    assert braus(["8S 6D", "9D 6S", "JC", ""], [4, 5]) == {"lead 6D": 1, "lead 8S": -1}


def test_braus_at_five_all_the_sure_trick_goes_first():
    assert braus(["9C 6D", "9D", "", ""], [5, 5]) == {"lead 6D": -1, "lead 9C": 1}


def test_braus_jan_is_worth_two_strokes():
    assert braus(["JC 6D", "9D", "", ""], [5, 0]) == {"lead 6D": 1, "lead JC": 2}


def test_braus_at_exhaustion_five_tricks_and_the_king_win():
    # In either order 9C and 9D win a trick each: 5-5, and the king decides.
    assert braus(["9C 6D KC", "9D", "", ""], [4, 4]) == {"lead 6D": 1, "lead 9C": 1}
    assert braus(["9C 6D", "9D KC", "", ""], [4, 4]) == {"lead 6D": -1, "lead 9C": -1}
    assert braus(["9C 6D", "9D", "", ""], [4, 4]) == {"lead 6D": 0, "lead 9C": 0}


def test_braus_the_opponent_on_turn_is_valued_for_his_own_team():
    game = OPEN_GAMES["braus-v0"](
        {"num_players": 4},
        {"hands": ["6D", "9D JC 6C", "8S", ""], "tricks": [5, 5], "leader": 0},
    )
    assert game.seat == 1  # the only lead has been played; seat 2 must beat with 8S if he can
    assert solve(game) == {"play 6C": -1, "play 9D": -1, "play JC": 1}


# ---- Bred Ryg --------------------------------------------------------------------------------


def bred_ryg(hands: list[str], *actions: str, **options: Any) -> Any:
    deal = {"hands": hands, "trump": "H", "leader": 0}
    return solved("bred_ryg-v0", {"num_players": len(hands)} | options, deal, *actions)


def test_bred_ryg_two_cards_the_queen_goes_first():
    # QC is taken, then 5D goes out. 5D first is beaten, and the replier is out.
    assert bred_ryg(["QC 5D", "9D"]) == {"lead QC": 0, "lead 5D": -1}


def test_bred_ryg_to_beat_is_to_lead_the_last_card():
    # 9D beats, and the replier goes out with 2S, which cannot be beaten. If he takes, QC follows,
    # and the leader is out.
    assert bred_ryg(["QC 5D", "9D 2S"], "lead 5D") == {"beat 9D": 0, "take": -1}
    assert bred_ryg(["QC 5D", "9D 2S"]) == {"lead QC": 0, "lead 5D": -1}


def test_bred_ryg_zero_sum_is_in_points_of_the_option():
    assert bred_ryg(["QC 5D", "9D", ""], reward="zero_sum") == {"lead QC": 0.5, "lead 5D": -1}


def test_bred_ryg_wants_two_players_no_stock_and_the_queen():
    with pytest.raises(ValueError, match="3 players are left"):
        bred_ryg(["QC 5D", "9D", "2S"])
    with pytest.raises(ValueError, match="queen is out of play"):
        bred_ryg(["3C 5D", "9D 2S"])
    deal = {"hands": ["QC 5D", "9D"], "stock": "2H", "leader": 0}
    game = OPEN_GAMES["bred_ryg-v0"]({"num_players": 2}, deal)
    with pytest.raises(ValueError, match="stock"):
        solve(game)


# ---- Brede Mette -----------------------------------------------------------------------------


def brede_mette(hands: list[str], *actions: str, **options: Any) -> Any:
    deal = {"hands": hands, "trump": "S", "leader": 0}
    return solved("brede_mette-v0", {"num_players": len(hands)} | options, deal, *actions)


def test_brede_mette_the_last_card_led_ends_the_game():
    # BM-T9: with the last card and no stock the leader is out at once.
    assert brede_mette(["5D", "QD 9D"], skip_forced=False) == {"lead 5D": 0}


def test_brede_mette_going_round_is_forced_by_neither():
    # BM-T10: QS led, QC passed, both taken, QD led, QC passed, both taken: as at the start.
    start = ["KS QS", "3H JC QC QD"]
    graph = positions_from(OPEN_GAMES["brede_mette-v0"](*brede_mette_start(start)))
    cycle = ["lead QS", "pass QC", "take", "lead QD", "pass QC", "take"]
    here, seen = 0, [0]
    game = OPEN_GAMES["brede_mette-v0"](*brede_mette_start(start))
    for text in [action for action in cycle if action != "take"]:  # which is forced
        assert text in game.legal()
        game.apply(text)
        here = graph.moves[here][text]
        seen.append(here)
    assert here == 0
    assert len(set(seen)) == len(seen) - 1


def test_brede_mette_what_neither_can_force_is_half_a_loss():
    deal = {"hands": ["4H QD", "3D 4C QH QS"], "trump": "C", "leader": 0}
    game = OPEN_GAMES["brede_mette-v0"]({"num_players": 2}, deal)
    # With 4C, a trump, 4H is beaten or passed. QD can be passed to and fro with the other queens.
    assert solve(game) == {"lead 4H": -1, "lead QD": -0.5}
    assert OPEN_GAMES["brede_mette-v0"]({"num_players": 3, "reward": "zero_sum"}, deal).win() == 0.5
    # Who is on turn where nothing is forced can keep it so, and cannot win at once.
    graph = positions_from(game.branch())
    losers = forced_losers(graph)
    unforced = graph.moves.keys() - losers.keys()
    assert 0 in unforced
    for number in unforced:
        after = {losers.get(position) for position in graph.moves[number].values()}
        assert None in after
        assert after <= {None, graph.seats[number]}


def brede_mette_start(hands: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"num_players": len(hands)}, {"hands": hands, "trump": "S", "leader": 0}


# ---- Dreeg -----------------------------------------------------------------------------------


def dreeg(subgame: str, hands: list[str], *actions: str, **more: Any) -> Any:
    options = {"num_players": len(hands), "scope": "deal", "subgame": subgame}
    deal = {"subgame": subgame, "hands": hands, "leader": 0} | more
    return solved("dreeg-v0", options, deal, *actions)


def test_dreeg_for_two_the_last_trick_decides():
    # Nobody reaches 66, so the last trick is worth 1 stroke. TE must follow AE, and KB has the
    # last trick; after 9B it is AE that has it.
    values = dreeg("rufen", ["AE 9B", "TE KB"], "trump G", talon="")
    assert values == {"lead 9B": 0.5, "lead AE": -0.5}


def test_dreeg_only_the_own_ace_as_trump_has_the_last_trick():
    # Hearts: 9E is lost and AH trumps the last trick, 1 stroke for the soloist. Any other trump:
    # the last trick is the others', 1 stroke each. Surrender: 2 each.
    values = dreeg("ace_of_hearts", ["AH 9E", "AE TE", "KE KB"])
    lost = dict.fromkeys(["trump B", "trump E", "trump G"], -2 / 3)
    assert values == pytest.approx({"trump H": 2 / 3, "surrender": -4 / 3} | lost)


def test_kamerun_each_plays_for_himself():
    # AE first: 15 points, but seat 1 has 15 and the last trick, so strokes are 1, 2, 0.
    # 9B first: the same the other way round. Nobody announces what must fail.
    values = dreeg("kamerun", ["AE 9B", "KE AB", "9E KB"])
    assert values == {"lead AE": 0, "lead 9B": -1}
    announced = dreeg("kamerun", ["AE 9B", "KE AB", "9E KB"], "lead AE")
    assert announced == {"durchmarsch": -2, "lead 9B": 0}


def test_max_n_keeps_every_choice_at_a_tie():
    def pay(*values: int) -> tuple[Fraction, ...]:
        return tuple(map(Fraction, values))

    sure, kind, unkind = pay(1, 0, 0), pay(1, 5, 0), pay(0, 9, 9)
    assert best_for(0, [{sure}, {kind}]) == {sure, kind}
    assert best_for(0, [{sure}, {unkind}]) == {sure}
    # What may pay 0 or 2 may be chosen over a sure 1, but not with 0.
    lucky = pay(2, 0, 0)
    assert best_for(0, [{sure}, {unkind, lucky}]) == {sure, lucky}


# ---- Graphs and branches ---------------------------------------------------------------------


@pytest.mark.parametrize("game_id", GAMES)
def test_a_branch_is_the_game_played_from_the_start(game_id, num_games):
    for position in positions(game_id, max(5, num_games // 4), seed=1):
        rng = random.Random(0)
        branch, played = open_game(position), open_game(position)
        for _ in range(40):  # Brede Mette need not end
            assert branch.position() == played.position()
            assert (branch.seat, branch.legal()) == (played.seat, played.legal())
            assert (branch.hands(), branch.returns()) == (played.hands(), played.returns())
            if played.over:
                break
            text = rng.choice(played.legal())
            branch = branch.branch(text)
            played.apply(text)


def tree_returns(game: Any) -> set[tuple[Fraction, ...]]:
    """Search the tree of an open game, merging no positions."""
    if game.over:
        return {tuple(game.returns())}
    return best_for(game.seat, [tree_returns(game.branch(text)) for text in game.legal()])


@pytest.mark.parametrize("game_id", [game for game in GAMES if not OPEN_GAMES[game].CAN_GO_ROUND])
def test_merging_positions_changes_no_value(game_id, num_games):
    compared = 0
    for position in positions(game_id, max(10, num_games // 4), seed=2):
        graph = positions_from(open_game(position))
        if len(graph.moves) <= 40:  # else the tree is too large
            compared += 1
            assert possible_returns(graph)[0] == tree_returns(open_game(position)), position
    assert compared >= max(10, num_games // 4) // 2


def test_marking_backwards_agrees_with_going_through_all_lines(num_games):
    for position in positions("bred_ryg-v0", max(5, num_games // 5), seed=3):
        graph = positions_from(open_game(position))
        losers, returns = forced_losers(graph), possible_returns(graph)
        for number, possible in returns.items():
            (value,) = possible
            assert value[losers[number]] == -1


# ---- Against the engine ----------------------------------------------------------------------


def returns_of_engine(state: State) -> tuple[float, ...]:
    """Search the tree of the engine; who is on turn takes what pays him most."""
    if state.is_terminal():
        return tuple(state.returns().tolist())
    seat = state.current_player
    return max((returns_of_engine(after) for after in afters(state)), key=lambda r: r[seat])


def afters(state: State) -> list[State]:
    children = []
    for action in state.legal_actions():
        child = state.clone()
        child.apply_action(action)
        children.append(child)
    return children


def engine_values(state: State) -> dict[int, float]:
    seat = state.current_player
    values = [returns_of_engine(after)[seat] for after in afters(state)]
    return dict(zip(state.legal_actions(), values, strict=True))


SMALL = {"braus-v0": {"num_players": 4}, "dreeg-v0": {"num_players": 3}}


@pytest.mark.parametrize("game_id", SMALL)
def test_agreement_with_a_plain_search_of_the_engine(game_id, num_games):
    found = agreement(engine_values, game_id, num_games // 10, seed=4, fixed=SMALL[game_id])
    assert found.positions == num_games // 10
    assert found.mismatches == 0, found.first_mismatch


@pytest.mark.parametrize("game_id", GAMES)
def test_a_wrong_solver_is_found_out_and_its_position_told(game_id):
    found = agreement(lambda state: dict.fromkeys(state.legal_actions(), 7.0), game_id, 3)
    assert (found.positions, found.mismatches) == (3, 3)
    assert "7.0" in str(found)
    missing = agreement(lambda state: {}, game_id, 2)
    assert missing.mismatches == 2


@pytest.mark.parametrize("game_id", GAMES)
def test_engine_and_oracle_stand_at_the_same_position(game_id, num_games):
    for position in positions(game_id, max(5, num_games // 8), seed=5):
        state, game = engine_state(position), open_game(position)
        assert sorted(state.legal_action_strings()) == game.legal()
        assert state.current_player == game.seat
        assert set(possible_values(game)) == set(game.legal())


@pytest.mark.parametrize("name", ["", "tests.oracles.solve", ":solve", "tests.oracles.solve:"])
def test_a_solver_must_be_named_in_full(name):
    with pytest.raises(ValueError, match="a solver is named"):
        load_solver(name)
