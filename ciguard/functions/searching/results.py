"""Results of tests, and the text of their failures: call, traceback of user frames, counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.functions.hosting.verdicts import traceback_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.searching.search import MinimalFailure, SearchResult

_HIGH_DISCARD_RATE = 0.5


@dataclass(slots=True, kw_only=True)
class FunctionTestResult:
    """Result of the test of a function or script."""

    failure: str = ""
    """Text of all failures; empty if there are none."""
    exceptions: tuple[str, ...] = ()
    """Classes of the exceptions, one per failure."""
    skip: str = ""
    """Reason why nothing was tested; empty if something was."""
    warnings: list[str] = field(default_factory=list)
    properties: list[tuple[str, object]] = field(default_factory=list)
    """Properties for machine-readable reports, such as JUnit."""


def counts_text(result: SearchResult) -> str:
    """Return the numbers of inputs: `100 valid inputs, 12 discarded (11 %)`."""
    parts = [f"{result.valid} valid {'input' if result.valid == 1 else 'inputs'}"]
    parts.append(f"{result.discarded} discarded")
    if result.discarded:
        parts[-1] += f" ({100 * result.discard_rate:.0f} %)"
    if result.no_instance:
        parts.append(f"{result.no_instance} without an instance, since its constructor failed")
    if result.stopped:
        parts.append("stopped at the time limit")
    return ", ".join(parts)


def failure_text(minimal: MinimalFailure, call: str, script: str) -> str:
    """Return the text of one failure: traceback, smallest call, output and script.

    Args:
        minimal: the failure.
        call: source text of the call.
        script: script that reproduces the failure.
    """
    failure = minimal.failure
    message = f"{failure.type}: {failure.message}" if failure.message else failure.type
    head = "\n".join(filter(None, [traceback_text(failure.frames), message]))
    parts = [head, f"Falsifying example: {call}"]
    if not minimal.is_reproducible:
        parts.append(
            "The failure did not recur when the call was repeated: it depends on earlier calls."
        )
    for name, text in zip(("stdout", "stderr"), minimal.output, strict=True):
        if text.strip():
            parts.append(f"Captured {name} of this call:\n{text.rstrip()}")
    parts.append("As a script:\n" + "\n".join(f"    {line}" for line in script.splitlines()))
    return "\n\n".join(parts)


def unsatisfied_text(name: str, result: SearchResult, conditions: Sequence[str]) -> str:
    """Return why a function could not be tested."""
    lines = [f"{name}: none of {result.discarded + result.no_instance} inputs is valid."]
    if conditions:
        lines += ["Its preconditions are unsatisfiable, or nearly so:"]
        lines += [f"  {condition}" for condition in conditions]
    frequent = sorted(result.reasons.items(), key=lambda item: -item[1])
    if any(reason for reason, _ in frequent):
        lines += ["Most frequent reasons:"]
        lines += [f"  {count} times: {reason}" for reason, count in frequent[:3] if reason]
    lines.append("Narrow the annotations of its arguments, or correct the precondition.")
    return "\n".join(lines)


def has_high_discard_rate(result: SearchResult) -> bool:
    """Return whether most inputs are discarded."""
    return result.discard_rate > _HIGH_DISCARD_RATE
