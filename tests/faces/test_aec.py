"""The PettingZoo face of every game: PettingZoo's own tests, and what those leave out."""

from __future__ import annotations

import copy
import importlib
import pickle
import random
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter, methodcaller
from types import ModuleType
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

import cardenvs
from cardenvs.core.batch import Batch
from cardenvs.core.errors import DealError, IllegalActionError, OptionError
from cardenvs.core.rng import table_seed
from cardenvs.core.state import State
from cardenvs.faces.aec import CheckedEnv, RawEnv
from tests.oracles.cases import CASES
from tests.oracles.compare import choose

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its fixtures import a moved module
    from pettingzoo.test import api_test, render_test, seed_test

Env = Any  # RawEnv, CheckedEnv, or PettingZoo's wrappers around one

#: What `api_test` says to every observation of the form that PettingZoo's own games have.
UNAVOIDABLE = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",
}

#: What the wrappers let through or hold back.
SHOWN = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos")


@pytest.fixture(params=cardenvs.game_ids())
def game_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def module(game_id: str) -> ModuleType:
    return importlib.import_module(f"cardenvs.{game_id.replace('-', '_')}")


@pytest.fixture(params=["raw_env", "env", "env that raises"])
def make(request: pytest.FixtureRequest, module: ModuleType) -> Callable[..., Env]:
    if request.param == "raw_env":
        return module.raw_env
    if request.param == "env":
        return module.env
    return lambda **options: module.env(illegal_action="raise", **options)


def standard_stack(env: RawEnv) -> Env:
    inner = TerminateIllegalWrapper(env, illegal_reward=env.game.min_return)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(inner))


def legal_actions(env: Env) -> list[int]:
    mask = env.observe(env.agent_selection)["action_mask"]
    legal: list[int] = np.flatnonzero(mask).tolist()
    return legal


def illegal_action(env: Env) -> int:
    mask = env.observe(env.agent_selection)["action_mask"]
    return int(np.flatnonzero(mask == 0)[0])


def choose_step(env: Env, rng: random.Random) -> int | None:
    if env.terminations[env.agent_selection]:
        return None
    return rng.choice(legal_actions(env))


def play_decisions(env: Env, rng: random.Random, count: int) -> None:
    """Make some random moves, fewer if the game ends."""
    for _ in range(count):
        if not env.agents or env.terminations[env.agent_selection]:
            return
        env.step(choose_step(env, rng))


def play_to_end(env: Env, rng: random.Random) -> Iterator[str]:
    """Play at random; yield the agent before each of its steps, those of the dead included."""
    while env.agents:
        yield env.agent_selection
        env.step(choose_step(env, rng))


def options_of(game_id: str, rng: random.Random) -> dict[str, Any]:
    return CASES[game_id].random_options(rng)


def snapshot(env: Env) -> dict[str, Any]:
    """Everything that an environment shows."""
    shown = {name: copy.deepcopy(getattr(env, name)) for name in SHOWN}
    shown["last"] = [env._cumulative_rewards[agent] for agent in env.agents]
    shown["state"] = env.state().tolist()
    for agent in env.possible_agents:
        seen = env.observe(agent)
        shown[agent] = {name: array.tolist() for name, array in seen.items()}
    return shown


# ----------------------------------------------------------------------------------------------
# PettingZoo's own tests


def test_api_with_only_the_unavoidable_warnings(make: Callable[..., Env], num_games: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(), num_cycles=min(1000, 10 * num_games))
    assert {str(warning.message) for warning in caught} == UNAVOIDABLE


def test_seed(make: Callable[..., Env]) -> None:
    seed_test(make)


def test_render(make: Callable[..., Env], capsys: pytest.CaptureFixture[str]) -> None:
    render_test(make)
    assert capsys.readouterr().out  # "human" prints


def test_registered_by_name(game_id: str, module: ModuleType) -> None:
    env = pettingzoo.make("aec", f"cardenvs/{game_id}", skip_forced=False)
    assert type(env) is CheckedEnv
    assert type(env.unwrapped) is module.raw_env
    assert str(env) == str(env.unwrapped) == env.metadata["name"] == game_id.replace("-", "_")


