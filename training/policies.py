"""Networks for the learners of Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn
from torch.nn import functional

from cardenvs.core.game import Game


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
        """Return the logits, float32 [N, A]."""
        return functional.linear(inputs, *self.merged())


class SharedActionsPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy with `SharedLinear` as its last layer."""

    def __init__(self, *args: Any, action_features: npt.NDArray[Any], **kwargs: Any) -> None:
        self._action_features = action_features
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = super()._get_constructor_parameters()
        return parameters | {"action_features": self._action_features}

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        shared = SharedLinear(self.mlp_extractor.latent_dim_pi, self._action_features)
        shared.load_state_dict(self.action_net.state_dict(), strict=False)
        self.action_net = shared
        optimizer_class: Any = self.optimizer_class
        rate = lr_schedule(1.0)
        self.optimizer = optimizer_class(self.parameters(), lr=rate, **self.optimizer_kwargs)
