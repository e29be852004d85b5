"""Groups: all targets of one library, which run the same cases and are compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.domain.findings import PairKind, Tally
from ciguard.domain.graphs import GraphCase
from ciguard.domain.intent import Intent
from ciguard.libraries import LIBRARIES
from ciguard.oracles import Identity, Subject
from ciguard.oracles.comparing import is_numeric_difference
from ciguard.oracles.specifications import (
    Specification,
    specifications_of,
    with_conventions,
)
from ciguard.targets import EAGER, GUARDED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.targets import Environment

_PAIRS_WITHOUT_ORDER = (PairKind.NONE, PairKind.LIBRARY)
"""Kinds of findings whose targets have no reference."""
_MODES_OF_ALL_CASES = (EAGER, GUARDED)
_MIN_CASES = 200
_MAX_EXCESS_UNBUILT = 0.25
"""Maximum excess share of cases that cannot be built; unsupported dtypes cause a few percent."""
_FAILING_UNBUILT = 0.9
"""Share of consecutive cases that cannot be built, from which on a device seems to fail."""


@dataclass(slots=True, kw_only=True)
class Member:
    """One target of a group."""

    name: str
    """Name of the target."""
    environment: Environment
    """Environment that the target runs in."""
    identity: Identity
    """Properties by which targets are compared."""
    confined_by: tuple[str, ...] = ()
    """Names of the mechanisms that confine its processes."""
    unconfined: tuple[str, ...] = ()
    """Names of the forbidden operations that were not refused."""
    is_probed: bool = False
    """True if the confinement was checked."""
    catalogue: Mapping[str, ApiRecord] = field(default_factory=dict)
    """Records of all APIs, by name."""
    tally: Tally = field(default_factory=Tally)
    """Number of cases by status."""
    cases_run: int = 0
    """Number of cases of this run, without those of the resumed run."""
    unbuilt: int = 0
    """Number of these cases whose arguments could not be built."""
    worst_unbuilt_share: float = 0.0
    """Highest share of them among consecutive cases, `_MIN_CASES` or a few more."""
    _recent_cases: int = 0
    _recent_unbuilt: int = 0
    exercised: set[str] = field(default_factory=set)
    """APIs that were called at least once."""
    unrecorded_apis: set[str] = field(default_factory=set)
    """Exercised APIs that the journal does not contain yet."""
    not_run: str = ""
    """Reason why the target cannot run cases; empty while it can."""

    @property
    def unbuilt_share(self) -> float:
        """Share of the cases whose arguments could not be built."""
        return self.unbuilt / self.cases_run if self.cases_run else 0.0

    def count_unbuilt(self, unbuilt: int, *, cases: int) -> None:
        """Count consecutive cases, of which some could not be built."""
        self.cases_run += cases
        self.unbuilt += unbuilt
        self._recent_cases += cases
        self._recent_unbuilt += unbuilt
        if self._recent_cases >= _MIN_CASES:
            share = self._recent_unbuilt / self._recent_cases
            self.worst_unbuilt_share = max(self.worst_unbuilt_share, share)
            self._recent_cases = self._recent_unbuilt = 0

    def count(self, apis: Collection[str], counts: Mapping[str, int]) -> None:
        """Record the executed APIs, and the number of cases by status."""
        new = {api for api in apis if api not in self.exercised}
        self.exercised |= new
        self.unrecorded_apis |= new
        for status, count in counts.items():
            setattr(self.tally, status, getattr(self.tally, status) + count)


@dataclass(slots=True, kw_only=True)
class Group:
    """The targets of one library, in the given order; the first running one is the reference."""

    library: str
    """Name of the library."""
    members: dict[str, Member]
    """Targets by name."""
    unstable: set[str] = field(default_factory=set)
    """APIs with nondeterministic results."""
    _laws: dict[str, Mapping[str, tuple[Specification, ...]]] = field(default_factory=dict)
    """Documented constraints by API, cached."""

    @property
    def running(self) -> list[Member]:
        """Members that can run cases."""
        return [member for member in self.members.values() if not member.not_run]

    @property
    def names(self) -> list[str]:
        """Names of the members that can run cases, in the given order."""
        return [member.name for member in self.running]

    def unbuilt_warnings(self) -> Iterator[str]:
        """Yield warnings of devices that fail to build the arguments of far more cases than others.

        The others are those of another device, or the target's own before and after. A device that
        no longer works would look healthy otherwise, as it rejects every call.
        """
        measured = [member for member in self.running if member.cases_run >= _MIN_CASES]
        if not measured:
            return
        best = min(measured, key=lambda member: member.unbuilt_share)
        for member in measured:
            if reason := _sign_of_failure(member, best):
                yield f"{member.name}: {reason}. Its device may not work; see docs/gpu.md"

    @property
    def has_api(self) -> bool:
        """True if the library has an API; the client of a service has none."""
        return any(member.environment.library.has_api for member in self.members.values())

    def record(self, api: str) -> ApiRecord | None:
        """Return the record of an API on the first target that has it; None if no target has it."""
        for member in self.running:
            if api in member.catalogue:
                return member.catalogue[api]
        return None

    def records(self) -> list[ApiRecord]:
        """Return one record for each API of the running targets, by name."""
        merged: dict[str, ApiRecord] = {}
        for member in reversed(self.running):
            merged |= member.catalogue
        return [merged[api] for api in sorted(merged)]

    def targets_with(self, api: str) -> list[str]:
        """Return the names of the running targets that have an API.

        No catalogue lists the methods for indexing.
        """
        return [
            member.name
            for member in self.running
            if api in member.catalogue or member.environment.library.operations.indexes_with(api)
        ]

    def targets_for(self, case: Case) -> list[str]:
        """Return the names of the running targets that can run a case.

        Programs run on all eager targets, as they handle missing APIs themselves. The result is
        empty for cases that workers do not run.
        """
        if not case.is_run_by_worker:
            return []
        if not case.is_api_use:
            return list(self.running_eagerly)
        modes = self.modes if is_for_modes(case) else _MODES_OF_ALL_CASES
        return [name for name in self.targets_with(case.api) if self.mode_of(name) in modes]

    def targets_like(self, finding: Finding) -> list[str]:
        """Return the running targets that can run a finding's case, guarded if its targets are."""
        is_guarded = finding.targets[-1] in self._guarded
        names = self.targets_for(finding.case)
        return [name for name in names if (name in self._guarded) == is_guarded]

    @property
    def running_eagerly(self) -> tuple[str, ...]:
        """Names of the running targets that execute calls eagerly."""
        return tuple(member.name for member in self.running if member.identity.mode == EAGER)

    @property
    def spans_engines(self) -> bool:
        """True if the running targets compute with different libraries, as backends do."""
        return len({member.identity.engine for member in self.running}) > 1

    def cheapest(self, targets: Sequence[str]) -> list[str]:
        """Return the first target that does not compile calls, or else the first one."""
        cheap = [name for name in targets if not self.compiles_calls(name)]
        return [*cheap, *targets][:1]

    def compiles_calls(self, target: str) -> bool:
        """Return whether a target computes with a library that compiles calls at first use."""
        engine = LIBRARIES.items().get(self.members[target].identity.engine)
        return engine is not None and engine.compiles_calls

    def mode_of(self, target: str) -> str:
        """Return the execution mode of a target."""
        return self.members[target].identity.mode

    @property
    def modes(self) -> list[str]:
        """Distinct execution modes of the running targets."""
        return list(dict.fromkeys(member.identity.mode for member in self.running))

    def subject(self, api: str) -> Subject:
        """Return the subject of an API for the oracles."""
        record = self.record(api)
        tags = record.tags if record is not None else frozenset()
        return Subject(
            library=self.library,
            api=api,
            tags=tags | {"unstable"} if api in self.unstable else tags,
            on_devices=self._notes_on(api),
            targets={name: member.identity for name, member in self.members.items()},
            specifications=self._laws_of(record),
            guarded=self._guarded,
            parameters=_names(record.parameters) if record is not None else (),
            inputs=_names(record.inputs) if record is not None else (),
        )

    def _notes_on(self, api: str) -> frozenset[str]:
        """Return the notes of all targets: builds for CPUs do not know the kernels of devices."""
        catalogues = [member.catalogue for member in self.running]
        notes = (catalogue[api].on_devices for catalogue in catalogues if api in catalogue)
        return frozenset().union(*notes)

    @property
    def _guarded(self) -> frozenset[str]:
        members = self.members.values()
        return frozenset(member.name for member in members if member.identity.mode == GUARDED)

    def _laws_of(self, record: ApiRecord | None) -> Mapping[str, tuple[Specification, ...]]:
        if record is None:
            return {}
        if record.api not in self._laws:
            self._laws[record.api] = with_conventions(record, specifications_of(record))
        return self._laws[record.api]

    def note_flaky(self, finding: Finding) -> None:
        """Mark an API as unstable if a flaky finding shows that its values vary."""
        if is_numeric_difference(finding):
            self.unstable.add(finding.api)


