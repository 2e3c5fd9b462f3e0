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

A match of Franconia in eight phases, of four sub-games of the Sixty-Six family: Deutsch (each for
himself, many points are good), Ace of Hearts (its holder names trumps and plays alone), Rufen (a
card is called, whose holder is the secret partner) and Kamerun (no trumps, points are bad). In each
phase players erase strokes; who has none is safe and drops out, from four to three to two, and the
last one loses the phase. An episode can also be one phase, or one deal. The rules are on the game's
page, docs/games/dreeg.md.

## Agents

`player_0`, `player_1` and so on, clockwise; four by default. The same agent may be asked several
times running, and one who has dropped out of a phase is not asked until the next.

## Action Space

`Discrete(86)`: an id for each card to lead or play, for each card to lead from a marriage, for each
card to call, for each suit to be trumps, one each to surrender, to swap the nine, to close the
talon, to announce Durchmarsch, to go out and to go on, and one for each seat that can be elected
dealer. `env.game.actions.table()` lists them. An illegal action ends the game, as behind
PettingZoo's TerminateIllegalWrapper, or raises with `illegal_action="raise"`.

## Observation Space

`Dict` of `observation`, an int8 `Box` of which `env.game.layout.table()` lists the entries and
`env.game.layout.decode` reads them, and `action_mask`, int8, which is zero for everybody but the
agent on turn. It has 607 entries whatever the options, with room for four players. An agent sees
its own cards and what is public, itself first and then the others clockwise, also what their play
proves; in Rufen the partner alone knows who he is. `env.state()` shows all hands, for central
critics.

## Starting State

A shuffled deal. `reset(seed=...)` starts a stream of deals, `reset()` goes on to the next, and
`reset(options={"deal": {...}})` begins with a position of yours.

## Rewards

At each phase's end the mean of the blobs that were given, less the agent's own; a match adds up
eight phases. With `scope="deal"`, at its end, the strokes that the agent has erased less the mean
of those who played; in Kamerun the other way round. All agents' rewards add up to nothing.

## Episode End

The end of the match, of the phase with `scope="subgame"`, of the deal with `scope="deal"`. All
agents are terminated in the same step; nothing is ever truncated.

## Arguments

`num_players`, `scope`, `subgame`, `ruleset`, `going_out` and `skip_forced`, see the game's page;
`render_mode` ("ansi", or "human", which prints) and `illegal_action` ("terminate" or "raise", of
`env` alone). `env.game.options` shows the rule options.

## Version History

* v0: the first version.
"""

from cardenvs.faces.aec import RawEnv

__all__ = ["env", "raw_env"]


class raw_env(RawEnv, game_id="dreeg-v0"):  # noqa: N801  # the name is PettingZoo's
    """Dreeg without the checks of `env`; an illegal action raises and changes nothing."""


env = raw_env.checked
