"""Information-set Monte-Carlo tree search: one tree over sampled worlds, with hints for rollouts.

Each simulation samples a world that the observation allows, walks down a tree of the actions that
have been played in such worlds, adds one node, and plays the game out by a policy. A node counts
how often it could have been chosen, since an action that is legal in one world may not be in
another. Whoever moves at a node prefers what has paid that seat best, so several players need no
more than the scores of all (max^n).

Letters of shapes: O observation size, A actions, P seats, M nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import log, sqrt
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from agents.base import ActKernel
from agents.search.base import Budget, SearchAgent, SearchKernels
from agents.search.pimc import SolveKernel
from cardenvs.core.episode import NO_ACTION, legal_sampler
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel, rare_kernel
from cardenvs.core.rng import Stream, random_word
from cardenvs.core.rows import Mask, Observation

#: `stage(state) -> int`: tells apart questions to one seat that may follow the same actions, such
#: as whether to add a card and how to answer. A kernel.
StageKernel = Callable[[Any], int]

#: The tree begins here.
ROOT = 0
NO_NODE = -1

#: What is counted: the nodes of the tree, the simulations of this decision; and whether the
#: position was solved (not looked at, solved, or left to the tree).
NODES, SIMULATIONS, SOLVED = range(3)
UNTRIED, EXACT, GIVEN_UP = range(3)

#: A share of all random words, of 32 bits.
_WORDS = 2**32


class Tree(NamedTuple):
    """The nodes: each but the root is an action of a seat, in the worlds where it can be played."""

    parent: Any  # int64 [M]
    first_child: Any  # int64 [M]: the one added last, NO_NODE if there is none
    sibling: Any  # int64 [M]: the child of the same parent that was added before
    mover: Any  # int64 [M]: the seat that plays the action
    stage: Any  # int64 [M]: what it was asked
    action: Any  # int64 [M]
    visits: Any  # int64 [M]
    available: Any  # int64 [M]: how often the action was legal when its parent was passed
    total: Any  # int64 [M]: what the visits have brought the mover, in units


class Memory(NamedTuple):
    """What the search works on."""

    rows: Any  # STATE_DTYPE [1]: the world; its options are set
    mask: Any  # int8 [A]: the legal actions in it, or those of them that a node has no child for
    observation: Any  # int8 [O], of the seat on turn in it
    units: Any  # int64 [2, P]: the returns before and after a simulation
    tree: Tree
    counts: Any  # int64 [3]
    solver: Any  # the arrays of the solver of endgames
    exact: Any  # float64 [A]: what the solver says
    answer: Any  # int64 [1]: the action to play in a solved position
    exploration: float  # in units
    random_share: int  # of rollout actions, in 1/2**32
    max_rollout: int  # decisions
    scale: float  # units in a point


class Parts(NamedTuple):
    """What a game brings to the search, all of it kernels.

    Attributes:
        policy: plays the rollouts, from the observation of the seat on turn.
        stage: see `StageKernel`.
        is_endgame: whether the solver can take a world; its cards then lie open to all.
        solve: the solver.
    """

    policy: ActKernel
    stage: StageKernel
    is_endgame: Callable[[Any], bool]
    solve: SolveKernel


@dataclass(frozen=True)
class Settings:
    """How the search looks around.

    Attributes:
        exploration: the constant of the upper confidence bounds, for scores in 0 .. 1.
        random_share: the share of rollout actions that are random instead of the policy's.
        max_nodes: the nodes that the tree has room for; when it is full it grows no more.
        max_rollout: the decisions after which a rollout is given up; it scores what was lost so
            far.
    """

    exploration: float = 0.5
    random_share: float = 0.05
    max_nodes: int = 20_000
    max_rollout: int = 1_000

    def __post_init__(self) -> None:
        if not self.exploration >= 0:
            raise ValueError(f"exploration is a number from 0 upwards, not {self.exploration}")
        if not 0 <= self.random_share <= 1:
            raise ValueError(f"random_share is a number from 0 to 1, not {self.random_share}")
        if self.max_nodes < 2:
            raise ValueError(f"a tree has two nodes or more, not {self.max_nodes}")
        if self.max_rollout < 1:
            raise ValueError(f"max_rollout is one decision or more, not {self.max_rollout}")


@cache
def ismcts_kernels(rules: ModuleType, view: ModuleType, parts: Parts) -> SearchKernels:
    """Make the search of a game."""
    policy, stage, is_endgame, solve = parts
    apply_action, is_terminal, forced_action, write_action_mask, write_returns = (
        rules.apply_action,
        rules.is_terminal,
        rules.forced_action,
        rules.write_action_mask,
        rules.write_returns,
    )
    sample_world, write_observation = view.sample_world, view.write_observation
    random_legal = legal_sampler(rules.ACTIONS.size)

    @kernel
    def begin(observation: Observation, mask: Mask, memory: Memory) -> None:
        memory.counts[:] = 0
        add_node(memory, NO_NODE, NO_ACTION)

    @kernel
    def extend(
        observation: Observation, mask: Mask, rng: Stream, memory: Memory, units: int
    ) -> bool:
        for _ in range(units):
            if memory.counts[SOLVED] == EXACT:
                return False
            state = memory.rows[0]
            sample_world(observation, rng, state)
            if memory.counts[SOLVED] == UNTRIED:
                try_to_solve(observation, mask, rng, memory)
            if memory.counts[SOLVED] == GIVEN_UP:
                simulate(mask, rng, memory)
        return True

    @kernel
    def try_to_solve(observation: Observation, mask: Mask, rng: Stream, memory: Memory) -> None:
        """Have the solver take an endgame; what no solver takes is left to the tree."""
        memory.counts[SOLVED] = GIVEN_UP
        state = memory.rows[0]
        if is_endgame(state) and solve(state, mask, memory.solver, memory.exact):
            memory.counts[SOLVED] = EXACT
            memory.answer[0] = answer_of(observation, mask, rng, memory)

    @kernel
    def answer_of(observation: Observation, mask: Mask, rng: Stream, memory: Memory) -> int:
        """A best action: where there are several the policy's, if it is one, or the lowest id."""
        values = memory.exact
        best = -1
        for action in range(mask.shape[0]):
            if mask[action] and (best < 0 or values[action] > values[best]):
                best = action
        liked = ask_policy(observation, mask, rng)
        return liked if values[liked] == values[best] else best

    @kernel
    def ask_policy(observation: Observation, mask: Mask, rng: Stream) -> int:
        return policy(observation, mask, rng)

    @rare_kernel
    def policy_action(state: Any, rng: Stream, memory: Memory) -> int:
        """What the policy plays for the seat on turn in the world."""
        write_observation(state, state.current_player, memory.observation)
        return ask_policy(memory.observation, memory.mask, rng)

    @kernel
    def simulate(mask: Mask, rng: Stream, memory: Memory) -> None:
        """Play the world out, and note at all nodes passed what it brought."""
        state = memory.rows[0]
        write_returns(state, memory.units[0])
        for action in range(mask.shape[0]):  # at the root those that the search was asked about
            memory.mask[action] = mask[action]
        leaf = walk_down(state, rng, memory)
        roll_out(state, rng, memory)
        write_returns(state, memory.units[1])
        back_up(leaf, memory)
        memory.counts[SIMULATIONS] += 1

    @rare_kernel
    def play_on(state: Any, action: int, mask: Mask) -> None:
        """Play an action, and forced ones up to the next decision or the end of the game."""
        while action != NO_ACTION:
            apply_action(state, action)
            if is_terminal(state):
                return
            action = forced_action(state)
        write_action_mask(state, mask)

    @kernel
    def walk_down(state: Any, rng: Stream, memory: Memory) -> int:
        """Choose among the children of a node while all actions have one; return the last node."""
        tree = memory.tree
        node = ROOT
        while not is_terminal(state):
            child = best_child(state, node, memory)
            action = new_action(state, child, rng, memory)
            is_new = action != NO_ACTION and memory.counts[NODES] < tree.parent.shape[0]
            if is_new:
                child = add_child(state, node, action, memory)
            elif child == NO_NODE:
                return node
            play_on(state, tree.action[child], memory.mask)
            node = child
            if is_new:
                return node
        return node

    @kernel
    def best_child(state: Any, node: int, memory: Memory) -> int:
        """The child with the highest upper bound, of those that can be played in this world.

        Their actions are struck out of the mask.
        """
        tree, mask = memory.tree, memory.mask
        mover, asked = state.current_player, stage(state)
        best = NO_NODE
        highest = 0.0
        child = tree.first_child[node]
        while child != NO_NODE:
            is_asked = tree.mover[child] == mover and tree.stage[child] == asked
            if is_asked and mask[tree.action[child]]:
                mask[tree.action[child]] = 0
                tree.available[child] += 1
                visits = tree.visits[child]
                width = sqrt(log(tree.available[child]) / visits)
                bound = tree.total[child] / visits + memory.exploration * width
                if best == NO_NODE or bound > highest:
                    best = child
                    highest = bound
            child = tree.sibling[child]
        return best

    @kernel
    def new_action(state: Any, best: int, rng: Stream, memory: Memory) -> int:
        """An action without a child: the policy's to begin with, then any; NO_ACTION if none."""
        if best != NO_NODE:
            return random_legal(memory.mask, random_word(rng))
        return policy_action(state, rng, memory)

    @kernel
    def add_child(state: Any, parent: int, action: int, memory: Memory) -> int:
        """Put an action of the seat on turn below a node; return its node."""
        tree = memory.tree
        node = add_node(memory, parent, action)
        tree.mover[node] = state.current_player
        tree.stage[node] = stage(state)
        tree.available[node] = 1
        tree.sibling[node] = tree.first_child[parent]
        tree.first_child[parent] = node
        return node

    @kernel
    def add_node(memory: Memory, parent: int, action: int) -> int:
        """Begin a node that nothing is known of; there must be room."""
        tree = memory.tree
        node: int = memory.counts[NODES]
        memory.counts[NODES] += 1
        tree.parent[node] = parent
        tree.action[node] = action
        tree.first_child[node] = NO_NODE
        tree.visits[node] = 0
        tree.total[node] = 0
        return node

    @kernel
    def roll_out(state: Any, rng: Stream, memory: Memory) -> None:
        """Play to the end of the game by the policy, now and then at random."""
        for _ in range(memory.max_rollout):
            if is_terminal(state):
                return
            if random_word(rng) < memory.random_share:
                action = random_legal(memory.mask, random_word(rng))
            else:
                action = policy_action(state, rng, memory)
            play_on(state, action, memory.mask)

    @kernel
    def back_up(leaf: int, memory: Memory) -> None:
        """Count a visit at all nodes down to a leaf, and what it brought the seat moving there."""
        tree, units = memory.tree, memory.units
        node = leaf
        while node != ROOT:
            mover = tree.mover[node]
            tree.visits[node] += 1
            tree.total[node] += units[1, mover] - units[0, mover]
            node = tree.parent[node]

    @kernel
    def choose(mask: Mask, memory: Memory) -> int:
        """The solver's action, or that of most visits; of equals the better, then any."""
        action: int = memory.answer[0]
        if memory.counts[SOLVED] == EXACT:
            return action
        tree = memory.tree
        best = tree.first_child[ROOT]
        child = best
        while child != NO_NODE:
            more = tree.visits[child] - tree.visits[best]
            if more > 0 or (more == 0 and tree.total[child] > tree.total[best]):
                best = child
            child = tree.sibling[child]
        action = tree.action[best]
        return action

    @kernel
    def write_values(mask: Mask, memory: Memory, values: Any) -> None:
        if memory.counts[SOLVED] == EXACT:
            for action in range(mask.shape[0]):
                if mask[action]:
                    values[action] = memory.exact[action]
            return
        tree = memory.tree
        child = tree.first_child[ROOT]
        while child != NO_NODE:
            mean = tree.total[child] / tree.visits[child]
            values[tree.action[child]] = mean / memory.scale
            child = tree.sibling[child]

    return SearchKernels(begin, extend, choose, write_values)


