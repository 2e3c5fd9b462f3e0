"""The networks of our own learners, and that `agents.learned` plays their copies as they play."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import cardenvs
from cardenvs.core.batch import Batch
from cardenvs.core.game import Game
from training.networks import ActorCritic, SharedLinear, features_of_actions, log_probabilities

#: A game, and whether its actions share weights.
KINDS = [("bred_ryg", False), ("brede_mette", True)]

each_kind = pytest.mark.parametrize(("game_id", "shares"), KINDS)

#: Two logits that are nearer to each other may swap places in another order of sums.
MARGIN = 1e-4


def network_of(game: Game, shares: bool, is_central: bool = True) -> ActorCritic:
    """Return a network with preferences: at first its logits are all but equal."""
    torch.manual_seed(1)
    network = ActorCritic(game, (64, 32), is_central, shares)
    with torch.no_grad():
        for weight in network.actor.last.parameters():
            weight.normal_(0.0, 0.3)
    return network


def positions(game: Game) -> tuple[Any, Any, Any]:
    """Return critic states, observations and masks from the midst of random games."""
    batch = played(game.id)
    return batch.critic_state.copy(), batch.observation.copy(), batch.action_mask.copy()


@cache
def played(game_id: str) -> Batch:
    batch = cardenvs.make_batch(game_id, 100, seed=2, critic_state=True)
    batch.reset()
    for _ in range(10):
        batch.step(batch.sample_actions())
    return batch


@each_kind
@torch.no_grad()
def test_the_agent_answers_as_the_network_does(game_id: str, shares: bool) -> None:
    game = cardenvs.load_game(game_id)
    network = network_of(game, shares)
    _, observation, mask = positions(game)
    logits = network.actor(torch.as_tensor(observation)).numpy()
    agent = network.agent(greedy=True)
    assert agent.logits(observation).dtype == np.float32
    assert agent.logits(observation) == pytest.approx(logits, abs=MARGIN / 2)
    legal = np.where(mask == 1, logits, -np.inf)
    second, best = np.sort(legal, axis=1)[:, -2:].T
    is_clear = best - second > MARGIN
    assert is_clear.mean() > 0.9
    assert (agent.act(observation, mask) == legal.argmax(axis=1))[is_clear].all()


def test_the_agent_is_a_copy() -> None:
    game = cardenvs.load_game("bred_ryg")
    network = network_of(game, shares=False)
    _, observation, _ = positions(game)
    agent = network.agent()
    before = agent.logits(observation)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(1.0)
    assert (agent.logits(observation) == before).all()
    assert (network.agent().logits(observation) != before).any()


@torch.no_grad()
def test_the_merged_layer_is_the_shared_one() -> None:
    rng = np.random.default_rng(1)
    features = rng.integers(0, 2, (7, 3)).astype(np.float32)
    layer = SharedLinear(5, features)
    for weight in layer.parameters():
        weight.normal_()
    inputs = torch.randn(11, 5)
    expected = np.empty((11, 7), np.float32)
    for action in range(7):
        weight, bias = layer.weight[action].clone(), layer.bias[action].clone()
        for feature in np.flatnonzero(features[action]):
            weight += layer.shared_weight[feature]
            bias += layer.shared_bias[feature]
        expected[:, action] = inputs @ weight + bias
    assert layer(inputs).numpy() == pytest.approx(expected, abs=1e-5)
    assert (layer(inputs) == functional.linear(inputs, *layer.merged())).all()


@each_kind
@torch.no_grad()
def test_bfloat16_is_close_to_float32(game_id: str, shares: bool) -> None:
    game = cardenvs.load_game(game_id)
    network = network_of(game, shares)
    state, observation, mask = map(torch.as_tensor, positions(game))
    exact = log_probabilities(network.actor, observation, mask)
    value = network.value(state)
    with torch.autocast("cpu", torch.bfloat16):
        rough = log_probabilities(network.actor, observation, mask)
        rough_value = network.value(state)
    assert rough.dtype == rough_value.dtype == torch.float32
    assert 0.0 < (rough.exp() - exact.exp()).abs().max() < 0.02
    assert (rough_value - value).abs().max() < 0.02 * (1.0 + value.abs().max())


@each_kind
@torch.no_grad()
def test_illegal_actions_have_no_chance(game_id: str, shares: bool) -> None:
    game = cardenvs.load_game(game_id)
    _, observation, mask = map(torch.as_tensor, positions(game))
    chances = log_probabilities(network_of(game, shares).actor, observation, mask).exp()
    assert not chances[mask == 0].any()
    assert chances.sum(1).numpy() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("is_central", [False, True])
@torch.no_grad()
def test_only_a_central_critic_sees_the_hands(is_central: bool) -> None:
    game = cardenvs.load_game("bred_ryg")
    network = network_of(game, shares=False, is_central=is_central)
    state = torch.as_tensor(positions(game)[0])
    size = game.critic_state_size if is_central else game.observation_size
    values = network.value(state[:, :size])
    assert values.shape == (len(state),)
    if is_central:
        state[:, game.observation_size :] = 0
        assert (network.value(state) != values).any()


@torch.no_grad()
def test_inputs_count_by_their_scale() -> None:
    """A piece of the observation in large numbers weighs no more than a flag."""
    game = cardenvs.load_game("bred_ryg")
    actor = network_of(game, shares=False).actor
    observation = torch.as_tensor(positions(game)[1])
    first, second = actor.hidden
    scaled = observation * torch.as_tensor(game.layout.scale)
    expected = actor.last(functional.relu(second(functional.relu(first(scaled)))))
    assert actor(observation).numpy() == pytest.approx(expected.numpy(), abs=1e-4)


def test_actions_of_a_card_share_its_features() -> None:
    game = cardenvs.load_game("brede_mette")
    features, card = features_of_actions(game), game.rules.DECK.card("8S")
    first = game.action_features.shape[1]
    same = [card, 52 + card, 104 + card, 312 + 52 + card]
    assert all(features[action, first + card] == 1.0 for action in same)
    assert features[:, first:].sum() == 520  # every action but `stop` and `take`
