"""Sub-conditions that no answer of a service can change (Keeper paper, section 4.1.2).

A sub-condition is judged only if all steps from the answer to the comparison are understood.
"""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from ciguard.levels.app.dead_conditions.readings import (
    ITEM_PRESERVING,
    TEXT_METHODS,
    is_index_step,
    is_record_path,
    keeps_number,
    label_reading,
    spellings,
)
from ciguard.levels.app.providers.description import Field, RecognitionTask
from ciguard.levels.app.providers.registered import PROVIDERS, messages_of, safety_messages_of
from ciguard.levels.app.static_analysis.values import EACH, LISTED, Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
    from ciguard.levels.app.static_analysis.conditions import Branch, Goal, Literal
    from ciguard.levels.app.static_analysis.findings import ServiceCondition, ServiceFunction
    from ciguard.levels.app.static_analysis.values import ValueFlow
    from ciguard.sources import Place

_MAX_UNKNOWN_LABELS = 5
"""Maximum number of unknown labels in one sub-condition; if more, its literals are not labels."""
_CASE_CHANGES = frozenset({".lower()", ".upper()", ".casefold()"})
_PERCENT = 100


class DeadConditionCause(Enum):
    """Reason why a sub-condition is constant."""

    NOT_COMPARED = auto()
    """A bare literal, as in `x == "a" or "b"`."""
    OUT_OF_RANGE = auto()
    """A comparison of a score with a number outside the range of scores."""
    WRONG_CASE = auto()
    """A comparison of a text in one case with a literal in another, as in `x.lower() == "A"`."""
    ENUMERATION = auto()
    """A comparison of a text with a member of an enumeration."""
    UNKNOWN_LABEL = auto()
    """A comparison of a label with a literal that is not a label of the service."""
    CONTRADICTION = auto()
    """A sub-condition that other conditions, beside it or before it, decide."""


@dataclass(frozen=True, slots=True)
class DeadCondition:
    """A constant sub-condition, and the reason why it is constant."""

    branch: Branch
    text: str
    """Source text of the sub-condition."""
    cause: DeadConditionCause
    reason: str
    """Explanation for the report."""
    proposals: tuple[str, ...] = ()
    """Source texts that the user may have meant, the likeliest first."""
    place: Place = (0, 0, 0, 0)
    """Position of the sub-condition; zeros for a bare literal, whose branch has a position."""
    literal: Literal | None = None
    """Literal that makes it constant; None if the whole sub-condition does."""


def dead_conditions(
    function: ServiceFunction,
    vocabulary: Vocabulary | None,
    nearest_labels: Callable[[str], tuple[str, ...]] | None = None,
) -> Iterator[DeadCondition]:
    """Yield constant sub-conditions of a function and its callees.

    Args:
        function: the function.
        vocabulary: the labels that services can return; if None, labels are not checked.
        nearest_labels: returns the labels that an unknown one may mean; if None, labels with a
            similar spelling are proposed.
    """
    for branch, goals in function.branches().items():
        for text in branch.constant:
            proposals = _missing_comparison(text, goals)
            yield DeadCondition(
                branch,
                text,
                DeadConditionCause.NOT_COMPARED,
                f"always {truth_of(text)}: it is not compared with anything",
                proposals,
            )
        for condition in goals:
            dead = [
                *_out_of_range(condition),
                *_wrong_case(condition),
                *_enumeration_comparisons(condition),
                *_unknown_kinds(condition),
            ]
            yield from dead
            if vocabulary is not None and not dead:
                yield from _unknown_labels(
                    condition, vocabulary, nearest_labels or vocabulary.nearest
                )


def _dead_condition(
    goal: Goal,
    cause: DeadConditionCause,
    reason: str,
    proposals: tuple[str, ...],
    literal: Literal | None,
) -> DeadCondition:
    return DeadCondition(goal.branch, goal.text, cause, reason, proposals, goal.place, literal)


def truth_of(literal: str) -> str:
    """Return whether the source text of a literal is true as a condition: `true` or `false`."""
    return str(bool(ast.literal_eval(literal))).lower()


def _missing_comparison(text: str, goals: list[ServiceCondition]) -> tuple[str, ...]:
    """Return the comparison that a bare text may mean, as in `name == "dog" or "animal"`.

    Empty unless exactly one other sub-condition is such a comparison.
    """
    tests = [
        condition.goal
        for condition in goals
        if condition.goal.test and condition.goal.test.operator == "=="
    ]
    left = tests[0].text.rpartition(" == ")[0] if len(tests) == 1 else ""
    return (f"{left} == {text}",) if left else ()


