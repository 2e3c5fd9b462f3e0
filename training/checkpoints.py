"""Checkpoints that an interruption can never leave half written: arrays and values of a run.

    FOLDER/checkpoints/000000640000/arrays.safetensors   the arrays
                                    values.json          all else, and the hashes of both

A checkpoint is written beside its place, flushed to the disk and then renamed, so that what has
a checkpoint's name is whole, unless the disk spoils it later: the hashes tell. What is under way
has `.part` behind its name; it is never read, and the next save removes it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.numpy import load, save

from cardenvs.core.checks import whole_number

#: Of the files of a checkpoint; it goes up when older code could not read them.
FORMAT = 1

_ARRAYS, _VALUES = "arrays.safetensors", "values.json"
_KINDS = {"int": (8, 16, 32, 64), "uint": (8, 16, 32, 64), "float": (16, 32, 64)}
_DTYPES = ["bool", *(f"{kind}{bits}" for kind, sizes in _KINDS.items() for bits in sizes)]
_NAME = re.compile(r"(?P<step>\d{12})(?P<replaced>\.replaced)?")


class CheckpointError(RuntimeError):
    """A checkpoint could not be written, or none could be read."""


class CheckpointWarning(UserWarning):
    """A checkpoint is broken and an older one takes its place, or one could not be removed."""


@dataclass(frozen=True)
class Checkpoint:
    """What a run goes on from.

    Attributes:
        step: at which it was saved, in the unit of the trainer.
        arrays: by name, in no certain order; they are the caller's own and can be written to.
        values: what JSON holds: tuples have become lists, and keys texts.
    """

    step: int
    arrays: dict[str, npt.NDArray[Any]]
    values: dict[str, Any]


def save_checkpoint(
    folder: Path,
    step: int,
    arrays: Mapping[str, npt.NDArray[Any] | torch.Tensor],
    values: Mapping[str, Any],
    keep: int = 2,
) -> Path:
    """Write a checkpoint, then remove all but the newest ones.

    Checkpoints of later steps are removed too: a run that is at this step has gone back behind
    them. When the call returns, everything is on the disk and the arrays may change again.

    Args:
        folder: of the run; it is made if it is missing.
        step: at least 0; a checkpoint of the same step is replaced.
        arrays: NumPy arrays or tensors on any device, by name; numbers or bools of any shape.
        values: what JSON can hold.
        keep: how many checkpoints are left, at least 1.

    Returns:
        The folder of the checkpoint.

    Warns:
        CheckpointWarning: if it was written, and others could not be removed.

    Raises:
        ValueError: if something given cannot be stored; nothing has changed then.
        CheckpointError: if the disk is full or fails; older checkpoints are as they were.
    """
    if not 0 <= whole_number(step) < 10**12:
        raise ValueError(f"a step is a whole number, at least 0 and below 10**12, not {step!r}")
    if whole_number(keep) < 1:
        raise ValueError(f"keep is a whole number of at least 1, not {keep!r}")
    step = int(step)
    contents = {_ARRAYS: _array_bytes(arrays)}
    contents[_VALUES] = _value_bytes(step, values, contents[_ARRAYS])
    place = folder / "checkpoints" / f"{step:012}"
    try:
        _remove_parts(place.parent)
        _write_whole(place, contents)
    except OSError as error:
        raise CheckpointError(
            f"the checkpoint of step {step} could not be written to {place.parent}: {error}; "
            f"{_what_still_loads(folder)}"
        ) from error
    try:
        for other in list(_needless(place, keep)):
            _remove(other)
    except OSError as error:
        text = f"{place} is written, but others could not be removed: {error}"
        warnings.warn(text, CheckpointWarning, stacklevel=2)
    return place


def load_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the newest checkpoint of a run that is whole, None if it has none at all.

    Warns:
        CheckpointWarning: if newer ones are broken, saying how, and which is loaded instead.

    Raises:
        CheckpointError: if all are broken.
    """
    broken = []
    for place in _places(folder):
        try:
            checkpoint = read_checkpoint(place)
        except CheckpointError as error:
            broken.append(str(error))
            continue
        if broken:
            text = f"{'; '.join(broken)}; the checkpoint {place} is loaded instead"
            warnings.warn(text, CheckpointWarning, stacklevel=2)
        return checkpoint
    if broken:
        raise CheckpointError(f"no checkpoint of {folder} can be loaded: {'; '.join(broken)}")
    return None


def read_checkpoint(place: Path) -> Checkpoint:
    """Return the checkpoint in one folder, such as `save_checkpoint` returns.

    Raises:
        CheckpointError: if it is not whole.
    """
    try:
        told = json.loads((place / _VALUES).read_bytes())
        if told["format"] != FORMAT:
            raise ValueError(f"its format is {told['format']}, and this code reads {FORMAT}")
        array_bytes = (place / _ARRAYS).read_bytes()
        _check_hash(_ARRAYS, hashlib.sha256(array_bytes).hexdigest(), told["sha256"][_ARRAYS])
        _check_hash(_VALUES, _hash_of_values(told), told["sha256"][_VALUES])
        arrays = {name: array.copy() for name, array in load(array_bytes).items()}
        return Checkpoint(told["step"], arrays, told["values"])
    except KeyError as error:
        raise CheckpointError(
            f"the checkpoint {place} is broken: no {error} in {_VALUES}"
        ) from error
    except (OSError, TypeError, ValueError, SafetensorError) as error:
        raise CheckpointError(f"the checkpoint {place} is broken: {error}") from error


