"""pytest plugin: annotated functions are collected and run as tests.

`pytest --ciguard`, or `ciguard = true` in the ini file. This module is loaded by every session that
has ciguard installed, so it imports little; what runs tests is in `ciguard.pytest_items`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_STARTS = "ciguard-session"
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
        help="Valid inputs for each function; by default those of Hypothesis's profile.",
    )
    group.addoption(
        "--ciguard-budget",
        type=float,
        metavar="SECONDS",
        help=f"Seconds after which a function gets no more inputs; default: {_DEFAULT_BUDGET_S}, "
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
            "Seconds that a call may take where @timeout does not say.",
        ),
        (
            "ciguard_oracles",
            "args",
            ["exception", "ensure", "nan", "timeout"],
            "What is a failure; beside the default there is mutation (of arguments).",
        ),
        ("ciguard_sidecars", "paths", [], "Folders with annotations that stand apart."),
        ("ciguard_python", "string", "", "Interpreter that runs the programs; default: this one."),
    ):
        parser.addini(name, text, type=kind, default=default)  # type: ignore[arg-type]


def _is_on(config: pytest.Config) -> bool:
    return bool(config.getoption("--ciguard") or config.getini("ciguard"))


def pytest_configure(config: pytest.Config) -> None:
    """Prepare for running functions, if asked for."""
    if _is_on(config):
        from ciguard.pytest_items import FunctionTests  # noqa: PLC0415 - imports Hypothesis

        config.pluginmanager.register(FunctionTests(config), _STARTS)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that functions are tested."""
    return "ciguard: annotated functions are tested" if _is_on(config) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Offer the annotated functions of a file, beside its usual tests if it has any."""
    offered = yield
    tests = parent.config.pluginmanager.get_plugin(_STARTS)
    if tests is None or file_path.suffix != ".py":
        return offered
    changed: list[pytest.Collector] = tests.collectors(file_path, parent, offered)
    return changed
