"""Find the order of a game's `priority` control: `python -m training.priority_search braus`.

From the order of the ids, an action or a run of them is moved to another place, and stays there if
the agent does better on the same deals of the `dev` list against random players. The best order is
written to agents/priority.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

import agents
from agents.priority import ORDERS_FILE, PriorityAgent
from cardenvs.command_line import add_game_arguments, game_of
from cardenvs.core.game import Game
from training.evaluate import deal_seeds, lineup, play_duplicates


def search(game: Game, steps: int, deals: int, seed: int) -> tuple[list[int], float]:
    """Return the best order found and its mean score against random players."""
    rng = np.random.default_rng(seed)
    order = list(range(game.num_actions))
    best = _score(game, order, deals)
    for step in tqdm(range(steps), unit="step"):
        moved = _moved(order, rng)
        score = _score(game, moved, deals)
        if score > best:
            order, best = moved, score
            tqdm.write(f"step {step}: {best:.4f}")
    return order, best


def _moved(order: list[int], rng: np.random.Generator) -> list[int]:
    """Return the order with a run of it, of 1, 2, 4 ... actions, in another place."""
    size = 2 ** int(rng.integers(len(order).bit_length() - 1))
    start = int(rng.integers(len(order) - size + 1))
    rest = order[:start] + order[start + size :]
    place = int(rng.integers(len(rest) + 1))
    return rest[:place] + order[start : start + size] + rest[place:]


def _score(game: Game, order: Sequence[int], deals: int) -> float:
    others = agents.make(game, "random", 0)
    played = play_duplicates(
        game, lineup(game, PriorityAgent(order), others), deal_seeds("dev", deals)
    )
    return float(played.scores[:, :, 0].mean())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.priority_search")
    add_game_arguments(parser)
    parser.add_argument("--steps", type=int, default=8_000)
    parser.add_argument("--deals", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0, help="of the search")
    given = parser.parse_args(arguments)
    game = game_of(given)
    order, score = search(game, given.steps, given.deals, given.seed)
    orders = json.loads(ORDERS_FILE.read_text()) | {game.id: order}
    lines = [f'  "{game_id}": {orders[game_id]}' for game_id in sorted(orders)]
    ORDERS_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{game.id}: {score:.4f} against random players on {given.deals} deals")


if __name__ == "__main__":
    main()
