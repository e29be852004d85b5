"""Counting stage: instructions of calls are compared between targets, under callgrind.

Counts confirm or refute the findings of the measuring stage about time, and find slowdowns that are
too small for times. Each count is taken in several processes that differ in the layout of their
memory. A finding needs a second count in further processes.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from ciguard.campaign.stages.counters import Counters
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stages.suspects import SuspectCall, comparable
from ciguard.campaign.workers import worker_spec
from ciguard.config import COUNT_ALWAYS, COUNT_NEVER
from ciguard.domain.api_calls import as_call
from ciguard.domain.events import Warned
from ciguard.domain.findings import Confirmation
from ciguard.domain.outcomes import Passed
from ciguard.execution import Measurement, Quantity
from ciguard.execution.counting import find_valgrind
from ciguard.levels import ranked
from ciguard.oracles import KINDS, MORE_INSTRUCTIONS, CountChange, PerformanceOracle
from ciguard.targets import worker_device
from ciguard.triage import ConfirmationResult, fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.measure import Measure
    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.execution import WorkerSpec
    from ciguard.targets import Environment

log = logging.getLogger(__name__)

_NO_VALGRIND = (
    "instructions are not counted: Valgrind is not installed. Install it, e.g. 'apt-get install "
    'valgrind\', or set instructions = "off"'
)
_NOT_COUNTABLE = (
    "{library}: instructions are not counted, as its first operation takes minutes under Valgrind; "
    "times alone decide"
)
_SLOWER = KINDS[Quantity.TIME]


class CountInstructions(CampaignStage):
    """Counts the instructions of calls, after their times were measured."""

    name = "count"

    def __init__(self, state: CampaignState, measure: Measure) -> None:
        """Prepare the stage.

        Args:
            state: state of the run.
            measure: the measuring stage, which chooses calls.
        """
        self._state = state
        self._measure = measure
        self._counters = Counters()
        self._is_prepared = False
        self._measured: dict[str, frozenset[str]] = {}

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Targets on which known buckets were counted again, by fingerprint."""
        return self._measured

    # --- the processes --------------------------------------------------------------------------

    def start_jobs(self, *, is_exploring: bool) -> Iterator[Event]:
        """Start the processes while exploring, as their imports take long."""
        if is_exploring and not self._is_prepared and self._measure.has_candidates:
            self._is_prepared = True
            yield from self._prepare()

    def _prepare(self) -> Iterator[Event]:
        state = self._state
        if not self._is_wanted:
            return
        yield from self._uncounted()
        specs = self._specs()
        if not specs:
            return
        valgrind = find_valgrind()
        if valgrind is None:
            yield Warned(message=_NO_VALGRIND)
            return
        state.budget.counts = True
        try:
            self._counters.start(specs, valgrind=valgrind, scratch=state.dispatcher.scratch)
        except OSError as error:
            yield Warned(message=f"instructions are not counted: {error}")

    @property
    def _is_wanted(self) -> bool:
        config = self._state.config
        if config.instructions == COUNT_ALWAYS:
            return True
        is_long = self._state.budget.suffices_to_count and not config.has_fixed_cases
        return config.instructions != COUNT_NEVER and is_long

    def _specs(self) -> list[WorkerSpec]:
        """Return the specifications of all targets that are compared with another on the CPU."""
        config = self._state.config
        return [
            worker_spec(name, environment, config)
            for name, environment in self._compared()
            if not environment.uncountable
        ]

    def _compared(self) -> Iterator[tuple[str, Environment]]:
        """Yield the names and environments of targets that are compared on the CPU."""
        for group in self._state.groups.values():
            for name in comparable(group.names, group):
                environment = group.members[name].environment
                if worker_device(environment.target) == "cpu":
                    yield name, environment

    def _uncounted(self) -> Iterator[Event]:
        """Yield a warning for each library whose calls are compared, but not counted."""
        environments = [environment for _, environment in self._compared()]
        for name in sorted({name for one in environments for name in one.uncountable}):
            yield Warned(message=_NOT_COUNTABLE.format(library=name))

    def close(self) -> None:
        """End the processes."""
        self._counters.close()

    # --- the counts -----------------------------------------------------------------------------

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Count known buckets, then findings about time, then other calls, while there is time."""
        until = self._state.budget.count_until
        for reason in self._counters.wait_ready(until):
            yield Warned(message=reason)
        counted = 0
        for work in self._work():
            if not self._counters.processes or time.monotonic() >= until:
                break
            yield from work
            counted += 1
            yield from loop.step_running()
        log.info("the instructions of %d calls were counted", counted)
        self.close()

    def _work(self) -> Iterator[Iterator[Event]]:
        for record in self._state.corpus():
            exhibit = record.representative
            if (exhibit.oracle, exhibit.kind) == (PerformanceOracle.NAME, MORE_INSTRUCTIONS):
                yield self._count_record(record)
        slower = [
            bucket
            for bucket in self._state.collector.by_severity()
            if (bucket.finding.oracle, bucket.finding.kind) == (PerformanceOracle.NAME, _SLOWER)
        ]
        for bucket in slower:
            yield self._count_bucket(bucket)
        known = {bucket.finding.api for bucket in slower}
        for candidate in self._measure.candidates(self._in_focus()):
            if candidate.case.api not in known:
                yield self._count_candidate(candidate)

    def _in_focus(self) -> frozenset[str]:
        state = self._state
        return frozenset(
            record.api
            for group in state.groups.values()
            for record in ranked(group.records(), state.config.focus)
        )

    def _count_record(self, record: BaselineRecord) -> Iterator[Event]:
        """Count the call of a record, which shows its bucket again or is fixed."""
        exhibit = record.representative
        group = self._state.groups.get(exhibit.library)
        targets = _comparable_with(exhibit.api, group) if group is not None else ()
        if not targets:
            return
        case = as_call(exhibit.case)
        call = SuspectCall(exhibit.library, case, targets, (0.0,) * len(targets))
        counts = self._counters.steady(call)
        if counts is not None:
            self._measured[record.fingerprint] = frozenset(targets)
            yield from self._settle_counts(call, counts)

    def _count_bucket(self, bucket: Bucket) -> Iterator[Event]:
        """Count the call of a finding about time: the counts are added, or refute it."""
        finding = bucket.finding
        costs = tuple(
            outcome.cost_s if isinstance(outcome, Passed) else 0.0
            for outcome in finding.outcomes.values()
        )
        case = as_call(finding.case)
        counts = self._counters.steady(SuspectCall(finding.library, case, finding.targets, costs))
        if counts is not None:
            reference, other = (counts[name] for name in finding.targets)
            change = CountChange.between(reference, other)
            yield from self._state.collector.set_counts(
                bucket, change.added_to(finding), is_refuted=change.refutes(finding)
            )

    def _count_candidate(self, candidate: SuspectCall) -> Iterator[Event]:
        counts = self._counters.steady(candidate)
        if counts is not None:
            yield from self._settle_counts(candidate, counts)

    def _settle_counts(
        self, call: SuspectCall, counts: Mapping[str, Measurement]
    ) -> Iterator[Event]:
        """Settle the findings of a count; one that is not known needs a second count."""
        state = self._state
        findings = {fingerprint(found).key: found for found in self._judged(call, counts)}
        if not findings:
            return
        confirmed = findings
        if not state.baseline.fingerprints.issuperset(findings):
            second = self._counters.count(call, round_number=2) or {}
            confirmed = {fingerprint(found).key: found for found in self._judged(call, second)}
        for key, finding in findings.items():
            is_confirmed = key in confirmed
            confirmation = Confirmation.CONFIRMED if is_confirmed else Confirmation.FLAKY
            result = ConfirmationResult(key, finding, confirmation)
            yield from state.collector.settle([result])

    def _judged(self, call: SuspectCall, counts: Mapping[str, Measurement]) -> list[Finding]:
        outcomes = {name: Passed(measured.encoded(), 0.0) for name, measured in counts.items()}
        subject = self._state.groups[call.library].subject(call.case.api)
        return list(PerformanceOracle().judge(call.case, outcomes, subject))


def _comparable_with(api: str, group: Group) -> tuple[str, ...]:
    return comparable(group.targets_with(api), group)
