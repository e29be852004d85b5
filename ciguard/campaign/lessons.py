"""Lessons: what batches teach a level, drawn and put to use in the order of their index.

A batch may use what batches a fixed lag before it have taught, never more, although later ones may
have come back: how many have depends on how fast the workers are, and the cases must not.
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
"""Batches. Wider than the window of a few workers, so that their number changes no case."""
_MIN_LAG_OF_GUIDED = 6
"""The same for batches that take seconds: so many are under way with two workers per target."""


WINDOW_PER_LANE = 3
"""Batches that are under way at once."""


def guided_lag(lanes: int) -> int:
    """Return after how many batches a guided level learns what one taught.

    Args:
        lanes: workers per target.
    """
    return max(WINDOW_PER_LANE * lanes, _MIN_LAG_OF_GUIDED)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one batch taught."""

    index: int
    api: str
    taught: Experience | Json
    """An `Experience` of a learning level; of a guided one, what only that level reads."""


class Lessons:
    """Carries lessons from the batches of one stream to its level; none for one that learns not."""

    def __init__(self, level: Level, *, window: int) -> None:
        self._level = level if isinstance(level, LearningLevel) else None
        self._guided = level if isinstance(level, GuidedLevel) else None
        self._lag = max(window, _MIN_LAG if self._guided is None else _MIN_LAG_OF_GUIDED)
        self._drawn: deque[Lesson] = deque()
        """In the order of the index, not yet put to use."""
        self._unnoted: deque[Lesson] = deque()

    def draw(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> None:
        """Take what came of a batch, by target. Called in the order of the index."""
        taught = self._taught(index, batch, outcomes)
        if taught is not None:
            lesson = Lesson(index, batch.api, taught)
            self._drawn.append(lesson)
            self._unnoted.append(lesson)

    def _taught(
        self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]
    ) -> Experience | Json:
        if self._guided is not None:
            return self._guided.taught(index, batch, outcomes)
        if self._level is None:
            return None
        return self._level.lesson(
            batch, [_best(row) for row in zip(*outcomes.values(), strict=True)]
        )

    def put_to_use(self, index: int) -> None:
        """Teach the level what the batch of this index may know."""
        while self._drawn and self._drawn[0].index <= index - self._lag:
            self._learn(self._drawn.popleft())

    def _learn(self, lesson: Lesson) -> None:
        taught = lesson.taught
        if self._guided is not None:
            self._guided.guide(taught)
        elif self._level is not None and isinstance(taught, Experience):
            self._level.learn(lesson.api, taught)

    def drain(self, below: int) -> list[Lesson]:
        """Return the lessons of batches below an index that were not returned before."""
        drained = []
        while self._unnoted and self._unnoted[0].index < below:
            drained.append(self._unnoted.popleft())
        return drained

    def recall(self, lessons: Iterable[Lesson]) -> None:
        """Take over the lessons of an earlier part of the same campaign."""
        for lesson in lessons:
            if self._level is not None and isinstance(lesson.taught, Experience):
                self._level.relearn(lesson.api, lesson.taught)
            self._drawn.append(lesson)

    def everything(self) -> dict[str, Experience]:
        """Put every lesson to use, and return what the level knows then."""
        while self._drawn:
            self._learn(self._drawn.popleft())
        return {} if self._level is None else self._level.learned()


def _best(row: Sequence[Outcome]) -> Outcome:
    """Return the outcome of the target that got furthest with a case."""
    return next((outcome for outcome in row if not isinstance(outcome, Rejected)), row[0])


def packed(lessons: Sequence[Lesson]) -> str:
    """Return lessons as text for the journal: compressed, since there are many and much alike."""
    plain = [
        [one.index, one.api, one.taught.to_json(), False]
        if isinstance(one.taught, Experience)
        else [one.index, one.api, one.taught, True]
        for one in lessons
    ]
    squeezed = zlib.compress(json.dumps(plain, separators=(",", ":")).encode("ascii"))
    return base64.b85encode(squeezed).decode("ascii")


def unpacked(text: str) -> list[Lesson]:
    """Return the lessons that `packed` wrote.

    Raises:
        ValueError: if it did not write this.
    """
    try:
        plain = json.loads(zlib.decompress(base64.b85decode(text)))
        return [
            Lesson(int(at), str(api), said if is_guided else experience_from_json(said))
            for at, api, said, is_guided in plain
        ]
    except (TypeError, zlib.error) as error:
        msg = f"not packed lessons: {error}"
        raise ValueError(msg) from error
