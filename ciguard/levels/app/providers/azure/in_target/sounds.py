"""Records the audio sources of Azure's speech client, where an application configures them."""

from __future__ import annotations

import inspect
import io
import wave
from typing import Any, Callable, Dict

from ciguard.levels.app.in_target.asking import UnknownOperationError

_TICKS = 10_000_000
"""Ticks of a second, the time unit of the service."""
_PULLED_BYTES = 3_200
_MAX_BYTES = 64 * 2**20
SOURCE = "_ciguard_source"
"""Attribute of a recognizer with its audio source; None for a microphone."""
_FORMAT, _WRITTEN = "_ciguard_format", "_ciguard_written"


def note_audio(speech: Any, *, has_microphone: bool) -> None:
    """Make recognizers keep their audio source: a file name, or a stream.

    Args:
        speech: the client module.
        has_microphone: True if a microphone may be opened; else an empty stream replaces it.
    """
    audio = speech.audio

    def note_config(config: Any, values: Dict[str, Any]) -> None:
        source = values.get("filename") or values.get("stream")
        setattr(config, SOURCE, source)
        is_microphone = values.get("use_default_microphone") or values.get("device_name")
        if source is None and not has_microphone and is_microphone:
            values.update(use_default_microphone=False, device_name=None)
            values["stream"] = audio.PushAudioInputStream()

    def note_recognizer(recognizer: Any, values: Dict[str, Any]) -> None:
        config = values.get("audio_config")
        if config is None and not has_microphone:
            config = values["audio_config"] = audio.AudioConfig(use_default_microphone=True)
        setattr(recognizer, SOURCE, getattr(config, SOURCE, None))

    def note_stream(stream: Any, values: Dict[str, Any]) -> None:
        setattr(stream, _FORMAT, getattr(values.get("stream_format"), _FORMAT, {}))
        setattr(stream, SOURCE, values.get("pull_stream_callback"))
        setattr(stream, _WRITTEN, bytearray())

    _wrap_constructor(
        audio.AudioStreamFormat, lambda kind, values: setattr(kind, _FORMAT, dict(values))
    )
    _wrap_constructor(audio.PushAudioInputStream, note_stream)
    _wrap_constructor(audio.PullAudioInputStream, note_stream)
    _wrap_constructor(audio.AudioConfig, note_config)
    _wrap_constructor(speech.SpeechRecognizer, note_recognizer)
    write = audio.PushAudioInputStream.write

    def note_written(stream: Any, buffer: Any) -> Any:
        getattr(stream, _WRITTEN).extend(buffer)
        return write(stream, buffer)

    audio.PushAudioInputStream.write = note_written


def _wrap_constructor(kind: Any, note: Callable[[Any, Dict[str, Any]], None]) -> None:
    """Make a function inspect and change the arguments of the constructor of a class."""
    original = kind.__init__
    signature = inspect.signature(original)

    def wrapped(self: Any, *positional: Any, **named: Any) -> None:
        bound = signature.bind(self, *positional, **named)
        bound.apply_defaults()
        values = dict(list(bound.arguments.items())[1:])
        note(self, values)
        original(self, **values)

    kind.__init__ = wrapped


def read_audio(recognizer: Any, operation: str) -> bytes:
    """Return the audio of a recognizer from its current position; empty after the end.

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
    """Return the audio that a stream received since the last call, as a WAV file if possible."""
    written = getattr(stream, _WRITTEN)
    callback = getattr(stream, SOURCE)
    if callback is not None:
        written.extend(_pulled(callback))
    content = bytes(written)
    written.clear()
    audio_format = getattr(stream, _FORMAT)
    is_file = (
        content.startswith(b"RIFF") or audio_format.get("compressed_stream_format") is not None
    )
    return content if is_file or not content else _in_file(content, audio_format)


def _pulled(callback: Any) -> bytes:
    content, buffer = bytearray(), bytearray(_PULLED_BYTES)
    while len(content) < _MAX_BYTES:
        count = callback.read(memoryview(buffer))
        if not count:
            break
        content += buffer[:count]
    return bytes(content)


def _in_file(samples: bytes, audio_format: Dict[str, Any]) -> bytes:
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
