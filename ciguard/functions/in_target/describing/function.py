"""The description of one annotated function, as JSON.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import Any, Protocol

from ciguard.functions.in_target.describing.attributes import attributes_of
from ciguard.functions.in_target.describing.conditions import condition_json, visible_in
from ciguard.functions.in_target.describing.encoding import (
    EXAMPLES,
    CannotEncodeError,
    ConstraintEncoder,
    NoDataError,
    as_data,
)
from ciguard.functions.in_target.describing.hints import hint_spec, hints_of
from ciguard.functions.in_target.describing.nesting import defines_annotated
from ciguard.functions.in_target.describing.notes import documented_exceptions, line_of, notes_on
from ciguard.functions.in_target.describing.places import (
    FunctionLocation,
    calls_instance,
    constructor_of,
    is_abstract,
    is_annotated,
)

Json = Any


class ModuleDescription(Protocol):
    """What a function needs of the description of its module."""

    file: str
    module: Any
    choices: dict[tuple[str, str], list[Any]]

    def add(self, place: FunctionLocation) -> str:
        """Describe a function unless it is described already, and return its name."""

    def add_generator(self, generator: Any) -> str:
        """Describe what `objs` was given, and return its name."""

    def problem(self, function: str, line: int, message: str, file: str = "") -> None:
        """Note that an annotation is wrong."""


class FunctionDescription:
    """Writes the description of one function."""

    def __init__(self, description: ModuleDescription, place: FunctionLocation) -> None:
        self._description = description
        self._place = place
        self._plain = inspect.unwrap(place.function)
        self._notes = notes_on(place.function) or {}
        self._line, self._file = self._origin()
        self._is_excluded = self._excluded()

    def json(self) -> Json:
        """Return the description; see `specs/reading.py` for its form."""
        place, notes = self._place, self._notes
        parameters = self._parameters()
        exceptions = notes.get("raises", ())
        return {
            "name": place.name,
            "file": self._file,
            "line": self._line,
            "kind": place.kind,
            "owner": place.owner.__qualname__ if place.owner is not None else "",
            "constructor": self._constructor(),
            "outer": "",
            "parameters": parameters,
            "requires": self._conditions("requires", parameters),
            "ensures": self._conditions("ensures", parameters),
            "raises": [*(e.__name__ for e in exceptions), *documented_exceptions(self._plain)],
            "timeout": notes.get("timeout"),
            "excluded": self._is_excluded,
            "generator": bool(notes.get("generator")),
            "examples": self._examples(parameters),
            "nested": defines_annotated(self._plain),
            "annotated_in": notes.get("file", ""),
            "lazy": inspect.isgeneratorfunction(self._plain)
            or inspect.isasyncgenfunction(self._plain),
            "abstract": is_abstract(place),
            "attributes": self._attributes(),
            "calls_instance": calls_instance(place),
            "async": inspect.iscoroutinefunction(self._plain)
            or inspect.isasyncgenfunction(self._plain),
        }

    def _origin(self) -> tuple[int, str]:
        """Return line and file; what was generated for a class, as by dataclasses, is the class."""
        found = self._plain
        if getattr(found, "__code__", None) and found.__code__.co_filename == "<string>":
            found = self._place.owner or found
        file = self._description.file
        with suppress(TypeError):  # of a class that has no file
            file = inspect.getsourcefile(found) or file
        return line_of(found, self._notes), file

    def _excluded(self) -> bool:
        owner = notes_on(self._place.owner) if self._place.owner is not None else None
        excluded = [self._notes.get("exclude"), (owner or {}).get("exclude")]
        # A constructor that is not annotated is described for the methods, not to be tested.
        is_own = ":" not in self._place.name and is_annotated(self._place.function)
        return any(excluded) or not is_own

    def _problem(self, line: int, message: str) -> None:
        file = self._notes.get("file", self._file)
        self._description.problem(self._place.name, line or self._line, message, file)

    def _parameters(self) -> list[Json]:
        signature = self._signature()
        given = self._arguments(set(signature))
        hints = hints_of(self._hinted())
        found = [self._parameter(p, given, hints) for p in signature.values()]
        if found and calls_instance(self._place):
            found[0]["kind"] = "positional_only"  # by which a layer knows its inputs
        return found

    def _signature(self) -> dict[str, inspect.Parameter]:
        try:
            found = dict(inspect.signature(self._place.function).parameters)
        except (TypeError, ValueError) as error:
            self._problem(self._line, f"its arguments cannot be told: {error}")
            return {}
        takes_self = self._place.kind in ("method", "classmethod", "property", "constructor")
        if takes_self and not inspect.isclass(self._place.function):
            found.pop(next(iter(found), ""), None)
        return found

    def _hinted(self) -> Any:
        plain = self._plain
        return plain.__init__ if inspect.isclass(plain) else plain

    def _arguments(self, known: set[str]) -> dict[str, tuple[Any, int]]:
        given: dict[str, tuple[Any, int]] = {}
        for name, values, line in self._notes.get("args", ()):
            if name not in known:
                listed = ", ".join(sorted(known)) or "none"
                self._problem(line, f"{self._place.name} has no argument {name!r}; it has {listed}")
            elif name in given:
                self._problem(line, f"argument {name!r} of {self._place.name} is annotated twice")
            else:
                given[name] = (values, line)
        return given

    def _parameter(
        self, parameter: inspect.Parameter, given: dict[str, tuple[Any, int]], hints: dict[str, Any]
    ) -> Json:
        values, line = given.get(parameter.name, (None, self._line))
        is_open = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        has_default = is_open or parameter.default is not parameter.empty
        spec = None
        if parameter.name in given:
            spec = self._annotated(parameter.name, values, line)
        elif not is_open:
            spec = self._hinted_spec(parameter.name, hints, has_default=has_default)
        return {
            "name": parameter.name,
            "kind": parameter.kind.name.lower(),
            "spec": spec,
            "default": has_default,
            "wrong": parameter.name in given and spec is None,
            "value": self._default(parameter),
            "line": line,
        }

    def _default(self, parameter: inspect.Parameter) -> Json:
        """Return the default as data, in a list; empty where there is none or it has no form."""
        if parameter.default is parameter.empty:
            return []
        try:
            return [as_data(parameter.default, self._description.module.__name__)]
        except NoDataError:
            return []

    def _encoder(self, argument: str) -> ConstraintEncoder:
        choices = self._description.choices.setdefault((self._place.name, argument), [])
        own = self._description.module.__name__
        return ConstraintEncoder(choices, self._description.add_generator, own)

    def _annotated(self, name: str, values: Any, line: int) -> Json:
        try:
            return self._encoder(name).spec(values)
        except CannotEncodeError as error:
            self._problem(line, f"argument {name!r} of {self._place.name}: {error}")
            return None

    def _hinted_spec(self, name: str, hints: dict[str, Any], *, has_default: bool) -> Json:
        found = hint_spec(hints[name], self._encoder(name)) if name in hints else None
        if found is not None and (found.is_exact or not has_default):
            return found.spec
        return None

    def _conditions(self, key: str, parameters: list[Json]) -> list[Json]:
        names = {parameter["name"] for parameter in parameters}
        written = []
        for condition, line in self._notes.get(key, ()):
            visible = visible_in(self._plain, key) | set(self._notes.get("scope", ()))
            found, problem = condition_json(condition, line, names, visible, key)
            if problem:
                self._problem(line, f"{self._place.name}: {problem}")
            else:
                written.append(found)
        return written

    def _constructor(self) -> str:
        if self._place.kind not in ("method", "property"):
            return ""
        return self._description.add(constructor_of(self._place.owner))

    def _attributes(self) -> dict[str, str]:
        if self._place.kind != "constructor" or self._place.owner is None:
            return {}
        return attributes_of(self._place.owner, self._plain)

    def _examples(self, parameters: list[Json]) -> list[Json]:
        encoder = self._encoder(EXAMPLES)
        names = [parameter["name"] for parameter in parameters]
        found = []
        for example in self._notes.get("examples", ()):
            problem = self._misfit(example)
            if problem:
                self._problem(self._line, f"cc_example of {self._place.name}: {problem}")
            else:
                found.append([[n, encoder.item(v)] for n, v in zip(names, example)])
        return found

    def _misfit(self, example: list[Any]) -> str:
        is_class = inspect.isclass(self._place.function)
        try:
            signature = inspect.signature(self._place.function)
            signature.bind(*(() if is_class else (None,)), *example)
        except TypeError as error:
            return str(error)
        return ""
