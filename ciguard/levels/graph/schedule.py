"""The order of batches: samples, probes, and units of the graphs that are left of probes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

UNIT_LAG = 7
"""Number of batches from a probe to the units of its graphs, beyond the lag of feedback."""
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
        """Return the kind of the batch of an index."""
        if self.is_interleaved:
            return (BatchKind.SAMPLES, BatchKind.PROBE, BatchKind.UNITS)[index % 3]
        if index < self.sampling:
            return BatchKind.SAMPLES
        return (BatchKind.PROBE, BatchKind.UNITS)[(index - self.sampling) % 2]

    def sampling_number(self, index: int) -> int:
        """Return the number of a batch of samples; after the last one, the first follows again."""
        return (index // 3 if self.is_interleaved else index) % self.sampling
