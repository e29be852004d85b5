from __future__ import annotations

import dataclasses

import pytest
from finding_examples import call, crash, finding, pair
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.outcomes import Crashed, Errored, Frame, Hung, Passed, Rejected
from ciguard.domain.values import LiteralValue
from ciguard.triage import fingerprint, is_fingerprint

TF_LOG = """\
2026-11-21 11:43:04.475899: I tensorflow/core/util/port.cc:110] oneDNN custom operations are on.
UserWarning: something else entirely {noise}
2026-11-21 11:44:27.164233: F tensorflow/core/framework/tensor.cc:{line}] Check failed: \
1 == NumElements() (1 vs. {n})Must have a one element tensor
"""
CORRUPTIONS = [
    ("SIGSEGV", ""),
    ("SIGBUS", ""),
    ("SIGABRT", "free(): invalid pointer\n"),
    ("SIGABRT", "double free or corruption (out)\n"),
    ("SIGABRT", "malloc(): invalid size (unsorted)\n"),
    ("SIGABRT", "corrupted size vs. prev_size\n"),
    ("SIGABRT", "munmap_chunk(): invalid pointer\n"),
]


@pytest.mark.parametrize(("cause", "log"), CORRUPTIONS)
def test_all_signs_of_memory_corruption_have_one_fingerprint(cause: str, log: str) -> None:
    assert fingerprint(crash(log, cause=cause)).key == fingerprint(crash()).key


@given(st.integers(), st.integers(0, 9999), st.text("abc \n", max_size=20))
def test_failed_check_fingerprint_ignores_values_lines_and_noise(
    n: int, line: int, noise: str
) -> None:
    first = crash(TF_LOG.format(n=n, line=line, noise=noise), cause="SIGABRT")
    second = crash(TF_LOG.format(n=6, line=778, noise=""), cause="SIGABRT")

    assert fingerprint(first) == fingerprint(second)
    assert ("symptom", "failed check") in fingerprint(first).grouping


def test_different_checks_have_different_fingerprints() -> None:
    first = crash("F0000 00:00:1.5 1 a.cc:1] Check failed: x > 0 (1 vs. 2)", cause="SIGABRT")
    second = crash("F0000 00:00:1.5 1 a.cc:1] Check failed: y > 0 (1 vs. 2)", cause="SIGABRT")

    assert fingerprint(first).key != fingerprint(second).key


def test_uncaught_exception_is_fingerprinted_by_type_and_text() -> None:
    log = "terminate called after throwing an instance of 'std::length_error'\n  what():  vector 12"

    grouping = dict(fingerprint(crash(log, cause="SIGABRT")).grouping)

    assert grouping["message"] == "uncaught std::length_error: vector <n>"


def test_different_kinds_of_signals_have_different_fingerprints() -> None:
    causes = ("SIGSEGV", "SIGFPE", "SIGABRT", "SIGILL", "exit 3")

    keys = {fingerprint(crash(cause=cause)).key for cause in causes}

    assert len(keys) == len(causes)


def test_fingerprint_ignores_the_exit_status() -> None:
    first, second = crash(cause="exit 3"), crash(cause="exit 7")

    assert fingerprint(first).key == fingerprint(second).key


def test_fingerprint_ignores_seed_values_and_target_version() -> None:
    first = finding(Crashed("SIGSEGV"), case=call(LiteralValue(1), seed=1), target="torch==2.1.0")
    second = finding(
        Crashed("SIGBUS"), case=call(LiteralValue("x"), seed=2), target="torch==2.13.0"
    )

    assert fingerprint(first).key == fingerprint(second).key


def test_different_apis_have_different_fingerprints() -> None:
    first, second = crash(case=call(api="torch.a")), crash(case=call(api="torch.b"))

    assert fingerprint(first).key != fingerprint(second).key


def test_fingerprint_uses_library_frames_without_wrapper_variants() -> None:
    def stack(variant: str) -> tuple[Frame, ...]:
        return (
            Frame("numpy/core/x.py", "dot"),
            Frame("tensorflow/python/eager/execute.py", "quick_execute"),
            Frame("tensorflow/python/ops/gen_math_ops.py", f"bincount{variant}"),
            Frame("tensorflow/python/util/tf_export.py", "wrapper"),
        )

    case = call(api="tensorflow.math.bincount")
    first = finding(Crashed("SIGFPE", stack("")), case=case)
    second = finding(Crashed("SIGFPE", stack("_eager_fallback")), case=case)

    assert fingerprint(first).key == fingerprint(second).key
    assert dict(fingerprint(first).grouping)["stack"].endswith("gen_math_ops.py:bincount")


def test_fingerprint_is_equal_for_source_checkout_and_installed_package() -> None:
    def key(file: str) -> str:
        return fingerprint(finding(Errored("AssertionError", "x", (Frame(file, "conv"),)))).key

    assert key("/home/me/torch/torch/nn/conv.py") == key("torch/nn/conv.py")


def test_hang_fingerprint_ignores_the_stack() -> None:
    first = finding(Hung(5.0, (Frame("torch/a.py", "f"),)))
    second = finding(Hung(60.0, (Frame("torch/b.py", "g"),)))

    assert fingerprint(first).key == fingerprint(second).key


def test_fingerprint_ignores_quoted_text_of_the_case() -> None:
    def key(text: str) -> str:
        outcome = Rejected("ValueError", f"unknown mode '{text}' given")
        case = call(LiteralValue(text))
        return fingerprint(pair(Passed(b"", 0.0), outcome, kind="refused", case=case)).key

    assert key("bilinear") == key("\u202eweird\nmode")


def test_difference_is_fingerprinted_by_pair_kind_and_detail() -> None:
    difference = pair(Passed(b"null", 0.1), Passed(b"[]", 0.2), kind="dtype")
    detailed = dataclasses.replace(difference, detail="float32 vs float64")

    grouping = fingerprint(detailed).grouping

    assert ("pair", "version") in grouping
    assert ("detail", "float32 vs float64") in grouping
    assert fingerprint(detailed).key != fingerprint(difference).key


def test_is_fingerprint_accepts_only_well_formed_keys() -> None:
    assert is_fingerprint(fingerprint(crash()).key)
    assert not is_fingerprint("v1:../../etc/passwd")
    assert not is_fingerprint("v1:0123456789abcdef\n")
