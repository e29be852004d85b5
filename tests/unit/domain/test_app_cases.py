"""Cases of applications: JSON round trips and validation of untrusted JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.domain.case import case_from_json, case_to_json

CALL = {
    "module": "can",
    "function": "smart_can",
    "arguments": {
        "path": {"value": "{folder}/image.png"},
        "event": {"value": {"Records": [{"s3": {"object": {"key": "a"}}}]}},
    },
    "files": {"image.png": "AAAA"},
    "answers": {"label_detection": {"answer": {}}},
}
CASE = AppCase(
    api="app/can.py:can.smart_can",
    file="app/can.py",
    line=3,
    root="app",
    aspect=Aspect.ANSWER,
    call=CALL,
)


@pytest.mark.parametrize(
    "case",
    [
        CASE,
        AppCase(
            api="can.py:can.smart_can",
            file="other.py",
            line=7,
            root=".",
            aspect=Aspect.CONDITION,
            condition="'pants' in a or 'pants'",
        ),
    ],
)
def test_app_case_round_trips_through_json(case: AppCase) -> None:
    decoded = case_from_json(json.loads(json.dumps(case_to_json(case))))

    assert decoded == case
    assert decoded.level == "app"
    assert isinstance(decoded, AppCase)
    assert (decoded.line, decoded.function) == (case.line, "can.smart_can")


def test_app_case_equality_ignores_the_line() -> None:
    moved = case_to_json(CASE)
    moved[2]["line"] = 99

    assert case_from_json(moved) == CASE


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("file", "../etc/passwd.py"),
        ("file", "/etc/x.py"),
        ("file", "can.txt"),
        ("root", ".."),
        ("root", "/tmp"),  # noqa: S108 - refused
        ("line", 0),
        ("line", 2**40),
        ("line", "three"),
        ("aspect", "everything"),
        ("call", ["no", "table"]),
    ],
)
def test_case_from_json_with_a_malformed_member_raises(key: str, value: object) -> None:
    encoded = case_to_json(CASE)
    encoded[2][key] = value

    with pytest.raises(ValueError, match="malformed case"):
        case_from_json(encoded)


@pytest.mark.parametrize(
    "changed",
    [
        {"arguments": {"x y": {"value": 1}}},
        {"arguments": {"class": {"value": 1}}},
        {"arguments": {"x": {"value": [[[[[[[[[[1]]]]]]]]]]}}},
        {"arguments": {"x": {"zzz": 1}}},
        {"arguments": {"x": {"base64": "&"}}},
        {"arguments": {"x": {"several": {"value": 1}}}},
        {"arguments": {"x": {"fields": 1}}},
        {"arguments": {"x": {"client": "aws"}}},
        {"arguments": {"x": {"client": {"provider": "aws", "name": 1}}}},
        {"arguments": {"x": {"made_up": 1}}},
        {"arguments": {"x": {"upload": {"base64": "&", "name": "a.png", "is_awaited": False}}}},
        {"arguments": {"x": {"upload": {"base64": "", "name": 1, "is_awaited": False}}}},
        {"arguments": {"x": {"upload": {"base64": "", "name": "a.png"}}}},
        {"arguments": {"self": {"object": {"of": "", "named": {}}}}},
        {"arguments": {"x": {"request": {"is_passed": 1, "parts": {}}}}},
        {"arguments": {"x": {"request": {"is_passed": True, "parts": {"files": 1}}}}},
        {"arguments": {"x": {"request": {"is_passed": True, "parts": {"a": {"b": {"c": 1}}}}}}},
        {"arguments": {"x": {"stored": {"base64": "", "name": 1}}}},
        {"arguments": "none"},
        {"positional": ["not among them"]},
        {"files": {"../outside": "AAAA"}},
        {"files": {"/outside": "AAAA"}},
        {"files": {"": "AAAA"}},
        {"files": {"a\0b": "AAAA"}},
        {"files": {"a": "&"}},
        {"files": 1},
        {"answers": {"label_detection": "Dog"}},
        {"answers": None},
        {"providers": "google"},
        {"module": "os", "function": "system"},
        {"more": 1},
    ],
)
def test_case_from_json_with_a_malformed_call_raises(changed: dict[str, object]) -> None:
    encoded = case_to_json(CASE)
    encoded[2]["call"] = {**CALL, **changed}

    with pytest.raises(ValueError, match="malformed case"):
        case_from_json(encoded)


def method_case(constructed: object) -> AppCase:
    call = {**CALL, "function": "Can.look", "arguments": {"self": constructed}}
    return AppCase(
        api="app/can.py:can.Can.look",
        file="app/can.py",
        root="app",
        aspect=Aspect.ANSWER,
        call=call,
    )


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("can", "Can.look;exit()"),
        ("can", "Can.1"),
        ("can", "<module>.x"),
        ("os", "system"),
        (1, "look"),
    ],
)
def test_case_from_json_with_a_function_of_another_file_raises(
    module: object, function: str
) -> None:
    call = {**CALL, "module": module, "function": function}
    case = AppCase(
        api=f"app/can.py:{module}.{function}",
        file="app/can.py",
        root="app",
        aspect=Aspect.ANSWER,
        call=call,
    )

    with pytest.raises(ValueError, match="malformed case"):
        case_from_json(case_to_json(case))


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("app/can.py", "can"),
        ("app/pkg/__init__.py", "pkg"),
        ("app/pkg/v1.2.py", "pkg.v1.2"),
    ],
)
def test_top_level_call_of_a_file_round_trips(file: str, module: str) -> None:
    call = {**CALL, "module": module, "function": "<module>", "arguments": {"argv": {"argv": "a"}}}
    api = f"{file}:{module}.<module>"
    case = AppCase(api=api, file=file, root="app", aspect=Aspect.ANSWER, call=call)

    assert case_from_json(case_to_json(case)) == case


def test_case_from_json_with_an_object_beside_self_raises() -> None:
    constructed = {"object": {"of": "Can", "named": {}}}
    for changed in (
        {"positional": ["self"]},
        {"arguments": {"self": constructed, "other": constructed}},
    ):
        case = method_case(constructed)
        encoded = case_to_json(case)
        encoded[2]["call"] = {**case.call, **changed}
        with pytest.raises(ValueError, match="malformed case"):
            case_from_json(encoded)


def test_method_call_with_an_object_round_trips() -> None:
    client = {"client": {"provider": "aws", "name": "rekognition"}}
    named = {"client": client, "api_key": {"made_up": "0123"}}
    case = method_case({"object": {"of": "Can", "named": named}})

    assert case_from_json(case_to_json(case)) == case


@pytest.mark.parametrize(
    "constructed",
    [
        {"object": {"of": "os.system", "named": {"command": {"value": "true"}}}},
        {"object": {"of": "Can", "named": {"x y": {"value": 1}}}},
        {"object": {"of": "Can", "named": {"x": {"zzz": 1}}}},
        {"object": {"of": "Can", "named": [1]}},
        {"object": {"of": "Can"}},
        {"request": {"is_passed": False, "parts": {"data": {}}}},
        {"several": [{"object": {"of": "Can", "named": {}}}]},
    ],
)
def test_case_from_json_with_a_malformed_object_raises(constructed: object) -> None:
    with pytest.raises(ValueError, match="malformed case"):
        case_from_json(case_to_json(method_case(constructed)))


@pytest.mark.parametrize("api", ["can", "../x.py:f", "app/can.py:", "app/can.py:a\nb"])
def test_case_from_json_with_a_malformed_api_raises(api: str) -> None:
    _, kind, rest = case_to_json(CASE)

    with pytest.raises(ValueError, match="not of the form FILE:FUNCTION"):
        case_from_json([api, kind, rest])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.sampled_from(["file", "root", "line", "aspect", "condition", "call"]), JSON)
def test_case_from_json_with_arbitrary_members_round_trips_or_raises(
    key: str, value: object
) -> None:
    encoded = case_to_json(CASE)
    encoded[2][key] = value

    try:
        case = case_from_json(encoded)
    except ValueError:
        return
    assert case_from_json(case_to_json(case)) == case
