"""Checks that every game must pass, for the tests of this library and of games made elsewhere.

    from cardenvs.testing import check_game, check_no_leak
    check_game("bred_ryg-v0")
    check_no_leak(load_game("bred_ryg-v0", num_players=5))

Both play at random, need nothing beyond NumPy, and raise an AssertionError that names the game,
the seed and the position at which something was wrong.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cardenvs.core.batch import Batch
from cardenvs.core.errors import DealError, IllegalActionError
from cardenvs.core.game import Game
from cardenvs.core.rng import start_stream, table_seed
from cardenvs.core.rows import rotate
from cardenvs.core.seats import NO_SEAT
from cardenvs.core.state import EVENT_SIZE, State
from cardenvs.registry import load_game

#: No episode of random play is longer than this.
MAX_DECISIONS = 100_000

#: At how many nodes of an episode, on the average, the costly checks are made.
NUM_STOPS = 3

#: How many random positions are looked at for one of those that are to be checked.
MAX_TABLES = 20_000

#: How often a re-deal of each of two kinds is tried for a seat before it is given up.
NUM_REDEALS = 4

#: The entries that `write_event` wrote.
Event = list[int]


def check_game(game: str | Game, num_games: int = 20, seed: int = 0) -> None:
    """Check the contract of a game over random play.

    At every node: the mask is int8 [A] of zeros and ones, with two legal actions at least (one,
    with `skip_forced=False`), and zero for seats off turn; the legal ids are those of the mask,
    ascending; their words differ and lead back to them; observations are int8 [O] within the
    bounds of the layout and decode; returns lie within `min_return` and `max_return` and grow by
    what the batch pays as reward; the same seed shows the same game again.

    At some nodes: `clone`, `copy`, `deepcopy`, `pickle` and `get_state` with `set_state` go on to
    the same end; `to_deal` and `history` replay the deal; illegal, out-of-range and senseless
    actions raise `IllegalActionError` and change nothing. At the end: nobody is on turn and no
    action is legal. `action_features` has a row for every action, and a `Batch` of one and of
    three tables, in one and in two threads, shows the very games that `State` shows.

    Args:
        game: an id, or a game with its options; it must be registered, as pickling needs that.
        num_games: how many episodes to play.
        seed: of the play.

    Raises:
        AssertionError: saying what is wrong, and where.
    """
    game = _loaded(game)
    features = game.action_features
    _require(features.shape[0] == game.num_actions, game, "action_features lacks rows", features)
    length = 50  # a guess, until an episode has been seen
    for number in range(num_games):
        length = _check_episode(game, random.Random(f"{seed}/{number}"), length)
    for num_envs, num_threads in ((1, 1), (3, 1), (3, 2)):
        _check_batch(game, num_envs, num_threads, num_games, seed)


def check_no_leak(
    game: str | Game,
    num_positions: int = 2000,
    seed: int = 0,
    where: Callable[[State], bool] = lambda state: True,
    deal: Callable[[random.Random], Any] = lambda rng: None,
) -> None:
    """Check, at random positions, that what a seat cannot know changes nothing that it sees.

    It is checked for every seat, on turn or not, in three ways:

    * *Other tables.* Cards that the seat has never seen are exchanged in the deal: cards that lie
      in other hands or the stock now, that were never in the seat's hand, and that `public()`
      never named. Both tables are then played, all nodes asked, by the same visible events
      (where one asks somebody who does no more than pass, unseen, the other need not). A table
      in which these events are impossible is no world that the seat holds possible; it is thrown
      away. In all others the seat's observations after every event, and now, its mask, words,
      rendering and the public facts must be the same. This does not use `sample_world`. With
      `skip_forced`, the decisions among these nodes are played again in the game itself, and
      `information_state` and all of the above compared there too.
    * *Sampled worlds.* In a world that `sample_world` makes from the seat's observation, the seat
      has the same observation, rendering and public facts, and `determinize` gives the seat on
      turn the same mask and words.
    * *Unseen events.* While other seats do what the seat does not see (`write_event` says so), one
      after the other, its observation and rendering stay as they are.

    Cards are exchanged within the first deal of an episode; later deals of a match are reached by
    sampled worlds and unseen events alone.

    Args:
        game: an id, or a game with its options.
        num_positions: how many positions to check.
        seed: of the play.
        where: whether a position is one of those to check; others are passed over.
        deal: draws what to begin with, as data; by default, whatever is dealt.

    Raises:
        AssertionError: saying what was seen, and where; also if so few re-deals were possible
            that the check says nothing, or no position is `where` it should be.
    """
    game = _loaded(game)
    rng = random.Random(f"no leak/{seed}")
    possible = wanted = 0
    for _ in range(num_positions):
        table = _table_where(game, rng, where, deal)
        for seat in range(game.num_players):
            _check_sampled_world(table.state, seat, rng)
            if table.is_first_deal and len(table.unseen_cards(seat)) > 1:
                wanted += 1
                possible += table.check_other_table(seat, rng)
    _require(possible >= wanted / 4, game, "too few re-deals were possible", (possible, wanted))


# ----------------------------------------------------------------------------------------------
# Both


def _loaded(game: str | Game) -> Game:
    return load_game(game) if isinstance(game, str) else game


def _require(is_right: bool, where: Game | State, what: str, shown: Any = None) -> None:
    """Raise an AssertionError that says where something is wrong."""
    if is_right:
        return
    place = repr(where)
    if isinstance(where, State):
        seed, episode = where.stream
        place = f"{where.game!r}, seed {seed}, episode {episode}, after {where._actions}"
    raise AssertionError(f"{place}: {what}" if shown is None else f"{place}: {what}: {shown}")


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Say in what two views differ; "" if they do not."""
    return "; ".join(
        f"{name}: {one.get(name)!r} and {other.get(name)!r}"
        for name in sorted({*one, *other})
        if one.get(name) != other.get(name)
    )


