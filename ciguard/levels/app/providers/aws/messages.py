"""Answers of Rekognition, Comprehend and Transcribe, as AWS has them in JSON.

What an older client does not know is left out when it reads them; lists that are empty it adds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, Refusal, long_text
from ciguard.levels.app.providers.described import described
from ciguard.levels.app.providers.description import NOT_MADE, MediaKind, RecognitionTask, kind_of
from ciguard.levels.app.providers.recognised import (
    DIGITS,
    EMOTIONS,
    ENDS,
    NEUTRAL,
    BoundingBox,
    Word,
    around,
    as_shares,
    displayed,
    ordered,
    shares_around,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Entity, Face, Felt, Scored, Size

CLIENTS: frozenset[str] = frozenset({"rekognition", "comprehend", "transcribe"})
TASKS: frozenset[RecognitionTask] = (
    frozenset(RecognitionTask) - NOT_MADE - {RecognitionTask.OBJECTS, RecognitionTask.CATEGORIES}
)
KINDS: Mapping[str, str] = {
    "PERSON": "PERSON", "LOCATION": "LOCATION", "ORGANIZATION": "ORGANIZATION", "EVENT": "EVENT",
    "TITLE": "WORK_OF_ART", "COMMERCIAL_ITEM": "CONSUMER_GOOD", "DATE": "DATE",
    "QUANTITY": "NUMBER", "OTHER": "OTHER",
}  # fmt: skip
_KIND_OF = {
    **{own: kind for kind, own in KINDS.items()},
    "PRICE": "QUANTITY", "ADDRESS": "LOCATION", "PHONE_NUMBER": "OTHER",
}  # fmt: skip
_EMOTION_OF = {"joy": "HAPPY", "sorrow": "SAD", "anger": "ANGRY", "surprise": "SURPRISED"}
EMOTION_KINDS = (*_EMOTION_OF.values(), "CALM", "CONFUSED", "DISGUSTED", "FEAR")
"""Each face is said to show each of them, with a share."""
ATTRIBUTES = ("Eyeglasses", "Sunglasses", "Beard", "Mustache", "MouthOpen", "FaceOccluded")
"""That a face has or has not."""
SHOWN_BY_FACES: tuple[str, ...] = (
    *EMOTIONS, *EMOTION_KINDS[4:], "smile", "female", "eyes_closed", *ATTRIBUTES,
)  # fmt: skip
ARE_FACES_MEASURED: bool = True
_LANDMARKS = (
    ("eyeLeft", 0.3, 0.35), ("eyeRight", 0.7, 0.35), ("mouthLeft", 0.35, 0.75),
    ("mouthRight", 0.65, 0.75), ("nose", 0.5, 0.55),
)  # fmt: skip
"""Where they are in a face, in shares of it."""
_OF_FEELINGS = ("Positive", "Negative", "Neutral", "Mixed")
_CALM = 0.95
_SEEN_ALONE = 0.9
"""Least score of a label that is found in a place of its own too."""
_MAX_LENGTH = 5_000
"""Bytes of a text, where it is asked what is felt."""


def topic(text: str) -> str:
    """Return a category as it is: users name their own."""
    return text


def label_answer(found: Scored) -> Json:
    """Return labels, the likeliest first; one that is sure with a place where it is."""
    return {
        "Labels": [
            {
                "Name": name,
                "Confidence": _percent(score),
                "Instances": [_placed(BoundingBox(0.1, 0.1, 0.5, 0.5), score)]
                if score >= _SEEN_ALONE
                else [],
                "Parents": [],
                "Aliases": [],
                "Categories": [],
            }
            for name, score in ordered(found)
        ],
        "LabelModelVersion": "3.0",
    }


def object_answer(found: Scored, boxes: Sequence[BoundingBox]) -> Json:
    """Return the same: Rekognition's objects are labels."""
    del boxes
    return label_answer(found)


def category_answer(found: Scored) -> Json:
    """Return the classes of a user's own model."""
    return {"Classes": [{"Name": name, "Score": score} for name, score in ordered(found)]}


