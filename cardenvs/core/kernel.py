"""The one file that knows Numba: the two decorators, the cache on disk, and operations on bits.

A *kernel* is a plain function on table rows and arrays. `kernel` compiles it on first use. A
kernel that Python calls (rather than another kernel) is decorated with `entry_point`, which also
keeps the machine code on disk. With `NUMBA_DISABLE_JIT=1` both decorators return the function
as it is: the same code runs as ordinary Python and gives the same games.

The cache is ours because Numba's own serves stale code when a *called* kernel in another file
was edited, and never hits for closures over kernels. The key of ours is a hash of everything
the machine code is made from: see `_fingerprint`.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import pickle
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
import platformdirs
from llvmlite import ir
from numba import types
from numba.core import cgutils, serialize
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

_int64: Any = np.int64
_dumps: Any = serialize.dumps
_struct_proxy: Any = cgutils.create_struct_proxy
_get_function: Any = cgutils.get_or_insert_function


def _number_kernels_apart() -> None:
    """Let the symbols of this process differ from those of all others.

    Numba tells functions of one name and type apart by a number, which it counts from 1 in every
    process. Machine code from file keeps the symbols of the process that compiled it, and of two
    equal symbols the linker takes whichever came first: the wrong code, without a word.
    """
    numbers: Any = FunctionIdentity
    numbers._unique_ids = itertools.count(int.from_bytes(os.urandom(6), "big"))


_number_kernels_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_kernels_apart)

#: False where `NUMBA_DISABLE_JIT=1` makes kernels ordinary Python functions.
COMPILED: bool = not numba.core.config.__dict__["DISABLE_JIT"]

# Kernels allocate nothing, so they need no reference counts, whose atomic operations cost more than
# the rules.
_compile: Any = partial(numba.njit, nogil=True, error_model="numpy", _nrt=False)


def kernel(function: Function) -> Function:
    """Compile a function that other kernels call; it may not make arrays.

    Its code is put wherever it is called, which is right for small functions.
    """
    if not COMPILED:
        return function
    compiled: Function = _compile(function, forceinline=True)
    return compiled


def rare_kernel(function: Function) -> Function:
    """Compile a kernel that is called seldom, or in many places; the compiler may call it there.

    Compilation takes a small part of the time then.
    """
    if not COMPILED:
        return function
    compiled: Function = _compile(function, forceinline=False)
    return compiled


def entry_point(function: Function) -> Function:
    """Compile a kernel that Python calls, and keep its machine code in the cache on disk."""
    if not COMPILED:
        return function
    compiled = _compile(function, forceinline=True)
    compiled._cache = _SourceCache(compiled.py_func)
    result: Function = compiled
    return result


def new_rows(count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return `count` zeroed rows whose fields kernels reach as attributes, in both modes."""
    rows = np.zeros(count, dtype)
    return rows if COMPILED else rows.view(np.recarray)


def as_record(rows: npt.NDArray[Any], i: int) -> Any:
    """Return a row for ordinary Python code to write to: its fields are attributes."""
    return rows.view(np.recarray)[i]


def snapshot(rows: npt.NDArray[Any], i: int) -> SimpleNamespace:
    """Return a row for ordinary Python code to read: plain ints, and lists of them."""
    values = [
        value.tolist() if isinstance(value, np.ndarray) else value for value in rows[i].item()
    ]
    return SimpleNamespace(**dict(zip(rows.dtype.names or (), values, strict=True)))


# ----------------------------------------------------------------------------------------------
# The cache


def cache_folder() -> Path:
    """Return the folder of compiled kernels: `CARDENVS_CACHE_DIR`, or the user's cache folder."""
    named = os.environ.get("CARDENVS_CACHE_DIR")
    return Path(named) if named else Path(platformdirs.user_cache_dir("cardenvs", appauthor=False))


#: Begins the name of a function that Numba wants to find only when the code runs.
_CIRCLE = b".numba.unresolved$"


