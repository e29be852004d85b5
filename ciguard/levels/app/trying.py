"""Level `app` of a campaign: functions of applications that ask cognitive services, in turn.

They run in a process of their own on each target, whose environment holds no secret; that process
is confined as workers are, from before the application is imported.
"""

from __future__ import annotations

import fnmatch
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.events import BatchFinished, InputsMishandled, Warned
from ciguard.domain.text import visible
from ciguard.errors import WorkerStartError
from ciguard.levels.app.accuracy import assess, settings_for
from ciguard.levels.app.calls import Recalled, surroundings_on
from ciguard.levels.app.checks import trying_of
from ciguard.levels.app.dead_conditions import read_vocabulary
from ciguard.levels.app.examined import Examined
from ciguard.levels.app.exploration import explore
from ciguard.levels.app.findings import (
    Applied,
    of_answers,
    of_conditions,
    of_difference,
    of_inputs,
)
from ciguard.levels.app.reading import LEVEL, read_applications
from ciguard.levels.app.recheck import Recheck, eager_members
from ciguard.levels.app.settings import APPLICATIONS, LABELS
from ciguard.oracles import pair_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign import Budget, Group, Member
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.levels.app.accuracy import Assessed
    from ciguard.levels.app.exploration import ExploredFunction
    from ciguard.levels.app.reading import ReadApplication
    from ciguard.levels.app.static_analysis import ServiceFunction
    from ciguard.targets import Environment

_MAX_S = 60.0
"""For the answers of one function, and as much again for its inputs."""
_MIN_S = 2.0
"""Worth beginning with."""


@dataclass(slots=True)
class Applications:
    """Tests applications on all targets, and knows what was looked at."""

    config: Config
    groups: Mapping[str, Group]
    budget: Budget
    stage: ClassVar[str] = "applications"
    gone: dict[str, frozenset[str]] = field(default_factory=dict)
    """Known buckets that were looked at again and are not there: the targets by fingerprint."""
    _examined: Examined = field(init=False)
    _idle: dict[str, str] = field(default_factory=dict)
    """Why the last function was not called, by target on which none has been."""

    def __post_init__(self) -> None:
        """Begin with nothing looked at."""
        self._examined = Examined(self.config)

    def events(self, until: float) -> Iterator[Event | Finding]:
        """Try one function after the other, on each target.

        Args:
            until: when to end, on the clock of `time.monotonic`.

        Raises:
            ConfigurationError: if an application cannot be read any more.
        """
        several = read_applications(self.config[APPLICATIONS])
        members = eager_members(self.groups)
        for read in several:
            self._examined.note(read)
            yield from _unread(read)
            for member in members[:1]:
                yield from self._conditions(read, member)
        turns = [(read, one) for read in several for one in read.found]
        shard = self.config.shard
        turns.sort(key=lambda turn: not self._is_first(*turn))
        own = turns if shard.is_all else turns[shard.index - 1 :: shard.of]
        for at, (read, found) in enumerate(own):
            left_s = until - time.monotonic()
            if left_s < _MIN_S:
                yield Warned(
                    message=f"level {LEVEL}: the time ended before {len(own) - at} of "
                    f"{len(own)} functions were tried: give a longer --budget"
                )
                return
            yield from self._function(read, found, members, left_s / (len(own) - at))

    def _is_first(self, read: ReadApplication, found: ServiceFunction) -> bool:
        """Return whether a function is among those that come first."""
        api = read.api(found)
        return any(fnmatch.fnmatchcase(api, glob) for glob in self.config.focus)

    def _conditions(self, read: ReadApplication, member: Member) -> Iterator[Finding]:
        if self.config.shard.index != 1:
            return
        labels = read_vocabulary(Path(self.config[LABELS])) if self.config[LABELS] else None
        yield from of_conditions(read.dead(labels).items(), read.on(member))

    def _function(
        self,
        read: ReadApplication,
        found: ServiceFunction,
        members: Sequence[Member],
        budget_s: float,
    ) -> Iterator[Event | Finding]:
        """Try a function on each target, and hold these against each other."""
        came: list[tuple[Member, ExploredFunction]] = []
        for member in members:
            half_s = min(_MAX_S, budget_s / 2 / len(members))
            try:
                explored, assessed = self._tried(read, found, member.environment, half_s)
            except WorkerStartError as error:
                yield Warned(message=f"{member.name}: {read.api(found)}: not tried: {error}")
                continue
            came.append((member, explored))
            yield from self._said(read, member, explored, assessed)
        yield from _differences(read, came)

    def _said(
        self,
        read: ReadApplication,
        member: Member,
        explored: ExploredFunction,
        assessed: Sequence[Assessed],
    ) -> Iterator[Event | Finding]:
        found, applied = explored.found, read.on(member)
        if explored.problem:
            reason = visible(explored.problem)
            yield Warned(message=f"{member.name}: {read.api(found)}: not explored: {reason}")
            self._idle.setdefault(member.name, reason)
        yield from of_answers(explored, applied, Recalled(read.application, found, explored.form))
        for one in assessed:
            yield from of_inputs(one, applied, read.found)
            yield from _missed(one, applied)
            self._examined.note_judged(one, applied)
        counts = _counts(explored, assessed)
        member.count((), counts)
        yield BatchFinished(
            target=member.name,
            api=applied.api(found),
            counts=counts,
            elapsed_s=self.budget.elapsed_s,
        )

    def _tried(
        self, read: ReadApplication, found: ServiceFunction, environment: Environment, half_s: float
    ) -> tuple[ExploredFunction, list[Assessed]]:
        python, around = str(environment.python), surroundings_on(environment)
        (explored,) = explore(
            read.application, [found], python=python, budget_s=half_s, surroundings=around
        )
        if explored.problem:
            return explored, []
        settings = settings_for(trying_of(self.config, half_s, surroundings=around))
        return explored, list(
            assess(read.application, [found], [explored], settings, python=python)
        )

    def again(
        self, known: Iterable[BaselineRecord], met: Mapping[str, int], until: float
    ) -> Iterator[Event | Finding]:
        """Look again at known buckets that were not met; those that are gone are noted.

        Args:
            known: of the baseline.
            met: how often buckets were, by fingerprint.
            until: when to end, on the clock of `time.monotonic`.
        """
        recheck = Recheck(self.config, self.groups, self._examined, self.gone)
        yield from recheck.events(known, met, until)
        if self.config.levels == (LEVEL,):
            self._give_up_idle()

    def _give_up_idle(self) -> None:
        """Let a target on which no function could be called count as not run."""
        for member in eager_members(self.groups):
            if member.name in self._idle and not member.tally.total:
                member.not_run = f"no function could be called: {self._idle[member.name]}"


