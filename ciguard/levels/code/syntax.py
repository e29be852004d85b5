"""Names in a program: what imports make of them, where they are set and still needed."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.syntax import dotted_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_KERAS = ("tensorflow.keras.", "keras.")
"""Two names of the same things, where TensorFlow is installed."""


@dataclass(frozen=True, slots=True)
class Imports:
    """What the names of a program mean, where an import, or an alias of one, binds them."""

    names: dict[str, str]
    """Qualified name by name in the program, e.g. `nn` -> `torch.nn`."""
    bound: frozenset[str]
    """Everything else that the program calls something by."""

    def qualified(self, node: ast.AST) -> str:
        """Return the qualified name of `nn.Conv2d` and the like; empty for what is not imported."""
        root, *rest = dotted_name(node).split(".")
        meaning = self.names.get(root, "")
        return ".".join((meaning, *rest)) if meaning else ""

    def spelling(self, api: str) -> tuple[str, str]:
        """Return how the program writes a qualified name, and the import that this needs, if any.

        The shortest way through the imports that are there; `keras.layers.Dense` is also reached
        through `tensorflow.keras`, and the other way round.
        """
        for name in (api, *_same(api)):
            reaching = [
                (len(meaning), -len(local), local)
                for local, meaning in self.names.items()
                if name == meaning or name.startswith(f"{meaning}.")
            ]
            if reaching:
                length, _, local = max(reaching)
                return local + name[length:], ""
        root, _, rest = api.partition(".")
        if root in self.bound:
            return f"_{root}.{rest}", f"import {root} as _{root}"
        return api, f"import {root}"


def _same(api: str) -> Iterator[str]:
    for one, other in (_KERAS, _KERAS[::-1]):
        if api.startswith(one):
            yield other + api.removeprefix(one)
            return


def imports_of(tree: ast.Module) -> Imports:
    """Read what a program imports, anywhere in it, and plain aliases such as `L = keras.layers`."""
    names: dict[str, str] = {}
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                root = item.name.partition(".")[0]
                names[item.asname or root] = item.name if item.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for item in node.names:
                names[item.asname or item.name] = f"{node.module}.{item.name}"
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    for alias, meaning in _aliases(tree, names):
        names.setdefault(alias, meaning)
    return Imports(names, frozenset(bound - names.keys()))


def _aliases(tree: ast.Module, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Attribute() as value):
                meaning = Imports(names, frozenset()).qualified(value)
                if meaning:
                    yield alias, meaning
            case _:
                pass


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
                found -= stores(generator.target)
        case ast.Lambda(args=args):
            found -= _parameters(args)
        case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args):
            found -= _parameters(args) | {n for one in node.body for n in stores(one)}
        case _:
            pass
    return found


def _parameters(args: ast.arguments) -> set[str]:
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return {one.arg for one in every if one is not None}


def stores(node: ast.AST) -> set[str]:
    """Return the names that a statement binds in its own scope, in whatever branch."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {item.asname or item.name.partition(".")[0] for item in names}
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return {name}
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp() | ast.Lambda():
            return set()
        case _:
            pass
    return {name for child in ast.iter_child_nodes(node) for name in stores(child)}


def kills(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds anew whatever happens."""
    match statement:
        case ast.If(body=body, orelse=orelse):
            return _kills_of(body) & _kills_of(orelse)
        case ast.With(items=items, body=body):
            return _kills_of(body) | {name for item in items for name in stores(item)}
        case ast.For() | ast.While() | ast.Try():
            return set()
        case _:
            return stores(statement)


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
            inside = alive(body, ignored)[0] - stores(target)
            return loads(items) | inside | alive(orelse, ignored)[0]
        case ast.If(test=test, body=body, orelse=orelse):
            return loads(test) | alive(body, ignored)[0] | alive(orelse, ignored)[0]
        case ast.With(items=contexts, body=body):
            opened = {name for item in contexts for name in stores(item)}
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


def parse_expression(text: str) -> ast.expr:
    """Return the expression that a text is.

    Raises:
        SyntaxError: if it is none.
    """
    return ast.parse(text, mode="eval").body


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
