"""What people should see, hear or read in an input that makes a sub-condition true."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.dead_conditions.dead_code import is_place, spellings
from ciguard.levels.app.input_synthesis.inputs import Feeling, InputSpec
from ciguard.levels.app.providers.description import NOT_MADE, Field, RecognitionTask
from ciguard.levels.app.providers.registered import messages_of
from ciguard.levels.app.static_analysis.values import EACH, Answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.levels.app.exploration.answers import StubResponse
    from ciguard.levels.app.exploration.explore import ExploredFunction
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.static_analysis.findings import ServiceCondition
    from ciguard.levels.app.static_analysis.values import ValueFlow

_SOUGHT = frozenset({"==", "in", "holds"})
"""Operators with which a text is looked for; others hold for what is not said."""
_SAID = {RecognitionTask.TEXT: "\n", RecognitionTask.SPEECH: " "}
"""Tasks whose results are parts of one text, and what is between them."""
_LOOKED_FOR = NOT_MADE | {RecognitionTask.LABELS, RecognitionTask.OBJECTS}
"""Tasks whose images somebody has to have; or a search engine, which is asked for no others."""
_IS_FIELD = re.compile(r"\.\w+|\['\w+'\]|\.get\('\w+'\)")
"""Steps to a field of an object or a dictionary."""


@dataclass(frozen=True, slots=True)
class Aim:
    """A sub-condition, and what should make it true."""

    goal: Goal
    operation: Operation
    """That is asked about the inputs."""
    wanted: tuple[InputSpec, ...]
    """Of each, several inputs are made."""
    steps: tuple[str, ...] = ()
    """What is done to the answer until it is compared."""

    @property
    def is_lowered(self) -> bool:
        """Whether what is recognised is compared in small letters."""
        return ".lower()" in self.steps

    @property
    def is_felt(self) -> bool:
        """Whether it is about sentiment, which is judged by its two-sided rule."""
        return self.operation.task is RecognitionTask.SENTIMENT


def aims_of(explored: ExploredFunction) -> Iterator[Aim]:
    """Yield the sub-conditions of a function that inputs can be made for.

    These are the ones that some plain answer has turned true: then what makes them true is known
    to go through the application's own code. What people would recognise as an answer that was
    solved for, nobody knows.

    Args:
        explored: what came of the function when it was called with made answers.
    """
    for decided in explored.found.goals:
        answers = explored.met.get(decided.goal, {}).get(True)
        if answers is None or any(one.is_searched for one in answers):
            continue
        for answered in answers:
            if answered.operation.task in NOT_MADE:
                continue
            if answered.operation.task is RecognitionTask.SENTIMENT and not all(
                map(_is_felt, decided.flows)
            ):
                continue  # of what is made of a score, nobody knows what it is to tell
            steps = _steps(decided, answered.operation)
            if not _is_named(decided, answered.operation):
                continue
            wanted = tuple(_wanted(decided, answered)) if steps is not None else ()
            if wanted and steps is not None:
                yield Aim(decided.goal, answered.operation, wanted, steps)
                break


def brought_about(explored: ExploredFunction) -> tuple[InputSpec, ...]:
    """Return what may be recognised in inputs with which outcomes come about, whatever is meant.

    As made answers have brought them about: a text with a number, an entity of a kind. Any text
    can be written or said; what else a service was solved to say may be what none says.

    Args:
        explored: what came of the function when it was called with made answers.
    """
    every = (
        answered
        for outcomes in explored.met.values()
        for answers in outcomes.values()
        for answered in answers
        if not answered.is_refusal
        and (not answered.is_searched or answered.operation.task in _SAID)
    )
    return tuple(dict.fromkeys(one for each in every for one in _recognised(each)))


def _recognised(answered: StubResponse) -> Iterator[InputSpec]:
    """Yield what people should recognise where a service says that, if it is one thing."""
    task, keys = answered.operation.task, answered.keys
    if task is RecognitionTask.SENTIMENT:
        yield from (InputSpec(task, feeling=one) for one in Feeling)
    elif answered.kind:
        yield InputSpec(task, kind=answered.kind)
    elif keys and task in _SAID:
        yield InputSpec(task, _SAID[task].join(keys))
    elif task not in _LOOKED_FOR and len(keys) == 1:
        yield from (InputSpec(task, key) for key in keys if key)


def _is_named(decided: ServiceCondition, operation: Operation) -> bool:
    """Return whether texts may be compared with names or kinds of results, and no other field.

    What is read in an image is told in many places.
    """
    fields = operation.fields or {}
    if Field.KEY not in fields or operation.task is RecognitionTask.TEXT or not decided.goal.texts:
        return True
    paths = [operation.records, *(fields[one] for one in (Field.KEY, Field.KIND) if one in fields)]
    known = {way for path in paths for name in path.split(".") for way in spellings(name)}
    return bool(_last_fields(decided, operation) & {"", *known})


def _are_kinds(decided: ServiceCondition, operation: Operation) -> bool:
    """Return whether it is kinds of results that are compared."""
    kind = (operation.fields or {}).get(Field.KIND, "").rpartition(".")[2]
    return bool(kind) and _last_fields(decided, operation) <= set(spellings(kind))


def _last_fields(decided: ServiceCondition, operation: Operation) -> set[str]:
    """Return the steps to the last field on each way; empty where there is none."""
    ways = (
        [step for step in flow.steps if _IS_FIELD.fullmatch(step)]
        for flow in decided.flows
        if isinstance(flow.source, Answer) and flow.source.operation == operation
    )
    return {way[-1] if way else "" for way in ways}


def _is_felt(flow: ValueFlow) -> bool:
    """Return whether a feeling, its score or magnitude is compared as it is."""
    if not isinstance(flow.source, Answer):
        return False
    operation = flow.source.operation
    steps = [one for one in flow.steps[:-1] if one != EACH and not is_place(one)]
    fields = operation.fields or {}
    ways = (fields[one] for one in (Field.KEY, Field.SCORE, Field.MAGNITUDE) if one in fields)
    return any(_leads_to(steps, f"{operation.records}.{way}".strip(".")) for way in ways)


def _leads_to(steps: Sequence[str], way: str) -> bool:
    parts = way.split(".")
    return len(steps) == len(parts) and all(
        step in spellings(part) for step, part in zip(steps, parts, strict=True)
    )


def _steps(decided: ServiceCondition, operation: Operation) -> tuple[str, ...] | None:
    """Return what is done to an operation's answer until it decides; None if it does not."""
    for answer, steps in decided.answers:
        if answer.operation == operation:
            return steps
    return None


