"""Exploration of applications of the real clients of Google."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from ciguard.levels.app.exploration import ExploredFunction, explore
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

VISION = """
from google.cloud import vision

client = vision.ImageAnnotatorClient()
"""


def explored(folder: Path, text: str, *, budget_s: float = 60.0) -> dict[str, ExploredFunction]:
    (folder / "app.py").write_text(dedent(text))
    application = read_application(folder)
    functions = find_service_functions(application, known_providers())
    results = explore(application, functions, python=sys.executable, budget_s=budget_s)
    return {result.function.name: result for result in results}


def never(result: ExploredFunction) -> set[str]:
    return {
        f"{goal.text} {value}"
        for goal, values in result.answers_by_outcome.items()
        for value in {True, False} - values.keys()
    }


def test_exploration_reaches_sub_conditions_through_a_callee_and_a_file(tmp_path: Path) -> None:
    result = explored(
        tmp_path,
        VISION
        + """
def labels_of(path):
    with open(path, "rb") as file:
        image = vision.Image(content=file.read())
    found = client.label_detection(image=image).label_annotations
    return [one.description.lower() for one in found]

def smart_can(path, is_loud=False):
    classes = labels_of(path)
    for c in classes:
        if c == "food" and not is_loud:
            return "organic"
        if c == "paper" or c == "aluminum" or "wood" in c:
            return "recyclable"
        if c.startswith("glas"):
            return "glass"
    return "rest"
""",
    )["app.smart_can"]

    assert not result.problem
    assert result.outcome_counts() == (10, 10)
    assert never(result) == set()
    assert not result.crashes


def test_crash_is_reported_with_its_answer(tmp_path: Path) -> None:
    results = explored(
        tmp_path,
        VISION
        + """
def first_line(image):
    text = client.text_detection(image=image).text_annotations
    lines = text[0].description.split("\\n")
    if lines[0] == "Total":
        return int(lines[1])

def checked(image):
    text = client.text_detection(image=image).text_annotations
    if not text:
        raise ValueError("no text")
    return text[0].description

class Camera:
    def __init__(self, quiet=True):
        self.quiet = quiet

    def faces(self, content: bytes):
        image = vision.Image(content=content)
        objects = client.object_localization(image=image).localized_object_annotations
        return objects[0].name if len(objects) < 10 else objects[99].name
""",
    )

    failures = {
        name: {(crash.error.partition(":")[0], crash.line) for crash in result.crashes}
        for name, result in results.items()
    }
    assert failures == {
        "app.first_line": {("IndexError", 8), ("IndexError", 10), ("ValueError", 10)},
        "app.checked": set(),  # it means to raise
        "app.Camera.faces": {("IndexError", 25)},
    }
    empty = next(result for result in results["app.first_line"].crashes if result.line == 8)
    assert empty.titles == ("text_detection: nothing recognised",)


def test_exception_that_a_missing_file_network_or_key_may_cause_is_not_judged(
    tmp_path: Path,
) -> None:
    result = explored(
        tmp_path,
        VISION
        + """
import json
import os
import urllib.request

def alarm(image):
    for one in client.label_detection(image=image).label_annotations:
        if one.description == "fire":
            return open("/nowhere/number.txt").read()
        if one.description == "smoke":
            return urllib.request.urlopen("http://127.0.0.1:9/")
        if one.description == "ash":
            return os.environ["PAGE_OF_NOBODY".strip()]
        if one.description == "dust":
            import not_installed_here
        if one.description == "soot":
            return json.loads("{")
        if one.description == "tar":
            return {}["tar"]
""",
    )["app.alarm"]

    assert {crash.error.partition(":")[0] for crash in result.crashes} == {"KeyError"}
    assert {crash.line for crash in result.crashes} == {23}
    assert {crash.error.partition(":")[0] for crash in result.unjudged_crashes} == {
        "FileNotFoundError", "URLError", "KeyError", "ModuleNotFoundError", "JSONDecodeError",
    }  # fmt: skip


def test_judgements_of_safety_and_findings_in_the_web_have_stub_responses(tmp_path: Path) -> None:
    results = explored(
        tmp_path,
        VISION
        + """
NAMES = ("UNKNOWN", "VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")

