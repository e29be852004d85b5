"""What a campaign asks of a level."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ciguard.errors import RegistrationError, UnknownNameError
from ciguard.levels import LEVELS, LevelSpec

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.budget import Budget
    from ciguard.campaign.factory import StreamFactory
    from ciguard.campaign.group import Group
    from ciguard.campaign.stream import Executed, Stream
    from ciguard.config import Config
    from ciguard.domain.case import Case
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.execution import Dispatcher, JobResult, Probe
    from ciguard.libraries import Library
    from ciguard.targets import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerNeeds:
    """What workers of a target must find for the sake of a level."""

    variables: Mapping[str, str] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    functions: Json = None
    """Description of the user's programs for workers; see `WorkerSpec.functions`."""


class DirectTests(Protocol):
    """What a level tries by itself, in a stage of its own, since workers cannot run its cases."""

    gone: dict[str, frozenset[str]]
    """Known buckets that were looked at again and are not there: the targets by fingerprint."""

    @property
    def stage(self) -> str:
        """What it is called where a run says how long each stage took."""

    def events(self, until: float) -> Iterator[Event | Finding]:
        """Try everything, until that time on the clock of `time.monotonic`."""

    def again(
        self, known: Iterable[BaselineRecord], met: Mapping[str, int], until: float
    ) -> Iterator[Event | Finding]:
        """Try known buckets again that were not met, and note those that are gone."""


class Investigator(Protocol):
    """Looks into batches whose outcomes are no findings by themselves, in further runs."""

    key: str
    """What the keys of its jobs begin with."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""

    def note(self, executed: Executed, group: Group) -> None:
        """Take a batch that ran on all of its targets."""

    def pump(self) -> Iterable[Finding]:
        """Start what may be started; return what is found without a further run."""

    def take(self, result: JobResult) -> Iterator[Finding]:
        """Take the result of one of its jobs; yield what it proves."""

    def give_up(self, target: str) -> None:
        """Forget what needs a target that failed."""

    def abandon(self) -> None:
        """Forget everything that is not settled."""


@runtime_checkable
class RunnableLevel(LevelSpec, Protocol):
    """A level that campaigns can run. `LevelDefaults` answers what a plain one need not."""

    def check(self, config: Config) -> None:
        """Refuse settings with which the level cannot run, before anything is built.

        Raises:
            CiguardError: naming the setting and the remedy.
        """

    def needs(self, config: Config, library: Library) -> WorkerNeeds:
        """Return what workers of a library's targets need."""

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return the streams of cases.

        Raises:
            ConfigurationError: if there is nothing to test.
            WorkerStartError: if the server of a target is gone.
        """

    def direct(
        self, config: Config, groups: Mapping[str, Group], budget: Budget
    ) -> DirectTests | None:
        """Return what is tried without workers; None if workers run all cases."""

    def investigator(self, dispatcher: Dispatcher) -> Investigator | None:
        """Return what looks into its batches; None if oracles judge them as they are."""

    def events_of(self, executed: Executed) -> Iterable[Event]:
        """Return what is reported of a batch beside its outcomes."""

    def probe(self, environment: Environment) -> tuple[tuple[str, ...], Sequence[Probe]] | None:
        """Return what confines the processes of direct tests, and attempts to break out.

        None if there are no such processes.
        """

    def check_rerun(self, finding: Finding) -> None:
        """Refuse a finding that says the same whatever version of a library runs it.

        Raises:
            ConfigurationError: if it is such a finding.
        """

    def run_again(self, case: Case, environment: Environment, config: Config) -> Outcome:
        """Run a case that workers cannot run.

        Raises:
            ConfigurationError: if what it is about is not there any more.
            WorkerStartError: if the environment's interpreter does not start.
        """

    def settings_for(self, finding: Finding, config: Config) -> Config:
        """Return settings with which a finding's case can be run again on its own."""


class LevelDefaults:
    """A level whose cases workers run, from settings that need no check."""

    def check(self, config: Config) -> None:
        """Accept all settings."""

    def needs(self, config: Config, library: Library) -> WorkerNeeds:
        """Return that workers need nothing of their own."""
        del config, library
        return WorkerNeeds()

    def direct(
        self, config: Config, groups: Mapping[str, Group], budget: Budget
    ) -> DirectTests | None:
        """Return that nothing is tried without workers."""
        del config, groups, budget
        return None

    def investigator(self, dispatcher: Dispatcher) -> Investigator | None:
        """Return that oracles judge its batches as they are."""
        del dispatcher
        return None

    def events_of(self, executed: Executed) -> Iterable[Event]:
        """Return that nothing is reported beside outcomes."""
        del executed
        return ()

    def probe(self, environment: Environment) -> tuple[tuple[str, ...], Sequence[Probe]] | None:
        """Return that there are no processes beside workers."""
        del environment
        return None

    def check_rerun(self, finding: Finding) -> None:
        """Accept every finding."""

    def run_again(self, case: Case, environment: Environment, config: Config) -> Outcome:
        """Raise a TypeError: workers run the cases."""
        del environment, config
        raise TypeError(case)

    def settings_for(self, finding: Finding, config: Config) -> Config:
        """Return the settings as they are."""
        del finding
        return config


def level_of(name: str) -> RunnableLevel:
    """Return a level.

    Raises:
        UnknownNameError: if there is none of that name.
        RegistrationError: if campaigns cannot run it.
    """
    level = LEVELS.get(name)
    if not isinstance(level, RunnableLevel):
        msg = f"level {name!r} ({level!r}) does not fulfil ciguard.campaign.RunnableLevel"
        raise RegistrationError(msg)
    return level


def rerun_settings(finding: Finding, config: Config) -> Config:
    """Return settings with which a finding's case can be run again on its own.

    Levels in the settings that are not installed are left out: the case is of another one.

    Raises:
        CiguardError: if what it is about is out of reach.
    """
    installed = tuple(name for name in config.levels if _is_installed(name))
    settings = replace(config, levels=installed)
    return level_of(finding.case.level).settings_for(finding, settings)


def _is_installed(name: str) -> bool:
    try:
        level_of(name)
    except (UnknownNameError, RegistrationError):
        return False
    return True


def levels_in(config: Config) -> list[RunnableLevel]:
    """Return the levels of a run, in the order in which their cases are made.

    Raises:
        UnknownNameError: if there is no level of some name.
    """
    chosen = {name: level_of(name) for name in config.levels}
    return [chosen[name] for name in LEVELS.names() if name in chosen]


def check_levels(config: Config) -> None:
    """Refuse levels that do not exist, or cannot run, before anything is built.

    Raises:
        UnknownNameError: if there is no such level.
        CiguardError: whatever a level raises.
    """
    for level in levels_in(config):
        level.check(config)
