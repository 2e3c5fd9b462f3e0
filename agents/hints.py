"""Hints of the rule texts as players: each is one unit that can be switched on and off.

A hint says in which positions it speaks (its trigger), and which of the legal actions it then
advises. A hint agent asks its hints in order; each one narrows the actions that are left, as long
as any stay; then a plain base policy chooses among these. What a game's hints are stands in the
module of its agents, as a `HintBook`.

Letters of shapes: N positions, O observation size, A actions, H hints in use.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.base import GREEDY, SAMPLED, ActKernel, agent_stream, as_positions
from cardenvs.core.game import Game
from cardenvs.core.kernel import (
    bit_reader,
    entry_point,
    kernel,
    lowest_bit,
    nth_mask,
    popcount,
    rare_kernel,
)
from cardenvs.core.rng import Stream, random_below
from cardenvs.core.rows import Mask, Observation

#: A set of actions: an int (bit i is action i), or where a game has more than 63 a tuple of ints.
Actions = Any

#: `trigger(observation, actions) -> bool`: whether the hint speaks, where these actions are left.
TriggerKernel = Callable[[Observation, Actions], bool]
#: `advice(observation, actions) -> actions`: those it advises; asked only where it speaks.
AdviceKernel = Callable[[Observation, Actions], Actions]
#: `advise(number, observation, actions) -> actions`: what the hint of a number advises, if any.
AnyAdviceKernel = Callable[[int, Observation, Actions], Actions]
#: `base(observation, actions, rng) -> action`: one of some actions.
BaseKernel = Callable[[Observation, Actions, Stream], int]

#: Ends a plan that is shorter than its array.
NO_HINT = -1

#: The name of the base policy that chooses any action, each equally likely.
RANDOM = "random"


@dataclass(frozen=True, eq=False)
class Hint:
    """One piece of advice.

    Attributes:
        name: such as "BR-H3", as on the game's page.
        title: what it says, in a few words.
        claim: what it is said to be good for.
        source: who says so.
        trigger: whether it speaks; a kernel.
        advice: which actions it advises; a kernel.
    """

    name: str
    title: str
    claim: str
    source: str
    trigger: TriggerKernel
    advice: AdviceKernel


@dataclass(frozen=True)
class SilentHint:
    """A hint that no agent can follow as an action, and why."""

    name: str
    title: str
    source: str
    reason: str


class ActionSets(NamedTuple):
    """How a game's hints hold sets of actions: see `whole_sets` and `split_sets`."""

    nothing: Actions
    read: Callable[[Mask], Actions]  # the actions of a mask
    meet: Callable[[Actions, Actions], Actions]  # those in both
    count: Callable[[Actions], int]
    nth: Callable[[Actions, int], int]  # the action at a place of a set, in ascending order


@dataclass(frozen=True, eq=False)
class HintBook:
    """What is known of the hints of a game.

    Attributes:
        hints: all of them, in the order in which an agent asks them.
        off: the names of those that an agent does not use unless told to.
        silent: those without an action.
        bases: the base policies by name, the usual one first; kernels. "lowest" is one of them,
            and "random" is there always.
        sets: how sets of actions are held.
        habits: bad ones, of the same shape as hints, to show what each costs: an agent asks one
            before all its hints.
    """

    hints: tuple[Hint, ...]
    off: frozenset[str]
    silent: tuple[SilentHint, ...]
    bases: Mapping[str, BaseKernel]
    sets: ActionSets
    habits: tuple[Hint, ...] = ()

    @property
    def units(self) -> tuple[Hint, ...]:
        """All that a plan can number: the hints, then the habits."""
        return (*self.hints, *self.habits)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all hints that can be used."""
        return tuple(hint.name for hint in self.hints)

    @property
    def default(self) -> tuple[str, ...]:
        """The names of the hints that an agent uses unless told otherwise, in their order."""
        return tuple(name for name in self.names if name not in self.off)

    @property
    def base_names(self) -> tuple[str, ...]:
        """The names of the base policies, the usual one first."""
        return (*self.bases, RANDOM)

    def plan(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the numbers of hints and habits in the order given, int64 [H].

        Raises:
            ValueError: if a name is unknown, or is there twice.
        """
        units = [unit.name for unit in self.units]
        for name in names:
            if name not in units:
                known = ", ".join(units)
                raise ValueError(f"no hint is called {name!r}; there are {known}")
        if len(set(names)) < len(names):
            raise ValueError(f"each hint is used once, not {' '.join(names)}")
        return np.array([units.index(name) for name in names], np.int64)


class HintKernels(NamedTuple):
    """The compiled hints of a book over one base policy."""

    #: (observation, mask, rng, plan) -> action; for other kernels to call
    act: Callable[..., int]
    #: (observations, masks, rng, plan, actions)
    act_all: Callable[..., Any]
    #: (number, observations, masks, advised int8 [N, A]): 0 where the hint does not speak
    advise_all: Callable[..., Any]


