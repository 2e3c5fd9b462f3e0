"""Effects are judged by a margin that is fixed before, and corrected for their number."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from training.verdicts import (
    EQUIVALENT,
    HELPS,
    HURTS,
    NO_CHANGE,
    UNDECIDED,
    Effect,
    holm,
    p_of_difference,
    p_of_equivalence,
    verdicts,
)


def test_an_effect_is_the_mean_of_blocks() -> None:
    blocks = np.array([1.0, 2.0, 3.0, 6.0])
    effect = Effect.of_blocks(blocks)
    assert effect.mean == 3.0
    assert effect.error == pytest.approx(stats.sem(blocks))
    assert (effect.low, effect.high) == pytest.approx(
        (3 - 1.959964 * effect.error, 3 + 1.959964 * effect.error)
    )


def test_chances_are_those_of_normal_tests() -> None:
    effect = Effect(0.02, 0.01, 100)
    assert p_of_difference(effect) == pytest.approx(2 * stats.norm.sf(2.0))
    assert p_of_equivalence(effect, 0.05) == pytest.approx(stats.norm.cdf(-3.0))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_verdicts() -> None:
    effects = [
        Effect(0.05, 0.001, 9),
        Effect(-0.05, 0.001, 9),
        Effect(0.004, 0.0005, 9),  # surely no zero, but surely below the margin
        Effect(0.02, 0.02, 9),
    ]
    assert verdicts(effects, 0.01) == [HELPS, HURTS, EQUIVALENT, UNDECIDED]


def test_what_is_the_same_in_every_block_is_no_finding_and_no_test() -> None:
    same, effect = Effect(0.0, 0.0, 9), Effect(0.03, 0.03 / 2.5, 9)
    assert verdicts([same, effect, same], 0.01) == [NO_CHANGE, HELPS, NO_CHANGE]
    with pytest.raises(ValueError, match="the same in all blocks"):
        verdicts([Effect(0.1, 0.0, 9)], 0.01)
    with pytest.raises(ValueError, match="two blocks or more, not 1"):
        Effect.of_blocks(np.zeros(1))


def test_many_effects_need_more_evidence() -> None:
    effect = Effect(0.03, 0.03 / 2.5, 9)
    assert verdicts([effect], 0.01) == [HELPS]
    assert verdicts([effect] * 10, 0.01) == [UNDECIDED] * 10


def test_of_noise_few_are_judged_wrongly() -> None:
    """In 400 families of ten effects of nothing, about 5 % may have one that helps or hurts."""
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(400):
        found = [Effect(float(mean), 1.0, 9) for mean in rng.normal(size=10)]
        wrong += any(each in (HELPS, HURTS) for each in verdicts(found, 1e-9))
    assert 6 <= wrong <= 36  # 20 +- 3.6 standard deviations


def test_a_margin_is_positive() -> None:
    with pytest.raises(ValueError, match="positive, not 0"):
        verdicts([], 0.0)