def _names(parameters: Iterable[ParameterRecord]) -> tuple[str, ...]:
    return tuple(parameter.name for parameter in parameters)


def is_for_modes(case: Case) -> bool:
    """Return whether a case runs in modes other than eager execution.

    Compiling is slow, and modes promise nothing for wrong arguments, so only conforming calls
    without a relation do. Programs decide themselves what they compile. Graphs have NaN and
    infinities only for modes that must keep them.
    """
    is_legal = case.intent is Intent.CONFORMING or isinstance(case, GraphCase)
    return case.is_api_use and is_legal and not case.relation


def groups_of(environments: Mapping[str, Environment]) -> dict[str, Group]:
    """Return the groups of the provisioned targets, by library."""
    groups: dict[str, Group] = {}
    for name, environment in environments.items():
        library = environment.library.name
        group = groups.setdefault(library, Group(library=library, members={}))
        group.members[name] = Member(
            name=name, environment=environment, identity=_identity(environment)
        )
    return groups


def _sign_of_failure(member: Member, best: Member) -> str:
    """Return what suggests that a target's device does not work; empty if nothing does."""
    share, usual = member.unbuilt_share, best.unbuilt_share
    if member.identity.device != best.identity.device and share - usual > _MAX_EXCESS_UNBUILT:
        return (
            f"the arguments of {share:.0%} of its cases could not be built, "
            f"but only {usual:.0%} on {best.name}"
        )
    if member.identity.device != "cpu" and member.worst_unbuilt_share >= _FAILING_UNBUILT:
        return f"for a while, {member.worst_unbuilt_share:.0%} of its cases could not be built"
    return ""


