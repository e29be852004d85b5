"""How much time each API gets, by how many APIs with similar names crashed in the same run.

Crashes gather: functions of one module and operators of one family share kernels and their missing
checks. In campaigns of torch, most APIs that crashed late resembled those that crashed early, and
the number of crashing APIs grew with the logarithm of the calls. Then the best division of time is
proportional to the rate of crashing APIs. Half of the time is divided so, the other half equally.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DIVIDED_BY_RATE = 0.5
"""Share of the time that is divided by the rates of crashes."""
_PRIOR = 2.0
"""Number of imaginary APIs with each word, which crashed as often as all APIs on average."""
_WORD_BOUNDARY = re.compile(r"[_\d.]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MIN_LETTERS = 2


class CrashRates:
    """Weights of the APIs of one level, which change with each API that crashes first."""

    def __init__(self, apis: Iterable[str]) -> None:
        """Begin without crashes, when all weights are 1.

        Args:
            apis: names of the APIs.
        """
        self._features = {api: _features(api) for api in apis}
        self._totals = Counter(one for row in self._features.values() for one in row)
        self._crashes: Counter[str] = Counter()
        """Number of APIs that crashed, by feature."""
        self._crashed: set[str] = set()
        self.weights: Mapping[str, float] = dict.fromkeys(self._features, 1.0)
        """Share of the time of each API, relative to an equal one."""

    def note(self, apis: Iterable[str]) -> bool:
        """Record that APIs crashed; return whether the weights have changed."""
        new = self._features.keys() & set(apis) - self._crashed
        if not new:
            return False
        self._crashed |= new
        self._crashes.update(one for api in new for one in self._features[api])
        rates = {api: self._rate(api) for api in self._features if api not in self._crashed}
        mean = sum(rates.values()) / max(1, len(rates))
        # An API that crashed would show little more of the same defects.
        self.weights = dict.fromkeys(self._features, 1.0) | {
            api: 1 - _DIVIDED_BY_RATE + _DIVIDED_BY_RATE * rate / mean
            for api, rate in rates.items()
        }
        return True

    def _rate(self, api: str) -> float:
        """Return the mean rate of crashes among the APIs that share a feature with an API."""
        average = len(self._crashed) / len(self._features)
        rates = [
            (self._crashes[one] + _PRIOR * average) / (self._totals[one] + _PRIOR)
            for one in self._features[api]
        ]
        return sum(rates) / len(rates)


def _features(api: str) -> frozenset[str]:
    """Return the module of an API, and the words in the last part of its name."""
    module, _, name = api.rpartition(".")
    words = (word.lower() for word in _WORD_BOUNDARY.split(name))
    return frozenset({f"{module}.", *(word for word in words if len(word) >= _MIN_LETTERS)})
