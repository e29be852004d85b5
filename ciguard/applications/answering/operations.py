"""What can be asked of a service that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.applications.answering.messages import are_written
from ciguard.applications.providers.description import known_providers

if TYPE_CHECKING:
    from ciguard.applications.providers.description import Operation

_OPERATIONS = {
    "google": (
        "label_detection", "object_localization", "face_detection", "text_detection",
        "document_text_detection", "analyze_sentiment", "analyze_entities",
        "analyze_entity_sentiment", "classify_text", "recognize", "long_running_recognize",
    ),
    "aws": (
        "detect_labels", "detect_faces", "detect_text", "detect_sentiment",
        "batch_detect_sentiment", "detect_entities", "detect_key_phrases",
        "detect_dominant_language",
    ),
    "azure": (
        "tag_image", "tag_image_in_stream", "detect_objects", "detect_objects_in_stream",
        "recognize_printed_text", "recognize_printed_text_in_stream", "get_read_result",
        "describe_image", "describe_image_in_stream", "analyze_image", "analyze_image_in_stream",
        "analyze", "analyze_from_url", "analyze_sentiment", "recognize_entities",
        "extract_key_phrases", "detect_language", "detect", "detect_from_url",
        "detect_with_stream", "detect_with_url",
    ),
}  # fmt: skip


def operations() -> tuple[Operation, ...]:
    """Return what engines answer, or make answers up to."""
    return tuple(
        found
        for provider in known_providers()
        for name in _OPERATIONS[provider.name]
        for found in provider.operations(name)
        if are_written(found)  # older clients have some names too
    )
