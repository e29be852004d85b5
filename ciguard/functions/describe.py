"""From an imported module to a description of its annotated functions, as JSON.

Runs in a target's interpreter: standard library only, Python 3.9 and later. The description is read
by `ciguard.functions.specs`; who calls the functions keeps the `Description` itself, which knows
the functions and the objects behind the places that the JSON names.
"""

from __future__ import annotations

import inspect
from typing import Any, Iterator, NamedTuple  # noqa: UP035 - Python 3.9 in the target

from ciguard.functions.conditions import condition_json, visible_in
from ciguard.functions.encoding import CannotEncodeError, Encoder, NoDataError, as_data, is_values
from ciguard.functions.hints import hint_spec, hints_of
from ciguard.functions.nesting import defines_annotated
from ciguard.functions.notes import NOTES, documented_exceptions, line_of, notes_on

Json = Any


class Place(NamedTuple):
    """Where an annotated function was found."""

    name: str
    function: Any
    """The plain function, or the class whose constructor it is."""
    kind: str
    """`function`, `method`, `classmethod`, `staticmethod`, `property` or `constructor`."""
    owner: Any = None
    """Class that it belongs to."""


class Description:
    """The annotated functions of one module, living and as JSON."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.file = _file_of(module)
        self.places: dict[str, Place] = {}
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
        """Return the description; see `ciguard.functions.specs` for its form."""
        return {
            "module": self.module.__name__,
            "file": self.file,
            "functions": list(self._functions.values()),
            "module_test": self._module_test(),
            "problems": sorted(self._problems, key=lambda p: (p["file"], p["line"], p["message"])),
        }

    def add(self, place: Place) -> str:
        """Describe a function unless it is described already, and return its name."""
        if place.name in self.places:
            return place.name
        self.places[place.name] = place  # before its arguments: generators may name each other
        self._functions[place.name] = _Function(self, place).json()
        return place.name

    def nested(self, functions: dict[str, Any], outer: str) -> Json:
        """Describe functions that another one has defined when it was called.

        Args:
            functions: as they were captured, by name; those of an earlier call are forgotten.
            outer: name of the function that was called.

        Returns:
            `{"functions": […], "problems": […]}`.
        """
        known = len(self._problems)
        described = []
        for name, function in functions.items():
            for key in [key for key in self.choices if key[0] == name]:
                del self.choices[key]
            place = Place(name, function, "function")
            self.places[name] = place
            described.append({**_Function(self, place).json(), "outer": outer})
        return {"functions": described, "problems": self._problems[known:]}

    def add_generator(self, generator: Any) -> str:
        """Describe what `objs` was given, a function or its name, and return its name.

        Raises:
            CannotEncodeError: if it is no annotated function.
        """
        place = self._named(generator) if isinstance(generator, str) else self._known(generator)
        if place is not None:
            return self.add(place)
        if isinstance(generator, str) or not inspect.isfunction(inspect.unwrap(generator)):
            shown = generator if isinstance(generator, str) else repr(generator)
            msg = f"objs: there is no function {shown} in {self.module.__name__}"
            raise CannotEncodeError(msg)
        return self.add(self._of_another_module(generator))

    def _named(self, name: str) -> Place | None:
        found = next((p for p in places_of(self.module, bare=True) if p.name == name), None)
        if found is None and inspect.isfunction(vars(self.module).get(name)):
            return self._of_another_module(vars(self.module)[name])
        return found

    def _known(self, generator: Any) -> Place | None:
        plain = inspect.unwrap(getattr(generator, "__func__", generator))
        for place in places_of(self.module, bare=True):
            if inspect.unwrap(place.function) is plain:
                return place
        return None

    def _of_another_module(self, generator: Any) -> Place:
        name = f"{generator.__module__}:{generator.__qualname__}"
        if generator.__module__ == self.module.__name__:
            name = str(generator.__qualname__)
        return Place(name, generator, "function")

    def problem(self, function: str, line: int, message: str, file: str = "") -> None:
        """Note that an annotation is wrong."""
        found = {
            "file": file or self.file, "line": line, "message": message, "function": function,
        }  # fmt: skip
        if found not in self._problems:
            self._problems.append(found)

    def _module_test(self) -> Json:
        notes = vars(self.module).get(NOTES)
        if not isinstance(notes, dict) or "args" not in notes or "requires" in notes:
            return None
        encoder = Encoder([], str)
        try:
            args = notes["args"]
            spec = encoder.spec(args) if is_values(args) else _fixed(encoder, args)
        except (CannotEncodeError, NoDataError) as error:
            self.problem("", notes["line"], f"module_test: {error}")
            return None
        return {"args": spec, "timeout": notes["timeout"], "line": notes["line"]}


def described(module: Any) -> Json:
    """Return the description of an imported module's annotated functions."""
    return Description(module).json()


