"""The time box: one number from the user, cut into stages that end in time."""

from __future__ import annotations

import time

_EXPLORE_UNTIL = 0.74
_MEASURE = 0.12
_LIBRARIES = 0.06
_CONFIRM_UNTIL = 0.88
_MINIMISE_UNTIL = 0.91
_ATTRIBUTE = 0.06
_TRACE_UNTIL = 0.95
_DATE_SHARE = 0.5
"""Of the time left: half stays for what comes after."""
_CHECK_SCRIPTS_UNTIL = 0.97


class Budget:
    """Wall time of one run. Starts when it is made."""

    def __init__(self, total_s: float, *, spent_s: float = 0.0) -> None:
        """Start the clock.

        Args:
            total_s: wall time of the whole run.
            spent_s: what an earlier part of the same campaign has used.
        """
        self.total_s = total_s
        self._began = time.monotonic() - spent_s
        self._stage_began = time.monotonic()
        self.stages: dict[str, float] = {}
        self.measures = False
        """Whether targets can be measured against each other: exploring leaves time for it then."""
        self.attributes = False
        """Whether a base is tried beside the head: all before that ends earlier then."""
        self.spans_libraries = False
        """Whether calls can be made on several libraries: exploring leaves time for it too."""

    @property
    def elapsed_s(self) -> float:
        """Seconds used so far, by earlier parts of the campaign too."""
        return time.monotonic() - self._began

    def _until(self, share: float) -> float:
        return self._began + share * self.total_s

    @property
    def explore_until(self) -> float:
        """When exploring ends, on the clock of `time.monotonic`."""
        return self._until(self._explore - self._measure - self._libraries)

    @property
    def _explore(self) -> float:
        return _EXPLORE_UNTIL - self._attribute

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
    def libraries_until(self) -> float:
        """When calls on several libraries end that begin where the last stage ended."""
        latest = self._until(self._explore - self._measure)
        return min(latest, self._stage_began + self._libraries * self.total_s)

    @property
    def measure_until(self) -> float:
        """When measuring ends that begins where the last stage ended."""
        return min(self._until(self._explore), self._stage_began + self._measure * self.total_s)

    @property
    def confirm_until(self) -> float:
        """When confirming ends."""
        return self._until(_CONFIRM_UNTIL - self._attribute)

    @property
    def minimise_until(self) -> float:
        """When minimising ends."""
        return self._until(_MINIMISE_UNTIL - self._attribute)

    @property
    def attribute_until(self) -> float:
        """When trying base and head against each other ends."""
        return self._until(_MINIMISE_UNTIL)

    @property
    def trace_until(self) -> float:
        """When looking at crashes with a debugger ends."""
        return self._until(_TRACE_UNTIL)

    @property
    def date_until(self) -> float:
        """When bisecting what is new over releases ends that begins now."""
        now = time.monotonic()
        left_s = self._until(_CHECK_SCRIPTS_UNTIL) - now
        return min(self.trace_until, now + _DATE_SHARE * left_s)

    @property
    def scripts_until(self) -> float:
        """When trying reproducers ends; what is left belongs to the reports."""
        return self._until(_CHECK_SCRIPTS_UNTIL)

    def finish_stage(self, name: str) -> float:
        """Book the time since the last stage ended, and return it in seconds."""
        now = time.monotonic()
        spent_s = now - self._stage_began
        self._stage_began = now
        self.stages[name] = self.stages.get(name, 0.0) + spent_s
        return spent_s
