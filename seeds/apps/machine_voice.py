"""Switches a machine in a workshop by what is called to it."""

import enum
import sys
from pathlib import Path

from google.cloud import speech_v1 as speech

client = speech.SpeechClient()
CONFIG = speech.RecognitionConfig(
    language_code="en-US",
    max_alternatives=3,
    speech_contexts=[{"phrases": ["start", "slower", "emergency"]}],
)


class Command(enum.Enum):
    """What a machine can do."""

    START = "start"
    SLOWER = "slower"
    HALT = "halt"


def transcripts(path: str) -> list[str]:
    """Return what may have been called, in small letters."""
    audio = speech.RecognitionAudio(content=Path(path).read_bytes())
    response = client.recognize(config=CONFIG, audio=audio)
    return [
        alternative.transcript.strip().lower()
        for result in response.results
        for alternative in result.alternatives
    ]


def command(path: str) -> Command | None:
    """Return what a recording tells the machine to do; nothing if it says something else."""
    for said in transcripts(path):
        if "Emergency" in said:
            return Command.HALT
        if said == "start":
            return Command.START
        if said.startswith("slow"):
            return Command.SLOWER
    return None


if __name__ == "__main__":
    print(command(sys.argv[1]))
