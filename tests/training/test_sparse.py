"""Products that pass over zeros are the dense products, and so are their gradients."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch.nn import functional

import cardenvs
from cardenvs.core.kernel import COMPILED
from training.networks import ActorCritic, log_probabilities
from training.sparse import Entries, entries_of


def some_matrix(rows: int, columns: int, share: float) -> np.ndarray:
    """Return small numbers, most of them 0, and a row and a column without any other."""
    rng = np.random.default_rng(4)
    matrix = rng.integers(-3, 127, (rows, columns), np.int8)
    matrix[rng.random(matrix.shape) > share] = 0
    matrix[rows // 2] = 0
    matrix[:, columns // 2] = 0
    return matrix


def entries(matrix: np.ndarray) -> Entries:
    return Entries(matrix, np.count_nonzero(matrix))


@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("num_columns", [9, 32, 77])
def test_the_lists_are_those_of_the_entries(share: float, num_columns: int) -> None:
    matrix = some_matrix(6, num_columns, share)
    busy = np.array([1, 4, num_columns - 1])
    found = Entries(matrix, np.count_nonzero(matrix), busy)
    assert found.dense.tolist() == matrix[:, busy].tolist()
    assert len(found.starts) == len(matrix) + 1
    matrix[:, busy] = 0
    for i, line in enumerate(matrix):
        here = slice(found.starts[i], found.starts[i + 1])
        assert found.columns[here].tolist() == np.flatnonzero(line).tolist()
        assert found.values[here].tolist() == line[line != 0].tolist()


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("busy", [[], [0, 6]])
@pytest.mark.parametrize("widths", [(9,), (5, 9), (9, 9)])
def test_answers_and_gradients_are_those_of_dense_layers(
    widths: tuple[int, ...], busy: list[int], kind: torch.dtype
) -> None:
    matrix, generator = some_matrix(8, 9, 0.5), torch.Generator().manual_seed(2)
    rows = torch.tensor([2, 0, 7, 7, 4])  # the fifth is empty
    shapes = [shape for width in widths for shape in ((3, width), (3,), (len(rows), 3))]
    parts = [torch.randint(-9, 10, shape, generator=generator) / 8 for shape in shapes]
    results = []
    for is_sparse in (True, False):
        weights, biases = ([w.clone().requires_grad_() for w in parts[i::3]] for i in (0, 1))
        if is_sparse:
            found = Entries(matrix, np.count_nonzero(matrix), np.array(busy, np.int64))
            answers = found.index_select(0, rows).layers(weights, biases, kind)
        else:
            seen = torch.from_numpy(matrix).float()[rows]
            layers = zip(weights, biases, strict=True)
            exact = (functional.linear(seen[:, : w.shape[1]], w, b).relu() for w, b in layers)
            answers = tuple(answer.to(kind) for answer in exact)
        loss = sum(
            (answer.float() * part).sum() for answer, part in zip(answers, parts[2::3], strict=True)
        )
        loss.backward()  # type: ignore[union-attr]
        results.append([*answers, *(part.grad for part in (*weights, *biases))])
    assert any((answer == 0.0).any() for answer in results[0][: len(widths)])
    for ours, dense in zip(*results, strict=True):
        assert ours is not None
        assert dense is not None
        assert ours.shape == dense.shape
        error = 1e-5 if kind == torch.float32 else 2e-2
        assert torch.allclose(ours.float(), dense.float(), rtol=error, atol=error)


def test_a_network_answers_entries_as_it_answers_the_whole() -> None:
    game = cardenvs.load_game("bred_ryg")
    batch = cardenvs.make_batch(game.id, num_envs=5, seed=3, critic_state=True)
    batch.reset()
    seen, mask = batch.critic_state.copy(), torch.from_numpy(batch.action_mask.copy())
    with torch.random.fork_rng():
        torch.manual_seed(1)
        network = ActorCritic(game, (8, 8), is_central=True, shares_actions=False)
    short = seen[:, : game.observation_size].astype(np.float32)  # entries are not asked of floats
    whole = log_probabilities(network.actor, torch.from_numpy(short), mask)
    assert torch.allclose(log_probabilities(network.actor, entries(seen), mask), whole, atol=1e-5)
    value = network.value(torch.from_numpy(seen.astype(np.float32)))
    assert torch.allclose(network.value(entries(seen)), value, atol=1e-5)
    both = network(entries(seen), mask)
    assert torch.allclose(both[0], whole, atol=1e-5)
    assert torch.allclose(both[1], value, atol=1e-5)


def test_entries_are_asked_of_few_small_numbers() -> None:
    few, many = (torch.from_numpy(some_matrix(8, 40, share)) for share in (0.1, 0.9))
    found = entries_of(few)
    assert isinstance(found, Entries) == COMPILED  # as plain Python they would take for ever
    assert entries_of(many) is many
    floats = few.float()
    assert entries_of(floats) is floats
    if isinstance(found, Entries):
        rest = entries_of(torch.cat([many, few], 1)[:, 40:])  # not contiguous
        assert isinstance(rest, Entries)
        assert (rest.starts == found.starts).all()
        assert (rest.columns == found.columns).all()
        assert (rest.values == found.values).all()


@pytest.mark.compiled
def test_busy_columns_are_not_listed() -> None:
    rng = np.random.default_rng(5)
    matrix = (rng.random((3_000, 40)) < 0.05).astype(np.int8)
    matrix[:, [3, 39]] = rng.random((3_000, 2)) < 0.9
    found = entries_of(torch.from_numpy(matrix))
    assert isinstance(found, Entries)
    assert found.busy.tolist() == [3, 39]
    assert len(found.dense) == len(found) == 3_000
    few = entries_of(torch.from_numpy(matrix[:100]))
    assert isinstance(few, Entries)
    assert not few.busy.numel()
