"""Masked proximal policy optimization over the decisions of a buffer.

Letters of shapes: N decisions, R rows, B tables, O observation size, A actions.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from agents.base import SAMPLED, Agent
from cardenvs.core.checks import whole_number
from cardenvs.core.game import Game
from training.checkpoints import below
from training.networks import ActorCritic, log_probabilities, probabilities
from training.processes import Processes
from training.rollout import Buffer
from training.runs import check_counts, check_range
from training.sparse import Entries, entries_of

#: How often in a run the magnet is renewed, and a past self kept.
NUM_RENEWALS = 20

#: How many decisions are judged at once after a rollout.
_CHUNK = 16_384

#: What a step of the optimizer measures.
_METRICS = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")

#: What is at least 0 in a configuration.
_WEIGHTS = (
    "learning_rate",
    "clip_range",
    "entropy_start",
    "entropy_end",
    "value_weight",
    "max_gradient",
    "magnet_weight",
    "prior_weight",
)


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """How the network learns.

    Attributes:
        minibatch, num_epochs: of the updates after each rollout.
        learning_rate: at the start; it falls to 0 in a line.
        clip_range: how far the chance of an action may move in an update, as a ratio.
        entropy_start, entropy_end: weight of the entropy bonus, which keeps the play mixed.
        gamma, gae_lambda: discount a decision of the same seat, and the mix of estimates.
        value_weight, max_gradient: weight of the value's loss; bound of the gradient's norm.
        layers: widths of the hidden layers, of the policy and of the value each.
        central_critic: whether the critic sees all hands while training.
        shares_actions: whether alike actions share weights, see `training.networks`.
        bfloat16: whether the layers compute in bfloat16.
        magnet_weight: of the divergence from the magnet, a copy of the policy that is renewed
            after every 20th of the run; it keeps self-play from running in circles.
        pool_size: how many past selves are kept; one is added after every 20th of the run.
        prior_weight, prior_until: at the start, of the imitation of the run's prior; and the share
            of the run at which it has fallen to 0, in a line.
        policy_weight: of the policy's own loss; without it nothing but the prior is learnt.
    """

    minibatch: int = 4_096
    num_epochs: int = 2
    learning_rate: float = 2e-3
    clip_range: float = 0.2
    entropy_start: float = 0.02
    entropy_end: float = 0.002
    gamma: float = 1.0
    gae_lambda: float = 0.95
    value_weight: float = 0.5
    max_gradient: float = 0.5
    layers: tuple[int, ...] = (256, 256)
    central_critic: bool = True
    shares_actions: bool = False
    bfloat16: bool = True
    magnet_weight: float = 0.0
    pool_size: int = 10
    prior_weight: float = 0.0
    prior_until: float = 0.5
    policy_weight: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_counts(self, ("minibatch", "num_epochs", "pool_size"))
        check_range(self, ("gamma", "gae_lambda"), 1.0)
        check_range(self, _WEIGHTS, math.inf)
        widths = self.layers if isinstance(self.layers, Sequence) else ()
        if not widths or not all(whole_number(width) > 0 for width in widths):
            raise ValueError(f"layers are one or more widths of at least 1, not {self.layers!r}")


class Learner:
    """A network and what improves it.

    Attributes:
        network: policy and value.
        past: policies that it once had, the newest last.
        share: how much of the run is done, between 0 and 1; schedules depend on it.
    """

    def __init__(
        self, game: Game, config: PPOConfig, device: str, seed: int, processes: Processes
    ) -> None:
        """Make the network.

        Args:
            game: whose observations and actions it is for.
            config: how it learns.
            device: of the network: "cpu", "cuda".
            seed: of the first weights, and of all random numbers of the learner.
            processes: among which the gradients are averaged.

        Raises:
            ValueError: if there is no such device here, or if it cannot compute as told.
        """
        _check_device(device, config.bfloat16)
        self.config = config
        self._device = device
        self._processes = processes
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = ActorCritic(game, config.layers, config.central_critic, config.shares_actions)
        self.network = network.to(device)
        self._magnet = copy.deepcopy(self.network.actor)
        self.past: list[nn.Module] = []
        self._optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5, fused=True)
        self._generator = torch.Generator(device).manual_seed(seed + processes.rank)
        self.share = 0.0

    @property
    def learning_rate(self) -> float:
        """Of the optimizer now."""
        return self.config.learning_rate * (1.0 - self.share)

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
        with self._precision():
            logs = log_probabilities(actor, self._tensor(observation), self._tensor(mask))
        # The action with the largest ratio of its chance to an exponential number is a fair sample.
        noise = torch.empty_like(logs).exponential_(generator=self._generator)
        action = (probabilities(logs) / noise.clamp_min_(1e-20)).argmax(1)
        chosen = logs.gather(1, action[:, None]).squeeze(1)
        return action.cpu().numpy(), chosen.cpu().numpy()

    def past_self(self, number: int) -> Agent:
        """Return one of the past selves as an opponent; any number will do."""
        return PastSelf(self, self.past[number % len(self.past)])

    def keep_self(self) -> None:
        """Renew the magnet, and keep a past self."""
        self._magnet.load_state_dict(self.network.actor.state_dict())
        self.past = [*self.past, copy.deepcopy(self._magnet)][-self.config.pool_size :]

    def _precision(self) -> Any:
        return torch.autocast(self._device, torch.bfloat16, self.config.bfloat16)

    def _tensor(self, array: npt.NDArray[Any]) -> Tensor:
        """Return an array as a tensor, on the same memory where the device is the CPU."""
        return torch.from_numpy(array).to(self._device)

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
        self._judge(buffer)
        buffer.assign_credit(self.config.gamma, self.config.gae_lambda)
        places = np.flatnonzero(buffer.is_closed)
        tensors = self._tensors(buffer)
        if advice is not None:
            tensors["advice"] = self._tensor(advice.reshape(-1))
        return self._improve(tensors, self._tensor(places))

    @torch.no_grad()
    def _judge(self, buffer: Buffer) -> None:
        """Write the critic's value of every decision of the learner."""
        places = np.flatnonzero(buffer.seat >= 0)
        seen = self._tensor(buffer.seen.reshape(buffer.seat.size, -1))
        values = buffer.value.reshape(-1)
        for start in range(0, len(places), _CHUNK):
            part = places[start : start + _CHUNK]
            with self._precision():
                rows = seen.index_select(0, self._tensor(part))
                values[part] = self.network.value(rows).cpu().numpy()

    def _tensors(self, buffer: Buffer) -> dict[str, Tensor]:
        """Return what is learnt from, an entry for each place of the buffer."""
        names = ("seen", "mask", "action", "log_probability", "advantage", "value")
        shape = (buffer.seat.size, -1)
        tensors = {name: self._tensor(getattr(buffer, name).reshape(shape)) for name in names}
        for name in names[2:]:
            tensors[name] = tensors[name].squeeze(1)
        tensors["target"] = tensors["advantage"] + tensors["value"]
        return tensors

    def _improve(self, tensors: dict[str, Tensor], places: Tensor) -> dict[str, float]:
        """Descend in minibatches over the given places, in a new order each epoch."""
        config = self.config
        if self._processes.least(len(places)) < 2:  # a short first rollout shows no outcomes
            return dict.fromkeys((*_METRICS, "explained_variance"), 0.0) | {
                "learning_rate": self.learning_rate
            }
        for group in self._optimizer.param_groups:
            group["lr"] = self.learning_rate
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
                sums += self._descend(batch)
        means = (sums / (config.num_epochs * num_parts)).tolist()
        return dict(zip(_METRICS, means, strict=True)) | {
            "explained_variance": 1.0 - (advantage.var() / target.var().clamp_min(1e-8)).item(),
            "learning_rate": self.learning_rate,
        }

    def _descend(self, batch: dict[str, Tensor]) -> Tensor:
        """Take one step of the optimizer; return what `_METRICS` names."""
        config, network = self.config, self.network
        seen = entries_of(batch["seen"])
        with self._precision():
            logs = log_probabilities(network.actor, seen, batch["mask"])
            value = network.value(seen)
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
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._processes.average_gradients(network)
        nn.utils.clip_grad_norm_(network.parameters(), config.max_gradient)
        self._optimizer.step()
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

    def generator_state(self) -> npt.NDArray[np.uint8]:
        """Return where the random numbers of this process are, uint8."""
        state: npt.NDArray[np.uint8] = self._generator.get_state().numpy()
        return state

    def set_generator_state(self, state: npt.NDArray[np.uint8]) -> None:
        """Go on with the random numbers from there."""
        self._generator.set_state(torch.from_numpy(state))

    def snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return, as arrays, what the learners of all processes share."""
        parts: dict[str, Mapping[str, Tensor]] = {
            "network": self.network.state_dict(),
            "magnet": self._magnet.state_dict(),
        }
        for i, actor in enumerate(self.past):
            parts[f"past.{i}"] = actor.state_dict()
        for i, state in self._optimizer.state_dict()["state"].items():
            parts[f"optimizer.{i}"] = state
        return {
            f"{part}.{name}": tensor.detach().cpu().numpy().copy()
            for part, tensors in parts.items()
            for name, tensor in tensors.items()
        }

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
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        self.network.load_state_dict(below("network.", tensors))
        self._magnet.load_state_dict(below("magnet.", tensors))
        self.past = []
        while past := below(f"past.{len(self.past)}.", tensors):
            self.past.append(copy.deepcopy(self._magnet))
            self.past[-1].load_state_dict(past)
        state = self._optimizer.state_dict()
        for i, _ in enumerate(self.network.parameters()):
            if moments := below(f"optimizer.{i}.", tensors):
                state["state"][i] = moments
        self._optimizer.load_state_dict(state)


class PastSelf:
    """A policy that the learner once had, as an opponent."""

    name = "past"
    plays = SAMPLED

    def __init__(self, learner: Learner, actor: nn.Module) -> None:
        self._learner = learner
        self._actor = actor

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `Agent.act`."""
        return self._learner.sample(self._actor, observation, action_mask)[0]


def _check_device(device: str, bfloat16: bool) -> None:
    if device != "cuda":
        return
    if not torch.cuda.is_available():
        raise ValueError("the device is cuda, and torch finds none here; the other one is cpu")
    if bfloat16 and not torch.cuda.is_bf16_supported():
        raise ValueError("this device has no bfloat16; set bfloat16=false")
