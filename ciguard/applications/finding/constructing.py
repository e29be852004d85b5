"""What the objects of a class are made with, as far as its file says it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_GENERATING = frozenset({
    "attr.define", "attr.s", "attrs.define", "attrs.frozen", "dataclass", "dataclasses.dataclass",
    "define", "frozen", "NamedTuple", "typing.NamedTuple", "BaseModel", "pydantic.BaseModel",
})  # fmt: skip
"""Decorators and bases by which a class gets a constructor that takes its fields."""


def constructor_of(
    definition: ast.ClassDef, classes: Mapping[str, ast.ClassDef]
) -> ast.arguments | None:
    """Return the parameters of a class's constructor, the object itself first.

    Args:
        definition: of the class.
        classes: those beside it, by name, which it may inherit from.

    Returns:
        None where neither it nor those that it inherits from beside it say.
    """
    lineage = list(_lineage(definition, classes))
    for one in lineage:
        written = _written(one)
        if written is not None:
            return written
        if has_generated_constructor(one):
            above = lineage[lineage.index(one) :]
            return _generated(
                [field for each in reversed(above) for field in annotated_fields(each)]
            )
    return None


def has_generated_constructor(definition: ast.ClassDef) -> bool:
    """Tell whether a class gets a constructor that takes its fields."""
    by = (*definition.decorator_list, *definition.bases)
    return any(_name(one) in _GENERATING for one in by)


def constructor_name(of: str) -> str:
    """Return the qualified name of the constructor of a class, written or generated."""
    return f"{of}.__init__"


def _lineage(
    definition: ast.ClassDef, classes: Mapping[str, ast.ClassDef]
) -> Iterator[ast.ClassDef]:
    """Yield a class and those that it inherits from, each once."""
    seen: set[str] = set()
    waiting = [definition]
    while waiting:
        one = waiting.pop(0)
        if one.name not in seen:
            seen.add(one.name)
            yield one
            names = (base.id for base in one.bases if isinstance(base, ast.Name))
            waiting += [classes[name] for name in names if name in classes]


def _written(definition: ast.ClassDef) -> ast.arguments | None:
    for statement in definition.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            return statement.args
    return None


def _name(by: ast.expr) -> str:
    return ast.unparse(by.func if isinstance(by, ast.Call) else by)


def annotated_fields(definition: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    """Yield the fields that a class's body annotates, but for those that its objects share."""
    for statement in definition.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(), annotation=written):
                if "ClassVar" not in ast.unparse(written):
                    yield statement
            case _:
                pass


def _generated(fields: list[ast.AnnAssign]) -> ast.arguments:
    """Return the parameters of the constructor that a dataclass with these fields gets."""
    own = {
        ast.unparse(field.target): field
        for field in fields
        if field.value is None or "init=False" not in ast.unparse(field.value)
    }
    given = [ast.arg(name, field.annotation) for name, field in own.items()]
    defaults = [field.value for field in own.values() if field.value is not None]
    return ast.arguments(
        posonlyargs=[], args=[ast.arg("self"), *given], kwonlyargs=[], kw_defaults=[],
        defaults=defaults,
    )  # fmt: skip
