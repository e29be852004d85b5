"""Changes between the versions of a library, as the page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ciguard.reports.upgrade import ANNOUNCED, MAX_ENTRIES, REGRESSIONS, REMOVED, TITLES
from ciguard.reports.wording import publishable, short_fingerprint

if TYPE_CHECKING:
    from ciguard.reports.upgrade import UpgradeChanges, UpgradeEntry

_OPEN = frozenset({REGRESSIONS, ANNOUNCED, REMOVED})
"""Names of the sections that are unfolded at first."""
_MAX_NAMED = 5
_MAX_SENTENCE = 800


def upgrade_view(upgrade: UpgradeChanges | None) -> dict[str, Any] | None:
    """Return the template's variables about an upgrade; None without one."""
    if upgrade is None:
        return None
    return {
        "title": upgrade.title,
        "versions": publishable(upgrade.versions_text),
        "counts": upgrade.counts_text,
        "sections": [
            {
                "title": TITLES[name][0],
                "explanation": TITLES[name][1],
                "count": len(entries),
                "is_open": name in _OPEN,
                "entries": [_entry(entry) for entry in entries[:MAX_ENTRIES]],
                "more": max(0, len(entries) - MAX_ENTRIES),
            }
            for name, entries in upgrade.sections.items()
        ],
    }


def _entry(entry: UpgradeEntry) -> dict[str, str]:
    more = len(entry.apis) - _MAX_NAMED
    apis = ", ".join(publishable(api, limit=120) for api in entry.apis[:_MAX_NAMED])
    others = len(entry.places) - 1
    place = f"{entry.places[0].path}:{entry.places[0].line}" if entry.places else ""
    bucket = "" if entry.is_of_documentation else short_fingerprint(entry.fingerprint)
    return {
        "apis": apis + (f" and {more} more" if more > 0 else ""),
        "places": publishable(place, limit=200) + (f" and {others} more" if others > 0 else ""),
        "text": publishable(entry.text),
        "sentence": publishable(entry.sentence, limit=_MAX_SENTENCE),
        "bucket": publishable(bucket, limit=20),
        "address": f"#{quote(publishable(entry.fingerprint, limit=40))}" if bucket else "",
        "reproducer": publishable(entry.reproducer, limit=200),
    }