def has_checkpoint(folder: Path) -> bool:
    """Whether a run has a checkpoint, be it whole or broken."""
    return bool(_places(folder))


def below(prefix: str, things: Mapping[str, Any]) -> dict[str, Any]:
    """Return the things whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): thing
        for name, thing in things.items()
        if name.startswith(prefix)
    }


# ----------------------------------------------------------------------------------------------
# The content of the files


def _array_bytes(arrays: Mapping[str, npt.NDArray[Any] | torch.Tensor]) -> bytes:
    plain = {name: _plain_array(name, array) for name, array in arrays.items()}
    return save(plain)


def _plain_array(name: str, array: npt.NDArray[Any] | torch.Tensor) -> npt.NDArray[Any]:
    """Return an array whose entries lie in order."""
    if isinstance(array, torch.Tensor):
        dtype = str(array.dtype).removeprefix("torch.")
    elif isinstance(array, np.ndarray):
        dtype = array.dtype.name
    else:
        raise ValueError(f"{name!r} is no array but {array!r}; it may belong to the values")
    if dtype not in _DTYPES:
        raise ValueError(f"the dtype of {name!r} is {dtype}; allowed are {', '.join(_DTYPES)}")
    if isinstance(array, torch.Tensor):
        array = array.detach().cpu().numpy()
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def _value_bytes(step: int, values: Mapping[str, Any], array_bytes: bytes) -> bytes:
    told: dict[str, Any] = {"format": FORMAT, "step": step}
    try:
        told["values"] = json.loads(json.dumps(dict(values)))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the values cannot be written as JSON: {error}") from error
    told["sha256"] = {
        _ARRAYS: hashlib.sha256(array_bytes).hexdigest(),
        _VALUES: _hash_of_values(told),
    }
    return (json.dumps(told, indent=2) + "\n").encode()


def _hash_of_values(told: Mapping[str, Any]) -> str:
    """Return the hash of the step and the values, however they are laid out in the file."""
    text = json.dumps([told["step"], told["values"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _check_hash(what: str, found: str, told: str) -> None:
    if found != told:
        raise ValueError(f"the SHA-256 of {what} is {found}, not {told} as it was when saved")


# ----------------------------------------------------------------------------------------------
# The folders


def _places(folder: Path) -> list[Path]:
    """Return the folders of a run's checkpoints, newest first."""
    parent = folder / "checkpoints"
    if not parent.is_dir():
        return []
    named = [place for place in parent.iterdir() if _NAME.fullmatch(place.name)]
    return sorted(named, key=lambda place: (_step_of(place), ".replaced" not in place.name))[::-1]


def _step_of(place: Path) -> int:
    found = _NAME.fullmatch(place.name)
    assert found
    return int(found["step"])


def _write_whole(place: Path, contents: Mapping[str, bytes]) -> None:
    """Write files to a folder that has its name only when they are on the disk."""
    part = place.with_name(place.name + ".part")
    part.mkdir(parents=True)
    try:
        for name, content in contents.items():
            _write_to_disk(part / name, content)
        _flush_folder(part)
        if place.exists():  # a folder cannot take the place of another in one move
            replaced = place.with_name(place.name + ".replaced")
            _remove(replaced)
            os.replace(place, replaced)
        os.replace(part, place)
        _flush_folder(place.parent)
    except OSError:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _write_to_disk(file: Path, content: bytes) -> None:
    with file.open("wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def _flush_folder(folder: Path) -> None:
    """Have the names in a folder written to the disk, where the system can do that."""
    if os.name == "nt":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _what_still_loads(folder: Path) -> str:
    for place in _places(folder):
        try:
            return f"that of step {read_checkpoint(place).step} still loads"
        except CheckpointError:
            continue
    return "there is no earlier one that loads"


def _remove_parts(parent: Path) -> None:
    for part in parent.glob("*.part"):
        shutil.rmtree(part)


def _remove(place: Path) -> None:
    """Remove a checkpoint if it is there; what is removed in part does not look like one."""
    part = place.with_name(place.name + ".part")
    if place.exists():
        os.replace(place, part)
        shutil.rmtree(part)


def _needless(place: Path, keep: int) -> Iterator[Path]:
    """Yield the checkpoints that the one just written makes needless."""
    step = _step_of(place)
    kept = 0
    for other in _places(place.parent.parent):
        if ".replaced" in other.name or _step_of(other) > step or kept == keep:
            yield other
        else:
            kept += 1
