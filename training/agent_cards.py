"""Measure the agents of a game for their cards: `python -m training.agent_cards braus`.

All agents of `agents.list` meet in an arena on the `test` deals. Its tables go to
`training/results/arena-<game>/`, and its numbers to `agents/cards/<game>.json`, where `agents.card`
finds them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import agents
from agents.cards import NUMBERS
from cardenvs.command_line import add_game_arguments, game_of
from training.arena import arena
from training.arena_report import ArenaReport
from training.origin import RESULTS


def numbers(report: ArenaReport, command: str) -> dict[str, Any]:
    """Return what the cards of the players of an arena tell, and what it was measured on.

    The players are those of `agents.make`, by their names.
    """
    facts = {one.label: one for one in report.players}
    ratings = {rating.player: rating for rating in report.ratings}
    players: dict[str, Any] = {}
    for label, one in facts.items():
        among = {
            row.others: [round(number, 4) for number in (row.result, row.low, row.high)]
            for row in report.report.rows
            if row.player == label
        }
        rating = ratings[label]
        players[label] = {
            "given": one.text,
            "among": among,
            "rating": {"mu": round(rating.mu, 2), "sigma": round(rating.sigma, 2)},
            "decisions_per_second": round(one.decisions / one.seconds) if one.seconds else None,
        }
        if training := agents.card(report.report.game, label).training:
            players[label]["sha256"] = training["sha256"]  # numbers of this network alone
    row = report.report.rows[0]
    about = {"measure": report.report.measure, "fair": row.fair, "deals": row.deals}
    told = {"game": report.report.game, "options": report.report.options, "split": "test"}
    return told | about | {"players": players, "command": command} | report.origin


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.agent_cards", description=__doc__)
    add_game_arguments(parser)
    parser.add_argument("--deals", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--cards", type=Path, default=NUMBERS, help="the folder of the cards")
    parser.add_argument("--out", type=Path, help="the folder of the tables")
    given = parser.parse_args(arguments)
    game = game_of(given)
    players = {name: name for name in agents.list(game)}
    report = arena(game, players, given.deals, "test", processes=given.processes)
    command = f"{parser.prog} {shlex.join(sys.argv[1:] if arguments is None else arguments)}"
    report.save(given.out or RESULTS / f"arena-{game.id}", command)
    given.cards.mkdir(parents=True, exist_ok=True)
    text = json.dumps(numbers(report, command), indent=1, ensure_ascii=False)
    (given.cards / f"{game.id}.json").write_text(text + "\n")
    print(report.text())


if __name__ == "__main__":
    main()
