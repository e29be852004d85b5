"""What the outcomes of guided calls show of the arguments that an API accepts."""

from __future__ import annotations

import pytest
from admission import Admission, stated
from evidence import Evidence

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import TensorValue, Uniform, Value
from ciguard.knowledge import understand

NAMES = ("input", "other")
RECORD = ApiRecord(
    api="torch.f",
    kind=CallKind.FUNCTION,
    parameters=tuple(ParameterRecord(name=n, schema_type="Tensor") for n in NAMES),
)
PASSED = Passed(b"", 0.0)
REFUSED = Rejected("RuntimeError", "is not possible")


def tensor(*shape: int, dtype: str = "float32") -> TensorValue:
    return TensorValue(dtype, shape, Uniform(0, 0.0, 1.0))


def call(values: tuple[Value, ...], *, changed: str = "") -> ApiCall:
    return ApiCall(
        api=RECORD.api,
        kind=RECORD.kind,
        arguments=values,
        keywords=(),
        inputs=(),
        seed=0,
        intent=Intent.BOUNDARY if changed else Intent.CONFORMING,
        focus=changed,
    )


def evidence_of(*outcomes: tuple[tuple[Value, ...], str, Outcome], times: int = 10) -> Evidence:
    evidence = Evidence()
    for values, changed, outcome in outcomes * times:
        given = dict(zip(NAMES, values, strict=True))
        evidence.note(call(values, changed=changed), given, NAMES, outcome)
    return evidence


def refutation(evidence: Evidence, *values: Value) -> str:
    return evidence.refutation(dict(zip(NAMES, values, strict=True)))


def test_only_the_changed_argument_is_blamed() -> None:
    evidence = evidence_of(
        ((tensor(2), tensor(2)), "other", PASSED),
        ((tensor(2, dtype="int64"), tensor(3, 3)), "other", REFUSED),
    )

    assert refutation(evidence, tensor(2), tensor(4, 4))
    assert not refutation(evidence, tensor(2, dtype="int64"), tensor(2, dtype="int64"))


def test_what_explains_a_refusal_clears_the_other_traits() -> None:
    evidence = evidence_of(
        ((tensor(2), tensor(2)), "other", PASSED),
        ((tensor(2), tensor(3, dtype="int8")), "other", REFUSED),
        ((tensor(2), tensor(3, dtype="int16")), "other", REFUSED),
        ((tensor(2), tensor(3)), "other", REFUSED),
    )

    assert refutation(evidence, tensor(2), tensor(3))
    assert not refutation(evidence, tensor(2), tensor(2, dtype="int8"))


@pytest.mark.parametrize(
    ("message", "dtype", "is_refused"),
    [
        ("\"abs_cpu\" not implemented for 'UInt16'", "uint16", True),
        ("\"abs_cpu\" not implemented for 'UInt16'", "uint64", True),
        ("\"abs_cpu\" not implemented for 'Float'", "float32", False),
        ("clamp is not supported for complex types", "complex128", True),
        ("\"abs_cpu\" not implemented for 'UInt16'", "int8", False),
    ],
)
def test_dtype_without_kernel_is_refused_with_those_that_share_it(
    message: str, dtype: str, *, is_refused: bool
) -> None:
    evidence = evidence_of(
        ((tensor(2), tensor(2)), "other", PASSED),
        ((tensor(2), tensor(2)), "input", Rejected("NotImplementedError", message)),
        times=1,
    )

    assert bool(refutation(evidence, tensor(2, dtype=dtype), tensor(2))) is is_refused


@pytest.mark.parametrize(
    ("passing", "failing"),
    [
        (tensor(2, 2), tensor(2, 3)),
        (tensor(4, 3), tensor(4, 5)),
        (tensor(1, 1), tensor(1, 0)),
    ],
    ids=["square", "last", "elements"],
)
def test_sizes_with_which_no_call_passed_are_refused(passing: Value, failing: Value) -> None:
    evidence = evidence_of(
        ((passing, tensor(2)), "input", PASSED), ((failing, tensor(2)), "input", REFUSED)
    )

    assert not refutation(evidence, passing, tensor(2))
    assert refutation(evidence, failing, tensor(2))


def test_api_of_which_no_call_passed_is_refused() -> None:
    evidence = evidence_of(((tensor(2), tensor(2)), "", REFUSED), times=40)

    assert refutation(evidence, tensor(5), tensor(5))


def test_excluded_argument_is_admitted_if_calls_passed_with_its_traits() -> None:
    parameters = (ParameterRecord(name="input", schema_type="Tensor", dtypes=("float32",)),)
    api = stated(understand(ApiRecord(api="torch.f", kind=RECORD.kind, parameters=parameters)))
    evidence = Evidence()
    for dtype in ("float32", "int32"):
        values = (tensor(2, dtype=dtype),)
        evidence.note(call(values, changed="input"), {"input": values[0]}, ("input",), PASSED)
    admission = Admission(api, evidence=evidence)

    assert not admission.refusal(call((tensor(3, dtype="int32"),)))
    assert admission.refusal(call((tensor(3, dtype="int64"),)))
    assert admission.refusal(call((tensor(3, 3, dtype="int32"),)))
