"""Refusals that only check an argument: the version that accepts the call lacks the check.

A newer version refuses a call that an older one accepts, and its message states a requirement for a
parameter. Then the older version accepted an argument that it should have refused. The default and
texts that the documentation lists are no mistakes, so their refusal is a regression.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import as_call
from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Rejected
from ciguard.domain.values import ArrayValue, LiteralValue, TensorValue
from ciguard.oracles.specifications import conventions_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.findings import Finding
    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.domain.values import Value

_REQUIREMENT = re.compile(
    r"\b(?:must|should|cannot|can't|can not|has to|have to|needs? to|expect(?:s|ed)|invalid"
    r"|illegal|unsupported|out of range|not (?:a )?(?:valid|supported|allowed))\b",
    re.IGNORECASE,
)
"""Words of a message that states what an argument must be."""
_TYPE_REQUIREMENT = re.compile(
    r"\b(?:must|should) be an? (?:\w+ ){0,2}(?:int|integer|float|number|string|bool|boolean|tuple"
    r"|list)\b",
    re.IGNORECASE,
)
"""Words of a message that states of which plain type an argument must be."""
_MISUSE = re.compile(
    r"not supported between instances of|unsupported operand type|truth value of an array"
)
"""Message of Python or numpy for an object in the place of a number."""
_KINDS = frozenset({"ValueError", "TypeError", "InvalidArgumentError", "RuntimeError"})
_MAX_QUOTE = 160


def added_check(finding: Finding, records: Sequence[ApiRecord]) -> tuple[str, str]:
    """Return the parameter that the deviating version checks, and the message's first line.

    Args:
        finding: a finding about an API call.
        records: records of the API on the targets.

    Returns:
        Two empty texts if the finding is not such a refusal.
    """
    outcome = finding.outcomes.get(finding.targets[-1])
    if (
        (finding.oracle, finding.kind) != ("differential", "refused")
        or finding.pair is not PairKind.VERSION
        or not isinstance(outcome, Rejected)
        or outcome.exception not in _KINDS
    ):
        return "", ""
    for parameter, value in _passed(as_call(finding.case), records):
        is_checked = _is_checked(parameter, value, finding.api, outcome.message)
        if is_checked and not _is_documented(parameter, value):
            return parameter.name, outcome.message.partition("\n")[0][:_MAX_QUOTE]
    return "", ""


def _is_checked(parameter: ParameterRecord, value: Value, api: str, message: str) -> bool:
    """Return whether a message refuses the value of a parameter.

    Shapes and element types of tensors are what most calls vary, and their refusal matters. A
    tensor in the place of a number is refused by the message's requirement for its type.
    """
    if _MISUSE.search(message):
        is_number = isinstance(value, LiteralValue) and isinstance(value.value, int | float)
        return not is_number and any(conventions_for(api, parameter.name))
    if isinstance(value, TensorValue | ArrayValue) and not _TYPE_REQUIREMENT.search(message):
        return False
    return bool(_REQUIREMENT.search(message)) and _is_named(parameter.name, message)


def _passed(call: ApiCall, records: Sequence[ApiRecord]) -> Iterator[tuple[ParameterRecord, Value]]:
    """Yield the parameters that a call passes, with their values."""
    keywords = dict(call.keywords)
    for record in records:
        for index, parameter in enumerate(record.parameters):
            value = keywords.get(parameter.name)
            if value is None and index < len(call.arguments):
                value = call.arguments[index]
            if value is not None:
                yield parameter, value


def _is_named(name: str, message: str) -> bool:
    """Return whether a message names a parameter: quoted, as `name=`, or after `argument`."""
    quoted = rf"[`'\"]{re.escape(name)}[`'\"=]"
    return bool(
        re.search(rf"{quoted}|\b{re.escape(name)}=|\bargument:? {re.escape(name)}\b", message)
    )


def _is_documented(parameter: ParameterRecord, value: Value) -> bool:
    """Return whether a value is the default or a text that the description lists."""
    if not isinstance(value, LiteralValue):
        return False
    if parameter.default is not None and repr(value.value) == parameter.default:
        return True
    return isinstance(value.value, str) and bool(value.value) and value.value in parameter.doc
