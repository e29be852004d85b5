"""Proposes annotations for the functions of a file, as Table 1 of the aNNoTest paper describes.

The analysis is static: the program is parsed, and never imported.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

from ciguard.suggesting.argument_flow import item_name
from ciguard.suggesting.body import ForwardedArgument, body_clues
from ciguard.suggesting.calls import call_clues
from ciguard.suggesting.clues import ArgumentClueSource, ArgumentKind, Clues
from ciguard.suggesting.combine import is_exact
from ciguard.suggesting.docstrings import docstring_clues
from ciguard.suggesting.existing_annotations import facts_of_annotation
from ciguard.suggesting.functions import UnannotatedFunction, subjects_of
from ciguard.suggesting.guards import guard_clues
from ciguard.suggesting.library import Roles
from ciguard.suggesting.linking import ARRAYS, LinkedArguments
from ciguard.suggesting.literals import single_assignments
from ciguard.suggesting.proposals import FunctionProposals, Proposal, UnknownArgument, source_of
from ciguard.suggesting.signatures import signature_clues

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.knowledge import KnownApis
    from ciguard.suggesting.clues import Guess
    from ciguard.suggesting.project import ProjectModule

_PROPAGATION_ROUNDS = 3
"""Number of calls in a chain of calls across which clues are propagated to the first caller."""
_PROPAGATED_SOURCES = {
    ArgumentClueSource.GUARD,
    ArgumentClueSource.HINT,
    ArgumentClueSource.DOC,
    ArgumentClueSource.LIBRARY,
    ArgumentClueSource.PROJECT,
    ArgumentClueSource.USE,
}
"""Sources whose clues are propagated to callers."""


@dataclass(slots=True)
class _FunctionClues:
    """The clues on the arguments of one function, and the arguments that it passes on."""

    subject: UnannotatedFunction
    clues: Clues = field(default_factory=Clues)
    forwarded: list[ForwardedArgument] = field(default_factory=list)


def suggestions(
    module: ProjectModule,
    other_modules: Sequence[ProjectModule],
    known_apis_of: Callable[[str], KnownApis | None],
    pattern: str = "*",
) -> list[FunctionProposals]:
    """Return proposals for the functions of a module, without arguments that have annotations.

    Args:
        module: module of the program.
        other_modules: other modules of the project.
        known_apis_of: returns the known APIs of a library by its module name; None for an unknown
            library.
        pattern: glob pattern of function names; the default selects all public functions.
    """
    clues_by_name = _clues_by_function(module, other_modules, Roles(cache(known_apis_of)))
    for _ in range(_PROPAGATION_ROUNDS):
        for function_clues in clues_by_name.values():
            _add_callee_clues(function_clues, clues_by_name)
    selected = [
        function_clues
        for function_clues in clues_by_name.values()
        if not function_clues.subject.is_excluded and _matches(function_clues.subject, pattern)
    ]
    classes = {item.subject.owner for item in clues_by_name.values()}
    whole = _Wholeness(clues_by_name, classes)
    return [_proposals_for(function_clues, whole) for function_clues in selected]


@dataclass(slots=True)
class _Wholeness:
    """Decides whether all arguments of a function are known, so that it can be tested."""

    clues_by_name: dict[str, _FunctionClues]
    classes: set[str]
    """Names of the module's classes with methods."""

    def constructor_reason(self, subject: UnannotatedFunction) -> str:
        """Return why no instance can be made for a method; empty if one can, or none is needed."""
        if not subject.owner or subject.node.name == "__init__" or _is_unbound(subject):
            return ""
        name = self._constructor_name(subject.owner, subject.bases)
        constructor = self.clues_by_name.get(name)
        if constructor is None:
            return ""
        reason = _reason_to_leave_out(constructor)
        return reason and f"its constructor is left out, as {reason}"

    def _constructor_name(self, owner: str, bases: tuple[str, ...]) -> str:
        """Return the name of the constructor of a class, or of a base in the module."""
        for name in (owner, *(base for base in bases if base in self.classes)):
            if f"{name}.__init__" in self.clues_by_name:
                return f"{name}.__init__"
        return ""


def _is_unbound(subject: UnannotatedFunction) -> bool:
    names = {item.id for item in subject.node.decorator_list if isinstance(item, ast.Name)}
    return bool(names & {"staticmethod", "classmethod"})


