"""Differences between equivalent calls of several libraries."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from outcome_examples import passed

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Crashed, Outcome, Passed, Rejected, Stage
from ciguard.domain.values import Constant, LiteralValue, Special, TensorValue
from ciguard.oracles import Identity, Subject, encode_for_target, is_expressible, judge
from ciguard.oracles.across_libraries import call_for_target
from ciguard.oracles.relations import encode

TORCH, TF, JAX, KERAS = "torch==2.13.0", "tensorflow==2.21.0", "jax==0.10.2", "keras==3.15.1 + jax"
X = TensorValue("float32", (2,), Constant(1.0))
ENGINES = {TORCH: "torch", TF: "tensorflow", JAX: "jax", KERAS: "jax"}


def identity(name: str) -> Identity:
    return Identity(
        request=name,
        packages=(),
        version="1",
        device="cpu",
        library=name.partition("=")[0],
        engine=ENGINES[name],
    )


def subject(*names: str, library: str = "torch", tags: tuple[str, ...] = ()) -> Subject:
    return Subject(
        library=library,
        api="torch.cumsum",
        tags=frozenset(tags),
        targets={name: identity(name) for name in names},
    )


def case(x: TensorValue = X, api: str = "torch.sum") -> ApiCall:
    return ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(x,))


def findings_of(outcomes: dict[str, Outcome], api_call: ApiCall | None = None) -> list[Finding]:
    return judge(api_call or case(), outcomes, subject(*outcomes))


def tensor(array: np.ndarray) -> Passed:
    data = base64.b64encode(array.tobytes()).decode()
    return Passed(json.dumps(["T", str(array.dtype), list(array.shape), data]).encode(), 0.1)


# --- what may differ ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (passed(1.0, dtype="float32"), passed(1.00001, dtype="float64")),
        (passed(3, dtype="int64"), passed(3, dtype="int32")),
        (passed(2**40, dtype="int64"), passed(0, dtype="int32")),
        (passed(3, dtype="int64"), passed(4.0, dtype="float32")),
        (passed(1, dtype="bool"), passed(0, dtype="int32")),
        (tensor(np.array(2.0, dtype=np.float32)), passed(2.0)),
        (passed(float("inf")), passed(3.3e38)),
        (passed(1.0), Rejected("ValueError", "no")),
        (passed(1.0), Passed(b'["f","2.0"]', 0.1)),
    ],
)
def test_differences_in_types_rejections_and_overflow_are_not_findings(
    first: Outcome, second: Outcome
) -> None:
    assert findings_of({TORCH: first, JAX: second}) == []


def test_nan_arguments_and_random_results_are_not_compared() -> None:
    outcomes: dict[str, Outcome] = {TORCH: passed(1.0), JAX: passed(2.0)}

    assert findings_of(outcomes)
    assert findings_of(outcomes, case(replace(X, fill=Special(1)))) == []
    assert judge(case(), outcomes, subject(*outcomes, tags=("random",))) == []


def test_a_missing_dimension_is_reported_as_a_shape_difference() -> None:
    (finding,) = findings_of(
        {TORCH: tensor(np.ones((1, 1), np.float32)), JAX: tensor(np.ones((), np.float32))}
    )

    assert finding.kind == "shape"
    assert "[1, 1] vs []" in finding.message or "[] vs [1, 1]" in finding.message


# --- who is blamed --------------------------------------------------------------------------------


def test_a_difference_between_two_libraries_has_low_severity() -> None:
    (finding,) = findings_of({TORCH: passed(1.0), JAX: passed(2.0)})

    assert finding.pair is PairKind.LIBRARY
    assert finding.severity is Severity.LOW
    assert {finding.api, *finding.message.split()} >= {"torch.sum", "jax.numpy.sum"}
    assert "1 vs 2" in finding.message or "2 vs 1" in finding.message


def test_the_library_that_all_others_disagree_with_is_blamed_with_its_own_call() -> None:
    (finding,) = findings_of({TORCH: passed(1.0), TF: passed(2.0), JAX: passed(1.0)})

    assert finding.library == "tensorflow"
    assert finding.api == finding.case.api == "tensorflow.reduce_sum"
    assert finding.targets == (TORCH, TF)
    assert finding.severity is Severity.MEDIUM


def test_a_nan_difference_has_low_severity_even_if_several_libraries_agree() -> None:
    (finding,) = findings_of({TORCH: passed(1.0), TF: passed(float("nan")), JAX: passed(1.0)})

    assert (finding.kind, finding.library) == ("nan", "tensorflow")
    assert finding.severity is Severity.LOW


def test_keras_and_its_backend_have_one_vote() -> None:
    (finding,) = findings_of({TORCH: passed(1.0), JAX: passed(2.0), KERAS: passed(2.0)})

    assert finding.severity is Severity.LOW


def test_keras_is_blamed_if_only_its_results_deviate() -> None:
    outcomes: dict[str, Outcome] = {
        TORCH: passed(1.0), TF: passed(1.0), JAX: passed(2.0), KERAS: passed(2.0)
    }  # fmt: skip

    (finding,) = findings_of(outcomes)

    assert (finding.library, finding.severity) == ("jax", Severity.MEDIUM)


def test_no_library_is_outvoted_if_all_disagree() -> None:
    (finding,) = findings_of({TORCH: passed(1.0), TF: passed(2.0), JAX: passed(3.0)})

    assert finding.severity is Severity.LOW


@pytest.mark.parametrize(("wrong", "count"), [(TF, 2), (TORCH, 2), (TORCH, 3), (TF, 3), (JAX, 3)])
def test_a_finding_is_stable_when_its_own_case_is_judged(wrong: str, count: int) -> None:
    names = {TORCH, wrong, *((TF, JAX) if count > 2 else (TF,))}
    outcomes: dict[str, Outcome] = {
        name: passed(2.0 if name == wrong else 1.0) for name in sorted(names, reverse=True)
    }
    (first,) = findings_of(outcomes)

    again = judge(first.case, first.outcomes, subject(*outcomes, library=first.library))

    assert again == [first]


# --- the calls ------------------------------------------------------------------------------------


def test_every_target_gets_the_call_of_its_own_library() -> None:
    both = subject(TORCH, JAX)

    assert encode_for_target(TORCH, case(), both) == encode(case())
    assert encode_for_target(JAX, case(), both) == encode(case(api="jax.numpy.sum"))
    assert is_expressible(case(), (TORCH, JAX), both)


def test_a_call_without_an_equivalent_is_not_sent() -> None:
    both, odd = subject(TORCH, JAX), case(replace(X, dtype="float16"))

    assert call_for_target(JAX, odd, both) is None
    assert not is_expressible(odd, (TORCH, JAX), both)
    with pytest.raises(ValueError, match="no equivalent"):
        encode_for_target(JAX, odd, both)


def test_targets_of_one_library_run_a_case_unchanged() -> None:
    odd = case(replace(X, dtype="float16"), api="torch.linalg.inv")

    assert is_expressible(odd, (TORCH,), subject(TORCH))
    assert encode_for_target(TORCH, odd, subject(TORCH)) == encode(odd)


# --- two backends of Keras ------------------------------------------------------------------------

ON_TORCH, ON_JAX = "keras==3.15.1 + torch", "keras==3.15.1 + jax"


def between_backends(
    first: Outcome,
    second: Outcome,
    *,
    api: str = "keras.ops.sum",
    intent: Intent = Intent.CONFORMING,
    call: ApiCall | None = None,
) -> list[Finding]:
    targets = {
        name: replace(
            identity(KERAS), request=name, packages=(engine,), library="keras", engine=engine
        )
        for name, engine in ((ON_TORCH, "torch"), (ON_JAX, "jax"))
    }
    tested_call = call or replace(case(api=api), intent=intent)
    tested = Subject(library="keras", api=tested_call.api, targets=targets)
    return judge(tested_call, {ON_TORCH: first, ON_JAX: second}, tested)


def test_backends_must_return_the_same_values_and_shapes() -> None:
    (finding,) = between_backends(passed(1.0), passed(2.0))

    assert finding.pair is PairKind.BACKEND
    assert finding.severity is Severity.HIGH


def test_a_different_container_type_keeps_its_severity() -> None:
    (finding,) = between_backends(passed(1.0), Passed(b'["i","1"]', 0.1))

    assert (finding.kind, finding.severity) == ("structure", Severity.HIGH)


@pytest.mark.parametrize(
    ("api", "is_left_open"), [("keras.ops.bartlett", True), ("keras.ops.sum", False)]
)
def test_shapes_left_to_backends_are_exempted(api: str, *, is_left_open: bool) -> None:
    findings_of = between_backends(passed(1.0), passed(1.0, 2.0), api=api)

    assert [f.kind for f in findings_of] == ([] if is_left_open else ["shape"])


def test_different_exception_classes_of_backends_are_not_findings() -> None:
    assert between_backends(Rejected("ValueError", "no"), Rejected("TypeError", "no")) == []
    refused = Rejected("ValueError", "no")
    assert between_backends(passed(1.0), refused, intent=Intent.BOUNDARY) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (passed(1.0), Rejected("ValueError", "no")),
        (passed(1, dtype="int64"), passed(1, dtype="int32")),
        (passed(1.0, dtype="float64"), passed(1.0, dtype="float32")),
        (passed(1.0), passed(float("nan"))),
        (passed(1.0), Passed(b'["O","BCOO"]', 0.1)),
        (Passed(b'["O","function"]', 0.1), Passed(b'["O","Bind"]', 0.1)),
    ],
)
def test_differences_left_to_backends_have_low_severity(first: Outcome, second: Outcome) -> None:
    (finding,) = between_backends(first, second)

    assert finding.severity is Severity.LOW


def test_an_exempted_api_is_not_compared_between_backends() -> None:
    assert between_backends(passed(1.0), passed(2.0), api="keras.ops.svd") == []
    assert between_backends(passed(1.0), passed(2.0, 1.0), api="keras.ops.svd")


@pytest.mark.parametrize(
    ("api", "severity"),
    [
        ("keras.ops.max", Severity.MEDIUM),
        ("keras.ops.sort", Severity.LOW),
        ("keras.ops.inverse", None),
    ],
)
def test_special_elements_are_compared_between_backends_in_orders_too(
    api: str, severity: Severity | None
) -> None:
    found = between_backends(passed(1.0), passed(2.0), api=api, intent=Intent.SPECIAL)

    assert [finding.severity for finding in found] == [severity] * (severity is not None)


def test_a_refusal_of_special_elements_by_one_backend_is_low() -> None:
    refused = Rejected("IndexError", "no")

    (finding,) = between_backends(passed(1.0), refused, intent=Intent.SPECIAL)

    assert (finding.kind, finding.severity) == ("refused", Severity.LOW)


NO_KERNEL = Rejected(
    "NotFoundError", "Could not find device for node: {{node Abs}} = Abs[T=DT_INT8]"
)
REFUSED = Rejected("ValueError", "no")


@pytest.mark.parametrize("intent", [Intent.BOUNDARY, Intent.VIOLATING, Intent.SPECIAL])
@pytest.mark.parametrize(
    ("outcomes", "found"),
    [
        ((passed(1.0), passed(1.0), REFUSED), [("a", "c", "refused", Severity.LOW)]),
        ((REFUSED, passed(1.0), passed(1.0)), [("b", "a", "refused", Severity.LOW)]),
        ((passed(1.0), passed(1.0), NO_KERNEL), [("a", "c", "refused", Severity.INFO)]),
        (
            (passed(1.0), REFUSED, Rejected("TypeError", "no")),
            [("b", "a", "accepted", Severity.INFO)],
        ),
        ((REFUSED, NO_KERNEL, Rejected("TypeError", "no")), []),
    ],
    ids=["last refuses", "first refuses", "lacks a kernel", "first accepts", "all refuse"],
)
def test_the_odd_one_of_three_backends_refuses_or_accepts_a_boundary_call(
    outcomes: tuple[Outcome, ...], found: list[tuple[str, str, str, Severity]], intent: Intent
) -> None:
    tested = on_three_backends()
    boundary = replace(case(api="keras.ops.sum"), intent=intent)

    findings = judge(boundary, dict(zip("abc", outcomes, strict=True)), tested)

    assert [(*f.targets, f.kind, f.severity) for f in findings] == found


@pytest.mark.parametrize(
    "third",
    [Crashed("SIGSEGV"), Rejected("ValueError", "no such dtype", Stage.BUILD)],
    ids=["crash", "argument cannot be built"],
)
def test_one_against_one_is_left_to_backends(third: Outcome) -> None:
    boundary = replace(case(api="keras.ops.sum"), intent=Intent.BOUNDARY)
    outcomes: dict[str, Outcome] = {"a": passed(1.0), "b": REFUSED, "c": third}

    findings = judge(boundary, outcomes, on_three_backends())

    assert [f for f in findings if f.oracle == "differential"] == []


def on_three_backends() -> Subject:
    targets = {
        name: replace(identity(KERAS), packages=(engine,), library="keras", engine=engine)
        for name, engine in (("a", "torch"), ("b", "jax"), ("c", "tensorflow"))
    }
    return Subject(library="keras", api="keras.ops.sum", targets=targets)


@pytest.mark.parametrize(("lower", "kinds"), [(0, ["values"]), (2, [])])
def test_calls_that_meet_a_precondition_are_compared(lower: int, kinds: list[str]) -> None:
    arguments = tuple(map(LiteralValue, (3, lower, 1)))
    met = replace(case(api="keras.ops.clip"), arguments=arguments)

    found = between_backends(passed(1.0), passed(2.0), call=met)

    assert [finding.kind for finding in found] == kinds


@pytest.mark.parametrize(
    ("number", "severity"), [(2**24, Severity.MEDIUM), (2**31 - 1, Severity.LOW)]
)
def test_integers_beyond_single_precision_are_left_to_backends(
    number: int, severity: Severity
) -> None:
    tensor = TensorValue("int32", (2,), Constant(number))
    special = replace(case(tensor, api="keras.ops.sum"), intent=Intent.SPECIAL)

    (finding,) = between_backends(passed(1.0), passed(2.0), call=special)

    assert finding.severity is severity
