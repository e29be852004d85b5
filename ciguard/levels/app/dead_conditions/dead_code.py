"""Sub-conditions that are the same whatever a service answers (Keeper, section 4.1.2).

Only where the way from the answer is understood whole: what is done to it besides, nobody judges.
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

_CASES: Mapping[str, Callable[[str], str]] = {
    ".lower()": str.lower, ".upper()": str.upper, ".title()": str.title, ".strip()": str.strip,
    ".capitalize()": str.capitalize, ".casefold()": str.casefold,
}  # fmt: skip
_MAX_TOLD = 5
"""Of one sub-condition."""
_OF_ALL_LETTERS = frozenset({".lower()", ".upper()", ".casefold()"})
_PERCENT = 100
_EACH, _LISTED = "each", "in a list"
_SAME = frozenset({"list()", "set()", "sorted()", "tuple()"})
"""Steps after which a list holds the same labels still."""


class DeadConditionCause(Enum):
    """Why a sub-condition is always the same."""

    COMPARED_WITH_NOTHING = auto()
    OUT_OF_RANGE = auto()
    OTHER_LETTERS = auto()
    ENUMERATION = auto()
    NO_LABEL = auto()
    CONTRADICTION = auto()
    """With what stands beside it, or before it."""


@dataclass(frozen=True, slots=True)
class Dead:
    """A sub-condition that is always the same, and why."""

    branch: Branch
    text: str
    """Of the sub-condition."""
    cause: DeadConditionCause
    reason: str
    """In words."""
    proposals: tuple[str, ...] = ()
    """What may be meant instead."""
    place: Place = (0, 0, 0, 0)
    """Of the sub-condition; of a text that is compared with nothing, its branch tells it."""
    literal: Literal | None = None
    """Which of those that it compares with."""


def dead_conditions(
    found: ServiceFunction,
    vocabulary: Vocabulary | None,
    nearest: Callable[[str], tuple[str, ...]] | None = None,
) -> Iterator[Dead]:
    """Yield what is always the same among the conditions of a function and what it calls.

    Args:
        found: of the function.
        vocabulary: labels that services can answer; without one, labels are not judged.
        nearest: which of them may be meant by one that is none; else those that are spelled alike.
    """
    for branch, goals in found.branches().items():
        for text in branch.constant:
            proposals = _compared(text, goals)
            yield Dead(branch, text, DeadConditionCause.COMPARED_WITH_NOTHING, _CONSTANT, proposals)
        for decided in goals:
            told = [*_out_of_range(decided), *_other_letters(decided), *_enumeration(decided)]
            yield from told
            if vocabulary is not None and not told:
                yield from _no_label(decided, vocabulary, nearest or vocabulary.nearest)


def _dead(
    goal: Goal,
    cause: DeadConditionCause,
    reason: str,
    proposals: tuple[str, ...],
    literal: Literal | None,
) -> Dead:
    return Dead(goal.branch, goal.text, cause, reason, proposals, goal.place, literal)


_CONSTANT = "always the same: it is compared with nothing"


def _compared(text: str, goals: list[ServiceCondition]) -> tuple[str, ...]:
    """Return the comparison that a text stands for in `name == "dog" or "animal"`."""
    tests = [one.goal for one in goals if one.goal.test and one.goal.test.operator == "=="]
    left = tests[0].text.rpartition(" == ")[0] if len(tests) == 1 else ""
    return (f"{left} == {text}",) if left else ()


def _other_letters(decided: ServiceCondition) -> Iterator[Dead]:
    """Yield texts with letters that what they are compared with cannot have any more."""
    goal = decided.goal
    changes = {_last_change(flow) for flow in decided.flows}
    change = changes.pop() if len(changes) == 1 else None
    if change is None or not _is_sought(decided):
        return
    for text in goal.texts:
        changed = _CASES[change](text)
        if changed != text:
            reason = f"{text!r} cannot be in what comes out of `{change}`"
            if len(goal.texts) == 1:
                reason = f"never: {reason}"
            yield _dead(goal, DeadConditionCause.OTHER_LETTERS, reason, (repr(changed),), text)


def _is_sought(decided: ServiceCondition) -> bool:
    """Return whether texts are looked for in what services answer."""
    if decided.goal.test is not None:
        return decided.goal.test.operator in {"==", "in", "holds"}
    ends = {flow.steps[-1].partition("(")[0] for flow in decided.flows if flow.steps}
    return ends <= {".startswith", ".endswith"}


def _enumeration(decided: ServiceCondition) -> Iterator[Dead]:
    """Yield comparisons of a text with what is a number with a name in a service's messages."""
    goal, test = decided.goal, decided.goal.test
    if test is None or test.operator not in {"==", "in"} or len(goal.texts) != len(test.literals):
        return
    if all(_is_enumerated(flow) for flow in decided.flows):
        left = goal.text.partition(f" {test.operator} ")[0]
        reason = "never: a text is compared with a member of an enumeration"
        meant = goal.text.replace(left, f"{left}.name", 1)
        yield _dead(goal, DeadConditionCause.ENUMERATION, reason, (meant,), None)


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
    if not _is_way([one for one in flow.steps[:-2] if one not in _SAME], _records(flow.source)):
        return False
    is_kind = bool(kind) and field in spellings(kind)
    is_face = flow.source.operation.task is RecognitionTask.FACES and field.endswith("_likelihood")
    return is_kind or is_face


