"""The numbers of an agent's card are those of the arena."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import agents
from agents import cards
from training import agent_cards


def test_numbers_of_an_arena_reach_the_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(agents, "list", lambda game: ("random", "lowest"))
    monkeypatch.setattr(cards, "NUMBERS", tmp_path / "cards")
    assert agents.card("braus", "lowest").numbers == {}
    words = ["braus", "--deals", "40", "--cards", str(tmp_path / "cards")]
    agent_cards.main([*words, "--out", str(tmp_path / "arena")])
    assert "A team (row) against a team (column)" in capsys.readouterr().out
    arena = json.loads((tmp_path / "arena" / "arena.json").read_text())
    numbers = agents.card("braus", "lowest").numbers
    (row,) = (row for row in arena["rows"] if row["player"] == "lowest")
    assert numbers["among"] == {
        "random": [round(row[part], 4) for part in ("result", "low", "high")]
    }
    (rating,) = (rating for rating in arena["ratings"] if rating["player"] == "lowest")
    assert numbers["rating"]["mu"] == round(rating["mu"], 2)
    assert numbers["decisions_per_second"] > 0
    told = cards.read_numbers("braus")
    assert (told["deals"], told["split"], told["measure"]) == (40, "test", "score")
    assert told["command"].startswith("python -m training.agent_cards braus --deals 40")
