"""Sub-conditions that no answer can change, beside similar ones that an answer can change."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from ciguard.errors import ConfigurationError
from ciguard.levels.app.dead_conditions import (
    DeadCondition,
    Vocabulary,
    dead_conditions,
    read_vocabulary,
)
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from pathlib import Path

VOCABULARY = Vocabulary(frozenset({"Fire", "Food", "Human face", "Clothing", "Race", "Aluminium"}))
HEAD = """
from google.cloud import language, vision
import boto3

client = vision.ImageAnnotatorClient()
NAMES = ["Fire", "Clothes"]
LIMIT = 80
try:
    from settings import LIMIT
except ImportError:
    pass

def look(image, text):
    labels = client.label_detection(image=image).label_annotations
    names = [one.description for one in labels]
    low = [name.lower() for name in names]
    first = labels[0]
    things = client.object_localization(image=image).localized_object_annotations
    faces = client.face_detection(image=image).face_annotations
    safe = client.safe_search_detection(image=image).safe_search_annotation
    mood = language.LanguageServiceClient().analyze_sentiment(text).document_sentiment
    found = boto3.client("rekognition").detect_labels(Image=image)["Labels"]
"""


def dead_in(
    folder: Path, condition: str, vocabulary: Vocabulary | None = VOCABULARY
) -> list[DeadCondition]:
    body = dedent(f"""
    for one in things:
        for each in names:
            if {condition}:
                pass
    """)
    (folder / "app.py").write_text(HEAD + indent(body, "    "))
    (function,) = find_service_functions(read_application(folder), known_providers())
    return list(dead_conditions(function, vocabulary))


@pytest.mark.parametrize(
    ("condition", "text", "reason", "proposals"),
    [
        ("one.name == 'dog' or 'animal'", "'animal'", "always", ("one.name == 'animal'",)),
        ("first.description == 'fire'", None, "'fire'", ("Fire",)),
        ("'clothes' in low", None, "'clothes'", ("clothing",)),
        ("each.lower() == 'face'", None, "'face'", ("race", "human face")),
        ("each in NAMES", None, "'Clothes'", ("Clothing",)),
        ("each in ('Fire', 'aluminum')", None, "'aluminum'", ("Aluminium",)),
        ("'xyzzy' in first.description", None, "'xyzzy'", ()),
        ("'ood' in names", None, "'ood'", ()),  # equal to one of them, and not a part
        ("'Fire' in first.description.lower()", None, "never: 'Fire' cannot occur", ("'fire'",)),
        ("one.name.lower().startswith('A')", None, "never: 'A' cannot occur", ("'a'",)),
        ("faces[0].joy_likelihood == 'VERY_LIKELY'", None, "never: a text is compared", ()),
        (
            "safe.adult == 'LIKELY'",
            None,
            "never: a text is compared",
            ("safe.adult.name == 'LIKELY'",),
        ),
        ("first.score > 80", None, "never: the service returns scores from 0 to 1", ()),
        ("0 <= first.score", None, "always: the service returns scores from 0 to 1", ()),
        ("mood.score < -1", None, "never: the service returns scores from -1 to 1", ()),
        (
            "found[0]['Confidence'] > 100",
            None,
            "never: the service returns scores from 0 to 100",
            (),
        ),
        ("found[0]['Name'] == 'Fires'", None, "'Fires'", ("Fire",)),
        (
            "found[0]['Confidence'] > 0.9",
            None,
            "almost always: the service returns scores from 0 to 100",
            ("90",),
        ),
        (
            "max(found, key=lambda label: label['Confidence'])['Confidence'] < 0.25",
            None,
            "almost never: the service returns scores from 0 to 100",
            ("25",),
        ),
        ("{o.description: o.score for o in labels}['Fire'] > 80", None, "never", ("0.8",)),
        ("{o.description: o.score for o in labels}.get('Fire', 0) > 80", None, "never", ("0.8",)),
        ("max([o.score for o in labels]) > 80", None, "never", ("0.8",)),
        ("max(labels, key=lambda o: o.score).description == 'fire'", None, "'fire'", ("Fire",)),
    ],
)
def test_constant_sub_condition_is_reported_with_the_reason(
    tmp_path: Path, condition: str, text: str | None, reason: str, proposals: tuple[str, ...]
) -> None:
    (dead,) = dead_in(tmp_path, condition)

    assert dead.text == (condition if text is None else text)
    assert reason in dead.reason
    assert set(proposals) <= set(dead.proposals)
    assert dead.branch.condition == condition.replace('"', "'")


@pytest.mark.parametrize(
    "condition",
    [
        "first.description == 'Fire'",
        "'fire' in low",
        "first.description != 'Firre'",
        "'ood' in first.description",
        "first.description.split()[0] == 'Human'",  # a step that the analysis does not understand
        "(first.description + text) == 'fire'",
        "first.description == text",
        "'Fire' not in first.description.lower()",
        "one.name.lower().removeprefix('A') == 'a'",
        "faces[0].joy_likelihood.name == 'VERY_LIKELY'",
        "faces[0].joy_likelihood == 5",
        "safe.adult.name == 'LIKELY'",
        "safe.adult == 4",
        "one.name == 'Packaged goods'",  # of objects there is another list of names
        "first.score > 0.8 and mood.score < 0",
        "found[0]['Confidence'] > 80",
        "found[0]['Confidence'] > 0",
        "found[0]['Confidence'] >= 1",
        "found[0]['Parents'][0]['Name'] == 'Fires'",
        "{o.description: o.score for o in labels}.get('Fire', 90) > 80",
        "{o.description: round(o.score * 100) for o in labels}['Fire'] > 80",
        "mood.magnitude > 4",
        "text == 'fire' and first",
        "first.score + 1 > 1.5",
        "len(names) > 80",
        "first.description[0] == 'C'",  # a letter of a label
        "names[0][0] == 'q'",
        "each in 'Dog, Cat'",  # looked for in a text
        "[{'score': o.score * 100} for o in labels][0]['score'] > 80",
        "[{'description': 'tag:' + o.mid} for o in labels][0]['description'] == 'tag:x'",
        "(lambda NAMES=1: NAMES)() and first.score > LIMIT",
    ],
)
def test_sub_condition_that_answers_change_is_not_reported(tmp_path: Path, condition: str) -> None:
    assert dead_in(tmp_path, condition) == []


def test_sub_condition_with_another_source_is_not_reported(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        dedent("""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()

        def look(image, fallback):
            labels = client.label_detection(image=image).label_annotations
            best, found = "", []
            top = labels[0].description if labels else "none"
            for one in labels:
                if best == "":
                    best = one.description
                name = one.description
                name += "s"
                if name == "Fires" or (one.description or fallback) == "mine":
                    found.append(one.description)
            if top == "none" or "mine" in [*found, fallback] or f"{top}s" == "Foods":
                return "nothing"
            is_one(top)
            is_one("mine")
            return kind_of(top)

        def is_one(label, kind="x"):
            return 1 if label == "mine" or kind == "x" else 0

        def kind_of(label):
            seen = label
            while seen == "mine":
                seen = is_one(label)
        """)
    )
    functions = find_service_functions(read_application(tmp_path), known_providers())

    assert len(functions[0].goals) > 6
    assert not [dead for function in functions for dead in dead_conditions(function, VOCABULARY)]


def test_labels_without_a_vocabulary_are_not_judged(tmp_path: Path) -> None:
    assert dead_in(tmp_path, "first.description == 'fires'", None) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [("labels.csv", '/m/1,Fire\n/m/2,"Salt, pepper"\n'), ("labels.txt", "Fire\n\nSalt, pepper\n")],
)
def test_vocabulary_is_read_from_lines_and_csv(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)

    assert read_vocabulary(tmp_path / name).labels == {"Fire", "Salt, pepper"}


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe"])
def test_vocabulary_without_labels_is_rejected_with_its_name(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "none.txt").write_bytes(content)

    with pytest.raises(ConfigurationError, match=r"none\.txt"):
        read_vocabulary(tmp_path / "none.txt")


TOP = """
    from google.cloud import language_v1, vision

    client = vision.ImageAnnotatorClient()
    reader = language_v1.LanguageServiceClient()

    def look(image, text):
        labels = client.label_detection(image=image).label_annotations
        for label in labels[:3]:
            if {}:
                return True
        for entity in reader.analyze_entities(document=text).entities:
            if {}:
                return True
        return False
