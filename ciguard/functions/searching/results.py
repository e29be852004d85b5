"""Results of tests, and the text of their failures: counts, traceback and call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.functions.hosting.verdicts import traceback_text
from ciguard.functions.in_target.loading import advice_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.searching.search import MinimalFailure, SearchResult

_HIGH_DISCARD_RATE = 0.5
"""Fraction of discarded inputs above which a test warns."""


@dataclass(slots=True, kw_only=True)
class FunctionTestResult:
    """Result of the test of a function or script."""

    failure: str = ""
    """Text of all failures; empty if there are none."""
    exceptions: tuple[str, ...] = ()
    """Names of the exceptions' classes, one per failure."""
    skip: str = ""
    """Reason why no call was made; empty if calls were made."""
    warnings: list[str] = field(default_factory=list)
    properties: list[tuple[str, object]] = field(default_factory=list)
    """Properties for machine-readable reports, such as JUnit."""


def counts_text(result: SearchResult) -> str:
    """Return the numbers of inputs as text, such as `100 valid inputs, 12 discarded (11 %)`."""
    parts = [f"{result.valid_count} valid {'input' if result.valid_count == 1 else 'inputs'}"]
    parts.append(f"{result.discarded_count} discarded")
    if result.discarded_count:
        parts[-1] += f" ({100 * result.discard_rate:.0f} %)"
    if result.no_instance_count:
        count = result.no_instance_count
        parts.append(f"{count} without an instance, because the constructor failed")
    if result.fails_always:
        parts.append("stopped early because all inputs fail in this way")
    if result.is_stopped:
        parts.append("stopped because the time budget was used up")
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
    lines = [advice_on(failure.message), traceback_text(failure.frames), message]
    head = "\n".join(filter(None, lines))
    parts = [head, f"Falsifying example: {call}"]
    if not minimal.is_reproducible:
        parts.append(
            "The repeated call did not fail in the same way. The failure depends on earlier calls."
        )
    for name, text in zip(("stdout", "stderr"), minimal.output, strict=True):
        if text.strip():
            parts.append(f"Captured {name} of this call:\n{text.rstrip()}")
    parts.append("As a script:\n" + "\n".join(f"    {line}" for line in script.splitlines()))
    return "\n\n".join(parts)


def unsatisfied_text(name: str, result: SearchResult, conditions: Sequence[str]) -> str:
    """Return the message for a function of which no input is valid.

    Args:
        name: name of the function.
        result: result of the search.
        conditions: source texts of the function's preconditions.
    """
    lines = [
        f"{name}: all {result.discarded_count + result.no_instance_count} inputs were invalid."
    ]
    if conditions:
        lines += ["Almost no input satisfies all preconditions:"]
        lines += [f"  {condition}" for condition in conditions]
    frequent = sorted(result.reasons.items(), key=lambda item: -item[1])
    if any(reason for reason, _ in frequent):
        lines += ["Most frequent reasons:"]
        lines += [f"  {count} times: {reason}" for reason, count in frequent[:3] if reason]
    lines.append("Narrow the annotations of the arguments, or correct the preconditions.")
    return "\n".join(lines)


def has_high_discard_rate(result: SearchResult) -> bool:
    """Return whether more than half of the inputs are discarded."""
    return result.discard_rate > _HIGH_DISCARD_RATE
