"""Assigns tags to APIs that need care, by their qualified names.

Campaigns skip tagged calls by default. Such calls harm the machine, block, change the process for
later cases, or return varying results. A library lists patterns for names in rows. A missing
pattern can cause a deleted file or a false alarm; a needless pattern leaves a few calls untested.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ciguard.libraries.in_target.tag_names import TagRow


class TagsOf(Protocol):
    """Function that returns the tags of an API."""

    def __call__(self, api: str, *extra: str) -> list[str]:
        """Return the tags of an API, sorted.

        Args:
            api: the qualified public name.
            extra: further tags that the caller knows.
        """


def tagger(*rows: TagRow) -> TagsOf:
    """Return a function that assigns tags to APIs by the rows of a library."""
    compiled = [
        (row.tag, re.compile(row.scope + "(?:" + "|".join(row.patterns) + ")")) for row in rows
    ]

    def tags_of(api: str, *extra: str) -> list[str]:
        tags = {tag for tag, pattern in compiled if pattern.search(api)}
        return sorted(tags.union(extra))

    return tags_of
