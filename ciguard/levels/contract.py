"""What a level is, and the registry of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from ciguard.domain import ApiRecord
from ciguard.registry import Registry

if TYPE_CHECKING:
    from ciguard.domain import CallKind, Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Cases of one API that are sent to a worker together."""

    api: str
    kind: CallKind
    cases: tuple[Case, ...]


@runtime_checkable
class Level(Protocol):
    """Turns knowledge into cases.

    A pure function of the run's seed and the index: a campaign can be resumed, repeated and cut
    into shards by cutting the indices.
    """

    def cases(self, index: int) -> Batch:
        """Return the batch of that index, the same one whenever it is asked for."""


LevelFactory: TypeAlias = Callable[[Sequence[ApiRecord], int], Level]
"""Makes a level from the records of a library's APIs and the run's seed."""

LEVELS: Registry[LevelFactory] = Registry("level", group="ciguard.levels", accepts=callable)
