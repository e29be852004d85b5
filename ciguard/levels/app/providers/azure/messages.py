"""Writes answers of Azure's text and image services, with the field names of their clients.

Answers have the parts of all operations of a task; the hook removes those of other operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.azure import speech_messages
from ciguard.levels.app.providers.codes import Code, Refusal, long_text
from ciguard.levels.app.providers.description import (
    TASKS_WITHOUT_INPUTS,
    MediaKind,
    RecognitionTask,
    media_kind,
)
from ciguard.levels.app.providers.recognised import (
    DIGITS,
    NEUTRAL,
    BoundingBox,
    Word,
    bounding_box_of,
    confidences_around,
    likeliest_first,
    sentiment_confidences,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Entity, Scored, ScoredSentence, Size

CLIENTS: frozenset[str] = frozenset({
    "vision", "image analysis", "text analytics", "face", "speech",
})  # fmt: skip
TASKS: frozenset[RecognitionTask] = (
    frozenset(RecognitionTask) - TASKS_WITHOUT_INPUTS - {RecognitionTask.CATEGORIES}
)
KINDS: Mapping[str, str] = {
    "Person": "PERSON", "Location": "LOCATION", "Organization": "ORGANIZATION", "Event": "EVENT",
    "Product": "CONSUMER_GOOD", "DateTime": "DATE", "Quantity": "NUMBER", "Address": "ADDRESS",
    "PhoneNumber": "PHONE_NUMBER", "PersonType": "", "Skill": "", "Email": "", "URL": "", "IP": "",
}  # fmt: skip
_KIND_OF = {
    **{own: kind for kind, own in KINDS.items() if own},
    "PRICE": "Quantity", "WORK_OF_ART": "Product", "OTHER": "Skill",
}  # fmt: skip
_SENTIMENTS = ("positive", "negative", "neutral")
_SIDE = 32
"""Width and height of the image in answers, in pixels."""
_SIZE = {"width": _SIDE, "height": _SIDE, "format": "Png"}
UNSAFE_PROPERTIES: tuple[str, ...] = ("adult", "racy", "gory")
ARE_JUDGEMENTS_SCORED: bool = True
_UNSAFE_SCORES = {
    "VERY_UNLIKELY": 0.01, "UNLIKELY": 0.25, "POSSIBLE": 0.5, "LIKELY": 0.75, "VERY_LIKELY": 0.97,
}  # fmt: skip
_MIN_UNSAFE = 0.5
"""Score above which the service calls content unsafe."""
_TEXT_BOX = BoundingBox(2, 2, 18, 18)
_NO_LANGUAGE = ("(Unknown)", 0.0)
_MAX_LENGTH = 5_120
"""Maximum length of a text, in characters."""


def topic(text: str) -> str:
    """Return a category unchanged."""
    return text


def label_answer(scored_results: Scored) -> Json:
    """Return labels in lower case, as in the service, the likeliest first."""
    tags = [
        {"name": name.lower(), "confidence": score}
        for name, score in likeliest_first(scored_results)
    ]
    return {"tags": tags, "metadata": _SIZE}


def object_answer(scored_results: Scored, boxes: Sequence[BoundingBox]) -> Json:
    """Return objects in lower case, the likeliest first, each with its rectangle in pixels."""
    return {
        "objects": [
            {
                "object_property": name.lower(),
                "confidence": score,
                "rectangle": {
                    "x": round(box.left * _SIDE),
                    "y": round(box.top * _SIDE),
                    "w": max(1, round(box.width * _SIDE)),
                    "h": max(1, round(box.height * _SIDE)),
                },
            }
            for (name, score), box in zip(likeliest_first(scored_results), boxes, strict=True)
        ],
        "metadata": _SIZE,
    }


def category_answer(scored_results: Scored) -> Json:
    """Return topics as the categories of an image, the likeliest first."""
    return {
        "categories": [
            {"name": name, "score": score} for name, score in likeliest_first(scored_results)
        ]
    }


def text_answer(lines: Sequence[Sequence[Word]], size: Size) -> Json:
    """Return the text of an image, with the fields of all operations that recognise text."""
    width, height = size
    read = {"page": 1, "angle": 0.0, "width": width, "height": height, "unit": "pixel"}
    regions = [{"bounding_box": "2,2,18,18", "lines": [_printed_line(line) for line in lines]}]
    return {
        "status": "succeeded",
        "created_date_time": "2024-01-01T00:00:00Z",
        "last_updated_date_time": "2024-01-01T00:00:01Z",
        "analyze_result": {
            "version": "3.2.0",
            "model_version": "2022-04-30",
            "read_results": [{**read, "lines": [_line(line) for line in lines]}],
        },
        "language": "en",
        "text_angle": 0.0,
        "orientation": "Up",
        "regions": regions if lines else [],
    }


def _line(words: Sequence[Word]) -> Json:
    """Return a line of text in the format of the text-recognition operation `read`."""
    return {
        "bounding_box": _corner_coordinates(words),
        "text": " ".join(word.text for word in words),
        "words": [
            {
                "bounding_box": _corner_coordinates([word]),
                "text": part,
                "confidence": round(word.confidence, DIGITS),
            }
            for word in words
            for part in word.text.split()
        ],
    }


def _printed_line(words: Sequence[Word]) -> Json:
    """Return a line of text in the format of the operation for printed text."""
    box = "2,2,18,18"
    parts = [part for word in words for part in word.text.split()]
    return {"bounding_box": box, "words": [{"bounding_box": box, "text": part} for part in parts]}


def _corner_coordinates(words: Sequence[Word]) -> list[float]:
    """Return x and y of each corner of the words' bounding box, in one list."""
    corners = bounding_box_of([word.box for word in words]).corners()
    return [float(number) for corner in corners for number in corner]