def is_safe(image):
    safe = client.safe_search_detection(image=image).safe_search_annotation
    if safe.adult >= vision.Likelihood.LIKELY or safe.racy > 4:
        return False
    if safe.violence.name in ("LIKELY", "VERY_LIKELY"):
        return False
    if NAMES[safe.medical] == "POSSIBLE" and safe.spoof == vision.Likelihood.UNKNOWN:
        return None
    return not (safe.medical == 5 and safe.spoof == 5)

def about(image):
    web = client.web_detection(image=image).web_detection
    if web.best_guess_labels and web.best_guess_labels[0].label == "eiffel tower":
        return "paris"
    for one in web.web_entities:
        if one.score > 1.2 and "Cat" in one.description:
            return "cat"
    if len(web.pages_with_matching_images) > 4:
        return "known"
    if web.pages_with_matching_images and not web.full_matching_images:
        return "altered"
    return web.web_entities[0].description
""",
    )

    assert {name: (result.problem, never(result)) for name, result in results.items()} == {
        "app.is_safe": ("", set()),
        "app.about": ("", set()),
    }
    (crash,) = results["app.about"].crashes
    assert crash.titles == ("web_detection: nothing recognised",)


ANNOTATED = """
FEATURES = ["LABEL_DETECTION", "SAFE_SEARCH_DETECTION"]

def summary_of(response):
    if response.label_annotations and response.label_annotations[0].description == "Cat":
        return "cat"
    if "EXIT" in response.full_text_annotation.text:
        return "exit"

def everything(content: bytes):
    return summary_of(client.annotate_image({"image": {"content": content}}))

def selected(path):
    with open(path, "rb") as file:
        image = vision.Image(content=file.read())
    features = [
        {"type_": vision.Feature.Type.OBJECT_LOCALIZATION},
        {"type_": vision.Feature.Type.FACE_DETECTION, "max_results": 3},
    ]
    found = client.annotate_image({"image": image, "features": features})
    for thing in found.localized_object_annotations:
        if thing.name == "Dog" and thing.score > 0.8:
            return "dog"
    if len(found.face_annotations) > 2:
        return "crowd"

def checked(content: bytes):
    features = [{"type_": name} for name in FEATURES]
    request = {"image": {"content": content}, "features": features}
    first = client.batch_annotate_images(requests=[request]).responses[0]
    if first.safe_search_annotation.adult >= 4:
        return "adult"
    return [label.description for label in first.label_annotations if label.score > 0.9]

def properties(image):
    found = client.image_properties(image=image).image_properties_annotation
    for one in found.dominant_colors.colors:
        if one.color.red > 200 and one.color.green < 50 and one.pixel_fraction > 0.4:
            return "red"
        if (one.color.red + one.color.green + one.color.blue) / 3 < 90:
            return "dark"

def cropped(image):
    hints = client.crop_hints(image=image).crop_hints_annotation.crop_hints
    if hints[0].confidence > 0.7:
        return hints[0].bounding_poly.vertices[2].x

def product(image):
    found = client.product_search(image=image, image_context={}).product_search_results
    for one in found.results:
        if one.product.display_name == "Chair" and one.score > 0.6:
            return one.product.name
"""


def test_requests_for_several_features_have_stub_responses(tmp_path: Path) -> None:
    results = explored(tmp_path, VISION + ANNOTATED)

    assert {name: (result.problem, never(result)) for name, result in results.items()} == {
        "app.everything": ("", set()),
        "app.selected": ("", set()),
        "app.checked": ("", set()),
        "app.properties": ("", set()),
        "app.cropped": ("", set()),
        "app.product": ("", set()),
    }
    assert {
        name: {crash.titles for crash in result.crashes}
        for name, result in results.items()
        if result.crashes
    } == {"app.cropped": {("crop_hints: nothing recognised",)}}


TEXTS = """
from google.cloud import language_v1

client = language_v1.LanguageServiceClient()
FEATURES = language_v1.AnnotateTextRequest.Features

def is_allowed(text):
    document = language_v1.Document(content=text, type_=language_v1.Document.Type.PLAIN_TEXT)
    found = client.moderate_text(document=document)
    if len(found.moderation_categories) != 16:
        raise ValueError("every topic is judged")
    for topic in found.moderation_categories:
        if topic.name == "Toxic" and topic.confidence > 0.8:
            return False
        if topic.name in ("Finance", "Legal") and topic.confidence >= 0.4:
            return None
    return True

