"""Layouts: what entries of observations and ids of actions mean."""

import numpy as np
import pytest

import cardenvs
from cardenvs.core import layout
from cardenvs.core.layout import ActionLayout, ActionRange, ObservationLayout

PIECES = (
    layout.flags("hand", ["7C", "8C", "9C"], "own hand"),
    layout.one_hot("trump", "CDHS", "trumps"),
    layout.flag("on_turn", "asked now"),
    layout.number("stock", 52, "size of the stock"),
    layout.number("turns", 1000, "turns so far"),
    layout.flags("known", ["7C", "8C", "9C"], "known cards", per_player=True),
    layout.number("score", 500, "score", per_player=True),
)
THREE = ObservationLayout(PIECES, 3)
NAMES = [piece.name for piece in PIECES]


def test_size_counts_pieces_per_player_for_each_seat():
    assert [ObservationLayout(PIECES, players).size for players in (2, 3)] == [21, 26]


def test_slices_follow_each_other_without_gaps():
    bounds = [(part.start, part.stop) for part in THREE.slices.values()]
    assert bounds == [(0, 3), (3, 7), (7, 8), (8, 9), (9, 11), (11, 20), (20, 26)]


def test_high_is_the_largest_entry():
    assert THREE.high[[0, 3, 7, 8, 9, 10, 11, 20]].tolist() == [1, 1, 1, 52, 127, 127, 1, 127]
    assert THREE.high.dtype == np.int8


def test_scale_brings_entries_to_one():
    assert THREE.scale.dtype == np.float32
    assert np.allclose(THREE.scale * THREE.high, 1.0)


def test_decode_reads_every_kind_of_piece():
    entries = np.zeros(THREE.size, np.int8)
    entries[[0, 2, 5, 7, 14]] = 1
    entries[[8, 9, 10, 22, 23]] = [40, 104, 7, 44, 3]
    assert THREE.decode(entries) == {
        "hand": ["7C", "9C"],
        "trump": "H",
        "on_turn": 1,
        "stock": 40,
        "turns": 1000,
        "known": [[], ["7C"], []],
        "score": [0, 428, 0],
    }


def test_decode_of_none_of_the_labels_is_none():
    assert THREE.decode(np.zeros(THREE.size, np.int8))["trump"] is None


def test_decode_refuses_another_size_and_names_both():
    with pytest.raises(ValueError, match=r"\(26,\), not \(25,\)"):
        THREE.decode(np.zeros(25, np.int8))


def test_offsets_are_those_of_the_layouts():
    offsets = layout.piece_offsets(PIECES, 6)
    for players in range(1, 7):
        slices = ObservationLayout(PIECES, players).slices
        assert offsets[players].tolist() == [slices[name].start for name in NAMES]


def test_index_of_a_piece_is_its_column():
    assert [layout.piece_index(PIECES, name) for name in NAMES] == list(range(len(NAMES)))


def test_actions_follow_each_other():
    actions = ActionLayout(ActionRange("card", 52, "a card"), ActionRange("pass", 1, "pass"))
    assert actions.size == 53
    assert actions.slices == {"card": slice(0, 52), "pass": slice(52, 53)}
    assert "| 0..51 | `card` | a card |\n| 52 | `pass` | pass |" in actions.table()


def test_table_names_entries_shape_and_values():
    assert "| 11..19 | `known` | (3, 3) | 0..1 | known cards |" in THREE.table()
    assert "| 9..10 | `turns` | (2,) | 0..127 | turns so far |" in THREE.table()


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_tables_of_a_game_have_a_line_for_each_piece(game_id):
    game = cardenvs.load_game(game_id)
    assert len(game.layout.table().splitlines()) == 2 + len(game.layout.pieces)
    assert len(game.actions.table().splitlines()) == 2 + len(game.actions.ranges)
    assert len({piece.name for piece in game.layout.pieces}) == len(game.layout.pieces)
