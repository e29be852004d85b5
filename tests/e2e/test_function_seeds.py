"""The annotated programs in `seeds/functions`: every planted fault is found, and nothing else.

By real sessions of pytest with the programs in an environment of Keras and PyTorch.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.targets import Environment

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "seeds" / "functions"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))
SAMPLE = frozenset(NAMES[::6])
"""Tried by `make test-slow`; all are tried before a release."""
IS_INSTALLED = any(entry.name == "ciguard" for entry in entry_points(group="pytest11"))
PLUGIN = [] if IS_INSTALLED else ["-p", "ciguard.pytest_plugin"]
EXAMPLES = 100
BUDGET_S = 300
"""For one function; the largest networks, and programs that import torch again, take seconds."""

pytestmark = [
    pytest.mark.library("keras"),
    pytest.mark.library("torch"),
    pytest.mark.timeout(3000),
]
programs = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SAMPLE else pytest.mark.release)
        for name in NAMES
    ],
)

_FRAME = re.compile(r'^ *File "(?P<file>[^"]+)", line (?P<line>\d+)')
_ERROR = re.compile(r"^ *(?P<class>\w*(?:Error|Exception))\b")


@dataclass(frozen=True, slots=True)
class Failure:
    """A distinct failure that a session reports."""

    function: str
    exception: str
    """Empty where it is no exception."""
    line: int
    """Of the program's innermost frame."""


def session_report(program: Path, environment: Environment, report: Path) -> list[ET.Element]:
    """Run the tests of a program's functions; return what the report says of each."""
    options = [f"--ciguard-max-examples={EXAMPLES}", f"--ciguard-budget={BUDGET_S}"]
    options += [f"-ociguard_python={environment.python}", f"--junitxml={report}"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    variables = {**kept, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": "torch"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "-c", os.devnull, "--ciguard", *options, program],
        cwd=report.parent,
        env={**variables, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=2900,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stdout[-4000:] + done.stderr[-2000:]
    return list(ET.parse(report).iter("testcase"))


def failures(tests: list[ET.Element], program: Path) -> Iterator[Failure]:
    """Yield the failures of a report, each with its place in the program."""
    for test in tests:
        assert test.find("skipped") is None, test.find("skipped")
        assert test.find("error") is None, ET.tostring(test, encoding="unicode")
        failed = test.find("failure")
        if failed is None:
            continue
        for block in (failed.text or "").split("\nTraceback ")[1:]:
            class_and_line = failure_in(block, program)
            if class_and_line is not None:
                yield Failure(test.attrib["name"], *class_and_line)


def failure_in(block: str, program: Path) -> tuple[str, int] | None:
    """Return class and line of one failure; None if the text reports none."""
    report_lines = block.partition("Falsifying example")[0].splitlines()
    frames = [match for line in report_lines if (match := _FRAME.match(line))]
    lines = [int(frame["line"]) for frame in frames if Path(frame["file"]).name == program.name]
    if not lines:
        return None
    classes = [match["class"] for line in report_lines if (match := _ERROR.match(line))]
    return (classes[-1] if classes else ""), lines[-1]


@pytest.fixture(scope="session")
def environment(environment_of: Callable[[str], Environment]) -> Environment:
    return environment_of("keras==3.15.1 + torch==2.13.0")


@pytest.fixture(scope="session")
def faults() -> list[dict[str, Any]]:
    with (PROGRAMS / "faults.toml").open("rb") as stream:
        listed: list[dict[str, Any]] = tomllib.load(stream)["fault"]
    return listed


@programs
def test_each_planted_fault_is_found_at_its_line_and_nothing_else_fails(
    name: str, environment: Environment, faults: list[dict[str, Any]], tmp_path: Path
) -> None:
    program = PROGRAMS / f"{name}.py"
    planted = [fault for fault in faults if fault["program"] == name]
    expected = {
        Failure(fault["function"], fault.get("exception", ""), line)
        for fault in planted
        for line in fault["fails"]
    }
    reported = set(failures(session_report(program, environment, tmp_path / "report.xml"), program))
    missed = [
        fault
        for fault in planted
        if not any(
            (failure.function, failure.exception) == (fault["function"], fault.get("exception", ""))
            and failure.line in fault["fails"]
            for failure in reported
        )
    ]
    assert not missed, reported
    assert reported <= expected


@programs
def test_no_function_of_a_corrected_twin_fails(
    name: str, environment: Environment, tmp_path: Path
) -> None:
    program = PROGRAMS / "fixed" / f"{name}.py"
    tests = session_report(program, environment, tmp_path / "report.xml")
    assert tests
    assert not list(failures(tests, program))


def test_every_program_has_a_twin_and_a_fault(faults: list[dict[str, Any]]) -> None:
    assert sorted({fault["program"] for fault in faults}) == NAMES
    assert sorted(path.stem for path in (PROGRAMS / "fixed").glob("*.py")) == NAMES
