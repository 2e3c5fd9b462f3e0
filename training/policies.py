"""Networks for the learners of Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule

from training.networks import SharedLinear


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
