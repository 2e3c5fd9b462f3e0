"""What all tests share: how many games they play, and the tests that need compilation."""

import os

import pytest

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"


@pytest.fixture(scope="session")
def num_games() -> int:
    """How many random games a test plays; `CARDENVS_TEST_GAMES` sets it."""
    return int(os.environ.get("CARDENVS_TEST_GAMES", "200"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if COMPILED:
        return
    for item in items:
        if item.get_closest_marker("compiled"):
            item.add_marker(pytest.mark.skip(reason="NUMBA_DISABLE_JIT=1"))
