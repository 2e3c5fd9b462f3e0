"""Bräus as a PettingZoo environment.

    >>> from cardenvs import braus_v0
    >>> env = braus_v0.env(num_players=4)
    >>> env.reset(seed=7)
    >>> for agent in env.agent_iter():
    ...     observation, reward, terminated, truncated, info = env.last()
    ...     mask = observation["action_mask"]
    ...     env.step(None if terminated else env.action_space(agent).sample(mask))

It is registered as well: `pettingzoo.make("aec", "cardenvs/braus-v0")`.

## Description

A game of Gotland for two teams whose players sit alternately. Of the 36 cards 18 can be played,
in an order of their own; the sevens win a trick when their holder is on lead, and the other 14 do
nothing at all. Who can beat the best card of a trick must. Six tricks win the deal. The rules are
on the game's page, docs/games/braus.md.

## Agents

`player_0` to `player_3` (or `player_5`), clockwise; the even ones play against the odd ones.

## Action Space

`Discrete`: an id for each card, which is led, played or laid, and one more to pass.
`env.game.actions.table()` lists them. An illegal action ends the game, as behind PettingZoo's
TerminateIllegalWrapper, or raises with `illegal_action="raise"`.

## Observation Space

`Dict` of `observation`, an int8 `Box` of which `env.game.layout.table()` lists the entries and
`env.game.layout.decode` reads them, and `action_mask`, int8, which is zero for everybody but the
agent on turn. An agent sees its own cards and what is public, itself first and then the others
clockwise, also what their passes prove. `env.state()` shows all hands, for central critics.

## Starting State

A shuffled deal. `reset(seed=...)` starts a stream of deals, `reset()` goes on to the next, and
`reset(options={"deal": {...}})` begins with a position of yours.

## Rewards

At the end of the deal its strokes, 1 or 2, to each player of the team that won, and as much
less to the others; 0 if nobody won. With `scope="match"` +1 and -1 at the end of the match.

## Episode End

The end of the deal, or of the match. All agents are terminated in the same step; nothing is
ever truncated.

## Arguments

`num_players`, `render_mode` ("ansi", or "human", which prints), `illegal_action` ("terminate" or
"raise", of `env` alone), and the rule options of the game's page; `env.game.options` shows them.

## Version History

* v0: the first version.
"""

from cardenvs.faces.aec import RawEnv

__all__ = ["env", "raw_env"]


class raw_env(RawEnv, game_id="braus-v0"):  # noqa: N801  # the name is PettingZoo's
    """Bräus without the checks of `env`; an illegal action raises and changes nothing."""


env = raw_env.checked
