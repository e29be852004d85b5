"""Names and expressions of a program: how they are spelled, where they are set and still needed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.sources import bound_in, parameters, parse_expression

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

_KERAS = ("tensorflow.keras.", "keras.")
"""Two names of the same things, where TensorFlow is installed."""


def spelling(api: str, meanings: Mapping[str, str], bound: Collection[str]) -> tuple[str, str]:
    """Return how a program writes a qualified name, and the import that this needs, if any.

    The shortest way through the imports that are there; `keras.layers.Dense` is also reached
    through `tensorflow.keras`, and the other way round.

    Args:
        api: the qualified name.
        meanings: what the program imports: qualified name by its own.
        bound: everything that the program calls something by.
    """
    for name in (api, *_same(api)):
        reaching = [
            (len(meaning), -len(local), local)
            for local, meaning in meanings.items()
            if name == meaning or name.startswith(f"{meaning}.")
        ]
        if reaching:
            length, _, local = max(reaching)
            return local + name[length:], ""
    root, _, rest = api.partition(".")
    if root in bound and root not in meanings:
        return f"_{root}.{rest}", f"import {root} as _{root}"
    return api, f"import {root}"


def _same(api: str) -> Iterator[str]:
    for one, other in (_KERAS, _KERAS[::-1]):
        if api.startswith(one):
            yield other + api.removeprefix(one)
            return


# --- what statements need and set -----------------------------------------------------------------


def loads(node: ast.AST) -> set[str]:
    """Return the names that are read anywhere in a node, other than those that are its own.

    What a comprehension, a lambda or an inner function binds itself is not read from outside.
    """
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        found |= loads(child)
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            found.add(name)
        case ast.AugAssign(target=ast.Name(id=name)):
            found.add(name)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            for generator in node.generators:
                found -= bound_in(generator.target)
        case ast.Lambda(args=args):
            found.difference_update(parameters(args))
        case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args):
            found.difference_update(parameters(args), bound_in(*node.body))
        case _:
            pass
    return found


def kills(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds anew whatever happens."""
    match statement:
        case ast.If(body=body, orelse=orelse):
            return _kills_of(body) & _kills_of(orelse)
        case ast.With(items=items, body=body):
            return _kills_of(body) | bound_in(*items)
        case ast.For() | ast.While() | ast.Try():
            return set()
        case _:
            return bound_in(statement)


def _kills_of(body: Iterable[ast.stmt]) -> set[str]:
    return {name for statement in body for name in kills(statement)}


def alive(body: Sequence[ast.stmt], ignored: frozenset[int] = frozenset()) -> list[set[str]]:
    """Return for each place between the statements of a body which names are still needed there.

    Args:
        body: of a function or a module; nothing is needed behind its end.
        ignored: `id` of names whose reading does not count.

    Returns:
        One set before each statement, and the empty one behind the last.
    """
    needed: set[str] = set()
    found = [needed]
    for statement in reversed(body):
        needed = (needed - kills(statement)) | _exposed(statement, ignored)
        found.append(needed)
    return found[::-1]


def _exposed(statement: ast.stmt, ignored: frozenset[int]) -> set[str]:
    """Return what a statement reads that was set before it."""
    match statement:
        case ast.For(target=target, iter=items, body=body, orelse=orelse):
            inside = alive(body, ignored)[0] - bound_in(target)
            return loads(items) | inside | alive(orelse, ignored)[0]
        case ast.If(test=test, body=body, orelse=orelse):
            return loads(test) | alive(body, ignored)[0] | alive(orelse, ignored)[0]
        case ast.With(items=contexts, body=body):
            opened = bound_in(*contexts)
            read = {name for item in contexts for name in loads(item)}
            return read | (alive(body, ignored)[0] - opened)
        case _:
            return _loads_except(statement, ignored)


def _loads_except(statement: ast.stmt, ignored: frozenset[int]) -> set[str]:
    if not ignored.intersection(id(node) for node in ast.walk(statement)):
        return loads(statement)
    rest = [node for node in ast.walk(statement) if id(node) not in ignored]
    return {n.id for n in rest if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def arguments_of(call: ast.Call) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return a call's arguments as text, by position and by keyword (`**` for `**more`)."""
    positional = tuple(ast.unparse(argument) for argument in call.args)
    keywords = tuple((item.arg or "**", ast.unparse(item.value)) for item in call.keywords)
    return positional, keywords


def parse_positional(text: str) -> ast.expr:
    """Return an argument as it stands in a call; `*more` is one."""
    call = parse_expression(f"f({text})")
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        msg = f"no argument: {text!r}"
        raise SyntaxError(msg)
    return call.args[0]


def filled(expression: ast.expr, hole: ast.expr) -> ast.expr:
    """Return an expression of `x` with another one in the place of `x`, which is not copied."""
    return _Fill(hole).visit(expression)  # type: ignore[no-any-return]  # ast says Any


class _Fill(ast.NodeTransformer):
    def __init__(self, hole: ast.expr) -> None:
        self.hole = hole

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.hole if node.id == "x" else node
