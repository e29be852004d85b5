"""Why an API may need care, by its qualified name.

Tagged calls stay out of campaigns unless asked for: they harm the machine, block, change the
process for the cases that follow, or give another result each time.
"""

from __future__ import annotations

import re

from ciguard.targets.adapters import tag_rows

_COMPILED = [
    (row.tag, re.compile(row.scope + "(?:" + "|".join(row.patterns) + ")")) for row in tag_rows.ROWS
]


def tags_of(api: str, *extra: str) -> list[str]:
    """Return the tags of an API, sorted.

    Args:
        api: qualified public name.
        extra: tags that the caller has found by other means.
    """
    found = {tag for tag, pattern in _COMPILED if pattern.search(api)}
    return sorted(found.union(extra))
