"""`Batch`: many tables stepped in place."""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import cardenvs
from cardenvs import DealError, IllegalActionError
from cardenvs.core.rng import table_seed
from cardenvs.core.state import State
from tests.core.tables import (
    GAME_IDS,
    chosen_actions,
    content,
    deal_without_decision,
    illegal_action,
    play_out,
    positions,
    sight,
)
from tests.oracles.cases import CASES

ROOT = Path(__file__).parents[2]
TABLES = 5


@pytest.fixture(params=GAME_IDS)
def game_id(request):
    return request.param


def batch_of(game_id, seed=7, num_envs=TABLES, **more):
    options = CASES[game_id].short_episode | more
    batch = cardenvs.make_batch(game_id, num_envs=num_envs, seed=seed, **options)
    batch.reset()
    return batch


def step_at_random(batch, steps, seed=0):
    rng = random.Random(seed)
    for _ in range(steps):
        batch.step(chosen_actions(batch, rng))
    return batch


def step_to_an_end(batch, seed=0):
    """Step until some tables, but not all, have ended an episode."""
    rng = random.Random(seed)
    while not batch.terminated.any():
        batch.step(chosen_actions(batch, rng))
    return np.flatnonzero(batch.terminated)


# -- what is refused ---------------------------------------------------------------------------


def wrong_actions(batch):
    legal = chosen_actions(batch, random.Random(1))
    illegal = legal.copy()
    illegal[-1] = illegal_action(batch.action_mask[-1])
    return {
        "one illegal entry": (illegal, IllegalActionError, f"table {TABLES - 1}: action"),
        "negative": (np.where(np.arange(TABLES) == 2, -1, legal), IllegalActionError, "table 2: "),
        "too high": (legal + 10**6, IllegalActionError, "table 0: action"),
        "too few": (legal[:-1], ValueError, rf"whole numbers \[{TABLES}\], not int64 \[4\]"),
        "a column": (legal[:, None], ValueError, rf"not int64 \[{TABLES}, 1\]"),
        "floats": (legal.astype(float), ValueError, "not float64"),
        "bools": (legal.astype(bool), ValueError, "not bool"),
        "a list": (legal.tolist(), ValueError, "whole numbers"),
        "a number": (3, ValueError, "not 3"),
        "nothing": (None, ValueError, "not None"),
    }


def test_wrong_actions_are_refused_and_change_nothing(game_id):
    batch = step_at_random(batch_of(game_id, critic_state=True), 10)
    before = content(batch)
    for actions, error, message in wrong_actions(batch).values():
        with pytest.raises(error, match=message):
            batch.step(actions)
        assert content(batch) == before


def test_all_actions_are_checked_before_any_table_moves(game_id):
    batch = batch_of(game_id, num_threads=2)
    before = content(batch)
    for wrong in range(TABLES):
        actions = chosen_actions(batch, random.Random(1))
        actions[wrong] = illegal_action(batch.action_mask[wrong])
        with pytest.raises(IllegalActionError, match=f"table {wrong}: .* not legal for player"):
            batch.step(actions)
        assert content(batch) == before


@pytest.mark.parametrize("flags", [np.ones(4, bool), np.ones(5, np.int8), [True] * 5, True])
def test_wrong_flags_are_refused_and_change_nothing(game_id, flags):
    batch = batch_of(game_id)
    actions, before = chosen_actions(batch, random.Random(1)), content(batch)
    with pytest.raises(ValueError, match="active"):
        batch.step(actions, active=flags)
    with pytest.raises(ValueError, match="mask"):
        batch.reset(mask=flags)
    assert content(batch) == before


def test_nothing_goes_before_the_first_reset(game_id):
    batch = cardenvs.make_batch(game_id, num_envs=2, seed=1)
    with pytest.raises(ValueError, match="call reset first"):
        batch.step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="call reset first"):
        batch.state(0)
    with pytest.raises(ValueError, match="call reset first"):
        batch.observe(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="the first reset is of all tables"):
        batch.reset(mask=np.array([True, False]))


@pytest.mark.parametrize(
    ("name", "value"),
    [("num_envs", 0), ("num_envs", 2.0), ("num_threads", 0), ("num_threads", True)],
)
def test_numbers_out_of_range_are_refused(game_id, name, value):
    with pytest.raises(ValueError, match=f"{name} is a whole number of at least 1, not {value!r}"):
        cardenvs.make_batch(game_id, **({"num_envs": 2} | {name: value}))


