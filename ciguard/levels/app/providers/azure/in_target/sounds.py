"""What Azure's client for speech is to hear: audio is noted where an application gives it."""

from __future__ import annotations

import inspect
import io
import wave
from typing import Any, Callable, Dict

from ciguard.levels.app.in_target.asking import UnknownOperationError

_TICKS = 10_000_000
"""Of a second."""
_PULLED_BYTES = 3_200
_MAX_BYTES = 64 * 2**20
SOURCE = "_ciguard_source"
"""Attribute of a recognizer: where it hears; None of a microphone."""
_FORMAT, _WRITTEN = "_ciguard_format", "_ciguard_written"


def note_audio(speech: Any, *, has_microphone: bool) -> None:
    """Have recognizers know what they hear: a name of a file, or a stream.

    Args:
        speech: the client.
        has_microphone: whether one may be opened; else a stream that is empty is in its place.
    """
    audio = speech.audio

    def given(config: Any, values: Dict[str, Any]) -> None:
        source = values.get("filename") or values.get("stream")
        setattr(config, SOURCE, source)
        is_microphone = values.get("use_default_microphone") or values.get("device_name")
        if source is None and not has_microphone and is_microphone:
            values.update(use_default_microphone=False, device_name=None)
            values["stream"] = audio.PushAudioInputStream()

    def recognizing(recognizer: Any, values: Dict[str, Any]) -> None:
        config = values.get("audio_config")
        if config is None and not has_microphone:
            config = values["audio_config"] = audio.AudioConfig(use_default_microphone=True)
        setattr(recognizer, SOURCE, getattr(config, SOURCE, None))

    def formatted(stream: Any, values: Dict[str, Any]) -> None:
        setattr(stream, _FORMAT, getattr(values.get("stream_format"), _FORMAT, {}))
        setattr(stream, SOURCE, values.get("pull_stream_callback"))
        setattr(stream, _WRITTEN, bytearray())

    _before(audio.AudioStreamFormat, lambda kind, values: setattr(kind, _FORMAT, dict(values)))
    _before(audio.PushAudioInputStream, formatted)
    _before(audio.PullAudioInputStream, formatted)
    _before(audio.AudioConfig, given)
    _before(speech.SpeechRecognizer, recognizing)
    write = audio.PushAudioInputStream.write

    def written(stream: Any, buffer: Any) -> Any:
        getattr(stream, _WRITTEN).extend(buffer)
        return write(stream, buffer)

    audio.PushAudioInputStream.write = written


def _before(kind: Any, note: Callable[[Any, Dict[str, Any]], None]) -> None:
    """Have a function see, and change, what objects of a class are made with."""
    make = kind.__init__
    signature = inspect.signature(make)

    def made(self: Any, *positional: Any, **named: Any) -> None:
        bound = signature.bind(self, *positional, **named)
        bound.apply_defaults()
        values = dict(list(bound.arguments.items())[1:])
        note(self, values)
        make(self, **values)

    kind.__init__ = made


def heard(recognizer: Any, operation: str) -> bytes:
    """Return what a recognizer hears from where it has ended; nothing after the end.

    Raises:
        UnknownOperationError: if that is a microphone.
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
    return _streamed(source)


def _streamed(stream: Any) -> bytes:
    """Return what came by a stream since somebody asked last, as a file where that has a form."""
    written = getattr(stream, _WRITTEN)
    callback = getattr(stream, SOURCE)
    if callback is not None:
        written.extend(_pulled(callback))
    content = bytes(written)
    written.clear()
    form = getattr(stream, _FORMAT)
    is_file = content.startswith(b"RIFF") or form.get("compressed_stream_format") is not None
    return content if is_file or not content else _in_file(content, form)


def _pulled(callback: Any) -> bytes:
    content, buffer = bytearray(), bytearray(_PULLED_BYTES)
    while len(content) < _MAX_BYTES:
        count = callback.read(memoryview(buffer))
        if not count:
            break
        content += buffer[:count]
    return bytes(content)


def _in_file(samples: bytes, form: Dict[str, Any]) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(form.get("channels") or 1)
        sound.setsampwidth((form.get("bits_per_sample") or 16) // 8)
        sound.setframerate(form.get("samples_per_second") or 16_000)
        sound.writeframes(samples)
    return file.getvalue()


def ticks(content: bytes) -> int:
    """Return how long a sound is; 0 of one that is no such file."""
    try:
        with wave.open(io.BytesIO(content)) as sound:
            return int(_TICKS * sound.getnframes() / (sound.getframerate() or 1))
    except (wave.Error, EOFError):
        return 0
