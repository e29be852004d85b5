"""What an application is made of while it is followed: variables, functions, objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ciguard.applications.solving.terms import UNKNOWN

if TYPE_CHECKING:
    import ast

    from ciguard.applications.finding.application import Module, Routine


@dataclass(slots=True)
class Scope:
    """The variables of one call of a function."""

    module: Module
    local: dict[str, Any] = field(default_factory=dict)
    outer: Scope | None = None
    yielded: list[Any] | None = None
    """What it has yielded, if it is a generator."""

    def holds(self, name: str) -> bool:
        """Return whether a name is one of its variables."""
        return name in self.local or (self.outer is not None and self.outer.holds(name))

    def variable(self, name: str) -> Any:
        """Return what a variable is; UNKNOWN if there is none."""
        if name in self.local:
            return self.local[name]
        return UNKNOWN if self.outer is None else self.outer.variable(name)

    def set(self, name: str, value: Any) -> None:
        """Set a variable."""
        self.local[name] = value

    def inner(self) -> Scope:
        """Return a scope that sees all of it, and whose own variables it does not see."""
        return Scope(self.module, {}, self)


@dataclass(slots=True)
class Instance:
    """An object of one of the application's classes."""

    kind: str
    """Qualified."""
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the application's classes."""

    name: str
    """Qualified."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A function that can be called."""

    scope: Scope
    """That it sees."""
    code: Routine | ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef
    instance: Instance | None = None
