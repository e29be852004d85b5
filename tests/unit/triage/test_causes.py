"""Causes: one name for one fault behind several APIs, whoever was met and in whatever order."""

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
from ciguard.triage import Buckets, cause_of, first_of_each_cause, is_cause_name, with_causes

TENSORFLOW = (Frame("tensorflow/python/ops/gen_math_ops.py", "foo"),)


def bucket(outcome: Outcome, api: str = "torch.fold", *arguments: str) -> Bucket:
    case = call(*map(LiteralValue, arguments), api=api)
    return Buckets().add(finding(outcome, case=case))


def check(api: str, line: int = 12, values: str = "3 vs. 1") -> Bucket:
    log = f"2026-01-31 10:00:00.1: F pool.cc:{line}] Check failed: dtype() == expected ({values})"
    return bucket(Crashed("SIGABRT", (), log), api)


def internal(message: str, api: str, *frames: Frame, words: tuple[str, ...] = ()) -> Bucket:
    return bucket(Errored("RuntimeError", message, frames), api, *words)


def changed(kind: str, detail: str, api: str, message: str = "") -> Bucket:
    met = finding(Rejected("TypeError", message), case=call(api=api))
    return Buckets().add(
        replace(
            met,
            oracle="differential",
            kind=kind,
            detail=detail,
            pair=PairKind.VERSION,
            targets=tuple(met.outcomes),
        )
    )


def test_one_failed_check_behind_two_apis_is_one_cause() -> None:
    one, other = check("torch.a"), check("torch.b", 99, "7 vs. 9")

    assert cause_of(one) == cause_of(other)
    assert cause_of(one).words == "failed check: pool.cc: dtype() == expected"
    assert one.fingerprint != other.fingerprint


def applied(name: str, line: str) -> Bucket:
    log = f"F0131 10:00:00.1 tensor.cc:{line}] Check failed: dtype() == expected (3 vs. 1)"
    met = bucket(Crashed("SIGABRT", (), log), f"tensorflow.raw_ops.{name}")
    words = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    place = f"tensorflow/python/ops/gen_training_ops.py:{words}"
    return replace(met, grouping=(*met.grouping, ("stack", place)))


def test_a_check_that_every_kernel_passes_through_tells_families_apart() -> None:
    one, other = applied("ResourceApplyFtrl", "12"), applied("ResourceSparseApplyAdagrad", "12")
    gather = applied("ResourceGatherNd", "12")

    assert cause_of(one) == cause_of(other) != cause_of(gather)
    assert cause_of(one).text == "tensor.cc: dtype() == expected in training: apply"


def test_the_name_of_a_shared_cause_can_be_told_from_a_fingerprint() -> None:
    assert is_cause_name(cause_of(check("torch.a")).name)
    assert not is_cause_name(bucket(Crashed("SIGSEGV")).fingerprint)
    assert not any(map(is_cause_name, ["", "g1:0", "g1:0123456789abcdef/..", "g01:" + "0" * 16]))


def test_one_bucket_of_each_cause_comes_before_the_others() -> None:
    alone = bucket(Crashed("SIGSEGV"), "torch.fold")
    listed = [check("torch.a"), check("torch.b"), alone, check("torch.c")]

    ordered = first_of_each_cause(listed)

    assert [each.finding.api for each in ordered] == ["torch.a", "torch.fold", "torch.b", "torch.c"]


def test_another_check_of_the_same_file_is_another_cause() -> None:
    other = bucket(
        Crashed("SIGABRT", (), "F0131 10:00:00.1 pool.cc:12] Check failed: n > 0 (0 vs. 0)")
    )

    assert cause_of(other) != cause_of(check("torch.a"))


def test_an_internal_assertion_of_torch_names_its_file() -> None:
    texts = [
        f'op.is_output INTERNAL ASSERT FAILED at "../aten/src/ATen/TensorIterator.cpp":{line}, '
        "please report a bug to PyTorch. "
        for line in (120, 150)
    ]
    one, other = (internal(text, f"torch.{name}") for text, name in zip(texts, "ab", strict=True))

    assert cause_of(one) == cause_of(other)
    assert cause_of(one).text == "TensorIterator.cpp: op.is_output"


