"""Kernels give the same games where they run as ordinary Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.digest import digests

ROOT = Path(__file__).parents[2]


@pytest.mark.compiled
def test_compiled_and_uncompiled_games_are_the_same():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.core.digest"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"compiled": False, "digests": digests()}