SEEDS = {
    "negative": -1,
    "too high": 2**63,
    "of a wrong length": np.arange(TABLES - 1),
    "with a negative one": np.arange(TABLES) - 1,
    "too high among unsigned ones": np.full(TABLES, 2**63, np.uint64),
    "fractions": np.ones(TABLES),
}


@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_wrong_seeds_are_refused_and_change_nothing(game_id, seed):
    batch = batch_of(game_id)
    before = content(batch)
    with pytest.raises(ValueError, match="seed"):
        batch.reset(seed=seed)
    assert content(batch) == before


# -- games -------------------------------------------------------------------------------------


def games_of(batch, steps=150):
    """Play at random, each table from a stream of its own; return what each has shown."""
    shown = [[] for _ in range(batch.num_envs)]
    rngs = [random.Random(i) for i in range(batch.num_envs)]
    for _ in range(steps):
        actions = np.zeros(batch.num_envs, np.int64)
        for i, rng in enumerate(rngs):
            actions[i] = rng.choice(np.flatnonzero(batch.action_mask[i]).tolist())
        batch.step(actions)
        for i, table in enumerate(shown):
            parts = batch.action_mask, batch.observation, batch.reward
            result = batch.episode_return[i].tolist() if batch.terminated[i] else None
            table.append((batch.current_player[i], *(part[i].tobytes() for part in parts), result))
    return shown


def test_neither_number_of_tables_nor_of_threads_changes_the_games(game_id):
    alone = games_of(batch_of(game_id, num_envs=2))
    among_many = games_of(batch_of(game_id, num_envs=9))
    in_threads = games_of(batch_of(game_id, num_envs=9, num_threads=3))
    more_threads_than_tables = games_of(batch_of(game_id, num_envs=2, num_threads=4))
    assert among_many == in_threads
    assert among_many[:2] == alone == more_threads_than_tables


def test_table_i_plays_the_games_of_its_seed(game_id):
    batch = batch_of(game_id, seed=11)
    for i in range(TABLES):
        alone = State.begin(batch.game, table_seed(11, i))
        assert sight(batch.state(i)) == sight(alone)
    assert sight(batch.state(0)) == sight(batch.game.new_initial_state(seed=11))


def test_an_array_of_seeds_gives_each_table_its_own(game_id):
    seeds = np.array([5, 6, 5, 2**62, 0])
    batch = batch_of(game_id, seed=seeds)
    for i, seed in enumerate(seeds.tolist()):
        assert sight(batch.state(i)) == sight(batch.game.new_initial_state(seed=seed))


def test_deals_do_not_depend_on_play(game_id):
    batches = [batch_of(game_id, num_envs=1) for _ in range(2)]
    starts = []
    for seed, batch in enumerate(batches):
        step_to_an_end(batch, seed)
        starts.append(sight(batch.state(0)))
    assert starts[0] == starts[1]


def test_rewards_add_up_to_the_episode_return(game_id):
    batch = batch_of(game_id, **CASES[game_id].short_match)
    total, rng = np.zeros_like(batch.reward), random.Random(1)
    for _ in range(600):
        batch.step(chosen_actions(batch, rng))
        total += batch.reward
        ended = batch.terminated
        assert np.allclose(total[ended], batch.episode_return[ended], atol=1e-5)
        total[ended] = 0
    assert not (batch.truncated & ~batch.terminated).any()


def test_episode_length_counts_decisions(game_id):
    batch = batch_of(game_id)
    counted, rng = np.zeros(TABLES, np.int64), random.Random(1)
    for _ in range(300):
        batch.step(chosen_actions(batch, rng))
        counted += 1
        ended = batch.terminated
        assert (batch.episode_length[ended] == counted[ended]).all()
        counted[ended] = 0


def test_flags_are_set_for_one_step_only(game_id):
    batch = batch_of(game_id)
    ended = step_to_an_end(batch)
    batch.step(chosen_actions(batch, random.Random(1)))
    assert not batch.terminated[ended].any()
    assert not batch.truncated[ended].any()
    assert (batch.episode_length[ended] > 1).all()


def test_the_next_episode_is_dealt_in_the_step_that_ends_one(game_id):
    batch = batch_of(game_id, critic_state=True)
    for i in step_to_an_end(batch):
        begun = State.begin(batch.game, table_seed(7, int(i)), episode=1)
        assert sight(batch.state(i)) == sight(begun)
        assert (batch.observation[i] == begun.observation()).all()
        assert (batch.action_mask[i] == begun.action_mask()).all()
        assert batch.current_player[i] == begun.current_player


