"""Reproducer scripts of findings in applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.app_runs import AppCase
from ciguard.domain.case import as_kind
from ciguard.domain.outcomes import Crashed, Hung
from ciguard.levels.app.call_source import app_statements
from ciguard.triage.scripting import comment, header

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.execution import ScriptResult
    from ciguard.triage import EnvironmentHint

_HANG_MARKER = "Timeout ("
"""Beginning of the message of `faulthandler` after a timeout."""
_CALL_MARKER = "the call has ended the process."
"""End of the line that a script prints before a call that may not return."""
_RETURN_MARKERS = ("The defect did not show.", "Traceback (")
"""Output of a script whose call returned or raised."""


def app_script(finding: Finding, hint: EnvironmentHint) -> str:
    """Return a script that calls the function with the stub responses of a finding."""
    outcome = finding.outcomes.get(finding.targets[-1]) if finding.targets else None
    imports, statements = app_statements(as_kind(finding.case, AppCase), outcome)
    usage = comment("Run it in the folder where ciguard ran, with ciguard installed.")
    import_lines = "\n".join(imports)
    return (
        f"{header(finding, hint)}\n#\n{usage}\n\n{import_lines}\n\n" + "\n".join(statements) + "\n"
    )


def still_fails_to_return(outcome: Hung | Crashed, result: ScriptResult) -> bool:
    """Return whether the call in a script hung or ended its process again.

    Args:
        outcome: the outcome of the call in the campaign.
        result: the result of the script.
    """
    if isinstance(outcome, Hung):
        return result.exit_code == 1 and _HANG_MARKER in result.log
    output_after = result.log.rstrip().rpartition(_CALL_MARKER)[2]
    return _CALL_MARKER in result.log and not any(text in output_after for text in _RETURN_MARKERS)
