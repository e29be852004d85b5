"""Rating: a call that the documentation forbids is no witness against the library.

What it is refused with, computes or takes is nobody's promise: such a finding is worth knowing, and
no more, until a call that keeps to the documentation shows the same. The same goes for an odd value
of an argument of which the library says nothing. A death or a hang counts whatever the arguments,
and that a forbidden argument is taken is what the documented oracle is for. What is left of odd
calls weighs little where nobody would act on it: docs/severity.md has the rules.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.campaign.undefined import undefined_tensors, with_tensors
from ciguard.campaign.undescribed import odd_arguments, with_plain_values
from ciguard.domain.api_calls import ApiCall, as_call
from ciguard.domain.findings import Severity
from ciguard.domain.values import ArrayValue, Explicit, LiteralValue, TensorValue, Uniform
from ciguard.oracles import is_unusual_use, traits_of
from ciguard.oracles.comparing import leaves
from ciguard.oracles.laws import broken_laws, mended, where_written
from ciguard.triage import depends_on_reach, is_raw, realism, telling_line
from ciguard.writing import content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.campaign.group import Group
    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Value
    from ciguard.oracles.laws import Law

_MAX_ELEMENTS = 4_096
_MIN_HUGE = 2**31 - 1
_WORD = re.compile(r"\w+")
_SLIP = re.compile(
    r"ASSERT|Check failed|[Aa]ssertion|^(?:UnboundLocal|Name|Attribute|Index|Key)Error"
)
"""A mistake in the library's code, whatever names its message holds."""
_NO_DEVICE = re.compile(
    r"\bno (?:accelerator|cuda|nvidia|gpu)|not compiled with cuda"
    r"|\b(?:accelerator|cuda|gpus?)\b[^.]* (?:not|none is) available",
    re.IGNORECASE,
)
"""That a device is absent, not that something went wrong on one."""
_TOO_LONG = re.compile(r"larger than max_size\(\)|length_error|bad_alloc|bad_array_new_length")
"""What the standard library says to a list that is too long for any machine."""


class Rater:
    """Says how much findings weigh, by what their APIs' own words forbid."""

    def __init__(self, groups: Mapping[str, Group]) -> None:
        """Make a rater.

        Args:
            groups: by library.
        """
        self._groups = groups

    def rated(self, finding: Finding) -> Finding:
        """Return a finding of its weight, with what its call breaks of the documentation."""
        breach = "; ".join(self._broken(finding))
        undefined = ", ".join(self._undefined(finding))
        if breach or undefined:
            evidence = replace(finding.evidence, breach=breach, undefined=undefined)
            finding = replace(finding, evidence=evidence)
        if breach:
            return replace(finding, severity=Severity.INFO)
        if self._is_refusal(finding) or self._may_lack_memory(finding) or _is_oddity(finding):
            return replace(finding, severity=min(finding.severity, Severity.LOW))
        return finding

    def breaches(self, finding: Finding) -> tuple[str, ...]:
        """Return what makes a finding's call none that a program makes, where that matters."""
        return (
            *self._broken(finding),
            *(f"{name} is None, and must be a tensor" for name in self._undefined(finding)),
        )

    def _broken(self, finding: Finding) -> tuple[str, ...]:
        """Return what a finding's call breaks of the documentation, where that matters."""
        if not _is_rated(finding):
            return ()
        call = as_call(finding.case)
        laws = self._laws(finding)
        broken = broken_laws(_spelt_out(call), laws) if laws else []
        return (
            *(
                f"{law.parameter} is {value}, which {where_written(law)} forbids: “{law.sentence}”"
                for law, value in broken
            ),
            *(
                f"nothing is said of {name or 'an argument'}, which is no plain value"
                for name in odd_arguments(call, self._records(finding))
            ),
        )

    def conforming(self, finding: Finding) -> list[Case]:
        """Return calls like one that no program makes, which a program may make."""
        if not self.breaches(finding):
            return []
        call = as_call(finding.case)
        laws, records = self._laws(finding), self._records(finding)
        found = mended(_spelt_out(call), laws) if laws and self._broken(finding) else []
        if names := odd_arguments(call, records) if _is_rated(finding) else []:
            found = [p for c in (call, *found) for p in with_plain_values(c, records[0], names)]
        if undefined := self._undefined(finding):
            found = [p for c in (call, *found) for p in with_tensors(c, records[0], undefined)]
        return [case for case in found if not self.breaches(replace(finding, case=case))]

    def _is_refusal(self, finding: Finding) -> bool:
        """Return whether what is called an internal error says which argument is wrong.

        Its class is wrong then, and no more. A failed assertion, and a mistake in Python code, may
        name an argument too.
        """
        if not traits_of(finding.oracle).may_be_refusal or not isinstance(finding.case, ApiCall):
            return False
        message = telling_line(finding.outcomes[finding.targets[0]])
        if _SLIP.search(message):
            return False
        records = self._records(finding)
        if any(_goes_unchecked(finding.case, record) for record in records):
            return True
        is_described = any(record.doc for record in records)
        if _TOO_LONG.search(message) and (_has_huge_number(finding.case) or not is_described):
            return True
        parameters = {p.name for r in records for p in (*r.parameters, *r.inputs)}
        return any("_" in name for name in parameters & {*_WORD.findall(message)})

    def _may_lack_memory(self, finding: Finding) -> bool:
        """Return whether a death may be for want of memory, of a library that does not check."""
        group = self._groups[finding.library]
        checks = all(m.environment.library.checks_allocations for m in group.members.values())
        is_death = traits_of(finding.oracle).is_death
        return is_death and not checks and _has_huge_number(finding.case)

    def _undefined(self, finding: Finding) -> list[str]:
        """Return the arguments that are None where an operator needs a tensor."""
        if not depends_on_reach(finding) or not isinstance(finding.case, ApiCall):
            return []
        return undefined_tensors(finding.case, self._records(finding))

    def _records(self, finding: Finding) -> list[ApiRecord]:
        """Return what each running target says of the API."""
        running = self._groups[finding.library].running
        return [m.catalogue[finding.api] for m in running if finding.api in m.catalogue]

    def _laws(self, finding: Finding) -> list[Law]:
        subject = self._groups[finding.library].subject(finding.api)
        return [*chain.from_iterable(subject.laws.values())]


