"""Random streams: uniform, independent of each other, and the same in both modes."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from cardenvs.core import rng
from cardenvs.core.rng import SEED_LIMIT

#: All seeds are fixed, so nothing here fails by chance; this is how odd a result may be.
ODD = 1e-4
HIGHEST = SEED_LIMIT - 1


def stream(seed: int = 1, episode: int = 0, deal_number: int = 0) -> np.ndarray:
    started = np.zeros(2, np.int64)
    rng.start_stream(started, seed, episode, deal_number)
    return started


def words(started: np.ndarray, count: int) -> list[int]:
    return [int(rng.random_word(started)) for _ in range(count)]


@pytest.mark.parametrize("limit", [2, 3, 6, 52, 1000])
def test_random_below_is_uniform(limit):
    started = stream(limit)
    counts = Counter(rng.random_below(started, limit) for _ in range(20 * limit + 2000))
    assert set(counts) <= set(range(limit))
    assert stats.chisquare([counts[value] for value in range(limit)]).pvalue > ODD


def digits(started: np.ndarray, limits: tuple[int, ...]) -> tuple[int, ...]:
    supply, taken = rng.random_digits(started), []
    for limit in limits:
        digit, supply = rng.next_digit(supply, limit)
        taken.append(int(digit))
    return tuple(taken)


@pytest.mark.parametrize("limits", [(2, 3, 4), (6, 5, 4), (36, 35), (63,)])
def test_numbers_of_one_supply_are_uniform_and_independent(limits):
    started = stream(limits[0])
    possible = list(product(*map(range, limits)))
    counts = Counter(digits(started, limits) for _ in range(20 * len(possible)))
    assert set(counts) <= set(possible)
    assert stats.chisquare([counts[each] for each in possible]).pvalue > ODD


def test_the_last_numbers_of_a_supply_are_uniform():
    started = stream(8)
    taken = np.array([digits(started, (630,) * rng.DIGITS) for _ in range(6000)])
    for place in range(rng.DIGITS):
        assert stats.chisquare(np.bincount(taken[:, place], minlength=630)).pvalue > ODD


def test_random_below_takes_limits_up_to_two_to_the_31():
    started = stream(3)
    drawn = [rng.random_below(started, 2**31) for _ in range(100)]
    assert 0 <= min(drawn) < 2**28
    assert 2**31 - 2**28 < max(drawn) < 2**31


def test_no_two_streams_are_the_same():
    numbers = [*range(40), 2**31, 2**32, 2**32 + 1, 2**33, 2**62, HIGHEST]
    keys = {int(stream(s, e, d)[0]) for s in numbers for e in numbers for d in range(40)}
    assert len(keys) == len(numbers) ** 2 * 40
    assert all(0 <= key < 2**62 for key in keys)


@pytest.mark.parametrize("number", ["seed", "episode", "deal_number"])
def test_each_bit_of_a_number_changes_half_of_the_key(number):
    for bit in range(20 if number == "deal_number" else 62):
        changed = [
            int(stream(**{number: value})[0] ^ stream(**{number: value ^ 1 << bit})[0]).bit_count()
            for value in range(60)
        ]
        assert 27 < np.mean(changed) < 35  # 31 of 62, give or take seven standard deviations


@pytest.mark.parametrize("bit", [0, 1, 15, 16, 30, 31])
def test_every_bit_of_a_word_is_fair(bit):
    ones = sum(word >> bit & 1 for word in words(stream(5), 4000))
    assert stats.binomtest(ones, 4000).pvalue > ODD


def test_shuffle_gives_all_orders_alike():
    counts: Counter[tuple[int, ...]] = Counter()
    started = stream(7)
    for _ in range(5000):
        cards = np.arange(4, dtype=np.int8)
        rng.shuffle(cards, 4, started)
        counts[tuple(cards.tolist())] += 1
    assert stats.chisquare([counts[order] for order in permutations(range(4))]).pvalue > ODD


def test_shuffles_of_consecutive_seeds_are_uniform():
    firsts: Counter[int] = Counter()
    for seed in range(3000):
        cards = np.arange(10, dtype=np.int8)
        rng.shuffle(cards, 10, stream(seed))
        firsts[int(cards[0])] += 1
    assert stats.chisquare([firsts[card] for card in range(10)]).pvalue > ODD


def test_shuffle_leaves_the_cards_behind_the_count():
    cards = np.arange(10, dtype=np.int8)
    rng.shuffle(cards, 6, stream())
    assert sorted(cards[:6].tolist()) == list(range(6))
    assert cards[6:].tolist() == [6, 7, 8, 9]


@pytest.mark.parametrize("other", [(2, 0, 0), (1, 1, 0), (1, 0, 1), (HIGHEST, 0, 0), (2**32, 0, 1)])
def test_streams_are_independent(other):
    ours, theirs = words(stream(1, 0, 0), 4000), words(stream(*other), 4000)
    table = np.zeros((4, 4))
    np.add.at(table, (np.array(ours) >> 30, np.array(theirs) >> 30), 1)
    assert stats.chi2_contingency(table).pvalue > ODD
    assert sum(a == b for a, b in zip(ours, theirs, strict=True)) < 3


def test_a_stream_is_a_function_of_its_three_numbers():
    assert words(stream(4, 5, 6), 20) == words(stream(4, 5, 6), 20)


def test_a_word_is_a_function_of_its_place():
    started = stream(9)
    key = int(started[0])
    assert words(started, 20) == [rng.word_at(key, place) for place in range(1, 21)]


def test_mix_is_one_to_one_and_stays_in_32_bits():
    spread = [*range(2**14), *range(2**32 - 2**14, 2**32), *range(0, 2**32, 2**18 + 1)]
    mixed = {int(rng.mix(word)) for word in set(spread)}
    assert len(mixed) == len(set(spread))
    assert all(0 <= word < 2**32 for word in mixed)


def test_combine_tells_keys_and_numbers_apart():
    numbers = [*range(100), 2**31, 2**32, 2**32 + 1, 2**62, HIGHEST]
    roots = [rng.combine(0, seed) for seed in numbers]
    keys = [rng.combine(root, number) for root in roots for number in numbers]
    assert len(set(keys)) == len(keys)
    assert all(0 <= key < 2**62 for key in keys)


def test_combine_depends_on_the_order():
    assert rng.combine(rng.combine(0, 1), 2) != rng.combine(rng.combine(0, 2), 1)


@pytest.mark.parametrize("seed", [0, 1, 2**62, HIGHEST])
def test_table_0_has_the_seed_of_the_batch_and_no_other_has(seed):
    seeds = [rng.table_seed(seed, index) for index in range(500)]
    assert seeds[0] == seed
    assert len(set(seeds)) == 500
    assert all(0 <= table < SEED_LIMIT for table in seeds)
