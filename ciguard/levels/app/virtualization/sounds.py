"""Decodes sounds that may be damaged or malicious."""

from __future__ import annotations

import io
import wave

from ciguard.levels.app.providers.codes import Code, ServiceError

RATE_HZ = 16_000
_SAMPLE_BYTES = 2
"""Size of a sample, in bytes."""
_MAX_S = 60


def samples(content: bytes) -> bytes:
    """Return the samples of a sound, 16 bits each, little-endian.

    Args:
        content: content of a WAV file: one channel, 16 kHz, 16 bits.

    Raises:
        ServiceError: if the sound has another format, is damaged or is longer than a minute.
    """
    try:
        with wave.open(io.BytesIO(content)) as file:
            _refuse(file)
            frames: bytes = file.readframes(_MAX_S * RATE_HZ + 1)
    except (wave.Error, EOFError, OSError, ValueError, ArithmeticError, RuntimeError) as error:
        raise _bad_encoding() from error
    if len(frames) > _MAX_S * RATE_HZ * _SAMPLE_BYTES:
        msg = (
            "Sync input too long. For audio longer than 1 min use LongRunningRecognize with a "
            "'uri' parameter."
        )
        raise ServiceError(Code.INVALID_ARGUMENT, msg)
    return frames[: len(frames) // _SAMPLE_BYTES * _SAMPLE_BYTES]


def _refuse(file: wave.Wave_read) -> None:
    channels, rate_hz = file.getnchannels(), file.getframerate()
    if channels != 1:
        msg = f"Must use single channel (mono) audio, but WAV header indicates {channels} channels."
        raise ServiceError(Code.INVALID_ARGUMENT, msg)
    if file.getsampwidth() != _SAMPLE_BYTES:
        raise _bad_encoding()
    if rate_hz != RATE_HZ:
        msg = (
            f"sample_rate_hertz ({RATE_HZ}) in RecognitionConfig must either be omitted or match "
            f"the value in the WAV header ( {rate_hz})."
        )
        raise ServiceError(Code.INVALID_ARGUMENT, msg)


def _bad_encoding() -> ServiceError:
    return ServiceError(Code.INVALID_ARGUMENT, "Invalid recognition 'config': bad encoding..")
