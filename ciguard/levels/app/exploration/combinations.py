"""Combinations of stub responses to all operations that a function calls."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ciguard.levels.app.exploration.answers import agree, answers_to
from ciguard.levels.app.exploration.arguments import CannotCallError
from ciguard.levels.app.providers.description import Field, RecognitionTask
from ciguard.levels.app.providers.registered import has_answer_writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.levels.app.exploration.failures import Answers
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.findings import ServiceCondition


def agreeing_operations(operations: Iterable[Operation]) -> list[list[Operation]]:
    """Return operations, those together that find the same results in a text."""
    groups: list[list[Operation]] = []
    for operation in operations:
        group = next((one for one in groups if agree(one[0], operation)), None)
        if group is None:
            groups.append([operation])
        else:
            group.append(operation)
    return groups


def check_stub_responses(operations: Iterable[Operation]) -> None:
    """Raise `CannotCallError` if ciguard cannot write responses of an operation."""
    for operation in operations:
        has_keys = Field.KEY in (operation.fields or {})
        is_fixed = operation.task in {RecognitionTask.SENTIMENT, RecognitionTask.SAFETY}
        has_records = bool(operation.records) and operation.task is not RecognitionTask.OTHER
        if not has_answer_writer(operation) or not (has_keys or has_records or is_fixed):
            msg = f"ciguard has no stub responses for {operation.title}"
            raise CannotCallError(msg)


def combinations_of(
    operations: Iterable[Operation],
    goals: Sequence[ServiceCondition],
    module_texts: Sequence[str],
) -> Iterator[Answers]:
    """Yield responses of all operations: varied together, then some operations at a time.

    Args:
        operations: the operations.
        goals: the goals of the function.
        module_texts: the texts of its module; see `answers_to`.
    """
    options = [
        list(
            zip(*(answers_to(operation, goals, module_texts) for operation in group), strict=False)
        )
        for group in agreeing_operations(operations)
    ]
    for index in range(max(map(len, options))):
        yield _joined(answers[min(index, len(answers) - 1)] for answers in options)
    if len(options) == 1:
        return
    # Of the operations that are not varied, the second answer is taken: a plain result.
    plain = [answers[min(1, len(answers) - 1)] for answers in options]
    for varied_index, answers in enumerate(options):
        for answer in answers:
            yield _joined((*plain[:varied_index], answer, *plain[varied_index + 1 :]))


def _joined(groups: Iterable[Answers]) -> Answers:
    return tuple(itertools.chain.from_iterable(groups))
