"""Tests of the package itself; what torch does in all other cases is the guard's business."""

from __future__ import annotations

import math

import torch
from tones import ToneClassifier, band_energies, frames, normalised, predict

RATE = 8_000


def tone(hertz: float, samples: int = 2_048) -> torch.Tensor:
    return torch.sin(2 * math.pi * hertz / RATE * torch.arange(samples))


def test_frames_of_a_recording_overlap_by_half() -> None:
    assert frames(tone(440)).shape == (15, 256)


def test_band_energies_of_a_higher_tone_are_in_a_higher_band() -> None:
    low, high = (int(band_energies(tone(hertz)).mean(-2).argmax()) for hertz in (440, 1_760))

    assert low < high


def test_normalised_silence_is_finite() -> None:
    assert torch.equal(normalised(torch.zeros(3, 4)), torch.zeros(3, 4))


def test_classifier_learns_to_tell_two_tones_apart() -> None:
    torch.manual_seed(0)
    recordings = torch.stack([tone(440), tone(880)])
    classifier = ToneClassifier(tones=2)
    optimiser = torch.optim.Adam(classifier.parameters(), lr=0.01)
    for _ in range(30):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(classifier(recordings), torch.tensor([0, 1])).backward()
        optimiser.step()

    assert predict(classifier, recordings) == [0, 1]
