"""What the chart's kernels do with single cells, in vector registers.

BLAS is unbeaten for the large products of the chart, but takes 100 ns to get going, longer than a
whole product of a 16 × 5 and a 5 × 16 matrix takes; and there are some hundred thousand of these in
every iteration. Here they are made in tiles of 4 × 16 numbers that stay in registers, with nothing
checked and nothing allocated. The tiles are written as LLVM vectors, since the compiler finds them
in no loop that one can write; LLVM makes of them what the processor has. And unlike functions,
these take arrays without counting references to them, which takes as long as copying a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import signature
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from dbpcfg.kernels import kernel

LANES = (16, 8, 4)
"""Widths of tiles; the last one divides the number of columns of every product."""
ROWS = 4
CACHE_LINE = 64


def _in_kernels(function: Callable[..., Any]) -> Callable[..., Any]:
    """Generate a function's code wherever a kernel calls it; the first argument is numba's own."""
    return cast(Callable[..., Any], intrinsic(function))


@_in_kernels
def small_product(  # type: ignore[no-untyped-def]
    _, A, a0, a_row, a_column, B, b0, b_row, C, c0, c_row, rows, columns, inner
):
    """C = A · B for matrices inside contiguous arrays, columns a multiple of 4::

        C[c0 + i·c_row + j] = Σ_k A[a0 + i·a_row + k·a_column] · B[b0 + k·b_row + j]

    Nothing is checked.
    """
    numbers = [types.intp] * 3
    return (
        signature(types.void, A, *numbers, B, *numbers[:2], C, *numbers[:2], *numbers),
        _product,
    )


def _product(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
    A, B, C = (_data(context, builder, sig, args, n) for n in (0, 4, 7))
    a0, a_row, a_column = args[1:4]
    b0, b_row = args[5:7]
    c0, c_row = args[8:10]
    rows, columns, inner = args[10:13]
    index = rows.type
    add, times = builder.add, builder.mul

    def tile(i: Any, j: Any, height: int, lanes: int) -> None:
        """C[i : i + height, j : j + lanes]."""
        vector = ir.VectorType(A.type.pointee, lanes)
        sums = [cgutils.alloca_once(builder, vector) for _ in range(height)]
        for total in sums:
            builder.store(ir.Constant(vector, [0.0] * lanes), total)
        at = [add(a0, times(add(i, index(r)), a_row)) for r in range(height)]
        with cgutils.for_range(builder, inner, intp=index) as loop:
            right = _load(builder, B, add(add(b0, j), times(loop.index, b_row)), vector)
            for r in range(height):
                place = add(at[r], times(loop.index, a_column))
                left = _spread(builder, builder.load(builder.gep(A, [place])), vector)
                # "contract": one instruction for both, where the processor has it
                product = builder.fmul(left, right, flags=("contract",))
                total = builder.fadd(builder.load(sums[r]), product, flags=("contract",))
                builder.store(total, sums[r])
        for r in range(height):
            place = add(c0, add(times(add(i, index(r)), c_row), j))
            _store(builder, builder.load(sums[r]), C, place)

    whole = builder.and_(rows, index(-ROWS))
    for height, first, last in ((ROWS, index(0), whole), (1, whole, rows)):
        with cgutils.for_range_slice(builder, first, last, index(height), index) as (i, _):
            for j, lanes in _tiles(builder, columns):
                tile(i, j, height, lanes)
    return context.get_dummy_value()


@_in_kernels
def copy_cell(_, A, a0, C, c0, columns, bound):  # type: ignore[no-untyped-def]
    """C[c0 + j] = A[a0 + j] for a multiple of 4 columns; return whether any is at least a bound."""
    places = [types.intp, types.intp]
    return signature(types.boolean, A, places[0], C, *places, A.dtype), _copy


def _copy(context: Any, builder: Any, sig: Any, args: Sequence[Any]) -> Any:
    A, C = (_data(context, builder, sig, args, n) for n in (0, 2))
    a0, c0, columns, bound = args[1], *args[3:6]
    found = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(1), 0))
    for j, lanes in _tiles(builder, columns):
        vector = ir.VectorType(A.type.pointee, lanes)
        values = _load(builder, A, builder.add(a0, j), vector)
        _store(builder, values, C, builder.add(c0, j))
        large = builder.fcmp_ordered(">=", values, _spread(builder, bound, vector))
        mask = builder.bitcast(large, ir.IntType(lanes))
        some = builder.icmp_unsigned("!=", mask, ir.Constant(mask.type, 0))
        builder.store(builder.or_(builder.load(found), some), found)
    return builder.load(found)


def _data(context: Any, builder: Any, sig: Any, args: Sequence[Any], position: int) -> Any:
    """Where an array's numbers are."""
    return make_array(sig.args[position])(context, builder, args[position]).data


def _tiles(builder: Any, columns: Any) -> Iterator[tuple[Any, int]]:
    """Loops over the columns in vectors of 16, then 8, then 4: where each begins, and its width."""
    index = columns.type
    done = index(0)
    for lanes in LANES:
        end = builder.and_(columns, index(-lanes))
        with cgutils.for_range_slice(builder, done, end, index(lanes), index) as (j, _):
            yield j, lanes
        done = end


def _place(builder: Any, array: Any, place: Any, vector: Any) -> Any:
    return builder.bitcast(builder.gep(array, [place]), vector.as_pointer())


def _load(builder: Any, array: Any, place: Any, vector: Any) -> Any:
    return builder.load(_place(builder, array, place, vector), align=_alignment(vector))


def _store(builder: Any, value: Any, array: Any, place: Any) -> None:
    where = _place(builder, array, place, value.type)
    builder.store(value, where, align=_alignment(value.type))


def _alignment(vector: Any) -> int:
    """That of a number: a vector need not begin where vectors do, it is only faster."""
    return 8 if isinstance(vector.element, ir.DoubleType) else 4


def _spread(builder: Any, number: Any, vector: Any) -> Any:
    """A vector that has a number in every place."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.IntType(32)(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, undefined, everywhere)


@kernel
def aligned(size: int, like):  # type: ignore[no-untyped-def]
    """An uninitialised array of the same type as another, that begins with a cache line."""
    more = CACHE_LINE // like.itemsize
    array = np.empty(size + more, like.dtype)
    first = (-array.ctypes.data % CACHE_LINE) // like.itemsize
    return array[first : first + size]
