"""The PettingZoo face: any game of the registry as an AEC environment.

A game's public module is three lines over this one:

    class raw_env(RawEnv, game_id="bred_ryg-v0"): ...
    env = raw_env.checked
"""

from __future__ import annotations

import copy
import json
from operator import attrgetter
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete, Space
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from cardenvs.core.checks import check_seed, whole_number
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.game import Game
from cardenvs.core.seats import NO_SEAT
from cardenvs.core.state import State
from cardenvs.registry import load_game

#: What `get_state` keeps beside the table: who is in the game, and what is still to be handed out.
_BOOKKEEPING = (
    "agents",
    "agent_selection",
    "_skip_agent_selection",
    "rewards",
    "_cumulative_rewards",
    "terminations",
    "truncations",
)

#: What to do with an illegal action.
ILLEGAL_ACTION = ("terminate", "raise")


class RawEnv(AECEnv):  # type: ignore[misc]  # PettingZoo carries no types
    """A game as PettingZoo's AEC environment, without the checks of order and of actions.

    An illegal action raises `IllegalActionError` and changes nothing. Subclasses name the game:
    `class raw_env(RawEnv, game_id="bred_ryg-v0")`.

    Attributes:
        game: the game and its options; `game.layout` says what the observations mean.
        state_space: of `state()`.
    """

    game_id: ClassVar[str]
    metadata: ClassVar[dict[str, Any]]

    _state: State

    def __init_subclass__(cls, game_id: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if game_id is None:  # a subclass of a game's own class
            return
        cls.game_id = game_id
        cls.metadata = {
            "name": game_id.replace("-", "_"),
            "render_modes": ["ansi", "human"],
            "is_parallelizable": False,
        }

    @classmethod
    def checked(
        cls,
        num_players: int | None = None,
        render_mode: str | None = None,
        illegal_action: str = "terminate",
        **options: Any,
    ) -> CheckedEnv:
        """Return the environment behind the checks of PettingZoo's standard wrappers.

        Args:
            num_players: at the table; by default the game's own number.
            render_mode: "ansi" (`render` returns a text) or "human" (each step prints it).
            illegal_action: "terminate" ends the game, with the lowest possible return for the
                offender and 0 for the others; "raise" raises and changes nothing.
            **options: rule options by name.

        Raises:
            OptionError: if an option does not exist or does not take the value.
        """
        return CheckedEnv(cls(num_players, render_mode, **options), illegal_action)

    def __init__(
        self, num_players: int | None = None, render_mode: str | None = None, **options: Any
    ) -> None:
        """Make a table; `reset` deals.

        Args:
            num_players: at the table; by default the game's own number.
            render_mode: "ansi" (`render` returns a text) or "human" (each step prints it).
            **options: rule options by name.

        Raises:
            OptionError: if an option does not exist or does not take the value.
        """
        super().__init__()
        if num_players is not None:
            options["num_players"] = num_players
        _check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.game = load_game(self.game_id, **options)
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(self.game.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: observation_space(self.game) for agent in self._seats}
        self.action_spaces = {agent: Discrete(self.game.num_actions) for agent in self._seats}
        self.state_space = critic_space(self.game)
        self._num_actions = self.game.num_actions
        self._no_rewards = dict.fromkeys(self.possible_agents, 0.0)

    def __getattr__(self, name: str) -> Any:
        """Say why what `reset` makes is missing."""
        if name in ("_state", "infos", *_BOOKKEEPING):
            raise AttributeError(f"{name.lstrip('_')} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    # -- play ----------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: starts a stream of episodes; without it comes the stream's next episode (the
                first stream of all has a seed of the system's).
            options: "deal" is a position to start from (see the game's page); other keys are
                ignored.

        Raises:
            DealError: if the deal is no position of this game; nothing has changed then.
            ValueError: if the seed is out of range; nothing has changed then.
        """
        self._state = self._begin(seed, options.get("deal") if options else None)
        self.agents = self.possible_agents.copy()
        self.rewards = self._no_rewards.copy()
        self._cumulative_rewards = self._no_rewards.copy()
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._skip_agent_selection: str | None = None
        if self._state.is_terminal():  # a given deal can be over before any decision
            self._pay(self._state.returns().astype(np.float32).tolist())
        self._move_on()

    def _begin(self, seed: int | None, deal: Any) -> State:
        if seed is None and "_state" in self.__dict__:
            stream, episode = self._state.stream
            return State.begin(self.game, stream, deal, episode + 1)
        return State.begin(self.game, check_seed(seed), deal)

    def step(self, action: int | None) -> None:
        """Play the action of the agent on turn; None takes an agent of a finished game away.

        Raises:
            IllegalActionError: if the rules do not allow the action, or no agent is left; nothing
                has changed then.
            ValueError: if the action of an agent of a finished game is not None.
        """
        if not self._plays(action):
            self._step_otherwise(action)

    def _plays(self, action: Any) -> bool:
        """Play a legal action that is a plain int; return False, untouched, for anything else."""
        agent, state = self.agent_selection, self._state
        if (
            type(action) is not int
            or not 0 <= action < self._num_actions
            or not state._mask[action]
            or self._is_dead(agent)
        ):
            return False
        self.rewards = self._no_rewards.copy()
        self._cumulative_rewards[agent] = 0.0
        if state._play(action):
            self._pay(state._gains())
        self._move_on()
        return True

    def _step_otherwise(self, action: Any) -> None:
        if not self.agents:
            raise IllegalActionError(f"action {action!r}: the game is over; reset the environment")
        if self._is_dead(self.agent_selection):
            self._was_dead_step(action)
        else:
            self._plays(self._state._check_action(action))

    def _is_dead(self, agent: str) -> bool:
        """Whether the game is over for an agent, be it by a wrapper's word."""
        return self.terminations.get(agent, True) or self.truncations[agent]

    def _pay(self, gains: list[float]) -> None:
        """Hand out what the last action has brought each seat."""
        for agent, gain in zip(self.possible_agents, gains, strict=True):
            self.rewards[agent] = gain
            self._cumulative_rewards[agent] += gain

    def _clear_rewards(self) -> None:
        self.rewards = dict.fromkeys(self.agents, 0.0)  # PettingZoo's own writes ints

    def _move_on(self) -> None:
        """Give the turn on, or at the end to the dead, who take one more step each, with None."""
        seat = self._state.current_player
        if seat != NO_SEAT:
            self.agent_selection = self.possible_agents[seat]
        else:
            self.terminations = dict.fromkeys(self.agents, True)
            self.truncations = dict.fromkeys(self.agents, self._state.is_truncated())
            self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def _end_by_illegal_action(self, penalty: float) -> None:
        """End the game as PettingZoo's TerminateIllegalWrapper does."""
        self.rewards = self._no_rewards.copy()
        self.rewards[self.agent_selection] = penalty
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self._deads_step_first()

    # -- views ---------------------------------------------------------------------------------

    def observe(self, agent: str) -> dict[str, npt.NDArray[np.int8]]:
        """Return what an agent sees, at any time: fresh arrays, all its own.

        Returns:
            "observation", int8 [O], and "action_mask", int8 [A], which is zero unless the agent
            is on turn.
        """
        seat, state = self._seats[agent], self._state
        is_on_turn = seat == state.current_player and not self._is_dead(agent)
        return {
            "observation": state._observe(seat),
            "action_mask": state._mask.copy() if is_on_turn else np.zeros_like(state._mask),
        }

    def state(self) -> npt.NDArray[np.int8]:
        """Return the observation of the agent on turn (at the end, of player_0) and all hands.

        It is for central critics, int8 [S]: it shows what no player sees. Hands are in the order
        of seats, that of the observer first.
        """
        is_over = self._is_dead(self.agent_selection)
        return self._state.critic_state(0 if is_over else self._state.current_player)

    def render(self) -> str | None:
        """Return the table as text, all cards open, or print it (in mode "human")."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                "You are calling render method without specifying any render mode."
            )
            return None
        text = self._state.render()
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    # -- copies --------------------------------------------------------------------------------

    def clone(self) -> RawEnv:
        """Return an independent copy that goes on to the same end; it shares the spaces."""
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        if "_state" in self.__dict__:
            for name in ("_state", *_BOOKKEEPING):
                setattr(copied, name, copy.copy(getattr(self, name)))
            copied.infos = {agent: info.copy() for agent, info in self.infos.items()}
        return copied

    def get_state(self) -> bytes:
        """Return the game in progress as bytes, for `set_state` of an env of the same game."""
        header = {name: getattr(self, name) for name in _BOOKKEEPING}
        return json.dumps(header).encode() + b"\n" + self._state.get_state()

    def set_state(self, content: bytes) -> None:
        """Take over a game of `get_state`.

        Raises:
            ValueError: if the bytes are no state of this environment with these options; nothing
                has changed then.
        """
        try:
            head, _, body = content.partition(b"\n")
            header = json.loads(head)
            kept = {name: header[name] for name in _BOOKKEEPING}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"these bytes are no state of {self}") from error
        state = State(self.game, self.game.blank_rows())
        state.set_state(body)
        self.__dict__.update(kept)
        self._state = state
        self.infos = {agent: {} for agent in self.agents}


class CheckedEnv(OrderEnforcingWrapper):  # type: ignore[misc]  # PettingZoo carries no types
    """PettingZoo's three standard wrappers in one, several times as fast.

    It behaves as OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(env)))
    does, apart from this: an action's legality is that of the position, not of the mask handed out
    last; any NumPy integer is an action, True and False are none; a reset that fails leaves the
    environment as it was; rewards are always floats.
    """

    env: RawEnv

    agents = property(attrgetter("env.agents"))
    agent_selection = property(attrgetter("env.agent_selection"))
    rewards = property(attrgetter("env.rewards"))
    terminations = property(attrgetter("env.terminations"))
    truncations = property(attrgetter("env.truncations"))
    infos = property(attrgetter("env.infos"))

    def __init__(self, env: RawEnv, illegal_action: str = "terminate") -> None:
        """Wrap an environment; `RawEnv.checked` is the usual way.

        Args:
            env: the environment.
            illegal_action: "terminate" or "raise".

        Raises:
            OptionError: if there is no such way to treat illegal actions.
        """
        super().__init__(env)
        _check_choice("illegal_action", illegal_action, ILLEGAL_ACTION)
        self._illegal_action = illegal_action

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode; see `RawEnv.reset`."""
        self.env.reset(seed, options)
        self._has_reset = self._has_updated = True

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, npt.NDArray[np.int8]] | None, float, bool, bool, dict[str, Any]]:
        """Return what the agent on turn sees and has earned since its last action."""
        env = self.env
        agent = self.agent_selection  # which says so before the first reset
        return (
            env.observe(agent) if observe else None,
            env._cumulative_rewards[agent],
            env.terminations[agent],
            env.truncations[agent],
            env.infos[agent],
        )

    def step(self, action: int | None) -> None:
        """Play the action of the agent on turn; None takes an agent of a finished game away.

        Raises:
            AssertionError: before the first reset, or if the action is not in the action space.
            IllegalActionError: if the rules do not allow it and `illegal_action` is "raise".
            ValueError: if the action of an agent of a finished game is not None.
        """
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if not self.env._plays(action):
            self._step_otherwise(action)

    def _step_otherwise(self, action: Any) -> None:
        env = self.env
        if not env.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        number = whole_number(action)
        is_dead = env._is_dead(env.agent_selection)
        is_in_space = 0 <= number < env._num_actions
        if self._illegal_action == "terminate":
            if not is_in_space and not (is_dead and action is None):
                raise AssertionError("action is not in action space")
            if not is_dead:
                if not env._plays(number):
                    EnvLogger.warn_on_illegal_move()
                    env._end_by_illegal_action(float(env.game.min_return))
                return
        env.step(action)

    # -- copies --------------------------------------------------------------------------------

    def clone(self) -> CheckedEnv:
        """Return an independent copy that goes on to the same end; it shares the spaces."""
        copied = copy.copy(self)
        copied.env = self.env.clone()
        return copied

    def set_state(self, content: bytes) -> None:
        """Take over a game of `get_state`; see `RawEnv.set_state`."""
        self.env.set_state(content)
        self._has_reset = self._has_updated = True

    def __str__(self) -> str:
        return str(self.env)


def observation_space(game: Game) -> Dict:
    """Return the space of one seat's observations."""
    return Dict(
        {
            "observation": Box(np.zeros_like(game.layout.high), game.layout.high, dtype=np.int8),
            "action_mask": Box(0, 1, (game.num_actions,), np.int8),
        }
    )


def critic_space(game: Game) -> Box:
    """Return the space of `state()`: an observation, then hands, a bit a card."""
    high = np.ones(game.critic_state_size, np.int8)
    high[: game.observation_size] = game.layout.high
    return Box(np.zeros_like(high), high, dtype=np.int8)


def _check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if value not in allowed:
        raise OptionError(
            f"{name}={value!r}: allowed are {', '.join(repr(choice) for choice in allowed)}"
        )
