from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.triage.normalise import normalise

CHECK = "Check failed: d >= 0 (<n> vs. <n>)"
CHECKED_TYPE = "tensor.cc:770] Check failed: dtype() == expected_dtype"
EXPECTED = "tensor.cc Check failed: dtype() == expected_dtype (<n> vs. <n>)"
LINES = [
    (
        f"{CHECKED_TYPE} (2 vs. 1) float expected, got double",
        EXPECTED,
    ),
    (
        f"{CHECKED_TYPE} (1 vs. 9) int64 expected, got float",
        EXPECTED,
    ),
    ("one of {'sum', 'mean', None}", "one of {'mean', 'sum', None}"),
    ("one of {None, 'mean', 'sum'}", "one of {'mean', 'sum', None}"),
    ("Invalid variable reference. [Op:Assign] name: x", "Invalid variable reference. [Op:Assign]"),
    ("Check failed: d >= 0 (-1 vs. 0)", CHECK),
    (
        (
            "2026-11-21 11:00:00.123: F tensorflow/core/framework/tensor_shape.cc:587] "
            "Check failed: d >= 0 (-1 vs. 0)"
        ),
        f"tensor_shape.cc {CHECK}",
    ),
    (
        "F0000 00:00:1763724560.123456   1234 tensor_shape.cc:587] Check failed: d >= 0 (-7 vs. 0)",
        f"tensor_shape.cc {CHECK}",
    ),
    (
        (
            'ndim == 2 INTERNAL ASSERT FAILED at "/pytorch/aten/src/ATen/native/X.cpp":123, '
            "please report a bug to PyTorch. got 7"
        ),
        "ndim == 2 INTERNAL ASSERT FAILED at X.cpp",
    ),
    (
        (
            "{{function_node __wrapped__SparseSplit_num_split_2_device_/job:localhost/task:0}}"
            " Input axis should be a scalar but received shape [0] [Op:SparseSplit]"
        ),
        "Input axis should be a scalar but received shape <shape> [Op:SparseSplit]",
    ),
    (
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        "mat1 and mat2 shapes cannot be multiplied (<shape>)",
    ),
    (
        "\"addmm_impl_cpu_\" not implemented for 'Half'",
        "'addmm_impl_cpu_' not implemented for '<dtype>'",
    ),
    (
        "module 'torch' has no attribute 'bessel_j0'",
        "module 'torch' has no attribute 'bessel_j0'",
    ),
    (
        (
            "sum() received an invalid combination of arguments - got (str, int), "
            "but expected one of:"
            "\n * (Tensor input, *, torch.dtype dtype)"
        ),
        "sum() received an invalid combination of arguments - got <value>",
    ),
    (
        "vector::_M_range_check: __n (which is 18446744073709551615) >= this->size() (which is 2)",
        "vector::_M_range_check: __n (which is <n>) >= this->size() (which is <n>)",
    ),
    ("free(): invalid pointer", "free(): invalid pointer"),
    (
        (
            "kernel, /tmp/compiled/inductor/g4/cg4wmkxxljmvlnqxsn4gthouudu36e67ju5hnahfo2rht2d7yppn"
            ".main.cpp:49, index out of bounds: 0 <= tmp6 < 1L"
        ),
        "kernel, <path>:<n>, index out of bounds: <n> <= tmp6 < <n>",
    ),
]


@pytest.mark.parametrize(("message", "expected"), LINES)
def test_normalise_removes_only_volatile_text(message: str, expected: str) -> None:
    assert normalise(message) == expected


@given(st.text())
def test_normalise_of_any_text_is_idempotent(text: str) -> None:
    once = normalise(text)

    assert normalise(once) == once


PIECES = st.sampled_from(
    [
        *("-1", "0x7f00", "[1, 2]", "[]", "(3,)", "<n>", "float32", "DT_INT8", "'a b'", '"x"', "`"),
        *(
            "torch.Size([2])",
            "/src/a.cc:3]",
            "nan",
            "1e-5",
            "2x3",
            "got",
            "int",
            "(",
            ")",
            "[",
            "]",
        ),
        *(
            "None",
            ", ",
            " ",
            ": ",
            "_7",
            "and",
            "Long",
            "tensor(",
            "{{x}}",
            "https://a.b/c",
            "F0000",
        ),
        *("2.13.0+cu1", "Check failed:", " vs. ", "/job:", "cpu:0", "Expected", "b'", "\n", "\\"),
    ]
)


@given(st.lists(PIECES).map("".join))
def test_normalise_of_volatile_text_is_idempotent(text: str) -> None:
    once = normalise(text)

    assert normalise(once) == once


TEMPLATE = (
    "Expected size {n} but got size {m} for tensor of shape [{n}, {m}] and dtype {dtype} at "
    "0x{address:x} in {path}/op.cc:{line} (thread {m}, {x})"
)
RENDERED = st.builds(
    TEMPLATE.format,
    n=st.integers(),
    m=st.integers(),
    line=st.integers(min_value=1),
    dtype=st.sampled_from(["float32", "torch.int64", "DT_HALF", "complex64"]),
    address=st.integers(min_value=0, max_value=2**64),
    path=st.sampled_from(["/home/me/src", "/pytorch/aten", "..", "/__w/b-1/x_y"]),
    x=st.floats(allow_nan=False, allow_infinity=False),
)


@given(RENDERED, RENDERED)
def test_normalise_of_messages_with_different_values_is_equal(first: str, second: str) -> None:
    assert normalise(first) == normalise(second)


def test_normalise_of_different_reasons_differs() -> None:
    assert normalise("size (-1) must be non-negative") != normalise("size (-1) must be odd")


@given(st.text(st.characters(exclude_characters="'\"`", min_codepoint=33), min_size=1, max_size=30))
def test_normalise_replaces_quoted_text_of_the_case(text: str) -> None:
    message = f"mode '{text}' is not supported"

    assert normalise(message, fuzzed=(text,)) == "mode <text> is not supported"
