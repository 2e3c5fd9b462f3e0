"""Dreeg as a PettingZoo environment.

    >>> from cardenvs import dreeg_v0
    >>> env = dreeg_v0.env(num_players=3)
    >>> env.reset(seed=7)
    >>> for agent in env.agent_iter():
    ...     observation, reward, terminated, truncated, info = env.last()
    ...     mask = observation["action_mask"]
    ...     env.step(None if terminated else env.action_space(agent).sample(mask))

It is registered as well: `pettingzoo.make("aec", "cardenvs/dreeg-v0")`.

## Description

A beating game of the Danish island of Funen, of the family of Durak: the leader puts cards of one
rank in front of the next player, who beats them all, hands them back with another card of the
rank, or takes them. Nobody can beat the queen of diamonds. Hands are refilled in mid-turn while
there is a stock; then who has no cards is out, and who is left alone with cards has lost. The
rules are on the game's page, docs/games/dreeg.md.

## Agents

`player_0`, `player_1` and so on, clockwise. The same agent may be asked several times running.

## Action Space

`Discrete`: an id for each card to lead or add, for each card to pass the pile with, for each pair
of an attack card's suit and a card that beats it, for each such pair to exchange, and one each to
stop or be done, and to take. `env.game.actions.table()` lists them. An illegal action ends the
game, as behind PettingZoo's TerminateIllegalWrapper, or raises with `illegal_action="raise"`.

## Observation Space

`Dict` of `observation`, an int8 `Box` of which `env.game.layout.table()` lists the entries and
`env.game.layout.decode` reads them, and `action_mask`, int8, which is zero for everybody but the
agent on turn. An agent sees its own cards and what is public, itself first and then the others
clockwise, also what their pick-ups prove. `env.state()` shows all hands, for central critics.

## Starting State

A shuffled deal. `reset(seed=...)` starts a stream of deals, `reset()` goes on to the next, and
`reset(options={"deal": {...}})` begins with a position of yours.

## Rewards

At each game's end -1 for the loser and 0 for the others (or they share a point, with
`reward="zero_sum"`), for all agents in the same step.

## Episode End

The game's end, or that of a match of `num_games`. All agents are terminated in the same step. If a
cap ended a game without progress they are truncated too; its outcome counts all the same.

## Arguments

`num_players`, `render_mode` ("ansi", or "human", which prints), `illegal_action` ("terminate" or
"raise", of `env` alone), and the rule options of the game's page; `env.game.options` shows them.

## Version History

* v0: the first version.
"""

from cardenvs.faces.aec import RawEnv

__all__ = ["env", "raw_env"]


class raw_env(RawEnv, game_id="dreeg-v0"):  # noqa: N801  # the name is PettingZoo's
    """Dreeg without the checks of `env`; an illegal action raises and changes nothing."""


env = raw_env.checked
