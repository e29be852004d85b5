"""Construction of live objects of the target's library from the JSON form of values."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator

from ciguard.execution.worker.effects import Watch
from ciguard.execution.worker.fills import elements


class Builder:
    """Builds arguments with the adapter of one library."""

    def __init__(self, adapter: Any) -> None:
        self._tensor = adapter.tensor
        self._dtype = adapter.dtype
        self._resolve = adapter.resolve
        self._resolved: dict[str, Any] = {}
        self._call_results: list[Any] = []
        self.watch = Watch(adapter)
        self._watch = self.watch.objects.append
        self._makers: dict[str, Callable[[list[Any]], Any]] = {
            "t": self._watched if adapter.mutable else self._unwatched,
            "a": lambda form: self.watch.array(elements(form[3], form[1], form[2])),
            "l": lambda form: [self.value(item) for item in form[1]],
            "p": lambda form: tuple([self.value(item) for item in form[1]]),
            "d": lambda form: self.keywords(form[1]),
            "y": lambda form: self._dtype(form[1]),
            "m": lambda form: self.member(form[1]),
            "c": self._call,
            "f": lambda form: float(form[1]),
            "z": lambda form: complex(float(form[1]), float(form[2])),
            "b": lambda form: form[1].encode("latin-1"),
        }

    def value(self, encoded: Any) -> Any:
        """Build one value; a plain scalar is returned as it is."""
        return self._makers[encoded[0]](encoded) if type(encoded) is list else encoded

    def values(self, encoded: list[Any]) -> list[Any]:
        """Build a list of values."""
        make = self._makers
        return [make[item[0]](item) if type(item) is list else item for item in encoded]

    def keywords(self, encoded: list[Any]) -> dict[str, Any]:
        """Build named values."""
        return {key: self.value(item) for key, item in encoded}

    def member(self, path: str) -> Any:
        """Return the object with a dotted name; the result is cached, as cases name few objects."""
        try:
            return self._resolved[path]
        except KeyError:
            member = self._resolved[path] = self._resolve(path)
            return member

    @contextmanager
    def replaced(self, path: str, replace: Callable[[Any], Any]) -> Iterator[None]:
        """Let a dotted name stand for another object until the end of the context."""
        member = self.member(path)
        self._resolved[path] = replace(member)
        try:
            yield
        finally:
            self._resolved[path] = member

    def _unwatched(self, encoded: list[Any]) -> Any:
        return self._tensor(elements(encoded[3], encoded[1], encoded[2]), encoded[1])

    def _watched(self, encoded: list[Any]) -> Any:
        tensor = self._unwatched(encoded)
        self._watch(tensor)
        return tensor

    def _call(self, encoded: list[Any]) -> Any:
        _, function, arguments, keywords = encoded
        result = self.member(function)(*self.values(arguments), **self.keywords(keywords))
        # A part of the result, such as a variable's handle, may not outlive it.
        self._call_results.append(result)
        return result

    def is_call_result(self, value: Any) -> bool:
        """Return whether this object was returned by a call of the present case."""
        return any(value is result for result in self._call_results)

    def forget(self) -> None:
        """Release the objects that were created for a case."""
        self._call_results.clear()
        if self.watch.objects:
            self.watch.forget()
