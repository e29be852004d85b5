"""Where an issue can be read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain import visible

if TYPE_CHECKING:
    from ciguard.domain import Json

_GITHUB = re.compile(r"github:(?:(https://[\w.-]+(?::\d+)?)/)?([\w.-]+/[\w.-]+)", re.ASCII)
_NUMBER = re.compile(r"[1-9]\d{0,9}", re.ASCII)


def issue_link(issue: str, place: str) -> Json:
    """Return an issue's text and address; the latter is empty where it is a file.

    Args:
        issue: number, or path of a file.
        place: the tracker, e.g. `github:owner/name`.
    """
    on_github = _GITHUB.fullmatch(place)
    if on_github and _NUMBER.fullmatch(issue):
        host, repository = on_github[1] or "https://github.com", on_github[2]
        return {"text": f"#{issue}", "href": f"{host}/{repository}/issues/{issue}"}
    return {"text": visible(issue, limit=200), "href": ""}
