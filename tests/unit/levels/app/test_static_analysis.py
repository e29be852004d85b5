"""Static analysis of typical applications: call styles, callees, classes and data flow."""

from __future__ import annotations

import sysconfig
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import (
    ServiceCallInputs,
    ServiceFunction,
    find_service_functions,
    read_application,
)
from ciguard.levels.app.static_analysis.conditions import LiteralTest
from ciguard.levels.app.static_analysis.values import DECIDES, Answer

PROVIDERS = known_providers()
PARTS = next(
    operation.parts
    for provider in PROVIDERS
    for operation in provider.operations("batch_annotate_images")
)


def found_in(folder: Path, **files: str) -> dict[str, ServiceFunction]:
    for name, text in files.items():
        file = folder / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(dedent(text))
    return {
        function.name: function
        for function in find_service_functions(read_application(folder), PROVIDERS)
    }


def operations(function: ServiceFunction) -> set[str]:
    return {call.answer.operation.name for call in function.calls}


def conditions(function: ServiceFunction) -> list[str]:
    return [branch.condition for branch in function.branches()]


def test_find_follows_callees_and_returns_branches_with_their_answers(
    tmp_path: Path,
) -> None:
    functions = found_in(
        tmp_path,
        can="""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()

        def labels_of(path):
            with open(path, "rb") as file:
                image = vision.Image(content=file.read())
            response = client.label_detection(image=image)
            return [one.description.lower() for one in response.label_annotations]

        def smart_can(path):
            classes = labels_of(path)
            for c in classes:
                if c == "food":
                    return "organic"
            return "rest"
        """,
    )

    assert set(functions) == {"can.labels_of", "can.smart_can"}
    (call,) = functions["can.smart_can"].calls
    assert call.call_path == ("can.labels_of",)
    assert call.answer.operation.task is RecognitionTask.LABELS
    assert call.call_inputs.inputs == (
        ("path", ("into labels_of()", "open()", ".read()", "vision.Image()")),
    )
    assert conditions(functions["can.smart_can"]) == ["for c in classes", "c == 'food'"]
    ((answer, steps),) = functions["can.smart_can"].goals[1].answers
    assert answer.line == 8
    way = (".label_annotations", "each", ".description", ".lower()", "in a list", "each")
    assert steps == (*way, "== 'food'")
    assert not functions["can.labels_of"].goals


STYLES = {
    "analyze_sentiment": """
        from google.cloud import language
        from google.cloud.language import enums, types
        def ask(text):
            client = language.LanguageServiceClient()
            kind = enums.Document.Type.PLAIN_TEXT
            return client.analyze_sentiment(document=types.Document(content=text, type=kind))
        """,
    "text_detection": """
        from google.cloud import vision_v1 as v
        def ask(image):
            return v.ImageAnnotatorClient().text_detection(image=image)
        """,
    "recognize": """
        import google.cloud.speech
        def ask(audio):
            return google.cloud.speech.SpeechClient().recognize(config={}, audio=audio)
        """,
    "detect_labels": """
        import boto3
        def ask(image):
            return boto3.client("rekognition").detect_labels(Image=image)
        """,
    "detect_faces": """
        import boto3
        def ask(image):
            client = boto3.Session().client(service_name="rekognition")
            return client.detect_faces(Image=image)
        """,
    "detect_with_url": """
        from azure.cognitiveservices.vision.face import FaceClient
        def ask(url):
            client = FaceClient("", None)
            return client.face.detect_with_url(url=url)
        """,
    "recognize_entities": """
        from azure.ai.textanalytics import TextAnalyticsClient as Client
        def ask(text):
            with Client("", None) as client:
                return client.recognize_entities([text])
        """,
}


@pytest.mark.parametrize(("operation", "text"), STYLES.items(), ids=STYLES)
def test_find_knows_the_clients_of_all_providers(tmp_path: Path, operation: str, text: str) -> None:
    functions = found_in(tmp_path, app=text)

    assert operations(functions["app.ask"]) == {operation}


