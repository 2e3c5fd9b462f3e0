"""Self-play in batches: who plays what, what is kept of it, and whose credit it is.

Every seat that the learner plays leaves its own trajectory: its decisions in order, whoever moved
in between. What a seat gains until its next decision, on others' moves as well, belongs to its
last one. A decision whose outcome the rollout does not show is carried over into the next.

Letters of shapes: T steps, B tables, P seats, O observation size, S critic state size, A actions,
R rows: P carried ones, the row of a seat being its last decision of the rollout before, then T.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from cardenvs.core.batch import Batch
from cardenvs.core.game import Game
from cardenvs.core.kernel import entry_point
from training.checkpoints import below
from training.evaluate import num_rotations

#: The learner's place among those who play.
LEARNER = 0
#: The seat of a decision that is not the learner's.
NOBODY = -1

#: What follows a seat's next decision: nothing that is known yet, or the end of the episode. (Else
#: it is the row of a decision.)
UNKNOWN, ENDED = -2, -1

#: The arrays whose first rows go from one rollout into the next.
_CARRIED = ("seen", "mask", "action", "log_probability", "seat", "reward", "end")

#: (observation int8 [N, O], mask int8 [N, A]) -> actions int64 [N], log-probabilities float32 [N].
Policy = Callable[[Any, Any], tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]]

#: Keeps the draws of who plays apart from the deals of the same seed.
_DRAWS_KEY = 5


class Buffer:
    """What the learner saw, did and got.

    Attributes:
        seen: int8 [R, B, S], critic states (their first O entries are the observation), or
            observations alone.
        mask: int8 [R, B, A].
        action: int64 [R, B].
        log_probability: float32 [R, B], of the action when it was chosen.
        seat: int64 [R, B], whose decision it was, or `NOBODY`.
        reward: float32 [R, B, P], what every seat gained in the step.
        end: bool [R, B], whether the step ended an episode.
        advantage, value: float32 [R, B]; the value is the critic's, written from outside.
        is_closed: bool [R, B], whether the outcome of the decision is known.
    """

    def __init__(self, num_rows: int, games: Sequence[Game], num_tables: int, size: int) -> None:
        shape = (num_rows, num_tables)
        num_players = max(game.num_players for game in games)
        self.seen = np.zeros((*shape, size), np.int8)
        self.mask = np.zeros((*shape, games[0].num_actions), np.int8)
        self.action = np.zeros(shape, np.int64)
        self.log_probability = np.zeros(shape, np.float32)
        self.seat = np.full(shape, NOBODY, np.int64)
        self.reward = np.zeros((*shape, num_players), np.float32)
        self.end = np.zeros(shape, np.bool_)
        self.value = np.zeros(shape, np.float32)
        self.advantage = np.zeros(shape, np.float32)
        self.is_closed = np.zeros(shape, np.bool_)
        self._open_row = np.full((num_tables, num_players), UNKNOWN, np.int64)
        self._open_reward = np.zeros((num_tables, num_players), np.float32)
        self._scratch = np.zeros((3, num_players))

    @property
    def num_carried(self) -> int:
        """How many rows, at the front, are of the rollout before: one a seat."""
        return self.reward.shape[2]

    def assign_credit(self, gamma: float, gae_lambda: float) -> None:
        """Write the advantage of every decision by GAE along its seat's own decisions."""
        write_advantages(
            self.seat,
            self.reward,
            self.end,
            self.value,
            (gamma, gae_lambda),
            self._scratch,
            (self.advantage, self.is_closed, self._open_row, self._open_reward),
        )

    def carry_over(self) -> None:
        """Take the decisions without an outcome to the front, for the next rollout.

        Which they are is known from `assign_credit`, so that each rollout needs one call of it.
        """
        for seat in range(self.num_carried):
            rows = self._open_row[:, seat]
            tables = np.flatnonzero(rows >= 0)
            for kept in (self.seen, self.mask, self.action, self.log_probability):
                kept[seat, tables] = kept[rows[tables], tables]
            self.seat[seat] = np.where(rows >= 0, seat, NOBODY)
            self.end[seat] = False
            self.reward[seat] = 0.0
            self.reward[seat, :, seat] = np.where(rows >= 0, self._open_reward[:, seat], 0.0)

    def carried(self) -> dict[str, npt.NDArray[Any]]:
        """Return the rows at the front."""
        return {name: getattr(self, name)[: self.num_carried] for name in _CARRIED}

    def restore(self, carried: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over the rows at the front from another buffer, after its `carry_over`."""
        for name in _CARRIED:
            getattr(self, name)[: self.num_carried] = carried[name]
        for seat in range(self.num_carried):
            is_open = self.seat[seat] == seat
            self._open_row[:, seat] = np.where(is_open, seat, UNKNOWN)
            self._open_reward[:, seat] = self.reward[seat, :, seat]


@entry_point
def write_advantages(
    seats: Any, rewards: Any, ends: Any, values: Any, weights: Any, scratch: Any, out: Any
) -> None:
    """Walk back through each table, keeping for every seat what followed its next decision.

    Args:
        seats: int64 [R, B].
        rewards: float32 [R, B, P].
        ends: bool [R, B].
        values: float32 [R, B].
        weights: gamma and lambda.
        scratch: float64 [3, P].
        out: advantages float32 [R, B], is_closed bool [R, B], and, for each table and seat, the
            row of the decision whose outcome is not known (else below 0) and what was gained
            since, int64 [B, P] and float32 [B, P].
    """
    gamma, gae_lambda = weights
    advantages, is_closed, open_row, open_reward = out
    gained, next_value, next_advantage = scratch[0], scratch[1], scratch[2]
    num_rows, num_tables, num_players = rewards.shape
    for b in range(num_tables):
        for seat in range(num_players):
            gained[seat] = next_value[seat] = next_advantage[seat] = 0.0
            open_row[b, seat] = UNKNOWN
        for row in range(num_rows - 1, -1, -1):
            for seat in range(num_players):
                if ends[row, b]:
                    gained[seat] = next_value[seat] = next_advantage[seat] = 0.0
                    open_row[b, seat] = max(open_row[b, seat], ENDED)
                gained[seat] += rewards[row, b, seat]
            seat = seats[row, b]
            is_closed[row, b] = seat >= 0 and open_row[b, seat] > UNKNOWN
            if seat < 0:
                continue
            if is_closed[row, b]:
                surprise = gained[seat] + gamma * next_value[seat] - values[row, b]
                next_advantage[seat] = surprise + gamma * gae_lambda * next_advantage[seat]
            else:
                open_row[b, seat] = row
                open_reward[b, seat] = gained[seat]
            advantages[row, b] = next_advantage[seat]
            next_value[seat] = values[row, b]
            gained[seat] = 0.0


class Collector:
    """Plays many tables of one game, or of variants with the same observations and actions.

    Attributes:
        games: the variants; each has as many tables.
        buffer: what the last call of `collect` has left.
        size: S, or O without critic states; of the variant that needs the most.
        decisions: of the learner, in all.
        episodes: how many have ended.
        engine_seconds: spent by the last call of `collect` in the engine: stepping, observing,
            masking, dealing.
        opponent_seconds: spent in it by opponents.
    """

    def __init__(
        self,
        games: Sequence[Game],
        num_tables: int,
        num_steps: int,
        shares: Mapping[str, float],
        seed: int,
        sees_hands: bool,
    ) -> None:
        """Make and deal the tables.

        Args:
            games: the variants.
            num_tables: B, a multiple of their number.
            num_steps: T.
            shares: how many of the tables, between 0 and 1, have the learner at one seat (or as
                one team) and opponents of that name at the others; at the rest it plays all.
            seed: of the deals and of the draws of who plays.
            sees_hands: whether to keep critic states rather than observations.

        Raises:
            ValueError: if the tables cannot be divided among the variants, if the variants differ
                in their spaces, or if the shares are no shares.
        """
        if num_tables % len(games):
            raise ValueError(f"{num_tables} tables cannot be divided among {len(games)} variants")
        if len({(game.observation_size, game.num_actions) for game in games}) > 1:
            raise ValueError("variants that learn together have equal observations and actions")
        if not (min(shares.values(), default=0.0) >= 0.0 and sum(shares.values()) <= 1.0 + 1e-9):
            raise ValueError(f"shares of opponents are at least 0 and at most 1 in all: {shares}")
        self.games = list(games)
        self.shares = dict(shares)
        each = num_tables // len(games)
        self._batches = [
            Batch(game, each, seed + i, critic_state=sees_hands) for i, game in enumerate(games)
        ]
        self._slices = [slice(i * each, (i + 1) * each) for i in range(len(games))]
        self._sees_hands = sees_hands
        self.size = max(
            game.critic_state_size if sees_hands else game.observation_size for game in games
        )
        players = max(game.num_players for game in games)
        self.buffer = Buffer(players + num_steps, games, num_tables, self.size)
        self._rng = np.random.default_rng([seed, _DRAWS_KEY])
        self._player_at = np.zeros((num_tables, players), np.int64)
        self._asked = np.zeros(num_tables, np.int64)
        self._num_sides = np.repeat([num_rotations(game) for game in games], each)
        self.decisions = self.episodes = 0
        self.engine_seconds = self.opponent_seconds = 0.0
        for batch in self._batches:
            batch.reset()
        self._draw_players(np.arange(num_tables))

    def collect(
        self,
        policy: Policy,
        opponents: Mapping[str, Sequence[Agent]],
        teachers: Sequence[Agent] | None = None,
    ) -> Buffer:
        """Play T steps at every table and return what the learner has seen of them.

        Args:
            policy: the learner.
            opponents: for each name of `shares` an agent for each variant.
            teachers: play instead of the learner, one a variant.
        """
        self.buffer.carry_over()
        self.engine_seconds = self.opponent_seconds = 0.0
        for row in range(self.buffer.num_carried, len(self.buffer.seat)):
            self._look(row)
            players = self._player_at[np.arange(len(self._asked)), self._asked]
            own = players == LEARNER
            self.buffer.seat[row] = np.where(own, self._asked, NOBODY)
            self.decisions += int(own.sum())
            if teachers:
                self._ask_agents(row, own, teachers)
            else:
                self._ask_learner(row, own, policy)
            began = time.perf_counter()
            for player, name in enumerate(self.shares, start=1):
                self._ask_agents(row, players == player, opponents[name])
            self.opponent_seconds += time.perf_counter() - began
            self._step(row)
        return self.buffer

    def advice(self, advisers: Sequence[Agent]) -> npt.NDArray[np.int64]:
        """Return what agents, one a variant, would have done at the learner's decisions.

        Returns:
            int64 [R, B]; 0 where the decision is not the learner's.
        """
        buffer = self.buffer
        advice = np.zeros_like(buffer.action)
        size = self.games[0].observation_size
        for part, agent in zip(self._slices, advisers, strict=True):
            own = buffer.seat[:, part] != NOBODY
            seen, mask = buffer.seen[:, part][own], buffer.mask[:, part][own]
            advice[:, part][own] = agent.act(seen[:, :size], mask)
        return advice

    def _look(self, row: int) -> None:
        """Write what is to be seen at the tables, and who is asked."""
        buffer = self.buffer
        for batch, part in zip(self._batches, self._slices, strict=True):
            seen = batch.critic_state if self._sees_hands else batch.observation
            buffer.seen[row, part, : seen.shape[1]] = seen
            buffer.mask[row, part] = batch.action_mask
            self._asked[part] = batch.current_player

    def _ask_learner(self, row: int, own: npt.NDArray[np.bool_], policy: Policy) -> None:
        buffer = self.buffer
        tables = slice(None) if own.all() else np.flatnonzero(own)
        observation = buffer.seen[row, :, : self.games[0].observation_size][tables]
        if len(observation):
            actions, log_probabilities = policy(observation, buffer.mask[row][tables])
            buffer.action[row, tables] = actions
            buffer.log_probability[row, tables] = log_probabilities

    def _ask_agents(self, row: int, asked: npt.NDArray[np.bool_], agents: Sequence[Agent]) -> None:
        """Let agents, one a variant, act at some tables."""
        for batch, part, agent in zip(self._batches, self._slices, agents, strict=True):
            tables = np.flatnonzero(asked[part])
            if tables.size:
                chosen = agent.act(batch.observation[tables], batch.action_mask[tables])
                self.buffer.action[row, part.start + tables] = chosen

    def _step(self, row: int) -> None:
        began = time.perf_counter()
        buffer = self.buffer
        for batch, part in zip(self._batches, self._slices, strict=True):
            batch.step(buffer.action[row, part])
            buffer.reward[row, part, : batch.game.num_players] = batch.reward
            buffer.end[row, part] = batch.terminated
        ended = np.flatnonzero(buffer.end[row])
        self._draw_players(ended)
        self.episodes += len(ended)
        self.engine_seconds += time.perf_counter() - began

    def _draw_players(self, tables: npt.NDArray[np.int64]) -> None:
        """Draw who plays at some tables: the learner everywhere, or one side against others."""
        bounds = np.cumsum(list(self.shares.values()))
        drawn = np.searchsorted(bounds, self._rng.random(len(tables)), side="right")
        others = (drawn + 1) % (len(bounds) + 1)  # beyond all bounds nobody but the learner plays
        num_sides = self._num_sides[tables]
        side = (self._rng.random(len(tables)) * num_sides).astype(np.int64)
        seats = np.arange(self._player_at.shape[1])
        is_learner = seats[None, :] % num_sides[:, None] == side[:, None]
        self._player_at[tables] = np.where(is_learner, LEARNER, others[:, None])

    # -- checkpoints ---------------------------------------------------------------------------

    def snapshot(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return, as arrays and as plain values, all that the next rollout depends on.

        Call it when credit has been assigned, see `Buffer.carry_over`.
        """
        buffer = self.buffer
        buffer.carry_over()
        arrays = {f"carried.{name}": array.copy() for name, array in buffer.carried().items()}
        for i, batch in enumerate(self._batches):
            arrays |= {f"tables.{i}.{name}": array for name, array in batch.snapshot().items()}
        arrays["player_at"] = self._player_at.copy()
        values = {"decisions": self.decisions, "episodes": self.episodes}
        return arrays, values | {"draws": self._rng.bit_generator.state}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Go on from where a snapshot was taken.

        Raises:
            ValueError: if it is of other games, or of another number of tables.
        """
        for i, batch in enumerate(self._batches):
            batch.restore(below(f"tables.{i}.", arrays))
        self.buffer.restore(below("carried.", arrays))
        self._player_at[:] = arrays["player_at"]
        self.decisions, self.episodes = values["decisions"], values["episodes"]
        self._rng.bit_generator.state = values["draws"]
