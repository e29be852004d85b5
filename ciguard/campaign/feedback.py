"""Feedback from the outcomes of batches to the generation of later batches.

A batch uses the feedback of batches up to a fixed lag before it, although later ones may be
complete. Their number depends on the speed of the workers, which must not influence the cases.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Rejected
from ciguard.knowledge import Experience, experience_from_json
from ciguard.levels import GuidedLevel, LearningLevel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.levels import Batch, Level

_MIN_LAG = 24
"""Minimum lag, in batches; it exceeds the window of a few workers, so that cases do not vary."""
_MIN_GUIDED_LAG = 6
"""Minimum lag of guided levels, whose batches take seconds: the window of two workers."""


WINDOW_PER_LANE = 3
"""Number of batches per lane that run at the same time."""


def guided_lag(lanes: int) -> int:
    """Return the number of batches after which a guided level receives the feedback of a batch.

    Args:
        lanes: number of workers per target.
    """
    return max(WINDOW_PER_LANE * lanes, _MIN_GUIDED_LAG)


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback from one batch."""

    index: int
    """Index of the batch."""
    api: str
    """API that the batch tests."""
    content: Experience | Json
    """`Experience` of a learning level, or data in the own format of a guided level."""


class FeedbackQueue:
    """Delays the feedback from the batches of one stream to its level, if the level uses any."""

    def __init__(self, level: Level, *, window: int) -> None:
        self._level = level if isinstance(level, LearningLevel) else None
        self._guided = level if isinstance(level, GuidedLevel) else None
        self._lag = max(window, _MIN_LAG if self._guided is None else _MIN_GUIDED_LAG)
        self._waiting: deque[Feedback] = deque()
        """Feedback that was not applied yet, in the order of the index."""
        self._unrecorded: deque[Feedback] = deque()

    def observe(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> None:
        """Derive feedback from a batch's outcomes by target; call in the order of the index."""
        content = self._content(index, batch, outcomes)
        if content is not None:
            feedback = Feedback(index, batch.api, content)
            self._waiting.append(feedback)
            self._unrecorded.append(feedback)

    def _content(
        self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]
    ) -> Experience | Json:
        if self._guided is not None:
            return self._guided.feedback(index, batch, outcomes)
        if self._level is None:
            return None
        return self._level.feedback(
            batch, [_best(row) for row in zip(*outcomes.values(), strict=True)]
        )

    def apply_until(self, index: int) -> None:
        """Apply all feedback that the batch with this index may use."""
        while self._waiting and self._waiting[0].index <= index - self._lag:
            self._apply(self._waiting.popleft())

    def _apply(self, feedback: Feedback) -> None:
        content = feedback.content
        if self._guided is not None:
            self._guided.update(content)
        elif self._level is not None and isinstance(content, Experience):
            self._level.learn(feedback.api, content)

    def drain(self, below: int) -> list[Feedback]:
        """Return the feedback of batches below an index that was not returned before."""
        drained = []
        while self._unrecorded and self._unrecorded[0].index < below:
            drained.append(self._unrecorded.popleft())
        return drained

    def restore(self, earlier: Iterable[Feedback]) -> None:
        """Restore the feedback of the interrupted run of the same campaign."""
        for feedback in earlier:
            if self._level is not None and isinstance(feedback.content, Experience):
                self._level.replay(feedback.api, feedback.content)
            self._waiting.append(feedback)

    def apply_all(self) -> dict[str, Experience]:
        """Apply all feedback, and return the resulting experience of the level."""
        while self._waiting:
            self._apply(self._waiting.popleft())
        return {} if self._level is None else self._level.learned()


def _best(row: Sequence[Outcome]) -> Outcome:
    """Return the first outcome that is not a rejection, or the first one."""
    return next((outcome for outcome in row if not isinstance(outcome, Rejected)), row[0])


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