def summary(text):
    document = {"content": text, "type_": "PLAIN_TEXT"}
    features = {
        "extract_entities": True, "extract_document_sentiment": True, "classify_text": True,
        "extract_syntax": False,
    }
    found = client.annotate_text(request={"document": document, "features": features})
    if found.moderation_categories:
        raise ValueError("nobody has asked for them")
    if found.document_sentiment.score < -0.4 and found.document_sentiment.magnitude > 2:
        return "complaint"
    for entity in found.entities:
        if entity.type_ == language_v1.Entity.Type.PERSON and entity.salience > 0.5:
            return entity.name
    for one in found.categories:
        if one.name == "/News" and one.confidence > 0.7:
            return "news"

def judged(text):
    features = FEATURES(extract_entity_sentiment=True, moderate_text=True)
    document = language_v1.Document(content=text, type_="PLAIN_TEXT")
    found = client.annotate_text(document=document, features=features)
    if any(t.name == "Insult" and t.confidence > 0.5 for t in found.moderation_categories):
        return "insult"
    return [one.name for one in found.entities if one.type_.name == "LOCATION"]

def parsed(text):
    document = language_v1.Document(content=text, type_="PLAIN_TEXT")
    return client.annotate_text(document=document, features={"extract_syntax": True}).tokens
"""


def test_texts_are_moderated_and_annotated_with_the_selected_features(tmp_path: Path) -> None:
    results = explored(tmp_path, TEXTS)

    assert {name: (result.problem, never(result)) for name, result in results.items()} == {
        "app.is_allowed": ("", {"len(found.moderation_categories) != 16 True"}),
        "app.summary": ("", set()),
        "app.judged": ("", set()),
        "app.parsed": (results["app.parsed"].problem, set()),
    }
    assert "extract_syntax" in results["app.parsed"].problem
    assert not any(result.crashes for result in results.values())


def test_language_and_speech_get_matching_stub_responses(tmp_path: Path) -> None:
    results = explored(
        tmp_path,
        """
import asyncio

from google.cloud import language_v1, speech

language = language_v1.LanguageServiceClient()

def mood(text):
    document = language_v1.Document(content=text, type_=language_v1.Document.Type.PLAIN_TEXT)
    found = language.analyze_sentiment(request={"document": document}).document_sentiment
    if found.score > 0.25 and found.magnitude < 2:
        return "glad"
    return "sad" if found.score <= -0.6 else "mixed"

async def about(text: str):
    await asyncio.sleep(0)
    document = {"content": text, "type_": "PLAIN_TEXT"}
    for one in language.classify_text(document=document).categories:
        if one.name == "/Food" and one.confidence >= 0.5:
            return True

def command(path):
    with open(path, "rb") as file:
        audio = speech.RecognitionAudio(content=file.read())
    config = speech.RecognitionConfig(language_code="en-US")
    for one in speech.SpeechClient().recognize(config=config, audio=audio).results:
        yield "on" if one.alternatives[0].transcript == "turn on the light" else "off"
""",
    )

    assert {name: (result.problem, never(result)) for name, result in results.items()} == {
        "app.mood": ("", set()),
        "app.about": ("", set()),
        "app.command": ("", set()),
    }


def test_function_that_cannot_be_explored_is_reported_with_the_reason(tmp_path: Path) -> None:
    results = explored(
        tmp_path,
        VISION
        + """
from google.cloud import language_v1
def broken(image):
    missing.name
    return client.label_detection(image=image)

def syntax(text):
    document = language_v1.Document(content=text)
    return language_v1.LanguageServiceClient().analyze_syntax(document=document)

def outer(image):
    def inner():
        return client.label_detection(image=image)
    return inner

class Needy:
    def __init__(self, strategy):
        self.strategy = strategy

    def look(self, image):
        self.strategy.begin()
        return client.label_detection(image=image)

class Broken:
    def __init__(self, api_key):
        raise LookupError(api_key[:3])

    def look(self, image):
        return client.label_detection(image=image)
""",
        budget_s=5.0,
    )

    problems = {name.removeprefix("app."): result.problem for name, result in results.items()}
    assert "NameError" in problems["broken"]
    assert "google analyze_syntax" in problems["syntax"]
    assert problems["outer.<locals>.inner"] == "is nested in another function"
    assert problems["Needy.look"].startswith(
        "fails for each answer that was tried: AttributeError: 'None"
    )
    assert problems["Broken.look"].startswith("cannot be created: LookupError: 012 (app.py, line")


@pytest.mark.slow  # each such call is waited for
def test_hang_is_reported_with_its_answers(tmp_path: Path) -> None:
    results = explored(
        tmp_path,
        VISION
        + """
