"""Writes the tables of the games' pages from the code: `python docs/generate.py`.

In `docs/games/<game>.md` everything between `<!-- table: NAME -->` and `<!-- end -->` is made here.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import cardenvs
from cardenvs.core.game import Game
from cardenvs.core.options import options_table

PAGES = Path(__file__).parent / "games"
BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def tables(game: Game) -> dict[str, str]:
    """Return the tables of a game by name."""
    size = f"{game.observation_size} entries with `num_players={game.num_players}`"
    return {
        "options": options_table(game.all_options(game.rules)),
        "actions": game.actions.table(),
        "observation": f"{size}:\n\n{game.layout.table()}",
    }


def filled(page: str, game: Game) -> str:
    """Return a page with its tables as the code has them."""
    made = tables(game)
    return BLOCK.sub(lambda found: f"{found[1]}\n{made[found[2]]}\n\n{found[3]}", page)


def page_of(game_id: str) -> Path:
    """Return the file of a game's page."""
    return PAGES / f"{game_id.partition('-v')[0]}.md"


def main() -> int:
    """Write the pages, or only say which are stale."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if one is stale")
    check = parser.parse_args().check
    stale = 0
    for game_id in cardenvs.game_ids():
        page = page_of(game_id)
        before = page.read_text()
        after = filled(before, cardenvs.load_game(game_id))
        stale += before != after
        if not check:
            page.write_text(after)
    print(f"{stale} page(s) {'are stale' if check else 'written anew'}")
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
