"""Annotated functions as data, as `in_target.describing` describes them.

Bounds in a constraint may be references to other arguments. They become numbers when the other
arguments of a call are drawn (`solving/resolving.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ciguard.domain.values import Value
    from ciguard.functions.specs.kinds import Spec


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in an annotation."""

    file: str
    line: int
    message: str
    function: str = ""
    """Function that cannot be tested because of it; empty if it concerns the module."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A precondition or postcondition."""

    text: str
    """Python expression; a description if it is a function without readable source."""
    line: int
    names: tuple[str, ...] = ()
    """Arguments that it names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSpec:
    """One argument of a function."""

    name: str
    kind: str = "positional_or_keyword"
    """Kind of the parameter: name of an `inspect.Parameter.kind` in lower case."""
    spec: Spec | None = None
    """Constraint of the values; None leaves the parameter out of calls."""
    default: bool = False
    """True if a call may leave it out."""
    value: Value | None = None
    """Default value, if it has a form as data."""
    is_wrong: bool = False
    """True if its annotation is one of the module's problems."""
    line: int = 0


Example: TypeAlias = "tuple[tuple[str, Value], ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSpec:
    """An annotated function."""

    name: str
    """Path in its module, `DenseNet.build`; prefixed by the module if that is another: `m:f`."""
    file: str = ""
    line: int = 0
    kind: str = "function"
    """`function`, `method`, `classmethod`, `staticmethod`, `property` or `constructor`."""
    owner: str = ""
    """Path of its class."""
    constructor: str = ""
    """Name of the function that makes its instance; empty without an instance."""
    outer: str = ""
    """Name of the function whose call defines it; see `Call.outer`."""
    parameters: tuple[ParameterSpec, ...] = ()
    requires: tuple[Condition, ...] = ()
    ensures: tuple[Condition, ...] = ()
    raises: tuple[str, ...] = ()
    """Declared or documented exceptions."""
    timeout: float | None = None
    """Time limit of a call, in seconds."""
    excluded: bool = False
    """True if it is called only as part of other functions' calls."""
    is_generator: bool = False
    """True if it generates values for `objs`."""
    attributes: tuple[tuple[str, str], ...] = ()
    """Attributes that a constructor sets, as expressions of its arguments."""
    examples: tuple[Example, ...] = ()
    """Arguments of a constructor, the only ones that instances for methods are made with."""
    is_lazy: bool = False
    """True if it yields its results one by one."""
    is_abstract: bool = False
    """True if its class cannot be instantiated."""
    calls_instance: bool = False
    """True if the object itself is called, so that a Keras layer builds its weights first."""
    is_async: bool = False
    """True if its result, or each of its results, must be awaited."""
    annotated_in: str = ""
    """File of its annotations, if they stand in a sidecar."""
    has_nested: bool = False
    """True if it defines annotated functions, which a call of it reveals."""

    def parameter(self, name: str) -> ParameterSpec:
        """Return the parameter of a name.

        Raises:
            KeyError: if no parameter has that name.
        """
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class MainSpec:
    """Annotations of a module that is run as a script."""

    args: Spec
    """Constraint of the command line's arguments."""
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
        """Return the function of a name.

        Raises:
            KeyError: if no function has that name.
        """
        return self.by_name[name]

    def tested(self) -> tuple[FunctionSpec, ...]:
        """Return the functions that are tested: not excluded and free of problems."""
        names_with_problems = {problem.function for problem in self.problems}
        return tuple(
            function
            for function in self.functions
            if not function.excluded and function.name not in names_with_problems
        )