def _shown_to(state: State, seat: int) -> dict[str, Any]:
    """Return what a seat sees of the table."""
    shown: dict[str, Any] = state.game.layout.decode(state.observation(seat))
    return shown | {"render": state.render(seat), "public": state.public()}


def _seen_by(state: State, seat: int) -> dict[str, Any]:
    """Return what a seat sees of the table and, on turn, of its choice."""
    shown = _shown_to(state, seat)
    shown["mask"] = state.action_mask(seat).tolist()
    shown["words"] = state.legal_action_strings() if state.current_player == seat else None
    return shown


# ----------------------------------------------------------------------------------------------
# The contract


def _check_episode(game: Game, rng: random.Random, length: int) -> int:
    """Play an episode of about a length and check it; return its length."""
    seed = rng.getrandbits(62)
    state, again = game.new_initial_state(seed), game.new_initial_state(seed)
    while not state.is_terminal():
        _check_node(state)
        is_same = _position(state) == _position(again)
        _require(is_same, state, "the same seed and actions gave another game", again)
        if rng.random() < NUM_STOPS / length:
            _check_copies(state)
            _check_replay(state)
            _check_illegal_actions(state, rng)
        action = rng.choice(state.legal_actions())
        _check_action(state, action)
        again.apply_action(action)
        _require(len(state._actions) < MAX_DECISIONS, game, "an episode does not end", seed)
    _check_end(state, rng)
    _check_copies(state)
    return max(1, len(state._actions))


def _check_node(state: State) -> None:
    """Check what a table shows at a decision."""
    game, mask = state.game, state.action_mask()
    legal = state.legal_actions()
    is_mask = mask.dtype == np.int8 and mask.shape == (game.num_actions,) and mask.max() <= 1
    _require(is_mask and mask.min() >= 0, state, "the mask is not int8 [A] of 0 and 1", mask)
    least = 2 if game.options["skip_forced"] else 1
    _require(len(legal) >= least, state, f"fewer than {least} legal actions", legal)
    is_same = legal == np.flatnonzero(mask).tolist() and all(type(each) is int for each in legal)
    _require(is_same, state, "legal_actions are not those of the mask, ascending", legal)
    words = state.legal_action_strings()
    _require(len(set(words)) == len(words), state, "two legal actions have the same words", words)
    for action, text in zip(legal, words, strict=True):
        _require(state.action_to_string(action) == text, state, "words of an action", text)
        _require(state.string_to_action(text) == action, state, "words lead elsewhere", text)
    for seat in range(game.num_players):
        if seat != state.current_player:
            _require(not state.action_mask(seat).any(), state, "a mask off turn", seat)
    _check_numbers(state)


