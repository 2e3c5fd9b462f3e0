"""The face for Stable-Baselines3: credit, seats, ends, seeds, and its own conventions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import agents
import cardenvs

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from cardenvs.faces.sb3 import SelfPlayVecEnv

pytestmark = pytest.mark.interop


def make_env(num_envs: int = 8, seed: int | None = 1, **options: Any) -> SelfPlayVecEnv:
    opponents = [agents.make("bred_ryg", name, seed=5).act for name in ("random", "hints")]
    return SelfPlayVecEnv("bred_ryg", num_envs, opponents, seed=seed, **options)


def legal_actions(env: Any, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    masks = np.stack(env.env_method("action_masks"))
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def steps(env: Any, seed: int = 0) -> Iterator[Any]:
    """Play at random without end."""
    rng = np.random.default_rng(seed)
    env.reset()
    while True:
        yield env.step(legal_actions(env, rng))


def episodes(env: Any) -> Iterator[tuple[list[float], dict[str, Any]]]:
    """Play at random; give the learner's rewards and the last info of each episode."""
    rewards_of: list[list[float]] = [[] for _ in range(env.num_envs)]
    for _, rewards, dones, infos in steps(env):
        for i in range(env.num_envs):
            rewards_of[i].append(float(rewards[i]))
            if dones[i]:
                yield rewards_of[i], infos[i]
                rewards_of[i] = []


def first(count: int, stream: Iterator[Any]) -> list[Any]:
    return [item for _, item in zip(range(count), stream, strict=False)]


# ----------------------------------------------------------------------------------------------
# Credit


def test_the_last_transition_carries_the_loss(num_games: int) -> None:
    played = first(5 * num_games, episodes(make_env(32)))
    losses = 0
    for rewards, info in played:
        assert rewards[-1] == info["episode"]["r"]
        assert not any(rewards[:-1])
        assert len(rewards) == info["episode"]["l"]
        losses += rewards[-1] == -1.0
    assert losses > 0.1 * len(played)


