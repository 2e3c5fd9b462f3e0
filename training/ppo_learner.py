"""Masked proximal policy optimization over the decisions of a buffer.

Letters of shapes: N decisions, R rows, B tables, O observation size, A actions.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from agents.base import SAMPLED
from cardenvs.core.game import Game
from training import learner
from training.checkpoints import below
from training.learner import LearnerConfig, as_arrays
from training.networks import ActorCritic, log_probabilities, probabilities
from training.processes import Processes
from training.rollout import Buffer
from training.runs import check_range
from training.sparse import Entries, entries_of

#: How many decisions are judged at once after a rollout.
_CHUNK = 16_384

#: What a step of the optimizer measures.
_METRICS = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")

#: What else is at least 0 in a configuration.
_WEIGHTS = (
    "clip_range",
    "entropy_start",
    "entropy_end",
    "value_weight",
    "magnet_weight",
    "prior_weight",
)


@dataclass(frozen=True, kw_only=True)
class PPOConfig(LearnerConfig):
    """How the network learns.

    Attributes:
        clip_range: how far the chance of an action may move in an update, as a ratio.
        entropy_start, entropy_end: weight of the entropy bonus, which keeps the play mixed.
        gamma, gae_lambda: discount a decision of the same seat, and the mix of estimates.
        value_weight: weight of the value's loss.
        central_critic: whether the critic sees all hands while training.
        shares_actions: whether alike actions share weights, see `training.networks`.
        magnet_weight: of the divergence from the magnet, a copy of the policy that is renewed
            after every 20th of the run; it keeps self-play from running in circles.
        prior_weight, prior_until: at the start, of the imitation of the run's prior; and the share
            of the run at which it has fallen to 0, in a line.
        policy_weight: of the policy's own loss; without it nothing but the prior is learnt.
    """

    clip_range: float = 0.2
    entropy_start: float = 0.02
    entropy_end: float = 0.002
    gamma: float = 1.0
    gae_lambda: float = 0.95
    value_weight: float = 0.5
    central_critic: bool = True
    shares_actions: bool = False
    magnet_weight: float = 0.0
    prior_weight: float = 0.0
    prior_until: float = 0.5
    policy_weight: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        check_range(self, ("gamma", "gae_lambda"), 1.0)
        check_range(self, _WEIGHTS, math.inf)


class Learner(learner.Learner):
    """A policy and a value, and what improves them; the layers of each are as wide."""

    plays = SAMPLED
    network: ActorCritic

    def __init__(
        self, game: Game, config: PPOConfig, device: str, seed: int, processes: Processes
    ) -> None:
        """Make the network for a game; see `training.learner.Learner`."""

        def make_network() -> ActorCritic:
            return ActorCritic(game, config.layers, config.central_critic, config.shares_actions)

        super().__init__(make_network, config, device, seed, processes)
        self.config = config
        self._magnet = copy.deepcopy(self.network.actor)

    @property
    def entropy_weight(self) -> float:
        """Of the entropy bonus now."""
        start, end = self.config.entropy_start, self.config.entropy_end
        return start + self.share * (end - start)

    @property
    def prior_weight(self) -> float:
        """Of the imitation of the prior now."""
        return self.config.prior_weight * max(0.0, 1.0 - self.share / self.config.prior_until)

    # -- play ----------------------------------------------------------------------------------

    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Sample an action for each position; also return their log-probabilities."""
        return self.sample(self.network.actor, observation, action_mask)

    @torch.no_grad()
    def sample(
        self, actor: nn.Module, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Let any policy act; see `act`."""
        legal = self._tensor(mask)
        with self._precision():
            logs = log_probabilities(actor, self._tensor(observation), legal)
        # The first action at which the sum of chances passes a random share of the whole. No share
        # times the whole is rounded up to the whole; so there is one, and it is legal.
        sums = (probabilities(logs) * legal).cumsum(1)
        share = torch.rand(len(logs), 1, generator=self._generator, device=self._device)
        action = torch.searchsorted(sums, sums[:, -1:] * share, right=True)
        chosen = logs.gather(1, action).squeeze(1)
        return action.squeeze(1).cpu().numpy(), chosen.cpu().numpy()

    @property
    def policy(self) -> nn.Module:
        """What of the network plays."""
        return self.network.actor

    def act_by(
        self, policy: nn.Module, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """Let any policy act, int64 [N]."""
        return self.sample(policy, observation, mask)[0]

    def keep_self(self) -> None:
        """Renew the magnet, and keep a past self."""
        self._magnet.load_state_dict(self.network.actor.state_dict())
        super().keep_self()

    # -- learning ------------------------------------------------------------------------------

    def learn(
        self, buffer: Buffer, advice: npt.NDArray[np.int64] | None = None
    ) -> dict[str, float]:
        """Judge the decisions of a buffer, assign their credit, and improve the network.

        Args:
            buffer: filled by a `Collector`.
            advice: int64 [R, B], what the policy is to imitate as well, by `prior_weight`.

        Returns:
            What there is to log.
        """
        places = np.flatnonzero(buffer.seat >= 0)
        seen = entries_of(self._tensor(_rows(buffer.seen, places)))
        decisions = self._credited(buffer, places, seen, advice)
        closed = np.flatnonzero(_rows(buffer.is_closed, places))
        return self._improve(seen, decisions, closed)

    def credited(
        self, buffer: Buffer, advice: npt.NDArray[np.int64] | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """Judge the decisions of a buffer, and assign their credit.

        Args:
            buffer: filled by a `Collector`.
            advice: int64 [R, B], as for `learn`.

        Returns:
            The N decisions whose outcome is known, for `learn_from`: `seen` int8 [N, S], `mask`
            int8 [N, A], the others [N].
        """
        places = np.flatnonzero(buffer.seat >= 0)
        rows = _rows(buffer.seen, places)
        decisions = self._credited(buffer, places, entries_of(self._tensor(rows)), advice)
        closed = _rows(buffer.is_closed, places)
        return {name: array[closed] for name, array in (decisions | {"seen": rows}).items()}

    def learn_from(self, decisions: Mapping[str, npt.NDArray[Any]]) -> dict[str, float]:
        """Improve the network, and return what there is to log.

        Args:
            decisions: as `credited` returns them, of any number of buffers; they are not changed.
        """
        others = dict(decisions)
        seen = entries_of(self._tensor(others.pop("seen")))
        return self._improve(seen, others, np.arange(len(others["action"])))

    def _credited(
        self,
        buffer: Buffer,
        places: npt.NDArray[np.int64],
        seen: Tensor | Entries,
        advice: npt.NDArray[np.int64] | None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Judge and credit; return all of the given places but what is seen there."""
        self._judge(buffer, places, seen)
        buffer.assign_credit(self.config.gamma, self.config.gae_lambda)
        names = ("mask", "action", "log_probability", "advantage", "value")
        decisions = {name: _rows(getattr(buffer, name), places) for name in names}
        return decisions if advice is None else decisions | {"advice": _rows(advice, places)}

    @torch.no_grad()
    def _judge(self, buffer: Buffer, places: npt.NDArray[np.int64], seen: Tensor | Entries) -> None:
        """Write the critic's value of every decision of the learner."""
        values = buffer.value.reshape(-1)
        for start in range(0, len(places), _CHUNK):
            part = np.arange(start, min(start + _CHUNK, len(places)))
            with self._precision():
                value = self.network.value(seen.index_select(0, self._tensor(part)))
            values[places[part]] = value.cpu().numpy()

    def _improve(
        self,
        seen: Tensor | Entries,
        decisions: Mapping[str, npt.NDArray[Any]],
        known: npt.NDArray[np.int64],
    ) -> dict[str, float]:
        """Descend in minibatches over the decisions whose outcome is known, shuffled each epoch.

        Args:
            seen: of N decisions.
            decisions: what else there is of them, [N, ...].
            known: int64, the places of those whose outcome is known.
        """
        config = self.config
        places = self._tensor(known)
        tensors = {name: self._tensor(array) for name, array in decisions.items()}
        tensors["target"] = tensors["advantage"] + tensors["value"]
        if self._processes.least(len(places)) < 2:  # a short first rollout shows no outcomes
            return dict.fromkeys((*_METRICS, "explained_variance"), 0.0) | {
                "learning_rate": self.learning_rate
            }
        self._set_learning_rate()
        advantage, target = tensors["advantage"][places], tensors["target"][places]
        spread, mean = torch.std_mean(advantage)
        tensors["advantage"] = (tensors["advantage"] - mean) / (spread + 1e-8)
        num_parts = self._processes.least(max(1, len(places) // config.minibatch))
        sums = torch.zeros(len(_METRICS), device=self._device)
        for _ in range(config.num_epochs):
            shuffled = torch.randperm(len(places), generator=self._generator, device=places.device)
            for part in places[shuffled].tensor_split(num_parts):
                # On a CPU this is twenty times as fast as `whole[part]` where rows are bytes.
                batch = {name: whole.index_select(0, part) for name, whole in tensors.items()}
                sums += self._descend(seen.index_select(0, part), batch)
        means = (sums / (config.num_epochs * num_parts)).tolist()
        return dict(zip(_METRICS, means, strict=True)) | {
            "explained_variance": 1.0 - (advantage.var() / target.var().clamp_min(1e-8)).item(),
            "learning_rate": self.learning_rate,
        }

    def _descend(self, seen: Tensor | Entries, batch: dict[str, Tensor]) -> Tensor:
        """Take one step of the optimizer; return what `_METRICS` names."""
        config, network = self.config, self.network
        with self._precision():
            logs, value = network(seen, batch["mask"])
        chosen = logs.gather(1, batch["action"][:, None]).squeeze(1)
        change = chosen - batch["log_probability"]
        ratio = change.exp()
        clipped = ratio.clamp(1.0 - config.clip_range, 1.0 + config.clip_range)
        policy_loss = -torch.min(ratio * batch["advantage"], clipped * batch["advantage"]).mean()
        entropy = -(probabilities(logs) * logs).sum(1).mean()
        value_loss = (value - batch["target"]).square().mean()
        loss = config.policy_weight * policy_loss + config.value_weight * value_loss
        loss = loss - self.entropy_weight * entropy
        if config.magnet_weight:
            loss = loss + config.magnet_weight * self._divergence(logs, seen, batch["mask"])
        if "advice" in batch:
            imitation = logs.gather(1, batch["advice"][:, None]).mean()
            loss = loss - self.prior_weight * imitation
        self._descend_by(loss)
        with torch.no_grad():
            moved = (ratio - 1.0 - change).mean()
            is_clipped = ((ratio - 1.0).abs() > config.clip_range).float().mean()
            return torch.stack([policy_loss, value_loss, entropy, moved, is_clipped])

    def _divergence(self, logs: Tensor, seen: Tensor | Entries, mask: Tensor) -> Tensor:
        """Return how far the policy is from the magnet, as a mean of KL divergences."""
        with torch.no_grad(), self._precision():
            anchor = log_probabilities(self._magnet, seen, mask)
        return (probabilities(logs) * (logs - anchor)).sum(1).mean()

    # -- checkpoints ---------------------------------------------------------------------------

    def snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return, as arrays, what the learners of all processes share."""
        return super().snapshot() | as_arrays({"magnet": self._magnet.state_dict()})

    def start_from(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over the network of another run's snapshot, and nothing else.

        Raises:
            ValueError: if it has other layers.
        """
        tensors = below("network.", {k: torch.from_numpy(array) for k, array in arrays.items()})
        own = self.network.state_dict()
        if {k: t.shape for k, t in tensors.items()} != {k: t.shape for k, t in own.items()}:
            raise ValueError("the network to start from has other layers than this one")
        self.network.load_state_dict(tensors)
        self._magnet.load_state_dict(self.network.actor.state_dict())

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over what a snapshot holds."""
        super().restore(arrays)
        magnet = below("magnet.", arrays)
        self._magnet.load_state_dict({name: torch.from_numpy(magnet[name]) for name in magnet})


def _rows(array: npt.NDArray[Any], places: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Return the rows of the given places of a buffer's array, [R, B] or [R, B, some]."""
    rows: npt.NDArray[Any] = array.reshape(-1, *array.shape[2:]).take(places, axis=0)
    return rows