def test_constructors_pickle(module: ModuleType) -> None:
    for constructor in (module.env, module.raw_env):
        assert pickle.loads(pickle.dumps(constructor)) == constructor


# ----------------------------------------------------------------------------------------------
# What those do not test


def check_views(env: Env) -> None:
    """Every agent can be observed; only the one on turn has a mask; all arrays are fresh."""
    on_turn = None
    if env.agents and not env.terminations[env.agent_selection]:
        on_turn = env.agent_selection
    for agent in env.possible_agents:
        seen = env.observe(agent)
        assert env.observation_space(agent).contains(seen)
        assert seen["action_mask"].any() == (agent == on_turn)
        assert not np.shares_memory(seen["action_mask"], env.observe(agent)["action_mask"])
        assert not np.shares_memory(seen["observation"], env.observe(agent)["observation"])
    assert env.state_space.contains(env.state())
    table = env.unwrapped._state
    if on_turn is not None:
        assert on_turn == f"player_{table.current_player}"
        assert legal_actions(env) == table.legal_actions()


def check_books(env: Env) -> None:
    """All agents of the game have an entry of plain Python in each dict."""
    for name in ("rewards", "terminations", "truncations", "infos"):
        assert list(getattr(env, name)) == env.agents
    assert all(type(value) is float for value in env.rewards.values())
    assert all(type(value) is float for value in env._cumulative_rewards.values())
    flags = [*env.terminations.values(), *env.truncations.values()]
    assert all(type(value) is bool for value in flags)
    assert all(value == {} for value in env.infos.values())
    assert len(set(env.terminations.values())) <= 1
    assert len(set(env.truncations.values())) <= 1


