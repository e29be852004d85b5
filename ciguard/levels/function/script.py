"""Writes a finding of an annotated function as a script."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.case import as_kind
from ciguard.domain.function_calls import FunctionCase
from ciguard.domain.outcomes import Errored
from ciguard.functions.writing import ANNOTATIONS_STAND_IN
from ciguard.levels.function.call_source import BROKEN, function_statements
from ciguard.levels.function.oracle import FUNCTION
from ciguard.triage.scripting import comment, environment_statements, header

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.triage import EnvironmentHint


_NEEDING = ", with ciguard installed: it reads annotations"
_NAME = re.compile(r"[\w.-]*")


def _distribution(requirement: str) -> str:
    """Return the name of the package in a requirement."""
    match = _NAME.match(requirement)
    return match[0].lower() if match else ""


def function_script(finding: Finding, hint: EnvironmentHint) -> str:
    """Return a script that imports the program, makes the call and shows the failure."""
    case = as_kind(finding.case, FunctionCase)
    imports, statements = function_statements(finding, case, finding.library)
    if "import numpy as np" in imports and "numpy" not in map(_distribution, hint.install):
        hint = replace(hint, install=(*hint.install, "numpy"))
    assignments = environment_statements(finding, hint)
    standard = ["import os", "", *assignments, ""] if assignments else []
    beginning = "\n".join([*standard, *imports])
    needs_ciguard = ANNOTATIONS_STAND_IN not in statements
    note = comment(f"Run it in the folder that contains {case.file}{_NEEDING * needs_ciguard}.")
    return f"{header(finding, hint)}\n#\n{note}\n\n{beginning}\n\n" + "\n".join(statements) + "\n"


def mark_of(finding: Finding) -> str:
    """Return the text that a script prints if the defect shows; empty if targets differ."""
    if finding.oracle != FUNCTION:
        return ""
    outcome = finding.outcomes[finding.targets[-1]]
    if finding.kind in {"exception", "import"} and isinstance(outcome, Errored):
        return outcome.exception
    return "AssertionError" if finding.kind == "ensure" else BROKEN
