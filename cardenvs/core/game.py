"""A game with its options chosen, and the contract that its two modules fulfil."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from functools import cached_property, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.checks import check_seed
from cardenvs.core.episode import Kernels, kernels_of
from cardenvs.core.kernel import new_rows
from cardenvs.core.layout import ActionLayout, ObservationLayout
from cardenvs.core.options import SKIP_FORCED, Option, resolve_options
from cardenvs.core.rows import Field, Rows, row_fields

if TYPE_CHECKING:
    from cardenvs.core.state import State

#: What a rules module has: see docs/architecture.md, "The contract".
RULES_CONTRACT = (
    "TITLE",
    "DECK",
    "NUM_TEAMS",
    "OPTIONS",
    "ACTIONS",
    "Row",
    "STATE_DTYPE",
    "deal",
    "start",
    "forced_action",
    "write_action_mask",
    "apply_action",
    "is_terminal",
    "goes_on",
    "pass_the_deal",
    "write_returns",
    "returns_scale",
    "returns_bounds",
)
#: What a view module has.
VIEW_CONTRACT = (
    "OBSERVATION",
    "write_observation",
    "write_event",
    "sample_world",
    "read_deal",
    "deal_text",
    "action_text",
    "rule_text",
    "public_facts",
    "hands",
    "stock",
    "render_text",
    "action_features",
)


def check_contract(rules: ModuleType, view: ModuleType) -> None:
    """Check that the two modules of a game have all that the core calls.

    Raises:
        TypeError: naming what is missing.
    """
    for module, names in ((rules, RULES_CONTRACT), (view, VIEW_CONTRACT)):
        missing = [name for name in names if not hasattr(module, name)]
        if missing:
            raise TypeError(f"{module.__name__} is no game module: it lacks {', '.join(missing)}")


class Game:
    """A game with its rule options chosen.

    Attributes:
        id: the versioned id, such as "bred_ryg-v0".
        title: the game's name.
        options: the value of every rule option.
        num_players: P.
        num_teams: how many teams play, whose seats alternate; 0 where each plays alone.
        num_actions: A, the number of action ids.
        observation_size: O, the number of entries of an observation.
        layout: what the entries of an observation mean.
        actions: what the action ids mean.
        rules, view: the modules with the rules, and with what a seat sees of them.
    """

    def __init__(
        self, game_id: str, rules: ModuleType, view: ModuleType, given: Mapping[str, Any]
    ) -> None:
        self.id = game_id
        self.rules = rules
        self.view = view
        self.title: str = rules.TITLE
        self.options: dict[str, Any] = resolve_options(self.all_options(rules), given)
        if hasattr(rules, "check_options"):
            rules.check_options(self.options)
        self.num_players: int = self.options["num_players"]
        self.num_teams: int = rules.NUM_TEAMS
        self.actions: ActionLayout = rules.ACTIONS
        self.num_actions: int = self.actions.size
        seats_shown = getattr(view, "SEATS_SHOWN", self.num_players)  # the same for any number
        self.layout = ObservationLayout(view.OBSERVATION, seats_shown)
        self.observation_size: int = self.layout.size
        self.critic_state_size: int = self.layout.size + self.num_players * rules.DECK.num_cards
        self.returns_scale: int = rules.returns_scale(self.options)
        #: The lowest and the highest return that an episode can have.
        self.min_return, self.max_return = rules.returns_bounds(self.options)

    @staticmethod
    def all_options(rules: ModuleType) -> tuple[Option, ...]:
        """Return the options of a rules module, those of every game included."""
        return (*rules.OPTIONS, SKIP_FORCED)

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of the game, shared by all tables and options."""
        return kernels_of(self.rules, self.view)

    @cached_property
    def fields(self) -> dict[str, Field]:
        """The fields of a row."""
        return row_fields(self.rules.Row)

    @cached_property
    def action_features(self) -> npt.NDArray[np.float32]:
        """One row of features an action, float32 [A, F]."""
        features: npt.NDArray[np.float32] = self.view.action_features()
        return features

    def blank_rows(self, count: int = 1) -> Rows:
        """Return rows that hold the options and nothing else."""
        rows = new_rows(count, self.rules.STATE_DTYPE)
        for option in self.all_options(self.rules):
            rows[option.name] = option.code(self.options[option.name])
        return rows

    def new_initial_state(self, seed: int | None = None, deal: Any = None) -> State:
        """Return a table at its first decision.

        Args:
            seed: of the deal, 0 <= seed < 2**63; by default drawn from the system.
            deal: a position to start from, as data (see the game's page); later deals of a match
                come from the seed.

        Raises:
            DealError: if the deal is no position of this game.
            ValueError: if the seed is out of range.
        """
        from cardenvs.core.state import State

        return State.begin(self, check_seed(seed), deal)

    def __repr__(self) -> str:
        changed = [
            f"{option.name}={self.options[option.name]!r}"
            for option in self.all_options(self.rules)
            if self.options[option.name] != option.default
        ]
        return f"<{', '.join([self.id, *changed])}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and (self.id, self.options) == (other.id, other.options)

    def __hash__(self) -> int:
        return hash((self.id, tuple(sorted(self.options.items()))))

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self  # a game never changes

    def __copy__(self) -> Game:
        return self


def _reduce(game: Game) -> tuple[Any, ...]:
    from cardenvs.registry import load_game

    return partial(load_game, game.id, **game.options), ()


copyreg.pickle(Game, _reduce)
