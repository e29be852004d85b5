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
from ciguard.suggesting.clues import ArgumentClueSource, Clues
from ciguard.suggesting.combine import combine
from ciguard.suggesting.existing_annotations import facts_of_annotation
from ciguard.suggesting.functions import UnannotatedFunction, subjects_of
from ciguard.suggesting.guards import guard_clues
from ciguard.suggesting.library import Roles
from ciguard.suggesting.literals import single_assignments
from ciguard.suggesting.proposals import FunctionProposals, Proposal, UnknownArgument, source_of
from ciguard.suggesting.signatures import signature_clues

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.knowledge import KnownApis
    from ciguard.suggesting.project import ProjectModule

_PROPAGATION_ROUNDS = 3
"""Number of calls in a chain of calls across which clues are propagated to the first caller."""
_PROPAGATED_SOURCES = {
    ArgumentClueSource.GUARD,
    ArgumentClueSource.HINT,
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
    return [_proposals_for(function_clues) for function_clues in selected]


def _clues_by_function(
    module: ProjectModule, other_modules: Sequence[ProjectModule], roles: Roles
) -> dict[str, _FunctionClues]:
    """Return the clues on each function of a module by its name, before propagation."""
    subjects = subjects_of(module.tree)
    functions = {subject.name for subject in subjects if not subject.owner}
    classes = {subject.owner for subject in subjects}
    constants = single_assignments(module.tree.body)
    clues_by_name: dict[str, _FunctionClues] = {}
    for subject in subjects:
        function_clues = _FunctionClues(subject)
        guard_clues(subject, function_clues.clues)
        function_clues.clues.extend(signature_clues(subject, constants))
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
    return not subject.node.name.startswith("_") or subject.node.name.startswith("__")


def _proposals_for(function_clues: _FunctionClues) -> FunctionProposals:
    """Return the proposals for one function."""
    subject = function_clues.subject
    proposals: list[Proposal] = []
    unknown: list[UnknownArgument] = []
    for name in subject.parameters:
        if name in subject.annotated:
            continue
        summary = combine(
            function_clues.clues.for_argument(name),
            function_clues.clues.for_argument(item_name(name)),
        )
        if summary.options:
            proposals.append(Proposal(name, source_of(summary.options), summary.reasons))
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
    return FunctionProposals(subject, tuple(proposals), tuple(unknown))


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
