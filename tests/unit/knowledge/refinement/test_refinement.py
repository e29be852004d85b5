from __future__ import annotations

import json
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.outcomes import Crashed, Outcome, Passed, Rejected, Stage
from ciguard.domain.records import ParameterKind, record_from_json
from ciguard.domain.values import LiteralValue, TensorValue, Uniform, Value
from ciguard.errors import ConstraintsFileError
from ciguard.knowledge import (
    Experience,
    experience_from_json,
    experience_lines,
    read_experience,
    refined,
    refinements,
    understand,
)
from ciguard.values import AnyOf, OneOf, Tensor

RECORD = record_from_json(
    {
        "api": "lib.f",
        "kind": "function",
        "parameters": [
            {"name": "x", "schema_type": "Tensor"},
            {"name": "y", "schema_type": "Tensor"},
            {"name": "mode", "schema_type": "str", "required": False},
        ],
    }
)
API = understand(RECORD)
NAMES = ("x", "y", "mode")
PASSED, REJECTED = Passed(b"", 0.0), Rejected("ValueError", "no")


def tensor(*shape: int, dtype: str = "float32") -> TensorValue:
    return TensorValue(dtype, shape, Uniform(0, 0.0, 1.0))


Observation: TypeAlias = tuple[dict[str, Value], Outcome]


def experience(*calls: Observation) -> Experience:
    summary = Experience()
    for values, outcome in calls:
        summary.note(values, NAMES, outcome)
    return summary


def dtypes(summary: Experience, name: str = "x") -> set[str]:
    (parameter,) = [p for p in refined(API, summary).parameters if p.name == name]
    options = parameter.constraint
    parts = [c for _, c in options.options] if isinstance(options, AnyOf) else [options]
    return {dtype for part in parts if isinstance(part, Tensor) for dtype in part.dtypes}


def test_a_choice_that_is_always_rejected_is_no_longer_drawn() -> None:
    good: Observation = ({"x": tensor(2), "y": tensor(2)}, PASSED)
    bad: Observation = ({"x": tensor(2, dtype="bool"), "y": tensor(2)}, REJECTED)

    assert "bool" in dtypes(Experience())
    assert "bool" not in dtypes(experience(*[good, bad] * 16))
    assert "float32" in dtypes(experience(*[good, bad] * 16))


def test_listed_dtypes_are_applied_even_if_nearly_all_calls_pass() -> None:
    good: Observation = ({"x": tensor(2), "y": tensor(2)}, PASSED)
    message = "Value for attr 'T' of bool is not in the list of allowed values: float, double"
    refused: Observation = (
        {"x": tensor(2, dtype="bool"), "y": tensor(2)},
        Rejected("TypeError", message),
    )
    ranked: Observation = (
        {"x": tensor(2), "y": tensor(2)},
        Rejected("ValueError", "x must be 2-dimensional"),
    )
    summary = experience(*[good] * 60, *[refused, ranked] * 2)

    assert [r.parameter for r in summary.requirements if summary.is_applied(r)] == ["x"]
    assert dtypes(summary) == {"float32", "float64"}


def test_a_build_failure_counts_only_for_the_dtype() -> None:
    build_failure = Rejected("TypeError", "jax makes float32 of float64", Stage.BUILD)

    summary = experience(({"x": tensor(2, dtype="float64"), "y": tensor(2)}, build_failure))

    assert summary.counts == {"x": {"dtype:float64": [0, 1]}}
    assert not summary.requirements


def test_a_choice_that_crashes_remains_as_likely_as_one_that_passes() -> None:
    good: Observation = ({"x": tensor(2), "y": tensor(2)}, PASSED)
    bad: Observation = ({"x": tensor(2, dtype="int64"), "y": tensor(2)}, REJECTED)
    fatal: Observation = ({"x": tensor(2, dtype="bool"), "y": tensor(2)}, Crashed("SIGSEGV"))

    drawn = dtypes(experience(*[good, bad, fatal] * 32))

    assert "bool" in drawn
    assert "int64" not in drawn


def test_a_shape_is_related_to_the_lead_if_only_equal_shapes_pass() -> None:
    same: Observation = ({"x": tensor(2, 3), "y": tensor(2, 3)}, PASSED)
    other: Observation = ({"x": tensor(2, 3), "y": tensor(3)}, REJECTED)

    api = refined(API, experience(*[same, other] * 8))

    constraint = api.parameters[1].constraint
    assert isinstance(constraint, Tensor)
    assert constraint.shape_of == "x"


def test_an_optional_parameter_that_causes_rejections_is_passed_less_often() -> None:
    without: Observation = ({"x": tensor(2), "y": tensor(2)}, PASSED)
    with_mode: Observation = ({"x": tensor(2), "y": tensor(2), "mode": LiteralValue("a")}, REJECTED)

    api = refined(API, experience(*[without, with_mode] * 8))

    assert api.parameters[2].frequency < 0.2


def test_a_message_seen_twice_becomes_a_constraint_with_evidence() -> None:
    message = "mode must be 'mean' or 'sum', got 'a'"
    call: dict[str, Value] = {"x": tensor(2), "y": tensor(2), "mode": LiteralValue("a")}

    once = refined(API, experience((call, Rejected("ValueError", message))))
    twice = refined(API, experience(*[(call, Rejected("ValueError", message))] * 2))

    demanded = OneOf((LiteralValue("mean"), LiteralValue("sum")))
    assert demanded not in [p.constraint for p in once.parameters]
    assert twice.parameters[2].constraint == demanded
    assert message in [evidence.text for evidence in twice.parameters[2].evidence]


