"""Which APIs of a catalogue take part."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ciguard.domain.records import ApiRecord

LEFT_OUT = frozenset(
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
"""Tags of calls that are left out unless asked for: they reach outside the case, never return, or
refuse whatever a generator can make.

`random`, `unstable` and `time` are no reason to leave a call out: it can still crash. The oracles
see these tags and compare no values.
"""


def select(
    records: Iterable[ApiRecord],
    include: Collection[str] = ("*",),
    exclude: Collection[str] = (),
    *,
    allow: Collection[str] = (),
) -> tuple[ApiRecord, ...]:
    """Return the records whose API takes part, in their order.

    Args:
        records: the catalogue.
        include: globs over API names; one must match.
        exclude: globs over API names; none may match.
        allow: tags of `LEFT_OUT` that are asked for.
    """
    wanted, unwanted = _matcher(include), _matcher(exclude)
    refused = LEFT_OUT - set(allow)
    return tuple(
        record
        for record in records
        if wanted.match(record.api) and not unwanted.match(record.api) and not refused & record.tags
    )


def select_layers(
    records: Iterable[ApiRecord], include: Collection[str] = ("*",), exclude: Collection[str] = ()
) -> tuple[ApiRecord, ...]:
    """Return the records of what mutants are made of, in their order.

    Unlike calls, layers are known by all their names (`MaxPooling2D` is `MaxPool2D`, whichever the
    catalogue has), and tags are no reason to leave one out: a layer that is given another layer is
    tagged as one that calls back, but in a graph that is data.

    Args:
        records: the catalogue.
        include: globs over names; one must match.
        exclude: globs over names; none may match.
    """
    wanted, unwanted = _matcher(include), _matcher(exclude)
    return tuple(
        record
        for record in records
        if any(map(wanted.match, (record.api, *record.aliases)))
        and not any(map(unwanted.match, (record.api, *record.aliases)))
    )


def _matcher(globs: Collection[str]) -> re.Pattern[str]:
    # No glob at all matches nothing: `$^` is never true of a name.
    return re.compile("|".join(map(translate, globs)) or r"$^")