class HintAgent:
    """Plays by hints; see `agents.Agent`.

    Attributes:
        hints: the names of those in use, in their order.
    """

    def __init__(
        self,
        book: HintBook,
        hints: Sequence[str],
        base: str,
        seed: int | None = None,
        name: str = "hints",
    ) -> None:
        """Make the agent.

        Args:
            book: the hints of its game.
            hints: the names of those to use, in the order in which they are asked.
            base: the name of the policy that chooses among what they leave.
            seed: of its own generator; by default drawn from the system.
            name: for tables.

        Raises:
            ValueError: if there is no such hint or base policy, or the seed is out of range.
        """
        self.name = name
        self.plays = SAMPLED if base == RANDOM else GREEDY
        self.hints = tuple(hints)
        self._plan = book.plan(hints)
        self._kernels = hint_kernels(book, base)
        self._rng = agent_stream(seed)

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> Any:
        """Choose a legal action for each position; see `agents.Agent.act`."""
        observations, masks = as_positions(observation, action_mask)
        actions = np.zeros(len(masks), np.int64)
        self._kernels.act_all(observations, masks, self._rng, self._plan, actions)
        return actions if action_mask.ndim == 2 else actions[0]


#: Versioned id -> the module with the game's hints; its `hint_book(game)` returns them.
_MODULES = {
    "braus-v0": "agents.braus",
    "bred_ryg-v0": "agents.bred_ryg",
    "brede_mette-v0": "agents.brede_mette",
    "dreeg-v0": "agents.dreeg",
}

#: The base policy that plays the weakest card; every book has it.
LOWEST = "lowest"


def has_hints(game_id: str) -> bool:
    """Whether there are hints of a game, by its versioned id."""
    return game_id in _MODULES


def hint_book(game: Game) -> HintBook:
    """Return what is known of the hints of a game, with its options.

    Raises:
        ValueError: if none are known.
    """
    if not has_hints(game.id):
        raise ValueError(f"hints are known of {', '.join(_MODULES)}, not of {game.id}")
    book: HintBook = importlib.import_module(_MODULES[game.id]).hint_book(game)
    return book


def make_hints(
    game: Game,
    seed: int | None = None,
    hints: str | Sequence[str] | None = None,
    without: str | Sequence[str] = (),
    habit: str | None = None,
    base: str | None = None,
) -> HintAgent:
    """Return the hint agent of a game.

    Args:
        game: the game.
        seed: of the agent's own generator.
        hints: names, in the order in which they are asked, as a sequence or joined by "+"; by
            default those that are on in the book.
        without: names that are left out of these.
        habit: the name of a bad habit that goes before them, one of the book's.
        base: the policy that chooses among what the hints leave; by default the first of the book.

    Raises:
        ValueError: if there is no such hint, habit or base policy.
    """
    book = hint_book(game)
    used = book.default if hints is None else _names(hints)
    dropped = _names(without)
    book.plan(dropped)  # refuses unknown names
    chosen = [name for name in used if name not in dropped]
    if habit is not None:
        known = [unit.name for unit in book.habits]
        if habit not in known:
            there_are = f"there are {', '.join(known)}" if known else "there are none"
            raise ValueError(f"no bad habit is called {habit!r}; {there_are}")
        chosen.insert(0, habit)
    return HintAgent(book, chosen, book.base_names[0] if base is None else base, seed)


def make_lowest(game: Game, seed: int | None = None) -> HintAgent:
    """Return the control that plays its weakest card; it plays the same whatever the seed."""
    return HintAgent(hint_book(game), (), LOWEST, seed, name=LOWEST)


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(filter(None, given.split("+"))) if isinstance(given, str) else tuple(given)


def advice_masks(
    book: HintBook,
    name: str,
    observations: npt.NDArray[np.int8],
    masks: npt.NDArray[np.int8],
) -> npt.NDArray[np.int8]:
    """Return what a hint advises in some positions, int8 [N, A]; 0 where it does not speak.

    Args:
        book: the hints of the game.
        name: of the hint.
        observations: int8 [N, O].
        masks: the legal actions, int8 [N, A].

    Raises:
        ValueError: if there is no such hint.
    """
    (number,) = book.plan([name])
    advised = np.zeros_like(masks)
    kernels = hint_kernels(book, book.base_names[0])
    kernels.advise_all(number, observations, masks, advised)
    return advised


@cache
def default_kernel(book: HintBook) -> ActKernel:
    """Return the play of a game's usual hint agent as one kernel, for searches to roll out with."""
    act = hint_kernels(book, book.base_names[0]).act
    plan = book.plan(book.default)

    @kernel
    def act_by_hints(observation: Observation, mask: Mask, rng: Stream) -> int:
        return act(observation, mask, rng, plan)

    return act_by_hints


