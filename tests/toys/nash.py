"""Exact values, best responses and NashConv of policies in two-player games that are tiny.

Everything walks the whole tree of a game by `State` alone. A game is given by its roots: states
at the start of its deals, all equally likely (a deal that is over at once counts too). A table
holds a policy: the probabilities of the actions, float64 [A], for every observation at which it
is asked. What a policy makes of an observation may not depend on more, but who responds to it
remembers all that the seat has seen, so no response can be better.

    roots = [game.new_initial_state(0, deal) for deal in DEALS]
    nash_conv(roots, tabular(roots, act_probabilities))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cardenvs.core.state import State

Probabilities = npt.NDArray[np.float64]
#: (observations int8 [N, O], masks int8 [N, A]) -> probabilities of the actions, float [N, A].
ActProbabilities = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8]], npt.NDArray[np.floating]]
#: The bytes of an observation -> the probabilities of the actions, float64 [A].
Table = Mapping[bytes, Probabilities]

#: Probabilities in float32 add up to one no better than this.
TOLERANCE = 1e-5


def decisions(roots: Sequence[State]) -> dict[bytes, State]:
    """Return a state for every observation at which a player is asked, by its bytes."""
    found: dict[bytes, State] = {}
    for state in roots:
        if not state.is_terminal():
            found.setdefault(state.observation().tobytes(), state)
            children = [child(state, action) for action in state.legal_actions()]
            found |= decisions(children)
    return found


def child(state: State, action: int) -> State:
    """Return the state after an action; the one given stays as it is."""
    after = state.clone()
    after.apply_action(action)
    return after


def tabular(roots: Sequence[State], act_probabilities: ActProbabilities) -> Table:
    """Ask a policy at all decisions of a game at once.

    Args:
        roots: the states at the start of the deals.
        act_probabilities: the policy.

    Raises:
        ValueError: if what it returns are no probabilities of legal actions.
    """
    asked = decisions(roots)
    masks = np.stack([state.action_mask() for state in asked.values()])
    observations = np.stack([state.observation() for state in asked.values()])
    chosen = np.asarray(act_probabilities(observations, masks), np.float64)
    if chosen.shape != masks.shape:
        raise ValueError(f"probabilities are float {list(masks.shape)}, not {list(chosen.shape)}")
    if not (chosen >= 0.0).all() or chosen[masks == 0].any():
        raise ValueError("a probability is negative, or not zero for an illegal action")
    sums = chosen.sum(axis=1, keepdims=True)
    if not np.allclose(sums, 1.0, rtol=0.0, atol=TOLERANCE):
        raise ValueError(f"probabilities add up to 1, not to {sums.min()} .. {sums.max()}")
    return dict(zip(asked, chosen / sums, strict=True))


def expected_returns(roots: Sequence[State], tables: Sequence[Table]) -> Probabilities:
    """Return what each seat gets on the average, float64 [2].

    Args:
        roots: the states at the start of the deals.
        tables: the policy of each seat.
    """
    total = np.zeros(len(tables))
    for state in roots:
        total += _returns_from(state, tables)
    return total / len(roots)


def _returns_from(state: State, tables: Sequence[Table]) -> Probabilities:
    if state.is_terminal():
        return state.returns()
    total = np.zeros(len(tables))
    for action, probability in _choices(state, tables[state.current_player]):
        total += probability * _returns_from(child(state, action), tables)
    return total


def _choices(state: State, table: Table) -> list[tuple[int, float]]:
    """Return the actions that a policy plays, with their probabilities."""
    probabilities: list[float] = table[state.observation().tobytes()].tolist()
    return [(action, chance) for action, chance in enumerate(probabilities) if chance]


def best_response_value(roots: Sequence[State], table: Table, seat: int) -> float:
    """Return the most that a seat can get on the average against a policy.

    Args:
        roots: the states at the start of the deals.
        table: the policy of the other seat.
        seat: who responds.
    """
    return _best([(state, 1.0 / len(roots)) for state in roots], table, seat)


def _best(weighted: Sequence[tuple[State, float]], table: Table, seat: int) -> float:
    """Return the responder's best share from some states, weighted by all but its own choices.

    The states that the responder cannot tell apart are decided together. With all that it has
    seen remembered, what follows two different memories is never confused.
    """
    total = 0.0
    together: dict[bytes, list[tuple[State, float]]] = {}
    waiting = list(weighted)
    while waiting:
        state, weight = waiting.pop()
        if state.is_terminal():
            total += weight * float(state.returns()[seat])
        elif state.current_player == seat:
            memory = state.information_state(seat).tobytes()
            together.setdefault(memory, []).append((state, weight))
        else:
            waiting += [(child(state, action), weight * p) for action, p in _choices(state, table)]
    return total + sum(_best_action(group, table, seat) for group in together.values())


def _best_action(group: Sequence[tuple[State, float]], table: Table, seat: int) -> float:
    """Return the responder's share with the best action at states that look the same to it."""
    return max(
        _best([(child(state, action), weight) for state, weight in group], table, seat)
        for action in group[0][0].legal_actions()
    )


def nash_conv(roots: Sequence[State], table: Table) -> float:
    """Return what both seats together could gain by responding best to a policy of both.

    It is 0 for an equilibrium and positive for anything else.
    """
    values = expected_returns(roots, [table, table])
    return sum(best_response_value(roots, table, seat) - float(values[seat]) for seat in (0, 1))
