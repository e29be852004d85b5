"""Answers that are solved for, and what they are to bring about."""

from __future__ import annotations

import re
from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest
import z3

from ciguard.applications import find, known_providers, read_application
from ciguard.applications.exploring.solved import solved_answer
from ciguard.applications.solving.patterns import NotUnderstoodError, pattern_of
from ciguard.applications.solving.search import Search

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.applications.solving.answers import Recognised
    from ciguard.domain import Json

HEAD = """
import math
import re
from collections import Counter, defaultdict
from statistics import mean
from google.cloud import language_v1, vision

client = vision.ImageAnnotatorClient()
LIMITS = {"Cat": 0.35, "Dog": 0.65}

def labels_of(image):
    return client.label_detection(image=image).label_annotations

def look(image):
    labels = labels_of(image)
    names = [one.description for one in labels]
    texts = client.text_detection(image=image).text_annotations
    text = texts[0].description if texts else ""
"""


def solved(folder: Path, body: str) -> list[dict[str, tuple[Recognised, ...]]]:
    """Return what is proposed to turn the last sub-condition true, by the name of the operation."""
    (folder / "app.py").write_text(HEAD + indent(dedent(body), "    "))
    application = read_application(folder)
    found = next(one for one in find(application, known_providers()) if one.name == "app.look")
    goal = found.goals[-1].goal
    search = Search(application, found, lambda: {(goal, True)})
    proposals = list(search.proposals(20.0))
    return [{one.name: results for one, results in p.items()} for p in proposals]


CONDITIONS = [
    ("labels[0].score - labels[1].score > 0.3", "s[0] - s[1] > 0.3"),
    ("sum(x.score for x in labels) > 3.5", "sum(s) > 3.5"),
    ("mean([x.score for x in labels]) < 0.2", "sum(s) / len(s) < 0.2"),
    ("max(x.score for x in labels) < 0.1", "max(s) < 0.1"),
    ("round(labels[0].score, 2) == 0.87", "round(s[0], 2) == 0.87"),
    ("math.floor(labels[0].score * 7) == 3", "int(s[0] * 7) == 3"),
    ("len(labels) % 5 == 4", "len(n) % 5 == 4"),
    ("names.count('Cat') > 2", "n.count('Cat') > 2"),
    ("labels and all(x.score < LIMITS.get(x.description, 0.1) for x in labels[:2])", "s[0] < 0.65"),
    ("labels[0].description.lower().startswith('ca')", "n[0].lower()[:2] == 'ca'"),
    ("len(text) > 50", "len(t) > 50"),
    ("text[2:5] == 'abc'", "t[2:5] == 'abc'"),
    ("'-' in text and text.split('-')[1].isdigit()", "t.split('-')[1].isdigit()"),
    ("re.fullmatch(r'[A-Z]{2}[0-9]+', text)", "t[:2].isupper() and t[2:].isdigit()"),
    ("float(text) > 12.5", "float(t) > 12.5"),
    ("len(text.split()) == 3", "len(t.split()) == 3"),
    ("f'{text}!' == 'Stop!'", "t == 'Stop'"),
    ("{'a': 1, 'b': 9}.get(text, 0) > 5", "t == 'b'"),
]
STATEMENTS = [
    # A sum in a loop, with a condition of two parts.
    (
        """
        total = 0.0
        for one in labels:
            if one.score > 0.5 and one.description == 'Car':
                total += one.score
        if total > 1.5: pass
        """,
        "n.count('Car') > 1",
    ),
    # What is put into dictionaries, one after the other.
    (
        """
        kinds = defaultdict(list)
        for one in labels:
            if one.description in ('Cat', 'Dog'):
                kinds[one.description].append(one)
        if len(kinds) > 1: pass
        """,
        "{'Cat', 'Dog'} <= set(n)",
    ),
    # A function of its own, an exception, a loop that ends early.
    (
        """
        def first(one):
            if one.description == 'Tin':
                raise ValueError
            return one.description[:1]
        seen = ''
        for one in labels:
            try:
                seen = seen + first(one)
            except ValueError:
                break
        if seen == 'X': pass
        """,
        "n[0][:1] == 'X' and (len(n) == 1 or n[1] == 'Tin')",
    ),
    # The order of results.
    (
        """
        best = max(labels, key=lambda one: one.score)
        if best.description == 'Sun': pass
        """,
        "'Sun' in n",
    ),
]


BODIES = [*((f"if {condition}: pass", holds) for condition, holds in CONDITIONS), *STATEMENTS]


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        *BODIES[::4],
        *(pytest.param(*b, marks=pytest.mark.slow) for n, b in enumerate(BODIES) if n % 4),
    ],
)
@pytest.mark.lengthy
def test_answers_turn_what_is_computed(tmp_path: Path, body: str, holds: str) -> None:
    *_, last = solved(tmp_path, body)

    seen = {
        "s": [one.fields["score"] for one in last["label_detection"]],
        "n": [one.key for one in last["label_detection"]],
        "t": "\n".join(one.key for one in last["text_detection"]),
    }
    assert eval(holds, seen), seen  # noqa: S307 - written above


