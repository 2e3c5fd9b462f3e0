"""Networks in torch for our own learners; `agents.learned` plays their copies without torch.

Letters of shapes: N positions, M pairs of a position and an action, O observation size, S critic
state size, A actions, F features, H width of the first layer.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from agents.learned import NetworkAgent, ValueAgent
from cardenvs.core.game import Game
from training.sparse import Entries, entries_of

#: What stands for the logit of an illegal action: no chance, and yet no infinity in the entropy.
IMPOSSIBLE = -1e9

#: Below it a log-probability is as good as none; the exponential of less is no normal float32, and
#: takes ten times as long.
_LEAST_LOG = -80.0


class Perceptron(nn.Module):
    """Linear layers with ReLU between them, over plain int8 inputs.

    What the inputs are multiplied by goes into the weights of the first layer: they are fewer than
    the inputs of a minibatch.
    """

    def __init__(
        self,
        scale: npt.NDArray[np.float32],
        widths: Sequence[int],
        num_outputs: int,
        last_gain: float,
        features: npt.NDArray[np.float32] | None = None,
    ) -> None:
        """Make the layers, orthogonal.

        Args:
            scale: of the inputs, float32 [inputs].
            widths: of the hidden layers.
            num_outputs: of the last layer.
            last_gain: how large the first answers are.
            features: let outputs share weights by a row of features each, float32 [outputs, F].
        """
        super().__init__()
        self.scale: Tensor
        self.register_buffer("scale", torch.as_tensor(scale))
        sizes = [len(scale), *widths]
        hidden = [nn.Linear(a, b) for a, b in itertools.pairwise(sizes)]
        for layer in hidden:
            _make_orthogonal(layer, 2**0.5)
        self.hidden = nn.ModuleList(hidden)
        if features is None:
            self.last = nn.Linear(sizes[-1], num_outputs)
        else:
            self.last = SharedLinear(sizes[-1], features)
        _make_orthogonal(self.last, last_gain)

    def forward(self, plain: Tensor | Entries) -> Tensor:
        """Answer int8 [N, inputs or more] by [N, outputs], in the type of the weights or autocast.

        Inputs beyond those of the network are not looked at.
        """
        (signal,) = first_signals([self], plain)
        return self.after_first(signal)

    def after_first(self, signal: Tensor) -> Tensor:
        """Answer the signals that the first hidden layer gives, [N, H], by [N, outputs]."""
        for layer in self._hidden()[1:]:
            signal = functional.relu_(layer(signal))
        answer: Tensor = self.last(signal)
        return answer

    def _hidden(self) -> list[Any]:
        return list(self.hidden)

    def layers(self) -> list[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
        """Return the layers as `NetworkAgent` takes them; the first one takes plain inputs."""
        first, *others = ((layer.weight, layer.bias) for layer in self._hidden())
        last = self.last
        end = last.merged() if isinstance(last, SharedLinear) else (last.weight, last.bias)
        parts = [(first[0] * self.scale, first[1]), *others, end]
        return [(_array(weight).T, _array(bias)) for weight, bias in parts]


def first_signals(networks: Sequence[Perceptron], plain: Tensor | Entries) -> Sequence[Tensor]:
    """Return what the first hidden layers of networks make of the same inputs, each [N, H].

    Args:
        networks: all as wide.
        plain: int8 [N, inputs or more]; what is beyond those of a network it does not look at.
    """
    first: list[Any] = [network.hidden[0] for network in networks]
    weights = [layer.weight * one.scale for layer, one in zip(first, networks, strict=True)]
    biases = [layer.bias for layer in first]
    inputs = entries_of(plain) if isinstance(plain, Tensor) else plain
    if isinstance(inputs, Entries):
        return inputs.layers(weights, biases, _working_type(weights[0]))
    signals = []
    for weight, bias in zip(weights, biases, strict=True):
        seen = inputs[:, : weight.shape[1]].to(_working_type(weight))
        signals.append(functional.relu_(functional.linear(seen, weight, bias)))
    return signals


class SharedLinear(nn.Linear):
    """A layer of logits in which alike actions share weights.

    The weights of an action are its own and those of its features: what is learnt about one action
    at once holds for all of the same card, or of the same kind.
    """

    def __init__(self, num_inputs: int, features: npt.NDArray[Any]) -> None:
        """Make the layer; `features` has a row for each action, float32 [A, F]."""
        super().__init__(num_inputs, len(features))
        self.features: Tensor
        self.register_buffer("features", torch.as_tensor(features))
        self.shared_weight = nn.Parameter(torch.zeros(features.shape[1], num_inputs))
        self.shared_bias = nn.Parameter(torch.zeros(features.shape[1]))

    def merged(self) -> tuple[Tensor, Tensor]:
        """Return weights, [A, inputs], and biases, [A], of the plain layer that does the same."""
        weight = self.weight + self.features @ self.shared_weight
        return weight, self.bias + self.features @ self.shared_bias

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the logits, [N, A]."""
        return functional.linear(inputs, *self.merged())


