"""The order of batches: samples, probes, and units of the graphs that are left of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

UNIT_LAGS = (7, 8)
"""Numbers of batches from a probe or samples to the units of their graphs, beyond the lag of
feedback; two, since every second batch is of units."""
RETRY_LAG = 6
"""Number of batches from a unit to its retry: the lag of feedback."""


_MISSING_PERIOD = 4
"""Number of batches, without those of units, of which one samples the APIs without a sample."""


class BatchKind(Enum):
    """Kind of a batch of graphs."""

    SAMPLES = auto()
    """Calls of single APIs."""
    MISSING = auto()
    """Calls of single APIs of which no call has passed yet."""
    PROBE = auto()
    """Graphs that run step by step."""
    UNITS = auto()
    """Graphs that are compiled together."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The kind of each batch, by its index.

    Every other batch is of units, so that compiling begins with the first samples. The others are
    samples, with a probe after every few of them, until every API was sampled: most defects of
    compilers need several operators, and a short run never samples every API. Later, some batches
    sample again the APIs of which no call passed.
    """

    sampling: int
    """Number of batches in which every API is sampled once."""
    samples_per_probe: int = 2
    """Number of batches of samples before each probe, until every API was sampled."""

    def kind(self, index: int) -> BatchKind:
        """Return the kind of the batch of an index."""
        if index % 2:
            return BatchKind.UNITS
        turn = index // 2
        if not self.is_sampling(index):
            return BatchKind.PROBE if turn % _MISSING_PERIOD else BatchKind.MISSING
        is_probe = turn % self._period == self.samples_per_probe
        return BatchKind.PROBE if is_probe else BatchKind.SAMPLES

    def is_sampling(self, index: int) -> bool:
        """Return whether some API was not sampled before the batch of an index."""
        return self._samples_before(index) < self.sampling

    def sampling_number(self, index: int) -> int:
        """Return the number of a batch of samples; after the last one, the first follows again."""
        return self._samples_before(index) % self.sampling

    @property
    def _period(self) -> int:
        return self.samples_per_probe + 1

    def _samples_before(self, index: int) -> int:
        """Return the number of batches of samples before an index, if all APIs need them."""
        periods, turn = divmod(index // 2, self._period)
        return periods * self.samples_per_probe + min(turn, self.samples_per_probe)
