"""Conditions on sentiments: thresholds that miss the polarity that they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from running_applications import assessed, written

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.levels.app.accuracy import Assessment

pytestmark = pytest.mark.slow

PROGRAM = """
    from google.cloud import language_v1

    client = language_v1.LanguageServiceClient()

    def felt(text):
        document = {"content": text, "type_": "PLAIN_TEXT"}
        return client.analyze_sentiment(request={"document": document}).document_sentiment

    def too_strict(text):
        sentiment = felt(text)
        if sentiment.score > 0.2:
            return "praise"
        elif sentiment.score < -0.85:
            return "complaint"
        return "remark"

    def conjunction(text):
        sentiment = felt(text)
        if sentiment.magnitude > 0.1 and sentiment.score <= -0.9:
            return "complaint"
        return "remark"

    def in_steps(text):
        sentiment = felt(text)
        if sentiment.score > 0.85:
            return 5
        if sentiment.score > 0.15:
            return 4
        if sentiment.score > -0.15:
            return 3
        return 1 if sentiment.score < -0.85 else 2 if sentiment.score < -0.05 else 0

    def of_refunds(text):
        if "refund" in text and felt(text).score < -0.1:
            return "complaint"
        return "remark"
"""


def failing(results: dict[str, Assessment]) -> dict[str, dict[str, str]]:
    return {
        name: {one.goal.text: one.claim for one in result.verdicts if one.is_failure}
        for name, result in results.items()
    }


def test_polarity_that_its_condition_misses_is_reported_also_from_a_recording(
    tmp_path: Path,
) -> None:
    folder, record = written(tmp_path / "app", PROGRAM), tmp_path / "recording.jsonl"

    results = assessed(folder, inputs=60, record=record)
    again = assessed(folder, inputs=60, replay=record)

    reported = failing(results)
    assert failing(again) == reported
    assert {name: set(claims) for name, claims in reported.items()} == {
        "too_strict": {"sentiment.score < -0.85"},
        "conjunction": {"sentiment.score <= -0.9"},
        "in_steps": set(),
        "of_refunds": set(),
    }
    assert reported["too_strict"]["sentiment.score < -0.85"].endswith(
        " negative texts take its branch"
    )
    # That nothing fails says something only where something was judged.
    assert len(results["in_steps"].verdicts) == 5


def test_suggested_threshold_finds_the_polarity_that_the_condition_is_for(tmp_path: Path) -> None:
    results = assessed(written(tmp_path / "app", PROGRAM), inputs=100)

    (failure,) = [one for one in results["too_strict"].verdicts if one.is_failure]
    assert failure.suggestion is not None
    assert "+    elif sentiment.score < " in failure.suggestion.patch


THROUGH_FUNCTIONS = """
    from google.cloud import language_v1

    client = language_v1.LanguageServiceClient()

    def get_result(annotations):
        score = annotations.document_sentiment.score
        return "bad" if score < -0.9 else "fine"

    def whole_answer(text):
        document = {"content": text, "type_": "PLAIN_TEXT"}
        return get_result(client.analyze_sentiment(request={"document": document}))

    def felt(text):
        document = {"content": text, "type_": "PLAIN_TEXT"}
        sentiment = client.analyze_sentiment(request={"document": document}).document_sentiment
        return sentiment.score, sentiment.magnitude

    def grade(score, magnitude):
        if magnitude < 0.05:
            return "nothing"
        if score < -0.91:
            return "bad"
        return "fine"

    def unpacked(text):
        score, magnitude = felt(text)
        return grade(score, magnitude)

    def by_index(text):
        return "bad" if felt(text)[0] < -0.92 else "fine"

    class Judge:
        def measure(self, text):
            score, magnitude = felt(text)
            return {"magnitude": magnitude, "score": score}

        def judge(self, text):
            measured = self.measure(text)
            return "bad" if measured["score"] < -0.93 else "fine"

    def is_bad(score):
        return score < -0.94

    def by_predicate(text):
        if is_bad(felt(text)[0]):
            return "bad"
        return "fine"

    def by_magnitude(text):
        return "long" if felt(text)[1] > 9 else "short"
"""


def test_score_that_passes_through_functions_of_the_application_is_judged(tmp_path: Path) -> None:
    results = assessed(written(tmp_path / "app", THROUGH_FUNCTIONS), inputs=60)

    assert {name: set(claims) for name, claims in failing(results).items()} == {
        "whole_answer": {"score < -0.9"},
        "unpacked": {"score < -0.91"},
        "by_index": {"felt(text)[0] < -0.92"},
        "Judge.judge": {"measured['score'] < -0.93"},
        "by_predicate": {"is_bad(felt(text)[0])"},
        "by_magnitude": set(),
    }
    assert all(result.trials > 30 for result in results.values())