def _percent(share: float) -> float:
    return round(100 * share, DIGITS)


def _placed(box: BoundingBox, score: float) -> Json:
    return {"BoundingBox": _box(box), "Confidence": _percent(score)}


def _box(box: BoundingBox) -> Json:
    return {"Left": box.left, "Top": box.top, "Width": box.width, "Height": box.height}


def face_answer(faces: Sequence[Face], size: Size) -> Json:
    """Return faces with all their attributes; the client leaves out those not asked for."""
    return {"FaceDetails": [_face(face, face.box.of(size)) for face in faces]}


def _face(face: Face, box: BoundingBox) -> Json:
    shown = face.shares()

    def told(what: str) -> Json:
        share = shown.get(what, 0.0)
        return {"Value": share > 1 / 2, "Confidence": _percent(max(share, 1 - share))}

    is_closed = told("eyes_closed")
    is_female = told("female")
    return {
        **_placed(box, face.confidence),
        "AgeRange": {"Low": face.age, "High": face.age + 8},
        "Smile": told("smile" if "smile" in shown else "joy"),
        "Gender": {**is_female, "Value": "Female" if is_female["Value"] else "Male"},
        "EyesOpen": {**is_closed, "Value": not is_closed["Value"]},
        **{name: told(name) for name in ATTRIBUTES},
        "Emotions": _emotions(shown),
        "EyeDirection": {"Yaw": 0.0, "Pitch": 0.0, "Confidence": _percent(face.confidence)},
        "Landmarks": [
            {"Type": kind, "X": box.left + box.width * x, "Y": box.top + box.height * y}
            for kind, x, y in _LANDMARKS
        ],
        "Pose": {"Roll": 0.0, "Yaw": 0.0, "Pitch": 0.0},
        "Quality": {"Brightness": 80.0, "Sharpness": 80.0},
    }


def _emotions(shown: Mapping[str, float]) -> Json:
    """Return all emotions, the surest first; a face that shows none is calm."""
    named = {_EMOTION_OF.get(what, what): share for what, share in shown.items()}
    shares = {kind: named.get(kind, 0.0) for kind in EMOTION_KINDS}
    if not any(shares.values()):
        shares["CALM"] = _CALM
    surest = sorted(shares.items(), key=lambda one: -one[1])
    return [{"Type": name, "Confidence": _percent(share)} for name, share in surest]


def text_answer(lines: Sequence[Sequence[Word]], size: Size) -> Json:
    """Return the lines that are written, then their words, each with its line."""
    found = [_written(line, at, "LINE", size) for at, line in enumerate(lines)]
    for at, line in enumerate(lines):
        for word in line:
            for part in word.text.split():
                written = Word(part, word.box, word.confidence)
                found.append({**_written([written], len(found), "WORD", size), "ParentId": at})
    return {"TextDetections": found, "TextModelVersion": "3.0"}


def _written(words: Sequence[Word], number: int, kind: str, size: Size) -> Json:
    box = around([word.box for word in words]).of(size)
    return {
        "DetectedText": " ".join(word.text for word in words),
        "Type": kind,
        "Id": number,
        "Confidence": _percent(min(word.confidence for word in words)),
        "Geometry": {
            "BoundingBox": _box(box),
            "Polygon": [{"X": x, "Y": y} for x, y in box.corners()],
        },
    }


def sentiment_answer(score: float, felt: Sequence[Felt]) -> Json:
    """Return the feeling of a document, and how sure that is.

    The further from nothing, the surer; mixed as far as there are sentences of either feeling.
    """
    strongest = [max((sign * one.score for one in felt), default=0.0) for sign in (1, -1)]
    mixed = min(strongest) if len(felt) > 1 else -1.0
    return _sentiment(as_shares((score, -score, NEUTRAL, mixed)))


def _sentiment(shares: Sequence[float]) -> Json:
    by_feeling = dict(zip(_OF_FEELINGS, shares, strict=True))
    surest = max(_OF_FEELINGS, key=by_feeling.__getitem__)
    return {
        "Sentiment": surest.upper(),
        "SentimentScore": {name: round(share, DIGITS) for name, share in by_feeling.items()},
    }