class _SourceCache(_Cache):
    """Machine code on disk, one file a signature, found by a hash of all that it is made from."""

    _announced = False

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._enabled = True

    @property
    def cache_path(self) -> str:
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Return the stored result for a signature, or None; a damaged file counts as none."""
        target_context.refresh()
        if self._enabled:
            with contextlib.suppress(Exception):
                payload = pickle.loads(self._file(sig, target_context.codegen()).read_bytes())
                rebuild: Any = CompileResult._rebuild
                result: CompileResult = rebuild(target_context, *payload)
                return result
        self._announce()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a result; a folder that cannot be written only costs time.

        Raises:
            TypeError: if kernels call each other in a circle, which machine code on file cannot.
        """
        if not self._enabled or data.library.has_dynamic_globals:
            return
        content: bytes = _dumps(data._reduce())
        if _CIRCLE in content:
            name = self._function.__qualname__
            raise TypeError(f"kernels reached from {name!r} call each other in a circle")
        with contextlib.suppress(OSError):
            file = self._file(sig, data.codegen)
            file.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(file, content)

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Do nothing: a stale file is never found, so there is none to drop."""

    def _file(self, sig: Any, codegen: Any) -> Path:
        key = repr((sig, codegen.magic_tuple(), _fingerprint(self._function)))
        digest = hashlib.sha256(key.encode()).hexdigest()[:40]
        return cache_folder() / f"{self._function.__name__}-{digest}.kernel"

    @classmethod
    def _announce(cls) -> None:
        if not cls._announced:
            cls._announced = True
            message = "cardenvs: compiling kernels, which takes some seconds"
            print(f"{message} (kept in {cache_folder()} for the next time)", file=sys.stderr)


def _write_whole(file: Path, content: bytes) -> None:
    """Write a file so that no other process can ever see half of it."""
    handle, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise


def _fingerprint(function: FunctionType) -> str:
    """Hash what a kernel is made from.

    That is: the sources of this library and of every other package whose kernels it can reach,
    the code of those kernels, the constants bound in closures, and the versions of the tools.
    The processor's name and features are added by the caller.
    """
    digest = hashlib.sha256(repr((numba.__version__, np.__version__, sys.version)).encode())
    reached = _reached_functions(function)
    packages = {part.__module__.partition(".")[0] for part in reached} | {"cardenvs"}
    for package in sorted(packages):
        digest.update(_source_hash(package))
    for part in reached:
        digest.update(f"{part.__module__}.{part.__qualname__}".encode())
        digest.update(_code_hash(part.__code__))
        for value in _bound_values(part):
            if isinstance(value, np.ndarray):
                digest.update(value.tobytes())
            elif isinstance(value, int | float | str | tuple | bytes):
                digest.update(repr(value).encode())
            else:
                digest.update(str(getattr(value, "__name__", "")).encode())
    return digest.hexdigest()


def _reached_functions(function: FunctionType) -> list[FunctionType]:
    """Return the function and, in the order of discovery, every kernel that it can call."""
    reached = [function]
    for part in reached:  # grows while it is walked
        for value in _bound_values(part):
            if isinstance(value, Dispatcher) and value.py_func not in reached:
                reached.append(value.py_func)
    return reached


def _bound_values(function: FunctionType) -> list[Any]:
    """Return what a function's names may stand for outside of it: closure cells and globals."""
    names = function.__code__.co_names
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    values += [function.__globals__[name] for name in names if name in function.__globals__]
    modules = [value for value in values if isinstance(value, ModuleType)]
    for module in modules:  # a kernel written `package.module.kernel(...)`; grows while walked
        found = [getattr(module, name) for name in names if hasattr(module, name)]
        modules += [part for part in found if isinstance(part, ModuleType) and part not in modules]
        values += found
    return values


def _code_hash(code: CodeType) -> bytes:
    """Hash what a function does: its source is not on file if it was typed in."""
    constants = [
        _code_hash(part) if isinstance(part, CodeType) else part for part in code.co_consts
    ]
    return hashlib.sha256(code.co_code + repr((code.co_names, constants)).encode()).digest()


@cache
def _source_hash(package: str) -> bytes:
    """Hash the sources of a top-level module or package."""
    digest = hashlib.sha256()
    for file in _source_files(package):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.digest()


def _source_files(package: str) -> Iterator[Path]:
    module = sys.modules.get(package)
    origin = getattr(module, "__file__", None)
    if origin is None:  # a notebook or an interactive session: the hash of the code must do
        return
    file = Path(origin)
    yield from sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]


# ----------------------------------------------------------------------------------------------
# Bits. A set of up to 63 things is a non-negative int64; thing i is bit i.


