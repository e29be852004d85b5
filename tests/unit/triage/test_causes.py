"""Root causes: one name for one fault behind several APIs, independent of other buckets."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from finding_examples import call, finding
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.causes import Cause, cause_from_json, cause_to_json
from ciguard.domain.findings import Bucket, Evidence, PairKind
from ciguard.domain.outcomes import Crashed, Errored, Frame, Outcome, Rejected
from ciguard.domain.values import LiteralValue
from ciguard.triage import Buckets, cause_of, distinct_causes_first, is_cause_name, with_causes

TENSORFLOW = (Frame("tensorflow/python/ops/gen_math_ops.py", "foo"),)


def bucket(outcome: Outcome, api: str = "torch.fold", *arguments: str) -> Bucket:
    case = call(*map(LiteralValue, arguments), api=api)
    return Buckets().add(finding(outcome, case=case))


def failed_check_bucket(api: str, line: int = 12, values: str = "3 vs. 1") -> Bucket:
    log = f"2026-01-31 10:00:00.1: F pool.cc:{line}] Check failed: dtype() == expected ({values})"
    return bucket(Crashed("SIGABRT", (), log), api)


def internal_error_bucket(
    message: str, api: str, *frames: Frame, words: tuple[str, ...] = ()
) -> Bucket:
    return bucket(Errored("RuntimeError", message, frames), api, *words)


def changed_outcome_bucket(kind: str, detail: str, api: str, message: str = "") -> Bucket:
    occurrence = finding(Rejected("TypeError", message), case=call(api=api))
    return Buckets().add(
        replace(
            occurrence,
            oracle="differential",
            kind=kind,
            detail=detail,
            pair=PairKind.VERSION,
            targets=tuple(occurrence.outcomes),
        )
    )


def test_one_failed_check_of_two_apis_is_one_cause() -> None:
    first, second = failed_check_bucket("torch.a"), failed_check_bucket("torch.b", 99, "7 vs. 9")

    assert cause_of(first) == cause_of(second)
    assert cause_of(first).words == "failed check: pool.cc: dtype() == expected"
    assert first.fingerprint != second.fingerprint


def training_bucket(name: str, line: str) -> Bucket:
    log = f"F0131 10:00:00.1 tensor.cc:{line}] Check failed: dtype() == expected (3 vs. 1)"
    occurrence = bucket(Crashed("SIGABRT", (), log), f"tensorflow.raw_ops.{name}")
    words = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    place = f"tensorflow/python/ops/gen_training_ops.py:{words}"
    return replace(occurrence, grouping=(*occurrence.grouping, ("stack", place)))


def test_checks_of_accessors_are_one_cause_per_operator_family() -> None:
    first, second = (
        training_bucket("ResourceApplyFtrl", "12"),
        training_bucket("ResourceSparseApplyAdagrad", "12"),
    )
    gather = training_bucket("ResourceGatherNd", "12")

    assert cause_of(first) == cause_of(second) != cause_of(gather)
    assert cause_of(first).text == "tensor.cc: dtype() == expected in training: apply"


def test_is_cause_name_accepts_no_fingerprint() -> None:
    assert is_cause_name(cause_of(failed_check_bucket("torch.a")).name)
    assert not is_cause_name(bucket(Crashed("SIGSEGV")).fingerprint)
    assert not any(map(is_cause_name, ["", "g1:0", "g1:0123456789abcdef/..", "g01:" + "0" * 16]))


def test_first_of_each_cause_orders_one_bucket_per_cause_first() -> None:
    alone = bucket(Crashed("SIGSEGV"), "torch.fold")
    buckets = [
        failed_check_bucket("torch.a"),
        failed_check_bucket("torch.b"),
        alone,
        failed_check_bucket("torch.c"),
    ]

    ordered = distinct_causes_first(buckets)

    assert [bucket.finding.api for bucket in ordered] == [
        "torch.a",
        "torch.fold",
        "torch.b",
        "torch.c",
    ]


def test_different_checks_of_one_file_are_different_causes() -> None:
    other = bucket(
        Crashed("SIGABRT", (), "F0131 10:00:00.1 pool.cc:12] Check failed: n > 0 (0 vs. 0)")
    )

    assert cause_of(other) != cause_of(failed_check_bucket("torch.a"))


def test_internal_assertion_of_torch_is_named_by_its_file_and_check() -> None:
    texts = [
        f'op.is_output INTERNAL ASSERT FAILED at "../aten/src/ATen/TensorIterator.cpp":{line}, '
        "please report a bug to PyTorch. "
        for line in (120, 150)
    ]
    first, second = (
        internal_error_bucket(text, f"torch.{name}") for text, name in zip(texts, "ab", strict=True)
    )

    assert cause_of(first) == cause_of(second)
    assert cause_of(first).text == "TensorIterator.cpp: op.is_output"


def test_crashes_without_a_message_share_a_cause_by_innermost_frames() -> None:
    stack = tuple(Frame("libtorch_cpu.so", f"at::native::{name}") for name in ("a", "b", "c"))
    first = replace(bucket(Crashed("SIGSEGV"), "torch.a"), native_stack=stack)
    second = replace(bucket(Crashed("SIGSEGV"), "torch.b"), native_stack=stack[:2])
    unrelated = replace(bucket(Crashed("SIGSEGV"), "torch.c"), native_stack=stack[1:])

    assert cause_of(first) == cause_of(second) != cause_of(unrelated)
    assert cause_of(bucket(Crashed("SIGSEGV"), "torch.a")).kind == "memory corruption in operator"


def test_errors_of_one_raising_function_with_one_message_are_one_cause() -> None:
    helper = Frame("keras/src/initializers/common.py", "shape_of")
    first, second = (
        internal_error_bucket("'NoneType' object has no attribute 'shape'", f"keras.{name}", helper)
        for name in ("a", "b")
    )
    elsewhere = replace(helper, function="other")

    assert cause_of(first).kind == "raising function"
    assert cause_of(first) == cause_of(second)
    unrelated = internal_error_bucket(
        "'NoneType' object has no attribute 'shape'", "keras.a", elsewhere
    )
    assert cause_of(unrelated) != cause_of(first)


@given(st.text("abcdefgh", min_size=3, max_size=9), st.text("ijklmnop", min_size=3, max_size=9))
def test_message_cause_ignores_words_of_the_case(first: str, second: str) -> None:
    causes = {
        cause_of(
            internal_error_bucket(
                f"Unexpected mode in spec element: {word}", "torch.fold", words=(word,)
            )
        )
        for word in (first, second)
    }

    assert len(causes) == 1


def test_message_cause_ignores_the_name_of_the_api() -> None:
    first = internal_error_bucket("bincount: only one-dimensional input is taken", "torch.bincount")
    second = internal_error_bucket("histc: only one-dimensional input is taken", "torch.histc")

    assert cause_of(first) == cause_of(second)


def test_short_messages_share_no_cause() -> None:
    first, second = (
        internal_error_bucket("oops", "torch.a"),
        internal_error_bucket("oops", "torch.b"),
    )

    assert cause_of(first).name == first.fingerprint
    assert cause_of(second).name == second.fingerprint


def test_crashes_of_two_functions_in_one_operator_are_one_cause() -> None:
    first = bucket(Crashed("SIGFPE", TENSORFLOW), "tensorflow.foo")
    second = bucket(Crashed("SIGFPE", TENSORFLOW), "tensorflow.raw_ops.Foo")

    assert cause_of(replace(first, grouping=with_tensorflow_stack(first))) == cause_of(
        replace(second, grouping=with_tensorflow_stack(second))
    )


def with_tensorflow_stack(bucket: Bucket) -> tuple[tuple[str, str], ...]:
    kept = tuple(pair for pair in bucket.grouping if pair[0] != "stack")
    return (*kept, ("stack", "tensorflow/python/ops/gen_math_ops.py:foo"))


@pytest.mark.parametrize("other", ["torch.Tensor.polar", "torch.ops.aten.polar", "torch.polar_"])
def test_crashes_of_torch_functions_of_one_operator_are_one_cause(other: str) -> None:
    first = bucket(Crashed("SIGSEGV"), "torch.polar")

    assert cause_of(first) == cause_of(bucket(Crashed("SIGSEGV"), other))
    assert cause_of(first).words == "memory corruption in operator: polar"


@pytest.mark.parametrize("other", ["torch.nn.Polar", "torch.polygamma", "torch.masked.polar"])
def test_crashes_of_torch_functions_of_other_operators_are_other_causes(other: str) -> None:
    first, second = bucket(Crashed("SIGSEGV"), "torch.polar"), bucket(Crashed("SIGSEGV"), other)

    assert cause_of(first) != cause_of(second)


def test_uninformative_check_is_one_cause_per_operator() -> None:
    text = 'false INTERNAL ASSERT FAILED at "../aten/src/ATen/BatchLinearAlgebra.cpp":1, please '
    first, alias, other = (
        cause_of(internal_error_bucket(text, api))
        for api in ("torch.eig", "torch.linalg.eig", "torch.svd")
    )

    assert first == alias != other


def test_standard_library_message_is_one_cause_per_operator() -> None:
    text = "cannot create std::vector larger than max_size()"

    assert cause_of(internal_error_bucket(text, "torch.a")) != cause_of(
        internal_error_bucket(text, "torch.b")
    )
    assert cause_of(internal_error_bucket(text, "torch.a")) == cause_of(
        internal_error_bucket(text, "torch.Tensor.a")
    )


def test_uncaught_cpp_exception_is_one_cause_for_all_python_callers() -> None:
    log = (
        "terminate called after throwing an instance of 'absl::Bad'\n  what():  overflow in extent"
    )
    first, second = (
        bucket(Crashed("SIGABRT", (Frame("lib/ops.py", name),), log), f"torch.{name}")
        for name in ("repeat", "empty")
    )

    assert cause_of(first) == cause_of(second)
    assert cause_of(first).kind == "message"


def test_errors_raised_by_a_dispatcher_are_one_cause_per_api() -> None:
    frame = Frame("jax/_src/dispatch.py", "apply_primitive")
    first, second = (
        internal_error_bucket("invalid tensor dimension size", f"jax.lax.{n}", frame) for n in "ab"
    )

    assert cause_of(first) != cause_of(second)


def test_none_for_a_tensor_is_one_cause_for_all_failures() -> None:
    crash = bucket(Crashed("SIGSEGV"), "torch.ops.aten.copy")
    error = internal_error_bucket(
        "op.is_output INTERNAL ASSERT FAILED", "torch.ops.aten.mish_backward"
    )
    undefined = [
        replace(failure, finding=replace(failure.finding, evidence=Evidence(undefined="self")))
        for failure in (crash, error)
    ]

    assert cause_of(crash) != cause_of(error)
    assert cause_of(undefined[0]) == cause_of(undefined[1])
    assert cause_of(undefined[0]).kind == "undefined tensor"


def test_changed_exception_class_is_one_cause_per_module() -> None:
    first, second = (
        changed_outcome_bucket("exception", "RuntimeError vs TypeError", f"torch.nn.{n}")
        for n in "ab"
    )
    elsewhere = changed_outcome_bucket("exception", "RuntimeError vs TypeError", "torch.fft.a")

    assert cause_of(first) == cause_of(second) != cause_of(elsewhere)
    assert cause_of(first).words == "exception class changed: RuntimeError vs TypeError in torch.nn"


def test_dtype_differences_of_one_api_are_one_cause() -> None:
    first, second = (
        changed_outcome_bucket("dtype", f"float32 vs {name}", "torch.gelu")
        for name in ("int32", "bool")
    )

    assert first.fingerprint != second.fingerprint
    assert cause_of(first) == cause_of(second)
    assert cause_of(changed_outcome_bucket("values", "", "torch.gelu")) != cause_of(first)


@given(
    st.permutations(
        [
            failed_check_bucket("torch.a"),
            failed_check_bucket("torch.b"),
            internal_error_bucket("oops", "torch.c"),
        ]
    )
)
def test_with_causes_is_independent_of_the_order_of_buckets(buckets: list[Bucket]) -> None:
    named = {b.fingerprint: b.cause for b in with_causes(buckets)}

    causes = {b.fingerprint: cause_of(b) for b in buckets}
    assert named == {name: None if c.name == name else c for name, c in causes.items()}


@pytest.mark.parametrize("cause", [None, Cause(name="g1:0", kind="message", text="x")])
def test_cause_round_trips_through_json(cause: Cause | None) -> None:
    assert cause_from_json(cause_to_json(cause)) == cause


@pytest.mark.parametrize("encoded", [[], {}, {"name": 1, "kind": "", "text": ""}, "g1:0"])
def test_cause_from_json_with_malformed_json_raises(encoded: object) -> None:
    with pytest.raises(ValueError, match=r"cause"):
        cause_from_json(encoded)
