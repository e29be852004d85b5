"""What a project gives a function: its calls in modules, notebooks and READMEs."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.sources import dotted_name
from ciguard.suggesting.clues import (
    ArgumentClue,
    ArgumentClueSource,
    ArgumentKind,
    FactoryResult,
    Guess,
    MayBe,
)
from ciguard.suggesting.literals import array_of, bound_once, guess_of, looped_over

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.suggesting.functions import UnannotatedFunction
    from ciguard.suggesting.project import ProjectModule

_CONVERTED = {"int": ArgumentKind.INT, "float": ArgumentKind.FLOAT}


@dataclass(frozen=True, slots=True)
class _Scope:
    """What names stand for where a call is."""

    names: Mapping[str, ast.expr]
    loops: Mapping[str, list[Guess]]
    options: Mapping[str, list[Guess]]
    """Of the command line, by the attribute that holds them."""


def call_clues(
    subject: UnannotatedFunction,
    home: ProjectModule,
    others: Sequence[ProjectModule],
    functions: set[str],
) -> Iterator[ArgumentClue]:
    """Yield what the calls of a function give it.

    Args:
        subject: the function.
        home: its module.
        others: of the project.
        functions: names of those that the module defines.
    """
    for module in (home, *others):
        for call, scope in _calls(module):
            if _is_meant(call, subject, module, home):
                yield from _given(call, scope, subject, module, functions)


def _calls(module: ProjectModule) -> Iterator[tuple[ast.Call, _Scope]]:
    outer = bound_once(module.tree.body)
    options = _options(module.tree)
    scope = _Scope(outer, looped_over(module.tree.body), options)
    waiting: list[tuple[ast.AST, _Scope]] = [(node, scope) for node in module.tree.body]
    while waiting:
        node, known = waiting.pop(0)
        if isinstance(node, ast.Call):
            yield node, known
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = {**known.names, **bound_once(node.body)}
            for item in (*node.args.args, *node.args.kwonlyargs):
                names.pop(item.arg, None)  # what a caller gives
            known = _Scope(names, looped_over(node.body), options)
            waiting += [(item, known) for item in node.body]
        else:
            waiting += [(item, known) for item in ast.iter_child_nodes(node)]


def _is_meant(
    call: ast.Call, subject: UnannotatedFunction, module: ProjectModule, home: ProjectModule
) -> bool:
    """Return whether a call is one of the function, as far as names tell."""
    written = dotted_name(call.func)
    root, _, rest = written.partition(".")
    wanted = subject.owner if subject.node.name == "__init__" else subject.name
    if subject.owner and subject.node.name != "__init__":
        return _is_method(call, subject, module, home)
    if module is home:
        return written == wanted
    if module.lines and not module.origins:
        return written == wanted  # an example that imports nothing
    comes_from_home = module.origins.get(root) == home.path.stem
    return comes_from_home and wanted in {written, rest}


def _is_method(
    call: ast.Call, subject: UnannotatedFunction, module: ProjectModule, home: ProjectModule
) -> bool:
    """Return whether `self.fit(…)`, `Tokenizer(…).fit(…)` or `tokenizer.fit(…)` is the method."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != subject.node.name:
        return False
    holder = call.func.value
    if isinstance(holder, ast.Name) and holder.id not in {"self", "cls"}:
        bound = bound_once(module.tree.body)
        for function in ast.walk(module.tree):
            if isinstance(function, ast.FunctionDef):
                bound |= bound_once(function.body)
        holder = bound.get(holder.id, holder)
    if isinstance(holder, ast.Name):
        return module is home and holder.id == "self" and _is_inside(call, subject, home)
    return isinstance(holder, ast.Call) and dotted_name(holder.func).endswith(subject.owner)


def _is_inside(call: ast.Call, subject: UnannotatedFunction, home: ProjectModule) -> bool:
    classes = [node for node in ast.walk(home.tree) if isinstance(node, ast.ClassDef)]
    return any(
        node.name == subject.owner.rpartition(".")[2]
        and node.lineno <= call.lineno <= (node.end_lineno or 0)
        for node in classes
    )


def _given(
    call: ast.Call,
    scope: _Scope,
    subject: UnannotatedFunction,
    module: ProjectModule,
    functions: set[str],
) -> Iterator[ArgumentClue]:
    reason = f"{module.place(call)} gives it"
    pairs: list[tuple[str, ast.expr]] = []
    for name, value in zip(subject.positional, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        pairs.append((name, value))
    pairs += [
        (item.arg, item.value) for item in call.keywords if item.arg in set(subject.parameters)
    ]
    for name, value in pairs:
        shown = f"{reason} {ast.unparse(value)}"
        for guess in _guesses(value, scope, module):
            yield ArgumentClue(name, ArgumentClueSource.CALL, MayBe(guess), shown)
        made = _maker(value, scope, functions)
        if made:
            yield ArgumentClue(name, ArgumentClueSource.CALL, FactoryResult(made), shown)


def _guesses(value: ast.expr, scope: _Scope, module: ProjectModule) -> list[Guess]:
    match value:
        case ast.Name(id=name) if name in scope.loops:
            return scope.loops[name]
        case ast.Name(id=name) if name in scope.names and isinstance(scope.names[name], ast.Call):
            return _guesses(scope.names[name], scope, module)
        case ast.Attribute(value=ast.Name(), attr=attr) if attr in scope.options:
            return scope.options[attr]
        case ast.Call():
            made = array_of(value, module.imports.imported(value.func), scope.names)
            return [made] if made else []
        case _:
            guess = guess_of(value, scope.names)
            return [guess] if guess else []


def _maker(value: ast.expr, scope: _Scope, functions: set[str]) -> str:
    if isinstance(value, ast.Name):
        value = scope.names.get(value.id, value)
    name = dotted_name(value.func) if isinstance(value, ast.Call) else ""
    return name if name in functions else ""


def _options(tree: ast.Module) -> dict[str, list[Guess]]:
    """Return what options of the command line may be, as `argparse` is told."""
    found: dict[str, list[Guess]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="add_argument"),
                args=[*_, ast.Constant(value=str() as flag)],
                keywords=keywords,
            ):
                given = {item.arg: item.value for item in keywords if item.arg}
                found[flag.lstrip("-").replace("-", "_")] = _option(given)
            case _:
                pass
    return found


def _option(given: dict[str, ast.expr]) -> list[Guess]:
    if isinstance(given.get("action"), ast.Constant):
        return [Guess(ArgumentKind.BOOL)]
    choices = guess_of(given.get("choices"))
    if choices is not None:
        return list(choices.items)
    kind = _CONVERTED.get(ast.unparse(given["type"])) if "type" in given else None
    default = guess_of(given.get("default"))
    if default is not None and kind in {None, default.kind}:
        return [default]
    return [Guess(kind)] if kind else []
