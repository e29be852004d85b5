"""A finding of an application as a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain import AppCase, as_kind
from ciguard.levels.app.call_source import app_statements
from ciguard.triage.scripting import comment, header

if TYPE_CHECKING:
    from ciguard.domain import Finding
    from ciguard.triage import EnvironmentHint


def app_script(finding: Finding, hint: EnvironmentHint) -> str:
    """Return a script that calls the function with the answers that matter."""
    outcome = finding.outcomes.get(finding.targets[-1]) if finding.targets else None
    imports, statements = app_statements(as_kind(finding.case, AppCase), outcome)
    where = comment("Run it in the folder that holds the program's path, with ciguard installed.")
    beginning = "\n".join(imports)
    return f"{header(finding, hint)}\n#\n{where}\n\n{beginning}\n\n" + "\n".join(statements) + "\n"
