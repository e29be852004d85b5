"""Images, texts and sounds for a page, up to a size limit."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from ciguard.domain.text import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.events import InputsMishandled, SampleInput

_MAX_INPUTS = 12
"""Maximum number of inputs of one sub-condition."""
_MAX_CREDIT_LENGTH = 3000
"""Maximum length of a credit, long enough for licence, author and URL."""
_MAX_TEXT_LENGTH = 2000
_MAX_BYTES = 8 * 2**20
"""Maximum size of all images and sounds on a page."""
_MEDIA = frozenset({"image/png", "image/jpeg", "audio/wav"})


class ShownInputs:
    """Encodes inputs for a page, within the page's maximum size of images and sounds."""

    def __init__(self) -> None:
        self._bytes_left = _MAX_BYTES

    def of(self, inputs: Sequence[SampleInput]) -> Iterator[dict[str, Any]]:
        """Yield a record for the template for each of the first inputs."""
        for item in inputs[:_MAX_INPUTS]:
            record = {
                "kind": item.media.partition("/")[0],
                "wanted": visible(item.wanted),
                "origin": visible(item.origin),
                "licence": visible(item.licence, limit=_MAX_CREDIT_LENGTH),
                "text": "",
                "data": "",
            }
            if item.media not in _MEDIA:
                text = item.content.decode("utf-8", "replace")
                record["text"] = visible_lines(text, limit=_MAX_TEXT_LENGTH)
            elif len(item.content) <= self._bytes_left:
                self._bytes_left -= len(item.content)
                encoded = base64.b64encode(item.content).decode()
                record["data"] = f"data:{item.media};base64,{encoded}"
            else:
                record |= {"kind": "text", "text": "omitted: the page would be too large"}
            yield record


def mishandled_records(mishandled: Sequence[InputsMishandled]) -> list[dict[str, Any]]:
    """Return a record for the template for each group of inputs that a function handles wrongly."""
    shown = ShownInputs()
    return [
        {
            "api": visible(record.api),
            "line": record.line,
            "says": visible(record.description, limit=1000),
            "count": len(record.inputs),
            "inputs": list(shown.of(record.inputs)),
        }
        for record in mishandled
    ]