def test_silent_deaths_are_joined_by_their_innermost_native_frames() -> None:
    stack = tuple(Frame("libtorch_cpu.so", f"at::native::{name}") for name in ("a", "b", "c"))
    one = replace(bucket(Crashed("SIGSEGV"), "torch.a"), native_stack=stack)
    other = replace(bucket(Crashed("SIGSEGV"), "torch.b"), native_stack=stack[:2])
    stranger = replace(bucket(Crashed("SIGSEGV"), "torch.c"), native_stack=stack[1:])

    assert cause_of(one) == cause_of(other) != cause_of(stranger)
    assert cause_of(bucket(Crashed("SIGSEGV"), "torch.a")).kind == "memory corruption in operator"


def test_a_function_that_raises_joins_what_it_refuses_with_the_same_words() -> None:
    helper = Frame("keras/src/initializers/common.py", "shape_of")
    one, other = (
        internal("'NoneType' object has no attribute 'shape'", f"keras.{name}", helper)
        for name in ("a", "b")
    )
    elsewhere = replace(helper, function="other")

    assert cause_of(one).kind == "raising function"
    assert cause_of(one) == cause_of(other)
    again = internal("'NoneType' object has no attribute 'shape'", "keras.a", elsewhere)
    assert cause_of(again) != cause_of(one)


@given(st.text("abcdefgh", min_size=3, max_size=9), st.text("ijklmnop", min_size=3, max_size=9))
def test_words_of_the_case_are_no_part_of_a_message(one: str, other: str) -> None:
    found = {
        cause_of(internal(f"Unexpected mode in spec element: {word}", "torch.fold", words=(word,)))
        for word in (one, other)
    }

    assert len(found) == 1


def test_the_name_of_the_api_is_no_part_of_a_message() -> None:
    one = internal("bincount: only one-dimensional input is taken", "torch.bincount")
    other = internal("histc: only one-dimensional input is taken", "torch.histc")

    assert cause_of(one) == cause_of(other)


def test_a_message_of_two_words_joins_nothing() -> None:
    one, other = internal("oops", "torch.a"), internal("oops", "torch.b")

    assert cause_of(one).name == one.fingerprint
    assert cause_of(other).name == other.fingerprint


def test_two_functions_that_call_one_operator_are_one_cause() -> None:
    one = bucket(Crashed("SIGFPE", TENSORFLOW), "tensorflow.foo")
    other = bucket(Crashed("SIGFPE", TENSORFLOW), "tensorflow.raw_ops.Foo")

    assert cause_of(replace(one, grouping=_of_tensorflow(one))) == cause_of(
        replace(other, grouping=_of_tensorflow(other))
    )


def _of_tensorflow(bucket: Bucket) -> tuple[tuple[str, str], ...]:
    kept = tuple(pair for pair in bucket.grouping if pair[0] != "stack")
    return (*kept, ("stack", "tensorflow/python/ops/gen_math_ops.py:foo"))


@pytest.mark.parametrize("other", ["torch.Tensor.polar", "torch.ops.aten.polar", "torch.polar_"])
def test_functions_of_torch_are_joined_by_the_operator_that_names_them(other: str) -> None:
    one = bucket(Crashed("SIGSEGV"), "torch.polar")

    assert cause_of(one) == cause_of(bucket(Crashed("SIGSEGV"), other))
    assert cause_of(one).words == "memory corruption in operator: polar"


@pytest.mark.parametrize("other", ["torch.nn.Polar", "torch.polygamma", "torch.masked.polar"])
def test_functions_of_other_names_and_modules_are_not(other: str) -> None:
    one, second = bucket(Crashed("SIGSEGV"), "torch.polar"), bucket(Crashed("SIGSEGV"), other)

    assert cause_of(one) != cause_of(second)