def _check_numbers(state: State) -> None:
    """Check observations and returns, at a decision or at the end."""
    game, high = state.game, state.game.layout.high
    for seat in range(game.num_players):
        seen = state.observation(seat)
        is_array = seen.dtype == np.int8 and seen.shape == (game.observation_size,)
        _require(is_array, state, "the observation is not int8 [O]", seen)
        outside = np.flatnonzero((seen < 0) | (seen > high)).tolist()
        _require(not outside, state, f"seat {seat}: entries out of bounds", outside)
        _check_one_hots(state, seat)
        critic_state = state.critic_state(seat)
        is_critic = critic_state.shape == (game.critic_state_size,)
        is_critic &= bool((critic_state[: seen.size] == seen).all())
        _require(is_critic, state, "critic_state does not begin with the observation", seat)
    returns = state.returns()
    is_array = returns.dtype == np.float64 and returns.shape == (game.num_players,)
    is_array &= bool((returns >= game.min_return).all() and (returns <= game.max_return).all())
    _require(is_array, state, "returns out of bounds", returns)


def _check_one_hots(state: State, seat: int) -> None:
    layout, seen = state.game.layout, state.observation(seat)
    decoded = layout.decode(seen)
    for piece in layout.pieces:
        _require(piece.name in decoded, state, "does not decode", piece.name)
        if piece.kind == "one_hot":
            entries = seen[layout.slices[piece.name]].reshape(-1, piece.size)
            _require(int(entries.sum(axis=1).max()) <= 1, state, "two of one", piece.name)


def _table(state: State) -> dict[str, Any]:
    """Return all that a table shows, with open cards."""
    shown: dict[str, Any] = {
        "current_player": state.current_player,
        "mask": state.action_mask().tolist(),
        "returns": state.returns().tolist(),
        "is_terminal": state.is_terminal(),
        "is_truncated": state.is_truncated(),
        "render": state.render(),
        "public": state.public(),
        "hands": state.hands(),
        "stock": state.stock(),
    }
    for seat in range(state.game.num_players):
        shown[f"observation of seat {seat}"] = state.observation(seat).tolist()
    return shown


def _check_action(state: State, action: int) -> None:
    """Play an action; what it gains must be what the returns grow by."""
    before = state.returns()
    state.apply_action(action)
    gained = np.array(state._gains())
    grown = state.returns() - before
    is_same = np.allclose(gained, grown, atol=1e-5)
    _require(is_same, state, "rewards are not what returns have grown by", (gained, grown))


def _position(state: State) -> tuple[bytes, bytes]:
    """Return all that the views of a table are made from."""
    return state._rows.tobytes(), state.action_mask().tobytes()


def _story(state: State) -> list[tuple[bytes, bytes]]:
    """Play on at random; return the positions on the way."""
    rng, told = random.Random(0), [_position(state)]
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
        told.append(_position(state))
    return told


def _check_copies(state: State) -> None:
    """Check that copies of all kinds go on to the same end, and leave the original alone."""
    before = state.get_state()
    restored = state.game.new_initial_state(seed=0)
    restored.set_state(before)
    copies = {
        "clone": state.clone(),
        "copy": copy.copy(state),
        "deepcopy": copy.deepcopy(state),
        "pickle": pickle.loads(pickle.dumps(state)),
        "set_state": restored,
    }
    stories = {name: _story(each) for name, each in copies.items()}
    for name, told in stories.items():
        _require(told == stories["clone"], state, f"{name} and clone go on differently")
        _require(copies[name].history() == copies["clone"].history(), state, f"{name}: history")
    _require(state.get_state() == before, state, "playing on with a copy changed the original")


def _check_replay(state: State) -> None:
    """Check that the deal and its history lead to the same table, scores of a match apart."""
    seed, _ = state.stream
    try:
        replayed = state.game.new_initial_state(seed, deal=state.to_deal())
        for action in state.history():
            replayed.apply_action(action)
    except (DealError, IllegalActionError) as error:
        _require(False, state, "to_deal and history do not replay", error)
    is_first_deal = len(state.history()) == len(state._actions)
    names = ("hands", "stock", "current_player", "mask", *(["public"] if is_first_deal else []))
    one, other = ({name: _table(each)[name] for name in names} for each in (state, replayed))
    _require(not (found := _difference(one, other)), state, "to_deal and history", found)
    for seat in range(state.game.num_players):
        events = state.information_state(seat)
        is_whole = events.dtype == np.int8 and events.shape[1:] == (
            EVENT_SIZE + len(events[0, 3:]),
        )
        _require(is_whole, state, "information_state is not int8 [N, 3 + O]", events.shape)


