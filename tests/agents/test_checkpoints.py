"""Trained agents: files that tell what they are, play without torch, come from finished runs."""

from __future__ import annotations

import dataclasses
import itertools
import json
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agents
import cardenvs
from agents import cards, trained
from agents.learned import (
    NetworkAgent,
    about_network,
    layout_hash,
    load_network,
    misfit_of,
    read_about,
)
from cardenvs.core.layout import ObservationLayout
from training import agent_cards
from training.players import read_player
from training.points import read_points

GAME = cardenvs.load_game("bred_ryg")
FOUR = cardenvs.load_game("bred_ryg", num_players=4)
COMMITTED = sorted(trained.CHECKPOINTS.glob(f"*/*/{trained.CARD}"))


def network(game: Any, seed: int = 0, **options: Any) -> NetworkAgent:
    rng = np.random.default_rng(seed)
    widths = [game.observation_size, 16, game.num_actions]
    layers = [
        (rng.normal(size=pair).astype(np.float32), rng.normal(size=pair[1]).astype(np.float32))
        for pair in itertools.pairwise(widths)
    ]
    return NetworkAgent(layers, **options)


def positions(game_id: str, count: int = 64, **options: Any) -> tuple[Any, Any]:
    """Return observations and masks of tables some random decisions into their games."""
    batch = cardenvs.make_batch(game_id, count, seed=1, **options)
    batch.reset()
    for _ in range(10):
        batch.step(batch.sample_actions())
    return batch.observation.copy(), batch.action_mask.copy()


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which there is the agent `net` of Bred Ryg, and no other."""
    monkeypatch.setattr(trained, "CHECKPOINTS", tmp_path / "checkpoints")
    add_agent(GAME, "net")
    return trained.CHECKPOINTS


def add_agent(game: Any, name: str, plays: str = "sampled", **about: Any) -> Path:
    folder = trained.CHECKPOINTS / game.id / name
    folder.mkdir(parents=True)
    network(game).save(folder / trained.POLICY, about_network([game], name=name) | about)
    card = {"what": "A test", "how": "By itself.", "plays": plays, "commit": "abc", "sha256": "0"}
    (folder / trained.CARD).write_text(json.dumps(card))
    return folder


# ----------------------------------------------------------------------------------------------
# Files


def test_a_file_tells_what_its_network_is_for(tmp_path: Path) -> None:
    file = tmp_path / "policy.npz"
    network(GAME).save(file, about_network([GAME], name="net", decisions=5))
    about = read_about(file)
    assert (about["kind"], about["game"], about["num_players"]) == ("perceptron", GAME.id, [3])
    assert (about["observation_size"], about["num_actions"]) == (496, 53)
    assert (about["options"], about["decisions"]) == ([GAME.options], 5)
    again = NetworkAgent.load(file)
    assert again.about == about
    again.save(tmp_path / "again.npz")
    assert read_about(tmp_path / "again.npz") == about


def test_a_file_that_tells_nothing_is_played_if_its_sizes_fit(tmp_path: Path) -> None:
    file = tmp_path / "policy.npz"
    network(GAME).save(file)
    with np.load(file) as saved:
        arrays = {name: saved[name] for name in saved.files if name != "about"}
    np.savez(file, **arrays)
    assert read_about(file) == {}
    seen = positions(GAME.id)
    played = load_network(file, GAME, greedy=True).act(*seen)
    assert (played == network(GAME, greedy=True).act(*seen)).all()
    with pytest.raises(ValueError, match=r"496 inputs and 53 outputs; .* needs 560 and 53"):
        load_network(file, FOUR)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"layout": "0" * 64}, "for bred_ryg-v0 with 3 players when .* laid out in another way"),
        ({"game": "braus-v0"}, "for braus-v0 with 3 players, and cannot play <bred_ryg-v0>"),
        ({"kind": "forest"}, "network of kind 'forest'; known are perceptron"),
    ],
)
def test_a_network_for_something_else_is_refused(
    tmp_path: Path, changed: dict[str, Any], words: str
) -> None:
    file = tmp_path / "policy.npz"
    network(GAME).save(file, about_network([GAME]) | changed)
    with pytest.raises(ValueError, match=words):
        load_network(file, GAME)


def test_the_hash_is_of_what_entries_and_ids_mean() -> None:
    first, *others = GAME.layout.pieces

    def hash_with(*pieces: Any) -> str:
        layout: Any = SimpleNamespace(layout=ObservationLayout(pieces, 3), actions=GAME.actions)
        return layout_hash(layout)

    assert hash_with(first, *others) == layout_hash(GAME)
    assert hash_with(dataclasses.replace(first, description="?"), *others) == layout_hash(GAME)
    assert hash_with(dataclasses.replace(first, name="?"), *others) != layout_hash(GAME)
    assert hash_with(*others, first) != layout_hash(GAME)
    assert layout_hash(FOUR) != layout_hash(GAME)


def test_one_network_is_for_games_of_one_layout() -> None:
    with pytest.raises(ValueError, match="no network plays all of <bred_ryg-v0>, <bred_ryg-v0, nu"):
        about_network([GAME, FOUR])
    dreeg = [cardenvs.load_game("dreeg", scope="deal", num_players=count) for count in (4, 2, 4)]
    about = about_network(dreeg)
    assert about["num_players"] == [2, 4]
    assert not misfit_of(about, cardenvs.load_game("dreeg", num_players=3))


@pytest.mark.parametrize("shares_actions", [False, True])
def test_inference_agrees_with_torch(shares_actions: bool) -> None:
    torch = pytest.importorskip("torch")
    from training.networks import ActorCritic

    game = cardenvs.load_game("brede_mette")
    torch.manual_seed(0)
    both = ActorCritic(game, (64, 64), False, shares_actions)
    with torch.no_grad():
        for parameter in both.actor.last.parameters():
            parameter.normal_()
    observation, mask = positions(game.id)
    with torch.no_grad():
        logits = both.actor(torch.as_tensor(observation)).numpy()
    logits[mask == 0] = -np.inf
    best = np.sort(logits, axis=1)
    is_clear = best[:, -1] - best[:, -2] > 1e-4
    assert is_clear.mean() > 0.9
    agent = both.agent(greedy=True)
    assert (agent.act(observation, mask) == logits.argmax(axis=1))[is_clear].all()
    for i in np.flatnonzero(is_clear)[:32]:
        assert agent.act(observation[i], mask[i]) == logits[i].argmax()


# ----------------------------------------------------------------------------------------------
# agents.list, make and card


def test_a_trained_agent_is_listed_where_it_can_play(checkpoints: Path) -> None:
    assert agents.list("bred_ryg") == ("random", "lowest", "hints", "search", "net")
    assert agents.list(GAME, fast=True) == ("random", "lowest", "hints", "net")
    assert "net" in agents.list(cardenvs.load_game("bred_ryg", reward="zero_sum"))
    assert "net" not in agents.list(FOUR)
    assert "net" not in agents.list("braus")
    with pytest.raises(ValueError, match=r"'net' cannot play: .* with 3 players, where .* 560"):
        agents.make("bred_ryg", "net", num_players=4)


def test_baselines_are_the_same_whatever_is_trained(checkpoints: Path) -> None:
    assert agents.baselines("bred_ryg") == agents.baselines(FOUR) == ("random", "lowest", "hints")
    assert agents.baselines("braus") == ("random", "lowest", "hints", "priority")


def test_an_older_network_is_not_listed(checkpoints: Path) -> None:
    add_agent(GAME, "old", layout="0" * 64)
    assert "old" not in agents.list(GAME)
    with pytest.raises(ValueError, match=r"'old' cannot play: .* laid out in another way"):
        agents.make(GAME, "old")


def test_how_it_plays_is_on_its_card_and_can_be_chosen(checkpoints: Path) -> None:
    add_agent(GAME, "firm", plays="greedy")
    assert agents.card("bred_ryg", "net").options == {"greedy": False}
    assert agents.card("bred_ryg", "firm").options == {"greedy": True}
    assert agents.card("bred_ryg", "firm").training["commit"] == "abc"
    assert agents.card("bred_ryg", "hints").training == {}
    assert agents.make("bred_ryg", "net", 1).plays == "sampled"
    assert agents.make("bred_ryg", "firm", 1).plays == "greedy"
    assert read_player("net:greedy=true").make(GAME, 1).plays == "greedy"
    assert read_player("net").make(GAME, 1).name == "net"
    with pytest.raises(ValueError, match="the agent 'net' has no option 'depth'; it has greedy"):
        agents.make("bred_ryg", "net", depth=1)


def test_a_trained_agent_plays_as_its_network(checkpoints: Path) -> None:
    seen = positions(GAME.id)
    greedy = agents.make(GAME, "net", greedy=True)
    assert (greedy.act(*seen) == network(GAME, greedy=True).act(*seen)).all()
    first, again = (agents.make(GAME, "net", seed=4).act(*seen) for _ in range(2))
    assert (first == again).all()


def test_a_trained_agent_needs_no_torch(checkpoints: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "import agents\n"
        "from agents import trained\n"
        "trained.CHECKPOINTS = Path(sys.argv[1])\n"
        "assert 'net' in agents.list('bred_ryg')\n"
        "agent = agents.make('bred_ryg', 'net', seed=1)\n"
        "mask = np.eye(53, dtype=np.int8)[[7]]\n"
        "print(agent.act(np.zeros((1, 496), np.int8), mask))\n"
    )
    command = [sys.executable, "-c", code, str(checkpoints)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "[7]\n"


def test_the_arena_of_the_cards_has_the_trained_agents(
    checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openskill")
    monkeypatch.setattr(cards, "SPECIAL", {})
    monkeypatch.setattr(cards, "BY_HINTS", {})
    monkeypatch.setattr(cards, "NUMBERS", tmp_path / "cards")
    words = ["braus", "--deals", "20", "--cards", str(cards.NUMBERS)]
    folder = add_agent(cardenvs.load_game("braus"), "net")
    agent_cards.main([*words, "--out", str(tmp_path / "arena")])
    assert list(agents.card("braus", "net").numbers["among"]) == ["random"]
    told = json.loads((folder / trained.CARD).read_text())
    (folder / trained.CARD).write_text(json.dumps(told | {"sha256": "1"}))
    assert agents.card("braus", "net").numbers == {}  # they were another network's


# ----------------------------------------------------------------------------------------------
# From a run to an agent


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    from training.ppo import Config, train

    config = Config(
        game="braus-v0",
        decisions=256,
        num_tables=16,
        num_steps=8,
        minibatch=64,
        layers=(8,),
        curve_points=1,
        curve_deals=4,
        test_deals=4,
        bfloat16=False,
    )
    run = tmp_path_factory.mktemp("runs") / "tiny"
    train(config, run, progress=False)
    return run


@pytest.fixture
def run(finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a finished run of a known commit, to change it."""
    monkeypatch.setattr(trained, "CHECKPOINTS", tmp_path / "checkpoints")
    folder = tmp_path / "run"
    folder.mkdir()
    for file in finished_run.iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    set_commit(folder, "abc", monkeypatch)
    return folder


