"""Reads sounds that anybody may have made, or damaged."""

from __future__ import annotations

import io
import wave

from ciguard.levels.app.providers.codes import Code, ServiceError

RATE_HZ = 16_000
_BYTES = 2
"""Of a sample."""
_MAX_S = 60


def samples(content: bytes) -> bytes:
    """Return the samples of a sound, of 16 bits each, little-endian.

    Args:
        content: of a WAV file of one channel, 16 kHz, 16 bits.

    Raises:
        ServiceError: if it is something else, damaged or longer than a minute.
    """
    try:
        with wave.open(io.BytesIO(content)) as file:
            _refuse(file)
            found: bytes = file.readframes(_MAX_S * RATE_HZ + 1)
    except (wave.Error, EOFError, OSError, ValueError, ArithmeticError, RuntimeError) as error:
        raise _bad_encoding() from error
    if len(found) > _MAX_S * RATE_HZ * _BYTES:
        msg = (
            "Sync input too long. For audio longer than 1 min use LongRunningRecognize with a "
            "'uri' parameter."
        )
        raise ServiceError(Code.INVALID_ARGUMENT, msg)
    return found[: len(found) // _BYTES * _BYTES]


def _refuse(file: wave.Wave_read) -> None:
    channels, rate_hz = file.getnchannels(), file.getframerate()
    if channels != 1:
        msg = f"Must use single channel (mono) audio, but WAV header indicates {channels} channels."
        raise ServiceError(Code.INVALID_ARGUMENT, msg)
    if file.getsampwidth() != _BYTES:
        raise _bad_encoding()
    if rate_hz != RATE_HZ:
        msg = (
            f"sample_rate_hertz ({RATE_HZ}) in RecognitionConfig must either be omitted or match "
            f"the value in the WAV header ( {rate_hz})."
        )
        raise ServiceError(Code.INVALID_ARGUMENT, msg)


def _bad_encoding() -> ServiceError:
    return ServiceError(Code.INVALID_ARGUMENT, "Invalid recognition 'config': bad encoding..")
