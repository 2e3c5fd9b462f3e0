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

from cardenvs.core.kernel import COMPILED, bit_reader, entry_point, kernel, lowest_bit

#: With fewer inputs for each entry that is not 0 than this, dense products are faster.
_LEAST_INPUTS = 5

#: As many inputs are looked at in one go.
_BLOCK = 32
_read_block = bit_reader(_BLOCK)

_float32: Any = np.float32
_ZERO = _float32(0.0)

# A bfloat16 is the upper half of a float32.
_uint16: Any = np.uint16
_uint32: Any = np.uint32
_HALF, _BELOW_HALF, _ONE = _uint32(16), _uint32(0x7FFF), _uint32(1)


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

    def layers(
        self, weights: Sequence[Tensor], biases: Sequence[Tensor], kind: torch.dtype = torch.float32
    ) -> tuple[Tensor, ...]:
        """Return the outputs of K linear layers with ReLU, each [N, W].

        Columns that the weights do not reach to are as if they were 0.

        Args:
            weights: of each layer, [W, S or less].
            biases: of each layer, [W].
            kind: of the outputs, float32 or bfloat16; sums are float32.
        """
        missing = (self.num_columns - weight.shape[1] for weight in weights)
        padded = [functional.pad(w, (0, m)) for w, m in zip(weights, missing, strict=True)]
        joint = torch.cat(padded).t().contiguous()
        apply: Any = _Layers.apply
        shape = len(weights), len(self), len(biases[0])
        outputs: tuple[Tensor, ...] = apply(joint, torch.cat(list(biases)), self, shape, kind)
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
        ctx: Any,
        weight: Tensor,
        bias: Tensor,
        entries: Entries,
        shape: tuple[int, int, int],
        kind: torch.dtype,
    ) -> tuple[Tensor, ...]:
        num_layers, *size = shape
        outputs = tuple(torch.empty(size, dtype=kind) for _ in range(num_layers))
        lists = entries.starts, entries.columns, entries.values, entries.rows
        write = write_bfloat16 if kind == torch.bfloat16 else write_float32
        write(lists, _array(weight), _array(bias), _scratch(bias), _arrays(outputs))
        ctx.entries, ctx.shape = lists, weight.shape
        ctx.save_for_backward(*outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        weight, bias = torch.zeros(ctx.shape), torch.zeros(ctx.shape[1])
        flows = [gradient.contiguous() for gradient in gradients]
        add = add_bfloat16 if flows[0].dtype == torch.bfloat16 else add_float32
        given = ctx.entries, _arrays(flows), _arrays(ctx.saved_tensors), _scratch(bias)
        add(*given, _array(weight), _array(bias))
        return weight, bias, None, None, None


def _array(tensor: Tensor) -> npt.NDArray[Any]:
    """Return a tensor's memory, where it is bfloat16 as int16: NumPy and Numba know no such."""
    plain = tensor.detach()
    bits = plain.view(torch.int16) if plain.dtype == torch.bfloat16 else plain
    array: npt.NDArray[Any] = bits.numpy()
    return array


def _arrays(tensors: Sequence[Tensor]) -> tuple[npt.NDArray[Any], ...]:
    return tuple(map(_array, tensors))


def _scratch(bias: Tensor) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Return numbers for the outputs of a position, float32 [K * W], and the bits of them."""
    numbers = np.empty(len(bias), np.float32)
    return numbers, numbers.view(np.uint32)


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


# Kernels of layers. Their arguments:
#     entries: starts, columns, values and rows, see `Entries`.
#     weight, bias: of all layers, or the gradients of them: float32 [S, K * W] and [K * W].
#     scratch: see `_scratch`.
#     outputs, gradients: K times [N, W], float32, or the bits of bfloat16 as int16.


@entry_point
def write_float32(entries: Any, weight: Any, bias: Any, scratch: Any, outputs: Any) -> None:
    """Write the outputs of layers, see `_Layers`."""
    sums, _ = scratch
    width = outputs[0].shape[1]
    for i in range(len(outputs[0])):
        _add_up(entries, i, weight, bias, sums)
        for k, output in enumerate(outputs):
            for j in range(width):
                output[i, j] = sums[k * width + j]


@entry_point
def write_bfloat16(entries: Any, weight: Any, bias: Any, scratch: Any, outputs: Any) -> None:
    """Write the outputs of layers, see `_Layers`, rounded to the nearest, or else to even."""
    sums, bits = scratch
    width = outputs[0].shape[1]
    for i in range(len(outputs[0])):
        _add_up(entries, i, weight, bias, sums)
        for k, output in enumerate(outputs):
            for j in range(width):
                number = bits[k * width + j]
                last = number >> _HALF & _ONE
                output[i, j] = _uint32(number + _BELOW_HALF + last) >> _HALF


@kernel
def _add_up(entries: Any, i: int, weight: Any, bias: Any, sums: Any) -> None:
    """Write what the layers make of position i, float32 [K * W]."""
    starts, columns, values, rows = entries
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
    for j in range(len(bias)):
        sums[j] = _ZERO if sums[j] < _ZERO else sums[j]


@entry_point
def add_float32(
    entries: Any, gradients: Any, outputs: Any, scratch: Any, weight: Any, bias: Any
) -> None:
    """Add to the gradients of the weights and the biases, see `_Layers`."""
    flow, _ = scratch
    width = outputs[0].shape[1]
    for i in range(len(outputs[0])):
        for k, output in enumerate(outputs):
            gradient = gradients[k]
            for j in range(width):
                flow[k * width + j] = gradient[i, j] if output[i, j] > 0 else _ZERO
        _scatter(entries, i, flow, weight, bias)


@entry_point
def add_bfloat16(
    entries: Any, gradients: Any, outputs: Any, scratch: Any, weight: Any, bias: Any
) -> None:
    """Add to the gradients of the weights and the biases, see `_Layers`."""
    flow, bits = scratch
    width = outputs[0].shape[1]
    for i in range(len(outputs[0])):
        for k, output in enumerate(outputs):
            gradient = gradients[k]
            for j in range(width):
                number = _uint16(gradient[i, j])
                bits[k * width + j] = _uint32(number) << _HALF if output[i, j] > 0 else 0
        _scatter(entries, i, flow, weight, bias)


@kernel
def _scatter(entries: Any, i: int, flow: Any, weight: Any, bias: Any) -> None:
    """Add what position i, with gradients of its sums, float32 [K * W], adds."""
    starts, columns, values, rows = entries
    for j in range(len(flow)):
        bias[j] += flow[j]
    for entry in range(starts[rows[i]], starts[rows[i] + 1]):
        column, value = columns[entry], _float32(values[entry])
        for j in range(len(flow)):
            weight[column, j] += value * flow[j]
