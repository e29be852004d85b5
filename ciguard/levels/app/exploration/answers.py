"""Stub responses that may change a condition, enumerated from the literals that it uses."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.levels.app.exploration.stub_response import StubResponse
from ciguard.levels.app.providers.description import Field, RecognitionTask
from ciguard.levels.app.providers.recognised import (
    LIKELIHOODS,
    BoundingBox,
    Entity,
    Face,
    Word,
)
from ciguard.levels.app.providers.registered import (
    face_messages_of,
    messages_of,
    safety_messages_of,
    speech_messages_of,
)
from ciguard.levels.app.static_analysis.conditions import comparison_of_step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Scored
    from ciguard.levels.app.static_analysis.conditions import LiteralTest
    from ciguard.levels.app.static_analysis.findings import ServiceCondition

_COMMON_RESULTS = {
    RecognitionTask.LABELS: "Sky",
    RecognitionTask.OBJECTS: "Person",
    RecognitionTask.TEXT: "Hello",
    RecognitionTask.CATEGORIES: "News",
    RecognitionTask.ENTITIES: "London",
    RecognitionTask.SPEECH: "hello",
    RecognitionTask.PHRASES: "the weather",
    RecognitionTask.LANGUAGE: "en",
    RecognitionTask.WEB: "Sky",
    RecognitionTask.COLORS: "#808080",
    RecognitionTask.CROPS: "crop",
}
"""Task → a common result, which conditions rarely compare with."""
_TEXT_TASKS = frozenset({RecognitionTask.TEXT, RecognitionTask.SPEECH})
_MANY_RESULTS = 12
_HIGH_SCORE, _LOW_SCORE = 0.95, 0.3
_SCORE_STEP = 0.05
"""Distance of scores from a number in a condition, as a share of the maximum score."""
_SIZE = (32, 32)
_BOX = BoundingBox(2, 2, 18, 18)
_AGES = range(1, 100)
_PALETTE = (
    "#000000", "#ffffff", "#ff0000", "#00ff00", "#0000ff", "#ffff00", "#00ffff", "#ff00ff",
)  # fmt: skip
_CHANNEL_VALUES = range(256)
"""Values of the red, green and blue of a colour."""


def agree(operation: Operation, other: Operation) -> bool:
    """Return whether two operations find the same results in one text.

    An application may look up the entities of one operation among those of the other. Operations
    on images may differ: one may read a text that the other does not find.
    """
    are_entities = operation.task is other.task is RecognitionTask.ENTITIES
    return operation == other or (are_entities and operation.provider == other.provider)


def refusals_of(operation: Operation) -> tuple[StubResponse, ...]:
    """Return a stub response for each way in which the service may refuse a request."""
    plain_content = answers_to(operation, ())[1].content
    return tuple(
        StubResponse(
            operation,
            refusal.message,
            plain_content,
            error=refusal.code,
            depends_on_content=refusal.depends_on_content,
            text=refusal.text,
        )
        for refusal in messages_of(operation).refusals(operation)
    )


def answers_to(
    operation: Operation, goals: Sequence[ServiceCondition], module_texts: Sequence[str] = ()
) -> tuple[StubResponse, ...]:
    """Return stub responses that may make goals true or false, the plainest first.

    Args:
        operation: the operation that answers.
        goals: the goals; goals that depend only on operations with other results are ignored.
        module_texts: further texts of the module, which conditions may compare with by variables.
    """
    own_goals = [
        condition
        for condition in goals
        if any(agree(answer.operation, operation) for answer, _ in condition.answers)
    ]
    tests = [test for condition in own_goals for test in _tests(condition)]
    literals = [literal for test in tests for literal in test.literals]
    goal_texts = (text for condition in own_goals for text in condition.goal.texts if text)
    texts = list(dict.fromkeys((*goal_texts, *module_texts)))
    numbers = [float(literal) for literal in literals if not isinstance(literal, str | bool)]
    messages = messages_of(operation)
    if operation.task is RecognitionTask.SENTIMENT:
        sentiments = messages.sentiments_around(numbers)
        return tuple(StubResponse(operation, title, content) for title, content in sentiments)
    if operation.task is RecognitionTask.FACES:
        return tuple(_faces(operation, numbers))
    if operation.task is RecognitionTask.SAFETY:
        return tuple(_judgements_of_safety(operation, numbers))
    if operation.task is RecognitionTask.MODERATION:
        return tuple(_moderations(operation, numbers))
    if operation.task is RecognitionTask.COLORS:
        texts = colors_near(numbers)
    if operation.task is RecognitionTask.CROPS:
        texts = []
    if operation.returns_job_result:
        empty, plain, *others = _named_responses(operation, texts, numbers)
        still_running = replace(
            plain, title="still running at the first request", is_still_running=True
        )
        return (empty, plain, still_running, *others)
    kinds = messages.KINDS if operation.task is RecognitionTask.ENTITIES else ()
    entities = (
        _entity_response(operation, kind, score)
        for score in (_HIGH_SCORE, _LOW_SCORE)
        for kind in kinds
    )
    partial = _partial_responses(operation) if operation.task is RecognitionTask.WEB else ()
    judged = _judgements_of_safety(operation, numbers) if operation.judges_safety else ()
    return (*_named_responses(operation, texts, numbers), *entities, *partial, *judged)


def colors_near(numbers: Sequence[float]) -> list[str]:
    """Return codes of plain colours, and of shades of grey with channels near each number."""
    near = (int(number) + step for number in numbers for step in (-1, 0, 1))
    shades = (f"#{3 * bytes([value]).hex()}" for value in near if value in _CHANNEL_VALUES)
    return [*_PALETTE, *dict.fromkeys(shades)]


def _tests(condition: ServiceCondition) -> list[LiteralTest]:
    """Return the comparisons of a sub-condition: its own, or those in a function that it calls."""
    if condition.goal.test is not None:
        return [condition.goal.test]
    inner = (comparison_of_step(flow.steps[-1]) for flow in condition.flows if flow.steps)
    return [test for test in inner if test is not None]


def content_of(operation: Operation, scored: Scored, kinds: Sequence[str] = ()) -> Json:
    """Return named results in the service's message format.

    Args:
        operation: the operation that answers.
        scored: the name of each result and its score, 0 to 1.
        kinds: the type of each entity in the service's terms; if empty, all are locations.
    """
    messages = messages_of(operation)
    writers: dict[RecognitionTask, Callable[[], Json]] = {
        RecognitionTask.LABELS: lambda: messages.label_answer(scored),
        RecognitionTask.OBJECTS: lambda: messages.object_answer(
            scored, [_BOX.of(_SIZE)] * len(scored)
        ),
        RecognitionTask.CATEGORIES: lambda: messages.category_answer(scored),
        RecognitionTask.ENTITIES: lambda: messages.entity_answer([
            Entity(text, kind, score, 0)
            for (text, score), kind in zip(scored, kinds or ["LOCATION"] * len(scored), strict=True)
        ]),
        RecognitionTask.TEXT: lambda: messages.text_answer(
            [[Word(text, _BOX, score)] for text, score in scored], _SIZE
        ),
        RecognitionTask.SPEECH: lambda: speech_messages_of(operation).speech_answer(scored),
    }  # fmt: skip
    if operation.task not in writers:
        return messages.listed_answer(operation, scored)
    return writers[operation.task]()


def common_result_of(operation: Operation) -> str:
    """Return a common result of an operation, which conditions rarely compare with."""
    return _COMMON_RESULTS.get(operation.task, "Thing")


def max_score_of(operation: Operation) -> float:
    """Return the maximum score of an operation."""
    return operation.between[1] if operation.between else 1.0


def max_relative_score(operation: Operation) -> float:
    """Return the maximum of scores as shares of `max_score_of`; infinite if there is none."""
    return math.inf if operation.task is RecognitionTask.WEB else 1.0


def response_judging_safety(
    operation: Operation, judged: Mapping[str, str | float], title: str = ""
) -> StubResponse:
    """Return a stub response that judges how likely the content of an image is unsafe.

    Args:
        operation: the operation that answers.
        judged: likelihood, or score from 0 to 1, of each kind of unsafe content; others are very
            unlikely.
        title: title of the response; if empty, what it judges.
    """
    shown = ", ".join(
        f"{name} {value if isinstance(value, str) else f'{value:g}'}"
        for name, value in judged.items()
    )
    plain = content_of(operation, [(common_result_of(operation), _HIGH_SCORE)])
    content = {**plain, **safety_messages_of(operation).safety_answer(judged)}
    return StubResponse(operation, title or shown or "nothing unsafe", content)


def _judgements_of_safety(operation: Operation, numbers: Sequence[float]) -> Iterator[StubResponse]:
    """Yield responses in which all kinds of content, or one kind, have each likelihood or score."""
    messages = safety_messages_of(operation)
    properties = messages.UNSAFE_PROPERTIES
    yield response_judging_safety(operation, {})
    values: list[str | float] = [*LIKELIHOODS[:0:-1], LIKELIHOODS[0]]
    if messages.ARE_JUDGEMENTS_SCORED:
        near = {
            score + step
            for score in _relative_scores(operation, numbers)
            for step in (-_SCORE_STEP, 0.0, _SCORE_STEP)
        }
        values = [_HIGH_SCORE, *sorted(score for score in near if 0 <= score <= 1)]
    for value in values:
        shown = value if isinstance(value, str) else f"{value:g}"
        yield response_judging_safety(
            operation, dict.fromkeys(properties, value), f"all kinds {shown}"
        )
    for value in values:
        for name in properties:
            yield response_judging_safety(operation, {name: value})


def moderated_topics(operation: Operation) -> list[str]:
    """Return the topics that every answer of an operation judges."""
    (records,) = content_of(operation, []).values()
    key = (operation.fields or {})[Field.KEY]
    return [record[key] for record in records]


def _moderations(operation: Operation, numbers: Sequence[float]) -> Iterator[StubResponse]:
    """Yield responses in which no topic, all topics, or one topic, have each confidence."""
    topics = moderated_topics(operation)
    yield StubResponse(operation, "nothing harmful", content_of(operation, []))
    near = {
        score + step
        for score in _relative_scores(operation, numbers)
        for step in (-_SCORE_STEP, 0.0, _SCORE_STEP)
    }
    scores = [_HIGH_SCORE, *sorted(score for score in near if 0 <= score <= 1)]
    for score in scores:
        content = content_of(operation, [(topic, score) for topic in topics])
        yield StubResponse(operation, f"all topics, score {score:g}", content, tuple(topics))
    for score in scores:
        yield from (_response_with(operation, [topic], score) for topic in topics)


def _partial_responses(operation: Operation) -> Iterator[StubResponse]:
    """Yield responses with a plain result that each lack one of the answer's lists."""
    plain = _response_with(operation, [common_result_of(operation)], _HIGH_SCORE)
    (section,) = operation.results_path[:-1]
    for name in plain.content[section]:
        lists = {key: items for key, items in plain.content[section].items() if key != name}
        yield replace(plain, title=f"{plain.title}, no {name}", content={section: lists})


