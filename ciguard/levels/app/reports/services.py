"""The functions of an application that call cognitive services, as text and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.dead_conditions import Dead
    from ciguard.levels.app.exploration import ExploredFunction
    from ciguard.levels.app.repair import Suggestion
    from ciguard.levels.app.static_analysis import (
        Answer,
        Application,
        Branch,
        ServiceCallInputs,
        ServiceCallSite,
        ServiceCondition,
        ServiceFunction,
    )

_WIDTH = 160
_REASON = 400


def services_lines(
    application: Application,
    found: Sequence[ServiceFunction],
    dead: Iterable[Dead],
    repairs: Mapping[Dead, Suggestion],
) -> Iterator[str]:
    """Yield what a person reads: each function, its calls, the branches that answers decide.

    Args:
        application: as read.
        found: in it.
        dead: sub-conditions that are always the same.
        repairs: of some of them.
    """
    for one in found:
        yield f"{visible(one.file)}:{one.line} {visible(one.name)}"
        for call in one.calls:
            yield f"  asks {_asked(call.answer)}{_through(call)}"
            for name, steps in call.called_with.inputs:
                yield _line(f"    given {name}{_by(steps)}")
            for name, steps in call.made_with.inputs:
                yield _line(f"    given {name} of its object's constructor{_by(steps)}")
        for branch, goals in one.branches().items():
            yield from _branch(branch, goals)
    for one_dead in dict.fromkeys(dead):
        yield from _dead(one_dead)
        if one_dead in repairs:
            yield f"  {repairs[one_dead].sentence}"
    yield from unread_lines(application)
    yield _total(application, found)


def unread_lines(application: Application) -> Iterator[str]:
    """Yield the files that could not be read, with the reasons."""
    for unread in application.unread:
        yield _line(f"not read: {unread.file}: {unread.reason}")


def _asked(answer: Answer) -> str:
    operation = answer.operation
    return f"{operation.title} ({operation.task}), {visible(answer.file)}:{answer.line}"


def _through(call: ServiceCallSite) -> str:
    return f", through {visible(' → '.join(call.through))}" if call.through else ""


def _branch(branch: Branch, goals: Sequence[ServiceCondition]) -> Iterator[str]:
    yield _line(f"  decides {branch.file}:{branch.line}: {branch.condition}")
    for decided in goals:
        part = "" if decided.goal.text == branch.condition else f"{decided.goal.text} "
        for answer, steps in decided.answers:
            yield _line(f"    {part}by {answer.operation.name}, line {answer.line}{_by(steps)}")


def _dead(dead: Dead) -> Iterator[str]:
    branch = dead.branch
    yield visible(f"{branch.file}:{branch.line}: warning: {dead.text}: {dead.reason}")
    if dead.proposals:
        yield visible(f"  perhaps: {', '.join(dead.proposals)}")


def _by(steps: Sequence[str]) -> str:
    return f": {' '.join(steps)}" if steps else ""


def _line(text: str) -> str:
    return visible(shortened(text, _WIDTH))


def _total(application: Application, found: Sequence[ServiceFunction]) -> str:
    calls = {call.answer for one in found for call in one.calls}
    branches = {branch for one in found for branch in one.branches()}
    return (
        f"{len(application.modules)} files read: {len(calls)} calls of services, reached by "
        f"{len(found)} functions; their answers decide {len(branches)} branches"
    )


def explored_lines(explored: ExploredFunction) -> Iterator[str]:
    """Yield what came of a function that was called with made answers."""
    found = explored.found
    place = f"{visible(found.file)}:{found.line} {visible(found.name)}"
    if explored.problem:
        yield f"{place}: not explored: {visible(explored.problem, limit=_REASON)}"
        yield from _hangs(explored)
        return
    met, of = explored.outcomes()
    searched = f" ({explored.searched} searched for)" if explored.searched else ""
    yield (
        f"{place}: {met} of {of} outcomes of sub-conditions met, {explored.runs} answers"
        f"{searched}, {explored.seconds:.1f} s"
    )
    for goal, values in explored.met.items():
        for value in sorted({True, False} - values.keys()):
            yield _line(f"  never {str(value).lower()}: {goal.text} (line {goal.line})")
    for crash in (*explored.crashes, *explored.unjudged):
        verdict = "error" if crash.is_judged else "not judged, something may be missing here"
        yield _line(f"  {crash.file}:{crash.line}: {verdict}: {crash.error}")
        yield _line(f"    when {'; '.join(crash.titles)}")
    for crash in explored.unsteady:
        yield _line(f"  {crash.file}:{crash.line}: not judged, met once only: {crash.error}")
    for name, crash in explored.unguarded.items():
        said = f"{name}: {crash.refusal}"
        yield _line(f"  warning: lets through that the service refuses its input: {said}")
    yield from _hangs(explored)


def _hangs(explored: ExploredFunction) -> Iterator[str]:
    for hang in explored.hangs:
        yield _line(f"  {hang.instead} when {'; '.join(hang.titles)}")


def services_to_json(
    application: Application, found: Sequence[ServiceFunction], dead: Iterable[Dead]
) -> Json:
    """Return the same for programs, see docs/machine-interface.md."""
    return {
        "functions": [
            {
                "name": one.name,
                "file": one.file,
                "line": one.line,
                "calls": [_call_to_json(call) for call in one.calls],
                "branches": [_branch_to_json(*item) for item in one.branches().items()],
            }
            for one in found
        ],
        "dead": [_dead_to_json(one) for one in dict.fromkeys(dead)],
        "unread": [{"file": one.file, "reason": one.reason} for one in application.unread],
    }


def _call_to_json(call: ServiceCallSite) -> Json:
    operation = call.answer.operation
    return {
        "provider": operation.provider,
        "operation": operation.name,
        "task": operation.task.value,
        "file": call.answer.file,
        "line": call.answer.line,
        "through": list(call.through),
        "inputs": _inputs_to_json(call.called_with),
        "constructor_inputs": _inputs_to_json(call.made_with),
    }


def _inputs_to_json(given: ServiceCallInputs) -> Json:
    return [{"parameter": name, "steps": list(steps)} for name, steps in given.inputs]


def _branch_to_json(branch: Branch, goals: Sequence[ServiceCondition]) -> Json:
    return {
        "file": branch.file,
        "line": branch.line,
        "condition": branch.condition,
        "goals": [
            {
                "text": decided.goal.text,
                "answers": [
                    {"operation": answer.operation.name, "line": answer.line, "steps": list(steps)}
                    for answer, steps in decided.answers
                ],
            }
            for decided in goals
        ],
    }


def _dead_to_json(dead: Dead) -> Json:
    return {
        "file": dead.branch.file,
        "line": dead.branch.line,
        "condition": dead.branch.condition,
        "goal": dead.text,
        "reason": dead.reason,
        "proposals": list(dead.proposals),
    }
