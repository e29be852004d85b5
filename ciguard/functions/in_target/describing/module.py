"""Describes the annotated functions of an imported module as JSON.

Runs in a target's interpreter: standard library only, Python 3.9 and later. `specs/reading.py`
reads the description. Code that calls the functions keeps the `Description` itself, which maps
names and choices of the JSON to functions and objects.
"""

from __future__ import annotations

import inspect
from typing import Any

from ciguard.functions.in_target.describing.encoding import (
    CannotEncodeError,
    ConstraintEncoder,
    NoDataError,
    is_values_annotation,
)
from ciguard.functions.in_target.describing.function import FunctionDescription
from ciguard.functions.in_target.describing.nesting import defines_annotated
from ciguard.functions.in_target.describing.notes import NOTES
from ciguard.functions.in_target.describing.places import (
    FunctionLocation,
    constructor_of,
    places_of,
)

Json = Any


class Description:
    """The annotated functions of one module, as objects and as JSON."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.file = _file_of(module)
        self.places: dict[str, FunctionLocation] = {}
        self.choices: dict[tuple[str, str], list[Any]] = {}
        """Objects without a data form, by function and argument."""
        self._functions: dict[str, Json] = {}
        self._problems: list[Json] = []
        for place in places_of(module):
            self.add(place)
        for place in places_of(module, bare=True):
            if place.name not in self.places and defines_annotated(inspect.unwrap(place.function)):
                self.add(place)

    def json(self) -> Json:
        """Return the description; see `specs/reading.py` for the schema."""
        return {
            "module": self.module.__name__,
            "file": self.file,
            "functions": list(self._functions.values()),
            "module_test": self._module_test(),
            "problems": sorted(
                self._problems,
                key=lambda problem: tuple(problem[key] for key in ("file", "line", "message")),
            ),
        }

    def add(self, place: FunctionLocation) -> str:
        """Describe a function unless it is described already, and return its name."""
        if place.name in self.places:
            return place.name
        self.places[place.name] = (
            place  # before its arguments, since generators may refer to each other
        )
        self._functions[place.name] = FunctionDescription(self, place).json()
        return place.name

    def nested(self, functions: dict[str, Any], outer: str) -> Json:
        """Describe the functions that a call of another function has defined.

        Args:
            functions: captured functions by name; they replace those of an earlier call.
            outer: name of the called function.

        Returns:
            `{"functions": […], "problems": […]}`.
        """
        known = len(self._problems)
        module_description = []
        for name, function in functions.items():
            for key in [key for key in self.choices if key[0] == name]:
                del self.choices[key]
            place = FunctionLocation(name, function, "function")
            self.places[name] = place
            module_description.append({**FunctionDescription(self, place).json(), "outer": outer})
        return {"functions": module_description, "problems": self._problems[known:]}

    def add_generator(self, generator: Any) -> str:
        """Describe the generator of an `objs`, a function or its name, and return its name.

        Raises:
            CannotEncodeError: if it is not an annotated function.
        """
        place = (
            self._place_of_name(generator)
            if isinstance(generator, str)
            else self._place_of_function(generator)
        )
        if place is not None and place.kind in ("method", "property"):
            msg = f"objs: {place.name} needs an instance; call it in an annotated function"
            raise CannotEncodeError(msg)
        if place is not None:
            return self.add(place)
        if isinstance(generator, str) or not inspect.isfunction(inspect.unwrap(generator)):
            shown = getattr(generator, "__name__", generator)
            if inspect.isclass(generator):
                msg = (
                    f"objs: class {shown} is from another module; call it in an annotated function"
                )
                raise CannotEncodeError(msg)
            msg = f"objs: module {self.module.__name__} has no function {shown}"
            raise CannotEncodeError(msg)
        return self.add(self._imported_function(generator))

    def _place_of_name(self, name: str) -> FunctionLocation | None:
        known = next((p for p in places_of(self.module, bare=True) if p.name == name), None)
        if inspect.isclass(vars(self.module).get(name)):
            return self._place_of_function(vars(self.module)[name])
        if known is None and inspect.isfunction(vars(self.module).get(name)):
            return self._imported_function(vars(self.module)[name])
        return known

    def _place_of_function(self, generator: Any) -> FunctionLocation | None:
        if inspect.isclass(generator) and generator.__module__ == self.module.__name__:
            return constructor_of(generator)
        plain = inspect.unwrap(getattr(generator, "__func__", generator))
        for place in places_of(self.module, bare=True):
            if inspect.unwrap(place.function) is plain:
                return place
        return None

    def _imported_function(self, generator: Any) -> FunctionLocation:
        name = f"{generator.__module__}:{generator.__qualname__}"
        if generator.__module__ == self.module.__name__:
            name = str(generator.__qualname__)
        return FunctionLocation(name, generator, "function")

    def problem(self, function: str, line: int, message: str, file: str = "") -> None:
        """Record that an annotation is wrong."""
        problem = {
            "file": file or self.file, "line": line, "message": message, "function": function,
        }  # fmt: skip
        if problem not in self._problems:
            self._problems.append(problem)

    def _module_test(self) -> Json:
        notes = vars(self.module).get(NOTES)
        if not isinstance(notes, dict) or "args" not in notes or "requires" in notes:
            return None
        encoder = ConstraintEncoder([], str)
        try:
            args = notes["args"]
            spec = (
                encoder.spec(args)
                if is_values_annotation(args)
                else _fixed_arguments(encoder, args)
            )
        except (CannotEncodeError, NoDataError) as error:
            self.problem("", notes["line"], f"module_test: {error}")
            return None
        return {"args": spec, "timeout": notes["timeout"], "line": notes["line"]}


def module_description(module: Any) -> Json:
    """Return the description of an imported module's annotated functions."""
    return Description(module).json()


def _fixed_arguments(encoder: ConstraintEncoder, args: Any) -> Json:
    items = [encoder.spec(item) for item in args or ()]
    if any("choice" in str(item) for item in items):
        msg = "command-line arguments must be strings or numbers"
        raise NoDataError(msg)
    return {"kind": "tuples", "items": items}


def _file_of(module: Any) -> str:
    return getattr(module, "__file__", None) or f"<{module.__name__}>"
