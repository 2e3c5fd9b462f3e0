"""Hints can be switched on and off, in any order, over any base policy."""

from __future__ import annotations

import numpy as np
import pytest

import agents
import cardenvs
from agents.hints import advice_masks, default_kernel, hint_book, hint_kernels
from cardenvs.core.rng import Stream
from tests.agents.asking import choice, position

GAMES = cardenvs.game_ids()

#: A position of Bräus in which BZ-H1 and BZ-H6 speak, each for another card.
TORMENT = {"dealer": 3, "hands": ["JC 9C 6D", "KH TC", "TS TH", "6C 6S"], "leader": 0}


def positions(game_id: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return observations and masks of random play."""
    batch = cardenvs.make_batch(game_id, 32, seed=1)
    batch.reset()
    seen = []
    for _ in range(count):
        seen.append((batch.observation.copy(), batch.action_mask.copy()))
        batch.step(batch.sample_actions())
    observations, masks = zip(*seen, strict=True)
    return np.concatenate(observations), np.concatenate(masks)


@pytest.mark.parametrize("game_id", GAMES)
def test_every_hint_has_words_and_a_name_of_its_own(game_id: str) -> None:
    book = hint_book(cardenvs.load_game(game_id))
    names = [hint.name for hint in (*book.hints, *book.silent)]
    assert len(set(names)) == len(names)
    assert all(hint.title and hint.claim and hint.source for hint in book.hints)
    assert all(hint.title and hint.source and hint.reason for hint in book.silent)
    assert book.off <= set(book.names)
    assert set(book.default) == set(book.names) - book.off


@pytest.mark.parametrize("game_id", GAMES)
def test_advice_is_legal_and_the_agent_follows_the_first_that_speaks(
    game_id: str, num_games: int
) -> None:
    book = hint_book(cardenvs.load_game(game_id))
    observations, masks = positions(game_id, max(10, num_games))
    for name in book.names:
        advised = advice_masks(book, name, observations, masks)
        assert (advised <= masks).all()
        speaks = advised.any(axis=1)
        actions = agents.make(game_id, "hints", seed=1, hints=name).act(observations, masks)
        assert advised[speaks, actions[speaks]].all()


@pytest.mark.parametrize("game_id", GAMES)
def test_without_hints_the_base_policy_plays(game_id: str) -> None:
    observations, masks = positions(game_id, 20)
    bare = agents.make(game_id, "hints", seed=1, hints=(), base="lowest")
    lowest = agents.make(game_id, "lowest", seed=2)
    assert (bare.act(observations, masks) == lowest.act(observations, masks)).all()
    assert bare.plays == "greedy"
    chance = agents.make(game_id, "hints", seed=1, hints=(), base="random")
    assert chance.plays == "sampled"
    many = 200
    same = np.repeat(masks[:1], many, axis=0)
    actions = chance.act(np.repeat(observations[:1], many, axis=0), same)
    assert set(actions) == set(np.flatnonzero(masks[0]))


@pytest.mark.parametrize("game_id", GAMES)
def test_the_kernel_for_searches_plays_as_the_agent(game_id: str) -> None:
    book = hint_book(cardenvs.load_game(game_id))
    act = default_kernel(book)
    observations, masks = positions(game_id, 3)
    actions = agents.make(game_id, "hints", seed=1).act(observations, masks)
    rng: Stream = np.zeros(2, np.int64)
    alone = [act(*pair, rng) for pair in zip(observations, masks, strict=True)]
    assert alone == actions.tolist()


def test_the_order_decides_between_hints_that_contradict_each_other() -> None:
    state = position("braus-v0", TORMENT)
    assert choice(state, "hints", hints="BZ-H1+BZ-H6") == "lead 9C"
    assert choice(state, "hints", hints=["BZ-H6", "BZ-H1"]) == "lead JC"
    assert choice(state, "hints", hints="BZ-H1+BZ-H6", without="BZ-H1") == "lead JC"
    assert choice(state, "hints", hints="") == choice(state, "lowest") == "lead 6D"


def test_an_agent_tells_its_hints() -> None:
    agent = agents.make("braus", "hints", without="BZ-H4b")
    assert agent.hints == ("BZ-H4a", "BZ-H6")


def test_errors_name_what_there_is() -> None:
    with pytest.raises(ValueError, match=r"no hint is called 'BZ-H9'; there are BZ-H4a, "):
        agents.make("braus", "hints", hints="BZ-H9")
    with pytest.raises(ValueError, match=r"no hint is called 'BZ-H9'"):
        agents.make("braus", "hints", without="BZ-H9")
    with pytest.raises(ValueError, match="each hint is used once"):
        agents.make("braus", "hints", hints="BZ-H1+BZ-H1")
    book = hint_book(cardenvs.load_game("braus"))
    with pytest.raises(ValueError, match=r"no base policy is called 'best'; there are lowest, "):
        hint_kernels(book, "best")
