"""The folder of a run: what is refused, and what it tells of where its results come from."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("safetensors")
pytest.importorskip("torch")

from training import run_folder
from training.checkpoints import save_checkpoint
from training.run_folder import claim_folder, write_text


@dataclass(frozen=True)
class Config:
    rate: float = 0.1
    layers: tuple[int, ...] = (8, 8)


def about(out: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((out / "config.json").read_text())
    return told


def begun(out: Path) -> Path:
    """Claim a folder and save a checkpoint."""
    assert not claim_folder(out, Config(), ["numpy"], resume=False)
    save_checkpoint(out, 1, {}, {})
    return out


def test_a_new_folder_tells_what_is_run_and_where(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "new"
    assert not claim_folder(out, Config(), ["numpy"], resume=True)  # there is nothing to resume
    assert about(out)["config"] == {"rate": 0.1, "layers": [8, 8]}
    assert about(out)["versions"] == {"numpy": np.__version__}
    assert {"commit", "python", "machine"} < set(about(out))
    assert "resumed" not in about(out)


def test_a_folder_with_a_run_is_not_taken_by_mistake(tmp_path: Path) -> None:
    out = begun(tmp_path)
    before = (out / "config.json").read_text()
    with pytest.raises(FileExistsError, match="holds a run; give --resume"):
        claim_folder(out, Config(), ["numpy"], resume=False)
    assert (out / "config.json").read_text() == before


def test_a_folder_without_a_checkpoint_is_taken_anew(tmp_path: Path) -> None:
    claim_folder(tmp_path, Config(), ["numpy"], resume=False)
    assert not claim_folder(tmp_path, Config(rate=0.2), ["numpy"], resume=False)
    assert about(tmp_path)["config"]["rate"] == 0.2


def test_a_resumed_run_keeps_its_origin_and_adds_the_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = begun(tmp_path)
    first = about(out)
    origins = [{"commit": text, "versions": {"numpy": text}} for text in ("b", "c")]
    for origin in origins:
        monkeypatch.setattr(run_folder, "origin", lambda _, origin=origin: origin)
        assert claim_folder(out, Config(), ["numpy"], resume=True)
    assert about(out) == first | {"resumed": origins}


def test_a_run_of_another_configuration_is_not_resumed(tmp_path: Path) -> None:
    out = begun(tmp_path)
    before = (out / "config.json").read_text()
    with pytest.raises(ValueError, match=r"has another configuration: rate, layers$"):
        claim_folder(out, replace(Config(), rate=0.2, layers=(8,)), ["numpy"], resume=True)

    @dataclass(frozen=True)
    class Other:
        rate: float = 0.1
        width: int = 8

    with pytest.raises(ValueError, match=r"has another configuration: width, layers$"):
        claim_folder(out, Other(), ["numpy"], resume=True)
    assert (out / "config.json").read_text() == before


def test_a_checkpoint_without_a_configuration_is_refused(tmp_path: Path) -> None:
    out = begun(tmp_path)
    (out / "config.json").unlink()
    with pytest.raises(ValueError, match=r"a checkpoint, but no .*config\.json to tell what"):
        claim_folder(out, Config(), ["numpy"], resume=True)


def test_the_checkpoint_can_be_another_file(tmp_path: Path) -> None:
    assert not claim_folder(tmp_path, Config(), [], resume=False, checkpoint="model.zip")
    (tmp_path / "model.zip").touch()
    assert claim_folder(tmp_path, Config(), [], resume=True, checkpoint="model.zip")
    assert not claim_folder(tmp_path, Config(), [], resume=False)


def test_a_text_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "told.txt"
    write_text(file, "old\n")

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_folder.os, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        write_text(file, "new\n")
    assert file.read_text() == "old\n"
