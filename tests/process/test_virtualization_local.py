"""Engines that recognise, and what they say of damaged contents; whatever is installed."""

from __future__ import annotations

import io
import subprocess
import sys
import wave
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from google.cloud import language_v1, speech_v1, vision
from google.protobuf import json_format
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.description import Operation, RecognitionTask
from ciguard.levels.app.providers.registered import is_recognisable, known_providers
from ciguard.levels.app.virtualization.engine import are_installed
from ciguard.levels.app.virtualization.faces import FaceEngine
from ciguard.levels.app.virtualization.sentiment import SentimentEngine
from ciguard.levels.app.virtualization.sounds import samples
from ciguard.levels.app.virtualization.speech import SpeechEngine
from ciguard.levels.app.virtualization.validation import refuse_invalid
from ciguard.levels.app.virtualization.written_text import TextEngine

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.levels.app.virtualization.engine import Engine

GOOGLE = known_providers()[0]
OPERATIONS = {name: one for client in GOOGLE.clients for name, one in client.operations.items()}
TEXT, FACE = OPERATIONS["text_detection"], OPERATIONS["face_detection"]
SENTIMENT, SPEECH = OPERATIONS["analyze_sentiment"], OPERATIONS["recognize"]
ENGINES: list[tuple[Engine, Operation, tuple[str, ...]]] = [
    (TextEngine(), TEXT, ("PIL", "pytesseract")),
    (FaceEngine(), FACE, ("PIL", "cv2")),
    (SentimentEngine(), SENTIMENT, ("vaderSentiment",)),
    (SpeechEngine(), SPEECH, ("pocketsphinx",)),
]


def drawing(size: tuple[int, int] = (400, 120)) -> tuple[Any, Any]:
    image = import_module("PIL.Image").new("RGB", size, "white")
    return image, import_module("PIL.ImageDraw").Draw(image)


def saved(image: Any, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    image.save(file, kind)
    return file.getvalue()


def written(text: str, kind: str = "PNG") -> bytes:
    image, draw = drawing()
    draw.text((20, 20), text, fill="black", font_size=32)
    return saved(image, kind)


def sound(frames: bytes, rate_hz: int = 16_000, channels: int = 1, width: int = 2) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate_hz)
        file.writeframes(frames)
    return buffer.getvalue()


def refusal(engine: Engine, operation: Operation, about: bytes) -> str:
    with pytest.raises(ServiceError) as caught:
        engine.answer(operation, about)
    assert caught.value.code == "INVALID_ARGUMENT"
    return str(caught.value.message)


@pytest.mark.parametrize(("engine", "operation", "modules"), ENGINES)
def test_an_engine_serves_its_task_with_what_it_needs_and_nothing_without(
    engine: Engine, operation: Operation, modules: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [one for one in OPERATIONS.values() if one.task is not operation.task]
    elsewhere = [
        one
        for provider in known_providers()[1:]
        for client in provider.clients
        for one in client.operations.values()
        if one.task is not operation.task or not is_recognisable(one)
    ]

    assert not engine.is_simulated
    assert engine.name
    assert not any(engine.serves(one) for one in (*others, *elsewhere))
    if not are_installed(*modules):
        assert not engine.serves(operation)
    for module in modules:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            assert not engine.serves(operation)


def test_tesseract_is_not_served_without_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)

    assert not TextEngine().serves(TEXT)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_tesseract_reads_lines_and_words_where_they_are(kind: str) -> None:
    answer = TextEngine().answer(TEXT, written("Emergency exit\nturn left", kind))

    made = vision.AnnotateImageResponse
    read = made(json_format.ParseDict(answer, made.pb(made())))
    assert [one.description for one in read.text_annotations] == [
        "Emergency exit\nturn left", "Emergency", "exit", "turn", "left",
    ]  # fmt: skip
    assert read.full_text_annotation.text == "Emergency exit\nturn left"
    whole, first, second, third, _ = (one.bounding_poly.vertices for one in read.text_annotations)
    assert first[1].x < second[0].x
    assert first[2].y < third[0].y
    assert whole[0].x <= first[0].x
    assert whole[2].x >= second[2].x
    page = read.full_text_annotation.pages[0]
    assert (page.width, page.height) == (400, 120)
    assert all(0.3 <= w.confidence <= 1 for w in page.blocks[0].paragraphs[0].words)


def test_tesseract_reads_nothing_on_white_paper_or_on_a_speck() -> None:
    assert TextEngine().answer(TEXT, saved(drawing()[0])) == {}
    assert TextEngine().answer(TEXT, saved(drawing((1, 1))[0])) == {}


def test_tesseract_that_does_not_end_exceeds_the_deadline() -> None:
    with pytest.raises(ServiceError, match="DEADLINE_EXCEEDED"):
        TextEngine(limit_s=0.001).answer(TEXT, written("Exit"))


