"""Selection of the APIs to test from a catalogue."""

from __future__ import annotations

import re
from collections import Counter
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
"""Tags of APIs that are excluded unless allowed.

Their calls have effects outside the case, never return, or reject every argument that a generator
can make. `random`, `unstable` and `time` do not exclude an API, since its calls can still crash;
oracles do not compare the values of such calls.
"""


def select(
    records: Iterable[ApiRecord],
    include: Collection[str] = ("*",),
    exclude: Collection[str] = (),
    *,
    allow: Collection[str] = (),
) -> tuple[ApiRecord, ...]:
    """Return the records of the selected APIs, in the order of the catalogue.

    Args:
        records: the catalogue.
        include: globs over API names; at least one must match.
        exclude: globs over API names; none may match.
        allow: tags of `EXCLUDED_TAGS` whose APIs may be selected.
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


def excluded_by_tag(
    records: Iterable[ApiRecord],
    include: Collection[str] = ("*",),
    exclude: Collection[str] = (),
    *,
    allow: Collection[str] = (),
) -> dict[str, int]:
    """Return the number of APIs that only their tags exclude, by tag, the most frequent first.

    The arguments are those of `select`. An API with several such tags counts for the first one.
    """
    included, excluded = _matcher(include), _matcher(exclude)
    excluded_tags = EXCLUDED_TAGS - set(allow)
    tags = (
        min(excluded_tags & record.tags)
        for record in records
        if excluded_tags & record.tags
        and included.match(record.api)
        and not excluded.match(record.api)
    )
    return dict(Counter(tags).most_common())


def select_layers(
    records: Iterable[ApiRecord], include: Collection[str] = ("*",), exclude: Collection[str] = ()
) -> tuple[ApiRecord, ...]:
    """Return the records of the layers that mutants may use, in the order of the catalogue.

    Unlike calls, layers are matched by their aliases too: `MaxPool2D` also selects `MaxPooling2D`.
    Tags exclude no layer. For example, a layer with a layer as argument has the tag `callback`, but
    in a graph that argument is plain data.

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
