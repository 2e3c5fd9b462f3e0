"""Credit in self-play: every decision gets what its seat gains until its next one.

What is expected is computed from a log of the play, with lists and dicts: the actions of the
rollouts are played again on tables of the test's own, so nothing but the actions is taken from
what is tested.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import cardenvs
from cardenvs.core.batch import Batch
from cardenvs.core.game import Game
from tests.conftest import COMPILED
from training.evaluate import num_rotations
from training.rollout import NOBODY, Buffer, Collector
from training.runs import training_games

SEED = 3

#: All games as they are learnt, Dreeg by the deal and by the match.
GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "bred_ryg": ("bred_ryg-v0", {}),
    "brede_mette": ("brede_mette-v0", {}),
    "braus": ("braus-v0", {}),
    "dreeg deals": ("dreeg-v0", {"scope": "deal"}),
    "dreeg match": ("dreeg-v0", {"scope": "match"}),
    "dreeg variants": ("dreeg-v0", {}),
}

#: How the tables are shared with opponents.
SHARES = {"alone": {}, "among others": {"one": 0.3, "other": 0.4}}

#: The same; those whose episodes are long are too slow where they are not compiled.
WITHOUT_LONG_ONES = [
    pytest.param(name, marks=pytest.mark.compiled if name in ("bred_ryg", "dreeg match") else ())
    for name in GAMES
]

every_game = pytest.mark.parametrize("name", GAMES)
every_share = pytest.mark.parametrize("shares", SHARES.values(), ids=SHARES)


class Uniform:
    """A learner and an opponent that takes any legal action."""

    name, plays = "uniform", "sampled"

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, observation: Any, mask: Any) -> Any:
        return self.act(observation, mask), -np.log(mask.sum(axis=1), dtype=np.float32)

    def act(self, observation: Any, mask: Any) -> Any:
        return (mask * (1.0 + self._rng.random(mask.shape))).argmax(axis=1)


class Highest(Uniform):
    """An opponent that takes the last of the legal actions."""

    def act(self, observation: Any, mask: Any) -> Any:
        return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


# ----------------------------------------------------------------------------------------------
# A log of the play, and credit by the book


@dataclass
class Step:
    """An action at a table: in which rollout, at which of its steps, and what came of it."""

    rollout: int
    time: int
    table: int
    seat: int
    is_learner: bool
    action: int
    highest: int
    rewards: list[float]
    is_end: bool


@dataclass(eq=False)
class Decision:
    """A decision of the learner; `known_in` is the rollout that shows its outcome."""

    step: Step
    game: tuple[int, int]
    gained: float = 0.0
    next: Decision | None = None
    known_in: int | None = None


@dataclass
class Rollout:
    """What a buffer held when credit was assigned."""

    seat: Any
    value: Any
    advantage: Any
    is_closed: Any


@dataclass
class Log:
    """Rollouts, the steps in the order of play, and how a game of theirs ended, by its key."""

    rollouts: list[Rollout]
    steps: list[Step]


def play(
    games: Sequence[Game],
    shares: Mapping[str, float],
    num_tables: int,
    num_steps: int,
    num_rollouts: int = 0,
    num_ended: int = 0,
    weights: tuple[float, float] = (1.0, 1.0),
    has_values: bool = False,
) -> Log:
    """Collect rollouts, and assign their credit by a critic of random numbers or of zeros.

    There are at least so many rollouts, and at least so many games are played to their end.
    """
    collector = Collector(games, num_tables, num_steps, shares, SEED, sees_hands=True)
    learner, rng = Uniform(), np.random.default_rng(1)
    agents = dict(zip(shares, (Uniform(5), Highest()), strict=False))
    opponents = {name: [agent] * len(games) for name, agent in agents.items()}
    each = num_tables // len(games)
    batches = [Batch(game, each, SEED + i) for i, game in enumerate(games)]
    for batch in batches:
        batch.reset()
    log = Log([], [])
    while len(log.rollouts) < num_rollouts or collector.episodes < num_ended:
        buffer = collector.collect(learner, opponents)
        if has_values:
            buffer.value[:] = rng.normal(size=buffer.value.shape)
        buffer.assign_credit(*weights)
        kept = (buffer.seat, buffer.value, buffer.advantage, buffer.is_closed)
        log.rollouts.append(Rollout(*(array.copy() for array in kept)))
        own = slice(buffer.num_carried, None)
        log.steps += replayed(batches, len(log.rollouts) - 1, buffer.seat[own], buffer.action[own])
    return log


def replayed(batches: Sequence[Batch], rollout: int, seats: Any, actions: Any) -> list[Step]:
    """Play the actions of a rollout on other tables, and tell what happens, step by step."""
    steps = []
    for time in range(len(actions)):
        first = 0
        for batch in batches:
            asked, mask = batch.current_player.tolist(), batch.action_mask.copy()
            batch.step(actions[time, first : first + batch.num_envs])
            for i, seat in enumerate(asked):
                table = first + i
                is_learner = bool(seats[time, table] != NOBODY)
                assert seats[time, table] == (seat if is_learner else NOBODY)
                action, highest = int(actions[time, table]), int(np.flatnonzero(mask[i])[-1])
                told = (rollout, time, table, seat, is_learner, action, highest)
                steps.append(Step(*told, batch.reward[i].tolist(), bool(batch.terminated[i])))
            first += batch.num_envs
    return steps


def games_of(steps: Sequence[Step]) -> dict[tuple[int, int], list[Step]]:
    """Return the games that were played to their end, by table and number."""
    number: dict[int, int] = defaultdict(int)
    games: dict[tuple[int, int], list[Step]] = defaultdict(list)
    for step in steps:
        games[step.table, number[step.table]].append(step)
        number[step.table] += step.is_end
    return {key: game for key, game in games.items() if game[-1].is_end}


def decisions_of(steps: Sequence[Step]) -> list[Decision]:
    """Follow every seat of the learner from decision to decision, and count what it gains."""
    number: dict[int, int] = defaultdict(int)
    last: dict[tuple[int, int], Decision] = {}
    decisions = []
    for step in steps:
        if step.is_learner:
            decision = Decision(step, (step.table, number[step.table]))
            if before := last.get((step.table, step.seat)):
                before.next, before.known_in = decision, step.rollout
            last[step.table, step.seat] = decision
            decisions.append(decision)
        for seat, reward in enumerate(step.rewards):
            if (step.table, seat) in last:
                last[step.table, seat].gained += reward
        if step.is_end:
            number[step.table] += 1
            for table, seat in [key for key in last if key[0] == step.table]:
                last.pop((table, seat)).known_in = step.rollout
    return decisions


def place_in(decision: Decision, rollout: int, num_carried: int) -> tuple[int, int]:
    """Return where a decision stands in the buffer of its rollout or of a later one."""
    step = decision.step
    row = num_carried + step.time if step.rollout == rollout else step.seat
    return row, step.table


def advantage_of(
    decision: Decision, log: Log, num_carried: int, weights: tuple[float, float]
) -> float:
    """Return the advantage by the definition of GAE, with what its rollout knows."""
    gamma, gae_lambda = weights
    rollout = decision.known_in
    assert rollout is not None
    value = log.rollouts[rollout].value
    advantage = decision.gained - float(value[place_in(decision, rollout, num_carried)])
    if decision.next:
        advantage += gamma * float(value[place_in(decision.next, rollout, num_carried)])
        if decision.next.known_in == rollout:
            later = advantage_of(decision.next, log, num_carried, weights)
            advantage += gamma * gae_lambda * later
    return advantage


def credit_of(decision: Decision, log: Log, num_carried: int) -> float:
    """Return the advantage that the buffer had for a decision."""
    assert decision.known_in is not None
    rollout = log.rollouts[decision.known_in]
    return float(rollout.advantage[place_in(decision, decision.known_in, num_carried)])


def games_named(name: str, **options: Any) -> list[Game]:
    game_id, own = GAMES[name]
    return training_games(game_id, own | options)


def num_seats(games: Sequence[Game]) -> int:
    return max(game.num_players for game in games)


# ----------------------------------------------------------------------------------------------
# All games, over several rollouts


@every_game
@every_share
def test_advantages_are_those_of_a_plain_loop(
    name: str, shares: dict[str, float], num_games: int
) -> None:
    games, weights = games_named(name), (0.9, 0.7)
    num_rollouts = 4 + num_games // 10
    log = play(games, shares, 26, 7, num_rollouts, weights=weights, has_values=True)
    known = [decision for decision in decisions_of(log.steps) if decision.known_in is not None]
    expected: list[dict[tuple[int, int], float]] = [{} for _ in log.rollouts]
    carried = num_seats(games)
    for decision in known:
        assert decision.known_in is not None
        place = place_in(decision, decision.known_in, carried)
        expected[decision.known_in][place] = advantage_of(decision, log, carried, weights)
    for rollout, wanted in zip(log.rollouts, expected, strict=True):
        assert set(zip(*np.nonzero(rollout.is_closed), strict=True)) == set(wanted)
        found = [float(rollout.advantage[place]) for place in wanted]
        assert found == pytest.approx(list(wanted.values()), abs=1e-5)
    assert any(decision.step.rollout != decision.known_in for decision in known)


@pytest.mark.parametrize("name", WITHOUT_LONG_ONES)
@every_share
def test_credit_and_what_nobody_can_be_credited_with_sum_to_the_constant_of_the_game(
    name: str, shares: dict[str, float], num_games: int
) -> None:
    games = games_named(name)
    num_ended = 3 if "match" in name else 1 + num_games // 5
    log = play(games, shares, 13, 7, num_ended=num_ended, weights=(1.0, 0.0))
    credited: dict[tuple[int, int], float] = defaultdict(float)
    for decision in decisions_of(log.steps):
        if decision.known_in is not None:
            credited[decision.game] += credit_of(decision, log, num_seats(games))
    for key, steps in games_of(log.steps).items():
        assert credited[key] + uncredited(steps) == pytest.approx(0.0, abs=1e-4)


def uncredited(steps: Sequence[Step]) -> float:
    """Return what seats gained in a game before the learner first decided for them, if ever."""
    total, known = 0.0, set()
    for step in steps:
        if step.is_learner:
            known.add(step.seat)
        total += sum(gain for seat, gain in enumerate(step.rewards) if seat not in known)
    return total


def test_where_only_the_loser_pays_credit_sums_to_the_loss(num_games: int) -> None:
    games = [cardenvs.load_game("bred_ryg", reward="loser", num_players=5)]
    log = play(games, {}, 20, 9, num_ended=1 + num_games // 5, weights=(1.0, 0.0))
    credited: dict[tuple[int, int], float] = defaultdict(float)
    for decision in decisions_of(log.steps):
        if decision.known_in is not None:
            credited[decision.game] += credit_of(decision, log, 5)
    for key, steps in games_of(log.steps).items():
        assert credited[key] + uncredited(steps) == pytest.approx(-1.0, abs=1e-5)


@pytest.mark.parametrize("name", ["bred_ryg", "brede_mette", "braus", "dreeg deals"])
def test_the_last_decision_of_a_loser_carries_the_loss(name: str, num_games: int) -> None:
    """In 1,000 games, unless told to play fewer."""
    num_ended = 5 * num_games if COMPILED else num_games
    games = games_named(name)
    log = play(games, {}, num_games, 25, num_ended=num_ended)
    last = {(*decision.game, decision.step.seat): decision for decision in decisions_of(log.steps)}
    losses = after_others = 0
    for (table, number), steps in games_of(log.steps).items():
        returns = np.sum([step.rewards for step in steps], axis=0)
        for seat in np.flatnonzero(returns < 0).tolist():
            if decision := last.get((table, number, seat)):
                losses += 1
                after_others += steps[-1].seat != seat
                credit = credit_of(decision, log, num_seats(games))
                assert credit == pytest.approx(returns[seat], abs=1e-5)
    assert losses >= 0.95 * num_ended
    assert after_others > 0


# ----------------------------------------------------------------------------------------------
# Single tables


def buffer_of_two(kuhn_id: str, num_rows: int) -> Buffer:
    """Return a buffer of one table for two, whose rows are to be filled."""
    return Buffer(2 + num_rows, [cardenvs.load_game(kuhn_id)], 1, 1)


def fill(buffer: Buffer, seats: Sequence[int], gains: Sequence[float], ends: Sequence[int]) -> None:
    """Write steps behind the carried rows: what seat 0 gains seat 1 loses."""
    buffer.seat[2:, 0] = seats
    buffer.reward[2:, 0, 0] = gains
    buffer.reward[2:, 0, 1] = -np.array(gains)
    buffer.end[2:, 0] = np.array(ends, np.bool_)


def test_a_hand_worked_example(kuhn_id: str) -> None:
    buffer = buffer_of_two(kuhn_id, 5)
    fill(buffer, seats=[0, 1, 0, 1, 0], gains=[0.0, 1.0, 0.0, 2.0, 0.25], ends=[0, 0, 0, 1, 0])
    buffer.value[2:, 0] = [1.0, 2.0, 3.0, 4.0, 5.0]
    buffer.assign_credit(0.5, 0.5)
    assert buffer.is_closed[:, 0].tolist() == [False] * 2 + [True] * 4 + [False]
    fourth = -2.0 - 4.0
    third = 2.0 - 3.0
    second = -1.0 + 0.5 * 4.0 - 2.0 + 0.25 * fourth
    first = 1.0 + 0.5 * 3.0 - 1.0 + 0.25 * third
    assert buffer.advantage[2:6, 0].tolist() == [first, second, third, fourth]
    # The last decision goes on into the next rollout, with what it has gained.
    buffer.action[6, 0] = 1
    buffer.carry_over()
    assert buffer.seat[:2, 0].tolist() == [0, NOBODY]
    assert buffer.reward[:2, 0].tolist() == [[0.25, 0.0], [0.0, 0.0]]
    assert buffer.action[0, 0] == 1
    fill(buffer, seats=[1, 1, 0, 1, 0], gains=[1.0, 0.0, 0.0, 4.0, 0.0], ends=[0, 0, 0, 1, 0])
    buffer.value[:, 0] = [7.0, 0.0, 1.0, 1.0, 3.0, 1.0, 0.0]
    buffer.assign_credit(0.5, 0.5)
    assert buffer.is_closed[:, 0].tolist() == [True, False, True, True, True, True, False]
    assert buffer.advantage[4, 0] == 4.0 - 3.0
    assert buffer.advantage[0, 0] == (0.25 + 1.0) + 0.5 * 3.0 - 7.0 + 0.25 * (4.0 - 3.0)


def test_a_decision_stays_open_over_rollouts_in_which_its_seat_is_not_asked(kuhn_id: str) -> None:
    buffer = buffer_of_two(kuhn_id, 1)
    fill(buffer, [0], [0.5], [0])
    buffer.assign_credit(1.0, 1.0)
    for gain in (1.0, 2.0):
        buffer.carry_over()
        fill(buffer, [NOBODY], [gain], [0])
        buffer.assign_credit(1.0, 1.0)
        assert not buffer.is_closed.any()
    buffer.carry_over()
    fill(buffer, [NOBODY], [4.0], [1])
    buffer.assign_credit(1.0, 1.0)
    assert buffer.is_closed[:, 0].tolist() == [True, False, False]
    assert buffer.advantage[0, 0] == 7.5
    buffer.carry_over()
    assert (buffer.seat[:2] == NOBODY).all()
    assert not buffer.reward[:2].any()


def test_what_is_carried_over_twice_is_carried_over_once(kuhn_id: str) -> None:
    buffer = buffer_of_two(kuhn_id, 2)
    fill(buffer, [0, 1], [1.0, 2.0], [0, 0])
    buffer.assign_credit(1.0, 1.0)
    buffer.carry_over()
    once = {name: array.copy() for name, array in buffer.carried().items()}
    assert once["reward"][:, 0].tolist() == [[3.0, 0.0], [0.0, -2.0]]
    buffer.carry_over()
    assert all((array == once[name]).all() for name, array in buffer.carried().items())


@every_game
def test_permuting_the_seats_permutes_the_results(name: str) -> None:
    games = games_named(name)
    num_tables, seats = 13, num_seats(games)
    collector = Collector(games, num_tables, 20, {}, SEED, sees_hands=False)
    plain = collector.collect(Uniform(), {})
    plain.value[:] = np.random.default_rng(2).normal(size=plain.value.shape)
    order = np.random.default_rng(3).permutation(seats)
    other = Buffer(len(plain.seat), games, num_tables, collector.size)
    other.seat[:] = np.where(plain.seat >= 0, order[plain.seat], NOBODY)
    other.reward[:, :, order] = plain.reward
    other.end[:], other.value[:] = plain.end, plain.value
    for buffer in (plain, other):
        buffer.assign_credit(0.9, 0.8)
    assert plain.is_closed.any()
    assert (plain.is_closed == other.is_closed).all()
    assert (plain.advantage == other.advantage).all()
    for buffer in (plain, other):
        buffer.carry_over()
    assert (other.reward[:seats][order][:, :, order] == plain.reward[:seats]).all()


# ----------------------------------------------------------------------------------------------
# Who plays


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("bred_ryg", marks=pytest.mark.compiled),
        "braus",
        pytest.param("dreeg variants", marks=pytest.mark.compiled),
    ],
)
def test_opponents_have_their_share_of_the_games_and_the_learner_one_side(
    name: str, num_games: int
) -> None:
    games = games_named(name, **({"no_progress_limit": 8} if name == "bred_ryg" else {}))
    log = play(games, SHARES["among others"], 52, 10, num_ended=2 * num_games)
    sides = [num_rotations(game) for game in games for _ in range(52 // len(games))]
    alone = seen = highest = 0
    for (table, _), steps in games_of(log.steps).items():
        seats = {step.seat for step in steps if step.is_learner}
        others = [step for step in steps if not step.is_learner]
        seen += 1
        if others:
            alone += 1
            assert len({seat % sides[table] for seat in seats}) <= 1
            assert not seats & {step.seat for step in others}
            highest += all(step.action == step.highest for step in others)
    assert abs(alone / seen - 0.7) < 4 * (0.21 / seen) ** 0.5 + 0.05
    assert highest > 0.2 * seen


def test_tables_with_fewer_players_are_padded() -> None:
    games = games_named("dreeg variants")
    collector = Collector(games, 2 * len(games), 30, {}, SEED, sees_hands=True)
    for _ in range(2):
        buffer = collector.collect(Uniform(), {})
        buffer.assign_credit(1.0, 1.0)
        for i, game in enumerate(games):
            part, players = slice(2 * i, 2 * i + 2), game.num_players
            assert buffer.seat[:, part].max() < players
            assert not buffer.reward[:, part, players:].any()
            assert not buffer.seen[:, part, game.critic_state_size :].any()
            assert not buffer.is_closed[players : buffer.num_carried, part].any()
    assert {game.num_players for game in games} == {2, 3, 4}


@every_game
def test_a_collector_goes_on_from_a_snapshot(name: str) -> None:
    games, shares = games_named(name), {"one": 0.5}

    def made() -> Collector:
        return Collector(games, 26, 5, shares, SEED, sees_hands=True)

    def rollouts(collector: Collector, count: int) -> list[bytes]:
        played = []
        for number in range(count):
            buffer = collector.collect(Uniform(number), {"one": [Uniform(number)] * len(games)})
            buffer.assign_credit(1.0, 0.9)
            action = np.where(buffer.seat >= 0, buffer.action, 0)
            advantage = np.where(buffer.is_closed, buffer.advantage, 0.0)
            kept = (buffer.seat, action, advantage, buffer.is_closed, buffer.reward, buffer.end)
            played.append(b"".join(array.tobytes() for array in kept))
        return played

    collector, other = made(), made()
    rollouts(collector, 3)
    arrays, values = collector.snapshot()
    expected = rollouts(collector, 3)
    other.restore(arrays, values)
    assert rollouts(other, 3) == expected
    assert (other.decisions, other.episodes) == (collector.decisions, collector.episodes)


@pytest.mark.parametrize(
    ("num_tables", "shares", "message"),
    [
        (12, {}, "12 tables cannot be divided among 13 variants"),
        (13, {"one": 0.6, "other": 0.5}, "shares of opponents are at least 0 and at most 1 in all"),
        (13, {"one": -0.1}, "shares of opponents"),
        (13, {"one": float("nan")}, "shares of opponents"),
    ],
)
def test_what_cannot_be_played_is_refused(
    num_tables: int, shares: dict[str, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Collector(games_named("dreeg variants"), num_tables, 4, shares, SEED, sees_hands=False)


def test_variants_of_other_spaces_do_not_learn_together() -> None:
    games = [cardenvs.load_game("bred_ryg", num_players=players) for players in (3, 4)]
    with pytest.raises(ValueError, match="equal observations and actions"):
        Collector(games, 2, 4, {}, SEED, sees_hands=False)