# -- without autoreset -------------------------------------------------------------------------


def test_without_autoreset_a_finished_table_is_empty_and_waits(game_id):
    batch = batch_of(game_id, autoreset=False, critic_state=True)
    ended = step_to_an_end(batch)
    for _ in range(2):
        assert (batch.current_player[ended] == -1).all()
        for part in (batch.observation, batch.action_mask, batch.critic_state):
            assert not part[ended].any()
        actions = chosen_actions(batch, random.Random(2))
        actions[ended] = -5  # ignored
        batch.step(actions)
        assert not batch.reward[ended].any()
        assert not batch.terminated[ended].any()


def test_reset_of_a_mask_deals_the_next_episode_there_alone(game_id):
    batch = batch_of(game_id, autoreset=False)
    ended = step_to_an_end(batch)
    mask = np.isin(np.arange(TABLES), ended)
    others = [sight(batch.state(i)) for i in np.flatnonzero(~mask)]
    batch.reset(mask=mask)
    assert [sight(batch.state(i)) for i in np.flatnonzero(~mask)] == others
    for i in ended:
        begun = State.begin(batch.game, table_seed(7, int(i)), episode=1)
        assert sight(batch.state(i)) == sight(begun)
    assert not batch.terminated.any()


def test_all_tables_finish_without_autoreset(game_id):
    batch, rng = batch_of(game_id, autoreset=False), random.Random(3)
    for _ in range(100_000):
        if (batch.current_player < 0).all():
            break
        batch.step(chosen_actions(batch, rng))
    assert (batch.current_player == -1).all()
    assert (batch.episode_length > 0).all()
    assert (batch.sample_actions() == 0).all()
    assert batch.legal_actions[1].tolist() == [0] * (TABLES + 1)


# -- active tables -----------------------------------------------------------------------------


def test_tables_that_are_not_active_stay_as_they_are(game_id):
    batch, rng = step_at_random(batch_of(game_id), 5), random.Random(4)
    active = np.array([True, False, True, False, False])
    still = [sight(batch.state(i)) for i in (1, 3, 4)]
    moving = [sight(batch.state(i)) for i in (0, 2)]
    actions = chosen_actions(batch, rng)
    actions[~active] = -7  # ignored
    batch.step(actions, active=active)
    assert [sight(batch.state(i)) for i in (1, 3, 4)] == still
    assert [sight(batch.state(i)) for i in (0, 2)] != moving
    assert not batch.reward[~active].any()


def test_tables_that_are_not_active_lose_their_flags(game_id):
    batch = batch_of(game_id)
    ended = step_to_an_end(batch)
    batch.step(np.zeros(TABLES, np.int64), active=np.zeros(TABLES, bool))
    assert not batch.terminated.any()
    assert not batch.reward.any()
    assert (batch.episode_length[ended] > 0).all()


# -- resets ------------------------------------------------------------------------------------


def test_reset_without_a_seed_goes_on_to_the_next_episode(game_id):
    batch = batch_of(game_id)
    batch.reset()
    for i in range(TABLES):
        begun = State.begin(batch.game, table_seed(7, i), episode=1)
        assert sight(batch.state(i)) == sight(begun)


def test_reset_with_a_seed_starts_its_stream(game_id):
    batch = step_at_random(batch_of(game_id), 30)
    batch.reset(seed=21)
    fresh = batch_of(game_id, seed=21)
    assert (batch.sample_actions() == fresh.sample_actions()).all()
    assert games_of(batch, 40) == games_of(fresh, 40)


def test_reset_with_a_seed_and_a_mask_starts_the_streams_of_the_mask(game_id):
    batch = batch_of(game_id)
    batch.reset(seed=21, mask=np.arange(TABLES) == 2)
    assert sight(batch.state(2)) == sight(State.begin(batch.game, table_seed(21, 2)))
    assert sight(batch.state(1)) == sight(State.begin(batch.game, table_seed(7, 1)))


def test_reset_with_deals_begins_from_them(game_id):
    batch = batch_of(game_id)
    deals = [batch.game.new_initial_state(seed=seed).to_deal() for seed in range(TABLES)]
    batch.reset(deals=deals)
    for i, deal in enumerate(deals):
        assert sight(batch.state(i)) == sight(batch.game.new_initial_state(seed=0, deal=deal))


