"""Sounds that are made: spoken, silent, noisy."""

from __future__ import annotations

import io
import json
import shlex
import shutil
import sys
import wave
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ciguard.levels.app.input_synthesis import speech
from ciguard.levels.app.input_synthesis.inputs import InputSpec
from ciguard.levels.app.input_synthesis.speech import RATE_HZ, SpokenText
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

LIGHT = InputSpec(RecognitionTask.SPEECH, "turn on the light")


def heard(content: bytes) -> NDArray[np.int16]:
    with wave.open(io.BytesIO(content)) as sound:
        kind = (sound.getnchannels(), sound.getsampwidth(), sound.getframerate())
        assert kind == (1, 2, 16_000)
        return np.frombuffer(sound.readframes(sound.getnframes()), np.int16)


def test_empty_transcript_gives_silence_and_noise_without_a_synthesiser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)

    silence, *noise = SpokenText().inputs(InputSpec(RecognitionTask.SPEECH), 3, seed=1)

    assert not heard(silence.content).any()
    assert len({one.digest for one in noise}) == 2
    assert all(heard(one.content).std() > 50 for one in noise)


def test_without_a_synthesiser_no_text_is_served_and_the_reason_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)

    assert not SpokenText().serves(LIGHT)
    assert not SpokenText().inputs(LIGHT, 3, seed=1)
    assert "Install flite" in SpokenText().unavailable_reason


def test_text_is_served_exactly_if_a_synthesiser_is_installed() -> None:
    is_installed = any(shutil.which(one) for one in ("flite", "espeak-ng"))

    made, again = (SpokenText().inputs(LIGHT, 4, seed=1) for _ in range(2))

    assert SpokenText().serves(LIGHT) == is_installed == (not SpokenText().unavailable_reason)
    assert len({one.digest for one in made}) == (4 if is_installed else 0)
    assert made == again
    for one in made:
        samples = heard(one.content)
        assert RATE_HZ // 2 < len(samples) < 5 * RATE_HZ
        assert samples.std() > 100


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that a synthesiser of ours writes its arguments and the text to."""
    file, script, log = tmp_path / "flite", tmp_path / "flite.py", tmp_path / "log"
    words = shlex.join([sys.executable, str(script)])
    file.write_text(f'#!/bin/sh\nexec {words} "$@"\n', "utf-8")
    script.write_text(
        "import json, pathlib, sys, wave\n"
        f"log = pathlib.Path({str(log)!r})\n"
        "text = pathlib.Path(sys.argv[sys.argv.index('-f') + 1]).read_text()\n"
        "log.write_text(json.dumps([sys.argv[1:], text]))\n"
        "if 'slt' in sys.argv: sys.exit('no such voice')\n"
        "if 'awb' in sys.argv: sys.exit(0)\n"
        "with wave.open(sys.argv[sys.argv.index('-o') + 1], 'wb') as sound:\n"
        "    sound.setparams((1, 2, 22050, 0, 'NONE', ''))\n"
        "    count = 22050 + 22 * (sys.argv[2] == 'kal16')\n"
        "    sound.writeframes(b'\\x10\\x20' * count)\n",
        "utf-8",
    )
    file.chmod(0o755)
    monkeypatch.setattr(speech, "_SPEAKERS", speech._SPEAKERS[:1])
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return log


@pytest.mark.parametrize("text", ["--help; $(id) `id`", "-o /tmp/x", "a\nb | c > d"])
def test_text_never_reaches_a_synthesiser_as_an_option(program: Path, text: str) -> None:
    SpokenText().inputs(InputSpec(RecognitionTask.SPEECH, text), 1, seed=1)

    arguments, said = json.loads(program.read_text("utf-8"))
    assert said == " ".join(text.split())
    assert not any(text in one or said in one for one in arguments)


@pytest.mark.usefixtures("program")
def test_failing_voice_is_skipped_and_sounds_are_resampled() -> None:
    made = SpokenText().inputs(LIGHT, 2, seed=1)

    assert {one.origin.split(",")[1] for one in made} <= {" voice rms", " voice kal16"}
    assert all(abs(len(heard(one.content)) - RATE_HZ) < 500 for one in made)


@pytest.mark.parametrize("text", ["日本", "...", "\x00", "a" * 2_000])
def test_text_that_an_english_voice_cannot_speak_is_not_served(text: str) -> None:
    assert not SpokenText().serves(InputSpec(RecognitionTask.SPEECH, text))
