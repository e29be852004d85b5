"""Images, texts and sounds of a page, as many as it may hold."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from ciguard.domain.text import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.events import InputsMissed, TriedInput

_MAX_INPUTS = 12
"""Of one sub-condition."""
_MAX_CREDIT_LENGTH = 3000
"""Characters: a licence, a maker and an address are told whole."""
_MAX_TEXT_LENGTH = 2000
_MAX_BYTES = 8 * 2**20
"""Of all images and sounds of a page."""
_MEDIA = frozenset({"image/png", "image/jpeg", "audio/wav"})


class ShownInputs:
    """Gives out what a page may still hold."""

    def __init__(self) -> None:
        self._left = _MAX_BYTES

    def of(self, several: Sequence[TriedInput]) -> Iterator[dict[str, Any]]:
        """Yield the first of several inputs as the template takes them."""
        for one in several[:_MAX_INPUTS]:
            record = {
                "kind": one.media.partition("/")[0],
                "wanted": visible(one.wanted),
                "origin": visible(one.origin),
                "licence": visible(one.licence, limit=_MAX_CREDIT_LENGTH),
                "text": "",
                "data": "",
            }
            if one.media not in _MEDIA:
                text = one.content.decode("utf-8", "replace")
                record["text"] = visible_lines(text, limit=_MAX_TEXT_LENGTH)
            elif len(one.content) <= self._left:
                self._left -= len(one.content)
                encoded = base64.b64encode(one.content).decode()
                record["data"] = f"data:{one.media};base64,{encoded}"
            else:
                record |= {"kind": "text", "text": "left out: the page is large enough"}
            yield record


def missed_records(missed: Sequence[InputsMissed]) -> list[dict[str, Any]]:
    """Return what a run's page shows of inputs that a function does not do right with."""
    shown = ShownInputs()
    return [
        {
            "api": visible(one.api),
            "line": one.line,
            "says": visible(one.says, limit=1000),
            "count": len(one.inputs),
            "inputs": list(shown.of(one.inputs)),
        }
        for one in missed
    ]
