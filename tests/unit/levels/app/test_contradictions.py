"""Sub-conditions that are proved to be always the same, and those beside them that are not."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from ciguard.levels.app.dead_conditions import contradictory_conditions, dead_conditions
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find, read_application

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ciguard.levels.app.dead_conditions import Dead

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
    (found,) = find(application, known_providers())
    return [(one.text, one.reason) for one in contradictory_conditions(application, found)]


@pytest.mark.parametrize(
    ("body", "text", "reason"),
    [
        (
            "if score * 100 > 120: pass",
            "score * 100 > 120",
            "never: the service answers from 0 to 1",
        ),
        (
            "if (felt.score + 1) * 50 < -1: pass",
            "(felt.score + 1) * 50 < -1",
            "never: the service answers from -1 to 1",
        ),
        (
            "if score > 0.8 and score < 0.5: pass",
            "score < 0.5",
            "never, where it is looked at: score > 0.8 (line 11) is true by then",
        ),
        (
            "if score > 0.5: pass\nelif score > 0.7: pass",
            "score > 0.7",
            "never, where it is looked at: score > 0.5 (line 11) is false by then",
        ),
        (
            "if one.description == 'a' and one.description == 'b': pass",
            "one.description == 'b'",
            "never, where it is looked at: one.description == 'a' (line 11) is true by then",
        ),
        (
            "if one.description != 'a' or one.description != 'b': pass",
            "one.description != 'b'",
            "always, where it is looked at: one.description != 'a' (line 11) is false by then",
        ),
        (
            "names = [x for x in labels if not (x.score < 0.2 and x.score > 0.3)]",
            "x.score > 0.3",
            "never, where it is looked at: x.score < 0.2 (line 11) is true by then",
        ),
        (
            "if len(labels) > 3: pass\nelif other: pass\nelif len(labels) == 5: pass",
            "len(labels) == 5",
            "never, where it is looked at: len(labels) > 3 (line 11) is false by then",
        ),
    ],
)
def test_what_nothing_can_turn_is_told_with_the_reason(
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
        "if score > other and score < other: pass",  # of what kind it is, nobody knows
        "if score * other > 120: pass",
        "if one.score * 100 > 120 or one.mid > 3: score = 200",
        "score = score * 100 if other else 130\nif score * 1 > 120: pass",
        "if one.description == 'a' or one.description == 'b': pass",
        "for score in (one.score, 130):\n    if score * 2 > 120: pass",
    ],
)
def test_what_may_turn_out_both_ways_is_not(tmp_path: Path, body: str) -> None:
    told = [text for text, _ in proved(tmp_path, body)]

    assert told == [one for one in told if one == "one.score * 100 > 120"]


def test_it_says_the_same_as_the_plain_rules_of_what_both_judge(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(HEAD + "    if score > 80 or one.score < -1: pass\n")
    application = read_application(tmp_path)
    (found,) = find(application, known_providers())

    def said(several: Iterable[Dead]) -> set[tuple[str, str]]:
        return {(one.text, one.reason) for one in several}

    proved = said(contradictory_conditions(application, found))
    assert proved == said(dead_conditions(found, None))
    assert len(proved) == 2