class ActorCritic(nn.Module):
    """A policy over legal actions and a separate value, neither sharing layers with the other.

    The critic sees the observation, or all hands as well.
    """

    def __init__(
        self, game: Game, widths: Sequence[int], is_central: bool, shares_actions: bool
    ) -> None:
        """Make both.

        Args:
            game: whose observations and actions they are for.
            widths: of the hidden layers, of the policy and of the value each.
            is_central: whether the critic sees all hands.
            shares_actions: whether alike actions share weights.
        """
        super().__init__()
        scale = game.layout.scale
        hands = game.critic_state_size - game.observation_size
        seen = np.concatenate([scale, np.ones(hands * is_central, np.float32)])
        features = features_of_actions(game) if shares_actions else None
        self.actor = Perceptron(scale, widths, game.num_actions, 0.01, features)
        self.critic = Perceptron(seen, widths, 1, 1.0)

    def forward(self, seen: Tensor | Entries, action_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the policy's `log_probabilities` and the value, float32 [N, A] and [N]."""
        signal, critic_signal = first_signals([self.actor, self.critic], seen)
        logs = _legal_logs(self.actor.after_first(signal), action_mask)
        value: Tensor = self.critic.after_first(critic_signal)
        return logs, value.float().squeeze(1)

    def value(self, seen: Tensor | Entries) -> Tensor:
        """Return what the mover will still gain, float32 [N]."""
        answer: Tensor = self.critic(seen)
        return answer.float().squeeze(1)

    def agent(self, **options: Any) -> NetworkAgent:
        """Return an agent that plays as the policy does now; options are those of the agent."""
        return NetworkAgent(self.actor.layers(), **options)


class ActionValues(nn.Module):
    """What an action is worth in a position: a perceptron over the observation and the action.

    The first layer is a sum of two: one over the observation, which a position passes once, and
    one over the action, whose answers are the same in all positions. An action is told by its
    features, and has weights of its own beside them.
    """

    def __init__(self, game: Game, widths: Sequence[int]) -> None:
        """Make the layers, orthogonal.

        Args:
            game: whose observations and actions it is for.
            widths: of the hidden layers, at least one.
        """
        super().__init__()
        self.scale: Tensor
        self.register_buffer("scale", torch.as_tensor(game.layout.scale))
        features = features_of_actions(game)
        self.features: Tensor
        self.register_buffer("features", torch.as_tensor(features))
        self.first = nn.Linear(len(game.layout.scale), widths[0])
        self.shared = nn.Linear(features.shape[1], widths[0], bias=False)
        self.own = nn.Parameter(torch.zeros(len(features), widths[0]))
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(widths))
        self.last = nn.Linear(widths[-1], 1)
        for layer in (self.first, *self._hidden()):
            _make_orthogonal(layer, 2**0.5)
        nn.init.orthogonal_(self.shared.weight, 2**0.5)
        _make_orthogonal(self.last, 0.1)

    def forward(self, plain: Tensor, actions: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return what actions are worth, float32 [M].

        Args:
            plain: observations, int8 [N, O].
            actions: int64 [M].
            positions: int64 [M], in which of the N; by default one action in each.
        """
        weight = self.first.weight
        seen = plain.to(_working_type(weight))
        signal = functional.linear(seen, weight * self.scale, self.first.bias)
        if positions is not None:
            signal = signal[positions]
        signal = functional.relu(signal + self.action_rows().to(signal.dtype)[actions])
        for layer in self._hidden():
            signal = functional.relu(layer(signal))
        with torch.autocast(signal.device.type, enabled=False):  # close values need all digits
            answer: Tensor = self.last(signal.float()).squeeze(1)
        return answer

    def action_rows(self) -> Tensor:
        """Return what each action adds to the first layer, [A, H]."""
        rows: Tensor = self.own + self.shared(self.features)
        return rows

    def _hidden(self) -> list[nn.Linear]:
        return list(self.hidden)  # type: ignore[arg-type]

    def agent(self, **options: Any) -> ValueAgent:
        """Return an agent that plays by the values as they are now; options are those of it."""
        first = self.first.weight * self.scale
        others = [(layer.weight, layer.bias) for layer in (*self._hidden(), self.last)]
        return ValueAgent(
            (_array(first).T, _array(self.first.bias)),
            _array(self.action_rows()),
            [(_array(weight).T, _array(bias)) for weight, bias in others],
            **options,
        )


def log_probabilities(
    actor: nn.Module, observation: Tensor | Entries, action_mask: Tensor
) -> Tensor:
    """Return a policy's log-probabilities, float32 [N, A]; those of illegal actions are far below.

    Args:
        actor: gives a logit an action.
        observation: int8 [N, O or more].
        action_mask: int8 [N, A].
    """
    return _legal_logs(actor(observation), action_mask)


def _legal_logs(logits: Tensor, action_mask: Tensor) -> Tensor:
    legal = torch.where(action_mask.view(torch.bool), logits.float(), IMPOSSIBLE)
    return functional.log_softmax(legal, dim=1)


def probabilities(logs: Tensor) -> Tensor:
    """Return the exponentials of log-probabilities, float32 [N, A]; at illegal actions about 0."""
    return logs.clamp_min(_LEAST_LOG).exp()


def features_of_actions(game: Game) -> npt.NDArray[np.float32]:
    """Return a row of features an action, float32 [A, F]: those of the game, and its card.

    Actions of consecutive ids that stand for a whole deck speak of its cards in their order.
    """
    num_cards = game.rules.DECK.num_cards
    cards = np.zeros((game.num_actions, num_cards), np.float32)
    for part in game.actions.ranges:
        start = game.actions.slices[part.name].start
        for index in range(part.size if part.size % num_cards == 0 else 0):
            cards[start + index, index % num_cards] = 1.0
    return np.concatenate([game.action_features, cards], axis=1)


def _make_orthogonal(layer: nn.Linear, gain: float) -> None:
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)


def _working_type(weight: Tensor) -> torch.dtype:
    kind = weight.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype


def _array(tensor: Tensor) -> npt.NDArray[np.float32]:
    array: npt.NDArray[np.float32] = tensor.detach().cpu().numpy()
    return array