def _relative_scores(operation: Operation, numbers: Sequence[float]) -> list[float]:
    """Return the numbers that may be scores, as shares of the maximum score."""
    relative_scores = (number / max_score_of(operation) for number in numbers)
    return [score for score in relative_scores if 0 <= score <= max_relative_score(operation)]


def _faces(operation: Operation, numbers: Sequence[float]) -> Iterator[StubResponse]:
    """Yield responses: no face, a plain face, and faces that each show one attribute."""
    messages, max_score = face_messages_of(operation), max_score_of(operation)

    def response(title: str, *faces: Face, attribute: str = "") -> StubResponse:
        return StubResponse(operation, title, messages.face_answer(faces, _SIZE), (attribute,))

    near = [
        score + step
        for score in _relative_scores(operation, numbers)
        for step in (-_SCORE_STEP, _SCORE_STEP)
    ]
    scores = sorted({_LOW_SCORE, *(score for score in near if 0 <= score <= 1)})
    yield StubResponse(operation, "nothing recognised", messages.face_answer((), _SIZE))
    for attribute in ("", *messages.FACE_PROPERTIES):
        title = f"a face that shows {attribute}" if attribute else "a face"
        yield response(title, _face(operation, attribute), attribute=attribute)
    for score in scores:
        title = f"a face, detection confidence {max_score * score:g}"
        yield response(title, _face(operation, confidence=score))
    yield response(
        f"{len(messages.FACE_PROPERTIES)} faces",
        *(_face(operation, attribute) for attribute in messages.FACE_PROPERTIES),
    )
    if messages.ARE_FACES_MEASURED:
        for attribute in messages.FACE_PROPERTIES:
            for score in scores:
                title = f"a face that shows {attribute}, {max_score * score:g}"
                yield response(title, _face(operation, attribute, reported_confidence=score))
        ages = sorted({n + step for n in numbers for step in (-10, 0, 1) if n + step in _AGES})
        for age, attribute in itertools.product(ages, ("", *messages.FACE_PROPERTIES)):
            title = f"a face, {age:g} years old{attribute and f', that shows {attribute}'}"
            yield response(title, _face(operation, attribute, age=int(age)))


