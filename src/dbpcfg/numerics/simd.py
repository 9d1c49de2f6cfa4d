"""Products of small matrices, and other operations on cells, in vector registers.

A call to BLAS takes 100 ns, longer than the whole product of a 16 × 5 and a 5 × 16 matrix, and
every iteration has some hundred thousand such products. BLAS is also slow for matrices with few
rows and columns, such as those of the rules. Here products are computed in tiles of 8 × 16 numbers
that stay in registers, with nothing checked and nothing allocated. Tiles are written as LLVM
vectors, because the compiler does not vectorise plain loops this way; LLVM translates them to the
processor's instructions. Unlike functions, intrinsics do not count references to arrays, which
takes as long as copying a cell.

What each part gains: the time of a sampling pass with plain code instead of it, divided by the time
with it (``benchmarks/simd.py``; K = 15, 30, 45 at D = 1 and 2; one run of nine rounds on a busy
machine, where the package against itself gave 0.9 to 1.1):

=================  ==================  ==========================================================
``product``        loops: 1.6 to 4.4   ``np.dot``: 1.2 at D = 2, 0.8 to 1.1 at D = 1
``small_product``  loops: 3.2 to 8.3   ``np.dot``: 1.8 to 2.0 at K = 15, 1.0 to 1.2 above
``copy_cell``      a loop: 1.0 to 2.1
``aligned``        ``np.empty``: 0.7 to 1.2, so within the noise
=================  ==================  ==========================================================

Products by loops or by BLAS round differently; ``copy_cell`` and ``aligned`` change no bit.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import signature
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from dbpcfg.numerics.kernels import Floats, also_in_kernels

WIDE = bool(get_host_cpu_features().get("avx512f"))
"""Whether there are 32 registers of 512 bits, room for a tile of 8 × 16 numbers."""
LANES = (16, 8, 4) if WIDE else (8, 4)
"""Widths of tiles; the last one divides the number of columns of every product."""
SINGLE_LANES = (16, 8, 4)
"""The same for 32-bit numbers: in narrower tiles, additions wait for each other."""
HEIGHTS = (8, 4, 2, 1) if WIDE else (4, 2, 1)
"""Heights of tiles: the widest and highest tile just fits into the registers."""
CACHE_LINE = 64
NEAR = 2**20
"""Products with larger 64-bit matrices (in bytes) are left to BLAS."""
PANEL = 64
"""Columns of a panel of ``in_panels``; its rows are whole cache lines."""
_FLUSH_BITS = 0x8040
"""The bits for taking denormal results and operands as zero."""


def _in_kernels(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make an intrinsic, whose code is generated at each call; the first argument is numba's."""
    return cast(Callable[..., Any], intrinsic(function))


@_in_kernels
def small_product(  # type: ignore[no-untyped-def]
    _, A, a0, a_row, a_column, B, b0, b_row, C, c0, c_row, rows, columns, inner
):
    """C = A · B for matrices inside contiguous arrays, columns a multiple of 4::

        C[c0 + i·c_row + j] = Σ_k A[a0 + i·a_row + k·a_column] · B[b0 + k·b_row + j]

    Nothing is checked.
    """
    return _product_signature(A, B, C), partial(_product, added=False)


@_in_kernels
def add_small_product(  # type: ignore[no-untyped-def]
    _, A, a0, a_row, a_column, B, b0, b_row, C, c0, c_row, rows, columns, inner
):
    """C += A · B, otherwise like ``small_product``."""
    return _product_signature(A, B, C), partial(_product, added=True)


def _product_signature(A: Any, B: Any, C: Any) -> Any:
    numbers = [types.intp] * 3
    return signature(types.void, A, *numbers, B, *numbers[:2], C, *numbers[:2], *numbers)


def _product(context: Any, builder: Any, sig: Any, args: Sequence[Any], added: bool) -> Any:
    A, B, C = (builder.gep(_data(context, builder, sig, args, n), [args[n + 1]]) for n in (0, 4, 7))
    steps = [_one(step) for step in args[2:4]]
    function = _product_function(builder.module, A.type, args[1].type, added, *steps)
    builder.call(function, [A, *args[2:4], B, args[6], C, *args[9:13]])
    return context.get_dummy_value()


def _one(value: Any) -> bool:
    """Whether a number is the constant 1 when code is generated."""
    return isinstance(value, ir.Constant) and value.constant == 1


