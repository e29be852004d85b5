"""Processes that count instructions: one per target, each with its library imported once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.errors import WorkerStartError
from ciguard.execution.counting import CountingProcess, instructions_request
from ciguard.oracles import CountChange
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from ciguard.campaign.stages.suspects import SuspectCall
    from ciguard.execution import Measurement, WorkerSpec

MAX_COUNTED_S = 0.01
"""Maximum time of a call that is counted, in seconds; workers refuse if it has too many
instructions."""
LAYOUTS = 3
"""Number of processes per count, each with another layout of its memory."""
_REPETITIONS = 2
_LIMIT_S = 15.0
"""Timeout of one process, in seconds, which needs 1 s unless the machine is busy."""


@dataclass(slots=True)
class Counters:
    """The counting processes of several targets, by name."""

    processes: dict[str, CountingProcess] = field(default_factory=dict)
    """Processes that run."""
    _starting: list[str] = field(default_factory=list)
    """Names of the processes that have not reported yet."""

    def start(self, specs: Iterable[WorkerSpec], *, valgrind: Path, scratch: Path) -> None:
        """Start processes, which import their libraries; `wait_ready` waits for that.

        Raises:
            OSError: if a process cannot be started.
        """
        for spec in specs:
            self.processes[spec.name] = CountingProcess(spec, valgrind=valgrind, scratch=scratch)
            self._starting.append(spec.name)

    def wait_ready(self, until: float) -> list[str]:
        """Wait for the started processes; return the reasons of those that are not ready in time.

        Args:
            until: deadline on the clock of `time.monotonic`.
        """
        reasons = []
        starting, self._starting = self._starting, []
        for name in starting:
            try:
                self.processes[name].wait_ready(until)
            except WorkerStartError as error:
                reasons.append(str(error))
                self._drop(name)
        return reasons

    def steady(self, call: SuspectCall) -> Mapping[str, Measurement] | None:
        """Return the counts of a call by target, in twice as many processes if they vary at first.

        None if the call is not counted on all its targets.
        """
        counts = self.count(call, round_number=0)
        if counts is None or all(map(_is_steady, counts.values())):
            return counts
        further = self.count(call, round_number=1)
        return None if further is None else _joined(counts, further)

    def count(self, call: SuspectCall, *, round_number: int) -> Mapping[str, Measurement] | None:
        """Count the instructions of a call on all its targets, each at the same time.

        Args:
            call: the call, with its time on each target.
            round_number: number of the count, which determines the layouts of the memory.

        Returns:
            Counts by target, reference first; None if the call is not counted on all of them.
        """
        if max(call.costs) > MAX_COUNTED_S or not all(map(self.processes.get, call.targets)):
            return None
        request = instructions_request(encode(call.case), repetitions=_REPETITIONS)
        counts: dict[str, Measurement] = {}
        for layout in range(round_number * LAYOUTS, (round_number + 1) * LAYOUTS):
            counted = self._count_once(call.targets, request, layout)
            if counted is None:
                return None
            counts = _joined(counts, counted) if counts else counted
        return counts

    def _count_once(
        self, targets: Sequence[str], request: bytes, layout: int
    ) -> dict[str, Measurement] | None:
        """Return the least count of one process by target.

        None if a call does not pass, or a process is gone.
        """
        sent = [
            name
            for name in targets
            if self.processes[name].send(request, shift=layout, limit_s=_LIMIT_S)
        ]
        counted: dict[str, Measurement] = {}
        for name in sent:
            try:
                measured = self.processes[name].receive()
            except WorkerStartError:
                self._drop(name)
                continue
            if measured is not None:  # disturbances only add instructions
                counted[name] = replace(measured, values=(min(measured.values),))
        return counted if len(counted) == len(targets) else None

    def _drop(self, name: str) -> None:
        self.processes.pop(name).close()

    def close(self) -> None:
        """End all processes."""
        for name in list(self.processes):
            self._drop(name)


def _is_steady(measured: Measurement) -> bool:
    return CountChange.between(measured, measured).is_steady


def _joined(
    first: Mapping[str, Measurement], second: Mapping[str, Measurement]
) -> dict[str, Measurement]:
    """Return all counts of two rounds, by target."""
    return {
        name: replace(measured, values=(*measured.values, *second[name].values))
        for name, measured in first.items()
    }
