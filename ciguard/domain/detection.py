"""Planted defects: what a run could have found.

A run that finds nothing proves little if it cannot find anything. So each run plants known defects
into calls that it has judged, judges these calls again, and counts the defects that it notices.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.domain.untrusted import Untrusted
    from ciguard.domain.values import Json

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_Z = 1.96
"""Quantile of the normal distribution for an interval of 95 %."""


class DefectKind(StrEnum):
    """Kind of a planted defect; the value is its name in reports."""

    VALUE = "values"
    """Every floating-point element of the result is larger by one thousandth."""
    DTYPE = "dtypes"
    """The result has a neighbouring dtype, such as float64 for float32."""
    SHAPE = "shapes"
    """The result lacks the last element of the last axis."""
    NAN = "NaN"
    """The result has zeros in place of NaN."""
    GRADIENT = "gradients"
    """The gradient is larger by half."""
    MUTATION = "changed arguments"
    """One is added to the first element of the first floating-point argument."""
    EXCEPTION = "exceptions"
    """A rejection raises another class of exception."""
    ACCEPTANCE = "missing checks"
    """Arguments that the API rejects are accepted."""
    IGNORED = "ignored arguments"
    """A keyword argument has no effect."""
    CRASH = "crashes"
    """A tensor without elements, without axes, or with an infinity crashes the process."""
    SLOWDOWN = "slowdowns"
    """The call is computed three times."""
    LEAK = "leaks"
    """Each call keeps 4 KiB for good."""


COSTS = frozenset({DefectKind.SLOWDOWN, DefectKind.LEAK})
"""Kinds that need measurements of many calls on two targets."""


@dataclass(frozen=True, slots=True, order=True)
class PlantedDefect:
    """One defect of one API."""

    kind: DefectKind
    api: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """Planted defects of a run, and which of them it has noticed."""

    caught: tuple[PlantedDefect, ...]
    """Defects that the oracles have noticed."""
    missed: tuple[PlantedDefect, ...]
    """Defects that they have not noticed, although the API was called."""
    uncalled: tuple[PlantedDefect, ...]
    """Defects of APIs that the run has not called, which it cannot notice either."""

    @property
    def planted(self) -> int:
        """Number of all defects."""
        return len(self.caught) + len(self.missed) + len(self.uncalled)

    @property
    def rate(self) -> float:
        """Share of the defects that were noticed; 0 without defects."""
        return len(self.caught) / self.planted if self.planted else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds of the rate with a confidence of 95 %.

        Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
        JASA 22, 1927.
        """
        return wilson_interval(len(self.caught), self.planted)

    def by_kind(self) -> Mapping[DefectKind, tuple[int, int]]:
        """Return the numbers of noticed and of all defects of each kind that was planted."""
        everything = (*self.caught, *self.missed, *self.uncalled)
        return {
            kind: (
                sum(defect.kind is kind for defect in self.caught),
                sum(defect.kind is kind for defect in everything),
            )
            for kind in DefectKind
            if any(defect.kind is kind for defect in everything)
        }


def merged_detection(detections: Iterable[Detection]) -> Detection | None:
    """Return the planted defects of all parts of a campaign together; None without any.

    Rows of a matrix test different targets, so a defect of two rows counts twice.
    """
    every = list(detections)
    if not every:
        return None
    return Detection(
        caught=tuple(sorted(chain.from_iterable(one.caught for one in every))),
        missed=tuple(sorted(chain.from_iterable(one.missed for one in every))),
        uncalled=tuple(sorted(chain.from_iterable(one.uncalled for one in every))),
    )


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the bounds of a share with a confidence of 95 %; (0, 1) without trials."""
    if not trials:
        return 0.0, 1.0
    share, spread = successes / trials, _Z**2 / trials
    centre = share + spread / 2
    margin = _Z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    low, high = (centre - margin) / (1 + spread), (centre + margin) / (1 + spread)
    return max(0.0, low), min(1.0, high)


def detection_to_json(detection: Detection) -> dict[str, Json]:
    """Return the JSON form of a detection, as in `run.json` and `parts.jsonl`."""
    low, high = detection.interval
    return {
        "planted": detection.planted,
        "caught": len(detection.caught),
        "rate": round(detection.rate, 4),
        "interval": [round(low, 4), round(high, 4)],
        "kinds": {
            kind.value: {"caught": caught, "planted": planted}
            for kind, (caught, planted) in detection.by_kind().items()
        },
        "noticed": _pairs(detection.caught),
        "missed": _pairs(detection.missed),
        "uncalled": _pairs(detection.uncalled),
    }


def detection_from_json(reader: Untrusted) -> Detection:
    """Return an untrusted detection; its numbers are counted again.

    Raises:
        ValueError: if a defect has another kind, or is none of an API.
    """
    return Detection(
        caught=_defects(reader, "noticed"),
        missed=_defects(reader, "missed"),
        uncalled=_defects(reader, "uncalled"),
    )


def _pairs(defects: Iterable[PlantedDefect]) -> list[Json]:
    return [[defect.kind.value, defect.api] for defect in defects]


def _defects(reader: Untrusted, key: str) -> tuple[PlantedDefect, ...]:
    return tuple(_defect(pair, key) for pair in reader.value(key, list))


def _defect(pair: object, key: str) -> PlantedDefect:
    match pair:
        case [str() as kind, str() as api] if _DOTTED.fullmatch(api):
            return PlantedDefect(DefectKind(kind), api)
        case _:
            message = f"{key!r} has a planted defect that is malformed: {pair!r:.60}"
            raise ValueError(message)
