"""What happens between two decisions, written once for every game and compiled for each.

The rules of a game know nodes and actions; here are the forced nodes, the next deal of a match,
the next episode, the writing of buffers. `kernels_of(rules, view)` compiles these for a game.

Letters of shapes: B tables, P seats, A actions, O observation size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from cardenvs.core.kernel import (
    bit_reader,
    bit_writer,
    entry_point,
    kernel,
    lowest_bit,
    nth_mask,
    popcount,
    rare_kernel,
    store_now,
)
from cardenvs.core.rng import start_stream, word_at
from cardenvs.core.seats import NO_SEAT, left_of
from cardenvs.core.threads import NOTHING, team_kernel

#: What a batch has its threads do: look whether all actions are legal and, if so, play them;
#: choose actions at random. With it goes whether the next episode is dealt, or the random key.
CHECK, STEP, SAMPLE = 0, 1, 2

#: What `forced_action` says where two or more actions are legal.
NO_ACTION = -1

#: What `play` says instead of a seat where more than the turn has changed.
NEWS = -1

#: Entries of an action mask that are read as one set.
CHUNK = 52


@dataclass(frozen=True)
class Kernels:
    """The entry points of one game; `rows` are its tables and `i` is the index of one of them."""

    begin: Callable[..., Any]  # (rows, i, is_given, mask) -> over
    play: Callable[..., Any]  # (rows, i, action, mask, units int64 [2, P]) -> seat or NEWS
    settle: Callable[..., Any]  # (rows, i, mask) -> over
    deal: Callable[..., Any]  # (rows, i): the cards alone, before play begins
    returns: Callable[..., Any]  # (rows, i, units)
    observe: Callable[..., Any]  # (rows, i, seat, out)
    observe_hands: Callable[..., Any]  # (rows, i, seat, out)
    sample_world: Callable[..., Any]  # (observation, stream, rows, i)
    trace: Callable[..., Any]  # (rows, is_given, actions, seat, events, observations) -> count
    reset_tables: Callable[..., Any]  # (tables, selected, source, is_given)
    work: Callable[..., int]  # see `team_kernel`
    observe_tables: Callable[..., Any]  # (rows, seats, out)


class Tables(NamedTuple):
    """The rows and buffers of a batch, as kernels take them."""

    rows: Any  # STATE_DTYPE [B]
    blank: Any  # STATE_DTYPE [1]: the options and nothing else
    scale: float  # units of `write_returns` in a point
    action_mask: Any  # int8 [B, A]
    observation: Any  # int8 [B, O], of the player on turn
    critic_state: Any  # int8 [B, S], or [B, 0] if not asked for
    current_player: Any  # int64 [B]
    units: Any  # int64 [B, P]: the returns so far
    new_units: Any  # int64 [B, P]: the same, while a step compares them
    length: Any  # int64 [B]: the decisions so far
    reward: Any  # float32 [B, P]
    terminated: Any  # bool [B]
    truncated: Any  # bool [B]
    episode_return: Any  # float32 [B, P]
    episode_length: Any  # int64 [B]
    actions: Any  # int64 [B]: what a step is to play
    active: Any  # bool [B]: where
    has_illegal: Any  # int64 [1]: 1 if one of the actions is illegal
    sampled: Any  # int64 [B]: random legal actions
    skipped_episodes: Any  # int64 [B]


@cache
def legal_sampler(num_actions: int) -> Callable[[Any, int], int]:
    """Make the kernel (mask int8 [A], word) -> a legal action chosen by 32 random bits.

    It returns NO_ACTION where none is legal.
    """
    rest = num_actions % CHUNK
    whole = num_actions - rest
    read_chunk, read_rest = bit_reader(CHUNK), bit_reader(max(rest, 1))

    @kernel
    def random_legal(mask: Any, word: int) -> int:
        count = 0
        for start in range(0, whole, CHUNK):
            count += popcount(read_chunk(mask, start))
        last = read_rest(mask, whole) if rest else 0
        count += popcount(last)
        place = (word * count) >> 32
        for start in range(0, whole, CHUNK):
            legal = read_chunk(mask, start)
            here = popcount(legal)
            if place < here:
                return start + lowest_bit(nth_mask(legal, place))
            place -= here
        return whole + lowest_bit(nth_mask(last, place)) if last else NO_ACTION

    return random_legal


@kernel
def is_refused(tables: Tables, i: int) -> bool:
    """Whether a table that is to move is told an illegal action."""
    if not tables.active[i] or tables.current_player[i] < 0:
        return False
    action = tables.actions[i]
    return not (0 <= action < tables.action_mask.shape[1] and tables.action_mask[i, action])


@kernel
def check_actions(tables: Tables, begin: int, end: int) -> None:
    """Note if an action of a range of tables is illegal."""
    for i in range(begin, end):
        if is_refused(tables, i):
            store_now(tables.has_illegal, 0, 1)


@kernel
def next_command(tables: Tables, command: int) -> int:
    """What a command is followed by: tables move if all actions are legal."""
    return STEP if command == CHECK and not tables.has_illegal[0] else NOTHING


@cache
def kernels_of(rules: ModuleType, view: ModuleType) -> Kernels:
    """Return the kernels of a game, compiled when they are first called."""
    deal_rules, start_rules = rules.deal, rules.start
    apply_action, is_terminal = rules.apply_action, rules.is_terminal
    forced_action, write_action_mask = rules.forced_action, rules.write_action_mask
    write_returns = rules.write_returns
    write_observation, write_event = view.write_observation, view.write_event
    sample_world_of_view = view.sample_world
    num_cards = rules.DECK.num_cards
    write_deck = bit_writer(num_cards)
    random_legal = legal_sampler(rules.ACTIONS.size)
    goes_on, pass_the_deal = rules.goes_on, rules.pass_the_deal

    @kernel
    def start_deal(state: Any, is_given: bool) -> None:
        """Begin play of the present deal: the cards given in the row, or those of its stream."""
        start_stream(state.rng, state.seed, state.episode, state.deal_number)
        if not is_given:
            deal_rules(state)
        start_rules(state)

    @rare_kernel
    def next_deal(state: Any) -> None:
        pass_the_deal(state)
        state.deal_number += 1
        start_deal(state, False)

    @kernel
    def play_on(state: Any, action: int, mask: Any) -> bool:
        """Play an action, if it is one, and go on to the next decision (or node).

        Returns:
            Whether the episode is over.
        """
        while True:
            if action != NO_ACTION:
                apply_action(state, action)
            while is_terminal(state):
                if not goes_on(state):
                    mask[:] = 0
                    state.current_player = NO_SEAT
                    return True
                next_deal(state)
            action = forced_action(state) if state.skip_forced else NO_ACTION
            if action == NO_ACTION:
                write_action_mask(state, mask)
                return False

    @entry_point
    def begin(rows: Any, i: int, is_given: bool, mask: Any) -> bool:
        start_deal(rows[i], is_given)
        return play_on(rows[i], NO_ACTION, mask)

    @entry_point
    def deal(rows: Any, i: int) -> None:
        state = rows[i]
        start_stream(state.rng, state.seed, state.episode, state.deal_number)
        deal_rules(state)

    @entry_point
    def play(rows: Any, i: int, action: int, mask: Any, units: Any) -> int:
        """Apply an action, and write the returns before and after it.

        Returns:
            The seat asked next; NEWS if the returns have changed, or a deal or the episode ended.
        """
        state = rows[i]
        deal_number = state.deal_number
        write_returns(state, units[0])
        play_on(state, action, mask)
        write_returns(state, units[1])
        has_news = state.deal_number != deal_number or state.current_player < 0
        for seat in range(units.shape[1]):
            has_news |= units[0, seat] != units[1, seat]
        return NEWS if has_news else state.current_player

    @entry_point
    def settle(rows: Any, i: int, mask: Any) -> bool:
        return play_on(rows[i], NO_ACTION, mask)

    @entry_point
    def returns(rows: Any, i: int, units: Any) -> None:
        write_returns(rows[i], units)

    @entry_point
    def observe(rows: Any, i: int, seat: int, out: Any) -> None:
        write_observation(rows[i], seat, out)

    @kernel
    def write_hands(state: Any, seat: int, out: Any) -> None:
        """Write all hands, the observer's own first, after a plain observation."""
        start = out.shape[0] - state.num_players * num_cards
        for place in range(state.num_players):
            write_deck(out, start + place * num_cards, state.hands[seat])
            seat = left_of(seat, state.num_players)

    @kernel
    def write_critic_state(state: Any, seat: int, out: Any) -> None:
        """Write what a seat sees and then all hands."""
        write_observation(state, seat, out)
        write_hands(state, seat, out)

    @entry_point
    def observe_hands(rows: Any, i: int, seat: int, out: Any) -> None:
        write_critic_state(rows[i], seat, out)

    @entry_point
    def sample_world(observation: Any, stream: Any, rows: Any, i: int) -> None:
        sample_world_of_view(observation, stream, rows[i])

    @entry_point
    def trace(
        rows: Any,
        is_given: bool,
        actions: Any,
        seat: int,
        events: Any,
        observations: Any,
    ) -> int:
        """Replay an episode as a seat sees it; return how many events it saw.

        What it observes after an event is written as it stands before the next one that it sees:
        how many unseen nodes lie between the two is not its business.

        Rules may pass over forced nodes by themselves; here they are asked for all, so that each
        is an event. Events beyond the length of the arrays are counted; they spoil the last entry.
        """
        state = rows[0]
        skip_forced = state.skip_forced
        state.skip_forced = 0
        start_deal(state, is_given)
        last = events.shape[0] - 1
        used = 0
        seen = 0
        is_seen = True  # the deal itself
        while True:
            if is_seen:
                seen += 1
            write_observation(state, seat, observations[min(seen - 1, last)])
            event = events[min(seen, last)]
            if is_terminal(state):
                if not goes_on(state):
                    return seen
                next_deal(state)
                event[:] = 0
                is_seen = True
                continue
            action = forced_action(state) if skip_forced else NO_ACTION
            if action == NO_ACTION:
                if used == actions.shape[0]:
                    return seen
                action = actions[used]
                used += 1
            is_seen = write_event(state, action, seat, event)
            apply_action(state, action)

    @rare_kernel
    def next_episode(rows: Any, i: int, source: Any, j: int, is_given: bool, mask: Any) -> bool:
        """Deal the next episode of a table's stream; return True if it has no decision."""
        seed, episode = rows[i].seed, rows[i].episode + 1
        rows[i] = source[j]
        rows[i].seed = seed
        rows[i].episode = episode
        start_deal(rows[i], is_given)
        return play_on(rows[i], NO_ACTION, mask)

    @kernel
    def begin_table(tables: Tables, i: int, source: Any, j: int, is_given: bool) -> None:
        """Deal episodes at a table until one has a decision."""
        rows, mask = tables.rows, tables.action_mask[i]
        is_over = next_episode(rows, i, source, j, is_given, mask)
        while is_over:
            tables.skipped_episodes[i] += 1
            is_over = next_episode(rows, i, tables.blank, 0, False, mask)
        write_returns(rows[i], tables.units[i])
        tables.length[i] = 0

    @kernel
    def finish_episode(tables: Tables, i: int, autoreset: bool) -> None:
        """Describe the episode that has ended, and deal the next or leave the table empty."""
        tables.terminated[i] = True
        tables.truncated[i] = tables.rows[i].truncated != 0
        for seat in range(tables.units.shape[1]):
            tables.episode_return[i, seat] = tables.units[i, seat] / tables.scale
        tables.episode_length[i] = tables.length[i]
        if autoreset:
            begin_table(tables, i, tables.blank, 0, False)
        else:
            tables.observation[i] = 0
            tables.critic_state[i] = 0

    @entry_point
    def reset_tables(tables: Tables, selected: Any, source: Any, is_given: bool) -> None:
        for i in range(tables.rows.shape[0]):
            if not selected[i]:
                continue
            tables.reward[i] = 0.0
            tables.terminated[i] = False
            tables.truncated[i] = False
            begin_table(tables, i, source, i if is_given else 0, is_given)
            state = tables.rows[i]
            tables.current_player[i] = state.current_player
            write_observation(state, state.current_player, tables.observation[i])
            if tables.critic_state.shape[1]:
                write_critic_state(state, state.current_player, tables.critic_state[i])

    @rare_kernel
    def step_tables(tables: Tables, begin: int, end: int, autoreset: bool) -> None:
        rows, masks, observations = tables.rows, tables.action_mask, tables.observation
        current_player, reward = tables.current_player, tables.reward
        units, new_units = tables.units, tables.new_units
        has_critic_state = tables.critic_state.shape[1] > 0
        num_players = units.shape[1]
        for i in range(begin, end):
            tables.terminated[i] = False
            tables.truncated[i] = False
            if not tables.active[i] or current_player[i] < 0:
                reward[i] = 0.0
                continue
            state = rows[i]
            is_over = play_on(state, tables.actions[i], masks[i])
            tables.length[i] += 1
            write_returns(state, new_units[i])
            for seat in range(num_players):
                gained = new_units[i, seat] - units[i, seat]
                reward[i, seat] = gained / tables.scale if gained else 0.0
                units[i, seat] = new_units[i, seat]
            if is_over:
                finish_episode(tables, i, autoreset)
            seat = state.current_player
            current_player[i] = seat
            if seat >= 0:
                write_observation(state, seat, observations[i])
                if has_critic_state:
                    write_critic_state(state, seat, tables.critic_state[i])

    @kernel
    def do_part(tables: Tables, begin: int, end: int, command: int, argument: int) -> None:
        if command == CHECK:
            check_actions(tables, begin, end)
        elif command == STEP:
            step_tables(tables, begin, end, argument != 0)
        else:
            for i in range(begin, end):  # 0 at finished tables
                word = word_at(argument, i)
                tables.sampled[i] = max(0, random_legal(tables.action_mask[i], word))

    work = team_kernel(do_part, next_command)

    @entry_point
    def observe_tables(rows: Any, seats: Any, out: Any) -> None:
        for i in range(rows.shape[0]):
            write_observation(rows[i], seats[i], out[i])

    return Kernels(
        begin=begin,
        play=play,
        settle=settle,
        deal=deal,
        returns=returns,
        observe=observe,
        observe_hands=observe_hands,
        sample_world=sample_world,
        trace=trace,
        reset_tables=reset_tables,
        work=work,
        observe_tables=observe_tables,
    )
