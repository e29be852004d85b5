"""Attributes that a constructor computes from its arguments, such as `self.size = size`.

With these attributes, a precondition on `self` becomes a precondition on the constructor's
arguments. The source is parsed and not run. Attributes that are assigned twice, under a condition
or from other values are left out: each call checks its preconditions on the actual object.

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
"""Name under which an object's length is listed among its attributes."""


def attributes_of(owner: Any, constructor: Any) -> dict[str, str]:
    """Return attributes of a new object by name, as expressions of its constructor's arguments.

    Args:
        owner: class of the object.
        constructor: the `__init__` of the class or of a base; the class itself without `__init__`.
    """
    if "__init__" in vars(owner) and dataclasses.is_dataclass(owner):
        fields = [field.name for field in dataclasses.fields(owner) if field.init]
        return {name: name for name in fields if "__post_init__" not in vars(owner)}
    tree, class_trees = _parsed_source(constructor), _class_trees(owner)
    if not isinstance(tree, ast.FunctionDef) or not tree.args.args or not class_trees:
        return {}
    self_name = tree.args.args[0].arg
    names = {
        argument.arg
        for argument in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)
    }
    unchanged = names - {self_name} - {node.id for node in ast.walk(tree) if _is_stored(node)}
    assigned = [name for class_tree in class_trees for name in _written_attributes(class_tree)]
    attributes: dict[str, ast.expr] = {}
    for name, value in _assignments_to_self(tree, self_name):
        inlined = _AttributeInliner(self_name, attributes).visit(value)
        is_fixed = assigned.count(name) == 1 and not _is_property(owner, name)
        if is_fixed and _is_pure_expression(inlined, unchanged):
            attributes[name] = inlined
    attributes.update(_length_expression(class_trees, attributes))
    return {name: ast.unparse(value) for name, value in attributes.items()}


def _class_trees(owner: Any) -> list[ast.AST]:
    """Return the syntax trees of a class and its bases, up to the class that defines `__init__`.

    The list is empty if the source of one of these classes is missing.
    """
    trees = []
    for base in owner.__mro__:
        trees.append(_parsed_source(base))
        if "__init__" in vars(base):
            break
    return [] if None in trees else [tree for tree in trees if tree is not None]


def _parsed_source(item: Any) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(item))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)


def _written_attributes(tree: ast.AST) -> Iterator[str]:
    """Yield the names of the attributes, of any object, that a tree sets or deletes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node.attr


def _assignments_to_self(tree: ast.FunctionDef, self_name: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield the name and value of each attribute that a top-level statement assigns to `self`."""
    for node in tree.body:
        targets: list[ast.expr] = []
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and _is_name(target.value, self_name):
                    yield target.attr, node.value


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


class _AttributeInliner(ast.NodeTransformer):
    """Visitor that replaces attributes of `self` by the expressions that are assigned to them."""

    def __init__(self, self_name: str, known: dict[str, ast.expr]) -> None:
        self._self_name = self_name
        self._known = known

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        return self._known.get(node.attr, node) if _is_name(node.value, self._self_name) else node


def _is_pure_expression(value: ast.expr, names: set[str]) -> bool:
    """Return whether an expression depends only on arguments.

    Args:
        value: the expression.
        names: names of the arguments that the constructor does not rebind.
    """
    if not isinstance(value, _PURE_NODES):
        return False
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id not in names | _PURE_FUNCTIONS:
            return False
        if isinstance(node, ast.Call):
            is_known = isinstance(node.func, ast.Name) and node.func.id in _PURE_FUNCTIONS
            if not is_known or node.keywords:
                return False
    return True


_PURE_FUNCTIONS = frozenset(("len", "min", "max", "int", "abs", "sum"))
_PURE_NODES = (
    ast.Name, ast.Constant, ast.BinOp, ast.Call, ast.Subscript, ast.Attribute, ast.Tuple, ast.List,
)  # fmt: skip


def _is_property(owner: Any, name: str) -> bool:
    return hasattr(getattr(owner, name, None), "__get__")


def _length_expression(
    class_trees: list[ast.AST], attributes: dict[str, ast.expr]
) -> dict[str, ast.expr]:
    """Return the expression that `__len__` returns, by the name `LENGTH`.

    The dictionary is empty if there is no such method, or it contains other statements.
    """
    methods = [
        node
        for tree in class_trees
        for node in getattr(tree, "body", ())
        if isinstance(node, ast.FunctionDef) and node.name == LENGTH
    ]
    statement = methods[0].body[-1] if methods else None
    if (
        not isinstance(statement, ast.Return)
        or statement.value is None
        or len(methods[0].body) != 1
    ):
        return {}
    self_name = methods[0].args.args[0].arg
    value = _AttributeInliner(self_name, attributes).visit(statement.value)
    free = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return {LENGTH: value} if self_name not in free else {}