def _check_illegal_actions(state: State, rng: random.Random) -> None:
    """Check that what is no legal action raises and changes nothing."""
    size = state.game.num_actions
    senseless: list[Any] = [-1, size, 10**30, None, 0.0, "", True, [0], np.float64(0)]
    illegal = np.flatnonzero(state.action_mask() == 0).tolist()
    before = state.get_state()
    for action in senseless + rng.sample(illegal, min(3, len(illegal))):
        try:
            state.apply_action(action)
        except IllegalActionError:
            pass
        else:
            _require(False, state, "an illegal action was played", action)
        _require(state.get_state() == before, state, "an illegal action changed the state", action)


def _check_end(state: State, rng: random.Random) -> None:
    """Check what a finished table shows."""
    _require(state.current_player == NO_SEAT, state, "on turn at the end", state.current_player)
    _require(state.legal_actions() == [], state, "legal at the end", state.legal_actions())
    _require(not state.action_mask().any(), state, "the mask at the end is not zero")
    _check_numbers(state)
    _check_illegal_actions(state, rng)


# ----------------------------------------------------------------------------------------------
# The batch


def _episodes(game: Game, seed: int) -> Iterator[State]:
    """Yield the episodes of a stream that have a decision."""
    episode = 0
    while True:
        state = State.begin(game, seed, episode=episode)
        if not state.is_terminal():
            yield state
        episode += 1


def _check_batch(game: Game, num_envs: int, num_threads: int, num_games: int, seed: int) -> None:
    """Play tables of a batch and the same games as states, side by side."""
    rng = random.Random(f"batch/{seed}")
    streams = [_episodes(game, table_seed(seed, i)) for i in range(num_envs)]
    states = [next(stream) for stream in streams]
    batch = Batch(game, num_envs, seed, num_threads)
    try:
        batch.reset()
        for _ in range(20 * num_games):
            actions = np.array([rng.choice(state.legal_actions()) for state in states])
            for i, state in enumerate(states):
                _check_shown(batch, i, state)
            _check_illegal_step(batch, states, actions)
            batch.step(actions)
            for i, state in enumerate(states):
                state.apply_action(int(actions[i]))
                _check_step(batch, i, state)
                if state.is_terminal():
                    states[i] = next(streams[i])
    finally:
        batch.close()


def _check_shown(batch: Batch, i: int, state: State) -> None:
    """Check that a table shows its player what the state shows."""
    where = f"table {i} of {batch.num_envs} shows another"
    seat = int(batch.current_player[i])
    _require(seat == state.current_player, state, f"{where} current_player", seat)
    is_same = bool((batch.action_mask[i] == state.action_mask()).all())
    _require(is_same, state, f"{where} action_mask", batch.action_mask[i])
    for observer in range(batch.game.num_players):
        seen = batch.observe(np.full(batch.num_envs, observer))[i]
        is_same = bool((seen == state.observation(observer)).all())
        _require(is_same, state, f"{where} observation of seat {observer}", seen)
    is_same = bool((batch.observation[i] == state.observation()).all())
    _require(is_same, state, f"{where} observation", batch.observation[i])


def _check_step(batch: Batch, i: int, state: State) -> None:
    """Check that a table pays and ends as the state does."""
    where = f"table {i} of {batch.num_envs} has another"
    paid = batch.reward[i].tolist()
    _require(paid == state._gains(), state, f"{where} reward", paid)
    flags = (bool(batch.terminated[i]), bool(batch.truncated[i]))
    is_same = flags == (state.is_terminal(), state.is_truncated())
    _require(is_same, state, f"{where} terminated or truncated", flags)
    if state.is_terminal():
        total, length = batch.episode_return[i].tolist(), int(batch.episode_length[i])
        is_same = total == state.returns().astype(np.float32).tolist()
        _require(is_same, state, f"{where} episode_return", total)
        _require(length == len(state._actions), state, f"{where} episode_length", length)


def _check_illegal_step(batch: Batch, states: list[State], actions: npt.NDArray[np.int64]) -> None:
    """Check that one illegal action among legal ones raises, and that no table moves."""
    wrong = actions.copy()
    wrong[-1] = [-1, batch.game.num_actions, 2**40][len(states[-1]._actions) % 3]
    before = batch._tables.rows.tobytes(), batch.observation.tobytes(), batch.reward.tobytes()
    try:
        batch.step(wrong)
    except IllegalActionError:
        pass
    else:
        _require(False, states[-1], "a batch played an illegal action", wrong)
    after = batch._tables.rows.tobytes(), batch.observation.tobytes(), batch.reward.tobytes()
    _require(after == before, states[-1], "an illegal action changed a batch", wrong)