def test_after_a_given_deal_the_stream_goes_on(game_id):
    batch = batch_of(game_id)
    deal = batch.game.new_initial_state(seed=3).to_deal()
    batch.reset(deals=[deal] * TABLES)
    ended = step_to_an_end(batch)[0]
    begun = State.begin(batch.game, table_seed(7, int(ended)), episode=2)
    assert sight(batch.state(ended)) == sight(begun)


def test_deals_of_tables_outside_the_mask_are_not_looked_at(game_id):
    batch = batch_of(game_id)
    deal = batch.game.new_initial_state(seed=3).to_deal()
    before = sight(batch.state(0))
    batch.reset(deals=[None, deal, None, None, None], mask=np.arange(TABLES) == 1)
    assert sight(batch.state(0)) == before
    assert sight(batch.state(1)) == sight(batch.game.new_initial_state(seed=0, deal=deal))


@pytest.mark.parametrize("deals", [5, "QS", {}, [None] * (TABLES - 1)])
def test_what_is_no_deal_for_each_table_is_refused_and_changes_nothing(game_id, deals):
    batch = batch_of(game_id)
    before = content(batch)
    with pytest.raises(ValueError, match="one deal for each of the"):
        batch.reset(deals=deals)
    assert content(batch) == before


@pytest.mark.parametrize("table", [-1, TABLES, True, 1.0, "0"])
def test_what_is_no_table_is_refused(game_id, table):
    with pytest.raises(IndexError, match="tables here are 0 to"):
        batch_of(game_id).state(table)


def test_a_broken_deal_is_refused_and_changes_nothing(game_id):
    batch = step_at_random(batch_of(game_id), 5)
    deal = batch.game.new_initial_state(seed=3).to_deal()
    before, sampled = content(batch), batch.sample_actions().copy()
    with pytest.raises(DealError):
        batch.reset(seed=5, deals=[deal, deal, {"hands": "none"}, deal, deal])
    for deals in (deal, [deal] * 4, "deals"):
        with pytest.raises(ValueError, match=f"one deal for each of the {TABLES} tables"):
            batch.reset(deals=deals)
    assert content(batch) == before
    assert (batch.sample_actions() != sampled).any()  # the next draw, not the first of a new seed


def test_a_deal_that_asks_nobody_is_refused_and_changes_nothing(game_id):
    found = deal_without_decision(game_id)
    if found is None:
        pytest.skip("every deal of this game asks somebody")
    game, deal = found
    batch = cardenvs.make_batch(game_id, num_envs=1, seed=1, **game.options)
    batch.reset()
    before = content(batch)
    with pytest.raises(DealError, match="over before any decision"):
        batch.reset(deals=[deal])
    assert content(batch) == before
    assert batch.skipped_episodes == 0


# -- views -------------------------------------------------------------------------------------


def test_observe_shows_what_any_seat_sees(game_id):
    batch = step_at_random(batch_of(game_id), 20)
    for seat in range(batch.game.num_players):
        seats = (np.arange(TABLES) + seat) % batch.game.num_players
        seen = batch.observe(seats)
        for i in range(TABLES):
            assert (seen[i] == batch.state(i).observation(int(seats[i]))).all()
    assert (batch.observe(batch.current_player) == batch.observation).all()


def test_observe_shows_the_end_as_well(game_id):
    batch = batch_of(game_id, autoreset=False)
    alone = [batch.state(i) for i in range(TABLES)]
    rng = random.Random(5)
    while not batch.terminated.any():
        actions = chosen_actions(batch, rng)
        for state, action in zip(alone, actions.tolist(), strict=True):
            state.apply_action(action)
        batch.step(actions)
    seen = batch.observe(np.ones(TABLES, np.int64))
    assert [row.tobytes() for row in seen] == [state.observation(1).tobytes() for state in alone]


def test_observe_writes_to_a_given_array(game_id):
    batch = batch_of(game_id)
    out = np.full_like(batch.observation, 99)
    assert batch.observe(batch.current_player, out=out) is out
    assert (out == batch.observation).all()


