"""Writes the tables of the pages from code and results: `python docs/generate.py`.

Everything between `<!-- table: NAME -->` and `<!-- end -->` is made here: in `docs/games/<game>.md`
from the game, in `docs/hints.md` from the results of the hint lab, in `docs/agents.md` from the
cards of the agents, in `docs/training.md` from the folder of results that the table is named
after. The pictures of results and learning curves are copied beside the pages.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import agents
import cardenvs
from agents.cards import read_numbers
from agents.trained import CHECKPOINTS, PICTURE
from cardenvs.core.game import Game
from cardenvs.core.options import options_table
from training.hint_lab import result_name
from training.hint_report import markdown
from training.origin import RESULTS
from training.ship import OTHERS

DOCS = Path(__file__).parent
NOT_MEASURED = "*Not measured yet.*"
#: What the pictures of experiments are called in their folders of results.
EXPERIMENTS = ("arena", "exploit", "compare")
BLOCK = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


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
    if not file.exists():
        return NOT_MEASURED
    title = f"Effects of the hints of {cardenvs.load_game(name).title}"
    tables = markdown(json.loads(file.read_text())).strip()
    return f"![{title}](pictures/{file.stem}.png)\n\n{tables}{learnt_hints(name)}"


def learnt_hints(name: str) -> str:
    """Return which hints the learners of a game follow, if they have been asked."""
    stem = f"hints_learnt_{name}"
    file = RESULTS / f"{stem}.md"
    if not file.exists():
        return ""
    title = f"Hints of {cardenvs.load_game(name).title} that learners come to follow"
    return f"\n\n**{title}**\n\n{file.read_text().strip()}\n\n![{title}](pictures/{stem}.png)"


def table_of_experiment(name: str) -> str:
    """Return what an experiment of training has found, and its picture."""
    texts = list((RESULTS / name).glob("*.md"))
    if not texts:
        return NOT_MEASURED
    (text,) = texts
    told = json.loads(text.with_suffix(".json").read_text())
    found = f"Commit {told['commit'][:7]}, {told['machine']}.\n\n{text.read_text().strip()}"
    return f"{found}\n\n![{name}](pictures/{name}.png)"


def table_of_agents(name: str) -> str:
    """Return the cards of a game's agents, with their numbers."""
    cards = [agents.card(name, agent) for agent in agents.list(name)]
    lines = ["| Agent | What | How | Options |", "|---|---|---|---|"]
    for card in cards:
        options = ", ".join(f"`{option}={value!r}`" for option, value in card.options.items())
        lines.append(f"| `{card.name}` | {card.what} | {card.how} | {options or '–'} |")
    game = cardenvs.load_game(name)
    lines += trainings(game, [card for card in cards if card.training])
    measured = {card.name: card.numbers for card in cards if card.numbers}
    if not measured:
        return "\n".join([*lines, "", NOT_MEASURED])
    told = read_numbers(name)
    if missing := [f"`{card.name}`" for card in cards if card.name not in measured]:
        lines += ["", f"*Not measured yet: {', '.join(missing)}.*"]
    lines += ["", f"![Who does how well among whom in {game.title}](pictures/arena-{game.id}.png)"]
    changed = ", ".join(f"{option}={value}" for option, value in told["options"].items())
    lines += [
        "",
        f"On {told['deals']:,} {told['split']} deals ({changed}; {told['measure']}, fair "
        f"{told['fair']:.3f}; `{told['command']}`, commit {told['commit'][:7]}). Each cell: the "
        "agent of the row alone among those of the column, or its team against theirs, with the "
        "95 % interval.",
        "",
        f"| Agent | Rating | Decisions/s | {' | '.join(f'`{name}`' for name in measured)} |",
        f"|---|---|---|{'---|' * len(measured)}",
    ]
    for player, numbers in measured.items():
        cells = [_among(numbers["among"].get(other)) for other in measured]
        rating = f"{numbers['rating']['mu']:.1f} ± {numbers['rating']['sigma']:.1f}"
        rate = f"{numbers['decisions_per_second']:,}"
        lines.append(f"| `{player}` | {rating} | {rate} | {' | '.join(cells)} |")
    return "\n".join(lines)


def trainings(game: Game, cards: Sequence[agents.Card]) -> list[str]:
    """Return how the trained agents of a game were trained, nothing if there are none."""
    lines = [
        "",
        "| Trained | Decisions | Time | Seed | Commit | Curve |",
        "|---|---|---|---|---|---|",
    ]
    for card in cards:
        told = card.training
        spent = f"{told['seconds'] / 60:,.0f} min on {told['machine']}"
        commit = told["commit"][:7] + "+" * told["commit"].endswith("+")
        curve = f"[dev deals](pictures/{curve_name(game.id, card.name)}.png)"
        cells = f"`{card.name}`", f"{told['decisions']:,}", spent, str(told["config"]["seed"])
        lines.append(f"| {' | '.join((*cells, commit, curve))} |")
    for card in cards:
        lines += runs_of(card)
    return lines if cards else []


def runs_of(card: agents.Card) -> list[str]:
    """Return how the run of a trained agent, and those beside it, did on the test deals.

    The columns are the agents that they were measured among; of many variants of a game, these
    variants, among the hint agent.
    """
    told = card.training
    several = len(told["test"]) > 1
    lines = []
    for run in (told, *told.get("beside", [])):
        results = {}
        for table in run["test"]:
            learner = table["rows"][0]["player"].partition(" (")[0]
            for row in table["rows"]:
                other = row["others"].partition(" (")[0]
                if row["player"] == f"{learner} ({told['plays']})" and (
                    other == OTHERS or not several
                ):
                    column = table["game"] if several else f"`{other}`"
                    results[column] = _among([row[name] for name in ("result", "low", "high")])
        if not lines:
            lines = [
                "",
                f"Runs of `{card.name}` and of other seeds and budgets, {told['plays']}, on the "
                f"test deals{' among hint agents' if several else ''}; the first is the agent.",
                "",
                f"| Decisions | Seed | {' | '.join(results)} |",
                f"|---|---|{'---|' * len(results)}",
            ]
        cells = f"{run['decisions']:,}", str(run["seed"]), *results.values()
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def curve_name(game_id: str, agent: str) -> str:
    """Return what the picture of an agent's learning curve is called."""
    return f"curve-{game_id}-{agent}"


def _among(result: list[float] | None) -> str:
    return "–" if result is None else "{:.3f} [{:.3f}, {:.3f}]".format(*result)


def pages() -> dict[Path, Callable[[str], str]]:
    """Return the pages, and for each the function from a table's name to the table."""
    made: dict[Path, Callable[[str], str]] = {
        DOCS / "hints.md": table_of_hints,
        DOCS / "agents.md": table_of_agents,
        DOCS / "training.md": table_of_experiment,
    }
    for game_id in cardenvs.game_ids():
        page = DOCS / "games" / f"{game_id.partition('-v')[0]}.md"
        made[page] = partial(table_of_game, cardenvs.load_game(game_id))
    return made


def pictures() -> dict[Path, Path]:
    """Return the pictures of the pages, each with the one that it is a copy of."""
    found = {file.stem: file for file in sorted(RESULTS.glob("hint*.png"))}
    for kind in EXPERIMENTS:
        found |= {file.parent.name: file for file in sorted(RESULTS.glob(f"*/{kind}.png"))}
    for file in sorted(CHECKPOINTS.glob(f"*/*/{PICTURE}")):
        found[curve_name(*file.parts[-3:-1])] = file
    return {DOCS / "pictures" / f"{name}.png": file for name, file in found.items()}


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
