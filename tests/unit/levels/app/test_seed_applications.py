"""The applications in `seeds/apps`: the description of their faults agrees with their text.

What `ciguard` finds in them is tested where it runs them.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ciguard.levels.app.providers.description import TASKS_WITHOUT_INPUTS, RecognitionTask
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import (
    ServiceFunction,
    find_service_functions,
    read_application,
)

APPS = Path(__file__).parents[4] / "seeds" / "apps"
NAMES = sorted(path.stem for path in APPS.glob("*.py"))
FAULTS: list[dict[str, Any]] = tomllib.loads((APPS / "faults.toml").read_text("utf-8"))["fault"]

KEYS = {"application", "function", "line", "task", "class", "shows", "what"}
CLASSES = {
    "out of bounds": {"crash"},
    "missing validation": {"crash"},
    "type conversion": {"crash", "dead"},
    "improper labels": {"accuracy"},
    "improper threshold": {"accuracy"},
    "api limitation": {"accuracy"},
    "typo": {"dead"},
    "non-existing label": {"dead"},
}  # fmt: skip
"""Failure classes of Keeper, Table 2, and how they may show."""
TASKS_BY_CLASS = {
    "out of bounds": {"text", "entities"},
    "missing validation": {"categories"},
    "improper labels": {"labels", "objects", "categories"},
    "improper threshold": {"sentiment"},
    "api limitation": {"labels", "objects"},
    "typo": {"labels", "objects", "text"},
    "non-existing label": {"labels"},
}
"""Tasks that each class is planted in at least; Table 2 names most."""
OPERATIONS = {
    "label_detection", "object_localization", "face_detection", "text_detection",
    "document_text_detection", "classify_text", "analyze_sentiment", "analyze_entities",
    "recognize", "detect_labels",
}  # fmt: skip
MAX_CHANGED = 8
"""Lines of a program and its twin that differ, old and new ones together."""
NEAR = 5
"""Lines between a fault and what mends it; a constant that it needs may stand farther away."""


def place(fault: dict[str, Any]) -> str:
    return f"{fault['application']}-{fault['line']}"


@cache
def service_functions_in(folder: Path) -> dict[str, ServiceFunction]:
    """Return what asks services in the programs of a folder, by qualified name."""
    return {
        function.name: function
        for function in find_service_functions(read_application(folder), known_providers())
    }


@cache
def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def functions_in(path: Path) -> dict[str, ast.FunctionDef]:
    """Return functions and methods, by name within the module."""
    tree = ast.parse(path.read_text("utf-8"))
    owners = [("", tree.body)]
    owners += [(f"{node.name}.", node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
    return {
        owner + node.name: node
        for owner, body in owners
        for node in body
        if isinstance(node, ast.FunctionDef)
    }


def test_seed_programs_have_a_fault_and_a_twin_each() -> None:
    assert len(NAMES) >= 14
    assert {fault["application"] for fault in FAULTS} == set(NAMES)
    assert sorted(path.stem for path in (APPS / "fixed").glob("*.py")) == NAMES


def test_fault_classes_are_planted_in_their_known_tasks() -> None:
    planted: dict[str, set[str]] = {}
    for fault in FAULTS:
        planted.setdefault(fault["class"], set()).add(fault["task"])

    assert planted.keys() == CLASSES.keys()
    for kind, tasks in TASKS_BY_CLASS.items():
        assert tasks <= planted[kind], kind


@pytest.mark.lengthy
def test_every_task_has_a_fault_and_every_operation_is_called() -> None:
    operations = {
        call.answer.operation.name
        for function in service_functions_in(APPS).values()
        for call in function.calls
    }

    assert {RecognitionTask(fault["task"]) for fault in FAULTS} == set(
        RecognitionTask
    ) - TASKS_WITHOUT_INPUTS
    assert operations == OPERATIONS


@pytest.mark.parametrize("fault", FAULTS, ids=place)
def test_fault_has_a_complete_description(fault: dict[str, Any]) -> None:
    is_of_accuracy = fault["shows"] == "accuracy"

    assert set(fault) == KEYS | ({"meant_for"} if is_of_accuracy else set())
    assert fault["shows"] in CLASSES[fault["class"]]
    assert re.fullmatch(r"[A-Z][^\n]+[^.]\.", fault["what"])
    if fault["task"] == RecognitionTask.SENTIMENT and is_of_accuracy:
        assert fault["meant_for"] in {"positive", "negative"}


@pytest.mark.parametrize("fault", FAULTS, ids=place)
def test_fault_is_in_a_function_that_calls_its_task(fault: dict[str, Any]) -> None:
    function = functions_in(APPS / f"{fault['application']}.py")[fault["function"]]
    asking = service_functions_in(APPS)[f"{fault['application']}.{fault['function']}"]

    assert function.body[0].lineno < fault["line"] <= (function.end_lineno or 0)
    assert fault["task"] in {call.answer.operation.task for call in asking.calls}


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault["shows"] != "crash"], ids=place
)
def test_dead_and_inaccurate_faults_are_conditions(fault: dict[str, Any]) -> None:
    line = lines(APPS / f"{fault['application']}.py")[fault["line"] - 1]

    assert re.match(r" +(el)?if .+:$", line)


@pytest.mark.parametrize("name", NAMES)
def test_program_and_twin_differ_only_around_the_fault(name: str) -> None:
    program, twin = lines(APPS / f"{name}.py"), lines(APPS / "fixed" / f"{name}.py")
    (line,) = (fault["line"] for fault in FAULTS if fault["application"] == name)
    compared = difflib.SequenceMatcher(None, program, twin, autojunk=False).get_opcodes()
    edits = [(program[a:b], twin[c:d], a, b) for tag, a, b, c, d in compared if tag != "equal"]

    far = [edit for edit in edits if not edit[2] - NEAR < line <= edit[3] + NEAR]

    assert 0 < sum(len(old) + len(new) for old, new, *_ in edits) <= MAX_CHANGED
    assert len(far) < len(edits)
    for old, new, *_ in far:
        assert not old
        assert all(re.match(r"$|[A-Z_]+ = ", name) for name in new)


@pytest.mark.parametrize("path", sorted(APPS.rglob("*.py")), ids=lambda path: path.stem)
def test_program_is_typed_and_imports_only_clients_and_the_standard_library(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    nodes = list(ast.walk(tree))
    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    clients = {name for name in imported if name.startswith(("google.cloud", "boto3", "azure"))}

    assert clients
    assert {name.partition(".")[0] for name in imported - clients} <= sys.stdlib_module_names
    for function in functions_in(path).values():
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        assert function.returns is not None, function.name
        assert all(argument.annotation or argument.arg == "self" for argument in arguments), (
            function.name
        )


@pytest.mark.parametrize("path", sorted(APPS.rglob("*.py")), ids=lambda path: path.stem)
def test_program_is_small(path: Path) -> None:
    assert 25 <= len(lines(path)) <= 70
