"""The section of an issue that shows how to reproduce the defect: commands, script and effect."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, assert_never

from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Hung, Passed, Rejected
from ciguard.domain.text import markdown_block, markdown_code
from ciguard.oracles import traits_of

if TYPE_CHECKING:
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.trackers.context import Context

MAX_SCRIPT = 20_000
"""Maximum number of characters of a script in an issue."""
_INSTALL = re.compile(r"^# Install: pip install (.+)$", re.MULTILINE)
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\[\]-]{0,99}(?:==[A-Za-z0-9.+!_-]{1,60})?")
_PINNED = re.compile(r"# +((?:[A-Za-z0-9][\w.\[\],-]*==[\w.+!-]+ *)+)", re.ASCII)
"""Comment line that continues a wrapped list of requirements."""
_FILE = "reproduce.py"
_NEEDS_CIGUARD = "with ciguard installed"
"""Part of the comment in a script that needs ciguard."""


def reproduction(bucket: Bucket, context: Context) -> str:
    """Return the section with commands and script; empty if there is no script."""
    if not context.script:
        return ""
    if len(context.script) > MAX_SCRIPT:
        return (
            f"### Reproduce\n\nThe script has {len(context.script)} characters, too many for an "
            "issue. The results of the run contain it in `reproducers/`."
        )
    parts = [
        "### Reproduce",
        _commands(bucket.finding, context.script),
        _expected_effect(bucket, context.script),
    ]
    block = markdown_block(context.script.rstrip("\n"), language="python", limit=MAX_SCRIPT)
    return "\n\n".join([*parts, block])


def requirements(script: str) -> list[str]:
    """Return the requirements in the script's line `Install:`; empty if one of them is malformed.

    The script is untrusted, and readers paste the requirements into a shell.
    """
    match = _INSTALL.search(script)
    if match is None:
        return []
    try:
        words = shlex.split(match[1])
    except ValueError:
        return []
    for line in script[match.end() :].lstrip("\n").split("\n"):
        wrapped = _PINNED.fullmatch(line)
        if wrapped is None:
            break
        words += wrapped[1].split()
    return words if all(map(_REQUIREMENT.fullmatch, words)) else []


def _commands(finding: Finding, script: str) -> str:
    needed = requirements(script)
    save = f"Save the script as `{_FILE}`"
    if finding.case.is_user_code:
        save += f" in the folder that contains {markdown_code(finding.api.partition(':')[0])}"
    also = "\n\nThe script needs ciguard, too." if _NEEDS_CIGUARD in script else ""
    if not needed:
        return f"{save}, install the packages in its line `Install:`, and run it.{also}"
    lines = [
        "python3 -m venv reproduce && . reproduce/bin/activate",
        f"pip install {shlex.join(needed)}",
        f"python {_FILE}",
    ]
    block = markdown_block("\n".join(lines), language="shell")
    return f"{save}, then:\n\n{block}{also}"


def _expected_effect(bucket: Bucket, script: str) -> str:
    verified = "ciguard ran the script and observed this effect." if bucket.reproduced else ""
    return " ".join(filter(None, [_effect(bucket.finding, script), verified]))


def _effect(finding: Finding, script: str) -> str:
    """Return sentences about what the script does with and without the defect; empty if unknown."""
    word = traits_of(finding.oracle).mark
    if word and word in script:
        return (
            f"With the defect, the last line of the output starts with `{word}`, and the exit code "
            "is 1. Without the defect, there is no such line."
        )
    if finding.pair is not PairKind.NONE or finding.case.is_user_code:
        return ""
    return _end(finding.outcomes.get(finding.targets[-1]) if finding.targets else None)


def _end(outcome: Outcome | None) -> str:
    match outcome:
        case Crashed():
            return (
                "With the defect, the interpreter crashes. Without the defect, the script ends "
                "normally."
            )
        case Errored():
            return "With the defect, the script ends with an uncaught exception."
        case Hung(limit_s):
            return f"With the defect, a call does not return within {limit_s:g} s."
        case Exhausted():
            return (
                "With the defect, the script exhausts the memory of the machine. Limit the memory "
                "with `ulimit -v` before you run it."
            )
        case Passed() | Rejected() | None:
            return ""
        case _:
            assert_never(outcome)