def set_commit(run: Path, commit: str | None, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
    told = json.loads((run / "config.json").read_text()) | {"commit": commit} | more
    (run / "config.json").write_text(json.dumps(told))
    monkeypatch.setattr("training.ship.knows_commit", lambda commit: commit == "abc")


def shipped(run: Path, name: str = "tiny", **options: Any) -> Path:
    from training.ship import ship

    return ship(run, name, deals=10, progress=False, **options)


def test_a_finished_run_becomes_an_agent(run: Path) -> None:
    place = shipped(run)
    names = sorted(file.name for file in place.iterdir())
    assert names == ["card.json", "curve.csv", "curve.png", "policy.npz"]
    assert agents.list("braus")[-1] == "tiny"
    card = agents.card("braus", "tiny")
    assert "python -m training.ppo" in card.how
    assert (card.training["commit"], card.training["config"]["seed"]) == ("abc", 0)
    (end,) = read_points(run / "curve.csv")[-1:]
    assert card.training["decisions"] == end["decisions"] >= card.training["config"]["decisions"]
    assert card.training["seconds"] == end["seconds"]
    assert {row["player"] for row in card.training["test"][0]["rows"]} >= {"ppo (greedy)"}
    about = read_about(place / trained.POLICY)
    assert (about["name"], about["decisions"], about["commit"]) == ("tiny", end["decisions"], "abc")
    seen = positions("braus-v0")
    mine = NetworkAgent.load(run / "policy.npz", greedy=True).act(*seen)
    assert (agents.make("braus", "tiny", greedy=True).act(*seen) == mine).all()


def test_a_card_tells_of_runs_beside_it(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(run, other)
    told = json.loads((other / "config.json").read_text())
    told["config"]["seed"] = 1
    (other / "config.json").write_text(json.dumps(told))
    shipped(run, beside=[other])
    card = agents.card("braus", "tiny")
    (beside,) = card.training["beside"]
    assert (card.training["seed"], beside["seed"], beside["commit"]) == (0, 1, "abc")
    assert beside["test"] == card.training["test"]

    told["config"]["options"] = {"num_players": 6}
    (other / "config.json").write_text(json.dumps(told))
    with pytest.raises(ValueError, match="is of another game than that in"):
        shipped(run, "another", beside=[other])
    assert not (trained.CHECKPOINTS / "braus-v0" / "another").exists()


def test_the_files_of_a_run_tell_what_they_are(finished_run: Path) -> None:
    (end,) = read_points(finished_run / "curve.csv")[-1:]
    last = finished_run / "snapshots" / f"{end['decisions']:012}.npz"
    for file in (last, finished_run / "policy.npz"):
        about = read_about(file)
        assert (about["game"], about["name"], about["seed"]) == ("braus-v0", "ppo", 0)
        assert about["decisions"] == end["decisions"]
        assert about["options"] == [cardenvs.load_game("braus").options]


def test_a_run_of_stable_baselines_becomes_an_agent_too(run: Path) -> None:
    told = json.loads((run / "config.json").read_text())
    told["config"]["num_players"] = 4
    (run / "config.json").write_text(json.dumps(told))
    shipped(run)
    assert "python -m training.sb3_maskable_ppo" in agents.card("braus", "tiny").how
    told["config"]["num_players"] = 6
    (run / "config.json").write_text(json.dumps(told))
    with pytest.raises(ValueError, match=r"4 players, where an observation has .* with 6 players"):
        shipped(run, "six")


def test_it_plays_as_it_did_better_on_dev_deals(run: Path) -> None:
    shipped(run)
    card = agents.card("braus", "tiny")
    dev = card.training["dev"]
    greedy, sampled = (row["result"] for row in dev["rows"])
    assert [row["plays"] for row in dev["rows"]] == ["greedy", "sampled"]
    assert dev["plays"] == ("greedy" if greedy >= sampled else "sampled")  # a score: more is better
    assert card.options == {"greedy": dev["plays"] == "greedy"}


@pytest.mark.parametrize(("measure", "gain"), [("score", 0.5), ("loss rate", -0.5)])
def test_fewer_losses_and_higher_scores_are_better(measure: str, gain: float) -> None:
    from training.ship import gain_of

    greedy, sampled = SimpleNamespace(result=0.75), SimpleNamespace(result=0.25)
    report: Any = SimpleNamespace(measure=measure, rows=(greedy, sampled))
    assert gain_of(report) == gain


@pytest.mark.parametrize("missing", ["policy.npz", "evaluation.json", "curve.csv"])
def test_an_unfinished_run_is_refused(run: Path, missing: str) -> None:
    (run / missing).unlink()
    with pytest.raises(ValueError, match=f"is not finished: it has no {missing}"):
        shipped(run)
    assert not trained.CHECKPOINTS.exists()


def test_a_run_that_has_decisions_to_go_is_refused(run: Path) -> None:
    told = json.loads((run / "config.json").read_text())
    told["config"]["decisions"] = 1_000
    (run / "config.json").write_text(json.dumps(told))
    with pytest.raises(ValueError, match=r"is not finished: it made \d+ of 1,000 decisions"):
        shipped(run)


@pytest.mark.parametrize("commit", [None, "def", "def+"])
def test_a_run_of_an_unknown_commit_is_refused(
    run: Path, commit: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_commit(run, commit, monkeypatch)
    with pytest.raises(ValueError, match=r"a commit of the run in .* is unknown"):
        shipped(run, changed=True)


def test_a_run_that_went_on_at_an_unknown_commit_is_refused(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_commit(run, "abc", monkeypatch, resumed=[{"commit": "abc"}, {"commit": None}])
    with pytest.raises(ValueError, match=r"a commit of the run in .* is unknown: None"):
        shipped(run)


def test_a_run_of_changed_files_is_taken_if_that_is_said(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_commit(run, "abc+", monkeypatch)
    with pytest.raises(
        ValueError, match="differed from those of its commit abc\\+; give --changed"
    ):
        shipped(run)
    shipped(run, changed=True)
    assert agents.card("braus", "tiny").training["commit"] == "abc+"


@pytest.mark.parametrize("name", ["hints", "a:b", "a.npz", "", "A"])
def test_a_name_is_a_name_of_its_own(run: Path, name: str) -> None:
    with pytest.raises(
        ValueError, match=r"is the name of another agent|a name is of small letters"
    ):
        shipped(run, name)


def test_an_agent_is_replaced_only_if_that_is_said(run: Path) -> None:
    shipped(run)
    with pytest.raises(ValueError, match="give --replace to take its place"):
        shipped(run)
    shipped(run, replace=True)


# ----------------------------------------------------------------------------------------------
# The agents that come with the library


def test_the_networks_are_small() -> None:
    sizes = [file.stat().st_size for file in trained.CHECKPOINTS.rglob("*") if file.is_file()]
    assert sum(sizes) < 40e6


@pytest.mark.parametrize("card", COMMITTED, ids=lambda card: "-".join(card.parts[-3:-1]))
def test_an_agent_of_the_library_plays(card: Path) -> None:
    game_id, name = card.parts[-3:-1]
    about = read_about(card.parent / trained.POLICY)
    assert (about["game"], about["name"]) == (game_id, name)
    told = agents.card(game_id, name).training
    assert (about["commit"], about["decisions"]) == (told["commit"], told["decisions"])
    assert sha256((card.parent / trained.POLICY).read_bytes()).hexdigest() == told["sha256"]
    assert name not in cards.written_entries(game_id)
    for options in about["options"]:
        game = cardenvs.load_game(game_id, **options)
        assert name in agents.list(game)
        agent = agents.make(game, name, seed=1)
        batch = cardenvs.make_batch(game_id, 16, seed=1, **options)
        batch.reset()
        for _ in range(30):
            batch.step(agent.act(batch.observation, batch.action_mask))  # checks every action
