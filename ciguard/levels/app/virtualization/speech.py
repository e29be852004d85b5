"""Hears English in sounds, with PocketSphinx and the model that it brings."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import are_recognised, speech_messages_of
from ciguard.levels.app.virtualization import sounds
from ciguard.levels.app.virtualization.installed import are_installed
from ciguard.levels.app.virtualization.validation import refuse

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation

_MODULE = "pocketsphinx"
_NOISES = ("<", "[", "+")
"""What silence and noises begin with among the words."""


@dataclass(frozen=True, slots=True)
class Speech:
    """Hears short sentences that are clearly said; it takes about as long as they do, or longer."""

    @property
    def name(self) -> str:
        """How reports call it."""
        return "PocketSphinx"

    @property
    def is_simulated(self) -> bool:
        """It hears."""
        return False

    def serves(self, operation: Operation) -> bool:
        """Return whether it is asked what is said, and PocketSphinx is installed."""
        is_asked = operation.task is RecognitionTask.SPEECH and are_recognised(operation)
        return is_asked and are_installed(_MODULE)

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return what is said, and how sure that is; nothing for silence.

        Args:
            operation: that is asked.
            about: content of a WAV file of one channel, 16 kHz, 16 bits.

        Raises:
            ServiceError: if it is something else, damaged or longer than a minute.
        """
        refuse(operation, about)
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
