"""The wheel holds the library alone; a checkout brings the folders beside it as well."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("cardenvs", "agents", "training", "benchmarks", "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("*cache*"))
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "."]
    subprocess.run([*command, "-w", source / "dist"], cwd=source, check=True, capture_output=True)
    (wheel,) = (source / "dist").glob("*.whl")
    return ZipFile(wheel).namelist()


def test_wheel_holds_the_library_alone(wheel_files: list[str]) -> None:
    folders = {name.partition("/")[0] for name in wheel_files}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"cardenvs"}


def test_wheel_says_that_it_is_typed(wheel_files: list[str]) -> None:
    assert "cardenvs/py.typed" in wheel_files


def test_checkout_imports_from_any_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import agents, benchmarks, cardenvs, training"]
    subprocess.run(command, cwd=tmp_path, check=True)
