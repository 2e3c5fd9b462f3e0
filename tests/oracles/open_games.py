"""The oracles as open games: they can be branched at any node, and know their whole position.

An oracle is a running script and cannot be copied. But at the start of each trick (or turn) all of
the position stands in its attributes. So an open game keeps a copy of them from there, and the
actions since; a branch starts the script again on the copy and repeats these few actions.
"""

from __future__ import annotations

import pickle
from collections.abc import Hashable
from typing import Any, Self

from tests.oracles.braus import BrausOracle
from tests.oracles.bred_ryg import QUEEN, BredRygOracle
from tests.oracles.brede_mette import BredeMetteOracle
from tests.oracles.dreeg import DreegOracle

NEVER = 10**9


def frozen(value: Any) -> Hashable:
    """Return an attribute of an oracle as plain tuples and frozen sets."""
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    if isinstance(value, dict):
        return frozenset((key, frozen(item)) for key, item in value.items())
    return frozenset(value) if isinstance(value, set) else value


class OpenGame:
    """What the open games share; each also is an oracle.

    Attributes:
        POSITION: the attributes of the oracle that bear on what may still happen. Left out are
            proofs and other knowledge (all cards lie open) and the counts of the caps.
        CAN_GO_ROUND: whether a position can come again.
    """

    POSITION: tuple[str, ...]
    CAN_GO_ROUND = False
    # Scripts cannot be copied; the others are never changed in place.
    _NOT_COPIED = frozenset({"_script", "_match_script", "_since", "_mark"})
    _SHARED = frozenset({"_options", "_scores", "_returns"})

    def __init__(self, options: dict[str, Any], deal: dict[str, Any]) -> None:
        """Set out a deal; one deal or game is played, and no cap ends it."""
        self._mark = b""
        self._since: list[str] = []
        self._is_begun_again = False
        self._first = (options, deal)
        super().__init__(self._one_deal(options), deal)

    def _one_deal(self, options: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _script_again(self) -> Any:
        """Return the script of an episode, begun at the trick that the attributes tell."""
        raise NotImplementedError

    def _set_table(self, deal: dict[str, Any]) -> None:
        """Set out the deal, unless the table stands already."""
        if not self._mark:
            super()._set_table(deal)

    def _keep_start_of_trick(self) -> None:
        """Keep a copy of the attributes here, where they are all of the position."""
        if self._is_begun_again:  # here, from the copy
            self._is_begun_again = False
            return
        kept = vars(self).keys() - self._NOT_COPIED - self._SHARED
        self._mark = pickle.dumps({name: vars(self)[name] for name in kept})
        self._since = []

    def apply(self, text: str) -> None:
        """Play one action; see the oracle."""
        self._since.append(text)
        super().apply(text)

    def branch(self, *actions: str) -> Self:
        """Return the game after some more actions; this one stays as it is."""
        if not self._mark:  # before the first trick
            new = type(self)(*self._first)
        else:
            new = object.__new__(type(self))
            shared = self._SHARED & vars(self).keys()
            vars(new).update({name: vars(self)[name] for name in shared})
            vars(new).update(pickle.loads(self._mark))
            new._mark, new._since, new._is_begun_again = self._mark, [], True
            new._script = new._match_script = new._script_again()
            new._go_on(lambda: next(new._script))
        for past in [*self._since, *actions]:
            new.apply(past)
        return new

    def why_unsolvable(self) -> str | None:
        """Return why the naive solvers do not solve this position, or None if they do."""
        return "it is over" if self.over else None

    def position(self) -> Hashable:
        """Return all that bears on what may still happen, or the returns of a game that is over."""
        if self.over:
            assert not self.truncated, "no cap may end an open game"
            return ("over", tuple(self.returns()))
        attributes = vars(self)
        told = tuple(frozen(attributes[name]) for name in self.POSITION)
        return (self.seat, tuple(self._legal), told)


class BeatingGame(OpenGame):
    """What the two beating games share: one game is played, and no cap ends it."""

    def _one_deal(self, options: dict[str, Any]) -> dict[str, Any]:
        return options | {"num_games": 1, "no_progress_limit": NEVER}

    def _script_again(self) -> Any:
        return self._match({})

    def special_queen(self) -> str:
        """Return the queen whose holder loses."""
        raise NotImplementedError

    def win(self) -> float:
        """Return what a player gets who does not lose."""
        is_zero_sum = self._options["reward"] == "zero_sum"
        return 1 / (self._num_players - 1) if is_zero_sum else 0.0

    def why_unsolvable(self) -> str | None:
        """Return why not: two players must be left, no stock, and the queen in play."""
        if sum(self._active) != 2:
            return f"{sum(self._active)} players are left, not 2"
        if self._stock:
            return "there is a stock"
        if self.special_queen() in self._waste:
            return "the special queen is out of play"
        return super().why_unsolvable()


class OpenBraus(OpenGame, BrausOracle):
    """Bräus, one deal."""

    POSITION = ("_hands", "_trick", "_tricks", "_leader", "_lead_passes", "_phase")

    def _one_deal(self, options: dict[str, Any]) -> dict[str, Any]:
        return options | {"scope": "deal"}

    def _script_again(self) -> Any:
        return self._match({})

    def _turn_on_lead(self) -> Any:
        self._keep_start_of_trick()
        return (yield from super()._turn_on_lead())


class OpenBredRyg(BeatingGame, BredRygOracle):
    """Bred Ryg, one game without a cap."""

    POSITION = (
        "_hands",
        "_stock",
        "_trump",
        "_active",
        "_phase",
        "_leader",
        "_replier",
        "_has_added",
        "_attack",
        "_answered",
        "_taken",
    )

    def special_queen(self) -> str:
        """Return the queen of clubs."""
        return QUEEN

    def _trick(self) -> Any:
        self._tricks = 0
        self._has_added = False
        self._keep_start_of_trick()
        return (yield from super()._trick())

    def _leader_plays_extra_card(self) -> Any:
        """Note that the leader is past adding: a forced pass looks the same at both nodes."""
        self._has_added = True
        yield from super()._leader_plays_extra_card()


class OpenBredeMette(BeatingGame, BredeMetteOracle):
    """Brede Mette, one game without a cap."""

    CAN_GO_ROUND = True

    POSITION = (
        "_hands",
        "_stock",
        "_trump",
        "_active",
        "_phase",
        "_leader",
        "_attacker",
        "_defender",
        "_attack",
        "_beaten_by",
        "_barred",
        "_draws",
        "_used_exchanges",
    )

    def special_queen(self) -> str:
        """Return the red queen that is played with."""
        return self._queen

    def _turn(self) -> Any:
        self._turns = 0
        self._keep_start_of_trick()
        return (yield from super()._turn())


class OpenDreeg(OpenGame, DreegOracle):
    """Dreeg, one deal."""

    POSITION = (
        "_hands",
        "_talon",
        "_trump",
        "_called",
        "_stage",
        "_leader",
        "_trick",
        "_last_suit",
        "_tricks",
        "_points",
        "_declared",
        "_sides",
        "_durchmarsch",
        "_is_face_up",
        "_closer",
        "_snapshot",
    )

    def _one_deal(self, options: dict[str, Any]) -> dict[str, Any]:
        return options | {"scope": "deal"}

    def _script_again(self) -> Any:
        return self._episode()

    def why_unsolvable(self) -> str | None:
        """Return why not: with an open talon, which players do not see, nothing is exact."""
        if self._talon and self._closer is None:
            return "the talon is neither empty nor closed"
        return super().why_unsolvable()

    def _opening(self) -> Any:
        """Open the deal, unless it is in play already."""
        if not self._mark:
            yield from super()._opening()

    def _play_trick(self) -> Any:
        self._keep_start_of_trick()
        return (yield from super()._play_trick())


OPEN_GAMES: dict[str, type[Any]] = {
    "braus-v0": OpenBraus,
    "bred_ryg-v0": OpenBredRyg,
    "brede_mette-v0": OpenBredeMette,
    "dreeg-v0": OpenDreeg,
}
