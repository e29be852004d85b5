"""What makes the streams of a run, for the levels that ask for them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ciguard.campaign.experience import Snapshot
from ciguard.campaign.frontier import stream_key
from ciguard.campaign.stream import Stream
from ciguard.levels import LearningLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ciguard.campaign.group import Group
    from ciguard.config import Config
    from ciguard.domain.records import ApiRecord
    from ciguard.execution import Dispatcher
    from ciguard.levels import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFactory:
    """Makes streams for the groups of one run."""

    config: Config
    groups: Mapping[str, Group]
    """By library."""
    dispatcher: Dispatcher
    lanes: int
    """Workers per target."""
    choose: Callable[[Group, Callable[[str], str]], Snapshot] | None = None
    """Chooses what a group's learning levels begin with. The second argument names a stream by the
    digest of that."""

    @property
    def is_any_running(self) -> bool:
        """Whether any target runs calls eagerly."""
        return any(group.running_eagerly for group in self.groups.values())

    def stream(
        self, level: Level, group: Group, *, kind: str, chosen: str = "", apis: int = 0
    ) -> Stream:
        """Return the stream of a level's cases for a group.

        Args:
            level: makes the cases.
            group: runs them.
            kind: names the level, with all of its settings that decide the cases.
            chosen: names what the level was made from.
            apis: how many it calls in turn; 0 if unknown.
        """
        named = partial(self._name, kind, group, chosen)
        used = Snapshot()
        if self.choose is not None and isinstance(level, LearningLevel):
            used = self.choose(group, named)
            level.recall(used.learned)
        return Stream(named(used.digest), level, group, lanes=self.lanes, apis=apis)

    def _name(self, kind: str, group: Group, chosen: str, learned: str) -> str:
        """Return the name of a stream by all that decides its cases."""
        config = self.config
        requests = (member.identity.request for member in group.members.values())
        focus = [f"focus {glob}" for glob in config.focus]
        return stream_key(
            *(kind, config.seed, *requests, *config.relations, chosen),
            *([learned] if learned else []),
            *focus,
        )


def digest_of_apis(records: Iterable[ApiRecord]) -> str:
    """Return what names a choice of APIs."""
    names = "\n".join(record.api for record in records)
    return hashlib.sha256(names.encode()).hexdigest()