def test_a_requirement_that_passing_calls_refute_is_dropped() -> None:
    rejection = Rejected("ValueError", "x must be a 3D tensor, got 1D")
    call: dict[str, Value] = {"x": tensor(2), "y": tensor(2)}
    summary = experience(*[(call, rejection)] * 5)
    assert summary.clues()

    for _ in range(2):
        summary.note(call, NAMES, PASSED)

    assert not summary.clues()


def test_a_parameter_known_from_messages_only_is_passed_by_keyword() -> None:
    message = 'f() missing 1 required positional arguments: "other"'

    api = refined(API, experience(*[({}, Rejected("TypeError", message))] * 2))

    assert [(p.name, p.required) for p in api.parameters][-1] == ("other", True)
    assert api.parameters[-1].kind is ParameterKind.KEYWORD_ONLY


def test_refinements_have_changes_and_evidence() -> None:
    good: Observation = ({"x": tensor(2), "y": tensor(2)}, PASSED)
    bad: Observation = (
        {"x": tensor(2, dtype="bool"), "y": tensor(2)},
        Rejected("TypeError", "x must be 2D"),
    )

    changes = refinements(RECORD, experience(*[good, bad] * 10, *[bad] * 10))

    assert all(change.api == "lib.f" and change.evidence for change in changes)
    assert ("x", "outcomes", "dtype:bool is drawn less often") in {
        (change.parameter, change.aspect, change.change) for change in changes
    }


def test_a_violating_call_is_kept_only_if_no_other_example_exists() -> None:
    summary = Experience()
    violating: dict[str, Value] = {"x": LiteralValue(1)}

    summary.observe_violating(violating, REJECTED)
    assert not summary.examples
    summary.observe_violating(violating, PASSED)
    summary.observe_violating({"x": LiteralValue(2)}, PASSED)

    assert summary.examples == [violating]
    assert summary.judged == 0


_CALLS = st.lists(
    st.tuples(
        st.fixed_dictionaries(
            {"x": st.sampled_from([tensor(2), tensor(dtype="bool"), LiteralValue(None)])},
            optional={"mode": st.sampled_from([LiteralValue("a"), LiteralValue(1.5)])},
        ),
        st.sampled_from(
            [PASSED, REJECTED, Rejected("E", "mode must be one of a, b"), Crashed("SIGABRT")]
        ),
    ),
    max_size=30,
)


@given(_CALLS)
def test_experience_survives_a_round_trip_through_json(
    calls: list[tuple[dict[str, Value], Outcome]],
) -> None:
    summary = experience(*calls)

    decoded = experience_from_json(json.loads(json.dumps(summary.to_json())))

    assert decoded == summary


@given(_CALLS, _CALLS)
def test_merged_experience_equals_the_experience_of_all_calls(
    first: list[tuple[dict[str, Value], Outcome]], second: list[tuple[dict[str, Value], Outcome]]
) -> None:
    expected = experience(*first, *second)

    merged = Experience()
    merged.update(experience(*first))
    merged.update(experience(*second))

    assert (merged.judged, merged.passed, merged.counts) == (
        expected.judged,
        expected.passed,
        expected.counts,
    )


def test_experience_of_earlier_versions_is_read_and_its_examples_may_violate() -> None:
    encoded = experience(({"x": tensor(2)}, PASSED)).to_json()
    assert encoded.pop("conform") is True

    earlier = experience_from_json(encoded)

    assert not earlier.examples_conform
    assert earlier.to_json() == encoded, "snapshots are named by the digest of their text"
    usable = earlier.with_conforming_examples()
    assert (usable.examples, usable.noted, usable.counts) == ([], 0, earlier.counts)


def test_merging_an_example_that_violates_is_remembered() -> None:
    violating = Experience(noted=1)
    violating.observe_violating({"x": LiteralValue(3)}, PASSED)
    conforming = experience(({"x": tensor(2)}, PASSED))

    merged = Experience()
    merged.update(violating)
    merged.update(conforming)
    conforming.update(violating)

    assert not merged.examples_conform
    assert conforming.examples_conform
    assert experience_from_json(merged.to_json()) == merged


def test_a_file_of_experience_survives_a_round_trip() -> None:
    summary = experience(({"x": tensor(2)}, PASSED), ({"x": tensor(2)}, REJECTED))

    lines = list(experience_lines("lib", {"lib.g": summary, "lib.f": Experience()}))

    assert read_experience(lines, name="file") == {"lib.f": Experience(), "lib.g": summary}
    assert lines == list(experience_lines("lib", read_experience(lines, name="file")))


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["{}"],
        ['{"schema": 99, "apis": 0}'],
        ['{"schema": 1, "apis": 2}'],
        ['{"schema": 1, "apis": 1}', '{"api": "lib.f"}'],
        ['{"schema": 1, "apis": 1}', "not JSON"],
    ],
)
def test_a_damaged_file_is_rejected_with_its_name_and_a_remedy(lines: list[str]) -> None:
    with pytest.raises(ConstraintsFileError, match=r"kept\.jsonl.*Remove the file"):
        read_experience(lines, name="kept.jsonl")


def test_experience_from_a_file_refines_like_the_original() -> None:
    record = record_from_json(
        {
            "api": "lib.mse",
            "kind": "function",
            "parameters": [
                {"name": "y_true", "schema_type": "Tensor"},
                {"name": "y_pred", "schema_type": "Tensor"},
            ],
        }
    )
    summary = Experience()
    for size in (2, 3, 4, 5) * 8:
        summary.note({"y_true": tensor(size), "y_pred": tensor(size)}, ("y_true", "y_pred"), PASSED)
    api = understand(record)

    lines = list(experience_lines("lib", {"lib.mse": summary}))
    read = read_experience(lines, name="a file")["lib.mse"]

    assert read.lead == summary.lead == "y_true"
    assert refined(api, read) == refined(api, summary)
