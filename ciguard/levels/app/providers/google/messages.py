"""Writes answers of Google's services, in the JSON format of their messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, Refusal
from ciguard.levels.app.providers.described import described_answer, described_result
from ciguard.levels.app.providers.description import (
    TASKS_WITHOUT_INPUTS,
    MediaKind,
    RecognitionTask,
    media_kind,
)
from ciguard.levels.app.providers.recognised import (
    DIGITS,
    EMOTIONS,
    ENTITY_KINDS,
    BoundingBox,
    bounding_box_of,
    likeliest_first,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import (
        Entity,
        Face,
        Scored,
        ScoredSentence,
        Size,
        Word,
    )

CLIENTS: frozenset[str] = frozenset({"vision", "language", "speech"})
TASKS: frozenset[RecognitionTask] = frozenset(RecognitionTask) - TASKS_WITHOUT_INPUTS
FACE_PROPERTIES: tuple[str, ...] = (*EMOTIONS, "under_exposed", "blurred", "headwear")
ARE_FACES_MEASURED: bool = False
UNSAFE_PROPERTIES: tuple[str, ...] = ("adult", "spoof", "medical", "violence", "racy")
ARE_JUDGEMENTS_SCORED: bool = False
HARMFUL_TOPICS = (
    "Toxic", "Derogatory", "Violent", "Sexual", "Insult", "Profanity", "Death, Harm & Tragedy",
    "Firearms & Weapons", "Public Safety", "Health", "Religion & Belief", "Illicit Drugs",
    "War & Conflict", "Finance", "Politics", "Legal",
)  # fmt: skip
"""Topics in the answers of `moderate_text`, in their order."""
_HARMLESS = 0.02
"""Confidence that a text is about a topic if it is not."""
KINDS: Mapping[str, str] = {kind: kind for kind in (*ENTITY_KINDS, "UNKNOWN")}
_STEP = 0.05
"""Distance of scores from a number in a condition."""
_LANDMARKS = (("LEFT_EYE", 0.3, 0.35), ("RIGHT_EYE", 0.7, 0.35), ("NOSE_TIP", 0.5, 0.55))
"""Landmarks and their positions in a face, as shares of its size."""


def topic(text: str) -> str:
    """Return a category as a path, such as `/News`."""
    return text if text.startswith("/") else f"/{text}"


def label_answer(scored_results: Scored) -> Json:
    """Return labels with their scores, the likeliest first."""
    records = [
        {"description": name, "score": s, "topicality": s}
        for name, s in likeliest_first(scored_results)
    ]
    return {"label_annotations": records} if records else {}


def object_answer(scored_results: Scored, boxes: Sequence[BoundingBox]) -> Json:
    """Return objects with their scores, the likeliest first, with boxes as shares of the image."""
    records = [
        {"name": name, "score": score, "bounding_poly": {"normalized_vertices": _vertices(box)}}
        for (name, score), box in zip(likeliest_first(scored_results), boxes, strict=True)
    ]
    return {"localized_object_annotations": records} if records else {}


def category_answer(scored_results: Scored) -> Json:
    """Return paths of topics with their confidence, the likeliest first."""
    records = [
        {"name": name, "confidence": score} for name, score in likeliest_first(scored_results)
    ]
    return {"categories": records} if records else {}


def face_answer(faces: Sequence[Face], size: Size) -> Json:
    """Return faces; the box of the head is also that of the skin."""
    del size  # boxes are in pixels already
    records = [_face(face) for face in faces]
    return {"face_annotations": records} if records else {}


def _face(face: Face) -> Json:
    poly = {"vertices": _vertices(face.box)}
    confidence = round(face.confidence, DIGITS)
    return {
        "bounding_poly": poly,
        "fd_bounding_poly": poly,
        "landmarks": [
            {
                "type": kind,
                "position": {
                    "x": face.box.left + face.box.width * x,
                    "y": face.box.top + face.box.height * y,
                },
            }
            for kind, x, y in _LANDMARKS
        ],
        "detection_confidence": confidence,
        "landmarking_confidence": confidence,
        **{f"{name}_likelihood": face.likelihoods.get(name, "UNKNOWN") for name in FACE_PROPERTIES},
    }


def _vertices(box: BoundingBox) -> Json:
    return [{"x": x, "y": y} for x, y in box.corners()]


def text_answer(lines: Sequence[Sequence[Word]], size: Size) -> Json:
    """Return the text of an image: the whole text, its words, and a page with paragraphs."""
    words = [word for line in lines for word in line]
    if not words:
        return {}
    full_text = "\n".join(" ".join(word.text for word in line) for line in lines)
    first = {"locale": "en", "description": full_text, "bounding_poly": _bounding_poly(words)}
    width, height = size
    block = {
        "bounding_box": _bounding_poly(words),
        "block_type": "TEXT",
        "paragraphs": [
            {
                "bounding_box": _bounding_poly(words),
                "words": [word for line in lines for word in _page_words(line)],
            }
        ],
    }
    return {
        "text_annotations": [
            first,
            *(
                {"description": word.text, "bounding_poly": _bounding_poly([word])}
                for word in words
            ),
        ],
        "full_text_annotation": {
            "pages": [{"width": width, "height": height, "blocks": [block]}],
            "text": full_text,
        },
    }


def _page_words(line: Sequence[Word]) -> Iterator[Json]:
    """Yield the words of a line in the format of a page, with their letters."""
    parts = [(word, part) for word in line for part in word.text.split()]
    for index, (word, part) in enumerate(parts):
        symbols: list[Json] = [{"text": letter} for letter in part]
        end = "SPACE" if index < len(parts) - 1 else "LINE_BREAK"
        symbols[-1]["property"] = {"detected_break": {"type": end}}
        confidence = round(word.confidence, DIGITS)
        yield {"bounding_box": _bounding_poly([word]), "symbols": symbols, "confidence": confidence}


def _bounding_poly(words: Sequence[Word]) -> Json:
    return {"vertices": _vertices(bounding_box_of([word.box for word in words]))}


def sentiment_answer(score: float, scored_sentences: Sequence[ScoredSentence]) -> Json:
    """Return the sentiment of a document, and of its sentences.

    The magnitude is the sum of the absolute scores of the sentences, so that it grows with the
    length of the text, as in the service.
    """
    magnitude = sum(abs(sentence.score) for sentence in scored_sentences)
    return {
        "document_sentiment": _sentiment(score, magnitude),
        "language": "en",
        "sentences": [
            {
                "text": {"content": sentence.text, "begin_offset": sentence.begin},
                "sentiment": _sentiment(sentence.score, abs(sentence.score)),
            }
            for sentence in scored_sentences
        ],
    }


def _sentiment(score: float, magnitude: float) -> Json:
    return {"score": round(score, DIGITS), "magnitude": round(magnitude, DIGITS)}


def sentiments_around(numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
    """Yield title and answer of scores and magnitudes just below, at and just above each number."""
    near = {edge for n in numbers for edge in (n - _STEP, n, n + _STEP)}
    scores = sorted({-0.9, 0.0, 0.9, *(n for n in near if -1 <= n <= 1)})
    magnitudes = sorted({0.0, 4.0, *(n for n in near if n >= 0)})
    for magnitude in magnitudes:
        for score in scores:
            sentiment = {"score": score, "magnitude": magnitude}
            content = _single_sentence({"document_sentiment": sentiment})
            yield f"score {score:g}, magnitude {magnitude:g}", content


def _single_sentence(document: Json) -> Json:
    """Return the answer for a document of one sentence, which has the document's sentiment."""
    sentiment = document["document_sentiment"]
    sentence = {"text": {"content": "This is a text."}, "sentiment": sentiment}
    return {"document_sentiment": sentiment, "sentences": [sentence]}


