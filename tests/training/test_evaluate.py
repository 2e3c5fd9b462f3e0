"""Evaluation: duplicate deals, rotations, intervals, and cases with a known answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import cardenvs
from cardenvs.core.rng import table_seed
from training import evaluate as evaluation
from training.evaluate import Report, deal_seeds, evaluate, lineup, play_duplicates, with_interval

TAKE = 52


class Stubborn:
    """Always takes and passes, and so drives every game of Bred Ryg into the cap."""

    name = "stubborn"
    plays = "greedy"

    def act(self, observation: Any, action_mask: Any) -> Any:
        return np.where(action_mask[:, TAKE], TAKE, action_mask.argmax(axis=1))


def hints() -> agents.Agent:
    return agents.make("bred_ryg", "hints")


def measured(game: Any, *names: str, deals: int = 10, **more: Any) -> Report:
    players: dict[str, agents.Agent] = {"stubborn": Stubborn(), "equal": Stubborn()}
    players |= {name: agents.make(game, name, seed=1) for name in ("random", "hints")}
    chosen = {name: players[name] for name in names}
    return evaluate(game, chosen, num_deals=deals, progress=False, **more)


# ----------------------------------------------------------------------------------------------
# Deals and rotations


def test_rotations_cover_all_seats(num_games: int) -> None:
    game = cardenvs.load_game("bred_ryg", num_players=4)
    deals = max(2, num_games // 20)
    played = play_duplicates(game, [hints()] * 4, deal_seeds("dev", deals))
    assert played.scores.shape == (deals, 4, 4)
    # Alike players play a deal alike, so in rotation r the loser's seat s is place s - r.
    for by_rotation in -played.scores:
        losing_seats = {(int(row.argmax()) + r) % 4 for r, row in enumerate(by_rotation)}
        assert len(losing_seats) == 1
        assert (by_rotation.sum(axis=0) == 1).all()


def test_deals_do_not_depend_on_how_many_are_played(num_games: int) -> None:
    game = cardenvs.load_game("bred_ryg")
    deals = max(2, num_games // 20)
    few, many = (
        play_duplicates(game, [hints()] * 3, deal_seeds("dev", count)) for count in (2, deals)
    )
    assert (few.lengths == many.lengths[:2]).all()


def test_parts_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    game = cardenvs.load_game("bred_ryg")
    ticks: list[int] = []
    whole = play_duplicates(game, [hints()] * 3, deal_seeds("dev", 5))
    monkeypatch.setattr(evaluation, "_MAX_TABLES", 6)
    parts = play_duplicates(game, [hints()] * 3, deal_seeds("dev", 5), ticks.append)
    assert ticks == [2, 2, 1]
    assert (whole.scores == parts.scores).all()
    assert (whole.lengths == parts.lengths).all()


def test_lists_of_deals_are_apart_from_each_other_and_from_training() -> None:
    dev, test = deal_seeds("dev", 10**6), deal_seeds("test", 10**6)
    assert 2**62 <= dev.min() < dev.max() < test.min() < test.max() < 2**63 - 1
    last_run = (2**30 - 1) << 32
    assert max(table_seed(last_run, i) for i in range(100)) < 2**62
    with pytest.raises(ValueError, match="dev, test, not 'train'"):
        deal_seeds("train", 1)


# ----------------------------------------------------------------------------------------------
# Cases with a known answer


def test_equals_lose_their_fair_share_of_every_deal() -> None:
    report = evaluate("bred_ryg", {"hints": hints()}, [("hints", "hints")], 4, progress=False)
    row = report.row("hints (greedy)", "hints (greedy)")
    assert [row.result, row.low, row.high] == pytest.approx([row.fair] * 3, abs=1e-12)
    assert row.games == 12


@pytest.mark.parametrize(("on_cap", "loss"), [("share", 1 / 3), ("draw", 0.0)])
def test_capped_games_count_with_their_shares(on_cap: str, loss: float) -> None:
    game = cardenvs.load_game("bred_ryg", on_cap=on_cap, no_progress_limit=10)
    row = measured(game, "stubborn", "equal", deals=4).rows[0]
    assert row.result == pytest.approx(loss)
    assert row.capped_games == row.games == 12
    assert row.mean_length > 30


def test_the_better_player_loses_less(num_games: int) -> None:
    report = measured("bred_ryg", "random", "hints", deals=max(4, num_games // 4))
    strong = report.row("hints (greedy)", "random (sampled)")
    weak = report.row("random (sampled)", "hints (greedy)")
    assert strong.result < strong.fair < weak.result
    assert strong.low <= strong.result <= strong.high
    with pytest.raises(KeyError, match="no row"):
        report.row("hints (greedy)", "hints (greedy)")


def test_the_reward_option_of_the_game_does_not_matter() -> None:
    game = cardenvs.load_game("bred_ryg", reward="zero_sum")
    ours, plain = (measured(which, "random", "hints", deals=2) for which in (game, "bred_ryg"))
    assert [row.result for row in ours.rows] == [row.result for row in plain.rows]


def test_teams_play_each_deal_in_both_places() -> None:
    game = cardenvs.load_game("braus")
    team = agents.make(game, "lowest")
    seated = lineup(game, team, agents.make(game, "random", 1))
    assert [agent is team for agent in seated] == [True, False, True, False]
    played = play_duplicates(game, [team] * 4, deal_seeds("dev", 6))
    assert played.scores.shape == (6, 2, 4)
    assert (played.scores[:, :, 0] == played.scores[:, :, 2]).all()
    assert (played.scores[:, :, 0] == -played.scores[:, :, 1]).all()
    # Alike players play a deal alike, so what a team wins in one place it loses in the other.
    assert (played.scores[:, 0] == -played.scores[:, 1]).all()
    assert played.scores.any()


def test_a_team_is_measured_by_its_points_a_deal() -> None:
    game = cardenvs.load_game("braus")
    players = {name: agents.make(game, name, 1) for name in ("lowest", "random")}
    report = evaluate(game, players, num_deals=300, progress=False)
    strong, weak = report.rows
    assert report.measure == "score"
    assert strong.fair == weak.fair == 0.0
    assert strong.result > 0.0 > weak.result
    assert strong.games == 600
    assert report.markdown().startswith("| Team of")


def test_where_nobody_is_the_loser_one_is_measured_by_its_score() -> None:
    game = cardenvs.load_game("dreeg", scope="deal", subgame="kamerun")
    players = {name: agents.make(game, name, 1) for name in ("hints", "random")}
    report = evaluate(game, players, num_deals=200, progress=False)
    strong, weak = report.rows
    assert report.measure == "score"
    assert strong.fair == weak.fair == 0.0
    assert strong.low > 0.0 > weak.high
    assert (strong.num_others, strong.games) == (3, 800)
    assert report.markdown().startswith("| One ")
    assert "3 x random" in report.markdown()


def test_nobody_is_measured_alone() -> None:
    with pytest.raises(ValueError, match=r"\['hints'\] are too few"):
        evaluate("bred_ryg", {"hints": hints()}, progress=False)


def test_the_same_call_gives_the_same_numbers() -> None:
    first, again = (measured("bred_ryg", "random", "hints", deals=2) for _ in range(2))
    assert first.json() == again.json()


# ----------------------------------------------------------------------------------------------
# Intervals


def test_the_interval_is_that_of_the_normal_approximation() -> None:
    blocks = np.random.default_rng(0).choice([0.0, 1 / 3, 2 / 3, 1.0], 2_000)
    mean, low, high = with_interval(blocks)
    half = 1.96 * blocks.std() / np.sqrt(len(blocks))
    assert mean == blocks.mean()
    assert low == pytest.approx(mean - half, abs=0.1 * half)
    assert high == pytest.approx(mean + half, abs=0.1 * half)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    intervals = [with_interval(rng.choice([0.0, 1 / 3, 1.0], 200)) for _ in range(100)]
    covered = sum(low <= 4 / 9 <= high for _, low, high in intervals)
    assert 88 <= covered <= 100


def test_rows_of_the_same_deals_are_paired() -> None:
    report = measured("bred_ryg", "random", "hints", deals=4)
    weak, strong = report.rows
    difference, low, high = weak.minus(strong)
    assert difference == pytest.approx(weak.result - strong.result)
    assert low <= difference <= high
    assert weak.minus(weak) == (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="4 and 2 deals"):
        weak.minus(measured("bred_ryg", "random", "hints", deals=2).rows[0])


# ----------------------------------------------------------------------------------------------
# The report


def test_the_command_line_writes_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bred_ryg", "random", "hints", "--deals", "4", "--num-players", "2"]
    evaluation.main([*words, "--out", str(tmp_path)])
    text = capsys.readouterr().out
    assert "hints (greedy)" in text
    assert "1 x random (sampled)" in text
    assert "dev deals" in text
    assert (tmp_path / "evaluation.txt").read_text() == text
    assert (tmp_path / "evaluation.md").read_text() in text
    told = json.loads((tmp_path / "evaluation.json").read_text())
    assert told["game"] == "bred_ryg-v0"
    assert [row["games"] for row in told["rows"]] == [8, 8]
