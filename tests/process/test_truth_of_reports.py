"""What is said of an application is true: of its folders, of entities, and of their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from running_applications import assessed, explored, failures, never, written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

FOLDERS = """
    import os
    import shutil
    import tempfile

    from google.cloud import vision

    client = vision.ImageAnnotatorClient()
    settings = os.path.join(tempfile.gettempdir(), "settings")
    is_ready = False

    def seen(path):
        with open(path, "rb") as file:
            image = vision.Image(content=file.read())
        return [one.description for one in client.label_detection(image=image).label_annotations]

    def makes_folder(path):
        target = os.path.join(tempfile.gettempdir(), "sorted")
        os.mkdir(target)
        return "cat" if "Cat" in seen(path) else "other"

    def makes_folder_beside_it(path):
        os.makedirs("out")
        if "Dog" in seen(path):
            with open("out/dog.txt", "w") as file:
                file.write("dog")
            return True
        return False

    def moves_its_input(path):
        names = seen(path)
        shutil.move(path, "done.png")
        return "Bird" in names and os.path.exists("done.png")

    def removes_its_input(path):
        found = "Fish" in seen(path)
        os.remove(path)
        return found

    def reads_what_the_first_call_made(path):
        global is_ready
        if not is_ready:
            os.mkdir(settings)
            is_ready = True
        if "Horse" in seen(path):
            return os.listdir(settings)
        return None

    def reads_its_own_file(path):
        with open("names.txt") as file:
            wanted = file.read().split()
        return "Sheep" in seen(path) and "Sheep" in wanted
"""


def test_application_runs_in_a_folder_that_it_may_write_and_that_is_put_back(
    tmp_path: Path,
) -> None:
    folder = written(tmp_path / "app", FOLDERS)
    (folder / "names.txt").write_text("Sheep")

    results = explored(folder)

    assert {name: one.problem for name, one in results.items() if one.problem} == {}
    assert failures(results) == {}
    assert never(results) == set()
    assert sorted(path.name for path in folder.iterdir()) == ["app.py", "names.txt"]


ENTITIES = """
    from google.cloud import language_v1

    client = language_v1.LanguageServiceClient()

    def document(text):
        return language_v1.Document(content=text, type_=language_v1.Document.Type.PLAIN_TEXT)

    def liked(text):
        entities = client.analyze_entities(document=document(text)).entities
        answer = client.analyze_entity_sentiment(document=document(text))
        felt = {one.name: one.sentiment.score for one in answer.entities}
        found = []
        for entity in entities:
            if entity.type_.name == "PERSON" and felt[entity.name] > -1:
                found.append(entity.name)
        return found

    def placed(text):
        for entity in client.analyze_entities(document=document(text)).entities:
            kind = language_v1.Entity.Type(entity.type_).name
            if kind == "LOCATION":
                return entity.name
        return None
"""


def test_operations_find_the_same_entities_in_one_text(tmp_path: Path) -> None:
    folder = written(tmp_path / "app", ENTITIES)

    by_answers, by_texts = explored(folder), assessed(folder)

    assert failures(by_answers) == {}
    assert by_texts["liked"].trials > 15
    assert by_texts["liked"].crashes == []


def test_type_of_entities_is_no_name_in_a_text(tmp_path: Path) -> None:
    results = assessed(written(tmp_path / "app", ENTITIES))

    (verdict,) = results["placed"].verdicts
    assert verdict.measured is not None
    assert verdict.measured.expected > 8
    wanted = {trial.wanted for trial in verdict.missed_inputs}
    assert {one.key for one in wanted} <= {""}
    assert not verdict.is_failure


BOXES = """
    from google.cloud import vision

    client = vision.ImageAnnotatorClient()

    def side(content: bytes):
        image = vision.Image(content=content)
        for thing in client.object_localization(image=image).localized_object_annotations:
            corner = thing.bounding_poly.normalized_vertices[0]
            opposite = thing.bounding_poly.normalized_vertices[2]
            if corner.x > 0.5:
                return "right"
            if (opposite.x - corner.x) * (opposite.y - corner.y) > 0.4:
                return "near"
        return "left"
"""


def test_boxes_of_objects_vary(tmp_path: Path) -> None:
    assert never(explored(written(tmp_path / "app", BOXES))) == set()


FOLDER_OF_IMAGES = """
    import os
    from pathlib import Path

    from google.cloud import vision

    client = vision.ImageAnnotatorClient()

    def sort_all(folder: str, files: list[str]):
        found = []
        for name in files:
            with open(name, "rb") as file:
                image = vision.Image(content=file.read())
            labels = client.label_detection(image=image).label_annotations
            found += ["cat" for label in labels if label.description == "Cat"]
            os.remove(name)
        return found

    def sort_folder(folder: Path):
        found = []
        for path in folder.iterdir():
            image = vision.Image(content=path.read_bytes())
            labels = client.label_detection(image=image).label_annotations
            found += ["dog" for label in labels if label.description == "Dog"]
        return found
"""


def test_folders_and_several_files_are_passed_as_copies(tmp_path: Path) -> None:
    results = explored(written(tmp_path / "app", FOLDER_OF_IMAGES))

    assert {name: one.problem for name, one in results.items()} == {
        "sort_all": "", "sort_folder": "",
    }  # fmt: skip
    assert failures(results) == {}
    assert never(results) == set()


CHOSEN = """
    from google.cloud import vision

    client = vision.ImageAnnotatorClient()

    def pets(content: bytes):
        image = vision.Image(content=content)
        cats, mood = 0, "calm"
        for label in client.label_detection(image=image).label_annotations:
            if label.description == "Cat":
                cats += 1
            if label.description == "Dog":
                mood = "Loud"
        if cats > 2:
            return "many"
        if mood == "Loud":
            return "loud"
"""


def test_values_that_a_branch_chooses_are_followed_but_not_judged(tmp_path: Path) -> None:
    folder = written(tmp_path / "app", CHOSEN)

    by_answers, by_images = explored(folder), assessed(folder)

    assert never(by_answers) == set()
    assert {goal.text for goal in by_answers["pets"].answers_by_outcome} >= {
        "cats > 2", "mood == 'Loud'",
    }  # fmt: skip
    result = by_images["pets"]
    assert {verdict.goal.text for verdict in result.verdicts} == {
        "label.description == 'Cat'", "label.description == 'Dog'",
    }  # fmt: skip
    assert {
        goal.text: reason
        for goal, reason in result.unjudged_goals
        if goal.text in {"cats > 2", "mood == 'Loud'"}
    } == dict.fromkeys(
        ("cats > 2", "mood == 'Loud'"), "it compares a value that another branch has chosen"
    )
