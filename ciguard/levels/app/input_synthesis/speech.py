"""Synthesised speech (Keeper paper, section 3.2.2)."""

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

from ciguard.levels.app.input_synthesis.input_maker import InputMaker
from ciguard.levels.app.input_synthesis.inputs import ServiceInput
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.programs import run_program
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from ciguard.levels.app.input_synthesis.inputs import InputSpec

    _Samples: TypeAlias = NDArray[np.int16]

_log = logging.getLogger(__name__)

RATE_HZ = 16_000
"""Sampling rate of all sounds, in samples per second."""
_MAX_LENGTH = 1_000
"""Maximum length of a text in characters: about a minute of speech, which services accept."""
_TIMEOUT_S = 60
_MAX_NOISE = 3_000
"""Maximum amplitude of noise, of 32,767; this is quiet background noise."""


@dataclass(frozen=True, slots=True)
class _Speaker:
    """A speech synthesiser."""

    program: str
    voices: tuple[str, ...]
    options: Callable[[str, float, int], list[str]]
    """Function from voice, speed (1 is normal) and pitch (50 is normal) to program options."""
    output_option: str
    """Program option for the output file."""


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
"""Synthesisers in order of preference, as the speech of flite is easier to understand."""


@dataclass(frozen=True, slots=True)
class SpokenText(InputMaker):
    """English speech in the voices of a synthesiser (Keeper paper, section 3.2.2).

    Flite is used if it is installed, otherwise eSpeak NG. For an empty transcript, silence and
    noise are made, without a synthesiser.
    """

    @property
    def unavailable_reason(self) -> str:
        """Reason why no text can be spoken here; empty if a synthesiser is installed."""
        if _installed_speaker():
            return ""
        return "No speech synthesiser is installed. Install flite or espeak-ng."

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether a synthesiser is installed, and an English voice can speak the text."""
        if wanted.task is not RecognitionTask.SPEECH:
            return False
        return not wanted.key or (not self.unavailable_reason and bool(_ascii_text(wanted.key)))

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield spoken texts, or sounds without speech; see `InputMaker`."""
        return _spoken_inputs(wanted, rng) if wanted.key else _inputs_without_speech(wanted, rng)


def _installed_speaker() -> _Speaker | None:
    return next((speaker for speaker in _SPEAKERS if shutil.which(speaker.program)), None)


def _ascii_text(text: str) -> str:
    """Return a text in ASCII, without accents; empty if an English voice cannot speak it."""
    letters = unicodedata.normalize("NFKD", text)
    plain = " ".join(
        "".join(letter for letter in letters if not unicodedata.combining(letter)).split()
    )
    is_speakable = plain.isascii() and plain.isprintable() and any(map(str.isalnum, plain))
    return plain if is_speakable and len(plain) <= _MAX_LENGTH else ""


def _spoken_inputs(wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
    """Yield a spoken text endlessly in different voices, until all voices have failed."""
    speaker, text = _installed_speaker(), _ascii_text(wanted.key)
    voices = list(speaker.voices) if speaker else []
    count = 0
    while speaker and voices:
        voice = voices[count % len(voices)]
        speed, pitch = (rng.uniform(0.8, 1.15), rng.randint(35, 65)) if count else (1.0, 50)
        samples = _spoken_samples(speaker, speaker.options(voice, speed, pitch), text)
        if samples is None:
            voices.remove(voice)
            continue
        origin = f"spoken by {speaker.program}, voice {voice}, {speed:.0%} of its speed"
        yield ServiceInput(wanted, _wav(samples), origin)
        count += 1


def _spoken_samples(speaker: _Speaker, options: list[str], text: str) -> _Samples | None:
    """Return the samples of a spoken text; None if the synthesiser fails.

    The text is passed in a file, as a text that begins with `-` would be read as an option.
    """
    with tempfile.TemporaryDirectory(prefix=scratch_prefix("speech")) as folder:
        text_file, sound_file = Path(folder, "text.txt"), Path(folder, "speech.wav")
        text_file.write_text(text, "ascii")
        command = [
            speaker.program,
            *options,
            "-f",
            str(text_file),
            speaker.output_option,
            str(sound_file),
        ]
        try:
            result = run_program(command, limit_s=_TIMEOUT_S)
            if result.code == 0:
                return _read_samples(sound_file)
            problem: object = f"exit code {result.code}"
        except (OSError, wave.Error, EOFError, ValueError) as error:
            problem = error
        _log.warning("%s %s: %s", speaker.program, " ".join(options), problem)
        return None


def _read_samples(file: Path) -> _Samples:
    """Return the samples of a WAV file, 16,000 per second.

    Raises:
        ValueError: if the file is empty, or does not have one channel of 16 bits.
    """
    with wave.open(str(file)) as sound:
        if (sound.getnchannels(), sound.getsampwidth()) != (1, 2) or not sound.getnframes():
            msg = f"{sound.getparams()}: not one channel of 16 bits, or empty"
            raise ValueError(msg)
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
        return _resampled(samples.astype(np.int16), sound.getframerate())


def _resampled(samples: _Samples, rate_hz: int) -> _Samples:
    """Return a sound resampled to 16,000 samples per second, without aliasing.

    Args:
        samples: the samples of one channel.
        rate_hz: the sampling rate of the samples.
    """
    if rate_hz == RATE_HZ:
        return samples
    frequencies = np.fft.rfft(samples.astype(np.float64))
    count = max(1, round(len(samples) * RATE_HZ / rate_hz))
    low_frequencies = frequencies[: count // 2 + 1]  # those that the new rate can represent
    resampled = np.fft.irfft(low_frequencies, count) * (count / len(samples))
    return np.clip(np.rint(resampled), -32_768, 32_767).astype(np.int16)


def _inputs_without_speech(wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
    """Yield sounds without speech: silence, then noise."""
    yield ServiceInput(wanted, _wav(np.zeros(2 * RATE_HZ, np.int16)), "silence")
    while True:
        amplitude = rng.randint(_MAX_NOISE // 10, _MAX_NOISE)
        generator = np.random.default_rng(rng.getrandbits(64))
        samples = generator.integers(-amplitude, amplitude, 2 * RATE_HZ, np.int16, endpoint=True)
        yield ServiceInput(wanted, _wav(samples), f"noise, at most {amplitude} of 32767 loud")


def _wav(samples: _Samples) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE_HZ)
        sound.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()
