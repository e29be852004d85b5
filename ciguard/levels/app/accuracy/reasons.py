"""Reasons why a sub-condition is not judged by inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.accuracy.aims import compares_chosen_value, compares_names
from ciguard.levels.app.accuracy.polarity import sentiment_path
from ciguard.levels.app.providers.description import TASKS_WITHOUT_INPUTS, RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from ciguard.levels.app.exploration.explore import ExploredFunction
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.static_analysis.findings import ServiceCondition


def reasons_not_judged(
    explored: ExploredFunction, aimed: Container[Goal], judged: Container[Goal]
) -> Iterator[tuple[Goal, str]]:
    """Yield the sub-conditions of a function that are not judged, with the reason.

    Args:
        explored: the result of the function's exploration.
        aimed: the sub-conditions for which inputs were made.
        judged: the sub-conditions with a verdict, here or in another function.
    """
    for condition in explored.function.goals:
        goal = condition.goal
        if goal.is_condition and goal not in judged:
            yield goal, _TOO_FEW if goal in aimed else _reason(condition, explored)


_TOO_FEW = "too few of its inputs could be judged"


def _reason(condition: ServiceCondition, explored: ExploredFunction) -> str:
    answers = explored.answers_by_outcome.get(condition.goal, {}).get(True)
    if answers is None:
        return "no answer that was tried makes it true"
    operations = [answer.operation for answer, _ in condition.answers]
    tasks = {operation.task for operation in operations}
    if tasks <= TASKS_WITHOUT_INPUTS:
        return f"ciguard makes no inputs for {' and '.join(sorted(tasks))}"
    if tasks == {RecognitionTask.SENTIMENT} and not all(map(sentiment_path, condition.flows)):
        return "it compares a value that is computed from the sentiment"
    if compares_chosen_value(condition):
        return "it compares a value that another branch has chosen"
    if not any(compares_names(condition, operation) for operation in operations):
        return "it compares neither names nor types of results"
    return (
        "only answers that were drawn at random make it true"
        if any(response.is_random for response in answers)
        else "ciguard knows no inputs that should make it true"
    )
