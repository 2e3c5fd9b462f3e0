"""Golden playthroughs, line by line, and counts of legal play from fixed positions.

Where a change of behaviour is meant, `python -m tests.golden` writes them anew.
"""

import json
from pathlib import Path

import pytest

import cardenvs
from tests.golden import FOLDER, PERFT, perft, perft_state, playthrough, read_playthrough
from tests.oracles.cases import CASES
from tests.oracles.compare import LaterDeals

FILES = sorted(FOLDER.glob("*.txt"))
POSITIONS = json.loads(PERFT.read_text())
ORACLE_DEPTH = 3


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_playthrough_is_the_same_line_by_line(file: Path) -> None:
    text = file.read_text()
    lines = list(playthrough(*read_playthrough(text)))
    for number, (expected, line) in enumerate(zip(text.splitlines(), lines, strict=True), start=1):
        assert line == expected, f"{file.name}, line {number}"


def test_every_game_has_golden_files() -> None:
    for game_id in cardenvs.game_ids():
        told = f"run `python -m tests.golden` for {game_id}"
        assert any(file.name.startswith(f"{game_id}_") for file in FILES), told
        assert any(position["game"] == game_id for position in POSITIONS), told


@pytest.mark.parametrize("number", range(len(POSITIONS)))
def test_numbers_of_legal_sequences_are_the_same(number: int) -> None:
    assert perft(POSITIONS[number]) == POSITIONS[number]["sequences"]


@pytest.mark.parametrize("number", range(len(POSITIONS)))
def test_the_oracle_counts_as_many_legal_sequences(number: int) -> None:
    position = POSITIONS[number]
    counts = [sum(1 for _ in sequences(position, depth)) for depth in range(1, ORACLE_DEPTH + 1)]
    assert counts == position["sequences"][:ORACLE_DEPTH]


def sequences(position, depth):
    """Yield the sequences of so many actions that the oracle allows."""
    if depth == 0:
        yield ()
        return
    for words in sequences(position, depth - 1):
        for text in oracle_after(position, words).legal():
            yield (*words, text)


def oracle_after(position, words):
    """Play words on the oracle, whose later deals are those of the engine."""
    state = perft_state(position)
    case = CASES[position["game"]]
    oracle = case.oracle(position["options"], position["deal"], LaterDeals(state))
    for text in words:
        state.apply_action(state.string_to_action(text))
        oracle.apply(text)
    return oracle