"""


@pytest.mark.parametrize(
    ("label", "entity", "found"),
    [
        ("label.description == 'Clothes'", "0", "'Clothes' does not match any label"),
        ("label.description.split()[0].lower() == 'head'", "0", "'head' does not match any label"),
        ("label.description.split(' ')[-1] == 'faces'", "0", "'faces' does not match any label"),
        ("0", "entity.type_.name == 'PERSONS'", "'PERSONS' is no type of entities"),
        ("0", "entity.type_.name in ('PERSON', 'CITY')", "'CITY' is no type of entities"),
    ],
)
def test_check_goes_through_slices_words_and_names_of_enumerations(
    tmp_path: Path, label: str, entity: str, found: str
) -> None:
    (tmp_path / "app.py").write_text(dedent(TOP.format(label, entity)))
    (function,) = find_service_functions(read_application(tmp_path), known_providers())

    (dead,) = dead_conditions(function, VOCABULARY)

    assert found in dead.reason


@pytest.mark.parametrize(
    ("label", "entity"),
    [
        ("label.description.split()[0] == 'Human'", "entity.type_.name == 'PERSON'"),
        ("label.description.split()[-1].lower() == 'face'", "entity.type_.name != 'CITY'"),
        ("label.description[:3] == 'Foo'", "entity.type_.name.lower() == 'person'"),
        ("label.description.split()[5] == ''", "entity.name == 'CITY'"),
        ("label.description.split(text)[0] == 'x'", "entity.type_.value == 'CITY'"),
    ],
)
def test_possible_word_part_or_type_is_not_dead(tmp_path: Path, label: str, entity: str) -> None:
    (tmp_path / "app.py").write_text(dedent(TOP.format(label, entity)))
    (function,) = find_service_functions(read_application(tmp_path), known_providers())

    assert list(dead_conditions(function, VOCABULARY)) == []


COLLECTED = """
    from google.cloud import vision

    client = vision.ImageAnnotatorClient()
    WORDS = ["Fire", "Clothes"]

    def look(image):
        labels = client.label_detection(image=image).label_annotations
        names, scores = [x.description for x in labels], [x.score for x in labels]
        table = dict(zip(names, scores))
        if {}:
            return True
        return False
