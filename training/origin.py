"""What a published number carries: where it comes from."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any


def origin(packages: Iterable[str]) -> dict[str, Any]:
    """Return the commit, the versions of some packages and of Python, and the machine."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return {
        "commit": found.stdout.strip() or None,
        "versions": {name: version(name) for name in packages},
        "python": platform.python_version(),
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
    }
