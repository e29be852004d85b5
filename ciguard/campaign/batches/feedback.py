"""Feedback from the outcomes of batches to the generation of later batches.

A batch of a guided level uses the feedback of batches up to a fixed lag before it, although later
ones may be complete. Their number depends on the speed of the workers, which must not influence the
cases.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.knowledge import Experience, experience_from_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.levels import Batch, GuidedLevel

WINDOW = 6
"""Number of batches of a level without visits that run at the same time.

It is also the lag of their feedback, and does not depend on the number of workers, so that neither
do the cases."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback from one batch."""

    index: int
    """Index of the batch; for a level with visits, the number of earlier batches of its API."""
    api: str
    """API that the batch tests."""
    content: Experience | Json
    """`Experience` of a learning level, or data in the own format of a guided level."""


class FeedbackQueue:
    """Delays the feedback from the batches of one stream to its guided level."""

    def __init__(self, level: GuidedLevel) -> None:
        self._level = level
        self._waiting: deque[Feedback] = deque()
        """Feedback that was not applied yet, in the order of the index."""
        self._unrecorded: deque[Feedback] = deque()

    def observe(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> None:
        """Derive feedback from a batch's outcomes by target; call in the order of the index."""
        content = self._level.feedback(index, batch, outcomes)
        if content is not None:
            feedback = Feedback(index, batch.api, content)
            self._waiting.append(feedback)
            self._unrecorded.append(feedback)

    def apply_until(self, index: int) -> None:
        """Apply all feedback that the batch with this index may use."""
        while self._waiting and self._waiting[0].index <= index - WINDOW:
            self._level.update(self._waiting.popleft().content)

    def drain(self, below: int) -> list[Feedback]:
        """Return the feedback of batches below an index that was not returned before."""
        drained = []
        while self._unrecorded and self._unrecorded[0].index < below:
            drained.append(self._unrecorded.popleft())
        return drained

    def restore(self, earlier: Iterable[Feedback]) -> None:
        """Restore the feedback of the interrupted run of the same campaign."""
        self._waiting.extend(earlier)


def pack(entries: Sequence[Feedback]) -> str:
    """Return feedback as text for the journal, compressed as entries are many and similar."""
    plain = [
        [entry.index, entry.api, entry.content.to_json(), False]
        if isinstance(entry.content, Experience)
        else [entry.index, entry.api, entry.content, True]
        for entry in entries
    ]
    compressed = zlib.compress(json.dumps(plain, separators=(",", ":")).encode("ascii"))
    return base64.b85encode(compressed).decode("ascii")


def unpack(text: str) -> list[Feedback]:
    """Return the feedback that `pack` wrote.

    Raises:
        ValueError: if the text is malformed.
    """
    try:
        plain = json.loads(zlib.decompress(base64.b85decode(text)))
        return [
            Feedback(int(index), str(api), content if is_guided else experience_from_json(content))
            for index, api, content, is_guided in plain
        ]
    except (TypeError, zlib.error) as error:
        msg = f"not packed feedback: {error}"
        raise ValueError(msg) from error
