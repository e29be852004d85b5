"""Focus: some APIs get most of a level's batches, and the others are never left out.

A level that visits each API separately has its APIs divided into groups with shares. For another
level, the APIs in focus form one level and the others another; their batches alternate in a fixed
pattern, so that the batch of an index still depends only on the seed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from math import ceil
from typing import TYPE_CHECKING, Protocol, TypeVar

from ciguard.levels.contract import IndexedLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


@dataclass(frozen=True, slots=True)
class ApiShare:
    """A group of APIs that gets a share of a stream's batches."""

    weight: float
    """Share of the batches, relative to the weights of the other groups."""
    apis: Sequence[str]
    """Names of the APIs, which are visited in turn."""


def focus_shares(records: Sequence[FocusTarget], focus: Sequence[str]) -> list[ApiShare]:
    """Return the APIs in groups: the first in focus, the others in focus, and the rest.

    Args:
        records: APIs to test.
        focus: globs over API names, the most important first; there is one group if they match
            nothing.
    """
    names = [record.api for record in records]
    chosen = [record.api for record in ranked(records, focus)]
    top, others = chosen[:_MAX_TOP_APIS], chosen[_MAX_TOP_APIS:]
    rest = [name for name in names if name not in set(chosen)]
    in_focus = _FOCUS_AND_REST.count("F")
    weight_of_top = in_focus / 2 if others else in_focus
    shares = (
        ApiShare(weight_of_top, top),
        ApiShare(in_focus - weight_of_top, others),
        ApiShare(_FOCUS_AND_REST.count("R"), rest),
    )
    return [share for share in shares if share.apis]


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
    counts = pattern.count("F"), pattern.count("R")
    rounds = [n * len(pattern) / count for (_, n), count in zip((first, rest), counts, strict=True)]
    return Interleaved(first[0], rest[0], apis, pattern), ceil(max(rounds))


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
