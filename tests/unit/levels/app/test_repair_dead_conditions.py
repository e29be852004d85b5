"""Repairs of constant conditions: git applies them, and the conditions are constant no more."""

from __future__ import annotations

import ast
import subprocess
from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from ciguard.levels.app.dead_conditions import DeadCondition, Vocabulary, dead_conditions
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.repair import merge_patches, nearest_labels_in, repairs
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.levels.app.repair import Suggestion
    from ciguard.levels.app.static_analysis import Application

VOCABULARY = Vocabulary(frozenset({"Fire", "Food", "Fast food", "Clothing", "Flood", "Person"}))
HEAD = """
from google.cloud import language, vision
import boto3
client = vision.ImageAnnotatorClient()
NAMES = ["Flod"]

def look(image, text):
    labels = client.label_detection(image=image).label_annotations
    names = [one.description for one in labels]
    low = [name.lower() for name in names]
    face = client.face_detection(image=image).face_annotations[0]
    person = boto3.client("rekognition").detect_labels(Image=image)["Labels"][0]
"""


def judged(folder: Path) -> tuple[Application, list[DeadCondition]]:
    application = read_application(folder)
    nearest = nearest_labels_in(VOCABULARY)
    functions = find_service_functions(application, known_providers())
    dead = [
        dead for function in functions for dead in dead_conditions(function, VOCABULARY, nearest)
    ]
    return application, list(dict.fromkeys(dead))


def suggested(folder: Path, body: str, head: str = HEAD) -> dict[DeadCondition, Suggestion]:
    (folder / "app.py").write_text(head + indent(dedent(body), "    "))
    return repairs(*judged(folder))


def git_apply(folder: Path, patch: str) -> None:
    command = ["git", "apply", "-"]
    done = subprocess.run(
        command, cwd=folder, input=patch, text=True, capture_output=True, check=False
    )
    assert not done.returncode, done.stderr + patch


@pytest.mark.parametrize(
    ("condition", "changed", "expected_sentence"),
    [
        (
            "names[0] == 'Fire' or 'Food'",
            "names[0] == 'Fire' or names[0] == 'Food'",
            "not compared with anything, so it is always true",
        ),
        ("labels[0].score > 80", "labels[0].score > 0.8", "Perhaps 0.8 is meant"),
        ("labels[0].score >= 95", "labels[0].score >= 0.95", "Perhaps 0.95 is meant"),
        ("low[0] == 'Fire'", "low[0] == 'fire'", 'Perhaps "fire" is meant'),
        ("'Fire' in low", "'fire' in low", 'Perhaps "fire" is meant'),
        ("low[0] in ['fire', 'Food']", "low[0] in ['fire', 'food']", 'Perhaps "food" is meant'),
        (
            "face.joy_likelihood == 'VERY_LIKELY'",
            "face.joy_likelihood.name == 'VERY_LIKELY'",
            "Perhaps the name of the member is meant",
        ),
        ("names[0] == 'fire'", "names[0] == 'Fire'", 'Perhaps "Fire" is meant'),
        ("'clothes' in low", "'clothing' in low", 'Perhaps "clothing" is meant'),
    ],
)
def test_dead_condition_is_repaired(
    tmp_path: Path, condition: str, changed: str, expected_sentence: str
) -> None:
    ((dead, suggestion),) = suggested(tmp_path, f"if {condition}:\n    return 1\n").items()

    git_apply(tmp_path, suggestion.patch)

    text = (tmp_path / "app.py").read_text()
    ast.parse(text)
    assert f"if {changed}:\n" in text
    assert expected_sentence in suggestion.sentence
    assert f"ine {dead.branch.line} " in suggestion.sentence
    assert judged(tmp_path)[1] == []


@pytest.mark.parametrize(
    "condition",
    [
        "names[0] == 'Xylophonist'",  # nothing is near
        "labels[0].score > 1",  # no percentage
        "labels[0].score > 700",
    ],
)
def test_dead_condition_without_a_likely_repair_is_left_alone(
    tmp_path: Path, condition: str
) -> None:
    suggestions = suggested(tmp_path, f"if {condition}:\n    return 1\n")

    assert suggestions == {}
    assert judged(tmp_path)[1]


def test_enumeration_members_of_clients_before_2020_have_no_names(tmp_path: Path) -> None:
    head = HEAD.replace("import boto3", "from google.cloud.vision import types\nimport boto3")

    assert suggested(tmp_path, "if face.joy_likelihood == 'LIKELY':\n    pass\n", head) == {}


def test_repairs_of_neighbouring_lines_apply_together(tmp_path: Path) -> None:
    suggestions = suggested(
        tmp_path,
        """
        if low[0] == "Fire" or low[0] == "Flood" or "Food":
            return 1
        if labels[0].score > 80:
            return 2
        return names[0] in NAMES and 3 if names[0] in NAMES else 4
        """,
    )
    application = read_application(tmp_path)

    patch, left_out = merge_patches(
        application, [suggestion.patch for suggestion in suggestions.values()]
    )

    assert len(suggestions) == 4
    assert not left_out
    git_apply(tmp_path, patch)
    text = (tmp_path / "app.py").read_text()
    assert """if low[0] == 'fire' or low[0] == 'flood' or low[0] == "Food":\n""" in text
    assert "labels[0].score > 0.8:" in text
