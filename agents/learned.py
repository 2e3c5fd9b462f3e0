"""Agents that play by a trained network, without the library that trained it.

The network is a copy: what it answers never changes while the training goes on.

Letters of shapes: N positions, O observation size, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import GREEDY, SAMPLED
from cardenvs.core.checks import check_seed

Weights = npt.NDArray[np.float32]


class NetworkAgent:
    """Plays by a perceptron with ReLU between its layers; illegal actions have no chance.

    Attributes:
        name: for tables.
        plays: "greedy" (the most likely action) or "sampled" (each by its probability).
        layers: a matrix and a bias, float32 [inputs, outputs] and [outputs], for each layer; the
            first takes a plain observation, int8 [O], the last gives a logit for each action.
    """

    def __init__(
        self,
        layers: Sequence[tuple[Weights, Weights]],
        greedy: bool = False,
        seed: int | None = None,
        name: str = "network",
    ) -> None:
        """Copy the layers.

        Args:
            layers: see the class.
            greedy: play the most likely action instead of sampling.
            seed: of the agent's own generator; by default drawn from the system.
            name: for tables.

        Raises:
            ValueError: if the seed is out of range.
        """
        self.name = name
        self.plays = GREEDY if greedy else SAMPLED
        self.layers = [(_copy(matrix), _copy(bias)) for matrix, bias in layers]
        self._rng = np.random.default_rng(check_seed(seed))

    @property
    def sizes(self) -> tuple[int, int]:
        """O and A."""
        return len(self.layers[0][0]), len(self.layers[-1][1])

    @classmethod
    def of_sb3(cls, policy: Any, scale: Weights, **options: Any) -> NetworkAgent:
        """Return an agent that plays as a policy of Stable-Baselines3 does now.

        Args:
            policy: an actor-critic policy whose actor is a perceptron with ReLU.
            scale: what the policy's observations were multiplied by, float32 [O]; it goes into
                the first layer.
            **options: those of `NetworkAgent`.
        """
        linear = [part for part in policy.mlp_extractor.policy_net if hasattr(part, "weight")]
        pairs = [(part.weight, part.bias) for part in linear]
        last = policy.action_net
        pairs.append(last.merged() if hasattr(last, "merged") else (last.weight, last.bias))
        layers = [
            (weight.detach().cpu().numpy().T, bias.detach().cpu().numpy()) for weight, bias in pairs
        ]
        first, bias = layers[0]
        return cls([(first * scale[:, None], bias), *layers[1:]], **options)

    def logits(self, observation: npt.NDArray[np.int8]) -> Weights:
        """Return the network's answer to plain observations, float32 [N, A]."""
        signal = observation.astype(np.float32)
        for matrix, bias in self.layers[:-1]:
            signal = np.maximum(signal @ matrix + bias, 0.0)
        matrix, bias = self.layers[-1]
        answer: Weights = signal @ matrix + bias
        return answer

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `Agent.act`."""
        logits = self.logits(np.atleast_2d(observation))
        if self.plays == SAMPLED:  # the largest logit plus Gumbel noise is a fair sample
            noise = self._rng.random(logits.shape, np.float32)
            logits -= np.log(-np.log(np.clip(noise, 1e-12, 1.0 - 1e-7)))
        logits[np.atleast_2d(action_mask) == 0] = -np.inf
        actions = logits.argmax(axis=1).astype(np.int64)
        return actions if observation.ndim == 2 else actions[0]

    def save(self, file: Path) -> None:
        """Write the network to an .npz file."""
        np.savez(file, **_named(self.layers))  # type: ignore[arg-type]

    @classmethod
    def load(cls, file: Path, **options: Any) -> NetworkAgent:
        """Read a network that `save` has written; the options are those of `NetworkAgent`."""
        with np.load(file) as arrays:
            return cls(_layers(arrays), **options)


class ValueAgent:
    """Plays the legal action that a network of action values holds to be worth the most.

    The network is a perceptron with ReLU between its layers over a position and an action. The
    part of its first layer that an action adds is kept for each action id, so a position passes
    the first layer once however many actions are legal.

    Attributes:
        name: for tables.
        plays: "greedy".
        first: a matrix and a bias, float32 [O, H] and [H], for a plain observation, int8 [O].
        action_rows: float32 [A, H], what each action adds to that.
        layers: the other layers, a matrix and a bias each; the last one has one output.
    """

    #: What tells the file of such an agent from that of a `NetworkAgent`.
    KIND = "action_rows"

    def __init__(
        self,
        first: tuple[Weights, Weights],
        action_rows: Weights,
        layers: Sequence[tuple[Weights, Weights]],
        name: str = "values",
    ) -> None:
        """Copy the layers; see the class."""
        self.name = name
        self.plays = GREEDY
        self.first = _copy(first[0]), _copy(first[1])
        self.action_rows = _copy(action_rows)
        self.layers = [(_copy(matrix), _copy(bias)) for matrix, bias in layers]

    @property
    def sizes(self) -> tuple[int, int]:
        """O and A."""
        return len(self.first[0]), len(self.action_rows)

    def values(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]
    ) -> Weights:
        """Return what each action is worth, float32 [N, A]; minus infinity if it is illegal."""
        values = np.full(action_mask.shape, -np.inf, np.float32)
        positions, actions = np.nonzero(action_mask)
        matrix, bias = self.first
        seen = observation.astype(np.float32) @ matrix + bias
        signal = seen[positions] + self.action_rows[actions]
        for matrix, bias in self.layers:
            signal = np.maximum(signal, 0.0) @ matrix + bias
        values[positions, actions] = signal[:, 0]
        return values

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `Agent.act`."""
        values = self.values(np.atleast_2d(observation), np.atleast_2d(action_mask))
        actions = values.argmax(axis=1).astype(np.int64)
        return actions if observation.ndim == 2 else actions[0]

    def save(self, file: Path) -> None:
        """Write the network to an .npz file."""
        arrays = {self.KIND: self.action_rows} | _named([self.first, *self.layers])
        np.savez(file, **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, file: Path, **options: Any) -> ValueAgent:
        """Read a network that `save` has written; the options are those of `ValueAgent`."""
        with np.load(file) as arrays:
            first, *others = _layers(arrays)
            return cls(first, arrays[cls.KIND], others, **options)


def load_network(file: Path, seed: int | None = None, **options: Any) -> NetworkAgent | ValueAgent:
    """Read an agent of either kind.

    Args:
        file: that its `save` has written.
        seed: of its generator, if it has one.
        **options: others of the agent.
    """
    with np.load(file) as arrays:
        has_values = ValueAgent.KIND in arrays.files
    if has_values:
        return ValueAgent.load(file, **options)
    return NetworkAgent.load(file, seed=seed, **options)


def _named(layers: Sequence[tuple[Weights, Weights]]) -> dict[str, Weights]:
    """Return the parts of layers by the names that they have in files."""
    return {
        f"{kind}_{i}": part
        for i, layer in enumerate(layers)
        for kind, part in zip(("matrix", "bias"), layer, strict=True)
    }


def _layers(arrays: Any) -> list[tuple[Weights, Weights]]:
    """Return the layers whose parts `_named` has named."""
    count = sum(name.startswith("matrix_") for name in arrays.files)
    return [(arrays[f"matrix_{i}"], arrays[f"bias_{i}"]) for i in range(count)]


def _copy(array: Any) -> Weights:
    return np.array(array, np.float32, order="C")
