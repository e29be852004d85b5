"""Memory of a device in JAX, whose allocator remembers the highest peak of the process only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_IN_USE, _HIGHEST = "bytes_in_use", "peak_bytes_in_use"


class DeviceMemory:
    """Reads the memory in use, and its peak since the last reading.

    In between, an array fills the memory up to the highest peak, so that each call raises it.

    Args:
        statistics: reads the allocator's statistics; None if it has none.
        allocate: returns a new array of so many bytes.
    """

    def __init__(
        self, statistics: Callable[[], Mapping[str, int] | None], allocate: Callable[[int], Any]
    ) -> None:
        self._statistics = statistics
        self._allocate = allocate
        self._ballast: Any = None
        self._in_use = self._level = 0

    def read(self) -> tuple[int, int] | None:
        """Return the memory in use, and its peak since the last call, in bytes.

        Returns:
            None if the allocator has no statistics. The first peak is that of the process.
        """
        self._ballast = None
        found = self._statistics()
        if not found or _HIGHEST not in found:
            return None
        in_use, highest = int(found[_IN_USE]), int(found[_HIGHEST])
        peak = self._in_use + max(0, highest - self._level)
        if highest > in_use:
            self._ballast = self._allocate(highest - in_use)
            found = self._statistics() or found
        self._in_use, self._level = in_use, int(found[_HIGHEST])
        return in_use, peak
