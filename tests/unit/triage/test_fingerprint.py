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
def test_every_face_of_memory_corruption_is_one_bug(cause: str, log: str) -> None:
    assert fingerprint(crash(log, cause=cause)).key == fingerprint(crash()).key


@given(st.integers(), st.integers(0, 9999), st.text("abc \n", max_size=20))
def test_a_failed_check_is_one_bug_whatever_its_values_lines_and_noise(
    n: int, line: int, noise: str
) -> None:
    met = crash(TF_LOG.format(n=n, line=line, noise=noise), cause="SIGABRT")
    again = crash(TF_LOG.format(n=6, line=778, noise=""), cause="SIGABRT")

    assert fingerprint(met) == fingerprint(again)
    assert ("symptom", "failed check") in fingerprint(met).grouping


def test_another_check_is_another_bug() -> None:
    one = crash("F0000 00:00:1.5 1 a.cc:1] Check failed: x > 0 (1 vs. 2)", cause="SIGABRT")
    other = crash("F0000 00:00:1.5 1 a.cc:1] Check failed: y > 0 (1 vs. 2)", cause="SIGABRT")

    assert fingerprint(one).key != fingerprint(other).key


def test_an_uncaught_exception_is_named_by_its_type_and_text() -> None:
    log = "terminate called after throwing an instance of 'std::length_error'\n  what():  vector 12"

    grouping = dict(fingerprint(crash(log, cause="SIGABRT")).grouping)

    assert grouping["message"] == "uncaught std::length_error: vector <n>"


def test_signals_of_different_nature_are_different_bugs() -> None:
    causes = ("SIGSEGV", "SIGFPE", "SIGABRT", "SIGILL", "exit 3")

    keys = {fingerprint(crash(cause=cause)).key for cause in causes}

    assert len(keys) == len(causes)


def test_the_number_of_a_process_exit_is_no_part_of_the_bug() -> None:
    one, other = crash(cause="exit 3"), crash(cause="exit 7")

    assert fingerprint(one).key == fingerprint(other).key


def test_seed_values_and_target_version_are_no_part_of_the_bug() -> None:
    one = finding(Crashed("SIGSEGV"), case=call(LiteralValue(1), seed=1), target="torch==2.1.0")
    other = finding(Crashed("SIGBUS"), case=call(LiteralValue("x"), seed=2), target="torch==2.13.0")

    assert fingerprint(one).key == fingerprint(other).key


def test_the_api_is_always_part_of_the_bug() -> None:
    one, other = crash(case=call(api="torch.a")), crash(case=call(api="torch.b"))

    assert fingerprint(one).key != fingerprint(other).key


def test_only_frames_of_the_library_count_and_their_eager_variants_are_one() -> None:
    def stack(variant: str) -> tuple[Frame, ...]:
        return (
            Frame("numpy/core/x.py", "dot"),
            Frame("tensorflow/python/eager/execute.py", "quick_execute"),
            Frame("tensorflow/python/ops/gen_math_ops.py", f"bincount{variant}"),
            Frame("tensorflow/python/util/tf_export.py", "wrapper"),
        )

    case = call(api="tensorflow.math.bincount")
    one = finding(Crashed("SIGFPE", stack("")), case=case)
    other = finding(Crashed("SIGFPE", stack("_eager_fallback")), case=case)

    assert fingerprint(one).key == fingerprint(other).key
    assert dict(fingerprint(one).grouping)["stack"].endswith("gen_math_ops.py:bincount")


def test_a_source_checkout_has_the_frames_of_an_installed_package() -> None:
    def met(file: str) -> str:
        return fingerprint(finding(Errored("AssertionError", "x", (Frame(file, "conv"),)))).key

    assert met("/home/me/torch/torch/nn/conv.py") == met("torch/nn/conv.py")


def test_where_a_hang_was_when_its_time_ended_is_no_part_of_the_bug() -> None:
    one = finding(Hung(5.0, (Frame("torch/a.py", "f"),)))
    other = finding(Hung(60.0, (Frame("torch/b.py", "g"),)))

    assert fingerprint(one).key == fingerprint(other).key


def test_what_a_library_quotes_of_the_case_is_no_part_of_the_bug() -> None:
    def refused(text: str) -> str:
        outcome = Rejected("ValueError", f"unknown mode '{text}' given")
        case = call(LiteralValue(text))
        return fingerprint(pair(Passed(b"", 0.0), outcome, kind="refused", case=case)).key

    assert refused("bilinear") == refused("\u202eweird\nmode")


def test_a_difference_is_named_by_pair_kind_and_detail() -> None:
    met = pair(Passed(b"null", 0.1), Passed(b"[]", 0.2), kind="dtype")
    detailed = dataclasses.replace(met, detail="float32 vs float64")

    grouping = fingerprint(detailed).grouping

    assert ("pair", "version") in grouping
    assert ("detail", "float32 vs float64") in grouping
    assert fingerprint(detailed).key != fingerprint(met).key


def test_keys_have_the_form_that_may_name_files() -> None:
    assert is_fingerprint(fingerprint(crash()).key)
    assert not is_fingerprint("v1:../../etc/passwd")
    assert not is_fingerprint("v1:0123456789abcdef\n")