# ----------------------------------------------------------------------------------------------
# Leaks: a table and what its seats have seen of it


class _Seen(NamedTuple):
    """An event as a seat saw it."""

    actor: int
    action: int
    words: str
    event: Event
    before: list[int] | None  # what the seat observed when it was asked, if the action is its own
    after: list[int]
    standing: str  # of the seat at the node after the event
    evident: tuple[Any, ...]  # what has come of it


def _table_where(
    game: Game,
    rng: random.Random,
    where: Callable[[State], bool],
    deal: Callable[[random.Random], Any],
) -> WatchedTable:
    for _ in range(MAX_TABLES):
        given = deal(rng)
        if given is None or not game.new_initial_state(seed=0, deal=given).is_terminal():
            table = WatchedTable(game, rng, given)
            if where(table.state):
                return table
    raise AssertionError(f"{game}: none of {MAX_TABLES} random positions is one of those to check")


class WatchedTable:
    """A random position, and the way to it with all nodes asked.

    Attributes:
        state: the position, at a decision of the game.
        full: the same position in the game with `skip_forced=False`.
        is_first_deal: whether it lies in the first deal of its episode.
    """

    def __init__(self, game: Game, rng: random.Random, deal: Any = None) -> None:
        self.game = game
        self._given = deal
        self._skips = bool(game.options["skip_forced"])
        self._full_game = type(game)(
            game.id, game.rules, game.view, game.options | {"skip_forced": False}
        )
        while not self._reach(rng, num_nodes=int(2 ** rng.uniform(0.0, 8.0)) - 1):
            pass

    def _reach(self, rng: random.Random, num_nodes: int) -> bool:
        """Play to a decision, the first after some nodes; return False if the episode ends."""
        self._seed = rng.getrandbits(62)
        self._deal = self.game.new_initial_state(self._seed, deal=self._given).to_deal()
        self.full = self._full_game.new_initial_state(self._seed, deal=self._deal)
        seats = range(self.game.num_players)
        self._first = [self.full.observation(seat).tolist() for seat in seats]
        self._first_evident = _evident(self.full)
        self._events: list[list[_Seen]] = [[] for _ in seats]
        self._held: list[set[str]] = [set() for _ in seats]
        self._named: set[str] = set()
        decisions: list[int] = []
        self._note_cards()
        while not self.full.is_terminal():
            is_decision = len(self.full.legal_actions()) > 1 or not self._skips
            if num_nodes <= 0 and is_decision:
                self.state = self._replay(self._deal, decisions)
                self.is_first_deal = len(self.full.history()) == len(self.full._actions)
                return True
            action = rng.choice(self.full.legal_actions())
            if is_decision:
                decisions.append(action)
            self._play(action)
            num_nodes -= 1
        return False

    def _replay(self, deal: Any, decisions: list[int]) -> State:
        """Play decisions in the game itself."""
        state = self.game.new_initial_state(self._seed, deal=deal)
        for action in decisions:
            state.apply_action(action)
        return state

    def _note_cards(self) -> None:
        for seat, hand in enumerate(self.full.hands()):
            self._held[seat] |= hand
        placeless = getattr(self.game.view, "PLACELESS_FACTS", ())
        facts = self.full.public()
        self._named |= _texts_in({name: facts[name] for name in facts if name not in placeless})

    def _play(self, action: int) -> None:
        """Play an action; note what the seats see of it, and check that the others see nothing."""
        full, actor = self.full, self.full.current_player
        seats = range(self.game.num_players)
        events = [_event(full, action, seat) for seat in seats]
        before = [
            _looks(full, seat) if event is None else None for seat, event in enumerate(events)
        ]
        words = full.action_to_string(action)
        own = full.observation(actor).tolist()
        full.apply_action(action)
        self._note_cards()
        evident = _evident(full)
        for seat, event in enumerate(events):
            if event is not None:
                after = full.observation(seat).tolist()
                asked = own if actor == seat else None
                standing = _standing(full, seat)
                seen = _Seen(actor, action, words, event, asked, after, standing, evident)
                self._events[seat].append(seen)
            elif _standing(full, seat) == "hidden":
                found = _difference(before[seat] or {}, _looks(full, seat))
                _require(not found, full, f"seat {seat} sees what is hidden from it", found)

    def unseen_cards(self, seat: int) -> list[str]:
        """Return the cards of other hands and the stock that a seat has never seen."""
        return sorted(_hidden_cards(self.full) - self._held[seat] - self._named)

    def check_other_table(self, seat: int, rng: random.Random) -> bool:
        """Compare with a table that differs in unseen cards; return False if none was found."""
        return any(
            self.follow(names, seat) is not None
            for names in _exchanges(self.unseen_cards(seat), rng)
        )

    def follow(self, names: dict[str, str], seat: int) -> State | None:
        """Play a deal with cards exchanged by what a seat has seen; compare what it sees there.

        Returns:
            The other table, with all nodes asked, where the seat stands as it does here; None if
            what the seat has seen is impossible there.
        """
        deal = _renamed(self._deal, names)
        try:
            other = self._full_game.new_initial_state(self._seed, deal=deal)
        except DealError:
            return None
        if _evident(other) != self._first_evident:
            return None
        follower = _Follower(other, seat, self._skips)
        self._compare(follower, self._first[seat], other.observation(seat).tolist())
        if not self._follow_events(follower):
            return None
        standing = _standing(self.full, seat)
        if standing != "hidden" and not follower.reach_standing(standing):
            return None
        if _standing(other, seat) == standing:
            found = _difference(_seen_by(self.full, seat), _seen_by(other, seat))
            _require(not found, other, f"seat {seat} sees hidden cards of {self.full}", found)
        self._compare_skipping(self._replay(deal, follower.decisions), seat)
        return other

    def _follow_events(self, follower: _Follower) -> bool:
        """Play what a seat has seen; return False if it is impossible."""
        other, seat = follower.state, follower.seat
        for seen in self._events[seat]:
            if not follower.reach(seen):
                return False
            if seen.before is not None:
                self._compare(follower, seen.before, other.observation(seat).tolist())
            follower.play(seen.action)
            if _evident(other) != seen.evident:
                return False
            if seen.standing == _standing(other, seat):
                self._compare(follower, seen.after, other.observation(seat).tolist())
        return True

    def _compare(self, follower: _Follower, one: list[int], other: list[int]) -> None:
        if one != other:
            decode = self.game.layout.decode
            found = _difference(*(decode(np.array(each, np.int8)) for each in (one, other)))
            what = f"the observation of seat {follower.seat} depends on cards hidden from it"
            _require(False, follower.state, what, found)

    def _compare_skipping(self, other: State, seat: int) -> None:
        """Compare in the game itself, where the other table may have played forced nodes more."""
        one, two = self.state.information_state(seat), other.information_state(seat)
        known = len(one) - (_standing(self.state, seat) == "hidden")  # the last row may yet change
        if len(two) < known or (two[:known] != one[:known]).any():
            what = f"information_state({seat}) depends on cards hidden from the seat"
            _require(False, other, what, _rows_apart(self.game, one, two))
        if len(one) == len(two) and _standing(self.state, seat) == _standing(other, seat):
            found = _difference(_seen_by(self.state, seat), _seen_by(other, seat))
            _require(not found, other, f"seat {seat} sees hidden cards of {self.state}", found)


