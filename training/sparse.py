"""Products of observations and weights that pass over what is 0, which most of an observation is.

A first layer over all cards that a seat has seen is two thirds of a network's work, and nine tenths
of its inputs are 0. Here a product adds up rows of weights, one for each entry that is not 0, and
so does its gradient.

Letters of shapes: N positions, S inputs, E entries that are not 0, W outputs.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from cardenvs.core.kernel import COMPILED, entry_point

#: With fewer inputs for each entry that is not 0 than this, dense products are faster.
_LEAST_INPUTS = 5

#: For each row (or column): where its entries begin, int64 [N + 1] (or [S + 1]), the columns (or
#: rows) that they are in, int64 [E], and their values, float32 [E].
_Lists = tuple[Tensor, Tensor, Tensor]


class Entries:
    """The entries of an int8 matrix that are not 0.

    Attributes:
        num_columns: S.
        by_row: the lists of the rows.
    """

    def __init__(self, plain: npt.NDArray[np.int8], count: int) -> None:
        """Find the entries.

        Args:
            plain: int8 [N, S].
            count: E.
        """
        num_rows, self.num_columns = plain.shape
        self.by_row = _lists(num_rows, count + 1)  # an entry is written before it is known as one
        write_by_row(plain, *(part.numpy() for part in self.by_row))
        starts, columns, values = self.by_row
        self.by_row = starts, columns[:count], values[:count]

    @cached_property
    def by_column(self) -> _Lists:
        """The lists of the columns, which the gradient needs."""
        own = _lists(self.num_columns, len(self.by_row[1]))
        write_by_column(*(part.numpy() for part in (*self.by_row, *own)))
        return own

    def linear(self, weight: Tensor, bias: Tensor) -> Tensor:
        """Return the product with weights [W, S or less] plus a bias [W], float32 [N, W].

        Columns that the weights do not reach to are as if they were 0.
        """
        missing = self.num_columns - weight.shape[1]
        rows = functional.pad(weight, (0, missing)) if missing else weight
        apply: Any = _Linear.apply
        answer: Tensor = apply(rows.t().contiguous(), bias, self)
        return answer


def entries_of(plain: Tensor) -> Entries | Tensor:
    """Return a matrix int8 [N, S] as its entries where that is faster, else as it is."""
    if not COMPILED or plain.device.type != "cpu" or plain.dtype != torch.int8:
        return plain
    array = plain.contiguous().numpy()
    count = int(np.count_nonzero(array))
    return Entries(array, count) if count * _LEAST_INPUTS < array.size else plain


class _Linear(torch.autograd.Function):
    """Entries times weights [S, W] plus a bias [W]: float32 [N, W]; the entries are given."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor, entries: Entries) -> Tensor:
        ctx.entries = entries
        return _sums(weight, entries.by_row).add_(bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (gradient,) = gradients
        return _sums(gradient.contiguous(), ctx.entries.by_column), gradient.sum(0), None


def _sums(matrix: Tensor, lists: _Lists) -> Tensor:
    """Return, for each list, the sum of the rows of a matrix that it names, by its values."""
    starts, places, values = lists
    return functional.embedding_bag(
        places, matrix, starts, mode="sum", per_sample_weights=values, include_last_offset=True
    )


def _lists(count: int, num_entries: int) -> _Lists:
    """Return lists to be filled."""
    return (
        torch.zeros(count + 1, dtype=torch.int64),
        torch.empty(num_entries, dtype=torch.int64),
        torch.empty(num_entries, dtype=torch.float32),
    )


@entry_point
def write_by_row(plain: Any, starts: Any, columns: Any, values: Any) -> None:
    """Write the lists of the rows of int8 [N, S]; there must be room for one entry more."""
    num_rows, num_columns = plain.shape
    found = 0
    for row in range(num_rows):
        starts[row] = found
        for column in range(num_columns):  # without a branch: which are 0 cannot be predicted
            columns[found] = column
            values[found] = plain[row, column]
            found += plain[row, column] != 0
    starts[num_rows] = found


@entry_point
def write_by_column(
    row_starts: Any, columns: Any, row_values: Any, starts: Any, rows: Any, values: Any
) -> None:
    """Write the lists of the columns from those of the rows; `starts` is 0 everywhere before."""
    num_rows, num_columns = len(row_starts) - 1, len(starts) - 1
    for column in columns:
        starts[column + 1] += 1
    for column in range(num_columns):
        starts[column + 1] += starts[column]
    for row in range(num_rows):
        for entry in range(row_starts[row], row_starts[row + 1]):
            place = starts[columns[entry]]
            rows[place], values[place] = row, row_values[entry]
            starts[columns[entry]] = place + 1
    for column in range(num_columns, 0, -1):  # each start has moved to the next one's place
        starts[column] = starts[column - 1]
    starts[0] = 0