def test_a_check_that_says_false_joins_no_two_operators() -> None:
    text = 'false INTERNAL ASSERT FAILED at "../aten/src/ATen/BatchLinearAlgebra.cpp":1, please '
    one, alias, other = (
        cause_of(internal(text, api)) for api in ("torch.eig", "torch.linalg.eig", "torch.svd")
    )

    assert one == alias != other


def test_what_the_standard_library_says_joins_no_two_operators() -> None:
    text = "cannot create std::vector larger than max_size()"

    assert cause_of(internal(text, "torch.a")) != cause_of(internal(text, "torch.b"))
    assert cause_of(internal(text, "torch.a")) == cause_of(internal(text, "torch.Tensor.a"))


def test_a_death_by_an_exception_of_cpp_is_not_told_apart_by_the_python_above_it() -> None:
    log = (
        "terminate called after throwing an instance of 'absl::Bad'\n  what():  overflow in extent"
    )
    one, other = (
        bucket(Crashed("SIGABRT", (Frame("lib/ops.py", name),), log), f"torch.{name}")
        for name in ("repeat", "empty")
    )

    assert cause_of(one) == cause_of(other)
    assert cause_of(one).kind == "message"


def test_what_a_dispatcher_raises_is_about_the_operator_that_ran() -> None:
    frame = Frame("jax/_src/dispatch.py", "apply_primitive")
    one, other = (internal("invalid tensor dimension size", f"jax.lax.{n}", frame) for n in "ab")

    assert cause_of(one) != cause_of(other)


def test_none_for_a_tensor_is_one_cause_however_an_operator_fails_by_it() -> None:
    dead = bucket(Crashed("SIGSEGV"), "torch.ops.aten.copy")
    failed = internal("op.is_output INTERNAL ASSERT FAILED", "torch.ops.aten.mish_backward")
    undefined = [
        replace(one, finding=replace(one.finding, evidence=Evidence(undefined="self")))
        for one in (dead, failed)
    ]

    assert cause_of(dead) != cause_of(failed)
    assert cause_of(undefined[0]) == cause_of(undefined[1])
    assert cause_of(undefined[0]).kind == "undefined tensor"


def test_a_class_that_changed_in_a_module_is_one_cause() -> None:
    one, other = (changed("exception", "RuntimeError vs TypeError", f"torch.nn.{n}") for n in "ab")
    elsewhere = changed("exception", "RuntimeError vs TypeError", "torch.fft.a")

    assert cause_of(one) == cause_of(other) != cause_of(elsewhere)
    assert cause_of(one).words == "exception class changed: RuntimeError vs TypeError in torch.nn"


def test_what_one_api_computes_in_other_types_is_one_cause() -> None:
    one, other = (
        changed("dtype", f"float32 vs {name}", "torch.gelu") for name in ("int32", "bool")
    )

    assert one.fingerprint != other.fingerprint
    assert cause_of(one) == cause_of(other)
    assert cause_of(changed("values", "", "torch.gelu")) != cause_of(one)


@given(st.permutations([check("torch.a"), check("torch.b"), internal("oops", "torch.c")]))
def test_the_order_decides_nothing(buckets: list[Bucket]) -> None:
    named = {b.fingerprint: b.cause for b in with_causes(buckets)}

    causes = {b.fingerprint: cause_of(b) for b in buckets}
    assert named == {name: None if c.name == name else c for name, c in causes.items()}


@pytest.mark.parametrize("cause", [None, Cause(name="g1:0", kind="message", text="x")])
def test_a_cause_survives_json(cause: Cause | None) -> None:
    assert cause_from_json(cause_to_json(cause)) == cause


@pytest.mark.parametrize("encoded", [[], {}, {"name": 1, "kind": "", "text": ""}, "g1:0"])
def test_what_is_no_cause_is_refused(encoded: object) -> None:
    with pytest.raises(ValueError, match=r"cause"):
        cause_from_json(encoded)
