"""Sub-conditions that no answer of a service can change (Keeper, section 4.1.2).

A sub-condition is judged only if all steps from the answer to it are understood.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.description import Field, RecognitionTask
from ciguard.levels.app.providers.registered import PROVIDERS
from ciguard.levels.app.static_analysis.values import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
    from ciguard.levels.app.static_analysis.conditions import Branch, Goal, Literal
    from ciguard.levels.app.static_analysis.findings import ServiceCondition, ServiceFunction
    from ciguard.levels.app.static_analysis.values import ValueFlow
    from ciguard.sources import Place

_TEXT_METHODS: Mapping[str, Callable[[str], str]] = {
    ".lower()": str.lower, ".upper()": str.upper, ".title()": str.title, ".strip()": str.strip,
    ".capitalize()": str.capitalize, ".casefold()": str.casefold,
}  # fmt: skip
_MAX_UNKNOWN_LABELS = 5
"""Limit of unknown labels in one sub-condition; beyond it, its literals are no labels."""
_CASE_CHANGES = frozenset({".lower()", ".upper()", ".casefold()"})
_PERCENT = 100
_EACH, _LISTED = "each", "in a list"
_SAME = frozenset({"list()", "set()", "sorted()", "tuple()"})
"""Steps that keep the items of a list."""


class DeadConditionCause(Enum):
    """Why a sub-condition is constant."""

    COMPARED_WITH_NOTHING = auto()
    OUT_OF_RANGE = auto()
    OTHER_LETTERS = auto()
    ENUMERATION = auto()
    NO_LABEL = auto()
    CONTRADICTION = auto()
    """Conditions beside it or before it decide it."""


@dataclass(frozen=True, slots=True)
class DeadCondition:
    """A constant sub-condition, and why it is constant."""

    branch: Branch
    text: str
    """Source text of the sub-condition."""
    cause: DeadConditionCause
    reason: str
    """Explanation for the report."""
    proposals: tuple[str, ...] = ()
    """Replacements that may be meant."""
    place: Place = (0, 0, 0, 0)
    """Position of the sub-condition; zeros for a bare literal, where the branch has it."""
    literal: Literal | None = None
    """The literal that causes it; None if the whole sub-condition does."""


def dead_conditions(
    function: ServiceFunction,
    vocabulary: Vocabulary | None,
    nearest: Callable[[str], tuple[str, ...]] | None = None,
) -> Iterator[DeadCondition]:
    """Yield constant sub-conditions of a function and its callees.

    Args:
        function: the function.
        vocabulary: labels that services can answer; None: labels are not judged.
        nearest: returns the labels that an unknown one may mean; None: those of similar spelling.
    """
    for branch, goals in function.branches().items():
        for text in branch.constant:
            proposals = _missing_comparison(text, goals)
            yield DeadCondition(
                branch,
                text,
                DeadConditionCause.COMPARED_WITH_NOTHING,
                _COMPARED_WITH_NOTHING_REASON,
                proposals,
            )
        for condition in goals:
            dead = [*_out_of_range(condition), *_other_letters(condition), *_enumeration(condition)]
            yield from dead
            if vocabulary is not None and not dead:
                yield from _unknown_labels(condition, vocabulary, nearest or vocabulary.nearest)


def _dead(
    goal: Goal,
    cause: DeadConditionCause,
    reason: str,
    proposals: tuple[str, ...],
    literal: Literal | None,
) -> DeadCondition:
    return DeadCondition(goal.branch, goal.text, cause, reason, proposals, goal.place, literal)


_COMPARED_WITH_NOTHING_REASON = "always the same: it is compared with nothing"


def _missing_comparison(text: str, goals: list[ServiceCondition]) -> tuple[str, ...]:
    """Return the comparison that a text stands for in `name == "dog" or "animal"`."""
    tests = [
        condition.goal
        for condition in goals
        if condition.goal.test and condition.goal.test.operator == "=="
    ]
    left = tests[0].text.rpartition(" == ")[0] if len(tests) == 1 else ""
    return (f"{left} == {text}",) if left else ()


def _other_letters(condition: ServiceCondition) -> Iterator[DeadCondition]:
    """Yield texts with letters of a case that the compared value cannot contain."""
    goal = condition.goal
    case_changes = {_last_change(flow) for flow in condition.flows}
    change = case_changes.pop() if len(case_changes) == 1 else None
    if change is None or not _is_text_search(condition):
        return
    for text in goal.texts:
        text_in_case = _TEXT_METHODS[change](text)
        if text_in_case != text:
            reason = f"{text!r} cannot be in what comes out of `{change}`"
            if len(goal.texts) == 1:
                reason = f"never: {reason}"
            yield _dead(goal, DeadConditionCause.OTHER_LETTERS, reason, (repr(text_in_case),), text)


def _is_text_search(condition: ServiceCondition) -> bool:
    """Return whether texts are searched for in an answer, or compared with it."""
    if condition.goal.test is not None:
        return condition.goal.test.operator in {"==", "in", "holds"}
    ends = {flow.steps[-1].partition("(")[0] for flow in condition.flows if flow.steps}
    return ends <= {".startswith", ".endswith"}


def _enumeration(condition: ServiceCondition) -> Iterator[DeadCondition]:
    """Yield comparisons of a text with a member of an enumeration."""
    goal, test = condition.goal, condition.goal.test
    if test is None or test.operator not in {"==", "in"} or len(goal.texts) != len(test.literals):
        return
    if all(_is_enumerated(flow) for flow in condition.flows):
        left = goal.text.partition(f" {test.operator} ")[0]
        reason = "never: a text is compared with a member of an enumeration"
        proposal = goal.text.replace(left, f"{left}.name", 1)
        yield _dead(goal, DeadConditionCause.ENUMERATION, reason, (proposal,), None)


def _records(answer: Answer) -> str:
    return answer.operation.records


def _has_enumerations(answer: Answer) -> bool:
    provider = PROVIDERS.items().get(answer.operation.provider)
    return provider is not None and provider.has_enumerations


def _is_enumerated(flow: ValueFlow) -> bool:
    if not isinstance(flow.source, Answer) or not _has_enumerations(flow.source):
        return False
    kind = (flow.source.operation.fields or {}).get(Field.KIND, "")
    field = flow.steps[-2] if len(flow.steps) > 1 else ""
    if not _is_path_to_record(
        [step for step in flow.steps[:-2] if step not in _SAME], _records(flow.source)
    ):
        return False
    is_kind = bool(kind) and field in spellings(kind)
    is_face = flow.source.operation.task is RecognitionTask.FACES and field.endswith("_likelihood")
    return is_kind or is_face


def _last_change(flow: ValueFlow) -> str | None:
    """Return the last step before the comparison if it sets the case of all letters; else None."""
    if not isinstance(flow.source, Answer):
        return None
    other_steps = (step for step in flow.steps[:-1] if step not in {_LISTED, _EACH})
    steps = [step for step in other_steps if not is_place(step)]
    return steps[-1] if steps and steps[-1] in _CASE_CHANGES else None


# --- labels ---------------------------------------------------------------------------------------


def _unknown_labels(
    condition: ServiceCondition, vocabulary: Vocabulary, nearest: Callable[[str], tuple[str, ...]]
) -> Iterator[DeadCondition]:
    goal, test = condition.goal, condition.goal.test
    if test is None or test.operator not in {"==", "in", "holds"}:
        return
    readings = {_label_reading(flow) for flow in condition.flows}
    if None in readings:
        return
    label_readings = [reading for reading in readings if reading is not None]
    is_part = test.operator == "holds" and not all(reading.is_listed for reading in label_readings)
    unknown_count = 0
    for literal in test.literals:
        known = (reading.read(label) for reading in label_readings for label in vocabulary.labels)
        if not isinstance(literal, str) or _is_possible(literal, known, is_part=is_part):
            continue
        unknown_count += 1
        if (
            unknown_count > _MAX_UNKNOWN_LABELS
        ):  # the literals are no labels, such as all words of a language
            return
        reason = f"{literal!r} is no label of the service, as it is read here"
        if len(test.literals) == 1:
            reason = f"never: {reason}"
        proposals = tuple(min(label_readings).read(label) for label in nearest(literal))
        yield _dead(
            goal, DeadConditionCause.NO_LABEL, reason, tuple(dict.fromkeys(proposals)), literal
        )


def _is_possible(literal: str, labels: Iterable[str], *, is_part: bool) -> bool:
    """Return whether a label can equal the literal, or contain it if `is_part`."""
    if is_part:
        return any(literal in label for label in labels)
    return literal in labels


@dataclass(frozen=True, slots=True, order=True)
class _LabelReading:
    """How an application reads a label before it compares it."""

    steps: tuple[str, ...]
    is_listed: bool
    """True if the literal is compared with the items of a list, not with a text."""

    def read(self, label: str) -> str:
        for step in self.steps:
            label = _TEXT_METHODS[step](label)
        return label


def _label_reading(flow: ValueFlow) -> _LabelReading | None:
    """Return how labels are read before the comparison; None if a step is not understood."""
    if (
        not isinstance(flow.source, Answer)
        or flow.source.operation.task is not RecognitionTask.LABELS
    ):
        return None
    key = (flow.source.operation.fields or {}).get(Field.KEY, "")
    at = next((at for at, step in enumerate(flow.steps) if step in spellings(key)), None)
    if at is None:
        return None
    if not _is_path_to_record(flow.steps[:at], flow.source.operation.records):
        return None
    return _reading_of_steps(flow.steps[at + 1 :])


def _reading_of_steps(steps: Sequence[str]) -> _LabelReading | None:
    """Return the reading that the steps from a label to a comparison are; None if unclear."""
    depth, text_steps = 0, []
    for step in steps[:-1]:
        if step == _LISTED:
            depth += 1
        elif depth and (step == _EACH or is_place(step)):
            depth -= 1
        elif not (depth and step in _SAME):  # else the step acts on letters
            if step not in _TEXT_METHODS or depth:
                return None
            text_steps.append(step)
    return (
        None
        if depth and steps[-1].startswith("==")
        else _LabelReading(tuple(text_steps), depth == 1)
    )


def _is_path_to_record(steps: Iterable[str], records: str) -> bool:
    """Return whether steps only lead from an answer to one of its records."""
    parts = {spelled for part in records.split(".") for spelled in spellings(part)}
    return all(step in parts or step == _EACH or is_place(step) for step in steps)


def spellings(field: str) -> tuple[str, ...]:
    """Return the steps that read a field: as an attribute or as a key."""
    return f".{field}", f"['{field}']", f".get('{field}')"


def is_place(step: str) -> bool:
    """Return whether a step reads an item of a list by its index."""
    return step.startswith("[") and step.endswith("]") and step[1:-1].isdecimal()


# --- scores ---------------------------------------------------------------------------------------


def _out_of_range(condition: ServiceCondition) -> Iterator[DeadCondition]:
    goal, test = condition.goal, condition.goal.test
    ranges = {range_of(flow) for flow in condition.flows}
    value_range = ranges.pop() if len(ranges) == 1 else None
    if test is None or len(test.literals) != 1 or value_range is None:
        return
    literal = test.literals[0]
    least, most = value_range
    if isinstance(literal, str | bool):
        return
    verdict = _verdict(test.operator, literal, least, most)
    if verdict:
        reason = f"{verdict}: the service answers from {least:g} to {most:g}"
        is_percentage = (least, most) == (0, 1) and 1 < literal <= _PERCENT
        proposed = literal / _PERCENT if is_percentage else literal
        proposals = (f"{proposed:g}",) if not _verdict(test.operator, proposed, least, most) else ()
        yield _dead(goal, DeadConditionCause.OUT_OF_RANGE, reason, proposals, literal)


def range_of(flow: ValueFlow) -> tuple[float, float] | None:
    """Return the range of a score that is compared unchanged; None for any other value.

    Args:
        flow: the flow from an answer to a sub-condition.
    """
    if not isinstance(flow.source, Answer):
        return None
    operation = flow.source.operation
    prefix, _, field = (operation.fields or {}).get(Field.SCORE, "").rpartition(".")
    is_score = bool(field) and flow.steps[-2:-1] in {(step,) for step in spellings(field)}
    path = ".".join(filter(None, (operation.records, prefix)))
    return operation.between if is_score and _is_path_to_record(flow.steps[:-2], path) else None


def _verdict(operator: str, literal: float, least: float, most: float) -> str:
    """Return `always` or `never` for a comparison with a number; empty if it depends."""
    never = {
        ">": literal >= most, ">=": literal > most, "<": literal <= least, "<=": literal < least,
        "==": not least <= literal <= most,
    }  # fmt: skip
    always = {
        ">": literal < least, ">=": literal <= least, "<": literal > most, "<=": literal >= most,
        "!=": not least <= literal <= most,
    }  # fmt: skip
    if never.get(operator, False):
        return "never"
    return "always" if always.get(operator, False) else ""