def _product_function(
    module: Any, pointer: Any, index: Any, added: bool, column: bool, row: bool
) -> Any:
    """The code of products of a type: one function in each module, as tiles take long to compile.

    There are versions for an A whose columns or rows are contiguous.
    """
    shape = ("column_" if column else "") + ("row_" if row else "")
    name = f"dbpcfg_{'add_' if added else ''}small_{shape}product_{pointer.pointee}"
    if name in module.globals:
        return module.globals[name]
    kinds = [pointer, *[index] * 2, pointer, index, pointer, *[index] * 4]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    function.attributes.add("nounwind")
    builder = ir.IRBuilder(function.append_basic_block())
    A, a_row, a_column, B, b_row, C, c_row, rows, columns, inner = function.args
    a_row, a_column = index(1) if column else a_row, index(1) if row else a_column
    add, times = builder.add, builder.mul
    widths = LANES if isinstance(pointer.pointee, ir.DoubleType) else SINGLE_LANES

    def tile(i: Any, j: Any, height: int, lanes: int) -> None:
        """C[i : i + height, j : j + lanes]."""
        vector = ir.VectorType(pointer.pointee, lanes)
        sums = [cgutils.alloca_once(builder, vector) for _ in range(height)]
        to = [add(times(add(i, index(r)), c_row), j) for r in range(height)]
        for r in range(height):
            nothing = ir.Constant(vector, [0.0] * lanes)
            builder.store(_load(builder, C, to[r], vector) if added else nothing, sums[r])
        at = [times(add(i, index(r)), a_row) for r in range(height)]
        with cgutils.for_range(builder, inner, intp=index) as loop:
            right = _load(builder, B, add(j, times(loop.index, b_row)), vector)
            for r in range(height):
                offset = add(at[r], times(loop.index, a_column))
                left = _spread(builder, builder.load(builder.gep(A, [offset])), vector)
                # "contract": one instruction for both, where the processor has it
                product = builder.fmul(left, right, flags=("contract",))
                total = builder.fadd(builder.load(sums[r]), product, flags=("contract",))
                builder.store(total, sums[r])
        for r in range(height):
            _store(builder, builder.load(sums[r]), C, to[r])

    done = index(0)
    for height in HEIGHTS:
        end = builder.and_(rows, index(-height))
        with cgutils.for_range_slice(builder, done, end, index(height), index) as (i, _):
            for j, lanes in _tiles(builder, columns, widths):
                tile(i, j, height, lanes)
        done = end
    builder.ret_void()
    return function


@_in_kernels
def copy_cell(_, A, a0, C, c0, columns, lower, upper):  # type: ignore[no-untyped-def]
    """C[c0 + j] = A[a0 + j] for a multiple of 4 columns; return whether no rescaling is needed.

    That is if some number is at least ``lower``, and none is above ``upper``.
    """
    numbers = [types.intp, types.intp]
    return signature(types.boolean, A, numbers[0], C, *numbers, A.dtype, A.dtype), _copy


def _copy(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
    A, C = (_data(context, builder, sig, args, n) for n in (0, 2))
    a0, c0, columns, lower, upper = args[1], *args[3:7]
    any_large, all_small = (
        cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(1), start)) for start in (0, 1)
    )
    for j, lanes in _tiles(builder, columns):
        vector = ir.VectorType(A.type.pointee, lanes)
        values = _load(builder, A, builder.add(a0, j), vector)
        _store(builder, values, C, builder.add(c0, j))
        is_large = builder.fcmp_ordered(">=", values, _spread(builder, lower, vector))
        is_small = builder.fcmp_ordered("<=", values, _spread(builder, upper, vector))
        large, small = (builder.bitcast(mask, ir.IntType(lanes)) for mask in (is_large, is_small))
        some_large = builder.icmp_unsigned("!=", large, large.type(0))
        every_small = builder.icmp_unsigned("==", small, small.type(2**lanes - 1))
        builder.store(builder.or_(builder.load(any_large), some_large), any_large)
        builder.store(builder.and_(builder.load(all_small), every_small), all_small)
    return builder.and_(builder.load(any_large), builder.load(all_small))


@_in_kernels
def cell_product(_, A, a0, B, b0, columns):  # type: ignore[no-untyped-def]
    """Σ_j A[a0 + j] · B[b0 + j] for a multiple of 4 columns."""
    return signature(A.dtype, A, types.intp, B, types.intp, types.intp), _cell_product


