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
_MAKING_FIELDS = frozenset({
    "attr.field", "attr.ib", "attrs.field", "dataclasses.field", "field", "Field", "pydantic.Field",
})  # fmt: skip
_DEFAULTS = frozenset({"default", "default_factory", "factory"})


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
            above = filter(has_generated_constructor, lineage[lineage.index(one) :])
            several = [list(annotated_fields(each)) for each in above]
            return _generated([field for fields in reversed(several) for field in fields])
    return None


def has_generated_constructor(definition: ast.ClassDef) -> bool:
    """Return whether a class gets a constructor that takes its fields."""
    by = [
        one for one in (*definition.decorator_list, *definition.bases) if _name(one) in _GENERATING
    ]
    return any(not isinstance(one, ast.Call) or not _says(one, "init", value=False) for one in by)


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
    """Return the parameters of the constructor that a class with these fields gets, by name."""
    own = {ast.unparse(field.target): field for field in fields if _is_taken(field)}
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg("self")],
        defaults=[],
        kwonlyargs=[ast.arg(name, field.annotation) for name, field in own.items()],
        kw_defaults=[field.value if _has_default(field) else None for field in own.values()],
    )


def _is_taken(field: ast.AnnAssign) -> bool:
    if ast.unparse(field.annotation).endswith("KW_ONLY"):
        return False
    return not (isinstance(field.value, ast.Call) and _says(field.value, "init", value=False))


def _has_default(field: ast.AnnAssign) -> bool:
    """Return whether a field need not be given: `field(repr=False)` and `Field(...)` need."""
    match field.value:
        case None:
            return False
        case ast.Call(func=made, args=given, keywords=named) if _name(made) in _MAKING_FIELDS:
            is_given = any(
                not (isinstance(one, ast.Constant) and one.value is ...) for one in given
            )
            return is_given or any(one.arg in _DEFAULTS for one in named)
        case _:
            return True


def _says(call: ast.Call, name: str, *, value: object) -> bool:
    return any(
        one.arg == name and isinstance(one.value, ast.Constant) and one.value.value is value
        for one in call.keywords
    )