@kernel
def never(state: Any) -> bool:
    """For games without a solver of endgames."""
    return False


@kernel
def no_solver(state: Any, mask: Mask, solver: Any, values: Any) -> bool:
    """For games without a solver of endgames."""
    return False


def make_ismcts(
    game: Game,
    parts: Parts,
    budget: Budget,
    seed: int | None,
    settings: Settings,
    solver: Any = (),
) -> SearchAgent:
    """Return an agent that searches a tree over sampled worlds.

    Values are what the rest of the present game brings, not of a match.

    Args:
        game: the game with its options.
        parts: what the search needs to know of it.
        budget: in simulations.
        seed: of the agent's own generator; by default drawn from the system.
        settings: how it looks around.
        solver: the arrays of the solver of endgames.
    """
    max_nodes = settings.max_nodes
    if budget.units is not None:
        max_nodes = min(max_nodes, budget.units + 1)  # a simulation adds one at most
    memory = Memory(
        rows=game.blank_rows(),
        mask=np.zeros(game.num_actions, np.int8),
        observation=np.zeros(game.observation_size, np.int8),
        units=np.zeros((2, game.num_players), np.int64),
        tree=Tree(*(np.zeros(max_nodes, np.int64) for _ in Tree._fields)),
        counts=np.zeros(3, np.int64),
        solver=solver,
        exact=np.zeros(game.num_actions),
        answer=np.zeros(1, np.int64),
        exploration=settings.exploration * units_at_stake(game),
        random_share=int(settings.random_share * _WORDS),
        max_rollout=settings.max_rollout,
        scale=float(game.returns_scale),
    )
    kernels = ismcts_kernels(game.rules, game.view, parts)
    return SearchAgent("search", kernels, memory, budget, seed)


def units_at_stake(game: Game) -> float:
    """Return how far apart the best and the worst result of one game are, in units."""
    num_games = int(game.options.get("num_games", 1))
    points: float = (game.max_return - game.min_return) / num_games
    return points * game.returns_scale
