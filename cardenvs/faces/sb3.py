"""A vector environment for Stable-Baselines3: one learner against opponents, over a batch.

Turn-based games go wrong in single-agent libraries where the reward is handed over: who loses
on another's move must still learn of it. Here a step of the learner ends at its own next
decision or at the episode's end, and its reward is all that it has gained or lost until then.

Letters of shapes: B tables, P seats, A actions, O observation size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices, VecEnvStepReturn

from cardenvs.core.batch import Batch
from cardenvs.core.checks import check_seed
from cardenvs.core.game import Game
from cardenvs.registry import load_game

#: `act(observation int8 [N, O], action_mask int8 [N, A]) -> int64 [N]`: what opponents are.
Act = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8]], npt.NDArray[np.int64]]

RANDOM_SEAT = "random"

#: Keeps the draws of seats and opponents apart from the deals of the same seed.
_DRAWS_KEY = 4


class SelfPlayVecEnv(VecEnv):
    """B tables at which one seat learns and the others are played by given callables.

    Observations are float32 [B, O] in [0, 1]: those of the game times `game.layout.scale`.
    (Stable-Baselines3 would turn int8 into float32 as well, but without the scale, and counts
    up to 127 beside bits slow the learning down; scaling costs about a microsecond a table.)

    Every end of an episode is terminal, those by a cap too, since a cap is scored: nothing may
    be bootstrapped, so `TimeLimit.truncated` is always False; `capped` in the info tells.

    At an episode's end the info of its table holds `terminal_observation` (the learner's view of
    the end), `episode` as Stable-Baselines3's `Monitor` writes it (`r` the learner's return,
    `l` its decisions, `t` seconds since the tables were made), `learner_seat` and `capped`.

    An episode in which the learner has no decision is played out and never seen by it.

    Attributes:
        game: the game and its options.
        opponents: the callables by which the other seats are played.
        learner_seats: int64 [B], the learner's seat at each table.
        skipped_episodes: how many episodes went by without a decision of the learner.
        skipped_return: the sum of its returns in those that somebody else played.
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int,
        opponents: Act | Sequence[Act],
        probabilities: Sequence[float] | None = None,
        learner_seat: int | str = RANDOM_SEAT,
        seed: int | None = None,
        num_threads: int = 1,
        **options: Any,
    ) -> None:
        """Make the tables; `reset` deals.

        Args:
            game: the game, or its id.
            num_envs: B.
            opponents: one callable, or a pool from which each other seat draws one an episode.
            probabilities: of the pool's members; by default all the same.
            learner_seat: the learner's seat, or "random": drawn anew for each episode.
            seed: of the deals and of the draws; by default drawn from the system.
            num_threads: among which a step of the batch divides the tables.
            **options: rule options, where `game` is an id.

        Raises:
            ValueError: if the learner's seat or the probabilities are not possible.
        """
        self.game = load_game(game, **options) if isinstance(game, str) else game
        self.opponents = [opponents] if callable(opponents) else list(opponents)
        self._probabilities = _checked_probabilities(probabilities, len(self.opponents))
        self._fixed_seat = _checked_seat(learner_seat, self.game.num_players)
        self._seed_given: int | None = check_seed(seed)
        self._batch = Batch(self.game, num_envs, self._seed_given, num_threads, autoreset=False)
        self._scale = self.game.layout.scale
        self._tables = np.arange(num_envs)
        self._everyone = np.ones(num_envs, np.bool_)
        self._actions = np.zeros(num_envs, np.int64)
        self._views = np.zeros((num_envs, self.game.observation_size), np.int8)
        self.learner_seats = np.zeros(num_envs, np.int64)
        self._opponent_at = np.zeros((num_envs, self.game.num_players), np.int64)
        self._pending = np.zeros(num_envs)  # gained since the learner's last decision
        self._capped = np.zeros(num_envs, np.bool_)
        self._num_decisions = np.zeros(num_envs, np.int64)
        self.skipped_return = 0.0
        self._num_skipped = 0
        self._began = time.monotonic()
        self.render_mode = None
        super().__init__(
            num_envs,
            spaces.Box(0.0, 1.0, (self.game.observation_size,), np.float32),
            spaces.Discrete(self.game.num_actions),
        )

    # -- what learners call --------------------------------------------------------------------

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Let the next `reset` start the deals and the draws of a seed."""
        self._seed_given = check_seed(seed)
        return [self._seed_given] * self.num_envs

    def reset(self) -> npt.NDArray[np.float32]:
        """Begin an episode at every table and return the learner's first observations."""
        if self._seed_given is not None:
            self._rng = np.random.default_rng([self._seed_given, _DRAWS_KEY])
        self._begin(self._everyone, self._seed_given)
        self._seed_given = None
        return self._observations()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return what the learner may do at each table, bool [B, A]."""
        return self._batch.action_mask.astype(np.bool_)

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Take the learner's actions, int64 [B]; `step_wait` plays them."""
        self._chosen = np.asarray(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Play on to the learner's next decision at every table.

        Returns:
            float32 [B, O] observations, float32 [B] rewards, bool [B] whether the episode has
            ended (the observation is then that of the next one), and an info for each table.

        Raises:
            IllegalActionError: if the learner or an opponent plays what is not legal.
        """
        self._play(self._chosen, self._everyone)
        self._num_decisions += 1
        self._play_opponents(self._everyone)
        rewards = self._pending.astype(np.float32)
        self._pending[:] = 0.0
        dones = self._batch.current_player < 0
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if dones.any():
            self._describe_ends(dones, infos)
            self._begin(dones)
        return self._observations(), rewards, dones, infos

    def set_opponent(self, index: int, opponent: Act) -> None:
        """Put another callable in a place of the pool, from the next move on.

        Give a copy of the learner, not the learner itself, or its play changes in mid-episode.
        """
        self.opponents[index] = opponent

    @property
    def skipped_episodes(self) -> int:
        """How many episodes went by without a decision of the learner."""
        return self._num_skipped + self._batch.skipped_episodes

    # -- play ----------------------------------------------------------------------------------

    def _begin(self, tables: npt.NDArray[np.bool_], seed: int | None = None) -> None:
        """Deal at some tables, again where an episode ends before the learner is asked."""
        while tables.any():
            self._draw_players(tables)
            self._pending[tables] = 0.0
            self._capped[tables] = False
            self._num_decisions[tables] = 0
            self._batch.reset(seed=seed, mask=tables)
            self._play_opponents(tables)
            tables = tables & (self._batch.current_player < 0)
            self._num_skipped += int(tables.sum())
            self.skipped_return += float(self._pending[tables].sum())
            seed = None

    def _draw_players(self, tables: npt.NDArray[np.bool_]) -> None:
        count, players = int(tables.sum()), self.game.num_players
        if self._fixed_seat is None:
            self.learner_seats[tables] = self._rng.integers(players, size=count)
        else:
            self.learner_seats[tables] = self._fixed_seat
        self._opponent_at[tables] = self._rng.choice(
            len(self.opponents), (count, players), p=self._probabilities
        )

    def _play_opponents(self, tables: npt.NDArray[np.bool_]) -> None:
        """Let the opponents play until the learner is asked, or the episode is over."""
        while True:
            asked = self._batch.current_player
            others_turn = tables & (asked >= 0) & (asked != self.learner_seats)
            rows = np.flatnonzero(others_turn)
            if not rows.size:
                return
            self._ask_opponents(rows)
            self._play(self._actions, others_turn)

    def _ask_opponents(self, rows: npt.NDArray[np.intp]) -> None:
        """Write the opponents' actions at some tables, each asked once for all of its own."""
        batch = self._batch
        who = self._opponent_at[rows, batch.current_player[rows]]
        for number, act in enumerate(self.opponents):
            own = rows[who == number]
            if own.size:
                self._actions[own] = act(batch.observation[own], batch.action_mask[own])

    def _play(self, actions: npt.NDArray[np.int64], active: npt.NDArray[np.bool_]) -> None:
        """Step some tables and book what the learner gains or loses by it."""
        self._batch.step(actions, active)
        self._pending += self._batch.reward[self._tables, self.learner_seats]
        self._capped |= self._batch.truncated

    def _observations(self) -> npt.NDArray[np.float32]:
        return self._batch.observation * self._scale

    def _describe_ends(self, dones: npt.NDArray[np.bool_], infos: list[dict[str, Any]]) -> None:
        views = self._batch.observe(self.learner_seats, out=self._views)
        elapsed = round(time.monotonic() - self._began, 6)
        for i in np.flatnonzero(dones).tolist():
            seat = int(self.learner_seats[i])
            infos[i] = {
                "terminal_observation": views[i] * self._scale,
                "TimeLimit.truncated": False,
                "episode": {
                    "r": float(self._batch.episode_return[i, seat]),
                    "l": int(self._num_decisions[i]),
                    "t": elapsed,
                },
                "learner_seat": seat,
                "capped": bool(self._capped[i]),
            }

    # -- what Stable-Baselines3 asks of every vector environment -------------------------------

    def close(self) -> None:
        """End the batch's worker threads, if there are any."""
        self._batch.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute, the same for every table."""
        return [getattr(self, attr_name)] * len(self._chosen_tables(indices))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute, which all tables share."""
        setattr(self, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Return the action masks of some tables; there is no other method of a single table.

        Raises:
            AttributeError: if another method is asked for.
        """
        if method_name != "action_masks":
            raise AttributeError(f"a table has the method 'action_masks', not {method_name!r}")
        return list(self.action_masks()[self._chosen_tables(indices)])

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Return False for every table: none is wrapped."""
        return [False] * len(self._chosen_tables(indices))

    def _chosen_tables(self, indices: VecEnvIndices) -> npt.NDArray[np.int64]:
        return np.atleast_1d(self._tables[... if indices is None else np.asarray(indices)])


def _checked_seat(seat: int | str, num_players: int) -> int | None:
    """Return a seat, or None for a random one."""
    if seat == RANDOM_SEAT:
        return None
    if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < num_players:
        raise ValueError(
            f"learner_seat is {RANDOM_SEAT!r} or a seat from 0 to {num_players - 1}, not {seat!r}"
        )
    return seat


def _checked_probabilities(
    probabilities: Sequence[float] | None, count: int
) -> npt.NDArray[np.float64]:
    if count == 0:
        raise ValueError("opponents holds at least one callable")
    if probabilities is None:
        return np.full(count, 1.0 / count)
    given = np.array(probabilities, np.float64)
    if given.shape != (count,) or (given < 0).any() or not np.isclose(given.sum(), 1.0):
        raise ValueError(f"probabilities are {count} numbers that sum to 1, not {probabilities!r}")
    normed: npt.NDArray[np.float64] = given / given.sum()
    return normed