def _last_change(flow: ValueFlow) -> str | None:
    """Return what gives all letters one case, right before a text is compared; else None."""
    if not isinstance(flow.source, Answer):
        return None
    held = (step for step in flow.steps[:-1] if step not in {_LISTED, _EACH})
    steps = [step for step in held if not is_place(step)]
    return steps[-1] if steps and steps[-1] in _OF_ALL_LETTERS else None


# --- labels ---------------------------------------------------------------------------------------


def _no_label(
    decided: ServiceCondition, vocabulary: Vocabulary, nearest: Callable[[str], tuple[str, ...]]
) -> Iterator[Dead]:
    goal, test = decided.goal, decided.goal.test
    if test is None or test.operator not in {"==", "in", "holds"}:
        return
    changes = {_changes(flow) for flow in decided.flows}
    if None in changes:
        return
    read = [change for change in changes if change is not None]
    is_part = test.operator == "holds" and not all(one.is_listed for one in read)
    told = 0
    for literal in test.literals:
        known = (one.changed(label) for one in read for label in vocabulary.labels)
        if not isinstance(literal, str) or _can_be(literal, known, is_part=is_part):
            continue
        told += 1
        if told > _MAX_TOLD:  # of a list of other things, such as all words of a language
            return
        reason = f"{literal!r} is no label of the service, as it is read here"
        if len(test.literals) == 1:
            reason = f"never: {reason}"
        proposals = tuple(min(read).changed(label) for label in nearest(literal))
        yield _dead(
            goal, DeadConditionCause.NO_LABEL, reason, tuple(dict.fromkeys(proposals)), literal
        )


def _can_be(literal: str, labels: Iterable[str], *, is_part: bool) -> bool:
    """Return whether an answer can be as compared: equal, or with the literal as a part."""
    if is_part:
        return any(literal in label for label in labels)
    return literal in labels


@dataclass(frozen=True, slots=True, order=True)
class _Read:
    """How an application reads a label before it compares it."""

    steps: tuple[str, ...]
    is_listed: bool
    """Whether it is compared with the members of a list, and not with a text."""

    def changed(self, label: str) -> str:
        for step in self.steps:
            label = _CASES[step](label)
        return label


def _changes(flow: ValueFlow) -> _Read | None:
    """Return what is done to each label before it is compared; None if that is not understood."""
    if (
        not isinstance(flow.source, Answer)
        or flow.source.operation.task is not RecognitionTask.LABELS
    ):
        return None
    key = (flow.source.operation.fields or {}).get(Field.KEY, "")
    at = next((at for at, step in enumerate(flow.steps) if step in spellings(key)), None)
    if at is None:
        return None
    if not _is_way(flow.steps[:at], flow.source.operation.records):
        return None
    return _of_one_label(flow.steps[at + 1 :])


def _of_one_label(steps: Sequence[str]) -> _Read | None:
    """Return what is done to a label, in lists or not, until it is compared; None if not clear."""
    depth, found = 0, []
    for step in steps[:-1]:
        if step == _LISTED:
            depth += 1
        elif depth and (step == _EACH or is_place(step)):
            depth -= 1
        elif not (depth and step in _SAME):  # else it would be of its letters
            if step not in _CASES or depth:
                return None
            found.append(step)
    return None if depth and steps[-1].startswith("==") else _Read(tuple(found), depth == 1)


def _is_way(steps: Iterable[str], records: str) -> bool:
    """Return whether steps lead from an answer to one of its records, and do nothing else."""
    parts = {spelled for part in records.split(".") for spelled in spellings(part)}
    return all(step in parts or step == _EACH or is_place(step) for step in steps)


def spellings(field: str) -> tuple[str, ...]:
    """Return the steps that lead to a field: of an object, or of a dictionary."""
    return f".{field}", f"['{field}']", f".get('{field}')"


def is_place(step: str) -> bool:
    """Return whether a step takes one out of a list."""
    return step.startswith("[") and step.endswith("]") and step[1:-1].isdecimal()


# --- scores ---------------------------------------------------------------------------------------


def _out_of_range(decided: ServiceCondition) -> Iterator[Dead]:
    goal, test = decided.goal, decided.goal.test
    ranges = {range_of(flow) for flow in decided.flows}
    between = ranges.pop() if len(ranges) == 1 else None
    if test is None or len(test.literals) != 1 or between is None:
        return
    literal = test.literals[0]
    least, most = between
    if isinstance(literal, str | bool):
        return
    verdict = _verdict(test.operator, literal, least, most)
    if verdict:
        reason = f"{verdict}: the service answers from {least:g} to {most:g}"
        is_percentage = (least, most) == (0, 1) and 1 < literal <= _PERCENT
        meant = literal / _PERCENT if is_percentage else literal
        proposals = (f"{meant:g}",) if not _verdict(test.operator, meant, least, most) else ()
        yield _dead(goal, DeadConditionCause.OUT_OF_RANGE, reason, proposals, literal)


def range_of(flow: ValueFlow) -> tuple[float, float] | None:
    """Return what a score is between that is compared as it is; None for anything else.

    Args:
        flow: from an answer to a sub-condition.
    """
    if not isinstance(flow.source, Answer):
        return None
    operation = flow.source.operation
    before, _, field = (operation.fields or {}).get(Field.SCORE, "").rpartition(".")
    is_score = bool(field) and flow.steps[-2:-1] in {(one,) for one in spellings(field)}
    way = ".".join(filter(None, (operation.records, before)))
    return operation.between if is_score and _is_way(flow.steps[:-2], way) else None


def _verdict(operator: str, literal: float, least: float, most: float) -> str:
    """Return `always` or `never` of a comparison with a number; nothing where it depends."""
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
