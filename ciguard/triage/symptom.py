"""Symptoms: texts for outcomes that are equal whenever the same defect occurs.

For example, an invalid memory write may lead to SIGSEGV, to SIGBUS or to an abort by the allocator.
All these outcomes have the same symptom.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ciguard.domain.corruption import corruption_line, is_memory_fault
from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Hung, Passed, Rejected
from ciguard.triage.normalise import normalise

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Frame, Outcome

MEMORY_CORRUPTION = "memory corruption"
INTERNAL_ERROR = "internal error"
FAILED_CHECK = "failed check"

_REASON_LINES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^.*\bCheck fail(?:ed|ure): .*$",
        r"^.*\bAssertion [`'].*' failed.*$",
        r"^.*INTERNAL ASSERT FAILED.*$",
        # Lines that TensorFlow, Abseil and Jittor log as fatal.
        r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* F .*$",
        r"^F\d{4} \d\d:\d\d:\d.*$",
        r"^\[f \d{4} .*$",
        r"^.*\b(?:LLVM ERROR|UNREACHABLE executed|pure virtual method called)\b.*$",
        r"^Fatal Python error: .*$",
    )
)
"""Patterns of log lines that state the reason of an abort, most specific first."""
_SIGNAL_REPORT = re.compile(
    r"^Fatal Python error: (?:Segmentation fault|Bus error|Aborted|Floating)"
)
_TERMINATE = re.compile(
    r"terminate called after throwing an instance of '(?P<type>[^']*)'"
    r"(?:\s+what\(\): +(?P<what>.*))?"
)
_LOG_PREFIX = re.compile(r"^(?:\d{4}-\d\d-\d\d [\d:.]+: F |F\d{4} [\d:.]+\s+(?:\d+ )?)")
_BY_SIGNAL = {
    "SIGFPE": "arithmetic",
    "SIGILL": "illegal instruction",
    "SIGTRAP": "trap",
    "SIGABRT": "abort",
}


@dataclass(frozen=True, slots=True)
class Symptom:
    """The part of an outcome that identifies the defect."""

    name: str
    """`memory corruption`, `failed check`, `internal error`, `hang`, …"""
    text: str = ""
    """Normalised reason, such as the failed check; empty if there is none."""
    frames: tuple[Frame, ...] = ()
    """Python frames, innermost first; empty if they do not identify the defect."""


def symptom_of(outcome: Outcome, *, fuzzed: tuple[str, ...] = ()) -> Symptom:
    """Return the symptom of an outcome.

    Args:
        outcome: the outcome on one target.
        fuzzed: the strings among the case's arguments, which messages may quote.
    """
    match outcome:
        case Passed():
            return Symptom("passed")
        case Rejected(exception, message):
            return Symptom("rejected", f"{exception}: {normalise(message, fuzzed=fuzzed)}")
        case Errored(exception, message, stack):
            text = f"{exception}: {normalise(message, fuzzed=fuzzed)}"
            return Symptom(INTERNAL_ERROR, text, stack)
        case Crashed():
            return _crash_symptom(outcome, fuzzed=fuzzed)
        case Hung():
            # The stack depends on when the timeout happened.
            return Symptom("hang")
        case Exhausted(resource):
            return Symptom(f"exhausted {resource.value}")
        case _:
            assert_never(outcome)


def _crash_symptom(outcome: Crashed, *, fuzzed: tuple[str, ...]) -> Symptom:
    """Return a crash's symptom: memory corruption, a failed check, or the kind of signal."""
    cause, stack, log = outcome.cause, outcome.stack, outcome.log
    if outcome.is_device_error or outcome.is_memory_error:
        # Without frames: a later call reports the error of a kernel, and the finding's detail names
        # the argument whose memory is left.
        return Symptom(cause)
    # Memory corruption is detected after it happened, so the stack does not identify it.
    if is_memory_fault(cause):
        return Symptom(MEMORY_CORRUPTION)
    reason = stated_reason(log)
    if not reason and corruption_line(log):
        return Symptom(MEMORY_CORRUPTION)
    if reason:
        return Symptom(FAILED_CHECK, normalise(reason, fuzzed=fuzzed), stack)
    if cause.startswith("exit "):
        return Symptom("process exit", "", stack)
    return Symptom(_BY_SIGNAL.get(cause, "killed"), "", stack)


def stated_reason(log: str) -> str:
    """Return the line of a log that states the reason for an abort; empty if there is none."""
    if match := _TERMINATE.search(log):
        return f"uncaught {match['type']}: {match['what'] or ''}".rstrip(": ")
    for pattern in _REASON_LINES:
        lines = [line for line in pattern.findall(log) if not _SIGNAL_REPORT.match(line)]
        if lines:
            return str(lines[-1]).strip()
    return ""


def summary_line(outcome: Outcome) -> str:
    """Return the most informative line of an outcome; empty if it passed."""
    match outcome:
        case Rejected(exception, message) | Errored(exception, message):
            return f"{exception}: {message}"
        case Crashed(cause, _, log):
            reason = _LOG_PREFIX.sub("", stated_reason(log)) or corruption_line(log)
            return f"{cause}: {reason}" if reason else cause
        case Hung(limit_s):
            return f"no return within {limit_s:g} s"
        case Exhausted(resource, message):
            return f"{resource.value} exhausted: {message}" if message else f"{resource} exhausted"
        case Passed():
            return ""
        case _:
            assert_never(outcome)