@pytest.mark.slow
def test_nothing_is_proposed_for_what_no_answer_turns(tmp_path: Path) -> None:
    assert solved(tmp_path, "if len(text) > 3 and len(text) < 2: pass") == []


OTHERS = """
import boto3
from azure.ai.textanalytics import TextAnalyticsClient
from azure.cognitiveservices.vision.computervision import ComputerVisionClient

eyes, reader = boto3.client("rekognition"), boto3.client("comprehend")
critic, camera = TextAnalyticsClient("", None), ComputerVisionClient("", None)

def look(image, text):
    labels = eyes.detect_labels(Image=image)["Labels"]
    faces = eyes.detect_faces(Image=image)["FaceDetails"]
    felt = reader.detect_sentiment(Text=text)
    review = critic.analyze_sentiment([text])[0]
    tags = camera.tag_image(image).tags
    if len(labels) < 3 or not faces or not tags:
        return
    face, tag = faces[0], tags[0]
"""
_GUARDS = 3


def proposed_by_others(folder: Path, condition: str) -> list[dict[str, Json]]:
    """Return the answers that are proposed to make a condition true, by the operation's name."""
    (folder / "app.py").write_text(f"{OTHERS}    if {condition}: pass\n")
    application = read_application(folder)
    (found,) = find(application, known_providers())
    wanted = {(one.goal, True) for one in found.goals[_GUARDS:]}
    proposals = list(Search(application, found, lambda: wanted).proposals(20.0))
    return [
        {one.name: solved_answer(one, several).content for one, several in p.items()}
        for p in proposals
    ]


@pytest.mark.parametrize(
    "condition",
    [
        "labels[0]['Confidence'] < labels[1]['Confidence']",
        "felt['SentimentScore']['Positive'] + felt['SentimentScore']['Mixed'] > 1.1",
        "review.confidence_scores.positive + review.confidence_scores.neutral > 1.1",
        "face['AgeRange']['Low'] > face['AgeRange']['High']",
        "face['Emotions'][0]['Type'] == face['Emotions'][1]['Type']",
        "tag.name == 'Dog'",
    ],
)
@pytest.mark.slow
def test_nothing_is_proposed_that_no_service_answers(tmp_path: Path, condition: str) -> None:
    assert proposed_by_others(tmp_path, condition) == []


@pytest.mark.slow
def test_what_is_proposed_has_the_form_of_what_services_answer(tmp_path: Path) -> None:
    conditions = [
        "felt['SentimentScore']['Mixed'] > 0.55", "review.sentiment != 'mixed'",
        "review.confidence_scores.negative > 0.62",
        "face['Emotions'][1]['Type'] == 'FEAR'", "labels[2]['Confidence'] > 71",
        "tag.name.endswith('cat')",
    ]  # fmt: skip
    *_, last = proposed_by_others(tmp_path, " and ".join(conditions))

    assert last["detect_sentiment"]["Sentiment"] == "MIXED"
    assert sum(last["detect_sentiment"]["SentimentScore"].values()) == pytest.approx(1)
    assert last["analyze_sentiment"]["sentiment"] == "negative"
    assert last["analyze_sentiment"]["sentences"][0]["sentiment"] == "negative"
    (face, *_) = last["detect_faces"]["FaceDetails"]
    assert len({one["Type"] for one in face["Emotions"]}) == 8
    assert face["Emotions"][1]["Type"] == "FEAR"
    assert {"BoundingBox", "Landmarks", "Pose"} <= face.keys()
    sure = [one["Confidence"] for one in last["detect_labels"]["Labels"]]
    assert sure == sorted(sure, reverse=True)
    assert sure[2] > 71
    assert last["tag_image"]["tags"][0]["name"].endswith("cat")


@pytest.mark.parametrize(
    "pattern",
    [
        r"INV-(\d{4})-\d+", r"[A-Za-z_]\w*", r"(?:Mon|Tues)day", r"[^ab]{2,3}c?", r"(?i)stop!",
        r"\$\d+(?:\.\d\d)?", r".+@.+\.(com|org)", r"\S+ \S+",
    ],
)  # fmt: skip
def test_a_text_of_a_pattern_is_one_that_python_matches_too(pattern: str) -> None:
    text, solver = z3.String("text"), z3.Solver()
    form = pattern_of(pattern).form
    solver.add(z3.InRe(text, form), z3.Length(text) > 6)

    for other in ("", "x", "INV-2020-7", "Monday", "STOP!", "$3.20", "a@b.org", "zzc"):
        is_matched = z3.simplify(z3.InRe(z3.StringVal(other), form))
        assert z3.is_true(is_matched) == bool(re.fullmatch(pattern, other))
    if solver.check() == z3.sat:
        assert re.fullmatch(pattern, solver.model()[text].as_string())


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"(?=x)y", r"(a)\1", r"(", r"a{100}"])
def test_a_pattern_that_has_no_form_or_takes_long_is_not_understood(pattern: str) -> None:
    with pytest.raises(NotUnderstoodError):
        pattern_of(pattern)
