"""Cases of annotated functions: JSON round trips, and locations of failures."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ciguard.domain.case import case_from_json, case_id, case_to_json, holds_program
from ciguard.domain.function_calls import FunctionCase, LocatedFailure, locate_failure
from ciguard.domain.values import CallValue, LiteralValue, value_to_json

CALL = {
    "function": "Net.run",
    "arguments": [["x", 3], ["y", value_to_json(CallValue(":made", (), ()))]],
    "constructor": [["depth", 2]],
    "outer": {"function": "make", "arguments": [["n", 5]], "constructor": None, "outer": None},
}
ABOUT = {"root": "src"}
CASE = FunctionCase(api="src/model.py:Net.run", file="src/model.py", call=CALL, seed=4, about=ABOUT)


@pytest.mark.parametrize(
    "case",
    [CASE, replace(CASE, seed=0), FunctionCase(api="src/model.py", file="src/model.py")],
)
def test_function_case_round_trips_through_json(case: FunctionCase) -> None:
    assert case_from_json(json.loads(json.dumps(case_to_json(case)))) == case


def test_different_cases_have_different_ids_and_hashes() -> None:
    other = replace(CASE, call={**CALL, "arguments": [["x", 4]]})

    assert case_id(other) != case_id(CASE)
    assert len({CASE, other, replace(CASE)}) == 2


def test_values_include_arguments_of_call_constructor_and_outer_function() -> None:
    three, result, two, five = CASE.values

    assert [three, two, five] == [LiteralValue(3), LiteralValue(2), LiteralValue(5)]
    assert isinstance(result, CallValue)


def test_decoded_api_follows_from_file_and_function() -> None:
    encoded = case_to_json(CASE)

    assert case_from_json(["torch.add", *encoded[1:]]).api == "src/model.py:Net.run"


@pytest.mark.parametrize(
    "rest",
    [
        {},
        {"file": "/etc/passwd.py"},
        {"file": "../other.py"},
        {"file": "model.txt"},
        {"file": "model.py", "call": {"function": "f"}},
        {"file": "model.py", "call": {"function": "f", "arguments": [["x", ["?"]]]}},
        {"file": "model.py", "call": {"function": "f", "arguments": [["x=1;import os\nx", 1]]}},
        {"file": "model.py", "call": {"function": "f", "arguments": [[1, 1]]}},
        {"file": "model.py", "seed": "many"},
        {"file": "a\nb.py"},
    ],
)
def test_case_from_json_with_a_malformed_member_raises(rest: object) -> None:
    with pytest.raises(ValueError, match="malformed"):
        case_from_json(["model.py:f", "annotated", rest])


def test_holds_program_recognises_an_encoded_function_case() -> None:
    assert holds_program(json.dumps(case_to_json(CASE)).encode())
    assert not holds_program(json.dumps(["annotated", "function", []]).encode())


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("src/model.py:23: shapes differ", LocatedFailure("shapes differ", "src/model.py", 23)),
        ("src/model.py:23:", LocatedFailure("", "src/model.py", 23)),
        ("/etc/x.py:23: no", LocatedFailure("/etc/x.py:23: no")),
        ("../x.py:2: no", LocatedFailure("../x.py:2: no")),
        ("line 3: no", LocatedFailure("line 3: no")),
    ],
)
def test_message_is_split_into_location_and_text(message: str, expected: LocatedFailure) -> None:
    assert locate_failure(message) == expected
