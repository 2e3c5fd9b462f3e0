"""The hint lab finds effects that are there, and none where there are none."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import cardenvs
from agents.base import Agent
from agents.hints import advice_masks, hint_book
from cardenvs.core.game import Game
from training import hint_lab
from training.evaluate import deal_seeds, lineup, num_rotations, play_duplicates
from training.hint_lab import ForcedAgent, Triggered, clustered, compliance, gain_of_set
from training.hint_tables import play_hint_tables
from training.players import Player, read_player

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
    scores, capped = play_hint_tables(game, book, base, places, seeds, num_threads)
    played = play_duplicates(game, lineup(game, hints, bare), seeds)
    assert (scores == played.scores).all()
    assert (capped == played.capped).all()


def test_a_hint_against_itself_has_no_effect_at_all() -> None:
    seeds = deal_seeds("dev", 50)
    gain = gain_of_set(BRAUS, BOOK, "lowest", BOOK.default, BOOK.default, seeds)
    assert (gain.effect.mean, gain.effect.error) == (0.0, 0.0)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("game_id", "options"),
    [
        ("braus", {}),
        ("bred_ryg", {}),
        ("bred_ryg", {"num_players": 2}),
        ("dreeg", {"scope": "deal", "subgame": "kamerun"}),
    ],
)
def test_gains_have_the_sign_of_what_is_good(game_id: str, options: dict[str, Any]) -> None:
    game = cardenvs.load_game(game_id, **options)
    book, seeds = hint_book(game), deal_seeds("dev", 4_000)
    hints = gain_of_set(game, book, "lowest", book.default, (), seeds).effect
    assert hints.low > 0.0
    swapped = gain_of_set(game, book, "lowest", (), book.default, seeds).effect
    assert swapped.mean == pytest.approx(-hints.mean)
    one = agents.make(game, "hints", base="lowest")
    played = play_duplicates(game, lineup(game, one, agents.make(game, "lowest")), seeds)
    alone = (played.scores[:, :, 0] - played.scores.mean(axis=2)).mean()
    if game.num_teams or game.num_players == 2:
        assert hints.mean == pytest.approx(alone)
    else:  # the mean of both directions
        assert alone > 0.0


@pytest.mark.compiled
def test_games_that_a_cap_ends_are_told() -> None:
    game = cardenvs.load_game("brede_mette")
    book, seeds = hint_book(game), deal_seeds("dev", 300)
    gain = gain_of_set(game, book, book.base_names[0], book.default, (), seeds)
    hints = agents.make(game, "hints")
    bare = agents.make(game, "hints", hints=(), base=book.base_names[0])
    lineups = ((hints, bare), (bare, hints))
    shares = [play_duplicates(game, lineup(game, *pair), seeds).capped.mean() for pair in lineups]
    assert gain.capped == pytest.approx(np.mean(shares))
    assert 0.0 < gain.capped < 0.5


def test_a_group_of_equal_values_counts_once() -> None:
    values, games = np.tile([1.0, 0.0], 10), np.arange(20)
    apart = clustered(values, games)
    together = clustered(np.repeat(values, 9), np.repeat(games, 9))
    assert apart is not None
    assert together is not None
    assert apart.mean == together.mean == 0.5
    assert apart.error == pytest.approx(together.error)
    assert apart.error == pytest.approx(values.std(ddof=1) / np.sqrt(20))
    assert together.blocks == 20
    assert clustered(values, games // 3) is None  # too few games


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
    assert where.per_game > where.changes_per_game > 0.0


@pytest.mark.compiled
def test_how_often_a_hint_changes_the_play_is_counted_by_hand() -> None:
    batch = cardenvs.make_batch("braus", 512, seed=1)
    batch.reset()
    usual, bare = (agents.make("braus", "hints", without=out) for out in ("", "BZ-H6"))
    changed, games = 0, 512
    for _ in range(30):
        observations, masks = batch.observation, batch.action_mask
        changed += int((usual.act(observations, masks) != bare.act(observations, masks)).sum())
        batch.step(usual.act(observations, masks))
        games += int(batch.terminated.sum())
    assert triggered("BZ-H6").changes_per_game == pytest.approx(changed / games)


@pytest.mark.compiled
def test_positions_are_a_fair_sample_of_all() -> None:
    """Early and late ones are kept alike: by the number of cards in the hand."""
    few = triggered("BZ-H6")
    (all_of_them,) = (
        positions
        for name, positions in hint_lab.triggered_positions(BRAUS, BOOK, 100_000, 30, 1).items()
        if name == "BZ-H6"
    )
    hand = BRAUS.layout.slices["hand"]
    sizes = [where.observations[:, hand].sum(axis=1) for where in (few, all_of_them)]
    error = sizes[1].std() / np.sqrt(len(sizes[0]))
    assert abs(sizes[0].mean() - sizes[1].mean()) < 4 * error
    assert len(sizes[1]) > 10 * len(sizes[0])


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


class Values:
    """Values what a hint advises at 1, and all else at its number in thousandths, plus noise."""

    def __init__(self, noise: float, seed: int) -> None:
        self.noise = noise
        self.rng = np.random.default_rng(seed)

    def values(self, observations: Any, masks: Any) -> Any:
        advised = advice_masks(BOOK, "BZ-H6", observations, masks)
        worth = np.where(advised != 0, 1.0, np.arange(masks.shape[1]) / 1_000)
        worth += self.noise * self.rng.standard_normal(worth.shape)
        return np.where(masks != 0, worth, np.nan)


def test_the_value_gap_is_that_of_the_best_of_both() -> None:
    where = triggered("BZ-H6")
    gap = hint_lab.value_gap(Values(0.0, 1), Values(0.0, 2), where)
    others = (where.masks != 0) & (where.advised == 0)
    best = np.where(others, np.arange(others.shape[1]), -1).max(axis=1) / 1_000
    assert gap is not None
    assert gap.mean == pytest.approx((1.0 - best).mean())


def test_noise_does_not_make_one_of_many_look_better() -> None:
    """The largest of many noisy values is too large; a judge of its own is not misled."""
    where = triggered("BZ-H6")
    gap = hint_lab.value_gap(Values(10.0, 1), Values(10.0, 2), where)
    assert gap is not None
    assert abs(gap.mean - 1.0) < 4 * gap.error
    misled = Values(10.0, 1)
    first = misled.values(where.observations, where.masks)
    naive = np.nanmax(np.where(where.advised, first, np.nan), axis=1)
    naive -= np.nanmax(np.where(where.advised == 0, first, np.nan), axis=1)
    assert naive.mean() < gap.mean


@pytest.mark.compiled
def test_to_be_made_to_keep_a_bad_habit_costs_games() -> None:
    game = cardenvs.load_game("bred_ryg")
    found = hint_lab.forced_play(
        game, hint_book(game), "always_take", read_player("hints"), num_deals=300, seed=0
    )
    assert found.over_defying.high < 0.0
    assert found.over_free.high < 0.0


def test_every_game_has_a_plan_that_can_be_run() -> None:
    for game_id in cardenvs.game_ids():
        plan = hint_lab.plan_of(game_id)
        assert plan.margin > 0.0
        for table in map(plan.table, plan.tables):
            game = cardenvs.load_game(game_id, **table.options)
            directions = 1 if game.num_teams or game.num_players == 2 else 2
            assert table.deals * num_rotations(game) * directions >= 100_000
            assert read_player(plan.strong).make(game, 0).name == "search"
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
        "tables": [{"options": {"num_players": players}} for players in (4, 6)],
        "conflicts": [
            {
                "question": "Which?",
                "hints": ["BZ-H1", "BZ-H6"],
                "tables": [{"options": {"num_players": 4}}],
            }
        ],
    }
    monkeypatch.setattr(hint_lab, "plan_of", lambda game_id: hint_lab.Plan(**plan))
    monkeypatch.setattr(hint_lab, "_NUM_STEPS", 40)
    monkeypatch.setattr(hint_lab, "_NUM_TABLES", 32)
    hint_lab.main(["braus", "mine=lowest", "--out", str(tmp_path)])
    results = json.loads((tmp_path / "hint_lab_braus.json").read_text())
    assert [table["table"]["options"] for table in results["tables"]] == [
        {"num_players": 4},
        {"num_players": 6},
    ]
    verdicts = {"helps", "hurts", "equivalent", "undecided", "changes nothing"}
    for table in results["tables"]:
        names = [hint["hint"] for hint in table["hints"]] + table["never"]
        assert sorted(names) == sorted(BOOK.names)
        assert {hint["verdict"] for hint in table["hints"]} <= verdicts
    sixth = next(hint for hint in results["tables"][0]["hints"] if hint["hint"] == "BZ-H6")
    assert set(sixth["compliance"]) == {"random", "lowest", "hints", "search:worlds=2", "mine"}
    assert sixth["compliance"]["mine"] == sixth["compliance"]["lowest"]
    assert sixth["ablation"]["effect"]["blocks"] == 40
    assert results["conflicts"][0]["tables"][0]["verdict"] in verdicts
    text = (tmp_path / "hint_lab_braus.md").read_text()
    assert all(hint.name in text for hint in BOOK.hints)
    assert "Not the plan" not in text
    assert (tmp_path / "hint_lab_braus.png").read_bytes().startswith(b"\x89PNG")


def test_a_table_and_numbers_of_ones_own_are_told_as_such(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hint_lab, "_NUM_STEPS", 20)
    monkeypatch.setattr(hint_lab, "_NUM_TABLES", 32)
    words = ["braus", "--option", "sevens=optional", "--deals", "20", "--forced-deals", "0"]
    hint_lab.main([*words, "--positions", "4", "--strong", "search:worlds=1"])
    text = capsys.readouterr().out
    assert "**Sevens=optional** (20 deals)" in text
    assert "**Not the plan**: changed conflicts, deals, forced_deals, positions, strong" in text


def test_a_player_of_another_table_is_not_asked(capsys: pytest.CaptureFixture[str]) -> None:
    plan = replace(hint_lab.plan_of("braus"), tables=[{"options": {}}])
    player = Refusing("mine", "mine", "mine")
    lab = hint_lab.Lab("braus", plan, {"mine": player}, 0, 1)
    assert lab._crews == [{}]
    assert "mine is not asked at <braus-v0>: it plays elsewhere" in capsys.readouterr().err


class Refusing(Player):
    """A player that plays at no table."""

    def make(self, game: Game, seed: int) -> Agent:
        raise ValueError("it plays elsewhere")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["chess"], "no game is called 'chess'"),
        (["braus", "lowest", "again=lowest", "lowest"], "two players are called 'lowest'"),
    ],
)
def test_errors_of_the_command_line_are_short(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        hint_lab.main(words)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("python -m training.hint_lab: error: ")
    assert told in last
