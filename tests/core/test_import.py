"""What importing brings, and the games by id."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pettingzoo
import pytest

import cardenvs
from cardenvs import registry


def names_loaded_by(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    root = Path(cardenvs.__file__).parent.parent
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    return set(done.stdout.split())


@pytest.fixture
def games(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, str]]:
    """A copy of the registry, which the test may write to."""
    copied = dict(registry._GAMES)
    monkeypatch.setattr(registry, "_GAMES", copied)
    return copied


def test_import_loads_neither_numba_nor_torch_nor_a_game() -> None:
    loaded = names_loaded_by("import cardenvs; cardenvs.game_ids()")
    assert "cardenvs.registry" in loaded
    assert not loaded & {"numba", "llvmlite", "torch", "cardenvs.core.kernel"}
    assert not [name for name in loaded if name.startswith("cardenvs.games")]


def test_loading_a_game_loads_no_torch(game_id: str) -> None:
    loaded = names_loaded_by(f"import cardenvs; cardenvs.load_game({game_id!r})")
    assert "numba" in loaded
    assert not loaded & {"torch", "stable_baselines3", "matplotlib"}


def test_ids_are_a_sorted_tuple_of_versioned_ids() -> None:
    ids = cardenvs.game_ids()
    assert isinstance(ids, tuple)
    assert list(ids) == sorted(set(ids))
    assert all(game_id.rpartition("-v")[2].isdigit() for game_id in ids)


def test_id_without_a_version_means_the_newest(game_id: str, games: dict) -> None:
    name = game_id.rpartition("-v")[0]
    assert cardenvs.load_game(name) == cardenvs.load_game(registry.full_id(name))
    for version in (99, 100):
        cardenvs.register_game(f"{name}-v{version}", "rules", "view")
    assert registry.full_id(name) == f"{name}-v100"
    assert cardenvs.load_game(game_id).id == game_id


@pytest.mark.parametrize("wrong", ["whist", "whist-v0", "", "-v0"])
def test_unknown_id_is_refused_with_the_known_ones(wrong: str) -> None:
    for call in (cardenvs.load_game, lambda name: cardenvs.make_batch(name, 2)):
        with pytest.raises(ValueError, match=f"no game is called '{wrong}'; there are") as error:
            call(wrong)
        assert ", ".join(cardenvs.game_ids()) in str(error.value)


def test_version_that_does_not_exist_is_refused(game_id: str) -> None:
    name = game_id.rpartition("-v")[0]
    with pytest.raises(ValueError, match=f"no game is called '{name}-v77'"):
        cardenvs.load_game(f"{name}-v77")


@pytest.mark.parametrize("wrong", ["whist", "Whist-v0", "whist-v", "whist-vx", "0-v0", "a b-v0"])
def test_registering_needs_a_versioned_id(games: dict, wrong: str) -> None:
    before = dict(games)
    with pytest.raises(ValueError, match=f"looks like 'bred_ryg-v0', not '{wrong}'"):
        cardenvs.register_game(wrong, "rules", "view")
    assert games == before


def test_registering_a_taken_id_is_refused(games: dict, game_id: str) -> None:
    before = dict(games)
    with pytest.raises(ValueError, match=f"registered as '{game_id}' already"):
        cardenvs.register_game(game_id, "rules", "view")
    assert games == before


def test_registered_game_of_a_third_party_loads(games: dict, game_id: str) -> None:
    cardenvs.register_game("house_rules-v3", *games[game_id])
    assert "house_rules-v3" in cardenvs.game_ids()
    assert cardenvs.load_game("house_rules").id == "house_rules-v3"


def test_module_that_is_no_game_is_refused(games: dict) -> None:
    cardenvs.register_game("nothing-v0", "json", "json")
    with pytest.raises(TypeError, match="json is no game module: it lacks TITLE, DECK"):
        cardenvs.load_game("nothing")


def test_view_that_is_no_view_is_refused(games: dict, game_id: str) -> None:
    cardenvs.register_game("blind-v0", games[game_id][0], "json")
    with pytest.raises(TypeError, match="json is no game module: it lacks OBSERVATION"):
        cardenvs.load_game("blind")


@pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="PettingZoo before 1.27")
def test_pettingzoo_makes_the_game_by_its_id(game_id: str) -> None:
    env = pettingzoo.make("aec", f"cardenvs/{game_id}")
    assert env.unwrapped.game == cardenvs.load_game(game_id)
