"""Recheck of known buckets of applications that a run did not reproduce."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.domain.events import Warned
from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Passed, status
from ciguard.errors import ConfigurationError, WorkerStartError
from ciguard.levels.app.calls import FunctionGoneError, run_again
from ciguard.levels.app.findings import ApplicationOracle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign import Group, Member
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.levels.app.coverage import Coverage


def eager_members(groups: Mapping[str, Group]) -> list[Member]:
    """Return the members of all groups that execute calls eagerly, without compiling them."""
    return [
        member
        for group in groups.values()
        for member in group.running
        if member.name in group.running_eagerly
    ]


@dataclass(slots=True)
class Recheck:
    """Repeat the calls of known buckets, and collect the buckets that are gone."""

    config: Config
    groups: Mapping[str, Group]
    coverage: Coverage
    gone: dict[str, frozenset[str]]
    """Fingerprint of a bucket that is gone → targets on which it is gone."""

    def events(
        self, known: Iterable[BaselineRecord], finding_counts: Mapping[str, int], until: float
    ) -> Iterator[Event | Finding]:
        """Recheck known buckets that the run did not reproduce, and collect those that are gone.

        Args:
            known: the records of the baseline.
            finding_counts: the number of findings by fingerprint in this run.
            until: the end of the time budget, by `time.monotonic`.
        """
        for record in known:
            case = record.representative.case
            names = (record.fingerprint, *record.aliases)
            if not isinstance(case, AppCase) or any(name in finding_counts for name in names):
                continue
            if case.aspect is Aspect.ANSWER:
                yield from self._repeat_call(record, case, until)
                continue
            running = {member.name for member in eager_members(self.groups)}
            targets = {
                name for name in record.targets if self.coverage.has_judged(record, case, name)
            }
            if targets & running:
                self.gone[record.fingerprint] = frozenset(targets & running)

    def _repeat_call(
        self, record: BaselineRecord, case: AppCase, until: float
    ) -> Iterator[Event | Finding]:
        if not self.config.shard.has(record.fingerprint) or not self.coverage.has_read_files(case):
            return
        gone_targets = set()
        members = {member.name: member for member in eager_members(self.groups)}
        is_difference = record.representative.pair is not PairKind.NONE
        for name in record.targets[-1:] if is_difference else record.targets:
            member = members.get(name)
            if member is None or time.monotonic() > until:
                continue
            try:
                outcome = run_again(case, member.environment, self.config)
            except FunctionGoneError:
                gone_targets.add(name)
                continue
            except (ConfigurationError, WorkerStartError) as error:
                yield Warned(
                    message=f"{name}: {record.fingerprint}: the call could not be repeated: {error}"
                )
                continue
            member.count((), {status(outcome): 1})
            if isinstance(outcome, Passed):
                gone_targets.add(name)
            elif not is_difference:
                subject = self.groups[member.environment.library.name].subject(case.api)
                yield from ApplicationOracle().judge(case, {name: outcome}, subject)
        if gone_targets:
            self.gone[record.fingerprint] = frozenset(
                record.targets if is_difference else gone_targets
            )
