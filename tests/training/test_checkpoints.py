"""Checkpoints: whatever interrupts a save or spoils a file, a whole one is loaded."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardenvs

pytest.importorskip("safetensors")
pytest.importorskip("torch")

import torch

from training import checkpoints
from training.checkpoints import (
    CheckpointError,
    CheckpointWarning,
    has_checkpoint,
    load_checkpoint,
    read_checkpoint,
    save_checkpoint,
)

ROOT = Path(__file__).parents[2]


def save_at(folder: Path, *steps: int, keep: int = 2) -> Path:
    """Save at some steps, each with the step as content; return the last checkpoint."""
    for step in steps:
        arrays = {"weights": np.full(1000, step, np.float32)}
        place = save_checkpoint(folder, step, arrays, {"step was": step}, keep)
    return place


def step_loaded(folder: Path) -> int:
    """Load without a warning, look whether the content is of that step, and return it."""
    found = load_checkpoint(folder)
    assert found is not None
    assert (found.arrays["weights"] == found.step).all()
    assert found.values == {"step was": found.step}
    return found.step


def names(folder: Path) -> list[str]:
    return sorted(place.name for place in (folder / "checkpoints").iterdir())


# -- what goes in comes out --------------------------------------------------------------------

ARRAYS = {
    "bytes": np.arange(256, dtype=np.uint8).reshape(2, 128),
    "flags": np.array([True, False, True]),
    "counts": np.array([-(2**63), 2**63 - 1]),
    "float32": np.array([0.1, np.inf, -0.0], np.float32),
    "float16": np.ones((2, 0, 3), np.float16),
    "uint64": np.array([2**64 - 1], np.uint64),
    "one number": np.array(2.5),
    "columns": np.arange(6).reshape(2, 3).T,
    "backwards": np.arange(5)[::-1],
    "other byte order": np.arange(3, dtype=">i4"),
}


def test_arrays_come_back_as_they_were_and_can_be_written_to(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, 3, ARRAYS, {})
    found = load_checkpoint(tmp_path)
    assert found is not None
    assert set(found.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        back = found.arrays[name]
        assert (back.dtype.name, back.shape) == (array.dtype.name, array.shape)
        assert np.array_equal(back, array)
        back[...] = 1


def test_values_come_back_as_they_were(tmp_path: Path) -> None:
    values = {"generator": np.random.default_rng(1).bit_generator.state, "best": float("-inf")}
    values |= {"rate": 0.1, "name": "bræus", "nothing": None, "list": [1, [2.5]]}
    save_checkpoint(tmp_path, np.int64(10**12 - 1), {}, values)
    found = load_checkpoint(tmp_path)
    assert found is not None
    assert (found.step, found.values, found.arrays) == (10**12 - 1, values, {})


def test_tensors_are_saved_as_they_are_at_the_call(tmp_path: Path) -> None:
    weights = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
    save_checkpoint(tmp_path, 1, {"plain": weights, "turned": weights.T}, {})
    with torch.no_grad():
        weights += 1.0
    found = load_checkpoint(tmp_path)
    assert found is not None
    assert np.array_equal(found.arrays["plain"], np.arange(6.0).reshape(2, 3))
    assert np.array_equal(found.arrays["turned"], np.arange(6.0).reshape(2, 3).T)
    torch.from_numpy(found.arrays["plain"])  # which warns of arrays that are not the caller's own


def test_a_batch_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    batch = cardenvs.make_batch("bred_ryg", num_envs=3, seed=1)
    batch.reset()
    save_checkpoint(tmp_path, 1, batch.snapshot(), {})
    other = cardenvs.make_batch("bred_ryg", num_envs=3, seed=2)
    found = load_checkpoint(tmp_path)
    assert found is not None
    other.restore(found.arrays)
    for _ in range(20):
        actions = batch.sample_actions()
        assert (other.sample_actions() == actions).all()
        batch.step(actions)
        other.step(actions)
    assert (other.observation == batch.observation).all()


UNFIT: dict[str, tuple[Any, str]] = {
    "objects": ({"arrays": {"x": np.array([None])}}, "dtype of 'x' is object; allowed are bool"),
    "texts": ({"arrays": {"x": np.array(["a"])}}, "dtype of 'x' is str"),
    "rows": ({"arrays": {"x": np.zeros(2, "i4,i4")}}, "dtype of 'x' is void"),
    "bfloat16": ({"arrays": {"x": torch.zeros(2, dtype=torch.bfloat16)}}, "is bfloat16"),
    "a number": ({"arrays": {"x": 3}}, "'x' is no array but 3; it may belong to the values"),
    "a path": ({"values": {"x": Path()}}, "cannot be written as JSON"),
    "a NumPy number": ({"values": {"x": np.float32(1)}}, "cannot be written as JSON"),
    "a negative step": ({"step": -1}, "a step is a whole number, at least 0 and .*, not -1"),
    "a long step": ({"step": 10**12}, r"below 10\*\*12, not 1000000000000"),
    "half a step": ({"step": 0.5}, "not 0.5"),
    "none kept": ({"keep": 0}, "keep is a whole number of at least 1, not 0"),
}


@pytest.mark.parametrize(("given", "message"), UNFIT.values(), ids=UNFIT)
def test_what_cannot_be_stored_is_refused_and_changes_nothing(
    tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    save_at(tmp_path, 1)
    with pytest.raises(ValueError, match=message):
        save_checkpoint(tmp_path, **({"step": 2, "arrays": {}, "values": {}} | given))
    assert names(tmp_path) == ["000000000001"]
    assert step_loaded(tmp_path) == 1


# -- which are kept ----------------------------------------------------------------------------


def test_a_folder_without_checkpoints_has_none(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path / "missing") is None
    (tmp_path / "checkpoints" / "000000000007.part").mkdir(parents=True)
    assert load_checkpoint(tmp_path) is None
    assert not has_checkpoint(tmp_path)
    save_at(tmp_path, 1)
    assert has_checkpoint(tmp_path)


def test_the_newest_are_kept(tmp_path: Path) -> None:
    place = save_at(tmp_path, 5, 10, 15, 20)
    assert names(tmp_path) == ["000000000015", "000000000020"]
    assert place == tmp_path / "checkpoints" / "000000000020"
    save_at(tmp_path, 25, keep=1)
    assert names(tmp_path) == ["000000000025"]
    assert step_loaded(tmp_path) == 25


def test_a_run_that_went_back_drops_the_later_ones(tmp_path: Path) -> None:
    save_at(tmp_path, 10, 20, keep=1)
    save_at(tmp_path, 15, keep=1)
    assert names(tmp_path) == ["000000000015"]


def test_a_checkpoint_of_the_same_step_is_replaced(tmp_path: Path) -> None:
    save_at(tmp_path, 10, 20)
    save_checkpoint(tmp_path, 20, {}, {"new": True})
    found = load_checkpoint(tmp_path)
    assert found is not None
    assert found.values == {"new": True}
    assert names(tmp_path) == ["000000000010", "000000000020"]


def test_a_replaced_checkpoint_is_there_until_the_new_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_at(tmp_path, 20, keep=1)
    replace = os.replace

    def die_before_the_last(old: Path, new: Path) -> None:
        if new.name == "000000000020":
            raise KeyboardInterrupt
        replace(old, new)

    monkeypatch.setattr(checkpoints.os, "replace", die_before_the_last)
    with pytest.raises(KeyboardInterrupt):
        save_at(tmp_path, 20, keep=1)
    monkeypatch.undo()
    assert names(tmp_path) == ["000000000020.part", "000000000020.replaced"]
    assert step_loaded(tmp_path) == 20
    save_at(tmp_path, 20, 20, keep=1)
    assert names(tmp_path) == ["000000000020"]


# -- interrupted saves -------------------------------------------------------------------------


def test_a_save_that_is_interrupted_anywhere_leaves_what_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_at(tmp_path, 1)
    for name in ("_write_to_disk", "_flush_folder"):
        with monkeypatch.context() as patched:
            patched.setattr(checkpoints, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                save_at(tmp_path, 2)
        assert names(tmp_path) == ["000000000001", "000000000002.part"]
        assert step_loaded(tmp_path) == 1
    save_at(tmp_path, 3)
    assert names(tmp_path) == ["000000000001", "000000000003"]


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be flushed there")
def test_everything_is_on_the_disk_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def note_fsync(opened: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(opened).st_mode) else "file")
        fsync(opened)

    def note_replace(old: Path, new: Path) -> None:
        done.append("rename")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    save_at(tmp_path, 1)
    assert done == ["file", "file", "folder", "rename", "folder"]


def interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


KILLED = """
import sys, numpy as np
from pathlib import Path
from training.checkpoints import save_checkpoint
step = 1
while True:
    save_checkpoint(Path(sys.argv[1]), step, {"weights": np.full(10**7, step, np.float32)},
                    {"step was": step})
    print(step, flush=True)
    step += 1
