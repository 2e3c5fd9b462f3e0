"""The published lists of deals, as a table that anybody can check: `python -m training.deals`.

A deal is known by its seed. Its hash is that of the cards themselves, as data, so that it shows
whether another version of the library still deals them.
"""

from __future__ import annotations

import hashlib
import json

from cardenvs.core.game import Game
from cardenvs.registry import game_ids, load_game
from training.evaluate import FIRST_DEAL, deal_seeds, markdown_table

#: How many deals of a list go into its hash.
HASHED_DEALS = 5_000


def deals_hash(game: Game, split: str, count: int = HASHED_DEALS) -> str:
    """Return the SHA-256 of the first deals of a list, in hexadecimal digits.

    Hashed is a line for each deal: `State.to_deal()` as JSON with sorted keys and no spaces
    between its parts.

    Raises:
        ValueError: if there is no such list.
    """
    digest = hashlib.sha256()
    for seed in deal_seeds(split, count):
        deal = game.new_initial_state(int(seed)).to_deal()
        line = json.dumps(deal, sort_keys=True, separators=(",", ":"))
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()


def table() -> str:
    """Return the hashes of all games at their default options, in Markdown."""
    lines = [["Game", "List", "First seed", f"SHA-256 of the first {HASHED_DEALS:,} deals"]]
    for game_id in game_ids():
        for split, first in FIRST_DEAL.items():
            digest = deals_hash(load_game(game_id), split)
            lines.append([f"`{game_id}`", split, f"{first}", f"`{digest}`"])
    return markdown_table(lines)


if __name__ == "__main__":
    print(table())
