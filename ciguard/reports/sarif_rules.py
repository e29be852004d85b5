"""The SARIF rules: one per class of finding, with a stable name, a description and a remedy."""

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
"""Default level of a class's rule; `note` for other classes. The policy sets a result's level."""
_SECURITY_SEVERITY = "8.0"
"""CVSS score of an access out of bounds that arguments alone cause; GitHub shows it as `high`."""

_DESCRIPTIONS = {
    FindingClass.SECURITY: (
        (
            "The process crashes because it read or wrote memory out of bounds. An attacker who "
            "controls the arguments may be able to do more than crash it."
        ),
        (
            "Validate the arguments before they reach the library. Report the script to the "
            "library's maintainers, privately if their security policy asks for that."
        ),
    ),
    FindingClass.CRASH: (
        "A call or model run crashes the Python process instead of raising an exception.",
        "Run the script. Report it upstream, or validate the arguments at the marked line.",
    ),
    FindingClass.WRONG_RESULT: (
        (
            "A call or model run returns another result than a different version, device, mode, "
            "backend or equivalent computation."
        ),
        "Compare both results in the report, and decide which one is right before upgrading.",
    ),
    FindingClass.REGRESSION: (
        "One version accepts a call that the other rejects.",
        "Change the call at the marked line, or do not upgrade.",
    ),
    FindingClass.INTERNAL_ERROR: (
        "An assertion error or internal exception of the library reaches the user.",
        "Report the script upstream; do not catch the exception by its class.",
    ),
    FindingClass.HANG: (
        "A call or model run does not return.",
        "Validate the arguments, and report the script upstream.",
    ),
    FindingClass.EXHAUSTION: (
        "A call or model run exhausts all memory although its inputs are small.",
        "Limit the arguments before they reach the library.",
    ),
    FindingClass.ACCEPTED_ILLEGAL: (
        "The library accepts an argument that its own documentation forbids.",
        "Do not rely on the result of such a call.",
    ),
    FindingClass.REFUSED_LEGAL: (
        "A program fails although its last block is legal and runs by itself.",
        "Run the script. Report it upstream, or use another argument at the marked line.",
    ),
    FindingClass.FUNCTION: (
        "A function fails for arguments that its annotations allow.",
        "Run the script and fix the marked line, or forbid the arguments in the annotations.",
    ),
    FindingClass.APPLICATION: (
        "An application fails on a possible response of a cognitive service, or misinterprets it.",
        "Handle the response that the report shows at the marked line.",
    ),
    FindingClass.PERFORMANCE: (
        "A call or model run needs more time or memory than on the reference, or leaks memory.",
        "Compare the measurements in the report.",
    ),
    FindingClass.CHANGE: (
        "Two versions behave differently, and neither is clearly wrong.",
        "Check whether your sources rely on the older behaviour.",
    ),
    FindingClass.ANNOUNCED: (
        "Two versions behave differently, and the newer one documents the change.",
        "Check whether your sources rely on the older behaviour, then adapt them.",
    ),
    FindingClass.UNREACHABLE: (
        "A raw entry point fails on a handle that no public API passes to it.",
        "Report the script upstream. No program that uses only public calls is known to fail.",
    ),
    FindingClass.DOCUMENTATION: (
        "The documentation contradicts itself or the library.",
        "Correct the documentation.",
    ),
    FindingClass.OTHER: (
        "An oracle of another package reported a defect.",
        "Read the oracle's message in the report.",
    ),
}
"""Description and remedy of each class."""
_NEXT_STEPS = (
    "Every result names its bucket: `ciguard show BUCKET` shows its details, "
    "`ciguard reproduce BUCKET` runs its case again, and `ciguard accept BUCKET` accepts it."
)

RULES = list(FindingClass)
"""Classes in the order of their rules in the file."""


def rule(kind: FindingClass) -> dict[str, Json]:
    """Return the SARIF rule of a class of findings, which is the same in every run."""
    description, remedy = _DESCRIPTIONS[kind]
    is_security = kind is FindingClass.SECURITY
    return {
        "id": kind.value,
        "name": "".join(word.capitalize() for word in kind.value.split("-")),
        "shortDescription": {"text": f"{kind.words[0].upper()}{kind.words[1:]}"},
        "fullDescription": {"text": description},
        "help": {
            "text": f"{description} {remedy} {_NEXT_STEPS}",
            "markdown": f"{description}\n\n{remedy}\n\n{_NEXT_STEPS}",
        },
        "defaultConfiguration": {"level": _LEVELS.get(kind, "note")},
        "properties": {
            "tags": ["ciguard", *(["security"] if is_security else ["reliability"])],
            "precision": "very-high",
            **({"security-severity": _SECURITY_SEVERITY} if is_security else {}),
        },
    }
