"""Cards as ids, sets and text, with every deck that a game plays with."""

import random
from collections import Counter

import numpy as np
import pytest
from scipy import stats

import cardenvs
from cardenvs.core import cards
from cardenvs.core.cards import NO_CARD, Deck
from cardenvs.core.rng import start_stream

DECKS = {game_id: cardenvs.load_game(game_id).rules.DECK for game_id in cardenvs.game_ids()}
DECKS["small"] = Deck(ranks="7A", suits="CDS")


@pytest.fixture(params=DECKS)
def deck(request: pytest.FixtureRequest) -> Deck:
    return DECKS[request.param]


def test_text_and_id_lead_to_each_other(deck):
    texts = [deck.text(card) for card in range(deck.num_cards)]
    assert len(set(texts)) == deck.num_cards
    assert [deck.card(text) for text in texts] == list(range(deck.num_cards))


def test_id_is_made_of_suit_and_rank(deck):
    for card in range(deck.num_cards):
        assert deck.text(card) == deck.ranks[deck.rank(card)] + deck.suits[deck.suit(card)]
        assert card == deck.suit(card) * len(deck.ranks) + deck.rank(card)


def test_sets_and_texts_lead_to_each_other(deck):
    chosen = random.Random(1).sample(range(deck.num_cards), deck.num_cards // 2)
    text = " ".join(deck.text(card) for card in chosen)
    assert deck.cards(text) == cards.set_of(chosen)
    assert deck.texts(deck.cards(text)) == [deck.text(card) for card in sorted(chosen)]


def test_ranks_and_suits_part_the_deck(deck):
    ranks = [deck.rank_cards(rank) for rank in range(len(deck.ranks))]
    suits = [deck.suit_cards(suit) for suit in range(len(deck.suits))]
    for parts in (ranks, suits):
        assert sum(parts) == deck.all_cards
        assert sum(len(list(cards.each_card(part))) for part in parts) == deck.num_cards
    assert ranks[0] & suits[-1] == 1 << deck.card(deck.ranks[0] + deck.suits[-1])


@pytest.mark.parametrize("text", ["", "Q", "QCC", "CQ", "1C", "QX", "qc", " Q", "Ä♣"])
def test_what_is_no_card_is_refused_with_the_cards_that_exist(text):
    with pytest.raises(ValueError, match="one of the ranks 7 A and one of the suits C D S"):
        DECKS["small"].card(text)


def test_operations_on_sets_agree_with_python():
    chooser = random.Random(2)
    for _ in range(200):
        held = set(chooser.sample(range(63), chooser.randrange(1, 63)))
        bits = cards.set_of(held)
        assert cards.lowest_card(bits) == min(held)
        assert set(cards.each_card(cards.without_lowest(bits))) == held - {min(held)}
        card = chooser.randrange(62)
        assert cards.has_card(bits, card) == (card in held)
        assert set(cards.each_card(bits & cards.cards_above(card))) == {c for c in held if c > card}


def test_all_cards_are_above_no_card():
    assert cards.cards_above(NO_CARD) == -1


def test_card_mask_holds_one_card():
    assert [cards.card_mask(card) for card in (0, 1, 62)] == [1, 2, 1 << 62]


def test_card_at_widens_so_that_shifts_do_not_overflow():
    ids = np.array([40, NO_CARD], np.int8)
    assert 1 << int(cards.card_at(ids, 0)) == 1 << 40
    assert cards.card_at(ids, 0) * 100 == 4000
    assert cards.card_at(ids, 1) == NO_CARD


@pytest.mark.parametrize(("num_hands", "num_cards"), [(2, 4), (3, 6), (4, 36), (6, 36), (7, 42)])
def test_cards_are_dealt_evenly(num_hands, num_cards):
    hands, stream = np.zeros(num_hands, np.int64), np.zeros(2, np.int64)
    for seed in range(50):
        start_stream(stream, seed, 0, 0)
        cards.deal_evenly(hands, num_hands, seed % num_hands, num_cards, stream)
        assert [hand.bit_count() for hand in hands.tolist()] == [num_cards // num_hands] * num_hands
        assert sum(hands.tolist()) == (1 << num_cards) - 1


def test_all_ways_to_deal_are_equally_likely():
    hands, stream = np.zeros(3, np.int64), np.zeros(2, np.int64)
    start_stream(stream, 5, 0, 0)
    counts = Counter()
    for _ in range(9000):
        cards.deal_evenly(hands, 3, 1, 6, stream)
        counts[tuple(hands.tolist())] += 1
    assert len(counts) == 90  # 6! / 2!^3
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


def test_all_orders_of_a_deck_are_equally_likely():
    out, stream = np.zeros(4, np.int8), np.zeros(2, np.int64)
    start_stream(stream, 6, 0, 0)
    counts = Counter()
    for _ in range(4800):
        cards.shuffle_deck(out, 4, stream)
        counts[tuple(out.tolist())] += 1
    assert len(counts) == 24
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


@pytest.mark.parametrize("num_cards", [24, 52, 62])
def test_each_card_of_a_deck_lies_anywhere(num_cards):
    out, stream = np.zeros(num_cards, np.int8), np.zeros(2, np.int64)
    start_stream(stream, num_cards, 0, 0)
    places = np.zeros((num_cards, num_cards))
    for _ in range(100 * num_cards):
        cards.shuffle_deck(out, num_cards, stream)
        assert sorted(out.tolist()) == list(range(num_cards))
        places[out, np.arange(num_cards)] += 1
    for card in (0, num_cards // 2, num_cards - 1):
        assert stats.chisquare(places[card]).pvalue > 1e-4
