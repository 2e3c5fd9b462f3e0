"""`State`: one table in Python."""

import copy
import pickle
import random

import numpy as np
import pytest

import cardenvs
from cardenvs import IllegalActionError
from cardenvs.core.state import EVENT_SIZE
from tests.core.tables import GAME_IDS, advance, play_out, positions, sight
from tests.oracles.cases import CASES


@pytest.fixture(params=GAME_IDS)
def game_id(request):
    return request.param


@pytest.fixture
def game(game_id):
    return cardenvs.load_game(game_id, **CASES[game_id].short_episode)


@pytest.fixture
def match(game_id):
    return cardenvs.load_game(game_id, **CASES[game_id].short_match)


@pytest.fixture
def state(game):
    return next(positions(game, 1, seed=3))


@pytest.fixture
def finished(game):
    return play_out(game.new_initial_state(seed=3))


# -- play --------------------------------------------------------------------------------------


def test_legal_actions_are_the_ones_of_the_mask_ascending(game):
    for state in positions(game, 30):
        legal = state.legal_actions()
        assert legal == sorted(set(legal)) == np.flatnonzero(state.action_mask()).tolist()
        assert all(type(action) is int for action in legal)


def test_mask_is_zero_off_turn(state):
    for seat in range(state.game.num_players):
        expected = state.action_mask() if seat == state.current_player else 0
        assert (state.action_mask(seat) == expected).all()


def test_mask_and_observation_are_fresh_each_time(state):
    before = sight(state)
    state.action_mask()[:] = 9
    state.observation()[:] = 9
    assert sight(state) == before


def test_observation_is_by_default_of_the_seat_on_turn(state):
    assert (state.observation() == state.observation(state.current_player)).all()
    assert (state.critic_state() == state.critic_state(state.current_player)).all()


def test_at_the_end_nobody_is_on_turn(finished):
    assert (finished.current_player, finished.legal_actions()) == (-1, [])
    assert finished.is_terminal()
    assert not finished.action_mask().any()


def test_at_the_end_all_seats_observe_and_none_by_default(finished):
    for seat in range(finished.game.num_players):
        assert finished.observation(seat).any()
    with pytest.raises(ValueError, match="name the seat"):
        finished.observation()


def test_returns_start_at_zero_and_are_valid_in_mid_game(match):
    state = match.new_initial_state(seed=1)
    assert (state.returns() == 0).all()
    seen = {tuple(advance(state, 1, number).returns()) for number in range(10_000)}
    assert tuple(state.returns()) in seen
    assert all(match.min_return <= value <= match.max_return for scores in seen for value in scores)


def test_truncated_only_at_the_end(state, finished):
    assert state.is_truncated() is False
    assert isinstance(finished.is_truncated(), bool)


def test_numpy_numbers_are_actions_and_seats_too(state):
    same = state.clone()
    action = state.legal_actions()[0]
    state.apply_action(np.int64(action))
    same.apply_action(action)
    assert sight(state) == sight(same)
    assert (state.observation(np.int8(1)) == state.observation(1)).all()


@pytest.mark.parametrize("action", [-1, 10**6, 2**70, 1.0, "pass it", None, True, [0]])
def test_what_is_no_action_is_refused_and_changes_nothing(state, action):
    before = state.get_state()
    with pytest.raises(IllegalActionError, match=r"not legal for player \d; by rule"):
        state.apply_action(action)
    assert state.get_state() == before


def test_refusal_names_the_action_and_all_that_are_legal(state):
    wrong = int(np.flatnonzero(state.action_mask() == 0)[0])
    with pytest.raises(IllegalActionError) as refused:
        state.apply_action(wrong)
    for action, text in zip(state.legal_actions(), state.legal_action_strings(), strict=True):
        assert f"{action} ({text})" in str(refused.value)
    assert f"action {wrong} " in str(refused.value)


def test_an_action_after_the_end_is_refused_and_changes_nothing(finished):
    before = finished.get_state()
    with pytest.raises(IllegalActionError, match="the game is over"):
        finished.apply_action(0)
    assert finished.get_state() == before


@pytest.mark.parametrize("seat", [-1, 99, "0", 1.0, True, None])
def test_what_is_no_seat_is_refused(state, seat):
    for ask in (state.observation, state.action_mask, state.render, state.critic_state):
        if seat is not None:
            with pytest.raises(ValueError, match="seats here are 0 to"):
                ask(seat)
    with pytest.raises(ValueError, match="seats here are 0 to"):
        state.determinize(99, seed=0)