def _unread(read: ReadApplication) -> Iterator[Event]:
    """Yield a warning for each file that could not be read."""
    at = Applied(root=read.root, library="", target="")
    for unread in read.application.unread:
        file, why = visible(at.path(unread.file)), visible(unread.reason)
        yield Warned(message=f"{file}: cannot be read, and nothing is said of it: {why}")


def _differences(
    read: ReadApplication, came: Sequence[tuple[Member, ExploredFunction]]
) -> Iterator[Finding]:
    """Yield where a function fails whatever is answered, on one version of a client alone.

    There it has been called, and that counts.
    """
    fine = next(((m, explored) for m, explored in came if not explored.problem), None)
    if fine is None:
        return
    reference, explored = fine
    found = explored.found
    answers = next((one for met in explored.met.values() for one in met.values()), ())
    for member, failed in came:
        alike = member.environment.library == reference.environment.library
        if alike and failed.always is not None:
            member.count((), {"errored": 1})
            yield of_difference(
                failed.always,
                found,
                read.on(member),
                Recalled(read.application, found, explored.form)(answers),
                reference=reference.name,
                pair=pair_kind(reference.identity, member.identity),
            )


def _missed(assessed: Assessed, at: Applied) -> Iterator[InputsMishandled]:
    """Yield the inputs of what is found, for people to look at."""
    api = at.api(assessed.explored.found)
    for verdict in assessed.verdicts:
        if verdict.is_failure and not verdict.is_simulated and verdict.missed:
            yield InputsMishandled(
                target=at.target,
                api=api,
                line=verdict.goal.line,
                says=f"{verdict.goal.text}: {verdict.claim}, answered by {verdict.engine}",
                inputs=tuple(one.shown() for one in verdict.missed),
            )
    for crash, tried in assessed.crashes:
        yield InputsMishandled(
            target=at.target,
            api=api,
            line=crash.line,
            says=f"fails: {crash.error}",
            inputs=(tried.shown(),),
        )


def _counts(explored: ExploredFunction, assessed: Sequence[Assessed]) -> dict[str, int]:
    """Return the calls by what became of them; none where nothing can be said of a function."""
    failed = len(explored.crashes) + len(explored.unguarded)
    hung = len(explored.hangs)
    ran = 0 if explored.problem else explored.runs + sum(one.trials for one in assessed)
    counts = {"passed": max(0, ran - failed - hung), "errored": failed, "hung": hung}
    return {name: count for name, count in counts.items() if count}
