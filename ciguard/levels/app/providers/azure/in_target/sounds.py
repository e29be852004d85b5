"""Records the audio sources that an application configures for Azure's speech client."""

from __future__ import annotations

import inspect
import io
import wave
from typing import Any, Callable, Dict

from ciguard.levels.app.in_target.asking import UnknownOperationError

_TICKS = 10_000_000
"""Number of ticks in a second; the service states times in ticks."""
_BUFFER_BYTES = 3_200
"""Size of the buffer in which a pull stream returns audio."""
_MAX_BYTES = 64 * 2**20
SOURCE = "_ciguard_source"
"""Attribute of a recognizer with its audio source: the name of a file or a stream.

It is None for a microphone, and empty bytes after a file is read.
"""
_FORMAT, _WRITTEN = "_ciguard_format", "_ciguard_written"


def record_audio_sources(speech: Any, *, has_microphone: bool) -> None:
    """Make recognizers store their audio source in the attribute `SOURCE`.

    Args:
        speech: the module of the client.
        has_microphone: True if a microphone may be opened; otherwise an empty stream replaces it.
    """
    audio = speech.audio

    def adjust_config(config: Any, values: Dict[str, Any]) -> None:
        source = values.get("filename") or values.get("stream")
        setattr(config, SOURCE, source)
        is_microphone = values.get("use_default_microphone") or values.get("device_name")
        if source is None and not has_microphone and is_microphone:
            values.update(use_default_microphone=False, device_name=None)
            values["stream"] = audio.PushAudioInputStream()

    def adjust_recognizer(recognizer: Any, values: Dict[str, Any]) -> None:
        config = values.get("audio_config")
        if config is None and not has_microphone:
            config = values["audio_config"] = audio.AudioConfig(use_default_microphone=True)
        setattr(recognizer, SOURCE, getattr(config, SOURCE, None))

    def adjust_stream(stream: Any, values: Dict[str, Any]) -> None:
        setattr(stream, _FORMAT, getattr(values.get("stream_format"), _FORMAT, {}))
        setattr(stream, SOURCE, values.get("pull_stream_callback"))
        setattr(stream, _WRITTEN, bytearray())

    _wrap_constructor(
        audio.AudioStreamFormat,
        lambda audio_format, values: setattr(audio_format, _FORMAT, dict(values)),
    )
    _wrap_constructor(audio.PushAudioInputStream, adjust_stream)
    _wrap_constructor(audio.PullAudioInputStream, adjust_stream)
    _wrap_constructor(audio.AudioConfig, adjust_config)
    _wrap_constructor(speech.SpeechRecognizer, adjust_recognizer)
    write = audio.PushAudioInputStream.write

    def write_and_record(stream: Any, buffer: Any) -> Any:
        getattr(stream, _WRITTEN).extend(buffer)
        return write(stream, buffer)

    audio.PushAudioInputStream.write = write_and_record


def _wrap_constructor(wrapped_class: Any, adjust: Callable[[Any, Dict[str, Any]], None]) -> None:
    """Wrap a class's constructor so that a function can inspect and change its arguments.

    Args:
        wrapped_class: class whose constructor is replaced.
        adjust: function that gets the new object and its arguments before the constructor runs.
    """
    original = wrapped_class.__init__
    signature = inspect.signature(original)

    def wrapped(self: Any, *positional: Any, **named: Any) -> None:
        bound = signature.bind(self, *positional, **named)
        bound.apply_defaults()
        values = dict(list(bound.arguments.items())[1:])
        adjust(self, values)
        original(self, **values)

    wrapped_class.__init__ = wrapped


def read_audio(recognizer: Any, operation: str) -> bytes:
    """Return the audio that a recognizer has not read yet; empty at the end.

    Raises:
        UnknownOperationError: if the source is a microphone.
    """
    source = getattr(recognizer, SOURCE, None)
    if source is None:
        msg = f"azure {operation} of a microphone"
        raise UnknownOperationError(msg)
    if isinstance(source, (str, bytes)):
        setattr(recognizer, SOURCE, bytearray())
        with open(source, "rb") as file:
            return file.read(_MAX_BYTES)
    if isinstance(source, bytearray):
        return b""
    return _read_stream(source)


def _read_stream(stream: Any) -> bytes:
    """Return the audio that a stream received since the last call.

    It is a WAV file, except for a compressed format.
    """
    written = getattr(stream, _WRITTEN)
    callback = getattr(stream, SOURCE)
    if callback is not None:
        written.extend(_pulled_audio(callback))
    content = bytes(written)
    written.clear()
    audio_format = getattr(stream, _FORMAT)
    is_file = (
        content.startswith(b"RIFF") or audio_format.get("compressed_stream_format") is not None
    )
    return content if is_file or not content else _wav_file(content, audio_format)


def _pulled_audio(callback: Any) -> bytes:
    """Return all audio that a callback of the application supplies, up to the limit."""
    content, buffer = bytearray(), bytearray(_BUFFER_BYTES)
    while len(content) < _MAX_BYTES:
        count = callback.read(memoryview(buffer))
        if not count:
            break
        content += buffer[:count]
    return bytes(content)


def _wav_file(samples: bytes, audio_format: Dict[str, Any]) -> bytes:
    """Return a WAV file with samples in the format of a stream."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(audio_format.get("channels") or 1)
        sound.setsampwidth((audio_format.get("bits_per_sample") or 16) // 8)
        sound.setframerate(audio_format.get("samples_per_second") or 16_000)
        sound.writeframes(samples)
    return file.getvalue()


def ticks(content: bytes) -> int:
    """Return the duration of a sound in ticks; 0 if it is not a WAV file."""
    try:
        with wave.open(io.BytesIO(content)) as sound:
            return int(_TICKS * sound.getnframes() / (sound.getframerate() or 1))
    except (wave.Error, EOFError):
        return 0
