"""Side effects of a call: changed arguments, and arguments that share memory with its output."""

from __future__ import annotations

from typing import Any, Sequence

_MAX_BYTES = 1024
"""Maximum size of a watched array, in bytes; libraries hardly ever change numpy's arrays."""


class Watch:
    """Watches the tensors and arrays that were created for a case, in order of creation.

    They are checked after every call, at a small fraction of a microsecond per tensor.
    """

    def __init__(self, adapter: Any) -> None:
        self._effects = adapter.effects
        self.objects: list[Any] = []
        """Tensors of libraries whose calls can change them, and numpy arrays."""
        self._bytes: list[tuple[int, bytes]] = []

    def array(self, array: Any) -> Any:
        """Watch a numpy array, and return it."""
        if array.nbytes <= _MAX_BYTES:
            self._bytes.append((len(self.objects), array.tobytes()))
        self.objects.append(array)
        return array

    def record_prefix(self, output: Any) -> bytes:
        """Return the prefix of the record of a call with side effects; otherwise nothing."""
        changed, shared = self._effects(self.objects, output)
        if self._bytes:
            changed = [*changed, *self._changed_arrays()]
            shared = [
                *shared,
                *(index for index, _ in self._bytes if self.objects[index] is output),
            ]
        if changed or shared:
            return b'["E",%s,%s,' % (indices(changed), indices(shared))
        return b""

    def _changed_arrays(self) -> list[int]:
        return [index for index, old in self._bytes if self.objects[index].tobytes() != old]

    def forget(self) -> None:
        """Release the objects of the case."""
        self.objects.clear()
        self._bytes.clear()


def indices(numbers: Sequence[int]) -> bytes:
    """Return distinct indices as a sorted JSON list."""
    return str(sorted(set(numbers))).replace(" ", "").encode("ascii")