@cache
def hint_kernels(book: HintBook, base: str) -> HintKernels:
    """Compile the hints of a book over a base policy, once for all agents and plans.

    Raises:
        ValueError: if there is no such base policy.
    """
    if base not in book.base_names:
        known = ", ".join(book.base_names)
        raise ValueError(f"no base policy is called {base!r}; there are {known}")
    sets = book.sets
    read, meet, count, nth = sets.read, sets.meet, sets.count, sets.nth
    choose = random_base(sets) if base == RANDOM else book.bases[base]
    advise = advice_kernel(book)

    @rare_kernel
    def act(observation: Observation, mask: Mask, rng: Stream, plan: Any) -> int:
        left = read(mask)
        for place in range(plan.shape[0]):
            if plan[place] == NO_HINT or count(left) == 1:
                break
            advised = meet(advise(plan[place], observation, left), left)
            if count(advised):
                left = advised
        return nth(left, 0) if count(left) == 1 else choose(observation, left, rng)

    @entry_point
    def act_all(observations: Any, masks: Any, rng: Any, plan: Any, actions: Any) -> None:
        for i in range(masks.shape[0]):
            if masks[i].any():
                actions[i] = act(observations[i], masks[i], rng, plan)

    @entry_point
    def advise_all(number: int, observations: Any, masks: Any, advised: Any) -> None:
        for i in range(masks.shape[0]):
            if not masks[i].any():
                continue
            legal = read(masks[i])
            chosen = meet(advise(number, observations[i], legal), legal)
            for place in range(count(chosen)):
                advised[i, nth(chosen, place)] = 1

    return HintKernels(act, act_all, advise_all)


@cache
def advice_kernel(book: HintBook) -> AnyAdviceKernel:
    """Make the kernel that asks a hint by its number; compiled once for all base policies."""
    asks = [ask_kernel(hint, book.sets.nothing) for hint in book.units]
    return advice_of(asks, 0)


def ask_kernel(hint: Hint, nothing: Actions) -> AdviceKernel:
    """Make the kernel of what one hint advises: nothing where it does not speak."""
    trigger, advice = hint.trigger, hint.advice

    @rare_kernel
    def ask(observation: Observation, actions: Actions) -> Actions:
        return advice(observation, actions) if trigger(observation, actions) else nothing

    return ask


def advice_of(asks: Sequence[AdviceKernel], first: int) -> AnyAdviceKernel:
    """Make the kernel that asks one of some hints, of which the first has a number.

    Halves rather than a chain: the compiler works through all that a kernel reaches, once for each
    kernel around it.
    """
    if len(asks) == 1:
        ask = asks[0]

        @kernel
        def advise_one(number: int, observation: Observation, actions: Actions) -> Actions:
            return ask(observation, actions)

        return advise_one

    half = len(asks) // 2
    middle = first + half
    low, high = advice_of(asks[:half], first), advice_of(asks[half:], middle)

    @kernel
    def advise(number: int, observation: Observation, actions: Actions) -> Actions:
        if number < middle:
            return low(number, observation, actions)
        return high(number, observation, actions)

    return advise


# ----------------------------------------------------------------------------------------------
# Sets of actions


def whole_sets(num_actions: int) -> ActionSets:
    """Return the sets of a game with at most 63 actions: one int each."""
    reader = bit_reader(num_actions)

    @kernel
    def read(mask: Mask) -> int:
        return reader(mask, 0)

    @kernel
    def meet(actions: int, others: int) -> int:
        return actions & others

    @kernel
    def nth(actions: int, place: int) -> int:
        return lowest_bit(nth_mask(actions, place))

    return ActionSets(0, read, meet, popcount, nth)


def split_sets(
    starts: Sequence[int],
    read: Callable[[Mask], Actions],
    meet: Callable[[Actions, Actions], Actions],
) -> ActionSets:
    """Return the sets of a game with more actions: a tuple of ints each.

    Args:
        starts: the action of bit 0 of each part.
        read: see `ActionSets`; the game writes it out, part by part.
        meet: likewise.
    """
    first = np.array(starts, np.int64)
    num_parts = len(starts)

    @kernel
    def count(actions: Actions) -> int:
        found = 0
        for part in range(num_parts):
            found += popcount(actions[part])
        return found

    @kernel
    def nth(actions: Actions, place: int) -> int:
        for part in range(num_parts):
            here = popcount(actions[part])
            if place < here:
                start: int = first[part]
                return start + lowest_bit(nth_mask(actions[part], place))
            place -= here
        return -1

    return ActionSets((0,) * num_parts, read, meet, count, nth)


def random_base(sets: ActionSets) -> BaseKernel:
    """Make the base policy that chooses any action, each equally likely."""
    count, nth = sets.count, sets.nth

    @kernel
    def choose(observation: Observation, actions: Actions, rng: Stream) -> int:
        return nth(actions, random_below(rng, count(actions)))

    return choose
