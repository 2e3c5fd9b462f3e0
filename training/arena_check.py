"""Test the arena on what is known: `python -m training.arena_check bred_ryg`.

Two random players are equals, so that the truth is the fair value. In many small tournaments, each
on deals of its own and with generators of its own, the 95 % interval must miss it about one time
in twenty.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from tqdm import tqdm

from cardenvs.command_line import add_game_arguments, game_of
from cardenvs.core.game import Game
from training.arena import arena
from training.evaluate import Row

#: In 200 tournaments, an interval that does as it says misses this share of them but rarely.
ALLOWED = (0.02, 0.09)


def rows_of_equals(
    game: str | Game, num_tournaments: int, num_deals: int, seed: int = 0, progress: bool = False
) -> list[Row]:
    """Return the first row of each of many tournaments of two random players."""
    rows = []
    for number in tqdm(range(num_tournaments), unit="tournament", disable=not progress):
        report = arena(
            game,
            {"one": "random", "two": "random"},
            num_deals,
            seed=seed + number,
            start=number * num_deals,
            num_shuffles=0,
            progress=False,
        )
        rows.append(report.row("one", "two"))
    return rows


def share_of_misses(rows: Iterable[Row]) -> float:
    """Return how many of the intervals do not hold the fair value, as a share."""
    misses = [not row.low <= row.fair <= row.high for row in rows]
    return sum(misses) / len(misses)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; it fails if the intervals miss too often or too seldom."""
    parser = argparse.ArgumentParser(prog="python -m training.arena_check", description=__doc__)
    add_game_arguments(parser)
    parser.add_argument("--tournaments", type=int, default=200)
    parser.add_argument("--deals", type=int, default=200, help="in each tournament")
    parser.add_argument("--seed", type=int, default=0, help="of the players")
    given = parser.parse_args(arguments)
    game = game_of(given)
    rows = rows_of_equals(game, given.tournaments, given.deals, given.seed, progress=True)
    share = share_of_misses(rows)
    low, high = ALLOWED
    print(
        f"{game.id}: {given.tournaments} tournaments of random players on {given.deals} deals "
        f"each; {share:.1%} of the 95 % intervals miss the fair value ({low:.0%} to {high:.0%} "
        "are allowed)"
    )
    if not low <= share <= high:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