def faces(count: int) -> bytes:
    """Return drawn faces: what is dark and bright in one is enough for a cascade."""
    skin = (224, 172, 140)
    image, draw = drawing((320 * count + 60, 400))
    for at in range(count):
        left, top = 60 + 320 * at, 60
        draw.ellipse((left - 10, top - 40, left + 210, top + 200), fill=(60, 45, 35))
        draw.ellipse((left, top, left + 200, top + 260), fill=skin)
        for eye in (left + 35, left + 120):
            draw.ellipse((eye - 3, top + 75, eye + 48, top + 90), fill=(70, 50, 40))
            draw.ellipse((eye, top + 95, eye + 45, top + 120), fill="white")
            draw.ellipse((eye + 12, top + 96, eye + 33, top + 119), fill=(30, 25, 20))
        nose = ((left + 100, top + 110), (left + 82, top + 170), (left + 118, top + 170))
        draw.polygon(nose, fill=(239, 187, 155))
        draw.ellipse((left + 82, top + 162, left + 118, top + 175), fill=(174, 122, 90))
        draw.ellipse((left + 60, top + 195, left + 140, top + 220), fill=(150, 60, 60))
    return saved(image)


def test_opencv_finds_faces_from_left_to_right_and_knows_no_emotions() -> None:
    answer = FaceEngine().answer(FACE, faces(2))

    made = vision.AnnotateImageResponse
    found = made(json_format.ParseDict(answer, made.pb(made()))).face_annotations
    assert len(found) == 2
    left, right = (face.bounding_poly.vertices for face in found)
    assert left[1].x < right[0].x
    assert all(0 < face.detection_confidence <= 1 for face in found)
    assert {face.joy_likelihood.name for face in found} == {"UNKNOWN"}
    assert answer["face_annotations"][0]["sorrow_likelihood"] == "UNKNOWN"


def test_opencv_finds_no_face_on_white_paper() -> None:
    assert FaceEngine().answer(FACE, saved(drawing()[0])) == {}
    assert FaceEngine().answer(FACE, saved(drawing((1, 1))[0])) == {}


def test_vader_scores_a_text_and_its_sentences() -> None:
    text = "I love this wonderful place. The soup was horrible! It has a door."

    answer = SentimentEngine().answer(SENTIMENT, text.encode())

    made = language_v1.AnalyzeSentimentResponse
    read = made(json_format.ParseDict(answer, made.pb(made())))
    scores = [one.sentiment.score for one in read.sentences]
    assert scores[0] > 0.5
    assert scores[1] < -0.3
    assert scores[2] == 0
    assert read.document_sentiment.score == pytest.approx(sum(scores) / 3, abs=1e-3)
    assert read.document_sentiment.magnitude == pytest.approx(sum(map(abs, scores)), abs=1e-3)
    assert [text[one.text.begin_offset :][: len(one.text.content)] for one in read.sentences] == [
        "I love this wonderful place.", "The soup was horrible!", "It has a door.",
    ]  # fmt: skip


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_vader_answers_any_bytes_or_refuses_them(about: bytes) -> None:
    check_answers(SentimentEngine(), SENTIMENT, about)


def check_answers(engine: Engine, operation: Operation, about: bytes) -> None:
    try:
        answer = engine.answer(operation, about)
    except ServiceError as error:
        assert error.code in {"INVALID_ARGUMENT", "INTERNAL"}  # noqa: PT017
    else:
        assert isinstance(answer, dict)


def test_pocketsphinx_recognises_speech_of_flite(tmp_path: Path) -> None:
    file = tmp_path / "said.wav"
    said = ["flite", "-voice", "rms", "-t", "turn on the light", "-o", str(file)]
    subprocess.run(said, check=True, timeout=60)

    answers = [SpeechEngine().answer(SPEECH, file.read_bytes()) for _ in range(2)]

    made = speech_v1.RecognizeResponse
    heard = made(json_format.ParseDict(answers[0], made.pb(made())))
    assert [one.alternatives[0].transcript for one in heard.results] == ["turn on the light"]
    assert 0.5 < heard.results[0].alternatives[0].confidence <= 1
    assert answers[0] == answers[1]