def _is_oddity(finding: Finding) -> bool:
    """Return whether targets differ in what nobody relies on.

    What calls of a raw entry point come to, which public functions do not make that way, and calls
    with numbers of 2^31 or more, which lead past checks to memory that holds anything; that a
    call is refused now which no plain program makes, for a check was missing, as a rule; or which
    asks for a device that is not there.
    """
    if not traits_of(finding.oracle).holds_targets_apart:
        return False
    if is_raw(finding.api) or (finding.kind == "values" and _has_huge_number(finding.case)):
        return True
    if finding.kind != "refused":
        return False
    is_odd = is_unusual_use(finding.case) and not realism(finding).is_plain
    message = telling_line(finding.outcomes[finding.targets[-1]])
    return is_odd or bool(_NO_DEVICE.search(message))


def _goes_unchecked(call: ApiCall, record: ApiRecord) -> bool:
    """Return whether a call switches off that its arguments are validated: what follows is open."""
    given = dict(call.keywords)
    given |= {p.name: value for p, value in zip(record.parameters, call.arguments, strict=False)}
    return any(
        name.startswith("validate") and value == LiteralValue(value=False)
        for name, value in given.items()
    )


def _has_huge_number(case: Case) -> bool:
    """Return whether a number of a call is so large that a list of that length cannot be."""
    if not isinstance(case, ApiCall):
        return False
    given = (leaf.value for leaf in leaves(case) if isinstance(leaf, LiteralValue))
    return any(isinstance(number, int) and abs(number) >= _MIN_HUGE for number in given)


def _is_rated(finding: Finding) -> bool:
    return traits_of(finding.oracle).needs_conforming and isinstance(finding.case, ApiCall)


def _spelt_out(call: ApiCall) -> ApiCall:
    """Return the call with the elements of its tensors, where some may be beside the laws."""
    return replace(
        call,
        arguments=tuple(map(_with_elements, call.arguments)),
        keywords=tuple((name, _with_elements(value)) for name, value in call.keywords),
    )


def _with_elements(value: Value) -> Value:
    if not isinstance(value, TensorValue | ArrayValue) or not isinstance(value.fill, Uniform):
        return value
    if math.prod(value.shape) > _MAX_ELEMENTS:
        return value
    try:
        elements = content(value)
    except ValueError:
        return value  # its type lacks such numbers
    if elements.dtype.kind not in "biuf":
        return value
    return replace(value, fill=Explicit(tuple(elements.ravel().tolist())))
