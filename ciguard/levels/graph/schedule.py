"""The order of batches: samples, probes, and units of the graphs that are left of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

UNIT_LAGS = (7, 8)
"""Numbers of batches from a probe or samples to the units of their graphs, beyond the lag of
feedback; two, since every second batch is of units."""
RETRY_LAG = 6
"""Number of batches from a unit to its retry: the lag of feedback."""


class BatchKind(Enum):
    """Kind of a batch of graphs."""

    SAMPLES = auto()
    """Calls of single APIs."""
    PROBE = auto()
    """Graphs that run step by step."""
    UNITS = auto()
    """Graphs that are compiled together."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The kind of each batch, by its index."""

    sampling: int
    """Number of batches in which every API is sampled once."""
    is_interleaved: bool = False
    """True to compose graphs between the batches of samples, since these take long."""

    def kind(self, index: int) -> BatchKind:
        """Return the kind of the batch of an index.

        Every other batch is of units, so that compiling begins with the first samples.
        """
        if self.is_interleaved:
            return (BatchKind.SAMPLES, BatchKind.PROBE, BatchKind.UNITS)[index % 3]
        if index % 2:
            return BatchKind.UNITS
        return BatchKind.SAMPLES if index // 2 < self.sampling else BatchKind.PROBE

    def sampling_number(self, index: int) -> int:
        """Return the number of a batch of samples; after the last one, the first follows again."""
        return index // (3 if self.is_interleaved else 2) % self.sampling
