"""Azure: AI Vision, Face, Language and Speech."""

from __future__ import annotations

from ciguard.levels.app.providers.azure import face_messages, messages, speech_messages
from ciguard.levels.app.providers.azure.service import AzureServices
from ciguard.levels.app.providers.contract import (
    CallingConventions,
    ImageAnalysis,
    Provider,
    ServiceLimits,
)
from ciguard.levels.app.providers.description import read_description

_HERE = "ciguard.levels.app.providers.azure"
_ANSWERED = (
    "tag_image", "tag_image_in_stream", "detect_objects", "detect_objects_in_stream",
    "recognize_printed_text", "recognize_printed_text_in_stream", "get_read_result",
    "describe_image", "describe_image_in_stream", "analyze_image", "analyze_image_in_stream",
    "analyze", "analyze_from_url", "analyze_sentiment", "recognize_entities",
    "extract_key_phrases", "detect_language", "detect", "detect_from_url", "detect_with_stream",
    "detect_with_url",
)  # fmt: skip

PROVIDER = Provider(
    description=read_description(_HERE),
    hook=f"{_HERE}.in_target.clients",
    messages=messages,
    faces=face_messages,
    speech=speech_messages,
    safety=messages,
    answered=_ANSWERED,
    limits=ServiceLimits(
        no_image="Input data is not a valid image.",
        no_text="Document text is empty.",
    ),
    services=AzureServices,
    conventions=CallingConventions(endpoint="https://example.cognitiveservices.azure.com/"),
    scores=frozenset({"confidence", "confidence_score"}),
    shares=frozenset({"confidence_scores", "emotion"}),
    image_analysis=ImageAnalysis(
        parts=("tag_image_in_stream", "detect_objects_in_stream", "get_read_result"),
        join=messages.combined_answer,
    ),
)