"""


@pytest.mark.parametrize(
    "condition",
    [
        "any(word in dict(zip(names, scores)) for word in ('Fire', 'Clothes'))",
        "any([word in dict(zip(names, scores)) for word in WORDS])",
        "any(name in WORDS for name in dict(zip(names, scores)))",
        "any(n == 'Clothes' and s > 0.5 for n, s in dict(zip(names, scores)).items())",
        "any([n == 'Clothes' for s, n in sorted(zip(scores, names))])",
        "any(n == 'Clothes' for _, n in enumerate(names))",
        "any(x.description == 'Clothes' for x in labels)",
        "all(x.description != 'Fire' and x.description == 'Clothes' for x in labels)",
        "'Clothes' in table",
        "'Clothes' in table.keys()",
        "'Clothes' in {x.description: x.score for x in labels}",
        "any(d['n'] == 'Clothes' for d in [{'n': n, 's': s} for n, s in table.items()])",
    ],
)
def test_label_is_checked_through_any_and_collections(tmp_path: Path, condition: str) -> None:
    (tmp_path / "app.py").write_text(dedent(COLLECTED.format(condition)))
    (function,) = find_service_functions(read_application(tmp_path), known_providers())

    (dead,) = dead_conditions(function, VOCABULARY)

    assert "'Clothes' does not match any label" in dead.reason


@pytest.mark.parametrize(
    "condition",
    [
        "any(word in table for word in ('Fire', 'Human face'))",
        "any('ood' in name for name in table)",  # a part of a label
        "any(s > 0.5 for n, s in table.items())",
        "any(s == 'Clothes' for n, s in zip(scores, map(str.title, names)))",
        "any(n == 'Clothes' for n in names + [image])",
        "any(n == 'Clothes' for n in (image, 'Fire'))",
        "any(word in [*names, image] for word in WORDS)",
        "'Clothes' in {n: image.name for n in (image.title, 'Fire')}",
        "'Clothes' in {image.title: n for n in names}",
        "'Clothes' in dict(table, Clothes=1)",
        "'Clothes' in {**table, 'Clothes': 1}",
        "any(n != 'Clothes' for n in table)",
    ],
)
def test_label_with_another_source_in_any_is_not_dead(tmp_path: Path, condition: str) -> None:
    (tmp_path / "app.py").write_text(dedent(COLLECTED.format(condition)))
    (function,) = find_service_functions(read_application(tmp_path), known_providers())

    assert list(dead_conditions(function, VOCABULARY)) == []