def _identity(environment: Environment) -> Identity:
    target = environment.target
    packages = [f"{name}=={version}" for name, version in environment.packages.items()]
    return Identity(
        request=target.name,
        packages=tuple(sorted(packages)),
        version=environment.version,
        device=target.device,
        mode=target.mode,
        environment=target.variables,
        library=environment.library.name,
        engine=environment.variables.get(environment.library.backend_variable)
        or environment.library.name,
    )


def subject_of(groups: Mapping[str, Group], finding: Finding) -> Subject:
    """Return the subject for judging a finding's case again.

    The targets of a difference come first, so that its reference is the reference again. If only
    these targets run the case, there is no majority that elects it.
    """
    subject = groups[finding.library].subject(finding.api)
    targets = subject.targets if finding.pair is not PairKind.LIBRARY else identities(groups)
    if finding.pair in _PAIRS_WITHOUT_ORDER:
        return replace(subject, targets=targets)
    first = {name: targets[name] for name in finding.targets if name in targets}
    return replace(subject, targets={**first, **targets})


def identities(groups: Mapping[str, Group]) -> dict[str, Identity]:
    """Return the identities of all targets of all libraries, by name."""
    return {name: member.identity for name, member in members_of(groups).items()}


def members_of(groups: Mapping[str, Group]) -> dict[str, Member]:
    """Return the targets of all groups, by name."""
    return {name: member for group in groups.values() for name, member in group.members.items()}