"""


def test_a_process_that_is_killed_while_it_saves_leaves_a_whole_checkpoint(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        while not any((tmp_path / "checkpoints").glob("*.part/arrays.safetensors")):
            assert process.poll() is None
        process.kill()
        finished = [1, *map(int, process.stdout)]
    assert step_loaded(tmp_path) >= finished[-1]
    save_at(tmp_path, 10**6)
    assert not [name for name in names(tmp_path) if name.endswith(".part")]


# -- full disks --------------------------------------------------------------------------------


def no_space(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


FULL = {
    "while a folder is made": (Path, "mkdir"),
    "while a file is written": (checkpoints, "_write_to_disk"),
    "when all goes to the disk": (os, "fsync"),
    "at the end": (os, "replace"),
}


@pytest.mark.parametrize(("owner", "name"), FULL.values(), ids=FULL)
def test_a_full_disk_is_told_and_leaves_what_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    save_at(tmp_path, 1, 2)
    message = (
        rf"step 3 could not be written to {tmp_path}.*No space left.* that of step 2 still loads"
    )
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, no_space)
        with pytest.raises(CheckpointError, match=message):
            save_at(tmp_path, 3)
    assert names(tmp_path) == ["000000000001", "000000000002"]
    assert step_loaded(tmp_path) == 2


def test_the_first_checkpoint_may_find_the_disk_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(CheckpointError, match=r"No space left.*there is no earlier one that loads"):
        save_at(tmp_path, 1)
    assert load_checkpoint(tmp_path) is None


LIMITED = """
import resource, sys, numpy as np
from pathlib import Path
from training.checkpoints import CheckpointError, save_checkpoint
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
try:
    save_checkpoint(Path(sys.argv[1]), 2, {"weights": np.zeros(2**20)}, {})
