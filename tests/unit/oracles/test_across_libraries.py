"""Equivalent calls of several libraries: what may differ, and who is blamed."""

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
from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.domain.values import Constant, Special, TensorValue
from ciguard.oracles import Identity, Subject, encode_on, is_expressible, judge
from ciguard.oracles.across_libraries import call_on
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


def found(outcomes: dict[str, Outcome], met: ApiCall | None = None) -> list[Finding]:
    return judge(met or case(), outcomes, subject(*outcomes))


def tensor(array: np.ndarray) -> Passed:
    data = base64.b64encode(array.tobytes()).decode()
    return Passed(json.dumps(["T", str(array.dtype), list(array.shape), data]).encode(), 0.1)


# --- what may differ ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
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
def test_types_widths_refusals_and_overflow_are_each_librarys_own(
    one: Outcome, other: Outcome
) -> None:
    assert found({TORCH: one, JAX: other}) == []


def test_nothing_is_said_of_nan_among_the_arguments_or_of_random_results() -> None:
    outcomes: dict[str, Outcome] = {TORCH: passed(1.0), JAX: passed(2.0)}

    assert found(outcomes)
    assert found(outcomes, case(replace(X, fill=Special(1)))) == []
    assert judge(case(), outcomes, subject(*outcomes, tags=("random",))) == []


def test_a_dimension_too_few_is_a_difference_told_as_it_is() -> None:
    (finding,) = found(
        {TORCH: tensor(np.ones((1, 1), np.float32)), JAX: tensor(np.ones((), np.float32))}
    )

    assert finding.kind == "shape"
    assert "[1, 1] vs []" in finding.message or "[] vs [1, 1]" in finding.message


# --- who is blamed --------------------------------------------------------------------------------


def test_of_two_libraries_neither_is_blamed_and_no_check_fails() -> None:
    (finding,) = found({TORCH: passed(1.0), JAX: passed(2.0)})

    assert finding.pair is PairKind.LIBRARY
    assert finding.severity is Severity.LOW
    assert {finding.api, *finding.message.split()} >= {"torch.sum", "jax.numpy.sum"}
    assert "1 vs 2" in finding.message or "2 vs 1" in finding.message


def test_the_library_that_all_others_disagree_with_is_blamed_by_its_own_call() -> None:
    (finding,) = found({TORCH: passed(1.0), TF: passed(2.0), JAX: passed(1.0)})

    assert finding.library == "tensorflow"
    assert finding.api == finding.case.api == "tensorflow.reduce_sum"
    assert finding.targets == (TORCH, TF)
    assert finding.severity is Severity.MEDIUM


def test_a_missing_number_is_of_low_severity_however_many_agree() -> None:
    (finding,) = found({TORCH: passed(1.0), TF: passed(float("nan")), JAX: passed(1.0)})

    assert (finding.kind, finding.library) == ("nan", "tensorflow")
    assert finding.severity is Severity.LOW


def test_keras_and_its_backend_have_one_vote() -> None:
    (finding,) = found({TORCH: passed(1.0), JAX: passed(2.0), KERAS: passed(2.0)})

    assert finding.severity is Severity.LOW


def test_a_backend_is_blamed_for_what_keras_does_with_it() -> None:
    outcomes: dict[str, Outcome] = {
        TORCH: passed(1.0), TF: passed(1.0), JAX: passed(2.0), KERAS: passed(2.0)
    }  # fmt: skip

    (finding,) = found(outcomes)

    assert (finding.library, finding.severity) == ("jax", Severity.MEDIUM)


def test_where_all_disagree_nobody_is_the_odd_one_out() -> None:
    (finding,) = found({TORCH: passed(1.0), TF: passed(2.0), JAX: passed(3.0)})

    assert finding.severity is Severity.LOW


@pytest.mark.parametrize(("wrong", "count"), [(TF, 2), (TORCH, 2), (TORCH, 3), (TF, 3), (JAX, 3)])
def test_a_finding_is_the_same_when_its_own_case_is_judged(wrong: str, count: int) -> None:
    names = {TORCH, wrong, *((TF, JAX) if count > 2 else (TF,))}
    outcomes: dict[str, Outcome] = {
        name: passed(2.0 if name == wrong else 1.0) for name in sorted(names, reverse=True)
    }
    (first,) = found(outcomes)

    again = judge(first.case, first.outcomes, subject(*outcomes, library=first.library))

    assert again == [first]


