"""Why an API may need care, by its qualified name.

Tagged calls stay out of campaigns unless asked for: they harm the machine, block, change the
process for the cases that follow, or give another result each time. A library lists its names as
rows: to extend them, add a pattern to a row, or a row with its reason. A missing pattern can cost
a deleted file or a false alarm; a needless one costs a few calls that nobody tests.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ciguard.libraries.in_target.tag_names import TagRow


class TagsOf(Protocol):
    """Gives the tags of an API."""

    def __call__(self, api: str, *extra: str) -> list[str]:
        """Return the tags of an API, sorted.

        Args:
            api: qualified public name.
            extra: tags that the caller has found by other means.
        """


def tagger(*rows: TagRow) -> TagsOf:
    """Return what gives the tags of a library's APIs, by its rows."""
    compiled = [
        (row.tag, re.compile(row.scope + "(?:" + "|".join(row.patterns) + ")")) for row in rows
    ]

    def tags_of(api: str, *extra: str) -> list[str]:
        found = {tag for tag, pattern in compiled if pattern.search(api)}
        return sorted(found.union(extra))

    return tags_of
