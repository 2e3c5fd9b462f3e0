"""The folder of a run: whose it is, how it came to be, and files that are never half written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.checkpoints import has_checkpoint
from training.origin import origin

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


#: What a run tells of itself: its configuration under "config", and its origin.
ABOUT = "config.json"


def read_about(out: Path) -> dict[str, Any]:
    """Return what the folder tells of its run, see `claim_folder`."""
    about: dict[str, Any] = json.loads((out / ABOUT).read_text())
    return about


def claim_folder(
    out: Path,
    config: DataclassInstance,
    packages: Iterable[str],
    resume: bool,
    checkpoint: str | None = None,
) -> bool:
    """Write config.json: the configuration, and where the run comes from.

    A run that goes on keeps its origin; that of each time it went on is added to the list
    "resumed". A folder without a checkpoint is taken anew, whatever a run has left there.

    Args:
        out: the folder; it is made if it is missing.
        config: of the run; JSON must hold its values.
        packages: those whose versions belong to the origin.
        resume: go on from the folder's checkpoint, if there is one.
        checkpoint: the file that the run goes on from, if not one of `training.checkpoints`.

    Returns:
        Whether there is a checkpoint to go on from.

    Raises:
        FileExistsError: if the folder holds a run and `resume` is not set.
        ValueError: if it holds a run of another configuration, naming what differs.
    """
    file = out / ABOUT
    told = json.loads(json.dumps(asdict(config)))
    has_begun = (out / checkpoint).exists() if checkpoint else has_checkpoint(out)
    if has_begun and not resume:
        raise FileExistsError(
            f"{out} holds a run; give --resume to go on with it, or another --out"
        )
    about = {"config": told} | origin(packages)
    if has_begun:
        about = _about_resumed(file, about)
    out.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(about, indent=2) + "\n")
    return has_begun


def _about_resumed(file: Path, about: dict[str, Any]) -> dict[str, Any]:
    """Return what the folder tells of its run, with where it goes on now."""
    if not file.exists():
        raise ValueError(f"there is a checkpoint, but no {file} to tell what was run")
    was = read_about(file.parent)
    config, old = about.pop("config"), was["config"]
    names = [*config, *(name for name in old if name not in config)]
    changed = [name for name in names if config.get(name) != old.get(name)]
    if changed:
        raise ValueError(
            f"the run in {file.parent} has another configuration: {', '.join(changed)}"
        )
    return was | {"resumed": [*was.get("resumed", []), about]}


def write_text(file: Path, text: str) -> None:
    """Write a file so that an interruption leaves the old one or the new one."""
    part = file.with_name(file.name + ".part")
    part.write_text(text, newline="")
    os.replace(part, file)
