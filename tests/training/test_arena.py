"""The arena: meetings, both tables, chunks and processes, files, and cases with a known answer."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import cardenvs
from training import arena as arena_module
from training import deals
from training.arena import arena
from training.arena_check import ALLOWED, rows_of_equals, share_of_misses
from training.arena_check import main as check_main
from training.arena_report import ArenaReport, Narrowing, half_width
from training.evaluate import deal_seeds, evaluate

DOCS = Path(__file__).parents[2] / "docs"


class Stubborn:
    """Takes the last action that is legal, so that Bred Ryg may go on for ever."""

    name = "stubborn"
    plays = "greedy"

    def act(self, observation: Any, action_mask: Any) -> Any:
        return action_mask.shape[1] - 1 - action_mask[:, ::-1].argmax(axis=1)


class Wrong(Stubborn):
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, observation: Any, action_mask: Any) -> Any:
        return self.answer(super().act(observation, action_mask))


def met(game: Any, *names: str, deals: int = 4, **more: Any) -> ArenaReport:
    more = {"num_shuffles": 0, "progress": False} | more
    return arena(game, {name: name for name in names}, deals, **more)


def blocks(report: ArenaReport) -> dict[tuple[str, str], list[float]]:
    return {(row.player, row.others): row.blocks.tolist() for row in report.report.rows}


# ----------------------------------------------------------------------------------------------
# What is measured


def test_one_among_others_is_measured_as_in_an_evaluation(num_games: int) -> None:
    count = max(4, num_games // 10)
    players: dict[str, agents.Agent] = {"a": agents.make("bred_ryg", "hints"), "b": Stubborn()}
    report = arena("bred_ryg", players, count, num_shuffles=0, progress=False)
    plain = evaluate("bred_ryg", players, num_deals=count, progress=False)
    for row, expected in zip(report.report.rows, plain.rows, strict=True):
        names = {"player": row.player, "others": row.others}
        assert row == replace(expected, **names)
        assert (row.blocks == expected.blocks).all()


def test_the_crowd_and_the_one_share_the_loss(num_games: int) -> None:
    report = met("bred_ryg", "random", "hints", deals=max(4, num_games // 10))
    for one, others in (("random", "hints"), ("hints", "random")):
        alone, crowd = report.row(one, others), report.crowd_row(others, one)
        assert alone.blocks + 2 * crowd.blocks == pytest.approx(1.0)
        assert (crowd.fair, crowd.games) == (1 / 3, alone.games)
    assert report.crowd_row("random", "hints").result > 1 / 3
    with pytest.raises(KeyError, match="no row"):
        report.crowd_row("hints", "hints")


@pytest.mark.parametrize(("game", "total"), [("braus", 0.0), ("bred_ryg", 1.0)])
def test_two_sides_meet_once(game: str, total: float, monkeypatch: pytest.MonkeyPatch) -> None:
    table = cardenvs.load_game(game, num_players=4 if game == "braus" else 2)
    calls = []
    play = arena_module.play_chunk
    monkeypatch.setattr(arena_module, "play_chunk", lambda chunk: calls.append(1) or play(chunk))
    report = met(table, "random", "hints", deals=20)
    first, second = report.report.rows
    assert len(calls) == 1
    assert first.blocks + second.blocks == pytest.approx(total)
    assert (first.blocks != second.blocks).any()
    assert report.crowd == ()


def test_all_pairs_meet() -> None:
    game = cardenvs.load_game("dreeg", scope="deal", subgame="kamerun")
    report = met(game, "random", "lowest", "hints", deals=1)
    names = ("random", "lowest", "hints")
    pairs = [(a, b) for a in names for b in names if a != b]
    assert [(row.player, row.others) for row in report.report.rows] == pairs
    assert {(row.player, row.others) for row in report.crowd} == set(pairs)
    assert {row.num_others for row in report.report.rows} == {3}


def test_capped_games_are_counted() -> None:
    game = cardenvs.load_game("bred_ryg", no_progress_limit=2)
    players = {"one": Stubborn(), "two": Stubborn()}
    report = arena(game, players, 4, num_shuffles=0, progress=False)
    capped = [row.capped_games for row in report.report.rows]
    assert min(capped) > 0
    assert f"| {capped[0]} " in report.markdown()


def test_differences_are_those_of_rows_of_the_same_deals() -> None:
    report = met("braus", "random", "lowest", "hints", deals=30)
    found = report.differences()
    assert [(row.player, row.than, row.others) for row in found] == [
        ("random", "lowest", "hints"),
        ("random", "hints", "lowest"),
        ("lowest", "hints", "random"),
    ]
    for row in found:
        expected = report.row(row.player, row.others).minus(report.row(row.than, row.others))
        assert (row.difference, row.low, row.high) == pytest.approx(expected)


def test_the_fair_value_needs_two_players() -> None:
    with pytest.raises(ValueError, match=r"two players or more meet; \['hints'\] are too few"):
        met("bred_ryg", "hints")
    with pytest.raises(ValueError, match="the number of deals is at least 1, not 0"):
        met("bred_ryg", "hints", "random", deals=0)


# ----------------------------------------------------------------------------------------------
# What duplicate deals bring


def test_independent_games_narrow_nothing() -> None:
    scores = np.random.default_rng(0).normal(size=(20_000, 3))
    found = Narrowing.of("a", "b", scores)
    assert found.correlation == pytest.approx(0.0, abs=0.02)
    assert found.factor == pytest.approx(1.0, abs=0.02)
    assert found.independent_sd == pytest.approx(1 / 3**0.5, abs=0.01)


@pytest.mark.parametrize("correlation", [-0.4, 0.5])
def test_the_correlation_within_deals_is_found(correlation: float) -> None:
    matrix = np.full((3, 3), correlation) + (1 - correlation) * np.eye(3)
    scores = np.random.default_rng(0).multivariate_normal(np.zeros(3), matrix, 20_000)
    found = Narrowing.of("a", "b", scores)
    assert found.correlation == pytest.approx(correlation, abs=0.02)
    assert found.factor == pytest.approx((1 + 2 * correlation) ** -0.5, rel=0.05)


def test_where_all_deals_end_alike_there_is_no_factor() -> None:
    opposite = Narrowing.of("a", "b", np.array([[1.0, -1.0], [-1.0, 1.0]]))
    assert (opposite.correlation, opposite.factor) == (pytest.approx(-1.0), None)
    alike = Narrowing.of("a", "b", np.zeros((5, 2)))
    assert (alike.correlation, alike.factor) == (None, None)


def test_swapped_teams_narrow_the_interval(num_games: int) -> None:
    report = met("braus", "lowest", "random", deals=max(50, num_games))
    (found,) = report.narrowing
    assert found.factor is not None
    assert found.factor > 1.3


# ----------------------------------------------------------------------------------------------
# Chunks, processes, players


def test_the_result_does_not_depend_on_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena_module, "CHUNK_DEALS", 3)
    one, two = (
        met("braus", "random", "lowest", deals=7, processes=count, num_shuffles=1)
        for count in (1, 2)
    )
    assert blocks(one) == blocks(two)
    assert one.ratings == two.ratings
    assert one.report.rows[0].deals == 7


def test_an_agent_of_ones_own_plays_in_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "import agents\n\ndef mine(game, seed):\n    return agents.make(game, 'lowest', seed)\n"
    (tmp_path / "somebodys_arena_agents.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    words = ["braus", "lowest", "--agent", "somebodys_arena_agents:mine", "--deals", "5"]
    arena_module.main([*words, "--processes", "2", "--out", str(tmp_path / "out")])
    assert "| mine " in capsys.readouterr().out
    told = json.loads((tmp_path / "out" / "arena.json").read_text())
    assert [row["result"] for row in told["rows"]] == [0.0, 0.0]
    assert told["players"][1]["text"] == "somebodys_arena_agents:mine"


def test_generators_are_those_of_seed_player_and_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena_module, "CHUNK_DEALS", 5)
    small = met("braus", "random", "lowest", deals=10)
    large = met("braus", "hints", "random", "lowest", deals=10)
    assert blocks(small).items() <= blocks(large).items()
    assert blocks(small) != blocks(met("braus", "random", "lowest", deals=10, seed=1))
    late = met("braus", "random", "lowest", deals=5, start=5)
    assert blocks(late)["random", "lowest"] != blocks(small)["random", "lowest"][5:]
    seeds = {
        arena_module._seed_of(seed, label, chunk)
        for seed in (0, 1, 11)
        for label in ("a", "b", "1 a")
        for chunk in (0, 1, 11)
    }
    assert len(seeds) == 27


def test_objects_play_in_this_process_alone() -> None:
    players: dict[str, agents.Agent | str] = {"mine": Stubborn(), "hints": "hints"}
    report = arena("bred_ryg", players, 2, num_shuffles=0, progress=False)
    assert report.players[0].text == "an agent given as an object: Stubborn"
    with pytest.raises(ValueError, match="'mine' is an agent that lives in this process"):
        arena("bred_ryg", players, 2, processes=2, progress=False)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda actions: actions[:-1], r"'mine' answered with int64 \[\d+\] instead of whole"),
        (lambda actions: actions.astype(float), "'mine' answered with float64"),
        (lambda actions: actions * 0 - 1, "'mine' chose action -1, which is illegal"),
        (lambda actions: actions * 0 + 10**6, "'mine' chose action 1000000, which is illegal"),
    ],
)
def test_wrong_answers_are_told(answer: Any, words: str) -> None:
    players: dict[str, agents.Agent | str] = {"mine": Wrong(answer), "hints": "hints"}
    with pytest.raises(ValueError, match=words):
        arena("bred_ryg", players, 2, num_shuffles=0, progress=False)


# ----------------------------------------------------------------------------------------------
# Files


@pytest.mark.parametrize("game", ["braus", "bred_ryg"])
def test_the_command_line_writes_its_files(
    game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [game, "random", "mine=hints", "--deals", "6", "--split", "test", "--seed", "3"]
    arena_module.main([*words, "--out", str(tmp_path)])
    text = capsys.readouterr().out
    page = (tmp_path / "arena.md").read_text()
    assert text.partition("\n\n")[2] in page
    assert "6 test deals" in page
    assert (tmp_path / "arena.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads((tmp_path / "arena.json").read_text())
    assert told["command"] == f"python -m training.arena {' '.join(words)} --out {tmp_path}"
    assert (told["deals"], told["split"], told["seed"]) == (6, "test", 3)
    assert told["first_deal"] == deal_seeds("test", 1)[0]
    assert [player["label"] for player in told["players"]] == ["random", "mine"]
    assert [player["text"] for player in told["players"]] == ["random", "hints"]
    assert {rating["player"] for rating in told["ratings"]} == {"random", "mine"}
    assert len(told["crowd"]) == (2 if game == "bred_ryg" else 0)
    assert told["versions"]["openskill"]
    assert told["options"]["num_players"] in (3, 4)


# ----------------------------------------------------------------------------------------------
# The lists of deals


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_hashed_deals_are_those_that_are_played(game_id: str) -> None:
    game = cardenvs.load_game(game_id)
    seeds = deal_seeds("dev", 20)
    batch = cardenvs.core.batch.Batch(game, len(seeds), seeds, autoreset=False)
    batch.reset()
    for i, seed in enumerate(seeds):
        state = game.new_initial_state(int(seed))
        assert (state.observation() == batch.observation[i]).all()
        again = game.new_initial_state(deal=state.to_deal())
        assert again.hands() == state.hands()


def test_the_hash_tells_deals_and_lists_apart() -> None:
    game = cardenvs.load_game("braus")
    hashes = [
        deals.deals_hash(game, split, n) for split, n in (("dev", 3), ("dev", 4), ("test", 3))
    ]
    assert len(set(hashes)) == 3
    assert hashes[0] == deals.deals_hash(game, "dev", 3)


@pytest.mark.compiled  # 40,000 deals
def test_published_hashes_are_those_of_the_code() -> None:
    assert deals.table() in (DOCS / "evaluation.md").read_text(), "run `python -m training.deals`"


# ----------------------------------------------------------------------------------------------
# Honesty


@pytest.mark.parametrize(("name", "num_players"), [("bred_ryg", 2), ("braus", 4)])
def test_intervals_of_equals_are_as_wide_as_chance(
    name: str, num_players: int, num_games: int
) -> None:
    game = cardenvs.load_game(name, num_players=num_players)
    count = max(10, num_games // 4)
    rows = rows_of_equals(game, count, max(10, num_games // 7))
    # Results in units of what their intervals take for their standard deviation.
    units = [(row.result - row.fair) / (half_width(row) / 1.96) for row in rows]
    assert np.std(units) == pytest.approx(1.0, abs=3 / (2 * count) ** 0.5)
    assert share_of_misses(rows) <= 0.2
    narrow = [replace(row, low=row.result, high=row.result + half_width(row) / 4) for row in rows]
    assert share_of_misses(narrow) > 0.5


def test_misses_are_counted() -> None:
    (row,) = rows_of_equals("braus", 1, 30)
    rows = [replace(row, low=low, high=high) for low, high in ((-1, 1), (0.1, 1), (-1, -0.1))]
    assert share_of_misses(rows) == pytest.approx(2 / 3)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["bred_ryg", "braus"])
def test_the_check_passes(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_main([game])
    assert "200 tournaments" in capsys.readouterr().out
    assert ALLOWED == (0.02, 0.09)
