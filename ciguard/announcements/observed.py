"""What a difference between two versions is about: its kind, arguments and messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.outcomes import Rejected
from ciguard.domain.records import ParameterKind
from ciguard.domain.values import TensorValue
from ciguard.knowledge.refinement import unwrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.domain.findings import Finding
    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Value

REFUSALS = frozenset({"refused", "accepted", "exception"})
"""Kinds of difference in which at least one version raises an exception."""
_POSITIONAL = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_WORD = re.compile(r"[a-z_][a-z0-9_]*")
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"})
"""Exceptions that are about packages of the environment, not about arguments."""
_MIN_CONTENT = 4
"""Minimum length of words that carry content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedChange:
    """A difference between two versions, as far as it decides which sentences are about it."""

    kind: str
    """Kind of the finding, such as `refused` or `dtype`."""
    parameters: frozenset[str]
    """Names of all parameters, in lower case."""
    passed: Mapping[str, Value]
    """Values that the call passes, by parameter."""
    by_position: frozenset[str]
    """Parameters that the call passes by position."""
    named: frozenset[str]
    """Passed parameters that the exceptions' messages name."""
    focus: str
    """Parameter whose value violates its constraint or lies on its boundary; empty without one."""
    words: frozenset[str]
    """Words of the exceptions' messages, in lower case."""
    dtypes: frozenset[str]
    """Dtypes of the tensors that the call passes."""

    @property
    def subjects(self) -> frozenset[str]:
        """Parameters that the difference may be about: all passed ones if nothing names one."""
        return self.named | {*filter(None, [self.focus])} or frozenset(self.passed)


def observed_change(finding: Finding, record: ApiRecord) -> ObservedChange | None:
    """Return what a differential finding is about; None if it is not about one API call.

    A package that one version misses is not about the call.

    Args:
        finding: the finding, whose targets are base and head.
        record: description of the API on the base.
    """
    case = finding.case
    if not isinstance(case, ApiCall):
        return None
    names = [item.name for item in record.parameters if item.kind in _POSITIONAL]
    by_position = dict(zip(names, case.arguments, strict=False))
    inputs = dict(zip((item.name for item in record.inputs), case.inputs, strict=False))
    passed = {**by_position, **inputs, **dict(case.keywords)}
    outcomes = [finding.outcomes.get(name) for name in finding.targets]
    rejected = [item for item in outcomes if isinstance(item, Rejected)]
    if any(item.exception in _IMPORT_ERRORS for item in rejected):
        return None
    messages = " ".join(unwrap(item.message) for item in rejected).lower()
    words = frozenset(_WORD.findall(messages))
    named = frozenset(name for name in passed if name.lower() in words)
    return ObservedChange(
        kind=finding.kind,
        parameters=frozenset(item.name.lower() for item in (*record.parameters, *record.inputs)),
        passed=passed,
        by_position=frozenset(by_position) | frozenset(inputs),
        named=named,
        focus=case.focus if case.focus in passed and finding.kind in REFUSALS else "",
        words=words,
        dtypes=frozenset(
            value.dtype for value in passed.values() if isinstance(value, TensorValue)
        ),
    )


def content_words(words: Iterable[str]) -> frozenset[str]:
    """Return the words that carry content, without those that most messages have."""
    return frozenset(word for word in words if len(word) >= _MIN_CONTENT and word not in _FREQUENT)


_FREQUENT = frozenset(
    (
        "argument", "arguments", "been", "default", "each", "error", "expected", "false", "from",
        "function", "given", "have", "input", "inputs", "into", "invalid", "must", "none", "only",
        "other", "received", "should", "tensor", "tensors", "than", "that", "this", "true", "type",
        "types", "value", "values", "when", "which", "will", "with", "your",
    )
)  # fmt: skip
"""Words that many messages and sentences have, whatever they are about."""
