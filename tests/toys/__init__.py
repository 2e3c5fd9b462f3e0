"""Toy games whose exact answers are known, registered as a third party registers its own.

They are no games of the library: tests that go through `cardenvs.game_ids()` must not meet them.
A test asks for the fixture `kuhn_id`, which makes them known as long as it runs; a process of its
own calls `register_toys`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cardenvs

if TYPE_CHECKING:
    from cardenvs.core.game import Game

KUHN = "kuhn-v0"


def register_toys() -> None:
    """Make the toy games known in this process; where they are known, nothing happens."""
    if KUHN not in cardenvs.game_ids():
        cardenvs.register_game(KUHN, f"{__name__}.kuhn", f"{__name__}.kuhn_view")


def kuhn_game(**options: Any) -> Game:
    """Return Kuhn poker with its options, registered if it was not."""
    register_toys()
    return cardenvs.load_game(KUHN, **options)
