"""What a person reads of failures: the call, the traceback of the user's frames, the counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.functions.hosting.verdicts import traceback_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.searching.search import MinimalFailure, SearchResult

_HIGH_DISCARD_RATE = 0.5


@dataclass(slots=True, kw_only=True)
class Told:
    """What a test comes to."""

    failure: str = ""
    """Text of all failures; empty: there is none."""
    exceptions: tuple[str, ...] = ()
    """Classes of the exceptions, a failure each."""
    skip: str = ""
    """Why nothing was tested."""
    warnings: list[str] = field(default_factory=list)
    properties: list[tuple[str, object]] = field(default_factory=list)
    """For reports that machines read."""


def counts_text(result: SearchResult) -> str:
    """Return how many inputs were tried: `100 valid inputs, 12 discarded (11 %)`."""
    parts = [f"{result.valid} valid {'input' if result.valid == 1 else 'inputs'}"]
    parts.append(f"{result.discarded} discarded")
    if result.discarded:
        parts[-1] += f" ({100 * result.discard_rate:.0f} %)"
    if result.no_instance:
        parts.append(f"{result.no_instance} without an instance, as its constructor failed")
    if result.stopped:
        parts.append("stopped as its time was up")
    return ", ".join(parts)


def found_text(found: MinimalFailure, call: str, script: str) -> str:
    """Return one failure: traceback, the smallest call, what it printed, the script.

    Args:
        found: the failure.
        call: its source text.
        script: that fails likewise.
    """
    failure = found.failure
    said = f"{failure.type}: {failure.message}" if failure.message else failure.type
    head = "\n".join(filter(None, [traceback_text(failure.frames), said]))
    parts = [head, f"Falsifying example: {call}"]
    if not found.recurs:
        parts.append(
            "It did not recur when it was called once more: it depends on what ran before."
        )
    for name, text in zip(("stdout", "stderr"), found.output, strict=True):
        if text.strip():
            parts.append(f"Captured {name} of this call:\n{text.rstrip()}")
    parts.append("As a script:\n" + "\n".join(f"    {line}" for line in script.splitlines()))
    return "\n\n".join(parts)


def unsatisfied_text(name: str, result: SearchResult, conditions: Sequence[str]) -> str:
    """Return why a function could not be tested at all."""
    lines = [f"{name}: no valid input among {result.discarded + result.no_instance} tried."]
    if conditions:
        lines += ["Its preconditions cannot be satisfied, or hardly:"]
        lines += [f"  {condition}" for condition in conditions]
    frequent = sorted(result.reasons.items(), key=lambda item: -item[1])
    if any(why for why, _ in frequent):
        lines += ["What they were refused for:"]
        lines += [f"  {count} times: {why}" for why, count in frequent[:3] if why]
    lines.append("Narrow the annotations of its arguments, or correct the precondition.")
    return "\n".join(lines)


def discards_much(result: SearchResult) -> bool:
    """Return whether most inputs are made for nothing."""
    return result.discard_rate > _HIGH_DISCARD_RATE
