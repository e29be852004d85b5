"""Focus: some APIs get most of a level's batches, the rest is never left out.

The APIs in focus are a level of their own, and so are the others; batches of both come in a fixed
pattern. So every level can be focused, and the batch of an index still follows from the seed.
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
_TOP = 8
"""The first APIs in focus get as many batches as all others in focus together."""
_TOP_AND_OTHERS = "FR"
_FOCUS_AND_REST = "FFRFFRFFRF"
"""Of ten batches, seven are for what is in focus (F), three for the rest (R)."""


class FocusTarget(Protocol):
    """What takes turns: an API, or a function of the user's."""

    @property
    def api(self) -> str:
        """Its name."""


AnyNamed = TypeVar("AnyNamed", bound=FocusTarget)


def ranked(records: Sequence[AnyNamed], globs: Sequence[str]) -> list[AnyNamed]:
    """Return the records that a glob names, in the order of the globs."""
    by_name = {record.api: record for record in records}
    found = dict.fromkeys(name for glob in globs for name in _named(glob, by_name))
    return [by_name[name] for name in found]


def unmatched(records: Sequence[FocusTarget], globs: Sequence[str]) -> list[str]:
    """Return the globs that name no API."""
    names = dict.fromkeys(record.api for record in records)
    return [glob for glob in globs if not _named(glob, names)]


def _named(glob: str, names: Mapping[str, object]) -> list[str]:
    """Return the names that match a glob; most globs are plain names, which need no search."""
    if _WILDCARD.isdisjoint(glob):
        return [glob] if glob in names else []
    return list(filter(re.compile(translate(glob)).match, names))


def focused(
    factory: Callable[[Sequence[AnyNamed], int], Level],
    records: Sequence[AnyNamed],
    seed: int,
    *,
    focus: Sequence[str],
) -> tuple[Level, int]:
    """Return a level that tries some APIs first and most, and its batches until all had a turn.

    Args:
        factory: of the level.
        records: APIs that take part.
        seed: of the run.
        focus: globs over API names, the most interesting first; where they name nothing, the level
            is the plain one.
    """
    first = ranked(records, focus)
    if not first:
        return factory(records, seed), len(records)
    made = factory(first[:_TOP], seed), min(_TOP, len(first))
    if len(first) > _TOP:
        others = first[_TOP:]
        made = _interleaved(
            made, (factory(others, seed), len(others)), first[:_TOP], _TOP_AND_OTHERS
        )
    chosen = {record.api for record in first}
    rest = [record for record in records if record.api not in chosen]
    if rest:
        made = _interleaved(made, (factory(rest, seed), len(rest)), first, _FOCUS_AND_REST)
    return made


def _interleaved(
    first: tuple[Level, int],
    rest: tuple[Level, int],
    records: Sequence[FocusTarget],
    pattern: str,
) -> tuple[Level, int]:
    """Return both levels as one, and how many of its batches give all their APIs a turn."""
    apis = frozenset(record.api for record in records)
    kind = Interleaved
    if isinstance(first[0], LearningLevel) and isinstance(rest[0], LearningLevel):
        kind = LearningInterleaved
    counts = pattern.count("F"), pattern.count("R")
    rounds = [n * len(pattern) / count for (_, n), count in zip((first, rest), counts, strict=True)]
    return kind(first[0], rest[0], apis, pattern), ceil(max(rounds))


class Interleaved:
    """Two levels as one: `pattern` says of each batch which of them makes it."""

    def __init__(self, first: Level, rest: Level, apis: frozenset[str], pattern: str) -> None:
        self._levels = {"F": first, "R": rest}
        self._apis = apis
        """Those of the first level."""
        self._pattern = pattern

    def cases(self, index: int) -> Batch:
        """Return the batch of that index."""
        level, inner = self._maker(index)
        return level.cases(inner)

    def api_of(self, index: int) -> str:
        """Return the API of the batch of that index."""
        level, inner = self._maker(index)
        return level.api_of(inner) if isinstance(level, IndexedLevel) else level.cases(inner).api

    def _maker(self, index: int) -> tuple[Level, int]:
        """Return the level that makes a batch, and the index that it has there."""
        block, place = divmod(index, len(self._pattern))
        which = self._pattern[place]
        before = self._pattern.count(which, 0, place)
        return self._levels[which], block * self._pattern.count(which) + before


class LearningInterleaved(Interleaved):
    """The same of levels that learn: what an API teaches goes to the level that calls it."""

    _levels: dict[str, LearningLevel]  # type: ignore[assignment]  # narrower than the base's

    def recall(self, learned: Mapping[str, Experience]) -> None:
        """Begin with what earlier campaigns learned, by API."""
        for level in self._levels.values():
            level.recall(learned)

    def lesson(self, batch: Batch, outcomes: Sequence[Outcome]) -> Experience | None:
        """Return what a batch teaches."""
        return self._level(batch.api).lesson(batch, outcomes)

    def learn(self, api: str, lesson: Experience) -> None:
        """Put a lesson to use."""
        self._level(api).learn(api, lesson)

    def relearn(self, api: str, lesson: Experience) -> None:
        """Note a lesson of an earlier part of the same campaign."""
        self._level(api).relearn(api, lesson)

    def learned(self) -> dict[str, Experience]:
        """Return what is known from outcomes by now, by API."""
        return self._levels["R"].learned() | self._levels["F"].learned()

    def _level(self, api: str) -> LearningLevel:
        return self._levels["F" if api in self._apis else "R"]
