"""What is not tried or not judged is named, with the reason."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from running_applications import assessed, explored, written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PROGRAM = """
    from google.cloud import language_v1, vision

    client = language_v1.LanguageServiceClient()
    eyes = vision.ImageAnnotatorClient()

    def felt(text):
        document = {"content": text, "type_": "PLAIN_TEXT"}
        return client.analyze_sentiment(request={"document": document}).document_sentiment

    def scaled(text):
        stars = (felt(text).score + 1) * 5
        return "good" if stars > 6 else "bad"

    def sure(content: bytes):
        labels = eyes.label_detection(image=vision.Image(content=content)).label_annotations
        return [one.description for one in labels if one.score > 0.8]

    def never(content: bytes):
        labels = eyes.label_detection(image=vision.Image(content=content)).label_annotations
        return "many" if len(labels) > 5_000 else "few"
"""


def test_reason_is_given_for_each_condition_that_is_not_judged(tmp_path: Path) -> None:
    results = assessed(written(tmp_path / "app", PROGRAM))

    reasons = {
        (name, goal.text): reason
        for name, result in results.items()
        for goal, reason in result.unjudged_goals
    }
    assert reasons[("scaled", "stars > 6")] == (
        "it compares a value that is computed from the sentiment"
    )
    assert all(reasons.values())
    for name, result in results.items():
        conditions = {one.goal for one in result.explored.function.goals if one.goal.is_condition}
        judged = {verdict.goal for verdict in result.verdicts}
        named = {goal for goal, _ in result.unjudged_goals}
        assert (name, judged | named) == (name, conditions)
        assert not judged & named


def ciguard(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ciguard", "app", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_functions_that_are_not_called_are_listed(tmp_path: Path) -> None:
    folder = written(tmp_path / "app", PROGRAM)

    done = ciguard("accuracy", str(folder), "--inputs", "20")

    assert "not called, because no answer decides a condition: app.felt" in done.stdout


@pytest.mark.parametrize("command", ["explore", "accuracy"])
def test_file_that_cannot_be_read_is_named_as_such(tmp_path: Path, command: str) -> None:
    old = 'from google.cloud import vision\n\ndef main():\n    print "nothing"\n'
    (tmp_path / "old.py").write_text(old)

    done = ciguard(command, str(tmp_path))

    assert done.returncode == 2
    assert "no file could be read. old.py: line 4 is Python 2" in done.stderr
    assert "2to3" in done.stderr


def test_crash_is_tried_again_although_its_time_is_over(tmp_path: Path) -> None:
    text = """
        import time

        from google.cloud import vision

        client = vision.ImageAnnotatorClient()

        def first(content: bytes):
            end = time.perf_counter() + 0.2  # too long for many calls in the time
            while time.perf_counter() < end:
                pass
            labels = client.label_detection(image=vision.Image(content=content)).label_annotations
            return labels[0].description == "Cat"
    """
    folder = written(tmp_path / "app", dedent(text))

    result = explored(folder, budget_s=1.0)["first"]

    assert [crash.error.partition(":")[0] for crash in result.crashes] == ["IndexError"]
    assert result.flaky_crashes == result.unrepeated_crashes == []
