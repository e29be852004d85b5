"""AWS: Rekognition, Comprehend and Transcribe, by boto3."""

from __future__ import annotations

from ciguard.levels.app.providers.aws import messages
from ciguard.levels.app.providers.aws.events import GATEWAY_EVENT, event_fields
from ciguard.levels.app.providers.aws.service import AwsServices
from ciguard.levels.app.providers.contract import CallingConventions, Provider, ServiceLimits
from ciguard.levels.app.providers.description import read_description

_HERE = "ciguard.levels.app.providers.aws"
_ANSWERED = (
    "detect_labels", "detect_faces", "detect_text", "detect_sentiment",
    "batch_detect_sentiment", "detect_entities", "detect_key_phrases",
    "detect_dominant_language",
)  # fmt: skip

PROVIDER = Provider(
    description=read_description(_HERE),
    hook=f"{_HERE}.in_target.clients",
    messages=messages,
    faces=messages,
    speech=messages,
    answered=_ANSWERED,
    limits=ServiceLimits(
        images=(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"),
        no_image="Request has invalid parameters: there is no image.",
        no_text="Value at 'text' failed to satisfy constraint: Member must have length of 1 or "
        "more",
    ),
    services=AwsServices,
    conventions=CallingConventions(
        content_field="Bytes",
        has_storage=True,
        storage_scheme="s3",
        region="us-east-1",
        event_fields=event_fields,
        web_event=GATEWAY_EVENT,
    ),
    scores=frozenset({"Score", "Confidence"}),
    shares=frozenset({"SentimentScore"}),
    secrets=r"arn:aws[\w:/.-]+|\bA[KS]IA\w{8,}",
    is_described_as_sent=True,
)
