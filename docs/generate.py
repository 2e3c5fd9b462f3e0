"""Writes the tables of the pages from code and results: `python docs/generate.py`.

Everything between `<!-- table: NAME -->` and `<!-- end -->` is made here: in `docs/games/<game>.md`
from the game, in `docs/hints.md` from the results of the hint lab. The pictures of results are
copied beside the pages.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cardenvs
from cardenvs.core.game import Game
from cardenvs.core.options import options_table
from training.hint_lab import RESULTS, markdown, result_name

DOCS = Path(__file__).parent
BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table_of_game(game: Game, name: str) -> str:
    """Return a table of a game's page."""
    if name == "options":
        return options_table(game.all_options(game.rules))
    if name == "actions":
        return game.actions.table()
    size = f"{game.observation_size} entries with `num_players={game.num_players}`"
    return f"{size}:\n\n{game.layout.table()}"


def table_of_hints(name: str) -> str:
    """Return what the hint lab has found for a game."""
    file = RESULTS / f"{result_name(name)}.json"
    return markdown(json.loads(file.read_text())).strip()


def pages() -> dict[Path, Callable[[str], str]]:
    """Return the pages, and for each the function from a table's name to the table."""
    made: dict[Path, Callable[[str], str]] = {DOCS / "hints.md": table_of_hints}
    for game_id in cardenvs.game_ids():
        page = DOCS / "games" / f"{game_id.partition('-v')[0]}.md"
        made[page] = partial(table_of_game, cardenvs.load_game(game_id))
    return made


def pictures() -> dict[Path, Path]:
    """Return the pictures of the pages, each with the one that it is a copy of."""
    return {DOCS / "pictures" / file.name: file for file in sorted(RESULTS.glob("*.png"))}


def filled(page: str, table: Callable[[str], str]) -> str:
    """Return a page with its tables as they are now."""
    return BLOCK.sub(lambda found: f"{found[1]}\n{table(found[2])}\n\n{found[3]}", page)


def main() -> int:
    """Write the pages, or only say which are stale."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if one is stale")
    check = parser.parse_args().check
    stale = 0
    for page, table in pages().items():
        before = page.read_text()
        after = filled(before, table)
        stale += before != after
        if not check:
            page.write_text(after)
    for copy, picture in pictures().items():
        stale += not copy.exists() or copy.read_bytes() != picture.read_bytes()
        if not check:
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(picture, copy)
    print(f"{stale} file(s) {'are stale' if check else 'written anew'}")
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