def entity_answer(entities: Sequence[Entity]) -> Json:
    """Return the entities in a text, the most salient first."""
    return {
        "language": "en",
        "entities": [
            _entity(entity) for entity in sorted(entities, key=lambda entity: -entity.salience)
        ],
    }


def _entity(entity: Entity) -> Json:
    span = {"content": entity.name, "begin_offset": entity.begin}
    record: dict[str, Json] = {
        "name": entity.name,
        "type": entity.kind,
        "salience": round(entity.salience, DIGITS),
        "mentions": [{"text": span, "type": "PROPER"}],
    }
    if entity.score is not None:
        record["sentiment"] = _sentiment(entity.score, abs(entity.score))
    return record


def speech_answer(scored_results: Scored) -> Json:
    """Return a transcript: a result with one alternative for each part; empty for silence."""
    results = [
        {
            "alternatives": [{"transcript": part, "confidence": round(confidence, DIGITS)}],
            "language_code": "en-us",
        }
        for part, confidence in scored_results
        if part
    ]
    return {"results": results} if results else {}


def safety_answer(judged: Mapping[str, str | float]) -> Json:
    """Return the likelihood of each kind of unsafe content; unlisted kinds are very unlikely."""
    likelihoods = {name: judged.get(name, "VERY_UNLIKELY") for name in UNSAFE_PROPERTIES}
    return {"safe_search_annotation": likelihoods}


