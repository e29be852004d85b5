"""Sub-conditions that are the same whatever a service answers (Keeper, section 4.1.2).

Only where the way from the answer is understood whole: what is done to it besides, nobody judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.applications.finding.values import Answer
from ciguard.applications.providers.description import Field, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ciguard.applications.finding.conditions import Branch, LiteralTest
    from ciguard.applications.finding.findings import Decided, Found
    from ciguard.applications.finding.values import Flow
    from ciguard.applications.judging.vocabulary import Vocabulary

_CASES: Mapping[str, Callable[[str], str]] = {
    ".lower()": str.lower, ".upper()": str.upper, ".title()": str.title, ".strip()": str.strip,
    ".capitalize()": str.capitalize, ".casefold()": str.casefold,
}  # fmt: skip
_EACH, _LISTED = "each", "in a list"
_SAME = frozenset({"list()", "set()", "sorted()", "tuple()"})
"""Steps after which a list holds the same labels still."""


@dataclass(frozen=True, slots=True)
class Dead:
    """A sub-condition that is always the same, and why."""

    branch: Branch
    text: str
    """Of the sub-condition."""
    reason: str
    proposals: tuple[str, ...] = ()
    """What may be meant instead."""


def dead_conditions(found: Found, vocabulary: Vocabulary | None) -> Iterator[Dead]:
    """Yield what is always the same among the conditions of a function and what it calls.

    Args:
        found: of the function.
        vocabulary: labels that services can answer; without one, labels are not judged.
    """
    for branch, goals in found.branches().items():
        for text in branch.constant:
            yield Dead(branch, text, _CONSTANT, _compared(text, goals))
        for decided in goals:
            yield from _out_of_range(decided)
            if vocabulary is not None:
                yield from _no_label(decided, vocabulary)


_CONSTANT = "always the same: it is compared with nothing"


def _compared(text: str, goals: list[Decided]) -> tuple[str, ...]:
    """Return the comparison that a text stands for in `name == "dog" or "animal"`."""
    tests = [one.goal for one in goals if one.goal.test and one.goal.test.operator == "=="]
    left = tests[0].text.rpartition(" == ")[0] if len(tests) == 1 else ""
    return (f"{left} == {text}",) if left else ()


# --- labels ---------------------------------------------------------------------------------------


def _no_label(decided: Decided, vocabulary: Vocabulary) -> Iterator[Dead]:
    goal, test = decided.goal, decided.goal.test
    if test is None or test.operator not in {"==", "in", "holds"}:
        return
    changes = {_changes(flow) for flow in decided.flows}
    if None in changes:
        return
    read = [change for change in changes if change is not None]
    for literal in test.literals:
        known = (_changed(label, change) for change in read for label in vocabulary.labels)
        if not isinstance(literal, str) or _can_be(literal, test, known):
            continue
        nearest = vocabulary.nearest(literal)
        reason = f"{literal!r} is no label of the service, as it is read here"
        if len(test.literals) == 1:
            reason = f"never: {reason}"
        proposals = tuple(_changed(label, min(read)) for label in nearest)
        yield Dead(goal.branch, goal.text, reason, proposals)


def _can_be(literal: str, test: LiteralTest, labels: Iterable[str]) -> bool:
    """Tell whether an answer can be as compared; what a text is looked for in may be one label."""
    if test.operator == "holds":
        return any(literal in label for label in labels)
    return literal in labels


def _changed(label: str, steps: tuple[str, ...]) -> str:
    for step in steps:
        label = _CASES[step](label)
    return label


def _changes(flow: Flow) -> tuple[str, ...] | None:
    """Return what is done to each label before it is compared; None if that is not understood."""
    if not isinstance(flow.source, Answer) or flow.source.operation.task is not Task.LABELS:
        return None
    key = (flow.source.operation.fields or {}).get(Field.KEY, "")
    at = next((at for at, step in enumerate(flow.steps) if step in _spellings(key)), None)
    if at is None:
        return None
    if not _is_way(flow.steps[:at], flow.source.operation.records):
        return None
    return _of_one_label(flow.steps[at + 1 :])


def _of_one_label(steps: Sequence[str]) -> tuple[str, ...] | None:
    """Return what is done to a label, in lists or not, until it is compared; None if not clear."""
    depth, found = 0, []
    for step in steps[:-1]:
        if step == _LISTED:
            depth += 1
        elif depth and (step == _EACH or _is_place(step)):
            depth -= 1
        elif not (depth and step in _SAME):  # else it would be of its letters
            if step not in _CASES or depth:
                return None
            found.append(step)
    return None if depth and steps[-1].startswith("==") else tuple(found)


def _is_way(steps: Iterable[str], records: str) -> bool:
    """Tell whether steps lead from an answer to one of its records, and do nothing else."""
    parts = {spelled for part in records.split(".") for spelled in _spellings(part)}
    return all(step in parts or step == _EACH or _is_place(step) for step in steps)


def _spellings(field: str) -> tuple[str, str]:
    return f".{field}", f"['{field}']"


def _is_place(step: str) -> bool:
    return step.startswith("[") and step.endswith("]") and step[1:-1].isdecimal()


# --- scores ---------------------------------------------------------------------------------------


def _out_of_range(decided: Decided) -> Iterator[Dead]:
    goal, test = decided.goal, decided.goal.test
    ranges = {_range(flow) for flow in decided.flows}
    between = ranges.pop() if len(ranges) == 1 else None
    if test is None or len(test.literals) != 1 or between is None:
        return
    literal = test.literals[0]
    verdict = "" if isinstance(literal, str | bool) else _verdict(test.operator, literal, *between)
    if verdict:
        least, most = between
        reason = f"{verdict}: the service answers from {least:g} to {most:g}"
        yield Dead(goal.branch, goal.text, reason)


def _range(flow: Flow) -> tuple[float, float] | None:
    """Return what a score is between that is compared as it is; None for anything else."""
    if not isinstance(flow.source, Answer):
        return None
    operation = flow.source.operation
    before, _, field = (operation.fields or {}).get(Field.SCORE, "").rpartition(".")
    is_score = bool(field) and flow.steps[-2:-1] in {(one,) for one in _spellings(field)}
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
