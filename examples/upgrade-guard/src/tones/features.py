"""Spectral features of recordings."""

from __future__ import annotations

import torch


def frames(recording: torch.Tensor, size: int = 256, step: int = 128) -> torch.Tensor:
    """Cut a recording into overlapping windows.

    Args:
        recording: samples, shape `(..., samples)`, at least `size` of them.
        size: samples of one window.
        step: samples from one window to the next.

    Returns:
        Shape `(..., windows, size)`, each window tapered at its ends.
    """
    taper = torch.hann_window(size, dtype=recording.dtype)
    return recording.unfold(-1, size, step) * taper


def band_energies(recording: torch.Tensor, bands: int = 32) -> torch.Tensor:
    """Return the logarithm of the energy per band of frequencies, shape `(..., windows, bands)`."""
    spectrum = torch.fft.rfft(frames(recording))
    energy = torch.square(torch.abs(spectrum))[..., 1:]
    return torch.log1p(torch.nn.functional.adaptive_avg_pool1d(energy, bands))


def normalised(features: torch.Tensor) -> torch.Tensor:
    """Return features with mean 0 and deviation 1 over windows and bands; silence stays 0."""
    centred = features - torch.mean(features, dim=(-2, -1), keepdim=True)
    deviation = torch.std(features, dim=(-2, -1), keepdim=True)
    return centred / torch.clamp(deviation, min=1e-6)
