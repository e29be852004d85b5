"""Describes one annotated function as JSON.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import Any, Protocol

from ciguard.functions.in_target.describing.attributes import attributes_of
from ciguard.functions.in_target.describing.conditions import condition_json, visible_names_in
from ciguard.functions.in_target.describing.encoding import (
    EXAMPLES,
    CannotEncodeError,
    ConstraintEncoder,
    NoDataError,
    as_data,
)
from ciguard.functions.in_target.describing.hints import hint_of, hints_of
from ciguard.functions.in_target.describing.laziness import returns_lazily
from ciguard.functions.in_target.describing.locations import (
    FunctionLocation,
    constructor_of,
    is_abstract,
    is_annotated,
    is_called_through_instance,
)
from ciguard.functions.in_target.describing.nesting import defines_annotated
from ciguard.functions.in_target.describing.notes import documented_exceptions, line_of, notes_on

Json = Any


class ModuleDescription(Protocol):
    """Interface of a module's description for the descriptions of its functions."""

    file: str
    module: Any
    choices: dict[tuple[str, str], list[Any]]

    def add(self, location: FunctionLocation) -> str:
        """Describe a function, unless this is done already, and return the function's name."""

    def add_generator(self, generator: Any) -> str:
        """Describe a generator function of `objs`, and return the function's name."""

    def problem(self, function: str, line: int, message: str, file: str = "") -> None:
        """Record an error in an annotation."""


