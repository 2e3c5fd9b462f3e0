"""The hint lab finds effects that are there, and none where there are none."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import cardenvs
from agents.hints import advice_masks, hint_book
from training import hint_lab
from training.evaluate import deal_seeds, lineup, play_duplicates
from training.hint_lab import ForcedAgent, Triggered, clustered, compliance, effect_of_set
from training.hint_tables import play_hint_tables
from training.players import read_player

BRAUS = cardenvs.load_game("braus")
BOOK = hint_book(BRAUS)


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
@pytest.mark.parametrize("num_threads", [1, 2])
def test_compiled_tables_play_as_the_agents_do(
    game_id: str, num_threads: int, num_games: int
) -> None:
    options = {"scope": "deal"} if game_id.startswith("dreeg") else {}
    game = cardenvs.load_game(game_id, **options)
    book, base = hint_book(game), hint_book(game).base_names[0]
    seeds = deal_seeds("dev", max(4, num_games // 10))
    hints = agents.make(game, "hints")
    bare = agents.make(game, "hints", hints=(), base=base)
    places = [book.default if agent is hints else () for agent in lineup(game, hints, bare)]
    scores = play_hint_tables(game, book, base, places, seeds, num_threads)
    played = play_duplicates(game, lineup(game, hints, bare), seeds)
    assert (scores == played.scores).all()


def test_a_hint_against_itself_has_no_effect_at_all() -> None:
    seeds = deal_seeds("dev", 50)
    effect = effect_of_set(BRAUS, BOOK, "lowest", BOOK.default, BOOK.default, seeds)
    assert (effect.mean, effect.error) == (0.0, 0.0)


@pytest.mark.compiled
def test_gains_have_the_sign_of_the_scores() -> None:
    seeds = deal_seeds("dev", 20_000)
    effect = effect_of_set(BRAUS, BOOK, "lowest", BOOK.default, (), seeds)
    assert effect.low > 0.0
    players = {"hints": agents.make(BRAUS, "hints"), "lowest": agents.make(BRAUS, "lowest")}
    played = play_duplicates(BRAUS, lineup(BRAUS, players["hints"], players["lowest"]), seeds)
    assert effect.mean == pytest.approx(played.scores[:, :, 0].mean())


def test_a_group_of_equal_values_counts_once() -> None:
    values, games = np.array([1.0, 0.0, 1.0, 0.0]), np.array([5, 6, 7, 8])
    apart = clustered(values, games)
    together = clustered(np.repeat(values, 9), np.repeat(games, 9))
    assert apart.mean == together.mean == 0.5
    assert apart.error == pytest.approx(together.error) == pytest.approx(0.25)
    assert together.blocks == 4


def triggered(hint: str) -> Triggered:
    """Return where a hint of Bräus speaks, in some games of hint agents."""
    return hint_lab.triggered_positions(BRAUS, BOOK, capacity=40, num_steps=30, seed=1)[hint]


def test_positions_are_those_where_the_hint_leaves_a_choice_out() -> None:
    where = triggered("BZ-H6")
    advised = advice_masks(BOOK, "BZ-H6", where.observations, where.masks)
    assert (advised == where.advised).all()
    assert len(where.games) == 40
    assert (advised.sum(axis=1) >= 1).all()
    assert (advised.sum(axis=1) < where.masks.sum(axis=1)).all()
    assert 0.0 < where.share_of_games <= 1.0
    assert where.per_game >= where.share_of_games


def test_compliance_is_measured_against_chance() -> None:
    where = triggered("BZ-H6")
    follower = compliance(agents.make(BRAUS, "hints", hints="BZ-H6"), where)
    assert follower.followed == 1.0
    chance = (where.advised.sum(axis=1) / where.masks.sum(axis=1)).mean()
    assert follower.chance == pytest.approx(chance)
    assert follower.lift.mean == pytest.approx(1.0 - chance)
    noise = compliance(agents.make(BRAUS, "random", 1), where)
    assert abs(noise.lift.mean) < 4 * noise.lift.error


def test_a_forced_agent_follows_or_defies_the_hint_and_else_plays_on() -> None:
    where = triggered("BZ-H6")
    for follows in (True, False):
        agent = ForcedAgent(agents.make(BRAUS, "random", 1), BOOK, "BZ-H6", follows)
        actions = agent.act(where.observations, where.masks)
        assert (where.advised[np.arange(len(actions)), actions] == follows).all()
        assert where.masks[np.arange(len(actions)), actions].all()
    batch = cardenvs.make_batch("braus", 8, seed=3)
    batch.reset()
    silent = ~advice_masks(BOOK, "BZ-H4a", batch.observation, batch.action_mask).any(axis=1)
    assert silent.all()
    free = agents.make(BRAUS, "lowest").act(batch.observation, batch.action_mask)
    forced = ForcedAgent(agents.make(BRAUS, "lowest"), BOOK, "BZ-H4a", True)
    assert (forced.act(batch.observation, batch.action_mask) == free).all()


class KnowsBest:
    """Values what a hint advises at 1, and all else at its number in thousandths."""

    def values(self, observations: Any, masks: Any) -> Any:
        advised = advice_masks(BOOK, "BZ-H6", observations, masks)
        worth = np.where(advised != 0, 1.0, np.arange(masks.shape[1]) / 1_000)
        return np.where(masks != 0, worth, np.nan)


def test_the_value_gap_is_that_of_the_best_of_both() -> None:
    where = triggered("BZ-H6")
    gap = hint_lab.value_gap(KnowsBest(), where)
    others = (where.masks != 0) & (where.advised == 0)
    best = np.where(others, np.arange(others.shape[1]), -1).max(axis=1) / 1_000
    assert gap is not None
    assert gap.mean == pytest.approx((1.0 - best).mean())


def test_every_game_has_a_plan_that_can_be_run() -> None:
    for game_id in cardenvs.game_ids():
        plan = hint_lab.plan_of(game_id)
        assert plan.margin > 0.0
        for options in plan.tables:
            game = cardenvs.load_game(game_id, **options)
            rotations = game.num_teams or game.num_players
            assert plan.deals * rotations >= 100_000
        for conflict in plan.conflicts:
            assert set(conflict["hints"]) <= set(hint_book(game).names)
    with pytest.raises(ValueError, match="no game is called"):
        hint_lab.plan_of("chess")


def test_the_command_writes_table_picture_and_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = asdict(hint_lab.plan_of("braus")) | {
        "deals": 40,
        "positions": 5,
        "forced_deals": 2,
        "strong": "search:worlds=2",
        "conflicts": [
            {"question": "Which?", "hints": ["BZ-H1", "BZ-H6"], "tables": [{"num_players": 4}]}
        ],
    }
    monkeypatch.setattr(hint_lab, "plan_of", lambda game_id: hint_lab.Plan(**plan))
    monkeypatch.setattr(hint_lab, "_NUM_STEPS", 40)
    hint_lab.main(["braus", "mine=lowest", "--out", str(tmp_path)])
    results = json.loads((tmp_path / "hint_lab_braus.json").read_text())
    assert [table["options"] for table in results["tables"]] == plan["tables"]
    for table in results["tables"]:
        assert [hint["hint"] for hint in table["hints"]] == list(BOOK.names)
    sixth = results["tables"][0]["hints"][-1]
    assert set(sixth["compliance"]) == {"random", "lowest", "hints", "search:worlds=2", "mine"}
    assert sixth["compliance"]["mine"] == sixth["compliance"]["lowest"]
    assert sixth["ablation"]["blocks"] == 40
    assert results["conflicts"][0]["tables"][0]["verdict"]
    text = (tmp_path / "hint_lab_braus.md").read_text()
    assert all(hint.name in text for hint in BOOK.hints)
    assert (tmp_path / "hint_lab_braus.png").stat().st_size > 10_000
    assert read_player(results["asked"]["mine"]).what == "lowest"
