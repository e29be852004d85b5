"""Global state of a process: detects changed values quickly, and restores them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class GlobalState:
    """Snapshot of global values, which can be restored later."""

    def __init__(
        self, accessors: Iterable[tuple[Callable[[], Any], Callable[[Any], object]]] = ()
    ) -> None:
        """Read and store the clean values.

        Args:
            accessors: pairs of functions: the first reads a global value, the second sets it.
        """
        self._accessors = list(accessors)
        self._readers = [reader for reader, _ in self._accessors]
        self._clean = [_kept(reader()) for reader in self._readers]

    def is_clean(self) -> bool:
        """Return whether every reader returns its clean value."""
        return [read() for read in self._readers] == self._clean

    def restore(self) -> None:
        """Restore the values that changed. If none did, this takes about 50 ns per value."""
        if [read() for read in self._readers] == self._clean:
            return
        for (read, write), clean in zip(self._accessors, self._clean):
            if read() != clean:
                write(_kept(clean))


def _kept(value: Any) -> Any:
    """Return a value that a case cannot change: a copy of a container."""
    return copy.copy(value) if isinstance(value, (dict, list, set)) else value