def _chosen(compiled: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """Return an operation as this process needs it."""
    return intrinsic(compiled) if COMPILED else plain


def _unary_bits(name: str, build: Callable[[Any, Any], Any], plain: Callable[[int], int]) -> Any:
    """Make an operation int64 -> int64: one machine instruction, or its plain meaning."""

    def typed(typing_context: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value = context.cast(builder, arguments[0], signature.args[0], types.int64)
            return build(builder, value)

        return types.int64(bits), generate

    typed.__name__ = name
    return _chosen(typed, plain)


def _plain_popcount(bits: int) -> int:
    return int(bits).bit_count()


def _plain_lowest(bits: int) -> int:
    return (int(bits) & -int(bits)).bit_length() - 1


#: How many bits are set.
popcount: Callable[[int], int] = _unary_bits(
    "popcount", lambda builder, value: builder.ctpop(value), _plain_popcount
)

#: The index of the lowest set bit; the argument must not be 0.
lowest_bit: Callable[[int], int] = _unary_bits(
    "lowest_bit",
    lambda builder, value: builder.cttz(value, ir.Constant(ir.IntType(1), 1)),
    _plain_lowest,
)


def _plain_places(bits: int, places: int) -> int:
    found = 0
    while places and bits:
        found |= bits & -bits if places & 1 else 0
        bits &= bits - 1
        places >>= 1
    return found


#: Processors that have the instruction below, but take a long time over it.
_SLOW_DEPOSIT = ("znver1", "znver2")


def _nth_places(typing_context: Any, bits: Any, places: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = [
            context.cast(builder, value, given, types.int64)
            for value, given in zip(arguments, signature.args, strict=True)
        ]
        _, name, features = context.codegen().magic_tuple()
        if "+bmi2" not in features.split(",") or name in _SLOW_DEPOSIT:
            pair = types.int64(types.int64, types.int64)
            return context.compile_internal(builder, _plain_places, pair, values)
        long = ir.IntType(64)
        deposit = _get_function(
            builder.module, ir.FunctionType(long, [long, long]), "llvm.x86.bmi.pdep.64"
        )
        return builder.call(deposit, values[::-1])

    return types.int64(bits, places), generate


#: The things of a set that are at some places, which are a set too: place 0 is that of the lowest
#: bit. One instruction where the processor has it.
nth_places: Callable[[int, int], int] = _chosen(_nth_places, _plain_places)


@kernel
def nth_mask(bits: int, place: int) -> int:
    """The set that holds the one thing at a place of a set."""
    return nth_places(bits, 1 << place)


def bit_writer(width: int) -> Callable[[npt.NDArray[np.int8], int, int], None]:
    """Make `write(out, offset, bits)`, which spreads a set over `out[offset:offset + width]`.

    `out` is int8 [*], contiguous; entry `offset + i` becomes 1 if bit i is set and else 0.
    Compiled, this is a handful of vector instructions whatever the width (at most 63).
    """

    def plain(out: npt.NDArray[np.int8], offset: int, bits: int) -> None:
        out[offset : offset + width] = [int(bits) >> index & 1 for index in range(width)]

    def write(typing_context: Any, out: Any, offset: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _vector_place(context, builder, signature, arguments, width)
            mask = context.cast(builder, arguments[2], signature.args[2], types.int64)
            narrow = builder.trunc(mask, ir.IntType(width))
            entries = builder.bitcast(narrow, ir.VectorType(ir.IntType(1), width))
            store = builder.store(builder.zext(entries, ir.VectorType(ir.IntType(8), width)), place)
            store.align = 1
            return context.get_dummy_value()

        return types.void(out, offset, bits), generate

    write.__name__ = f"write_{width}_bits"
    writer: Callable[[npt.NDArray[np.int8], int, int], None] = _chosen(write, plain)
    return writer


def bit_reader(width: int) -> Callable[[npt.NDArray[np.int8], int], int]:
    """Make `read(array, offset)`, the set of the nonzero entries of `array[offset:offset + width]`.

    The inverse of `bit_writer(width)`; `array` is int8 [*], contiguous.
    """

    def plain(array: npt.NDArray[np.int8], offset: int) -> int:
        return sum(1 << int(index) for index in np.flatnonzero(array[offset : offset + width]))

    def read(typing_context: Any, array: Any, offset: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _vector_place(context, builder, signature, arguments, width)
            entries = builder.load(place)
            entries.align = 1
            zero = ir.Constant(entries.type, None)
            bits = builder.bitcast(builder.icmp_signed("!=", entries, zero), ir.IntType(width))
            return builder.zext(bits, ir.IntType(64))

        return types.int64(array, offset), generate

    read.__name__ = f"read_{width}_bits"
    reader: Callable[[npt.NDArray[np.int8], int], int] = _chosen(read, plain)
    return reader


def _write_plain_entry(out: npt.NDArray[np.int8], index: int, value: int) -> None:
    out[index] = value


def _write_plain_number(out: npt.NDArray[np.int8], index: int, value: int) -> None:
    out[index] = value & 127
    out[index + 1] = value >> 7


def _entry_writer(name: str, plain: Callable[..., None], digits: int) -> Any:
    """Make `write(out, index, value)`: one store, without the checks of an indexed assignment."""

    def write(typing_context: Any, out: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _vector_place(context, builder, signature, arguments, digits)
            number = context.cast(builder, arguments[2], signature.args[2], types.int64)
            low = builder.and_(number, number.type(127))
            high = builder.shl(builder.ashr(number, number.type(7)), number.type(8))
            content = number if digits == 1 else builder.or_(low, high)
            narrow = builder.trunc(content, ir.IntType(8 * digits))
            store = builder.store(narrow, builder.bitcast(place, narrow.type.as_pointer()))
            store.align = 1
            return context.get_dummy_value()

        return types.void(out, index, value), generate

    write.__name__ = name
    return _chosen(write, plain)


#: `write_entry(out, index, value)` writes a number from 0 to 127 to an entry of an int8 array.
write_entry: Callable[[npt.NDArray[np.int8], int, int], None] = _entry_writer(
    "write_entry", _write_plain_entry, digits=1
)

#: `write_number(out, index, value)` writes a number as two digits of base 128, lowest first.
write_number: Callable[[npt.NDArray[np.int8], int, int], None] = _entry_writer(
    "write_number", _write_plain_number, digits=2
)


def _number_place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Point at an entry of an int64 array."""
    array = _struct_proxy(signature.args[0])(context, builder, value=arguments[0])
    offset = context.cast(builder, arguments[1], signature.args[1], types.int64)
    return builder.gep(array.data, [offset])


def _load_plain(numbers: npt.NDArray[np.int64], index: int) -> int:
    return int(numbers[index])


def _load_now(typing_context: Any, numbers: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _number_place(context, builder, signature, arguments)
        return builder.load_atomic(place, ordering="acquire", align=8)

    return types.int64(numbers, index), generate


#: Read an entry of an int64 array that another thread may be writing to.
load_now: Callable[[npt.NDArray[np.int64], int], int] = _chosen(_load_now, _load_plain)


def _store_plain(numbers: npt.NDArray[np.int64], index: int, value: int) -> None:
    numbers[index] = value


def _store_now(typing_context: Any, numbers: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _number_place(context, builder, signature, arguments)
        content = context.cast(builder, arguments[2], signature.args[2], types.int64)
        builder.store_atomic(content, place, ordering="release", align=8)
        return context.get_dummy_value()

    return types.void(numbers, index, value), generate


#: Write an entry of an int64 array after everything written before, as other threads see it.
store_now: Callable[[npt.NDArray[np.int64], int, int], None] = _chosen(_store_now, _store_plain)


_plain_adding = threading.Lock()


def _add_plain(numbers: npt.NDArray[np.int64], index: int, value: int) -> int:
    with _plain_adding:
        before = int(numbers[index])
        numbers[index] = before + value
    return before


def _add_now(typing_context: Any, numbers: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _number_place(context, builder, signature, arguments)
        content = context.cast(builder, arguments[2], signature.args[2], types.int64)
        return builder.atomic_rmw("add", place, content, ordering="acq_rel")

    return types.int64(numbers, index, value), generate


#: Add to an entry of an int64 array in one go, whatever other threads do; return what it was.
add_now: Callable[[npt.NDArray[np.int64], int, int], int] = _chosen(_add_now, _add_plain)


@kernel
def read_number(array: npt.NDArray[np.int8], index: int) -> int:
    """Read a number of two digits of base 128."""
    low: Any = array[index]
    high: Any = array[index + 1]
    number: int = _int64(low) + (_int64(high) << 7)
    return number


def _vector_place(context: Any, builder: Any, signature: Any, arguments: Any, width: int) -> Any:
    """Point at `width` bytes of an int8 array, as one vector."""
    array_type = signature.args[0]
    if not (isinstance(array_type, types.Array) and array_type.layout == "C"):
        raise TypeError(f"bits are read from and written to int8 arrays, not {array_type}")
    array = _struct_proxy(array_type)(context, builder, value=arguments[0])
    offset = context.cast(builder, arguments[1], signature.args[1], types.int64)
    place = builder.gep(array.data, [offset])
    return builder.bitcast(place, ir.VectorType(ir.IntType(8), width).as_pointer())
