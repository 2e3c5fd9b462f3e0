"""Deep Monte-Carlo: a network learns what an action returns, and play is greedy by it.

Letters of shapes: N positions, M pairs of a position and a legal action, O observation size,
A actions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from agents.base import GREEDY
from cardenvs.core.game import Game
from training import learner
from training.checkpoints import below
from training.learner import LearnerConfig
from training.networks import ActionValues
from training.processes import Processes
from training.returns import Decisions, Returns
from training.rollout import NOBODY, Buffer
from training.runs import check_range

#: How many decisions are judged at once after a rollout.
_CHUNK = 16_384

#: By then the chance of a random action has fallen to what it stays at, as a share of the run.
_EXPLORED = 0.2

#: The optimizers, with the settings of DouZero where there are any.
OPTIMIZERS: dict[str, Any] = {
    "adam": lambda weights: torch.optim.Adam(weights, eps=1e-5, fused=True),
    "rmsprop": lambda weights: torch.optim.RMSprop(weights, alpha=0.99, eps=1e-5, foreach=True),
}


@dataclass(frozen=True, kw_only=True)
class DMCConfig(LearnerConfig):
    """How the network learns.

    Attributes:
        optimizer: "adam" or "rmsprop".
        epsilon_start, epsilon_end: the chance of a random action while learning, at the start
            and after the first fifth of the run; in between it falls in a line. The first play is
            random because the best actions of a network that knows nothing can be such that no
            other single action would help, as taking all cards is in a shedding game.
        temperature: if above 0, actions that are not random are not the best ones either but
            drawn, the chance of each going with exp(value / temperature).
        td_lambda: what a decision is taken to return is a mix of what its episode returned and of
            what the network told of the seat's next decisions. 1 is plain Monte-Carlo, as in
            DouZero, for runs of days; less has less noise, but the network's errors in it.
    """

    num_epochs: int = 1
    layers: tuple[int, ...] = (128, 128)
    optimizer: str = "adam"
    epsilon_start: float = 1.0
    epsilon_end: float = 0.02
    temperature: float = 0.02
    td_lambda: float = 0.9

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(f"the optimizer is {' or '.join(OPTIMIZERS)}, not {self.optimizer!r}")
        check_range(self, ("epsilon_start", "epsilon_end", "td_lambda"), 1.0)
        check_range(self, ("temperature",), math.inf)


class Learner(learner.Learner):
    """A network of action values and what improves it."""

    plays = GREEDY
    network: ActionValues

    def __init__(
        self, game: Game, config: DMCConfig, device: str, seed: int, processes: Processes
    ) -> None:
        """Make the network for a game; see `training.learner.Learner`."""
        self.config = config
        super().__init__(lambda: ActionValues(game, config.layers), config, device, seed, processes)
        self._returns = Returns(game.observation_size)

    def _make_optimizer(self) -> torch.optim.Optimizer:
        made: torch.optim.Optimizer = OPTIMIZERS[self.config.optimizer](self.network.parameters())
        return made

    @property
    def epsilon(self) -> float:
        """The chance of a random action now."""
        start, end = self.config.epsilon_start, self.config.epsilon_end
        return start + min(1.0, self.share / _EXPLORED) * (end - start)

    # -- play ----------------------------------------------------------------------------------

    @property
    def policy(self) -> nn.Module:
        """What of the network plays."""
        return self.network

    @torch.no_grad()
    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Choose a good action for each position, or with a small chance any legal one.

        The second answer, the chances' logarithms, is what a `Collector` asks for; nothing here
        is learnt from them, and they are 0.
        """
        mask = self._tensor(action_mask)
        values = self._values(
            self.network, self._tensor(observation), mask, self.config.temperature
        )
        actions = values.argmax(1)
        draws = torch.rand(len(actions), generator=self._generator, device=self._device)
        exploring = torch.nonzero(draws < self.epsilon).squeeze(1)
        weights = mask[exploring].float()
        if len(exploring):
            any_legal = torch.multinomial(weights, 1, generator=self._generator)
            actions[exploring] = any_legal.squeeze(1)
        return actions.cpu().numpy(), np.zeros(len(actions), np.float32)

    @torch.no_grad()
    def act_by(
        self, policy: nn.Module, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """Return the best legal actions by any network, int64 [N]."""
        values = self._values(policy, self._tensor(observation), self._tensor(mask))
        actions: npt.NDArray[np.int64] = values.argmax(1).cpu().numpy()
        return actions

    def _values(
        self, network: nn.Module, observation: Tensor, mask: Tensor, temperature: float = 0.0
    ) -> Tensor:
        """Return what the actions are worth, float32 [N, A]; minus infinity if illegal.

        With a temperature there is noise in it, so that the highest is a fair draw.
        """
        legal = torch.nonzero(mask.view(-1)).squeeze(1)
        positions, actions = legal // mask.shape[1], legal % mask.shape[1]
        with self._precision():
            values: Tensor = network(observation, actions, positions)
        if temperature:
            noise = torch.empty_like(values).exponential_(generator=self._generator)
            values = values - temperature * noise.clamp_min_(1e-20).log_()
        everything = values.new_full(mask.shape, -torch.inf)
        everything.view(-1)[legal] = values
        return everything

    # -- learning ------------------------------------------------------------------------------

    def learn(self, buffer: Buffer) -> dict[str, float]:
        """Improve the network by the decisions whose returns a rollout has shown.

        Args:
            buffer: filled by a `Collector`.

        Returns:
            What there is to log.
        """
        config = self.config
        done = self._returns.take(buffer) if config.td_lambda == 1.0 else self._estimates(buffer)
        observation, action = self._tensor(done.observation), self._tensor(done.action)
        gained = self._tensor(done.gained)
        self._set_learning_rate()
        # Until the first episodes end there is nothing to learn from.
        num_parts = self._processes.least(-(-len(done) // config.minibatch))
        losses = torch.zeros((), device=self._device)
        for _ in range(config.num_epochs * (num_parts > 0)):
            shuffled = torch.randperm(len(done), generator=self._generator, device=self._device)
            for part in shuffled.tensor_split(num_parts):
                losses += self._descend(observation[part], action[part], gained[part])
        loss = losses.item() / max(1, config.num_epochs * num_parts)
        spread = float(done.gained.var()) if len(done) else 0.0
        return {
            "value_loss": loss,
            "explained_variance": 1.0 - loss / spread if spread else 0.0,
            "learnt": float(len(done)),
            "learning_rate": self.learning_rate,
            "epsilon": self.epsilon,
        }

    def _estimates(self, buffer: Buffer) -> Decisions:
        """Return the decisions of a rollout that another followed, by TD(lambda)."""
        rows, tables = np.nonzero(buffer.seat != NOBODY)
        told = self._judge(buffer.seen[rows, tables], buffer.action[rows, tables])
        buffer.value[rows, tables] = told
        buffer.assign_credit(1.0, self.config.td_lambda)
        rows, tables = np.nonzero(buffer.is_closed)
        return Decisions(
            buffer.seen[rows, tables],
            buffer.action[rows, tables],
            tables,
            buffer.seat[rows, tables],
            buffer.advantage[rows, tables] + buffer.value[rows, tables],
        )

    @torch.no_grad()
    def _judge(
        self, observation: npt.NDArray[np.int8], action: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float32]:
        """Return what the network tells of decisions, float32 [N]."""
        values = np.zeros(len(action), np.float32)
        for start in range(0, len(action), _CHUNK):
            part = slice(start, start + _CHUNK)
            with self._precision():
                told = self.network(self._tensor(observation[part]), self._tensor(action[part]))
            values[part] = told.cpu().numpy()
        return values

    def _descend(self, observation: Tensor, action: Tensor, gained: Tensor) -> Tensor:
        """Take one step of the optimizer; return the mean squared error before it."""
        with self._precision():
            values = self.network(observation, action)
        loss = functional.mse_loss(values, gained)
        self._descend_by(loss)
        return loss.detach()

    # -- checkpoints ---------------------------------------------------------------------------

    def own_snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return, as arrays, what this process has for itself."""
        waiting = self._returns.waiting.arrays()
        own = {f"waiting.{name}": array for name, array in waiting.items()}
        return super().own_snapshot() | own

    def restore_own(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over what `own_snapshot` holds."""
        super().restore_own(arrays)
        self._returns.restore(below("waiting.", arrays))
