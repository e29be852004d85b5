"""Spoken texts (Keeper, 3.2.2)."""

from __future__ import annotations

import io
import logging
import shutil
import tempfile
import unicodedata
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ciguard.levels.app.input_synthesis.inputs import ServiceInput
from ciguard.levels.app.input_synthesis.variants import InputMaker
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.programs import run_program

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from ciguard.levels.app.input_synthesis.inputs import InputSpec

    _Samples: TypeAlias = NDArray[np.int16]

_log = logging.getLogger(__name__)

RATE_HZ = 16_000
_MAX_LENGTH = 1_000
"""Characters of a text: about a minute, the most that services take at once."""
_TIMEOUT_S = 60
_LOUDEST = 3_000
"""Of noise, of 32,767: as loud as a noisy room."""


@dataclass(frozen=True, slots=True)
class _Speaker:
    """A program that speaks."""

    program: str
    voices: tuple[str, ...]
    options: Callable[[str, float, int], list[str]]
    """From the voice, the speed (1 is the usual one) and the pitch (50 is the usual one)."""
    writes: str
    """Option before the file that it writes."""


_SPEAKERS = (
    _Speaker(
        "flite",
        ("rms", "slt", "awb", "kal16"),
        lambda voice, speed, _: ["-voice", voice, "--setf", f"duration_stretch={1 / speed:.2f}"],
        "-o",
    ),
    _Speaker(
        "espeak-ng",
        ("en-us", "en-gb", "en-us+f3", "en-gb-scotland", "en-us+m3", "en-gb+f2"),
        lambda voice, speed, pitch: ["-v", voice, "-s", f"{160 * speed:.0f}", "-p", str(pitch)],
        "-w",
    ),
)
"""The first that is installed speaks: flite is understood better."""


@dataclass(frozen=True, slots=True)
class SpokenText(InputMaker):
    """Speaks the wanted transcript, in the voices of a synthesiser (Keeper, 3.2.2).

    Flite or else eSpeak NG, both English. An empty transcript makes silence and noise, which needs
    neither.
    """

    @property
    def reason(self) -> str:
        """Why no text is spoken here; empty where one is."""
        if _installed():
            return ""
        return "No speech synthesiser is installed: install flite, or else espeak-ng."

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether that is an English text that something here can speak."""
        if wanted.task is not RecognitionTask.SPEECH:
            return False
        return not wanted.key or (not self.reason and bool(_sayable(wanted.key)))

    def made(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Return sounds of that text; see `InputMaker`."""
        return _spoken(wanted, rng) if wanted.key else _unspoken(wanted, rng)


def _installed() -> _Speaker | None:
    return next((one for one in _SPEAKERS if shutil.which(one.program)), None)


def _sayable(text: str) -> str:
    """Return a text as an English voice can say it; empty where it cannot."""
    letters = unicodedata.normalize("NFKD", text)
    plain = " ".join("".join(one for one in letters if not unicodedata.combining(one)).split())
    is_sayable = plain.isascii() and plain.isprintable() and any(map(str.isalnum, plain))
    return plain if is_sayable and len(plain) <= _MAX_LENGTH else ""


def _spoken(wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
    """Yield sounds of a text without an end, until all voices fail."""
    speaker, text = _installed(), _sayable(wanted.key)
    voices = list(speaker.voices) if speaker else []
    at = 0
    while speaker and voices:
        voice = voices[at % len(voices)]
        speed, pitch = (rng.uniform(0.8, 1.15), rng.randint(35, 65)) if at else (1.0, 50)
        samples = _samples(speaker, speaker.options(voice, speed, pitch), text)
        if samples is None:
            voices.remove(voice)
            continue
        origin = f"spoken by {speaker.program}, voice {voice}, {speed:.0%} of its speed"
        yield ServiceInput(wanted, _wav(samples), origin)
        at += 1


def _samples(speaker: _Speaker, options: list[str], text: str) -> _Samples | None:
    """Return what a program speaks; None where it fails.

    The text goes through a file, since one that begins with `-` would be an option.
    """
    with tempfile.TemporaryDirectory(prefix="ciguard-speech-") as folder:
        said, heard = Path(folder, "said.txt"), Path(folder, "heard.wav")
        said.write_text(text, "ascii")
        command = [speaker.program, *options, "-f", str(said), speaker.writes, str(heard)]
        try:
            ended = run_program(command, limit_s=_TIMEOUT_S)
            if ended.code == 0:
                return _heard(heard)
            why: object = f"exit code {ended.code}"
        except (OSError, wave.Error, EOFError, ValueError) as error:
            why = error
        _log.warning("%s %s: %s", speaker.program, " ".join(options), why)
        return None


def _heard(file: Path) -> _Samples:
    """Return the samples of a file, 16,000 a second.

    Raises:
        ValueError: if it is no sound of one channel and 16 bits, or an empty one.
    """
    with wave.open(str(file)) as sound:
        if (sound.getnchannels(), sound.getsampwidth()) != (1, 2) or not sound.getnframes():
            msg = f"{sound.getparams()}: not one channel of 16 bits with samples in it"
            raise ValueError(msg)
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
        return _resampled(samples.astype(np.int16), sound.getframerate())


def _resampled(samples: _Samples, rate_hz: int) -> _Samples:
    """Return a sound at 16,000 samples a second, without what would be heard as other tones.

    Args:
        samples: one channel.
        rate_hz: how many of them are a second.
    """
    if rate_hz == RATE_HZ:
        return samples
    tones = np.fft.rfft(samples.astype(np.float64))
    count = max(1, round(len(samples) * RATE_HZ / rate_hz))
    kept = tones[: count // 2 + 1]  # frequencies that the new rate can hold
    heard = np.fft.irfft(kept, count) * (count / len(samples))
    return np.clip(np.rint(heard), -32_768, 32_767).astype(np.int16)


def _unspoken(wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
    """Yield sounds in which nobody speaks: silence, then noise."""
    yield ServiceInput(wanted, _wav(np.zeros(2 * RATE_HZ, np.int16)), "silence")
    while True:
        loudest = rng.randint(_LOUDEST // 10, _LOUDEST)
        generator = np.random.default_rng(rng.getrandbits(64))
        samples = generator.integers(-loudest, loudest, 2 * RATE_HZ, np.int16, endpoint=True)
        yield ServiceInput(wanted, _wav(samples), f"noise, at most {loudest} of 32767 loud")


def _wav(samples: _Samples) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE_HZ)
        sound.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()