def _reason_to_leave_out(function_clues: _FunctionClues) -> str:
    """Return why not all required arguments can be drawn; empty if they can."""
    subject = function_clues.subject
    arguments = LinkedArguments(subject, function_clues.clues)
    required = [
        name
        for name in subject.parameters
        if name not in subject.defaults and name not in subject.annotated
    ]
    options = {name: arguments.combined(name).options for name in required}
    unknown = [name for name in required if not options[name]]
    if unknown:
        return f"nothing is known of {' and '.join(unknown)}"
    unranked = [name for name in required if _is_unranked(options[name])]
    if unranked:
        return f"the number of dimensions of {' and '.join(unranked)} is unknown"
    unbounded = [name for name in required if _has_any_integers(options[name])]
    if unbounded:
        return f"the range of the integers in {' and '.join(unbounded)} is unknown"
    has_evidence = {
        name: any(
            clue.source in _EXPLICIT_SOURCES for clue in function_clues.clues.for_argument(name)
        )
        for name in required
    }
    unsized = [n for n in required if not has_evidence[n] and _has_any_length(options[n])]
    if unsized:
        return f"the length of {' and '.join(unsized)} is unknown"
    arrays = [name for name in required if _has_any_sizes(options[name])]
    loose = [n for n in required if not has_evidence[n] and _is_integer(options[n])]
    if arrays and loose:
        return (
            f"how {' and '.join(loose)} relates to the sizes of {' and '.join(arrays)} is unknown"
        )
    return ""


def _is_unranked(options: tuple[Guess, ...]) -> bool:
    """Return whether an argument may be an array of any number of dimensions."""
    return any(option.kind in ARRAYS and option.shape is None for option in options)


def _has_any_integers(options: tuple[Guess, ...]) -> bool:
    """Return whether an argument may be an array of integers, such as indices, of any range."""
    return any(
        option.kind in ARRAYS and "int" in option.dtype and option.bounds.low is None
        for option in options
    )


def _has_any_length(options: tuple[Guess, ...]) -> bool:
    """Return whether an argument may be a tuple, such as a shape, of any length."""
    return any(
        option.kind is ArgumentKind.TUPLE and option.length.low != option.length.high
        for option in options
    )


def _has_any_sizes(options: tuple[Guess, ...]) -> bool:
    """Return whether an argument may be an array of which only the rank is known."""
    return any(option.kind in ARRAYS and not is_exact(option.shape) for option in options)


def _is_integer(options: tuple[Guess, ...]) -> bool:
    return any(option.kind is ArgumentKind.INT for option in options)


_EXPLICIT_SOURCES = {
    ArgumentClueSource.GUARD,
    ArgumentClueSource.HINT,
    ArgumentClueSource.DOC,
    ArgumentClueSource.CALL,
    ArgumentClueSource.DEFAULT,
}
"""Sources that show values of the argument itself, or its type."""


def _clues_by_function(
    module: ProjectModule, other_modules: Sequence[ProjectModule], roles: Roles
) -> dict[str, _FunctionClues]:
    """Return the clues on each function of a module by its name, before propagation."""
    subjects = subjects_of(module.tree)
    functions = {subject.name for subject in subjects if not subject.owner}
    classes = {subject.owner for subject in subjects}
    constants = single_assignments(module.tree.body)
    roots = {full.partition(".")[0] for full in module.imports.imported_names.values()}
    is_torch = "torch" in roots
    clues_by_name: dict[str, _FunctionClues] = {}
    for subject in subjects:
        function_clues = _FunctionClues(subject)
        guard_clues(subject, function_clues.clues)
        function_clues.clues.extend(signature_clues(subject, constants))
        docstring_clues(subject, function_clues.clues, is_torch=is_torch)
        clues, function_clues.forwarded = body_clues(
            subject, module, roles, lambda name: name in functions | classes or name[:5] == "self."
        )
        function_clues.clues.extend(clues)
        function_clues.clues.extend(call_clues(subject, module, other_modules, functions))
        clues_by_name[subject.name] = function_clues
    return clues_by_name


def _add_callee_clues(caller: _FunctionClues, clues_by_name: dict[str, _FunctionClues]) -> None:
    """Add clues on a caller's arguments from the functions to which it passes them."""
    for argument in caller.forwarded:
        callee = _callee(argument.callee, caller.subject, clues_by_name)
        if callee is None or callee is caller:
            continue
        positional = callee.subject.positional
        if isinstance(argument.position_or_name, int):
            name = (
                positional[argument.position_or_name]
                if argument.position_or_name < len(positional)
                else ""
            )
        else:
            name = argument.position_or_name
        location = f"line {argument.line}: passed to {callee.subject.name} as {name}"
        annotation = callee.subject.annotated.get(name)
        if annotation is not None:
            for fact in facts_of_annotation(annotation):
                reason = f"{location}, {ast.unparse(annotation)}"
                caller.clues.add(argument.parameter, ArgumentClueSource.PROJECT, fact, reason)
            continue
        _propagate(callee, name, caller, argument.parameter, location)
        _propagate(callee, item_name(name), caller, item_name(argument.parameter), location)


