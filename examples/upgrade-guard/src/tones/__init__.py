"""Tells which musical tone a short recording holds."""

from tones.classifier import ToneClassifier, predict
from tones.features import band_energies, frames, normalised

__all__ = ["ToneClassifier", "band_energies", "frames", "normalised", "predict"]
