"""Which planted defects a run has found, which layers it has blamed, and after how many mutants."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.findings import Bucket, Confirmation
from ciguard.domain.models import LayerNode, ModelCase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from model_defects import Defect

    from ciguard.domain.values import Json

_PUBLIC = "keras.layers."


@dataclass(frozen=True, slots=True)
class Found:
    """What a run says of one defect."""

    defect: Defect
    named: tuple[Bucket, ...] = ()
    """Buckets at a layer that the defect is in."""
    whole: tuple[Bucket, ...] = ()
    """Buckets at a model that has such a layer, and at no layer."""
    mutants: int = 0
    """Cases that had been judged when it was first met; 0 if it was not."""

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        """All of them."""
        return self.named + self.whole

    @property
    def is_found(self) -> bool:
        """Whether something names the deviating target."""
        return bool(self.buckets)

    @property
    def is_right(self) -> bool:
        """Whether something names the layer too."""
        return bool(self.named)


@dataclass(frozen=True, slots=True)
class Recall:
    """Confirmed buckets set against what was planted."""

    defects: tuple[Found, ...] = ()
    misplaced: tuple[Bucket, ...] = ()
    """At the planted target, where no layer has a defect."""
    own: tuple[Bucket, ...] = ()
    """At a target without defects: in what Keras's backends differ anyway."""
    unsettled: tuple[Bucket, ...] = ()
    """Flaky, or not confirmed in time."""

    def __add__(self, other: Recall) -> Recall:
        return Recall(
            self.defects + other.defects,
            self.misplaced + other.misplaced,
            self.own + other.own,
            self.unsettled + other.unsettled,
        )


@dataclass(slots=True)
class _Sorted:
    named: dict[str, list[Bucket]] = field(default_factory=dict)
    whole: dict[str, list[Bucket]] = field(default_factory=dict)
    misplaced: list[Bucket] = field(default_factory=list)
    own: list[Bucket] = field(default_factory=list)
    unsettled: list[Bucket] = field(default_factory=list)


def recall_of(
    buckets: Iterable[Bucket], planted_in: Sequence[Defect], results: Path, *, planted: str
) -> Recall:
    """Attribute buckets to defects, by target and layer.

    Args:
        buckets: of a run on healthy targets and one with the defects.
        planted_in: the defects; no two are of one layer.
        results: folder of the run.
        planted: name of the target that has them.
    """
    found = _Sorted()
    for bucket in buckets:
        if bucket.confirmation is not Confirmation.CONFIRMED:
            found.unsettled.append(bucket)
        elif planted not in bucket.finding.targets[-1:]:
            found.own.append(bucket)
        else:
            _attribute(bucket, planted_in, found)
    first = cases_until(results / "journal.jsonl")
    return Recall(
        tuple(_found(defect, found, first) for defect in planted_in),
        tuple(found.misplaced),
        tuple(found.own),
        tuple(found.unsettled),
    )


def _attribute(bucket: Bucket, planted_in: Sequence[Defect], found: _Sorted) -> None:
    case = bucket.finding.case
    here = [one for one in planted_in if isinstance(case, ModelCase) and has(case, one)]
    into = found.named if isinstance(case, ModelCase) and case.is_one_layer else found.whole
    for defect in here:
        into.setdefault(defect.name, []).append(bucket)
    if not here:
        found.misplaced.append(bucket)


def has(case: ModelCase, defect: Defect) -> bool:
    """Return whether a graph has a layer with a defect, wrapped or not."""
    return any(_is_of(defect, layer, config) for layer, config in _layers(case.graph.nodes))


def _is_of(defect: Defect, layer: str, config: Mapping[str, Json]) -> bool:
    if layer.removeprefix(_PUBLIC).removesuffix("Cell") in defect.layers:
        return True
    return bool(defect.activation) and defect.activation in config.values()


def _layers(nodes: Iterable[LayerNode]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for node in nodes:
        yield from _nested({"layer": node.layer, "config": dict(node.config)})


def _nested(encoded: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    if isinstance(encoded, list):
        for item in encoded:
            yield from _nested(item)
    elif isinstance(encoded, dict):
        if "layer" in encoded and isinstance(encoded["layer"], str):
            yield encoded["layer"], encoded.get("config", {})
        for item in encoded.values():
            yield from _nested(item)


def _found(defect: Defect, found: _Sorted, first: Mapping[str, int]) -> Found:
    named, whole = (tuple(part.get(defect.name, ())) for part in (found.named, found.whole))
    if named:
        whole = ()  # it may be about another defect in the same model
    counts = [first[b.fingerprint] for b in (*named, *whole) if b.fingerprint in first]
    return Found(defect, named, whole, min(counts, default=0))


def cases_until(journal: Path) -> dict[str, int]:
    """Return how many cases had been judged when each bucket was first met."""
    found: dict[str, int] = {}
    cases = 0
    for line in journal.read_text("utf-8").splitlines():
        record = json.loads(line)
        if record["type"] == "progress":
            cases = sum(stream["cases"] for stream in record["streams"].values())
            for fingerprint in record.get("counts", ()):
                found.setdefault(fingerprint, cases)
    return found
