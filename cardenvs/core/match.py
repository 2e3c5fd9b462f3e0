"""Matches of several games with one loser each, for games whose rules know a single game only.

A game that uses this derives its row from `MatchRow`, takes `LOSER_GAME_OPTIONS`, calls
`choose_first_dealer` in its deal and `book_game` at its end, and takes `match_goes_on` and
`pass_the_deal_left` into its contract: the next game is dealt until `num_games` have been played,
and the dealer moves to the left each time.

Scores are integers, in 1/60 of a game: up to six players can share a loss exactly.
"""

from __future__ import annotations

from typing import Any

from cardenvs.core.kernel import kernel, popcount
from cardenvs.core.options import Option
from cardenvs.core.rng import random_below
from cardenvs.core.rows import CoreRow, Ints, per_seat, scalar
from cardenvs.core.rows import seat as seat_field
from cardenvs.core.seats import has_seat, left_of

#: One lost game, in units of score.
GAME = 60
MAX_SEATS = 6
MAX_GAMES = 120

LOSER_GAME_OPTIONS = (
    Option(
        "reward",
        "loser",
        ("loser", "zero_sum"),
        "`loser`: the loser scores -1, the others 0; `zero_sum`: the others +1/(players - 1)",
    ),
    Option("num_games", 1, range(1, MAX_GAMES + 1), "games in an episode, the dealer rotating"),
    Option(
        "no_progress_limit",
        100,
        range(1, 121),
        "the game is capped after so many turns in a row without progress",
    ),
    Option(
        "on_cap",
        "queen_holder",
        ("queen_holder", "share", "draw"),
        "who loses a capped game: the holder of the queen, all who still play, or nobody",
    ),
)


class MatchRow(CoreRow):
    """A table that plays a match of games with one loser."""

    reward: int = scalar()
    num_games: int = scalar()
    no_progress_limit: int = scalar()
    on_cap: int = scalar()
    dealer: int = seat_field()
    games_played: int = scalar()
    no_progress: int = scalar()  # turns in a row without progress
    turns: int = scalar()  # finished tricks of this game
    score: Ints = per_seat(MAX_SEATS)  # of the match so far, in 1/60 game
    last_score: Ints = per_seat(MAX_SEATS)  # of the last finished game


@kernel
def choose_first_dealer(state: MatchRow) -> None:
    """Draw the dealer of a match's first game."""
    if state.deal_number == 0:
        state.dealer = random_below(state.rng, state.num_players)


@kernel
def book_game(state: MatchRow, losers: int) -> None:
    """Book a finished game to the seats that share its loss (nobody: a draw)."""
    share = -GAME // popcount(losers) if losers else 0
    for seat in range(state.num_players):
        score = share if has_seat(losers, seat) else 0
        state.score[seat] += score
        state.last_score[seat] = score
    state.games_played += 1


@kernel
def match_goes_on(state: MatchRow) -> bool:
    """Whether a match whose game has ended has another game to play."""
    return state.games_played < state.num_games


@kernel
def pass_the_deal_left(state: MatchRow) -> None:
    """Let the player on the left of the last dealer deal."""
    state.dealer = left_of(state.dealer, state.num_players)


@kernel
def write_match_returns(state: MatchRow, returns: Ints) -> None:
    """Write the score so far in units: as it is, or centred so that each lost game sums to 0.

    Centred, a score of s games in g lost ones becomes (n * s + g) / (n - 1).
    """
    num_players = state.num_players
    total = 0
    for seat in range(num_players):
        total += state.score[seat]
    for seat in range(num_players):
        score = state.score[seat]
        returns[seat] = score if state.reward == 0 else num_players * score - total


def match_units(options: dict[str, Any]) -> int:
    """Return how many units of `write_match_returns` are one point."""
    return GAME if options["reward"] == "loser" else GAME * (int(options["num_players"]) - 1)


def match_bounds(options: dict[str, Any]) -> tuple[float, float]:
    """Return the lowest and the highest return of an episode, in points."""
    games = float(options["num_games"])
    best = 0.0 if options["reward"] == "loser" else games / (int(options["num_players"]) - 1)
    return -games, best
