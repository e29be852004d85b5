from __future__ import annotations

import pytest

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import CallValue, ListValue, value_from_json, value_to_json
from ciguard.knowledge import understand
from ciguard.knowledge.family_rules.tensorflow_handles import HANDLE_RULES
from ciguard.values import OneOf


def _handles(operator: str, parameter: str, kind: str, *, schema_type: str = "Tensor") -> OneOf:
    record = ApiRecord(
        api=f"tensorflow.raw_ops.{operator}",
        kind=CallKind.FUNCTION,
        source="opdef",
        parameters=(ParameterRecord(name=parameter, schema_type=schema_type, dtypes=(kind,)),),
    )
    constraint = understand(record).parameters[0].constraint
    assert isinstance(constraint, OneOf)
    return constraint


@pytest.mark.parametrize(
    ("operator", "parameter", "kind", "maker"),
    [
        ("TensorListPushBack", "input_handle", "variant", "TensorList"),
        ("TensorListConcatLists", "input_b", "variant", "TensorList"),
        ("BatchDatasetV2", "input_dataset", "variant", "Dataset"),
        ("RaggedTensorFromVariant", "encoded_ragged", "variant", "RaggedTensorToVariant"),
        ("CSRSparseMatrixToDense", "sparse_input", "variant", "CSRSparseMatrix"),
        ("OptionalGetValue", "optional", "variant", "Optional"),
        ("ResourceApplyAdam", "vhat", "resource", "Variable"),
        ("ResourceScatterNdAdd", "ref", "resource", "Variable"),
        ("ReadVariableOp", "resource", "resource", "Variable"),
        ("RngSkip", "resource", "resource", "Variable"),
        ("TensorArrayReadV3", "handle", "resource", "TensorArrayV3"),
        ("ResourceAccumulatorApplyGradient", "handle", "resource", "Accumulator"),
    ],
)
def test_most_handles_are_of_the_kind_that_the_operation_expects(
    operator: str, parameter: str, kind: str, maker: str
) -> None:
    values = _handles(operator, parameter, kind).values

    right = [value for value in values if maker in repr(value)]
    assert all(isinstance(value, CallValue) for value in values)
    assert 0.6 < len(right) / len(values) < 1


def test_a_list_of_handles_is_a_list_and_sometimes_empty() -> None:
    constraint = _handles("ZipDataset", "input_datasets", "variant", schema_type="list(Tensor)")

    assert all(isinstance(value, ListValue) for value in constraint.values)
    assert ListValue(()) in constraint.values


def test_every_handle_of_the_rules_has_a_json_form() -> None:
    handles = [
        value
        for _, parameters in HANDLE_RULES
        for fields in parameters.values()
        for value in fields.get("allowed", ())
    ]

    assert len(handles) > 100
    for value in handles:
        assert value_from_json(value_to_json(value)) == value