def _wrong_case(condition: ServiceCondition) -> Iterator[DeadCondition]:
    """Yield texts with capital or small letters that the compared value cannot contain."""
    goal = condition.goal
    case_changes = {_last_case_change(flow) for flow in condition.flows}
    change = case_changes.pop() if len(case_changes) == 1 else None
    if change is None or not _is_text_search(condition):
        return
    for text in goal.texts:
        text_in_case = TEXT_METHODS[change](text)
        if text_in_case != text:
            reason = f"{text!r} cannot occur in the result of `{change}`"
            if len(goal.texts) == 1:
                reason = f"never: {reason}"
            yield _dead_condition(
                goal, DeadConditionCause.WRONG_CASE, reason, (repr(text_in_case),), text
            )


def _is_text_search(condition: ServiceCondition) -> bool:
    """Return whether a sub-condition compares an answer with texts, or searches it for texts."""
    if condition.goal.test is not None:
        return condition.goal.test.operator in {"==", "in", "holds"}
    ends = {flow.steps[-1].partition("(")[0] for flow in condition.flows if flow.steps}
    return ends <= {".startswith", ".endswith"}


def _enumeration_comparisons(condition: ServiceCondition) -> Iterator[DeadCondition]:
    """Yield comparisons of a text with a member of an enumeration."""
    goal, test = condition.goal, condition.goal.test
    if test is None or test.operator not in {"==", "in"} or len(goal.texts) != len(test.literals):
        return
    if all(_is_enumerated(flow) for flow in condition.flows):
        left = goal.text.partition(f" {test.operator} ")[0]
        reason = "never: a text is compared with a member of an enumeration"
        proposal = goal.text.replace(left, f"{left}.name", 1)
        yield _dead_condition(goal, DeadConditionCause.ENUMERATION, reason, (proposal,), None)


def _unknown_kinds(condition: ServiceCondition) -> Iterator[DeadCondition]:
    """Yield comparisons of the name of an entity's type with a text that names none."""
    goal, test = condition.goal, condition.goal.test
    if test is None or test.operator not in {"==", "in"}:
        return
    flows = [replace(flow, steps=(*flow.steps[:-2], "")) for flow in condition.flows]
    are_names = all(flow.steps[-2:-1] == (".name",) for flow in condition.flows)
    if not are_names or not all(map(_is_enumerated, flows)):
        return
    sources = [flow.source for flow in condition.flows if isinstance(flow.source, Answer)]
    if any(source.operation.task is not RecognitionTask.ENTITIES for source in sources):
        return
    kinds = {kind for source in sources for kind in messages_of(source.operation).KINDS}
    for text in goal.texts:
        if text not in kinds:
            reason = f"{text!r} is no type of entities"
            proposals = difflib.get_close_matches(text.upper(), sorted(kinds), 2)
            yield _dead_condition(
                goal,
                DeadConditionCause.ENUMERATION,
                f"never: {reason}" if len(goal.texts) == 1 else reason,
                tuple(map(repr, proposals)),
                text,
            )


def _record_path(answer: Answer) -> str:
    return answer.operation.records


def _has_enumerations(answer: Answer) -> bool:
    provider = PROVIDERS.items().get(answer.operation.provider)
    return provider is not None and provider.has_enumerations


def _is_enumerated(flow: ValueFlow) -> bool:
    if not isinstance(flow.source, Answer) or not _has_enumerations(flow.source):
        return False
    kind = (flow.source.operation.fields or {}).get(Field.KIND, "")
    field = flow.steps[-2] if len(flow.steps) > 1 else ""
    if flow.source.operation.task is RecognitionTask.SAFETY:
        kinds = safety_messages_of(flow.source.operation).UNSAFE_PROPERTIES
        return any(field in spellings(kind) for kind in kinds)
    if not is_record_path(
        [step for step in flow.steps[:-2] if step not in ITEM_PRESERVING],
        _record_path(flow.source),
    ):
        return False
    is_kind = bool(kind) and field in spellings(kind)
    is_face = flow.source.operation.task is RecognitionTask.FACES and field.endswith("_likelihood")
    return is_kind or is_face


def _last_case_change(flow: ValueFlow) -> str | None:
    """Return the last step before the comparison if it converts the case; else None."""
    if not isinstance(flow.source, Answer):
        return None
    other_steps = (step for step in flow.steps[:-1] if step not in {LISTED, EACH})
    steps = [step for step in other_steps if not is_index_step(step)]
    return steps[-1] if steps and steps[-1] in _CASE_CHANGES else None


# --- labels ---------------------------------------------------------------------------------------


