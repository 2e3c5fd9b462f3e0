"""The code in README.md and docs/ runs, and so do the examples in docstrings.

A document is one test, its blocks share a namespace from top to bottom, as a reader would type
them. `<!-- skip: next -->` before a block leaves it out.
"""

from pathlib import Path

import pytest
from sybil import Document
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = [file for file in sorted((ROOT / "cardenvs").rglob("*.py")) if ">>> " in file.read_text()]


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def run(document: Document) -> None:
    for example in document.examples():
        example.evaluate()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_blocks_of_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # whatever an example writes
    run(Document.parse(str(page), PythonCodeBlockParser(), SkipParser()))


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_examples_of_docstrings_run(module: Path) -> None:
    run(PythonDocStringDocument.parse(str(module), DocTestParser()))
