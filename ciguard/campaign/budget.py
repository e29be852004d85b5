"""The time budget of a run, divided into deadlines of its stages."""

from __future__ import annotations

import time

_EXPLORE_UNTIL = 0.74
_EXPLORE_LATEST = 0.88
_OVERTIME = 0.2
_MEASURE = 0.12
_COUNT = 0.06
_MIN_COUNTED_S = 300.0
"""Budget from which on instructions are counted, as importing takes Valgrind up to a minute."""
_LIBRARIES = 0.06
_RELATIVES = 0.03
_CONFIRM_UNTIL = 0.9
_MINIMISE_UNTIL = 0.915
_ATTRIBUTE = 0.06
_DETECT = 0.06
_MIN_DETECT_S = 2.0
"""Time for planting defects in short runs, in seconds, if earlier stages left it."""
_DETECT_UNTIL = 0.945
_TRACE_UNTIL = 0.96
_DATE_SHARE = 0.5
"""Share of the remaining time for dating; the rest is for the stages after it."""
_CHECK_SCRIPTS_UNTIL = 0.975


class Budget:
    """Wall time of one run; the clock starts when the budget is created."""

    def __init__(self, total_s: float, *, spent_s: float = 0.0) -> None:
        """Start the clock.

        Args:
            total_s: wall time of the whole run, in seconds.
            spent_s: seconds that the interrupted run of the same campaign has used.
        """
        self.total_s = total_s
        self._began = time.monotonic() - spent_s
        self._stage_began = time.monotonic()
        self.stages: dict[str, float] = {}
        self.measures = False
        """True if targets can be measured against each other, which exploring leaves time for."""
        self.counts = False
        """True if instructions are counted, for which earlier stages leave time."""
        self.attributes = False
        """True if there is a base, so that stages before attribution end earlier."""
        self.spans_libraries = False
        """True if there are several libraries to compare, which exploring leaves time for."""

    @property
    def elapsed_s(self) -> float:
        """Seconds used so far, including those of the interrupted run."""
        return time.monotonic() - self._began

    def _until(self, share: float) -> float:
        return self._began + share * self.total_s

    @property
    def explore_until(self) -> float:
        """Time until which exploring goes on, on the clock of `time.monotonic`.

        It ends up to `most_overtime_s` earlier if other stages need more than their shares.
        """
        earlier = self._measure + self._libraries + self._attribute
        return self._until(_EXPLORE_UNTIL - earlier)

    @property
    def most_overtime_s(self) -> float:
        """Maximum number of seconds by which exploring ends earlier for other stages."""
        return _OVERTIME * self.total_s

    @property
    def explore_latest(self) -> float:
        """Deadline of exploring, if the stages after it have little to do."""
        return self._until(self._measure_latest - self._measure - self._libraries)

    @property
    def explore_again_until(self) -> float:
        """Deadline of exploring again, if the stages that compare targets need less time."""
        return self._until(self._compare_latest)

    @property
    def _compare_latest(self) -> float:
        """Share of the time after which targets and libraries are not compared any more."""
        return _EXPLORE_LATEST - self._attribute

    @property
    def _measure_latest(self) -> float:
        return self._compare_latest - self._count

    @property
    def suffices_to_count(self) -> bool:
        """True if the run is so long that counting instructions is worth it."""
        return self.total_s >= _MIN_COUNTED_S

    @property
    def _count(self) -> float:
        return _COUNT if self.counts else 0.0

    @property
    def _attribute(self) -> float:
        return _ATTRIBUTE if self.attributes else 0.0

    @property
    def _measure(self) -> float:
        return _MEASURE if self.measures else 0.0

    @property
    def _libraries(self) -> float:
        return _LIBRARIES if self.spans_libraries else 0.0

    @property
    def relatives_until(self) -> float:
        """Deadline of calls of relatives, if these begin when the last stage ended."""
        return self._stage_began + _RELATIVES * self.total_s

    @property
    def libraries_until(self) -> float:
        """Deadline of comparing libraries, if this begins when the last stage ended."""
        latest = self._until(self._measure_latest - self._measure)
        return min(latest, self._stage_began + self._libraries * self.total_s)

    @property
    def measure_until(self) -> float:
        """Deadline of measuring, if this begins when the last stage ended."""
        latest = self._until(self._measure_latest)
        return min(latest, self._stage_began + self._measure * self.total_s)

    @property
    def count_until(self) -> float:
        """Deadline of counting instructions, if this begins when the last stage ended."""
        latest = self._until(self._compare_latest)
        return min(latest, self._stage_began + self._count * self.total_s)

    @property
    def confirm_until(self) -> float:
        """Deadline of confirming."""
        return self._until(_CONFIRM_UNTIL - self._attribute)

    @property
    def minimise_until(self) -> float:
        """Deadline of minimising."""
        return self._until(_MINIMISE_UNTIL - self._attribute)

    @property
    def attribute_until(self) -> float:
        """Deadline of attribution to base or head."""
        return self._until(_MINIMISE_UNTIL)

    @property
    def attribute_s(self) -> float:
        """Share of attribution, in seconds."""
        return self._attribute * self.total_s

    @property
    def detect_until(self) -> float:
        """Deadline of planting defects, if this begins when the last stage ended."""
        latest = self._until(_DETECT_UNTIL)
        return min(latest, self._stage_began + max(_MIN_DETECT_S, _DETECT * self.total_s))

    @property
    def trace_until(self) -> float:
        """Deadline of tracing crashes with a debugger."""
        return self._until(_TRACE_UNTIL)

    @property
    def date_until(self) -> float:
        """Deadline of bisecting new buckets over releases, if this begins now."""
        now = time.monotonic()
        left_s = self._until(_CHECK_SCRIPTS_UNTIL) - now
        return min(self.trace_until, now + _DATE_SHARE * left_s)

    @property
    def scripts_until(self) -> float:
        """Deadline of checking reproducers; the remaining time is for the reports."""
        return self._until(_CHECK_SCRIPTS_UNTIL)

    def finish_stage(self, name: str) -> float:
        """Record the time since the last stage ended, and return it in seconds."""
        now = time.monotonic()
        spent_s = now - self._stage_began
        self._stage_began = now
        self.stages[name] = self.stages.get(name, 0.0) + spent_s
        return spent_s
