"""Describes the annotated functions of an imported module as JSON.

Runs in a target's interpreter: standard library only, Python 3.9 and later. `specs/reading.py`
reads the JSON. A `Description` also maps names and choices in the JSON to functions and objects, to
make calls in this process.
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
from ciguard.functions.in_target.describing.locations import (
    FunctionLocation,
    constructor_of,
    locations_of,
)
from ciguard.functions.in_target.describing.nesting import defines_annotated
from ciguard.functions.in_target.describing.notes import NOTES

Json = Any


class Description:
    """The annotated functions of one module, as objects and as JSON."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.file = _file_of(module)
        self.locations: dict[str, FunctionLocation] = {}
        self.choices: dict[tuple[str, str], list[Any]] = {}
        """Objects without a JSON form, by the names of the function and the argument."""
        self._functions: dict[str, Json] = {}
        self._problems: list[Json] = []
        for location in locations_of(module):
            self.add(location)
        for location in locations_of(module, include_unannotated=True):
            if location.name not in self.locations and defines_annotated(
                inspect.unwrap(location.function)
            ):
                self.add(location)

    def json(self) -> Json:
        """Return the JSON description; `specs/reading.py` reads it."""
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

    def add(self, location: FunctionLocation) -> str:
        """Describe a function, unless this is done already, and return the function's name."""
        if location.name in self.locations:
            return location.name
        self.locations[location.name] = (
            location  # before its arguments, since generators may refer to each other
        )
        self._functions[location.name] = FunctionDescription(self, location).json()
        return location.name

    def describe_nested(self, functions: dict[str, Any], outer: str) -> Json:
        """Describe the nested functions that a call has defined.

        Args:
            functions: the functions by name; they replace those of an earlier call.
            outer: name of the called function.

        Returns:
            `{"functions": […], "problems": […]}`: descriptions of the functions, and errors in
            their annotations.
        """
        known = len(self._problems)
        descriptions = []
        for name, function in functions.items():
            for key in [key for key in self.choices if key[0] == name]:
                del self.choices[key]
            location = FunctionLocation(name, function, "function")
            self.locations[name] = location
            descriptions.append({**FunctionDescription(self, location).json(), "outer": outer})
        return {"functions": descriptions, "problems": self._problems[known:]}

    def add_generator(self, generator: Any) -> str:
        """Describe the generator function of an `objs`, and return the function's name.

        Args:
            generator: the function, or its name.

        Raises:
            CannotEncodeError: if the function is not in the module, or needs an instance.
        """
        location = (
            self._location_of_name(generator)
            if isinstance(generator, str)
            else self._location_of_function(generator)
        )
        if location is not None and location.kind in ("method", "property"):
            msg = (
                f"objs: method {location.name} needs an instance; name a function that calls the "
                "method"
            )
            raise CannotEncodeError(msg)
        if location is not None:
            return self.add(location)
        if isinstance(generator, str) or not inspect.isfunction(inspect.unwrap(generator)):
            name = getattr(generator, "__name__", generator)
            if inspect.isclass(generator):
                msg = (
                    f"objs: class {name} is defined in another module; name an annotated function "
                    "of this module that returns an instance"
                )
                raise CannotEncodeError(msg)
            msg = f"objs: module {self.module.__name__} has no function {name}"
            raise CannotEncodeError(msg)
        return self.add(self._imported_function(generator))

    def _location_of_name(self, name: str) -> FunctionLocation | None:
        """Return the location of a function or class by its name; None if there is none."""
        known = next(
            (p for p in locations_of(self.module, include_unannotated=True) if p.name == name), None
        )
        if inspect.isclass(vars(self.module).get(name)):
            return self._location_of_function(vars(self.module)[name])
        if known is None and inspect.isfunction(vars(self.module).get(name)):
            return self._imported_function(vars(self.module)[name])
        return known

    def _location_of_function(self, generator: Any) -> FunctionLocation | None:
        """Return the location of a function or class of the module; None for others."""
        if inspect.isclass(generator) and generator.__module__ == self.module.__name__:
            return constructor_of(generator)
        plain = inspect.unwrap(getattr(generator, "__func__", generator))
        for location in locations_of(self.module, include_unannotated=True):
            if inspect.unwrap(location.function) is plain:
                return location
        return None

    def _imported_function(self, generator: Any) -> FunctionLocation:
        """Return the location of a function that another module defines."""
        name = f"{generator.__module__}:{generator.__qualname__}"
        if generator.__module__ == self.module.__name__:
            name = str(generator.__qualname__)
        return FunctionLocation(name, generator, "function")

    def problem(self, function: str, line: int, message: str, file: str = "") -> None:
        """Record an error in an annotation.

        Args:
            function: name of the function that cannot be tested; empty for the module.
            line: line of the annotation.
            message: what is wrong, and how to correct it.
            file: path of the file with the annotation; empty for the module's file.
        """
        problem = {
            "file": file or self.file, "line": line, "message": message, "function": function,
        }  # fmt: skip
        if problem not in self._problems:
            self._problems.append(problem)

    def _module_test(self) -> Json:
        """Return the JSON form of the module's `module_test`; None without one."""
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
    """Return the JSON form of a list of command-line arguments."""
    items = [encoder.spec(item) for item in args or ()]
    if any("choice" in str(item) for item in items):
        msg = "command-line arguments must be strings or numbers"
        raise NoDataError(msg)
    return {"kind": "tuples", "items": items}


def _file_of(module: Any) -> str:
    return getattr(module, "__file__", None) or f"<{module.__name__}>"
