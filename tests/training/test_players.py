"""Players given as text: names, options, files, somebody's own factories."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import cardenvs
from agents.learned import NetworkAgent
from training.players import read_factory, read_player, read_players

GAME = cardenvs.load_game("bred_ryg")

OWN_MODULE = """
import agents

def factory(game, seed):
    return agents.make(game, "hints", seed)

def nobody(game, seed):
    return 5

number = 5
"""


def save_network(file: Path, game: Any = GAME) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    shape = (game.observation_size, game.num_actions)
    layer = (np.zeros(shape, np.float32), np.zeros(shape[1], np.float32))
    NetworkAgent([layer]).save(file)
    return file


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module in the current folder, which nothing else makes importable."""
    name = "somebodys_agents"
    (tmp_path / f"{name}.py").write_text(OWN_MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


@pytest.mark.parametrize(
    ("text", "label", "what", "options"),
    [
        ("hints", "hints", "hints", {}),
        ("search:worlds=100", "search:worlds=100", "search", {"worlds": 100}),
        ("best=search:worlds=100", "best", "search", {"worlds": 100}),
        ("a:b=0.5,c=true,d=None,e=x", "a:b=0.5,c=true,d=None,e=x", "a", None),
        ("runs/mine-3/policy.npz", "mine-3", "runs/mine-3/policy.npz", {}),
        ("runs/a=b:c/net.npz", "net", "runs/a=b:c/net.npz", {}),
        ("me=runs/a=b/net.npz:greedy=true", "me", "runs/a=b/net.npz", {"greedy": True}),
    ],
)
def test_a_player_is_read(text: str, label: str, what: str, options: Any) -> None:
    if options is None:
        options = {"b": 0.5, "c": True, "d": None, "e": "x"}
    player = read_player(text)
    assert (player.label, player.what, player.options) == (label, what, options)
    assert [type(value) for value in player.options.values()] == [*map(type, options.values())]


def test_a_name_makes_the_agent_of_that_name() -> None:
    assert read_player("hints").make(GAME, 1).name == "hints"


def test_a_seed_makes_the_same_player_again() -> None:
    state = GAME.new_initial_state(seed=1)
    position = state.observation()[None].repeat(50, 0), state.action_mask()[None].repeat(50, 0)
    first, again, other = (read_player("random").make(GAME, s).act(*position) for s in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nobody", "no agent of bred_ryg-v0 is called 'nobody'; there are random, lowest, hints"),
        ("hints:depth=3", "the agent 'hints' has no option 'depth'; it has hints, without"),
        ("runs/none/policy.npz", "there is no file runs/none/policy.npz"),
    ],
)
def test_what_does_not_exist_is_told(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_player(text).make(GAME, 0)


def test_an_option_has_a_name_and_a_value() -> None:
    with pytest.raises(ValueError, match="given as name=value, not 'fast'"):
        read_player("hints:depth=3,fast")


def test_options_of_an_agent_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def make_deep(game: Any, seed: Any = None, depth: int = 2, wide: bool = False) -> Any:
        if not isinstance(depth, int):
            raise TypeError(f"a depth is a whole number, not {depth!r}")
        return depth, wide

    monkeypatch.setattr("agents.random.make_random", make_deep)
    assert agents.card(GAME, "random").options == {"depth": 2, "wide": False}
    assert read_player("random:depth=3,wide=true").make(GAME, 0) == (3, True)
    with pytest.raises(ValueError, match="no option 'deep'; it has depth, wide"):
        read_player("random:deep=3").make(GAME, 0)
    with pytest.raises(ValueError, match="'random:depth=x' cannot be made: a depth is a whole"):
        read_player("random:depth=x").make(GAME, 0)


def test_a_file_makes_the_network_in_it(tmp_path: Path) -> None:
    file = save_network(tmp_path / "run" / "policy.npz")
    assert read_player(str(file)).make(GAME, 1).plays == "sampled"
    assert read_player(f"{file}:greedy=true").make(GAME, 1).plays == "greedy"
    four = cardenvs.load_game("bred_ryg", num_players=4)
    with pytest.raises(ValueError, match=f"needs {four.observation_size} and"):
        read_player(str(file)).make(four, 1)


def test_a_factory_in_the_current_folder_makes_its_agent(own_module: str) -> None:
    player = read_factory(f"{own_module}:factory")
    assert player.label == "factory"
    assert player.make(GAME, 1).name == "hints"
    assert read_factory(f"mine={own_module}:factory").label == "mine"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("no_such_module:factory", "No module named 'no_such_module'"),
        ("{}:no_such_function", "has no function 'no_such_function'"),
        ("{}:number", "has no function 'number'"),
        ("{}:nobody", "returns is no agent: it lacks act, name, plays"),
    ],
)
def test_a_bad_factory_is_told(own_module: str, place: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_factory(place.format(own_module)).make(GAME, 0)


@pytest.mark.parametrize("text", ["factory", "module:", ":factory"])
def test_a_factory_has_a_module_and_a_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"given as package\.module:factory"):
        read_factory(text)


def test_players_have_labels_of_their_own() -> None:
    players = read_players(["hints", "again=hints"], ["somewhere:factory"])
    assert list(players) == ["hints", "again", "factory"]
    with pytest.raises(ValueError, match="two players are called 'hints'; give one another name"):
        read_players(["hints", "hints"])
