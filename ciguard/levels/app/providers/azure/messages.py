"""Answers of Azure's services for texts and images, with the names that their clients have.

Parts that an operation does not tell are left out by the client, which knows what was asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.azure import speech_messages
from ciguard.levels.app.providers.codes import Code, Refusal, long_text
from ciguard.levels.app.providers.description import NOT_MADE, MediaKind, RecognitionTask, kind_of
from ciguard.levels.app.providers.recognised import (
    DIGITS,
    NEUTRAL,
    BoundingBox,
    Word,
    around,
    as_shares,
    ordered,
    shares_around,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Entity, Felt, Scored, Size

CLIENTS: frozenset[str] = frozenset({
    "vision", "image analysis", "text analytics", "face", "speech",
})  # fmt: skip
TASKS: frozenset[RecognitionTask] = (
    frozenset(RecognitionTask) - NOT_MADE - {RecognitionTask.CATEGORIES}
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
_FEELINGS = ("positive", "negative", "neutral")
_SIDE = 32
_SIZE = {"width": _SIDE, "height": _SIDE, "format": "Png"}
_PLACE = BoundingBox(2, 2, 18, 18)
_NO_LANGUAGE = ("(Unknown)", 0.0)
_MAX_LENGTH = 5_120
"""Letters of a text."""


def topic(text: str) -> str:
    """Return a category as it is."""
    return text


def label_answer(found: Scored) -> Json:
    """Return labels in small letters, as it writes all of them, the likeliest first."""
    tags = [{"name": name.lower(), "confidence": score} for name, score in ordered(found)]
    return {"tags": tags, "metadata": _SIZE}


def object_answer(found: Scored, boxes: Sequence[BoundingBox]) -> Json:
    """Return objects in small letters likewise, each with its rectangle."""
    return {
        "objects": [
            {
                "object_property": name.lower(),
                "confidence": score,
                "rectangle": {
                    "x": round(box.left * _SIDE),
                    "y": round(box.top * _SIDE),
                    "w": round(box.width * _SIDE),
                    "h": round(box.height * _SIDE),
                },
            }
            for (name, score), box in zip(ordered(found), boxes, strict=True)
        ],
        "metadata": _SIZE,
    }


def category_answer(found: Scored) -> Json:
    """Return categories of an image."""
    return {"categories": [{"name": name, "score": score} for name, score in ordered(found)]}


def text_answer(lines: Sequence[Sequence[Word]], size: Size) -> Json:
    """Return what is written, as all ways to read tell it."""
    width, height = size
    read = {"page": 1, "angle": 0.0, "width": width, "height": height, "unit": "pixel"}
    regions = [{"bounding_box": "2,2,18,18", "lines": [_printed(line) for line in lines]}]
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
    return {
        "bounding_box": _edges(words),
        "text": " ".join(word.text for word in words),
        "words": [
            {
                "bounding_box": _edges([word]),
                "text": part,
                "confidence": round(word.confidence, DIGITS),
            }
            for word in words
            for part in word.text.split()
        ],
    }


def _printed(words: Sequence[Word]) -> Json:
    box = "2,2,18,18"
    parts = [part for word in words for part in word.text.split()]
    return {"bounding_box": box, "words": [{"bounding_box": box, "text": part} for part in parts]}


def _edges(words: Sequence[Word]) -> list[float]:
    corners = around([word.box for word in words]).corners()
    return [float(number) for corner in corners for number in corner]


def sentiment_answer(score: float, felt: Sequence[Felt]) -> Json:
    """Return the feeling of a document and of its sentences; mixed if those are of either one."""
    told = [
        {
            **_sentiment(as_shares((one.score, -one.score, NEUTRAL))),
            "text": one.text,
            "offset": one.begin,
            "length": len(one.text),
        }
        for one in felt
    ]
    feelings = {one["sentiment"] for one in told}
    document = _sentiment(as_shares((score, -score, NEUTRAL)))
    if {"positive", "negative"} <= feelings:
        document["sentiment"] = "mixed"
    return {**document, "sentences": told}


def _sentiment(shares: Sequence[float]) -> dict[str, Json]:
    by_feeling = dict(zip(_FEELINGS, shares, strict=True))
    return {
        "sentiment": max(_FEELINGS, key=by_feeling.__getitem__),
        "confidence_scores": {name: round(share, DIGITS) for name, share in by_feeling.items()},
    }


def sentiments_around(numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
    """Yield each feeling surely, then each with a share on both sides of each number."""
    for title, shares in shares_around(_FEELINGS, numbers):
        document = _sentiment(shares)
        yield f"{document['sentiment']}, {title}", _about_one_sentence(document)
    document = {**_sentiment((0.5, 0.5, 0.0)), "sentiment": "mixed"}
    yield "mixed", _about_one_sentence(document)


def _about_one_sentence(document: Json) -> Json:
    """Return what is felt in a text of one sentence: the same in it, but nothing mixed."""
    feeling = document["sentiment"]
    told = {**document, "sentiment": "neutral" if feeling == "mixed" else feeling}
    sentence = {**told, "text": "This is a text.", "offset": 0, "length": 15}
    return {**document, "sentences": [sentence]}


def entity_answer(entities: Sequence[Entity]) -> Json:
    """Return what a text speaks of, in the order of the text."""
    return {
        "entities": [
            {
                "text": one.name,
                "category": _KIND_OF.get(one.kind, one.kind),
                "confidence_score": round(one.certainty, DIGITS),
                "offset": max(one.begin, 0),
                "length": len(one.name),
            }
            for one in sorted(entities, key=lambda entity: entity.begin)
        ]
    }


def listed_answer(operation: Operation, found: Scored) -> Json:
    """Return phrases, a language, or all that is told of an image."""
    names = [name for name, _ in found]
    if operation.task is RecognitionTask.PHRASES:
        return {"key_phrases": names}
    if operation.task is RecognitionTask.LANGUAGE:
        code, score = found[0] if found else _NO_LANGUAGE
        told = {"name": code, "iso6391_name": code, "confidence_score": round(score, DIGITS)}
        return {"detected_language": told}
    return _of_image(found)


def _of_image(found: Scored) -> Json:
    objects = object_answer(found, [_PLACE.of((_SIDE, _SIDE))] * len(found))["objects"]
    words = [[Word(name, _PLACE, score)] for name, score in found]
    lines = [_line(line) for line in words]
    captions = [{"text": name, "confidence": score} for name, score in ordered(found)]
    tags = label_answer(found)["tags"]
    place = {"x": 2, "y": 2, "w": 18, "h": 18}
    brands = [{**one, "rectangle": place} for one in tags]
    return {**image_answer(tags, captions, objects, lines), "brands": brands}


_GREY = {
    "dominant_color_foreground": "Grey",
    "dominant_color_background": "Grey",
    "dominant_colors": ["Grey"],
    "accent_color": "808080",
    "is_bw_img": False,
}


def image_answer(
    tags: Sequence[Json], captions: Sequence[Json], objects: Sequence[Json], lines: Sequence[Json]
) -> Json:
    """Return all that is told of an image at once.

    Args:
        tags: as `label_answer` has them.
        captions: each a `text` with its `confidence`, the likeliest first.
        objects: as `object_answer` has them.
        lines: as `text_answer` has them, where it tells its results.
    """
    whole = {"x": 0, "y": 0, "w": _SIDE, "h": _SIDE}
    safe = {"is_adult_content": False, "is_racy_content": False, "is_gory_content": False}
    return {
        "tags": tags,
        "objects": objects,
        "description": {"tags": [one["name"] for one in tags], "captions": captions},
        **category_answer([(one["name"], one["confidence"]) for one in tags]),
        "faces": [],
        "brands": [],
        "color": _GREY,
        "image_type": {"clip_art_type": 0, "line_drawing_type": 0},
        "adult": {**safe, "adult_score": 0.01, "racy_score": 0.01, "gore_score": 0.01},
        "metadata": _SIZE,
        "model_version": "2023-10-01",
        "tags_result": {"values": tags},
        "objects_result": {"values": [_found(one) for one in objects]},
        "caption_result": captions[0]
        if captions
        else {"text": "a blurry image", "confidence": 0.5},
        "dense_captions_result": {"values": [{**one, "bounding_box": whole} for one in captions]},
        "read_result": {"blocks": [{"lines": [_read(one) for one in lines]}] if lines else []},
        "people_result": {"values": []},
    }


def joined_answer(parts: Sequence[Json]) -> Json:
    """Return all that is told of an image, of its tags, its objects and what is written in it.

    What it says in a sentence is no more than the likeliest tag.
    """
    tagged, found, read = parts
    captions = [{"text": one["name"], "confidence": one["confidence"]} for one in tagged["tags"]]
    lines = read["analyze_result"]["read_results"][0]["lines"]
    return image_answer(tagged["tags"], captions, found["objects"], lines)


def _found(one: Json) -> Json:
    tag = {"name": one["object_property"], "confidence": one["confidence"]}
    return {"bounding_box": one["rectangle"], "tags": [tag], "id": ""}


def _read(line: Json) -> Json:
    """Return a line as the newer service tells it."""
    words = [{**one, "bounding_polygon": _points(one)} for one in line["words"]]
    for one in words:
        del one["bounding_box"]
    return {"text": line["text"], "bounding_polygon": _points(line), "words": words}


def _points(one: Json) -> Json:
    edges = [round(number) for number in one["bounding_box"]]
    return [{"x": x, "y": y} for x, y in zip(edges[::2], edges[1::2], strict=True)]


def refusals(operation: Operation) -> Sequence[Refusal]:
    """Return its own: asked too often, an image that is none, a text that is too long."""
    quota = "Requests have exceeded rate limit of your current pricing tier."
    if operation.task is RecognitionTask.SPEECH:
        return speech_messages.refusals()
    rate = Refusal(quota, Code.RESOURCE_EXHAUSTED, is_of_content=False)
    if kind_of(operation.task) is MediaKind.IMAGE:
        return rate, Refusal("Input data is not a valid image.", Code.INVALID_ARGUMENT)
    return rate, long_text(_MAX_LENGTH, "letters")
