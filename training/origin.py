"""What a published number carries: where it comes from."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

#: Where published results lie.
RESULTS = Path(__file__).with_name("results")


def origin(packages: Iterable[str]) -> dict[str, Any]:
    """Return the commit, the versions of some packages and of Python, and the machine.

    The commit is None where there is no repository, and has a "+" behind it where tracked files
    differ from it. Call it before the work begins.
    """
    commit = _git("rev-parse", "HEAD")
    if commit and _git("status", "--porcelain", "--untracked-files=no"):
        commit += "+"
    return {
        "commit": commit or None,
        "versions": {name: version(name) for name in packages},
        "python": platform.python_version(),
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
    }


def knows_commit(commit: str) -> bool:
    """Whether the repository of this checkout has a commit."""
    return _git("cat-file", "-t", commit) == "commit"


def _git(*words: str) -> str:
    """Return what git says of this checkout, nothing where it does not know."""
    command = ["git", "-C", str(Path(__file__).parent), *words]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""