def test_views_and_books_at_every_step(
    make: Callable[..., Env], game_id: str, num_games: int
) -> None:
    rng = random.Random(3)
    for number in range(max(3, num_games // 20)):
        env = make(**options_of(game_id, rng))
        for episode in range(2):
            env.reset(seed=number if episode == 0 else None)
            assert env.agents == env.possible_agents
            for _ in play_to_end(env, rng):
                check_views(env)
                check_books(env)
            check_views(env)
            check_books(env)


def test_rewards_accumulate_until_an_agents_next_step(
    make: Callable[..., Env], game_id: str, num_games: int
) -> None:
    rng = random.Random(4)
    for seed in range(max(3, num_games // 10)):
        env = make(**options_of(game_id, rng))
        env.reset(seed=seed)
        since_last = dict.fromkeys(env.possible_agents, 0.0)
        total = dict.fromkeys(env.possible_agents, 0.0)
        while env.agents:
            agent = env.agent_selection
            observation, reward, *_ = env.last(observe=False)
            assert (observation, reward) == (None, since_last[agent])
            since_last[agent] = 0.0
            env.step(choose_step(env, rng))
            for name, value in env.rewards.items():
                since_last[name] += value
                total[name] += value
        returns = env.unwrapped._state.returns()
        np.testing.assert_allclose(list(total.values()), returns, atol=1e-5)


def test_end_comes_for_all_agents_in_one_step(make: Callable[..., Env], game_id: str) -> None:
    env = make(**CASES[game_id].short_episode)
    env.reset(seed=5)
    rng = random.Random(5)
    while not any(env.terminations.values()):
        env.step(choose_step(env, rng))
    assert env.agents == env.possible_agents
    assert all(env.terminations.values())
    assert list(env.rewards.values()) == env.unwrapped._state.returns().tolist()
    for agent in env.possible_agents:
        assert env.agent_selection == agent
        assert env.last()[1] == env.unwrapped._state.returns()[env.possible_agents.index(agent)]
        with pytest.raises(ValueError, match="only valid action is None"):
            env.step(0)
        env.step(None)
    assert env.agents == []


def test_dead_agents_leave_as_pettingzoo_has_it(module: ModuleType) -> None:
    env = module.raw_env()
    env.reset(seed=6)
    rng = random.Random(6)
    mover = env.agent_selection
    while not any(env.terminations.values()):
        mover = env.agent_selection
        env.step(choose_step(env, rng))
    for _ in env.possible_agents:
        env.step(None)
    assert env.agent_selection == mover  # PettingZoo restores who was on turn
    with pytest.raises(IllegalActionError, match="reset the environment"):
        env.step(None)


def test_cap_truncates_and_terminates(module: ModuleType, game_id: str) -> None:
    case, rng = CASES[game_id], random.Random(7)
    if "on_cap" not in cardenvs.load_game(game_id).options:
        pytest.skip("this game has no cap")
    for seed in range(200):
        options = case.random_options(rng)
        if not case.ends_soon(options):
            continue
        env = module.raw_env(**options)
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            env.step(choose(case, env._state, rng, 0.9))
        is_capped = env._state.is_truncated()
        assert list(env.truncations.values()) == [is_capped] * len(env.agents)
        if is_capped:
            return
    pytest.fail("no game met its cap")


def test_seed_starts_a_stream_that_reset_goes_on_with(make: Callable[..., Env]) -> None:
    first, second = make(), make()
    first.reset(seed=8)
    deals = [first.unwrapped._state.to_deal()]
    for _ in range(3):
        first.reset()
        deals.append(first.unwrapped._state.to_deal())
    assert all(deals.count(deal) == 1 for deal in deals)
    for number, deal in enumerate(deals):
        second.reset(seed=np.int64(8) if number == 0 else None)
        assert second.unwrapped._state.to_deal() == deal
        play_decisions(second, random.Random(8), 7)  # play does not change later deals


def test_streams_without_a_seed_differ(make: Callable[..., Env]) -> None:
    deals = []
    for _ in range(2):
        env = make()
        env.reset()
        deals.append(env.unwrapped._state.to_deal())
    assert deals[0] != deals[1]


def test_given_deal_is_the_first_deal_only(make: Callable[..., Env], game_id: str) -> None:
    env, rng = make(), random.Random(9)
    deal = CASES[game_id].random_deal(rng, env.game.options)
    env.reset(seed=9, options={"deal": deal})
    expected = env.game.new_initial_state(seed=9, deal=deal)
    assert env.unwrapped._state.to_deal() == expected.to_deal()
    assert env.state().tolist() == expected.critic_state(max(0, expected.current_player)).tolist()
    env.reset()
    other = make()
    other.reset(seed=9)
    other.reset()
    assert snapshot(env) == snapshot(other)


def test_deal_without_a_decision(make: Callable[..., Env], game_id: str) -> None:
    case, rng = CASES[game_id], random.Random(10)
    env = make()
    for _ in range(3000):
        deal = case.random_deal(rng, env.game.options)
        expected = env.game.new_initial_state(seed=0, deal=deal)
        if expected.is_terminal():
            break
    else:
        pytest.skip("no such deal found")
    env.reset(seed=0, options={"deal": deal})
    assert env.agents == env.possible_agents
    assert all(env.terminations.values())
    for value in expected.returns().tolist():
        assert env.last()[1] == value
        check_views(env)
        env.step(None)
    assert env.agents == []


# ----------------------------------------------------------------------------------------------
# Bad input


def unchanged_by(env: Env, call: Callable[[], Any], error: type[Exception], match: str) -> None:
    before = env.get_state(), snapshot(env)
    with pytest.raises(error, match=match):
        call()
    assert (env.get_state(), snapshot(env)) == before


@pytest.mark.parametrize("action", [-1, 10**30, True, 1.0, None, "0", np.float32(1), np.True_])
def test_action_that_is_none_raises(make: Callable[..., Env], action: Any) -> None:
    env = make()
    env.reset(seed=11)
    is_lenient = isinstance(env, CheckedEnv) and env._illegal_action == "terminate"
    error = AssertionError if is_lenient else IllegalActionError
    message = "not in action space" if is_lenient else "not legal for player"
    unchanged_by(env, lambda: env.step(action), error, message)


def test_illegal_action_raises(module: ModuleType) -> None:
    for env in (module.raw_env(), module.env(illegal_action="raise")):
        env.reset(seed=12)
        play_decisions(env, random.Random(12), 5)
        for action in (illegal_action(env), np.int64(illegal_action(env)), env.game.num_actions):
            unchanged_by(
                env, partial(env.step, action), IllegalActionError, "is not legal for player"
            )


def test_whole_numbers_of_numpy_are_actions(make: Callable[..., Env]) -> None:
    for kind in (np.int8, np.int32, np.int64, np.uint8, np.uint64, np.array):
        first, second = make(), make()
        first.reset(seed=13)
        second.reset(seed=13)
        action = legal_actions(first)[-1]
        first.step(action)
        second.step(kind(action))
        assert snapshot(first) == snapshot(second)


def test_bad_reset_leaves_the_game_alone(make: Callable[..., Env]) -> None:
    env = make()
    env.reset(seed=14)
    play_decisions(env, random.Random(14), 5)
    broken = {"deal": {"no such key": 1}}
    unchanged_by(env, lambda: env.reset(options=broken), DealError, "no such key")
    unchanged_by(env, lambda: env.reset(seed=1, options=broken), DealError, "no such key")
    unchanged_by(env, lambda: env.reset(seed=-1), ValueError, "at least 0")
    unchanged_by(env, lambda: env.reset(seed=True), TypeError, "whole number")
    other = make()
    other.reset(seed=14)
    for each in (env, other):  # a failed reset uses up no episode
        each.reset()
    assert snapshot(env) == snapshot(other)


def test_failed_first_reset_is_none(module: ModuleType) -> None:
    env = module.env()
    with pytest.raises(DealError):
        env.reset(options={"deal": 3})
    with pytest.raises(AssertionError, match="reset"):
        env.step(0)


def test_foreign_keys_of_reset_are_ignored(make: Callable[..., Env]) -> None:
    first, second = make(), make()
    first.reset(seed=15, options={"options": 1, "deal": None})
    second.reset(seed=15)
    assert snapshot(first) == snapshot(second)


def test_bad_arguments(module: ModuleType) -> None:
    with pytest.raises(OptionError, match="illegal_action='forgive': allowed are 'terminate'"):
        module.env(illegal_action="forgive")
    for constructor in (module.env, module.raw_env):
        with pytest.raises(OptionError, match="render_mode='rgb_array': allowed are None, 'ansi'"):
            constructor(render_mode="rgb_array")
        with pytest.raises(OptionError, match="num_players=99"):
            constructor(num_players=99)
        with pytest.raises(OptionError, match="no option is called 'colour'"):
            constructor(colour="red")


def test_render_without_a_mode_warns_as_pettingzoo_has_it(module: ModuleType) -> None:
    env = module.env()
    env.reset(seed=16)
    with pytest.warns(UserWarning, match="without specifying any render mode"):
        assert env.render() is None


def test_nothing_is_there_before_reset(module: ModuleType) -> None:
    env = module.raw_env()
    for name in SHOWN:
        with pytest.raises(AttributeError, match=f"{name} cannot be accessed before reset"):
            getattr(env, name)
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        env.colour  # noqa: B018  # it is the access that raises


# ----------------------------------------------------------------------------------------------
# The fused wrapper against PettingZoo's three


def outcome_of(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call returns, or the type and the words of what it raises, and what it logs."""
    EnvLogger.flush()
    try:
        returned = call(*arguments)
    except Exception as error:
        returned = (type(error), str(error))
    return plain(returned), list(EnvLogger.mqueue)


def plain(value: Any) -> Any:
    """Make a value with arrays in it one that == compares."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return value


def shown_by(env: Env) -> list[Any]:
    names = (*SHOWN, "num_agents", "possible_agents", "max_num_agents", "_cumulative_rewards")
    return [outcome_of(getattr, env, name) for name in names]


def random_call(env: Env, rng: random.Random) -> Callable[[Env], Any]:
    """Choose something to do to an environment, sensible or not."""
    agent = rng.choice(env.possible_agents)
    size = env.game.num_actions
    odd = rng.choice([None, -1, size, 10**30, 1.0, "0", np.int32(0), np.array([0]), np.array(0)])
    return rng.choice(
        [
            methodcaller("step", odd),
            methodcaller("step", rng.randrange(size)),
            methodcaller("observe", agent),
            methodcaller("last"),
            methodcaller("last", observe=False),
            methodcaller("state"),
            methodcaller("render"),
            methodcaller("__str__"),
            lambda env: next(iter(env.agent_iter())),
            methodcaller("observation_space", agent),
            methodcaller("close"),
            attrgetter("_private"),
            attrgetter("metadata"),
        ]
    )


def test_checked_env_does_what_the_standard_stack_does(
    module: ModuleType, game_id: str, num_games: int
) -> None:
    rng = random.Random(17)
    for _ in range(max(10, num_games)):
        options = {**options_of(game_id, rng), "render_mode": "ansi"}
        fused, stack = module.env(**options), standard_stack(module.raw_env(**options))
        play_side_by_side(fused, stack, rng)


def play_side_by_side(fused: Env, stack: Env, rng: random.Random) -> None:
    """Do the same to both, at first before any reset."""
    for number in range(120):
        if number < 10:
            call = random_call(fused, rng)
        elif number == 10 or rng.random() < 0.02:
            call = methodcaller("reset", seed=rng.randrange(1000))
        elif fused.agents and rng.random() < 0.8:
            call = methodcaller("step", choose_step(fused, rng))
        else:
            call = random_call(fused, rng)
        assert outcome_of(call, fused) == outcome_of(call, stack)
        assert shown_by(fused) == shown_by(stack)


def test_iterating_without_a_step_is_refused(module: ModuleType) -> None:
    env = module.env()
    with pytest.raises(AssertionError, match="reset"):
        env.agent_iter()
    env.reset(seed=18)
    with pytest.raises(AssertionError, match="need to call step"):
        for _ in env.agent_iter():
            pass


def test_illegal_action_ends_the_game(module: ModuleType, game_id: str) -> None:
    rng = random.Random(19)
    for seed in range(20):
        env = module.env(**options_of(game_id, rng))
        env.reset(seed=seed)
        play_decisions(env, rng, seed)
        if any(env.terminations.values()) or not env.agents:
            continue
        offender, owed = env.agent_selection, dict(env.unwrapped._cumulative_rewards)
        env.step(illegal_action(env))
        owed[offender] = 0.0
        penalties = dict.fromkeys(env.agents, 0.0) | {offender: env.game.min_return}
        assert env.rewards == penalties
        for agent in env.possible_agents:
            assert env.agent_selection == agent
            assert env.last()[1:] == (owed[agent] + penalties[agent], True, True, {})
            check_views(env)
            check_books(env)
            env.step(None)
        assert env.agents == []
        env.reset()
        assert env.agents == env.possible_agents
        check_views(env)


# ----------------------------------------------------------------------------------------------
# Copies


def copies_of(env: Env, fresh: Env) -> list[Env]:
    fresh.set_state(env.get_state())
    return [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env.clone(), fresh]


def story(env: Env, rng: random.Random) -> list[Any]:
    """Play to the end and begin the next episode; return all that was shown on the way."""
    shown = [snapshot(env)]
    while env.agents:
        env.step(choose_step(env, rng))
        shown.append(snapshot(env))
    env.reset()
    shown.append(snapshot(env))
    return shown


def test_copies_go_on_to_the_same_end(
    make: Callable[..., Env], game_id: str, num_games: int
) -> None:
    rng = random.Random(20)
    for number in range(max(2, num_games // 20)):
        options = options_of(game_id, rng)
        env = make(**options)
        env.reset(seed=number)
        play_decisions(env, rng, rng.randrange(60))
        if env.agents and env.terminations[env.agent_selection]:
            env.step(None)  # a copy in the middle of the dead steps
        stories = [story(each, random.Random(0)) for each in copies_of(env, make(**options))]
        expected = story(env, random.Random(0))
        assert all(told == expected for told in stories)


def test_copy_after_an_illegal_ending(module: ModuleType) -> None:
    env = module.env()
    env.reset(seed=21)
    env.step(illegal_action(env))
    env.step(None)
    stories = [story(each, random.Random(0)) for each in copies_of(env, module.env())]
    expected = story(env, random.Random(0))
    assert all(told == expected for told in stories)


def test_copies_are_of_the_same_kind(make: Callable[..., Env]) -> None:
    env = make(render_mode="ansi")
    for each in (copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env.clone()):  # unreset
        assert type(each) is type(env)
        assert each.render_mode == "ansi"
        assert not hasattr(each, "agents")
    env.reset(seed=22)
    for each in copies_of(env, make()):
        assert (type(each), type(each.unwrapped)) == (type(env), type(env.unwrapped))
        assert getattr(each, "_illegal_action", None) == getattr(env, "_illegal_action", None)


def test_state_passes_through_the_standard_stack(module: ModuleType) -> None:
    env, stack = module.env(), standard_stack(module.raw_env())
    env.reset(seed=23)
    play_decisions(env, random.Random(23), 9)
    stack.reset()
    stack.set_state(env.get_state())
    for each in (copy.deepcopy(stack), pickle.loads(pickle.dumps(stack)), stack):
        assert snapshot(each) == snapshot(env)


def test_broken_state_is_refused(make: Callable[..., Env]) -> None:
    env = make()
    env.reset(seed=24)
    play_decisions(env, random.Random(24), 4)
    other = make(skip_forced=False)
    other.reset(seed=24)
    contents = [b"", b"{}", b"nonsense", env.unwrapped._state.get_state(), other.get_state(), "{}"]
    contents += [env.get_state()[:-1]]
    for content in contents:
        unchanged_by(env, partial(env.set_state, content), ValueError, "these bytes are")


# ----------------------------------------------------------------------------------------------
# One seed, one game


class Twins:
    """The games of one seed, as an AEC environment and as a `State`."""

    def __init__(self, env: RawEnv, seed: int) -> None:
        self.env = env
        self.seed = seed
        self.episode = -1
        self.begin()

    def begin(self) -> None:
        """Go on to the next episode that has a decision, as a batch does."""
        while True:
            self.episode += 1
            self.env.reset(seed=self.seed if self.episode == 0 else None)
            self.state = State.begin(self.env.game, self.seed, episode=self.episode)
            assert self.env._state.to_deal() == self.state.to_deal()
            if not self.state.is_terminal():
                return


def check_table(batch: Batch, i: int, twins: Twins) -> None:
    env, state = twins.env, twins.state
    seat = state.current_player
    assert (batch.current_player[i], env.agent_selection) == (seat, f"player_{seat}")
    for observer, agent in enumerate(env.possible_agents):
        expected = state.observation(observer).tolist()
        seen = env.observe(agent)
        assert seen["observation"].tolist() == expected
        assert seen["action_mask"].tolist() == state.action_mask(observer).tolist()
        assert batch.observe(np.full(batch.num_envs, observer))[i].tolist() == expected
    assert batch.observation[i].tolist() == state.observation().tolist()
    assert batch.action_mask[i].tolist() == state.action_mask().tolist()
    assert batch.critic_state[i].tolist() == env.state().tolist() == state.critic_state().tolist()


def check_step(batch: Batch, i: int, twins: Twins, action: int) -> None:
    env, state = twins.env, twins.state
    before = state.returns()
    env.step(action)
    state.apply_action(action)
    assert list(env.rewards.values()) == batch.reward[i].tolist()
    np.testing.assert_allclose(batch.reward[i], state.returns() - before, atol=1e-6)
    assert set(env.terminations.values()) == {state.is_terminal()} == {bool(batch.terminated[i])}
    assert set(env.truncations.values()) == {state.is_truncated()} == {bool(batch.truncated[i])}
    if state.is_terminal():
        assert batch.episode_return[i].tolist() == state.returns().astype(np.float32).tolist()
        twins.begin()


@pytest.mark.parametrize(("num_envs", "num_threads"), [(1, 1), (3, 2)])
def test_same_game_as_state_and_batch(
    module: ModuleType, game_id: str, num_envs: int, num_threads: int, num_games: int
) -> None:
    rng = random.Random(25)
    for seed in range(3):
        options = options_of(game_id, rng)
        batch = cardenvs.make_batch(
            game_id, num_envs, seed, num_threads, critic_state=True, **options
        )
        batch.reset()
        tables = [Twins(module.raw_env(**options), table_seed(seed, i)) for i in range(num_envs)]
        for _ in range(min(300, 3 * num_games)):
            for i, twins in enumerate(tables):
                check_table(batch, i, twins)
            actions = [rng.choice(twins.state.legal_actions()) for twins in tables]
            batch.step(np.array(actions))
            for i, twins in enumerate(tables):
                check_step(batch, i, twins, actions[i])
        batch.close()
