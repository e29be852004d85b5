"""Interface between campaigns and levels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from ciguard.errors import ConfigurationError, RegistrationError, UnknownNameError
from ciguard.levels import LEVELS, LevelSpec
from ciguard.targets import EAGER, parse_target

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.budget import Budget
    from ciguard.campaign.factory import StreamFactory
    from ciguard.campaign.group import Group
    from ciguard.campaign.stream import ExecutedBatch, Stream
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
    """Requirements of a level for the workers of a target."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Additional environment variables."""
    readable: tuple[Path, ...] = ()
    """Additional files and folders that workers may read."""
    writable: tuple[Path, ...] = ()
    """Additional folders that workers may write."""
    functions: Json = None
    """Settings for running the user's functions; see `WorkerSpec.functions`."""
    relations: bool = False
    """True if cases have metamorphic relations; see `WorkerSpec.relations`."""


class DirectTests(Protocol):
    """Tests of a level that run in their own stage, as workers cannot run their cases."""

    gone: dict[str, frozenset[str]]
    """Targets on which known buckets were tested and not found, by fingerprint."""

    @property
    def stage(self) -> str:
        """Name of the stage, under which its time is reported."""

    def events(self, until: float) -> Iterator[Event | Finding]:
        """Run all tests until this time on the clock of `time.monotonic`; yield their results."""

    def again(
        self, known: Iterable[BaselineRecord], counts: Mapping[str, int], until: float
    ) -> Iterator[Event | Finding]:
        """Test known buckets again that were not found, and record absent ones in `gone`."""


class Investigator(Protocol):
    """Runs further jobs for batches whose outcomes alone are not findings."""

    key: str
    """First element of the keys of its jobs."""

    @property
    def is_idle(self) -> bool:
        """True if no job is waiting or running."""

    def note(self, executed: ExecutedBatch, group: Group) -> None:
        """Add a batch that ran on all its targets."""

    def pump(self) -> Iterable[Finding]:
        """Start waiting jobs; return the findings that need no further run."""

    def take(self, result: JobResult) -> Iterator[Finding]:
        """Process the result of one of its jobs; yield the findings that it proves."""

    def give_up(self, target: str) -> None:
        """Drop all work that needs a failed target."""

    def abandon(self) -> None:
        """Drop all unfinished work."""


@runtime_checkable
class RunnableLevel(LevelSpec, Protocol):
    """A level that campaigns can run; `LevelDefaults` implements the optional methods."""

    @property
    def uses_catalogue(self) -> bool:
        """False if the level needs no description of the library's API, which takes seconds."""

    @property
    def needs_eager_target(self) -> bool:
        """True if at least one target must execute its cases eagerly."""

    def check(self, config: Config) -> None:
        """Check the settings before anything is built.

        Raises:
            CiguardError: if the level cannot run with them; names the setting and the remedy.
        """

    def needs(self, config: Config, library: Library) -> WorkerNeeds:
        """Return the requirements for workers of a library's targets."""

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return the streams of cases.

        Raises:
            ConfigurationError: if there is nothing to test.
            WorkerStartError: if the server of a target is gone.
        """

    def direct(
        self, config: Config, groups: Mapping[str, Group], budget: Budget
    ) -> DirectTests | None:
        """Return the tests that run without workers; None if workers run all cases."""

    def investigator(self, dispatcher: Dispatcher) -> Investigator | None:
        """Return the investigator of its batches; None if oracles judge them directly."""

    def events_of(self, executed: ExecutedBatch) -> Iterable[Event]:
        """Return additional events about a batch."""

    def probe(self, environment: Environment) -> tuple[tuple[str, ...], Sequence[Probe]] | None:
        """Return the mechanisms that confine the processes of direct tests, and a check of them.

        None if there are no such processes.
        """

    def check_rerun(self, finding: Finding) -> None:
        """Check that a finding depends on the library's version.

        Raises:
            ConfigurationError: if it is the same with any version.
        """

    def run_again(self, case: Case, environment: Environment, config: Config) -> Outcome:
        """Run a case that workers cannot run.

        Raises:
            ConfigurationError: if the program or service under test no longer exists.
            WorkerStartError: if the environment's interpreter does not start.
        """

    def settings_for(self, finding: Finding, config: Config) -> Config:
        """Return the settings for running a finding's case again alone."""


class LevelDefaults:
    """Default methods of a level whose cases workers run."""

    uses_catalogue: ClassVar[bool] = True
    needs_eager_target: ClassVar[bool] = False

    def check(self, config: Config) -> None:
        """Accept all settings."""

    def needs(self, config: Config, library: Library) -> WorkerNeeds:
        """Return no requirements."""
        del config, library
        return WorkerNeeds()

    def direct(
        self, config: Config, groups: Mapping[str, Group], budget: Budget
    ) -> DirectTests | None:
        """Return None, as workers run all cases."""
        del config, groups, budget
        return None

    def investigator(self, dispatcher: Dispatcher) -> Investigator | None:
        """Return None, as oracles judge the batches directly."""
        del dispatcher
        return None

    def events_of(self, executed: ExecutedBatch) -> Iterable[Event]:
        """Return no additional events."""
        del executed
        return ()

    def probe(self, environment: Environment) -> tuple[tuple[str, ...], Sequence[Probe]] | None:
        """Return None, as there are no processes other than workers."""
        del environment
        return None

    def check_rerun(self, finding: Finding) -> None:
        """Accept every finding."""

    def run_again(self, case: Case, environment: Environment, config: Config) -> Outcome:
        """Raise a TypeError, as workers run the cases."""
        del environment, config
        raise TypeError(case)

    def settings_for(self, finding: Finding, config: Config) -> Config:
        """Return the settings unchanged."""
        del finding
        return config


def level_of(name: str) -> RunnableLevel:
    """Return the level with a name.

    Raises:
        UnknownNameError: if there is no such level.
        RegistrationError: if campaigns cannot run it.
    """
    level = LEVELS.get(name)
    if not isinstance(level, RunnableLevel):
        msg = f"level {name!r} ({level!r}) does not implement ciguard.campaign.RunnableLevel"
        raise RegistrationError(msg)
    return level


def rerun_settings(finding: Finding, config: Config) -> Config:
    """Return the settings for running a finding's case again alone.

    Levels of the settings that are not installed are ignored, as the case belongs to another one.

    Raises:
        CiguardError: if the program or service under test is not available.
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
    """Return the levels of a run, in the order in which they generate cases.

    Raises:
        UnknownNameError: if a level does not exist.
    """
    chosen = {name: level_of(name) for name in config.levels}
    return [chosen[name] for name in LEVELS.names() if name in chosen]


def check_levels(config: Config) -> None:
    """Check before anything is built that all levels exist and can run.

    Raises:
        UnknownNameError: if there is no such level.
        CiguardError: if a level cannot run with the settings.
    """
    for level in levels_in(config):
        level.check(config)
        if level.needs_eager_target:
            _check_eager_target(level.name, config)


def _check_eager_target(level: str, config: Config) -> None:
    """Raise an error if all targets have a mode, without which the level has nothing to run."""
    targets = [parse_target(text) for text in (*config.base, *config.targets)]
    if not targets or any(target.mode == EAGER for target in targets):
        return
    eager = replace(targets[0], mode=EAGER)
    msg = (
        f"targets: level {level!r} needs a target that executes calls eagerly, but all have a "
        f"mode: {', '.join(map(str, targets))}. Add --target {str(eager)!r}."
    )
    raise ConfigurationError(msg)
