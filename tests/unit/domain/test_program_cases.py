"""Programs as cases: their JSON form, and the places that their messages begin with."""

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
    located,
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
def test_cases_come_back_as_they_were(case: ProgramCase) -> None:
    text = json.dumps(case_to_json(case), allow_nan=False)

    assert case_from_json(json.loads(text)) == case


@given(cases, cases)
def test_different_cases_have_different_names(one: ProgramCase, other: ProgramCase) -> None:
    assert (case_id(one) == case_id(other)) == (one == other)


def test_no_field_is_forgotten() -> None:
    _, _, rest = case_to_json(CASE)

    assert {"api", *rest} == {item.name for item in fields(ProgramCase)}
    kin = {"seed", "path", *rest["ancestry"][2]}
    assert kin == {item.name for item in fields(Ancestry)}
    assert set(rest["ancestry"][1][0]) == {item.name for item in fields(Derivation)}


def test_what_is_empty_is_left_out() -> None:
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
def test_a_hostile_member_is_refused(key: str, value: object) -> None:
    api, kind, rest = case_to_json(CASE)

    with pytest.raises(ValueError, match="not an encoded program case"):
        program_case_from_json([api, kind, {**rest, key: value}])


@pytest.mark.parametrize(
    "encoded", [None, [], {}, ["a", "program"], ["a", "program", {}], ["a", "program", []], "txt"]
)
def test_what_is_no_case_is_refused(encoded: object) -> None:
    with pytest.raises(ValueError, match="not an encoded"):
        program_case_from_json(encoded)


def test_the_focus_is_the_parameter_of_the_last_step() -> None:
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
def test_a_message_is_parted_from_its_place(
    message: str, line: int, rest: str, *, in_block: bool
) -> None:
    found = located(message)

    assert (found.line, found.in_block, found.message) == (line, in_block, rest)


@pytest.mark.parametrize("api", ["torch", 'a "quoted" one', "back\\", "é", ""])
def test_an_encoded_program_is_told_from_a_call_without_being_read(api: str) -> None:
    program = ProgramCase(api=api, source="x = 1")
    call = ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(LiteralValue("program"),))

    for case in (program, call):
        for text in (json.dumps(case_to_json(case)).encode(), encode(case)):
            assert holds_program(text) is (case is program)


@pytest.mark.parametrize("operator", Operator)
def test_what_was_changed_is_told_within_bounds(operator: Operator) -> None:
    long = "x" * 100_000
    texts = ("block", "api", "parameter", "before", "after", "sentence", "adapter")
    step = replace(STEP, operator=operator, **dict.fromkeys(texts, long))  # type: ignore[arg-type]

    assert len(step.change) < 700
    assert len(step.label) < 700
