"""Annotated functions as data: what `ciguard.functions.describe` has found in a module.

`module_from_json` reads the description that a target sends. Numbers of a constraint may be
references, which become numbers when the other arguments of a call are drawn (`constraints.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import value_from_json
from ciguard.functions.spec_json import spec_from_json, value_of_item

if TYPE_CHECKING:
    from ciguard.domain import Json, Value
    from ciguard.functions.spec_kinds import Spec


@dataclass(frozen=True, slots=True)
class Problem:
    """An annotation that is wrong."""

    file: str
    line: int
    message: str
    function: str = ""
    """That it keeps from being tested; empty where it concerns the module."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A precondition or postcondition."""

    text: str
    """Python expression; only words where it is a function whose source is not at hand."""
    line: int
    names: tuple[str, ...] = ()
    """Arguments that it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSpec:
    """One argument of a function."""

    name: str
    kind: str = "positional_or_keyword"
    """As `inspect.Parameter.kind` calls it, in lower case."""
    spec: Spec | None = None
    """What it may be; None leaves it out of the call."""
    default: bool = False
    """Whether a call may leave it out."""
    value: Value | None = None
    """Its default, where that is data."""
    is_wrong: bool = False
    """Whether its annotation is a problem of the module."""
    line: int = 0


Example: TypeAlias = "tuple[tuple[str, Value], ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSpec:
    """An annotated function."""

    name: str
    """Path within its module, `DenseNet.build`; with the module where that is another: `m:f`."""
    file: str = ""
    line: int = 0
    kind: str = "function"
    """`function`, `method`, `classmethod`, `staticmethod`, `property` or `constructor`."""
    owner: str = ""
    """Path of its class."""
    constructor: str = ""
    """Name of the function that makes the instance it is called on; empty without an instance."""
    outer: str = ""
    """Name of the function that defines it when called; see `Call.outer`."""
    parameters: tuple[ParameterSpec, ...] = ()
    requires: tuple[Condition, ...] = ()
    ensures: tuple[Condition, ...] = ()
    raises: tuple[str, ...] = ()
    """Exceptions that it declares or documents."""
    timeout: float | None = None
    """Seconds."""
    excluded: bool = False
    """Whether it is only a part of other functions' calls."""
    is_generator: bool = False
    """Whether it makes values for `objs`."""
    examples: tuple[Example, ...] = ()
    """Of a constructor: the only arguments that instances for its methods are made with."""
    is_lazy: bool = False
    """Whether its results come one by one."""
    annotated_in: str = ""
    """File of its annotations, where these stand beside the program."""
    has_nested: bool = False
    """Whether it defines annotated functions, which are found when it is called."""

    def parameter(self, name: str) -> ParameterSpec:
        """Return a parameter.

        Raises:
            KeyError: if there is none of that name.
        """
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class MainSpec:
    """The main environment of a module, run as a script."""

    args: Spec
    """Of the command line."""
    timeout: float | None
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleSpec:
    """The annotated functions of one module."""

    file: str
    name: str = ""
    functions: tuple[FunctionSpec, ...] = ()
    main: MainSpec | None = None
    problems: tuple[Problem, ...] = ()
    by_name: dict[str, FunctionSpec] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.by_name.update({function.name: function for function in self.functions})

    def function(self, name: str) -> FunctionSpec:
        """Return a function.

        Raises:
            KeyError: if there is none of that name.
        """
        return self.by_name[name]

    def tested(self) -> tuple[FunctionSpec, ...]:
        """Return the functions that are tested: neither excluded nor wrongly annotated."""
        wrong = {problem.function for problem in self.problems}
        return tuple(f for f in self.functions if not f.excluded and f.name not in wrong)


def module_from_json(json: Json) -> ModuleSpec:
    """Return the module that a description describes, with all problems of its annotations.

    Raises:
        ValueError, KeyError: if `json` is no description.
    """
    from ciguard.functions.checks import problems_of  # noqa: PLC0415 - which reads these classes

    main = json["module_test"]
    module = ModuleSpec(
        file=json["file"],
        name=json["module"],
        functions=tuple(map(_function, json["functions"])),
        main=main and MainSpec(spec_from_json(main["args"]), main["timeout"], main["line"]),
        problems=tuple(Problem(**problem) for problem in json["problems"]),
    )
    return _with_problems(module, problems_of(module))


def with_functions(module: ModuleSpec, described: Json) -> ModuleSpec:
    """Return a module with functions that were described later, such as nested ones."""
    from ciguard.functions.checks import problems_of  # noqa: PLC0415 - as above

    added = tuple(map(_function, described["functions"]))
    known = tuple(f for f in module.functions if f.name not in {one.name for one in added})
    later = tuple(Problem(**problem) for problem in described["problems"])
    whole = ModuleSpec(
        file=module.file, name=module.name, functions=(*known, *added), main=module.main
    )
    return _with_problems(whole, (*module.problems, *later, *problems_of(whole)))


def _with_problems(module: ModuleSpec, more: tuple[Problem, ...]) -> ModuleSpec:
    return ModuleSpec(
        file=module.file,
        name=module.name,
        functions=module.functions,
        main=module.main,
        problems=tuple(dict.fromkeys((*module.problems, *more))),
    )


def _function(json: Json) -> FunctionSpec:
    name = json["name"]
    return FunctionSpec(
        name=name,
        file=json["file"],
        line=json["line"],
        kind=json["kind"],
        owner=json["owner"],
        constructor=json["constructor"],
        outer=json["outer"],
        parameters=tuple(_parameter(name, p) for p in json["parameters"]),
        requires=tuple(map(_condition, json["requires"])),
        ensures=tuple(map(_condition, json["ensures"])),
        raises=tuple(json["raises"]),
        timeout=json["timeout"],
        excluded=json["excluded"],
        is_generator=json["generator"],
        examples=tuple(_example(name, example) for example in json["examples"]),
        is_lazy=json["lazy"],
        annotated_in=json["annotated_in"],
        has_nested=json["nested"],
    )


def _parameter(function: str, json: Json) -> ParameterSpec:
    spec = json["spec"]
    return ParameterSpec(
        name=json["name"],
        kind=json["kind"],
        spec=None if spec is None else spec_from_json(spec, function, json["name"]),
        default=json["default"],
        is_wrong=json["wrong"],
        value=value_from_json(json["value"][0]) if json["value"] else None,
        line=json["line"],
    )


def _condition(json: Json) -> Condition:
    return Condition(json["text"], json["line"], tuple(json["names"]))


def _example(function: str, json: Json) -> Example:
    return tuple((name, value_of_item(item, function, "cc_example")) for name, item in json)