def sentiment_answer(score: float, scored_sentences: Sequence[ScoredSentence]) -> Json:
    """Return the sentiment of a document and its sentences; `mixed` if sentences disagree."""
    sentences = [
        {
            **_sentiment(sentiment_confidences((sentence.score, -sentence.score, NEUTRAL))),
            "text": sentence.text,
            "offset": sentence.begin,
            "length": len(sentence.text),
        }
        for sentence in scored_sentences
    ]
    sentiments = {sentence["sentiment"] for sentence in sentences}
    document = _sentiment(sentiment_confidences((score, -score, NEUTRAL)))
    if {"positive", "negative"} <= sentiments:
        document["sentiment"] = "mixed"
    return {**document, "sentences": sentences}


def _sentiment(shares: Sequence[float]) -> dict[str, Json]:
    """Return the likeliest sentiment, and the confidence of each sentiment."""
    by_sentiment = dict(zip(_SENTIMENTS, shares, strict=True))
    return {
        "sentiment": max(_SENTIMENTS, key=by_sentiment.__getitem__),
        "confidence_scores": {name: round(share, DIGITS) for name, share in by_sentiment.items()},
    }


def sentiments_around(numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
    """Yield title and answer of each sentiment with a high confidence, then around each number."""
    for title, shares in confidences_around(_SENTIMENTS, numbers):
        document = _sentiment(shares)
        yield f"{document['sentiment']}, {title}", _single_sentence(document)
    document = {**_sentiment((0.5, 0.5, 0.0)), "sentiment": "mixed"}
    yield "mixed", _single_sentence(document)


def _single_sentence(document: Json) -> Json:
    """Return the answer for a document of one sentence, which is neutral in a mixed document."""
    sentiment = document["sentiment"]
    fields = {**document, "sentiment": "neutral" if sentiment == "mixed" else sentiment}
    sentence = {**fields, "text": "This is a text.", "offset": 0, "length": 15}
    return {**document, "sentences": [sentence]}


def entity_answer(entities: Sequence[Entity]) -> Json:
    """Return the entities in a text, in the order in which they occur."""
    return {
        "entities": [
            {
                "text": entity.name,
                "category": _KIND_OF.get(entity.kind, entity.kind),
                "confidence_score": round(entity.confidence, DIGITS),
                "offset": max(entity.begin, 0),
                "length": len(entity.name),
            }
            for entity in sorted(entities, key=lambda entity: entity.begin)
        ]
    }


def listed_answer(operation: Operation, scored_results: Scored) -> Json:
    """Return key phrases, a language or an image analysis, as the task of the operation says."""
    names = [name for name, _ in scored_results]
    if operation.task is RecognitionTask.PHRASES:
        return {"key_phrases": names}
    if operation.task is RecognitionTask.LANGUAGE:
        code, score = scored_results[0] if scored_results else _NO_LANGUAGE
        language = {"name": code, "iso6391_name": code, "confidence_score": round(score, DIGITS)}
        return {"detected_language": language}
    return _image_analysis(scored_results)


def _image_analysis(scored_results: Scored) -> Json:
    objects = object_answer(scored_results, [_TEXT_BOX.of((_SIDE, _SIDE))] * len(scored_results))[
        "objects"
    ]
    words = [[Word(name, _TEXT_BOX, score)] for name, score in scored_results]
    lines = [_line(line) for line in words]
    captions = [
        {"text": name, "confidence": score} for name, score in likeliest_first(scored_results)
    ]
    tags = label_answer(scored_results)["tags"]
    place = {"x": 2, "y": 2, "w": 18, "h": 18}
    is_doubtful = bool(tags) and tags[0]["confidence"] < _DOUBTFUL
    return {
        **image_answer(tags, captions, objects, lines),
        "brands": [{**tag, "rectangle": place} for tag in tags],
        "faces": [
            {"age": 30, "gender": _GENDERS[(len(tags) - index) % 2], "face_rectangle": _FACE_PLACE}
            for index in range(len(tags))
        ],
        # That varies apart from the names of colours.
        "color": {**_colors([tag["name"].capitalize() for tag in tags]), "is_bw_img": is_doubtful},
    }


_GENDERS = ("Female", "Male")
_FACE_PLACE = {"left": 2, "top": 2, "width": 18, "height": 18}
_DOUBTFUL = 0.5


def _colors(names: Sequence[str]) -> dict[str, Json]:
    """Return the colours of an image; the first one dominates its foreground and background."""
    first = names[0] if names else "Grey"
    return {
        "dominant_color_foreground": first,
        "dominant_color_background": first,
        "dominant_colors": names or [first],
        "accent_color": "808080",
        "is_bw_img": False,
    }


def safety_answer(judged: Mapping[str, str | float]) -> Json:
    """Return the scores of unsafe content, and which kinds the image contains."""
    adult: dict[str, Json] = {}
    for name in UNSAFE_PROPERTIES:
        value = judged.get(name, "VERY_UNLIKELY")
        score = _UNSAFE_SCORES.get(value, 0.0) if isinstance(value, str) else value
        adult[f"is_{name}_content"] = score > _MIN_UNSAFE
        adult["gore_score" if name == "gory" else f"{name}_score"] = round(score, DIGITS)
    return {"adult": adult}


def image_answer(
    tags: Sequence[Json], captions: Sequence[Json], objects: Sequence[Json], lines: Sequence[Json]
) -> Json:
    """Return an image analysis.

    Args:
        tags: tags in the form of `label_answer`.
        captions: captions with `text` and `confidence`, the likeliest first.
        objects: objects in the form of `object_answer`.
        lines: lines in the form of `read_results` in `text_answer`.
    """
    whole = {"x": 0, "y": 0, "w": _SIDE, "h": _SIDE}
    return {
        "tags": tags,
        "objects": objects,
        "description": {"tags": [tag["name"] for tag in tags], "captions": captions},
        **category_answer([(tag["name"], tag["confidence"]) for tag in tags]),
        "faces": [],
        "brands": [],
        "color": _colors([]),
        "image_type": {"clip_art_type": 0, "line_drawing_type": 0},
        **safety_answer({}),
        "metadata": _SIZE,
        "model_version": "2023-10-01",
        "tags_result": {"values": tags},
        "objects_result": {"values": [_detected_object(item) for item in objects]},
        "caption_result": captions[0]
        if captions
        else {"text": "a blurry image", "confidence": 0.5},
        "dense_captions_result": {
            "values": [{**caption, "bounding_box": whole} for caption in captions]
        },
        "read_result": {
            "blocks": [{"lines": [_read_line(line) for line in lines]}] if lines else []
        },
        "people_result": {"values": []},
    }


def combined_answer(parts: Sequence[Json]) -> Json:
    """Return an image analysis.

    Its one-sentence description is the most likely tag.

    Args:
        parts: answers with tags, with objects and with the text of one image.
    """
    tags_answer, objects_answer, read_answer = parts
    captions = [
        {"text": tag["name"], "confidence": tag["confidence"]} for tag in tags_answer["tags"]
    ]
    lines = read_answer["analyze_result"]["read_results"][0]["lines"]
    return image_answer(tags_answer["tags"], captions, objects_answer["objects"], lines)


def _detected_object(item: Json) -> Json:
    """Return an object in the format of Image Analysis 4.0."""
    tag = {"name": item["object_property"], "confidence": item["confidence"]}
    return {"bounding_box": item["rectangle"], "tags": [tag], "id": ""}


def _read_line(line: Json) -> Json:
    """Return a line of text in the format of Image Analysis 4.0."""
    words = [{**word, "bounding_polygon": _points(word)} for word in line["words"]]
    for word in words:
        del word["bounding_box"]
    return {"text": line["text"], "bounding_polygon": _points(line), "words": words}


def _points(item: Json) -> Json:
    """Return the corners of a bounding box as points."""
    numbers = [round(number) for number in item["bounding_box"]]
    return [{"x": x, "y": y} for x, y in zip(numbers[::2], numbers[1::2], strict=True)]


def refusals(operation: Operation) -> Sequence[Refusal]:
    """Return the errors that Azure may return: rate limits, invalid images, texts too long."""
    quota = "Requests have exceeded rate limit of your current pricing tier."
    if operation.task is RecognitionTask.SPEECH:
        return speech_messages.refusals()
    rate = Refusal(quota, Code.RESOURCE_EXHAUSTED, depends_on_content=False)
    if media_kind(operation.task) is MediaKind.IMAGE:
        return rate, Refusal("Input data is not a valid image.", Code.INVALID_ARGUMENT)
    return rate, long_text(_MAX_LENGTH, "letters")
