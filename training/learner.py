"""What learners that play against themselves have in common, whatever they learn by."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from agents.base import Agent
from cardenvs.core.checks import whole_number
from training.checkpoints import below
from training.processes import Processes
from training.runs import check_counts, check_range

#: How often in a run a past self is kept.
NUM_RENEWALS = 20


@dataclass(frozen=True, kw_only=True)
class LearnerConfig:
    """How any network learns.

    Attributes:
        minibatch, num_epochs: of the updates after each rollout.
        learning_rate: at the start; it falls to 0 in a line.
        max_gradient: bound of the gradient's norm.
        layers: widths of the hidden layers.
        bfloat16: whether the layers compute in bfloat16.
        pool_size: how many past selves are kept; one is added after every 20th of the run.
    """

    minibatch: int = 1_024
    num_epochs: int = 2
    learning_rate: float = 1e-3
    max_gradient: float = 0.5
    layers: tuple[int, ...] = (256, 256)
    bfloat16: bool = True
    pool_size: int = 10

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_counts(self, ("minibatch", "num_epochs", "pool_size"))
        check_range(self, ("learning_rate", "max_gradient"), math.inf)
        widths = self.layers if isinstance(self.layers, Sequence) else ()
        if not widths or not all(whole_number(width) > 0 for width in widths):
            raise ValueError(f"layers are one or more widths of at least 1, not {self.layers!r}")


class Learner(ABC):
    """A network and what improves it.

    Attributes:
        network: what learns.
        past: policies that it once had, the newest last.
        share: how much of the run is done, between 0 and 1; schedules depend on it.
    """

    #: How its policies play, see `Agent.plays`.
    plays: str

    def __init__(
        self,
        make_network: Callable[[], nn.Module],
        config: LearnerConfig,
        device: str,
        seed: int,
        processes: Processes,
    ) -> None:
        """Make the network.

        Args:
            make_network: without any weights yet.
            config: how it learns.
            device: of the network: "cpu", "cuda".
            seed: of the first weights, and of all random numbers of the learner.
            processes: among which the gradients are averaged.

        Raises:
            ValueError: if there is no such device here, or if it cannot compute as told.
        """
        _check_device(device, config.bfloat16)
        self._settings = config
        self._device = device
        self._processes = processes
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = make_network()
        self.network: nn.Module = network.to(device)
        self.past: list[nn.Module] = []
        self._optimizer = self._make_optimizer()
        self._generator = torch.Generator(device).manual_seed(seed + processes.rank)
        self.share = 0.0

    def _make_optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.network.parameters(), eps=1e-5, fused=True)

    @property
    def learning_rate(self) -> float:
        """Of the optimizer now."""
        return self._settings.learning_rate * (1.0 - self.share)

    # -- play ----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def policy(self) -> nn.Module:
        """What of the network plays."""

    @abstractmethod
    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Choose an action for each position, as a `training.rollout.Policy`."""

    @abstractmethod
    def act_by(
        self, policy: nn.Module, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """Let any policy act, int64 [N]."""

    def past_self(self, number: int) -> Agent:
        """Return one of the past selves as an opponent; any number will do."""
        return PastSelf(self, self.past[number % len(self.past)])

    def keep_self(self) -> None:
        """Keep a past self."""
        self.past = [*self.past, copy.deepcopy(self.policy)][-self._settings.pool_size :]

    # -- learning ------------------------------------------------------------------------------

    def _set_learning_rate(self) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = self.learning_rate

    def _descend_by(self, loss: Tensor) -> None:
        """Take one step of the optimizer."""
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._processes.average_gradients(self.network)
        nn.utils.clip_grad_norm_(self.network.parameters(), self._settings.max_gradient)
        self._optimizer.step()

    def _precision(self) -> Any:
        return torch.autocast(self._device, torch.bfloat16, self._settings.bfloat16)

    def _tensor(self, array: npt.NDArray[Any]) -> Tensor:
        """Return an array as a tensor, on the same memory where the device is the CPU."""
        return torch.from_numpy(array).to(self._device)

    # -- checkpoints ---------------------------------------------------------------------------

    def own_snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return, as arrays, what this process has for itself."""
        state: npt.NDArray[np.uint8] = self._generator.get_state().numpy()
        return {"generator": state}

    def restore_own(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over what `own_snapshot` holds."""
        self._generator.set_state(torch.from_numpy(arrays["generator"]))

    def snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return, as arrays, what the learners of all processes share."""
        states = self._optimizer.state_dict()["state"]
        optimizer = as_arrays({f"optimizer.{i}": state for i, state in states.items()})
        return self.network_snapshot() | self.past_snapshot() | optimizer

    def network_snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return the network's part of a snapshot."""
        return as_arrays({"network": self.network.state_dict()})

    def past_snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return the past selves' part of a snapshot."""
        return as_arrays({f"past.{i}": policy.state_dict() for i, policy in enumerate(self.past)})

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over what a snapshot holds."""
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        self.network.load_state_dict(below("network.", tensors))
        self.restore_past(arrays)
        state = self._optimizer.state_dict()
        for i, _ in enumerate(self.network.parameters()):
            if moments := below(f"optimizer.{i}.", tensors):
                state["state"][i] = moments
        self._optimizer.load_state_dict(state)

    def restore_past(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over the past selves that a snapshot holds."""
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        self.past = []
        while past := below(f"past.{len(self.past)}.", tensors):
            self.past.append(copy.deepcopy(self.policy))
            self.past[-1].load_state_dict(past)


class PastSelf:
    """A policy that the learner once had, as an opponent."""

    name = "past"

    def __init__(self, learner: Learner, policy: nn.Module) -> None:
        self.plays = learner.plays
        self._learner = learner
        self._policy = policy

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `Agent.act`."""
        return self._learner.act_by(self._policy, observation, action_mask)


def as_arrays(parts: Mapping[str, Mapping[str, Tensor]]) -> dict[str, npt.NDArray[Any]]:
    """Return tensors as arrays, named by their part and their name in it."""
    return {
        f"{part}.{name}": tensor.detach().cpu().numpy().copy()
        for part, tensors in parts.items()
        for name, tensor in tensors.items()
    }


def _check_device(device: str, bfloat16: bool) -> None:
    if device != "cuda":
        return
    if not torch.cuda.is_available():
        raise ValueError("the device is cuda, and torch finds none here; the other one is cpu")
    if bfloat16 and not torch.cuda.is_bf16_supported():
        raise ValueError("this device has no bfloat16; set bfloat16=false")
