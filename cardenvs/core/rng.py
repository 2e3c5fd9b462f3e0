"""Random numbers: streams that are a function of (seed, episode, deal number).

A stream is an int64 [2] array, (key, number of draws so far); draw i of a stream is a hash of
(key, i), so nothing depends on the order in which tables are stepped. The arithmetic stays
within int64, so that the same numbers come without a warning where kernels are not compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cardenvs.core.kernel import kernel

Stream = npt.NDArray[np.int64]

#: Seeds are 0 <= seed < SEED_LIMIT.
SEED_LIMIT = 2**63

#: How many numbers are taken out of one supply; see `random_digits`.
DIGITS = 3
_DIGIT_BITS = 52
_DIGITS_MASK = 2**_DIGIT_BITS - 1

_LOW = 0xFFFFFFFF
# Odd multipliers of 32-bit hashes, as signed numbers: products then fit int64.
_FIRST = 0x7FEB352D
_SECOND = 0x846CA68B - 2**32
_GOLDEN = 0x9E3779B9 - 2**32
_SALT = 0xC2B2AE3D


@kernel
def mix(word: int) -> int:
    """Scramble 32 bits, one to one, so that every bit of the result depends on every bit."""
    word ^= word >> 16
    word = (word * _FIRST) & _LOW
    word ^= word >> 15
    word = (word * _SECOND) & _LOW
    return word ^ (word >> 16)


@kernel
def combine(key: int, number: int) -> int:
    """Absorb a non-negative number into a key of 62 bits."""
    low = mix((key & _LOW) ^ (number & _LOW))
    high = mix((key >> 32) ^ mix((number >> 32) ^ low))
    low = mix((low + high * _GOLDEN) & _LOW)
    return (high & 0x3FFFFFFF) << 32 | low


@kernel
def table_seed(seed: int, index: int) -> int:
    """The seed of table `index` in a batch of the given seed; table 0 has the seed itself."""
    return seed if index == 0 else combine(combine(seed, 1), index)


@kernel
def start_stream(stream: Stream, seed: int, episode: int, deal_number: int) -> None:
    """Point a stream at the start of a deal's random numbers.

    The words of the three numbers are scrambled side by side, so that no scrambling has to wait
    for another, and added up, differently for each half of the key.
    """
    deal = (episode >> 32) * _GOLDEN + deal_number
    low = mix(seed & _LOW) + mix(seed >> 32 ^ _FIRST)
    low += mix(episode & _LOW ^ _SALT) + mix((deal ^ _SALT >> 8) & _LOW)
    high = mix(seed & _LOW ^ _SALT >> 4) + mix(seed >> 32 ^ _SALT >> 1)
    high += mix(episode & _LOW ^ _FIRST >> 3) + mix((deal ^ _FIRST >> 5) & _LOW)
    stream[0] = (mix(high & _LOW) & 0x3FFFFFFF) << 32 | mix(low & _LOW)
    stream[1] = 0


@kernel
def inner_word(key: int, index: int) -> int:
    """32 bits that half of a key scrambles, at a place of its stream."""
    return mix(((key & _LOW) + index * _GOLDEN) & _LOW)


@kernel
def word_at(key: int, index: int) -> int:
    """The 32 random bits at a place of the stream of a key."""
    return mix(inner_word(key, index) ^ (key >> 32))


@kernel
def random_word(stream: Stream) -> int:
    """The next 32 random bits."""
    stream[1] += 1
    return word_at(stream[0], stream[1])


@kernel
def begin_randomness(state: Any, stream: Stream) -> None:
    """Let the row of a sampled world go on with the random numbers of its sampling."""
    state.seed = random_word(stream) << 30 ^ random_word(stream)
    state.rng[0] = stream[0]
    state.rng[1] = stream[1]


@kernel
def random_below(stream: Stream, limit: int) -> int:
    """A random number in 0 .. limit - 1, with a bias below limit / 2**32; limit <= 2**31."""
    return (random_word(stream) * limit) >> 32


@kernel
def random_digits(stream: Stream) -> int:
    """A supply of small random numbers, which `next_digit` takes out one by one.

    Its 52 bits are made of 32 at the place in the stream and of the key: every value is as likely
    as another over all streams, but within one stream there are 2**32 of them.
    """
    stream[1] += 1
    word = inner_word(stream[0], stream[1])
    return word << 20 | mix(word ^ stream[0] >> 32) >> 12


@kernel
def next_digit(digits: int, limit: int) -> tuple[int, int]:
    """A random number in 0 .. limit - 1, and the supply without it; limit <= 2**11.

    The bias of all numbers taken out together is below the product of their limits / 2**52, so
    that a supply is good for `DIGITS` of them.
    """
    product = digits * limit
    return product >> _DIGIT_BITS, product & _DIGITS_MASK


@kernel
def random_fraction(stream: Stream) -> float:
    """A random number of 53 bits in [0, 1)."""
    high = random_word(stream) >> 5
    return (high * 2.0**26 + (random_word(stream) >> 6)) * 2.0**-53


@kernel
def shuffle(cards: npt.NDArray[np.int8], count: int, stream: Stream) -> None:
    """Put the first `count` cards in random order, in place."""
    for last in range(count - 1, 0, -1):
        other = random_below(stream, last + 1)
        held = cards[last]
        cards[last] = cards[other]
        cards[other] = held
