"""Execution of cases under the memory guard, which names the blocks of a case's arguments."""

from __future__ import annotations

from typing import Any

from ciguard.execution.worker.build import Builder
from ciguard.execution.worker.guard import MemoryGuard
from ciguard.execution.worker.loop import Executor

_ROLES = ("argument", "input")
"""Words for positional arguments: first those of the call, then those of a layer's call."""
_SEED_AT = 5


class GuardedExecutor(Executor):
    """Runs cases with guarded memory; an invalid access crashes the process."""

    def __init__(self, adapter: Any, functions: Any = None, *, on_device: bool = False) -> None:
        """Take over numpy's arrays.

        Raises:
            RuntimeError: if the guard is not loaded.
        """
        super().__init__(adapter, functions, on_device=on_device)
        self._guard = MemoryGuard()
        self._guard.adopt_arrays()
        self._builder = NamingBuilder(adapter, self._guard)

    def execute(self, case: list[Any]) -> tuple[int, bytes]:
        """Run one case, and check the bytes around its blocks."""
        self._guard.begin(case[_SEED_AT] if len(case) > _SEED_AT else 0)
        try:
            return super().execute(case)
        finally:
            self._guard.end()


class NamingBuilder(Builder):
    """Builds arguments, and names their memory after their position or keyword."""

    def __init__(self, adapter: Any, guard: MemoryGuard) -> None:
        super().__init__(adapter)
        self._guard = guard
        self._role = ""
        self._lists = 0
        """Number of lists of positional arguments of the present case."""
        make_tensor, make_array = self._makers["t"], self._makers["a"]
        self._makers["t"] = lambda form: self._named(make_tensor, form)
        self._makers["a"] = lambda form: self._named(make_array, form)

    def _named(self, make: Any, form: list[Any]) -> Any:
        self._guard.label(f"{self._role} ({form[1]}{form[2]})")
        return make(form)

    def values(self, encoded: list[Any]) -> list[Any]:
        """Build a list of values, and name their memory."""
        if self._role:
            return super().values(encoded)
        role = _ROLES[min(self._lists, 1)]
        self._lists += 1
        return [self._built(f"{role} {number}", item) for number, item in enumerate(encoded, 1)]

    def keywords(self, encoded: list[Any]) -> dict[str, Any]:
        """Build named values, and name their memory."""
        return {key: self._built(key, item) for key, item in encoded}

    def _built(self, role: str, encoded: Any) -> Any:
        outer, self._role = self._role, self._role or role
        try:
            return self.value(encoded)
        finally:
            self._role = outer
            if not outer:
                self._guard.label("")

    def forget(self) -> None:
        """Release the objects that were created for a case."""
        self._lists = 0
        super().forget()
