"""From a file to proposals for its functions: Table 1 of the paper, row by row.

Static: the program is parsed, never imported.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

from ciguard.suggesting.body import ForwardedArgument, body_clues
from ciguard.suggesting.calls import call_clues
from ciguard.suggesting.clues import ArgumentClueSource, Clues
from ciguard.suggesting.combine import combined
from ciguard.suggesting.functions import UnannotatedFunction, subjects_of
from ciguard.suggesting.given import item_of
from ciguard.suggesting.guards import guard_clues
from ciguard.suggesting.library import Roles
from ciguard.suggesting.literals import bound_once
from ciguard.suggesting.proposals import FunctionProposals, Proposal, Unknown, source_of
from ciguard.suggesting.signatures import head_clues
from ciguard.suggesting.stated import facts_stated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.knowledge import KnownApis
    from ciguard.suggesting.project import ProjectModule

_ROUNDS = 3
"""How far what is known of a function is handed to those that call it."""
_TOLD_ON = {
    ArgumentClueSource.GUARD,
    ArgumentClueSource.HINT,
    ArgumentClueSource.LIBRARY,
    ArgumentClueSource.PROJECT,
    ArgumentClueSource.USE,
}


@dataclass(slots=True)
class _Study:
    subject: UnannotatedFunction
    clues: Clues = field(default_factory=Clues)
    passed: list[ForwardedArgument] = field(default_factory=list)


def suggestions(
    module: ProjectModule,
    others: Sequence[ProjectModule],
    known_of: Callable[[str], KnownApis | None],
    pattern: str = "*",
) -> list[FunctionProposals]:
    """Return what is proposed for the functions of a module that are not annotated yet.

    Args:
        module: the program.
        others: of its project.
        known_of: what is known of a library, by the name of its module.
        pattern: which functions; private ones only where it names them.
    """
    studies = _studied(module, others, Roles(cache(known_of)))
    for _ in range(_ROUNDS):
        for study in studies.values():
            _hear(study, studies)
    chosen = [
        study
        for study in studies.values()
        if not study.subject.is_excluded and _is_chosen(study.subject, pattern)
    ]
    return [_suggested(study) for study in chosen]


def _studied(
    module: ProjectModule, others: Sequence[ProjectModule], roles: Roles
) -> dict[str, _Study]:
    subjects = subjects_of(module.tree)
    functions = {subject.name for subject in subjects if not subject.owner}
    classes = {subject.owner for subject in subjects}
    constants = bound_once(module.tree.body)
    found: dict[str, _Study] = {}
    for subject in subjects:
        study = _Study(subject)
        guard_clues(subject, study.clues)
        study.clues.extend(head_clues(subject, constants))
        clues, study.passed = body_clues(
            subject, module, roles, lambda name: name in functions | classes or name[:5] == "self."
        )
        study.clues.extend(clues)
        study.clues.extend(call_clues(subject, module, others, functions))
        found[subject.name] = study
    return found


def _hear(study: _Study, studies: dict[str, _Study]) -> None:
    """Note what the functions that an argument is passed on to say of it."""
    for passed in study.passed:
        callee = _callee(passed.callee, study.subject, studies)
        if callee is None or callee is study:
            continue
        placed = callee.subject.positional
        if isinstance(passed.place, int):
            name = placed[passed.place] if passed.place < len(placed) else ""
        else:
            name = passed.place
        where = f"line {passed.line}: {name} of {callee.subject.name}"
        stated = callee.subject.annotated.get(name)
        if stated is not None:
            for fact in facts_stated(stated):
                reason = f"{where}, {ast.unparse(stated)}"
                study.clues.add(passed.parameter, ArgumentClueSource.PROJECT, fact, reason)
            continue
        _tell_on(callee, name, study, passed.parameter, where)
        _tell_on(callee, item_of(name), study, item_of(passed.parameter), where)


def _tell_on(callee: _Study, name: str, caller: _Study, parameter: str, where: str) -> None:
    for clue in callee.clues.of(name):
        if clue.source in _TOLD_ON:
            reason = f"{where} ({clue.reason})" if "(" not in clue.reason else where
            caller.clues.add(
                parameter, max(clue.source, ArgumentClueSource.PROJECT), clue.fact, reason
            )


def _callee(
    written: str, subject: UnannotatedFunction, studies: dict[str, _Study]
) -> _Study | None:
    if written.startswith("self."):
        written = f"{subject.owner}.{written.removeprefix('self.')}"
    return studies.get(written) or studies.get(f"{written}.__init__")


def _is_chosen(subject: UnannotatedFunction, pattern: str) -> bool:
    if pattern != "*":
        return fnmatchcase(subject.name, pattern) or fnmatchcase(subject.node.name, pattern)
    return not subject.node.name.startswith("_") or subject.node.name.startswith("__")


def _suggested(study: _Study) -> FunctionProposals:
    subject = study.subject
    proposals: list[Proposal] = []
    unknown: list[Unknown] = []
    for name in subject.parameters:
        if name in subject.annotated:
            continue
        known = combined(study.clues.of(name), study.clues.of(item_of(name)))
        if known.options:
            proposals.append(Proposal(name, source_of(known.options), known.reasons))
            continue
        reasons = known.reasons
        if known.maker:
            reasons = (*reasons, f'{known.maker} may serve as @generator: objs("{known.maker}")')
        unknown.append(Unknown(name, name in subject.defaults, reasons))
    stated = set(_required(subject))
    proposals += [
        Proposal("", text, (reason,))
        for text, reason in dict(study.clues.requires).items()
        if text not in stated
    ]
    return FunctionProposals(subject, tuple(proposals), tuple(unknown))


def _required(subject: UnannotatedFunction) -> list[str]:
    """Return the preconditions that a function has already."""
    found = []
    for decorator in subject.node.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Name(id="require") | ast.Attribute(attr="require"),
                args=[ast.Constant(value=str() as text)],
            ):
                found.append(text)
            case _:
                pass
    return found
