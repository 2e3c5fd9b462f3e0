"""First layers that pass over what is 0 in an observation, which is most of it.

A first layer over all cards that a seat has seen is two thirds of a network's work, and nine tenths
of its inputs are 0. Here a layer adds up rows of weights, one for each entry that is not 0, and its
gradient adds to such rows. Networks that see the same walk through the entries together. What is
seldom 0 is left to a dense product.

Letters of shapes: N positions, S inputs, D busy ones, E entries that are not 0, W outputs, K layers
at once.
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

#: An input that is not 0 in a larger share of positions than this is busy.
_BUSY = 0.3

#: In so many positions busy inputs are looked for; with fewer, they are not worth it.
_SAMPLE = 1_024

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
    """The entries of an int8 matrix that are not 0, row by row, and its busy columns as they are.

    Attributes:
        num_columns: S, at most 65,536.
        busy: columns whose entries are not listed, int64 [D].
        dense: these columns, int8 [N, D].
        starts: where the entries of a row of the matrix begin, int64 [rows + 1].
        columns: in which column an entry is, uint16 [E].
        values: int8 [E].
        rows: which rows of the matrix these positions are, int64 [N].
    """

    def __init__(
        self, plain: npt.NDArray[np.int8], count: int, busy: npt.NDArray[np.int64] | None = None
    ) -> None:
        """Find the entries.

        Args:
            plain: int8 [N, S].
            count: how many there are, those of busy columns as well.
            busy: these columns, int64 [D]; by default none.
        """
        num_rows, self.num_columns = plain.shape
        columns = np.empty(0, np.int64) if busy is None else busy
        self.busy = torch.from_numpy(columns)
        self.dense = torch.from_numpy(plain.take(columns, axis=1))
        self.starts = np.empty(num_rows + 1, np.int64)
        self.columns = np.empty(count, np.uint16)
        self.values = np.empty(count, np.int8)
        self.rows = np.arange(num_rows)
        lists = self.starts, self.columns, self.values
        whole = np.ascontiguousarray(plain).reshape(-1)
        write_entries(whole, self.num_columns, _bits_of_others(columns, self.num_columns), *lists)

    def __len__(self) -> int:
        return len(self.rows)

    def index_select(self, dim: int, index: Tensor) -> Entries:
        """Return some of the positions, as a tensor does; `dim` is 0."""
        assert dim == 0
        chosen = Entries.__new__(Entries)
        parts = {"rows": self.rows[index.numpy()], "dense": self.dense.index_select(0, index)}
        chosen.__dict__ |= self.__dict__ | parts
        return chosen

    def layers(
        self, weights: Sequence[Tensor], biases: Sequence[Tensor], kind: torch.dtype = torch.float32
    ) -> tuple[Tensor, ...]:
        """Return the outputs of K linear layers with ReLU, each [N, W].

        Columns that the weights do not reach to are as if they were 0.

        Args:
            weights: of each layer, [W, S or less].
            biases: of each layer, [W].
            kind: of the outputs and the dense product, float32 or bfloat16; sums are float32.
        """
        pairs = [(weight, self.num_columns - weight.shape[1]) for weight in weights]
        padded = [functional.pad(w, (0, missing)) if missing else w for w, missing in pairs]
        joint = torch.cat(padded).t().contiguous()
        apply: Any = _Layers.apply
        bias, num_layers = torch.cat(list(biases)), len(biases)
        outputs: tuple[Tensor, ...] = apply(joint, bias, self, num_layers, kind)
        return outputs


def entries_of(plain: Tensor) -> Entries | Tensor:
    """Return a matrix int8 [N, S] as its entries where that is faster, else as it is."""
    if not COMPILED or plain.device.type != "cpu" or plain.dtype != torch.int8:
        return plain
    array = plain.contiguous().numpy()
    count = int(np.count_nonzero(array))
    return Entries(array, count, _busy(array)) if count * _LEAST_INPUTS < array.size else plain


def _busy(plain: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """Return the columns of int8 [N, S] that seem to be busy, int64 [D]."""
    if len(plain) < _SAMPLE:
        return np.empty(0, np.int64)
    some = plain[:: len(plain) // _SAMPLE]
    return np.flatnonzero(np.count_nonzero(some, axis=0) > _BUSY * len(some))


def _bits_of_others(busy: npt.NDArray[np.int64], num_columns: int) -> npt.NDArray[np.int64]:
    """Return, for each block of columns, the set of those that are not busy, int64 [blocks]."""
    others = np.ones(-(-num_columns // _BLOCK) * _BLOCK, np.bool_)
    others[busy] = False
    bits: npt.NDArray[np.int64] = (
        np.packbits(others, bitorder="little").view("<u4").astype(np.int64)
    )
    return bits


class _Layers(torch.autograd.Function):
    """Entries times joint weights [S, K * W] plus biases [K * W], then ReLU: K times [N, W]."""

    @staticmethod
    def forward(
        ctx: Any,
        weight: Tensor,
        bias: Tensor,
        entries: Entries,
        num_layers: int,
        kind: torch.dtype,
    ) -> tuple[Tensor, ...]:
        dense = entries.dense.to(kind)
        outputs = tuple(dense @ part for part in weight[entries.busy].to(kind).chunk(num_layers, 1))
        lists = entries.starts, entries.columns, entries.values, entries.rows
        finish = finish_bfloat16 if kind == torch.bfloat16 else finish_float32
        finish(lists, _array(weight), _array(bias), _scratch(bias), _arrays(outputs))
        ctx.entries, ctx.lists, ctx.shape = entries, lists, weight.shape
        ctx.save_for_backward(dense, *outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        dense, *outputs = ctx.saved_tensors
        arriving = [gradient.contiguous() for gradient in gradients]
        flows = [torch.empty_like(output) for output in outputs]
        weight, bias = torch.zeros(ctx.shape), torch.zeros(ctx.shape[1])
        add = add_bfloat16 if dense.dtype == torch.bfloat16 else add_float32
        given = ctx.lists, _arrays(outputs), _scratch(bias), _arrays(arriving), _arrays(flows)
        add(*given, _array(weight), _array(bias))
        weight[ctx.entries.busy] = torch.cat([dense.t() @ flow for flow in flows], dim=1).float()
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
def write_entries(
    plain: Any, num_columns: Any, others: Any, starts: Any, columns: Any, values: Any
) -> None:
    """Write the entries of int8 [N * S], see `Entries`, in the columns of `_bits_of_others`."""
    found = 0
    for row in range(len(starts) - 1):
        starts[row] = found
        begin = row * num_columns
        for block in range(len(others)):
            first = block * _BLOCK
            if first + _BLOCK <= num_columns:
                bits = _read_block(plain, begin + first) & others[block]
            else:
                bits = 0
                for column in range(first, num_columns):
                    bits |= (plain[begin + column] != 0) << (column - first)
                bits &= others[block]
            while bits:
                column = first + lowest_bit(bits)
                columns[found], values[found] = column, plain[begin + column]
                found += 1
                bits &= bits - 1
    starts[len(starts) - 1] = found


# Kernels of layers. Their arguments:
#     entries: starts, columns, values and rows, see `Entries`.
#     weight, bias: of all layers, or the gradients of them: float32 [S, K * W] and [K * W].
#     scratch: see `_scratch`.
#     outputs, arriving, flows: K times [N, W], float32, or the bits of bfloat16 as int16; of
#         gradients those after and before ReLU.


@entry_point
def finish_float32(entries: Any, weight: Any, bias: Any, scratch: Any, outputs: Any) -> None:
    """Add biases and the listed entries to the outputs of layers, then ReLU."""
    sums, _ = scratch
    width = outputs[0].shape[1]
    for i in range(len(outputs[0])):
        for k, output in enumerate(outputs):
            for j in range(width):
                sums[k * width + j] = output[i, j]
        _add_up(entries, i, weight, bias, sums)
        for k, output in enumerate(outputs):
            for j in range(width):
                output[i, j] = sums[k * width + j]


@entry_point
def finish_bfloat16(entries: Any, weight: Any, bias: Any, scratch: Any, outputs: Any) -> None:
    """Add biases and the listed entries to the outputs of layers, then ReLU; round to even."""
    sums, bits = scratch
    width = outputs[0].shape[1]
    for i in range(len(outputs[0])):
        for k, output in enumerate(outputs):
            for j in range(width):
                bits[k * width + j] = _uint32(_uint16(output[i, j])) << _HALF
        _add_up(entries, i, weight, bias, sums)
        for k, output in enumerate(outputs):
            for j in range(width):
                number = bits[k * width + j]
                last = number >> _HALF & _ONE
                output[i, j] = _uint32(number + _BELOW_HALF + last) >> _HALF


@kernel
def _add_up(entries: Any, i: int, weight: Any, bias: Any, sums: Any) -> None:
    """Add biases and listed entries of position i to the sums, float32 [K * W], then ReLU."""
    starts, columns, values, rows = entries
    for j in range(len(sums)):
        sums[j] += bias[j]
    entry, end = starts[rows[i]], starts[rows[i] + 1]
    while entry + 4 <= end:  # by four, for the sums are read and written each time
        a, va = columns[entry], _float32(values[entry])
        b, vb = columns[entry + 1], _float32(values[entry + 1])
        c, vc = columns[entry + 2], _float32(values[entry + 2])
        d, vd = columns[entry + 3], _float32(values[entry + 3])
        for j in range(len(sums)):
            first, second = va * weight[a, j] + vb * weight[b, j], vc * weight[c, j]
            sums[j] += first + (second + vd * weight[d, j])
        entry += 4
    while entry < end:
        column, value = columns[entry], _float32(values[entry])
        for j in range(len(sums)):
            sums[j] += value * weight[column, j]
        entry += 1
    for j in range(len(sums)):
        sums[j] = _ZERO if sums[j] < _ZERO else sums[j]


@entry_point
def add_float32(
    entries: Any, outputs: Any, scratch: Any, arriving: Any, flows: Any, weight: Any, bias: Any
) -> None:
    """Let flows through ReLU, and add them to the gradients but those of busy inputs' weights."""
    sums, _ = scratch
    width = flows[0].shape[1]
    for i in range(len(flows[0])):
        for k, flow in enumerate(flows):
            for j in range(width):
                passing = arriving[k][i, j] if outputs[k][i, j] > 0 else _ZERO
                flow[i, j] = passing
                sums[k * width + j] = passing
        _scatter(entries, i, sums, weight, bias)


@entry_point
def add_bfloat16(
    entries: Any, outputs: Any, scratch: Any, arriving: Any, flows: Any, weight: Any, bias: Any
) -> None:
    """Let flows through ReLU, and add them to the gradients but those of busy inputs' weights."""
    sums, bits = scratch
    width = flows[0].shape[1]
    for i in range(len(flows[0])):
        for k, flow in enumerate(flows):
            for j in range(width):
                passing = arriving[k][i, j] if outputs[k][i, j] > 0 else 0
                flow[i, j] = passing
                bits[k * width + j] = _uint32(_uint16(passing)) << _HALF
        _scatter(entries, i, sums, weight, bias)


@kernel
def _scatter(entries: Any, i: int, sums: Any, weight: Any, bias: Any) -> None:
    """Add what position i adds, with gradients of its sums, float32 [K * W]."""
    starts, columns, values, rows = entries
    for j in range(len(sums)):
        bias[j] += sums[j]
    for entry in range(starts[rows[i]], starts[rows[i] + 1]):
        column, value = columns[entry], _float32(values[entry])
        for j in range(len(sums)):
            weight[column, j] += value * sums[j]