def _propagate(
    callee: _FunctionClues, name: str, caller: _FunctionClues, parameter: str, location: str
) -> None:
    """Copy the clues on the callee's argument `name` to the caller's argument `parameter`."""
    for clue in callee.clues.for_argument(name):
        if clue.source in _PROPAGATED_SOURCES:
            reason = f"{location} ({clue.reason})" if "(" not in clue.reason else location
            caller.clues.add(
                parameter, max(clue.source, ArgumentClueSource.PROJECT), clue.fact, reason
            )


def _callee(
    callee: str, subject: UnannotatedFunction, clues_by_name: dict[str, _FunctionClues]
) -> _FunctionClues | None:
    """Return the clues on a called function or class of the module; None if it has no such."""
    if callee.startswith("self."):
        callee = f"{subject.owner}.{callee.removeprefix('self.')}"
    return clues_by_name.get(callee) or clues_by_name.get(f"{callee}.__init__")


def _matches(subject: UnannotatedFunction, pattern: str) -> bool:
    """Return whether a pattern selects a function."""
    if pattern != "*":
        return fnmatchcase(subject.name, pattern) or fnmatchcase(subject.node.name, pattern)
    return subject.is_public


def _proposals_for(function_clues: _FunctionClues, whole: _Wholeness) -> FunctionProposals:
    """Return the proposals for one function."""
    subject = function_clues.subject
    if _is_testable_without_arguments(subject):
        reason = f"line {subject.node.lineno}: it has no arguments"
        included = Proposal("", "", (reason,))
        return FunctionProposals(subject, (included,), (), whole.constructor_reason(subject))
    arguments = LinkedArguments(subject, function_clues.clues)
    proposals: list[Proposal] = []
    unknown: list[UnknownArgument] = []
    for name in subject.parameters:
        if name in subject.annotated:
            continue
        summary = arguments.combined(name)
        is_vague = _is_unranked(summary.options) or _has_any_integers(summary.options)
        keeps_default = name in subject.defaults and is_vague
        if summary.options and not keeps_default:
            values = source_of(summary.options)
            is_guess = all(reason.startswith("the name ") for reason in summary.reasons)
            proposals.append(Proposal(name, values, summary.reasons, is_guess))
            continue
        reasons = summary.reasons
        if summary.factory:
            reasons = (
                *reasons,
                f'mark {summary.factory} with @generator, and use objs("{summary.factory}")',
            )
        unknown.append(UnknownArgument(name, name in subject.defaults, reasons))
    existing = set(_existing_preconditions(subject))
    proposals += [
        Proposal("", text, (reason,))
        for text, reason in dict(function_clues.clues.requires).items()
        if text not in existing
    ]
    left_out = _reason_to_leave_out(function_clues) or whole.constructor_reason(subject)
    return FunctionProposals(subject, tuple(proposals), tuple(unknown), left_out)


def _is_testable_without_arguments(subject: UnannotatedFunction) -> bool:
    """Return whether a function has no arguments and no annotation, and is worth a test.

    Entry points, and functions that read the command line or the keyboard, are not.
    """
    arguments = subject.node.args
    if subject.parameters or arguments.vararg or arguments.kwarg or subject.node.name == "__init__":
        return False
    decorators = {ast.unparse(item).partition("(")[0] for item in subject.node.decorator_list}
    calls = [node.func for node in ast.walk(subject.node) if isinstance(node, ast.Call)]
    called = {ast.unparse(function).rpartition(".")[2] for function in calls}
    is_entry = subject.node.name in _ENTRY_POINTS or bool(called & _INTERACTIVE)
    return not is_entry and decorators <= {"staticmethod", "classmethod"}


_ENTRY_POINTS = {"main", "cli", "run", "train", "test", "demo", "setup", "teardown"}
_INTERACTIVE = {"input", "ArgumentParser", "parse_args", "exit", "quit", "show", "getpass"}


def _existing_preconditions(subject: UnannotatedFunction) -> list[str]:
    """Return the preconditions that a function already has."""
    preconditions = []
    for decorator in subject.node.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Name(id="require") | ast.Attribute(attr="require"),
                args=[ast.Constant(value=str() as text)],
            ):
                preconditions.append(text)
            case _:
                pass
    return preconditions
