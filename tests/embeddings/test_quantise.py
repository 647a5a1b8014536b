from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from scrubjay.embeddings.base import QUANTIZATION_STEPS, quantize_rows
from scrubjay.errors import ProviderError

ROWS = arrays(
    np.float32,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.floats(-1, 1, width=32),
)


@settings(max_examples=100)
@given(ROWS)
def test_no_element_moves_by_more_than_half_a_step(rows: np.ndarray) -> None:
    quantised = quantize_rows(rows)
    assert quantised.data.dtype == np.int8
    assert quantised.scales.dtype == np.float32
    limit = quantised.scales[:, None] * 0.5001 + 1e-37
    assert (np.abs(quantised.data * quantised.scales[:, None] - rows) <= limit).all()


@settings(max_examples=50)
@given(ROWS)
def test_a_row_gives_the_same_bytes_alone_and_in_a_batch_and_mirrors_its_negative(rows: np.ndarray) -> None:
    batch = quantize_rows(rows)
    alone = quantize_rows(rows[-1:])
    assert alone.data[0].tobytes() == batch.data[-1].tobytes()
    assert alone.scales[0] == batch.scales[-1]
    assert (quantize_rows(-rows).data == -batch.data).all()


def test_the_largest_element_uses_the_whole_range() -> None:
    assert quantize_rows(np.array([[0.5, -1.0, 0.25]], np.float32)).data.tolist() == [
        [64, -QUANTIZATION_STEPS, 32]
    ]


def test_a_row_of_zeros_stays_zero_with_scale_zero() -> None:
    quantised = quantize_rows(np.zeros((2, 3), np.float32))
    assert not quantised.data.any()
    assert not quantised.scales.any()


def test_no_rows_and_no_dimensions_are_fine() -> None:
    assert quantize_rows(np.zeros((0, 4), np.float32)).data.shape == (0, 4)
    assert quantize_rows(np.zeros((2, 0), np.float32)).scales.tolist() == [0, 0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_refused_by_its_number(bad: float) -> None:
    rows = np.ones((3, 2), np.float32)
    rows[1, 0] = bad
    with pytest.raises(ProviderError, match="Vector 1 of 3"):
        quantize_rows(rows)
