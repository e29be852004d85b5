"""Report of the functions of an application that call cognitive services, as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import shortened, visible
from ciguard.levels.app.reports.wording import counted

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

_MAX_LINE_LENGTH = 160
_MAX_REASON_LENGTH = 400


def service_lines(
    application: Application,
    functions: Sequence[ServiceFunction],
    dead_conditions: Iterable[DeadCondition],
    repairs: Mapping[DeadCondition, Suggestion],
) -> Iterator[str]:
    """Yield the lines of the report: functions, their calls, and branches that answers decide.

    Args:
        application: the parsed application.
        functions: its functions that call services.
        dead_conditions: the constant sub-conditions.
        repairs: suggested changes, for some of the constant sub-conditions.
    """
    for function in functions:
        yield f"{visible(function.file)}:{function.line} {visible(function.name)}"
        for call in function.calls:
            yield f"  calls {_operation_text(call.answer)}{_call_path_text(call)}"
            for name, steps in call.call_inputs.inputs:
                yield _line(f"    input {name}{_steps_text(steps)}")
            for name, steps in call.constructor_inputs.inputs:
                yield _line(f"    input {name} of the object's constructor{_steps_text(steps)}")
        for branch, goals in function.branches().items():
            yield from _branch_lines(branch, goals)
    for condition in dict.fromkeys(dead_conditions):
        yield from _dead_condition_lines(condition)
        if condition in repairs:
            yield f"  {repairs[condition].sentence}"
    yield from unreadable_file_lines(application)
    yield _summary(application, functions)


def unreadable_file_lines(application: Application) -> Iterator[str]:
    """Yield a line for each file that could not be read, with the reason."""
    for unreadable in application.unreadable_files:
        yield _line(f"skipped {unreadable.file}: {unreadable.reason}")


def _operation_text(answer: Answer) -> str:
    operation = answer.operation
    return f"{operation.title} ({operation.task}), {visible(answer.file)}:{answer.line}"


def _call_path_text(call: ServiceCallSite) -> str:
    return f", through {visible(' → '.join(call.call_path))}" if call.call_path else ""


def _branch_lines(branch: Branch, goals: Sequence[ServiceCondition]) -> Iterator[str]:
    yield _line(f"  branch {branch.file}:{branch.line}: {branch.condition}")
    for condition in goals:
        part = "" if condition.goal.text == branch.condition else f"{condition.goal.text} "
        for answer, steps in condition.answers:
            place = f"{answer.operation.name}, line {answer.line}{_steps_text(steps)}"
            yield _line(f"    {part}decided by {place}")


def _dead_condition_lines(condition: DeadCondition) -> Iterator[str]:
    branch = condition.branch
    yield visible(f"{branch.file}:{branch.line}: warning: {condition.text}: {condition.reason}")
    if condition.proposals:
        yield visible(f"  perhaps: {', '.join(condition.proposals)}")


def _steps_text(steps: Sequence[str]) -> str:
    return f": {' '.join(steps)}" if steps else ""


def _line(text: str) -> str:
    return visible(shortened(text, _MAX_LINE_LENGTH))


def _summary(application: Application, functions: Sequence[ServiceFunction]) -> str:
    calls = {call.answer for function in functions for call in function.calls}
    branches = {branch for function in functions for branch in function.branches()}
    return (
        f"{counted(len(application.modules), 'file')} read: "
        f"{counted(len(calls), 'service call')}, reached by "
        f"{counted(len(functions), 'function')}; answers decide {counted(len(branches), 'branch')}"
    )


def exploration_lines(explored: ExploredFunction) -> Iterator[str]:
    """Yield the lines about one function that was called with stub responses."""
    function = explored.function
    place = f"{visible(function.file)}:{function.line} {visible(function.name)}"
    if explored.problem:
        yield f"{place}: not explored: {visible(explored.problem, limit=_MAX_REASON_LENGTH)}"
        yield from _hang_lines(explored)
        return
    reached, total = explored.outcome_counts()
    random = f" ({explored.random_runs} with random answers)" if explored.random_runs else ""
    yield (
        f"{place}: reached {reached} of {counted(total, 'outcome')} of sub-conditions in "
        f"{counted(explored.runs, 'call')}{random}, {explored.seconds:.1f} s"
    )
    for remark in explored.remarks:
        yield visible(shortened(f"  note: {remark}", _MAX_REASON_LENGTH))
    for goal, values in explored.answers_by_outcome.items():
        for value in sorted({True, False} - values.keys()):
            yield _line(f"  never {str(value).lower()}: {goal.text} (line {goal.line})")
    for crash in (*explored.crashes, *explored.unjudged_crashes):
        verdict = (
            "error"
            if crash.is_judged
            else "not judged, because a missing file, network or key may be the cause"
        )
        yield _line(f"  {crash.file}:{crash.line}: {verdict}: {crash.error}")
        yield _line(f"    when {'; '.join(crash.titles)}")
    for crash in explored.flaky_crashes:
        yield _line(
            f"  {crash.file}:{crash.line}: not judged, because it occurred only once: {crash.error}"
        )
    for crash in explored.unrepeated_crashes:
        yield _line(
            f"  {crash.file}:{crash.line}: not judged, because no time was left to call the "
            f"function again; add time with --seconds: {crash.error}"
        )
    for name, crash in explored.uncaught_refusals.items():
        refusal = f"{name}: {crash.refusal}"
        yield _line(
            f"  warning: the function does not catch the service's refusal of an input: {refusal}"
        )
    yield from _hang_lines(explored)


def _hang_lines(explored: ExploredFunction) -> Iterator[str]:
    for hang in explored.hangs:
        yield _line(f"  {hang.behaviour} when {'; '.join(hang.titles)}")


def services_to_json(
    application: Application,
    functions: Sequence[ServiceFunction],
    dead_conditions: Iterable[DeadCondition],
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
            for function in functions
        ],
        "dead": [_dead_to_json(condition) for condition in dict.fromkeys(dead_conditions)],
        "unread": [
            {"file": unreadable.file, "reason": unreadable.reason}
            for unreadable in application.unreadable_files
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
                "text": condition.goal.text,
                "answers": [
                    {"operation": answer.operation.name, "line": answer.line, "steps": list(steps)}
                    for answer, steps in condition.answers
                ],
            }
            for condition in goals
        ],
    }


def _dead_to_json(condition: DeadCondition) -> Json:
    return {
        "file": condition.branch.file,
        "line": condition.branch.line,
        "condition": condition.branch.condition,
        "goal": condition.text,
        "reason": condition.reason,
        "proposals": list(condition.proposals),
    }
