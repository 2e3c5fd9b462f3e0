"""What the tests of the core share: they run for every game."""

import pytest

import cardenvs


@pytest.fixture(params=cardenvs.game_ids())
def game_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)
