"""One table, in Python: the names of OpenSpiel's states over a row of the engine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from cardenvs.core.checks import check_seed, whole_number
from cardenvs.core.episode import NEWS
from cardenvs.core.errors import DealError, IllegalActionError
from cardenvs.core.kernel import as_record, snapshot
from cardenvs.core.rng import start_stream
from cardenvs.core.rows import Rows, rotate
from cardenvs.core.seats import NO_SEAT

if TYPE_CHECKING:
    from cardenvs.core.game import Game

#: Entries of one event of an `information_state`: the actor, counted from the observer's left,
#: then the action's id plus one in two digits of base 128; all zero for a deal.
EVENT_SIZE = 3

#: Bytes at the end of `get_state` that betray a damaged state.
CHECKSUM_SIZE = 4


def copy_rows(rows: Rows) -> Rows:
    """Return a copy of rows, as bytes: NumPy's own copy goes field by field, ten times slower."""
    copied: Rows = rows.view(np.uint8).copy().view(rows.dtype)
    return copied


class State:
    """A table of one game, at a decision (a node, with `skip_forced=False`) or at the end.

    Made by `game.new_initial_state`, `batch.state(i)` or `determinize`. A state is mutable
    (`apply_action` moves it on); `clone`, `copy.deepcopy` and `pickle` give independent copies
    that go on to the same end.

    Attributes:
        game: the game and its options.
        current_player: the seat asked now, -1 at the end.
    """

    __slots__ = (
        "_actions",
        "_deal_began",
        "_deal_number",
        "_is_given",
        "_kernels",
        "_mask",
        "_origin",
        "_rows",
        "_units",
        "current_player",
        "game",
    )

    game: Game
    current_player: int

    def __init__(self, game: Game, rows: Rows) -> None:
        """Wrap a row that has no past; callers use `game.new_initial_state`."""
        self.game = game
        self._rows = rows
        self._kernels = game.kernels
        self._mask = np.zeros(game.num_actions, np.int8)
        self._units = np.zeros((2, game.num_players), np.int64)  # around the last action
        self._origin: Rows | None = None  # the row before its first deal
        self._is_given = False
        self._actions: list[int] = []
        self._deal_began = 0  # the number of actions before the present deal
        self._deal_number = 0
        self.current_player = NO_SEAT

    # -- beginnings ----------------------------------------------------------------------------

    @classmethod
    def begin(cls, game: Game, seed: int, deal: Any = None, episode: int = 0) -> State:
        """Return a table at the first decision of an episode."""
        rows = game.blank_rows()
        rows["seed"], rows["episode"] = seed, episode
        if deal is not None:
            game.view.read_deal(deal, as_record(rows, 0))
        state = cls(game, rows)
        state._origin = copy_rows(rows)
        state._is_given = deal is not None
        game.kernels.begin(rows, 0, state._is_given, state._mask)
        state._turn()
        return state

    @classmethod
    def of_row(cls, game: Game, row: Any) -> State:
        """Return a table in the position of a row, which is copied; it has no past."""
        rows = game.blank_rows()
        rows[0] = row
        state = cls(game, rows)
        if rows["current_player"][0] >= 0:
            game.kernels.settle(rows, 0, state._mask)
        state._turn()
        return state

    @property
    def _row(self) -> Any:
        """A snapshot of the row."""
        return snapshot(self._rows, 0)

    def _turn(self) -> None:
        self.current_player = int(self._rows["current_player"][0])
        self._deal_number = int(self._rows["deal_number"][0])

    @property
    def stream(self) -> tuple[int, int]:
        """The seed of the random stream, and the number of this episode in it."""
        return int(self._rows["seed"][0]), int(self._rows["episode"][0])

    # -- play ----------------------------------------------------------------------------------

    def legal_actions(self) -> list[int]:
        """Return the ids of the legal actions, ascending; [] at the end."""
        legal: list[int] = np.flatnonzero(self._mask).tolist()
        return legal

    def action_mask(self, seat: int | None = None) -> npt.NDArray[np.int8]:
        """Return a fresh mask, int8 [A]: of the seat on turn; zero for any other and at the end."""
        if seat is None or self._check_seat(seat) == self.current_player:
            return self._mask.copy()
        return np.zeros_like(self._mask)

    def apply_action(self, action: int) -> None:
        """Play an action, and the forced nodes after it.

        Raises:
            IllegalActionError: if the rules do not allow it, or the table is finished; nothing
                has changed then.
        """
        self._play(self._check_action(action))

    def _play(self, action: int) -> bool:
        """Play a legal action, unchecked; return False if nothing but the turn has changed.

        True says that the returns have changed (see `_gains`), or a deal or the episode has ended.
        """
        self._actions.append(action)
        seat: int = self._kernels.play(self._rows, 0, action, self._mask, self._units)
        if seat != NEWS:
            self.current_player = int(seat)
            return False
        deal_number = self._deal_number
        self._turn()
        if self._deal_number != deal_number:
            self._deal_began = len(self._actions)
        return True

    def _gains(self) -> list[float]:
        """Return what the last action has brought each seat: the numbers of `Batch.reward`."""
        before, after = self._units
        gains: list[float] = self._points(after - before).astype(np.float32).tolist()
        return gains

    def _points(self, units: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        return units / self.game.returns_scale

    def _check_action(self, action: Any) -> int:
        number = whole_number(action)
        if 0 <= number < self.game.num_actions and self._mask[number]:
            return number
        raise IllegalActionError(self._why_illegal(action))

    def _why_illegal(self, action: Any) -> str:
        if self.is_terminal():
            return f"action {action!r}: the game is over, no action is legal"
        pairs = zip(self.legal_actions(), self.legal_action_strings(), strict=True)
        words = ", ".join(f"{number} ({text})" for number, text in pairs)
        rule = self.game.view.rule_text(self._row)
        return (
            f"action {action!r} is not legal for player {self.current_player}; "
            f"by {rule} these are: {words}"
        )

    def is_terminal(self) -> bool:
        """Whether the episode is over, by its rules or by a cap."""
        return self.current_player == NO_SEAT

    def is_truncated(self) -> bool:
        """Whether a cap has ended a game of the episode, which is over."""
        return self.is_terminal() and bool(self._rows["truncated"][0])

    def returns(self) -> npt.NDArray[np.float64]:
        """Return each seat's score of the episode so far, float64 [P]."""
        units = np.zeros(self.game.num_players, np.int64)
        self._kernels.returns(self._rows, 0, units)
        return self._points(units)

    # -- what seats see ------------------------------------------------------------------------

    def observation(self, seat: int | None = None) -> npt.NDArray[np.int8]:
        """Return a fresh observation, int8 [O]: of the seat on turn by default, else of any.

        Raises:
            ValueError: at the end, if no seat is named.
        """
        return self._observe(self._observer(seat))

    def _observe(self, seat: int) -> npt.NDArray[np.int8]:
        out = np.empty(self.game.observation_size, np.int8)
        self._kernels.observe(self._rows, 0, seat, out)
        return out

    def critic_state(self, seat: int | None = None) -> npt.NDArray[np.int8]:
        """Return a seat's observation and then all hands, its own first, int8 [S].

        For central critics in training: it shows what the seat does not see.
        """
        out = np.empty(self.game.critic_state_size, np.int8)
        self._kernels.observe_hands(self._rows, 0, self._observer(seat), out)
        return out

    def information_state(self, seat: int | None = None) -> npt.NDArray[np.int8]:
        """Return all that a seat has seen in this episode: perfect recall.

        Returns:
            int8 [N, 3 + O], one row for each event that the seat saw: who acted (counted from
            its left), the action's id plus one in two digits of base 128, lowest first, and its
            observation after the event, as it stands when the seat sees the next one (or now).
            Deals are rows with three zeros.

        Raises:
            ValueError: if the state has no past (it came from a batch or from `determinize`).
        """
        observer = self._observer(seat)
        origin = self._past()
        actions = np.array(self._actions, np.int64)
        capacity = 16 + 8 * len(actions)
        while True:
            events = np.zeros((capacity, EVENT_SIZE), np.int8)
            observations = np.zeros((capacity, self.game.observation_size), np.int8)
            count = self._kernels.trace(
                copy_rows(origin),
                self._is_given,
                actions,
                observer,
                events,
                observations,
            )
            if count <= capacity:
                return np.hstack([events[:count], observations[:count]])
            capacity = count

    def _observer(self, seat: int | None) -> int:
        if seat is not None:
            return self._check_seat(seat)
        if self.is_terminal():
            raise ValueError("nobody is on turn at the end; name the seat that observes")
        return self.current_player

    def _check_seat(self, seat: int) -> int:
        if 0 <= whole_number(seat) < self.game.num_players:
            return int(seat)
        raise ValueError(f"seats here are 0 to {self.game.num_players - 1}, not {seat!r}")

    # -- words ---------------------------------------------------------------------------------

    def action_to_string(self, action: int) -> str:
        """Return the words for an action id in the present position.

        Raises:
            IllegalActionError: if there is no such id.
        """
        if not 0 <= whole_number(action) < self.game.num_actions:
            raise IllegalActionError(
                f"action ids are 0 to {self.game.num_actions - 1}, not {action!r}"
            )
        text: str = self.game.view.action_text(self._row, int(action))
        return text

    def legal_action_strings(self) -> list[str]:
        """Return the words of the legal actions, in the order of `legal_actions`."""
        row = self._row
        return [self.game.view.action_text(row, action) for action in self.legal_actions()]

    def string_to_action(self, text: str) -> int:
        """Return the legal action that some words name.

        Raises:
            IllegalActionError: if no legal action has these words.
        """
        words = self.legal_action_strings()
        if text not in words:
            raise IllegalActionError(self._why_illegal(text))
        return self.legal_actions()[words.index(text)]

    def render(self, seat: int | None = None) -> str:
        """Return the table as text: as a seat sees it, or with all cards open."""
        observer = NO_SEAT if seat is None else self._check_seat(seat)
        text: str = self.game.view.render_text(self._row, observer)
        return text

    def __str__(self) -> str:
        return self.render()

    def public(self) -> dict[str, Any]:
        """Return the public facts of the present game by name, with absolute seats."""
        facts: dict[str, Any] = self.game.view.public_facts(self._row)
        return facts

    def hands(self) -> list[set[str]]:
        """Return the cards in each seat's hand."""
        hands: list[set[str]] = self.game.view.hands(self._row)
        return hands

    def stock(self) -> list[str]:
        """Return the cards of the stock, the top one first."""
        stock: list[str] = self.game.view.stock(self._row)
        return stock

    # -- the past ------------------------------------------------------------------------------

    def history(self) -> list[int]:
        """Return the actions of the present deal; with `to_deal` they replay it exactly.

        Raises:
            ValueError: if the state has no past (it came from a batch or from `determinize`).
        """
        self._past()
        return self._actions[self._deal_began :]

    def to_deal(self) -> dict[str, Any]:
        """Return the start of the present deal as data, also in the middle of play.

        Raises:
            ValueError: if the state has no past (it came from a batch or from `determinize`).
        """
        origin = self._past()
        if self._is_given and self._rows["deal_number"][0] == 0:
            row = snapshot(origin, 0)
        else:
            rows = copy_rows(self._rows)
            self._kernels.deal(rows, 0)
            row = snapshot(rows, 0)
        deal: dict[str, Any] = self.game.view.deal_text(row)
        return deal

    def _past(self) -> Rows:
        if self._origin is None:
            raise ValueError("this state has no past: it came from a batch row or a sampled world")
        return self._origin

    # -- copies and other worlds ---------------------------------------------------------------

    def clone(self) -> State:
        """Return an independent copy."""
        copied = State.__new__(State)
        copied.game = self.game
        copied._kernels = self._kernels
        copied._rows = copy_rows(self._rows)
        copied._mask = self._mask.copy()
        copied._units = self._units.copy()
        copied._origin = self._origin  # never written to
        copied._is_given = self._is_given
        copied._actions = self._actions.copy()
        copied._deal_began = self._deal_began
        copied._deal_number = self._deal_number
        copied.current_player = self.current_player
        return copied

    def __copy__(self) -> State:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self.clone()

    def __getstate__(self) -> dict[str, Any]:
        return {"game": self.game, "bytes": self.get_state()}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        State.__init__(self, pickled["game"], pickled["game"].blank_rows())
        self.set_state(pickled["bytes"])

    def get_state(self) -> bytes:
        """Return the position and its past as bytes, for `set_state` of the same game."""
        header = {
            "game": self.game.id,
            "options": self.game.options,
            "actions": self._actions,
            "deal_began": self._deal_began,
            "is_given": self._is_given,
            "has_past": self._origin is not None,
        }
        origin = b"" if self._origin is None else self._origin.tobytes()
        content = json.dumps(header).encode() + b"\n" + self._rows.tobytes() + origin
        return content + _checksum(content)

    def set_state(self, content: bytes) -> None:
        """Take over a position of `get_state`.

        Raises:
            ValueError: if the bytes are no position of this game with these options; nothing has
                changed then.
        """
        try:
            whole, checksum = content[:-CHECKSUM_SIZE], content[-CHECKSUM_SIZE:]
            if _checksum(whole) != checksum:
                raise ValueError("they are damaged, or were never a state")
            head, _, body = whole.partition(b"\n")
            header = json.loads(head)
            rows = np.frombuffer(body, self.game.rules.STATE_DTYPE)
            whose = (header["game"], header["options"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"these bytes are no state of {self.game!r}") from error
        if whose != (self.game.id, self.game.options) or len(rows) != 1 + header["has_past"]:
            raise ValueError(f"these bytes are a state of {whose}, not of {self.game!r}")
        self._restore(rows, header)

    def _restore(self, rows: Rows, header: dict[str, Any]) -> None:
        taken_over = State.of_row(self.game, rows[0])
        self._rows, self._mask = taken_over._rows, taken_over._mask
        self._turn()
        self._origin = None
        if header["has_past"]:
            self._origin = self.game.blank_rows()
            self._origin[0] = rows[1]
        self._is_given, self._deal_began = header["is_given"], header["deal_began"]
        self._actions = header["actions"]

    def determinize(self, seat: int, seed: int) -> State:
        """Return a world that a seat holds possible, at the same point of play.

        It is drawn uniformly from the worlds consistent with the seat's observation, from which
        alone it is made; what follows in it has random numbers of its own. At a node that is
        hidden from the seat the world stands after the last event that the seat saw.

        Args:
            seat: whose knowledge counts.
            seed: of the draw.

        Raises:
            TypeError: if the seed is no whole number.
            ValueError: if the game is over, or the seed out of range.
        """
        if self.is_terminal():
            raise ValueError("the game is over, so there is no other world to go on in")
        rows = self.game.blank_rows()
        stream = np.zeros(2, np.int64)
        start_stream(stream, check_seed(seed), 0, 0)
        self._kernels.sample_world(self.observation(seat), stream, rows, 0)
        rotate(rows[0], self.game.fields, seat)
        return State.of_row(self.game, rows[0])


def _checksum(content: bytes) -> bytes:
    return crc32(content).to_bytes(CHECKSUM_SIZE, "little")


def check_deal_has_decision(game: Game, deal: Any) -> None:
    """Check that a given deal asks anybody anything.

    Raises:
        DealError: if the deal is broken, or over before a decision.
    """
    if State.begin(game, 0, deal).is_terminal():
        raise DealError(f"this deal is over before any decision: {deal}")
