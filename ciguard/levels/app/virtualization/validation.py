"""Refuses invalid requests as services do, before an engine reads them."""

from __future__ import annotations

import re

from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.description import (
    MediaKind,
    Operation,
    RecognitionTask,
    media_kind,
)
from ciguard.levels.app.providers.registered import PROVIDERS, messages_of

_MIN_TOKENS = 20
_TOKEN = re.compile(r"\w+|[^\w\s]")
_ADDRESS_PREFIXES = (b"gs://", b"http://", b"https://")
"""Prefixes of a content that is an address of the content."""


def refuse_invalid(operation: Operation, content: bytes) -> None:
    """Raise an error if a content is invalid.

    Args:
        operation: the requested operation.
        content: content of an image or sound, or a text in UTF-8.

    Raises:
        ServiceError: if the content is empty, not an image, not UTF-8, or too short a text.
    """
    match media_kind(operation.task):
        case MediaKind.IMAGE:
            _refuse_image(operation, content)
        case MediaKind.TEXT:
            _refuse_text(operation, content)
        case MediaKind.SOUND:
            if not content:
                raise ServiceError(Code.INVALID_ARGUMENT, "RecognitionAudio not set.")


def _refuse_image(operation: Operation, content: bytes) -> None:
    limits = PROVIDERS.get(operation.provider).limits
    if not content:
        raise ServiceError(Code.INVALID_ARGUMENT, limits.no_image)
    if content.startswith(_ADDRESS_PREFIXES):
        msg = "We can not access the URL currently. Please download the content and pass it in."
        raise ServiceError(Code.INVALID_ARGUMENT, msg)
    is_sound = content[:4] == b"RIFF" and content[8:12] != b"WEBP"
    if is_sound or not content.startswith(limits.images):
        raise bad_image(operation)


def bad_image(operation: Operation) -> ServiceError:
    """Return the error of an image that cannot be decoded."""
    refusals = messages_of(operation).refusals(operation)
    message = next(refusal.message for refusal in refusals if refusal.depends_on_content)
    return ServiceError(Code.INVALID_ARGUMENT, message)


def _refuse_text(operation: Operation, content: bytes) -> None:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        # A client cannot send such a text, so that no service has a message for it.
        raise ServiceError(Code.INVALID_ARGUMENT, "Document content is not valid UTF-8.") from error
    if not text:
        raise ServiceError(Code.INVALID_ARGUMENT, PROVIDERS.get(operation.provider).limits.no_text)
    if operation.task is RecognitionTask.CATEGORIES and len(_TOKEN.findall(text)) < _MIN_TOKENS:
        msg = "Invalid text content: too few tokens (words) to process."
        raise ServiceError(Code.INVALID_ARGUMENT, msg)
