"""Aims: the inputs that should make a sub-condition true, by what people recognise in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.accuracy.polarity import sentiment_path
from ciguard.levels.app.dead_conditions.readings import spellings
from ciguard.levels.app.input_synthesis.inputs import InputSpec, Sentiment
from ciguard.levels.app.providers.description import TASKS_WITHOUT_INPUTS, Field, RecognitionTask
from ciguard.levels.app.providers.registered import messages_of
from ciguard.levels.app.static_analysis.values import DECIDES, Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.levels.app.exploration.explore import ExploredFunction
    from ciguard.levels.app.exploration.stub_response import StubResponse
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.static_analysis.findings import ServiceCondition

_MATCHING_OPERATORS = frozenset({"==", "in", "holds"})
"""Operators that are true if a text is found; all others are true if it is not."""
_SEPARATORS = {RecognitionTask.TEXT: "\n", RecognitionTask.SPEECH: " "}
"""Task whose results are parts of one text → separator of the parts."""
_NEEDS_IMAGES = TASKS_WITHOUT_INPUTS | {RecognitionTask.LABELS, RecognitionTask.OBJECTS}
"""Tasks whose inputs need existing images, from the user or a search engine."""
_FIELD_STEP = re.compile(r"\.\w+|\['\w+'\]|\.get\('\w+'\)")
"""Step that reads a field of an object or a dictionary."""


@dataclass(frozen=True, slots=True)
class Aim:
    """A sub-condition, and the inputs that should make it true."""

    goal: Goal
    operation: Operation
    """Operation that gets the inputs."""
    wanted: tuple[InputSpec, ...]
    """Specifications of the inputs; several inputs are synthesised for each."""
    steps: tuple[str, ...] = ()
    """Steps from the answer to the comparison."""

    @property
    def is_lower_case(self) -> bool:
        """True if labels are converted to lower case before the comparison."""
        return ".lower()" in self.steps

    @property
    def is_sentiment(self) -> bool:
        """True for sentiment, which is judged by positive and negative inputs together."""
        return self.operation.task is RecognitionTask.SENTIMENT


def aims_of(explored: ExploredFunction) -> Iterator[Aim]:
    """Yield an aim for each sub-condition of a function for which inputs can be synthesised.

    A plain stub response must have made the sub-condition true, so that the application's own code
    is known to accept it. Random responses do not count, as perhaps no real input leads to them;
    but any sentiment may be real.

    Args:
        explored: the result of the function's exploration.
    """
    for condition in explored.function.goals:
        answers = explored.answers_by_outcome.get(condition.goal, {}).get(True)
        if answers is None or any(map(_may_be_impossible, answers)):
            continue
        if compares_chosen_value(condition):
            continue
        for response in answers:
            if response.operation.task in TASKS_WITHOUT_INPUTS:
                continue
            if response.operation.task is RecognitionTask.SENTIMENT and not all(
                map(sentiment_path, condition.flows)
            ):
                continue  # the meaning of a value computed from the score is unknown
            steps = _steps_from_answer(condition, response.operation)
            if not compares_names(condition, response.operation):
                continue
            specs = tuple(_input_specs(condition, response)) if steps is not None else ()
            if specs and steps is not None:
                yield Aim(condition.goal, response.operation, specs, steps)
                break


def compares_chosen_value(condition: ServiceCondition) -> bool:
    """Return whether a sub-condition compares a literal that another branch has chosen."""
    return any(DECIDES in flow.steps for flow in condition.flows)


def _may_be_impossible(response: StubResponse) -> bool:
    """Return whether perhaps no input leads to a stub response."""
    return response.is_random and response.operation.task is not RecognitionTask.SENTIMENT


def specs_of_outcomes(explored: ExploredFunction) -> tuple[InputSpec, ...]:
    """Return specifications of inputs that may lead to the outcomes of stub responses.

    Examples are a text with a number and an entity of a type. Random responses count only for text
    and speech, as any text can be written or spoken.

    Args:
        explored: the result of the function's exploration.
    """
    responses = (
        response
        for outcomes in explored.answers_by_outcome.values()
        for answers in outcomes.values()
        for response in answers
        if not response.is_refusal
        and (not response.is_random or response.operation.task in _SEPARATORS)
    )
    return tuple(
        dict.fromkeys(spec for response in responses for spec in _specs_of_response(response))
    )


def _specs_of_response(response: StubResponse) -> Iterator[InputSpec]:
    """Yield specifications of inputs that may lead to a stub response; none for several results."""
    task, keys = response.operation.task, response.keys
    if task is RecognitionTask.SENTIMENT:
        yield from (InputSpec(task, feeling=feeling) for feeling in Sentiment)
    elif response.kind:
        yield InputSpec(task, kind=response.kind)
    elif _are_kinds(keys, response.operation):
        return
    elif keys and task in _SEPARATORS:
        yield InputSpec(task, _SEPARATORS[task].join(keys))
    elif task not in _NEEDS_IMAGES and len(keys) == 1:
        yield from (InputSpec(task, key) for key in keys if key)


def compares_names(condition: ServiceCondition, operation: Operation) -> bool:
    """Return whether a sub-condition may compare texts with names or types of results.

    True for text recognition, as answers contain the recognised text in many fields.
    """
    fields = operation.fields or {}
    if (
        Field.KEY not in fields
        or operation.task is RecognitionTask.TEXT
        or not condition.goal.texts
    ):
        return True
    paths = [
        operation.records,
        *(fields[field] for field in (Field.KEY, Field.KIND) if field in fields),
    ]
    known_steps = {step for path in paths for name in path.split(".") for step in spellings(name)}
    return bool(_last_fields(condition, operation) & {"", *known_steps})


def _are_kinds(texts: Iterable[str], operation: Operation) -> bool:
    """Return whether all texts name types of entities: no text is about a name `PERSON`."""
    if operation.task is not RecognitionTask.ENTITIES:
        return False
    named = [text for text in texts if text]
    return bool(named) and all(_kind_named(text, operation) for text in named)


def _kind_named(text: str, operation: Operation) -> str:
    """Return the type of entities that a text names in any case; empty if it names none."""
    kinds = {name.casefold(): kind for name, kind in messages_of(operation).KINDS.items()}
    return kinds.get(text.casefold(), "")


def _compares_kinds(condition: ServiceCondition, operation: Operation) -> bool:
    """Return whether a sub-condition compares types of results."""
    kind = (operation.fields or {}).get(Field.KIND, "").rpartition(".")[2]
    if kind and _are_kinds(condition.goal.texts, operation):
        return True
    return bool(kind) and _last_fields(condition, operation) <= set(spellings(kind))


def _last_fields(condition: ServiceCondition, operation: Operation) -> set[str]:
    """Return the last field that each flow reads; an empty text for a flow without a field."""
    paths = (
        [step for step in flow.steps if _FIELD_STEP.fullmatch(step)]
        for flow in condition.flows
        if isinstance(flow.source, Answer) and flow.source.operation == operation
    )
    return {path[-1] if path else "" for path in paths}


def _steps_from_answer(condition: ServiceCondition, operation: Operation) -> tuple[str, ...] | None:
    """Return the steps from an operation's answer to a sub-condition; None if there is no flow."""
    for answer, steps in condition.answers:
        if answer.operation == operation:
            return steps
    return None


