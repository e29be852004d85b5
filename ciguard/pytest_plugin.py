"""pytest plugin that collects annotated functions and runs them as tests.

`pytest --ciguard`, or `ciguard = true` in the ini file, activates it. All sessions with ciguard
installed load this module, so it imports little; `ciguard.pytest_items` runs the tests.
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
    """Declare the options."""
    group = parser.getgroup("ciguard", "annotated functions (ciguard)")
    group.addoption(
        "--ciguard", action="store_true", default=False, help="Test annotated functions."
    )
    group.addoption(
        "--ciguard-max-examples",
        type=int,
        metavar="N",
        help="Number of valid inputs per function; default: that of Hypothesis's profile.",
    )
    group.addoption(
        "--ciguard-budget",
        type=float,
        metavar="SECONDS",
        help=f"Time for the inputs of one function in seconds; default: {_DEFAULT_BUDGET_S}, "
        "0: no limit.",
    )
    for name, kind, default, text in (
        ("ciguard", "bool", False, "Test annotated functions without --ciguard."),
        ("ciguard_max_examples", "string", "", "As --ciguard-max-examples."),
        ("ciguard_budget", "string", _DEFAULT_BUDGET_S, "As --ciguard-budget."),
        (
            "ciguard_timeout",
            "string",
            _DEFAULT_TIMEOUT_S,
            "Timeout of a call in seconds, for functions without @timeout.",
        ),
        (
            "ciguard_oracles",
            "args",
            ["exception", "ensure", "nan", "timeout"],
            "Oracles that report failures; mutation (of arguments) is available, too.",
        ),
        (
            "ciguard_sidecars",
            "paths",
            [],
            "Folders with files that annotate other files.",
        ),
        (
            "ciguard_python",
            "string",
            "",
            "Interpreter of the programs; default: the current one.",
        ),
    ):
        parser.addini(name, text, type=kind, default=default)  # type: ignore[arg-type]


def _is_on(config: pytest.Config) -> bool:
    return bool(config.getoption("--ciguard") or config.getini("ciguard"))


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin of the session if it is activated."""
    if _is_on(config):
        from ciguard.pytest_items import FunctionTests  # noqa: PLC0415 - imports Hypothesis

        config.pluginmanager.register(FunctionTests(config), _PLUGIN_NAME)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the line of the report's header."""
    return "ciguard: annotated functions are tested" if _is_on(config) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect the annotated functions of a file, besides its usual tests."""
    offered = yield
    tests = parent.config.pluginmanager.get_plugin(_PLUGIN_NAME)
    if tests is None or file_path.suffix != ".py":
        return offered
    collectors: list[pytest.Collector] = tests.collectors(file_path, parent, offered)
    return collectors
