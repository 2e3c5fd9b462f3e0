"""Many tables in buffers, stepped in place.

Letters of shapes: B tables, P seats, A actions, O observation size, S critic state size.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.checks import check_seed, whole_number
from cardenvs.core.episode import CHECK, SAMPLE, Tables, is_refused
from cardenvs.core.errors import IllegalActionError
from cardenvs.core.kernel import as_record
from cardenvs.core.rng import SEED_LIMIT, combine, table_seed
from cardenvs.core.state import State, check_deal_has_decision
from cardenvs.core.threads import Team

if TYPE_CHECKING:
    from cardenvs.core.game import Game

#: The arrays of `Tables`, beside the rows, that are more than scratch.
_KEPT = (
    "action_mask",
    "observation",
    "critic_state",
    "current_player",
    "units",
    "length",
    "reward",
    "terminated",
    "truncated",
    "episode_return",
    "episode_length",
    "skipped_episodes",
)


class Batch:
    """B tables of one game, stepped in place by one call.

    All arrays are owned by the batch and overwritten by `reset` and `step`; copy what you keep.
    Call `reset` before anything else.

    Attributes:
        game: the game and its options.
        num_envs: B.
        observation: int8 [B, O], of the player on turn; zero at finished tables.
        action_mask: int8 [B, A], of the player on turn; zero at finished tables.
        current_player: int64 [B], the seat on turn; -1 at finished tables.
        reward: float32 [B, P], what each seat's returns have gained in the last step.
        terminated: bool [B], whether the last step ended an episode.
        truncated: bool [B], whether a cap fired in that episode too.
        episode_return: float32 [B, P], returns of the last finished episode of each table.
        episode_length: int64 [B], its number of decisions.
        critic_state: int8 [B, S] if asked for: the observation, then all hands, the mover's first.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        seed: int | npt.NDArray[np.int64] | None = None,
        num_threads: int = 1,
        autoreset: bool = True,
        critic_state: bool = False,
    ) -> None:
        """Make the tables; `cardenvs.make_batch` is the usual way.

        Args:
            game: the game and its options.
            num_envs: B.
            seed: of table 0 (table i gets a hash of it and i), or one a table, int64 [B].
            num_threads: among which a step divides the tables.
            autoreset: deal the next episode in the step that ends one; else the table waits
                for `reset(mask=...)`.
            critic_state: also write `critic_state`.

        Raises:
            ValueError: if a number is out of range.
        """
        for name, value in (("num_envs", num_envs), ("num_threads", num_threads)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is a whole number of at least 1, not {value!r}")
        self.game = game
        self.num_envs = num_envs
        self.autoreset = autoreset
        players, size = game.num_players, game.observation_size
        self._tables = Tables(
            rows=game.blank_rows(num_envs),
            blank=game.blank_rows(),
            scale=float(game.returns_scale),
            action_mask=np.zeros((num_envs, game.num_actions), np.int8),
            observation=np.zeros((num_envs, size), np.int8),
            critic_state=np.zeros((num_envs, game.critic_state_size * critic_state), np.int8),
            current_player=np.full(num_envs, -1, np.int64),
            units=np.zeros((num_envs, players), np.int64),
            new_units=np.zeros((num_envs, players), np.int64),
            length=np.zeros(num_envs, np.int64),
            reward=np.zeros((num_envs, players), np.float32),
            terminated=np.zeros(num_envs, np.bool_),
            truncated=np.zeros(num_envs, np.bool_),
            episode_return=np.zeros((num_envs, players), np.float32),
            episode_length=np.zeros(num_envs, np.int64),
            actions=np.zeros(num_envs, np.int64),
            active=np.zeros(num_envs, np.bool_),
            has_illegal=np.zeros(1, np.int64),
            sampled=np.zeros(num_envs, np.int64),
            skipped_episodes=np.zeros(num_envs, np.int64),
        )
        self.observation: npt.NDArray[np.int8] = self._tables.observation
        self.action_mask: npt.NDArray[np.int8] = self._tables.action_mask
        self.current_player: npt.NDArray[np.int64] = self._tables.current_player
        self.reward: npt.NDArray[np.float32] = self._tables.reward
        self.terminated: npt.NDArray[np.bool_] = self._tables.terminated
        self.truncated: npt.NDArray[np.bool_] = self._tables.truncated
        self.episode_return: npt.NDArray[np.float32] = self._tables.episode_return
        self.episode_length: npt.NDArray[np.int64] = self._tables.episode_length
        self._critic_state: npt.NDArray[np.int8] = self._tables.critic_state
        self._everyone = np.ones(num_envs, np.bool_)
        self._num_samples = 0
        self._team = Team(num_threads, num_envs, game.kernels.work)
        self._was_reset = False
        self._seed_tables(seed)

    # -- beginnings ----------------------------------------------------------------------------

    def reset(
        self,
        seed: int | npt.NDArray[np.int64] | None = None,
        deals: Sequence[Any] | None = None,
        mask: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Begin an episode at every table, or at those of a mask.

        Args:
            seed: start the streams of these tables anew; by default each table goes on to the
                next episode of its stream.
            deals: a position to start from for every table, as data; those of tables outside
                the mask are not looked at.
            mask: bool [B], the tables to reset.

        Raises:
            DealError: if a deal is broken or asks nobody anything; nothing has changed then.
            ValueError: if an array has the wrong shape or dtype; nothing has changed then.
        """
        selected = self._everyone if mask is None else self._check_flags("mask", mask)
        if not self._was_reset and not selected.all():
            raise ValueError("the first reset is of all tables")
        source = self._tables.blank if deals is None else self._read_deals(deals, selected)
        if seed is not None:
            self._seed_tables(seed, selected)
        self._was_reset = True
        self.game.kernels.reset_tables(self._tables, selected, source, deals is not None)

    def _seed_tables(self, seed: Any, selected: Any = slice(None)) -> None:
        if isinstance(seed, np.ndarray):
            if seed.shape != (self.num_envs,) or not np.issubdtype(seed.dtype, np.integer):
                raise ValueError(
                    f"seeds are int64 [{self.num_envs}], not {seed.dtype} {list(seed.shape)}"
                )
            if (seed < 0).any() or (seed >= SEED_LIMIT).any():
                wrong = seed.min() if (seed < 0).any() else seed.max()
                raise ValueError(f"a seed is at least 0 and below 2**63, not {wrong}")
            seeds = seed.astype(np.int64)
            first = int(seeds[0])
        else:
            first = check_seed(seed)
            seeds = np.array([table_seed(first, i) for i in range(self.num_envs)], np.int64)
        self._tables.rows["seed"][selected] = seeds[selected]
        self._tables.rows["episode"][selected] = -1
        self._sample_key = combine(first, 2)
        self._num_samples = 0

    def _read_deals(self, deals: Sequence[Any], selected: npt.NDArray[np.bool_]) -> Any:
        is_sequence = isinstance(deals, Sequence) and not isinstance(deals, str | bytes)
        if not is_sequence or len(deals) != self.num_envs:
            raise ValueError(f"deals holds one deal for each of the {self.num_envs} tables")
        source = self.game.blank_rows(self.num_envs)
        for i in np.flatnonzero(selected).tolist():
            check_deal_has_decision(self.game, deals[i])
            self.game.view.read_deal(deals[i], as_record(source, i))
        return source

    # -- play ----------------------------------------------------------------------------------

    def step(
        self, actions: npt.NDArray[np.int64], active: npt.NDArray[np.bool_] | None = None
    ) -> None:
        """Play one action at every table, or at the active ones.

        All actions are checked before any table moves. What is passed for finished and for
        inactive tables is ignored.

        Args:
            actions: whole numbers [B].
            active: bool [B]; the other tables stay as they are, with reward 0 and flags False.

        Raises:
            ValueError: if an array has the wrong shape or dtype, or before the first `reset`.
            IllegalActionError: naming the first table with an illegal action.
        """
        self._check_reset()
        moving = self._everyone if active is None else self._check_flags("active", active)
        self._check_form(actions)
        self._tables.actions[:] = actions
        self._tables.active[:] = moving
        self._tables.has_illegal[0] = 0
        self._team.run(self._tables, CHECK, int(self.autoreset))
        if self._tables.has_illegal[0]:
            self._refuse(actions)

    def _check_reset(self) -> None:
        if not self._was_reset:
            raise ValueError("call reset first: no cards have been dealt yet")

    def _check_form(self, actions: Any) -> None:
        is_whole = isinstance(actions, np.ndarray) and np.issubdtype(actions.dtype, np.integer)
        if not is_whole or actions.shape != (self.num_envs,):
            raise ValueError(
                f"actions is an array of whole numbers [{self.num_envs}], not {_described(actions)}"
            )

    def _refuse(self, actions: npt.NDArray[np.int64]) -> None:
        table = next(i for i in range(self.num_envs) if is_refused(self._tables, i))
        try:
            self.state(table).apply_action(int(actions[table]))
        except IllegalActionError as error:
            raise IllegalActionError(f"table {table}: {error}") from None

    def _check_flags(self, name: str, flags: Any) -> npt.NDArray[np.bool_]:
        if not isinstance(flags, np.ndarray) or flags.dtype != np.bool_:
            raise ValueError(f"{name} is a bool array [{self.num_envs}], not {flags!r}")
        if flags.shape != (self.num_envs,):
            raise ValueError(f"{name} has shape [{self.num_envs}], not {list(flags.shape)}")
        return np.ascontiguousarray(flags)

    def sample_actions(self) -> npt.NDArray[np.int64]:
        """Return a random legal action for every table (0 at finished ones), int64 [B].

        The array is the batch's own and overwritten by the next call. The random numbers are
        apart from those of the deals, and depend on the seed and the number of calls alone.
        """
        self._num_samples += 1
        key = combine(self._sample_key, self._num_samples)
        self._team.run(self._tables, SAMPLE, key)
        sampled: npt.NDArray[np.int64] = self._tables.sampled
        return sampled

    # -- views ---------------------------------------------------------------------------------

    def observe(
        self, seats: npt.NDArray[np.int64], out: npt.NDArray[np.int8] | None = None
    ) -> npt.NDArray[np.int8]:
        """Return the observations of the given seats, also at finished tables, int8 [B, O].

        Args:
            seats: int64 [B], the seat that observes at each table.
            out: int8 [B, O], contiguous, to write to; by default a fresh array.

        Raises:
            ValueError: if a seat does not exist, or an array has the wrong shape or dtype.
        """
        self._check_reset()
        chosen = np.ascontiguousarray(seats, np.int64)
        is_whole = np.issubdtype(np.asarray(seats).dtype, np.integer)
        if not is_whole or chosen.shape != (self.num_envs,):
            raise ValueError(
                f"seats is an array of whole numbers [{self.num_envs}], not {_described(seats)}"
            )
        if ((chosen < 0) | (chosen >= self.game.num_players)).any():
            raise ValueError(f"seats here are 0 to {self.game.num_players - 1}, not {seats!r}")
        shape = self.observation.shape
        if out is None:
            out = np.empty_like(self.observation)
        elif not _is_buffer(out, shape):
            raise ValueError(f"out is a contiguous int8 array {list(shape)}, not {_described(out)}")
        self.game.kernels.observe_tables(self._tables.rows, chosen, out)
        return out

    @property
    def critic_state(self) -> npt.NDArray[np.int8]:
        """int8 [B, S]: the mover's observation and then all hands, the mover's first.

        Raises:
            ValueError: if the batch was not made with `critic_state=True`.
        """
        if self._critic_state.shape[1] == 0:
            raise ValueError("make the batch with critic_state=True to have critic states")
        return self._critic_state

    @property
    def legal_actions(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The legal actions of all tables in one list.

        Returns:
            ids, int64 [N], and offsets, int64 [B + 1]: those of table i are
            `ids[offsets[i]:offsets[i + 1]]`, ascending.
        """
        tables, ids = np.nonzero(self.action_mask)
        offsets = np.searchsorted(tables, np.arange(self.num_envs + 1))
        return ids, offsets

    @property
    def skipped_episodes(self) -> int:
        """How many episodes were over without a decision, and were passed over."""
        return int(self._tables.skipped_episodes.sum())

    def state(self, i: int) -> State:
        """Return table i as a `State` of its own; it has no past."""
        return State.of_row(self.game, self._tables.rows[self._check_table(i)])

    def set_state(self, i: int, state: State) -> None:
        """Put a position on table i; the episode's length counts on from the position's own.

        Raises:
            ValueError: if the state is of another game or other options.
        """
        place = self._check_table(i)
        if state.game != self.game:
            raise ValueError(f"a state of {state.game!r} does not fit tables of {self.game!r}")
        tables = self._tables
        tables.rows[place] = state._rows[0]
        tables.action_mask[place] = state.action_mask()
        tables.current_player[place] = state.current_player
        tables.units[place] = np.rint(state.returns() * self.game.returns_scale)
        tables.length[place] = len(state._actions)
        tables.reward[place] = 0.0
        tables.terminated[place] = tables.truncated[place] = False
        if state.is_terminal():
            tables.observation[place] = 0
            tables.critic_state[place] = 0
            return
        tables.observation[place] = state.observation()
        if tables.critic_state.shape[1]:
            tables.critic_state[place] = state.critic_state()

    # -- snapshots -----------------------------------------------------------------------------

    def snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy of all that the batch's future depends on, as plain arrays by name.

        Raises:
            ValueError: before the first `reset`.
        """
        self._check_reset()
        kept = {name: array.copy() for name, array in self._kept().items()}
        sampling = np.array([self._sample_key, self._num_samples], np.int64)
        return kept | {"about": self._about(), "sampling": sampling}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from a snapshot exactly as the batch did that it is of, be it of another process.

        Only the number of threads may differ. A batch that was never reset needs no `reset` then.

        Args:
            arrays: of `snapshot`.

        Raises:
            ValueError: if the snapshot is of another game, of other options or another number
                of tables, or if an array is missing or of another shape or dtype; nothing has
                changed then.
        """
        self._check_snapshot(arrays)
        for name, array in self._kept().items():
            array[...] = arrays[name]
        self._sample_key, self._num_samples = arrays["sampling"].tolist()
        self._was_reset = True

    def _kept(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that are the state of the tables, the rows as uint8 [B, bytes]."""
        kept = {name: getattr(self._tables, name) for name in _KEPT}
        rows = self._tables.rows.view(np.ndarray).view(np.uint8)
        return {"rows": rows.reshape(self.num_envs, -1)} | kept

    def _about(self) -> npt.NDArray[np.uint8]:
        """Return a text, as bytes, that says which tables a snapshot fits."""
        about = {
            "game": self.game.id,
            "options": self.game.options,
            "num_envs": self.num_envs,
            "autoreset": self.autoreset,
            "critic_state": bool(self._critic_state.shape[1]),
            "rows": self._tables.rows.dtype.descr,
        }
        return np.frombuffer(json.dumps(about).encode(), np.uint8).copy()

    def _check_snapshot(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        wanted = self._kept() | {"sampling": np.zeros(2, np.int64), "about": self._about()}
        if set(arrays) != set(wanted):
            raise ValueError(f"a snapshot holds {', '.join(wanted)}, not {', '.join(arrays)}")
        told, own = (json.loads(bytes(about)) for about in (arrays["about"], wanted["about"]))
        rows = own.pop("rows")
        for name, value in own.items():
            if told.get(name) != value:
                raise ValueError(
                    f"a snapshot with {name} {told.get(name)!r} does not fit a batch with {value!r}"
                )
        if told.get("rows") != rows:
            raise ValueError("the snapshot is of another version of the game: its rows differ")
        for name, array in wanted.items():
            given = _described(arrays[name])
            if given != _described(array):
                raise ValueError(f"{name} in the snapshot is {given}, not {_described(array)}")

    def _check_table(self, i: int) -> int:
        self._check_reset()
        if 0 <= whole_number(i) < self.num_envs:
            return int(i)
        raise IndexError(f"tables here are 0 to {self.num_envs - 1}, not {i!r}")

    def close(self) -> None:
        """End the worker threads, if there are any."""
        self._team.close()


def _is_buffer(given: Any, shape: tuple[int, ...]) -> bool:
    """Whether kernels can write observations to what was given."""
    if not isinstance(given, np.ndarray) or given.shape != shape or given.dtype != np.int8:
        return False
    return given.flags.c_contiguous and given.flags.writeable


def _described(given: Any) -> str:
    """Say what was given where an array was wanted."""
    if isinstance(given, np.ndarray):
        return f"{given.dtype} {list(given.shape)}"
    return f"{given!r}"
