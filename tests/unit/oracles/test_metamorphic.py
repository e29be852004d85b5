"""Metamorphic relations and their oracle."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcome_examples import NEW, OLD, subject

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import case_from_json, case_to_json
from ciguard.domain.outcomes import Passed
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import (
    CallValue,
    Constant,
    DtypeValue,
    LiteralValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
    value_from_json,
)
from ciguard.execution import Container, TensorOutput
from ciguard.libraries import NO_KERNEL, NONDETERMINISTIC, OPEN_INDICES, OPEN_VALUES
from ciguard.oracles.between_backends import SHAPE_BETWEEN_BACKENDS, SPECIAL_ELEMENTS
from ciguard.oracles.between_devices import (
    BETWEEN_DEVICES,
    FIRST_BETWEEN_DEVICES,
    INCOMPLETE_BETWEEN_DEVICES,
)
from ciguard.oracles.comparing.tolerance import NO_INPUTS
from ciguard.oracles.differential import (
    BETWEEN_MODES,
    RANDOM_SHAPE,
    REFUSED_BY_MODES,
    SHAPE_BEYOND_RANGE,
    SPECIAL_ELEMENTS_BETWEEN_BACKENDS,
    DifferentialOracle,
)
from ciguard.oracles.metamorphic import MetamorphicOracle
from ciguard.oracles.relations import RELATIONS, ObservedPair, encode, relations_of
from ciguard.oracles.relations.contract import exemptions


def tensor(*shape: int, dtype: str = "float32") -> TensorValue:
    return TensorValue(dtype, shape, Uniform(5, 0.5, 3.0))


def call(
    api: str,
    *arguments: Value,
    relation: str = "",
    kind: CallKind = CallKind.FUNCTION,
    keywords: tuple[tuple[str, Value], ...] = (),
) -> ApiCall:
    return ApiCall(
        api=api, kind=kind, arguments=arguments, keywords=keywords, seed=7, relation=relation
    )


def record(api: str, *parameters: str, kind: CallKind = CallKind.FUNCTION) -> ApiRecord:
    parameter_records = tuple(ParameterRecord(name=name) for name in parameters)
    return ApiRecord(api=api, kind=kind, parameters=parameter_records)


def twin_of(case: ApiCall, relation: str) -> Value | None:
    return RELATIONS.get(relation).twin(case)


def array(*elements: float, dtype: str = "float32") -> TensorOutput:
    return TensorOutput(dtype, (len(elements),), np.array(elements, dtype=dtype))


def encoded_array(*elements: float) -> list[Any]:
    data = base64.b64encode(np.array(elements, dtype="float32").tobytes()).decode()
    return ["T", "float32", [len(elements)], data]


def outcome_with_twin(first: list[Any], *twin: Any) -> Passed:
    """Return the outcome of a call and its twin, as a worker writes it."""
    words = [["s", "returned"], twin[0]] if len(twin) == 1 else [["s", word] for word in twin]
    ended = ["L", "list", words, len(words)]
    return Passed(json.dumps(["L", "list", [first, ended], 2]).encode(), 0.1)


SAME = call("torch.fold", tensor(2), relation="same call twice")


def test_a_case_is_encoded_with_its_twin_only_if_it_has_a_relation() -> None:
    alone = json.loads(encode(replace(SAME, relation="")))
    related = json.loads(encode(SAME))

    assert alone == case_to_json(replace(SAME, relation=""))
    assert related[:9] == case_to_json(SAME)
    assert related[9] == "result"
    assert value_from_json(related[10]) == CallValue("torch.fold", (tensor(2),))


def test_a_case_keeps_its_relation_in_json() -> None:
    assert case_from_json(case_to_json(SAME)) == SAME


def test_a_relation_that_does_not_apply_encodes_the_call_alone() -> None:
    without = call("torch.fold", LiteralValue(1), relation="strided memory")

    assert len(json.loads(encode(without))) == 9


def test_every_relation_has_a_statement_and_a_source() -> None:
    for relation in RELATIONS.items().values():
        assert relation.law.endswith(".")
        assert relation.source
        assert relation.every >= 1


def test_an_exempted_api_has_no_relation() -> None:
    names = {relation.name for relation in relations_of(record("torch.empty_like"), ())}

    assert names == set()
    assert "same call twice" in {r.name for r in relations_of(record("torch.relu"), ())}


def test_every_exemption_has_a_reason_and_names_relations_that_exist() -> None:
    for exemption in exemptions():
        assert len(exemption.reason) > 20
        known = {
            *RELATIONS.items(),
            "differential",
            "between backends",
            BETWEEN_DEVICES,
            FIRST_BETWEEN_DEVICES,
            INCOMPLETE_BETWEEN_DEVICES,
            BETWEEN_MODES,
            REFUSED_BY_MODES,
            SHAPE_BETWEEN_BACKENDS,
            "across-libraries",
            SHAPE_BEYOND_RANGE,
            RANDOM_SHAPE,
            SPECIAL_ELEMENTS,
            SPECIAL_ELEMENTS_BETWEEN_BACKENDS,
        }
        assert any(fnmatchcase(name, exemption.relation) for name in known)


@pytest.mark.parametrize(
    ("api", "relation"),
    [
        ("torch.add_", "strided memory"),
        ("torch.nn.init.zeros_", "arguments stay as they are"),
        ("tensorflow.nn.relu", "strided memory"),
        ("torch.matmul", "broadcasting by hand"),
        ("jax.numpy.sin", "numeric gradient"),
    ],
)
def test_a_relation_does_not_apply_outside_of_its_scope(api: str, relation: str) -> None:
    assert relation not in {found.name for found in relations_of(record(api), ())}


def test_a_function_is_compared_with_its_existing_variants() -> None:
    names = ("torch.exp", "torch.Tensor.exp", "torch.Tensor.exp_")

    found = {relation.name for relation in relations_of(record("torch.exp", "input", "out"), names)}
    fewer = {relation.name for relation in relations_of(record("torch.exp", "input"), ())}

    assert {"function and method", "in place", "into out"} <= found
    assert not {"function and method", "in place", "into out"} & fewer


def test_a_batch_is_split_into_two_halves_that_are_concatenated() -> None:
    twin = twin_of(call("torch.relu", tensor(3, 2)), "batch in parts")

    assert isinstance(twin, CallValue)
    assert twin.function == "torch.cat"
    (parts, _) = twin.arguments
    counts = [part.arguments[0].arguments[-1] for part in parts.items]  # type: ignore[union-attr]
    assert counts == [LiteralValue(1), LiteralValue(2)]


@pytest.mark.parametrize(
    ("arguments", "keywords", "axes"),
    [
        ((), (), (0, 1)),
        ((), (("dim", LiteralValue(-1)),), (-1,)),
        ((), (("dim", TupleValue((LiteralValue(0), LiteralValue(1)))),), (0, 1)),
        ((), (("dim", LiteralValue(None)),), (0, 1)),
        ((LiteralValue(1),), (), (1,)),
        ((LiteralValue(value=True),), (), None),
        ((), (("dim", LiteralValue("n")),), None),
    ],
    ids=["all", "keyword", "several", "none", "by position", "a flag", "by name"],
)
def test_reduced_dimensions_are_reversed(
    arguments: tuple[Value, ...],
    keywords: tuple[tuple[str, Value], ...],
    axes: tuple[int, ...] | None,
) -> None:
    twin = twin_of(
        call("torch.sum", tensor(3, 2), *arguments, keywords=keywords), "reversed reduction"
    )

    if axes is None:
        assert twin is None
    else:
        assert isinstance(twin, CallValue)
        order = TupleValue(tuple(map(LiteralValue, axes)))
        assert twin.arguments[0] == CallValue("torch.flip", (tensor(3, 2), order))


def test_norm_of_a_matrix_is_no_norm_of_its_elements() -> None:
    dims = ("dim", TupleValue((LiteralValue(0), LiteralValue(1))))

    norm = call("torch.linalg.norm", tensor(3, 2), keywords=(dims,))

    assert twin_of(norm, "reversed reduction") is None


def test_vectors_have_one_order_in_memory() -> None:
    assert twin_of(call("torch.exp", tensor(3)), "permuted memory") is None
    assert twin_of(call("torch.exp", tensor(3, 2)), "permuted memory") is not None


def test_exemptions_from_one_layout_hold_for_all() -> None:
    names = {found.name for found in relations_of(record("torch.as_strided"), ())}

    assert not names & {"strided memory", "permuted memory", "shifted memory"}


def test_an_unbatched_image_is_not_a_batch() -> None:
    image = call("torch.conv2d", tensor(3, 5, 5), tensor(4, 3, 2, 2))

    assert twin_of(image, "batch in parts") is None


def test_operands_of_one_shape_have_no_broadcasting_twin() -> None:
    assert twin_of(call("torch.add", tensor(2), tensor(2)), "broadcasting by hand") is None
    assert twin_of(call("torch.add", tensor(2, 1), tensor(3)), "broadcasting by hand") is not None


def test_an_out_argument_disables_the_relation_of_kept_arguments() -> None:
    api_call = call("torch.exp", tensor(2), keywords=(("out", tensor(2)),))

    assert twin_of(api_call, "arguments stay as they are") is None
    assert twin_of(call("torch.exp", tensor(2)), "arguments stay as they are") == TupleValue(
        (tensor(2),)
    )


def test_gradients_are_not_checked_at_possible_kinks() -> None:
    kink = TensorValue("float32", (2,), Constant(0.0))

    assert twin_of(call("torch.relu", kink), "numeric gradient") is None
    assert twin_of(call("torch.relu", tensor(2)), "numeric gradient") is not None


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6))
def test_a_rounded_result_is_within_the_tolerance_of_the_exact_one(numbers: list[float]) -> None:
    exact = array(*numbers, dtype="float64")
    rounded = array(*numbers, dtype="float32")
    twin = Container("tuple", (), (exact, exact), 2)

    observed = ObservedPair(first=rounded, twin=twin, inputs=NO_INPUTS)

    assert RELATIONS.get("double precision").find_violation(observed) is None


def test_a_result_beyond_rounding_is_a_difference() -> None:
    exact = array(1.0, 2.0, dtype="float64")
    twin = Container("tuple", (), (exact, exact), 2)

    observed = ObservedPair(first=array(1.0, 2.01), twin=twin, inputs=NO_INPUTS)

    difference = RELATIONS.get("double precision").find_violation(observed)
    assert difference is not None
    assert difference.kind == "values"


def test_a_result_that_a_perturbation_changes_as_much_is_not_a_difference() -> None:
    twin = Container(
        "tuple", (), (array(1.0, 2.0, dtype="float64"), array(1.0, 2.001, dtype="float64")), 2
    )

    observed = ObservedPair(first=array(1.0, 2.01), twin=twin, inputs=NO_INPUTS)

    assert RELATIONS.get("double precision").find_violation(observed) is None


def test_a_result_whose_shape_a_perturbation_changes_is_not_compared() -> None:
    twin = Container(
        "tuple", (), (array(1.0, 2.0, dtype="float64"), array(1.0, 2.0, 3.0, dtype="float64")), 2
    )

    observed = ObservedPair(first=array(1.0, 2.01), twin=twin, inputs=NO_INPUTS)

    assert RELATIONS.get("double precision").find_violation(observed) is None


@pytest.mark.parametrize(
    ("shape", "kind"), [((0, 3), None), ((1, 3), "shape"), ((0, 4), "shape"), ((0,), "shape")]
)
def test_an_empty_batch_keeps_the_other_sizes(shape: tuple[int, ...], kind: str | None) -> None:
    first = TensorOutput("float32", (2, 3), np.zeros(6, "float32"))
    twin = TensorOutput("float32", shape, np.zeros(int(np.prod(shape)), "float32"))

    difference = RELATIONS.get("empty batch").find_violation(
        ObservedPair(first=first, twin=twin, inputs=NO_INPUTS)
    )

    assert (difference and difference.kind) == kind


@pytest.mark.parametrize(
    ("raised", "message", "is_reported"),
    [
        ("GradcheckError", "Jacobian mismatch for output 0", True),
        ("GradcheckError", "Numerical gradient for function expected to be zero", False),
        ("NotImplementedError", "no forward mode", False),
    ],
)
def test_a_missing_derivative_is_not_a_difference(
    raised: str, message: str, *, is_reported: bool
) -> None:
    observed = ObservedPair(
        first=array(1.0), twin=None, raised=raised, message=message, inputs=NO_INPUTS
    )

    assert (RELATIONS.get("numeric gradient").find_violation(observed) is not None) == is_reported


def test_the_same_difference_on_two_targets_is_one_finding() -> None:
    different = outcome_with_twin(encoded_array(1.0), encoded_array(2.0))

    (finding,) = MetamorphicOracle().judge(SAME, {OLD: different, NEW: different}, subject())

    assert finding.targets == (OLD, NEW)
    assert (finding.oracle, finding.kind, finding.detail) == (
        "metamorphic",
        "same call twice",
        "values",
    )


@pytest.mark.parametrize(
    "outcome",
    [
        outcome_with_twin(encoded_array(1.0), encoded_array(1.0)),
        outcome_with_twin(encoded_array(1.0), "raised", "ValueError", "no"),
        Passed(b'["i","3"]', 0.1),
        Passed(b"not written by a healthy worker", 0.1),
    ],
)
def test_equal_rejected_and_unreadable_results_are_not_findings(outcome: Passed) -> None:
    assert MetamorphicOracle().judge(SAME, {OLD: outcome}, subject()) == []


def test_an_unstable_api_has_no_metamorphic_finding() -> None:
    different = outcome_with_twin(encoded_array(1.0), encoded_array(2.0))

    assert MetamorphicOracle().judge(SAME, {OLD: different}, subject("unstable")) == []


@pytest.mark.parametrize(
    ("relation", "note", "is_judged"),
    [
        ("same call twice", NONDETERMINISTIC, False),
        ("same call twice", OPEN_VALUES, True),
        ("permuted memory", OPEN_VALUES, False),
        ("permuted memory", OPEN_INDICES, False),
        ("permuted memory", NONDETERMINISTIC, True),
        ("permuted memory", NO_KERNEL, True),
    ],
)
def test_relations_are_not_judged_on_devices_where_documentation_leaves_results_open(
    relation: str, note: str, *, is_judged: bool
) -> None:
    different = outcome_with_twin(encoded_array(1.0), encoded_array(2.0))
    tested = replace(subject(), on_devices=frozenset({note}))
    on_cpu, on_device = (
        MetamorphicOracle().judge(
            replace(SAME, relation=relation),
            {OLD: different},
            replace(tested, targets={OLD: replace(tested.targets[OLD], device=device)}),
        )
        for device in ("cpu", "cuda:0")
    )

    assert bool(on_device) is is_judged
    assert on_cpu


@given(st.sampled_from(sorted(RELATIONS.items())), st.booleans())
def test_a_twin_follows_from_the_call_alone(name: str, is_method: bool) -> None:  # noqa: FBT001 - drawn
    api = "torch.Tensor.add" if is_method else "torch.add"
    special = TensorValue("float32", (2,), Special(3))
    for arguments in ((tensor(2, 2), tensor(2)), (tensor(3), LiteralValue(2.0)), (special,), ()):
        case = call(api, *arguments, relation=name)
        relation = RELATIONS.get(name)
        if relation.applies(record(api, "input", "other", "out"), (api,)):
            assert relation.twin(case) == relation.twin(case)


def test_exempted_values_are_not_compared_between_targets() -> None:
    bare = replace(subject(), api="torch.ops.aten.slow_conv3d")
    outcomes = {OLD: Passed(json.dumps(encoded_array(1.0)).encode(), 0.1)}
    outcomes[NEW] = Passed(json.dumps(encoded_array(2.0)).encode(), 0.1)
    alone = replace(SAME, relation="")

    assert len(DifferentialOracle().judge(alone, outcomes, subject())) == 1
    assert DifferentialOracle().judge(alone, outcomes, bare) == []


def test_the_message_of_a_wrong_gradient_has_both_derivatives() -> None:
    message = (
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[0.5000]],\n       dtype=torch.float64)\n"
        "analytical:tensor([[0.3500]], dtype=torch.float64)\n\nThe above quantities"
    )
    pair = ObservedPair(
        first=array(1.0), twin=None, raised="GradcheckError", message=message, inputs=NO_INPUTS
    )

    difference = RELATIONS.get("numeric gradient").find_violation(pair)

    assert difference is not None
    assert difference.text == (
        "Jacobian mismatch for output 0 with respect to input 0: tensor([[0.5000]], "
        "dtype=torch.float64) by differences, tensor([[0.3500]], dtype=torch.float64) by the "
        "library"
    )


def test_a_call_with_a_dtype_argument_has_no_gradient_twin() -> None:
    rounding = call("torch.asarray", tensor(2), keywords=(("dtype", DtypeValue("float32")),))

    assert twin_of(rounding, "numeric gradient") is None


@given(
    st.sampled_from(sorted(RELATIONS.items())),
    st.sampled_from(["planted.double", "torch.bmm", "torch", "tensorflow.add", "jax.numpy.sin"]),
)
def test_a_stored_case_outside_of_a_relations_scope_runs_alone(name: str, api: str) -> None:
    for arguments in ((tensor(2, 2), tensor(2)), (tensor(3), LiteralValue(2.0)), ()):
        case = call(api, *arguments, relation=name)
        assert json.loads(encode(case))[:9] == case_to_json(case)


def test_a_call_with_a_second_batch_has_no_split_twin() -> None:
    wider = call("torch.clamp", tensor(2), tensor(3, 2))

    assert twin_of(wider, "batch in parts") is None
    assert twin_of(call("torch.bmm", tensor(2, 2, 2), tensor(2, 2, 2)), "batch reversed") is None