def _input_specs(condition: ServiceCondition, response: StubResponse) -> Iterator[InputSpec]:
    goal, operation, task = condition.goal, response.operation, response.operation.task
    if task is RecognitionTask.SENTIMENT:
        names_one_sentiment = (
            Field.KEY in (operation.fields or {}) and len(_named_sentiments(goal.texts)) == 1
        )
        if goal.test is None or not goal.texts or names_one_sentiment:
            yield from (InputSpec(task, feeling=feeling) for feeling in Sentiment)
        return
    if _compares_kinds(condition, operation):
        if goal.test is None or goal.test.operator in _MATCHING_OPERATORS:
            kinds = [_kind_named(text, operation) for text in goal.texts]
            kinds = kinds if goal.texts else [response.kind]
            yield from (InputSpec(task, kind=kind) for kind in dict.fromkeys(kinds) if kind)
    elif response.kind:
        yield InputSpec(task, kind=response.kind)
    elif task is RecognitionTask.FACES:
        yield from (InputSpec(task, key) for key in response.keys if key)
    elif Field.KEY in (operation.fields or {}) and goal.texts:
        if goal.test is None:  # as in `name.startswith("x")`: use the answers that made it true
            lowered = [text.lower() for text in goal.texts]
            keys = (key for key in response.keys if any(text in key.lower() for text in lowered))
            yield from (InputSpec(task, key) for key in keys)
        elif goal.test.operator in _MATCHING_OPERATORS:
            yield from (InputSpec(task, text) for text in goal.texts if text.strip())


def _named_sentiments(texts: tuple[str, ...]) -> set[str]:
    """Return the sentiments, positive or negative, that texts name."""
    return {text.lower() for text in texts} & {Sentiment.POSITIVE, Sentiment.NEGATIVE}
