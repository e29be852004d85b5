"""`ciguard app emulate` in the place of AWS's and Azure's services, asked by their own clients."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from azure.ai.textanalytics import TextAnalyticsClient
from azure.ai.vision.imageanalysis import ImageAnalysisClient
from azure.ai.vision.imageanalysis.models import VisualFeatures
from azure.cognitiveservices.vision.computervision import ComputerVisionClient
from azure.cognitiveservices.vision.computervision.models import (
    ComputerVisionErrorResponseException,
    ComputerVisionOcrErrorException,
    OperationStatusCodes,
    VisualFeatureTypes,
)
from azure.core.credentials import AccessToken, AzureKeyCredential
from azure.core.exceptions import HttpResponseError, ServiceRequestError
from botocore.exceptions import ClientError
from ciguard_command import command
from command_server import environment
from msrest.authentication import CognitiveServicesCredentials

from ciguard.levels.app.providers.registered import answered_operations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECRET = "AKIASECRETSECRET"
TEXT = next(one for one in answered_operations() if one.name == "detect_text")


def png(text: str = "Hello World") -> bytes:
    image = import_module("PIL.Image").new("RGB", (400, 120), "white")
    import_module("PIL.ImageDraw").Draw(image).text((20, 30), text, fill="black", font_size=50)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


@dataclass(frozen=True, slots=True)
class Running:
    """The command, and what it has printed."""

    process: subprocess.Popen[str]
    aws: str
    """The address that it tells users of boto3."""
    azure: str
    folder: Path

    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8")

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=60) == 0, self.log()


@contextlib.contextmanager
def emulate(folder: Path, *words: str) -> Iterator[Running]:
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            command("emulate", *words),
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
        ) as process,
    ):
        assert process.stdout is not None
        lines = "".join(process.stdout.readline() for _ in range(4))
        aws = re.search(r"^AWS: set AWS_ENDPOINT_URL=(\S+?),", lines, re.MULTILINE)
        azure = re.search(r"^Azure: set the client's endpoint to (\S+?),", lines, re.MULTILINE)
        try:
            assert aws is not None, lines
            assert azure is not None, lines
            yield Running(process, aws[1], azure[1], folder)
            if process.poll() is None:
                Running(process, aws[1], azure[1], folder).end()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with emulate(tmp_path_factory.mktemp("emulate")) as found:
        yield found


@contextlib.contextmanager
def aws(running: Running, service: str) -> Iterator[Any]:
    keys = {"aws_access_key_id": SECRET, "aws_secret_access_key": SECRET}
    made = boto3.client(service, endpoint_url=running.aws, region_name="eu-west-1", **keys)
    with contextlib.closing(made):
        yield made


def texts(running: Running, version: str = "") -> Any:
    named = {"api_version": version} if version else {}
    return TextAnalyticsClient(running.azure, AzureKeyCredential(SECRET), **named)


def eyes(running: Running) -> Any:
    return ImageAnalysisClient(running.azure, AzureKeyCredential(SECRET))


@contextlib.contextmanager
def vision(running: Running) -> Iterator[Any]:
    made: Any = ComputerVisionClient(  # type: ignore[no-untyped-call]
        running.azure, CognitiveServicesCredentials(SECRET)
    )
    with contextlib.closing(made):
        yield made


def shown(image: object) -> dict[str, object]:
    return {"Image": {"Bytes": image}}


def said_in_english(**text: object) -> dict[str, object]:
    return {"LanguageCode": "en", **text}


# --- AWS -----------------------------------------------------------------------------------------


def test_rekognition_answers_boto3(running: Running) -> None:
    with aws(running, "rekognition") as asking:
        labels = asking.detect_labels(**shown(png()), MaxLabels=2, MinConfidence=1)["Labels"]
        lines = asking.detect_text(**shown(png()))["TextDetections"]
        faces = asking.detect_faces(**shown(png()), Attributes=["ALL"])["FaceDetails"]

    assert len(labels) == 2
    assert 0 < labels[1]["Confidence"] <= labels[0]["Confidence"] <= 100
    assert [(one["Type"], one["DetectedText"]) for one in lines] == [
        ("LINE", "Hello World"),
        ("WORD", "Hello"),
        ("WORD", "World"),
    ]
    assert faces == []


def test_comprehend_answers_boto3(running: Running) -> None:
    with aws(running, "comprehend") as asking:
        felt = asking.detect_sentiment(**said_in_english(Text="I love this."))
        several = asking.batch_detect_sentiment(
            **said_in_english(TextList=["I love this.", "I hate this.", "a" * 5001])
        )
        entities = asking.detect_entities(**said_in_english(Text="Ada was in Rome."))["Entities"]
        phrases = asking.detect_key_phrases(**said_in_english(Text="The old hall"))["KeyPhrases"]
        (language,) = asking.detect_dominant_language(Text="Das ist nicht gut.")["Languages"]

    assert felt["Sentiment"] == "POSITIVE"
    assert [one["Sentiment"] for one in several["ResultList"]] == ["POSITIVE", "NEGATIVE"]
    assert [one["Index"] for one in several["ErrorList"]] == [2]
    assert {one["Text"] for one in entities} <= {"Ada", "Rome"}
    assert [one["Text"] for one in phrases] == ["old hall"]
    assert language["LanguageCode"] == "de"


def test_boto3_raises_the_errors_of_aws(running: Running) -> None:
    with aws(running, "rekognition") as asking:
        with pytest.raises(asking.exceptions.InvalidImageFormatException, match="image format"):
            asking.detect_labels(**shown(b"none"))
        with pytest.raises(asking.exceptions.InvalidS3ObjectException):
            asking.detect_labels(Image={"S3Object": {"Bucket": "bucket", "Name": "a.png"}})
        with pytest.raises(ClientError, match=r"ValidationException.* equal to 5242880"):
            asking.detect_labels(**shown(bytes(5 * 2**20 + 1)))
        with pytest.raises(ClientError, match=r"UnknownOperationException.*Not supported here"):
            asking.compare_faces(SourceImage={"Bytes": b"a"}, TargetImage={"Bytes": b"a"})
    with aws(running, "comprehend") as asking:
        with pytest.raises(asking.exceptions.TextSizeLimitExceededException):
            asking.detect_sentiment(**said_in_english(Text="a" * 5001))
        with pytest.raises(asking.exceptions.BatchSizeLimitExceededException):
            asking.batch_detect_sentiment(**said_in_english(TextList=["a"] * 26))
    with aws(running, "s3") as asking, pytest.raises(ClientError):
        asking.list_buckets()


def test_variables_are_enough_for_an_application_that_names_no_address(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL": running.aws,
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
    }.items():
        monkeypatch.setenv(name, value)
    with contextlib.closing(boto3.Session().client("comprehend")) as asking:
        felt = asking.detect_sentiment(**said_in_english(Text="I hate this."))

    assert felt["Sentiment"] == "NEGATIVE"


# --- Azure ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["", "v3.1", "v3.0", "2022-05-01"])
def test_language_answers_its_client_in_all_versions(running: Running, version: str) -> None:
    with texts(running, version) as asking:
        good, empty, bad = asking.analyze_sentiment(["I love this.", " ", "I hate this."])
        (named,) = asking.recognize_entities(["Ada was in Rome."])
        (phrases,) = asking.extract_key_phrases(["The old hall"])
        (language,) = asking.detect_language(["Das ist nicht gut."])

    assert (good.sentiment, bad.sentiment) == ("positive", "negative")
    assert good.sentences[0].text == "I love this."
    assert (empty.is_error, empty.error.code) == (True, "InvalidDocument")
    assert {one.text for one in named.entities} <= {"Ada", "Rome"}
    assert phrases.key_phrases == ["old hall"]
    assert language.primary_language.iso6391_name == "de"


def test_language_client_raises_the_errors_of_the_service(running: Running) -> None:
    unanswered: list[Callable[[Any], object]] = [
        lambda asking: asking.recognize_pii_entities(["Ada"]),
        lambda asking: asking.begin_analyze_healthcare_entities(["Ada"]),
        lambda asking: asking.begin_analyze_actions(["Ada"], []),
    ]
    with texts(running) as asking:
        with pytest.raises(HttpResponseError, match=r"too many records\. Max 5"):
            asking.recognize_entities(["Ada"] * 6)
        for ask in unanswered:
            with pytest.raises(HttpResponseError, match="Not supported here") as raised:
                ask(asking)
            assert raised.value.status_code == 501


def from_bytes(content: bytes) -> object:
    return content


def from_file(content: bytes) -> object:
    return io.BytesIO(content)


def from_parts(content: bytes) -> object:
    return iter([content[:99], content[99:]])


@pytest.mark.parametrize("given", [from_bytes, from_file, from_parts])
def test_image_analysis_answers_its_client(running: Running, given: Any) -> None:
    wanted = [VisualFeatures.TAGS, VisualFeatures.READ, VisualFeatures.CAPTION]
    with eyes(running) as asking:
        found = asking.analyze(image_data=given(png()), visual_features=wanted)

    assert found.tags.list[0].confidence > 0
    assert found.caption.text == found.tags.list[0].name
    assert [line.text for line in found.read.blocks[0].lines] == ["Hello World"]
    assert found.objects is None


def test_image_analysis_client_raises_the_errors_of_the_service(running: Running) -> None:
    tags = [VisualFeatures.TAGS]
    with eyes(running) as asking:
        with pytest.raises(HttpResponseError, match="Input data is not a valid image"):
            asking.analyze(image_data=b"none", visual_features=tags)
        with pytest.raises(HttpResponseError, match="can not access the URL"):
            asking.analyze_from_url(image_url="https://example.com/a.png", visual_features=tags)


def test_computer_vision_answers_its_client(running: Running, tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(png())
    wanted = [VisualFeatureTypes.tags, VisualFeatureTypes.objects]
    with vision(running) as asking, (tmp_path / "image.png").open("rb") as file:
        tags = asking.tag_image_in_stream(file).tags
        objects = asking.detect_objects_in_stream(io.BytesIO(png())).objects
        analysed = asking.analyze_image_in_stream(io.BytesIO(png()), visual_features=wanted)
        captions = asking.describe_image_in_stream(io.BytesIO(png())).captions
        printed = asking.recognize_printed_text_in_stream(io.BytesIO(png())).regions
        begun = asking.read_in_stream(io.BytesIO(png()), raw=True)
        number = begun.headers["Operation-Location"][-36:]
        result = asking.get_read_result(number)

    assert tags[0].confidence >= tags[1].confidence
    assert [one.name for one in analysed.tags] == [one.name for one in tags]
    assert [one.object_property for one in analysed.objects] == [
        one.object_property for one in objects
    ]
    assert analysed.description is None
    assert captions[0].text == tags[0].name
    assert [word.text for word in printed[0].lines[0].words] == ["Hello", "World"]
    assert result.status == OperationStatusCodes.succeeded
    assert result.analyze_result.read_results[0].lines[0].text == "Hello World"
    assert begun.headers["Operation-Location"].startswith(f"{running.azure}/vision/v3.2/read/")


def test_computer_vision_client_raises_the_errors_of_the_service(running: Running) -> None:
    with vision(running) as asking:
        with pytest.raises(
            ComputerVisionErrorResponseException, match="Input data is not a valid image"
        ):
            asking.tag_image_in_stream(io.BytesIO(b"none"))
        with pytest.raises(ComputerVisionErrorResponseException, match="can not access the URL"):
            asking.tag_image("https://example.com/a.png")
        with pytest.raises(ComputerVisionErrorResponseException, match="exceeds the limit"):
            asking.tag_image_in_stream(io.BytesIO(bytes(20 * 2**20 + 1)))
        with pytest.raises(ComputerVisionErrorResponseException, match="Not supported here"):
            asking.list_models()
        with pytest.raises(ComputerVisionOcrErrorException, match="Not Found"):
            asking.get_read_result("0")


class Tokens:
    """A credential of which nobody asks whose it is."""

    def get_token(self, *_: object, **__: object) -> AccessToken:
        return AccessToken(SECRET, int(time.time()) + 3600)


def test_a_token_is_sent_where_the_call_says_that_there_is_no_encryption(running: Running) -> None:
    with TextAnalyticsClient(running.azure, Tokens()) as asking:
        (felt,) = asking.analyze_sentiment(["I love this."], enforce_https=False)
        with pytest.raises(ServiceRequestError, match="not permitted for non-TLS"):
            asking.analyze_sentiment(["I love this."])

    assert felt.sentiment == "positive"


# --- all of them ---------------------------------------------------------------------------------


def sent(running: Running, method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
    connection = http.client.HTTPConnection(running.azure.removeprefix("http://"), timeout=60)
    with contextlib.closing(connection):
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, dict(response.headers), json.load(response)


def test_malformed_request_is_rejected_in_the_format_of_its_service(running: Running) -> None:
    target = {"X-Amz-Target": "Comprehend_20171127.DetectSentiment"}
    aws_status, aws_headers, aws_answer = sent(running, "POST", "/", target, b"{")
    put_status, _, put_answer = sent(running, "PUT", "/", target, b"")
    coded = {"Content-Encoding": "gzip"}
    azure_status, _, azure_answer = sent(running, "POST", "/vision/v3.2/tag", coded, b"a")
    google_status, _, google_answer = sent(running, "GET", "/", {}, b"")

    assert (aws_status, aws_answer["__type"]) == (400, "SerializationException")
    assert aws_headers["x-amzn-ErrorType"] == "SerializationException"
    assert (put_status, put_answer["__type"]) == (501, "UnknownOperationException")
    assert (azure_status, azure_answer["error"]["code"]) == (400, "InvalidRequest")
    assert (google_status, google_answer["error"]["status"]) == (501, "UNIMPLEMENTED")


@pytest.mark.parametrize("host", ["evil.example/x", "a b", "", "x\x7f", "[::1", "a:999999"])
def test_invalid_host_is_not_echoed(running: Running, host: str) -> None:
    path, kind = "/vision/v3.2/read/analyze", {"Content-Type": "application/octet-stream"}

    status, headers, _ = sent(running, "POST", path, {**kind, "Host": host}, png())

    assert status == 202
    assert headers["Operation-Location"].startswith(f"{running.azure}/vision/v3.2/read/analyzeRes")


def test_faults_are_what_clients_raise_after_few_tries(tmp_path: Path) -> None:
    (tmp_path / "faults.toml").write_text(
        '[[fault]]\noperations = ["detect_labels", "analyze_sentiment", "tag_image_in_stream"]\n'
        'error = "RESOURCE_EXHAUSTED"\n'
        '[[fault]]\noperations = ["detect_sentiment"]\nerror = "INTERNAL"\ntimes = 1\n'
        '[[fault]]\noperations = ["detect_text"]\nanswer = "nothing"\n'
        '[[fault]]\noperations = ["detect_objects_in_stream"]\nanswer = "many"\n'
        '[[fault]]\noperations = ["detect_entities"]\nseconds = 0.5\n'
    )
    began = time.monotonic()
    with emulate(tmp_path, "--faults", "faults.toml") as found:
        with aws(found, "rekognition") as asking:
            with pytest.raises(asking.exceptions.ThrottlingException, match="Quota exceeded"):
                asking.detect_labels(**shown(png()))
            assert asking.detect_text(**shown(png()))["TextDetections"] == []
        with aws(found, "comprehend") as asking:  # which asks again by itself
            assert asking.detect_sentiment(**said_in_english(Text="Fine."))["Sentiment"]
            before = time.monotonic()
            asking.detect_entities(**said_in_english(Text="Fine."))
            assert time.monotonic() - before >= 0.5
        with texts(found) as asking, pytest.raises(HttpResponseError) as throttled:
            asking.analyze_sentiment(["Fine."])
        with vision(found) as asking:
            assert len(asking.detect_objects_in_stream(io.BytesIO(png())).objects) == 100
            with pytest.raises(ComputerVisionErrorResponseException, match="Quota exceeded"):
                asking.tag_image_in_stream(io.BytesIO(png()))
        found.end()

    assert throttled.value.status_code == 429
    assert time.monotonic() - began < 60
    last = found.log().splitlines()[-1]
    assert re.fullmatch(
        r"\d+ requests: \d+ 429, 1 InternalServerException, \d+ OK, \d+ ThrottlingException", last
    )


def test_images_are_recognised_as_what_their_folder_is_named_like(tmp_path: Path) -> None:
    (tmp_path / "images" / "fire_truck").mkdir(parents=True)
    (tmp_path / "images" / "fire_truck" / "1.png").write_bytes(png("truck"))
    (tmp_path / "habits.toml").write_text('[objects]\n"fire truck" = { Vehicle = 1.0 }\n')

    with emulate(tmp_path, "--images", "images", "--habits", "habits.toml") as found:
        with aws(found, "rekognition") as asking:
            labels = asking.detect_labels(**shown(png("truck")))["Labels"]
        with vision(found) as asking:
            tags = asking.tag_image_in_stream(io.BytesIO(png("truck"))).tags
            objects = asking.detect_objects_in_stream(io.BytesIO(png("truck"))).objects
        with eyes(found) as asking:
            wanted = [VisualFeatures.OBJECTS]
            analysed = asking.analyze(image_data=png("truck"), visual_features=wanted)

    assert labels[0]["Name"].lower() == tags[0].name == "fire truck"
    assert [one.object_property for one in objects] == ["vehicle"]
    assert [one.tags[0].name for one in analysed.objects.list] == ["vehicle"]


def asked_of_all(found: Running) -> list[object]:
    """Return what several clients answer, the same each time."""
    with aws(found, "comprehend") as comprehend, texts(found) as language, eyes(found) as seeing:
        felt = comprehend.detect_sentiment(**said_in_english(Text="I love this."))
        (again,) = language.analyze_sentiment(["I love this."])
        tags = seeing.analyze(image_data=png(), visual_features=[VisualFeatures.TAGS]).tags
    return [felt["SentimentScore"], dict(again.confidence_scores), tags.as_dict()]


def test_replay_returns_only_recorded_responses(tmp_path: Path) -> None:
    with emulate(tmp_path, "--record", "recording.jsonl") as found:
        first = asked_of_all(found)
    with emulate(tmp_path, "--replay", "recording.jsonl") as found:
        again = asked_of_all(found)
        with aws(found, "comprehend") as asking:
            with pytest.raises(
                ClientError, match=r"AccessDeniedException.*no answer of .* is recorded"
            ):
                asking.detect_sentiment(**said_in_english(Text="I hate this."))
            with pytest.raises(ClientError, match=r"UnknownOperationException.*no engine answers"):
                asking.detect_entities(**said_in_english(Text="I hate this."))
        with (
            texts(found) as asking,
            pytest.raises(HttpResponseError, match=r"no answer of .* is recorded"),
        ):
            asking.analyze_sentiment(["I hate this."])

    assert again == first
    lines = (tmp_path / "recording.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["operation"] for line in lines} == {
        "detect_sentiment", "analyze_sentiment", "analyze",
    }  # fmt: skip


def test_requests_are_logged_without_content_and_keys(tmp_path: Path) -> None:
    with emulate(tmp_path) as found:
        with aws(found, "comprehend") as asking:
            asking.detect_sentiment(**said_in_english(Text="Nobody is to know this."))
        with texts(found) as asking:
            asking.analyze_sentiment(["Nobody is to know this.", " "])
        found.end()

    log = re.sub(r"\d\d:\d\d:\d\d|\d+\.\d\d", "N", found.log())
    assert log == (
        "N Comprehend_20171127.DetectSentiment detect_sentiment: OK (N s)\n"
        "N /language/:analyze-text analyze_sentiment: OK: Document text is empty. (N s)\n"
        "2 requests: 2 OK\n"
    )
