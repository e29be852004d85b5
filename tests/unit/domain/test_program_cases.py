"""Cases of programs: JSON round trips, and locations in messages."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import case_from_json, case_id, case_to_json, holds_program
from ciguard.domain.intent import Intent
from ciguard.domain.programs import (
    Ancestry,
    Derivation,
    Operator,
    ProgramCase,
    locate_message,
    program_case_from_json,
)
from ciguard.domain.values import LiteralValue
from ciguard.oracles.relations import encode

STEP = Derivation(
    block="conv2",
    line=23,
    api="torch.nn.Conv2d",
    operator=Operator.GENERATION,
    parameter="stride",
    before="1",
    after="3",
    sentence="stride controls the stride for the cross-correlation.",
    adapter="x = x.flatten(1)",
    use="f(x, x)",
)
CASE = ProgramCase(
    api="torch.nn.Conv2d",
    source="import torch\n",
    block="import torch\nprint(1)\n",
    seed=7,
    intent=Intent.VIOLATING,
    cycles=4,
    ancestry=Ancestry(seed="lenet", path=(STEP,), parent="import os\n", derived="x\n", tree=2),
)
steps = st.builds(
    Derivation,
    block=st.text(),
    line=st.integers(),
    api=st.text(),
    operator=st.sampled_from(Operator),
    parameter=st.text(),
    before=st.text(),
    after=st.text(),
    sentence=st.text(),
    adapter=st.text(),
    use=st.text(),
)
cases = st.builds(
    ProgramCase,
    api=st.text(),
    source=st.text(),
    block=st.text(),
    seed=st.integers(),
    intent=st.sampled_from(Intent),
    cycles=st.integers(min_value=1),
    ancestry=st.builds(
        Ancestry,
        seed=st.text(),
        path=st.lists(steps, max_size=3).map(tuple),
        parent=st.text(),
        derived=st.text(),
        tree=st.integers(min_value=0),
    ),
)


@given(cases)
def test_program_case_round_trips_through_json(case: ProgramCase) -> None:
    text = json.dumps(case_to_json(case), allow_nan=False)

    assert case_from_json(json.loads(text)) == case


@given(cases, cases)
def test_case_ids_are_equal_only_for_equal_cases(first: ProgramCase, second: ProgramCase) -> None:
    assert (case_id(first) == case_id(second)) == (first == second)


def test_encoded_case_has_all_fields() -> None:
    _, _, rest = case_to_json(CASE)

    assert {"api", *rest} == {item.name for item in fields(ProgramCase)}
    kin = {"seed", "path", *rest["ancestry"][2]}
    assert kin == {item.name for item in fields(Ancestry)}
    assert set(rest["ancestry"][1][0]) == {item.name for item in fields(Derivation)}


def test_encoded_case_omits_empty_members() -> None:
    assert case_to_json(ProgramCase(api="torch", source="")) == [
        "torch",
        "program",
        {"source": "", "ancestry": ["", []]},
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ancestry", None),
        ("ancestry", ["lenet"]),
        ("ancestry", ["lenet", [3]]),
        ("ancestry", ["lenet", [], "parent"]),
        ("ancestry", ["lenet", [], {"tree": "x"}]),
        ("ancestry", ["lenet", [], {}, {}]),
        ("ancestry", ["lenet", [{"block": "x"}]]),
        ("ancestry", ["lenet", [{"line": 1e400}]]),
        ("ancestry", ["lenet", [{"line": 1, "operator": []}]]),
        ("ancestry", ["lenet", [{"line": 1, "operator": "XX"}]]),
        ("seed", "x"),
        ("seed", []),
        ("cycles", 0),
        ("cycles", -1),
        ("cycles", 1e400),
        ("intent", "evil"),
        ("intent", {}),
    ],
)
def test_program_case_from_json_with_a_malformed_member_raises(key: str, value: object) -> None:
    api, kind, rest = case_to_json(CASE)

    with pytest.raises(ValueError, match="malformed program case"):
        program_case_from_json([api, kind, {**rest, key: value}])


@pytest.mark.parametrize(
    "encoded", [None, [], {}, ["a", "program"], ["a", "program", {}], ["a", "program", []], "txt"]
)
def test_program_case_from_json_with_malformed_json_raises(encoded: object) -> None:
    with pytest.raises(ValueError, match="malformed"):
        program_case_from_json(encoded)


def test_focus_is_the_parameter_of_the_last_step() -> None:
    assert CASE.focus == "stride"
    assert ProgramCase(api="torch", source="").focus == ""


@pytest.mark.parametrize(
    ("message", "line", "in_block", "rest"),
    [
        ("line 23: no such thing", 23, False, "no such thing"),
        ("block alone, line 7: line 3: odd", 7, True, "line 3: odd"),
        ("block alone, no line: odd", 0, False, "block alone, no line: odd"),
        ("a plain message on line 4: no", 0, False, "a plain message on line 4: no"),
    ],
)
def test_message_is_split_into_location_and_text(
    message: str, line: int, rest: str, *, in_block: bool
) -> None:
    split = locate_message(message)

    assert (split.line, split.in_block, split.message) == (line, in_block, rest)


@pytest.mark.parametrize("api", ["torch", 'a "quoted" one', "back\\", "é", ""])
def test_holds_program_distinguishes_programs_from_calls(api: str) -> None:
    program = ProgramCase(api=api, source="x = 1")
    call = ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(LiteralValue("program"),))

    for case in (program, call):
        for text in (json.dumps(case_to_json(case)).encode(), encode(case)):
            assert holds_program(text) is (case is program)


@pytest.mark.parametrize("operator", Operator)
def test_change_and_label_of_long_values_are_shortened(operator: Operator) -> None:
    long = "x" * 100_000
    texts = ("block", "api", "parameter", "before", "after", "sentence", "adapter")
    step = replace(STEP, operator=operator, **dict.fromkeys(texts, long))  # type: ignore[arg-type]

    assert len(step.change) < 700
    assert len(step.label) < 700
