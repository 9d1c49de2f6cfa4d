"""Products and copies in vector registers, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from dbpcfg.numerics import simd
from dbpcfg.numerics.kernels import Floats, kernel
from dbpcfg.numerics.simd import (
    CACHE_LINE,
    add_small_product,
    add_weighted,
    aligned,
    cell_product,
    copy_cell,
    in_panels,
    in_tiles,
    small_product,
    weighted_sum,
)

DTYPES = [np.float64, np.float32]


@kernel
def product(A: Floats, B: Floats, C: Floats, transposed: bool) -> None:
    """C[1:-1] = A · B, or Aᵀ · B."""
    rows, inner = (A.shape[1], A.shape[0]) if transposed else A.shape
    across, down = (1, A.shape[1]) if transposed else (A.shape[1], 1)
    small_product(
        A, 0, across, down, B, 0, B.shape[1], C, C.shape[1], C.shape[1], rows, B.shape[1], inner
    )


@kernel
def copy(A: Floats, C: Floats, least: float, most: float) -> bool:
    return copy_cell(A, 4, C, 8, len(A) - 4, least, most)


@pytest.mark.parametrize("dtype", DTYPES)
@given(
    st.integers(1, 11),
    st.sampled_from([4, 8, 12, 16, 20, 24, 28, 32, 48, 60]),
    st.integers(0, 18),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_product(dtype, rows, columns, inner, transposed, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(inner, rows) if transposed else (rows, inner)).astype(dtype)
    B = rng.normal(size=(inner, columns)).astype(dtype)
    C = np.full((rows + 2, columns), 7, dtype)
    product(A, B, C, transposed)
    expected = (A.T if transposed else A).astype(np.float64) @ B
    np.testing.assert_allclose(C[1:-1], expected, atol=100 * np.finfo(dtype).eps)
    assert (C[[0, -1]] == 7).all()  # nothing else is touched


@pytest.mark.parametrize("dtype", DTYPES)
@given(
    st.sampled_from([4, 8, 12, 16, 44]),
    st.floats(0, 1, width=32),
    st.floats(0, 1, width=32),
    st.integers(0, 2**32 - 1),
)
def test_copy(dtype, columns, least, most, seed):
    A = np.random.default_rng(seed).random(columns + 4).astype(dtype)
    A[:4] = 2  # not copied, and not looked at
    C = np.full(columns + 12, 7, dtype)
    fair = bool((A[4:] >= dtype(least)).any() and (A[4:] <= dtype(most)).all())
    assert copy(A, C, dtype(least), dtype(most)) == fair
    assert (C[8:-4] == A[4:]).all()
    assert (C[:8] == 7).all()
    assert (C[-4:] == 7).all()


@kernel
def dot(A: Floats, B: Floats) -> float:
    return cell_product(A, 4, B, 0, len(B))


@pytest.mark.parametrize("dtype", DTYPES)
@given(st.sampled_from([4, 8, 12, 16, 20, 28, 44, 48]), st.integers(0, 2**32 - 1))
def test_dot(dtype, columns, seed):
    A, B = np.random.default_rng(seed).normal(size=(2, columns + 4)).astype(dtype)
    expected = float(A[4:].astype(np.float64) @ B[:-4])
    assert dot(A, B[:-4].copy()) == pytest.approx(expected, abs=100 * float(np.finfo(dtype).eps))


@kernel
def add_product(A: Floats, B: Floats, C: Floats) -> None:
    add_small_product(A, 0, A.shape[1], 1, B, 0, B.shape[1], C, 0, C.shape[1], *C.shape, len(B))


@pytest.mark.parametrize("dtype", DTYPES)
@given(st.integers(1, 9), st.sampled_from([4, 12, 16, 24]), st.integers(0, 9))
def test_add_product(dtype, rows, columns, inner):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(rows, inner)).astype(dtype), rng.normal(size=(inner, columns))
    C = rng.normal(size=(rows, columns)).astype(dtype)
    expected = C.astype(np.float64) + A.astype(np.float64) @ B
    add_product(A, B.astype(dtype), C)
    np.testing.assert_allclose(C, expected, atol=100 * np.finfo(dtype).eps)


@kernel
def large_product(A: Floats, first: int, last: int, B: Floats, C: Floats) -> None:
    simd.product(A, first, last, B, C)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("K", [4, 8, 24, 40, 64])
def test_panels_change_no_bit(dtype, K):
    rng = np.random.default_rng(K)
    A, B = rng.random((9, K)).astype(dtype), rng.random((K, K * K)).astype(dtype)
    panels = in_panels(B)
    assert (panels.shape == B.shape) == (K <= 8 or not in_tiles(B))
    whole, cut = (np.full((9, K * K), 7, dtype) for _ in range(2))
    large_product(A, 1, 8, B, whole)
    large_product(A, 1, 8, panels, cut)
    np.testing.assert_array_equal(cut, whole)
    np.testing.assert_allclose(cut[1:8], A[1:8].astype(np.float64) @ B, rtol=1e-5)
    assert (cut[[0, 8]] == 7).all()


@pytest.mark.parametrize("K", [24, 64, 72])
def test_rows_in_single_precision_do_not_depend_on_others(K):
    rng = np.random.default_rng(K)
    A, B = rng.random((13, K * K)).astype(np.float32), rng.random((K * K, K)).astype(np.float32)
    together, alone = np.empty((13, K), np.float32), np.empty((13, K), np.float32)
    large_product(A, 0, 13, B, together)
    for row in range(13):
        large_product(A, row, row + 1, B, alone)
    np.testing.assert_array_equal(alone, together)


@kernel
def weighted(F: Floats, A: Floats, B: Floats, total: Floats, slopes: Floats) -> None:
    """Σ_k F_k A_k B_k; then slopes_k += F_k total B_k."""
    columns = A.shape[1]
    weighted_sum(F, A, 0, B, 0, total, 0, columns, len(A))
    add_weighted(F, total, 0, B, 0, slopes, columns, columns, len(A))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [4, 12, 28, 40])
@pytest.mark.parametrize("inner", [1, 5])
def test_weighted_sums(dtype, columns, inner):
    rng = np.random.default_rng(3)
    F = rng.normal(size=inner).astype(dtype)
    A, B = rng.normal(size=(2, inner, columns)).astype(dtype)
    total, slopes = np.full(columns, 7, dtype), np.ones((inner + 2, columns), dtype)
    weighted(F, A, B, total, slopes)
    expected = (F[:, np.newaxis] * A * B).sum(axis=0)
    np.testing.assert_allclose(total, expected, atol=100 * np.finfo(dtype).eps)
    expected = 1 + F[:, np.newaxis] * total * B
    np.testing.assert_allclose(slopes[1:-1], expected, atol=100 * np.finfo(dtype).eps)
    assert (slopes[[0, -1]] == 1).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_aligned(dtype):
    for size in range(1, 40):
        array = aligned(np.empty(1, dtype), size, 3)
        assert (array.dtype, array.shape) == (dtype, (size, 3))
        assert array.ctypes.data % CACHE_LINE == 0
        assert array.flags.c_contiguous


def test_tiles_of_processors_with_narrower_registers(monkeypatch):
    dtype = np.float64
    monkeypatch.setattr(simd, "LANES", (8, 4))
    monkeypatch.setattr(simd, "HEIGHTS", (4, 2, 1))
    narrow = njit(product.py_func)  # compiled anew, with these tiles
    rng = np.random.default_rng(0)
    for rows, columns, inner in ((1, 4, 3), (7, 12, 5), (9, 28, 16), (16, 16, 1)):
        A, B = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns))
        C = np.full((rows + 2, columns), 7, dtype)
        narrow(A.astype(dtype), B.astype(dtype), C, False)
        np.testing.assert_allclose(C[1:-1], A @ B, atol=100 * float(np.finfo(dtype).eps))
        assert (C[[0, -1]] == 7).all()
