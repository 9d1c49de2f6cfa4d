from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dbpcfg.report.sentences import pack
from tests.report.unpacking import unpack


@given(st.lists(st.integers(0, 2**32 - 1)) | st.lists(st.integers(0, 300)))
def test_numbers_come_back(numbers):
    assert unpack(pack(numbers)).tolist() == numbers


def test_the_smallest_type_is_taken():
    kinds = [pack([most])["type"] for most in (255, 256, 65535, 65536)]
    assert kinds == ["u1", "u2", "u2", "u4"]