@pytest.mark.parametrize("reward", ["loser", "zero_sum"])
def test_rewards_of_a_match_sum_to_its_return(reward: str, num_games: int) -> None:
    env = make_env(reward=reward, num_games=3, on_cap="share", no_progress_limit=2)
    for rewards, info in first(num_games // 5, episodes(env)):
        assert sum(rewards) == pytest.approx(info["episode"]["r"], abs=1e-5)


def test_a_loss_on_an_opponents_move_reaches_the_learner(num_games: int) -> None:
    player = agents.make("bred_ryg", "hints")
    calls = 0

    def opponent(observation: Any, mask: Any) -> Any:
        nonlocal calls
        calls += 1
        return player.act(observation, mask)

    env = SelfPlayVecEnv("bred_ryg", 1, opponent, seed=1)
    lost_on_others_move = 0
    for rewards, dones, others_moved in _single_table(env, num_games * 20, lambda: calls):
        lost_on_others_move += bool(dones[0] and others_moved and rewards[0] == -1.0)
    assert lost_on_others_move > 0


def _single_table(env: SelfPlayVecEnv, count: int, calls: Any) -> Iterator[Any]:
    rng = np.random.default_rng(0)
    env.reset()
    begin = env._begin
    at_end = [0]

    def begin_after_noting(*arguments: Any) -> None:  # the next episode's opponents move in it
        at_end[0] = calls()
        begin(*arguments)

    env._begin = begin_after_noting  # type: ignore[method-assign]
    for _ in range(count):
        before = calls()
        _, rewards, dones, _ = env.step(legal_actions(env, rng))
        yield rewards, dones, bool(dones[0]) and at_end[0] > before


def test_episodes_without_a_decision_of_the_learner_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deal = {"hands": ["2C QC 4D", "QH KH AH", ""], "stock": "", "trump": "H"}
    env = make_env(4, reward="zero_sum")
    reset = env._batch.reset
    monkeypatch.setattr(
        env._batch, "reset", lambda seed=None, mask=None: reset(seed, [deal] * 4, mask)
    )
    seats = {info["learner_seat"] for _, info in first(40, episodes(env))}
    assert seats == {0, 1}  # seat 2 has no cards from the start
    assert env.skipped_episodes > 5
    assert env.skipped_return == 0.5 * env.skipped_episodes


# ----------------------------------------------------------------------------------------------
# Ends


def test_the_terminal_observation_is_the_learners_view_of_the_end(num_games: int) -> None:
    env = make_env()
    high = env.game.layout.high
    for rewards, info in first(num_games // 5, episodes(env)):
        view = np.rint(info["terminal_observation"] * high).astype(np.int8)
        decoded = env.game.layout.decode(view)
        assert decoded["phase"] == "over"
        assert decoded["lost"][0] / 60 == -rewards[-1]
        assert bool(decoded["hand"]) == (rewards[-1] == -1.0)


def test_a_cap_is_an_end_like_any_other(num_games: int) -> None:
    env = make_env(no_progress_limit=1)
    infos = [info for _, info in first(num_games // 5, episodes(env))]
    assert any(info["capped"] for info in infos)
    assert not any(info["TimeLimit.truncated"] for info in infos)
    infos = [info for _, info in first(num_games // 5, episodes(make_env()))]
    assert not all(info["capped"] for info in infos)


# ----------------------------------------------------------------------------------------------
# Seats, opponents, seeds


def test_the_learner_sits_everywhere(num_games: int) -> None:
    played = first(2 * num_games, episodes(make_env(32)))
    counts = np.bincount([info["learner_seat"] for _, info in played], minlength=3)
    spread = np.sqrt(len(played) * 2 / 9)
    assert (abs(counts - len(played) / 3) < 4 * spread).all()


def test_the_learner_sits_where_it_is_told(num_games: int) -> None:
    played = first(num_games // 5, episodes(make_env(learner_seat=2)))
    assert {info["learner_seat"] for _, info in played} == {2}


def test_opponents_are_drawn_by_their_probabilities() -> None:
    asked = [0, 0]

    def counting(number: int) -> Any:
        act = agents.make("bred_ryg", "random", seed=number).act

        def opponent(observation: Any, mask: Any) -> Any:
            asked[number] += len(mask)
            return act(observation, mask)

        return opponent

    env = SelfPlayVecEnv("bred_ryg", 48, [counting(0), counting(1)], [0.8, 0.2], seed=1)
    first(15, steps(env))
    assert 0.6 < asked[0] / sum(asked) < 0.95
    env.set_opponent(0, counting(1))
    before = asked[0]
    env.step(legal_actions(env, np.random.default_rng(1)))
    assert asked[0] == before


def test_the_seed_decides() -> None:
    def trace(env: SelfPlayVecEnv) -> list[Any]:
        return first(20, ((o.sum(), r.tolist(), d.tolist()) for o, r, d, _ in steps(env)))

    once, again, other = make_env(), make_env(), make_env(seed=2)
    told = make_env(seed=3)
    told.seed(1)
    assert trace(once) == trace(again) == trace(told)
    assert trace(other) != trace(make_env())


def test_two_resets_do_not_repeat_the_deal() -> None:
    env = make_env()
    assert (env.reset() != env.reset()).any()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"learner_seat": 3}, "a seat from 0 to 2, not 3"),
        ({"learner_seat": "left"}, "not 'left'"),
        ({"probabilities": [0.5, 0.6]}, "sum to 1"),
        ({"probabilities": [1.0]}, "2 numbers"),
    ],
)
def test_bad_arguments(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_env(**wrong)
    with pytest.raises(ValueError, match="at least one"):
        SelfPlayVecEnv("bred_ryg", 4, [])


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    env = make_env(4)
    env.reset()
    actions = legal_actions(env, np.random.default_rng(0))
    before = env.action_masks()
    wrong = actions.copy()
    wrong[2] = np.flatnonzero(before[2] == 0)[0]
    with pytest.raises(cardenvs.IllegalActionError, match="table 2"):
        env.step(wrong)
    assert (env.action_masks() == before).all()
    env.step(actions)


# ----------------------------------------------------------------------------------------------
# What Stable-Baselines3 expects


def test_spaces_and_masks() -> None:
    env = make_env(4)
    assert is_masking_supported(env)
    for observations, rewards, dones, infos in first(60, steps(env)):
        assert observations.dtype == rewards.dtype == np.float32
        assert dones.dtype == np.bool_
        assert all(env.observation_space.contains(row) for row in observations)
        assert all(
            env.observation_space.contains(info["terminal_observation"])
            for info, done in zip(infos, dones, strict=True)
            if done
        )
    masks = get_action_masks(env)
    assert masks.any(axis=1).all()
    assert (masks == env.action_masks()).all()
    assert (env.env_method("action_masks", indices=2) == masks[2]).all()
    assert env.get_attr("render_mode") == [None] * 4
    assert env.env_is_wrapped(VecMonitor, indices=[0, 1]) == [False, False]
    with pytest.raises(AttributeError, match="action_masks"):
        env.env_method("dance")


def test_our_episode_info_is_that_of_the_monitor() -> None:
    plain, monitored = make_env(), VecMonitor(make_env())
    for (_, _, _, ours), (_, _, _, theirs) in zip(
        first(60, steps(plain)), first(60, steps(monitored)), strict=True
    ):
        for mine, other in zip(ours, theirs, strict=True):
            assert ("episode" in mine) == ("episode" in other)
            if "episode" in mine:
                for key in "rl":
                    assert mine["episode"][key] == pytest.approx(other["episode"][key])


def test_maskable_ppo_learns_on_it_and_is_evaluated() -> None:
    env = make_env(4)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=32, n_epochs=1, device="cpu")
    model.learn(64)
    mean, _ = evaluate_policy(model, VecMonitor(make_env(2)), n_eval_episodes=2)
    assert -1.0 <= mean <= 0.0
