"""Annotated functions as data: what `in_target.describing` has found in a module.

Numbers of a constraint may be references, which become numbers when the other arguments of a call
are drawn (`solving/resolving.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ciguard.domain.values import Value
    from ciguard.functions.specs.kinds import Spec


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
    attributes: tuple[tuple[str, str], ...] = ()
    """Of a constructor: what the object keeps of the arguments, as expressions of these."""
    examples: tuple[Example, ...] = ()
    """Of a constructor: the only arguments that instances for its methods are made with."""
    is_lazy: bool = False
    """Whether its results come one by one."""
    is_abstract: bool = False
    """Whether there can be no object of its class."""
    calls_instance: bool = False
    """Whether the object itself is called, which builds what the method needs: a layer of Keras."""
    is_async: bool = False
    """Whether its result, or each of its results, is awaited."""
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
