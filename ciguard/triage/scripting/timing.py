"""The part of a script that measures the time or memory of a call."""

from __future__ import annotations

import re
import textwrap
from statistics import median
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Passed
from ciguard.execution import Measurement, Quantity, decode_measured
from ciguard.oracles import (
    KINDS,
    MIN_GROWTH,
    MIN_PEAK,
    MIN_RATIO,
    MIN_TIME_NS,
    SLOW,
    CountChange,
    has_counts,
    measurement_in_words,
)
from ciguard.triage.scripting import counting

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome

_TIME = """
call_times = []
for _ in range(50):
    call_times.append(-time.process_time_ns() / 1000)
{call}
    call_times[-1] += time.process_time_ns() / 1000
print("measured: %.1f µs (median of 50 calls)" % statistics.median(call_times))
"""
_PEAK = """
memory_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{call}
memory_before -= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print("measured: %.1f MiB more at the worst" % (-memory_before / 1024))
"""
_GROWTH = """
def resident_kib():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1024


for repeats in (100, 2000):  # the first calls fill caches
    memory_before = resident_kib()
    for _ in range(repeats):
{call}
print("measured: %.1f KiB more per call" % ((resident_kib() - memory_before) / 2000))
"""
_SINGLE_RUN = """
began_s = time.monotonic()
{call}
raise SystemExit("SLOW: measured: %.2f s" % (time.monotonic() - began_s))
"""
_TEMPLATES = {Quantity.TIME: (_TIME, 1), Quantity.PEAK: (_PEAK, 0), Quantity.GROWTH: (_GROWTH, 2)}
"""Template of the source text, and the call's level of indentation in it, by quantity."""
_MEASURED = re.compile(r"^(?:SLOW: )?measured: (-?[\d.]+) ", re.MULTILINE)
_UNITS = {
    Quantity.TIME: 1e3,
    Quantity.PEAK: 2.0**20,
    Quantity.GROWTH: 1024.0,
    Quantity.INSTRUCTIONS: 1.0,
}
"""Factor from the printed number to the unit of the measurement, by quantity."""
_MODULES = {
    Quantity.TIME: ("statistics", "time"),
    Quantity.PEAK: ("resource",),
    Quantity.GROWTH: ("resource",),
    Quantity.INSTRUCTIONS: (),
}
"""Modules of the standard library that a template needs, by quantity."""
_BY_KIND = {kind: quantity for quantity, kind in KINDS.items()}


def timing(finding: Finding, calls: list[str]) -> str:
    """Return source text that measures a call and prints the result.

    Args:
        finding: the finding; its kind decides which quantity is measured.
        calls: the statements that make the call.
    """
    if finding.kind == SLOW:
        return _SINGLE_RUN.strip("\n").format(call="\n".join(calls))
    counts = counting.counted(calls) if has_counts(finding) else ""
    if counting.is_counted_only(finding):
        return counts
    template, depth = _TEMPLATES[_BY_KIND[finding.kind]]
    body = textwrap.indent("\n".join(calls), "    " * depth)
    return "\n\n".join(filter(None, [counts, template.strip("\n").format(call=body)]))


def imported_modules(finding: Finding) -> tuple[str, ...]:
    """Return the modules that the source text of `timing` imports."""
    if finding.kind == SLOW:
        return ("time",)
    counted = tuple(counting.MODULES) if has_counts(finding) else ()
    return (*counted, *_MODULES[_BY_KIND[finding.kind]])


def reproduces_measurement(finding: Finding, log: str) -> bool:
    """Return whether the measurement in a script's log is large enough for the finding."""
    match = _MEASURED.search(log)
    if finding.kind == SLOW:
        slow = finding.outcomes[finding.targets[-1]]
        return match is not None and isinstance(slow, Passed) and float(match[1]) > slow.cost_s / 2
    reference = _measured(finding.outcomes.get(finding.targets[0]))
    if match is None or reference is None:
        return False
    quantity = reference.quantity
    measured = float(match[1]) * _UNITS[quantity]
    if quantity is Quantity.GROWTH:
        return measured > MIN_GROWTH
    if quantity is Quantity.INSTRUCTIONS:
        return CountChange(median(reference.values), measured, 0.0).is_slower
    min_excess = MIN_TIME_NS if quantity is Quantity.TIME else MIN_PEAK
    usual = median(reference.values)
    return measured >= MIN_RATIO * usual and measured - usual >= min_excess


def measurement_text(outcome: Outcome | None) -> str:
    """Return an outcome's measurement as text with its unit; empty if it has none."""
    measured = _measured(outcome)
    return measurement_in_words(measured) if measured is not None else ""


def _measured(outcome: Outcome | None) -> Measurement | None:
    return decode_measured(outcome.encoded) if isinstance(outcome, Passed) else None
