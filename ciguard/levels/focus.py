"""Focus: some APIs get most of a level's batches, and the others are never left out.

The APIs in focus form one level and the others another; their batches alternate in a fixed pattern.
So every level can be focused, and the batch of an index still depends only on the seed.
"""

from __future__ import annotations

import re
from fnmatch import translate
from math import ceil
from typing import TYPE_CHECKING, Protocol, TypeVar

from ciguard.levels.contract import IndexedLevel, LearningLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.knowledge import Experience
    from ciguard.levels.contract import Batch, Level

_WILDCARD = frozenset("*?[")
_MAX_TOP_APIS = 8
"""Number of top APIs, the first in focus, which get as many batches as the others in focus."""
_TOP_AND_OTHERS = "FR"
"""Pattern of two batches: one for the top APIs (F), one for the other APIs in focus (R)."""
_FOCUS_AND_REST = "FFRFFRFFRF"
"""Pattern of ten batches: seven for the APIs in focus (F), three for the rest (R)."""


class FocusTarget(Protocol):
    """The subject of a batch: an API or one of the user's functions."""

    @property
    def api(self) -> str:
        """Name of the API or function."""


TargetT = TypeVar("TargetT", bound=FocusTarget)


def ranked(records: Sequence[TargetT], globs: Sequence[str]) -> list[TargetT]:
    """Return the records that match a glob, in the order of the globs."""
    by_name = {record.api: record for record in records}
    names = dict.fromkeys(name for glob in globs for name in _matching_names(glob, by_name))
    return [by_name[name] for name in names]


def globs_without_match(records: Sequence[FocusTarget], globs: Sequence[str]) -> list[str]:
    """Return the globs that match no API."""
    names = dict.fromkeys(record.api for record in records)
    return [glob for glob in globs if not _matching_names(glob, names)]


def _matching_names(glob: str, names: Mapping[str, object]) -> list[str]:
    """Return the names that match a glob; most globs are plain names, which need no search."""
    if _WILDCARD.isdisjoint(glob):
        return [glob] if glob in names else []
    return list(filter(re.compile(translate(glob)).match, names))


def focused_level(
    factory: Callable[[Sequence[TargetT], int], Level],
    records: Sequence[TargetT],
    seed: int,
    *,
    focus: Sequence[str],
) -> tuple[Level, int]:
    """Return a level that prefers the APIs in focus, and how many of its batches cover all APIs.

    Args:
        factory: the function that makes a level from APIs and a seed.
        records: the APIs to test.
        seed: the seed of the run.
        focus: globs over API names, the most important first; if they match nothing, no API is
            preferred.
    """
    in_focus = ranked(records, focus)
    if not in_focus:
        return factory(records, seed), len(records)
    top, others = in_focus[:_MAX_TOP_APIS], in_focus[_MAX_TOP_APIS:]
    interleaved = factory(top, seed), len(top)
    if others:
        interleaved = _interleaved(
            interleaved, (factory(others, seed), len(others)), top, _TOP_AND_OTHERS
        )
    focused_apis = {record.api for record in in_focus}
    rest = [record for record in records if record.api not in focused_apis]
    if rest:
        interleaved = _interleaved(
            interleaved, (factory(rest, seed), len(rest)), in_focus, _FOCUS_AND_REST
        )
    return interleaved


def _interleaved(
    first: tuple[Level, int],
    rest: tuple[Level, int],
    records: Sequence[FocusTarget],
    pattern: str,
) -> tuple[Level, int]:
    """Return a level that alternates between two levels, and how many batches cover all APIs.

    Args:
        first: the level of the preferred APIs, and how many of its batches cover them.
        rest: the level of the other APIs, and how many of its batches cover them.
        records: the preferred APIs.
        pattern: the sequence that repeats: F for a batch of `first`, R for one of `rest`.
    """
    apis = frozenset(record.api for record in records)
    kind = Interleaved
    if isinstance(first[0], LearningLevel) and isinstance(rest[0], LearningLevel):
        kind = LearningInterleaved
    counts = pattern.count("F"), pattern.count("R")
    batch_counts = [
        n * len(pattern) / count for (_, n), count in zip((first, rest), counts, strict=True)
    ]
    return kind(first[0], rest[0], apis, pattern), ceil(max(batch_counts))


class Interleaved:
    """A level whose batches come from two levels, in the order of a pattern of F and R."""

    def __init__(self, first: Level, rest: Level, apis: frozenset[str], pattern: str) -> None:
        self._levels = {"F": first, "R": rest}
        self._apis = apis
        """APIs of the first level."""
        self._pattern = pattern

    def cases(self, index: int) -> Batch:
        """Return the batch of an index."""
        level, inner_index = self._level_and_index(index)
        return level.cases(inner_index)

    def api_of(self, index: int) -> str:
        """Return the API of the batch of an index."""
        level, inner_index = self._level_and_index(index)
        return (
            level.api_of(inner_index)
            if isinstance(level, IndexedLevel)
            else level.cases(inner_index).api
        )

    def _level_and_index(self, index: int) -> tuple[Level, int]:
        """Return the level that makes a batch, and the batch's index in that level."""
        block, position = divmod(index, len(self._pattern))
        key = self._pattern[position]
        before = self._pattern.count(key, 0, position)
        return self._levels[key], block * self._pattern.count(key) + before


class LearningInterleaved(Interleaved):
    """Two interleaved learning levels; feedback on an API goes to the level that calls it."""

    _levels: dict[str, LearningLevel]  # type: ignore[assignment]  # narrower than the base's

    def recall(self, learned: Mapping[str, Experience]) -> None:
        """Start with the experience of earlier campaigns, by API."""
        for level in self._levels.values():
            level.recall(learned)

    def feedback(self, batch: Batch, outcomes: Sequence[Outcome]) -> Experience | None:
        """Return the feedback of a batch without applying it; None if there is none."""
        return self._level(batch.api).feedback(batch, outcomes)

    def learn(self, api: str, feedback: Experience) -> None:
        """Apply feedback on an API to the batches that are made after this call."""
        self._level(api).learn(api, feedback)

    def replay(self, api: str, feedback: Experience) -> None:
        """Register feedback from an earlier part of the same campaign."""
        self._level(api).replay(api, feedback)

    def learned(self) -> dict[str, Experience]:
        """Return the experience of earlier campaigns and of this one so far, by API."""
        return self._levels["R"].learned() | self._levels["F"].learned()

    def _level(self, api: str) -> LearningLevel:
        return self._levels["F" if api in self._apis else "R"]