def _fixed(encoder: Encoder, args: Any) -> Json:
    items = [encoder.spec(item) for item in args or ()]
    if any("choice" in str(item) for item in items):
        msg = "an argument of the command line is a text or a number"
        raise NoDataError(msg)
    return {"kind": "tuples", "items": items}


def _file_of(module: Any) -> str:
    return getattr(module, "__file__", None) or f"<{module.__name__}>"


# --- where functions are ------------------------------------------------------------------------


def places_of(module: Any, *, bare: bool = False) -> Iterator[Place]:
    """Yield the annotated functions of a module; all of them if `bare`."""
    seen: set[int] = set()
    for name, item in list(vars(module).items()):
        if id(item) in seen or getattr(item, "__module__", None) != module.__name__:
            continue
        seen.add(id(item))
        if inspect.isclass(item):
            yield from _members(item, item.__qualname__, bare=bare)
        elif callable(item) and (bare or notes_on(item) is not None):
            yield Place(name, item, "function")


def _members(owner: Any, name: str, *, bare: bool) -> Iterator[Place]:
    for key, raw in list(vars(owner).items()):
        if inspect.isclass(raw) and raw.__qualname__ == f"{name}.{key}":
            yield from _members(raw, raw.__qualname__, bare=bare)
            continue
        kind, function = _member(key, raw)
        if function is not None and (bare or notes_on(function) is not None):
            yield Place(f"{name}.{key}", function, kind, owner)
    if "__init__" not in vars(owner) and notes_on(owner) is not None:
        yield Place(f"{name}.__init__", owner, "constructor", owner)


def _member(key: str, raw: Any) -> tuple[str, Any]:
    if isinstance(raw, (staticmethod, classmethod)):
        return type(raw).__name__, raw.__func__
    if isinstance(raw, property) or type(raw).__name__ == "cached_property":
        return "property", getattr(raw, "fget", None) or getattr(raw, "func", None)
    if key == "__init__":
        return "constructor", raw
    return ("method", raw) if callable(raw) and not inspect.isclass(raw) else ("", None)


# --- one function -------------------------------------------------------------------------------


class _Function:
    """Writes the description of one function."""

    def __init__(self, description: Description, place: Place) -> None:
        self._description = description
        self._place = place
        self._plain = inspect.unwrap(place.function)
        self._notes = notes_on(place.function) or {}
        self._line = line_of(self._plain, self._notes)
        self._file = inspect.getsourcefile(self._plain) or description.file
        self._is_excluded = self._excluded()

    def json(self) -> Json:
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
        }

    def _excluded(self) -> bool:
        owner = notes_on(self._place.owner) if self._place.owner is not None else None
        excluded = [self._notes.get("exclude"), (owner or {}).get("exclude")]
        # A constructor that is not annotated is described for the methods, not to be tested.
        return any(excluded) or not self._notes or ":" in self._place.name

    def _problem(self, line: int, message: str) -> None:
        file = self._notes.get("file", self._file)
        self._description.problem(self._place.name, line or self._line, message, file)

    def _parameters(self) -> list[Json]:
        signature = self._signature()
        given = self._arguments(set(signature))
        hints = hints_of(self._hinted())
        return [self._parameter(p, given, hints) for p in signature.values()]

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

    def _encoder(self, argument: str) -> Encoder:
        choices = self._description.choices.setdefault((self._place.name, argument), [])
        own = self._description.module.__name__
        return Encoder(choices, self._description.add_generator, own)

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
        owner = self._place.owner
        for base in owner.__mro__[:-1]:
            init = vars(base).get("__init__")
            if init is not None:
                name = f"{owner.__qualname__}.__init__"
                return self._description.add(Place(name, init, "constructor", owner))
        name = f"{owner.__qualname__}.__init__"
        return self._description.add(Place(name, owner, "constructor", owner))

    def _examples(self, parameters: list[Json]) -> list[Json]:
        encoder = self._encoder("cc_example")
        names = [parameter["name"] for parameter in parameters]
        found = []
        for example in self._notes.get("examples", ()):
            problem = self._misfit(example)
            if problem:
                self._problem(self._line, f"cc_example of {self._place.name}: {problem}")
            else:
                found.append([[n, encoder.item(v)] for n, v in zip(names, example)])  # noqa: B905
        return found

    def _misfit(self, example: list[Any]) -> str:
        is_class = inspect.isclass(self._place.function)
        try:
            signature = inspect.signature(self._place.function)
            signature.bind(*(() if is_class else (None,)), *example)
        except TypeError as error:
            return str(error)
        return ""
