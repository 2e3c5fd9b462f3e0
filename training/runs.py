"""What all trainers have in common: the games of a run, its opponents, its measurements."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import agents
from agents.base import Agent
from agents.learned import about_network
from cardenvs.command_line import add_game_arguments, game_of, options_of
from cardenvs.core.checks import whole_number
from cardenvs.core.game import Game
from cardenvs.registry import load_game
from training.curve import Curve, variant_name
from training.evaluate import Report, Row, evaluate, measure_of, shown_name
from training.players import read_player
from training.run_folder import read_about

#: A run's deals are those of the seeds from `seed << SEED_BITS` on. Published lists begin at 2**62.
SEED_BITS = 32
SEED_LIMIT = 2**30

#: Where a network can be.
DEVICES = ("cpu", "cuda")

#: Games that are several in one, which are learnt together if no options are given.
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "dreeg-v0": (
        *(
            {"scope": "deal", "subgame": subgame, "num_players": players}
            for subgame in ("deutsch", "ace_of_hearts", "rufen", "kamerun")
            for players in (2, 3, 4)
            if (subgame, players) != ("kamerun", 2)
        ),
        {"scope": "match", "num_players": 3},
        {"scope": "match", "num_players": 4},
    )
}

#: A match has tens of deals: so many fewer are measured.
DEALS_OF_MATCH = 10


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """What every run has.

    Attributes:
        game: its id.
        options: other rule options than the game's own. Without any, a game of several variants
            is learnt in all of them at once, see `VARIANTS`.
        seed: of the run, below 2**30; its deals are those of the seeds from `seed << 32` on.
        device: of the network: "cpu", "cuda".
        decisions: how many decisions the learner makes in all, rounded up to whole rollouts.
        curve_points: how often the learner is measured and saved.
        curve_deals, test_deals: how many deals these measurements and the last one play; of whole
            matches a tenth as many.
        measured_against: the players that both are played against, as in `training.players`; by
            default the baselines of the game.
    """

    game: str = "bred_ryg-v0"
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    device: str = "cpu"
    decisions: int = 10_000_000
    curve_points: int = 20
    curve_deals: int = 400
    test_deals: int = 2_000
    measured_against: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the numbers, and keep the deals of the run apart from the published lists."""
        if not 0 <= whole_number(self.seed) < SEED_LIMIT:
            raise ValueError(f"a run's seed is at least 0 and below 2**30, not {self.seed!r}")
        check_counts(self, ("decisions", "curve_points", "curve_deals", "test_deals"))
        if self.device not in DEVICES:
            raise ValueError(f"the devices are {', '.join(DEVICES)}, not {self.device!r}")

    @property
    def first_deal(self) -> int:
        """The seed of the run's first deal."""
        return self.seed << SEED_BITS


def check_counts(config: Any, names: Iterable[str]) -> None:
    """Check fields of a configuration that count something.

    Raises:
        ValueError: naming the first that is no whole number of at least 1.
    """
    for name in names:
        if whole_number(getattr(config, name)) < 1:
            raise ValueError(
                f"{name} is a whole number of at least 1, not {getattr(config, name)!r}"
            )


def check_range(config: Any, names: Iterable[str], high: float) -> None:
    """Check fields of a configuration that are numbers between 0 and a highest one.

    Raises:
        ValueError: naming the first that is not.
    """
    for name in names:
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= high:
            raise ValueError(f"{name} is a number between 0 and {high}, not {value!r}")


AnyConfig = TypeVar("AnyConfig", bound=RunConfig)