def _cell_product(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
    A, B = (_data(context, builder, sig, args, n) for n in (0, 2))
    a0, b0, columns = args[1], *args[3:5]
    number, add = A.type.pointee, partial(builder.fadd, flags=("contract",))
    sums = cgutils.alloca_once_value(builder, ir.Constant(ir.VectorType(number, 4), [0.0] * 4))
    for j, lanes in _tiles(builder, columns):
        vector = ir.VectorType(number, lanes)
        left = _load(builder, A, builder.add(a0, j), vector)
        right = _load(builder, B, builder.add(b0, j), vector)
        product = builder.fmul(left, right)
        while lanes > 4:  # add halves until four sums are left, always in the same order
            lanes //= 2
            product = add(*_halves(builder, product, lanes))
        builder.store(add(builder.load(sums), product), sums)
    total = add(*_halves(builder, builder.load(sums), 2))
    lane = ir.IntType(32)
    return add(builder.extract_element(total, lane(0)), builder.extract_element(total, lane(1)))


@_in_kernels
def weighted_sum(_, F, A, a0, B, b0, C, c0, columns, inner):  # type: ignore[no-untyped-def]
    """C[c0 + j] = Σ_k F[k] · A[a0 + k·columns + j] · B[b0 + k·columns + j]."""
    numbers = [types.intp] * 2
    kinds = F, A, numbers[0], B, numbers[0], C, *numbers, types.intp
    return signature(types.void, *kinds), _weighted_sum


def _weighted_sum(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
    F, A, B, C = (_data(context, builder, sig, args, n) for n in (0, 1, 3, 5))
    a0, b0, c0, columns, inner = args[2], args[4], *args[6:9]
    add, index = builder.add, columns.type
    for j, lanes in _tiles(builder, columns):
        vector = ir.VectorType(A.type.pointee, lanes)
        total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * lanes))
        builder.store(ir.Constant(vector, [0.0] * lanes), total)
        with cgutils.for_range(builder, inner, intp=index) as loop:
            at = add(builder.mul(loop.index, columns), j)
            factor = _spread(builder, builder.load(builder.gep(F, [loop.index])), vector)
            left = builder.fmul(factor, _load(builder, A, add(a0, at), vector))
            product = builder.fmul(
                left, _load(builder, B, add(b0, at), vector), flags=("contract",)
            )
            builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
        _store(builder, builder.load(total), C, add(c0, j))
    return context.get_dummy_value()


@_in_kernels
def add_weighted(_, F, A, a0, B, b0, C, c0, columns, inner):  # type: ignore[no-untyped-def]
    """C[c0 + k·columns + j] += F[k] · A[a0 + j] · B[b0 + k·columns + j], for derivatives."""
    numbers = [types.intp] * 2
    kinds = F, A, numbers[0], B, numbers[0], C, *numbers, types.intp
    return signature(types.void, *kinds), _add_weighted


def _add_weighted(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
    F, A, B, C = (_data(context, builder, sig, args, n) for n in (0, 1, 3, 5))
    a0, b0, c0, columns, inner = args[2], args[4], *args[6:9]
    add, index = builder.add, columns.type
    for j, lanes in _tiles(builder, columns):
        vector = ir.VectorType(A.type.pointee, lanes)
        left = _load(builder, A, add(a0, j), vector)
        with cgutils.for_range(builder, inner, intp=index) as loop:
            at = add(builder.mul(loop.index, columns), j)
            factor = _spread(builder, builder.load(builder.gep(F, [loop.index])), vector)
            right = builder.fmul(factor, _load(builder, B, add(b0, at), vector))
            product = builder.fmul(left, right, flags=("contract",))
            before = _load(builder, C, add(c0, at), vector)
            total = builder.fadd(before, product, flags=("contract",))
            _store(builder, total, C, add(c0, at))
    return context.get_dummy_value()


def _halves(builder: Any, vector: Any, lanes: int) -> tuple[Any, Any]:
    """The first and the second half of a vector."""
    undefined, mask = ir.Constant(vector.type, ir.Undefined), ir.VectorType(ir.IntType(32), lanes)
    first, second = (
        builder.shuffle_vector(vector, undefined, ir.Constant(mask, list(half)))
        for half in (range(lanes), range(lanes, 2 * lanes))
    )
    return first, second


@_in_kernels
def round_to_zero(_, on):  # type: ignore[no-untyped-def]
    """Set whether this thread takes denormal numbers as zero, on processors that can.

    Denormal numbers are hundreds of times slower than others, and frequent in single precision.
    """
    return signature(types.void, types.boolean), _round_to_zero


def _round_to_zero(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
    if platform.machine().lower() in ("x86_64", "amd64"):
        word, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer])
        slot = cgutils.alloca_once(builder, word)
        for name in ("stmxcsr", "ldmxcsr"):  # read the state, change it, write it
            call = cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.sse.{name}")
            if name == "ldmxcsr":
                state, bits = builder.load(slot), word(_FLUSH_BITS)
                flushing, plain = builder.or_(state, bits), builder.and_(state, builder.not_(bits))
                builder.store(builder.select(args[0], flushing, plain), slot)
            builder.call(call, [builder.bitcast(slot, pointer)])
    return context.get_dummy_value()