def test_words_that_name_no_legal_action_are_refused(state):
    with pytest.raises(IllegalActionError, match="no such words"):
        state.string_to_action("no such words")


@pytest.mark.parametrize("action", [-1, 10**6, 1.5, "pass it", True])
def test_there_are_no_words_for_what_is_no_action_id(state, action):
    with pytest.raises(IllegalActionError, match="action ids are 0 to"):
        state.action_to_string(action)


# -- beginnings --------------------------------------------------------------------------------


def test_one_seed_is_one_game(game):
    first, second, other = (game.new_initial_state(seed=seed) for seed in (7, 7, 8))
    assert first.to_deal() == second.to_deal() != other.to_deal()
    assert sight(play_out(first)) == sight(play_out(second))


def test_without_a_seed_deals_differ(game):
    deals = [game.new_initial_state().to_deal() for _ in range(3)]
    assert deals[0] != deals[1] != deals[2]


@pytest.mark.parametrize("seed", [0, 2**62, 2**63 - 1])
def test_all_seeds_in_range_are_accepted(game, seed):
    assert game.new_initial_state(seed=seed).legal_actions()


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "7", True])
def test_a_seed_out_of_range_is_refused(game, seed):
    with pytest.raises((ValueError, TypeError), match="a seed is"):
        game.new_initial_state(seed=seed)


@pytest.mark.parametrize("deal", [7, "deal", [], {}, {"hand": []}, {"hands": "5C"}])
def test_a_broken_deal_is_refused(game, deal):
    with pytest.raises(cardenvs.DealError):
        game.new_initial_state(deal=deal)


# -- the past ----------------------------------------------------------------------------------


def test_deal_and_history_replay_the_position(game):
    for state in positions(game, 20):
        replayed = game.new_initial_state(seed=9, deal=state.to_deal())
        for action in state.history():
            replayed.apply_action(action)
        assert sight(replayed) == sight(state)


def test_in_a_later_deal_of_a_match_they_replay_that_deal(match):
    state = match.new_initial_state(seed=1)
    first, played = state.to_deal(), 0
    while not state.is_terminal() and len(state.history()) == played:
        advance(state, 1, played)
        played += 1
    advance(state, 5)
    assert len(state.history()) == 5
    assert state.to_deal() != first
    replayed = match.new_initial_state(seed=9, deal=state.to_deal())
    for action in state.history():
        replayed.apply_action(action)
    assert replayed.hands() == state.hands()
    assert replayed.stock() == state.stock()
    assert replayed.legal_action_strings() == state.legal_action_strings()


def test_a_given_deal_comes_back_from_to_deal(game):
    deal = game.new_initial_state(seed=5).to_deal()
    state = game.new_initial_state(seed=6, deal=deal)
    assert state.to_deal() == deal
    assert advance(state, 10).to_deal() == deal


def test_a_state_without_a_past_says_so(state):
    world = state.determinize(state.current_player, seed=1)
    batch = cardenvs.make_batch(state.game.id, num_envs=1, seed=1)
    batch.reset()
    for without in (world, batch.state(0)):
        for ask in (without.history, without.to_deal, without.information_state):
            with pytest.raises(ValueError, match="no past"):
                ask()


# -- copies ------------------------------------------------------------------------------------


COPIES = {
    "clone": lambda state: state.clone(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda state: pickle.loads(pickle.dumps(state)),
}


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_goes_on_to_the_same_end_and_is_independent(match, way):
    for state in positions(match, 5):
        before = sight(state)
        copied = COPIES[way](state)
        assert sight(copied) == before
        end = sight(play_out(copied))
        assert sight(state) == before
        assert sight(play_out(state)) == end


def test_a_copy_keeps_the_past(match):
    for state in positions(match, 5):
        for way in COPIES.values():
            copied = way(state)
            assert (copied.history(), copied.to_deal()) == (state.history(), state.to_deal())
            assert (copied.information_state(0) == state.information_state(0)).all()


def test_set_state_takes_over_a_position_and_its_past(match):
    other = match.new_initial_state(seed=99)
    for state in positions(match, 5):
        other.set_state(state.get_state())
        assert sight(other) == sight(state)
        assert other.history() == state.history()
        assert other.get_state() == state.get_state()


def test_bytes_of_a_finished_state_travel_too(finished):
    other = finished.game.new_initial_state(seed=99)
    other.set_state(finished.get_state())
    assert other.is_terminal()
    assert sight(other) == sight(finished)


def foreign_bytes(state):
    whole = state.get_state()
    options = {"skip_forced": not state.game.options["skip_forced"]}
    other_game = cardenvs.load_game(state.game.id, **options)
    return {
        "empty": b"",
        "nonsense": b"\x00\xff nonsense",
        "text": whole.hex(),
        "nothing": None,
        "cut off": whole[:-1],
        "too long": whole + whole[-8:],
        "twice": whole + whole,
        "a bit of the row flipped": whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:],
        "another key": whole.replace(b'"actions"', b'"deeds"'),
        "other options": other_game.new_initial_state(seed=1).get_state(),
    }


