"""The polarity that a condition is for, and the texts of that polarity which it finds."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from ciguard.levels.app.accuracy.polarity import polarity_recall
from ciguard.levels.app.accuracy.trials import InputTrial
from ciguard.levels.app.exploration.explore import ExploredFunction
from ciguard.levels.app.input_synthesis.inputs import InputSpec, Sentiment, ServiceInput
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

GOOGLE = """
    from google.cloud import language

    client = language.LanguageServiceClient()

    def mood(text, urgent=False):
        answer = client.analyze_sentiment(document={"content": text, "type_": "PLAIN_TEXT"})
        score = answer.document_sentiment.score
        magnitude = answer.document_sentiment.magnitude
"""
AWS = """
    import boto3

    client = boto3.client("comprehend")

    def mood(text):
        answer = client.detect_sentiment(Text=text, LanguageCode="en")
        sure = answer["SentimentScore"]
"""


@pytest.fixture
def explored(tmp_path: Path) -> Callable[[str, str], ExploredFunction]:
    """Return the only function of a program, of which all outcomes were reached."""

    def read(head: str, body: str) -> ExploredFunction:
        lines = [f"        {line}" for line in dedent(body).strip().splitlines()]
        (tmp_path / "app.py").write_text(dedent("\n".join([head.rstrip(), *lines])))
        (function,) = find_service_functions(read_application(tmp_path), known_providers())
        explored = ExploredFunction(function)
        for one in function.goals:
            explored.answers_by_outcome[one.goal] = {True: (), False: ()}
        return explored

    return read


def trial(
    explored: ExploredFunction,
    polarity: Sentiment,
    evaluated: Iterable[tuple[str, bool]],
    *,
    is_taken: bool | None = None,
) -> InputTrial:
    """Return a call in which sub-conditions, given by their text, had these values."""
    goals = {one.goal.text: one.goal for one in explored.function.goals}
    outcomes = frozenset((goals[text], value) for text, value in evaluated)
    true_goals = frozenset(goal for goal, value in outcomes if value)
    taken = {goal.branch for goal in true_goals} if is_taken in {None, True} else set()
    text = ServiceInput(InputSpec(RecognitionTask.SENTIMENT, feeling=polarity), b"text", "a test")
    return InputTrial(
        text, outcomes=outcomes, true_goals=true_goals, taken_branches=frozenset(taken)
    )


def recall(
    explored: ExploredFunction, text: str, trials: Iterable[InputTrial] = ()
) -> tuple[Sentiment, int, int] | None:
    """Return the polarity that a sub-condition is for, and its found and counted texts."""
    (goal,) = [one.goal for one in explored.function.goals if one.goal.text == text]
    operation = explored.function.calls[0].answer.operation
    found = polarity_recall(goal, operation, explored, list(trials))
    return (found.polarity, found.counts.correct, found.counts.expected) if found else None


@pytest.mark.parametrize(
    ("head", "condition", "polarity"),
    [
        (GOOGLE, "score < -0.5", Sentiment.NEGATIVE),
        (GOOGLE, "-0.25 >= score", Sentiment.NEGATIVE),
        (GOOGLE, "score >= 0", Sentiment.POSITIVE),
        (GOOGLE, "0.1 < score <= 0.6", Sentiment.POSITIVE),
        (GOOGLE, "-1 <= score < -0.3", Sentiment.NEGATIVE),
        (GOOGLE, "-0.2 <= score <= 0.2", None),  # neutral texts
        (GOOGLE, "score > -0.5", None),  # all but very negative texts
        (GOOGLE, "score == 0", None),
        (GOOGLE, "magnitude > 1", None),
        (GOOGLE, "score * 10 > 5", None),
        (AWS, "sure['Positive'] > 0.3", Sentiment.POSITIVE),
        (AWS, "sure['Negative'] > 0.9", Sentiment.NEGATIVE),
        (AWS, "sure['Negative'] < 0.1", None),
        (AWS, "answer['Sentiment'] == 'NEGATIVE'", Sentiment.NEGATIVE),
        (AWS, "answer['Sentiment'] in ('POSITIVE', 'MIXED')", Sentiment.POSITIVE),
        (AWS, "answer['Sentiment'] != 'NEGATIVE'", None),
        (AWS, "answer['Sentiment'] == 'NEUTRAL'", None),
    ],
)
def test_condition_is_for_the_polarity_on_whose_side_its_bound_lies(
    explored: Callable[[str, str], ExploredFunction],
    head: str,
    condition: str,
    polarity: Sentiment | None,
) -> None:
    function = explored(head, f"return 1 if {condition} else 0")

    found = recall(function, condition)

    assert (found and found[0]) == polarity


def test_weakest_condition_answers_for_all_of_its_polarity(
    explored: Callable[[str, str], ExploredFunction],
) -> None:
    function = explored(GOOGLE, "return 'great' if score > 0.6 else 'good' if score > 0.1 else ''")
    strong, weak = "score > 0.6", "score > 0.1"
    trials = [
        trial(function, Sentiment.POSITIVE, [(strong, True)]),
        trial(function, Sentiment.POSITIVE, [(strong, False), (weak, True)]),
        trial(function, Sentiment.POSITIVE, [(strong, False), (weak, False)]),
        trial(function, Sentiment.NEGATIVE, [(strong, False), (weak, True)]),
    ]

    assert recall(function, strong, trials) is None
    assert recall(function, weak, trials) == (Sentiment.POSITIVE, 2, 3)


def test_conjunction_of_a_sentiment_is_judged_as_a_whole(
    explored: Callable[[str, str], ExploredFunction],
) -> None:
    function = explored(GOOGLE, "if magnitude > 2 and score < -0.1:\n    return 'complaint'")
    strong, negative = "magnitude > 2", "score < -0.1"
    trials = [
        trial(function, Sentiment.NEGATIVE, [(strong, False)]),
        trial(function, Sentiment.NEGATIVE, [(strong, True), (negative, True)]),
        trial(function, Sentiment.NEGATIVE, [(strong, True), (negative, False)], is_taken=False),
    ]

    assert recall(function, negative, trials) == (Sentiment.NEGATIVE, 1, 3)


def test_text_that_something_else_keeps_from_the_condition_does_not_count(
    explored: Callable[[str, str], ExploredFunction],
) -> None:
    body = """
        if score > 0.2:
            return "praise"
        if "refund" in text and score < -0.2:
            return "complaint"
    """
    function = explored(GOOGLE, body)
    praise, complaint = "score > 0.2", "score < -0.2"
    trials = [
        trial(function, Sentiment.NEGATIVE, [(praise, False)]),  # without a refund
        trial(function, Sentiment.NEGATIVE, [(praise, True)]),  # taken for praise
        trial(function, Sentiment.NEGATIVE, [(praise, False), (complaint, True)]),
    ]

    assert recall(function, complaint, trials) == (Sentiment.NEGATIVE, 1, 2)
