"""Hears English in sounds, with PocketSphinx and the model that it brings."""

from __future__ import annotations

from importlib import import_module
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import speech_messages_of
from ciguard.levels.app.virtualization import sounds
from ciguard.levels.app.virtualization.engine import Recogniser

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation

_MODULE = "pocketsphinx"
_NOISES = ("<", "[", "+")
"""What silence and noises begin with among the words."""


class Speech(Recogniser):
    """Hears short sentences that are clearly said; it takes about as long as they do, or longer."""

    NAME = "PocketSphinx"
    TASK = RecognitionTask.SPEECH
    MODULES: ClassVar[tuple[str, ...]] = (_MODULE,)

    def recognised(self, operation: Operation, about: bytes) -> Json:
        """Return what is said in a WAV file of 16 kHz, 16 bits, and how sure that is."""
        heard = sounds.samples(about)
        if not any(heard):  # it hears words in absolute silence
            return {}
        decoder = _decoder()
        decoder.start_utt()
        decoder.process_raw(heard, full_utt=True)
        decoder.end_utt()
        found = decoder.hyp()
        if found is None or not found.hypstr:
            return {}
        shares = [word.prob for word in decoder.seg() if not word.word.startswith(_NOISES)]
        sureness = min(fmean(shares), 1.0) if shares else 0.0
        return speech_messages_of(operation).speech_answer([(found.hypstr, sureness)])


def _decoder() -> Any:
    """Return a new decoder: one that has heard something before hears the next otherwise."""
    return import_module(_MODULE).Decoder(samprate=sounds.RATE_HZ, loglevel="FATAL")
