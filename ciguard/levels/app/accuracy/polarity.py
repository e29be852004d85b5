"""The polarity that a condition on a sentiment is for, and its recall on texts of that polarity.

`score < -0.2` is for negative texts, `score > 0.6` for positive ones. Conditions for one polarity
belong together: `score > 0.1` after `score > 0.6` is a weaker form of the same claim, so the two
are judged by the texts that either finds, at the weaker one.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.dead_conditions.readings import is_index_step, spellings
from ciguard.levels.app.input_synthesis.inputs import Sentiment
from ciguard.levels.app.providers.description import Field
from ciguard.levels.app.repair.measures import BranchCounts, count_inputs
from ciguard.levels.app.static_analysis.conditions import (
    OPERATORS,
    LiteralTest,
    comparison_of_step,
    literals_of,
)
from ciguard.levels.app.static_analysis.values import EACH, INTO, Answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.levels.app.accuracy.trials import InputTrial
    from ciguard.levels.app.exploration.explore import ExploredFunction
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.conditions import Branch, Goal
    from ciguard.levels.app.static_analysis.findings import ServiceCondition
    from ciguard.levels.app.static_analysis.values import ValueFlow

_NAMED = (Sentiment.POSITIVE, Sentiment.NEGATIVE)


@dataclass(frozen=True, slots=True)
class PolarityRecall:
    """How many texts of a polarity take the branches for it."""

    polarity: Sentiment
    counts: BranchCounts
    is_shared: bool
    """True if other conditions of the function are for the same polarity."""
    missed: tuple[ServiceInput, ...]
    """Texts of the polarity that take no branch for it."""

    @property
    def claim(self) -> str:
        """What the texts of the polarity do, for the report."""
        branch = (
            f"its branch or another for {self.polarity} texts" if self.is_shared else "its branch"
        )
        return (
            f"{self.counts.correct} of {self.counts.expected} {self.polarity} texts take {branch}"
        )


def polarity_recall(
    goal: Goal, operation: Operation, explored: ExploredFunction, trials: Sequence[InputTrial]
) -> PolarityRecall | None:
    """Return the recall of the polarity that a sub-condition is for (Keeper paper, section 4.1.1).

    None if it is for no polarity, or if a weaker condition of the function is for the same one. A
    text does not count if something else than the sentiment kept it from being compared.

    Args:
        goal: the sub-condition.
        operation: the operation that returns the sentiment.
        explored: the result of the function's exploration.
        trials: calls with texts of a known polarity, for which the operation answered.
    """
    reached = [
        condition
        for condition in explored.function.goals
        if True in explored.answers_by_outcome.get(condition.goal, {})
    ]
    tests = list(_polarity_tests(reached, operation))
    own = next((test for test in tests if test.goal == goal), None)
    if own is None:
        return None
    same = [test for test in tests if test.polarity is own.polarity]
    if min(same, key=lambda test: test.strictness) is not own:
        return None
    compared = {
        condition.goal for condition in explored.function.goals if _is_on(condition, operation)
    }
    texts = [
        (trial.input, any(test.finds(trial) for test in same))
        for trial in trials
        if trial.input.wanted.feeling is own.polarity
        and (trial.true_goals & compared or any(test.is_reached(trial) for test in same))
    ]
    counts = count_inputs((True, is_found) for _, is_found in texts)
    missed = tuple(text for text, is_found in texts if not is_found)
    return PolarityRecall(own.polarity, counts, len(same) > 1, missed)


def sentiment_path(flow: ValueFlow) -> str:
    """Return the path of the sentiment's field that a flow brings unchanged to a comparison.

    Empty if it brings anything else. Beside a score of positive sentiment, that of negative
    sentiment is known.
    """
    if not isinstance(flow.source, Answer):
        return ""
    operation = flow.source.operation
    steps = [
        step
        for step in flow.steps[:-1]
        if step != EACH and not step.startswith(INTO) and not is_index_step(step)
    ]
    for path in _paths(operation):
        if _leads_to(steps, f"{operation.records}.{path}".strip(".")):
            return path
    return ""


@dataclass(frozen=True, slots=True)
class _PolarityTest:
    """A sub-condition that is for one polarity."""

    goal: Goal
    polarity: Sentiment
    strictness: tuple[float, int, int]
    """Distance of the bound from the weakest one, and the place."""
    branch_goals: frozenset[Goal]
    """All sub-conditions of its branch, if it is a conjunction of tests of one sentiment."""

    def finds(self, trial: InputTrial) -> bool:
        """Return whether a text makes the sub-condition true, and its conjunction."""
        if self.branch_goals:
            return self.goal.branch in trial.taken_branches
        return self.goal in trial.true_goals

    def is_reached(self, trial: InputTrial) -> bool:
        """Return whether the sub-condition was evaluated, or its conjunction was."""
        evaluated = {goal for goal, _ in trial.outcomes}
        return not evaluated.isdisjoint({self.goal, *self.branch_goals})


def _polarity_tests(
    conditions: Sequence[ServiceCondition], operation: Operation
) -> Iterator[_PolarityTest]:
    by_branch: dict[Branch, list[Goal]] = {}
    for condition in conditions:
        if _is_on(condition, operation):
            by_branch.setdefault(condition.goal.branch, []).append(condition.goal)
    for condition in conditions:
        meaning = _meaning(condition, operation)
        if meaning is None:
            continue
        goal = condition.goal
        beside = by_branch[goal.branch]
        is_conjunction = conjuncts_of(goal.branch) == len(beside) > 1
        yield _PolarityTest(
            goal,
            meaning[0],
            (meaning[1], goal.line, goal.index),
            frozenset(beside if is_conjunction else ()),
        )


def _is_on(condition: ServiceCondition, operation: Operation) -> bool:
    """Return whether a sub-condition compares a sentiment of the operation, and nothing else."""
    return all(
        isinstance(flow.source, Answer)
        and flow.source.operation == operation
        and sentiment_path(flow)
        for flow in condition.flows
    )


def _meaning(condition: ServiceCondition, operation: Operation) -> tuple[Sentiment, float] | None:
    """Return the polarity that a sub-condition is for, and how strictly; None if it is for none."""
    paths = {sentiment_path(flow) for flow in condition.flows}
    if len(paths) != 1 or not _is_on(condition, operation):
        return None
    (path,) = paths
    fields = operation.fields or {}
    if path == fields.get(Field.KEY):
        return _named_polarity(condition.goal)
    if path == fields.get(Field.MAGNITUDE) or operation.between is None:
        return None
    return _scored_polarity(path, operation.between, *_bounds(condition))


def _scored_polarity(
    path: str, between: tuple[float, float], lower: float | None, upper: float | None
) -> tuple[Sentiment, float] | None:
    """Return the polarity of scores within bounds, and the distance of the bound from the weakest.

    Args:
        path: the path of the score.
        between: the least and the largest score.
        lower: the lower bound; None if there is none.
        upper: the upper bound; None if there is none.
    """
    least, most = between
    named = next((one for one in _NAMED if path.lower().endswith(one)), None)
    if named is not None:  # the score of one polarity, which grows with it
        return (named, lower - least) if lower is not None and upper is None else None
    neutral = (least + most) / 2
    if lower is not None and lower >= neutral:
        return Sentiment.POSITIVE, lower - neutral
    if upper is not None and upper <= neutral:
        return Sentiment.NEGATIVE, neutral - upper
    return None


def _named_polarity(goal: Goal) -> tuple[Sentiment, float] | None:
    if goal.test is None or goal.test.operator not in {"==", "in"}:
        return None
    named = {text.lower() for text in goal.texts}.intersection(_NAMED)
    return (Sentiment(named.pop()), 0.0) if len(named) == 1 else None


def _bounds(condition: ServiceCondition) -> tuple[float | None, float | None]:
    """Return the numbers above and below which a value makes a sub-condition true, if any."""
    lower: float | None = None
    upper: float | None = None
    for test in _tests(condition):
        match test.literals:
            case (int() | float() as number,) if not isinstance(number, bool):
                if test.operator in {">", ">="}:
                    lower = number
                elif test.operator in {"<", "<="}:
                    upper = number
            case _:
                pass
    return lower, upper


def _tests(condition: ServiceCondition) -> list[LiteralTest]:
    """Return the comparisons of a sub-condition, if need be in the function that it calls."""
    goal = condition.goal
    if goal.test is not None:
        return [goal.test]
    chained = list(_chained_tests(goal.text))
    last_steps = {flow.steps[-1] for flow in condition.flows if flow.steps}
    inner = comparison_of_step(last_steps.pop()) if len(last_steps) == 1 else None
    return [inner] if inner is not None and not chained else chained


def _chained_tests(text: str) -> Iterator[LiteralTest]:
    """Yield the two tests of `0.1 < x <= 0.6`; none for anything else."""
    match ast.parse(text, mode="eval").body:
        case ast.Compare(left=left, ops=[first, second], comparators=[_, right]):
            mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(OPERATORS[type(first)], "")
            yield LiteralTest(mirrored, literals_of(left) or ())
            yield LiteralTest(OPERATORS[type(second)], literals_of(right) or ())
        case _:
            pass


def conjuncts_of(branch: Branch) -> int:
    """Return how many parts a branch's conjunction has; 1 for any other condition."""
    expression = ast.parse(branch.condition, mode="eval").body
    if isinstance(expression, ast.BoolOp) and isinstance(expression.op, ast.And):
        return len(expression.values)
    return 1


def _paths(operation: Operation) -> Iterator[str]:
    """Yield the paths of a sentiment's fields."""
    fields = operation.fields or {}
    yield from (
        fields[field] for field in (Field.KEY, Field.SCORE, Field.MAGNITUDE) if field in fields
    )
    score = fields.get(Field.SCORE, "")
    for positive, negative in (("Positive", "Negative"), ("positive", "negative")):
        if score.rpartition(".")[2] == positive:
            yield score.removesuffix(positive) + negative


def _leads_to(steps: Sequence[str], path: str) -> bool:
    parts = path.split(".")
    return len(steps) == len(parts) and all(
        step in spellings(part) for step, part in zip(steps, parts, strict=True)
    )
