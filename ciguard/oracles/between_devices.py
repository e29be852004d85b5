"""Results that must agree between devices according to the documentation.

Devices need not support the same calls.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.findings import Severity
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.execution import Container, TensorOutput, decode_outputs
from ciguard.libraries import NO_KERNEL, NONDETERMINISTIC, OPEN_INDICES, OPEN_VALUES
from ciguard.oracles.comparing.comparison import compare_outputs
from ciguard.oracles.relations import exemption_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles.comparing.comparison import Difference
    from ciguard.oracles.comparing.tolerance import InputPrecision
    from ciguard.oracles.contract import Subject

BETWEEN_DEVICES = "between devices"
"""Name in exemptions: the API's result depends on the device by definition."""
FIRST_BETWEEN_DEVICES = "all but the first between devices"
"""Name in exemptions: only the first item of the result must agree. The others are indices, for
which several values are correct if elements are equal."""
INCOMPLETE_BETWEEN_DEVICES = "incomplete between devices"
"""Name in exemptions: the result is a decomposition, whose last item is 0 if it is complete. An
incomplete decomposition may differ."""

_UNSPECIFIED_KINDS = frozenset({"exception", "accepted"})
"""Kinds of difference that are correct, because each device has its own checks and kernels."""
_ELEMENT_KINDS = frozenset({"values", "nan"})
MISSING_KERNEL = re.compile(
    r"not (?:implemented|supported|available|compiled)\b|NotImplemented|Could not run '"
    r"|(?i:unimplemented)|Could not find device for node|can't convert cuda"
    r"|\b(?:supports?|on) (?:the )?CPU(?: only)?\b|CPU only|only CPU"
    r"|_STATUS_(?:NOT_SUPPORTED|ARCH_MISMATCH)\b"
)
"""Message that states that a device or backend lacks a feature, or that only a CPU supports it."""
_ASSERTION = re.compile(r"device-side assert triggered|CUDA_ERROR_ASSERT")


def must_devices_agree(
    difference: Difference, subject: Subject, sides: tuple[Outcome, Outcome], inputs: InputPrecision
) -> bool:
    """Return whether the documentation rules out a difference between two devices.

    Args:
        difference: the difference between the outcomes of one call on the two devices.
        subject: the API that was called, with the notes of its catalogue.
        sides: the outcomes on the reference and on the other device.
        inputs: the precision of the call's inputs.
    """
    if difference.kind in _UNSPECIFIED_KINDS:
        return False
    if difference.kind not in _ELEMENT_KINDS:
        return True
    is_open = OPEN_VALUES in subject.on_devices or exemption_of(subject.api, BETWEEN_DEVICES)
    return not is_open and not _is_unspecified(subject, sides, inputs)


def must_repetitions_agree(difference: Difference, subject: Subject) -> bool:
    """Return whether the documentation rules out a difference between two runs on one device.

    Two versions of a library are compared in all parts that each of them computes in the same way
    in each call.
    """
    is_open = subject.on_devices >= {OPEN_VALUES, NONDETERMINISTIC}
    return not is_open or difference.kind not in _ELEMENT_KINDS


def must_relation_hold(difference: Difference, subject: Subject, *, is_repetition: bool) -> bool:
    """Return whether the documentation rules out that a relation is broken on a device."""
    open_notes = {NONDETERMINISTIC} if is_repetition else {OPEN_VALUES, OPEN_INDICES}
    return difference.kind not in _ELEMENT_KINDS or not subject.on_devices & open_notes


def _is_unspecified(
    subject: Subject, sides: tuple[Outcome, Outcome], inputs: InputPrecision
) -> bool:
    """Return whether results differ only in a part that the documentation leaves unspecified."""
    left, right = (
        decode_outputs(side.encoded) if isinstance(side, Passed) else None for side in sides
    )
    if not isinstance(left, Container) or not isinstance(right, Container):
        return False
    if not left.items or not right.items:
        return False
    if OPEN_INDICES in subject.on_devices or exemption_of(subject.api, FIRST_BETWEEN_DEVICES):
        return compare_outputs(left.items[0], right.items[0], inputs) is None
    is_complete = all(_is_zero(result.items[-1]) for result in (left, right))
    return exemption_of(subject.api, INCOMPLETE_BETWEEN_DEVICES) is not None and not is_complete


def _is_zero(output: Output) -> bool:
    return isinstance(output, TensorOutput) and not output.elements.any()


def severity_between_devices(
    severity: Severity, kind: str, other: Outcome, notes: Collection[str]
) -> Severity:
    """Return the severity of a difference between devices.

    No library has a kernel for every type on every device, so a rejection for lack of a kernel has
    severity INFO. Its message names the lack, or the library's table of kernels has none for the
    API. A kernel can reject a call only with an assertion, which is a defect of severity HIGH if
    the CPU accepts the call.
    """
    if kind != "refused" or not isinstance(other, Rejected):
        return severity
    if _ASSERTION.search(other.message):
        return Severity.HIGH
    lacks_kernel = NO_KERNEL in notes or MISSING_KERNEL.search(other.message)
    return Severity.INFO if lacks_kernel else severity
