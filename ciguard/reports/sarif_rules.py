"""One rule of SARIF per class of finding: stable names, and words that help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.policy import FindingClass

if TYPE_CHECKING:
    from ciguard.domain.values import Json

_LEVELS = {
    FindingClass.SECURITY: "error",
    FindingClass.CRASH: "error",
    FindingClass.WRONG_RESULT: "error",
    FindingClass.REGRESSION: "warning",
    FindingClass.INTERNAL_ERROR: "error",
    FindingClass.HANG: "error",
    FindingClass.EXHAUSTION: "warning",
    FindingClass.REFUSED_LEGAL: "warning",
    FindingClass.FUNCTION: "error",
    FindingClass.APPLICATION: "warning",
}
"""Of a rule by itself; every result has its own, which the policy decides. Others are notes."""
_SECURITY_SEVERITY = "8.0"
"""Memory is read or written out of bounds by arguments alone: high, as GitHub counts."""

_MEANS = {
    FindingClass.SECURITY: (
        (
            "The process dies of memory that it read or wrote out of bounds. Whoever controls the "
            "arguments may be able to do more than end it."
        ),
        (
            "Validate the arguments before they reach the library, and report the script upstream, "
            "privately where the library asks for that."
        ),
    ),
    FindingClass.CRASH: (
        "A call or model run ends the Python process where an exception was due.",
        "Run the script; report it upstream, or guard the arguments at the marked line.",
    ),
    FindingClass.WRONG_RESULT: (
        (
            "A call or model run returns what another version, device, mode, backend or "
            "computation contradicts."
        ),
        "Compare both results in the report and decide which one is right before upgrading.",
    ),
    FindingClass.REGRESSION: (
        "What one version accepts, the other refuses.",
        "Change the call at the marked line, or hold the version back.",
    ),
    FindingClass.INTERNAL_ERROR: (
        "An assertion or an internal exception of the library escapes to the user.",
        "Report the script upstream; do not catch the exception by its class.",
    ),
    FindingClass.HANG: (
        "A call or model run does not return.",
        "Guard the arguments, and report the script upstream.",
    ),
    FindingClass.EXHAUSTION: (
        "A call or model run uses up all memory although what it is given is small.",
        "Bound the arguments before they reach the library.",
    ),
    FindingClass.ACCEPTED_ILLEGAL: (
        "The library takes an argument that its own documentation forbids.",
        "Do not rely on what it returns then.",
    ),
    FindingClass.REFUSED_LEGAL: (
        "A program fails although its last block is legal, and runs alone.",
        "Run the script; report it upstream, or use another argument at the marked line.",
    ),
    FindingClass.FUNCTION: (
        "A function fails for arguments that its annotations allow.",
        "Run the script and mend the marked line, or let the annotations say what is not allowed.",
    ),
    FindingClass.APPLICATION: (
        "An application makes too little of what a cognitive service may answer, or fails on it.",
        "Handle the answer in the report at the marked line, or compare with what services say.",
    ),
    FindingClass.PERFORMANCE: (
        "A call or model run takes more time or memory than on the reference, or with every run.",
        "Look at the measurements in the report.",
    ),
    FindingClass.CHANGE: (
        "Two versions behave differently, and neither is plainly wrong.",
        "Check whether the sources rely on the older behaviour.",
    ),
    FindingClass.UNREACHABLE: (
        "A raw entry point fails on a handle that public calls do not give it.",
        "Report the script upstream; no program that makes public calls is known to meet it.",
    ),
    FindingClass.DOCUMENTATION: (
        "The documentation contradicts itself or the library.",
        "Mend the documentation.",
    ),
    FindingClass.OTHER: (
        "An oracle of another package found a defect.",
        "Read what the oracle says in the report.",
    ),
}
_HOW_TO_GO_ON = (
    "Every result names its bucket: `ciguard show BUCKET` tells all about one, "
    "`ciguard reproduce BUCKET` runs its case again, and `ciguard accept BUCKET` lets it be."
)

RULES = list(FindingClass)
"""In the order of the file: the index of a rule is that of its class."""


def rule(kind: FindingClass) -> dict[str, Json]:
    """Return the rule of a class. It says nothing of a run, so that it stays the same."""
    means, remedy = _MEANS[kind]
    security = kind is FindingClass.SECURITY
    return {
        "id": kind.value,
        "name": "".join(word.capitalize() for word in kind.value.split("-")),
        "shortDescription": {"text": f"{kind.words[0].upper()}{kind.words[1:]}"},
        "fullDescription": {"text": means},
        "help": {
            "text": f"{means} {remedy} {_HOW_TO_GO_ON}",
            "markdown": f"{means}\n\n{remedy}\n\n{_HOW_TO_GO_ON}",
        },
        "defaultConfiguration": {"level": _LEVELS.get(kind, "note")},
        "properties": {
            "tags": ["ciguard", *(["security"] if security else ["reliability"])],
            "precision": "very-high",
            **({"security-severity": _SECURITY_SEVERITY} if security else {}),
        },
    }
