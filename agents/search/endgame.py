"""The exact end of the beating games: two players are active, the stock is empty.

All other cards are out of play then, so each of the two knows the hand of the other: who loses with
best play of both is searched to the end. `endgame_kernels` and `endgame_memory` are what callers
need.

The question that is asked of a position is whether one of the two, the hero, can force that the
other loses. It is searched depth first: the hero needs one move that wins, his opponent one that
does not lose. Positions that can be reached in several ways are kept in a table.

Bred Ryg always ends with two players: a trick that fails leaves the leader a smaller hand and the
lead, one that is beaten sends cards out of play. So whoever cannot force a win loses. Brede Mette
can go on for ever, since piles are passed and taken. A position that is met again on the path to it
counts as not won by the hero. What was found on that assumption holds only for the path, until it
is known that the position met again is not won either: `Table` keeps such results apart and drops
them if it turns out to be won. Where neither can force a win, play goes on to the cap.

What the values leave out: the counters of the cap, as if it were far away, and later games of a
match. By `on_cap='queen_holder'` the loser of an endless game is who happens to hold the queen when
it is cut off; she changes hands in it, so it counts as half a loss for both, as `'share'` says.

Letters of shapes: A actions, D depth of the stack, B sets of moves, T entries of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from agents.search import endgame_bred_ryg, endgame_brede_mette
from cardenvs.core.game import Game
from cardenvs.core.kernel import kernel, lowest_bit, new_rows, rare_kernel
from cardenvs.core.rng import combine
from cardenvs.core.rows import Mask
from cardenvs.core.seats import seat_mask

#: The most nodes on one path; a longer one counts as beyond the limit of nodes.
MAX_DEPTH = 1024
#: Entries of a key; see `write_key` of the games.
KEY_SIZE = 3

#: What the table says of a position and a hero; from OPEN on it tells how the search stands:
#: OPEN + 2 * depth on the path, OPEN + 2 * index + 1 not won if what it met on the path is not.
UNKNOWN, WON, NOT_WON, OPEN = 0, 1, 2, 4
#: The depth that a result depends on which depends on no position of the path.
NOTHING = 1 << 30
#: What a search finds besides 0 (not won) and 1 (won): it is not known yet; the limit was reached.
PENDING, GIVEN_UP = -1, -2

#: Entries of `EndgameMemory.counts`.
NODES, LIMIT, USED, ASSUMED, LOW = range(5)


class EndgameMemory(NamedTuple):
    """What the solver works on; what it has proved stays from one position to the next."""

    rows: Any  # STATE_DTYPE [D + 1]: the path; row 0 is the position that is asked about
    moves: Any  # int64 [D + 1, B]: the moves that are not yet tried
    entry: Any  # int64 [D + 1]: where the table has the position of a depth, -1 nowhere
    low: Any  # int64 [D + 1]: the lowest depth that "not won" at a depth rests on so far
    first: Any  # int64 [D + 1]: the number of assumed results when a depth was reached
    keys: Any  # int64 [T, 3]
    status: Any  # int64 [2 * T]: for each key, the hero being its first player, or the other
    assumed: Any  # int64 [N + 1, 2]: results that rest on the path: entry, lowest depth
    key: Any  # int64 [3]
    counts: Any  # int64 [5]: see NODES


class EndgameKernels(NamedTuple):
    """The solver of a game.

    Attributes:
        is_endgame: `(state) -> bool`, whether `solve` may be asked.
        solve: `(state, mask int8 [A], memory, values float64 [A]) -> bool`. Writes what each action
            of the mask is worth to the seat on turn: 0 if it does not lose, -1 if it loses, with
            best play of both; in Brede Mette `repetition_value` if neither can force the other to
            lose. Returns False if the limit of nodes was reached; the values mean nothing then. The
            state is left as it is.
    """

    is_endgame: Callable[..., bool]
    solve: Callable[..., bool]


#: The parts of the games: see the two modules.
_GAMES: dict[str, Any] = {
    "bred_ryg-v0": endgame_bred_ryg,
    "brede_mette-v0": endgame_brede_mette,
}


def _parts_of(game: Game) -> Any:
    if game.id not in _GAMES:
        raise ValueError(f"endgames are solved in {', '.join(_GAMES)}, not in {game.id}")
    return _GAMES[game.id]


def endgame_memory(game: Game, nodes: int = 200_000) -> EndgameMemory:
    """Return the arrays of the solver of a game with its options.

    Args:
        game: a beating game; a memory serves no other, nor other options.
        nodes: how many moves, forced ones included, may be tried for all actions of a position.

    Raises:
        ValueError: if the game is no beating game, or the number of nodes is not positive.
    """
    parts = _parts_of(game)
    if nodes < 1:
        raise ValueError(f"a solver tries one node or more, not {nodes}")
    size = 1 << (2 * nodes).bit_length()
    counts = np.zeros(5, np.int64)
    counts[LIMIT] = nodes
    return EndgameMemory(
        rows=new_rows(MAX_DEPTH + 1, game.rules.STATE_DTYPE),
        moves=np.zeros((MAX_DEPTH + 1, parts.NUM_SETS), np.int64),
        entry=np.zeros(MAX_DEPTH + 1, np.int64),
        low=np.zeros(MAX_DEPTH + 1, np.int64),
        first=np.zeros(MAX_DEPTH + 1, np.int64),
        keys=np.zeros((size, KEY_SIZE), np.int64),
        status=np.zeros(2 * size, np.int64),
        assumed=np.zeros((nodes + 1, 2), np.int64),
        key=np.zeros(KEY_SIZE, np.int64),
        counts=counts,
    )


def endgame_kernels(game: Game) -> EndgameKernels:
    """Return the solver of a game; see `EndgameKernels`.

    Raises:
        ValueError: if the game is no beating game.
    """
    return _kernels(_parts_of(game))


# ----------------------------------------------------------------------------------------------
# The table


@kernel
def find(memory: EndgameMemory) -> int:
    """The place of `memory.key` in the table, where it is put if it is not there."""
    keys, key = memory.keys, memory.key
    last = keys.shape[0] - 1
    place: int = combine(combine(key[0], key[1]), key[2]) & last
    while keys[place, 0] != 0:  # a key begins with a hand that holds cards
        if keys[place, 0] == key[0] and keys[place, 1] == key[1] and keys[place, 2] == key[2]:
            return place
        place = (place + 1) & last
    for i in range(KEY_SIZE):
        keys[place, i] = key[i]
    memory.counts[USED] += 1
    return place


@kernel
def make_room(memory: EndgameMemory) -> None:
    """Forget everything if the table could grow more than three quarters full in one search."""
    size = memory.keys.shape[0]
    if memory.counts[USED] + memory.counts[LIMIT] > size - size // 4:
        memory.keys[:] = 0
        memory.status[:] = UNKNOWN
        memory.counts[USED] = 0


@kernel
def look_up(memory: EndgameMemory, depth: int, entry: int) -> int:
    """What the table says of the position at a depth; sets LOW to the depth this rests on."""
    memory.entry[depth] = entry
    status = memory.status[entry]
    memory.counts[LOW] = NOTHING
    if status == UNKNOWN:
        memory.status[entry] = OPEN + 2 * depth
        return PENDING
    if status >= OPEN:
        index = (status - OPEN) >> 1
        memory.counts[LOW] = memory.assumed[index, 1] if status & 1 else index
    return 1 if status == WON else 0


@kernel
def store(memory: EndgameMemory, entry: int, status: int, can_repeat: bool) -> None:
    """Keep what is proved: if one player wins the other does not; where play ends, also back."""
    memory.status[entry] = status
    if memory.status[entry ^ 1] == UNKNOWN and (status == WON or not can_repeat):
        memory.status[entry ^ 1] = NOT_WON if status == WON else WON


@kernel
def close(memory: EndgameMemory, depth: int, is_won: bool, can_repeat: bool) -> None:
    """Keep the result of the position at a depth, and judge those that rest on it.

    If it is won, what assumed the contrary is void. If it is not, and rests on nothing further up,
    then neither are those that rest on it alone: the opponent can always stay among them.
    """
    low = NOTHING if is_won else memory.low[depth]
    entry = memory.entry[depth]
    if entry >= 0:
        start = memory.first[depth]
        end = memory.counts[ASSUMED]
        kept = start
        for i in range(start, end):
            other, other_low = memory.assumed[i, 0], memory.assumed[i, 1]
            if is_won:
                memory.status[other] = UNKNOWN
            elif low >= depth and other_low >= depth:
                store(memory, other, NOT_WON, can_repeat)
            else:
                memory.assumed[kept, 0] = other
                memory.assumed[kept, 1] = min(other_low, low)
                memory.status[other] = OPEN + 2 * kept + 1
                kept += 1
        if is_won or low >= depth:
            store(memory, entry, WON if is_won else NOT_WON, can_repeat)
            low = NOTHING
        else:
            memory.assumed[kept, 0] = entry
            memory.assumed[kept, 1] = low
            memory.status[entry] = OPEN + 2 * kept + 1
            kept += 1
        memory.counts[ASSUMED] = kept
    memory.counts[LOW] = low


@kernel
def drop_open(memory: EndgameMemory, depth: int) -> None:
    """Give a search up: nothing is known of the positions that it has not finished."""
    for i in range(1, depth + 1):
        if memory.entry[i] >= 0:
            memory.status[memory.entry[i]] = UNKNOWN
    for i in range(memory.counts[ASSUMED]):
        memory.status[memory.assumed[i, 0]] = UNKNOWN


# ----------------------------------------------------------------------------------------------
# The search


@kernel
def repetition_value(state: Any) -> float:
    """What a game that goes on to the cap is worth to both of the last two, as a share of a loss.

    A draw counts as no loss, or by `reward='zero_sum'`, where it is worth as much as a loss shared
    by all at the table, as that.
    """
    if state.on_cap == 2:
        return 0.0 if state.reward == 0 else -1.0 / state.num_players
    return -0.5


@cache
def _kernels(parts: Any) -> EndgameKernels:
    """Compile the solver of a game from its parts."""
    apply_action, forced_action = parts.apply_action, parts.forced_action
    sure_loser, write_key = parts.sure_loser, parts.write_key
    write_moves, pick_move = parts.write_moves, parts.pick_move
    can_repeat = parts.CAN_REPEAT

    @rare_kernel
    def play(memory: EndgameMemory, depth: int, action: int) -> bool:
        """Put the position after an action, and the forced ones after it, one deeper."""
        state = memory.rows[depth + 1]
        memory.rows[depth + 1] = memory.rows[depth]
        while action >= 0:
            if memory.counts[NODES] >= memory.counts[LIMIT]:
                return False
            memory.counts[NODES] += 1
            apply_action(state, action)
            action = -1 if sure_loser(state) >= 0 else forced_action(state)
        return True

    @rare_kernel
    def enter(memory: EndgameMemory, depth: int, hero: int) -> int:
        """What is known of the position at a depth; if nothing, it is opened."""
        state = memory.rows[depth]
        memory.entry[depth] = -1
        memory.counts[LOW] = NOTHING
        loser = sure_loser(state)
        if loser >= 0:
            return 0 if loser == hero else 1
        first_player = write_key(state, memory.key)
        if first_player >= 0:
            found = look_up(memory, depth, 2 * find(memory) + (1 if first_player != hero else 0))
            if found != PENDING:
                memory.entry[depth] = -1
                return found
        memory.low[depth] = NOTHING
        memory.first[depth] = memory.counts[ASSUMED]
        write_moves(state, memory.moves[depth])
        return PENDING

    @rare_kernel
    def next_move(memory: EndgameMemory, depth: int) -> int:
        action: int = pick_move(memory.rows[depth], memory.moves[depth])
        return action

    @rare_kernel
    def search(memory: EndgameMemory, hero: int) -> int:
        """Whether the hero forces a win from row 1: 1 or 0, or GIVEN_UP."""
        memory.counts[ASSUMED] = 0
        depth = 1
        found = enter(memory, depth, hero)
        while True:
            if found == PENDING:
                action = next_move(memory, depth)
                if action >= 0:
                    if depth == MAX_DEPTH or not play(memory, depth, action):
                        drop_open(memory, depth)
                        return GIVEN_UP
                    depth += 1
                    found = enter(memory, depth, hero)
                    continue
                found = 0 if memory.rows[depth].current_player == hero else 1
                close(memory, depth, found == 1, can_repeat)
            if depth == 1:
                return found
            depth -= 1
            if found == 0:
                memory.low[depth] = min(memory.low[depth], memory.counts[LOW])
            if (found == 1) == (memory.rows[depth].current_player == hero):
                close(memory, depth, found == 1, can_repeat)
            else:
                found = PENDING

    @rare_kernel
    def value_of(memory: EndgameMemory, action: int) -> float:
        """What an action is worth to the seat on turn in row 0; 1 if that was not found out."""
        state = memory.rows[0]
        hero = state.current_player
        if not play(memory, 0, action):
            return 1.0
        found = search(memory, hero)
        if found == 0 and can_repeat:
            other = search(memory, lowest_bit(state.active & ~seat_mask(hero)))
            if other == 0:
                return repetition_value(state)
            found = GIVEN_UP if other == GIVEN_UP else 0
        return 1.0 if found == GIVEN_UP else found - 1.0

    @rare_kernel
    def solve(state: Any, mask: Mask, memory: EndgameMemory, values: Any) -> bool:
        memory.counts[NODES] = 0
        make_room(memory)
        memory.rows[0] = state
        forget_the_cap(memory.rows[0])
        for action in range(mask.shape[0]):
            if mask[action]:
                values[action] = value_of(memory, action)
                if values[action] > 0:
                    return False
        return True

    return EndgameKernels(parts.is_endgame, solve)


@kernel
def forget_the_cap(state: Any) -> None:
    """Let a position go on as long as it will, without questions that have one answer only."""
    state.no_progress = 0
    state.no_progress_limit = NOTHING
    state.turns = -NOTHING
    state.skip_forced = 1