except CheckpointError as error:
    print(error)
"""


def test_a_write_that_the_system_cuts_short_leaves_what_was(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    save_at(tmp_path, 1)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "File too large; that of step 1 still loads" in told.stdout
    assert names(tmp_path) == ["000000000001"]
    assert step_loaded(tmp_path) == 1


def test_old_checkpoints_that_cannot_be_removed_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_at(tmp_path, 1)
    monkeypatch.setattr(checkpoints, "_remove", no_space)
    with pytest.warns(CheckpointWarning, match="000000000002 is written, but others could not be"):
        save_at(tmp_path, 2, keep=1)
    assert step_loaded(tmp_path) == 2


# -- spoilt files ------------------------------------------------------------------------------


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-50] ^= 1
    file.write_bytes(content)


def change(**changed: Any) -> Callable[[Path], None]:
    def change_file(file: Path) -> None:
        file.write_text(json.dumps(json.loads(file.read_text()) | changed))

    return change_file


SPOILT: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "cut arrays": ("arrays.safetensors", cut, "SHA-256 of arrays.safetensors is"),
    "flipped arrays": ("arrays.safetensors", flip, "SHA-256 of arrays.safetensors is"),
    "no arrays": ("arrays.safetensors", Path.unlink, "No such file.*arrays.safetensors"),
    "cut values": ("values.json", cut, "is broken"),
    "no values": ("values.json", Path.unlink, "No such file.*values.json"),
    "other values": ("values.json", change(values={"step was": 9}), "SHA-256 of values.json"),
    "another step": ("values.json", change(step=9), "SHA-256 of values.json"),
    "no hashes": ("values.json", change(sha256={}), "no 'arrays.safetensors' in values.json"),
    "a list": ("values.json", lambda file: file.write_text("[]") and None, "is broken"),
    "a later format": ("values.json", change(format=2), "its format is 2, and this code reads 1"),
}


@pytest.mark.parametrize(("name", "spoil", "message"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_checkpoint_is_told_and_an_older_one_loaded(
    tmp_path: Path, name: str, spoil: Callable[[Path], None], message: str
) -> None:
    place = save_at(tmp_path, 1, 2)
    spoil(place / name)
    told = rf"{place} is broken: .*; the checkpoint .*000000000001 is loaded instead"
    with pytest.warns(CheckpointWarning, match=told) as caught:
        found = load_checkpoint(tmp_path)
    assert found is not None
    assert found.step == 1
    assert caught[0].filename == __file__  # it is told where the caller is
    with pytest.raises(CheckpointError, match=message):
        read_checkpoint(place)
    assert read_checkpoint(place.with_name("000000000001")).step == 1


def test_a_run_of_spoilt_checkpoints_alone_cannot_go_on(tmp_path: Path) -> None:
    place = save_at(tmp_path, 1, 2)
    cut(place / "arrays.safetensors")
    (place.with_name("000000000001") / "values.json").unlink()
    with pytest.raises(
        CheckpointError, match=r"no checkpoint of .* can be loaded: .*2 is broken.*1"
    ):
        load_checkpoint(tmp_path)


def test_a_spoilt_newest_checkpoint_does_not_outlive_the_next_save(tmp_path: Path) -> None:
    place = save_at(tmp_path, 10, 20)
    cut(place / "arrays.safetensors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CheckpointWarning)
        assert step_loaded(tmp_path) == 10
    save_at(tmp_path, 15, keep=1)
    assert names(tmp_path) == ["000000000015"]
    assert step_loaded(tmp_path) == 15