@pytest.mark.parametrize("seats", [[-1] * TABLES, [99] * TABLES, [0], [0.0] * TABLES])
def test_observe_refuses_what_is_no_seat(game_id, seats):
    batch = batch_of(game_id)
    with pytest.raises(ValueError, match="seats"):
        batch.observe(np.array(seats))
    with pytest.raises(ValueError, match="out is a contiguous int8 array"):
        batch.observe(batch.current_player, out=np.zeros((TABLES, 3), np.int8))
    with pytest.raises(ValueError, match="out is a contiguous int8 array"):
        batch.observe(batch.current_player, out=[1])


def test_critic_state_is_the_observation_and_then_all_hands(game_id):
    batch = step_at_random(batch_of(game_id, critic_state=True), 20)
    deck, size = batch.game.rules.DECK, batch.game.observation_size
    assert (batch.critic_state[:, :size] == batch.observation).all()
    for i in range(TABLES):
        seat, state = batch.current_player[i], batch.state(i)
        hands = batch.critic_state[i, size:].reshape(-1, deck.num_cards)
        for place, hand in enumerate(hands):
            texts = {deck.text(card) for card in np.flatnonzero(hand)}
            assert texts == state.hands()[(seat + place) % batch.game.num_players]


def test_critic_state_must_be_asked_for(game_id):
    with pytest.raises(ValueError, match="critic_state=True"):
        _ = batch_of(game_id).critic_state


def test_legal_actions_list_the_masks(game_id):
    batch = step_at_random(batch_of(game_id), 20)
    ids, offsets = batch.legal_actions
    assert ids.dtype == offsets.dtype == np.int64
    for i in range(TABLES):
        assert (ids[offsets[i] : offsets[i + 1]] == np.flatnonzero(batch.action_mask[i])).all()


def test_a_state_taken_from_a_table_goes_its_own_way(game_id):
    batch = step_at_random(batch_of(game_id), 20)
    before = content(batch)
    play_out(batch.state(3))
    assert content(batch) == before


def test_set_state_puts_a_position_on_a_table(game_id):
    batch = step_at_random(batch_of(game_id, critic_state=True), 5)
    state = next(positions(batch.game, 1, seed=50))
    batch.set_state(2, state)
    assert sight(batch.state(2)) == sight(state)
    assert (batch.observation[2] == state.observation()).all()
    assert (batch.critic_state[2] == state.critic_state()).all()
    actions = chosen_actions(batch, random.Random(6))
    state.apply_action(int(actions[2]))
    batch.step(actions)
    assert state.is_terminal() or sight(batch.state(2)) == sight(state)


def test_set_state_takes_a_finished_table_too(game_id):
    batch = batch_of(game_id, autoreset=False)
    finished = play_out(batch.game.new_initial_state(seed=50))
    batch.set_state(2, finished)
    assert batch.current_player[2] == -1
    assert not batch.observation[2].any()
    assert batch.state(2).returns().tolist() == finished.returns().tolist()


def test_set_state_refuses_a_state_of_other_options_and_changes_nothing(game_id):
    batch = batch_of(game_id)
    before = content(batch)
    other = cardenvs.load_game(game_id, skip_forced=False).new_initial_state(seed=1)
    with pytest.raises(ValueError, match="does not fit tables of"):
        batch.set_state(0, other)
    for place in (-1, TABLES, 1.0):
        with pytest.raises(IndexError, match=f"tables here are 0 to {TABLES - 1}"):
            batch.state(place)
    assert content(batch) == before


# -- sample_actions ----------------------------------------------------------------------------


def test_sampled_actions_are_legal_and_uniform(game_id):
    batch = batch_of(game_id, num_envs=400, seed=np.full(400, 3))
    legal = np.flatnonzero(batch.action_mask[0])
    counts = Counter(int(action) for _ in range(10) for action in batch.sample_actions())
    assert set(counts) == set(legal.tolist())
    assert stats.chisquare([counts[action] for action in legal.tolist()]).pvalue > 1e-4


def test_sampled_actions_depend_on_seed_and_number_of_calls_alone(game_id):
    ours, theirs = batch_of(game_id), batch_of(game_id, num_threads=2)
    for _ in range(20):
        sampled = ours.sample_actions()
        assert (sampled == theirs.sample_actions()).all()
        ours.step(sampled)
        theirs.step(sampled)
    assert (batch_of(game_id).sample_actions() != batch_of(game_id, 8).sample_actions()).any()


def test_sampling_does_not_touch_the_deals(game_id):
    ours, theirs = batch_of(game_id), batch_of(game_id)
    for _ in range(10):
        ours.sample_actions()
    assert games_of(ours) == games_of(theirs)


