"""Parameters of class constructors, from the classes of one file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CONSTRUCTOR_GENERATORS = frozenset({
    "attr.define", "attr.s", "attrs.define", "attrs.frozen", "dataclass", "dataclasses.dataclass",
    "define", "frozen", "NamedTuple", "typing.NamedTuple", "BaseModel", "pydantic.BaseModel",
})  # fmt: skip
"""Decorators and base classes that generate a constructor from a class's fields."""
_FIELD_FUNCTIONS = frozenset({
    "attr.field", "attr.ib", "attrs.field", "dataclasses.field", "field", "Field", "pydantic.Field",
})  # fmt: skip
_DEFAULT_KEYWORDS = frozenset({"default", "default_factory", "factory"})


def constructor_of(
    definition: ast.ClassDef, classes: Mapping[str, ast.ClassDef]
) -> ast.arguments | None:
    """Return the parameters of a class's constructor, `self` first.

    Args:
        definition: the class.
        classes: the classes of the same module by name, among which bases are looked up.

    Returns:
        None if neither the class nor its bases in the module define a constructor.
    """
    lineage = list(_lineage(definition, classes))
    for ancestor in lineage:
        explicit = _explicit_constructor(ancestor)
        if explicit is not None:
            return explicit
        if has_generated_constructor(ancestor):
            generating = filter(has_generated_constructor, lineage[lineage.index(ancestor) :])
            fields_by_class = [list(annotated_fields(parent)) for parent in generating]
            return _generated_constructor(
                [field for fields in reversed(fields_by_class) for field in fields]
            )
    return None


def has_generated_constructor(definition: ast.ClassDef) -> bool:
    """Return whether a class gets a generated constructor that takes its fields."""
    generators = [
        generator
        for generator in (*definition.decorator_list, *definition.bases)
        if _called_name(generator) in _CONSTRUCTOR_GENERATORS
    ]
    return any(
        not isinstance(generator, ast.Call) or not _has_keyword(generator, "init", value=False)
        for generator in generators
    )


def constructor_name(class_name: str) -> str:
    """Return the qualified name of a class's constructor, explicit or generated."""
    return f"{class_name}.__init__"


def _lineage(
    definition: ast.ClassDef, classes: Mapping[str, ast.ClassDef]
) -> Iterator[ast.ClassDef]:
    """Yield a class and its bases within the module, each once."""
    seen: set[str] = set()
    waiting = [definition]
    while waiting:
        current = waiting.pop(0)
        if current.name not in seen:
            seen.add(current.name)
            yield current
            names = (base.id for base in current.bases if isinstance(base, ast.Name))
            waiting += [classes[name] for name in names if name in classes]


def _explicit_constructor(definition: ast.ClassDef) -> ast.arguments | None:
    for statement in definition.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            return statement.args
    return None


def _called_name(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def annotated_fields(definition: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    """Yield the annotated fields of a class, without class variables."""
    for statement in definition.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(), annotation=annotation):
                if "ClassVar" not in ast.unparse(annotation):
                    yield statement
            case _:
                pass


def _generated_constructor(fields: list[ast.AnnAssign]) -> ast.arguments:
    """Return the parameters of the constructor that is generated from fields, `self` first."""
    own = {ast.unparse(field.target): field for field in fields if _is_parameter(field)}
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg("self")],
        defaults=[],
        kwonlyargs=[ast.arg(name, field.annotation) for name, field in own.items()],
        kw_defaults=[field.value if _has_default(field) else None for field in own.values()],
    )


def _is_parameter(field: ast.AnnAssign) -> bool:
    if ast.unparse(field.annotation).endswith("KW_ONLY"):
        return False
    return not (
        isinstance(field.value, ast.Call) and _has_keyword(field.value, "init", value=False)
    )


def _has_default(field: ast.AnnAssign) -> bool:
    """Return whether a field has a default: `field(repr=False)` and `Field(...)` give none."""
    match field.value:
        case None:
            return False
        case ast.Call(func=function, args=arguments, keywords=keywords) if (
            _called_name(function) in _FIELD_FUNCTIONS
        ):
            has_default = any(
                not (isinstance(argument, ast.Constant) and argument.value is ...)
                for argument in arguments
            )
            return has_default or any(argument.arg in _DEFAULT_KEYWORDS for argument in keywords)
        case _:
            return True


def _has_keyword(call: ast.Call, name: str, *, value: object) -> bool:
    return any(
        keyword.arg == name
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is value
        for keyword in call.keywords
    )