# --- the calls ------------------------------------------------------------------------------------


def test_every_target_is_sent_the_call_of_its_own_library() -> None:
    both = subject(TORCH, JAX)

    assert encode_on(TORCH, case(), both) == encode(case())
    assert encode_on(JAX, case(), both) == encode(case(api="jax.numpy.sum"))
    assert is_expressible(case(), (TORCH, JAX), both)


def test_what_another_library_cannot_say_is_not_sent_to_it() -> None:
    both, odd = subject(TORCH, JAX), case(replace(X, dtype="float16"))

    assert call_on(JAX, odd, both) is None
    assert not is_expressible(odd, (TORCH, JAX), both)
    with pytest.raises(ValueError, match="no equivalent"):
        encode_on(JAX, odd, both)


def test_targets_of_one_library_run_any_case_as_it_is() -> None:
    odd = case(replace(X, dtype="float16"), api="torch.linalg.inv")

    assert is_expressible(odd, (TORCH,), subject(TORCH))
    assert encode_on(TORCH, odd, subject(TORCH)) == encode(odd)


# --- two backends of Keras ------------------------------------------------------------------------

ON_TORCH, ON_JAX = "keras==3.15.1 + torch", "keras==3.15.1 + jax"


def between_backends(
    one: Outcome, other: Outcome, *, api: str = "keras.ops.sum", intent: Intent = Intent.CONFORMING
) -> list[Finding]:
    targets = {
        name: replace(
            identity(KERAS), request=name, packages=(engine,), library="keras", engine=engine
        )
        for name, engine in ((ON_TORCH, "torch"), (ON_JAX, "jax"))
    }
    of = Subject(library="keras", api=api, targets=targets)
    return judge(replace(case(api=api), intent=intent), {ON_TORCH: one, ON_JAX: other}, of)


def test_backends_must_come_to_the_same_values_and_shapes() -> None:
    (finding,) = between_backends(passed(1.0), passed(2.0))

    assert finding.pair is PairKind.BACKEND
    assert finding.severity is Severity.HIGH


def test_a_container_of_another_kind_weighs() -> None:
    (finding,) = between_backends(passed(1.0), Passed(b'["i","1"]', 0.1))

    assert (finding.kind, finding.severity) == ("structure", Severity.HIGH)


@pytest.mark.parametrize(
    ("api", "is_left_open"), [("keras.ops.bartlett", True), ("keras.ops.sum", False)]
)
def test_shapes_that_keras_leaves_to_its_backends_are_in_the_exemptions(
    api: str, *, is_left_open: bool
) -> None:
    found = between_backends(passed(1.0), passed(1.0, 2.0), api=api)

    assert [f.kind for f in found] == ([] if is_left_open else ["shape"])


def test_which_exception_a_backend_raises_is_its_own_business() -> None:
    assert between_backends(Rejected("ValueError", "no"), Rejected("TypeError", "no")) == []
    refused = Rejected("ValueError", "no")
    assert between_backends(passed(1.0), refused, intent=Intent.BOUNDARY) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (passed(1.0), Rejected("ValueError", "no")),
        (passed(1, dtype="int64"), passed(1, dtype="int32")),
        (passed(1.0, dtype="float64"), passed(1.0, dtype="float32")),
        (passed(1.0), passed(float("nan"))),
        (passed(1.0), Passed(b'["O","BCOO"]', 0.1)),
        (Passed(b'["O","function"]', 0.1), Passed(b'["O","Bind"]', 0.1)),
    ],
)
def test_what_keras_leaves_to_its_backends_is_of_low_severity(one: Outcome, other: Outcome) -> None:
    (finding,) = between_backends(one, other)

    assert finding.severity is Severity.LOW


def test_what_is_exempt_between_backends_is_not_compared() -> None:
    assert between_backends(passed(1.0), passed(2.0), api="keras.ops.svd") == []
    assert between_backends(passed(1.0), passed(2.0, 1.0), api="keras.ops.svd")