def _face(
    operation: Operation,
    shown: str = "",
    *,
    confidence: float = _HIGH_SCORE,
    reported_confidence: float = _HIGH_SCORE,
    age: int = 30,
) -> Face:
    likelihoods = {
        attribute: "VERY_LIKELY" if attribute == shown else "VERY_UNLIKELY"
        for attribute in face_messages_of(operation).FACE_PROPERTIES
    }
    return Face(_BOX, confidence, likelihoods, age, reported_confidence)


def _entity_response(operation: Operation, kind: str, score: float) -> StubResponse:
    """Return a stub response with one entity of the type `kind`."""
    messages, common = messages_of(operation), _COMMON_RESULTS[operation.task]
    content = messages.entity_answer([Entity(common, kind, score, 0)])
    title = f"{common!r}, type {kind}, score {score:g}"
    return StubResponse(operation, title, content, (common,), kind=messages.KINDS[kind])


def _named_responses(
    operation: Operation, texts: Sequence[str], numbers: Sequence[float]
) -> Iterator[StubResponse]:
    """Yield responses with named results: each text, several texts, and scores near `numbers`."""
    common = common_result_of(operation)
    if operation.task is not RecognitionTask.LANGUAGE:  # a text always has a language
        yield StubResponse(operation, "nothing recognised", content_of(operation, []))
    if operation.task is RecognitionTask.CATEGORIES:
        topic = messages_of(operation).topic
        common, texts = topic(common), [topic(text) for text in texts]
    variants = list(dict.fromkeys(one for text in texts for one in _variants(operation, text)))
    for text in (common, *variants):
        yield _response_with(operation, [text], _HIGH_SCORE)
    relative_scores = _relative_scores(operation, numbers)
    for score in sorted(
        {_LOW_SCORE, *(n + s for n in relative_scores for s in (-_SCORE_STEP, 0.0, _SCORE_STEP))}
    ):
        for text in (common, *texts):
            limited = min(max(score, 0.0), max_relative_score(operation))
            yield _response_with(operation, [text], limited)
    yield _response_with(operation, [common, *texts], _HIGH_SCORE)
    yield _response_with(operation, [*reversed(texts), common], _HIGH_SCORE)
    for text in (common, *texts):
        for score in (_HIGH_SCORE, _LOW_SCORE):
            yield _response_with(operation, [text, common, common], score)
    yield _response_with(operation, [common] * _MANY_RESULTS, _HIGH_SCORE)
    if operation.task in _TEXT_TASKS:
        for text in (
            "42",
            "12:30",
            *(variant for label in texts for variant in (f"{label} 42", f"42 {label}")),
        ):
            yield _response_with(operation, [text], _HIGH_SCORE)


def _variants(operation: Operation, text: str) -> Iterator[str]:
    """Yield a text and variants: other capitalisation, doubled, first or last letter removed.

    Topics and colours have a fixed spelling.
    """
    if operation.task in {RecognitionTask.CATEGORIES, RecognitionTask.COLORS}:
        yield text
        return
    forms = (text, text.capitalize(), text.upper(), f"{text} {text}", text[:-1], text[1:])
    yield from filter(None, forms)


def _response_with(operation: Operation, texts: Sequence[str], score: float) -> StubResponse:
    shown = ", ".join(repr(text) for text in texts[:_MAX_SHOWN])
    rest = f" and {len(texts) - _MAX_SHOWN} more" if len(texts) > _MAX_SHOWN else ""
    score_text = (
        ""
        if operation.task is RecognitionTask.TEXT
        else f", score {max_score_of(operation) * score:g}"
    )
    content = content_of(operation, [(text, score) for text in texts])
    return StubResponse(operation, f"{shown}{rest}{score_text}", content, tuple(texts))


_MAX_SHOWN = 3
