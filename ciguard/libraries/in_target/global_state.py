"""Global state of a process: detects changed values fast, and restores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class GlobalState:
    """Snapshot of the values of some readers, which can be restored later."""

    def __init__(
        self, pieces: Iterable[tuple[Callable[[], Any], Callable[[Any], object]]] = ()
    ) -> None:
        """Read and store the clean values.

        Args:
            pieces: a reader and a writer for each piece of state.
        """
        self._pieces = list(pieces)
        self._readers = [reader for reader, _ in self._pieces]
        self._clean = [reader() for reader in self._readers]

    def is_clean(self) -> bool:
        """Return whether every reader returns its clean value."""
        return [read() for read in self._readers] == self._clean

    def restore(self) -> None:
        """Restore the pieces that changed; takes about 50 ns per piece if none did."""
        if [read() for read in self._readers] == self._clean:
            return
        for (read, write), clean in zip(self._pieces, self._clean):
            if read() != clean:
                write(clean)
