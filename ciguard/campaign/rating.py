"""Rating of findings: the severity is reduced if the call violates the library's documentation.

Libraries promise nothing for such calls, so these findings are informative only, until a conforming
call shows the same defect. This also holds for unusual values of undocumented arguments. Crashes
and hangs count with any arguments, and the documented oracle covers forbidden arguments that are
accepted. Other unusual calls get a low severity if users would not act on them; docs/severity.md
has the rules.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.campaign.argument_checks import added_check
from ciguard.campaign.undefined import undefined_tensors, with_tensors
from ciguard.campaign.undocumented import undocumented_odd_arguments, with_plain_values
from ciguard.domain.api_calls import ApiCall, as_call
from ciguard.domain.findings import Severity
from ciguard.domain.values import ArrayValue, Explicit, LiteralValue, TensorValue, Uniform
from ciguard.oracles import is_unusual_use, traits_of
from ciguard.oracles.comparing import leaf_values
from ciguard.oracles.specifications import repaired_calls, source_in_words, violated_specifications
from ciguard.triage import depends_on_reachability, is_raw, realism, summary_line
from ciguard.writing import content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.campaign.group import Group
    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Value
    from ciguard.oracles.specifications import Specification

_MAX_ELEMENTS = 4_096
_MIN_HUGE = 2**31 - 1
_WORD = re.compile(r"\w+")
_LIBRARY_MISTAKE = re.compile(
    r"ASSERT|Check failed|[Aa]ssertion|^(?:UnboundLocal|Name|Attribute|Index|Key)Error"
)
"""Message of a mistake in the library's own code."""
_MISSING_DEVICE = re.compile(
    r"\bno (?:accelerator|cuda|nvidia|gpu)|not compiled with cuda"
    r"|\b(?:accelerator|cuda|gpus?)\b[^.]* (?:not|none is) available",
    re.IGNORECASE,
)
"""Message of a missing device, as opposed to an error on a device."""
_TOO_LONG = re.compile(r"larger than max_size\(\)|length_error|bad_alloc|bad_array_new_length")
"""Message of the C++ standard library for a container that is too large."""


class Rater:
    """Rates findings by the documentation of their APIs."""

    def __init__(self, groups: Mapping[str, Group]) -> None:
        """Create a rater.

        Args:
            groups: groups by library.
        """
        self._groups = groups

    def rated(self, finding: Finding) -> Finding:
        """Return a finding with its severity and the violations of the documentation."""
        breach = "; ".join(self._violations(finding))
        undefined = ", ".join(self._undefined(finding))
        if breach or undefined:
            evidence = replace(finding.evidence, breach=breach, undefined=undefined)
            finding = replace(finding, evidence=evidence)
        if breach:
            return replace(finding, severity=Severity.INFO)
        finding = self._with_missing_check(finding)
        if self._is_refusal(finding) or self._may_lack_memory(finding) or _is_unusual(finding):
            return replace(finding, severity=min(finding.severity, Severity.LOW))
        return finding

    def _with_missing_check(self, finding: Finding) -> Finding:
        """Return a difference with the convention or check that the accepting version lacks.

        Its severity is at most low, as the version that refuses the call is right.
        """
        if not traits_of(finding.oracle).is_differential or not _is_rated(finding):
            return finding
        conventions = [law for law in self._specifications(finding) if law.is_convention]
        violated = violated_specifications(
            _with_explicit_elements(as_call(finding.case)), conventions
        )
        name, message = added_check(finding, self._records(finding))
        if violated:
            (law, value), *_ = violated
            text = f"{law.parameter!r} is {law.words}, and here {value}"
            source = f"{source_in_words(law)}: “{law.sentence}”"
        elif name:
            text = f"A version that accepts this {name!r} lacks a check"
            source = f"the message of {finding.targets[-1]}: “{message}”"
        else:
            return finding
        evidence = replace(finding.evidence, law=text, source=source)
        return replace(finding, evidence=evidence, severity=min(finding.severity, Severity.LOW))

    def breaches(self, finding: Finding) -> tuple[str, ...]:
        """Return the reasons why programs would not make a finding's call, if they matter."""
        return (
            *self._violations(finding),
            *(f"{name} is None, and must be a tensor" for name in self._undefined(finding)),
        )

    def _violations(self, finding: Finding) -> tuple[str, ...]:
        """Return how a finding's call violates the documentation, if that matters."""
        if not _is_rated(finding):
            return ()
        call = as_call(finding.case)
        laws = self._laws(finding)
        broken = violated_specifications(_with_explicit_elements(call), laws) if laws else []
        return (
            *(
                (
                    f"{law.parameter} is {value}, which {source_in_words(law)} forbids: "
                    f"“{law.sentence}”"
                )
                for law, value in broken
            ),
            *(
                f"{name or 'an argument'} is undocumented and has an unusual value"
                for name in undocumented_odd_arguments(call, self._records(finding))
            ),
        )

    def conforming(self, finding: Finding) -> list[Case]:
        """Return similar calls that programs may make, for a call that they would not make."""
        if not self.breaches(finding):
            return []
        call = as_call(finding.case)
        laws, records = self._laws(finding), self._records(finding)
        calls = (
            repaired_calls(_with_explicit_elements(call), laws)
            if laws and self._violations(finding)
            else []
        )
        if names := undocumented_odd_arguments(call, records) if _is_rated(finding) else []:
            calls = [
                variant
                for original in (call, *calls)
                for variant in with_plain_values(original, records[0], names)
            ]
        if undefined := self._undefined(finding):
            calls = [
                variant
                for original in (call, *calls)
                for variant in with_tensors(original, records[0], undefined)
            ]
        return [case for case in calls if not self.breaches(replace(finding, case=case))]

    def _is_refusal(self, finding: Finding) -> bool:
        """Return whether the message of an internal error names the wrong argument.

        Then only its class is wrong. Failed assertions and mistakes in Python code are excluded, as
        they may name an argument, too.
        """
        if not traits_of(finding.oracle).may_be_refusal or not isinstance(finding.case, ApiCall):
            return False
        message = summary_line(finding.outcomes[finding.targets[0]])
        if _LIBRARY_MISTAKE.search(message):
            return False
        records = self._records(finding)
        if any(_disables_validation(finding.case, record) for record in records):
            return True
        is_described = any(record.doc for record in records)
        if _TOO_LONG.search(message) and (_has_huge_number(finding.case) or not is_described):
            return True
        parameters = {
            parameter.name
            for record in records
            for parameter in (*record.parameters, *record.inputs)
        }
        return any("_" in name for name in parameters & {*_WORD.findall(message)})

    def _may_lack_memory(self, finding: Finding) -> bool:
        """Return whether a crash may be caused by a failed allocation that is not checked."""
        group = self._groups[finding.library]
        libraries = [member.environment.library for member in group.members.values()]
        checks = all(library.checks_allocations for library in libraries)
        is_death = traits_of(finding.oracle).is_crash
        return is_death and not checks and _has_huge_number(finding.case)

    def _undefined(self, finding: Finding) -> list[str]:
        """Return the arguments that are None although an operator needs a tensor."""
        if not depends_on_reachability(finding) or not isinstance(finding.case, ApiCall):
            return []
        return undefined_tensors(finding.case, self._records(finding))

    def _records(self, finding: Finding) -> list[ApiRecord]:
        """Return the record of the API on each running target."""
        running = self._groups[finding.library].running
        catalogues = (member.catalogue for member in running)
        return [catalogue[finding.api] for catalogue in catalogues if finding.api in catalogue]

    def _laws(self, finding: Finding) -> list[Specification]:
        """Return what the documentation of an API states."""
        return [law for law in self._specifications(finding) if not law.is_convention]

    def _specifications(self, finding: Finding) -> list[Specification]:
        subject = self._groups[finding.library].subject(finding.api)
        return [*chain.from_iterable(subject.specifications.values())]


