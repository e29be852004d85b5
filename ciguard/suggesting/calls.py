"""Clues from calls of a function in its project: in modules, notebooks and READMEs."""

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
    PossibleValues,
)
from ciguard.suggesting.literals import array_guess, guess_of, loop_guesses, single_assignments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.suggesting.functions import UnannotatedFunction
    from ciguard.suggesting.project import ProjectModule

_CONVERTERS = {"int": ArgumentKind.INT, "float": ArgumentKind.FLOAT}


@dataclass(frozen=True, slots=True)
class _Scope:
    """Values of names at the position of a call."""

    names: Mapping[str, ast.expr]
    """Values of the names that are assigned once."""
    loops: Mapping[str, list[Guess]]
    """Guesses for the values of loop variables, by name."""
    options: Mapping[str, list[Guess]]
    """Guesses for the values of command-line options, by the attribute that holds the option."""


def call_clues(
    subject: UnannotatedFunction,
    home_module: ProjectModule,
    other_modules: Sequence[ProjectModule],
    functions: set[str],
) -> Iterator[ArgumentClue]:
    """Yield clues from the arguments that calls pass to a function.

    Args:
        subject: the function.
        home_module: module of the function.
        other_modules: other modules of the project.
        functions: names of the functions that the function's module defines.
    """
    for module in (home_module, *other_modules):
        for call, scope in _calls(module):
            if _calls_subject(call, subject, module, home_module):
                yield from _call_clues(call, scope, subject, module, functions)


def _calls(module: ProjectModule) -> Iterator[tuple[ast.Call, _Scope]]:
    """Yield all calls in a module, each with the values of names at its position."""
    outer = single_assignments(module.tree.body)
    options = _command_line_options(module.tree)
    scope = _Scope(outer, loop_guesses(module.tree.body), options)
    pending: list[tuple[ast.AST, _Scope]] = [(node, scope) for node in module.tree.body]
    while pending:
        node, scope_here = pending.pop(0)
        if isinstance(node, ast.Call):
            yield node, scope_here
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = {**scope_here.names, **single_assignments(node.body)}
            for item in (*node.args.args, *node.args.kwonlyargs):
                names.pop(item.arg, None)  # parameters have no fixed value
            scope_here = _Scope(names, loop_guesses(node.body), options)
            pending += [(item, scope_here) for item in node.body]
        else:
            pending += [(item, scope_here) for item in ast.iter_child_nodes(node)]


def _calls_subject(
    call: ast.Call, subject: UnannotatedFunction, module: ProjectModule, home_module: ProjectModule
) -> bool:
    """Return whether the called function is the subject, judged by names and imports."""
    callee = dotted_name(call.func)
    root, _, rest = callee.partition(".")
    subject_name = subject.owner if subject.node.name == "__init__" else subject.name
    if subject.owner and subject.node.name != "__init__":
        return _calls_method(call, subject, module, home_module)
    if module is home_module:
        return callee == subject_name
    if module.lines and not module.origins:
        return callee == subject_name  # an example in a README or notebook without imports
    is_imported_from_home = module.origins.get(root) == home_module.path.stem
    return is_imported_from_home and subject_name in {callee, rest}


def _calls_method(
    call: ast.Call, subject: UnannotatedFunction, module: ProjectModule, home_module: ProjectModule
) -> bool:
    """Return whether the called method is the subject, as in `Tokenizer(…).fit(…)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != subject.node.name:
        return False
    instance = call.func.value
    if isinstance(instance, ast.Name) and instance.id not in {"self", "cls"}:
        bound = single_assignments(module.tree.body)
        for function in ast.walk(module.tree):
            if isinstance(function, ast.FunctionDef):
                bound |= single_assignments(function.body)
        instance = bound.get(instance.id, instance)
    if isinstance(instance, ast.Name):
        return (
            module is home_module
            and instance.id == "self"
            and _is_in_class(call, subject, home_module)
        )
    return isinstance(instance, ast.Call) and dotted_name(instance.func).endswith(subject.owner)


def _is_in_class(call: ast.Call, subject: UnannotatedFunction, home_module: ProjectModule) -> bool:
    """Return whether a call is inside the class that defines the subject."""
    classes = [node for node in ast.walk(home_module.tree) if isinstance(node, ast.ClassDef)]
    return any(
        node.name == subject.owner.rpartition(".")[2]
        and node.lineno <= call.lineno <= (node.end_lineno or 0)
        for node in classes
    )


def _call_clues(
    call: ast.Call,
    scope: _Scope,
    subject: UnannotatedFunction,
    module: ProjectModule,
    functions: set[str],
) -> Iterator[ArgumentClue]:
    """Yield the clues from the arguments of one call."""
    reason = f"{module.location(call)} passes"
    pairs: list[tuple[str, ast.expr]] = []
    for name, value in zip(subject.positional, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        pairs.append((name, value))
    pairs += [
        (item.arg, item.value) for item in call.keywords if item.arg in set(subject.parameters)
    ]
    for name, value in pairs:
        text = f"{reason} {ast.unparse(value)}"
        for guess in _guesses(value, scope, module):
            yield ArgumentClue(name, ArgumentClueSource.CALL, PossibleValues(guess), text)
        factory = _factory(value, scope, functions)
        if factory:
            yield ArgumentClue(name, ArgumentClueSource.CALL, FactoryResult(factory), text)


def _guesses(value: ast.expr, scope: _Scope, module: ProjectModule) -> list[Guess]:
    """Return guesses for the value of a call's argument; empty if it is unknown."""
    match value:
        case ast.Name(id=name) if name in scope.loops:
            return scope.loops[name]
        case ast.Name(id=name) if name in scope.names and isinstance(scope.names[name], ast.Call):
            return _guesses(scope.names[name], scope, module)
        case ast.Attribute(value=ast.Name(), attr=attr) if attr in scope.options:
            return scope.options[attr]
        case ast.Call():
            array = array_guess(value, module.imports.imported(value.func), scope.names)
            return [array] if array else []
        case _:
            guess = guess_of(value, scope.names)
            return [guess] if guess else []


def _factory(value: ast.expr, scope: _Scope, functions: set[str]) -> str:
    """Return the name of the function that returns a value; empty if it is not of `functions`."""
    if isinstance(value, ast.Name):
        value = scope.names.get(value.id, value)
    name = dotted_name(value.func) if isinstance(value, ast.Call) else ""
    return name if name in functions else ""


def _command_line_options(tree: ast.Module) -> dict[str, list[Guess]]:
    """Return guesses for the values of command-line options that `argparse` declares, by name."""
    options: dict[str, list[Guess]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="add_argument"),
                args=[*_, ast.Constant(value=str() as flag)],
                keywords=keywords,
            ):
                settings = {item.arg: item.value for item in keywords if item.arg}
                options[flag.lstrip("-").replace("-", "_")] = _option_guesses(settings)
            case _:
                pass
    return options


def _option_guesses(settings: dict[str, ast.expr]) -> list[Guess]:
    """Return guesses for an option's values; `settings` are keywords of `add_argument`."""
    if isinstance(settings.get("action"), ast.Constant):
        return [Guess(ArgumentKind.BOOL)]
    choices = guess_of(settings.get("choices"))
    if choices is not None:
        return list(choices.items)
    kind = _CONVERTERS.get(ast.unparse(settings["type"])) if "type" in settings else None
    default = guess_of(settings.get("default"))
    if default is not None and kind in {None, default.kind}:
        return [default]
    return [Guess(kind)] if kind else []
