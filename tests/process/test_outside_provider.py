"""A provider of another package: read, answered, its misuse found, its script run, emulated."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from planted.notes import Notes, NotesError
from running_applications import assessed, explored, failures, never, written
from test_app_script import CASE, script_of

from ciguard.levels.app.dead_conditions import dead_conditions
from ciguard.levels.app.emulation import EmulationOptions, RequestLogEntry, emulation
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION = """
from planted.notes import Notes

NOTES = Notes("http://127.0.0.1:1")

def first(image: bytes):
    found = NOTES.things(image)["things"]
    if found[0]["name"] == "Dog":
        return "woof"
    if found[0]["sure"] > 80:
        return "surely"

def mood(text: str):
    felt = NOTES.feeling(text)
    if felt["feeling"] == "negative" and felt["score"] < -0.5:
        return "angry"
"""
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def application(tmp_path: Path) -> Path:
    return written(tmp_path / "app", APPLICATION)


def test_calls_of_an_external_provider_are_found_with_their_branches(application: Path) -> None:
    found = find_service_functions(read_application(application), known_providers())

    calls = {one.name: [call.answer.operation.title for call in one.calls] for one in found}
    assert calls == {"app.first": ["notes things"], "app.mood": ["notes feeling"]}
    assert [len(one.goals) for one in found] == [2, 2]
    dead = [one.reason for function in found for one in dead_conditions(function, None)]
    assert len(dead) == 1
    assert "1" in dead[0]


def test_calls_of_an_external_provider_get_stub_responses_and_a_crash_is_found(
    application: Path,
) -> None:
    results = explored(application)

    assert {name: one.problem for name, one in results.items()} == {"first": "", "mood": ""}
    assert failures(results) == {"first": {"IndexError"}}
    assert never(results) == {("first", "found[0]['sure'] > 80", True)}


def test_inputs_are_assessed_with_answers_of_an_external_provider(application: Path) -> None:
    mood = assessed(application)["mood"]

    assert {verdict.engine for verdict in mood.verdicts} == {"VADER"}
    assert all(verdict.true_shares is not None for verdict in mood.verdicts)


def test_script_answers_calls_of_an_external_provider(application: Path) -> None:
    call: dict[str, Any] = {
        "module": "app",
        "function": "first",
        "arguments": {"image": {"base64": "AAEC"}},
        "files": {},
        "answers": {"things": {"answer": {"things": []}}},
        "providers": ["notes"],
        "refused": False,
    }
    case = replace(CASE, api="app/app.py:app.first", file="app/app.py", call=call)
    (application.parent / "script.py").write_text(script_of(case), "utf-8")

    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=application.parent,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.stderr.splitlines()[-1] == "IndexError: list index out of range"


def test_client_of_an_external_provider_is_answered_over_http() -> None:
    log: list[RequestLogEntry] = []
    with emulation(EmulationOptions(), log.append) as running:
        notes = Notes(running.address)
        found = notes.things(PNG)["things"]
        felt = notes.feeling("I love this.")
        with pytest.raises(NotesError, match="There is no text"):
            notes.feeling("")
        with pytest.raises(NotesError, match="Known are things, feeling"):
            notes.send("faces", PNG)

    assert all(0 < one["sure"] <= 1 for one in found)
    assert felt["feeling"] == "positive"
    assert [(one.operations, one.code) for one in log] == [
        (("things",), "OK"),
        (("feeling",), "OK"),
        (("feeling",), "INVALID_ARGUMENT"),
        ((), "UNIMPLEMENTED"),
    ]
