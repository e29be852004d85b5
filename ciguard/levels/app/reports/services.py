"""Report of the functions of an application that call cognitive services, as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.dead_conditions import DeadCondition
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
    dead: Iterable[DeadCondition],
    repairs: Mapping[DeadCondition, Suggestion],
) -> Iterator[str]:
    """Yield the text: each function, its calls, and the branches that depend on answers.

    Args:
        application: the parsed application.
        found: its functions that call services.
        dead: sub-conditions that are always the same.
        repairs: suggested changes of some of them.
    """
    for function in found:
        yield f"{visible(function.file)}:{function.line} {visible(function.name)}"
        for call in function.calls:
            yield f"  calls {_operation(call.answer)}{_through(call)}"
            for name, steps in call.call_inputs.inputs:
                yield _line(f"    input {name}{_by(steps)}")
            for name, steps in call.constructor_inputs.inputs:
                yield _line(f"    input {name} of its object's constructor{_by(steps)}")
        for branch, goals in function.branches().items():
            yield from _branch(branch, goals)
    for condition in dict.fromkeys(dead):
        yield from _dead(condition)
        if condition in repairs:
            yield f"  {repairs[condition].sentence}"
    yield from unread_lines(application)
    yield _total(application, found)


def unread_lines(application: Application) -> Iterator[str]:
    """Yield the files that could not be read, with the reasons."""
    for unread in application.unreadable_files:
        yield _line(f"not read: {unread.file}: {unread.reason}")


def _operation(answer: Answer) -> str:
    operation = answer.operation
    return f"{operation.title} ({operation.task}), {visible(answer.file)}:{answer.line}"


def _through(call: ServiceCallSite) -> str:
    return f", through {visible(' → '.join(call.call_path))}" if call.call_path else ""


def _branch(branch: Branch, goals: Sequence[ServiceCondition]) -> Iterator[str]:
    yield _line(f"  decides {branch.file}:{branch.line}: {branch.condition}")
    for decided in goals:
        part = "" if decided.goal.text == branch.condition else f"{decided.goal.text} "
        for answer, steps in decided.answers:
            yield _line(f"    {part}by {answer.operation.name}, line {answer.line}{_by(steps)}")


def _dead(dead: DeadCondition) -> Iterator[str]:
    branch = dead.branch
    yield visible(f"{branch.file}:{branch.line}: warning: {dead.text}: {dead.reason}")
    if dead.proposals:
        yield visible(f"  perhaps: {', '.join(dead.proposals)}")


def _by(steps: Sequence[str]) -> str:
    return f": {' '.join(steps)}" if steps else ""


def _line(text: str) -> str:
    return visible(shortened(text, _WIDTH))


def _total(application: Application, found: Sequence[ServiceFunction]) -> str:
    calls = {call.answer for function in found for call in function.calls}
    branches = {branch for function in found for branch in function.branches()}
    return (
        f"{len(application.modules)} files read: {len(calls)} service calls, reached by "
        f"{len(found)} functions; their answers decide {len(branches)} branches"
    )


def explored_lines(explored: ExploredFunction) -> Iterator[str]:
    """Yield the results of a function that was called with stub responses."""
    function = explored.function
    place = f"{visible(function.file)}:{function.line} {visible(function.name)}"
    if explored.problem:
        yield f"{place}: not explored: {visible(explored.problem, limit=_REASON)}"
        yield from _hangs(explored)
        return
    met, total = explored.outcome_counts()
    searched = f" ({explored.random_runs} searched for)" if explored.random_runs else ""
    yield (
        f"{place}: {met} of {total} outcomes of sub-conditions met, {explored.runs} answers"
        f"{searched}, {explored.seconds:.1f} s"
    )
    for goal, values in explored.answers_by_outcome.items():
        for value in sorted({True, False} - values.keys()):
            yield _line(f"  never {str(value).lower()}: {goal.text} (line {goal.line})")
    for crash in (*explored.crashes, *explored.unjudged_crashes):
        verdict = "error" if crash.is_judged else "not judged, as something may be missing here"
        yield _line(f"  {crash.file}:{crash.line}: {verdict}: {crash.error}")
        yield _line(f"    when {'; '.join(crash.titles)}")
    for crash in explored.flaky_crashes:
        yield _line(
            f"  {crash.file}:{crash.line}: not judged, as it occurred only once: {crash.error}"
        )
    for name, crash in explored.uncaught_refusals.items():
        refusal = f"{name}: {crash.refusal}"
        yield _line(f"  warning: does not catch that the service rejects its input: {refusal}")
    yield from _hangs(explored)


def _hangs(explored: ExploredFunction) -> Iterator[str]:
    for hang in explored.hangs:
        yield _line(f"  {hang.behaviour} when {'; '.join(hang.titles)}")


def services_to_json(
    application: Application, found: Sequence[ServiceFunction], dead: Iterable[DeadCondition]
) -> Json:
    """Return the report as JSON; see docs/machine-interface.md."""
    return {
        "functions": [
            {
                "name": function.name,
                "file": function.file,
                "line": function.line,
                "calls": [_call_to_json(call) for call in function.calls],
                "branches": [_branch_to_json(*item) for item in function.branches().items()],
            }
            for function in found
        ],
        "dead": [_dead_to_json(condition) for condition in dict.fromkeys(dead)],
        "unread": [
            {"file": unread.file, "reason": unread.reason}
            for unread in application.unreadable_files
        ],
    }


def _call_to_json(call: ServiceCallSite) -> Json:
    operation = call.answer.operation
    return {
        "provider": operation.provider,
        "operation": operation.name,
        "task": operation.task.value,
        "file": call.answer.file,
        "line": call.answer.line,
        "through": list(call.call_path),
        "inputs": _inputs_to_json(call.call_inputs),
        "constructor_inputs": _inputs_to_json(call.constructor_inputs),
    }


def _inputs_to_json(call_inputs: ServiceCallInputs) -> Json:
    return [{"parameter": name, "steps": list(steps)} for name, steps in call_inputs.inputs]


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


def _dead_to_json(dead: DeadCondition) -> Json:
    return {
        "file": dead.branch.file,
        "line": dead.branch.line,
        "condition": dead.branch.condition,
        "goal": dead.text,
        "reason": dead.reason,
        "proposals": list(dead.proposals),
    }
