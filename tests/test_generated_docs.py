"""The pages say what code and results say."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from agents.cards import Card

GENERATOR = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "generate.py"))
PAGES = GENERATOR["pages"]()
PICTURES = GENERATOR["pictures"]()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_are_those_of_the_code(page: Path) -> None:
    text = page.read_text()
    names = [found[1] for found in GENERATOR["BLOCK"].findall(text)]
    assert names
    assert len(names) == text.count("<!-- table: ")
    assert GENERATOR["filled"](text, PAGES[page]) == text, "run `python docs/generate.py`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures_of_a_page_exist(page: Path) -> None:
    for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text()):
        assert (page.parent / link).resolve() in PICTURES


@pytest.mark.parametrize("copy", PICTURES, ids=lambda copy: copy.name)
def test_pictures_are_those_of_the_results(copy: Path) -> None:
    assert copy.read_bytes() == PICTURES[copy].read_bytes(), "run `python docs/generate.py`"


def card_of_runs(*games: str) -> Card:
    def test(game: str, result: float) -> dict[str, Any]:
        rows = [("net (sampled)", "hints (greedy)"), ("net (greedy)", "hints (greedy)")]
        rows += [("net (greedy)", "random (sampled)"), ("hints (greedy)", "net (greedy)")]
        return {
            "game": game,
            "rows": [
                {"player": a, "others": b, "result": result + i, "low": 0.0, "high": 9.0}
                for i, (a, b) in enumerate(rows)
            ],
        }

    def run(seed: int) -> dict[str, Any]:
        tests = [test(game, seed + 0.125 * i) for i, game in enumerate(games)]
        return {"decisions": 1_000, "seed": seed, "test": tests}

    told = run(1) | {"plays": "greedy", "beside": [run(2)]}
    return Card("ppo", "what", "how", training=told)


def test_runs_beside_an_agent_have_a_column_for_each_of_whom_they_met() -> None:
    *_, head, _, own, beside = GENERATOR["runs_of"](card_of_runs("bred_ryg-v0"))
    assert head == "| Decisions | Seed | `hints` | `random` |"
    assert own == "| 1,000 | 1 | 2.000 [0.000, 9.000] | 3.000 [0.000, 9.000] |"
    assert beside == "| 1,000 | 2 | 3.000 [0.000, 9.000] | 4.000 [0.000, 9.000] |"


def test_runs_of_many_variants_have_a_column_for_each_variant() -> None:
    *_, head, _, own, beside = GENERATOR["runs_of"](card_of_runs("deutsch-2", "match-4"))
    assert head == "| Decisions | Seed | deutsch-2 | match-4 |"
    assert own == "| 1,000 | 1 | 2.000 [0.000, 9.000] | 2.125 [0.000, 9.000] |"
    assert beside == "| 1,000 | 2 | 3.000 [0.000, 9.000] | 3.125 [0.000, 9.000] |"
