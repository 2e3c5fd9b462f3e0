"""Agents that play by a trained network, without the library that trained it.

The network is a copy: what it answers never changes while the training goes on.

A file of a network tells what it is: a JSON text, `about`, lies among its arrays, with

    kind                             of network, by which it is known who plays it
    game                             the id of the game
    num_players                      at the tables that it was trained at, in ascending order
    observation_size, num_actions    what it reads and answers
    layout                           a hash of what the entries and ids mean, see `layout_hash`

and with whatever else the trainer tells. A file without it is played too, if its sizes fit.

Letters of shapes: N positions, O observation size, A actions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import GREEDY, SAMPLED
from cardenvs.core.checks import check_seed
from cardenvs.core.game import Game

Weights = npt.NDArray[np.float32]

#: The name of the text among the arrays of a file.
_ABOUT = "about"

#: The array that tells a network of action values what each action adds.
_ACTION_ROWS = "action_rows"


class NetworkAgent:
    """Plays by a perceptron with ReLU between its layers; illegal actions have no chance.

    Attributes:
        name: for tables.
        plays: "greedy" (the most likely action) or "sampled" (each by its probability).
        layers: a matrix and a bias, float32 [inputs, outputs] and [outputs], for each layer; the
            first takes a plain observation, int8 [O], the last gives a logit for each action.
        about: what its file tells of it; empty if there is none, or if it tells nothing.
    """

    #: What its files call it.
    kind = "perceptron"

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
        self.about: dict[str, Any] = {}
        self._rng = np.random.default_rng(check_seed(seed))

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

    @property
    def sizes(self) -> tuple[int, int]:
        """O and A of the games that it can play."""
        return len(self.layers[0][0]), len(self.layers[-1][1])

    def logits(self, observation: npt.NDArray[np.int8]) -> Weights:
        """Return the network's answer to plain observations, float32 [N, A]."""
        signal = observation.astype(np.float32)
        for matrix, bias in self.layers[:-1]:
            signal = signal @ matrix
            signal += bias  # in place: a large array is slow to get
            np.maximum(signal, 0.0, out=signal)
        matrix, bias = self.layers[-1]
        answer: Weights = signal @ matrix
        answer += bias
        return answer

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `Agent.act`."""
        masks = np.atleast_2d(action_mask) != 0
        logits = self.logits(np.atleast_2d(observation))
        if self.plays == SAMPLED:  # the largest logit plus Gumbel noise is a fair sample
            noise = self._rng.random(np.count_nonzero(masks), np.float32)
            logits[masks] -= np.log(-np.log(np.clip(noise, 1e-12, 1.0 - 1e-7)))
        np.copyto(logits, -np.inf, where=~masks)
        actions = logits.argmax(axis=1).astype(np.int64)
        return actions if observation.ndim == 2 else actions[0]

    def save(self, file: Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the network to an .npz file.

        Args:
            file: where to.
            about: what the file tells of the network, see `about_network`; by default what the
                file that it was read from did.
        """
        _save(file, self.kind, _named(self.layers), self.about if about is None else about)

    @classmethod
    def load(cls, file: Path, **options: Any) -> NetworkAgent:
        """Read a network that `save` has written; the options are those of `NetworkAgent`.

        Raises:
            ValueError: if the file tells that it is no such network.
        """
        about = read_about(file)
        if about.get("kind", cls.kind) != cls.kind:
            raise ValueError(f"{file} holds a network of kind {about['kind']!r}, no {cls.kind}")
        with np.load(file) as arrays:
            layers = _layers(arrays)
        agent = cls(layers, **options)
        agent.about = about
        return agent


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

    kind = "action values"

    def __init__(
        self,
        first: tuple[Weights, Weights],
        action_rows: Weights,
        layers: Sequence[tuple[Weights, Weights]],
        greedy: bool = True,
        seed: int | None = None,
        name: str = "values",
    ) -> None:
        """Copy the layers.

        Args:
            first: see the class, as for the next two.
            action_rows: see the class.
            layers: see the class.
            greedy: there is no other way to play by values.
            seed: not used: nothing is drawn.
            name: for tables.

        Raises:
            ValueError: if it shall not be greedy.
        """
        if not greedy:
            raise ValueError("an agent of action values plays greedily: it has nothing to sample")
        self.name = name
        self.plays = GREEDY
        self.about: dict[str, Any] = {}
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

    def save(self, file: Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the network to an .npz file; see `NetworkAgent.save`."""
        arrays = {_ACTION_ROWS: self.action_rows} | _named([self.first, *self.layers])
        _save(file, self.kind, arrays, self.about if about is None else about)

    @classmethod
    def load(cls, file: Path, **options: Any) -> ValueAgent:
        """Read a network that `save` has written; the options are those of `ValueAgent`.

        Raises:
            ValueError: if the file holds another kind of network.
        """
        about = read_about(file)
        if about.get("kind") != cls.kind:
            raise ValueError(f"{file} holds no network of {cls.kind}")
        with np.load(file) as arrays:
            first, *others = _layers(arrays)
            agent = cls(first, arrays[_ACTION_ROWS], others, **options)
        agent.about = about
        return agent


# ----------------------------------------------------------------------------------------------
# Files that tell what they are

#: Who plays which kind of network.
_KINDS: dict[str, type[NetworkAgent] | type[ValueAgent]] = {
    kind.kind: kind for kind in (NetworkAgent, ValueAgent)
}


def load_network(file: Path, game: Game, **options: Any) -> NetworkAgent | ValueAgent:
    """Read a network of any kind, to play a game.

    Args:
        file: what a trainer has saved.
        game: which the network shall play.
        **options: those of the agent, as `greedy`, `seed` and `name`.

    Raises:
        ValueError: if there is no such file, if nobody here plays such a network, or if it does
            not fit the game.
    """
    if not file.is_file():
        raise ValueError(f"there is no file {file}")
    about = read_about(file)
    kind = about.get("kind", NetworkAgent.kind)
    if kind not in _KINDS:
        known = ", ".join(_KINDS)
        raise ValueError(f"{file} holds a network of kind {kind!r}; known are {known}")
    if misfit := misfit_of(about, game):
        raise ValueError(misfit)
    agent = _KINDS[kind].load(file, **options)
    (inputs, outputs), needed = agent.sizes, (game.observation_size, game.num_actions)
    if (inputs, outputs) != needed:
        raise ValueError(
            f"the network has {inputs} inputs and {outputs} outputs; {game!r} with "
            f"{game.num_players} players needs {needed[0]} and {needed[1]}"
        )
    return agent


def read_about(file: Path) -> dict[str, Any]:
    """Return what a file tells of its network; nothing if it was written without."""
    with np.load(file) as arrays:
        told: dict[str, Any] = json.loads(str(arrays[_ABOUT])) if _ABOUT in arrays else {}
    return told


def about_network(games: Sequence[Game], **told: Any) -> dict[str, Any]:
    """Return what a file tells of a network that was trained on some games.

    Args:
        games: one game with one layout; its options, or the numbers of players, may vary.
        **told: what else to tell, as JSON can hold it.

    Raises:
        ValueError: if one network cannot play all of the games.
    """
    first = games[0]
    if len({(game.id, layout_hash(game)) for game in games}) > 1:
        raise ValueError(f"no network plays all of {', '.join(map(repr, games))}: layouts differ")
    return {
        "game": first.id,
        "num_players": sorted({game.num_players for game in games}),
        "observation_size": first.observation_size,
        "num_actions": first.num_actions,
        "layout": layout_hash(first),
        "options": [game.options for game in games],
    } | told


def misfit_of(about: Mapping[str, Any], game: Game) -> str:
    """Return why a network cannot play a game, as far as its file tells; nothing if it can."""
    if "game" not in about or (about["game"], about["layout"]) == (game.id, layout_hash(game)):
        return ""
    players = " or ".join(map(str, about["num_players"]))
    trained = f"the network was trained for {about['game']} with {players} players"
    if about["game"] != game.id:
        return f"{trained}, and cannot play {game!r}"
    if game.num_players not in about["num_players"]:
        return (
            f"{trained}, where an observation has {about['observation_size']} entries; with "
            f"{game.num_players} players it has {game.observation_size}"
        )
    return (
        f"{trained} when its observations or actions were laid out in another way, and has to be "
        "trained anew"
    )


def layout_hash(game: Game) -> str:
    """Return the SHA-256 of what observations' entries and action ids mean, in hexadecimal digits.

    Hashed are the pieces of the observation and the ranges of the ids as JSON: names, sizes and
    what their entries stand for, but not the words that describe them.
    """
    pieces = [
        [piece.name, piece.size, piece.kind, piece.labels, piece.per_player, piece.high]
        for piece in game.layout.pieces
    ]
    ranges = [[part.name, part.size] for part in game.actions.ranges]
    text = json.dumps([pieces, game.layout.num_players, ranges])
    return hashlib.sha256(text.encode()).hexdigest()


def _save(file: Path, kind: str, arrays: Mapping[str, Weights], about: Mapping[str, Any]) -> None:
    """Write the arrays of a network, and what it is, to an .npz file."""
    told = np.array(json.dumps({"kind": kind} | dict(about)))
    np.savez(file, **arrays, **{_ABOUT: told})  # type: ignore[arg-type]


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
