"""A kitchen timer that is set by voice."""

import itertools
import wave
from dataclasses import dataclass
from pathlib import Path

from google.cloud import speech

UNITS = {"second": 1, "minute": 60, "hour": 3600}
WORDS = {"a": 1, "one": 1, "two": 2, "three": 3, "five": 5, "ten": 10, "twenty": 20}


@dataclass
class Timer:
    """Rings after a while."""

    seconds: int
    is_running: bool = True


def heard(path: str) -> str:
    """Return what somebody says in a recording."""
    client = speech.SpeechClient()
    with wave.open(path, "rb") as sound:
        rate = sound.getframerate()
    audio = speech.RecognitionAudio(content=Path(path).read_bytes())
    config = speech.RecognitionConfig(
        encoding=speech.RecognitionConfig.AudioEncoding.LINEAR16,
        sample_rate_hertz=rate,
        language_code="en-GB",
    )
    response = client.recognize(config=config, audio=audio)
    if not response.results:
        return ""
    return response.results[0].alternatives[0].transcript.lower()


def set_by(path: str) -> Timer | None:
    """Return the timer that a recording asks for; nothing if it asks for none."""
    words = heard(path).split()
    if "stop" in words or "cancel" in words:
        return Timer(0, is_running=False)
    for number, unit in itertools.pairwise(words):
        length_s = UNITS.get(unit.removesuffix("s"))
        if length_s is not None:
            count = int(number) if number.isdecimal() else WORDS.get(number, 0)
            return Timer(count * length_s)
    return None
