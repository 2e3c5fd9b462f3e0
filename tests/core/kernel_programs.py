"""Small programs that compile kernels of their own, each run in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import cardenvs

LIBRARY = Path(cardenvs.__file__).parent
COMPILING = "cardenvs: compiling kernels"

#: A rule in one file, an entry point that calls it in another: `{value}` is what gets edited.
RULE = """
from cardenvs.core.kernel import kernel

LIMIT = {limit}

@kernel
def rule(number):
    return number + {value} + LIMIT
"""
ENTRY = """
from cardenvs.core.kernel import entry_point
{imported}

@entry_point
def play(number):
    return {called}(number)
"""
CLOSURES = """
from cardenvs.core.kernel import entry_point, kernel

def make(value):
    @kernel
    def rule(number):
        return number + value

    @entry_point
    def play(number):
        return rule(number)

    return play

print(make(10)(1), make(20)(1))
"""


#: Kernels too long to be put where they are called, alike in name and type but for a value.
TWINS = """
from cardenvs.core.kernel import entry_point, rare_kernel

def make(value):
    @rare_kernel
    def rule(number):
        total = 0
        for step in range(number):
            total += (step * value) ^ (total >> 1)
            if total > 1000:
                total -= value
        return total + value

    @entry_point
    def play(number):
        return rule(number) * 10 + rule(number + 1)

    return play
"""


@dataclass
class Run:
    """What a program printed, and whether it had to compile."""

    output: str
    compile_lines: int


@dataclass
class Workshop:
    """A folder of modules and a folder of compiled kernels."""

    folder: Path
    cache: Path | str

    def write(self, name: str, source: str) -> None:
        """Write a module; packages on the way come into being."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        for package in file.relative_to(self.folder).parents[:-1]:
            (self.folder / package / "__init__.py").touch()
        file.write_text(source)

    def copy_library(self) -> None:
        """Put a copy of the library into the folder, where it is imported from."""
        skipped = shutil.ignore_patterns("__pycache__", "games", "faces")
        shutil.copytree(LIBRARY, self.folder / "cardenvs", ignore=skipped)

    def run(self, program: str, settings: Mapping[str, str] = MappingProxyType({})) -> Run:
        """Run a program that is typed in, as in a notebook: it has no file."""
        path = [str(self.folder), str(LIBRARY.parent)]
        paths = {"PYTHONPATH": os.pathsep.join(path), "CARDENVS_CACHE_DIR": str(self.cache)}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            env={**os.environ, **paths, **settings, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return Run(done.stdout.strip(), done.stderr.count(COMPILING))
