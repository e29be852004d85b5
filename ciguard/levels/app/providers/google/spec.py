"""Google Cloud: Vision, Natural Language and Speech-to-Text."""

from __future__ import annotations

from ciguard.levels.app.providers.contract import (
    CallingConventions,
    GrpcServer,
    Provider,
    ServiceLimits,
)
from ciguard.levels.app.providers.description import read_description
from ciguard.levels.app.providers.google import messages
from ciguard.levels.app.providers.google.routes import VERSIONS
from ciguard.levels.app.providers.google.service import GoogleServices

_HERE = "ciguard.levels.app.providers.google"
_ANSWERED = (
    "label_detection", "object_localization", "face_detection", "text_detection",
    "document_text_detection", "analyze_sentiment", "analyze_entities",
    "analyze_entity_sentiment", "classify_text", "recognize", "long_running_recognize",
)  # fmt: skip
_SCORES = frozenset({
    "score", "confidence", "detection_confidence", "topicality", "salience", "magnitude",
})  # fmt: skip

PROVIDER = Provider(
    description=read_description(_HERE),
    hook=f"{_HERE}.in_target.clients",
    messages=messages,
    faces=messages,
    speech=messages,
    safety=messages,
    answered=_ANSWERED,
    limits=ServiceLimits(
        no_image="Request must specify image and features.",
        no_text="One of content, or gcs_content_uri must be set.",
    ),
    services=GoogleServices,
    grpc=GrpcServer(entry=f"{_HERE}.in_target.grpc_service", versions=VERSIONS),
    conventions=CallingConventions(
        has_documents=True,
        storage_scheme="gs",
        event_fields=lambda stored: {
            "bucket": {"value": "bucket"},
            "name": {"value": stored.name},
        },
        modules_with_numbers=frozenset({"enums", "types"}),
    ),
    scores=_SCORES,
    secrets=(
        r"AIza[\w-]{10,}|ya29\.[\w.-]+|(?<=project[ :=])[\w:.-]+|(?<=projects/)[\w:.-]+"
        r"|(?<=consumer ')[^']+"
    ),
    has_enumerations=True,
)
