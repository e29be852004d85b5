"""What a call did to its arguments: which it changed, and with which its result shares memory."""

from __future__ import annotations

from typing import Any, Sequence

_MAX_BYTES = 1024
"""Larger arrays are not remembered: libraries change their own tensors, hardly ever numpy's."""


class Watch:
    """Remembers the tensors and arrays that were made for a case, in order.

    Looked at after every call, so it costs a small part of a microsecond per tensor.
    """

    def __init__(self, adapter: Any) -> None:
        self._effects = adapter.effects
        self.made: list[Any] = []
        """Tensors where calls can change them, and numpy arrays."""
        self._bytes: list[tuple[int, bytes]] = []

    def array(self, array: Any) -> Any:
        """Take note of a numpy array and return it."""
        if array.nbytes <= _MAX_BYTES:
            self._bytes.append((len(self.made), array.tobytes()))
        self.made.append(array)
        return array

    def beginning(self, output: Any) -> bytes:
        """Return what the record of a call that did something begins with; else nothing."""
        changed, shared = self._effects(self.made, output)
        if self._bytes:
            changed = [*changed, *self._changed_arrays()]
            shared = [*shared, *(place for place, _ in self._bytes if self.made[place] is output)]
        if changed or shared:
            return b'["E",%s,%s,' % (places(changed), places(shared))
        return b""

    def _changed_arrays(self) -> list[int]:
        return [place for place, was in self._bytes if self.made[place].tobytes() != was]

    def forget(self) -> None:
        """Let go of what was made for a case."""
        self.made.clear()
        self._bytes.clear()


def places(found: Sequence[int]) -> bytes:
    """Return places as a JSON list, each once and in order."""
    return str(sorted(set(found))).replace(" ", "").encode("ascii")
