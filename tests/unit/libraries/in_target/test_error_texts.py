"""Classification of messages as internal errors, exhausted memory or rejections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.libraries.in_target.contract import ERRORED, EXHAUSTED, REJECTED, Adapter
from ciguard.libraries.in_target.error_texts import _EXHAUSTED, _INTERNAL, kind_of_message


@pytest.mark.parametrize(
    "message",
    [
        'scalar.isIntegral( false) INTERNAL ASSERT FAILED at "pybind.cpp":27, please report a bug',
        "cannot create std::vector larger than max_size()",
        "vector::_M_range_check: __n (which is 1) >= this->size() (which is 0)",
        "vector::reserve",
        "vector::_M_default_append",
        "basic_string::_M_create",
        "basic_string::at: __n (which is 0) >= this->size() (which is 0)",
        "map::at",
        "_Map_base::at",
        "unordered_map::at",
        "stoi",
        "bad optional access",
        "std::length_error: too long",
        "std::bad_variant_access",
    ],
)
def test_the_message_of_a_leaked_exception_is_classified_as_internal(message: str) -> None:
    assert kind_of_message(message) == ERRORED


@pytest.mark.parametrize(
    "message",
    [
        "std::bad_alloc",
        "std::bad_array_new_length",
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes.",
        "DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes.",
        "CUDA out of memory. Tried to allocate 20.00 MiB",
        "Unable to allocate 8.00 PiB for an array with shape (1,) and data type float64",
        "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum",
        "OOM when allocating tensor with shape[1099511627776]",
        "RESOURCE_EXHAUSTED: Out of memory allocating 140737488355328 bytes.",
    ],
)
def test_the_message_of_exhausted_memory_is_classified_as_exhausted(message: str) -> None:
    assert kind_of_message(message) == EXHAUSTED


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Storage size calculation overflowed with sizes=[4611686018427387904, 16]",
        "Expect a 1D vector, but got shape [2, 2]",
        "(Could this error message be improved?  If so, please report an enhancement request.)",
        "Check failed dim(5) < 2 Something wrong ... Could you please report this issue?",
        "in.vector::size must match",
        "stoic",
        "the map::attribute is unknown",
    ],
)
def test_the_message_of_a_user_error_is_classified_as_rejected(message: str) -> None:
    assert kind_of_message(message) == REJECTED


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), EXHAUSTED),
        (NameError("name 'x' is not defined"), ERRORED),
        (UnboundLocalError(), ERRORED),
        (RecursionError(), ERRORED),
        (SystemError(), ERRORED),
        (ValueError(), REJECTED),
        (AssertionError(), REJECTED),
        (AttributeError(), REJECTED),
    ],
)
def test_an_exception_of_python_is_classified_by_its_type(error: Exception, kind: str) -> None:
    assert Adapter().classify(error) == kind


@given(st.text(), st.from_regex(_EXHAUSTED, fullmatch=True), st.text())
def test_no_message_that_a_pattern_matches_is_skipped(before: str, match: str, after: str) -> None:
    assert kind_of_message(before + match + after) == EXHAUSTED


@given(st.from_regex(_INTERNAL))
def test_no_message_of_an_internal_error_is_skipped(message: str) -> None:
    assert kind_of_message(message) in {ERRORED, EXHAUSTED}
