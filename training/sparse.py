"""First layers that pass over what is 0 in an observation, which is most of it.

A first layer over all cards that a seat has seen is two thirds of a network's work, and nine tenths
of its inputs are 0. Here a layer adds up rows of weights, one for each entry that is not 0, and its
gradient adds to such rows. Networks that see the same walk through the entries together.

Letters of shapes: N positions, S inputs, E entries that are not 0, W outputs, K layers at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from cardenvs.core.kernel import COMPILED, bit_reader, entry_point, lowest_bit

#: With fewer inputs for each entry that is not 0 than this, dense products are faster.
_LEAST_INPUTS = 5

#: As many inputs are looked at in one go.
_BLOCK = 32
_read_block = bit_reader(_BLOCK)

_float32: Any = np.float32
_ZERO = _float32(0.0)


class Entries:
    """The entries of an int8 matrix that are not 0, row by row.

    Attributes:
        num_columns: S, at most 65,536.
        starts: where the entries of a row of the matrix begin, int64 [rows + 1].
        columns: in which column an entry is, uint16 [E].
        values: int8 [E].
        rows: which rows of the matrix these positions are, int64 [N].
    """

    def __init__(self, plain: npt.NDArray[np.int8], count: int) -> None:
        """Find the entries.

        Args:
            plain: int8 [N, S].
            count: E.
        """
        num_rows, self.num_columns = plain.shape
        self.starts = np.empty(num_rows + 1, np.int64)
        self.columns = np.empty(count, np.uint16)
        self.values = np.empty(count, np.int8)
        self.rows = np.arange(num_rows)
        lists = self.starts, self.columns, self.values
        write_entries(np.ascontiguousarray(plain).reshape(-1), self.num_columns, *lists)

    def __len__(self) -> int:
        return len(self.rows)

    def index_select(self, dim: int, index: Tensor) -> Entries:
        """Return some of the positions, as a tensor does; `dim` is 0."""
        assert dim == 0
        chosen = Entries.__new__(Entries)
        chosen.__dict__ |= self.__dict__ | {"rows": self.rows[index.numpy()]}
        return chosen

    def layers(self, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return the outputs of K linear layers with ReLU, each float32 [N, W].

        Columns that the weights do not reach to are as if they were 0.

        Args:
            weights: of each layer, [W, S or less].
            biases: of each layer, [W].
        """
        missing = (self.num_columns - weight.shape[1] for weight in weights)
        padded = [functional.pad(w, (0, m)) for w, m in zip(weights, missing, strict=True)]
        joint = torch.cat(padded).t().contiguous()
        apply: Any = _Layers.apply
        outputs: tuple[Tensor, ...] = apply(joint, torch.cat(list(biases)), self, len(weights))
        return outputs


def entries_of(plain: Tensor) -> Entries | Tensor:
    """Return a matrix int8 [N, S] as its entries where that is faster, else as it is."""
    if not COMPILED or plain.device.type != "cpu" or plain.dtype != torch.int8:
        return plain
    array = plain.contiguous().numpy()
    count = int(np.count_nonzero(array))
    return Entries(array, count) if count * _LEAST_INPUTS < array.size else plain


