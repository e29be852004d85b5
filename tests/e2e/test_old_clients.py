"""Applications around Google's clients of before 2020, with these clients."""

from __future__ import annotations

import re
import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from image_server import photo
from uv import find_uv_bin
from vision_server import vision_server

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

CLIENTS = (
    "google-cloud-vision==1.0.2", "google-cloud-language==1.3.2", "google-cloud-speech==1.3.4",
    "google-api-core==1.34.1", "google-auth==2.38.0", "googleapis-common-protos==1.63.2",
    "protobuf==3.20.3", "grpcio", "grpcio-status==1.48.2", "requests", "urllib3", "idna", "certifi",
    "charset-normalizer", "cachetools", "pyasn1", "pyasn1-modules", "rsa", "six",
    "typing_extensions", "setuptools<81",
)  # fmt: skip
"""The last of before proto-plus, which these were written for, and what they need."""
SEEN = """
    from google.cloud import vision


    def is_dog(path):
        client = vision.ImageAnnotatorClient()
        with open(path, "rb") as file:
            image = vision.types.Image(content=file.read())
        labels = client.label_detection(image=image).label_annotations
        if labels[0].description == "Dog":
            return True
        return False


    def is_merry(path):
        client = vision.ImageAnnotatorClient()
        with open(path, "rb") as file:
            image = vision.types.Image(content=file.read())
        for face in client.face_detection(image=image).face_annotations:
            if face.joy_likelihood >= vision.enums.Likelihood.LIKELY:
                return True
        return False
"""
READ = """
    from google.cloud import language
    from google.cloud.language import enums, types


    def is_good(text):
        client = language.LanguageServiceClient()
        document = types.Document(content=text, type=enums.Document.Type.PLAIN_TEXT)
        felt = client.analyze_sentiment(document=document).document_sentiment
        if felt.score > 0.2:
            return True
        return False


    def is_about_people(text):
        client = language.LanguageServiceClient()
        document = types.Document(content=text, type=enums.Document.Type.PLAIN_TEXT)
        for one in client.analyze_entities(document).entities:
            if enums.Entity.Type(one.type).name == "PERSON":
                return True
        return False


    def is_sport(text):
        client = language.LanguageServiceClient()
        document = {"content": text, "type": enums.Document.Type.PLAIN_TEXT}
        for one in client.classify_text(document).categories:
            if one.name == "/Sports":
                return True
        return False
"""
HEARD = """
    from google.cloud import speech
    from google.cloud.speech import enums, types


    def opens(path):
        client = speech.SpeechClient()
        with open(path, "rb") as file:
            audio = types.RecognitionAudio(content=file.read())
        config = types.RecognitionConfig(
            encoding=enums.RecognitionConfig.AudioEncoding.LINEAR16,
            sample_rate_hertz=16000,
            language_code="en-US",
        )
        response = client.recognize(config, audio)
        if "open" in response.results[0].alternatives[0].transcript.split():
            return True
        return False
"""


@pytest.fixture(scope="module")
def old_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return an interpreter that has the old clients."""
    folder = tmp_path_factory.mktemp("old") / "venv"
    python = str(folder / "bin" / "python")
    install = [find_uv_bin(), "pip", "install", "--quiet", "--python", python, "--no-deps"]
    for command in (
        [find_uv_bin(), "venv", "--quiet", "--python", sys.executable, str(folder)],
        [*install, *CLIENTS],
    ):
        subprocess.run(command, check=True, timeout=300)
    return python


@pytest.fixture
def application(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    for name, text in (("seen", SEEN), ("read", READ), ("heard", HEARD)):
        (folder / f"{name}.py").write_text(dedent(text))
    return folder


def answer(command: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ciguard", command, "app", *words],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )


def test_stub_responses_reach_every_outcome(application: Path, old_python: str) -> None:
    done = answer("explore", "--python", old_python, cwd=application.parent)

    met = dict(
        re.findall(r"^\w+\.py:\d+ (\S+): reached (\d+ of \d+) outcomes", done.stdout, re.MULTILINE)
    )
    assert met == dict.fromkeys(
        (
            "heard.opens",
            "read.is_good",
            "read.is_about_people",
            "read.is_sport",
            "seen.is_dog",
            "seen.is_merry",
        ),
        "2 of 2",
    )
    # The two that take for granted that something is recognised, and no other one.
    assert re.findall(r"(\w+\.py):\d+: error: (.*)", done.stdout) == [
        ("heard.py", "IndexError: list index out of range"),
        ("seen.py", "IndexError: list index out of range"),
    ]
    assert done.returncode == 1


def test_recognisable_inputs_are_tested_recorded_and_replayed(
    application: Path, old_python: str
) -> None:
    shown = []
    for words in (["--record", "answers.jsonl"], ["--replay", "answers.jsonl"]):
        options = ["--python", old_python, "--inputs", "20", *words]
        done = answer("accuracy", *options, cwd=application.parent)
        assert done.returncode == 1, done.stderr  # for the same two crashes
        shown.append(re.findall(r"\w+\.py:\d+: (?:ok|error|warning): .*", done.stdout))

    tried, again = shown
    assert len([one for one in tried if ": ok: " in one]) == 6
    assert len([one for one in tried if ": error: IndexError" in one]) == 2
    assert again == tried


@pytest.mark.usefixtures("application")
def test_the_service_itself_is_asked_by_the_old_client(
    old_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = tmp_path / "images" / "dog"
    images.mkdir(parents=True)
    for at in range(6):
        (images / f"{at}.jpg").write_bytes(photo(at))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "led"))
    options = ["--python", old_python, "--function", "*.is_dog", "--images", "images"]
    with vision_server(tmp_path / "led", "Dog") as sizes:
        done = answer("accuracy", *options, "--service", "real", cwd=tmp_path)

    assert len(sizes) > 6
    assert (
        "labels[0].description == 'Dog': true for 6 of 6 inputs that should make it true"
        in done.stdout
    )
