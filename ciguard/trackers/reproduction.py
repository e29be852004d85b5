"""How a reader sees the defect in a minute: what to install, the script, what it shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Hung, Passed, Rejected
from ciguard.domain.text import markdown_block
from ciguard.oracles import traits_of

if TYPE_CHECKING:
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.trackers.context import Context

MAX_SCRIPT = 20_000
"""Characters of a script that an issue shows."""
_INSTALL = re.compile(r"^# Install: pip install (.+)$", re.MULTILINE)
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\[\]-]{0,99}(?:==[A-Za-z0-9.+!_-]{1,60})?")
_PINNED = re.compile(r"# +((?:[A-Za-z0-9][\w.\[\],-]*==[\w.+!-]+ *)+)", re.ASCII)
"""A line of comment into which a long list of requirements was wrapped."""
_FILE = "reproduce.py"


def reproduction(bucket: Bucket, context: Context) -> str:
    """Return the section with the commands and the script; empty if there is no script."""
    if not context.script:
        return ""
    if len(context.script) > MAX_SCRIPT:
        return (
            f"### Reproduce\n\nThe script has {len(context.script)} characters, too many for an "
            "issue: it is among the results of the run, in `reproducers/`."
        )
    parts = ["### Reproduce", _commands(context.script), _shown(bucket, context.script)]
    block = markdown_block(context.script.rstrip("\n"), language="python", limit=MAX_SCRIPT)
    return "\n\n".join([*parts, block])


def requirements(script: str) -> list[str]:
    """Return what the script's line `Install:` names; empty if that is not for a shell.

    The script may come from anybody's results: people paste these words into a terminal.
    """
    match = _INSTALL.search(script)
    if match is None:
        return []
    words = match[1].split()
    for line in script[match.end() :].lstrip("\n").split("\n"):
        wrapped = _PINNED.fullmatch(line)
        if wrapped is None:
            break
        words += wrapped[1].split()
    return words if all(map(_REQUIREMENT.fullmatch, words)) else []


def _commands(script: str) -> str:
    needed = requirements(script)
    if not needed:
        return f"Save the script as `{_FILE}`, install what its line `Install:` says, and run it."
    lines = [
        "python3 -m venv reproduce && . reproduce/bin/activate",
        f"pip install {' '.join(needed)}",
        f"python {_FILE}",
    ]
    return f"Save the script as `{_FILE}`, then:\n\n" + markdown_block(
        "\n".join(lines), language="shell"
    )


def _shown(bucket: Bucket, script: str) -> str:
    checked = "ciguard ran it on its own and saw the same." if bucket.reproduced else ""
    return " ".join(filter(None, [_effect(bucket.finding, script), checked]))


def _effect(finding: Finding, script: str) -> str:
    """Return what the script does where the defect shows; empty where that is not known."""
    word = traits_of(finding.oracle).mark
    if word and word in script:
        return (
            f"The defect shows as a last line that begins with `{word}`, and exit code 1. Without "
            "the defect there is no such line."
        )
    if finding.pair is not PairKind.NONE or finding.case.is_user_code:
        return ""
    return _end(finding.outcomes.get(finding.targets[-1]) if finding.targets else None)


def _end(outcome: Outcome | None) -> str:
    match outcome:
        case Crashed():
            return "The defect shows as a crash of the interpreter. Without it, the script ends."
        case Errored():
            return "The defect shows as an uncaught exception."
        case Hung(limit_s):
            return f"The defect shows as a call that does not return within {limit_s:g} s."
        case Exhausted():
            return "The defect shows as memory that grows without bound: limit it with `ulimit -v`."
        case Passed() | Rejected() | None:
            return ""
        case _:
            assert_never(outcome)
