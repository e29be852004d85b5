"""Pace of a target: how long its calls take, and from that the first timeout of a case."""

from __future__ import annotations

MIN_FIRST_LIMIT_S = 0.2
"""Minimum first timeout, in seconds; it exceeds the delay of a busy machine."""
_TIMES_OF_TARGET = 25
"""First timeout as a multiple of the mean time of the target's cases."""
_TIMES_OF_API = 3
"""First timeout as a multiple of the time of the API's slowest batch, per case."""
_SMOOTHING = 0.05
"""Weight of a new batch in the moving average."""


class Pace:
    """Time per case of one target, on average and by API."""

    def __init__(self) -> None:
        self._mean_s = 0.0
        self._slowest_s: dict[str, float] = {}

    def observe(self, api: str, elapsed_s: float, cases: int) -> None:
        """Add a job of an API that took `elapsed_s` seconds for its cases, none of which hung."""
        if not cases:
            return
        per_case_s = elapsed_s / cases
        if per_case_s > self._slowest_s.get(api, MIN_FIRST_LIMIT_S / _TIMES_OF_API):
            self._slowest_s[api] = per_case_s
        typical_s = min(per_case_s, 2 * self._mean_s) if self._mean_s else per_case_s
        self._mean_s += _SMOOTHING * (typical_s - self._mean_s) if self._mean_s else typical_s

    def first_limit_s(self, api: str) -> float:
        """Return the first timeout of a case of an API, in seconds."""
        of_api_s = _TIMES_OF_API * self._slowest_s.get(api, 0.0)
        return max(MIN_FIRST_LIMIT_S, _TIMES_OF_TARGET * self._mean_s, of_api_s)