def _unknown_labels(
    condition: ServiceCondition,
    vocabulary: Vocabulary,
    nearest_labels: Callable[[str], tuple[str, ...]],
) -> Iterator[DeadCondition]:
    goal, test = condition.goal, condition.goal.test
    if test is None or test.operator not in {"==", "in", "holds"}:
        return
    readings = {label_reading(flow) for flow in condition.flows}
    if None in readings:
        return
    label_readings = [reading for reading in readings if reading is not None]
    is_substring_test = test.operator == "holds" and not all(
        reading.is_listed for reading in label_readings
    )
    unknown_count = 0
    for literal in test.literals:
        known = (reading.read(label) for reading in label_readings for label in vocabulary.labels)
        if not isinstance(literal, str) or _is_possible(
            literal, known, is_substring_test=is_substring_test
        ):
            continue
        unknown_count += 1
        if (
            unknown_count > _MAX_UNKNOWN_LABELS
        ):  # the literals are not labels, but for example all words of a language
            return
        reason = f"{literal!r} does not match any label that the service can return"
        if len(test.literals) == 1:
            reason = f"never: {reason}"
        proposals = tuple(min(label_readings).read(label) for label in nearest_labels(literal))
        yield _dead_condition(
            goal, DeadConditionCause.UNKNOWN_LABEL, reason, tuple(dict.fromkeys(proposals)), literal
        )


def _is_possible(literal: str, labels: Iterable[str], *, is_substring_test: bool) -> bool:
    """Return whether a label can equal the literal, or contain it if `is_substring_test`."""
    if is_substring_test:
        return any(literal in label for label in labels)
    return literal in labels


# --- scores ---------------------------------------------------------------------------------------


def _out_of_range(condition: ServiceCondition) -> Iterator[DeadCondition]:
    goal, test = condition.goal, condition.goal.test
    # A number is never compared with a text, such as a key of the same dictionary.
    ranges = {range_of(flow) for flow in condition.flows if not _is_label(flow)}
    value_range = ranges.pop() if len(ranges) == 1 else None
    if test is None or len(test.literals) != 1 or value_range is None:
        return
    literal = test.literals[0]
    minimum, maximum = value_range
    if isinstance(literal, str | bool):
        return
    verdict = _verdict(test.operator, literal, minimum, maximum)
    proposed = literal
    if (minimum, maximum) == (0, 1) and 1 < literal <= _PERCENT:
        proposed = literal / _PERCENT
    elif (minimum, maximum) == (0, _PERCENT) and 0 < literal < 1 and test.operator in _FRACTIONS:
        verdict, proposed = _FRACTIONS[test.operator], literal * _PERCENT
    if verdict:
        reason = f"{verdict}: the service returns scores from {minimum:g} to {maximum:g}"
        is_fixed = not _verdict(test.operator, proposed, minimum, maximum)
        proposals = (f"{proposed:g}",) if is_fixed else ()
        yield _dead_condition(goal, DeadConditionCause.OUT_OF_RANGE, reason, proposals, literal)


_FRACTIONS = {
    ">": "almost always",
    ">=": "almost always",
    "<": "almost never",
    "<=": "almost never",
}
"""Verdicts on comparisons of a percentage with a fraction, which was meant as one."""


def _is_label(flow: ValueFlow) -> bool:
    """Return whether a flow leads through the label of a result, which is a text."""
    if not isinstance(flow.source, Answer):
        return False
    key = (flow.source.operation.fields or {}).get(Field.KEY, "")
    return bool(key) and not set(spellings(key)).isdisjoint(flow.steps)


def range_of(flow: ValueFlow) -> tuple[float, float] | None:
    """Return the (minimum, maximum) of a score that is compared unchanged; else None.

    Args:
        flow: the flow from an answer to a sub-condition.
    """
    if not isinstance(flow.source, Answer):
        return None
    operation = flow.source.operation
    prefix, _, field = (operation.fields or {}).get(Field.SCORE, "").rpartition(".")
    places = [at for at, step in enumerate(flow.steps[:-1]) if step in spellings(field)]
    if not field or not places or not all(map(keeps_number, flow.steps[places[-1] + 1 : -1])):
        return None
    path = ".".join(filter(None, (operation.records, prefix)))
    return operation.between if is_record_path(flow.steps[: places[-1]], path) else None


def _verdict(operator: str, literal: float, minimum: float, maximum: float) -> str:
    """Return `always` or `never` if a comparison of scores is constant; else an empty text."""
    never = {
        ">": literal >= maximum, ">=": literal > maximum,
        "<": literal <= minimum, "<=": literal < minimum,
        "==": not minimum <= literal <= maximum,
    }  # fmt: skip
    always = {
        ">": literal < minimum, ">=": literal <= minimum,
        "<": literal > maximum, "<=": literal >= maximum,
        "!=": not minimum <= literal <= maximum,
    }  # fmt: skip
    if never.get(operator, False):
        return "never"
    return "always" if always.get(operator, False) else ""