def test_foreign_bytes_are_refused_and_change_nothing(state):
    before = state.get_state()
    for name, content in foreign_bytes(state).items():
        with pytest.raises(ValueError, match="these bytes are"):
            state.set_state(content)
        assert state.get_state() == before, name


def test_a_game_is_pickled_by_id_and_options(game_id):
    game = cardenvs.load_game(game_id, skip_forced=False)
    for copied in (pickle.loads(pickle.dumps(game)), copy.deepcopy(game), copy.copy(game)):
        assert copied == game
        assert hash(copied) == hash(game)
        assert copied != cardenvs.load_game(game_id)
    assert len(pickle.dumps(game)) < 1000


# -- perfect recall ----------------------------------------------------------------------------


def test_information_state_has_a_row_an_event(game):
    state = game.new_initial_state(seed=2)
    width = EVENT_SIZE + game.observation_size
    assert state.information_state(0).shape[1] == width
    assert not state.information_state(0)[0, :EVENT_SIZE].any()
    length = len(state.information_state(0))
    assert len(advance(state, 30).information_state(0)) > length


def test_information_state_only_grows(game):
    state = game.new_initial_state(seed=2)
    for number in range(40):
        before = [state.information_state(seat) for seat in range(game.num_players)]
        if advance(state, 1, number).is_terminal():
            break
        for seat, past in enumerate(before):
            now = state.information_state(seat)[: len(past)]
            assert (now[:-1] == past[:-1]).all()
            # Unseen nodes may still follow the last event, so its view is not final yet.
            assert (now[-1, :EVENT_SIZE] == past[-1, :EVENT_SIZE]).all()


def test_own_actions_stand_in_the_information_state(game):
    state = game.new_initial_state(seed=2)
    rng = random.Random(1)
    while not state.is_terminal():
        seat, action = state.current_player, rng.choice(state.legal_actions())
        length = len(state.information_state(seat))
        state.apply_action(action)
        event = state.information_state(seat)[length, :EVENT_SIZE].tolist()
        assert event == [0, (action + 1) % 128, (action + 1) // 128]


def test_information_states_of_different_play_differ(game):
    state = game.new_initial_state(seed=4)
    pasts = set()
    for action in state.legal_actions():
        other = state.clone()
        other.apply_action(action)
        pasts.add(other.information_state(state.current_player).tobytes())
    assert len(pasts) == len(state.legal_actions())


def test_information_state_at_the_end_of_a_match_tells_all_deals(match):
    state = play_out(match.new_initial_state(seed=4))
    past = state.information_state(0)
    deals = (past[:, :EVENT_SIZE] == 0).all(axis=1).sum()
    assert deals == state._deal_number + 1
    with pytest.raises(ValueError, match="name the seat"):
        state.information_state()


def test_determinize_is_a_function_of_its_seed(state):
    seat = state.current_player
    worlds = [state.determinize(seat, seed).get_state() for seed in (1, 1, 2, 3, 4)]
    assert worlds[0] == worlds[1]
    assert len(set(worlds)) > 1


@pytest.mark.parametrize(
    ("seed", "error"), [(-1, ValueError), (2**63, ValueError), ("1", TypeError)]
)
def test_determinize_refuses_what_is_no_seed(state, seed, error):
    with pytest.raises(error, match="a seed is"):
        state.determinize(0, seed)


def test_determinize_at_the_end_is_refused(finished):
    with pytest.raises(ValueError, match="the game is over"):
        finished.determinize(0, seed=1)