def waits(image):
    found = client.label_detection(image=image).label_annotations
    while not found:
        pass

def never(image):
    client.label_detection(image=image)
    while True:
        pass
""",
        budget_s=5.0,
    )

    (hang,) = results["app.waits"].hangs
    assert hang.behaviour == "does not end"
    assert hang.titles == ("label_detection: nothing recognised",)
    assert "does not end" in results["app.never"].problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "import not_installed_here\n",
            "No module named 'not_installed_here' in the interpreter of --python",
        ),
        ("raise SystemExit(3)\n", "SystemExit: 3 (app.py, line 5)"),
        ("1 / 0\n", "ZeroDivisionError: division by zero (app.py, line 5)"),
        ("from google.cloud.vision import types\n", "such as google-cloud-vision<2"),
        ("from google.cloud.vision.enums import Likelihood\n", "such as google-cloud-vision<2"),
    ],
)
def test_application_that_cannot_be_imported_is_reported_with_the_reason(
    tmp_path: Path, text: str, problem: str
) -> None:
    look = "def look(image):\n    return client.label_detection(image=image)\n"

    (result,) = explored(tmp_path, VISION + text + look).values()

    assert result.problem.startswith("cannot be imported: ")
    assert problem in result.problem


def test_files_with_names_that_cannot_be_imported_are_explored(tmp_path: Path) -> None:
    look = VISION + "def look(image):\n    return client.label_detection(image=image)\n"
    files = ["bot.v0.2.py", "my.app/main.py", "json.py", "tags&more.py"]
    for name in files:
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(look)
    application = read_application(tmp_path)
    functions = find_service_functions(application, known_providers())

    results = list(explore(application, functions, python=sys.executable, budget_s=60.0))

    assert {result.function.file for result in results} == set(files)
    assert [result.problem for result in results] == [""] * len(files)
    assert all(result.runs > 1 for result in results)


def test_functions_are_called_as_parameters_and_decorators_require(tmp_path: Path) -> None:
    results = explored(
        tmp_path,
        VISION
        + """
import functools

def logged(function):
    def around(*given):
        return function(*given)
    return around

class Command:
    def __init__(self, function):
        self.main = function
    def __call__(self, *, arguments=None):
        raise SystemExit(arguments.missing)

@logged
def first(image):
    if client.label_detection(image=image).label_annotations:
        return "some"

def second(image, /, most: int, *, least: int):
    if len(client.label_detection(image=image).label_annotations) > most - least:
        return "many"

async def third(image):
    for one in client.label_detection(image=image).label_annotations:
        if one.description == "Cat":
            yield one

@Command
def fourth(image):
    return client.label_detection(image=image)
""",
    )

    for name in ("app.first", "app.second", "app.third"):
        assert not results[name].problem
        assert results[name].outcome_counts() == (2, 2)
    problem = results["app.fourth"].problem
    assert problem.startswith(
        "its decorators replace it by an object of app.Command, and calling this object "
        "fails: TypeError: "
    )


def test_application_with_its_own_grpc_channel_reaches_no_service(tmp_path: Path) -> None:
    results = explored(
        tmp_path,
        """
import grpc
from google.cloud import vision
from google.cloud.vision_v1.services.image_annotator.transports import (
    ImageAnnotatorGrpcTransport,
)

def own(content: bytes):
    channel = grpc.secure_channel("127.0.0.1:9", grpc.ssl_channel_credentials())
    client = vision.ImageAnnotatorClient(transport=ImageAnnotatorGrpcTransport(channel=channel))
    labels = client.label_detection(image=vision.Image(content=content)).label_annotations
    return "Dog" in [one.description for one in labels]

class Service:
    def __init__(self, key):
        self.key = key

    @classmethod
    def keyed(cls, path: str):
        client = vision.ImageAnnotatorClient.from_service_account_json("nowhere.json")
        labels = client.label_detection(image=vision.Image(content=b"x")).label_annotations
        if labels and labels[0].description == "Dog":
            return 1
        return 0
""",
    )

    assert not results["app.own"].problem
    assert not results["app.own"].unjudged_crashes
    assert results["app.own"].runs > 5
    assert not results["app.Service.keyed"].problem
    assert results["app.Service.keyed"].outcome_counts() == (4, 4)


@pytest.mark.slow
def test_exception_raised_on_purpose_is_recognised_by_its_statement(tmp_path: Path) -> None:
    results = explored(
        tmp_path,
        VISION
        + """