def sentiments_around(numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
    """Yield each feeling surely, then each with a share on both sides of each number."""
    for title, shares in shares_around(_OF_FEELINGS, numbers):
        content = _sentiment(shares)
        yield f"{content['Sentiment']}, {title}", content


def entity_answer(entities: Sequence[Entity]) -> Json:
    """Return what a text speaks of, in the order of the text."""
    return {
        "Entities": [
            {
                "Text": one.name,
                "Type": _KIND_OF.get(one.kind, one.kind),
                "Score": round(one.certainty, DIGITS),
                "BeginOffset": max(one.begin, 0),
                "EndOffset": max(one.begin, 0) + len(one.name),
            }
            for one in sorted(entities, key=lambda entity: entity.begin)
        ]
    }


def speech_answer(found: Scored) -> Json:
    """Return the file with a transcript, as sentences; of each word, when and how surely."""
    parts = [(displayed(said.strip()), sure) for said, sure in found if said.strip()]
    words = [(word, sure) for said, sure in parts for word in said.split()]
    items = [one for at, word in enumerate(words) for one in _spoken(at, *word)]
    text = " ".join(said for said, _ in parts)
    return {"results": {"transcripts": [{"transcript": text}], "items": items}}


def _spoken(at: int, word: str, sure: float) -> Iterator[Json]:
    """Yield a word, said half a second after the one before, and the mark that ends it."""
    said = word.rstrip(ENDS)
    times = {"start_time": f"{at / 2:.2f}", "end_time": f"{at / 2 + 0.4:.2f}"}
    for kind, content, when, score in (
        ("pronunciation", said, times, f"{sure:.{DIGITS}f}"),
        ("punctuation", word[len(said) :][:1], {}, "0.0"),
    ):
        if content:
            told = {"content": content, "confidence": score}
            yield {"type": kind, **when, "alternatives": [told]}


def listed_answer(operation: Operation, found: Scored) -> Json:
    """Return what has a name and a score: celebrities, phrases, languages, what is unfit."""
    most = operation.between[1] if operation.between else 1.0
    records = []
    for at, (key, score) in enumerate(ordered(found)):
        beside = _beside(operation, key, at=at, parent=found[0][0] if at else "")
        records.append(described(operation, key, round(most * score, DIGITS), beside))
    return {operation.records: records}


def _beside(operation: Operation, key: str, *, at: int, parent: str) -> Mapping[str, Json]:
    """Return what a result says beside what it is and how sure."""
    if operation.task is RecognitionTask.PHRASES:
        return {"BeginOffset": 0, "EndOffset": len(key)}
    if kind_of(operation.task) is MediaKind.TEXT:
        return {}
    face = {"BoundingBox": _box(BoundingBox(0.1, 0.1, 0.5, 0.5)), "Confidence": 99.0}
    return {
        "Id": f"{at}", "Urls": [], "Face": face, "ParentName": parent,
        "TaxonomyLevel": 2 if at else 1,
    }  # fmt: skip


def refusals(operation: Operation) -> Sequence[Refusal]:
    """Return its own: asked too often, an image that is none, a text that is too long."""
    rate = Refusal("Rate exceeded", "ThrottlingException", is_of_content=False)
    if kind_of(operation.task) is MediaKind.IMAGE:
        return rate, Refusal("Request has invalid image format", "InvalidImageFormatException")
    if operation.task is RecognitionTask.SPEECH:
        reason = "The media format provided does not match the detected media format."
        limit = "You have sent too many requests. Wait before you send your next request."
        return (
            Refusal(limit, "LimitExceededException", is_of_content=False),
            Refusal(reason, Code.INVALID_ARGUMENT),
        )
    if operation.task is RecognitionTask.SENTIMENT:
        return rate, long_text(_MAX_LENGTH, "bytes")
    return (rate,)  # others take twenty times as much