def _data(context: Any, builder: Any, sig: Any, args: Sequence[Any], position: int) -> Any:
    """A pointer to an array's numbers."""
    return make_array(sig.args[position])(context, builder, args[position]).data


def _tiles(
    builder: Any, columns: Any, widths: Sequence[int] | None = None
) -> Iterator[tuple[Any, int]]:
    """Generate loops over the columns in vectors, the widest first; yield the start and width."""
    index = columns.type
    done = index(0)
    for lanes in LANES if widths is None else widths:
        end = builder.and_(columns, index(-lanes))
        with cgutils.for_range_slice(builder, done, end, index(lanes), index) as (j, _):
            yield j, lanes
        done = end


def _pointer(builder: Any, array: Any, offset: Any, vector: Any) -> Any:
    return builder.bitcast(builder.gep(array, [offset]), vector.as_pointer())


def _load(builder: Any, array: Any, offset: Any, vector: Any) -> Any:
    return builder.load(_pointer(builder, array, offset, vector), align=_alignment(vector))


def _store(builder: Any, value: Any, array: Any, offset: Any) -> None:
    pointer = _pointer(builder, array, offset, value.type)
    builder.store(value, pointer, align=_alignment(value.type))


def _alignment(vector: Any) -> int:
    """The alignment of a number; vectors need not be aligned, but are faster if they are."""
    return 8 if isinstance(vector.element, ir.DoubleType) else 4


def _spread(builder: Any, number: Any, vector: Any) -> Any:
    """A vector with the same number in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.IntType(32)(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, undefined, everywhere)


@also_in_kernels
def in_tiles(B: Floats) -> bool:
    """Whether products with B are computed in tiles: all but those with large 64-bit matrices.

    Tiles would be faster than BLAS there too, but would change the last bits of results.
    """
    return B.itemsize == 4 or B.itemsize * B.size <= NEAR


@also_in_kernels
def product(A: Floats, first: int, last: int, B: Floats, C: Floats) -> None:
    """C[first:last] = A[first:last] · B, in tiles or by BLAS; B may be ``in_panels``.

    Tiles sum in the same order for any number of rows, so a row of the result does not depend on
    the other rows.
    """
    inner, columns, rows, width = A.shape[1], C.shape[1], last - first, B.shape[1]
    if in_tiles(B):
        a, c = first * inner, first * columns
        for j in range(0, columns, width):
            small_product(
                A, a, inner, 1, B, j * inner, width, C, c + j, columns, rows, width, inner
            )
    elif last > first:
        np.dot(A[first:last], B, C[first:last])


def in_panels(B: Floats) -> Floats:
    """A wide matrix cut into panels of columns, one below the other, for ``product``.

    A tile goes down the rows of B. If they are far apart, in particular by a power of two (64²
    numbers), they compete for the same few lines of the nearest cache, and are fetched again for
    every tile. The rows of a panel are contiguous. Matrices for BLAS are not cut.
    """
    inner, columns = B.shape
    if columns % PANEL or not in_tiles(B):
        return B
    panels = B.reshape(inner, columns // PANEL, PANEL).transpose(1, 0, 2)
    return np.ascontiguousarray(panels).reshape(-1, PANEL)


def aligned(like: Floats, *shape: int) -> Floats:
    """An uninitialised array of the same type as another, aligned to a cache line."""
    size, more = math.prod(shape), CACHE_LINE // like.itemsize
    array: Floats = np.empty(size + more, like.dtype)
    first = (-array.ctypes.data % CACHE_LINE) // like.itemsize
    return array[first : first + size].reshape(shape)