def _is_unusual(finding: Finding) -> bool:
    """Return whether targets differ in behaviour that users do not rely on.

    This holds for raw entry points, which public functions call in another way. It holds for values
    of calls with numbers of 2^31 or more, which bypass checks and read arbitrary memory. It also
    holds for new rejections of unusual calls, usually by an added check, and of calls that need a
    missing device.
    """
    if not traits_of(finding.oracle).is_differential:
        return False
    if is_raw(finding.api) or (finding.kind == "values" and _has_huge_number(finding.case)):
        return True
    if finding.kind != "refused":
        return False
    is_unusual = is_unusual_use(finding.case) and not realism(finding).is_plain
    message = summary_line(finding.outcomes[finding.targets[-1]])
    return is_unusual or bool(_MISSING_DEVICE.search(message))


def _disables_validation(call: ApiCall, record: ApiRecord) -> bool:
    """Return whether a call disables the validation of its arguments."""
    pairs = zip(record.parameters, call.arguments, strict=False)
    values = {**dict(call.keywords), **{parameter.name: value for parameter, value in pairs}}
    return any(
        name.startswith("validate") and value == LiteralValue(value=False)
        for name, value in values.items()
    )


def _has_huge_number(case: Case) -> bool:
    """Return whether a call has a number that is too large for the length of a list."""
    if not isinstance(case, ApiCall):
        return False
    literals = (leaf.value for leaf in leaf_values(case) if isinstance(leaf, LiteralValue))
    return any(isinstance(value, int) and abs(value) >= _MIN_HUGE for value in literals)


def _is_rated(finding: Finding) -> bool:
    return traits_of(finding.oracle).needs_conforming and isinstance(finding.case, ApiCall)


def _with_explicit_elements(call: ApiCall) -> ApiCall:
    """Return the call with explicit elements of its tensors, so that constraints can be checked."""
    return replace(
        call,
        arguments=tuple(map(_explicit_value, call.arguments)),
        keywords=tuple((name, _explicit_value(value)) for name, value in call.keywords),
    )


def _explicit_value(value: Value) -> Value:
    if not isinstance(value, TensorValue | ArrayValue) or not isinstance(value.fill, Uniform):
        return value
    if math.prod(value.shape) > _MAX_ELEMENTS:
        return value
    try:
        elements = content(value)
    except ValueError:
        return value  # the dtype cannot represent these numbers
    if elements.dtype.kind not in "biuf":
        return value
    return replace(value, fill=Explicit(tuple(elements.ravel().tolist())))
