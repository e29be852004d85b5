"""What can be asked of a service that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.applications.providers.description import known_providers

if TYPE_CHECKING:
    from ciguard.applications.providers.description import Operation

_OPERATIONS = (
    "label_detection", "object_localization", "face_detection", "text_detection",
    "document_text_detection", "analyze_sentiment", "analyze_entities", "analyze_entity_sentiment",
    "classify_text", "recognize", "long_running_recognize",
)  # fmt: skip


def operations() -> tuple[Operation, ...]:
    """Return what engines answer, or make answers up to: Google's."""
    google = next(one for one in known_providers() if one.name == "google")
    return tuple(found for name in _OPERATIONS for found in google.operations(name))
