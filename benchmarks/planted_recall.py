"""Which planted defects a run has found, and what it has blamed on functions that are right."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planted_defects import Kind, Trace

from ciguard.config import Config
from ciguard.domain.findings import Bucket, Confirmation, PairKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from planted_defects import Defect

    from ciguard.domain.findings import Finding

FAILING = Config().fail_on
_DIFFERENTIAL = {
    "accepted": Trace.ACCEPTED,
    "refused": Trace.REFUSED,
    "exception": Trace.EXCEPTION,
    "mutation": Trace.ARGUMENTS,
}
_OTHER_ORACLES = {
    "boundary": Trace.ACCEPTED,
    "crash": Trace.DEATH,
    "exhaustion": Trace.MEMORY,
}
_PERFORMANCE = {"slower": Trace.TIME, "leak": Trace.MEMORY}
"""That one call needs more memory at its worst is what no kind says, though some bring it about."""
_ARGUMENTS = "arguments stay as they are"


def trace_of(finding: Finding) -> Trace | None:
    """Return in what a finding shows a defect; None if no kind of planted defect shows so."""
    match finding.oracle:
        case "differential":
            return _DIFFERENTIAL.get(finding.kind, Trace.RESULT)
        case "metamorphic":
            if finding.kind == _ARGUMENTS:
                return Trace.ARGUMENTS
            return Trace.GRADIENT if "gradient" in finding.kind else Trace.RESULT
        case "performance":
            return _PERFORMANCE.get(finding.kind)
        case other:
            return _OTHER_ORACLES.get(other)


def way_of(finding: Finding) -> str:
    """Return how a finding was made: the oracle, and what it looked at."""
    return f"{finding.oracle}: {finding.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was found of one kind of defect."""

    kind: Kind
    planted: int
    found: int
    failing: int
    """Found by something grave enough to fail a check."""
    ways: Counter[str]
    """By what it was found, and how many defects that found."""


@dataclass(frozen=True, slots=True)
class Recall:
    """A run's confirmed buckets, set against what was planted."""

    found: dict[Defect, list[Bucket]]
    """Every planted defect, with the buckets that show it; none if it was missed."""
    misplaced: list[Bucket] = field(default_factory=list)
    """At functions without a defect."""
    unexplained: list[Bucket] = field(default_factory=list)
    """At planted functions, but not in what their defects show."""
    own: list[Bucket] = field(default_factory=list)
    """Met without the defects too: torch's."""
    unsettled: list[Bucket] = field(default_factory=list)
    """Flaky, or not confirmed in time."""

    @property
    def missed(self) -> list[Defect]:
        """The planted defects that no bucket shows."""
        return [defect for defect, buckets in self.found.items() if not buckets]

    def rows(self) -> Iterator[Row]:
        """Yield one row for each kind that was planted."""
        for kind in Kind:
            mine = [buckets for defect, buckets in self.found.items() if defect.kind is kind]
            if mine:
                yield _row(kind, mine)


def _row(kind: Kind, found: Sequence[Sequence[Bucket]]) -> Row:
    return Row(
        kind=kind,
        planted=len(found),
        found=sum(map(bool, found)),
        failing=sum(any(b.finding.severity >= FAILING for b in of_one) for of_one in found),
        ways=Counter(way for of_one in found for way in {way_of(b.finding) for b in of_one}),
    )


def recall_of(buckets: Iterable[Bucket], chosen: Sequence[Defect], *, planted: str) -> Recall:
    """Attribute buckets to planted defects, by function and by what they show.

    Args:
        buckets: of a run on torch as it is and on torch with the defects.
        chosen: the defects; no two of one function leave the same trace.
        planted: name of the target that has them.
    """
    recall = Recall({defect: [] for defect in chosen})
    for bucket in buckets:
        if bucket.confirmation is not Confirmation.CONFIRMED:
            recall.unsettled.append(bucket)
        elif not _is_of(planted, bucket.finding):
            recall.own.append(bucket)
        else:
            _attribute(bucket, recall)
    return recall


def _is_of(planted: str, finding: Finding) -> bool:
    if finding.pair is not PairKind.NONE:
        return finding.targets[-1] == planted  # behind the reference
    return finding.targets == (planted,)


def _attribute(bucket: Bucket, recall: Recall) -> None:
    here = [defect for defect in recall.found if defect.api == bucket.finding.api]
    trace = trace_of(bucket.finding)
    shown = [defect for defect in here if trace in defect.kind.traces]
    for defect in shown:
        recall.found[defect].append(bucket)
    if not here:
        recall.misplaced.append(bucket)
    elif not shown:
        recall.unexplained.append(bucket)