def _web_answer(operation: Operation, scored_results: Scored) -> Json:
    """Return entities of the web, the best guess, and a page with images for each entity."""
    results = likeliest_first(scored_results)
    if not results:
        return {}
    images = [{"url": f"https://example.com/{index}.png"} for index in range(len(results))]
    pages = [
        {"url": f"https://example.com/{index}", "page_title": name, "full_matching_images": [image]}
        for index, ((name, _), image) in enumerate(zip(results, images, strict=True))
    ]
    return {
        "web_detection": {
            "web_entities": [described_result(operation, name, score) for name, score in results],
            "best_guess_labels": [{"label": results[0][0], "language_code": "en"}],
            "full_matching_images": images,
            "partial_matching_images": images,
            "pages_with_matching_images": pages,
            "visually_similar_images": images,
        }
    }


def _color_answer(operation: Operation, scored_results: Scored) -> Json:
    """Return the dominant colours of an image, which are named by their codes, `#ff0000`."""
    channels = ("red", "green", "blue")
    colors = [
        {
            "color": dict(zip(channels, bytes.fromhex(code.lstrip("#")), strict=True)),
            "score": score,
            "pixel_fraction": score,
        }
        for code, score in likeliest_first(scored_results)
    ]
    return described_answer(operation, colors) if colors else {}


def listed_answer(operation: Operation, scored_results: Scored) -> Json:
    """Return results of any other operation, with fields at the described paths."""
    if operation.task is RecognitionTask.WEB:
        return _web_answer(operation, scored_results)
    if operation.task is RecognitionTask.MODERATION:
        confidences = {**dict.fromkeys(HARMFUL_TOPICS, _HARMLESS), **dict(scored_results)}
        topics = [{"name": name, "confidence": confidences[name]} for name in HARMFUL_TOPICS]
        return described_answer(operation, topics)
    if operation.task is RecognitionTask.COLORS:
        return _color_answer(operation, scored_results)
    poly = {"bounding_poly": {"vertices": _vertices(BoundingBox(2, 2, 18, 18))}}
    records = [
        described_result(operation, name, score, {**poly, "importance_fraction": score})
        for name, score in likeliest_first(scored_results)
    ]
    return described_answer(operation, records) if records else {}


def refusals(operation: Operation) -> Sequence[Refusal]:
    """Return the errors that Google may return: quota, invalid images, texts that are too short."""
    quota = Refusal("Quota exceeded.", Code.RESOURCE_EXHAUSTED, depends_on_content=False)
    if operation.task is RecognitionTask.CATEGORIES:
        message = "Invalid text content: too few tokens (words) to process."
        return quota, Refusal(message, Code.INVALID_ARGUMENT, text=b"Hello there.")
    if media_kind(operation.task) is MediaKind.IMAGE:
        return quota, Refusal("Bad image data.", Code.INVALID_ARGUMENT)
    return (quota,)
