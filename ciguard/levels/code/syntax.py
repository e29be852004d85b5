"""Names and expressions of a program: the spelling of names, their liveness, and arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.sources import names_bound_in, parameters, parse_expression

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

_KERAS_PREFIXES = ("tensorflow.keras.", "keras.")
"""Equivalent prefixes of Keras's names if TensorFlow is installed."""


def spelling(api: str, meanings: Mapping[str, str], bound: Collection[str]) -> tuple[str, str]:
    """Return a program's spelling of a qualified name, and the import that it lacks.

    The spelling is the shortest that the existing imports allow. `keras.layers.Dense` may be
    spelled like `tensorflow.keras.layers.Dense`, and vice versa.

    Args:
        api: the qualified name.
        meanings: qualified names of the imports, by their name in the program.
        bound: all names that the program binds.

    Returns:
        The spelling, and an import statement; the statement is empty if no import is missing.
    """
    for name in (api, *_aliases(api)):
        matching = [
            (len(meaning), -len(local), local)
            for local, meaning in meanings.items()
            if name == meaning or name.startswith(f"{meaning}.")
        ]
        if matching:
            length, _, local = max(matching)
            return local + name[length:], ""
    root, _, rest = api.partition(".")
    if root in bound and root not in meanings:
        return f"_{root}.{rest}", f"import {root} as _{root}"
    return api, f"import {root}"


def _aliases(api: str) -> Iterator[str]:
    for prefix, other in (_KERAS_PREFIXES, _KERAS_PREFIXES[::-1]):
        if api.startswith(prefix):
            yield other + api.removeprefix(prefix)
            return


# --- liveness of names ----------------------------------------------------------------------------


def names_read(node: ast.AST) -> set[str]:
    """Return the names that a node reads from its surroundings.

    Names that a comprehension, a lambda or an inner function itself binds are not included.
    """
    names: set[str] = set()
    for child in ast.iter_child_nodes(node):
        names |= names_read(child)
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            names.add(name)
        case ast.AugAssign(target=ast.Name(id=name)):
            names.add(name)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            for generator in node.generators:
                names -= names_bound_in(generator.target)
        case ast.Lambda(args=args):
            names.difference_update(parameters(args))
        case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args):
            names.difference_update(parameters(args), names_bound_in(*node.body))
        case _:
            pass
    return names


def names_rebound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement rebinds on every path."""
    match statement:
        case ast.If(body=body, orelse=orelse):
            return _names_rebound_in_body(body) & _names_rebound_in_body(orelse)
        case ast.With(items=items, body=body):
            return _names_rebound_in_body(body) | names_bound_in(*items)
        case ast.For() | ast.While() | ast.Try():
            return set()
        case _:
            return names_bound_in(statement)


def _names_rebound_in_body(body: Iterable[ast.stmt]) -> set[str]:
    return {name for statement in body for name in names_rebound(statement)}


def live_names(body: Sequence[ast.stmt], ignored: frozenset[int] = frozenset()) -> list[set[str]]:
    """Return the names that are live before each statement of a body.

    A name is live at a point if a later statement reads its value.

    Args:
        body: the body of a function or a module; no name is live after its end.
        ignored: the `id` of name nodes that do not count as reads.

    Returns:
        One set for each statement, and the empty set for the end of the body.
    """
    needed: set[str] = set()
    live = [needed]
    for statement in reversed(body):
        needed = (needed - names_rebound(statement)) | _live_before(statement, ignored)
        live.append(needed)
    return live[::-1]


def _live_before(statement: ast.stmt, ignored: frozenset[int]) -> set[str]:
    """Return the names that a statement reads before it binds them itself."""
    match statement:
        case ast.For(target=target, iter=items, body=body, orelse=orelse):
            live_inside = live_names(body, ignored)[0] - names_bound_in(target)
            return names_read(items) | live_inside | live_names(orelse, ignored)[0]
        case ast.If(test=test, body=body, orelse=orelse):
            return names_read(test) | live_names(body, ignored)[0] | live_names(orelse, ignored)[0]
        case ast.With(items=contexts, body=body):
            bound_by_with = names_bound_in(*contexts)
            read = {name for item in contexts for name in names_read(item)}
            return read | (live_names(body, ignored)[0] - bound_by_with)
        case _:
            return _names_read_except(statement, ignored)


def _names_read_except(statement: ast.stmt, ignored: frozenset[int]) -> set[str]:
    if not ignored.intersection(id(node) for node in ast.walk(statement)):
        return names_read(statement)
    rest = [node for node in ast.walk(statement) if id(node) not in ignored]
    return {n.id for n in rest if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def arguments_of(call: ast.Call) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the texts of a call's positional arguments, and pairs of its keyword arguments.

    The keyword of an unpacked dictionary is `**`.
    """
    positional = tuple(ast.unparse(argument) for argument in call.args)
    keywords = tuple((item.arg or "**", ast.unparse(item.value)) for item in call.keywords)
    return positional, keywords


def parse_positional(text: str) -> ast.expr:
    """Return the node of a positional argument; `*more`, for example, is an unpacked one."""
    call = parse_expression(f"f({text})")
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        msg = f"not an argument: {text!r}"
        raise SyntaxError(msg)
    return call.args[0]


def with_data(expression: ast.expr, data: ast.expr) -> ast.expr:
    """Return an expression of `x` in which a node, which is not copied, takes the place of `x`."""
    return _DataInserter(data).visit(expression)  # type: ignore[no-any-return]  # `visit` is typed as Any


class _DataInserter(ast.NodeTransformer):
    """Replaces the name `x` by a node."""

    def __init__(self, data: ast.expr) -> None:
        self.data = data

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.data if node.id == "x" else node
