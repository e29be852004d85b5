"""Annotated functions as data, read from the descriptions by `in_target.describing`.

Bounds in a constraint may be references to other arguments. Such a bound becomes a number when the
other arguments of a call are drawn (`solving/resolving.py`).
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
    """Path of the file with the annotation."""
    line: int
    """Line number of the annotation, from 1."""
    message: str
    function: str = ""
    """Name of the function that the error prevents from being tested; empty for the module."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A precondition or postcondition."""

    text: str
    """Python expression, or a description if the condition is a function without source."""
    line: int
    """Line number of the annotation, from 1."""
    names: tuple[str, ...] = ()
    """Names of the arguments in the condition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSpec:
    """One parameter of a function."""

    name: str
    kind: str = "positional_or_keyword"
    """Name of its `inspect.Parameter.kind` in lower case."""
    spec: Spec | None = None
    """Constraint of the values; None for a parameter that calls leave out."""
    has_default: bool = False
    """True if calls may leave the parameter out."""
    default_value: Value | None = None
    """Default as data; None without a default, or for a default that cannot be stored as data."""
    has_problem: bool = False
    """True if the parameter's annotation is one of the module's problems."""
    line: int = 0
    """Line number of the parameter's annotation; 0 without an annotation."""


Example: TypeAlias = "tuple[tuple[str, Value], ...]"
"""Arguments of a constructor: pairs of a parameter's name and its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSpec:
    """An annotated function."""

    name: str
    """Name in its module, such as `DenseNet.build`; `m:f` if another module `m` defines it."""
    file: str = ""
    """Path of the file that defines the function."""
    line: int = 0
    """Line number of the definition, from 1."""
    kind: str = "function"
    """`function`, `method`, `classmethod`, `staticmethod`, `property` or `constructor`."""
    owner: str = ""
    """Name of the method's class in its module; empty for a function."""
    constructor: str = ""
    """Name of the function that returns the method's instance; empty without an instance."""
    outer: str = ""
    """Name of the outer function that defines this nested function; empty for others."""
    parameters: tuple[ParameterSpec, ...] = ()
    preconditions: tuple[Condition, ...] = ()
    postconditions: tuple[Condition, ...] = ()
    allowed_exceptions: tuple[str, ...] = ()
    """Names of the exceptions that the function may raise, from annotations or documentation."""
    timeout: float | None = None
    """Timeout of one call, in seconds; None for the default."""
    is_excluded: bool = False
    """True if the function is not tested itself, but only called for other functions."""
    is_generator: bool = False
    """True if the function generates values for `objs`."""
    attributes: tuple[tuple[str, str], ...] = ()
    """Names of attributes that a constructor sets, each with an expression of its arguments."""
    examples: tuple[Example, ...] = ()
    """Arguments with which a constructor is always called; empty to draw its arguments."""
    is_lazy: bool = False
    """True if the function yields its results one by one."""
    is_abstract: bool = False
    """True if the method's class cannot be instantiated."""
    is_instance_called: bool = False
    """True if the object itself is called (`__call__`), so that a Keras layer is built first."""
    is_async: bool = False
    """True if the function's result, or each of its results, must be awaited."""
    is_consumed: bool = False
    """True if the function may return a lazy result although it yields nothing itself."""
    annotations_file: str = ""
    """Path of the sidecar with the annotations; empty if the function's file contains them."""
    has_nested_functions: bool = False
    """True if the function defines annotated functions; they are known only after a call."""

    def parameter(self, name: str) -> ParameterSpec:
        """Return the parameter with the given name.

        Raises:
            KeyError: if no parameter has that name.
        """
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class MainSpec:
    """Annotation of a module that is run as a script; see `ciguard.annotations.module_test`."""

    args: Spec
    """Constraint of the list of command-line arguments."""
    timeout: float | None
    """Timeout of one run, in seconds; None for the default."""
    line: int
    """Line number of the annotation, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleSpec:
    """The annotated functions of one module."""

    file: str
    """Path of the module's file."""
    name: str = ""
    """Dotted name of the module."""
    functions: tuple[FunctionSpec, ...] = ()
    main: MainSpec | None = None
    problems: tuple[Problem, ...] = ()
    functions_by_name: dict[str, FunctionSpec] = field(
        default_factory=dict, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        self.functions_by_name.update({function.name: function for function in self.functions})

    def function(self, name: str) -> FunctionSpec:
        """Return the function with a name.

        Raises:
            KeyError: if no function has that name.
        """
        return self.functions_by_name[name]

    def tested(self) -> tuple[FunctionSpec, ...]:
        """Return the functions to test: those that are neither excluded nor have a problem."""
        names_with_problems = {problem.function for problem in self.problems}
        return tuple(
            function
            for function in self.functions
            if not function.is_excluded and function.name not in names_with_problems
        )