def test_a_closed_batch_can_go_on(game_id):
    batch = batch_of(game_id, num_threads=3)
    step_at_random(batch, 3)
    batch.close()
    ours, theirs = games_of(batch, 20), games_of(step_at_random(batch_of(game_id), 3), 20)
    assert ours == theirs


# -- snapshots ---------------------------------------------------------------------------------


def go_on(batch, steps=80):
    """Play on at random by the batch's own numbers; return all that it then holds."""
    for _ in range(steps):
        batch.step(batch.sample_actions())
    return content(batch) | {"sampled": batch.sample_actions().tobytes()}


@pytest.mark.parametrize("autoreset", [True, False])
def test_a_restored_batch_goes_on_as_the_one_that_the_snapshot_is_of(game_id, autoreset):
    batch = batch_of(game_id, critic_state=True, autoreset=autoreset)
    go_on(batch)
    taken = batch.snapshot()
    other = batch_of(game_id, seed=8, critic_state=True, autoreset=autoreset, num_threads=2)
    go_on(other, 3)
    other.restore(taken)
    assert content(other) == content(batch)
    assert go_on(other) == go_on(batch)
    for each in (batch, other):
        each.reset()
    assert go_on(other) == go_on(batch)


def test_a_snapshot_and_a_batch_share_no_memory(game_id):
    batch = batch_of(game_id)
    taken = batch.snapshot()
    before = {name: array.copy() for name, array in taken.items()}
    assert all(array.dtype.names is None for array in taken.values())
    future = go_on(batch)
    batch.restore(taken)
    assert go_on(batch) == future
    for name, array in taken.items():
        assert (array == before[name]).all()


def test_a_restored_batch_counts_as_reset(game_id):
    batch = batch_of(game_id)
    other = cardenvs.make_batch(game_id, num_envs=TABLES, **CASES[game_id].short_episode)
    with pytest.raises(ValueError, match="call reset first"):
        other.snapshot()
    other.restore(batch.snapshot())
    assert sight(other.state(1)) == sight(batch.state(1))
    assert go_on(other) == go_on(batch)


def test_a_snapshot_is_restored_in_another_process_compiled_or_not(game_id, tmp_path):
    batch = batch_of(game_id, critic_state=True)
    go_on(batch, 20)
    np.savez(tmp_path / "taken.npz", **batch.snapshot())
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.core.go_on", game_id, "taken.npz", "went.npz"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    go_on(batch, 80)
    with np.load(tmp_path / "went.npz") as went:
        for name, array in batch.snapshot().items():
            assert (went[name] == array).all(), name


def wrong_snapshots(batch):
    taken = batch.snapshot()
    game = {"game_id": batch.game.id}
    others = {
        "game": {"game_id": next(other for other in GAME_IDS if other != batch.game.id)},
        "options": game | {"skip_forced": False},
        "num_envs": game | {"num_envs": TABLES + 1},
        "autoreset": game | {"autoreset": False},
        "critic_state": game | {"critic_state": True},
    }
    for name, other in others.items():
        yield batch_of(**other).snapshot(), f"a snapshot with {name} .* does not fit a batch with "
    about = np.frombuffer(bytes(taken["about"]).replace(b"[2]", b"[3]"), np.uint8)
    yield taken | {"about": about}, "another version of the game"
    nothing = np.frombuffer(b"{}", np.uint8)
    yield taken | {"about": nothing}, "a snapshot with game None does not fit"
    yield taken | {"units": taken["units"][:, 1:]}, r"units in the snapshot is int64 \[5, "
    yield taken | {"rows": taken["rows"].view(np.int8)}, "rows in the snapshot is int8"
    yield taken | {"sampling": np.zeros(3, np.int64)}, r"int64 \[3\], not int64 \[2\]"
    yield taken | {"more": np.zeros(1)}, "a snapshot holds rows, .*, not rows, .*, more"
    yield {name: array for name, array in taken.items() if name != "length"}, "a snapshot holds"


def test_wrong_snapshots_are_refused_and_change_nothing(game_id):
    batch, same = (step_at_random(batch_of(game_id), 10) for _ in range(2))
    for taken, message in wrong_snapshots(batch):
        with pytest.raises(ValueError, match=message):
            batch.restore(taken)
        assert content(batch) == content(same)
    assert go_on(batch) == go_on(same)
