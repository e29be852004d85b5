"""Selection of the APIs of a catalogue that are tested."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ciguard.domain.records import ApiRecord

EXCLUDED_TAGS = frozenset(
    {
        "files",
        "network",
        "process",
        "global-state",
        "blocking",
        "debug",
        "callback",
        "removed",
    }
)
"""Tags of calls that are excluded unless allowed: they have effects outside the case, never return,
or reject all that a generator can make.

`random`, `unstable` and `time` do not exclude a call, which can still crash. The oracles see these
tags and compare no values.
"""


def select(
    records: Iterable[ApiRecord],
    include: Collection[str] = ("*",),
    exclude: Collection[str] = (),
    *,
    allow: Collection[str] = (),
) -> tuple[ApiRecord, ...]:
    """Return the records of the selected APIs, in their order.

    Args:
        records: the catalogue.
        include: globs over API names; at least one must match.
        exclude: globs over API names; none may match.
        allow: tags of `EXCLUDED_TAGS` that exclude nothing.
    """
    included, excluded = _matcher(include), _matcher(exclude)
    excluded_tags = EXCLUDED_TAGS - set(allow)
    return tuple(
        record
        for record in records
        if included.match(record.api)
        and not excluded.match(record.api)
        and not excluded_tags & record.tags
    )


def select_layers(
    records: Iterable[ApiRecord], include: Collection[str] = ("*",), exclude: Collection[str] = ()
) -> tuple[ApiRecord, ...]:
    """Return the records of the layers that mutants may use, in their order.

    Unlike calls, layers are matched by all their names (`MaxPooling2D` is `MaxPool2D`, whichever
    the catalogue has). Tags exclude none: a layer that takes another layer is tagged as taking a
    callback, but in a graph that is data.

    Args:
        records: the catalogue.
        include: globs over names; at least one must match.
        exclude: globs over names; none may match.
    """
    included, excluded = _matcher(include), _matcher(exclude)
    return tuple(
        record
        for record in records
        if any(map(included.match, (record.api, *record.aliases)))
        and not any(map(excluded.match, (record.api, *record.aliases)))
    )


def _matcher(globs: Collection[str]) -> re.Pattern[str]:
    # An empty sequence matches nothing: `$^` matches no name.
    return re.compile("|".join(map(translate, globs)) or r"$^")
