"""The pages say what code and results say."""

import re
import runpy
from pathlib import Path

import pytest

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
