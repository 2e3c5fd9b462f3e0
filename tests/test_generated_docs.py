"""The pages of the games say what the code says."""

import runpy
from pathlib import Path

import pytest

import cardenvs

GENERATOR = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "generate.py"))


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_tables_are_those_of_the_code(game_id: str) -> None:
    page = GENERATOR["page_of"](game_id).read_text()
    names = {found[1] for found in GENERATOR["BLOCK"].findall(page)}
    assert names == {"options", "actions", "observation"}
    assert GENERATOR["filled"](page, cardenvs.load_game(game_id)) == page, (
        "run `python docs/generate.py`"
    )