class _Follower:
    """Plays a table by the events that a seat has seen at another one."""

    def __init__(self, state: State, seat: int, skips: bool) -> None:
        self.state = state
        self.seat = seat
        self._skips = skips
        self.decisions: list[int] = []

    def play(self, action: int) -> None:
        """Play an action, and note it if it is a decision of the game itself."""
        if len(self.state.legal_actions()) > 1 or not self._skips:
            self.decisions.append(action)
        self.state.apply_action(action)

    def reach(self, seen: _Seen) -> bool:
        """Go, by unseen events, to where an event can happen; return False if it cannot."""
        return self._go_on(lambda state: self._fits(seen))

    def _fits(self, seen: _Seen) -> bool:
        state = self.state
        return (
            state.current_player == seen.actor
            and seen.action in state.legal_actions()
            and _event(state, seen.action, self.seat) == seen.event
            and state.action_to_string(seen.action) == seen.words
        )

    def reach_standing(self, standing: str) -> bool:
        """Go, by unseen events, to where the seat stands so to a node; return False if it can't."""
        return self._go_on(lambda state: _standing(state, self.seat) == standing)

    def _go_on(self, is_there: Callable[[State], bool]) -> bool:
        while not is_there(self.state):
            unseen = [
                action
                for action in self.state.legal_actions()
                if _event(self.state, action, self.seat) is None
            ]
            if not unseen:
                return False
            self.play(unseen[0])
        return True


