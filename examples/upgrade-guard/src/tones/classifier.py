"""A small network over spectral features."""

from __future__ import annotations

import torch
from torch import nn

from tones.features import band_energies, normalised


class ToneClassifier(nn.Module):
    """Two convolutions over time, then an average: recordings may be of any length."""

    def __init__(self, *, bands: int = 32, width: int = 24, tones: int = 12) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(bands, width, kernel_size=3, padding=1),
            nn.GroupNorm(4, width),
            nn.GELU(),
            nn.Conv1d(width, width, kernel_size=3, padding=1),
            nn.GELU(),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
            nn.Linear(width, tones),
        )

    def forward(self, recordings: torch.Tensor) -> torch.Tensor:
        """Return a score per tone for recordings of shape `(batch, samples)`."""
        features = normalised(band_energies(recordings))
        scores: torch.Tensor = self.layers(features.transpose(-2, -1))
        return scores


@torch.no_grad()
def predict(classifier: ToneClassifier, recordings: torch.Tensor) -> list[int]:
    """Return the likeliest tone of each recording."""
    scores = torch.softmax(classifier(recordings), dim=-1)
    return [int(tone) for tone in torch.argmax(scores, dim=-1)]
