"""Rule options: defaults, allowed values, and errors that name both."""

import pytest

import cardenvs
from cardenvs import OptionError
from cardenvs.core.game import Game
from cardenvs.core.options import Option, options_table, read_option, resolve_options
from tests.oracles.cases import CASES

OPTIONS = (
    Option("players", 3, range(2, 7), "players at the table"),
    Option("mode", "plain", ("plain", "fancy"), "how to play"),
    Option("fast", True, (False, True), "whether to hurry"),
)


def test_options_that_are_not_given_take_their_defaults():
    resolved = resolve_options(OPTIONS, {"mode": "fancy"})
    assert resolved == {"players": 3, "mode": "fancy", "fast": True}


def test_code_of_a_number_is_itself_and_of_a_word_its_place():
    players, mode, fast = OPTIONS
    assert [players.code(2), players.code(6), mode.code("fancy"), fast.code(False)] == [2, 6, 1, 0]


def test_an_unknown_option_is_refused_with_those_that_exist():
    with pytest.raises(OptionError, match=r"no option is called 'speed'; there are fast, mode, pl"):
        resolve_options(OPTIONS, {"speed": 1})


@pytest.mark.parametrize("value", [1, 7, 3.0, "3", True, None, [3]])
def test_a_number_out_of_range_is_refused_with_the_range(value):
    with pytest.raises(OptionError, match=r"players=.*: allowed are the whole numbers from 2 to 6"):
        resolve_options(OPTIONS, {"players": value})


@pytest.mark.parametrize("value", ["Plain", 0, None, True])
def test_a_word_that_is_not_allowed_is_refused_with_the_words(value):
    with pytest.raises(OptionError, match=r"mode=.*: allowed are 'plain', 'fancy'"):
        resolve_options(OPTIONS, {"mode": value})


@pytest.mark.parametrize("value", [0, 1, "True", None])
def test_only_true_and_false_are_yes_and_no(value):
    with pytest.raises(OptionError, match=r"fast=.*: allowed are False, True"):
        resolve_options(OPTIONS, {"fast": value})


def test_table_has_a_line_for_each_option():
    assert "| `players` | `3` | the whole numbers from 2 to 6 |" in options_table(OPTIONS)
    assert len(options_table(OPTIONS).splitlines()) == 2 + len(OPTIONS)


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_every_value_of_every_option_of_a_game_reaches_the_row(game_id):
    rules = cardenvs.load_game(game_id).rules
    for option in Game.all_options(rules):
        for value in option.allowed:
            others = {} if value != 2 else CASES[game_id].table_of_two
            game = cardenvs.load_game(game_id, **others | {option.name: value})
            assert game.options[option.name] == value
            assert game.blank_rows()[option.name][0] == option.code(value)


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_a_game_refuses_an_unknown_option(game_id):
    with pytest.raises(
        OptionError, match=r"no option is called 'num_player'; there are .*num_play"
    ):
        cardenvs.load_game(game_id, num_player=3)
    with pytest.raises(OptionError, match="skip_forced=1: allowed are False, True"):
        cardenvs.make_batch(game_id, num_envs=2, skip_forced=1)


@pytest.mark.parametrize(
    ("text", "value"), [("players=4", 4), ("mode=fancy", "fancy"), ("fast=False", False)]
)
def test_an_option_is_read_from_text(text, value):
    name, read = read_option(OPTIONS, text)
    assert resolve_options(OPTIONS, {name: read})[name] == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mode", "NAME=VALUE, not 'mode'"),
        ("mode=odd", "mode='odd': allowed are 'plain', 'fancy'"),
        ("speed=2", "no option is called 'speed'"),
    ],
)
def test_what_is_no_option_in_text_is_refused(text, message):
    with pytest.raises(OptionError, match=message):
        resolve_options(OPTIONS, dict([read_option(OPTIONS, text)]))