def test_client_is_followed_through_objects_modules_and_functions(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        clients="""
        from google.cloud import vision

        def make():
            return vision.ImageAnnotatorClient()

        shared = make()
        """,
        app="""
        import clients
        from clients import shared as s

        class Base:
            def __init__(self):
                self.client = clients.make()

        class Camera(Base):
            def see(self, image):
                self.seen = self.client.face_detection(image=image).face_annotations

            def alarm(self, image):
                self.see(image)
                while len(self.seen) > 3:
                    pass

        def one(image):
            return clients.shared.logo_detection(image=image)

        def two(image):
            camera = Camera()
            camera.alarm(image)
            assert s.text_detection(image=image).text_annotations

        def three(image):
            def inner():
                return s.object_localization(image=image)
            return inner()
        """,
    )

    assert {name: operations(function) for name, function in functions.items()} == {
        "app.Camera.see": {"face_detection"},
        "app.Camera.alarm": {"face_detection"},
        "app.one": {"logo_detection"},
        "app.two": {"face_detection", "text_detection"},
        "app.three": {"object_localization"},
        "app.three.<locals>.inner": {"object_localization"},
    }
    assert conditions(functions["app.Camera.alarm"]) == ["len(self.seen) > 3"]
    assert len(functions["app.two"].branches()) == 2


def test_call_site_lists_the_steps_from_a_parameter(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        import boto3
        comprehend = boto3.client("comprehend")

        def feel(text: str, lang="en"):
            text = text.strip()[1:]
            mood = comprehend.detect_sentiment(Text=text, LanguageCode=lang)["Sentiment"]
            return "happy" if mood == "POSITIVE" else "sad"
        """,
    )

    (call,) = functions["app.feel"].calls
    assert call.call_inputs.inputs == (("lang", ()), ("text", (".strip()", "[1:]")))
    ((_, steps),) = functions["app.feel"].goals[0].answers
    assert steps == ("['Sentiment']", "== 'POSITIVE'")


def test_parameter_in_a_client_message_reaches_the_call(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        def labels_of(uri):
            from google.cloud import vision
            client = vision.ImageAnnotatorClient()
            image = vision.types.Image()
            image.source.image_uri = uri
            return client.label_detection(image=image).label_annotations
        """,
    )

    (call,) = functions["app.labels_of"].calls
    assert call.call_inputs.inputs == (("uri", ()),)


def test_find_returns_every_kind_of_branch(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()

        def many(image):
            names = {}
            for index, one in enumerate(client.label_detection(image=image).label_annotations):
                names[one.description] = one.score
            best = [name for name in names if names[name] > 0.5]
            best.extend(sorted(names))
            match best:
                case ["fire"]:
                    return 1
            while (first := best.pop()):
                if first:
                    break
            return lambda: 2 if "x" in best else 3
        """,
    )

    assert conditions(functions["app.many"]) == [
        "for (index, one) in enumerate(client.label_detection(image=image).label_annotations)",
        "names[name] > 0.5",
        "match best",
        "(first := best.pop())",
        "first",
        "'x' in best",
    ]


def test_each_sub_condition_that_an_answer_decides_is_a_goal(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()
        FIRES = ["fire", "flame"]

        def alarm(image, is_on):
            for one in client.label_detection(image=image).label_annotations:
                if is_on and not (one.description in FIRES or 0.5 > one.score) or "ash":
                    return True
        """,
    )

    looked_for, score = [decided.goal for decided in functions["app.alarm"].goals[1:]]
    assert looked_for.text == "one.description in FIRES"
    assert looked_for.test == LiteralTest("in", ("fire", "flame"))
    assert score.test == LiteralTest("<", (0.5,))
    assert looked_for.branch.constant == ("'ash'",)
    assert looked_for.branch == score.branch


def test_methods_of_other_objects_with_the_same_name_are_not_service_calls(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from google.cloud import vision

        class Fake:
            def label_detection(self, image):
                return image

        def mine(image):
            return Fake().label_detection(image)

        def theirs(handed, image):
            return handed.label_detection(image=image)
        """,
        other="""
        def unrelated(handed, image):
            return handed.label_detection(image=image)
        """,
    )

    assert set(functions) == {"app.theirs"}


def test_analysis_of_recursion_terminates(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from google.cloud import language
        client = language.LanguageServiceClient()

        def one(text, depth):
            if two(text + "x", depth).score > 0:
                return one(text[1:], depth - 1)

        def two(text, depth):
            return one(text, depth) or client.analyze_sentiment(text).document_sentiment
        """,
    )

    assert conditions(functions["app.one"]) == ["two(text + 'x', depth).score > 0"]


