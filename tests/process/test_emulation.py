"""A service in the place of Google's, asked by its own clients, and any of them by plain HTTP."""

from __future__ import annotations

import base64
import contextlib
import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
import venv
from concurrent import futures
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import (
    language_v1,
    language_v1beta2,
    speech_v1,
    speech_v1p1beta1,
    vision,
    vision_v1p3beta1,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ciguard.errors import ConfigurationError
from ciguard.levels.app.emulation import (
    Emulation,
    EmulationOptions,
    GrpcAvailable,
    RequestLogEntry,
    emulation,
)
from ciguard.levels.app.emulation.remote import EndedError, GrpcUnavailable
from ciguard.levels.app.providers.registered import answered_operations

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT = {"content": "I love this. Ada was in Rome.", "type_": "PLAIN_TEXT"}
LONG = {**DOCUMENT, "content": "The orchestra has played in the concert hall. " * 5}
SPOKEN = {"language_code": "en-US"}
EMULATION_PAGE = Path(__file__).parents[2] / "docs" / "services" / "emulate.md"

TEXT = next(one for one in answered_operations() if one.name == "text_detection")


def png(text: str = "Hello World") -> bytes:
    image = import_module("PIL.Image").new("RGB", (400, 120), "white")
    import_module("PIL.ImageDraw").Draw(image).text((20, 30), text, fill="black", font_size=50)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
def log() -> list[RequestLogEntry]:
    return []


@pytest.fixture(scope="module")
def running(log: list[RequestLogEntry]) -> Iterator[Emulation]:
    with emulation(EmulationOptions(), log.append) as found:
        yield found


def speaking(running: Emulation) -> GrpcAvailable:
    assert isinstance(running.grpc, GrpcAvailable)
    return running.grpc


def channel(running: Emulation) -> grpc.Channel:
    return grpc.insecure_channel(f"127.0.0.1:{speaking(running).port}")


@contextlib.contextmanager
def by_grpc(running: Emulation, client: Any) -> Iterator[Any]:
    with channel(running) as opened:
        yield client(transport=client.get_transport_class("grpc")(channel=opened))


@contextlib.contextmanager
def by_rest(running: Emulation, client: Any) -> Iterator[Any]:
    credentials = AnonymousCredentials()  # type: ignore[no-untyped-call]
    options = {"api_endpoint": f"http://127.0.0.1:{running.rest_port}"}
    with client(transport="rest", credentials=credentials, client_options=options) as made:
        yield made


def posted(running: Emulation, path: str, content: object) -> tuple[int, Any]:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{running.rest_port}{path}", body)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - likewise
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


WAYS = [by_grpc, by_rest]
HEADS = [
    b"",
    b"POST /v1/images:annotate HTTP/1.1\r\n",
    b"POST / HTTP/1.1\r\nX-Amz-Target: RekognitionService.DetectLabels\r\n",
    b"POST / HTTP/1.1\r\nX-Amz-Target: ",
    b"POST /vision/v3.2/tag HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"GET /vision/v3.2/read/analyzeResults/",
    b"POST /language/:analyze-text HTTP/1.1\r\nContent-Type: application/json\r\n",
]
"""What requests begin with."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("client", [vision, vision_v1p3beta1])
def test_clients_of_vision_get_their_messages(running: Emulation, way: Any, client: Any) -> None:
    image = client.Image(content=png())
    with way(running, client.ImageAnnotatorClient) as asking:
        labels = asking.label_detection(image=image, max_results=2).label_annotations
        both = asking.annotate_image(
            {"image": image, "features": [{"type_": "FACE_DETECTION"}, {"type_": 19}]}
        )

    assert len(labels) == 2
    assert labels[0].score >= labels[1].score > 0
    assert both.localized_object_annotations
    assert not both.face_annotations


@pytest.mark.parametrize("way", WAYS)
def test_printed_text_is_recognised(running: Emulation, way: Any) -> None:
    with way(running, vision.ImageAnnotatorClient) as asking:
        text = asking.text_detection(image=vision.Image(content=png()))

    assert text.text_annotations[0].description == text.full_text_annotation.text == "Hello World"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("client", [language_v1, language_v1beta2])
def test_clients_of_language_get_their_messages(running: Emulation, way: Any, client: Any) -> None:
    with way(running, client.LanguageServiceClient) as asking:
        felt = asking.analyze_sentiment(document=DOCUMENT)
        entities = asking.analyze_entities(document=DOCUMENT).entities
        felt_of = asking.analyze_entity_sentiment(document=LONG)
        categories = asking.classify_text(document=LONG).categories

    assert felt.document_sentiment.score > 0.1
    assert [one.text.content for one in felt.sentences] == ["I love this.", "Ada was in Rome."]
    assert {one.name for one in entities} <= {"Ada", "Rome"}
    assert felt_of.language == "en"
    assert categories[0].name.startswith("/")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("client", [speech_v1, speech_v1p1beta1])
def test_clients_of_speech_get_their_messages(running: Emulation, way: Any, client: Any) -> None:
    silence = io.BytesIO()
    with import_module("wave").open(silence, "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(16_000))
    audio = {"content": silence.getvalue()}
    with way(running, client.SpeechClient) as asking:
        heard = asking.recognize(config=SPOKEN, audio=audio)
        later = asking.long_running_recognize(config=SPOKEN, audio=audio).result(timeout=60)

    assert list(heard.results) == []
    assert isinstance(later, client.LongRunningRecognizeResponse)


@pytest.mark.parametrize("way", WAYS)
def test_client_raises_the_errors_of_the_service(running: Emulation, way: Any) -> None:
    with way(running, vision.ImageAnnotatorClient) as asking:
        bad = asking.label_detection(image=vision.Image(content=b"none"))
        with pytest.raises(exceptions.MethodNotImplemented, match="LOGO_DETECTION"):
            asking.logo_detection(image=vision.Image(content=png()))
    with way(running, language_v1.LanguageServiceClient) as asking:
        with pytest.raises(exceptions.BadRequest, match="too few tokens"):
            asking.classify_text(document=DOCUMENT)
        with pytest.raises(exceptions.MethodNotImplemented, match="Not supported here"):
            asking.analyze_syntax(document=DOCUMENT)

    assert (bad.error.code, bad.error.message) == (3, "Bad image data.")


def test_streams_are_refused(running: Emulation) -> None:
    with (
        by_grpc(running, speech_v1.SpeechClient) as asking,
        pytest.raises(exceptions.MethodNotImplemented, match="Not supported here"),
    ):
        list(asking.streaming_recognize({"config": SPOKEN}, iter([])))


def test_plain_http_gets_googles_json(running: Emulation, log: list[RequestLogEntry]) -> None:
    request = {
        "requests": [
            {
                "image": {"content": base64.b64encode(png()).decode()},
                "features": [{"type": "TEXT_DETECTION"}, {"type": "LABEL_DETECTION"}],
            }
        ]
    }

    status, answer = posted(running, "/v1/images:annotate?key=AIza", request)

    assert status == 200
    assert answer["responses"][0]["fullTextAnnotation"]["text"] == "Hello World"
    assert answer["responses"][0]["labelAnnotations"][0]["topicality"] > 0
    assert (log[-1].path, log[-1].code) == ("/v1/images:annotate", "OK")
    assert log[-1].operations == ("text_detection", "label_detection")


def test_malformed_requests_are_refused_in_googles_json(running: Emulation) -> None:
    status, answer = posted(running, "/v1/images:annotate", b"{")

    assert status == 400
    assert answer["error"]["status"] == "INVALID_ARGUMENT"


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(HEADS), st.binary(max_size=300))
def test_emulator_responds_to_any_bytes_and_continues(
    running: Emulation, head: bytes, sent: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", running.rest_port), timeout=60) as raw:
        raw.sendall(head + sent + b"\r\n\r\n")
        raw.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while raw.recv(1 << 16):
                continue

    assert posted(running, "/v1/images:annotate", {}) == (200, {"responses": []})


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=100))
def test_any_bytes_are_answered_by_grpc(running: Emulation, sent: bytes) -> None:
    method = "/google.cloud.vision.v1.ImageAnnotator/BatchAnnotateImages"
    with channel(running) as opened:
        code = code_of(opened, method, sent)

    assert code in {grpc.StatusCode.OK, *map(grpc.StatusCode.__getitem__, REFUSALS)}


REFUSALS = ("INVALID_ARGUMENT", "UNIMPLEMENTED")


def code_of(opened: grpc.Channel, method: str, sent: bytes) -> grpc.StatusCode:
    try:
        opened.unary_unary(method)(sent, timeout=60)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def test_malformed_grpc_message_is_an_invalid_argument(
    running: Emulation, log: list[RequestLogEntry]
) -> None:
    method = "/google.cloud.vision.v1.ImageAnnotator/BatchAnnotateImages"
    with channel(running) as opened:
        code = code_of(opened, method, b"\xff\xff\xff")

    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert (log[-1].path, log[-1].code) == (method, "INVALID_ARGUMENT")


@pytest.mark.parametrize("method", ["/x/Y", "/google.cloud.vision.v1.ImageAnnotator/X", "/\x7f/é"])
def test_other_methods_are_not_implemented(running: Emulation, method: str) -> None:
    with channel(running) as opened:
        assert code_of(opened, method.encode(), b"") is grpc.StatusCode.UNIMPLEMENTED  # type: ignore[arg-type]


def test_too_long_request_is_rejected(running: Emulation) -> None:
    status, answer = posted(running, "/v1/images:annotate", b" " * (20 * 2**20 + 1))
    with channel(running) as opened:
        code = code_of(opened, "/google.cloud.speech.v1.Speech/Recognize", bytes(16 * 2**20))

    assert status == 400
    assert answer["error"]["message"] == "Request payload size exceeds the limit: 20971520 bytes."
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_a_large_image_is_taken_by_grpc(running: Emulation) -> None:
    with by_grpc(running, vision.ImageAnnotatorClient) as asking:
        found = asking.label_detection(image=vision.Image(content=png() + bytes(14 * 2**20)))

    assert found.label_annotations


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({}, 400, "Content-Length is missing or invalid"),
        ({"Content-Length": "x"}, 400, "Content-Length is missing or invalid"),
        ({"Transfer-Encoding": "gzip, chunked"}, 400, "Transfer-Encoding has to be `chunked`"),
        (
            {"Transfer-Encoding": "chunked", "Content-Length": "2"},
            400,
            "and the header Content-Length absent",
        ),
        ({"Content-Length": "9" * 30}, 400, "Content-Length is missing or invalid"),
        (
            {"Content-Length": "2", "Content-Encoding": "gzip"},
            400,
            "compressed bodies are not supported",
        ),
    ],
)
def test_bodies_that_are_not_read_are_refused(
    running: Emulation, headers: dict[str, str], status: int, said: str
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", running.rest_port, timeout=60)
    with contextlib.closing(connection):
        connection.putrequest("POST", "/v1/images:annotate")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(b"{}" if headers.get("Content-Length") == "2" else None)
        answer = connection.getresponse()
        assert answer.status == status
        assert said in json.load(answer)["error"]["message"]


def test_other_methods_of_http_are_not_implemented(running: Emulation) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", running.rest_port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", "/v1/images:annotate")
        answer = connection.getresponse()
        assert answer.status == 501
        assert json.load(answer)["error"]["status"] == "UNIMPLEMENTED"


def test_concurrent_clients_get_their_own_responses(running: Emulation) -> None:
    texts = ["Apple tree", "Garden door", "Window", "Bread and butter", "Station", "Winter"]
    with by_grpc(running, vision.ImageAnnotatorClient) as asking:

        def read(text: str) -> str:
            found = asking.text_detection(image=vision.Image(content=png(text)))
            return str(found.text_annotations[0].description)

        with futures.ThreadPoolExecutor(6) as pool:
            assert list(pool.map(read, texts)) == texts


def test_disconnected_client_does_not_affect_others(running: Emulation) -> None:
    request = json.dumps({"document": {"type": "HTML", "content": "Fine. " * 10_000}}).encode()
    head = f"POST /v1/documents:analyzeSentiment HTTP/1.1\r\nContent-Length: {len(request)}\r\n\r\n"
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", running.rest_port)) as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            raw.sendall(head.encode() + request)

    assert posted(running, "/v1/images:annotate", {})[0] == 200


# --- what users say -------------------------------------------------------------------------------


def test_images_are_recognised_as_what_their_folder_is_named_like(tmp_path: Path) -> None:
    (tmp_path / "images" / "fire_truck").mkdir(parents=True)
    (tmp_path / "images" / "fire_truck" / "1.png").write_bytes(png("truck"))
    (tmp_path / "habits.toml").write_text('[objects]\n"fire truck" = { Vehicle = 1.0 }\n')

    told = EmulationOptions(images=tmp_path / "images", confusion_matrix=tmp_path / "habits.toml")
    with emulation(told, lambda _: None) as found:
        image = vision.Image(content=png("truck"))
        with by_grpc(found, vision.ImageAnnotatorClient) as asking:
            labels = asking.label_detection(image=image).label_annotations
            objects = asking.object_localization(image=image).localized_object_annotations

    assert labels[0].description.lower() == "fire truck"
    assert [one.name for one in objects] == ["Vehicle"]


def test_faults_are_what_clients_meet(tmp_path: Path) -> None:
    (tmp_path / "faults.toml").write_text(
        '[[fault]]\noperations = ["label_detection"]\nerror = "RESOURCE_EXHAUSTED"\n'
        '[[fault]]\noperations = ["analyze_sentiment"]\nerror = "UNAVAILABLE"\ntimes = 1\n'
        '[[fault]]\noperations = ["analyze_entities"]\nseconds = 5\n'
        '[[fault]]\noperations = ["classify_text"]\nanswer = "many"\n'
        '[[fault]]\noperations = ["object_localization"]\nerror = "INVALID_ARGUMENT"\n'
    )
    with emulation(EmulationOptions(faults=tmp_path / "faults.toml"), lambda _: None) as found:
        image = vision.Image(content=png())
        for way in WAYS:
            with way(found, vision.ImageAnnotatorClient) as asking:
                with pytest.raises(exceptions.TooManyRequests, match="Quota exceeded"):
                    asking.label_detection(image=image)
                assert asking.object_localization(image=image).error.code == 3
        with by_grpc(found, language_v1.LanguageServiceClient) as asking:
            # The client waits and asks again by itself.
            assert asking.analyze_sentiment(document=DOCUMENT).sentences
            with pytest.raises(exceptions.DeadlineExceeded):
                asking.analyze_entities(document=DOCUMENT, timeout=0.5, retry=None)
            assert len(asking.classify_text(document=LONG).categories) == 100
        status, answer = posted(
            found, "/v1/images:annotate", {"requests": [{"features": [{"type": 4}]}]}
        )

    assert status == 429
    assert answer["error"] == {
        "code": 429,
        "message": "Quota exceeded.",
        "status": "RESOURCE_EXHAUSTED",
    }


def test_replay_returns_only_recorded_responses(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    with (
        emulation(EmulationOptions(record=file), lambda _: None) as found,
        by_grpc(found, language_v1.LanguageServiceClient) as asking,
    ):
        first = asking.analyze_sentiment(document=DOCUMENT)
    with (
        emulation(EmulationOptions(replay=file), lambda _: None) as found,
        by_grpc(found, language_v1.LanguageServiceClient) as asking,
    ):
        again = asking.analyze_sentiment(document=DOCUMENT)
        with pytest.raises(exceptions.FailedPrecondition, match=r"no answer of .* is recorded"):
            asking.analyze_sentiment(document=LONG)
        with pytest.raises(
            exceptions.MethodNotImplemented, match="no engine answers this operation"
        ):
            asking.analyze_entities(document=DOCUMENT)

    assert again == first


def test_a_recording_that_is_no_message_is_an_internal_error(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    with (
        emulation(EmulationOptions(record=file), lambda _: None) as found,
        by_grpc(found, language_v1.LanguageServiceClient) as asking,
    ):
        asking.analyze_sentiment(document=DOCUMENT)
    record = json.loads(file.read_text())
    record["answer"] = {"sentences": {"a_b": [1, None]}}
    file.write_text(json.dumps(record) + "\n")
    with (
        emulation(EmulationOptions(replay=file), lambda _: None) as found,
        by_grpc(found, language_v1.LanguageServiceClient) as asking,
        pytest.raises(exceptions.InternalServerError, match="answer is not a valid message"),
    ):
        asking.analyze_sentiment(document=DOCUMENT)


def test_emulator_without_client_libraries_serves_only_rest(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    python = str(tmp_path / "bare" / "bin" / "python")

    with emulation(EmulationOptions(python=python), lambda _: None) as found:
        assert isinstance(found.grpc, GrpcUnavailable)
        assert "grpc" in found.grpc.reason
        assert posted(found, "/v1/images:annotate", {})[0] == 200


def test_emulate_with_a_missing_interpreter_reports_it() -> None:
    with (
        pytest.raises(ConfigurationError, match="--python none: program not found"),
        emulation(EmulationOptions(python="none"), lambda _: None),
    ):
        pass


def test_emulate_with_a_used_port_reports_it(running: Emulation) -> None:
    with (
        pytest.raises(ConfigurationError, match=r"cannot listen on .* Choose another --host or"),
        emulation(EmulationOptions(port=running.rest_port), lambda _: None),
    ):
        pass
    with (
        pytest.raises(ConfigurationError, match=r"in use, .* Choose another --host or --grpc-port"),
        emulation(EmulationOptions(grpc_port=speaking(running).port), lambda _: None),
    ):
        pass


def children() -> set[int]:
    """Return the processes that the main thread has started."""
    return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))


def test_the_end_of_what_speaks_grpc_is_an_error() -> None:
    before = children()
    with emulation(EmulationOptions(), lambda _: None) as found:
        (started,) = children() - before
        os.kill(started, signal.SIGKILL)
        with pytest.raises(EndedError, match="The gRPC process has ended: SIGKILL"):
            found.wait()


def outward_address() -> str:
    """Return the address that this machine has for others; a second one of its own if it has none.

    Nothing is sent, and no name is looked up: not every machine knows its own.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.3"
        return str(asking.getsockname()[0])


def test_it_listens_on_one_address_only(running: Emulation) -> None:
    for port in (running.rest_port, speaking(running).port):
        for other in ("127.0.0.2", outward_address()):
            with pytest.raises(OSError, match="refused"):
                socket.create_connection((other, port), timeout=5).close()


def test_the_lines_of_the_documentation_work(running: Emulation, tmp_path: Path) -> None:
    """Run what the page tells users of Python to write, against the ports of this service."""
    text = EMULATION_PAGE.read_text("utf-8")
    (tmp_path / "sign.png").write_bytes(png())
    for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        ready = code.replace("127.0.0.1:8081", f"127.0.0.1:{speaking(running).port}")
        ready = ready.replace("127.0.0.1:8080", f"127.0.0.1:{running.rest_port}")
        done = subprocess.run(
            [sys.executable, "-c", ready],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "Hello World\n"), done.stderr
    (line,) = re.findall(r"^\$ (curl .*\\\n.*)", text, flags=re.MULTILINE)
    ready = line.replace("127.0.0.1:8080", f"127.0.0.1:{running.rest_port}")
    done = subprocess.run(
        ["bash", "-c", ready],  # noqa: S607 - as a user would
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "documentSentiment" in json.loads(done.stdout)