def _wanted(decided: ServiceCondition, answered: StubResponse) -> Iterator[InputSpec]:
    goal, operation, task = decided.goal, answered.operation, answered.operation.task
    if task is RecognitionTask.SENTIMENT:
        is_named = Field.KEY in (operation.fields or {}) and len(_named(goal.texts)) == 1
        if goal.test is None or not goal.texts or is_named:
            yield from (InputSpec(task, feeling=one) for one in Feeling)
        return
    if _are_kinds(decided, operation):
        if goal.test is None or goal.test.operator in _SOUGHT:
            kinds = [messages_of(operation).KINDS.get(text, "") for text in goal.texts]
            kinds = kinds if goal.texts else [answered.kind]
            yield from (InputSpec(task, kind=one) for one in dict.fromkeys(kinds) if one)
    elif answered.kind:
        yield InputSpec(task, kind=answered.kind)
    elif task is RecognitionTask.FACES:
        yield from (InputSpec(task, key) for key in answered.keys if key)
    elif Field.KEY in (operation.fields or {}) and goal.texts:
        if goal.test is None:  # `name.startswith("x")`: what has turned it, whatever that is
            like = [one.lower() for one in goal.texts]
            found = (key for key in answered.keys if any(one in key.lower() for one in like))
            yield from (InputSpec(task, key) for key in found)
        elif goal.test.operator in _SOUGHT:
            yield from (InputSpec(task, text) for text in goal.texts if text.strip())


def _named(texts: tuple[str, ...]) -> set[str]:
    """Return which of the two feelings texts name: only one of them tells texts apart."""
    return {text.lower() for text in texts} & {Feeling.POSITIVE, Feeling.NEGATIVE}
