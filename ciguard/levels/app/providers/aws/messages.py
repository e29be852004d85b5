"""Writes answers of Rekognition, Comprehend and Transcribe, in the JSON format of AWS.

The client drops fields that its version does not know, and adds empty lists for missing ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, Refusal, long_text
from ciguard.levels.app.providers.described import described_result
from ciguard.levels.app.providers.description import (
    TASKS_WITHOUT_INPUTS,
    MediaKind,
    RecognitionTask,
    media_kind,
)
from ciguard.levels.app.providers.recognised import (
    DIGITS,
    EMOTIONS,
    NEUTRAL,
    SENTENCE_ENDS,
    BoundingBox,
    Word,
    as_sentence,
    bounding_box_of,
    confidences_around,
    likeliest_first,
    sentiment_confidences,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Entity, Face, Scored, ScoredSentence, Size

CLIENTS: frozenset[str] = frozenset({"rekognition", "comprehend", "transcribe"})
TASKS: frozenset[RecognitionTask] = (
    frozenset(RecognitionTask)
    - TASKS_WITHOUT_INPUTS
    - {RecognitionTask.OBJECTS, RecognitionTask.CATEGORIES}
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
"""Emotions of AWS; an answer has the confidence of each."""
ATTRIBUTES = ("Eyeglasses", "Sunglasses", "Beard", "Mustache", "MouthOpen", "FaceOccluded")
"""Boolean attributes of a face."""
FACE_PROPERTIES: tuple[str, ...] = (
    *EMOTIONS, *EMOTION_KINDS[4:], "smile", "female", "eyes_closed", *ATTRIBUTES,
)  # fmt: skip
ARE_FACES_MEASURED: bool = True
_LANDMARKS = (
    ("eyeLeft", 0.3, 0.35), ("eyeRight", 0.7, 0.35), ("mouthLeft", 0.35, 0.75),
    ("mouthRight", 0.65, 0.75), ("nose", 0.5, 0.55),
)  # fmt: skip
"""Landmarks and their positions in a face, as shares of its size."""
_SENTIMENTS = ("Positive", "Negative", "Neutral", "Mixed")
_CALM_CONFIDENCE = 0.95
"""Confidence of `CALM` for a face that shows no emotion."""
_MIN_BOXED_SCORE = 0.9
"""Minimum score of a label that also gets a bounding box."""
_MAX_LENGTH = 5_000
"""Maximum size of a text for sentiment analysis, in bytes."""


def topic(text: str) -> str:
    """Return a category unchanged: users define the categories themselves."""
    return text


def label_answer(scored_results: Scored) -> Json:
    """Return labels, the likeliest first; those with a high score have a bounding box.

    The parent of a label is the next one, since a service also returns the parents as labels.
    """
    results = likeliest_first(scored_results)
    return {
        "Labels": [
            {
                "Name": name,
                "Confidence": _percent(score),
                "Instances": [_scored_box(BoundingBox(0.1, 0.1, 0.5, 0.5), score)]
                if score >= _MIN_BOXED_SCORE
                else [],
                "Parents": [{"Name": parent} for parent, _ in results[index : index + 1]],
                "Aliases": [],
                "Categories": [],
            }
            for index, (name, score) in enumerate(results, 1)
        ],
        "LabelModelVersion": "3.0",
    }


def object_answer(scored_results: Scored, boxes: Sequence[BoundingBox]) -> Json:
    """Return labels instead of objects, as Rekognition does."""
    del boxes
    return label_answer(scored_results)


def category_answer(scored_results: Scored) -> Json:
    """Return topics as the classes of a custom model."""
    return {
        "Classes": [
            {"Name": name, "Score": score} for name, score in likeliest_first(scored_results)
        ]
    }


def _percent(share: float) -> float:
    return round(100 * share, DIGITS)


def _scored_box(box: BoundingBox, score: float) -> Json:
    return {"BoundingBox": _box(box), "Confidence": _percent(score)}


def _box(box: BoundingBox) -> Json:
    return {"Left": box.left, "Top": box.top, "Width": box.width, "Height": box.height}


def face_answer(faces: Sequence[Face], size: Size) -> Json:
    """Return faces with all attributes; later, those that are not requested are removed."""
    return {"FaceDetails": [_face(face, face.box.of(size)) for face in faces]}


def _face(face: Face, box: BoundingBox) -> Json:
    """Return a face with all attributes; its box has shares of the image size."""
    confidences = face.confidences()

    def attribute(name: str) -> Json:
        share = confidences.get(name, 0.0)
        return {"Value": share > 1 / 2, "Confidence": _percent(max(share, 1 - share))}

    is_closed = attribute("eyes_closed")
    is_female = attribute("female")
    return {
        **_scored_box(box, face.confidence),
        "AgeRange": {"Low": face.age, "High": face.age + 8},
        "Smile": attribute("smile" if "smile" in confidences else "joy"),
        "Gender": {**is_female, "Value": "Female" if is_female["Value"] else "Male"},
        "EyesOpen": {**is_closed, "Value": not is_closed["Value"]},
        **{name: attribute(name) for name in ATTRIBUTES},
        "Emotions": _emotions(confidences),
        "EyeDirection": {"Yaw": 0.0, "Pitch": 0.0, "Confidence": _percent(face.confidence)},
        "Landmarks": [
            {"Type": kind, "X": box.left + box.width * x, "Y": box.top + box.height * y}
            for kind, x, y in _LANDMARKS
        ],
        "Pose": {"Roll": 0.0, "Yaw": 0.0, "Pitch": 0.0},
        "Quality": {"Brightness": 80.0, "Sharpness": 80.0},
    }


def _emotions(confidences: Mapping[str, float]) -> Json:
    """Return all emotions, the likeliest first; a face that shows no emotion is calm."""
    by_kind = {_EMOTION_OF.get(name, name): share for name, share in confidences.items()}
    shares = {kind: by_kind.get(kind, 0.0) for kind in EMOTION_KINDS}
    if not any(shares.values()):
        shares["CALM"] = _CALM_CONFIDENCE
    surest = sorted(shares.items(), key=lambda pair: -pair[1])
    return [{"Type": name, "Confidence": _percent(share)} for name, share in surest]


def text_answer(lines: Sequence[Sequence[Word]], size: Size) -> Json:
    """Return the lines of a text, then their words; each word has the number of its line."""
    detections = [_text_detection(line, number, "LINE", size) for number, line in enumerate(lines)]
    for number, line in enumerate(lines):
        for word in line:
            for part in word.text.split():
                single_word = Word(part, word.box, word.confidence)
                detections.append(
                    {
                        **_text_detection([single_word], len(detections), "WORD", size),
                        "ParentId": number,
                    }
                )
    return {"TextDetections": detections, "TextModelVersion": "3.0"}


def _text_detection(words: Sequence[Word], number: int, kind: str, size: Size) -> Json:
    """Return a detected line or word, as `kind` says, with its number and bounding box."""
    box = bounding_box_of([word.box for word in words]).of(size)
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


def sentiment_answer(score: float, scored_sentences: Sequence[ScoredSentence]) -> Json:
    """Return the sentiment of a document, and the confidence of each sentiment.

    The confidence grows with the score. The sentiment is mixed if sentences have opposite ones.
    """
    strongest = [
        max((sign * sentence.score for sentence in scored_sentences), default=0.0)
        for sign in (1, -1)
    ]
    mixed = min(strongest) if len(scored_sentences) > 1 else -1.0
    return _sentiment(sentiment_confidences((score, -score, NEUTRAL, mixed)))


def _sentiment(shares: Sequence[float]) -> Json:
    """Return the likeliest sentiment, and the confidence of each sentiment."""
    by_sentiment = dict(zip(_SENTIMENTS, shares, strict=True))
    best = max(_SENTIMENTS, key=by_sentiment.__getitem__)
    return {
        "Sentiment": best.upper(),
        "SentimentScore": {name: round(share, DIGITS) for name, share in by_sentiment.items()},
    }


def sentiments_around(numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
    """Yield title and answer of each sentiment with a high confidence, then around each number."""
    for title, shares in confidences_around(_SENTIMENTS, numbers):
        content = _sentiment(shares)
        yield f"{content['Sentiment']}, {title}", content


def entity_answer(entities: Sequence[Entity]) -> Json:
    """Return the entities in a text, in the order in which they occur."""
    return {
        "Entities": [
            {
                "Text": entity.name,
                "Type": _KIND_OF.get(entity.kind, entity.kind),
                "Score": round(entity.confidence, DIGITS),
                "BeginOffset": max(entity.begin, 0),
                "EndOffset": max(entity.begin, 0) + len(entity.name),
            }
            for entity in sorted(entities, key=lambda entity: entity.begin)
        ]
    }


def speech_answer(scored_results: Scored) -> Json:
    """Return the content of a transcript file: all text, and time and confidence of each word."""
    parts = [
        (as_sentence(part.strip()), confidence)
        for part, confidence in scored_results
        if part.strip()
    ]
    words = [(word, confidence) for part, confidence in parts for word in part.split()]
    items = [item for index, word in enumerate(words) for item in _transcript_items(index, *word)]
    text = " ".join(part for part, _ in parts)
    return {"results": {"transcripts": [{"transcript": text}], "items": items}}


def _transcript_items(index: int, word: str, confidence: float) -> Iterator[Json]:
    """Yield a word, half a second after the previous one, and the punctuation after it."""
    spoken = word.rstrip(SENTENCE_ENDS)
    times = {"start_time": f"{index / 2:.2f}", "end_time": f"{index / 2 + 0.4:.2f}"}
    for kind, content, time_fields, score in (
        ("pronunciation", spoken, times, f"{confidence:.{DIGITS}f}"),
        ("punctuation", word[len(spoken) :][:1], {}, "0.0"),
    ):
        if content:
            alternative = {"content": content, "confidence": score}
            yield {"type": kind, **time_fields, "alternatives": [alternative]}


def listed_answer(operation: Operation, scored_results: Scored) -> Json:
    """Return results with a name and a score, such as celebrities, phrases or languages."""
    maximum = operation.between[1] if operation.between else 1.0
    records = []
    for index, (key, score) in enumerate(likeliest_first(scored_results)):
        further_fields = _further_fields(
            operation, key, index=index, parent=scored_results[0][0] if index else ""
        )
        records.append(
            described_result(operation, key, round(maximum * score, DIGITS), further_fields)
        )
    return {operation.records: records}


def _further_fields(
    operation: Operation, key: str, *, index: int, parent: str
) -> Mapping[str, Json]:
    """Return the fields of a result apart from its name and score.

    Args:
        operation: operation that returns the result.
        key: name of the result.
        index: position of the result in the answer, from 0 on.
        parent: name of the label that contains this one; empty for none.
    """
    if operation.task is RecognitionTask.PHRASES:
        return {"BeginOffset": 0, "EndOffset": len(key)}
    if media_kind(operation.task) is MediaKind.TEXT:
        return {}
    face = {"BoundingBox": _box(BoundingBox(0.1, 0.1, 0.5, 0.5)), "Confidence": 99.0}
    return {
        "Id": f"{index}", "Urls": [], "Face": face, "ParentName": parent,
        "TaxonomyLevel": 2 if index else 1,
    }  # fmt: skip


def refusals(operation: Operation) -> Sequence[Refusal]:
    """Return the errors that AWS may return: rate limits, invalid files, texts too long."""
    rate = Refusal("Rate exceeded", "ThrottlingException", depends_on_content=False)
    if media_kind(operation.task) is MediaKind.IMAGE:
        return rate, Refusal("Request has invalid image format", "InvalidImageFormatException")
    if operation.task is RecognitionTask.SPEECH:
        reason = "The media format provided does not match the detected media format."
        limit = "You have sent too many requests. Wait before you send your next request."
        return (
            Refusal(limit, "LimitExceededException", depends_on_content=False),
            Refusal(reason, Code.INVALID_ARGUMENT),
        )
    if operation.task is RecognitionTask.SENTIMENT:
        return rate, long_text(_MAX_LENGTH, "bytes")
    return (rate,)  # the limit of other operations is twenty times as high
