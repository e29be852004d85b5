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

_SHOWS_HANG = "Timeout ("
"""Beginning of the message of `faulthandler` after a timeout."""
_SHOWS_CALL = "it has ended its process."
_RETURNED = ("The defect did not show.", "Traceback (")


def app_script(finding: Finding, hint: EnvironmentHint) -> str:
    """Return a script that calls the function with the stub responses of a finding."""
    outcome = finding.outcomes.get(finding.targets[-1]) if finding.targets else None
    imports, statements = app_statements(as_kind(finding.case, AppCase), outcome)
    usage = comment("Run it in the folder that holds the program's path, with ciguard installed.")
    import_lines = "\n".join(imports)
    return (
        f"{header(finding, hint)}\n#\n{usage}\n\n{import_lines}\n\n" + "\n".join(statements) + "\n"
    )


def still_fails_to_return(seen: Hung | Crashed, result: ScriptResult) -> bool:
    """Return whether the call of a script fails to return in the same way as before."""
    if isinstance(seen, Hung):
        return result.exit_code == 1 and _SHOWS_HANG in result.log
    output_after = result.log.rstrip().rpartition(_SHOWS_CALL)[2]
    return _SHOWS_CALL in result.log and not any(text in output_after for text in _RETURNED)
