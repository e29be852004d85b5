"""Factory that levels use to create the streams of a run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ciguard.campaign.batches import IndexedBatches, VisitedBatches
from ciguard.campaign.experience import Snapshot
from ciguard.campaign.frontier import stream_key
from ciguard.campaign.stream import Stream
from ciguard.levels import TabulatedLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ciguard.campaign.group import Group
    from ciguard.config import Config
    from ciguard.domain.records import ApiRecord
    from ciguard.execution import Dispatcher
    from ciguard.levels import ApiShare, Level, VisitedLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFactory:
    """Creates streams for the groups of one run."""

    config: Config
    """Settings of the run."""
    groups: Mapping[str, Group]
    """Groups by library."""
    dispatcher: Dispatcher
    """Dispatcher of all jobs."""
    lanes: int
    """Number of workers per target."""
    choose: Callable[[Group, VisitedLevel, Callable[[str], str]], Snapshot] | None = None
    """Function that chooses the initial experience of a group's learning levels.

    Its last argument returns the name of a stream, given the digest of an experience."""

    @property
    def is_any_running(self) -> bool:
        """True if any target runs calls eagerly."""
        return any(group.running_eagerly for group in self.groups.values())

    def stream(
        self, level: Level, group: Group, *, kind: str, chosen: str = "", apis: int = 0
    ) -> Stream:
        """Return the stream of a level's cases for a group, in the order of their index.

        Args:
            level: generator of the cases.
            group: targets that run the cases.
            kind: name of the level, with all its settings that decide the cases.
            chosen: digest of the APIs or seeds that the level uses.
            apis: number of APIs that the level tests in turn; 0 if unknown.
        """
        name = self._name(kind, group, chosen, "")
        return Stream(name, IndexedBatches(level, apis=apis), group, lanes=self.lanes)

    def visited_stream(
        self,
        level: VisitedLevel,
        group: Group,
        shares: Sequence[ApiShare],
        *,
        kind: str,
        chosen: str = "",
    ) -> Stream:
        """Return the stream of a level that visits each API separately.

        APIs share the time equally. A run of a number of cases, and a shard, visit them in a fixed
        order, which is the same on every machine.

        Args:
            level: generator of the cases.
            group: targets that run the cases.
            shares: APIs of the level in groups, each with its share of the batches.
            kind: name of the level, with all its settings that decide the cases.
            chosen: digest of the APIs that the level tests.
        """
        config = self.config
        name_of = partial(self._name, f"{kind} by visits", group, chosen)
        used = Snapshot() if self.choose is None else self.choose(group, level, name_of)
        level.recall(used.learned)
        is_adaptive = not config.has_fixed_cases
        batches = VisitedBatches(level, shares, seed=config.seed, is_adaptive=is_adaptive)
        stream = Stream(name_of(used.digest), batches, group, lanes=self.lanes)
        if isinstance(level, TabulatedLevel):
            stream.values.kinds_of = level.argument_kinds
        return stream

    def _name(self, kind: str, group: Group, chosen: str, learned: str) -> str:
        """Return the name of a stream, derived from all that decides its cases."""
        config = self.config
        requests = (member.identity.request for member in group.members.values())
        focus = [f"focus {glob}" for glob in config.focus]
        return stream_key(
            *(kind, config.seed, *requests, *config.relations, chosen),
            *([learned] if learned else []),
            *focus,
        )


def digest_of_apis(records: Iterable[ApiRecord]) -> str:
    """Return the digest of a selection of APIs."""
    names = "\n".join(record.api for record in records)
    return hashlib.sha256(names.encode()).hexdigest()
