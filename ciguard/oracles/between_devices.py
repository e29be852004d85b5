"""What devices promise each other: results, where the documentation says which; kernels, not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.findings import Severity
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.execution import Container, TensorOutput, decode_outputs
from ciguard.oracles.comparing.comparison import compare_outputs
from ciguard.oracles.relations import exemption_of

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles.comparing.comparison import Difference
    from ciguard.oracles.comparing.tolerance import InputPrecision

BETWEEN_DEVICES = "between devices"
"""How exemptions name what an API computes of the device itself."""
FIRST_BETWEEN_DEVICES = "all but the first between devices"
"""How exemptions name indices beside a result, which ties leave open."""
INCOMPLETE_BETWEEN_DEVICES = "incomplete between devices"
"""How exemptions name decompositions whose last result says whether they are complete."""

_OPEN = frozenset({"exception", "accepted"})
"""Each device has checks and kernels of its own; what the CPU refuses another may take."""
_VALUES = frozenset({"values", "nan"})
_NO_KERNEL = re.compile(
    r"not (?:implemented|supported|available|compiled)\b|NotImplemented|Could not run '"
    r"|(?i:unimplemented)|can't convert cuda"
    r"|\b(?:supports?|on) (?:the )?CPU(?: only)?\b|CPU only|only CPU"
)
"""A refusal that names what the device lacks, or what only a CPU can do."""
_ASSERTION = re.compile(r"device-side assert triggered|CUDA_ERROR_ASSERT")


def promises(
    difference: Difference, api: str, sides: tuple[Outcome, Outcome], inputs: InputPrecision
) -> bool:
    """Return whether two devices promise to agree in what they differ in.

    Args:
        difference: of the two.
        api: that was called.
        sides: what the reference and the other one answered.
        inputs: of the call.
    """
    if difference.kind in _OPEN:
        return False
    if difference.kind not in _VALUES:
        return True
    return not exemption_of(api, BETWEEN_DEVICES) and not _is_left_open(api, sides, inputs)


def _is_left_open(api: str, sides: tuple[Outcome, Outcome], inputs: InputPrecision) -> bool:
    """Return whether the devices differ only in a part that the documentation leaves open."""
    mine, theirs = (
        decode_outputs(side.encoded) if isinstance(side, Passed) else None for side in sides
    )
    if not isinstance(mine, Container) or not isinstance(theirs, Container):
        return False
    if not mine.items or not theirs.items:
        return False
    if exemption_of(api, FIRST_BETWEEN_DEVICES):
        return compare_outputs(mine.items[0], theirs.items[0], inputs) is None
    is_complete = all(_is_zero(one.items[-1]) for one in (mine, theirs))
    return exemption_of(api, INCOMPLETE_BETWEEN_DEVICES) is not None and not is_complete


def _is_zero(output: Output) -> bool:
    return isinstance(output, TensorOutput) and not output.elements.any()


def severity_between_devices(severity: Severity, kind: str, other: Outcome) -> Severity:
    """Return how much a difference between devices weighs.

    No library has a kernel for every type on every device: a refusal that says so is coverage. A
    kernel that asserts has no other way to refuse; where the CPU takes the call it should not.
    """
    if kind != "refused" or not isinstance(other, Rejected):
        return severity
    if _ASSERTION.search(other.message):
        return Severity.HIGH
    return Severity.INFO if _NO_KERNEL.search(other.message) else severity
