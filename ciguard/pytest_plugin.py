"""pytest plugin that collects annotated functions and runs them as tests.

Enable it by `pytest --ciguard`, or by `ciguard = true` in the ini file. pytest loads this module in
every session, so it imports little; `ciguard.pytest_items` runs the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_PLUGIN_NAME = "ciguard-session"
_DEFAULT_TIMEOUT_S = "300"
_DEFAULT_BUDGET_S = "120"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the command-line and ini options."""
    group = parser.getgroup("ciguard", "annotated functions (ciguard)")
    group.addoption(
        "--ciguard", action="store_true", default=False, help="Test annotated functions."
    )
    group.addoption(
        "--ciguard-max-examples",
        type=int,
        metavar="N",
        help="Number of valid inputs to run for each function. Default: max_examples of "
        "Hypothesis's profile.",
    )
    group.addoption(
        "--ciguard-budget",
        type=float,
        metavar="SECONDS",
        help="Time limit for the test of one function, in seconds; 0 for no limit. Default: "
        f"{_DEFAULT_BUDGET_S}.",
    )
    for name, kind, default, text in (
        ("ciguard", "bool", False, "Test annotated functions without --ciguard."),
        ("ciguard_max_examples", "string", "", "See --ciguard-max-examples."),
        ("ciguard_budget", "string", _DEFAULT_BUDGET_S, "See --ciguard-budget."),
        (
            "ciguard_timeout",
            "string",
            _DEFAULT_TIMEOUT_S,
            "Timeout of one call of a function without @timeout, in seconds.",
        ),
        (
            "ciguard_oracles",
            "args",
            ["exception", "ensure", "nan", "timeout"],
            (
                "Oracles that detect failures. The oracle mutation, which detects changed "
                "arguments, is off by default."
            ),
        ),
        ("ciguard_sidecars", "paths", [], "Folders with sidecar files of annotations."),
        (
            "ciguard_python",
            "string",
            "",
            (
                "Python interpreter that runs the tested programs. Default: the interpreter that "
                "runs pytest."
            ),
        ),
    ):
        parser.addini(name, text, type=kind, default=default)  # type: ignore[arg-type]


def _is_on(config: pytest.Config) -> bool:
    return bool(config.getoption("--ciguard") or config.getini("ciguard"))


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin that tests functions, if it is enabled."""
    if _is_on(config):
        from ciguard.pytest_items import FunctionTests  # noqa: PLC0415 - imports Hypothesis

        config.pluginmanager.register(FunctionTests(config), _PLUGIN_NAME)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the header line, if functions are tested."""
    return "ciguard: annotated functions are tested" if _is_on(config) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Add the annotated functions of a file to its collectors."""
    offered = yield
    tests = parent.config.pluginmanager.get_plugin(_PLUGIN_NAME)
    if tests is None or file_path.suffix != ".py":
        return offered
    changed: list[pytest.Collector] = tests.collectors(file_path, parent, offered)
    return changed