import functools

class Odd(Exception):
    def __str__(self):
        return self.missing

def labels(content: bytes):
    return client.label_detection(image=vision.Image(content=content)).label_annotations

def commented(content: bytes):
    return labels(content)[0]  # this may raise

def asserted(content: bytes):
    found = labels(content)
    assert found, "no labels"
    return found[0]

def odd(content: bytes):
    if len(labels(content)) > 2:
        raise Odd
    return 0

@functools.cache
def cached(content: bytes):
    return 1 if "Dog" in [one.description for one in labels(content)] else 0

def stubborn(content: bytes):
    while True:
        try:
            return len(labels(content)) > 1
        except Exception:
            continue
""",
    )

    assert [crash.line for crash in results["app.commented"].crashes] == [16]
    assert not results["app.asserted"].crashes
    assert "caches the answer" in results["app.cached"].problem
    assert not results["app.odd"].problem
    assert not results["app.odd"].crashes
    (hang,) = results["app.stubborn"].hangs
    assert hang.titles == ("label_detection: Quota exceeded.",)


def test_application_with_many_files_is_explored(tmp_path: Path) -> None:
    for number in range(1500):
        (tmp_path / f"module_with_a_rather_long_name_{number}.py").write_text("x = 1\n")
    results = explored(
        tmp_path,
        VISION
        + """
def look(content: bytes):
    found = client.label_detection(image=vision.Image(content=content)).label_annotations
    return "Dog" in [one.description for one in found]
""",
    )

    assert not results["app.look"].problem


def test_a_function_that_fails_for_all_plain_responses_is_searched_for_one_that_it_accepts(
    tmp_path: Path,
) -> None:
    results = explored(
        tmp_path,
        VISION
        + """
import re

def price(image):
    text = client.text_detection(image=image).text_annotations[0].description
    amount = re.search(r"(\\d+)[.,](\\d\\d)", text)
    return int(amount.group(1)) * 100 + int(amount.group(2))

def tripled(image):
    return 3 * price(image)
""",
    )

    for result in results.values():
        assert result.problem == ""
        assert {crash.error.partition(":")[0] for crash in result.crashes} == {
            "IndexError",
            "AttributeError",
        }


def test_a_command_line_argument_may_be_a_folder(tmp_path: Path) -> None:
    results = explored(
        tmp_path,
        VISION
        + """
import argparse
from pathlib import Path

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("place")
    for path in Path(parser.parse_args().place).iterdir():
        image = vision.Image(content=path.read_bytes())
        if client.label_detection(image=image).label_annotations[0].score > 0.5:
            print(path)
""",
    )

    assert results["app.main"].problem == ""
    assert never(results["app.main"]) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "at_least", "enumerated_at_most"),
    [
        ("asking_application.py", 84, 71),
        ("asking_other_clouds.py", 78, 64),
    ],
)
def test_random_search_reaches_outcomes_that_no_plain_response_reaches(
    monkeypatch: pytest.MonkeyPatch, file: str, at_least: int, enumerated_at_most: int
) -> None:
    application = read_application(Path(__file__).parents[1] / "examples" / file)
    functions = [
        function
        for function in find_service_functions(application, known_providers())
        if function.goals
    ]
    # What can be found is asked here, not how fast a machine is that does other work too.
    monkeypatch.setitem(explore.__globals__, "_MAX_SEARCH_S", 60.0)

    def met() -> int:
        results = list(explore(application, functions, python=sys.executable, budget_s=300.0))
        assert [result.problem for result in results if result.problem] == []
        return sum(result.outcome_counts()[0] for result in results)

    searched = met()
    monkeypatch.setitem(explore.__globals__, "_MAX_SEARCH_S", 0.0)
    enumerated = met()

    assert searched >= at_least
    assert enumerated <= enumerated_at_most


def test_random_response_may_crash_a_function(tmp_path: Path) -> None:
    result = explored(
        tmp_path,
        VISION
        + """
def share(image):
    labels = client.label_detection(image=image).label_annotations
    if len(labels) > 5:
        return 100 // (len(labels) - 7)
    return 0
""",
    )["app.share"]

    assert result.random_runs
    assert [crash.error for crash in result.crashes] == [
        "ZeroDivisionError: integer division or modulo by zero"
    ]
    assert result.crashes[0].titles[0].endswith("; and 4 more")
