"""Reports of the memory guard, as they stand in logs."""

from __future__ import annotations

import pytest

from ciguard.domain.corruption import may_corrupt
from ciguard.domain.memory_errors import MEMORY_ERRORS, InvalidAccess, invalid_access

READ = "memory guard: out-of-bounds read: 4000 bytes behind argument 2 (int64[2, 16]), 256 bytes"


def read(line: str) -> InvalidAccess:
    access = invalid_access(f"output of the library\n{line}\nmore of it\n")
    assert access is not None, line
    return access


def test_a_report_names_the_parameter_and_its_type() -> None:
    access = read(READ)
    assert access.owner(("log_probs", "targets")) == "targets"
    assert access.in_words("targets") == (
        "reads 4,000 bytes behind the end of targets (int64[2, 16])"
    )


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (
            "out-of-bounds write: 0 bytes behind a block, 1048576 bytes",
            "writes right behind the end of an intermediate block of 1,048,576 bytes",
        ),
        (
            "out-of-bounds read: 8 bytes before weight (float32[]), 4 bytes",
            "reads 8 bytes before the begin of weight (float32[])",
        ),
        (
            "use after free: 16 bytes into a block, 64 bytes",
            "uses freed memory, 16 bytes after the begin of an intermediate block of 64 bytes",
        ),
        (
            "out-of-bounds read: 8 bytes behind argument 1 (float32[1, 2, 3, 4, 5...), 64 bytes",
            "reads 8 bytes behind the end of argument 1 (float32[1, 2, 3, 4, 5...)",
        ),
    ],
)
def test_reports_in_words(report: str, words: str) -> None:
    access = read(f"memory guard: {report}")
    assert access.cause in MEMORY_ERRORS
    assert access.in_words(access.owner()) == words


def test_positions_beyond_the_signature_keep_their_number() -> None:
    assert read(READ).owner(("x",)) == "argument 2"
    layer = READ.replace("argument 2", "input 1")
    assert read(layer).owner(("in_features",), ("x",)) == "x"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Segmentation fault",
        "the memory guard: out-of-bounds read: 1 bytes behind a block, 2 bytes",
        "memory guard: out-of-bounds read: 1 bytes beside a block, 2 bytes",
        "memory guard: out-of-bounds read: -1 bytes behind a block, 2 bytes",
    ],
)
def test_other_lines_are_no_reports(line: str) -> None:
    assert invalid_access(line) is None


def test_the_last_report_counts() -> None:
    other = "memory guard: use after free: 0 bytes into a block, 2 bytes"
    access = invalid_access(f"{READ}\n{other}\n")
    assert access is not None
    assert access.cause == "use after free"


def test_memory_errors_are_relevant_to_security() -> None:
    assert all(may_corrupt(cause, "") for cause in MEMORY_ERRORS)


@pytest.mark.parametrize(
    ("error", "may_be"),
    [
        ("illegal memory access", True),
        ("misaligned address", True),
        ("invalid program counter", True),
        ("launch timeout", False),
        ("device lost", False),
    ],
)
def test_a_device_error_may_corrupt_memory_if_its_kernel_left_its_memory(
    error: str, *, may_be: bool
) -> None:
    assert may_corrupt(f"CUDA {error}", "") is may_be