class _Layers(torch.autograd.Function):
    """Entries times joint weights [S, K * W] plus biases [K * W], then ReLU: K times [N, W]."""

    @staticmethod
    def forward(
        ctx: Any, weight: Tensor, bias: Tensor, entries: Entries, num_layers: int
    ) -> tuple[Tensor, ...]:
        width = len(bias) // num_layers
        outputs = tuple(torch.empty(len(entries), width) for _ in range(num_layers))
        lists = entries.starts, entries.columns, entries.values, entries.rows
        write_layers(
            lists, _array(weight), _array(bias), np.empty(len(bias), np.float32), _arrays(outputs)
        )
        ctx.entries = lists
        ctx.shape = weight.shape
        ctx.save_for_backward(*outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        weight, bias = torch.zeros(ctx.shape), torch.zeros(ctx.shape[1])
        whole = [gradient.contiguous() for gradient in gradients]
        flows = _arrays(whole), _arrays(ctx.saved_tensors)
        add_gradients(
            ctx.entries, *flows, np.empty(len(bias), np.float32), _array(weight), _array(bias)
        )
        return weight, bias, None, None


def _array(tensor: Tensor) -> npt.NDArray[np.float32]:
    array: npt.NDArray[np.float32] = tensor.detach().numpy()
    return array


def _arrays(tensors: Sequence[Tensor]) -> tuple[npt.NDArray[np.float32], ...]:
    return tuple(map(_array, tensors))


@entry_point
def write_entries(plain: Any, num_columns: Any, starts: Any, columns: Any, values: Any) -> None:
    """Write the entries of int8 [N * S], see `Entries`."""
    found = 0
    for row in range(len(starts) - 1):
        starts[row] = found
        begin = row * num_columns
        end = begin + num_columns
        place = begin
        while place + _BLOCK <= end:
            bits = _read_block(plain, place)
            while bits:
                entry = place + lowest_bit(bits)
                columns[found], values[found] = entry - begin, plain[entry]
                found += 1
                bits &= bits - 1
            place += _BLOCK
        for entry in range(place, end):
            if plain[entry]:
                columns[found], values[found] = entry - begin, plain[entry]
                found += 1
    starts[len(starts) - 1] = found


@entry_point
def write_layers(entries: Any, weight: Any, bias: Any, sums: Any, outputs: Any) -> None:
    """Write the outputs of layers, see `_Layers`.

    Args:
        entries: starts, columns, values and rows, see `Entries`.
        weight: float32 [S, K * W].
        bias: float32 [K * W].
        sums: scratch, float32 [K * W].
        outputs: K times float32 [N, W].
    """
    starts, columns, values, rows = entries
    width = outputs[0].shape[1]
    for i in range(len(rows)):
        for j in range(len(bias)):
            sums[j] = bias[j]
        entry, end = starts[rows[i]], starts[rows[i] + 1]
        while entry + 4 <= end:  # by four, for the sums are read and written each time
            a, va = columns[entry], _float32(values[entry])
            b, vb = columns[entry + 1], _float32(values[entry + 1])
            c, vc = columns[entry + 2], _float32(values[entry + 2])
            d, vd = columns[entry + 3], _float32(values[entry + 3])
            for j in range(len(bias)):
                first, second = va * weight[a, j] + vb * weight[b, j], vc * weight[c, j]
                sums[j] += first + (second + vd * weight[d, j])
            entry += 4
        while entry < end:
            column, value = columns[entry], _float32(values[entry])
            for j in range(len(bias)):
                sums[j] += value * weight[column, j]
            entry += 1
        for k, output in enumerate(outputs):
            for j in range(width):
                signal = sums[k * width + j]
                output[i, j] = _ZERO if signal < _ZERO else signal


@entry_point
def add_gradients(
    entries: Any, gradients: Any, outputs: Any, flow: Any, weight: Any, bias: Any
) -> None:
    """Add to the gradients of the weights and the biases, see `_Layers`.

    Args:
        entries: starts, columns, values and rows, see `Entries`.
        gradients: of the outputs, K times float32 [N, W].
        outputs: K times float32 [N, W].
        flow: scratch, float32 [K * W].
        weight: float32 [S, K * W].
        bias: float32 [K * W].
    """
    starts, columns, values, rows = entries
    width = outputs[0].shape[1]
    for i in range(len(rows)):
        for k, output in enumerate(outputs):
            gradient = gradients[k]
            for j in range(width):
                flow[k * width + j] = gradient[i, j] if output[i, j] > _ZERO else _ZERO
        for j in range(len(flow)):
            bias[j] += flow[j]
        for entry in range(starts[rows[i]], starts[rows[i] + 1]):
            column, value = columns[entry], _float32(values[entry])
            for j in range(len(flow)):
                weight[column, j] += value * flow[j]
