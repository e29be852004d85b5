"""Which planted defects a run of level `code` has found, and whether it names the line."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from code_defects import Kind
from model_recall import cases_until

from ciguard.domain.findings import Bucket, Confirmation
from ciguard.domain.programs import Operator, ProgramCase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from code_defects import Defect

_GROWTH = "growth"
"""The oracle of leaks; it tells of nothing else, and nobody else of them."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a run says of one defect."""

    defect: Defect
    buckets: tuple[Bucket, ...] = ()
    """Those that name its layer, and its parameter where it is about one."""
    programs: int = 0
    """Cases that had been judged when it was first met; 0 if it was not."""

    @property
    def is_found(self) -> bool:
        """Whether anything names it."""
        return bool(self.buckets)

    @property
    def is_located(self) -> bool:
        """Whether one of them has the line on which the layer is called."""
        return any(calls_at_line(bucket.finding.case, self.defect) for bucket in self.buckets)


@dataclass(frozen=True, slots=True)
class Recall:
    """Confirmed buckets set against what was planted."""

    defects: tuple[Found, ...] = ()
    misplaced: tuple[Bucket, ...] = ()
    """At the planted target, where nothing is planted."""
    own: tuple[Bucket, ...] = ()
    """At a target without defects."""
    unsettled: tuple[Bucket, ...] = ()
    """Flaky, or not confirmed in time."""

    def __add__(self, other: Recall) -> Recall:
        return Recall(
            self.defects + other.defects,
            self.misplaced + other.misplaced,
            self.own + other.own,
            self.unsettled + other.unsettled,
        )


@dataclass(slots=True)
class _Sorted:
    found: dict[str, list[Bucket]] = field(default_factory=dict)
    misplaced: list[Bucket] = field(default_factory=list)
    own: list[Bucket] = field(default_factory=list)
    unsettled: list[Bucket] = field(default_factory=list)


def recall_of(
    buckets: Iterable[Bucket], planted_in: Sequence[Defect], results: Path, *, planted: str
) -> Recall:
    """Attribute buckets to defects, by target, layer and parameter.

    Args:
        buckets: of a run on a target with the defects, alone or beside a healthy one.
        planted_in: the defects.
        results: folder of the run.
        planted: name of the target that has them.
    """
    found = _Sorted()
    for bucket in buckets:
        here = [one for one in planted_in if names(bucket, one)]
        if bucket.confirmation is not Confirmation.CONFIRMED:
            found.unsettled.append(bucket)
        elif planted not in bucket.finding.targets[-1:]:
            found.own.append(bucket)
        elif not here:
            found.misplaced.append(bucket)
        else:
            for defect in here:
                found.found.setdefault(defect.name, []).append(bucket)
    first = cases_until(results / "journal.jsonl")
    return Recall(
        tuple(_found(defect, found.found.get(defect.name, ()), first) for defect in planted_in),
        tuple(found.misplaced),
        tuple(found.own),
        tuple(found.unsettled),
    )


def _found(defect: Defect, buckets: Sequence[Bucket], first: dict[str, int]) -> Found:
    counts = [first[one.fingerprint] for one in buckets if one.fingerprint in first]
    return Found(defect, tuple(buckets), min(counts, default=0))


def names(bucket: Bucket, defect: Defect) -> bool:
    """Return whether a bucket names what a defect is about, and shows what such a defect does.

    A parameter is named by the last step; where that put the layer in the place of another, by an
    argument that the new call is given.
    """
    finding, case = bucket.finding, bucket.finding.case
    if not isinstance(case, ProgramCase) or finding.api != f"torch.nn.{defect.layer}":
        return False
    if (finding.oracle == _GROWTH) != (defect.kind is Kind.LEAK):
        return False
    if not defect.parameter or case.focus == defect.parameter:
        return True
    is_new = case.ancestry.path[-1].operator is Operator.REPLACEMENT
    return is_new and defect.parameter in _arguments(case, defect)


def calls_at_line(case: object, defect: Defect) -> bool:
    """Return whether the layer is called on the line that the last step of a case names."""
    return isinstance(case, ProgramCase) and any(_calls(case, defect))


def _arguments(case: ProgramCase, defect: Defect) -> set[str | None]:
    return {keyword.arg for call in _calls(case, defect) for keyword in call.keywords}


def _calls(case: ProgramCase, defect: Defect) -> Iterator[ast.Call]:
    line = case.ancestry.path[-1].line
    for node in ast.walk(ast.parse(case.source)):
        match node:
            case ast.Call(func=called, lineno=at) if at == line:
                if ast.unparse(called).rpartition(".")[2] == defect.layer:
                    yield node
            case _:
                pass
