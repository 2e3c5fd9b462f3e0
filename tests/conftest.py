"""What all tests share: how much they play, toy games, and the tests that need compilation."""

import os

import pytest

from cardenvs import registry
from tests import toys

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"


@pytest.fixture(scope="session")
def num_games() -> int:
    """How many random games a test plays; `CARDENVS_TEST_GAMES` sets it."""
    return int(os.environ.get("CARDENVS_TEST_GAMES", "200"))


@pytest.fixture
def kuhn_id(monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of Kuhn poker, which `cardenvs` knows as long as the test runs."""
    monkeypatch.setattr(registry, "_GAMES", dict(registry._GAMES))
    toys.register_toys()
    return toys.KUHN


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if COMPILED:
        return
    for item in items:
        if item.get_closest_marker("compiled"):
            item.add_marker(pytest.mark.skip(reason="NUMBA_DISABLE_JIT=1"))
