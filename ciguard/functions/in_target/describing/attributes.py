"""What a constructor keeps of its arguments, `self.size = size`: what preconditions say of `self`.

The source is read, nothing is run. What is assigned more than once, under a condition or from more
than arguments is left out: the living object is asked in any case.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from typing import TYPE_CHECKING, Any, Iterator

if TYPE_CHECKING:
    from typing import TypeGuard

LENGTH = "__len__"
"""Attribute that stands for the length of the object."""


def attributes_of(owner: Any, constructor: Any) -> dict[str, str]:
    """Return the attributes of a fresh object, as expressions of its constructor's arguments.

    Args:
        owner: class of the object.
        constructor: its `__init__`, or that of a base; the class itself where there is none.
    """
    if "__init__" in vars(owner) and dataclasses.is_dataclass(owner):
        fields = [f.name for f in dataclasses.fields(owner) if f.init]
        return {name: name for name in fields if "__post_init__" not in vars(owner)}
    tree, classes = _tree_of(constructor), _classes(owner)
    if not isinstance(tree, ast.FunctionDef) or not tree.args.args or not classes:
        return {}
    own = tree.args.args[0].arg
    names = {a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)}
    unchanged = names - {own} - {n.id for n in ast.walk(tree) if _is_stored(n)}
    assigned = [name for one in classes for name in _assigned(one)]
    found: dict[str, ast.expr] = {}
    for name, value in _kept(tree, own):
        written = _Inlined(own, found).visit(value)
        is_fixed = assigned.count(name) == 1 and not _is_property(owner, name)
        if is_fixed and _is_plain(written, unchanged):
            found[name] = written
    found.update(_length(classes, found))
    return {name: ast.unparse(value) for name, value in found.items()}


def _classes(owner: Any) -> list[ast.AST]:
    """Return the source of a class and its bases, up to the one that has the constructor.

    Nothing where one of them has no source.
    """
    found = []
    for base in owner.__mro__:
        found.append(_tree_of(base))
        if "__init__" in vars(base):
            break
    return [tree for tree in found if tree is not None] if None not in found else []


def _tree_of(item: Any) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(item))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)


def _assigned(tree: ast.AST) -> Iterator[str]:
    """Yield the names of all attributes that are set or deleted, of whatever object."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node.attr


def _kept(tree: ast.FunctionDef, own: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield what statements of the body itself assign to attributes of the object."""
    for node in tree.body:
        targets: list[ast.expr] = []
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and _is_name(target.value, own):
                    yield target.attr, node.value


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


class _Inlined(ast.NodeTransformer):
    """Puts what attributes were assigned in the place of these."""

    def __init__(self, own: str, known: dict[str, ast.expr]) -> None:
        self._own = own
        self._known = known

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        return self._known.get(node.attr, node) if _is_name(node.value, self._own) else node


def _is_plain(value: ast.expr, names: set[str]) -> bool:
    """Return whether an expression is of arguments that nothing has changed."""
    if not isinstance(value, _PLAIN):
        return False
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id not in names | _FUNCTIONS:
            return False
        if isinstance(node, ast.Call):
            is_known = isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
            if not is_known or node.keywords:
                return False
    return True


_FUNCTIONS = frozenset(("len", "min", "max", "int", "abs", "sum"))
_PLAIN = (
    ast.Name, ast.Constant, ast.BinOp, ast.Call, ast.Subscript, ast.Attribute, ast.Tuple, ast.List,
)  # fmt: skip


def _is_property(owner: Any, name: str) -> bool:
    return hasattr(getattr(owner, name, None), "__get__")


def _length(classes: list[ast.AST], known: dict[str, ast.expr]) -> dict[str, ast.expr]:
    """Return what `__len__` returns, if that is all it does."""
    methods = [
        node
        for tree in classes
        for node in getattr(tree, "body", ())
        if isinstance(node, ast.FunctionDef) and node.name == LENGTH
    ]
    last = methods[0].body[-1] if methods else None
    if not isinstance(last, ast.Return) or last.value is None or len(methods[0].body) != 1:
        return {}
    own = methods[0].args.args[0].arg
    value = _Inlined(own, known).visit(last.value)
    free = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return {LENGTH: value} if own not in free else {}