class FunctionDescription:
    """Writes the description of one function."""

    def __init__(self, description: ModuleDescription, location: FunctionLocation) -> None:
        self._description = description
        self._location = location
        self._unwrapped = inspect.unwrap(location.function)
        self._notes = notes_on(location.function) or {}
        self._line, self._file = self._origin()
        self._is_excluded = self._is_not_tested()

    def json(self) -> Json:
        """Return the JSON description; `specs/reading.py` reads it."""
        location, notes = self._location, self._notes
        parameters = self._parameters()
        exceptions = notes.get("raises", ())
        return {
            "name": location.name,
            "file": self._file,
            "line": self._line,
            "kind": location.kind,
            "owner": location.owner.__qualname__ if location.owner is not None else "",
            "constructor": self._constructor(),
            "outer": "",
            "parameters": parameters,
            "requires": self._conditions("requires", parameters),
            "ensures": self._conditions("ensures", parameters),
            "raises": [
                *(error.__name__ for error in exceptions),
                *documented_exceptions(self._unwrapped),
            ],
            "timeout": notes.get("timeout"),
            "excluded": self._is_excluded,
            "generator": bool(notes.get("generator")),
            "examples": self._examples(parameters),
            "nested": defines_annotated(self._unwrapped),
            "annotated_in": notes.get("file", ""),
            "lazy": inspect.isgeneratorfunction(self._unwrapped)
            or inspect.isasyncgenfunction(self._unwrapped),
            "abstract": is_abstract(location),
            "attributes": self._attributes(),
            "calls_instance": is_called_through_instance(location),
            "async": inspect.iscoroutinefunction(self._unwrapped)
            or inspect.isasyncgenfunction(self._unwrapped),
            **({"consumed": True} if returns_lazily(self._unwrapped) else {}),
        }

    def _origin(self) -> tuple[int, str]:
        """Return the line and file of the function's definition.

        For generated code, such as that of dataclasses, they are those of the class.
        """
        source = self._unwrapped
        if getattr(source, "__code__", None) and source.__code__.co_filename == "<string>":
            source = self._location.owner or source
        file = self._description.file
        with suppress(TypeError):  # raised for a class without a file
            file = inspect.getsourcefile(source) or file
        return line_of(source, self._notes), file

    def _is_not_tested(self) -> bool:
        """Return whether the function is described only for other functions."""
        owner = notes_on(self._location.owner) if self._location.owner is not None else None
        excluded = [self._notes.get("exclude"), (owner or {}).get("exclude")]
        # A constructor without annotations is described for the class's methods, but not tested.
        is_of_module = ":" not in self._location.name and is_annotated(self._location.function)
        return any(excluded) or not is_of_module

    def _problem(self, line: int, message: str) -> None:
        file = self._notes.get("file", self._file)
        self._description.problem(self._location.name, line or self._line, message, file)

    def _parameters(self) -> list[Json]:
        """Return the JSON forms of the function's parameters."""
        signature = self._signature()
        annotations = self._arguments(set(signature))
        hints = hints_of(self._function_with_hints())
        parameters = [
            self._parameter(parameter, annotations, hints) for parameter in signature.values()
        ]
        if parameters and is_called_through_instance(self._location):
            # Keras layers take their inputs by position.
            parameters[0]["kind"] = "positional_only"
        return parameters

    def _signature(self) -> dict[str, inspect.Parameter]:
        """Return the function's parameters by name, without `self` or `cls`."""
        try:
            parameters = dict(inspect.signature(self._location.function).parameters)
        except (TypeError, ValueError) as error:
            self._problem(
                self._line, f"{self._location.name}: the signature cannot be read: {error}"
            )
            return {}
        takes_self = self._location.kind in ("method", "classmethod", "property", "constructor")
        if takes_self and not inspect.isclass(self._location.function):
            parameters.pop(next(iter(parameters), ""), None)
        return parameters

    def _function_with_hints(self) -> Any:
        plain = self._unwrapped
        return plain.__init__ if inspect.isclass(plain) else plain

    def _arguments(self, names: set[str]) -> dict[str, tuple[Any, int]]:
        """Return the annotations by argument, each as values and line; record errors."""
        annotations: dict[str, tuple[Any, int]] = {}
        for name, values, line in self._notes.get("args", ()):
            if name not in names:
                listed = ", ".join(sorted(names)) or "none"
                self._problem(
                    line, f"{self._location.name} has no argument {name!r}; arguments: {listed}"
                )
            elif name in annotations:
                self._problem(
                    line, f"argument {name!r} of {self._location.name} is annotated twice"
                )
            else:
                annotations[name] = (values, line)
        return annotations

    def _parameter(
        self,
        parameter: inspect.Parameter,
        annotations: dict[str, tuple[Any, int]],
        hints: dict[str, Any],
    ) -> Json:
        """Return the JSON form of one parameter.

        An annotation takes precedence over a type hint.
        """
        values, line = annotations.get(parameter.name, (None, self._line))
        is_variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        has_default = is_variadic or parameter.default is not parameter.empty
        spec = None
        if parameter.name in annotations:
            spec = self._annotated_spec(parameter.name, values, line)
        elif not is_variadic:
            spec = self._hinted_spec(parameter.name, hints, has_default=has_default)
        return {
            "name": parameter.name,
            "kind": parameter.kind.name.lower(),
            "spec": spec,
            "default": has_default,
            "wrong": parameter.name in annotations and spec is None,
            "value": self._default(parameter),
            "line": line,
        }

    def _default(self, parameter: inspect.Parameter) -> Json:
        """Return a list with the default's JSON form; empty without a default or a JSON form."""
        if parameter.default is parameter.empty:
            return []
        try:
            return [as_data(parameter.default, self._description.module.__name__)]
        except NoDataError:
            return []

    def _encoder(self, argument: str) -> ConstraintEncoder:
        choices = self._description.choices.setdefault((self._location.name, argument), [])
        module_name = self._description.module.__name__
        return ConstraintEncoder(choices, self._description.add_generator, module_name)

    def _annotated_spec(self, name: str, values: Any, line: int) -> Json:
        try:
            return self._encoder(name).spec(values)
        except CannotEncodeError as error:
            self._problem(line, f"argument {name!r} of {self._location.name}: {error}")
            return None

    def _hinted_spec(self, name: str, hints: dict[str, Any], *, has_default: bool) -> Json:
        """Return the constraint that a type hint states; None if it is not to be used.

        A hint that is not exact does not replace a default.
        """
        hint = hint_of(hints[name], self._encoder(name)) if name in hints else None
        if hint is not None and (hint.is_exact or not has_default):
            return hint.spec
        return None

    def _conditions(self, key: str, parameters: list[Json]) -> list[Json]:
        """Return the JSON forms of preconditions or postconditions; record errors."""
        names = {parameter["name"] for parameter in parameters}
        conditions = []
        for condition, line in self._notes.get(key, ()):
            visible_names = visible_names_in(self._unwrapped, key) | set(
                self._notes.get("scope", ())
            )
            encoded, problem = condition_json(condition, line, names, visible_names, key)
            if problem:
                self._problem(line, f"{self._location.name}: {problem}")
            else:
                conditions.append(encoded)
        return conditions

    def _constructor(self) -> str:
        """Return the name of the constructor that a method needs; empty for others."""
        if self._location.kind not in ("method", "property"):
            return ""
        return self._description.add(constructor_of(self._location.owner))

    def _attributes(self) -> dict[str, str]:
        if self._location.kind != "constructor" or self._location.owner is None:
            return {}
        return attributes_of(self._location.owner, self._unwrapped)

    def _examples(self, parameters: list[Json]) -> list[Json]:
        """Return the JSON forms of a constructor's examples; record errors."""
        encoder = self._encoder(EXAMPLES)
        names = [parameter["name"] for parameter in parameters]
        examples = []
        for example in self._notes.get("examples", ()):
            problem = self._mismatch(example)
            if problem:
                self._problem(self._line, f"cc_example of {self._location.name}: {problem}")
            else:
                examples.append(
                    [[name, encoder.item(value)] for name, value in zip(names, example)]
                )
        return examples

    def _mismatch(self, example: list[Any]) -> str:
        """Return why an example does not fit the signature; empty if it fits."""
        is_class = inspect.isclass(self._location.function)
        try:
            signature = inspect.signature(self._location.function)
            signature.bind(*(() if is_class else (None,)), *example)
        except TypeError as error:
            return str(error)
        return ""