def read_run(
    trainer: str,
    about: str | None,
    presets: Iterable[str],
    config_of: Callable[..., AnyConfig],
    arguments: Sequence[str] | None,
) -> tuple[AnyConfig, Path, bool]:
    """Read the command line that all trainers have.

    Args:
        trainer: its module below `training`.
        about: what the help begins with.
        presets: their names.
        config_of: (game id, preset, **changed) -> configuration.
        arguments: by default those of the process.

    Returns:
        The configuration, the folder of the run, and whether to go on from a checkpoint there.

    Raises:
        ValueError: if a setting cannot be read, see `read_settings`, or is not possible.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m training.{trainer}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_game_arguments(parser)
    parser.add_argument("--preset", choices=list(presets), default="10min")
    parser.add_argument("--seed", type=int, default=RunConfig.seed)
    parser.add_argument("--device", help="of the network: cpu, cuda; by default as the preset")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a field of the configuration, its value as JSON; may be given several times",
    )
    parser.add_argument("--out", type=Path, help="by default runs/TRAINER-GAME-OPTIONS-PRESET-SEED")
    parser.add_argument("--resume", action="store_true", help="go on from the newest checkpoint")
    given = parser.parse_args(arguments)
    game, options = game_of(given), options_of(given)
    config = config_of(game.id, given.preset, options=options, seed=given.seed)
    config = replace(config, **read_settings(type(config), given.set))
    if given.device:
        config = replace(config, device=given.device)
    name = "-".join([trainer, game.id, *map(str, options.values()), given.preset, str(given.seed)])
    return config, given.out or Path("runs") / name, given.resume


def read_settings(config: type, texts: Iterable[str]) -> dict[str, Any]:
    """Read fields of a configuration that were given as NAME=VALUE, the value as JSON.

    Raises:
        ValueError: if there is no such field, or if the text is of another form.
    """
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        names = [known.name for known in fields(config)]
        if not equals or name not in names:
            raise ValueError(f"{text!r} is no NAME=VALUE with a name among {', '.join(names)}")
        try:
            read = json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError(f"the value of {text!r} is no JSON: {error}") from error
        settings[name] = tuple(read) if isinstance(read, list) else read
    return settings


def training_games(game_id: str, options: Mapping[str, Any]) -> list[Game]:
    """Return what is learnt; where one player loses the others gain, so that values are centred."""
    variants = VARIANTS.get(game_id, ({},)) if not options else ({},)
    games = [load_game(game_id, **{**options, **variant}) for variant in variants]
    return [
        load_game(game.id, **{**game.options, "reward": "zero_sum"})
        if "reward" in game.options
        else game
        for game in games
    ]


def name_of(game: Game) -> str:
    """Return what tells a variant from the others of its game, in a word."""
    if "subgame" not in game.options:
        return game.id
    what = "match" if is_match(game) else game.options["subgame"]
    return f"{what}-{game.num_players}"


def is_match(game: Game) -> bool:
    """Whether an episode is a whole match."""
    return game.options.get("scope") == "match"


def num_measured(game: Game, deals: int) -> int:
    """Return how many episodes are measured where so many deals are asked for."""
    return max(1, deals // DEALS_OF_MATCH) if is_match(game) else deals


def about_run(out: Path, games: Sequence[Game], name: str, decisions: int) -> dict[str, Any]:
    """Return what the file of a run's network tells of it.

    Args:
        out: the folder of the run.
        games: what it is trained on.
        name: of the network.
        decisions: after how many of the learner's decisions it is saved.
    """
    run = read_about(out)
    told = {"seed": run["config"]["seed"], "commit": run["commit"]}
    return about_network(games, name=name, decisions=decisions, **told)


#: What a learner is called while it is measured: its own name may be that of an opponent too.
_LEARNER = "the learner"


class Strength:
    """Measures a learner on the dev deals while it learns, and keeps the curve."""

    def __init__(
        self, games: Sequence[Game], config: RunConfig, out: Path, keep_until: int
    ) -> None:
        """Take over what the folder has, up to a number of decisions."""
        self._games = games
        self._config = config
        self.curve = Curve(out, keep_until)

    def measure(self, learner: Agent, decisions: int) -> dict[str, Row]:
        """Add a point to the curve: the learner among each of the others, in each variant."""
        measured: dict[str, Row] = {}
        several = len(self._games) > 1
        for game in self._games:
            others = self._others(game)
            pairs = [(_LEARNER, name) for name in others]
            everybody = {**others, _LEARNER: learner}
            deals = num_measured(game, self._config.curve_deals)
            report = evaluate(game, everybody, pairs, deals, "dev", progress=False)
            for name, row in zip(others, report.rows, strict=True):
                measured[variant_name(name, name_of(game)) if several else name] = row
        self.curve.add(decisions, measure_of(self._games[0]), measured)
        return measured

    def _others(self, game: Game) -> dict[str, Agent]:
        """Return who is measured against; of many variants each has the hint agent alone."""
        texts = self._config.measured_against
        return others_of(game, texts or ("hints",) if len(self._games) > 1 else texts)


def others_of(game: Game, texts: Sequence[str]) -> dict[str, Agent]:
    """Return the players that a learner is measured against: those given, or the baselines."""
    return {text: read_player(text).make(game, 0) for text in texts or agents.baselines(game)}


def final_reports(
    games: Sequence[Game],
    learners: Mapping[str, Agent],
    config: RunConfig,
    out: Path,
    progress: bool,
) -> list[Report]:
    """Measure learners and others on the test deals, in every variant, and save the tables."""
    reports = []
    for game in games:
        others = {
            f"frozen {name}" if shown_name(name, agent) in learners else name: agent
            for name, agent in others_of(game, config.measured_against).items()
        }
        pairs = [(learner, other) for other in others for learner in learners]
        pairs += [(other, learner) for learner in learners for other in others]
        everybody = {**others, **learners}
        deals = num_measured(game, config.test_deals)
        report = evaluate(game, everybody, pairs, deals, "test", progress)
        report.save(out, f"evaluation-{name_of(game)}" if len(games) > 1 else "evaluation")
        reports.append(report)
    return reports