def _exchanges(cards: list[str], rng: random.Random) -> Iterator[dict[str, str]]:
    """Yield ways to exchange cards: at first all of them, then only two."""
    for _ in range(NUM_REDEALS):
        yield dict(zip(cards, rng.sample(cards, len(cards)), strict=True))
    for _ in range(NUM_REDEALS):
        one, other = rng.sample(cards, 2)
        yield {one: other, other: one}


def _event(state: State, action: int, seat: int) -> Event | None:
    """Return what a seat would see of an action, None if nothing."""
    out = np.zeros(EVENT_SIZE, np.int8)
    if not state.game.view.write_event(state._rows[0], action, seat, out):
        return None
    entries: Event = out.tolist()
    return entries


def _hidden_cards(state: State) -> set[str]:
    """Return the cards in hands and in the stock."""
    return set(state.stock()).union(*state.hands())


def _evident(state: State) -> tuple[Any, ...]:
    """Return what all see of what the rules make of hidden cards unasked, which is no event.

    A seat may have to lay cards down, or a deal may end by a card that a player holds; what else
    there is a view says with `shown_unasked`.
    """
    shown = getattr(state.game.view, "shown_unasked", lambda row: None)(state._row)
    return _hidden_cards(state), state.returns().tolist(), state.is_terminal(), shown


def _standing(state: State, seat: int) -> str:
    """Return how a seat stands to a node: it is asked, or the node is open to it, or hidden.

    A node is hidden from a seat if the one who is asked there can do what the seat does not see.
    """
    if state.current_player == seat:
        return "asked"
    unseen = any(_event(state, action, seat) is None for action in state.legal_actions())
    return "hidden" if unseen else "open"


def _looks(state: State, seat: int) -> dict[str, Any]:
    return {"entries": state.observation(seat).tolist(), "render": state.render(seat)}


def _rows_apart(game: Game, one: npt.NDArray[np.int8], two: npt.NDArray[np.int8]) -> str:
    """Say where two information states part."""
    for number, (row, other) in enumerate(zip(one, two, strict=False)):
        if (row != other).any():
            decode = game.layout.decode
            seen = _difference(decode(row[EVENT_SIZE:]), decode(other[EVENT_SIZE:]))
            events = [each[:EVENT_SIZE].tolist() for each in (row, other)]
            return f"event {number}, {events}: {seen}"
    return f"{len(one)} and {len(two)} events"


def _texts_in(value: Any) -> set[str]:
    """Return all words in a value of dicts, lists, sets and texts."""
    if isinstance(value, str):
        return set(value.split())
    if isinstance(value, dict):
        return _texts_in([*value, *value.values()])
    if isinstance(value, list | tuple | set | frozenset):
        return set().union(*(_texts_in(each) for each in value))
    return set()


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """Return a deal in which some cards have changed places."""
    if isinstance(value, str):
        return " ".join(names.get(word, word) for word in value.split())
    if isinstance(value, dict):
        return {key: _renamed(each, names) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(each, names) for each in value]
    return value


def _check_sampled_world(state: State, seat: int, rng: random.Random) -> None:
    """Check that a world made from a seat's observation looks the same to the seat."""
    world = _sampled_world(state, seat, rng.getrandbits(62))
    found = _difference(_shown_to(state, seat), _shown_to(world, seat))
    _require(not found, state, f"a world sampled for seat {seat} looks different to it", found)
    if seat == state.current_player:
        world = state.determinize(seat, rng.getrandbits(62))
        found = _difference(_seen_by(state, seat), _seen_by(world, seat))
        _require(not found, state, f"determinize({seat}) looks different to the seat", found)


def _sampled_world(state: State, seat: int, seed: int) -> State:
    """Return a world as sampled, before any forced node is played in it."""
    game, rows, stream = state.game, state.game.blank_rows(), np.zeros(2, np.int64)
    start_stream(stream, seed, 0, 0)
    game.kernels.sample_world(state.observation(seat), stream, rows, 0)
    rotate(rows[0], game.fields, seat)
    return State(game, rows)