def test_pocketsphinx_recognises_nothing_in_silence() -> None:
    for silence in (b"", bytes(2), bytes(32_000), b"\1\0"):
        assert SpeechEngine().answer(SPEECH, sound(silence)) == {}


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (b"", "RecognitionAudio not set."),
        (b"RIFF", "bad encoding"),
        (b"no sound at all", "bad encoding"),
        (sound(bytes(20))[:30], "bad encoding"),
        (sound(bytes(20), channels=2), "WAV header indicates 2 channels"),
        (sound(bytes(20), width=1), "bad encoding"),
        (sound(bytes(20), rate_hz=44_100), "match the value in the WAV header ( 44100)"),
        (sound(b"\1\0" * 16_000 * 61), "Sync input too long"),
    ],
)
def test_sounds_that_the_service_does_not_take_are_refused_in_its_words(
    about: bytes, message: str
) -> None:
    assert message in refusal(SpeechEngine(), SPEECH, about)


@given(st.binary(max_size=40).map(sound), st.integers(0, 60), st.binary(max_size=8))
def test_damaged_sounds_are_read_or_refused(about: bytes, at: int, damage: bytes) -> None:
    try:
        found = samples(about[:at] + damage + about[at + len(damage) :])
    except ServiceError as error:
        assert error.code == "INVALID_ARGUMENT"  # noqa: PT017
    else:
        assert len(found) % 2 == 0


@settings(max_examples=6, deadline=None)
@given(st.binary(max_size=2000).map(sound), st.integers(0, 60), st.binary(max_size=8))
def test_pocketsphinx_answers_damaged_sounds_or_refuses_them(
    about: bytes, at: int, damage: bytes
) -> None:
    check_answers(SpeechEngine(), SPEECH, about[:at] + damage + about[at + len(damage) :])


PICTURES = [(engine, operation) for engine, operation, _ in ENGINES[:2]]


@pytest.mark.parametrize(("engine", "operation"), PICTURES)
@pytest.mark.parametrize(
    ("about", "message"),
    [
        (b"", "Request must specify image and features."),
        (b"no image", "Bad image data."),
        (b"\x89PNG\r\n\x1a\n", "Bad image data."),
        (b"\xff\xd8\xff\xe0", "Bad image data."),
        (b"RIFF\0\0\0\0WAVE", "Bad image data."),
    ],
)
def test_images_that_are_none_are_refused_in_the_services_words(
    engine: Engine, operation: Operation, about: bytes, message: str
) -> None:
    assert refusal(engine, operation, about) == message


@pytest.mark.parametrize(("engine", "operation"), PICTURES)
def test_truncated_and_too_large_images_are_refused(engine: Engine, operation: Operation) -> None:
    images = import_module("PIL.Image")
    whole = written("Exit")

    assert refusal(engine, operation, whole[: len(whole) // 2]) == "Bad image data."
    for side in (9_000, 15_000):  # more than the service takes, and than Pillow bears
        large = saved(images.new("1", (side, side)))
        assert refusal(engine, operation, large) == "Bad image data."


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "ICO"]),
    st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), max_size=8),
    st.integers(0, 4000),
)
def test_damaged_images_are_answered_or_refused(
    kind: str, damage: list[tuple[int, int]], end: int
) -> None:
    image, draw = drawing((40, 30))
    draw.ellipse((5, 5, 30, 25), fill="black")
    about = bytearray(saved(image, kind))
    for at, byte in damage:
        about[at % len(about)] = byte

    check_answers(FaceEngine(), FACE, bytes(about[: end or None]))


WORDS_19 = "word " * 18 + "end"


@pytest.mark.parametrize(
    ("name", "about", "message"),
    [
        ("label_detection", b"", "Request must specify image and features."),
        ("label_detection", b"GIF88a", "Bad image data."),
        ("analyze_sentiment", b"", "One of content, or gcs_content_uri must be set."),
        ("analyze_entities", b"\xff", "Document content is not valid UTF-8."),
        ("classify_text", WORDS_19.encode(), "Invalid text content: too few tokens (words) to"),
        ("recognize", b"", "RecognitionAudio not set."),
    ],
)
def test_content_that_services_reject_does_not_reach_an_engine(
    name: str, about: bytes, message: str
) -> None:
    with pytest.raises(ServiceError) as caught:
        refuse_invalid(OPERATIONS[name], about)

    assert caught.value.code == "INVALID_ARGUMENT"
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("label_detection", b"RIFF\0\0\0\0WEBP"),
        ("label_detection", b"\xff\xd8\xff"),
        ("analyze_sentiment", b" "),
        ("classify_text", f"{WORDS_19}.".encode()),
        ("recognize", b"anything"),
    ],
)
def test_what_services_take_is_not_refused(name: str, about: bytes) -> None:
    refuse_invalid(OPERATIONS[name], about)


@given(st.sampled_from(list(OPERATIONS.values())), st.binary(max_size=40))
def test_any_bytes_are_taken_or_refused_in_words(operation: Operation, about: bytes) -> None:
    if operation.task is not RecognitionTask.OTHER:
        try:
            refuse_invalid(operation, about)
        except ServiceError as error:
            assert error.message  # noqa: PT017
