"""Writes a finding of an annotated function as a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.case import as_kind
from ciguard.domain.function_calls import FunctionCase
from ciguard.domain.outcomes import Errored
from ciguard.levels.function.call_source import BROKEN, function_statements
from ciguard.levels.function.oracle import FUNCTION
from ciguard.triage.scripting import comment, environment_statements, header

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.triage import EnvironmentHint


def function_script(finding: Finding, hint: EnvironmentHint) -> str:
    """Return a script that imports the program, makes the call and shows the failure."""
    case = as_kind(finding.case, FunctionCase)
    imports, statements = function_statements(finding, case, finding.library)
    assignments = environment_statements(finding, hint)
    standard = ["import os", "", *assignments, ""] if assignments else []
    beginning = "\n".join([*standard, *imports])
    note = comment("Run it in the folder where ciguard ran, with ciguard installed.")
    return f"{header(finding, hint)}\n#\n{note}\n\n{beginning}\n\n" + "\n".join(statements) + "\n"


def mark_of(finding: Finding) -> str:
    """Return the text that a script prints if the defect shows; empty if targets differ."""
    if finding.oracle != FUNCTION:
        return ""
    outcome = finding.outcomes[finding.targets[-1]]
    if finding.kind in {"exception", "import"} and isinstance(outcome, Errored):
        return outcome.exception
    return "AssertionError" if finding.kind == "ensure" else BROKEN