def test_package_is_read_under_its_import_name(tmp_path: Path) -> None:
    package = tmp_path / "camera"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("from .clients import client\n")
    (package / "clients.py").write_text(
        "from google.cloud import vision\nclient = vision.ImageAnnotatorClient()\n"
    )
    (package / "inner/__init__.py").touch()
    (package / "inner/look.py").write_text(
        "from ..clients import client\ndef see(x):\n    return client.face_detection(image=x)\n"
    )

    (function,) = find_service_functions(read_application(package), PROVIDERS)
    alone = read_application(package / "inner/look.py")

    assert (function.file, function.name) == ("camera/inner/look.py", "camera.inner.look.see")
    assert [module.name for module in alone.modules] == ["camera.inner.look"]


def test_unreadable_files_are_reported_and_environments_skipped(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text('print "x"\n')
    (tmp_path / "null.py").write_bytes(b"\x00\xff")
    (tmp_path / "link.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "deep.py").write_text("x = " + " + ".join(["1"] * 300) + "\n")
    (tmp_path / "good.py").write_text("x = 1\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/pyvenv.cfg").touch()
    (tmp_path / "mine/lib.py").write_text("x = 1\n")

    application = read_application(tmp_path)

    assert [module.file for module in application.modules] == ["good.py"]
    assert {file.file for file in application.unreadable_files} == {
        "old.py",
        "null.py",
        "link.py",
        "deep.py",
    }
    assert any("line 1" in file.reason for file in application.unreadable_files)


@pytest.mark.parametrize(
    "package",
    [
        "json",
        pytest.param("asyncio", marks=pytest.mark.slow),
        pytest.param("email", marks=pytest.mark.slow),
    ],
)
def test_large_packages_are_read_completely(package: str) -> None:
    application = read_application(Path(sysconfig.get_path("stdlib"), package))
    asking = replace(PROVIDERS[0], packages=("io", "typing", "types", "sys"))

    assert len(application.modules) >= 5
    assert find_service_functions(application, [asking]) == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary())
def test_any_file_is_read_or_reported(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "any.py").write_bytes(content)

    application = read_application(tmp_path)

    assert len(application.modules) + len(application.unreadable_files) == 1
    assert find_service_functions(application, PROVIDERS) == ()


def test_script_imports_modules_of_its_own_folder(tmp_path: Path) -> None:
    scripts, package = tmp_path / "scripts", tmp_path / "package"
    scripts.mkdir()
    package.mkdir()
    (package / "__init__.py").write_text("")
    helper = """
from google.cloud import vision

def labels(image):
    client = vision.ImageAnnotatorClient()
    return client.label_detection(image=image).label_annotations
"""
    script = """
from helper import labels
import helper as other

def has(image):
    return 1 if labels(image) else 0

def has_too(image):
    return 1 if other.labels(image) else 0
"""
    for folder in (scripts, package):
        (folder / "helper.py").write_text(helper)
        (folder / "script.py").write_text(script)

    functions = {
        function.name
        for function in find_service_functions(read_application(tmp_path), known_providers())
    }

    # In a package, `helper` is another library.
    assert functions == {
        "package.helper.labels",
        "scripts.helper.labels",
        "scripts.script.has",
        "scripts.script.has_too",
    }


def test_loop_variable_holds_only_the_elements_of_its_iterable(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        feed="""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()

        def feed(image):
            one = "nothing"
            for one in client.label_detection(image=image).label_annotations:
                print(one.description)
            for one in client.face_detection(image=image).face_annotations:
                if one.joy_likelihood == 4:
                    return "joy"
            return "none" if one.score > 1 else "some"
        """,
    )

    goals = {condition.goal.text: condition for condition in functions["feed.feed"].goals}
    within = goals["one.joy_likelihood == 4"].answers
    assert [answer.operation.name for answer, _ in within] == ["face_detection"]
    after = goals["one.score > 1"].answers
    assert [answer.operation.name for answer, _ in after] == ["label_detection", "face_detection"]


def test_comprehension_variable_is_local(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        names="""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()

        def names(image, one):
            labels = [one.description for one in client.label_detection(image=image).labels]
            objects = [one.name for one in client.object_localization(image=image).objects
                       if one.score > 0.5]
            if one == "all":
                return labels, objects
        """,
    )

    (decided,) = functions["names.names"].goals
    assert decided.goal.text == "one.score > 0.5"
    ((answer, _),) = decided.answers
    assert answer.operation.name == "object_localization"


def test_body_of_a_with_statement_always_runs(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        text="""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()

        def read(path):
            texts = client.label_detection(image={}).label_annotations
            with open(path, "rb") as file:
                texts = client.text_detection(image=file.read()).text_annotations
            return "much" if texts else "nothing"
        """,
    )

    (decided,) = functions["text.read"].goals
    assert [answer.operation.name for answer, _ in decided.answers] == ["text_detection"]


RECORDS = {
    "dataclass": """
        from dataclasses import dataclass, field
        @dataclass
        class Seen:
            path: str
            label: str = ""
            rest: list = field(default_factory=list)
    """,
    "named tuple": """
        from typing import NamedTuple
        class Seen(NamedTuple):
            path: str
            label: str = ""
    """,
    "attrs": """
        from attrs import define
        @define
        class Seen:
            path: str
            label: str
    """,
    "model of another package": """
        from pydantic import BaseModel
        class Seen(BaseModel):
            path: str
            label: str
    """,
    "inherited": """
        from dataclasses import dataclass
        @dataclass
        class Asked:
            path: str
        @dataclass
        class Seen(Asked):
            label: str
    """,
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
@pytest.mark.parametrize("call", ["Seen(path, first)", "Seen(path=path, label=first)"])
def test_values_are_followed_through_generated_constructors(
    tmp_path: Path, record: str, call: str
) -> None:
    asking = f"""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()

        def seen(path):
            image = vision.Image(content=open(path, "rb").read())
            first = client.label_detection(image=image).label_annotations[0].description
            return {call}

        def judge(path):
            found = seen(path)
            if found.label == "Cat":
                return "cat"
            if found.path == "none":
                return "none"
        """
    functions = found_in(tmp_path, app=dedent(record) + dedent(asking))

    (decided,) = functions["app.judge"].goals
    assert decided.goal.text == "found.label == 'Cat'"
    ((answer, steps),) = decided.answers
    assert answer.operation.name == "label_detection"
    assert steps[:3] == (".label_annotations", "[0]", ".description")


def test_values_are_followed_through_unpacking_and_post_init(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from dataclasses import dataclass
        from typing import NamedTuple
        from google.cloud import language
        client = language.LanguageServiceClient()

        class Felt(NamedTuple):
            score: float

        @dataclass
        class Mood:
            text: str
            def __post_init__(self):
                self.score = client.analyze_sentiment(document=self.text).document_sentiment.score

        def felt(text):
            return Felt(client.analyze_sentiment(document=text).document_sentiment.score)

        def judge(text):
            (score,) = felt(text)
            return "good" if score > 0 else "bad"

        def told(text):
            return "good" if Mood(text).score > 0.5 else "bad"
        """,
    )

    assert conditions(functions["app.judge"]) == ["score > 0"]
    assert conditions(functions["app.told"]) == ["Mood(text).score > 0.5"]
    assert operations(functions["app.told"]) == {"analyze_sentiment"}


def test_objects_are_followed_through_lists(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from dataclasses import dataclass
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()

        @dataclass
        class Seen:
            label: str
            score: float

        def seen(image):
            found = []
            for one in client.label_detection(image=image).label_annotations:
                found.append(Seen(label=one.description, score=one.score))
            return sorted(found, key=lambda one: -one.score)

        def judge(image):
            for at, one in enumerate(seen(image)):
                if one.score > 0.5 and at < 3:
                    return one.label
            return [one for one in seen(image) if one.label == "Cat"]
        """,
    )

    goals = {condition.goal.text: condition for condition in functions["app.judge"].goals}
    assert goals["one.score > 0.5"].answers[0][1][-2:] == (".score", "> 0.5")
    assert goals["one.label == 'Cat'"].answers[0][1][-2:] == (".description", "== 'Cat'")


def test_values_are_followed_through_getattr_and_setattr(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from google.cloud import vision

        class Eyes:
            def __init__(self):
                setattr(self, "client", vision.ImageAnnotatorClient())

            def judge(self, image):
                found = getattr(self, "client").face_detection(image=image)
                faces = getattr(found, "face_annotations", [])
                return "seen" if len(faces) > 1 else "none"
        """,
    )

    (decided,) = functions["app.Eyes.judge"].goals
    ((answer, steps),) = decided.answers
    assert answer.operation.name == "face_detection"
    assert steps == (".face_annotations", "len()", "> 1")


@pytest.mark.parametrize("is_called_first", [True, False], ids=["callees first", "callers first"])
@pytest.mark.lengthy
def test_long_call_chain_is_followed_to_its_end(tmp_path: Path, *, is_called_first: bool) -> None:
    first = """
def ask_0(image):
    found = client.label_detection(image=image).label_annotations
    if found:
        return found[0]
"""
    others = [
        f"""
def ask_{at}(image):
    found = ask_{at - 1}(image)
    if found.score > 0.{at}:
        return found
"""
        for at in range(1, 300)
    ]
    functions = [first, *others] if is_called_first else [*reversed(others), first]
    head = "from google.cloud import vision\nclient = vision.ImageAnnotatorClient()\n"

    found = found_in(tmp_path, app=head + "".join(functions))

    last = found["app.ask_299"]
    assert len(last.goals) == 300
    (call,) = last.calls
    assert call.call_path == tuple(f"app.ask_{at}" for at in range(298, -1, -1))
    assert call.call_inputs.inputs[0][0] == "image"


def test_mutually_recursive_functions_reach_the_same_calls(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()

        def even(image, depth):
            if client.text_detection(image=image).text_annotations:
                return odd(image, depth - 1)

        def odd(image, depth):
            if client.label_detection(image=image).label_annotations:
                return even(image, depth - 1)

        def main(path):
            return odd(path, 3)
        """,
    )

    for function in functions.values():
        assert operations(function) == {"text_detection", "label_detection"}
        assert len(function.goals) == 2
    ways = {call.answer.operation.name: call.call_path for call in functions["app.main"].calls}
    assert ways["text_detection"] == ("app.odd", "app.even")


HANDED = {
    "a variable": "ask = client.text_detection\n    return ask(image=image)",
    "a dictionary": "return {'text': client.text_detection}['text'](image=image)",
    "a thread": "return await asyncio.to_thread(client.text_detection, image=image)",
    "an executor": "return pool.submit(client.text_detection, image).result()",
    "a part of a call": "return functools.partial(client.text_detection, image=image)()",
}


@pytest.mark.parametrize("way", HANDED.values(), ids=HANDED)
def test_client_method_passed_to_a_library_counts_as_called(tmp_path: Path, way: str) -> None:
    head = """
from google.cloud import vision
import asyncio, concurrent.futures, functools
client = vision.ImageAnnotatorClient()
pool = concurrent.futures.ThreadPoolExecutor()

async def ask(image):
"""
    tail = """

async def judge(path):
    if (await ask(path)).text_annotations:
        return 1
"""
    functions = found_in(tmp_path, app=f"{head}    {way}\n{tail}")

    assert operations(functions["app.ask"]) == {"text_detection"}
    assert ("image", ()) in functions["app.ask"].calls[0].call_inputs.inputs
    assert len(functions["app.judge"].goals) == 1


@pytest.mark.parametrize("given", ["config, audio", "config, audio_config=audio"])
def test_constructor_argument_of_a_client_may_be_its_input(tmp_path: Path, given: str) -> None:
    text = f"""
import azure.cognitiveservices.speech as speech

def stop(key, path):
    config = speech.SpeechConfig(key)
    audio = speech.audio.AudioConfig(filename=path)
    recognizer = speech.SpeechRecognizer({given})
    if recognizer.recognize_once_async().get().text == "Stop.":
        return True
"""
    function = found_in(tmp_path, app=text)["app.stop"]

    (call,) = function.calls
    assert [name for name, _ in call.call_inputs.inputs] == ["path"]
    assert len(function.goals) == 1


def test_client_factory_with_a_variable_service_creates_any_client(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        making="""
        import boto3
        def client_of(service, region=None):
            return boto3.client(service, region_name=region)
        """,
        asking="""
        from making import client_of
        comprehend = client_of("comprehend")
        def feel(text):
            return comprehend.detect_sentiment(Text=text, LanguageCode="en")["Sentiment"] == "MIXED"
        """,
    )

    assert operations(functions["asking.feel"]) == {"detect_sentiment"}


def clients(function: ServiceFunction) -> set[str]:
    return {name for call in function.calls for name in call.call_inputs.clients}


def test_annotation_of_a_parameter_is_trusted(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        eyes="""
        from google.cloud import speech
        class Ears:
            def __init__(self, client: "speech.SpeechClient | None"):
                self.client = client
            def hear(self, content):
                return self.client.recognize(audio=content).results
        """,
        app="""
        from typing import Optional
        from google.cloud import vision_v1 as vision
        from eyes import Ears
        def see(client: Optional[vision.ImageAnnotatorClient], content):
            return client.annotate_image({"image": content}).label_annotations
        def hear(ears: Ears, content):
            if ears.hear(content):
                return 1
        def odd(clients: "list of", content, several: list[vision.ImageAnnotatorClient]):
            return several.annotate_image(content)
        """,
    )

    assert set(functions) == {"eyes.Ears.hear", "app.see", "app.hear"}
    assert operations(functions["app.see"]) > {"label_detection", "face_detection"}
    assert clients(functions["app.see"]) == {"client"}
    assert conditions(functions["app.hear"]) == ["ears.hear(content)"]


def test_request_for_several_features_calls_those_that_the_code_names(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()
        FEATURES = ["LABEL_DETECTION", "SAFE_SEARCH_DETECTION"]

        def is_cat(response):
            return response.label_annotations[0].description == "Cat"

        def texts(image):
            features = [{"type_": vision.Feature.Type.TEXT_DETECTION}]
            found = client.annotate_image({"image": image, "features": features})
            if found.full_text_annotation.text or found.label_annotations:
                return found

        def several(image):
            request = {"image": image, "features": [{"type_": name} for name in FEATURES]}
            for found in client.batch_annotate_images(requests=[request]).responses:
                if found.safe_search_annotation.adult > 3:
                    return None
                if found.label_annotations[0].description == "Cat":
                    return True
                if is_cat(found):
                    return False

        """,
        eyes="""
        from google.cloud import vision

        def all_features(image):
            return vision.ImageAnnotatorClient().annotate_image({"image": image})
        """,
    )

    assert {name: operations(function) for name, function in functions.items()} == {
        "app.texts": {"text_detection"},
        "app.several": {"label_detection", "safe_search_detection"},
        "eyes.all_features": {part.name for part in PARTS},
    }
    assert {
        condition.goal.text: [answer.operation.name for answer, _ in condition.answers]
        for function in functions.values()
        for condition in function.goals
        if condition.goal.is_condition
    } == {
        "found.full_text_annotation.text": ["text_detection"],
        "found.safe_search_annotation.adult > 3": ["safe_search_detection"],
        "found.label_annotations[0].description == 'Cat'": ["label_detection"],
        "is_cat(found)": ["label_detection"],
    }


def test_values_that_a_branch_chooses_depend_on_its_answer(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from google.cloud import vision
        client = vision.ImageAnnotatorClient()

        def seen(image):
            return client.label_detection(image=image).label_annotations

        def is_outside(image, strict):
            if strict:
                limit = 2
            for label in seen(image):
                if label.description == "Sky":
                    return True
            return False

        def counted(image, strict):
            cats, kind, size = 0, "none", 3
            if strict:
                size = 5
            for label in seen(image):
                if label.description == "Cat":
                    cats += 1
                elif label.score > 0.9:
                    kind = "sure"
            if cats > 2 or kind == "sure" or size > 3:
                return is_outside(image, strict)

        def main(image):
            if is_outside(image, False):
                return 1
        """,
    )

    assert "cats > 2 or kind == 'sure' or size > 3" in conditions(functions["app.counted"])
    assert {
        condition.goal.text: {
            flow.steps[-2:] for flow in condition.flows if isinstance(flow.source, Answer)
        }
        for name in ("app.counted", "app.main")
        for condition in functions[name].goals
        if DECIDES in {step for flow in condition.flows for step in flow.steps}
    } == {
        "cats > 2": {("decides", "> 2"), ("Add", "> 2")},
        "kind == 'sure'": {("decides", "== 'sure'")},
        "is_outside(image, False)": {("== 'Sky'", "decides")},
    }


def test_client_is_distinguished_from_its_container(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        import boto3
        def feel(reader, text):
            return reader.detect_sentiment(Text=text, LanguageCode="en")["Sentiment"]
        def main(comprehend, line):
            return feel(comprehend, line) == "MIXED"
        def handle(request, line):
            return feel(request.app.reader, line)
        """,
        faces="""
        from azure.cognitiveservices.vision.face import FaceClient
        def anybody(face_client, stream):
            return face_client.face.detect_with_stream(stream)
        """,
    )

    clients_of = {name: clients(function) for name, function in functions.items()}
    assert clients_of == {
        "app.feel": {"reader"},
        "app.main": {"comprehend"},
        "app.handle": set(),
        "faces.anybody": {"face_client"},
    }


@pytest.mark.parametrize(
    "made",
    [
        """
        class Eye:
            def __init__(self, client, image, *, at=0):
                self.image, self.client = image, client
        """,
        """
        class Seeing:
            def __init__(self, client, image):
                self.image, self.client = image, client
        class Eye(Seeing):
            pass
        """,
        """
        import dataclasses
        @dataclasses.dataclass(frozen=True)
        class Eye:
            client: object
            image: bytes
            seen: list = dataclasses.field(default_factory=list, init=False)
        """,
        """
        import dataclasses
        from dataclasses import dataclass, field
        @dataclass
        class Seeing:
            client: object
        @dataclass(kw_only=True)
        class Eye(Seeing):
            _: dataclasses.KW_ONLY
            at: int = 0
            image: bytes = field(repr=False)
        """,
        """
        from typing import NamedTuple
        class Eye(NamedTuple):
            client: object
            image: bytes
        """,
    ],
)
def test_method_call_site_lists_constructor_parameters(tmp_path: Path, made: str) -> None:
    look = """
            def look(self, at):
                return self.client.detect_labels(Image={"Bytes": self.image})["Labels"][at]
            @classmethod
            def about(cls, client, image):
                return client.detect_labels(Image=image)
    """
    text = dedent(made).replace("    pass", "") + look.replace("\n        ", "\n")
    functions = found_in(tmp_path, app="import boto3\n" + text)

    (call,) = functions["app.Eye.look"].calls
    assert call.call_inputs == ServiceCallInputs()
    assert call.constructor_inputs.clients == ("client",)
    assert [name for name, _ in call.constructor_inputs.inputs] == ["image"]
    (module,) = read_application(tmp_path).modules
    routines = {one.name: one for one in module.routines}
    constructor = routines["Eye.look"].constructor
    assert constructor is not None
    given = (*constructor.args, *constructor.kwonlyargs)
    assert [one.arg for one in given if one.arg != "at"] == ["self", "client", "image"]
    assert routines["Eye.about"].constructor is None


def test_client_passed_by_a_caller_is_known_in_the_callee(tmp_path: Path) -> None:
    functions = found_in(
        tmp_path,
        app="""
        from google.cloud import speech
        def hear(client, content):
            return client.recognize(audio=content).results
        def other(client, content):
            return client.recognize(audio=content).results
        def main(content):
            client = speech.SpeechClient()
            if hear(client, content):
                return 1
        """,
    )

    assert set(functions) == {"app.hear", "app.main"}
    assert clients(functions["app.hear"]) == {"client"}


def test_module_texts_include_class_variables(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text('A = "a"\nclass B:\n    C = ["c"]\n    D = {"d": ["e"]}\n')
    (module,) = read_application(tmp_path).modules

    assert module.texts == ("a", "c", "d", "e")


def test_required_environment_variables_are_distinguished_from_optional_ones(
    tmp_path: Path,
) -> None:
    text = "import os\nos.environ['A'], os.getenv('B'), os.environ.get('C')\n"
    (tmp_path / "app.py").write_text(text)
    (module,) = read_application(tmp_path).modules

    assert set(module.variables) == {"A", "B", "C"}
    assert module.required_variables == {"A"}
