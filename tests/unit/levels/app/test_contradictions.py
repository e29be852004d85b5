"""Sub-conditions that are proved constant, beside similar ones that are not."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from ciguard.levels.app.dead_conditions import contradictory_conditions, dead_conditions
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ciguard.levels.app.dead_conditions import DeadCondition

HEAD = """
from google.cloud import language, vision

client = vision.ImageAnnotatorClient()

def look(image, text, other):
    labels = client.label_detection(image=image).label_annotations
    felt = language.LanguageServiceClient().analyze_sentiment(document=text).document_sentiment
    one = labels[0]
    score = one.score
"""


def proved(folder: Path, body: str) -> list[tuple[str, str]]:
    (folder / "app.py").write_text(HEAD + indent(dedent(body), "    "))
    application = read_application(folder)
    (function,) = find_service_functions(application, known_providers())
    return [(dead.text, dead.reason) for dead in contradictory_conditions(application, function)]


@pytest.mark.parametrize(
    ("body", "text", "reason"),
    [
        (
            "if score * 100 > 120: pass",
            "score * 100 > 120",
            "never: the service returns scores from 0 to 1",
        ),
        (
            "if (felt.score + 1) * 50 < -1: pass",
            "(felt.score + 1) * 50 < -1",
            "never: the service returns scores from -1 to 1",
        ),
        (
            "if score > 0.8 and score < 0.5: pass",
            "score < 0.5",
            "never at this point: score > 0.8 (line 11) is already true",
        ),
        (
            "if score > 0.5: pass\nelif score > 0.7: pass",
            "score > 0.7",
            "never at this point: score > 0.5 (line 11) is already false",
        ),
        (
            "if one.description == 'a' and one.description == 'b': pass",
            "one.description == 'b'",
            "never at this point: one.description == 'a' (line 11) is already true",
        ),
        (
            "if one.description != 'a' or one.description != 'b': pass",
            "one.description != 'b'",
            "always at this point: one.description != 'a' (line 11) is already false",
        ),
        (
            "names = [x for x in labels if not (x.score < 0.2 and x.score > 0.3)]",
            "x.score > 0.3",
            "never at this point: x.score < 0.2 (line 11) is already true",
        ),
        (
            "if len(labels) > 3: pass\nelif other: pass\nelif len(labels) == 5: pass",
            "len(labels) == 5",
            "never at this point: len(labels) > 3 (line 11) is already false",
        ),
    ],
)
def test_contradiction_is_reported_with_the_reason(
    tmp_path: Path, body: str, text: str, reason: str
) -> None:
    assert proved(tmp_path, body) == [(text, reason)]


@pytest.mark.parametrize(
    "body",
    [
        "if score * 100 > 99: pass",
        "if score + 0.2 > 1.2: pass",  # 1 + 0.2 is not quite 1.2 for every computer
        "if score > 0.5: pass\nelif score > 0.4: pass",
        "if score > 0.5: pass\nelif score <= 0.5: pass",  # an `else` by another name
        "if score > 0.5 and score > 0.2: pass",  # more than needed, and no harm
        "if score > 0.8 and felt.score < 0.5: pass",
        "if score > 0.8:\n    score = one.topicality\n    if score < 0.5: pass",
        "if score > 0.8 and other.next(score) and score < 0.5: pass",  # it may change anything
        "if (score := one.topicality) > 0.8 and score < 0.5: pass",
        "if score > other and score < other: pass",  # of unknown type
        "if score * other > 120: pass",
        "if one.score * 100 > 120 or one.mid > 3: score = 200",
        "score = score * 100 if other else 130\nif score * 1 > 120: pass",
        "if one.description == 'a' or one.description == 'b': pass",
        "for score in (one.score, 130):\n    if score * 2 > 120: pass",
    ],
)
def test_satisfiable_conditions_are_not_reported(tmp_path: Path, body: str) -> None:
    reported = [text for text, _ in proved(tmp_path, body)]

    assert reported == [text for text in reported if text == "one.score * 100 > 120"]


def test_solver_agrees_with_the_syntactic_rules(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(HEAD + "    if score > 80 or one.score < -1: pass\n")
    application = read_application(tmp_path)
    (function,) = find_service_functions(application, known_providers())

    def texts_and_reasons(conditions: Iterable[DeadCondition]) -> set[tuple[str, str]]:
        return {(dead.text, dead.reason) for dead in conditions}

    proved = texts_and_reasons(contradictory_conditions(application, function))
    assert proved == texts_and_reasons(dead_conditions(function, None))
    assert len(proved) == 2
